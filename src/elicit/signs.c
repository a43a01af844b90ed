/* Declared signs, checked. A session that is told which way each number counts (signs, direction) never looks
 * on the other side: answers that belong there press weights against zero, and nothing contradicts anything.
 * So, before a session ends, weights that are pressed against their sign are asked about once: A and B differ
 * in those statistics only, and one of them is better by declaration. When the answer is the other one
 * (twice, where answers may be wrong; four times, where small differences are hardly seen), the signs are
 * dropped (signs_force.c) and all answers are heard again without them. Of fair metrics the answer alone is
 * no proof (mistakes may hardly count beside differences between groups): that the signs are contradicted is
 * said only when a weight is found on the other side without them. */
#include "elicit/signs.h"
#include "elicit/active/history.h"
#include "elicit/active/select.h"
#include "elicit/assumption.h"
#include "elicit/families/families.h"
#include "elicit/session.h"

#include "base/la.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A weight is pressed when its 95% interval begins this close to zero in units of its end (uniform between 0
 * and the end: 0.026) and the weight is small in units of equal weights. The slopes of fractions, which often
 * come close to zero somewhere, must be smaller. */
static const double pressed_share = 0.05, small_weight = 1.0, small_fraction = 0.5;

static bool has_groups(mel_family family)
{
    return mel_family_about(family)->groups;
}

/* --- pressed weights ---------------------------------------------------------------------------- */

typedef struct {
    size_t n;       /* numbers in a group's statistics */
    size_t n_draws; /* rows of slope */
    /* n_draws x 2n: slopes of the utility in units of the declared sign, where they are smallest, and in
     * the centre. */
    double *slope;
    double *column;  /* n_draws: work */
    double *centre;  /* of all groups */
    double *unit;    /* n: half the width of the set in every number; of a ball its radius */
    bool *pressed;   /* n */
    double *highest; /* n: ends of the intervals of the slopes in the centre */
} look;

static void clear_look(look *l)
{
    free(l->slope);
    free(l->column);
    free(l->centre);
    free(l->unit);
    free(l->pressed);
    free(l->highest);
}

/* The middle of given classifiers, and half of what they span in every number. */
static void find_pool_centre(look *l, const mel_pool *pool)
{
    for (size_t i = 0; i < pool->size; i++) {
        double low = pool->value[i], high = low;
        for (size_t c = 1; c < pool->n; c++) {
            low = fmin(low, pool->value[c * pool->size + i]);
            high = fmax(high, pool->value[c * pool->size + i]);
        }
        l->centre[i] = 0.5 * (low + high);
        l->unit[i % l->n] = fmax(l->unit[i % l->n], 0.5 * (high - low));
    }
}

static void find_centre(look *l, const mel_session *session)
{
    const mel_domain *domain = &session->domain;
    if (domain->pool != NULL) {
        find_pool_centre(l, domain->pool);
        return;
    }
    if (domain->face != NULL) {
        const mel_point c = mel_face_centre(domain->face);
        l->centre[0] = c.tp;
        l->centre[1] = c.tn;
    } else if (domain->space != NULL) {
        mel_space_centre(l->centre, domain->space);
    } else {
        for (size_t i = 0; i < session->size; i++)
            l->centre[i] = mel_ball_centre(domain->ball)[i % l->n];
    }
    const double *share = domain->space != NULL  ? mel_space_class_share(domain->space)
                          : domain->face != NULL ? session->face_share
                                                 : NULL;
    for (size_t i = 0; i < l->n; i++)
        l->unit[i] = share == NULL                       ? mel_ball_radius(domain->ball)
                     : session->layout.kind == MEL_RATES ? 0.5
                     : domain->face != NULL              ? 0.5 * share[1 - i]
                                                         : 0.5 * share[i];
}

/* What a draw is: coefficients in the order of metric files, of a utility (1) or a cost (-1). */
typedef struct {
    double sense;
    mel_family family;
    size_t width;
    bool ball;
} drawn;

/* Of N/D with N = <a, x> + a0, D = <b, x> + b0 > 0 the slope has the sign of a_i D - b_i N, which is affine:
 * its value in the centre less the most that it can fall in the set. At unit length in the centre. */
