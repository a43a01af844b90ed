#!/bin/sh
# Regenerates every table of the thesis that the program covers, next to the thesis' numbers, as
# docs/repro-*.md. Each script drives the program as a user would.
set -eu
for script in repro/*.py; do
    echo "== $script"
    /usr/bin/python3 "$script"
done
