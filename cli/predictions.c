/* Labels, the predictions of one or several classifiers for them, and groups, from files. */
#include "contenders.h"
#include "output.h"
#include "space_args.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

void cli_predictions_clear(cli_predictions *p)
{
    for (size_t c = 0; c < p->n && p->wanted != NULL; c++)
        mel_labels_clear(&p->wanted[c]);
    mel_names_free(p->name, p->n);
    free(p->wanted);
    mel_labels_clear(&p->truth);
    mel_labels_clear(&p->groups);
    mel_classes_clear(&p->classes);
    *p = (cli_predictions){ 0 };
}

size_t cli_predictions_groups(const cli_predictions *p)
{
    return p->groups.n_classes > 1 ? p->groups.n_classes : 1;
}

/* --- classes ------------------------------------------------------------------------------------ */

static mel_status one_column(mel_table **out, const char *path, const mel_read_options *read, mel_error *err)
{
    TRY(mel_table_read(out, path, read, err));
    if (mel_table_columns(*out) != 1)
        return cli_fail(err, MEL_EDATA, "%s: %zu columns; expected one", path, mel_table_columns(*out));
    return MEL_OK;
}

static const char *column_of(const mel_table *table)
{
    return mel_table_column_name(table, 0);
}

/* Labels that lack some of the metric's classes, all others being among them: its classes are theirs. */
static mel_status complete_classes(cli_predictions *p, const mel_table *table, const char *const *all,
                                   size_t k, mel_error *err)
{
    for (size_t i = 0; i < p->classes.n; i++)
        if (mel_name_place(p->classes.label[i], k, all) == k)
            return cli_fail(err, MEL_EDATA, "%s: there are %zu classes; the metric is for %zu",
                            mel_table_name(table), p->classes.n, k);
    const bool number_texts = p->classes.number_texts;
    mel_classes_clear(&p->classes);
    mel_labels_clear(&p->truth);
    TRY(mel_classes_of_names(&p->classes, k, all, all, number_texts, err));
    return mel_table_labels_as(&p->truth, table, column_of(table), k, all, err);
}

/* The metric in the order of the labels. With --positive it is said which class its second one is. */
static mel_status match_metric(cli_predictions *p, mel_metric **metric, const char *given,
                               const cli_prediction_args *args, const mel_table *table, mel_error *err)
{
    const mel_layout layout = *mel_metric_layout(*metric);
    const size_t k = layout.n_classes;
    const char *const *own = mel_metric_class_names(*metric);
    if (p->classes.n < k)
        TRY(complete_classes(p, table, own, k, err));
    else if (p->classes.n > k)
        return cli_fail(err, MEL_EDATA, "%s: there are %zu classes; the metric is for %zu", args->labels,
                        p->classes.n, k);
    bool shared = false;
    for (size_t i = 0; i < p->classes.n; i++)
        shared = shared || mel_name_place(p->classes.name[i], k, own) < k ||
                 mel_name_place(p->classes.label[i], k, own) < k;
    const bool said = args->naming.positive != NULL && !shared;
    const cli_about about = { .with = { .name = said ? NULL : (const char *const *)p->classes.name,
                                        .label = said ? NULL : (const char *const *)p->classes.label,
                                        .group = mel_metric_group_names(*metric) },
                              .classes = &p->classes };
    return cli_match_metric(metric, given, &layout, &about, err);
}

/* --classes with all classes of the labels and others besides, which no label happens to be. */
static mel_status add_classes(cli_predictions *p, mel_naming *naming, const mel_table *table, mel_error *err)
{
    if (naming->classes == NULL || naming->rename != NULL)
        return MEL_OK;
    MEL_AUTO_MEMORY char **name = NULL;
    size_t n = 0, known = 0;
    TRY(mel_names_split(&name, &n, naming->classes, "classes", err));
    const char *const *all = (const char *const *)name;
    for (size_t i = 0; i < p->truth.n_classes; i++)
        known += mel_name_place(p->truth.name[i], n, all) < n;
    if (known == p->truth.n_classes && known < n) {
        const bool number_texts = p->truth.number_texts;
        mel_labels_clear(&p->truth);
        TRY(mel_classes_of_names(&p->classes, n, all, all, number_texts, err));
        TRY(mel_table_labels_as(&p->truth, table, column_of(table), n, all, err));
    }
    return MEL_OK;
}

