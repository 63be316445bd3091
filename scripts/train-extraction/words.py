#!/usr/bin/env python3
"""Learns a weight for each word of texts and of class names; see README.md.

  words.py OUT SET=DIR ...      -> OUT/words.f32 (sums out of fold), OUT/word-weights.ts

A logistic regression over the buckets that OUT/words.u16 names, in the tables of src/extraction/classification/block-features.ts.
"""
import base64

import numpy as np
import scipy.sparse as sparse
from scipy.optimize import minimize

from folds import FOLDS
from sets import folds_of_blocks, load, weights_of_blocks
from train import arguments

# WORD_BUCKETS twice, then NAME_BUCKETS of each table of names.
TABLES = [1 << 14, 1 << 14, 1 << 13, 1 << 13, 1 << 13]
BOUNDS = np.concatenate([[0], np.cumsum(TABLES)])
PENALTY = 12.0
STEPS = 40


def read(out):
    """-> a row a block: 1 / root of the number of words of a table for each word of it"""
    counts = np.fromfile(out / "word-counts.u16", np.uint16).reshape(-1, len(TABLES)).astype(np.int64)
    columns = np.fromfile(out / "words.u16", np.uint16).astype(np.int32) + np.repeat(
        np.tile(BOUNDS[:-1], len(counts)), counts.reshape(-1)).astype(np.int32)
    values = np.repeat((1 / np.sqrt(np.maximum(counts, 1))).reshape(-1), counts.reshape(-1)).astype(np.float32)
    rows = np.concatenate([[0], np.cumsum(counts.sum(axis=1))])
    matrix = sparse.csr_matrix((values, columns, rows), shape=(len(counts), BOUNDS[-1]))
    matrix.sum_duplicates()
    return matrix


def fit(rows, labels, weights):
    """-> the weights; those that are learned are as large as they need to be, and no larger"""
    used = np.flatnonzero(weights > 0)
    rows, y, w = rows[used], labels[used].astype(np.float64), weights[used].astype(np.float64)
    w /= w.mean()
    columns = rows.T.tocsr()

    def loss(x):
        scores = rows @ x[:-1].astype(np.float32) + x[-1]
        misses = w * (1 / (1 + np.exp(-scores)) - y)
        value = (w * (np.logaddexp(0, scores) - y * scores)).sum() + 0.5 * PENALTY * (x[:-1] ** 2).sum()
        return value, np.append(columns @ misses.astype(np.float32) + PENALTY * x[:-1], misses.sum()).astype(np.float64)

    found = minimize(loss, np.zeros(rows.shape[1] + 1), jac=True, method="L-BFGS-B", options=dict(maxiter=STEPS, maxcor=6))
    return found.x[:-1].astype(np.float32)


def sums(rows, weights):
    """-> a column a table, and their sum: what computeWordSums gives"""
    parts = [rows[:, a:b] @ weights[a:b] for a, b in zip(BOUNDS[:-1], BOUNDS[1:])]
    return np.stack([*parts, np.sum(parts, axis=0)], axis=1).astype(np.float32)


def in_bytes(weights):
    """-> (scales, bytes): a byte for each weight, in steps of its table's scale"""
    parts = [weights[a:b] for a, b in zip(BOUNDS[:-1], BOUNDS[1:])]
    scales = np.array([max(np.abs(p).max(), 1e-6) / 127 for p in parts], np.float32)
    return scales, np.concatenate([np.rint(p / s) for p, s in zip(parts, scales)]).astype(np.int8)


def rounded(weights):
    scales, steps = in_bytes(weights)
    return steps.astype(np.float32) * np.repeat(scales, TABLES)


def main():
    a = arguments(__doc__)
    pages, labels, parts = load(a.out)
    weights = weights_of_blocks(pages, parts, "words", a.without)
    rows, folds = read(a.out), folds_of_blocks(pages)
    result = np.zeros((len(labels), len(TABLES) + 1), np.float32)
    for fold in range(FOLDS):
        held = folds == fold
        result[held] = sums(rows[held], rounded(fit(rows, labels, np.where(held, 0, weights))))
    result.tofile(a.out / "words.f32")
    scales, steps = in_bytes(fit(rows, labels, weights))
    text = base64.b64encode(scales.tobytes() + steps.tobytes()).decode()
    note = "// Written by scripts/train-extraction; not to be edited."
    (a.out / "word-weights.ts").write_text(f'{note}\nexport const WORD_WEIGHTS =\n  "{text}";\n')


if __name__ == "__main__":
    main()
