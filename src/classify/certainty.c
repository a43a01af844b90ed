/* How sure a value is, given finitely many rows and an uncertain metric. */
#include "classify/certainty_parts.h"

#include "base/la.h"
#include "base/stat.h"
#include "metric/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Quantiles that end a 95% interval, and that many deviations of a normal distribution. */
static const double low_end = 0.025, high_end = 0.975, deviations = 1.959963984540054;
/* Rows and metric together are drawn so many times as often: the ends of their interval are right to 2% of
 * its width. */
enum { TOGETHER = 4, LEAST_DRAWS = 40, MOST_DRAWS = 1000000 };
/* Rows that the prior of draws is worth: for two classes 1/2 for each of four cells. */
static const double prior_rows = 2.0;
static const double step = 1e-6; /* of shares, for slopes */
/* Deviations by which a row more in a cell that is almost empty may move a value. */
static const double says_much = 0.25;

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

void mel_draw_shares(double *share, size_t n, const double *counts, double prior, mel_rng *rng)
{
    double sum = 0.0;
    for (size_t c = 0; c < n; c++) {
        share[c] = counts[c] + prior > 0.0 ? mel_rng_gamma(rng, counts[c] + prior) : 0.0;
        sum += share[c];
    }
    for (size_t c = 0; c < n; c++)
        share[c] /= sum;
}

double mel_cell_prior(size_t n)
{
    return fmin(0.5, prior_rows / (double)n);
}

