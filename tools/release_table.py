"""Writes the checks of tools/release.sh that passed as the table of docs/install.md: the newest for each system and artefact.

usage: tools/release_table.py CHECKS.tsv PAGE"""
import sys
from pathlib import Path

BEGIN, END = "<!-- by tools/release.sh -->", "<!-- end -->"

checks, page = Path(sys.argv[1]), Path(sys.argv[2])
rows = {}
for line in checks.read_text().splitlines():
    system, artefact, version, command, date, found = line.split("\t")
    rows[system, artefact] = f"| {system} | {artefact} | {version} | `{command}` | {date} | {found} |"
table = ["| system | artefact | version | command | last green run | what was seen |", "| --- | --- | --- | --- | --- | --- |"]
table += [rows[key] for key in sorted(rows)]
text = page.read_text()
before, rest = text.split(BEGIN)
page.write_text(before + BEGIN + "\n" + "\n".join(table) + "\n" + END + rest.split(END)[1])
