"""Gradient-boosted trees: out-of-fold training, and their form in the product's file."""
import base64
import struct
from pathlib import Path

import lightgbm as lgb
import numpy as np

from folds import FOLDS

# One thread: with two, LightGBM spins for minutes as soon as another program has one of the cores.
PARAMETERS = dict(objective="binary", learning_rate=0.1, num_leaves=16, min_data_in_leaf=40, feature_fraction=0.5,
                  bagging_fraction=0.8, bagging_freq=1, lambda_l2=5.0, max_bin=63, seed=11, deterministic=True,
                  force_row_wise=True, num_threads=1, verbose=-1)
TREES = 100
FORMAT = 1


def fit(rows, labels, weights, folds=None, trees=TREES, **changes):
    """-> trees of all pages and, with folds, a probability for every row from trees that saw no page of its domain"""
    settings = {**PARAMETERS, **changes}
    used = np.flatnonzero(weights > 0)
    # Binned once: the bins of a feature hold nothing of the labels.
    data = lgb.Dataset(rows[used], labels[used], weight=weights[used], params=settings).construct()
    model = lgb.train(settings, data, trees)
    if folds is None:
        return model
    p = np.zeros(len(labels), np.float32)
    for fold in range(FOLDS):
        held = folds == fold
        if held.any():
            blind = lgb.train(settings, data.subset(np.flatnonzero(folds[used] != fold)), trees)
            p[held] = blind.predict(rows[held], num_threads=1)
    return model, p


def shares(raw, pages):
    """-> the share of each candidate among those of its page and "none of them", whose raw score is 0 (softmax)"""
    pages = np.unique(pages, return_inverse=True)[1]
    count = pages.max() + 1
    top = np.zeros(count)
    np.maximum.at(top, pages, raw)
    odds = np.exp(raw - top[pages])
    return odds / (np.bincount(pages, odds, count) + np.exp(-top))[pages]


def fit_choice(rows, labels, pages, trees=TREES, **changes):
    """Trees whose raw scores make the right candidate of each page the likeliest, or none where none is right."""
    of_page = np.unique(pages, return_inverse=True)[1]
    wanted = labels / np.maximum(np.bincount(of_page, labels), 1)[of_page]

    def gradient(raw, _):
        share = shares(raw, pages)
        return share - wanted, np.maximum(share * (1 - share), 1e-3)

    settings = {**PARAMETERS, **changes}
    return lgb.train({**settings, "objective": gradient}, lgb.Dataset(rows, labels, params=settings), trees)


def choice_out_of_fold(rows, labels, pages, used, folds, **settings):
    """-> a share for every row from trees that saw no page of its domain"""
    p = np.zeros(len(labels), np.float32)
    for fold in range(FOLDS):
        taught = np.flatnonzero(used & (folds != fold))
        held = folds == fold
        model = fit_choice(rows[taught], labels[taught], pages[taught], **settings)
        p[held] = shares(model.predict(rows[held], num_threads=1), pages[held])
    return p


def flatten(model, width):
    """-> the trees as flat columns: feature, threshold, left and right child of every node (a child below zero
    is leaf -child - 1), leaf values, and each tree's first node and first leaf."""
    feature, threshold, left, right, value, first_node, first_leaf = [], [], [], [], [], [], []
    for tree in model.dump_model()["tree_info"]:
        first_node.append(len(feature))
        first_leaf.append(len(value))
        add(tree["tree_structure"], feature, threshold, left, right, value)
    assert max(feature, default=0) < min(width, 256)
    return feature, threshold, left, right, value, first_node, first_leaf


def add(node, feature, threshold, left, right, value):
    """Appends a node depth first -> its reference."""
    if "leaf_value" in node:
        value.append(node["leaf_value"])
        return -len(value)
    assert node["decision_type"] == "<=" and node["missing_type"] == "None", node
    here = len(feature)
    feature.append(node["split_feature"])
    threshold.append(round_down(node["threshold"]))
    left.append(0); right.append(0)
    left[here] = add(node["left_child"], feature, threshold, left, right, value)
    right[here] = add(node["right_child"], feature, threshold, left, right, value)
    return here


def round_down(threshold):
    """The largest 32-bit float not above: features are such floats, so no comparison changes."""
    t = np.float32(threshold)
    return float(t if float(t) <= threshold else np.nextafter(t, np.float32(-np.inf)))


def encode(model, width):
    """As the product reads them (src/extraction/classification/trees.ts): base64 of flat columns."""
    feature, threshold, left, right, value, first_node, first_leaf = flatten(model, width)
    bounds = first_node[1:] + [len(feature)]
    roots = [n if n < end else -leaf - 1 for n, end, leaf in zip(first_node, bounds, first_leaf)]
    assert len(feature) < 32768 and len(value) < 32768
    columns = [struct.pack("<5i", FORMAT, width, len(roots), len(feature), len(value))]
    columns += [struct.pack(f"<{len(c)}h", *c) for c in (roots, left, right)]
    columns += [struct.pack(f"<{len(c)}f", *c) for c in (threshold, value)]
    columns.append(bytes(feature))
    return base64.b64encode(b"".join(c + b"\0" * (-len(c) % 4) for c in columns)).decode()


def write(path, note, models, types):
    """models: {constant: model}; types: the models of TYPE_TREES, in the order of the page types; None without them"""
    lines = [f"// {note}"]
    for name, model in models.items():
        lines += [f"export const {name} =", f'  "{encode(model, model.num_feature())}";']
    if types is not None:
        lines += ["export const TYPE_TREES = ["]
        lines += [f'  "{encode(model, model.num_feature())}",' for model in types] + ["];"]
    Path(path).write_text("\n".join(lines) + "\n")
