/* Fair metrics: the mistakes of everybody against differences between groups. */
#include "base/la.h"
#include "metric/families/families.h"
#include "metric/words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Shares that were rounded to three digits still count as a partition of their class. */
static const double share_tolerance = 2e-3;

size_t mel_group_pairs(size_t n_groups)
{
    return n_groups > 1 ? n_groups * (n_groups - 1) / 2 : 0;
}

size_t mel_group_pair(size_t n_groups, size_t u, size_t v)
{
    return u * n_groups - u * (u + 1) / 2 + (v - u - 1);
}

/* Differences count squared, with a matrix for each pair of groups. */
static bool is_quadratic(const mel_metric *metric)
{
    return metric->degree == 2;
}

/* Numbers in the block of one pair. */
static size_t block_size(const mel_metric *metric)
{
    const size_t q = metric->per_group;
    return is_quadratic(metric) ? q * q : q;
}

static size_t lambda_place(const mel_metric *metric)
{
    return metric->n_coefficients - 1;
}

double mel_metric_lambda(const mel_metric *metric)
{
    return metric->ops->is.groups ? metric->coefficient[lambda_place(metric)] : (double)NAN;
}

const double *mel_metric_prevalence(const mel_metric *metric)
{
    return metric->prevalence;
}

const double *mel_metric_pair(const mel_metric *metric, size_t u, size_t v)
{
    const size_t m = metric->layout.n_groups;
    if (!metric->ops->is.groups || u >= v || v >= m)
        return NULL;
    return metric->coefficient + metric->per_group + mel_group_pair(m, u, v) * block_size(metric);
}

static size_t true_class(const mel_layout *layout, size_t coordinate)
{
    switch (layout->coordinates) {
    case MEL_BINARY: /* (TP, TN): the second class is the positive one */
        return coordinate == 0 ? 1 : 0;
    case MEL_DIAGONAL:
        return coordinate;
    case MEL_OFFDIAGONAL:
        break;
    }
    return coordinate / (layout->n_classes - 1);
}

/* (1 - lambda) a_i P(G=g | Y=class of i): what the rate of coordinate i in group g costs. */
static double fair_weight(const mel_metric *metric, size_t g, size_t i)
{
    const size_t c = true_class(&metric->layout, i);
    return (1.0 - mel_metric_lambda(metric)) * metric->coefficient[i] *
           metric->prevalence[g * metric->layout.n_classes + c];
}

/* Cost of everybody's mistakes at x minus that at y (NULL: zero). */
static double mistakes(const mel_metric *metric, const double *x, const double *y)
{
    const size_t q = metric->per_group;
    double sum = 0.0;
    for (size_t g = 0; g < metric->layout.n_groups; g++)
        for (size_t i = 0; i < q; i++)
            sum += fair_weight(metric, g, i) * (y != NULL ? x[g * q + i] - y[g * q + i] : x[g * q + i]);
    return sum;
}

/* A sum over pairs of groups of one(block, difference of groups at x, and at y); y may be NULL. */
typedef double (*pair_cost)(size_t q, const double *block, const double *xu, const double *xv,
                            const double *yu, const double *yv);

static double gaps(const mel_metric *metric, pair_cost one, const double *x, const double *y)
{
    const size_t q = metric->per_group, m = metric->layout.n_groups;
    double sum = 0.0;
    for (size_t u = 0; u < m; u++)
        for (size_t v = u + 1; v < m; v++)
            sum += one(q, mel_metric_pair(metric, u, v), x + u * q, x + v * q, y != NULL ? y + u * q : NULL,
                       y != NULL ? y + v * q : NULL);
    return sum;
}

static double gap(const double *u, const double *v, size_t i)
{
    return u != NULL ? u[i] - v[i] : 0.0;
}

/* Gap at x minus gap at y: differences of points first, so that close points lose no digits. */
static double gap_change(const double *xu, const double *xv, const double *yu, const double *yv, size_t i)
{
    return yu != NULL ? (xu[i] - yu[i]) - (xv[i] - yv[i]) : xu[i] - xv[i];
}

static double absolute_cost(size_t q, const double *block, const double *xu, const double *xv,
                            const double *yu, const double *yv)
{
    double sum = 0.0;
    for (size_t i = 0; i < q; i++) {
        const double x = gap(xu, xv, i), y = gap(yu, yv, i), change = gap_change(xu, xv, yu, yv, i);
        const bool up = x >= 0.0 && y >= 0.0, down = x <= 0.0 && y <= 0.0;
        sum += block[i] * (up ? change : down ? -change : fabs(x) - fabs(y));
    }
    return sum;
}

/* (d'Bd - e'Be)/2 = (d - e)'B(d + e)/2, which is antisymmetric to the last bit. */
static double squared_cost(size_t q, const double *block, const double *xu, const double *xv,
                           const double *yu, const double *yv)
{
    double sum = 0.0;
    for (size_t i = 0; i < q; i++) {
        double row = 0.0;
        for (size_t j = 0; j < q; j++)
            row += block[i * q + j] * (gap(xu, xv, j) + gap(yu, yv, j));
        sum += gap_change(xu, xv, yu, yv, i) * row;
    }
    return 0.5 * sum;
}

