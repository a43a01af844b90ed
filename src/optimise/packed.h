/* Training rows in blocks: how they lie in memory, and sums over one of them. */
#ifndef MEL_OPTIMISE_PACKED_H
#define MEL_OPTIMISE_PACKED_H

#include "optimise/optimise.h"

enum {
    MEL_PACKED_BLOCK = 256, /* rows of a block */
    MEL_PACKED_MOST_SLICES = 64,
};

/* Some rows, in blocks of one class each. */
typedef struct {
    const mel_weight_size *size;
    /* Basis functions with few different values (clusters): each block then has one set of them, in phi, and
     * no columns for them. */
    bool constant;
    size_t n_blocks;
    double *phi;        /* per block: n_basis */
    uint32_t *class_of; /* of each block */
    uint32_t *n_rows;   /* in each block; the rest is 0 */
    double *value; /* per block: k probabilities, then unless constant n_basis functions, a column each */
} mel_packed_slice;

/* Numbers of a block. */
static inline size_t mel_packed_block(const mel_packed_slice *slice)
{
    return (slice->size->k + (slice->constant ? 0 : slice->size->n_basis)) * MEL_PACKED_BLOCK;
}

struct mel_packed {
    mel_weight_size size;
    size_t n_slices, n_blocks;
    mel_packed_slice *slice;
    double *phi, *value; /* of all slices */
    uint32_t *class_of, *n_rows;
};

/* Adds block b to the sums of a rule, or without one to those of all rows. scratch: 2 k + n_basis +
 * n_directions. */
void mel_packed_add_block(double *sums, const mel_packed_slice *slice, size_t b, const double *weight,
                          double *scratch);

#endif
