/* Some rows of a sample as a space of their own: the same ones for any number of ranks. */
#include "data/shared.h"
#include "space/crew.h"
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

/* here: where the row is among those that are; SIZE_MAX: with another rank. */
static void copy_row(mel_some_rows *out, size_t at, const mel_class_rows *rows, size_t row, size_t here)
{
    const size_t k = rows->all.n_classes;
    if (here != SIZE_MAX)
        memcpy(out->probability + at * k, rows->rows.probability + here * k, k * sizeof *out->probability);
    out->label[at] = rows->all.label[row];
    out->group[at] = rows->all.group != NULL ? rows->all.group[row] : 0;
}

/* taken[f + 1]: how many rows are taken of files up to f. */
static void draw(mel_some_rows *out, size_t *taken, const mel_class_rows *rows, cell *cells, size_t every,
                 uint64_t seed)
{
    const mel_sample *all = &rows->all;
    mel_rng rng;
    mel_rng_seed_stream(&rng, seed, 0);
    for (size_t r = 0; r < all->n_rows; r++)
        cells[cell_of(all, r)].left++;
    taken[0] = 0;
    for (size_t f = 0, r = 0, n = 0; f < mel_class_rows_files(rows); f++) {
        const bool here = !rows->divided || f % rows->team->size == rows->team->rank;
        const size_t back = mel_class_rows_start(rows, f) - mel_class_rows_here(rows, f);
        for (; r < mel_class_rows_start(rows, f + 1); r++)
            if (is_taken(&cells[cell_of(all, r)], every, &rng))
                copy_row(out, n++, rows, r, here ? r - back : SIZE_MAX);
        taken[f + 1] = n;
    }
}

/* n: how many were taken. */
static mel_status take(mel_some_rows *out, size_t *n, const mel_space *space, const mel_crew_task *task,
                       mel_error *err)
{
    const mel_class_rows *rows = space->self;
    const size_t k = space->n_classes, n_cells = space->n_groups * k, files = mel_class_rows_files(rows);
    const size_t every = (space->n_rows + task->n - 1) / task->n, room = space->n_rows / every + n_cells;
    *out = (mel_some_rows){ 0 };
    cell *cells = mel_alloc_zero(n_cells, sizeof *cells);
    size_t *taken = mel_alloc(files + 1, sizeof *taken);
    out->probability = mel_alloc(room * k, sizeof *out->probability);
    out->label = mel_alloc(room, sizeof *out->label);
    out->group = mel_alloc(room, sizeof *out->group);
    const bool enough = cells != NULL && taken != NULL && out->probability != NULL && out->label != NULL &&
                        out->group != NULL;
    if (enough) {
        mel_crew_call(rows, task);
        draw(out, taken, rows, cells, every, task->seed);
        *n = taken[files];
        if (rows->divided)
            mel_shards_exchange(out->probability, taken, files, k * sizeof *out->probability);
        mel_crew_leave(rows);
    }
    free(cells);
    free(taken);
    return enough ? MEL_OK : mel_fail_memory(err, "a sample of the rows");
}

mel_status mel_some_rows_give(const mel_space *space, const mel_crew_task *task, mel_error *err)
{
    mel_some_rows some;
    size_t n = 0;
    const mel_status status = take(&some, &n, space, task, err);
    mel_some_rows_clear(&some);
    return status;
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
    size_t n = 0;
    const mel_status status =
        take(out, &n, space, &(mel_crew_task){ .what = MEL_CREW_SOME, .n = rows, .seed = seed }, err);
    return status == MEL_OK ? open_rows(out, space, n, err) : status;
}
