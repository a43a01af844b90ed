/* Metrics: made, copied, freed, evaluated, compared, scaled, drawn at random within their intervals, put into
 * another order. */
#include "metric/metric.h"

#include "base/la.h"
#include "data/quote.h"
#include "metric/families/families.h"
#include "metric/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static mel_status copy_names(char ***out, size_t n, const char *const *names, size_t first, const char *what,
                             mel_error *err)
{
    for (size_t i = 0; i < n && names != NULL; i++) {
        const char *name = names[i];
        if (name == NULL || name[0] == '\0' || strlen(name) > MEL_NAME_BYTES || !mel_text_is_utf8(name))
            return mel_fail(err, MEL_EINVAL, "%s %zu: the name is missing, too long or not UTF-8", what,
                            i + 1);
        for (size_t j = 0; j < i; j++)
            if (strcmp(names[j], name) == 0)
                return mel_fail(err, MEL_EINVAL, "%s %zu and %zu are both called %s", what, j + 1, i + 1,
                                mel_quote_text(name).text);
    }
    *out = mel_names_copy(n, names, first);
    return *out != NULL ? MEL_OK : mel_fail_memory(err, "the names of a metric");
}

static mel_status fill_new(mel_metric *metric, const mel_metric_kind *kind, mel_error *err)
{
    const size_t n_groups = metric->layout.n_groups;
    metric->size = mel_layout_size(&metric->layout);
    metric->per_group = n_groups > 1 ? metric->size / n_groups : metric->size;
    TRY(mel_family_coefficients(&metric->n_coefficients, metric->family, metric->degree, &metric->layout,
                                err));
    TRY(copy_names(&metric->class_names, metric->layout.n_classes, kind->class_names, 0, "class", err));
    if (n_groups > 1)
        TRY(copy_names(&metric->group_names, n_groups, kind->group_names, 1, "group", err));
    metric->coefficient = mel_alloc_zero(metric->n_coefficients, sizeof *metric->coefficient);
    const bool groups = metric->ops->is.groups;
    if (groups)
        metric->prevalence = mel_alloc_zero(n_groups * metric->layout.n_classes, sizeof *metric->prevalence);
    return metric->coefficient != NULL && (!groups || metric->prevalence != NULL)
               ? MEL_OK
               : mel_fail_memory(err, "the coefficients of a metric");
}

static mel_status check_orientation(const mel_metric_kind *kind, mel_error *err)
{
    if (kind->orientation != MEL_UTILITY && kind->orientation != MEL_COST)
        return mel_fail(err, MEL_EINVAL, "orientation %d is neither utility nor cost",
                        (int)kind->orientation);
    if (mel_family_of(kind->family)->is.groups && kind->orientation != MEL_COST)
        return mel_fail(err, MEL_EINVAL, "orientation: a %s metric is a cost", mel_family_name(kind->family));
    return MEL_OK;
}

mel_status mel_metric_new(mel_metric **out, const mel_metric_kind *kind, mel_error *err)
{
    *out = NULL;
    TRY(mel_layout_check(&kind->layout, err));
    TRY(mel_family_check(kind->family, kind->degree, &kind->layout, err));
    TRY(check_orientation(kind, err));
    MEL_AUTO(mel_metric) *metric = mel_alloc_zero(1, sizeof *metric);
    if (metric == NULL)
        return mel_fail_memory(err, "a metric");
    metric->family = kind->family;
    metric->ops = mel_family_of(kind->family);
    metric->degree = kind->degree;
    metric->orientation = kind->orientation;
    metric->layout = kind->layout;
    metric->elicited.radius = (double)NAN;
    TRY(fill_new(metric, kind, err));
    *out = metric;
    metric = NULL;
    return MEL_OK;
}

