"""Calling the library: statuses become exceptions, arrays and texts are borrowed by it."""
from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any, Callable, List, Optional, Sequence, Tuple

import numpy as np

from . import errors
from ._native import ffi as ffi, lib as lib

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Codes = NDArray[np.uint32]
else:  # importing numpy.typing takes longer than all of this package
    Floats = Codes = Any


def fail(code: str, sentence: str) -> errors.MelicitError:
    """The exception of a status with a sentence of our own."""
    return next(kind for kind in errors.BY_STATUS.values() if kind.code == code)(sentence)


def call(function: Callable[..., int], *args: Any) -> None:
    """Calls what returns a mel_status and takes a mel_error last. The interpreter runs on meanwhile."""
    err = ffi.new("mel_error *")
    status = function(*args, err)
    if _heard.error is not None:
        error, _heard.error = _heard.error, None
        raise error
    if status != lib.MEL_OK:
        kind = errors.BY_STATUS.get(int(status), errors.MelicitError)
        raise kind(ffi.string(err.text).decode("utf-8", "replace"))


class _Heard(threading.local):
    """What the library's callback raised during a call of this thread: Ctrl-C, in the main thread."""

    error: Optional[BaseException] = None


_heard = _Heard()


def _stopped(_: Any, error: BaseException, __: Any) -> None:
    _heard.error = error


@ffi.def_extern(error=1, onerror=_stopped)  # type: ignore[misc]
def melicit_progress(user: Any, what: Any, share: float) -> int:
    return 0  # to be here is enough: Python hears signals now and raises what they say


def made(kind: str, free: Any, function: Callable[..., int], *args: Any) -> Any:
    """A handle that the function makes, freed with the last reference to it."""
    out = ffi.new(kind + " **")
    try:
        call(function, out, *args)
    except BaseException:
        free(out[0])  # made all the same: Ctrl-C came at the last moment
        raise
    return ffi.gc(out[0], free)


def taken_text(function: Callable[..., int], *args: Any) -> str:
    """A text that the function gives away."""
    out = ffi.new("char **")
    call(function, out, *args)
    try:
        return str(ffi.string(out[0]).decode("utf-8", "replace"))
    finally:
        lib.free(out[0])


def text(value: object, what: str) -> bytes:
    if not isinstance(value, str):
        raise TypeError(f"{what}: expected a text, not {type(value).__name__}")
    if "\0" in value:
        raise fail("EINVAL", f"{what}: a text cannot contain NUL")
    return value.encode("utf-8", "surrogateescape")


class Texts:
    """Texts as the library takes them; alive as long as this is."""

    def __init__(self, values: Sequence[str], what: str) -> None:
        self._kept = [ffi.new("char[]", text(value, what)) for value in values]
        self.pointer = ffi.new("const char *[]", self._kept) if self._kept else ffi.NULL


def texts_at(pointer: Any, n: int) -> List[str]:
    if pointer == ffi.NULL:
        return []
    return [ffi.string(pointer[i]).decode("utf-8", "replace") for i in range(n)]


def floats(values: ArrayLike, what: str, dimensions: Tuple[int, ...] = (1,)) -> Floats:
    """As C-contiguous float64: the array itself where it is that already."""
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "fiub":
            if array.dtype.kind != "O":
                raise TypeError(f"{what}: expected numbers, not {array.dtype}")
        array = np.ascontiguousarray(array, dtype=np.float64) if array.ndim else array.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(f"{what}: expected an array of numbers: {error}") from None
    if array.ndim not in dimensions:
        wanted = " or ".join(str(n) for n in dimensions)
        raise fail("EINVAL", f"{what}: expected {wanted} dimension(s), not {array.ndim}")
    return array


def pointer(array: Optional[NDArray[Any]], kind: str = "double") -> Any:
    """The array's own memory, which the library only reads; the caller keeps the array alive."""
    if array is None:
        return ffi.NULL
    assert array.flags.c_contiguous
    return ffi.cast(f"{kind} *", array.ctypes.data)


def copied(at: Any, n: int) -> Floats:
    """n doubles of the library's, copied."""
    if at == ffi.NULL or n == 0:
        return np.empty(0)
    return np.frombuffer(ffi.buffer(at, n * 8), dtype=np.float64).copy()


def to_json(function: Callable[..., int], *args: Any) -> Any:
    return json.loads(taken_text(function, *args))


def seed_of(value: Any) -> int:
    """A number for the library from what scikit-learn calls a random_state."""
    if value is None:
        return int(np.random.randint(0, 2**31 - 1))
    if isinstance(value, (np.random.RandomState,)):
        return int(value.randint(0, 2**31 - 1))
    if isinstance(value, np.random.Generator):
        return int(value.integers(0, 2**31 - 1))
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and 0 <= int(value) < 2**64:
        return int(value)
    raise fail("EINVAL", f"a seed is a whole number from 0 to 2^64 - 1, not {value!r}")
