/* Measures of confusion matrices: made by name or from a metric, evaluated. */
#include "metric/measure.h"

#include "data/quote.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 64 };
static const double rounding = 1e-12; /* shares that a difference of sums made */

/* --- two classes, as mel_named has them --------------------------------------------------------- */

static mel_status named_value(double *out, const mel_measure *m, const double *confusion, mel_error *err)
{
    mel_counts counts = { 0 };
    for (size_t g = 0; g < m->n_groups; g++) {
        const double *c = mel_measure_block(m, confusion, g);
        counts.tn += c[0];
        counts.fp += c[1];
        counts.fn += c[2];
        counts.tp += c[3];
    }
    return mel_named_value(out, m->named, m->parameter, &counts, err);
}

static const mel_measure_row named_row = { "named", named_value, NULL, false, true, false, MEL_OVER_ROWS };

/* --- metric objects ----------------------------------------------------------------------------- */

/* Coordinate c of the layout is which entry of the confusion matrices. */
static size_t entry_of(const mel_layout *layout, size_t c)
{
    const size_t k = layout->n_classes, m = layout->n_groups > 1 ? layout->n_groups : 1;
    const size_t each = mel_layout_size(layout) / m;
    return c / each * k * k + mel_layout_cell(layout, c % each);
}

static double total(const mel_measure *m, const double *confusion)
{
    double sum = 0.0;
    for (size_t c = 0; c < m->n_groups * m->k * m->k; c++)
        sum += confusion[c];
    return sum;
}

/* What an entry is divided by: all, or for rates its class's share in its group. */
static mel_status divisor(double *out, const mel_measure *m, const double *confusion, size_t entry,
                          double all, mel_error *err)
{
    double rate = 0.0;
    *out = all;
    return mel_metric_layout(m->metric)->kind == MEL_RATES
               ? mel_measure_recall(&rate, out, m, confusion, entry / m->k, err)
               : MEL_OK;
}

static mel_status put_statistics(const mel_measure *m, const double *confusion, mel_error *err)
{
    const mel_layout *layout = mel_metric_layout(m->metric);
    const double all = total(m, confusion);
    mel_status status = MEL_OK;
    for (size_t c = 0; c < mel_layout_size(layout) && status == MEL_OK; c++) {
        double by = 1.0;
        const size_t entry = entry_of(layout, c);
        status = divisor(&by, m, confusion, entry, all, err);
        m->statistics[c] = confusion[entry] / by;
    }
    return status;
}

static mel_status metric_value(double *out, const mel_measure *m, const double *confusion, mel_error *err)
{
    const mel_status status = put_statistics(m, confusion, err);
    return status == MEL_OK ? mel_metric_value(out, m->metric, m->statistics, err) : status;
}

static mel_status metric_gradient(double *out, const mel_measure *m, const double *confusion, mel_error *err)
{
    const mel_layout *layout = mel_metric_layout(m->metric);
    const double all = total(m, confusion);
    mel_status status = put_statistics(m, confusion, err);
    if (status == MEL_OK)
        status = mel_metric_gradient(m->slope, m->metric, m->statistics, err);
    memset(out, 0, mel_measure_cells(m) * sizeof *out);
    for (size_t c = 0; c < mel_layout_size(layout) && status == MEL_OK; c++) {
        double by = 1.0;
        const size_t entry = entry_of(layout, c);
        status = divisor(&by, m, confusion, entry, all, err);
        out[entry] = m->slope[c] / by;
    }
    return status;
}

static const mel_measure_row metric_row = { "metric", metric_value, metric_gradient, false,
                                            false,    false,        MEL_OVER_ROWS };

/* --- making them -------------------------------------------------------------------------------- */

void mel_measure_free(mel_measure *m)
{
    if (m == NULL)
        return;
    mel_metric_free(m->metric);
    free(m->name);
    free(m->numbers);
    free(m->statistics);
    free(m);
}

static mel_status make(mel_measure **out, const char *name, size_t k, size_t n_groups, mel_error *err)
{
    *out = NULL;
    const mel_layout layout = { MEL_CONFUSION, MEL_OFFDIAGONAL, k, n_groups };
    const mel_status status = mel_layout_check(&layout, err);
    if (status != MEL_OK)
        return status;
    const size_t groups = n_groups > 1 ? n_groups : 1;
    mel_measure *m = mel_alloc_zero(1, sizeof *m);
    if (m == NULL)
        return mel_fail_memory(err, "a measure");
    *m = (mel_measure){ .k = k, .n_groups = groups, .name = mel_strdup(name) };
    m->statistics = mel_alloc_zero(4 * groups * k * k, sizeof *m->statistics);
    if (m->statistics == NULL || m->name == NULL) {
        mel_measure_free(m);
        return mel_fail_memory(err, "a measure");
    }
    m->slope = m->statistics + 2 * groups * k * k;
    *out = m;
    return MEL_OK;
}

