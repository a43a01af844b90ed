/* Tables through the Arrow C data interface: the struct arrays of a stream, chunk by chunk, to columns. */
#include "melicit/arrow.h"

#include "data/quote.h"
#include "data/shared.h"
#include "data/table_reader.h"

#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

typedef enum { NULLS, BOOLS, SIGNED, UNSIGNED, FLOATS, TEXTS, VIEWS } value_kind;

/* How values lie in the buffers of an array. */
typedef struct {
    const char *format;
    value_kind kind;
    size_t width; /* bytes of a value; of texts those of an offset */
    int64_t buffers;
} layout;

static const layout layouts[] = {
    { "n", NULLS, 0, 0 },  { "b", BOOLS, 0, 2 },    { "c", SIGNED, 1, 2 }, { "C", UNSIGNED, 1, 2 },
    { "s", SIGNED, 2, 2 }, { "S", UNSIGNED, 2, 2 }, { "i", SIGNED, 4, 2 }, { "I", UNSIGNED, 4, 2 },
    { "l", SIGNED, 8, 2 }, { "L", UNSIGNED, 8, 2 }, { "e", FLOATS, 2, 2 }, { "f", FLOATS, 4, 2 },
    { "g", FLOATS, 8, 2 }, { "u", TEXTS, 4, 3 },    { "U", TEXTS, 8, 3 },  { "vu", VIEWS, 16, 3 },
};

/* A column as the schema describes it. */
typedef struct {
    const layout *values;
    const layout *codes; /* of integers that stand for values of a dictionary; NULL: cells are the values */
} cell_layout;

/* One table in the making. */
typedef struct {
    mel_table *table;
    cell_layout *cells; /* one per column */
    size_t capacity;    /* rows */
    const mel_read_options *opt;
    mel_error *err;
} builder;

static void release_schema(struct ArrowSchema *schema)
{
    if (schema->release != NULL)
        schema->release(schema);
}

static void release_array(struct ArrowArray *array)
{
    if (array->release != NULL)
        array->release(array);
}

static const layout *find_layout(const char *format)
{
    for (size_t i = 0; format != NULL && i < sizeof layouts / sizeof *layouts; i++)
        if (strcmp(layouts[i].format, format) == 0)
            return &layouts[i];
    return NULL;
}

static bool holds_texts(const cell_layout *cells)
{
    return cells->values->kind == BOOLS || cells->values->kind == TEXTS || cells->values->kind == VIEWS;
}

/* The sentence, with the column's name before it. */
#define fail_column(b, column, ...)                                                                          \
    (mel_fail((b)->err, MEL_EDATA, __VA_ARGS__),                                                             \
     mel_fail_in((b)->err, MEL_EDATA, "column %s",                                                           \
                 mel_quote_text(mel_table_column_name((b)->table, column)).text))

/* ---- the schema ---- */

static mel_status add_arrow_name(mel_dict *names, const struct ArrowSchema *column, size_t j, mel_error *err)
{
    const char *name = column->name != NULL ? column->name : "";
    const size_t n = strlen(name);
    const uint64_t hash = mel_dict_hash(name, n);
    if (n == 0 || mel_utf8_valid(name, n) < n)
        return mel_fail(err, MEL_EDATA, "column %zu has no name in UTF-8", j + 1);
    if (mel_dict_find(names, name, n, hash) != MEL_MISSING)
        return mel_fail(err, MEL_EDATA, "two columns are called %s", mel_quote_text(name).text);
    return mel_dict_add(names, name, n, hash) != MEL_MISSING ? MEL_OK : mel_fail_memory(err, "column names");
}

static mel_status read_column_layout(builder *b, const struct ArrowSchema *column, size_t j)
{
    const struct ArrowSchema *values = column->dictionary != NULL ? column->dictionary : column;
    const layout *own = find_layout(column->format);
    b->cells[j].values = find_layout(values->format);
    b->cells[j].codes = column->dictionary != NULL ? own : NULL;
    if (b->cells[j].values == NULL || own == NULL || values->dictionary != NULL)
        return fail_column(b, j,
                           "values of the Arrow format %s cannot be cells of a table; turn them into numbers "
                           "or texts",
                           mel_quote_text(values->format != NULL ? values->format : "").text);
    if (column->dictionary != NULL && own->kind != SIGNED && own->kind != UNSIGNED)
        return fail_column(b, j, "the codes of a dictionary are whole numbers, not of the Arrow format %s",
                           mel_quote_text(column->format).text);
    b->table->column[j].type = holds_texts(&b->cells[j]) ? MEL_COLUMN_TEXT : MEL_COLUMN_NUMBER;
    b->table->column[j].all_names = true;
    if (!holds_texts(&b->cells[j]))
        return MEL_OK;
    b->table->column[j].dict = mel_dict_new();
    return b->table->column[j].dict != NULL ? MEL_OK : mel_fail_memory(b->err, "the categories of a column");
}

