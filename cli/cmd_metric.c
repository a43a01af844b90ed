/* melicit metric: a metric file without questions, from costs that are known or from a name; or a metric in
 * words. */
#include "command.h"
#include "dataset.h"
#include "files.h"
#include "melicit/outcome.h"
#include "metric/shared.h"
#include "metric_file.h"
#include "numbers.h"
#include "output.h"
#include "pool.h"
#include "predictions.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *cost, *costs, *named, *show, *out, *shares, *group_names;
    double prevalence; /* NaN: not given */
    cli_prediction_args rows;
    mel_reading reading;
} metric_args;

/* Who the metric is about. */
typedef struct {
    char **class_name, **group_name; /* each in one block, for free(); NULL: none */
    const char **column;             /* names of the columns of --costs, lent by its table; NULL: none */
    size_t k, m;
    double *share;
    cli_predictions counted;
} about;

static void about_clear(about *a)
{
    free(a->class_name);
    free(a->group_name);
    free(a->column);
    free(a->share);
    cli_predictions_clear(&a->counted);
}

static const char *const roles[] = { "negative", "positive" };

static const char *const *class_names(const about *a)
{
    return a->counted.classes.n > 0 ? (const char *const *)a->counted.classes.name
           : a->column != NULL      ? a->column
           : a->class_name != NULL  ? (const char *const *)a->class_name
                                    : roles;
}

static const char *class_name(const about *a, size_t i)
{
    const char *const *all = class_names(a);
    return all != roles || i < sizeof roles / sizeof *roles ? all[i] : "";
}

/* --- costs on the command line ------------------------------------------------------------------ */

/* "missed" and "false-alarm" of two classes, or "true>predicted". */
static bool find_entry(size_t *truth, size_t *said, const char *text, size_t length, const about *a)
{
    static const struct {
        const char *name;
        size_t truth, said;
    } words[] = { { "missed", 1, 0 }, { "false-alarm", 0, 1 }, { "found", 1, 1 }, { "cleared", 0, 0 } };
    for (size_t w = 0; w < sizeof words / sizeof *words && a->k == 2; w++)
        if (strlen(words[w].name) == length && strncmp(words[w].name, text, length) == 0) {
            *truth = words[w].truth;
            *said = words[w].said;
            return true;
        }
    char *name = cli_format("%.*s", (int)length, text);
    bool found = false;
    for (char *at = strchr(name, '>'); at != NULL && !found; at = strchr(at + 1, '>')) {
        *at = '\0';
        *truth = mel_name_place(name, a->k, class_names(a));
        *said = mel_name_place(at + 1, a->k, class_names(a));
        found = *truth < a->k && *said < a->k;
        *at = '>';
    }
    free(name);
    return found;
}

static mel_status take_cost(double *cost, const char *item, const about *a, mel_error *err)
{
    const char *sign = strrchr(item, '=');
    size_t truth = 0, said = 0, n = 0;
    double *value = NULL;
    if (sign == NULL || !find_entry(&truth, &said, item, (size_t)(sign - item), a))
        return cli_fail(err, MEL_EINVAL, "--cost: \"%s\" is no cost of a mistake; expected %s", item,
                        a->k == 2 ? "missed=7,false-alarm=1, or true>predicted=COST with names of --classes"
                                  : "true>predicted=COST with names of --classes");
    const bool number = cli_parse_numbers(&value, &n, sign + 1) && n == 1;
    const double to = number ? value[0] : NAN;
    free(value);
    if (!number)
        return cli_fail(err, MEL_EINVAL, "--cost: \"%s\" is not a number", sign + 1);
    if (!isnan(cost[truth * a->k + said]))
        return cli_fail(err, MEL_EINVAL, "--cost: \"%s\" is there twice", item);
    cost[truth * a->k + said] = to;
    return MEL_OK;
}

static mel_status fill_costs(double *cost, const char *text, const about *a, mel_error *err)
{
    char **item = NULL;
    size_t n = 0;
    for (size_t i = 0; i < a->k * a->k; i++)
        cost[i] = NAN;
    mel_status status = mel_names_split(&item, &n, text, "cost", err);
    for (size_t i = 0; i < n && status == MEL_OK; i++)
        status = take_cost(cost, item[i], a, err);
    free(item);
    for (size_t i = 0; i < a->k && status == MEL_OK; i++)
        for (size_t j = 0; j < a->k && status == MEL_OK; j++) {
            double *one = &cost[i * a->k + j];
            if (isnan(*one) && i != j)
                status = cli_fail(err, MEL_EINVAL, "--cost: what does predicting \"%s\" for \"%s\" cost?",
                                  class_name(a, j), class_name(a, i));
            *one = isnan(*one) ? 0.0 : *one;
        }
    return status;
}

