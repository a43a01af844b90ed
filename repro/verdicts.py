#!/usr/bin/env python3
"""Which verdicts differ between two runs: repro/verdicts.py A B, folders of `make repro`. Exit code 1 when one does."""
import pathlib
import sys

from overview import read_run


def verdicts(folder):
    """{(items, number of the row about them): (verdict, values)}"""
    out = {}
    for chapter, made in read_run(folder).items():
        for row in made["rows"]:
            items = ", ".join(row["items"])
            number = sum(key[:2] == (chapter, items) for key in out)
            out[chapter, items, number] = (row["verdict"], row["values"])
    return out


def main():
    one, other = (verdicts(pathlib.Path(folder)) for folder in sys.argv[1:3])
    missing = sorted(one.keys() ^ other.keys())
    flips = [key for key in one if key in other and one[key][0] != other[key][0]]
    for chapter, items, _ in missing:
        print(f"only in one run: {chapter}, {items}")
    for key in flips:
        print(f"{key[1]}: {one[key][0]} {one[key][1]} and {other[key][0]} {other[key][1]}")
    print(f"{len(one.keys() & other.keys())} verdicts compared, {len(flips)} differ")
    raise SystemExit(1 if flips or missing else 0)


if __name__ == "__main__":
    main()
