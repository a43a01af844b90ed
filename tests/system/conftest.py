"""What the system tests share: running the built program and reading what it says."""
import collections
import csv
import gzip
import json
import os
import pathlib
import signal
import subprocess
from dataclasses import dataclass

import numpy
import pytest
import schema

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("MELICIT_BUILD", SOURCE / "build")).resolve()
PROGRAM = BUILD / "melicit"
DATA = SOURCE / "data"
SANITIZED = os.environ.get("MELICIT_SANITIZE", "OFF") == "ON"


# Below nohup, and in the background of a script, signals are ignored, by programs that tests start as well; by these no longer.
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, lambda *_: None)


def environment(**more):
    """The caller's environment without what would change the outcome, and with melicit on the path."""
    env = {k: v for k, v in os.environ.items() if k not in ("MELICIT_DATA", "NO_COLOR", "COLUMNS", "TMPDIR")}
    env["PATH"] = f"{BUILD}:{env.get('PATH', '/usr/bin:/bin')}"
    env["LC_ALL"] = "C.UTF-8"
    # A finding of a sanitizer must not look like one of the program's own exit codes.
    env["ASAN_OPTIONS"] = "exitcode=99"
    env["UBSAN_OPTIONS"] = "exitcode=99:print_stacktrace=1"
    env.update(more)
    return env


SOAK = bool(os.environ.get("MELICIT_SOAK"))


def some(values, key):
    """All of them in make soak, else a few that depend on the key: over many keys each has its turn."""
    if SOAK:
        return values
    return [values[(len(key) + step) % len(values)] for step in ((0, 3) if SANITIZED else (0, 3, 5, 8))]


# make test runs a test once: in the plain build what the sanitized build does not run (see cmake/Tests.cmake).
ONCE = not SANITIZED and not SOAK and os.environ.get("MELICIT_TESTS_ONCE", "OFF") == "ON"


def pytest_configure(config):
    config.addinivalue_line("markers", "plain(reason, soak=False): about the build that is installed; not under sanitizers, or in make soak only")


def is_plain(item):
    mark = item.get_closest_marker("plain")
    return mark is not None and not (SOAK and mark.kwargs.get("soak"))


