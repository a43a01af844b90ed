/* The loops over one block of rows: scores, losses and residuals, gradient and curvature; dense rows by BLAS,
 * sparse ones by hand. */
#include "base/la.h"
#include "base/stat.h"
#include "model/objective.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

/* Sparse rows with one number per feature: two classes. */
static double sparse_dot(size_t n, const uint32_t *col, const double *value, const double *coef)
{
    double sum = 0.0;
    for (size_t e = 0; e < n; e++)
        sum += value[e] * coef[col[e]];
    return sum;
}

static void sparse_axpy(size_t n, const uint32_t *col, const double *value, double alpha, double *to)
{
    for (size_t e = 0; e < n; e++)
        to[col[e]] += alpha * value[e];
}

/* One row's products of features times its weight, added to packed pairs a >= b; the intercept's
 * feature is 1 in every row. */
static void sparse_products(size_t n, const uint32_t *col, const double *value, double weight,
                            size_t n_features, double *sums)
{
    for (size_t a = 0; a < n; a++) {
        const size_t ca = col[a];
        sparse_axpy(a + 1, col, value, weight * value[a], sums + ca * (ca + 1) / 2);
    }
    double *last = sums + n_features * (n_features + 1) / 2;
    sparse_axpy(n, col, value, weight, last);
    last[n_features] += weight;
}

/* The same with ld numbers per feature, side by side. */
MEL_VECTORISED
static void sparse_dot_wide(size_t n, const uint32_t *restrict col, const double *restrict value, size_t ld,
                            const double *restrict coef, double *restrict score)
{
    for (size_t e = 0; e < n; e++) {
        const double *w = coef + (size_t)col[e] * ld;
        const double v = value[e];
        for (size_t c = 0; c < ld; c++)
            score[c] += v * w[c];
    }
}

/* to[col][q] += value * alpha[q] */
static inline void add_wide(size_t n, const uint32_t *restrict col, const double *restrict value, size_t ld,
                            const double *restrict alpha, double *restrict to)
{
    for (size_t e = 0; e < n; e++) {
        double *sum = to + (size_t)col[e] * ld;
        const double v = value[e];
        for (size_t q = 0; q < ld; q++)
            sum[q] += v * alpha[q];
    }
}

MEL_VECTORISED
static void sparse_axpy_wide(size_t n, const uint32_t *restrict col, const double *restrict value, size_t ld,
                             const double *restrict alpha, double *restrict to)
{
    add_wide(n, col, value, ld, alpha, to);
}

MEL_VECTORISED
static void sparse_products_wide(size_t n, const uint32_t *restrict col, const double *restrict value,
                                 size_t ld, const double *restrict weight, double *restrict scaled,
                                 size_t n_features, double *restrict sums)
{
    for (size_t a = 0; a < n; a++) {
        const size_t ca = col[a];
        for (size_t q = 0; q < ld; q++)
            scaled[q] = value[a] * weight[q];
        add_wide(a + 1, col, value, ld, scaled, sums + ca * (ca + 1) / 2 * ld);
    }
    double *last = sums + n_features * (n_features + 1) / 2 * ld;
    add_wide(n, col, value, ld, weight, last);
    for (size_t q = 0; q < ld; q++)
        last[n_features * ld + q] += weight[q];
}

/* Few classes are most common, and loops of a known length faster. */
MEL_VECTORISED
static void repeat_row(size_t n, size_t ld, const double *restrict row, double *restrict to)
{
    const size_t few = (size_t)2 * MEL_LANES;
    for (size_t i = 0; i < n; i++)
        if (ld == few)
            memcpy(to + i * few, row, few * sizeof *row);
        else
            memcpy(to + i * ld, row, ld * sizeof *row);
}

static inline void add_rows_of(size_t n, size_t ld, const double *restrict row, double *restrict sum)
{
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < ld; c++)
            sum[c] += row[i * ld + c];
}

