/* The rows that a problem is measured on: a labelled table and its stratified split, or probabilities of any
 * model; columns of both by their names. */
#include "data/shared.h"
#include "data/table.h"
#include "model/model.h"
#include "problem/problem.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* --- a labelled table ----------------------------------------------------------------------------------- */

static mel_status check_columns(const mel_table *table, const mel_dataset_options *opt, mel_error *err)
{
    const struct {
        const char *option, *column;
    } roles[] = { { "--label", opt->label }, { "--group", opt->group }, { "--weights", opt->weights } };
    for (size_t i = 1; i < sizeof roles / sizeof *roles; i++)
        for (size_t j = 0; j < i; j++)
            if (roles[i].column != NULL && roles[j].column != NULL &&
                strcmp(roles[i].column, roles[j].column) == 0)
                return mel_fail(err, MEL_EINVAL, "%s and %s are the same column \"%s\"", roles[j].option,
                                roles[i].option, roles[i].column);
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (roles[i].column != NULL)
            TRY(mel_need_column(table, roles[i].column, roles[i].option, err));
    for (size_t i = 0; i < opt->skip.n; i++)
        TRY(mel_need_column(table, opt->skip.item[i], "--skip", err));
    return MEL_OK;
}

static mel_status read_weights(mel_dataset *dataset, const mel_table *table, const char *name, mel_error *err)
{
    const size_t column = mel_table_find(table, name);
    const double *values = mel_table_numbers(table, column);
    if (values == NULL)
        return mel_fail_column(err, table, column, " (--weights) is not a column of numbers");
    double total = 0;
    TRY(MEL_NEED(dataset->weight = mel_alloc(dataset->n_rows, sizeof *dataset->weight), "the weights", err));
    for (size_t i = 0; i < dataset->n_rows; i++) {
        if (isnan(values[i]))
            return mel_fail_cell(err, table, i, column, "the weight is missing");
        if (!(values[i] >= 0 && values[i] <= DBL_MAX))
            return mel_fail_cell(err, table, i, column, "weight %g is negative", values[i]);
        dataset->weight[i] = values[i];
        total += values[i];
    }
    return total > 0 ? MEL_OK : mel_fail_column(err, table, column, ": all weights are 0");
}

static mel_status take_roles(mel_dataset *out, const mel_table *table, const mel_dataset_options *opt,
                             mel_error *err)
{
    TRY(opt->label_quantiles != 0
            ? mel_table_quantile_labels(&out->labels, table, opt->label, opt->label_quantiles, err)
            : mel_table_labels(&out->labels, table, opt->label, err));
    TRY(mel_classes_settle(&out->classes, &out->labels, &opt->naming, mel_table_name(table), err));
    if (opt->group != NULL)
        TRY(mel_table_groups(&out->groups, table, opt->group, err));
    return opt->weights != NULL ? read_weights(out, table, opt->weights, err) : MEL_OK;
}

static bool has_part(const mel_dataset_options *opt, const char *name)
{
    const char *const roles[] = { opt->label, opt->group, opt->weights };
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (roles[i] != NULL && strcmp(roles[i], name) == 0)
            return true;
    for (size_t i = 0; i < opt->skip.n; i++)
        if (strcmp(opt->skip.item[i], name) == 0)
            return true;
    return mel_column_is_meta(name);
}

static mel_status leave_out(mel_dataset *out, size_t column, const char *why, const mel_dataset_options *opt,
                            const mel_notice *notice, mel_error *err)
{
    if (opt->reading.strict)
        return mel_fail(err, MEL_EDATA, "%s: %s (refused: reading is strict)", mel_table_name(out->table),
                        why);
    mel_table_leave_out(out->table, column);
    if (notice->call != NULL)
        notice->call(notice->user, mel_table_name(out->table), MEL_FORMAT_AUTO, why, true);
    return MEL_OK;
}

/* Features that are amounts of money become numbers, with a line each. */
static mel_status read_money(mel_dataset *out, const mel_dataset_options *opt, const mel_notice *notice,
                             mel_error *err)
{
    char said[MEL_MONEY_WORDS];
    for (size_t j = 0; j < mel_table_columns(out->table); j++) {
        if (has_part(opt, mel_table_column_name(out->table, j)) || mel_table_is_declared(out->table, j))
            continue;
        TRY(mel_table_read_money(said, out->table, j, err));
        if (said[0] != '\0' && notice->call != NULL)
            notice->call(notice->user, mel_table_name(out->table), MEL_FORMAT_AUTO, said, true);
    }
    return MEL_OK;
}

