/* A space on rows: checks, the step, what any classifier achieves. */
#include "space/sample.h"

#include "space/predict.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_ROWS = 1024 };       /* whose sums are made before they are added to those of the slice */
static const double slack = 1e-6; /* of probabilities */
static const char *const probability_names[] = { "probability", "probabilities" };
static const char *const decision_names[] = { "decision", "decisions" };

static void free_rows(void *self)
{
    mel_class_rows *rows = self;
    free(rows->order);
    free(rows->slice);
    free(rows->group_slice);
    free(rows);
}

/* --- checks ------------------------------------------------------------------------------------- */

/* Whether n rows of k numbers are probabilities. */
static bool are_probabilities(size_t n, size_t k, const double *p)
{
    bool fine = true;
    for (size_t r = 0; r < n; r++, p += k) {
        double sum = 0.0, least = 0.0;
        for (size_t i = 0; i < k; i++) {
            sum += p[i];
            least = p[i] < least ? p[i] : least;
        }
        fine = fine && fabs(sum - 1.0) <= slack && least >= -slack; /* false for NaN */
    }
    return fine;
}

/* The first row that is wrong; n: none. */
static size_t find_wrong_row(size_t n, size_t k, const double *p, int threads)
{
    enum { PIECE = 1 << 14 };
    const size_t pieces = n / PIECE + 1;
    size_t first = n;
#pragma omp parallel for schedule(static) num_threads(threads) reduction(min : first) if (pieces > 1)
    for (size_t s = 0; s < pieces; s++) {
        const size_t from = s * PIECE, count = n - from < PIECE ? n - from : PIECE;
        if (are_probabilities(count, k, p + from * k))
            continue;
        size_t r = from;
        while (are_probabilities(1, k, p + r * k))
            r++;
        first = r < first ? r : first;
    }
    return first;
}

/* A row that is wrong, by its number; what: names of one number and of many. */
static mel_status name_wrong_row(size_t row, size_t k, const double *p, const char *const what[2],
                                 mel_error *err)
{
    double sum = 0.0;
    for (size_t i = 0; i < k; i++) {
        sum += p[i];
        if (!isfinite(p[i]) || p[i] < -slack)
            return mel_fail(err, MEL_EDATA, "row %zu: the %s of class %zu is %g", row + 1, what[0], i + 1,
                            p[i]);
    }
    return mel_fail(err, MEL_EDATA, "row %zu: %zu %s sum to %.9g, not 1", row + 1, k, what[1], sum);
}

/* seen: n_groups x k flags, all false. */
static mel_status check_codes(bool *seen, const mel_sample *sample, size_t n_groups, mel_error *err)
{
    const size_t k = sample->n_classes;
    for (size_t r = 0; r < sample->n_rows; r++) {
        const uint32_t label = sample->label[r], group = sample->group != NULL ? sample->group[r] : 0;
        if (label >= k)
            return mel_fail(err, MEL_EDATA, "row %zu: class code %u, but there are %zu classes", r + 1, label,
                            k);
        if (group >= n_groups)
            return mel_fail(err, MEL_EDATA, "row %zu: group code %u, expected 0 to %zu", r + 1, group,
                            n_groups - 1);
        seen[group * k + label] = true;
    }
    for (size_t i = 0; i < k; i++) {
        bool somewhere = false;
        for (size_t g = 0; g < n_groups; g++)
            somewhere = somewhere || seen[g * k + i];
        if (!somewhere)
            return mel_fail(err, MEL_EDATA, "class %zu of %zu has no rows", i + 1, k);
    }
    for (size_t g = 0; g < n_groups; g++)
        for (size_t i = 0; i < k; i++)
            if (!seen[g * k + i])
                return mel_fail(err, MEL_EDATA,
                                "group %zu of %zu has no rows of class %zu: its rates are 0/0", g + 1,
                                n_groups, i + 1);
    return MEL_OK;
}

