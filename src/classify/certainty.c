/* How sure a value is, and which of two classifiers is better, given finitely many rows and an uncertain
 * metric. */
#include "classify/certainty.h"

#include "base/la.h"
#include "base/stat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Quantiles that end a 95% interval, and that many deviations of a normal distribution. */
static const double low_end = 0.025, high_end = 0.975, deviations = 1.959963984540054;
/* Rows and metric together are drawn so many times as often: the ends of their interval are right to 2% of
 * its width. */
enum { TOGETHER = 4, LEAST_DRAWS = 40, MOST_DRAWS = 1000000, MOST_DRAWN_CELLS = 4096 };
/* Rows that the prior of draws is worth: for two classes 1/2 for each of four cells. */
static const double prior_rows = 2.0;
static const double step = 1e-6; /* of shares, for slopes */
/* Deviations by which a row more in a cell that is almost empty may move a value. */
static const double says_much = 0.25;
static const double same = 1e-5; /* slopes that differ by less are equal: they come from differences */

void mel_certainty_options_init(mel_certainty_options *opt)
{
    *opt = (mel_certainty_options){ .struct_size = sizeof *opt, .draws = 2000, .seed = 1 };
}

static double quantile(size_t n, double *values, double q)
{
    if (n > 0)
        mel_select(n, values, (size_t)((double)(n - 1) * q));
    return mel_quantile_sorted(n, values, q);
}

mel_interval mel_interval_of(size_t n, double *values)
{
    const double low = quantile(n, values, low_end);
    return (mel_interval){ low, quantile(n, values, high_end) };
}

mel_interval mel_interval_normal(double middle, double deviation)
{
    return (mel_interval){ middle - deviations * deviation, middle + deviations * deviation };
}

mel_status mel_measure_slopes(double *slope, const mel_measure *measure, double *share, mel_error *err)
{
    double here = 0.0;
    mel_status status = mel_measure_value(&here, measure, share, err);
    for (size_t c = 0; c < mel_measure_cells(measure) && status == MEL_OK; c++) {
        const double at = share[c];
        const bool edge = at < step; /* no share is below 0: both steps up, and the parabola through them */
        double one = 0.0, two = 0.0;
        share[c] = at + step;
        status = mel_measure_value(&one, measure, share, err);
        share[c] = edge ? at + 2.0 * step : at - step;
        if (status == MEL_OK)
            status = mel_measure_value(&two, measure, share, err);
        share[c] = at;
        slope[c] = (edge ? 4.0 * one - 3.0 * here - two : one - two) / (2.0 * step);
    }
    return status;
}

void mel_draw_shares(double *share, size_t n, const double *counts, mel_rng *rng)
{
    const double prior = fmin(0.5, prior_rows / (double)n);
    double sum = 0.0;
    for (size_t c = 0; c < n; c++) {
        share[c] = counts[c] + prior > 0.0 ? mel_rng_gamma(rng, counts[c] + prior) : 0.0;
        sum += share[c];
    }
    for (size_t c = 0; c < n; c++)
        share[c] /= sum;
}

/* Whether the delta method is not to be trusted. */
static bool has_few_rows(const mel_measure *measure, const double *counts)
{
    const size_t k = measure->k, cells = mel_measure_cells(measure);
    double all = 0.0;
    bool few = !mel_measure_is_smooth(measure);
    for (size_t row = 0; row < cells / k; row++) {
        double of_class = 0.0, least = INFINITY;
        for (size_t j = 0; j < k; j++) {
            of_class += counts[row * k + j];
            least = fmin(least, counts[row * k + j]);
        }
        few = few || (of_class > 0.0 && of_class < MEL_FEW_OF_A_CLASS);
        few = few || (k == 2 && of_class > 0.0 && least < MEL_FEW_OF_A_CELL);
        all += of_class;
    }
    return few || all < MEL_FEW_ROWS;
}

/* --- metrics that are possible ------------------------------------------------------------------- */

