/* The terms of a polynomial, numbered. */
#include "elicit/monomials.h"

#include "base/stat.h"

#include <math.h>
#include <string.h>

size_t mel_monomials_add(size_t q, uint32_t degree, uint32_t order, size_t at, size_t *index,
                         uint32_t *orders, double *weight)
{
    size_t tuple[MEL_MAX_DEGREE] = { 0 };
    for (;;) {
        memcpy(index + at * degree, tuple, order * sizeof *tuple);
        orders[at] = order;
        double repeats = 1.0, run = 1.0;
        for (uint32_t i = 1; i < order; i++) {
            run = tuple[i] == tuple[i - 1] ? run + 1.0 : 1.0;
            repeats *= run;
        }
        weight[at++] = sqrt(mel_factorial(order) / repeats);
        uint32_t i = order;
        while (i > 0 && tuple[i - 1] + 1 == q)
            i--;
        if (i == 0)
            return at;
        const size_t value = tuple[i - 1] + 1;
        for (i--; i < order; i++)
            tuple[i] = value;
    }
}
