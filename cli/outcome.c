#include "outcome.h"
#include "files.h"
#include "output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NEIGHBOURS = 3, PAIRS = 2000 };

mel_status cli_load_binary_metric(mel_metric **out, const char *given, mel_error *err)
{
    char *path = NULL;
    mel_status status = cli_find_data(&path, given, err);
    if (status == MEL_OK)
        status = mel_metric_load(out, path, err);
    free(path);
    if (status != MEL_OK)
        return status;
    const mel_layout *layout = mel_metric_layout(*out);
    if (layout->coordinates == MEL_BINARY && layout->kind == MEL_CONFUSION)
        return MEL_OK;
    return cli_fail(err, MEL_EDATA,
                    "%s: the metric is about %s %s; metrics of binary confusion entries are wanted here",
                    given, mel_coordinates_name(layout->coordinates), mel_kind_name(layout->kind));
}

/* --- the best point ----------------------------------------------------------------------------- */

/* Linear metrics have a direction; linear-fractional ones are quasi-concave and best at a vertex. */
static mel_status best_vertex(mel_point *out, const mel_face *face, const mel_metric *metric, mel_error *err)
{
    const size_t n = mel_face_vertices(face);
    const double sign = mel_metric_orientation(metric) == MEL_COST ? -1.0 : 1.0;
    double top = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        const mel_point point = mel_face_vertex(face, i);
        const double statistics[2] = { point.tp, point.tn };
        double value = 0.0;
        if (mel_metric_value(&value, metric, statistics, NULL) != MEL_OK || !(sign * value > top))
            continue;
        top = sign * value;
        *out = point;
    }
    return isfinite(top) ? MEL_OK
                         : cli_fail(err, MEL_ENUMERIC, "the metric has no value at any vertex of the space");
}

mel_status cli_best_point(cli_best *out, const mel_face *face, const mel_metric *metric, mel_error *err)
{
    mel_status status = MEL_OK;
    if (mel_metric_denominator(metric, NULL) == NULL) {
        const double sign = mel_metric_orientation(metric) == MEL_COST ? -1.0 : 1.0;
        const double *a = mel_metric_numerator(metric, NULL);
        mel_rule rule;
        status = mel_face_support_rule(&rule, face, sign * a[0], sign * a[1], err);
        out->mixture = (mel_mixture){ .n = 1, .rule = { rule }, .share = { 1.0 } };
        if (status == MEL_OK)
            out->point = mel_face_rule(face, rule);
    } else {
        status = best_vertex(&out->point, face, metric, err);
        if (status == MEL_OK)
            status = mel_face_achieve(&out->mixture, face, out->point, err);
    }
    const double statistics[2] = { out->point.tp, out->point.tn };
    return status == MEL_OK ? mel_metric_value(&out->value, metric, statistics, err) : status;
}

json_t *cli_point_json(mel_point point)
{
    json_t *array = json_array();
    cli_push(array, cli_json_number(point.tp));
    cli_push(array, cli_json_number(point.tn));
    return array;
}

char *cli_rule_words(mel_rule rule, const char *positive)
{
    if (isfinite(rule.threshold))
        return cli_format("predict %s when its probability is %s %.6g", positive,
                          rule.inverted ? "below" : "at least", rule.threshold);
    return cli_format("%s predict %s", (rule.threshold < 0.0) != rule.inverted ? "always" : "never",
                      positive);
}

json_t *cli_mixture_json(const mel_mixture *mixture)
{
    json_t *rules = json_array();
    for (size_t i = 0; i < mixture->n; i++) {
        json_t *rule = json_object();
        const double threshold = mixture->rule[i].threshold;
        /* Scores are probabilities here: -1 is below and 2 above all of them. */
        cli_put(rule, "threshold",
                cli_json_number(isfinite(threshold) ? threshold
                                : threshold < 0.0   ? -1.0
                                                    : 2.0));
        cli_put(rule, "inverted", json_boolean(mixture->rule[i].inverted));
        cli_put(rule, "share", cli_json_number(mixture->share[i]));
        cli_push(rules, rule);
    }
    return rules;
}

/* --- neighbours --------------------------------------------------------------------------------- */

static mel_status find_neighbours(mel_neighbour near[NEIGHBOURS], size_t *n, const cli_outcome *o,
                                  mel_error *err)
{
    double *a = cli_alloc_zero(PAIRS, 2 * sizeof *a), *b = cli_alloc_zero(PAIRS, 2 * sizeof *b);
    mel_rng rng;
    mel_rng_seed(&rng, 1);
    for (size_t i = 0; i < PAIRS; i++) {
        const mel_point first = mel_face_random(o->space->face, &rng),
                        second = mel_face_random(o->space->face, &rng);
        a[2 * i] = first.tp;
        a[2 * i + 1] = first.tn;
        b[2 * i] = second.tp;
        b[2 * i + 1] = second.tn;
    }
    const mel_status status = mel_metric_neighbours(near, NEIGHBOURS, n, o->metric,
                                                    mel_face_positives(o->space->face), PAIRS, a, b, err);
    free(a);
    free(b);
    return status;
}

