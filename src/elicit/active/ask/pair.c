/* The next pair to ask about: the posterior as coefficients are judged, and candidates judged on its samples.
 */
#include "elicit/active/ask/pair.h"

#include "base/la.h"
#include "elicit/active/select.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- candidates, and what answers are expected to tell ---------------------------------------------- */

void mel_shortlist_new(mel_shortlist *list, size_t most, size_t size, double *room)
{
    *list = (mel_shortlist){ .size = size, .most = most };
    for (size_t i = 0; i < most; i++)
        list->at[i] = (mel_candidate){ .c = room + 2 * i * size, .delta = room + (2 * i + 1) * size };
}

mel_candidate *mel_shortlist_admit(mel_shortlist *list, double score, const double *c)
{
    if (!(score > 0.0) || !isfinite(score))
        return NULL;
    size_t at = list->n;
    if (at < list->most) {
        list->n++;
    } else {
        at = 0;
        for (size_t i = 1; i < list->most; i++)
            if (list->at[i].score < list->at[at].score)
                at = i;
        if (list->at[at].score >= score)
            return NULL;
    }
    mel_candidate *k = &list->at[at];
    k->score = score;
    memcpy(k->c, c, list->size * sizeof(double));
    memset(k->delta, 0, list->size * sizeof(double));
    return k;
}

double mel_entropy(double p)
{
    return p <= 0.0 || p >= 1.0 ? 0.0 : -(p * log2(p) + (1.0 - p) * log2(1.0 - p));
}

mel_outlook mel_outlook_of(size_t n, const double *likely, double *share)
{
    double known = 0.0;
    *share = 0.0;
    for (size_t i = 0; i < n; i++) {
        *share += likely[i] / (double)n;
        known += mel_entropy(likely[i]) / (double)n;
    }
    return (mel_outlook){ .information = fmax(0.0, mel_entropy(*share) - known) };
}

enum { MOST = 8 };

mel_status mel_avoided_new(mel_avoided *avoided, size_t dimension, mel_error *err)
{
    *avoided = (mel_avoided){ .dimension = dimension, .alike = MEL_ALIKE };
    avoided->row = mel_alloc_zero(dimension, MOST * sizeof *avoided->row);
    return avoided->row != NULL ? MEL_OK : mel_fail_memory(err, "the questions");
}

void mel_avoided_free(mel_avoided *avoided)
{
    free(avoided->row);
    *avoided = (mel_avoided){ 0 };
}

void mel_avoided_add(mel_avoided *avoided, const double *row)
{
    const size_t d = avoided->dimension;
    const double length = mel_norm2(d, row);
    if (!(length > 0.0))
        return;
    double *kept = avoided->row + avoided->n++ % MOST * d;
    for (size_t i = 0; i < d; i++)
        kept[i] = row[i] / length;
}

void mel_avoided_clear(mel_avoided *avoided)
{
    avoided->n = 0;
}

bool mel_avoided_has(const mel_avoided *avoided, const double *row)
{
    if (avoided == NULL || avoided->n == 0)
        return false;
    const size_t d = avoided->dimension, n = avoided->n < MOST ? avoided->n : MOST;
    const double limit = avoided->alike * mel_norm2(d, row);
    for (size_t i = 0; i < n; i++)
        if (fabs(mel_dot(d, avoided->row + i * d, row)) >= limit)
            return true;
    return false;
}

/* --- the chooser ------------------------------------------------------------------------------------- */

