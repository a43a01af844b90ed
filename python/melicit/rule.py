"""Rules on class probabilities: the best one for a metric, the one at a point; what they decide, their files."""
from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from . import _rows
from ._core import Codes, Floats, Texts, call, copied, fail, ffi, floats, lib, made, pointer, seed_of, text, texts_at
from .metric import Metric, Path
from .problem import Ground, Problem

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class Rule:
    """What to decide given class probabilities; a mixture of rules draws. `value` is what it is worth where it was found."""

    def __init__(
        self,
        handle: Any,
        labels: Optional[Sequence[Any]] = None,
        report: Optional[Dict[str, Any]] = None,
        columns: Optional[Sequence[str]] = None,
    ) -> None:
        self._handle = handle
        self.report: Dict[str, Any] = report or {}
        self.labels: List[Any] = list(labels) if labels is not None else self.classes
        self._columns: List[str] = list(columns) if columns else self.classes

    @classmethod
    def load(cls, path: Path, classes: Optional[Sequence[Any]] = None) -> "Rule":
        """A classifier file of the program. classes: the order of an array's columns; the sorted order unless given."""
        rule = cls(
            made("mel_classifier", lib.mel_classifier_free, lib.mel_classifier_load, text(os.fspath(path), "path"))
        )
        parts = rule._parts
        if classes is not None:
            rule._columns = [_rows.name_of(label) for label in classes]
            if sorted(rule._columns) != sorted(rule.classes):
                raise fail("EINVAL", f"classes: {rule._columns} are not those of the rule, {rule.classes}")
        elif parts.label != ffi.NULL:
            labels = texts_at(parts.label, parts.n_classes)
            order = _rows.in_sorted_order(labels, bool(parts.number_texts))
            rule._columns = [rule.classes[labels.index(label)] for label in order]
        return rule

    def save(self, path: Path) -> None:
        call(lib.mel_classifier_save, self._handle, text(os.fspath(path), "path"))

    def __getstate__(self) -> Dict[str, Any]:
        from tempfile import TemporaryDirectory

        with TemporaryDirectory() as folder:
            path = os.path.join(folder, "classifier.json")
            self.save(path)
            with open(path, "rb") as file:
                return {"file": file.read(), "labels": self.labels, "report": self.report, "columns": self._columns}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        from tempfile import TemporaryDirectory

        with TemporaryDirectory() as folder:
            path = os.path.join(folder, "classifier.json")
            with open(path, "wb") as file:
                file.write(state["file"])
            self._handle = Rule.load(path)._handle
        self.labels, self.report, self._columns = state["labels"], state["report"], state["columns"]

    @property
    def _parts(self) -> Any:
        return lib.mel_classifier_get(self._handle)

    @property
    def classes(self) -> List[str]:
        parts = self._parts
        return texts_at(parts.class_name, parts.n_classes)

    @property
    def groups(self) -> List[str]:
        """Groups that it has rules of their own for."""
        parts = self._parts
        return texts_at(parts.group_name, parts.n_groups)

    @property
    def columns(self) -> List[str]:
        """What the columns of an array of probabilities are: the classes in the order that the rule was made from, which is
        that of scikit-learn's classes_ unless another was given."""
        return self._columns

    @property
    def value(self) -> float:
        return float(self._parts.value)

    @property
    def mixed(self) -> bool:
        """It draws between rules."""
        return len(self.shares) > 1

    @property
    def shares(self) -> Floats:
        """How often each of its rules is taken."""
        parts = self._parts
        if parts.mixture != ffi.NULL:
            return np.array([parts.mixture.share[i] for i in range(parts.mixture.n)])
        return copied(parts.blend.share, parts.blend.n_rules)

    @property
    def gains(self) -> Optional[Floats]:
        """rules x groups x k x decisions: a row gets the decision j with the largest sum over i of gain[i, j] P(class i)."""
        parts = self._parts
        if parts.blend == ffi.NULL:
            return None
        shape = (parts.blend.n_rules, max(1, parts.n_groups), parts.n_classes, parts.n_decisions)
        return copied(parts.blend.gain, int(np.prod(shape))).reshape(shape)

    def plain_gains(self, n_groups: int) -> Floats:
        """gains for each of so many groups, of a rule on probabilities as they are."""
        parts, gains = self._parts, self.gains
        if parts.mixture != ffi.NULL:
            gains = np.array([_gains_of_threshold(parts.mixture.rule[i]) for i in range(parts.mixture.n)])[:, None]
        if gains is None or parts.adjustment != ffi.NULL or parts.basis != ffi.NULL or parts.majority or parts.cost_column != ffi.NULL:
            raise fail("EINVAL", "the rule is not one of gains on probabilities as they are (calibrated, or of thresholds, basis functions or costs)")
        return np.repeat(gains, n_groups, axis=1) if gains.shape[1] == 1 else gains

    @property
    def thresholds(self) -> Dict[str, float]:
        """Two classes, one rule: the second class from which of its probabilities on, for each group or for "all".

        NaN where it is the other way round, rows have costs of their own, or no threshold says it; inf: never."""
        parts = self._parts
        if parts.n_classes != 2 or self.mixed:
            raise fail("EINVAL", "thresholds: of one rule for two classes; see gains and shares")
        if parts.cost_column != ffi.NULL:
            return {name: float("nan") for name in self.groups or ["all"]}  # each row has one of its own
        if parts.mixture != ffi.NULL:
            rule = parts.mixture.rule[0]
            return {"all": float("nan") if rule.inverted else float(rule.threshold)}
        gains = self.gains
        assert gains is not None
        names = self.groups or ["all"]
        return {name: self._threshold(gains[0, g], g) for g, name in enumerate(names)}

    def _threshold(self, gain: Floats, group: int) -> float:
        """Where the second class starts to win, on probabilities as they come (before an adjustment)."""
        if gain.shape[1] != 2:
            return float("nan")
        lead = gain[:, 1] - gain[:, 0]  # lead[0] (1 - p) + lead[1] p > 0
        if lead[1] <= lead[0]:
            return float("nan") if lead[1] < lead[0] else (float("-inf") if lead[1] > 0 else float("inf"))
        point = -lead[0] / (lead[1] - lead[0])
        if not 0.0 < point < 1.0:
            return float("-inf") if point <= 0.0 else float("inf")
        adjustment = self._parts.adjustment
        if adjustment == ffi.NULL:
            return float(point)
        falls = adjustment.sharpness[2 * group if adjustment.n_groups else 0] < 0
        return float("nan") if falls else float(lib.mel_adjustment_undo(adjustment, group, point))

    # --- decisions ---

    def _rows(self, proba: ArrayLike, groups: Optional[ArrayLike]) -> Tuple[Floats, Optional[Codes]]:
        parts = self._parts
        table = _rows.in_class_order(proba, self.columns, self.classes)
        if parts.n_groups == 0:
            return table, None
        if groups is None:
            raise fail("EINVAL", f"groups: this rule looks at them ({', '.join(self.groups)})")
        of = _rows.column(groups, "groups")
        _rows.same_rows(len(table), groups=of)
        return table, _rows.codes(of, self.groups, "groups")

    def _undecided(self, proba: ArrayLike, groups: Optional[ArrayLike], row_cost: Optional[ArrayLike], seed: int = 1) -> Tuple[Any, int, Any]:
        """The rows as the library takes them, how many, and what they borrow."""
        table, group = self._rows(proba, groups)
        if row_cost is None and self._parts.cost_column != ffi.NULL:
            raise fail("EINVAL", "row_cost: this rule was found with costs of rows and needs those of the rows that it decides")
        cost = _rows.costs_of_rows(row_cost, len(table), self.columns, self.classes)
        rows = ffi.new("mel_undecided *", {"n": len(table), "seed": seed})
        rows.probability, rows.group, rows.row_cost = pointer(table), pointer(group, "uint32_t"), pointer(cost)
        return rows, len(table), (table, group, cost)

    def chances(self, proba: ArrayLike, groups: Optional[ArrayLike] = None, row_cost: Optional[ArrayLike] = None) -> Any:
        """The probability of each decision: rows x classes (one more column where cases may be referred). A frame for
        a frame."""
        rows, n, kept = self._undecided(proba, groups, row_cost)
        out = np.empty((n, self._parts.n_decisions))
        call(lib.mel_classifier_chances, pointer(out), self._handle, rows)
        del kept
        index = getattr(proba, "index", None) if hasattr(proba, "columns") else None
        if index is None:
            return out
        import pandas

        titles = [*self.labels, *(["referred"] if out.shape[1] > len(self.labels) else [])]
        return pandas.DataFrame(out, index=index, columns=titles)

    def decide_codes(
        self, proba: ArrayLike, groups: Optional[ArrayLike] = None, seed: int = 1, row_cost: Optional[ArrayLike] = None
    ) -> Codes:
        rows, n, kept = self._undecided(proba, groups, row_cost, seed)
        out = np.empty(n, dtype=np.uint32)
        call(lib.mel_classifier_decide, pointer(out, "uint32_t"), self._handle, rows)
        del kept
        return out

    def decide(
        self, proba: ArrayLike, groups: Optional[ArrayLike] = None, seed: int = 1, row_cost: Optional[ArrayLike] = None
    ) -> Any:
        """One label per row, None for a case that is referred; a Series for a frame. proba: as predict_proba gives it, in the
        order of `columns`; columns of a frame are matched by name. row_cost: for a rule that was found with costs of rows."""
        found = self.decide_codes(proba, groups, seed, row_cost)
        referred = self._parts.n_decisions > len(self.labels)
        decided = np.array([*self.labels, None], dtype=object)[found] if referred else np.asarray(self.labels)[found]
        index = getattr(proba, "index", None) if hasattr(proba, "columns") else None
        if index is None:
            return decided
        import pandas

        return pandas.Series(decided, index=index)

    def __repr__(self) -> str:
        return f"<Rule for {_rows.listed(self.classes)}{' with groups' if self.groups else ''}, value {self.value:.6g}>"


