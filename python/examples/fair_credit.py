"""Credit scoring where mistakes, and mistakes that hit men and women differently, are bad: how bad, questions tell."""
import json
from pathlib import Path

import numpy as np
import pandas
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from melicit import Metric, MetricClassifier, Problem, Session, group_report

DATA = Path(__file__).resolve().parents[2] / "data"


def load():
    table = pandas.read_csv(DATA / "credit_default.csv.gz", nrows=8000)
    labels = table["label"].map({0: "paid", 1: "defaulted"})
    X = table.select_dtypes("number").drop(columns="label").assign(female=(table["SEX"] == "female") * 1.0)
    return train_test_split(X, labels, table["SEX"], test_size=0.5, random_state=0, stratify=labels)


def model():
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=500))


def wish(y, sex):
    """What the simulated respondent has in mind: misses count twice, and differences as much as mistakes."""
    share = [[float(((sex == g) & (y == c)).sum() / (y == c).sum()) for c in ("paid", "defaulted")] for g in ("female", "male")]
    return Metric.from_json(json.dumps({
        "format": "melicit-metric", "version": 1, "family": "fair-linear",
        "layout": {"kind": "rates", "coordinates": "offdiagonal", "classes": ["paid", "defaulted"], "groups": ["female", "male"]},
        "coefficients": {"a": [0.45, 0.89], "b": {"1-2": [0.6, 0.8]}, "lambda": 0.5, "prevalence": share},
    }))


def solve(X_train, y_train, sex_train, X_test, sex_test):
    problem = Problem.from_estimator(model(), X_train, y_train, groups=sex_train, pos_label="defaulted")
    session = Session(problem, "fair-linear", max_questions=40).simulate(wish(y_train, sex_train))
    classifier = MetricClassifier(model(), session.metric, pos_label="defaulted", form="threshold")
    return classifier.fit(X_train, y_train, groups=sex_train).predict(X_test, groups=sex_test), session


if __name__ == "__main__":
    X_train, X_test, y_train, y_test, sex_train, sex_test = load()
    decided, session = solve(X_train, y_train, sex_train, X_test, sex_test)
    truth = wish(y_train, sex_train)
    plain = model().fit(X_train, y_train).predict(X_test)
    print(session.metric.describe())
    print(group_report({"recall": "recall", "alarms": "false-positive-rate"}, y_test, decided, sex_test, pos_label="defaulted"))
    print(f"cost {truth(y_test, decided, sex_test):.4f}; of the plain model {truth(y_test, plain, sex_test):.4f}")
    angle = np.degrees(np.arccos(np.clip(session.metric.coefficients[:2] @ truth.coefficients[:2]
                                         / np.linalg.norm(truth.coefficients[:2]), -1, 1)))
    assert angle < 15, "what mistakes weigh was found"
    assert truth(y_test, decided, sex_test) < truth(y_test, plain, sex_test), "the rule is better for what was wished"
