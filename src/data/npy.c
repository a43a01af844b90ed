/* NPY files: their header, a Python dictionary; arrays to tables; arrays of doubles to files; and NPZ, zip
 * archives of them. */
#include "base/buffer.h"
#include "data/number.h"
#include "data/quote.h"
#include "data/shared.h"
#include "data/table_reader.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zip.h>

/* ---- the header ---- */

typedef struct {
    char kind;      /* 'f', 'i', 'u', 'b', 'U' (texts of 4 bytes a character) or 'S' (of bytes) */
    size_t width;   /* bytes of an item */
    bool swap;      /* stored in the other byte order */
    bool fortran;   /* column after column */
    int dimensions; /* 1, 2, or 3: a matrix in each row */
    size_t rows, columns;
    size_t matrix; /* columns are those of a square matrix of that size, row by row; 0: they are not */
    size_t offset; /* of the first item in the file */
} mel_npy_header;

enum {
    MAGIC_BYTES = 6,
    V1_BYTES = 10,
    V2_BYTES = 12,
    MOST_DIMENSIONS = 32,
    MOST_HEADER = 1 << 20,
    MOST_CLASSES = 1 << 15
};

/* A cursor over the dictionary's text. */
typedef struct {
    const char *p, *end;
    bool matrices; /* three dimensions will do */
    mel_error *err;
} cursor;

typedef struct {
    const char *text;
    size_t n;
} slice;

static bool equals(slice s, const char *text)
{
    return s.n == strlen(text) && memcmp(s.text, text, s.n) == 0;
}

static void skip_header_blanks(cursor *c)
{
    while (c->p < c->end && (*c->p == ' ' || *c->p == '\n' || *c->p == '\t' || *c->p == '\r'))
        c->p++;
}

static mel_status fail_header(const cursor *c, const char *what)
{
    return mel_fail(c->err, MEL_EDATA, "NPY header: %s expected at %s", what,
                    mel_quote(c->p, (size_t)(c->end - c->p)).text);
}

static bool accept(cursor *c, char wanted)
{
    skip_header_blanks(c);
    if (c->p >= c->end || *c->p != wanted)
        return false;
    c->p++;
    return true;
}

static mel_status parse_string(cursor *c, slice *out)
{
    skip_header_blanks(c);
    if (c->p >= c->end || (*c->p != '\'' && *c->p != '"'))
        return fail_header(c, "a string");
    const char *from = c->p + 1, *quote = memchr(from, *c->p, (size_t)(c->end - from));
    if (quote == NULL)
        return fail_header(c, "a closed string");
    *out = (slice){ from, (size_t)(quote - from) };
    c->p = quote + 1;
    return MEL_OK;
}

static mel_status parse_bool(cursor *c, bool *out)
{
    skip_header_blanks(c);
    const size_t left = (size_t)(c->end - c->p);
    *out = left >= 4 && memcmp(c->p, "True", 4) == 0;
    if (!*out && !(left >= 5 && memcmp(c->p, "False", 5) == 0))
        return fail_header(c, "True or False");
    c->p += *out ? 4 : 5;
    return MEL_OK;
}

static mel_status parse_size(cursor *c, size_t *out)
{
    skip_header_blanks(c);
    const char *const first = c->p;
    size_t n = 0;
    for (; c->p < c->end && *c->p >= '0' && *c->p <= '9'; c->p++) {
        const size_t digit = (size_t)(*c->p - '0');
        if (n > (SIZE_MAX - digit) / 10) {
            c->p = first;
            return fail_header(c, "a size that fits in memory");
        }
        n = n * 10 + digit;
    }
    if (c->p == first)
        return fail_header(c, "a size");
    *out = n;
    return MEL_OK;
}