MEL_VECTORISED
static void add_rows(size_t n, size_t ld, const double *restrict row, double *restrict sum)
{
    if (ld == MEL_LANES)
        add_rows_of(n, MEL_LANES, row, sum);
    else if (ld == (size_t)2 * MEL_LANES)
        add_rows_of(n, (size_t)2 * MEL_LANES, row, sum);
    else
        add_rows_of(n, ld, row, sum);
}

void mel_block_scores(const mel_objective *obj, size_t first, size_t n, double *score)
{
    const mel_features *x = obj->x;
    const size_t d = obj->n_features, ld = obj->ld;
    repeat_row(n, ld, obj->coef + d * ld, score);
    if (x->dense == NULL) {
        for (size_t i = 0; i < n; i++) {
            const mel_feature_row row = mel_row_of(x, first + i);
            if (ld == 1)
                score[i] += sparse_dot(row.n, row.col, row.value, obj->coef);
            else
                sparse_dot_wide(row.n, row.col, row.value, ld, obj->coef, score + i * ld);
        }
    } else if (d > 0 && ld == 1) {
        mel_gemv(n, d, 1.0, x->dense + first * x->stride, x->stride, obj->coef, 1.0, score);
    } else if (d > 0) {
        mel_gemm(false, false, n, obj->n_outputs, d, 1.0, x->dense + first * x->stride, x->stride, obj->coef,
                 ld, 1.0, score, ld);
    }
}

void mel_block_gradient(const mel_objective *obj, size_t first, size_t n, const double *residual,
                        double *gradient)
{
    const mel_features *x = obj->x;
    const size_t d = obj->n_features, ld = obj->ld;
    double *intercept = gradient + d * ld;
    add_rows(n, ld, residual, intercept);
    if (x->dense == NULL) {
        for (size_t i = 0; i < n; i++) {
            const mel_feature_row row = mel_row_of(x, first + i);
            if (ld == 1)
                sparse_axpy(row.n, row.col, row.value, residual[i], gradient);
            else
                sparse_axpy_wide(row.n, row.col, row.value, ld, residual + i * ld, gradient);
        }
    } else if (d > 0 && ld == 1) {
        mel_gemv_t(n, d, 1.0, x->dense + first * x->stride, x->stride, residual, 1.0, gradient);
    } else if (d > 0) {
        mel_gemm(true, false, d, obj->n_outputs, n, 1.0, x->dense + first * x->stride, x->stride, residual,
                 ld, 1.0, gradient, ld);
    }
}

/* x_a x_b of a row for a >= b, the intercept's 1 last. Whole vectors are read and written: what is too much
 * lies where the next a follows, so there is room for MEL_LANES more than there are. */
static inline void row_products(size_t d, const double *restrict x, double *restrict product)
{
    for (size_t a = 0; a < d; a++) {
        const double times = x[a];
        for (size_t b = 0; b <= a; b += MEL_LANES)
            for (size_t lane = 0; lane < MEL_LANES; lane++)
                product[b + lane] = times * x[b + lane];
        product += a + 1;
    }
    memcpy(product, x, d * sizeof *product);
    product[d] = 1.0;
}

MEL_VECTORISED
static void feature_products(size_t n, size_t d, const double *restrict x, size_t stride,
                             double *restrict product)
{
    const size_t width = (d + 1) * (d + 2) / 2, end = (n - 1) * stride + d;
    double own[MEL_PAIRS_MAX_FEATURES + MEL_LANES] = { 0 }; /* a row that nothing lies behind */
    for (size_t i = 0; i < n; i++) {
        const bool last = i * stride + d + MEL_LANES > end;
        if (last)
            memcpy(own, x + i * stride, d * sizeof *own);
        row_products(d, last ? own : x + i * stride, product + i * width);
    }
}

