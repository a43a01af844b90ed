/* Balls of rates without data: "K" classes, or "K,M" with M groups. */
#include "data/shared.h"
#include "problem/files.h"
#include "problem/problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CLASSES = 10000 };

/* "K" or "K,M" */
static mel_status parse_ball(size_t *k, size_t *m, const char *text, mel_error *err)
{
    double *number = NULL;
    size_t n = 0;
    const mel_status status = mel_parse_numbers(&number, &n, text, err);
    if (status != MEL_OK && status != MEL_EINVAL)
        return status;
    bool whole = status == MEL_OK && n <= 2;
    for (size_t i = 0; whole && i < n; i++)
        whole = number[i] == floor(number[i]) && number[i] >= (i == 0 ? 2 : 1) && number[i] <= MOST_CLASSES;
    *k = whole ? (size_t)number[0] : 0;
    *m = whole && n == 2 && number[1] > 1.0 ? (size_t)number[1] : 0;
    free(number);
    return whole ? MEL_OK
                 : mel_fail(err, MEL_EINVAL,
                            "--ball %s: expected K or K,M, at least two classes and, where there are groups, "
                            "their number",
                            text);
}

/* column[i]: whose class is i: by name; by place where file or classes have no names. */
static mel_status match_columns(size_t *column, const mel_table *table, const mel_problem *problem,
                                mel_error *err)
{
    const size_t k = problem->n_classes, group = mel_table_find(table, "group");
    const char **name = mel_alloc(k, sizeof *name);
    if (name == NULL)
        return mel_fail_memory(err, "the names of columns");
    for (size_t i = 0; i < k; i++)
        name[i] = mel_table_column_name(table, i + (i >= group));
    size_t found = 0;
    for (size_t i = 0; i < k; i++) {
        column[i] = mel_name_place(problem->class_name[i], k, name);
        found += column[i] < k;
    }
    const bool by_place = found == 0 && (problem->unnamed || !mel_table_has_header(table));
    const mel_status status =
        found == k || by_place
            ? MEL_OK
            : mel_fail(err, MEL_EDATA, "%s: the columns are %s, the classes %s", mel_table_name(table),
                       mel_name_list(k, name).text, mel_name_list(k, problem->class_name).text);
    for (size_t i = 0; i < k; i++) {
        const size_t at = by_place ? i : column[i];
        column[i] = at + (at >= group);
    }
    free(name);
    return status;
}

/* Column "group", where there is one, says whose row it is: 1, 2, .... */
static mel_status group_of_row(size_t *group, const mel_table *table, size_t row, size_t m, mel_error *err)
{
    const size_t column = mel_table_find(table, "group");
    *group = row;
    if (column == SIZE_MAX)
        return MEL_OK;
    const double *number = mel_table_numbers(table, column);
    if (number == NULL || !(number[row] >= 1.0 && number[row] <= (double)m) ||
        number[row] != floor(number[row]))
        return mel_fail(err, MEL_EDATA, "%s: row %zu, column group: the groups of a ball are 1 to %zu",
                        mel_table_name(table), mel_table_row_number(table, row), m);
    *group = (size_t)number[row] - 1;
    return MEL_OK;
}

/* P(G = g | Y = i) of the group that a row is about. */
static mel_status take_row(double *out, const mel_table *table, const mel_problem *problem,
                           const size_t *column, size_t row, mel_error *err)
{
    const size_t k = problem->n_classes;
    size_t g = 0;
    mel_status status = group_of_row(&g, table, row, problem->n_groups, err);
    for (size_t i = 0; i < k && status == MEL_OK; i++) {
        const double *number = mel_table_numbers(table, column[i]);
        if (number == NULL)
            status = mel_fail(err, MEL_EDATA, "%s: column \"%s\" does not hold numbers",
                              mel_table_name(table), mel_table_column_name(table, column[i]));
        else
            out[g * k + i] = number[row];
    }
    return status;
}

/* Shares of the groups within each class. */
static mel_status check_prevalence(const double *prevalence, const char *path, size_t k, size_t m,
                                   mel_error *err)
{
    for (size_t i = 0; i < k; i++) {
        double sum = 0.0;
        for (size_t g = 0; g < m; g++) {
            const double share = prevalence[g * k + i];
            if (!(share > 0.0 && share <= 1.0))
                return mel_fail(err, MEL_EDATA, "%s: group %zu, class %zu: %g is not a share above 0", path,
                                g + 1, i + 1, share);
            sum += share;
        }
        if (fabs(sum - 1.0) > 1e-6)
            return mel_fail(err, MEL_EDATA, "%s: the shares of the groups in class %zu add up to %g, not 1",
                            path, i + 1, sum);
    }
    return MEL_OK;
}