/* Columns that cannot be features, with a warning each. Where no other is left they remain. */
static mel_status leave_unfit_out(mel_dataset *out, const mel_dataset_options *opt, const mel_notice *notice,
                                  mel_error *err)
{
    const size_t n = mel_table_columns(out->table);
    MEL_ARRAY(mel_unfit, why, n, "the columns of a table", err);
    size_t fit = 0;
    for (size_t j = 0; j < n; j++)
        if (!has_part(opt, mel_table_column_name(out->table, j))) {
            TRY(mel_column_unfit(&why[j], out->table, j, &out->labels, err));
            fit += why[j].text[0] == '\0';
        }
    for (size_t j = 0; j < n && fit != 0; j++)
        if (why[j].text[0] != '\0')
            TRY(leave_out(out, j, why[j].text, opt, notice, err));
    return MEL_OK;
}

mel_status mel_dataset_read(mel_dataset *out, const mel_dataset_options *opt, const mel_resources *resources,
                            mel_error *err)
{
    MEL_AUTO_CLEAR(mel_dataset) d = { .n_rows = 0 };
    MEL_AUTO_CLEAR(mel_reader) reader = { .found = NULL };
    *out = d;
    TRY(mel_reader_init(&reader, &opt->reading, resources, err));
    TRY(mel_input_table(&d.table, "data", opt->data, resources, &reader.options, err));
    d.n_rows = mel_table_rows(d.table);
    TRY(mel_reader_check(&reader, &opt->reading, resources, err));
    TRY(check_columns(d.table, opt, err));
    TRY(take_roles(&d, d.table, opt, err));
    TRY(read_money(&d, opt, &resources->notice, err));
    TRY(leave_unfit_out(&d, opt, &resources->notice, err));
    return MEL_GIVE_STRUCT(out, d);
}

void mel_dataset_clear(mel_dataset *dataset)
{
    mel_table_free(dataset->table);
    mel_labels_clear(&dataset->labels);
    mel_classes_clear(&dataset->classes);
    mel_labels_clear(&dataset->groups);
    free(dataset->weight);
    *dataset = (mel_dataset){ .n_rows = 0 };
}

/* A share of the rows is held out. The order of the classes makes no difference. */
static mel_status hold_out(uint8_t *part_of, const mel_dataset *d, double share, uint64_t seed,
                           mel_error *err)
{
    MEL_ARRAY(uint32_t, label, d->n_rows, "a split of the rows", err);
    MEL_ARRAY(bool, stays, d->n_rows, "a split of the rows", err);
    for (size_t i = 0; i < d->n_rows; i++)
        label[i] = (uint32_t)d->classes.place[d->labels.code[i]];
    TRY(mel_split(stays, d->n_rows, label, d->groups.n_classes != 0 ? d->groups.code : NULL, 1 - share, seed,
                  err));
    for (size_t i = 0; i < d->n_rows; i++)
        part_of[i] = stays[i] ? MEL_PART_TRAIN : MEL_PART_TEST;
    return MEL_OK;
}

static mel_status check_training(const uint8_t *part_of, const mel_dataset *d, mel_error *err)
{
    const size_t k = d->labels.n_classes;
    MEL_ARRAY(size_t, all, 2 * k, "the sizes of the classes", err);
    size_t *training = all + k;
    for (size_t i = 0; i < d->n_rows; i++) {
        all[d->labels.code[i]]++;
        training[d->labels.code[i]] += part_of[i] == MEL_PART_TRAIN;
    }
    for (size_t c = 0; c < k; c++)
        if (training[c] == 0)
            return mel_fail(err, MEL_EDATA,
                            "%s: class \"%s\" has %zu row%s and none of them trains; hold out less "
                            "(--test-share) or leave the class out",
                            mel_table_name(d->table), d->labels.name[c], all[c], all[c] == 1 ? "" : "s");
    return MEL_OK;
}

