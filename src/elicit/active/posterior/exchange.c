/* The posterior of an exchange rate on a grid of its logarithm, noise averaged out. */
#include "elicit/active/posterior/exchange.h"

#include "base/fast_exp.h"
#include "base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = MEL_EXCHANGE_CELLS };
static const double farthest = 6.907755278982137; /* ln 1000 */
static const double prior_scale = 2.0;
/* Prior probability of somebody who aims at a share of one of the classes. */
static const double aims_at_share = 0.01;
/* Halvings of the range of rates that find one. */
enum { HALVINGS = 40 };
/* A stated band: probability of an answer that is wrong outside of it, and share of the posterior that is
 * left outside of the interval, since a respondent may use the band against us. */
static const double against_band = 0.01, outside_band = 1e-4;
/* Noise of people who hardly err. */
static const double slight_relative = 0.05, slight_absolute = 0.002;
/* Standard deviation of a standard logistic variable. */
static const double logistic_deviation = 1.813799364234218;

double mel_exchange_width(void)
{
    return 2.0 * farthest / CELLS;
}

double mel_exchange_cell(size_t i)
{
    return -farthest + ((double)i + 0.5) * mel_exchange_width();
}

mel_trade mel_trade_of(const double *a, const double *b, bool *swapped)
{
    *swapped = a[0] < b[0] || (a[0] == b[0] && a[1] < b[1]);
    const double *first = *swapped ? b : a, *second = *swapped ? a : b;
    return (mel_trade){ .tp = first[0] - second[0],
                        .tn = second[1] - first[1],
                        .least_tp = second[0],
                        .least_tn = first[1],
                        .swapped = *swapped };
}

/* --- how answers err ---------------------------------------------------------------------------- */

/* What a shape sees of a trade in every cell: exp(-z), or with a band 0, 1 or infinity where the first is
 * better, either may be preferred, or the second is better. */
MEL_WIDE static void see(double *restrict out, const double *restrict margin, const double *restrict steep,
                         double relative, double absolute)
{
    for (size_t c = 0; c < CELLS; c++)
        out[c] = mel_fast_exp(-margin[c] / sqrt(relative * relative * steep[c] + absolute * absolute));
}

typedef struct {
    double margin[CELLS]; /* how much better the first is */
    double steep[CELLS];  /* (margin/distance)^2, where the trade has a rate */
} view;

static void look(view *v, const mel_exchange *x, mel_trade t)
{
    const double rate = t.tp > 0.0 && t.tn > 0.0 ? log(t.tn / t.tp) : NAN;
    for (size_t c = 0; c < CELLS; c++) {
        v->margin[c] = (x->ratio[c] * t.tp - t.tn) * x->norm[c];
        const double distance = mel_exchange_cell(c) - rate;
        const double slope =
            fabs(distance) > 1e-6 ? v->margin[c] / distance : t.tn * x->norm[c]; /* the limit */
        v->steep[c] = isnan(rate) ? 0.0 : slope * slope;
    }
}

/* P(first), P(second) of somebody who looks, from exp(-z). */
static double first_of(double e, double tie)
{
    return 1.0 / (1.0 + tie * e);
}

static double second_of(double e, double tie)
{
    return e / (e + tie);
}

/* exp(width) of tie i; none before the first such answer. */
static double tie_of(const mel_exchange *x, size_t i)
{
    return x->n_ties > 1 && i < MEL_TIES ? exp(mel_tie_width[i]) : 1.0;
}

/* P(answer) with a stated band. */
static double in_band(double band, double margin, mel_trade_answer answer)
{
    if (fabs(margin) <= band)
        return 1.0;
    const bool right = answer == (margin > 0.0 ? MEL_TRADE_FIRST : MEL_TRADE_SECOND);
    return right ? 1.0 : against_band;
}

/* P(answer) of somebody who looks, in every cell. */
MEL_WIDE static void answer_curve(double *restrict out, const double *restrict e, double tie,
                                  mel_trade_answer answer)
{
    for (size_t c = 0; c < CELLS; c++) {
        const double first = first_of(e[c], tie), second = second_of(e[c], tie);
        out[c] = answer == MEL_TRADE_FIRST    ? first
                 : answer == MEL_TRADE_SECOND ? second
                                              : 1.0 - first - second;
    }
}

