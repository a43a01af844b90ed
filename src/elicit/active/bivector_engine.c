/* Active elicitation of linear-fractional metrics on a ball and, of the diagonal, on two-class faces: the
 * posterior of the bivector that preferences see (bivector.h, posterior/bivector.h), the next line.
 *
 * The session is done when the radius that it reports (lines_radius) is at most the tolerance: 95% of the
 * posterior (with flips 97.5%) have their level hyperplanes within it, in radians, of the
 * mean metric's.
 *
 * A pair tells on which side of a cut theta is, and the cut depends on the line through A and B only.
 * Candidates are lines whose cut passes through the mean along a direction in which the posterior is long;
 * each is turned until it halves the samples and judged by the variance that its answer is expected to take
 * away. On a ball any line will do, on a space those in its two-class faces; the whole chord is asked about.
 */
#include "elicit/active/engine.h"

#include "base/la.h"
#include "elicit/active/posterior/bivector.h"
#include "elicit/active/select.h"
#include "elicit/class_faces.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- the next line, and how well the metric is known */

typedef struct {
    const mel_region *region;
    const mel_bivector_sampler *sampler;
    size_t n, count;
    const mel_space *space;
    mel_class_faces faces; /* all of them made; none on a ball */
    double *kept;          /* what candidates point to */
    double *probe;         /* n_probes x n */
    size_t n_probes;
    /* Seen from one point */
    double *jacobian, *through; /* n x 2n, 2n x n: covariance times jacobian' */
    double *first, *second;     /* n x n: M1 (then its Cholesky factor), M2 */
    double *slope;              /* n: of the mean */
    mel_shortlist list;
    double *value, *lever, *work;                 /* count */
    double *c, *best, *delta, *other, *a, *b, *x; /* n; other and x: 2n */
    size_t best_i, best_j;
} line_chooser;

enum {
    MIDDLES = 80, /* random points that lines go through */
    REFINE = 60,  /* near the best one */
    POWER = 6     /* steps of the power method */
};
/* How much smaller the steps of the refinement get. */
static const double shrink = 0.95;
/* Lines stay this close to the ball's centre, in radii: at most, and when noise hides small differences. */
static const double outermost = 0.97, outermost_blurred = 0.7;

/* A point of the face of classes i and j, inside the region. */
static void lines_inside(const line_chooser *l, size_t i, size_t j, mel_point point, double *x)
{
    for (size_t k = 0; k < l->n; k++)
        x[k] = -1.0;
    x[i] = point.tp / mel_class_faces_unit(&l->faces, i) / l->region->unit[i] - 1.0;
    x[j] = point.tn / mel_class_faces_unit(&l->faces, j) / l->region->unit[j] - 1.0;
}

/* M1 = J C J' and M2 = J C C J' at the point c, and the slope of the mean there. */
static void look_from(line_chooser *l, const double *c)
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

