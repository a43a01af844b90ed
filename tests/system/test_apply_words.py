"""What apply, score, rank and predict say: the same value everywhere, names instead of numbers, sentences for what cannot be done."""
import json

import numpy
import pytest
from classes import layout, metric_text

N = 200
ROWS = ("--probs", "p.csv", "--labels", "y.csv")
GROUPS = ("--groups", "g.csv")


def write(melicit, p, y, g):
    """Classes a, b, ..., groups f and m."""
    names = "abcd"[:p.shape[1]]
    melicit.write("p.csv", ",".join(names) + "\n" + "".join(",".join(map(repr, row)) + "\n" for row in p.tolist()))
    melicit.write("y.csv", "y\n" + "".join(names[i] + "\n" for i in y))
    melicit.write("g.csv", "sex\n" + "".join("fm"[i] + "\n" for i in g))


def random_rows(seed, k):
    rng = numpy.random.default_rng(seed)
    g, y = rng.integers(0, 2, N), rng.integers(0, k, N)
    y[(g == 0) & (rng.random(N) < 0.4)] = 0
    z = rng.normal(size=(N, k)) + 1.4 * numpy.eye(k)[y] * (1 - 0.5 * g[:, None])
    p = numpy.exp(z)
    return p / p.sum(axis=1, keepdims=True), y, g


@pytest.mark.parametrize("k, evidence", [(2, "labels"), (3, "calibrated")])
@pytest.mark.parametrize("name", ["g-mean", "min-recall", "q-mean", "q-mean:largest", "balanced-accuracy", "macro-f1", "mcc",
                                  "g-mean:every-group", "min-recall:every-group", "equalised-odds:largest"])
def test_the_value_is_that_of_score(melicit, name, k, evidence):
    """Of all rows together, unless the name is about groups."""
    write(melicit, *random_rows(3 + k, k))
    words = ("--rule", "threshold", "--evidence", evidence, "--out", "c.json", "--json")
    got = melicit("apply", *ROWS, *GROUPS, "--named", name, *words).done().json
    melicit("predict", "--classifier", "c.json", "--probs", "p.csv", *GROUPS, "--out", "d.csv").done()
    score = melicit("score", "--named", name, "--labels", "y.csv", "--predictions", "d.csv", *GROUPS, "--json").done().json
    assert got["by_labels"] == pytest.approx(score["value"], abs=1e-12)
    if evidence == "labels":
        assert got["value"] == pytest.approx(score["value"], abs=1e-9)


def test_groups_help_the_measure_of_all_rows(melicit):
    """Two classes by labels: the best pair of thresholds, by all pairs."""
    p, y, g = random_rows(9, 2)
    write(melicit, p, y, g)
    got = melicit("apply", *ROWS, *GROUPS, "--named", "g-mean", "--evidence", "labels", "--rule", "mixture", "--json").done().json
    found = []
    for group in (0, 1):
        score = p[g == group, 1]
        found.append([[(score[y[g == group] == 1] >= t).sum(), (score[y[g == group] == 0] < t).sum()] for t in numpy.r_[numpy.unique(score), 2]])
    pairs = numpy.array(found[0])[:, None] + numpy.array(found[1])[None]
    best = numpy.sqrt((pairs[..., 0] / (y == 1).sum()) * (pairs[..., 1] / (y == 0).sum())).max()
    assert best - 1e-9 <= got["optimum"] <= best + 5e-3  # mixtures are a little better


def test_every_group_is_said(melicit):
    write(melicit, *random_rows(5, 3))
    for verb in (("apply", *ROWS), ("score", "--labels", "y.csv", "--predictions", "y.csv")):
        melicit(*verb, "--named", "g-mean:every-group").refused(2, "g-mean:every-group needs groups")
        melicit(*verb, *GROUPS, "--named", "mcc:every-group").refused(2, "mcc:every-group: of every group are balanced-accuracy, g-mean")
    one = melicit("score", "--labels", "y.csv", "--predictions", "y.csv", *GROUPS, "--named", "group-f1", "--json").done().json
    assert one["value"] == 1.0 and len([s for s in one["scores"] if "group-f1" in s and s["group-f1"] is not None]) == 1


