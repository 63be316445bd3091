"""The dumped blocks with their labels, weights and folds, and the scores of a choice of blocks."""
import json
from collections import Counter
from pathlib import Path

import numpy as np

from folds import fold_of, fold_of_printed, number_of
from labels import align, from_blocks, from_segments, spaceless, words_of

# The order is the product's (PAGE_TYPES of src/extraction/types.ts).
TYPES = ["article", "documentation", "forum", "product", "collection", "listing", "service"]
ARTICLE_WEIGHT = 2.0
SEGMENT_PAGE_WEIGHT = 1.5
# The set of printed pages; its pages have no type. Sources of every second number are never learned from.
PRESS = "press"
PRESS_PAGE_WEIGHT = 0.6
REPEAT_WORDS = 6
SURELY_DOCUMENTATION = 0.5
DOCUMENTATION = TYPES.index("documentation")


class Page:
    __slots__ = ("set", "id", "url", "texts", "start", "end", "type", "reference", "with_", "without", "fold", "words",
                 "counters", "blocks", "is_taught")

    def __init__(self, dumped, start, truth, leaves_out):
        self.set, self.id, self.url, self.texts = dumped["set"], dumped["id"], dumped["url"], dumped["texts"]
        self.start, self.end = start, start + len(self.texts)
        self.type = truth.get("page_type") if self.set != PRESS else None
        self.reference = truth.get("main_content")
        self.with_, self.without = truth["with"], truth["without"]
        self.blocks = truth["blocks"] if self.set == PRESS else None
        # Sources that are left out by folds can all be taught; where systems are left out, some sources are new, too.
        by_source = leaves_out == "source"
        self.fold = fold_of(self.url) if self.blocks is None else fold_of_printed(truth[leaves_out])
        self.is_taught = self.blocks is None or by_source or number_of(truth["source"]) % 2 == 0
        self.words = [words_of(t) for t in self.texts]
        self.counters = Counter(words_of(self.reference)) if self.reference is not None else None


def load(dump, sets, leaves_out="system"):
    """sets: {name: directory}; leaves_out: what is new in each fold of printed pages, system or source.
    -> pages in the order of the dump"""
    truth = {}
    for name, directory in sets.items():
        for line in open(Path(directory) / "pages.jsonl", encoding="utf-8"):
            d = json.loads(line)
            truth[name, d["id"]] = d
    pages, start = [], 0
    for line in open(Path(dump) / "pages.jsonl", encoding="utf-8"):
        d = json.loads(line)
        pages.append(Page(d, start, truth[d["set"], d["id"]], leaves_out))
        start = pages[-1].end
    return pages


def label(pages):
    """-> (labels, weights) of all blocks. A page weighs as much as any other of its kind: the score is a mean over pages."""
    count = pages[-1].end
    printed = np.zeros(count, np.float32)
    labels, weights = np.zeros(count, np.float32), np.zeros(count, np.float32)
    for page in pages:
        if page.end == page.start:
            continue
        rows = slice(page.start, page.end)
        if page.blocks is not None:
            labels[rows] = from_blocks(page.texts, page.blocks)
            printed[rows] = share_of_page(page, labels[rows]) * page.is_taught
            continue
        if page.reference is None:
            sparse = from_segments(page.texts, page.with_, page.without)
            known = [i for i, l in enumerate(sparse) if l is not None]
            for i in known:
                labels[page.start + i] = sparse[i]
                weights[page.start + i] = SEGMENT_PAGE_WEIGHT / len(known)
            continue
        labels[rows] = align(page.texts, page.reference)
        weights[rows] = share_of_page(page, labels[rows]) * (ARTICLE_WEIGHT if page.type == "article" else 1.0)
    others = [page for page in pages if page.blocks is None]
    weights *= sum(page.end - page.start for page in others) / weights.sum()
    taught = sum(page.is_taught for page in pages) - len(others)
    if taught > 0:
        weights += printed * (PRESS_PAGE_WEIGHT * taught / len(others) * weights.sum() / printed.sum())
    return labels, weights