def _gains_of_threshold(rule: Any) -> List[List[float]]:
    """The second class from a probability on: gains prefer the first class in a tie, so they start 4 roundings below it."""
    at = float(rule.threshold)
    if rule.inverted:
        raise fail("EINVAL", "the rule decides for the second class below its threshold")
    if at <= 0.0 or at > 1.0:
        return [[0.0, 1.0], [0.0, 1.0]] if at <= 0.0 else [[1.0, 0.0], [1.0, 0.0]]
    at *= 1.0 - 2.0**-50
    return [[at, 0.0], [0.0, 1.0 - at]]


def _limits(at_least: Mapping[str, float], at_most: Mapping[str, float], classes: List[str], groups: List[str]) -> Any:
    named, of = Texts(classes, "classes"), Texts(groups, "groups")
    limits = ffi.new("mel_limit[]", max(1, len(at_least) + len(at_most)))
    at = 0
    for wanted, least in ((at_least, True), (at_most, False)):
        for what, bound in wanted.items():
            call(
                lib.mel_limit_parse,
                limits + at,
                text(f"{what}={float(bound)!r}", "limit"),
                least,
                len(classes),
                named.pointer,
                len(groups),
                of.pointer,
            )
            at += 1
    return limits, at


def _in_order(metric: Metric, names: List[str], groups: List[str]) -> Any:
    """The metric's object in the order of the classes at hand, matched by name."""
    if metric.name is not None:
        return ffi.NULL
    layout = ffi.new("mel_layout *", metric._layout[0])
    layout.n_classes, layout.n_groups = len(names), len(groups) if metric.groups else 0
    return _rows.matched(metric._handle, layout, names, groups)


