/* Moments of rows of class probabilities: what a classifier decides about them, and what an iterate of
 * melicit optimise needs of them. */
#include "classified_rows.h"
#include "data/shared.h"
#include "dataset.h"
#include "model/shared.h"
#include "moments.h"
#include "optimise/shared.h"
#include "output.h"
#include "progress.h"

#include <stdlib.h>
#include <string.h>

/* At what sums are taken: one of both, and the classes that it knows. */
typedef struct {
    mel_classifier *classifier;
    mel_passes *passes;
    mel_classes classes;
} place;

static void place_clear(place *at)
{
    mel_classifier_free(at->classifier);
    mel_passes_free(at->passes);
    mel_classes_clear(&at->classes);
}

static mel_status check_classifier(const mel_classifier_parts *of, const cli_moments_job *job, mel_error *err)
{
    const char *path = job->classifier;
    if (of->joint)
        return cli_fail(err, MEL_EINVAL,
                        "%s decides by probabilities of groups and classes together, which are not summed "
                        "up; `melicit predict` reads them",
                        path);
    if (of->cost_column != NULL)
        return cli_fail(
            err, MEL_EINVAL,
            "%s weighs rows by their costs, which are not summed up; `melicit predict` reads them", path);
    return of->n_groups < 2 || job->groups != NULL
               ? MEL_OK
               : cli_fail(err, MEL_EINVAL, "%s decides by groups: give --groups FILE", path);
}

static mel_status load_classifier(place *at, const cli_moments_job *job, mel_error *err)
{
    const char *path = job->classifier;
    if (mel_weighted_recognise(path))
        return cli_fail(err, MEL_EINVAL,
                        "%s: decisions by basis functions or by a majority are not summed up; `melicit "
                        "predict` makes them",
                        path);
    mel_status status = mel_classifier_load(&at->classifier, path, err);
    if (status != MEL_OK)
        return status;
    const mel_classifier_parts of = mel_classifier_get(at->classifier);
    status = check_classifier(&of, job, err);
    return status != MEL_OK
               ? status
               : mel_classes_of_names(&at->classes, of.n_classes, of.class_name,
                                      of.label != NULL ? of.label : of.class_name, of.number_texts, err);
}

static mel_status load_place(place *at, const cli_moments_job *job, mel_error *err)
{
    if (job->classifier != NULL)
        return load_classifier(at, job, err);
    const mel_status status = mel_passes_load(&at->passes, job->iterate, err);
    if (status != MEL_OK)
        return status;
    const mel_passes_parts of = mel_passes_get(at->passes);
    return of.waits ? mel_classes_of_names(&at->classes, of.n_classes, of.class_name, of.label,
                                           of.number_texts, err)
                    : cli_fail(err, MEL_EDATA, "%s: the run has ended, no sums are wanted", job->iterate);
}

/* --- the rows of a file ------------------------------------------------------------------------- */

typedef struct {
    mel_proba proba;
    mel_labels labels, groups; /* groups: n_classes 0: none */
} rows_of_file;

static void rows_clear(rows_of_file *r)
{
    mel_proba_clear(&r->proba);
    mel_labels_clear(&r->labels);
    mel_labels_clear(&r->groups);
}

static mel_status read_column(mel_labels *out, const char *path, const char *name, const mel_classes *classes,
                              const mel_read_options *read, mel_error *err)
{
    mel_table *table = NULL;
    const char *column = NULL;
    mel_status status = cli_read_column(&table, &column, path, name,
                                        classes != NULL ? "--label" : "the name \"group\"", read, err);
    if (status == MEL_OK)
        status = classes != NULL ? mel_classes_decisions(out, table, column, classes, err)
                                 : mel_table_groups(out, table, column, err);
    mel_table_free(table);
    return status;
}

static mel_status check_rows(const rows_of_file *r, const cli_moments_job *job, mel_error *err)
{
    const bool labels = r->labels.n_rows != r->proba.n_rows;
    if (!labels && (job->groups == NULL || r->groups.n_rows == r->proba.n_rows))
        return MEL_OK;
    return cli_fail(err, MEL_EDATA, "%s has %zu rows, %s has %zu: expected as many",
                    labels ? job->labels : job->groups, labels ? r->labels.n_rows : r->groups.n_rows,
                    job->probs, r->proba.n_rows);
}

