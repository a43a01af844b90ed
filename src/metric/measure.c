/* Measures of confusion matrices: made by name or from a metric, evaluated. */
#include "metric/measure.h"

#include "data/quote.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double rounding = 1e-12; /* shares that a difference of sums made */

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
    for (size_t c = 0; c < mel_layout_size(layout); c++) {
        double by = 1.0;
        const size_t entry = entry_of(layout, c);
        TRY(divisor(&by, m, confusion, entry, all, err));
        m->statistics[c] = confusion[entry] / by;
    }
    return MEL_OK;
}

static mel_status metric_value(double *out, const mel_measure *m, const double *confusion, mel_error *err)
{
    TRY(put_statistics(m, confusion, err));
    return mel_metric_value(out, m->metric, m->statistics, err);
}

static mel_status metric_gradient(double *out, const mel_measure *m, const double *confusion, mel_error *err)
{
    const mel_layout *layout = mel_metric_layout(m->metric);
    const double all = total(m, confusion);
    TRY(put_statistics(m, confusion, err));
    TRY(mel_metric_gradient(m->slope, m->metric, m->statistics, err));
    memset(out, 0, mel_measure_cells(m) * sizeof *out);
    for (size_t c = 0; c < mel_layout_size(layout); c++) {
        double by = 1.0;
        const size_t entry = entry_of(layout, c);
        TRY(divisor(&by, m, confusion, entry, all, err));
        out[entry] = m->slope[c] / by;
    }
    return MEL_OK;
}

static const mel_measure_row metric_row = { "metric", metric_value, metric_gradient, MEL_SHAPE_LOCAL,
                                            .over = MEL_OVER_ROWS };

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

static mel_status new_measure(mel_measure **out, const char *name, size_t k, size_t n_groups, mel_error *err)
{
    *out = NULL;
    const mel_layout layout = { MEL_CONFUSION, MEL_OFFDIAGONAL, k, n_groups };
    TRY(mel_layout_check(&layout, err));
    const size_t groups = n_groups > 1 ? n_groups : 1, room = 2 * groups * (k + 1) * (k + 1);
    MEL_AUTO(mel_measure) *m = mel_alloc_zero(1, sizeof *m);
    if (m == NULL)
        return mel_fail_memory(err, "a measure");
    *m = (mel_measure){ .k = k, .n_groups = groups, .name = mel_strdup(name) };
    m->statistics = mel_alloc_zero(2 * room, sizeof *m->statistics);
    if (m->statistics == NULL || m->name == NULL)
        return mel_fail_memory(err, "a measure");
    m->slope = m->statistics + room;
    *out = m;
    m = NULL;
    return MEL_OK;
}

/* Measures of probabilities, which no decision can be best for. */
static const char *const of_probabilities[] = {
    "auc",         "roc-auc",          "auroc",         "average-precision", "pr-auc",  "brier",
    "brier-score", "brier-score-loss", "cross-entropy", "log-loss",          "logloss", "neg-log-loss"
};

