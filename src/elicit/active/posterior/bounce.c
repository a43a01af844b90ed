/* Long moves of a chain: paths that bounce off the planes of its answers. */

#include "base/la.h"
#include "base/vector.h"
#include "elicit/active/posterior/chain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Products of more rows than this would take too much memory (8 MB). */
enum { MOST_ROWS = 1024 };
/* Paths with more events per axis than this are caught in a corner and not finished. */
enum { EVENTS_PER_AXIS = 20 };
/* Mean duration: straight, in which a coordinate goes about as many standard deviations; around the origin
 * in radians. Drawn between half of it and three halves: less than half a turn. */
static const double straight_time = 2.0, around_time = 1.5;
/* The same where all answers are right and the cloud has no far-away parts: around the origin in standard
 * deviations, of which so many are enough; straight, where many axes need longer to be forgotten. */
static const double around_deviations = 2.0, longer_time = 3.0;
enum { MANY_AXES = 20 };
/* A row's distance from 0 just after an event there. */
static const double least_value = 1e-280;
enum { LANES = 8 };

mel_status mel_bounce_new(mel_bounce *bounce, size_t dimension, mel_error *err)
{
    *bounce = (mel_bounce){ 0 };
    const mel_part parts[] = { { dimension, { &bounce->velocity, &bounce->place, &bounce->motion } } };
    if (!mel_parts_new(MEL_PARTS(parts)))
        return mel_fail_memory(err, "a chain");
    return MEL_OK;
}

void mel_bounce_free(mel_bounce *bounce)
{
    free(bounce->normal);
    free(bounce->norm2);
    free(bounce->known);
    free(bounce->gram);
    free(bounce->image);
    free(bounce->value);
    free(bounce->rate);
    free(bounce->urgency);
    free(bounce->velocity);
    *bounce = (mel_bounce){ 0 };
}

mel_status mel_bounce_reserve(mel_bounce *bounce, size_t rows, size_t dimension, mel_error *err)
{
    const size_t capacity = rows < MOST_ROWS ? rows : MOST_ROWS;
    if (capacity <= bounce->capacity)
        return MEL_OK;
    const mel_part parts[] = { { capacity * dimension, { &bounce->normal, &bounce->image } },
                               { capacity,
                                 { &bounce->norm2, &bounce->value, &bounce->rate, &bounce->urgency } },
                               { capacity * capacity, { &bounce->gram } } };
    void *known = bounce->known;
    const bool grown = mel_grow(&known, capacity, sizeof *bounce->known);
    bounce->known = known;
    if (!grown || !mel_parts_grow(MEL_PARTS(parts)))
        return mel_fail_memory(err, "a chain's products");
    bounce->capacity = capacity;
    return MEL_OK;
}

static double mean_time(const mel_bounce *bounce, const mel_chain *chain)
{
    const bool right = chain->answers->noise->errs == MEL_ERRS_NEVER;
    if (!bounce->around)
        return right && bounce->axes >= MANY_AXES ? longer_time : straight_time;
    if (!right)
        return around_time;
    /* In the ball of radius 1 the cloud has the variance |axis|^2 along each axis; paths are around vectors
     * whose length is about the root of the number of axes, with velocities of length 1 along each. */
    double variance = 0.0;
    for (size_t j = 0; j < bounce->axes; j++)
        variance += chain->norm2[j];
    return fmin(around_time, around_deviations * sqrt(variance));
}

void mel_bounce_look(mel_bounce *bounce, const mel_chain *chain)
{
    const mel_frame *frame = chain->frame;
    const size_t d = frame->dimension, stride = chain->n_rows;
    bounce->around = !frame->chart;
    bounce->axes = frame->axes;
    bounce->rows = chain->kept <= bounce->capacity ? chain->kept : 0;
    bounce->time = mean_time(bounce, chain);
    for (size_t i = 0; i < bounce->rows; i++) {
        double *normal = bounce->normal + i * bounce->axes;
        if (bounce->around) /* none is left out there */
            memcpy(normal, chain->row + i * d, d * sizeof(double));
        else
            for (size_t j = 0; j < bounce->axes; j++)
                normal[j] = chain->slope[j * stride + i];
        bounce->norm2[i] = mel_dot(bounce->axes, normal, normal);
        bounce->known[i] = false;
    }
}

/* --- kernels ------------------------------------------------------------------------------------- */

/* y(t) = c y + s v, v(t) = c v - b y: straight (c, s, b) = (1, t, 0), around (cos t, sin t, sin t). */
typedef struct {
    double c, s, b;
} turn;

/* Rows after a turn and with another velocity that changes their rates by factor * products. Returns the
 * largest urgency, or `most` if that is larger. Hard rows stay positive, at a cost that soft ones are spared.
 */
