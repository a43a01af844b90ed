/* A space on rows: checks, slices of rows and sums over them, the step; some rows as a space of their own,
 * and what a rule achieves when only the boundary between two of its classes moves. */
#include "space/space.h"

#include "base/team.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_SLICES = 64,   /* of a group, */
    SLICE_ROWS = 1024,  /* of so many rows at least, */
    SLICE_CELLS = 8,    /* and so many times the k x k sums of the slice */
    SUM_BYTES = 8 << 20 /* of the slices that are summed up at a time */
};

static size_t count_slices(size_t n, size_t k)
{
    const size_t each = SLICE_ROWS > SLICE_CELLS * k ? SLICE_ROWS : SLICE_CELLS * k, slices = n / each;
    return n == 0 ? 0 : slices < 1 ? 1 : slices < MOST_SLICES ? slices : MOST_SLICES;
}

/* start: n_groups + 1, where the rows of each group begin. */
static mel_status cut_rows(mel_class_rows *rows, size_t n_groups, const size_t *start, mel_error *err)
{
    const size_t k = rows->rows.n_classes;
    size_t total = 0;
    for (size_t g = 0; g < n_groups; g++)
        total += count_slices(start[g + 1] - start[g], k);
    rows->slice = mel_alloc(total, sizeof *rows->slice);
    rows->group_slice = mel_alloc(n_groups + 1, sizeof *rows->group_slice);
    if (rows->slice == NULL || rows->group_slice == NULL)
        return mel_fail_memory(err, "the rows of a space");
    size_t at = 0;
    for (size_t g = 0; g < n_groups; g++) {
        const size_t n = start[g + 1] - start[g], m = count_slices(n, k);
        rows->group_slice[g] = at;
        for (size_t s = 0; s < m; s++) {
            const size_t each = n / m, more = n % m, before = each * s + (s < more ? s : more);
            rows->slice[at++] = (mel_slice){ g, start[g] + before, each + (s < more) };
        }
    }
    rows->group_slice[n_groups] = at;
    return MEL_OK;
}

/* The order of rows, and the slices. */
static mel_status arrange_rows(mel_class_rows *rows, size_t n_groups, mel_error *err)
{
    const size_t n = rows->rows.n_rows;
    MEL_AUTO_MEMORY size_t *start = mel_alloc(n_groups + 1, sizeof *start);
    rows->order = n_groups > 1 ? mel_alloc(n, sizeof *rows->order) : NULL;
    if (start == NULL || (n_groups > 1 && rows->order == NULL))
        return mel_fail_memory(err, "the rows of a space");
    start[0] = 0;
    start[1] = n;
    if (n_groups > 1)
        TRY(mel_order_by_group(rows->order, start, n, n_groups, rows->rows.group, err));
    return cut_rows(rows, n_groups, start, err);
}

size_t mel_slices_at_a_time(size_t n, size_t size)
{
    const size_t some = SUM_BYTES / (size * sizeof(double)), room = some > MOST_SLICES ? some : MOST_SLICES;
    return n < room ? n : room;
}

typedef struct {
    const mel_slice_sums *sums;
    const mel_slice *slice;
} batch;

static void fill_batch(double *sum, size_t place, size_t thread, void *user)
{
    const batch *b = user;
    b->sums->fill(sum, &b->slice[place], thread, b->sums->user);
}

void mel_slices_sum(double *out, size_t first_group, const mel_class_rows *rows, const mel_slice_sums *sums,
                    double *room)
{
    const size_t size = sums->size, most = mel_slices_at_a_time(sums->n, size);
    for (size_t from = 0, n; from < sums->n; from += n) {
        const mel_slice *slice = sums->slice + from;
        n = sums->n - from < most ? sums->n - from : most;
        mel_slices_fill(&(mel_slices){ .n_slices = n,
                                       .rows = rows->rows.n_rows,
                                       .size = size,
                                       .stride = size,
                                       .sum = room,
                                       .threads = sums->threads,
                                       .fill = fill_batch,
                                       .user = &(batch){ sums, slice } });
        for (size_t i = 0; i < n; i++)
            for (size_t c = 0; c < size; c++)
                out[(slice[i].group - first_group) * size + c] += room[i * size + c];
    }
}

enum { CHUNK_ROWS = 1024 };       /* whose sums are made before they are added to those of the slice */
static const double slack = 1e-6; /* of probabilities */

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

