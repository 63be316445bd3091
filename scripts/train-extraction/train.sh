#!/bin/sh
# The whole training of the choice of blocks, with its scores out of fold: train.sh OUT NAME=DIRECTORY ... [--without NAME]
# [--drop FEATURE]; PYTHON has LightGBM, numpy and scipy. All is written to OUT; adopt.sh OUT takes it into the product.
set -e
here=$(dirname "$0")
out=$1
sets=$(for one in "$@"; do case $one in *=*) echo "$one" ;; esac; done)
dump() { sh "$here/../bun" "$here/dump.ts" "$1" "$out" $sets; }
# Neither depends on what is left out.
[ -s "$out/labels.f32" ] || { dump blocks && "$PYTHON" "$here/train.py" label "$@"; }
"$PYTHON" "$here/words.py" "$@"
"$PYTHON" "$here/train.py" first "$@"
dump context
"$PYTHON" "$here/train.py" second "$@"
dump choice
"$PYTHON" "$here/train.py" third "$@"
"$PYTHON" "$here/score.py" "$out" $sets | tee "$out/scores.txt"
