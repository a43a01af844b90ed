/* Measures of differences of rates, between groups or from a target, and one number out of the groups'
 * values. */
#include "metric/measure.h"

#include "base/la.h"
#include "data/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- measures of rates -------------------------------------------------------------------------- */

bool mel_compares(mel_compared what, size_t n_classes, size_t i, size_t j)
{
    const size_t k = n_classes;
    switch (what) {
    case MEL_COMPARED_ODDS:
        return i < k && i != j;
    case MEL_COMPARED_MISSES:
        return i == k - 1 && j == k - 1;
    case MEL_COMPARED_ALARMS:
        return i == 0 && j == k - 1;
    case MEL_COMPARED_ERRORS:
        return i < k && i != j;
    case MEL_COMPARED_SHARES: /* of two classes one share says it all */
        return i == k && (k > 2 || j == 1);
    case MEL_COMPARED_RECALLS:
        return i == j;
    case MEL_COMPARED_MATCHING:
        return i == k;
    }
    return false;
}

bool mel_measure_by_shares(const mel_measure *m)
{
    return m->row->rates &&
           (m->row->compared == MEL_COMPARED_SHARES || m->row->compared == MEL_COMPARED_MATCHING);
}

bool mel_measure_compares_groups(const mel_measure *m)
{
    return m->row->rates && m->row->compared < MEL_COMPARED_RECALLS;
}

bool mel_measure_compared(mel_compared *what, mel_gap *gap, const mel_measure *m)
{
    *what = m->row->compared;
    *gap = m->gap;
    return m->row->rates;
}

/* Weights behind the name; a list of numbers may be a target alone. */
static const double *weights_of(const mel_measure *m)
{
    return m->numbers != m->target ? m->numbers : NULL;
}

double mel_compared_weight(const mel_measure *m, size_t i, size_t j)
{
    const mel_compared what = m->row->compared;
    const size_t k = m->k;
    const double *given = weights_of(m);
    if (!mel_compares(what, k, i, j))
        return 0.0;
    switch (what) {
    case MEL_COMPARED_ODDS:
        return given != NULL ? given[i * (k - 1) + (j < i ? j : j - 1)] : 1.0;
    case MEL_COMPARED_ERRORS:
        return 0.5;
    case MEL_COMPARED_SHARES:
        return k > 2 && m->gap != MEL_GAP_LARGEST ? 0.5 : 1.0;
    case MEL_COMPARED_RECALLS: {
        double sum = given == NULL ? (double)k : 0.0;
        for (size_t c = 0; c < k && given != NULL; c++)
            sum += given[c];
        const double weight = given != NULL ? given[i] : 1.0;
        return m->gap == MEL_GAP_LARGEST ? weight : weight / (sum * (double)m->n_groups);
    }
    default:
        return 1.0;
    }
}

/* The rates and shares of predictions of all groups: for each k x k rates, row by row, then k shares. And
 * what they are parts of, k rows and the group. */
typedef struct {
    double *x, *mass;
    size_t each;
} compared;

static mel_status find_compared(compared *out, const mel_measure *m, const double *confusion, mel_error *err)
{
    const size_t k = m->k;
    *out = (compared){ m->statistics, m->statistics + m->n_groups * (k + 1) * k, (k + 1) * k };
    for (size_t g = 0; g < m->n_groups; g++) {
        const double *c = mel_measure_block(m, confusion, g);
        double *x = out->x + g * out->each, *mass = out->mass + g * (k + 1);
        memset(x + k * k, 0, k * sizeof *x);
        mass[k] = 0.0;
        for (size_t i = 0; i < k; i++) {
            mass[i] = mel_measure_row_sum(m, confusion, g * k + i);
            double right = 0.0;
            if (!mel_measure_by_shares(m))
                TRY(mel_measure_recall(&right, &mass[i], m, confusion, g * k + i, err));
            mass[k] += mass[i];
            for (size_t j = 0; j < k; j++) {
                x[i * k + j] = mass[i] > 0.0 ? c[i * k + j] / mass[i] : 0.0;
                x[k * k + j] += c[i * k + j];
            }
        }
        if (!(mass[k] > 0.0))
            return mel_fail(err, MEL_EDATA, "%s is not defined: group %s has no rows", m->name,
                            mel_quote_name(m->called.group_name, g).text);
        for (size_t j = 0; j < k; j++)
            x[k * k + j] /= mass[k];
    }
    return MEL_OK;
}