static mel_status unknown(const char *name, mel_error *err)
{
    return mel_fail(
        err, MEL_EINVAL,
        "%s is not a measure known by name: accuracy, balanced-accuracy, g-mean, min-recall, q-mean, "
        "mcc, kappa; precision, recall, jaccard, f1 (f0.5, f2, ...) of two classes and macro-, micro-, "
        "weighted- of more; specificity, weighted-accuracy:W, selection-rate; equalised-odds, "
        "equal-opportunity, demographic-parity, ...; with groups NAME:difference, NAME:ratio, "
        "NAME:group-mean, NAME:every-group, ...; behind "
        "q-mean:, "
        "equalised-odds: (weights), distribution-matching: (a target) and psd-q: (a matrix) numbers follow",
        mel_quote_text(name).text);
}

/* The row for a plain name without what is said about groups. */
static mel_status find_row(mel_measure *m, const char *plain, mel_error *err)
{
    mel_status why = MEL_OK;
    m->row = mel_measure_row_find(&m->fraction, plain);
    if (m->row == NULL && mel_measure_rates_find(m, plain, &why, err))
        m->row = &mel_measure_rates_row;
    if (why == MEL_OK && m->row == NULL && mel_named_parse(&m->named, &m->parameter, plain, NULL) == MEL_OK)
        m->row = &named_row;
    return why == MEL_OK && m->row == NULL ? unknown(m->name, err) : why;
}

static mel_status check_fit(const mel_measure *m, mel_error *err)
{
    if (m->row->binary && m->k != 2)
        return mel_fail(err, MEL_EINVAL, "%s is for two classes, not %zu%s", m->name, m->k,
                        m->row->gradient != NULL ? "; with macro-, micro- or weighted- before it for more"
                                                 : "");
    const bool groups = m->n_groups > 1, rates = m->row == &mel_measure_rates_row;
    if (m->every_group && (!groups || m->row->over != MEL_OVER_CLASSES))
        return mel_fail(err, MEL_EINVAL,
                        groups ? "%s: of every group are balanced-accuracy, g-mean, min-recall, q-mean and "
                                 "macro averages"
                               : "%s needs groups",
                        m->name);
    if (m->over != MEL_GROUPS_TOGETHER && (!groups || rates))
        return mel_fail(err, MEL_EINVAL, rates ? "%s: it compares groups already" : "%s needs groups",
                        m->name);
    if (!rates)
        return MEL_OK;
    const bool alone = m->rates == MEL_RATES_Q_MEAN || m->rates == MEL_RATES_DISTRIBUTION_MATCHING ||
                       m->rates == MEL_RATES_PSD_Q;
    if (alone == groups)
        return mel_fail(err, MEL_EINVAL, alone ? "%s is without groups" : "%s needs groups", m->name);
    const bool two = m->rates == MEL_RATES_EQUAL_OPPORTUNITY || m->rates == MEL_RATES_NEGATIVE_BALANCE ||
                     m->rates == MEL_RATES_ERROR_RATE_BALANCE;
    return two && m->k != 2 ? mel_fail(err, MEL_EINVAL, "%s is for two classes, not %zu", m->name, m->k)
                            : MEL_OK;
}

/* Long are only lists of numbers, which have no letters. */
static mel_status settle(mel_measure *m, mel_error *err)
{
    char plain[NAME_BYTES];
    const bool fits = mel_plain_name(plain, sizeof plain, m->name);
    char *colon = fits ? strrchr(plain, ':') : NULL;
    m->every_group = colon != NULL && strcmp(colon + 1, "every-group") == 0;
    if (m->every_group || (colon != NULL && mel_over_groups_parse(&m->over, colon + 1)))
        *colon = '\0';
    const mel_status status = find_row(m, fits ? plain : m->name, err);
    return status == MEL_OK ? check_fit(m, err) : status;
}

mel_status mel_measure_named(mel_measure **out, const char *name, size_t n_classes, size_t n_groups,
                             mel_error *err)
{
    mel_status status = make(out, name, n_classes, n_groups, err);
    if (status != MEL_OK || *out == NULL)
        return status;
    status = settle(*out, err);
    if (status != MEL_OK) {
        mel_measure_free(*out);
        *out = NULL;
    }
    return status;
}

