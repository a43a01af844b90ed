/* Candidates for the next line: cuts through the posterior's mean along directions in which it is long. */
#include "elicit/active/ask/line_parts.h"

#include "base/la.h"
#include "space/shared.h"

#include <math.h>
#include <string.h>

enum {
    MIDDLES = 80, /* random points that lines go through */
    REFINE = 60,  /* near the best one */
    POWER = 6     /* steps of the power method */
};
/* How much smaller the steps of the refinement get. */
static const double shrink = 0.95;
/* How strongly a direction is kept in the cut through the mean, and flat directions apart. */
static const double through_mean = 1e4, least_share = 1e-9;
/* Lines stay this close to the ball's centre, in radii: at most, and when noise hides small differences. */
static const double outermost = 0.97, outermost_blurred = 0.7;

void mel_lines_inside(const mel_lines *l, size_t i, size_t j, mel_point point, double *x)
{
    for (size_t k = 0; k < l->n; k++)
        x[k] = -1.0;
    x[i] = point.tp / mel_class_faces_unit(&l->faces, i) / l->region->unit[i] - 1.0;
    x[j] = point.tn / mel_class_faces_unit(&l->faces, j) / l->region->unit[j] - 1.0;
}

/* M1 = J C J' and M2 = J C C J' at the point c, and the slope of the mean there. */
static void look_from(mel_lines *l, const double *c)
{
    const mel_samples *samples = mel_bivector_sampler_samples(l->sampler);
    const size_t n = l->n, d = 2 * n;
    mel_bivector_slope(n, samples->mean, c, l->slope);
    mel_bivector_jacobian(n, samples->mean, c, l->jacobian);
    for (size_t k = 0; k < d; k++)
        for (size_t i = 0; i < n; i++)
            l->through[k * n + i] = mel_dot(d, samples->covariance + k * d, l->jacobian + i * d);
    memset(l->first, 0, n * n * sizeof(double));
    memset(l->second, 0, n * n * sizeof(double));
    for (size_t k = 0; k < d; k++)
        for (size_t i = 0; i < n; i++) {
            mel_axpy(n, l->jacobian[i * d + k], l->through + k * n, l->first + i * n);
            mel_axpy(n, l->through[k * n + i], l->through + k * n, l->second + i * n);
        }
}

/* M1 with a penalty on the mean's slope, as its Cholesky factor. */
static void penalise(mel_lines *l)
{
    const size_t n = l->n;
    double *a = l->first, trace = 0.0;
    const double slope2 = mel_dot(n, l->slope, l->slope);
    for (size_t i = 0; i < n; i++)
        trace += a[i * n + i];
    for (size_t i = 0; i < n; i++) {
        a[i * n + i] += least_share * trace;
        if (slope2 > 0.0)
            mel_axpy(n, through_mean * trace * l->slope[i] / slope2, l->slope, a + i * n);
    }
    for (size_t i = 0; i < n; i++) {
        const double least = fmax(least_share * fabs(a[i * n + i]), 1e-280);
        for (size_t j = 0; j < i; j++)
            a[i * n + j] = (a[i * n + j] - mel_dot(j, a + i * n, a + j * n)) / a[j * n + j];
        a[i * n + i] = sqrt(fmax(a[i * n + i] - mel_dot(i, a + i * n, a + i * n), least));
    }
}

/* delta in the plane of coordinates i and j; its score. */
static double try_plane(mel_lines *l, const double *c, size_t i, size_t j)
{
    const size_t n = l->n;
    const double x = l->slope[j], y = -l->slope[i], *m = l->second, *v = l->first;
    const double up = x * x * m[i * n + i] + y * y * m[j * n + j] + 2.0 * x * y * m[i * n + j];
    const double down = x * x * v[i * n + i] + y * y * v[j * n + j] + 2.0 * x * y * v[i * n + j];
    const double score = down > 0.0 ? up / down : 0.0;
    mel_candidate *k = mel_shortlist_admit(&l->list, score, c);
    if (k == NULL)
        return score;
    k->delta[i] = x;
    k->delta[j] = y;
    k->i = i;
    k->j = j;
    return score;
}

