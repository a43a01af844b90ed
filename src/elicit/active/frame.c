#include "elicit/active/frame.h"

#include "base/la.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The chart sees one hemisphere: it is used once the cloud is well inside. */
static const double chart_resultant = 0.9, chart_cosine = 0.2;
/* Weighted points per axis below which the unweighted cloud's shape is blended in. */
static const double few_per_axis = 10.0;
/* Smallest Cholesky pivot as a share of its diagonal entry: keeps a flat cloud's axes finite. */
static const double least_pivot = 1e-12;

mel_status mel_frame_new(mel_frame *frame, size_t dimension, mel_error *err)
{
    const size_t d = dimension;
    *frame = (mel_frame){ .dimension = d };
    frame->centre = mel_alloc_zero(d, sizeof(double));
    frame->axis = mel_alloc_zero(d * d, sizeof(double));
    frame->factor = mel_alloc_zero(d * d, sizeof(double));
    frame->reflector = mel_alloc_zero(d, sizeof(double));
    frame->point = mel_alloc_zero(d, sizeof(double));
    frame->mean = mel_alloc_zero(d, sizeof(double));
    frame->along = mel_alloc_zero(d, sizeof(double));
    frame->other = mel_alloc_zero(d * d, sizeof(double));
    if (frame->centre == NULL || frame->axis == NULL || frame->factor == NULL || frame->along == NULL ||
        frame->reflector == NULL || frame->point == NULL || frame->mean == NULL || frame->other == NULL) {
        mel_frame_free(frame);
        return mel_fail_memory(err, "coordinates of the posterior");
    }
    mel_frame_reset(frame);
    return MEL_OK;
}

void mel_frame_free(mel_frame *frame)
{
    free(frame->centre);
    free(frame->axis);
    free(frame->factor);
    free(frame->reflector);
    free(frame->point);
    free(frame->mean);
    free(frame->along);
    free(frame->other);
    *frame = (mel_frame){ 0 };
}

void mel_frame_reset(mel_frame *frame)
{
    const size_t d = frame->dimension;
    frame->axes = d;
    frame->chart = false;
    memset(frame->centre, 0, d * sizeof(double));
    memset(frame->factor, 0, d * d * sizeof(double));
    for (size_t i = 0; i < d; i++)
        frame->factor[i * d + i] = 1.0;
    memcpy(frame->axis, frame->factor, d * d * sizeof(double));
}

/* H v for the Householder reflection H that swaps mu and +-e_D; |reflector|^2 = 2. */
static void reflect(const mel_frame *frame, double *v)
{
    mel_axpy(frame->dimension, -mel_dot(frame->dimension, frame->reflector, v), frame->reflector, v);
}

static void make_reflector(mel_frame *frame, const double *mu)
{
    const size_t d = frame->dimension;
    memcpy(frame->reflector, mu, d * sizeof(double));
    frame->reflector[d - 1] += mu[d - 1] >= 0.0 ? 1.0 : -1.0;
    mel_scale(d, sqrt(2.0) / mel_norm2(d, frame->reflector), frame->reflector);
}

/* Coordinates of a unit vector before whitening: reflected w/<w, mu> without its last, or w itself. */
static void place(const mel_frame *frame, const double *w, double *out)
{
    const size_t d = frame->dimension;
    memcpy(out, w, d * sizeof(double));
    if (!frame->chart)
        return;
    mel_scale(d, 1.0 / mel_dot(d, w, frame->centre), out);
    reflect(frame, out);
}

/* Weighted mean and covariance of the placed points (lower triangle; rows of length axes). */
static void moments(mel_frame *frame, size_t n, const double *w, const double *weight, double *covariance)
{
    const size_t d = frame->dimension, k = frame->axes;
    memset(frame->mean, 0, d * sizeof(double));
    memset(covariance, 0, k * k * sizeof(double));
    double total = 0.0;
    for (size_t i = 0; i < n; i++) {
        const double share = weight == NULL ? 1.0 : weight[i];
        if (share == 0.0)
            continue;
        /* Points behind the chart's horizon cannot be seen; they carry no weight to speak of. */
        if (frame->chart && mel_dot(d, w + i * d, frame->centre) < 0.5 * chart_cosine)
            continue;
        place(frame, w + i * d, frame->point);
        total += share;
        mel_axpy(k, share, frame->point, frame->mean);
        for (size_t a = 0; a < k; a++)
            mel_axpy(a + 1, share * frame->point[a], frame->point, covariance + a * k);
    }
    mel_scale(k, 1.0 / total, frame->mean);
    /* In the ball y = r w, E r = D/(D+1), E r^2 = D/(D+2), independent of w. */
    const double dim = (double)d;
    const double first = frame->chart ? 1.0 : dim / (dim + 1.0);
    const double second = frame->chart ? 1.0 : dim / (dim + 2.0);
    mel_scale(k, first, frame->mean);
    for (size_t a = 0; a < k; a++)
        for (size_t b = 0; b <= a; b++)
            covariance[a * k + b] = second * covariance[a * k + b] / total - frame->mean[a] * frame->mean[b];
}

