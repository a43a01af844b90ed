/* Measures of differences between groups: named ones of rates, and one number out of the groups' values. */
#include "metric/measure.h"

#include "base/la.h"
#include "data/number.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- named measures of rates -------------------------------------------------------------------- */

bool mel_measure_by_shares(const mel_measure *m)
{
    return m->row == &mel_measure_rates_row &&
           (m->rates == MEL_RATES_DEMOGRAPHIC_PARITY || m->rates == MEL_RATES_DISTRIBUTION_MATCHING ||
            m->rates == MEL_RATES_PSD_Q);
}

/* What a row of the matrix adds up to. Shares of decisions do not need rows of every class. */
static mel_status find_share(double *share, const mel_measure *m, const double *confusion, size_t row,
                             mel_error *err)
{
    double right = 0.0;
    if (!mel_measure_by_shares(m))
        return mel_measure_recall(&right, share, m, confusion, row, err);
    *share = 0.0;
    for (size_t j = 0; j < m->k; j++)
        *share += confusion[row * m->k + j];
    return MEL_OK;
}

/* Rates without the diagonal and the shares of the classes, group after group. */
static mel_status find_rates(double *rate, double *share, const mel_measure *m, const double *confusion,
                             mel_error *err)
{
    size_t at = 0;
    for (size_t g = 0; g < m->n_groups; g++) {
        const double *c = mel_measure_block(m, confusion, g);
        double all = 0.0;
        for (size_t i = 0; i < m->k; i++) {
            double *own = &share[g * m->k + i];
            const mel_status status = find_share(own, m, confusion, g * m->k + i, err);
            if (status != MEL_OK)
                return status;
            for (size_t j = 0; j < m->k; j++)
                if (j != i)
                    rate[at++] = *own > 0.0 ? c[i * m->k + j] / *own : 0.0;
            all += *own;
        }
        if (!(all > 0.0))
            return mel_fail(err, MEL_EDATA, "%s is not defined: group %s has no rows", m->name,
                            mel_quote_name(m->called.group_name, g).text);
        for (size_t i = 0; i < m->k; i++)
            share[g * m->k + i] /= all;
    }
    return MEL_OK;
}

static mel_status rates_value(double *out, const mel_measure *m, const double *confusion, mel_error *err)
{
    double *rate = m->statistics, *share = rate + m->n_groups * m->k * m->k;
    const mel_group_rates given = { .layout = { MEL_RATES, MEL_OFFDIAGONAL, m->k, m->n_groups },
                                    .rates = rate,
                                    .shares = share,
                                    .target = m->target,
                                    .weights = m->numbers != m->target ? m->numbers : NULL };
    const mel_status status = find_rates(rate, share, m, confusion, err);
    return status == MEL_OK ? mel_named_rates_value(out, m->rates, m->gap, &given, err) : status;
}

const mel_measure_row mel_measure_rates_row = {
    "rates", rates_value, NULL, true, false, true, MEL_OVER_ROWS
};

/* Numbers that may follow a name: weights or a matrix, and shares of a target. */
static size_t n_weights(const mel_measure *m)
{
    switch (m->rates) {
    case MEL_RATES_Q_MEAN:
        return m->k;
    case MEL_RATES_EQUALISED_ODDS:
        return m->k * (m->k - 1);
    case MEL_RATES_PSD_Q:
        return m->k * m->k;
    default:
        return 0;
    }
}

static size_t n_target(const mel_measure *m)
{
    return m->rates == MEL_RATES_DISTRIBUTION_MATCHING || m->rates == MEL_RATES_PSD_Q ? m->k : 0;
}

/* "1,4" into at most `most` numbers; *found: how many there are. */
static mel_status parse_numbers(size_t *found, const mel_measure *m, const char *list, size_t most,
                                mel_error *err)
{
    *found = 0;
    for (bool more = true; more; ++*found) {
        const size_t length = strcspn(list, ",");
        const bool matrix = m->rates == MEL_RATES_PSD_Q && *found < m->k * m->k;
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
    double *copy = mel_alloc(k * k + k, sizeof *copy);
    if (copy == NULL)
        return mel_fail_memory(err, "a measure");
    double largest = 0.0, apart = 0.0;
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < k; j++) {
            largest = fmax(largest, fabs(m->numbers[i * k + j]));
            apart = fmax(apart, fabs(m->numbers[i * k + j] - m->numbers[j * k + i]));
        }
    memcpy(copy, m->numbers, k * k * sizeof *copy);
    mel_status status = MEL_OK;
    if (apart > 1e-9 * largest)
        status = mel_fail(err, MEL_EINVAL, "%s: the matrix is not symmetric", m->name);
    else
        status = mel_eigen(k, copy, k, copy + k * k, err);
    if (status == MEL_OK && !(copy[k * k] >= -1e-9 * largest && largest > 0.0))
        status = mel_fail(err, MEL_EINVAL, "%s: the matrix is not positive semidefinite%s (eigenvalue %g)",
                          m->name, largest > 0.0 ? "" : " and different from 0", copy[k * k]);
    free(copy);
    return status;
}

