#!/usr/bin/env python3
"""docs/schema: JSON Schemas of every verb's --json and of the files that verbs write, which the program prints from its own
tables. --write renews them; otherwise what differs is listed."""

import argparse
import json
import pathlib
import subprocess

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "docs" / "schema"


def schemas(program):
    text = subprocess.run([program, "help", "--as", "schema"], check=True, capture_output=True, text=True).stdout
    return {name: json.dumps(schema, indent=2) + "\n" for name, schema in json.loads(text).items()}


def differences(program):
    made = schemas(program)
    there = {path.stem: path.read_text() for path in FOLDER.glob("*.json")}
    return [name for name in sorted(made.keys() | there.keys()) if made.get(name) != there.get(name)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default=FOLDER.parent.parent / "build" / "melicit")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if not options.write:
        differing = differences(options.program)
        raise SystemExit(f"docs/schema: {', '.join(differing)}: run tools/schema.py --write" if differing else 0)
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.glob("*.json"):
        path.unlink()
    for name, text in schemas(options.program).items():
        (FOLDER / f"{name}.json").write_text(text)


if __name__ == "__main__":
    main()
