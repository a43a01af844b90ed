"""What questions are about: probabilities with labels, populations, balls, given classifiers."""
from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from . import _arrow, _rows, datasets
from ._core import Codes, Floats, Texts, call, copied, fail, ffi, floats, lib, made, pointer, text, texts_at
from .engine import Engine
from .errors import MelicitError
from .metric import Metric, Path

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from .rule import Rule

FAMILIES: Dict[str, int] = {}
while lib.mel_family_about(len(FAMILIES)) != ffi.NULL:
    FAMILIES[ffi.string(lib.mel_family_name(len(FAMILIES))).decode()] = len(FAMILIES)


def family_number(family: str) -> int:
    name = family.split(":")[0] if isinstance(family, str) else family
    if name not in FAMILIES:
        raise fail("EINVAL", f"family {family!r}: one of {', '.join(FAMILIES)}")
    return FAMILIES[name]


class Ground:
    """What a session of one family is about, with everything that it lends the library."""

    def __init__(self) -> None:
        self.domain = ffi.new("mel_domain *")
        self.classes: List[str] = []
        self.groups: List[str] = []
        self.columns: List[str] = []  # the classes in the order of an array's columns
        self.number_texts = False
        self.layout: Any = None
        self.class_share: Floats = np.empty(0)
        self.description: Optional[str] = None  # JSON; None: only in memory
        self.digest = ""
        self.rows = 0
        self.kept: List[Any] = []  # memory that the domain points to
        self.face: Any = None
        self.ball: Any = None


