/* What the metric leads to: the best rule and what it does to 1,000 people, and the well-known metrics that
 * come closest. */
#include "classify/shared.h"
#include "elicit/shared.h"
#include "outcome/outcome.h"
#include "rank/rank.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PEOPLE = 1000 };
static const double least_change = 0.05; /* of people */

mel_estimate mel_outcome_out_of(double people, double share, uint64_t n_rows)
{
    const double z = 1.959964, z2 = z * z, n = (double)n_rows, s = fmax(share, 0.0);
    mel_estimate out = { people * s, NAN, NAN };
    if (n_rows == 0)
        return out;
    const double middle = (s + z2 / (2.0 * n)) / (1.0 + z2 / n);
    const double half = z / (1.0 + z2 / n) * sqrt(fmax(s * (1.0 - s), 0.0) / n + z2 / (4.0 * n * n));
    out.low = people * fmax(middle - half, 0.0);
    out.high = people * (middle + half);
    return out;
}

/* --- two classes -------------------------------------------------------------------------------- */

const char *mel_outcome_so_many(mel_digits n, const char *one, const char *many)
{
    return strcmp(n.text, "1") == 0 ? one : many;
}

/* "3.1 missed cancer cases and 10 false alarms" */
static const char *put_effect(mel_outcome_work *w, const mel_decision *d)
{
    const mel_digits missed = mel_digits_people(d->missed.value),
                     alarms = mel_digits_people(d->false_alarms.value);
    return mel_outcome_format(w, "%s %s and %s %s", missed.text,
                              mel_outcome_so_many(missed, w->out.missed, w->out.missed_plural), alarms.text,
                              mel_outcome_so_many(alarms, w->out.false_alarm, w->out.false_alarms));
}

/* "5 fewer missed cancer cases": nobody sees less than a twentieth of a person. */
static const char *put_change(mel_outcome_work *w, double change, const char *one, const char *many)
{
    const mel_digits size = mel_digits_people(fabs(change));
    if (fabs(change) < least_change)
        return mel_outcome_format(w, "as many %s", many);
    return mel_outcome_format(w, "%s %s %s", size.text, change < 0.0 ? "fewer" : "more",
                              mel_outcome_so_many(size, one, many));
}

static void compare_decisions(mel_outcome_work *w)
{
    const mel_decision *best = &w->out.decisions[0], *accurate = &w->out.decisions[1];
    const double missed = best->missed.value - accurate->missed.value,
                 alarms = best->false_alarms.value - accurate->false_alarms.value;
    if (w->status == MEL_OK && (fabs(missed) >= least_change || fabs(alarms) >= least_change))
        w->out.change =
            mel_outcome_format(w, "%s and %s", put_change(w, missed, w->out.missed, w->out.missed_plural),
                               put_change(w, alarms, w->out.false_alarm, w->out.false_alarms));
}

mel_status mel_outcome_direction(double m[2], const mel_metric *metric, mel_point at, mel_error *err)
{
    const double sign = mel_metric_orientation(metric) == MEL_COST ? -1.0 : 1.0;
    TRY(mel_metric_gradient(m, metric, (const double[]){ at.tp, at.tn }, err));
    m[0] *= sign;
    m[1] *= sign;
    return MEL_OK;
}

/* The metric's posterior, where the session has one. */
typedef struct {
    mel_certainty_options opt;
    mel_status status;
} posterior;

static void find_draws(posterior *out, mel_outcome_work *w)
{
    *out = (posterior){ .status = MEL_OK };
    mel_certainty_options_init(&out->opt);
    if (w->session == NULL || mel_outcome_is_search(&w->out) || w->out.rows == 0)
        return;
    out->status = mel_outcome_draws(w);
    out->opt.n_metrics = w->n_draws;
    out->opt.metrics = w->draw;
}

/* How sure the value of a rule is that was measured on rows. A draw may be no metric: then nothing is said.
 */
static void find_interval(mel_outcome_work *w, mel_decision *d, const mel_face *face, const posterior *drawn)
{
    const double rows = (double)w->out.rows, positives = mel_face_positives(face),
                 negatives = mel_face_negatives(face), scale = rows / (positives + negatives);
    const double counts[] = { scale * d->point.tn, scale * fmax(negatives - d->point.tn, 0.0),
                              scale * fmax(positives - d->point.tp, 0.0), scale * d->point.tp };
    mel_certainty found = { 0 };
    mel_measure *measure = NULL;
    mel_status status = drawn->status;
    if (w->out.rows == 0 || isnan(d->value))
        return;
    if (status == MEL_OK)
        status = mel_measure_metric(&measure, w->metric, 2, 0, w->err);
    if (status == MEL_OK)
        status = mel_certainty_of(&found, measure, counts, &drawn->opt, w->err);
    if (status == MEL_OK) {
        d->value_low = found.both.low;
        d->value_high = found.both.high;
    } else if (status == MEL_ENOMEM) {
        (void)mel_outcome_good(w, status);
    }
    mel_measure_free(measure);
}

