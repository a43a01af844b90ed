"""Which of two classes is positive: said in text and JSON, and asked for where texts do not tell and it matters."""
import json

import numpy
import pytest
from sklearn import metrics

N = 300


@pytest.fixture
def rows(melicit):
    """Labels cancer and healthy, probabilities, predictions; returns what is truly so and what is predicted."""
    rng = numpy.random.default_rng(11)
    p = rng.random(N)
    y, said = rng.random(N) < p, p > 0.6

    def write(names):
        for file, values in (("y.csv", y), ("a.csv", said)):
            melicit.write(file, "v\n" + "".join(f"{names[int(v)]}\n" for v in values))
        melicit.write("p.csv", ",".join(names) + "\n" + "".join(f"{1 - v!r},{v!r}\n" for v in p.tolist()))

    write(("healthy", "cancer"))
    return y, said, write


LABELS = ("--labels", "y.csv")
VERBS = {
    "score": ("score", *LABELS, "--predictions", "a.csv", "--named"),
    "rank": ("rank", *LABELS, "--predictions", "a.csv", "--named"),
    "apply": ("apply", *LABELS, "--probs", "p.csv", "--named"),
    "optimise": ("optimise", *LABELS, "--probs", "p.csv", "--validation-probs", "p.csv", "--validation-labels", "y.csv", "--metric"),
    "metric": ("metric", *LABELS, "--named"),
}


@pytest.mark.parametrize("verb", VERBS)
def test_texts_need_a_positive_class_where_it_matters(melicit, rows, verb):
    y, said, write = rows
    words = VERBS[verb]
    melicit(*words, "f1").refused(2, "f1", "--positive cancer or --positive healthy")
    for positive in ("cancer", "healthy"):
        got = melicit(*words, "f1", "--positive", positive, "--json").done().json
        assert got["positive"] == positive
        if verb == "score":
            names = numpy.array(["healthy", "cancer"])
            assert got["value"] == pytest.approx(metrics.f1_score(names[y.astype(int)], names[said.astype(int)], pos_label=positive))
    if verb in ("score", "rank", "optimise"):
        assert "the positive class is cancer" in melicit(*words, "f1", "--positive", "cancer").done().out
    assert melicit(*words, "f1", "--classes", "healthy,cancer", "--json").done().json["positive"] == "cancer"
    assert melicit(*words, "accuracy", "--json").done().json["positive"] == "healthy"  # by the alphabet: it does not matter
    for names in (("no", "yes"), ("0", "1"), ("False", "True"), ("negative", "positive"), ("N", "Y"), ("1", "2")):
        write(names)
        assert melicit(*words, "f1", "--json").done().json["positive"] == names[1]
    write(("YES", "no"))  # the alphabet has them the wrong way round
    melicit(*words, "f1").refused(2, "--positive")


def test_metrics_of_roles_need_to_know_who_is_positive(melicit, rows):
    """missed and false-alarm say nothing about cancer and healthy; a metric that names its classes does."""
    y, said, _ = rows
    melicit("metric", "--cost", "missed=7,false-alarm=1", "--out", "roles.json").done()
    melicit("metric", "--cost", "missed=7,false-alarm=1", "--classes", "healthy,cancer", "--out", "named.json").done()
    melicit("metric", "--cost", "missed=2,false-alarm=2", "--out", "same.json").done()
    cost = numpy.where(y, 7.0 * ~said, said).mean()
    for words in (VERBS["score"][:-1], VERBS["rank"][:-1], VERBS["apply"][:-1]):
        melicit(*words, "--metric", "roles.json").refused(2, "roles.json", "--positive cancer")
        assert melicit(*words, "--metric", "roles.json", "--positive", "cancer", "--json").done().json["positive"] == "cancer"
        got = melicit(*words, "--metric", "named.json", "--json").done().json
        assert got["positive"] == "cancer"
        melicit(*words, "--metric", "same.json").done()
        if words[0] == "score":
            assert got["value"] == pytest.approx(cost)
    melicit(*VERBS["apply"], "accuracy", "--at-most", "flagged=10%").refused(2, "flagged", "--positive cancer")
    melicit(*VERBS["apply"], "accuracy", "--at-most", "flagged=90%", "--positive", "cancer").done()


def test_every_object_about_two_classes_says_it(melicit, rows):
    melicit("metric", "--cost", "missed=7,false-alarm=1", "--classes", "healthy,cancer", "--out", "m.json").done()
    problem = ("--probs", "p.csv", *LABELS, "--positive", "cancer")
    for words in (("space", *problem), ("elicit", *problem, "--oracle", "sim:m.json", "--max-questions", 3), ("metric", "--show", "m.json"),
                  ("apply", "--population", "logistic:a=5,b=0", "--classes", "healthy,cancer", "--metric", "m.json")):
        assert melicit(*words, "--json").done().json["positive"] == "cancer", words
    melicit.write("t.csv", "x,label\n" + "".join(f"{i % 7},{'cancer' if i % 7 > 3 else 'healthy'}\n" for i in range(70)))
    assert melicit("train", "--data", "t.csv", "--positive", "cancer", "--json").done().json["positive"] == "cancer"
    three = melicit("metric", "--named", "accuracy", "--classes", "a,b,c", "--json").done().json
    assert "positive" not in three and json.dumps(three)
