/* Columns of files by their names. */
#include "columns.h"
#include "output.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

mel_status cli_read_column(mel_table **table, const char **column, const char *path, const char *name,
                           const char *option, const mel_read_options *read, mel_error *err)
{
    const mel_status status = mel_table_read(table, path, read, err);
    if (status != MEL_OK)
        return status;
    const size_t named = name != NULL ? mel_table_find(*table, name) : SIZE_MAX;
    if (named == SIZE_MAX && mel_table_columns(*table) != 1)
        return cli_fail(err, MEL_EDATA, "%s: %zu columns and none called \"%s\"; %s says which one is meant",
                        path, mel_table_columns(*table), name != NULL ? name : "group", option);
    *column = mel_table_column_name(*table, named != SIZE_MAX ? named : 0);
    return MEL_OK;
}

mel_status cli_take_groups(mel_labels *out, const mel_table *table, const char *column, size_t n,
                           const char *const *name, mel_error *err)
{
    const mel_status status = mel_table_labels_as(out, table, column, n, name, err);
    if (status != MEL_EDATA)
        return status;
    char *groups = cli_name_list(n, name), *why = cli_format("%s", err->text);
    (void)cli_fail(err, status, "%s: the groups are %s", why, groups);
    free(groups);
    free(why);
    return status;
}

/* The first column that has none of the names, where all of them have one; SIZE_MAX: there is no such. */
static size_t strange_column(const mel_table *table, size_t n, const char *const *name)
{
    for (size_t i = 0; i < n; i++)
        if (mel_table_find(table, name[i]) == SIZE_MAX)
            return SIZE_MAX;
    size_t at = 0;
    while (at < mel_table_columns(table) && cli_name_place(mel_table_column_name(table, at), n, name) < n)
        at++;
    return at < mel_table_columns(table) ? at : SIZE_MAX;
}

/* Columns that are no probabilities were refused as such: says instead that they are no class's. */
static void explain_columns(const char *path, const cli_classes *c, const mel_read_options *read,
                            mel_error *err)
{
    mel_read_options silent = *read;
    silent.notice = (mel_notice){ 0 };
    mel_table *table = NULL;
    mel_error other;
    if (strcmp(path, "-") == 0 || mel_table_read(&table, path, &silent, &other) != MEL_OK)
        return;
    const char *const *label = (const char *const *)c->label, *const *name = (const char *const *)c->name;
    size_t at = strange_column(table, c->n, label);
    if (at == SIZE_MAX)
        at = strange_column(table, c->n, name);
    if (at != SIZE_MAX && mel_table_has_header(table)) {
        char *classes = cli_name_list(c->n, label);
        (void)cli_fail(err, MEL_EDATA, "%s: column \"%s\" is none of the classes %s; leave it out", path,
                       mel_table_column_name(table, at), classes);
        free(classes);
    }
    mel_table_free(table);
}

mel_status cli_read_probabilities(mel_proba *out, const char *path, const cli_classes *classes,
                                  const mel_read_options *read, mel_error *err)
{
    const char **called = cli_classes_called(classes);
    mel_read_options expecting = *read;
    expecting.expected_names = called;
    expecting.n_expected_names = 2 * classes->n;
    const mel_status status = mel_proba_read(out, path, &expecting, err);
    if (status == MEL_EDATA)
        explain_columns(path, classes, &expecting, err);
    free(called);
    return status;
}

static mel_status refuse_columns(size_t n, const char *const *column, const char *path, const cli_classes *c,
                                 mel_error *err)
{
    char *columns = cli_name_list(n, column), *classes = cli_name_list(c->n, (const char *const *)c->label);
    (void)cli_fail(err, MEL_EDATA, "%s: the columns are %s, the classes %s", path, columns, classes);
    free(columns);
    free(classes);
    return MEL_EDATA;
}

/* column[c] of class c, all of them under what the labels or all of them under what the options call them. */
static mel_status match_names(size_t *column, size_t n, const char *const *name, const char *path,
                              const cli_classes *classes, mel_error *err)
{
    const char *const *const called[] = { (const char *const *)classes->label,
                                          (const char *const *)classes->name };
    for (size_t way = 0; way < 2; way++)
        if (cli_name_places(column, n, called[way], name, cli_column_place))
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

static mel_status refuse_one(const char *name, const char *path, const cli_classes *c, mel_error *err)
{
    char *classes = cli_name_list(c->n, (const char *const *)c->label);
    (void)cli_fail(err, MEL_EDATA,
                   "%s: its only column is called \"%s\", which does not tell whose probabilities they are; "
                   "call it after one of the classes, %s, or \"p\" for the positive one, or say it with "
                   "--columns",
                   path, name, classes);
    free(classes);
    return MEL_EDATA;
}

/* The class that one column of two is about: the one it is named after, else the positive one. */
static mel_status match_one(size_t *at, const mel_proba *proba, const char *given, const char *path,
                            const cli_classes *c, mel_error *err)
{
    const char *name = given != NULL ? given : proba->name != NULL ? proba->name[0] : "p";
    *at = cli_column_place(name, 2, (const char *const *)c->label);
    if (*at == 2)
        *at = cli_column_place(name, 2, (const char *const *)c->name);
    if (given != NULL)
        return *at < 2 ? MEL_OK : refuse_columns(1, &given, path, c, err);
    /* "0" is the class or what pandas calls a column without a name. */
    const bool doubtful = *at < 2 ? strcmp(name, "0") == 0 : !is_general(name);
    *at = *at == 2 ? 1 : *at;
    return doubtful ? refuse_one(name, path, c, err) : MEL_OK;
}

/* The column of each class: by --columns, by the names in a header, else in sorted order. */
static mel_status match_columns(size_t *column, const mel_proba *proba, const char *given, const char *path,
                                const cli_classes *c, mel_error *err)
{
    const bool named = proba->name != NULL;
    if (given != NULL && named)
        return cli_fail(err, MEL_EINVAL, "--columns %s: %s names its columns itself", given, path);
    if (named)
        return match_names(column, c->n, (const char *const *)proba->name, path, c, err);
    for (size_t i = 0; i < c->n; i++)
        column[i] = c->place[i];
    if (given == NULL)
        return MEL_OK;
    char **name = NULL;
    size_t n = 0;
    mel_status status = cli_names_split(&name, &n, given, "columns", err);
    if (status == MEL_OK && n != c->n)
        status = cli_fail(err, MEL_EINVAL, "--columns %s: %zu names, but %s has %zu columns", given, n, path,
                          c->n);
    if (status == MEL_OK)
        status = match_names(column, n, (const char *const *)name, path, c, err);
    cli_names_free(name, n);
    return status;
}

mel_status cli_order_columns(mel_proba *proba, const char *path, const char *given,
                             const cli_classes *classes, mel_error *err)
{
    const size_t k = proba->n_classes;
    size_t *column = cli_alloc_zero(k, sizeof *column);
    double *row = cli_alloc_zero(k, sizeof *row);
    mel_status status = MEL_OK;
    if (proba->n_columns == 1) {
        size_t at = 1; /* the values are P(second class) */
        status = match_one(&at, proba, given, path, classes, err);
        column[at] = 1;
        column[1 - at] = 0;
    } else {
        status = match_columns(column, proba, given, path, classes, err);
    }
    for (size_t i = 0; status == MEL_OK && i < proba->n_rows; i++) {
        memcpy(row, proba->value + i * k, k * sizeof *row);
        for (size_t c = 0; c < k; c++)
            proba->value[i * k + c] = row[column[c]];
    }
    free(row);
    free(column);
    return status;
}
