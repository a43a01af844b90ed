/* The next line to ask about a linear-fractional metric, judged on the samples, and how well it is known. */
#include "elicit/active/ask/line_parts.h"

#include "base/la.h"
#include "elicit/active/select.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

void mel_lines_free(mel_lines *l)
{
    if (l == NULL)
        return;
    mel_class_faces_clear(&l->faces);
    free(l->probe);
    free(l->jacobian); /* and all that was made with it */
    free(l);
}

static mel_status make_room(mel_lines *l, mel_error *err)
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

static mel_status make_faces(mel_lines *l, mel_error *err)
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
            mel_lines_inside(l, i, j, mel_face_centre(face), l->probe + l->n_probes++ * n);
            const size_t vertices = mel_face_vertices(face);
            for (size_t k = 0; k < CORNERS; k++)
                mel_lines_inside(l, i, j, mel_face_vertex(face, k * vertices / CORNERS),
                                 l->probe + l->n_probes++ * n);
        }
    return MEL_OK;
}

/* The centre, the best and the worst point of the mean metric, the points along +-s, and points all over the
 * edge: the latter are filled in here, the others when the mean is known. */
static mel_status make_probes(mel_lines *l, mel_error *err)
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

mel_status mel_lines_new(mel_lines **out, const mel_region *region, const mel_bivector_sampler *sampler,
                         const mel_space *space, mel_error *err)
{
    *out = NULL;
    mel_lines *l = mel_alloc_zero(1, sizeof *l);
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
        mel_lines_free(l);
        return status;
    }
    *out = l;
    return MEL_OK;
}

/* --- how well it is known --------------------------------------------------------------------------- */

static void aim_probes(mel_lines *l, const double *mean)
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
static void unit_slope(const mel_lines *l, const double *theta, const double *x, double *g)
{
    mel_bivector_slope(l->n, theta, x, g);
    for (size_t i = 0; i < l->n; i++)
        g[i] /= l->region->unit[i];
    const double length = mel_norm2(l->n, g);
    if (length > 0.0)
        mel_scale(l->n, 1.0 / length, g);
}

double mel_lines_radius(mel_lines *l)
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
static void values_of(const mel_lines *l, const double *c, const double *delta, double *out)
{
    const mel_samples *samples = mel_bivector_sampler_samples(l->sampler);
    const size_t n = l->n;
    for (size_t i = 0; i < l->count; i++) {
        const double *s = samples->w + i * 2 * n, *t = s + n;
        out[i] = mel_dot(n, s, delta) * (1.0 + mel_dot(n, t, c)) - mel_dot(n, t, delta) * mel_dot(n, s, c);
    }
}

/* Turns delta towards the mean's slope, by as much as makes half of the samples prefer A. */
static void halve(mel_lines *l, mel_candidate *k, bool simple)
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
static bool ball_chord(mel_lines *l, const mel_candidate *k)
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

static bool face_chord(mel_lines *l, const mel_candidate *k)
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
static double reduction_of(mel_lines *l, const double *likely, double share)
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
static mel_outlook outlook_of(mel_lines *l, double gain)
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

void mel_lines_row(mel_lines *l, const double *a, const double *b, double *row)
{
    const size_t n = l->n, d = 2 * n;
    for (size_t i = 0; i < n; i++)
        l->x[i] = 0.5 * (a[i] + b[i]);
    mel_bivector_jacobian(n, mel_bivector_sampler_samples(l->sampler)->mean, l->x, l->jacobian);
    memset(row, 0, d * sizeof(double));
    for (size_t i = 0; i < n; i++)
        mel_axpy(d, a[i] - b[i], l->jacobian + i * d, row);
}

static bool is_avoided(mel_lines *l, const mel_avoided *avoided)
{
    if (avoided == NULL || avoided->n == 0)
        return false;
    mel_region_inside(l->region, l->a, l->c);
    mel_region_inside(l->region, l->b, l->delta);
    mel_lines_row(l, l->c, l->delta, l->other);
    return mel_avoided_has(avoided, l->other);
}

static double length_of(const mel_lines *l)
{
    double sum = 0.0;
    for (size_t i = 0; i < l->n; i++)
        sum += (l->a[i] - l->b[i]) * (l->a[i] - l->b[i]);
    return sqrt(sum);
}

static bool place(mel_lines *l, const mel_candidate *k)
{
    return (l->space != NULL ? face_chord(l, k) : ball_chord(l, k)) && length_of(l) > 0.0;
}

void mel_lines_choose(double *a, double *b, mel_outlook *outlook, mel_lines *l, double gain, bool simple,
                      const mel_avoided *avoided, mel_rng *rng)
{
    mel_outlook here[MEL_SHORTLIST];
    double length[MEL_SHORTLIST], most = 0.0, longest = 0.0;
    *outlook = (mel_outlook){ 0 };
    simple = simple || l->space != NULL;
    mel_lines_collect(l, simple, rng);
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

const mel_class_faces *mel_lines_faces(const mel_lines *l)
{
    return l->space != NULL ? &l->faces : NULL;
}
