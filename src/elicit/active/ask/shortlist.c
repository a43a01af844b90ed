/* The list of candidates that are judged on the samples, and the information of an answer. */
#include "elicit/active/ask/shortlist.h"

#include <math.h>
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
