/* Measures of confusion matrices by name: their formulas for any number of classes. */
#include "data/number.h"
#include "metric/measure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Slopes of roots are taken no nearer to 0 than here, where they are infinite. */
static const double least_rate = 1e-9;

/* --- rates -------------------------------------------------------------------------------------- */

double mel_measure_row_sum(const mel_measure *m, const double *confusion, size_t row)
{
    double sum = 0.0;
    for (size_t j = 0; j < m->k; j++)
        sum += confusion[row * m->k + j];
    return sum;
}

mel_status mel_measure_recall(double *out, double *share, const mel_measure *m, const double *confusion,
                              size_t row, mel_error *err)
{
    *share = mel_measure_row_sum(m, confusion, row);
    if (!(*share > 0.0))
        return mel_fail_in(err, mel_fail_no_rows(err, &m->called, m->n_groups, row / m->k, row % m->k),
                           "%s is not defined", m->name);
    *out = confusion[row * m->k + row % m->k] / *share;
    return MEL_OK;
}

/* All recalls and class shares: 2 x groups x k numbers. */
static mel_status all_recalls(double *rate, const mel_measure *m, const double *confusion, mel_error *err)
{
    const size_t n = m->n_groups * m->k;
    for (size_t row = 0; row < n; row++)
        TRY(mel_measure_recall(&rate[row], &rate[n + row], m, confusion, row, err));
    return MEL_OK;
}

static double *diagonal(const mel_measure *m, double *matrix, size_t row)
{
    return &matrix[row * m->k + row % m->k];
}

static void clear_matrix(const mel_measure *m, double *matrix)
{
    memset(matrix, 0, m->n_groups * m->k * m->k * sizeof *matrix);
}

/* --- averages of recalls ------------------------------------------------------------------------ */