/* Dense rows, products of features first, then one matrix product for all class pairs. */
static void dense_products(const mel_objective *obj, size_t first, size_t n, const double *pair,
                           double *product, double *sums)
{
    const size_t width = (obj->n_features + 1) * (obj->n_features + 2) / 2;
    for (size_t from = 0; from < n; from += obj->product_rows) {
        const size_t rows = n - from < obj->product_rows ? n - from : obj->product_rows;
        feature_products(rows, obj->n_features, obj->x->dense + (first + from) * obj->x->stride,
                         obj->x->stride, product);
        mel_gemm(false, false, obj->n_pairs, width, rows, 1.0, pair + from, obj->block_rows, product, width,
                 1.0, sums, width);
    }
}

/* Dense rows, one symmetric product per class pair on rows scaled by the root of the pair's weight. */
static void dense_squares(const mel_objective *obj, size_t first, size_t n, const double *pair,
                          double *scaled, double *sums)
{
    const size_t d = obj->n_features, width = d + 1;
    for (size_t q = 0; q < obj->n_pairs; q++) {
        for (size_t i = 0; i < n; i++) {
            const double *x = obj->x->dense + (first + i) * obj->x->stride;
            const double root = sqrt(pair[q * obj->block_rows + i]);
            double *to = scaled + i * width;
            for (size_t j = 0; j < d; j++)
                to[j] = root * x[j];
            to[d] = root;
        }
        cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, (int)width, (int)n, 1.0, scaled, (int)width, 1.0,
                    sums + q * width * width, (int)width);
    }
}

void mel_block_curvature(const mel_objective *obj, size_t first, size_t n, const mel_scratch *scratch,
                         double *curvature)
{
    const mel_features *x = obj->x;
    if (obj->curvature == MEL_CURVATURE_PRODUCTS) {
        dense_products(obj, first, n, scratch->pair, scratch->buffer, curvature);
    } else if (obj->curvature == MEL_CURVATURE_SQUARES) {
        dense_squares(obj, first, n, scratch->pair, scratch->buffer, curvature);
    } else {
        for (size_t i = 0; i < n; i++) {
            const mel_feature_row row = mel_row_of(x, first + i);
            double *pair = scratch->buffer; /* of the row; padding stays 0 */
            for (size_t q = 0; q < obj->n_pairs; q++)
                pair[q] = scratch->pair[q * obj->block_rows + i];
            if (obj->ld_pair == 1)
                sparse_products(row.n, row.col, row.value, *pair, obj->n_features, curvature);
            else
                sparse_products_wide(row.n, row.col, row.value, obj->ld_pair, pair, pair + obj->ld_pair,
                                     obj->n_features, curvature);
        }
    }
}

/* --- from scores to losses, residuals and weights of class pairs ---------------------------------------- */

enum { ROWS_AT_A_TIME = MEL_COLUMN_ROWS };

/* Loss of one row of two classes with score z; *z becomes the residual. */
static double residual_two(double weight, uint32_t y, double *z, double *pair)
{
    const double tail = exp(-fabs(*z)); /* of the less likely class, relative to the other */
    const double small = tail / (1.0 + tail), large = 1.0 / (1.0 + tail);
    const bool second_likely = *z >= 0.0;
    const double margin = y == 1 ? *z : -*z;
    const double loss = log1p(tail) + (margin < 0.0 ? -margin : 0.0);
    if (pair != NULL)
        *pair = weight * small * large;
    /* p - 1 is minus the other probability: nothing cancels. */
    if (y == 1)
        *z = second_likely ? -weight * small : -weight * large;
    else
        *z = second_likely ? weight * large : weight * small;
    return weight * loss;
}

static double two_classes(const mel_objective *obj, size_t first, size_t n, double *score, double *pair)
{
    mel_sum loss = { 0 };
    for (size_t i = 0; i < n; i++) {
        const double weight = obj->weight != NULL ? obj->weight[first + i] : 1.0;
        double *s = pair != NULL ? pair + i : NULL;
        if (weight == 0.0) /* even a row out of range counts nothing */
            score[i] = 0.0;
        if (weight == 0.0 && s != NULL)
            *s = 0.0;
        if (weight != 0.0)
            mel_sum_add(&loss, residual_two(weight, obj->y[first + i], score + i, s));
    }
    return mel_sum_value(&loss);
}

