/* The different numbers of a column. */
#include "base/stat.h"
#include "data/labels.h"

#include <stdlib.h>

/* Sorts n numbers and leaves one of each; how many there are. */
static size_t sort_distinct(double *numbers, size_t n)
{
    mel_sort(n, numbers);
    size_t left = 0;
    for (size_t i = 0; i < n; i++)
        if (i == 0 || numbers[i] != numbers[left - 1])
            numbers[left++] = numbers[i];
    return left;
}

enum { FEW = 64 };

/* The different values where they are FEW at most, as classes are: no copy of the column is sorted then. 0:
 * they are more, or there are none. */
static size_t few_distinct(double few[FEW], const double *numbers, size_t n)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        size_t at = 0;
        while (at < found && few[at] != numbers[i])
            at++;
        if (at == FEW)
            return 0;
        if (at == found)
            few[found++] = numbers[i] == 0.0 ? 0.0 : numbers[i]; /* -0 is 0 */
    }
    return found;
}

mel_status mel_distinct_numbers(double **out, size_t *n, const double *numbers, const mel_table *table,
                                mel_error *err)
{
    double few[FEW];
    const size_t n_few = few_distinct(few, numbers, table->n_rows), n_all = n_few > 0 ? n_few : table->n_rows;
    const double *from = n_few > 0 ? few : numbers;
    double *sorted = mel_alloc(n_all, sizeof *sorted);
    if (sorted == NULL)
        return mel_fail_memory(err, "sorting a column");
    for (size_t i = 0; i < n_all; i++)
        sorted[i] = from[i] == 0.0 ? 0.0 : from[i];
    *n = sort_distinct(sorted, n_all);
    *out = sorted;
    return MEL_OK;
}