static mel_status check_sample(const mel_sample *sample, size_t n_groups, int threads, mel_error *err)
{
    const size_t n = sample->n_rows, k = sample->n_classes;
    bool *seen = mel_alloc_zero(n_groups * k, sizeof *seen);
    if (seen == NULL)
        return mel_fail_memory(err, "the classes of a space");
    const mel_status status = check_codes(seen, sample, n_groups, err);
    free(seen);
    const size_t wrong = status == MEL_OK ? find_wrong_row(n, k, sample->probability, threads) : n;
    return wrong < n ? name_wrong_row(wrong, k, sample->probability + wrong * k, probability_names, err)
                     : status;
}

/* --- the step ----------------------------------------------------------------------------------- */

/* What a step borrows: sums of every slice, and per thread a block and the sums of a chunk. */
typedef struct {
    size_t per_thread; /* doubles */
    double *thread;
    uint32_t *prediction; /* per thread mel_block_rows */
    double *room;         /* k x k sums of slices; by labels: counts, below 2^53 and so exact */
} scratch;

static mel_status new_scratch(void **own, const mel_space *space, mel_error *err)
{
    const mel_class_rows *rows = space->self;
    const size_t k = space->n_classes, line = 64 / sizeof(double), threads = (size_t)space->threads;
    const size_t block = mel_block_rows(k), n_slices = rows->group_slice[space->n_groups];
    const size_t per_thread = (mel_block_scratch(k) + k * k + 2 * line) / line * line;
    const size_t sums = mel_slices_at_a_time(n_slices, k * k) * k * k * sizeof(double);
    const size_t bytes = sizeof(scratch) + threads * per_thread * sizeof(double) + sums;
    scratch *s = mel_alloc(1, bytes + threads * block * sizeof(uint32_t));
    if (s == NULL)
        return mel_fail_memory(err, "the steps of a space");
    s->per_thread = per_thread;
    s->thread = (double *)(s + 1);
    s->room = s->thread + threads * per_thread;
    s->prediction = (uint32_t *)((char *)s + bytes);
    *own = s;
    return MEL_OK;
}

/* Adds the rows of a block to the sums of their chunk, k x k. */
static void add_labels(double *sum, size_t n, size_t k, const uint32_t *label, const uint32_t *order,
                       const uint32_t *prediction)
{
    for (size_t b = 0; b < n; b++)
        sum[label[order != NULL ? order[b] : b] * k + prediction[b]] += 1.0;
}

/* Here the sums are by prediction first, so that a row's numbers lie side by side. */
static void add_probabilities(double *sum, size_t n, size_t k, const double *probability,
                              const uint32_t *order, const uint32_t *prediction)
{
    for (size_t b = 0; b < n; b++) {
        const double *p = probability + (order != NULL ? order[b] : b) * k;
        double *to = sum + prediction[b] * k;
        for (size_t i = 0; i < k; i++)
            to[i] += p[i];
    }
}

static void add_slice(double *sum, const mel_space *space, const mel_slice *slice, const double *gain,
                      double *borrowed, uint32_t *prediction)
{
    const mel_class_rows *rows = space->self;
    const size_t k = space->n_classes, block = mel_block_rows(k), end = slice->first + slice->n;
    const bool diagonal = mel_gain_diagonal(k, gain);
    double *chunk = borrowed + mel_block_scratch(k);
    memset(sum, 0, k * k * sizeof *sum);
    memset(chunk, 0, k * k * sizeof *chunk);
    size_t in_chunk = 0;
    for (size_t first = slice->first, n; first < end; first += n) {
        n = end - first < block ? end - first : block;
        n = n < CHUNK_ROWS - in_chunk ? n : CHUNK_ROWS - in_chunk;
        const uint32_t *order = rows->order != NULL ? rows->order + first : NULL;
        const size_t shift = rows->order != NULL ? 0 : first;
        mel_predict_block(prediction, n, k, rows->rows.probability + shift * k, order, gain, diagonal,
                          borrowed);
        if (space->evidence == MEL_BY_LABELS)
            add_labels(sum, n, k, rows->rows.label + shift, order, prediction);
        else
            add_probabilities(chunk, n, k, rows->rows.probability + shift * k, order, prediction);
        in_chunk += n;
        if (space->evidence == MEL_BY_MODEL && (in_chunk == CHUNK_ROWS || first + n == end)) {
            for (size_t i = 0; i < k; i++)
                for (size_t j = 0; j < k; j++)
                    sum[i * k + j] += chunk[j * k + i];
            memset(chunk, 0, k * k * sizeof *chunk);
        }
        in_chunk = in_chunk == CHUNK_ROWS ? 0 : in_chunk;
    }
}

