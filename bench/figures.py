"""What the benches measured: bench/figures.json, a row for each goal, and docs/measurements.md, which is made from it.

A bench calls `record(what, measured)` at its end. That changes the file only under `make bench` (MELICIT_FIGURES names it),
so that a run with other sizes or seeds leaves the published figures alone.
"""
import datetime
import json
import os
import pathlib

FIGURES = pathlib.Path(__file__).resolve().parent / "figures.json"


def record(what, measured, met=True):
    """Writes the figure of a goal with today's date. `what` names the row; `met` says whether the goal is reached."""
    path = os.environ.get("MELICIT_FIGURES")
    if not path:
        return
    rows = json.loads(pathlib.Path(path).read_text())
    row = next(row for row in rows if row["what"] == what)
    row["measured"] = measured if met else f"**missed**: {measured}"
    row["date"] = datetime.date.today().isoformat()
    pathlib.Path(path).write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n")


def table():
    """The rows as Markdown."""
    lines = ["| what | goal | measured | command | date |", "| --- | --- | --- | --- | --- |"]
    for row in json.loads(FIGURES.read_text()):
        lines.append(f"| {row['what']} | {row['goal']} | {row['measured']} | `{row['command']}` | {row['date']} |")
    return "\n".join(lines) + "\n"
