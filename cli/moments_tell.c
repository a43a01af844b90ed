/* Moments as results of melicit moments and melicit merge: added up, stored, and what they say. */
#include "files.h"
#include "model/shared.h"
#include "moments.h"
#include "output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

mel_status cli_moments_save(const void *moments, const char *file, mel_error *err)
{
    return mel_moments_save(moments, file, err);
}

mel_status cli_scores_save(const void *counts, const char *file, mel_error *err)
{
    return mel_score_counts_save(counts, file, err);
}

mel_status cli_moments_add(mel_moments **all, mel_moments *more, mel_error *err)
{
    if (*all == NULL) {
        *all = more;
        return MEL_OK;
    }
    const mel_status status = mel_moments_move(*all, more, err);
    mel_moments_free(more);
    return status;
}

mel_status cli_moments_check_out(const cli_run *run, const char *out, mel_error *err)
{
    if (strcmp(out, "-") == 0 && run->json)
        return cli_fail(err, MEL_EINVAL, "--out - and --json both need standard output");
    return cli_out_check(out, err);
}

void cli_moments_report(cli_run *run, size_t n_files, size_t n_rows, const char *out)
{
    char files[CLI_COUNT_SIZE], rows[CLI_COUNT_SIZE];
    if (run->json) {
        cli_put(run->result, "files", cli_json_count(n_files));
        cli_put(run->result, "rows", cli_json_count(n_rows));
        cli_put(run->result, "out", cli_json_text(out));
    } else if (strcmp(out, "-") != 0) {
        cli_print("%s rows of %s file%s: moments in %s\n", cli_count(rows, n_rows), cli_count(files, n_files),
                  n_files == 1 ? "" : "s", out);
    }
}

/* --- what a classifier decides ------------------------------------------------------------------ */

static const char *decision_name(const mel_decided *d, size_t j)
{
    return j < d->n_classes ? d->class_name[j] : "refer";
}

/* Which share of class i is decided as class j; NaN: it has no rows. */
static double rate(const mel_decided *d, const double *matrix, size_t i, size_t j)
{
    double all = 0.0;
    for (size_t t = 0; t < d->n_decisions; t++)
        all += matrix[i * d->n_decisions + t];
    return all > 0.0 ? matrix[i * d->n_decisions + j] / all : NAN;
}

/* Nothing where a class has no rows. */
static void print_rate(cli_table *table, double share)
{
    if (isnan(share))
        cli_table_cell(table, "%s", "");
    else
        cli_table_cell(table, "%.4f", share);
}

static json_t *matrix_json(const mel_decided *d, const double *matrix, bool rates)
{
    json_t *all = json_array();
    for (size_t i = 0; i < d->n_classes; i++) {
        json_t *row = json_array();
        for (size_t j = 0; j < d->n_decisions; j++)
            cli_push(row, cli_json_number(rates ? rate(d, matrix, i, j) : matrix[i * d->n_decisions + j]));
        cli_push(all, row);
    }
    return all;
}

/* name NULL: all rows. */
static json_t *block_json(const mel_decided *d, const char *name, const double *labels, const double *model)
{
    json_t *block = json_object();
    cli_put(block, "group", name != NULL ? cli_json_text(name) : json_null());
    cli_put(block, "by_labels", matrix_json(d, labels, false));
    cli_put(block, "by_model", matrix_json(d, model, false));
    cli_put(block, "rates", matrix_json(d, labels, true));
    cli_put(block, "expected_rates", matrix_json(d, model, true));
    return block;
}

static void print_block(const mel_decided *d, const char *name, const double *labels, const double *model)
{
    const size_t columns = d->n_decisions + 3;
    const char **headers = cli_alloc_zero(columns, sizeof *headers);
    char *align = cli_alloc_zero(columns + 1, 1);
    headers[0] = name != NULL ? name : "all rows";
    memset(align, 'r', columns);
    align[0] = 'l';
    for (size_t j = 0; j < d->n_decisions; j++)
        headers[1 + j] = decision_name(d, j);
    headers[columns - 2] = "right";
    headers[columns - 1] = "expected";
    bool whole = true; /* mixtures count by their shares */
    for (size_t c = 0; c < d->n_classes * d->n_decisions; c++)
        whole = whole && labels[c] == floor(labels[c]);
    cli_table *table = cli_table_new(align, headers);
    for (size_t i = 0; i < d->n_classes; i++) {
        cli_table_cell(table, "%s", d->class_name[i]);
        for (size_t j = 0; j < d->n_decisions; j++)
            cli_table_cell(table, whole ? "%.0f" : "%.1f", labels[i * d->n_decisions + j]);
        print_rate(table, rate(d, labels, i, i));
        print_rate(table, rate(d, model, i, i));
    }
    cli_print("\n");
    cli_table_print(table);
    free(headers);
    free(align);
}

/* All groups together, then one after the other. */
static void tell_decided(const cli_run *run, const mel_decided *d)
{
    const size_t cells = d->n_classes * d->n_decisions, m = d->n_groups > 0 ? d->n_groups : 1;
    double *labels = cli_alloc_zero(cells, sizeof *labels), *model = cli_alloc_zero(cells, sizeof *model);
    json_t *blocks = json_array(), *names = json_array();
    for (size_t c = 0; c < m * cells; c++) {
        labels[c % cells] += d->by_labels[c];
        model[c % cells] += d->by_model[c];
    }
    for (size_t g = 0; g <= d->n_groups; g++) {
        const char *name = g == 0 ? NULL : d->group_name[g - 1];
        const double *own = g == 0 ? labels : d->by_labels + (g - 1) * cells,
                     *expected = g == 0 ? model : d->by_model + (g - 1) * cells;
        if (run->json)
            cli_push(blocks, block_json(d, name, own, expected));
        else
            print_block(d, name, own, expected);
    }
    for (size_t j = 0; j < d->n_decisions; j++)
        cli_push(names, cli_json_text(decision_name(d, j)));
    cli_put(run->result, "decisions", names);
    cli_put(run->result, "confusion", blocks);
    free(labels);
    free(model);
}

mel_status cli_moments_tell(cli_run *run, const mel_moments *moments, const char *out, mel_error *err)
{
    cli_moments_report(run, mel_moments_files(moments), mel_moments_rows(moments), out);
    if (mel_moments_are(moments) != MEL_MOMENTS_DECISIONS || (!run->json && strcmp(out, "-") == 0))
        return MEL_OK;
    mel_decided decided;
    const mel_status status = mel_decided_of(&decided, moments, err);
    if (status == MEL_OK)
        tell_decided(run, &decided);
    mel_decided_clear(&decided);
    return status;
}
