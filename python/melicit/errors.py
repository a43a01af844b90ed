"""Exceptions, one for each status of the library, made from its table: `errors.EDATA`, `errors.ECONFLICT`, ..."""
from __future__ import annotations

from typing import Dict, Tuple, Type

from ._native import ffi, lib


class MelicitError(Exception):
    """What the library refused or could not do, in its own sentence; `code` is the name of the status."""

    code = "EUNKNOWN"


# What Python would raise for the same reason, so that `except ValueError` does what one expects.
_ALSO: Dict[str, Type[Exception]] = {
    "EINVAL": ValueError,
    "EDATA": ValueError,
    "ELIMIT": ValueError,
    "ENOMEM": MemoryError,
    "EIO": OSError,
    "ENUMERIC": ArithmeticError,
    "ESTATE": RuntimeError,
    "ECONFLICT": RuntimeError,
}


def _make(status: int, name: str) -> Type[MelicitError]:
    sentence = ffi.string(lib.mel_status_text(status)).decode()
    bases: Tuple[type, ...] = (MelicitError, *([_ALSO[name]] if name in _ALSO else []))
    return type(name, bases, {"__doc__": sentence, "__module__": __name__, "code": name})


BY_STATUS: Dict[int, Type[MelicitError]] = {
    status: _make(status, name[len("MEL_") :])
    for status, name in ffi.typeof("mel_status").elements.items()
    if status != lib.MEL_OK
}
globals().update({kind.code: kind for kind in BY_STATUS.values()})


def __getattr__(name: str) -> Type[MelicitError]:
    raise AttributeError(f"the library has no status {name}")