/* --- making ------------------------------------------------------------------------------------- */

static void find_shapes(mel_exchange *x)
{
    x->n_shapes = 0;
    for (size_t i = 0; i < x->n_components; i++) {
        size_t s = 0;
        while (s < x->n_shapes && (x->shape[s]->relative != x->component[i].relative ||
                                   x->shape[s]->absolute != x->component[i].absolute))
            s++;
        if (s == x->n_shapes)
            x->shape[x->n_shapes++] = &x->component[i];
        x->shape_of[i] = s;
    }
}

double mel_exchange_log_prior(double rho)
{
    const double t = rho / prior_scale;
    return -2.0 * log1p(t * t / 3.0);
}

static void set_prior(mel_exchange *x, double angle, double strength)
{
    double sum = 0.0;
    for (size_t c = 0; c < CELLS; c++) {
        const double rho = mel_exchange_cell(c);
        x->ratio[c] = exp(rho);
        x->norm[c] = 1.0 / sqrt(1.0 + x->ratio[c] * x->ratio[c]);
        const double off = atan2(1.0, x->ratio[c]) - angle;
        x->prior[c] = exp(mel_exchange_log_prior(rho) + strength * (cos(off) - 1.0));
        sum += x->prior[c];
    }
    for (size_t c = 0; c < CELLS; c++)
        x->prior[c] /= sum;
}

static double *joint_of(const mel_exchange *x, size_t tie, size_t component)
{
    return x->joint + (tie * x->n_components + component) * CELLS;
}

/* Adds the part of the mass that is of people who aim at a share. */
static void add_aims(double *mass, const mel_exchange *x)
{
    for (size_t a = 0; a < x->n_aims; a++)
        for (size_t i = 0; i < MEL_AIM_LIMITS; i++)
            mass[x->cell_of[a][i]] += x->aim_weight[a] * x->aim[a].mass[i];
}

/* Weighs the aims against the exchange rate, and adds their part to its mass. */
static void allow_for_aims(mel_exchange *x)
{
    const double alone = 1.0 - aims_at_share * (double)x->n_aims;
    double all = alone;
    for (size_t a = 0; a < x->n_aims; a++) {
        x->aim_weight[a] = aims_at_share * exp(x->aim[a].evidence - x->evidence);
        all += x->aim_weight[a];
    }
    for (size_t a = 0; a < x->n_aims; a++)
        x->aim_weight[a] /= all;
    x->sure = alone / all;
    for (size_t c = 0; c < CELLS; c++)
        x->mass[c] *= x->sure;
    add_aims(x->mass, x);
}

static void start(mel_exchange *x)
{
    for (size_t t = 0; t < x->n_ties; t++)
        for (size_t w = 0; w < x->n_components; w++)
            for (size_t c = 0; c < CELLS; c++)
                joint_of(x, t, w)[c] = x->prior[c] * x->component[w].weight / (double)x->n_ties;
    memcpy(x->mass, x->prior, sizeof x->mass);
    x->evidence = 0.0;
    for (size_t a = 0; a < x->n_aims; a++)
        mel_aim_start(&x->aim[a], x->aim[a].kind, x->aim[a].positives, x->aim[a].negatives, x->n_ties);
    allow_for_aims(x);
}

static mel_status reserve_joint(mel_exchange *x, size_t n_ties, mel_error *err)
{
    void *block = x->joint;
    if (!mel_grow(&block, n_ties * MEL_MOST_COMPONENTS, CELLS * sizeof *x->joint))
        return mel_fail_memory(err, "the posterior");
    x->joint = block;
    return MEL_OK;
}

mel_status mel_exchange_init(mel_exchange *x, const mel_assumption *assume, double prior_angle,
                             double prior_strength, mel_error *err)
{
    const mel_noise_ops *noise = mel_assumed(assume);
    *x = (mel_exchange){ .n_ties = 1, .sure = 1.0 };
    x->n_components = mel_noise_components(x->component, noise, assume->size);
    x->band = noise->band;
    find_shapes(x);
    set_prior(x, prior_angle, prior_strength);
    TRY(reserve_joint(x, 1, err));
    start(x);
    return MEL_OK;
}

