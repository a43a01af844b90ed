#include "outcome.h"
#include "classifier.h"
#include "melicit/rank.h"
#include "output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NEIGHBOURS = 3 };

/* The metric in words. A search ends with an interval, but knows no probabilities: it is left out. */
static mel_status say(char **words, const cli_outcome *o, mel_error *err)
{
    if (o->options->strategy != MEL_STRATEGY_SEARCH)
        return mel_metric_words(words, o->metric, err);
    if (o->summary->end == MEL_END_RANGE) {
        char *found = NULL;
        const mel_status said = mel_metric_words(&found, o->metric, err);
        *words = said != MEL_OK
                     ? NULL
                     : cli_format("%s That is where the range of the search ends, not where the answers do.",
                                  found);
        free(found);
        return said;
    }
    mel_metric *plain = NULL;
    mel_status status = mel_metric_copy(&plain, o->metric, err);
    if (status == MEL_OK)
        status = mel_metric_set_intervals(plain, NULL, NULL, err);
    if (status == MEL_OK)
        status = mel_metric_words(words, plain, err);
    mel_metric_free(plain);
    return status;
}

/* --- for programs ------------------------------------------------------------------------------- */

static const char *const ends[] = {
    "not yet", "tolerance", "budget", "noise", "exhausted", "decided", "range"
}; /* as mel_end */

static mel_status put_metric(json_t *result, const mel_metric *metric, mel_error *err)
{
    char *text = NULL;
    const mel_status status = mel_metric_to_json(&text, metric, err);
    if (status != MEL_OK)
        return status;
    cli_put(result, "metric", cli_json_made(text));
    return MEL_OK;
}

static void put_best(json_t *result, const mel_classifier *best)
{
    json_t *file = cli_classifier_json(best), *object = json_copy(json_object_get(file, "statistics"));
    cli_put(object, "value", json_incref(json_object_get(file, "value")));
    cli_put(object, "rules", json_incref(json_object_get(file, "rules")));
    cli_put(result, "best", object);
    json_decref(file);
}

static void put_summary(json_t *result, const mel_summary *s)
{
    cli_put(result, "radius", cli_json_number(s->radius));
    cli_put(result, "end", cli_json_text(ends[s->end]));
    if (isfinite(s->angle)) {
        json_t *angle = json_array();
        cli_push(angle, cli_json_number(s->angle_low));
        cli_push(angle, cli_json_number(s->angle_high));
        cli_put(result, "angle", cli_json_number(s->angle));
        cli_put(result, "angle_interval", angle);
    }
    if (isfinite(s->error_rate))
        cli_put(result, "error_rate", cli_json_number(s->error_rate));
    cli_put(result, "repeats", cli_json_count(s->repeats));
    cli_put(result, "repeats_agreed", cli_json_count(s->repeats_agreed));
    cli_put(result, "disagreements", cli_json_count(s->disagreements));
    cli_put(result, "skipped", cli_json_count(s->skipped));
    if (isfinite(s->consistency)) {
        cli_put(result, "consistency", cli_json_number(s->consistency));
        cli_put(result, "consistency_label", cli_json_text(cli_consistency_label(s)));
    }
    if (s->finding != MEL_FINDING_NONE) {
        cli_put(result, "finding", cli_json_text(mel_finding_name(s->finding)));
        cli_put(result, "finding_text", cli_json_text(mel_finding_text(s->finding)));
    }
    if (s->end == MEL_END_RANGE)
        cli_put(result, "at_end", json_true());
    if (s->further > 0)
        cli_put(result, "further_questions", cli_json_count(s->further));
    static const char *const signs[] = { NULL, "open", "upheld", "contradicted",
                                         "dropped" }; /* as mel_sign_check */
    if (signs[s->signs] != NULL)
        cli_put(result, "signs", cli_json_text(signs[s->signs]));
}

/* Two classes: the best threshold, and the well-known metrics that come close. */
static mel_status planar_json(json_t *result, const cli_outcome *o, mel_error *err)
{
    mel_neighbour near[NEIGHBOURS];
    size_t n_near = 0;
    mel_classifier *best = NULL;
    mel_status status = mel_closest_metrics(near, NEIGHBOURS, &n_near, o->metric, o->space->face, err);
    if (status == MEL_OK)
        status = cli_classifier_best(&best, o->space, o->metric, err);
    if (status != MEL_OK)
        return status;
    put_best(result, best);
    mel_classifier_free(best);
    json_t *array = json_array();
    for (size_t i = 0; i < n_near; i++) {
        json_t *one = json_object();
        cli_put(one, "name", cli_json_text(near[i].name));
        cli_put(one, "agreement", cli_json_number(near[i].agreement));
        cli_push(array, one);
    }
    cli_put(result, "closest", array);
    return MEL_OK;
}