FORMS = {
    "best": lib.MEL_RULE_BEST,
    "threshold": lib.MEL_RULE_THRESHOLD,
    "mixture": lib.MEL_RULE_MIXTURE,
    "average": lib.MEL_RULE_BEST,
}

EVIDENCE = {"calibrated": lib.MEL_BY_MODEL, "model": lib.MEL_BY_MODEL, "labels": lib.MEL_BY_LABELS}


def require_positive(metric: Metric, labels: Sequence[Any], options: Mapping[str, Any]) -> None:
    """Refuses a metric or a limit that is about the positive class where nobody has said which one that is."""
    metric._require_positive(labels)
    for limit in (*(options.get("at_least") or {}), *(options.get("at_most") or {})):
        if lib.mel_limit_needs_positive(text(limit, "limit")):
            Metric("recall")._require_positive(labels, f"{limit} is about the positive class: ")


def find_rule(
    metric: Union[Metric, Sequence[Metric]],
    proba: Floats,
    codes: Codes,
    labels: Sequence[Any],
    group_codes: Optional[Codes] = None,
    groups: Sequence[str] = (),
    sample_weight: Optional[Floats] = None,
    *,
    columns: Optional[Sequence[str]] = None,
    form: str = "best",
    evidence: str = "calibrated",
    prior: Optional[ArrayLike] = None,
    prior_from: Optional[ArrayLike] = None,
    at_least: Optional[Mapping[str, float]] = None,
    at_most: Optional[Mapping[str, float]] = None,
    groups_seen: bool = True,
    refer_cost: Optional[float] = None,
    seed: int = 1,
    threads: int = 0,
    trust: bool = False,
    engine: Any = None,
    confidence: Optional[float] = None,
    row_cost: Optional[Floats] = None,
) -> Rule:
    """The best rule on rows of probabilities, in the order of `labels`; `columns`: in which new rows will come.

    form: "best" (one rule unless only a mixture meets the limits), "threshold", "mixture", "average" (thresholds are means over
    what the rows and the metric make likely). evidence: "calibrated"
    (probabilities are made right on these rows, then trusted), "model" (trusted as they are) or "labels" (the rule is
    measured on the labels themselves). prior: shares that the classes will have, by name (a Series, a mapping) or in the
    order of the rule's classes. prior_from: these shares are estimated from the probabilities of rows without labels, two
    ways: report["prior"] and report["prior_matched"]. at_least, at_most:
    {"recall[cancer]": 0.95}, {"flagged": 0.1}, {"equalised-odds": 0.05}. groups_seen: rules of each group. trust: also how
    sure it is, as `melicit apply` says it. The report has what is expected by the probabilities ("value", "achieved" of each limit), what
    the labels say ("by_labels", "counted"), and "doubtful" where these differ by more than chance allows, which is warned of. With trust: report["expected"] on other rows with report["interval"], and
    report["thresholds"] of two classes, {group: (low, high)}, 95% each, and report["regret"]: how much more its mistakes cost than those of the best rule
    for what the metric may be and other rows may show, 95% sure. confidence: limits hold on new rows with it, or errors.DataError says how
    many rows would do; report["certified"] then has the bounds. The probabilities must be of rows that the model has not seen.
    row_cost: rows x classes, how many times as much a mistake about a row of each class counts.
    Several metrics, of people who disagree: the rule with the least worst regret, and who loses what in report["people"].
    """
    people = [] if isinstance(metric, Metric) else list(metric)
    if not isinstance(metric, Metric):
        if len(people) < 2 or confidence is not None or refer_cost is not None or trust:
            raise fail("EINVAL", "a compromise is between two people or more, without confidence and refer_cost")
        metric = people[0]
    if evidence not in EVIDENCE:
        raise fail("EINVAL", f"evidence {evidence!r}: one of {', '.join(EVIDENCE)}")
    if form not in FORMS:
        raise fail("EINVAL", f"form {form!r}: one of {', '.join(FORMS)}")
    names, group_names = [_rows.name_of(label) for label in labels], [str(group) for group in groups]
    if not isinstance(groups_seen, bool):
        raise fail("EINVAL", f"groups_seen {groups_seen!r}: True or False")
    if metric.name is None and not metric.groups and not at_least and not at_most and not people:
        group_names, group_codes = [], None  # nothing is about groups
    opt = ffi.new("mel_rule_options *")
    lib.mel_rule_options_init(opt)
    opt.form, opt.seed, opt.threads = FORMS[form], seed, threads
    opt.progress.call = lib.melicit_progress
    opt.evidence = EVIDENCE[evidence]
    opt.group_use = lib.MEL_GROUP_SEEN if groups_seen else lib.MEL_GROUP_UNSEEN
    if refer_cost is not None:
        opt.refer_cost = float(refer_cost)
    if engine is not None and (trust or prior is not None or prior_from is not None or row_cost is not None):
        raise fail("EINVAL", "how sure a rule is, other shares of classes and costs of rows need all rows in one place")
    if form == "average" and (people or at_least or at_most or refer_cost is not None or confidence is not None or engine is not None):
        raise fail("EINVAL", "form 'average': thresholds for one metric, without limits, refer_cost and confidence")
    if prior is not None and prior_from is not None:
        raise fail("EINVAL", "prior and prior_from are two ways to say the same")
    limits, opt.n_limits = _limits(at_least or {}, at_most or {}, names, group_names)
    opt.limit = limits
    rows = ffi.new("mel_rule_rows *")
    rows.n_rows, rows.n_classes, rows.n_groups = len(proba), len(names), len(group_names)
    rows.probability, rows.label = pointer(proba), pointer(codes, "uint32_t")
    rows.group, rows.weight = pointer(group_codes, "uint32_t"), pointer(sample_weight)
    if engine is not None:
        rows.engine, rows.probability, rows.label = engine.handle, ffi.NULL, ffi.NULL
    called = Texts(names, "classes"), Texts(group_names, "groups")
    rows.class_name, rows.group_name = (texts.pointer for texts in called)
    ordered = _in_order(metric, names, group_names)
    name = ffi.NULL if metric.name is None else ffi.new("char[]", text(metric.name, "metric"))
    cost_columns: Sequence[str] = ()
    if row_cost is not None:
        rows.row_cost = pointer(row_cost)
        cost_columns = ["" if (costs == 1.0).all() else "row_cost" for costs in row_cost.T]
    estimated: Dict[str, Any] = {}
    if prior_from is not None:
        prior, estimated = _prior_of(prior_from, opt, rows, ordered, name, evidence, columns or names, names)
    kept = _adjust(opt, rows, ordered, name, evidence, _in_class_order(prior, names), (codes, sample_weight))
    report = ffi.gc(ffi.new("mel_rule_report *"), lib.mel_rule_report_clear)
    certified = ffi.gc(ffi.new("mel_certified *"), lib.mel_certified_clear)
    everybody = [_in_order(one, names, group_names) for one in people]
    if people:
        if ffi.NULL in everybody:
            raise fail("EINVAL", "a compromise is between weighted sums, not measures by their names")
        persons = ffi.new("mel_person[]", len(people))
        for person, one in zip(persons, everybody):
            person.metric = one
        opt.person, opt.n_people, ordered = persons, len(people), ffi.NULL
    if confidence is None:
        classifier = made("mel_classifier", lib.mel_classifier_free, lib.mel_rule_find, report, rows, ordered, name, opt)
    else:
        promise = ffi.new("mel_certify_options *")
        lib.mel_certify_options_init(promise)
        promise.confidence, promise.calibrated, promise.seed = float(confidence), evidence == "calibrated", seed
        classifier = made(
            "mel_classifier", lib.mel_classifier_free, lib.mel_rule_certify, report, certified, rows, ordered, name, opt, promise
        )
    if form == "average":
        classifier = _averaged(classifier, report, rows, (ordered, name, opt), evidence == "calibrated")
    set_names(classifier, names, group_names, _rows.number_texts(labels), cost_columns)
    _judge(report, limits)
    said = {**_report(report), **estimated, "positive": labels[1] if len(names) == 2 else None}
    if people:
        said["people"], said["farthest_apart"] = _regrets(report.people)
    elif engine is None:
        said.update(_ask_labels(classifier, report, rows, (ordered, name, opt), names, limits))
    if confidence is not None:
        said["certified"] = {
            "confidence": certified.confidence,
            "rows": certified.rows,
            "limits": {ffi.string(limits[i].text).decode(): certified.limit[i].bound for i in range(certified.n_limits)},
        }
        said["expected"], said["interval"] = certified.value.value, (certified.value.both.low, certified.value.both.high)
    elif trust:
        said.update(_trust(classifier, rows, (ordered, name, opt), metric, evidence == "calibrated", group_names))
    del kept
    return Rule(classifier, labels, said, columns)


