#!/usr/bin/env python3
"""Trains the choice of blocks, the page type and the confidence, and scores them out of fold by domain; see README.md.

  train.py first  OUT SET=DIR ...            blocks alone       -> OUT/first.f32 (out of fold), OUT/first.txt
  train.py second OUT SET=DIR ...            page type, context -> OUT/second.f32, OUT/types.f32, OUT/second.txt
  train.py third  OUT SET=DIR ... --to FILE --sample FILE  confidence -> FILE (block-trees.ts), a sample for the tests
"""
import argparse
import json
from pathlib import Path

import lightgbm as lgb
import numpy as np

import trees
from sets import PRESS, PRESS_PAGE_WEIGHT, TYPES, folds_of_blocks, keep_blocks, label, load, page_scores, report

# Fewer and smaller than in the first stage: the curve is flat from 20 trees of 8 leaves on.
CONTEXT_TREES = dict(trees=60, num_leaves=8, min_data_in_leaf=100)
PAGE_TREES = dict(trees=40, num_leaves=8, min_data_in_leaf=10, feature_fraction=0.3)
GOOD_F1 = 0.8


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("step", choices=["first", "second", "third"])
    ap.add_argument("out", type=Path)
    ap.add_argument("sets", nargs="+", help="NAME=DIRECTORY")
    ap.add_argument("--leave-out", choices=["system", "source"], default="system", help="of printed pages")
    ap.add_argument("--to", type=Path)
    ap.add_argument("--sample", type=Path)
    a = ap.parse_args()
    pages = load(a.out, dict(s.split("=", 1) for s in a.sets), a.leave_out)
    {"first": first, "second": second, "third": third}[a.step](a, pages)


def first(a, pages):
    labels, weights = label(pages)
    # Printed pages teach the second stage alone.
    weights = np.where(is_printed(pages), 0, weights)
    rows, _ = read(a.out, "blocks.f32", "features.json")
    p = trees.out_of_fold(rows, labels, weights, folds_of_blocks(pages))
    p.astype(np.float32).tofile(a.out / "first.f32")
    print("first stage  ", report(pages, keep_blocks(pages, p)), flush=True)
    trees.fit(rows, labels, weights).save_model(a.out / "first.txt")


def second(a, pages):
    labels, weights = label(pages)
    types = train_types(a.out, pages)
    rows, _ = read(a.out, "context.f32", "context-features.json")
    rows = np.hstack([rows, np.repeat(types, [p.end - p.start for p in pages], axis=0)])
    p = trees.out_of_fold(rows, labels, weights, folds_of_blocks(pages), **CONTEXT_TREES)
    p.astype(np.float32).tofile(a.out / "second.f32")
    print("second stage ", report(pages, keep_blocks(pages, p, types)), flush=True)
    trees.fit(rows, labels, weights, **CONTEXT_TREES).save_model(a.out / "second.txt")


def train_types(out, pages):
    """One model a type, scaled to a sum of one. -> out of fold, a row a page"""
    rows, _ = read(out, "page.f32", "page-features.json")
    folds = np.array([p.fold for p in pages])
    weights = np.array([1.0 if p.type else 0.0 for p in pages])
    types = np.zeros((len(pages), len(TYPES)), np.float32)
    for column, name in enumerate(TYPES):
        labels = np.array([float(p.type == name) for p in pages])
        types[:, column] = trees.out_of_fold(rows, labels, weights, folds, **PAGE_TREES)
        trees.fit(rows, labels, weights, **PAGE_TREES).save_model(out / f"type-{name}.txt")
    types /= types.sum(axis=1, keepdims=True)
    known = weights > 0
    truth = np.array([TYPES.index(p.type) if p.type else 0 for p in pages])
    right = types.argmax(axis=1) == truth
    each = " ".join(f"{t[:4]} {right[known & (truth == i)].mean():.2f}" for i, t in enumerate(TYPES))
    print(f"page type     {right[known].mean():.3f} right ({each})", flush=True)
    types.tofile(out / "types.f32")
    return types


def third(a, pages):
    """Confidence: the chance that a page's F1 is at least GOOD_F1."""
    rows, _ = read(a.out, "choice.f32", "choice-features.json")
    p = np.fromfile(a.out / "second.f32", np.float32)
    types = np.fromfile(a.out / "types.f32", np.float32).reshape(len(pages), len(TYPES))
    scores = page_scores(pages, keep_blocks(pages, p, types))
    labels = np.array([float(s is not None and s >= GOOD_F1) for s in scores])
    weights = np.array([0.0 if s is None else PRESS_PAGE_WEIGHT * q.is_taught if q.set == PRESS else 1.0 for q, s in zip(pages, scores)])
    folds = np.array([q.fold for q in pages])
    sizes = {**PAGE_TREES, "num_leaves": 4, "learning_rate": 0.05, "feature_fraction": 0.5}
    got = trees.out_of_fold(rows, labels, weights, folds, **sizes)
    known = weights > 0
    for low, high in ((0, 0.2), (0.2, 0.4), (0.4, 0.6), (0.6, 0.8), (0.8, 0.9), (0.9, 1.01)):
        at = known & (got >= low) & (got < high)
        if at.any():
            print(f"confidence    {low}-{min(high, 1)}: {at.sum()} pages, mean {got[at].mean():.2f}, good {labels[at].mean():.2f}")
    models = {"BLOCK_TREES": "first", "CONTEXT_TREES": "second"}
    loaded = {name: lgb.Booster(model_file=a.out / f"{file}.txt") for name, file in models.items()}
    loaded["CONFIDENCE_TREES"] = trees.fit(rows, labels, weights, **sizes)
    write_sample(a, loaded)
    trees.write(a.to, "Written by scripts/train-extraction; not to be edited.", loaded,
                 [lgb.Booster(model_file=a.out / f"type-{name}.txt") for name in TYPES])


def write_sample(a, models):
    """A few rows with what LightGBM predicts for them, for a test of the product's reading of the trees."""
    sample = {}
    for name, rows, names in (("BLOCK_TREES", "blocks.f32", "features.json"), ("CONFIDENCE_TREES", "choice.f32", "choice-features.json")):
        few = read(a.out, rows, names)[0][::997][:12]
        sample[name] = {"rows": [[float(x) for x in row] for row in few], "predictions": list(models[name].predict(few))}
    a.sample.write_text(json.dumps(sample) + "\n")


def is_printed(pages):
    return np.concatenate([np.full(p.end - p.start, p.set == PRESS) for p in pages])


def read(out, rows, names):
    names = json.loads((out / names).read_text())
    return np.fromfile(out / rows, np.float32).reshape(-1, len(names)), names


if __name__ == "__main__":
    main()
