/* Metrics as black boxes of confusion entries: measures by name, and metric objects. */
#include "optimise/optimise.h"

#include "data/quote.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Slopes of roots are taken no nearer to 0 than here, where they are infinite. */
static const double least_rate = 1e-9;

typedef mel_status measure_fn(double *out, const mel_measure *m, const double *confusion, mel_error *err);

typedef struct {
    const char *name;
    measure_fn *value, *gradient; /* gradient NULL: unknown */
} measure_row;

struct mel_measure {
    size_t k, n_groups; /* n_groups at least 1 */
    const measure_row *row;
    mel_named named; /* of the row for two classes */
    double parameter;
    mel_metric *metric; /* of the row for metrics */
    double *statistics, *slope;
};

/* --- rates -------------------------------------------------------------------------------------- */

static double row_sum(const mel_measure *m, const double *confusion, size_t row)
{
    double sum = 0.0;
    for (size_t j = 0; j < m->k; j++)
        sum += confusion[row * m->k + j];
    return sum;
}

/* Of class i in group g, row = g k + i. */
static mel_status recall(double *out, double *share, const mel_measure *m, const double *confusion,
                         size_t row, mel_error *err)
{
    *share = row_sum(m, confusion, row);
    if (!(*share > 0.0))
        return mel_fail(err, MEL_EDATA, "no validation row is of class %zu in group %zu: %s is not defined",
                        row % m->k + 1, row / m->k + 1, m->row->name);
    *out = confusion[row * m->k + row % m->k] / *share;
    return MEL_OK;
}

/* All recalls and class shares: 2 x groups x k numbers. */
static mel_status all_recalls(double *rate, const mel_measure *m, const double *confusion, mel_error *err)
{
    const size_t n = m->n_groups * m->k;
    mel_status status = MEL_OK;
    for (size_t row = 0; row < n && status == MEL_OK; row++)
        status = recall(&rate[row], &rate[n + row], m, confusion, row, err);
    return status;
}

static double *diagonal(const mel_measure *m, double *matrix, size_t row)
{
    return &matrix[row * m->k + row % m->k];
}

static void clear_matrix(const mel_measure *m, double *matrix)
{
    memset(matrix, 0, m->n_groups * m->k * m->k * sizeof *matrix);
}

/* --- the measures ------------------------------------------------------------------------------- */

static mel_status accuracy(double *out, const mel_measure *m, const double *confusion, mel_error *err)
{
    (void)err;
    *out = 0.0;
    for (size_t row = 0; row < m->n_groups * m->k; row++)
        *out += confusion[row * m->k + row % m->k];
    return MEL_OK;
}

static mel_status accuracy_gradient(double *out, const mel_measure *m, const double *confusion,
                                    mel_error *err)
{
    (void)confusion;
    (void)err;
    clear_matrix(m, out);
    for (size_t row = 0; row < m->n_groups * m->k; row++)
        *diagonal(m, out, row) = 1.0;
    return MEL_OK;
}

static mel_status balanced(double *out, const mel_measure *m, const double *confusion, mel_error *err)
{
    const size_t n = m->n_groups * m->k;
    const mel_status status = all_recalls(m->statistics, m, confusion, err);
    *out = 0.0;
    for (size_t row = 0; row < n; row++)
        *out += m->statistics[row] / (double)n;
    return status;
}

static mel_status balanced_gradient(double *out, const mel_measure *m, const double *confusion,
                                    mel_error *err)
{
    const size_t n = m->n_groups * m->k;
    const mel_status status = all_recalls(m->statistics, m, confusion, err);
    clear_matrix(m, out);
    for (size_t row = 0; row < n && status == MEL_OK; row++)
        *diagonal(m, out, row) = 1.0 / ((double)n * m->statistics[n + row]);
    return status;
}

static mel_status g_mean(double *out, const mel_measure *m, const double *confusion, mel_error *err)
{
    const size_t n = m->n_groups * m->k;
    const mel_status status = all_recalls(m->statistics, m, confusion, err);
    double product = 1.0;
    for (size_t row = 0; row < n; row++)
        product *= pow(m->statistics[row], 1.0 / (double)n);
    *out = product;
    return status;
}

static mel_status g_mean_gradient(double *out, const mel_measure *m, const double *confusion, mel_error *err)
{
    const size_t n = m->n_groups * m->k;
    const mel_status status = all_recalls(m->statistics, m, confusion, err);
    double product = 1.0;
    clear_matrix(m, out);
    for (size_t row = 0; row < n; row++)
        product *= pow(fmax(m->statistics[row], least_rate), 1.0 / (double)n);
    for (size_t row = 0; row < n && status == MEL_OK; row++)
        *diagonal(m, out, row) =
            product / ((double)n * fmax(m->statistics[row], least_rate) * m->statistics[n + row]);
    return status;
}

static mel_status min_recall(double *out, const mel_measure *m, const double *confusion, mel_error *err)
{
    const mel_status status = all_recalls(m->statistics, m, confusion, err);
    *out = m->statistics[0];
    for (size_t row = 1; row < m->n_groups * m->k; row++)
        *out = fmin(*out, m->statistics[row]);
    return status;
}