def run_under_sanitizers(items):
    """Where each run of the program is slow, one in eight cases of a test that has many, and about sixteen of one that has
    hundreds: they differ in words and numbers. make soak runs all."""
    cases = collections.Counter((item.path, item.originalname) for item in items)
    turn = collections.Counter()
    for item in items:
        name = (item.path, item.originalname)
        if not is_plain(item) and (SOAK or cases[name] < 8 or turn[name] % max(8, cases[name] // 16) == 0):
            yield item
        turn[name] += 1


def pytest_collection_modifyitems(config, items):
    if not SANITIZED and not ONCE:
        return
    sanitized = set(run_under_sanitizers(items))
    left = [item for item in items if (item in sanitized) != SANITIZED]
    items[:] = [item for item in items if (item in sanitized) == SANITIZED]
    config.hook.pytest_deselected(items=left)


def refuse_constant(name):
    raise ValueError(f"{name} is not JSON")


@dataclass
class Outcome:
    code: int
    out: str
    err: str

    @property
    def json(self):
        """Standard output as exactly one JSON object."""
        value = json.loads(self.out, parse_constant=refuse_constant)
        assert isinstance(value, dict)
        return value

    def done(self):
        assert self.code == 0, f"exit {self.code}\n{self.out}\n{self.err}"
        return self

    def refused(self, code, *parts):
        """Exit code, nothing on stdout, one line on stderr, behind warnings about files if any, that contains the parts."""
        assert self.code == code, f"exit {self.code}, wanted {code}\n{self.out}\n{self.err}"
        assert self.out == ""
        *warnings, line, end = self.err.split("\n")
        assert line.startswith("melicit") and end == "" and all(w.startswith("melicit: warning: ") for w in warnings), self.err
        for part in parts:
            assert part in line, f"{part!r} is not in {self.err!r}"
        return self


EFFORT = {"seconds", "steps", "passes", "iterations", "queries", "starts"}  # counts that the last bit of a sum may change


def alike(a, b, where="", tolerance=1e-9):
    """The same but for rounding, the effort of searches, and names of files that are patterns in b."""
    if isinstance(a, dict):
        assert isinstance(b, dict) and a.keys() == b.keys(), where
        for key in a.keys() - EFFORT:
            alike(a[key], b[key], f"{where}.{key}", tolerance)
    elif isinstance(a, (list, tuple)):
        assert len(a) == len(b), where
        for i, (x, y) in enumerate(zip(a, b)):
            alike(x, y, f"{where}[{i}]", tolerance)
    elif isinstance(a, float) or isinstance(b, float):
        assert b == pytest.approx(a, rel=tolerance, abs=tolerance), where
    elif isinstance(a, str):
        assert a == b or "*" in b, where
    else:
        assert a == b, where


FILES = {"melicit-metric": "metric-file", "melicit-model": "model-file", "melicit-classifier": "classifier-file",
         "melicit-session": "session-line", "melicit-comparisons": "session-line"}


def check_schemas(words, outcome, folder):
    """Whatever is printed with --json, and every file that was asked for, is as docs/schema says."""
    if "--json" in words and "--relay" not in words and outcome.out.startswith("{") and outcome.code in range(7):
        explains = words[0] in ("help", "--version", "-V") or "--help" in words or "-h" in words
        known = (schema.FOLDER / f"{words[0]}.json").exists()
        schema.check(json.loads(outcome.out), "help" if explains or not known else words[0])
    for option, name in zip(words, words[1:]):
        path = folder / name
        if option in ("--out", "--session") and outcome.code in (0, 5) and path.suffix in (".json", ".jsonl") and path.is_file():
            if path.read_bytes()[:1] != b"{":
                continue
            text = path.read_text()
            lines = text.split("\n")[:-1] if path.suffix == ".jsonl" else [text]  # another program may be at the last one
            kind = FILES.get(json.loads(lines[0]).get("format")) if lines else None
            for line in lines if kind else []:
                schema.check(json.loads(line), kind)


class Melicit:
    """Runs the program in a folder of its own."""

    def __init__(self, folder):
        self.folder = folder

    def __call__(self, *args, stdin="", env=None, timeout=900):
        done = subprocess.run(
            [str(PROGRAM), *map(str, args)],
            input=stdin if isinstance(stdin, bytes) else stdin.encode(),
            capture_output=True,
            cwd=self.folder,
            env=environment(**(env or {})),
            timeout=timeout,
        )
        outcome = Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())
        check_schemas(list(map(str, args)), outcome, self.folder)
        return outcome

    def shell(self, line, timeout=900):
        done = subprocess.run(
            ["bash", "-c", line],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            cwd=self.folder,
            env=environment(),
            timeout=timeout,
        )
        return Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())

    def write(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def load(self, name):
        return numpy.load(self.folder / name)

    def rows(self, name):
        with open(self.folder / name, newline="") as file:
            return list(csv.reader(file))


@pytest.fixture
def melicit(tmp_path):
    assert PROGRAM.exists(), f"build first: {PROGRAM} is not there"
    return Melicit(tmp_path)


@pytest.fixture(scope="session")
def cancer_rows():
    """The bundled breast cancer data as a header and rows of texts."""
    with gzip.open(DATA / "breast_cancer_original.csv.gz", "rt", newline="") as file:
        header, *rows = csv.reader(file)
    return header, rows


@pytest.fixture(scope="session")
def mixed_csv():
    """400 rows: two numbers, two texts, missing cells, three classes, two groups, weights."""
    rng = numpy.random.Generator(numpy.random.PCG64(7))
    lines = ["age,colour,size,meta_id,side,weight,score,kind"]
    for i in range(400):
        kind = int(rng.integers(3))
        age = f"{rng.normal(40 + 8 * kind, 10):.2f}" if rng.random() > 0.05 else "?"
        colour = ["red", "green", "blue, dark"][(kind + (rng.random() < 0.4)) % 3]
        size = f"{rng.normal(kind, 1):.4f}" if rng.random() > 0.05 else ""
        quoted = f'"{colour}"' if "," in colour else colour
        side = "left" if rng.random() < 0.3 else "right"
        lines.append(f"{age},{quoted},{size},{i},{side},{1 + i % 3},{rng.normal(kind):.5f},{'abc'[kind]}")
    return "\n".join(lines) + "\n"


@pytest.fixture
def sample(melicit):
    """Probabilities, labels and groups of 600 rows of three classes as files, and as arrays."""
    rng = numpy.random.default_rng(3)
    n, k = 600, 3
    y = rng.integers(0, k, n)
    score = rng.normal(size=(n, k)) + 1.2 * (y[:, None] == numpy.arange(k))
    p = numpy.exp(score) / numpy.exp(score).sum(axis=1, keepdims=True)
    g = rng.integers(0, 2, n)
    numpy.save(melicit.folder / "p.npy", p)
    numpy.save(melicit.folder / "y.npy", y)
    melicit.write("g.csv", "group\n" + "\n".join("uv"[x] for x in g) + "\n")
    return p, y, g
