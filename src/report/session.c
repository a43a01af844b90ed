/* The report of a session: what every page needs of it, and which page it gets. */
#include "elicit/shared.h"
#include "report/gather.h"

#include <math.h>
#include <stdlib.h>

void mel_report_options_init(mel_report_options *opt)
{
    *opt = (mel_report_options){ .struct_size = sizeof *opt };
    mel_outcome_options_init(&opt->about);
}

static void release(mel_gathered *g)
{
    mel_outcome_free(g->outcome);
    free(g->truth_words);
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

/* ---- answers ---- */

mel_status mel_gather_questions(mel_gathered *g, mel_error *err)
{
    const uint32_t n = mel_session_answers(g->session);
    g->questions = mel_alloc(n, sizeof *g->questions);
    if (g->questions == NULL)
        return mel_fail_memory(err, "the questions");
    for (uint32_t i = 0; i < n; i++) {
        const mel_record r = mel_session_record(g->session, i);
        double better = 0.0;
        const bool defined = mel_metric_compare(&better, g->outcome->metric, r.a, r.b, NULL) == MEL_OK;
        g->questions[i] = (mel_page_question){
            .a = r.a,
            .b = r.b,
            .answer = r.answer,
            .seconds = r.seconds,
            .repeated = r.repeated,
            .disagrees = defined && ((r.answer == MEL_ANSWER_A && better < 0.0) ||
                                     (r.answer == MEL_ANSWER_B && better > 0.0)),
        };
    }
    g->page.n_questions = n;
    g->page.questions = g->questions;
    return MEL_OK;
}

static mel_status radius_now(double *out, mel_session *session, mel_error *err)
{
    mel_metric *metric = NULL;
    mel_summary summary;
    const mel_status status = mel_session_result(&metric, &summary, session, err);
    if (status == MEL_OK)
        *out = summary.radius;
    mel_metric_free(metric);
    return status;
}

/* Answers again from the beginning: the same answers give the same questions. */
static mel_status replay(mel_gathered *g, mel_session *again, mel_error *err)
{
    mel_status status = radius_now(&g->radius[0], again, err);
    for (size_t i = 0; i < g->page.n_questions && status == MEL_OK; i++) {
        const mel_question *question = NULL;
        bool done = false;
        status = mel_session_ask(&question, &done, again, err);
        if (status == MEL_OK && done)
            return mel_fail(err, MEL_ESTATE, "the session ends after %zu answers when replayed", i);
        if (status == MEL_OK)
            status = mel_session_tell(again, question->number, g->questions[i].answer, NAN, err);
        if (status == MEL_OK)
            status = radius_now(&g->radius[i + 1], again, err);
    }
    return status;
}

mel_status mel_gather_radius(mel_gathered *g, mel_error *err)
{
    mel_session *again = NULL;
    const size_t n = g->page.n_questions + 1;
    if (g->outcome->options->strategy != MEL_STRATEGY_ACTIVE)
        return MEL_OK; /* a search knows no interval before its end */
    g->radius = mel_alloc(n, sizeof *g->radius);
    if (g->radius == NULL)
        return mel_fail_memory(err, "the radius after each question");
    mel_status status = mel_session_new(&again, mel_session_domain(g->session), g->outcome->options, err);
    if (status == MEL_OK)
        status = replay(g, again, err);
    mel_session_free(again);
    if (status != MEL_OK)
        return status;
    for (size_t i = 0; i < n; i++)
        if (!(g->radius[i] > 0.0) || !isfinite(g->radius[i]))
            return MEL_OK; /* has no place on a log axis */
    g->page.n_radius = n;
    g->page.radius = g->radius;
    return MEL_OK;
}

/* The share of n pairs that both metrics order alike; NaN when they are defined at none. */
double mel_gather_agreement(const mel_metric *x, const mel_metric *y, size_t n, size_t size, const double *a,
                            const double *b)
{
    size_t same = 0, defined = 0;
    for (size_t i = 0; i < n; i++) {
        double by_x, by_y;
        if (mel_metric_compare(&by_x, x, a + i * size, b + i * size, NULL) != MEL_OK ||
            mel_metric_compare(&by_y, y, a + i * size, b + i * size, NULL) != MEL_OK)
            continue;
        defined++;
        same += (by_x > 0.0) == (by_y > 0.0) && (by_x < 0.0) == (by_y < 0.0);
    }
    return defined != 0 ? (double)same / (double)defined : NAN;
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
    status = mel_outcome_of_session(&g->outcome, session, &own.about, err);
    if (status == MEL_OK) {
        gather_texts(g, &own);
        status = mel_session_domain(session)->face != NULL ? mel_report_face(html, g, &own, err)
                                                           : mel_report_classes(html, g, &own, err);
    }
    release(g);
    free(g);
    return status;
}
