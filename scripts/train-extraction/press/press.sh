#!/bin/sh
# The whole press: press.sh SCRATCH. Installs the publishing systems below SCRATCH, prints the sources with each of
# them into SCRATCH/pages (pages.jsonl, html/ID.html) and judges the product on these pages.
set -e
here=$(cd "$(dirname "$0")" && pwd)
scratch=$1
mkdir -p "$scratch/py" "$scratch/js"
if [ ! -x "$scratch/py/venv/bin/pdoc" ]; then
  python3 -m venv "$scratch/py/venv"
  "$scratch/py/venv/bin/pip" -q install sphinx myst-parser furo sphinx-rtd-theme pydata-sphinx-theme \
    sphinx-book-theme mkdocs mkdocs-material mkdocs-windmill pelican markdown pdoc
fi
if [ ! -d "$scratch/js/node_modules/hexo" ]; then
  (cd "$scratch/js" && npm init -y >/dev/null && npm install --no-audit --no-fund hexo hexo-theme-landscape \
    hexo-renderer-marked hexo-renderer-ejs hexo-renderer-stylus hexo-generator-index hexo-generator-archive \
    vitepress typedoc typescript jsdoc docdash honkit)
fi
"$scratch/py/venv/bin/python" "$here/press.py" "$scratch" --sources "$here/../../../node_modules"
sh "$here/../../bun" "$here/judge.ts" "$scratch/pages"
