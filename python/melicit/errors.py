"""Exceptions, one for each status of the library: `errors.DataError`, `errors.ConflictError`, ..."""
from __future__ import annotations

from typing import Dict, Type

from ._native import lib


class MelicitError(Exception):
    """What the library refused or could not do, in its own sentence; `code` is the name of the status."""

    code = "EUNKNOWN"


class InvalidArgumentError(MelicitError, ValueError):
    """An argument that has no meaning here."""

    code = "EINVAL"


class OutOfMemoryError(MelicitError, MemoryError):
    """There is not enough memory."""

    code = "ENOMEM"


class DataError(MelicitError, ValueError):
    """Data that are missing or malformed."""

    code = "EDATA"


class StateError(MelicitError, RuntimeError):
    """What is not allowed now."""

    code = "ESTATE"


class ConflictError(MelicitError, RuntimeError):
    """What conflicts with what is recorded, such as another answer to the same question."""

    code = "ECONFLICT"


class StorageError(MelicitError, OSError):
    """A file that cannot be read, written or stored."""

    code = "EIO"


class LimitError(MelicitError, ValueError):
    """More than a limit allows."""

    code = "ELIMIT"


class NumericError(MelicitError, ArithmeticError):
    """A computation without a result."""

    code = "ENUMERIC"


class StoppedError(MelicitError):
    """Work that was stopped before its end."""

    code = "ESTOPPED"


BY_STATUS: Dict[int, Type[MelicitError]] = {
    int(getattr(lib, f"MEL_{kind.code}")): kind for kind in MelicitError.__subclasses__()
}
