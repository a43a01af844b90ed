/* Training rows in slices of blocks of one class each, and sums over all of them for a rule. */
#include "optimise/packed.h"

#include "base/team.h"

#include <stdlib.h>
#include <string.h>

enum {
    BLOCK = MEL_PACKED_BLOCK,
    SLICE_ROWS = 1 << 17,
    MOST_PATTERNS = 64,
    FEW_BLOCKS = 512 /* a pass over fewer is over before a second thread is awake */
};

void mel_packed_free(mel_packed *p)
{
    if (p == NULL)
        return;
    free(p->slice);
    free(p->phi);
    free(p->value);
    free(p->class_of);
    free(p->n_rows);
    free(p);
}

void mel_directions(double *u, const mel_weight_size *size, const double *probability, const double *phi)
{
    u[0] = 1.0;
    if (size->n_directions == 1)
        return;
    for (size_t l = 0; l < size->n_basis; l++) {
        if (!size->whole)
            u[1 + l] = phi[l];
        for (size_t i = 0; size->whole && i < size->k; i++)
            u[1 + l * size->k + i] = phi[l] * probability[i];
    }
}

/* --- packing a slice ---------------------------------------------------------------------------- */

/* Rows first .. end by class and, where basis functions take few different values, by these. */
typedef struct {
    const mel_weight_rows *rows;
    size_t first, end;
    size_t n_patterns;                                 /* different rows of basis functions; 0: too many */
    double *pattern;                                   /* MOST_PATTERNS x n_basis */
    uint8_t *of;                                       /* of each row */
    size_t count[MOST_PATTERNS], block[MOST_PATTERNS]; /* of one class at a time: rows, first block */
} sorting;

static void find_patterns(sorting *s, const mel_weight_size *size)
{
    const size_t l = size->n_basis;
    s->n_patterns = 0;
    for (size_t r = s->first, last = 0; r < s->end; r++) {
        const double *phi = mel_weight_basis_row(s->rows->basis, l, r);
        size_t at = last;
        if (s->n_patterns == 0 || memcmp(s->pattern + at * l, phi, l * sizeof *phi) != 0)
            for (at = 0; at < s->n_patterns && memcmp(s->pattern + at * l, phi, l * sizeof *phi) != 0;)
                at++;
        /* Each has blocks of its own for each class, which must not be empty for the most part. */
        if (at == MOST_PATTERNS || (at > 0 && at * size->k * BLOCK > s->end - s->first)) {
            s->n_patterns = 0;
            return;
        }
        if (at == s->n_patterns)
            memcpy(s->pattern + s->n_patterns++ * l, phi, l * sizeof *phi);
        s->of[r - s->first] = (uint8_t)at;
        last = at;
    }
}

static size_t pattern_of(const sorting *s, size_t row)
{
    return s->n_patterns > 0 ? s->of[row - s->first] : 0;
}

/* Where the rows of a class go: the number behind its last block. */
static size_t plan_class(sorting *s, uint32_t c, size_t block)
{
    memset(s->count, 0, sizeof s->count);
    for (size_t r = s->first; r < s->end; r++)
        if (s->rows->label[r] == c)
            s->count[pattern_of(s, r)]++;
    for (size_t i = 0; i < MOST_PATTERNS; i++) {
        s->block[i] = block;
        block += (s->count[i] + BLOCK - 1) / BLOCK;
        s->count[i] = 0;
    }
    return block;
}

static void pack_row(mel_packed_slice *p, size_t block, size_t place, const sorting *s, size_t r)
{
    const mel_weight_rows *rows = s->rows;
    const size_t k = p->size->k, n_basis = p->size->n_basis;
    const double *phi = mel_weight_basis_row(rows->basis, n_basis, r),
                 *probability = rows->probability + r * k;
    double *to = p->value + block * mel_packed_block(p) + place;
    for (size_t j = 0; j < k; j++)
        to[j * BLOCK] = probability[j];
    for (size_t l = 0; l < n_basis; l++)
        if (p->constant)
            p->phi[block * n_basis + l] = phi[l];
        else
            to[(k + l) * BLOCK] = phi[l];
    p->class_of[block] = rows->label[r];
    p->n_rows[block]++;
}

static void pack_slice(mel_packed_slice *p, sorting *s)
{
    size_t block = 0;
    for (uint32_t c = 0; c < p->size->k; c++) {
        block = plan_class(s, c, block);
        for (size_t r = s->first; r < s->end; r++) {
            if (s->rows->label[r] != c)
                continue;
            const size_t i = pattern_of(s, r), at = s->count[i]++;
            pack_row(p, s->block[i] + at / BLOCK, at % BLOCK, s, r);
        }
    }
}

