#!/bin/sh
# Every benchmark, one after the other so that they do not disturb each other. Each prints a table of
# ratios measured in one run and fails when a target of its own is missed.
set -eu
failed=""
for script in bench/*.py; do
    echo "== $script"
    /usr/bin/python3 "$script" || failed="$failed $script"
done
if [ -n "$failed" ]; then
    echo "bench: targets missed in$failed" >&2
    exit 1
fi
