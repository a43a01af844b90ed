/* What can be seen of a session: its questions, the metric as known so far, draws of the posterior. */
#include "elicit/session.h"

#include "elicit/active/select.h"
#include "elicit/shared.h"
#include "metric/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

uint32_t mel_session_answers(const mel_session *session)
{
    return (uint32_t)session->n_entries;
}

mel_record mel_session_record(const mel_session *session, uint32_t index)
{
    const mel_pair pair = mel_session_pair(session, index);
    mel_record record = session->entries[index];
    record.a = pair.a;
    record.b = pair.b;
    return record;
}

const mel_session_options *mel_session_get_options(const mel_session *session)
{
    return &session->options.values;
}

mel_questions mel_session_questions(const mel_session *session)
{
    const mel_session_options *opt = &session->options.values;
    if (mel_asks_near_best(opt, &session->domain))
        return MEL_QUESTIONS_REALISTIC;
    return mel_asks_exchange(opt, &session->domain) ? opt->questions : MEL_QUESTIONS_FAR;
}

const mel_domain *mel_session_domain(const mel_session *session)
{
    return &session->domain;
}

const mel_layout *mel_session_layout(const mel_session *session)
{
    return &session->layout;
}

/* Whether two answers to the same pair, the second one with its sides swapped, say the same. */
static bool agrees(mel_answer first, mel_answer swapped)
{
    if (first == MEL_ANSWER_SAME || swapped == MEL_ANSWER_SAME)
        return first == swapped;
    return first != swapped;
}

static bool equal(size_t n, const double *x, const double *y)
{
    for (size_t i = 0; i < n; i++)
        if (x[i] != y[i])
            return false;
    return true;
}

size_t mel_session_repeats(const mel_session *session, size_t index)
{
    const mel_pair pair = mel_session_pair(session, index);
    if (mel_answer_unsaid(session->entries[index].answer))
        return SIZE_MAX;
    for (size_t j = index; j-- > 0;) {
        const mel_pair first = mel_session_pair(session, j);
        if (!mel_answer_unsaid(session->entries[j].answer) && equal(session->size, first.a, pair.b) &&
            equal(session->size, first.b, pair.a))
            return j;
    }
    return SIZE_MAX;
}

static void count_repeats(const mel_session *session, mel_summary *summary)
{
    for (size_t i = 0; i < session->n_entries; i++) {
        const size_t first = session->entries[i].repeated ? mel_session_repeats(session, i) : SIZE_MAX;
        if (first == SIZE_MAX)
            continue;
        summary->repeats++;
        summary->repeats_agreed += agrees(session->entries[first].answer, session->entries[i].answer);
    }
}

bool mel_answer_contradicts(const mel_metric *metric, const double *a, const double *b, mel_answer answer)
{
    double better = 0.0;
    if (mel_metric_compare(&better, metric, a, b, NULL) != MEL_OK)
        return false;
    return (answer == MEL_ANSWER_A && better < 0.0) || (answer == MEL_ANSWER_B && better > 0.0);
}

static void count_disagreements(const mel_session *session, const mel_metric *metric, mel_summary *summary)
{
    for (size_t i = 0; i < session->n_entries; i++) {
        const mel_answer answer = session->entries[i].answer;
        const mel_pair pair = mel_session_pair(session, i);
        summary->skipped += answer == MEL_ANSWER_SKIP;
        summary->neither += answer == MEL_ANSWER_NEITHER;
        summary->disagreements += mel_answer_contradicts(metric, pair.a, pair.b, answer);
    }
}

/* The end of a range tells nothing about what is beyond it. */
static mel_status withdraw_precision(mel_metric *metric, mel_summary *summary, mel_error *err)
{
    summary->finding = MEL_FINDING_AT_END;
    summary->radius = summary->angle_low = summary->angle_high = NAN;
    return mel_metric_set_intervals(metric, NULL, NULL, err);
}

static mel_status note_elicited(mel_metric *metric, const mel_summary *summary, const mel_session *session,
                                mel_error *err)
{
    const mel_elicited how = {
        .questions = summary->questions,
        .strategy = mel_strategy_name(session->options.values.strategy),
        .radius = summary->radius,
        .seed = session->options.values.seed,
    };
    return mel_metric_set_elicited(metric, &how, err);
}

/* --- what the answers say, found once ------------------------------------------------------------------- */

void mel_session_forget(mel_session *session)
{
    mel_metric_free(session->found.metric);
    mel_metric_free(session->found.reported);
    free(session->found.draw);
    session->found = (mel_found){ .metric = NULL };
}

mel_status mel_session_find_metric(mel_session *session, mel_error *err)
{
    mel_found *found = &session->found;
    if (found->metric != NULL)
        return MEL_OK;
    found->summary = (mel_summary){
        .radius = NAN,
        .error_rate = NAN,
        .consistency = NAN,
        .evidence = NAN,
        .angle = NAN,
        .angle_low = NAN,
        .angle_high = NAN,
        .ratio = NAN,
        .ratio_low = NAN,
        .ratio_high = NAN,
        .askable_low = NAN,
        .askable_high = NAN,
        .variation = NAN,
        .settled = NAN,
        .questions_to_ratio = NAN,
    };
    MEL_AUTO(mel_metric) *metric = NULL;
    TRY(session->engine->ops->result(session->engine, &metric, &found->summary, err));
    found->metric = metric;
    metric = NULL;
    return MEL_OK;
}

