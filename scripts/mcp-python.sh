#!/bin/sh
# Runs scripts/mcp-python.py with the official MCP client for Python, which it installs into build/mcp-python once:
# sh scripts/mcp-python.sh ARGUMENTS...
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
venv=$root/build/mcp-python
version=1.30.0

if [ "$("$venv/bin/python" -c 'import importlib.metadata as m; print(m.version("mcp"))' 2>/dev/null)" != "$version" ]; then
  rm -rf "$venv"
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet "mcp==$version"
fi
exec "$venv/bin/python" "$root/scripts/mcp-python.py" "$@"