static mel_status settle_classes(cli_predictions *p, mel_metric **metric, const char *given,
                                 const cli_prediction_args *args, const mel_table *table, mel_error *err)
{
    mel_naming naming = args->naming;
    if (metric != NULL && *metric != NULL) {
        naming.n_preferred = mel_metric_layout(*metric)->n_classes;
        naming.preferred = mel_metric_class_names(*metric);
    }
    TRY(mel_table_labels(&p->truth, table, column_of(table), err));
    TRY(add_classes(p, &naming, table, err));
    if (p->classes.n == 0)
        TRY(mel_classes_settle(&p->classes, &p->truth, &naming, args->labels, err));
    else if (naming.positive != NULL)
        return cli_fail(err, MEL_EINVAL, "--positive %s: the label has %zu classes, not two", naming.positive,
                        p->classes.n);
    return metric != NULL && *metric != NULL ? match_metric(p, metric, given, args, table, err) : MEL_OK;
}

static mel_status read_labels(cli_predictions *p, mel_metric **metric, const char *given,
                              const cli_prediction_args *args, const mel_read_options *read, mel_error *err)
{
    MEL_AUTO(mel_table) *table = NULL;
    TRY(one_column(&table, args->labels, read, err));
    return settle_classes(p, metric, given, args, table, err);
}

/* --- predictions -------------------------------------------------------------------------------- */

/* "logistic" of "runs/logistic.csv.gz"; freed by the caller. */
static char *file_title(const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash != NULL ? slash + 1 : path;
    const char *dot = *base != '\0' ? strchr(base + 1, '.') : NULL;
    return dot != NULL ? cli_format("%.*s", (int)(dot - base), base) : cli_format("%s", base);
}

/* Which class a number stands for is said, unless all classes were given: labels need not have them all. */
static void note_places(cli_run *run, const cli_predictions *p, const mel_table *table)
{
    char *text = cli_format("%s", "");
    for (size_t i = 0; i < p->classes.n; i++) {
        size_t at = 0;
        while (p->classes.place[at] != i)
            at++;
        char *longer = cli_format("%s%s%zu is %s", text, i > 0 ? ", " : "", i, p->classes.label[at]);
        free(text);
        text = longer;
    }
    cli_note(run, "%s: %s; where the labels lack a class, --classes gives all of them", mel_table_name(table),
             text);
    free(text);
}

static mel_status add_classifier(cli_predictions *p, char *name, const mel_table *table, const char *column,
                                 mel_error *err)
{
    p->name = cli_regrow(p->name, p->n + 1, sizeof *p->name);
    p->wanted = cli_regrow(p->wanted, p->n + 1, sizeof *p->wanted);
    p->wanted[p->n] = (mel_labels){ 0 };
    p->name[p->n++] = name;
    for (size_t i = 0; i + 1 < p->n; i++)
        if (strcmp(p->name[i], name) == 0)
            return cli_fail(err, MEL_EDATA, "%s: two classifiers are called \"%s\"", mel_table_name(table),
                            name);
    TRY(mel_classes_decisions(&p->wanted[p->n - 1], table, column, &p->classes, err));
    if (p->wanted[p->n - 1].n_rows != p->truth.n_rows)
        return cli_fail(err, MEL_EDATA,
                        "%s has %zu rows, the labels have %zu: expected one row per prediction",
                        mel_table_name(table), p->wanted[p->n - 1].n_rows, p->truth.n_rows);
    return MEL_OK;
}

/* A file of one column is a classifier, and each column of others. */
static mel_status read_classifiers(cli_predictions *p, const char *path, bool all,
                                   const mel_read_options *read, cli_run *run, mel_error *err)
{
    mel_table *table = NULL;
    mel_status status = mel_table_read(&table, path, read, err);
    const size_t columns = status == MEL_OK ? mel_table_columns(table) : 0;
    for (size_t c = 0; c < columns && status == MEL_OK; c++) {
        const char *column = mel_table_column_name(table, c);
        char *name = columns == 1 ? file_title(path) : cli_format("%s", column);
        status = add_classifier(p, name, table, column, err);
    }
    if (status == MEL_OK && !all &&
        mel_decisions_are_places(table, mel_table_column_name(table, 0), &p->classes))
        note_places(run, p, table);
    mel_table_free(table);
    return status;
}

/* --- groups ------------------------------------------------------------------------------------- */

