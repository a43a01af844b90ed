#include "elicit/active/ask/pair.h"

#include "base/la.h"
#include "elicit/active/ask/climb.h"
#include "elicit/active/ask/cut_plan.h"
#include "elicit/active/select.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MIDDLES = 60,     /* random middles that are tried */
    REFINE = 40,      /* middles near the best one that are tried then */
    FEW = 3,          /* middles that are tried when questions were put aside */
    CLIMBERS = 4,     /* middles that climb, in families where they can; 8 of 20 steps do no better */
    CLIMB_STEPS = 10, /* of each */
    POWER_STEPS = 40, /* towards the longest direction of the posterior */
    SHIFTS = 2        /* rounds of shifting a cut until it halves the samples */
};
/* How much smaller the steps of the refinement get. */
static const double shrink = 0.93;
/* Size of the pair that measures how a cut shifts, as a share of the longest coordinate of delta. */
static const double probe = 1e-4;
/* Share of the samples that must agree which way a cut shifts. */
static const double agree = 0.97;
/* How well the direction of w must be known (mel_samples' resultant) for cuts to be planned. */
static const double plan_from = 0.6;
/* Bits by which cuts that are followed may be worse than the posterior as it is. */
static const double at_most_worse = 3.0;

struct mel_chooser {
    mel_basis *f;
    size_t count, dimension, size;
    double *kept; /* what candidates and climbers point to */
    mel_shortlist climbers;
    /* The posterior, at the norm at which coefficients are judged. */
    double *sample;     /* count x D */
    double *bounded;    /* count x D: see bound_samples */
    const double *seen; /* count x D: the one of these on which spread is measured */
    double *length;     /* count: l2 norms */
    double *mean;       /* D */
    double *average;    /* D: before it is brought to the norm */
    double *covariance; /* D x D */
    double *weight;     /* D: how much the coefficients' variances count */
    double variance;    /* their weighted sum */
    double level;       /* sample quantile of the radius */
    double side_level;  /* of the ends of 95% intervals */
    double gain;
    bool long_cuts;      /* answers may be wrong at any margin */
    bool widest_first;   /* see weight_of */
    const double *stake; /* count: mel_samples'; NULL: all alike; lent until the next look */
    mel_cut_plan *plan;  /* NULL: the family plans none */
    bool planned;        /* they are worth following */
    /* Seen from one middle */
    mel_pair_gain pairs;
    mel_climb climb;
    double *second; /* size x size: M2 = J C C J' */
    mel_shortlist list;
    /* Work */
    double *value, *lever, *work;     /* count */
    double *vector;                   /* size or D, the larger */
    double *c, *best, *delta, *a, *b; /* size */
    double *row;                      /* D */
};

void mel_chooser_free(mel_chooser *chooser)
{
    if (chooser == NULL)
        return;
    mel_pair_gain_free(&chooser->pairs);
    mel_climb_free(&chooser->climb);
    mel_cut_plan_free(chooser->plan);
    free(chooser->sample); /* and all that was made with it */
    free(chooser);
}

static mel_status make_room(mel_chooser *q, mel_error *err)
{
    const size_t n = q->count, d = q->dimension, s = q->size, larger = d > s ? d : s;
    const mel_part parts[] = { { &q->sample, n * d },
                               { &q->bounded, n * d },
                               { &q->covariance, d * d },
                               { &q->second, s * s },
                               { &q->vector, larger },
                               { &q->length, n },
                               { &q->value, n },
                               { &q->lever, n },
                               { &q->work, n },
                               { &q->mean, d },
                               { &q->average, d },
                               { &q->row, d },
                               { &q->weight, d },
                               { &q->c, s },
                               { &q->best, s },
                               { &q->delta, s },
                               { &q->a, s },
                               { &q->b, s },
                               { &q->kept, 2 * (size_t)(MEL_SHORTLIST + CLIMBERS) * s } };
    if (!mel_parts_new(MEL_PARTS(parts)))
        return mel_fail_memory(err, "the questions");
    mel_shortlist_new(&q->list, MEL_SHORTLIST, s, q->kept);
    mel_shortlist_new(&q->climbers, CLIMBERS, s, q->kept + 2 * MEL_SHORTLIST * s);
    return MEL_OK;
}