struct mel_chooser {
    mel_basis *f;
    size_t count, dimension, size;
    double *kept; /* what candidates point to */
    /* The posterior, at the norm at which coefficients are judged. */
    double *sample;     /* count x D */
    double *bounded;    /* count x D: see bound_samples */
    const double *seen; /* count x D: the one of these on which spread is measured */
    double *view;       /* count x n_judged: seen as the numbers that are judged; NULL: as they are */
    double *length;     /* count: l2 norms */
    double *mean;       /* D */
    double *average;    /* D: before it is brought to the norm */
    double *covariance; /* D x D */
    double *weight;     /* n_judged: how much their variances count */
    double variance;    /* their weighted sum */
    double radius;
    double gain;         /* of the pair judged last */
    bool long_cuts;      /* answers may be wrong at any margin */
    bool widest_first;   /* see weight_of */
    const double *stake; /* count: mel_samples'; NULL: all alike; lent until the next look */
    /* The second moments seen from one middle c: a symmetric pair c +- delta reads the slopes J w at c, so
     * with C the covariance its answer sees the variance delta' M1 delta, M1 = J C J', and explains
     * (e_j' C J' delta)^2 / delta' M1 delta of that of coefficient j. */
    double *through; /* D x size: C J' */
    double *first;   /* size x size: M1, then the Cholesky factor that keeps cuts through the mean */
    double *second;  /* size x size: M2 = J C C J' */
    double *slope;   /* size: J mean */
    mel_shortlist list;
    /* Work */
    double *value, *lever, *work;     /* count */
    double *vector;                   /* size or D, the larger */
    double *c, *best, *delta, *a, *b; /* size */
    double *row;                      /* D */
};

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

