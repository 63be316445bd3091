#!/bin/sh
# Installs a virtual display for the tests of a browser with a window when there is no display (as root).
set -eu

if [ "$(uname)" = Darwin ] || command -v Xvfb >/dev/null 2>&1; then exit 0; fi

if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
  echo "installing Xvfb for the tests of a browser with a window ..." >&2
  apt-get update -q >&2 || true
  if DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends xvfb >&2; then exit 0; fi
fi
echo "error: no Xvfb was found, and none could be installed: install it (package xvfb)" >&2
exit 1
