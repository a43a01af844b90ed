#!/usr/bin/python3
"""Runs every benchmark, one after the other so that they do not disturb each other, and renews docs/measurements.md.

Each script prints a table of ratios measured in one run and fails when it misses a target of its own. What it records
(bench/figures.py) goes into bench/figures.json, from which the table of the page is made. `--page` only renews the page,
`--check` says whether the page fits the figures.
"""
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "measurements.md"
sys.path.insert(0, str(ROOT / "bench"))
sys.dont_write_bytecode = True
import figures  # noqa: E402  (a module of the folder bench)


def renewed():
    """The page with the table of today's figures in place of the one it has."""
    text = PAGE.read_text()
    begin = text.index("| what | goal |")
    return text[:begin] + figures.table() + text[text.index("\n\n", begin) + 1:]


def main():
    if sys.argv[1:] == ["--check"]:
        return 0 if PAGE.read_text() == renewed() else "docs/measurements.md does not fit bench/figures.json: run tools/bench.py --page"
    missed = []
    if sys.argv[1:] != ["--page"]:
        env = {**os.environ, "MELICIT_FIGURES": str(figures.FIGURES), "PYTHONDONTWRITEBYTECODE": "1"}
        for script in sorted((ROOT / "bench").glob("*.py")):
            if script.name != "figures.py":
                print(f"== bench/{script.name}", flush=True)
                missed += [script.name] if subprocess.run([sys.executable, script], env=env, cwd=ROOT).returncode else []
    PAGE.write_text(renewed())
    return f"bench: targets missed in {', '.join(missed)}" if missed else 0


if __name__ == "__main__":
    sys.exit(main())
