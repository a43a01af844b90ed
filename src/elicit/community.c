/* Several people as draws around a common metric: their sessions' draws, and the metrics that come of them.
 */
#include "elicit/hierarchy.h"
#include "elicit/respondents.h"
#include "elicit/shared.h"
#include "metric/shared.h"

#include <stdlib.h>

void mel_community_free(mel_community *community)
{
    if (community == NULL)
        return;
    mel_metric_free(community->common);
    mel_metric_free(community->likely);
    free(community);
}

/* Draws must be vectors that are the coefficients. */
static mel_status check(size_t n, mel_session *const *sessions, mel_error *err)
{
    if (n < 2)
        return mel_fail(err, MEL_EINVAL, "%zu session: people around a common metric are two or more", n);
    const mel_session *first = sessions[0];
    for (size_t i = 0; i < n; i++) {
        const mel_session *s = sessions[i];
        const mel_family_facts *is = mel_family_about(s->options.values.family);
        if (!is->sum || is->groups || s->options.values.family != first->options.values.family ||
            !mel_layout_equal(&s->layout, &first->layout) || s->n_entries == 0 || s->broken ||
            s->engine->ops->draws == NULL)
            return mel_fail(err, MEL_EINVAL,
                            "session %zu: a common metric is known of weighted sums of the same statistics, "
                            "asked for by the active strategy",
                            i + 1);
    }
    return MEL_OK;
}

/* The sign that number i of a utility has in everything that this session thinks possible; 0: either. */
static signed char sign_of(const mel_session *session, size_t i)
{
    const mel_session_options opt = mel_session_in_force(session, session->n_entries);
    if (opt.signs != NULL)
        return opt.signs[i];
    if (opt.direction == MEL_DIRECTION_UNKNOWN)
        return 0;
    return (opt.direction == MEL_INCREASING) == (session->layout.coordinates == MEL_OFFDIAGONAL) ? -1 : 1;
}

/* Only those that everybody has. */
static signed char *signs_of_all(size_t n, mel_session *const *sessions)
{
    const size_t size = mel_sign_count(&sessions[0]->layout);
    signed char *sign = mel_alloc_zero(size, sizeof *sign);
    for (size_t j = 0; j < size && sign != NULL; j++) {
        sign[j] = sign_of(sessions[0], j);
        for (size_t i = 1; i < n; i++)
            sign[j] = sign_of(sessions[i], j) == sign[j] ? sign[j] : 0;
    }
    return sign;
}

/* A session that gets the same answers and begins with this prior metric (NULL: none). */
static mel_status hear_again(mel_session **out, const mel_session *session, const mel_metric *prior,
                             double strength, mel_error *err)
{
    mel_session_options opt = mel_session_in_force(session, session->n_entries);
    opt.prior = prior;
    opt.prior_strength = strength;
    mel_status status = mel_session_new(out, &session->domain, &opt, err);
    if (status == MEL_OK)
        status = mel_session_hear(*out, session, err);
    return status;
}

/* What the answers alone tell: heard again, where the session began with a prior metric. */
static mel_status make_cloud(mel_cloud *cloud, mel_session *session, const mel_metric *metric, mel_error *err)
{
    if (mel_session_in_force(session, session->n_entries).prior == NULL)
        return mel_cloud_make(cloud, session, metric, err);
    mel_session *alone = NULL;
    mel_status status = hear_again(&alone, session, NULL, 0.0, err);
    if (status == MEL_OK)
        status = mel_cloud_make(cloud, alone, metric, err);
    mel_session_free(alone);
    return status;
}

mel_status mel_community_person(mel_metric **out, const mel_community *community, const mel_session *session,
                                mel_error *err)
{
    mel_session *among = NULL;
    *out = NULL;
    mel_status status = hear_again(&among, session, community->likely, community->strength, err);
    if (status == MEL_OK)
        status = mel_session_result(out, NULL, among, err);
    mel_session_free(among);
    return status;
}

/* The metric `like` with a vector of utilities for its coefficients, and intervals by their standard errors
 * (NULL: none).
 */
static mel_status metric_of(mel_metric **out, const mel_metric *like, const double *vector,
                            const double *deviation, mel_error *err)
{
    const size_t n = mel_metric_coefficients(like);
    const double sign = mel_metric_orientation(like) == MEL_COST ? -1.0 : 1.0;
    double *room = mel_alloc(3 * n, sizeof *room);
    if (room == NULL)
        return mel_fail_memory(err, "the metric of several people");
    for (size_t j = 0; j < n; j++) {
        const double side = deviation != NULL ? 1.96 * deviation[j] : 0.0;
        room[j] = sign * vector[j];
        room[n + j] = room[j] - side;
        room[2 * n + j] = room[j] + side;
    }
    mel_status status = mel_metric_copy(out, like, err);
    if (status == MEL_OK)
        status = mel_metric_set_coefficients(*out, room, err);
    if (status == MEL_OK)
        status = mel_metric_set_intervals(*out, deviation != NULL ? room + n : NULL,
                                          deviation != NULL ? room + 2 * n : NULL, err);
    free(room);
    return status;
}

/* like: a metric of the same family and statistics. */
static mel_status take_hierarchy(mel_community *out, const mel_hierarchy *h, const mel_metric *like,
                                 mel_error *err)
{
    mel_status status = metric_of(&out->common, like, h->common, h->deviation, err);
    if (status == MEL_OK)
        status = metric_of(&out->likely, like, h->middle, NULL, err);
    out->strength = h->concentration;
    out->spread = h->spread;
    return status;
}

static mel_status fill(mel_community *out, mel_cloud *clouds, mel_session *const *sessions, mel_error *err)
{
    mel_status status = MEL_OK;
    mel_metric *metric = NULL; /* of the last session */
    for (size_t i = 0; i < out->n && status == MEL_OK; i++) {
        mel_metric_free(metric);
        metric = NULL;
        status = mel_session_result(&metric, NULL, sessions[i], err);
        if (status == MEL_OK)
            status = make_cloud(&clouds[i], sessions[i], metric, err);
        if (status != MEL_OK)
            status = mel_fail_in(err, status, "session %zu", i + 1);
    }
    mel_hierarchy h = { 0 };
    signed char *sign = status == MEL_OK ? signs_of_all(out->n, sessions) : NULL;
    if (status == MEL_OK)
        status = sign != NULL ? mel_hierarchy_fit(&h, out->n, clouds, sign, err)
                              : mel_fail_memory(err, "signs of several people");
    if (status == MEL_OK)
        status = h.common != NULL && h.middle != NULL ? take_hierarchy(out, &h, metric, err)
                                                      : mel_fail_memory(err, "a population of people");
    mel_hierarchy_clear(&h);
    mel_metric_free(metric);
    free(sign);
    return status;
}

mel_status mel_community_of_sessions(mel_community **out, size_t n, mel_session *const *sessions,
                                     mel_error *err)
{
    *out = NULL;
    mel_status status = check(n, sessions, err);
    if (status != MEL_OK)
        return status;
    mel_community *community = mel_alloc_zero(1, sizeof *community);
    mel_cloud *clouds = mel_alloc_zero(n, sizeof *clouds);
    if (community != NULL)
        community->n = n;
    status = community != NULL && clouds != NULL ? fill(community, clouds, sessions, err)
                                                 : mel_fail_memory(err, "several people");
    mel_clouds_free(n, clouds);
    if (status != MEL_OK) {
        mel_community_free(community);
        return status;
    }
    *out = community;
    return MEL_OK;
}
