/* melicit metric: a metric file without questions, from costs that are known or from a name; or a metric in
 * words. */
#include "dataset.h"
#include "files.h"
#include "melicit/outcome.h"
#include "metric_costs.h"
#include "metric_file.h"
#include "output.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *cost, *costs, *named, *show, *out, *shares, *group_names;
    cli_prediction_args rows;
    mel_reading reading;
} metric_args;

static void about_clear(cli_metric_about *a)
{
    free(a->class_name);
    free(a->group_name);
    free(a->column);
    free(a->share);
    cli_predictions_clear(&a->counted);
}

/* --- by name ------------------------------------------------------------------------------------ */

/* P(G=g, Y=i) of the labels. */
static void count_shares(cli_metric_about *a)
{
    const cli_predictions *p = &a->counted;
    a->k = p->classes.n;
    a->m = cli_predictions_groups(p);
    a->share = cli_alloc_zero(a->m * a->k, sizeof *a->share);
    for (size_t i = 0; i < p->truth.n_rows; i++)
        a->share[(a->m > 1 ? p->groups.code[i] : 0) * a->k + p->truth.code[i]] +=
            1.0 / (double)p->truth.n_rows;
}

static mel_status say_shares(cli_metric_about *a, const metric_args *args, mel_error *err)
{
    size_t n = 0;
    double sum = 0.0;
    if (args->shares != NULL) {
        TRY(cli_parse_vector(&a->share, &n, "shares", args->shares, err));
        if (n == 1 && a->k == 2) { /* the positive class's */
            a->share = cli_regrow(a->share, 2, sizeof *a->share);
            a->share[n++] = a->share[0];
            a->share[0] = 1.0 - a->share[0];
        }
        for (size_t i = 0; i < n; i++)
            sum += a->share[i] > 0.0 ? a->share[i] : NAN;
        if (n != a->k || !(fabs(sum - 1.0) < 2e-3))
            return cli_fail(err, MEL_EINVAL, "--shares: expected %zu numbers above 0 that add up to 1", a->k);
    }
    return a->share == NULL || a->m <= 1
               ? MEL_OK
               : cli_fail(err, MEL_EINVAL, "shares of groups come from --labels and --groups");
}

