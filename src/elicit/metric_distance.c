/* How far the metrics of several respondents are apart. */
#include "elicit/population.h"

#include "base/la.h"
#include "elicit/active/family.h"
#include "elicit/active/select.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    ANGLES = 4000, /* random pairs of draws, one of each respondent, behind an interval */
    HALVINGS = 40
};

void mel_clouds_free(size_t n, mel_cloud *clouds)
{
    for (size_t i = 0; clouds != NULL && i < n; i++) {
        free(clouds[i].vector);
        free(clouds[i].middle);
    }
    free(clouds);
}

/* p ^ q of a fraction with n/2 numbers above and below the line: all that preferences tell of it. */
static void make_wedge(double *out, const double *coefficient, size_t n)
{
    const double *p = coefficient, *q = coefficient + n / 2;
    for (size_t i = 0; i < n / 2; i++)
        for (size_t j = i + 1; j < n / 2; j++)
            *out++ = p[i] * q[j] - p[j] * q[i];
}

/* Numbers in a vector made of n coefficients. */
static size_t vector_size(size_t n, mel_family family, bool on_face, bool whole)
{
    return whole || !mel_family_about(family)->ratio ? n : on_face ? 3 : n / 2 * (n / 2 - 1) / 2;
}

/* How many coefficients of a fair metric are about everybody's mistakes. */
static size_t mistakes_of(const mel_metric *metric)
{
    mel_layout one = *mel_metric_layout(metric);
    one.n_groups = 0;
    return mel_layout_size(&one);
}

/* Coefficients as a utility (costs are negated). shares: class shares of a face, the positive class second.
 */
static void make_vector(double *out, const double *coefficient, size_t n, const mel_metric *metric,
                        const double *shares, bool whole)
{
    const mel_family family = mel_metric_family(metric);
    const double sign = mel_metric_orientation(metric) == MEL_COST ? -1.0 : 1.0;
    const size_t size = vector_size(n, family, shares != NULL, whole);
    memset(out, 0, size * sizeof *out);
    if (size != n && shares != NULL) {
        (void)mel_pivot_of(out, shares[1], shares[0], coefficient);
    } else if (size != n) {
        make_wedge(out, coefficient, n);
    } else if (mel_family_about(family)->groups) { /* a, blocks of pairs, lambda */
        const size_t q = mistakes_of(metric);
        for (size_t i = 0; i + 1 < n; i++)
            out[i] = coefficient[i] * (i < q ? 1.0 - coefficient[n - 1] : coefficient[n - 1]);
    } else {
        memcpy(out, coefficient, n * sizeof *out);
    }
    mel_scale(size, sign, out);
}

void mel_vector_coefficients(double *out, const double *vector, const mel_metric *like)
{
    const size_t n = mel_metric_coefficients(like);
    const double sign = mel_metric_orientation(like) == MEL_COST ? -1.0 : 1.0;
    for (size_t i = 0; i < n; i++)
        out[i] = sign * vector[i];
    if (mel_family_about(mel_metric_family(like))->groups)
        out[n - 1] = 0.5; /* either part has the size that it had in the vector */
}

void mel_metric_vector(double *out, const mel_session *session, const mel_metric *metric)
{
    const bool on_face = session->domain.face != NULL;
    make_vector(out, mel_metric_coefficient(metric), mel_metric_coefficients(metric), metric,
                on_face ? session->face_share : NULL, false);
}

mel_status mel_cloud_make(mel_cloud *c, mel_session *session, const mel_metric *metric, bool whole,
                          mel_error *err)
{
    double *draw = NULL;
    size_t n = 0;
    const mel_status status = mel_session_draws(&c->n, &n, &draw, session, err);
    if (status != MEL_OK)
        return status;
    const bool on_face = session->domain.face != NULL;
    c->size = vector_size(n, mel_metric_family(metric), on_face, whole);
    c->vector = mel_alloc(c->n * c->size, sizeof *c->vector);
    c->middle = mel_alloc(c->size, sizeof *c->middle);
    if (c->vector == NULL || c->middle == NULL) {
        free(draw);
        return mel_fail_memory(err, "draws of the posterior");
    }
    for (size_t i = 0; i < c->n; i++)
        make_vector(c->vector + i * c->size, draw + i * n, n, metric, on_face ? session->face_share : NULL,
                    whole);
    make_vector(c->middle, mel_metric_coefficient(metric), n, metric, on_face ? session->face_share : NULL,
                whole);
    free(draw);
    return MEL_OK;
}

/* Adds sign times the mean of the draws at unit length; work: size numbers. The first call starts. */
static void unit_mean(double *mean, double *work, const mel_cloud *c, double sign)
{
    memset(work, 0, c->size * sizeof *work);
    for (size_t i = 0; i < c->n; i++) {
        const double *v = c->vector + i * c->size, length = mel_norm2(c->size, v);
        if (length > 0.0)
            mel_axpy(c->size, sign / (length * (double)c->n), v, work);
    }
    if (sign > 0.0)
        memset(mean, 0, c->size * sizeof *mean);
    mel_axpy(c->size, 1.0, work, mean);
}

