#!/usr/bin/python3
"""Makes data/covtype.csv.gz: 20,000 rows of a larger Covertype file, each class at its share of that file.

    tools/sample_covtype.py covtype_sample.csv.gz data/covtype.csv.gz

Within a class the rows with the smallest digests of their numbers are taken, in the order of the file, so the same rows
come out everywhere; the compressed file carries no time stamp.
"""
import collections
import gzip
import hashlib
import sys

ROWS = 20_000
SEED = "melicit covtype"


def digest(row):
    return hashlib.sha256(f"{SEED} {row}".encode()).digest()


def shares(counts, total):
    """Whole numbers that sum to ROWS, proportional to the counts by largest remainders."""
    exact = {name: ROWS * count / total for name, count in counts.items()}
    taken = {name: int(share) for name, share in exact.items()}
    by_remainder = sorted(exact, key=lambda name: (taken[name] - exact[name], name))
    for name in by_remainder[:ROWS - sum(taken.values())]:
        taken[name] += 1
    return taken


def main(source, target):
    with gzip.open(source, "rt", newline="") as file:
        header, *lines = file.read().splitlines()
    by_class = collections.defaultdict(list)
    for row, line in enumerate(lines):
        by_class[line.rsplit(",", 1)[1]].append(row)
    wanted = shares({name: len(rows) for name, rows in by_class.items()}, len(lines))
    kept = sorted(row for name, rows in by_class.items() for row in sorted(rows, key=digest)[:wanted[name]])
    text = "\n".join([header, *(lines[row] for row in kept)]) + "\n"
    with open(target, "wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
        packed.write(text.encode())
    print(f"{target}: {len(kept):,} of {len(lines):,} rows; " +
          ", ".join(f"class {name}: {wanted[name]:,}" for name in sorted(wanted)))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
