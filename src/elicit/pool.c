/* Several respondents: a metric of all answers together, and how far the single ones are apart. */
#include "elicit/active/pivot.h"
#include "elicit/session.h"

#include "base/la.h"
#include "elicit/active/select.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Random pairs of draws, one of each respondent, behind an interval of an angle. */
enum { ANGLES = 4000 };

void mel_pooled_free(mel_pooled *pooled)
{
    if (pooled == NULL)
        return;
    for (size_t i = 0; pooled->respondent != NULL && i < pooled->n; i++)
        mel_metric_free(pooled->respondent[i].metric);
    free(pooled->respondent);
    free(pooled->disagreement);
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
            (opt->family == MEL_FAMILY_POLYNOMIAL && opt->degree != other->degree))
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
    if (opt->family != MEL_FAMILY_LINEAR_FRACTIONAL || opt->direction != MEL_DIRECTION_UNKNOWN)
        return MEL_OK;
    const mel_orientation first = mel_metric_orientation(pooled->respondent[0].metric);
    for (size_t i = 1; i < pooled->n; i++)
        if (mel_metric_orientation(pooled->respondent[i].metric) != first)
            return mel_fail(err, MEL_EINVAL,
                            "session %zu rewards what the first one punishes: no joint metric", i + 1);
    opt->direction = first == MEL_COST ? MEL_DECREASING : MEL_INCREASING;
    return MEL_OK;
}

/* All answers one after the other; what was skipped stays so. */
static mel_status hear_all(mel_session *joint, size_t n, mel_session *const *sessions, mel_error *err)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < sessions[i]->n_entries; k++) {
            const mel_pair pair = mel_session_pair(sessions[i], k);
            const mel_entry *entry = &sessions[i]->entries[k];
            memcpy(joint->pending.a, pair.a, joint->size * sizeof *pair.a);
            memcpy(joint->pending.b, pair.b, joint->size * sizeof *pair.b);
            joint->pending.repeated = entry->repeated;
            const mel_status status = mel_session_accept(joint, entry->answer, entry->seconds, err);
            if (status != MEL_OK)
                return mel_fail_in(err, status, "session %zu, question %zu", i + 1, k + 1);
        }
    return MEL_OK;
}

