/* The next question about given classifiers: every pair by a normal approximation, the best on the samples.
 */
#include "elicit/active/ask/candidates.h"

#include "base/la.h"
#include "base/stat.h"
#include "base/vector.h"
#include "elicit/active/select.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Pairs that are judged on the samples. */
enum { JUDGED = 256 };
/* A logistic answer of scale 1 is nearly a normal one of this standard deviation. */
static const double logistic_spread = 1.7;
/* Least share of a typical difference that answers are taken to show: keeps the blur finite. */
static const double least_shown = 0.01;
static const double two_over_pi = 0.63661977236758134308;

typedef struct {
    size_t a, b;
    double score;
} candidate_pair;

struct mel_candidates {
    size_t count, dimension, samples;
    double gain;     /* of <A - B, w> */
    uint8_t *struck; /* a bit for each pair, by pair_number; NULL: none yet */
    size_t n_struck;
    const mel_avoided *avoided;
    double *point;      /* count x D */
    double *spread;     /* count x D: covariance times point */
    double *value;      /* count: utility of the mean */
    double *sample;     /* D x samples */
    double *bounded;    /* D x samples: far-away coefficients moved nearer; see bound_samples */
    double *seen;       /* the one of these on which spread is measured */
    double *row;        /* D */
    double *mean;       /* D: of what is seen */
    double *covariance; /* D x D: the same */
    double *margin;     /* samples */
    double *likely;     /* samples */
    double variance;    /* trace of the covariance */
    double known;       /* mean entropy of answers given w, where margins do not matter; NaN: they do */
    /* The assumed noise as the normal approximation sees it. */
    double blur2;  /* variance of what blurs small differences */
    double trust2; /* squared share of answers to large differences that are not random */
    size_t n_best;
    candidate_pair best[JUDGED]; /* a heap, the lowest score first */
};

void mel_candidates_free(mel_candidates *chooser)
{
    if (chooser == NULL)
        return;
    free(chooser->struck);
    free(chooser->point); /* and all that was made with it */
    free(chooser);
}

mel_status mel_candidates_new(mel_candidates **out, size_t count, size_t dimension, const double *point,
                              size_t samples, mel_error *err)
{
    *out = NULL;
    if (count < 2)
        return mel_fail(err, MEL_EINVAL, "questions need at least 2 candidates, not %zu", count);
    for (size_t i = 0; i < count; i++)
        if (!mel_all_finite(dimension, point + i * dimension))
            return mel_fail(err, MEL_EINVAL, "classifier %zu has a feature that is not finite", i + 1);
    mel_candidates *q = mel_alloc_zero(1, sizeof *q);
    if (q == NULL)
        return mel_fail_memory(err, "the candidates");
    const size_t d = dimension, points = count * d, cloud = samples * d;
    const mel_part parts[] = {
        { points, { &q->point, &q->spread } },  { count, { &q->value } },
        { cloud, { &q->sample, &q->bounded } }, { d, { &q->row, &q->mean } },
        { d * d, { &q->covariance } },          { samples, { &q->margin, &q->likely } }
    };
    if (!mel_parts_new(MEL_PARTS(parts))) {
        mel_candidates_free(q);
        return mel_fail_memory(err, "the candidates");
    }
    q->count = count;
    q->dimension = dimension;
    q->samples = samples;
    q->gain = 1.0;
    memcpy(q->point, point, points * sizeof(double));
    *out = q;
    return MEL_OK;
}

/* --- which pairs -------------------------------------------------------------------------------- */

void mel_candidates_view(mel_candidates *chooser, double gain, const mel_avoided *avoided)
{
    chooser->gain = gain;
    chooser->avoided = avoided;
}

/* The number of the pair a < b: 0, 1, 2, ... */
static size_t pair_number(size_t a, size_t b)
{
    return b * (b - 1) / 2 + a;
}

static bool is_struck(const mel_candidates *q, size_t a, size_t b)
{
    const size_t at = pair_number(a, b);
    return q->struck != NULL && (q->struck[at / 8] >> at % 8 & 1) != 0;
}