static void fraction_slope(double *slope, const look *l, const double *draw, bool ball)
{
    const size_t n = l->n;
    const double *a = draw, *b = draw + n + 1;
    const double top = a[n] + mel_dot(n, a, l->centre), below = b[n] + mel_dot(n, b, l->centre);
    double length = 0.0;
    for (size_t i = 0; i < n; i++) {
        double fall = 0.0;
        for (size_t j = 0; j < n; j++) {
            const double part = fabs(a[i] * b[j] - b[i] * a[j]) * l->unit[j];
            fall += ball ? part * part : part;
        }
        slope[n + i] = a[i] * below - b[i] * top;
        slope[i] = ball ? sqrt(fall) : fall;
        length += slope[n + i] * slope[n + i];
    }
    mel_scale(2 * n, length > 0.0 ? 1.0 / sqrt(length) : 0.0, slope);
}

/* Slope in the centre, and how far it falls. Groups that are moved alike do not differ, so that of a fair
 * metric its first part alone counts. Signs of quadratic metrics and polynomials are those of a. */
static void plain_slope(double *slope, const look *l, const double *draw, const drawn *how)
{
    const double length = mel_family_about(how->family)->diagonal ? mel_norm2(l->n, draw) : 1.0;
    const double share = has_groups(how->family) ? 1.0 - draw[how->width - 1] : 1.0; /* lambda comes last */
    for (size_t i = 0; i < l->n; i++) {
        slope[i] = 0.0;
        slope[l->n + i] = draw[i] * share / length;
    }
}

static mel_status find_slopes(look *l, drawn *how, mel_session *session, mel_error *err)
{
    double *draw = NULL;
    const mel_status status = mel_session_draws(&l->n_draws, &how->width, &draw, session, err);
    if (status != MEL_OK)
        return status;
    l->slope = mel_alloc(l->n_draws, 2 * l->n * sizeof *l->slope);
    l->column = mel_alloc(l->n_draws, sizeof *l->column);
    const bool room = l->slope != NULL && l->column != NULL;
    for (size_t k = 0; k < l->n_draws && room; k++) {
        double *slope = l->slope + k * 2 * l->n;
        if (mel_family_about(how->family)->ratio)
            fraction_slope(slope, l, draw + k * how->width, how->ball);
        else
            plain_slope(slope, l, draw + k * how->width, how);
        for (size_t i = 0; i < l->n; i++) {
            slope[l->n + i] *= how->sense * mel_sign_declared(session, i);
            slope[i] = slope[l->n + i] - slope[i];
        }
    }
    free(draw);
    return room ? MEL_OK : mel_fail_memory(err, "slopes of the posterior");
}

static double quantile_of(look *l, size_t column, double q)
{
    for (size_t i = 0; i < l->n_draws; i++)
        l->column[i] = l->slope[i * 2 * l->n + column];
    return mel_quantile_select(l->n_draws, l->column, q);
}

static size_t find_pressed(look *l, const mel_session *session)
{
    const bool fraction = mel_family_about(session->options.values.family)->ratio;
    const double small = (fraction ? small_fraction : small_weight) / sqrt((double)l->n);
    size_t count = 0;
    for (size_t j = 0; j < l->n && l->n_draws > 0; j++) {
        const double low = quantile_of(l, j, 0.025), high = quantile_of(l, j, 0.975);
        l->highest[j] = quantile_of(l, l->n + j, 0.975);
        l->pressed[j] =
            mel_sign_in_force(session, j) != 0 && low < pressed_share * high && l->highest[j] < small;
        count += l->pressed[j];
    }
    return count;
}

static mel_status take_a_look(look *l, size_t *count, mel_session *session, mel_error *err)
{
    mel_metric *metric = NULL;
    mel_summary ignored;
    l->n = mel_sign_count(&session->layout);
    l->centre = mel_alloc_zero(session->size, sizeof *l->centre);
    l->unit = mel_alloc_zero(l->n, sizeof *l->unit);
    l->pressed = mel_alloc_zero(l->n, sizeof *l->pressed);
    l->highest = mel_alloc_zero(l->n, sizeof *l->highest);
    if (l->centre == NULL || l->unit == NULL || l->pressed == NULL || l->highest == NULL)
        return mel_fail_memory(err, "the check of the signs");
    find_centre(l, session);
    mel_status status = session->engine->ops->result(session->engine, &metric, &ignored, err);
    if (status != MEL_OK)
        return status;
    drawn how = {
        .sense = mel_metric_orientation(metric) == MEL_COST ? -1.0 : 1.0,
        .family = mel_metric_family(metric),
        .ball = session->domain.ball != NULL,
    };
    mel_metric_free(metric);
    status = find_slopes(l, &how, session, err);
    if (status == MEL_OK)
        *count = find_pressed(l, session);
    return status;
}