mel_status mel_session_find_draws(mel_session *session, mel_error *err)
{
    mel_found *found = &session->found;
    if (session->broken)
        return mel_fail(err, MEL_ESTATE,
                        "an answer could not be stored nor taken back; open the session again");
    if (session->engine->ops->draws == NULL)
        return mel_fail(err, MEL_ESTATE, "a search knows an interval, but no probabilities to draw from");
    return found->draw != NULL ? MEL_OK
                               : session->engine->ops->draws(session->engine, &found->n_draws,
                                                             &found->n_coefficients, &found->draw, err);
}

/* What is reported: the engine's metric and summary, and what the answers say of them. */
static mel_status find_reported(mel_session *session, mel_error *err)
{
    const bool active = session->options.values.strategy != MEL_STRATEGY_SEARCH;
    TRY(mel_session_propose(session, err));
    if (session->found.reported != NULL)
        return MEL_OK;
    TRY(mel_session_find_metric(session, err));
    MEL_AUTO(mel_metric) *metric = NULL;
    mel_summary said = session->found.summary;
    said.end = session->end;
    said.questions = (uint32_t)session->n_entries;
    TRY(mel_metric_copy(&metric, session->found.metric, err));
    if (said.end == MEL_END_RANGE)
        TRY(withdraw_precision(metric, &said, err));
    TRY(note_elicited(metric, &said, session, err));
    count_repeats(session, &said);
    count_disagreements(session, metric, &said);
    if (active) {
        TRY(mel_session_consistency(&said.consistency, session, metric, &said, err));
        TRY(mel_session_judge(&said, metric, session, err));
    }
    TRY(mel_session_judge_signs(&said, session, metric, err));
    session->found.reported = metric;
    session->found.said = said;
    metric = NULL;
    return MEL_OK;
}

mel_status mel_session_snapshot(mel_snapshot *out, mel_session *session, mel_error *err)
{
    *out = (mel_snapshot){ .metric = NULL };
    TRY(find_reported(session, err));
    if (session->engine->ops->draws != NULL)
        TRY(mel_session_find_draws(session, err));
    *out = (mel_snapshot){ .metric = session->found.reported,
                           .summary = session->found.said,
                           .n_draws = session->found.n_draws,
                           .n_coefficients = session->found.n_coefficients,
                           .draw = session->found.draw };
    return MEL_OK;
}

mel_status mel_session_result(mel_metric **metric, mel_summary *summary, mel_session *session, mel_error *err)
{
    *metric = NULL;
    TRY(find_reported(session, err));
    if (summary != NULL)
        *summary = session->found.said;
    return mel_metric_copy(metric, session->found.reported, err);
}

mel_status mel_session_posterior(size_t n, double *angle, double *density, mel_session *session,
                                 mel_error *err)
{
    const mel_engine_ops *ops = session->engine->ops;
    if (ops->posterior == NULL)
        return mel_fail(err, MEL_ESTATE,
                        session->options.values.strategy == MEL_STRATEGY_SEARCH
                            ? "the search strategy keeps an interval, not a posterior"
                            : "only a linear metric on a face has a single angle");
    return ops->posterior(session->engine, n, angle, density, err);
}

mel_status mel_session_draws(size_t *n, size_t *n_coefficients, double **values, mel_session *session,
                             mel_error *err)
{
    const mel_found *found = &session->found;
    TRY(mel_session_find_draws(session, err));
    *values = mel_alloc(found->n_draws * found->n_coefficients, sizeof **values);
    if (*values == NULL)
        return mel_fail_memory(err, "draws of the posterior");
    *n = found->n_draws;
    *n_coefficients = found->n_coefficients;
    memcpy(*values, found->draw, *n * *n_coefficients * sizeof **values);
    return MEL_OK;
}

/* --- ratios ------------------------------------------------------------------------------------- */

/* Below an estimate that is infinite there is no upper end, and so on: quantiles of what is comparable. */
mel_status mel_drawn_ratio_interval(mel_cost_ratio *out, size_t n, size_t stride, const double *draw,
                                    size_t i, size_t j, mel_error *err)
{
    double *ratio = mel_alloc(n, sizeof *ratio);
    if (ratio == NULL)
        return mel_fail_memory(err, "the ratio of two weights");
    size_t known = 0;
    for (size_t k = 0; k < n; k++) {
        const double r = draw[k * stride + i] / draw[k * stride + j];
        if (!isnan(r))
            ratio[known++] = fmax(-1e300, fmin(1e300, r));
    }
    out->low = out->high = NAN;
    if (known > 0) {
        out->low = mel_quantile_select(known, ratio, 0.025);
        out->high = mel_quantile_select(known, ratio, 0.975);
        if (out->high >= 1e300)
            out->high = INFINITY;
        if (out->low <= -1e300)
            out->low = -INFINITY;
    }
    free(ratio);
    return MEL_OK;
}
