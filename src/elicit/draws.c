/* Draws of a session's posterior, and what follows from them: ratios of weights, and whether the decision
 * that a session is for can still change. */
#include "elicit/session.h"

#include "elicit/active/select.h"
#include "elicit/shared.h"
#include "metric/shared.h"

#include <math.h>
#include <stdlib.h>

/* Probability with which a decision must stand. */
static const double sure = 0.95;

mel_status mel_session_draws(size_t *n, size_t *n_coefficients, double **values, mel_session *session,
                             mel_error *err)
{
    if (session->broken)
        return mel_fail(err, MEL_ESTATE,
                        "an answer could not be stored nor taken back; open the session again");
    if (session->engine->ops->draws == NULL)
        return mel_fail(err, MEL_ESTATE, "a search knows an interval, but no probabilities to draw from");
    return session->engine->ops->draws(session->engine, n, n_coefficients, values, err);
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

/* --- decisions ---------------------------------------------------------------------------------- */

/* Classifiers whose numbers differ, counted up to the most. */
static size_t count_different(const mel_pool *pool, size_t most)
{
    size_t n = 0;
    for (size_t i = 0; i < pool->n && n < most; i++)
        n += mel_pool_place(pool, pool->value + i * pool->size) == i;
    return n;
}

/* The prior alone may make an order so probable that one answer about something else seems to settle it. So
 * answers must prefer one to another as often as there are neighbours in the order; of many classifiers, a
 * few times. */
bool mel_session_order_was_asked(const mel_session *session)
{
    enum { ENOUGH = 3 };
    size_t preferring = 0;
    for (size_t i = 0; i < session->n_entries; i++) {
        const mel_answer answer = session->entries[i].answer;
        preferring += answer == MEL_ANSWER_A || answer == MEL_ANSWER_B;
    }
    return preferring + 1 >= count_different(session->domain.pool, ENOUGH + 1);
}

/* Before any answer only what holds for all metrics counts: nobody has been asked yet. */
static double least_sure(const mel_session *session)
{
    const bool rank = session->options.values.until == MEL_UNTIL_RANK && session->domain.pool != NULL;
    if (session->n_entries == 0)
        return 1.0;
    return rank && !mel_session_order_was_asked(session) ? INFINITY : sure;
}

mel_status mel_session_decided(bool *out, mel_session *session, mel_error *err)
{
    const mel_session_options *opt = &session->options.values;
    if (opt->until == MEL_UNTIL_DECISION) {
        *out = session->engine->ops->settled != NULL && session->engine->ops->settled(session->engine);
        return MEL_OK;
    }
    mel_belief now = { .domain = &session->domain, .n_pool = opt->n_pool, .pool = opt->pool };
    if (now.pool == NULL && session->domain.pool != NULL) {
        now.n_pool = session->domain.pool->n;
        now.pool = session->domain.pool->value;
    }
    mel_summary ignored;
    mel_metric *metric = NULL;
    double *draw = NULL, probability = 0.0;
    size_t ignored_width = 0;
    mel_status status = mel_session_draws(&now.n_draws, &ignored_width, &draw, session, err);
    if (status == MEL_OK)
        status = session->engine->ops->result(session->engine, &metric, &ignored, err);
    now.metric = metric;
    now.draw = draw;
    if (status == MEL_OK)
        status = mel_standing_of(opt)(&probability, &now, err);
    *out = status == MEL_OK && probability >= least_sure(session);
    mel_metric_free(metric);
    free(draw);
    return status;
}
