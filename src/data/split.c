/* Seeded stratified split. */
#include "data/shared.h"

#include "base/internal.h"

#include <math.h>
#include <stdlib.h>

typedef struct {
    uint64_t cell; /* class, then group */
    size_t row;
} stratum_row;

static int compare(const void *a, const void *b)
{
    const stratum_row *x = a, *y = b;
    if (x->cell != y->cell)
        return x->cell < y->cell ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* Rows of the first part among n that follow `before` others. Rounding the running total rather than
 * each cell keeps the parts of a class, and of the whole, within one row too. */
static size_t first_part(size_t before, size_t n, double share)
{
    const double exact = share * (double)n;
    double take = floor(share * (double)(before + n) + 0.5) - floor(share * (double)before + 0.5);
    take = fmin(fmax(take, floor(exact)), ceil(exact));
    return (size_t)take;
}

static void split_sorted(bool *first, size_t n, const stratum_row *rows, size_t *index, double share,
                         uint64_t seed)
{
    mel_rng rng;
    mel_rng_seed(&rng, seed);
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from; to < n && rows[to].cell == rows[from].cell; to++)
            index[to - from] = rows[to].row;
        mel_rng_shuffle(&rng, to - from, index);
        const size_t take = first_part(from, to - from, share);
        for (size_t i = 0; i < to - from; i++)
            first[index[i]] = i < take;
    }
}

mel_status mel_split(bool *first, size_t n, const uint32_t *label, const uint32_t *group, double share,
                     uint64_t seed, mel_error *err)
{
    if (!(share >= 0.0 && share <= 1.0))
        return mel_fail(err, MEL_EINVAL, "a share of %g rows; it must be from 0 to 1", share);
    stratum_row *rows = mel_alloc(n, sizeof *rows);
    size_t *index = mel_alloc(n, sizeof *index);
    mel_status status = rows != NULL && index != NULL ? MEL_OK : mel_fail_memory(err, "splitting rows");
    if (status == MEL_OK) {
        for (size_t i = 0; i < n; i++)
            rows[i] = (stratum_row){ (uint64_t)label[i] << 32 | (group != NULL ? group[i] : 0), i };
        qsort(rows, n, sizeof *rows, compare);
        split_sorted(first, n, rows, index, share, seed);
    }
    free(rows);
    free(index);
    return status;
}