mel_status mel_metric_settle(mel_metric *metric, mel_error *err)
{
    for (size_t i = 0; i < metric->n_coefficients; i++)
        if (!isfinite(metric->coefficient[i]))
            return mel_fail(err, MEL_EINVAL, "coefficient %zu of a %s metric is %g", i + 1,
                            mel_family_name(metric->family), metric->coefficient[i]);
    return metric->ops->settle != NULL ? metric->ops->settle(metric, err) : MEL_OK;
}

mel_status mel_metric_finish(mel_metric **out, mel_metric *metric, mel_error *err)
{
    const mel_status status = mel_metric_settle(metric, err);
    if (status == MEL_OK)
        *out = metric;
    else
        mel_metric_free(metric);
    return status;
}

/* Another one of the kind, with other coordinates and orientation perhaps, and what was elicited. */
static mel_status new_like(mel_metric **out, const mel_metric *metric, const mel_layout *layout,
                           const char *const *class_names, const char *const *group_names,
                           mel_orientation orientation, mel_error *err)
{
    const mel_metric_kind kind = { metric->family, metric->degree, *layout,
                                   class_names,    group_names,    orientation };
    TRY(mel_metric_new(out, &kind, err));
    return mel_metric_set_elicited(*out, &metric->elicited, err);
}

mel_status mel_metric_copy(mel_metric **out, const mel_metric *metric, mel_error *err)
{
    *out = NULL;
    MEL_AUTO(mel_metric) *copy = NULL;
    TRY(new_like(&copy, metric, &metric->layout, (const char *const *)metric->class_names,
                 (const char *const *)metric->group_names, metric->orientation, err));
    memcpy(copy->coefficient, metric->coefficient, metric->n_coefficients * sizeof *metric->coefficient);
    if (metric->prevalence != NULL)
        memcpy(copy->prevalence, metric->prevalence,
               metric->layout.n_groups * metric->layout.n_classes * sizeof *metric->prevalence);
    if (metric->low != NULL)
        TRY(mel_metric_set_intervals(copy, metric->low, metric->high, err));
    *out = copy;
    copy = NULL;
    return MEL_OK;
}

void mel_metric_free(mel_metric *metric)
{
    if (metric == NULL)
        return;
    mel_names_free(metric->class_names, metric->layout.n_classes);
    mel_names_free(metric->group_names, metric->layout.n_groups);
    free(metric->coefficient);
    free(metric->prevalence);
    free(metric->low);
    free(metric->strategy);
    free(metric);
}

mel_family mel_metric_family(const mel_metric *metric)
{
    return metric->family;
}

mel_orientation mel_metric_orientation(const mel_metric *metric)
{
    return metric->orientation;
}

const mel_layout *mel_metric_layout(const mel_metric *metric)
{
    return &metric->layout;
}

const char *const *mel_metric_class_names(const mel_metric *metric)
{
    return (const char *const *)metric->class_names;
}

const char *const *mel_metric_group_names(const mel_metric *metric)
{
    return (const char *const *)metric->group_names;
}

uint32_t mel_metric_degree(const mel_metric *metric)
{
    return metric->degree;
}

const double *mel_metric_numerator(const mel_metric *metric, double *constant)
{
    if (constant != NULL)
        *constant = metric->ops->is.ratio ? metric->coefficient[metric->size] : 0.0;
    return metric->coefficient;
}

const double *mel_metric_denominator(const mel_metric *metric, double *constant)
{
    const bool ratio = metric->ops->is.ratio;
    if (constant != NULL)
        *constant = ratio ? metric->coefficient[2 * metric->size + 1] : 1.0;
    return ratio ? metric->coefficient + metric->size + 1 : NULL;
}

size_t mel_metric_coefficients(const mel_metric *metric)
{
    return metric->n_coefficients;
}

const double *mel_metric_coefficient(const mel_metric *metric)
{
    return metric->coefficient;
}

