/* The report of a session on a space or a ball of several classes. */
#include "melicit/classify.h"
#include "metric/text.h"
#include "report/gather.h"
#include "report/numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NAME = 1 << 16, MOST_NUMBERS = 40, PAIRS = 2000, CORNERS = 64 };

typedef struct {
    mel_gathered *common;
    mel_page_data *page; /* of common */
    mel_page_classes classes;
    const mel_domain *domain;
    size_t size, per_group; /* numbers in a point; of one group */
    char **coordinates, **weight_names, **weight_labels, **class_names;
    mel_numbers numbers;
    double *weights;    /* shares, lows, highs, true ones: per_group each */
    double *recognised; /* by the best and by the most accurate classifier */
    double *pairs;
} gathered;

static void free_texts(char **texts, size_t n)
{
    for (size_t i = 0; texts != NULL && i < n; i++)
        free(texts[i]);
    free(texts);
}

static void release(gathered *g)
{
    free_texts(g->coordinates, g->size);
    free_texts(g->weight_names, g->per_group);
    free_texts(g->weight_labels, g->per_group);
    free_texts(g->class_names, g->classes.layout.n_classes);
    mel_numbers_clear(&g->numbers);
    free(g->weights);
    free(g->recognised);
    free(g->pairs);
}

/* ---- names ---- */

/* "0" and "1" say nothing to a reader. */
static void add_name(mel_buffer *out, const char *what, const char *name)
{
    if (strspn(name, "0123456789.-") == strlen(name))
        mel_buffer_printf(out, "%s ", what);
    mel_buffer_puts(out, name);
}

typedef enum { IN_WORDS, IN_WORDS_BY_GROUP, SHORT } naming;

/* What number i of a point, or weight i, counts. */
static void add_coordinate(mel_buffer *out, const gathered *g, size_t i, naming how)
{
    const mel_metric *metric = g->common->metric;
    const mel_layout *layout = &g->classes.layout;
    const size_t group = i / g->per_group, at = i % g->per_group, k = layout->n_classes;
    const size_t row = at / (k - 1), column = at % (k - 1);
    const bool mistake = layout->coordinates == MEL_OFFDIAGONAL;
    const size_t truth = mistake ? row : layout->coordinates == MEL_BINARY ? 1 - at : at;
    add_name(out, "class", mel_metric_class_name(metric, truth));
    if (mistake) {
        mel_buffer_puts(out, how == SHORT ? " \xE2\x86\x92 " : " taken for ");
        add_name(out, "class", mel_metric_class_name(metric, column < row ? column : column + 1));
    } else if (how != SHORT) {
        mel_buffer_puts(out, " recognised");
    }
    if (how == IN_WORDS_BY_GROUP) {
        mel_buffer_puts(out, " (");
        add_name(out, "group", mel_metric_group_name(metric, group));
        mel_buffer_puts(out, ")");
    }
}

static mel_status name_coordinates(char ***out, const gathered *g, size_t n, naming how, mel_error *err)
{
    char **names = mel_alloc_zero(n, sizeof *names);
    *out = names;
    mel_status status = names != NULL ? MEL_OK : mel_fail_memory(err, "names of statistics");
    for (size_t i = 0; i < n && status == MEL_OK; i++) {
        mel_buffer text;
        mel_buffer_init(&text, MOST_NAME);
        add_coordinate(&text, g, i, how);
        status = mel_text_take(&names[i], &text, "the name of a statistic", err);
    }
    return status;
}

static mel_status gather_names(gathered *g, mel_error *err)
{
    const size_t k = g->classes.layout.n_classes;
    const bool by_group = g->classes.layout.n_groups > 1;
    mel_status status =
        name_coordinates(&g->coordinates, g, g->size, by_group ? IN_WORDS_BY_GROUP : IN_WORDS, err);
    if (status == MEL_OK)
        status = name_coordinates(&g->weight_names, g, g->per_group, IN_WORDS, err);
    if (status == MEL_OK)
        status = name_coordinates(&g->weight_labels, g, g->per_group, SHORT, err);
    if (status != MEL_OK)
        return status;
    g->class_names = mel_alloc_zero(k, sizeof *g->class_names);
    if (g->class_names == NULL)
        return mel_fail_memory(err, "class names");
    for (size_t i = 0; i < k && status == MEL_OK; i++) {
        mel_buffer text;
        mel_buffer_init(&text, MOST_NAME);
        add_name(&text, "class", mel_metric_class_name(g->common->metric, i));
        status = mel_text_take(&g->class_names[i], &text, "a class name", err);
    }
    g->classes.coordinates = (const char *const *)g->coordinates;
    g->classes.weight_names = (const char *const *)g->weight_names;
    g->classes.weight_labels = (const char *const *)g->weight_labels;
    g->classes.class_names = (const char *const *)g->class_names;
    return status;
}

/* ---- the metric ---- */

