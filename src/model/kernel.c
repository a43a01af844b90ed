/* The loops over one block of rows: dense rows by BLAS, sparse ones by hand. */
#include "model/kernel.h"

#include "base/la.h"
#include "base/stat.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

/* Entries of sparse row i; none when there are no features at all. */
static size_t sparse_row(const mel_features *x, size_t i, const uint32_t **col, const double **value)
{
    if (x->n_cols == 0)
        return 0;
    const size_t begin = x->row_start[i], n = x->row_start[i + 1] - begin;
    if (n > 0) {
        *col = x->col + begin;
        *value = x->value + begin;
    }
    return n;
}

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

void mel_block_scores(const mel_objective *obj, size_t first, size_t n, double *score)
{
    const mel_features *x = obj->x;
    const size_t d = obj->n_features, ld = obj->ld;
    for (size_t i = 0; i < n; i++)
        memcpy(score + i * ld, obj->coef + d * ld, ld * sizeof *score);
    if (x->dense == NULL) {
        for (size_t i = 0; i < n; i++) {
            const uint32_t *col = NULL;
            const double *value = NULL;
            const size_t entries = sparse_row(x, first + i, &col, &value);
            if (ld == 1)
                score[i] += sparse_dot(entries, col, value, obj->coef);
            else
                sparse_dot_wide(entries, col, value, ld, obj->coef, score + i * ld);
        }
    } else if (d > 0 && ld == 1) {
        mel_gemv(n, d, 1.0, x->dense + first * x->stride, x->stride, obj->coef, 1.0, score);
    } else if (d > 0) {
        mel_gemm(false, false, n, obj->n_outputs, d, 1.0, x->dense + first * x->stride, x->stride, obj->coef,
                 ld, 1.0, score, ld);
    }
}

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

/* Softmax of z[0..k) in place; returns log(sum(exp(z))). */
static double softmax(size_t k, double *z)
{
    double top = z[0];
    for (size_t c = 1; c < k; c++)
        top = z[c] > top ? z[c] : top;
    double sum = 0.0;
    for (size_t c = 0; c < k; c++) {
        z[c] = exp(z[c] - top);
        sum += z[c];
    }
    const double share = 1.0 / sum;
    for (size_t c = 0; c < k; c++)
        z[c] *= share;
    return top + log(sum);
}

MEL_VECTORISED
static void class_pairs(size_t k, double weight, const double *restrict p, double *restrict pair)
{
    for (size_t c = 1; c < k; c++) {
        const double a = weight * p[c];
        for (size_t e = 0; e < c; e++)
            pair[e] = a * p[e];
        pair += c;
    }
}

static double residual_many(const mel_objective *obj, double weight, uint32_t y, double *z, double *pair)
{
    const size_t k = obj->n_classes;
    const double own = z[y];
    const double loss = softmax(k, z) - own;
    if (pair != NULL)
        class_pairs(k, weight, z, pair);
    double others = 0.0; /* 1 - p_y without cancellation */
    for (size_t c = 0; c < k; c++) {
        others += c == y ? 0.0 : z[c];
        z[c] *= weight;
    }
    z[y] = -weight * others;
    return weight * loss;
}

double mel_block_residuals(const mel_objective *obj, size_t first, size_t n, double *score, double *pair)
{
    mel_sum loss = { 0 };
    for (size_t i = 0; i < n; i++) {
        const double weight = obj->weight != NULL ? obj->weight[first + i] : 1.0;
        double *z = score + i * obj->ld, *s = pair != NULL ? pair + i * obj->ld_pair : NULL;
        if (weight == 0.0) { /* even a row out of range counts nothing */
            memset(z, 0, obj->ld * sizeof *z);
            if (s != NULL)
                memset(s, 0, obj->ld_pair * sizeof *s);
        } else if (obj->n_classes == 2) {
            mel_sum_add(&loss, residual_two(weight, obj->y[first + i], z, s));
        } else {
            mel_sum_add(&loss, residual_many(obj, weight, obj->y[first + i], z, s));
            for (size_t c = obj->n_outputs; c < obj->ld; c++)
                z[c] = 0.0;
        }
    }
    return mel_sum_value(&loss);
}

void mel_block_gradient(const mel_objective *obj, size_t first, size_t n, const double *residual,
                        double *gradient)
{
    const mel_features *x = obj->x;
    const size_t d = obj->n_features, ld = obj->ld;
    double *intercept = gradient + d * ld;
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < ld; c++)
            intercept[c] += residual[i * ld + c];
    if (x->dense == NULL) {
        for (size_t i = 0; i < n; i++) {
            const uint32_t *col = NULL;
            const double *value = NULL;
            const size_t entries = sparse_row(x, first + i, &col, &value);
            if (ld == 1)
                sparse_axpy(entries, col, value, residual[i], gradient);
            else
                sparse_axpy_wide(entries, col, value, ld, residual + i * ld, gradient);
        }
    } else if (d > 0 && ld == 1) {
        mel_gemv_t(n, d, 1.0, x->dense + first * x->stride, x->stride, residual, 1.0, gradient);
    } else if (d > 0) {
        mel_gemm(true, false, d, obj->n_outputs, n, 1.0, x->dense + first * x->stride, x->stride, residual,
                 ld, 1.0, gradient, ld);
    }
}

/* Dense rows, products of features first, then one matrix product for all class pairs. */
static void dense_pairs(const mel_objective *obj, size_t first, size_t n, const double *pair, double *product,
                        double *sums)
{
    const size_t d = obj->n_features, width = (d + 1) * (d + 2) / 2;
    for (size_t from = 0; from < n; from += obj->product_rows) {
        const size_t rows = n - from < obj->product_rows ? n - from : obj->product_rows;
        for (size_t i = 0; i < rows; i++) {
            const double *x = obj->x->dense + (first + from + i) * obj->x->stride;
            double *to = product + i * width;
            for (size_t a = 0; a < d; a++) {
                for (size_t b = 0; b <= a; b++)
                    to[b] = x[a] * x[b];
                to += a + 1;
            }
            memcpy(to, x, d * sizeof *to);
            to[d] = 1.0;
        }
        mel_gemm(true, false, width, obj->n_pairs, rows, 1.0, product, width, pair + from * obj->ld_pair,
                 obj->ld_pair, 1.0, sums, obj->ld_pair);
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
            const double root = sqrt(pair[i * obj->ld_pair + q]);
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
    if (x->dense != NULL && obj->curvature == MEL_CURVATURE_PAIRS) {
        dense_pairs(obj, first, n, scratch->pair, scratch->buffer, curvature);
    } else if (x->dense != NULL) {
        dense_squares(obj, first, n, scratch->pair, scratch->buffer, curvature);
    } else {
        for (size_t i = 0; i < n; i++) {
            const uint32_t *col = NULL;
            const double *value = NULL;
            const size_t entries = sparse_row(x, first + i, &col, &value);
            const double *pair = scratch->pair + i * obj->ld_pair;
            if (obj->ld_pair == 1)
                sparse_products(entries, col, value, *pair, obj->n_features, curvature);
            else
                sparse_products_wide(entries, col, value, obj->ld_pair, pair, scratch->buffer,
                                     obj->n_features, curvature);
        }
    }
}
