/* Several respondents: the mean of the population that they are from, how far people are apart, who differs.
 */

#include "base/la.h"
#include "base/stat.h"
#include "elicit/active/select.h"
#include "elicit/population.h"
#include "elicit/shared.h"
#include "metric/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Someone differs from the others when the own posterior has so little beyond the common metric, shared among
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
    mel_metric_free(pooled->common);
    mel_metric_free(pooled->likely);
    free(pooled);
}

/* --- checks ------------------------------------------------------------------------------------- */

static bool same_seconds(double x, double y)
{
    return x == y || (isnan(x) && isnan(y));
}

/* Whether one of them is a copy of the other, or of its beginning: the same questions, answers and times. Two
 * people may have answered the same questions alike, and a program may give every answer the same time, so
 * that only times that differ among each other tell. */
static bool is_copy(const mel_session *x, const mel_session *y)
{
    const size_t n = x->n_entries < y->n_entries ? x->n_entries : y->n_entries;
    bool timed = false;
    if (x == y)
        return true;
    if (x->size != y->size || memcmp(x->points, y->points, 2 * n * x->size * sizeof *x->points) != 0)
        return false;
    for (size_t k = 0; k < n; k++) {
        const mel_record *one = &x->entries[k], *other = &y->entries[k];
        if (one->answer != other->answer || !same_seconds(one->seconds, other->seconds))
            return false;
        timed = timed || (isfinite(one->seconds) && one->seconds != x->entries[0].seconds);
    }
    return timed;
}

static mel_status check_copies(size_t n, mel_session *const *sessions, mel_error *err)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            if (is_copy(sessions[j], sessions[i]))
                return mel_fail(err, MEL_EINVAL,
                                "session %zu is session %zu again, with the same questions, answers and "
                                "times: one person counts once",
                                i + 1, j + 1);
    return MEL_OK;
}

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
    return check_copies(n, sessions, err);
}

/* --- the common metric -------------------------------------------------------------------------- */

/* Fractions cannot be averaged across their direction. */
static mel_status check_directions(const mel_pooled *pooled, mel_error *err)
{
    const mel_family_facts *is = mel_family_about(mel_metric_family(pooled->respondent[0].metric));
    const mel_orientation first = mel_metric_orientation(pooled->respondent[0].metric);
    for (size_t i = 1; i < pooled->n && is->ratio; i++)
        if (mel_metric_orientation(pooled->respondent[i].metric) != first)
            return mel_fail(err, MEL_EINVAL,
                            "session %zu rewards what the first one punishes: no common metric", i + 1);
    return MEL_OK;
}

/* The metric `like` with a vector for its coefficients, without intervals. */
static mel_status metric_of(mel_metric **out, const mel_metric *like, const double *vector, double *room,
                            mel_error *err)
{
    mel_vector_coefficients(room, vector, like);
    TRY(mel_metric_copy(out, like, err));
    TRY(mel_metric_set_intervals(*out, NULL, NULL, err));
    TRY(mel_metric_set_coefficients(*out, room, err));
    return mel_metric_normalise(*out, err);
}

/* The coefficients of every draw, one row each. */
static mel_status draw_coefficients(double *out, const mel_population *p, const mel_metric *like,
                                    double *room, mel_error *err)
{
    const size_t n = mel_metric_coefficients(like);
    for (size_t k = 0; k < p->n_draws; k++) {
        mel_metric *one = NULL;
        const mel_status status = metric_of(&one, like, p->draw + k * p->size, room, err);
        if (status == MEL_OK)
            memcpy(out + k * n, mel_metric_coefficient(one), n * sizeof *out);
        mel_metric_free(one);
        if (status != MEL_OK)
            return status;
    }
    return MEL_OK;
}

