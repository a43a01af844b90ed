/* The list of candidates that are judged on the samples, and the information of an answer. */
#include "elicit/active/ask/shortlist.h"

#include "base/la.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void mel_shortlist_new(mel_shortlist *list, size_t most, size_t size, double *room)
{
    *list = (mel_shortlist){ .size = size, .most = most };
    for (size_t i = 0; i < most; i++)
        list->at[i] = (mel_candidate){ .c = room + 2 * i * size, .delta = room + (2 * i + 1) * size };
}

mel_candidate *mel_shortlist_admit(mel_shortlist *list, double score, const double *c)
{
    if (!(score > 0.0) || !isfinite(score))
        return NULL;
    size_t at = list->n;
    if (at < list->most) {
        list->n++;
    } else {
        at = 0;
        for (size_t i = 1; i < list->most; i++)
            if (list->at[i].score < list->at[at].score)
                at = i;
        if (list->at[at].score >= score)
            return NULL;
    }
    mel_candidate *k = &list->at[at];
    k->score = score;
    memcpy(k->c, c, list->size * sizeof(double));
    memset(k->delta, 0, list->size * sizeof(double));
    return k;
}

double mel_entropy(double p)
{
    return p <= 0.0 || p >= 1.0 ? 0.0 : -(p * log2(p) + (1.0 - p) * log2(1.0 - p));
}

mel_outlook mel_outlook_of(size_t n, const double *likely, double *share)
{
    double known = 0.0;
    *share = 0.0;
    for (size_t i = 0; i < n; i++) {
        *share += likely[i] / (double)n;
        known += mel_entropy(likely[i]) / (double)n;
    }
    return (mel_outlook){ .information = fmax(0.0, mel_entropy(*share) - known) };
}

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
