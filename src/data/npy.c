#include "data/npy_header.h"
#include "data/number.h"
#include "data/read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROW_BLOCK = 64 }; /* rows converted together, so that a stored row is read from cache */

static mel_status check_shape(const mel_npy_header *h, size_t n, const mel_read_options *opt, mel_error *err)
{
    if (h->rows == 0 || h->columns == 0)
        return mel_fail(err, MEL_EDATA, "the array is empty: %zu rows, %zu columns", h->rows, h->columns);
    if (h->columns > opt->max_columns)
        return mel_fail(err, MEL_ELIMIT, "%zu columns, more than the limit of %zu", h->columns,
                        opt->max_columns);
    if (h->rows > opt->max_rows)
        return mel_fail(err, MEL_ELIMIT, "%zu rows, more than the limit of %zu", h->rows, opt->max_rows);
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

/* Integers beyond 2^53 round to the nearest double, as they do in a CSV. */
static double convert(const mel_npy_header *h, const unsigned char *p)
{
    const uint64_t bits = load(p, h->width, h->swap);
    if (h->kind == 'f' && h->width == 8) {
        double value;
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    if (h->kind == 'f') {
        const uint32_t half = (uint32_t)bits;
        float value;
        memcpy(&value, &half, sizeof value);
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
                    column + 1,
                    isnan(value) ? "nan"
                    : value < 0  ? "-inf"
                                 : "inf");
}

static mel_status convert_all(mel_table *table, const mel_npy_header *h, const unsigned char *items,
                              mel_error *err)
{
    const size_t row_step = h->fortran ? 1 : h->columns, column_step = h->fortran ? h->rows : 1;
    for (size_t from = 0; from < h->rows; from += ROW_BLOCK) {
        const size_t to = h->rows - from < ROW_BLOCK ? h->rows : from + ROW_BLOCK;
        for (size_t j = 0; j < h->columns; j++) {
            double *numbers = table->column[j].numbers;
            for (size_t i = from; i < to; i++) {
                numbers[i] = convert(h, items + (i * row_step + j * column_step) * h->width);
                if (!isfinite(numbers[i]) || (h->kind == 'b' && numbers[i] > 1))
                    return refuse(h, i, j, numbers[i], err);
            }
        }
    }
    return MEL_OK;
}

static mel_table *new_table(const char *name, const mel_npy_header *h)
{
    mel_dict *names = mel_column_numbers(h->columns);
    mel_table *table = names != NULL ? mel_table_new(name, names, h->columns) : NULL;
    mel_dict_free(names);
    for (size_t j = 0; table != NULL && j < h->columns; j++) {
        table->column[j].type = MEL_COLUMN_NUMBER;
        table->column[j].numbers = mel_alloc(h->rows, sizeof(double));
        if (table->column[j].numbers == NULL) {
            mel_table_free(table);
            return NULL;
        }
    }
    if (table != NULL) {
        table->n_rows = h->rows;
        table->first_row = 1;
    }
    return table;
}

mel_status mel_read_npy(mel_table **out, const char *bytes, size_t n, const char *name,
                        const mel_read_options *opt, mel_error *err)
{
    mel_npy_header header;
    mel_status status = mel_npy_header_parse(&header, bytes, n, err);
    if (status == MEL_OK)
        status = check_shape(&header, n, opt, err);
    if (status != MEL_OK)
        return status;
    mel_table *table = new_table(name, &header);
    if (table == NULL)
        return mel_fail_memory(err, "a table");
    status = mel_refuse_overrides(table, opt, err);
    if (status == MEL_OK)
        status = convert_all(table, &header, (const unsigned char *)bytes + header.offset, err);
    if (status != MEL_OK) {
        mel_table_free(table);
        return status;
    }
    *out = table;
    return MEL_OK;
}
