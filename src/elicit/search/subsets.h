/* Sets of groups that move apart from the others. The differences between groups that a set shows are those
 * of the pairs that it cuts, one group inside and one outside; as many sets as there are pairs tell all pairs
 * from each other when the matrix of cuts is regular. */
#ifndef MEL_ELICIT_SEARCH_SUBSETS_H
#define MEL_ELICIT_SEARCH_SUBSETS_H

#include "base/internal.h"

/* member: n_groups(n_groups - 1)/2 sets of one or two groups, one flag per group (the fewer move, the more
 * differences count beside mistakes, and the better they are known). The largest over the smallest singular
 * value of their matrix of cuts is 1, 2, 5.8, 6, 4, 5, 6 for 2 to 8 groups, and n_groups - 2 beyond. */
void mel_subsets(bool *member, size_t n_groups);
/* Half of the groups, the smaller half when their number is odd: one set, which cuts the most pairs. */
void mel_subset_half(bool *member, size_t n_groups);
/* One number per pair of groups, in the order 1-2, 1-3, .., 2-3, ..: 1 when the set cuts it, else 0. */
void mel_subset_cuts(double *cut, const bool *member, size_t n_groups);

#endif
