#!/usr/bin/env python3
"""Scores the product's texts out of fold, OUT/texts/SET/ID.txt, against what is known of the pages.

  score.py OUT SET=DIR ...

With a reference text: the mean over pages of precision, recall and F1 of words, and F1 by page type or language. With segments
alone: F1, precision and recall of all segments together.
"""
import sys
from collections import Counter, defaultdict
from pathlib import Path

from labels import spaceless, words_of
from sets import read_truth


def read_text(out, name, id):
    file = Path(out) / "texts" / name / f"{id}.txt"
    return file.read_text(encoding="utf-8") if file.exists() else ""


def f_score(got, wanted):
    if not wanted or not got:
        return (1.0, 1.0, 1.0) if not wanted and not got else (0.0, 0.0, 0.0)
    hit = sum((got & wanted).values())
    p, r = hit / sum(got.values()), hit / sum(wanted.values())
    return p, r, 2 * p * r / (p + r) if hit else 0.0


def prf_of_pages(out, truth):
    """-> {(set, id): (precision, recall, F1)} of the pages with a reference text"""
    return {(name, id): f_score(Counter(words_of(read_text(out, name, id))), Counter(words_of(page["main_content"])))
            for (name, id), page in truth.items() if "main_content" in page}


def scores_of_pages(out, sets):
    """-> {(set, id): F1}"""
    return {page: prf[2] for page, prf in prf_of_pages(out, read_truth(sets)).items()}


def score_segments(out, name, pages):
    hits = lost = extra = 0
    for id, page in pages.items():
        text = spaceless(read_text(out, name, id))
        found = sum(spaceless(s) in text for s in page["with"])
        hits, lost = hits + found, lost + len(page["with"]) - found
        extra += sum(spaceless(s) in text for s in page["without"])
    return f"F1 {2 * hits / (2 * hits + extra + lost):.4f} P {hits / max(hits + extra, 1):.3f} R {hits / max(hits + lost, 1):.3f}"


def rate(text, snippets):
    return sum(s.lower() in text for s in snippets) / len(snippets)


def mean(values):
    values = list(values)
    return sum(values) / max(len(values), 1)


def main():
    out, *sets = sys.argv[1:]
    truth = read_truth(sets)
    scores = prf_of_pages(out, truth)
    for name in (s.split("=", 1)[0] for s in sets):
        pages = {id: page for (of, id), page in truth.items() if of == name}
        if not any((name, id) in scores for id in pages):
            print(f"{name:<10} {score_segments(out, name, pages)} ({len(pages)} pages)")
            continue
        by = defaultdict(list)
        for id, page in pages.items():
            by[page.get("page_type") or page.get("language") or page.get("system") or "all"].append(scores[name, id][2])
        p, r, f = (mean(scores[name, id][i] for id in pages) for i in range(3))
        rates = "".join(f" {kind} {mean(rate(read_text(out, name, id).lower(), page[kind]) for id, page in pages.items() if page.get(kind)):.3f}"
                        for kind in ("with", "without") if any(page.get(kind) for page in pages.values()))
        each = ", ".join(f"{kind} {mean(values):.3f}" for kind, values in sorted(by.items()) if len(by) > 1)
        print(f"{name:<10} F1 {f:.4f} P {p:.3f} R {r:.3f}{rates} ({len(pages)} pages) {each}")


if __name__ == "__main__":
    main()