/* What number q of a group is compared with where it is not another group. */
static double best_of(const mel_measure *m, const compared *s, size_t q)
{
    const size_t j = q % m->k;
    if (m->row->compared == MEL_COMPARED_RECALLS)
        return 1.0;
    return m->target != NULL ? m->target[j] : s->mass[j] / s->mass[m->k];
}

/* d'Qd, d the shares of predictions less their target; and into slope[j] its slope. */
static double by_matrix(double *slope, const mel_measure *m, const compared *s)
{
    const size_t k = m->k;
    double sum = 0.0;
    for (size_t i = 0; i < k; i++) {
        slope[i] = 0.0;
        for (size_t j = 0; j < k; j++)
            slope[i] += 2.0 * m->numbers[i * k + j] * (s->x[k * k + j] - best_of(m, s, k * k + j));
        sum += 0.5 * slope[i] * (s->x[k * k + i] - best_of(m, s, k * k + i));
    }
    return sum;
}

static double joined(double sum, double difference, mel_gap gap)
{
    return gap == MEL_GAP_SQUARED    ? sum + difference * difference
           : gap == MEL_GAP_ABSOLUTE ? sum + fabs(difference)
                                     : fmax(sum, fabs(difference));
}

mel_status mel_rates_value(double *out, const mel_measure *m, const double *confusion, mel_error *err)
{
    compared s;
    TRY(find_compared(&s, m, confusion, err));
    *out = 0.0;
    if (m->row->numbers == MEL_NUMBERS_MATRIX) {
        *out = by_matrix(m->slope, m, &s);
        return MEL_OK;
    }
    const bool most = m->gap == MEL_GAP_LARGEST && m->row->compared != MEL_COMPARED_ERRORS;
    for (size_t q = 0; q < s.each; q++) {
        const double weight = mel_compared_weight(m, q / m->k, q % m->k);
        double spread = 0.0;
        for (size_t g = 0; g < m->n_groups && weight > 0.0; g++) {
            const double x = s.x[g * s.each + q];
            if (!mel_measure_compares_groups(m))
                spread = joined(spread, x - best_of(m, &s, q), m->gap);
            for (size_t h = 0; h < g && mel_measure_compares_groups(m); h++)
                spread = joined(spread, x - s.x[h * s.each + q], m->gap);
        }
        *out = most ? fmax(*out, weight * spread) : *out + weight * spread;
    }
    return MEL_OK;
}

/* The gradient of squares, and of absolute recalls, which are at most 1. */
mel_status mel_rates_gradient(double *out, const mel_measure *m, const double *confusion, mel_error *err)
{
    const size_t k = m->k;
    compared s;
    TRY(find_compared(&s, m, confusion, err));
    memset(out, 0, mel_measure_cells(m) * sizeof *out);
    double *matrix = m->slope;
    if (m->row->numbers == MEL_NUMBERS_MATRIX)
        (void)by_matrix(matrix, m, &s);
    for (size_t q = 0; q < s.each; q++)
        for (size_t g = 0; g < m->n_groups; g++) {
            const size_t i = q / k, j = q % k;
            const double weight = mel_compared_weight(m, i, j), x = s.x[g * s.each + q];
            double slope = 0.0;
            if (weight == 0.0)
                continue;
            if (m->row->numbers == MEL_NUMBERS_MATRIX)
                slope = matrix[j];
            else if (m->gap == MEL_GAP_ABSOLUTE)
                slope = -weight;
            else if (!mel_measure_compares_groups(m))
                slope = 2.0 * weight * (x - best_of(m, &s, q));
            for (size_t h = 0; h < m->n_groups && mel_measure_compares_groups(m); h++)
                slope += 2.0 * weight * (x - s.x[h * s.each + q]);
            for (size_t row = 0; row < k; row++)
                if (i == k || row == i)
                    out[(g * k + row) * k + j] += slope / s.mass[g * (k + 1) + i];
        }
    return MEL_OK;
}