/* The exchange rates that any of the sessions could ask about; none known: everything. */
static void find_askable(mel_summary *out, const mel_pooled *pooled)
{
    out->askable_low = INFINITY;
    out->askable_high = 0.0;
    for (size_t i = 0; i < pooled->n; i++) {
        const mel_summary *own = &pooled->respondent[i].summary;
        const bool known = isfinite(own->ratio);
        out->askable_low = fmin(out->askable_low, known ? own->askable_low : 0.0);
        out->askable_high = fmax(out->askable_high, known ? own->askable_high : INFINITY);
    }
}

/* Two weights: the ratio with its interval. An end beyond what questions could be about is no finding of the
 * answers: the interval has none on that side, and its other end is no farther out than what could be asked.
 */
static void find_ratio(mel_pooled *pooled, const double *middle, double *low, double *high)
{
    mel_summary *s = &pooled->summary;
    find_askable(s, pooled);
    s->ratio = fabs(middle[0] / middle[1]);
    s->ratio_low = fmin(fabs(low[0]), fabs(high[0])) / fmax(fabs(low[1]), fabs(high[1]));
    s->ratio_high = fmax(fabs(low[0]), fabs(high[0])) / fmin(fabs(low[1]), fabs(high[1]));
    const bool above = s->ratio_high > s->askable_high, below = s->ratio_low < s->askable_low;
    if (!above && !below)
        return;
    s->ratio_low = below ? 0.0 : fmin(s->ratio_low, s->askable_high);
    s->ratio_high = above ? INFINITY : fmax(s->ratio_high, s->askable_low);
    const double length = mel_norm2(2, middle), sign = middle[0] + middle[1] < 0.0 ? -length : length;
    for (size_t i = 0; i < 2; i++) { /* cosine and sine of the angle at either end */
        const double steep = atan2(1.0, s->ratio_low),
                     flat = isinf(s->ratio_high) ? 0.0 : atan2(1.0, s->ratio_high);
        const double one = sign * (i == 0 ? cos(steep) : sin(steep)),
                     other = sign * (i == 0 ? cos(flat) : sin(flat));
        low[i] = fmin(one, other);
        high[i] = fmax(one, other);
    }
}

/* room: (2 + n_draws) rows of coefficients, and two more numbers for each draw. */
static mel_status take_common(mel_pooled *pooled, const mel_population *p, bool rates, double *room,
                              mel_error *err)
{
    const mel_metric *like = pooled->respondent[0].metric;
    const size_t n = mel_metric_coefficients(like);
    double *low = room, *high = room + n, *row = room + 2 * n, *column = row + n * p->n_draws;
    TRY(metric_of(&pooled->common, like, p->mean, low, err));
    TRY(metric_of(&pooled->likely, like, p->likely, low, err));
    TRY(draw_coefficients(row, p, like, low, err));
    const double *middle = mel_metric_coefficient(pooled->common);
    mel_column_intervals(p->n_draws, n, row, middle, 0.975, column, low, high);
    pooled->summary.radius = mel_cloud_radius(p->n_draws, n, row, middle, NULL, 0.975, 0.95, column);
    if (rates)
        find_ratio(pooled, middle, low, high);
    pooled->by_ratio = rates;
    pooled->apart = p->spread;
    pooled->apart_low = p->spread_low;
    pooled->apart_high = p->spread_high;
    pooled->strength = p->strength;
    mel_elicited how = mel_metric_elicited(like);
    how.questions = pooled->summary.questions;
    how.radius = pooled->summary.radius;
    TRY(mel_metric_set_elicited(pooled->common, &how, err));
    return mel_metric_set_intervals(pooled->common, low, high, err);
}

