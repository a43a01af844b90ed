/* What a session found, worked out step by step: facts first, words at the end. */
#include "outcome/outcome.h"

#include "elicit/shared.h"
#include "metric/shared.h"
#include "outcome/shared.h"

#include <math.h>
#include <stdlib.h>

void mel_outcome_options_init(mel_outcome_options *opt)
{
    *opt = (mel_outcome_options){ .struct_size = sizeof *opt, .today_threshold = NAN };
}

void mel_outcome_free(mel_outcome *outcome)
{
    mel_outcome_work *w = (mel_outcome_work *)outcome;
    if (w == NULL)
        return;
    mel_sentences_clear(&w->words);
    mel_sentences_clear(&w->said);
    mel_metric_free(w->metric);
    mel_metric_free(w->sharper);
    free(w->draw);
    mel_classifier_free(w->best);
    free(w->statement);
    free(w->equivalent);
    mel_pooled_free(w->pooled);
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
    w->said.err = w->words.err = err;
    w->about = about;
    w->said.language = w->words.language = about.language;
    w->out = (mel_outcome){ .lambda = unknown, .cost = unknown, .threshold = unknown, .rows = about.rows };
    w->out.same_beta = (mel_interval){ NAN, NAN };
    w->out.mean_degrees = w->out.above_refused = NAN;
    w->out.summary.ratio = NAN;
    w->out.summary.radius = w->out.summary.error_rate = w->out.summary.consistency = NAN;
    w->out.summary.angle = w->out.summary.angle_low = w->out.summary.angle_high = w->out.summary.evidence =
        NAN;
    return w;
}

/* Gives the outcome when all went well, else nothing. */
static mel_status end(mel_outcome **out, mel_outcome_work *w)
{
    const mel_status status = w->said.status;
    w->said.err = w->words.err = NULL; /* the caller's, until here */
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
    return mel_session_draws(&w->n_draws, &w->draw_width, &w->draw, w->session, w->said.err);
}

static void describe_metric(mel_outcome_work *w)
{
    w->out.metric = w->metric;
    mel_outcome_name(w);
    mel_outcome_find_coefficients(w);
    mel_outcome_find_weights(w);
    mel_outcome_word_metric(w);
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
        w->out.nothing_found = w->out.summary.skipped + w->out.summary.neither == w->out.summary.questions;
        describe_metric(w);
        mel_outcome_find_decisions(w);
        mel_outcome_find_treatments(w);
        mel_outcome_find_settings(w);
        mel_outcome_find_order(w);
        mel_outcome_find_refused(w);
        mel_outcome_find_agreed(w);
        mel_outcome_word_rules(w);
        mel_outcome_judge(w);
        mel_outcome_find_equivalents(w);
        mel_outcome_state(w);
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
        mel_outcome_judge(w);
        mel_outcome_find_equivalents(w);
    }
    return end(out, w);
}

/* --- several respondents ------------------------------------------------------------------------- */

static double in_degrees(double angle)
{
    return angle * 180.0 / acos(-1.0);
}

static void find_respondents(mel_outcome_work *w)
{
    const size_t n = w->pooled->n;
    mel_respondent_outcome *found = mel_outcome_room(w, n, sizeof *found);
    for (size_t i = 0; found != NULL && i < n; i++)
        found[i] = (mel_respondent_outcome){
            .name = w->about.respondents != NULL ? w->about.respondents[i] : NULL,
            .consistency = mel_consistency_label(&w->pooled->respondent[i].summary),
            .found = &w->pooled->respondent[i],
        };
    w->out.respondents = found;
    w->out.n_respondents = n;
}

static void find_pairs(mel_outcome_work *w)
{
    const size_t n = w->pooled->n;
    const mel_family_facts *family = mel_family_about(mel_metric_family(w->pooled->common));
    /* Two linear metrics an angle x apart order the share x/pi of random pairs differently. */
    const bool shares = family->sum && !family->local;
    double sum = 0.0;
    size_t at = 0;
    mel_respondent_pair *pair = mel_outcome_room(w, n * (n - 1) / 2, sizeof *pair);
    for (size_t i = 0; pair != NULL && i < n; i++)
        for (size_t j = i + 1; j < n; j++, at++) {
            const mel_disagreement *d = &w->pooled->disagreement[i * n + j];
            pair[at] = (mel_respondent_pair){
                .first = i,
                .second = j,
                .degrees = { in_degrees(d->angle), in_degrees(d->low), in_degrees(d->high) },
                .differ = d->low > 0.0,
                .order_differently = shares ? d->angle / acos(-1.0) : NAN,
            };
            sum += pair[at].degrees.value;
        }
    w->out.respondent_pairs = pair;
    w->out.n_respondent_pairs = at;
    w->out.mean_degrees = at > 0 ? sum / (double)at : NAN;
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
        w->out.pooled = w->pooled;
        describe_metric(w);
        find_respondents(w);
        find_pairs(w);
        mel_outcome_word_pooled(w);
        mel_outcome_judge(w);
        mel_outcome_find_equivalents(w);
    }
    return end(out, w);
}

/* --- answers that are no part of the session ------------------------------------------------------ */

/* On how many of the questions that were answered A or B a metric prefers the same. */
static mel_status count_agreed(uint32_t *agreed, mel_outcome_work *w, const mel_metric *metric)
{
    const mel_evaluation *e = w->about.evaluation;
    const size_t size = mel_layout_size(mel_metric_layout(metric));
    *agreed = 0;
    for (size_t i = 0; i < e->n; i++) {
        const double *a = e->pairs + 2 * i * size;
        double better = 0.0;
        if (e->answers[i] != MEL_ANSWER_A && e->answers[i] != MEL_ANSWER_B)
            continue;
        TRY(mel_metric_compare(&better, metric, a, a + size, w->said.err));
        *agreed += e->answers[i] == MEL_ANSWER_A ? better > 0.0 : better < 0.0;
    }
    return MEL_OK;
}

static mel_status count_named(uint32_t *agreed, mel_outcome_work *w, const char *name)
{
    mel_metric *metric = NULL;
    mel_status status =
        mel_metric_named(&metric, name, mel_face_positives(w->out.domain->face), NULL, w->said.err);
    if (status == MEL_OK)
        status = count_agreed(agreed, w, metric);
    mel_metric_free(metric);
    return status;
}

void mel_outcome_find_agreed(mel_outcome_work *w)
{
    const mel_evaluation *e = w->about.evaluation;
    mel_agreed *out = &w->out.agreed;
    if (!mel_outcome_ok(w) || e == NULL)
        return;
    for (size_t i = 0; i < e->n; i++)
        out->n += e->answers[i] == MEL_ANSWER_A || e->answers[i] == MEL_ANSWER_B;
    out->planar = w->out.domain->face != NULL;
    if (!mel_outcome_good(w, count_agreed(&out->elicited, w, w->metric)) || !out->planar ||
        !mel_outcome_good(w, count_named(&out->accuracy, w, "accuracy")) ||
        !mel_outcome_good(w, count_named(&out->f1, w, "f1")))
        return;
    out->guessed = isfinite(e->guess);
    if (out->guessed) {
        char name[MEL_MEASURE_NAME];
        (void)mel_print(name, sizeof name, "weighted-accuracy:%.17g", e->guess);
        (void)mel_outcome_good(w, count_named(&out->guess, w, name));
    }
}
