/* The rows that a problem is measured on: held-out rows of a table, or probabilities of any model. */
#include "base/digest.h"
#include "data/shared.h"
#include "problem/columns.h"
#include "problem/problem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- a table ------------------------------------------------------------------------------------ */

static mel_status fit_and_predict(mel_problem *problem, mel_dataset_part *train, const mel_dataset_part *test,
                                  const mel_problem_options *opt, mel_error *err)
{
    const size_t k = problem->n_classes;
    mel_fit_options fit;
    mel_fit_options_init(&fit);
    fit.l2 = opt->l2;
    fit.threads = opt->resources.threads;
    fit.progress = opt->resources.progress;
    mel_model *model = NULL;
    mel_status status = mel_model_fit(&model, NULL, &train->x.view, train->y, k, train->weight, &fit, err);
    if (status != MEL_OK)
        return status;
    problem->probability = mel_alloc_zero(test->x.view.n_rows, k * sizeof *problem->probability);
    status = problem->probability != NULL
                 ? mel_model_predict(problem->probability, model, &test->x.view, opt->resources.threads, err)
                 : mel_fail_memory(err, "the probabilities");
    mel_model_free(model);
    return status;
}

/* Whether a model of this size may be trained. */
static mel_status check_model(const mel_resources *resources, size_t features, size_t classes, mel_error *err)
{
    if (resources->max_weights == 0 || features <= resources->max_weights / classes)
        return MEL_OK;
    return mel_fail(
        err, MEL_ELIMIT,
        "%zu features (each value of a text is one) for %zu classes: here a model has at most %zu "
        "weights; leave columns out with skip",
        features, classes, resources->max_weights);
}

static mel_status take_costs(double *out, const mel_table *table, const mel_text_list *names, size_t c,
                             const char *option, mel_error *err)
{
    const mel_status status = mel_need_column(table, names->item[c], option, err);
    if (status != MEL_OK)
        return status;
    const double *value = mel_table_numbers(table, mel_table_find(table, names->item[c]));
    if (value == NULL)
        return mel_fail(err, MEL_EDATA, "%s: column \"%s\" is not a column of numbers", mel_table_name(table),
                        names->item[c]);
    for (size_t r = 0; r < mel_table_rows(table); r++) {
        if (!(value[r] >= 0.0 && isfinite(value[r])))
            return mel_fail(err, MEL_EDATA,
                            "%s: row %zu, column \"%s\": a cost of %g; expected a number from 0 up",
                            mel_table_name(table), mel_table_row_number(table, r), names->item[c], value[r]);
        out[r * names->n + c] = value[r];
    }
    return MEL_OK;
}

mel_status mel_row_costs_read(double **out, const mel_table *table, const mel_text_list *names,
                              const char *option, mel_error *err)
{
    mel_status status = MEL_OK;
    *out = mel_alloc_zero(mel_table_rows(table), names->n * sizeof **out);
    if (*out == NULL)
        return mel_fail_memory(err, "columns of numbers");
    for (size_t c = 0; c < names->n && status == MEL_OK; c++)
        status = take_costs(*out, table, names, c, option, err);
    return status;
}

/* The columns of numbers that come along with the rows. */
static mel_status take_numbers(mel_problem *problem, const mel_table *table, const mel_text_list *names,
                               mel_error *err)
{
    return names->n > 0 ? mel_row_costs_read(&problem->numbers, table, names, "--row-cost", err) : MEL_OK;
}

/* Headers are no rows: `first` is what messages call the first one. */
static mel_status take_places(mel_problem *problem, const mel_table *table, size_t first, mel_error *err)
{
    const size_t n = mel_table_rows(table);
    problem->row = mel_alloc(n, sizeof *problem->row);
    for (size_t i = 0; i < n && problem->row != NULL; i++)
        problem->row[i] = mel_table_row_number(table, i) - first + 1;
    return problem->row != NULL || n == 0 ? MEL_OK : mel_fail_memory(err, "the places of rows");
}

