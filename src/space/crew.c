/* Ranks that have different rows of a space: exchanges, and rank 0 alone while the others wait. */
#include "space/crew.h"

#include "space/feasible.h"
#include "space/shared.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1 << 17 }; /* numbers of a rank that are exchanged at a time */

mel_status mel_crew_open(mel_class_rows *rows, mel_error *err)
{
    const size_t k = rows->all.n_classes, ranks = rows->team->size;
    rows->exchange = mel_alloc(ranks * (k > BLOCK ? k : BLOCK), sizeof *rows->exchange);
    rows->exchange_first = mel_alloc(ranks + 1, sizeof *rows->exchange_first);
    return rows->exchange != NULL && rows->exchange_first != NULL
               ? MEL_OK
               : mel_fail_memory(err, "an exchange with other ranks");
}

void mel_crew_close(mel_class_rows *rows)
{
    mel_crew_call(rows, &(mel_crew_task){ .what = MEL_CREW_END });
    mel_crew_leave(rows);
    free(rows->exchange);
    free(rows->exchange_first);
}

/* --- rows --------------------------------------------------------------------------------------- */

/* How many rows of a file are behind the first `from`, at most `most`; 0 where there is no such file. */
static size_t rows_behind(const mel_class_rows *rows, size_t file, size_t from, size_t most)
{
    if (file >= mel_class_rows_files(rows))
        return 0;
    const size_t n = mel_class_rows_start(rows, file + 1) - mel_class_rows_start(rows, file);
    return n <= from ? 0 : n - from < most ? n - from : most;
}

/* Blocks of one file of each rank, from row `from` of it on: how many rows in all. */
static size_t gather_blocks(double *all, const mel_class_rows *rows, size_t width, size_t round, size_t from,
                            mel_row_numbers *fill, const void *user)
{
    const size_t ranks = rows->team->size, rank = rows->team->rank, most = BLOCK > width ? BLOCK / width : 1;
    size_t *first = rows->exchange_first;
    first[0] = 0;
    for (size_t r = 0; r < ranks; r++)
        first[r + 1] = first[r] + rows_behind(rows, round + r, from, most);
    for (size_t i = first[rank]; i < first[rank + 1]; i++)
        fill(rows->exchange + i * width, rows,
             mel_class_rows_here(rows, round + rank) + from + i - first[rank], user);
    mel_team_gather_runs(rows->exchange, first, width * sizeof *rows->exchange);
    for (size_t r = 0; r < ranks && all != NULL; r++)
        if (first[r + 1] > first[r])
            memcpy(all + (mel_class_rows_start(rows, round + r) + from) * width,
                   rows->exchange + first[r] * width, (first[r + 1] - first[r]) * width * sizeof *all);
    return first[ranks];
}

void mel_crew_gather(double *all, const mel_class_rows *rows, size_t width, mel_row_numbers *fill,
                     const void *user)
{
    const size_t most = BLOCK > width ? BLOCK / width : 1;
    for (size_t round = 0; round < mel_class_rows_files(rows); round += rows->team->size)
        for (size_t from = 0; gather_blocks(all, rows, width, round, from, fill, user) > 0; from += most)
            ;
}

static void copy_probabilities(double *to, const mel_class_rows *rows, size_t row, const void *user)
{
    (void)user;
    const size_t k = rows->all.n_classes;
    memcpy(to, rows->rows.probability + row * k, k * sizeof *to);
}

mel_status mel_crew_whole_room(mel_class_rows *rows, mel_error *err)
{
    if (rows->whole == NULL)
        rows->whole = mel_alloc(rows->all.n_rows, rows->all.n_classes * sizeof *rows->whole);
    return rows->whole != NULL ? MEL_OK : mel_fail_memory(err, "the probabilities of all rows");
}

void mel_crew_whole(mel_class_rows *rows)
{
    if (rows->has_whole)
        return;
    mel_crew_call(rows, &(mel_crew_task){ .what = MEL_CREW_WHOLE });
    mel_crew_gather(rows->whole, rows, rows->all.n_classes, copy_probabilities, NULL);
    mel_crew_leave(rows);
    rows->has_whole = true;
}

mel_status mel_crew_probabilities(const double **out, const mel_space *space, mel_error *err)
{
    mel_class_rows *rows = space->self;
    const mel_status status = rows->divided ? mel_crew_whole_room(rows, err) : MEL_OK;
    if (status == MEL_OK && rows->divided)
        mel_crew_whole(rows);
    *out = rows->divided ? rows->whole : rows->rows.probability;
    return status;
}

/* --- rank 0 alone, while the others wait -------------------------------------------------------- */

void mel_crew_call(const mel_class_rows *rows, const mel_crew_task *task)
{
    if (!rows->leads)
        return;
    mel_team_set(rows->team);
    mel_crew_task told = *task;
    mel_team_share(&told, sizeof told);
    if (task->n_numbers > 0)
        mel_team_share((double *)(uintptr_t)task->number, task->n_numbers * sizeof *task->number);
}

void mel_crew_leave(const mel_class_rows *rows)
{
    if (rows->leads)
        mel_team_set(NULL);
}

bool mel_space_divided(const mel_space *space)
{
    return space->n_rows > 0 && space->ops == &mel_sample_ops &&
           ((const mel_class_rows *)space->self)->divided;
}

void mel_space_lead(mel_space *space)
{
    ((mel_class_rows *)space->self)->leads = true;
}

static mel_status do_task(const mel_space *space, const mel_crew_task *task, mel_workspace *ws,
                          mel_error *err)
{
    mel_class_rows *rows = space->self;
    mel_sure sure = { 0 };
    mel_status status = MEL_OK;
    switch (task->what) {
    case MEL_CREW_STEP:
        space->ops->confusion(ws->confusion, space, task->first, task->n, task->number, ws->own);
        break;
    case MEL_CREW_MOMENT:
        status = mel_sure_init(&sure, space, task->first, err);
        break;
    case MEL_CREW_SWAP:
        status = mel_space_swap_give(space, task, err);
        break;
    case MEL_CREW_SOME:
        status = mel_some_rows_give(space, task, err);
        break;
    case MEL_CREW_PAIR:
        mel_space_pair_give(space, task);
        break;
    case MEL_CREW_WHOLE:
        mel_crew_gather(NULL, rows, space->n_classes, copy_probabilities, NULL);
        break;
    case MEL_CREW_END:
        break;
    }
    mel_sure_clear(&sure);
    return status;
}

mel_status mel_space_serve(const mel_space *space, mel_error *err)
{
    const size_t most = space->n_groups > 2 ? space->n_groups : 2; /* matrices that a task comes with */
    double *number = mel_alloc(most * space->n_classes * space->n_classes, sizeof *number);
    mel_workspace *ws = NULL;
    mel_status status = number != NULL ? mel_workspace_new(&ws, space, err)
                                       : mel_fail_memory(err, "an exchange with other ranks");
    mel_crew_task task = { .what = MEL_CREW_STEP };
    while (status == MEL_OK && task.what != MEL_CREW_END) {
        mel_team_share(&task, sizeof task);
        if (task.n_numbers > 0)
            mel_team_share(number, task.n_numbers * sizeof *number);
        task.number = number;
        status = do_task(space, &task, ws, err);
    }
    mel_workspace_free(ws);
    free(number);
    return status;
}