static double fair_cost(const mel_metric *metric, const double *x, const double *y)
{
    const pair_cost one = is_quadratic(metric) ? squared_cost : absolute_cost;
    return mistakes(metric, x, y) + mel_metric_lambda(metric) * gaps(metric, one, x, y);
}

static mel_status fair_value(double *out, const mel_metric *metric, const double *statistics, mel_error *err)
{
    (void)err;
    *out = fair_cost(metric, statistics, NULL);
    return MEL_OK;
}

static mel_status fair_difference(double *out, const mel_metric *metric, const double *a, const double *b,
                                  mel_error *err)
{
    (void)err;
    *out = fair_cost(metric, a, b);
    return MEL_OK;
}

/* d cost of a pair / d gap i. */
static double slope(const mel_metric *metric, const double *block, const double *u, const double *v, size_t i)
{
    const size_t q = metric->per_group;
    if (!is_quadratic(metric)) {
        const double d = u[i] - v[i];
        return d > 0.0 ? block[i] : d < 0.0 ? -block[i] : 0.0;
    }
    double sum = 0.0;
    for (size_t j = 0; j < q; j++)
        sum += block[i * q + j] * (u[j] - v[j]);
    return sum;
}

static mel_status fair_gradient(double *out, const mel_metric *metric, const double *statistics,
                                mel_error *err)
{
    (void)err;
    const size_t q = metric->per_group, m = metric->layout.n_groups;
    const double lambda = mel_metric_lambda(metric);
    for (size_t g = 0; g < m; g++)
        for (size_t i = 0; i < q; i++)
            out[g * q + i] = fair_weight(metric, g, i);
    for (size_t u = 0; u < m; u++)
        for (size_t v = u + 1; v < m; v++)
            for (size_t i = 0; i < q; i++) {
                const double s = lambda * slope(metric, mel_metric_pair(metric, u, v), statistics + u * q,
                                                statistics + v * q, i);
                out[u * q + i] += s;
                out[v * q + i] -= s;
            }
    return MEL_OK;
}

/* Sum over pairs of the blocks' norms; Definition 6.2 halves it. */
static double gaps_norm(const mel_metric *metric)
{
    const size_t n = block_size(metric), pairs = mel_group_pairs(metric->layout.n_groups);
    double sum = 0.0;
    for (size_t p = 0; p < pairs; p++)
        sum += mel_norm2(n, metric->coefficient + metric->per_group + p * n);
    return is_quadratic(metric) ? sum / 2.0 : sum;
}

/* The trade-off once a is divided by `a` and the blocks by `b`; increasing in lambda. */
static double scaled_lambda(double lambda, double a, double b)
{
    const double mistakes_part = (1.0 - lambda) * a, gaps_part = lambda * b;
    const double sum = mistakes_part + gaps_part;
    return sum > 0.0 ? gaps_part / sum : lambda;
}

static mel_status fair_normalise(mel_metric *metric, mel_error *err)
{
    const size_t q = metric->per_group, place = lambda_place(metric), n_gaps = place - q;
    const double a = mel_norm2(q, metric->coefficient), b = gaps_norm(metric);
    const double lambda = metric->coefficient[place];
    /* Scaled down, so that the weights of the two parts cannot overflow. */
    const double top = fmax(a, b), to_lambda = scaled_lambda(lambda, a / top, b / top);
    if (!isfinite(a) || !isfinite(b) || !((1.0 - lambda) * a > 0.0 || lambda * b > 0.0))
        return mel_fail(
            err, MEL_ENUMERIC,
            "a fair metric cannot be scaled: the norm of a is %g, that of the pairs %g, lambda %g", a, b,
            lambda);
    /* A part that is nil stays so. */
    const double a_norm = a > 0.0 ? a : 1.0, b_norm = b > 0.0 ? b : 1.0;
    TRY(mel_metric_check_divisor(metric, 0, q, a_norm, err));
    TRY(mel_metric_check_divisor(metric, q, n_gaps, b_norm, err));
    mel_metric_divide(metric, 0, q, a_norm);
    mel_metric_divide(metric, q, n_gaps, b_norm);
    metric->coefficient[place] = to_lambda;
    if (metric->low != NULL) {
        metric->low[place] = scaled_lambda(fmin(fmax(metric->low[place], 0.0), 1.0), a / top, b / top);
        metric->high[place] = scaled_lambda(fmin(fmax(metric->high[place], 0.0), 1.0), a / top, b / top);
    }
    return MEL_OK;
}