/* Trains on one part and takes the probabilities of the other. */
static mel_status measure_parts(mel_problem *problem, mel_dataset_part parts[MEL_DATASET_PARTS], size_t first,
                                const mel_problem_options *opt, mel_error *err)
{
    mel_dataset_part *train = &parts[MEL_PART_TRAIN], *test = &parts[MEL_PART_TEST];
    mel_encoder *encoder = NULL;
    mel_status status = mel_dataset_part_learn(&encoder, train, &opt->dataset, err);
    if (status == MEL_OK)
        status = check_model(&opt->resources, mel_encoder_features(encoder), problem->n_classes, err);
    if (status == MEL_OK)
        status = mel_dataset_part_encode(train, encoder, err);
    if (status == MEL_OK)
        status = take_numbers(problem, test->table, &opt->numbers, err);
    if (status == MEL_OK)
        status = take_places(problem, test->table, first, err);
    if (status == MEL_OK)
        status = mel_dataset_part_encode(test, encoder, err);
    mel_encoder_free(encoder);
    if (status == MEL_OK)
        status = fit_and_predict(problem, train, test, opt, err);
    problem->n_rows = test->n;
    problem->label = test->y;
    problem->group = test->group;
    problem->weight = test->weight;
    test->y = test->group = NULL;
    test->weight = NULL;
    return status;
}

static mel_status split_and_measure(mel_problem *problem, mel_dataset *dataset,
                                    const mel_problem_options *opt, mel_error *err)
{
    mel_dataset_part parts[MEL_DATASET_PARTS];
    const size_t first = mel_table_rows(dataset->table) > 0 ? mel_table_row_number(dataset->table, 0) : 1;
    mel_status status = mel_dataset_split(parts, dataset, opt->dataset.test_share, opt->seed, err);
    if (status == MEL_OK && (parts[MEL_PART_TEST].n == 0 || parts[MEL_PART_TRAIN].n == 0))
        status =
            mel_fail(err, MEL_EDATA, "--test-share %g of %zu rows leaves none to %s", opt->dataset.test_share,
                     dataset->n_rows, parts[MEL_PART_TEST].n == 0 ? "measure on" : "train on");
    if (status == MEL_OK)
        mel_take_classes(problem, &dataset->classes);
    if (status == MEL_OK)
        status = mel_check_classes(&opt->resources, problem->n_classes, dataset->groups.n_classes, err);
    if (status == MEL_OK)
        status = measure_parts(problem, parts, first, opt, err);
    for (size_t p = 0; p < MEL_DATASET_PARTS; p++)
        mel_dataset_part_clear(&parts[p]);
    return status;
}

mel_status mel_rows_from_table(mel_problem *problem, const mel_problem_options *opt, mel_error *err)
{
    mel_input input;
    mel_dataset dataset;
    mel_status status = mel_dataset_read_with(&dataset, &input, &opt->dataset, &opt->resources, err);
    if (status == MEL_OK)
        status = mel_name_groups(problem, dataset.groups.n_classes, dataset.groups.name, err);
    if (status == MEL_OK && opt->dataset.group != NULL)
        status = mel_name_group_column(problem, opt->dataset.group, err);
    if (status == MEL_OK)
        status = mel_input_digest(problem->digest, &input, err);
    if (status == MEL_OK)
        status = split_and_measure(problem, &dataset, opt, err);
    mel_dataset_clear(&dataset);
    mel_input_clear(&input);
    return status;
}

/* --- probabilities of any model ----------------------------------------------------------------- */

enum { PROBS, LABELS, GROUPS, FILES };
typedef struct {
    mel_input file[FILES]; /* without groups the last has no path */
    mel_proba proba;
    mel_labels labels, groups;
    mel_classes classes;
} given_files;

static void given_files_clear(given_files *g)
{
    for (size_t i = 0; i < FILES; i++)
        mel_input_clear(&g->file[i]);
    mel_proba_clear(&g->proba);
    mel_labels_clear(&g->labels);
    mel_labels_clear(&g->groups);
    mel_classes_clear(&g->classes);
}