mel_status mel_metric_lend(mel_lent_metric *out, mel_measure *measure, mel_error *err)
{
    mel_metric *copy = NULL;
    *out = (mel_lent_metric){ .measure = measure };
    if (measure->metric == NULL)
        return MEL_OK;
    TRY(mel_metric_copy(&copy, measure->metric, err));
    out->own = measure->metric;
    measure->metric = copy;
    return MEL_OK;
}

void mel_lent_metric_clear(mel_lent_metric *lent)
{
    if (lent->own == NULL)
        return;
    mel_metric_free(lent->measure->metric);
    lent->measure->metric = lent->own;
    *lent = (mel_lent_metric){ 0 };
}

static mel_status check(const mel_measure *measure, const mel_certainty_options *opt, mel_error *err)
{
    if (opt->struct_size != sizeof *opt)
        return mel_fail(err, MEL_EINVAL, "options of certainty that mel_certainty_options_init did not make");
    if (opt->draws < LEAST_DRAWS || opt->draws > MOST_DRAWS)
        return mel_fail(err, MEL_EINVAL, "%zu draws; expected %d to %d", opt->draws, LEAST_DRAWS, MOST_DRAWS);
    if (opt->n_metrics > 0 && measure->metric == NULL)
        return mel_fail(err, MEL_EINVAL, "%s has no coefficients that could be uncertain", measure->name);
    return MEL_OK;
}

mel_status mel_certainty_settle(mel_certainty_options *out, double **drawn, const mel_measure *measure,
                                const mel_certainty_options *opt, mel_error *err)
{
    *drawn = NULL;
    TRY(check(measure, opt, err));
    *out = *opt;
    if (opt->known)
        out->n_metrics = 0;
    if (opt->known || opt->n_metrics > 0 || measure->metric == NULL)
        return MEL_OK;
    *drawn = mel_alloc(MEL_METRIC_DRAWS, mel_metric_coefficients(measure->metric) * sizeof **drawn);
    if (*drawn == NULL)
        return mel_fail_memory(err, "metrics within intervals");
    if (mel_metric_draws(*drawn, measure->metric, MEL_METRIC_DRAWS, opt->seed))
        out->n_metrics = MEL_METRIC_DRAWS;
    out->metrics = *drawn;
    return MEL_OK;
}

/* --- what is estimated --------------------------------------------------------------------------- */

/* The value of a confusion matrix, or the difference between two: of decisions about the same rows, or of
 * matrices of which nothing else is known. */
typedef enum { ONE_VALUE, PAIRED, APART } estimated;
typedef struct {
    estimated what;
    mel_measure *measure;
    const mel_certainty_options *opt;
    size_t k, cells; /* of one matrix */
    size_t n_counts;
    const double *counts; /* paired: groups x k x k x k; apart: the first matrix, then the second */
    double n[2];          /* rows behind each matrix */
    double *share, *draw; /* n_counts: of the counts, and drawn */
    double *matrix[2], *slope[2];
    double *by_metric; /* the number under each metric */
    double *drawn;     /* draws of rows, or of rows and metric */
    size_t n_drawn, each;
    mel_lent_metric lent;
    mel_rng rng;
} estimate;

static void estimate_clear(estimate *e)
{
    mel_lent_metric_clear(&e->lent);
    free(e->share);
}

/* each: draws for each metric; room: for draws. */
static mel_status begin_estimate(estimate *e, size_t each, size_t room, mel_error *err)
{
    const size_t half = e->what == APART ? e->cells : e->n_counts;
    const mel_part parts[] = { { e->n_counts, { &e->share, &e->draw } },
                               { e->cells, { &e->matrix[0], &e->matrix[1], &e->slope[0], &e->slope[1] } },
                               { e->opt->n_metrics + 1, { &e->by_metric } },
                               { room, { &e->drawn } } };
    if (!mel_parts_new(MEL_PARTS(parts)))
        return mel_fail_memory(err, e->what == ONE_VALUE ? "how sure a value is" : "a comparison");
    e->each = each;
    for (size_t c = 0; c < e->n_counts; c++)
        e->n[c / half] += e->counts[c];
    for (size_t c = 0; c < e->n_counts; c++)
        e->share[c] = e->counts[c] / e->n[c / half];
    mel_rng_seed(&e->rng, e->opt->seed);
    return mel_metric_lend(&e->lent, e->measure, err);
}

