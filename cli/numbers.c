/* Reads and prints points and lists of numbers. */
#include "numbers.h"
#include "base/names.h"
#include "output.h"

#include <stdlib.h>

enum { MOST_SHOWN = 8 };

bool cli_parse_numbers(double **out, size_t *n, const char *text)
{
    return cli_or_exit(mel_parse_numbers(out, n, text, NULL)) == MEL_OK;
}

mel_status cli_parse_vector(double **out, size_t *n, const char *option, const char *text, mel_error *err)
{
    return cli_parse_numbers(out, n, text)
               ? MEL_OK
               : cli_fail(err, MEL_EINVAL, "--%s %s: expected numbers with commas between them", option,
                          text);
}

json_t *cli_vector_json(size_t n, const double *value)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        cli_push(array, cli_json_number(value[i]));
    return array;
}

json_t *cli_matrix_json(size_t n_rows, size_t n_columns, const double *value)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n_rows; i++)
        cli_push(array, cli_vector_json(n_columns, value + i * n_columns));
    return array;
}

char *cli_vector_text(size_t n, const double *value)
{
    char *text = cli_format("(");
    for (size_t i = 0; i < n && i < MOST_SHOWN; i++) {
        char *longer = cli_format("%s%s%.6g", text, i == 0 ? "" : ", ", value[i]);
        free(text);
        text = longer;
    }
    char *closed = cli_format("%s%s)", text, n > MOST_SHOWN ? ", ..." : "");
    free(text);
    return closed;
}