/* A row that is wrong, by its number. */
static mel_status name_wrong_probabilities(size_t row, size_t k, const double *p, mel_error *err)
{
    double sum = 0.0;
    for (size_t i = 0; i < k; i++) {
        sum += p[i];
        if (!isfinite(p[i]) || p[i] < -slack)
            return mel_fail(err, MEL_EDATA, "row %zu: the probability of class %zu is %g", row + 1, i + 1,
                            p[i]);
    }
    return mel_fail(err, MEL_EDATA, "row %zu: %zu probabilities sum to %.9g, not 1", row + 1, k, sum);
}

/* seen: n_groups x k flags, all false. */
static mel_status check_codes(bool *seen, const mel_rows *sample, size_t n_groups, mel_error *err)
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

static mel_status check_sample(const mel_rows *sample, size_t n_groups, int threads, mel_error *err)
{
    const size_t n = sample->n_rows, k = sample->n_classes;
    MEL_AUTO_MEMORY bool *seen = mel_alloc_zero(n_groups * k, sizeof *seen);
    if (seen == NULL)
        return mel_fail_memory(err, "the classes of a space");
    TRY(check_codes(seen, sample, n_groups, err));
    const size_t wrong = find_wrong_row(n, k, sample->probability, threads);
    return wrong < n ? name_wrong_probabilities(wrong, k, sample->probability + wrong * k, err) : MEL_OK;
}

/* --- the step ----------------------------------------------------------------------------------- */

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
    const mel_class_rows *rows = &space->rows;
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
    const mel_workspace *ws;
    const double *gain; /* of group `first` and those behind it */
    size_t first;
} slice_step;

static void fill_slice(double *sum, const mel_slice *slice, size_t thread, void *user)
{
    const slice_step *step = user;
    const mel_workspace *ws = step->ws;
    const size_t k = step->space->n_classes;
    add_slice(sum, step->space, slice, step->gain + (slice->group - step->first) * k * k,
              ws->thread + thread * ws->per_thread, ws->prediction + thread * mel_block_rows(k));
}

void mel_space_confusion(double *confusion, const mel_space *space, size_t first, size_t n,
                         const double *gain, mel_workspace *ws)
{
    const mel_class_rows *rows = &space->rows;
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
                                      .user = &(slice_step){ space, ws, gain, first } },
                   ws->room);
    for (size_t c = 0; c < n * cells; c++)
        confusion[c] /= (double)space->n_rows;
}

/* --- making a space ----------------------------------------------------------------------------- */

static mel_status read_options(mel_space_options *out, const mel_space_options *opt, mel_error *err)
{
    mel_space_options_init(out);
    TRY(mel_options_take(out, sizeof *out, opt, "space options", err));
    return out->evidence == MEL_BY_LABELS || out->evidence == MEL_BY_MODEL
               ? MEL_OK
               : mel_fail(err, MEL_EINVAL, "%d is not a kind of evidence", (int)out->evidence);
}

/* A space without shares. */
static mel_status new_space(mel_space **out, const mel_rows *sample, const mel_space_options *opt,
                            mel_error *err)
{
    const size_t k = sample->n_classes, groups = sample->n_groups > 1 ? sample->n_groups : 1;
    const mel_layout layout = { opt->kind, opt->coordinates, k, groups > 1 ? groups : 0 };
    TRY(mel_layout_check(&layout, err));
    MEL_AUTO(mel_space) *space = mel_alloc_zero(1, sizeof *space);
    if (space == NULL)
        return mel_fail_memory(err, "a space");
    *space = (mel_space){ .rows = { .rows = *sample },
                          .layout = layout,
                          .evidence = opt->evidence,
                          .threads = mel_thread_count(opt->threads),
                          .n_classes = k,
                          .n_groups = groups,
                          .n_rows = sample->n_rows,
                          .size = mel_layout_size(&layout),
                          .group_size = mel_layout_size(&layout) / groups };
    space->class_share =
        mel_alloc_zero((2 * groups + 1) * k, sizeof *space->class_share); /* and the others */
    if (space->class_share == NULL)
        return mel_fail_memory(err, "a space");
    space->cell_share = space->class_share + k;
    space->prevalence = groups > 1 ? space->cell_share + groups * k : NULL;
    *out = space;
    space = NULL;
    return MEL_OK;
}

/* P(Y = i, G = g) is what is added up when every row is predicted as the first class, so that the rates of
 * that rule are exactly 1. */