mel_status mel_metric_set_coefficients(mel_metric *metric, const double *coefficients, mel_error *err)
{
    const size_t bytes = metric->n_coefficients * sizeof *coefficients;
    double *fresh = mel_alloc(bytes, 1), *old = metric->coefficient;
    if (fresh == NULL)
        return mel_fail_memory(err, "the coefficients of a metric");
    memcpy(fresh, coefficients, bytes);
    metric->coefficient = fresh;
    const mel_status status = mel_metric_settle(metric, err);
    metric->coefficient = status == MEL_OK ? fresh : old;
    free(status == MEL_OK ? old : fresh);
    return status;
}

static mel_status check_intervals(const mel_metric *metric, const double *low, const double *high,
                                  mel_error *err)
{
    for (size_t i = 0; i < metric->n_coefficients; i++)
        if (!isfinite(low[i]) || !isfinite(high[i]) || low[i] > high[i])
            return mel_fail(err, MEL_EINVAL, "coefficient %zu: [%g, %g] is not an interval", i + 1, low[i],
                            high[i]);
    return MEL_OK;
}

mel_status mel_metric_set_intervals(mel_metric *metric, const double *low, const double *high, mel_error *err)
{
    const size_t n = metric->n_coefficients;
    double *both = NULL;
    if ((low == NULL) != (high == NULL))
        return mel_fail(err, MEL_EINVAL, "intervals need both ends");
    if (low != NULL) {
        TRY(check_intervals(metric, low, high, err));
        both = mel_alloc(2 * n, sizeof *both);
        if (both == NULL)
            return mel_fail_memory(err, "the intervals of a metric");
        memcpy(both, low, n * sizeof *low);
        memcpy(both + n, high, n * sizeof *high);
    }
    free(metric->low); /* one block with the other ends */
    metric->low = both;
    metric->high = both != NULL ? both + n : NULL;
    return MEL_OK;
}

bool mel_metric_interval(const mel_metric *metric, size_t coefficient, double *low, double *high)
{
    if (metric->low == NULL || coefficient >= metric->n_coefficients)
        return false;
    *low = metric->low[coefficient];
    *high = metric->high[coefficient];
    return true;
}

mel_status mel_metric_set_elicited(mel_metric *metric, const mel_elicited *how, mel_error *err)
{
    char *strategy = NULL;
    if (how->strategy != NULL) {
        if (strlen(how->strategy) > MEL_NAME_BYTES || !mel_text_is_utf8(how->strategy))
            return mel_fail(err, MEL_EINVAL, "the name of the strategy is too long or not UTF-8");
        if (!isnan(how->radius) && !(how->radius >= 0.0 && isfinite(how->radius)))
            return mel_fail(err, MEL_EINVAL, "radius %g of an elicited metric", how->radius);
        strategy = mel_strdup(how->strategy);
        if (strategy == NULL)
            return mel_fail_memory(err, "the strategy of a metric");
    }
    free(metric->strategy);
    metric->strategy = strategy;
    metric->elicited = *how;
    metric->elicited.strategy = strategy;
    return MEL_OK;
}

mel_elicited mel_metric_elicited(const mel_metric *metric)
{
    return metric->elicited;
}

/* --- what it says about statistics, and its scale ---------------------------------------------------- */

mel_status mel_metric_value(double *out, const mel_metric *metric, const double *statistics, mel_error *err)
{
    double value = 0.0;
    TRY(metric->ops->value(&value, metric, statistics, err));
    if (!isfinite(value))
        return mel_fail(err, MEL_ENUMERIC, "the metric is %g at these statistics", value);
    *out = value;
    return MEL_OK;
}

mel_status mel_metric_gradient(double *out, const mel_metric *metric, const double *statistics,
                               mel_error *err)
{
    TRY(metric->ops->gradient(out, metric, statistics, err));
    for (size_t i = 0; i < metric->size; i++)
        if (!isfinite(out[i]))
            return mel_fail(err, MEL_ENUMERIC, "the slope of the metric in statistic %zu is %g", i + 1,
                            out[i]);
    return MEL_OK;
}

