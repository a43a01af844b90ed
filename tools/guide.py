#!/usr/bin/env python3
"""Follows pages of docs/guide literally: runs what they show, and compares what comes out with what they say.

usage: tools/guide.py [--build build | --installed] [--times] [--write] PAGE...

Blocks of a page, in one empty folder, in their order:
    ```console      lines that begin with "$ " are typed (a line that ends in \\ goes on); the others are what the terminal then shows
    ```python       runs with the names of the blocks before; a ```text block right after it is what it prints
    ```KIND NAME    becomes the file NAME
    indented by 4   what a person does at a terminal: questions are answered, a server is asked for its first page and runs to the end of the page
                    (its address is http://127.0.0.1:8080 in what follows), STUDY is the id of the study that was made last
    ```sh           is for another machine and only shown
A line "..." stands for any number of lines. A picture of the page that a command made must be the same, byte for byte. --write puts what came out
into the page instead, except where a block has "...", and copies the pictures. --installed takes the program, library and package of
make install. --times says for each page how long its commands took, how long a person needs for it, and how long docs/guide/README.md promises;
it fails where the promise is shorter."""
import argparse
import contextlib
import io
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$|(?<=\n\n)((?: {4}\S[^\n]*\n(?: {5,}[^\n]+\n)*)+)", re.M | re.S)
PICTURE = re.compile(r"!\[[^\]]*\]\(([^)/]+)\)")
PROMISE = re.compile(r"\(([\w-]+\.md)\) \| (\d+) minutes")
ADDRESS = "http://127.0.0.1:8080"
WORDS_A_MINUTE, SECONDS_A_QUESTION = 200, 15


def environment(build):
    """For the program of this folder; None: for the one that is installed."""
    env = {k: v for k, v in os.environ.items() if k not in ("MELICIT_DATA", "NO_COLOR", "COLUMNS")}
    if build is not None:
        env["PATH"] = f"{build}:{env.get('PATH', '/usr/bin:/bin')}"
        env["PYTHONPATH"] = str(build / "python" / "site")
    return {**env, "LC_ALL": "C.UTF-8", "OMP_WAIT_POLICY": "passive", "PYTHONDONTWRITEBYTECODE": "1", "no_proxy": "127.0.0.1"}


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
        self.page, self.write = page, write
        self.names, self.printed, self.faults = {"__name__": "__main__"}, None, []
        self.env, self.servers, self.address, self.study, self.answers = environment(build), [], ADDRESS, "STUDY", 0

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
            done = subprocess.run(["sh", "-c", command.replace(ADDRESS, self.address)], env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
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

    def serve(self, command):
        """Starts a server, at a free port, as others may follow a page on this machine; its first page must come."""
        words = ["sh", "-c", f"exec {command} --port 0".replace(" --open", "")]
        server = subprocess.Popen(words, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.servers.append(server)
        said = re.search(r"http://\S+", server.stdout.readline())
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        if said is None or direct.open(said.group(0), timeout=60).headers.get_content_type() != "text/html":
            self.faults.append(f"{self.page}: {command}\nno page came")
        else:
            self.address = said.group(0).rstrip("/")

    def person(self, command):
        """Types a command and answers what it asks; nobody answers more than 60 questions."""
        asks = " elicit " in command and "--oracle" not in command
        done = subprocess.run(["sh", "-c", command.replace("STUDY", self.study)], env=self.env, input="a\nb\nb\n" * 20 if asks else "",
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600)
        if done.returncode != 0:
            self.faults.append(f"{self.page}: {command}\nexit {done.returncode}\n{done.stdout}")
        ended = re.search(r"ended after (\d+) questions", re.sub(r"\s+", " ", done.stdout))
        self.answers += int(ended.group(1)) if asks and ended else 0
        made = re.match(r"study (\w+), open", done.stdout)
        self.study = made.group(1) if made else self.study

    def typed(self, text):
        for command in textwrap.dedent(text).replace("\\\n", " ").splitlines():
            if command.startswith("melicit serve"):
                self.serve(command)
            else:
                self.person(command)
        return text

    def block(self, match):
        kind, name, text, typed = match.groups()
        if typed is not None:
            return self.typed(typed)
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

    def stop(self):
        for server in self.servers:
            server.terminate()
            server.communicate()

    def timed(self, seconds):
        """One line: what the page takes and what it promises."""
        promises = dict(PROMISE.findall((ROOT / "docs" / "guide" / "README.md").read_text()))
        promised = int(promises[self.page.name])
        words = len(self.page.read_text().split())
        needed = words / WORDS_A_MINUTE + (self.answers * SECONDS_A_QUESTION + seconds) / 60
        if needed > promised:
            self.faults.append(f"{self.page}: takes {needed:.0f} minutes, promised are {promised}")
        return (f"{self.page.name}: {seconds:.0f} s of commands; {needed:.0f} minutes with reading {words} words and "
                f"answering {self.answers} questions; {promised} promised")

    def follow(self):
        """What is wrong with the page."""
        text = self.page.read_text()
        here = os.getcwd()
        with tempfile.TemporaryDirectory(prefix="guide-") as folder:
            os.chdir(folder)
            try:
                new = BLOCK.sub(self.block, text)
                self.pictures(text)
            finally:
                self.stop()
                os.chdir(here)
        if self.write and new != text:
            self.page.write_text(new)
        return self.faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--installed", action="store_true")
    parser.add_argument("--times", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("page", nargs="+", type=pathlib.Path)
    args = parser.parse_args()
    build = None if args.installed else args.build.resolve()
    if build is not None:
        sys.path.insert(0, str(build / "python" / "site"))
    os.environ.setdefault("MPLBACKEND", "Agg")
    faults = []
    for page in args.page:
        follower = Follower(page.resolve(), build, args.write)
        begin = time.monotonic()
        follower.follow()
        if args.times:
            print(follower.timed(time.monotonic() - begin), flush=True)
        faults += follower.faults
    if faults:
        raise SystemExit("\n\n".join(faults))


if __name__ == "__main__":
    main()
