#include "elicit/active/question.h"

#include "base/la.h"
#include "elicit/active/select.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    POOL = 16,    /* candidates that are judged on the samples */
    MIDDLES = 60, /* random middles that are tried */
    REFINE = 40,  /* middles near the best one that are tried then */
    FEW = 3,      /* middles that are tried when questions were put aside */
    SHIFTS = 2    /* rounds of shifting a cut until it halves the samples */
};
/* How much smaller the steps of the refinement get. */
static const double shrink = 0.93;
/* How strongly a direction is kept in the cut through the mean, and flat directions apart. */
static const double through_mean = 1e4, least_share = 1e-9;
/* Size of the pair that measures how a cut shifts, as a share of the longest coordinate of delta. */
static const double probe = 1e-4;
/* Share of the samples that must agree which way a cut shifts. */
static const double agree = 0.97;

typedef struct {
    double *c, *delta; /* size each */
    double score;
} candidate;

struct mel_chooser {
    mel_basis *f;
    size_t count, dimension, size;
    double *room;
    /* The posterior, at the norm at which coefficients are judged. */
    double *sample;     /* count x D */
    double *length;     /* count: l2 norms */
    double *mean;       /* D */
    double *average;    /* D: before it is brought to the norm */
    double *covariance; /* D x D */
    double variance;    /* its trace */
    double level;       /* sample quantile that bounds 95% */
    double gain;
    /* Seen from one middle */
    double *through;        /* D x size: covariance times slopes */
    double *first, *second; /* size x size: M1 (then its Cholesky factor), M2 */
    double *slope;          /* size: of the mean */
    size_t n_pool;
    candidate pool[POOL];
    /* Work */
    double *value, *lever, *work;     /* count */
    double *vector, *other;           /* size or D, the larger */
    double *c, *best, *delta, *a, *b; /* size */
    double *row;                      /* D */
};

void mel_chooser_free(mel_chooser *chooser)
{
    if (chooser == NULL)
        return;
    free(chooser->room);
    free(chooser);
}

static double *take(double **at, size_t n)
{
    double *block = *at;
    *at += n;
    return block;
}

/* Divides the room, or, when there is none yet, counts what is needed. */
static size_t divide_room(mel_chooser *q)
{
    const size_t n = q->count, d = q->dimension, s = q->size, larger = d > s ? d : s;
    double **counts[] = { &q->length, &q->value, &q->lever, &q->work };
    double **dimensions[] = { &q->mean, &q->average, &q->row };
    double **sizes[] = { &q->slope, &q->c, &q->best, &q->delta, &q->a, &q->b };
    const size_t n_counts = sizeof counts / sizeof *counts, n_sizes = sizeof sizes / sizeof *sizes;
    const size_t n_dimensions = sizeof dimensions / sizeof *dimensions;
    const size_t total = n * d + n_counts * n + n_dimensions * d + n_sizes * s + d * d + d * s + 2 * s * s +
                         2 * larger + (size_t)POOL * 2 * s;
    if (q->room == NULL)
        return total;
    double *at = q->room;
    q->sample = take(&at, n * d);
    q->covariance = take(&at, d * d);
    q->through = take(&at, d * s);
    q->first = take(&at, s * s);
    q->second = take(&at, s * s);
    q->vector = take(&at, larger);
    q->other = take(&at, larger);
    for (size_t i = 0; i < n_counts; i++)
        *counts[i] = take(&at, n);
    for (size_t i = 0; i < n_dimensions; i++)
        *dimensions[i] = take(&at, d);
    for (size_t i = 0; i < n_sizes; i++)
        *sizes[i] = take(&at, s);
    for (size_t i = 0; i < POOL; i++) {
        q->pool[i].c = take(&at, s);
        q->pool[i].delta = take(&at, s);
    }
    return total;
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
    q->room = mel_alloc_zero(divide_room(q), sizeof(double));
    if (q->room == NULL) {
        mel_chooser_free(q);
        return mel_fail_memory(err, "the questions");
    }
    (void)divide_room(q);
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

static void find_moments(mel_chooser *q)
{
    const size_t n = q->count, d = q->dimension;
    memset(q->average, 0, d * sizeof(double));
    for (size_t i = 0; i < n; i++)
        mel_axpy(d, 1.0, q->sample + i * d, q->average);
    mel_scale(d, 1.0 / (double)n, q->average);
    memset(q->covariance, 0, d * d * sizeof(double));
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < d; j++)
            q->vector[j] = q->sample[i * d + j] - q->average[j];
        for (size_t j = 0; j < d; j++)
            mel_axpy(j + 1, q->vector[j], q->vector, q->covariance + j * d);
    }
    q->variance = 0.0;
    for (size_t j = 0; j < d; j++) {
        for (size_t k = 0; k <= j; k++)
            q->covariance[k * d + j] = q->covariance[j * d + k] = q->covariance[j * d + k] / (double)n;
        q->variance += q->covariance[j * d + j];
    }
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
    find_moments(q);
    memcpy(q->mean, q->average, d * sizeof(double));
    const double norm = judged_norm(f, q->mean);
    if (norm > 0.0)
        mel_scale(d, 1.0 / norm, q->mean);
    const double length = mel_norm2(d, q->mean),
                 size = f->ops->size == NULL ? length : f->ops->size(f, q->mean);
    q->gain = size > 0.0 ? length / size : 1.0;
    q->level = mel_samples_level(samples, 0.95);
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
    for (size_t i = 0; i < q->count; i++) {
        const double *w = q->sample + i * d;
        double farthest = 0.0;
        for (size_t j = 0; j < d; j++)
            farthest = fmax(farthest, fabs(w[j] - q->mean[j]));
        q->work[i] = farthest;
    }
    return mel_quantile_select(q->count, q->work, q->level);
}

