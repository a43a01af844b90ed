/* The outcome of an elicitation on more than two classes or on groups. */
#include "classifier.h"
#include "numbers.h"
#include "outcome.h"
#include "output.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_ROWS = 30, NAME_COLUMNS = 24 };

/* --- for programs ------------------------------------------------------------------------------- */

static bool has_best(const cli_outcome *o)
{
    return o->space->space != NULL && mel_classifier_has_best(mel_metric_family(o->metric));
}

mel_status cli_classes_json(json_t *result, const cli_outcome *o, mel_error *err)
{
    if (o->space->ball != NULL)
        cli_put(result, "ball_radius", cli_json_number(mel_ball_radius(o->space->ball)));
    if (!has_best(o))
        return MEL_OK;
    mel_classifier *best = NULL;
    const mel_status status = cli_classifier_best(&best, o->space, o->metric, err);
    if (status != MEL_OK)
        return status;
    static const char *const keys[] = { "statistics", "value", "rules" };
    json_t *object = json_object(), *file = cli_classifier_json(best);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        cli_put(object, keys[i], json_incref(json_object_get(file, keys[i])));
    cli_put(result, "best", object);
    json_decref(file);
    mel_classifier_free(best);
    return MEL_OK;
}

/* --- for people --------------------------------------------------------------------------------- */

char *cli_coordinate_name(const mel_layout *layout, const char *const *class_name, size_t i)
{
    const size_t k = layout->n_classes;
    if (layout->coordinates == MEL_BINARY)
        return cli_format("%s", i == 0 ? "TP" : "TN");
    if (layout->coordinates == MEL_DIAGONAL)
        return cli_short(class_name[i % k], NAME_COLUMNS);
    const size_t truth = i / (k - 1), place = i % (k - 1), called = place + (place >= truth);
    char *first = cli_short(class_name[truth], NAME_COLUMNS);
    char *second = cli_short(class_name[called], NAME_COLUMNS);
    char *name = cli_format("%s taken for %s", first, second);
    free(first);
    free(second);
    return name;
}

/* Coefficient number i of the file, with its interval where there are any. */
static void add_number(cli_table *table, const mel_metric *metric, size_t i, double value)
{
    double low = NAN, high = NAN;
    cli_table_cell(table, "%.4f", value);
    if (mel_metric_interval(metric, i, &low, &high))
        cli_table_cell(table, "%.4f to %.4f", low, high);
}

/* The weights of the coordinates; of fractions those of both sides. */
static void print_weights(const cli_outcome *o)
{
    mel_layout one = *mel_metric_layout(o->metric);
    one.n_groups = 0;
    const size_t n = mel_layout_size(&one), shown = n < MOST_ROWS ? n : MOST_ROWS;
    const double *a = mel_metric_numerator(o->metric, NULL), *b = mel_metric_denominator(o->metric, NULL);
    double low = NAN, high = NAN;
    const bool sure = mel_metric_interval(o->metric, 0, &low, &high);
    /* A search ends with an interval, but knows no probabilities. */
    const char *interval = o->options->strategy == MEL_STRATEGY_SEARCH ? "interval" : "95% interval";
    const char *const with[] = { "", "weight", interval, "below the line", interval };
    const char *const without[] = { "", "weight", "below the line" };
    const char *align = sure ? (b != NULL ? "lrrrr" : "lrr") : b != NULL ? "lrr" : "lr";
    cli_table *table = cli_table_new(align, sure ? with : without);
    for (size_t i = 0; a != NULL && i < shown; i++) {
        char *name = cli_coordinate_name(mel_metric_layout(o->metric), o->space->class_name, i);
        cli_table_cell(table, "%s", name);
        add_number(table, o->metric, i, a[i]);
        if (b != NULL)
            add_number(table, o->metric, n + 1 + i, b[i]);
        free(name);
    }
    cli_table_print(table);
    const size_t all = mel_metric_coefficients(o->metric);
    if (b == NULL && all > shown)
        cli_print("  and %zu further coefficients, in the metric file\n", all - shown);
    else if (n > shown)
        cli_print("  and %zu further rows, in the metric file\n", n - shown);
    cli_print("\n");
}

static mel_status print_best(const cli_outcome *o, mel_error *err)
{
    mel_classifier *best = NULL;
    const mel_status status = cli_classifier_best(&best, o->space, o->metric, err);
    if (status != MEL_OK)
        return status;
    const mel_classifier_parts got = mel_classifier_get(best);
    char *point = cli_vector_text(mel_space_size(o->space->space), got.statistics);
    char *text = cli_format("%s, value %.6g; melicit apply writes the classifier", point, got.value);
    cli_outcome_row("best", text);
    free(text);
    free(point);
    mel_classifier_free(best);
    return MEL_OK;
}

/* How much differences between groups count; lambda is a fair metric's last coefficient. */
static void print_lambda(const cli_outcome *o)
{
    double low = NAN, high = NAN;
    if (!mel_family_about(mel_metric_family(o->metric))->groups)
        return;
    char *text = cli_format("%.3f (0: only mistakes count, 1: only differences between groups)",
                            mel_metric_lambda(o->metric));
    if (mel_metric_interval(o->metric, mel_metric_coefficients(o->metric) - 1, &low, &high)) {
        const bool search = o->options->strategy == MEL_STRATEGY_SEARCH; /* knows no probabilities */
        char *longer =
            cli_format("%s, %s %.3f and %.3f", text, search ? "between" : "95% between", low, high);
        free(text);
        text = longer;
    }
    cli_outcome_row("lambda", text);
    free(text);
}

/* What the tolerance is about. */
static const char *what_is_known(const cli_outcome *o)
{
    const bool fair = mel_family_about(mel_metric_family(o->metric))->groups;
    if (mel_metric_denominator(o->metric, NULL) != NULL)
        return "level lines";
    return fair && o->options->strategy != MEL_STRATEGY_SEARCH
               ? "every coefficient of (1 - lambda) a and lambda b"
               : "every coefficient";
}

mel_status cli_classes_text(const cli_outcome *o, mel_error *err)
{
    print_weights(o);
    print_lambda(o);
    if (isfinite(o->summary->radius)) {
        char *text = cli_format("%s to +-%.3f%s", what_is_known(o), o->summary->radius,
                                mel_metric_denominator(o->metric, NULL) != NULL ? " radians" : "");
        cli_outcome_row("known", text);
        free(text);
    }
    if (o->space->ball != NULL) {
        char *text = cli_format("radius %.4g around the uniform classifier", mel_ball_radius(o->space->ball));
        cli_outcome_row("ball", text);
        free(text);
    }
    return has_best(o) ? print_best(o, err) : MEL_OK;
}
