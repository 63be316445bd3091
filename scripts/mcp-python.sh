#!/bin/sh
# Runs scripts/mcp-python.py with the official MCP client for Python, which scripts/mcp-clients.sh installs once:
# sh scripts/mcp-python.sh ARGUMENTS...
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)

sh "$root/scripts/mcp-clients.sh" python1
exec "$root/build/mcp-clients/venv1/bin/python" "$root/scripts/mcp-python.py" "$@"
