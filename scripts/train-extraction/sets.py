"""The pages of the sets, the labels of their blocks, and what each page weighs in each stage."""
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from folds import fold_of, fold_of_printed, number_of
from labels import align, from_blocks, from_segments, words_of

# The order is the product's (PAGE_TYPES of src/extraction/types.ts).
TYPES = ["article", "documentation", "forum", "product", "collection", "listing", "service"]
ARTICLE_WEIGHT = 2.0
# The set of printed pages; its pages have no type. Sources of every second number are never learned from.
PRESS = "press"


@dataclass(frozen=True)
class Maker:
    """Who made a set decides what it may weigh: a maker of one kind of page must not outweigh those of the others."""
    page: float                # the weight of a page, relative to the mean page of the makers without a limit
    most: dict | None = None   # the most that all its pages may weigh in each stage, as a share of the whole; each weighs the same
    type: str | None = None    # of all its pages, where they state none


MAKERS = {
    "wcxb": Maker(1.0),
    "segments": Maker(2.0),
    "languages": Maker(1.0, dict(words=0.10, first=0.10, second=0.10, third=0.10), "article"),
    "made": Maker(1.5, dict(words=0.05, first=0.05, second=0.05), "article"),
    PRESS: Maker(0.6, dict(words=0.08, second=0.08, third=0.16)),
}


class Page:
    __slots__ = ("set", "id", "url", "type", "fold", "is_taught", "start", "end")

    def __init__(self, **values):
        for name, value in values.items():
            setattr(self, name, value)


def read_truth(sets):
    """sets: NAME=DIRECTORY ... -> {(set, id): what is known of the page}"""
    truth = {}
    for name, directory in (s.split("=", 1) for s in sets):
        for line in open(Path(directory) / "pages.jsonl", encoding="utf-8"):
            page = json.loads(line)
            truth[name, page["id"]] = page
    return truth


def label(out, sets, leaves_out):
    """Writes OUT/labelled.jsonl, a line a page, and OUT/labels.f32 and OUT/parts.f32: the label of each block, and what it weighs
    in its page (0 where nothing is known of it). leaves_out: what is new in each fold of printed pages, system or source."""
    truth, labels, parts, start = read_truth(sets), [], [], 0
    with open(out / "labelled.jsonl", "w", encoding="utf-8") as lines:
        for line in open(out / "pages.jsonl", encoding="utf-8"):
            dumped = json.loads(line)
            known, texts, end = truth[dumped["set"], dumped["id"]], dumped["texts"], start + len(dumped["texts"])
            is_printed = dumped["set"] == PRESS
            own, part = label_page(known, texts)
            labels.append(own)
            parts.append(part)
            # Sources that are left out by folds can all be taught; where systems are left out, some sources are new, too.
            lines.write(json.dumps(dict(
                set=dumped["set"], id=dumped["id"], url=dumped["url"], start=start, end=end,
                type=None if is_printed else known.get("page_type", MAKERS[dumped["set"]].type),
                fold=fold_of_printed(known[leaves_out]) if is_printed else fold_of(dumped["url"]),
                is_taught=not is_printed or leaves_out == "source" or number_of(known["source"]) % 2 == 0)) + "\n")
            start = end
    np.concatenate(labels).astype(np.float32).tofile(out / "labels.f32")
    np.concatenate(parts).astype(np.float32).tofile(out / "parts.f32")


def label_page(known, texts):
    """-> (label, part of the page's weight) of each block"""
    if "main_content" not in known:
        sparse = from_segments(texts, known["with"], known["without"])
        is_known = np.array([one is not None for one in sparse], bool)
        return np.array([one or 0 for one in sparse]), is_known / max(is_known.sum(), 1)
    labels = np.array(from_blocks(texts, known["blocks"]) if "blocks" in known else align(texts, known["main_content"]))
    sizes = np.array([len(words_of(t)) for t in texts], np.float32) ** 0.8
    return labels, sizes / max(float((sizes * labels).sum()), 0.25 * float(sizes.sum()), 20.0)


def load(out):
    """-> (pages in the order of the dump, labels, parts)"""
    pages = [Page(**json.loads(line)) for line in open(out / "labelled.jsonl", encoding="utf-8")]
    return pages, np.fromfile(out / "labels.f32", np.float32), np.fromfile(out / "parts.f32", np.float32)


def weights_of_pages(pages, sizes, stage, without=()):
    """sizes: what each page would weigh by itself, 0 for one that teaches nothing. -> the weight of each page"""
    weights = np.zeros(len(pages))
    taught = {name: np.array([i for i, page in enumerate(pages) if page.set == name and page.is_taught and sizes[i] > 0], int)
              for name, maker in MAKERS.items() if (maker.most is None or stage in maker.most) and name not in without}
    unlimited = np.concatenate([ids for name, ids in taught.items() if MAKERS[name].most is None])
    limited = {name: ids for name, ids in taught.items() if MAKERS[name].most is not None and len(ids)}
    for name in taught.keys() - limited.keys():
        weights[taught[name]] = sizes[taught[name]] * MAKERS[name].page
    mean = sizes[unlimited].mean()
    whole = weights.sum() / (1 - sum(MAKERS[name].most[stage] for name in limited))
    for name, ids in limited.items():
        weights[ids] = min(MAKERS[name].page * mean, MAKERS[name].most[stage] * whole / len(ids))
    return weights


def weights_of_blocks(pages, parts, stage, without=()):
    """-> the weight of each block: of its page, which counts as much as any other of its kind, since scores are means over pages"""
    sizes = np.array([parts[p.start:p.end].sum() * (ARTICLE_WEIGHT if p.type == "article" else 1.0) for p in pages])
    of_pages = weights_of_pages(pages, sizes, stage, without)
    counts = [p.end - p.start for p in pages]
    weights = parts * np.repeat(of_pages / np.maximum([parts[p.start:p.end].sum() for p in pages], 1e-9), counts)
    # The trees' own settings suppose blocks that weigh 1 on average.
    return (weights * (sum(n for n, w in zip(counts, of_pages) if w > 0) / weights.sum())).astype(np.float32)


def folds_of_blocks(pages):
    return np.repeat([p.fold for p in pages], [p.end - p.start for p in pages])
