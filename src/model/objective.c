/* The penalised log-loss with its gradient and Hessian over slices of rows. */
#include "model/objective.h"

#include "base/reduce.h"
#include "base/stat.h"
#include "model/kernel.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_SLICES = 16,           /* enough for the cores of a desktop; never depends on them */
    SPARSE_BLOCK = 64,         /* rows; scores and pair weights of a block stay in the first-level cache */
    DENSE_BLOCK = 256,         /* rows; enough for BLAS to run at full speed */
    PRODUCT_DOUBLES = 1 << 17, /* products of features held at a time: 1 MiB */
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
        free(obj->scratch[t].column);
        free(obj->scratch[t].pair);
        free(obj->scratch[t].buffer);
    }
    free(obj->scratch);
    free(obj->coef);
    free(obj->sum);
    free(obj->slice_sum);
    obj->scratch = NULL;
    obj->coef = obj->sum = obj->slice_sum = NULL;
}

static void choose_curvature(mel_objective *obj)
{
    const size_t width = obj->n_features + 1, packed = width * (width + 1) / 2;
    obj->n_pairs = obj->n_classes * (obj->n_classes - 1) / 2;
    obj->ld_pair = padded(obj->n_pairs);
    if (obj->x->dense == NULL) {
        obj->curvature = MEL_CURVATURE_PAIRS;
        obj->curvature_size = packed * obj->ld_pair;
    } else if (obj->n_features <= MEL_PAIRS_MAX_FEATURES && obj->n_pairs >= PAIRS_MIN_CLASS_PAIRS) {
        obj->curvature = MEL_CURVATURE_PRODUCTS;
        obj->curvature_size = packed * obj->n_pairs;
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
    return obj->curvature == MEL_CURVATURE_PRODUCTS
               ? obj->product_rows * (width * (width + 1) / 2) + MEL_LANES
               : 2 * obj->ld_pair;
}

static bool allocate_scratch(mel_objective *obj)
{
    obj->scratch = mel_alloc_zero((size_t)obj->threads, sizeof *obj->scratch);
    for (int t = 0; obj->scratch != NULL && t < obj->threads; t++) {
        mel_scratch *s = &obj->scratch[t];
        s->score = mel_alloc_zero(obj->block_rows * obj->ld, sizeof *s->score);
        s->column = mel_alloc_zero(obj->n_outputs, MEL_COLUMN_ROWS * sizeof *s->column);
        if (s->score == NULL || s->column == NULL)
            return false;
        if (obj->curvature == MEL_CURVATURE_NONE)
            continue;
        s->pair = mel_alloc_zero(obj->n_pairs, obj->block_rows * sizeof *s->pair);
        s->buffer = mel_alloc_zero(buffer_size(obj), sizeof *s->buffer);
        if (s->pair == NULL || s->buffer == NULL)
            return false;
    }
    return obj->scratch != NULL;
}

static size_t blocks_of(const mel_objective *obj, size_t rows)
{
    return (rows + obj->block_rows - 1) / obj->block_rows;
}

mel_status mel_objective_init(mel_objective *obj, bool with_hessian, mel_error *err)
{
    const size_t d = obj->n_features = obj->x->n_cols;
    obj->n_outputs = obj->n_classes == 2 ? 1 : obj->n_classes;
    obj->n_params = (d + 1) * obj->n_outputs;
    obj->ld = padded(obj->n_outputs);
    obj->block_rows = obj->x->dense != NULL ? DENSE_BLOCK : SPARSE_BLOCK;
    obj->curvature = MEL_CURVATURE_NONE;
    obj->curvature_size = 0;
    if (with_hessian)
        choose_curvature(obj);
    obj->gradient_size = (d + 1) * obj->ld;
    obj->sum_size = 1 + obj->gradient_size + obj->curvature_size;
    obj->most_slices = min_size(MAX_SLICES, max_size(slice_budget / sizeof(double) / obj->sum_size, 2));
    const size_t needed = min_size(obj->most_slices, max_size(blocks_of(obj, obj->x->n_rows), 1));
    obj->threads = (int)min_size((size_t)mel_thread_count(obj->threads), needed);

    obj->coef = mel_alloc_zero((d + 1) * obj->ld, sizeof *obj->coef);
    obj->sum = mel_alloc_zero(obj->sum_size, sizeof *obj->sum);
    obj->slice_sum = mel_alloc_zero(needed, obj->sum_size * sizeof *obj->slice_sum);
    if (obj->coef == NULL || obj->sum == NULL || obj->slice_sum == NULL || !allocate_scratch(obj)) {
        mel_objective_clear(obj);
        return mel_fail_memory(err, "fitting");
    }
    return MEL_OK;
}

/* A pass over the rows, in slices. */
typedef struct {
    mel_objective *obj;
    size_t n_blocks, n_slices;
    bool with_hessian;
} row_pass;

static void evaluate_slice(double *sum, size_t slice, size_t thread, void *user)
{
    const row_pass *pass = user;
    const mel_objective *obj = pass->obj;
    const mel_scratch *scratch = &obj->scratch[thread];
    double *gradient = sum + 1, *curvature = pass->with_hessian ? gradient + obj->gradient_size : NULL;
    memset(gradient, 0, (pass->with_hessian ? obj->sum_size - 1 : obj->gradient_size) * sizeof *gradient);
    mel_sum loss = { 0 };
    const size_t end = (slice + 1) * pass->n_blocks / pass->n_slices;
    for (size_t block = slice * pass->n_blocks / pass->n_slices; block < end; block++) {
        const size_t first = block * obj->block_rows;
        const size_t n = min_size(obj->block_rows, obj->x->n_rows - first);
        mel_block_scores(obj, first, n, scratch->score);
        mel_sum_add(&loss, mel_block_residuals(obj, first, n, scratch, curvature != NULL));
        mel_block_gradient(obj, first, n, scratch->score, gradient);
        if (curvature != NULL)
            mel_block_curvature(obj, first, n, scratch, curvature);
    }
    sum[0] = mel_sum_value(&loss);
}

/* The numbers of a slice that count. */
static size_t used_size(const mel_objective *obj, bool with_hessian)
{
    return with_hessian ? obj->sum_size : 1 + obj->gradient_size;
}

void mel_objective_squares(double *square, mel_objective *obj)
{
    const mel_features *x = obj->x;
    memset(square, 0, obj->n_features * sizeof *square);
    for (size_t i = 0; i < x->n_rows; i++) {
        const double weight = obj->weight != NULL ? obj->weight[i] : 1.0;
        if (x->dense != NULL) {
            const double *row = x->dense + i * x->stride;
            for (size_t j = 0; j < obj->n_features; j++)
                square[j] += weight * row[j] * row[j];
        } else if (obj->n_features > 0) {
            for (size_t e = x->row_start[i]; e < x->row_start[i + 1]; e++)
                square[x->col[e]] += weight * x->value[e] * x->value[e];
        }
    }
}

static void sum_rows(mel_objective *obj, const double *theta, bool with_hessian)
{
    const size_t m = obj->n_outputs, ld = obj->ld, blocks = blocks_of(obj, obj->x->n_rows);
    row_pass pass = { obj, blocks, min_size(obj->most_slices, blocks), with_hessian };
    for (size_t j = 0; j <= obj->n_features; j++)
        memcpy(obj->coef + j * ld, theta + j * m, m * sizeof *theta);
    const mel_slices slices = { .n_slices = pass.n_slices,
                                .rows = obj->x->n_rows,
                                .size = used_size(obj, with_hessian),
                                .stride = obj->sum_size,
                                .sum = obj->slice_sum,
                                .threads = obj->threads,
                                .fill = evaluate_slice,
                                .user = &pass };
    mel_slices_fill(&slices);
    mel_sum loss = { 0 };
    for (size_t s = 0; s < pass.n_slices; s++)
        mel_sum_add(&loss, obj->slice_sum[s * obj->sum_size]);
    mel_slices_join(&slices);
    memcpy(obj->sum, obj->slice_sum, slices.size * sizeof *obj->sum);
    obj->sum[0] = mel_sum_value(&loss);
}

double mel_objective_penalty(const mel_objective *obj, const double *theta)
{
    mel_sum square = { 0 };
    for (size_t i = 0; i < obj->n_features * obj->n_outputs; i++)
        mel_sum_add(&square, theta[i] * theta[i]);
    return obj->l2 == 0.0 ? 0.0 : 0.5 * obj->l2 * mel_sum_value(&square);
}

static double value_of_sums(const mel_objective *obj, const double *theta, double *gradient)
{
    const size_t m = obj->n_outputs;
    for (size_t j = 0; j <= obj->n_features; j++)
        for (size_t c = 0; c < m; c++)
            gradient[j * m + c] =
                obj->sum[1 + j * obj->ld + c] + (j < obj->n_features ? obj->l2 * theta[j * m + c] : 0.0);
    mel_sum value = { 0 };
    mel_sum_add(&value, obj->sum[0]);
    mel_sum_add(&value, mel_objective_penalty(obj, theta));
    return mel_sum_value(&value);
}

double mel_objective_eval(mel_objective *obj, const double *theta, double *gradient, bool with_hessian)
{
    sum_rows(obj, theta, with_hessian);
    return value_of_sums(obj, theta, gradient);
}

double *mel_objective_curvature(const mel_objective *obj, size_t a, size_t b, size_t pair)
{
    const size_t width = obj->n_features + 1, packed = a * (a + 1) / 2 + b;
    double *curvature = obj->sum + 1 + obj->gradient_size;
    switch (obj->curvature) {
    case MEL_CURVATURE_PAIRS:
        return &curvature[packed * obj->ld_pair + pair];
    case MEL_CURVATURE_PRODUCTS:
        return &curvature[pair * (width * (width + 1) / 2) + packed];
    default:
        return &curvature[(pair * width + a) * width + b];
    }
}

/* The classes' block of a feature pair: -p_c p_c' off the diagonal, and on it what makes rows sum to 0. */
static void fill_block(const mel_objective *obj, size_t a, size_t b, double *block, size_t ld)
{
    const size_t k = obj->n_classes;
    for (size_t c = 0; c < k; c++)
        block[c * ld + c] = 0.0;
    for (size_t c = 1, pair = 0; c < k; c++)
        for (size_t e = 0; e < c; e++, pair++) {
            const double sum = *mel_objective_curvature(obj, a, b, pair);
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
                *block = *mel_objective_curvature(obj, a, b, 0);
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

double mel_objective_gradient_cost(const mel_objective_size *size, size_t n_classes)
{
    const double outputs = n_classes == 2 ? 1.0 : (double)n_classes;
    return size->rows * outputs * (2.0 * size->entries + EXPONENTIAL_COST);
}

double mel_objective_hessian_cost(const mel_objective_size *size, size_t n_classes)
{
    const double e = size->entries, k = (double)n_classes;
    const double p = ((double)size->n_cols + 1.0) * (n_classes == 2 ? 1.0 : k);
    return size->rows * (0.5 * k * (k - 1.0)) * (0.5 * e * (e + 1.0)) + p * p * p / 6.0;
}
