"""Data in several files: patterns of names instead of one file, for each verb; what belongs together; what is refused."""
import numpy
import pytest
from classes import layout, metric_text
from conftest import alike

CUTS = (0, 130, 131, 380, 600)  # four files, one of them with a single row


@pytest.fixture
def parts(melicit, sample):
    """The rows of `sample` and a table of them, each whole and in four files."""
    p, y, g = sample
    header = "x,t,label"
    lines = [f"{a:.6f},{'uv'[c]},{'abc'[b]}" for (a, *_), b, c in zip(p, y, g)]
    melicit.write("t.csv", "\n".join([header, *lines]) + "\n")
    for i, (low, high) in enumerate(zip(CUTS, CUTS[1:])):
        numpy.save(melicit.folder / f"p-{i}.npy", p[low:high])
        numpy.save(melicit.folder / f"y-{i}.npy", y[low:high])
        melicit.write(f"g-{i}.csv", "group\n" + "".join(f"{'uv'[x]}\n" for x in g[low:high]))
        melicit.write(f"t-{i}.csv", "\n".join([header, *lines[low:high]]) + "\n")
    melicit.write("w.json", metric_text("diagonal-linear", layout("confusion", "diagonal", 3), a=[0.5, 0.3, 0.2]))
    return melicit


def both(melicit, *args):
    """The same command on whole files and on patterns."""
    whole = [a.replace("@", "") if isinstance(a, str) else a for a in args]
    split = [a.replace("@", "-*") if isinstance(a, str) else a for a in args]
    return melicit(*whole).done(), melicit(*split).done()


PROBS = ("--probs", "p@.npy", "--labels", "y@.npy")


@pytest.mark.parametrize("args", [
    ("train", "--data", "t@.csv"),
    ("space", "--data", "t@.csv"),
    ("space", *PROBS),
    ("space", *PROBS, "--groups", "g@.csv", "--evidence", "model"),
    ("apply", "--named", "macro-f1", *PROBS),
    ("apply", "--named", "g-mean", "--evidence", "model", *PROBS),
    ("optimise", "--metric", "g-mean", "--iterations", "5", *PROBS, "--validation-probs", "p@.npy", "--validation-labels", "y@.npy"),
    ("elicit", "--family", "diagonal-linear", "--oracle", "sim:w.json", "--max-questions", "8", *PROBS),
])
def test_verbs(parts, args):
    whole, split = both(parts, *args, "--json")
    alike(whole.json, split.json)


def test_predict(parts):
    parts("train", "--data", "t-*.csv", "--out", "m.json").done()
    for out in ("csv", "npy"):
        for name in ("t.csv", "t-*.csv"):
            parts("predict", "--model", "m.json", "--data", name, "--out", f"{len(name)}.{out}").done()
        assert (parts.folder / f"5.{out}").read_bytes() == (parts.folder / f"7.{out}").read_bytes()
    parts("apply", "--named", "macro-f1", "--probs", "p-*.npy", "--labels", "y-*.npy", "--out", "c.json").done()
    for name in ("p.npy", "p-*.npy"):
        parts("predict", "--classifier", "c.json", "--probs", name, "--out", f"d{len(name)}.csv").done()
    assert (parts.folder / "d5.csv").read_bytes() == (parts.folder / "d7.csv").read_bytes()


def test_threads(parts):
    """Bit by bit, whatever the number of threads."""
    for args in (("train", "--data", "t-*.csv"), ("space", "--evidence", "model", "--probs", "p-*.npy", "--labels", "y-*.npy")):
        one, two = (parts(*args, "--json", "--threads", n).done().out for n in (1, 2))
        assert one == two


def test_session_goes_on(parts):
    """The header names a pattern: the same files, or it is refused."""
    start = ("elicit", "--family", "diagonal-linear", "--oracle", "sim:w.json", "--session", "s.jsonl")
    parts(*start, "--probs", "p-*.npy", "--labels", "y-*.npy", "--max-questions", 3).done()
    parts(*start, "--max-questions", 6).done()
    assert len([line for line in (parts.folder / "s.jsonl").read_text().splitlines() if '"answer"' in line]) > 3
    numpy.save(parts.folder / "y-1.npy", 1 - numpy.load(parts.folder / "y-1.npy") % 2)
    parts(*start, "--max-questions", 9).refused(6, "this session was started with data")