static mel_status make_from_words(mel_metric **out, const metric_args *args, const about *a, mel_error *err)
{
    double *cost = cli_alloc_zero(a->k * a->k, sizeof *cost);
    mel_status status = fill_costs(cost, args->cost, a, err);
    if (status == MEL_OK)
        status = mel_metric_costs(out, a->k, cost, class_names(a), err);
    free(cost);
    return status;
}

/* --- costs in a file ---------------------------------------------------------------------------- */

/* The true class that a row of the matrix is about: by the first column, which has no costs then. */
static mel_status row_class(size_t *out, const mel_table *table, size_t row, const about *a, mel_error *err)
{
    const uint32_t *code = mel_table_codes(table, 0);
    const double *value = mel_table_numbers(table, 0);
    char *name = code != NULL && code[row] != MEL_MISSING
                     ? cli_format("%s", mel_table_category(table, 0, code[row]))
                     : cli_format("%.15g", value != NULL ? value[row] : NAN);
    *out = mel_name_place(name, a->k, class_names(a));
    const mel_status status = *out < a->k
                                  ? MEL_OK
                                  : cli_fail(err, MEL_EDATA, "%s: row %zu: no column is called \"%s\"",
                                             mel_table_name(table), row + 1, name);
    free(name);
    return status;
}

static mel_status fill_matrix(double *cost, const mel_table *table, const about *a, bool named,
                              mel_error *err)
{
    for (size_t row = 0; row < a->k; row++) {
        size_t truth = row;
        const mel_status status = named ? row_class(&truth, table, row, a, err) : MEL_OK;
        if (status != MEL_OK)
            return status;
        for (size_t j = 0; j < a->k; j++) {
            const double *column = mel_table_numbers(table, j + named);
            double *one = &cost[truth * a->k + j];
            if (column == NULL || isnan(column[row]))
                return cli_fail(err, MEL_EDATA, "%s: row %zu, column %s: not a number", mel_table_name(table),
                                row + 1, mel_table_column_name(table, j + named));
            if (!isnan(*one))
                return cli_fail(err, MEL_EDATA, "%s: two rows are about \"%s\"", mel_table_name(table),
                                class_name(a, truth));
            *one = column[row];
        }
    }
    return MEL_OK;
}

/* The names of the columns, unless the file has none; then those of --classes, in their order. */
static mel_status name_matrix(about *a, const mel_table *table, bool named, mel_error *err)
{
    const size_t k = mel_table_rows(table);
    if (mel_table_has_header(table)) {
        if (a->class_name != NULL)
            return cli_fail(err, MEL_EINVAL, "--classes: the columns of %s are named already",
                            mel_table_name(table));
        a->column = cli_alloc_zero(k, sizeof *a->column);
        for (size_t j = 0; j < k; j++)
            a->column[j] = mel_table_column_name(table, j + named);
        a->k = k;
        return MEL_OK;
    }
    if (named || a->class_name == NULL || a->k != k)
        return cli_fail(
            err, MEL_EDATA,
            "%s: give its columns names, the predicted classes, or name all %zu classes with --classes",
            mel_table_name(table), k);
    return MEL_OK;
}

static mel_status make_from_table(mel_metric **out, const mel_table *table, about *a, mel_error *err)
{
    const size_t rows = mel_table_rows(table), columns = mel_table_columns(table);
    const bool named = columns == rows + 1;
    if (rows < 2 || (!named && columns != rows))
        return cli_fail(err, MEL_EDATA,
                        "%s: %zu rows and %zu columns; expected a square of costs, true classes in rows, "
                        "predicted classes in columns, the first column may name the rows",
                        mel_table_name(table), rows, columns);
    mel_status status = name_matrix(a, table, named, err);
    double *cost = cli_alloc_zero(rows * rows, sizeof *cost);
    for (size_t i = 0; i < rows * rows; i++)
        cost[i] = NAN;
    if (status == MEL_OK)
        status = fill_matrix(cost, table, a, named, err);
    if (status == MEL_OK) {
        status = mel_metric_costs(out, rows, cost, class_names(a), err);
        if (status == MEL_EDATA)
            status = cli_fail_in(err, status, mel_table_name(table));
    }
    free(cost);
    return status;
}

