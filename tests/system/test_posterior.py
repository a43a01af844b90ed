"""What active sessions tell beyond the metric: ends by decision, priors, "can't say", consistency, ratios, ranking by a
session's own draws, and several respondents."""
import json
import re

import numpy
import pytest
from classes import SOFTMAX, layout, metric_text, unit

pytestmark = pytest.mark.plain("about numbers, and takes long", soak=True)

FACE = ("--population", "logistic:a=5,b=0")
BINARY = layout("confusion", "binary", 2)
POOL = "name,tp,tn\nx,0.33,0.35\ny,0.30,0.42\nz,0.1,0.44\n"


@pytest.fixture
def doctor(melicit):
    melicit.write("t.json", metric_text("linear", BINARY, a=unit([0.9, 0.3])))
    melicit.write("pool.csv", POOL)
    return melicit


def test_until_rank(doctor):
    plain = doctor("elicit", *FACE, "--oracle", "sim:t.json", "--json").done().json
    got = doctor("elicit", *FACE, "--oracle", "sim:t.json", "--until", "rank:pool.csv", "--session", "s.jsonl",
                 "--report", "r.html", "--json").done().json
    assert got["end"] == "decided" and got["questions"] < plain["questions"]
    assert "can no longer change: the order of the classifiers is settled" in (doctor.folder / "r.html").read_text()
    again = doctor("elicit", "--session", "s.jsonl", "--oracle", "sim:t.json", "--json").done().json
    assert again["end"] == "decided" and again["metric"] == got["metric"]
    ranked = doctor("rank", "--session", "s.jsonl", "--pool", "pool.csv", "--json").done().json
    assert [one["name"] for one in ranked["order"]] == ["x", "y", "z"]
    assert ranked["order_probability"] >= 0.95
    header = json.loads((doctor.folder / "s.jsonl").read_text().splitlines()[0])
    assert header["options"]["until"] == "rank" and header["options"]["pool"][2] == [0.1, 0.44]
    doctor.write("pool.csv", POOL.replace("0.42", "0.41"))
    doctor("elicit", *FACE, "--oracle", "sim:t.json", "--until", "rank:pool.csv", "--session", "s.jsonl").refused(
        6, "options.pool")
    doctor("report", "--session", "s.jsonl", "--out", "again.html").done()


def test_until_threshold_text(doctor):
    """A face of many thresholds is decided only when the tolerance is long reached: whichever comes first."""
    got = doctor("elicit", *FACE, "--oracle", "sim:t.json", "--until", "threshold", "--json").done().json
    assert got["end"] == "tolerance"
    text = doctor("elicit", *FACE, "--oracle", "sim:t.json", "--until", "rank:pool.csv").done().out
    assert "the decision it was for can no longer change" in " ".join(text.split())


def test_prior(doctor):
    plain = doctor("elicit", *FACE, "--oracle", "sim:t.json", "--json").done().json
    got = doctor("elicit", *FACE, "--oracle", "sim:t.json", "--known", "prior=t.json:2500", "--session", "s.jsonl",
                 "--json").done().json
    assert got["questions"] < plain["questions"]
    assert numpy.allclose(got["metric"]["coefficients"]["a"], unit([0.9, 0.3]), atol=0.03)
    again = doctor("elicit", "--session", "s.jsonl", "--oracle", "sim:t.json", "--json").done().json
    assert again["metric"] == got["metric"]
    doctor("elicit", *FACE, "--oracle", "sim:t.json", "--known", "prior=t.json:9", "--session", "s.jsonl").refused(
        6, "options.prior")


@pytest.mark.parametrize("words, code, parts", [
    (("--until", "bored"), 2, ["until bored", "expected one of tolerance, rank, threshold, rule"]),
    (("--until", "rank:"), 2, ["until rank:", "expected one of tolerance, rank"]),
    (("--until", "rank:nothing.csv"), 3, ["nothing.csv"]),
    (("--until", "threshold", "--strategy", "search"), 2, ["active strategy"]),
    (("--until", "threshold", "--family", "linear-fractional"), 2, ["two classes"]),
    (("--known", "prior=t.json"), 2, ["METRIC.json:S"]),
    (("--known", "prior=t.json:0"), 2, ["S above 0"]),
    (("--known", "prior=t.json:-3"), 2, ["S above 0"]),
    (("--known", "prior=t.json:1e9"), 2, ["at most"]),
    (("--known", "prior=none.json:4"), 3, ["none.json"]),
    (("--known", "prior=t.json:4", "--family", "linear-fractional"), 2, ["linear metric"]),
    (("stray.jsonl",), 2, ["stray.jsonl", "--respondents"]),
])
def test_refusals(doctor, words, code, parts):
    doctor("elicit", *FACE, "--oracle", "sim:t.json", *words).refused(code, *parts)


