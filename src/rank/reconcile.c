/* How sure an order is where comparisons of neighbours are known better than draws of all values say. */
#include "rank/rank.h"

#include <math.h>
#include <stdlib.h>

enum { SWEEPS = 100 };
static const double close = 1e-9; /* of a probability */

typedef struct {
    size_t n_samples, n;
    const double *values;
    mel_orientation orientation;
    const size_t *order;
    const double *beats; /* what comparisons say: n - 1 */
    double *weight;      /* of the samples, adding up to 1 */
} work;

static int compare(const work *w, size_t s, size_t i)
{
    const double *value = w->values + s * w->n;
    return mel_rank_compare(value[w->order[i]], value[w->order[i + 1]], w->orientation);
}

/* Samples in which neighbour i beats the next are weighed until that is as likely as the comparison says;
 * returns by how much it was off. Where no sample says one or the other there is nothing to weigh. */
static double agree(const work *w, size_t i)
{
    double is[3] = { 0.0, 0.0, 0.0 }; /* worse, equal, better */
    for (size_t s = 0; s < w->n_samples; s++)
        is[compare(w, s, i) + 1] += w->weight[s];
    const double better = w->beats[i] - is[1] / 2.0, worse = 1.0 - w->beats[i] - is[1] / 2.0;
    if (!(is[0] > 0.0 && is[2] > 0.0 && better > 0.0 && worse > 0.0))
        return 0.0;
    const double by[3] = { worse / is[0], 1.0, better / is[2] };
    for (size_t s = 0; s < w->n_samples; s++)
        w->weight[s] *= by[compare(w, s, i) + 1];
    return fabs(better - is[2]);
}

/* Adds the weight of a sample to its best, which share it; -1, 0, 1 as mel_rank_compare has them. */
static void add_first(double *first, const work *w, size_t s)
{
    const double *value = w->values + s * w->n;
    size_t best = 0;
    double equals = 0.0;
    for (size_t i = 1; i < w->n; i++)
        best = mel_rank_compare(value[i], value[best], w->orientation) > 0 ? i : best;
    for (size_t i = 0; i < w->n; i++)
        equals += mel_rank_compare(value[i], value[best], w->orientation) == 0 ? 1.0 : 0.0;
    for (size_t i = 0; i < w->n; i++)
        if (mel_rank_compare(value[i], value[best], w->orientation) == 0)
            first[i] += w->weight[s] / equals;
}

/* Who is best beats its neighbours: samples are too few to say that of what is almost impossible. */
static void sum_up(double *first, double *whole, const work *w)
{
    *whole = 0.0;
    for (size_t i = 0; i < w->n; i++)
        first[i] = 0.0;
    for (size_t s = 0; s < w->n_samples; s++) {
        add_first(first, w, s);
        *whole += w->weight[s] *
                  mel_rank_order_share(w->n, w->values + s * w->n, w->orientation, w->n, w->order, NULL);
    }
    for (size_t i = 0; i + 1 < w->n; i++) {
        double *one = &first[w->order[i]], *next = &first[w->order[i + 1]];
        *one = fmin(*one, w->beats[i]);
        *next = fmin(*next, 1.0 - w->beats[i]);
        *whole = fmin(*whole, w->beats[i]);
    }
}

mel_status mel_rank_reconcile(double *first, double *whole, size_t n_samples, size_t n, const double *values,
                              mel_orientation orientation, const size_t *order, const double *beats,
                              mel_error *err)
{
    work w = { n_samples, n, values, orientation, order, beats, mel_alloc(n_samples, sizeof *w.weight) };
    if (w.weight == NULL)
        return mel_fail_memory(err, "the order of a pool");
    for (size_t s = 0; s < n_samples; s++)
        w.weight[s] = 1.0 / (double)n_samples;
    double off = 1.0;
    for (size_t sweep = 0; sweep < SWEEPS && off > close; sweep++) {
        off = 0.0;
        for (size_t i = 0; i + 1 < n; i++)
            off = fmax(off, agree(&w, i));
    }
    sum_up(first, whole, &w);
    free(w.weight);
    return MEL_OK;
}
