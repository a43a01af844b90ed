/* Candidates for the next pair: cuts through the posterior's mean along directions in which it is long. */
#include "elicit/active/ask/pair_parts.h"

#include "base/la.h"

#include <math.h>
#include <string.h>

enum {
    MIDDLES = 60,    /* random middles that are tried */
    REFINE = 40,     /* middles near the best one that are tried then */
    FEW = 3,         /* middles that are tried when questions were put aside */
    POWER_STEPS = 40 /* towards the longest direction of the posterior */
};
/* How much smaller the steps of the refinement get. */
static const double shrink = 0.93;

/* How strongly a direction is kept in the cut through the mean, and flat directions apart. */
static const double through_mean = 1e4, least_share = 1e-9;

/* M1 and the mean's slope at the middle c, and M2 when it is asked for. */
static void look_from(mel_chooser *q, const double *c, bool squares)
{
    const mel_basis *f = q->f;
    const size_t d = q->dimension, s = q->size;
    for (size_t j = 0; j < d; j++)
        f->ops->slope(f, c, q->covariance + j * d, q->through + j * s);
    for (size_t i = 0; i < s; i++) {
        for (size_t j = 0; j < d; j++)
            q->row[j] = q->through[j * s + i];
        f->ops->slope(f, c, q->row, q->first + i * s);
    }
    f->ops->slope(f, c, q->mean, q->slope);
    if (!squares)
        return;
    memset(q->second, 0, s * s * sizeof(double));
    for (size_t j = 0; j < d; j++)
        for (size_t i = 0; i < s; i++)
            mel_axpy(i + 1, q->through[j * s + i], q->through + j * s, q->second + i * s);
    for (size_t i = 0; i < s; i++)
        for (size_t j = 0; j < i; j++)
            q->second[j * s + i] = q->second[i * s + j];
}

/* M1 becomes the factor of M1 + penalty slope slope': deltas that solve with it cut through the mean. */
static void factor_through_mean(mel_chooser *q)
{
    const size_t s = q->size;
    const double slope2 = mel_dot(s, q->slope, q->slope);
    double trace = 0.0;
    for (size_t i = 0; i < s; i++)
        trace += q->first[i * s + i];
    const double penalty = slope2 > 0.0 ? through_mean * trace / slope2 : 0.0;
    for (size_t i = 0; i < s; i++) {
        q->first[i * s + i] += least_share * trace;
        mel_axpy(s, penalty * q->slope[i], q->slope, q->first + i * s);
    }
    mel_cholesky_raised(s, q->first, least_share);
}

static double pair_score(const mel_chooser *q, size_t a, size_t b)
{
    const size_t s = q->size;
    const double *first = q->first, x = q->slope[b], y = -q->slope[a];
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
            k->delta[a] = q->slope[b];
            k->delta[b] = -q->slope[a];
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
    factor_through_mean(q);
    for (size_t j = 0; j < q->dimension; j++) {
        memcpy(q->delta, q->through + j * s, s * sizeof(double));
        mel_solve_lower(s, q->first, q->delta);
        const double score = q->weight[j] * mel_dot(s, q->delta, q->delta);
        mel_candidate *k = mel_shortlist_admit(&q->list, score, c);
        if (k == NULL)
            continue;
        best = fmax(best, score);
        mel_solve_upper(s, q->first, q->delta);
        memcpy(k->delta, q->delta, s * sizeof(double));
    }
    return best;
}

/* The delta whose answer takes most of the total variance away, by power steps; its share. Where answers may
 * be wrong the posterior is no box, however it is cut, but has far-away parts that blame other answers: cuts
 * along its longest direction settle these first. */
static double try_longest(mel_chooser *q, const double *c)
{
    const size_t s = q->size;
    double *x = q->delta, *y = q->vector, share = 0.0;
    factor_through_mean(q);
    for (size_t i = 0; i < s; i++)
        x[i] = 1.0 + 0.1 * (double)(i % 7); /* not in a family's symmetries */
    for (int step = 0; step < POWER_STEPS; step++) {
        mel_scale(s, 1.0 / fmax(mel_norm2(s, x), 1e-280), x);
        mel_solve_upper(s, q->first, x);
        for (size_t i = 0; i < s; i++)
            y[i] = mel_dot(s, q->second + i * s, x);
        mel_solve_lower(s, q->first, y);
        share = mel_norm2(s, y);
        memcpy(x, y, s * sizeof(double));
    }
    mel_candidate *k = mel_shortlist_admit(&q->list, share, c);
    if (k == NULL)
        return share;
    mel_solve_upper(s, q->first, x);
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

void mel_chooser_collect(mel_chooser *q, bool simple, bool few, mel_rng *rng)
{
    const mel_basis *f = q->f;
    const size_t bytes = q->size * sizeof(double);
    q->list.n = 0;
    q->list.most = MEL_SHORTLIST;
    if (f->ops->middle == NULL) {
        memset(q->c, 0, bytes);
        try_middle(q, q->c, simple);
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
    /* These are the best if answers are exact; where small differences are hidden, others are. */
    for (q->list.most = MEL_LONG_SHORTLIST; f->as_good > 0.0 && q->list.n < q->list.most;) {
        const size_t before = q->list.n;
        f->ops->middle(f, rng, q->c);
        (void)try_middle(q, q->c, simple);
        if (q->list.n == before)
            break;
    }
}
