/* Diagnostics of Markov chains: potential scale reduction and effective numbers; systematic resampling. */
#include "elicit/active/posterior/mixing.h"

#include "base/stat.h"

#include <math.h>

/* Of consecutive samples, compared to see how well chains mix. */
enum { BLOCKS = 8 };

typedef struct {
    double mean, squares; /* squares: sum of squared deviations */
} spread;

static spread spread_of(size_t n, const double *z, size_t stride)
{
    spread s = { 0 };
    for (size_t i = 0; i < n; i++)
        s.mean += z[i * stride];
    s.mean /= (double)n;
    for (size_t i = 0; i < n; i++)
        s.squares += (z[i * stride] - s.mean) * (z[i * stride] - s.mean);
    return s;
}

/* Gelman and Rubin's potential scale reduction of one coordinate over blocks of chains. */
static double scale_reduction(size_t count, const double *z, size_t stride)
{
    const size_t length = count / BLOCKS;
    double mean[BLOCKS], within = 0.0;
    for (size_t h = 0; h < BLOCKS; h++) {
        const spread s = spread_of(length, z + h * length * stride, stride);
        mean[h] = s.mean;
        within += s.squares / (double)(length - 1);
    }
    within /= BLOCKS;
    const double between = mel_variance(BLOCKS, mean);
    const double shrunk = (double)(length - 1) / (double)length * within;
    return within > 0.0 ? sqrt((shrunk + between) / within) : INFINITY;
}

/* Correlation of a coordinate with itself one sweep later, over all chains. */
static double lag_one(size_t count, size_t chains, const double *z, size_t stride)
{
    const size_t length = count / chains;
    const spread all = spread_of(count, z, stride);
    double products = 0.0;
    for (size_t c = 0; c < chains; c++)
        for (size_t i = c * length; i + 1 < (c + 1) * length; i++)
            products += (z[i * stride] - all.mean) * (z[(i + 1) * stride] - all.mean);
    return all.squares > 0.0 ? products / all.squares : 1.0;
}

void mel_mixing(size_t count, size_t chains, size_t axes, const double *z, size_t stride, double *reduction,
                double *effective)
{
    double correlation = 0.0;
    *reduction = 1.0;
    for (size_t j = 0; j < axes; j++) {
        *reduction = fmax(*reduction, scale_reduction(count, z + j, stride));
        correlation = fmax(correlation, lag_one(count, chains, z + j, stride));
    }
    *effective = (double)count * (1.0 - correlation) / (1.0 + correlation);
}

void mel_resample(size_t *picked, size_t chains, size_t n, const double *weight, double shift)
{
    double total = 0.0, below = 0.0;
    for (size_t i = 0; i < n; i++)
        total += weight[i];
    size_t i = 0;
    for (size_t c = 0; c < chains; c++) {
        const double target = total * ((double)c + shift) / (double)chains;
        while (i + 1 < n && below + weight[i] <= target)
            below += weight[i++];
        while (i > 0 && weight[i] == 0.0) /* rounding may step past the last one that counts */
            below -= weight[--i];
        picked[c] = i;
    }
}
