/* Intervals of the coefficients of a linear metric from the last intervals of a search. */
#include "elicit/search/bounds.h"
#include "metric/shared.h"

#include <math.h>

/* x / (x + rest), also for infinite x; rest > 0 unless x is. */
static double share(double x, double rest)
{
    if (isinf(x))
        return isinf(rest) ? 0.0 : 1.0;
    return x + rest > 0.0 ? x / (x + rest) : 0.0;
}

void mel_bounds_normalise(size_t n, double *low, double *high)
{
    double least = 0.0, most = 0.0;
    size_t unbounded = 0;
    for (size_t i = 0; i < n; i++) {
        least += low[i];
        most += isinf(high[i]) ? 0.0 : high[i];
        unbounded += isinf(high[i]) ? 1 : 0;
    }
    for (size_t i = 0; i < n; i++) {
        const size_t others = unbounded - (isinf(high[i]) ? 1 : 0);
        const double rest_most = others > 0 ? INFINITY : fmax(most - (isinf(high[i]) ? 0.0 : high[i]), 0.0);
        const double rest_least = fmax(least - low[i], 0.0);
        low[i] = share(low[i], rest_most);
        high[i] = rest_least > 0.0 ? share(high[i], rest_least) : 1.0;
    }
}

void mel_bounds_negate(size_t n, double *a, double *low, double *high)
{
    for (size_t i = 0; i < n; i++) {
        const double least = low[i];
        a[i] = -a[i];
        low[i] = -high[i];
        high[i] = -least;
    }
}

double mel_bounds_radius(size_t n, const double *low, const double *high)
{
    double radius = 0.0;
    for (size_t i = 0; i < n; i++)
        radius = fmax(radius, 0.5 * (high[i] - low[i]));
    return radius;
}

mel_status mel_bounds_metric(mel_metric **out, mel_family family, const mel_layout *layout,
                             const char *const *class_names, const double *a, const double *low,
                             const double *high, mel_error *err)
{
    const mel_status status = mel_metric_linear(out, family, layout, class_names, MEL_UTILITY, a, err);
    if (status != MEL_OK || low == NULL)
        return status;
    return mel_metric_set_intervals(*out, low, high, err);
}