static mel_status find_files(given_files *g, const mel_problem_options *opt, mel_error *err)
{
    static const char *const keys[FILES] = { "probs", "labels", "groups" };
    const char *const given[FILES] = { opt->probs, opt->labels, opt->groups };
    mel_status status = MEL_OK;
    for (size_t i = 0; i < FILES && status == MEL_OK; i++)
        if (given[i] != NULL)
            status = mel_input_find(&g->file[i], keys[i], given[i], &opt->resources, err);
    return status;
}

/* What --label says unless it is given: a file of one column may call it otherwise. */
static const char usual_label[] = "label";

/* The labels of the rows, or their groups. */
static mel_status read_codes(mel_labels *codes, mel_problem *problem, bool groups, const mel_input *file,
                             const mel_problem_options *opt, const mel_read_options *read, mel_error *err)
{
    mel_table *table = NULL;
    const char *column = NULL;
    const char *name = groups ? opt->dataset.group : opt->dataset.label,
               *option = groups ? "--group" : "--label";
    mel_status status = mel_input_read(&table, file, read, err);
    if (status == MEL_OK && name != NULL && strcmp(name, usual_label) != 0)
        status = mel_need_column(table, name, option, err);
    if (status == MEL_OK)
        status = mel_only_column(&column, table, name, option, err);
    if (status == MEL_OK)
        status = groups ? mel_table_groups(codes, table, column, err)
                        : mel_table_labels(codes, table, column, err);
    if (status == MEL_OK && groups)
        status = mel_name_group_column(problem, column, err);
    else if (status == MEL_OK)
        status = take_numbers(problem, table, &opt->numbers, err);
    mel_table_free(table);
    return status;
}

static mel_status read_files(given_files *g, mel_problem *problem, const mel_problem_options *opt,
                             const mel_read_options *read, mel_error *err)
{
    mel_status status = read_codes(&g->labels, problem, false, &g->file[LABELS], opt, read, err);
    if (status == MEL_OK)
        status = mel_classes_settle(&g->classes, &g->labels, &opt->dataset.naming, g->file[LABELS].path, err);
    if (status == MEL_OK && opt->groups != NULL)
        status = read_codes(&g->groups, problem, true, &g->file[GROUPS], opt, read, err);
    if (status == MEL_OK)
        status = mel_proba_from_input(&g->proba, &g->file[PROBS], &g->classes, read, err);
    return status;
}

static mel_status check_shapes(const given_files *g, mel_error *err)
{
    const size_t rows = g->proba.n_rows, k = g->proba.n_classes;
    const char *probs = g->file[PROBS].path, *labels = g->file[LABELS].path, *groups = g->file[GROUPS].path;
    if (g->labels.n_rows != rows)
        return mel_fail(err, MEL_EDATA, "%s has %zu rows, %s has %zu: expected one label per row", probs,
                        rows, labels, g->labels.n_rows);
    if (groups != NULL && g->groups.n_rows != rows)
        return mel_fail(err, MEL_EDATA, "%s has %zu rows, %s has %zu: expected one group per row", probs,
                        rows, groups, g->groups.n_rows);
    if (g->labels.n_classes < k)
        return mel_fail(err, MEL_EDATA,
                        "%s has %zu classes, but only %zu of them have rows in %s (%s): without rows of a "
                        "class nothing is known about it",
                        probs, k, g->labels.n_classes, labels,
                        mel_name_list(g->labels.n_classes, (const char *const *)g->labels.name).text);
    if (g->labels.n_classes > k)
        return mel_fail(err, MEL_EDATA, "%s has %zu classes, %s has probabilities of %zu", labels,
                        g->labels.n_classes, probs, k);
    return MEL_OK;
}