mel_status mel_metric_compare(double *out, const mel_metric *metric, const double *a, const double *b,
                              mel_error *err)
{
    double difference = 0.0;
    TRY(metric->ops->difference(&difference, metric, a, b, err));
    if (!isfinite(difference))
        return mel_fail(err, MEL_ENUMERIC, "the values of the two classifiers differ by %g", difference);
    *out = metric->orientation == MEL_COST ? -difference : difference;
    return MEL_OK;
}

mel_status mel_metric_normalise(mel_metric *metric, mel_error *err)
{
    return metric->ops->normalise(metric, err);
}

mel_status mel_metric_check_divisor(const mel_metric *metric, size_t first, size_t n, double norm,
                                    mel_error *err)
{
    for (size_t i = first; i < first + n; i++) {
        const double low = metric->low != NULL ? metric->low[i] : 0.0;
        const double high = metric->low != NULL ? metric->high[i] : 0.0;
        if (!isfinite(metric->coefficient[i] / norm) || !isfinite(low / norm) || !isfinite(high / norm))
            return mel_fail(err, MEL_ENUMERIC, "coefficient %zu is too large to be divided by %g", i + 1,
                            norm);
    }
    return MEL_OK;
}

void mel_metric_divide(mel_metric *metric, size_t first, size_t n, double norm)
{
    for (size_t i = first; i < first + n; i++) {
        metric->coefficient[i] /= norm;
        if (metric->low == NULL)
            continue;
        const double low = metric->low[i] / norm, high = metric->high[i] / norm;
        metric->low[i] = norm > 0.0 ? low : high;
        metric->high[i] = norm > 0.0 ? high : low;
    }
}

mel_status mel_metric_divide_all(mel_metric *metric, double norm, const char *what, mel_error *err)
{
    if (!isfinite(norm) || norm == 0.0)
        return mel_fail(err, MEL_ENUMERIC, "a metric whose weights have %s %g cannot be scaled", what, norm);
    TRY(mel_metric_check_divisor(metric, 0, metric->n_coefficients, norm, err));
    mel_metric_divide(metric, 0, metric->n_coefficients, norm);
    return MEL_OK;
}

/* --- random metrics as uncertain as the intervals ------------------------------------------------ */

/* The middle 95% of a standard normal variable end here. */
static const double normal_97_5 = 1.959963984540054;

/* Normal with a width of its own on either side, so that both ends are met. */
static double draw_one(const mel_metric *metric, size_t i, mel_rng *rng)
{
    const double middle = metric->coefficient[i], z = mel_rng_normal(rng) / normal_97_5;
    const double side = z < 0.0 ? middle - metric->low[i] : metric->high[i] - middle;
    return middle + z * fmax(side, 0.0); /* a value outside its interval does not move to that side */
}

static void draw_block(double *out, const mel_metric *metric, size_t first, const mel_field *field,
                       mel_rng *rng)
{
    const size_t n = mel_tensor_size(field->side, field->rank);
    for (size_t i = 0; i < n; i++) {
        const size_t twin = mel_tensor_sorted_place(i, field->side, field->rank);
        out[first + i] = twin == i ? draw_one(metric, first + i, rng) : out[first + twin];
    }
}

void mel_metric_draw(double *out, const mel_metric *metric, mel_rng *rng)
{
    mel_field fields[MEL_MAX_FIELDS];
    const size_t n_fields = mel_metric_fields(fields, metric);
    for (size_t i = 0; metric->low == NULL && i < metric->n_coefficients; i++)
        out[i] = metric->coefficient[i];
    for (size_t f = 0; metric->low != NULL && f < n_fields; f++) {
        const size_t blocks = fields[f].groups > 1 ? mel_group_pairs(fields[f].groups) : 1;
        const size_t n = mel_tensor_size(fields[f].side, fields[f].rank);
        for (size_t b = 0; b < blocks; b++)
            draw_block(out, metric, fields[f].first + b * n, &fields[f], rng);
    }
    if (metric->ops->is.groups) {
        double *lambda = &out[metric->n_coefficients - 1];
        *lambda = fmin(fmax(*lambda, 0.0), 1.0);
    }
}