mel_status mel_candidates_strike(mel_candidates *q, size_t a, size_t b, mel_error *err)
{
    const size_t low = a < b ? a : b, high = a < b ? b : a, at = pair_number(low, high);
    if (q->struck == NULL)
        q->struck = mel_alloc_zero(pair_number(0, q->count) / 8 + 1, 1);
    if (q->struck == NULL)
        return mel_fail_memory(err, "the pairs that were asked about");
    q->n_struck += !is_struck(q, low, high);
    q->struck[at / 8] = (uint8_t)(q->struck[at / 8] | 1U << at % 8);
    return MEL_OK;
}

size_t mel_candidates_left(const mel_candidates *q)
{
    return pair_number(0, q->count) - q->n_struck;
}

/* Whether the pair may be chosen; leaves its row behind where pairs are avoided. */
static bool is_open(mel_candidates *q, size_t a, size_t b)
{
    if (is_struck(q, a, b))
        return false;
    if (q->avoided == NULL || q->avoided->n == 0)
        return true;
    const size_t d = q->dimension;
    for (size_t j = 0; j < d; j++)
        q->row[j] = q->point[a * d + j] - q->point[b * d + j];
    return !mel_avoided_has(q->avoided, q->row);
}

/* --- judging on the samples --------------------------------------------------------------------- */

/* out = sum_j x_j column_j */
MEL_WIDE
static void combine(size_t d, size_t n, const double *restrict x, const double *restrict column,
                    double *restrict out)
{
    memset(out, 0, n * sizeof(double));
    for (size_t j = 0; j < d; j++)
        for (size_t i = 0; i < n; i++)
            out[i] += x[j] * column[j * n + i];
}

/* Sum of (x_i - shift) y_i in eight parts, whatever the processor. */
MEL_WIDE
static double shifted_dot(size_t n, const double *restrict x, double shift, const double *restrict y)
{
    double part[8] = { 0 };
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (size_t k = 0; k < 8; k++)
            part[k] += (x[i + k] - shift) * y[i + k];
    for (size_t k = 0; i < n; i++, k++)
        part[k] += (x[i] - shift) * y[i];
    return ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
}

/* As bound_samples of pair.c. */
static void bound_samples(mel_candidates *q)
{
    for (size_t j = 0; j < q->dimension; j++)
        mel_bound_column(q->samples, q->sample + j * q->samples, q->bounded + j * q->samples, 1, q->margin);
}

static void find_moments(mel_candidates *q)
{
    const size_t d = q->dimension, n = q->samples;
    q->variance = 0.0;
    for (size_t j = 0; j < d; j++) {
        q->mean[j] = mel_mean(n, q->seen + j * n);
        for (size_t k = 0; k <= j; k++)
            q->covariance[j * d + k] = q->covariance[k * d + j] =
                shifted_dot(n, q->seen + j * n, q->mean[j], q->seen + k * n) / (double)n;
        q->variance += q->covariance[j * d + j];
    }
}

static void read_samples(mel_candidates *q, const mel_samples *samples)
{
    const size_t d = q->dimension, n = q->samples;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < d; j++)
            q->sample[j * n + i] = samples->w[i * d + j];
    q->seen = q->sample;
    if (samples->noise->slips) {
        bound_samples(q);
        q->seen = q->bounded;
    }
    find_moments(q);
}

/* P(A) for every sample, into likely, from the pair's margins; its mean. */
static double predict(mel_candidates *q, const mel_sampler *sampler, size_t a, size_t b)
{
    const size_t d = q->dimension, n = q->samples;
    for (size_t j = 0; j < d; j++)
        q->row[j] = q->gain * (q->point[a * d + j] - q->point[b * d + j]);
    combine(d, n, q->row, q->sample, q->margin);
    memcpy(q->likely, q->margin, n * sizeof(double));
    mel_sampler_predict(sampler, n, 1, mel_norm2(d, q->row), q->likely);
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += q->likely[i];
    return sum / (double)n;
}