static mel_status set_metric(const estimate *e, size_t s, mel_error *err)
{
    if (e->opt->n_metrics == 0)
        return MEL_OK;
    const size_t size = mel_metric_coefficients(e->measure->metric);
    return mel_measure_set_coefficients(e->measure, e->opt->metrics + s * size, err);
}

/* The two matrices of shares of counts. */
static void fold(const estimate *e, const double *share)
{
    const size_t k = e->k;
    if (e->what == APART) {
        memcpy(e->matrix[0], share, e->cells * sizeof *share);
        memcpy(e->matrix[1], share + e->cells, e->cells * sizeof *share);
        return;
    }
    memset(e->matrix[0], 0, e->cells * sizeof *share);
    memset(e->matrix[1], 0, e->cells * sizeof *share);
    for (size_t c = 0; c < e->n_counts; c++) {
        const size_t row = c / (k * k), a = c / k % k, b = c % k;
        e->matrix[0][row * k + a] += share[c];
        e->matrix[1][row * k + b] += share[c];
    }
}

/* The value, or the difference of values as utilities. */
static mel_status number_at(double *out, const estimate *e, const double *share, mel_error *err)
{
    double a = 0.0, b = 0.0;
    if (e->what == ONE_VALUE)
        return mel_measure_value(out, e->measure, share, err);
    fold(e, share);
    TRY(mel_measure_value(&a, e->measure, e->matrix[0], err));
    TRY(mel_measure_value(&b, e->measure, e->matrix[1], err));
    *out = mel_measure_orientation(e->measure) == MEL_COST ? b - a : a - b;
    return MEL_OK;
}

static mel_status find_slopes(estimate *e, mel_error *err)
{
    if (e->what == ONE_VALUE)
        return mel_measure_slopes(e->slope[0], e->measure, e->share, err);
    fold(e, e->share);
    TRY(mel_measure_slopes(e->slope[0], e->measure, e->matrix[0], err));
    return mel_measure_slopes(e->slope[1], e->measure, e->matrix[1], err);
}

/* What a row of a paired cell adds to the difference. */
static double gain_of(const estimate *e, size_t c)
{
    const size_t k = e->k, row = c / (k * k);
    const double d = e->slope[0][row * k + c / k % k] - e->slope[1][row * k + c % k];
    return mel_measure_orientation(e->measure) == MEL_COST ? -d : d;
}

static double one_variance(const double *share, const double *slope, size_t n, double rows)
{
    double mean = 0.0, sum = 0.0;
    for (size_t c = 0; c < n; c++)
        mean += share[c] * slope[c];
    for (size_t c = 0; c < n; c++)
        sum += share[c] * (slope[c] - mean) * (slope[c] - mean);
    return sum / (rows + 1.0);
}

/* By slopes that are there. */
static double variance_of(const estimate *e)
{
    if (e->what == ONE_VALUE)
        return one_variance(e->share, e->slope[0], e->cells, e->n[0]);
    if (e->what == APART)
        return one_variance(e->matrix[0], e->slope[0], e->cells, e->n[0]) +
               one_variance(e->matrix[1], e->slope[1], e->cells, e->n[1]);
    double mean = 0.0, squares = 0.0, fourths = 0.0;
    for (size_t c = 0; c < e->n_counts; c++)
        mean += e->share[c] * gain_of(e, c);
    for (size_t c = 0; c < e->n_counts; c++) {
        const double square = (gain_of(e, c) - mean) * (gain_of(e, c) - mean);
        squares += e->share[c] * square;
        fourths += e->share[c] * square * square;
    }
    /* One vote more: without it few that differ, or few that count much, would promise too much. */
    const double votes = fourths > 0.0 ? e->n[0] * squares * squares / fourths : 1.0;
    return squares / (e->n[0] + 1.0) * (1.0 + 1.0 / votes);
}