mel_status mel_chooser_new(mel_chooser **out, mel_basis *f, size_t samples, mel_error *err)
{
    *out = NULL;
    mel_chooser *q = mel_alloc_zero(1, sizeof *q);
    if (q == NULL)
        return mel_fail_memory(err, "the questions");
    q->f = f;
    q->count = samples;
    q->dimension = f->dimension;
    q->size = f->size;
    mel_status status = make_room(q, err);
    if (status == MEL_OK)
        status = mel_pair_gain_new(&q->pairs, f, q->covariance, q->mean, err);
    if (status == MEL_OK && f->climbs)
        status = mel_climb_new(&q->climb, &q->pairs, q->weight, err);
    if (status == MEL_OK && f->plans)
        status = mel_cut_plan_new(&q->plan, f, err);
    if (status != MEL_OK) {
        mel_chooser_free(q);
        return status;
    }
    *out = q;
    return MEL_OK;
}

/* --- the posterior ---------------------------------------------------------------------------------- */

static double judged_norm(const mel_basis *f, const double *w)
{
    if (!f->l1)
        return mel_norm2(f->dimension, w);
    double sum = 0.0;
    for (size_t i = 0; i < f->dimension; i++)
        sum += fabs(w[i]);
    return sum;
}

/* Samples that blame other answers than most do are far away, and few of them make up most of the variance.
 * Questions that reduce it would settle these first and divide the rest unevenly: with far-away coefficients
 * counted as less far, 95% are within 0.02 after 35 instead of 39 questions if one answer is wrong, and after
 * 29 instead of 32 if none is (q = 6, flips learned, 100 metrics). */
static void bound_samples(mel_chooser *q)
{
    for (size_t j = 0; j < q->dimension; j++)
        mel_bound_column(q->count, q->sample + j, q->bounded + j, q->dimension, q->work);
}

/* Of the samples as they are seen. */
static void find_moments(mel_chooser *q)
{
    const size_t n = q->count, d = q->dimension;
    memset(q->average, 0, d * sizeof(double));
    for (size_t i = 0; i < n; i++)
        mel_axpy(d, 1.0, q->seen + i * d, q->average);
    mel_scale(d, 1.0 / (double)n, q->average);
    memset(q->covariance, 0, d * d * sizeof(double));
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < d; j++)
            q->vector[j] = q->seen[i * d + j] - q->average[j];
        for (size_t j = 0; j < d; j++)
            mel_axpy(j + 1, q->vector[j], q->vector, q->covariance + j * d);
    }
    for (size_t j = 0; j < d; j++)
        for (size_t k = 0; k <= j; k++)
            q->covariance[k * d + j] = q->covariance[j * d + k] = q->covariance[j * d + k] / (double)n;
}

/* How much a coefficient's variance counts, by its share of the greatest: what is known worst decides when
 * all is known well enough. Where middles climb it counts by its size: a family whose questions cannot cut
 * along single coefficients does not keep them alike otherwise. With a band the widest comes first (q = 6,
 * band:0.001, the same 600 metrics: 95th percentile of the error after 32 questions 0.0096 instead of 0.0099;
 * the first and the second power do nearly as well). Without noise nothing is gained by it. */
static double weight_of(const mel_chooser *q, double share)
{
    if (q->f->climbs)
        return share;
    return q->widest_first ? share * share * share * share : 1.0;
}

static void find_weights(mel_chooser *q)
{
    const size_t d = q->dimension;
    double greatest = 0.0;
    for (size_t j = 0; j < d; j++)
        greatest = fmax(greatest, q->covariance[j * d + j]);
    q->variance = 0.0;
    for (size_t j = 0; j < d; j++) {
        const double variance = q->covariance[j * d + j];
        q->weight[j] = greatest > 0.0 ? weight_of(q, variance / greatest) : 1.0;
        q->variance += q->weight[j] * variance;
    }
}

/* Cuts are planned for a posterior that takes their shape, which only exact answers make: where one in twenty
 * was wrong, errors after 250 questions were 0.015 with a plan and 0.008 without (quadratic metrics of 3
 * classes, 6 of them). They are followed once they promise coefficients that are hardly more entangled
 * than the posterior's are by then: in a tiny ball fits take more steps than there are questions. */
