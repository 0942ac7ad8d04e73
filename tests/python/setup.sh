#!/bin/sh
# Installs what the Python tests need beside the build cache. The tests are skipped where this was not run.
set -eu
cd "$(dirname "$0")"
venv="${XDG_CACHE_HOME:-$HOME/.cache}/tidebox/python/venv"
python3 -m venv "$venv"
"$venv/bin/python" -m pip install --quiet --requirement requirements.txt
echo "ready: $venv"