/* Whether the rows of slices take longer than it takes to wake another thread. */
static bool worth_sharing(const mel_space *space, const mel_slice *slice, size_t n)
{
    const double least = 1e5; /* multiplications, some 30 microseconds */
    const double k = (double)space->n_classes;
    size_t rows = 0;
    for (size_t s = 0; s < n; s++)
        rows += slice[s].n;
    return n > 1 && space->threads > 1 &&
           (double)rows * k * (k + 4.0) > least; /* 4: reading, turning, counting */
}

typedef struct {
    const mel_space *space;
    const scratch *own;
    const double *gain; /* of group `first` and those behind it */
    size_t first;
} slice_step;

static void fill_slice(double *sum, const mel_slice *slice, size_t thread, void *user)
{
    const slice_step *step = user;
    const scratch *s = step->own;
    const size_t k = step->space->n_classes;
    add_slice(sum, step->space, slice, step->gain + (slice->group - step->first) * k * k,
              s->thread + thread * s->per_thread, s->prediction + thread * mel_block_rows(k));
}

static void sample_confusion(double *confusion, const mel_space *space, size_t first, size_t n,
                             const double *gain, void *own)
{
    const mel_class_rows *rows = space->self;
    const scratch *s = own;
    const size_t cells = space->n_classes * space->n_classes, from = rows->group_slice[first];
    const mel_slice *slice = rows->slice + from;
    const size_t n_slices = rows->group_slice[first + n] - from;
    memset(confusion, 0, n * cells * sizeof *confusion);
    mel_slices_sum(confusion, first, rows,
                   &(mel_slice_sums){ .slice = slice,
                                      .n = n_slices,
                                      .size = cells,
                                      .threads = worth_sharing(space, slice, n_slices) ? space->threads : 1,
                                      .fill = fill_slice,
                                      .user = &(slice_step){ space, s, gain, first } },
                   s->room);
    for (size_t c = 0; c < n * cells; c++)
        confusion[c] /= (double)space->n_rows;
}

static const mel_space_ops sample_ops = { free_rows, new_scratch, sample_confusion };

/* --- making a space ----------------------------------------------------------------------------- */

/* P(Y = i, G = g): what is added up when every row is predicted as the first class, so that the
 * rates of that rule are exactly 1. */
static mel_status measure_cells(mel_space *space, mel_error *err)
{
    const size_t k = space->n_classes;
    mel_workspace *ws = NULL;
    const mel_status status = mel_workspace_new(&ws, space, err);
    if (status != MEL_OK)
        return status;
    memset(ws->gain, 0, space->n_groups * k * k * sizeof *ws->gain);
    space->ops->confusion(ws->confusion, space, 0, space->n_groups, ws->gain, ws->own);
    for (size_t c = 0; c < space->n_groups * k; c++)
        space->cell_share[c] = ws->confusion[c * k];
    mel_workspace_free(ws);
    for (size_t c = 0; c < space->n_groups * k; c++)
        if (!(space->cell_share[c] > 0.0))
            return mel_fail(err, MEL_EDATA, "the probability of class %zu is 0 in every row%s", c % k + 1,
                            space->n_groups > 1 ? " of a group" : "");
    return MEL_OK;
}

