/* Active elicitation of a binary linear metric from people: the exchange rate between the two mistakes, on a
 * log scale (posterior/exchange.h), by pairs that somebody might use (ask/levels.h). A question is the pair
 * whose answer tells most about the rate or, of those that tell nearly as much, the most plausible one. The
 * session ends when the rate is known to a factor, or lies beyond what pairs of this test can ask. */
#include "elicit/active/posterior/exchange.h"
#include "elicit/active/ask/levels.h"
#include "elicit/active/ask/regret.h"
#include "elicit/active/engine.h"
#include "elicit/active/posterior/misfit.h"
#include "metric/shared.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    mel_active base;
    const mel_face *face;
    mel_exchange exchange;
    mel_levels level[2]; /* of the test at hand; of an imagined one */
    bool imagined;       /* the questions are about that one */
    bool real_first;     /* they were not from the start */
    bool checking;       /* the questions tell luck from care */
    bool turned;         /* right decisions are punished: answers are read the other way round */
    double information;  /* bits that the next question is expected to tell */
    double *work;
    mel_regret *regret; /* until the decision is settled; NULL: questions are about the rate alone */
    /* The probability that the best setting for the median rate loses too much; of those who have a rate. */
    double doubt, doubt_with_rate;
    uint32_t settled; /* answers in a row after which it was */
    /* Found after so many answers: results are asked for more often than answers come. */
    mel_misfit misfit;
    size_t misfit_after;
} mel_exchange_engine;

enum { LEAST_ANSWERS = 8, HALVINGS = 30, LEAST_FOR_MISFIT = 5 };
/* Logarithm of the Bayes factor from which on another description is told: 20 for rates that move, 30 for
 * what somebody may aim at. Of people with one rate 1 to 4% seem to move then, 1 to 3% to aim at something.
 */
static const double moves_from = 3.0, aims_from = 3.4;
/* Log prior odds of a target share against a difference that counts first: 3 to 1. */
static const double rarer = 1.1;
/* Evidence against tossed coins that a rate which moves must have: those of 2% seem to move then. */
static const double against_coins = 2.5;
/* How much wider the interval of somebody who errs more may be; share of the posterior beyond either end. */
static const double much_wider = 1.75, usual_outside = 0.025;
/* Posterior mass outside a one-sided bound: nothing else makes up for a bound that is too bold. */
static const double outside_one_sided = 0.005;
/* An interval that was widened as far as allowed may be wider by this. */
static const double rounding = 1e-9;
static const double half_pi = 1.57079632679489661923;

/* When a setting counts as settled: at most so much doubt after so many answers in a row, of so many. */
static const double most_doubt = 0.1;
static const double foreseen_variation =
    0.25; /* as in mel_summary, up to which it can be said how many more */
enum { SETTLED_ANSWERS = 2, LEAST_SETTLED = 5, LEAST_REPEATS = 2 };

typedef mel_exchange_engine engine;

/* The pairs that can be asked about, and their lowest and highest rates; false: there are none. */
static const mel_levels *exchange_levels(const engine *e)
{
    return &e->level[e->imagined];
}

static bool exchange_askable(const engine *e, double *low, double *high)
{
    const mel_levels *l = exchange_levels(e);
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

/* How much wider what is known is than asked for; 1: just narrow enough. */
static double exchange_known_width(const engine *e)
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
    return fmax(exchange_known_width(e), width_of(e, low, high) / much_wider);
}

/* Whether what is asked about cannot tell more: all of the posterior is below or above it. */
static bool exchange_is_beyond(const engine *e)
{
    double low = 0.0, high = 0.0, first = 0.0, last = 0.0;
    mel_exchange_cautious(&e->exchange, outside_one_sided, &low, &high);
    return e->exchange.n >= LEAST_ANSWERS && exchange_askable(e, &first, &last) &&
           (low > last || high < first);
}

/* Questions that must come back before a setting counts as settled: nothing else tells luck from care. */
static size_t missing_repeats(const engine *e)
{
    const size_t came_back = e->base.history.n_repeats;
    return mel_active_may_repeat(&e->base) && came_back < LEAST_REPEATS ? LEAST_REPEATS - came_back : 0;
}