/* --- candidates ------------------------------------------------------------------------------------- */

/* M1 = J C J' and M2 = J C C J' at the middle c, and the slope of the mean there. */
static void look_from(mel_chooser *q, const double *c)
{
    const size_t d = q->dimension, s = q->size;
    const mel_basis *f = q->f;
    for (size_t j = 0; j < d; j++)
        f->ops->slope(f, c, q->covariance + j * d, q->through + j * s);
    memset(q->second, 0, s * s * sizeof(double));
    for (size_t j = 0; j < d; j++)
        for (size_t i = 0; i < s; i++)
            mel_axpy(i + 1, q->through[j * s + i], q->through + j * s, q->second + i * s);
    for (size_t i = 0; i < s; i++) {
        for (size_t j = 0; j < d; j++)
            q->vector[j] = q->through[j * s + i];
        f->ops->slope(f, c, q->vector, q->first + i * s);
        for (size_t j = 0; j < i; j++)
            q->second[j * s + i] = q->second[i * s + j];
    }
    f->ops->slope(f, c, q->mean, q->slope);
}

/* L L' = A in place of the lower triangle. */
static void factorise(size_t n, double *a)
{
    for (size_t i = 0; i < n; i++) {
        const double least = fmax(least_share * fabs(a[i * n + i]), 1e-280);
        for (size_t j = 0; j < i; j++)
            a[i * n + j] = (a[i * n + j] - mel_dot(j, a + i * n, a + j * n)) / a[j * n + j];
        a[i * n + i] = sqrt(fmax(a[i * n + i] - mel_dot(i, a + i * n, a + i * n), least));
    }
}

static void solve_lower(size_t n, const double *l, double *x)
{
    for (size_t i = 0; i < n; i++)
        x[i] = (x[i] - mel_dot(i, l + i * n, x)) / l[i * n + i];
}

static void solve_upper(size_t n, const double *l, double *x)
{
    for (size_t i = n; i-- > 0;) {
        x[i] /= l[i * n + i];
        mel_axpy(i, -x[i], l + i * n, x);
    }
}

/* M1 with a penalty on the mean's slope, factorised. */
static void penalise(mel_chooser *q)
{
    const size_t s = q->size;
    const double slope2 = mel_dot(s, q->slope, q->slope);
    double trace = 0.0;
    for (size_t i = 0; i < s; i++)
        trace += q->first[i * s + i];
    for (size_t i = 0; i < s; i++) {
        q->first[i * s + i] += least_share * trace;
        if (slope2 > 0.0)
            mel_axpy(s, through_mean * trace * q->slope[i] / slope2, q->slope, q->first + i * s);
    }
    factorise(s, q->first);
}

/* Room for a candidate of this score, in place of the worst when the pool is full; NULL: not good enough. */
static candidate *admit(mel_chooser *q, double score)
{
    if (!(score > 0.0) || !isfinite(score))
        return NULL;
    size_t at = q->n_pool;
    if (at < POOL) {
        q->n_pool++;
    } else {
        at = 0;
        for (size_t i = 1; i < POOL; i++)
            if (q->pool[i].score < q->pool[at].score)
                at = i;
        if (q->pool[at].score >= score)
            return NULL;
    }
    q->pool[at].score = score;
    return &q->pool[at];
}

