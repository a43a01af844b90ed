"""Whom to send for a biopsy: a doctor answers twenty questions, out comes the threshold for a model of scikit-learn.

The doctor is simulated here: one missed cancer is as bad as seven false alarms, and one answer in ten is wrong.
"""
from pathlib import Path

import pandas
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from melicit import Metric, MetricClassifier, Problem, Session

DATA = Path(__file__).resolve().parents[2] / "data"
DOCTOR = Metric.from_costs({("malignant", "benign"): 7, ("benign", "malignant"): 1}, classes=["benign", "malignant"])


def load():
    table = pandas.read_csv(DATA / "mammographic_mass.csv.gz", na_values="?")
    features = pandas.get_dummies(table.drop(columns="label"))
    return train_test_split(features, table["label"], test_size=0.4, random_state=0, stratify=table["label"])


def model():
    return make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression())


def solve(X_train, y_train, X_test):
    problem = Problem.from_estimator(model(), X_train, y_train, pos_label="malignant")
    session = Session(problem, until="ratio").simulate(DOCTOR, noise="flip:0.1")  # melicit.ask(session) asks you
    classifier = MetricClassifier(model(), session.metric, pos_label="malignant").fit(X_train, y_train)
    return classifier.predict(X_test), session, classifier


if __name__ == "__main__":
    X_train, X_test, y_train, y_test = load()
    decided, session, classifier = solve(X_train, y_train, X_test)
    print(session.metric.describe())
    print(f"threshold {classifier.thresholds_:.3f}, 95% between {classifier.interval_[0]:.3f} and {classifier.interval_[1]:.3f}")
    plain = model().fit(X_train, y_train).predict(X_test)
    print(f"costs the doctor {DOCTOR(y_test, decided):.4f} false alarms per case; at the threshold 0.5 {DOCTOR(y_test, plain):.4f}")
    _, low, high = session.metric.cost_ratio
    assert low <= 7 <= high, "the doctor's exchange rate is in the interval"
    assert DOCTOR(y_test, decided) <= DOCTOR(y_test, plain), "the threshold is no worse than 0.5"