static bool plan_cuts(mel_chooser *q, const mel_samples *samples)
{
    if (q->plan == NULL || samples->noise->errs != MEL_ERRS_NEVER || samples->resultant < plan_from)
        return false;
    const double loss = mel_cut_plan_fit(q->plan, q->mean);
    return (q->planned || mel_cut_plan_settled(q->plan)) &&
           loss <= mel_cut_plan_loss_of(q->plan, q->covariance, q->mean) + at_most_worse;
}

void mel_chooser_look(mel_chooser *q, const mel_sampler *sampler)
{
    const mel_samples *samples = mel_sampler_samples(sampler);
    const mel_basis *f = q->f;
    const size_t d = q->dimension;
    memcpy(q->sample, samples->w, q->count * d * sizeof(double));
    for (size_t i = 0; i < q->count; i++) {
        double *w = q->sample + i * d;
        mel_scale(d, 1.0 / judged_norm(f, w), w);
        q->length[i] = mel_norm2(d, w);
    }
    const bool flips = samples->noise->errs == MEL_ERRS_ALIKE;
    if (flips)
        bound_samples(q);
    q->seen = flips ? q->bounded : q->sample;
    q->widest_first = samples->noise->band;
    find_moments(q);
    find_weights(q);
    memcpy(q->mean, flips ? samples->centre : q->average, d * sizeof(double));
    q->long_cuts = flips;
    q->stake = samples->stake;
    const double norm = judged_norm(f, q->mean);
    if (norm > 0.0)
        mel_scale(d, 1.0 / norm, q->mean);
    const double length = mel_norm2(d, q->mean),
                 size = f->ops->size == NULL ? length : f->ops->size(f, q->mean);
    q->gain = size > 0.0 ? length / size : 1.0;
    q->level = mel_samples_radius_level(samples);
    q->side_level = mel_samples_level(samples, 0.975);
    q->planned = plan_cuts(q, samples);
}

const double *mel_chooser_samples(const mel_chooser *chooser)
{
    return chooser->sample;
}

const double *mel_chooser_mean(const mel_chooser *chooser)
{
    return chooser->mean;
}

double mel_chooser_gain(const mel_chooser *chooser)
{
    return chooser->gain;
}

double mel_chooser_radius(mel_chooser *q)
{
    const size_t d = q->dimension;
    double widest = 0.0;
    for (size_t j = 0; j < d; j++) {
        for (size_t i = 0; i < q->count; i++)
            q->work[i] = q->sample[i * d + j];
        const double low = mel_quantile_select(q->count, q->work, 1.0 - q->side_level);
        const double high = mel_quantile_select(q->count, q->work, q->side_level);
        widest = fmax(widest, 0.5 * (fmax(high, q->mean[j]) - fmin(low, q->mean[j])));
    }
    for (size_t i = 0; i < q->count; i++) {
        const double *w = q->sample + i * d;
        double farthest = 0.0;
        for (size_t j = 0; j < d; j++)
            farthest = fmax(farthest, fabs(w[j] - q->mean[j]));
        q->work[i] = farthest;
    }
    return fmax(widest, mel_quantile_select(q->count, q->work, q->level));
}

/* --- candidates ------------------------------------------------------------------------------------- */

/* M1 and the mean's slope at the middle c, and M2 when it is asked for. */
static void look_from(mel_chooser *q, const double *c, bool squares)
{
    const size_t d = q->dimension, s = q->size;
    mel_pair_gain_from(&q->pairs, c);
    if (!squares)
        return;
    const double *through = q->pairs.through;
    memset(q->second, 0, s * s * sizeof(double));
    for (size_t j = 0; j < d; j++)
        for (size_t i = 0; i < s; i++)
            mel_axpy(i + 1, through[j * s + i], through + j * s, q->second + i * s);
    for (size_t i = 0; i < s; i++)
        for (size_t j = 0; j < i; j++)
            q->second[j * s + i] = q->second[i * s + j];
}

static double pair_score(const mel_chooser *q, size_t a, size_t b)
{
    const size_t s = q->size;
    const double *first = q->pairs.first, x = q->pairs.slope[b], y = -q->pairs.slope[a];
    const double up =
        x * x * q->second[a * s + a] + y * y * q->second[b * s + b] + 2.0 * x * y * q->second[a * s + b];
    const double down = x * x * first[a * s + a] + y * y * first[b * s + b] + 2.0 * x * y * first[a * s + b];
    return down > 0.0 ? up / down : 0.0;
}