/* Expected share of the variance that the answer takes away: see reduction_of in pair.c. */
static double reduction_of(mel_candidates *q, double share)
{
    const double n = (double)q->samples;
    if (!(share > 0.0 && share < 1.0) || !(q->variance > 0.0))
        return 0.0;
    double sum = 0.0;
    for (size_t j = 0; j < q->dimension; j++) {
        const double c = shifted_dot(q->samples, q->likely, share, q->seen + j * q->samples) / n;
        sum += c * c;
    }
    return sum / (share * (1.0 - share) * q->variance);
}

static double mean_entropy(const mel_candidates *q)
{
    double sum = 0.0;
    for (size_t i = 0; i < q->samples; i++)
        sum += mel_entropy(q->likely[i]);
    return sum / (double)q->samples;
}

/* Wrong answers come as often whatever the pair, so that logarithms are taken once for all of them. */
static void look_at_mistakes(mel_candidates *q, const mel_sampler *sampler)
{
    q->known = NAN;
    if (mel_sampler_samples(sampler)->noise->errs == MEL_ERRS_BY_MARGIN)
        return;
    for (size_t i = 0; i < q->samples; i++)
        q->likely[i] = 1.0;
    mel_sampler_predict(sampler, q->samples, 1, 1.0, q->likely);
    q->known = mean_entropy(q);
}

static mel_outlook look_at(mel_candidates *q, const mel_sampler *sampler, size_t a, size_t b)
{
    const double n = (double)q->samples, share = predict(q, sampler, a, b);
    mel_outlook outlook = { .reduction = reduction_of(q, share) };
    if (!(outlook.reduction > 0.0))
        return outlook;
    for (size_t i = 0; i < q->samples; i++)
        outlook.margin += fabs(q->margin[i]);
    outlook.margin /= n;
    outlook.information = fmax(0.0, mel_entropy(share) - (isnan(q->known) ? mean_entropy(q) : q->known));
    return outlook.margin > 0.0 ? outlook : (mel_outlook){ 0 };
}

/* Where answers may be wrong, variance alone is a poor judge, and information alone leaves some runs far off.
 */
static double worth(mel_outlook outlook)
{
    return outlook.information * outlook.reduction;
}

mel_outlook mel_candidates_judge(mel_candidates *chooser, const mel_sampler *sampler, size_t a, size_t b)
{
    read_samples(chooser, mel_sampler_samples(sampler));
    look_at_mistakes(chooser, sampler);
    return look_at(chooser, sampler, a, b);
}

/* --- every pair, as if the posterior were normal -------------------------------------------------- */

/* Covariance times every point, and the mean's value of it. */
static void look_from_mean(mel_candidates *q)
{
    const size_t d = q->dimension;
    for (size_t i = 0; i < q->count; i++) {
        const double *p = q->point + i * d;
        for (size_t j = 0; j < d; j++)
            q->spread[i * d + j] = mel_dot(d, q->covariance + j * d, p);
        q->value[i] = mel_dot(d, q->mean, p);
    }
}

/* Variance of the difference of two points' utilities over the posterior, averaged over pairs. */
static double typical_variance(mel_candidates *q)
{
    const size_t d = q->dimension;
    double sum = 0.0;
    for (size_t i = 0; i < q->count; i++) {
        const size_t k = (i + 1) % q->count;
        for (size_t j = 0; j < d; j++)
            sum +=
                (q->point[i * d + j] - q->point[k * d + j]) * (q->spread[i * d + j] - q->spread[k * d + j]);
    }
    return fmax(0.0, sum / (double)q->count);
}

/* How far P(A) is from a coin toss, at twice the distance, when all samples saw this margin. */
static double lean(mel_candidates *q, const mel_sampler *sampler, double margin)
{
    for (size_t i = 0; i < q->samples; i++)
        q->likely[i] = margin;
    mel_sampler_predict(sampler, q->samples, 1, 1.0, q->likely);
    return 2.0 * mel_mean(q->samples, q->likely) - 1.0;
}

