/* Problems without rows: populations in closed form ("logistic:a=5,b=0", "softmax:1,3,5"), and balls of
 * rates, of "K" classes or "K,M" with M groups. */
#include "problem/problem.h"

#include "space/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* "a=5,b=0" or "5,0"; MEL_EINVAL for other texts. */
static mel_status parse_logistic(double value[2], const char *text, mel_error *err)
{
    const char *a = strncmp(text, "a=", 2) == 0 ? text + 2 : text, *b = strstr(a, ",b=");
    MEL_AUTO_MEMORY char *plain = mel_strdup(a);
    MEL_AUTO_MEMORY double *number = NULL;
    size_t n = 0;
    TRY(MEL_NEED(plain, "a population", err));
    if (b != NULL)
        memcpy(plain + (b - a) + 1, b + 3, strlen(b + 3) + 1);
    TRY(mel_parse_numbers(&number, &n, plain, err));
    if (n != 2)
        return MEL_EINVAL;
    memcpy(value, number, 2 * sizeof *value);
    return MEL_OK;
}

static mel_status planar_population(mel_problem *problem, const mel_problem_options *opt, double a, double b,
                                    mel_error *err)
{
    static const char *const names[] = { "negative", "positive" };
    TRY(mel_name_classes(problem, opt, 2, names, err));
    return mel_face_from_logistic(&problem->face, a, b, err);
}

static mel_status softmax(mel_problem *problem, const mel_problem_options *opt, const mel_problem_want *want,
                          size_t n, const double *slope, mel_error *err)
{
    if (n < 2)
        return mel_fail(err, MEL_EINVAL, "--population %s: expected two classes or more", opt->population);
    /* Of two classes the second one is positive: P = 1/(1 + exp((p2 - p1) x)). */
    if (mel_is_planar(opt, want, n))
        return planar_population(problem, opt, slope[1] - slope[0], 0.0, err);
    mel_space_options settings;
    TRY(mel_check_classes(&opt->resources, n, 0, err));
    TRY(mel_space_settings(&settings, opt, want, n, 0, err));
    TRY(mel_name_classes(problem, opt, n, NULL, err));
    return mel_space_from_softmax(&problem->space, n, slope, &settings, err);
}

static mel_status logistic(mel_problem *problem, const mel_problem_options *opt, const mel_problem_want *want,
                           const double value[2], mel_error *err)
{
    if (mel_is_planar(opt, want, 2))
        return planar_population(problem, opt, value[0], value[1], err);
    if (value[1] != 0.0)
        return mel_fail(err, MEL_EINVAL,
                        "--population %s: here only b = 0 is known in closed form, the softmax:0,%g of two "
                        "classes",
                        opt->population, value[0]);
    const double slope[2] = { 0.0, value[0] };
    return softmax(problem, opt, want, 2, slope, err);
}

mel_status mel_make_population(mel_problem *problem, const mel_problem_options *opt,
                               const mel_problem_want *want, mel_error *err)
{
    static const char logistic_name[] = "logistic:", softmax_name[] = "softmax:";
    const char *text = opt->population;
    if (want->needs_groups)
        return mel_fail(err, MEL_EINVAL, "--population %s has no groups; %s are about groups", text,
                        want->whom);
    if (strncmp(text, logistic_name, sizeof logistic_name - 1) == 0) {
        double value[2] = { 0.0, 0.0 };
        const mel_status status = parse_logistic(value, text + sizeof logistic_name - 1, err);
        if (status == MEL_EINVAL)
            return mel_fail(err, status,
                            "--population %s: expected two numbers after the colon, as in logistic:a=5,b=0",
                            text);
        return status == MEL_OK ? logistic(problem, opt, want, value, err) : status;
    }
    if (strncmp(text, softmax_name, sizeof softmax_name - 1) != 0)
        return mel_fail(err, MEL_EINVAL,
                        "--population %s: expected logistic:a=5,b=0 or softmax:1,3,5, with numbers of your "
                        "own",
                        text);
    MEL_AUTO_MEMORY double *slope = NULL;
    size_t n = 0;
    const mel_status status = mel_parse_numbers(&slope, &n, text + sizeof softmax_name - 1, err);
    if (status == MEL_EINVAL)
        return mel_fail(err, status,
                        "--population %s: expected numbers with commas between them after the colon, as in "
                        "softmax:1,3,5",
                        text);
    return status == MEL_OK ? softmax(problem, opt, want, n, slope, err) : status;
}

enum { MOST_CLASSES = 10000 };

/* "K" or "K,M" */
static mel_status parse_ball(size_t *k, size_t *m, const char *text, mel_error *err)
{
    MEL_AUTO_MEMORY double *number = NULL;
    size_t n = 0;
    const mel_status status = mel_parse_numbers(&number, &n, text, err);
    if (status != MEL_OK && status != MEL_EINVAL)
        return status;
    bool whole = status == MEL_OK && n <= 2;
    for (size_t i = 0; whole && i < n; i++)
        whole = number[i] == floor(number[i]) && number[i] >= (i == 0 ? 2 : 1) && number[i] <= MOST_CLASSES;
    *k = whole ? (size_t)number[0] : 0;
    *m = whole && n == 2 && number[1] > 1.0 ? (size_t)number[1] : 0;
    return whole ? MEL_OK
                 : mel_fail(err, MEL_EINVAL,
                            "--ball %s: expected K or K,M, at least two classes and, where there are groups, "
                            "their number",
                            text);
}