static mel_status parse_shape(cursor *c, mel_npy_header *out)
{
    size_t size[3] = { 1, 1, 1 };
    int n = 0;
    if (!accept(c, '('))
        return fail_header(c, "a shape in parentheses");
    while (!accept(c, ')')) {
        size_t more = 0;
        TRY(parse_size(c, &more));
        if (n < 3)
            size[n] = more;
        if (++n > MOST_DIMENSIONS)
            return fail_header(c, "fewer dimensions");
        if (!accept(c, ',')) {
            if (!accept(c, ')'))
                return fail_header(c, "a comma or a closing parenthesis");
            break;
        }
    }
    if (n < 1 || n > 3 || (n == 3 && !c->matrices))
        return mel_fail(c->err, MEL_EDATA, "an array of %d dimensions; a table needs 1 or 2", n);
    if (n == 3 && (size[1] != size[2] || size[1] > MOST_CLASSES))
        return mel_fail(c->err, MEL_EDATA,
                        "an array of %zu x %zu x %zu; expected n x k x k, a matrix for each of n classifiers",
                        size[0], size[1], size[2]);
    out->dimensions = n;
    out->rows = size[0];
    out->columns = size[1] * size[2];
    out->matrix = n == 3 ? size[1] : 0;
    return MEL_OK;
}

/* What cannot be read, and what to do about it. */
static mel_status refuse_type(const cursor *c, slice type)
{
    static const struct {
        char kind;
        const char *cure;
    } cures[] = { { 'O', " (Python objects); save the array with a plain type, as array.astype(float) or "
                         "astype(str) gives" },
                  { 'M', " (dates); save them as numbers or texts" },
                  { 'm', " (durations); save them as numbers" },
                  { 'c', " (complex numbers); save their parts as columns" },
                  { 'f', "; save the array as float64" },
                  { 'V', " (raw bytes); save the array as float64" } };
    const char kind = type.n > 1 ? type.text[1] : '\0';
    const char *cure = "";
    for (size_t i = 0; i < sizeof cures / sizeof *cures; i++)
        if (cures[i].kind == kind)
            cure = cures[i].cure;
    return mel_fail(c->err, MEL_EDATA, "items of type %s%s; a table needs floats, integers, bools or texts",
                    mel_quote(type.text, type.n).text, cure);
}

/* "U12", "S3": texts; the digits say how many characters. */
static bool parse_text_type(slice type, mel_npy_header *out)
{
    enum { LONGEST = 1 << 20, BYTES_OF_U = 4 };
    size_t n = 0;
    if (type.n < 3 || (type.text[1] != 'U' && type.text[1] != 'S'))
        return false;
    for (size_t i = 2; i < type.n; i++) {
        if (type.text[i] < '0' || type.text[i] > '9' || n > LONGEST)
            return false;
        n = n * 10 + (size_t)(type.text[i] - '0');
    }
    out->kind = type.text[1];
    out->width = n * (out->kind == 'U' ? BYTES_OF_U : 1);
    return n != 0;
}

static bool parse_number_type(slice type, mel_npy_header *out)
{
    static const char *const known[] = { "f2", "f4", "f8", "i1", "i2", "i4",
                                         "i8", "u1", "u2", "u4", "u8", "b1" };
    for (size_t i = 0; type.n == 3 && i < sizeof known / sizeof *known; i++)
        if (memcmp(type.text + 1, known[i], 2) == 0) {
            out->kind = known[i][0];
            out->width = (size_t)(known[i][1] - '0');
            return type.text[0] != '|' || out->width == 1;
        }
    return false;
}

static mel_status parse_type(cursor *c, mel_npy_header *out)
{
    static const char orders[] = { '<', '>', '|', '=' };
    const bool big_host = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    skip_header_blanks(c);
    if (c->p < c->end && *c->p == '[')
        return mel_fail(c->err, MEL_EDATA, "the array has named fields; a table needs plain numbers");
    slice type = { "", 0 };
    TRY(parse_string(c, &type));
    const bool ordered = type.n != 0 && memchr(orders, type.text[0], sizeof orders) != NULL;
    if (!ordered || (!parse_number_type(type, out) && !parse_text_type(type, out)))
        return refuse_type(c, type);
    out->swap = out->width > 1 && out->kind != 'S' &&
                ((type.text[0] == '>' && !big_host) || (type.text[0] == '<' && big_host));
    return MEL_OK;
}