/* --- numbers behind a name ---------------------------------------------------------------------- */

static size_t n_weights(const mel_measure *m)
{
    switch (m->row->numbers) {
    case MEL_NUMBERS_WEIGHT:
        return 1;
    case MEL_NUMBERS_CLASSES:
        return m->k;
    case MEL_NUMBERS_MISTAKES:
        return m->k * (m->k - 1);
    case MEL_NUMBERS_MATRIX:
        return m->k * m->k;
    default:
        return 0;
    }
}

/* "1,4" into at most `most` numbers; *found: how many there are. */
static mel_status parse_numbers(size_t *found, const mel_measure *m, const char *list, size_t most,
                                mel_error *err)
{
    *found = 0;
    for (bool more = true; more; ++*found) {
        const size_t length = strcspn(list, ",");
        const bool matrix = m->row->numbers == MEL_NUMBERS_MATRIX && *found < m->k * m->k;
        double number = 0.0;
        if (mel_number_parse(list, length, &number) != MEL_NUMBER_FINITE || !(matrix || number >= 0.0))
            return mel_fail(err, MEL_EINVAL, "%s: number %zu is not one%s", m->name, *found + 1,
                            matrix ? "" : " of at least 0");
        if (*found < most)
            m->numbers[*found] = number;
        more = list[length] == ',';
        list += length + 1;
    }
    return MEL_OK;
}

static mel_status check_matrix(const mel_measure *m, mel_error *err)
{
    const size_t k = m->k;
    MEL_AUTO_MEMORY double *copy = mel_alloc(k * k + k, sizeof *copy);
    if (copy == NULL)
        return mel_fail_memory(err, "a measure");
    double largest = 0.0, apart = 0.0;
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < k; j++) {
            largest = fmax(largest, fabs(m->numbers[i * k + j]));
            apart = fmax(apart, fabs(m->numbers[i * k + j] - m->numbers[j * k + i]));
        }
    memcpy(copy, m->numbers, k * k * sizeof *copy);
    if (apart > 1e-9 * largest)
        return mel_fail(err, MEL_EINVAL, "%s: the matrix is not symmetric", m->name);
    TRY(mel_eigen(k, copy, k, copy + k * k, err));
    return copy[k * k] >= -1e-9 * largest && largest > 0.0
               ? MEL_OK
               : mel_fail(err, MEL_EINVAL, "%s: the matrix is not positive semidefinite%s (eigenvalue %g)",
                          m->name, largest > 0.0 ? "" : " and different from 0", copy[k * k]);
}

static mel_status check_numbers(const mel_measure *m, mel_error *err)
{
    const size_t weights = weights_of(m) != NULL ? n_weights(m) : 0;
    double sum = 0.0, shares = 0.0;
    for (size_t i = 0; i < weights; i++)
        sum += m->numbers[i];
    for (size_t i = 0; i < m->k && m->target != NULL; i++)
        shares += m->target[i];
    if (m->target != NULL && !(fabs(shares - 1.0) <= 2e-3))
        return mel_fail(err, MEL_EINVAL, "%s: the shares sum to %g, not 1", m->name, shares);
    if (m->row->numbers == MEL_NUMBERS_MATRIX)
        return check_matrix(m, err);
    if (m->row->numbers == MEL_NUMBERS_WEIGHT && !(sum > 0.0 && sum <= 1e100))
        return mel_fail(err, MEL_EINVAL, "%s: weight %g is not a positive number", m->name, sum);
    return weights > 0 && !(sum > 0.0) ? mel_fail(err, MEL_EINVAL, "%s: all are 0", m->name) : MEL_OK;
}

