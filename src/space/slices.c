/* Rows of a space in slices, cut within groups and files, and sums over them. */
#include "base/reduce.h"
#include "data/row_sums.h"
#include "data/shared.h"
#include "space/crew.h"
#include "space/predict.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_SLICES = 64,   /* of a group in all files, */
    FILE_SLICES = 8,    /* but so many of each file may be, */
    SLICE_ROWS = 1024,  /* of so many rows at least, */
    SLICE_CELLS = 8,    /* and so many times the k x k sums of the slice */
    SUM_BYTES = 8 << 20 /* of the slices that are summed up at a time */
};

/* --- files -------------------------------------------------------------------------------------- */

size_t mel_class_rows_files(const mel_class_rows *rows)
{
    return mel_row_files(rows->all.shards);
}

size_t mel_class_rows_start(const mel_class_rows *rows, size_t file)
{
    return rows->all.shards != NULL ? rows->all.shards->start[file] : file * rows->all.n_rows;
}

size_t mel_class_rows_here(const mel_class_rows *rows, size_t file)
{
    return mel_row_file_start(rows->all.shards, rows->all.n_rows, file);
}

size_t mel_class_rows_of_group(const mel_class_rows *rows, size_t group)
{
    size_t n = 0;
    for (size_t s = rows->group_slice[group]; s < rows->group_slice[group + 1]; s++)
        n += rows->slice[s].n;
    return n;
}

static size_t rank_of(const mel_class_rows *rows, size_t file)
{
    return rows->divided ? file % rows->team->size : rows->team->rank;
}

/* --- cutting ------------------------------------------------------------------------------------ */

/* Of n rows of a group in one of so many files. */
static size_t count_slices(size_t n, size_t k, size_t files)
{
    const size_t each = SLICE_ROWS > SLICE_CELLS * k ? SLICE_ROWS : SLICE_CELLS * k;
    const size_t most = MOST_SLICES / files > FILE_SLICES ? MOST_SLICES / files : FILE_SLICES;
    const size_t slices = n / each;
    return n == 0 ? 0 : slices < 1 ? 1 : slices < most ? slices : most;
}

/* count: n_groups x files, rows of each; start: where the rows of each group begin among those here. */
static void cut(mel_class_rows *rows, size_t n_groups, const size_t *count, const size_t *start)
{
    const size_t files = mel_class_rows_files(rows), k = rows->all.n_classes;
    mel_slice *to = rows->slice;
    for (size_t g = 0; g < n_groups; g++) {
        size_t at = start[g];
        rows->group_slice[g] = (size_t)(to - rows->slice);
        for (size_t f = 0; f < files; f++) {
            const size_t n = count[g * files + f], m = count_slices(n, k, files);
            const bool here = rank_of(rows, f) == rows->team->rank;
            for (size_t s = 0; s < m; s++) {
                const size_t each = n / m, more = n % m, before = each * s + (s < more ? s : more);
                *to++ = (mel_slice){ g, f, here ? at + before : 0, each + (s < more) };
            }
            at += here ? n : 0;
        }
    }
    rows->group_slice[n_groups] = (size_t)(to - rows->slice);
}

static mel_status count_and_cut(mel_class_rows *rows, size_t n_groups, const size_t *start, mel_error *err)
{
    const size_t files = mel_class_rows_files(rows), k = rows->all.n_classes;
    size_t *count = mel_alloc_zero(n_groups * files, sizeof *count), total = 0;
    for (size_t f = 0; f < files && count != NULL; f++)
        for (size_t r = mel_class_rows_start(rows, f); r < mel_class_rows_start(rows, f + 1); r++)
            count[(n_groups > 1 ? rows->all.group[r] : 0) * files + f]++;
    for (size_t c = 0; c < n_groups * files && count != NULL; c++)
        total += count_slices(count[c], k, files);
    rows->slice = mel_alloc(total, sizeof *rows->slice);
    rows->group_slice = mel_alloc(n_groups + 1, sizeof *rows->group_slice);
    const bool enough = count != NULL && rows->slice != NULL && rows->group_slice != NULL;
    if (enough)
        cut(rows, n_groups, count, start);
    free(count);
    return enough ? MEL_OK : mel_fail_memory(err, "the rows of a space");
}

/* Codes of the rows that are here, out of those of all. */
static uint32_t *own_codes(const mel_class_rows *rows, const uint32_t *code)
{
    uint32_t *own = mel_alloc(rows->rows.n_rows, sizeof *own);
    if (own != NULL)
        mel_shards_take(own, code, rows->all.shards, sizeof *own);
    return own;
}

/* start: n_groups + 1. */
static mel_status order_rows(mel_class_rows *rows, size_t n_groups, size_t *start, mel_error *err)
{
    const size_t n = rows->rows.n_rows;
    uint32_t *own = rows->divided && n_groups > 1 ? own_codes(rows, rows->all.group) : NULL;
    mel_status status = MEL_OK;
    rows->order = n_groups > 1 ? mel_alloc(n, sizeof *rows->order) : NULL;
    start[0] = 0;
    start[1] = n;
    if (n_groups > 1 && (rows->order == NULL || (rows->divided && own == NULL)))
        status = mel_fail_memory(err, "the rows of a space");
    else if (n_groups > 1)
        status =
            mel_order_by_group(rows->order, start, n, n_groups, own != NULL ? own : rows->all.group, err);
    free(own);
    return status;
}

