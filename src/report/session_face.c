/* The report of a session on a planar face. */
#include "elicit/shared.h"
#include "report/along.h"
#include "report/gather.h"

#include <math.h>
#include <stdlib.h>

static const size_t posterior_points = 20001, along_points = 361;

typedef struct {
    mel_gathered *common;
    mel_page_data *page; /* of common */
    const mel_face *face;
    mel_point *hull;
    double *posterior, *along;
} gathered;

static void release(gathered *g)
{
    free(g->hull);
    free(g->posterior);
    free(g->along);
}

static void gather_names(gathered *g)
{
    mel_page_data *page = g->page;
    const char *negative = mel_metric_class_name(g->common->outcome->metric, 0);
    page->positive = mel_metric_class_name(g->common->outcome->metric, 1);
    page->found = mel_outcome_is_number(page->positive) ? "positives" : page->positive;
    page->cleared = mel_outcome_is_number(negative) ? "negatives" : negative;
    page->called = mel_outcome_is_number(page->positive) ? "positive" : page->positive;
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
    const mel_point best = g->common->outcome->decisions[0].point;
    return mel_outcome_direction(page->direction, g->common->outcome->metric, best, err);
}

static mel_status gather_posterior(gathered *g, mel_error *err)
{
    mel_page_data *page = g->page;
    if (g->common->outcome->options->strategy != MEL_STRATEGY_ACTIVE ||
        !isfinite(g->common->outcome->summary.angle))
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
                                  g->common->outcome->metric, err);
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

static mel_status gather_all(gathered *g, const mel_report_options *opt, mel_error *err)
{
    gather_names(g);
    mel_status status = gather_face(g, err);
    if (status == MEL_OK)
        status = gather_posterior(g, err);
    if (status == MEL_OK)
        status = mel_gather_common(g->common, opt->truth, err);
    return status == MEL_OK && opt->truth != NULL ? gather_along(g, opt->truth, err) : status;
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