/* The rows that are in part `which`: their table, labels, groups and weights. */
static mel_status take_part(mel_dataset_part *part, mel_dataset *d, const uint8_t *part_of, int which,
                            mel_error *err)
{
    const bool grouped = d->groups.n_classes != 0, weighted = d->weight != NULL;
    MEL_ARRAY(size_t, rows, d->n_rows, "a part of the rows", err);
    for (size_t i = 0; i < d->n_rows; i++)
        if (part_of[i] == which)
            rows[part->n++] = i;
    part->y = mel_alloc(part->n, sizeof *part->y);
    part->group = grouped ? mel_alloc(part->n, sizeof *part->group) : NULL;
    part->weight = weighted ? mel_alloc(part->n, sizeof *part->weight) : NULL;
    if (part->y == NULL || (grouped && part->group == NULL) || (weighted && part->weight == NULL))
        return mel_fail_memory(err, "a part of the rows");
    for (size_t i = 0; i < part->n; i++) {
        part->y[i] = d->labels.code[rows[i]];
        if (grouped)
            part->group[i] = d->groups.code[rows[i]];
        if (weighted)
            part->weight[i] = d->weight[rows[i]];
    }
    if (part->n < d->n_rows)
        return part->n > 0 ? mel_table_take(&part->table, d->table, rows, part->n, err) : MEL_OK;
    part->table = d->table; /* all of them: no copy */
    d->table = NULL;
    return MEL_OK;
}

static mel_status split_rows(mel_dataset_part parts[MEL_DATASET_PARTS], mel_dataset *dataset,
                             double test_share, uint64_t seed, mel_error *err)
{
    MEL_ARRAY(uint8_t, part_of, dataset->n_rows, "a split of the rows", err);
    if (test_share > 0)
        TRY(hold_out(part_of, dataset, test_share, seed, err));
    TRY(check_training(part_of, dataset, err));
    for (int p = 0; p < MEL_DATASET_PARTS; p++)
        TRY(take_part(&parts[p], dataset, part_of, p, err));
    return MEL_OK;
}

mel_status mel_dataset_split(mel_dataset_part parts[MEL_DATASET_PARTS], mel_dataset *dataset,
                             double test_share, uint64_t seed, mel_error *err)
{
    for (int p = 0; p < MEL_DATASET_PARTS; p++)
        parts[p] = (mel_dataset_part){ 0 };
    const mel_status status = split_rows(parts, dataset, test_share, seed, err);
    mel_table_free(dataset->table);
    dataset->table = NULL;
    return status;
}

mel_status mel_dataset_part_learn(mel_encoder **out, const mel_dataset_part *part,
                                  const mel_dataset_options *opt, mel_error *err)
{
    MEL_ARRAY(const char *, skip, opt->skip.n + 3, "the names of columns", err);
    size_t n = 0;
    skip[n++] = opt->label;
    if (opt->group != NULL)
        skip[n++] = opt->group;
    if (opt->weights != NULL)
        skip[n++] = opt->weights;
    for (size_t i = 0; i < opt->skip.n; i++)
        skip[n++] = opt->skip.item[i];
    mel_encoder_options options;
    mel_encoder_options_init(&options);
    options.skip = skip;
    options.n_skip = n;
    options.missing_category = opt->missing_category;
    return mel_encoder_fit(out, part->table, &options, err);
}

mel_status mel_dataset_part_encode(mel_dataset_part *part, const mel_encoder *encoder, mel_error *err)
{
    if (part->n == 0)
        return MEL_OK;
    MEL_AUTO(mel_table) *table = part->table;
    part->table = NULL;
    return mel_encode(&part->x, encoder, table, err);
}

void mel_dataset_part_clear(mel_dataset_part *part)
{
    mel_table_free(part->table);
    mel_encoded_clear(&part->x);
    free(part->y);
    free(part->group);
    free(part->weight);
    *part = (mel_dataset_part){ 0 };
}

/* --- columns by their names ----------------------------------------------------------------------------- */

mel_status mel_need_column(const mel_table *table, const char *name, const char *option, mel_error *err)
{
    if (mel_table_find(table, name) != SIZE_MAX)
        return MEL_OK;
    const mel_status status = mel_fail_no_column(table->names, name, option, err);
    return mel_fail_in(err, status, "%s", mel_table_name(table));
}

mel_status mel_only_column(const char **column, const mel_table *table, const char *name, const char *option,
                           mel_error *err)
{
    const size_t named = name != NULL ? mel_table_find(table, name) : SIZE_MAX;
    if (named == SIZE_MAX && mel_table_columns(table) != 1)
        return mel_fail(err, MEL_EDATA, "%s: %zu columns and none called \"%s\"; %s says which one is meant",
                        mel_table_name(table), mel_table_columns(table), name != NULL ? name : "group",
                        option);
    *column = mel_table_column_name(table, named != SIZE_MAX ? named : 0);
    return MEL_OK;
}

