#!/bin/sh
# Takes what train.sh wrote to OUT into the product: adopt.sh OUT
set -e
root=$(dirname "$0")/../..
cp "$1/block-trees.ts" "$1/word-weights.ts" "$root/src/extraction/classification/"
cp "$1/trained-sample.json" "$root/test/unit/extraction/engine/"
sh "$root/scripts/bun" "$root/scripts/train-extraction/dump.ts" names "$root/test/unit/extraction/engine/trained-features.json"