def share_of_page(page, labels):
    """-> what each block weighs in its page"""
    sizes = np.array([len(w) for w in page.words], np.float32) ** 0.8
    return sizes / max(float((sizes * labels).sum()), 0.25 * float(sizes.sum()), 20.0)


def folds_of_blocks(pages):
    return np.concatenate([np.full(p.end - p.start, p.fold) for p in pages])


def score_reference(pages, keep):
    """-> {type: mean F1} with 'all', 'with', 'without', 'p', 'r' over the pages that have a reference text."""
    by_type, rates = {}, {"with": [], "without": [], "p": [], "r": []}
    for page in pages:
        if page.counters is None or page.set == PRESS:
            continue
        chosen = [i for i in range(len(page.texts)) if keep[page.start + i]]
        got = Counter(w for i in chosen for w in page.words[i])
        p, r, f1 = f_score(got, page.counters)
        by_type.setdefault(page.type, []).append(f1)
        by_type.setdefault("all", []).append(f1)
        text = " ".join(page.texts[i] for i in chosen).lower()
        rates["p"].append(p); rates["r"].append(r)
        rates["with"].append(share(text, page.with_, 1.0))
        if page.without:
            rates["without"].append(share(text, page.without, 0.0))
    return {**{t: float(np.mean(v)) for t, v in by_type.items()}, **{k: float(np.mean(v)) for k, v in rates.items()}}


def page_scores(pages, keep):
    """-> F1 of each page; None without a reference text"""
    scores = []
    for page in pages:
        got = Counter(w for i in range(len(page.texts)) if keep[page.start + i] for w in page.words[i])
        scores.append(None if page.counters is None else f_score(got, page.counters)[2])
    return scores


def f_score(got, wanted):
    if not wanted:
        return (0.0, 0.0, 0.0) if got else (1.0, 1.0, 1.0)
    hit = sum((got & wanted).values())
    if not hit:
        return 0.0, 0.0, 0.0
    p, r = hit / sum(got.values()), hit / sum(wanted.values())
    return p, r, 2 * p * r / (p + r)


def share(text, snippets, none):
    return sum(s.lower() in text for s in snippets) / len(snippets) if snippets else none


def score_segments(pages, keep):
    """-> pooled (F1, precision, recall) over the segments of the pages without a reference text."""
    tp = fp = fn = 0
    for page in pages:
        if page.counters is not None:
            continue
        text = spaceless("\n\n".join(t for i, t in enumerate(page.texts) if keep[page.start + i]))
        hits = sum(spaceless(s) in text for s in page.with_)
        tp += hits
        fn += len(page.with_) - hits
        fp += sum(spaceless(s) in text for s in page.without)
    return 2 * tp / (2 * tp + fp + fn), tp / max(tp + fp, 1), tp / max(tp + fn, 1)


def report(pages, keep):
    s = score_reference(pages, keep)
    f, p, r = score_segments(pages, keep)
    return (f"F1 {s['all']:.4f} (P {s['p']:.3f} R {s['r']:.3f}) " + " ".join(f"{t[:4]} {s[t]:.3f}" for t in TYPES)
            + f" with {s['with']:.3f} without {s['without']:.3f} | segments F1 {f:.4f} (P {p:.3f} R {r:.3f})")


def keep_blocks(pages, p, types=None, factor=0.6, least=0.3):
    """The first part of the product's rule (keep-blocks.ts): what reaches a share of the page's own plateau is kept; later exact
    repeats go, save in documentation."""
    keep = np.zeros(len(p), bool)
    for number, page in enumerate(pages):
        keeps_repeats = types is not None and types[number][DOCUMENTATION] > SURELY_DOCUMENTATION
        rows = p[page.start:page.end]
        sizes = np.array([len(w) for w in page.words], np.float32)
        sure = rows > 0.5
        plateau = float((rows * sizes)[sure].sum() / max(sizes[sure].sum(), 1)) if sure.any() else 0.0
        threshold = max(least, factor * plateau)
        seen = set()
        for i in np.flatnonzero(rows >= threshold):
            text = page.texts[i]
            if len(page.words[i]) >= REPEAT_WORDS and not keeps_repeats:
                if text in seen:
                    continue
                seen.add(text)
            keep[page.start + i] = True
    return keep
