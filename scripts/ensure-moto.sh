#!/bin/sh
# Installs moto, a server that speaks S3, for the tests: into build/moto, once.
set -eu
venv=$(cd "$(dirname "$0")/.." && pwd)/build/moto
version=5.2.5

if [ "$("$venv/bin/python" -c 'import importlib.metadata as m; print(m.version("moto"))' 2>/dev/null)" = "$version" ]; then exit 0; fi
echo "installing moto for the tests ..." >&2
rm -rf "$venv"
python3 -m venv "$venv"
"$venv/bin/pip" install --quiet "moto[s3]==$version" flask==3.1.2 flask-cors==6.0.1
