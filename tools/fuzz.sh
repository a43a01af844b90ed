#!/bin/sh
# Runs every fuzz target of a -DMEL_FUZZ=ON build for some seconds, one after the other:
# tools/fuzz.sh BUILD SECONDS. New inputs go to the build folder; the committed corpus is only read.
set -eu
build=$1
seconds=$2
failed=0
for target in "$build"/fuzz_*; do
    [ -x "$target" ] || continue
    name=$(basename "$target")
    corpus=tests/fuzz/corpus/${name#fuzz_}
    work=$build/corpus/${name#fuzz_}
    mkdir -p "$work"
    echo "fuzz: $name for $seconds s"
    if ! "$target" -max_total_time="$seconds" -max_len=65536 -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix="$build/$name-" "$work" "$corpus" > "$build/$name.log" 2>&1; then
        echo "fuzz: $name FAILED, see $build/$name.log" >&2
        tail -n 40 "$build/$name.log" >&2
        failed=1
    fi
    grep -E 'stat::number_of_executed_units|cov:' "$build/$name.log" | tail -n 2
done
exit $failed