/* But for these. */
static bool is_nearly_settled(const engine *e)
{
    return e->regret != NULL && e->settled >= SETTLED_ANSWERS &&
           e->exchange.n + missing_repeats(e) >= LEAST_SETTLED;
}

static bool is_settled(const engine *e)
{
    return is_nearly_settled(e) && missing_repeats(e) == 0;
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

/* The description that explains the answers best, if by so much better than an exchange rate. */
static mel_status find_misfit(engine *e, mel_error *err)
{
    const double positives = mel_face_positives(e->face), negatives = mel_face_negatives(e->face),
                 all = positives + negatives;
    double most = 0.0;
    if (e->misfit_after == e->exchange.n || e->exchange.n < LEAST_FOR_MISFIT || e->turned)
        return MEL_OK;
    e->misfit = (mel_misfit){ .kind = MEL_MISFIT_NONE };
    for (mel_misfit_kind kind = MEL_MISFIT_FOUND; kind <= MEL_MISFIT_DRIFT; kind++) {
        mel_description found;
        TRY(mel_misfit_weigh(&found, &e->exchange, kind, positives / all, negatives / all, err));
        const bool rare = kind == MEL_MISFIT_MISSED_FIRST || kind == MEL_MISFIT_ALARMS_FIRST;
        const double score = found.evidence - (rare ? rarer : 0.0);
        const double least = kind < MEL_MISFIT_LEVEL ? aims_from : moves_from;
        if (!(found.evidence > least) || !(score > most) ||
            e->exchange.evidence + found.evidence < against_coins)
            continue;
        most = score;
        e->misfit = (mel_misfit){ kind, found.value, found.low, found.high };
    }
    e->misfit_after = e->exchange.n;
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

/* Questions until the rate is known as well as asked for. */
static double questions_to_rate(const engine *e)
{
    const double excess = excess_of(e);
    const double least = e->exchange.n < LEAST_ANSWERS ? (double)(LEAST_ANSWERS - e->exchange.n) : 0.0;
    const double left = excess > 1.0 ? ceil(log2(excess) / narrowing_of(e)) : 0.0;
    return fmin(fmax(left, least), 1e6);
}

/* The interval that is reported: without a bound on a side on which no question can find one. The other bound
 * then is no farther out than what was answered. */
static void report_interval(const engine *e, double middle, double *low, double *high)
{
    double first = -INFINITY, last = INFINITY, lower = 0.0, higher = 0.0;
    mel_exchange_interval(&e->exchange, low, high);
    widen(e, low, high);
    mel_exchange_cautious(&e->exchange, outside_one_sided, &lower, &higher);
    if (!exchange_askable(e, &first, &last))
        return;
    if (middle > last) {
        *high = INFINITY;
        *low = fmin(lower, last_step(e, true));
    } else if (middle < first) {
        *low = -INFINITY;
        *high = fmax(higher, last_step(e, false));
    }
}

/* For people beyond the range that pairs can ask about, another interval is reported. */
static bool exchange_is_precise(const mel_active *base)
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

/* As in mel_engine_ops. */
static mel_status exchange_find_result(mel_engine *base, mel_metric **metric, mel_summary *summary,
                                       mel_error *err)
{
    engine *e = (engine *)base;
    const double middle = mel_exchange_quantile(&e->exchange, 0.5);
    double low = 0.0, high = 0.0, first = -INFINITY, last = INFINITY;
    report_interval(e, middle, &low, &high);
    (void)exchange_askable(e, &first, &last);
    summary->evidence = e->exchange.evidence;
    summary->ratio = exp(middle);
    summary->ratio_low = exp(low);
    summary->ratio_high = exp(high);
    summary->askable_low = exp(first);
    summary->askable_high = exp(last);
    summary->imagined = e->imagined && e->real_first;
    summary->variation = variation(e);
    summary->settled = e->regret != NULL ? 1.0 - e->doubt : NAN;
    /* For people who vary more, the forecast is off by a factor above 1.5 more often than not. */
    const bool foreseen = is_settled(e) && !(summary->variation > foreseen_variation);
    summary->questions_to_ratio = foreseen ? fmax(1.0, questions_to_rate(e)) : NAN;
    TRY(find_misfit(e, err));
    summary->misfit = e->misfit;
    return mel_linear_result(metric, summary, &e->base.opt, angle_of(e, middle), angle_of(e, high),
                             angle_of(e, low), err);
}

/* The posterior of the angle, whose tangent is 1/r: the cells are in reverse order. */
static mel_status exchange_find_posterior(mel_engine *base, size_t n, double *angle, double *density,
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

static double angle_at(const mel_active *base, double q)
{
    const engine *e = (const engine *)base;
    return angle_of(e, mel_exchange_quantile(&e->exchange, q));
}

static mel_status exchange_find_draws(mel_engine *base, size_t *n, size_t *n_coefficients, double **values,
                                      mel_error *err)
{
    return mel_active_angle_draws(n, n_coefficients, values, (const mel_active *)base, angle_at, err);
}

/* Until a setting is settled: each answer takes about so much of the doubt. */
static double questions_to_decision(const engine *e)
{
    const double taken = 0.25;
    const double at_least = (double)LEAST_SETTLED - (double)e->exchange.n;
    const double left = e->settled > 0 ? 1.0 : 2.0 + fmax(0.0, log(e->doubt / most_doubt) / taken);
    return fmax(fmax(left, at_least), (double)missing_repeats(e));
}

static uint32_t find_expected(mel_engine *base)
{
    const engine *e = (const engine *)base;
    const bool to_rate = e->regret == NULL || is_settled(e);
    return (uint32_t)ceil(to_rate ? questions_to_rate(e)
                                  : fmin(questions_to_decision(e), questions_to_rate(e)));
}

enum { MOST_TRIED = 40, RECENT = 3 };
/* Questions tell somebody who aims at a share from one with a rate, before the rate counts as known, until
 * the latter has this probability; they are worth this share of the best at least. */
static const double nearly_sure = 0.98, least_worth = 0.05;
/* Posterior mass on each side that is left out of the rates asked about, and the least reach around its
 * middle. */
static const double least_share = 0.03, least_reach = 0.2;
/* A pair that tells this share of the best is as good, if it is more plausible (but for checks). */
static const double nearly_best = 0.85;
/* From so wide an interval on, questions tell luck from care: they are chosen for somebody who errs more. */
static const double checked_from = 3.0;
/* A single answer that saves less than this share of the regret saves none. */
static const double least_saved = 1e-3;

/* --- answers ------------------------------------------------------------------------------------ */

static uint32_t count_of(const mel_levels *l, double share)
{
    return (uint32_t)llround(share * (double)l->people);
}

/* No pair is asked twice, sides swapped or not. */
static void mark_used(engine *e, const double *a, const double *b)
{
    bool swapped = false;
    (void)mel_trade_of(a, b, &swapped);
    const double *first = swapped ? b : a, *second = swapped ? a : b;
    for (size_t k = 0; k < 2; k++) {
        mel_levels *l = &e->level[k];
        for (size_t i = 0; i < l->n; i++) {
            mel_level *one = &l->level[i];
            if (one->tp[0] == count_of(l, first[0]) && one->tn[0] == count_of(l, first[1]) &&
                one->tp[1] == count_of(l, second[0]) && one->tn[1] == count_of(l, second[1]))
                one->used = true;
        }
    }
}

/* The row of a pair; a pair without a rate (one is better in both numbers) has none. */
static void row(mel_active *base, const double *a, const double *b, double *out)
{
    (void)base;
    bool swapped = false;
    const mel_trade t = mel_trade_of(a, b, &swapped);
    const double rate = t.tp > 0.0 && t.tn > 0.0 ? log(t.tn / t.tp) : 0.0;
    out[0] = cos(0.5 * rate); /* alike up to about 0.3 of the rate */
    out[1] = sin(0.5 * rate);
}

/* Whether the best setting can still change, after every answer. */
static void find_doubt(engine *e)
{
    if (e->regret == NULL)
        return;
    double with_rate[MEL_EXCHANGE_CELLS];
    const double middle = mel_exchange_quantile(&e->exchange, 0.5);
    mel_exchange_belief(&e->exchange, false, with_rate);
    e->doubt = mel_regret_doubt(e->regret, e->exchange.mass, middle);
    e->doubt_with_rate = mel_regret_doubt(e->regret, with_rate, middle);
    e->settled = e->doubt < most_doubt ? e->settled + 1 : 0;
}

static mel_status hear(mel_active *base, const mel_pair *pair, mel_answer answer, bool *apart, mel_error *err)
{
    (void)apart;
    engine *e = (engine *)base;
    bool swapped = false;
    const mel_trade trade = mel_trade_of(pair->a, pair->b, &swapped);
    const bool first = ((answer == MEL_ANSWER_A) != swapped) != e->turned;
    const mel_trade_answer said = answer == MEL_ANSWER_SAME ? MEL_TRADE_SAME
                                  : first                   ? MEL_TRADE_FIRST
                                                            : MEL_TRADE_SECOND;
    TRY(mel_exchange_tell(&e->exchange, trade, said, err));
    mark_used(e, pair->a, pair->b);
    find_doubt(e);
    if (!e->imagined && e->level[1].n > 0 && exchange_is_beyond(e)) /* where a session without it ends */
        e->imagined = true;
    base->history.evidence = e->exchange.evidence;
    return MEL_OK;
}

static void put_aside(mel_active *base, const mel_pair *pair)
{
    mark_used((engine *)base, pair->a, pair->b);
}

/* --- questions ---------------------------------------------------------------------------------- */

static mel_trade trade_of(const mel_levels *l, const mel_level *one)
{
    const double people = l->people;
    return (mel_trade){ .tp = (one->tp[0] - one->tp[1]) / people,
                        .tn = (one->tn[1] - one->tn[0]) / people,
                        .least_tp = one->tp[1] / people,
                        .least_tn = one->tn[0] / people };
}

/* For choosing which question comes back: the one that tells most, but none of the latest. */
static double predict(mel_engine *base, const double *a, const double *b)
{
    const engine *e = (const engine *)base;
    const mel_history *h = &e->base.history;
    const size_t bytes = h->size * sizeof *a;
    for (size_t i = h->n > RECENT ? h->n - RECENT : 0; i < h->n; i++) {
        const double *told = h->points + 2 * h->size * i;
        if (memcmp(told, a, bytes) == 0 && memcmp(told + h->size, b, bytes) == 0)
            return 0.5;
    }
    bool swapped = false;
    return 0.5 + 0.25 * mel_exchange_information(&e->exchange, e->work, mel_trade_of(a, b, &swapped));
}

/* Beyond the range of its questions a session ends, or goes on with an imagined test (hear). */
static mel_status prepare(mel_active *base, bool *ended, mel_error *err)
{
    (void)err;
    engine *e = (engine *)base;
    e->checking = exchange_known_width(e) <= checked_from;
    mel_exchange_prepare(&e->exchange, e->checking, e->work);
    base->repeats_next = is_nearly_settled(e) && missing_repeats(e) > 0;
    if (exchange_is_beyond(e)) {
        base->end = MEL_END_BEYOND;
        *ended = true;
    }
    return MEL_OK;
}

/* Unused pairs with rates from low to high, into list; returns how many. */
static size_t list_pairs(size_t *list, engine *e, double low, double high)
{
    const mel_levels *l = exchange_levels(e);
    size_t n = 0;
    for (size_t i = 0; i < l->n; i++) {
        const mel_level *one = &l->level[i];
        const double angle[2] = { cos(0.5 * one->rate), sin(0.5 * one->rate) };
        if (!one->used && one->rate >= low && one->rate <= high && !mel_avoided_has(&e->base.avoided, angle))
            list[n++] = i;
    }
    return n;
}

/* The expected loss that the answer saves, of what there is now. */
static double saved_by(const engine *e, double now, mel_trade trade)
{
    double first[MEL_EXCHANGE_CELLS], second[MEL_EXCHANGE_CELLS], same[MEL_EXCHANGE_CELLS];
    mel_exchange_outcomes(first, second, &e->exchange, e->work, trade);
    for (size_t c = 0; c < MEL_EXCHANGE_CELLS; c++)
        same[c] = fmax(0.0, e->work[c] - first[c] - second[c]);
    const double left = mel_regret_expected(e->regret, first) + mel_regret_expected(e->regret, second) +
                        mel_regret_expected(e->regret, same);
    return now - left;
}

/* What each of the pairs is worth asking about: the loss that it saves until the decision is settled, where
 * a single answer can save any, else what it tells about the rate. Returns the most. */
static double judge(double *worth, const engine *e, size_t n, const mel_level *const *pair)
{
    const mel_levels *l = exchange_levels(e);
    const double now = e->regret != NULL && !is_settled(e) ? mel_regret_expected(e->regret, e->work) : 0.0;
    double most = 0.0;
    for (size_t i = 0; i < n && now > 0.0; i++) {
        worth[i] = saved_by(e, now, trade_of(l, pair[i]));
        most = fmax(most, worth[i]);
    }
    if (most > least_saved * now)
        return most;
    most = 0.0;
    for (size_t i = 0; i < n; i++) {
        worth[i] = mel_exchange_information(&e->exchange, e->work, trade_of(l, pair[i]));
        most = fmax(most, worth[i]);
    }
    return most;
}

/* Whether all is known but whether it is a rate at all. */
static bool asks_about_aims(const engine *e)
{
    return e->exchange.sure < nearly_sure && (e->regret != NULL || e->exchange.n % 2 == 1) &&
           (e->regret != NULL ? e->doubt_with_rate < most_doubt : e->checking);
}

/* The pair that is asked about, of at most MOST_TRIED of those in the list. */
static const mel_level *best_of(engine *e, size_t n, const size_t *list)
{
    const mel_levels *l = exchange_levels(e);
    const size_t tried = n < MOST_TRIED ? n : MOST_TRIED;
    const mel_level *pair[MOST_TRIED];
    double worth[MOST_TRIED] = { 0.0 };
    for (size_t i = 0; i < tried; i++)
        pair[i] = &l->level[list[i * n / tried]];
    const double most = judge(worth, e, tried, pair);
    const bool tells_aims = asks_about_aims(e);
    const double least = tells_aims ? least_worth : e->checking ? 1.0 : nearly_best;
    const mel_level *best = NULL;
    double best_value = 0.0;
    for (size_t i = 0; i < tried; i++) {
        if (worth[i] < least * most)
            continue;
        const double value = tells_aims ? mel_exchange_aims_told(&e->exchange, e->work, trade_of(l, pair[i]))
                                        : pair[i]->plausible;
        if (best == NULL || value > best_value) {
            best = pair[i];
            best_value = value;
        }
    }
    e->information = best != NULL ? mel_exchange_information(&e->exchange, e->work, trade_of(l, best)) : 0.0;
    return best;
}

static mel_status choose(mel_active *base, mel_rng *rng, mel_error *err)
{
    engine *e = (engine *)base;
    const mel_levels *l = exchange_levels(e);
    size_t *list = mel_alloc(l->n, sizeof *list);
    if (list == NULL)
        return mel_fail_memory(err, "the questions");
    const double middle = mel_exchange_prepared_quantile(e->work, 0.5);
    const double low = fmin(mel_exchange_prepared_quantile(e->work, least_share), middle - least_reach);
    const double high =
        fmax(mel_exchange_prepared_quantile(e->work, 1.0 - least_share), middle + least_reach);
    size_t n = list_pairs(list, e, low, high);
    if (n == 0)
        n = list_pairs(list, e, -INFINITY, INFINITY);
    const mel_level *best = n > 0 ? best_of(e, n, list) : NULL;
    free(list);
    if (best == NULL || e->information < MEL_LEAST_INFORMATION) {
        double first = -INFINITY, last = INFINITY;
        (void)exchange_askable(e, &first, &last);
        const bool outside = middle < first || middle > last; /* there it is not noise that tells nothing */
        base->end = best == NULL || outside ? MEL_END_EXHAUSTED : MEL_END_NOISE;
        return MEL_OK;
    }
    base->a[0] = (double)best->tp[0] / l->people;
    base->a[1] = (double)best->tn[0] / l->people;
    base->b[0] = (double)best->tp[1] / l->people;
    base->b[1] = (double)best->tn[1] / l->people;
    mel_toss_sides(2, base->a, base->b, rng);
    return MEL_OK;
}

static void show(const mel_active *base, mel_pair *pair)
{
    const engine *e = (const engine *)base;
    pair->people = exchange_levels(e)->people;
    pair->imagined = e->imagined;
}

/* The rule of the nearest point of the test, for those who want to know. */
static void note(const mel_active *base, mel_pair *pair)
{
    const engine *e = (const engine *)base;
    if (e->imagined)
        return;
    mel_note_point(pair->note_a, e->face, mel_face_closest(e->face, (mel_point){ pair->a[0], pair->a[1] }),
                   NULL, NULL);
    mel_note_point(pair->note_b, e->face, mel_face_closest(e->face, (mel_point){ pair->b[0], pair->b[1] }),
                   NULL, NULL);
}

/* --- making ------------------------------------------------------------------------------------- */

static void clear(mel_active *base)
{
    engine *e = (engine *)base;
    mel_exchange_free(&e->exchange);
    mel_levels_free(&e->level[0]);
    mel_levels_free(&e->level[1]);
    free(e->work);
    free(e->regret);
}

static const mel_active_ops exchange_ops = {
    .prepare = prepare,
    .precise = exchange_is_precise,
    .choose = choose,
    .predict = predict,
    .row = row,
    .hear = hear,
    .put_aside = put_aside,
    .show = show,
    .note = note,
    .clear = clear,
    .finds_evidence = true,
};
static bool decision_is_settled(const mel_engine *base)
{
    return is_settled((const engine *)base);
}

static const mel_engine_ops exchange_engine = {
    .next = mel_active_next,
    .tell = mel_active_tell,
    .result = exchange_find_result,
    .posterior = exchange_find_posterior,
    .draws = exchange_find_draws,
    .expected = find_expected,
    .settled = decision_is_settled,
    .show = mel_active_show,
    .free = mel_active_free,
};

static mel_status find_levels(engine *e, const mel_face *face, mel_error *err)
{
    const mel_session_options *opt = &e->base.opt;
    const uint32_t people = opt->people != 0
                                ? opt->people
                                : mel_levels_people(mel_face_positives(face), mel_face_negatives(face));
    e->real_first = opt->questions == MEL_QUESTIONS_REALISTIC;
    e->imagined = !e->real_first;
    mel_status status = e->real_first ? mel_levels_real(&e->level[0], face, people, err) : MEL_OK;
    if (status == MEL_OK && (e->imagined || opt->imagined_beyond))
        status = mel_levels_imagined(&e->level[1], face, people, err);
    if (status == MEL_OK && exchange_levels(e)->n == 0)
        return mel_fail(err, MEL_EINVAL,
                        "out of %u people no two settings of this test differ by enough to be asked about; "
                        "questions far or imagined, or more people, would do",
                        people);
    return status;
}

static mel_status make_regret(engine *e, mel_error *err)
{
    e->regret = mel_alloc_zero(1, sizeof *e->regret);
    if (e->regret == NULL)
        return mel_fail_memory(err, "what settings lose");
    TRY(mel_regret_init(e->regret, e->face, e->turned, err));
    find_doubt(e);
    e->settled = 0;
    return MEL_OK;
}

static mel_status set_up(engine *e, const mel_face *face, mel_error *err)
{
    const mel_session_options *opt = &e->base.opt;
    double angle = 0.0;
    e->face = face;
    e->turned = opt->direction == MEL_DECREASING;
    if (opt->prior != NULL) {
        const double *weight = mel_metric_numerator(opt->prior, NULL);
        const double sign = (mel_metric_orientation(opt->prior) == MEL_COST) != e->turned ? -1.0 : 1.0;
        angle = atan2(sign * weight[1], sign * weight[0]);
    }
    e->work = mel_alloc_zero(mel_exchange_work_size(), sizeof *e->work);
    if (e->work == NULL)
        return mel_fail_memory(err, "the posterior");
    TRY(mel_exchange_init(&e->exchange, &opt->assume, angle, opt->prior_strength, err));
    if (mel_assumed(&opt->assume)->sharper && !e->turned)
        TRY(mel_exchange_allow_aims(&e->exchange, face, err));
    TRY(find_levels(e, face, err));
    TRY(mel_active_room(&e->base, 2, 2, err));
    if (opt->until == MEL_UNTIL_DECISION)
        TRY(make_regret(e, err));
    mel_exchange_prepare(&e->exchange, false, e->work);
    return MEL_OK;
}

mel_status mel_engine_exchange(mel_engine **out, const mel_domain *domain, const mel_session_options *opt,
                               mel_error *err)
{
    mel_active *e = NULL;
    const mel_status status = mel_active_new(&e, sizeof(engine), &exchange_engine, &exchange_ops, opt, err);
    return mel_active_ready(out, e, status == MEL_OK ? set_up((engine *)e, domain->face, err) : status);
}