static mel_status take_groups(cli_predictions *p, const mel_metric *metric, const mel_table *table,
                              mel_error *err)
{
    const size_t m = metric != NULL ? mel_metric_layout(metric)->n_groups : 0;
    return m > 1
               ? mel_take_groups(&p->groups, table, column_of(table), m, mel_metric_group_names(metric), err)
               : mel_table_groups(&p->groups, table, column_of(table), err);
}

/* Groups of a metric that is about groups have its order. */
static mel_status read_groups(cli_predictions *p, const mel_metric *metric, const char *given,
                              const cli_prediction_args *args, const mel_read_options *read, mel_error *err)
{
    const size_t m = metric != NULL ? mel_metric_layout(metric)->n_groups : 0;
    if (args->groups == NULL)
        return m > 1 ? cli_fail(err, MEL_EINVAL, "%s is about %zu groups: give --groups FILE", given, m)
                     : MEL_OK;
    MEL_AUTO(mel_table) *table = NULL;
    TRY(one_column(&table, args->groups, read, err));
    TRY(take_groups(p, metric, table, err));
    if (p->groups.n_rows != p->truth.n_rows)
        return cli_fail(err, MEL_EDATA, "%s has %zu rows, %s has %zu: expected one row per label",
                        args->groups, p->groups.n_rows, args->labels, p->truth.n_rows);
    return MEL_OK;
}

/* --- all together ------------------------------------------------------------------------------- */

mel_status cli_predictions_read(cli_predictions *out, mel_metric **metric, const char *given,
                                const cli_prediction_args *args, const mel_read_options *read, cli_run *run,
                                mel_error *err)
{
    const bool all = args->naming.classes != NULL || (metric != NULL && *metric != NULL);
    *out = (cli_predictions){ 0 };
    mel_status status = read_labels(out, metric, given, args, read, err);
    for (size_t i = 0; i < args->predictions.n && status == MEL_OK; i++)
        status = read_classifiers(out, args->predictions.item[i], all, read, run, err);
    for (size_t i = 0; i < run->n_operands && status == MEL_OK; i++)
        status = read_classifiers(out, run->operand[i], all, read, run, err);
    if (status == MEL_OK)
        status = read_groups(out, metric != NULL ? *metric : NULL, given, args, read, err);
    if (status == MEL_OK)
        cli_note_renamed(run, &out->classes);
    else
        cli_predictions_clear(out);
    return status;
}

static size_t group_of(const cli_predictions *p, size_t row)
{
    return p->groups.n_classes > 1 ? p->groups.code[row] : 0;
}

void cli_predictions_count(double *counts, const cli_predictions *p, size_t c)
{
    const size_t k = p->classes.n;
    memset(counts, 0, cli_predictions_groups(p) * k * k * sizeof *counts);
    for (size_t i = 0; i < p->truth.n_rows; i++)
        counts[(group_of(p, i) * k + p->truth.code[i]) * k + p->wanted[c].code[i]] += 1.0;
}

const cli_option cli_prediction_options[] = {
    CLI_COMMON(cli_prediction_args, "labels", INPUT, labels, .argument = "FILE",
               .help = "true classes, one column"),
    CLI_COMMON(cli_prediction_args, "predictions", LIST, predictions, .argument = "FILE ..",
               .help = "predicted classes of a classifier, or of several, one file after the other or side "
                       "by side in columns: CSV by name; NPY as scikit-learn's predict gives them, or "
                       "numbers 0, 1, ... of text labels in sorted order"),
    CLI_COMMON(cli_prediction_args, "groups", INPUT, groups, .argument = "FILE",
               .help = "the group of each row, one column"),
    CLI_COMMON(cli_prediction_args, "positive", TEXT, naming.positive, .argument = "VALUE",
               .help = "the positive class among the labels: what the metric's second class is called there; "
                       "without --metric the larger of two numbers, the second of no and yes, ..; other "
                       "texts need it where it matters"),
    CLI_COMMON(cli_prediction_args, "classes", TEXT, naming.classes, .argument = "NAMES",
               .help = "if these are the labels: their order; of two, the second is positive. Otherwise: "
                       "what to call the labels, in sorted order"),
    CLI_ROW(cli_prediction_args, "rename", TEXT, naming.rename, .argument = "OLD=NEW,..",
            .help = "what to call the classes of the labels, one by one"),
    { 0 }
};
