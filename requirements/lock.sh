#!/bin/sh
# Resolve pyproject.toml's lower bounds to exact versions: run.lock (the machine) and dev.lock (tests and checks).
# Use the oldest Python we support: what resolves there also installs on newer ones.
set -eu
cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"${PYTHON:-python3}" -m venv "$scratch/venv"
pip="$scratch/venv/bin/python -m pip --disable-pip-version-check --quiet"

# Exact versions of all that is installed now, without the tools that venv itself brings.
frozen() {
    $pip freeze --exclude egm --exclude pip --exclude setuptools | sort -f
}

# The build backend is locked too, so that installing the project asks nothing beyond this list.
$pip install --only-binary=:all: hatchling editables
$pip install --only-binary=:all: .
{
    echo "# Made by 'make lock' from pyproject.toml; do not edit. What a machine needs, and the build backend."
    frozen
} > "$scratch/run.lock"

$pip install --only-binary=:all: '.[dev]'
{
    echo "# Made by 'make lock' from pyproject.toml; do not edit. What tests and checks need on top."
    echo "-r run.lock"
    frozen | grep -vxF -f "$scratch/run.lock"
} > "$scratch/dev.lock"

cp "$scratch/run.lock" "$scratch/dev.lock" requirements/
