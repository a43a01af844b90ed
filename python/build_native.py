"""melicit._native: every function of the public headers, for the stable interface of Python."""
import os
import sys
from pathlib import Path

import cffi

sys.path.insert(0, str(Path(__file__).resolve().parent))
from declarations import declarations  # noqa: E402

SHIM = """
#include <melicit/melicit.h>
#include <stdlib.h>
#include <string.h>

/* A stream of one struct array whose memory Python owns. */
typedef struct { const struct ArrowSchema *schema; const struct ArrowArray *array; } frame;
static void keep_schema(struct ArrowSchema *schema) { schema->release = NULL; }
static void keep_array(struct ArrowArray *array) { array->release = NULL; }
static int frame_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    *out = *((frame *)stream->private_data)->schema;
    return 0;
}
static int frame_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    frame *f = stream->private_data;
    memset(out, 0, sizeof *out);
    if (f->array != NULL)
        *out = *f->array;
    f->array = NULL;
    return 0;
}
static const char *frame_error(struct ArrowArrayStream *stream) { (void)stream; return NULL; }
static void frame_release(struct ArrowArrayStream *stream)
{
    free(stream->private_data);
    stream->release = NULL;
}
static int melicit_frame_stream(struct ArrowArrayStream *out, struct ArrowSchema *schema, struct ArrowArray *array)
{
    frame *f = malloc(sizeof *f);
    if (f == NULL)
        return 0;
    schema->release = keep_schema;
    array->release = keep_array;
    for (int64_t i = 0; i < array->n_children; i++)
        array->children[i]->release = keep_array;
    *f = (frame){ schema, array };
    *out = (struct ArrowArrayStream){ frame_schema, frame_next, frame_error, frame_release, f };
    return 1;
}
"""

include = Path(os.environ["MELICIT_INCLUDE"])
ffi = cffi.FFI()
ffi.cdef(declarations(include))
ffi.set_source(
    "melicit._native",
    SHIM,
    include_dirs=[str(include)],
    extra_objects=[os.environ["MELICIT_LIBRARY"]],
    extra_compile_args=["-g0", "-O1"],
    extra_link_args=["-Wl,-rpath,$ORIGIN"],
    py_limited_api=True,
)
