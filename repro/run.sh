#!/bin/sh
# Regenerates every table of the thesis that the program covers, next to the thesis' numbers, as
# docs/repro-*.md with their plots. Each script drives the program as a user would. Arguments: only these
# chapters. The pools of classifiers that fair and quadratic rank are committed in data/pools; repro/pools/build.py
# makes them again.
set -eu
for chapter in ${*:-binary multiclass fair quadratic blackbox study rules}; do
    echo "== repro/$chapter.py"
    /usr/bin/python3 "repro/$chapter.py"
done