static mel_status parse_header_entry(cursor *c, mel_npy_header *out, unsigned *seen)
{
    enum { TYPE = 1, ORDER = 2, SHAPE = 4 };
    slice key = { "", 0 };
    TRY(parse_string(c, &key));
    const unsigned which = equals(key, "descr") ? TYPE : equals(key, "fortran_order") ? ORDER : SHAPE;
    if ((which == SHAPE && !equals(key, "shape")) || (*seen & which) != 0)
        return mel_fail(c->err, MEL_EDATA, "NPY header: unknown or repeated entry %s",
                        mel_quote(key.text, key.n).text);
    *seen |= which;
    if (!accept(c, ':'))
        return fail_header(c, "a colon");
    if (which == TYPE)
        return parse_type(c, out);
    return which == ORDER ? parse_bool(c, &out->fortran) : parse_shape(c, out);
}

static mel_status parse_dictionary(cursor *c, mel_npy_header *out)
{
    const unsigned all = 7;
    unsigned seen = 0;
    if (!accept(c, '{'))
        return fail_header(c, "a dictionary");
    while (!accept(c, '}')) {
        TRY(parse_header_entry(c, out, &seen));
        if (!accept(c, ',')) {
            if (!accept(c, '}'))
                return fail_header(c, "a comma or a closing brace");
            break;
        }
    }
    skip_header_blanks(c);
    if (c->p != c->end)
        return fail_header(c, "nothing more");
    return seen == all ? MEL_OK
                       : mel_fail(c->err, MEL_EDATA, "NPY header: descr, fortran_order or shape is missing");
}

/* matrices: three dimensions will do, too. */
static mel_status parse_header(mel_npy_header *out, const char *bytes, size_t n, bool matrices,
                               mel_error *err)
{
    *out = (mel_npy_header){ 0 };
    const unsigned char *u = (const unsigned char *)bytes;
    if (n < V1_BYTES || memcmp(bytes, "\x93NUMPY", MAGIC_BYTES) != 0)
        return mel_fail(err, MEL_EDATA, "not an NPY file: it starts with %s",
                        mel_quote(bytes, n < MAGIC_BYTES ? n : MAGIC_BYTES).text);
    if (u[6] < 1 || u[6] > 3 || u[7] != 0)
        return mel_fail(err, MEL_EDATA, "NPY version %d.%d; 1.0, 2.0 and 3.0 are known", u[6], u[7]);
    const size_t start = u[6] == 1 ? V1_BYTES : V2_BYTES;
    if (n < start)
        return mel_fail(err, MEL_EDATA, "the file ends inside the NPY header");
    size_t length = (size_t)u[8] | (size_t)u[9] << 8;
    if (u[6] > 1)
        length |= (size_t)u[10] << 16 | (size_t)u[11] << 24;
    if (length > MOST_HEADER || length > n - start)
        return mel_fail(err, MEL_EDATA, "the NPY header claims %zu bytes, the file has %zu after it", length,
                        n - start);
    out->offset = start + length;
    cursor c = { .p = bytes + start, .end = bytes + out->offset, .matrices = matrices, .err = err };
    return parse_dictionary(&c, out);
}

/* ---- arrays to tables ---- */

enum { ROW_BLOCK = 64 }; /* rows converted together, so that a stored row is read from cache */

/* Whether an array is one that can be read. */
static mel_status check_array_limits(const mel_npy_header *h, const mel_read_options *opt, mel_error *err)
{
    if (h->rows == 0 || h->columns == 0)
        return mel_fail(err, MEL_EDATA, "the array is empty: %zu rows, %zu columns", h->rows, h->columns);
    if (h->columns > opt->max_columns)
        return mel_fail(err, MEL_ELIMIT, "%zu columns, more than the limit of %zu", h->columns,
                        opt->max_columns);
    if (h->rows > opt->max_rows)
        return mel_fail(err, MEL_ELIMIT, "%zu rows, more than the limit of %zu", h->rows, opt->max_rows);
    if (h->matrix != 0 && h->fortran)
        return mel_fail(err, MEL_EDATA,
                        "matrices in Fortran order are not read; save numpy.ascontiguousarray(array)");
    return MEL_OK;
}