static mel_status read_schema(builder *b, const struct ArrowSchema *schema, const char *name)
{
    if (schema->format == NULL || strcmp(schema->format, "+s") != 0 || schema->dictionary != NULL)
        return mel_fail(b->err, MEL_EDATA, "the Arrow data are of the format %s; a table is a struct (+s)",
                        mel_quote_text(schema->format != NULL ? schema->format : "").text);
    if (schema->n_children <= 0 || schema->children == NULL)
        return mel_fail(b->err, MEL_EDATA, "the Arrow data have no columns");
    const size_t n = (size_t)schema->n_children;
    if (n > b->opt->max_columns)
        return mel_fail(b->err, MEL_ELIMIT, "%zu columns, more than the limit of %zu", n,
                        b->opt->max_columns);
    MEL_AUTO(mel_dict) *names = mel_dict_new();
    TRY(MEL_NEED(names, "column names", b->err));
    for (size_t j = 0; j < n; j++)
        TRY(add_arrow_name(names, schema->children[j], j, b->err));
    b->table = mel_table_new(name, names, n);
    b->cells = mel_alloc_zero(n, sizeof *b->cells);
    TRY(MEL_NEED(b->table != NULL && b->cells != NULL, "a table", b->err));
    b->table->has_header = true;
    b->table->first_row = 1;
    for (size_t j = 0; j < n; j++)
        TRY(read_column_layout(b, schema->children[j], j));
    return mel_refuse_overrides(b->table, b->opt, b->err);
}

/* ---- values ---- */

static bool is_set(const void *bits, size_t i)
{
    return bits == NULL || (((const unsigned char *)bits)[i / 8] >> (i % 8) & 1) != 0;
}

/* Why an array of that layout cannot have values 0 .. n; NULL: it can. */
static const char *refuse_array(const struct ArrowArray *a, const layout *l, size_t n)
{
    if (a == NULL || a->release == NULL)
        return "was released before it was read";
    if (a->length < 0 || a->offset < 0 || a->offset > INT64_MAX - a->length)
        return "has a length or an offset below 0";
    if ((size_t)a->length < n)
        return "is shorter than the table";
    if (a->n_buffers < l->buffers || (l->buffers > 0 && a->buffers == NULL))
        return "has too few buffers";
    for (int64_t i = 1; i < l->buffers && i < 2 && n > 0; i++)
        if (a->buffers[i] == NULL)
            return "has no values";
    if (l->kind == VIEWS && a->n_buffers > 3 && a->buffers[a->n_buffers - 1] == NULL)
        return "does not say how long its texts are";
    return NULL;
}

static uint64_t load_bits(const void *buffer, size_t i, size_t width)
{
    return mel_stored_bits((const char *)buffer + i * width, width, false);
}

static int64_t load_signed(const void *buffer, size_t i, size_t width)
{
    return mel_stored_signed(load_bits(buffer, i, width), width);
}

/* Value i of an array of numbers, missing ones as NaN. */
static double load_number(const struct ArrowArray *a, const layout *l, size_t i)
{
    i += (size_t)a->offset;
    if (l->kind == NULLS || !is_set(a->buffers[0], i))
        return NAN;
    const char kind = l->kind == SIGNED ? 'i' : l->kind == FLOATS ? 'f' : 'u';
    return mel_stored_number((const char *)a->buffers[1] + i * l->width, kind, l->width, false);
}

typedef struct {
    const char *bytes;
    size_t n; /* 0: missing */
} text_value;

