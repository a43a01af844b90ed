/* Sums over rows by files and ranks. */
#include "data/row_sums.h"

#include "base/reduce.h"
#include "base/team.h"

#include <stdlib.h>
#include <string.h>

size_t mel_row_files(const mel_shards *shards)
{
    return shards != NULL && shards->n > 0 ? shards->n : 1;
}

bool mel_rows_divided(const mel_shards *shards)
{
    return shards != NULL && shards->n > 0 && shards->here != NULL;
}

size_t mel_row_file_start(const mel_shards *shards, size_t n_rows, size_t file)
{
    if (shards == NULL || shards->n == 0)
        return file == 0 ? 0 : n_rows;
    return shards->here != NULL ? shards->here[file] : shards->start[file];
}

size_t mel_rows_of_all(const mel_shards *shards, size_t n_rows)
{
    return mel_rows_divided(shards) ? shards->start[shards->n] : n_rows;
}

size_t mel_row_place(const mel_shards *shards, size_t row)
{
    size_t s = 0;
    if (!mel_rows_divided(shards))
        return row;
    while (row >= shards->here[s + 1])
        s++;
    return shards->start[s] + row - shards->here[s];
}

/* --- slices ------------------------------------------------------------------------------------- */

void mel_row_slices_clear(mel_row_slices *slices)
{
    free(slices->place);
    *slices = (mel_row_slices){ 0 };
}

mel_status mel_row_slices_make(mel_row_slices *out, size_t n_files, const size_t *rows, const size_t *begin,
                               bool divided, size_t slice_rows, size_t most, mel_error *err)
{
    const size_t of_file = most > n_files ? most / n_files : 1, ranks = divided ? mel_team_get()->size : 1;
    *out = (mel_row_slices){ 0 };
    size_t *slices = mel_alloc_zero(n_files + 1, sizeof *slices);
    for (size_t s = 0; s < n_files && slices != NULL; s++) {
        const size_t wanted = rows[s] / slice_rows + 1;
        slices[s + 1] = slices[s] + (wanted < of_file ? wanted : of_file);
        out->n_rows += rows[s];
    }
    const size_t n = slices != NULL ? slices[n_files] : 0;
    size_t *room = slices != NULL ? mel_alloc_zero(4 * n + ranks + 1, sizeof *room) : NULL;
    if (room == NULL) {
        free(slices);
        return mel_fail_memory(err, "slices of rows");
    }
    size_t *at = room + 3 * n, *first = room + 4 * n;
    out->n_slices = mel_slices_deal(first, at, room, slices, divided, 0, n_files);
    out->place = room;
    out->from = room + n;
    out->to = room + 2 * n;
    out->first = divided ? first : NULL;
    for (size_t s = 0; s < n_files; s++) {
        const size_t here = begin[s + 1] - begin[s], m = slices[s + 1] - slices[s];
        for (size_t j = 0; j < m; j++) {
            const size_t place = out->place[slices[s] + j];
            out->from[place] = begin[s] + here * j / m;
            out->to[place] = begin[s] + here * (j + 1) / m;
        }
    }
    free(slices);
    return MEL_OK;
}

/* --- sums --------------------------------------------------------------------------------------- */

typedef struct {
    const mel_row_sums *of;
    const size_t *at;    /* which file is where */
    const double *begun; /* what the first file goes on from */
} summing;

static void sum_file(double *sum, size_t place, size_t thread, void *user)
{
    const summing *s = user;
    const mel_row_sums *of = s->of;
    const size_t file = s->at[place];
    (void)thread;
    if (file == 0)
        memcpy(sum, s->begun, of->size * sizeof *sum);
    else
        memset(sum, 0, of->size * sizeof *sum);
    of->add(sum, mel_row_file_start(of->shards, of->n_rows, file),
            mel_row_file_start(of->shards, of->n_rows, file + 1), of->user);
}

mel_status mel_rows_sum(double *sum, const mel_row_sums *of, mel_error *err)
{
    const size_t n = mel_row_files(of->shards), size = of->size;
    const bool divided = mel_rows_divided(of->shards);
    if (n == 1 && !divided) {
        of->add(sum, 0, of->n_rows, of->user);
        return MEL_OK;
    }
    double *part = mel_alloc(n, size * sizeof *part);
    size_t *room = mel_alloc(2 * n + mel_team_get()->size + 1, sizeof *room);
    if (part == NULL || room == NULL) {
        free(part);
        free(room);
        return mel_fail_memory(err, "sums over rows");
    }
    size_t *at = room, *place = room + n, *first = room + 2 * n;
    (void)mel_slices_deal(first, at, place, NULL, divided, 0, n);
    mel_slices_fill(&(mel_slices){ .n_slices = n,
                                   .size = size,
                                   .stride = size,
                                   .sum = part,
                                   .threads = 1,
                                   .fill = sum_file,
                                   .user = &(summing){ of, at, sum },
                                   .first = divided ? first : NULL });
    memcpy(sum, part + place[0] * size, size * sizeof *sum);
    for (size_t s = 1; s < n; s++)
        for (size_t c = 0; c < size; c++)
            sum[c] += part[place[s] * size + c];
    free(part);
    free(room);
    return MEL_OK;
}
