"""Frames as streams of the Arrow C data interface: those of pandas, polars and pyarrow, or a dict of columns."""
from __future__ import annotations

import ctypes
from typing import Any, List

import numpy as np

from ._core import fail, ffi, lib

FORMATS = {
    "i1": b"c", "u1": b"C", "i2": b"s", "u2": b"S", "i4": b"i", "u4": b"I", "i8": b"l", "u8": b"L",
    "f2": b"e", "f4": b"f", "f8": b"g",
}


def stream(out: Any, frame: Any) -> List[Any]:
    """Fills the struct ArrowArrayStream that `out` points to; what must live until it is released."""
    if hasattr(frame, "reset_index"):
        frame = frame.reset_index(drop=True)  # the index is no column
    if hasattr(frame, "__arrow_c_stream__"):
        try:
            return _moved(out, frame.__arrow_c_stream__())
        except ImportError:  # pandas without pyarrow
            pass
    elif hasattr(frame, "to_reader"):  # pyarrow before 14
        frame.to_reader()._export_to_c(int(ffi.cast("uintptr_t", out)))
        return [frame]
    return _built(out, frame)


def _moved(out: Any, capsule: Any) -> List[Any]:
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    source = ffi.cast("struct ArrowArrayStream *", get(capsule, b"arrow_array_stream"))
    out[0] = source[0]
    source.release = ffi.NULL  # moved, as the interface says it
    return [capsule]


def _values(column: Any) -> Any:
    """The column as an array of NumPy: numbers, bools or objects."""
    kind = getattr(getattr(column, "dtype", None), "kind", "O")
    if hasattr(column, "to_numpy") and not isinstance(column.dtype, np.dtype) and kind in "iuf":
        return column.to_numpy(dtype=np.float64, na_value=np.nan)  # numbers of pandas that may be missing
    return np.asarray(column)


def _is_missing(value: Any) -> bool:
    return value is None or type(value).__name__ == "NAType" or value != value  # comparing NA raises


def _buffers(values: Any, name: str) -> Any:
    """The format and the buffers of a column; None: every value is there."""
    if values.ndim != 1:
        raise fail("EINVAL", f"column {name!r}: expected one dimension, not {values.ndim}")
    if values.dtype.kind == "b":
        return b"b", [None, np.packbits(values, bitorder="little")]
    plain = values.dtype.newbyteorder("=")
    if plain.str[1:] in FORMATS:
        return FORMATS[plain.str[1:]], [None, np.ascontiguousarray(values, dtype=plain)]
    if values.dtype.kind in "mM":
        days = values.astype(str).astype(object)
        days[np.isnat(values)] = None
        values = days
    texts = [None if _is_missing(value) else str(value).encode("utf-8") for value in values.tolist()] \
        if values.dtype.kind == "O" else [text.encode("utf-8") for text in values.astype(str).tolist()]
    offsets = np.zeros(len(texts) + 1, dtype=np.int64)
    np.cumsum([len(text or b"") for text in texts], out=offsets[1:])
    there = np.packbits(np.array([text is not None for text in texts], dtype=bool), bitorder="little")
    return b"U", [there, offsets, np.frombuffer(b"".join(text or b"" for text in texts) or b"\0", dtype=np.uint8)]


def _built(out: Any, frame: Any) -> List[Any]:
    names = [str(name) for name in (frame.columns if hasattr(frame, "columns") else frame)]
    columns = [_values(frame[key]) for key in (frame.columns if hasattr(frame, "columns") else frame)]
    kept: List[Any] = []

    def keep(value: Any) -> Any:
        kept.append(value)
        return value

    schemas, arrays = [], []
    length = len(columns[0]) if columns else 0
    for name, values in zip(names, columns):
        if len(values) != length:
            raise fail("EINVAL", f"column {name!r}: {len(values)} rows, but {names[0]!r} has {length}")
        layout, buffers = _buffers(values, name)
        schema = keep(ffi.new("struct ArrowSchema *"))
        schema.format, schema.name = keep(ffi.new("char[]", layout)), keep(ffi.new("char[]", name.encode("utf-8")))
        array = keep(ffi.new("struct ArrowArray *"))
        array.length, array.null_count, array.n_buffers = length, -1, len(buffers)
        array.buffers = keep(ffi.new("const void *[]", [ffi.NULL if b is None else ffi.cast("void *", keep(b).ctypes.data) for b in buffers]))
        schemas.append(schema)
        arrays.append(array)
    schema, array = keep(ffi.new("struct ArrowSchema *")), keep(ffi.new("struct ArrowArray *"))
    schema.format, schema.n_children = keep(ffi.new("char[]", b"+s")), len(schemas)
    schema.children = keep(ffi.new("struct ArrowSchema *[]", schemas)) if schemas else ffi.NULL
    array.length, array.n_buffers, array.n_children = length, 1, len(arrays)
    array.buffers = keep(ffi.new("const void *[]", [ffi.NULL]))
    array.children = keep(ffi.new("struct ArrowArray *[]", arrays)) if arrays else ffi.NULL
    if not lib.melicit_frame_stream(out, schema, array):
        raise MemoryError
    return kept
