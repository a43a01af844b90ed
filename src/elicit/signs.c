/* Whether the answers press against declared signs. A session that is told which way each number counts
 * (signs, direction) never looks on the other side: answers that belong there press weights against zero, and
 * nothing contradicts anything. Such weights are named in the result, with the question which way they count.
 */
#include "elicit/active/select.h"
#include "elicit/families/families.h"
#include "elicit/session.h"
#include "elicit/shared.h"

#include "base/la.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>

/* A weight is pressed when its 95% interval begins this close to zero in units of its end (uniform between 0
 * and the end: 0.026) and ends below this in units of equal weights. The slopes of fractions, which often
 * come close to zero somewhere, must be smaller. */
static const double pressed_share = 0.05, small_weight = 0.8, small_fraction = 0.5;

int mel_sign_declared(const mel_session *session, size_t i)
{
    const mel_session_options *opt = &session->options.values;
    if (opt->signs != NULL)
        return opt->signs[i];
    if (opt->direction == MEL_DIRECTION_UNKNOWN || !mel_elicit_of(opt->family)->sloped)
        return 0;
    const int better = session->layout.coordinates == MEL_OFFDIAGONAL ? -1 : 1;
    return opt->direction == MEL_INCREASING ? better : -better;
}

static bool any_declared(const mel_session *session)
{
    for (size_t i = 0; i < mel_sign_count(&session->layout); i++)
        if (mel_sign_declared(session, i) != 0)
            return true;
    return false;
}

/* --- where slopes are looked at ----------------------------------------------------------------- */

/* The centre of what is achievable (numbers of all groups), and half its width in every number of a group. */
static void find_centre(double *centre, double *unit, const mel_session *session)
{
    const mel_domain *domain = &session->domain;
    const size_t n = mel_sign_count(&session->layout);
    for (size_t i = 0; i < session->size; i++) {
        unit[i % n] = domain->ball != NULL ? mel_ball_radius(domain->ball) : 0.0;
        centre[i] = domain->ball != NULL ? mel_ball_centre(domain->ball)[i % n] : 0.0;
    }
    for (size_t i = 0; domain->pool != NULL && i < session->size; i++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t c = 0; c < domain->pool->n; c++) {
            low = fmin(low, domain->pool->value[c * session->size + i]);
            high = fmax(high, domain->pool->value[c * session->size + i]);
        }
        centre[i] = 0.5 * (low + high);
        unit[i % n] = fmax(unit[i % n], 0.5 * (high - low));
    }
    const bool rates = session->layout.kind == MEL_RATES;
    if (domain->face != NULL) {
        const mel_point c = mel_face_centre(domain->face);
        centre[0] = c.tp;
        centre[1] = c.tn;
        for (size_t i = 0; i < n; i++)
            unit[i] = rates ? 0.5 : 0.5 * session->face_share[1 - i];
    }
    if (domain->space != NULL) {
        mel_space_centre(centre, domain->space);
        for (size_t i = 0; i < n; i++)
            unit[i] = rates ? 0.5 : 0.5 * mel_space_class_share(domain->space)[i];
    }
}

/* --- slopes of a draw --------------------------------------------------------------------------- */

/* What draws are: coefficients in the order of metric files, of a utility (1) or a cost (-1). */
typedef struct {
    const mel_family_facts *family;
    double sense;
    size_t n, width; /* numbers in a group, in a draw */
    bool ball;
    const double *centre, *unit;
} drawn;

/* N/D with N = <a, x> + a0 and D = <b, x> + b0 > 0 has a slope with the sign of a_i D - b_i N, which is
 * affine in x: its value in the centre, and the most that it can fall from there. At unit length in the
 * centre. */
static void fraction_slope(double *slope, double *fall, const drawn *how, const double *draw)
{
    const size_t n = how->n;
    const double *a = draw, *b = draw + n + 1;
    const double top = a[n] + mel_dot(n, a, how->centre), below = b[n] + mel_dot(n, b, how->centre);
    for (size_t i = 0; i < n; i++) {
        double sum = 0.0, squares = 0.0;
        for (size_t j = 0; j < n; j++) {
            const double part = fabs(a[i] * b[j] - b[i] * a[j]) * how->unit[j];
            sum += part;
            squares += part * part;
        }
        slope[i] = a[i] * below - b[i] * top;
        fall[i] = how->ball ? sqrt(squares) : sum;
    }
    const double length = mel_norm2(n, slope);
    mel_scale(n, length > 0.0 ? 1.0 / length : 0.0, slope);
    mel_scale(n, length > 0.0 ? 1.0 / length : 0.0, fall);
}

/* Groups that are moved alike do not differ, so that only the first part of a fair metric counts. Signs of
 * quadratic metrics and polynomials are those of a. */
