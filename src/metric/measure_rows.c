/* Measures of confusion matrices by name: their formulas for any number of classes. */
#include "data/number.h"
#include "metric/measure.h"

#include <math.h>
#include <string.h>

/* Slopes of roots are taken no nearer to 0 than here, where they are infinite. */
static const double least_rate = 1e-9;

/* --- rates -------------------------------------------------------------------------------------- */

static double row_sum(const mel_measure *m, const double *confusion, size_t row)
{
    double sum = 0.0;
    for (size_t j = 0; j < m->k; j++)
        sum += confusion[row * m->k + j];
    return sum;
}

mel_status mel_measure_recall(double *out, double *share, const mel_measure *m, const double *confusion,
                              size_t row, mel_error *err)
{
    *share = row_sum(m, confusion, row);
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
    mel_status status = MEL_OK;
    for (size_t row = 0; row < n && status == MEL_OK; row++)
        status = mel_measure_recall(&rate[row], &rate[n + row], m, confusion, row, err);
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

/* --- averages of recalls ------------------------------------------------------------------------ */

static mel_status accuracy(double *out, const mel_measure *m, const double *confusion, mel_error *err)
{
    (void)err;
    double right = 0.0, all = 0.0;
    for (size_t row = 0; row < m->n_groups * m->k; row++) {
        right += confusion[row * m->k + row % m->k];
        all += row_sum(m, confusion, row);
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
            const mel_status status = mel_measure_recall(&rate, &share, m, confusion, row, err);
            if (status != MEL_OK)
                return status;
        } else {
            share = row_sum(m, confusion, row);
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

static mel_status q_mean(double *out, const mel_measure *m, const double *confusion, mel_error *err)
{
    const size_t n = m->n_groups * m->k;
    const mel_status status = all_recalls(m->statistics, m, confusion, err);
    *out = 0.0;
    for (size_t row = 0; row < n; row++)
        *out += (1.0 - m->statistics[row]) * (1.0 - m->statistics[row]) / (double)n;
    return status;
}

static mel_status q_mean_gradient(double *out, const mel_measure *m, const double *confusion, mel_error *err)
{
    const size_t n = m->n_groups * m->k;
    const mel_status status = all_recalls(m->statistics, m, confusion, err);
    clear_matrix(m, out);
    for (size_t row = 0; row < n && status == MEL_OK; row++)
        *diagonal(m, out, row) = -2.0 * (1.0 - m->statistics[row]) / ((double)n * m->statistics[n + row]);
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

/* Of the second class of two. */
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
        const double rows = row_sum(m, c, i);
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
        all += row_sum(m, c, i);
    for (size_t i = 0; i < m->k; i++)
        add_class_gradient(out, m, c, i, row_sum(m, c, i) / all);
    repeat_for_groups(out, m);
    return MEL_OK;
}

/* Counts of all classes added up first. Every mistake is one class's miss and another's false alarm. */
static mel_status micro(double *out, const mel_measure *m, const double *confusion, mel_error *err)
{
    (void)err;
    mel_class_fraction sum = { 0.0, 0.0, 0.0 };
    const double *c = together(m, confusion);
    for (size_t i = 0; i < m->k; i++) {
        const mel_class_fraction n = class_counts(c, m->k, i);
        sum.tp += n.tp;
        sum.fn += n.fn;
        sum.fp += n.fp;
    }
    double whole = 0.0;
    *out = fraction_of(&m->fraction, &sum, &whole);
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

/* Sums over a matrix of shares: what is right, and products of the shares of class i among rows (t) and
 * predictions (p). */
typedef struct {
    double right, tp, tt, pp;
} products;

static products products_of(const mel_measure *m, const double *confusion)
{
    const double *c = together(m, confusion);
    const size_t k = m->k;
    products s = { 0.0, 0.0, 0.0, 0.0 };
    double all = 0.0;
    for (size_t i = 0; i < k * k; i++)
        all += c[i];
    for (size_t i = 0; i < k; i++) {
        double t = 0.0, p = 0.0;
        for (size_t j = 0; j < k; j++) {
            t += c[i * k + j] / all;
            p += c[j * k + i] / all;
        }
        s.right += c[i * k + i] / all;
        s.tp += t * p;
        s.tt += t * t;
        s.pp += p * p;
    }
    return s;
}

/* Rounding of 1 - sum of squares where one class has everything. */
static const double nothing_left = 1e-15;

static mel_status matthews(double *out, const mel_measure *m, const double *confusion, mel_error *err)
{
    (void)err;
    const products s = products_of(m, confusion);
    const double t = 1.0 - s.tt, p = 1.0 - s.pp;
    *out = t > nothing_left && p > nothing_left
               ? fmax(-1.0, fmin(1.0, (s.right - s.tp) / (sqrt(t) * sqrt(p))))
               : 0.0;
    return MEL_OK;
}

static mel_status kappa(double *out, const mel_measure *m, const double *confusion, mel_error *err)
{
    const products s = products_of(m, confusion);
    if (!(1.0 - s.tp > nothing_left))
        return mel_fail(err, MEL_ENUMERIC, "kappa is 0/0: all rows and predictions are of one class");
    *out = (s.right - s.tp) / (1.0 - s.tp);
    return MEL_OK;
}

/* --- two classes -------------------------------------------------------------------------------- */

static mel_status selection_rate(double *out, const mel_measure *m, const double *confusion, mel_error *err)
{
    (void)err;
    const double *c = together(m, confusion);
    *out = (c[1] + c[3]) / (c[0] + c[1] + c[2] + c[3]);
    return MEL_OK;
}

static mel_status false_positive_rate(double *out, const mel_measure *m, const double *confusion,
                                      mel_error *err)
{
    (void)err;
    const double *c = together(m, confusion), rows = c[0] + c[1];
    *out = rows > 0.0 ? c[1] / rows : 0.0;
    return MEL_OK;
}

static mel_status false_negative_rate(double *out, const mel_measure *m, const double *confusion,
                                      mel_error *err)
{
    (void)err;
    const double *c = together(m, confusion), rows = c[2] + c[3];
    *out = rows > 0.0 ? c[2] / rows : 0.0;
    return MEL_OK;
}

/* --- the table ---------------------------------------------------------------------------------- */

static const mel_measure_row rows[] = {
    { "accuracy", accuracy, accuracy_gradient, false, false, false, MEL_OVER_ROWS },
    { "balanced-accuracy", balanced, balanced_gradient, false, false, false, MEL_OVER_CLASSES },
    { "g-mean", g_mean, g_mean_gradient, false, false, false, MEL_OVER_CLASSES },
    { "gmean", g_mean, g_mean_gradient, false, false, false, MEL_OVER_CLASSES },
    { "min-recall", min_recall, NULL, false, false, true, MEL_OVER_CLASSES },
    { "q-mean", q_mean, q_mean_gradient, true, false, false, MEL_OVER_CLASSES },
    { "q-mean:squared", q_mean, q_mean_gradient, true, false, false, MEL_OVER_CLASSES },
    { "mcc", matthews, NULL, false, false, false, MEL_OVER_ROWS },
    { "kappa", kappa, NULL, false, false, false, MEL_OVER_ROWS },
    { "selection-rate", selection_rate, NULL, false, true, false, MEL_OVER_ROWS },
    { "false-positive-rate", false_positive_rate, NULL, true, true, false, MEL_OVER_ROWS },
    { "false-negative-rate", false_negative_rate, NULL, true, true, false, MEL_OVER_ROWS },
};
/* Before the name of a fraction. */
static const mel_measure_row averages[] = {
    { "macro-", macro, macro_gradient, false, false, false, MEL_OVER_CLASSES },
    { "micro-", micro, NULL, false, false, false, MEL_OVER_ROWS },
    { "weighted-", weighted, weighted_gradient, false, false, false, MEL_OVER_ROWS },
    { "group-", group_mean_of_last, group_mean_gradient, false, false, false, MEL_OVER_GROUPS },
    { "", positive, positive_gradient, false, true, false, MEL_OVER_ROWS },
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

const mel_measure_row *mel_measure_row_find(mel_class_fraction *fraction, const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    for (size_t i = 0; i < sizeof averages / sizeof *averages; i++) {
        const size_t length = strlen(averages[i].name);
        if (strncmp(averages[i].name, name, length) == 0 && find_fraction(fraction, name + length))
            return &averages[i];
    }
    return NULL;
}