void mel_factor_through_mean(size_t n, double *first, const double *slope)
{
    const double slope2 = mel_dot(n, slope, slope);
    double trace = 0.0;
    for (size_t i = 0; i < n; i++)
        trace += first[i * n + i];
    const double penalty = slope2 > 0.0 ? through_mean * trace / slope2 : 0.0;
    for (size_t i = 0; i < n; i++) {
        first[i * n + i] += least_share * trace;
        mel_axpy(n, penalty * slope[i], slope, first + i * n);
    }
    mel_cholesky_raised(n, first, least_share);
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
    mel_factor_through_mean(s, q->first, q->slope);
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
    mel_factor_through_mean(s, q->first, q->slope);
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

/* Fills the list with the candidates that promise most if the posterior were normal. few: from few middles,
 * so that the list is not full of much the same candidates. */
static void collect_candidates(mel_chooser *q, bool simple, bool few, mel_rng *rng)
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

enum { SHIFTS = 2 }; /* rounds of shifting a cut until it halves the samples */
/* Size of the pair that measures how a cut shifts, as a share of the longest coordinate of delta. */
static const double probe = 1e-4;
/* Share of the samples that must agree which way a cut shifts. */
static const double agree = 0.97;

void mel_chooser_free(mel_chooser *chooser)
{
    if (chooser == NULL)
        return;
    free(chooser->sample); /* and all that was made with it */
    free(chooser);
}

static mel_status make_room(mel_chooser *q, mel_error *err)
{
    const size_t n = q->count, d = q->dimension, s = q->size, v = q->f->n_judged;
    const size_t larger = d > s ? d : s, most = larger > v ? larger : v;
    const size_t listed = q->f->as_good > 0.0 ? MEL_LONG_SHORTLIST : MEL_SHORTLIST;
    const mel_part parts[] = { { n * d, { &q->sample, &q->bounded } },
                               { d * d, { &q->covariance } },
                               { d * s, { &q->through } },
                               { s * s, { &q->first, &q->second } },
                               { most, { &q->vector } },
                               { q->f->ops->judged != NULL ? n * v : 1, { &q->view } },
                               { n, { &q->length, &q->value, &q->lever, &q->work } },
                               { d, { &q->mean, &q->average, &q->row } },
                               { most, { &q->weight } },
                               { s, { &q->c, &q->best, &q->delta, &q->a, &q->b, &q->slope } },
                               { 2 * listed * s, { &q->kept } } };
    if (!mel_parts_new(MEL_PARTS(parts)))
        return mel_fail_memory(err, "the questions");
    mel_shortlist_new(&q->list, listed, s, q->kept);
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
    const mel_status status = make_room(q, err);
    if (status != MEL_OK) {
        mel_chooser_free(q);
        return status;
    }
    *out = q;
    return MEL_OK;
}

/* --- the posterior ---------------------------------------------------------------------------------- */

/* Samples that blame other answers than most do are far away, and few of them make up most of the variance.
 * Questions that reduce it would settle these first and divide the rest unevenly. */
static void bound_samples(mel_chooser *q)
{
    for (size_t j = 0; j < q->dimension; j++)
        mel_bound_column(q->count, q->sample + j, q->bounded + j, q->dimension, q->work);
}

/* Moments of the samples as the chooser sees them. */
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

/* Posterior variance of judged number j. */
static double variance_of(const mel_chooser *q, size_t j)
{
    const size_t n = q->count, v = q->f->n_judged;
    if (q->f->ops->judged == NULL)
        return q->covariance[j * v + j];
    double mean = 0.0, squares = 0.0;
    for (size_t i = 0; i < n; i++)
        mean += q->view[i * v + j] / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += (q->view[i * v + j] - mean) * (q->view[i * v + j] - mean);
    return squares / (double)n;
}

/* How much a coefficient's variance counts, by its share of the greatest: what is known worst decides when
 * all is known well enough. With a band the widest comes first. */
static double weight_of(const mel_chooser *q, double share)
{
    return q->widest_first ? share * share * share * share : 1.0;
}

static void find_weights(mel_chooser *q)
{
    const size_t n = q->f->n_judged;
    const double *unit = q->f->unit;
    double greatest = 0.0;
    for (size_t j = 0; j < n; j++) {
        const double own = unit != NULL ? unit[j] * unit[j] : 1.0;
        q->weight[j] = q->f->stress != NULL ? q->f->stress[j] : own;
        q->vector[j] = variance_of(q, j);
        greatest = fmax(greatest, q->weight[j] * q->vector[j]);
    }
    q->variance = 0.0;
    for (size_t j = 0; j < n; j++) {
        const double variance = q->weight[j] * q->vector[j];
        if (greatest > 0.0)
            q->weight[j] *= weight_of(q, variance / greatest);
        q->variance += q->weight[j] * q->vector[j];
    }
}

/* The samples as the numbers that are judged, and how far these are from the mean's. */
static void find_view(mel_chooser *q, const mel_samples *samples)
{
    const mel_basis *f = q->f;
    const size_t n = f->n_judged;
    const double *view = q->sample, *mean = q->mean;
    if (f->ops->judged != NULL) {
        for (size_t i = 0; i < q->count; i++)
            f->ops->judged(f, q->sample + i * q->dimension, q->view + i * n);
        f->ops->judged(f, q->mean, q->vector);
        view = q->view;
        mean = q->vector;
    }
    q->radius = mel_cloud_radius(q->count, n, view, mean, f->unit, mel_samples_level(samples, 0.975),
                                 mel_samples_radius_level(samples), q->work);
}

void mel_chooser_look(mel_chooser *q, const mel_sampler *sampler)
{
    const mel_samples *samples = mel_sampler_samples(sampler);
    const mel_basis *f = q->f;
    const size_t d = q->dimension;
    memcpy(q->sample, samples->w, q->count * d * sizeof(double));
    for (size_t i = 0; i < q->count; i++) {
        double *w = q->sample + i * d;
        mel_scale(d, 1.0 / mel_basis_norm(f, w), w);
        q->length[i] = mel_norm2(d, w);
    }
    const bool flips = samples->noise->slips;
    if (flips)
        bound_samples(q);
    q->seen = flips ? q->bounded : q->sample;
    q->widest_first = samples->noise->band;
    find_moments(q);
    memcpy(q->mean, flips ? samples->centre : q->average, d * sizeof(double));
    q->long_cuts = flips;
    q->stake = samples->stake;
    const double norm = mel_basis_norm(f, q->mean);
    if (norm > 0.0)
        mel_scale(d, 1.0 / norm, q->mean);
    find_view(q, samples);
    find_weights(q);
}

const double *mel_chooser_samples(const mel_chooser *chooser)
{
    return chooser->sample;
}

const double *mel_chooser_mean(const mel_chooser *chooser)
{
    return chooser->mean;
}

double mel_chooser_gain(const mel_chooser *chooser, const double *a, const double *b)
{
    return mel_basis_gain(chooser->f, chooser->mean, a, b);
}

double mel_chooser_radius(const mel_chooser *chooser)
{
    return chooser->radius;
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
    const size_t n = q->count, v = q->f->n_judged;
    const double *view = q->f->ops->judged != NULL ? q->view : q->seen;
    if (!(share > 0.0 && share < 1.0) || !(q->variance > 0.0))
        return 0.0;
    memset(q->vector, 0, v * sizeof(double));
    for (size_t i = 0; i < n; i++)
        mel_axpy(v, likely[i] - share, view + i * v, q->vector);
    double together = 0.0;
    for (size_t j = 0; j < v; j++)
        together += q->weight[j] * q->vector[j] * q->vector[j];
    return together / ((double)n * (double)n * share * (1.0 - share) * q->variance);
}

/* What the answer to a pair whose values are known is expected to tell. */
static mel_outlook outlook_of(mel_chooser *q, const mel_sampler *sampler, const double *a, const double *b)
{
    const double gain = q->gain = mel_chooser_gain(q, a, b);
    const size_t n = q->count;
    double *likely = q->work, share = 0.0, margin = 0.0;
    for (size_t i = 0; i < n; i++) {
        likely[i] = gain * q->value[i] / q->length[i];
        margin += fabs(likely[i]) / (double)n;
    }
    mel_sampler_predict(sampler, n, 1, gain * mel_norm2(q->dimension, q->row), likely);
    mel_outlook outlook = mel_outlook_of(n, likely, &share);
    outlook.reduction = reduction_of(q, likely, share);
    outlook.margin = margin;
    return outlook;
}

mel_outlook mel_chooser_judge(mel_chooser *q, const mel_sampler *sampler, const double *a, const double *b)
{
    values_of(q, a, b, q->value);
    return outlook_of(q, sampler, a, b);
}

const double *mel_chooser_likely(const mel_chooser *q, double *share)
{
    double sum = 0.0;
    for (size_t i = 0; i < q->count; i++)
        sum += q->work[i];
    *share = sum / (double)q->count;
    return q->work;
}

const double *mel_chooser_likely_usually(mel_chooser *q, const mel_noise_ops *noise, double *share)
{
    const mel_component usual = noise->given(noise->usual_size);
    const double gain = q->gain * mel_component_sharpness(&usual, 0.0);
    for (size_t i = 0; i < q->count; i++)
        q->work[i] = mel_component_choice(&usual, gain * q->value[i] / q->length[i], 0.0);
    return mel_chooser_likely(q, share);
}

static mel_status judge(mel_outlook *outlook, mel_chooser *q, mel_candidate *k, const mel_sampler *sampler,
                        bool simple, mel_error *err)
{
    /* A mean is pulled along by far-away parts of the posterior, which cuts through its median leave alone.
     */
    const int shifts = q->long_cuts && q->f->reports_mean ? 0 : SHIFTS;
    bool found = false;
    *outlook = (mel_outlook){ 0 };
    mel_status status = place(q, k, &found, err);
    for (int shift = 0; shift < shifts && status == MEL_OK && found; shift++) {
        halve(q, k, simple);
        status = place(q, k, &found, err);
    }
    if (status == MEL_OK && found)
        *outlook = outlook_of(q, sampler, q->a, q->b);
    return status;
}

static double distance(size_t n, const double *a, const double *b)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum);
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
    const size_t s = q->size;
    const double enough = q->f->as_good > 0.0 ? q->f->as_good : 1.0;
    double most = 0.0, longest = 0.0;
    simple = simple || q->f->two_only;
    *outlook = (mel_outlook){ 0 };
    collect_candidates(q, simple, avoided != NULL && avoided->n > 0, rng);
    for (size_t i = 0; i < q->list.n; i++) {
        mel_candidate *k = &q->list.at[i];
        mel_outlook here;
        const mel_status status = judge(&here, q, k, sampler, simple, err);
        if (status != MEL_OK)
            return status;
        k->outlook = is_avoided(q, avoided) ? (mel_outlook){ 0 } : here;
        most = fmax(most, k->outlook.reduction);
        memcpy(k->c, q->a, s * sizeof(double));
        memcpy(k->delta, q->b, s * sizeof(double));
    }
    for (size_t i = 0; i < q->list.n && most > 0.0; i++) {
        const mel_candidate *k = &q->list.at[i];
        const double length = q->f->as_good > 0.0 ? distance(s, k->c, k->delta) : k->outlook.reduction;
        if (k->outlook.reduction < enough * most || length <= longest)
            continue;
        longest = length;
        *outlook = k->outlook;
        memcpy(a, k->c, s * sizeof(double));
        memcpy(b, k->delta, s * sizeof(double));
    }
    return MEL_OK;
}
