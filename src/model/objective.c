/* The penalised log-loss with its gradient and Hessian over slices of rows. */
#include "model/objective.h"

#include "base/reduce.h"
#include "base/stat.h"
#include "base/team.h"
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
    free(obj->shard_sum);
    free(obj->shard_at);
    free(obj->shard_place);
    free(obj->shard_first);
    obj->scratch = NULL;
    obj->coef = obj->sum = obj->slice_sum = obj->shard_sum = NULL;
    obj->shard_at = obj->shard_place = obj->shard_first = NULL;
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

/* Shards whose sums are kept side by side: one for each rank at least. 0: all rows are of one file. */
static size_t shards_at_once(const mel_objective *obj)
{
    const size_t n = obj->shards != NULL ? obj->shards->n : 0;
    const size_t room = max_size(slice_budget / sizeof(double) / obj->sum_size, mel_team_get()->size);
    return n > 1 || (n == 1 && obj->shards->here != NULL) ? min_size(n, room) : 0;
}

static bool allocate_shards(mel_objective *obj)
{
    const size_t n = obj->shards != NULL ? obj->shards->n : 0;
    obj->most_shards = shards_at_once(obj);
    obj->shard_sum = mel_alloc_zero(obj->most_shards, obj->sum_size * sizeof *obj->shard_sum);
    obj->shard_at = mel_alloc_zero(n, sizeof *obj->shard_at);
    obj->shard_place = mel_alloc_zero(n, sizeof *obj->shard_place);
    obj->shard_first = mel_alloc_zero(mel_team_get()->size + 1, sizeof *obj->shard_first);
    return obj->shard_sum != NULL && obj->shard_at != NULL && obj->shard_place != NULL &&
           obj->shard_first != NULL;
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
    if (obj->coef == NULL || obj->sum == NULL || obj->slice_sum == NULL || !allocate_shards(obj) ||
        !allocate_scratch(obj)) {
        mel_objective_clear(obj);
        return mel_fail_memory(err, "fitting");
    }
    return MEL_OK;
}

/* The rows of one shard, in slices. */
typedef struct {
    mel_objective *obj;
    size_t first, n_blocks, end, n_slices;
    bool with_hessian;
} shard_rows;

static void evaluate_slice(double *sum, size_t slice, size_t thread, void *user)
{
    const shard_rows *shard = user;
    const mel_objective *obj = shard->obj;
    const mel_scratch *scratch = &obj->scratch[thread];
    double *gradient = sum + 1, *curvature = shard->with_hessian ? gradient + obj->gradient_size : NULL;
    memset(gradient, 0, (shard->with_hessian ? obj->sum_size - 1 : obj->gradient_size) * sizeof *gradient);
    mel_sum loss = { 0 };
    const size_t end = (slice + 1) * shard->n_blocks / shard->n_slices;
    for (size_t block = slice * shard->n_blocks / shard->n_slices; block < end; block++) {
        const size_t first = shard->first + block * obj->block_rows;
        const size_t n = min_size(obj->block_rows, shard->end - first);
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

/* The sums of rows first..end. */
static void sum_shard(double *sum, mel_objective *obj, size_t first, size_t end, bool with_hessian)
{
    shard_rows shard = { obj, first, blocks_of(obj, end - first), end, 0, with_hessian };
    shard.n_slices = min_size(obj->most_slices, shard.n_blocks);
    memset(sum, 0, obj->sum_size * sizeof *sum);
    if (shard.n_slices == 0)
        return;
    const mel_slices slices = { .n_slices = shard.n_slices,
                                .rows = end - first,
                                .size = used_size(obj, with_hessian),
                                .stride = obj->sum_size,
                                .sum = obj->slice_sum,
                                .threads = obj->threads,
                                .fill = evaluate_slice,
                                .user = &shard };
    mel_slices_fill(&slices);
    mel_sum loss = { 0 };
    for (size_t s = 0; s < shard.n_slices; s++)
        mel_sum_add(&loss, obj->slice_sum[s * obj->sum_size]);
    mel_slices_join(&slices);
    obj->slice_sum[0] = mel_sum_value(&loss);
    for (size_t i = 0; i < slices.size; i++)
        sum[i] += obj->slice_sum[i];
}

/* Sums over the rows first .. end into `sum`. */
typedef void shard_sums(double *sum, mel_objective *obj, size_t first, size_t end, bool with_hessian);

typedef struct {
    mel_objective *obj;
    shard_sums *take;
    bool with_hessian;
} some_shards;

static void fill_shard(double *sum, size_t place, size_t thread, void *user)
{
    (void)thread;
    const some_shards *s = user;
    const mel_shards *shards = s->obj->shards;
    const size_t *start = (shards->here != NULL ? shards->here : shards->start) + s->obj->shard_at[place];
    s->take(sum, s->obj, start[0], start[1], s->with_hessian);
}

/* Adds `size` sums of each shard to `all`. Shards are divided among ranks, the slices of a shard among
 * threads. */
static void sum_shards(double *all, mel_objective *obj, shard_sums *take, size_t size, bool with_hessian)
{
    if (obj->most_shards == 0) {
        take(all, obj, 0, obj->x->n_rows, with_hessian);
        return;
    }
    const mel_shards *shards = obj->shards;
    const bool divided = shards->here != NULL;
    for (size_t from = 0; from < shards->n; from += obj->most_shards) {
        const size_t to = min_size(from + obj->most_shards, shards->n);
        (void)mel_slices_deal(obj->shard_first, obj->shard_at, obj->shard_place, NULL, divided, from, to);
        mel_slices_fill(&(mel_slices){ .n_slices = to - from,
                                       .rows = shards->start[shards->n],
                                       .size = size,
                                       .stride = obj->sum_size,
                                       .sum = obj->shard_sum,
                                       .threads = 1,
                                       .fill = fill_shard,
                                       .user = &(some_shards){ obj, take, with_hessian },
                                       .first = divided ? obj->shard_first : NULL });
        for (size_t s = from; s < to; s++)
            for (size_t i = 0; i < size; i++)
                all[i] += obj->shard_sum[obj->shard_place[s] * obj->sum_size + i];
    }
}

static void sum_squares(double *square, mel_objective *obj, size_t first, size_t end, bool with_hessian)
{
    (void)with_hessian;
    const mel_features *x = obj->x;
    memset(square, 0, obj->n_features * sizeof *square);
    for (size_t i = first; i < end; i++) {
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

void mel_objective_squares(double *square, mel_objective *obj)
{
    memset(square, 0, obj->n_features * sizeof *square);
    sum_shards(square, obj, sum_squares, obj->n_features, false);
}

static void sum_rows(mel_objective *obj, const double *theta, bool with_hessian)
{
    const size_t m = obj->n_outputs, ld = obj->ld, width = obj->n_features + 1,
                 n = used_size(obj, with_hessian);
    for (size_t j = 0; j < width; j++)
        memcpy(obj->coef + j * ld, theta + j * m, m * sizeof *theta);
    memset(obj->sum, 0, obj->sum_size * sizeof *obj->sum);
    sum_shards(obj->sum, obj, sum_shard, n, with_hessian);
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
