/* The posterior of a limit that somebody keeps. */
#include "elicit/active/posterior/aim.h"

#include "base/fast_exp.h"

#include <math.h>
#include <string.h>

enum { LIMITS = MEL_AIM_LIMITS, SPREADS = MEL_AIM_SPREADS, LAPSES = MEL_AIM_LAPSES };
static const double lapse_of[LAPSES] = { 0.01, 0.06, 0.2 }, lapse_weight[LAPSES] = { 0.5, 0.3, 0.2 };
/* Answers err where the number is close to the limit: as a share of the range of limits. */
static const double spread_of[SPREADS] = { 0.01, 0.03, 0.1 };
/* Shares that people aim at lie above one half; differences that count first, between these of all people;
 * exchange rates, their logarithm. */
static const double least_target = 0.5, least_share = 0.001, most_share = 0.5, farthest_rate = 5.0;

static double lowest(mel_misfit_kind kind)
{
    return kind == MEL_MISFIT_NONE                                  ? -farthest_rate
           : kind == MEL_MISFIT_FOUND || kind == MEL_MISFIT_CLEARED ? least_target
                                                                    : log(least_share);
}

static double range(mel_misfit_kind kind)
{
    const double highest = kind == MEL_MISFIT_NONE                                  ? farthest_rate
                           : kind == MEL_MISFIT_FOUND || kind == MEL_MISFIT_CLEARED ? 1.0
                                                                                    : log(most_share);
    return highest - lowest(kind);
}

double mel_aim_at(const mel_aim *l, double place)
{
    return lowest(l->kind) + range(l->kind) * place / LIMITS;
}

/* The number that is compared with the limit. The first of the pair is preferred when it is above the limit,
 * or, where *below, when it is not. */
static double number_of(const mel_aim *l, mel_trade t, bool *below)
{
    *below = l->kind != MEL_MISFIT_CLEARED && l->kind != MEL_MISFIT_MISSED_FIRST;
    switch (l->kind) {
    case MEL_MISFIT_FOUND: /* the second one finds too few */
        return t.least_tp / l->positives;
    case MEL_MISFIT_CLEARED: /* the first one clears enough */
        return t.least_tn / l->negatives;
    case MEL_MISFIT_MISSED_FIRST:
        return log(fmax(t.tp, least_share));
    case MEL_MISFIT_ALARMS_FIRST:
        return log(fmax(t.tn, least_share));
    default:
        return log(fmax(t.tn, 1e-9) / fmax(t.tp, 1e-9));
    }
}

/* exp(-z) for each limit, z above 0 where the first is right. */
static void see(double *out, const mel_aim *l, size_t spread, mel_trade trade)
{
    bool below = false;
    const double number = number_of(l, trade, &below);
    const double scale = (below ? 1.0 : -1.0) / (spread_of[spread] * range(l->kind));
    for (size_t i = 0; i < LIMITS; i++)
        out[i] = mel_fast_exp(scale * (number - mel_aim_at(l, (double)i + 0.5)));
}

/* P(answer) of somebody who looks, from exp(-z). */
static double answer_probability(double e, double tie, mel_trade_answer answer)
{
    const double first = 1.0 / (1.0 + tie * e), second = e / (e + tie);
    return answer == MEL_TRADE_FIRST ? first : answer == MEL_TRADE_SECOND ? second : 1.0 - first - second;
}

static double tie_of(const mel_aim *l, size_t i)
{
    return l->n_ties > 1 ? exp(mel_tie_width[i]) : 1.0;
}

/* P(answer) with slips. */
static double with_slips(const mel_aim *l, size_t lapse, double looks)
{
    return lapse_of[lapse] / (l->n_ties > 1 ? 3.0 : 2.0) + (1.0 - lapse_of[lapse]) * looks;
}

void mel_aim_outcomes(double *first, double *second, const mel_aim *l, mel_trade trade)
{
    double e[LIMITS];
    memset(first, 0, LIMITS * sizeof *first);
    memset(second, 0, LIMITS * sizeof *second);
    for (size_t s = 0; s < SPREADS; s++) {
        see(e, l, s, trade);
        for (size_t t = 0; t < l->n_ties; t++)
            for (size_t i = 0; i < LIMITS; i++) {
                const double one = answer_probability(e[i], tie_of(l, t), MEL_TRADE_FIRST),
                             other = answer_probability(e[i], tie_of(l, t), MEL_TRADE_SECOND);
                for (size_t p = 0; p < LAPSES; p++) {
                    first[i] += l->joint[t][s][p][i] * with_slips(l, p, one);
                    second[i] += l->joint[t][s][p][i] * with_slips(l, p, other);
                }
            }
    }
}

void mel_aim_start(mel_aim *l, mel_misfit_kind kind, double positives, double negatives, size_t n_ties)
{
    *l = (mel_aim){ .kind = kind, .positives = positives, .negatives = negatives, .n_ties = n_ties };
    for (size_t i = 0; i < LIMITS; i++) {
        l->mass[i] = 1.0 / LIMITS;
        for (size_t t = 0; t < n_ties; t++)
            for (size_t s = 0; s < SPREADS; s++)
                for (size_t p = 0; p < LAPSES; p++)
                    l->joint[t][s][p][i] = lapse_weight[p] / (double)(n_ties * SPREADS * LIMITS);
    }
}

void mel_aim_hear(mel_aim *l, mel_trade trade, mel_trade_answer answer)
{
    double e[LIMITS], sum = 0.0;
    memset(l->mass, 0, sizeof l->mass);
    for (size_t s = 0; s < SPREADS; s++) {
        see(e, l, s, trade);
        for (size_t t = 0; t < l->n_ties; t++)
            for (size_t p = 0; p < LAPSES; p++)
                for (size_t i = 0; i < LIMITS; i++) {
                    l->joint[t][s][p][i] *= with_slips(l, p, answer_probability(e[i], tie_of(l, t), answer));
                    l->mass[i] += l->joint[t][s][p][i];
                }
    }
    for (size_t i = 0; i < LIMITS; i++)
        sum += l->mass[i];
    for (size_t i = 0; i < LIMITS; i++)
        l->mass[i] /= sum;
    double *joint = &l->joint[0][0][0][0];
    for (size_t i = 0; i < l->n_ties * SPREADS * LAPSES * LIMITS; i++)
        joint[i] /= sum;
    l->evidence += log(sum * (l->n_ties > 1 ? 3.0 : 2.0));
}

double mel_aim_quantile(const mel_aim *l, double q)
{
    double below = 0.0;
    size_t i = 0;
    while (i + 1 < LIMITS && below + l->mass[i] < q)
        below += l->mass[i++];
    return mel_aim_at(l, (double)i + (l->mass[i] > 0.0 ? fmin(1.0, (q - below) / l->mass[i]) : 0.5));
}
