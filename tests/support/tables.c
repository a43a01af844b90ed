/* Tables as text, and into files. */
#include "support/tables.h"

#include "data/shared.h"
#include "support/test.h"

#include <math.h>
#include <stdio.h>

void test_describe(const mel_table *table, char *out, size_t size)
{
    size_t n = 0;
    out[0] = '\0';
    for (size_t j = 0; j < mel_table_columns(table); j++) {
        const double *x = mel_table_numbers(table, j);
        const uint32_t *codes = mel_table_codes(table, j);
        assert_true((x != NULL) != (codes != NULL));
        assert_int_equal(mel_table_column_type(table, j), x != NULL ? MEL_COLUMN_NUMBER : MEL_COLUMN_TEXT);
        n += (size_t)snprintf(out + n, size - n, "%s%s:%c=", j == 0 ? "" : " ",
                              mel_table_column_name(table, j), x != NULL ? 'n' : 't');
        for (size_t i = 0; i < mel_table_rows(table); i++) {
            const char *comma = i == 0 ? "" : ",";
            if (x != NULL ? isnan(x[i]) : codes[i] == MEL_MISSING)
                n += (size_t)snprintf(out + n, size - n, "%s_", comma);
            else if (x != NULL)
                n += (size_t)snprintf(out + n, size - n, "%s%.17g", comma, x[i]);
            else
                n += (size_t)snprintf(out + n, size - n, "%s%s", comma,
                                      mel_table_category(table, j, codes[i]));
        }
        assert_true(n < size);
    }
}

void test_write_npy(const char *path, size_t rows, size_t columns, const double *values)
{
    char header[MEL_NPY_START_BYTES];
    const size_t start = mel_npy_start(header, "<f8", rows, &columns);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(header, 1, start, file), start);
    assert_int_equal(fwrite(values, sizeof *values, rows * columns, file), rows * columns);
    assert_int_equal(fclose(file), 0);
}
