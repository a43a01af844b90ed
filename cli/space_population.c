/* Spaces without rows: closed-form populations, and balls of rates. */
#include "numbers.h"
#include "output.h"
#include "space_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CLASSES = 10000 };

/* --- populations -------------------------------------------------------------------------------- */

/* "a=5,b=0" or "5,0". */
static bool parse_logistic(double value[2], const char *text)
{
    char *plain = cli_format("%s", text);
    const char *from = text;
    char *to = plain;
    if (strncmp(from, "a=", 2) == 0)
        from += 2;
    for (; *from != '\0'; from++) {
        *to++ = *from;
        if (*from == ',' && strncmp(from + 1, "b=", 2) == 0)
            from += 2;
    }
    *to = '\0';
    size_t n = 0;
    double *number = NULL;
    const bool read = cli_parse_numbers(&number, &n, plain) && n == 2;
    for (size_t i = 0; read && i < 2; i++)
        value[i] = number[i];
    free(number);
    free(plain);
    return read;
}

static mel_status planar_population(cli_space *space, const cli_space_args *args, double a, double b,
                                    mel_error *err)
{
    static const char *const names[] = { "negative", "positive" };
    const mel_status status = cli_name_classes(space, args, 2, names, err);
    return status == MEL_OK ? mel_face_from_logistic(&space->face, a, b, err) : status;
}

static mel_status softmax(cli_space *space, const cli_space_args *args, const cli_want *want,
                          const cli_run *run, size_t n, const double *slope, mel_error *err)
{
    if (n < 2)
        return cli_fail(err, MEL_EINVAL, "--population %s: expected two classes or more", args->population);
    /* Of two classes the second one is positive: P = 1/(1 + exp((p2 - p1) x)). */
    if (cli_is_planar(args, want, n))
        return planar_population(space, args, slope[1] - slope[0], 0.0, err);
    mel_space_options opt;
    mel_status status = cli_space_settings(&opt, args, want, n, 0, run, err);
    if (status == MEL_OK)
        status = cli_name_classes(space, args, n, NULL, err);
    return status == MEL_OK ? mel_space_from_softmax(&space->space, n, slope, &opt, err) : status;
}

static mel_status logistic(cli_space *space, const cli_space_args *args, const cli_want *want,
                           const cli_run *run, const double value[2], mel_error *err)
{
    if (cli_is_planar(args, want, 2))
        return planar_population(space, args, value[0], value[1], err);
    if (value[1] != 0.0)
        return cli_fail(err, MEL_EINVAL,
                        "--population %s: here only b = 0 is known in closed form, the softmax:0,%g of two "
                        "classes",
                        args->population, value[0]);
    const double slope[2] = { 0.0, value[0] };
    return softmax(space, args, want, run, 2, slope, err);
}

mel_status cli_make_population(cli_space *space, const cli_space_args *args, const cli_want *want,
                               const cli_run *run, mel_error *err)
{
    static const char logistic_name[] = "logistic:", softmax_name[] = "softmax:";
    const char *text = args->population;
    if (want->needs_groups)
        return cli_fail(err, MEL_EINVAL, "--population %s has no groups; %s are about groups", text,
                        want->whom);
    if (strncmp(text, logistic_name, sizeof logistic_name - 1) == 0) {
        double value[2];
        if (parse_logistic(value, text + sizeof logistic_name - 1))
            return logistic(space, args, want, run, value, err);
        return cli_fail(err, MEL_EINVAL,
                        "--population %s: expected two numbers after the colon, as in logistic:a=5,b=0",
                        text);
    }
    if (strncmp(text, softmax_name, sizeof softmax_name - 1) != 0)
        return cli_fail(err, MEL_EINVAL,
                        "--population %s: expected logistic:a=5,b=0 or softmax:1,3,5, with numbers of your "
                        "own",
                        text);
    double *slope = NULL;
    size_t n = 0;
    if (!cli_parse_numbers(&slope, &n, text + sizeof softmax_name - 1))
        return cli_fail(err, MEL_EINVAL,
                        "--population %s: expected numbers with commas between them after the colon, as "
                        "in softmax:1,3,5",
                        text);
    const mel_status status = softmax(space, args, want, run, n, slope, err);
    free(slope);
    return status;
}