/* --- the question ------------------------------------------------------------------------------- */

/* Both ends of a chord of a face along the pressed ones of two numbers. */
static bool ask_on_face(mel_point *a, mel_point *b, const mel_face *face, const double step[2])
{
    return mel_face_chord(a, b, face, step[0] * mel_face_positives(face), step[1] * mel_face_negatives(face));
}

/* On the face of the class that is pressed most and of the next, or else of any other. */
static mel_status ask_on_space(bool *out, const look *l, mel_session *session, mel_error *err)
{
    size_t first = SIZE_MAX, second = SIZE_MAX;
    for (size_t j = 0; j < l->n; j++)
        if (l->pressed[j] && (first == SIZE_MAX || l->highest[j] < l->highest[first]))
            first = j;
    for (size_t j = 0; j < l->n; j++) {
        const bool better = second == SIZE_MAX || (l->pressed[j] && !l->pressed[second]) ||
                            (l->pressed[j] == l->pressed[second] && l->highest[j] < l->highest[second]);
        if (j != first && better)
            second = j;
    }
    const double step[2] = { mel_sign_declared(session, first),
                             l->pressed[second] ? mel_sign_declared(session, second) : 0.0 };
    const double *share = mel_space_class_share(session->domain.space);
    const bool rates = session->layout.kind == MEL_RATES;
    mel_face *face = NULL;
    const mel_status status = mel_space_face(&face, session->domain.space, first, second, err);
    if (status != MEL_OK)
        return status;
    mel_point a, b;
    *out = ask_on_face(&a, &b, face, step);
    memset(session->room, 0, 2 * session->size * sizeof *session->room);
    session->pending.a[first] = a.tp / (rates ? share[first] : 1.0);
    session->pending.a[second] = a.tn / (rates ? share[second] : 1.0);
    session->pending.b[first] = b.tp / (rates ? share[first] : 1.0);
    session->pending.b[second] = b.tn / (rates ? share[second] : 1.0);
    mel_face_free(face);
    return MEL_OK;
}

static mel_status write_check(bool *out, const look *l, size_t count, mel_session *session, mel_error *err)
{
    mel_pair *pair = &session->pending;
    if (session->domain.space != NULL)
        return ask_on_space(out, l, session, err);
    if (session->domain.face != NULL) {
        const double step[2] = { l->pressed[0] ? mel_sign_declared(session, 0) : 0.0,
                                 l->pressed[1] ? mel_sign_declared(session, 1) : 0.0 };
        mel_point a, b;
        *out = ask_on_face(&a, &b, session->domain.face, step);
        pair->a[0] = a.tp;
        pair->a[1] = a.tn;
        pair->b[0] = b.tp;
        pair->b[1] = b.tn;
        return MEL_OK;
    }
    /* Within the ball in spite of rounding. */
    const double step = (1.0 - 1e-9) * mel_ball_radius(session->domain.ball) / sqrt((double)count);
    for (size_t i = 0; i < session->size; i++) {
        const double move = l->pressed[i % l->n] ? step * mel_sign_declared(session, i % l->n) : 0.0;
        pair->a[i] = l->centre[i] + move;
        pair->b[i] = l->centre[i] - move;
    }
    *out = true;
    return MEL_OK;
}

/* The check once more, with its sides swapped. */
static void ask_again(mel_session *session, size_t check)
{
    const mel_pair first = mel_session_pair(session, check);
    memcpy(session->pending.a, first.b, session->size * sizeof *first.b);
    memcpy(session->pending.b, first.a, session->size * sizeof *first.a);
    session->pending.repeated = true;
    session->pending.people = session->entries[check].said.people;
}