def test_cannot_say(doctor):
    """A program that can say nothing about every second question."""
    program = ("cmd:while read -r l; do case $l in *'\"question\": '[13579],*) echo '?';; *) echo A;; esac; done")
    got = doctor("elicit", *FACE, "--oracle", program, "--max-questions", 8, "--session", "s.jsonl", "--report",
                 "r.html", "--json").done().json
    assert got["questions"] == 8 and got["skipped"] == 4
    lines = [json.loads(line) for line in (doctor.folder / "s.jsonl").read_text().splitlines()[1:]]
    assert [line["answer"] for line in lines] == ["?", "A"] * 4
    assert all(lines[i]["a"] not in (lines[i + 1]["a"], lines[i + 1]["b"]) for i in range(0, 8, 2))
    assert "4 of 8 questions were answered &quot;can&#39;t say&quot;." in (doctor.folder / "r.html").read_text()
    text = doctor("elicit", "--session", "s.jsonl", "--oracle", program).done().out
    assert '4 of 8 questions were answered "can\'t say".' in " ".join(text.split())


def test_keys(doctor):
    text = doctor("elicit", *FACE, "--session", "s.jsonl", stdin="s\na\nskip\nq\n").out
    assert "s can't say" in text
    lines = [json.loads(line) for line in (doctor.folder / "s.jsonl").read_text().splitlines()[1:]]
    assert [line["answer"] for line in lines] == ["?", "A", "?"]


def test_inconsistent_respondent_is_named(doctor):
    program = ("cmd:i=3; while read -r l; do i=$(((i * 1103515245 + 12345) % 2147483648)); "
               "if [ $((i / 65536 % 2)) = 0 ]; then echo A; else echo B; fi; done")
    words = ("elicit", *FACE, "--oracle", program, "--ask", "repeat-every=2", "--max-questions", 60, "--tolerance", 1e-6,
             "--session", "s.jsonl", "--report", "r.html")
    got = doctor(*words, "--json").done().json
    assert got["consistency"] < 0.05 and got["consistency_label"] == "inconsistent"
    assert "are not consistent" in (doctor.folder / "r.html").read_text()
    steady = doctor("elicit", *FACE, "--oracle", "sim:t.json", "--assume", "flip", "--json").done().json
    assert steady["consistency"] == 1 and steady["consistency_label"] == "consistent"
    assert "The metric agrees with every answer." in doctor("elicit", *FACE, "--oracle", "sim:t.json").done().out


# Costs of a fair metric of two classes and two groups, exactly; "chance" answers by a coin.
FAIR_RESPONDENT = """import json, random, sys
rng = random.Random(int(sys.argv[2]))
shares = json.loads(sys.argv[1])
def cost(x):
    groups = [x[:2], x[2:]]
    mistakes = sum(w * sum(s[i] * g[i] for s, g in zip(shares, groups)) for i, w in enumerate((0.6, 0.8)))
    return 0.6 * mistakes + 0.4 * sum(0.7 * abs(groups[0][i] - groups[1][i]) for i in range(2))
for line in sys.stdin:
    q = json.loads(line)
    better = cost(q["a"]["statistics"]) < cost(q["b"]["statistics"])
    print("A" if (rng.random() < 0.5 if sys.argv[3] == "chance" else better) else "B", flush=True)
"""
GERMAN = ("elicit", "--data", "german_credit", "--group", "sex", "--classes", "paid,defaulted", "--family", "fair-linear")


