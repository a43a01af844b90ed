/* melicit optimise --method correct, importance and matching: what is known of the training rows. */
#include "optimise.h"
#include "output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static mel_status find_class(size_t *out, const char *name, const mel_table *table,
                             const mel_classes *classes, mel_error *err)
{
    *out = mel_name_place(name, classes->n, (const char *const *)classes->name);
    return *out < classes->n ? MEL_OK
                             : cli_fail(err, MEL_EDATA, "%s: there is no class \"%s\"; classes are %s",
                                        mel_table_name(table), name,
                                        mel_name_list(classes->n, (const char *const *)classes->name).text);
}

/* A row of the file is about the class that its first column names, or else the header in the same place. */
static mel_status fill_transition(double *out, const mel_table *table, const mel_classes *classes,
                                  mel_error *err)
{
    const size_t k = classes->n, columns = mel_table_columns(table);
    const bool named = columns == k + 1;
    if (mel_table_rows(table) != k || (columns != k && !named) || !mel_table_has_header(table))
        return cli_fail(err, MEL_EDATA,
                        "%s: %zu rows and %zu columns; expected a square of probabilities with a header that "
                        "names the %zu classes: a row for each true class, a column for each label, and "
                        "perhaps a first column with the names of the rows",
                        mel_table_name(table), mel_table_rows(table), columns, k);
    for (size_t i = 0; i < k * k; i++)
        out[i] = NAN;
    for (size_t row = 0; row < k; row++) {
        const uint32_t *code = named ? mel_table_codes(table, 0) : NULL;
        const double *value = named ? mel_table_numbers(table, 0) : NULL;
        size_t truth = 0, said = 0;
        MEL_AUTO_MEMORY char *name = value != NULL ? cli_format("%.15g", value[row])
                                     : code != NULL && code[row] != MEL_MISSING
                                         ? cli_format("%s", mel_table_category(table, 0, code[row]))
                                         : cli_format("%s", mel_table_column_name(table, row));
        TRY(find_class(&truth, name, table, classes, err));
        for (size_t j = 0; j < k; j++) {
            const double *number = mel_table_numbers(table, j + named);
            TRY(find_class(&said, mel_table_column_name(table, j + named), table, classes, err));
            if (number == NULL || isnan(number[row]) || !isnan(out[truth * k + said]))
                return cli_fail(err, MEL_EDATA, "%s: row %zu, column %s: %s", mel_table_name(table),
                                mel_table_row_number(table, row), mel_table_column_name(table, j + named),
                                number == NULL || isnan(number[row]) ? "not a number"
                                                                     : "given for the second time");
            out[truth * k + said] = number[row];
        }
    }
    return MEL_OK;
}

static mel_status read_transition(double *inverse, const char *path, const mel_classes *classes,
                                  const cli_optimise_files *files, const cli_run *run, mel_error *err)
{
    MEL_AUTO_CLEAR(mel_reader) reader = { 0 };
    MEL_AUTO(mel_table) *table = NULL;
    MEL_AUTO_MEMORY double *transition = cli_alloc_zero(classes->n * classes->n, sizeof *transition);
    TRY(cli_reader_init(&reader, &files->reading, run, err));
    TRY(mel_table_read(&table, path, &reader.options, err));
    TRY(fill_transition(transition, table, classes, err));
    const mel_status status = mel_transition_invert(inverse, classes->n, transition, err);
    return status == MEL_EDATA ? cli_fail_in(err, status, path) : status;
}

static mel_status find_inverse(double *inverse, const char *how, const cli_optimise_work *w,
                               const mel_weight_rows *train, const mel_weight_rows *validation,
                               const cli_run *run, mel_error *err)
{
    const size_t k = w->rows.classes.n;
    if (strcmp(how, "clean") == 0)
        return mel_transition_of_clean(inverse, k, validation, err);
    if (strcmp(how, "sure") != 0)
        return read_transition(inverse, how, &w->rows.classes, &w->files, run, err);
    MEL_AUTO_MEMORY double *transition = cli_alloc_zero(k * k, sizeof *transition);
    TRY(mel_transition_of_sure(transition, k, train, err));
    return mel_transition_invert(inverse, k, transition, err);
}

mel_status cli_optimise_correct(cli_optimise_work *w, const cli_optimise_args *args,
                                const mel_weight_rows *train, const mel_weight_rows *validation,
                                const cli_run *run, mel_error *err)
{
    const size_t k = w->rows.classes.n;
    const mel_correction correction = (mel_correction)(args->method - CLI_METHOD_CORRECT);
    MEL_AUTO_MEMORY double *inverse = cli_alloc_zero(k * k, sizeof *inverse);
    if (correction == MEL_CORRECT_LABELS)
        TRY(find_inverse(inverse, args->transition, w, train, validation, run, err));
    return mel_optimise_corrected(&w->found, k, train, validation, w->measure, correction,
                                  correction == MEL_CORRECT_LABELS ? inverse : NULL, &w->opt, err);
}
