/* What the files of the metric room share. */
#ifndef MEL_METRIC_METRIC_H
#define MEL_METRIC_METRIC_H

#include "base/internal.h"
#include "melicit/metric.h"

/* A class or group name in a metric, in bytes; longer ones are refused. */
enum { MEL_NAME_BYTES = 1000 };

struct mel_metric {
    mel_family family;
    mel_orientation orientation;
    mel_layout layout;
    char **class_names; /* layout.n_classes */
    char **group_names; /* layout.n_groups when that is above 1, else NULL */
    size_t size;        /* numbers in a statistics vector */
    /* File order. Linear: a[size]. Fractional: p[size], p0, q[size], q0. */
    size_t n_coefficients;
    double *coefficient;
    double *low, *high; /* both or neither */
    mel_elicited elicited;
    char *strategy; /* owned copy behind elicited.strategy */
};

static inline bool mel_family_is_fractional(mel_family family)
{
    return family == MEL_FAMILY_LINEAR_FRACTIONAL || family == MEL_FAMILY_DIAGONAL_LINEAR_FRACTIONAL;
}

/* MEL_EINVAL with a sentence unless this library can make metrics of the family on the layout. */
mel_status mel_family_check(mel_family family, const mel_layout *layout, mel_error *err);

/* Everything but the coefficients, which are zero. group_names: NULL for "1", "2", .... */
mel_status mel_metric_new(mel_metric **out, mel_family family, const mel_layout *layout,
                          const char *const *class_names, const char *const *group_names,
                          mel_orientation orientation, mel_error *err);
/* MEL_EINVAL naming the first coefficient that is not finite. */
mel_status mel_metric_check_coefficients(const mel_metric *metric, mel_error *err);

/* The weights of (TP, TN) in a binary linear metric of confusion shares, as a utility. */
typedef struct {
    double m11, m00;
} mel_weights;
mel_status mel_metric_binary_weights(mel_weights *out, const mel_metric *metric, const char *what,
                                     mel_error *err);

/* "F1", "weighted accuracy 7:1": for people. */
void mel_named_title(char *title, size_t n, mel_named metric, double parameter);

#endif