/* x' C x with the lower triangle of C, and C x into out. */
static double quadratic_form(size_t k, const double *covariance, const double *x, double *out)
{
    memset(out, 0, k * sizeof(double));
    for (size_t a = 0; a < k; a++) {
        out[a] += mel_dot(a + 1, covariance + a * k, x);
        mel_axpy(a, x[a], covariance + a * k, out);
    }
    return mel_dot(k, x, out);
}

/* The unweighted cloud's covariance, narrowed along the row to the weighted cloud's variance, joins
 * the weighted one (in factor) as if it came from `axes` points. */
static void blend(mel_frame *frame, size_t n, const double *w, const double *row, double effective)
{
    const size_t d = frame->dimension, k = frame->axes;
    double *along = frame->along, *product = frame->axis; /* the axes are made later */
    moments(frame, n, w, NULL, frame->other);
    memcpy(along, row, d * sizeof(double));
    if (frame->chart)
        reflect(frame, along);
    const double narrow = quadratic_form(k, frame->factor, along, product);
    const double wide = quadratic_form(k, frame->other, along, product);
    const double ratio = wide > 0.0 ? fmin(1.0, fmax(1e-4, narrow / wide)) : 1.0;
    const double own = effective / (effective + (double)k);
    for (size_t a = 0; a < k; a++)
        for (size_t b = 0; b <= a; b++) {
            const double cut = wide > 0.0 ? (1.0 - ratio) * product[a] * product[b] / wide : 0.0;
            double *entry = &frame->factor[a * k + b];
            *entry = own * *entry + (1.0 - own) * (frame->other[a * k + b] - cut);
        }
}

/* L L' = A in place of A's lower triangle, zeros above. Pivots that vanish are raised to a sliver. */
static void factorise(size_t k, double *a)
{
    for (size_t i = 0; i < k; i++) {
        const double floor = fmax(least_pivot * fabs(a[i * k + i]), 1e-280);
        for (size_t j = 0; j < i; j++)
            a[i * k + j] = (a[i * k + j] - mel_dot(j, a + i * k, a + j * k)) / a[j * k + j];
        const double pivot = a[i * k + i] - mel_dot(i, a + i * k, a + i * k);
        a[i * k + i] = sqrt(fmax(pivot, floor));
        for (size_t j = i + 1; j < k; j++)
            a[i * k + j] = 0.0;
    }
}

static void make_axes(mel_frame *frame)
{
    const size_t d = frame->dimension, k = frame->axes;
    for (size_t j = 0; j < k; j++) {
        double *axis = frame->axis + j * d;
        memset(axis, 0, d * sizeof(double));
        for (size_t i = j; i < k; i++)
            axis[i] = frame->factor[i * k + j];
        if (frame->chart)
            reflect(frame, axis);
    }
}

/* The normalised mean into centre; true when the chart there sees the whole cloud well. */
static bool find_mean(mel_frame *frame, size_t n, const double *w, const double *weight)
{
    const size_t d = frame->dimension;
    double total = 0.0, least = 1.0;
    memset(frame->centre, 0, d * sizeof(double));
    for (size_t i = 0; i < n; i++) {
        const double share = weight == NULL ? 1.0 : weight[i];
        total += share;
        mel_axpy(d, share, w + i * d, frame->centre);
    }
    const double length = mel_norm2(d, frame->centre);
    if (!(length >= chart_resultant * total))
        return false;
    mel_scale(d, 1.0 / length, frame->centre);
    for (size_t i = 0; i < n; i++)
        if (weight == NULL || weight[i] > 0.0)
            least = fmin(least, mel_dot(d, w + i * d, frame->centre));
    return least >= chart_cosine;
}

/* Kish's effective number of weighted points. */
static double effective_number(size_t n, const double *weight)
{
    if (weight == NULL)
        return (double)n;
    double total = 0.0, squares = 0.0;
    for (size_t i = 0; i < n; i++) {
        total += weight[i];
        squares += weight[i] * weight[i];
    }
    return total * total / squares;
}

void mel_frame_fit(mel_frame *frame, size_t n, const double *w, const double *weight, const double *row)
{
    const size_t d = frame->dimension;
    frame->chart = find_mean(frame, n, w, weight);
    frame->axes = frame->chart ? d - 1 : d;
    if (frame->chart)
        make_reflector(frame, frame->centre);
    moments(frame, n, w, weight, frame->factor);
    if (!frame->chart)
        memcpy(frame->centre, frame->mean, d * sizeof(double));
    const double effective = effective_number(n, weight);
    if (row != NULL && effective < few_per_axis * (double)frame->axes)
        blend(frame, n, w, row, effective);
    factorise(frame->axes, frame->factor);
    make_axes(frame);
}

void mel_frame_coordinates(const mel_frame *frame, const double *y, double *z)
{
    const size_t d = frame->dimension, k = frame->axes;
    double *shifted = frame->along;
    memcpy(shifted, y, d * sizeof(double));
    mel_axpy(d, -1.0, frame->centre, shifted);
    if (frame->chart)
        reflect(frame, shifted);
    for (size_t i = 0; i < k; i++)
        z[i] = (shifted[i] - mel_dot(i, frame->factor + i * k, z)) / frame->factor[i * k + i];
}