/* The delta whose cut takes away most of the variance: the leading eigenvector of M1^-1 M2. */
static double try_any(mel_lines *l, const double *c)
{
    const size_t n = l->n;
    double score = 0.0, *x = l->delta, *y = l->other;
    penalise(l);
    for (size_t i = 0; i < n; i++)
        x[i] = 1.0 + 0.1 * (double)(i % 3) * ((i & 1) != 0 ? 1.0 : -1.0);
    for (int step = 0; step < POWER; step++) {
        mel_solve_upper(n, l->first, x);
        for (size_t i = 0; i < n; i++)
            y[i] = mel_dot(n, l->second + i * n, x);
        mel_solve_lower(n, l->first, y);
        score = mel_norm2(n, y);
        if (!(score > 0.0) || !isfinite(score))
            return 0.0;
        for (size_t i = 0; i < n; i++)
            x[i] = y[i] / score;
    }
    mel_candidate *k = mel_shortlist_admit(&l->list, score, c);
    if (k == NULL)
        return score;
    mel_solve_upper(n, l->first, x);
    memcpy(k->delta, x, n * sizeof(double));
    return score;
}

static double try_point(mel_lines *l, const double *c, bool simple)
{
    look_from(l, c);
    if (!simple)
        return try_any(l, c);
    double best = 0.0;
    for (size_t i = 0; i < l->n; i++)
        for (size_t j = i + 1; j < l->n; j++)
            best = fmax(best, try_plane(l, c, i, j));
    return best;
}

static double reach(const mel_lines *l)
{
    const mel_samples *samples = mel_bivector_sampler_samples(l->sampler);
    return samples->noise->errs == MEL_ERRS_BY_MARGIN ? outermost_blurred : outermost;
}

/* A random point of the ball, more often near the edge and along +-s, where t shows most. */
static void random_middle(mel_lines *l, mel_rng *rng, double *c)
{
    const size_t n = l->n;
    const double *s = mel_bivector_sampler_samples(l->sampler)->mean;
    const double out = reach(l) * pow(mel_rng_uniform(rng), 0.25);
    const double pull = 4.0 * mel_rng_uniform(rng) - 2.0;
    mel_rng_sphere(rng, n, c);
    mel_axpy(n, pull, s, c);
    const double length = mel_norm2(n, c);
    if (length > 0.0)
        mel_scale(n, out / length, c);
}

static void nudge(mel_lines *l, mel_rng *rng, double step, double *c)
{
    const size_t n = l->n;
    for (size_t i = 0; i < n; i++)
        c[i] = l->best[i] + step * mel_rng_normal(rng) / sqrt((double)n);
    const double length = mel_norm2(n, c), most = reach(l);
    if (length > most)
        mel_scale(n, most / length, c);
}

static void collect_ball(mel_lines *l, bool simple, mel_rng *rng)
{
    double best = -1.0, step = 0.5;
    for (int i = 0; i < MIDDLES + REFINE; i++) {
        if (i < MIDDLES) {
            random_middle(l, rng, l->c);
        } else {
            nudge(l, rng, step, l->c);
            step *= shrink;
        }
        const double score = try_point(l, l->c, simple);
        if (score > best) {
            best = score;
            memcpy(l->best, l->c, l->n * sizeof(double));
        }
    }
}

/* Random points of all faces, then points between the best one and others of its face. */
static void collect_faces(mel_lines *l, mel_rng *rng)
{
    const size_t n = l->n, faces = n * (n - 1) / 2, rounds = (MIDDLES + REFINE) / faces + 1;
    double best = -1.0, step = 0.5;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++)
            for (size_t k = 0; k < rounds + 2; k++) {
                mel_lines_inside(l, i, j, mel_face_random(l->faces.face[i * n + j], rng), l->c);
                look_from(l, l->c);
                const double score = try_plane(l, l->c, i, j);
                if (!(score > best))
                    continue;
                best = score;
                memcpy(l->best, l->c, n * sizeof(double));
                l->best_i = i;
                l->best_j = j;
            }
    for (int k = 0; k < REFINE && best > 0.0; k++) {
        const size_t i = l->best_i, j = l->best_j;
        mel_lines_inside(l, i, j, mel_face_random(l->faces.face[i * n + j], rng), l->c);
        for (size_t m = 0; m < n; m++)
            l->c[m] = l->best[m] + step * (l->c[m] - l->best[m]);
        step *= shrink;
        look_from(l, l->c);
        const double score = try_plane(l, l->c, i, j);
        if (score > best) {
            best = score;
            memcpy(l->best, l->c, n * sizeof(double));
        }
    }
}

void mel_lines_collect(mel_lines *l, bool simple, mel_rng *rng)
{
    l->list.n = 0;
    if (l->space != NULL)
        collect_faces(l, rng);
    else
        collect_ball(l, simple, rng);
}
