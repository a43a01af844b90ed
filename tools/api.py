#!/usr/bin/env python3
"""Writes the tables of docs/api.md: every function of the public headers, with what its comment says first.

usage: tools/api.py [--write]: prints docs/api.md, or writes it. tools/lint.py compares."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "api.md"
BEGIN, END = "<!-- made by tools/api.py from the headers -->\n", "<!-- until here -->\n"
USUAL = {"free": "Frees it; NULL is fine", "clear": "Frees what it holds", "init": "Fills in the defaults"}
TOKEN = re.compile(r"/\*(?P<comment>.*?)\*/|MEL_API (?P<function>[^;{]*?;)|(?P<other>[;{}])", re.S)


def said(comment):
    """The text of a comment on one line; the line that opens a section says nothing about what follows it."""
    text = " ".join(line.strip().removeprefix("*").strip() for line in comment.strip().splitlines()).strip()
    return "" if text.startswith("---") else text


def first_sentence(text):
    """Up to the first full stop that ends a sentence; a colon or semicolon ends a long one."""
    text = re.split(r"(?<=[.!?])\s+(?=[A-Z\"'(])", text)[0].rstrip(".")
    parts = re.split(r"(?<=[;:])\s", text)
    text = parts[0].rstrip(";:") if len(text) > 160 and len(parts[0]) > 30 else text
    return text[:1].upper() + text[1:]


def functions(header):
    """[calls, sentence] of each function, or of several that share a comment, in the order of the header."""
    text = re.sub(r"^#.*?(?<!\\)$|^enum \{[^}]*\};$", "", header, flags=re.M | re.S)
    out, above, ended, named = [], "", 0, False
    for token in TOKEN.finditer(text):
        if token["comment"] is not None:
            behind = text.rfind("\n", 0, token.start()) < text.rfind(";", 0, token.start())
            if behind and out and "\n" not in text[ended : token.start()]:
                out[-1][1] = first_sentence(said(token["comment"]))
            elif not behind:
                above = said(token["comment"])
        elif token["function"]:
            name, parameters = re.search(r"(mel_\w+)\((.*)\)", token["function"], re.S).groups()
            names = [re.search(r"(\w+)(\[\w*\])?$", part.strip())[1] for part in parameters.split(",") if part.strip() != "void"]
            call = f"`{name}({', '.join(names)})`"
            ending = re.search(r"_(free|clear|init)$", name)
            if named and not above and not ending and text[: token.start()].endswith(";\n"):
                out[-1][0] += "<br>" + call
            else:
                out.append([call, USUAL[ending[1]] if ending and not above else first_sentence(above)])
            above, ended, named = "", token.end(), bool(above) or named and not ending
        else:
            above, named = "", False
    return out


def plain(text):
    """A text that Markdown leaves as it is."""
    return re.sub(r"([|*])", r"\\\1", text.replace("<", "&lt;"))


def tables():
    lines = []
    order = re.findall(r'"melicit/(\w+)\.h"', (ROOT / "include/melicit/melicit.h").read_text())
    for name in order:
        header = (ROOT / f"include/melicit/{name}.h").read_text()
        about = first_sentence(said(re.search(r"/\*(.*?)\*/", header, re.S)[1]).split(": ", 1)[1])
        rows = functions(header)
        lines.append(f"\n### {name}.h\n\n{about}.\n")
        if rows:
            lines.append("| function | what it does |\n| --- | --- |")
            lines += [f"| {calls} | {plain(what)} |" for calls, what in rows]
            lines.append("")
    return "\n".join(lines) + "\n"


def page():
    text = TARGET.read_text()
    before, rest = text.split(BEGIN)
    return before + BEGIN + tables() + END + rest.split(END)[1]


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        TARGET.write_text(page())
    else:
        sys.stdout.write(page())
