"""Where no process sees all rows, of any number of classes: what a classifier decides (moments --classifier, score --moments),
and runs of optimise on sums that are taken file by file (--iterate)."""
import json

import numpy
import pytest
from classes import layout, metric_text

CUTS = (0, 130, 131, 380, 600)  # four files, one of them with a single row
RULE = {"format": "melicit-classifier", "version": 1, "classes": ["a", "b", "c"], "labels": ["0", "1", "2"], "groups": [],
        "rules": [{"gain": [[1, 0, 0], [0, 2, 0.5], [0, 0, 1.5]], "share": 1}]}


@pytest.fixture
def parts(melicit, sample):
    p, y, g = sample
    for i, (low, high) in enumerate(zip(CUTS, CUTS[1:])):
        numpy.save(melicit.folder / f"p-{i}.npy", p[low:high])
        numpy.save(melicit.folder / f"y-{i}.npy", y[low:high])
        melicit.write(f"g-{i}.csv", "group\n" + "".join(f"{'uv'[x]}\n" for x in g[low:high]))
    melicit.write("rule.json", json.dumps(RULE))
    return melicit


def take(melicit, i, *args):
    return melicit("moments", "--probs", f"p-{i}.npy", "--labels", f"y-{i}.npy", "--out", f"{i}.moments", *args)


def merged(melicit, *args):
    """All files, merged in two ways that must have the same bytes."""
    for i in range(4):
        grouped = ("--groups", f"g-{i}.csv") if "grouped" in args else ()
        take(melicit, i, *(a for a in args if a != "grouped"), *grouped).done()
    melicit("merge", "2.moments", "0.moments", "--out", "x").done()
    melicit("merge", "3.moments", "x", "1.moments", "--out", "y").done()
    said = melicit("merge", *(f"{i}.moments" for i in range(4)), "--out", "all", "--json").done().json
    assert (melicit.folder / "all").read_bytes() == (melicit.folder / "y").read_bytes()
    return said


def numbers(said):
    """Values and intervals of all that was scored; statistics are in the order of the classes."""
    return [x for s in said["scores"] for key, v in s.items() if key not in ("name", "statistics") for x in (v if isinstance(v, list) else [v])]


def test_decisions(parts, sample):
    """By class, decision and group, as they are counted on all rows at once; and the value of a metric on them."""
    p, y, g = sample
    decided = (p @ numpy.array(RULE["rules"][0]["gain"])).argmax(axis=1)
    said = merged(parts, "--classifier", "rule.json", "grouped")
    assert (said["rows"], said["files"], said["decisions"]) == (600, 4, ["a", "b", "c"])
    for block, of in zip(said["confusion"], (None, "u", "v")):
        there = numpy.full(600, True) if of is None else numpy.array(["uv"[x] == of for x in g])
        assert block["group"] == of
        for i in range(3):
            for j in range(3):
                own = there & (decided == j)
                assert block["by_labels"][i][j] == (own & (y == i)).sum()
                assert block["by_model"][i][j] == pytest.approx(p[own, i].sum(), abs=1e-11)
            assert block["rates"][i][i] == pytest.approx((there & (decided == i) & (y == i)).sum() / (there & (y == i)).sum())
    parts("predict", "--classifier", "rule.json", "--probs", "p-*.npy", "--out", "d.npy").done()
    rows = ("--labels", "y.npy", "--predictions", "d.npy", "--groups", "g.csv", "--rename", "0=a,1=b,2=c")
    parts.write("g.csv", "group\n" + "".join(f"{'uv'[x]}\n" for x in g))
    parts.write("m.json", metric_text("diagonal-linear", layout("confusion", "diagonal", 3, classes="cab"), a=[0.5, 0.3, 0.2]))
    for asked in (("--named", "macro-f1", "--named", "kappa"), ("--named", "accuracy:difference"), ("--metric", "m.json")):
        one, other = (parts("score", *asked, *of, "--json").done().json for of in (rows, ("--moments", "all")))
        assert one["value"] == pytest.approx(other["value"], abs=1e-12) and one["rows"] == other["rows"]
        assert numbers(one) == pytest.approx(numbers(other), abs=1e-9)
    assert parts("rank", "--named", "accuracy", "--moments", "all", "--moments", "y", "--json").done().json["order"]
    same, other = (parts("rank", "--named", "accuracy", "--moments", "all", "--moments", b).done().err for b in ("y", "0.moments"))
    assert "same rows" not in same and "all and 0.moments are not about the same rows: class" in other
    text = parts("merge", "all", "--out", "again").done().out
    assert "all rows" in text and "expected" in text
    text = parts("merge", "1.moments", "--out", "again").done().out  # a single row: two classes have none
    assert "nan" not in text