/* Whether it is one in a file of n bytes. */
static mel_status check_shape(const mel_npy_header *h, size_t n, const mel_read_options *opt, mel_error *err)
{
    TRY(check_array_limits(h, opt, err));
    const size_t have = n - h->offset, items = have / h->width;
    if (h->columns > items || h->rows > items / h->columns) /* no product can wrap after this */
        return mel_fail(err, MEL_EDATA,
                        "the header promises %zu x %zu items of %zu bytes, but only %zu bytes follow",
                        h->rows, h->columns, h->width, have);
    const size_t used = h->rows * h->columns * h->width;
    if (used != have)
        return mel_fail(err, MEL_EDATA, "%zu bytes follow the last of %zu x %zu items", have - used, h->rows,
                        h->columns);
    return MEL_OK;
}

uint64_t mel_stored_bits(const void *p, size_t width, bool swap)
{
    const unsigned char *byte = p;
    uint64_t bits = 0;
    for (size_t i = 0; i < width; i++) {
        const size_t from_low = (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) != swap ? i : width - 1 - i;
        bits |= (uint64_t)byte[i] << (8 * from_low);
    }
    return bits;
}

/* IEEE 754 binary16: 1 bit sign, 5 exponent, 10 fraction. */
static double half_to_double(unsigned bits)
{
    const int exponent = (int)(bits >> 10 & 31);
    const double fraction = (double)(bits & 1023);
    double size = exponent == 0 ? ldexp(fraction, -24) : ldexp(fraction + 1024.0, exponent - 25);
    if (exponent == 31)
        size = fraction != 0.0 ? NAN : INFINITY;
    return bits >> 15 != 0 ? -size : size;
}

/* Integers beyond 2^53 round to the nearest double, as they do in a CSV. */
double mel_stored_number(const void *p, char kind, size_t width, bool swap)
{
    const uint64_t bits = mel_stored_bits(p, width, swap);
    if (kind == 'i')
        return (double)mel_stored_signed(bits, width);
    if (kind != 'f')
        return (double)bits;
    double value;
    memcpy(&value, &bits, sizeof value);
    if (width == 2)
        return half_to_double((unsigned)bits);
    if (width == 4) {
        const uint32_t low = (uint32_t)bits;
        float single;
        memcpy(&single, &low, sizeof single);
        return (double)single;
    }
    return value;
}

static mel_status refuse(const mel_npy_header *h, size_t row, size_t column, double value, mel_error *err)
{
    if (h->kind == 'b')
        return mel_fail(err, MEL_EDATA, "row %zu, column \"c%zu\": byte %.0f is not a bool", row + 1,
                        column + 1, value);
    return mel_fail(err, MEL_EDATA, "row %zu, column \"c%zu\": %s is not a finite number", row + 1,
                    column + 1, value < 0 ? "-inf" : "inf");
}

static mel_status convert_rows(mel_table *table, const mel_npy_header *h, const unsigned char *items,
                               mel_error *err)
{
    const size_t row_step = h->fortran ? 1 : h->columns, column_step = h->fortran ? h->rows : 1;
    const bool as_it_is = h->kind == 'f' && h->width == sizeof(double) && !h->swap;
    for (size_t from = 0; from < h->rows; from += ROW_BLOCK) {
        const size_t to = h->rows - from < ROW_BLOCK ? h->rows : from + ROW_BLOCK;
        for (size_t j = 0; j < h->columns; j++) {
            double *numbers = table->column[j].numbers;
            for (size_t i = from; i < to; i++) {
                const unsigned char *item = items + (i * row_step + j * column_step) * h->width;
                if (as_it_is)
                    memcpy(&numbers[i], item, sizeof *numbers);
                else
                    numbers[i] = mel_stored_number(item, h->kind, h->width, h->swap);
                if (isinf(numbers[i]) || (h->kind == 'b' && numbers[i] > 1))
                    return refuse(h, i, j, numbers[i], err);
            }
        }
    }
    return MEL_OK;
}

