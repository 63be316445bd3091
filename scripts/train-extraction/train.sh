#!/bin/sh
# The whole training: train.sh OUT NAME=DIRECTORY [NAME=DIRECTORY ...]; PYTHON has LightGBM and numpy.
set -e
here=$(dirname "$0")
out=$1
shift
bun="sh $here/../bun"
$bun "$here/dump.ts" blocks "$out" "$@"
"$PYTHON" "$here/words.py" "$out" "$@" --to "$here/../../src/extraction/classification/word-weights.ts"
"$PYTHON" "$here/train.py" first "$out" "$@"
$bun "$here/dump.ts" context "$out" "$@"
"$PYTHON" "$here/train.py" second "$out" "$@"
$bun "$here/dump.ts" choice "$out" "$@"
"$PYTHON" "$here/train.py" third "$out" "$@" --to "$here/../../src/extraction/classification/block-trees.ts" \
  --sample "$here/../../test/unit/extraction/engine/trained-sample.json"
$bun "$here/dump.ts" metadata "$out" "$@"
"$PYTHON" "$here/metadata.py" "$out" "$@" --to "$here/../../src/extraction/metadata/metadata-trees.ts"
$bun "$here/dump.ts" names "$here/../../test/unit/extraction/engine/trained-features.json"