static mel_status unknown(const char *name, const char *plain, mel_error *err)
{
    for (size_t i = 0; i < sizeof of_probabilities / sizeof *of_probabilities; i++)
        if (strcmp(plain, of_probabilities[i]) == 0)
            return mel_fail(
                err, MEL_EINVAL,
                "%s is a measure of probabilities and does not depend on what is decided; "
                "measures here are of decisions: f1, mcc, balanced-accuracy, or what mistakes cost",
                mel_quote_text(name).text);
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

/* Other names: scikit-learn's, imbalanced-learn's, fairlearn's. */
static const struct {
    const char *other, *name;
} aliases[] = {
    { "gmean", "g-mean" },
    { "geometric-mean", "g-mean" },
    { "matthews-corrcoef", "mcc" },
    { "cohen-kappa", "kappa" },
    { "true-positive-rate", "recall" },
    { "true-negative-rate", "specificity" },
    { "equalized-odds", "equalised-odds" },
};

static bool cut_end(char *text, const char *end)
{
    const size_t n = strlen(text), length = strlen(end);
    if (n <= length || strcmp(text + n - length, end) != 0)
        return false;
    text[n - length] = '\0';
    return true;
}

/* The row for what is before the first colon; functions of scikit-learn end in _score, of fairlearn in
 * _difference. */
static mel_status find_row(mel_measure *m, char *plain, mel_error *err)
{
    const bool difference = cut_end(plain, "-difference");
    (void)cut_end(plain, "-score");
    const char *name = plain;
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (strcmp(plain, aliases[i].other) == 0)
            name = aliases[i].name;
    m->row = strlen(name) < MEL_MEASURE_NAME ? mel_measure_row_find(&m->fraction, name) : NULL;
    if (m->row == NULL)
        return unknown(m->name, plain, err);
    m->gap = m->row->gap;
    if (difference && !mel_measure_compares_groups(m))
        m->over = MEL_GROUPS_DIFFERENCE;
    return MEL_OK;
}

/* A word or numbers behind a colon: each kind of word once. */
static mel_status read_part(mel_measure *m, bool *has_gap, const char *part, mel_error *err)
{
    static const char *const gaps[] = {
        [MEL_GAP_SQUARED] = "squared", [MEL_GAP_ABSOLUTE] = "absolute", [MEL_GAP_LARGEST] = "largest"
    };
    const bool joined = m->every_group || m->over != MEL_GROUPS_TOGETHER;
    for (size_t i = 0; i < sizeof gaps / sizeof *gaps; i++)
        if (strcmp(part, gaps[i]) == 0 && m->row->rates && !*has_gap) {
            m->gap = (mel_gap)i;
            *has_gap = true;
            return MEL_OK;
        }
    if (strcmp(part, "every-group") == 0 && !joined) {
        m->every_group = true;
        return MEL_OK;
    }
    if (!joined && mel_over_groups_parse(&m->over, part))
        return MEL_OK;
    return strspn(part, "0123456789.-+") > 0 ? mel_measure_read_numbers(m, part, err)
                                             : unknown(m->name, "", err);
}

static mel_status check_fit(const mel_measure *m, mel_error *err)
{
    const bool groups = m->n_groups > 1, between = mel_measure_compares_groups(m);
    if (m->row->binary && m->k != 2)
        return mel_fail(err, MEL_EINVAL, "%s is for two classes, not %zu%s", m->name, m->k,
                        m->fraction.tp > 0.0 ? "; with macro-, micro- or weighted- before it for more" : "");
    if (m->row->numbers == MEL_NUMBERS_WEIGHT && m->numbers == NULL)
        return unknown(m->name, "", err);
    if (m->row->numbers == MEL_NUMBERS_MATRIX && (m->numbers == NULL || m->gap != MEL_GAP_SQUARED))
        return mel_fail(err, MEL_EINVAL,
                        "%s: expected psd-q:Q11,Q12,.., a matrix row by row, and behind it a target or none",
                        m->name);
    if (m->every_group && (!groups || m->row->over != MEL_OVER_CLASSES))
        return mel_fail(err, MEL_EINVAL,
                        groups ? "%s: of every group are balanced-accuracy, g-mean, min-recall, q-mean and "
                                 "macro averages"
                               : "%s needs groups",
                        m->name);
    if (m->over != MEL_GROUPS_TOGETHER && between)
        return mel_fail(err, MEL_EINVAL, "%s: it compares groups already", m->name);
    if ((m->over != MEL_GROUPS_TOGETHER || between) && !groups)
        return mel_fail(err, MEL_EINVAL, "%s needs groups", m->name);
    const bool alone = m->row->rates && m->row->compared == MEL_COMPARED_MATCHING;
    return alone && groups && m->over == MEL_GROUPS_TOGETHER
               ? mel_fail(err, MEL_EINVAL, "%s is without groups", m->name)
               : MEL_OK;
}

/* Lower case, '-' for '_' and blanks; "fbeta:2" is "f2". */
static char *plain_name(const char *name)
{
    char *plain = mel_strdup(name);
    for (char *at = plain; at != NULL && *at != '\0'; at++)
        *at = (char)(*at >= 'A' && *at <= 'Z' ? *at - 'A' + 'a' : *at == '_' || *at == ' ' ? '-' : *at);
    if (plain != NULL && strncmp(plain, "fbeta:", 6) == 0)
        memmove(plain + 1, plain + 6, strlen(plain + 6) + 1);
    return plain;
}

static mel_status settle_name(mel_measure *m, mel_error *err)
{
    MEL_AUTO_MEMORY char *plain = plain_name(m->name);
    if (plain == NULL)
        return mel_fail_memory(err, "a measure");
    char *part = strchr(plain, ':');
    if (part != NULL)
        *part++ = '\0';
    TRY(find_row(m, plain, err));
    bool has_gap = false;
    while (part != NULL) {
        char *next = strchr(part, ':');
        if (next != NULL)
            *next++ = '\0';
        TRY(read_part(m, &has_gap, part, err));
        part = next;
    }
    return check_fit(m, err);
}

mel_status mel_measure_named(mel_measure **out, const char *name, size_t n_classes, size_t n_groups,
                             mel_error *err)
{
    *out = NULL;
    MEL_AUTO(mel_measure) *m = NULL;
    TRY(new_measure(&m, name, n_classes, n_groups, err));
    TRY(settle_name(m, err));
    *out = m;
    m = NULL;
    return MEL_OK;
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
    MEL_AUTO(mel_measure) *m = NULL;
    TRY(new_measure(&m, "the metric", n_classes, n_groups, err));
    m->row = &metric_row;
    TRY(mel_metric_copy(&m->metric, metric, err));
    *out = m;
    m = NULL;
    return MEL_OK;
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
    if (!isfinite(sum))
        return mel_fail(err, MEL_EINVAL, "%s: the confusion matrix adds up to more than a number can hold",
                        m->name);
    return sum > 0.0 ? MEL_OK : mel_fail(err, MEL_EDATA, "%s: the confusion matrix is empty", m->name);
}

mel_status mel_measure_value(double *out, const mel_measure *m, const double *confusion, mel_error *err)
{
    double value = 0.0;
    TRY(check_confusion(m, confusion, err));
    TRY((m->over != MEL_GROUPS_TOGETHER ? mel_measure_over_groups : m->row->value)(&value, m, confusion,
                                                                                   err));
    if (!isfinite(value))
        return mel_fail(err, MEL_ENUMERIC, "%s is %g here", m->name, value);
    *out = value;
    return MEL_OK;
}

bool mel_measure_has_gradient(const mel_measure *m)
{
    return m->row->gradient != NULL && m->over == MEL_GROUPS_TOGETHER &&
           (!m->row->rates || mel_measure_is_smooth(m));
}

mel_status mel_measure_gradient(double *out, const mel_measure *m, const double *confusion, mel_error *err)
{
    if (!mel_measure_has_gradient(m))
        return mel_fail(err, MEL_EINVAL, "the gradient of %s is not known", m->name);
    TRY(check_confusion(m, confusion, err));
    return m->row->gradient(out, m, confusion, err);
}

bool mel_measure_is_smooth(const mel_measure *m)
{
    if (m->metric != NULL)
        return mel_metric_family(m->metric) != MEL_FAMILY_FAIR_LINEAR;
    if (m->row->rates && m->gap != MEL_GAP_SQUARED &&
        !(m->gap == MEL_GAP_ABSOLUTE && m->row->compared == MEL_COMPARED_RECALLS))
        return false;
    return m->row->shape != MEL_SHAPE_KINKED &&
           (m->over == MEL_GROUPS_TOGETHER || m->over == MEL_GROUPS_MEAN);
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