/* One digest of all files; none where one of them is standard input. */
static mel_status digest_files(char digest[MEL_DIGEST_HEX], const given_files *g, mel_error *err)
{
    char all[FILES][MEL_DIGEST_HEX];
    size_t n = 0;
    for (size_t i = 0; i < FILES; i++) {
        if (g->file[i].path == NULL)
            continue;
        const mel_status status = mel_input_digest(all[n], &g->file[i], err);
        if (status != MEL_OK || all[n][0] == '\0')
            return status;
        n++;
    }
    mel_digest(all, n * MEL_DIGEST_HEX, digest);
    return MEL_OK;
}

/* One column without the name of a class is the positive one's: said where that is not the usual one. */
static void say_whose(const given_files *g, const mel_problem_options *opt)
{
    const mel_notice *notice = &opt->resources.notice;
    if (notice->call == NULL || g->classes.place[1] != 0 ||
        !mel_proba_of_positive(&g->proba, opt->columns, &g->classes))
        return;
    char text[200];
    (void)snprintf(text, sizeof text, "the one column is taken as the probability of %.120s",
                   g->classes.label[1]);
    notice->call(notice->user, g->file[PROBS].path, MEL_FORMAT_AUTO, text, true);
}

/* The arrays of the files become the problem's. */
static mel_status take_rows(mel_problem *problem, given_files *g, const mel_problem_options *opt,
                            mel_error *err)
{
    mel_status status = check_shapes(g, err);
    if (status == MEL_OK)
        status = mel_check_classes(&opt->resources, g->classes.n, g->groups.n_classes, err);
    if (status == MEL_OK)
        status = mel_proba_order(&g->proba, g->file[PROBS].path, opt->columns, &g->classes, err);
    if (status == MEL_OK)
        status = digest_files(problem->digest, g, err);
    if (status == MEL_OK)
        status = mel_name_groups(problem, g->groups.n_classes, g->groups.name, err);
    if (status != MEL_OK)
        return status;
    say_whose(g, opt);
    mel_take_classes(problem, &g->classes);
    problem->n_rows = g->labels.n_rows;
    problem->probability = g->proba.value;
    problem->label = g->labels.code;
    problem->group = g->groups.code;
    g->proba.value = NULL;
    g->labels.code = g->groups.code = NULL;
    return MEL_OK;
}

mel_status mel_rows_from_probabilities(mel_problem *problem, const mel_problem_options *opt, mel_error *err)
{
    given_files g = { .classes = { 0 } };
    mel_reader reader = { 0 };
    mel_status status = mel_reader_init(&reader, &opt->dataset.reading, &opt->resources, err);
    if (status == MEL_OK)
        status = mel_reader_share(&reader, err);
    if (status == MEL_OK)
        status = find_files(&g, opt, err);
    if (status == MEL_OK)
        status = read_files(&g, problem, opt, &reader.options, err);
    if (status == MEL_OK)
        status = mel_reader_check(&reader, &opt->dataset.reading, &opt->resources, err);
    if (status == MEL_OK)
        status = take_rows(problem, &g, opt, err);
    given_files_clear(&g);
    mel_reader_clear(&reader);
    return status;
}

/* --- what files hold ---------------------------------------------------------------------------- */

mel_status mel_problem_digest(char digest[MEL_DIGEST_HEX], const mel_problem_options *opt, mel_error *err)
{
    const bool table = opt->dataset.data != NULL, pool = opt->candidates != NULL;
    const char *const one = table ? opt->dataset.data : pool ? opt->candidates : opt->prevalence;
    digest[0] = '\0';
    if (one == NULL) {
        given_files g = { .classes = { 0 } };
        mel_status status = find_files(&g, opt, err);
        if (status == MEL_OK && opt->probs != NULL)
            status = digest_files(digest, &g, err);
        given_files_clear(&g);
        return status;
    }
    mel_input input = { 0 };
    mel_status status = mel_input_find(&input,
                                       table  ? "data"
                                       : pool ? "candidates"
                                              : "prevalence",
                                       one, &opt->resources, err);
    if (status == MEL_OK)
        status = mel_input_digest(digest, &input, err);
    mel_input_clear(&input);
    return status;
}