/* Every pair of coordinates; the best score. */
static double try_pairs(mel_chooser *q, const double *c)
{
    const size_t s = q->size;
    double best = 0.0;
    for (size_t a = 1; a < s; a++)
        for (size_t b = 0; b < a; b++) {
            const double score = pair_score(q, a, b);
            mel_candidate *k = mel_shortlist_admit(&q->list, score, c);
            if (k == NULL)
                continue;
            best = fmax(best, score);
            k->delta[a] = q->pairs.slope[b];
            k->delta[b] = -q->pairs.slope[a];
        }
    return best;
}

/* For every coefficient, the delta whose slopes explain most of its (weighted) variance; the best share. Cuts
 * along single coefficients leave the posterior in the shape of a box, which is what errors in the largest
 * coefficient ask for: cutting along its longest direction takes a tenth more questions. */
static double try_coefficients(mel_chooser *q, const double *c)
{
    const size_t s = q->size;
    double best = 0.0;
    mel_pair_gain_centre(&q->pairs);
    for (size_t j = 0; j < q->dimension; j++) {
        memcpy(q->delta, q->pairs.through + j * s, s * sizeof(double));
        mel_pair_gain_halfway(&q->pairs, q->delta);
        const double score = q->weight[j] * mel_dot(s, q->delta, q->delta);
        mel_candidate *k = mel_shortlist_admit(&q->list, score, c);
        if (k == NULL)
            continue;
        best = fmax(best, score);
        mel_pair_gain_back(&q->pairs, q->delta);
        memcpy(k->delta, q->delta, s * sizeof(double));
    }
    return best;
}

/* The delta whose answer takes most of the total variance away, by power steps; its share. Where answers may
 * be wrong the posterior is no box, however it is cut, but has far-away parts that blame other answers: cuts
 * along its longest direction settle these first (q = 12, flip:0.1, learned, 50
 * metrics, leading eigenvector: 95th percentile of the error after 98 questions 0.045 instead of 0.096). */
static double try_longest(mel_chooser *q, const double *c)
{
    const size_t s = q->size;
    double *x = q->delta, *y = q->vector, share = 0.0;
    mel_pair_gain_centre(&q->pairs);
    for (size_t i = 0; i < s; i++)
        x[i] = 1.0 + 0.1 * (double)(i % 7); /* not in a family's symmetries */
    for (int step = 0; step < POWER_STEPS; step++) {
        mel_scale(s, 1.0 / fmax(mel_norm2(s, x), 1e-280), x);
        mel_pair_gain_back(&q->pairs, x);
        for (size_t i = 0; i < s; i++)
            y[i] = mel_dot(s, q->second + i * s, x);
        mel_pair_gain_halfway(&q->pairs, y);
        share = mel_norm2(s, y);
        memcpy(x, y, s * sizeof(double));
    }
    mel_candidate *k = mel_shortlist_admit(&q->list, share, c);
    if (k == NULL)
        return share;
    mel_pair_gain_back(&q->pairs, x);
    memcpy(k->delta, x, s * sizeof(double));
    return share;
}

static double try_middle(mel_chooser *q, const double *c, bool simple)
{
    look_from(q, c, simple || q->long_cuts);
    if (simple)
        return try_pairs(q, c);
    return q->long_cuts ? try_longest(q, c) : try_coefficients(q, c);
}

/* Where the best of random middles end when they climb: the best delta there, and those of single
 * coefficients. */
static void climb(mel_chooser *q, mel_rng *rng)
{
    const mel_basis *f = q->f;
    mel_shortlist *from = &q->climbers;
    from->n = 0;
    for (int i = 0; i < MIDDLES; i++) {
        f->ops->middle(f, rng, q->c);
        (void)mel_shortlist_admit(from, mel_climb_look(&q->climb, q->c), q->c);
    }
    for (size_t i = 0; i < from->n; i++) {
        double *c = from->at[i].c;
        (void)mel_climb_improve(&q->climb, c, from->at[i].score, q->best, CLIMB_STEPS);
        mel_candidate *k = mel_shortlist_admit(&q->list, mel_climb_look(&q->climb, c), c);
        if (k != NULL)
            memcpy(k->delta, q->climb.delta, q->size * sizeof(double));
        (void)try_middle(q, c, false);
    }
}

