/* A vector inside half-spaces, by Wolfe's algorithm. */
#include "elicit/active/posterior/interior.h"

#include "base/la.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Squared distance to the origin below which the rows' hull is taken to contain it. */
static const double nothing = 1e-15;
/* How much nearer, relative to the squared distance, a row must be for the point to move towards it. */
static const double nearer = 1e-10;
/* Shares below this are none. */
static const double least_share = 1e-12;
/* Steps per row and dimension, far more than are ever needed. */
enum { STEPS = 20 };

mel_status mel_interior_new(mel_interior *interior, size_t dimension, mel_error *err)
{
    const size_t m = dimension + 1;
    *interior = (mel_interior){ .dimension = dimension };
    const mel_part parts[] = { { m, { &interior->share, &interior->target } },
                               { m * m, { &interior->system } } };
    interior->member = mel_alloc_zero(m, sizeof *interior->member);
    if (interior->member == NULL || !mel_parts_new(MEL_PARTS(parts))) {
        mel_interior_free(interior);
        return mel_fail_memory(err, "the feasibility of the answers");
    }
    return MEL_OK;
}

void mel_interior_free(mel_interior *interior)
{
    free(interior->member);
    free(interior->share);
    *interior = (mel_interior){ 0 };
}

/* The row with the smallest product with w. */
static size_t lowest(size_t n, size_t d, const double *row, const double *w, double *product)
{
    size_t best = 0;
    for (size_t i = 0; i < n; i++) {
        const double value = mel_dot(d, row + i * d, w);
        if (i == 0 || value < *product) {
            *product = value;
            best = i;
        }
    }
    return best;
}

/* Into target: the shares, of any sign, of the members' combination of total 1 nearest to the origin, from (P
 * P' + 1 1') y = 1. False when the members are not independent. */
static bool solve(mel_interior *interior, const double *row)
{
    const size_t d = interior->dimension, m = interior->count;
    double *a = interior->system, *y = interior->target;
    for (size_t i = 0; i < m; i++) {
        y[i] = 1.0;
        for (size_t j = 0; j <= i; j++)
            a[i * m + j] = 1.0 + mel_dot(d, row + interior->member[i] * d, row + interior->member[j] * d);
    }
    for (size_t i = 0; i < m; i++) {
        for (size_t j = 0; j < i; j++)
            a[i * m + j] = (a[i * m + j] - mel_dot(j, a + i * m, a + j * m)) / a[j * m + j];
        const double pivot = a[i * m + i] - mel_dot(i, a + i * m, a + i * m);
        if (!(pivot > nothing))
            return false;
        a[i * m + i] = sqrt(pivot);
        y[i] = (y[i] - mel_dot(i, a + i * m, y)) / a[i * m + i];
    }
    double total = 0.0;
    for (size_t i = m; i-- > 0;) {
        for (size_t j = i + 1; j < m; j++)
            y[i] -= a[j * m + i] * y[j];
        y[i] /= a[i * m + i];
        total += y[i];
    }
    mel_scale(m, 1.0 / total, y);
    return true;
}

/* Moves the shares towards the target as far as none turns negative, and drops the members that have none
 * left. True when the target was reached. */
static bool approach(mel_interior *interior)
{
    double *share = interior->share, *target = interior->target, step = 1.0;
    for (size_t i = 0; i < interior->count; i++)
        if (target[i] < least_share)
            step = fmin(step, share[i] / fmax(share[i] - target[i], least_share));
    for (size_t i = 0; i < interior->count; i++)
        share[i] += step * (target[i] - share[i]);
    if (step >= 1.0)
        return true;
    size_t kept = 0;
    for (size_t i = 0; i < interior->count; i++)
        if (share[i] > least_share) {
            share[kept] = share[i];
            interior->member[kept++] = interior->member[i];
        }
    const bool dropped = kept < interior->count;
    interior->count = kept;
    return !dropped || kept == 0;
}

static void combine(const mel_interior *interior, const double *row, double *w)
{
    const size_t d = interior->dimension;
    memset(w, 0, d * sizeof(double));
    for (size_t i = 0; i < interior->count; i++)
        mel_axpy(d, interior->share[i], row + interior->member[i] * d, w);
}

bool mel_interior_find(mel_interior *interior, size_t n, const double *row, double *w)
{
    const size_t d = interior->dimension;
    double product = 0.0;
    interior->count = 1;
    interior->member[0] = 0;
    interior->share[0] = 1.0;
    memcpy(w, row, d * sizeof(double));
    for (size_t step = 0; step < STEPS * (n + d); step++) {
        const size_t next = lowest(n, d, row, w, &product);
        const double square = mel_dot(d, w, w);
        if (square < nothing || product > (1.0 - nearer) * square || interior->count > d)
            break;
        interior->member[interior->count] = next;
        interior->share[interior->count++] = 0.0;
        bool reached = false;
        while (!reached) {
            if (!solve(interior, row)) {
                interior->count--; /* the newest adds nothing: as near as rounding allows */
                step = STEPS * (n + d);
                break;
            }
            reached = approach(interior);
        }
        combine(interior, row, w);
    }
    const double length = mel_norm2(d, w);
    if (!(length > 0.0))
        return false;
    mel_scale(d, 1.0 / length, w);
    (void)lowest(n, d, row, w, &product);
    return product > 0.0;
}
