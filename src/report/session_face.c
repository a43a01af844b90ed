/* The report of a session on a planar face. */
#include "melicit/classify.h"
#include "metric/text.h"
#include "rank/rank.h"
#include "report/along.h"
#include "report/gather.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const size_t posterior_points = 20001, along_points = 361;
enum { MOST_NAME = 1 << 16, MOST_NUMBERS = 6 };

typedef struct {
    mel_gathered *common;
    mel_page_data *page; /* of common */
    const mel_face *face;
    mel_page_number numbers[MOST_NUMBERS];
    char *missed, *missed_plural, *alarm, *alarms;
    mel_point *hull;
    double *posterior, *along;
} gathered;

static void release(gathered *g)
{
    free(g->missed);
    free(g->missed_plural);
    free(g->alarm);
    free(g->alarms);
    free(g->hull);
    free(g->posterior);
    free(g->along);
}

/* ---- names and words ---- */

/* "missed cancer case" from the class's name. */
static mel_status derive(char **out, const char *positive, bool missed, bool plural, mel_error *err)
{
    mel_buffer text;
    mel_buffer_init(&text, MOST_NAME);
    if (missed)
        mel_text_add_missed(&text, positive, plural);
    else
        mel_buffer_puts(&text, plural ? "false alarms" : "false alarm");
    return mel_text_take(out, &text, "the name of a mistake", err);
}

/* Given names win. */
static mel_status choose_names(char **one, char **many, const char *given_one, const char *given_many,
                               const char *positive, bool missed, mel_error *err)
{
    mel_status status = MEL_OK;
    if (given_one != NULL) {
        mel_buffer text;
        mel_buffer_init(&text, MOST_NAME);
        if (given_many != NULL)
            mel_buffer_puts(&text, given_many);
        else
            mel_text_add_plural(&text, given_one);
        status = mel_text_take(many, &text, "the name of a mistake", err);
        *one = status == MEL_OK ? mel_strdup(given_one) : NULL;
        if (status == MEL_OK && *one == NULL)
            status = mel_fail_memory(err, "the name of a mistake");
        return status;
    }
    status = derive(one, positive, missed, false, err);
    if (status == MEL_OK)
        status = derive(many, positive, missed, true, err);
    return status;
}

/* The metric in words, with the caller's names of the mistakes. */
static mel_status put_in_words(char **out, const gathered *g, const mel_metric *metric, mel_error *err)
{
    const char *positive = mel_metric_class_name(metric, 1);
    mel_status status = mel_metric_words(out, metric, err);
    for (int i = 0; i < 4 && status == MEL_OK; i++) {
        const bool missed = i < 2, plural = i % 2 == 0; /* plurals first: they contain the singular */
        char *usual = NULL;
        status = derive(&usual, positive, missed, plural, err);
        if (status == MEL_OK)
            status = mel_gather_replace(
                out, usual,
                missed ? (plural ? g->missed_plural : g->missed) : (plural ? g->alarms : g->alarm), err);
        free(usual);
    }
    return status;
}

/* "0" and "1" say nothing to a reader. */
static bool is_number(const char *name)
{
    return strspn(name, "0123456789.-") == strlen(name);
}

static mel_status gather_names(gathered *g, const mel_report_options *opt, mel_error *err)
{
    static const char *const usual[] = { "0", "1" };
    mel_page_data *page = g->page;
    const char *const *names = page->settings.class_names != NULL ? page->settings.class_names : usual;
    page->positive = names[1];
    page->found = is_number(names[1]) ? "positives" : names[1];
    page->cleared = is_number(names[0]) ? "negatives" : names[0];
    page->called = is_number(names[1]) ? "positive" : names[1];
    mel_status status = choose_names(&g->missed, &g->missed_plural, opt->missed, opt->missed_plural,
                                     page->positive, true, err);
    if (status == MEL_OK)
        status = choose_names(&g->alarm, &g->alarms, opt->false_alarm, opt->false_alarms, page->positive,
                              false, err);
    page->missed = g->missed;
    page->missed_plural = g->missed_plural;
    page->alarm = g->alarm;
    page->alarms = g->alarms;
    return status;
}

/* ---- the metric ---- */

static void add_number(gathered *g, size_t file_order, const char *name, const char *meaning, double value)
{
    mel_page_number *out = &g->numbers[g->page->n_numbers++];
    *out = (mel_page_number){ .name = name, .meaning = meaning, .value = value, .low = NAN, .high = NAN };
    (void)mel_metric_interval(g->common->metric, file_order, &out->low, &out->high);
}