def test_refused(parts):
    def space(code, *message, probs="p-*.npy", labels="y-*.npy", more=()):
        parts("space", "--probs", probs, "--labels", labels, *more).refused(code, *message)

    space(3, "q-*.npy: no file matches", probs="q-*.npy")
    (parts.folder / "y-2.npy").rename(parts.folder / "y-two.npy")
    space(3, "files that belong together have the same text in place of the *", '"2"')
    (parts.folder / "y-two.npy").rename(parts.folder / "y-2.npy")
    y = numpy.load(parts.folder / "y.npy")
    numpy.save(parts.folder / "y-0.npy", y[:131])  # as many rows in all, the wrong ones in each
    numpy.save(parts.folder / "y-1.npy", y[131:132])
    numpy.save(parts.folder / "y-2.npy", y[132:380])
    space(3, "rows, the file that belongs to it has")
    parts.write("t-1.csv", "x,label\n1,a\n")
    parts("train", "--data", "t-*.csv").refused(3, 't-1.csv: no column "t", which t-0.csv has')


def test_files_come_in_the_order_of_their_numbers(melicit):
    """p-2 before p-10, so that decisions about p-*.csv are in the order of the files of labels, and of the table that was cut."""
    rng = numpy.random.default_rng(8)
    y = rng.integers(0, 2, 130)
    for i, rows in enumerate(numpy.split(y, 13), 1):
        melicit.write(f"p-{i}.csv", "0,1\n" + "".join(f"{1 - v},{v}\n" for v in 0.2 + 0.6 * rows))
        melicit.write(f"y-{i}.csv", "label\n" + "".join(f"{v}\n" for v in rows))
    melicit("apply", "--named", "accuracy", "--probs", "p-*.csv", "--labels", "y-*.csv", "--out", "c.json").done()
    melicit("predict", "--classifier", "c.json", "--probs", "p-*.csv", "--out", "d.npy").done()
    assert numpy.array_equal(melicit.load("d.npy"), y)


def test_one_file_beside_several(parts):
    """Nothing says which rows of y.npy are those of p-2.npy, unless the rows have names."""
    for probs, labels in (("p-*.npy", "y.npy"), ("p.npy", "y-*.npy")):
        parts("space", "--probs", probs, "--labels", labels).refused(3, "several files" if labels == "y.npy" else "one file", "in place of the *")
    for few in (("--labels", "y.npy", "--predictions", "y-*.npy"), ("--labels", "y-*.npy", "--predictions", "y.npy")):
        parts("score", "--named", "accuracy", *few).refused(3, "which rows belong together")
    p, y = parts.load("p.npy"), parts.load("y.npy")
    value = parts("apply", "--named", "accuracy", "--probs", "p.npy", "--labels", "y.npy", "--json").done().json["value"]
    names = numpy.random.default_rng(1).permutation(600)
    parts.write("y.csv", ",label\n" + "".join(f"n{i},{y[i]}\n" for i in names))
    for i, (low, high) in enumerate(zip(CUTS, CUTS[1:])):
        parts.write(f"p-{i}.csv", ",0,1,2\n" + "".join(f"n{r},{a!r},{b!r},{c!r}\n" for r, (a, b, c) in enumerate(p[low:high].tolist(), low)))
    got = parts("apply", "--named", "accuracy", "--probs", "p-*.csv", "--labels", "y.csv", "--json").done().json
    assert got["value"] == pytest.approx(value, abs=1e-12)


def test_warnings_name_the_file(parts):
    parts.write("t-1.csv", "x,t,label\nodd,u,a\n")
    done = parts("train", "--data", "t-*.csv", "--json").done()
    assert any('column "x": numbers in some files, texts in others' in w for w in done.json["warnings"])