def test_perfect_and_random_programs(melicit):
    """Forty-odd consistent answers of a program are not compared with tossed coins; answers by chance are."""
    melicit.write("fair.py", FAIR_RESPONDENT)
    space = melicit("space", *GERMAN[1:-2], "--thesis", "coordinates=offdiagonal", "--thesis", "kind=rates", "--json").done().json
    shares = json.dumps(space["prevalence"]).replace(" ", "")
    told = []
    for how, seed in (("exact", 1), *(("chance", seed) for seed in range(1, 9))):
        oracle = ("--oracle", f"cmd:exec python3 fair.py {shares} {seed} {how}", "--radius", 0.2, "--max-questions", 60)
        text = " ".join(melicit(*GERMAN, *oracle).done().out.split())
        assert how == "chance" or "explains them better than tossed coins" in text, text
        assert "tossed coins explain them" not in text or how == "chance"
        told.append("The answers are not consistent" in text)
    # 28 of 40 who toss coins are told so; with that share fewer than three of eight are one time in a hundred.
    assert not told[0] and sum(told) >= 3


FAMILIES = [
    (("--population", "logistic:a=5,b=0"), "linear", {"a": [0.8, 0.6]}, "binary"),
    (("--population", "logistic:a=5,b=0"), "linear-fractional", {"p": [0.8, 0.2], "p0": 0, "q": [0.3, 0.1], "q0": 0.3}, "binary"),
    (("--population", "softmax:1,3,5"), "diagonal-linear", {"a": [0.2, 0.3, 0.5]}, "diagonal"),
    (("--population", "softmax:1,3,5"), "linear", {"a": [-0.5, -0.4, -0.4, -0.3, -0.5, -0.3]}, "offdiagonal"),
    (("--population", "softmax:1,3,5"), "diagonal-linear-fractional", {"a": [0.2, 0.3, 0.5], "b": [0.1, 0.2, 0.1], "b0": 1},
     "diagonal"),
    (("--ball", 2, "--radius", 0.2), "quadratic", {"a": [0.6, 0.5], "B": [[0.5, 0.1], [0.1, 0.35]]}, "offdiagonal"),
    (("--ball", 2, "--radius", 0.2), "polynomial:2", {"a": [0.6, 0.5], "B": [[0.5, 0.1], [0.1, 0.35]]}, "offdiagonal"),
]


@pytest.mark.parametrize("space,family,coefficients,coordinates", FAMILIES, ids=[row[1] + "-" + row[3] for row in FAMILIES])
def test_perfect_respondents(melicit, space, family, coefficients, coordinates):
    classes = 3 if "softmax:1,3,5" in space else 2
    cost = family.startswith(("quadratic", "polynomial"))
    layout = {"kind": "rates" if cost else "confusion", "coordinates": coordinates,
              "classes": [str(i) for i in range(classes)], "groups": []}
    melicit.write("t.json", json.dumps({"format": "melicit-metric", "version": 1, "family": family, "layout": layout,
                                        "orientation": "cost" if cost else "utility", "coefficients": coefficients}))
    words = ("elicit", *space, "--family", family, "--oracle", "sim:t.json", "--assume", "flip", "--max-questions", 40)
    for repeats in (0, 6):
        text = " ".join(melicit(*words, "--ask", f"repeat-every={repeats}").done().out.split())
        assert "tossed coins explain them" not in text and "not consistent" not in text and "doubtful" not in text, text
        assert repeats == 0 or re.search("consistent: .* explains them better than tossed coins", text), text


