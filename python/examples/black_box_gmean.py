"""A metric that is only known by its values: the geometric mean of the recalls, as a function of one's own."""
from pathlib import Path

import numpy as np
import pandas
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import recall_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from melicit import FrankWolfeClassifier

DATA = Path(__file__).resolve().parents[2] / "data"


def load():
    table = pandas.read_csv(DATA / "credit_default.csv.gz", nrows=6000).select_dtypes("number")
    X, y = table.drop(columns="label"), table["label"].to_numpy()
    return train_test_split(X, y, test_size=0.5, random_state=0, stratify=y)


def model():
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=500))


def gmean(y_true, y_pred):
    return float(np.sqrt(np.prod(recall_score(y_true, y_pred, average=None))))


def solve(X_train, y_train, X_test):
    return FrankWolfeClassifier(model(), gmean, iterations=10).fit(X_train, y_train).predict(X_test)


if __name__ == "__main__":
    X_train, X_test, y_train, y_test = load()
    decided, plain = solve(X_train, y_train, X_test), model().fit(X_train, y_train).predict(X_test)
    print(f"G-mean {gmean(y_test, decided):.4f}; of the plain model {gmean(y_test, plain):.4f}")
    assert gmean(y_test, decided) > gmean(y_test, plain) + 0.1
