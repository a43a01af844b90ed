/* Axes: their range, where data land on them, and ticks at round numbers. */
#include "report/axis.h"

#include <math.h>

/* Below this share of its ends' size an interval has no usable extent in double precision. */
static const double least_extent = 1e-11;

mel_status mel_axis_check(const mel_axis *axis, const char *name, mel_error *err)
{
    if (!isfinite(axis->low) || !isfinite(axis->high) || !isfinite(axis->high - axis->low))
        return mel_fail(err, MEL_EINVAL, "%s axis from %g to %g is not finite", name, axis->low, axis->high);
    if (axis->log && !(axis->low > 0.0))
        return mel_fail(err, MEL_EINVAL, "%s axis starts at %g, which has no logarithm", name, axis->low);
    const double size = fmax(fabs(axis->low), fabs(axis->high));
    if (!(axis->high - axis->low > least_extent * size))
        return mel_fail(err, MEL_EINVAL, "%s axis from %g to %g has no extent", name, axis->low, axis->high);
    return MEL_OK;
}

/* The largest of 1, 2, 5, 10 times a power of ten that gives about the wanted number of steps. */
static double nice_step(double extent, size_t wanted)
{
    const double raw = extent / (double)(wanted != 0 ? wanted : 1);
    const double power = pow(10.0, floor(log10(raw)));
    const double head = raw / power;
    return power * (head < 1.5 ? 1.0 : head < 3.5 ? 2.0 : head < 7.5 ? 5.0 : 10.0);
}

static void linear_ticks(mel_ticks *out, const mel_axis *axis)
{
    double step = nice_step(axis->high - axis->low, axis->wanted);
    if (axis->whole && step < 1.0)
        step = 1.0;
    const double slack = 1e-9;
    const double first = ceil(axis->low / step - slack), last = floor(axis->high / step + slack);
    for (size_t k = 0; k < MEL_MOST_TICKS && first + (double)k <= last; k++) {
        const double at = (first + (double)k) * step;
        out->at[out->n++] = at == 0.0 ? 0.0 : at; /* no minus zero */
    }
    const double digits = -floor(log10(step) + slack);
    out->decimals = digits > 0.0 ? (int)digits : 0;
}

static void log_ticks(mel_ticks *out, const mel_axis *axis)
{
    static const double heads[] = { 1.0, 2.0, 5.0 };
    const double decades = log10(axis->high / axis->low);
    const size_t n_heads = decades <= 3.0 ? 3 : 1;
    const double every = n_heads == 3 ? 1.0 : ceil(decades / (double)(axis->wanted + 1));
    const double slack = 1e-9;
    const double first = floor(log10(axis->low)), last = log10(axis->high) + slack;
    for (size_t k = 0; first + (double)k <= last; k++) {
        const double power = first + (double)k;
        for (size_t i = 0; i < n_heads && out->n < MEL_MOST_TICKS; i++) {
            const double at = heads[i] * pow(10.0, power);
            if (fmod(power, every) == 0.0 && at >= axis->low * (1.0 - slack) &&
                at <= axis->high * (1.0 + slack))
                out->at[out->n++] = at;
        }
    }
    out->decimals = -1;
}

void mel_axis_ticks(mel_ticks *out, const mel_axis *axis)
{
    *out = (mel_ticks){ .n = 0 };
    if (axis->n_named != 0)
        for (; out->n < axis->n_named && out->n < MEL_MOST_TICKS; out->n++)
            out->at[out->n] = (double)(axis->n_named - out->n) - 0.5;
    else if (axis->log && axis->high / axis->low >= 10.0)
        log_ticks(out, axis);
    else
        linear_ticks(out, axis);
}

double mel_axis_share(const mel_axis *axis, double value)
{
    if (axis->log)
        return log(value / axis->low) / log(axis->high / axis->low);
    return (value - axis->low) / (axis->high - axis->low);
}

void mel_range_add(mel_range *range, double value)
{
    const bool empty = range->low > range->high;
    if (empty || value < range->low)
        range->low = value;
    if (empty || value > range->high)
        range->high = value;
}

mel_range mel_range_padded(mel_range range, double share, bool log_scale)
{
    if (log_scale) {
        const double factor = range.high / range.low > 1.0001 ? pow(range.high / range.low, share) : 1.2;
        return (mel_range){ range.low / factor, range.high * factor };
    }
    const double size = fmax(fabs(range.low), fabs(range.high));
    double room = share * (range.high - range.low);
    if (!(range.high - range.low > 1e-9 * size))
        room = size > 0.0 ? 0.1 * size : 0.5;
    return (mel_range){ range.low - room, range.high + room };
}
