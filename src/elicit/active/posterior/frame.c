/* Coordinates in which a cloud of unit vectors is round. */
#include "elicit/active/posterior/frame.h"

#include "base/la.h"
#include "base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Vectors whose outer products are added together. */
enum { BLOCK = 4 };
/* The chart sees one hemisphere: it is used once the cloud is well inside. */
static const double chart_resultant = 0.9, chart_cosine = 0.2;
/* A shape known from earlier counts as much as this many points per axis: next to all points of a run, and
 * next to those that fit the newest answer. */
static const double learned_per_axis = 4.0, predicted_per_axis = 20.0;
/* Share of the points' own covariance below which it is not worth computing. */
static const double least_own = 0.1;
/* Change of the variance along the newest row that is believed. */
static const double least_ratio = 1e-4, largest_ratio = 4.0;
/* Smallest Cholesky pivot as a share of its diagonal entry: keeps a flat cloud's axes finite. */
static const double least_pivot = 1e-12;

mel_status mel_frame_new(mel_frame *frame, size_t dimension, mel_error *err)
{
    const size_t d = dimension;
    *frame = (mel_frame){ .dimension = d };
    const mel_part parts[] = {
        { d, { &frame->centre, &frame->reflector, &frame->point, &frame->mean, &frame->along } },
        { d * d, { &frame->axis, &frame->factor, &frame->shape } },
        { BLOCK * d, { &frame->block } }
    };
    if (!mel_parts_new(MEL_PARTS(parts)))
        return mel_fail_memory(err, "coordinates of the posterior");
    mel_frame_reset(frame);
    return MEL_OK;
}

void mel_frame_free(mel_frame *frame)
{
    free(frame->centre);
    *frame = (mel_frame){ 0 };
}