/* --- balls -------------------------------------------------------------------------------------- */

/* "K" or "K,M" */
static mel_status parse_ball(size_t *k, size_t *m, const char *text, mel_error *err)
{
    double *number = NULL;
    size_t n = 0;
    const bool read = cli_parse_numbers(&number, &n, text) && n <= 2;
    bool whole = read;
    for (size_t i = 0; whole && i < n; i++)
        whole = number[i] == floor(number[i]) && number[i] >= (i == 0 ? 2 : 1) && number[i] <= MOST_CLASSES;
    *k = whole ? (size_t)number[0] : 0;
    *m = whole && n == 2 && number[1] > 1.0 ? (size_t)number[1] : 0;
    free(number);
    return whole ? MEL_OK
                 : cli_fail(err, MEL_EINVAL,
                            "--ball %s: expected K or K,M, at least two classes and, where there are "
                            "groups, their number",
                            text);
}

/* Columns of numbers but "group", in the file's order; returns how many there are. */
static size_t list_columns(size_t *column, const char **name, const mel_table *table, size_t most)
{
    size_t n = 0;
    for (size_t c = 0; c < mel_table_columns(table); c++) {
        if (strcmp(mel_table_column_name(table, c), "group") == 0)
            continue;
        if (n < most) {
            column[n] = c;
            name[n] = mel_table_column_name(table, c);
        }
        n++;
    }
    return n;
}

/* place[i]: which of the columns is class i's: by name; by place where file or classes have no names. */
static mel_status match_classes(size_t *place, const char *const *name, const mel_table *table,
                                const cli_space *space, mel_error *err)
{
    const size_t k = space->n_classes;
    size_t found = 0;
    for (size_t i = 0; i < k; i++) {
        place[i] = cli_name_place(space->class_name[i], k, name);
        found += place[i] < k;
    }
    if (found == k)
        return MEL_OK;
    for (size_t i = 0; i < k; i++)
        place[i] = i;
    if (found == 0 && (space->unnamed || !mel_table_has_header(table)))
        return MEL_OK;
    char *columns = cli_name_list(k, name),
         *classes = cli_name_list(k, (const char *const *)space->class_name);
    (void)cli_fail(err, MEL_EDATA, "%s: the columns are %s, the classes %s", mel_table_name(table), columns,
                   classes);
    free(columns);
    free(classes);
    return MEL_EDATA;
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
        return cli_fail(err, MEL_EDATA, "%s: row %zu, column group: the groups of a ball are 1 to %zu",
                        mel_table_name(table), mel_table_row_number(table, row), m);
    *group = (size_t)number[row] - 1;
    return MEL_OK;
}

/* P(G = g | Y = i): a row per group, a column per class. */
static mel_status take_prevalence(double *out, const mel_table *table, const cli_space *space,
                                  const size_t *column, const size_t *place, mel_error *err)
{
    const size_t k = space->n_classes, m = space->n_groups;
    mel_status status = MEL_OK;
    for (size_t row = 0; row < m && status == MEL_OK; row++) {
        size_t g = 0;
        status = group_of_row(&g, table, row, m, err);
        for (size_t i = 0; i < k && status == MEL_OK; i++) {
            const double *number = mel_table_numbers(table, column[place[i]]);
            if (number == NULL)
                status = cli_fail(err, MEL_EDATA, "%s: column \"%s\" does not hold numbers",
                                  mel_table_name(table), mel_table_column_name(table, column[place[i]]));
            else
                out[g * k + i] = number[row];
        }
    }
    return status;
}

/* A table whose header, if any, names the classes and perhaps "group". */
static mel_status read_shares(mel_table **out, const char *path, const cli_space *space,
                              const mel_read_options *read, mel_error *err)
{
    const size_t k = space->n_classes;
    const char **called = cli_alloc_zero(k + 1, sizeof *called);
    for (size_t i = 0; i < k; i++)
        called[i] = space->class_name[i];
    called[k] = "group";
    mel_read_options expecting = *read;
    expecting.expected_names = called;
    expecting.n_expected_names = k + 1;
    const mel_status status = mel_table_read(out, path, &expecting, err);
    free(called);
    return status;
}