mel_status cli_outcome_json(json_t *result, const cli_outcome *o, mel_error *err)
{
    char *words = NULL;
    mel_status status = say(&words, o, err);
    if (status == MEL_OK) {
        cli_put(result, "status", cli_json_text(o->stopped ? "stopped" : "done"));
        cli_put(result, "questions", cli_json_count(o->summary->questions));
        status = put_metric(result, o->metric, err);
    }
    if (status == MEL_OK) {
        put_summary(result, o->summary);
        cli_put(result, "seconds", cli_json_number(o->seconds));
        cli_put(result, "words", cli_json_text(words));
        status = o->space->face != NULL ? planar_json(result, o, err) : cli_classes_json(result, o, err);
    }
    if (status == MEL_OK)
        status = cli_ratios_json(result, o, err);
    free(words);
    return status;
}

/* --- for people --------------------------------------------------------------------------------- */

void cli_outcome_row(const char *name, const char *text)
{
    cli_print("  %-12s", name);
    cli_wrap(stdout, text, 14, 14, cli_width(stdout));
}

static char *coefficients(const mel_metric *metric)
{
    double p0 = 0.0, q0 = 0.0;
    const double *p = mel_metric_numerator(metric, &p0), *q = mel_metric_denominator(metric, &q0);
    if (q == NULL)
        return cli_format("%.3f TP %c %.3f TN", p[0], p[1] < 0.0 ? '-' : '+', fabs(p[1]));
    return cli_format("(%.3f TP %c %.3f TN) / (%.3f TP %c %.3f TN %c %.3f)", p[0], p[1] < 0.0 ? '-' : '+',
                      fabs(p[1]), q[0], q[1] < 0.0 ? '-' : '+', fabs(q[1]), q0 < 0.0 ? '-' : '+', fabs(q0));
}

static void print_metric(const cli_outcome *o)
{
    char *text = coefficients(o->metric);
    char *line =
        isfinite(o->summary->radius)
            ? cli_format("%s, %s to +-%.3f", text,
                         mel_metric_denominator(o->metric, NULL) == NULL ? "each known" : "level lines known",
                         o->summary->radius)
            : cli_format("%s", text);
    cli_outcome_row("metric", line);
    free(line);
    free(text);
}

const char *cli_consistency_label(const mel_summary *s)
{
    if (s->consistency < 0.05)
        return "inconsistent";
    if (isfinite(s->evidence) && fabs(s->evidence) < 1.0)
        return "undecided";
    return s->consistency >= 0.2 ? "consistent" : "doubtful";
}

/* What the label rests on; freed by the caller. */
static char *consistency_reason(const cli_outcome *o)
{
    const mel_summary *s = o->summary;
    const bool flips = isfinite(s->evidence), bad = s->consistency < 0.05;
    if (flips && !bad && fabs(s->evidence) < 1.0)
        return cli_format("%s",
                          s->repeats_agreed < s->repeats
                              ? "; there is not enough to tell whether they are consistent: tossed coins "
                                "explain them about as well"
                              : "; too few questions came back to rule out chance");
    const char *than = !flips              ? (bad ? "more than was allowed for" : NULL)
                       : s->evidence > 0.0 ? "it explains them better than tossed coins"
                                           : "tossed coins explain them better";
    const char *prior = flips && o->options->prior != NULL
                            ? "the answers may speak against the prior rather than each other, "
                            : "";
    char *why = bad ? cli_format(": another family of metrics may suit better, %sor the questions were not "
                                 "answered with care",
                                 prior)
                    : cli_format("%s", "");
    char *text = cli_format("%s%s (p = %.2g)%s", than != NULL ? "; " : "", than != NULL ? than : "",
                            s->consistency, why);
    free(why);
    return text;
}

/* How consistent the answers are: said in any case, and plainly when they do not. */
static void print_consistency(const cli_outcome *o)
{
    const mel_summary *s = o->summary;
    if (s->skipped > 0) {
        char *text = cli_format("%u of %u questions (can't say)", s->skipped, s->questions);
        cli_outcome_row("put aside", text);
        free(text);
    }
    if (!isfinite(s->consistency) || s->questions == 0)
        return;
    char *reason = consistency_reason(o);
    char *text = cli_format("%s: the metric contradicts %u of %u answers%s", cli_consistency_label(s),
                            s->disagreements, s->questions - s->skipped, reason);
    cli_outcome_row("consistency", text);
    free(text);
    free(reason);
}

/* What came of the signs or the direction that were declared, where the answers pressed against them. */
static void print_signs(const cli_outcome *o)
{
    const bool listed = o->options->signs != NULL;
    const char *what = listed ? "signs" : "direction";
    char *text = NULL;
    if (o->summary->signs == MEL_SIGNS_CONTRADICTED)
        text = cli_format("the answers contradict the %s declared (--%s), which %s", what, what,
                          o->space->face != NULL ? "was turned round"
                          : listed               ? "were dropped"
                                                 : "was dropped");
    else if (o->summary->signs == MEL_SIGNS_UPHELD)
        text = cli_format(
            "some weights came out as nearly nothing; a question about just these upheld the %s declared",
            what);
    else if (o->summary->signs == MEL_SIGNS_DROPPED)
        text = cli_format("some weights came out as nearly nothing; a question about just these was answered "
                          "against the %s declared (--%s), so the result does without; which way they count "
                          "is not known",
                          what, what);
    else if (o->summary->signs == MEL_SIGNS_PRESSED)
        text =
            cli_format("some weights came out as nearly nothing; if they count the other way than declared, "
                       "the result is wrong: --direction unknown (or --signs with ?) would tell");
    if (text != NULL)
        cli_outcome_row(what, text);
    free(text);
}