static void plain_slope(double *slope, double *fall, const drawn *how, const double *draw)
{
    const double length = how->family->diagonal ? mel_norm2(how->n, draw) : 1.0;
    const double share = how->family->groups ? 1.0 - draw[how->width - 1] : 1.0; /* lambda comes last */
    for (size_t i = 0; i < how->n; i++) {
        fall[i] = 0.0;
        slope[i] = draw[i] * share / length;
    }
}

/* Whether number i's slope is pressed against zero: lowest and centre hold its slopes in units of the
 * declared sign, where they are smallest and in the centre, one per draw, and are reordered. */
static bool is_pressed(size_t n_draws, double *lowest, double *centre, double small)
{
    const double low = mel_quantile_select(n_draws, lowest, 0.025),
                 high = mel_quantile_select(n_draws, lowest, 0.975);
    return low < pressed_share * high && mel_quantile_select(n_draws, centre, 0.975) < small;
}

static mel_status find_pressed(bool *pressed, mel_session *session, drawn *how, mel_error *err)
{
    const size_t n = how->n;
    TRY(mel_session_find_draws(session, err));
    const size_t n_draws = session->found.n_draws;
    const double *draw = session->found.draw;
    how->width = session->found.n_coefficients;
    MEL_AUTO_MEMORY double *lowest = mel_alloc(n_draws, 2 * n * sizeof *lowest);
    MEL_AUTO_MEMORY double *slope = mel_alloc(2 * n, sizeof *slope);
    if (lowest == NULL || slope == NULL)
        return mel_fail_memory(err, "slopes of the posterior");
    double *centre = lowest + n_draws * n; /* columns of n_draws numbers each */
    for (size_t k = 0; k < n_draws; k++) {
        (how->family->ratio ? fraction_slope : plain_slope)(slope, slope + n, how, draw + k * how->width);
        for (size_t i = 0; i < n; i++) {
            centre[i * n_draws + k] = how->sense * mel_sign_declared(session, i) * slope[i];
            lowest[i * n_draws + k] = centre[i * n_draws + k] - slope[n + i];
        }
    }
    const double small = (how->family->ratio ? small_fraction : small_weight) / sqrt((double)n);
    for (size_t i = 0; i < n && n_draws > 0; i++)
        pressed[i] = mel_sign_declared(session, i) != 0 &&
                     is_pressed(n_draws, lowest + i * n_draws, centre + i * n_draws, small);
    return MEL_OK;
}

mel_status mel_session_pressed(bool *pressed, mel_session *session, const mel_metric *metric, mel_error *err)
{
    drawn how = {
        .family = mel_family_about(mel_metric_family(metric)),
        .sense = mel_metric_orientation(metric) == MEL_COST ? -1.0 : 1.0,
        .n = mel_sign_count(&session->layout),
        .ball = session->domain.ball != NULL,
    };
    for (size_t i = 0; i < how.n; i++)
        pressed[i] = false;
    if (session->options.values.strategy == MEL_STRATEGY_SEARCH || !any_declared(session))
        return MEL_OK;
    MEL_AUTO_MEMORY double *centre = mel_alloc(session->size + how.n, sizeof *centre);
    if (centre == NULL)
        return mel_fail_memory(err, "the check of the signs");
    find_centre(centre, centre + session->size, session);
    how.centre = centre;
    how.unit = centre + session->size;
    return find_pressed(pressed, session, &how, err);
}

mel_status mel_session_judge_signs(mel_summary *summary, mel_session *session, const mel_metric *metric,
                                   mel_error *err)
{
    const mel_session_options *opt = &session->options.values;
    if (opt->strategy == MEL_STRATEGY_SEARCH) {
        summary->signs = any_declared(session) ? summary->signs : MEL_SIGNS_FREE;
        return MEL_OK;
    }
    summary->signs = MEL_SIGNS_FREE;
    /* A rate beyond what can be asked is reported as open. Where only differences between groups seem to
     * count, mistakes may count the other way: the same answers would come of both. */
    if (mel_asks_exchange(opt, &session->domain) || session->end == MEL_END_NOT_YET ||
        session->n_entries == 0)
        return MEL_OK;
    const size_t n = mel_sign_count(&session->layout);
    MEL_AUTO_MEMORY bool *pressed = mel_alloc(n, sizeof *pressed);
    if (pressed == NULL)
        return mel_fail_memory(err, "the check of the signs");
    TRY(mel_session_pressed(pressed, session, metric, err));
    for (size_t i = 0; i < n; i++)
        if (pressed[i])
            summary->signs = MEL_SIGNS_PRESSED;
    return MEL_OK;
}
