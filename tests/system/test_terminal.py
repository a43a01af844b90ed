"""What people see on a terminal: questions after the window was resized, progress on narrow windows, the README's promises."""
import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time

import pytest
from conftest import PROGRAM, SOURCE, environment

CANCER = ("--data", "breast_cancer_original", "--classes", "healthy,cancer")


class Terminal:
    """A program on a terminal of its own, which is its controlling one: resizing is signalled."""

    def __init__(self, command, folder, columns, rows=50):
        self.master, slave = pty.openpty()
        self.resize(columns, rows)
        self.process = subprocess.Popen(command, cwd=folder, preexec_fn=lambda: os.login_tty(slave),
                                        env=environment(TERM="xterm"))
        os.close(slave)
        self.text = ""

    def resize(self, columns, rows=50):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self, until=None, seconds=300):
        """What was written up to a text, or to the end."""
        seen = b""
        end = time.monotonic() + seconds
        while time.monotonic() < end and (until is None or until.encode() not in seen):
            if select.select([self.master], [], [], 0.2)[0]:
                try:
                    data = os.read(self.master, 65536)
                except OSError:
                    data = b""
                if not data:
                    break
                seen += data
        text = seen.decode()
        assert until is None or until in text, text
        return text

    def press(self, key):
        os.write(self.master, key.encode())

    def end(self):
        text = self.read()
        os.close(self.master)
        return self.process.wait(timeout=600), text


def plain(text):
    """Without colours."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def widest(text):
    return max(len(line) for line in plain(text).split("\r\n"))


def test_resized_window(tmp_path):
    terminal = Terminal([str(PROGRAM), "elicit", *CANCER], tmp_path, 80)
    first = terminal.read("rather have? ")
    shown = screen_of(first, 80)
    assert shown[0] == "melicit: 0 is healthy, 1 is cancer" and shown[1].startswith("Question 1"), first
    assert max(map(len, shown)) == 80, first
    terminal.resize(60)
    again = terminal.read("rather have? ")
    assert again.startswith("\x1b[2J\x1b[H") and "Question 1" in plain(again)
    assert widest(again[len("\x1b[2J\x1b[H"):]) == 60
    terminal.resize(44)
    narrow = terminal.read("rather have? ")
    assert widest(narrow[len("\x1b[2J\x1b[H"):]) <= 44
    terminal.press("a")
    following = terminal.read("rather have? ")
    assert "Question 2" in plain(following) and widest(following) <= 44
    terminal.press("q")
    assert terminal.end()[0] == 5


def screen_of(text, columns):
    """The lines of a screen: what a terminal makes of text, carriage returns, line feeds and "erase to the end of the line"."""
    lines, row, column = [""], 0, 0
    for piece in re.findall(r"\x1b\[K|\x1b\[[0-9;]*m|.|\r|\n", text, re.DOTALL):
        if piece == "\r":
            column = 0
        elif piece == "\n":
            row += 1
            lines += [""] * (row + 1 - len(lines))
        elif piece == "\x1b[K":
            lines[row] = lines[row][:column]
        elif piece.startswith("\x1b"):
            continue
        else:
            if column == columns:
                row, column = row + 1, 0
                lines += [""] * (row + 1 - len(lines))
            lines[row] = lines[row].ljust(column)[:column] + piece + lines[row][column + 1:]
            column += 1
    return [line.rstrip() for line in lines if line.strip()]


@pytest.mark.parametrize("columns", [100, 60, 40, 20])
def test_progress_leaves_nothing(melicit, columns):
    """On any width the result is all that stays: bars are erased as a whole."""
    command = [str(PROGRAM), "space", "--population", "softmax:1,3,6,10", "--thesis", "coordinates=offdiagonal", "--threads", "1"]
    terminal = Terminal(command, melicit.folder, columns)
    code, text = terminal.end()
    assert code == 0 and "\x1b[K" in text and " %" in text
    bars = [bar for bar in text.split("\r\x1b[K")[1:] if " %" in bar[:columns + 8]]
    assert bars and all(len(bar.split("\r")[0].split("\n")[0]) < columns for bar in bars[:-1])
    shown = screen_of(text, columns)
    assert not [line for line in shown if re.search(r"#{2,}|\.{4,}\]|\[\.|^ *\d+ %$", line)], "\n".join(shown)


# --- what the README promises -------------------------------------------------------------------------

RESPONDENT = """import json, sys
weights = [float(w) for w in sys.argv[1].split(",")]
for line in sys.stdin:
    question = json.loads(line)
    a, b = (question[side]["statistics"] for side in "ab")
    print("A" if sum(w * (x - y) for w, x, y in zip(weights, a, b)) > 0 else "B", flush=True)
"""


def four_classes():
    """The README's command, and how many questions it promises to a person and to one who never errs."""
    text = (SOURCE / "README.md").read_text().replace("\\\n", " ")
    command = re.search(r"build/melicit (elicit --population softmax:1,3,6,10 .*)", text).group(1).split()
    fewest, most, sure = map(int, re.search(r"in (\d+) to (\d+) questions that allow.*?is asked about (\d+)", text, re.DOTALL).groups())
    options = re.search(r"who never errs\s+\(`(.*?)`\)", text).group(1).split()
    return command, (fewest, most), options, sure


@pytest.mark.parametrize("weights", [(0.1, 0.2, 0.3, 0.4), (0.4, 0.3, 0.2, 0.1), (0.05, 0.15, 0.5, 0.3)])
def test_four_classes_of_the_readme(melicit, weights):
    """Somebody who answers without an error gets to the end of the tour's command, after about as many questions as said."""
    melicit.write("respondent.py", RESPONDENT)
    command, (fewest, most), options, sure = four_classes()
    oracle = ("--oracle", "cmd:python3 respondent.py " + ",".join(map(str, weights)))
    quick = melicit(*command[:command.index("--tolerance")], *options, *oracle, "--json").done().json
    assert quick["end"] == "tolerance" and abs(quick["questions"] - sure) <= 3
    # The same questions as a person gets, so that a person's keys are known.
    as_asked = ("--ask", "repeat-every=6", "--ask", "simple-questions", "--session", "s.jsonl")
    result = melicit(*command, *oracle, *as_asked, "--json").done().json
    answers = [json.loads(line)["answer"] for line in (melicit.folder / "s.jsonl").read_text().splitlines()[1:]]
    assert result["end"] == "tolerance" and fewest - 6 <= len(answers) <= most + 6
    assert max(abs(x - w) for x, w in zip(result["metric"]["coefficients"]["a"], weights)) <= 0.05
    terminal = Terminal([str(PROGRAM), *command], melicit.folder, 100)
    for number, answer in enumerate(answers, 1):
        assert f"Question {number} " in plain(terminal.read("rather have? "))
        terminal.press(answer.lower())
    code, text = terminal.end()
    said = f"ended after {len(answers)} questions, when it was as precise as you asked"
    assert code == 0 and said in " ".join(plain(text).split()), text
