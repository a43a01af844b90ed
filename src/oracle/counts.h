/* The two sides of a question as whole people: confusion matrices that add up. */
#ifndef MEL_ORACLE_COUNTS_H
#define MEL_ORACLE_COUNTS_H

#include "base/internal.h"
#include "melicit/oracle.h"

enum { MEL_UNKNOWN_COUNT = -1 };

typedef struct {
    size_t k, n_groups; /* n_groups at least 1 */
    int64_t people;     /* counts are out of this many, of each class if of_each_class */
    bool of_each_class; /* rates */
    int64_t *a, *b;     /* n_groups matrices, k x k, true classes in rows; MEL_UNKNOWN_COUNT where unknown */
    int64_t *size;      /* n_groups x k: people of each true class, the same for both sides */
} mel_counted;

/* people 0: the first of 100, 1,000, 10,000 in which every difference that matters is at least five people.
 */
mel_status mel_counted_make(mel_counted *out, const mel_question *question, uint32_t people, mel_error *err);
void mel_counted_clear(mel_counted *counted);

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
