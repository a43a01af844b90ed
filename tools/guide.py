#!/usr/bin/env python3
"""Follows pages of docs/guide literally: runs what they show, and compares what comes out with what they say.

usage: tools/guide.py [--build build] [--write] PAGE...

Blocks of a page, in one empty folder, in their order:
    ```console      lines that begin with "$ " are typed (a line that ends in \\ goes on); the others are what the terminal then shows
    ```python       runs with the names of the blocks before; a ```text block right after it is what it prints
    ```KIND NAME    becomes the file NAME
A line "..." stands for any number of lines. A picture of the page that a command made must be the same, byte for byte. --write puts what came out
into the page instead, except where a block has "...", and copies the pictures."""
import argparse
import contextlib
import io
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FENCE = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.M | re.S)
PICTURE = re.compile(r"!\[[^\]]*\]\(([^)/]+)\)")


def environment(build):
    env = {k: v for k, v in os.environ.items() if k not in ("MELICIT_DATA", "NO_COLOR", "COLUMNS")}
    env["PATH"] = f"{build}:{env.get('PATH', '/usr/bin:/bin')}"
    env["PYTHONPATH"] = str(build / "python" / "site")
    return {**env, "LC_ALL": "C.UTF-8", "OMP_WAIT_POLICY": "passive", "PYTHONDONTWRITEBYTECODE": "1"}


def agrees(shown, got):
    """Whether the lines are these, where "..." is any number of them."""
    pattern = "".join("(?:.*\n)*?" if line.strip() == "..." else re.escape(line) + "\n" for line in shown)
    return re.fullmatch(pattern, "".join(line + "\n" for line in got)) is not None


def commands(text):
    """[command, lines of output] of a console block."""
    found, going_on = [], False
    for line in text.splitlines():
        if going_on:
            found[-1][0] += "\n" + line
        elif line.startswith("$ "):
            found.append([line[2:], []])
        elif found:
            found[-1][1].append(line)
        else:
            raise SystemExit(f"a console block begins with output: {line}")
        going_on = (going_on or line.startswith("$ ")) and line.endswith("\\")
    return found


class Follower:
    """Somebody who does what a page says."""

    def __init__(self, page, build, write):
        self.page, self.build, self.write = page, build, write
        self.names, self.printed, self.faults = {"__name__": "__main__"}, None, []
        self.env = environment(build)

    def compare(self, what, shown, got):
        """The lines that the page should show."""
        if agrees(shown, got):
            return shown
        if self.write and "..." not in (line.strip() for line in shown):
            return got
        self.faults.append(f"{self.page}: {what}\n--- the page says\n" + "\n".join(shown) + "\n--- it is\n" + "\n".join(got))
        return shown

    def console(self, text):
        out = []
        for command, shown in commands(text):
            done = subprocess.run(["sh", "-c", command], env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True, timeout=600)
            got = done.stdout.rstrip("\n").splitlines()
            if done.returncode != 0:
                self.faults.append(f"{self.page}: {command}\nexit {done.returncode}\n" + "\n".join(got))
            else:
                shown = self.compare(command, shown, got)
            out += ["$ " + command, *shown]
        return "\n".join(out) + "\n"

    def python(self, text):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(text, str(self.page), "exec"), self.names)
        self.printed = out.getvalue().rstrip("\n").splitlines()
        return text

    def block(self, match):
        kind, name, text = match.groups()
        if name is not None:
            pathlib.Path(name).write_text(text)
        elif kind == "console":
            text = self.console(text)
        elif kind == "python":
            text = self.python(text)
        elif kind == "text" and self.printed is not None:
            text = "\n".join(self.compare("what the lines of Python print", text.splitlines(), self.printed)) + "\n"
            self.printed = None
        return f"```{kind}{' ' + name if name else ''}\n{text}```"

    def pictures(self, text):
        for name in PICTURE.findall(text):
            made, kept = pathlib.Path(name), self.page.parent / name
            if made.exists() and self.write:
                kept.write_bytes(made.read_bytes())
            elif made.exists() and (not kept.exists() or kept.read_bytes() != made.read_bytes()):
                self.faults.append(f"{self.page}: the picture {name} is not what the commands make")

    def follow(self):
        """What is wrong with the page."""
        text = self.page.read_text()
        here = os.getcwd()
        with tempfile.TemporaryDirectory(prefix="guide-") as folder:
            os.chdir(folder)
            try:
                new = FENCE.sub(self.block, text)
                self.pictures(text)
            finally:
                os.chdir(here)
        if self.write and new != text:
            self.page.write_text(new)
        return self.faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("page", nargs="+", type=pathlib.Path)
    args = parser.parse_args()
    build = args.build.resolve()
    sys.path.insert(0, str(build / "python" / "site"))
    os.environ.setdefault("MPLBACKEND", "Agg")
    faults = [fault for page in args.page for fault in Follower(page.resolve(), build, args.write).follow()]
    if faults:
        raise SystemExit("\n\n".join(faults))


if __name__ == "__main__":
    main()