/* The rate at which the best setting just keeps a share of one class. */
static mel_status rate_of_share(double *rate, const mel_face *face, mel_misfit_kind kind, double share,
                                mel_error *err)
{
    double low = -farthest, high = farthest;
    for (int i = 0; i < HALVINGS; i++) {
        const double middle = 0.5 * (low + high);
        mel_point at;
        TRY(mel_face_support(&at, face, exp(middle), 1.0, err));
        const bool too_high = kind == MEL_MISFIT_FOUND ? at.tp >= share * mel_face_positives(face)
                                                       : at.tn < share * mel_face_negatives(face);
        low = too_high ? low : middle;
        high = too_high ? middle : high;
    }
    *rate = 0.5 * (low + high);
    return MEL_OK;
}

mel_status mel_exchange_allow_aims(mel_exchange *x, const mel_face *face, mel_error *err)
{
    static const mel_misfit_kind kind[MEL_EXCHANGE_AIMS] = { MEL_MISFIT_FOUND, MEL_MISFIT_CLEARED };
    const double all = mel_face_positives(face) + mel_face_negatives(face);
    x->aim = mel_alloc(MEL_EXCHANGE_AIMS, sizeof *x->aim);
    if (x->aim == NULL)
        return mel_fail_memory(err, "what answers may aim at");
    for (size_t a = 0; a < MEL_EXCHANGE_AIMS; a++) {
        mel_aim_start(&x->aim[a], kind[a], mel_face_positives(face) / all, mel_face_negatives(face) / all, 1);
        for (size_t i = 0; i < MEL_AIM_LIMITS; i++) {
            double rate = 0.0;
            TRY(rate_of_share(&rate, face, kind[a], mel_aim_at(&x->aim[a], (double)i + 0.5), err));
            const double cell = (rate + farthest) / mel_exchange_width();
            x->cell_of[a][i] = cell < 0.0 ? 0 : cell < CELLS ? (size_t)cell : CELLS - 1;
        }
    }
    x->n_aims = MEL_EXCHANGE_AIMS;
    start(x);
    return MEL_OK;
}

void mel_exchange_free(mel_exchange *x)
{
    free(x->aim);
    free(x->joint);
    free(x->trade);
    free(x->answer);
}

/* --- hearing ------------------------------------------------------------------------------------ */

MEL_WIDE static void multiply(double *restrict joint, const double *restrict curve, double lapse,
                              double outcomes)
{
    for (size_t c = 0; c < CELLS; c++) {
        const double likely = lapse / outcomes + (1.0 - lapse) * curve[c];
        joint[c] *= likely > mel_impossible ? likely : mel_impossible;
    }
}

static void hear_shape(mel_exchange *x, size_t shape, const view *v, mel_trade_answer answer)
{
    double e[CELLS], curve[CELLS];
    const mel_component *s = x->shape[shape];
    const double outcomes = x->n_ties > 1 ? 3.0 : 2.0;
    see(e, v->margin, v->steep, s->relative, s->absolute);
    for (size_t t = 0; t < x->n_ties; t++) {
        answer_curve(curve, e, tie_of(x, t), answer);
        for (size_t c = 0; c < CELLS && s->band > 0.0; c++)
            curve[c] = in_band(s->band, v->margin[c], answer);
        for (size_t w = 0; w < x->n_components; w++)
            if (x->shape_of[w] == shape)
                multiply(joint_of(x, t, w), curve, x->component[w].lapse, outcomes);
    }
}

MEL_WIDE static void add_cells(double *restrict sum, const double *restrict joint)
{
    for (size_t c = 0; c < CELLS; c++)
        sum[c] += joint[c];
}

MEL_WIDE static void divide(double *restrict cells, size_t n, double sum)
{
    for (size_t c = 0; c < n; c++)
        cells[c] /= sum;
}

/* Makes the joint sum to 1; returns the sum that it had. */
static double settle(mel_exchange *x)
{
    const size_t n = x->n_ties * x->n_components;
    double sum = 0.0;
    memset(x->mass, 0, sizeof x->mass);
    for (size_t i = 0; i < n; i++)
        add_cells(x->mass, x->joint + i * CELLS);
    for (size_t c = 0; c < CELLS; c++)
        sum += x->mass[c];
    divide(x->mass, CELLS, sum);
    divide(x->joint, n * CELLS, sum);
    return sum;
}