/* 2 C_ii / (row i + column i) of one group; 0 where the class neither is nor is predicted. */
static double f1(const mel_measure *m, const double *confusion, size_t g, size_t i, double *sum)
{
    const double *c = confusion + g * m->k * m->k;
    *sum = 0.0;
    for (size_t j = 0; j < m->k; j++)
        *sum += c[i * m->k + j] + c[j * m->k + i];
    return *sum > 0.0 ? 2.0 * c[i * m->k + i] / *sum : 0.0;
}

/* Adds weight times d f1 / d confusion. */
static void add_f1_gradient(double *out, const mel_measure *m, const double *confusion, size_t g, size_t i,
                            double weight)
{
    double sum = 0.0, *c = out + g * m->k * m->k;
    const double value = f1(m, confusion, g, i, &sum);
    for (size_t j = 0; j < m->k && sum > 0.0; j++) {
        c[i * m->k + j] -= weight * value / sum;
        c[j * m->k + i] -= weight * value / sum;
    }
    c[i * m->k + i] += sum > 0.0 ? 2.0 * weight / sum : 0.0;
}

static mel_status macro_f1(double *out, const mel_measure *m, const double *confusion, mel_error *err)
{
    (void)err;
    double sum = 0.0;
    *out = 0.0;
    for (size_t row = 0; row < m->n_groups * m->k; row++)
        *out += f1(m, confusion, row / m->k, row % m->k, &sum) / (double)(m->n_groups * m->k);
    return MEL_OK;
}

static mel_status macro_f1_gradient(double *out, const mel_measure *m, const double *confusion,
                                    mel_error *err)
{
    (void)err;
    clear_matrix(m, out);
    for (size_t row = 0; row < m->n_groups * m->k; row++)
        add_f1_gradient(out, m, confusion, row / m->k, row % m->k, 1.0 / (double)(m->n_groups * m->k));
    return MEL_OK;
}

static mel_status group_f1(double *out, const mel_measure *m, const double *confusion, mel_error *err)
{
    (void)err;
    double sum = 0.0;
    *out = 0.0;
    for (size_t g = 0; g < m->n_groups; g++)
        *out += f1(m, confusion, g, m->k - 1, &sum) / (double)m->n_groups;
    return MEL_OK;
}

static mel_status group_f1_gradient(double *out, const mel_measure *m, const double *confusion,
                                    mel_error *err)
{
    (void)err;
    clear_matrix(m, out);
    for (size_t g = 0; g < m->n_groups; g++)
        add_f1_gradient(out, m, confusion, g, m->k - 1, 1.0 / (double)m->n_groups);
    return MEL_OK;
}

static mel_status named(double *out, const mel_measure *m, const double *c, mel_error *err)
{
    const mel_counts counts = { .tn = c[0], .fp = c[1], .fn = c[2], .tp = c[3] };
    return mel_named_value(out, m->named, m->parameter, &counts, err);
}

/* --- metric objects ----------------------------------------------------------------------------- */

/* Coordinate c of the layout is which entry of the confusion matrices. */
static size_t entry_of(const mel_layout *layout, size_t c)
{
    const size_t k = layout->n_classes, m = layout->n_groups > 1 ? layout->n_groups : 1;
    const size_t each = mel_layout_size(layout) / m, at = c % each;
    size_t row = at, column = at;
    if (layout->coordinates == MEL_BINARY) {
        row = column = 1 - at;
    } else if (layout->coordinates == MEL_OFFDIAGONAL) {
        row = at / (k - 1);
        column = at % (k - 1) + (at % (k - 1) >= row ? 1 : 0);
    }
    return (c / each * k + row) * k + column;
}

/* What an entry is divided by: 1, or its class's share in its group for rates. */
static mel_status divisor(double *out, const mel_measure *m, const double *confusion, size_t entry,
                          mel_error *err)
{
    double rate = 0.0;
    *out = 1.0;
    return mel_metric_layout(m->metric)->kind == MEL_RATES
               ? recall(&rate, out, m, confusion, entry / m->k, err)
               : MEL_OK;
}

static mel_status put_statistics(const mel_measure *m, const double *confusion, mel_error *err)
{
    const mel_layout *layout = mel_metric_layout(m->metric);
    mel_status status = MEL_OK;
    for (size_t c = 0; c < mel_layout_size(layout) && status == MEL_OK; c++) {
        double by = 1.0;
        const size_t entry = entry_of(layout, c);
        status = divisor(&by, m, confusion, entry, err);
        m->statistics[c] = confusion[entry] / by;
    }
    return status;
}

static double sign_of(const mel_metric *metric)
{
    return mel_metric_orientation(metric) == MEL_COST ? -1.0 : 1.0;
}

static mel_status metric_value(double *out, const mel_measure *m, const double *confusion, mel_error *err)
{
    mel_status status = put_statistics(m, confusion, err);
    if (status == MEL_OK)
        status = mel_metric_value(out, m->metric, m->statistics, err);
    *out *= sign_of(m->metric);
    return status;
}

