#!/usr/bin/env python3
"""Makes reproduction.md of the results of a run: repro/overview.py DIR. One table over all tables and figures of the thesis, chapters 3 to 8 and
appendices; those without numbers are in docs/thesis-map.md, which says where each is."""
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CHAPTERS = {"binary": ("3", "A"), "multiclass": ("4", "B"), "fair": ("5",), "quadratic": ("6",), "blackbox": ("7", "E"), "study": ("8",), "rules": ()}
TITLES = {"binary": "Chapter 3, appendix A: two classes", "multiclass": "Chapter 4, appendix B: more classes", "fair": "Chapter 5: groups", "quadratic": "Chapter 6: quadratic metrics",
          "blackbox": "Chapter 7, appendix E: metrics known by their values", "study": "Chapter 8: people", "rules": "Beyond the thesis: best rules"}
COLUMNS = ("in the thesis", "what", "thesis", "ours: `search`", "ours: `active`", "questions (search; active)", "verdict", "command")
ITEM = re.compile(r"(Table|Figure) ([3-8ABE])\.(\d+)")


def read_run(folder):
    return {chapter: json.loads((folder / f"{chapter}.json").read_text()) for chapter in CHAPTERS if (folder / f"{chapter}.json").exists()}


def without_numbers(covered):
    """(item, what it is, where) of the tables and figures that no result is about, by the map of the thesis."""
    out = []
    for line in (ROOT / "docs" / "thesis-map.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        items = [match.group(0) for match in ITEM.finditer(cells[0])] if len(cells) == 3 else []
        left = [item for item in items if item not in covered]
        if left:
            out.append((", ".join(left), cells[1], cells[2]))
    return out


def cells(row, made):
    judged = f"**{row['verdict']}**" + (f": {row['why']}" if row["why"] else "")
    return [", ".join(row["items"]), row["what"], row["thesis"], row["search"], row["active"], row["questions"], judged, f"`repro/run.py --seed {made['seed']} {made['chapter']}`"]


def table(columns, rows):
    return ["| " + " | ".join(columns) + " |", "|" + " --- |" * len(columns), *("| " + " | ".join(row) + " |" for row in rows), ""]


def main():
    folder = pathlib.Path(sys.argv[1])
    run = read_run(folder)
    rows = [row for made in run.values() for row in made["rows"]]
    count = {name: sum(row["verdict"] == name for row in rows) for name in ("reproduced", "better", "differs")}
    seeds = sorted({made["seed"] for made in run.values()})
    out = ["# The thesis again", "",
           f"Made by `repro/run.py` (`make repro`), seed {', '.join(map(str, seeds))}. `make repro SEED=1` uses other random numbers, and",
           "`repro/verdicts.py A B` lists the verdicts that differ between two runs. Every verdict follows a rule, which the table of rules below states.", "",
           f"Of {len(rows)} results {count['reproduced']} are reproduced, {count['better']} better than the thesis, {count['differs']} differ. \"Reproduced\" means that the program's `search`, the thesis' own",
           "procedure, finds what the thesis prints or claims. \"Better\" means a smaller error or a better value. The active strategy needs far fewer questions throughout; that alone is not",
           "called better.", ""]
    for chapter, made in run.items():
        page = f"[All of it, with its plots](repro-{chapter}.md). " if (folder / f"repro-{chapter}.md").exists() else ""
        out += [f"## {TITLES[chapter]}", "", f"{page}Seed {made['seed']}; where metrics are drawn at random, {made['metrics']} are. {made['note']}".rstrip(), "", *table(COLUMNS, [cells(row, made) for row in made["rows"]])]
        if made["skipped"]:
            out += ["Skipped: " + "; ".join(made["skipped"]) + ".", ""]
    covered = {item for row in rows for item in row["items"]}
    out += ["## Tables and figures without numbers to compare", "", "Drawings, data, texts of the study: what each is, and where it is here.", "", *table(("in the thesis", "what", "here"), without_numbers(covered))]
    out += ["## Rules of the verdicts", "", *table(("in the thesis", "rule"), [(", ".join(row["items"]), row["rule"]) for row in rows])]
    (folder / "reproduction.md").write_text("\n".join(out).rstrip() + "\n")


if __name__ == "__main__":
    main()
