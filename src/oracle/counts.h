/* The two sides of a question as whole people: confusion matrices that add up. */
#ifndef MEL_ORACLE_COUNTS_H
#define MEL_ORACLE_COUNTS_H

#include "base/internal.h"
#include "melicit/oracle.h"

static inline int64_t mel_counted_at(const mel_counted *counted, bool side_b, size_t group, size_t row,
                                     size_t column)
{
    const int64_t *side = side_b ? counted->b : counted->a;
    return side[(group * counted->k + row) * counted->k + column];
}

/* Whole numbers that sum to total and are as close as can be to share[i]/sum(share)*total: floors first,
 * the rest to the largest remainders, ties to the first. Negative shares count as zero. */
void mel_round_to_total(int64_t *out, const double *share, size_t n, int64_t total);

#endif