/* As many as there must be; a target may be left out behind a matrix. */
mel_status mel_measure_read_numbers(mel_measure *m, const char *list, mel_error *err)
{
    static const char *const each[] = {
        [MEL_NUMBERS_WEIGHT] = "one is expected",
        [MEL_NUMBERS_CLASSES] = "there is one for each class",
        [MEL_NUMBERS_MISTAKES] = "there is one for each kind of mistake",
        [MEL_NUMBERS_TARGET] = "there is one for each class",
        [MEL_NUMBERS_MATRIX] = "the matrix has one for each pair of classes",
    };
    const mel_measure_numbers kind = m->row->numbers;
    const size_t weights = n_weights(m);
    const size_t target = kind == MEL_NUMBERS_TARGET || kind == MEL_NUMBERS_MATRIX ? m->k : 0;
    size_t found = 0;
    if (kind == MEL_NUMBERS_NONE || m->numbers != NULL)
        return mel_fail(err, MEL_EINVAL,
                        m->numbers != NULL ? "%s: expected one list of numbers"
                                           : "%s: numbers follow weighted-accuracy, q-mean, equalised-odds, "
                                             "distribution-matching and psd-q",
                        m->name);
    m->numbers = mel_alloc_zero(weights + target, sizeof *m->numbers);
    if (m->numbers == NULL)
        return mel_fail_memory(err, "a measure");
    TRY(parse_numbers(&found, m, list, weights + target, err));
    if (found != weights + target && (weights == 0 || found != weights))
        return mel_fail(err, MEL_EINVAL, "%s: %zu numbers, but %s", m->name, found, each[kind]);
    m->target = target > 0 && found > weights ? m->numbers + weights : NULL;
    return check_numbers(m, err);
}

/* --- one number out of the groups' values ------------------------------------------------------- */

static const struct {
    const char *word;
    mel_over_groups over;
} words[] = {
    { "difference", MEL_GROUPS_DIFFERENCE },
    { "ratio", MEL_GROUPS_RATIO },
    { "difference-to-overall", MEL_GROUPS_DIFFERENCE_TO_ALL },
    { "ratio-to-overall", MEL_GROUPS_RATIO_TO_ALL },
    { "group-min", MEL_GROUPS_SMALLEST },
    { "group-max", MEL_GROUPS_LARGEST },
    { "group-mean", MEL_GROUPS_MEAN },
};

bool mel_over_groups_parse(mel_over_groups *out, const char *word)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].word, word) == 0) {
            *out = words[i].over;
            return true;
        }
    return false;
}

/* The measure of one matrix: all rows together where g is beyond the groups. */
static mel_status one_group(double *out, const mel_measure *m, const double *confusion, size_t g,
                            mel_error *err)
{
    const size_t cells = m->k * m->k;
    mel_measure one = *m;
    one.n_groups = 1;
    one.over = MEL_GROUPS_TOGETHER;
    double *sum = m->slope; /* beyond what the row writes for one group */
    memset(sum, 0, cells * sizeof *sum);
    for (size_t u = 0; u < m->n_groups; u++)
        for (size_t c = 0; c < cells && (g >= m->n_groups || u == g); c++)
            sum[c] += confusion[u * cells + c];
    const mel_status status = one.row->value(out, &one, sum, err);
    return status == MEL_OK || g >= m->n_groups
               ? status
               : mel_fail_in(err, status, "group %s", mel_quote_name(m->called.group_name, g).text);
}

/* Smaller over larger, 0/0 is 1, as if they were equal, which they are. */
static double value_ratio(double a, double b)
{
    const double low = fmin(a, b), high = fmax(a, b);
    return low == high ? 1.0 : low / high;
}