bool mel_few_rows(const mel_measure *measure, const double *counts)
{
    const size_t k = measure->k, cells = mel_measure_cells(measure);
    double all = 0.0;
    bool few = !mel_measure_is_smooth(measure);
    for (size_t row = 0; row < cells / k; row++) {
        double of_class = 0.0;
        double least = INFINITY;
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

/* --- one value ---------------------------------------------------------------------------------- */

typedef struct {
    mel_measure *measure;
    const double *counts;
    const mel_certainty_options *opt;
    size_t cells;
    double n;                     /* rows */
    double *share, *slope, *draw; /* cells numbers each */
    double *value;                /* by metric */
    double *both;                 /* draws of both, or draws of the rows */
    size_t n_both, each;          /* so many of them for each metric */
    mel_rng rng;
} work;

static double rows_variance(const work *w)
{
    double mean = 0.0, sum = 0.0;
    for (size_t c = 0; c < w->cells; c++)
        mean += w->share[c] * w->slope[c];
    for (size_t c = 0; c < w->cells; c++)
        sum += w->share[c] * (w->slope[c] - mean) * (w->slope[c] - mean);
    return sum / (w->n + 1.0);
}

static mel_status set_metric(const work *w, size_t s, mel_error *err)
{
    const size_t size = mel_metric_coefficients(w->measure->metric);
    return mel_measure_set_coefficients(w->measure, w->opt->metrics + s * size, err);
}

/* Value and deviation under each metric; both together as draws of normal distributions. */
static mel_status by_slopes(mel_certainty *out, work *w, mel_error *err)
{
    mel_status status = mel_measure_slopes(w->slope, w->measure, w->share, err);
    if (status != MEL_OK)
        return status;
    out->rows_deviation = sqrt(rows_variance(w));
    out->rows = mel_interval_normal(out->value, out->rows_deviation);
    double inside = 0.0;
    for (size_t s = 0; s < w->opt->n_metrics && status == MEL_OK; s++) {
        status = set_metric(w, s, err);
        if (status == MEL_OK)
            status = mel_measure_value(&w->value[s], w->measure, w->share, err);
        if (status == MEL_OK)
            status = mel_measure_slopes(w->slope, w->measure, w->share, err);
        const double variance = status == MEL_OK ? rows_variance(w) : 0.0;
        inside += variance / (double)w->opt->n_metrics;
        for (size_t j = 0; j < w->each; j++)
            w->both[w->n_both++] = w->value[s] + sqrt(variance) * mel_rng_normal(&w->rng);
    }
    out->deviation = w->opt->n_metrics > 0 ? sqrt(inside) : out->rows_deviation;
    return status;
}

static mel_status draw_values(double *values, work *w, size_t n, mel_error *err)
{
    const double prior = mel_cell_prior(w->cells);
    for (size_t b = 0; b < n; b++) {
        mel_draw_shares(w->draw, w->cells, w->counts, prior, &w->rng);
        TRY(mel_measure_value(&values[b], w->measure, w->draw, err));
    }
    return MEL_OK;
}

/* --- groups that may be equal -------------------------------------------------------------------- */

/* Counts of groups that have the rows they have (by_class: of each class), but decisions as all of them. */
static void make_equal(double *out, const work *w, bool by_class)
{
    const size_t k = w->measure->k, m = w->measure->n_groups, cells = k * k, parts = by_class ? k : 1;
    const size_t size = cells / parts;
    for (size_t part = 0; part < parts; part++) {
        double all = 0.0;
        for (size_t g = 0; g < m; g++)
            for (size_t c = 0; c < size; c++)
                all += w->counts[g * cells + part * size + c];
        for (size_t g = 0; g < m; g++) {
            double own = 0.0;
            for (size_t c = 0; c < size; c++)
                own += w->counts[g * cells + part * size + c];
            for (size_t c = 0; c < size; c++) {
                double together = 0.0;
                for (size_t h = 0; h < m; h++)
                    together += w->counts[h * cells + part * size + c];
                out[g * cells + part * size + c] = all > 0.0 ? own * together / all : 0.0;
            }
        }
    }
}

/* Draws of groups differ, even if the groups are equal. An interval reaches as far towards equality from what
 * was seen as draws reach the other way (but for squares), and up to it where equal groups would look so
 * different in one of 20 cases. room: as many numbers as there are draws. */
static mel_status reach_equality(mel_interval *range, work *w, double value, double *room, mel_error *err)
{
    const double *seen = w->counts;
    double *same = mel_alloc(w->cells, sizeof *same), at = 0.0;
    if (same == NULL)
        return mel_fail_memory(err, "how sure a value is");
    make_equal(same, w, true);
    mel_status status = mel_measure_value(&at, w->measure, same, err);
    if (status == MEL_OK && fabs(at) > 1e-9) /* it is about more than rates of classes */
        make_equal(same, w, false);
    w->counts = same;
    if (status == MEL_OK)
        status = draw_values(room, w, w->opt->draws, err);
    w->counts = seen;
    free(same);
    if (status != MEL_OK)
        return status;
    if (value <= quantile(w->opt->draws, room, 0.95))
        range->low = 0.0;
    else if (!mel_measure_is_smooth(w->measure))
        range->low = fmin(range->low, fmax(2.0 * value - range->high, 0.0));
    return MEL_OK;
}

/* --- a largest or smallest number ---------------------------------------------------------------- */

static mel_status draw_parts(mel_extreme *of, double *seen, double *drawn, work *w, mel_error *err)
{
    const double prior = mel_cell_prior(w->cells);
    mel_status status = mel_measure_part_values(seen, w->measure, w->counts, err);
    for (size_t b = 0; b < of->n_draws && status == MEL_OK; b++) {
        mel_draw_shares(w->draw, w->cells, w->counts, prior, &w->rng);
        status = mel_measure_part_values(drawn + b * of->n_parts, w->measure, w->draw, err);
    }
    of->seen = seen;
    of->drawn = drawn;
    return status;
}

/* *equality: the interval allows for groups that are equal. */
static mel_status reach_parts(mel_interval *range, bool *equality, work *w, mel_error *err)
{
    mel_extreme of = { 0 };
    double *seen = NULL, *drawn = NULL;
    const mel_over_groups over = w->measure->over;
    const bool difference = over == MEL_GROUPS_DIFFERENCE || over == MEL_GROUPS_DIFFERENCE_TO_ALL;
    const bool ratio = over == MEL_GROUPS_RATIO || over == MEL_GROUPS_RATIO_TO_ALL;
    *equality = false;
    of.n_parts = mel_measure_parts(w->measure, &of.largest);
    if (of.n_parts == 0)
        return MEL_OK;
    of.n_draws = mel_extreme_draws(of.n_parts, w->opt->draws);
    const mel_part parts[] = { { of.n_parts, { &seen } }, { of.n_parts * of.n_draws, { &drawn } } };
    if (!mel_parts_new(MEL_PARTS(parts)))
        return mel_fail_memory(err, "how sure a value is");
    mel_status status = draw_parts(&of, seen, drawn, w, err);
    if (status == MEL_OK && (difference || ratio))
        status = mel_interval_of_spread(range, equality, &of, err);
    if (status == MEL_OK && !*equality)
        status = mel_interval_of_extreme(range, &of, err);
    free(seen);
    if (ratio)
        range->high = fmin(range->high, 1.0);
    return status;
}

static mel_status by_draws(mel_certainty *out, work *w, mel_error *err)
{
    const size_t n = w->opt->draws;
    mel_status status = draw_values(w->both, w, n, err);
    if (status != MEL_OK)
        return status;
    out->rows_deviation = sqrt(mel_variance(n, w->both));
    out->rows = mel_interval_of(n, w->both);
    bool equality = false;
    status = reach_parts(&out->rows, &equality, w, err);
    /* At the edge, where nothing went wrong, draws are never as good as what was seen. */
    out->rows.low = fmin(out->rows.low, out->value);
    out->rows.high = fmax(out->rows.high, out->value);
    out->deviation = out->rows_deviation;
    if (status == MEL_OK && !equality && mel_measure_compares_groups(w->measure))
        status = reach_equality(&out->rows, w, out->value, w->both, err);
    double inside = 0.0;
    for (size_t s = 0; s < w->opt->n_metrics && status == MEL_OK; s++) {
        double *mine = w->both + w->n_both;
        status = set_metric(w, s, err);
        if (status == MEL_OK)
            status = mel_measure_value(&w->value[s], w->measure, w->share, err);
        if (status == MEL_OK)
            status = draw_values(mine, w, w->each, err);
        if (status == MEL_OK)
            inside += mel_variance(w->each, mine) / (double)w->opt->n_metrics;
        w->n_both += w->each;
    }
    if (w->opt->n_metrics > 0)
        out->deviation = sqrt(inside);
    return status;
}

/* Whether one more row in a cell that is almost empty would say much. */
static mel_status rests_on_few(bool *out, work *w, mel_error *err)
{
    const mel_status status = mel_measure_slopes(w->slope, w->measure, w->share, err);
    double mean = 0.0;
    for (size_t c = 0; c < w->cells && status == MEL_OK; c++)
        mean += w->share[c] * w->slope[c];
    const double most = says_much * sqrt(rows_variance(w));
    *out = false;
    for (size_t c = 0; c < w->cells && status == MEL_OK; c++)
        *out = *out || (w->counts[c] < MEL_FEW_OF_A_CELL && fabs(w->slope[c] - mean) / (w->n + 1.0) > most);
    return status;
}

static mel_status find(mel_certainty *out, work *w, mel_error *err)
{
    bool draws = mel_few_rows(w->measure, w->counts) || mel_measure_compares_groups(w->measure);
    TRY(mel_measure_value(&out->value, w->measure, w->counts, err));
    if (!draws)
        TRY(rests_on_few(&draws, w, err));
    TRY(draws ? by_draws(out, w, err) : by_slopes(out, w, err));
    const size_t n = w->opt->n_metrics;
    out->metric = (mel_interval){ out->value, out->value };
    out->both = out->rows;
    if (n < 2)
        return MEL_OK;
    out->metric_deviation = sqrt(mel_variance(n, w->value));
    out->deviation = hypot(out->deviation, out->metric_deviation);
    out->metric = mel_interval_of(n, w->value);
    out->both = mel_interval_of(w->n_both, w->both);
    return MEL_OK;
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

double *mel_coefficients_kept(const mel_measure *measure, mel_status *status, mel_error *err)
{
    if (measure->metric == NULL)
        return NULL;
    const size_t n = mel_metric_coefficients(measure->metric);
    double *kept = mel_alloc(n, sizeof *kept);
    if (kept == NULL)
        *status = mel_fail_memory(err, "the coefficients of a metric");
    else
        memcpy(kept, mel_metric_coefficient(measure->metric), n * sizeof *kept);
    return kept;
}

mel_status mel_coefficients_back(mel_measure *measure, double *kept, mel_status status, mel_error *err)
{
    mel_error ignored;
    mel_status back = MEL_OK;
    if (kept != NULL && measure->metric != NULL)
        back = mel_measure_set_coefficients(measure, kept, status == MEL_OK ? err : &ignored);
    free(kept);
    return status == MEL_OK ? back : status;
}

static mel_status allocate(work *w, mel_error *err)
{
    w->each = w->opt->n_metrics > 0 ? TOGETHER * w->opt->draws / w->opt->n_metrics + 2 : 0;
    const size_t most = w->opt->n_metrics * w->each, drawn = w->opt->draws;
    w->share = mel_alloc(w->cells, sizeof *w->share);
    w->slope = mel_alloc(w->cells, sizeof *w->slope);
    w->draw = mel_alloc(w->cells, sizeof *w->draw);
    w->value = mel_alloc(w->opt->n_metrics + 1, sizeof *w->value);
    w->both = mel_alloc(most > drawn ? most : drawn, sizeof *w->both);
    return w->share != NULL && w->slope != NULL && w->draw != NULL && w->value != NULL && w->both != NULL
               ? MEL_OK
               : mel_fail_memory(err, "how sure a value is");
}

static mel_status find_with(mel_certainty *out, mel_measure *measure, const double *counts,
                            const mel_certainty_options *opt, mel_error *err)
{
    mel_status status = MEL_OK;
    work w = { .measure = measure, .counts = counts, .opt = opt, .cells = mel_measure_cells(measure) };
    *out = (mel_certainty){ .value = (double)NAN };
    mel_rng_seed(&w.rng, opt->seed);
    double *kept = mel_coefficients_kept(measure, &status, err);
    if (status == MEL_OK)
        status = allocate(&w, err);
    for (size_t c = 0; c < w.cells; c++)
        w.n += counts[c];
    for (size_t c = 0; c < w.cells && status == MEL_OK; c++)
        w.share[c] = counts[c] / w.n;
    if (status == MEL_OK)
        status = find(out, &w, err);
    free(w.share);
    free(w.slope);
    free(w.draw);
    free(w.value);
    free(w.both);
    return mel_coefficients_back(measure, kept, status, err);
}

mel_status mel_certainty_of(mel_certainty *out, mel_measure *measure, const double *counts,
                            const mel_certainty_options *opt, mel_error *err)
{
    mel_certainty_options settled;
    MEL_AUTO_MEMORY double *drawn = NULL;
    *out = (mel_certainty){ .value = (double)NAN };
    TRY(mel_certainty_settle(&settled, &drawn, measure, opt, err));
    mel_status status = find_with(out, measure, counts, &settled, err);
    if (status == MEL_OK || status == MEL_ENOMEM || settled.n_metrics == 0)
        return status;
    settled.n_metrics = 0; /* a draw may be no metric */
    TRY(find_with(out, measure, counts, &settled, err));
    out->metric = (mel_interval){ (double)NAN, (double)NAN };
    return MEL_OK;
}

void mel_factor_covariances(double *covariance, size_t n)
{
    mel_cholesky_raised(n, covariance, 1e-9);
}