/* Takes the plan's cuts, as good as what they take away of the weighted variance if all were normal. */
static void try_plan(mel_chooser *q)
{
    const mel_basis *f = q->f;
    const size_t d = q->dimension;
    for (size_t i = 0; i < mel_cut_plan_count(q->plan); i++) {
        mel_cut_plan_get(q->plan, i, q->c, q->delta);
        mel_basis_place(f, q->c, 0.5, q->delta, q->a, q->b);
        f->ops->row(f, q->a, q->b, q->row);
        double all = 0.0, taken = 0.0;
        for (size_t j = 0; j < d; j++) {
            const double together = mel_dot(d, q->covariance + j * d, q->row);
            all += together * q->row[j];
            taken += q->weight[j] * together * together;
        }
        mel_candidate *k = mel_shortlist_admit(&q->list, taken / all, q->c);
        if (k != NULL)
            memcpy(k->delta, q->delta, q->size * sizeof(double));
    }
}

/* few: middles, so that the pool is not full of much the same candidates. */
static void collect(mel_chooser *q, bool simple, bool few, mel_rng *rng)
{
    const mel_basis *f = q->f;
    const size_t bytes = q->size * sizeof(double);
    q->list.n = 0;
    if (f->ops->middle == NULL) {
        memset(q->c, 0, bytes);
        try_middle(q, q->c, simple);
        return;
    }
    if (q->planned && !simple && !few)
        try_plan(q);
    if (q->list.n > 0)
        return;
    if (f->climbs && !simple && !few) {
        climb(q, rng);
        return;
    }
    double best = -1.0, step = 1.0;
    const int tries = few ? FEW : MIDDLES + REFINE;
    for (int i = 0; i < tries; i++) {
        if (i < MIDDLES) {
            f->ops->middle(f, rng, q->c);
        } else {
            f->ops->nudge(f, rng, step, q->best, q->c);
            step *= shrink;
        }
        const double score = try_middle(q, q->c, simple);
        if (score > best) {
            best = score;
            memcpy(q->best, q->c, bytes);
        }
    }
}

/* --- judging on the samples ------------------------------------------------------------------------- */

static void values_of(const mel_chooser *q, const double *a, const double *b, double *out)
{
    q->f->ops->row(q->f, a, b, q->row);
    for (size_t i = 0; i < q->count; i++)
        out[i] = mel_dot(q->dimension, q->row, q->sample + i * q->dimension);
}

/* The pair of a candidate, into a and b, and what the samples think of it. */
static mel_status place(mel_chooser *q, const mel_candidate *k, bool *found, mel_error *err)
{
    const mel_status status = q->f->ops->pair(q->f, k->c, k->delta, q->a, q->b, found, err);
    if (status == MEL_OK && *found)
        values_of(q, q->a, q->b, q->value);
    return status;
}

/* Where half of the weight is below, to rounding. */
static double staked_median(size_t n, const double *x, const double *weight)
{
    double low = x[0], high = x[0], total = 0.0;
    for (size_t i = 0; i < n; i++) {
        low = fmin(low, x[i]);
        high = fmax(high, x[i]);
        total += weight[i];
    }
    for (int step = 0; step < 60 && low < high; step++) {
        const double middle = 0.5 * (low + high);
        double below = 0.0;
        for (size_t i = 0; i < n; i++)
            below += x[i] <= middle ? weight[i] : 0.0;
        if (below < 0.5 * total)
            low = middle;
        else
            high = middle;
    }
    return 0.5 * (low + high);
}