/* delta in the plane of coordinates i and j; its score. */
static double try_plane(line_chooser *l, const double *c, size_t i, size_t j)
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
static double try_any(line_chooser *l, const double *c)
{
    const size_t n = l->n;
    double score = 0.0, *x = l->delta, *y = l->other;
    mel_factor_through_mean(n, l->first, l->slope);
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

static double try_point(line_chooser *l, const double *c, bool simple)
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

static double reach(const line_chooser *l)
{
    const mel_samples *samples = mel_bivector_sampler_samples(l->sampler);
    return samples->noise->errs == MEL_ERRS_BY_MARGIN ? outermost_blurred : outermost;
}

/* A random point of the ball, more often near the edge and along +-s, where t shows most. */
static void random_middle(line_chooser *l, mel_rng *rng, double *c)
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

static void nudge(line_chooser *l, mel_rng *rng, double step, double *c)
{
    const size_t n = l->n;
    for (size_t i = 0; i < n; i++)
        c[i] = l->best[i] + step * mel_rng_normal(rng) / sqrt((double)n);
    const double length = mel_norm2(n, c), most = reach(l);
    if (length > most)
        mel_scale(n, most / length, c);
}

static void collect_ball(line_chooser *l, bool simple, mel_rng *rng)
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
static void collect_faces(line_chooser *l, mel_rng *rng)
{
    const size_t n = l->n, faces = n * (n - 1) / 2, rounds = (MIDDLES + REFINE) / faces + 1;
    double best = -1.0, step = 0.5;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++)
            for (size_t k = 0; k < rounds + 2; k++) {
                lines_inside(l, i, j, mel_face_random(l->faces.face[i * n + j], rng), l->c);
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
        lines_inside(l, i, j, mel_face_random(l->faces.face[i * n + j], rng), l->c);
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

/* Fills the list with the lines that promise most if the posterior were normal. */
static void collect_lines(line_chooser *l, bool simple, mel_rng *rng)
{
    l->list.n = 0;
    if (l->space != NULL)
        collect_faces(l, rng);
    else
        collect_ball(l, simple, rng);
}

enum {
    CORNERS = 6, /* vertices of a face that are probes */
    AIMED = 5    /* probes of a ball that depend on the mean */
};
/* Lines that take away this share of what the best one does are as good; the longest is asked about. */
static const double nearly_best = 0.95;
/* Share of the samples that must agree which way a cut turns. */
static const double agree = 0.97;
/* Ends of chords stay this share inside the ball: sums of squares are rounded. */
static const double inside = 1.0 - 1e-12;

static void lines_free(line_chooser *l)
{
    if (l == NULL)
        return;
    mel_class_faces_clear(&l->faces);
    free(l->probe);
    free(l->jacobian); /* and all that was made with it */
    free(l);
}

static mel_status make_room(line_chooser *l, mel_error *err)
{
    const size_t n = l->n, d = 2 * n;
    const mel_part parts[] = { { n * d, { &l->jacobian, &l->through } },
                               { n * n, { &l->first, &l->second } },
                               { n, { &l->slope, &l->c, &l->best, &l->delta, &l->a, &l->b } },
                               { d, { &l->other, &l->x } },
                               { l->count, { &l->value, &l->lever, &l->work } },
                               { MEL_SHORTLIST * d, { &l->kept } } };
    if (!mel_parts_new(MEL_PARTS(parts)))
        return mel_fail_memory(err, "the questions");
    mel_shortlist_new(&l->list, MEL_SHORTLIST, n, l->kept);
    return MEL_OK;
}

static mel_status make_faces(line_chooser *l, mel_error *err)
{
    const size_t n = l->n;
    l->probe = mel_alloc_zero(n * (n - 1) / 2 * (CORNERS + 1) * n, sizeof(double));
    if (l->probe == NULL)
        return mel_fail_memory(err, "the faces");
    mel_status status = mel_class_faces_new(&l->faces, l->space, err);
    if (status != MEL_OK)
        return status;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++) {
            const mel_face *face = NULL;
            status = mel_class_faces_get(&face, &l->faces, i, j, err);
            if (status != MEL_OK)
                return status;
            lines_inside(l, i, j, mel_face_centre(face), l->probe + l->n_probes++ * n);
            const size_t vertices = mel_face_vertices(face);
            for (size_t k = 0; k < CORNERS; k++)
                lines_inside(l, i, j, mel_face_vertex(face, k * vertices / CORNERS),
                             l->probe + l->n_probes++ * n);
        }
    return MEL_OK;
}

/* The centre, the best and the worst point of the mean metric, the points along +-s, and points all over the
 * edge: the latter are filled in here, the others when the mean is known. */
static mel_status make_probes(line_chooser *l, mel_error *err)
{
    const size_t n = l->n, on_edge = 4 * n;
    l->probe = mel_alloc_zero((on_edge + AIMED) * n, sizeof(double));
    if (l->probe == NULL)
        return mel_fail_memory(err, "the questions");
    l->n_probes = on_edge + AIMED;
    mel_rng rng;
    mel_rng_seed(&rng, 1);
    for (size_t i = 0; i < on_edge; i += 2) {
        double *probe = l->probe + i * n;
        mel_rng_sphere(&rng, n, probe);
        for (size_t j = 0; j < n; j++)
            probe[n + j] = -probe[j];
    }
    return MEL_OK;
}

static mel_status lines_new(line_chooser **out, const mel_region *region, const mel_bivector_sampler *sampler,
                            const mel_space *space, mel_error *err)
{
    *out = NULL;
    line_chooser *l = mel_alloc_zero(1, sizeof *l);
    if (l == NULL)
        return mel_fail_memory(err, "the questions");
    l->region = region;
    l->sampler = sampler;
    l->space = space;
    l->n = region->n;
    l->count = mel_bivector_sampler_samples(sampler)->count;
    mel_status status = make_room(l, err);
    if (status == MEL_OK)
        status = space != NULL ? make_faces(l, err) : make_probes(l, err);
    if (status != MEL_OK) {
        lines_free(l);
        return status;
    }
    *out = l;
    return MEL_OK;
}

/* --- how well it is known --------------------------------------------------------------------------- */

static void aim_probes(line_chooser *l, const double *mean)
{
    const size_t n = l->n;
    const double *s = mean, *t = mean + n;
    const double height = sqrt(fmax(1.0 - mel_dot(n, t, t), 0.0));
    double *probe = l->probe + 4 * n * n;
    for (size_t i = 0; i < n; i++) {
        probe[i] = s[i];
        probe[n + i] = -s[i];
        probe[2 * n + i] = height * s[i] - t[i];
        probe[3 * n + i] = -height * s[i] - t[i];
        probe[4 * n + i] = 0.0;
    }
}

/* The slope at x in statistics, at unit length. */
static void unit_slope(const line_chooser *l, const double *theta, const double *x, double *g)
{
    mel_bivector_slope(l->n, theta, x, g);
    for (size_t i = 0; i < l->n; i++)
        g[i] /= l->region->unit[i];
    const double length = mel_norm2(l->n, g);
    if (length > 0.0)
        mel_scale(l->n, 1.0 / length, g);
}

/* 95% of the posterior's metrics (with flips: 97.5%) have their level hyperplanes' slopes within this angle
 * (radians, in statistics) of the mean metric's, at every probe: centre, edge and extreme points of the ball;
 * centres and boundaries of the faces. */
static double lines_radius(line_chooser *l)
{
    const mel_samples *samples = mel_bivector_sampler_samples(l->sampler);
    const size_t n = l->n;
    if (l->space == NULL)
        aim_probes(l, samples->mean);
    memset(l->work, 0, l->count * sizeof(double));
    for (size_t p = 0; p < l->n_probes; p++) {
        const double *x = l->probe + p * n;
        unit_slope(l, samples->mean, x, l->slope);
        for (size_t i = 0; i < l->count; i++) {
            unit_slope(l, samples->w + i * 2 * n, x, l->other);
            double apart = 0.0;
            for (size_t k = 0; k < n; k++)
                apart += (l->other[k] - l->slope[k]) * (l->other[k] - l->slope[k]);
            l->work[i] = fmax(l->work[i], apart);
        }
    }
    const double apart = mel_quantile_select(l->count, l->work, mel_samples_radius_level(samples));
    return 2.0 * asin(fmin(1.0, 0.5 * sqrt(apart)));
}

/* --- judging on the samples ------------------------------------------------------------------------- */

/* <g(c), delta> of every sample. */
static void values_of(const line_chooser *l, const double *c, const double *delta, double *out)
{
    const mel_samples *samples = mel_bivector_sampler_samples(l->sampler);
    const size_t n = l->n;
    for (size_t i = 0; i < l->count; i++) {
        const double *s = samples->w + i * 2 * n, *t = s + n;
        out[i] = mel_dot(n, s, delta) * (1.0 + mel_dot(n, t, c)) - mel_dot(n, t, delta) * mel_dot(n, s, c);
    }
}

/* Turns delta towards the mean's slope, by as much as makes half of the samples prefer A. */
static void halve(line_chooser *l, mel_candidate *k, bool simple)
{
    double *h = l->slope;
    mel_bivector_slope(l->n, mel_bivector_sampler_samples(l->sampler)->mean, k->c, h);
    for (size_t i = 0; i < l->n; i++)
        if (simple && i != k->i && i != k->j)
            h[i] = 0.0;
    values_of(l, k->c, k->delta, l->value);
    values_of(l, k->c, h, l->lever);
    size_t ahead = 0;
    for (size_t i = 0; i < l->count; i++)
        if (l->lever[i] > 0.0)
            l->work[ahead++] = l->value[i] / l->lever[i];
    if ((double)ahead >= agree * (double)l->count)
        mel_axpy(l->n, -mel_quantile_select(ahead, l->work, 0.5), h, k->delta);
}

/* The chord, in statistics, into a and b. */
static bool ball_chord(line_chooser *l, const mel_candidate *k)
{
    const size_t n = l->n;
    const double length2 = mel_dot(n, k->delta, k->delta), back = mel_dot(n, k->c, k->delta) / length2;
    if (!(length2 > 0.0) || !isfinite(back))
        return false;
    double out2 = 0.0;
    for (size_t i = 0; i < n; i++) {
        l->x[i] = k->c[i] - back * k->delta[i];
        out2 += l->x[i] * l->x[i];
    }
    const double half = sqrt(fmax(inside - out2, 0.0) / length2);
    for (size_t i = 0; i < n; i++) {
        l->a[i] = l->region->origin[i] + l->region->unit[i] * (l->x[i] + half * k->delta[i]);
        l->b[i] = l->region->origin[i] + l->region->unit[i] * (l->x[i] - half * k->delta[i]);
    }
    return half > 0.0;
}

static bool face_chord(line_chooser *l, const mel_candidate *k)
{
    const size_t n = l->n, i = k->i, j = k->j;
    const double unit_i = l->region->unit[i] * mel_class_faces_unit(&l->faces, i),
                 unit_j = l->region->unit[j] * mel_class_faces_unit(&l->faces, j);
    const mel_point through = { (k->c[i] + 1.0) * unit_i, (k->c[j] + 1.0) * unit_j };
    mel_point first, second;
    if (!mel_face_chord_at(&first, &second, l->faces.face[i * n + j], through, k->delta[i] * unit_i,
                           k->delta[j] * unit_j))
        return false;
    mel_class_faces_write(l->a, &l->faces, i, j, first);
    mel_class_faces_write(l->b, &l->faces, i, j, second);
    return true;
}

/* Expected share of the variance of theta that goes when the samples are split as likely = P(A). */
static double reduction_of(line_chooser *l, const double *likely, double share)
{
    const mel_samples *samples = mel_bivector_sampler_samples(l->sampler);
    const size_t d = 2 * l->n;
    double variance = 0.0, *sum = l->x;
    for (size_t j = 0; j < d; j++)
        variance += samples->covariance[j * d + j];
    if (!(share > 0.0 && share < 1.0) || !(variance > 0.0))
        return 0.0;
    memset(sum, 0, d * sizeof(double));
    for (size_t i = 0; i < l->count; i++)
        mel_axpy(d, likely[i] - share, samples->w + i * d, sum);
    const double together = mel_dot(d, sum, sum) / ((double)l->count * (double)l->count);
    return together / (share * (1.0 - share) * variance);
}

/* What the answer to the chord in a and b is expected to tell. */
static mel_outlook outlook_of(line_chooser *l, double gain)
{
    const mel_samples *samples = mel_bivector_sampler_samples(l->sampler);
    const size_t n = l->n, count = l->count;
    double share = 0.0, margin = 0.0;
    mel_region_inside(l->region, l->a, l->c);
    mel_region_inside(l->region, l->b, l->delta);
    for (size_t i = 0; i < count; i++) {
        const double value = gain * mel_bivector_margin(n, samples->w + i * 2 * n, l->c, l->delta);
        margin += fabs(value) / (double)count;
        l->work[i] = value;
    }
    mel_bivector_sampler_predict(l->sampler, l->c, l->delta, gain, l->work);
    mel_outlook outlook = mel_outlook_of(count, l->work, &share);
    outlook.reduction = reduction_of(l, l->work, share);
    outlook.margin = margin;
    return outlook;
}

/* The 2n numbers whose product with theta - mean is about the margin of a pair inside the region. */
static void lines_row(line_chooser *l, const double *a, const double *b, double *row)
{
    const size_t n = l->n, d = 2 * n;
    for (size_t i = 0; i < n; i++)
        l->x[i] = 0.5 * (a[i] + b[i]);
    mel_bivector_jacobian(n, mel_bivector_sampler_samples(l->sampler)->mean, l->x, l->jacobian);
    memset(row, 0, d * sizeof(double));
    for (size_t i = 0; i < n; i++)
        mel_axpy(d, a[i] - b[i], l->jacobian + i * d, row);
}

static bool is_avoided(line_chooser *l, const mel_avoided *avoided)
{
    if (avoided == NULL || avoided->n == 0)
        return false;
    mel_region_inside(l->region, l->a, l->c);
    mel_region_inside(l->region, l->b, l->delta);
    lines_row(l, l->c, l->delta, l->other);
    return mel_avoided_has(avoided, l->other);
}

static double length_of(const line_chooser *l)
{
    double sum = 0.0;
    for (size_t i = 0; i < l->n; i++)
        sum += (l->a[i] - l->b[i]) * (l->a[i] - l->b[i]);
    return sqrt(sum);
}

static bool place(line_chooser *l, const mel_candidate *k)
{
    return (l->space != NULL ? face_chord(l, k) : ball_chord(l, k)) && length_of(l) > 0.0;
}

/* The question, in statistics; simple: A and B differ in two coordinates. *outlook is zero, and the points
 * untouched, when no pair tells anything. gain: as mel_bivector_gain at the mean, of a pair at the origin. */
static void lines_choose(double *a, double *b, mel_outlook *outlook, line_chooser *l, double gain,
                         bool simple, const mel_avoided *avoided, mel_rng *rng)
{
    mel_outlook here[MEL_SHORTLIST];
    double length[MEL_SHORTLIST], most = 0.0, longest = 0.0;
    *outlook = (mel_outlook){ 0 };
    simple = simple || l->space != NULL;
    collect_lines(l, simple, rng);
    for (size_t i = 0; i < l->list.n; i++) {
        here[i] = (mel_outlook){ 0 };
        length[i] = 0.0;
        halve(l, &l->list.at[i], simple);
        if (!place(l, &l->list.at[i]) || is_avoided(l, avoided))
            continue;
        length[i] = length_of(l);
        here[i] = outlook_of(l, gain);
        most = fmax(most, here[i].reduction);
    }
    for (size_t i = 0; i < l->list.n; i++) {
        if (!(here[i].reduction >= nearly_best * most) || !(length[i] > longest) || !place(l, &l->list.at[i]))
            continue;
        longest = length[i];
        *outlook = here[i];
        memcpy(a, l->a, l->n * sizeof(double));
        memcpy(b, l->b, l->n * sizeof(double));
    }
}

static const mel_class_faces *lines_faces(const line_chooser *l)
{
    return l->space != NULL ? &l->faces : NULL;
}

/* --- the engine */

/* Beyond this an answer takes many seconds. */
enum { MOST_COORDINATES = 60 };

typedef struct {
    mel_active base;
    mel_layout layout;
    mel_region region;
    mel_bivector_sampler *sampler;
    line_chooser *lines;
    double *inside;  /* 2n: ends of a pair, inside the region */
    double *numbers; /* 2n + 2: of the mean metric, for gains */
    double *likely;  /* one per sample: work */
} engine;

static const mel_samples *samples(const mel_active *base)
{
    return mel_bivector_sampler_samples(((const engine *)base)->sampler);
}

static void go_inside(engine *e, const double *a, const double *b)
{
    mel_region_inside(&e->region, a, e->inside);
    mel_region_inside(&e->region, b, e->inside + e->region.n);
}

/* What turns margins of the pair inside the region into differences of the reported metric. */
static double gain_inside(const engine *e)
{
    const double gain =
        mel_bivector_gain(&e->region, e->base.middle, e->numbers, e->inside, e->inside + e->region.n);
    return isfinite(gain) && gain > 0.0 ? gain : 1.0;
}

static void look(engine *e)
{
    const mel_samples *now = samples(&e->base);
    e->base.radius = lines_radius(e->lines);
    e->base.w = now->w;
    e->base.middle = now->mean;
    if (mel_bivector_metric(&e->region, now->mean, e->numbers, NULL) != MEL_OK)
        memset(e->numbers, 0, e->base.n_reported * sizeof(double)); /* margins are taken as they are */
}

static void row(mel_active *base, const double *a, const double *b, double *out)
{
    engine *e = (engine *)base;
    go_inside(e, a, b);
    lines_row(e->lines, e->inside, e->inside + e->region.n, out);
}

static double predict(mel_engine *base, const double *a, const double *b)
{
    engine *e = (engine *)base;
    const mel_samples *now = samples(&e->base);
    const size_t n = e->region.n;
    double sum = 0.0;
    go_inside(e, a, b);
    const double gain = gain_inside(e);
    for (size_t i = 0; i < now->count; i++)
        e->likely[i] = gain * mel_bivector_margin(n, now->w + i * now->dimension, e->inside, e->inside + n);
    mel_bivector_sampler_predict(e->sampler, e->inside, e->inside + n, gain, e->likely);
    for (size_t i = 0; i < now->count; i++)
        sum += e->likely[i];
    return sum / (double)now->count;
}

static mel_status hear(mel_active *base, const mel_pair *pair, mel_answer answer, bool *apart, mel_error *err)
{
    (void)apart;
    engine *e = (engine *)base;
    const size_t n = e->region.n;
    for (size_t i = 0; i < base->history.n; i++) { /* margins are measured in the mean metric's values */
        const double *told = base->history.points + 2 * n * i;
        go_inside(e, told, told + n);
        mel_bivector_sampler_set_gain(e->sampler, i, gain_inside(e));
    }
    go_inside(e, pair->a, pair->b);
    const mel_status status =
        mel_bivector_sampler_tell(e->sampler, e->inside, e->inside + n, gain_inside(e), answer, err);
    if (status == MEL_OK)
        look(e);
    return status;
}

static mel_status choose_line(mel_active *base, mel_rng *rng, mel_error *err)
{
    (void)err;
    engine *e = (engine *)base;
    mel_outlook outlook;
    const size_t n = e->region.n;
    const bool simple = base->opt.simple_questions;
    memset(e->inside, 0, 2 * n * sizeof(double));
    const double gain = gain_inside(e);
    lines_choose(base->a, base->b, &outlook, e->lines, gain, simple, &base->avoided, rng);
    if (base->avoided.n > 0 && outlook.information < MEL_LEAST_INFORMATION)
        lines_choose(base->a, base->b, &outlook, e->lines, gain, simple, NULL, rng);
    base->end = mel_end_of(&base->opt, samples(base), &outlook);
    mel_toss_sides(n, base->a, base->b, rng);
    return MEL_OK;
}

static void note(const mel_active *base, mel_pair *pair)
{
    const engine *e = (const engine *)base;
    const mel_class_faces *faces = lines_faces(e->lines);
    if (faces != NULL)
        mel_class_faces_note(faces, base->opt.class_names, base->a, base->b, pair->note_a, pair->note_b);
}

static mel_status bivector_numbers(const mel_active *base, const double *w, double *out, mel_error *err)
{
    return mel_bivector_metric(&((const engine *)base)->region, w, out, err);
}

static mel_status metric(mel_metric **out, const mel_active *base, const double *coefficient, mel_error *err)
{
    const engine *e = (const engine *)base;
    const double *below = coefficient + e->region.n + 1;
    return mel_metric_fractional(out, base->opt.family, &e->layout, base->opt.class_names, MEL_UTILITY,
                                 coefficient, 0.0, below, below[e->region.n], err);
}

static void clear(mel_active *base)
{
    engine *e = (engine *)base;
    lines_free(e->lines);
    mel_bivector_sampler_free(e->sampler);
    mel_region_clear(&e->region);
    free(e->inside);
    free(e->likely);
}

static const mel_active_ops bivector_ops = {
    .choose = choose_line,
    .predict = predict,
    .row = row,
    .hear = hear,
    .note = note,
    .samples = samples,
    .coefficients = bivector_numbers,
    .metric = metric,
    .clear = clear,
};

static mel_status make_sampler(engine *e, mel_error *err)
{
    const mel_session_options *opt = &e->base.opt;
    mel_bivector_options sampling = { .region = &e->region, .assume = opt->assume, .seed = opt->seed };
    double *prior = e->inside; /* the sampler takes a copy */
    if (opt->prior != NULL) {
        if (!mel_bivector_of(prior, &e->region, opt->prior))
            return mel_fail(err, MEL_EINVAL,
                            "the prior metric does not tell the classifiers in question apart");
        sampling.prior = prior;
        sampling.prior_strength = opt->prior_strength;
    }
    return mel_bivector_sampler_new(&e->sampler, &sampling, err);
}

static mel_status set_up(engine *e, const mel_domain *domain, mel_error *err)
{
    mel_active *base = &e->base;
    mel_status status = domain->ball != NULL
                            ? mel_region_of_ball(&e->region, domain->ball, &base->opt, err)
                            : mel_region_of_space(&e->region, domain->space, &base->opt, err);
    if (status != MEL_OK)
        return status;
    const size_t n = e->region.n;
    if (n > MOST_COORDINATES)
        return mel_fail(
            err, MEL_ELIMIT,
            "linear-fractional metrics of %zu numbers: the active strategy follows at most %d; use "
            "the search strategy",
            n, MOST_COORDINATES);
    e->layout = *(domain->ball != NULL ? mel_ball_layout(domain->ball) : mel_space_layout(domain->space));
    base->numbers = 2.0 * ((double)n - 1.0);
    base->n_reported = 2 * n + 2;
    e->inside = mel_alloc_zero(2 * n + base->n_reported, sizeof(double));
    if (e->inside == NULL)
        return mel_fail_memory(err, "the question");
    e->numbers = e->inside + 2 * n;
    status = mel_active_room(base, n, 2 * n, err);
    if (status == MEL_OK)
        status = make_sampler(e, err);
    if (status == MEL_OK) {
        e->likely = mel_alloc(samples(base)->count, sizeof *e->likely);
        status = e->likely != NULL ? MEL_OK : mel_fail_memory(err, "the question");
    }
    if (status == MEL_OK)
        status = lines_new(&e->lines, &e->region, e->sampler, domain->space, err);
    if (status == MEL_OK)
        look(e);
    return status;
}

mel_status mel_engine_bivector(mel_engine **out, const mel_domain *domain, const mel_session_options *opt,
                               mel_error *err)
{
    mel_active *e = NULL;
    const mel_status status = mel_active_new(&e, sizeof(engine), &mel_active_engine, &bivector_ops, opt, err);
    return mel_active_ready(out, e, status == MEL_OK ? set_up((engine *)e, domain, err) : status);
}
