"""Random calls of the Python package: wrong shapes, types, strides, numbers, closed parents. Only exceptions may come.

usage: python_calls.py CALLS SEED     (the package must be on PYTHONPATH)
"""
import gc
import os
import pickle
import sys
import tempfile

import numpy as np

import melicit
from melicit import Metric, Problem, Rule, Session

ALLOWED = (melicit.MelicitError, TypeError, ValueError, OverflowError, MemoryError)
NAMES = ["f1", "accuracy", "macro-f1", "mcc", "g-mean", "equalised-odds", "recall:difference", "", "f", "f-1", "\0", "ü" * 99, "weighted-accuracy:nan"]
FAMILIES = [*melicit.problem.FAMILIES, "polynomial:3", "polynomial:99", "nothing", "", None, 7]
FILES = [b"", b"{", b"[]", b"\xff\xfe\x00", b'{"format": "melicit-metric", "version": 1}', b'{"format": "melicit-metric", "version": 1, "family": "linear",'
         b' "layout": {"kind": "confusion", "coordinates": "binary", "classes": ["0", "1"]}, "coefficients": {"a": [1, 2]}}']


class Fuzz:
    def __init__(self, seed, folder):
        self.rng = np.random.default_rng(seed)
        self.folder = folder
        self.problems, self.sessions, self.metrics, self.rules, self.given = [], [], [Metric.named("f1"), Metric.from_costs([[0, 1], [5, 0]])], [], []

    def pick(self, values):
        return values[int(self.rng.integers(len(values)))]

    def number(self):
        return self.pick([0, 1, 2, 3, 5, -1, 2**31, 2**63, 2**64, -(2**63), 0.5, -0.0, 1e-300, 1e308, float("nan"), float("inf"), True, None, "3", [], b"x", 1j])

    def array(self, n=None):
        """Anything that numpy makes, spoilt now and then."""
        n = int(self.rng.choice([0, 1, 2, 7, 40])) if n is None else n
        shape = self.pick([(n,), (n, 1), (n, 2), (n, 2), (n, 3), (n, 2, 2), (), (2, n), (n, 0)])
        kind = self.pick(["f8", "f8", "f4", "i8", "u1", "bool", "O", "U3", "c16", "M8[s]", ">f8", "f2"])
        out = np.asarray(self.rng.random(shape) * self.pick([1, 1, 3]))
        try:
            out = out.astype(kind)
        except (TypeError, ValueError):
            return out
        if out.dtype.kind == "f" and out.size and self.rng.random() < 0.2:
            out.flat[int(self.rng.integers(out.size))] = self.pick([np.nan, np.inf, -np.inf, -1, 2])
        layout = self.rng.random()
        if layout < 0.1 and out.ndim:
            out = np.repeat(out, 2, axis=0)[::2]
        elif layout < 0.2:
            out = np.asfortranarray(out)
        elif layout < 0.3 and out.ndim:
            out = out[::-1]
        elif layout < 0.4:
            out.flags.writeable = False
        elif layout < 0.45:
            return out.tolist()
        return out

    def labels(self, n, k=2):
        kind = self.rng.random()
        codes = self.rng.integers(0, k, n)
        if kind < 0.5:
            return codes
        if kind < 0.7:
            return np.array([*"abcdefgh", *(["x"] * 99)])[codes]
        if kind < 0.8:
            return codes.astype(self.pick(["f8", "u4", "i1", "O", "bool"]))
        return self.pick([self.array(n), None, [None] * n, ["a"] * n, [1, "a"] * (n // 2), [{}] * n, codes[:-1], np.arange(n) * 10**6])

    def problem(self):
        n, k = int(self.rng.choice([1, 6, 30, 60])), int(self.rng.choice([2, 2, 3, 5]))
        p = self.rng.dirichlet(np.ones(k), n)
        p = p if self.rng.random() < 0.7 else self.array(n)
        groups = self.labels(n, 2) if self.rng.random() < 0.3 else None
        weight = self.array(n) if self.rng.random() < 0.1 else None
        classes = self.pick([None, None, None, list(range(k)), list("abc"), ["a", "a"], [], [None, 1], 3])
        y = self.labels(n, k)
        self.problems.append(Problem.from_proba(y, p, groups, weight, classes))
        self.given.append([y, p, groups])

    def spoil(self):
        """Rows change under a problem that they were given to."""
        for array in self.pick(self.given):
            if isinstance(array, np.ndarray) and array.flags.writeable and array.dtype.kind in "fiu" and array.size:
                array.flat[:: self.pick([1, 3])] = self.pick([0, 1, 100] + ([np.nan, np.inf, -1e300] if array.dtype.kind == "f" else []))

    def other_problem(self):
        which = self.rng.random()
        if which < 0.3:
            self.problems.append(Problem.population(self.pick(["logistic:a=5,b=0", "softmax:1,3,5", "", "x", "logistic:a=nan,b=0"])))
        elif which < 0.7:
            self.problems.append(Problem.ball(self.pick([2, 3, self.number()]), self.pick([1, 2, self.number()]), self.pick([0.0, 0.0, 0.1, self.number()])))
        else:
            self.problems.append(Problem.from_files(probs=self.file(), labels=self.file()))

    def file(self):
        path = os.path.join(self.folder, f"{self.rng.integers(10)}{self.pick(['.json', '.npy', '.csv', ''])}")
        if self.rng.random() < 0.5:
            with open(path, "wb") as out:
                out.write(self.pick(FILES))
        return path

    def session(self):
        options = self.pick([{}, {}, {"max_questions": self.number()}, {"tolerance": self.number()}, {"assume": "flip"}, {"strategy": "search"},
                             {"nothing": 1}, {"until": "rank", "pool": self.array()}, {"prior": self.pick(self.metrics), "prior_strength": 5.0}, {"signs": [1, -1]}])
        path = os.path.join(self.folder, f"s{self.rng.integers(6)}.jsonl") if self.rng.random() < 0.2 else None
        family = "linear" if self.rng.random() < 0.6 else self.pick(FAMILIES)
        self.sessions.append(Session(self.pick(self.problems), family, path, for_people=bool(self.rng.random() < 0.8), **options))

    def use_session(self):
        session = self.pick(self.sessions)
        which = int(self.rng.integers(12))
        if which < 5:
            question = session.ask()
            if question is not None:
                session.tell(question, self.pick(["A", "B", "=", "?", "A", "B", "", "C", None]))
        elif which == 5:
            session.tell(self.number(), "A", self.pick([None, 1.0, float("nan"), "x"]))
        elif which == 6:
            session.undo()
        elif which == 7:
            self.metrics.append(session.metric)
        elif which == 8:
            session.to_frame(), session.expected_remaining, session.interval
        elif which == 9:
            session.outcome
        elif which == 10:
            session.simulate(self.pick(self.metrics), self.pick(["none", "flip:0.1", "flip:9", "x"]))
        else:
            session.close()

    def use_metric(self):
        metric = self.pick(self.metrics)
        which, n = int(self.rng.integers(11)), 20
        if which < 4:
            groups = self.labels(n) if self.rng.random() < 0.3 else None
            metric(self.labels(n), self.labels(n), groups, self.array(n) if self.rng.random() < 0.2 else None,
                   labels=self.pick([None, None, [0, 1], ["a", "b"], [], [0, 0]]), pos_label=self.pick([None, None, 1, "b", []]))
        elif which == 4:
            metric.of_confusion(self.array(3))
        elif which == 5:
            metric.value(self.array(2)), metric.gradient(self.array(2))
        elif which == 6:
            metric.describe(), metric.cost_matrix(), metric.intervals, metric.classes
        elif which == 7:
            self.metrics.append(pickle.loads(pickle.dumps(metric)))
        elif which == 8:
            metric.rank({"x": self.labels(n), "y": self.labels(n)}, self.pick([None, self.labels(n)]), draws=self.pick([5, 0, 50]))
        elif which == 9:
            self.metrics.append(self.pick([Metric.named, Metric.load, Metric])(self.pick([self.pick(NAMES), self.file(), None, 3])))
        else:
            self.metrics.append(Metric.from_costs(self.pick([self.array(2), {(0, 1): 1, (1, 0): self.number()}, {1: 2}, np.eye(500)]), self.pick([None, list("ab"), []])))

    def rule(self):
        problem = self.pick(self.problems)
        options = self.pick([{}, {}, {"evidence": "labels"}, {"evidence": "x"}, {"form": "mixture"}, {"prior": self.array()}, {"at_least": {"recall[1]": 0.5}},
                             {"at_most": {"x": self.number()}}, {"refer_cost": 0.1}, {"seed": self.number()}])
        if self.rng.random() < 0.3:
            self.rules.append(problem.classifier_for(self.array(2), self.pick(FAMILIES)))
        else:
            self.rules.append(problem.best(self.pick([*self.metrics, "f1", "accuracy"]), **options))

    def use_rule(self):
        rule = self.pick(self.rules)
        which = int(self.rng.integers(5))
        if which < 2:
            rule.decide(self.array(), self.pick([None, None, self.labels(7)]), seed=self.pick([1, 1, self.number()]))
        elif which == 2:
            rule.thresholds, rule.gains, rule.shares, rule.value
        elif which == 3:
            self.rules.append(pickle.loads(pickle.dumps(rule)))
        else:
            self.rules.append(Rule.load(self.file()))

    def one(self):
        what = [self.problem, self.problem, self.other_problem, self.use_metric, self.use_metric, self.use_metric]
        what += [self.session, self.use_session, self.use_session, self.use_session] if self.problems else []
        what += [self.rule] if self.problems else []
        what += [self.spoil] if self.given and self.rng.random() < 0.3 else []
        what += [self.use_rule, self.use_rule] if self.rules else []
        call = self.pick(what)
        if call == self.use_session and not self.sessions:
            call = self.session
        call()
        for kept in (self.problems, self.sessions, self.metrics, self.rules, self.given):
            while len(kept) > 12:  # parents go before what was made of them
                kept.pop(int(self.rng.integers(2, len(kept))))


def main():
    calls, seed = int(sys.argv[1]), int(sys.argv[2])
    refused = 0
    with tempfile.TemporaryDirectory() as folder:
        fuzz = Fuzz(seed, folder)
        for _ in range(calls):
            try:
                fuzz.one()
            except ALLOWED:
                refused += 1
        del fuzz
        gc.collect()
    print(f"{calls} calls, {refused} refused")


if __name__ == "__main__":
    np.seterr(all="ignore")
    main()
