/* What was found next to a metric that is known to be behind the answers. */
#include "elicit/shared.h"
#include "outcome/outcome.h"
#include "rank/rank.h"
#include "space/shared.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static_assert((int)MEL_OUTCOME_PAIRS == (int)MEL_CLOSEST_PAIRS, "agreements are shares of as many pairs");

mel_status mel_outcome_direction(double m[2], const mel_metric *metric, mel_point at, mel_error *err)
{
    const double sign = mel_metric_orientation(metric) == MEL_COST ? -1.0 : 1.0;
    const mel_status status = mel_metric_gradient(m, metric, (const double[]){ at.tp, at.tn }, err);
    if (status != MEL_OK)
        return status;
    m[0] *= sign;
    m[1] *= sign;
    return MEL_OK;
}

/* ---- random pairs ---- */

enum { CORNERS = 64 };

typedef struct {
    const mel_domain *domain;
    size_t size;    /* numbers in a point */
    double *corner; /* spaces: what classifiers achieve that are best for random directions */
    mel_rng rng;
} source;

static mel_status find_corners(source *s, mel_error *err)
{
    double *direction = mel_alloc(s->size, sizeof *direction);
    mel_status status = direction != NULL ? MEL_OK : mel_fail_memory(err, "random classifiers");
    for (size_t i = 0; i < CORNERS && status == MEL_OK; i++) {
        mel_rng_sphere(&s->rng, s->size, direction);
        status = mel_space_linear(s->corner + i * s->size, s->domain->space, direction, err);
    }
    free(direction);
    return status;
}

/* A random mixture of three corners. */
static void draw_mixture(double *point, source *s)
{
    const double u = mel_rng_uniform(&s->rng), v = mel_rng_uniform(&s->rng);
    const double low = fmin(u, v), high = fmax(u, v);
    const double *x = s->corner + mel_rng_below(&s->rng, CORNERS) * s->size,
                 *y = s->corner + mel_rng_below(&s->rng, CORNERS) * s->size,
                 *z = s->corner + mel_rng_below(&s->rng, CORNERS) * s->size;
    for (size_t i = 0; i < s->size; i++)
        point[i] = low * x[i] + (high - low) * y[i] + (1.0 - high) * z[i];
}

static void draw_candidate(double *point, source *s)
{
    const mel_pool *pool = s->domain->pool;
    memcpy(point, pool->value + mel_rng_below(&s->rng, pool->n) * pool->size, pool->size * sizeof *point);
}

/* MEL_OUTCOME_PAIRS first points, then as many second ones, for the caller to free(). */
static mel_status draw_pairs(double **out, const mel_outcome *outcome, mel_error *err)
{
    const mel_layout *layout = mel_metric_layout(outcome->metric);
    const size_t n = (size_t)2 * MEL_OUTCOME_PAIRS;
    source s = { .domain = outcome->domain, .size = mel_layout_size(layout) };
    if (s.domain->face != NULL) {
        *out = mel_closest_pairs(s.domain->face);
        return *out != NULL ? MEL_OK : mel_fail_memory(err, "random pairs");
    }
    mel_rng_seed(&s.rng, outcome->options->seed);
    *out = mel_alloc(s.size, (n + CORNERS) * sizeof **out);
    if (*out == NULL)
        return mel_fail_memory(err, "random pairs");
    s.corner = *out + n * s.size;
    const mel_status status = s.domain->space != NULL ? find_corners(&s, err) : MEL_OK;
    for (size_t i = 0; i < n && status == MEL_OK; i++) {
        double *point = *out + i * s.size;
        if (s.domain->pool != NULL)
            draw_candidate(point, &s);
        else if (s.domain->space != NULL)
            draw_mixture(point, &s);
        else
            mel_ball_random(point, s.domain->ball, mel_ball_radius(s.domain->ball), &s.rng);
    }
    return status;
}

/* The share of the pairs that both metrics order alike; NaN when they are defined at none. */
static double share_alike(const mel_metric *x, const mel_metric *y, size_t size, const double *pairs)
{
    size_t same = 0, defined = 0;
    for (size_t i = 0; i < MEL_OUTCOME_PAIRS; i++) {
        const double *a = pairs + i * size, *b = a + MEL_OUTCOME_PAIRS * size;
        double by_x, by_y;
        if (mel_metric_compare(&by_x, x, a, b, NULL) != MEL_OK ||
            mel_metric_compare(&by_y, y, a, b, NULL) != MEL_OK)
            continue;
        defined++;
        same += (by_x > 0.0) == (by_y > 0.0) && (by_x < 0.0) == (by_y < 0.0);
    }
    return defined != 0 ? (double)same / (double)defined : NAN;
}

static mel_status find_agreement(mel_truth *out, const mel_outcome *outcome, const mel_metric *truth,
                                 mel_error *err)
{
    double *pairs = NULL;
    const mel_status status = draw_pairs(&pairs, outcome, err);
    if (status == MEL_OK)
        out->agreement =
            share_alike(outcome->metric, truth, mel_layout_size(mel_metric_layout(truth)), pairs);
    free(pairs);
    return status;
}

/* ---- what it says ---- */

/* Where it is best on a face, which way is better there, and how far that is from what was found. */
static mel_status find_direction(mel_truth *out, const mel_outcome *outcome, const mel_metric *truth,
                                 mel_error *err)
{
    static const double turn = 6.283185307179586477;
    mel_classifier *best = NULL;
    mel_status status = mel_classifier_best(&best, outcome->domain, truth, err);
    if (status != MEL_OK)
        return status;
    const double *achieved = mel_classifier_get(best).statistics;
    out->best = (mel_point){ achieved[0], achieved[1] };
    mel_classifier_free(best);
    status = mel_outcome_direction(out->direction, truth, out->best, err);
    if (status == MEL_OK && mel_metric_denominator(truth, NULL) == NULL) {
        out->angle = atan2(out->direction[1], out->direction[0]);
        out->apart = fabs(remainder(outcome->summary.angle - out->angle, turn));
    }
    return status;
}

static mel_status find_shares(mel_truth *out, const mel_outcome *outcome, const mel_metric *truth,
                              mel_error *err)
{
    const size_t n = mel_outcome_per_group(outcome->metric);
    const double scale = mel_outcome_weight_scale(truth), *a = mel_metric_tensor(truth, 1);
    if (mel_metric_family(truth) != mel_metric_family(outcome->metric) || !isfinite(scale) || scale == 0.0)
        return MEL_OK;
    out->share = mel_alloc(n, sizeof *out->share);
    if (out->share == NULL)
        return mel_fail_memory(err, "the true weights");
    for (size_t i = 0; i < n; i++)
        out->share[i] = a[i] / scale;
    return MEL_OK;
}

mel_status mel_truth_find(mel_truth *out, const mel_outcome *outcome, const mel_metric *truth, mel_error *err)
{
    const bool planar = outcome->domain->face != NULL;
    *out = (mel_truth){ .agreement = NAN, .angle = NAN, .apart = NAN };
    if (!mel_layout_equal(mel_metric_layout(truth), mel_metric_layout(outcome->metric)))
        return mel_fail(err, MEL_EINVAL, "the true metric is about other statistics than the session");
    mel_status status = mel_outcome_words(&out->words, outcome, truth, err);
    if (status == MEL_OK)
        status = planar ? find_direction(out, outcome, truth, err) : find_shares(out, outcome, truth, err);
    return status == MEL_OK ? find_agreement(out, outcome, truth, err) : status;
}

void mel_truth_clear(mel_truth *truth)
{
    free(truth->words);
    free(truth->share);
}