def test_answers_that_may_be_flipped(doctor):
    """What is said rests on the evidence against coin tosses; a prior may be what the answers speak against."""
    few = doctor("elicit", *FACE, "--oracle", "sim:t.json", "--assume", "flip", "--max-questions", 1).done()
    text = " ".join(few.out.split())
    assert "The metric agrees with every answer." in text and "Too few questions came back to rule out chance." in text
    few = doctor("elicit", *FACE, "--oracle", "sim:t.json", "--assume", "flip", "--max-questions", 1, "--json").done()
    assert few.json["consistency_label"] == "undecided" and few.json["consistency"] > 0.2
    steady = doctor("elicit", *FACE, "--oracle", "sim:t.json", "--assume", "flip").done().out
    assert "a metric of this kind explains them better than tossed coins would" in " ".join(steady.split())
    program = ("cmd:i=3; while read -r l; do i=$(((i * 1103515245 + 12345) % 2147483648)); "
               "if [ $((i / 65536 % 2)) = 0 ]; then echo A; else echo B; fi; done")
    doctor.write("far.json", metric_text("linear", BINARY, a=unit([0.1, 0.9])))
    for prior in ((), ("--known", "prior=far.json:1000")):
        words = ("elicit", *FACE, "--oracle", program, *prior, "--assume", "flip", "--max-questions", 60, "--tolerance",
                 1e-6, "--ask", "repeat-every=2")
        text = " ".join(doctor(*words).done().out.split())
        assert re.search("The metric itself would have answered [0-9]+ of the 60 questions differently.", text)
        assert "The answers are not consistent: tossed coins explain them better" in text
        assert ("speak against the metric that was thought likely beforehand" in text) == bool(prior)


def test_what_is_known_after_twenty_questions(melicit):
    """A person's budget is 20; afterwards the result says which weights are known and which are not."""
    got = melicit("elicit", *SOFTMAX, "--session", "s.jsonl", stdin="a\nb\n" * 30).done()
    text = " ".join(got.out.split())
    assert len((melicit.folder / "s.jsonl").read_text().splitlines()) == 21
    assert "the most allowed" in text and "is known" in text and "still wide" in text
    melicit.write("t.json", metric_text("linear", layout("confusion", "offdiagonal", 3), a=unit([-1, -2, -3, -1, -2, -1])))
    found = melicit("elicit", *SOFTMAX, "--oracle", "sim:t.json", "--json").done().json
    ratios = found["ratios"]
    assert len(ratios) == 5 and {one["of"] for one in ratios} == {2}
    for one, want in zip(ratios, [1 / 3, 2 / 3, 1 / 3, 2 / 3, 1 / 3]):
        assert one["interval"][0] <= one["ratio"] <= one["interval"][1] and not one["wide"]
        assert one["ratio"] == pytest.approx(want, abs=0.1)
    # The sentence about the largest and the smallest has the interval of their ratio, not of each alone.
    low, high = map(float, re.search(r"times as much as .*; 95% between ([0-9.]+) and ([0-9.]*[0-9])", found["words"]).groups())
    least = min(ratios, key=lambda one: one["ratio"])
    assert (low, high) == pytest.approx([1 / end for end in reversed(least["interval"])], rel=0.02)


def test_pool(doctor):
    doctor.write("u.json", metric_text("linear", BINARY, a=unit([0.5, 0.8])))
    for name, truth, seed in ("a", "t", 1), ("b", "t", 2), ("c", "u", 3):
        doctor("elicit", *FACE, "--oracle", f"sim:{truth}.json", "--assume", "flip", "--seed", seed, "--session",
               f"{name}.jsonl", "--json").done()
    got = doctor("elicit", "--respondents", "a.jsonl", "b.jsonl", "c.jsonl", "--out", "joint.json", "--json").done().json
    assert [one["session"] for one in got["respondents"]] == ["a.jsonl", "b.jsonl", "c.jsonl"]
    angle = {(one["first"][0], one["second"][0]): one for one in got["disagreement"]}
    want = numpy.arctan2(0.8, 0.5) - numpy.arctan2(0.3, 0.9)
    assert angle["a", "b"]["angle"] < 0.05
    for pair in ("a", "c"), ("b", "c"):
        low, high = angle[pair]["interval"]
        assert low <= angle[pair]["angle"] <= high and low - 0.02 <= want <= high + 0.02
    assert got["respondents"][2]["contradicted"] > got["respondents"][0]["contradicted"]
    assert json.loads((doctor.folder / "joint.json").read_text()) == got["metric"]
    text = doctor("elicit", "--respondents", "a.jsonl", "--respondents", "c.jsonl").done().out
    assert "All together" in text and "How much they disagree" in text


