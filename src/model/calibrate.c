/* Calibration of probabilities: temperature and isotonic. */
#include "base/stat.h"
#include "model/model.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* Held-out rows, checked. */
typedef struct {
    const mel_model *model;
    size_t n;
    const uint32_t *y;
    const double *weight; /* NULL: ones */
    double *score;        /* n x n_classes, as mel_model_scores */
} held_out;

static double weight_of(const held_out *h, size_t i)
{
    return h->weight != NULL ? h->weight[i] : 1.0;
}

/* Scores beyond this are as good as infinite; their sums are not. */
static const double score_floor = -1e100;
/* 1 / temperature stays within these; rows that are all right, or all wrong, ask for more. */
static const double least_sharpness = 1e-3, most_sharpness = 1e3;
enum { MAX_STEPS = 200 };

/* First and second derivative of the log-loss in b = 1 / temperature; row: n_classes doubles. */
static void derivatives(const held_out *h, double b, double *row, double *first, double *second)
{
    const size_t k = h->model->n_classes;
    mel_sum slope = { 0 }, bend = { 0 };
    for (size_t i = 0; i < h->n; i++) {
        const double *score = h->score + i * k;
        for (size_t c = 0; c < k; c++)
            row[c] = score[c];
        mel_softmax_scores(k, b, row);
        double mean = 0.0, spread = 0.0;
        for (size_t c = 0; c < k; c++)
            mean += row[c] * score[c];
        for (size_t c = 0; c < k; c++)
            spread += row[c] * (score[c] - mean) * (score[c] - mean);
        mel_sum_add(&slope, weight_of(h, i) * (mean - score[h->y[i]]));
        mel_sum_add(&bend, weight_of(h, i) * spread);
    }
    *first = mel_sum_value(&slope);
    *second = mel_sum_value(&bend);
}

/* Newton's method on a convex function of one variable, within a bracket that shrinks. */
static double best_sharpness(const held_out *h, double *row)
{
    double low = least_sharpness, high = most_sharpness, b = 1.0, first, second;
    derivatives(h, low, row, &first, &second);
    if (first >= 0.0)
        return low;
    derivatives(h, high, row, &first, &second);
    if (first <= 0.0)
        return high;
    for (int i = 0; i < MAX_STEPS; i++) {
        derivatives(h, b, row, &first, &second);
        if (first > 0.0)
            high = b;
        else
            low = b;
        double next = b - first / second;
        if (!(next > low && next < high))
            next = sqrt(low * high);
        if (first == 0.0 || fabs(next - b) <= 1e-14 * b)
            break;
        b = next;
    }
    return b;
}

static mel_status fit_temperature(mel_model *model, held_out *h, mel_error *err)
{
    double *row = mel_alloc(model->n_classes, sizeof *row);
    if (row == NULL)
        return mel_fail_memory(err, "calibration");
    for (size_t i = 0; i < h->n * model->n_classes; i++)
        h->score[i] = fmax(h->score[i], score_floor);
    const double sharpness = best_sharpness(h, row);
    free(row);
    free(model->knots);
    model->knots = NULL;
    model->n_knots = 0;
    model->calibration = MEL_CALIBRATE_TEMPERATURE;
    model->temperature = 1.0 / sharpness;
    return MEL_OK;
}

/* Neighbouring rows with one value: sums of weight, of weight * p and of weight * target. */
typedef struct {
    double weight, p, target;
    double lowest, highest; /* p */
} pool;

static double level(const pool *a)
{
    return a->target / a->weight;
}

static void merge(pool *into, const pool *from)
{
    into->weight += from->weight;
    into->p += from->p;
    into->target += from->target;
    into->highest = from->highest;
}

/* What to aim at instead of 0 and 1, so that no step promises certainty (Platt 1999). The weights are
 * rescaled to a mean of 1, so that their unit does not matter next to the one and two rows added. */
static void choose_targets(const held_out *h, double target[2])
{
    mel_sum count[2] = { { 0.0, 0.0 }, { 0.0, 0.0 } };
    size_t rows = 0; /* of positive weight */
    for (size_t i = 0; i < h->n; i++) {
        mel_sum_add(&count[h->y[i]], weight_of(h, i));
        rows += weight_of(h, i) > 0.0;
    }
    const double total = mel_sum_value(&count[0]) + mel_sum_value(&count[1]);
    const double n0 = mel_sum_value(&count[0]) / total * (double)rows;
    const double n1 = mel_sum_value(&count[1]) / total * (double)rows;
    target[0] = 1.0 / (n0 + 2.0);
    target[1] = (n1 + 1.0) / (n1 + 2.0);
}