static void hear(mel_exchange *x, mel_trade trade, mel_trade_answer answer)
{
    view v = { .margin = { 0.0 } };
    look(&v, x, trade);
    for (size_t s = 0; s < x->n_shapes; s++)
        hear_shape(x, s, &v, answer);
    x->evidence += log(settle(x) * (x->n_ties > 1 ? 3.0 : 2.0));
    for (size_t a = 0; a < x->n_aims; a++)
        mel_aim_hear(&x->aim[a], trade, answer);
    allow_for_aims(x);
}

static mel_status reserve_answer(mel_exchange *x, mel_error *err)
{
    if (x->n < x->capacity)
        return MEL_OK;
    const size_t capacity = x->capacity == 0 ? 32 : 2 * x->capacity;
    void *trade = x->trade, *answer = x->answer;
    const bool grown = mel_grow(&trade, capacity, sizeof *x->trade);
    x->trade = trade;
    const bool both = grown && mel_grow(&answer, capacity, sizeof *x->answer);
    x->answer = answer;
    if (!both)
        return mel_fail_memory(err, "the answers");
    x->capacity = capacity;
    return MEL_OK;
}

mel_status mel_exchange_tell(mel_exchange *x, mel_trade trade, mel_trade_answer answer, mel_error *err)
{
    TRY(reserve_answer(x, err));
    const bool first_tie = answer == MEL_TRADE_SAME && x->n_ties == 1;
    if (first_tie)
        TRY(reserve_joint(x, MEL_TIES, err));
    x->trade[x->n] = trade;
    x->answer[x->n++] = answer;
    if (!first_tie) {
        hear(x, trade, answer);
        return MEL_OK;
    }
    x->n_ties = MEL_TIES; /* earlier answers are read again: they were no ties */
    x->n_components = mel_components_blur(x->n_components, x->component);
    find_shapes(x);
    start(x);
    for (size_t i = 0; i < x->n; i++)
        hear(x, x->trade[i], x->answer[i]);
    return MEL_OK;
}

/* --- what is believed --------------------------------------------------------------------------- */

static double quantile_of(const double *mass, double q)
{
    double below = 0.0;
    for (size_t c = 0; c < CELLS; c++) {
        if (below + mass[c] >= q && mass[c] > 0.0)
            return mel_exchange_cell(c) +
                   mel_exchange_width() * (fmin(1.0, fmax(0.0, (q - below) / mass[c])) - 0.5);
        below += mass[c];
    }
    return farthest;
}

double mel_exchange_quantile(const mel_exchange *x, double q)
{
    return quantile_of(x->mass, q);
}

/* Share of the posterior beyond either end of the interval. */
static double outside_of(const mel_exchange *x)
{
    return 0.5 * (x->band ? outside_band : 0.05);
}

void mel_exchange_interval(const mel_exchange *x, double *low, double *high)
{
    *low = mel_exchange_quantile(x, outside_of(x));
    *high = mel_exchange_quantile(x, 1.0 - outside_of(x));
}

/* How much a component counts for somebody who may err more than it seems. */
static double caution_of(const mel_exchange *x, const mel_component *component)
{
    return x->n_components > 1
               ? fmax(component->relative / slight_relative, component->absolute / slight_absolute)
               : 1.0;
}

void mel_exchange_belief(const mel_exchange *x, bool cautious, double *mass)
{
    double sum = 0.0;
    memset(mass, 0, CELLS * sizeof *mass);
    for (size_t t = 0; t < x->n_ties; t++)
        for (size_t w = 0; w < x->n_components; w++) {
            const double weight = cautious ? caution_of(x, &x->component[w]) : 1.0;
            for (size_t c = 0; c < CELLS; c++)
                mass[c] += weight * joint_of(x, t, w)[c];
        }
    for (size_t c = 0; c < CELLS; c++)
        sum += mass[c];
    divide(mass, CELLS, sum);
}

void mel_exchange_cautious(const mel_exchange *x, double outside, double *low, double *high)
{
    double mass[CELLS];
    mel_exchange_belief(x, true, mass);
    divide(mass, CELLS, 1.0 / x->sure);
    add_aims(mass, x);
    const double beyond = fmin(outside, outside_of(x));
    *low = quantile_of(mass, beyond);
    *high = quantile_of(mass, 1.0 - beyond);
}