/* n numbers by draws of the rows behind these counts. */
static mel_status draw_numbers(double *out, estimate *e, const double *counts, size_t n, mel_error *err)
{
    const size_t size = e->what == APART ? e->cells : e->n_counts;
    for (size_t b = 0; b < n; b++) {
        for (size_t first = 0; first < e->n_counts; first += size)
            mel_draw_shares(e->draw + first, size, counts + first, &e->rng);
        TRY(number_at(&out[b], e, e->draw, err));
    }
    return MEL_OK;
}

/* --- one value ---------------------------------------------------------------------------------- */

/* Value and deviation under each metric; both together as draws of normal distributions. */
static mel_status value_by_slopes(mel_certainty *out, estimate *e, mel_error *err)
{
    double inside = 0.0;
    TRY(find_slopes(e, err));
    out->rows_deviation = sqrt(variance_of(e));
    out->rows = mel_interval_normal(out->value, out->rows_deviation);
    for (size_t s = 0; s < e->opt->n_metrics; s++) {
        TRY(set_metric(e, s, err));
        TRY(number_at(&e->by_metric[s], e, e->share, err));
        TRY(find_slopes(e, err));
        const double variance = variance_of(e);
        inside += variance / (double)e->opt->n_metrics;
        for (size_t j = 0; j < e->each; j++)
            e->drawn[e->n_drawn++] = e->by_metric[s] + sqrt(variance) * mel_rng_normal(&e->rng);
    }
    out->deviation = e->opt->n_metrics > 0 ? sqrt(inside) : out->rows_deviation;
    return MEL_OK;
}

/* Counts of groups that have the rows they have (by_class: of each class), but decisions as all of them. */
static void make_equal(double *out, const estimate *e, bool by_class)
{
    const size_t k = e->k, m = e->measure->n_groups, cells = k * k, parts = by_class ? k : 1;
    const size_t size = cells / parts;
    for (size_t part = 0; part < parts; part++) {
        double all = 0.0;
        for (size_t g = 0; g < m; g++)
            for (size_t c = 0; c < size; c++)
                all += e->counts[g * cells + part * size + c];
        for (size_t g = 0; g < m; g++) {
            double own = 0.0;
            for (size_t c = 0; c < size; c++)
                own += e->counts[g * cells + part * size + c];
            for (size_t c = 0; c < size; c++) {
                double together = 0.0;
                for (size_t h = 0; h < m; h++)
                    together += e->counts[h * cells + part * size + c];
                out[g * cells + part * size + c] = all > 0.0 ? own * together / all : 0.0;
            }
        }
    }
}

/* Draws of groups differ, even if the groups are equal. An interval reaches as far towards equality from what
 * was seen as draws reach the other way (but for squares), and up to it where equal groups would look so
 * different in one of 20 cases. */
static mel_status reach_equality(mel_interval *range, estimate *e, double value, mel_error *err)
{
    double *equal = e->matrix[0], at = 0.0;
    make_equal(equal, e, true);
    TRY(mel_measure_value(&at, e->measure, equal, err));
    if (fabs(at) > 1e-9) /* it is about more than rates of classes */
        make_equal(equal, e, false);
    TRY(draw_numbers(e->drawn, e, equal, e->opt->draws, err));
    if (value <= quantile(e->opt->draws, e->drawn, 0.95))
        range->low = 0.0;
    else if (!mel_measure_is_smooth(e->measure))
        range->low = fmin(range->low, fmax(2.0 * value - range->high, 0.0));
    return MEL_OK;
}

