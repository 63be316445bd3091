#!/bin/sh
# Installs what tests run beside the program where that is possible (Debian and Ubuntu, as root), and names at once all
# that is missing then.
# usage: ensure.sh fast | slow | all | scale
set -eu
cd "$(dirname "$0")/.."
suite=$1

# Programs of which one is enough, Debian's package, and the suites that use them. Where a suite has a question mark, its
# tests skip without the program and say so.
table() {
  cat <<'TABLE'
chromium|chromium-browser|google-chrome|google-chrome-stable chromium fast?,slow,all
Xvfb xvfb fast?,slow,all
firefox-esr|firefox firefox-esr slow?,all?
nginx nginx-light slow,all
faketime faketime slow,all
minisign minisign slow,all
caddy caddy slow?,all?
prometheus prometheus slow?,all?
systemd-analyze systemd slow?,all?
sshd openssh-server slow,all
postgres postgresql slow,all,scale
pgbouncer pgbouncer slow,all
shellcheck shellcheck slow,all
venv python3-venv slow,all,scale
podman podman all
runc runc all
mmdebstrap mmdebstrap all
TABLE
}

cache=${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/article-extractor-test
PATH="$PATH:/usr/sbin:/usr/local/sbin:$cache:${HOME:-/nonexistent}/go/bin:/usr/local/go/bin"
# Debian keeps PostgreSQL's programs in a folder for each version.
for folder in /usr/lib/postgresql/*/bin; do PATH="$PATH:$folder"; done

has() {
  case $1 in
    venv) python3 -c 'import ensurepip' 2>/dev/null && return 0 ;;
    Xvfb) [ "$(uname)" = Darwin ] && return 0 ;;
    chromium*)
      [ -n "${ARTICLE_EXTRACTOR_BROWSER_PATH:-}" ] && return 0
      for app in "Google Chrome" Chromium; do [ -d "/Applications/$app.app" ] && return 0; done
      ;;
  esac
  for program in $(echo "$1" | tr '|' ' '); do
    command -v "$program" >/dev/null 2>&1 && return 0
  done
  return 1
}

# The packages of what the suite lacks. $1: "?" for what its tests can do without, "" for all else
lacking() {
  table | while read -r programs package suites; do
    case ,$suites, in *",$suite$1,"*) has "$programs" || echo "$package" ;; esac
  done
}

install_packages() {
  command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ] || return 0
  echo "installing for the tests:" "$@" "..." >&2
  apt-get update -q >&2 || true
  # No service is started, because the tests run their own.
  policy=/usr/sbin/policy-rc.d
  made=
  if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod +x "$policy"
    made=yes
  fi
  install="apt-get install -y -q --no-install-recommends"
  export DEBIAN_FRONTEND=noninteractive
  # One that the distribution lacks is no reason to go without the others.
  $install "$@" >&2 || for package in "$@"; do $install "$package" >&2 || true; done
  [ -z "$made" ] || rm -f "$policy"
}

# moto, a server that speaks S3, in build/moto.
has_moto() {
  [ "$(build/moto/bin/python -c 'import importlib.metadata as m; print(m.version("moto"))' 2>/dev/null)" = 5.2.5 ]
}

install_moto() {
  echo "installing moto for the tests ..." >&2
  rm -rf build/moto
  python3 -m venv build/moto && build/moto/bin/pip install --quiet 'moto[s3]==5.2.5' flask==3.1.2 flask-cors==6.0.1
}

# versitygw is a server of S3 that others run. It is built once where there is Go, and takes some minutes.
has_versitygw() {
  command -v versitygw >/dev/null 2>&1 && return 0
  command -v go >/dev/null 2>&1 || return 1
  echo "building versitygw for the tests ..." >&2
  version=v1.8.0
  GOBIN="$cache" go install "github.com/versity/versitygw/cmd/versitygw@$version" >&2
}

packages=$(lacking '' && lacking '?')
# The names are words.
# shellcheck disable=SC2086
[ -z "$packages" ] || install_packages $packages
missing=$(lacking '')
case $suite in
  fast) ;;
  scale) has_versitygw || has_moto || install_moto >&2 || missing="$missing moto" ;;
  *) has_moto || install_moto >&2 || missing="$missing moto" ;;
esac

optional=$(lacking '?')
# shellcheck disable=SC2086
[ -z "$optional" ] || echo "note: tests skip that need what is missing here:" $optional >&2
[ -n "$missing" ] || exit 0
# shellcheck disable=SC2086
echo "error: the tests need what is missing here and could not be installed:" $missing >&2
exit 1