class Problem:
    """What questions are about. The rows are borrowed by the library, not copied, where they are C-contiguous float64."""

    def __init__(self) -> None:
        raise TypeError("use Problem.from_proba, from_estimator, from_files, population, ball or candidates")

    @classmethod
    def _new(cls) -> "Problem":
        out = cls.__new__(cls)
        out.positive_said = True
        out._options = {}
        out._uploads = {}
        out._frames = {}
        out._grounds = {}
        out.proba = None
        out.engine = None
        out._codes = None
        out.group_codes = None
        out.sample_weight = None
        out.classes = []
        out.columns = []
        out.labels = []
        out.groups = []
        return out

    proba: Optional[Floats]
    engine: Optional[Engine]  # rows elsewhere
    _codes: Optional[NDArray[Any]]  # narrow: rows may be many
    group_codes: Optional[Codes]
    sample_weight: Optional[Floats]
    classes: List[str]  # names; of two the second is positive
    columns: List[str]  # the classes in the order of predict_proba's columns
    labels: List[Any]  # what y_true calls the classes
    groups: List[str]
    positive_said: bool  # somebody has said which of two classes is positive, or they are numbers
    _options: Dict[str, Any]
    _uploads: Dict[str, bytes]
    _frames: Dict[str, Any]
    _grounds: Dict[Any, Ground]

    @classmethod
    def from_proba(
        cls,
        y_true: ArrayLike,
        proba: ArrayLike,
        groups: Optional[ArrayLike] = None,
        sample_weight: Optional[ArrayLike] = None,
        classes: Optional[Sequence[Any]] = None,
        *,
        pos_label: Any = None,
    ) -> "Problem":
        """Labels and predict_proba of rows that the model was not trained on.

        proba has a column for each class, in the order of `classes` (default: the sorted labels, as scikit-learn's
        classes_); columns of a frame are matched by name. One column or one dimension is the probability of the second of
        two, or of the class that a Series names. pos_label: the positive one of two classes; default: the second.
        """
        out = cls._new()
        true = _rows.column(y_true, "y_true")
        if len(true) == 0:
            raise fail("EDATA", "y_true: there are no rows")
        out.labels = list(classes if classes is not None else _rows.distinct(true).tolist())
        out.classes = [_rows.name_of(label) for label in out.labels]
        if len(set(out.classes)) != len(out.classes):
            raise fail("EINVAL", f"classes: {out.classes} are not all different")
        if len(out.classes) < 2:
            raise fail("EDATA", f"y_true: there is one class only, {out.classes}")
        out.columns = out.classes
        out.positive_said = classes is not None or pos_label is not None
        if pos_label is not None and (len(out.labels) != 2 or _rows.name_of(pos_label) not in out.classes):
            raise fail("EINVAL", f"pos_label {pos_label!r}: for two classes, of which it is one, not {out.labels}")
        if pos_label is not None and out.classes[0] == _rows.name_of(pos_label):
            out.labels, out.classes = out.labels[::-1], out.classes[::-1]
        out.proba = _rows.in_class_order(proba, out.columns, out.classes)
        if len(out.proba) != len(true):
            raise fail("EINVAL", f"proba: {len(out.proba)} rows, but y_true has {len(true)}")
        out._codes = _rows.codes(true, out.labels, "y_true", narrow=True)
        out.sample_weight = _rows.weights(sample_weight, len(true))
        if groups is not None:
            of = _rows.column(groups, "groups")
            _rows.same_rows(len(true), groups=of)
            known = _rows.distinct(of).tolist()
            out.groups = [_rows.name_of(group) for group in known]
            out.group_codes = _rows.codes(of, known, "groups")
        return out

    @classmethod
    def from_dask(cls, client: Any, y_true: Any, proba: Any, groups: Any = None, classes: Optional[Sequence[Any]] = None) -> "Problem":
        """Labels and predict_proba as Dask collections with parts of the same rows, which stay with the workers of a client of
        dask.distributed: best, score and optimise send them passes and add up what comes back. What needs the rows in one place
        (questions, calibration, how sure a rule is) is refused. proba has a column for each class, in the order of `classes`, or in any order
        where it is a frame, whose columns are matched by name."""
        out = cls._new()
        out.engine = Engine.of_dask(client, y_true, classes=classes, groups=groups, proba=proba)
        out.labels = out.engine.classes
        out.classes = out.columns = [_rows.name_of(label) for label in out.labels]
        out.groups = [_rows.name_of(group) for group in out.engine.groups]
        if len(out.classes) < 2:
            raise fail("EDATA", f"y_true: there is one class only, {out.classes}")
        out.positive_said = classes is not None
        return out

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        cv: Any = 5,
        groups: Optional[ArrayLike] = None,
        sample_weight: Optional[ArrayLike] = None,
        *,
        pos_label: Any = None,
    ) -> "Problem":
        """Out-of-fold probabilities of a scikit-learn classifier; cv="prefit": X and y are rows it has not seen."""
        from .estimators import out_of_fold

        weight = {} if sample_weight is None else {"sample_weight": np.asarray(sample_weight, dtype=np.float64)}
        proba, classes = out_of_fold(estimator, X, y, cv, weight, None)
        out = cls.from_proba(y, proba, groups, sample_weight, classes.tolist(), pos_label=pos_label)
        out.positive_said = pos_label is not None
        return out

    @classmethod
    def population(cls, name: str, classes: Optional[Sequence[str]] = None) -> "Problem":
        """X uniform on [-1, 1]: "logistic:a=5,b=0" or "softmax:1,3,5"."""
        return cls._made({"population": name}, classes)

    @classmethod
    def ball(
        cls,
        k: int,
        m: int = 1,
        radius: float = 0.0,
        classes: Optional[Sequence[str]] = None,
    ) -> "Problem":
        """No data: the rates of k classes, in m groups, within the radius of the uniform classifier's; 0: 1/(k sqrt(k - 1)),
        the largest."""
        if not all(isinstance(n, (int, np.integer)) and 1 <= n < 2**31 for n in (k, m)):
            raise fail("EINVAL", f"ball: {k!r} classes and {m!r} groups: whole numbers are needed")
        if radius == 0.0 and k > 1:
            radius = 1.0 / (k * float(np.sqrt(k - 1)))
        return cls._made({"ball": f"{k},{m}" if m > 1 else str(k), "radius": float(radius)}, classes)

    @classmethod
    def candidates(cls, frame: Any, classes: Optional[Sequence[str]] = None) -> "Problem":
        """Questions about given classifiers only: a table with their names in `name` (or the index) and columns as
        `melicit rank` reads them (tp, tn, fp, fn; classes; true>predicted)."""
        if "name" not in frame.columns:
            frame = frame.rename_axis("name").reset_index()
        out = cls._made({"candidates": "upload:candidates.csv"}, classes)
        out._uploads["upload:candidates.csv"] = frame.to_csv(index=False).encode()
        return out

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        label: str = "label",
        classes: Optional[Sequence[str]] = None,
        *,
        group: Optional[str] = None,
        weights: Optional[str] = None,
        positive: Optional[str] = None,
        test_share: Optional[float] = None,
        seed: Optional[int] = None,
    ) -> "Problem":
        """A labelled table in memory: a frame of pandas, polars or pyarrow, anything with `__arrow_c_stream__`, or a dict of
        columns. A logistic regression is trained on some rows and measured on the others, as for a file; group=, weights=,
        positive=, test_share= and seed= are those of from_files."""
        options = {"label": label, "group": group, "weights": weights, "positive": positive, "test_share": test_share, "seed": seed}
        out = cls._made({"data": "frame:data", **options}, classes)
        out._frames["frame:data"] = frame
        return out

    @classmethod
    def from_files(
        cls,
        classes: Optional[Sequence[str]] = None,
        *,
        data: Optional[Path] = None,
        label: Optional[str] = None,
        group: Optional[str] = None,
        weights: Optional[str] = None,
        probs: Optional[Path] = None,
        labels: Optional[Path] = None,
        groups: Optional[Path] = None,
        candidates: Optional[Path] = None,
        positive: Optional[str] = None,
        test_share: Optional[float] = None,
        seed: Optional[int] = None,
    ) -> "Problem":
        """As the program does it: data=, label=, group= (a table), or probs=, labels=, groups= (files)."""
        given = {
            "data": data, "label": label, "group": group, "weights": weights, "probs": probs, "labels": labels, "groups": groups,
            "candidates": candidates, "positive": positive, "test_share": test_share, "seed": seed,
        }
        return cls._made({k: os.fspath(v) if isinstance(v, os.PathLike) else v for k, v in given.items()}, classes)

    @classmethod
    def _made(cls, options: Dict[str, Any], classes: Optional[Sequence[str]]) -> "Problem":
        out = cls._new()
        out._options = {key: value for key, value in options.items() if value is not None}
        out.classes = [str(name) for name in classes] if classes is not None else []
        return out

    @property
    def codes(self) -> Optional[Codes]:
        """The place of each row's class among the classes."""
        return None if self._codes is None else self._codes.astype(np.uint32)

    def __repr__(self) -> str:
        if self.proba is not None:
            return f"<Problem of {len(self.proba)} rows, classes {_rows.listed(self.classes)}>"
        if self.engine is not None:
            return f"<Problem with rows elsewhere for {_rows.listed(self.classes)}>"
        return f"<Problem {self._options}>"

    def __getstate__(self) -> Dict[str, Any]:
        return {**self.__dict__, "_grounds": {}}  # made again when they are needed

    # --- what the library makes of it ---

    def ground(self, family: str) -> Ground:
        """For questions about metrics of a family."""
        number = family_number(family)
        if self.engine is not None:
            raise fail("EINVAL", "questions need all rows in one place, and these are with the workers of Dask: use from_proba with a sample")
        if number not in self._grounds:
            want = lib.mel_want_of_family(number)
            ground = self._of_arrays(want) if self.proba is not None else self._of_options(want)
            ground.domain.progress.call = lib.melicit_progress
            self._grounds[number] = ground
        return self._grounds[number]

    def stored_ground(self, family: str, path: Path) -> Ground:
        """The same from files next to a session's, so that the program can go on with it."""
        if self.proba is None:
            if self._uploads:
                return self._stored_candidates(family, path)
            if self._frames:
                raise fail("EINVAL", "a session file cannot be resumed from a frame: save the frame and use from_files, or leave out the path")
            return self.ground(family)
        if self.sample_weight is not None:
            raise fail("EINVAL", "sample_weight: files of probabilities have no weights; leave out the session's path")
        base = os.fspath(path)
        for suffix in (".jsonl", ".json"):
            base = base[: -len(suffix)] if base.endswith(suffix) else base
        texts = any(isinstance(label, str) for label in self.labels)  # sorted as texts, whatever they look like
        labels = np.array(self.classes if texts else self.labels)
        _store(base + ".probs.npy", self.proba[:, np.argsort(labels)])
        _store(base + ".labels.npy", labels[self._codes])
        options = {"probs": base + ".probs.npy", "labels": base + ".labels.npy"}
        want = lib.mel_want_of_family(family_number(family))
        if self.group_codes is not None and want.grouped:
            _store(base + ".groups.npy", np.array(self.groups)[self.group_codes])
            options["groups"] = base + ".groups.npy"
        return Problem._made(options, self.classes).ground(family)

    def _stored_candidates(self, family: str, path: Path) -> Ground:
        name = os.fspath(path) + ".candidates.csv"
        data = self._uploads["upload:candidates.csv"]
        _keep(name, data)
        return Problem._made({"candidates": name}, self.classes or None).ground(family)

    def _of_arrays(self, want: Any) -> Ground:
        assert self.proba is not None and self._codes is not None
        out, k = Ground(), len(self.classes)
        out.classes, out.columns, out.rows = self.classes, self.columns, len(self.proba)
        out.number_texts = _rows.number_texts(self.labels)
        whom = ffi.string(want.whom).decode() if want.whom != ffi.NULL else "these"
        if want.needs_groups and len(self.groups) < 2:
            raise fail("EINVAL", f"{whom} metrics are about groups: give from_proba two or more")
        grouped = bool(want.grouped) and len(self.groups) > 0
        if want.planar and k == 2 and not grouped:
            self._face(out)
            return out
        if self.sample_weight is not None:
            raise fail("EINVAL", "sample_weight: rows count alike in spaces of more than two classes, of rates and of groups")
        out.groups = self.groups if grouped else []
        codes = self.codes
        sample = ffi.new("mel_rows *")
        sample.n_rows, sample.n_classes, sample.n_groups = len(self.proba), k, len(out.groups)
        sample.probability, sample.label = pointer(self.proba), pointer(codes, "uint32_t")
        if grouped:
            sample.group = pointer(self.group_codes, "uint32_t")
        settings = ffi.new("mel_space_options *")
        lib.mel_space_options_init(settings)
        settings.kind = lib.MEL_RATES if want.rates else lib.MEL_CONFUSION
        settings.coordinates = want.coordinates
        space = made("mel_space", lib.mel_space_free, lib.mel_space_from_sample, sample, settings)
        out.kept += [self.proba, codes, self.group_codes, space]
        out.layout = lib.mel_space_layout(space)
        if want.ball:
            search = ffi.new("mel_radius_options *")
            lib.mel_radius_options_init(search)
            search.progress.call = lib.melicit_progress
            out.ball = made("mel_ball", lib.mel_ball_free, lib.mel_ball_of_space, ffi.NULL, space, search)
            out.domain.ball, out.domain.frontier = out.ball, space
        else:
            out.domain.space = space
        out.class_share = np.bincount(self._codes, minlength=k) / len(self.proba)
        return out

    def _face(self, out: Ground) -> None:
        assert self.proba is not None and self._codes is not None
        out.face = made(
            "mel_face",
            lib.mel_face_free,
            lib.mel_face_from_probabilities,
            len(self.proba),
            pointer(self.proba),
            pointer(self._codes, "uint8_t"),
            pointer(self.sample_weight),
        )
        out.domain.face = out.face
        out.kept.append(out.face)
        layout = ffi.new("mel_layout *")
        layout.coordinates, layout.n_classes = lib.MEL_BINARY, 2
        out.layout = layout
        out.class_share = np.array([lib.mel_face_negatives(out.face), lib.mel_face_positives(out.face)])

    def _of_options(self, want: Any) -> Ground:
        options, kept = _problem_options(self._options, self.classes)
        options.resources.progress.call = lib.melicit_progress
        uploads = ffi.new_handle(self._uploads)
        if self._uploads:
            options.resources.fetch, options.resources.fetch_user = lib.melicit_fetch, uploads
        frames = _Frames(self._frames)
        handle = ffi.new_handle(frames)
        if self._frames:
            options.resources.frame, options.resources.frame_user = lib.melicit_frame, handle
        bundled = datasets.folder()
        if bundled is not None:
            kept.append(ffi.new("char[]", os.fsencode(bundled)))
            kept.append(ffi.new("const char *[]", [kept[-1], ffi.NULL]))
            options.resources.folders = kept[-1]
        wanted = ffi.new("mel_problem_want *", want)
        try:
            problem = made("mel_problem", lib.mel_problem_free, lib.mel_problem_make, options, wanted)
        except MelicitError:
            if frames.error is not None:
                raise frames.error from None
            raise
        kept += [uploads, handle]
        return _ground_of(problem)

    # --- rules ---

    def compromise(
        self,
        metrics: Sequence[Metric],
        *,
        form: str = "mixture",
        evidence: str = "calibrated",
        prior: Optional[ArrayLike] = None,
        at_least: Optional[Mapping[str, float]] = None,
        at_most: Optional[Mapping[str, float]] = None,
        groups_seen: bool = True,
        seed: int = 1,
        threads: int = 0,
    ) -> "Rule":
        """The rule with which the person who loses most loses least; options as `best`. What somebody loses is 0 with the best
        rule for them and 1 where everybody is decided alike: report["people"], in the order of the metrics."""
        from .rule import find_rule

        codes = self.codes
        if self.proba is None or codes is None:
            raise fail("EINVAL", "compromise: needs rows of probabilities (from_proba)")
        return find_rule(
            [Metric(one) for one in metrics], self.proba, codes, self.labels, self.group_codes, self.groups,
            self.sample_weight, columns=self.columns, form=form, evidence=evidence, prior=prior, at_least=at_least,
            at_most=at_most, groups_seen=groups_seen, seed=seed, threads=threads
        )

    def best(
        self,
        metric: Union[Metric, str],
        *,
        form: str = "best",
        evidence: Optional[str] = None,
        prior: Optional[ArrayLike] = None,
        prior_from: Optional[ArrayLike] = None,
        at_least: Optional[Mapping[str, float]] = None,
        at_most: Optional[Mapping[str, float]] = None,
        groups_seen: bool = True,
        refer_cost: Optional[float] = None,
        row_cost: Any = None,
        seed: int = 1,
        threads: int = 0,
        trust: bool = False,
        confidence: Optional[float] = None,
    ) -> "Rule":
        """The rule that is best for a metric or a measure by its name.

        Parameters
        ----------
        metric : Metric or str
            What to be best for: a metric, or a measure such as "f1".
        form : {"best", "threshold", "mixture", "average"}
            One rule unless only a mixture meets the limits; thresholds; the optimum, which may draw between rules; or
            thresholds that are means over what the rows and the metric make likely.
        evidence : {"calibrated", "model", "labels"}
            The probabilities are made right on these rows and then trusted (the default), trusted as they are (the default of rows
            with the workers of Dask), or the rule is measured on the labels.
        prior, prior_from
            Shares that the classes will have; or probabilities of rows without labels, from which they are estimated.
        at_least, at_most : mapping
            Limits: {"recall[cancer]": 0.95}, {"flagged": 0.1}, {"equalised-odds": 0.05}.
        groups_seen : bool
            Each group has a rule of its own.
        refer_cost : float, optional
            What it costs to refer a case instead of deciding it, in cheapest mistakes.
        row_cost : array or mapping, optional
            How many times as much decisions about a row count: one number for each row, rows x classes for what it counts if
            it is of a class, or {class: numbers}. The rule then wants them of new rows, too.
        trust : bool
            Also how sure the rule is: report["expected"], ["interval"], ["thresholds"], ["regret"].
        confidence : float, optional
            Limits hold on new rows with this confidence, or errors.DataError says how many rows would do.

        Examples
        --------
        >>> import melicit
        >>> y, p = [0, 0, 0, 1, 0, 1, 1, 1], [0.1, 0.3, 0.2, 0.8, 0.6, 0.9, 0.4, 0.7]
        >>> problem = melicit.Problem.from_proba(y, p)
        >>> costs = melicit.Metric.from_costs({"missed": 7, "false-alarm": 1})
        >>> round(problem.best(costs, evidence="model").thresholds["all"], 3)
        0.125
        """
        from .rule import find_rule, require_positive

        options: Dict[str, Any] = {
            "form": form, "prior": prior, "prior_from": prior_from, "at_least": at_least, "at_most": at_most, "groups_seen": groups_seen,
            "refer_cost": refer_cost, "row_cost": row_cost, "seed": seed, "threads": threads, "trust": trust, "confidence": confidence,
        }
        if evidence is not None:
            options["evidence"] = evidence
        if not self.positive_said:
            require_positive(Metric(metric), self.labels, options)
        if self.engine is not None:
            if options.setdefault("evidence", "model") == "calibrated":
                raise fail("EINVAL", "calibration needs all rows in one place: evidence is \"model\" or \"labels\" here")
            return find_rule(
                Metric(metric), np.empty((0, 0)), np.empty(0, np.uint32), self.labels, None, self.groups, engine=self.engine, **options
            )
        codes = self.codes
        if self.proba is None or codes is None:
            from .rule import best_of_domain

            of_rows = ("prior", "prior_from", "at_least", "at_most", "refer_cost", "row_cost", "trust", "confidence")
            given = [name for name in of_rows if options[name] is not None and options[name] is not False]
            if given:
                raise fail("EINVAL", f"best: {', '.join(given)} with rows of probabilities in memory only (from_proba)")
            return best_of_domain(self, Metric(metric))
        options["row_cost"] = _rows.costs_of_rows(row_cost, len(self.proba), self.columns, self.classes)
        return find_rule(
            Metric(metric), self.proba, codes, self.labels, self.group_codes, self.groups, self.sample_weight,
            columns=self.columns, **options
        )

    def score(self, metric: Union[Metric, str], rule: "Rule") -> float:
        """What a rule is worth on rows with the workers of Dask, by their labels; of rows here: metric(y_true, rule.decide(proba))."""
        metric = Metric(metric)
        if self.engine is None:
            raise fail("EINVAL", "score: for rows from Dask; of rows here a metric is called with y_true and the rule's decisions")
        if rule.classes != self.classes or (rule.groups and rule.groups != self.groups):
            raise fail("EINVAL", f"the rule is for {rule.classes} and {rule.groups}, the rows are of {self.classes} and {self.groups}")
        matrix = self.engine.confusion(rule.plain_gains(max(1, len(self.groups))), rule.shares)
        return metric.of_confusion(matrix if metric.needs_groups(len(self.classes)) else matrix.sum(axis=0))

    def optimise(
        self, metric: Union[Metric, str], y_validation: ArrayLike, proba_validation: ArrayLike, iterations: int = 50, whole: bool = False
    ) -> "Rule":
        """The rule that Frank-Wolfe steps find for a metric (FW-EG): trained on the rows with the workers of Dask, measured on
        validation rows that are here. whole: weights of every pair of classes."""
        from ._box import measure_of, stored_rule

        if self.engine is None:
            raise fail("EINVAL", "optimise: for rows from Dask; FrankWolfeClassifier is for rows here")
        table = _rows.in_class_order(proba_validation, self.columns, self.classes)
        codes = _rows.codes(_rows.column(y_validation, "y_validation"), self.labels, "y_validation")
        _rows.same_rows(len(table), y_validation=codes)
        rows, opt = ffi.new("mel_weight_rows *"), ffi.new("mel_optimise_options *")
        rows.n_rows, rows.probability, rows.label = len(table), pointer(table), pointer(codes, "uint32_t")
        lib.mel_optimise_options_init(opt)
        opt.iterations, opt.best, opt.engine, opt.progress.call = iterations, True, self.engine.handle, lib.melicit_progress
        opt.shape = lib.MEL_WEIGHT_WHOLE if whole else lib.MEL_WEIGHT_DIAGONAL
        measure = measure_of(Metric(metric), self.labels)
        box = ffi.new("mel_black_box *", lib.mel_measure_box(measure, ffi.NULL))
        result = ffi.gc(ffi.new("mel_optimise_result *"), lib.mel_optimise_clear)
        call(lib.mel_optimise, result, len(self.classes), 1, ffi.new("mel_weight_rows *"), rows, box, opt)
        return stored_rule(result, self.classes, self.labels, self.columns)

    def classifier_for(self, point: ArrayLike, family: str = "linear", delta: float = 1e-3) -> "Rule":
        """The classifier that achieves a point (an A or B of a question of that family), within delta: questions
        about two classes are in whole people out of 1,000."""
        from .rule import rule_at

        return rule_at(self, point, family, delta)

    def vertices(self, family: str = "linear") -> Floats:
        """Two classes: (TP, TN) of the corners of what is achievable, counter-clockwise."""
        face = self.ground(family).domain.face
        if face == ffi.NULL:
            raise fail("EINVAL", "vertices: what is achievable is planar for two classes without groups only")
        found = [lib.mel_face_vertex(face, i) for i in range(lib.mel_face_vertices(face))]
        return np.array([[point.tp, point.tn] for point in found])

    def plot(self, metric: Optional[Metric] = None, ax: Any = None) -> Any:
        """What classifiers can achieve (two classes), with the best one for a metric."""
        from .plots import feasible

        return feasible(self, metric, ax=ax)


