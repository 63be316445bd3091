"""Which blocks of a page belong to its main content, told from a reference text or from segments."""
import re
from bisect import bisect_left
from collections import Counter, defaultdict

# Chinese, Japanese and Korean are written without spaces: each character is a word.
CJK = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
WORD = re.compile(rf"[{CJK}]|[^\W{CJK}]+")
LONG = 5        # words from which a block is judged by its own trigrams
ANCHOR = 3      # words from which a unique occurrence fixes a block's place
SLACK = 40      # words that a short block may lie outside its neighbours' places


def words_of(text):
    return WORD.findall(text.lower())


def spaceless(text):
    return re.sub(r"\s+", " ", text).strip()


def align(texts, reference):
    """-> a label (0 or 1) for each block: is it part of the reference text?"""
    blocks = [words_of(t) for t in texts]
    ref = words_of(reference)
    places = defaultdict(list)
    for i in range(len(ref)):
        places[tuple(ref[i:i + 1])].append(i)
        if i + 1 < len(ref):
            places[tuple(ref[i:i + 2])].append(i)
        if i + 2 < len(ref):
            places[tuple(ref[i:i + 3])].append(i)
    lines = Counter(" ".join(words_of(line)) for line in reference.split("\n"))
    shares, anchors = [], []
    for index, block in enumerate(blocks):
        share, place = judge(block, places, ref)
        shares.append(share)
        if place is not None:
            anchors.append((index, place))
    fixed = rising(anchors)
    labels = []
    for index, block in enumerate(blocks):
        if not block:
            labels.append(0)
        elif len(block) >= LONG:
            labels.append(int(shares[index] >= 0.5))
        else:
            labels.append(int(short_matches(index, block, fixed, places, ref, lines)))
    return labels


def judge(block, places, ref):
    """-> share of the block's trigrams that the reference has, and the block's place in it if certain."""
    if len(block) < ANCHOR:
        return 0.0, None
    grams = [tuple(block[i:i + 3]) for i in range(len(block) - 2)]
    found = [g for g in grams if g in places]
    share = len(found) / len(grams)
    if share < 0.5:
        return share, None
    rare = min(found, key=lambda g: len(places[g]))
    if len(places[rare]) == 1:
        return share, places[rare][0] - grams.index(rare)
    return share, None


def rising(anchors):
    """Longest run of anchors whose places rise with the page's order -> (block numbers, places)."""
    tails, tail_index, previous = [], [], {}
    for number, (_, place) in enumerate(anchors):
        at = bisect_left(tails, place)
        previous[number] = tail_index[at - 1] if at else None
        if at == len(tails):
            tails.append(place); tail_index.append(number)
        else:
            tails[at] = place; tail_index[at] = number
    chain, number = [], tail_index[-1] if tail_index else None
    while number is not None:
        chain.append(anchors[number]); number = previous[number]
    chain.reverse()
    return [c[0] for c in chain], [c[1] for c in chain]


def short_matches(index, block, fixed, places, ref, lines):
    """A few words prove nothing alone: they must stand where the blocks around them stand."""
    at = bisect_left(fixed[0], index)
    if at < len(fixed[0]) and fixed[0][at] == index:
        return True
    low = fixed[1][at - 1] - 5 if at > 0 else 0
    high = fixed[1][at] + 5 if at < len(fixed[1]) else len(ref)
    if at == 0 and at < len(fixed[1]):
        low = max(0, high - SLACK - 5)
    if at == len(fixed[1]) and at > 0:
        high = min(len(ref), low + SLACK * 3)
    if not fixed[1]:
        return lines[" ".join(block)] > 0
    candidates = places.get(tuple(block[:3]), ())
    start = bisect_left(candidates, low)
    for place in candidates[start:start + 200]:
        if place > high:
            break
        if ref[place:place + len(block)] == block:
            return True
    return len(block) >= 3 and lines[" ".join(block)] > 0


def from_segments(texts, with_, without):
    """-> 1 for blocks that hold a wanted segment, 0 for those that hold an unwanted one, None for the rest."""
    labels = [None] * len(texts)
    tidy = [spaceless(t) for t in texts]
    for label, segments in ((0, without), (1, with_)):
        for segment in map(spaceless, segments):
            for index, text in enumerate(tidy):
                if segment in text:
                    labels[index] = label
                elif len(text) > 25 and text in segment:
                    labels[index] = label
    return labels


def from_blocks(texts, known):
    """-> 1 for each block that is one of the known blocks, or a piece of one, in their order: of all such sequences the one
    with the most words, so that a table of contents does not count as the headings that it names.

    known: [{kind, text}], as the press prints them"""
    flat = [f" {' '.join(words_of(block['text']))} " for block in known]
    places = defaultdict(set)
    for number, text in enumerate(flat):
        for word in text.split():
            places[word].add(number)
    heaviest = Heaviest(len(flat))
    entries = []  # (block, entry before)
    for index, text in enumerate(texts):
        words = words_of(text)
        if not words:
            continue
        piece = f" {' '.join(words)} "
        found = []
        for number in min((places.get(word, ()) for word in words), key=len):
            if piece not in flat[number]:
                continue
            is_whole = piece == flat[number]
            # A heading stands once; other blocks may stand in pieces.
            before = heaviest.up_to(number - 1 if is_whole and known[number]["kind"] == "heading" else number)
            found.append((number, before[0] + len(words) + 0.5 * is_whole, before[1]))
        for number, weight, before in found:
            entries.append((index, before))
            heaviest.put(number, (weight, len(entries) - 1))
    labels = [0] * len(texts)
    at = heaviest.up_to(len(flat) - 1)[1]
    while at >= 0:
        index, at = entries[at]
        labels[index] = 1
    return labels


class Heaviest:
    """The heaviest (weight, entry) up to a place, as a Fenwick tree."""

    def __init__(self, size):
        self.nodes = [(0, -1)] * (size + 1)

    def up_to(self, place):
        best, at = (0, -1), place + 1
        while at > 0:
            best, at = max(best, self.nodes[at]), at - (at & -at)
        return best

    def put(self, place, value):
        at = place + 1
        while at < len(self.nodes):
            # Of equal ones the later: the heading, not the crumb before it.
            self.nodes[at] = max(self.nodes[at], value)
            at += at & -at