/* The side that is better by declaration is A for one half of the seeds. */
static void toss_sides(mel_session *session)
{
    mel_rng rng;
    mel_rng_seed_stream(&rng, session->options.values.seed, UINT64_C(1) << 62 | session->n_entries);
    mel_toss_sides(session->size, session->pending.a, session->pending.b, &rng);
}

/* A session may stop long before it is sure, at a budget that may be raised later and so must not decide what
 * is asked: signs are looked at two questions (or as many as are needed) before the 20th, 40th, 80th, ... */
static bool is_milestone(const mel_session *session)
{
    const size_t needed = mel_signs_answers_needed(session), before = needed > 2 ? needed : 2;
    size_t next = 20;
    while (next < session->n_entries + before)
        next *= 2;
    return next == session->n_entries + before;
}

mel_status mel_session_check_signs(bool *out, mel_session *session, mel_end end, mel_error *err)
{
    const size_t n = session->n_entries;
    *out = false;
    if (n >= session->options.values.max_questions || !mel_session_may_check(session))
        return MEL_OK;
    const mel_sign_checks so_far = mel_signs_last_checks(session, n);
    if (so_far.asked > 0 && !so_far.dropped) {
        *out = mel_session_checks_again(&so_far, session);
        if (*out)
            ask_again(session, so_far.first);
        return MEL_OK;
    }
    if (end == MEL_END_NOT_YET && !is_milestone(session))
        return MEL_OK;
    look l = { .n = 0 };
    size_t count = 0;
    mel_status status = take_a_look(&l, &count, session, err);
    if (status == MEL_OK && count > 0)
        status = write_check(out, &l, count, session, err);
    clear_look(&l);
    if (status == MEL_OK && *out) {
        session->pending.repeated = false;
        session->pending.people = 0;
        if (session->entries[n - 1].said.people > 0)
            mel_session_bring_near(session);
        toss_sides(session);
    }
    return status;
}

/* Where only differences between groups count, or nearly so, mistakes have no signs, and whatever was
 * answered about them was a coin toss. A contradiction must show in what was found once the signs were
 * dropped: a weight whose 95% interval is on the other side. Without one the signs are no longer in force,
 * but neither right nor wrong. */
static mel_sign_check confirm(mel_sign_check found, const look *l, const mel_session *session,
                              const mel_summary *summary)
{
    if (!has_groups(session->options.values.family))
        return found;
    if (summary->finding == MEL_FINDING_NO_MISTAKES)
        return MEL_SIGNS_FREE;
    for (size_t j = 0; j < l->n; j++)
        if (mel_sign_declared(session, j) != 0 && l->highest[j] < 0.0)
            return found;
    return found == MEL_SIGNS_CONTRADICTED ? MEL_SIGNS_DROPPED : found;
}

mel_status mel_session_judge_signs(mel_summary *summary, mel_session *session, mel_error *err)
{
    const mel_session_options *opt = &session->options.values;
    if (opt->strategy == MEL_STRATEGY_SEARCH) {
        summary->signs = mel_signs_any_in_force(session) ? summary->signs : MEL_SIGNS_FREE;
        return MEL_OK;
    }
    if (mel_asks_exchange(opt, &session->domain))
        return MEL_OK;
    const mel_sign_checks c = mel_signs_last_checks(session, session->n_entries);
    const mel_sign_check asked = mel_signs_dropped(session, session->n_entries) ? MEL_SIGNS_CONTRADICTED
                                 : c.agreed > 0 && c.contradicted == 0          ? MEL_SIGNS_UPHELD
                                 : c.asked > 0                                  ? MEL_SIGNS_PRESSED
                                                                                : MEL_SIGNS_FREE;
    summary->signs = asked;
    if (asked == MEL_SIGNS_FREE &&
        (session->end == MEL_END_NOT_YET || session->n_entries == 0 || !mel_signs_any_in_force(session)))
        return MEL_OK;
    if (asked != MEL_SIGNS_FREE && !has_groups(opt->family))
        return MEL_OK;
    look l = { .n = 0 };
    size_t count = 0;
    const mel_status status = take_a_look(&l, &count, session, err);
    if (status == MEL_OK)
        summary->signs =
            confirm(asked == MEL_SIGNS_FREE && count > 0 ? MEL_SIGNS_PRESSED : asked, &l, session, summary);
    clear_look(&l);
    return status;
}