bool mel_metric_draws(double *out, const mel_metric *metric, size_t n, uint64_t seed)
{
    mel_rng rng;
    mel_rng_seed(&rng, seed);
    for (size_t i = 0; i < n && metric->low != NULL; i++)
        mel_metric_draw(out + i * metric->n_coefficients, metric, &rng);
    return metric->low != NULL;
}

/* --- the same metric in another order, or of right decisions instead of mistakes --------------------- */

/* Where the old metric has each coordinate of the new one. */
typedef struct {
    size_t *within; /* one group's coordinates */
    size_t *all;    /* those of all groups */
} places;

/* The coordinate of (truth, said) within a group. */
static size_t coordinate(const mel_layout *layout, size_t truth, size_t said)
{
    if (layout->coordinates == MEL_BINARY)
        return 1 - truth;
    return layout->coordinates == MEL_DIAGONAL ? truth
                                               : truth * (layout->n_classes - 1) + said - (said > truth);
}

/* Without groups there is one, in its place. */
static size_t old_group(const size_t *group_place, size_t g)
{
    return group_place != NULL ? group_place[g] : g;
}

static void find_places(const places *out, const mel_metric *metric, const size_t *class_place,
                        const size_t *group_place)
{
    const mel_layout *layout = &metric->layout;
    const size_t k = layout->n_classes, q = metric->per_group;
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < k; j++)
            if ((i == j) != (layout->coordinates == MEL_OFFDIAGONAL))
                out->within[coordinate(layout, i, j)] = coordinate(layout, class_place[i], class_place[j]);
    for (size_t g = 0; g < metric->size / q; g++)
        for (size_t c = 0; c < q; c++)
            out->all[g * q + c] = old_group(group_place, g) * q + out->within[c];
}

/* side^rank numbers; each index goes its own way. */
static void reorder_tensor(double *out, const double *in, size_t side, uint32_t rank, const size_t *place)
{
    const size_t n = mel_tensor_size(side, rank);
    for (size_t at = 0; at < n; at++) {
        size_t from = 0, step = 1, left = at;
        for (uint32_t d = 0; d < rank && side > 0; d++) {
            from += place[left % side] * step;
            left /= side;
            step *= side;
        }
        out[at] = in[from];
    }
}

static void reorder_field(double *out, const double *in, const mel_field *field, const mel_metric *metric,
                          const places *to, const size_t *group_place)
{
    const size_t *place = field->side == metric->size ? to->all : to->within;
    const size_t block = field->rank == 0 ? 1 : mel_tensor_size(field->side, field->rank);
    if (field->rank == 0)
        out[field->first] = in[field->first];
    else if (field->groups < 2)
        reorder_tensor(out + field->first, in + field->first, field->side, field->rank, place);
    for (size_t v = 1; field->rank > 0 && v < field->groups; v++)
        for (size_t u = 0; u < v; u++) { /* what pairs weigh does not depend on their order */
            const size_t a = old_group(group_place, u), b = old_group(group_place, v);
            const size_t from = mel_group_pair(field->groups, a < b ? a : b, a < b ? b : a);
            reorder_tensor(out + field->first + mel_group_pair(field->groups, u, v) * block,
                           in + field->first + from * block, field->side, field->rank, to->within);
        }
}

static void reorder_all(double *out, const double *in, const mel_metric *metric, const places *to,
                        const size_t *group_place)
{
    mel_field field[MEL_MAX_FIELDS];
    const size_t n = mel_metric_fields(field, metric);
    for (size_t f = 0; f < n; f++)
        reorder_field(out, in, &field[f], metric, to, group_place);
}

