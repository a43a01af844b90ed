/* From the options to what questions are about: a planar face, a space, a ball; from rows, a population in
 * closed form ("logistic:a=5,b=0", "softmax:1,3,5"), or an abstract ball of "K" classes or "K,M" with M
 * groups. */
#include "problem/problem.h"
#include "space/shared.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- without rows --------------------------------------------------------------------------------------- */

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
    /* With two classes the second one is positive: P = 1/(1 + exp((p2 - p1) x)). */
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

static mel_status make_population(mel_problem *problem, const mel_problem_options *opt,
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

static mel_status make_abstract_ball(mel_problem *problem, const mel_problem_options *opt,
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

/* --- options and rows ----------------------------------------------------------------------------------- */

void mel_problem_options_init(mel_problem_options *opt)
{
    static const mel_problem_options defaults = MEL_PROBLEM_DEFAULTS;
    *opt = defaults;
}

void mel_problem_options_clear(mel_problem_options *opt)
{
    free(opt->held);
    json_decref(opt->parsed);
    mel_problem_options_init(opt);
}

static void free_groups(mel_problem *problem)
{
    mel_names_free((char **)(uintptr_t)problem->group_name, problem->n_groups);
    problem->group_name = NULL;
    problem->n_groups = 0;
}

void mel_problem_free(mel_problem *problem)
{
    if (problem == NULL)
        return;
    if (problem->pool != NULL)
        mel_pool_clear(problem->pool);
    free(problem->pool);
    mel_ball_free(problem->ball);
    mel_space_free(problem->space);
    mel_face_free(problem->face);
    mel_face_free(problem->sample);
    mel_radius_clear(&problem->how);
    mel_classes_clear(&problem->classes);
    free_groups(problem);
    free(problem->class_share);
    free(problem->group_share);
    free(problem->probability);
    free(problem->label);
    free(problem->group);
    free(problem->weight);
    free(problem->numbers);
    free(problem->row);
    free(problem->description);
    free(problem->typed);
    free(problem->group_column);
    free(problem);
}

const mel_layout *mel_problem_layout(const mel_problem *problem)
{
    static const mel_layout binary = { .kind = MEL_CONFUSION, .coordinates = MEL_BINARY, .n_classes = 2 };
    return problem->space != NULL  ? mel_space_layout(problem->space)
           : problem->ball != NULL ? mel_ball_layout(problem->ball)
           : problem->pool != NULL ? &problem->pool->layout
                                   : &binary;
}

/* --- what it is for ----------------------------------------------------------------------------- */

bool mel_is_planar(const mel_problem_options *opt, const mel_problem_want *want, size_t n_classes)
{
    return want->planar && n_classes == 2 && opt->kind != MEL_KIND_RATES && opt->evidence == MEL_BY_LABELS;
}

mel_problem_want mel_want_of_layout(const mel_layout *layout, const char *whom)
{
    const bool grouped = layout->n_groups > 1, rates = layout->kind == MEL_RATES;
    return (mel_problem_want){ .planar = layout->coordinates == MEL_BINARY && !rates && !grouped,
                               .rates = rates,
                               .grouped = grouped,
                               .needs_groups = grouped,
                               .coordinates = layout->coordinates,
                               .whom = whom };
}

mel_status mel_check_classes(const mel_resources *resources, size_t classes, size_t groups, mel_error *err)
{
    const size_t parts = groups > 1 ? groups : 1, most = resources->max_classes;
    if (most == 0 || (classes <= most && parts <= most / classes))
        return MEL_OK;
    return groups > 1 ? mel_fail(err, MEL_ELIMIT,
                                 "%zu classes in %zu groups: here the classes of all groups together are at "
                                 "most %zu",
                                 classes, groups, most)
                      : mel_fail(err, MEL_ELIMIT, "%zu classes: here there are at most %zu", classes, most);
}

mel_status mel_space_settings(mel_space_options *out, const mel_problem_options *opt,
                              const mel_problem_want *want, size_t n_classes, size_t n_groups, mel_error *err)
{
    const size_t one_each = n_classes * (n_groups > 1 ? n_groups : 1);
    const mel_statistics_kind usual = want->rates ? MEL_RATES : MEL_CONFUSION;
    mel_space_options_init(out);
    out->kind = opt->kind == MEL_KIND_AUTO ? usual : opt->kind == MEL_KIND_RATES ? MEL_RATES : MEL_CONFUSION;
    out->coordinates = n_classes > 2 && want->numbers == one_each ? MEL_DIAGONAL : want->coordinates;
    out->evidence = (mel_evidence)opt->evidence;
    out->threads = opt->resources.threads;
    if (opt->evidence == MEL_EVIDENCE_CALIBRATED)
        return mel_fail(
            err, MEL_EINVAL,
            "--evidence calibrated: rules are found on calibrated probabilities, by melicit apply; what is "
            "measured here is measured by labels or by the model");
    if (out->coordinates == MEL_BINARY && n_classes != 2)
        return mel_fail(err, MEL_EDATA, "there are %zu classes; binary coordinates (TP, TN) are for two",
                        n_classes);
    return MEL_OK;
}

static mel_status check_options(const mel_problem_options *opt, mel_error *err)
{
    const int given = (opt->dataset.data != NULL) + (opt->probs != NULL) + (opt->population != NULL) +
                      (opt->ball != NULL) + (opt->candidates != NULL);
    if (given == 0)
        return mel_fail(err, MEL_EINVAL,
                        "what is it about? Give one of --data, --probs with --labels, --candidates, "
                        "--population, --ball");
    if (given > 1)
        return mel_fail(err, MEL_EINVAL,
                        "--data, --probs, --candidates, --population and --ball exclude each other");
    if ((opt->probs != NULL) != (opt->labels != NULL))
        return mel_fail(err, MEL_EINVAL, "--probs and --labels go together");
    if (opt->groups != NULL && opt->probs == NULL)
        return mel_fail(err, MEL_EINVAL, "--groups goes with --probs; --group names a column of --data");
    if (opt->prevalence != NULL && opt->ball == NULL)
        return mel_fail(err, MEL_EINVAL, "--prevalence goes with --ball; elsewhere it is measured");
    return mel_choices_check(opt, err);
}

/* --- names -------------------------------------------------------------------------------------- */

void mel_take_classes(mel_problem *problem, mel_classes *classes)
{
    problem->classes = *classes;
    problem->n_classes = classes->n;
    problem->class_name = (const char *const *)classes->name;
    *classes = (mel_classes){ 0 };
}

mel_status mel_name_classes(mel_problem *problem, const mel_problem_options *opt, size_t n,
                            const char *const *name, mel_error *err)
{
    const mel_naming *naming = &opt->dataset.naming;
    mel_classes classes = { 0 };
    TRY(mel_classes_invent(&classes, n, name, naming,
                           opt->population != NULL   ? "the population"
                           : opt->candidates != NULL ? "the pool"
                                                     : "the ball",
                           err));
    mel_take_classes(problem, &classes);
    problem->unnamed = !mel_naming_given(naming);
    return MEL_OK;
}

mel_status mel_name_groups(mel_problem *problem, size_t n, char *const *name, mel_error *err)
{
    if (n == 0)
        return MEL_OK;
    problem->group_name = (const char *const *)mel_names_copy(n, (const char *const *)name, 1);
    problem->n_groups = problem->group_name != NULL ? n : 0;
    return problem->group_name != NULL ? MEL_OK : mel_fail_memory(err, "the names of the groups");
}

mel_status mel_name_group_column(mel_problem *problem, const char *column, mel_error *err)
{
    problem->group_column = mel_strdup(column);
    return problem->group_column != NULL ? MEL_OK : mel_fail_memory(err, "the name of a column");
}

/* --- from rows ---------------------------------------------------------------------------------- */

/* The scores are P(positive). */
static mel_status make_face(mel_problem *problem, mel_error *err)
{
    const size_t n = problem->n_rows;
    MEL_ARRAY(uint8_t, role, n, "the rows of a face", err);
    for (size_t i = 0; i < n; i++) {
        problem->probability[i] = problem->probability[2 * i + 1];
        role[i] = problem->label[i] == 1 ? MEL_ROW_POSITIVE : MEL_ROW_NEGATIVE;
    }
    const mel_status status =
        mel_face_from_scores(&problem->face, n, problem->probability, role, problem->weight, err);
    free(problem->probability); /* the face has what it needs */
    problem->probability = NULL;
    return status;
}

/* The library would name them by their numbers. */
static mel_status check_cells(const mel_problem *problem, const mel_rows *sample, mel_error *err)
{
    const size_t k = sample->n_classes, m = sample->group != NULL ? sample->n_groups : 0;
    MEL_ARRAY(size_t, rows, m * k + 1, "the sizes of the groups", err);
    for (size_t i = 0; i < sample->n_rows && m > 0; i++)
        if (sample->group[i] < m && sample->label[i] < k)
            rows[sample->group[i] * k + sample->label[i]]++;
    size_t cell = 0;
    while (cell < m * k && rows[cell] > 0)
        cell++;
    return cell == m * k ? MEL_OK
                         : mel_fail(err, MEL_EDATA,
                                    "group \"%s\" has no rows of class \"%s\": its rates are 0/0, and nobody "
                                    "can be asked about them; leave the group out or merge it with another",
                                    problem->group_name[cell / k], problem->class_name[cell % k]);
}

static mel_status make_space(mel_problem *problem, const mel_problem_options *opt,
                             const mel_problem_want *want, mel_error *err)
{
    if (problem->weight != NULL)
        return mel_fail(err, MEL_EINVAL,
                        "--weights: rows count alike in spaces of more than two classes, of rates and of "
                        "groups");
    mel_space_options settings;
    TRY(mel_space_settings(&settings, opt, want, problem->n_classes, problem->n_groups, err));
    const mel_rows sample = {
        .n_rows = problem->n_rows,
        .n_classes = problem->n_classes,
        .n_groups = want->grouped ? problem->n_groups : 0,
        .probability = problem->probability,
        .label = problem->label,
        .group = want->grouped && problem->n_groups > 0 ? problem->group : NULL,
    };
    mel_status status = check_cells(problem, &sample, err);
    if (status == MEL_OK)
        status = mel_space_from_sample(&problem->space, &sample, &settings, err);
    if (status != MEL_EDATA)
        return status;
    char memory[MEL_UPLOAD_NAME];
    const bool probs = opt->probs != NULL;
    return mel_fail_in(err, status, "%s",
                       mel_input_name(memory, probs ? "probs" : "data",
                                      probs ? opt->probs : opt->dataset.data, &opt->resources));
}

/* Groups that do not count are forgotten: the questions are not about them. */
static mel_status settle_groups(mel_problem *problem, const mel_problem_options *opt,
                                const mel_problem_want *want, mel_error *err)
{
    if (want->needs_groups && problem->n_groups < 2)
        return problem->n_groups == 0
                   ? mel_fail(err, MEL_EINVAL, "%s metrics are about groups: give %s", want->whom,
                              opt->probs != NULL ? "--groups FILE" : "--group COL")
                   : mel_fail(err, MEL_EDATA, "there is one group only, \"%s\"; %s metrics compare groups",
                              problem->group_name[0], want->whom);
    if (!want->grouped && opt->groups != NULL)
        return mel_fail(err, MEL_EINVAL, "--groups: %s metrics are not about groups", want->whom);
    if (!want->grouped)
        free_groups(problem);
    return MEL_OK;
}

static mel_status from_rows(mel_problem *problem, const mel_problem_options *opt,
                            const mel_problem_want *want, mel_error *err)
{
    TRY(opt->probs != NULL ? mel_rows_from_probabilities(problem, opt, err)
                           : mel_rows_from_table(problem, opt, want->rows && want->training_rows, err));
    TRY(settle_groups(problem, opt, want, err));
    if (want->rows)
        return MEL_OK;
    return mel_is_planar(opt, want, problem->n_classes) && problem->n_groups == 0
               ? make_face(problem, err)
               : make_space(problem, opt, want, err);
}

static mel_status smooth(mel_problem *problem, mel_error *err)
{
    if (problem->face == NULL)
        return mel_fail(err, MEL_EINVAL, "smooth is for two classes and linear or linear-fractional metrics");
    if (problem->n_rows == 0)
        return mel_fail(err, MEL_EINVAL, "smooth: a population has no steps to take out");
    problem->sample = problem->face;
    problem->face = NULL;
    return mel_face_smooth(&problem->face, &problem->smooth_a, &problem->smooth_b, problem->sample, err);
}

/* --- the ball inside a space -------------------------------------------------------------------- */

/* The largest ball that fits, or the smaller one that the options say. Made from its radius alone, so that a
 * session that goes on asks about the same ball to the last bit. */
static mel_status find_ball(mel_problem *problem, const mel_problem_options *opt, mel_error *err)
{
    double radius = opt->found_radius;
    if (!(radius > 0.0)) {
        mel_radius_options search;
        mel_radius_options_init(&search);
        search.method = (mel_radius_method)opt->radius_method;
        search.seed = opt->seed;
        search.progress = opt->resources.progress;
        mel_ball *largest = NULL;
        TRY(mel_ball_of_space(&largest, &problem->how, problem->space, &search, err));
        radius = mel_ball_radius(largest);
        mel_ball_free(largest);
        if (opt->radius > radius)
            return mel_fail(err, MEL_EINVAL, "--radius %g: the largest ball that fits has radius %.6g",
                            opt->radius, radius);
        radius = opt->radius > 0.0 ? opt->radius : radius;
    }
    return mel_ball_new(&problem->ball, mel_space_layout(problem->space), radius,
                        mel_space_class_share(problem->space), mel_space_prevalence(problem->space), err);
}

/* --- the whole ---------------------------------------------------------------------------------- */

static mel_status find_shares(mel_problem *problem, mel_error *err)
{
    if (problem->pool != NULL)
        return MEL_OK; /* it says them itself */
    const double *known = problem->ball != NULL    ? mel_ball_class_share(problem->ball)
                          : problem->space != NULL ? mel_space_class_share(problem->space)
                                                   : NULL;
    if (known == NULL && problem->face == NULL)
        return MEL_OK; /* an abstract ball, or rows alone */
    const size_t k = problem->n_classes;
    TRY(MEL_NEED(problem->class_share = mel_alloc(k, sizeof *problem->class_share),
                 "the shares of the classes", err));
    for (size_t i = 0; i < k; i++)
        problem->class_share[i] = known != NULL ? known[i]
                                  : i == 0      ? mel_face_negatives(problem->face)
                                                : mel_face_positives(problem->face);
    return MEL_OK;
}

static mel_status make(mel_problem *out, const mel_problem_options *opt, const mel_problem_want *want,
                       mel_error *err)
{
    TRY(mel_problem_check_numbers(opt, err));
    TRY(check_options(opt, err));
    TRY(opt->ball != NULL         ? make_abstract_ball(out, opt, want, err)
        : opt->population != NULL ? make_population(out, opt, want, err)
        : opt->candidates != NULL ? mel_make_candidates(out, opt, want, err)
                                  : from_rows(out, opt, want, err));
    if (opt->smooth)
        TRY(smooth(out, err));
    const bool inscribed = want->ball && out->space != NULL;
    if (opt->radius > 0.0 && opt->ball == NULL && !inscribed)
        return mel_fail(err, MEL_EINVAL, "--radius: no ball is needed here");
    if (opt->radius_method != 0 && !inscribed)
        return mel_fail(err, MEL_EINVAL, "--thesis radius-method: no ball is needed here");
    if (inscribed)
        TRY(find_ball(out, opt, err));
    TRY(find_shares(out, err));
    TRY(mel_problem_digest(out->digest, opt, err));
    return mel_problem_describe(out, opt, err);
}

mel_status mel_problem_make(mel_problem **out, const mel_problem_options *opt, const mel_problem_want *want,
                            mel_error *err)
{
    *out = NULL;
    if (opt->struct_size != sizeof *opt)
        return mel_fail(err, MEL_EINVAL,
                        "the problem options were not initialised, or are those of another version");
    mel_problem *problem = mel_alloc_zero(1, sizeof *problem);
    TRY(MEL_NEED(problem, "a problem", err));
    const mel_status status = make(problem, opt, want, err);
    if (status != MEL_OK) {
        mel_problem_free(problem);
        return status;
    }
    problem->domain = (mel_domain){ .face = problem->face,
                                    .space = problem->ball == NULL ? problem->space : NULL,
                                    .ball = problem->ball,
                                    .frontier = problem->ball != NULL ? problem->space : NULL };
    if (problem->pool != NULL)
        problem->domain = (mel_domain){ .pool = problem->pool,
                                        .class_share = problem->class_share,
                                        .prevalence = problem->group_share };
    *out = problem;
    return MEL_OK;
}