static mel_status find_joint(mel_pooled *pooled, mel_session *const *sessions, mel_error *err)
{
    const mel_session *first = sessions[0];
    mel_session_options opt = first->options.values;
    size_t answers = 0;
    for (size_t i = 0; i < pooled->n; i++)
        answers += sessions[i]->n_entries;
    opt.assume = (mel_assumption){ .kind = MEL_NOISE_FLIP }; /* people differ, which looks like errors */
    opt.max_questions = (uint32_t)answers;
    opt.until = MEL_UNTIL_TOLERANCE;
    opt.repeat_every = 0;
    mel_session *joint = NULL;
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

static void count_contradictions(mel_respondent *r, const mel_session *session, const mel_metric *joint)
{
    for (size_t k = 0; k < session->n_entries; k++) {
        const mel_answer answer = session->entries[k].answer;
        const mel_pair pair = mel_session_pair(session, k);
        double better = 0.0;
        if ((answer != MEL_ANSWER_A && answer != MEL_ANSWER_B) ||
            mel_metric_compare(&better, joint, pair.a, pair.b, NULL) != MEL_OK)
            continue;
        r->answers++;
        r->contradicted += (answer == MEL_ANSWER_A) != (better > 0.0);
    }
}

/* --- angles ------------------------------------------------------------------------------------- */

/* Draws of one respondent as vectors in which the utility is linear, and that of the metric itself. */
typedef struct {
    size_t n, size;
    double *vector; /* n x size */
    double *middle; /* size */
} cloud;

static void clear_clouds(size_t n, cloud *clouds)
{
    for (size_t i = 0; clouds != NULL && i < n; i++) {
        free(clouds[i].vector);
        free(clouds[i].middle);
    }
    free(clouds);
}

static bool is_fair(mel_family family)
{
    return family == MEL_FAMILY_FAIR_LINEAR || family == MEL_FAMILY_FAIR_QUADRATIC;
}

/* p ^ q of a fraction with n/2 numbers above and below the line: all that preferences tell of it. */
static void make_wedge(double *out, const double *coefficient, size_t n)
{
    const double *p = coefficient, *q = coefficient + n / 2;
    for (size_t i = 0; i < n / 2; i++)
        for (size_t j = i + 1; j < n / 2; j++)
            *out++ = p[i] * q[j] - p[j] * q[i];
}

/* Numbers in a vector made of n coefficients. */
static size_t vector_size(size_t n, mel_family family, bool on_face)
{
    const bool fraction =
        family == MEL_FAMILY_LINEAR_FRACTIONAL || family == MEL_FAMILY_DIAGONAL_LINEAR_FRACTIONAL;
    return !fraction ? n : on_face ? 3 : n / 2 * (n / 2 - 1) / 2;
}

/* Of costs negated, so that all are utilities. shares: of the classes of a face. */
static void make_vector(double *out, const double *coefficient, size_t n, const mel_metric *metric,
                        const mel_shares *shares)
{
    const mel_family family = mel_metric_family(metric);
    const double sign = mel_metric_orientation(metric) == MEL_COST ? -1.0 : 1.0;
    const size_t size = vector_size(n, family, shares != NULL);
    memset(out, 0, size * sizeof *out);
    if (size != n && shares != NULL) {
        (void)mel_pivot_of(out, *shares, coefficient);
    } else if (size != n) {
        make_wedge(out, coefficient, n);
    } else if (is_fair(family)) { /* a, blocks of pairs, lambda */
        mel_layout one = *mel_metric_layout(metric);
        one.n_groups = 0;
        const size_t q = mel_layout_size(&one);
        for (size_t i = 0; i + 1 < n; i++)
            out[i] = coefficient[i] * (i < q ? 1.0 - coefficient[n - 1] : coefficient[n - 1]);
    } else {
        memcpy(out, coefficient, n * sizeof *out);
    }
    mel_scale(size, sign, out);
}

static mel_status make_cloud(cloud *c, mel_session *session, const mel_metric *metric, mel_error *err)
{
    double *draw = NULL;
    size_t n = 0;
    const mel_status status = mel_session_draws(&c->n, &n, &draw, session, err);
    if (status != MEL_OK)
        return status;
    const bool on_face = session->domain.face != NULL;
    c->size = vector_size(n, mel_metric_family(metric), on_face);
    const mel_shares shares = { session->face_share[1], session->face_share[0] };
    c->vector = mel_alloc(c->n * c->size, sizeof *c->vector);
    c->middle = mel_alloc(c->size, sizeof *c->middle);
    if (c->vector == NULL || c->middle == NULL) {
        free(draw);
        return mel_fail_memory(err, "draws of the posterior");
    }
    for (size_t i = 0; i < c->n; i++)
        make_vector(c->vector + i * c->size, draw + i * n, n, metric, on_face ? &shares : NULL);
    make_vector(c->middle, mel_metric_coefficient(metric), n, metric, on_face ? &shares : NULL);
    free(draw);
    return MEL_OK;
}

static double angle_between(size_t n, const double *x, const double *y)
{
    const double length = mel_norm2(n, x) * mel_norm2(n, y);
    return length > 0.0 ? acos(fmax(-1.0, fmin(1.0, mel_dot(n, x, y) / length))) : NAN;
}

/* Respondents are independent: any draw of one goes with any of the other. */
static mel_disagreement compare(const cloud *x, const cloud *y, double *angle, mel_rng *rng)
{
    size_t known = 0;
    for (size_t i = 0; i < ANGLES; i++) {
        const double *a = x->vector + mel_rng_below(rng, x->n) * x->size;
        const double *b = y->vector + mel_rng_below(rng, y->n) * y->size;
        angle[known] = angle_between(x->size, a, b);
        known += isfinite(angle[known]);
    }
    mel_disagreement d = { .angle = angle_between(x->size, x->middle, y->middle), .low = NAN, .high = NAN };
    if (known > 0) {
        d.low = mel_quantile_select(known, angle, 0.025);
        d.high = mel_quantile_select(known, angle, 0.975);
    }
    return d;
}

static mel_status find_angles(mel_pooled *pooled, const cloud *clouds, mel_error *err)
{
    const size_t n = pooled->n;
    double *angle = mel_alloc(ANGLES, sizeof *angle);
    if (angle == NULL)
        return mel_fail_memory(err, "the angles between metrics");
    mel_rng rng;
    mel_rng_seed(&rng, 1);
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++) {
            pooled->disagreement[i * n + j] = compare(&clouds[i], &clouds[j], angle, &rng);
            pooled->disagreement[j * n + i] = pooled->disagreement[i * n + j];
        }
    free(angle);
    return MEL_OK;
}

/* --- all of it ---------------------------------------------------------------------------------- */

static mel_status fill(mel_pooled *pooled, cloud *clouds, mel_session *const *sessions, mel_error *err)
{
    const size_t n = pooled->n;
    mel_status status = MEL_OK;
    for (size_t i = 0; i < n && status == MEL_OK; i++) {
        mel_respondent *r = &pooled->respondent[i];
        status = mel_session_result(&r->metric, &r->summary, sessions[i], err);
        if (status == MEL_OK)
            status = make_cloud(&clouds[i], sessions[i], r->metric, err);
        if (status != MEL_OK)
            status = mel_fail_in(err, status, "session %zu", i + 1);
    }
    if (status == MEL_OK)
        status = find_joint(pooled, sessions, err);
    for (size_t i = 0; i < n && status == MEL_OK; i++)
        count_contradictions(&pooled->respondent[i], sessions[i], pooled->joint);
    return status == MEL_OK ? find_angles(pooled, clouds, err) : status;
}

mel_status mel_sessions_pool(mel_pooled **out, size_t n, mel_session *const *sessions, mel_error *err)
{
    *out = NULL;
    mel_status status = check_sessions(n, sessions, err);
    if (status != MEL_OK)
        return status;
    mel_pooled *pooled = mel_alloc_zero(1, sizeof *pooled);
    cloud *clouds = mel_alloc_zero(n, sizeof *clouds);
    if (pooled != NULL) {
        pooled->n = n;
        pooled->respondent = mel_alloc_zero(n, sizeof *pooled->respondent);
        pooled->disagreement = mel_alloc_zero(n, n * sizeof *pooled->disagreement);
    }
    if (pooled == NULL || clouds == NULL || pooled->respondent == NULL || pooled->disagreement == NULL)
        status = mel_fail_memory(err, "the pooled sessions");
    else
        status = fill(pooled, clouds, sessions, err);
    clear_clouds(n, clouds);
    if (status != MEL_OK) {
        mel_pooled_free(pooled);
        return status;
    }
    *out = pooled;
    return MEL_OK;
}
