#!/bin/sh
# Installs nginx for the tests behind a reverse proxy when it is missing (Debian and Ubuntu, as root).
set -eu

PATH="$PATH:/usr/sbin:/usr/local/sbin"
if command -v nginx >/dev/null 2>&1; then exit 0; fi

if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
  echo "installing nginx for the tests ..." >&2
  apt-get update -q >&2 || true
  # Its service is not started, because the tests run their own.
  policy=/usr/sbin/policy-rc.d
  made=
  if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod +x "$policy"
    made=yes
  fi
  status=0
  DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends nginx-light >&2 || status=$?
  if [ -n "$made" ]; then rm -f "$policy"; fi
  if [ "$status" = 0 ]; then exit 0; fi
fi
echo "error: no nginx was found, and none could be installed: install one" >&2
exit 1
