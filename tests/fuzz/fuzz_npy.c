/* Any bytes as an .npy or .npz file: refused with a sentence, or read into numbers, none of them
 * infinite, and texts. */
#include "melicit/melicit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool truth)
{
    if (!truth)
        abort();
}

static void check_cell(const mel_table *table, size_t row, size_t column)
{
    const double *numbers = mel_table_numbers(table, column);
    const uint32_t *codes = mel_table_codes(table, column);
    demand((numbers != NULL) != (codes != NULL));
    demand(numbers == NULL || !isinf(numbers[row]));
    demand(codes == NULL || codes[row] == MEL_MISSING ||
           *mel_table_category(table, column, codes[row]) != '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mel_read_options opt;
    mel_read_options_init(&opt);
    opt.format = size >= 2 && memcmp(data, "PK", 2) == 0 ? MEL_FORMAT_NPZ : MEL_FORMAT_NPY;
    opt.threads = 1;
    opt.max_bytes = 1 << 20;
    mel_table *table;
    mel_error err = { 0 };
    const mel_status status = mel_table_read_memory(&table, data, size, "fuzz.npy", &opt, &err);
    if (status != MEL_OK) {
        demand(table == NULL && err.code == status && strncmp(err.text, "fuzz.npy: ", 10) == 0);
        demand(status == MEL_EDATA || status == MEL_ELIMIT);
        return 0;
    }
    for (size_t j = 0; j < mel_table_columns(table); j++)
        for (size_t i = 0; i < mel_table_rows(table); i++)
            check_cell(table, i, j);
    mel_table_free(table);
    return 0;
}
