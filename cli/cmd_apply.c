/* melicit apply: the classifier that is best for a metric, as a file. */
#include "apply_plot.h"
#include "base/layout.h"
#include "classifier.h"
#include "command.h"
#include "files.h"
#include "numbers.h"
#include "output.h"
#include "space_args.h"
#include "space_classes.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    mel_problem_options space;
    const char *metric, *point, *out, *plot;
    int coordinates;
    double delta;
} apply_args;

typedef struct {
    mel_problem *space;
    mel_metric *metric;
    cli_asked asked;
    mel_classifier *classifier;
} applied;

static void applied_clear(applied *a)
{
    mel_metric_free(a->metric);
    cli_asked_clear(&a->asked);
    mel_classifier_free(a->classifier);
    mel_problem_free(a->space);
}

static mel_status save(const void *user, const char *file, mel_error *err)
{
    return mel_classifier_save(user, file, err);
}

/* --- finding it --------------------------------------------------------------------------------- */

static mel_status find_at_point(applied *a, mel_error *err)
{
    mel_status status = cli_check_size("point", a->asked.n_point, mel_problem_layout(a->space), err);
    if (status != MEL_OK)
        return status;
    status = cli_classifier_at_point(&a->classifier, a->space, a->asked.point, a->asked.delta, err);
    if (status != MEL_EINVAL || a->space->face != NULL)
        return status;
    const mel_error why = *err;
    return cli_fail(err, status, "%s (`melicit space --point` says more)", why.text);
}

static mel_status find(applied *a, const apply_args *args, cli_run *run, mel_error *err)
{
    mel_status status = MEL_OK;
    a->asked.delta = args->delta;
    if (args->metric != NULL)
        status = cli_load_metric(&a->metric, args->metric, err);
    else
        status = cli_asked_parse(&a->asked, args->point, NULL, err);
    if (status != MEL_OK)
        return status;
    const mel_problem_want want = a->metric != NULL
                                      ? mel_want_of_layout(mel_metric_layout(a->metric), "such")
                                      : cli_want_of_points(args->coordinates, a->asked.n_point, &args->space);
    mel_problem_options space = args->space;
    if (a->metric != NULL)
        cli_follow_metric(&space.dataset.naming, a->metric);
    status = cli_space_make(&a->space, &space, &want, run, err);
    if (status == MEL_OK && a->space->face == NULL && a->space->space == NULL)
        status = cli_fail(err, MEL_EINVAL,
                          "--ball: there are no probabilities that a classifier could be "
                          "built on");
    const cli_about about = cli_space_about(a->space, run);
    if (status == MEL_OK && a->metric != NULL)
        status = cli_match_metric(&a->metric, args->metric, mel_problem_layout(a->space), &about, err);
    if (status != MEL_OK)
        return status;
    return a->metric != NULL ? cli_classifier_best(&a->classifier, a->space, a->metric, err)
                             : find_at_point(a, err);
}

/* --- saying it ---------------------------------------------------------------------------------- */

static void print_planar(const mel_problem *space, const mel_classifier *c)
{
    const double positives = mel_face_positives(space->face), negatives = mel_face_negatives(space->face);
    const mel_classifier_parts got = mel_classifier_get(c);
    for (size_t i = 0; i < got.mixture->n; i++) {
        char *words = cli_classifier_words(c, i);
        if (got.mixture->n > 1)
            cli_print("  with probability %.4g: %s\n", got.mixture->share[i], words);
        else
            cli_print("  %s\n", words);
        free(words);
    }
    cli_print("  of 1,000 it misses %.1f and raises %.1f false alarms; it finds %.1f%% and clears %.1f%%\n",
              1000.0 * (positives - got.statistics[0]), 1000.0 * (negatives - got.statistics[1]),
              100.0 * got.statistics[0] / positives, 100.0 * got.statistics[1] / negatives);
}

static void print_blend(const mel_problem *space, const mel_classifier *c)
{
    const mel_layout *layout = mel_problem_layout(space);
    const mel_classifier_parts got = mel_classifier_get(c);
    char *point = cli_vector_text(mel_layout_size(layout), got.statistics),
         *words = cli_classifier_words(c, 0);
    if (got.blend->n_rules == 1)
        cli_print("  %s\n", words);
    else
        cli_print(
            "  a mixture of %zu classifiers, each of which predicts the class with the largest expected "
            "gain under a matrix of gains\n",
            got.blend->n_rules);
    cli_print("  %s %s: %s\n", mel_coordinates_name(layout->coordinates),
              layout->kind == MEL_RATES ? "rates" : "confusion entries", point);
    free(words);
    free(point);
}

static void print_text(const applied *a, const char *path)
{
    const double value = mel_classifier_get(a->classifier).value;
    cli_heading("The classifier");
    if (a->space->face != NULL)
        print_planar(a->space, a->classifier);
    else
        print_blend(a->space, a->classifier);
    if (isfinite(value))
        cli_print("  value of the metric: %.6g\n", value);
    if (path != NULL)
        cli_print("  classifier file: %s\n", path);
}

