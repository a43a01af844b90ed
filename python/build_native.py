"""melicit._native: every function of the public headers, for the stable interface of Python."""
import os
import sys
from pathlib import Path

import cffi

sys.path.insert(0, str(Path(__file__).resolve().parent))
from declarations import declarations  # noqa: E402

# Descriptions of problems are objects of jansson in C; here they are texts.
SHIM = """
#include <jansson.h>
#include <melicit/melicit.h>
#include <stdlib.h>
static char *melicit_json_text(const json_t *value) { return json_dumps(value, JSON_COMPACT); }
"""

include = Path(os.environ["MELICIT_INCLUDE"])
ffi = cffi.FFI()
ffi.cdef(declarations(include))
ffi.set_source(
    "melicit._native",
    SHIM,
    include_dirs=[str(include)],
    extra_objects=[os.environ["MELICIT_LIBRARY"]],
    libraries=["jansson"],
    extra_compile_args=["-g0", "-O1"],
    extra_link_args=["-Wl,-rpath,$ORIGIN"],
    py_limited_api=True,
)