def _regrets(people: Any) -> Tuple[List[Dict[str, Any]], Tuple[int, int]]:
    """Who loses what; the two who lose most by each other's rules."""
    n = people.n
    said = [
        {
            "regret": people.regret[i],
            "with_average": people.pooled[i],
            "with_each_others": [people.cross[i * n + j] for j in range(n)],
            "weight": people.weight[i],
            "hardly_matters": people.floored[i],
        }
        for i in range(n)
    ]
    return said, (people.first, people.second)


def _prior_of(
    proba: Any, opt: Any, rows: Any, metric: Any, name: Any, evidence: str, columns: Sequence[str], names: List[str]
) -> Tuple[Floats, Dict[str, Any]]:
    """Shares of the classes among rows without labels, and both estimates for the report."""
    table = _rows.in_class_order(proba, columns, names)
    plain = ffi.new("mel_rule_rows *", rows[0])
    plain.n_groups = 0  # groups of those rows are not known
    adjustment = ffi.gc(ffi.new("mel_adjustment *"), lib.mel_adjustment_clear)
    if evidence == "calibrated":
        call(lib.mel_rule_calibrate, adjustment, plain, metric, name, opt)
    else:
        call(lib.mel_adjustment_init, adjustment, len(names))
    likely, matched, apart = np.empty(len(names)), np.empty(len(names)), ffi.new("double *")
    call(lib.mel_rule_prior, pointer(likely), pointer(matched), apart, plain, len(table), pointer(table), adjustment)
    if 100.0 * apart[0] > lib.MEL_FAR_APART:
        warnings.warn(
            f"prior_from: the two estimates of the classes' shares differ by {apart[0]:.2f}; the probabilities may not mean the "
            "same there, so check the shares on some labelled rows or give them as prior",
            stacklevel=4,
        )
    return likely, {"prior": dict(zip(names, likely.tolist())), "prior_matched": dict(zip(names, matched.tolist()))}


