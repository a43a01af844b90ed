/* What answers about an exchange rate tell (exchange.c): how precise it is, the interval that is reported,
 * whether the rate moved on the way, and how many more questions that may take. */
#include "elicit/active/exchange_parts.h"

#include "metric/shared.h"

#include <math.h>

enum { LEAST_ANSWERS = 8, HALVINGS = 30, DRAWS = 2000, LEAST_FOR_DRIFT = 10 };
/* How far a rate is taken to move by those who change their mind on the way, natural logarithm. */
static const double tried_drift[] = { -1.2, 1.2, -2.4, 2.4 };
/* Logarithm of a Bayes factor of 20. Of people who only become more careful 1 to 4% seem to move then (8 to
 * 9% from 1.5 on), of those who move by a factor of 20, and err, three in four. */
static const double convincing = 3.0;
/* Evidence against tossed coins that a rate which moves must have: those of 2% seem to move then. */
static const double against_coins = 2.5;
/* How much wider the interval of somebody who errs more may be; share of the posterior beyond either end. */
static const double much_wider = 1.75, usual_outside = 0.025;
/* Of a bound that is the only one: nothing else makes up for one that is too bold. */
static const double outside_one_sided = 0.005;
/* An interval that was widened as far as allowed may be wider by this. */
static const double rounding = 1e-9;
static const double half_pi = 1.57079632679489661923;

typedef mel_exchange_engine engine;

const mel_levels *mel_exchange_levels(const engine *e)
{
    return &e->level[e->imagined];
}

bool mel_exchange_askable(const engine *e, double *low, double *high)
{
    const mel_levels *l = mel_exchange_levels(e);
    if (l->n == 0)
        return false;
    *low = l->level[0].rate;
    *high = l->level[l->n - 1].rate;
    return true;
}

/* --- how precise it is -------------------------------------------------------------------------- */

/* How much wider an interval is than asked for; 1: just narrow enough. */
static double width_of(const engine *e, double low, double high)
{
    const mel_session_options *opt = &e->base.opt;
    return opt->tolerance_factor > 0.0 ? (high - low) / log(opt->tolerance_factor)
                                       : 0.5 * (atan(exp(-low)) - atan(exp(-high))) / opt->tolerance;
}

double mel_exchange_known_width(const engine *e)
{
    double low = 0.0, high = 0.0;
    mel_exchange_interval(&e->exchange, &low, &high);
    return width_of(e, low, high);
}

/* However consistent answers are, the interval of somebody who errs more must not be much wider. */
static double excess_of(const engine *e)
{
    double low = 0.0, high = 0.0;
    mel_exchange_cautious(&e->exchange, usual_outside, &low, &high);
    return fmax(mel_exchange_known_width(e), width_of(e, low, high) / much_wider);
}

bool mel_exchange_is_beyond(const engine *e)
{
    double low = 0.0, high = 0.0, first = 0.0, last = 0.0;
    mel_exchange_cautious(&e->exchange, outside_one_sided, &low, &high);
    return e->exchange.n >= LEAST_ANSWERS && mel_exchange_askable(e, &first, &last) &&
           (low > last || high < first);
}

/* --- results ------------------------------------------------------------------------------------ */

/* The farthest rate that was accepted (more true positives preferred), or the lowest that was refused. */
static double last_step(const engine *e, bool accepted)
{
    double farthest = accepted ? -INFINITY : INFINITY;
    for (size_t i = 0; i < e->exchange.n; i++) {
        const mel_trade t = e->exchange.trade[i];
        const bool first = e->exchange.answer[i] == MEL_TRADE_FIRST;
        if (!(t.tp > 0.0 && t.tn > 0.0) || first != accepted || e->exchange.answer[i] == MEL_TRADE_SAME)
            continue;
        const double rate = log(t.tn / t.tp);
        farthest = accepted ? fmax(farthest, rate) : fmin(farthest, rate);
    }
    return farthest;
}