static void plan_slice(mel_packed_slice *p, sorting *s)
{
    s->n_patterns = 0;
    if (!p->size->whole)
        find_patterns(s, p->size);
    p->constant = s->n_patterns > 0;
    p->n_blocks = 0;
    for (uint32_t c = 0; c < p->size->k; c++)
        p->n_blocks = plan_class(s, c, p->n_blocks);
}

/* --- all slices --------------------------------------------------------------------------------- */

/* Calls `take` for each slice. */
static void each_slice(mel_packed *p, sorting *s, void (*take)(mel_packed_slice *slice, sorting *s))
{
    const size_t n = s->rows->n_rows, m = p->n_slices;
    for (size_t j = 0; j < m; j++) {
        s->first = j * n / m;
        s->end = (j + 1) * n / m;
        take(&p->slice[j], s);
    }
}

static size_t slice_values(const mel_packed_slice *slice)
{
    return slice->n_blocks * mel_packed_block(slice);
}

/* Blocks of all slices are parts of the same arrays. */
static mel_status make_block_room(mel_packed *p, mel_error *err)
{
    const size_t n_slices = p->n_slices, n_basis = p->size.n_basis;
    size_t blocks = 0, values = 0;
    for (size_t i = 0; i < n_slices; i++) {
        blocks += p->slice[i].n_blocks;
        values += slice_values(&p->slice[i]);
    }
    p->n_blocks = blocks;
    p->phi = mel_alloc_zero(blocks, n_basis * sizeof *p->phi);
    p->class_of = mel_alloc_zero(blocks, sizeof *p->class_of);
    p->n_rows = mel_alloc_zero(blocks, sizeof *p->n_rows);
    p->value = mel_alloc_zero(values, sizeof *p->value);
    if (p->phi == NULL || p->class_of == NULL || p->n_rows == NULL || p->value == NULL)
        return mel_fail_memory(err, "training rows");
    blocks = values = 0;
    for (size_t i = 0; i < n_slices; i++) {
        mel_packed_slice *s = &p->slice[i];
        s->phi = p->phi + blocks * n_basis;
        s->class_of = p->class_of + blocks;
        s->n_rows = p->n_rows + blocks;
        s->value = p->value + values;
        blocks += s->n_blocks;
        values += slice_values(s);
    }
    return MEL_OK;
}

/* A slice is planned twice: to know how large all of them are, and when it is filled. */
static void fill_slice(mel_packed_slice *slice, sorting *s)
{
    plan_slice(slice, s);
    pack_slice(slice, s);
}

static mel_status pack(mel_packed *p, sorting *s, mel_error *err)
{
    const size_t n = s->rows->n_rows, wanted = (n + SLICE_ROWS - 1) / SLICE_ROWS;
    p->n_slices = wanted > MEL_PACKED_MOST_SLICES ? MEL_PACKED_MOST_SLICES : wanted > 0 ? wanted : 1;
    p->slice = mel_alloc_zero(p->n_slices, sizeof *p->slice);
    s->pattern = mel_alloc(MOST_PATTERNS * p->size.n_basis, sizeof *s->pattern);
    s->of = mel_alloc(n / p->n_slices + 1, sizeof *s->of);
    if (p->slice == NULL || s->pattern == NULL || s->of == NULL)
        return mel_fail_memory(err, "training rows");
    for (size_t i = 0; i < p->n_slices; i++)
        p->slice[i].size = &p->size;
    each_slice(p, s, plan_slice);
    TRY(make_block_room(p, err));
    each_slice(p, s, fill_slice);
    return MEL_OK;
}

mel_status mel_packed_new(mel_packed **out, const mel_weight_size *size, const mel_weight_rows *rows,
                          mel_error *err)
{
    *out = NULL;
    sorting s = { .rows = rows };
    mel_packed *p = mel_alloc_zero(1, sizeof *p);
    if (p == NULL)
        return mel_fail_memory(err, "training rows");
    p->size = *size;
    const mel_status status = p->size.engine != NULL ? MEL_OK : pack(p, &s, err);
    free(s.pattern);
    free(s.of);
    if (status != MEL_OK) {
        mel_packed_free(p);
        return status;
    }
    *out = p;
    return MEL_OK;
}

/* --- sums over all rows ------------------------------------------------------------------------- */

size_t mel_packed_moments(const mel_weight_size *size)
{
    return mel_weight_cells(size) * size->n_directions * size->n_basis;
}