static mel_status check_prevalence(const mel_metric *metric, mel_error *err)
{
    const size_t k = metric->layout.n_classes, m = metric->layout.n_groups;
    for (size_t i = 0; i < k; i++) {
        double sum = 0.0;
        for (size_t g = 0; g < m; g++) {
            const double share = metric->prevalence[g * k + i];
            if (!(share >= 0.0 && share <= 1.0))
                return mel_fail(err, MEL_EINVAL, "prevalence[%zu][%zu] is %g, not from 0 to 1", g, i, share);
            sum += share;
        }
        if (fabs(sum - 1.0) > share_tolerance)
            return mel_fail(err, MEL_EINVAL,
                            "prevalence: the shares of class %zu over the groups sum to %g, not 1", i + 1,
                            sum);
    }
    return MEL_OK;
}

static mel_status fair_settle(mel_metric *metric, mel_error *err)
{
    const double lambda = mel_metric_lambda(metric);
    if (!(lambda >= 0.0 && lambda <= 1.0))
        return mel_fail(err, MEL_EINVAL, "lambda is %g, not from 0 to 1", lambda);
    mel_status status = check_prevalence(metric, err);
    const size_t m = metric->layout.n_groups;
    for (size_t u = 0; is_quadratic(metric) && u < m; u++)
        for (size_t v = u + 1; status == MEL_OK && v < m; v++) {
            char name[64];
            (void)snprintf(name, sizeof name, "B.%zu-%zu", u + 1, v + 1);
            const size_t first = (size_t)(mel_metric_pair(metric, u, v) - metric->coefficient);
            status = mel_tensor_symmetric(metric->coefficient + first, metric->per_group, 2, name, err);
        }
    return status;
}

static size_t fair_coefficients(const mel_layout *layout, uint32_t degree)
{
    const size_t q = mel_layout_size(layout) / layout->n_groups, block = mel_tensor_size(q, degree);
    const size_t pairs = mel_group_pairs(layout->n_groups);
    return pairs == 0 || block > MEL_MOST_COEFFICIENTS / pairs ? SIZE_MAX : q + pairs * block + 1;
}

static size_t fair_fields(mel_field fields[MEL_MAX_FIELDS], const mel_metric *metric)
{
    const size_t q = metric->per_group, m = metric->layout.n_groups;
    const bool quadratic = is_quadratic(metric);
    fields[0] = (mel_field){ "a", 0, q, 1, 0, false };
    fields[1] = (mel_field){ quadratic ? "B" : "b", q, q, quadratic ? 2 : 1, m, false };
    fields[2] = (mel_field){ "lambda", lambda_place(metric), 1, 0, 0, false };
    return 3;
}

#define FAIR                                                                                                 \
    .value = fair_value, .gradient = fair_gradient, .difference = fair_difference,                           \
    .normalise = fair_normalise, .settle = fair_settle, .coefficients = fair_coefficients,                   \
    .fields = fair_fields, .words = mel_words_fair

const mel_family_ops mel_family_fair_linear = {
    .is = { .name = "fair-linear",
            .shape = "a weighted sum with differences between groups",
            .degree = 1,
            .groups = true,
            .rates = true },
    FAIR,
};

const mel_family_ops mel_family_fair_quadratic = {
    .is = { .name = "fair-quadratic",
            .shape = "a weighted sum with squared differences between groups",
            .degree = 2,
            .groups = true,
            .rates = true },
    FAIR,
};

static mel_status fair_make(mel_metric **out, const mel_metric_kind *kind, const double *a, const double *b,
                            double lambda, const double *prevalence, mel_error *err)
{
    *out = NULL;
    mel_metric *metric = NULL;
    TRY(mel_metric_new(&metric, kind, err));
    const size_t q = metric->per_group, place = lambda_place(metric);
    memcpy(metric->coefficient, a, q * sizeof *a);
    memcpy(metric->coefficient + q, b, (place - q) * sizeof *b);
    metric->coefficient[place] = lambda;
    memcpy(metric->prevalence, prevalence,
           metric->layout.n_groups * metric->layout.n_classes * sizeof *prevalence);
    return mel_metric_finish(out, metric, err);
}

mel_status mel_metric_fair_linear(mel_metric **out, const mel_layout *layout, const char *const *class_names,
                                  const char *const *group_names, const double *a, const double *b,
                                  double lambda, const double *prevalence, mel_error *err)
{
    const mel_metric_kind kind = { MEL_FAMILY_FAIR_LINEAR, 1, *layout, class_names, group_names, MEL_COST };
    return fair_make(out, &kind, a, b, lambda, prevalence, err);
}

mel_status mel_metric_fair_quadratic(mel_metric **out, const mel_layout *layout,
                                     const char *const *class_names, const char *const *group_names,
                                     const double *a, const double *b, double lambda,
                                     const double *prevalence, mel_error *err)
{
    const mel_metric_kind kind = {
        MEL_FAMILY_FAIR_QUADRATIC, 2, *layout, class_names, group_names, MEL_COST
    };
    return fair_make(out, &kind, a, b, lambda, prevalence, err);
}