static mel_status metric_gradient(double *out, const mel_measure *m, const double *confusion, mel_error *err)
{
    const mel_layout *layout = mel_metric_layout(m->metric);
    mel_status status = put_statistics(m, confusion, err);
    if (status == MEL_OK)
        status = mel_metric_gradient(m->slope, m->metric, m->statistics, err);
    clear_matrix(m, out);
    for (size_t c = 0; c < mel_layout_size(layout) && status == MEL_OK; c++) {
        double by = 1.0;
        const size_t entry = entry_of(layout, c);
        status = divisor(&by, m, confusion, entry, err);
        out[entry] = sign_of(m->metric) * m->slope[c] / by;
    }
    return status;
}

/* --- making them -------------------------------------------------------------------------------- */

static const measure_row rows[] = {
    { "accuracy", accuracy, accuracy_gradient }, { "balanced-accuracy", balanced, balanced_gradient },
    { "g-mean", g_mean, g_mean_gradient },       { "gmean", g_mean, g_mean_gradient },
    { "macro-f1", macro_f1, macro_f1_gradient }, { "min-recall", min_recall, NULL },
    { "group-f1", group_f1, group_f1_gradient },
};
static const measure_row named_row = { "this measure", named, NULL };
static const measure_row metric_row = { "this metric", metric_value, metric_gradient };

void mel_measure_free(mel_measure *m)
{
    if (m == NULL)
        return;
    mel_metric_free(m->metric);
    free(m->statistics);
    free(m);
}

static mel_status make(mel_measure **out, const measure_row *row, size_t k, size_t n_groups, mel_error *err)
{
    const size_t groups = n_groups > 1 ? n_groups : 1;
    mel_measure *m = mel_alloc_zero(1, sizeof *m);
    *out = m;
    if (m == NULL)
        return mel_fail_memory(err, "a measure");
    *m = (mel_measure){ .k = k, .n_groups = groups, .row = row };
    m->statistics = mel_alloc_zero(4 * groups * k * k, sizeof *m->statistics);
    m->slope = m->statistics + 2 * groups * k * k;
    return m->statistics != NULL ? MEL_OK : mel_fail_memory(err, "a measure");
}

static mel_status keep(mel_measure **out, mel_status status)
{
    if (status != MEL_OK) {
        mel_measure_free(*out);
        *out = NULL;
    }
    return status;
}

mel_status mel_measure_named(mel_measure **out, const char *name, size_t n_classes, size_t n_groups,
                             mel_error *err)
{
    *out = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0)
            return keep(out, make(out, &rows[i], n_classes, n_groups, err));
    mel_named which = MEL_NAMED_ACCURACY;
    double parameter = 0.0;
    mel_status status = mel_named_parse(&which, &parameter, name, err);
    if (status != MEL_OK)
        return mel_fail(err, status,
                        "there is no measure %s; those for any number of classes are accuracy, "
                        "balanced-accuracy, g-mean, macro-f1, min-recall and group-f1",
                        mel_quote_text(name).text);
    if (n_classes != 2 || n_groups > 1)
        return mel_fail(err, MEL_EINVAL, "%s is for two classes without groups", name);
    status = make(out, &named_row, n_classes, n_groups, err);
    if (status == MEL_OK) {
        (*out)->named = which;
        (*out)->parameter = parameter;
    }
    return keep(out, status);
}

mel_status mel_measure_metric(mel_measure **out, const mel_metric *metric, size_t n_classes, size_t n_groups,
                              mel_error *err)
{
    *out = NULL;
    const mel_layout *layout = mel_metric_layout(metric);
    const size_t groups = layout->n_groups > 1 ? layout->n_groups : 1;
    if (layout->n_classes != n_classes || groups != (n_groups > 1 ? n_groups : 1))
        return mel_fail(err, MEL_EINVAL,
                        "the metric is about %zu classes and %zu groups, the rows about %zu and %zu",
                        layout->n_classes, groups, n_classes, n_groups > 1 ? n_groups : 1);
    mel_status status = make(out, &metric_row, n_classes, n_groups, err);
    if (status == MEL_OK)
        status = mel_metric_copy(&(*out)->metric, metric, err);
    return keep(out, status);
}

static mel_status box_value(double *out, void *user, const double *confusion, mel_error *err)
{
    const mel_measure *m = user;
    return m->row->value(out, m, confusion, err);
}

static mel_status box_gradient(double *out, void *user, const double *confusion, mel_error *err)
{
    const mel_measure *m = user;
    return m->row->gradient(out, m, confusion, err);
}

mel_black_box mel_measure_box(mel_measure *m, const uint32_t *group)
{
    return (mel_black_box){ .value = box_value,
                            .gradient = m->row->gradient != NULL ? box_gradient : NULL,
                            .user = m,
                            .n_groups = group != NULL ? m->n_groups : 0,
                            .group = group };
}