static mel_status read_rows(rows_of_file *r, const place *at, const cli_moments_job *job, const cli_run *run,
                            mel_error *err)
{
    mel_reader reader = { 0 };
    mel_status status = cli_reader_init(&reader, job->reading, run, err);
    if (status == MEL_OK)
        status = mel_reader_share(&reader, err);
    if (status == MEL_OK)
        status = mel_proba_read_classes(&r->proba, job->probs, &at->classes, &reader.options, err);
    if (status == MEL_OK && r->proba.n_classes != at->classes.n)
        status = cli_fail(err, MEL_EDATA, "%s has probabilities of %zu classes, %s is about %zu", job->probs,
                          r->proba.n_classes, job->classifier != NULL ? job->classifier : job->iterate,
                          at->classes.n);
    if (status == MEL_OK && at->classifier != NULL) {
        const mel_classifier_parts of = mel_classifier_get(at->classifier);
        status =
            cli_check_columns(&r->proba, &at->classes, &of, job->classifier, job->probs, job->columns, err);
    }
    if (status == MEL_OK)
        status = mel_proba_order(&r->proba, job->probs, job->columns, &at->classes, err);
    if (status == MEL_OK)
        status = read_column(&r->labels, job->labels, job->label, &at->classes, &reader.options, err);
    if (status == MEL_OK && job->groups != NULL)
        status = read_column(&r->groups, job->groups, "group", NULL, &reader.options, err);
    if (status == MEL_OK)
        status = cli_reader_check(&reader, job->reading, run, err);
    mel_reader_clear(&reader);
    return status == MEL_OK ? check_rows(r, job, err) : status;
}

static mel_status sum_rows(mel_moments **out, const place *at, const rows_of_file *r,
                           const cli_moments_job *job, const cli_run *run, mel_error *err)
{
    if (at->passes != NULL) {
        const mel_weight_rows rows = { .n_rows = r->proba.n_rows,
                                       .probability = r->proba.value,
                                       .label = r->labels.code };
        return mel_passes_take(out, at->passes, job->probs, &rows, run->threads, err);
    }
    const mel_rule_rows rows = { .n_rows = r->proba.n_rows,
                                 .n_classes = r->proba.n_classes,
                                 .n_groups = r->groups.n_classes,
                                 .probability = r->proba.value,
                                 .label = r->labels.code,
                                 .group = r->groups.code,
                                 .group_name = (const char *const *)r->groups.name };
    return mel_classifier_moments(out, at->classifier, &rows, job->probs, err);
}

/* Adds one file to *all. */
static mel_status take_file(mel_moments **all, const place *at, const cli_moments_job *job,
                            const cli_run *run, mel_error *err)
{
    rows_of_file rows = { 0 };
    mel_moments *one = NULL;
    mel_status status = read_rows(&rows, at, job, run, err);
    if (status == MEL_OK) {
        status = sum_rows(&one, at, &rows, job, run, err);
        status = status == MEL_OK ? status : cli_fail_in(err, status, job->probs);
    }
    if (status == MEL_OK)
        status = cli_moments_add(all, one, err);
    rows_clear(&rows);
    return status == MEL_OK ? cli_check_stop(err) : status;
}

/* --- all files ---------------------------------------------------------------------------------- */

enum { PROBS, LABELS, GROUPS, FILES };

static mel_status take_files(mel_moments **out, const place *at, const cli_moments_job *job,
                             const cli_run *run, mel_error *err)
{
    const char *const given[FILES] = { job->probs, job->labels, job->groups };
    mel_matches files[FILES] = { { 0 } };
    mel_status status = mel_patterns_find(files, FILES, given, err);
    for (size_t i = 0; i < files[PROBS].n && status == MEL_OK; i++) {
        cli_moments_job one = *job;
        one.probs = files[PROBS].file[i].name;
        one.labels = files[LABELS].file[i].name;
        one.groups = job->groups != NULL ? files[GROUPS].file[i].name : NULL;
        status = take_file(out, at, &one, run, err);
    }
    for (size_t f = 0; f < FILES; f++)
        mel_matches_clear(&files[f]);
    return status;
}

mel_status cli_moments_take(mel_moments **out, const cli_moments_job *job, const cli_run *run, mel_error *err)
{
    place at = { 0 };
    *out = NULL;
    mel_status status = load_place(&at, job, err);
    if (status == MEL_OK)
        status = mel_is_pattern(job->probs) ? take_files(out, &at, job, run, err)
                                            : take_file(out, &at, job, run, err);
    place_clear(&at);
    if (status != MEL_OK) {
        mel_moments_free(*out);
        *out = NULL;
    }
    return status;
}
