/* NPY arrays to tables. */
#include "base/buffer.h"
#include "data/missing.h"
#include "data/npy_header.h"
#include "data/number.h"
#include "data/quote.h"
#include "data/table_reader.h"
#include "data/utf8.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROW_BLOCK = 64 }; /* rows converted together, so that a stored row is read from cache */

/* Whether an array is one that can be read. */
static mel_status check_limits(const mel_npy_header *h, const mel_read_options *opt, mel_error *err)
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
    TRY(check_limits(h, opt, err));
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

static uint64_t load(const unsigned char *p, size_t width, bool swap)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < width; i++) {
        const size_t from_low = (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) != swap ? i : width - 1 - i;
        bits |= (uint64_t)p[i] << (8 * from_low);
    }
    return bits;
}

/* IEEE 754 binary16: 1 bit sign, 5 exponent, 10 fraction. */
double mel_half_to_double(unsigned bits)
{
    const int exponent = (int)(bits >> 10 & 31);
    const double fraction = (double)(bits & 1023);
    double size = exponent == 0 ? ldexp(fraction, -24) : ldexp(fraction + 1024.0, exponent - 25);
    if (exponent == 31)
        size = fraction != 0.0 ? NAN : INFINITY;
    return bits >> 15 != 0 ? -size : size;
}

/* Integers beyond 2^53 round to the nearest double, as they do in a CSV. */
static double convert(const mel_npy_header *h, const unsigned char *p)
{
    const uint64_t bits = load(p, h->width, h->swap);
    if (h->kind == 'f' && h->width == 8) {
        double value;
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    if (h->kind == 'f' && h->width == 2)
        return mel_half_to_double((unsigned)bits);
    if (h->kind == 'f') {
        const uint32_t low = (uint32_t)bits;
        float value;
        memcpy(&value, &low, sizeof value);
        return (double)value;
    }
    if (h->kind == 'i') {
        const unsigned unused = 64 - 8 * (unsigned)h->width;
        int64_t value;
        const uint64_t shifted = bits << unused;
        memcpy(&value, &shifted, sizeof value);
        return (double)(value >> unused);
    }
    return (double)bits;
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
                    numbers[i] = convert(h, item);
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
    while (n != 0 && load(item + (n - 1) * step, step, h->swap) == 0)
        n--;
    mel_buffer_reset(out);
    if (step == 1) {
        mel_buffer_add(out, item, n);
        return mel_utf8_valid((const char *)item, n) == n && memchr(item, 0, n) == NULL;
    }
    for (size_t i = 0; i < n; i++) {
        const uint64_t c = load(item + i * step, step, h->swap);
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
    if (column->codes[row] == MEL_MISSING)
        return mel_fail_memory(err, "the categories of a column");
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
    mel_status status = MEL_OK;
    for (size_t j = 0; j < table->n_columns && table->n_columns > 1 && status == MEL_OK; j++) {
        const mel_dict *dict = table->column[j].dict;
        size_t n = 0;
        double value;
        for (uint32_t code = 0; code < dict->n; code++)
            n += mel_number_parse(mel_dict_text(dict, code), mel_dict_length(dict, code), &value) ==
                 MEL_NUMBER_FINITE;
        if (n > 0 && 2 * n >= dict->n)
            status = mel_notes_warn(&table->notes, err,
                                    "column \"c%zu\": %zu of %zu different texts are numbers; treated as "
                                    "categories; store numbers in an array of numbers",
                                    j + 1, n, (size_t)dict->n);
    }
    return status;
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

static mel_table *new_table(const char *name, const mel_npy_header *h)
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

static mel_status note_how(mel_table *table, const mel_npy_header *h, mel_error *err)
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

mel_status mel_npy_check(const char *start, size_t n, size_t size, const mel_read_options *opt,
                         mel_error *err)
{
    mel_npy_header h;
    TRY(mel_npy_header_parse(&h, start, n, opt->matrices, err));
    return check_shape(&h, size, opt, err);
}

mel_status mel_npy_size(uint64_t *out, const char *start, size_t n, const mel_read_options *opt,
                        mel_error *err)
{
    mel_npy_header h;
    TRY(mel_npy_header_parse(&h, start, n, opt->matrices, err));
    TRY(check_limits(&h, opt, err));
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
    mel_status status = mel_npy_header_parse(&h, bytes, n, opt->matrices, err);
    if (status == MEL_OK)
        status = check_shape(&h, n, opt, err);
    if (status != MEL_OK)
        return status;
    mel_table *table = new_table(name, &h);
    if (table == NULL)
        return mel_fail_memory(err, "a table");
    const unsigned char *items = (const unsigned char *)bytes + h.offset;
    status = mel_refuse_overrides(table, opt, err);
    if (status == MEL_OK)
        status = table->column[0].type == MEL_COLUMN_TEXT ? convert_texts(table, &h, items, opt, err)
                                                          : convert_rows(table, &h, items, err);
    if (status == MEL_OK && table->column[0].type == MEL_COLUMN_TEXT)
        status = warn_numbers(table, err);
    if (status == MEL_OK)
        status = mel_notes_check(&table->notes, opt->strict, err);
    if (status == MEL_OK)
        status = note_how(table, &h, err);
    if (status != MEL_OK) {
        mel_table_free(table);
        return status;
    }
    *out = table;
    return MEL_OK;
}
