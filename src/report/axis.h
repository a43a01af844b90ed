/* Axes: the range they show, where data land on them, and ticks at round numbers. */
#ifndef MEL_REPORT_AXIS_H
#define MEL_REPORT_AXIS_H

#include "base/internal.h"

enum { MEL_MOST_TICKS = 40 };

typedef struct {
    double low, high;  /* data at the left or lower and at the right or upper end; low < high */
    bool log;          /* low > 0 */
    bool whole;        /* no ticks between whole numbers */
    bool bare;         /* a title, but no ticks: the unit means nothing to the reader */
    bool grid;         /* lines across the area at the ticks */
    size_t wanted;     /* about how many ticks */
    const char *title; /* NULL: none */
    size_t n_named;    /* ticks with names instead of numbers, at 0.5, 1.5, ...; 0: numbers */
    const char *const *names;
} mel_axis;

typedef struct {
    size_t n;
    double at[MEL_MOST_TICKS];
    int decimals; /* that tell neighbours apart; -1: significant digits (log axes) */
} mel_ticks;

/* MEL_EINVAL when the ends are not finite, out of order, too close to be told apart, or not positive on a
 * log axis. */
mel_status mel_axis_check(const mel_axis *axis, const char *name, mel_error *err);
/* Steps of 1, 2 or 5 times a power of ten; on a log axis powers of ten, then 1-2-5 in each, then
 * ordinary steps when less than a decade is shown. The axis has passed its check. */
void mel_axis_ticks(mel_ticks *out, const mel_axis *axis);
/* 0 at low, 1 at high; outside data land outside. Log axes need value > 0. */
double mel_axis_share(const mel_axis *axis, double value);

/* A range that grows to hold data: start from mel_range_empty. */
typedef struct {
    double low, high;
} mel_range;
static const mel_range mel_range_empty = { 1.0, -1.0 };
void mel_range_add(mel_range *range, double value);
/* Room of `share` of the extent on both sides (in the logarithm when log); a single value gets some extent.
 */
mel_range mel_range_padded(mel_range range, double share, bool log);

#endif