/* The interval of a measure that is the largest or smallest of several numbers. *equality: the interval
 * allows for equal groups. */
static mel_status reach_parts(mel_interval *range, bool *equality, estimate *e, mel_error *err)
{
    mel_extreme of = { 0 };
    const mel_over_groups over = e->measure->over;
    const bool difference = over == MEL_GROUPS_DIFFERENCE || over == MEL_GROUPS_DIFFERENCE_TO_ALL;
    const bool ratio = over == MEL_GROUPS_RATIO || over == MEL_GROUPS_RATIO_TO_ALL;
    *equality = false;
    of.n_parts = mel_measure_parts(e->measure, &of.largest);
    if (of.n_parts == 0)
        return MEL_OK;
    of.n_draws = mel_extreme_draws(of.n_parts, e->opt->draws);
    MEL_AUTO_MEMORY double *seen = mel_alloc(of.n_parts, (of.n_draws + 1) * sizeof *seen);
    if (seen == NULL)
        return mel_fail_memory(err, "how sure a value is");
    double *drawn = seen + of.n_parts;
    TRY(mel_measure_part_values(seen, e->measure, e->counts, err));
    for (size_t b = 0; b < of.n_draws; b++) {
        mel_draw_shares(e->draw, e->cells, e->counts, &e->rng);
        TRY(mel_measure_part_values(drawn + b * of.n_parts, e->measure, e->draw, err));
    }
    of.seen = seen;
    of.drawn = drawn;
    if (difference || ratio)
        TRY(mel_interval_of_spread(range, equality, &of, err));
    if (!*equality)
        TRY(mel_interval_of_extreme(range, &of, err));
    if (ratio)
        range->high = fmin(range->high, 1.0);
    return MEL_OK;
}

static mel_status value_by_draws(mel_certainty *out, estimate *e, mel_error *err)
{
    const size_t n = e->opt->draws;
    bool equality = false;
    double inside = 0.0;
    TRY(draw_numbers(e->drawn, e, e->counts, n, err));
    out->rows_deviation = out->deviation = sqrt(mel_variance(n, e->drawn));
    out->rows = mel_interval_of(n, e->drawn);
    TRY(reach_parts(&out->rows, &equality, e, err));
    /* At the edge, where nothing went wrong, draws are never as good as what was seen. */
    out->rows.low = fmin(out->rows.low, out->value);
    out->rows.high = fmax(out->rows.high, out->value);
    if (!equality && mel_measure_compares_groups(e->measure))
        TRY(reach_equality(&out->rows, e, out->value, err));
    for (size_t s = 0; s < e->opt->n_metrics; s++) {
        double *mine = e->drawn + e->n_drawn;
        TRY(set_metric(e, s, err));
        TRY(number_at(&e->by_metric[s], e, e->share, err));
        TRY(draw_numbers(mine, e, e->counts, e->each, err));
        inside += mel_variance(e->each, mine) / (double)e->opt->n_metrics;
        e->n_drawn += e->each;
    }
    if (e->opt->n_metrics > 0)
        out->deviation = sqrt(inside);
    return MEL_OK;
}

/* Whether one more row in a cell that is almost empty would say much. */
static mel_status rests_on_few(bool *out, estimate *e, mel_error *err)
{
    double mean = 0.0;
    *out = false;
    TRY(find_slopes(e, err));
    for (size_t c = 0; c < e->cells; c++)
        mean += e->share[c] * e->slope[0][c];
    const double most = says_much * sqrt(variance_of(e));
    for (size_t c = 0; c < e->cells; c++)
        *out = *out ||
               (e->counts[c] < MEL_FEW_OF_A_CELL && fabs(e->slope[0][c] - mean) / (e->n[0] + 1.0) > most);
    return MEL_OK;
}