/* Noise at the balance, of the latest trade. Where one rate explains all answers nothing shows any, and the
 * posterior's would be the prior's. */
static double variation(const engine *e)
{
    if (last_step(e, true) < last_step(e, false))
        return NAN;
    for (size_t i = e->exchange.n; i-- > 0;)
        if (e->exchange.trade[i].tp > 0.0 && e->exchange.trade[i].tn > 0.0)
            return mel_exchange_variation(&e->exchange, e->exchange.trade[i]);
    return NAN;
}

/* Which way the rate moved on the way, if the answers say so much rather than that it stayed. */
static mel_status find_drift(engine *e, mel_error *err)
{
    double most = convincing;
    int drift = 0;
    if (e->drift_after == e->exchange.n)
        return MEL_OK;
    for (size_t i = 0; i < sizeof tried_drift / sizeof *tried_drift && e->exchange.n >= LEAST_FOR_DRIFT;
         i++) {
        double evidence = 0.0;
        const mel_status status = mel_exchange_drift(&evidence, &e->exchange, tried_drift[i], err);
        if (status != MEL_OK)
            return status;
        if (evidence > most)
            drift = tried_drift[i] > 0.0 ? 1 : -1;
        most = fmax(most, evidence);
    }
    e->drift = e->exchange.evidence + most < against_coins ? 0 : drift;
    e->drift_after = e->exchange.n;
    return MEL_OK;
}

/* No more is claimed than was asked for: an interval that is narrower reaches for that of somebody who errs
 * more, as far as the tolerance allows. */
static void widen(const engine *e, double *low, double *high)
{
    double lower = 0.0, higher = 0.0, share = 0.0, step = 1.0;
    mel_exchange_cautious(&e->exchange, usual_outside, &lower, &higher);
    const double below = fmin(0.0, lower - *low), above = fmax(0.0, higher - *high);
    for (int i = 0; i < HALVINGS; i++, step *= 0.5) {
        const double more = share + step;
        if (more <= 1.0 && width_of(e, *low + more * below, *high + more * above) <= 1.0)
            share = more;
    }
    *low += share * below;
    *high += share * above;
}

/* The interval that is reported: without a bound on a side on which no question can find one. The other bound
 * then is no farther out than what was answered. */
static void report_interval(const engine *e, double middle, double *low, double *high)
{
    double first = -INFINITY, last = INFINITY, lower = 0.0, higher = 0.0;
    mel_exchange_interval(&e->exchange, low, high);
    widen(e, low, high);
    mel_exchange_cautious(&e->exchange, outside_one_sided, &lower, &higher);
    if (!mel_exchange_askable(e, &first, &last))
        return;
    if (middle > last) {
        *high = INFINITY;
        *low = fmin(lower, last_step(e, true));
    } else if (middle < first) {
        *low = -INFINITY;
        *high = fmax(higher, last_step(e, false));
    }
}

/* Of somebody beyond what can be asked about, the interval that is reported is another one. */
bool mel_exchange_is_precise(const mel_active *base)
{
    const engine *e = (const engine *)base;
    double low = 0.0, high = 0.0;
    if (e->exchange.n < LEAST_ANSWERS || excess_of(e) > 1.0)
        return false;
    report_interval(e, mel_exchange_quantile(&e->exchange, 0.5), &low, &high);
    return width_of(e, low, high) <= 1.0 + rounding;
}

static double angle_of(const engine *e, double rate)
{
    const double angle = rate == INFINITY ? 0.0 : rate == -INFINITY ? half_pi : atan(exp(-rate));
    return e->turned ? angle + 2.0 * half_pi : angle;
}

