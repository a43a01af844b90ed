/* Quadratic metrics and polynomials of higher degree: a vector, a symmetric matrix, symmetric tensors. */
#include "base/la.h"
#include "base/stat.h"
#include "metric/families/families.h"
#include "metric/words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* T[h,..,h,s,..,s] with n_h times h = (x - y)/2 and otherwise s = (x + y)/2. `block` is side^(rank - 1). */
static double form(const double *tensor, size_t side, size_t block, uint32_t rank, uint32_t n_h,
                   const double *x, const double *y)
{
    double sum = 0.0;
    for (size_t i = 0; i < side; i++) {
        const double factor = 0.5 * (n_h > 0 ? x[i] - y[i] : x[i] + y[i]);
        const double *inner = tensor + i * block;
        sum += factor *
               (rank == 1 ? *inner : form(inner, side, block / side, rank - 1, n_h > 0 ? n_h - 1 : 0, x, y));
    }
    return sum;
}

static mel_status tensor_value(double *out, const mel_metric *metric, const double *statistics,
                               mel_error *err)
{
    (void)err;
    const size_t n = metric->size;
    const double *tensor = metric->coefficient;
    double sum = 0.0;
    size_t block = 1;
    for (uint32_t d = 1; d <= metric->degree; d++) {
        sum += form(tensor, n, block, d, 0, statistics, statistics) / mel_factorial(d);
        block *= n;
        tensor += block;
    }
    *out = sum;
    return MEL_OK;
}

static mel_status tensor_gradient(double *out, const mel_metric *metric, const double *statistics,
                                  mel_error *err)
{
    (void)err;
    const size_t n = metric->size;
    const double *tensor = metric->coefficient + n;
    memcpy(out, metric->coefficient, n * sizeof *out);
    size_t block = n;
    for (uint32_t d = 2; d <= metric->degree; d++) {
        for (size_t i = 0; i < n; i++)
            out[i] += form(tensor + i * block, n, block / n, d - 1, 0, statistics, statistics) /
                      mel_factorial(d - 1);
        block *= n;
        tensor += block;
    }
    return MEL_OK;
}

/* With x = s + h and y = s - h only odd powers of h remain: T[x,..] - T[y,..] = 2 sum over odd j of
 * (d over j) T[h^j, s^(d-j)]. Every term flips its sign with h, so swapping the points flips the sum. */
static mel_status tensor_difference(double *out, const mel_metric *metric, const double *a, const double *b,
                                    mel_error *err)
{
    (void)err;
    const size_t n = metric->size;
    const double *tensor = metric->coefficient;
    double sum = 0.0;
    size_t block = 1;
    for (uint32_t d = 1; d <= metric->degree; d++) {
        for (uint32_t j = 1; j <= d; j += 2)
            sum += 2.0 * form(tensor, n, block, d, j, a, b) / (mel_factorial(j) * mel_factorial(d - j));
        block *= n;
        tensor += block;
    }
    *out = sum;
    return MEL_OK;
}

static mel_status tensor_normalise(mel_metric *metric, mel_error *err)
{
    return mel_metric_divide_all(metric, mel_norm2(metric->n_coefficients, metric->coefficient), "the norm",
                                 err);
}

/* "[1][0]": indices of a flat place. */
static void show_place(char *text, size_t n, size_t place, size_t side, uint32_t rank)
{
    size_t used = 0, block = 1;
    for (uint32_t d = 1; d < rank; d++)
        block *= side;
    text[0] = '\0';
    for (; block > 0 && used < n; block /= side) {
        const int wrote = snprintf(text + used, n - used, "[%zu]", place / block % side);
        used += wrote > 0 ? (size_t)wrote : n;
        if (block == 1)
            break;
    }
}

size_t mel_tensor_sorted_place(size_t place, size_t side, uint32_t rank)
{
    size_t index[MEL_MAX_DEGREE] = { 0 };
    for (uint32_t d = 0; d < rank; d++) {
        const size_t moved = place % side;
        uint32_t at = d;
        for (; at > 0 && index[at - 1] > moved; at--)
            index[at] = index[at - 1];
        index[at] = moved;
        place /= side;
    }
    size_t sorted = 0;
    for (uint32_t d = 0; d < rank; d++)
        sorted = sorted * side + index[d];
    return sorted;
}