#define PASS(name, kept)                                                                                     \
    MEL_WIDE static double name(size_t n, turn to, double factor, const double *restrict products,           \
                                double *restrict value, double *restrict rate, double *restrict urgency,     \
                                double most)                                                                 \
    {                                                                                                        \
        _Pragma("omp simd reduction(max : most)") for (size_t i = 0; i < n; i++)                             \
        {                                                                                                    \
            const double moved = to.c * value[i] + to.s * rate[i];                                           \
            rate[i] = to.c * rate[i] - to.b * value[i] + factor * products[i];                               \
            value[i] = (kept);                                                                               \
            urgency[i] = -rate[i] / value[i];                                                                \
            most = urgency[i] > most ? urgency[i] : most;                                                    \
        }                                                                                                    \
        return most;                                                                                         \
    }
PASS(pass_hard, moved > least_value ? moved : least_value)
PASS(pass_soft, moved)

MEL_WIDE static void turn_point(size_t n, turn to, double factor, const double *restrict image,
                                double *restrict place, double *restrict motion)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++) {
        const double moved = to.c * place[i] + to.s * motion[i];
        motion[i] = to.c * motion[i] - to.b * place[i] + factor * image[i];
        place[i] = moved;
    }
}

/* out = A x, A: m x n. */
MEL_WIDE static void multiply(size_t m, size_t n, const double *restrict a, const double *restrict x,
                              double *restrict out)
{
    for (size_t i = 0; i < m; i++) {
        const double *row = a + i * n;
        double part[LANES] = { 0.0 };
        size_t k = 0;
        for (; k + LANES <= n; k += LANES)
            for (size_t j = 0; j < LANES; j++)
                part[j] += row[k + j] * x[k + j];
        for (size_t j = 0; k + j < n; j++)
            part[j] += row[k + j] * x[k + j];
        out[i] = ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]));
    }
}

/* out += A' x, A: m x n. */
MEL_WIDE static void multiply_back(size_t m, size_t n, const double *restrict a, const double *restrict x,
                                   double *restrict out)
{
    for (size_t i = 0; i < m; i++)
#pragma omp simd
        for (size_t k = 0; k < n; k++)
            out[k] += x[i] * a[i * n + k];
}

/* Where x holds the value; it does. */
MEL_WIDE static size_t find(size_t n, const double *restrict x, double value)
{
    enum { BLOCK = 16 };
    size_t i = 0;
    for (; i + BLOCK <= n; i += BLOCK) {
        double hits = 0.0;
#pragma omp simd reduction(+ : hits)
        for (size_t j = 0; j < BLOCK; j++)
            hits += x[i + j] == value ? 1.0 : 0.0;
        if (hits > 0.0)
            break;
    }
    while (i + 1 < n && x[i] != value)
        i++;
    return i;
}

/* --- a path -------------------------------------------------------------------------------------- */

static void know(mel_bounce *bounce, const mel_chain *chain, size_t row)
{
    const size_t k = bounce->axes, d = chain->frame->dimension;
    const double *normal = bounce->normal + row * k;
    double *image = bounce->image + row * d;
    multiply(bounce->rows, k, bounce->normal, normal, bounce->gram + row * bounce->capacity);
    if (bounce->around) {
        memcpy(image, normal, d * sizeof(double));
    } else {
        memset(image, 0, d * sizeof(double));
        multiply_back(k, d, chain->frame->axis, normal, image);
    }
    bounce->known[row] = true;
}

/* Independent standard normal numbers by Marsaglia's polar method, two by two. */
static void draw_normals(size_t n, double *out, mel_rng *rng)
{
    for (size_t i = 0; i < n; i += 2) {
        double a = 0.0, b = 0.0, square = 0.0;
        while (!(square > 0.0 && square < 1.0)) {
            a = 2.0 * mel_rng_uniform(rng) - 1.0;
            b = 2.0 * mel_rng_uniform(rng) - 1.0;
            square = a * a + b * b;
        }
        const double factor = sqrt(-2.0 * log(square) / square);
        out[i] = factor * a;
        if (i + 1 < n)
            out[i + 1] = factor * b;
    }
}

static void leave(mel_bounce *bounce, mel_chain *chain)
{
    const mel_frame *frame = chain->frame;
    const size_t d = frame->dimension, n = bounce->rows;
    double stretch = 1.0;
    draw_normals(bounce->axes, bounce->velocity, &chain->rng);
    if (bounce->around) { /* |y|^2 is chi-squared with D degrees of freedom */
        stretch = sqrt(2.0 * mel_rng_gamma(&chain->rng, 0.5 * (double)d)) / mel_norm2(d, chain->offset);
        memcpy(bounce->motion, bounce->velocity, d * sizeof(double));
    } else {
        memset(bounce->motion, 0, d * sizeof(double));
        multiply_back(frame->axes, d, frame->axis, bounce->velocity, bounce->motion);
    }
    for (size_t i = 0; i < n; i++)
        bounce->value[i] = stretch * chain->value[i];
    for (size_t i = 0; i < d; i++)
        bounce->place[i] = stretch * chain->offset[i];
    multiply(n, bounce->axes, bounce->normal, bounce->velocity, bounce->rate);
}

/* What happens at the plane of a row when it is met with this rate: returns the factor of its normal by which
 * the velocity changes. past: the row's value just afterwards; wrong: the number of wrong choices. */
