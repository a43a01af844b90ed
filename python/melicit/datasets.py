"""The data sets that come with melicit, as pandas frames: load_adult_train(), load_german_credit(), ...

`names()` lists them; where they come from, and their licences, is in data/README.md of the source.
"""
from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, List, Optional, Tuple, Union

from ._core import fail

if TYPE_CHECKING:
    from pandas import DataFrame, Series

ENDING = ".csv.gz"


@functools.lru_cache(maxsize=None)
def folder() -> Optional[str]:
    """Where they are: in the package or, where it is installed with the program, in share/melicit; None: nowhere."""
    places = [parent / "share" / "melicit" for parent in Path(__file__).resolve().parents]
    return next((str(place) for place in places if place.is_dir()), None)


def names() -> List[str]:
    """What there is: each can be loaded, and named as `data` of Problem.from_files."""
    where = folder()
    return sorted(name[: -len(ENDING)] for name in os.listdir(where) if name.endswith(ENDING)) if where else []


def load(name: str, *, return_X_y: bool = False) -> Union["DataFrame", Tuple["DataFrame", "Series[Any]"]]:
    """A data set by its name.

    Parameters
    ----------
    name : str
        One of names().
    return_X_y : bool
        The features and the labels, without columns "meta_*", instead of one table.

    Examples
    --------
    >>> from melicit import datasets
    >>> X, y = datasets.load_breast_cancer_original(return_X_y=True)
    >>> X.shape, sorted(set(y))
    ((699, 9), [0, 1])
    """
    import pandas

    if name not in names():
        raise fail("EINVAL", f"there is no data set {name!r}; there are {', '.join(names())}")
    table = pandas.read_csv(os.path.join(folder() or "", name + ENDING))
    if not return_X_y:
        return table
    left_out = ["label", *(title for title in table.columns if title.startswith("meta_"))]
    return table.drop(columns=left_out), table["label"]


def __dir__() -> List[str]:
    return ["load", "names", *("load_" + name for name in names())]


def __getattr__(name: str) -> Callable[..., Any]:
    if not name.startswith("load_") or name[len("load_"):] not in names():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return functools.partial(load, name[len("load_"):])