static void gather_numbers(gathered *g)
{
    const mel_metric *metric = g->common->metric;
    g->page->numbers = g->numbers;
    double p0 = 0.0, q0 = 0.0;
    const double *p = mel_metric_numerator(metric, &p0), *q = mel_metric_denominator(metric, &q0);
    if (q == NULL) {
        add_number(g, 0, "m11", "true positives: the right ones found", p[0]);
        add_number(g, 1, "m00", "true negatives: the others rightly cleared", p[1]);
        return;
    }
    add_number(g, 0, "p11", "true positives, above the line", p[0]);
    add_number(g, 1, "p00", "true negatives, above the line", p[1]);
    if (p0 != 0.0)
        add_number(g, 2, "p0", "constant, above the line", p0);
    add_number(g, 3, "q11", "true positives, below the line", q[0]);
    add_number(g, 4, "q00", "true negatives, below the line", q[1]);
    add_number(g, 5, "q0", "constant, below the line", q0);
}

static void gather_costs(mel_page_data *page, const mel_metric *metric)
{
    page->cost = (mel_cost_ratio){ NAN, NAN, NAN };
    page->threshold = page->threshold_low = page->threshold_high = NAN;
    if (mel_metric_cost_ratio(&page->cost, metric, NULL) != MEL_OK ||
        mel_metric_threshold(&page->threshold, metric, NULL) != MEL_OK)
        return;
    if (page->cost.low >= 0.0 && page->cost.low <= page->cost.high) {
        page->threshold_low = 1.0 / (1.0 + page->cost.high);
        page->threshold_high = 1.0 / (1.0 + page->cost.low);
    }
}

/* A linear metric's weights, or the gradient at a point, as utilities. */
static mel_status direction_at(double m[2], const mel_metric *metric, mel_point at, mel_error *err)
{
    const double sign = mel_metric_orientation(metric) == MEL_COST ? -1.0 : 1.0;
    const mel_status status = mel_metric_gradient(m, metric, (const double[]){ at.tp, at.tn }, err);
    if (status != MEL_OK)
        return status;
    m[0] *= sign;
    m[1] *= sign;
    return MEL_OK;
}

/* Where the metric is best, which way is better there, and the rule that gets there. */
static mel_status find_best(mel_page_choice *choice, double m[2], const gathered *g, const mel_metric *metric,
                            mel_error *err)
{
    mel_classifier *best = NULL;
    mel_status status = mel_classifier_best(&best, mel_session_domain(g->common->session), metric, err);
    if (status != MEL_OK)
        return status;
    const mel_classifier_parts got = mel_classifier_get(best);
    *choice = (mel_page_choice){ .point = { got.statistics[0], got.statistics[1] },
                                 .rule = got.mixture->rule[0],
                                 .has_rule = true };
    mel_classifier_free(best);
    return direction_at(m, metric, choice->point, err);
}

static mel_status gather_face(gathered *g, mel_error *err)
{
    mel_page_data *page = g->page;
    page->positives = mel_face_positives(g->face);
    page->negatives = mel_face_negatives(g->face);
    page->n_hull = mel_face_vertices(g->face);
    g->hull = mel_alloc(page->n_hull, sizeof *g->hull);
    if (g->hull == NULL)
        return mel_fail_memory(err, "the hull");
    for (size_t i = 0; i < page->n_hull; i++)
        g->hull[i] = mel_face_vertex(g->face, i);
    page->hull = g->hull;
    mel_status status = mel_face_support_rule(&page->plain.rule, g->face, 1.0, 1.0, err);
    if (status != MEL_OK)
        return status;
    page->plain.has_rule = true;
    page->plain.point = mel_face_rule(g->face, page->plain.rule);
    return MEL_OK;
}

static mel_status gather_metric(gathered *g, mel_error *err)
{
    mel_page_data *page = g->page;
    double m[2];
    mel_status status = mel_session_result(&g->common->metric, &page->summary, g->common->session, err);
    if (status == MEL_OK)
        status = put_in_words(&g->common->words, g, g->common->metric, err);
    if (status == MEL_OK)
        status = find_best(&page->chosen, m, g, g->common->metric, err);
    if (status != MEL_OK)
        return status;
    page->words = g->common->words;
    page->m11 = m[0];
    page->m00 = m[1];
    gather_numbers(g);
    gather_costs(page, g->common->metric);
    return MEL_OK;
}