static mel_status accuracy(double *out, const mel_measure *m, const double *confusion, mel_error *err)
{
    (void)err;
    double right = 0.0, all = 0.0;
    for (size_t row = 0; row < m->n_groups * m->k; row++) {
        right += confusion[row * m->k + row % m->k];
        all += mel_measure_row_sum(m, confusion, row);
    }
    *out = right / all;
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

/* The mean over classes that have rows. */
static mel_status balanced(double *out, const mel_measure *m, const double *confusion, mel_error *err)
{
    double sum = 0.0, classes = 0.0;
    for (size_t row = 0; row < m->n_groups * m->k; row++) {
        double rate = 0.0, share = 0.0;
        if (m->n_groups > 1) { /* of groups all classes are asked for */
            TRY(mel_measure_recall(&rate, &share, m, confusion, row, err));
        } else {
            share = mel_measure_row_sum(m, confusion, row);
            rate = share > 0.0 ? confusion[row * m->k + row] / share : 0.0;
        }
        sum += rate;
        classes += share > 0.0;
    }
    *out = sum / classes;
    return MEL_OK;
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

/* --- precision, recall, F, Jaccard -------------------------------------------------------------- */

/* TP, FN and FP of class i in a matrix of k x k. */
static mel_class_fraction class_counts(const double *c, size_t k, size_t i)
{
    mel_class_fraction n = { c[i * k + i], 0.0, 0.0 };
    for (size_t j = 0; j < k; j++)
        if (j != i) {
            n.fn += c[i * k + j];
            n.fp += c[j * k + i];
        }
    return n;
}

/* 0 where it is 0/0. */
static double fraction_of(const mel_class_fraction *w, const mel_class_fraction *n, double *whole)
{
    const double part = w->tp * n->tp;
    *whole = part + w->fn * n->fn + w->fp * n->fp;
    return *whole > 0.0 ? part / *whole : 0.0;
}

static double class_value(const mel_measure *m, const double *c, size_t i)
{
    const mel_class_fraction n = class_counts(c, m->k, i);
    double whole = 0.0;
    return fraction_of(&m->fraction, &n, &whole);
}

/* Adds weight times d class_value / d c. */
static void add_class_gradient(double *out, const mel_measure *m, const double *c, size_t i, double weight)
{
    const mel_class_fraction n = class_counts(c, m->k, i), *w = &m->fraction;
    double whole = 0.0;
    const double value = fraction_of(w, &n, &whole);
    if (!(whole > 0.0))
        return;
    out[i * m->k + i] += weight * w->tp * (1.0 - value) / whole;
    for (size_t j = 0; j < m->k; j++)
        if (j != i) {
            out[i * m->k + j] -= weight * value * w->fn / whole;
            out[j * m->k + i] -= weight * value * w->fp / whole;
        }
}

/* All groups in one matrix. */
static const double *together(const mel_measure *m, const double *confusion)
{
    const size_t cells = m->k * m->k;
    if (m->n_groups == 1)
        return confusion;
    memset(m->slope, 0, cells * sizeof *m->slope);
    for (size_t g = 0; g < m->n_groups; g++)
        for (size_t c = 0; c < cells; c++)
            m->slope[c] += confusion[g * cells + c];
    return m->slope;
}

static void repeat_for_groups(double *out, const mel_measure *m)
{
    for (size_t g = 1; g < m->n_groups; g++)
        memcpy(out + g * m->k * m->k, out, m->k * m->k * sizeof *out);
}

/* The value of the second of two classes. */
static mel_status positive(double *out, const mel_measure *m, const double *confusion, mel_error *err)
{
    (void)err;
    *out = class_value(m, together(m, confusion), 1);
    return MEL_OK;
}

static mel_status positive_gradient(double *out, const mel_measure *m, const double *confusion,
                                    mel_error *err)
{
    (void)err;
    clear_matrix(m, out);
    add_class_gradient(out, m, together(m, confusion), 1, 1.0);
    repeat_for_groups(out, m);
    return MEL_OK;
}

static bool occurs(const mel_measure *m, const double *c, size_t i)
{
    const mel_class_fraction n = class_counts(c, m->k, i);
    return n.tp + n.fn + n.fp > 0.0;
}

/* The mean over the classes, of every group, that occur among labels or predictions. */
static mel_status macro(double *out, const mel_measure *m, const double *confusion, mel_error *err)
{
    (void)err;
    double sum = 0.0, classes = 0.0;
    for (size_t row = 0; row < m->n_groups * m->k; row++) {
        const double *c = mel_measure_block(m, confusion, row / m->k);
        sum += class_value(m, c, row % m->k);
        classes += occurs(m, c, row % m->k);
    }
    *out = sum / classes;
    return MEL_OK;
}

static mel_status macro_gradient(double *out, const mel_measure *m, const double *confusion, mel_error *err)
{
    (void)err;
    double classes = 0.0;
    clear_matrix(m, out);
    for (size_t row = 0; row < m->n_groups * m->k; row++)
        classes += occurs(m, mel_measure_block(m, confusion, row / m->k), row % m->k);
    for (size_t row = 0; row < m->n_groups * m->k; row++)
        add_class_gradient(out + row / m->k * m->k * m->k, m, mel_measure_block(m, confusion, row / m->k),
                           row % m->k, 1.0 / classes);
    return MEL_OK;
}

/* Weighted by the rows of each class. */
static mel_status weighted(double *out, const mel_measure *m, const double *confusion, mel_error *err)
{
    (void)err;
    const double *c = together(m, confusion);
    double sum = 0.0, all = 0.0;
    for (size_t i = 0; i < m->k; i++) {
        const double rows = mel_measure_row_sum(m, c, i);
        sum += rows * class_value(m, c, i);
        all += rows;
    }
    *out = sum / all;
    return MEL_OK;
}

static mel_status weighted_gradient(double *out, const mel_measure *m, const double *confusion,
                                    mel_error *err)
{
    (void)err;
    const double *c = together(m, confusion);
    double all = 0.0;
    clear_matrix(m, out);
    for (size_t i = 0; i < m->k; i++)
        all += mel_measure_row_sum(m, c, i);
    for (size_t i = 0; i < m->k; i++)
        add_class_gradient(out, m, c, i, mel_measure_row_sum(m, c, i) / all);
    repeat_for_groups(out, m);
    return MEL_OK;
}

/* Counts of all classes added up first. Every mistake is one class's miss and another's false alarm. */
static mel_status micro(double *out, const mel_measure *m, const double *confusion, mel_error *err)
{
    double right = 0.0;
    TRY(accuracy(&right, m, confusion, err));
    const double hits = m->fraction.tp * right;
    *out = hits / (hits + (m->fraction.fn + m->fraction.fp) * (1.0 - right));
    return MEL_OK;
}

static mel_status micro_gradient(double *out, const mel_measure *m, const double *confusion, mel_error *err)
{
    double right = 0.0;
    TRY(accuracy(&right, m, confusion, err));
    const double hit = m->fraction.tp, miss = m->fraction.fn + m->fraction.fp;
    const double whole = hit * right + miss * (1.0 - right);
    clear_matrix(m, out);
    for (size_t row = 0; row < m->n_groups * m->k; row++)
        *diagonal(m, out, row) = hit * miss / (whole * whole);
    return MEL_OK;
}

static mel_status group_mean_of_last(double *out, const mel_measure *m, const double *confusion,
                                     mel_error *err)
{
    (void)err;
    *out = 0.0;
    for (size_t g = 0; g < m->n_groups; g++)
        *out += class_value(m, mel_measure_block(m, confusion, g), m->k - 1) / (double)m->n_groups;
    return MEL_OK;
}

static mel_status group_mean_gradient(double *out, const mel_measure *m, const double *confusion,
                                      mel_error *err)
{
    (void)err;
    clear_matrix(m, out);
    for (size_t g = 0; g < m->n_groups; g++)
        add_class_gradient(out + g * m->k * m->k, m, mel_measure_block(m, confusion, g), m->k - 1,
                           1.0 / (double)m->n_groups);
    return MEL_OK;
}

/* --- agreement beyond chance -------------------------------------------------------------------- */

/* Shares of each class among rows (t) and among predictions (p), and what is right. */
typedef struct {
    double *t, *p, right, tp, tt, pp;
} agreement;

static agreement find_agreement(const mel_measure *m, const double *confusion)
{
    const size_t k = m->k;
    const double *c = together(m, confusion);
    agreement s = { m->statistics, m->statistics + k, 0.0, 0.0, 0.0, 0.0 };
    double all = 0.0;
    for (size_t i = 0; i < k * k; i++)
        all += c[i];
    for (size_t i = 0; i < k; i++) {
        s.t[i] = s.p[i] = 0.0;
        for (size_t j = 0; j < k; j++) {
            s.t[i] += c[i * k + j] / all;
            s.p[i] += c[j * k + i] / all;
        }
        s.right += c[i * k + i] / all;
        s.tp += s.t[i] * s.p[i];
        s.tt += s.t[i] * s.t[i];
        s.pp += s.p[i] * s.p[i];
    }
    return s;
}

/* Rounding of 1 - sum of squares where one class has everything. */
static const double nothing_left = 1e-15;

/* TP TN - FP FN of shares with one rounding of the result's size (Kahan). */
static double covariance_of_two(const double *c)
{
    const double all = c[0] + c[1] + c[2] + c[3], fp = c[1] / all, fn = c[2] / all, product = fp * fn;
    return fma(c[0] / all, c[3] / all, -product) + fma(-fp, fn, product);
}

static mel_status matthews(double *out, const mel_measure *m, const double *confusion, mel_error *err)
{
    (void)err;
    const agreement s = find_agreement(m, confusion);
    const bool two = m->k == 2;
    const double t = two ? s.t[0] * s.t[1] : 1.0 - s.tt, p = two ? s.p[0] * s.p[1] : 1.0 - s.pp;
    const double least = two ? 0.0 : nothing_left;
    const double covariance = two ? covariance_of_two(together(m, confusion)) : s.right - s.tp;
    *out = t > least && p > least ? fmax(-1.0, fmin(1.0, covariance / (sqrt(t) * sqrt(p)))) : 0.0;
    return MEL_OK;
}

static mel_status matthews_gradient(double *out, const mel_measure *m, const double *confusion,
                                    mel_error *err)
{
    (void)err;
    const size_t k = m->k;
    const agreement s = find_agreement(m, confusion);
    const double t = 1.0 - s.tt, p = 1.0 - s.pp, root = sqrt(t) * sqrt(p), value = (s.right - s.tp) / root;
    const bool defined = t > nothing_left && p > nothing_left;
    for (size_t i = 0; i < k * k; i++)
        out[i] = defined ? ((i / k == i % k ? 1.0 : 0.0) - s.t[i % k]) / root + value * s.p[i % k] / p : 0.0;
    repeat_for_groups(out, m);
    return MEL_OK;
}

static mel_status kappa_agreement(agreement *s, const mel_measure *m, const double *confusion, mel_error *err)
{
    *s = find_agreement(m, confusion);
    return 1.0 - s->tp > nothing_left
               ? MEL_OK
               : mel_fail(err, MEL_ENUMERIC, "kappa is 0/0: all rows and predictions are of one class");
}

static mel_status kappa(double *out, const mel_measure *m, const double *confusion, mel_error *err)
{
    agreement s;
    TRY(kappa_agreement(&s, m, confusion, err));
    *out = (s.right - s.tp) / (1.0 - s.tp);
    return MEL_OK;
}

static mel_status kappa_gradient(double *out, const mel_measure *m, const double *confusion, mel_error *err)
{
    agreement s;
    TRY(kappa_agreement(&s, m, confusion, err));
    const size_t k = m->k;
    const double rest = 1.0 - s.tp;
    for (size_t i = 0; i < k * k; i++)
        out[i] = (i / k == i % k ? 1.0 : 0.0) / rest - s.t[i % k] * (1.0 - s.right) / (rest * rest);
    repeat_for_groups(out, m);
    return MEL_OK;
}

/* --- weighted sums of two classes: (w0 c0 + .. + w3 c3) / (v0 c0 + .. + v3 c3) over constant sums ------- */

/* Of TN, FP, FN, TP. */
typedef struct {
    double part[4], whole[4];
} two_sums;

/* The slope where the whole, made of rows of classes, does not change; 0 where it is 0. */
static mel_status sums_of_two(double *value, double *slope, const mel_measure *m, const double *confusion,
                              const two_sums *sums)
{
    const double *c = together(m, confusion);
    double part = 0.0, whole = 0.0;
    for (size_t i = 0; i < 4; i++) {
        part += sums->part[i] * c[i];
        whole += sums->whole[i] * c[i];
    }
    if (value != NULL)
        *value = whole > 0.0 ? part / whole : 0.0;
    if (slope != NULL) {
        for (size_t i = 0; i < 4; i++)
            slope[i] = whole > 0.0 ? sums->part[i] / whole : 0.0;
        repeat_for_groups(slope, m);
    }
    return MEL_OK;
}

/* Value and slope of a measure of two classes. */
#define TWO_CLASSES(name, ...)                                                                               \
    static mel_status name(double *out, const mel_measure *m, const double *confusion, mel_error *err)       \
    {                                                                                                        \
        (void)err;                                                                                           \
        return sums_of_two(out, NULL, m, confusion, &(const two_sums)__VA_ARGS__);                           \
    }                                                                                                        \
    static mel_status name##_gradient(double *out, const mel_measure *m, const double *confusion,            \
                                      mel_error *err)                                                        \
    {                                                                                                        \
        (void)err;                                                                                           \
        return sums_of_two(NULL, out, m, confusion, &(const two_sums)__VA_ARGS__);                           \
    }

TWO_CLASSES(selection_rate, { { 0, 1, 0, 1 }, { 1, 1, 1, 1 } })
TWO_CLASSES(false_positive_rate, { { 0, 1, 0, 0 }, { 1, 1, 0, 0 } })
TWO_CLASSES(false_negative_rate, { { 0, 0, 1, 0 }, { 0, 0, 1, 1 } })
TWO_CLASSES(specificity, { { 1, 0, 0, 0 }, { 1, 1, 0, 0 } })
TWO_CLASSES(weighted_accuracy, { { 1, 0, 0, *m->numbers }, { 1, 1, *m->numbers, *m->numbers } })

/* --- the table ---------------------------------------------------------------------------------- */

#define RATES .value = mel_rates_value, .gradient = mel_rates_gradient, .rates = true, .cost = true
static const mel_measure_row rows[] = {
    { "accuracy", accuracy, accuracy_gradient, MEL_SHAPE_LINEAR, .over = MEL_OVER_ROWS },
    { "balanced-accuracy", balanced, balanced_gradient, MEL_SHAPE_LINEAR, .over = MEL_OVER_CLASSES },
    { "g-mean", g_mean, g_mean_gradient, MEL_SHAPE_CONCAVE, .over = MEL_OVER_CLASSES },
    { "min-recall", min_recall, NULL, MEL_SHAPE_KINKED, .over = MEL_OVER_CLASSES },
    { "mcc", matthews, matthews_gradient, MEL_SHAPE_LOCAL, .over = MEL_OVER_ROWS },
    { "kappa", kappa, kappa_gradient, MEL_SHAPE_RATIO, .over = MEL_OVER_ROWS },
    { "selection-rate", selection_rate, selection_rate_gradient, MEL_SHAPE_LINEAR, .binary = true },
    { "false-positive-rate", false_positive_rate, false_positive_rate_gradient, MEL_SHAPE_LINEAR,
      .binary = true, .cost = true },
    { "false-negative-rate", false_negative_rate, false_negative_rate_gradient, MEL_SHAPE_LINEAR,
      .binary = true, .cost = true },
    { "specificity", specificity, specificity_gradient, MEL_SHAPE_LINEAR, .binary = true },
    { "weighted-accuracy", weighted_accuracy, weighted_accuracy_gradient, MEL_SHAPE_LINEAR, .binary = true,
      .numbers = MEL_NUMBERS_WEIGHT },
    { "q-mean", RATES, .compared = MEL_COMPARED_RECALLS, .gap = MEL_GAP_SQUARED, .over = MEL_OVER_CLASSES,
      .numbers = MEL_NUMBERS_CLASSES },
    { "distribution-matching", RATES, .compared = MEL_COMPARED_MATCHING, .gap = MEL_GAP_SQUARED,
      .numbers = MEL_NUMBERS_TARGET },
    { "psd-q", RATES, .compared = MEL_COMPARED_MATCHING, .gap = MEL_GAP_SQUARED,
      .numbers = MEL_NUMBERS_MATRIX },
    { "equalised-odds", RATES, .compared = MEL_COMPARED_ODDS, .gap = MEL_GAP_LARGEST,
      .numbers = MEL_NUMBERS_MISTAKES },
    { "equal-opportunity", RATES, .compared = MEL_COMPARED_MISSES, .gap = MEL_GAP_LARGEST, .binary = true },
    { "negative-balance", RATES, .compared = MEL_COMPARED_ALARMS, .gap = MEL_GAP_LARGEST, .binary = true },
    { "error-rate-balance", RATES, .compared = MEL_COMPARED_ERRORS, .gap = MEL_GAP_LARGEST, .binary = true },
    { "demographic-parity", RATES, .compared = MEL_COMPARED_SHARES, .gap = MEL_GAP_LARGEST },
};
/* Before the name of a fraction, or behind it as in scikit-learn. */
static const mel_measure_row averages[] = {
    { "macro-", macro, macro_gradient, MEL_SHAPE_LOCAL, .over = MEL_OVER_CLASSES },
    { "micro-", micro, micro_gradient, MEL_SHAPE_RATIO, .over = MEL_OVER_ROWS },
    { "weighted-", weighted, weighted_gradient, MEL_SHAPE_LOCAL, .over = MEL_OVER_ROWS },
    { "group-", group_mean_of_last, group_mean_gradient, MEL_SHAPE_LOCAL, .over = MEL_OVER_GROUPS },
    { "", positive, positive_gradient, MEL_SHAPE_RATIO, .binary = true },
};
static const struct {
    const char *name;
    mel_class_fraction fraction;
} fractions[] = {
    { "precision", { 1.0, 0.0, 1.0 } },
    { "recall", { 1.0, 1.0, 0.0 } },
    { "jaccard", { 1.0, 1.0, 1.0 } },
};

static bool find_fraction(mel_class_fraction *out, const char *name)
{
    for (size_t i = 0; i < sizeof fractions / sizeof *fractions; i++)
        if (strcmp(fractions[i].name, name) == 0) {
            *out = fractions[i].fraction;
            return true;
        }
    double beta = 0.0;
    if (name[0] != 'f' || mel_number_parse(name + 1, strlen(name + 1), &beta) != MEL_NUMBER_FINITE ||
        !(beta > 0.0) || !(beta <= 1e100))
        return false;
    /* Divided by max(1, beta^2), so that a large beta does not drown the counts. */
    const double b2 = beta * beta, scale = fmax(1.0, b2);
    *out = (mel_class_fraction){ 1.0 / scale + b2 / scale, b2 / scale, 1.0 / scale };
    return true;
}

/* What "macro-f1" and "f1-macro" say besides "macro-"; false: nothing. */
static bool cut_average(char rest[MEL_MEASURE_NAME], const char *name, const char *average)
{
    const size_t length = strlen(average), n = strlen(name);
    const bool before = strncmp(name, average, length) == 0;
    const bool behind = length > 1 && n > length && name[n - length] == '-' &&
                        strncmp(name + n - length + 1, average, length - 1) == 0;
    if (!before && !behind)
        return false;
    (void)snprintf(rest, MEL_MEASURE_NAME, "%.*s", (int)(n - length), before ? name + length : name);
    return true;
}

const mel_measure_row *mel_measure_row_find(mel_class_fraction *fraction, const char *name)
{
    char rest[MEL_MEASURE_NAME];
    *fraction = (mel_class_fraction){ 0 };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    for (size_t i = 0; i < sizeof averages / sizeof *averages; i++)
        if (cut_average(rest, name, averages[i].name) && find_fraction(fraction, rest))
            return &averages[i];
    return NULL;
}

mel_shape mel_measure_shape(const mel_measure *m)
{
    const mel_measure_row *row = m->row;
    if (m->over != MEL_GROUPS_TOGETHER)
        return MEL_SHAPE_LOCAL;
    if (row->rates && m->gap == MEL_GAP_SQUARED)
        return MEL_SHAPE_CONCAVE;
    if (row->rates && row->compared == MEL_COMPARED_RECALLS && m->gap == MEL_GAP_ABSOLUTE)
        return MEL_SHAPE_LINEAR;
    if (row->rates) /* the mean of two largest ones is no largest one, unless there is one pair of groups */
        return row->compared == MEL_COMPARED_MATCHING ||
                       (row->compared == MEL_COMPARED_ERRORS && m->gap == MEL_GAP_LARGEST && m->n_groups > 2)
                   ? MEL_SHAPE_LOCAL
                   : MEL_SHAPE_KINKED;
    const mel_class_fraction *w = &m->fraction;
    const double miss = w->fn + w->fp;
    /* Recalls are sums where classes keep their rows; over all classes there are as many misses as alarms. */
    const bool sum = row->shape == MEL_SHAPE_RATIO && row->value == micro ? fabs(w->tp - miss) <= 1e-12 * miss
                                                                          : w->fp == 0.0;
    return w->tp > 0.0 && sum ? MEL_SHAPE_LINEAR : row->shape;
}
