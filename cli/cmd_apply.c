/* melicit apply: the classifier that is best for a metric, as a file. */
#include "files.h"
#include "output.h"
#include "pictures.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    mel_problem *space;
    mel_metric *metric;
    cli_asked asked;
    mel_classifier *classifier;
    cli_applied_rule rule; /* instead of all these, where rows and options ask for more */
    bool by_rule;
} applied;

static void applied_clear(applied *a)
{
    mel_metric_free(a->metric);
    cli_asked_clear(&a->asked);
    mel_classifier_free(a->classifier);
    mel_problem_free(a->space);
    cli_applied_rule_clear(&a->rule);
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

/* On the face or space of the problem: points, populations, smoothed faces. */
static mel_status find_on_space(applied *a, const cli_apply_args *args, cli_run *run, mel_error *err)
{
    mel_problem_want want = a->metric != NULL
                                ? mel_want_of_layout(mel_metric_layout(a->metric), "such")
                                : cli_want_of_points(args->coordinates, a->asked.n_point, &args->space);
    const bool trades_two = a->metric != NULL && mel_metric_trades_two(a->metric);
    want.planar = want.planar || trades_two;
    mel_problem_options space = args->space;
    if (a->metric != NULL)
        cli_follow_metric(&space.dataset.naming, a->metric);
    TRY(cli_space_make(&a->space, &space, &want, run, err));
    if (a->space->face == NULL && a->space->space == NULL)
        return cli_fail(err, MEL_EINVAL,
                        "--ball: there are no probabilities that a classifier could be built on");
    const cli_about about = cli_space_about(a->space, run);
    if (a->metric != NULL) { /* costs stay costs */
        const mel_layout own = *mel_metric_layout(a->metric);
        TRY(cli_match_metric(&a->metric, args->metric,
                             trades_two && a->space->face != NULL ? &own : mel_problem_layout(a->space),
                             &about, err));
    }
    return a->metric != NULL ? cli_classifier_best(&a->classifier, a->space, a->metric, err)
                             : find_at_point(a, err);
}

/* Points and faces without steps are about the labels. */
static void settle_evidence(cli_apply_args *args, cli_run *run)
{
    const bool rows = (mel_problem_inputs(&args->space) & MEL_OF_ROWS) != 0,
               calibrated = args->space.evidence == MEL_EVIDENCE_CALIBRATED;
    if (!calibrated || (rows && args->point == NULL && !args->space.smooth))
        return;
    args->space.evidence = MEL_BY_LABELS;
    if (rows)
        cli_note(run, "%s: measured on the labels, without calibration",
                 args->point != NULL ? "--point" : "--thesis smooth");
}

static mel_status find(applied *a, const cli_apply_args *given, cli_run *run, mel_error *err)
{
    cli_apply_args args = *given;
    const bool rows = (mel_problem_inputs(&args.space) & MEL_OF_ROWS) != 0;
    settle_evidence(&args, run);
    a->asked.delta = args.delta;
    if (args.metric != NULL)
        TRY(cli_load_metric(&a->metric, args.metric, err));
    else if (args.point != NULL)
        TRY(cli_asked_parse(&a->asked, args.point, NULL, err));
    if (args.metrics.n > 0 && !rows)
        return cli_fail(err, MEL_EINVAL, "--metrics needs rows: --data, or --probs with --labels");
    if (args.named != NULL && !rows)
        return cli_fail(err, MEL_EINVAL, "--named needs rows: --data, or --probs with --labels");
    a->by_rule = rows && args.point == NULL &&
                 (!args.space.smooth || cli_apply_asks_more(&args) ||
                  !mel_classifier_has_best(mel_metric_family(a->metric)));
    return a->by_rule ? cli_apply_rule(&a->rule, &args, &a->metric, run, err)
                      : find_on_space(a, &args, run, err);
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
        cli_print("  a mixture of %zu classifiers, each of which predicts the class with the largest "
                  "expected gain under a matrix of gains\n",
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

static mel_status check_args(const cli_run *run, const cli_apply_args *args, mel_error *err)
{
    const bool people = args->metrics.n > 0;
    if ((args->metric != NULL) + (args->named != NULL) + (args->point != NULL) + people != 1)
        return cli_fail(err, MEL_EINVAL, "give one of --metric METRIC.json, --named NAME and --point A,B,..");
    if (people != args->compromise || (run->n_operands > 0 && !people))
        return cli_fail(err, MEL_EINVAL, "--metrics A.json B.json .. and --compromise go together");
    if (people && args->metrics.n + run->n_operands < 2)
        return cli_fail(err, MEL_EINVAL, "--compromise: expected the metrics of two people or more");
    if (people && (!isnan(args->confidence) || !isnan(args->reject) || args->rule == CLI_RULE_AVERAGE ||
                   args->folds > 0 || args->row_costs.n > 0 || args->plot != NULL))
        return cli_fail(
            err, MEL_EINVAL,
            "--compromise takes no --confidence, --reject, --rule average, --folds, --row-cost and --plot");
    if (args->space.radius_method != 0)
        return cli_fail(err, MEL_EINVAL, "--thesis radius-method: no ball is needed here");
    if (args->out != NULL && strcmp(args->out, "-") == 0 && run->json)
        return cli_fail(err, MEL_EINVAL, "--out - and --json both need standard output");
    TRY(args->out != NULL ? cli_out_check(args->out, err) : MEL_OK);
    if (args->plot != NULL)
        TRY(cli_out_check(args->plot, err));
    return MEL_OK;
}

/* All pictures where the metric is of two classes and nothing else is asked for. */
static mel_status plot(const applied *a, const cli_apply_args *args, mel_error *err)
{
    cli_apply_args plain = *args;
    plain.space.evidence = MEL_BY_LABELS;
    if (!a->by_rule)
        return cli_apply_plot(args->plot, a->space, a->metric, a->classifier, err);
    const mel_layout *layout = a->rule.metric != NULL ? mel_metric_layout(a->rule.metric) : NULL;
    const bool planar = layout != NULL && layout->kind == MEL_CONFUSION &&
                        layout->coordinates == MEL_BINARY && layout->n_groups < 2;
    return (planar || (layout != NULL && mel_metric_trades_two(a->rule.metric))) &&
                   !cli_apply_asks_more(&plain)
               ? cli_apply_plot_rule(args->plot, &a->rule, err)
               : cli_apply_roc(args->plot, &a->rule, err);
}

static mel_status run_apply(cli_run *run, const void *arguments, mel_error *err)
{
    const cli_apply_args *args = arguments;
    MEL_AUTO_CLEAR(applied) a = { 0 };
    TRY(check_args(run, args, err));
    TRY(find(&a, args, run, err));
    const mel_classifier *found = a.by_rule ? a.rule.classifier : a.classifier;
    if (args->out != NULL)
        TRY(cli_store_classifier(args->out, found, err));
    if (args->plot != NULL)
        TRY(plot(&a, args, err));
    if (run->json) {
        if (a.by_rule)
            cli_apply_rule_json(run->result, &a.rule);
        else if (a.space != NULL)
            cli_put_positive(run->result, a.space->n_classes, a.space->class_name);
        cli_put(run->result, "classifier", cli_classifier_json(found));
    }
    if (!run->json && (args->out == NULL || strcmp(args->out, "-") != 0)) {
        if (a.by_rule)
            cli_apply_rule_print(&a.rule, args->out);
        else if (a.space != NULL)
            print_text(&a, args->out);
    }
    return MEL_OK;
}

/* As mel_rule_form, and CLI_RULE_AVERAGE. */
static const char *const rule_forms[] = { "best", "threshold", "mixture", "average", NULL };
static const char *const group_uses[] = { "auto", "yes", "no", NULL };

static const cli_option own_options[] = {
    CLI_COMMON(cli_apply_args, "metric", INPUT, metric, .argument = "METRIC.json",
               .help = "the metric to be best for"),
    CLI_COMMON(cli_apply_args, "named", TEXT, named, .reads = MEL_OF_ROWS, .argument = "NAME",
               .help = "instead of a metric: a well-known measure, such as g-mean, macro-f1, min-recall, "
                       "q-mean, mcc, balanced-accuracy, f2; of all rows together, with groups "
                       "g-mean:every-group, equalised-odds, f1:group-min, ... as well (docs/metric-file.md)"),
    CLI_ROW(cli_apply_args, "metrics", LIST, metrics, .reads = MEL_OF_ROWS, .argument = "METRIC.json ..",
            .help = "instead of a metric: those of several people, weighted sums"),
    CLI_ROW(cli_apply_args, "compromise", FLAG, compromise, .reads = MEL_OF_ROWS,
            .help = "with --metrics: the rule with which the person who loses most loses least. What "
                    "somebody loses is 0 with the best rule for them and 1 where everybody is decided alike; "
                    "a mixture, unless --rule threshold"),
    CLI_COMMON(
        cli_apply_args, "rule", CHOICE, rule, .reads = MEL_OF_ROWS, .choices = rule_forms,
        .help =
            "best: one threshold or one matrix of gains (for each group), unless only a mixture meets the "
            "limits; threshold: never a mixture; mixture: the optimum, which may toss a coin between rules "
            "(with ids of rows `melicit predict --ids` decides the same about a row each time); average (two "
            "classes): instead of the best threshold for these rows and this metric, the mean of those that "
            "the rows and the metric's intervals make likely, without limits and --reject"),
    CLI_ROW(cli_apply_args, "use-group", CHOICE, use_group, .reads = MEL_OF_ROWS, .choices = group_uses,
            .help = "whether decisions may look at the group of a row: yes has a rule for each group, no has "
                    "one rule for all (by default yes where groups count)"),
    CLI_COMMON(cli_apply_args, "at-most", LIST, at_most, .reads = MEL_OF_ROWS, .argument = "LIMIT",
               .help = "a limit that the rule must keep: flagged=10%, share[CLASS]=0.2, equalised-odds=0.05, "
                       "equal-opportunity=0.05, demographic-parity=0.1; with --reject also referred=10%"),
    CLI_COMMON(cli_apply_args, "at-least", LIST, at_least, .reads = MEL_OF_ROWS, .argument = "LIMIT",
               .help = "the same from below: recall[CLASS]=0.95, recall[CLASS][GROUP]=0.9, "
                       "precision[CLASS]=0.5, accuracy=0.8"),
    CLI_ROW(cli_apply_args, "class-prior", TEXT, class_prior, .reads = MEL_OF_ROWS,
            .argument = "CLASS=SHARE,..",
            .help = "shares of the classes where the rule will be used, if not those of the rows; others "
                    "keep their proportions"),
    CLI_ROW(cli_apply_args, "class-prior-from", INPUT, class_prior_from, .reads = MEL_OF_ROWS,
            .argument = "PROBS",
            .help = "the same, estimated from the model's probabilities of unlabelled rows, two ways; a "
                    "warning where the two disagree"),
    CLI_ROW(cli_apply_args, "reject", NUMBER, reject, .reads = MEL_OF_ROWS, .argument = "COST", .high = 1000,
            .help = "a further decision, refer: hand the case to somebody else at this cost, in units of the "
                    "cheapest mistake; for metrics that are weighted sums"),
    CLI_ROW(cli_apply_args, "row-cost", LIST, row_costs, .reads = MEL_OF_ROWS, .argument = "[CLASS=]COLUMN",
            .help = "a column (of --data, or of the --labels file) that says how many times as much "
                    "decisions about the row count, for rows of one class or of any: the amount of a "
                    "payment, say; recalls stay those of rows, and limits are refused"),
    CLI_ROW(cli_apply_args, "folds", WHOLE, folds, .reads = MEL_OF_ROWS, .argument = "N", .low = 2,
            .high = 1000,
            .help = "cross-validation: what the rule is worth on other rows, by rules that are found on N - "
                    "1 parts of the rows and measured on the last"),
    CLI_COMMON(cli_apply_args, "confidence", NUMBER, confidence, .reads = MEL_OF_ROWS, .argument = "P",
               .low = 0.5, .high = 0.9999,
               .help = "a rule whose limits hold on new rows from the same source with this confidence "
                       "(0.95): a third of the rows (with --folds N one part of N) chooses nothing and "
                       "certifies them; where no rule can be certified, how many rows would do"),
    CLI_ROW(cli_apply_args, "point", TEXT, point, .argument = "A,B,..",
            .help = "instead of a metric: the classifier that achieves this point, TP,TN or one number per "
                    "coordinate"),
    CLI_ROW(cli_apply_args, "coordinates", CHOICE, coordinates, .under = "thesis", .reads = CLI_OF_POINT,
            .choices = cli_coordinate_choices, .help = "what the point is, as in melicit space"),
    CLI_ROW(cli_apply_args, "delta", NUMBER, delta, .under = "thesis", .reads = CLI_OF_POINT, .argument = "X",
            .high = 1, .above_low = true,
            .help = "more than two classes: how near to the point is near enough"),
    CLI_COMMON(cli_apply_args, "out", OUTPUT, out, .argument = "CLASSIFIER.json",
               .help = "store the classifier; \"-\" prints it"),
    CLI_ROW(cli_apply_args, "plot", OUTPUT, plot, .argument = "FILE.svg",
            .help = "two classes: draw what can be achieved with lines of equal cost, the rule on the ROC "
                    "curve, net benefit and cost curve with the exchange rate and its interval, by the "
                    "labels; with a measure's name, groups, limits or other options, the ROC curve of every "
                    "group and where its rule operates"),
    { 0 }
};
static const cli_group groups[] = {
    { "Classifier", own_options, 0 },
    { "Space", cli_space_options, offsetof(cli_apply_args, space) },
    { "Reading files", cli_reading_options, offsetof(cli_apply_args, space.dataset.reading) },
    { 0 },
};
static const cli_example examples[] = {
    { "the threshold for a doctor to whom one missed cancer is as bad as seven false alarms",
      "melicit apply --metric doctor.json --data mammographic_mass --classes benign,malignant --out "
      "classifier.json" },
    { "the best threshold for the geometric mean of both recalls, and at most two fifths of the rows called "
      "malignant",
      "melicit apply --named g-mean --at-most flagged=40% --data mammographic_mass --classes "
      "benign,malignant" },
    { "at least 90% of the malignant found on new rows, too, with 95% confidence",
      "melicit apply --metric doctor.json --at-least recall[malignant]=0.9 --confidence 0.95 --data "
      "mammographic_mass --classes benign,malignant" },
    { "two people who disagree", "melicit metric --cost missed=20,false-alarm=1 --classes benign,malignant "
                                 "--out careful.json && melicit apply --compromise --data mammographic_mass "
                                 "--classes benign,malignant --metrics doctor.json careful.json" },
    { "a classifier for a point of the space",
      "melicit apply --population logistic:a=5,b=0 --point 0.3,0.3 --out -" },
    { "the same for three classes, by what each right decision is worth",
      "melicit apply --metric diagonal.json --population softmax:1,3,5 --out gains.json" },
    { 0 },
};
static const cli_apply_args defaults = { .space = { .struct_size = sizeof(mel_problem_options),
                                                    .dataset = { .label = "label", .test_share = 0.5 },
                                                    .l2 = 1,
                                                    .seed = 1,
                                                    .evidence = MEL_EVIDENCE_CALIBRATED },
                                         .delta = 1e-6,
                                         .reject = NAN,
                                         .confidence = NAN };

static unsigned inputs(const void *arguments)
{
    const cli_apply_args *given = arguments;
    const unsigned space = mel_problem_inputs(&given->space);
    return space != 0 && given->point != NULL ? space | CLI_OF_POINT : space;
}

const cli_command cli_apply = {
    .name = "apply",
    .bare = "data",
    .list = "metrics",
    .operands = "[METRIC.json ...]",
    .max_operands = 1000,
    .summary = "find the classifier that is best for a metric, from probabilities",
    .description =
        "Finds the rule on the model's probabilities that is best for a metric of any family, or for a "
        "measure by its name, and stores it as a small JSON file: a threshold for two classes, a matrix of "
        "gains for more (it predicts the class with the largest expected gain), one for each group where "
        "groups count. Limits hold as the probabilities expect; the output counts them by the labels, too, "
        "and says what each of them costs. With --confidence they hold on new rows from the same source. "
        "`melicit predict --classifier` applies the file.\n\n"
        "Probabilities are calibrated on the labelled rows first, which the model must not have seen in "
        "training, each group on its own where groups count, and then trusted; a warning says where the "
        "labels differ from that by more than chance allows. --evidence labels measures on the labels "
        "themselves.",
    .groups = groups,
    .examples = examples,
    .args_size = sizeof(cli_apply_args),
    .defaults = &defaults,
    .inputs = inputs,
    .run = run_apply,
    .ranks = true,
};