/* Pools adjacent violators; stack has room for n. Returns the number of pools. */
static size_t pool_adjacent(const held_out *h, const double *p, const size_t *order, pool *stack)
{
    double target[2];
    choose_targets(h, target);
    size_t n_pools = 0;
    for (size_t r = 0; r < h->n; r++) {
        const size_t i = order[r];
        const double w = weight_of(h, i);
        if (w == 0.0)
            continue;
        const pool one = { w, w * p[i], w * target[h->y[i]], p[i], p[i] };
        if (n_pools > 0 && stack[n_pools - 1].highest == p[i] && stack[n_pools - 1].lowest == p[i]) {
            merge(&stack[n_pools - 1], &one); /* a tie, not yet compared with its left neighbour */
            continue;
        }
        stack[n_pools++] = one;
    }
    size_t top = 0; /* stack[0..top) is ascending */
    for (size_t r = 0; r < n_pools; r++) {
        stack[top++] = stack[r];
        while (top > 1 && level(&stack[top - 2]) >= level(&stack[top - 1])) {
            merge(&stack[top - 2], &stack[top - 1]);
            top--;
        }
    }
    return top;
}

static mel_status set_knots(mel_model *model, const pool *stack, size_t n, mel_error *err)
{
    double *knots = mel_alloc(2 * n, sizeof *knots);
    if (knots == NULL)
        return mel_fail_memory(err, "calibration");
    for (size_t i = 0; i < n; i++) {
        knots[i] = fmin(fmax(stack[i].p / stack[i].weight, stack[i].lowest), stack[i].highest);
        knots[n + i] = level(&stack[i]);
    }
    free(model->knots);
    model->knots = knots;
    model->n_knots = n;
    model->calibration = MEL_CALIBRATE_ISOTONIC;
    model->temperature = 1.0;
    return MEL_OK;
}

static mel_status pool_rows(mel_model *model, held_out *h, double *p, size_t *order, pool *stack,
                            mel_error *err)
{
    for (size_t i = 0; i < h->n; i++) {
        mel_softmax_scores(2, 1.0, h->score + 2 * i);
        p[i] = h->score[2 * i + 1];
    }
    const mel_status status = mel_argsort(h->n, p, order, err);
    return status == MEL_OK ? set_knots(model, stack, pool_adjacent(h, p, order, stack), err) : status;
}

static mel_status fit_isotonic(mel_model *model, held_out *h, mel_error *err)
{
    double *p = mel_alloc(h->n, sizeof *p);
    size_t *order = mel_alloc(h->n, sizeof *order);
    pool *stack = mel_alloc(h->n, sizeof *stack);
    const mel_status status = p != NULL && order != NULL && stack != NULL
                                  ? pool_rows(model, h, p, order, stack, err)
                                  : mel_fail_memory(err, "calibration");
    free(p);
    free(order);
    free(stack);
    return status;
}

static mel_status check(const mel_model *model, mel_calibration kind, const mel_features *x,
                        const uint32_t *y, const double *weight, mel_error *err)
{
    if (kind < MEL_CALIBRATE_NONE || kind > MEL_CALIBRATE_ISOTONIC)
        return mel_fail(err, MEL_EINVAL, "unknown calibration %d", (int)kind);
    if (kind == MEL_CALIBRATE_ISOTONIC && model->n_classes != 2)
        return mel_fail(err, MEL_EINVAL, "isotonic calibration is for two classes, the model has %zu",
                        model->n_classes);
    if (x->n_rows == 0)
        return mel_fail(err, MEL_EDATA, "calibration: no rows");
    double total;
    mel_status status = mel_weights_check(&total, weight, x->n_rows, err);
    if (status != MEL_OK)
        return status;
    size_t first = SIZE_MAX;
    bool several = false;
    for (size_t i = 0; i < x->n_rows; i++) {
        if (y[i] >= model->n_classes)
            return mel_fail(err, MEL_EINVAL, "calibration: row %zu: class code %u, but there are %zu classes",
                            i + 1, y[i], model->n_classes);
        if (weight != NULL && weight[i] == 0.0)
            continue;
        several = several || (first != SIZE_MAX && first != y[i]);
        first = y[i];
    }
    return several ? MEL_OK : mel_fail(err, MEL_EDATA, "calibration: only one class among the rows");
}

mel_status mel_model_calibrate(mel_model *model, mel_calibration kind, const mel_features *x,
                               const uint32_t *y, const double *weight, mel_error *err)
{
    if (kind == MEL_CALIBRATE_NONE) {
        free(model->knots);
        model->knots = NULL;
        model->n_knots = 0;
        model->calibration = MEL_CALIBRATE_NONE;
        model->temperature = 1.0;
        return MEL_OK;
    }
    mel_status status = mel_features_check(x, DBL_MAX, "calibration", err);
    if (status == MEL_OK)
        status = check(model, kind, x, y, weight, err);
    if (status != MEL_OK)
        return status;
    held_out h = { .model = model, .n = x->n_rows, .y = y, .weight = weight };
    if (h.n <= SIZE_MAX / model->n_classes)
        h.score = mel_alloc(h.n * model->n_classes, sizeof *h.score);
    if (h.score == NULL)
        return mel_fail_memory(err, "calibration");
    status = mel_model_scores(h.score, model, x, 0, err);
    if (status == MEL_OK)
        status = kind == MEL_CALIBRATE_TEMPERATURE ? fit_temperature(model, &h, err)
                                                   : fit_isotonic(model, &h, err);
    free(h.score);
    return status;
}