/* The text of an item, without the NUL characters that fill it up. */
static bool take_text(mel_buffer *out, const mel_npy_header *h, const unsigned char *item)
{
    const size_t step = h->kind == 'U' ? 4 : 1;
    size_t n = h->width / step;
    while (n != 0 && mel_stored_bits(item + (n - 1) * step, step, h->swap) == 0)
        n--;
    mel_buffer_reset(out);
    if (step == 1) {
        mel_buffer_add(out, item, n);
        return mel_utf8_valid((const char *)item, n) == n && memchr(item, 0, n) == NULL;
    }
    for (size_t i = 0; i < n; i++) {
        const uint64_t c = mel_stored_bits(item + i * step, step, h->swap);
        if (c == 0 || c > 0x10FFFF || (c >= 0xD800 && c < 0xE000))
            return false;
        char bytes[MEL_UTF8_LONGEST];
        mel_buffer_add(out, bytes, mel_utf8_put(bytes, (uint32_t)c));
    }
    return true;
}

/* One text into the column's cell; words for missing are, as NumPy writes nan among texts. */
static mel_status convert_text(mel_column *column, size_t row, const mel_buffer *text,
                               const mel_read_options *opt, mel_error *err)
{
    column->codes[row] = MEL_MISSING;
    if (text->size == 0 || mel_missing_text(text->data, text->size))
        return MEL_OK;
    column->codes[row] =
        mel_dict_add(column->dict, text->data, text->size, mel_dict_hash(text->data, text->size));
    TRY(MEL_NEED(column->codes[row] != MEL_MISSING, "the categories of a column", err));
    return column->dict->n <= opt->max_categories
               ? MEL_OK
               : mel_fail(err, MEL_ELIMIT, "more than %zu different texts (%s is one too many)",
                          opt->max_categories, mel_quote(text->data, text->size).text);
}

static mel_status convert_texts(mel_table *table, const mel_npy_header *h, const unsigned char *items,
                                const mel_read_options *opt, mel_error *err)
{
    const size_t row_step = h->fortran ? 1 : h->columns, column_step = h->fortran ? h->rows : 1;
    mel_status status = MEL_OK;
    mel_buffer text;
    mel_buffer_init(&text, SIZE_MAX / 4);
    for (size_t j = 0; j < h->columns && status == MEL_OK; j++)
        for (size_t i = 0; i < h->rows && status == MEL_OK; i++) {
            if (!take_text(&text, h, items + (i * row_step + j * column_step) * h->width))
                status = mel_fail(err, MEL_EDATA, "row %zu, column \"c%zu\": the text is not valid Unicode",
                                  i + 1, j + 1);
            else if (text.status != MEL_OK)
                status = mel_fail_memory(err, "the texts of an array");
            else
                status = convert_text(&table->column[j], i, &text, opt, err);
        }
    mel_buffer_free(&text);
    return status;
}

/* In a table: texts most of which are numbers were perhaps meant as such. */
static mel_status warn_numbers(mel_table *table, mel_error *err)
{
    for (size_t j = 0; j < table->n_columns && table->n_columns > 1; j++) {
        const mel_dict *dict = table->column[j].dict;
        size_t n = 0;
        double value;
        for (uint32_t code = 0; code < dict->n; code++)
            n += mel_number_parse(mel_dict_text(dict, code), mel_dict_length(dict, code), &value) ==
                 MEL_NUMBER_FINITE;
        if (n > 0 && 2 * n >= dict->n)
            TRY(mel_notes_warn(&table->notes, err,
                               "column \"c%zu\": %zu of %zu different texts are numbers; treated as "
                               "categories; store numbers in an array of numbers",
                               j + 1, n, (size_t)dict->n));
    }
    return MEL_OK;
}

