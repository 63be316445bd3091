#!/usr/bin/env python3
"""Trains the choice of blocks, the page type and the confidence; see README.md.

  train.py label  OUT SET=DIR ...  labels and folds   -> OUT/labelled.jsonl, OUT/labels.f32, OUT/parts.f32
  train.py first  OUT SET=DIR ...  blocks alone       -> OUT/first.f32 (out of fold), OUT/first.txt
  train.py second OUT SET=DIR ...  page type, context -> OUT/second.f32, OUT/types.f32, OUT/second.txt
  train.py third  OUT SET=DIR ...  confidence         -> OUT/block-trees.ts, OUT/trained-sample.json
"""
import argparse
import json
from pathlib import Path

import lightgbm as lgb
import numpy as np

import trees
from score import scores_of_pages
from sets import MAKERS, TYPES, folds_of_blocks, label, load, weights_of_blocks, weights_of_pages

# Fewer and smaller than in the first stage: the curve is flat from 20 trees of 8 leaves on.
CONTEXT_TREES = dict(trees=60, num_leaves=8, min_data_in_leaf=100)
PAGE_TREES = dict(trees=40, num_leaves=8, min_data_in_leaf=10, feature_fraction=0.3)
CONFIDENCE_TREES = {**PAGE_TREES, "num_leaves": 4, "learning_rate": 0.05, "feature_fraction": 0.5}
GOOD_F1 = 0.8


def arguments(doc, steps=()):
    ap = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    if steps:
        ap.add_argument("step", choices=steps)
    ap.add_argument("out", type=Path)
    ap.add_argument("sets", nargs="+", help="NAME=DIRECTORY")
    ap.add_argument("--without", action="append", default=[], choices=MAKERS, help="a set that teaches nothing and is scored all the same")
    ap.add_argument("--drop", action="append", default=[], help="a feature that no tree may use")
    ap.add_argument("--leave-out", choices=["system", "source"], default="system", help="of printed pages")
    return ap.parse_args()


def main():
    a = arguments(__doc__, ["label", "first", "second", "third"])
    if a.step == "label":
        return label(a.out, a.sets, a.leave_out)
    {"first": first, "second": second, "third": third}[a.step](a, *load(a.out))


def first(a, pages, labels, parts):
    weights = weights_of_blocks(pages, parts, "first", a.without)
    model, p = trees.fit(read(a, "blocks.f32", "features.json"), labels, weights, folds_of_blocks(pages))
    p.tofile(a.out / "first.f32")
    model.save_model(a.out / "first.txt")


def second(a, pages, labels, parts):
    types = train_types(a, pages)
    weights = weights_of_blocks(pages, parts, "second", a.without)
    rows = read(a, "context.f32", "context-features.json")
    rows = np.hstack([rows, np.repeat(types, [p.end - p.start for p in pages], axis=0)])
    model, p = trees.fit(rows, labels, weights, folds_of_blocks(pages), **CONTEXT_TREES)
    p.tofile(a.out / "second.f32")
    model.save_model(a.out / "second.txt")


def train_types(a, pages):
    """One model a type, scaled to a sum of one. -> out of fold, a row a page"""
    rows = read(a, "page.f32", "page-features.json")
    folds = np.array([p.fold for p in pages])
    weights = weights_of_pages(pages, np.array([float(p.type is not None) for p in pages]), "types", a.without)
    types = np.zeros((len(pages), len(TYPES)), np.float32)
    for column, name in enumerate(TYPES):
        labels = np.array([float(p.type == name) for p in pages])
        model, types[:, column] = trees.fit(rows, labels, weights, folds, **PAGE_TREES)
        model.save_model(a.out / f"type-{name}.txt")
    types /= types.sum(axis=1, keepdims=True)
    for maker in MAKERS:
        known = np.array([p.set == maker and p.type is not None for p in pages])
        truth = np.array([TYPES.index(p.type) if p.type else -1 for p in pages])
        right = types.argmax(axis=1) == truth
        if known.any():
            each = " ".join(f"{t[:4]} {right[known & (truth == i)].mean():.2f}" for i, t in enumerate(TYPES) if (known & (truth == i)).any())
            print(f"page type of {maker}: {right[known].mean():.3f} right ({each})", flush=True)
    types.tofile(a.out / "types.f32")
    return types


def third(a, pages, *_):
    """Confidence: the chance that a page's F1 is at least GOOD_F1, by the product's own text."""
    rows = read(a, "choice.f32", "choice-features.json")
    scores = scores_of_pages(a.out, a.sets)
    scores = np.array([scores.get((p.set, p.id), -1.0) for p in pages])
    labels = (scores >= GOOD_F1).astype(float)
    weights = weights_of_pages(pages, (scores >= 0).astype(float), "third", a.without)
    model, got = trees.fit(rows, labels, weights, np.array([p.fold for p in pages]), **CONFIDENCE_TREES)
    for low, high in ((0, 0.2), (0.2, 0.4), (0.4, 0.6), (0.6, 0.8), (0.8, 0.9), (0.9, 1.01)):
        at = (weights > 0) & (got >= low) & (got < high)
        if at.any():
            print(f"confidence {low}-{min(high, 1)}: {at.sum()} pages, mean {got[at].mean():.2f}, good {labels[at].mean():.2f}")
    models = {"BLOCK_TREES": "first", "CONTEXT_TREES": "second"}
    loaded = {name: lgb.Booster(model_file=a.out / f"{file}.txt") for name, file in models.items()}
    loaded["CONFIDENCE_TREES"] = model
    write_sample(a, loaded)
    trees.write(a.out / "block-trees.ts", "Written by scripts/train-extraction; not to be edited.", loaded,
                [lgb.Booster(model_file=a.out / f"type-{name}.txt") for name in TYPES])


def write_sample(a, models):
    """A few rows with what LightGBM predicts for them, for a test of the product's reading of the trees."""
    sample = {}
    for name, rows, names in (("BLOCK_TREES", "blocks.f32", "features.json"), ("CONFIDENCE_TREES", "choice.f32", "choice-features.json")):
        few = read(a, rows, names)[::997][:12]
        sample[name] = {"rows": [[float(x) for x in row] for row in few], "predictions": list(models[name].predict(few))}
    (a.out / "trained-sample.json").write_text(json.dumps(sample) + "\n")


def read(a, rows, names):
    """The rows of features; those that are left out are all 0, so that no tree can split by them."""
    names = json.loads((a.out / names).read_text())
    rows = np.fromfile(a.out / rows, np.float32).reshape(-1, len(names))
    rows[:, [names.index(name) for name in a.drop if name in names]] = 0
    return rows


if __name__ == "__main__":
    main()
