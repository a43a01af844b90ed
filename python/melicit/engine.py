"""Rows that are elsewhere: the library asks for sums, and an engine adds up what the holders of the rows say."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, List, Optional, Sequence, Tuple

import numpy as np

from . import _rows
from ._core import Codes, Floats, _stopped, call, copied, fail, ffi, floats, lib, made, pointer

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@ffi.def_extern(error=lib.MEL_ESTOPPED, onerror=_stopped)  # type: ignore[misc]
def melicit_engine(out: Any, asked: Any, user: Any, err: Any) -> int:
    total = ffi.from_handle(user).run(int(asked.kind), copied(getattr(asked, "in"), asked.n_in), int(asked.n_out))
    ffi.memmove(out, pointer(total), 8 * asked.n_out)
    return int(lib.MEL_OK)


class Rows:
    """Rows of one process, in the order of `classes` and `groups`: what answers passes. Goes to other processes by pickle."""

    def __init__(
        self,
        y: ArrayLike,
        classes: Sequence[Any],
        X: Optional[ArrayLike] = None,
        proba: Optional[ArrayLike] = None,
        group: Optional[ArrayLike] = None,
        groups: Sequence[Any] = (),
        weight: Optional[ArrayLike] = None,
    ) -> None:
        self._made_of = (y, classes, X, proba, group, groups, weight)
        codes = _rows.codes(_rows.column(y, "y"), classes, "y")
        kept: List[Any] = [codes]
        rows = ffi.new("mel_rows *")
        rows.n_rows, rows.n_classes, rows.n_groups = codes.size, len(classes), len(groups)
        rows.label = pointer(codes, "uint32_t")
        if X is not None:
            array = floats(X, "X", (2,))
            view = ffi.new("mel_features *", {"n_rows": array.shape[0], "n_cols": array.shape[1], "stride": array.shape[1]})
            view.dense = pointer(array)
            rows.x = view
            kept += [array, view]
        if proba is not None:
            names = [_rows.name_of(label) for label in classes]
            array = _rows.in_class_order(proba, names, names)  # columns of frames by their names
            _rows.same_rows(codes.size, proba=array)
            rows.probability = pointer(array)
            kept.append(array)
        if group is not None:
            of = _rows.codes(_rows.column(group, "groups"), groups, "groups")
            _rows.same_rows(codes.size, groups=of)
            rows.group = pointer(of, "uint32_t")
            kept.append(of)
        if weight is not None:
            rows.weight = pointer(_rows.weights(weight, codes.size))
            kept.append(weight)
        self._kept = [*kept, rows]
        self._held = made("mel_held_rows", lib.mel_held_rows_free, lib.mel_rows_hold, rows, 1)

    def answer(self, kind: int, asked: Floats, n_out: int) -> Floats:
        """The sums of a pass over these rows."""
        out = np.empty(n_out)
        numbers = np.ascontiguousarray(asked)
        call(lib.mel_rows_pass, pointer(out), self._held, ffi.new("mel_pass *", [kind, numbers.size, n_out, pointer(numbers)]))
        return out

    def __reduce__(self) -> Tuple[Any, ...]:
        return Rows, self._made_of


class Engine:
    """Adds up what all parts of the rows say: ask(kind, numbers, n_out) gives a list of arrays, always in the same order."""

    def __init__(self, ask: Callable[[int, Floats, int], Sequence[Floats]], classes: Sequence[Any], groups: Sequence[Any] = ()) -> None:
        self._ask = ask
        self.classes, self.groups = list(classes), list(groups)
        self._self = ffi.new_handle(self)
        self.handle = ffi.new("mel_row_engine *", {"run": lib.melicit_engine, "user": self._self})

    def run(self, kind: int, asked: Floats, n_out: int) -> Floats:
        total = np.zeros(n_out)
        for part in self._ask(kind, asked, n_out):
            total += part
        return total

    @classmethod
    def of_rows(cls, parts: Sequence[Rows], classes: Sequence[Any], groups: Sequence[Any] = ()) -> "Engine":
        """Parts that are all here."""
        return cls(lambda kind, asked, n_out: [part.answer(kind, asked, n_out) for part in parts], classes, groups)

    @classmethod
    def of_dask(cls, client: Any, y: Any, *, classes: Optional[Sequence[Any]] = None, groups: Any = None, **columns: Any) -> "Engine":
        """Dask arrays, frames or series whose parts hold the same rows. They stay where the workers of the client have them: passes
        go there, sums come back. classes: in this order; default: the sorted labels."""
        parts = {name: _parts(client, column, name) for name, column in {"y": y, "group": groups, **columns}.items() if column is not None}
        for name, of in parts.items():
            if len(of) != len(parts["y"]):
                raise fail("EINVAL", f"{name}: {len(of)} parts, y has {len(parts['y'])}: rechunk or repartition them alike")
        known = list(classes) if classes is not None else _known(client, parts["y"])
        of_groups = _known(client, parts["group"]) if groups is not None else []
        held = []
        for i in range(len(parts["y"])):
            own = {name: of[i] for name, of in parts.items()}
            held.append(client.submit(_held, known, of_groups, **own, pure=False))
        width = client.submit(_width, parts["X"][0]).result() if "X" in parts else 0

        def ask(kind: int, asked: Floats, n_out: int) -> List[Floats]:
            answers = [client.submit(_answer, rows, kind, asked, n_out, pure=False) for rows in held]
            return list(client.gather(answers))

        out = cls(ask, known, of_groups)
        out.n_features = width
        return out

    n_features = 0

    def confusion(self, gains: Floats, share: Floats) -> Floats:
        """How many rows of each class (and group) are decided as each class by a mixture of rules, by their labels."""
        k, m = len(self.classes), max(1, len(self.groups))
        total = np.zeros((m, k, gains.shape[-1]))
        for rule, part in zip(gains.reshape(len(share), m, k, -1), share):
            for g in range(m):
                head = [k, rule.shape[-1], m, int(lib.MEL_BY_LABELS), 0, g]
                asked = np.concatenate([head, rule[g].ravel()]).astype(float)
                sums = self.run(int(lib.MEL_PASS_DECISIONS), asked, rule[g].size)
                total[g] += part * sums.reshape(rule.shape[-1], k).T
        return total


def _parts(client: Any, column: Any, name: str) -> List[Any]:
    """Futures of the parts of a Dask collection, all columns of a row in one of them."""
    if not hasattr(column, "to_delayed"):
        raise fail("EINVAL", f"{name}: expected a Dask array, frame or series, not {type(column).__name__}")
    if getattr(column, "ndim", 1) == 2 and hasattr(column, "rechunk"):
        column = column.rechunk({1: -1})
    delayed = column.to_delayed()
    return list(client.compute(list(np.asarray(delayed, dtype=object).ravel())))


def _known(client: Any, parts: List[Any]) -> List[Any]:
    found = client.gather([client.submit(_distinct, part, pure=False) for part in parts])
    return list(_rows.distinct(np.concatenate(found)).tolist())


def _distinct(part: Any) -> Any:
    return _rows.distinct(_rows.column(part, "y"))


def _width(part: Any) -> int:
    return int(np.asarray(part).shape[1])


def _held(classes: Sequence[Any], groups: Sequence[Any], y: Any, X: Any = None, proba: Any = None, group: Any = None, weight: Any = None) -> Rows:
    return Rows(y, classes, X, proba, group, groups, weight)


def _answer(rows: Rows, kind: int, asked: Floats, n_out: int) -> Floats:
    return rows.answer(kind, asked, n_out)
