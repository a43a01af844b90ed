/* The penalised log-loss with its gradient and Hessian over slices of rows. */
#include "model/objective.h"

#include "base/stat.h"
#include "base/team.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_SLICES = 16,           /* enough for the cores of a desktop; never depends on them */
    SPARSE_BLOCK = 64,         /* rows; scores and pair weights of a block stay in the first-level cache */
    DENSE_BLOCK = 256,         /* rows; enough for BLAS to run at full speed */
    PRODUCT_DOUBLES = 1 << 17, /* products of features held at a time: 1 MiB */
    PAIRS_MIN_CLASS_PAIRS = 6
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
    free(obj->sum); /* all arrays are in its block */
    obj->sum = NULL;
}

static void choose_curvature(mel_objective *obj)
{
    const size_t width = obj->n_features + 1, packed = width * (width + 1) / 2;
    obj->n_pairs = obj->n_classes * (obj->n_classes - 1) / 2;
    obj->ld_pair = padded(obj->n_pairs);
    if (obj->engine != NULL) { /* as the pass says it */
        obj->curvature = MEL_CURVATURE_PRODUCTS;
        obj->curvature_size = packed * obj->n_pairs;
    } else if (obj->x->dense == NULL) {
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

/* The work space of a thread. */
static mel_scratch scratch_of(const mel_objective *obj, size_t thread)
{
    const bool curved = obj->curvature != MEL_CURVATURE_NONE;
    double *score = obj->scratch + thread * obj->scratch_size;
    double *column = score + obj->block_rows * obj->ld, *pair = column + obj->n_outputs * MEL_COLUMN_ROWS;
    return (mel_scratch){ score, column, curved ? pair : NULL,
                          curved ? pair + obj->n_pairs * obj->block_rows : NULL };
}

static size_t blocks_of(const mel_objective *obj, size_t rows)
{
    return (rows + obj->block_rows - 1) / obj->block_rows;
}

/* Numbers that a pass to an engine gives. */
static size_t pass_size(const mel_objective *obj, bool with_hessian)
{
    const size_t width = obj->n_features + 1, k = obj->n_classes;
    return 1 + obj->n_params + (with_hessian ? k * (k - 1) / 2 * (width * (width + 1) / 2) : 0);
}

mel_status mel_objective_init(mel_objective *obj, bool with_hessian, mel_error *err)
{
    if (obj->x != NULL)
        obj->n_features = obj->x->n_cols;
    const size_t d = obj->n_features;
    obj->n_outputs = obj->n_classes == 2 ? 1 : obj->n_classes;
    obj->n_params = (d + 1) * obj->n_outputs;
    obj->ld = padded(obj->n_outputs);
    obj->block_rows = obj->x != NULL && obj->x->dense != NULL ? DENSE_BLOCK : SPARSE_BLOCK;
    obj->curvature = MEL_CURVATURE_NONE;
    obj->curvature_size = 0;
    if (with_hessian)
        choose_curvature(obj);
    obj->gradient_size = (d + 1) * obj->ld;
    obj->sum_size = 1 + obj->gradient_size + obj->curvature_size;
    if (obj->engine != NULL) {
        const mel_part parts[] = { { obj->sum_size, { &obj->sum } },
                                   { MEL_LOSS_HEAD + obj->n_params, { &obj->pass_in } },
                                   { pass_size(obj, with_hessian), { &obj->pass_out } } };
        return mel_parts_new(MEL_PARTS(parts)) ? MEL_OK : mel_fail_memory(err, "fitting");
    }
    obj->most_slices = min_size(MAX_SLICES, max_size(slice_budget / sizeof(double) / obj->sum_size, 2));
    const size_t needed = min_size(obj->most_slices, max_size(blocks_of(obj, obj->x->n_rows), 1));
    obj->threads = (int)min_size((size_t)mel_thread_count(obj->threads), needed);

    obj->scratch_size = obj->block_rows * obj->ld + obj->n_outputs * MEL_COLUMN_ROWS;
    if (with_hessian)
        obj->scratch_size += obj->n_pairs * obj->block_rows + buffer_size(obj);
    const mel_part parts[] = { { obj->sum_size, { &obj->sum } },
                               { (d + 1) * obj->ld, { &obj->coef } },
                               { needed * obj->sum_size, { &obj->slice_sum } },
                               { (size_t)obj->threads * obj->scratch_size, { &obj->scratch } } };
    return mel_parts_new(MEL_PARTS(parts)) ? MEL_OK : mel_fail_memory(err, "fitting");
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
    const mel_scratch scratch = scratch_of(obj, thread);
    double *gradient = sum + 1, *curvature = pass->with_hessian ? gradient + obj->gradient_size : NULL;
    memset(gradient, 0, (pass->with_hessian ? obj->sum_size - 1 : obj->gradient_size) * sizeof *gradient);
    mel_sum loss = { 0 };
    const size_t end = (slice + 1) * pass->n_blocks / pass->n_slices;
    for (size_t block = slice * pass->n_blocks / pass->n_slices; block < end; block++) {
        const size_t first = block * obj->block_rows;
        const size_t n = min_size(obj->block_rows, obj->x->n_rows - first);
        mel_block_scores(obj, first, n, scratch.score);
        mel_sum_add(&loss, mel_block_residuals(obj, first, n, &scratch, curvature != NULL));
        mel_block_gradient(obj, first, n, scratch.score, gradient);
        if (curvature != NULL)
            mel_block_curvature(obj, first, n, &scratch, curvature);
    }
    sum[0] = mel_sum_value(&loss);
}

/* The numbers of a slice that count. */
static size_t used_size(const mel_objective *obj, bool with_hessian)
{
    return with_hessian ? obj->sum_size : 1 + obj->gradient_size;
}

void mel_objective_squares(double *square, const mel_objective *obj)
{
    const mel_features *x = obj->x;
    if (obj->engine != NULL) {
        memcpy(square, obj->facts + MEL_FACT_CLASSES + obj->n_classes, obj->n_features * sizeof *square);
        return;
    }
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

/* The engine's sums into ours. */
static void ask_engine(mel_objective *obj, const double *theta, bool with_hessian)
{
    const size_t m = obj->n_outputs, n_out = pass_size(obj, with_hessian);
    obj->pass_in[0] = (double)obj->n_classes;
    obj->pass_in[1] = (double)obj->n_features;
    obj->pass_in[2] = with_hessian ? 1.0 : 0.0;
    memcpy(obj->pass_in + MEL_LOSS_HEAD, theta, obj->n_params * sizeof *theta);
    const mel_pass pass = { MEL_PASS_LOSS, MEL_LOSS_HEAD + obj->n_params, n_out, obj->pass_in };
    if (obj->failure->code == MEL_OK)
        obj->failure->code = obj->engine->run(obj->pass_out, &pass, obj->engine->user, obj->failure);
    if (obj->failure->code != MEL_OK) {
        for (size_t i = 0; i < n_out; i++)
            obj->pass_out[i] = NAN;
    }
    obj->sum[0] = obj->pass_out[0];
    for (size_t j = 0; j <= obj->n_features; j++)
        memcpy(obj->sum + 1 + j * obj->ld, obj->pass_out + 1 + j * m, m * sizeof *theta);
    if (with_hessian)
        memcpy(obj->sum + 1 + obj->gradient_size, obj->pass_out + 1 + obj->n_params,
               obj->curvature_size * sizeof *obj->sum);
}

double mel_objective_eval(mel_objective *obj, const double *theta, double *gradient, bool with_hessian)
{
    if (obj->engine != NULL)
        ask_engine(obj, theta, with_hessian);
    else
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

/* --- passes that came from elsewhere ------------------------------------------------------------ */

static void count_facts(double *out, const mel_objective *obj, bool with_squares)
{
    const mel_features *x = obj->x;
    const bool dense = x->dense != NULL || x->n_rows == 0 || x->n_cols == 0;
    mel_sum total = { 0 };
    for (size_t i = 0; i < x->n_rows; i++) {
        const double weight = obj->weight != NULL ? obj->weight[i] : 1.0;
        mel_sum_add(&total, weight);
        out[MEL_FACT_CLASSES + obj->y[i]] += weight > 0.0;
    }
    out[MEL_FACT_ROWS] = (double)x->n_rows;
    out[MEL_FACT_WEIGHT] = mel_sum_value(&total);
    out[MEL_FACT_ENTRIES] =
        (double)x->n_rows + (dense ? (double)(x->n_rows * x->n_cols) : (double)x->row_start[x->n_rows]);
    if (with_squares)
        mel_objective_squares(out + MEL_FACT_CLASSES + obj->n_classes, obj);
}

static mel_status find_loss(double *out, mel_objective *obj, const mel_pass *pass, mel_error *err)
{
    const bool with_hessian = pass->in[2] != 0.0;
    TRY(mel_objective_init(obj, with_hessian, err));
    const size_t width = obj->n_features + 1, packed = width * (width + 1) / 2;
    mel_blas_hold();
    out[0] = mel_objective_eval(obj, pass->in + MEL_LOSS_HEAD, out + 1, with_hessian);
    mel_blas_release();
    double *to = out + 1 + obj->n_params;
    for (size_t pair = 0; with_hessian && pair < obj->n_pairs; pair++)
        for (size_t a = 0; a < width; a++)
            for (size_t b = 0; b <= a; b++)
                to[pair * packed + a * (a + 1) / 2 + b] = *mel_objective_curvature(obj, a, b, pair);
    mel_objective_clear(obj);
    return MEL_OK;
}

mel_status mel_model_pass(double *out, const mel_pass *pass, const mel_features *x, const uint32_t *y,
                          const double *weight, int threads, mel_error *err)
{
    const size_t head = pass->kind == MEL_PASS_LOSS ? MEL_LOSS_HEAD : 2;
    const size_t k = pass->n_in >= head ? (size_t)pass->in[0] : 0, d = k > 0 ? (size_t)pass->in[1] : 0;
    mel_objective obj = { .x = x,
                          .y = y,
                          .weight = weight,
                          .n_classes = k,
                          .n_features = d,
                          .n_outputs = k == 2 ? 1 : k,
                          .n_params = (d + 1) * (k == 2 ? 1 : k),
                          .threads = threads };
    const bool facts = pass->kind == MEL_PASS_FACTS;
    const size_t n_in = facts ? head : head + obj.n_params,
                 n_out = facts ? MEL_FACT_CLASSES + k + d : pass_size(&obj, k > 0 && pass->in[2] != 0.0);
    const bool fits = pass->n_out == n_out || (facts && pass->n_out == n_out - d);
    if (k < 2 || d != x->n_cols || pass->n_in != n_in || !fits)
        return mel_fail(err, MEL_EINVAL,
                        "a pass about %zu classes and %zu features over rows of %zu features", k, d,
                        x->n_cols);
    for (size_t i = 0; i < x->n_rows; i++)
        if (y[i] >= k)
            return mel_fail(err, MEL_EINVAL, "row %zu: class code %u, but there are %zu classes", i + 1, y[i],
                            k);
    memset(out, 0, pass->n_out * sizeof *out);
    if (x->n_rows == 0)
        return MEL_OK;
    if (facts)
        count_facts(out, &obj, pass->n_out > MEL_FACT_CLASSES + k);
    return facts ? MEL_OK : find_loss(out, &obj, pass, err);
}
