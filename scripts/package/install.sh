#!/bin/sh
# Installs article-extractor, one file, into ~/.local/bin (or $PREFIX/bin).
#
#   sh install.sh                                              from the archives that lie beside it
#   ARTICLE_EXTRACTOR_DOWNLOADS=https://mirror/{version} sh install.sh --prefix /usr/local --version 1.2.3
#
# It needs tar, gzip, sha256sum, shasum or openssl, and to download curl or wget. It compares the archive with the sum in SHA256SUMS, and
# with minisign on PATH also the signature of that file. Nothing is changed before the new program has run.
set -eu

version=@VERSION@
downloads=@DOWNLOADS@
key=@KEY@

# All is in a function that the last line calls, so a script that arrives cut off does nothing.
main() {
  prefix=${PREFIX:-} asked=
  while [ $# -gt 0 ]; do
    case $1 in
    --prefix | --version)
      [ $# -ge 2 ] || fail "$1 needs a value"
      if [ "$1" = --prefix ]; then prefix=$2; else asked=${2#v}; fi
      shift
      ;;
    --help)
      echo "usage: install.sh [--prefix DIRECTORY] [--version VERSION]; ARTICLE_EXTRACTOR_DOWNLOADS names the place of the archives, such as https://mirror/{version} or /a/folder"
      return
      ;;
    *) fail "unknown argument $1; there are --prefix, --version and --help" ;;
    esac
    shift
  done
  if [ -z "$prefix" ]; then
    [ -n "${HOME:-}" ] || fail "HOME is not set; name a directory with --prefix"
    prefix=$HOME/.local
  fi
  version=${asked:-$version}
  case $version in *[!A-Za-z0-9.+-]*) fail "$version is no version" ;; esac
  place=${ARTICLE_EXTRACTOR_DOWNLOADS:-$downloads}
  if [ -z "$place" ]; then
    # A script that a shell reads from a pipe lies nowhere.
    case $0 in *install.sh) place=$(CDPATH='' cd "$(dirname "$0")" && pwd) ;; esac
    [ -e "${place:-/nowhere}/SHA256SUMS" ] ||
      fail "no archives lie beside this script; name their place with ARTICLE_EXTRACTOR_DOWNLOADS"
  fi
  # {version} in the address becomes the version.
  case $place in *"{version}"*) place=${place%%"{version}"*}$version${place#*"{version}"} ;; esac

  archive=article-extractor-$(platform).tar.gz
  for tool in tar gzip mktemp; do has "$tool" || fail "$tool is missing, which unpacks the program"; done
  mkdir -p "$prefix/bin" || fail "$prefix/bin cannot be created"
  # A path from the root, as the line for PATH needs one.
  bin=$(CDPATH='' cd "$prefix/bin" && pwd) || fail "$prefix/bin cannot be entered"
  # A rename would put the program into the directory.
  [ ! -d "$bin/article-extractor" ] || fail "$bin/article-extractor is a directory"
  # Beside its place, so that the last step is one rename on one file system.
  work=$(mktemp -d "$bin/.article-extractor.XXXXXX") || fail "$bin cannot be written"
  trap 'rm -rf "$work"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP

  case $place in /*) ;; *) echo "downloading $place/$archive" >&2 ;; esac
  download "$place/SHA256SUMS" "$work/SHA256SUMS"
  check_signature
  find_sum
  download "$place/$archive" "$work/$archive"
  check_sum
  gzip -dc "$work/$archive" >"$work/program.tar" || fail "$archive cannot be unpacked"
  # A link would lead what follows to another file of this machine.
  case $(LC_ALL=C tar -tvf "$work/program.tar" 2>/dev/null) in *" -> "* | *" link to "*) fail "$archive holds a link" ;; esac
  (cd "$work" && tar -xf program.tar article-extractor) || fail "$archive does not hold the program"
  if [ -L "$work/article-extractor" ] || [ ! -f "$work/article-extractor" ]; then fail "$archive holds no file article-extractor"; fi
  chmod 755 "$work/article-extractor"
  said=$("$work/article-extractor" --version 2>&1) ||
    fail "the program does not run on this machine ($(uname -sm)): $said"
  # A mirror without {version} in its address has one version only.
  [ -z "$asked" ] || [ "$said" = "article-extractor $asked" ] || fail "$place has $said, not version $asked"
  mv -f "$work/article-extractor" "$bin/article-extractor" || fail "$bin/article-extractor cannot be replaced"
  echo "installed $said as $bin/article-extractor" >&2
  case :${PATH:-}: in
  *:"$bin":* | *:"$bin/":*) ;;
  *) echo "$bin is not on PATH; add this line to your shell's profile: export PATH=\"$bin:\$PATH\"" >&2 ;;
  esac
}

fail() {
  echo "error: $1; nothing was installed" >&2
  exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

platform() {
  case $(uname -s) in
  Linux) os=linux ;;
  Darwin) os=darwin ;;
  *) fail "there is no program for $(uname -s), only for Linux and macOS; for Windows there is an archive" ;;
  esac
  case $(uname -m) in
  x86_64 | amd64) cpu=x64 loader=/lib64/ld-linux-x86-64.so.2 ;;
  aarch64 | arm64) cpu=arm64 loader=/lib/ld-linux-aarch64.so.1 ;;
  *) fail "there is no program for $(uname -m), only for x86_64 and arm64" ;;
  esac
  # A terminal under Rosetta calls an Apple processor x86_64.
  if [ "$os" = darwin ] && [ "$(sysctl -n hw.optional.arm64 2>/dev/null || true)" = 1 ]; then cpu=arm64; fi
  libc=
  # The program for glibc starts through this loader, and no musl system has it.
  if [ "$os" = linux ] && [ ! -e "$loader" ]; then libc=-musl; fi
  echo "$os-$cpu$libc"
}

download() {
  if [ "${1#/}" != "$1" ]; then
    said=$(cp "$1" "$2" 2>&1) || fail "$1 cannot be read: $said"
  elif has curl; then
    said=$(curl --fail --silent --show-error --location --retry 2 --output "$2" "$1" 2>&1) || fail "$1 cannot be downloaded: $said"
  elif has wget; then
    said=$(wget -q -O "$2" "$1" 2>&1) || fail "$1 cannot be downloaded: wget failed $said"
  else
    fail "neither curl nor wget is installed"
  fi
}

check_signature() {
  unchecked=
  if [ -z "$key" ]; then unchecked="this installer knows no key"; elif ! has minisign; then unchecked="minisign is not on PATH"; fi
  if [ -n "$unchecked" ]; then
    echo "the signature was not checked, only the sum: $unchecked" >&2
    return 0
  fi
  download "$place/SHA256SUMS.minisig" "$work/SHA256SUMS.minisig"
  minisign -Vq -P "$key" -m "$work/SHA256SUMS" -x "$work/SHA256SUMS.minisig" >&2 || fail "the signature of $place/SHA256SUMS is wrong"
}

find_sum() {
  wanted=
  # On Windows tools end lines with CR LF and write sums in capitals; the last line may lack its end.
  tr 'ABCDEF\r' 'abcdef\n' <"$work/SHA256SUMS" >"$work/sums"
  while read -r sum name || [ -n "$sum" ]; do
    if [ "${name#\*}" = "$archive" ]; then wanted=$sum; fi
  done <"$work/sums"
  [ -n "$wanted" ] || fail "$place/SHA256SUMS does not name $archive"
}

check_sum() {
  if has sha256sum; then
    found=$(sha256sum <"$work/$archive")
  elif has shasum; then
    found=$(shasum -a 256 <"$work/$archive")
  elif has openssl; then
    found=$(openssl dgst -sha256 -r <"$work/$archive")
  else
    fail "sha256sum, shasum and openssl are missing, so the download cannot be checked"
  fi
  [ "${found%% *}" = "$wanted" ] || fail "$place/$archive has another sum (${found%% *}) than SHA256SUMS says ($wanted)"
}

main "$@"
