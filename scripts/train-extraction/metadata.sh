#!/bin/sh
# Trains title, date and byline after train.sh, from its OUT, and writes metadata-trees.ts: metadata.sh OUT NAME=DIRECTORY ...
set -e
here=$(dirname "$0")
sh "$here/../bun" "$here/dump.ts" metadata "$@"
"$PYTHON" "$here/metadata.py" "$@" --to "$here/../../src/extraction/metadata/metadata-trees.ts"