def _trusted(classifier: Any, rows: Any, found: Tuple[Any, Any, Any], calibrated: bool) -> Any:
    ordered, name, rule = found
    opt, out = ffi.new("mel_trust_options *"), ffi.gc(ffi.new("mel_trust *"), lib.mel_trust_clear)
    lib.mel_trust_options_init(opt)
    opt.calibrated, opt.seed = calibrated, rule.seed
    call(lib.mel_rule_trust, out, classifier, rows, ordered, name, rule, opt)
    return out


def _averaged(classifier: Any, report: Any, rows: Any, found: Tuple[Any, Any, Any], calibrated: bool) -> Any:
    """The rule whose thresholds are means over what rows and metric make likely."""
    ordered, name, rule = found
    sure = _trusted(classifier, rows, found, calibrated)
    if sure.n_thresholds == 0:
        raise fail("EINVAL", "form 'average': the best rule is not a threshold (for each group) that draws of the rows agree on")
    means = ffi.new("double[]", [sure.threshold[b].mean for b in range(sure.n_thresholds)])
    rule.threshold, rule.n_thresholds = means, sure.n_thresholds
    lib.mel_rule_report_clear(report)
    return made("mel_classifier", lib.mel_classifier_free, lib.mel_rule_find, report, rows, ordered, name, rule)


