#!/usr/bin/env python3
"""Trains the choosers of title, date and byline, and scores them out of fold by domain; see README.md.

  metadata.py OUT SET=DIR ... [--to FILE] [--errors DIR] [--kinds titles,dates,bylines]

Each takes the likeliest candidate; the threshold of dates and bylines is the product's. Titles are learnt one by one,
dates and bylines as a choice among those of a page and none. A page teaches when one of its candidates is right, or
when it has no right one at all (dates and bylines).
"""
import argparse
import json
import re
import unicodedata
from collections import Counter
from pathlib import Path

import numpy as np

import trees
from folds import fold_of

WORD = re.compile(r"\w+")
SIZES = {
    "titles": dict(trees=80, num_leaves=8, min_data_in_leaf=20),
    "dates": dict(trees=150, num_leaves=6, min_data_in_leaf=20, learning_rate=0.07),
    "bylines": dict(trees=150, num_leaves=6, min_data_in_leaf=20, learning_rate=0.07),
}
FIELDS = {"titles": "title", "dates": "publish_date", "bylines": "author"}
THRESHOLDS = {"titles": 0.0, "dates": 0.28, "bylines": 0.2}


def words(text):
    return " ".join(WORD.findall(unicodedata.normalize("NFKC", text or "").lower()))


def day(text):
    m = re.search(r"(\d{4})-(\d{2})-(\d{2})", text or "")
    return m.group(0) if m else ""


NORMAL = {"titles": words, "dates": day, "bylines": words}


def read_truth(directories):
    """directories: {name of the set: directory} -> {(set, id): annotations}"""
    truth = {}
    for name, directory in directories.items():
        for line in open(Path(directory) / "pages.jsonl", encoding="utf-8"):
            d = json.loads(line)
            truth[name, d["id"]] = d
    return truth


class Kind:
    """The candidates of one kind on all pages whose right value is known."""

    def __init__(self, name, out, truth):
        self.name = name
        self.features = json.loads((out / f"{name}-features.json").read_text())
        self.rows = np.fromfile(out / f"{name}.f32", np.float32).reshape(-1, len(self.features))
        self.pages, at = [], 0
        self.labels = np.zeros(len(self.rows), np.float32)
        self.weights = np.zeros(len(self.rows), np.float32)
        self.folds = np.zeros(len(self.rows), np.int64)
        self.page = np.zeros(len(self.rows), np.int64)
        for line in open(out / f"{name}.jsonl", encoding="utf-8"):
            page = json.loads(line)
            page["start"], at = at, at + len(page["texts"])
            page["end"] = at
            self.folds[page["start"]:at] = fold_of(page["url"])
            self.page[page["start"]:at] = len(self.pages)
            gold = truth.get((page["set"], page["id"]))
            if gold is None or FIELDS[name] not in gold:
                continue
            page["gold"], page["type"] = gold[FIELDS[name]], gold["page_type"]
            self.pages.append(page)
            self.label(page)
        assert at == len(self.rows), (name, at, len(self.rows))

    def label(self, page):
        wanted = NORMAL[self.name](page["gold"])
        right = [NORMAL[self.name](t) == wanted and wanted != "" for t in page["texts"]]
        page["possible"] = any(right)
        if not right:
            return
        # A page whose right value is not among the candidates says nothing about these.
        if any(right) or (not page["gold"] and self.name != "titles"):
            rows = slice(page["start"], page["end"])
            self.labels[rows] = right
            self.weights[rows] = 10.0 / max(len(right), 2) ** 0.5

    def fit(self):
        """-> trees of all pages, and a probability for every candidate from trees that saw no page of its domain"""
        if self.name == "titles":
            return trees.fit(self.rows, self.labels, self.weights, self.folds, **SIZES[self.name])
        used = self.weights > 0
        p = trees.choice_out_of_fold(self.rows, self.labels, self.page, used, self.folds, **SIZES[self.name])
        return trees.fit_choice(self.rows[used], self.labels[used], self.page[used], **SIZES[self.name]), p

    def score(self, p, threshold):
        """-> counts {(type, outcome): pages}; outcomes right, wrong, missing, spurious, none"""
        counts = Counter()
        for page in self.pages:
            wanted = NORMAL[self.name](page["gold"])
            own = p[page["start"]:page["end"]]
            best = int(own.argmax()) if len(own) and own.max() >= threshold else None
            got = "" if best is None else NORMAL[self.name](page["texts"][best])
            outcome = ("right" if got == wanted else "wrong" if got else "missing") if wanted else "spurious" if got else "none"
            page["outcome"] = outcome
            counts["all", outcome] += 1
            counts[page["type"], outcome] += 1
        return counts


def report(kind, counts):
    print(f"{kind.name}: {len(kind.pages)} pages, {len(kind.rows)} candidates, "
          f"right one among them {np.mean([q['possible'] for q in kind.pages if NORMAL[kind.name](q['gold'])]):.3f}")
    for name in ["all", *sorted({t for t, _ in counts} - {"all"})]:
        c = {o: counts[name, o] for o in ("right", "wrong", "missing", "spurious", "none")}
        given, free = c["right"] + c["wrong"] + c["missing"], c["spurious"] + c["none"]
        print(f"  {name:<14} right {c['right'] / max(given, 1):.3f} wrong {c['wrong'] / max(given, 1):.3f} missing "
              f"{c['missing'] / max(given, 1):.3f} of {given:<5} given where there is none {c['spurious'] / max(free, 1):.3f} of {free}")


def curve(kind, p):
    for threshold in np.arange(0.05, 0.75, 0.05):
        c = kind.score(p, threshold)
        given = sum(c["all", o] for o in ("right", "wrong", "missing"))
        free = max(c["all", "spurious"] + c["all", "none"], 1)
        print(f"  at {threshold:.2f}: right {c['all', 'right'] / given:.3f} spurious {c['all', 'spurious'] / free:.3f}")


def write_errors(kind, p, path):
    with open(path, "w", encoding="utf-8") as f:
        for q in kind.pages:
            if q["outcome"] in ("right", "none"):
                continue
            own = p[q["start"]:q["end"]]
            best = " # ".join(f"{own[i]:.2f} {q['texts'][i][:80]}" for i in np.argsort(-own)[:4])
            print(q["outcome"], "possible" if q["possible"] else "-", q["id"], q["type"], q["url"][:90], "| GOLD", q["gold"], "|", best, file=f)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("out", type=Path)
    ap.add_argument("sets", nargs="+", help="NAME=DIRECTORY")
    ap.add_argument("--to", type=Path)
    ap.add_argument("--errors", type=Path)
    ap.add_argument("--kinds", default="titles,dates,bylines")
    a = ap.parse_args()
    truth = read_truth(dict(s.split("=", 1) for s in a.sets))
    models = {}
    for name in a.kinds.split(","):
        kind = Kind(name, a.out, truth)
        model, p = kind.fit()
        if name != "titles":
            curve(kind, p)
        report(kind, kind.score(p, THRESHOLDS[name]))
        if a.errors:
            write_errors(kind, p, a.errors / f"{name}-errors.txt")
        if a.to:
            models[f"{name[:-1].upper()}_TREES"] = model
    if models:
        trees.write(a.to, "Written by scripts/train-extraction; not to be edited.", models, None)


if __name__ == "__main__":
    main()