mel_status mel_take_groups(mel_labels *out, const mel_table *table, const char *column, size_t n,
                           const char *const *name, mel_error *err)
{
    mel_error why = { .code = MEL_OK };
    const mel_status status = mel_table_labels_as(out, table, column, n, name, &why);
    return status == MEL_OK ? MEL_OK
           : status == MEL_EDATA
               ? mel_fail(err, status, "%s: the groups are %s", why.text, mel_name_list(n, name).text)
               : mel_fail(err, status, "%s", why.text);
}

/* --- probabilities ------------------------------------------------------------------------------ */

/* What programs write before the name of a class: tidymodels .pred_yes, others proba_1, prob_yes, p_yes. */
static const char *const prefixes[] = { "", ".pred_", "pred_", "proba_", "prob_", "probability_", "p_" };
enum { PREFIXES = sizeof prefixes / sizeof *prefixes };

/* The name without the prefix; NULL: it has another one. */
static const char *behind(const char *prefix, const char *name)
{
    const size_t n = strlen(prefix);
    return strncmp(name, prefix, n) == 0 && name[n] != '\0' ? name + n : NULL;
}

/* The first column that is named after none of the classes, where each of them has one; SIZE_MAX: there is no
 * such. */
static size_t strange_column(const mel_table *table, size_t n, const char *const *name)
{
    for (size_t way = 0; way < PREFIXES; way++) {
        size_t of_classes = 0, strange = SIZE_MAX;
        for (size_t i = mel_table_columns(table); i-- > 0;) {
            const char *called = behind(prefixes[way], mel_table_column_name(table, i));
            if (called != NULL && mel_name_place(called, n, name) < n)
                of_classes++;
            else
                strange = i;
        }
        if (of_classes == n)
            return strange;
    }
    return SIZE_MAX;
}

/* Columns that are no probabilities were refused as such: says instead that they are no class's. */
static mel_status explain_columns(const mel_table *table, const mel_classes *c, mel_error *err)
{
    const char *const *label = (const char *const *)c->label;
    size_t at = strange_column(table, c->n, label);
    if (at == SIZE_MAX)
        at = strange_column(table, c->n, (const char *const *)c->name);
    return at == SIZE_MAX || !mel_table_has_header(table)
               ? MEL_EDATA
               : mel_fail(err, MEL_EDATA, "%s: column \"%s\" is none of the classes %s; leave it out",
                          mel_table_name(table), mel_table_column_name(table, at),
                          mel_name_list(c->n, label).text);
}

static mel_status read_proba(mel_proba *out, const char *given, const mel_resources *resources,
                             const mel_classes *c, const mel_read_options *read, mel_error *err)
{
    MEL_ARRAY(const char *, called, 2 * c->n, "the names of the classes", err); /* labels, then names */
    MEL_AUTO(mel_table) *table = NULL;
    for (size_t i = 0; i < c->n; i++) {
        called[i] = c->label[i];
        called[c->n + i] = c->name[i];
    }
    TRY(mel_input_table_named(&table, "probs", given, resources, 2 * c->n, called, read, err));
    const mel_status status = mel_proba_of_table(out, table, read, err);
    return status == MEL_EDATA ? explain_columns(table, c, err) : status;
}

mel_status mel_proba_read_classes(mel_proba *out, const char *path, const mel_classes *classes,
                                  const mel_read_options *read, mel_error *err)
{
    static const mel_resources none = { 0 };
    return read_proba(out, path, &none, classes, read, err);
}

static mel_status refuse_columns(size_t n, const char *const *column, const char *path, const mel_classes *c,
                                 mel_error *err)
{
    return mel_fail(err, MEL_EDATA, "%s: the columns are %s, the classes %s", path,
                    mel_name_list(n, column).text, mel_name_list(c->n, (const char *const *)c->label).text);
}

/* column[c] of class c, all of them under what the labels or all of them under what the options call them. */
static mel_status match_names(size_t *column, size_t n, const char *const *name, const char *path,
                              const mel_classes *classes, mel_error *err)
{
    const char *const *const called[] = { (const char *const *)classes->label,
                                          (const char *const *)classes->name };
    MEL_ARRAY(const char *, plain, n, "the names of columns", err);
    for (size_t p = 0; p < PREFIXES; p++) {
        size_t prefixed = 0;
        for (size_t i = 0; i < n; i++)
            prefixed += (plain[i] = behind(prefixes[p], name[i])) != NULL;
        for (size_t way = 0; prefixed == n && way < 2; way++)
            if (mel_column_places(column, n, called[way], plain))
                return MEL_OK;
    }
    return refuse_columns(n, name, path, classes, err);
}