/* column[i]: whose class is i: by name; by place where file or classes have no names. */
static mel_status match_class_columns(size_t *column, const mel_table *table, const mel_problem *problem,
                                      mel_error *err)
{
    const size_t k = problem->n_classes, group = mel_table_find(table, "group");
    MEL_ARRAY(const char *, name, k, "the names of columns", err);
    for (size_t i = 0; i < k; i++)
        name[i] = mel_table_column_name(table, i + (i >= group));
    size_t found = 0;
    for (size_t i = 0; i < k; i++) {
        column[i] = mel_name_place(problem->class_name[i], k, name);
        found += column[i] < k;
    }
    const bool by_place = found == 0 && (problem->unnamed || !mel_table_has_header(table));
    if (found != k && !by_place)
        return mel_fail(err, MEL_EDATA, "%s: the columns are %s, the classes %s", mel_table_name(table),
                        mel_name_list(k, name).text, mel_name_list(k, problem->class_name).text);
    for (size_t i = 0; i < k; i++) {
        const size_t at = by_place ? i : column[i];
        column[i] = at + (at >= group);
    }
    return MEL_OK;
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
    MEL_ARRAY(size_t, column, k, "the shares of the groups", err);
    TRY(match_class_columns(column, table, problem, err));
    for (size_t row = 0; row < m; row++) {
        size_t g = 0;
        TRY(group_of_row(&g, table, row, m, err));
        for (size_t i = 0; i < k; i++) {
            const double *number = mel_table_numbers(table, column[i]);
            if (number == NULL)
                return mel_fail(err, MEL_EDATA, "%s: column \"%s\" does not hold numbers",
                                mel_table_name(table), mel_table_column_name(table, column[i]));
            out[g * k + i] = number[row];
        }
    }
    return check_prevalence(out, mel_table_name(table), k, m, err);
}

/* The shares in the file of --prevalence, whose header, if any, names the classes and perhaps "group". */
static mel_status read_prevalence(double *out, const mel_problem *problem, const mel_problem_options *opt,
                                  mel_error *err)
{
    const size_t k = problem->n_classes;
    MEL_AUTO_CLEAR(mel_reader) reader = { 0 };
    MEL_AUTO(mel_table) *table = NULL;
    MEL_ARRAY(const char *, called, k + 1, "the names of the classes", err);
    memcpy(called, problem->class_name, k * sizeof *called);
    called[k] = "group";
    TRY(mel_reader_init(&reader, &opt->dataset.reading, &opt->resources, err));
    TRY(mel_input_table_named(&table, "prevalence", opt->prevalence, &opt->resources, k + 1, called,
                              &reader.options, err));
    TRY(mel_reader_check(&reader, &opt->dataset.reading, &opt->resources, err));
    return take_shares(out, table, problem, err);
}

mel_status mel_make_abstract_ball(mel_problem *problem, const mel_problem_options *opt,
                                  const mel_problem_want *want, mel_error *err)
{
    size_t k = 0, m = 0;
    TRY(parse_ball(&k, &m, opt->ball, err));
    TRY(mel_check_classes(&opt->resources, k, m, err));
    if (opt->kind == MEL_KIND_CONFUSION)
        return mel_fail(err, MEL_EINVAL, "--ball is about rates, not about kind=confusion");
    if (opt->radius == 0.0)
        return mel_fail(err, MEL_EINVAL, "--ball %s needs its --radius", opt->ball);
    if (want->needs_groups && m == 0)
        return mel_fail(err, MEL_EINVAL, "--ball %s: %s are about groups; say how many, as in --ball %zu,2",
                        opt->ball, want->whom, k);
    if (opt->prevalence != NULL && m == 0)
        return mel_fail(err, MEL_EINVAL, "--prevalence is about groups, and --ball %s has none", opt->ball);
    TRY(mel_name_classes(problem, opt, k, NULL, err));
    TRY(mel_name_groups(problem, m, NULL, err));
    mel_space_options settings;
    TRY(mel_space_settings(&settings, opt, want, k, m, err));
    const mel_layout layout = {
        .kind = MEL_RATES, .coordinates = settings.coordinates, .n_classes = k, .n_groups = m
    };
    MEL_ARRAY(double, prevalence, m *k, "the shares of the groups", err);
    if (opt->prevalence != NULL)
        TRY(read_prevalence(prevalence, problem, opt, err));
    return mel_ball_new(&problem->ball, &layout, opt->radius, NULL,
                        opt->prevalence != NULL ? prevalence : NULL, err);
}
