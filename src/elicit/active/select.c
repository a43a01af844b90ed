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