double mel_exchange_variation(const mel_exchange *x, mel_trade trade)
{
    const double slope = trade.tn / hypot(1.0, trade.tn / trade.tp); /* margin by distance, at the balance */
    double sum = 0.0, all = 0.0;
    for (size_t t = 0; t < x->n_ties; t++)
        for (size_t w = 0; w < x->n_components; w++) {
            double weight = 0.0;
            for (size_t c = 0; c < CELLS; c++)
                weight += joint_of(x, t, w)[c];
            sum += weight * log(hypot(x->component[w].relative, x->component[w].absolute / slope));
            all += weight;
        }
    return logistic_deviation * exp(sum / all);
}

/* --- information -------------------------------------------------------------------------------- */

/* The work: the mass of the cells, what lapses answer whatever is asked (one outcome), then for each tie and
 * shape what is left to those who look. */
size_t mel_exchange_work_size(void)
{
    return (size_t)(2 + MEL_TIES * MEL_EXCHANGE_SHAPES) * CELLS;
}

static const double *lapsed(const double *work)
{
    return work + CELLS;
}

static const double *looking(const mel_exchange *x, const double *work, size_t tie, size_t shape)
{
    return work + (2 + tie * x->n_shapes + shape) * CELLS;
}

void mel_exchange_prepare(const mel_exchange *x, bool cautious, double *work)
{
    const double outcomes = x->n_ties > 1 ? 3.0 : 2.0;
    const size_t n = mel_exchange_work_size();
    double sum = 0.0;
    memset(work, 0, n * sizeof *work);
    for (size_t t = 0; t < x->n_ties; t++)
        for (size_t w = 0; w < x->n_components; w++) {
            const double *joint = joint_of(x, t, w), lapse = x->component[w].lapse;
            const double weight = cautious ? caution_of(x, &x->component[w]) : 1.0;
            double *left = work + (looking(x, work, t, x->shape_of[w]) - work);
            for (size_t c = 0; c < CELLS; c++) {
                work[c] += weight * joint[c];
                work[CELLS + c] += weight * joint[c] * lapse / outcomes;
                left[c] += weight * joint[c] * (1.0 - lapse);
            }
        }
    for (size_t c = 0; c < CELLS; c++)
        sum += work[c];
    divide(work, n, sum / x->sure);
    add_aims(work, x);
}

double mel_exchange_prepared_quantile(const double *work, double q)
{
    return quantile_of(work, q);
}

MEL_WIDE static void add_outcomes(double *restrict first, double *restrict second, const double *restrict e,
                                  const double *restrict left, double tie)
{
    for (size_t c = 0; c < CELLS; c++) {
        first[c] += left[c] / (1.0 + tie * e[c]);
        second[c] += left[c] * e[c] / (e[c] + tie);
    }
}

static double entropy(double p)
{
    return p > 0.0 && p < 1.0 ? -p * log(p) - (1.0 - p) * log(1.0 - p) : 0.0;
}

double mel_exchange_aims_told(const mel_exchange *x, const double *work, mel_trade trade)
{
    double first[CELLS], second[CELLS], all = 0.0, told = 0.0, aims = 0.0;
    mel_exchange_outcomes(first, second, x, work, trade);
    for (size_t c = 0; c < CELLS; c++)
        all += first[c];
    for (size_t a = 0; a < x->n_aims; a++) {
        double one[MEL_AIM_LIMITS], other[MEL_AIM_LIMITS], sum = 0.0;
        mel_aim_outcomes(one, other, &x->aim[a], trade);
        for (size_t i = 0; i < MEL_AIM_LIMITS; i++)
            sum += one[i];
        told -= x->aim_weight[a] * entropy(sum);
        aims += x->aim_weight[a] * sum;
    }
    if (x->sure > 0.0)
        told -= x->sure * entropy((all - aims) / x->sure);
    return told + entropy(all);
}