def _trust(classifier: Any, rows: Any, found: Tuple[Any, Any, Any], metric: Metric, calibrated: bool, groups: List[str]) -> Dict[str, Any]:
    """How sure the rule is."""
    out = _trusted(classifier, rows, found, calibrated)
    ends = [(out.threshold[b].both.low, out.threshold[b].both.high) for b in range(out.n_thresholds)]
    of = groups if len(ends) > 1 else ["all"]
    return {
        "expected": out.value.value,
        "interval": (out.value.both.low, out.value.both.high),
        "thresholds": dict(zip(of, ends)),
        "regret": out.regret,
    }


def _ask_labels(
    classifier: Any, report: Any, rows: Any, found: Tuple[Any, Any, Any], names: List[str], limits: Any
) -> Dict[str, Any]:
    """What the labels say, with a warning where that is not what the probabilities expect."""
    ordered, name, rule = found
    out = ffi.gc(ffi.new("mel_rule_labels *"), lib.mel_rule_labels_clear)
    call(lib.mel_rule_ask_labels, out, classifier, report, rows, ordered, name, rule)
    if out.wrong_way:
        warnings.warn(
            f"these probabilities rank the classes the wrong way round (AUC {out.auc:.2f}): are they those of {names[0]!r}?",
            stacklevel=4,
        )
    numbers = [("the value", report.value, out.value)]
    numbers += [
        (ffi.string(limits[i].text).decode(), report.achieved[i], out.limit[i]) for i in range(out.n_limits)
    ]
    for what, expected, counted in numbers:
        if counted.surprising:
            warnings.warn(
                f"the labels contradict the probabilities: {what} is {counted.value:.4g} by the labels, {expected:.4g} by the "
                "probabilities, more apart than chance allows; evidence='labels' goes by the labels",
                stacklevel=4,
            )
    return {
        "by_labels": out.value.value,
        "counted": [out.limit[i].value for i in range(out.n_limits)],
        "chance": out.value.chance,
        "doubtful": bool(out.doubtful),
        "auc": out.auc,
    }