def test_pool_refusals(doctor):
    one = ("elicit", *FACE, "--oracle", "sim:t.json", "--json")
    doctor(*one, "--session", "a.jsonl").done()
    doctor(*one, "--session", "search.jsonl", "--strategy", "search").done()
    doctor("elicit", "--population", "logistic:a=4,b=0", "--oracle", "sim:t.json", "--session", "other.jsonl",
           "--json").done()
    doctor("elicit", "--respondents", "a.jsonl").refused(2, "two or more")
    doctor("elicit", "--respondents", "a.jsonl", "none.jsonl").refused(3, "none.jsonl")
    doctor("elicit", "--respondents", "a.jsonl", "other.jsonl").refused(3, "other.jsonl is about other data")
    doctor("elicit", "--respondents", "a.jsonl", "search.jsonl").refused(2, "session 2 is a search")
    doctor("elicit", "--respondents", "a.jsonl", "a.jsonl", "--session", "s.jsonl").refused(2, "asks nothing")
    (doctor.folder / "copy.jsonl").write_bytes((doctor.folder / "a.jsonl").read_bytes())
    for again in "a.jsonl", "copy.jsonl":
        doctor("elicit", "--respondents", "a.jsonl", again).refused(2, f"{again} is the session of a.jsonl again", "one person counts once")
    doctor("rank", "--pool", "pool.csv").refused(2, "one of --metric METRIC.json, --session FILE.jsonl and --named NAME")


def test_people_differ(doctor):
    """What the joint metric's intervals do not say: the spread of the persons' own metrics, and a warning."""
    doctor.write("u.json", metric_text("linear", BINARY, a=unit([0.2, 0.9])))
    for name, truth, seed in ("a", "t", 1), ("b", "t", 2), ("c", "u", 3):
        doctor("elicit", *FACE, "--oracle", f"sim:{truth}.json", "--assume", "flip", "--max-questions", 40, "--tolerance",
               0.001, "--seed", seed, "--session", f"{name}.jsonl", "--json").done()
    got = doctor("elicit", "--respondents", "a.jsonl", "b.jsonl", "c.jsonl", "--json").done().json
    assert got["differ"] and got["respondents"][2]["agreement"] < 0.01
    low, high = got["spread"][0]["range"]
    assert low < 0.3 < 0.9 < high and got["spread"][0]["deviation"] > 0.2
    text = " ".join(doctor("elicit", "--respondents", "a.jsonl", "c.jsonl").done().out.split())
    assert "do not all want the same" in text and "persons: lowest" in text and "0 degrees is the same metric" in text
    alike = doctor("elicit", "--respondents", "a.jsonl", "b.jsonl", "--json").done().json
    assert not alike["differ"] and alike["disagreement"][0]["interval"][0] == 0


RATES = layout("rates", "offdiagonal", 3)
FRACTION = dict(a=[-0.1, -0.2, -0.3, -0.2, -0.1, -0.1], b=[0.3, 0.1, -0.2, 0.1, 0, 0.2], b0=1)
BALL = ("--ball", 3, "--radius", 0.2)


def test_prior_of_a_fraction(melicit):
    melicit.write("t.json", metric_text("linear-fractional", RATES, **FRACTION))
    words = ("elicit", *BALL, "--family", "linear-fractional", "--oracle", "sim:t.json", "--tolerance", 0.1, "--json")
    assert melicit(*words, "--known", "prior=t.json:100").done().json["questions"] < melicit(*words).done().json["questions"]


def test_wrong_direction_is_noticed(melicit):
    melicit.write("t.json", metric_text("linear", RATES, a=unit([1, 2, 3, 2, 1.5, 1])))
    words = ("elicit", *BALL, "--oracle", "sim:t.json", "--session", "s.jsonl", "--report", "r.html")
    got = melicit(*words, "--json").done().json
    assert got["signs"] == "open"
    assert "Which way do they count" in " ".join(melicit(*words).done().out.split())
    assert "Which way do they count" in (melicit.folder / "r.html").read_text()
    again = melicit("elicit", *BALL, "--oracle", "sim:t.json", "--known", "direction=unknown", "--json").done().json
    assert "signs" not in again and numpy.allclose(again["metric"]["coefficients"]["a"], unit([1, 2, 3, 2, 1.5, 1]), atol=0.04)
    melicit("elicit", *BALL, "--ask", "simple-questions,simple-questions=no").refused(2, "--ask simple-questions is given twice")