static bool new_column(mel_column *column, const mel_npy_header *h)
{
    const bool text = h->kind == 'U' || h->kind == 'S';
    column->type = text ? MEL_COLUMN_TEXT : MEL_COLUMN_NUMBER;
    if (!text)
        return (column->numbers = mel_alloc(h->rows, sizeof *column->numbers)) != NULL;
    column->codes = mel_alloc(h->rows, sizeof *column->codes);
    column->dict = mel_dict_new();
    return column->codes != NULL && column->dict != NULL;
}

static mel_table *new_array_table(const char *name, const mel_npy_header *h)
{
    mel_dict *names = mel_column_numbers(h->columns);
    mel_table *table = names != NULL ? mel_table_new(name, names, h->columns) : NULL;
    mel_dict_free(names);
    for (size_t j = 0; table != NULL && j < h->columns; j++)
        if (!new_column(&table->column[j], h)) {
            mel_table_free(table);
            return NULL;
        }
    if (table != NULL) {
        table->n_rows = h->rows;
        table->first_row = 1;
        table->matrix = h->matrix;
    }
    return table;
}

static mel_status note_npy(mel_table *table, const mel_npy_header *h, mel_error *err)
{
    static const struct {
        char kind;
        const char *name;
    } kinds[] = { { 'f', "floats" }, { 'i', "integers" }, { 'u', "integers without sign" },
                  { 'b', "bools" },  { 'U', "texts" },    { 'S', "texts" } };
    const char *kind = "";
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].kind == h->kind)
            kind = kinds[i].name;
    if (h->matrix != 0)
        return mel_notes_how(
            &table->notes, err,
            "NPY, %s of %zu bits, %s matrices of %zu x %zu, true classes by predicted ones in "
            "the order of the classes",
            kind, 8 * h->width, mel_count_text(h->rows).text, h->matrix, h->matrix);
    return mel_notes_how(&table->notes, err, "NPY, %s of %zu bits, %s row%s, %s column%s", kind, 8 * h->width,
                         mel_count_text(h->rows).text, h->rows == 1 ? "" : "s",
                         mel_count_text(h->columns).text, h->columns == 1 ? "" : "s");
}

static mel_status check_npy_start(const char *start, size_t n, size_t size, const mel_read_options *opt,
                                  mel_error *err)
{
    mel_npy_header h;
    TRY(parse_header(&h, start, n, opt->matrices, err));
    return check_shape(&h, size, opt, err);
}

mel_status mel_npy_size(uint64_t *out, const char *start, size_t n, const mel_read_options *opt,
                        mel_error *err)
{
    mel_npy_header h;
    TRY(parse_header(&h, start, n, opt->matrices, err));
    TRY(check_array_limits(&h, opt, err));
    const uint64_t most = (opt->max_bytes < SIZE_MAX ? opt->max_bytes : SIZE_MAX - 1) - h.offset;
    if (h.columns > most / h.width || h.rows > most / h.width / h.columns)
        return mel_fail(err, MEL_ELIMIT,
                        "the header promises %zu x %zu items of %zu bytes, more than the limit of %llu bytes",
                        h.rows, h.columns, h.width, (unsigned long long)opt->max_bytes);
    *out = h.offset + h.rows * h.columns * h.width;
    return MEL_OK;
}

mel_status mel_read_npy(mel_table **out, const char *bytes, size_t n, const char *name,
                        const mel_read_options *opt, mel_error *err)
{
    mel_npy_header h;
    TRY(parse_header(&h, bytes, n, opt->matrices, err));
    TRY(check_shape(&h, n, opt, err));
    MEL_AUTO(mel_table) *table = new_array_table(name, &h);
    TRY(MEL_NEED(table, "a table", err));
    const unsigned char *items = (const unsigned char *)bytes + h.offset;
    const bool text = table->column[0].type == MEL_COLUMN_TEXT;
    TRY(mel_refuse_overrides(table, opt, err));
    TRY(text ? convert_texts(table, &h, items, opt, err) : convert_rows(table, &h, items, err));
    if (text)
        TRY(warn_numbers(table, err));
    TRY(mel_notes_check(&table->notes, opt->strict, err));
    TRY(note_npy(table, &h, err));
    return MEL_GIVE(out, table);
}

