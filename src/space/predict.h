/* Plug-in predictions of rows, a block at a time. */
#ifndef MEL_SPACE_PREDICT_H
#define MEL_SPACE_PREDICT_H

#include "base/internal.h"

/* Rows of a block, so that their probabilities stay in the nearest memory; a multiple of the lanes. */
size_t mel_block_rows(size_t n_classes);
/* Doubles that mel_predict_block borrows. */
size_t mel_block_scratch(size_t n_classes);
/* Predictions (room for mel_block_rows) of 1 <= n <= mel_block_rows rows: probability[0..n) when order is
 * NULL, else the rows order[0..n). Each row's scores are added up in the order of the classes, whatever block
 * the row is in; a diagonal gain (mel_gain_diagonal) spares the sums and gives the same. */
void mel_predict_block(uint32_t *prediction, size_t n, size_t n_classes, const double *probability,
                       const uint32_t *order, const double *gain, bool diagonal, double *scratch);

/* Whether nothing is gained off the diagonal. */
bool mel_gain_diagonal(size_t n_classes, const double *gain);

/* Rows by group and, within a group, in their own order: order[start[g]..start[g + 1]) are those of group g.
 * start has n_groups + 1 entries. MEL_EDATA for groups out of range, MEL_ELIMIT beyond 2^32 rows. */
mel_status mel_order_by_group(uint32_t *order, size_t *start, size_t n, size_t n_groups,
                              const uint32_t *group, mel_error *err);

#endif
