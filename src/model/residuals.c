/* From scores of a block of rows to losses, residuals and weights of class pairs. */
#include "model/objective.h"

#include "base/stat.h"

#include <math.h>
#include <string.h>

enum { ROWS_AT_A_TIME = MEL_COLUMN_ROWS };

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

/* Numbers of a class side by side, those of row i at place i: what follows goes by vectors of rows. */
typedef double column[ROWS_AT_A_TIME];

static void to_columns(size_t n, size_t k, const double *restrict score, size_t ld, column *restrict z)
{
    for (size_t c = 0; c < k; c++) {
        for (size_t i = 0; i < n; i++)
            z[c][i] = score[i * ld + c];
        for (size_t i = n; i < ROWS_AT_A_TIME; i++)
            z[c][i] = 0.0;
    }
}

static void to_rows(size_t n, size_t k, column *restrict z, size_t ld, double *restrict residual)
{
    for (size_t c = 0; c < k; c++)
        for (size_t i = 0; i < n; i++)
            residual[i * ld + c] = z[c][i];
    for (size_t i = 0; i < n; i++)
        for (size_t c = k; c < ld; c++)
            residual[i * ld + c] = 0.0;
}

/* Scores become exponentials of their differences from the row's largest. */
MEL_VECTORISED
static void exponentials(size_t k, column *restrict z, double *restrict top)
{
    for (size_t i = 0; i < ROWS_AT_A_TIME; i++)
        top[i] = z[0][i];
    for (size_t c = 1; c < k; c++)
        for (size_t i = 0; i < ROWS_AT_A_TIME; i++)
            top[i] = z[c][i] > top[i] ? z[c][i] : top[i];
    for (size_t c = 0; c < k; c++)
        for (size_t i = 0; i < ROWS_AT_A_TIME; i++)
            z[c][i] = exponential(z[c][i] - top[i]);
}

/* What the exponentials of a row add up to, and those of the classes that are not its own: 1 - p_y without
 * cancellation. y: class codes as numbers. */
MEL_VECTORISED
static void add_up(size_t k, column *restrict z, const double *restrict y, double *restrict others,
                   double *restrict sum)
{
    column part[MEL_LANES] = { { 0 } }, own = { 0 };
    for (size_t c = 0; c < k; c++)
        for (size_t i = 0; i < ROWS_AT_A_TIME; i++) {
            part[c % MEL_LANES][i] += y[i] == (double)c ? 0.0 : z[c][i];
            own[i] = y[i] == (double)c ? z[c][i] : own[i];
        }
    for (size_t i = 0; i < ROWS_AT_A_TIME; i++) {
        others[i] = part[0][i] + part[1][i] + part[2][i] + part[3][i];
        sum[i] = own[i] + others[i];
    }
}

/* Exponentials become residuals; pair (unless NULL): n weights of each pair of classes, ld_pair apart. */
MEL_VECTORISED
static void residuals(size_t n, size_t k, column *restrict z, const double *restrict y,
                      const double *restrict times, const double *restrict others, const double *restrict sum,
                      double *restrict pair, size_t ld_pair)
{
    column share, own, scaled;
    for (size_t i = 0; i < ROWS_AT_A_TIME; i++) {
        share[i] = 1.0 / sum[i];
        own[i] = -times[i] * (others[i] * share[i]);
    }
    for (size_t c = 0; c < k; c++) {
        for (size_t i = 0; i < ROWS_AT_A_TIME; i++) {
            z[c][i] *= share[i];
            scaled[i] = times[i] * z[c][i];
        }
        for (size_t e = 0; pair != NULL && e < c; e++, pair += ld_pair)
            for (size_t i = 0; i < n; i++)
                pair[i] = scaled[i] * z[e][i];
    }
    for (size_t c = 0; c < k; c++)
        for (size_t i = 0; i < ROWS_AT_A_TIME; i++)
            z[c][i] = y[i] == (double)c ? own[i] : z[c][i] * times[i];
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

/* At most ROWS_AT_A_TIME rows; column is scratch. */
static double many_classes(const mel_objective *obj, size_t first, size_t n, double *score, column *z,
                           double *pair)
{
    const size_t k = obj->n_classes, ld = obj->ld;
    const double *weight = obj->weight != NULL ? obj->weight + first : NULL;
    column below, top, sum, others, y = { 0 }, times = { 0 };
    for (size_t i = 0; i < n; i++) {
        const uint32_t own = obj->y[first + i];
        y[i] = own;
        times[i] = weight != NULL ? weight[i] : 1.0;
        if (times[i] == 0.0) /* even a row out of range counts nothing */
            memset(score + i * ld, 0, k * sizeof *score);
        below[i] = -score[i * ld + own];
    }
    to_columns(n, k, score, ld, z);
    exponentials(k, z, top);
    for (size_t i = 0; i < n; i++)
        below[i] += top[i];
    add_up(k, z, y, others, sum);
    residuals(n, k, z, y, times, others, sum, pair, obj->block_rows);
    to_rows(n, k, z, ld, score);
    return losses(n, weight, below, sum);
}

double mel_block_residuals(const mel_objective *obj, size_t first, size_t n, const mel_scratch *scratch,
                           bool with_pairs)
{
    double *pair = with_pairs ? scratch->pair : NULL;
    if (obj->n_classes == 2)
        return two_classes(obj, first, n, scratch->score, pair);
    mel_sum loss = { 0 };
    for (size_t from = 0; from < n; from += ROWS_AT_A_TIME) {
        const size_t rows = n - from < ROWS_AT_A_TIME ? n - from : ROWS_AT_A_TIME;
        mel_sum_add(&loss, many_classes(obj, first + from, rows, scratch->score + from * obj->ld,
                                        (column *)scratch->column, pair != NULL ? pair + from : NULL));
    }
    return mel_sum_value(&loss);
}
