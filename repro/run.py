#!/usr/bin/env python3
"""Regenerates the thesis' tables and figures next to what the program finds: repro/run.py [--out DIR] [--seed N] [--quick] [chapter ...].

Chapters run one after the other, each a script that drives the program as a user would and writes its page, plots and results to the folder
DIR (build/repro); repro/overview.py makes reproduction.md of the results. Nothing else is written. The pools of classifiers that fair and
quadratic rank are committed in data/pools; repro/pools/build.py makes them again."""
import argparse
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Minutes of processor time, for the progress.
CHAPTERS = {"binary": 2, "multiclass": 4, "fair": 2, "quadratic": 8, "blackbox": 2, "study": 1, "rules": 2}
QUICK = ("binary", "multiclass", "fair", "quadratic", "blackbox", "study")


def read_options():
    parser = argparse.ArgumentParser(description="The thesis' tables and figures, made again.")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(os.environ.get("MELICIT_BUILD", ROOT / "build")) / "repro")
    parser.add_argument("--seed", type=int, default=0, help="from which all random numbers follow (0)")
    parser.add_argument("--quick", action="store_true", help="a subset of a minute")
    parser.add_argument("--to-docs", action="store_true", help="run nothing; copy a complete run to docs/")
    parser.add_argument("chapter", nargs="*", help="only these: " + ", ".join(CHAPTERS))
    options = parser.parse_args()
    unknown = [chapter for chapter in options.chapter if chapter not in CHAPTERS]
    if unknown:
        parser.error(f"there is no chapter {unknown[0]}; there are {', '.join(CHAPTERS)}")
    return options


def to_docs(folder):
    """Pages and plots of a run of all chapters, none of them quick and all with one seed."""
    made = {chapter: json.loads(path.read_text()) for chapter in CHAPTERS if (path := folder / f"{chapter}.json").exists()}
    missing = [chapter for chapter in CHAPTERS if chapter not in made or made[chapter]["quick"]]
    if missing:
        raise SystemExit(f"{folder} is not complete, `make repro` first: {', '.join(missing)}")
    if len({results["seed"] for results in made.values()}) > 1:
        raise SystemExit(f"{folder} mixes seeds")
    for path in sorted([*folder.glob("*.md"), *folder.glob("*.svg")]):
        shutil.copyfile(path, ROOT / "docs" / path.name)
    print(f"copied {folder} to docs")


def processor():
    """Seconds that the chapters so far have used on all cores."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main():
    options = read_options()
    if options.to_docs:
        to_docs(options.out)
        return
    chapters = options.chapter or (QUICK if options.quick else list(CHAPTERS))
    # Models of scikit-learn are the same on any number of cores with sums in one order.
    env = {"OPENBLAS_NUM_THREADS": "1", **os.environ, "REPRO_OUT": str(options.out.resolve()), "REPRO_SEED": str(options.seed), "REPRO_QUICK": "1" if options.quick else "", "PYTHONDONTWRITEBYTECODE": "1"}
    begun = time.monotonic()
    for i, chapter in enumerate(chapters, 1):
        left = "" if options.quick else f", about {sum(CHAPTERS[c] for c in chapters[i - 1:])} minutes to go on one idle core"
        print(f"== {i} of {len(chapters)}: repro/{chapter}.py{left}", flush=True)
        start, used = time.monotonic(), processor()
        if subprocess.run([sys.executable, ROOT / "repro" / f"{chapter}.py"], env=env).returncode != 0:
            raise SystemExit(f"repro/{chapter}.py failed")
        print(f"   {chapter}: {(time.monotonic() - start) / 60:.1f} minutes, {(processor() - used) / 60:.1f} of processor time", flush=True)
    subprocess.run([sys.executable, ROOT / "repro" / "overview.py", options.out], env=env, check=True)
    skipped = [what for chapter in chapters for what in json.loads((options.out / f"{chapter}.json").read_text())["skipped"]]
    print("skipped: " + ("; ".join(skipped) if skipped else "nothing"))
    print(f"{options.out}/reproduction.md: {(time.monotonic() - begun) / 60:.1f} minutes, {processor() / 60:.1f} of processor time")


if __name__ == "__main__":
    main()