def test_a_group_without_a_class(melicit):
    """It does not matter to measures of all rows; others name it."""
    p, y, g = random_rows(6, 3)
    keep = ~((g == 0) & (y == 2))
    write(melicit, p[keep], y[keep], g[keep])
    missing = 'group "f" has no rows of class "c"'
    for name in ("g-mean", "macro-f1", "accuracy"):
        out = melicit("apply", *ROWS, *GROUPS, "--named", name, "--evidence", "labels", "--folds", "5").done().out
        assert "no rows of c" in out and "on other rows (5 folds)" in out and "nan" not in out
    melicit("apply", *ROWS, *GROUPS, "--named", "g-mean:every-group", "--evidence", "labels").refused(3, missing)
    out = melicit("apply", *ROWS, *GROUPS, "--named", "g-mean:every-group", "--evidence", "model").done().out
    assert f"on other rows: not known (g-mean:every-group is not defined: {missing})" in out
    by_labels = ("apply", *ROWS, *GROUPS, "--named", "g-mean", "--evidence", "labels")
    melicit(*by_labels, "--at-most", "equalised-odds=0.1").refused(3, "equalised-odds: " + missing)
    melicit(*by_labels, "--at-least", "recall[c][f]=0.1").refused(3, "recall[c][f]: " + missing)
    melicit("score", "--labels", "y.csv", "--predictions", "y.csv", *GROUPS, "--named", "g-mean:difference").refused(
        3, 'group "f": g-mean:difference is not defined: there are no rows of class "c"')


def test_names_instead_of_numbers(melicit):
    p, y, g = random_rows(7, 3)
    write(melicit, p, y, g)
    melicit("apply", *ROWS, "--named", "g-mean", "--folds", "1000").refused(
        3, f'1000 folds, but only {(y == 0).sum()} rows of class "a"')
    melicit("apply", *ROWS, *GROUPS, "--named", "g-mean:every-group", "--folds", "999").refused(
        3, f'999 folds, but only {((y == 0) & (g == 0)).sum()} rows of class "a" in group "f"')
    write(melicit, p, numpy.where(y == 2, 1, y), g)
    melicit("apply", *ROWS, "--named", "g-mean").refused(3, "3 classes, but only 2 of them have rows in y.csv (\"a\" and \"b\")")


def test_score_and_rank_have_the_same_intervals(melicit):
    """Of a metric with intervals of its own, and of one that is known."""
    shape = layout("confusion", "binary", 2, classes=["no", "yes"])
    text = json.loads(metric_text("linear", shape, a=[0.9, 0.436]))
    melicit.write("open.json", json.dumps(dict(text, intervals={"a": [[0.8, 0.97], [0.24, 0.6]]})))
    melicit.write("known.json", metric_text("linear", shape, a=[0.9, 0.436]))
    melicit.write("pool.csv", "name,tp,tn,fp,fn\na,120,700,90,90\nb,150,650,140,60\nc,100,720,70,110\n")
    for metric in ("open.json", "known.json"):
        score = melicit("score", "--metric", metric, "--statistics", "pool.csv", "--json").done().json["scores"]
        rank = melicit("rank", "--metric", metric, "--pool", "pool.csv", "--json").done().json["order"]
        assert {s["name"]: s["interval"] for s in score} == {r["name"]: r["interval"] for r in rank}


def test_groups_of_limits_are_of_the_column(melicit):
    write(melicit, *random_rows(8, 2))
    words = ("apply", *ROWS, *GROUPS, "--named", "accuracy", "--at-least")
    melicit(*words, "recall[b][sexx=f]=0.2").refused(2, 'recall[b][sexx=f]: there are no groups by sexx; the column is "sex"')
    melicit(*words, "recall[b][sex=x]=0.2").refused(2, 'there is no group "sex=x"; groups are "f" and "m"')
    melicit(*words, "recall[x][sex=f]=0.2").refused(2, 'there is no class "x"; classes are "a" and "b"')
    for group in ("f", "sex=f", "Sex=f"):
        melicit(*words, f"recall[b][{group}]=0.2").done()
    melicit.write("g.csv", "sex\n" + "".join("fm"[i] * 2 + "\n" for i in random_rows(8, 2)[2]))
    melicit(*words, "accuracy[sexx=ff]=0.2").refused(2, 'no groups by sexx')


