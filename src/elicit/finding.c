/* Degenerate metrics among those that the active strategy finds. The searches recognise them by places
 * without a slope; here the metric itself tells, once it is known as well as was asked for: a part that is
 * smaller than the tolerance is indistinguishable from none. */
#include "elicit/session.h"
#include "elicit/shared.h"

#include "base/la.h"
#include "metric/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The trade-off is at an end of [0, 1] when its interval begins within one of these and ends within the
 * other, in units of the tolerance for each weight on the side that is nil. Weights below zero are ruled out
 * from the start: what is known of a nil one is an interval from 0 to about the tolerance, and the interval
 * of the sum of several begins above 0. */
static const double begins_within = 0.4, ends_within = 1.25;

typedef struct {
    const mel_metric *metric;
    double tolerance;
    size_t n, q;              /* coefficients, numbers in a group's statistics */
    double *low, *high;       /* n: intervals, to be widened */
    double *value;            /* n: coefficients, to be changed */
    double *slope, *gradient; /* q: at the centre, of unit length; elsewhere */
    double *place;            /* q */
} look;

/* As far as the sign is known, which answers or the family may tell, up to this size. */
static void widen(const look *l, size_t from, size_t to, double most)
{
    for (size_t i = from; i < to; i++) {
        l->low[i] = l->low[i] < 0.0 ? fmin(l->low[i], -most) : 0.0;
        l->high[i] = l->high[i] > 0.0 ? fmax(l->high[i], most) : 0.0;
    }
}

/* --- fair ---------------------------------------------------------------------------------------- */

static mel_finding look_at_trade_off(const look *l)
{
    const size_t last = l->n - 1;
    const bool quadratic = mel_metric_degree(l->metric) == 2;
    const double mistakes = l->tolerance * (double)l->q;
    const double differences = mistakes * (double)mel_group_pairs(mel_metric_layout(l->metric)->n_groups);
    /* Half of the norms of B makes one: the same error of a is twice as much of the trade-off. */
    const double share = quadratic ? 2.0 : 1.0;
    if (l->low[last] <= begins_within * differences && l->high[last] <= ends_within * differences) {
        l->low[last] = l->value[last] = 0.0;
        widen(l, l->q, last, quadratic ? 2.0 : 1.0);
        return MEL_FINDING_NO_DIFFERENCES;
    }
    if (1.0 - l->high[last] <= share * begins_within * mistakes &&
        1.0 - l->low[last] <= share * ends_within * mistakes) {
        widen(l, 0, l->q, 1.0);
        l->high[last] = l->value[last] = 1.0;
        return MEL_FINDING_NO_MISTAKES;
    }
    return MEL_FINDING_NONE;
}

/* --- curved -------------------------------------------------------------------------------------- */

/* How far the gradient turns across the ball, per unit of way, in the coefficients' unit: curvature along the
 * slope only says how fast the value grows, which no preference tells. */
static mel_status find_turn(double *out, const look *l, const mel_ball *ball, double size, mel_error *err)
{
    const double radius = mel_ball_radius(ball);
    *out = 0.0;
    for (size_t j = 0; j < 2 * l->q; j++) {
        memcpy(l->place, mel_ball_centre(ball), l->q * sizeof *l->place);
        l->place[j / 2] += j % 2 == 0 ? radius : -radius;
        const mel_status status = mel_metric_gradient(l->gradient, l->metric, l->place, err);
        if (status != MEL_OK)
            return status;
        mel_axpy(l->q, -mel_dot(l->q, l->slope, l->gradient), l->slope, l->gradient);
        *out = fmax(*out, mel_norm2(l->q, l->gradient) / (radius * size));
    }
    return MEL_OK;
}