def _judge(report: Any, limits: Any) -> None:
    if report.violation > 0.0:
        missed = [
            f"{ffi.string(limits[i].text).decode()} would be {report.achieved[i]:.4g}"
            for i in range(report.n_limits)
            if (limits[i].bound - report.achieved[i]) * (1 if limits[i].at_least else -1) > 1e-9
        ]
        raise fail(
            "EDATA",
            "no classifier on these probabilities meets all limits; where they are missed least, by "
            f"{report.violation:.4g} together, {', '.join(missed)}",
        )
    if report.rewards_mistakes:
        warnings.warn("the metric rewards a mistake more than the right decision: the rule follows it", stacklevel=4)


def set_names(classifier: Any, names: List[str], groups: List[str], number_texts: bool, cost_columns: Sequence[str] = ()) -> None:
    source = ffi.new("mel_classifier_source *")
    called, of, costs = Texts(names, "classes"), Texts(groups, "groups"), Texts(cost_columns, "row_cost")
    source.cost_column = costs.pointer
    source.class_name, source.label, source.group_name = called.pointer, called.pointer, of.pointer
    source.number_texts = number_texts
    call(lib.mel_classifier_set_source, classifier, source)


def _in_class_order(prior: Any, names: List[str]) -> Any:
    """Shares by name, of a Series or a mapping, in the order of the classes; a list has that order already."""
    keys = prior.keys() if isinstance(prior, Mapping) or hasattr(prior, "index") and hasattr(prior, "keys") else None
    if keys is None:
        return prior
    titles, shares = [_rows.name_of(key) for key in keys], list(prior.values() if isinstance(prior, Mapping) else prior)
    where = _rows.places(names, titles)
    if where is None:
        raise fail("EINVAL", f"prior: the names {titles} are not the classes {names}")
    return [shares[place] for place in where]