typedef struct {
    const mel_packed *packed;
    const double *weight;
    size_t n, n_all; /* sums of a slice, and with scratch behind them */
} slice_sums;

static void sum_packed_slice(double *sums, size_t slice, size_t thread, void *user)
{
    (void)thread;
    const slice_sums *own = user;
    const mel_packed_slice *s = &own->packed->slice[slice];
    memset(sums, 0, own->n_all * sizeof *sums);
    for (size_t b = 0; b < s->n_blocks; b++)
        mel_packed_add_block(sums, s, b, own->weight, sums + own->n);
}

/* in[] of MEL_PASS_MOMENTS: sizes, then the weights of a rule (k, or k x k) unless all rows count. */
enum { MOMENTS_CLASSES, MOMENTS_DIRECTIONS, MOMENTS_WHOLE, MOMENTS_HEAD };

static mel_status ask_engine(double *moment, size_t n, const mel_packed *p, const double *weight,
                             mel_error *err)
{
    const size_t cells = weight != NULL ? mel_weight_cells(&p->size) : 0;
    MEL_AUTO_MEMORY double *in = mel_alloc(MOMENTS_HEAD + cells, sizeof *in);
    if (in == NULL)
        return mel_fail_memory(err, "sums over training rows");
    in[MOMENTS_CLASSES] = (double)p->size.k;
    in[MOMENTS_DIRECTIONS] = (double)p->size.n_directions;
    in[MOMENTS_WHOLE] = p->size.whole ? 1.0 : 0.0;
    for (size_t c = 0; c < cells; c++)
        in[MOMENTS_HEAD + c] = weight[c];
    const mel_pass pass = { MEL_PASS_MOMENTS, MOMENTS_HEAD + cells, n, in };
    return p->size.engine->run(moment, &pass, p->size.engine->user, err);
}

static mel_status sum_all(double *moment, size_t n, const mel_packed *p, const double *weight, mel_error *err)
{
    const mel_weight_size *size = &p->size;
    if (p->size.engine != NULL)
        return ask_engine(moment, n, p, weight, err);
    const size_t n_all = n + 2 * size->k + size->n_basis + size->n_directions;
    MEL_AUTO_MEMORY double *part = mel_alloc(p->n_slices, n_all * sizeof *part);
    if (part == NULL)
        return mel_fail_memory(err, "sums over training rows");
    const mel_slices slices = { .n_slices = p->n_slices,
                                .rows = p->n_blocks * MEL_PACKED_BLOCK,
                                .size = n,
                                .stride = n_all,
                                .sum = part,
                                .threads = p->n_blocks > FEW_BLOCKS ? mel_thread_count(size->threads) : 1,
                                .fill = sum_packed_slice,
                                .user = &(slice_sums){ p, weight, n, n_all } };
    mel_slices_fill(&slices);
    mel_slices_join(&slices);
    memcpy(moment, part, n * sizeof *moment);
    return MEL_OK;
}

mel_status mel_packed_sums(double *moment, const mel_packed *p, const double *weight, mel_error *err)
{
    return sum_all(moment, mel_packed_moments(&p->size), p, weight, err);
}

mel_status mel_packed_totals(double *total, const mel_packed *p, mel_error *err)
{
    return sum_all(total, p->size.k * p->size.n_directions * p->size.n_basis, p, NULL, err);
}

bool mel_packed_shape(mel_weight_size *out, const mel_pass *pass)
{
    const size_t k = pass->n_in >= MOMENTS_HEAD ? (size_t)pass->in[MOMENTS_CLASSES] : 0;
    *out = (mel_weight_size){ .k = k, .n_basis = 1, .n_groups = 1 };
    if (k < 2)
        return false;
    out->n_directions = (size_t)pass->in[MOMENTS_DIRECTIONS];
    out->whole = pass->in[MOMENTS_WHOLE] != 0.0;
    const size_t cells = mel_weight_cells(out), rule = pass->n_in - MOMENTS_HEAD;
    return (out->n_directions == 1 || out->n_directions == (out->whole ? 1 + k : 2)) &&
           ((rule == cells && pass->n_out == cells * out->n_directions) ||
            (rule == 0 && pass->n_out == k * out->n_directions));
}

mel_status mel_packed_answer(double *out, const mel_packed *packed, const mel_pass *pass, mel_error *err)
{
    return sum_all(out, pass->n_out, packed, pass->n_in > MOMENTS_HEAD ? pass->in + MOMENTS_HEAD : NULL, err);
}