static mel_status read_prevalence(double *out, const char *path, const cli_space *space,
                                  const mel_read_options *read, mel_error *err)
{
    const size_t k = space->n_classes, m = space->n_groups;
    mel_table *table = NULL;
    mel_status status = read_shares(&table, path, space, read, err);
    if (status != MEL_OK)
        return status;
    size_t *column = cli_alloc_zero(2 * k, sizeof *column);
    const char **name = cli_alloc_zero(k, sizeof *name);
    const size_t columns = list_columns(column, name, table, k), rows = mel_table_rows(table);
    if (rows != m || columns != k)
        status = cli_fail(err, MEL_EDATA,
                          "%s: %zu rows with %zu columns; expected a row for each of %zu groups and a column "
                          "for each of %zu classes",
                          path, rows, columns, m, k);
    if (status == MEL_OK)
        status = match_classes(column + k, name, table, space, err);
    if (status == MEL_OK)
        status = take_prevalence(out, table, space, column, column + k, err);
    free(name);
    free(column);
    mel_table_free(table);
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
                return cli_fail(err, MEL_EDATA, "%s: group %zu, class %zu: %g is not a share above 0", path,
                                g + 1, i + 1, share);
            sum += share;
        }
        if (fabs(sum - 1.0) > 1e-6)
            return cli_fail(err, MEL_EDATA, "%s: the shares of the groups in class %zu add up to %g, not 1",
                            path, i + 1, sum);
    }
    return MEL_OK;
}

static mel_status new_ball(cli_space *space, const cli_space_args *args, const cli_want *want,
                           const cli_run *run, mel_error *err)
{
    const size_t k = space->n_classes, m = space->n_groups;
    mel_space_options opt;
    mel_status status = cli_space_settings(&opt, args, want, k, m, run, err);
    const mel_layout layout = {
        .kind = MEL_RATES, .coordinates = opt.coordinates, .n_classes = k, .n_groups = m
    };
    double *prevalence = args->prevalence != NULL ? cli_alloc_zero(m * k, sizeof *prevalence) : NULL;
    if (status == MEL_OK && prevalence != NULL) {
        cli_reader reader = { 0 };
        status = cli_reader_init(&reader, &args->dataset.reading, run, err);
        if (status == MEL_OK)
            status = read_prevalence(prevalence, args->prevalence, space, &reader.options, err);
        if (status == MEL_OK)
            status = cli_reader_check(&reader, &args->dataset.reading, run, err);
        cli_reader_clear(&reader);
        if (status == MEL_OK)
            status = check_prevalence(prevalence, args->prevalence, k, m, err);
        if (status == MEL_OK && strcmp(args->prevalence, "-") != 0)
            status = mel_digest_file(space->digest, args->prevalence, err);
    }
    if (status == MEL_OK)
        status = mel_ball_new(&space->ball, &layout, args->radius, NULL, prevalence, err);
    free(prevalence);
    return status;
}

mel_status cli_make_abstract_ball(cli_space *space, const cli_space_args *args, const cli_want *want,
                                  const cli_run *run, mel_error *err)
{
    size_t k = 0, m = 0;
    mel_status status = parse_ball(&k, &m, args->ball, err);
    if (status == MEL_OK && args->kind == CLI_KIND_CONFUSION)
        status = cli_fail(err, MEL_EINVAL, "--ball is about rates, not about --kind confusion");
    if (status == MEL_OK && args->radius == 0.0)
        status = cli_fail(err, MEL_EINVAL, "--ball %s needs its --radius", args->ball);
    if (status == MEL_OK && want->needs_groups && m == 0)
        status = cli_fail(err, MEL_EINVAL, "--ball %s: %s are about groups; say how many, as in --ball %zu,2",
                          args->ball, want->whom, k);
    if (status == MEL_OK && args->prevalence != NULL && m == 0)
        status =
            cli_fail(err, MEL_EINVAL, "--prevalence is about groups, and --ball %s has none", args->ball);
    if (status == MEL_OK)
        status = cli_name_classes(space, args, k, NULL, err);
    if (status != MEL_OK)
        return status;
    cli_name_groups(space, m, NULL);
    return new_ball(space, args, want, run, err);
}