/* A view of 16 bytes: length, then the text or its first bytes, the buffer that has it and where. */
static bool load_view(text_value *out, const struct ArrowArray *a, size_t i)
{
    enum { INLINE = 12, BEFORE = 2, BEHIND = 1 };
    const char *view = (const char *)a->buffers[1] + 16 * i;
    const int64_t n = load_signed(view, 0, 4), buffer = load_signed(view, 2, 4), at = load_signed(view, 3, 4);
    *out = (text_value){ view + 4, (size_t)n };
    if (n <= INLINE)
        return n >= 0;
    const int64_t n_data = a->n_buffers - BEFORE - BEHIND;
    if (buffer < 0 || buffer >= n_data || at < 0 || a->buffers[BEFORE + buffer] == NULL ||
        load_signed(a->buffers[a->n_buffers - 1], (size_t)buffer, 8) < at + n)
        return false;
    out->bytes = (const char *)a->buffers[BEFORE + buffer] + at;
    return true;
}

/* Value i of an array of texts or bools; false: it is damaged. */
static bool load_text(text_value *out, const struct ArrowArray *a, const layout *l, size_t i)
{
    i += (size_t)a->offset;
    *out = (text_value){ 0 };
    if (!is_set(a->buffers[0], i))
        return true;
    if (l->kind == BOOLS) {
        const bool truth = is_set(a->buffers[1], i);
        *out = (text_value){ truth ? "True" : "False", truth ? 4 : 5 };
        return true;
    }
    if (l->kind == VIEWS) {
        if (!load_view(out, a, i))
            return false;
    } else {
        const int64_t from = load_signed(a->buffers[1], i, l->width);
        const int64_t to = load_signed(a->buffers[1], i + 1, l->width);
        if (from < 0 || to < from || (to > from && a->buffers[2] == NULL))
            return false;
        *out = (text_value){ to > from ? (const char *)a->buffers[2] + from : "", (size_t)(to - from) };
    }
    return mel_utf8_valid(out->bytes, out->n) == out->n && memchr(out->bytes, 0, out->n) == NULL;
}

/* ---- columns ---- */

/* The cells of a column in one chunk. */
typedef struct {
    const struct ArrowArray *rows;  /* the struct, whose offset and nulls are the rows' */
    const struct ArrowArray *array; /* the column */
    size_t column;
} chunk_column;

static mel_status fail_arrow_cell(const builder *b, const chunk_column *c, size_t i, const char *what)
{
    return mel_fail(b->err, MEL_EDATA, "row %zu, column %s: %s", b->table->n_rows + i + 1,
                    mel_quote_text(mel_table_column_name(b->table, c->column)).text, what);
}

/* The value that row i has, as its place among `values`; SIZE_MAX: missing. */
static mel_status find_value(size_t *place, const builder *b, const chunk_column *c, size_t i)
{
    const struct ArrowArray *a = c->array;
    const layout *codes = b->cells[c->column].codes;
    const size_t at = (size_t)c->rows->offset + i;
    const bool there = c->rows->n_buffers < 1 || c->rows->buffers == NULL || is_set(c->rows->buffers[0], at);
    *place = there ? at : SIZE_MAX;
    if (codes == NULL || !there)
        return MEL_OK;
    const size_t in_buffer = (size_t)a->offset + at;
    *place = SIZE_MAX;
    if (!is_set(a->buffers[0], in_buffer))
        return MEL_OK;
    const int64_t code = load_signed(a->buffers[1], in_buffer, codes->width);
    const uint64_t bits = load_bits(a->buffers[1], in_buffer, codes->width);
    const bool below = codes->kind == SIGNED && code < 0;
    if (below || bits >= (uint64_t)a->dictionary->length)
        return fail_arrow_cell(b, c, i, "its code is not in the dictionary");
    *place = (size_t)bits;
    return MEL_OK;
}

static mel_status read_numbers(const builder *b, const chunk_column *c, const struct ArrowArray *values)
{
    double *numbers = b->table->column[c->column].numbers + b->table->n_rows;
    for (size_t i = 0; i < (size_t)c->rows->length; i++) {
        size_t place;
        TRY(find_value(&place, b, c, i));
        numbers[i] = place != SIZE_MAX ? load_number(values, b->cells[c->column].values, place) : NAN;
        if (isinf(numbers[i]))
            return fail_arrow_cell(
                b, c, i, numbers[i] < 0 ? "-inf is not a finite number" : "inf is not a finite number");
    }
    return MEL_OK;
}