/* What shares are taken of, with the sign that makes the usual weights positive; 0: there is no weight. */
static double weight_scale(const mel_metric *metric, size_t n)
{
    const double *a = mel_metric_tensor(metric, 1);
    const bool mistakes = mel_metric_layout(metric)->coordinates == MEL_OFFDIAGONAL;
    const bool usual = (mel_metric_orientation(metric) == MEL_COST) == mistakes;
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += fabs(a[i]);
    return usual ? sum : -sum;
}

static void gather_weights(gathered *g)
{
    const mel_metric *metric = g->common->metric;
    const size_t n = g->per_group;
    const double scale = weight_scale(metric, n), *a = mel_metric_tensor(metric, 1);
    if (!isfinite(scale) || scale == 0.0)
        return;
    double *low = g->weights + n, *high = g->weights + 2 * n;
    for (size_t i = 0; i < n; i++) {
        double ends[2] = { NAN, NAN };
        (void)mel_metric_interval(metric, i, &ends[0], &ends[1]);
        g->weights[i] = a[i] / scale;
        low[i] = fmin(ends[0] / scale, ends[1] / scale);
        high[i] = fmax(ends[0] / scale, ends[1] / scale);
    }
    g->classes.n_weights = n;
    g->classes.weight = g->weights;
    g->classes.weight_low = low;
    g->classes.weight_high = high;
}

/* A search knows where it ended, but no probabilities. */
static mel_status put_in_words(char **out, const gathered *g, const mel_metric *metric, mel_error *err)
{
    const mel_status status = mel_metric_words(out, metric, err);
    if (status != MEL_OK || g->page->settings.strategy != MEL_STRATEGY_SEARCH)
        return status;
    return mel_gather_replace(out, "95% between", "between", err);
}

static mel_status gather_metric(gathered *g, mel_error *err)
{
    mel_status status = mel_session_result(&g->common->metric, &g->page->summary, g->common->session, err);
    if (status == MEL_OK)
        status = put_in_words(&g->common->words, g, g->common->metric, err);
    if (status == MEL_OK)
        status = gather_names(g, err);
    if (status == MEL_OK)
        status = mel_numbers_of(&g->numbers, g->common->metric, g->classes.weight_names, MOST_NUMBERS, err);
    if (status != MEL_OK)
        return status;
    g->weights = mel_alloc(g->per_group, 4 * sizeof *g->weights);
    if (g->weights == NULL)
        return mel_fail_memory(err, "the weights");
    g->page->words = g->common->words;
    g->page->n_numbers = g->numbers.n;
    g->page->numbers = g->numbers.number;
    g->classes.n_left_out = g->numbers.n_left_out;
    g->classes.lambda = mel_metric_lambda(g->common->metric);
    g->classes.lambda_low = g->classes.lambda_high = NAN;
    if (isfinite(g->classes.lambda))
        (void)mel_metric_interval(g->common->metric, mel_metric_coefficients(g->common->metric) - 1,
                                  &g->classes.lambda_low, &g->classes.lambda_high);
    gather_weights(g);
    return MEL_OK;
}

/* ---- what the best classifier recognises ---- */

/* Statistics as shares of each class. */
static void share_of_class(double *out, const gathered *g, const double *statistics)
{
    const double *share = mel_space_class_share(g->domain->space);
    for (size_t i = 0; i < g->size; i++)
        out[i] = g->classes.layout.kind == MEL_RATES ? statistics[i] : statistics[i] / share[i];
}

static mel_status recognised_by_best(double *out, const gathered *g, mel_error *err)
{
    mel_classifier *best = NULL;
    const mel_status status = mel_classifier_best(&best, g->domain, g->common->metric, err);
    if (status != MEL_OK)
        return status;
    share_of_class(out, g, mel_classifier_get(best).statistics);
    mel_classifier_free(best);
    return MEL_OK;
}

/* By the most accurate classifier. */
static mel_status recognised_by_accurate(double *out, const gathered *g, double *weight, mel_error *err)
{
    const double *share = mel_space_class_share(g->domain->space);
    for (size_t i = 0; i < g->size; i++)
        weight[i] = g->classes.layout.kind == MEL_RATES ? share[i] : 1.0;
    const mel_status status = mel_space_linear(out, g->domain->space, weight, err);
    if (status == MEL_OK)
        share_of_class(out, g, out);
    return status;
}

/* Only where right decisions are what counts. */
static mel_status gather_recognised(gathered *g, mel_error *err)
{
    const mel_family_facts *family = mel_family_about(g->page->settings.family);
    if (g->domain->space == NULL || !family->sum || family->local || g->classes.n_weights == 0)
        return MEL_OK;
    double *best = mel_alloc(3 * g->size, sizeof *best), *plain = best + g->size;
    g->recognised = best;
    if (best == NULL)
        return mel_fail_memory(err, "what is recognised");
    mel_status status = recognised_by_best(best, g, err);
    if (status == MEL_OK)
        status = recognised_by_accurate(plain, g, plain + g->size, err);
    g->classes.chosen = best;
    g->classes.plain = plain;
    return status;
}

/* ---- truth ---- */

