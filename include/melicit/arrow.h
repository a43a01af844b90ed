/* melicit/arrow.h: tables from other libraries through the Arrow C data interface, which is these structs and
 * no library (https://arrow.apache.org/docs/format/CDataInterface.html and CStreamInterface.html).
 *
 * Numbers, bools and texts are read: formats n b c C s S i I l L e f g u U vu, and dictionaries of them. A
 * bool is the text "False" or "True", as pandas writes it to CSV. Null is a missing cell, and so are NaN and
 * an empty text. What cannot be a cell (dates, lists, binary data) is refused by the column's name, as are
 * inf, texts that are not UTF-8, offsets that go back and codes beyond their dictionary. */
#ifndef MELICIT_ARROW_H
#define MELICIT_ARROW_H

#include "melicit/data.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE
#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
    const char *format; /* what the values are */
    const char *name;
    const char *metadata;
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary; /* NULL: values are no codes */
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length;
    int64_t null_count; /* -1: not counted */
    int64_t offset;     /* of the first value in the buffers */
    int64_t n_buffers;
    int64_t n_children;
    const void **buffers; /* which values are there (bits; NULL: all), then the values */
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};
#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE
struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};
#endif

/* The struct arrays of a stream as one table. The stream is the caller's and is not released; what it hands
 * out is released here, chunk by chunk. `name` stands for the table in messages, which count rows from 1.
 * Limits, notice and strictness of the options hold; overrides are refused. */
MEL_API mel_status mel_table_from_arrow(mel_table **out, struct ArrowArrayStream *stream, const char *name,
                                        const mel_read_options *opt, mel_error *err);

#ifdef __cplusplus
}
#endif
#endif