def _adjust(
    opt: Any, rows: Any, metric: Any, name: Any, evidence: str, prior: Any, counted: Tuple[Codes, Optional[Floats]]
) -> List[Any]:
    """Calibration and class shares of the options; what is lent to them."""
    if evidence != "calibrated" and prior is None:
        return []
    k = rows.n_classes
    adjustment = ffi.gc(ffi.new("mel_adjustment *"), lib.mel_adjustment_clear)
    kept: List[Any] = [adjustment]
    if prior is not None:
        shares = floats(prior, "prior")
        if shares.size != k or not (np.isfinite(shares) & (shares > 0)).all():
            raise fail("EINVAL", f"prior: expected {k} positive shares, not {shares}")
        shares = shares / shares.sum()
        now = np.bincount(counted[0], weights=counted[1], minlength=k).astype(np.float64)
        if not (now > 0).all():
            raise fail("EDATA", "prior: a class has no rows")
        now /= now.sum()
        opt.class_share = pointer(shares)
        kept += [shares, now]
    if evidence == "calibrated":
        call(lib.mel_rule_calibrate, adjustment, rows, metric, name, opt)
    else:
        call(lib.mel_adjustment_init, adjustment, k)
        lib.mel_adjustment_shift(adjustment, k, pointer(now), pointer(shares))
    opt.adjustment = adjustment
    return kept


def _report(report: Any) -> Dict[str, Any]:
    return {
        "value": report.value,
        "optimum": report.optimum,
        "bound": report.bound,
        "certified": bool(report.certified),
        "mixed": bool(report.mixed),
        "violation": report.violation,
        "achieved": copied(report.achieved, report.n_limits).tolist(),
        "price": copied(report.price, report.n_limits).tolist(),
    }


def _achievable(ground: Ground) -> Any:
    """What classifiers can achieve: the space around a ball, where there is one."""
    domain = ffi.new("mel_domain *", ground.domain[0])
    if domain.frontier != ffi.NULL:
        domain.space, domain.ball, domain.frontier = domain.frontier, ffi.NULL, ffi.NULL
    return domain


def best_of_domain(problem: Problem, metric: Metric) -> Rule:
    if metric.family is None:
        raise fail("EINVAL", f"best: {metric.name!r} needs rows of probabilities")
    ground = problem.ground(metric.family)
    ordered = _in_order(metric, ground.classes, ground.groups)
    found = made("mel_classifier", lib.mel_classifier_free, lib.mel_classifier_best, _achievable(ground), ordered)
    set_names(found, ground.classes, ground.groups, ground.number_texts)
    return Rule(found, columns=ground.columns)


def rule_at(problem: Problem, point: ArrayLike, family: str, delta: float) -> Rule:
    ground = problem.ground(family)
    vector = floats(point, "point")
    wanted = int(lib.mel_layout_size(ground.layout))
    if vector.size != wanted:
        raise fail("EINVAL", f"point: expected {wanted} numbers, not {vector.size}")
    if ground.domain.face != ffi.NULL:
        vector = _onto_face(vector, problem.vertices(family), delta)
    args = (_achievable(ground), pointer(vector), float(delta))
    found = made("mel_classifier", lib.mel_classifier_free, lib.mel_classifier_at_point, *args)
    set_names(found, ground.classes, ground.groups, ground.number_texts)
    return Rule(found, problem.labels or None, columns=ground.columns)


def _onto_face(point: Floats, corners: Floats, delta: float) -> Floats:
    """Questions about two classes are in whole people: the achievable point next to one, if it is within delta."""
    start, end = corners, np.roll(corners, -1, axis=0)
    along = end - start
    inside = (along[:, 0] * (point - start)[:, 1] - along[:, 1] * (point - start)[:, 0] >= 0).all()
    if inside or len(corners) < 2:
        return point
    share = np.clip(((point - start) * along).sum(axis=1) / (along**2).sum(axis=1), 0.0, 1.0)
    nearest = start + share[:, None] * along
    distance = np.hypot(*(nearest - point).T)
    best = int(distance.argmin())
    return np.ascontiguousarray(nearest[best]) if distance[best] <= delta else point