static mel_status reorder_intervals(mel_metric *out, const mel_metric *in, const places *to,
                                    const size_t *group_place, mel_error *err)
{
    const size_t n = in->n_coefficients;
    MEL_AUTO_MEMORY double *low = mel_alloc(2 * n, sizeof *low);
    if (low == NULL)
        return mel_fail_memory(err, "the intervals of a metric");
    double *high = low + n;
    reorder_all(low, in->low, in, to, group_place);
    reorder_all(high, in->high, in, to, group_place);
    return mel_metric_set_intervals(out, low, high, err);
}

static mel_status reorder_numbers(mel_metric *out, const mel_metric *in, const size_t *class_place,
                                  const size_t *group_place, mel_error *err)
{
    const size_t k = in->layout.n_classes;
    MEL_AUTO_MEMORY size_t *memory = mel_alloc(in->per_group + in->size, sizeof *memory);
    if (memory == NULL)
        return mel_fail_memory(err, "the order of a metric");
    const places to = { memory, memory + in->per_group };
    find_places(&to, in, class_place, group_place);
    reorder_all(out->coefficient, in->coefficient, in, &to, group_place);
    for (size_t g = 0; in->prevalence != NULL && g < in->layout.n_groups; g++)
        for (size_t i = 0; i < k; i++)
            out->prevalence[g * k + i] = in->prevalence[old_group(group_place, g) * k + class_place[i]];
    return in->low != NULL ? reorder_intervals(out, in, &to, group_place, err) : MEL_OK;
}

/* Is every number below n there once? */
static bool is_order(size_t n, const size_t *place)
{
    for (size_t i = 0; i < n; i++) {
        if (place[i] >= n)
            return false;
        for (size_t j = 0; j < i; j++)
            if (place[i] == place[j])
                return false;
    }
    return true;
}

mel_status mel_metric_reorder(mel_metric **out, const mel_metric *metric, const size_t *class_place,
                              const size_t *group_place, mel_error *err)
{
    *out = NULL;
    const size_t k = metric->layout.n_classes, m = metric->group_names != NULL ? metric->layout.n_groups : 0;
    if (!is_order(k, class_place) || (m > 0 && (group_place == NULL || !is_order(m, group_place))))
        return mel_fail(err, MEL_EINVAL,
                        "the new order of a metric is not an order of its %zu classes and %zu groups", k, m);
    MEL_AUTO(mel_metric) *made = NULL;
    MEL_AUTO_MEMORY const char **name = mel_alloc(k + m, sizeof *name);
    if (name == NULL)
        return mel_fail_memory(err, "the names of a metric");
    for (size_t i = 0; i < k; i++)
        name[i] = metric->class_names[class_place[i]];
    for (size_t g = 0; g < m; g++)
        name[k + g] = metric->group_names[group_place[g]];
    TRY(new_like(&made, metric, &metric->layout, name, m > 0 ? name + k : NULL, metric->orientation, err));
    TRY(reorder_numbers(made, metric, class_place, m > 0 ? group_place : NULL, err));
    *out = made;
    made = NULL;
    return MEL_OK;
}

mel_status mel_metric_turn(mel_metric **out, const mel_metric *metric, mel_error *err)
{
    *out = NULL;
    if (!mel_metric_trades_two(metric))
        return mel_fail(err, MEL_EINVAL, "only weighted sums of two classes are of mistakes as well");
    MEL_AUTO(mel_metric) *made = NULL;
    mel_layout layout = metric->layout;
    layout.coordinates = layout.coordinates == MEL_BINARY ? MEL_OFFDIAGONAL : MEL_BINARY;
    TRY(new_like(&made, metric, &layout, (const char *const *)metric->class_names, NULL,
                 metric->orientation == MEL_COST ? MEL_UTILITY : MEL_COST, err));
    for (size_t i = 0; i < 2; i++)
        made->coefficient[i] = metric->coefficient[1 - i];
    if (metric->low != NULL)
        TRY(mel_metric_set_intervals(made, (double[]){ metric->low[1], metric->low[0] },
                                     (double[]){ metric->high[1], metric->high[0] }, err));
    *out = made;
    made = NULL;
    return MEL_OK;
}