/* Names of one column of probabilities that say no more than that it is the positive class's: what models and
 * people call it, and the names that columns without one get. */
static bool is_general(const char *name)
{
    static const char *const words[] = { "p",       "prob",    "proba",    "probability", "score", "y_prob",
                                         "y_proba", "y_score", "positive", "c1",          "0" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(name, words[i]) == 0)
            return true;
    return false;
}

static mel_status refuse_one(const char *name, const char *path, const mel_classes *c, mel_error *err)
{
    if (strcmp(name, "0") == 0)
        return mel_fail(err, MEL_EDATA,
                        "%s: its only column is called \"0\", which is a class and also what pandas calls a "
                        "column without a name; say whose probabilities they are: columns=%s or columns=%s",
                        path, c->label[0], c->label[1]);
    return mel_fail(err, MEL_EDATA,
                    "%s: its only column is called \"%s\", which does not tell whose probabilities they are; "
                    "call it after one of the classes, %s, or \"p\" for the positive one, or say it with "
                    "columns=NAME",
                    path, name, mel_name_list(c->n, (const char *const *)c->label).text);
}

/* What the only column is called. */
static const char *only_name(const mel_proba *proba, const char *given)
{
    return given != NULL ? given : proba->name != NULL ? proba->name[0] : "p";
}

/* Which of two classes has the name; 2: none. */
static size_t class_called(const char *name, const mel_classes *c)
{
    for (size_t p = 0; p < PREFIXES; p++) {
        const char *plain = behind(prefixes[p], name);
        size_t at = plain != NULL ? mel_column_place(plain, 2, (const char *const *)c->label) : 2;
        if (plain != NULL && at == 2)
            at = mel_column_place(plain, 2, (const char *const *)c->name);
        if (at < 2)
            return at;
    }
    return 2;
}

/* Is it one column that is the positive class's because it has no class's name? */
static bool is_of_positive(const mel_proba *proba, const char *given, const mel_classes *c)
{
    return proba->n_columns == 1 && c->n == 2 && class_called(only_name(proba, given), c) == 2;
}

/* The class that one column of two is about: the one it is named after, else the positive one. */
static mel_status match_one(size_t *at, const mel_proba *proba, const char *given, const char *path,
                            const mel_classes *c, mel_error *err)
{
    const char *name = only_name(proba, given);
    *at = class_called(name, c);
    if (given != NULL)
        return *at < 2 ? MEL_OK : refuse_columns(1, &given, path, c, err);
    /* "0" is the class or what pandas calls a column without a name. */
    const bool doubtful = *at < 2 ? strcmp(name, "0") == 0 : !is_general(name);
    *at = *at == 2 ? 1 : *at;
    return doubtful ? refuse_one(name, path, c, err) : MEL_OK;
}

/* The column of each class: as given, by the names in a header, else in sorted order. */
static mel_status match_columns(size_t *column, const mel_proba *proba, const char *given, const char *path,
                                const mel_classes *c, mel_error *err)
{
    const bool named = proba->name != NULL;
    if (given != NULL && named)
        return mel_fail(err, MEL_EINVAL, "columns=%s: %s names its columns itself", given, path);
    if (named)
        return match_names(column, c->n, (const char *const *)proba->name, path, c, err);
    for (size_t i = 0; i < c->n; i++)
        column[i] = c->place[i];
    if (given == NULL)
        return MEL_OK;
    MEL_AUTO_MEMORY char **name = NULL;
    size_t n = 0;
    TRY(mel_names_split(&name, &n, given, "columns", err));
    if (n != c->n)
        return mel_fail(err, MEL_EINVAL, "columns=%s: %zu names, but %s has %zu columns", given, n, path,
                        c->n);
    return match_names(column, n, (const char *const *)name, path, c, err);
}