/* The metric in words. A search ends with an interval, but knows no probabilities: it is left out. */
static mel_status say(char **words, const cli_outcome *o, mel_error *err)
{
    if (o->options->strategy != MEL_STRATEGY_SEARCH)
        return mel_metric_words(words, o->metric, err);
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

static const char *const ends[] = { "not yet", "tolerance", "budget", "noise", "exhausted" }; /* as mel_end */

static mel_status put_metric(json_t *result, const mel_metric *metric, mel_error *err)
{
    char *text = NULL;
    const mel_status status = mel_metric_to_json(&text, metric, err);
    if (status != MEL_OK)
        return status;
    cli_put(result, "metric", json_loads(text, 0, NULL));
    free(text);
    return MEL_OK;
}

static void put_best(json_t *result, const cli_outcome *o, const cli_best *best)
{
    json_t *object = json_object();
    cli_put(object, "tp", cli_json_number(best->point.tp));
    cli_put(object, "tn", cli_json_number(best->point.tn));
    cli_put(object, "fn", cli_json_number(mel_face_positives(o->space->face) - best->point.tp));
    cli_put(object, "fp", cli_json_number(mel_face_negatives(o->space->face) - best->point.tn));
    cli_put(object, "value", cli_json_number(best->value));
    cli_put(object, "rules", cli_mixture_json(&best->mixture));
    cli_put(result, "best", object);
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
}

mel_status cli_outcome_json(json_t *result, const cli_outcome *o, mel_error *err)
{
    mel_neighbour near[NEIGHBOURS];
    size_t n_near = 0;
    cli_best best = { 0 };
    char *words = NULL;
    mel_status status = say(&words, o, err);
    if (status == MEL_OK)
        status = find_neighbours(near, &n_near, o, err);
    if (status == MEL_OK)
        status = cli_best_point(&best, o->space->face, o->metric, err);
    if (status == MEL_OK) {
        cli_put(result, "status", cli_json_text(o->stopped ? "stopped" : "done"));
        cli_put(result, "questions", cli_json_count(o->summary->questions));
        status = put_metric(result, o->metric, err);
    }
    if (status == MEL_OK) {
        put_summary(result, o->summary);
        cli_put(result, "seconds", cli_json_number(o->seconds));
        cli_put(result, "words", cli_json_text(words));
        put_best(result, o, &best);
        json_t *array = json_array();
        for (size_t i = 0; i < n_near; i++) {
            json_t *one = json_object();
            cli_put(one, "name", cli_json_text(near[i].name));
            cli_put(one, "agreement", cli_json_number(near[i].agreement));
            cli_push(array, one);
        }
        cli_put(result, "closest", array);
    }
    free(words);
    return status;
}

/* --- for people --------------------------------------------------------------------------------- */

static void print_row(const char *name, const char *text)
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
    print_row("metric", line);
    free(line);
    free(text);
}

static void print_questions(const cli_outcome *o)
{
    static const char *const why[] = { "not finished", "as precise as asked for", "the most allowed",
                                       "the noise of the answers, not their number, limits the precision",
                                       "no further pair could tell more" };
    const mel_summary *s = o->summary;
    char *text = cli_format("%u (%s; %s)", s->questions, mel_strategy_name(o->options->strategy),
                            o->stopped ? "left before the end" : why[s->end]);
    print_row("questions", text);
    free(text);
    if (isfinite(s->error_rate) && s->questions > 0) {
        text = s->repeats > 0 ? cli_format("%u of %u questions that came back got the same answer; about "
                                           "%.0f%% of the answers are wrong",
                                           s->repeats_agreed, s->repeats, 100.0 * s->error_rate)
                              : cli_format("about %.0f%% of the answers are wrong", 100.0 * s->error_rate);
        print_row("consistency", text);
        free(text);
    }
}

static void print_best(const cli_outcome *o, const cli_best *best)
{
    const double missed = 1000.0 * (mel_face_positives(o->space->face) - best->point.tp);
    const double alarms = 1000.0 * (mel_face_negatives(o->space->face) - best->point.tn);
    char *what = best->mixture.n > 1 ? cli_format("toss a coin between %zu thresholds", best->mixture.n)
                                     : cli_rule_words(best->mixture.rule[0], o->space->name[1]);
    char *text = cli_format("%s: misses %.1f of 1,000, raises %.1f false alarms", what, missed, alarms);
    print_row("best", text);
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
        print_row("closest", text);
    free(text);
}

static void print_files(const cli_outcome *o)
{
    if (o->metric_path != NULL)
        print_row("metric file", o->metric_path);
    if (o->report_path != NULL)
        print_row("report", o->report_path);
    if (o->stopped && o->session_path != NULL) {
        char *text = cli_format("melicit elicit --session %s", o->session_path);
        print_row("go on with", text);
        free(text);
    }
}

mel_status cli_outcome_text(const cli_outcome *o, mel_error *err)
{
    mel_neighbour near[NEIGHBOURS];
    size_t n_near = 0;
    cli_best best = { 0 };
    char *words = NULL;
    mel_status status = say(&words, o, err);
    if (status == MEL_OK)
        status = find_neighbours(near, &n_near, o, err);
    if (status == MEL_OK)
        status = cli_best_point(&best, o->space->face, o->metric, err);
    if (status == MEL_OK) {
        cli_print("\n");
        cli_heading("Result");
        cli_wrap(stdout, words, 0, 0, cli_width(stdout));
        cli_print("\n");
        print_metric(o);
        print_questions(o);
        print_best(o, &best);
        print_closest(n_near, near);
        print_files(o);
    }
    free(words);
    return status;
}
