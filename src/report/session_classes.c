/* The report of a session on a space or a ball of several classes, or on given classifiers. */
#include "elicit/shared.h"
#include "metric/shared.h"
#include "metric/text.h"
#include "report/gather.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NAME = 1 << 16, PAIRS = 2000, CORNERS = 64 };

typedef struct {
    mel_gathered *common;
    mel_page_data *page; /* of common */
    mel_page_classes classes;
    const mel_domain *domain;
    size_t size, per_group; /* numbers in a point; of one group */
    char **coordinates, **class_names;
    double *true_share; /* of the weight: per_group */
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
    free_texts(g->class_names, mel_session_layout(g->common->session)->n_classes);
    free(g->true_share);
    free(g->pairs);
}

/* ---- names ---- */

static mel_status gather_names(gathered *g, mel_error *err)
{
    const mel_metric *metric = g->common->outcome->metric;
    const size_t k = mel_metric_layout(metric)->n_classes;
    mel_status status = MEL_OK;
    g->coordinates = mel_alloc_zero(g->size, sizeof *g->coordinates);
    g->class_names = mel_alloc_zero(k, sizeof *g->class_names);
    if (g->coordinates == NULL || g->class_names == NULL)
        return mel_fail_memory(err, "names of classes and statistics");
    for (size_t i = 0; i < g->size && status == MEL_OK; i++) {
        mel_buffer text;
        mel_buffer_init(&text, MOST_NAME);
        mel_outcome_add_coordinate(&text, metric, i, g->size > g->per_group);
        status = mel_text_take(&g->coordinates[i], &text, "the name of a statistic", err);
    }
    for (size_t i = 0; i < k && status == MEL_OK; i++) {
        mel_buffer text;
        mel_buffer_init(&text, MOST_NAME);
        mel_outcome_add_name(&text, "class", mel_metric_class_name(metric, i));
        status = mel_text_take(&g->class_names[i], &text, "a class name", err);
    }
    g->classes.coordinates = (const char *const *)g->coordinates;
    g->classes.class_names = (const char *const *)g->class_names;
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

static void random_candidate(double *point, const mel_pool *pool, mel_rng *rng)
{
    memcpy(point, pool->value + mel_rng_below(rng, pool->n) * pool->size, pool->size * sizeof *point);
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
    mel_rng_seed(&rng, g->common->outcome->options->seed);
    g->pairs = mel_alloc(g->size, (n_points + CORNERS) * sizeof *g->pairs);
    if (g->pairs == NULL)
        return mel_fail_memory(err, "random pairs");
    double *corner = g->pairs + n_points * g->size;
    const mel_status status = space != NULL ? find_corners(corner, g, &rng, err) : MEL_OK;
    for (size_t i = 0; i < n_points && status == MEL_OK; i++) {
        double *point = g->pairs + i * g->size;
        if (g->domain->pool != NULL)
            random_candidate(point, g->domain->pool, &rng);
        else if (space != NULL)
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
    if (!mel_layout_equal(mel_metric_layout(truth), mel_session_layout(g->common->session)))
        return mel_fail(err, MEL_EINVAL, "the true metric is about other statistics than the session");
    mel_status status = mel_outcome_words(&g->common->truth_words, g->common->outcome, truth, err);
    if (status == MEL_OK)
        status = gather_pairs(g, err);
    if (status != MEL_OK)
        return status;
    const mel_metric *found = g->common->outcome->metric;
    g->page->truth_words = g->common->truth_words;
    g->page->truth_agreement =
        mel_gather_agreement(found, truth, PAIRS, g->size, g->pairs, g->pairs + PAIRS * g->size);
    const double scale = mel_outcome_weight_scale(truth), *a = mel_metric_tensor(truth, 1);
    if (mel_metric_family(truth) != mel_metric_family(found) || !isfinite(scale) || scale == 0.0)
        return MEL_OK;
    g->true_share = mel_alloc(g->per_group, sizeof *g->true_share);
    if (g->true_share == NULL)
        return mel_fail_memory(err, "the true weights");
    for (size_t i = 0; i < g->per_group; i++)
        g->true_share[i] = a[i] / scale;
    g->classes.weight_truth = g->true_share;
    return MEL_OK;
}

static mel_status gather_all(gathered *g, const mel_report_options *opt, mel_error *err)
{
    mel_status status = gather_names(g, err);
    if (status == MEL_OK)
        status = mel_gather_questions(g->common, err);
    if (status == MEL_OK)
        status = mel_gather_radius(g->common, err);
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
    };
    g.per_group = g.size / (layout->n_groups > 1 ? layout->n_groups : 1);
    g.classes.class_share = g.domain->pool != NULL   ? g.domain->class_share
                            : g.domain->ball != NULL ? mel_ball_class_share(g.domain->ball)
                                                     : mel_space_class_share(g.domain->space);
    g.page->classes = &g.classes;
    mel_status status = gather_all(&g, opt, err);
    if (status == MEL_OK)
        status = mel_page_write(html, g.page, err);
    release(&g);
    return status;
}