static mel_status find_common(mel_pooled *pooled, mel_session *const *sessions, mel_error *err)
{
    mel_population p = { 0 };
    bool rates = false;
    TRY(check_directions(pooled, err));
    TRY(mel_population_of_sessions(&p, &rates, pooled->n, sessions, pooled->respondent, err));
    const size_t n = mel_metric_coefficients(pooled->respondent[0].metric);
    double *room = mel_alloc(2 * n + (n + 2) * p.n_draws, sizeof *room);
    pooled->summary = (mel_summary){ .error_rate = NAN, .consistency = NAN, .evidence = NAN };
    pooled->summary.ratio = pooled->summary.ratio_low = pooled->summary.ratio_high = NAN;
    pooled->summary.angle = pooled->summary.angle_low = pooled->summary.angle_high = NAN;
    pooled->summary.askable_low = pooled->summary.askable_high = pooled->summary.variation = NAN;
    for (size_t i = 0; i < pooled->n; i++) {
        pooled->summary.questions += pooled->respondent[i].summary.questions;
        pooled->summary.skipped += pooled->respondent[i].summary.skipped;
        pooled->summary.neither += pooled->respondent[i].summary.neither;
    }
    const mel_status status = room != NULL ? take_common(pooled, &p, rates, room, err)
                                           : mel_fail_memory(err, "the metric of several people");
    free(room);
    mel_population_clear(&p);
    return status;
}

mel_status mel_pooled_person(mel_metric **out, const mel_pooled *pooled, const mel_session *session,
                             mel_error *err)
{
    mel_session *among = NULL;
    *out = NULL;
    mel_status status = mel_session_hear_again(&among, session, pooled->likely, pooled->strength, err);
    if (status == MEL_OK)
        status = mel_session_result(out, NULL, among, err);
    mel_session_free(among);
    return status;
}

/* --- each of them ------------------------------------------------------------------------------- */

static void count_contradictions(mel_respondent *r, const mel_session *session, const mel_metric *common)
{
    for (size_t k = 0; k < session->n_entries; k++) {
        const mel_answer answer = session->entries[k].answer;
        const mel_pair pair = mel_session_pair(session, k);
        double better = 0.0;
        if ((answer != MEL_ANSWER_A && answer != MEL_ANSWER_B) ||
            mel_metric_compare(&better, common, pair.a, pair.b, NULL) != MEL_OK)
            continue;
        r->answers++;
        r->contradicted += (answer == MEL_ANSWER_A) != (better > 0.0);
    }
}

/* --- all of it ---------------------------------------------------------------------------------- */

/* Spread of the people's own metrics, coefficient by coefficient. */
static mel_status find_spread(mel_pooled *pooled, mel_error *err)
{
    const size_t n = pooled->n, width = mel_metric_coefficients(pooled->common);
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

/* How far each one's own answers put the common metric off. */
static mel_status judge(mel_pooled *pooled, const mel_cloud *clouds, mel_session *const *sessions,
                        mel_error *err)
{
    double *vector = mel_alloc(3 * clouds[0].size, sizeof *vector);
    if (vector == NULL)
        return mel_fail_memory(err, "who differs from the others");
    for (size_t i = 0; i < pooled->n; i++) {
        mel_respondent *r = &pooled->respondent[i];
        count_contradictions(r, sessions[i], pooled->common);
        mel_metric_vector(vector, sessions[i], pooled->common);
        r->agreement = mel_cloud_beyond(&clouds[i], vector, vector + clouds[i].size);
        r->differs = r->agreement < differing / (double)pooled->n;
        pooled->n_against += r->differs;
    }
    free(vector);
    return MEL_OK;
}

static mel_status fill(mel_pooled *pooled, mel_cloud *clouds, mel_session *const *sessions, mel_error *err)
{
    for (size_t i = 0; i < pooled->n; i++) {
        mel_respondent *r = &pooled->respondent[i];
        mel_status status = mel_session_result(&r->metric, &r->summary, sessions[i], err);
        if (status == MEL_OK)
            status = mel_cloud_make(&clouds[i], sessions[i], r->metric, false, err);
        if (status != MEL_OK)
            return mel_fail_in(err, status, "session %zu", i + 1);
    }
    TRY(find_common(pooled, sessions, err));
    TRY(judge(pooled, clouds, sessions, err));
    TRY(find_spread(pooled, err));
    return mel_clouds_compare(pooled->disagreement, pooled->n, clouds, err);
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