static void random_in_ball(double *point, const gathered *g, mel_rng *rng)
{
    const mel_ball *ball = g->domain->ball;
    const double *centre = mel_ball_centre(ball);
    for (size_t first = 0; first < g->size; first += g->per_group) {
        mel_rng_sphere(rng, g->per_group, point + first);
        const double r = mel_ball_radius(ball) * pow(mel_rng_uniform(rng), 1.0 / (double)g->per_group);
        for (size_t i = 0; i < g->per_group; i++)
            point[first + i] = centre[i] + r * point[first + i];
    }
}

/* What classifiers achieve that are best for random directions. */
static mel_status find_corners(double *corner, const gathered *g, mel_rng *rng, mel_error *err)
{
    double *direction = mel_alloc(g->size, sizeof *direction);
    mel_status status = direction != NULL ? MEL_OK : mel_fail_memory(err, "random classifiers");
    for (size_t i = 0; i < CORNERS && status == MEL_OK; i++) {
        mel_rng_sphere(rng, g->size, direction);
        status = mel_space_linear(corner + i * g->size, g->domain->space, direction, err);
    }
    free(direction);
    return status;
}

/* A random mixture of three of them. */
static void random_mixture(double *point, const double *corner, const gathered *g, mel_rng *rng)
{
    const double u = mel_rng_uniform(rng), v = mel_rng_uniform(rng);
    const double low = fmin(u, v), high = fmax(u, v);
    const double *x = corner + mel_rng_below(rng, CORNERS) * g->size,
                 *y = corner + mel_rng_below(rng, CORNERS) * g->size,
                 *z = corner + mel_rng_below(rng, CORNERS) * g->size;
    for (size_t i = 0; i < g->size; i++)
        point[i] = low * x[i] + (high - low) * y[i] + (1.0 - high) * z[i];
}

static mel_status gather_pairs(gathered *g, mel_error *err)
{
    const mel_space *space = g->domain->space;
    const size_t n_points = (size_t)2 * PAIRS;
    mel_rng rng;
    mel_rng_seed(&rng, g->page->settings.seed);
    g->pairs = mel_alloc(g->size, (n_points + CORNERS) * sizeof *g->pairs);
    if (g->pairs == NULL)
        return mel_fail_memory(err, "random pairs");
    double *corner = g->pairs + n_points * g->size;
    const mel_status status = space != NULL ? find_corners(corner, g, &rng, err) : MEL_OK;
    for (size_t i = 0; i < n_points && status == MEL_OK; i++) {
        double *point = g->pairs + i * g->size;
        if (space != NULL)
            random_mixture(point, corner, g, &rng);
        else
            random_in_ball(point, g, &rng);
    }
    g->page->n_pairs = PAIRS;
    return status;
}

static mel_status gather_truth(gathered *g, const mel_metric *truth, mel_error *err)
{
    g->page->truth_agreement = NAN;
    if (truth == NULL)
        return MEL_OK;
    if (!mel_layout_equal(mel_metric_layout(truth), &g->classes.layout))
        return mel_fail(err, MEL_EINVAL, "the true metric is about other statistics than the session");
    mel_status status = mel_metric_words(&g->common->truth_words, truth, err);
    if (status == MEL_OK)
        status = gather_pairs(g, err);
    if (status != MEL_OK)
        return status;
    g->page->truth_words = g->common->truth_words;
    g->page->truth_agreement =
        mel_gather_agreement(g->common->metric, truth, PAIRS, g->size, g->pairs, g->pairs + PAIRS * g->size);
    const double scale = weight_scale(truth, g->per_group), *a = mel_metric_tensor(truth, 1);
    if (mel_metric_family(truth) != g->page->settings.family || !isfinite(scale) || scale == 0.0)
        return MEL_OK;
    double *share = g->weights + 3 * g->per_group;
    for (size_t i = 0; i < g->per_group; i++)
        share[i] = a[i] / scale;
    g->classes.weight_truth = share;
    return MEL_OK;
}

static mel_status gather_all(gathered *g, const mel_report_options *opt, mel_error *err)
{
    mel_status status = gather_metric(g, err);
    if (status == MEL_OK)
        status = mel_gather_questions(g->common, err);
    if (status == MEL_OK)
        status = mel_gather_radius(g->common, err);
    if (status == MEL_OK)
        status = gather_recognised(g, err);
    return status == MEL_OK ? gather_truth(g, opt->truth, err) : status;
}

mel_status mel_report_classes(char **html, mel_gathered *common, const mel_report_options *opt,
                              mel_error *err)
{
    const mel_layout *layout = mel_session_layout(common->session);
    gathered g = {
        .common = common,
        .page = &common->page,
        .domain = mel_session_domain(common->session),
        .size = mel_layout_size(layout),
        .classes = { .layout = *layout },
    };
    g.per_group = g.size / (layout->n_groups > 1 ? layout->n_groups : 1);
    g.classes.on_ball = g.domain->ball != NULL;
    g.classes.class_share = g.domain->ball != NULL ? mel_ball_class_share(g.domain->ball)
                                                   : mel_space_class_share(g.domain->space);
    g.page->classes = &g.classes;
    mel_status status = gather_all(&g, opt, err);
    if (status == MEL_OK)
        status = mel_page_write(html, g.page, err);
    release(&g);
    return status;
}