mel_status mel_exchange_find_result(mel_engine *base, mel_metric **metric, mel_summary *summary,
                                    mel_error *err)
{
    engine *e = (engine *)base;
    const double middle = mel_exchange_quantile(&e->exchange, 0.5);
    double low = 0.0, high = 0.0, first = -INFINITY, last = INFINITY;
    report_interval(e, middle, &low, &high);
    (void)mel_exchange_askable(e, &first, &last);
    summary->evidence = e->exchange.evidence;
    summary->ratio = exp(middle);
    summary->ratio_low = exp(low);
    summary->ratio_high = exp(high);
    summary->askable_low = exp(first);
    summary->askable_high = exp(last);
    summary->imagined = e->imagined && e->real_first;
    summary->variation = variation(e);
    const mel_status status = find_drift(e, err);
    if (status != MEL_OK)
        return status;
    summary->drift = e->drift;
    return mel_linear_result(metric, summary, &e->base.opt, angle_of(e, middle), angle_of(e, high),
                             angle_of(e, low), err);
}

/* Of the angle, whose tangent is 1/r: the cells lie the other way round. */
mel_status mel_exchange_find_posterior(mel_engine *base, size_t n, double *angle, double *density,
                                       mel_error *err)
{
    const engine *e = (const engine *)base;
    if (n < 2)
        return mel_fail(err, MEL_EINVAL, "a density needs at least two angles, not %zu", n);
    const double margin = 1e-4, pad = 0.15;
    const double low = angle_of(e, mel_exchange_quantile(&e->exchange, 1.0 - margin)),
                 high = angle_of(e, mel_exchange_quantile(&e->exchange, margin));
    const double least = angle_of(e, INFINITY), most = angle_of(e, -INFINITY);
    const double first = fmax(least, low - pad * (high - low)), last = fmin(most, high + pad * (high - low));
    for (size_t i = 0; i < n; i++) {
        angle[i] = first + (last - first) * (double)i / (double)(n - 1);
        const double t = angle[i] - least, rate = -log(tan(t));
        const double cell = (rate - mel_exchange_cell(0)) / mel_exchange_width() + 0.5;
        const bool inside = cell >= 0.0 && cell < MEL_EXCHANGE_CELLS;
        density[i] = inside ? e->exchange.mass[(size_t)cell] / mel_exchange_width() / (sin(t) * cos(t)) : 0.0;
    }
    return MEL_OK;
}

/* At evenly spaced quantiles. */
mel_status mel_exchange_find_draws(mel_engine *base, size_t *n, size_t *n_coefficients, double **values,
                                   mel_error *err)
{
    const engine *e = (const engine *)base;
    double *draw = mel_alloc(DRAWS, 2 * sizeof *draw);
    if (draw == NULL)
        return mel_fail_memory(err, "draws of the posterior");
    for (size_t i = 0; i < DRAWS; i++) {
        const double angle = angle_of(e, mel_exchange_quantile(&e->exchange, ((double)i + 0.5) / DRAWS));
        draw[2 * i] = cos(angle);
        draw[2 * i + 1] = sin(angle);
    }
    *n = DRAWS;
    *n_coefficients = 2;
    *values = draw;
    return MEL_OK;
}

/* By how many bits the next answers narrow the interval. Those of somebody who errs also tell how much, which
 * narrows it as well: by a quarter bit each until it is as narrow as asked for, or less where the next one
 * hardly tells anything. */
static double narrowing_of(const engine *e)
{
    static const double usual = 0.26, most_told = 3.0, least = 0.05;
    const bool errs = mel_assumed(&e->base.opt.assume)->errs != MEL_ERRS_NEVER;
    const double told = e->information > 0.0 ? e->information : usual;
    return fmax(least, errs ? fmin(usual, most_told * told) : fmin(1.0, told));
}

uint32_t mel_exchange_find_expected(mel_engine *base)
{
    const engine *e = (const engine *)base;
    const double excess = excess_of(e);
    const double least = e->exchange.n < LEAST_ANSWERS ? (double)(LEAST_ANSWERS - e->exchange.n) : 0.0;
    const double left = excess > 1.0 ? ceil(log2(excess) / narrowing_of(e)) : 0.0;
    return (uint32_t)fmin(fmax(left, least), 1e6);
}