static mel_status measure_shares(mel_space *space, mel_error *err)
{
    const size_t k = space->n_classes, n = space->n_groups * k;
    MEL_AUTO(mel_workspace) *ws = NULL;
    TRY(mel_workspace_new(&ws, space, err));
    memset(ws->gain, 0, n * k * sizeof *ws->gain);
    mel_space_confusion(ws->confusion, space, 0, space->n_groups, ws->gain, ws);
    for (size_t c = 0; c < n; c++) {
        space->cell_share[c] = ws->confusion[c * k];
        space->class_share[c % k] += ws->confusion[c * k];
        if (!(space->cell_share[c] > 0.0))
            return mel_fail(err, MEL_EDATA, "the probability of class %zu is 0 in every row%s", c % k + 1,
                            space->n_groups > 1 ? " of a group" : "");
    }
    for (size_t c = 0; c < n && space->prevalence != NULL; c++)
        space->prevalence[c] = space->cell_share[c] / space->class_share[c % k];
    return MEL_OK;
}

mel_status mel_space_from_sample(mel_space **out, const mel_rows *sample, const mel_space_options *opt,
                                 mel_error *err)
{
    *out = NULL;
    if (sample->n_classes == 1)
        return mel_fail(err, MEL_EDATA, "one class only: nothing to tell apart");
    if (sample->n_rows == 0)
        return mel_fail(err, MEL_EDATA, "no rows: a space needs some of every class");
    if (sample->weight != NULL)
        return mel_fail(err, MEL_EINVAL, "the rows of a space count alike: weights cannot be used");
    if (sample->n_groups > 1 && sample->group == NULL)
        return mel_fail(err, MEL_EINVAL, "%zu groups, but no groups of the rows", sample->n_groups);
    mel_space_options options;
    MEL_AUTO(mel_space) *space = NULL;
    TRY(read_options(&options, opt, err));
    TRY(new_space(&space, sample, &options, err));
    TRY(check_sample(sample, space->n_groups, space->threads, err));
    TRY(arrange_rows(&space->rows, space->n_groups, err));
    TRY(measure_shares(space, err));
    *out = space;
    space = NULL;
    return MEL_OK;
}

/* --- some rows as a space --------------------------------------------------------------------- */

void mel_some_rows_clear(mel_some_rows *rows)
{
    mel_space_free(rows->space);
    free(rows->probability);
    free(rows->label);
    free(rows->group);
    *rows = (mel_some_rows){ 0 };
}

/* Rows of one class in one group: one of every `every` of them is taken. */
typedef struct {
    size_t left; /* not seen yet */
    size_t wait; /* so many more go by before one is taken, */
    size_t rest; /* and so many before the next draw */
} sampled_cell;

static bool is_taken(sampled_cell *c, size_t every, mel_rng *rng)
{
    if (c->rest == 0) {
        c->rest = c->left < every ? c->left : every;
        c->wait = (size_t)mel_rng_below(rng, c->rest);
    }
    c->left--;
    c->rest--;
    return c->wait-- == 0;
}

static size_t cell_of(const mel_rows *all, size_t row)
{
    return (all->group != NULL ? all->group[row] : 0) * all->n_classes + all->label[row];
}

/* How many rows were taken. */
static size_t draw_rows(mel_some_rows *out, const mel_rows *all, sampled_cell *cells, size_t every,
                        uint64_t seed)
{
    const size_t k = all->n_classes;
    size_t n = 0;
    mel_rng rng;
    mel_rng_seed_stream(&rng, seed, 0);
    for (size_t r = 0; r < all->n_rows; r++)
        cells[cell_of(all, r)].left++;
    for (size_t r = 0; r < all->n_rows; r++) {
        if (!is_taken(&cells[cell_of(all, r)], every, &rng))
            continue;
        memcpy(out->probability + n * k, all->probability + r * k, k * sizeof *out->probability);
        out->label[n] = all->label[r];
        out->group[n++] = all->group != NULL ? all->group[r] : 0;
    }
    return n;
}