def _store(path: str, array: NDArray[Any]) -> None:
    import io

    out = io.BytesIO()
    np.save(out, np.ascontiguousarray(array))
    _keep(path, out.getvalue())


def _keep(path: str, data: bytes) -> None:
    """Writes a file, or sees that it is the same already."""
    if os.path.exists(path):
        with open(path, "rb") as file:
            if file.read() == data:
                return
        raise fail("ECONFLICT", f"{path} holds other rows: this session is about other data, choose another path")
    with open(path + ".new", "wb") as file:
        file.write(data)
    os.replace(path + ".new", path)


def _problem_options(given: Dict[str, Any], classes: Sequence[str]) -> Tuple[Any, List[Any]]:
    options = ffi.new("mel_problem_options *")
    lib.mel_problem_options_init(options)
    kept: List[Any] = [options]

    def lent(value: object, what: str) -> Any:
        kept.append(ffi.new("char[]", text(value, what)))
        return kept[-1]

    for key, value in given.items():
        if key in ("radius", "seed"):
            setattr(options, key, value)
        elif key == "test_share":
            options.dataset.test_share = value
        elif key == "positive":
            options.dataset.naming.positive = lent(str(value), key)
        elif key in ("data", "label", "group", "weights"):
            setattr(options.dataset, key, lent(value, key))
        else:
            setattr(options, key, lent(value, key))
    if classes:
        names = Texts(list(classes), "classes")
        kept.append(names)
        options.dataset.naming.names.item, options.dataset.naming.names.n = names.pointer, len(classes)
    return options, kept