/* --- three classes and more --------------------------------------------------------------------- */

/* exp(x) for x <= 0 to the last digit but one, NaN for NaN, 0 below exp(-708): 2^k times the Taylor series on
 * |r| <= ln(2)/2, whose rest is 4e-18; even and odd powers side by side. */
static inline double exponential(double x)
{
    const double magic = 6755399441055744.0 + 1023.0; /* 1.5 * 2^52: the whole part moves to the low bits */
    const double shifted = (x < -708.0 ? -708.0 : x) * 1.4426950408889634 + magic, k = shifted - magic;
    const double r = (x - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10, s = r * r;
    const double even =
        0.5 +
        s * (1.0 / 24 + s * (1.0 / 720 + s * (1.0 / 40320 + s * (1.0 / 3628800 + s * (1.0 / 479001600)))));
    const double odd =
        1.0 / 6 + s * (1.0 / 120 +
                       s * (1.0 / 5040 + s * (1.0 / 362880 + s * (1.0 / 39916800 + s * (1.0 / 6227020800)))));
    uint64_t bits;
    double power;
    memcpy(&bits, &shifted, sizeof bits);
    bits <<= 52;
    memcpy(&power, &bits, sizeof power);
    return x < -708.0 ? 0.0 : power * (1.0 + (r + s * (even + r * odd)));
}

/* Numbers of a class side by side, those of row i at place i: what follows goes by vectors of rows. */
typedef double column[ROWS_AT_A_TIME];

static void to_columns(size_t n, size_t k, const double *restrict score, size_t ld, column *restrict z)
{
    for (size_t c = 0; c < k; c++) {
        for (size_t i = 0; i < n; i++)
            z[c][i] = score[i * ld + c];
        for (size_t i = n; i < ROWS_AT_A_TIME; i++)
            z[c][i] = 0.0;
    }
}

static void to_rows(size_t n, size_t k, column *restrict z, size_t ld, double *restrict residual)
{
    for (size_t c = 0; c < k; c++)
        for (size_t i = 0; i < n; i++)
            residual[i * ld + c] = z[c][i];
    for (size_t i = 0; i < n; i++)
        for (size_t c = k; c < ld; c++)
            residual[i * ld + c] = 0.0;
}

/* Scores become exponentials of their differences from the row's largest. */
MEL_VECTORISED
static void exponentials(size_t k, column *restrict z, double *restrict top)
{
    for (size_t i = 0; i < ROWS_AT_A_TIME; i++)
        top[i] = z[0][i];
    for (size_t c = 1; c < k; c++)
        for (size_t i = 0; i < ROWS_AT_A_TIME; i++)
            top[i] = z[c][i] > top[i] ? z[c][i] : top[i];
    for (size_t c = 0; c < k; c++)
        for (size_t i = 0; i < ROWS_AT_A_TIME; i++)
            z[c][i] = exponential(z[c][i] - top[i]);
}

/* What the exponentials of a row add up to, and those of the classes that are not its own: 1 - p_y without
 * cancellation. y: class codes as numbers. */
MEL_VECTORISED
static void add_up(size_t k, column *restrict z, const double *restrict y, double *restrict others,
                   double *restrict sum)
{
    column part[MEL_LANES] = { { 0 } }, own = { 0 };
    for (size_t c = 0; c < k; c++)
        for (size_t i = 0; i < ROWS_AT_A_TIME; i++) {
            part[c % MEL_LANES][i] += y[i] == (double)c ? 0.0 : z[c][i];
            own[i] = y[i] == (double)c ? z[c][i] : own[i];
        }
    for (size_t i = 0; i < ROWS_AT_A_TIME; i++) {
        others[i] = part[0][i] + part[1][i] + part[2][i] + part[3][i];
        sum[i] = own[i] + others[i];
    }
}

/* Exponentials become residuals; pair (unless NULL): n weights of each pair of classes, ld_pair apart. */
MEL_VECTORISED
static void residuals(size_t n, size_t k, column *restrict z, const double *restrict y,
                      const double *restrict times, const double *restrict others, const double *restrict sum,
                      double *restrict pair, size_t ld_pair)
{
    column share, own, scaled;
    for (size_t i = 0; i < ROWS_AT_A_TIME; i++) {
        share[i] = 1.0 / sum[i];
        own[i] = -times[i] * (others[i] * share[i]);
    }
    for (size_t c = 0; c < k; c++) {
        for (size_t i = 0; i < ROWS_AT_A_TIME; i++) {
            z[c][i] *= share[i];
            scaled[i] = times[i] * z[c][i];
        }
        for (size_t e = 0; pair != NULL && e < c; e++, pair += ld_pair)
            for (size_t i = 0; i < n; i++)
                pair[i] = scaled[i] * z[e][i];
    }
    for (size_t c = 0; c < k; c++)
        for (size_t i = 0; i < ROWS_AT_A_TIME; i++)
            z[c][i] = y[i] == (double)c ? own[i] : z[c][i] * times[i];
}

/* The logarithm of a product of many sums, 1 to k each, instead of many logarithms. */
static double losses(size_t n, const double *weight, const double *below, const double *sum)
{
    static const double large = 1e200;
    double loss = 0.0, product = 1.0;
    for (size_t i = 0; i < n; i++) {
        if (weight != NULL) {
            loss += weight[i] == 0.0 ? 0.0 : weight[i] * (below[i] + log(sum[i]));
            continue;
        }
        loss += below[i];
        product *= sum[i];
        if (product > large) {
            loss += log(product);
            product = 1.0;
        }
    }
    return loss + log(product);
}

/* At most ROWS_AT_A_TIME rows; column is scratch. */
static double many_classes(const mel_objective *obj, size_t first, size_t n, double *score, column *z,
                           double *pair)
{
    const size_t k = obj->n_classes, ld = obj->ld;
    const double *weight = obj->weight != NULL ? obj->weight + first : NULL;
    column below, top, sum, others, y = { 0 }, times = { 0 };
    for (size_t i = 0; i < n; i++) {
        const uint32_t own = obj->y[first + i];
        y[i] = own;
        times[i] = weight != NULL ? weight[i] : 1.0;
        if (times[i] == 0.0) /* even a row out of range counts nothing */
            memset(score + i * ld, 0, k * sizeof *score);
        below[i] = -score[i * ld + own];
    }
    to_columns(n, k, score, ld, z);
    exponentials(k, z, top);
    for (size_t i = 0; i < n; i++)
        below[i] += top[i];
    add_up(k, z, y, others, sum);
    residuals(n, k, z, y, times, others, sum, pair, obj->block_rows);
    to_rows(n, k, z, ld, score);
    return losses(n, weight, below, sum);
}

double mel_block_residuals(const mel_objective *obj, size_t first, size_t n, const mel_scratch *scratch,
                           bool with_pairs)
{
    double *pair = with_pairs ? scratch->pair : NULL;
    if (obj->n_classes == 2)
        return two_classes(obj, first, n, scratch->score, pair);
    mel_sum loss = { 0 };
    for (size_t from = 0; from < n; from += ROWS_AT_A_TIME) {
        const size_t rows = n - from < ROWS_AT_A_TIME ? n - from : ROWS_AT_A_TIME;
        mel_sum_add(&loss, many_classes(obj, first + from, rows, scratch->score + from * obj->ld,
                                        (column *)scratch->column, pair != NULL ? pair + from : NULL));
    }
    return mel_sum_value(&loss);
}