static mel_status check_args(const cli_run *run, const apply_args *args, mel_error *err)
{
    if ((args->metric == NULL) == (args->point == NULL))
        return cli_fail(err, MEL_EINVAL, "give one of --metric METRIC.json and --point A,B,..");
    if (args->out != NULL && strcmp(args->out, "-") == 0 && run->json)
        return cli_fail(err, MEL_EINVAL, "--out - and --json both want standard output");
    mel_status status = args->out != NULL ? cli_out_check(args->out, err) : MEL_OK;
    if (status == MEL_OK && args->plot != NULL)
        status = cli_out_check(args->plot, err);
    return status;
}

static mel_status run_apply(cli_run *run, const void *arguments, mel_error *err)
{
    const apply_args *args = arguments;
    applied a = { 0 };
    mel_status status = check_args(run, args, err);
    if (status == MEL_OK)
        status = find(&a, args, run, err);
    if (status == MEL_OK && args->out != NULL)
        status = cli_store(args->out, save, a.classifier, err);
    if (status == MEL_OK && args->plot != NULL)
        status = cli_apply_plot(args->plot, a.space, a.metric, a.classifier, err);
    if (status == MEL_OK && run->json)
        cli_put(run->result, "classifier", cli_classifier_json(a.classifier));
    if (status == MEL_OK && !run->json && (args->out == NULL || strcmp(args->out, "-") != 0))
        print_text(&a, args->out);
    applied_clear(&a);
    return status;
}

static const cli_option own_options[] = {
    { .name = "metric",
      .argument = "METRIC.json",
      .kind = CLI_INPUT,
      .at = offsetof(apply_args, metric),
      .help = "the metric to be best for" },
    { .name = "point",
      .argument = "A,B,..",
      .kind = CLI_TEXT,
      .at = offsetof(apply_args, point),
      .help = "instead of a metric: the classifier that achieves this point, TP,TN or one number per "
              "coordinate" },
    { .name = "coordinates",
      .reads = CLI_OF_POINT,
      .kind = CLI_CHOICE,
      .at = offsetof(apply_args, coordinates),
      .choices = cli_coordinate_choices,
      .help = "what the point is, as in melicit space" },
    { .name = "delta",
      .reads = CLI_OF_POINT,
      .argument = "X",
      .kind = CLI_NUMBER,
      .at = offsetof(apply_args, delta),
      .high = 1,
      .above_low = true,
      .help = "more than two classes: how near to the point is near enough" },
    { .name = "out",
      .argument = "CLASSIFIER.json",
      .kind = CLI_OUTPUT,
      .at = offsetof(apply_args, out),
      .help = "store the classifier; \"-\" prints it" },
    { .name = "plot",
      .argument = "FILE.svg",
      .kind = CLI_OUTPUT,
      .at = offsetof(apply_args, plot),
      .help = "two classes: draw what can be achieved with lines of equal cost, the rule on the ROC curve, "
              "net benefit and "
              "cost curve with the exchange rate and its interval" },
    { 0 }
};
static const cli_group groups[] = {
    { "Classifier", own_options, 0 },
    { "Space", cli_space_options, offsetof(apply_args, space) },
    { "Reading files", cli_reading_options, offsetof(apply_args, space.dataset.reading) },
    { 0 },
};
static const cli_example examples[] = {
    { "the threshold for a doctor to whom one missed cancer is as bad as seven false alarms",
      "melicit apply --metric doctor.json --data breast_cancer_original --classes healthy,cancer --out "
      "classifier.json" },
    { "a classifier for a point of the space",
      "melicit apply --population logistic:a=5,b=0 --point 0.3,0.3 --out -" },
    { "the same for three classes, by what each right decision is worth",
      "melicit apply --metric diagonal.json --population softmax:1,3,5 --out gains.json" },
    { 0 },
};
static const apply_args defaults = { .space = MEL_PROBLEM_DEFAULTS, .delta = 1e-6 };

static unsigned inputs(const void *arguments)
{
    const apply_args *given = arguments;
    const unsigned space = mel_problem_inputs(&given->space);
    return space != 0 && given->point != NULL ? space | CLI_OF_POINT : space;
}

const cli_command cli_apply = {
    .name = "apply",
    .summary = "the classifier that is best for a metric, by thresholding probabilities",
    .description =
        "Finds the threshold (for a point often a coin toss between thresholds) on the model's "
        "probabilities that is best for a metric on the data at hand, and stores it as a small JSON file. "
        "With "
        "more classes the classifier is a matrix of gains (or a mixture of such): it predicts the class with "
        "the largest expected gain. `melicit predict --classifier` applies the file.",
    .groups = groups,
    .examples = examples,
    .args_size = sizeof(apply_args),
    .defaults = &defaults,
    .inputs = inputs,
    .run = run_apply,
};
