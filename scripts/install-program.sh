#!/bin/sh
# Installs the built program with its manual page and completions, or removes these files: `make install`, `make uninstall`.
# usage: install-program.sh install|uninstall PREFIX
set -eu
action=$1
prefix=$2
# A shell leaves the tilde in `make install PREFIX=~/x` to whoever reads the word.
case $prefix in
\~ | \~/*) prefix=$HOME${prefix#"~"} ;;
esac
case $prefix in
/*) ;;
*)
  echo "error: PREFIX is a path from the root or from ~, not '$prefix'" >&2
  exit 2
  ;;
esac
built=$(CDPATH='' cd -- "$(dirname -- "$0")/../dist" && pwd)/article-extractor
program=$prefix/bin/article-extractor
share=$prefix/share
manual=$share/man/man1/article-extractor.1
bash=$share/bash-completion/completions/article-extractor
zsh=$share/zsh/site-functions/_article-extractor
fish=$share/fish/vendor_completions.d/article-extractor.fish

if [ "$action" = uninstall ]; then
  rm -f "$program" "$manual" "$bash" "$zsh" "$fish"
  echo "removed $program, its manual page and completions"
  exit
fi

said=$("$built" --version) || {
  echo "error: $built does not run on this machine" >&2
  exit 1
}

# A file takes its place with one rename, because a program that runs cannot be written.
put() {
  mkdir -p "${1%/*}"
  cat >"$1.new"
  chmod "$2" "$1.new"
  mv -f "$1.new" "$1"
}
put "$program" 755 <"$built"
"$built" man | put "$manual" 644
"$built" completions bash | put "$bash" 644
"$built" completions zsh | put "$zsh" 644
"$built" completions fish | put "$fish" 644
echo "installed $said as $program, with its manual page and completions below $share"
case :$PATH: in
*:"$prefix/bin":*) ;;
*) echo "$prefix/bin is not on PATH; type this, and add it to your shell's profile: export PATH=\"$prefix/bin:\$PATH\"" ;;
esac
