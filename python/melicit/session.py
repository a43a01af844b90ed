"""Sessions: questions, answers, and the metric that comes out; the same files as the program's."""
from __future__ import annotations

import json
import os
import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from . import _rows
from ._core import Floats, Texts, call, copied, fail, ffi, floats, lib, made, pointer, taken_text, text, to_json
from .metric import Metric, Path
from .problem import Ground, Problem, family_number

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

Answer = str  # "A", "B", "=" or "?"
Respondent = Union[Metric, Callable[["Question"], Answer]]


@dataclass(frozen=True, eq=False)
class Question:
    """Which of two classifiers is better? `a` and `b` are their statistics in the layout's order."""

    number: int
    expected: int  # about how many there will be; 0: unknown
    a: Floats
    b: Floats
    classes: Tuple[str, ...]
    groups: Tuple[str, ...]
    people: int  # the counts below are out of so many, of each class if of_each_class
    of_each_class: bool
    counts_a: NDArray[np.int64]  # groups x k x k people, [true, predicted]; -1: unknown
    counts_b: NDArray[np.int64]
    remark: str  # what to know about it: imagined, asked before
    names: Optional[Tuple[str, str]]  # of given classifiers

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Question):
            return NotImplemented
        return all(np.array_equal(mine, other.__dict__[name]) for name, mine in self.__dict__.items())

    def __hash__(self) -> int:
        return hash((self.number, self.classes, self.groups, self.a.tobytes(), self.b.tobytes()))


def _scalar_options() -> List[str]:
    """The keys of the library's table of options that are numbers, words or flags."""
    n = ffi.new("size_t *")
    rows = lib.mel_option_table(n)
    elsewhere = {"family", "degree", "tolerance_factor", "known_costs_only"}  # said by other arguments
    scalars = (lib.MEL_OPTION_NUMBER, lib.MEL_OPTION_WHOLE, lib.MEL_OPTION_FLAG, lib.MEL_OPTION_WORD, lib.MEL_OPTION_ASSUMPTION)
    keys = [ffi.string(rows[i].key).decode() for i in range(n[0]) if rows[i].type in scalars]
    return [key for key in keys if key not in elsewhere]


OPTIONS = _scalar_options()