void mel_frame_reset(mel_frame *frame)
{
    const size_t d = frame->dimension;
    frame->axes = d;
    frame->chart = false;
    frame->shaped = false;
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

/* In the ball y = r w with E r = D/(D+1), E r^2 = D/(D+2), independent of w; 1 in the chart. */
static double mean_radius(const mel_frame *frame)
{
    const double d = (double)frame->dimension;
    return frame->chart ? 1.0 : d / (d + 1.0);
}

static double square_radius(const mel_frame *frame)
{
    const double d = (double)frame->dimension;
    return frame->chart ? 1.0 : d / (d + 2.0);
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

/* a += sum over the BLOCK vectors x of x x', lower triangle, rows of length k. */
MEL_WIDE static void add_outer(size_t k, size_t ldx, const double *restrict x, double *restrict a)
{
    for (size_t i = 0; i < k; i++) {
        const double *x0 = x, *x1 = x + ldx, *x2 = x1 + ldx, *x3 = x2 + ldx;
        const double c0 = x0[i], c1 = x1[i], c2 = x2[i], c3 = x3[i];
        double *row = a + i * k;
#pragma omp simd
        for (size_t j = 0; j <= i; j++)
            row[j] += (c0 * x0[j] + c1 * x1[j]) + (c2 * x2[j] + c3 * x3[j]);
    }
}

void mel_frame_moments(mel_frame *frame, size_t n, const double *w, double *mean, double *covariance)
{
    const size_t d = frame->dimension;
    memset(mean, 0, d * sizeof(double));
    memset(covariance, 0, d * d * sizeof(double));
    for (size_t i = 0; i < n; i++)
        mel_axpy(d, 1.0 / (double)n, w + i * d, mean);
    for (size_t i = 0; i < n; i += BLOCK) {
        memset(frame->block, 0, BLOCK * d * sizeof(double));
        for (size_t j = 0; j < BLOCK && i + j < n; j++) {
            memcpy(frame->block + j * d, w + (i + j) * d, d * sizeof(double));
            mel_axpy(d, -1.0, mean, frame->block + j * d);
        }
        add_outer(d, d, frame->block, covariance);
    }
    for (size_t a = 0; a < d; a++)
        for (size_t b = 0; b <= a; b++) {
            covariance[a * d + b] /= (double)n;
            covariance[b * d + a] = covariance[a * d + b];
        }
}

/* Weighted covariance of the placed points (lower triangle; rows of length axes) into factor. */
static void own_covariance(mel_frame *frame, size_t n, const double *w, const double *weight)
{
    const size_t d = frame->dimension, k = frame->axes;
    double *covariance = frame->factor, *mean = frame->along;
    memset(mean, 0, d * sizeof(double));
    memset(covariance, 0, k * k * sizeof(double));
    double total = 0.0;
    size_t filled = 0;
    memset(frame->block, 0, BLOCK * d * sizeof(double));
    for (size_t i = 0; i < n; i++) {
        const double share = weight == NULL ? 1.0 : weight[i];
        if (share == 0.0)
            continue;
        double *point = frame->block + filled * d;
        place(frame, w + i * d, point);
        total += share;
        mel_axpy(k, share, point, mean);
        mel_scale(k, sqrt(share), point);
        if (++filled < BLOCK)
            continue;
        add_outer(k, d, frame->block, covariance);
        memset(frame->block, 0, BLOCK * d * sizeof(double));
        filled = 0;
    }
    add_outer(k, d, frame->block, covariance);
    const double first = mean_radius(frame), second = square_radius(frame);
    mel_scale(k, first / total, mean);
    for (size_t a = 0; a < k; a++)
        for (size_t b = 0; b <= a; b++)
            covariance[a * k + b] = second * covariance[a * k + b] / total - mean[a] * mean[b];
}

/* The shape known from earlier changes along the row as the weighted points' variance does. */
static void narrow(mel_frame *frame, size_t n, const double *w, const double *weight, const double *row)
{
    const size_t d = frame->dimension;
    double sum[2][3] = { { 0.0 } }; /* of 1, <row, w> and its square: all points, weighted points */
    for (size_t i = 0; i < n; i++) {
        const double value = mel_dot(d, row, w + i * d);
        for (size_t k = 0; k < 2; k++) {
            const double share = k == 0 || weight == NULL ? 1.0 : weight[i];
            sum[k][0] += share;
            sum[k][1] += share * value;
            sum[k][2] += share * value * value;
        }
    }
    double variance[2];
    for (size_t k = 0; k < 2; k++)
        variance[k] = sum[k][2] / sum[k][0] - sum[k][1] / sum[k][0] * (sum[k][1] / sum[k][0]);
    double *product = frame->point;
    for (size_t a = 0; a < d; a++)
        product[a] = mel_dot(d, frame->shape + a * d, row);
    const double wide = mel_dot(d, product, row);
    if (!(wide > 0.0) || !(variance[0] > 0.0))
        return;
    const double ratio = fmin(largest_ratio, fmax(least_ratio, variance[1] / variance[0]));
    for (size_t a = 0; a < d; a++)
        mel_axpy(d, (ratio - 1.0) * product[a] / wide, product, frame->shape + a * d);
}

/* The shape known from earlier, in the frame's coordinates, joins the points' own covariance (in factor). */
static void join_shape(mel_frame *frame, double own)
{
    const size_t d = frame->dimension, k = frame->axes;
    double *turned = frame->axis; /* the axes are made later */
    memcpy(turned, frame->shape, d * d * sizeof(double));
    if (frame->chart) { /* H S H: rows, then, as S is symmetric, columns */
        double *sums = frame->along;
        for (size_t a = 0; a < d; a++)
            reflect(frame, turned + a * d);
        memset(sums, 0, d * sizeof(double));
        for (size_t a = 0; a < d; a++)
            mel_axpy(d, frame->reflector[a], turned + a * d, sums);
        for (size_t a = 0; a < d; a++)
            mel_axpy(d, -frame->reflector[a], sums, turned + a * d);
    }
    const double first = mean_radius(frame), second = square_radius(frame);
    const double along_mean = frame->chart ? 0.0 : second - first * first;
    for (size_t a = 0; a < k; a++)
        for (size_t b = 0; b <= a; b++) {
            double *entry = &frame->factor[a * k + b];
            const double known = second * turned[a * d + b] + along_mean * frame->mean[a] * frame->mean[b];
            *entry = own * *entry + (1.0 - own) * known;
        }
}

void mel_frame_learn(mel_frame *frame, const double *covariance, double effective)
{
    const size_t n = frame->dimension * frame->dimension;
    const double own =
        frame->shaped ? effective / (effective + learned_per_axis * (double)frame->dimension) : 1.0;
    for (size_t i = 0; i < n; i++)
        frame->shape[i] += own * (covariance[i] - frame->shape[i]);
    frame->shaped = true;
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

/* Whether the chart at the weighted mean (into `mean`, its direction into `centre`) sees the cloud well. */
static bool find_mean(mel_frame *frame, size_t n, const double *w, const double *weight)
{
    const size_t d = frame->dimension;
    double total = 0.0, least = 1.0;
    memset(frame->mean, 0, d * sizeof(double));
    for (size_t i = 0; i < n; i++) {
        const double share = weight == NULL ? 1.0 : weight[i];
        total += share;
        mel_axpy(d, share, w + i * d, frame->mean);
    }
    mel_scale(d, 1.0 / total, frame->mean);
    const double length = mel_norm2(d, frame->mean);
    memcpy(frame->centre, frame->mean, d * sizeof(double));
    if (!(length >= chart_resultant))
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

void mel_frame_fit(mel_frame *frame, size_t n, const double *w, const double *weight, const double *row,
                   double efficiency)
{
    const size_t d = frame->dimension;
    frame->chart = find_mean(frame, n, w, weight);
    frame->axes = frame->chart ? d - 1 : d;
    if (frame->chart)
        make_reflector(frame, frame->centre);
    else
        for (size_t j = 0; j < d; j++)
            frame->centre[j] = mean_radius(frame) * frame->mean[j];
    if (frame->shaped && row != NULL)
        narrow(frame, n, w, weight, row);
    const double effective = efficiency * effective_number(n, weight);
    double own = effective / (effective + predicted_per_axis * (double)frame->axes);
    own = !frame->shaped ? 1.0 : own < least_own ? 0.0 : own;
    memset(frame->factor, 0, frame->axes * frame->axes * sizeof(double));
    if (own > 0.0)
        own_covariance(frame, n, w, weight);
    if (own < 1.0)
        join_shape(frame, own);
    mel_cholesky_raised(frame->axes, frame->factor, least_pivot);
    make_axes(frame);
}

void mel_frame_turn(const mel_frame *frame, const double *row, double *out)
{
    const size_t d = frame->dimension;
    double *turned = frame->along;
    memcpy(turned, row, d * sizeof(double));
    if (frame->chart) { /* y = centre + sum_j z_j axis_j, v = (z, 1) up to its length */
        for (size_t j = 0; j + 1 < d; j++)
            turned[j] = mel_dot(d, row, frame->axis + j * d);
        turned[d - 1] = mel_dot(d, row, frame->centre);
    }
    const double length = mel_norm2(d, turned);
    for (size_t j = 0; j < d; j++)
        out[j] = length > 0.0 ? turned[j] / length : 0.0;
}

void mel_frame_back(const mel_frame *frame, const double *v, double *w)
{
    const size_t d = frame->dimension;
    memcpy(w, v, d * sizeof(double));
    if (frame->chart) {
        memset(w, 0, d * sizeof(double));
        for (size_t j = 0; j + 1 < d; j++)
            mel_axpy(d, v[j], frame->axis + j * d, w);
        mel_axpy(d, v[d - 1], frame->centre, w);
    }
    mel_scale(d, 1.0 / mel_norm2(d, w), w);
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