mel_status mel_class_rows_arrange(mel_class_rows *rows, size_t n_groups, mel_error *err)
{
    size_t *start = mel_alloc(n_groups + 1, sizeof *start);
    mel_status status = MEL_OK;
    if (rows->divided) {
        rows->own_label = own_codes(rows, rows->all.label);
        rows->rows.label = rows->own_label;
        rows->rows.group = NULL; /* the order says it */
    }
    if (start == NULL || (rows->divided && rows->own_label == NULL))
        status = mel_fail_memory(err, "the rows of a space");
    if (status == MEL_OK)
        status = order_rows(rows, n_groups, start, err);
    if (status == MEL_OK)
        status = count_and_cut(rows, n_groups, start, err);
    free(start);
    return status;
}

/* --- sums --------------------------------------------------------------------------------------- */

static size_t slices_at_a_time(size_t n, size_t size)
{
    const size_t some = SUM_BYTES / (size * sizeof(double)), room = some > MOST_SLICES ? some : MOST_SLICES;
    return n < room ? n : room;
}

size_t mel_sum_room_bytes(const mel_class_rows *rows, size_t n, size_t size)
{
    const size_t room = slices_at_a_time(n, size);
    return room * size * sizeof(double) + (2 * room + rows->team->size + 1) * sizeof(size_t);
}

void mel_sum_room_place(mel_sum_room *out, void *memory, size_t n, size_t size)
{
    out->room = slices_at_a_time(n, size);
    out->sum = memory;
    out->at = (size_t *)(out->sum + out->room * size);
    out->place = out->at + out->room;
    out->first = out->place + out->room;
}

/* Slices in the order of the ranks that have them. */
static void deal(const mel_sum_room *room, const mel_class_rows *rows, const mel_slice *slice, size_t n)
{
    const size_t ranks = rows->divided ? rows->team->size : 1;
    size_t *next = room->first;
    memset(next, 0, (ranks + 1) * sizeof *next);
    for (size_t i = 0; i < n; i++)
        next[(rows->divided ? rank_of(rows, slice[i].file) : 0) + 1]++;
    for (size_t r = 0; r < ranks; r++)
        next[r + 1] += next[r];
    for (size_t i = 0; i < n; i++) {
        const size_t rank = rows->divided ? rank_of(rows, slice[i].file) : 0;
        room->place[i] = next[rank];
        room->at[next[rank]++] = i;
    }
    for (size_t r = ranks; r > 0; r--) /* each is now where the next one begins */
        next[r] = next[r - 1];
    next[0] = 0;
}

typedef struct {
    const mel_slice_sums *sums;
    const mel_slice *slice;
    const size_t *at;
} batch;

static void fill_batch(double *sum, size_t place, size_t thread, void *user)
{
    const batch *b = user;
    b->sums->fill(sum, &b->slice[b->at[place]], thread, b->sums->user);
}

void mel_slices_sum(double *out, size_t first_group, const mel_class_rows *rows, const mel_slice_sums *sums,
                    const mel_sum_room *room)
{
    const size_t size = sums->size;
    mel_crew_call(rows, &sums->task);
    for (size_t from = 0, n; from < sums->n; from += n) {
        const mel_slice *slice = sums->slice + from;
        n = sums->n - from < room->room ? sums->n - from : room->room;
        deal(room, rows, slice, n);
        mel_slices_fill(&(mel_slices){ .n_slices = n,
                                       .rows = rows->all.n_rows,
                                       .size = size,
                                       .stride = size,
                                       .sum = room->sum,
                                       .threads = sums->threads,
                                       .fill = fill_batch,
                                       .user = &(batch){ sums, slice, room->at },
                                       .first = rows->divided ? room->first : NULL });
        for (size_t i = 0; i < n; i++)
            for (size_t c = 0; c < size; c++)
                out[(slice[i].group - first_group) * size + c] += room->sum[room->place[i] * size + c];
    }
    mel_crew_leave(rows);
}

mel_status mel_files_sum(double *out, const mel_class_rows *rows, size_t group, const mel_slice_sums *sums,
                         mel_error *err)
{
    const size_t from = rows->group_slice[group], to = rows->group_slice[group + 1];
    mel_slice_sums files = *sums;
    mel_slice *file = mel_alloc(to - from, sizeof *file);
    for (size_t s = from; s < to && file != NULL; s++) /* the slices of a file follow each other */
        if (s > from && rows->slice[s].file == rows->slice[s - 1].file)
            file[files.n - 1].n += rows->slice[s].n;
        else {
            files.n = s == from ? 0 : files.n;
            file[files.n++] = rows->slice[s];
        }
    void *memory = file != NULL ? mel_alloc(1, mel_sum_room_bytes(rows, files.n, files.size)) : NULL;
    if (memory != NULL) {
        mel_sum_room room;
        files.slice = file;
        mel_sum_room_place(&room, memory, files.n, files.size);
        memset(out, 0, files.size * sizeof *out);
        mel_slices_sum(out, group, rows, &files, &room);
    }
    const bool enough = memory != NULL;
    free(file);
    free(memory);
    return enough ? MEL_OK : mel_fail_memory(err, "sums over rows");
}
