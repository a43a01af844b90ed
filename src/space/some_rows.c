/* Some rows of a sample as a space of their own. */
#include "space/sample.h"
#include "space/shared.h"

#include <stdlib.h>
#include <string.h>

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
} cell;

static bool is_taken(cell *c, size_t every, mel_rng *rng)
{
    if (c->rest == 0) {
        c->rest = c->left < every ? c->left : every;
        c->wait = (size_t)mel_rng_below(rng, c->rest);
    }
    c->left--;
    c->rest--;
    return c->wait-- == 0;
}

static size_t cell_of(const mel_sample *all, size_t row)
{
    return (all->group != NULL ? all->group[row] : 0) * all->n_classes + all->label[row];
}

/* How many rows were taken. */
static size_t draw(mel_some_rows *out, const mel_sample *all, cell *cells, size_t every, uint64_t seed)
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

static mel_status open_rows(mel_some_rows *out, const mel_space *space, size_t n, mel_error *err)
{
    mel_space_options opt;
    mel_space_options_init(&opt);
    opt.kind = space->layout.kind;
    opt.coordinates = space->layout.coordinates;
    opt.evidence = space->evidence;
    opt.threads = space->threads;
    const mel_sample sample = { .n_rows = n,
                                .n_classes = space->n_classes,
                                .n_groups = space->layout.n_groups,
                                .probability = out->probability,
                                .label = out->label,
                                .group = space->n_groups > 1 ? out->group : NULL };
    return mel_space_from_sample(&out->space, &sample, &opt, err);
}

mel_status mel_some_rows_take(mel_some_rows *out, const mel_space *space, size_t rows, uint64_t seed,
                              mel_error *err)
{
    const size_t k = space->n_classes, n_cells = space->n_groups * k;
    const size_t every = (space->n_rows + rows - 1) / rows, room = space->n_rows / every + n_cells;
    *out = (mel_some_rows){ 0 };
    cell *cells = mel_alloc_zero(n_cells, sizeof *cells);
    out->probability = mel_alloc(room * k, sizeof *out->probability);
    out->label = mel_alloc(room, sizeof *out->label);
    out->group = mel_alloc(room, sizeof *out->group);
    mel_status status = MEL_OK;
    if (cells == NULL || out->probability == NULL || out->label == NULL || out->group == NULL)
        status = mel_fail_memory(err, "a sample of the rows");
    else
        status = open_rows(out, space,
                           draw(out, &((const mel_class_rows *)space->self)->rows, cells, every, seed), err);
    free(cells);
    return status;
}