@pytest.mark.parametrize("more", [(), ("--weights", "whole"), ("--method", "pi-ew"), ("--step", "line", "--take", "best", "--checkpoint", "run.check")])
def test_optimise(parts, more):
    """The classifier of sums that were taken file by file is that of all rows, to the byte."""
    steps = () if "pi-ew" in more else ("--iterations", 2)
    start = ("optimise", "--metric", "g-mean", *steps, "--validation-probs", "p.npy", "--validation-labels", "y.npy", *more)
    whole = parts(*start, "--probs", "p-*.npy", "--labels", "y-*.npy", "--out", "whole.json", "--json").done().json
    said = parts(*start, "--iterate", "run", "--out", "c.json", "--json").done().json
    rounds = 0
    while said["end"] == "waits":
        assert said["passes"] == rounds and not (parts.folder / "c.json").exists()
        for i in range(4):
            take(parts, i, "--iterate", "run", "--threads", 1 + rounds % 2).done()
        parts("merge", *(f"{(i + rounds) % 4}.moments" for i in (2, 0, 3, 1)), "--out", "all").done()
        said = parts(*start, "--iterate", "run", "--moments", "all", "--out", "c.json", "--json").done().json
        rounds += 1
    assert rounds == (2 if "pi-ew" in more else 3)
    assert (parts.folder / "c.json").read_bytes() == (parts.folder / "whole.json").read_bytes()
    assert all(said[key] == whole[key] for key in ("value", "validation", "iterations", "queries", "gap", "condition"))
    take(parts, 0, "--iterate", "run").refused(3, "run: the run has ended")
    again = parts(*start, "--iterate", "run", "--json").done().json  # all sums are there
    assert again["value"] == whole["value"]


def test_metric_that_fails(parts):
    """The same command once more goes on, with the same sums, and ends as if nothing had been."""
    parts.write("metric.py", "import json, pathlib, sys\nfor line in sys.stdin:\n"
                "    if pathlib.Path('down').exists():\n        sys.exit(3)\n"
                "    print(1 - abs(sum(c[1] for c in json.loads(line)['chances']) / 600 - 0.4), flush=True)\n")
    start = ("optimise", "--metric", "cmd:exec /usr/bin/python3 metric.py", "--iterations", 2, "--validation-probs", "p.npy", "--validation-labels", "y.npy")
    parts(*start, "--probs", "p-*.npy", "--labels", "y-*.npy", "--out", "whole.json").done()
    said = parts(*start, "--iterate", "run", "--out", "c.json", "--json").done().json
    while said["end"] == "waits":
        merged(parts, "--iterate", "run")
        parts.write("down", "")
        assert parts(*start, "--iterate", "run", "--moments", "all").code == 3
        (parts.folder / "down").unlink()
        said = parts(*start, "--iterate", "run", "--moments", "all", "--out", "c.json", "--json").done().json
    assert (parts.folder / "c.json").read_bytes() == (parts.folder / "whole.json").read_bytes()


def test_patterns(parts):
    """One command for all files has the bytes of one for each."""
    merged(parts, "--classifier", "rule.json")
    parts("moments", "--probs", "p-*.npy", "--labels", "y-*.npy", "--classifier", "rule.json", "--out", "z").done()
    assert (parts.folder / "z").read_bytes() == (parts.folder / "all").read_bytes()


