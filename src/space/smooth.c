/* The population that follows a sample's boundary most closely (section 8.1.1 of the thesis). */
#include "space/face.h"

#include <math.h>
#include <stdlib.h>

enum { N_STEPS = 10000, N_THRESHOLDS = N_STEPS + 1, COARSE_STEP = 100 };

/* The sample at the thresholds 0, 1e-4, ..., 1, in shares of its positives and negatives together. */
typedef struct {
    double tp[N_THRESHOLDS], tn[N_THRESHOLDS];
    double log_t[N_THRESHOLDS], log_rest[N_THRESHOLDS]; /* log t, log(1 - t) */
} target;

/* Half the sum of squares at (log a, b), its gradient and the Gauss-Newton matrix. */
typedef struct {
    double sum;
    double gradient[2];
    double matrix[3]; /* aa, ab, bb */
} fit_model;

/* One coordinate of the population as a function of the threshold: (top + log)/(2 a), at least 0 and at
 * most its share, with derivatives by log a and b. */
typedef struct {
    double top, scale, share;
    double open[2], full[2]; /* derivatives of top/(2 a) by (log a, b), and of the share */
} coordinate;

static double softplus(double x)
{
    return x > 0.0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

/* sign -1: TP, whose logs are log(1 - t); sign 1: TN with log t. */
static coordinate coordinate_at(double a, double b, double sign)
{
    const double near = mel_sigmoid(a + sign * b), far = mel_sigmoid(-a + sign * b);
    coordinate c = { .scale = 0.5 / a };
    c.top = softplus(a + sign * b);
    c.share = (softplus(a + sign * b) - softplus(-a + sign * b)) * c.scale;
    c.open[0] = near / 2.0;
    c.open[1] = sign * near * c.scale;
    c.full[0] = (near + far) / 2.0 - c.share;
    c.full[1] = sign * (near - far) * c.scale;
    return c;
}

static void add_residual(fit_model *m, const coordinate *c, double log, double sample)
{
    const double value = (c->top + log) * c->scale;
    double d[2] = { 0.0, 0.0 }, residual = -sample;
    if (value >= c->share) {
        residual += c->share;
        d[0] = c->full[0];
        d[1] = c->full[1];
    } else if (value > 0.0) {
        residual += value;
        d[0] = c->open[0] - value;
        d[1] = c->open[1];
    }
    m->sum += residual * residual / 2.0;
    m->gradient[0] += residual * d[0];
    m->gradient[1] += residual * d[1];
    m->matrix[0] += d[0] * d[0];
    m->matrix[1] += d[0] * d[1];
    m->matrix[2] += d[1] * d[1];
}

static fit_model evaluate(const target *t, double log_a, double b, size_t step)
{
    const double a = exp(log_a);
    const coordinate tp = coordinate_at(a, b, -1.0), tn = coordinate_at(a, b, 1.0);
    fit_model m = { 0 };
    for (size_t i = 0; i < N_THRESHOLDS; i += step) {
        add_residual(&m, &tp, t->log_rest[i], t->tp[i]);
        add_residual(&m, &tn, t->log_t[i], t->tn[i]);
    }
    return m;
}

typedef struct {
    double log_a, b, sum;
} candidate;

/* Slopes that a boundary of doubles can show, and offsets that leave some positives and negatives. */
static candidate bounded(double log_a, double b)
{
    const double flattest = log(1e-3), steepest = log(1e3), rarest = 20.0;
    candidate c = { .log_a = fmax(flattest, fmin(steepest, log_a)) };
    const double most = exp(c.log_a) + rarest;
    c.b = fmax(-most, fmin(most, b));
    return c;
}

/* Levenberg-Marquardt from a start. */
static candidate descend_from(const target *t, candidate at)
{
    enum { MOST_STEPS = 200 };
    const double strongest = 1e12, settled = 1e-14;
    double damping = 1e-3;
    fit_model m = evaluate(t, at.log_a, at.b, 1);
    for (int i = 0; i < MOST_STEPS && damping < strongest; i++) {
        const double aa = m.matrix[0] * (1.0 + damping), bb = m.matrix[2] * (1.0 + damping);
        const double determinant = aa * bb - m.matrix[1] * m.matrix[1];
        if (!(determinant > 0.0))
            break;
        const double step_a = (m.matrix[1] * m.gradient[1] - bb * m.gradient[0]) / determinant;
        const double step_b = (m.matrix[1] * m.gradient[0] - aa * m.gradient[1]) / determinant;
        const candidate next = bounded(at.log_a + step_a, at.b + step_b);
        const fit_model there = evaluate(t, next.log_a, next.b, 1);
        if (!(there.sum < m.sum)) {
            damping *= 10.0;
            continue;
        }
        const bool done = fabs(next.log_a - at.log_a) + fabs(next.b - at.b) < settled;
        at = next;
        m = there;
        damping = fmax(damping / 10.0, 1e-12);
        if (done)
            break;
    }
    at.sum = m.sum;
    return at;
}

/* The best offset for a slope, among offsets in units of 1/2 and of a tenth of the slope, on every
 * hundredth threshold. */
static candidate best_offset(const target *t, double a)
{
    enum { HALVES = 16, TENTHS = 12 };
    candidate best = { .sum = INFINITY };
    for (int i = -HALVES - TENTHS; i <= HALVES + TENTHS; i++) {
        const double b = i < -HALVES  ? a * (i + HALVES) / 10.0
                         : i > HALVES ? a * (i - HALVES) / 10.0
                                      : i / 2.0;
        candidate c = bounded(log(a), b);
        c.sum = evaluate(t, c.log_a, c.b, COARSE_STEP).sum;
        if (c.sum < best.sum)
            best = c;
    }
    return best;
}

/* Thresholds that come to be clipped put kinks and small valleys into the sum of squares: the best of
 * descents from the four most promising slopes. */
static candidate fit_population(const target *t)
{
    static const double slopes[] = { 0.01, 0.1, 0.3, 0.7, 1.5, 3, 5, 8, 12, 20, 40, 100, 300 };
    enum { N_SLOPES = sizeof slopes / sizeof *slopes, N_DESCENTS = 4 };
    candidate starts[N_SLOPES], best = { .sum = INFINITY };
    for (size_t i = 0; i < N_SLOPES; i++) {
        candidate c = best_offset(t, slopes[i]);
        size_t at = i;
        for (; at > 0 && starts[at - 1].sum > c.sum; at--)
            starts[at] = starts[at - 1];
        starts[at] = c;
    }
    for (size_t i = 0; i < N_DESCENTS; i++) {
        const candidate c = descend_from(t, starts[i]);
        if (c.sum < best.sum)
            best = c;
    }
    return best;
}

static void aim_at_sample(target *t, const mel_staircase *staircase)
{
    double *threshold = t->log_t; /* borrowed until the logs are taken */
    for (size_t i = 0; i < N_THRESHOLDS; i++)
        threshold[i] = (double)i / N_STEPS;
    mel_staircase_sweep(staircase, N_THRESHOLDS, threshold, t->tp, t->tn);
    const double both = staircase->hull.positives + staircase->hull.negatives;
    for (size_t i = 0; i < N_THRESHOLDS; i++) {
        t->tp[i] /= both;
        t->tn[i] /= both;
        t->log_rest[i] = log1p(-threshold[i]);
        t->log_t[i] = log(threshold[i]);
    }
}

/* The population's boundary, stretched so that its ends are the sample's, where it is inside the hull. */
static mel_status outline(mel_upper_boundary *out, const mel_upper_boundary *population,
                          const mel_upper_boundary *hull, mel_error *err)
{
    mel_upper_boundary boundary;
    TRY(mel_boundary_new(&boundary, population->n_edges, hull->positives, hull->negatives, err));
    const double wide = hull->positives / population->positives;
    const double high = hull->negatives / population->negatives;
    for (size_t i = 0; i <= boundary.n_edges; i++)
        boundary.vertex[i] = (mel_point){ population->vertex[i].tp * wide, population->vertex[i].tn * high };
    boundary.vertex[0].tp = hull->positives;
    boundary.vertex[boundary.n_edges].tn = hull->negatives;
    for (size_t i = 0; i < boundary.n_edges; i++)
        boundary.edge[i] = mel_minus(boundary.vertex[i + 1], boundary.vertex[i]);
    const mel_status status = mel_boundary_cut(out, &boundary, hull, err);
    mel_boundary_free(&boundary);
    return status;
}

mel_status mel_face_smooth(mel_face **out, double *a, double *b, const mel_face *sample, mel_error *err)
{
    *out = NULL;
    const mel_staircase *rows = sample->staircase;
    if (sample->population)
        return mel_fail(err, MEL_EINVAL, "a population needs no smoothing");
    if (!(rows->low >= 0.0 && rows->high <= 1.0))
        return mel_fail(err, MEL_EINVAL, "smoothing needs scores from 0 to 1, these reach from %g to %g",
                        rows->low, rows->high);
    MEL_AUTO_MEMORY target *t = mel_alloc(1, sizeof *t);
    MEL_AUTO(mel_face) *face = mel_alloc_zero(1, sizeof *face);
    MEL_AUTO(mel_face) *population = NULL;
    if (t == NULL || face == NULL)
        return mel_fail_memory(err, "a smoothed face");
    aim_at_sample(t, rows);
    const candidate best = fit_population(t);
    TRY(mel_face_from_logistic(&population, exp(best.log_a), best.b, err));
    TRY(outline(&face->own, population->boundary, &rows->hull, err));
    face->staircase = mel_staircase_share(sample->staircase);
    face->boundary = &face->own;
    if (a != NULL)
        *a = exp(best.log_a);
    if (b != NULL)
        *b = best.b;
    *out = face;
    face = NULL;
    return MEL_OK;
}