static void add_decision(mel_outcome_work *w, const char *name, const mel_classifier *classifier,
                         const posterior *drawn)
{
    const mel_face *face = w->out.domain->face;
    const mel_classifier_parts got = mel_classifier_get(classifier);
    const double people = mel_face_positives(face) + mel_face_negatives(face);
    char *words = NULL;
    if (w->status != MEL_OK || !mel_outcome_good(w, mel_classifier_words(&words, classifier, 0, w->err)))
        return;
    mel_decision *d = &w->out.decisions[w->out.n_decisions++];
    *d = (mel_decision){
        .name = name,
        .words = mel_outcome_format(w, "%s", words),
        .rule = got.mixture->rule[0],
        .point = { got.statistics[0], got.statistics[1] },
        .value = NAN,
        .value_low = NAN,
        .value_high = NAN,
    };
    free(words);
    d->missed = mel_outcome_out_of(PEOPLE, (mel_face_positives(face) - d->point.tp) / people, w->out.rows);
    d->false_alarms =
        mel_outcome_out_of(PEOPLE, (mel_face_negatives(face) - d->point.tn) / people, w->out.rows);
    d->weighs = mel_outcome_weigh(w, round(d->missed.value), round(d->false_alarms.value)); /* as settings */
    d->effect = put_effect(w, d);
    (void)mel_metric_value(&d->value, w->metric, got.statistics, NULL);
    find_interval(w, d, face, drawn);
}

mel_status mel_outcome_name_classifier(mel_outcome_work *w, mel_classifier *classifier)
{
    const mel_session_options *opt = w->out.options;
    const mel_classifier_source source = { .class_name = opt->class_names, .group_name = opt->group_names };
    return mel_classifier_set_source(classifier, &source, w->err);
}

static void decide_two_classes(mel_outcome_work *w)
{
    mel_metric *accuracy = NULL;
    mel_classifier *accurate = NULL;
    mel_status status =
        mel_metric_named(&accuracy, "accuracy", mel_face_positives(w->out.domain->face), NULL, w->err);
    if (status == MEL_OK)
        status = mel_classifier_best(&accurate, w->out.domain, accuracy, w->err);
    if (status == MEL_OK)
        status = mel_outcome_name_classifier(w, accurate);
    if (mel_outcome_good(w, status)) {
        posterior drawn;
        find_draws(&drawn, w);
        add_decision(w, "best for this metric", w->best, &drawn);
        add_decision(w, "best for accuracy", accurate, &drawn);
        compare_decisions(w);
    }
    mel_classifier_free(accurate);
    mel_metric_free(accuracy);
}

static void find_closest(mel_outcome_work *w)
{
    mel_neighbour near[MEL_OUTCOME_CLOSEST];
    size_t n = 0;
    if (w->status != MEL_OK ||
        !mel_outcome_good(
            w, mel_closest_metrics(near, MEL_OUTCOME_CLOSEST, &n, w->metric, w->out.domain->face, w->err)))
        return;
    for (size_t i = 0; i < n; i++)
        w->out.closest[i] = (mel_closest){
            .name = mel_outcome_format(w, "%s", near[i].name),
            .agreement = near[i].agreement,
            .percent = mel_outcome_format(w, "%s", mel_digits_percent(near[i].agreement).text),
        };
    w->out.n_closest = n;
}

/* --- several classes ---------------------------------------------------------------------------- */

/* Shares of each class that are recognised, by the best and by the most accurate classifier. */
static void find_recognised(mel_outcome_work *w)
{
    const mel_layout *layout = mel_metric_layout(w->metric);
    const mel_space *space = w->out.domain->space;
    const size_t k = layout->n_classes;
    const double *share = mel_space_class_share(space), *best = mel_classifier_get(w->best).statistics;
    double *point = mel_outcome_room(w, 2 * k, sizeof *point);
    w->recognised = mel_outcome_room(w, k, sizeof *w->recognised);
    for (size_t i = 0; i < k && w->status == MEL_OK; i++)
        point[k + i] = layout->kind == MEL_RATES ? share[i] : 1.0;
    if (w->status == MEL_OK)
        (void)mel_outcome_good(w, mel_space_linear(point, space, point + k, w->err));
    for (size_t i = 0; i < k && w->status == MEL_OK; i++) {
        const double whole = layout->kind == MEL_RATES ? 1.0 : share[i];
        w->recognised[i] =
            (mel_recognised){ best[i] / whole, point[i] / whole, best[i] / whole - point[i] / whole };
    }
    w->out.recognised = w->recognised;
    free(point);
}

void mel_outcome_find_decisions(mel_outcome_work *w)
{
    if (w->status != MEL_OK || w->out.domain->ball != NULL || w->out.domain->pool != NULL ||
        !mel_classifier_has_best(mel_metric_family(w->metric)))
        return;
    mel_status status = mel_classifier_best(&w->best, w->out.domain, w->metric, w->err);
    if (status == MEL_OK)
        status = mel_outcome_name_classifier(w, w->best);
    if (!mel_outcome_good(w, status))
        return;
    const mel_layout *layout = mel_metric_layout(w->metric);
    w->out.best = w->best;
    if (w->out.domain->face != NULL) {
        decide_two_classes(w);
        find_closest(w);
    } else if (layout->coordinates == MEL_DIAGONAL && layout->n_groups < 2 && w->out.n_weights > 0) {
        find_recognised(w);
    }
}