mel_status mel_proba_order(mel_proba *proba, const char *path, const char *given, const mel_classes *classes,
                           mel_error *err)
{
    const size_t k = proba->n_classes;
    MEL_ARRAY(size_t, column, k, "columns of probabilities", err);
    MEL_ARRAY(double, row, k, "columns of probabilities", err);
    if (proba->n_columns == 1) { /* of two classes: the values are P(second class) */
        size_t at = 1;
        TRY(match_one(&at, proba, given, path, classes, err));
        column[at] = 1;
        column[1 - at] = 0;
    } else
        TRY(match_columns(column, proba, given, path, classes, err));
    for (size_t i = 0; i < proba->n_rows; i++) {
        memcpy(row, proba->value + i * k, k * sizeof *row);
        for (size_t j = 0; j < k; j++)
            proba->value[i * k + j] = row[column[j]];
    }
    return MEL_OK;
}

/* --- a table ------------------------------------------------------------------------------------ */

/* The probabilities of the rows that measure, and of the problem's training rows after them. */
static mel_status fit_and_predict(mel_problem *problem, const mel_dataset_part *train,
                                  const mel_dataset_part *test, const mel_problem_options *opt,
                                  mel_error *err)
{
    const size_t k = problem->n_classes;
    mel_fit_options fit;
    mel_fit_options_init(&fit);
    fit.l2 = opt->l2;
    fit.threads = opt->resources.threads;
    fit.progress = opt->resources.progress;
    mel_model *model = NULL;
    TRY(mel_model_fit(&model, NULL, &train->x.view, train->y, k, train->weight, &fit, err));
    problem->probability = mel_alloc_zero(test->n + problem->n_training, k * sizeof *problem->probability);
    mel_status status =
        problem->probability != NULL
            ? mel_model_predict(problem->probability, model, &test->x.view, opt->resources.threads, err)
            : mel_fail_memory(err, "the probabilities");
    if (status == MEL_OK && problem->n_training > 0)
        status = mel_model_predict(problem->probability + test->n * k, model, &train->x.view,
                                   opt->resources.threads, err);
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

mel_status mel_row_costs_read(double **out, const mel_table *table, const mel_text_list *names,
                              const char *option, mel_error *err)
{
    const size_t n = mel_table_rows(table);
    double *cost = *out = mel_alloc_zero(n, names->n * sizeof *cost);
    TRY(MEL_NEED(cost, "columns of numbers", err));
    for (size_t c = 0; c < names->n; c++) {
        TRY(mel_need_column(table, names->item[c], option, err));
        const size_t column = mel_table_find(table, names->item[c]);
        const double *value = mel_table_numbers(table, column);
        if (value == NULL)
            return mel_fail_column(err, table, column, " is not a column of numbers");
        for (size_t r = 0; r < n; r++) {
            if (!(value[r] >= 0.0 && isfinite(value[r])))
                return mel_fail_cell(err, table, r, column, "a cost of %g; expected a number from 0 up",
                                     value[r]);
            cost[r * names->n + c] = value[r];
        }
    }
    return MEL_OK;
}

/* The columns of numbers that come along with the rows. */
static mel_status take_numbers(mel_problem *problem, const mel_table *table, const mel_text_list *names,
                               mel_error *err)
{
    return names->n > 0 ? mel_row_costs_read(&problem->numbers, table, names, "--row-cost", err) : MEL_OK;
}

/* Headers are no rows: `first` is what messages call the first one. */
static mel_status take_places(mel_problem *problem, const mel_table *table, const mel_table *training,
                              size_t first, mel_error *err)
{
    const size_t n = mel_table_rows(table), all = n + problem->n_training;
    problem->row = mel_alloc(all, sizeof *problem->row);
    for (size_t i = 0; i < all && problem->row != NULL; i++)
        problem->row[i] =
            (i < n ? mel_table_row_number(table, i) : mel_table_row_number(training, i - n)) - first + 1;
    return problem->row != NULL || all == 0 ? MEL_OK : mel_fail_memory(err, "the places of rows");
}

/* Appends the codes of the training rows to those of the others, if there are any. */
static mel_status append_codes(uint32_t **codes, size_t n, const uint32_t *more, size_t n_more,
                               mel_error *err)
{
    if (*codes == NULL || n_more == 0)
        return MEL_OK;
    uint32_t *all = mel_alloc(n + n_more, sizeof *all);
    if (all == NULL)
        return mel_fail_memory(err, "the labels of rows");
    memcpy(all, *codes, n * sizeof *all);
    memcpy(all + n, more, n_more * sizeof *all);
    free(*codes);
    *codes = all;
    return MEL_OK;
}

/* Trains on one part and takes the probabilities of the other. */
static mel_status measure_parts(mel_problem *problem, mel_dataset_part parts[MEL_DATASET_PARTS], size_t first,
                                const mel_problem_options *opt, mel_error *err)
{
    mel_dataset_part *train = &parts[MEL_PART_TRAIN], *test = &parts[MEL_PART_TEST];
    MEL_AUTO(mel_encoder) *encoder = NULL;
    TRY(mel_dataset_part_learn(&encoder, train, &opt->dataset, err));
    TRY(check_model(&opt->resources, mel_encoder_features(encoder), problem->n_classes, err));
    TRY(take_numbers(problem, test->table, &opt->numbers, err));
    TRY(take_places(problem, test->table, train->table, first, err));
    TRY(mel_dataset_part_encode(train, encoder, err));
    TRY(mel_dataset_part_encode(test, encoder, err));
    TRY(fit_and_predict(problem, train, test, opt, err));
    problem->n_rows = test->n;
    problem->label = test->y;
    problem->group = test->group;
    problem->weight = test->weight;
    test->y = test->group = NULL;
    test->weight = NULL;
    TRY(append_codes(&problem->label, test->n, train->y, problem->n_training, err));
    TRY(append_codes(&problem->group, test->n, train->group, problem->n_training, err));
    problem->n_rows += problem->n_training;
    return MEL_OK;
}

static mel_status split_and_measure(mel_problem *problem, mel_dataset_part parts[MEL_DATASET_PARTS],
                                    mel_dataset *dataset, const mel_problem_options *opt, bool training,
                                    mel_error *err)
{
    const double share = opt->dataset.test_share;
    const size_t first = dataset->n_rows > 0 ? mel_table_row_number(dataset->table, 0) : 1;
    TRY(mel_dataset_split(parts, dataset, share, opt->seed, err));
    if (parts[MEL_PART_TEST].n == 0 || parts[MEL_PART_TRAIN].n == 0)
        return mel_fail(err, MEL_EDATA, "--test-share %g of %zu rows leaves none to %s", share,
                        dataset->n_rows, parts[MEL_PART_TEST].n == 0 ? "measure on" : "train on");
    problem->n_training = training ? parts[MEL_PART_TRAIN].n : 0;
    mel_take_classes(problem, &dataset->classes);
    TRY(mel_check_classes(&opt->resources, problem->n_classes, dataset->groups.n_classes, err));
    return measure_parts(problem, parts, first, opt, err);
}

mel_status mel_rows_from_table(mel_problem *problem, const mel_problem_options *opt, bool training,
                               mel_error *err)
{
    mel_dataset_part parts[MEL_DATASET_PARTS] = { { 0 } };
    MEL_AUTO_CLEAR(mel_dataset) dataset = { 0 };
    TRY(mel_dataset_read(&dataset, &opt->dataset, &opt->resources, err));
    TRY(mel_name_groups(problem, dataset.groups.n_classes, dataset.groups.name, err));
    if (opt->dataset.group != NULL)
        TRY(mel_name_group_column(problem, opt->dataset.group, err));
    const mel_status status = split_and_measure(problem, parts, &dataset, opt, training, err);
    for (size_t p = 0; p < MEL_DATASET_PARTS; p++)
        mel_dataset_part_clear(&parts[p]);
    return status;
}

/* --- probabilities of any model ----------------------------------------------------------------- */

typedef struct {
    const char *probs, *labels, *groups; /* what they are called in messages */
    char memory[3][MEL_UPLOAD_NAME];
    mel_proba proba;
    mel_labels label, group;
    mel_classes classes;
} given_files;

static void given_files_clear(given_files *g)
{
    mel_proba_clear(&g->proba);
    mel_labels_clear(&g->label);
    mel_labels_clear(&g->group);
    mel_classes_clear(&g->classes);
}

/* What --label says unless it is given: a file of one column may call it otherwise. */
static const char usual_label[] = "label";

/* The labels of the rows, or their groups. */
static mel_status read_codes(mel_labels *codes, mel_problem *problem, bool groups,
                             const mel_problem_options *opt, const mel_read_options *read, mel_error *err)
{
    MEL_AUTO(mel_table) *table = NULL;
    const char *column = NULL, *name = groups ? opt->dataset.group : opt->dataset.label,
               *option = groups ? "--group" : "--label";
    TRY(mel_input_table(&table, groups ? "groups" : "labels", groups ? opt->groups : opt->labels,
                        &opt->resources, read, err));
    if (name != NULL && strcmp(name, usual_label) != 0)
        TRY(mel_need_column(table, name, option, err));
    TRY(mel_only_column(&column, table, name, option, err));
    if (groups) {
        TRY(mel_table_groups(codes, table, column, err));
        return mel_name_group_column(problem, column, err);
    }
    TRY(mel_table_labels(codes, table, column, err));
    return take_numbers(problem, table, &opt->numbers, err);
}

static mel_status read_files(given_files *g, mel_problem *problem, const mel_problem_options *opt,
                             mel_error *err)
{
    MEL_AUTO_CLEAR(mel_reader) reader = { 0 };
    const mel_resources *resources = &opt->resources;
    g->probs = mel_input_name(g->memory[0], "probs", opt->probs, resources);
    g->labels = mel_input_name(g->memory[1], "labels", opt->labels, resources);
    g->groups = mel_input_name(g->memory[2], "groups", opt->groups, resources);
    TRY(mel_reader_init(&reader, &opt->dataset.reading, resources, err));
    TRY(mel_reader_share(&reader, err));
    TRY(read_codes(&g->label, problem, false, opt, &reader.options, err));
    TRY(mel_classes_settle(&g->classes, &g->label, &opt->dataset.naming, g->labels, err));
    if (opt->groups != NULL)
        TRY(read_codes(&g->group, problem, true, opt, &reader.options, err));
    TRY(read_proba(&g->proba, opt->probs, resources, &g->classes, &reader.options, err));
    return mel_reader_check(&reader, &opt->dataset.reading, resources, err);
}

static mel_status check_shapes(const given_files *g, mel_error *err)
{
    const size_t rows = g->proba.n_rows, k = g->proba.n_classes;
    if (g->label.n_rows != rows)
        return mel_fail(err, MEL_EDATA, "%s has %zu rows, %s has %zu: expected one label per row", g->probs,
                        rows, g->labels, g->label.n_rows);
    if (g->groups != NULL && g->group.n_rows != rows)
        return mel_fail(err, MEL_EDATA, "%s has %zu rows, %s has %zu: expected one group per row", g->probs,
                        rows, g->groups, g->group.n_rows);
    if (g->label.n_classes < k)
        return mel_fail(err, MEL_EDATA,
                        "%s has %zu classes, but only %zu of them have rows in %s (%s): without rows of a "
                        "class nothing is known about it",
                        g->probs, k, g->label.n_classes, g->labels,
                        mel_name_list(g->label.n_classes, (const char *const *)g->label.name).text);
    if (g->label.n_classes > k)
        return mel_fail(err, MEL_EDATA, "%s has %zu classes, %s has probabilities of %zu", g->labels,
                        g->label.n_classes, g->probs, k);
    return MEL_OK;
}

/* One column without the name of a class is the positive one's: said where that is not the usual one. */
static void say_whose(const given_files *g, const mel_problem_options *opt)
{
    const mel_notice *notice = &opt->resources.notice;
    if (notice->call == NULL || g->classes.place[1] != 0 ||
        !is_of_positive(&g->proba, opt->columns, &g->classes))
        return;
    char text[200];
    (void)snprintf(text, sizeof text, "the one column is taken as the probability of %.120s",
                   g->classes.label[1]);
    notice->call(notice->user, g->probs, MEL_FORMAT_AUTO, text, true);
}

/* The arrays of the files become the problem's. */
static mel_status take_rows(mel_problem *problem, given_files *g, const mel_problem_options *opt,
                            mel_error *err)
{
    TRY(check_shapes(g, err));
    TRY(mel_check_classes(&opt->resources, g->classes.n, g->group.n_classes, err));
    TRY(mel_proba_order(&g->proba, g->probs, opt->columns, &g->classes, err));
    TRY(mel_name_groups(problem, g->group.n_classes, g->group.name, err));
    say_whose(g, opt);
    mel_take_classes(problem, &g->classes);
    problem->n_rows = g->label.n_rows;
    problem->probability = g->proba.value;
    problem->label = g->label.code;
    problem->group = g->group.code;
    g->proba.value = NULL;
    g->label.code = g->group.code = NULL;
    return MEL_OK;
}

mel_status mel_rows_from_probabilities(mel_problem *problem, const mel_problem_options *opt, mel_error *err)
{
    MEL_AUTO_CLEAR(given_files) g = { .probs = NULL };
    TRY(read_files(&g, problem, opt, err));
    return take_rows(problem, &g, opt, err);
}
