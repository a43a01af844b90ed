/* Draws of a session's posterior, and what follows from them: ratios of weights, and whether the decision
 * that a session is for can still change. */
#include "elicit/session.h"

#include "base/stat.h"
#include "elicit/active/select.h"

#include <math.h>
#include <stdlib.h>

/* Probability with which a decision must stand. */
static const double sure = 0.95;
/* Values or points that differ by less are equal. */
static const double same = 1e-12;

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
static mel_status ratio_interval(mel_cost_ratio *out, size_t n, size_t stride, const double *draw, size_t i,
                                 size_t j, mel_error *err)
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

mel_status mel_session_weight_ratio(mel_cost_ratio *out, mel_session *session, size_t i, size_t j,
                                    mel_error *err)
{
    mel_metric *metric = NULL;
    double *draw = NULL;
    size_t n = 0, stride = 0;
    mel_cost_ratio found;
    mel_status status = mel_session_draws(&n, &stride, &draw, session, err);
    if (status == MEL_OK)
        status = mel_session_result(&metric, NULL, session, err);
    if (status == MEL_OK)
        status = mel_metric_weight_ratio(&found, metric, i, j, err);
    if (status == MEL_OK)
        status = ratio_interval(&found, n, stride, draw, i, j, err);
    if (status == MEL_OK)
        *out = found;
    mel_metric_free(metric);
    free(draw);
    return status;
}

/* --- decisions ---------------------------------------------------------------------------------- */

typedef struct {
    size_t n, size, n_draws, stride;
    const double *pool;
    double *draw;  /* n_draws x stride */
    double *value; /* n: utilities */
    size_t *order; /* n: best first, by the returned metric */
    mel_metric *metric;
} ranking;

static void clear_ranking(ranking *r)
{
    free(r->draw);
    free(r->value);
    free(r->order);
    mel_metric_free(r->metric);
}

/* Utilities of the pool by the metric as it is; *defined is false where a denominator vanishes. */
static void find_values(ranking *r, bool *defined)
{
    const double sign = mel_metric_orientation(r->metric) == MEL_COST ? -1.0 : 1.0;
    *defined = true;
    for (size_t i = 0; i < r->n && *defined; i++) {
        *defined = mel_metric_value(&r->value[i], r->metric, r->pool + i * r->size, NULL) == MEL_OK;
        r->value[i] *= -sign; /* argsort ascends */
    }
}

static bool stands(const ranking *r)
{
    for (size_t i = 1; i < r->n; i++)
        if (r->value[r->order[i]] < r->value[r->order[i - 1]] - same)
            return false;
    return true;
}

static mel_status decide_rank(bool *out, ranking *r, mel_error *err)
{
    bool defined = false;
    find_values(r, &defined);
    *out = false;
    if (!defined)
        return MEL_OK;
    const mel_status status = mel_argsort(r->n, r->value, r->order, err);
    size_t standing = 0;
    for (size_t s = 0; status == MEL_OK && s < r->n_draws; s++) {
        const mel_status set = mel_metric_set_coefficients(r->metric, r->draw + s * r->stride, err);
        if (set == MEL_ENOMEM)
            return set;
        if (set != MEL_OK)
            continue; /* no metric: it does not support the order */
        find_values(r, &defined);
        standing += defined && stands(r);
    }
    *out = (double)standing >= sure * (double)r->n_draws;
    return status;
}

static bool near(mel_point a, mel_point b)
{
    return fabs(a.tp - b.tp) <= same && fabs(a.tn - b.tn) <= same;
}

static mel_status decide_threshold(bool *out, const ranking *r, const mel_face *face, mel_error *err)
{
    const double *m = mel_metric_numerator(r->metric, NULL);
    mel_point best, here;
    mel_status status = mel_face_support(&best, face, m[0], m[1], err);
    size_t standing = 0;
    for (size_t s = 0; status == MEL_OK && s < r->n_draws; s++) {
        const double *draw = r->draw + s * r->stride;
        status = mel_face_support(&here, face, draw[0], draw[1], err);
        standing += status == MEL_OK && near(best, here);
    }
    *out = (double)standing >= sure * (double)r->n_draws;
    return status;
}

mel_status mel_session_decided(bool *out, mel_session *session, mel_error *err)
{
    const mel_session_options *opt = &session->options.values;
    ranking r = { .n = opt->n_pool, .size = session->size, .pool = opt->pool };
    mel_summary ignored;
    *out = false;
    mel_status status = mel_session_draws(&r.n_draws, &r.stride, &r.draw, session, err);
    if (status == MEL_OK)
        status = session->engine->ops->result(session->engine, &r.metric, &ignored, err);
    if (status == MEL_OK && opt->until == MEL_UNTIL_THRESHOLD) {
        status = decide_threshold(out, &r, session->domain.face, err);
    } else if (status == MEL_OK) {
        r.value = mel_alloc(r.n, sizeof *r.value);
        r.order = mel_alloc(r.n, sizeof *r.order);
        status = r.value != NULL && r.order != NULL ? decide_rank(out, &r, err)
                                                    : mel_fail_memory(err, "the order of a pool");
    }
    clear_ranking(&r);
    return status;
}
