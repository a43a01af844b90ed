/* How likely samples of values are where comparisons of neighbours are known better than the samples say. */
#include "rank/rank.h"

#include <math.h>
#include <stdlib.h>

enum { SWEEPS = 100 };
static const double close = 1e-9; /* of a probability */

static int compare(const mel_rank_samples *of, const size_t *pair, size_t s)
{
    const double *value = of->values + s * of->n;
    return mel_rank_compare(value[pair[0]], value[pair[1]], of->orientation);
}

/* Samples in which the first of a pair beats the second are weighed until that is as likely as `beats`;
 * returns by how much it was off. Where no sample says one or the other there is nothing to weigh. */
static double agree(double *weight, const mel_rank_samples *of, const size_t *pair, double beats)
{
    double is[3] = { 0.0, 0.0, 0.0 }; /* worse, equal, better */
    for (size_t s = 0; s < of->n_samples; s++)
        is[compare(of, pair, s) + 1] += weight[s];
    const double better = beats - is[1] / 2.0, worse = 1.0 - beats - is[1] / 2.0;
    if (!(is[0] > 0.0 && is[2] > 0.0 && better >= 0.0 && worse >= 0.0))
        return 0.0;
    const double by[3] = { worse / is[0], 1.0, better / is[2] };
    for (size_t s = 0; s < of->n_samples; s++)
        weight[s] *= by[compare(of, pair, s) + 1];
    return fabs(better - is[2]);
}

mel_status mel_rank_reconcile(double *weight, const mel_rank_samples *of, const size_t *order,
                              const double *beats, mel_error *err)
{
    double all = 0.0;
    for (size_t s = 0; s < of->n_samples; s++)
        all += weight[s] = of->weight != NULL ? of->weight[s] : 1.0;
    if (!(all > 0.0))
        return mel_fail(err, MEL_EINVAL, "samples of values that are all impossible");
    for (size_t s = 0; s < of->n_samples; s++)
        weight[s] /= all;
    double off = 1.0;
    for (size_t sweep = 0; sweep < SWEEPS && off > close; sweep++) {
        off = 0.0;
        for (size_t i = 0; i + 1 < of->n; i++)
            off = fmax(off, agree(weight, of, order + i, beats[i]));
    }
    return MEL_OK;
}
