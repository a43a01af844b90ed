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

/* The whole numbers that statistics are shown as, out of so many people. */
void mel_shown_counts(int64_t *out, size_t n, const double *statistics, uint32_t people);
/* How many of them are of each class: n_classes numbers; of rates, all of each class. */
void mel_shown_totals(int64_t *out, const mel_layout *layout, const double *class_share, uint32_t people);

#endif
