#!/bin/sh
# Installs a server that tests run themselves when it is missing (Debian and Ubuntu, as root).
# usage: ensure-server.sh PROGRAM PACKAGE
set -eu
program=$1
package=$2

PATH="$PATH:/usr/sbin:/usr/local/sbin"
# Debian keeps PostgreSQL's programs in a folder for each version.
for folder in /usr/lib/postgresql/*/bin; do PATH="$PATH:$folder"; done
if command -v "$program" >/dev/null 2>&1; then exit 0; fi

if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
  echo "installing $package for the tests ..." >&2
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
  DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$package" >&2 || status=$?
  if [ -n "$made" ]; then rm -f "$policy"; fi
  if [ "$status" = 0 ]; then exit 0; fi
fi
echo "error: no $program was found, and none could be installed: install $package" >&2
exit 1
