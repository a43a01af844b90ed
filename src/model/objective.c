/* The penalised log-loss with its gradient and Hessian over slices of rows. */
#include "model/objective.h"

#include "base/stat.h"
#include "model/kernel.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_SLICES = 16,           /* enough for the cores of a desktop; never depends on them */
    SPARSE_BLOCK = 64,         /* rows; scores and pair weights of a block stay in the first-level cache */
    DENSE_BLOCK = 256,         /* rows; enough for BLAS to run at full speed */
    PRODUCT_DOUBLES = 1 << 17, /* products of features held at a time: 1 MiB */
    PAIRS_MAX_FEATURES = 64,   /* dense rows: above, one symmetric product per class pair is faster */
    PAIRS_MIN_CLASS_PAIRS = 6,
    EXPONENTIAL_COST = 20 /* of one class of one row, in multiplications */
};
static const size_t slice_budget = (size_t)64 << 20; /* bytes of sums, all slices together */

static size_t padded(size_t n)
{
    return n == 1 ? 1 : (n + MEL_LANES - 1) / MEL_LANES * MEL_LANES;
}

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t max_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

void mel_objective_clear(mel_objective *obj)
{
    for (int t = 0; obj->scratch != NULL && t < obj->threads; t++) {
        free(obj->scratch[t].score);
        free(obj->scratch[t].pair);
        free(obj->scratch[t].buffer);
    }
    free(obj->scratch);
    free(obj->coef);
    free(obj->slice_loss);
    free(obj->slice_gradient);
    free(obj->slice_curvature);
    obj->scratch = NULL;
    obj->coef = obj->slice_loss = obj->slice_gradient = obj->slice_curvature = NULL;
}

static void choose_curvature(mel_objective *obj)
{
    const size_t width = obj->n_features + 1, packed = width * (width + 1) / 2;
    obj->n_pairs = obj->n_classes * (obj->n_classes - 1) / 2;
    obj->ld_pair = padded(obj->n_pairs);
    if (obj->x->dense == NULL ||
        (obj->n_features <= PAIRS_MAX_FEATURES && obj->n_pairs >= PAIRS_MIN_CLASS_PAIRS)) {
        obj->curvature = MEL_CURVATURE_PAIRS;
        obj->curvature_size = packed * obj->ld_pair;
        obj->product_rows = min_size(max_size(PRODUCT_DOUBLES / packed, 32), obj->block_rows);
    } else {
        obj->curvature = MEL_CURVATURE_SQUARES;
        obj->curvature_size = width * width * obj->n_pairs;
    }
}

static size_t buffer_size(const mel_objective *obj)
{
    const size_t width = obj->n_features + 1;
    if (obj->curvature == MEL_CURVATURE_SQUARES)
        return obj->block_rows * width;
    return obj->x->dense != NULL ? obj->product_rows * (width * (width + 1) / 2) : obj->ld_pair;
}

static bool allocate_scratch(mel_objective *obj)
{
    obj->scratch = mel_alloc_zero((size_t)obj->threads, sizeof *obj->scratch);
    for (int t = 0; obj->scratch != NULL && t < obj->threads; t++) {
        mel_scratch *s = &obj->scratch[t];
        s->score = mel_alloc_zero(obj->block_rows * obj->ld, sizeof *s->score);
        if (s->score == NULL)
            return false;
        if (obj->curvature == MEL_CURVATURE_NONE)
            continue;
        s->pair = mel_alloc_zero(obj->block_rows * obj->ld_pair, sizeof *s->pair);
        s->buffer = mel_alloc_zero(buffer_size(obj), sizeof *s->buffer);
        if (s->pair == NULL || s->buffer == NULL)
            return false;
    }
    return obj->scratch != NULL;
}