def test_a_metric_of_zeros(melicit):
    write(melicit, *random_rows(8, 2))
    melicit.write("zero.json", metric_text("linear", layout("confusion", "binary", 2, classes=["a", "b"]), a=[0, 0]))
    for verb in (("apply", *ROWS), ("score", "--labels", "y.csv", "--predictions", "y.csv"), ("metric", "--show", "zero.json")):
        words = verb if verb[0] == "metric" else (*verb, "--metric", "zero.json")
        melicit(*words).refused(3, "zero.json: coefficients: all weights are 0")


def test_referred_cases(melicit):
    write(melicit, *random_rows(8, 2))
    melicit("metric", "--cost", "missed=3,false-alarm=1", "--classes", "a,b", "--out", "m.json").done()
    words = ("apply", *ROWS, "--metric", "m.json")
    melicit(*words, "--reject", "0.3", "--rule", "average").refused(2, "--rule average and --reject exclude each other")
    for name in ("refer", "referred"):
        [limit] = melicit(*words, "--reject", "0.3", "--at-most", f"{name}=10%", "--json").done().json["limits"]
        assert limit["achieved"] <= 0.1 + 1e-9
        melicit(*words, "--at-most", f"{name}=10%").refused(2, "nothing is referred without --reject COST")


def test_costs_of_rows_in_words(melicit):
    """Rows are counted as the file has them, its header is row 1."""
    p, y, g = random_rows(8, 2)
    write(melicit, p, y, g)
    melicit("metric", "--cost", "missed=3,false-alarm=1", "--classes", "a,b", "--out", "m.json").done()
    words = ("apply", *ROWS, "--label", "y", "--metric", "m.json", "--row-cost")
    columns = lambda amount: "y,amount\n" + "".join(f"{'ab'[i]},{a}\n" for i, a in zip(y, amount))
    melicit.write("y.csv", columns([0] * N))
    melicit(*words, "amount").refused(3, '--row-cost: all rows of class "a" cost 0 by column "amount"')
    melicit(*words, "b=amount").refused(3, '--row-cost: all rows of class "b" cost 0 by column "amount"')
    melicit.write("y.csv", columns([1] * 5 + [-1] + [1] * (N - 6)))
    melicit(*words, "amount").refused(3, 'y.csv: row 7, column "amount": a cost of -1')
    melicit.write("y.csv", columns(range(1, N + 1)))
    melicit(*words, "b=amount", "--out", "c.json").done()
    decide = ("predict", "--classifier", "c.json", "--probs", "p.csv", "--out", "d.csv", "--features")
    melicit(*decide, "g.csv").refused(3, 'g.csv: no column "amount" (--features); there are sex')
    melicit.write("few.csv", "amount\n1\n2\n")
    melicit(*decide, "few.csv").refused(3, f"few.csv has 2 rows, p.csv has {N}: expected the costs of each row")
    melicit.write("bad.csv", "amount\n" + "1\n" * 5 + "-2\n" + "1\n" * (N - 6))
    melicit(*decide, "bad.csv").refused(3, 'bad.csv: row 7, column "amount": a cost of -2')


def test_costs_in_files(melicit):
    melicit.write("c.csv", "a,b\n0,1\n2,0\n1,1\n")
    melicit("metric", "--costs", "c.csv").refused(3, "c.csv: 3 rows and 2 columns; expected a square of costs")
    melicit.write("c.csv", "a,b,c\n0,1,2\n2,0,1\n")
    melicit("metric", "--costs", "c.csv").refused(3, 'c.csv: row 2 is about "0", but no column is called so')
    melicit.write("c.csv", "a,b\n0,0\n0,0\n")
    melicit("metric", "--costs", "c.csv").refused(3, "no mistake costs anything")
    melicit("metric", "--named", "g-mean").refused(2, "apply, score, rank and optimise take it by its name")


def test_losses_are_percentages(melicit):
    """160%, not 1.6e+02%; no share of nothing; one step."""
    p, y, g = random_rows(6, 3)
    write(melicit, p, y, g)
    out = melicit("apply", *ROWS, *GROUPS, "--named", "equalised-odds", "--evidence", "model").done().out
    assert "e+" not in out and "e-3" not in out and "1 steps" not in out