def _ground_of(problem: Any) -> Ground:
    out = Ground()
    out.domain[0] = problem.domain
    out.kept.append(problem)
    out.classes = texts_at(problem.class_name, problem.n_classes)
    out.groups = texts_at(problem.group_name, problem.n_groups)
    out.number_texts = bool(problem.classes.number_texts)
    place = [int(problem.classes.place[i]) for i in range(problem.n_classes)] if problem.classes.place else []
    out.columns = [out.classes[i] for i in np.argsort(place)] if place else out.classes
    out.layout = lib.mel_problem_layout(problem)
    out.class_share = copied(problem.class_share, problem.n_classes)
    out.rows, out.face, out.ball = problem.n_rows, problem.face, problem.ball
    out.digest = ffi.string(problem.digest).decode()
    if problem.description != ffi.NULL:
        out.description = ffi.string(problem.description).decode()
    return out


class _Frames:
    """Frames by name, what their streams need, and what went wrong when one was opened."""

    def __init__(self, frames: Dict[str, Any]) -> None:
        self.frames = frames
        self.kept: List[Any] = []
        self.error: Optional[BaseException] = None


@ffi.def_extern(error=lib.MEL_EDATA)  # type: ignore[misc]
def melicit_frame(out: Any, user: Any, name: Any, err: Any) -> int:
    frames = ffi.from_handle(user)
    try:
        frames.kept.append(_arrow.stream(out, frames.frames[ffi.string(name).decode()]))
    except Exception as error:
        frames.error = error
        return int(lib.MEL_EDATA)
    return int(lib.MEL_OK)


@ffi.def_extern(error=lib.MEL_EDATA)  # type: ignore[misc]
def melicit_fetch(out: Any, n: Any, user: Any, name: Any, err: Any) -> int:
    data = ffi.from_handle(user)[ffi.string(name).decode()]
    memory = lib.malloc(max(1, len(data)))
    if memory == ffi.NULL:
        return int(lib.MEL_ENOMEM)
    ffi.memmove(memory, data, len(data))
    out[0], n[0] = memory, len(data)
    return int(lib.MEL_OK)
