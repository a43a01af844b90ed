/* From scores of a block of rows to losses, residuals and weights of class pairs. */
#include "model/kernel.h"

#include "base/stat.h"

#include <math.h>
#include <string.h>

enum { ROWS_AT_A_TIME = 64 };

/* Loss of one row of two classes with score z; *z becomes the residual. */
static double residual_two(double weight, uint32_t y, double *z, double *pair)
{
    const double tail = exp(-fabs(*z)); /* of the less likely class, relative to the other */
    const double small = tail / (1.0 + tail), large = 1.0 / (1.0 + tail);
    const bool second_likely = *z >= 0.0;
    const double margin = y == 1 ? *z : -*z;
    const double loss = log1p(tail) + (margin < 0.0 ? -margin : 0.0);
    if (pair != NULL)
        *pair = weight * small * large;
    /* p - 1 is minus the other probability: nothing cancels. */
    if (y == 1)
        *z = second_likely ? -weight * small : -weight * large;
    else
        *z = second_likely ? weight * large : weight * small;
    return weight * loss;
}

static double two_classes(const mel_objective *obj, size_t first, size_t n, double *score, double *pair)
{
    mel_sum loss = { 0 };
    for (size_t i = 0; i < n; i++) {
        const double weight = obj->weight != NULL ? obj->weight[first + i] : 1.0;
        double *s = pair != NULL ? pair + i : NULL;
        if (weight == 0.0) /* even a row out of range counts nothing */
            score[i] = 0.0;
        if (weight == 0.0 && s != NULL)
            *s = 0.0;
        if (weight != 0.0)
            mel_sum_add(&loss, residual_two(weight, obj->y[first + i], score + i, s));
    }
    return mel_sum_value(&loss);
}

/* --- three classes and more --------------------------------------------------------------------- */

/* exp(x) for x <= 0 to the last digit but one, NaN for NaN, 0 below exp(-708): 2^k times the Taylor series on
 * |r| <= ln(2)/2, whose rest is 4e-18; even and odd powers side by side. */