@pytest.mark.parametrize("family, ball, words", [
    ("linear", "3", {"a": unit([-1, -2, -3, -2, -1.5, -1])}),
    ("linear-fractional", "3", FRACTION),
    ("quadratic", "2", {"a": [0.6, 0.6], "B": [[0.3, 0], [0, 0.3]]}),
    ("polynomial:3", "2", {"a": [0.6, 0.6], "B": [[0.3, 0], [0, 0.3]], "C": [[[0.1, 0], [0, 0]], [[0, 0], [0, 0.1]]]}),
    ("fair-linear", "2,2", {"a": unit([1, 2]), "b": {"1-2": unit([1, 1])}, "lambda": 0.4,
                            "prevalence": [[0.5, 0.5], [0.5, 0.5]]}),
    ("fair-quadratic", "2,2", {"a": unit([1, 2]), "B": {"1-2": [[0.7, 0], [0, 0.7]]}, "lambda": 0.4,
                               "prevalence": [[0.5, 0.5], [0.5, 0.5]]}),
])
def test_until_rank_of_every_family(melicit, family, ball, words):
    """On a ball, with groups too: one classifier is better than the other in everything, a third is in between."""
    k, groups = int(ball[0]), ("1", "2") if "," in ball else ()
    size = k * (k - 1) * max(1, len(groups))
    orientation = "utility" if family.startswith("linear") else "cost"
    melicit.write("t.json", metric_text(family, layout("rates", "offdiagonal", k, groups), orientation, **words))
    rows = [[1 / k + step] * size for step in (-0.05, 0.05, 0)]
    entries = [f"{g}:{i}>{j}".lstrip(":") for g in groups or ("",) for i in range(k) for j in range(k) if i != j]
    melicit.write("pool.csv", "name," + ",".join(entries) + "\n" + "".join(
        f"c{i}," + ",".join(map(str, row)) + "\n" for i, row in enumerate(rows)))
    got = melicit("elicit", "--ball", ball, "--radius", 0.2, "--family", family, "--oracle", "sim:t.json", "--until",
                  "rank:pool.csv", "--session", "s.jsonl", "--max-questions", 150, "--json").done().json
    assert got["end"] == "decided"
    ranked = melicit("rank", "--session", "s.jsonl", "--pool", "pool.csv", "--json").done().json
    assert [one["name"] for one in ranked["order"]] == ["c0", "c2", "c1"] and ranked["order_probability"] >= 0.95


@pytest.mark.parametrize("words", [("--ball", "3", "--radius", 0.2),
                                   ("--ball", "2,2", "--radius", 0.3, "--family", "fair-linear"),
                                   ("--ball", "2", "--radius", 0.4, "--family", "quadratic")])
def test_a_persons_session(melicit, words):
    """20 questions about pairs that differ in two numbers; then what is known and what is not."""
    text = " ".join(melicit("elicit", *words, "--session", "s.jsonl", "--report", "r.html",
                            stdin="a\nb\nb\na\na\n" * 5).done().out.split())
    header, *lines = map(json.loads, (melicit.folder / "s.jsonl").read_text().splitlines())
    assert len(lines) == 20 and header["options"]["simple_questions"]
    if words[1] == "3":
        assert all(sum(a != b for a, b in zip(line["a"], line["b"])) <= 2 for line in lines[:15])
    assert "is known" in text and "would settle" not in text and ("fair" not in str(words) or "lambda" in text)
    page = (melicit.folder / "r.html").read_text()
    known = r"known to a factor of 2|The sign of [0-9]+ of (the )?[0-9]+ (largest )?weights is known"
    assert re.search(known, page) and re.search(known, text)


def test_far_questions_by_a_factor(melicit):
    """A tolerance that is a factor of the cost ratio is what results of far questions speak of, too."""
    melicit.write("doctor.json", metric_text("linear", layout("confusion", "binary", 2), a=unit([7, 1])))
    got = melicit("elicit", "--population", "logistic:a=5,b=0", "--oracle", "sim:doctor.json", "--questions", "far", "--tolerance", "1.6x",
                  "--assume", "flip", "--max-questions", "6", "--json").done().json
    said = {s["key"]: s["text"] for s in got["statements"]}
    assert said["precision"].endswith("you asked for 1.6.")