mel_status mel_tensor_symmetric(double *tensor, size_t side, uint32_t rank, const char *name, mel_error *err)
{
    const size_t n = mel_tensor_size(side, rank);
    const double allowed = 1e-9 * mel_norm_inf(n, tensor);
    for (size_t i = 0; i < n; i++) {
        const size_t twin = mel_tensor_sorted_place(i, side, rank);
        if (tensor[i] == tensor[twin])
            continue;
        if (!(fabs(tensor[i] - tensor[twin]) <= allowed)) {
            char here[128], there[128];
            show_place(here, sizeof here, i, side, rank);
            show_place(there, sizeof there, twin, side, rank);
            return mel_fail(err, MEL_EINVAL, "%s%s is %g, but %s%s is %g: not symmetric", name, here,
                            tensor[i], name, there, tensor[twin]);
        }
        tensor[i] = tensor[twin];
    }
    return MEL_OK;
}

static mel_status tensor_settle(mel_metric *metric, mel_error *err)
{
    double *tensor = metric->coefficient + metric->size;
    mel_status status = MEL_OK;
    for (uint32_t d = 2; status == MEL_OK && d <= metric->degree; d++) {
        const char name[] = { (char)('A' + d - 1), '\0' };
        status = mel_tensor_symmetric(tensor, metric->size, d, name, err);
        tensor += mel_tensor_size(metric->size, d);
    }
    return status;
}

/* Entries of a .. of the highest degree. */
static size_t tensor_coefficients(const mel_layout *layout, uint32_t degree)
{
    const size_t size = mel_layout_size(layout);
    size_t sum = 0;
    for (uint32_t d = 1; d <= degree; d++) {
        const size_t n = mel_tensor_size(size, d);
        if (n > MEL_MOST_COEFFICIENTS - sum)
            return SIZE_MAX;
        sum += n;
    }
    return sum;
}

static size_t tensor_fields(mel_field fields[MEL_MAX_FIELDS], const mel_metric *metric)
{
    static const char *const keys[MEL_MAX_DEGREE] = { "a", "B", "C", "D", "E", "F", "G", "H", "I" };
    size_t first = 0;
    for (uint32_t d = 1; d <= metric->degree; d++) {
        fields[d - 1] = (mel_field){ keys[d - 1], first, metric->size, d, 0, false };
        first += mel_tensor_size(metric->size, d);
    }
    return metric->degree;
}

#define TENSORS                                                                                              \
    .value = tensor_value, .gradient = tensor_gradient, .difference = tensor_difference,                     \
    .normalise = tensor_normalise, .settle = tensor_settle, .coefficients = tensor_coefficients,             \
    .fields = tensor_fields, .words = mel_words_polynomial

const mel_family_ops mel_family_quadratic = {
    .is = { .name = "quadratic",
            .shape = "a weighted sum with products of two",
            .degree = 2,
            .curved = true,
            .rates = true },
    TENSORS,
};

const mel_family_ops mel_family_polynomial = {
    .is = { .name = "polynomial",
            .example = "polynomial:3",
            .shape = "a polynomial",
            .curved = true,
            .rates = true },
    TENSORS,
};

static mel_status tensor_make(mel_metric **out, const mel_metric_kind *kind, const double *const *tensor,
                              mel_error *err)
{
    *out = NULL;
    mel_metric *metric = NULL;
    TRY(mel_metric_new(&metric, kind, err));
    double *to = metric->coefficient;
    for (uint32_t d = 1; d <= metric->degree; d++) {
        const size_t n = mel_tensor_size(metric->size, d);
        memcpy(to, tensor[d - 1], n * sizeof *to);
        to += n;
    }
    return mel_metric_finish(out, metric, err);
}

mel_status mel_metric_quadratic(mel_metric **out, const mel_layout *layout, const char *const *class_names,
                                mel_orientation orientation, const double *a, const double *b, mel_error *err)
{
    const mel_metric_kind kind = { MEL_FAMILY_QUADRATIC, 2, *layout, class_names, NULL, orientation };
    const double *const tensor[] = { a, b };
    return tensor_make(out, &kind, tensor, err);
}

mel_status mel_metric_polynomial(mel_metric **out, uint32_t degree, const mel_layout *layout,
                                 const char *const *class_names, mel_orientation orientation,
                                 const double *const *tensor, mel_error *err)
{
    const mel_metric_kind kind = { MEL_FAMILY_POLYNOMIAL, degree, *layout, class_names, NULL, orientation };
    return tensor_make(out, &kind, tensor, err);
}

const double *mel_metric_tensor(const mel_metric *metric, uint32_t degree)
{
    if (degree == 1)
        return metric->coefficient;
    if (metric->ops->is.groups || degree < 1 || degree > metric->degree)
        return NULL;
    const double *tensor = metric->coefficient;
    for (uint32_t d = 1; d < degree; d++)
        tensor += mel_tensor_size(metric->size, d);
    return tensor;
}
