/* Quantiles by selection. */
#include "elicit/active/select.h"

#include "base/stat.h"

#include <math.h>

double mel_quantile_select(size_t n, double *x, double q)
{
    const double at = q * (double)(n - 1);
    const size_t k = (size_t)at < n - 1 ? (size_t)at : n - 1;
    mel_select(n, x, k);
    return k + 1 < n ? x[k] + (at - (double)k) * (x[k + 1] - x[k]) : x[k];
}

/* 2 and 4.5 deviations do as well as 3. */
static const double counted = 3.0, quartiles = 1.349; /* deviations between the quartiles */

void mel_bound_column(size_t n, const double *x, double *out, size_t stride, double *work)
{
    for (size_t i = 0; i < n; i++)
        work[i] = x[i * stride];
    const double low = mel_quantile_select(n, work, 0.25), high = mel_quantile_select(n, work, 0.75);
    const double middle = 0.5 * (low + high), reach = counted * (high - low) / quartiles;
    for (size_t i = 0; i < n; i++)
        out[i * stride] = fmin(middle + reach, fmax(middle - reach, x[i * stride]));
}

void mel_column_intervals(size_t n, size_t columns, const double *rows, const double *middle, double level,
                          double *column, double *low, double *high)
{
    for (size_t j = 0; j < columns; j++) {
        for (size_t i = 0; i < n; i++)
            column[i] = rows[i * columns + j];
        low[j] = fmin(middle[j], mel_quantile_select(n, column, 1.0 - level));
        high[j] = fmax(middle[j], mel_quantile_select(n, column, level));
    }
}

double mel_cloud_radius(size_t n, size_t columns, const double *rows, const double *middle,
                        const double *unit, double side_level, double level, double *work)
{
    double widest = 0.0;
    for (size_t j = 0; j < columns; j++) {
        for (size_t i = 0; i < n; i++)
            work[i] = rows[i * columns + j];
        const double low = mel_quantile_select(n, work, 1.0 - side_level);
        const double high = mel_quantile_select(n, work, side_level);
        const double width = fmax(high, middle[j]) - fmin(low, middle[j]);
        widest = fmax(widest, 0.5 * (unit != NULL ? unit[j] * width : width));
    }
    for (size_t i = 0; i < n; i++) {
        const double *w = rows + i * columns;
        double farthest = 0.0;
        for (size_t j = 0; j < columns; j++)
            farthest = fmax(farthest, (unit != NULL ? unit[j] : 1.0) * fabs(w[j] - middle[j]));
        work[i] = farthest;
    }
    return fmax(widest, mel_quantile_select(n, work, level));
}

/* Blocks of consecutive samples, compared to see how well chains mix. */
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