static mel_status make_from_file(mel_metric **out, const metric_args *args, about *a,
                                 const mel_read_options *read, mel_error *err)
{
    mel_table *table = NULL;
    mel_read_options options = *read;
    options.row_name = "true";
    mel_status status = mel_table_read(&table, args->costs, &options, err);
    if (status == MEL_OK)
        status = make_from_table(out, table, a, err);
    free(a->column);
    a->column = NULL;
    mel_table_free(table);
    return status;
}

/* --- by name ------------------------------------------------------------------------------------ */

/* P(G=g, Y=i) of the labels. */
static void count_shares(about *a)
{
    const cli_predictions *p = &a->counted;
    a->k = p->classes.n;
    a->m = cli_predictions_groups(p);
    a->share = cli_alloc_zero(a->m * a->k, sizeof *a->share);
    for (size_t i = 0; i < p->truth.n_rows; i++)
        a->share[(a->m > 1 ? p->groups.code[i] : 0) * a->k + p->truth.code[i]] +=
            1.0 / (double)p->truth.n_rows;
}

static mel_status say_shares(about *a, const metric_args *args, mel_error *err)
{
    size_t n = 0;
    double sum = 0.0;
    if (isfinite(args->prevalence)) {
        if (a->k != 2)
            return cli_fail(err, MEL_EINVAL, "--prevalence is for two classes; --shares says those of %zu",
                            a->k);
        a->share = cli_alloc_zero(2, sizeof *a->share);
        a->share[1] = args->prevalence;
        a->share[0] = 1.0 - args->prevalence;
    } else if (args->shares != NULL) {
        const mel_status status = cli_parse_vector(&a->share, &n, "shares", args->shares, err);
        if (status != MEL_OK)
            return status;
        for (size_t i = 0; i < n; i++)
            sum += a->share[i] > 0.0 ? a->share[i] : NAN;
        if (n != a->k || !(fabs(sum - 1.0) < 2e-3))
            return cli_fail(err, MEL_EINVAL, "--shares: expected %zu numbers above 0 that add up to 1", a->k);
    }
    return a->share == NULL || a->m <= 1
               ? MEL_OK
               : cli_fail(err, MEL_EINVAL, "shares of groups come from --labels and --groups");
}

static mel_status make_from_name(mel_metric **out, const metric_args *args, about *a,
                                 const mel_read_options *read, const cli_run *run, mel_error *err)
{
    mel_status status = MEL_OK;
    if (args->rows.labels != NULL) {
        status = cli_predictions_read(&a->counted, NULL, NULL, &args->rows, read, run, err);
        if (status == MEL_OK)
            count_shares(a);
    } else {
        status = say_shares(a, args, err);
    }
    if (status != MEL_OK)
        return status;
    const mel_people people = { .n_classes = a->k,
                                .n_groups = a->m > 1 ? a->m : 0,
                                .class_names = class_names(a),
                                .group_names = a->counted.groups.n_classes > 1
                                                   ? (const char *const *)a->counted.groups.name
                                                   : (const char *const *)a->group_name,
                                .shares = a->share };
    return mel_metric_of_name(out, args->named, &people, err);
}

/* --- saying it ---------------------------------------------------------------------------------- */

static void print_coefficients(const mel_outcome *found)
{
    const char *const headers[] = { "", "weight", "95% interval" };
    double low = 0.0, high = 0.0;
    const bool sure = !mel_metric_interval(found->metric, 0, &low, &high);
    cli_table *table = cli_table_new(sure ? "lr" : "lrr", headers);
    for (size_t i = 0; i < found->n_coefficients; i++) {
        const mel_coefficient *c = &found->coefficients[i];
        cli_table_cell(table, "%s", c->meaning);
        cli_table_cell(table, "%.4g", c->number.value);
        if (!sure)
            cli_table_cell(table, "%.4g to %.4g", c->number.low, c->number.high);
    }
    cli_table_print(table);
    if (found->n_left_out > 0)
        cli_print("  and %zu smaller ones, in the metric file\n", found->n_left_out);
}

