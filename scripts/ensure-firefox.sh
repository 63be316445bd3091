#!/bin/sh
# Installs a Firefox for the tests of the pages when there is none (Debian and Ubuntu, as root). A machine where none
# can be installed is told so and goes on: those tests say why they skip.
set -eu

for name in firefox-esr firefox; do
  if command -v "$name" >/dev/null 2>&1; then exit 0; fi
done
if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
  echo "installing firefox for the tests of the pages ..." >&2
  apt-get update -q >&2 || true
  for package in firefox-esr firefox; do
    if DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$package" >&2; then exit 0; fi
  done
fi
echo "note: no Firefox was found, and none could be installed: the pages are not tested in it" >&2
