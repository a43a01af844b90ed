/* melicit apply: the classifier that is best for a metric, as a file. */
#include "command.h"
#include "files.h"
#include "melicit/metric.h"
#include "outcome.h"
#include "output.h"
#include "space_args.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    cli_space_args space;
    const char *metric, *point, *out;
} apply_args;

static mel_status best_for_point(cli_best *out, const mel_face *face, const char *text, mel_error *err)
{
    mel_status status = cli_parse_point(&out->point, text, err);
    if (status == MEL_OK)
        status = mel_face_achieve(&out->mixture, face, out->point, err);
    out->value = NAN;
    return status;
}

static json_t *classifier_json(const cli_space *space, const cli_best *best)
{
    const double positives = mel_face_positives(space->face), negatives = mel_face_negatives(space->face);
    json_t *object = json_object(), *classes = json_array(), *statistics = json_object();
    cli_put(object, "format", cli_json_text("melicit-classifier"));
    cli_put(object, "version", json_integer(1));
    for (size_t i = 0; i < 2; i++)
        cli_push(classes, cli_json_text(space->name[i]));
    cli_put(object, "classes", classes);
    cli_put(object, "positive", cli_json_text(space->name[1]));
    cli_put(object, "rules", cli_mixture_json(&best->mixture));
    cli_put(statistics, "tp", cli_json_number(best->point.tp));
    cli_put(statistics, "tn", cli_json_number(best->point.tn));
    cli_put(statistics, "fn", cli_json_number(positives - best->point.tp));
    cli_put(statistics, "fp", cli_json_number(negatives - best->point.tn));
    cli_put(object, "statistics", statistics);
    if (isfinite(best->value))
        cli_put(object, "value", cli_json_number(best->value));
    cli_put(object, "space", json_deep_copy(space->description));
    return object;
}

static mel_status write_json(const char *path, const json_t *object, mel_error *err)
{
    cli_out out;
    mel_status status = cli_out_open(&out, path, err);
    if (status != MEL_OK)
        return status;
    if (json_dumpf(object, out.stream, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) != 0 ||
        fputc('\n', out.stream) == EOF) {
        status = cli_out_failed(&out, err);
        cli_out_abandon(&out);
        return status;
    }
    return cli_out_commit(&out, err);
}

static void print_text(const cli_space *space, const cli_best *best, const char *path)
{
    const double positives = mel_face_positives(space->face), negatives = mel_face_negatives(space->face);
    cli_heading("The classifier");
    for (size_t i = 0; i < best->mixture.n; i++) {
        char *words = cli_rule_words(best->mixture.rule[i], space->name[1]);
        if (best->mixture.n > 1)
            cli_print("  with probability %.4g: %s\n", best->mixture.share[i], words);
        else
            cli_print("  %s\n", words);
        free(words);
    }
    cli_print("  of 1,000 it misses %.1f and raises %.1f false alarms; it finds %.1f%% and clears %.1f%%\n",
              1000.0 * (positives - best->point.tp), 1000.0 * (negatives - best->point.tn),
              100.0 * best->point.tp / positives, 100.0 * best->point.tn / negatives);
    if (isfinite(best->value))
        cli_print("  value of the metric: %.6g\n", best->value);
    if (path != NULL)
        cli_print("  classifier file: %s\n", path);
}

static mel_status check_args(const cli_run *run, const apply_args *args, mel_error *err)
{
    if ((args->metric == NULL) == (args->point == NULL))
        return cli_fail(err, MEL_EINVAL, "give one of --metric METRIC.json and --point TP,TN");
    if (args->out != NULL && strcmp(args->out, "-") == 0 && run->json)
        return cli_fail(err, MEL_EINVAL, "--out - and --json both want standard output");
    return args->out != NULL ? cli_out_check(args->out, err) : MEL_OK;
}

static mel_status run_apply(cli_run *run, const void *arguments, mel_error *err)
{
    const apply_args *args = arguments;
    cli_space space = { 0 };
    mel_metric *metric = NULL;
    cli_best best = { 0 };
    mel_status status = check_args(run, args, err);
    if (status == MEL_OK && args->metric != NULL)
        status = cli_load_binary_metric(&metric, args->metric, err);
    if (status == MEL_OK)
        status = cli_space_make(&space, &args->space, run, err);
    if (status == MEL_OK)
        status = metric != NULL ? cli_best_point(&best, space.face, metric, err)
                                : best_for_point(&best, space.face, args->point, err);
    if (status == MEL_OK) {
        json_t *classifier = classifier_json(&space, &best);
        if (args->out != NULL)
            status = write_json(args->out, classifier, err);
        if (run->json)
            cli_put(run->result, "classifier", json_incref(classifier));
        json_decref(classifier);
    }
    if (status == MEL_OK && !run->json && (args->out == NULL || strcmp(args->out, "-") != 0))
        print_text(&space, &best, args->out);
    mel_metric_free(metric);
    cli_space_clear(&space);
    return status;
}

static const cli_option own_options[] = {
    { .name = "metric",
      .argument = "METRIC.json",
      .kind = CLI_INPUT,
      .at = offsetof(apply_args, metric),
      .help = "the metric to be best for" },
    { .name = "point",
      .argument = "TP,TN",
      .kind = CLI_TEXT,
      .at = offsetof(apply_args, point),
      .help = "instead of a metric: the classifier that achieves this point" },
    { .name = "out",
      .argument = "CLASSIFIER.json",
      .kind = CLI_OUTPUT,
      .at = offsetof(apply_args, out),
      .help = "store the classifier; \"-\" prints it" },
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
    { 0 },
};
static const apply_args defaults = { .space = CLI_SPACE_DEFAULTS };

const cli_command cli_apply = {
    .name = "apply",
    .summary = "the classifier that is best for a metric, by thresholding probabilities",
    .description =
        "Finds the threshold (for some metrics and points a coin toss between thresholds) on the model's "
        "probabilities that is best for a metric on the data at hand, and stores it as a small JSON file.",
    .groups = groups,
    .examples = examples,
    .args_size = sizeof(apply_args),
    .defaults = &defaults,
    .run = run_apply,
};