/* A row per group, a column per class and perhaps "group". */
static mel_status take_shares(double *out, const mel_table *table, const mel_problem *problem, mel_error *err)
{
    const size_t k = problem->n_classes, m = problem->n_groups, rows = mel_table_rows(table);
    const size_t columns = mel_table_columns(table) - (mel_table_find(table, "group") != SIZE_MAX);
    if (rows != m || columns != k)
        return mel_fail(err, MEL_EDATA,
                        "%s: %zu rows with %zu columns; expected a row for each of %zu groups and a column "
                        "for each of %zu classes",
                        mel_table_name(table), rows, columns, m, k);
    size_t *column = mel_alloc(k, sizeof *column);
    if (column == NULL)
        return mel_fail_memory(err, "the shares of the groups");
    mel_status status = match_columns(column, table, problem, err);
    for (size_t row = 0; row < m && status == MEL_OK; row++)
        status = take_row(out, table, problem, column, row, err);
    free(column);
    return status == MEL_OK ? check_prevalence(out, mel_table_name(table), k, m, err) : status;
}

/* A table whose header, if any, names the classes and perhaps "group". */
static mel_status read_named(mel_table **out, const mel_input *input, const mel_problem *problem,
                             const mel_read_options *read, mel_error *err)
{
    const size_t k = problem->n_classes;
    const char **called = mel_alloc(k + 1, sizeof *called);
    if (called == NULL)
        return mel_fail_memory(err, "the names of the classes");
    memcpy(called, problem->class_name, k * sizeof *called);
    called[k] = "group";
    const mel_status status = mel_input_read_named(out, input, k + 1, called, read, err);
    free(called);
    return status;
}

/* The shares in the file of --prevalence, and its digest. */
static mel_status read_prevalence(double *out, mel_problem *problem, const mel_problem_options *opt,
                                  mel_error *err)
{
    mel_reader reader = { 0 };
    mel_input input;
    mel_table *table = NULL;
    mel_status status = mel_input_find(&input, "prevalence", opt->prevalence, &opt->resources, err);
    if (status == MEL_OK)
        status = mel_reader_init(&reader, &opt->dataset.reading, &opt->resources, err);
    if (status == MEL_OK)
        status = read_named(&table, &input, problem, &reader.options, err);
    if (status == MEL_OK)
        status = mel_reader_check(&reader, &opt->dataset.reading, &opt->resources, err);
    if (status == MEL_OK)
        status = take_shares(out, table, problem, err);
    if (status == MEL_OK)
        status = mel_input_digest(problem->digest, &input, err);
    mel_table_free(table);
    mel_reader_clear(&reader);
    mel_input_clear(&input);
    return status;
}

static mel_status new_ball(mel_problem *problem, const mel_problem_options *opt, const mel_problem_want *want,
                           mel_error *err)
{
    const size_t k = problem->n_classes, m = problem->n_groups;
    mel_space_options settings;
    mel_status status = mel_space_settings(&settings, opt, want, k, m, err);
    const mel_layout layout = {
        .kind = MEL_RATES, .coordinates = settings.coordinates, .n_classes = k, .n_groups = m
    };
    double *prevalence = NULL;
    if (status == MEL_OK && opt->prevalence != NULL) {
        prevalence = mel_alloc_zero(m * k, sizeof *prevalence);
        status = prevalence != NULL ? read_prevalence(prevalence, problem, opt, err)
                                    : mel_fail_memory(err, "the shares of the groups");
    }
    if (status == MEL_OK)
        status = mel_ball_new(&problem->ball, &layout, opt->radius, NULL, prevalence, err);
    free(prevalence);
    return status;
}

mel_status mel_make_abstract_ball(mel_problem *problem, const mel_problem_options *opt,
                                  const mel_problem_want *want, mel_error *err)
{
    size_t k = 0, m = 0;
    mel_status status = parse_ball(&k, &m, opt->ball, err);
    if (status == MEL_OK)
        status = mel_check_classes(&opt->resources, k, m, err);
    if (status == MEL_OK && opt->kind == MEL_KIND_CONFUSION)
        status = mel_fail(err, MEL_EINVAL, "--ball is about rates, not about --kind confusion");
    if (status == MEL_OK && opt->radius == 0.0)
        status = mel_fail(err, MEL_EINVAL, "--ball %s needs its --radius", opt->ball);
    if (status == MEL_OK && want->needs_groups && m == 0)
        status = mel_fail(err, MEL_EINVAL, "--ball %s: %s are about groups; say how many, as in --ball %zu,2",
                          opt->ball, want->whom, k);
    if (status == MEL_OK && opt->prevalence != NULL && m == 0)
        status = mel_fail(err, MEL_EINVAL, "--prevalence is about groups, and --ball %s has none", opt->ball);
    if (status == MEL_OK)
        status = mel_name_classes(problem, opt, k, NULL, err);
    if (status == MEL_OK)
        status = mel_name_groups(problem, m, NULL, err);
    return status == MEL_OK ? new_ball(problem, opt, want, err) : status;
}
