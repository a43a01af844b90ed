"""Rows of two classes counted by score: moments --probs, merge, apply --scores, --count-scores of apply, space and elicit, and what they refuse."""
import json

import numpy
import pytest

ROWS, FILES = 800, 4


@pytest.fixture
def scored(melicit):
    """Scores of which many are equal or simple fractions, labels and groups in four files; one group is in two of them only."""
    rng = numpy.random.default_rng(4)
    s = numpy.where(rng.random(ROWS) < 0.5, 0.01 + 0.98 * rng.beta(1, 3, ROWS), rng.integers(1, 8, ROWS) / 8)
    y = numpy.where(rng.random(ROWS) < 0.1 + 0.7 * s, "yes", "no")
    g = numpy.array(list("uvw"))[rng.integers(0, 2, ROWS) + (numpy.arange(ROWS) >= ROWS // 2)]
    for i in range(FILES):
        at = slice(i * ROWS // FILES, (i + 1) * ROWS // FILES)
        numpy.save(melicit.folder / f"s-{i}.npy", s[at])
        for name, of in (("y", y), ("g", g)):
            melicit.write(f"{name}-{i}.csv", name + "\n" + "".join(f"{v}\n" for v in of[at]))
    melicit.rows = s, y, g
    return melicit


FROM = ("--probs", "s-*.npy", "--labels", "y-*.csv")


def found(melicit, *args):
    """What was found, but for the time it took, and the classifier."""
    said = melicit("apply", *args, "--out", "c.json", "--json").done().json
    for key in ("seconds", "inputs"):
        said.pop(key, None)
    return said, (melicit.folder / "c.json").read_bytes()


@pytest.mark.parametrize("asked", [
    ("--named", "f1", "--folds", "3"),
    ("--named", "g-mean", "--evidence", "labels", "--at-most", "flagged=30%"),
    ("--named", "accuracy", "--evidence", "labels", "--at-most", "equalised-odds=0.1"),
    ("--named", "g-mean", "--use-group", "no", "--average"),
])
def test_as_rows(scored, asked):
    """The same from merged counts in any order, from files, and what is said of the rule holds on the rows to the last one."""
    s, y, g = scored.rows
    grouped = ("--groups", "g-*.csv") if any("group" in a or "odds" in a for a in asked) else ()
    counted, file = found(scored, *FROM, *grouped, *asked, "--count-scores")
    for i in range(FILES):
        scored("moments", "--probs", f"s-{i}.npy", "--labels", f"y-{i}.csv", *(("--groups", f"g-{i}.csv") if grouped else ()),
               "--out", f"{i}.moments").done()
    scored("merge", "2.moments", "0.moments", "--out", "a").done()
    scored("merge", "a", "3.moments", "1.moments", "--out", "b").done()
    scored("merge", *(f"{i}.moments" for i in range(FILES)), "--out", "all").done()
    assert (scored.folder / "all").read_bytes() == (scored.folder / "b").read_bytes()
    assert found(scored, "--scores", "b", *asked) == (counted, file)
    exact, _ = found(scored, *FROM, *grouped, *asked)
    near = 0.02 if "--average" in asked else 1e-12 if "--evidence" in asked else 1e-6  # averages are of other draws
    assert counted["value"] == pytest.approx(exact["value"], abs=near)
    assert counted["expected"] == pytest.approx(exact["expected"], abs=0.02)
    (scored.folder / "c.json").write_bytes(file)
    if "--average" in asked or json.loads(file).get("mixture", [0, 0])[1:]:
        return
    scored("predict", "--classifier", "c.json", "--probs", "s-*.npy", *grouped, "--as", "csv", "--out", "d.csv").done()
    said = (scored.folder / "d.csv").read_text().split()[1:]
    right = {c: numpy.mean([d == c for d, of in zip(said, y) if of == c]) for c in ("no", "yes")}
    value = {"f1": None, "g-mean": (right["no"] * right["yes"]) ** 0.5, "accuracy": numpy.mean(said == y)}[asked[1]]
    if value is not None and "labels" in asked:
        assert counted["value"] == pytest.approx(value, abs=1e-12)


def write_certain(melicit, wrong):
    """Rows of which a fifth have a score of exactly 0 or 1, and a share of these another label."""
    rng = numpy.random.default_rng(6)
    s = rng.beta(1.5, 3, ROWS)
    certain = rng.random(ROWS) < 0.2
    s[certain] = s[certain] > 0.4
    y = rng.random(ROWS) < numpy.where(certain, wrong + (1 - 2 * wrong) * s, s ** 1.3)
    for i in range(FILES):
        numpy.save(melicit.folder / f"s-{i}.npy", s[i * ROWS // FILES:(i + 1) * ROWS // FILES])
        melicit.write(f"y-{i}.csv", "y\n" + "".join("yes\n" if v else "no\n" for v in y[i * ROWS // FILES:(i + 1) * ROWS // FILES]))


@pytest.mark.parametrize("wrong", [0, 0.1])
def test_scores_of_0_and_1(melicit, wrong):
    """They have places of their own, next to the first and the last cell: calibration sees what it sees in the rows, also where labels contradict."""
    write_certain(melicit, wrong)
    for asked in (("--named", "g-mean"), ("--named", "f1", "--evidence", "labels"), ("--named", "accuracy", "--at-most", "flagged=20%", "--evidence", "labels")):
        (exact, at), (counted, near) = found(melicit, *FROM, *asked), found(melicit, *FROM, *asked, "--count-scores")
        assert counted["value"] == pytest.approx(exact["value"], abs=1e-7) and counted["by_labels"] == pytest.approx(exact["by_labels"], abs=1e-12)
        assert [r["threshold"] for r in json.loads(near)["rules"]] == pytest.approx([r["threshold"] for r in json.loads(at)["rules"]], abs=1e-6)


@pytest.mark.parametrize("turned", [False, True])
def test_thresholds_next_to_0_and_1(melicit, turned):
    """The best rule tells 0 from all that is above it, or 1 from all that is below: no row of the cell next to it is on the wrong side."""
    rng = numpy.random.default_rng(7)
    s = numpy.where(numpy.arange(400) % 2 == 0, 0.0, 10.0 ** -rng.uniform(6, 11, 400))
    y = (s > 0) == (rng.random(400) < 0.95)
    s = 1 - s if turned else s
    y = ~y if turned else y
    numpy.save(melicit.folder / "s-0.npy", s)
    melicit.write("y-0.csv", "y\n" + "".join("yes\n" if v else "no\n" for v in y))
    said = found(melicit, *FROM, "--named", "accuracy", "--evidence", "labels", "--count-scores")[0]
    melicit("predict", "--classifier", "c.json", "--probs", "s-*.npy", "--out", "d.csv").done()
    right = numpy.mean(((numpy.array((melicit.folder / "d.csv").read_text().split()[1:]) == "yes") == y))
    assert said["value"] == pytest.approx(right, abs=1e-12) and right > 0.9


def test_refused(scored):
    def take(to, *args):
        return scored("moments", "--out", to, *args)

    take("0", "--probs", "s-0.npy", "--labels", "y-0.csv").done()
    take("g", "--probs", "s-1.npy", "--labels", "y-1.csv", "--groups", "g-1.csv").done()
    take("o", "--probs", "s-1.npy", "--labels", "y-1.csv", "--positive", "no").done()
    scored("merge", "0", "0", "--out", "x").refused(3, "the rows of s-0.npy are there twice")
    scored("merge", "0", "g", "--out", "x").refused(3, "some of the scores are by group")
    scored("merge", "0", "o", "--out", "x").refused(3, "they do not add up")
    scored("merge", "0", "--model", "0", "--out", "x").refused(2, "apply --scores")
    scored.write("t.csv", "x,label\n1,no\n2,yes\n3,no\n4,yes\n")
    scored("train", "--data", "t.csv", "--test-share", 0, "--out", "m.json").done()
    take("t", "--shard", "t.csv", "--model", "m.json").done()
    scored("merge", "0", "t", "--out", "x").refused(3, "t: these are no counts of scores")
    scored("merge", "t", "0", "--out", "x").refused(3, '0: these are moments of another kind')
    take("x", "--shard", "t.csv", "--probs", "s-0.npy").refused(2, "give one of both")
    take("x", "--probs", "s-0.npy").refused(2, "--labels")
    take("x", "--probs", "s-*.npy", "--labels", "y-0.csv").refused(2, "y-0.csv is one file")
    take("x", "--shard", "t.csv").refused(2, "give --shard FILE with --model")
    for args in (("--scores", "0", "--probs", "s-0.npy"), ("--scores", "0", "--row-cost", "x"), ("--scores", "0", "--class-prior-from", "s-0.npy"), ("--scores", "0", "--rule", "hash"),
                 ("--count-scores", *FROM, "--use-group", "joint"), ("--scores", "0", "--count-scores")):
        scored("apply", "--named", "f1", *args).refused(2, "exclude each other")
    scored("apply", "--named", "f1", "--at-most", "equalised-odds=0.1", "--scores", "0").refused(2, "not by group")
    scored("apply", "--named", "f1", "--scores", "t").refused(3, "t: these are no counts of scores")
    (scored.folder / "s-3.npy").unlink()
    scored("apply", "--named", "f1", *FROM, "--count-scores").refused(3, "have the same text in place of the *")


ANSWER = "cmd:while read question; do echo a; done"


def test_faces(scored):
    """The face of counted scores is that of the rows, as scores in one cell are equal here; sessions go on with it."""
    exact, counted = (scored("space", *FROM, *more, "--smooth", "--point", "0.1,0.4", "--json").done().json for more in ((), ("--count-scores",)))
    assert counted["rows"] == exact["rows"] == ROWS
    for key in ("positives", "area", "radius", "n_vertices", "smooth"):
        near = 1e-3 if key == "smooth" else 1e-6  # thresholds of the fit are scores that many rows have: a millionth decides about them
        assert counted[key] == pytest.approx(exact[key], abs=near), key
    rules = [one["classifier"]["rules"][0]["threshold"] for one in (exact, counted)]
    assert rules[0] == pytest.approx(rules[1], abs=2e-6)
    ask = ("elicit", "--oracle", ANSWER, "--json", "--max-questions")
    whole = scored(*ask, 5, *FROM, "--count-scores").done().json
    scored(*ask, 2, *FROM, "--count-scores", "--session", "s.jsonl").done()
    going_on = scored(*ask, 5, "--session", "s.jsonl").done().json
    assert going_on["metric"] == whole["metric"]
    scored("elicit", "--oracle", ANSWER, "--max-questions", 6, *FROM, "--session", "s.jsonl").refused(6, "count_scores")
    point = [scored("apply", *FROM, *more, "--point", "0.1,0.4", "--json").done().json["classifier"]["rules"] for more in ((), ("--count-scores",))]
    assert [rule["share"] for rule in point[0]] == pytest.approx([rule["share"] for rule in point[1]], abs=1e-9)


@pytest.mark.parametrize("more, sentence", [
    (("--kind", "rates"), "needs the rows themselves"), (("--evidence", "model"), "needs the rows themselves"),
    (("--groups", "g-*.csv"), "needs the rows themselves"), (("--coordinates", "offdiagonal"), "needs the rows themselves"),
])
def test_spaces_that_need_rows(scored, more, sentence):
    scored("space", *FROM, *more, "--count-scores").refused(2, sentence)


@pytest.mark.parametrize("change", [("cell", [3, 3]), ("first", [-1, 2]), ("group", [1, 1]), ("cell", [1 << 20, 1]), ("classes", ["a", "a"]),
                                    ("first", [0.5, 1]), ("cells", 64), ("files", [])])
def test_files_that_are_wrong(melicit, change):
    right = {"format": "melicit-moments", "version": 1, "kind": "scores", "cells": 1 << 20, "classes": ["no", "yes"], "groups": [],
             "files": ["f"], "cell": [3, 700000], "group": [0, 0], "first": [2, 1], "second": [1, 2]}
    melicit.write("s", json.dumps(right))
    melicit("apply", "--named", "f1", "--evidence", "labels", "--scores", "s").done()
    melicit.write("s", json.dumps(right | dict([change])))
    melicit("apply", "--named", "f1", "--scores", "s").refused(3, "s: ")