/* Turns delta towards the mean's slope, by as much as makes half of the samples prefer A. */
static void halve(mel_chooser *q, mel_candidate *k, bool simple)
{
    const size_t s = q->size;
    const mel_basis *f = q->f;
    double *h = q->delta, apart2 = 0.0;
    f->ops->slope(f, k->c, q->mean, h);
    for (size_t i = 0; i < s; i++) {
        if (simple && k->delta[i] == 0.0)
            h[i] = 0.0;
        apart2 += (q->a[i] - q->b[i]) * (q->a[i] - q->b[i]);
    }
    const double length = mel_norm2(s, k->delta), size = mel_norm2(s, h), pair = 0.5 * sqrt(apart2) / length;
    if (!(size > 0.0) || !(pair > 0.0))
        return;
    mel_scale(s, length / size, h);
    for (size_t i = 0; i < s; i++) {
        q->a[i] = k->c[i] + probe * pair * h[i];
        q->b[i] = k->c[i] - probe * pair * h[i];
    }
    values_of(q, q->a, q->b, q->lever);
    size_t ahead = 0;
    for (size_t i = 0; i < q->count; i++) {
        if (!(q->lever[i] > 0.0))
            continue;
        q->work[ahead] = probe * q->value[i] / q->lever[i];
        q->lever[ahead++] = q->stake == NULL ? 1.0 : q->stake[i];
    }
    if ((double)ahead < agree * (double)q->count)
        return;
    const double shift =
        q->stake == NULL ? mel_quantile_select(ahead, q->work, 0.5) : staked_median(ahead, q->work, q->lever);
    mel_axpy(s, -shift, h, k->delta);
}

/* An answer that splits the samples as l = P(A) takes Cov(l, w)^2 / (mean l (1 - mean l)) away from the
 * variance of a coefficient, in expectation. */
static double reduction_of(mel_chooser *q, const double *likely, double share)
{
    const size_t n = q->count, d = q->dimension;
    if (!(share > 0.0 && share < 1.0) || !(q->variance > 0.0))
        return 0.0;
    memset(q->vector, 0, d * sizeof(double));
    for (size_t i = 0; i < n; i++)
        mel_axpy(d, likely[i] - share, q->seen + i * d, q->vector);
    double together = 0.0;
    for (size_t j = 0; j < d; j++)
        together += q->weight[j] * q->vector[j] * q->vector[j];
    return together / ((double)n * (double)n * share * (1.0 - share) * q->variance);
}

/* What the answer to the pair just placed is expected to tell. */
static mel_outlook outlook_of(mel_chooser *q, const mel_sampler *sampler)
{
    const size_t n = q->count;
    double *likely = q->work, share = 0.0, margin = 0.0;
    for (size_t i = 0; i < n; i++) {
        likely[i] = q->gain * q->value[i] / q->length[i];
        margin += fabs(likely[i]) / (double)n;
    }
    mel_sampler_predict(sampler, n, 1, likely);
    mel_outlook outlook = mel_outlook_of(n, likely, &share);
    outlook.reduction = reduction_of(q, likely, share);
    outlook.margin = margin;
    return outlook;
}

static mel_status judge(mel_outlook *outlook, mel_chooser *q, mel_candidate *k, const mel_sampler *sampler,
                        bool simple, mel_error *err)
{
    bool found = false;
    *outlook = (mel_outlook){ 0 };
    mel_status status = place(q, k, &found, err);
    for (int shift = 0; shift < SHIFTS && status == MEL_OK && found; shift++) {
        halve(q, k, simple);
        status = place(q, k, &found, err);
    }
    if (status == MEL_OK && found)
        *outlook = outlook_of(q, sampler);
    return status;
}

/* Whether the pair just placed is one of these. */
static bool is_avoided(mel_chooser *q, const mel_avoided *avoided)
{
    if (avoided == NULL)
        return false;
    q->f->ops->row(q->f, q->a, q->b, q->row);
    return mel_avoided_has(avoided, q->row);
}

mel_status mel_chooser_choose(double *a, double *b, mel_outlook *outlook, mel_chooser *q,
                              const mel_sampler *sampler, bool simple, const mel_avoided *avoided,
                              mel_rng *rng, mel_error *err)
{
    simple = simple || q->f->two_only;
    *outlook = (mel_outlook){ 0 };
    collect(q, simple, avoided != NULL && avoided->n > 0, rng);
    for (size_t i = 0; i < q->list.n; i++) {
        mel_outlook here;
        const mel_status status = judge(&here, q, &q->list.at[i], sampler, simple, err);
        if (status != MEL_OK)
            return status;
        if (here.reduction <= outlook->reduction || is_avoided(q, avoided))
            continue;
        *outlook = here;
        memcpy(a, q->a, q->size * sizeof(double));
        memcpy(b, q->b, q->size * sizeof(double));
    }
    return MEL_OK;
}
