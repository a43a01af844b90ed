/* The rows of a sample: checked, and dealt out by score so that what follows works on small parts. */
#ifndef MEL_SPACE_ROWS_H
#define MEL_SPACE_ROWS_H

#include "base/internal.h"

/* Rows are read in slices whose number depends on n alone, each by one thread. */
typedef struct {
    size_t n;
    const double *score;
    const uint8_t *role;
    const double *weight; /* NULL: all 1 */
    size_t n_slices;
    double low, high; /* of the scores */
    double scale[2];  /* weight * scale[0] * scale[1] is in units, of which there are less than 2^62 */
} mel_rows;

/* Where the scores of each role go: places (role, bucket), role by role, and in a role bucket by
 * bucket in order of the scores. One more place counts the rows that are left out (other roles, weight 0). */
typedef struct {
    size_t n_buckets, n_places; /* buckets of one role; 2 n_buckets + 1 */
    /* Buckets of equal width in the score itself, or else in its key; the outer ones are open. */
    bool by_value;
    double half_low, scale; /* by value */
    double first, last;     /* 0 and n_buckets - 1 */
    uint64_t least;         /* by key */
    unsigned shift;
    size_t *count;  /* n_slices x n_places: rows; mel_rows_places turns them into positions */
    uint64_t *mass; /* the same for weights in units; NULL without weights */
} mel_deal;

/* Checks the rows (MEL_EDATA names the first one that is wrong), chooses the buckets and counts what goes
 * into each. The caller sets n, score, role and weight; the call sets the rest. */
mel_status mel_rows_count(mel_deal *out, mel_rows *rows, mel_error *err);
void mel_deal_free(mel_deal *deal);
/* Where bucket b of a role starts among the rows of that role, and the weight before it, both at
 * [role * (n_buckets + 1) + b], with the end of the role as bucket n_buckets. count becomes the position
 * of each slice's next row. Returns the total weight of all rows. */
uint64_t mel_rows_places(mel_deal *deal, const mel_rows *rows, size_t *start, uint64_t *mass_before);
/* Writes the keys (and the weights in units) of each role to their places. */
void mel_rows_scatter(mel_deal *deal, const mel_rows *rows, uint64_t *const key[2], uint64_t *const mass[2]);

#endif