/* ---- writing ---- */

/* Magic, version 1.0, length, dictionary, blanks and a line end up to a multiple of 64 bytes. */
size_t mel_npy_start(char out[MEL_NPY_START_BYTES], const char *item, size_t rows, const size_t *columns)
{
    enum { PREFIX_BYTES = 10, ALIGNMENT = 64 };
    char text[MEL_NPY_START_BYTES], second[24] = "";
    if (columns != NULL)
        (void)snprintf(second, sizeof second, " %zu", *columns);
    const int n =
        snprintf(text, sizeof text, "{'descr': '%.3s', 'fortran_order': False, 'shape': (%zu,%s), }", item,
                 rows, second);
    const size_t used = PREFIX_BYTES + (size_t)n + 1;
    const size_t total = (used + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    memset(out, ' ', total);
    memcpy(out, (const char[]){ '\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0 }, 8);
    out[8] = (char)((total - PREFIX_BYTES) & 0xFF);
    out[9] = (char)((total - PREFIX_BYTES) >> 8);
    memcpy(out + PREFIX_BYTES, text, (size_t)n);
    out[total - 1] = '\n';
    return total;
}

/* --- NPZ: a zip archive of arrays, of which one is the table -------------------------------------------- */

typedef struct {
    zip_t *zip;
    zip_file_t *file; /* the member that is read */
} archive;

static void archive_clear(archive *a)
{
    if (a->file != NULL)
        (void)zip_fclose(a->file);
    if (a->zip != NULL)
        zip_discard(a->zip);
}

static mel_status fail_damaged(mel_error *err)
{
    return mel_fail(err, MEL_EDATA, "the NPZ archive is cut off or damaged");
}

static mel_status fail_zip(int code, mel_error *err)
{
    return code == ZIP_ER_MEMORY ? mel_fail_memory(err, "unpacking") : fail_damaged(err);
}

static mel_status open_archive(archive *a, const char *bytes, size_t n, mel_error *err)
{
    zip_error_t why;
    zip_error_init(&why);
    zip_source_t *source = zip_source_buffer_create(bytes, n, 0, &why);
    a->zip = source != NULL ? zip_open_from_source(source, ZIP_RDONLY, &why) : NULL;
    if (a->zip == NULL)
        zip_source_free(source);
    const int code = zip_error_code_zip(&why);
    zip_error_fini(&why);
    return a->zip != NULL ? MEL_OK : fail_zip(code, err);
}

/* Bytes of the name before ".npy"; 0: the member is no array. */
static size_t array_name(const char *name)
{
    static const char ending[] = ".npy";
    const size_t n = strlen(name), length = sizeof ending - 1;
    return n > length && strcmp(name + n - length, ending) == 0 ? n - length : 0;
}

static mel_status fail_member(const char *wanted, size_t n, const mel_buffer *list, mel_error *err)
{
    if (list->status != MEL_OK && list->status != MEL_ELIMIT)
        return mel_fail_memory(err, "the members of an archive");
    if (n == 0)
        return mel_fail(err, MEL_EDATA, "the archive holds no NPY array");
    if (wanted != NULL)
        return mel_fail(err, MEL_EDATA, "no array is called %s; there %s %s", mel_quote_text(wanted).text,
                        n == 1 ? "is" : "are", list->data);
    return mel_fail(err, MEL_EDATA, "the archive holds %zu arrays: %s; member=NAME says which one is meant",
                    n, list->data);
}

/* The array of that name, or the only one. */
static mel_status find_member(zip_stat_t *out, zip_t *zip, const char *wanted, mel_error *err)
{
    enum { ROOM = 240 };
    size_t n = 0, found = 0;
    mel_buffer list;
    mel_buffer_init(&list, ROOM);
    for (zip_int64_t i = 0; i < zip_get_num_entries(zip, 0); i++) {
        zip_stat_t member;
        if (zip_stat_index(zip, (zip_uint64_t)i, ZIP_FL_ENC_RAW, &member) != 0)
            continue;
        const size_t length = array_name(member.name);
        if (length == 0)
            continue;
        mel_buffer_printf(&list, "%s%s", n++ != 0 ? ", " : "", mel_quote(member.name, length).text);
        if (wanted == NULL || (strlen(wanted) == length && memcmp(wanted, member.name, length) == 0)) {
            *out = member;
            found++;
        }
    }
    const mel_status status = found == 1 ? MEL_OK : fail_member(wanted, n, &list, err);
    mel_buffer_free(&list);
    return status;
}

/* The next n bytes of the member. */
static mel_status unpack(archive *a, char *to, size_t n, mel_error *err)
{
    for (size_t got = 0; got < n;) {
        const zip_int64_t more = zip_fread(a->file, to + got, n - got);
        if (more <= 0)
            return fail_zip(more < 0 ? zip_error_code_zip(zip_file_get_error(a->file)) : ZIP_ER_EOF, err);
        got += (size_t)more;
    }
    return MEL_OK;
}

/* The array of a member, for free(). A large one that cannot be read is refused by its header, and one of
 * more bytes than it said is read no further. */
static mel_status unpack_array(char **out, archive *a, const zip_stat_t *member, const mel_read_options *opt,
                               mel_error *err)
{
    const size_t size = (size_t)member->size, start = size < MEL_NPY_START ? size : MEL_NPY_START;
    char more;
    if (member->comp_method != ZIP_CM_STORE && member->comp_method != ZIP_CM_DEFLATE)
        return mel_fail(err, MEL_EDATA,
                        "the array %s is packed by method %u; numpy.savez and "
                        "savez_compressed write what can be read",
                        mel_quote(member->name, array_name(member->name)).text, member->comp_method);
    if (member->size > opt->max_bytes)
        return mel_fail(err, MEL_ELIMIT, "more than %llu bytes; raise the limit on bytes if that is intended",
                        (unsigned long long)opt->max_bytes);
    a->file = zip_fopen_index(a->zip, member->index, 0);
    if (a->file == NULL)
        return fail_zip(zip_error_code_zip(zip_get_error(a->zip)), err);
    void *bytes = *out = mel_alloc(start + 1, 1); /* an empty one has an address, too */
    TRY(MEL_NEED(bytes, "the contents of a file", err));
    TRY(unpack(a, bytes, start, err));
    if (start < size) {
        const mel_status status = check_npy_start(bytes, start, size, opt, err);
        if (status != MEL_OK)
            return mel_fail_in(err, status, "array %s",
                               mel_quote(member->name, array_name(member->name)).text);
        TRY(MEL_NEED(mel_grow(&bytes, size + 1, 1), "the contents of a file", err));
        *out = bytes;
        TRY(unpack(a, *out + start, size - start, err));
    }
    const zip_int64_t beyond = zip_fread(a->file, &more, 1); /* says whether the checksum is right */
    return beyond == 0 ? MEL_OK : fail_damaged(err);
}

mel_status mel_read_npz(mel_table **out, const char *bytes, size_t n, const char *name,
                        const mel_read_options *opt, mel_error *err)
{
    MEL_AUTO_CLEAR(archive) a = { .zip = NULL };
    MEL_AUTO_MEMORY char *array = NULL;
    zip_stat_t member = { 0 };
    if (!mel_magic_is_zip(bytes, n))
        return mel_fail(err, MEL_EDATA, "not an NPZ file: it starts with %s",
                        mel_quote(bytes, n < 6 ? n : 6).text);
    TRY(open_archive(&a, bytes, n, err));
    TRY(find_member(&member, a.zip, opt->member, err));
    TRY(unpack_array(&array, &a, &member, opt, err));
    const mel_status status = mel_read_npy(out, array, (size_t)member.size, name, opt, err);
    return status == MEL_OK
               ? MEL_OK
               : mel_fail_in(err, status, "array %s", mel_quote(member.name, array_name(member.name)).text);
}