static mel_status estimate_value(mel_certainty *out, mel_measure *measure, const double *counts,
                                 const mel_certainty_options *opt, mel_error *err)
{
    const size_t n = opt->n_metrics, each = n > 0 ? TOGETHER * opt->draws / n + 2 : 0;
    MEL_AUTO_CLEAR(estimate)
    e = { .what = ONE_VALUE, .measure = measure, .opt = opt, .k = measure->k, .counts = counts };
    e.cells = e.n_counts = mel_measure_cells(measure);
    *out = (mel_certainty){ .value = (double)NAN };
    TRY(begin_estimate(&e, each, n * each > opt->draws ? n * each : opt->draws, err));
    bool draws = has_few_rows(measure, counts) || mel_measure_compares_groups(measure);
    TRY(mel_measure_value(&out->value, measure, counts, err));
    if (!draws)
        TRY(rests_on_few(&draws, &e, err));
    TRY((draws ? value_by_draws : value_by_slopes)(out, &e, err));
    out->metric = (mel_interval){ out->value, out->value };
    out->both = out->rows;
    if (n < 2)
        return MEL_OK;
    out->metric_deviation = sqrt(mel_variance(n, e.by_metric));
    out->deviation = hypot(out->deviation, out->metric_deviation);
    out->metric = mel_interval_of(n, e.by_metric);
    out->both = mel_interval_of(e.n_drawn, e.drawn);
    return MEL_OK;
}

mel_status mel_certainty_of(mel_certainty *out, mel_measure *measure, const double *counts,
                            const mel_certainty_options *opt, mel_error *err)
{
    mel_certainty_options settled;
    MEL_AUTO_MEMORY double *drawn = NULL;
    *out = (mel_certainty){ .value = (double)NAN };
    TRY(mel_certainty_settle(&settled, &drawn, measure, opt, err));
    const mel_status status = estimate_value(out, measure, counts, &settled, err);
    if (status == MEL_OK || status == MEL_ENOMEM || settled.n_metrics == 0)
        return status;
    settled.n_metrics = 0; /* a draw may be no metric */
    TRY(estimate_value(out, measure, counts, &settled, err));
    out->metric = (mel_interval){ (double)NAN, (double)NAN };
    return MEL_OK;
}

/* --- two classifiers ----------------------------------------------------------------------------- */

/* Rows for each, where every one that matters counts the same. Slopes are 0 on average; where the measure is
 * a sum over rows, what each adds is on average the difference. */
static bool count_votes(double *for_a, double *for_b, const estimate *e, double difference)
{
    double one = 0.0;
    *for_a = *for_b = 0.0;
    for (size_t c = 0; c < e->n_counts; c++)
        one = fmax(one, fabs(gain_of(e, c) + difference));
    for (size_t c = 0; c < e->n_counts; c++) {
        const double gain = (gain_of(e, c) + difference) / one;
        const bool agree = c / e->k % e->k == c % e->k;
        if (fabs(gain) > same && (agree || fabs(fabs(gain) - 1.0) > same))
            return false;
        if (gain > same)
            *for_a += e->counts[c];
        else if (gain < -same)
            *for_b += e->counts[c];
    }
    return one > 0.0;
}

/* The probability under one metric, from slopes that are there. */
static double better_by_slopes(const estimate *e, double difference, double deviation)
{
    double a = 0.0, b = 0.0;
    if (e->what == PAIRED && count_votes(&a, &b, e, difference))
        return mel_beta_inc(b + 0.5, a + 0.5, 0.5);
    return deviation > 0.0 ? mel_normal_cdf(difference / deviation) : difference > 0.0 ? 1.0 : 0.5;
}

static mel_status contest_by_slopes(mel_contest *out, estimate *e, size_t metrics, mel_error *err)
{
    double deviation = 0.0, difference = 0.0;
    out->better = 0.0;
    for (size_t s = 0; s < metrics; s++) {
        TRY(set_metric(e, s, err));
        TRY(number_at(&difference, e, e->share, err));
        TRY(find_slopes(e, err));
        deviation = sqrt(variance_of(e));
        out->better += better_by_slopes(e, difference, deviation) / (double)metrics;
        for (size_t j = 0; j < e->each && metrics > 1; j++)
            e->drawn[e->n_drawn++] = difference + deviation * mel_rng_normal(&e->rng);
    }
    out->range =
        metrics > 1 ? mel_interval_of(e->n_drawn, e->drawn) : mel_interval_normal(out->difference, deviation);
    return MEL_OK;
}