static void print_metric(const mel_metric *metric, const mel_outcome *found, const char *path)
{
    cli_heading("The metric");
    cli_wrap(stdout, found->words, 0, 0, cli_width(stdout));
    cli_print("\n");
    print_coefficients(found);
    const mel_layout *layout = mel_metric_layout(metric);
    cli_print("\n  %s, a %s of %s; more is %s\n", mel_family_name(mel_metric_family(metric)),
              mel_metric_orientation(metric) == MEL_COST ? "cost" : "utility",
              layout->kind == MEL_RATES ? "rates within each class" : "shares of all rows",
              mel_metric_orientation(metric) == MEL_COST ? "worse" : "better");
    if (isfinite(found->threshold.value))
        cli_print("  best threshold on true probabilities: %.4g\n", found->threshold.value);
    const mel_elicited how = mel_metric_elicited(metric);
    if (how.strategy != NULL)
        cli_print("  found with %u questions (%s)\n", (unsigned)how.questions, how.strategy);
    if (path != NULL)
        cli_print("  metric file: %s\n", path);
}

static mel_status save(const void *user, const char *file, mel_error *err)
{
    return mel_metric_save(user, file, err);
}

static mel_status say(cli_run *run, const mel_metric *metric, const char *path, mel_error *err)
{
    mel_outcome *found = NULL;
    mel_status status = mel_outcome_of_metric(&found, metric, NULL, err);
    char *text = NULL;
    if (status == MEL_OK && run->json)
        status = mel_metric_to_json(&text, metric, err);
    if (status == MEL_OK && run->json) {
        cli_put(run->result, "metric", cli_json_made(text));
        cli_put(run->result, "words", cli_json_text(found->words));
        if (isfinite(found->cost.value))
            cli_put(run->result, "ratio", cli_json_number(found->cost.value));
        if (isfinite(found->threshold.value))
            cli_put(run->result, "threshold", cli_json_number(found->threshold.value));
    } else if (status == MEL_OK && (path == NULL || strcmp(path, "-") != 0)) {
        print_metric(metric, found, path);
    }
    mel_outcome_free(found);
    return status;
}

static mel_status check_args(const cli_run *run, const metric_args *args, mel_error *err)
{
    const int ways =
        (args->cost != NULL) + (args->costs != NULL) + (args->named != NULL) + (args->show != NULL);
    if (ways != 1)
        return cli_fail(err, MEL_EINVAL, "give one of --cost, --costs, --named and --show");
    const char *stray = args->named != NULL                  ? NULL
                        : args->rows.labels != NULL          ? "labels"
                        : args->rows.groups != NULL          ? "groups"
                        : args->shares != NULL               ? "shares"
                        : args->group_names != NULL          ? "group-names"
                        : isfinite(args->prevalence)         ? "prevalence"
                        : args->rows.naming.positive != NULL ? "positive"
                        : args->rows.naming.rename != NULL   ? "rename"
                                                             : NULL;
    if (stray != NULL)
        return cli_fail(err, MEL_EINVAL, "--%s goes with --named", stray);
    if (args->rows.predictions.n + run->n_operands > 0)
        return cli_fail(err, MEL_EINVAL, "predictions go with score and rank");
    if (args->rows.labels != NULL &&
        (isfinite(args->prevalence) || args->shares != NULL || args->group_names != NULL))
        return cli_fail(err, MEL_EINVAL, "--labels says the shares and groups itself");
    if (args->rows.labels == NULL &&
        (args->rows.groups != NULL || args->rows.naming.positive != NULL || args->rows.naming.rename != NULL))
        return cli_fail(err, MEL_EINVAL, "--groups, --positive and --rename go with --labels");
    if (args->show != NULL && (args->out != NULL || args->rows.naming.classes != NULL))
        return cli_fail(err, MEL_EINVAL, "--show takes no --out and no --classes");
    if (args->out != NULL && strcmp(args->out, "-") == 0 && run->json)
        return cli_fail(err, MEL_EINVAL, "--out - and --json both want standard output");
    return args->out != NULL ? cli_out_check(args->out, err) : MEL_OK;
}

static mel_status fill_about(about *a, const metric_args *args, mel_error *err)
{
    a->k = 2;
    mel_status status = MEL_OK;
    if (args->rows.labels == NULL && args->rows.naming.classes != NULL)
        status = mel_names_split(&a->class_name, &a->k, args->rows.naming.classes, "classes", err);
    if (status == MEL_OK && args->group_names != NULL)
        status = mel_names_split(&a->group_name, &a->m, args->group_names, "group-names", err);
    return status;
}

static mel_status make(mel_metric **out, const metric_args *args, const cli_run *run, mel_error *err)
{
    about a = { 0 };
    mel_reader reader = { 0 };
    mel_status status = cli_reader_init(&reader, &args->reading, run, err);
    if (status == MEL_OK && args->rows.groups != NULL)
        status = mel_reader_share(&reader, err);
    if (status == MEL_OK)
        status = fill_about(&a, args, err);
    if (status == MEL_OK)
        status = args->cost != NULL    ? make_from_words(out, args, &a, err)
                 : args->costs != NULL ? make_from_file(out, args, &a, &reader.options, err)
                                       : make_from_name(out, args, &a, &reader.options, run, err);
    if (status == MEL_OK)
        status = cli_reader_check(&reader, &args->reading, run, err);
    about_clear(&a);
    mel_reader_clear(&reader);
    return status;
}