double mel_cloud_beyond(const mel_cloud *c, const double *vector, double *work)
{
    double *mean = work, *off = work + c->size;
    const double own = mel_norm2(c->size, vector);
    size_t beyond = 0;
    unit_mean(mean, off, c, 1.0);
    for (size_t j = 0; j < c->size; j++)
        off[j] = (own > 0.0 ? vector[j] / own : 0.0) - mean[j];
    const double distance = mel_norm2(c->size, off);
    for (size_t k = 0; k < c->n; k++) {
        const double *v = c->vector + k * c->size, length = mel_norm2(c->size, v);
        for (size_t j = 0; j < c->size; j++)
            off[j] = (length > 0.0 ? v[j] / length : 0.0) - mean[j];
        beyond += mel_norm2(c->size, off) >= distance;
    }
    return ((double)beyond + 1.0) / ((double)c->n + 1.0);
}

static double angle_between(size_t n, const double *x, const double *y)
{
    const double length = mel_norm2(n, x) * mel_norm2(n, y);
    return length > 0.0 ? acos(fmax(-1.0, fmin(1.0, mel_dot(n, x, y) / length))) : NAN;
}

/* x - y as found, and the draws of it less that: what is known of the difference, what is not. */
typedef struct {
    double found;           /* length of the difference of the two metrics, unit vectors */
    double along[ANGLES];   /* of an error, along that difference */
    double length2[ANGLES]; /* of an error, squared */
    double chord2[ANGLES];  /* between two draws, squared */
    double sorted[ANGLES];  /* work */
} differences;

/* Errors are differences of draws, less their mean: respondents are independent, so that any draw of one goes
 * with any of the other. */
static bool find_differences(differences *d, const mel_cloud *x, const mel_cloud *y, double *room,
                             mel_rng *rng)
{
    const size_t n = x->size;
    double *found = room, *mean = room + n, *error = room + 2 * n;
    const double lx = mel_norm2(n, x->middle), ly = mel_norm2(n, y->middle);
    if (!(lx > 0.0) || !(ly > 0.0))
        return false;
    for (size_t i = 0; i < n; i++)
        found[i] = x->middle[i] / lx - y->middle[i] / ly;
    d->found = mel_norm2(n, found);
    unit_mean(mean, error, x, 1.0);
    unit_mean(mean, error, y, -1.0);
    for (size_t k = 0; k < ANGLES; k++) {
        const double *a = x->vector + mel_rng_below(rng, x->n) * n;
        const double *b = y->vector + mel_rng_below(rng, y->n) * n;
        const double la = mel_norm2(n, a), lb = mel_norm2(n, b);
        for (size_t i = 0; i < n; i++)
            error[i] = (la > 0.0 ? a[i] / la : 0.0) - (lb > 0.0 ? b[i] / lb : 0.0);
        d->chord2[k] = mel_dot(n, error, error);
        mel_axpy(n, -1.0, mean, error);
        d->along[k] = d->found > 0.0 ? mel_dot(n, found, error) / d->found : 0.0;
        d->length2[k] = mel_dot(n, error, error);
    }
    return true;
}

/* Share of errors with which a true difference of this length, in the direction of the one found, would have
 * looked at most as long as `found`. */
static double share_below(const differences *d, double length, double found)
{
    size_t below = 0;
    for (size_t k = 0; k < ANGLES; k++)
        below += length * length + 2.0 * length * d->along[k] + d->length2[k] <= found * found;
    return (double)below / ANGLES;
}

/* The length at which that share falls below q; 0: it is below from the start. */
static double length_at(const differences *d, double q, double found)
{
    double low = 0.0, high = 2.0;
    if (share_below(d, 0.0, found) < q)
        return 0.0;
    for (int i = 0; i < HALVINGS; i++) {
        const double middle = 0.5 * (low + high);
        *(share_below(d, middle, found) < q ? &high : &low) = middle;
    }
    return 0.5 * (low + high);
}

static double angle_of(double chord)
{
    return 2.0 * asin(fmin(1.0, 0.5 * chord));
}

static double root_quantile(differences *d, const double *squares, double q)
{
    memcpy(d->sorted, squares, sizeof d->sorted);
    return sqrt(mel_quantile_select(ANGLES, d->sorted, q));
}

/* Draws of two alike metrics lie apart in any case, the farther the more numbers there are. So the interval
 * holds, besides that of the draws' angles, the true differences with which the one found is no surprise; two
 * that came out closer than errors put them are not known to be as close as that. */
static mel_disagreement compare(const mel_cloud *x, const mel_cloud *y, differences *d, double *room,
                                mel_rng *rng)
{
    mel_disagreement out = { .angle = angle_between(x->size, x->middle, y->middle), .low = NAN, .high = NAN };
    if (!find_differences(d, x, y, room, rng))
        return out;
    const double low = length_at(d, 0.975, d->found);
    const double high = length_at(d, 0.025, fmax(d->found, root_quantile(d, d->length2, 0.5)));
    out.low = fmin(angle_of(fmin(low, root_quantile(d, d->chord2, 0.025))), out.angle);
    out.high = fmax(angle_of(fmax(high, root_quantile(d, d->chord2, 0.975))), out.angle);
    return out;
}

mel_status mel_clouds_compare(mel_disagreement *out, size_t n, const mel_cloud *clouds, mel_error *err)
{
    differences *d = mel_alloc(1, sizeof *d);
    double *room = mel_alloc(3 * clouds[0].size, sizeof *room);
    if (d == NULL || room == NULL) {
        free(d);
        free(room);
        return mel_fail_memory(err, "the angles between metrics");
    }
    mel_rng rng;
    mel_rng_seed(&rng, 1);
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++)
            out[i * n + j] = out[j * n + i] = compare(&clouds[i], &clouds[j], d, room, &rng);
    free(d);
    free(room);
    return MEL_OK;
}
