#!/bin/sh
# What the GitHub Action of action.yml runs. Its inputs are the variables INPUT_*; its outputs go to the file GITHUB_OUTPUT.
# An input that is refused is never printed, because lines of the log can be commands of the runner.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
newline='
'

fail() {
  printf '::error title=article-extractor::%s\n' "$1"
  exit 2
}

# require_line NAME VALUE: the value has one line and is no option
require_line() {
  case $2 in
  *[[:cntrl:]]*) fail "the input $1 has control characters" ;;
  -*) fail "the input $1 begins with a dash" ;;
  esac
}

command -v jq >/dev/null 2>&1 || fail "jq is missing on this runner"
: "${GITHUB_OUTPUT:?is the file for outputs, which the runner names}"

command=${INPUT_COMMAND:-extract}
case $command in extract | crawl) ;; *) fail "the input command is neither extract nor crawl" ;; esac
url=${INPUT_URL:-}
require_line url "$url"
case $url in
*[[:space:]]*) fail "the input url has a space" ;;
http://?* | https://?*) ;;
*) fail "the input url does not begin with http:// or https://" ;;
esac
default_output=article.md
if [ "$command" = crawl ]; then default_output=site; fi
output=${INPUT_OUTPUT:-$default_output}
require_line output "$output"
if [ "$command" = crawl ]; then
  if [ -e "$output" ] && [ ! -d "$output" ]; then fail "the input output names a file; a crawl writes a directory"; fi
else
  case $output in */) fail "the input output names a directory; an extraction writes a file" ;; esac
  if [ -d "$output" ]; then fail "the input output names a directory; an extraction writes a file"; fi
  mkdir -p "$(dirname -- "$output")" || fail "the directory of the input output cannot be made"
  if [ -e "$output" ] && [ ! -w "$output" ]; then fail "the file that the input output names cannot be written"; fi
fi
own_version=$(jq -r .version "$root/package.json")
version=${INPUT_VERSION:-$own_version}
case $version in *[!0-9A-Za-z.-]* | -* | .*) fail "the input version is no version such as 1.2.3" ;; esac

set --
if [ -n "${INPUT_MAX_PAGES:-}" ]; then
  case $INPUT_MAX_PAGES in *[!0-9]*) fail "the input max-pages is no number" ;; esac
  set -- "$@" "--max-pages=$INPUT_MAX_PAGES"
fi
if [ -n "${INPUT_MAX_FAILURES:-}" ]; then
  case ${INPUT_MAX_FAILURES%\%} in "" | *[!0-9]*) fail "the input max-failures is neither a number nor a percentage" ;; esac
  set -- "$@" "--max-failures=$INPUT_MAX_FAILURES"
fi
if [ "$command" = extract ] && [ $# -gt 0 ]; then fail "max-pages and max-failures are inputs of crawl"; fi
rest=${INPUT_OPTIONS:-}$newline
while [ -n "$rest" ]; do
  line=${rest%%"$newline"*}
  rest=${rest#*"$newline"}
  case $line in
  "") ;;
  --help | --version | --output | --output=* | --output-* | --fields* | --jsonl* | -*[[:cntrl:]]*) fail "an option of the input options is set by the action itself" ;;
  --*) set -- "$@" "$line" ;;
  *) fail "a line of the input options does not begin with two dashes" ;;
  esac
done

# install: puts the program of this version into the tool cache, unless it is there
place=${RUNNER_TOOL_CACHE:-${RUNNER_TEMP:-/tmp}}/article-extractor/$version
program=$place/bin/article-extractor
if [ ! -x "$program" ]; then
  filled() { jq -r ".$1 // \"\"" "$root/project.json" | sed 's/[&|\\]/\\&/g'; }
  # With the directory in the path, nobody is told to add it.
  PATH=$PATH:$place/bin
  if [ -n "${INPUT_DOWNLOADS:-}$(filled downloads)" ]; then
    mkdir -p "$place"
    sed "s|@VERSION@|$version|; s|@DOWNLOADS@|$(filled downloads)|; s|@KEY@|$(filled signing_key)|" \
      "$root/scripts/package/install.sh" >"$place/install.sh"
    if [ -n "${INPUT_DOWNLOADS:-}" ]; then export ARTICLE_EXTRACTOR_DOWNLOADS="$INPUT_DOWNLOADS"; fi
    sh "$place/install.sh" --prefix "$place" --version "$version" || fail "the program could not be installed"
  elif [ "$version" != "$own_version" ]; then
    fail "without the input downloads there is only the version of this copy, which is built"
  else
    make -C "$root" install PREFIX="$place" >&2 || fail "the program could not be built"
  fi
fi

# write NAME VALUE: an output, in one line
write() { printf '%s=%s\n' "$1" "$(printf %s "$2" | tr '\000-\037\177' ' ')" >>"$GITHUB_OUTPUT"; }

status=0
if [ "$command" = extract ]; then
  result=$(mktemp "${RUNNER_TEMP:-/tmp}/article.XXXXXX")
  trap 'rm -f "$result"' EXIT
  "$program" "$@" --output json --fields title,word_count,markdown "$url" >"$result" || status=$?
  if [ "$status" = 0 ]; then
    jq -r .markdown "$result" >"$output"
    write markdown "$output"
    write title "$(jq -r '.title // ""' "$result")"
    write words "$(jq -r .word_count "$result")"
  fi
else
  "$program" crawl "$@" --output-dir "$output" "$url" || status=$?
  manifest=$output/manifest.json
  # A crawl with failed pages has a manifest too, which tells which.
  if [ "$status" = 0 ] || [ "$status" = 3 ]; then
    write directory "$output"
    write manifest "$manifest"
    write pages "$(jq -r .successful "$manifest")"
    write failed "$(jq -r .failed "$manifest")"
    write changed "$(jq -r '(.new // 0) + (.changed // 0) + (.gone // 0)' "$manifest")"
  fi
fi
exit "$status"
