/* What the files of the metric room share. */
#ifndef MEL_METRIC_METRIC_H
#define MEL_METRIC_METRIC_H

#include "base/internal.h"
#include "metric/shared.h"

/* A class or group name in a metric, in bytes; longer ones are refused. */
enum { MEL_NAME_BYTES = 1000 };

typedef struct mel_family_ops mel_family_ops;

struct mel_metric {
    mel_family family;
    const mel_family_ops *ops; /* of the family (families/families.h) */
    mel_orientation orientation;
    mel_layout layout;
    char **class_names; /* layout.n_classes */
    char **group_names; /* layout.n_groups when that is above 1, else NULL */
    uint32_t degree;    /* of a polynomial; 2: quadratic, 1: other families */
    size_t size;        /* numbers in a statistics vector */
    size_t per_group;   /* of those, how many each group has */
    /* File order. Linear: a[size]. Fractional: p[size], p0, q[size], q0. Quadratic and polynomial: a, B, ..,
     * size^1 + .. + size^degree. Fair: a[per_group], a block for each pair of groups, lambda. */
    size_t n_coefficients;
    double *coefficient;
    double *low, *high; /* both or neither */
    mel_elicited elicited;
    char *strategy;     /* owned copy behind elicited.strategy */
    double *prevalence; /* fair metrics: groups x classes, else NULL */
};

/* MEL_EINVAL with a sentence unless there are metrics of the family and degree on the layout. */
mel_status mel_family_check(mel_family family, uint32_t degree, const mel_layout *layout, mel_error *err);
enum { MEL_MOST_COEFFICIENTS = 1 << 26 }; /* entries of tensors */
/* base^exponent, or SIZE_MAX when a power from the second up is above MEL_MOST_COEFFICIENTS. */
size_t mel_tensor_size(size_t base, uint32_t exponent);

/* What a metric is besides its numbers. Names are copied; NULL: "0", "1", .. and "1", "2", ... */
typedef struct {
    mel_family family;
    uint32_t degree;
    mel_layout layout;
    const char *const *class_names, *const *group_names;
    mel_orientation orientation;
} mel_metric_kind;
/* With all coefficients and prevalences zero. */
mel_status mel_metric_new(mel_metric **out, const mel_metric_kind *kind, mel_error *err);
/* To be called once the numbers are in place: MEL_EINVAL naming the first coefficient that is not finite, not
 * symmetric or out of range. */
mel_status mel_metric_settle(mel_metric *metric, mel_error *err);
/* Settles and hands over, or frees. */
mel_status mel_metric_finish(mel_metric **out, mel_metric *metric, mel_error *err);

/* The weights of (TP, TN) in a binary linear metric of confusion shares, as a utility. */
typedef struct {
    double m11, m00;
} mel_weights;
mel_status mel_metric_binary_weights(mel_weights *out, const mel_metric *metric, const char *what,
                                     mel_error *err);

#endif
