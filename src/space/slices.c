/* Rows of a space in slices, cut within groups, and sums over them. */
#include "base/reduce.h"
#include "space/predict.h"
#include "space/sample.h"

#include <stdlib.h>

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

mel_status mel_class_rows_arrange(mel_class_rows *rows, size_t n_groups, mel_error *err)
{
    const size_t n = rows->rows.n_rows;
    size_t *start = mel_alloc(n_groups + 1, sizeof *start);
    rows->order = n_groups > 1 ? mel_alloc(n, sizeof *rows->order) : NULL;
    mel_status status = MEL_OK;
    if (start == NULL || (n_groups > 1 && rows->order == NULL))
        status = mel_fail_memory(err, "the rows of a space");
    else if (n_groups > 1)
        status = mel_order_by_group(rows->order, start, n, n_groups, rows->rows.group, err);
    else {
        start[0] = 0;
        start[1] = n;
    }
    if (status == MEL_OK)
        status = cut_rows(rows, n_groups, start, err);
    free(start);
    return status;
}

/* --- sums --------------------------------------------------------------------------------------- */

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