class Session:
    """Finds a metric by asking which of two classifiers is preferred: ask and tell, or iterate.

    The options are those of `melicit elicit` (`melicit help elicit --all` explains them); None leaves what suits the
    respondent and the problem.

    Parameters
    ----------
    problem : Problem
        What the questions are about.
    family : str
        The shape of metric to look for: "linear", "linear-fractional", "diagonal-linear", "quadratic", "fair-linear", ...
    path : str or path, optional
        A session file as the program's, opened or resumed; rows that are in memory are stored next to it.
    for_people : bool
        20 questions at most, simple ones, wrong answers allowed for. False: as many as it takes, of a respondent that
        never errs, or errs as `noise` says.
    noise : str
        How a simulated respondent errs ("flip:0.1"), as in `simulate`.
    pool : array, optional
        Points of classifiers whose order is wanted (until="rank").
    prior, known, known_costs : Metric, optional
        A metric that is thought likely, with prior_strength=; what is known of a fair metric: everything but the
        trade-off, or the costs of mistakes.
    signs : sequence of int, optional
        The sign of each coefficient where it is known, else 0.

    Examples
    --------
    >>> import melicit
    >>> session = melicit.Session(melicit.Problem.population("logistic:a=5,b=0"), for_people=False, tolerance=0.01)
    >>> wanted = melicit.Metric.from_costs({"missed": 7, "false-alarm": 1})
    >>> 6.5 < session.simulate(wanted).metric.cost_ratio[0] < 7.5
    True
    """

    def __init__(
        self,
        problem: Problem,
        family: str = "linear",
        path: Optional[Path] = None,
        *,
        for_people: bool = True,
        noise: str = "none",
        pool: Optional[ArrayLike] = None,
        prior: Optional[Metric] = None,
        known: Optional[Metric] = None,
        known_costs: Optional[Metric] = None,
        signs: Optional[Sequence[int]] = None,
        strategy: Optional[str] = None,
        tolerance: Union[float, str, None] = None,
        questions: Optional[str] = None,
        people: Optional[int] = None,
        imagined_beyond: Optional[bool] = None,
        max_questions: Optional[int] = None,
        seed: Optional[int] = None,
        until: Optional[str] = None,
        prior_strength: Optional[float] = None,
        direction: Optional[str] = None,
        assume: Optional[str] = None,
        repeat_every: Optional[int] = None,
        announce_repeats: Optional[bool] = None,
        neither: Optional[bool] = None,
        simple_questions: Optional[bool] = None,
        diagonal_b: Optional[bool] = None,
        equal_pairs: Optional[bool] = None,
        known_p11: Optional[float] = None,
        per_round: Optional[int] = None,
        tournament: Optional[bool] = None,
        cycles: Optional[int] = None,
        ask_trade_off: Optional[bool] = None,
    ) -> None:
        options = {key: value for key, value in locals().items() if key in OPTIONS and value is not None}
        if not isinstance(problem, Problem):
            raise TypeError(f"problem: expected a Problem, not {type(problem).__name__}")
        family_number(family)
        self.problem, self.family = problem, family
        self.path = None if path is None else os.fspath(path)
        self._lock = threading.RLock()
        self._process = os.getpid()
        self._asked = 0.0
        self._ground = problem.ground(family) if path is None else problem.stored_ground(family, path)
        if for_people and noise != "none":
            raise fail("EINVAL", "noise: people err as they do; noise is for for_people=False")
        self._noise = noise
        settings, kept = self._settings(for_people, options)
        self._lend(settings, kept, pool, signs)
        self._lend_metrics(settings, kept, prior, known, known_costs)
        if self.path is None:
            self._handle: Any = made(
                "mel_session", lib.mel_session_free, lib.mel_session_new, self._ground.domain, settings
            )
            return
        identity = ffi.new("mel_identity *")
        space = ffi.new("char[]", (self._ground.description or "{}").encode())
        digest = ffi.new("char[]", self._ground.digest.encode())
        identity.space_json, identity.digest = space, digest if self._ground.digest else ffi.NULL
        self._handle = made(
            "mel_session",
            lib.mel_session_free,
            lib.mel_session_open,
            self._ground.domain,
            settings,
            identity,
            text(self.path, "path"),
        )

    def _settings(self, for_people: bool, options: Dict[str, Any]) -> Tuple[Any, List[Any]]:
        settings = ffi.new("mel_session_options *")
        lib.mel_session_options_init(settings)
        call(lib.mel_session_options_set, settings, b"family", text(self.family, "family"))
        if "strategy" in options:
            call(lib.mel_session_options_set, settings, b"strategy", _value(options["strategy"]))
        who = lib.MEL_BY_PERSON if for_people else lib.MEL_BY_METRIC
        errs = ffi.new("mel_noise *")
        call(lib.mel_noise_parse, errs, text(self._noise, "noise"))
        told = ffi.NULL if "assume" in options else errs
        call(lib.mel_session_options_suit, settings, self._ground.domain, who, told, 1)
        for key, value in options.items():
            call(lib.mel_session_options_set, settings, text(key, "option"), _value(value))
        names = Texts(self._ground.classes, "classes")
        groups = Texts(self._ground.groups, "groups")
        settings.class_names, settings.group_names = names.pointer, groups.pointer
        settings.decisions = lib.mel_decisions_usual()
        return settings, [names, groups]

    def _lend(self, settings: Any, kept: List[Any], pool: Any, signs: Any) -> None:
        if pool is not None:
            points = floats(pool, "pool", (2,))
            if points.shape[1] != lib.mel_layout_size(self._ground.layout):
                raise fail("EINVAL", f"pool: points of {points.shape[1]} numbers, questions are about "
                           f"{lib.mel_layout_size(self._ground.layout)}")
            settings.n_pool, settings.pool = len(points), pointer(points)
            kept.append(points)
        if signs is not None:
            wanted = ffi.new("size_t *")
            call(lib.mel_family_coefficients, wanted, settings.family, settings.degree, self._ground.layout)
            if len(signs) > wanted[0] or len(signs) < lib.mel_layout_size(self._ground.layout):
                raise fail("EINVAL", f"signs: {len(signs)} for {lib.mel_layout_size(self._ground.layout)} statistics")
            lent = ffi.new("signed char[]", [int(np.sign(s)) for s in signs])
            settings.signs = lent
            kept.append(lent)

    def _lend_metrics(
        self,
        settings: Any,
        kept: List[Any],
        prior: Optional[Metric],
        known: Optional[Metric],
        known_costs: Optional[Metric],
    ) -> None:
        if known is not None and known_costs is not None:
            raise fail("EINVAL", "known and known_costs: one metric is known, not two")
        if prior is not None:
            kept.append(self._in_order(prior, "prior"))
            settings.prior = kept[-1]
        if known is not None or known_costs is not None:
            which = ("known", known) if known is not None else ("known_costs", known_costs)
            kept.append(self._in_order(which[1], which[0]))
            settings.known, settings.known_costs_only = kept[-1], known is None

    # --- life ---

    def close(self) -> None:
        """Lets go of the file; what was answered is in it."""
        with self._lock:
            handle, self._handle = self._handle, None
            if handle is not None:
                ffi.release(handle)

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open(self) -> Any:
        if self._handle is None:
            raise fail("ESTATE", "this session was closed")
        if self.path is not None and os.getpid() != self._process:
            raise fail("ESTATE", f"{self.path} belongs to the process that opened it, which this one was forked from: open the "
                       "session here after the other one has closed it")
        return self._handle

    # --- questions and answers ---

    def ask(self) -> Optional[Question]:
        """The open question, the same until it is answered; None when there is none left."""
        with self._lock:
            question, done = ffi.new("const mel_question **"), ffi.new("bool *")
            call(lib.mel_session_ask, question, done, self._open())
            self._asked = time.monotonic()
            return None if done[0] else self._shown(question[0])

    def _shown(self, q: Any) -> Question:
        size = int(lib.mel_layout_size(q.layout))
        counted = ffi.new("mel_counted *")
        call(lib.mel_counted_make, counted, q, q.people)
        try:
            shape = (counted.n_groups, counted.k, counted.k)
            a, b = (
                np.frombuffer(ffi.buffer(side, 8 * int(np.prod(shape))), np.int64).reshape(shape).copy()
                for side in (counted.a, counted.b)
            )
            people, each = int(counted.people), bool(counted.of_each_class)
        finally:
            lib.mel_counted_clear(counted)
        remark = lib.mel_question_remark(q)
        words = "" if remark == ffi.NULL else ffi.string(remark).decode()
        lib.free(remark)
        names = None
        if q.named and q.classifier_a != ffi.NULL:
            names = (ffi.string(q.classifier_a).decode(), ffi.string(q.classifier_b).decode())
        return Question(
            int(q.number),
            int(q.expected),
            copied(q.a, size),
            copied(q.b, size),
            tuple(self._ground.classes),
            tuple(self._ground.groups),
            people,
            each,
            a,
            b,
            words,
            names,
        )

    def tell(self, question: Union[Question, int], answer: Answer, seconds: Optional[float] = None) -> None:
        """Answers a question: "A", "B", "=" (about the same), "?" (can't say) or, in a session with
        neither=True, "neither" (will do). Again with the same answer: nothing
        happens; with another one: refused."""
        number = question.number if isinstance(question, Question) else question
        if isinstance(number, bool) or not isinstance(number, (int, np.integer)) or not 0 <= number < 2**32:
            raise fail("EINVAL", f"question: expected a Question or its number, not {question!r}")
        parsed = ffi.new("mel_answer *")
        call(lib.mel_answer_parse, parsed, text(answer, "answer"))
        with self._lock:
            if seconds is None:
                seconds = time.monotonic() - self._asked if self._asked else float("nan")
            call(lib.mel_session_tell, self._open(), int(number), parsed[0], float(seconds))

    def undo(self) -> None:
        """Takes the last answer back."""
        with self._lock:
            call(lib.mel_session_undo, self._open())

    def __iter__(self) -> Iterator[Question]:
        """Questions until there are none; each must be told before the next."""
        while True:
            question = self.ask()
            if question is None:
                return
            yield question
            if len(self) < question.number:
                raise fail("ESTATE", f"question {question.number} was not answered: tell() it before the next one")

    def __len__(self) -> int:
        """Answers so far."""
        with self._lock:
            return int(lib.mel_session_answers(self._open()))

    def run(self, respondent: Callable[[Question], Answer]) -> "Session":
        """Asks a callable until there are no more questions; it may return None to stop."""
        for question in self:
            answer = respondent(question)
            if answer is None:
                return self
            self.tell(question, answer)
        return self

    def simulate(self, oracle: Respondent, noise: Optional[str] = None, seed: int = 1) -> "Session":
        """Answers by a metric, with noise ("flip:0.1", "band:0.01", "logistic:50", "person"; the session's own unless
        given), or by a callable."""
        noise = self._noise if noise is None else noise
        if not isinstance(oracle, Metric):
            if noise != "none":
                raise fail("EINVAL", "noise: a callable errs as it likes; noise goes with a metric")
            return self.run(oracle)
        opt = ffi.new("mel_simulated_options *")
        lib.mel_simulated_options_init(opt)
        parsed = ffi.new("mel_noise *")
        call(lib.mel_noise_parse, parsed, text(noise, "noise"))
        opt.noise, opt.seed = parsed[0], seed
        metric = self._in_order(oracle, "oracle")
        answers = made("mel_oracle", lib.mel_oracle_free, lib.mel_oracle_simulated, metric, opt)
        with self._lock:
            self._simulate(answers)
        return self

    def _simulate(self, answers: Any) -> None:
        question, done, reply = ffi.new("const mel_question **"), ffi.new("bool *"), ffi.new("mel_reply *")
        while True:
            call(lib.mel_session_ask, question, done, self._open())
            if done[0]:
                return
            number = question[0].number
            call(lib.mel_oracle_ask, reply, answers, question[0])
            call(lib.mel_session_tell, self._open(), number, int(reply[0]), float("nan"))

    def _in_order(self, metric: Any, what: str) -> Any:
        """The metric in the order of this session's classes and groups."""
        return _rows.matched(Metric(metric)._object(what), self._ground.layout, self._ground.classes, self._ground.groups)

    # --- what was found ---

    def _result(self) -> Tuple[Any, Any]:
        with self._lock:
            out, summary = ffi.new("mel_metric **"), ffi.new("mel_summary *")
            call(lib.mel_session_result, out, summary, self._open())
            return ffi.gc(out[0], lib.mel_metric_free), summary

    @property
    def metric(self) -> Metric:
        """As known now, with intervals, and with draws of what is open for rankings."""
        metric, _ = self._result()
        try:
            drawn: Optional[Floats] = self.draws()
        except RuntimeError:  # a search has none
            drawn = None
        return Metric._of(metric, None, drawn)

    @property
    def interval(self) -> Floats:
        """95% interval of each coefficient, n x 2."""
        return self.metric.intervals

    @property
    def expected_remaining(self) -> int:
        """About how many questions are still to come; 0 when done."""
        with self._lock:
            return int(lib.mel_session_expected(self._open()))

    def draws(self) -> Floats:
        """Equally likely metrics given the answers: rows of coefficients."""
        with self._lock:
            n, each, values = ffi.new("size_t *"), ffi.new("size_t *"), ffi.new("double **")
            call(lib.mel_session_draws, n, each, values, self._open())
            out = copied(values[0], n[0] * each[0]).reshape(n[0], each[0])
            lib.free(values[0])
            return out

    @property
    def outcome(self) -> Dict[str, Any]:
        """Everything that `melicit elicit --json` says about what was found."""
        with self._lock:
            opt = ffi.new("mel_outcome_options *")
            lib.mel_outcome_options_init(opt)
            opt.rows = self._ground.rows
            outcome = made("mel_outcome", lib.mel_outcome_free, lib.mel_outcome_of_session, self._open(), opt)
            found: Dict[str, Any] = to_json(lib.mel_outcome_to_json, outcome)
            ffi.release(outcome)
            return found

    def records(self) -> List[Dict[str, Any]]:
        """Questions and answers so far."""
        with self._lock:
            handle = self._open()
            size = int(lib.mel_layout_size(lib.mel_session_layout(handle)))
            out = []
            for i in range(int(lib.mel_session_answers(handle))):
                record = lib.mel_session_record(handle, i)
                out.append(
                    {
                        "question": i + 1,
                        "answer": ffi.string(lib.mel_answer_name(record.answer)).decode(),
                        "seconds": record.seconds,
                        "repeated": bool(record.repeated),
                        "a": copied(record.a, size),
                        "b": copied(record.b, size),
                    }
                )
            return out

    def report(self, path: Optional[Path] = None, *, title: Optional[str] = None) -> str:
        """The page that `melicit report` makes, as HTML that needs nothing else; stored as a file, too, if there is a path."""
        with self._lock:
            about, opt = ffi.new("mel_outcome_options *"), ffi.new("mel_report_options *")
            lib.mel_outcome_options_init(about)
            lib.mel_report_options_init(opt)
            about.rows = self._ground.rows
            called = ffi.NULL if title is None else ffi.new("char[]", text(title, "title"))
            where = ffi.NULL if self.path is None else ffi.new("char[]", text(self.path, "path"))
            opt.about, opt.title, opt.session_path = about, called, where
            page = taken_text(lib.mel_report_session, self._open(), opt)
        if path is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(page)
        return page

    def _repr_html_(self) -> str:
        return _rows.as_table(f"Session about {self.family} metrics, {len(self)} answers", self.metric._summary())

    def to_frame(self) -> Any:
        """Questions and answers as a pandas frame, a column for each statistic of A and B."""
        import pandas

        rows = []
        for record in self.records():
            sides = {f"{side}{i + 1}": x for side in "ab" for i, x in enumerate(record.pop(side))}
            rows.append({**record, **sides})
        return pandas.DataFrame(rows).set_index("question") if rows else pandas.DataFrame(
            columns=["answer", "seconds", "repeated"]
        )

    def plot(self, ax: Any = None) -> Any:
        """What is known about the metric: draws from the posterior."""
        from .plots import posterior

        return posterior(self, ax=ax)


