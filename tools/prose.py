#!/usr/bin/env python3
"""Lists sentences of more than 35 words and paragraphs of more than 6 lines in the documentation: tools/prose.py [--write].

Headings, tables, code, targets of links and pages that programs make are left out. tools/prose.txt holds how many there may be; the number may
only fall: --write lowers it to what is there."""
import pathlib
import re
import subprocess
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
CEILING = ROOT / "tools" / "prose.txt"
WORDS, LINES, WIDTH = 35, 6, 120
MADE = re.compile(r"docs/(repro-.*|reproduction|cli)\.md|CHANGELOG\.md|web/node_modules/.*")


def pages():
    names = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    return [name for name in names if not MADE.fullmatch(name)]


def paragraphs(text):
    """(line, text) of every paragraph and item of a list; blocks of code, tables, headings and comments are none."""
    text = re.sub(r"^```.*?^```", lambda m: "\n" * m.group(0).count("\n"), text, flags=re.M | re.S)
    text = re.sub(r"<!--.*?-->", lambda m: "\n" * m.group(0).count("\n"), text, flags=re.S)
    found, begun, lines = [], 0, []
    for number, line in enumerate([*text.splitlines(), ""], 1):
        fresh = re.match(r"\s*([-*]|\d+\.) ", line)
        plain = line.strip() and not line.startswith(("#", "|", "    ", "\t", ">", "!["))
        if lines and (fresh or not plain):
            found.append((begun, " ".join(lines)))
            lines = []
        if plain or fresh:
            begun = begun if lines else number
            lines.append(line.strip())
    return found


def plain_words(text):
    """Links by their words, code by one word."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"`[^`]*`", "code", re.sub(r"\*\*|__", "", text))


def sentences(text):
    return re.split(r"(?<=[.?!])(?<!e\.g\.)(?<!i\.e\.)(?<!cf\.)[\")]*\s+", plain_words(text))


def find(name):
    """(line, what) of what is too long on a page."""
    out = []
    for line, text in paragraphs((ROOT / name).read_text()):
        if len(textwrap.wrap(plain_words(text), WIDTH)) > LINES:
            out.append((line, f"a paragraph of {len(textwrap.wrap(plain_words(text), WIDTH))} lines"))
        out += [(line, f"a sentence of {len(s.split())} words: {s[:60]}...") for s in sentences(text) if len(s.split()) > WORDS]
    return out


def check():
    """What is beyond the ceiling, for lint; and everything that is too long, to be shown."""
    shown = [f"{name}:{line}: {what}" for name in pages() for line, what in find(name)]
    most = int(CEILING.read_text())
    return [f"{len(shown)} sentences or paragraphs are too long, {most} may be: tools/prose.py lists them"] if len(shown) > most else [], shown


def main():
    found, shown = check()
    print("\n".join(shown))
    print(f"{len(shown)} in all, {CEILING.read_text().strip()} may be")
    if "--write" in sys.argv:
        CEILING.write_text(f"{min(len(shown), int(CEILING.read_text()))}\n")
    raise SystemExit(1 if found else 0)


if __name__ == "__main__":
    main()
