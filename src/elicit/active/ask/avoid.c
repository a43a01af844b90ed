/* The last few questions that were put aside. */
#include "elicit/active/ask/avoid.h"

#include "base/la.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 8 };

mel_status mel_avoided_new(mel_avoided *avoided, size_t dimension, mel_error *err)
{
    *avoided = (mel_avoided){ .dimension = dimension, .alike = MEL_ALIKE };
    avoided->row = mel_alloc_zero(dimension, MOST * sizeof *avoided->row);
    return avoided->row != NULL ? MEL_OK : mel_fail_memory(err, "the questions");
}

void mel_avoided_free(mel_avoided *avoided)
{
    free(avoided->row);
    *avoided = (mel_avoided){ 0 };
}

void mel_avoided_add(mel_avoided *avoided, const double *row)
{
    const size_t d = avoided->dimension;
    const double length = mel_norm2(d, row);
    if (!(length > 0.0))
        return;
    double *kept = avoided->row + avoided->n++ % MOST * d;
    for (size_t i = 0; i < d; i++)
        kept[i] = row[i] / length;
}

void mel_avoided_clear(mel_avoided *avoided)
{
    avoided->n = 0;
}

bool mel_avoided_has(const mel_avoided *avoided, const double *row)
{
    if (avoided == NULL || avoided->n == 0)
        return false;
    const size_t d = avoided->dimension, n = avoided->n < MOST ? avoided->n : MOST;
    const double limit = avoided->alike * mel_norm2(d, row);
    for (size_t i = 0; i < n; i++)
        if (fabs(mel_dot(d, avoided->row + i * d, row)) >= limit)
            return true;
    return false;
}