static mel_status look_at_curve(mel_finding *out, const look *l, const mel_ball *ball, mel_error *err)
{
    const double size = mel_norm2(l->n, mel_metric_coefficient(l->metric));
    mel_status status = mel_metric_gradient(l->slope, l->metric, mel_ball_centre(ball), err);
    const double length = status == MEL_OK ? mel_norm2(l->q, l->slope) : 0.0;
    if (status != MEL_OK || !(size > 0.0))
        return status;
    if (length <= l->tolerance * size) {
        *out = MEL_FINDING_FLAT_CENTRE;
        return MEL_OK;
    }
    mel_scale(l->q, 1.0 / length, l->slope);
    double turn = INFINITY;
    status = find_turn(&turn, l, ball, size, err);
    if (status != MEL_OK || turn > l->tolerance)
        return status;
    /* The value is any growing function of its linear part. */
    *out = MEL_FINDING_NO_CURVATURE;
    for (size_t i = 0; i < l->n; i++) {
        const double most =
            i < l->q ? fmax(fabs(l->slope[i]), fabs(mel_metric_coefficient(l->metric)[i])) : 1.0;
        l->low[i] = -most;
        l->high[i] = most;
    }
    return MEL_OK;
}

/* --- both ---------------------------------------------------------------------------------------- */

static mel_status judge(mel_finding *out, look *l, mel_metric *metric, const mel_session *session,
                        mel_error *err)
{
    memcpy(l->value, mel_metric_coefficient(metric), l->n * sizeof *l->value);
    for (size_t i = 0; i < l->n; i++)
        if (!mel_metric_interval(metric, i, &l->low[i], &l->high[i]))
            return MEL_OK;
    mel_status status = MEL_OK;
    if (mel_family_about(mel_metric_family(metric))->groups)
        *out = look_at_trade_off(l);
    else
        status = look_at_curve(out, l, session->domain.ball, err);
    if (status != MEL_OK || *out == MEL_FINDING_NONE)
        return status;
    status = mel_metric_set_coefficients(metric, l->value, err);
    return status == MEL_OK ? mel_metric_set_intervals(metric, l->low, l->high, err) : status;
}

mel_status mel_session_judge(mel_summary *summary, mel_metric *metric, const mel_session *session,
                             mel_error *err)
{
    const double tolerance = session->options.values.tolerance;
    const bool ended = summary->end == MEL_END_TOLERANCE ||
                       (summary->end == MEL_END_EXHAUSTED && summary->radius <= tolerance);
    const mel_family_facts *is = mel_family_about(mel_metric_family(metric));
    if ((!is->curved && !is->groups) || !ended || session->domain.ball == NULL)
        return MEL_OK;
    look l = {
        .metric = metric,
        .tolerance = tolerance,
        .n = mel_metric_coefficients(metric),
        .q = mel_sign_count(&session->layout),
    };
    double *room = mel_alloc(3 * l.n + 3 * l.q, sizeof *room);
    if (room == NULL)
        return mel_fail_memory(err, "what was found");
    l.low = room;
    l.high = l.low + l.n;
    l.value = l.high + l.n;
    l.slope = l.value + l.n;
    l.gradient = l.slope + l.q;
    l.place = l.gradient + l.q;
    const mel_status status = judge(&summary->finding, &l, metric, session, err);
    free(room);
    return status;
}

/* --- in words ----------------------------------------------------------------------------------- */

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const char *word(const char *const *words, size_t n, int index)
{
    return index >= 0 && (size_t)index < n ? words[index] : "?";
}

const char *mel_finding_name(mel_finding finding)
{
    static const char *const names[] = { "none",         "indifferent", "no-differences", "no-mistakes",
                                         "no-curvature", "flat-centre", "at-end" };
    return word(names, COUNT(names), (int)finding);
}

const char *mel_finding_text(mel_finding finding)
{
    static const char *const texts[] = {
        "",
        "No difference that was asked about matters to this respondent: the answers do not tell A from B.",
        "Differences between groups do not matter to this respondent: the trade-off is 0 as far as the "
        "answers tell, the weights of the groups' differences have no meaning, and a linear metric of the "
        "overall "
        "rates says the same.",
        "Only differences between groups matter to this respondent: the trade-off is 1 as far as the answers "
        "tell, and the weights of mistakes have no meaning.",
        "The metric is linear as far as the answers tell: its curvature is indistinguishable from zero, and "
        "a "
        "linear metric says the same with fewer numbers.",
        "At the uniform classifier the respondent minds no small change: only the curvature of the metric is "
        "known, not what single mistakes cost there.",
        "The search ended at an end of its range, where some weights are zero: the respondent's metric "
        "may lie beyond that end, and the error of this one is unknown. Ask again with another direction or "
        "with unknown signs.",
    };
    return word(texts, COUNT(texts), (int)finding);
}