/* Reads the noise off two predictions: random answers show even at huge margins, blur only at small ones. */
static void look_at_noise(mel_candidates *q, const mel_sampler *sampler)
{
    const double typical = sqrt(typical_variance(q)), trust = lean(q, sampler, 1e100);
    const double shown = trust > 0.0 ? lean(q, sampler, q->gain * typical) / trust : 1.0;
    const double scale = 2.0 * atanh(fmin(1.0, fmax(shown, least_shown)));
    q->blur2 = isfinite(scale) ? pow(logistic_spread * typical / scale, 2.0) : 0.0;
    q->trust2 = trust * trust;
}

static void sift_down(mel_candidates *q)
{
    candidate_pair *heap = q->best;
    const candidate_pair moved = heap[0];
    size_t at = 0;
    for (size_t child = 1; child < q->n_best; child = 2 * at + 1) {
        if (child + 1 < q->n_best && heap[child + 1].score < heap[child].score)
            child++;
        if (heap[child].score >= moved.score)
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

static void keep(mel_candidates *q, candidate_pair pair)
{
    candidate_pair *heap = q->best;
    if (q->n_best == JUDGED) {
        heap[0] = pair;
        sift_down(q);
        return;
    }
    size_t at = q->n_best++;
    for (; at > 0 && heap[(at - 1) / 2].score > pair.score; at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = pair;
}

/* A pair is worth |C x|^2 / (x'C x + blur^2), C the covariance, times what a cut at z standard deviations
 * from the mean is worth, which is largest at 0. */
static void consider(mel_candidates *q, size_t a, size_t b)
{
    const size_t d = q->dimension;
    const double *p = q->point + a * d, *r = q->point + b * d, *u = q->spread + a * d, *v = q->spread + b * d;
    double along = q->blur2, across = 0.0;
    for (size_t j = 0; j < d; j++) {
        const double difference = u[j] - v[j];
        along += (p[j] - r[j]) * difference;
        across += difference * difference;
    }
    if (!(along > 0.0) || !(across > 0.0))
        return;
    const double most = across / along, least = q->n_best == JUDGED ? q->best[0].score : 0.0;
    if (most * q->trust2 * two_over_pi <= least)
        return;
    const double margin = q->value[a] - q->value[b], z2 = margin * margin / along;
    const double tail = mel_normal_cdf(-sqrt(z2)); /* not 1 - tail: far out, tiny over tiny is meant */
    const double open = 0.25 * (1.0 - q->trust2) + q->trust2 * tail * (1.0 - tail);
    const double score = most * q->trust2 * 0.25 * two_over_pi * exp(-z2) / open;
    if (score > least)
        keep(q, (candidate_pair){ .a = a, .b = b, .score = score });
}

static bool before(const candidate_pair *one, const candidate_pair *other)
{
    return one->a != other->a ? one->a < other->a : one->b < other->b;
}

void mel_candidates_choose(size_t *a, size_t *b, mel_outlook *outlook, mel_candidates *q,
                           const mel_sampler *sampler)
{
    read_samples(q, mel_sampler_samples(sampler));
    look_at_mistakes(q, sampler);
    look_from_mean(q);
    look_at_noise(q, sampler);
    q->n_best = 0;
    for (size_t i = 0; i + 1 < q->count; i++)
        for (size_t j = i + 1; j < q->count; j++)
            if (is_open(q, i, j))
                consider(q, i, j);
    const candidate_pair *chosen = NULL;
    *outlook = (mel_outlook){ 0 };
    for (size_t i = 0; i < q->n_best; i++) {
        const candidate_pair *pair = &q->best[i];
        const mel_outlook here = look_at(q, sampler, pair->a, pair->b);
        const double value = worth(here), best = worth(*outlook);
        if (chosen != NULL && (value < best || (value == best && !before(pair, chosen))))
            continue;
        if (!(value > 0.0))
            continue;
        *outlook = here;
        chosen = pair;
    }
    if (chosen == NULL)
        return;
    *a = chosen->a;
    *b = chosen->b;
}