static mel_status gather_posterior(gathered *g, mel_error *err)
{
    mel_page_data *page = g->page;
    if (page->settings.strategy != MEL_STRATEGY_ACTIVE || !isfinite(page->summary.angle))
        return MEL_OK;
    g->posterior = mel_alloc(2 * posterior_points, sizeof *g->posterior);
    if (g->posterior == NULL)
        return mel_fail_memory(err, "the posterior");
    const mel_status status = mel_session_posterior(posterior_points, g->posterior,
                                                    g->posterior + posterior_points, g->common->session, err);
    if (status == MEL_ESTATE)
        return MEL_OK;
    if (status != MEL_OK)
        return status;
    page->n_posterior = posterior_points;
    page->posterior_angle = g->posterior;
    page->posterior_density = g->posterior + posterior_points;
    return MEL_OK;
}

/* ---- neighbours and truth ---- */

static mel_status gather_neighbours(gathered *g, mel_error *err)
{
    g->page->n_pairs = MEL_CLOSEST_PAIRS;
    return mel_closest_metrics(g->page->neighbours, MEL_PAGE_NEIGHBOURS, &g->page->n_neighbours,
                               g->common->metric, g->face, err);
}

static mel_status gather_along(gathered *g, const mel_metric *truth, mel_error *err)
{
    g->along = mel_alloc(3 * along_points, sizeof *g->along);
    if (g->along == NULL)
        return mel_fail_memory(err, "metrics along the boundary");
    mel_along_angles(along_points, g->along);
    mel_status status =
        mel_along_values(g->along + along_points, g->face, along_points, g->along, truth, err);
    if (status == MEL_OK)
        status = mel_along_values(g->along + 2 * along_points, g->face, along_points, g->along,
                                  g->common->metric, err);
    if (status == MEL_ENUMERIC)
        return MEL_OK; /* not defined on all of the boundary: no picture */
    if (status != MEL_OK)
        return status;
    g->page->n_along = along_points;
    g->page->along_angle = g->along;
    g->page->along_truth = g->along + along_points;
    g->page->along_elicited = g->along + 2 * along_points;
    return MEL_OK;
}

static mel_status gather_truth(gathered *g, const mel_metric *truth, mel_error *err)
{
    mel_page_data *page = g->page;
    mel_page_choice best;
    double m[2];
    if (truth == NULL)
        return MEL_OK;
    const mel_layout *layout = mel_metric_layout(truth);
    if (layout->coordinates != MEL_BINARY || mel_layout_size(layout) != 2)
        return mel_fail(err, MEL_EINVAL, "the true metric is not one of (TP, TN)");
    mel_status status = put_in_words(&g->common->truth_words, g, truth, err);
    if (status == MEL_OK)
        status = find_best(&best, m, g, truth, err);
    if (status == MEL_OK)
        status = gather_along(g, truth, err);
    if (status != MEL_OK)
        return status;
    page->truth_words = g->common->truth_words;
    page->truth_m11 = m[0];
    page->truth_m00 = m[1];
    page->truth_best = best.point;
    page->truth_angle = mel_metric_denominator(truth, NULL) == NULL ? atan2(m[1], m[0]) : NAN;
    const size_t n = MEL_CLOSEST_PAIRS;
    double *points = mel_closest_pairs(g->face);
    if (points == NULL)
        return mel_fail_memory(err, "random pairs");
    page->truth_agreement = mel_gather_agreement(g->common->metric, truth, n, 2, points, points + 2 * n);
    free(points);
    return MEL_OK;
}

static mel_status gather_all(gathered *g, const mel_report_options *opt, mel_error *err)
{
    mel_status status = gather_names(g, opt, err);
    if (status == MEL_OK)
        status = gather_face(g, err);
    if (status == MEL_OK)
        status = gather_metric(g, err);
    if (status == MEL_OK)
        status = mel_gather_questions(g->common, err);
    if (status == MEL_OK)
        status = gather_posterior(g, err);
    if (status == MEL_OK)
        status = mel_gather_radius(g->common, err);
    if (status == MEL_OK)
        status = gather_neighbours(g, err);
    if (status == MEL_OK)
        status = gather_truth(g, opt->truth, err);
    return status;
}

mel_status mel_report_face(char **html, mel_gathered *common, const mel_report_options *opt, mel_error *err)
{
    gathered g = {
        .common = common,
        .page = &common->page,
        .face = mel_session_domain(common->session)->face,
    };
    mel_status status = gather_all(&g, opt, err);
    if (status == MEL_OK)
        status = mel_page_write(html, g.page, err);
    release(&g);
    return status;
}
