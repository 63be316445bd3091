#!/bin/sh
# Installs a Chromium for the browser tests when there is no Chromium or Chrome (Debian and Ubuntu, as root).
set -eu

for name in chromium chromium-browser google-chrome google-chrome-stable; do
  if command -v "$name" >/dev/null 2>&1; then exit 0; fi
done
if [ -n "${ARTICLE_EXTRACTOR_BROWSER_PATH:-}" ] && [ -x "$ARTICLE_EXTRACTOR_BROWSER_PATH" ]; then exit 0; fi
for app in "/Applications/Google Chrome.app" "/Applications/Chromium.app"; do
  if [ -d "$app" ]; then exit 0; fi
done

if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
  echo "installing chromium for the browser tests ..." >&2
  apt-get update -q >&2 || true
  if DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends chromium >&2; then exit 0; fi
fi
echo "error: no Chromium or Chrome was found, and none could be installed: install one, or name it in ARTICLE_EXTRACTOR_BROWSER_PATH" >&2
exit 1
