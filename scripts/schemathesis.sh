#!/bin/sh
# Tests the built program against its own OpenAPI document: sh scripts/schemathesis.sh [URL]. It installs
# schemathesis into build/schemathesis once. Without a URL it starts a server on loopback that has no network.
# EXAMPLES and SEED choose how many cases each operation gets, and which.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
venv=$root/build/schemathesis
version=4.32.5
port=${PORT:-3917}

if ! "$venv/bin/schemathesis" --version 2>/dev/null | grep -q "$version"; then
  rm -rf "$venv"
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet "schemathesis==$version"
fi

run() {
  # MCP has an order of refusals and a suite of conformance of its own; its configuration leads to itself.
  # With more than one worker hypothesis fails on Python 3.11 (python/cpython#106905).
  "$venv/bin/schemathesis" --config-file "$root/scripts/schemathesis.toml" run "$1/openapi.json" \
    --exclude-path /mcp --exclude-path /mcp.json --checks all --exclude-checks ignored_auth --workers 1 \
    --max-examples "${EXAMPLES:-100}" \
    --request-timeout 90 --continue-on-failure --seed "${SEED:-1}"
}

if [ $# -gt 0 ]; then
  run "$1"
  exit
fi

# Generated requests name hosts of others, so nothing may leave the machine.
if [ "${IN_NAMESPACE:-}" = "" ] && unshare --net true 2>/dev/null; then
  IN_NAMESPACE=1 exec unshare --net sh -c 'ip link set lo up 2>/dev/null || true; exec sh "$0"' "$0"
fi

work=$(mktemp -d)
sh "$root/scripts/bun" "$root/scripts/bench/article-proxy.ts" --port "$((port + 1))" &
proxy=$!
ARTICLE_EXTRACTOR_STATE_DIR=$work/state ARTICLE_EXTRACTOR_OUTPUT_ROOT=$work/out ARTICLE_EXTRACTOR_RETRIES=0 \
  ARTICLE_EXTRACTOR_TIMEOUT=2 ARTICLE_EXTRACTOR_MAX_QUEUED_JOBS=100000 ARTICLE_EXTRACTOR_PREFER_BROWSER=false \
  ARTICLE_EXTRACTOR_PROXY="http://127.0.0.1:$((port + 1))" \
  "$root/dist/article-extractor" serve extractor --host 127.0.0.1 --port "$port" 2>"$work/log" &
server=$!
trap 'kill "$server" "$proxy"; wait "$server" || true; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
for _ in $(seq 100); do
  grep -q 'serving extraction' "$work/log" && break
  sleep 0.1
done
status=0
run "http://127.0.0.1:$port" || status=$?
# A fault counts even when its answer was not a 500.
if grep '"message":"fault"' "$work/log" >&2; then
  status=1
fi
exit "$status"
