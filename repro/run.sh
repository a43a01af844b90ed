#!/bin/sh
# Regenerates every table of the thesis that the program covers, next to the thesis' numbers, as
# docs/repro-*.md. Each script drives the program as a user would. Arguments: only these chapters.
set -eu
for chapter in ${*:-binary multiclass}; do
    echo "== repro/$chapter.py"
    /usr/bin/python3 "repro/$chapter.py"
done