static mel_status fill(mel_space *space, const mel_sample *sample, mel_error *err)
{
    mel_class_rows *rows = mel_alloc_zero(1, sizeof *rows);
    if (rows == NULL)
        return mel_fail_memory(err, "a space");
    space->ops = &sample_ops;
    space->self = rows;
    space->n_rows = sample->n_rows;
    rows->rows = *sample;
    TRY(check_sample(sample, space->n_groups, space->threads, err));
    TRY(mel_class_rows_arrange(rows, space->n_groups, err));
    TRY(measure_cells(space, err));
    mel_space_finish(space);
    return MEL_OK;
}

mel_status mel_space_from_sample(mel_space **out, const mel_sample *sample, const mel_space_options *opt,
                                 mel_error *err)
{
    *out = NULL;
    if (sample->n_classes == 1)
        return mel_fail(err, MEL_EDATA, "one class only: nothing to tell apart");
    if (sample->n_rows == 0)
        return mel_fail(err, MEL_EDATA, "no rows: a space needs some of every class");
    if (sample->n_groups > 1 && sample->group == NULL)
        return mel_fail(err, MEL_EINVAL, "%zu groups, but no groups of the rows", sample->n_groups);
    mel_space *space = NULL;
    mel_status status = mel_space_new(&space, sample->n_classes, sample->n_groups, opt, err);
    if (status == MEL_OK)
        status = fill(space, sample, err);
    if (status != MEL_OK) {
        mel_space_free(space);
        return status;
    }
    *out = space;
    return MEL_OK;
}

/* --- any classifier ----------------------------------------------------------------------------- */

typedef struct {
    const mel_space *space;
    const double *decision;
} decided;

static void add_decisions(double *sum, const mel_slice *slice, size_t thread, void *user)
{
    (void)thread;
    const mel_space *space = ((const decided *)user)->space;
    const mel_class_rows *rows = space->self;
    const size_t k = space->n_classes;
    const double *decision = ((const decided *)user)->decision;
    memset(sum, 0, k * k * sizeof *sum);
    for (size_t i = slice->first; i < slice->first + slice->n; i++) {
        const size_t r = rows->order != NULL ? rows->order[i] : i;
        const double *p = rows->rows.probability + r * k;
        const double *d = decision + r * k;
        const size_t label = rows->rows.label[r];
        for (size_t c = 0; c < k; c++) {
            const double weight = space->evidence == MEL_BY_MODEL ? p[c] : c == label;
            for (size_t j = 0; weight != 0.0 && j < k; j++)
                sum[c * k + j] += weight * d[j];
        }
    }
}

mel_status mel_space_decisions(double *statistics, const mel_space *space, const double *decision,
                               mel_error *err)
{
    if (space->population)
        return mel_fail(err, MEL_EINVAL, "a population has no rows to decide");
    const mel_class_rows *rows = space->self;
    const size_t k = space->n_classes, cells = k * k, n_slices = rows->group_slice[space->n_groups];
    const size_t wrong = find_wrong_row(space->n_rows, k, decision, space->threads);
    if (wrong < space->n_rows)
        return name_wrong_row(wrong, k, decision + wrong * k, decision_names, err);
    double *room = mel_alloc(mel_slices_at_a_time(n_slices, cells), cells * sizeof *room);
    double *confusion = mel_alloc_zero(space->n_groups * cells, sizeof *confusion);
    if (room == NULL || confusion == NULL) {
        free(room);
        free(confusion);
        return mel_fail_memory(err, "the statistics of decisions");
    }
    mel_slices_sum(confusion, 0, rows,
                   &(mel_slice_sums){ .slice = rows->slice,
                                      .n = n_slices,
                                      .size = cells,
                                      .threads = space->threads,
                                      .fill = add_decisions,
                                      .user = &(decided){ space, decision } },
                   room);
    for (size_t c = 0; c < space->n_groups * cells; c++)
        confusion[c] /= (double)space->n_rows;
    mel_space_read(statistics, space, 0, space->n_groups, confusion);
    free(room);
    free(confusion);
    return MEL_OK;
}