mel_status mel_objective_init(mel_objective *obj, bool with_hessian, mel_error *err)
{
    const size_t d = obj->n_features = obj->x->n_cols;
    obj->n_outputs = obj->n_classes == 2 ? 1 : obj->n_classes;
    obj->n_params = (d + 1) * obj->n_outputs;
    obj->ld = padded(obj->n_outputs);
    obj->block_rows = obj->x->dense != NULL ? DENSE_BLOCK : SPARSE_BLOCK;
    obj->n_blocks = (obj->x->n_rows + obj->block_rows - 1) / obj->block_rows;
    obj->curvature = MEL_CURVATURE_NONE;
    obj->curvature_size = 0;
    if (with_hessian)
        choose_curvature(obj);
    const size_t sums = (d + 1) * obj->ld + obj->curvature_size;
    obj->n_slices = min_size(MAX_SLICES, max_size(slice_budget / sizeof(double) / sums, 2));
    obj->n_slices = min_size(obj->n_slices, max_size(obj->n_blocks, 1));
    obj->threads = (int)min_size((size_t)mel_thread_count(obj->threads), obj->n_slices);

    obj->coef = mel_alloc_zero((d + 1) * obj->ld, sizeof *obj->coef);
    obj->slice_loss = mel_alloc_zero(obj->n_slices, sizeof *obj->slice_loss);
    obj->slice_gradient = mel_alloc_zero(obj->n_slices * (d + 1) * obj->ld, sizeof *obj->slice_gradient);
    if (with_hessian)
        obj->slice_curvature =
            mel_alloc_zero(obj->n_slices * obj->curvature_size, sizeof *obj->slice_curvature);
    if (obj->coef == NULL || obj->slice_loss == NULL || obj->slice_gradient == NULL ||
        (with_hessian && obj->slice_curvature == NULL) || !allocate_scratch(obj)) {
        mel_objective_clear(obj);
        return mel_fail_memory(err, "fitting");
    }
    return MEL_OK;
}

static void evaluate_slice(mel_objective *obj, size_t slice, const mel_scratch *scratch, bool with_hessian)
{
    const size_t size = (obj->n_features + 1) * obj->ld;
    double *gradient = obj->slice_gradient + slice * size;
    double *curvature = with_hessian ? obj->slice_curvature + slice * obj->curvature_size : NULL;
    memset(gradient, 0, size * sizeof *gradient);
    if (with_hessian)
        memset(curvature, 0, obj->curvature_size * sizeof *curvature);
    mel_sum loss = { 0 };
    const size_t end = (slice + 1) * obj->n_blocks / obj->n_slices;
    for (size_t block = slice * obj->n_blocks / obj->n_slices; block < end; block++) {
        const size_t first = block * obj->block_rows;
        const size_t n = min_size(obj->block_rows, obj->x->n_rows - first);
        mel_block_scores(obj, first, n, scratch->score);
        mel_sum_add(&loss,
                    mel_block_residuals(obj, first, n, scratch->score, with_hessian ? scratch->pair : NULL));
        mel_block_gradient(obj, first, n, scratch->score, gradient);
        if (with_hessian)
            mel_block_curvature(obj, first, n, scratch, curvature);
    }
    obj->slice_loss[slice] = mel_sum_value(&loss);
}

/* into[0..size) += from, for slices 1 and up in order. */
static void combine(double *sums, size_t size, size_t n_slices)
{
    for (size_t slice = 1; slice < n_slices; slice++) {
        const double *from = sums + slice * size;
        for (size_t i = 0; i < size; i++)
            sums[i] += from[i];
    }
}

double mel_objective_penalty(const mel_objective *obj, const double *theta)
{
    mel_sum square = { 0 };
    for (size_t i = 0; i < obj->n_features * obj->n_outputs; i++)
        mel_sum_add(&square, theta[i] * theta[i]);
    return obj->l2 == 0.0 ? 0.0 : 0.5 * obj->l2 * mel_sum_value(&square);
}