static mel_status check_numbers(const mel_measure *m, mel_error *err)
{
    const size_t weights = m->numbers != m->target ? n_weights(m) : 0;
    double sum = 0.0, shares = 0.0;
    for (size_t i = 0; i < weights; i++)
        sum += m->numbers[i];
    for (size_t i = 0; i < m->k && m->target != NULL; i++)
        shares += m->target[i];
    if (m->target != NULL && !(fabs(shares - 1.0) <= 2e-3))
        return mel_fail(err, MEL_EINVAL, "%s: the shares sum to %g, not 1", m->name, shares);
    if (m->rates == MEL_RATES_PSD_Q)
        return check_matrix(m, err);
    return weights > 0 && !(sum > 0.0) ? mel_fail(err, MEL_EINVAL, "%s: all are 0", m->name) : MEL_OK;
}

/* As many as there must be; a target may be left out behind a matrix. */
static mel_status read_numbers(mel_measure *m, const char *list, mel_error *err)
{
    const size_t weights = n_weights(m), target = n_target(m);
    size_t found = 0;
    if (weights + target == 0)
        return mel_fail(err, MEL_EINVAL,
                        "%s: numbers follow q-mean, equalised-odds, distribution-matching and psd-q",
                        m->name);
    m->numbers = mel_alloc_zero(weights + target, sizeof *m->numbers);
    if (m->numbers == NULL)
        return mel_fail_memory(err, "a measure");
    const mel_status status = parse_numbers(&found, m, list, weights + target, err);
    if (status != MEL_OK)
        return status;
    if (found != weights + target && (weights == 0 || found != weights))
        return mel_fail(err, MEL_EINVAL, "%s: %zu numbers, but %s", m->name, found,
                        m->rates == MEL_RATES_EQUALISED_ODDS ? "there is one for each kind of mistake"
                        : m->rates == MEL_RATES_PSD_Q        ? "the matrix has one for each pair of classes"
                                                             : "there is one for each class");
    m->target = target > 0 && found > weights ? m->numbers + weights : NULL;
    return check_numbers(m, err);
}

bool mel_measure_rates_find(mel_measure *m, const char *name, mel_status *why, mel_error *err)
{
    *why = MEL_OK;
    char head[64];
    const char *colon = strrchr(name, ':');
    const bool listed = colon != NULL && (isdigit((unsigned char)colon[1]) || colon[1] == '.');
    const size_t length = listed ? (size_t)(colon - name) : strlen(name);
    if (length >= sizeof head)
        return false;
    memcpy(head, name, length);
    head[length] = '\0';
    if (mel_named_rates_parse(&m->rates, &m->gap, head, NULL) != MEL_OK)
        return false;
    if (listed)
        *why = read_numbers(m, colon + 1, err);
    if (*why == MEL_OK && m->rates == MEL_RATES_PSD_Q && (!listed || m->gap != MEL_GAP_SQUARED))
        *why = mel_fail(err, MEL_EINVAL,
                        "%s: expected psd-q:Q11,Q12,.., a matrix row by row, and behind it a target or none",
                        m->name);
    return *why == MEL_OK;
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
    double *sum = m->statistics + 2 * m->n_groups * cells; /* beyond what the row writes */
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
static double ratio_of(double a, double b)
{
    const double low = fmin(a, b), high = fmax(a, b);
    return low == high ? 1.0 : low / high;
}

mel_status mel_measure_over_groups(double *out, const mel_measure *m, const double *confusion, mel_error *err)
{
    double all = 0.0, low = INFINITY, high = -INFINITY, sum = 0.0, off = 0.0, least = 1.0;
    mel_status status = one_group(&all, m, confusion, m->n_groups, err);
    for (size_t g = 0; g < m->n_groups && status == MEL_OK; g++) {
        double value = 0.0;
        status = one_group(&value, m, confusion, g, err);
        low = fmin(low, value);
        high = fmax(high, value);
        sum += value / (double)m->n_groups;
        off = fmax(off, fabs(value - all));
        least = fmin(least, ratio_of(value, all));
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
        *out = ratio_of(low, high);
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
    return status;
}

/* --- what a largest or smallest number is one of ------------------------------------------------- */

/* The smallest recall of every group is the smallest of all recalls. */
static bool of_recalls(const mel_measure *m)
{
    return m->row->corners && m->row != &mel_measure_rates_row &&
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
    mel_status status = MEL_OK;
    if (of_recalls(m)) {
        for (size_t row = 0; row < m->n_groups * m->k && status == MEL_OK; row++)
            status = mel_measure_recall(&out[row], &all, m, confusion, row, err);
        return status;
    }
    const bool plain = m->over == MEL_GROUPS_SMALLEST || m->over == MEL_GROUPS_LARGEST;
    double *value = plain ? out : mel_alloc(m->n_groups, sizeof *value);
    if (value == NULL)
        return mel_fail_memory(err, "values of groups");
    for (size_t g = 0; g < m->n_groups && status == MEL_OK; g++)
        status = one_group(&value[g], m, confusion, g, err);
    if (status == MEL_OK && !plain)
        status = one_group(&all, m, confusion, m->n_groups, err);
    if (status == MEL_OK && !plain)
        compare_values(out, m, value, all);
    if (!plain)
        free(value);
    return status;
}