mel_status mel_measure_together(mel_measure **out, const char *name, size_t n_classes, size_t n_groups,
                                mel_error *err)
{
    mel_status status = mel_measure_named(out, name, n_classes, 0, err);
    if (n_groups < 2 || (status != MEL_OK && status != MEL_EINVAL) ||
        (*out != NULL && (*out)->row->over != MEL_OVER_GROUPS))
        return status;
    mel_measure_free(*out);
    return mel_measure_named(out, name, n_classes, n_groups, err);
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
    mel_status status = make(out, "the metric", n_classes, n_groups, err);
    if (status != MEL_OK || *out == NULL)
        return status;
    (*out)->row = &metric_row;
    status = mel_metric_copy(&(*out)->metric, metric, err);
    if (status != MEL_OK) {
        mel_measure_free(*out);
        *out = NULL;
    }
    return status;
}

mel_status mel_measure_set_coefficients(mel_measure *m, const double *coefficients, mel_error *err)
{
    return m->metric != NULL ? mel_metric_set_coefficients(m->metric, coefficients, err)
                             : mel_fail(err, MEL_EINVAL, "%s has no coefficients", m->name);
}

void mel_measure_call(mel_measure *m, const char *const *class_name, const char *const *group_name)
{
    m->called = (mel_called){ class_name, group_name };
}

/* --- asking them -------------------------------------------------------------------------------- */

static mel_status check_confusion(const mel_measure *m, const double *confusion, mel_error *err)
{
    double sum = 0.0;
    for (size_t c = 0; c < mel_measure_cells(m); c++) {
        if (!(confusion[c] >= -rounding) || !isfinite(confusion[c]))
            return mel_fail(err, MEL_EINVAL,
                            "entry %zu of the confusion matrix is %g, neither a count nor a share", c + 1,
                            confusion[c]);
        sum += confusion[c];
    }
    return sum > 0.0 ? MEL_OK : mel_fail(err, MEL_EDATA, "%s: the confusion matrix is empty", m->name);
}

mel_status mel_measure_value(double *out, const mel_measure *m, const double *confusion, mel_error *err)
{
    double value = 0.0;
    mel_status status = check_confusion(m, confusion, err);
    if (status == MEL_OK)
        status = m->over != MEL_GROUPS_TOGETHER ? mel_measure_over_groups(&value, m, confusion, err)
                                                : m->row->value(&value, m, confusion, err);
    if (status == MEL_OK && !isfinite(value))
        status = mel_fail(err, MEL_ENUMERIC, "%s is %g here", m->name, value);
    if (status == MEL_OK)
        *out = value;
    return status;
}

bool mel_measure_has_gradient(const mel_measure *m)
{
    return m->row->gradient != NULL && m->over == MEL_GROUPS_TOGETHER;
}

mel_status mel_measure_gradient(double *out, const mel_measure *m, const double *confusion, mel_error *err)
{
    if (!mel_measure_has_gradient(m))
        return mel_fail(err, MEL_EINVAL, "the gradient of %s is not known", m->name);
    const mel_status status = check_confusion(m, confusion, err);
    return status == MEL_OK ? m->row->gradient(out, m, confusion, err) : status;
}

bool mel_measure_is_smooth(const mel_measure *m)
{
    if (m->metric != NULL)
        return mel_metric_family(m->metric) != MEL_FAMILY_FAIR_LINEAR;
    if (m->row == &mel_measure_rates_row)
        return m->gap == MEL_GAP_SQUARED;
    return !m->row->corners && (m->over == MEL_GROUPS_TOGETHER || m->over == MEL_GROUPS_MEAN);
}

bool mel_measure_has_positive(const mel_measure *m)
{
    double *matrix = m->slope + mel_measure_cells(m), value = 0.0,
           exchanged = 0.0; /* rows use what is before */
    if (m->k != 2)
        return false;
    for (size_t turn = 0; turn < 2; turn++) {
        for (size_t c = 0; c < mel_measure_cells(m); c++) { /* numbers that no symmetry makes equal */
            const size_t of = turn == 0 ? c : c / 4 * 4 + 3 - c % 4;
            matrix[c] = 1.0 + sqrt((double)(of * of + of + 2));
        }
        if (mel_measure_value(turn == 0 ? &value : &exchanged, m, matrix, NULL) != MEL_OK)
            return true;
    }
    return fabs(value - exchanged) > 1e-9 * fmax(fabs(value), fabs(exchanged));
}

mel_orientation mel_measure_orientation(const mel_measure *m)
{
    if (m->metric != NULL)
        return mel_metric_orientation(m->metric);
    const bool gap = m->over == MEL_GROUPS_DIFFERENCE || m->over == MEL_GROUPS_DIFFERENCE_TO_ALL;
    const bool ratio = m->over == MEL_GROUPS_RATIO || m->over == MEL_GROUPS_RATIO_TO_ALL;
    return gap || (m->row->cost && !ratio) ? MEL_COST : MEL_UTILITY;
}

size_t mel_measure_cells(const mel_measure *m)
{
    return m->n_groups * m->k * m->k;
}

size_t mel_measure_groups(const mel_measure *m)
{
    return m->n_groups;
}
