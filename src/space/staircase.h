/* A sample's staircase: what every threshold achieves, and the hull of it. */
#ifndef MEL_SPACE_STAIRCASE_H
#define MEL_SPACE_STAIRCASE_H

#include "space/upper_boundary.h"

#include <stdatomic.h>

/* Scores of each role (MEL_ROW_NEGATIVE, MEL_ROW_POSITIVE) in ascending order, next to which nothing is
 * needed to count what lies below a threshold: 8 bytes a row, 16 with weights. Rows of weight 0 are
 * left out. */
typedef struct {
    atomic_size_t users; /* faces that share it */
    size_t n[2];
    uint64_t *key[2];
    uint64_t *below[2]; /* weight of the rows before; NULL: all weights are 1 */
    uint64_t weight[2], total;
    double low, high; /* of the scores */
    mel_upper_boundary hull;
    mel_rule *rule; /* one per vertex of the hull, the last one included */
} mel_staircase;

mel_status mel_staircase_new(mel_staircase **out, size_t n, const double *score, const uint8_t *role,
                             const double *weight, mel_error *err);
mel_staircase *mel_staircase_share(mel_staircase *staircase);
/* Frees it when the last user is gone; accepts NULL and half-built ones. */
void mel_staircase_release(mel_staircase *staircase);

/* At most n[role] scores of a role in ascending order, with the share of everything that each weighs; how
 * many there are. Different ones in excess of `most` are put together with their neighbours. */
size_t mel_staircase_scores(double *score, double *weight, const mel_staircase *staircase, size_t role,
                            size_t most);
mel_point mel_staircase_rule(const mel_staircase *staircase, mel_rule rule);
void mel_staircase_sweep(const mel_staircase *staircase, size_t n, const double *threshold, double *tp,
                         double *tn);

#endif
