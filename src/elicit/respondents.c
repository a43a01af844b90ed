/* Several respondents: a metric of all answers together, and how far the single ones are apart. */
#include "elicit/respondents.h"
#include "base/stat.h"
#include "elicit/assumption.h"
#include "elicit/metric_distance.h"
#include "elicit/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Someone differs from the others when contradictions as many as theirs have this probability, shared among
 * all. */
static const double differing = 0.05;

void mel_pooled_free(mel_pooled *pooled)
{
    if (pooled == NULL)
        return;
    for (size_t i = 0; pooled->respondent != NULL && i < pooled->n; i++)
        mel_metric_free(pooled->respondent[i].metric);
    free(pooled->respondent);
    free(pooled->disagreement);
    free(pooled->spread);
    mel_metric_free(pooled->joint);
    free(pooled);
}

/* --- checks ------------------------------------------------------------------------------------- */

static mel_status check_sessions(size_t n, mel_session *const *sessions, mel_error *err)
{
    if (n < 2)
        return mel_fail(err, MEL_EINVAL, "%zu session: two or more can be pooled", n);
    const mel_session *first = sessions[0];
    for (size_t i = 0; i < n; i++) {
        const mel_session *s = sessions[i];
        const mel_session_options *opt = &s->options.values, *other = &first->options.values;
        if (s->broken || s->engine->ops->draws == NULL)
            return mel_fail(err, MEL_EINVAL, "session %zu is a search, which knows no probabilities", i + 1);
        if (opt->family != other->family ||
            (mel_family_about(opt->family)->degree == 0 && opt->degree != other->degree))
            return mel_fail(err, MEL_EINVAL, "session %zu looks for a %s metric, the first one for a %s one",
                            i + 1, mel_family_name(opt->family), mel_family_name(other->family));
        if (!mel_layout_equal(&s->layout, &first->layout) ||
            (s->domain.face == NULL) != (first->domain.face == NULL))
            return mel_fail(err, MEL_EINVAL, "session %zu is about other statistics than the first one",
                            i + 1);
        if (s->n_entries == 0)
            return mel_fail(err, MEL_EINVAL, "session %zu has no answers", i + 1);
    }
    return MEL_OK;
}

/* --- the joint metric --------------------------------------------------------------------------- */

/* A linear-fractional engine asks about an unknown direction first; here that is settled already. */
static mel_status settle_direction(mel_session_options *opt, const mel_pooled *pooled, mel_error *err)
{
    const mel_family_facts *is = mel_family_about(opt->family);
    if (!is->ratio || !is->planar || opt->direction != MEL_DIRECTION_UNKNOWN)
        return MEL_OK;
    const mel_orientation first = mel_metric_orientation(pooled->respondent[0].metric);
    for (size_t i = 1; i < pooled->n; i++)
        if (mel_metric_orientation(pooled->respondent[i].metric) != first)
            return mel_fail(err, MEL_EINVAL,
                            "session %zu rewards what the first one punishes: no joint metric", i + 1);
    opt->direction = first == MEL_COST ? MEL_DECREASING : MEL_INCREASING;
    return MEL_OK;
}

static bool same_signs(const mel_session_options *one, const mel_session_options *other, size_t n)
{
    if (one->signs == NULL || other->signs == NULL)
        return one->signs == other->signs;
    return memcmp(one->signs, other->signs, n) == 0;
}

/* Where somebody's answers overruled what was declared, or people declared otherwise, nothing is declared for
 * all. A prior metric counts as
 * far as everybody started from it. */
static void join_options(mel_session_options *opt, size_t n, mel_session *const *sessions)
{
    for (size_t i = 0; i < n; i++) {
        const mel_session_options other = mel_session_in_force(sessions[i], sessions[i]->n_entries);
        if (other.direction != opt->direction ||
            !same_signs(&other, opt, mel_sign_count(&sessions[i]->layout))) {
            opt->direction = MEL_DIRECTION_UNKNOWN;
            opt->signs = NULL;
        }
        const bool same_prior =
            other.prior != NULL && opt->prior != NULL && other.prior_strength == opt->prior_strength &&
            memcmp(mel_metric_coefficient(other.prior), mel_metric_coefficient(opt->prior),
                   mel_metric_coefficients(opt->prior) * sizeof(double)) == 0;
        if (!same_prior) {
            opt->prior = NULL;
            opt->prior_strength = 0.0;
        }
    }
}

mel_status mel_session_hear(mel_session *joint, const mel_session *session, mel_error *err)
{
    mel_status status = MEL_OK;
    for (size_t k = 0; k < session->n_entries && status == MEL_OK; k++) {
        const mel_record record = mel_session_record(session, (uint32_t)k);
        status = mel_session_accept(joint, &record, false, err);
        if (status != MEL_OK)
            status = mel_fail_in(err, status, "question %zu", k + 1);
    }
    return status;
}

static mel_status hear_all(mel_session *joint, size_t n, mel_session *const *sessions, mel_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const mel_status status = mel_session_hear(joint, sessions[i], err);
        if (status != MEL_OK)
            return mel_fail_in(err, status, "session %zu", i + 1);
    }
    return MEL_OK;
}

static mel_status find_joint(mel_pooled *pooled, mel_session *const *sessions, mel_error *err)
{
    const mel_session *first = sessions[0];
    mel_session_options opt = mel_session_in_force(first, first->n_entries);
    size_t answers = 0;
    for (size_t i = 0; i < pooled->n; i++)
        answers += sessions[i]->n_entries;
    opt.assume = mel_assumed_flips(); /* people differ, which looks like errors */
    opt.max_questions = (uint32_t)answers;
    opt.until = MEL_UNTIL_TOLERANCE;
    opt.repeat_every = 0;
    mel_session *joint = NULL;
    join_options(&opt, pooled->n, sessions);
    mel_status status = settle_direction(&opt, pooled, err);
    if (status == MEL_OK)
        status = mel_session_new(&joint, &first->domain, &opt, err);
    if (status == MEL_OK)
        status = hear_all(joint, pooled->n, sessions, err);
    if (status == MEL_OK)
        status = mel_session_result(&pooled->joint, &pooled->summary, joint, err);
    mel_session_free(joint);
    return status;
}