/* The code of a text in the column's dictionary. */
static mel_status add_text(uint32_t *code, const builder *b, const chunk_column *c, size_t i,
                           const struct ArrowArray *values, size_t place)
{
    mel_dict *dict = b->table->column[c->column].dict;
    text_value text;
    *code = MEL_MISSING;
    if (!load_text(&text, values, b->cells[c->column].values, place))
        return fail_arrow_cell(b, c, i, "the text is not valid UTF-8, or its offsets are damaged");
    if (text.n == 0)
        return MEL_OK;
    *code = mel_dict_add(dict, text.bytes, text.n, mel_dict_hash(text.bytes, text.n));
    TRY(MEL_NEED(*code != MEL_MISSING, "the categories of a column", b->err));
    return dict->n <= b->opt->max_categories
               ? MEL_OK
               : mel_fail(b->err, MEL_ELIMIT, "column %s: more than %zu different texts (%s is one too many)",
                          mel_quote_text(mel_table_column_name(b->table, c->column)).text,
                          b->opt->max_categories, mel_quote(text.bytes, text.n).text);
}

static mel_status read_texts(const builder *b, const chunk_column *c, const struct ArrowArray *values)
{
    uint32_t *codes = b->table->column[c->column].codes + b->table->n_rows;
    const uint32_t unknown = MEL_MISSING - 1;
    const bool coded = b->cells[c->column].codes != NULL;
    const size_t n_known = coded ? (size_t)values->length : 0;
    MEL_ARRAY(uint32_t, known, n_known, "the categories of a column",
              b->err); /* codes of the chunk's dictionary */
    for (size_t k = 0; k < n_known; k++)
        known[k] = unknown;
    for (size_t i = 0; i < (size_t)c->rows->length; i++) {
        size_t place;
        TRY(find_value(&place, b, c, i));
        codes[i] = MEL_MISSING;
        if (place == SIZE_MAX)
            continue;
        if (coded && known[place] != unknown) {
            codes[i] = known[place];
            continue;
        }
        TRY(add_text(&codes[i], b, c, i, values, place));
        if (coded)
            known[place] = codes[i];
    }
    return MEL_OK;
}

static mel_status read_arrow_column(const builder *b, const struct ArrowArray *rows, size_t j)
{
    const chunk_column c = { rows, rows->children[j], j };
    const cell_layout *cells = &b->cells[j];
    const struct ArrowArray *values = c.array;
    const char *why = refuse_array(c.array, cells->codes != NULL ? cells->codes : cells->values,
                                   (size_t)(rows->offset + rows->length));
    if (why == NULL && cells->codes != NULL) {
        values = c.array->dictionary;
        why = values != NULL
                  ? refuse_array(values, cells->values, values->length < 0 ? 0 : (size_t)values->length)
                  : "has codes without a dictionary";
    }
    if (why != NULL)
        return fail_column(b, j, "an Arrow array %s", why);
    return holds_texts(cells) ? read_texts(b, &c, values) : read_numbers(b, &c, values);
}

/* Room for so many rows. */
static mel_status grow_arrow_columns(builder *b, size_t n)
{
    for (size_t j = 0; j < b->table->n_columns; j++) {
        mel_column *column = &b->table->column[j];
        const bool text = column->type == MEL_COLUMN_TEXT;
        TRY(MEL_NEED(text ? MEL_GROW(column->codes, n) : MEL_GROW(column->numbers, n), "the cells of a table",
                     b->err));
    }
    b->capacity = n;
    return MEL_OK;
}

static mel_status read_chunk(builder *b, const struct ArrowArray *rows)
{
    const size_t n_columns = b->table->n_columns;
    if (rows->length < 0 || rows->offset < 0 || rows->offset > INT64_MAX - rows->length)
        return mel_fail(b->err, MEL_EDATA, "a chunk of the Arrow data has a length or an offset below 0");
    if ((uint64_t)rows->n_children != n_columns || rows->children == NULL)
        return mel_fail(b->err, MEL_EDATA, "a chunk of the Arrow data has %lld columns, the schema %zu",
                        (long long)rows->n_children, n_columns);
    const size_t n = (size_t)rows->length;
    if (n > b->opt->max_rows - b->table->n_rows)
        return mel_fail(b->err, MEL_ELIMIT, "more than %zu rows; raise the limit on rows if that is intended",
                        b->opt->max_rows);
    const size_t need = b->table->n_rows + n, more = b->capacity + b->capacity / 2;
    if (need > b->capacity)
        TRY(grow_arrow_columns(b, need > more ? need : more));
    for (size_t j = 0; j < n_columns; j++)
        TRY(read_arrow_column(b, rows, j));
    b->table->n_rows = need;
    return MEL_OK;
}

