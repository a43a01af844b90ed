"""melicit corrupt: labels that are noisy in known ways, and rows of another domain."""
import numpy
import pytest
from test_optimise import write


def test_corrupt(melicit):
    n = 8000
    rng = numpy.random.Generator(numpy.random.PCG64(1))
    label, town = rng.choice(["a", "b", "c"], size=n), rng.choice(["Oslo", "Rome"], size=n)
    strength = rng.random(n).round(3)
    write(melicit.folder, "y.csv", "id,y", [range(n), label])
    write(melicit.folder, "t.csv", "cluster", [town])
    write(melicit.folder, "s.csv", "s", [strength])

    def noisy(*words):
        got = melicit("corrupt", "--labels", "y.csv", "--label", "y", *words, "--out", "noisy.csv", "--json").done().json
        drawn = numpy.array(sum(melicit.rows("noisy.csv")[1:], []))
        assert got["changed"] == (drawn != label).sum() and got["rows"] == n
        return drawn

    drawn = noisy("--flip", "a>b=0.6", "--flip", "a>c=0.1", "--flip", "c>a=1")
    assert [(drawn[label == "a"] == x).mean() for x in "abc"] == pytest.approx([0.3, 0.6, 0.1], abs=0.03)
    assert (drawn[label == "b"] == "b").all() and (drawn[label == "c"] == "a").all()
    drawn = noisy("--clusters", "t.csv", "--flip", "a>b=0.2", "--flip", "Rome:a>b=0.7")
    rates = [(drawn[(label == "a") & (town == t)] == "b").mean() for t in ("Oslo", "Rome")]
    assert rates == pytest.approx([0.2, 0.7], abs=0.03)
    drawn = noisy("--strength", "s.csv", "--flip", "b>a=0.8")
    for low in (0, 0.5):
        part = (label == "b") & (strength >= low) & (strength < low + 0.5)
        assert (drawn[part] == "a").mean() == pytest.approx(0.8 * strength[part].mean(), abs=0.03)
    assert (noisy("--flip", "a>b=0.5", "--seed", 2) == noisy("--flip", "a>b=0.5", "--seed", 2)).all()
    melicit("corrupt", "--weights", "s.csv", "--rows", 5000, "--out", "rows.csv").done()
    rows = numpy.array(sum(melicit.rows("rows.csv")[1:], []), dtype=int) - 1
    assert len(rows) == 5000 and strength[rows].mean() == pytest.approx(2 / 3, abs=0.03)
    for words, part in [(("--flip", "a>d=0.5"), "two classes among"), (("--flip", "a>a=0.5"), "two classes among"),
                        (("--flip", "a>b=1.5"), "P from 0 to 1"), (("--flip", "a>b=0.7", "--flip", "a>c=0.7"), "more than all"),
                        ((), "--flip FROM>TO=P is required"), (("--flip", "a>b=0.1", "--rows", 3), "--rows goes with"),
                        (("--flip", "Rome:a>b=0.1"), "a cluster needs --clusters")]:
        melicit("corrupt", "--labels", "y.csv", "--label", "y", *words, "--out", "x.csv").refused(2, part)
    melicit("corrupt", "--out", "x.csv").refused(2, "give either")


def test_corrupt_keeps_names(melicit):
    """The column, classes and clusters with marks of --flip in their names, and a class of which nothing is left."""
    write(melicit.folder, "y.csv", "id,the answer", [range(6), ["a:b", "c>d=1", "a:b", "c>d=1", "e", "e"]])
    write(melicit.folder, "t.csv", "cluster", [["x:y", "x:y", "z", "z", "x:y", "z"]])
    words = ("corrupt", "--labels", "y.csv", "--label", "the answer", "--out", "noisy.csv", "--json")
    assert melicit(*words, "--clusters", "t.csv", "--flip", "a:b>c>d=1=1").done().json["changed"] == 2
    assert melicit.rows("noisy.csv") == [["the answer"], *([x] for x in ["c>d=1", "c>d=1", "c>d=1", "c>d=1", "e", "e"])]
    got = melicit(*words, "--clusters", "t.csv", "--flip", "x:y:c>d=1>e=1", "--flip", "z:e>a:b=1").done().json
    assert sum(melicit.rows("noisy.csv")[1:], []) == ["a:b", "e", "a:b", "c>d=1", "e", "a:b"] and "warnings" not in got
    gone = melicit(*words, "--flip", "e>a:b=1").done().json
    assert gone["warnings"] == ['no label "e" is left: a file without it has a class less']
    write(melicit.folder, "y.csv", "id,the answer", [range(6), ["a:b", "b", "c"] * 2])
    write(melicit.folder, "t.csv", "cluster", [["a", "d"] * 3])
    melicit(*words[:-1], "--clusters", "t.csv", "--flip", "a:b>c=1").refused(2, "--flip a:b>c=1 can be read in 2 ways")
