/* The report of a session: gathers what its page shows from the session, its domain and its outcome. */
#include "elicit/shared.h"
#include "metric/shared.h"
#include "metric/text.h"
#include "outcome/outcome.h"
#include "report/page.h"
#include "report/write.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_NAME = 1 << 16, POSTERIOR_POINTS = 20001 };

/* What a page is made from; page lends from the rest. */
typedef struct {
    mel_page_data page;
    mel_page_classes classes;
    mel_session *session;
    mel_outcome *outcome;
    mel_page_question *questions;
    double *radius, *posterior;
    mel_point *hull;
    size_t n_coordinates, n_classes;
    char **coordinates, **class_names;
} gathered;

void mel_report_options_init(mel_report_options *opt)
{
    *opt = (mel_report_options){ .struct_size = sizeof *opt };
}

static void free_texts(char **texts, size_t n)
{
    for (size_t i = 0; texts != NULL && i < n; i++)
        free(texts[i]);
    free(texts);
}

static void gathered_free(gathered *g)
{
    if (g == NULL)
        return;
    mel_outcome_free(g->outcome);
    free(g->questions);
    free(g->radius);
    free(g->posterior);
    free(g->hull);
    free_texts(g->coordinates, g->n_coordinates);
    free_texts(g->class_names, g->n_classes);
    free(g);
}
MEL_CLEANUP(gathered)

/* The caller's texts. */
static void gather_texts(gathered *g, const mel_report_options *opt)
{
    mel_page_data *page = &g->page;
    page->outcome = g->outcome;
    page->title = opt->title != NULL ? opt->title : "What counts as a good decision";
    page->data = opt->data;
    page->date = opt->date;
    page->answered_by = opt->answered_by;
    page->version = mel_version();
    page->session_path = opt->session_path;
    page->metric_path = opt->metric_path;
    page->space_options = opt->space_options;
}

/* The questions with the answers that the metric disagrees with, and how precise the session was after each.
 */
static mel_status gather_questions(gathered *g, mel_error *err)
{
    const uint32_t n = mel_session_answers(g->session);
    g->questions = mel_alloc(n, sizeof *g->questions);
    if (g->questions == NULL)
        return mel_fail_memory(err, "the questions");
    for (uint32_t i = 0; i < n; i++) {
        const mel_record r = mel_session_record(g->session, i);
        g->questions[i] = (mel_page_question){
            .a = r.a,
            .b = r.b,
            .answer = r.answer,
            .seconds = r.seconds,
            .repeated = r.repeated,
            .disagrees = mel_answer_contradicts(g->outcome->metric, r.a, r.b, r.answer),
        };
    }
    g->page.n_questions = n;
    g->page.questions = g->questions;
    TRY(mel_session_radii(&g->radius, &g->page.n_radius, g->session, err));
    g->page.radius = g->radius;
    return MEL_OK;
}

/* ---- two classes on a planar face ---- */

static mel_status gather_posterior(gathered *g, mel_error *err)
{
    if (g->outcome->options->strategy != MEL_STRATEGY_ACTIVE || !isfinite(g->outcome->summary.angle))
        return MEL_OK;
    g->posterior = mel_alloc(2 * (size_t)POSTERIOR_POINTS, sizeof *g->posterior);
    if (g->posterior == NULL)
        return mel_fail_memory(err, "the posterior");
    const mel_status status = mel_session_posterior(POSTERIOR_POINTS, g->posterior,
                                                    g->posterior + POSTERIOR_POINTS, g->session, err);
    if (status != MEL_OK)
        return status == MEL_ESTATE ? MEL_OK : status;
    g->page.n_posterior = POSTERIOR_POINTS;
    g->page.posterior_angle = g->posterior;
    g->page.posterior_density = g->posterior + POSTERIOR_POINTS;
    return MEL_OK;
}

static mel_status gather_face(gathered *g, const mel_face *face, mel_error *err)
{
    mel_page_data *page = &g->page;
    const mel_metric *metric = g->outcome->metric;
    const char *negative = mel_metric_class_name(metric, 0);
    page->positive = mel_metric_class_name(metric, 1);
    page->found = mel_outcome_is_number(page->positive) ? "positives" : page->positive;
    page->cleared = mel_outcome_is_number(negative) ? "negatives" : negative;
    page->called = mel_outcome_is_number(page->positive) ? "positive" : page->positive;
    page->positives = mel_face_positives(face);
    page->negatives = mel_face_negatives(face);
    page->n_hull = mel_face_vertices(face);
    g->hull = mel_alloc(page->n_hull, sizeof *g->hull);
    if (g->hull == NULL)
        return mel_fail_memory(err, "the hull");
    for (size_t i = 0; i < page->n_hull; i++)
        g->hull[i] = mel_face_vertex(face, i);
    page->hull = g->hull;
    const mel_point best = g->outcome->decisions[0].point;
    TRY(mel_outcome_direction(page->direction, metric, best, err));
    return gather_posterior(g, err);
}

/* ---- several classes, or given classifiers ---- */

static mel_status gather_classes(gathered *g, const mel_domain *domain, mel_error *err)
{
    const mel_metric *metric = g->outcome->metric;
    const mel_layout *layout = mel_session_layout(g->session);
    g->classes.class_share = domain->pool != NULL   ? domain->class_share
                             : domain->ball != NULL ? mel_ball_class_share(domain->ball)
                                                    : mel_space_class_share(domain->space);
    g->n_coordinates = mel_layout_size(layout);
    g->n_classes = layout->n_classes;
    g->coordinates = mel_alloc_zero(g->n_coordinates, sizeof *g->coordinates);
    g->class_names = mel_alloc_zero(g->n_classes, sizeof *g->class_names);
    if (g->coordinates == NULL || g->class_names == NULL)
        return mel_fail_memory(err, "names of classes and statistics");
    for (size_t i = 0; i < g->n_coordinates; i++) {
        mel_buffer text;
        mel_buffer_init(&text, MOST_NAME);
        mel_outcome_add_coordinate(&text, metric, i, layout->n_groups > 1);
        TRY(mel_text_take(&g->coordinates[i], &text, "the name of a statistic", err));
    }
    for (size_t i = 0; i < g->n_classes; i++) {
        mel_buffer text;
        mel_buffer_init(&text, MOST_NAME);
        mel_outcome_add_name(&text, "class", mel_metric_class_name(metric, i));
        TRY(mel_text_take(&g->class_names[i], &text, "a class name", err));
    }
    g->classes.coordinates = (const char *const *)g->coordinates;
    g->classes.class_names = (const char *const *)g->class_names;
    g->page.classes = &g->classes;
    return MEL_OK;
}

mel_status mel_report_session(char **html, mel_session *session, const mel_report_options *opt,
                              mel_error *err)
{
    mel_report_options own;
    *html = NULL;
    mel_report_options_init(&own);
    TRY(mel_options_take(&own, sizeof own, opt, "report options", err));
    MEL_AUTO(gathered) *g = mel_alloc_zero(1, sizeof *g);
    if (g == NULL)
        return mel_fail_memory(err, "the report");
    const mel_domain *domain = mel_session_domain(session);
    g->session = session;
    TRY(mel_outcome_of_session(&g->outcome, session, own.about, err));
    gather_texts(g, &own);
    TRY(domain->face != NULL ? gather_face(g, domain->face, err) : gather_classes(g, domain, err));
    TRY(gather_questions(g, err));
    return mel_page_write(html, &g->page, err);
}