/* Which weights a search that ended at an end of its range left nothing of. */
static void print_nothing_left(const cli_outcome *o)
{
    const double *weight = mel_metric_numerator(o->metric, NULL);
    const mel_layout *layout = mel_metric_layout(o->metric);
    char *list = cli_format("%s", "");
    for (size_t i = 0; weight != NULL && i < mel_layout_size(layout); i++) {
        if (fabs(weight[i]) > o->options->tolerance)
            continue;
        char *name = cli_coordinate_name(layout, o->space->class_name, i);
        char *longer = cli_format("%s%s%s", list, list[0] == '\0' ? "" : ", ", name);
        free(name);
        free(list);
        list = longer;
    }
    if (list[0] != '\0')
        cli_outcome_row("at the end", list);
    free(list);
}

static void print_questions(const cli_outcome *o)
{
    static const char *const why[] = { "not finished",
                                       "as precise as asked for",
                                       "the most allowed",
                                       "the noise of the answers, not their number, limits the precision",
                                       "no further pair could tell more",
                                       "the decision it was for can no longer change",
                                       "ended at an end of its range" };
    const mel_summary *s = o->summary;
    char *text = cli_format("%u (%s; %s)", s->questions, mel_strategy_name(o->options->strategy),
                            o->stopped ? "left before the end" : why[s->end]);
    cli_outcome_row("questions", text);
    free(text);
    if (s->finding != MEL_FINDING_NONE)
        cli_outcome_row("found", mel_finding_text(s->finding));
    if (s->end == MEL_END_RANGE)
        print_nothing_left(o);
    print_signs(o);
    print_consistency(o);
    if (isfinite(s->error_rate) && s->questions > 0) {
        text = s->repeats > 0 ? cli_format("%u of %u questions that came back got the same answer; about "
                                           "%.0f%% of the answers are wrong",
                                           s->repeats_agreed, s->repeats, 100.0 * s->error_rate)
                              : cli_format("about %.0f%% of the answers are wrong", 100.0 * s->error_rate);
        cli_outcome_row("errors", text);
        free(text);
    }
}

static void print_best(const cli_outcome *o, const mel_classifier *best)
{
    const double *achieved = mel_classifier_get(best).statistics;
    const double missed = 1000.0 * (mel_face_positives(o->space->face) - achieved[0]);
    const double alarms = 1000.0 * (mel_face_negatives(o->space->face) - achieved[1]);
    char *what = cli_classifier_words(best, 0);
    char *text = cli_format("%s: misses %.1f of 1,000, raises %.1f false alarms", what, missed, alarms);
    cli_outcome_row("best", text);
    free(text);
    free(what);
}

static void print_closest(size_t n, const mel_neighbour *near)
{
    char *text = cli_format("%s", "");
    for (size_t i = 0; i < n; i++) {
        char *longer = cli_format("%s%s%s (orders %.1f%% of pairs alike)", text, i == 0 ? "" : ", ",
                                  near[i].name, 100.0 * near[i].agreement);
        free(text);
        text = longer;
    }
    if (n > 0)
        cli_outcome_row("closest", text);
    free(text);
}

static void print_files(const cli_outcome *o)
{
    if (o->metric_path != NULL)
        cli_outcome_row("metric file", o->metric_path);
    if (o->report_path != NULL)
        cli_outcome_row("report", o->report_path);
    if (o->stopped && o->session_path != NULL) {
        char *text = cli_format("melicit elicit --session %s", o->session_path);
        cli_outcome_row("go on with", text);
        free(text);
    }
}

static mel_status planar_text(const cli_outcome *o, mel_error *err)
{
    mel_neighbour near[NEIGHBOURS];
    size_t n_near = 0;
    mel_classifier *best = NULL;
    mel_status status = mel_closest_metrics(near, NEIGHBOURS, &n_near, o->metric, o->space->face, err);
    if (status == MEL_OK)
        status = cli_classifier_best(&best, o->space, o->metric, err);
    if (status != MEL_OK)
        return status;
    print_metric(o);
    print_questions(o);
    print_best(o, best);
    print_closest(n_near, near);
    mel_classifier_free(best);
    return MEL_OK;
}

mel_status cli_outcome_text(const cli_outcome *o, mel_error *err)
{
    char *words = NULL;
    mel_status status = say(&words, o, err);
    if (status == MEL_OK) {
        cli_print("\n");
        cli_heading("Result");
        cli_wrap(stdout, words, 0, 0, cli_width(stdout));
        cli_print("\n");
    }
    if (status == MEL_OK && o->space->face != NULL) {
        status = planar_text(o, err);
    } else if (status == MEL_OK) {
        status = cli_classes_text(o, err);
        print_questions(o);
    }
    if (status == MEL_OK)
        status = cli_ratios_text(o, err);
    if (status == MEL_OK)
        print_files(o);
    free(words);
    return status;
}