def test_refused(parts):
    start = ("optimise", "--metric", "g-mean", "--iterations", 2, "--validation-probs", "p.npy", "--validation-labels", "y.npy")
    for args, words in ((("--iterate", "run", "--probs", "p-0.npy"), "--probs cannot be combined with --iterate"),
                        (("--iterate", "run", "--basis", "default"), "--basis cannot be combined"),
                        (("--iterate", "run", "--epsilon", "0.1", "--epsilon", "0.2"), "give one"),
                        (("--iterate", "run", "--probes", "constrained"), "--probes constrained cannot be combined"),
                        (("--moments", "x"), "--moments goes with --iterate")):
        parts(*start, *args).refused(2, words)
    parts("optimise", "--metric", "cmd:cat", "--iterate", "run", "--validation-probs", "p.npy").refused(2, "needs --validation-labels")
    parts(*start, "--iterate", "run").done()
    for args, words in ((("--iterate", "run", "--classifier", "rule.json"), "exclude each other"),
                        (("--iterate", "run", "--groups", "g-0.csv"), "does not look at groups"),
                        (("--classifier", "rule.json", "--classes", "a,b,c"), "rule.json says what the classes are"),
                        (("--classifier", "rule.json", "--model", "m"), "give one of both")):
        take(parts, 0, *args).refused(2, words)
    parts("moments", "--probs", "p-*.npy", "--labels", "y-0.npy", "--classifier", "rule.json", "--out", "x").refused(2, "y-0.npy is one file")
    parts("moments", "--probs", "p-0.npy", "--labels", "y-2.npy", "--classifier", "rule.json", "--out", "x").refused(3, "expected as many")
    take(parts, 0, "--iterate", "rule.json").refused(3, "rule.json: this is no iterate")
    named = dict(RULE, classes=["2", "0", "1"])
    parts.write("named.json", json.dumps({key: named[key] for key in named if key != "labels"}))  # which column is "2"?
    take(parts, 0, "--classifier", "named.json").refused(2, "--columns says it")
    take(parts, 0, "--classifier", "named.json", "--columns", "0,1,2").done()
    gain = RULE["rules"][0]["gain"]
    parts.write("groups.json", json.dumps(dict(RULE, groups=["u", "v"], rules=[{"gain": [gain, gain], "share": 1}])))
    take(parts, 0, "--classifier", "groups.json").refused(2, "groups.json decides by groups: give --groups FILE")
    for i in range(4):
        take(parts, i, "--iterate", "run").done()
        (parts.folder / f"{i}.moments").rename(parts.folder / f"{i}.first")
    parts("merge", *(f"{i}.first" for i in range(4)), "--out", "all").done()
    take(parts, 0, "--classifier", "rule.json").done()
    parts("merge", "0.first", "0.first", "--out", "x").refused(3, "the rows of p-0.npy are there twice")
    parts("merge", "0.first", "0.moments", "--out", "x").refused(3, "0.moments: these are moments of another kind")
    parts(*start, "--iterate", "run", "--moments", "0.moments").refused(3, "0.moments: these are moments of another kind")
    parts("score", "--named", "accuracy", "--moments", "0.first").refused(3, "0.first: these are moments of another kind")
    parts("merge", "0.first", "--model", "rule.json", "--out", "x").refused(3, "0.first has no sums for training")
    parts(*start, "--iterate", "run", "--moments", "all").done()
    parts(*start, "--iterate", "run", "--moments", "all").refused(3, "all: the moments were taken at another iterate")
    parts(*start, "--iterate", "run", "--weights", "whole").refused(6, "run was begun with --weights diagonal")
    parts(*start, "--iterate", "run", "--classes", "x,y,z").refused(6, "run is about the classes")
    take(parts, 0, "--iterate", "run").done()
    parts("merge", "0.moments", "1.first", "--out", "x").refused(3, "moments at different iterates do not add up")
    parts(*start, "--iterate", "run", "--moments", "0.moments").refused(3, "the rows of p-1.npy are in the sums before, but not in these")


@pytest.mark.parametrize("change", [("wanted", [1, 2]), ("classes", ["a"]), ("shape", "round"), ("version", 2), ("passes", [{}]), ("labels", ["0", "0", "1"])])
def test_iterates_that_are_wrong(parts, change):
    parts("optimise", "--metric", "g-mean", "--validation-probs", "p.npy", "--validation-labels", "y.npy", "--iterate", "run").done()
    parts.write("run", json.dumps(json.loads((parts.folder / "run").read_text()) | dict([change])))
    take(parts, 0, "--iterate", "run").refused(3, "run: ")


@pytest.mark.parametrize("change", [("decisions", 7), ("classes", 3), ("at", "x"), ("files", []), ("kind", "other"),
                                    ("files", [{"file": "a", "rows": 1, "weight": 1, "groups": [], "sums": [1]}])])
def test_moments_that_are_wrong(parts, change):
    take(parts, 0, "--classifier", "rule.json").done()
    parts.write("m", json.dumps(json.loads((parts.folder / "0.moments").read_text()) | dict([change])))
    parts("merge", "m", "--out", "x").refused(3, "m: ")


@pytest.mark.parametrize("kind, change", [(kind, change) for kind in ("--classifier", "--iterate") for change in ({"rows": 17}, {"sums": {0: -1}}, {"sums": {0: 1e308}}, {"weight": 3})])
def test_sums_of_other_rows(parts, kind, change):
    """A number that somebody changed is not merged as if it were a count."""
    parts("optimise", "--metric", "g-mean", "--validation-probs", "p.npy", "--validation-labels", "y.npy", "--iterate", "run").done()
    take(parts, 0, kind, "rule.json" if kind == "--classifier" else "run").done()
    stored = json.loads((parts.folder / "0.moments").read_text())
    of = stored["files"][0]
    for key, value in change.items():
        if key == "sums":
            for i, number in value.items():
                of["sums"][i] = number
        else:
            of[key] = value
    parts.write("m", json.dumps(stored))
    parts("merge", "m", "--out", "x").refused(3, "m: p-0.npy: the sums are not those of")