static mel_status make_from_name(mel_metric **out, const metric_args *args, cli_metric_about *a,
                                 const mel_read_options *read, cli_run *run, mel_error *err)
{
    if (args->rows.labels != NULL) {
        TRY(cli_predictions_read(&a->counted, NULL, NULL, &args->rows, read, run, err));
        count_shares(a);
    } else {
        TRY(say_shares(a, args, err));
    }
    const mel_people people = { .n_classes = a->k,
                                .n_groups = a->m > 1 ? a->m : 0,
                                .class_names = cli_about_class_names(a),
                                .group_names = a->counted.groups.n_classes > 1
                                                   ? (const char *const *)a->counted.groups.name
                                                   : (const char *const *)a->group_name,
                                .shares = a->share };
    if (args->rows.labels != NULL) {
        MEL_AUTO(mel_measure) *measure = NULL;
        TRY(mel_measure_named(&measure, args->named, people.n_classes, people.n_groups, err));
        TRY(cli_check_positive(measure, args->named, &a->counted.classes, err));
    }
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

/* The numbers that others use, then the lines of code. */
static void print_equivalents(const mel_outcome *found)
{
    if (found->n_equivalents == 0)
        return;
    cli_print("\n");
    cli_heading("In other programs");
    const char *const headers[] = { "", "value" };
    cli_table *table = cli_table_new("lr", headers);
    for (size_t i = 0; i < found->n_equivalents; i++) {
        cli_table_cell(table, "%s", found->equivalents[i].name);
        cli_table_cell(table, "%s", found->equivalents[i].text);
    }
    cli_table_print(table);
    cli_print("\n");
    for (size_t i = 0; i < found->n_equivalents; i++)
        for (size_t c = 0; c < 2 && found->equivalents[i].code[c].tool != NULL; c++)
            cli_print("  # %s, %s\n  %s\n", found->equivalents[i].code[c].tool, found->equivalents[i].key,
                      found->equivalents[i].code[c].line);
    cli_print("\n  ");
    cli_wrap(stdout, found->equivalents_note, 2, 2, cli_width(stdout));
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

static mel_status say(cli_run *run, const mel_metric *metric, const metric_args *args, mel_error *err)
{
    const char *path = args->out;
    MEL_AUTO(mel_outcome) *found = NULL;
    TRY(mel_outcome_of_metric(&found, metric, NULL, err));
    char *text = NULL;
    if (run->json)
        TRY(mel_metric_to_json(&text, metric, err));
    if (run->json) {
        cli_put(run->result, "metric", cli_json_made(text));
        cli_put_positive(run->result, mel_metric_layout(metric)->n_classes, mel_metric_class_names(metric));
        cli_put(run->result, "words", cli_json_text(found->words));
        if (isfinite(found->cost.value))
            cli_put(run->result, "ratio", cli_json_number(found->cost.value));
        if (isfinite(found->threshold.value))
            cli_put(run->result, "threshold", cli_json_number(found->threshold.value));
        if (found->n_equivalents > 0) {
            TRY(mel_outcome_equivalents_json(&text, found, err));
            cli_put(run->result, "equivalents", cli_json_made(text));
        }
    } else if (path == NULL || strcmp(path, "-") != 0) {
        print_metric(metric, found, path);
        if (args->show != NULL)
            print_equivalents(found);
    }
    return MEL_OK;
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
                        : args->rows.naming.positive != NULL ? "positive"
                        : args->rows.naming.rename != NULL   ? "rename"
                                                             : NULL;
    if (stray != NULL)
        return cli_fail(err, MEL_EINVAL, "--%s goes with --named", stray);
    if (args->rows.predictions.n + run->n_operands > 0)
        return cli_fail(err, MEL_EINVAL, "predictions go with score and rank");
    if (args->rows.labels != NULL && (args->shares != NULL || args->group_names != NULL))
        return cli_fail(err, MEL_EINVAL, "--labels says the shares and groups itself");
    if (args->rows.labels == NULL &&
        (args->rows.groups != NULL || args->rows.naming.positive != NULL || args->rows.naming.rename != NULL))
        return cli_fail(err, MEL_EINVAL, "--groups, --positive and --rename go with --labels");
    if (args->show != NULL && (args->out != NULL || args->rows.naming.classes != NULL))
        return cli_fail(err, MEL_EINVAL, "--show takes no --out and no --classes");
    if (args->out != NULL && strcmp(args->out, "-") == 0 && run->json)
        return cli_fail(err, MEL_EINVAL, "--out - and --json both need standard output");
    return args->out != NULL ? cli_out_check(args->out, err) : MEL_OK;
}

static mel_status fill_about(cli_metric_about *a, const metric_args *args, mel_error *err)
{
    a->k = 2;
    if (args->rows.labels == NULL && args->rows.naming.classes != NULL)
        TRY(mel_names_split(&a->class_name, &a->k, args->rows.naming.classes, "classes", err));
    if (args->group_names != NULL)
        TRY(mel_names_split(&a->group_name, &a->m, args->group_names, "group-names", err));
    return MEL_OK;
}

static mel_status make(mel_metric **out, const metric_args *args, cli_run *run, mel_error *err)
{
    cli_metric_about a = { 0 };
    mel_reader reader = { 0 };
    mel_status status = cli_reader_init(&reader, &args->reading, run, err);
    if (status == MEL_OK && args->rows.groups != NULL)
        status = mel_reader_share(&reader, err);
    if (status == MEL_OK)
        status = fill_about(&a, args, err);
    if (status == MEL_OK)
        status = args->cost != NULL    ? cli_metric_of_cost(out, args->cost, &a, err)
                 : args->costs != NULL ? cli_metric_of_costs(out, args->costs, &a, &reader.options, err)
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
    MEL_AUTO(mel_metric) *metric = NULL;
    TRY(check_args(run, args, err));
    TRY(args->show != NULL ? cli_load_metric(&metric, args->show, err) : make(&metric, args, run, err));
    if (args->out != NULL)
        TRY(cli_store_metric(args->out, metric, err));
    return say(run, metric, args, err);
}

static const cli_option own_options[] = {
    CLI_COMMON(metric_args, "cost", TEXT, cost, .argument = "WHAT=COST,..",
               .help = "what mistakes cost: missed=7,false-alarm=1 for two classes, or true>predicted=COST "
                       "for every mistake, with names of --classes"),
    CLI_COMMON(metric_args, "costs", INPUT, costs, .argument = "FILE",
               .help = "a square of costs: a row for each true class, named in the first column, a column "
                       "for each predicted class, named in the first row"),
    CLI_COMMON(metric_args, "named", TEXT, named, .argument = "NAME",
               .help = "a well-known measure: accuracy, balanced-accuracy, f1, f2, jaccard, precision, "
                       "kappa, q-mean, equalised-odds:squared, equal-opportunity:absolute, ..."),
    CLI_COMMON(metric_args, "show", INPUT, show, .argument = "METRIC.json",
               .help = "put a metric file into words"),
    CLI_ROW(metric_args, "groups", TEXT, group_names, .under = "call", .argument = "NAMES",
            .help = "--named: the groups of a measure of fairness"),
    CLI_ROW(metric_args, "shares", TEXT, shares, .argument = "P|P1,P2,..",
            .help = "--named: how frequent the classes are, where the measure depends on it; of two the "
                    "positive one's share will do"),
    CLI_COMMON(metric_args, "out", OUTPUT, out, .argument = "METRIC.json",
               .help = "store the metric; \"-\" prints it"),
    { 0 }
};
static const cli_group groups[] = {
    { "Metric", own_options, 0 },
    { "Rows that give names and shares", cli_prediction_options, offsetof(metric_args, rows) },
    { "Reading files", cli_reading_options, offsetof(metric_args, reading) },
    { 0 },
};
static const cli_example examples[] = {
    { "a missed cancer is as bad as seven false alarms",
      "melicit metric --cost missed=7,false-alarm=1 --classes benign,malignant --out costs.json" },
    { "what mistakes between three classes cost",
      "printf 'true,cold,flu,measles\\ncold,0,1,2\\nflu,2,0,1\\nmeasles,9,6,0\\n' > costs.csv && melicit "
      "metric --costs costs.csv --out matrix.json" },
    { "F2 where three in ten are positive", "melicit metric --named f2 --shares 0.3 --out f2.json" },
    { "what an elicited metric says", "melicit metric --show metric.json" },
    { 0 },
};
static const metric_args defaults = { 0 };

const cli_command cli_metric = {
    .name = "metric",
    .bare = "show",
    .summary = "make a metric file from costs or a name, or put one into words",
    .description =
        "Makes a metric file without asking questions, for those who know their costs: from what each "
        "mistake costs, or from the name of a measure. Every verb takes such files just like elicited ones. "
        "Measures that are not a weighted sum, ratio or square of statistics (mcc, g-mean, macro-f1, ...) do "
        "not fit into a metric file; score, rank and optimise take them by name.\n\n"
        "--show says in words what a metric file holds.",
    .groups = groups,
    .examples = examples,
    .args_size = sizeof(metric_args),
    .defaults = &defaults,
    .run = run_metric,
};