mel_status mel_some_rows_take(mel_some_rows *out, const mel_space *space, size_t rows, uint64_t seed,
                              mel_error *err)
{
    const size_t k = space->n_classes, n_cells = space->n_groups * k;
    const size_t every = (space->n_rows + rows - 1) / rows, room = space->n_rows / every + n_cells;
    *out = (mel_some_rows){ 0 };
    MEL_AUTO_MEMORY sampled_cell *cells = mel_alloc_zero(n_cells, sizeof *cells);
    out->probability = mel_alloc(room * k, sizeof *out->probability);
    out->label = mel_alloc(room, sizeof *out->label);
    out->group = mel_alloc(room, sizeof *out->group);
    if (cells == NULL || out->probability == NULL || out->label == NULL || out->group == NULL)
        return mel_fail_memory(err, "a sample of the rows");
    mel_space_options opt;
    mel_space_options_init(&opt);
    opt.kind = space->layout.kind;
    opt.coordinates = space->layout.coordinates;
    opt.evidence = space->evidence;
    opt.threads = space->threads;
    const mel_rows sample = { .n_rows = draw_rows(out, &space->rows.rows, cells, every, seed),
                              .n_classes = k,
                              .n_groups = space->layout.n_groups,
                              .probability = out->probability,
                              .label = out->label,
                              .group = space->n_groups > 1 ? out->group : NULL };
    return mel_space_from_sample(&out->space, &sample, &opt, err);
}

/* --- a moved boundary -------------------------------------------------------------------------- */

typedef struct {
    const mel_space *space;
    const double *gain; /* of the group, k x k */
    size_t class[2];
    double factor;
    double *scratch;
    uint32_t *prediction;
} swap;

/* Which of the two classes a row is predicted as. */
static size_t decide_between(const swap *s, const double *p)
{
    const size_t k = s->space->n_classes;
    double score[2] = { 0.0, 0.0 };
    for (size_t c = 0; c < 2; c++)
        for (size_t i = 0; i < k; i++)
            score[c] += p[i] * s->gain[i * k + s->class[c]];
    return s->class[s->factor * score[0] > score[1] ? 0 : 1];
}

/* Moves row r, which the rule predicts as one class, to another. */
static void move_row(double *confusion, const swap *s, size_t r, size_t from, size_t to)
{
    const mel_rows *rows = &s->space->rows.rows;
    const size_t k = s->space->n_classes;
    for (size_t i = 0; i < k; i++) {
        const double weight =
            s->space->evidence == MEL_BY_MODEL ? rows->probability[r * k + i] : rows->label[r] == i;
        confusion[i * k + from] -= weight / (double)s->space->n_rows;
        confusion[i * k + to] += weight / (double)s->space->n_rows;
    }
}

/* confusion: k x k of the group, of the rule itself before. */
static void move_slice(double *confusion, const swap *s, const mel_slice *slice)
{
    const mel_class_rows *rows = &s->space->rows;
    const size_t k = s->space->n_classes, block = mel_block_rows(k), end = slice->first + slice->n;
    const bool diagonal = mel_gain_diagonal(k, s->gain);
    for (size_t first = slice->first; first < end; first += block) {
        const size_t n = end - first < block ? end - first : block;
        const uint32_t *order = rows->order != NULL ? rows->order + first : NULL;
        const size_t shift = order != NULL ? 0 : first;
        mel_predict_block(s->prediction, n, k, rows->rows.probability + shift * k, order, s->gain, diagonal,
                          s->scratch);
        for (size_t b = 0; b < n; b++) {
            const size_t r = order != NULL ? order[b] : first + b, from = s->prediction[b];
            if (from != s->class[0] && from != s->class[1])
                continue;
            const size_t to = decide_between(s, rows->rows.probability + r * k);
            if (to != from)
                move_row(confusion, s, r, from, to);
        }
    }
}

mel_status mel_space_swap(double *statistics, const mel_space *space, const double *gain, size_t group,
                          size_t first, size_t second, double factor, mel_error *err)
{
    const size_t k = space->n_classes, cells = k * k;
    if (space->population)
        return mel_fail(err, MEL_EINVAL, "a population has no rows to decide");
    const mel_class_rows *rows = &space->rows;
    MEL_AUTO(mel_workspace) *ws = NULL;
    TRY(mel_workspace_new(&ws, space, err));
    const swap s = { space, gain + group * cells, { first, second }, factor, ws->thread, ws->prediction };
    mel_space_confusion(ws->confusion, space, 0, space->n_groups, gain, ws);
    for (size_t i = rows->group_slice[group]; i < rows->group_slice[group + 1]; i++)
        move_slice(ws->confusion + group * cells, &s, &rows->slice[i]);
    mel_space_read(statistics, space, 0, space->n_groups, ws->confusion);
    return MEL_OK;
}
