#!/bin/sh
# What all judges lose without each step of the selection (src/extraction/selection/selection.ts), by the product's own trees:
# ablation.sh OUT NAME=DIRECTORY ...
set -e
here=$(dirname "$0")
sh "$here/../bun" "$here/dump.ts" ablation "$@"
out=$1
shift
for texts in "$out"/*/; do
  echo "$(basename "$texts")"
  "${PYTHON:-python3}" "$here/score.py" "$texts" "$@"
done | tee "$out/ablation.txt"