static inline double exponential(double x)
{
    const double magic = 6755399441055744.0 + 1023.0; /* 1.5 * 2^52: the whole part moves to the low bits */
    const double shifted = (x < -708.0 ? -708.0 : x) * 1.4426950408889634 + magic, k = shifted - magic;
    const double r = (x - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10, s = r * r;
    const double even =
        0.5 +
        s * (1.0 / 24 + s * (1.0 / 720 + s * (1.0 / 40320 + s * (1.0 / 3628800 + s * (1.0 / 479001600)))));
    const double odd =
        1.0 / 6 + s * (1.0 / 120 +
                       s * (1.0 / 5040 + s * (1.0 / 362880 + s * (1.0 / 39916800 + s * (1.0 / 6227020800)))));
    uint64_t bits;
    double power;
    memcpy(&bits, &shifted, sizeof bits);
    bits <<= 52;
    memcpy(&power, &bits, sizeof power);
    return x < -708.0 ? 0.0 : power * (1.0 + (r + s * (even + r * odd)));
}

/* Scores become exponentials of their differences from the row's largest. Padding is far below it. Lanes have
 * maxima of their own, which are compared at the end. */
MEL_VECTORISED
static void exponentials(size_t n, size_t ld, double *restrict z, double *restrict top)
{
    for (size_t i = 0; i < n; i++) {
        double *row = z + i * ld, most[MEL_LANES];
        for (size_t lane = 0; lane < MEL_LANES; lane++)
            most[lane] = row[lane];
        for (size_t c = MEL_LANES; c < ld; c += MEL_LANES)
            for (size_t lane = 0; lane < MEL_LANES; lane++)
                most[lane] = row[c + lane] > most[lane] ? row[c + lane] : most[lane];
        for (size_t lane = 1; lane < MEL_LANES; lane++)
            most[0] = most[lane] > most[0] ? most[lane] : most[0];
        top[i] = most[0];
        for (size_t c = 0; c < ld; c++)
            row[c] -= most[0];
    }
    for (size_t i = 0; i < n * ld; i++)
        z[i] = exponential(z[i]);
}

/* The weights of class pairs of a row. Whole vectors are written: what is too much lies where the next class
 * follows. */
static inline void class_pairs(size_t k, double weight, const double *restrict p, double *restrict pair)
{
    for (size_t c = 1; c < k; c++) {
        const double a = weight * p[c];
        for (size_t e = 0; e < c; e += MEL_LANES)
            for (size_t lane = 0; lane < MEL_LANES; lane++)
                pair[e + lane] = a * p[e + lane];
        pair += c;
    }
}

/* Exponentials become residuals; sum: what those of a row add up to. */
static inline void residuals_of(size_t n, size_t ld, const mel_objective *obj, const double *weight,
                                const uint32_t *y, double *z, double *pair, double *sum)
{
    for (size_t i = 0; i < n; i++, z += ld) {
        const double times = weight != NULL ? weight[i] : 1.0;
        const uint64_t own = y[i];
        double others[MEL_LANES] = { 0.0 }; /* 1 - p_y without cancellation */
        for (size_t c = 0; c < ld; c += MEL_LANES)
            for (size_t lane = 0; lane < MEL_LANES; lane++)
                others[lane] += c + lane == own ? 0.0 : z[c + lane];
        for (size_t lane = 1; lane < MEL_LANES; lane++)
            others[0] += others[lane];
        sum[i] = z[own] + others[0];
        const double share = 1.0 / sum[i];
        for (size_t c = 0; c < ld; c++)
            z[c] *= share;
        if (pair != NULL)
            class_pairs(obj->n_classes, times, z, pair + i * obj->ld_pair);
        for (size_t c = 0; c < ld; c++)
            z[c] *= times;
        z[own] = -times * (others[0] * share);
    }
}

/* Few classes are most common, and loops of a known length faster. */
MEL_VECTORISED
static void residuals(size_t n, const mel_objective *obj, const double *weight, const uint32_t *y, double *z,
                      double *pair, double *sum)
{
    if (obj->ld == MEL_LANES)
        residuals_of(n, MEL_LANES, obj, weight, y, z, pair, sum);
    else if (obj->ld == (size_t)2 * MEL_LANES)
        residuals_of(n, (size_t)2 * MEL_LANES, obj, weight, y, z, pair, sum);
    else
        residuals_of(n, obj->ld, obj, weight, y, z, pair, sum);
}

/* The logarithm of a product of many sums, 1 to k each, instead of many logarithms. */
static double losses(size_t n, const double *weight, const double *below, const double *sum)
{
    static const double large = 1e200;
    double loss = 0.0, product = 1.0;
    for (size_t i = 0; i < n; i++) {
        if (weight != NULL) {
            loss += weight[i] == 0.0 ? 0.0 : weight[i] * (below[i] + log(sum[i]));
            continue;
        }
        loss += below[i];
        product *= sum[i];
        if (product > large) {
            loss += log(product);
            product = 1.0;
        }
    }
    return loss + log(product);
}

/* At most ROWS_AT_A_TIME rows. */
static double many_classes(const mel_objective *obj, size_t first, size_t n, double *score, double *pair)
{
    static const double far_below = -1e300;
    const size_t k = obj->n_classes, ld = obj->ld;
    const double *weight = obj->weight != NULL ? obj->weight + first : NULL;
    const uint32_t *y = obj->y + first;
    double below[ROWS_AT_A_TIME], top[ROWS_AT_A_TIME], sum[ROWS_AT_A_TIME];
    for (size_t i = 0; i < n; i++) {
        double *z = score + i * ld;
        if (weight != NULL && weight[i] == 0.0) /* even a row out of range counts nothing */
            memset(z, 0, k * sizeof *z);
        for (size_t c = k; c < ld; c++)
            z[c] = far_below;
        below[i] = -z[y[i]];
    }
    exponentials(n, ld, score, top);
    for (size_t i = 0; i < n; i++)
        below[i] += top[i];
    residuals(n, obj, weight, y, score, pair, sum);
    for (size_t i = 0; i < n && pair != NULL; i++)
        for (size_t q = obj->n_pairs; q < obj->ld_pair; q++)
            pair[i * obj->ld_pair + q] = 0.0;
    return losses(n, weight, below, sum);
}

double mel_block_residuals(const mel_objective *obj, size_t first, size_t n, double *score, double *pair)
{
    if (obj->n_classes == 2)
        return two_classes(obj, first, n, score, pair);
    mel_sum loss = { 0 };
    for (size_t from = 0; from < n; from += ROWS_AT_A_TIME) {
        const size_t rows = n - from < ROWS_AT_A_TIME ? n - from : ROWS_AT_A_TIME;
        mel_sum_add(&loss, many_classes(obj, first + from, rows, score + from * obj->ld,
                                        pair != NULL ? pair + from * obj->ld_pair : NULL));
    }
    return mel_sum_value(&loss);
}
