/* Quantiles by selection. */
#include "elicit/active/select.h"

#include <math.h>

static void swap(double *x, size_t i, size_t j)
{
    const double held = x[i];
    x[i] = x[j];
    x[j] = held;
}

/* Moves the median of the first, middle and last of x[low..high] to the middle. */
static double middle_of_three(double *x, size_t low, size_t high)
{
    const size_t middle = low + (high - low) / 2;
    if (x[middle] < x[low])
        swap(x, middle, low);
    if (x[high] < x[low])
        swap(x, high, low);
    if (x[high] < x[middle])
        swap(x, high, middle);
    return x[middle];
}

/* Hoare's selection: afterwards x[k] is where sorting would put it, nothing larger before, nothing
 * smaller behind. */
static void select_at(double *x, size_t n, size_t k)
{
    size_t low = 0, high = n - 1;
    while (low < high) {
        const double pivot = middle_of_three(x, low, high);
        size_t i = low, j = high;
        while (i <= j) {
            while (x[i] < pivot)
                i++;
            while (x[j] > pivot)
                j--;
            if (i > j)
                break;
            swap(x, i, j);
            i++;
            if (j == 0)
                break;
            j--;
        }
        if (k <= j)
            high = j;
        else if (k >= i)
            low = i;
        else
            return;
    }
}

double mel_quantile_select(size_t n, double *x, double q)
{
    const double at = q * (double)(n - 1);
    const size_t k = (size_t)at < n - 1 ? (size_t)at : n - 1;
    select_at(x, n, k);
    if (k + 1 >= n)
        return x[k];
    double next = x[k + 1];
    for (size_t i = k + 2; i < n; i++)
        next = x[i] < next ? x[i] : next;
    return x[k] + (at - (double)k) * (next - x[k]);
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