static mel_status contest_by_draws(mel_contest *out, estimate *e, size_t metrics, mel_error *err)
{
    double above = 0.0;
    for (size_t s = 0; s < metrics; s++, e->n_drawn += e->each) {
        TRY(set_metric(e, s, err));
        TRY(draw_numbers(e->drawn + e->n_drawn, e, e->counts, e->each, err));
    }
    for (size_t i = 0; i < e->n_drawn; i++)
        above += e->drawn[i] > 0.0 ? 1.0 : e->drawn[i] == 0.0 ? 0.5 : 0.0;
    out->better = above / (double)e->n_drawn;
    out->range = mel_interval_of(e->n_drawn, e->drawn);
    return MEL_OK;
}

/* The delta method is not to be trusted. */
static bool wants_draws(const estimate *e)
{
    if (e->n_counts > MOST_DRAWN_CELLS)
        return false;
    if (e->what == APART)
        return has_few_rows(e->measure, e->counts) || has_few_rows(e->measure, e->counts + e->cells);
    fold(e, e->counts);
    return has_few_rows(e->measure, e->matrix[0]);
}

static mel_status compare(mel_contest *out, estimate *e, mel_error *err)
{
    mel_certainty_options settled;
    MEL_AUTO_MEMORY double *drawn = NULL;
    double a = 0.0, b = 0.0;
    *out = (mel_contest){ .difference = (double)NAN };
    TRY(mel_certainty_settle(&settled, &drawn, e->measure, e->opt, err));
    e->opt = &settled;
    const size_t metrics = settled.n_metrics > 0 ? settled.n_metrics : 1, each = settled.draws / metrics + 2;
    TRY(begin_estimate(e, each, metrics * each, err));
    TRY(number_at(&out->difference, e, e->share, err));
    bool votes = e->what == PAIRED && settled.n_metrics == 0;
    if (votes) /* exact, whatever the number of rows: every row that matters is one vote */
        TRY(find_slopes(e, err));
    votes = votes && count_votes(&a, &b, e, out->difference);
    TRY((wants_draws(e) ? contest_by_draws : contest_by_slopes)(out, e, metrics, err));
    if (votes)
        out->better = mel_beta_inc(b + 0.5, a + 0.5, 0.5);
    return MEL_OK;
}

mel_status mel_certainty_compare(mel_contest *out, mel_measure *measure, const double *counts,
                                 const mel_certainty_options *opt, mel_error *err)
{
    MEL_AUTO_CLEAR(estimate)
    e = { .what = PAIRED, .measure = measure, .opt = opt, .k = measure->k, .counts = counts };
    e.cells = mel_measure_cells(measure);
    e.n_counts = e.cells * measure->k;
    return compare(out, &e, err);
}

mel_status mel_certainty_compare_apart(mel_contest *out, mel_measure *measure, const double *counts_a,
                                       const double *counts_b, const mel_certainty_options *opt,
                                       mel_error *err)
{
    const size_t cells = mel_measure_cells(measure);
    MEL_AUTO_MEMORY double *both = mel_alloc(2 * cells, sizeof *both);
    if (both == NULL)
        return mel_fail_memory(err, "a comparison");
    memcpy(both, counts_a, cells * sizeof *both);
    memcpy(both + cells, counts_b, cells * sizeof *both);
    MEL_AUTO_CLEAR(estimate) e = { .what = APART, .measure = measure, .opt = opt, .k = measure->k };
    e.counts = both;
    e.cells = cells;
    e.n_counts = 2 * cells;
    return compare(out, &e, err);
}
