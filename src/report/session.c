/* The report of a session: what every page needs of it, and which page it gets. */
#include "elicit/shared.h"
#include "report/gather.h"

#include <stdlib.h>

void mel_report_options_init(mel_report_options *opt)
{
    *opt = (mel_report_options){ .struct_size = sizeof *opt };
}

static void release(mel_gathered *g)
{
    mel_outcome_free(g->outcome);
    mel_truth_clear(&g->truth);
    free(g->questions);
    free(g->radius);
}

/* The caller's texts. */
static void gather_texts(mel_gathered *g, const mel_report_options *opt)
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

static mel_status gather_questions(mel_gathered *g, mel_error *err)
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
    return MEL_OK;
}

mel_status mel_gather_common(mel_gathered *g, const mel_metric *truth, mel_error *err)
{
    mel_status status = gather_questions(g, err);
    if (status == MEL_OK)
        status = mel_outcome_radii(&g->radius, &g->page.n_radius, g->session, err);
    g->page.radius = g->radius;
    if (status == MEL_OK && truth != NULL)
        status = mel_truth_find(&g->truth, g->outcome, truth, err);
    if (status == MEL_OK && truth != NULL)
        g->page.truth = &g->truth;
    return status;
}

mel_status mel_report_session(char **html, mel_session *session, const mel_report_options *opt,
                              mel_error *err)
{
    mel_report_options own;
    *html = NULL;
    mel_report_options_init(&own);
    mel_status status = mel_options_take(&own, sizeof own, opt, "report options", err);
    if (status != MEL_OK)
        return status;
    mel_gathered *g = mel_alloc_zero(1, sizeof *g);
    if (g == NULL)
        return mel_fail_memory(err, "the report");
    g->session = session;
    status = mel_outcome_of_session(&g->outcome, session, own.about, err);
    if (status == MEL_OK) {
        gather_texts(g, &own);
        status = mel_session_domain(session)->face != NULL ? mel_report_face(html, g, &own, err)
                                                           : mel_report_classes(html, g, &own, err);
    }
    release(g);
    free(g);
    return status;
}
