/* What a session found, worked out step by step; and the memory that the result lends. */
#include "outcome/outcome.h"

#include "elicit/shared.h"
#include "metric/shared.h"
#include "metric/text.h"
#include "outcome/shared.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_TEXT = 1 << 16 };

void mel_outcome_options_init(mel_outcome_options *opt)
{
    *opt = (mel_outcome_options){ .struct_size = sizeof *opt, .today_threshold = NAN };
}

bool mel_outcome_good(mel_outcome_work *w, mel_status status)
{
    if (w->status == MEL_OK)
        w->status = status;
    return w->status == MEL_OK;
}

void *mel_outcome_room(mel_outcome_work *w, size_t n, size_t size)
{
    void *room = mel_alloc_zero(n, size);
    if (room == NULL && w->status == MEL_OK)
        w->status = mel_fail_memory(w->err, "the result");
    return room;
}

const char *mel_outcome_keep(mel_outcome_work *w, mel_buffer *text)
{
    char *taken = NULL;
    mel_status status = mel_text_take(&taken, text, "the result", w->status == MEL_OK ? w->err : NULL);
    if (status == MEL_OK && !mel_grow((void **)&w->text, w->n_texts + 1, sizeof *w->text))
        status = mel_fail_memory(w->status == MEL_OK ? w->err : NULL, "the result");
    if (!mel_outcome_good(w, status)) {
        free(taken);
        return "";
    }
    w->text[w->n_texts++] = taken;
    return taken;
}

MEL_PRINTF(2, 0) static const char *format(mel_outcome_work *w, const char *fmt, va_list args)
{
    mel_buffer text;
    mel_buffer_init(&text, MOST_TEXT);
    mel_buffer_vprintf(&text, fmt, args);
    return mel_outcome_keep(w, &text);
}

const char *mel_outcome_format(mel_outcome_work *w, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    const char *text = format(w, fmt, args);
    va_end(args);
    return text;
}

void mel_outcome_say(mel_outcome_work *w, mel_topic topic, const char *key, const char *fmt, ...)
{
    const size_t n = w->out.n_statements;
    va_list args;
    va_start(args, fmt);
    const char *text = format(w, fmt, args);
    va_end(args);
    if (w->status == MEL_OK && !mel_grow((void **)&w->statement, n + 1, sizeof *w->statement))
        w->status = mel_fail_memory(w->err, "the result");
    if (w->status != MEL_OK)
        return;
    w->statement[n] = (mel_statement){ .topic = topic, .key = key, .text = text };
    w->out.statements = w->statement;
    w->out.n_statements++;
}

const char *mel_topic_name(mel_topic topic)
{
    static const char *const names[] = { "metric", "end", "known", "open", "answers", "limits" };
    return names[topic];
}

bool mel_outcome_is_search(const mel_outcome *outcome)
{
    return outcome->options != NULL && outcome->options->strategy == MEL_STRATEGY_SEARCH;
}

/* --- making one --------------------------------------------------------------------------------- */

void mel_outcome_free(mel_outcome *outcome)
{
    mel_outcome_work *w = (mel_outcome_work *)outcome;
    if (w == NULL)
        return;
    for (size_t i = 0; i < w->n_texts; i++)
        free(w->text[i]);
    free(w->text);
    mel_metric_free(w->metric);
    free(w->draw);
    mel_classifier_free(w->best);
    free(w->statement);
    free(w->coefficient);
    free(w->weight);
    free(w->ratio);
    free(w->equivalent);
    free(w->cost);
    free(w->recognised);
    for (size_t i = 0; i < w->out.n_treatments; i++)
        free((void *)w->out.treatments[i].share);
    free(w->treated);
    free(w->setting);
    free(w->order);
    free(w->respondent);
    free(w->pair);
    mel_pooled_free(w->pooled);
    free((void *)w->coordinate);
    free(w);
}