static double pair_score(const mel_chooser *q, size_t a, size_t b)
{
    const size_t s = q->size;
    const double x = q->slope[b], y = -q->slope[a];
    const double up =
        x * x * q->second[a * s + a] + y * y * q->second[b * s + b] + 2.0 * x * y * q->second[a * s + b];
    const double down =
        x * x * q->first[a * s + a] + y * y * q->first[b * s + b] + 2.0 * x * y * q->first[a * s + b];
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
            candidate *k = admit(q, score);
            if (k == NULL)
                continue;
            best = fmax(best, score);
            memcpy(k->c, c, s * sizeof(double));
            memset(k->delta, 0, s * sizeof(double));
            k->delta[a] = q->slope[b];
            k->delta[b] = -q->slope[a];
        }
    return best;
}

/* For every coefficient, the delta whose slopes explain most of its variance; the best share. Cuts along
 * single coefficients leave the posterior in the shape of a box, which is what errors in the largest
 * coefficient ask for: cutting along its longest direction takes a tenth more questions. */
static double try_coefficients(mel_chooser *q, const double *c)
{
    const size_t s = q->size;
    double best = 0.0;
    penalise(q);
    for (size_t j = 0; j < q->dimension; j++) {
        memcpy(q->delta, q->through + j * s, s * sizeof(double));
        solve_lower(s, q->first, q->delta);
        const double score = mel_dot(s, q->delta, q->delta);
        candidate *k = admit(q, score);
        if (k == NULL)
            continue;
        best = fmax(best, score);
        solve_upper(s, q->first, q->delta);
        memcpy(k->c, c, s * sizeof(double));
        memcpy(k->delta, q->delta, s * sizeof(double));
    }
    return best;
}

static double try_middle(mel_chooser *q, const double *c, bool simple)
{
    look_from(q, c);
    return simple ? try_pairs(q, c) : try_coefficients(q, c);
}

/* few: middles, so that the pool is not full of much the same candidates. */
static void collect(mel_chooser *q, bool simple, bool few, mel_rng *rng)
{
    const mel_basis *f = q->f;
    const size_t bytes = q->size * sizeof(double);
    q->n_pool = 0;
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
}

/* --- judging on the samples ------------------------------------------------------------------------- */

static void values_of(const mel_chooser *q, const double *a, const double *b, double *out)
{
    q->f->ops->row(q->f, a, b, q->row);
    for (size_t i = 0; i < q->count; i++)
        out[i] = mel_dot(q->dimension, q->row, q->sample + i * q->dimension);
}

/* The pair of a candidate, into a and b, and what the samples think of it. */
static mel_status place(mel_chooser *q, const candidate *k, bool *found, mel_error *err)
{
    const mel_status status = q->f->ops->pair(q->f, k->c, k->delta, q->a, q->b, found, err);
    if (status == MEL_OK && *found)
        values_of(q, q->a, q->b, q->value);
    return status;
}

/* Turns delta towards the mean's slope, by as much as makes half of the samples prefer A. */
static void halve(mel_chooser *q, candidate *k, bool simple)
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
    for (size_t i = 0; i < q->count; i++)
        if (q->lever[i] > 0.0)
            q->work[ahead++] = probe * q->value[i] / q->lever[i];
    if ((double)ahead >= agree * (double)q->count)
        mel_axpy(s, -mel_quantile_select(ahead, q->work, 0.5), h, k->delta);
}

static double entropy(double p)
{
    return p <= 0.0 || p >= 1.0 ? 0.0 : -(p * log2(p) + (1.0 - p) * log2(1.0 - p));
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
        mel_axpy(d, likely[i] - share, q->sample + i * d, q->vector);
    const double together = mel_dot(d, q->vector, q->vector) / ((double)n * (double)n);
    return together / (share * (1.0 - share) * q->variance);
}

/* What the answer to the pair just placed is expected to tell. */
static mel_outlook outlook_of(mel_chooser *q, const mel_sampler *sampler)
{
    const size_t n = q->count;
    double *likely = q->work, share = 0.0, known = 0.0, margin = 0.0;
    for (size_t i = 0; i < n; i++) {
        likely[i] = q->gain * q->value[i] / q->length[i];
        margin += fabs(likely[i]) / (double)n;
    }
    mel_sampler_predict(sampler, n, 1, likely);
    for (size_t i = 0; i < n; i++) {
        share += likely[i] / (double)n;
        known += entropy(likely[i]) / (double)n;
    }
    return (mel_outlook){
        .information = fmax(0.0, entropy(share) - known),
        .reduction = reduction_of(q, likely, share),
        .margin = margin,
    };
}

static mel_status judge(mel_outlook *outlook, mel_chooser *q, candidate *k, const mel_sampler *sampler,
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
    for (size_t i = 0; i < q->n_pool; i++) {
        mel_outlook here;
        const mel_status status = judge(&here, q, &q->pool[i], sampler, simple, err);
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