class Pooled(NamedTuple):
    """What several people want."""

    metric: Metric  # the mean of the people whom they stand for, with 95% intervals
    outcome: Dict[str, Any]  # everything that `melicit elicit --respondents --json` says: who differs, how far people are apart


def pool(sessions: Sequence[Session], names: Optional[Sequence[str]] = None) -> Pooled:
    """Several people's sessions about the same data together, each one's answers read by the session's own model of answers.
    names: what the respondents are called. One session given twice is one person, and refused."""
    if names is not None and len(names) != len(sessions):
        raise fail("EINVAL", f"names: {len(names)} for {len(sessions)} sessions")
    for i, session in enumerate(sessions):
        if not isinstance(session, Session):
            raise TypeError(f"sessions: expected Sessions, not {type(session).__name__}")
        if not _same_ground(session._ground, sessions[0]._ground):
            raise fail("EDATA", f"session {i + 1} is about other data, or another space, than the first one")
    called = Texts([str(name) for name in names or ()], "names")
    opt = ffi.new("mel_outcome_options *")
    lib.mel_outcome_options_init(opt)
    opt.respondents = called.pointer if names is not None else ffi.NULL
    with ExitStack() as locks:
        for session in sorted(sessions, key=id):  # two calls at once never wait for each other
            locks.enter_context(session._lock)
        handles = ffi.new("mel_session *[]", [session._open() for session in sessions])
        outcome = made("mel_outcome", lib.mel_outcome_free, lib.mel_outcome_of_sessions, len(sessions), handles, opt)
        found: Dict[str, Any] = to_json(lib.mel_outcome_to_json, outcome)
        ffi.release(outcome)
    return Pooled(Metric.from_json(json.dumps(found["metric"])), found)


def _same_ground(one: Ground, other: Ground) -> bool:
    if one.digest and other.digest:
        return one.digest == other.digest
    same = one.classes == other.classes and one.groups == other.groups and one.rows == other.rows
    return same and np.array_equal(one.class_share, other.class_share)


def _value(value: Any) -> bytes:
    if isinstance(value, (bool, np.bool_)):
        return b"true" if value else b"false"
    return text(value if isinstance(value, str) else repr(value.item() if isinstance(value, np.generic) else value), "option")