/* ---- the stream ---- */

static mel_status fail_producer(struct ArrowArrayStream *stream, mel_error *err)
{
    const char *why = stream->get_last_error != NULL ? stream->get_last_error(stream) : NULL;
    return mel_fail(err, MEL_EDATA, "who hands over the Arrow data failed: %s",
                    why != NULL ? why : "no reason is given");
}

static mel_status read_stream(builder *b, struct ArrowArrayStream *stream, const char *name)
{
    __attribute__((cleanup(release_schema))) struct ArrowSchema schema = { 0 };
    if (stream->get_schema(stream, &schema) != 0)
        return fail_producer(stream, b->err);
    TRY(read_schema(b, &schema, name));
    for (;;) {
        __attribute__((cleanup(release_array))) struct ArrowArray rows = { 0 };
        if (stream->get_next(stream, &rows) != 0)
            return fail_producer(stream, b->err);
        if (rows.release == NULL)
            break;
        TRY(read_chunk(b, &rows));
        TRY(mel_report_progress(&b->opt->progress, "reading", 0.0, b->err));
    }
    if (b->table->n_rows == 0)
        return mel_fail(b->err, MEL_EDATA, "no rows");
    TRY(grow_arrow_columns(b, b->table->n_rows));
    return mel_notes_how(&b->table->notes, b->err, "Arrow, %s row%s, %s column%s",
                         mel_count_text(b->table->n_rows).text, b->table->n_rows == 1 ? "" : "s",
                         mel_count_text(b->table->n_columns).text, b->table->n_columns == 1 ? "" : "s");
}

mel_status mel_table_from_arrow(mel_table **out, struct ArrowArrayStream *stream, const char *name,
                                const mel_read_options *opt, mel_error *err)
{
    *out = NULL;
    mel_read_options options;
    TRY(mel_read_options_take(&options, opt, err));
    if (stream == NULL || stream->release == NULL)
        return mel_fail(err, MEL_EINVAL, "%s: the Arrow stream was released before it was read",
                        mel_quote_file(name).text);
    builder b = { .opt = &options, .err = err };
    const mel_status status = read_stream(&b, stream, name);
    free(b.cells);
    if (status != MEL_OK) {
        mel_table_free(b.table);
        return mel_fail_in(err, status, "%s", mel_quote_file(name).text);
    }
    mel_notes_say(&b.table->notes, name, MEL_FORMAT_AUTO, &options.notice);
    *out = b.table;
    return MEL_OK;
}

/* ---- what is in a table ---- */

void mel_table_digest(char digest[MEL_DIGEST_HEX], const mel_table *table)
{
    crypto_hash_sha256_state hash;
    unsigned char bytes[crypto_hash_sha256_BYTES];
    (void)crypto_hash_sha256_init(&hash);
    for (size_t j = 0; j < table->n_columns; j++) {
        const mel_column *column = &table->column[j];
        const char *name = mel_table_column_name(table, j);
        const unsigned char type = (unsigned char)column->type;
        (void)crypto_hash_sha256_update(&hash, (const unsigned char *)name, strlen(name) + 1);
        (void)crypto_hash_sha256_update(&hash, &type, 1);
        for (size_t i = 0; i < table->n_rows && column->type == MEL_COLUMN_NUMBER; i++) {
            const double value = isnan(column->numbers[i]) ? (double)NAN : column->numbers[i];
            (void)crypto_hash_sha256_update(&hash, (const unsigned char *)&value, sizeof value);
        }
        for (size_t i = 0; i < table->n_rows && column->type == MEL_COLUMN_TEXT; i++) {
            const bool there = column->codes[i] != MEL_MISSING;
            const char *text = there ? mel_dict_text(column->dict, column->codes[i]) : "";
            (void)crypto_hash_sha256_update(&hash, (const unsigned char *)text, strlen(text) + 1);
        }
    }
    (void)crypto_hash_sha256_final(&hash, bytes);
    (void)sodium_bin2hex(digest, MEL_DIGEST_HEX, bytes, sizeof bytes);
}