static double log_beta(double a, double b)
{
    return mel_log_gamma(a) + mel_log_gamma(b) - mel_log_gamma(a + b);
}

/* P(k or more wrong answers of n) when the rate has the distribution Beta(wrong, right). */
static double at_least(uint32_t k, uint32_t n, double wrong, double right)
{
    double sum = 0.0;
    for (uint32_t i = k; i <= n; i++)
        sum += exp(-log(n + 1.0) - log_beta(n - i + 1.0, i + 1.0) + log_beta(i + wrong, n - i + right) -
                   log_beta(wrong, right));
    return fmin(sum, 1.0);
}

/* How often this one errs follows from the contradictions to the own metric and what is expected of
 * anybody. */
static void judge(mel_respondent *r)
{
    const uint32_t own = r->summary.disagreements < r->answers ? r->summary.disagreements : r->answers;
    r->agreement =
        at_least(r->contradicted, r->answers, own + MEL_FLIP_WRONG, r->answers - own + MEL_FLIP_RIGHT);
}

static void count_contradictions(mel_respondent *r, const mel_session *session, const mel_metric *joint)
{
    for (size_t k = 0; k < session->n_entries; k++) {
        const mel_answer answer = session->entries[k].said.answer;
        const mel_pair pair = mel_session_pair(session, k);
        double better = 0.0;
        if ((answer != MEL_ANSWER_A && answer != MEL_ANSWER_B) ||
            mel_metric_compare(&better, joint, pair.a, pair.b, NULL) != MEL_OK)
            continue;
        r->answers++;
        r->contradicted += (answer == MEL_ANSWER_A) != (better > 0.0);
    }
}

/* --- all of it ---------------------------------------------------------------------------------- */

/* Of the persons' own metrics, coefficient by coefficient. */
static mel_status find_spread(mel_pooled *pooled, mel_error *err)
{
    const size_t n = pooled->n, width = mel_metric_coefficients(pooled->joint);
    pooled->spread = mel_alloc_zero(width, sizeof *pooled->spread);
    if (pooled->spread == NULL)
        return mel_fail_memory(err, "the spread of the metrics");
    for (size_t j = 0; j < width; j++) {
        mel_spread *s = &pooled->spread[j];
        double mean = 0.0, squares = 0.0;
        s->low = INFINITY;
        s->high = -INFINITY;
        for (size_t i = 0; i < n; i++) {
            const double x = mel_metric_coefficient(pooled->respondent[i].metric)[j];
            mean += x / (double)n;
            s->low = fmin(s->low, x);
            s->high = fmax(s->high, x);
        }
        for (size_t i = 0; i < n; i++)
            squares += pow(mel_metric_coefficient(pooled->respondent[i].metric)[j] - mean, 2.0);
        s->deviation = sqrt(squares / ((double)n - 1.0));
    }
    return MEL_OK;
}

static mel_status fill(mel_pooled *pooled, mel_cloud *clouds, mel_session *const *sessions, mel_error *err)
{
    const size_t n = pooled->n;
    mel_status status = MEL_OK;
    for (size_t i = 0; i < n && status == MEL_OK; i++) {
        mel_respondent *r = &pooled->respondent[i];
        status = mel_session_result(&r->metric, &r->summary, sessions[i], err);
        if (status == MEL_OK)
            status = mel_cloud_make(&clouds[i], sessions[i], r->metric, err);
        if (status != MEL_OK)
            status = mel_fail_in(err, status, "session %zu", i + 1);
    }
    if (status == MEL_OK)
        status = find_joint(pooled, sessions, err);
    for (size_t i = 0; i < n && status == MEL_OK; i++) {
        count_contradictions(&pooled->respondent[i], sessions[i], pooled->joint);
        judge(&pooled->respondent[i]);
        pooled->respondent[i].differs = pooled->respondent[i].agreement < differing / (double)n;
        pooled->n_against += pooled->respondent[i].differs;
    }
    if (status == MEL_OK)
        status = find_spread(pooled, err);
    return status == MEL_OK ? mel_clouds_compare(pooled->disagreement, n, clouds, err) : status;
}

mel_status mel_respondents_join(mel_pooled **out, size_t n, mel_session *const *sessions, mel_error *err)
{
    *out = NULL;
    mel_status status = check_sessions(n, sessions, err);
    if (status != MEL_OK)
        return status;
    mel_pooled *pooled = mel_alloc_zero(1, sizeof *pooled);
    mel_cloud *clouds = mel_alloc_zero(n, sizeof *clouds);
    if (pooled != NULL) {
        pooled->n = n;
        pooled->respondent = mel_alloc_zero(n, sizeof *pooled->respondent);
        pooled->disagreement = mel_alloc_zero(n, n * sizeof *pooled->disagreement);
    }
    if (pooled == NULL || clouds == NULL || pooled->respondent == NULL || pooled->disagreement == NULL)
        status = mel_fail_memory(err, "the pooled sessions");
    else
        status = fill(pooled, clouds, sessions, err);
    mel_clouds_free(n, clouds);
    if (status != MEL_OK) {
        mel_pooled_free(pooled);
        return status;
    }
    *out = pooled;
    return MEL_OK;
}
