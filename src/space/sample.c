/* A space on rows: checks, the step, what any classifier achieves. */
#include "space/crew.h"

#include "base/team.h"
#include "data/row_sums.h"
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
    mel_crew_close(rows);
    free(rows->own_label);
    free(rows->whole);
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

/* Of rows that are here; where files are divided the first wrong one of all ranks is named by all. */
static mel_status check_probabilities(const mel_class_rows *rows, int threads, mel_error *err)
{
    const size_t k = rows->all.n_classes, n = rows->rows.n_rows;
    const double *p = rows->rows.probability;
    const size_t wrong = find_wrong_row(n, k, p, threads);
    size_t number = wrong < n ? mel_row_place(rows->divided ? rows->all.shards : NULL, wrong) : SIZE_MAX;
    const mel_status status =
        wrong < n ? name_wrong_row(number, k, p + wrong * k, probability_names, err) : MEL_OK;
    return rows->divided ? mel_team_agree(&number, status, err) : status;
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

static mel_status check_sample(const mel_class_rows *rows, size_t n_groups, int threads, mel_error *err)
{
    bool *seen = mel_alloc_zero(n_groups * rows->all.n_classes, sizeof *seen);
    if (seen == NULL)
        return mel_fail_memory(err, "the classes of a space");
    const mel_status status = check_codes(seen, &rows->all, n_groups, err);
    free(seen);
    return status == MEL_OK ? check_probabilities(rows, threads, err) : status;
}

/* --- the step ----------------------------------------------------------------------------------- */

/* What a step borrows: sums of every slice, and per thread a block and the sums of a chunk. */
typedef struct {
    size_t per_thread; /* doubles */
    double *thread;
    uint32_t *prediction; /* per thread mel_block_rows */
    mel_sum_room room;    /* k x k sums of slices; by labels: counts, below 2^53 and so exact */
} scratch;

static mel_status new_scratch(void **own, const mel_space *space, mel_error *err)
{
    const mel_class_rows *rows = space->self;
    const size_t k = space->n_classes, line = 64 / sizeof(double), threads = (size_t)space->threads;
    const size_t block = mel_block_rows(k), n_slices = rows->group_slice[space->n_groups];
    const size_t per_thread = (mel_block_scratch(k) + k * k + 2 * line) / line * line;
    const size_t sums = mel_sum_room_bytes(rows, n_slices, k * k);
    const size_t bytes = sizeof(scratch) + threads * per_thread * sizeof(double) + sums;
    scratch *s = mel_alloc(1, bytes + threads * block * sizeof(uint32_t));
    if (s == NULL)
        return mel_fail_memory(err, "the steps of a space");
    s->per_thread = per_thread;
    s->thread = (double *)(s + 1);
    mel_sum_room_place(&s->room, s->thread + threads * per_thread, n_slices, k * k);
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
                                      .user = &(slice_step){ space, s, gain, first },
                                      .task = { .what = MEL_CREW_STEP,
                                                .first = first,
                                                .n = n,
                                                .number = gain,
                                                .n_numbers = n * cells } },
                   &s->room);
    for (size_t c = 0; c < n * cells; c++)
        confusion[c] /= (double)space->n_rows;
}

const mel_space_ops mel_sample_ops = { free_rows, new_scratch, sample_confusion };

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

/* The rows that are here; few of them are soon with every rank. */
static mel_status take_rows(mel_class_rows *rows, const mel_sample *sample, mel_error *err)
{
    rows->all = rows->rows = *sample;
    rows->team = mel_team_get();
    rows->all.shards = sample->shards != NULL && sample->shards->n > 0 ? sample->shards : NULL;
    rows->divided = rows->all.shards != NULL && rows->all.shards->here != NULL;
    if (!rows->divided)
        return MEL_OK;
    rows->rows.n_rows = rows->all.shards->here[rows->all.shards->n];
    mel_status status = mel_crew_open(rows, err);
    if (status != MEL_OK || sample->n_rows >= rows->team->few_rows)
        return status;
    status = mel_crew_whole_room(rows, err);
    if (status != MEL_OK)
        return status;
    mel_crew_whole(rows);
    rows->divided = false;
    rows->rows.n_rows = sample->n_rows;
    rows->rows.probability = rows->all.probability = rows->whole;
    return MEL_OK;
}

static mel_status fill(mel_space *space, const mel_sample *sample, mel_error *err)
{
    mel_class_rows *rows = mel_alloc_zero(1, sizeof *rows);
    if (rows == NULL)
        return mel_fail_memory(err, "a space");
    space->ops = &mel_sample_ops;
    space->self = rows;
    space->n_rows = sample->n_rows;
    mel_status status = take_rows(rows, sample, err);
    if (status == MEL_OK)
        status = check_sample(rows, space->n_groups, space->threads, err);
    if (status == MEL_OK)
        status = mel_class_rows_arrange(rows, space->n_groups, err);
    if (status == MEL_OK)
        status = measure_cells(space, err);
    if (status == MEL_OK)
        mel_space_finish(space);
    return status;
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
    /* Decisions are those of all rows. */
    const double *decision = ((const decided *)user)->decision + mel_class_rows_start(rows, slice->file) * k;
    memset(sum, 0, k * k * sizeof *sum);
    for (size_t i = slice->first; i < slice->first + slice->n; i++) {
        const size_t r = rows->order != NULL ? rows->order[i] : i;
        const double *p = rows->rows.probability + r * k;
        const double *d = decision + (r - mel_class_rows_here(rows, slice->file)) * k;
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
    if (rows->leads)
        return mel_fail(err, MEL_ESTATE, "other ranks, which have rows, do not know the decisions");
    const size_t wrong = find_wrong_row(space->n_rows, k, decision, space->threads);
    if (wrong < space->n_rows)
        return name_wrong_row(wrong, k, decision + wrong * k, decision_names, err);
    void *memory = mel_alloc(1, mel_sum_room_bytes(rows, n_slices, cells));
    double *confusion = mel_alloc_zero(space->n_groups * cells, sizeof *confusion);
    if (memory == NULL || confusion == NULL) {
        free(memory);
        free(confusion);
        return mel_fail_memory(err, "the statistics of decisions");
    }
    mel_sum_room room;
    mel_sum_room_place(&room, memory, n_slices, cells);
    mel_slices_sum(confusion, 0, rows,
                   &(mel_slice_sums){ .slice = rows->slice,
                                      .n = n_slices,
                                      .size = cells,
                                      .threads = space->threads,
                                      .fill = add_decisions,
                                      .user = &(decided){ space, decision } },
                   &room);
    for (size_t c = 0; c < space->n_groups * cells; c++)
        confusion[c] /= (double)space->n_rows;
    mel_space_read(statistics, space, 0, space->n_groups, confusion);
    free(memory);
    free(confusion);
    return MEL_OK;
}
