#!/bin/sh
# make test as on a new machine: a clone of the last commit in an empty folder, with nothing beside it and no
# MELICIT_DATA. What is not committed is not tested. The folder is removed when all passed, and named otherwise.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d "${TMPDIR:-/tmp}/melicit-clone-XXXXXX")
git clone -q "$source" "$folder/melicit"
echo "clean clone: make test in $folder/melicit, commit $(git -C "$folder/melicit" rev-parse --short HEAD)"
unset MELICIT_DATA MELICIT_SOAK MELICIT_BUILD MAKEFLAGS MFLAGS MAKELEVEL
if ! make -C "$folder/melicit" --no-print-directory test; then
    echo "clean clone: failed, see $folder/melicit" >&2
    exit 1
fi
rm -rf "$folder"
