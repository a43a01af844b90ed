"""Labels and groups as codes, confusion matrices out of them."""
from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from ._core import Codes, Floats, Texts, call, fail, ffi, floats, lib, made, text

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def name_of(label: Any) -> str:
    """What a label is called in files: whole numbers without a point."""
    if isinstance(label, (bool, np.bool_)):
        return str(int(label))
    if isinstance(label, (float, np.floating)) and float(label).is_integer():
        return str(int(label))
    return str(label)


def listed(names: Sequence[str]) -> str:
    """For people: of two classes the second is the positive one."""
    return ", ".join(names) + (" (positive)" if len(names) == 2 else "")


def number_texts(labels: Sequence[Any]) -> bool:
    """Whether all labels are texts that look like numbers: files say so, else they would be sorted by value."""
    try:
        return all(isinstance(label, str) and np.isfinite(float(label)) for label in labels)
    except ValueError:
        return False


def column(values: ArrayLike, what: str) -> NDArray[Any]:
    """One label or group per row, none of them missing."""
    array = np.asarray(values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise fail("EINVAL", f"{what}: expected one value per row, not {array.ndim} dimensions")
    if array.dtype.kind == "c":
        raise fail("EDATA", f"{what}: complex numbers are no labels")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise fail("EDATA", f"{what}[{int(np.flatnonzero(~np.isfinite(array))[0])}]: missing or not finite")
    if array.dtype.kind == "O":
        for i, value in enumerate(array):
            if value is None or (isinstance(value, float) and not np.isfinite(value)):
                raise fail("EDATA", f"{what}[{i}]: missing")
            if not isinstance(value, (str, bool, int, float, np.generic)):
                raise fail("EDATA", f"{what}[{i}]: {type(value).__name__} is no label")
    return array


def of_table(X: Any, which: Any) -> Any:
    """A column of X: by its name, or by its place in what has no names."""
    if hasattr(X, "columns"):
        return X[which]
    if isinstance(which, bool) or not isinstance(which, (int, np.integer)):
        raise fail("EINVAL", f"groups {which!r}: X has no names of columns; the place of one, from 0 on")
    return np.asarray(X)[:, which]


def distinct(*arrays: NDArray[Any]) -> NDArray[Any]:
    """The different values in sorted order; short of a sort where they are small whole numbers."""
    parts = []
    for array in arrays:
        if array.dtype.kind in "iub" and array.size:
            low, high = int(array.min()), int(array.max())
            if high - low < 4096:
                counts = np.bincount(array.astype(np.intp, copy=False) - low)
                parts.append((np.flatnonzero(counts) + low).astype(array.dtype))
                continue
        try:
            parts.append(np.unique(array))
        except TypeError:
            raise fail("EDATA", "labels of different types (texts and numbers) have no order") from None
    try:
        joined: NDArray[Any] = np.unique(np.concatenate(parts)) if len(parts) > 1 else parts[0]
    except TypeError:
        raise fail("EDATA", "labels of different types (texts and numbers) have no order") from None
    named = [label for label in joined.tolist() if isinstance(label, str)] if joined.dtype.kind in "OU" else []
    if len(named) > 1:
        lent = Texts(named, "labels")
        call(lib.mel_names_differ, len(named), lent.pointer, text("labels", "labels"))
    return joined


def codes(array: NDArray[Any], classes: Sequence[Any], what: str, narrow: bool = False) -> Codes:
    """Each value's place among the classes, in memory that nobody else changes; refuses a value that is none of them.
    narrow: bytes where these suffice."""
    known = np.asarray(list(classes), dtype=object if array.dtype.kind == "O" else None)
    kind = np.uint8 if narrow and known.size <= 256 else np.uint32
    whole = array.dtype.kind in "iub" and known.dtype.kind in "iub"
    if array.dtype == np.uint32 and whole and np.array_equal(known, np.arange(known.size)):
        if array.size == 0 or int(array.max()) < known.size:
            return array.astype(kind, order="C", copy=True)
    if whole and known.size and int(known.max()) - int(known.min()) < 4096 and array.size:
        low, high = int(known.min()), int(known.max())
        if low <= int(array.min()) and int(array.max()) <= high:
            table: Codes = np.full(high - low + 1, known.size, dtype=np.uint32)
            table[known.astype(np.intp) - low] = np.arange(known.size, dtype=np.uint32)
            found = table[array.astype(np.intp, copy=False) - low] if low else table[array.astype(np.intp, copy=False)]
            return _checked(found, array, known, what, kind)
    place = {name_of(label): i for i, label in enumerate(known)}
    values, back = _inverse(array)
    table = np.array([place.get(name_of(value), known.size) for value in values], dtype=np.uint32)
    return _checked(table[back] if values.size else np.empty(0, np.uint32), array, known, what, kind)


def _inverse(array: NDArray[Any]) -> Tuple[NDArray[Any], NDArray[np.intp]]:
    try:
        values, back = np.unique(array, return_inverse=True)
    except TypeError:  # texts next to numbers
        seen: List[Any] = list(dict.fromkeys(array.tolist()))
        where = {value: i for i, value in enumerate(seen)}
        values, back = np.array(seen, dtype=object), np.array([where[v] for v in array.tolist()], dtype=np.intp)
    return values, back.astype(np.intp)


def _checked(found: Codes, array: NDArray[Any], known: NDArray[Any], what: str, kind: Any) -> Codes:
    if found.size and int(found.max()) >= known.size:
        row = int(np.flatnonzero(found == known.size)[0])
        names = ", ".join(name_of(label) for label in known[:8])
        raise fail("EDATA", f"{what}[{row}]: {name_of(array[row])!r} is none of the classes ({names})")
    return np.ascontiguousarray(found, dtype=kind)


def in_sorted_order(names: Sequence[str], texts: bool) -> List[str]:
    """Names of classes as scikit-learn's classes_ has them: numbers by value, unless they are texts."""
    by_value = not texts and number_texts(names)
    return sorted(names, key=lambda name: (float(name) if by_value else 0.0, name))


def in_class_order(proba: Any, columns: Sequence[str], classes: Sequence[str]) -> Floats:
    """Probabilities with a column for each class, in the order of `classes`.

    A frame's columns are matched by name. Those of an array, and of a frame that calls them 0, 1, .., are as `columns` has
    them. One column is that of the class that a Series names, else of the last class where that is also the last column.
    """
    if hasattr(proba, "columns") and len(proba.columns) == 1:
        proba = proba.iloc[:, 0]
    if hasattr(proba, "columns") and len(proba.columns) == len(columns):
        titles = [name_of(title) for title in proba.columns]
        where = places(classes, titles)
        if where is not None:
            return floats(proba.iloc[:, where], "proba", (2,))
        if titles != [str(i) for i in range(len(columns))]:
            raise fail("EINVAL", f"proba: the columns {titles} are not the classes {list(columns)}")
    table = floats(proba, "proba", (1, 2))
    if table.ndim == 2 and table.shape[1] == 1:
        table = np.ascontiguousarray(table[:, 0])
    if table.ndim == 1 and len(columns) == 2:
        title = getattr(proba, "name", None)
        if isinstance(title, str) and title in classes:
            last = title == classes[1]
        elif list(columns) == list(classes):
            last = True
        else:
            raise fail("EINVAL", f"proba: of which class is this one column? Give both ({', '.join(columns)}), or a Series "
                       "with the name of the class")
        return np.column_stack([1.0 - table, table] if last else [table, 1.0 - table])
    if table.ndim != 2 or table.shape[1] != len(columns):
        raise fail("EINVAL", f"proba: expected a column for each of {len(columns)} classes ({', '.join(columns[:8])}), "
                   f"not {table.shape}")
    if list(columns) == list(classes):
        return table
    return np.ascontiguousarray(table[:, [list(columns).index(name) for name in classes]])


def places(names: Sequence[str], among: Sequence[str]) -> Optional[List[int]]:
    """Where the second list has each name of the first, numbers by value; None: they are not the same names."""
    if len(names) != len(among) or not names:
        return None
    out = ffi.new("size_t[]", len(names))
    wanted, known = Texts(names, "names"), Texts(among, "names")
    if not lib.mel_name_places(out, len(names), wanted.pointer, known.pointer):
        return None
    return [int(place) for place in out]


def matched(metric: Any, layout: Any, names: Sequence[str], groups: Sequence[str]) -> Any:
    """A metric's object in the order of these classes and groups, matched by name."""
    of, among = Texts(names, "classes"), Texts(groups, "groups")
    match = ffi.new("mel_match *", {"name": of.pointer, "group": among.pointer})
    return made("mel_metric", lib.mel_metric_free, lib.mel_metric_match, metric, layout, match)


def weights(values: Optional[ArrayLike], n: int) -> Optional[Floats]:
    if values is None:
        return None
    array = floats(values, "sample_weight")
    if array.size != n:
        raise fail("EINVAL", f"sample_weight: {array.size} weights for {n} rows")
    if not (np.isfinite(array).all() and (array >= 0).all()):
        raise fail("EDATA", "sample_weight: weights are finite and not negative")
    if not array.sum() > 0:
        raise fail("EDATA", "sample_weight: all weights are zero")
    return array


def costs_of_rows(values: Any, n: int, columns: Sequence[str], classes: Sequence[str]) -> Optional[Floats]:
    """Rows x classes, in the order of `classes`; one number a row counts for all of them, {class: numbers} for these. A frame's columns are matched by name, those
    of an array are as `columns` has them."""
    if values is None:
        return None
    if isinstance(values, Mapping):
        named = {name_of(label): floats(of, "row_cost") for label, of in values.items()}
        if not named or not set(named) <= set(classes):
            raise fail("EINVAL", f"row_cost: {', '.join(named) or 'nothing'} is not among the classes ({', '.join(classes)})")
        values, columns = np.stack([named.get(name, np.ones(n)) for name in classes], axis=1), classes
    array = floats(values, "row_cost", (1, 2))
    if len(array) != n or array.ndim == 2 and array.shape[1] != len(classes):
        raise fail("EINVAL", f"row_cost: expected a number, or one for each of {len(classes)} classes, for each of {n} rows, not {array.shape}")
    if not (np.isfinite(array).all() and (array >= 0).all()):
        raise fail("EDATA", "row_cost: costs are finite and not negative")
    if array.ndim == 1:
        return np.ascontiguousarray(np.repeat(array[:, None], len(classes), axis=1))
    names = [name_of(title) for title in values.columns] if hasattr(values, "columns") else list(columns)
    where = places(classes, names)
    if where is None:
        raise fail("EINVAL", f"row_cost: the columns {names} are not the classes {list(classes)}")
    return np.ascontiguousarray(array[:, where])


def refuse_probabilities(true: NDArray[Any], predicted: NDArray[Any], what: str = "y_pred") -> None:
    """Numbers between 0 and 1 that are no labels are what a model says, not what somebody decides."""
    if predicted.dtype.kind != "f" or not predicted.size or true.dtype.kind == "f" and not np.array_equal(true, np.floor(true)):
        return
    if predicted.min() >= 0.0 and predicted.max() <= 1.0 and not np.array_equal(predicted, np.floor(predicted)):
        raise fail("EDATA", f"{what}: these are probabilities, not decisions; decide by a rule (MetricClassifier, Problem.best) "
                   f"or by a threshold ({what} >= 0.5) first")


def confusion(
    true: Codes, predicted: Codes, k: int, weight: Optional[Floats], group: Optional[Codes] = None, m: int = 1
) -> Floats:
    """m x k x k: of each group, true classes in rows."""
    if k * k * max(m, 1) > 2**26:
        raise fail("ELIMIT", f"{k} classes are more than confusion matrices are made for")
    cell = true.astype(np.intp) * k + predicted
    if group is not None:
        cell += group.astype(np.intp) * (k * k)
    counts = np.bincount(cell, weights=weight, minlength=m * k * k)
    return counts.astype(np.float64).reshape(m, k, k)


def as_table(caption: str, rows: Sequence[Tuple[str, str]]) -> str:
    """For notebooks."""
    body = "".join(f"<tr><th>{html.escape(name)}</th><td>{html.escape(value)}</td></tr>" for name, value in rows)
    return f"<table><caption>{html.escape(caption)}</caption>{body}</table>"


def same_rows(n: int, **arrays: Any) -> None:
    for what, array in arrays.items():
        if array is not None and len(array) != n:
            raise fail("EINVAL", f"{what}: {len(array)} rows, but y_true has {n}")
