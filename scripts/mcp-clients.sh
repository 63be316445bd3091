#!/bin/sh
# Installs real MCP clients into build/mcp-clients, each once, for tests and for trying a server by hand:
# sh scripts/mcp-clients.sh [python | python1 | fastmcp | node | go | java | rust]...     (all of them unless said)
# Two are no clients of MCP, and installed only when they are named: `firecrawl`, Firecrawl's client for Python with
# LangChain's loader, and `lancedb`, a vector store.
# Each needs its language's tools, and is left out with a note where they are missing.
set -eu
cd "$(dirname "$0")/.."
root=$(pwd)
clients=$root/build/mcp-clients

# Whether a client is installed as its recipe says; $1: its folder, $2: the recipe
is_as() { [ "$(cat "$clients/$1/.recipe" 2>/dev/null)" = "$2" ]; }
keep_as() { printf '%s\n' "$2" >"$clients/$1/.recipe"; }

# $1: the folder of the virtual environment, $2: the packages
python() {
  is_as "$1" "$2" && return 0
  rm -rf "${clients:?}/$1"
  python3 -m venv "$clients/$1"
  "$clients/$1/bin/pip" install --quiet --disable-pip-version-check $2
  keep_as "$1" "$2"
}

# The packages of node
node() {
  is_as node "$*" && return 0
  rm -rf "$clients/node"
  mkdir -p "$clients/node"
  npm install --prefix "$clients/node" --ignore-scripts --no-audit --no-fund --no-package-lock --loglevel=error "$@"
  keep_as node "$*"
}

# A client whose source is in this repository; $1: its folder, $2: the folder of the source, then what builds it
built() {
  folder=$1 source=$root/scripts/mcp-clients/$2
  shift 2
  recipe=$(find "$source" -type f -exec cksum {} + | sort)
  is_as "$folder" "$recipe" && return 0
  rm -rf "${clients:?}/$folder"
  # Builds write beside the source.
  cp -R "$source" "$clients/$folder"
  (cd "$clients/$folder" && "$@")
  keep_as "$folder" "$recipe"
}

# $1: a program; what else was asked for is still installed where it is missing
has() {
  command -v "$1" >/dev/null 2>&1 || { echo "note: no $client client, because $1 is missing" >&2; return 1; }
}

build_java() {
  mvn -q -B dependency:copy-dependencies -DoutputDirectory=.
  javac -cp '*' Client.java
  printf '#!/bin/sh\nexec java -cp "%s:%s/*" Client "$@"\n' "$PWD" "$PWD" >javaclient
  chmod +x javaclient
}

build_rust() {
  cargo build --quiet --release
  mv target/release/mcpclient rustclient
  rm -rf target
}

mkdir -p "$clients"
[ $# -gt 0 ] || set -- python python1 fastmcp node go java rust
for client in "$@"; do
  case $client in
    python) has python3 && python venv mcp==2.3.0 ;;
    python1) has python3 && python venv1 mcp==1.30.0 ;;
    fastmcp) has python3 && python venv-fastmcp fastmcp==4.1.6 ;;
    firecrawl) has python3 && python venv-firecrawl "firecrawl-py==4.55.0 langchain-firecrawl==0.1.0" ;;
    lancedb) has python3 && python venv-lancedb lancedb==0.40.0 ;;
    node) has npm && node @modelcontextprotocol/sdk@1.32.2 @modelcontextprotocol/inspector@2.12.0 mcp-remote@0.15.1 ;;
    go) has go && built goclient go go build -buildvcs=false -o goclient . ;;
    java) has mvn && built javaclient java build_java ;;
    rust) has cargo && built rustclient rust build_rust ;;
    *) echo "error: there is no client $client" >&2; exit 2 ;;
  esac || [ $? = 1 ]
done
