#!/bin/sh
# Installs an S3 server that is not ours for `make test-scale` when there is none: versitygw where there is Go (some
# minutes, once; it is kept in ~/.cache/article-extractor-test), else moto.
set -eu
version=v1.8.0
cache=${XDG_CACHE_HOME:-$HOME/.cache}/article-extractor-test

PATH="$cache:$HOME/go/bin:/usr/local/go/bin:$PATH"
if command -v versitygw >/dev/null 2>&1; then exit 0; fi
if command -v go >/dev/null 2>&1; then
  echo "building versitygw for the tests ..." >&2
  if GOBIN="$cache" go install "github.com/versity/versitygw/cmd/versitygw@$version" >&2; then exit 0; fi
fi
exec sh "$(dirname "$0")/ensure-moto.sh"