/* NULL with the failure in *status. */
static mel_outcome_work *begin(mel_status *status, const mel_outcome_options *opt, mel_error *err)
{
    mel_outcome_options about;
    mel_outcome_options_init(&about);
    *status = mel_options_take(&about, sizeof about, opt, "outcome options", err);
    mel_outcome_work *w = *status == MEL_OK ? mel_alloc_zero(1, sizeof *w) : NULL;
    if (*status == MEL_OK && w == NULL)
        *status = mel_fail_memory(err, "the result");
    if (w == NULL)
        return NULL;
    const mel_estimate unknown = { NAN, NAN, NAN };
    w->err = err;
    w->about = about;
    w->out = (mel_outcome){ .lambda = unknown, .cost = unknown, .threshold = unknown, .rows = about.rows };
    w->out.same_beta = (mel_interval){ NAN, NAN };
    w->out.mean_degrees = NAN;
    w->out.summary.ratio = NAN;
    w->out.summary.radius = w->out.summary.error_rate = w->out.summary.consistency = NAN;
    w->out.summary.angle = w->out.summary.angle_low = w->out.summary.angle_high = w->out.summary.evidence =
        NAN;
    return w;
}

/* Gives the outcome when all went well, else nothing. */
static mel_status end(mel_outcome **out, mel_outcome_work *w)
{
    const mel_status status = w->status;
    w->err = NULL; /* the caller's, until here */
    if (status == MEL_OK)
        *out = &w->out;
    else
        mel_outcome_free(&w->out);
    return status;
}

mel_status mel_outcome_draws(mel_outcome_work *w)
{
    if (w->draw != NULL)
        return MEL_OK;
    return mel_session_draws(&w->n_draws, &w->draw_width, &w->draw, w->session, w->err);
}

static void describe_metric(mel_outcome_work *w)
{
    w->out.metric = w->metric;
    mel_outcome_name(w);
    mel_outcome_put_in_words(w, w->metric);
    mel_outcome_find_coefficients(w);
    mel_outcome_find_weights(w);
}

mel_status mel_outcome_of_session(mel_outcome **out, mel_session *session, const mel_outcome_options *opt,
                                  mel_error *err)
{
    mel_status status = MEL_OK;
    mel_outcome_work *w = begin(&status, opt, err);
    *out = NULL;
    if (w == NULL)
        return status;
    w->session = session;
    w->out.options = mel_session_get_options(session);
    w->out.domain = mel_session_domain(session);
    if (mel_outcome_good(w, mel_session_result(&w->metric, &w->out.summary, session, err))) {
        w->out.consistency = mel_consistency_label(&w->out.summary);
        describe_metric(w);
        mel_outcome_open_words(w);
        mel_outcome_find_ratios(w);
        mel_outcome_sharpen_two(w);
        mel_outcome_sharpen_words(w);
        mel_outcome_admit_nothing(w);
        mel_outcome_find_equivalents(w);
        mel_outcome_find_decisions(w);
        mel_outcome_find_treatments(w);
        mel_outcome_find_settings(w);
        mel_outcome_find_calls(w);
        mel_outcome_find_order(w);
        mel_outcome_find_agreed(w);
        mel_outcome_state(w);
        mel_outcome_state_answers(w);
        mel_outcome_state_limits(w);
    }
    return end(out, w);
}

mel_status mel_outcome_of_metric(mel_outcome **out, const mel_metric *metric, const mel_outcome_options *opt,
                                 mel_error *err)
{
    mel_status status = MEL_OK;
    mel_outcome_work *w = begin(&status, opt, err);
    *out = NULL;
    if (w == NULL)
        return status;
    if (mel_outcome_good(w, mel_metric_copy(&w->metric, metric, err))) {
        w->out.domain = w->about.domain;
        describe_metric(w);
        mel_outcome_find_equivalents(w);
    }
    return end(out, w);
}

mel_status mel_outcome_of_sessions(mel_outcome **out, size_t n, mel_session *const *sessions,
                                   const mel_outcome_options *opt, mel_error *err)
{
    mel_status status = MEL_OK;
    mel_outcome_work *w = begin(&status, opt, err);
    *out = NULL;
    if (w == NULL)
        return status;
    if (mel_outcome_good(w, mel_respondents_join(&w->pooled, n, sessions, err)) &&
        mel_outcome_good(w, mel_metric_copy(&w->metric, w->pooled->common, err))) {
        w->out.summary = w->pooled->summary;
        describe_metric(w);
        mel_outcome_find_equivalents(w);
        mel_outcome_find_pooled(w);
    }
    return end(out, w);
}
