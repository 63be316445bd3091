"""Writes trees as the product reads them (src/extraction/classification/trees.ts): base64 of flat columns in a .ts file."""
import base64
import struct
from pathlib import Path

from trees import flatten

FORMAT = 1


def encode(model, width):
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
