/* Columns of files by their names: of roles, and of class probabilities. */
#include "problem/columns.h"
#include "data/shared.h"
#include "data/table.h"
#include "model/model.h"
#include "problem/names.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

/* The first column that has none of the names, where all of them have one; SIZE_MAX: there is no such. */
static size_t strange_column(const mel_table *table, size_t n, const char *const *name)
{
    for (size_t i = 0; i < n; i++)
        if (mel_table_find(table, name[i]) == SIZE_MAX)
            return SIZE_MAX;
    size_t at = 0;
    while (at < mel_table_columns(table) && mel_name_place(mel_table_column_name(table, at), n, name) < n)
        at++;
    return at < mel_table_columns(table) ? at : SIZE_MAX;
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

mel_status mel_proba_from_input(mel_proba *out, const mel_input *input, const mel_classes *c,
                                const mel_read_options *read, mel_error *err)
{
    const char **called = mel_alloc(2 * c->n, sizeof *called); /* labels, then names */
    if (called == NULL)
        return mel_fail_memory(err, "the names of the classes");
    for (size_t i = 0; i < c->n; i++) {
        called[i] = c->label[i];
        called[c->n + i] = c->name[i];
    }
    mel_table *table = NULL;
    mel_status status = mel_input_read_named(&table, input, 2 * c->n, called, read, err);
    free(called);
    if (status != MEL_OK)
        return status;
    status = mel_proba_of_table(out, table, read, err);
    if (status == MEL_EDATA)
        status = explain_columns(table, c, err);
    mel_table_free(table);
    return status;
}

mel_status mel_proba_read_classes(mel_proba *out, const char *path, const mel_classes *classes,
                                  const mel_read_options *read, mel_error *err)
{
    const mel_input input = { .path = (char *)(uintptr_t)path };
    return mel_proba_from_input(out, &input, classes, read, err);
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
    for (size_t way = 0; way < 2; way++)
        if (mel_column_places(column, n, called[way], name))
            return MEL_OK;
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
        return mel_fail(
            err, MEL_EDATA,
            "%s: its only column is called \"0\", which is a class and also what pandas calls a "
            "column without a name; say whose probabilities they are: --columns %s or --columns %s",
            path, c->label[0], c->label[1]);
    return mel_fail(err, MEL_EDATA,
                    "%s: its only column is called \"%s\", which does not tell whose probabilities they are; "
                    "call it after one of the classes, %s, or \"p\" for the positive one, or say it with "
                    "--columns",
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
    const size_t at = mel_column_place(name, 2, (const char *const *)c->label);
    return at < 2 ? at : mel_column_place(name, 2, (const char *const *)c->name);
}

bool mel_proba_of_positive(const mel_proba *proba, const char *given, const mel_classes *c)
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

/* The column of each class: by --columns, by the names in a header, else in sorted order. */
static mel_status match_columns(size_t *column, const mel_proba *proba, const char *given, const char *path,
                                const mel_classes *c, mel_error *err)
{
    const bool named = proba->name != NULL;
    if (given != NULL && named)
        return mel_fail(err, MEL_EINVAL, "--columns %s: %s names its columns itself", given, path);
    if (named)
        return match_names(column, c->n, (const char *const *)proba->name, path, c, err);
    for (size_t i = 0; i < c->n; i++)
        column[i] = c->place[i];
    if (given == NULL)
        return MEL_OK;
    char **name = NULL;
    size_t n = 0;
    mel_status status = mel_names_split(&name, &n, given, "columns", err);
    if (status == MEL_OK && n != c->n)
        status = mel_fail(err, MEL_EINVAL, "--columns %s: %zu names, but %s has %zu columns", given, n, path,
                          c->n);
    if (status == MEL_OK)
        status = match_names(column, n, (const char *const *)name, path, c, err);
    free(name);
    return status;
}

/* The column of each class, also where one column stands for two. */
static mel_status find_columns(size_t *column, const mel_proba *proba, const char *given, const char *path,
                               const mel_classes *classes, mel_error *err)
{
    if (proba->n_columns != 1)
        return match_columns(column, proba, given, path, classes, err);
    size_t at = 1; /* the values are P(second class) */
    const mel_status status = match_one(&at, proba, given, path, classes, err);
    column[at] = 1;
    column[1 - at] = 0;
    return status;
}

mel_status mel_proba_order(mel_proba *proba, const char *path, const char *given, const mel_classes *classes,
                           mel_error *err)
{
    const size_t k = proba->n_classes;
    size_t *column = mel_alloc_zero(k, sizeof *column);
    double *row = mel_alloc(k, sizeof *row);
    mel_status status = MEL_ENOMEM;
    if (column != NULL && row != NULL)
        status = find_columns(column, proba, given, path, classes, err);
    else
        (void)mel_fail_memory(err, "columns of probabilities");
    for (size_t i = 0; status == MEL_OK && i < proba->n_rows; i++) {
        memcpy(row, proba->value + i * k, k * sizeof *row);
        for (size_t c = 0; c < k; c++)
            proba->value[i * k + c] = row[column[c]];
    }
    free(row);
    free(column);
    return status;
}