void mel_exchange_outcomes(double *first, double *second, const mel_exchange *x, const double *work,
                           mel_trade trade)
{
    double e[CELLS];
    view v = { .margin = { 0.0 } };
    look(&v, x, trade);
    memcpy(first, lapsed(work), CELLS * sizeof *first);
    memcpy(second, lapsed(work), CELLS * sizeof *second);
    for (size_t s = 0; s < x->n_shapes; s++) {
        const mel_component *shape = x->shape[s];
        see(e, v.margin, v.steep, shape->relative, shape->absolute);
        for (size_t c = 0; c < CELLS && shape->band > 0.0; c++)
            e[c] = fabs(v.margin[c]) <= shape->band ? 1.0 : e[c];
        for (size_t t = 0; t < x->n_ties; t++)
            add_outcomes(first, second, e, looking(x, work, t, s), tie_of(x, t));
    }
    for (size_t a = 0; a < x->n_aims; a++) {
        double one[MEL_AIM_LIMITS], other[MEL_AIM_LIMITS];
        mel_aim_outcomes(one, other, &x->aim[a], trade);
        for (size_t i = 0; i < MEL_AIM_LIMITS; i++) {
            first[x->cell_of[a][i]] += x->aim_weight[a] * one[i];
            second[x->cell_of[a][i]] += x->aim_weight[a] * other[i];
        }
    }
}

static double part(double joint, double cell, double answer)
{
    return joint > 0.0 && cell > 0.0 && answer > 0.0 ? joint * log(joint / (cell * answer)) : 0.0;
}

double mel_exchange_information(const mel_exchange *x, const double *work, mel_trade trade)
{
    const double *mass = work;
    double first[CELLS], second[CELLS], p[3] = { 0.0 }, sum = 0.0;
    mel_exchange_outcomes(first, second, x, work, trade);
    for (size_t c = 0; c < CELLS; c++) {
        p[0] += first[c];
        p[1] += second[c];
        p[2] += fmax(0.0, mass[c] - first[c] - second[c]);
    }
    for (size_t c = 0; c < CELLS; c++)
        sum += part(first[c], mass[c], p[0]) + part(second[c], mass[c], p[1]) +
               (x->n_ties > 1 ? part(mass[c] - first[c] - second[c], mass[c], p[2]) : 0.0);
    return sum / 0.69314718055994531;
}

double mel_exchange_foresee(const mel_exchange *x, mel_trade trade, mel_trade_answer answer)
{
    const double outcomes = x->n_ties > 1 ? 3.0 : 2.0;
    double e[CELLS], curve[CELLS], sum = 0.0;
    view v = { .margin = { 0.0 } };
    look(&v, x, trade);
    for (size_t s = 0; s < x->n_shapes; s++) {
        see(e, v.margin, v.steep, x->shape[s]->relative, x->shape[s]->absolute);
        for (size_t t = 0; t < x->n_ties; t++) {
            answer_curve(curve, e, tie_of(x, t), answer);
            for (size_t w = 0; w < x->n_components; w++)
                for (size_t c = 0; c < CELLS && x->shape_of[w] == s; c++)
                    sum += joint_of(x, t, w)[c] *
                           (x->component[w].lapse / outcomes + (1.0 - x->component[w].lapse) * curve[c]);
        }
    }
    sum *= x->sure;
    for (size_t a = 0; a < x->n_aims; a++) {
        double one[MEL_AIM_LIMITS], other[MEL_AIM_LIMITS];
        mel_aim_outcomes(one, other, &x->aim[a], trade);
        for (size_t i = 0; i < MEL_AIM_LIMITS; i++)
            sum += x->aim_weight[a] * (answer == MEL_TRADE_FIRST    ? one[i]
                                       : answer == MEL_TRADE_SECOND ? other[i]
                                                                    : x->aim[a].mass[i] - one[i] - other[i]);
    }
    return sum;
}

/* --- rates that move ---------------------------------------------------------------------------- */

mel_status mel_exchange_moved(double *out, const mel_exchange *x, const double *moved, mel_error *err)
{
    mel_exchange other = *x;
    other.joint = NULL;
    other.n_aims = 0;
    TRY(reserve_joint(&other, x->n_ties, err));
    for (size_t w = 0; w < x->n_shapes; w++) /* the copy's own */
        other.shape[w] = other.component + (x->shape[w] - x->component);
    start(&other);
    for (size_t i = 0; i < x->n;
         i++) { /* a rate that moves by d is a trade whose rate is e^d times smaller */
        const double half = exp(0.5 * moved[i]);
        hear(&other, (mel_trade){ .tp = x->trade[i].tp * half, .tn = x->trade[i].tn / half }, x->answer[i]);
    }
    *out = other.evidence - x->evidence;
    free(other.joint);
    return MEL_OK;
}
