#!/bin/sh
# The whole training: train.sh OUT NAME=DIRECTORY [NAME=DIRECTORY ...]; PYTHON has LightGBM and numpy.
set -e
here=$(dirname "$0")
out=$1
shift
bun="sh $here/../bun"
$bun "$here/dump-blocks.ts" "$out" "$@"
"$PYTHON" "$here/words.py" "$out" "$@" --to "$here/../../src/extraction/classification/word-weights.ts"
"$PYTHON" "$here/train.py" first "$out" "$@"
$bun "$here/dump-context.ts" "$out" "$@"
"$PYTHON" "$here/train.py" second "$out" "$@"
$bun "$here/dump-choice.ts" "$out" "$@"
"$PYTHON" "$here/train.py" third "$out" "$@" --to "$here/../../src/extraction/classification/block-trees.ts" \
  --sample "$here/../../test/unit/extraction/engine/trained-sample.json"
$bun "$here/dump-metadata.ts" "$out" "$@"
"$PYTHON" "$here/metadata.py" "$out" "$@" --to "$here/../../src/extraction/metadata/metadata-trees.ts"
$bun "$here/dump-names.ts" "$here/../../test/unit/extraction/engine/trained-features.json"