double mel_objective_eval(mel_objective *obj, const double *theta, double *gradient, bool with_hessian)
{
    const size_t m = obj->n_outputs, ld = obj->ld, width = obj->n_features + 1;
    for (size_t j = 0; j < width; j++)
        memcpy(obj->coef + j * ld, theta + j * m, m * sizeof *theta);
#pragma omp parallel for schedule(dynamic, 1) num_threads(obj->threads)
    for (size_t slice = 0; slice < obj->n_slices; slice++)
        evaluate_slice(obj, slice, &obj->scratch[omp_get_thread_num()], with_hessian);
    combine(obj->slice_gradient, width * ld, obj->n_slices);
    if (with_hessian)
        combine(obj->slice_curvature, obj->curvature_size, obj->n_slices);
    for (size_t j = 0; j < width; j++)
        for (size_t c = 0; c < m; c++)
            gradient[j * m + c] =
                obj->slice_gradient[j * ld + c] + (j < obj->n_features ? obj->l2 * theta[j * m + c] : 0.0);
    mel_sum value = { 0 };
    for (size_t slice = 0; slice < obj->n_slices; slice++)
        mel_sum_add(&value, obj->slice_loss[slice]);
    mel_sum_add(&value, mel_objective_penalty(obj, theta));
    return mel_sum_value(&value);
}

/* Sum over rows of weight * p_c * p_c' * x_a * x_b (two classes: p (1 - p)), a >= b. */
static double curvature_at(const mel_objective *obj, size_t a, size_t b, size_t pair)
{
    const size_t width = obj->n_features + 1;
    return obj->curvature == MEL_CURVATURE_PAIRS
               ? obj->slice_curvature[(a * (a + 1) / 2 + b) * obj->ld_pair + pair]
               : obj->slice_curvature[(pair * width + a) * width + b];
}

/* The classes' block of a feature pair: -p_c p_c' off the diagonal, and on it what makes rows sum to 0. */
static void fill_block(const mel_objective *obj, size_t a, size_t b, double *block, size_t ld)
{
    const size_t k = obj->n_classes;
    for (size_t c = 0; c < k; c++)
        block[c * ld + c] = 0.0;
    for (size_t c = 1, pair = 0; c < k; c++)
        for (size_t e = 0; e < c; e++, pair++) {
            const double sum = curvature_at(obj, a, b, pair);
            block[c * ld + e] = block[e * ld + c] = -sum;
            block[c * ld + c] += sum;
            block[e * ld + e] += sum;
        }
}

void mel_objective_hessian(const mel_objective *obj, double *hessian)
{
    const size_t m = obj->n_outputs, ld = obj->n_params;
    for (size_t a = 0; a <= obj->n_features; a++) {
        for (size_t b = 0; b <= a; b++) {
            double *block = hessian + a * m * ld + b * m;
            if (m == 1)
                *block = curvature_at(obj, a, b, 0);
            else
                fill_block(obj, a, b, block, ld);
        }
        double *own = hessian + a * m * ld + a * m, mean = 0.0;
        for (size_t c = 0; c < m; c++) {
            own[c * ld + c] += a < obj->n_features ? obj->l2 : 0.0;
            mean += own[c * ld + c] / (double)m;
        }
        for (size_t c = 0; m > 1 && c < m; c++)
            for (size_t e = 0; e < m; e++)
                own[c * ld + e] += mean / (double)m;
    }
}

void mel_objective_centre(const mel_objective *obj, double *theta)
{
    const size_t m = obj->n_outputs;
    for (size_t j = 0; m > 1 && j <= obj->n_features; j++) {
        double sum = 0.0;
        for (size_t c = 0; c < m; c++)
            sum += theta[j * m + c];
        for (size_t c = 0; c < m; c++)
            theta[j * m + c] -= sum / (double)m;
    }
}

/* Entries per row, the intercept included. */
static double entries(const mel_features *x)
{
    if (x->dense != NULL || x->n_rows == 0 || x->n_cols == 0)
        return (double)x->n_cols + 1.0;
    return (double)x->row_start[x->n_rows] / (double)x->n_rows + 1.0;
}

double mel_objective_gradient_cost(const mel_features *x, size_t n_classes)
{
    const double outputs = n_classes == 2 ? 1.0 : (double)n_classes;
    return (double)x->n_rows * outputs * (2.0 * entries(x) + EXPONENTIAL_COST);
}

double mel_objective_hessian_cost(const mel_features *x, size_t n_classes)
{
    const double e = entries(x), k = (double)n_classes;
    const double p = ((double)x->n_cols + 1.0) * (n_classes == 2 ? 1.0 : k);
    return (double)x->n_rows * (0.5 * k * (k - 1.0)) * (0.5 * e * (e + 1.0)) + p * p * p / 6.0;
}
