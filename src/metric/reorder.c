/* The same metric with its classes and groups in another order, or of right decisions instead of mistakes. */
#include "metric/families/families.h"
#include "metric/shared.h"

#include <stdlib.h>

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
    TRY(in->low != NULL ? reorder_intervals(out, in, &to, group_place, err) : MEL_OK);
    return mel_metric_set_elicited(out, &in->elicited, err);
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
    const char **name = mel_alloc(k + m, sizeof *name);
    if (name == NULL)
        return mel_fail_memory(err, "the names of a metric");
    for (size_t i = 0; i < k; i++)
        name[i] = metric->class_names[class_place[i]];
    for (size_t g = 0; g < m; g++)
        name[k + g] = metric->group_names[group_place[g]];
    const mel_metric_kind kind = { metric->family, metric->degree,          metric->layout,
                                   name,           m > 0 ? name + k : NULL, metric->orientation };
    mel_metric *made = NULL;
    mel_status status = mel_metric_new(&made, &kind, err);
    free(name);
    if (status == MEL_OK && made != NULL)
        status = reorder_numbers(made, metric, class_place, m > 0 ? group_place : NULL, err);
    if (status != MEL_OK) {
        mel_metric_free(made);
        return status;
    }
    *out = made;
    return MEL_OK;
}

mel_status mel_metric_turn(mel_metric **out, const mel_metric *metric, mel_error *err)
{
    *out = NULL;
    if (!mel_metric_trades_two(metric))
        return mel_fail(err, MEL_EINVAL, "only weighted sums of two classes are of mistakes as well");
    mel_metric_kind kind = { metric->family, metric->degree,
                             metric->layout, (const char *const *)metric->class_names,
                             NULL,           metric->orientation == MEL_COST ? MEL_UTILITY : MEL_COST };
    kind.layout.coordinates = metric->layout.coordinates == MEL_BINARY ? MEL_OFFDIAGONAL : MEL_BINARY;
    mel_metric *made = NULL;
    mel_status status = mel_metric_new(&made, &kind, err);
    for (size_t i = 0; i < 2 && status == MEL_OK; i++)
        made->coefficient[i] = metric->coefficient[1 - i];
    if (status == MEL_OK && metric->low != NULL)
        status = mel_metric_set_intervals(made, (double[]){ metric->low[1], metric->low[0] },
                                          (double[]){ metric->high[1], metric->high[0] }, err);
    if (status == MEL_OK)
        status = mel_metric_set_elicited(made, &metric->elicited, err);
    if (status != MEL_OK) {
        mel_metric_free(made);
        return status;
    }
    *out = made;
    return MEL_OK;
}