static double meet(const mel_bounce *bounce, const mel_chain *chain, size_t row, double rate, double *past,
                   size_t *wrong)
{
    const double norm2 = bounce->norm2[row];
    *past = rate < 0.0 ? least_value : -least_value;
    if (row < chain->hard)
        return -2.0 * rate / norm2;
    /* A value that rounding left on the far side of its plane, as planes of repeated questions coincide: it
     * is counted on this side already. */
    if (rate < 0.0 ? *wrong >= chain->n_choices : *wrong == 0) {
        *past = -*past;
        return 0.0;
    }
    const size_t next = rate < 0.0 ? *wrong + 1 : *wrong - 1;
    const double gained = 2.0 * log(chain->flip_weight[next] / chain->flip_weight[*wrong]);
    const double left = rate * rate / norm2 + gained; /* the square of the speed along the normal */
    if (!(left > 0.0))
        return -2.0 * rate / norm2;
    *wrong = next;
    *past = -*past;
    return copysign(sqrt(left / norm2), rate) - rate / norm2;
}

/* The rows from `from` to `to` that are hard, or soft, turn. */
static double pass(mel_bounce *bounce, bool hard, size_t from, size_t end, turn to, double factor,
                   const double *products, double most)
{
    if (from >= end)
        return most;
    return (hard ? pass_hard : pass_soft)(end - from, to, factor, products + from, bounce->value + from,
                                          bounce->rate + from, bounce->urgency + from, most);
}

/* All rows but one turn. Returns the largest urgency. */
static double pass_others(mel_bounce *bounce, size_t hard, size_t row, turn to, double factor,
                          const double *products)
{
    const size_t n = bounce->rows;
    double most = pass(bounce, true, 0, row < hard ? row : hard, to, factor, products, -INFINITY);
    most = pass(bounce, true, row + 1, hard, to, factor, products, most);
    most = pass(bounce, false, hard, row, to, factor, products, most);
    return pass(bounce, false, row < hard ? hard : row + 1, n, to, factor, products, most);
}

static turn turn_of(const mel_bounce *bounce, double t)
{
    if (bounce->around)
        return (turn){ cos(t), sin(t), sin(t) };
    return (turn){ 1.0, t, 0.0 };
}

/* When the plane with this urgency is met. */
static double time_to(const mel_bounce *bounce, double urgency)
{
    if (bounce->around)
        return atan2(1.0, urgency);
    return urgency > 0.0 ? 1.0 / urgency : INFINITY;
}

/* False when the path does not come to its end. */
static bool follow(mel_bounce *bounce, const mel_chain *chain, double time, size_t *wrong)
{
    const size_t d = chain->frame->dimension, n = bounce->rows, hard = chain->hard;
    const turn stay = { 1.0, 0.0, 0.0 };
    double most = pass_others(bounce, hard, n, stay, 0.0, bounce->norm2);
    for (size_t event = 0; event < EVENTS_PER_AXIS * (bounce->axes + 1); event++) {
        const double t = time_to(bounce, most);
        const turn to = turn_of(bounce, fmin(t, time));
        if (!(t < time)) {
            (void)pass_others(bounce, hard, n, to, 0.0, bounce->norm2);
            turn_point(d, to, 0.0, bounce->velocity, bounce->place, bounce->motion);
            return true;
        }
        const size_t row = find(n, bounce->urgency, most);
        const double rate = to.c * bounce->rate[row] - to.b * bounce->value[row];
        double past = 0.0;
        const double factor = meet(bounce, chain, row, rate, &past, wrong);
        if (!bounce->known[row])
            know(bounce, chain, row);
        most = pass_others(bounce, hard, row, to, factor, bounce->gram + row * bounce->capacity);
        bounce->value[row] = past;
        bounce->rate[row] = rate + factor * bounce->norm2[row];
        bounce->urgency[row] = -INFINITY;
        turn_point(d, to, factor, bounce->image + row * d, bounce->place, bounce->motion);
        time -= t;
    }
    return false;
}

static size_t count_wrong(const mel_bounce *bounce, const mel_chain *chain)
{
    size_t wrong = 0;
    for (size_t i = chain->hard; i < bounce->rows; i++)
        wrong += bounce->value[i] < 0.0;
    return wrong;
}

bool mel_bounce_take(mel_bounce *bounce, mel_chain *chain, size_t *wrong)
{
    const size_t d = chain->frame->dimension;
    *wrong = chain->noise.wrong;
    leave(bounce, chain);
    const double time = (0.5 + mel_rng_uniform(&chain->rng)) * bounce->time;
    /* Planes that meet in one place may let a row slip to its other side unseen: not accepted. */
    if (!follow(bounce, chain, time, wrong) || *wrong != count_wrong(bounce, chain))
        return false;
    if (bounce->around)
        return true;
    const double ratio = (1.0 + chain->offset2) / (1.0 + mel_dot(d, bounce->place, bounce->place));
    return mel_rng_uniform(&chain->rng) < pow(ratio, 0.5 * (double)d);
}
