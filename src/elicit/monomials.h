/* The monomials of polynomial metrics, as both strategies number them. */
#ifndef MEL_ELICIT_MONOMIALS_H
#define MEL_ELICIT_MONOMIALS_H

#include "base/internal.h"
#include "melicit/metric.h"

/* All ascending tuples of `order` coordinates out of q, in lexicographic order, as monomials from `at` on:
 * into index (rows of `degree` numbers, of which the first `order` count), orders, and weight, the root of
 * how often the entry is in its symmetric tensor. Returns the next place. */
size_t mel_monomials_add(size_t q, uint32_t degree, uint32_t order, size_t at, size_t *index,
                         uint32_t *orders, double *weight);

#endif