mel_status mel_measure_over_groups(double *out, const mel_measure *m, const double *confusion, mel_error *err)
{
    double all = 0.0, low = INFINITY, high = -INFINITY, sum = 0.0, off = 0.0, least = 1.0;
    TRY(one_group(&all, m, confusion, m->n_groups, err));
    for (size_t g = 0; g < m->n_groups; g++) {
        double value = 0.0;
        TRY(one_group(&value, m, confusion, g, err));
        low = fmin(low, value);
        high = fmax(high, value);
        sum += value / (double)m->n_groups;
        off = fmax(off, fabs(value - all));
        least = fmin(least, value_ratio(value, all));
    }
    switch (m->over) {
    case MEL_GROUPS_TOGETHER:
    case MEL_GROUPS_MEAN:
        *out = sum;
        break;
    case MEL_GROUPS_DIFFERENCE:
        *out = high - low;
        break;
    case MEL_GROUPS_RATIO:
        *out = value_ratio(low, high);
        break;
    case MEL_GROUPS_DIFFERENCE_TO_ALL:
        *out = off;
        break;
    case MEL_GROUPS_RATIO_TO_ALL:
        *out = least;
        break;
    case MEL_GROUPS_SMALLEST:
        *out = low;
        break;
    case MEL_GROUPS_LARGEST:
        *out = high;
        break;
    }
    return MEL_OK;
}

/* --- what a largest or smallest number is one of ------------------------------------------------- */

/* The smallest recall of every group is the smallest of all recalls. */
static bool of_recalls(const mel_measure *m)
{
    return m->row->shape == MEL_SHAPE_KINKED &&
           (m->over == MEL_GROUPS_TOGETHER || m->over == MEL_GROUPS_SMALLEST);
}

size_t mel_measure_parts(const mel_measure *m, bool *largest)
{
    const size_t groups = m->n_groups;
    *largest = m->over == MEL_GROUPS_LARGEST || m->over == MEL_GROUPS_DIFFERENCE ||
               m->over == MEL_GROUPS_DIFFERENCE_TO_ALL;
    if (m->metric != NULL)
        return 0;
    if (of_recalls(m))
        return groups * m->k;
    switch (m->over) {
    case MEL_GROUPS_SMALLEST:
    case MEL_GROUPS_LARGEST:
        return groups;
    case MEL_GROUPS_DIFFERENCE:
    case MEL_GROUPS_RATIO:
        return groups * (groups - 1);
    case MEL_GROUPS_DIFFERENCE_TO_ALL:
    case MEL_GROUPS_RATIO_TO_ALL:
        return 2 * groups;
    default:
        return 0;
    }
}

static double quotient(double a, double b)
{
    return a == b ? 1.0 : a / b;
}

/* Differences or ratios of n values, either way round: of each pair, or each with all rows together. */
static void compare_values(double *out, const mel_measure *m, const double *value, double all)
{
    const size_t n = m->n_groups;
    const bool ratio = m->over == MEL_GROUPS_RATIO || m->over == MEL_GROUPS_RATIO_TO_ALL;
    const bool pairs = m->over == MEL_GROUPS_DIFFERENCE || m->over == MEL_GROUPS_RATIO;
    size_t at = 0;
    for (size_t g = 0; g < n; g++)
        for (size_t h = g + 1; h < (pairs ? n : g + 2); h++) {
            const double a = value[g], b = pairs ? value[h] : all;
            out[at++] = ratio ? quotient(a, b) : a - b;
            out[at++] = ratio ? quotient(b, a) : b - a;
        }
}

mel_status mel_measure_part_values(double *out, const mel_measure *m, const double *confusion, mel_error *err)
{
    double all = 0.0;
    for (size_t row = 0; of_recalls(m) && row < m->n_groups * m->k; row++)
        TRY(mel_measure_recall(&out[row], &all, m, confusion, row, err));
    if (of_recalls(m))
        return MEL_OK;
    MEL_AUTO_MEMORY double *value = mel_alloc(m->n_groups, sizeof *value);
    if (value == NULL)
        return mel_fail_memory(err, "values of groups");
    for (size_t g = 0; g < m->n_groups; g++)
        TRY(one_group(&value[g], m, confusion, g, err));
    if (m->over == MEL_GROUPS_SMALLEST || m->over == MEL_GROUPS_LARGEST) {
        memcpy(out, value, m->n_groups * sizeof *out);
        return MEL_OK;
    }
    TRY(one_group(&all, m, confusion, m->n_groups, err));
    compare_values(out, m, value, all);
    return MEL_OK;
}