static mel_status run_metric(cli_run *run, const void *arguments, mel_error *err)
{
    const metric_args *args = arguments;
    mel_metric *metric = NULL;
    mel_status status = check_args(run, args, err);
    if (status == MEL_OK)
        status =
            args->show != NULL ? cli_load_metric(&metric, args->show, err) : make(&metric, args, run, err);
    if (status == MEL_OK && args->out != NULL)
        status = cli_store(args->out, save, metric, err);
    if (status == MEL_OK)
        status = say(run, metric, args->out, err);
    mel_metric_free(metric);
    return status;
}

static const cli_option own_options[] = {
    { .name = "cost",
      .argument = "WHAT=COST,..",
      .kind = CLI_TEXT,
      .at = offsetof(metric_args, cost),
      .help = "what mistakes cost: missed=7,false-alarm=1 of two classes, or true>predicted=COST for every "
              "mistake, with names of --classes" },
    { .name = "costs",
      .argument = "FILE",
      .kind = CLI_INPUT,
      .at = offsetof(metric_args, costs),
      .help = "a square of costs: a row for each true class, named in the first column, a column for each "
              "predicted class, named in the first row" },
    { .name = "named",
      .argument = "NAME",
      .kind = CLI_TEXT,
      .at = offsetof(metric_args, named),
      .help = "a well-known measure: accuracy, balanced-accuracy, f1, f2, jaccard, precision, kappa, q-mean, "
              "equalised-odds, equal-opportunity:absolute, ..." },
    { .name = "show",
      .argument = "METRIC.json",
      .kind = CLI_INPUT,
      .at = offsetof(metric_args, show),
      .help = "put a metric file into words" },
    { .name = "group-names",
      .argument = "NAMES",
      .kind = CLI_TEXT,
      .at = offsetof(metric_args, group_names),
      .help = "--named: the groups of a measure of fairness" },
    CLI_PREVALENCE_OPTION(metric_args, prevalence),
    { .name = "shares",
      .argument = "P1,P2,..",
      .kind = CLI_TEXT,
      .at = offsetof(metric_args, shares),
      .help = "--named: how frequent the classes are, where the measure depends on it" },
    { .name = "out",
      .argument = "METRIC.json",
      .kind = CLI_OUTPUT,
      .at = offsetof(metric_args, out),
      .help = "store the metric; \"-\" prints it" },
    { 0 }
};
static const cli_group groups[] = {
    { "Metric", own_options, 0 },
    { "Rows that say names and shares", cli_prediction_options, offsetof(metric_args, rows) },
    { "Reading files", cli_reading_options, offsetof(metric_args, reading) },
    { 0 },
};
static const cli_example examples[] = {
    { "a missed cancer is as bad as seven false alarms",
      "melicit metric --cost missed=7,false-alarm=1 --classes healthy,cancer --out costs.json" },
    { "what mistakes between three classes cost",
      "printf 'true,cold,flu,measles\\ncold,0,1,2\\nflu,2,0,1\\nmeasles,9,6,0\\n' > costs.csv && melicit "
      "metric "
      "--costs costs.csv --out matrix.json" },
    { "F2 where three in ten are positive", "melicit metric --named f2 --prevalence 0.3 --out f2.json" },
    { "what an elicited metric says", "melicit metric --show metric.json" },
    { 0 },
};
static const metric_args defaults = { .prevalence = NAN };

const cli_command cli_metric = {
    .name = "metric",
    .summary = "make a metric file from costs or a name, or put one into words",
    .description = "Makes a metric file without asking questions, for those who know their costs: from what "
                   "each mistake "
                   "costs, or from the name of a measure. Every verb takes such files as it takes elicited "
                   "ones. Measures "
                   "that are no weighted sum, ratio or square of statistics (mcc, g-mean, macro-f1, ...) are "
                   "in no metric "
                   "file; score, rank and optimise take them by their names.\n\n"
                   "--show says in words what a metric file holds.",
    .groups = groups,
    .examples = examples,
    .args_size = sizeof(metric_args),
    .defaults = &defaults,
    .run = run_metric,
};
