/* The classifier that is best for a metric, the one that achieves a point, and whether the best one of a
 * session can still change. */
#include "base/buffer.h"
#include "base/la.h"
#include "classify/shared.h"
#include "classify/solve.h"
#include "elicit/options.h"
#include "metric/shared.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_STEPS = 200, MOST_SHOWN = 8, MOST_TEXT = 1000 };
/* How far below the uniform classifier's value Dinkelbach's method starts. */
static const double head_start = 1e-9;
/* Points that differ by less are those of the same rule. */
static const double same_rule = 1e-12;
/* Draws that the best rule of k classes is compared on: each takes a pass over the data. */
enum { MOST_DRAWS = 40, MOST_LOSING = 8 };
/* A rule stands that loses at most this share of what the best rule adds to the best trivial one. */
static const double negligible = 0.01;

bool mel_classifier_has_best(mel_family family)
{
    const mel_family_facts *is = mel_family_about(family);
    return is != NULL && (is->sum || is->ratio);
}

static bool is_ball(const mel_domain *domain)
{
    return domain->face == NULL && domain->space == NULL;
}

static mel_status refuse_ball(mel_error *err)
{
    return mel_fail(err, MEL_EINVAL, "a ball has no probabilities that a classifier could be built on");
}

/* One for the domain, without rules yet. */
static mel_status begin_classifier(mel_classifier **out, const mel_domain *domain, mel_error *err)
{
    const mel_layout *layout = mel_domain_layout(domain);
    TRY(mel_classifier_new(out, layout->n_classes, layout->n_groups > 1 ? layout->n_groups : 0, err));
    TRY(mel_classifier_set_source(*out, &(mel_classifier_source){ 0 }, err));
    (*out)->statistics = mel_alloc_zero(mel_layout_size(layout), sizeof *(*out)->statistics);
    return (*out)->statistics != NULL ? MEL_OK : mel_fail_memory(err, "a classifier");
}

/* --- best for a metric -------------------------------------------------------------------------- */

/* The classifier becomes the one that is best for a direction, with the metric's value at what it achieves.
 */
static mel_status take_step(mel_classifier *c, const mel_domain *domain, const double *direction,
                            const mel_metric *metric, mel_error *err)
{
    if (domain->face != NULL) {
        mel_rule rule = { 0 };
        TRY(mel_face_support_rule(&rule, domain->face, direction[0], direction[1], err));
        const mel_point point = mel_face_rule(domain->face, rule);
        c->mixture = (mel_mixture){ .n = 1, .rule = { rule }, .share = { 1.0 } };
        c->statistics[0] = point.tp;
        c->statistics[1] = point.tn;
    } else {
        TRY(mel_space_linear(c->statistics, domain->space, direction, err));
        mel_space_gains(c->blend.gain, domain->space, direction);
    }
    return mel_metric_value(&c->value, metric, c->statistics, err);
}

static void put_centre_of_domain(double *out, const mel_domain *domain)
{
    if (domain->space != NULL) {
        mel_space_centre(out, domain->space);
        return;
    }
    const mel_point centre = mel_face_centre(domain->face);
    out[0] = centre.tp;
    out[1] = centre.tn;
}

/* Dinkelbach: with v the value reached so far, the step in direction p - v q reaches at least as much; v is
 * best when it reaches no more. v starts just below the value at the centre: the first step then cannot end
 * where numerator and denominator are both 0, and a later one ends there only when nothing is better. Leaves
 * the best direction; next is scratch. */
static mel_status climb_fraction(double *direction, double *next, mel_classifier *c, const mel_domain *domain,
                                 const mel_metric *metric, double sign, mel_error *err)
{
    const size_t n = mel_layout_size(mel_domain_layout(domain));
    double q0 = 0.0, reached = 0.0;
    const double *p = mel_metric_numerator(metric, NULL), *q = mel_metric_denominator(metric, &q0);
    put_centre_of_domain(c->statistics, domain);
    mel_status status = mel_metric_value(&reached, metric, c->statistics, err);
    const double turned = mel_dot(n, q, c->statistics) + q0 < 0.0 ? -sign : sign; /* it keeps its sign */
    reached -= sign * head_start * fmax(1.0, fabs(reached));
    for (size_t step = 0; status == MEL_OK && step < MOST_STEPS; step++) {
        for (size_t i = 0; i < n; i++)
            next[i] = turned * (p[i] - reached * q[i]);
        status = take_step(c, domain, next, metric, err);
        if (step > 0 && status != MEL_ENOMEM && (status != MEL_OK || !(sign * (c->value - reached) > 0.0)))
            return MEL_OK;
        memcpy(direction, next, n * sizeof *next);
        reached = c->value;
    }
    return status;
}

static mel_status find_best(mel_classifier *c, const mel_domain *domain, const mel_metric *metric,
                            mel_error *err)
{
    const size_t n = mel_layout_size(mel_domain_layout(domain));
    const double sign = mel_metric_orientation(metric) == MEL_COST ? -1.0 : 1.0;
    MEL_AUTO_MEMORY double *direction = mel_alloc(2 * n, sizeof *direction);
    if (direction == NULL || (domain->face == NULL && !mel_classifier_make_room(c, 1)))
        return mel_fail_memory(err, "a classifier");
    if (mel_metric_denominator(metric, NULL) != NULL)
        TRY(climb_fraction(direction, direction + n, c, domain, metric, sign, err));
    else
        for (size_t i = 0; i < n; i++)
            direction[i] = sign * mel_metric_numerator(metric, NULL)[i];
    return take_step(c, domain, direction, metric, err);
}

/* One rule for a metric that is neither a sum nor a ratio: the solvers of mel_rule_find, on a space. */
static mel_status search_best(mel_classifier **out, const mel_domain *domain, const mel_metric *metric,
                              mel_error *err)
{
    mel_rule_options usual;
    mel_rule_options_init(&usual);
    const mel_solve_options opt = { usual.tolerance, usual.most_steps, usual.starts, usual.seed };
    MEL_AUTO(mel_steps) *steps = NULL;
    MEL_AUTO_CLEAR(mel_goal) goal = { 0 };
    MEL_AUTO_CLEAR(mel_vertices) vertices = { 0 };
    MEL_AUTO_CLEAR(mel_solution) solution = { 0 };
    double optimum = 0.0;
    if (domain->space == NULL)
        return mel_fail(err, MEL_EINVAL, "a planar face knows linear and linear-fractional metrics only");
    TRY(mel_steps_of_space(&steps, domain->space, err));
    steps->progress = domain->progress;
    TRY(mel_goal_of_metric(&goal, metric, steps, err));
    TRY(mel_vertices_init(&vertices, steps, err));
    TRY(mel_solve_goal(&solution, &goal, &vertices, &opt, err));
    TRY(mel_rule_settle(&solution, &optimum, &goal, &vertices, MEL_RULE_THRESHOLD, &opt, err));
    return mel_build_classifier(out, &solution, &goal, &vertices, err);
}

/* On a face a metric of the two mistakes: as one of (TP, TN), then its own value. */
static mel_status best_of_mistakes(mel_classifier **out, const mel_domain *domain, const mel_metric *metric,
                                   mel_error *err)
{
    MEL_AUTO(mel_metric) *turned = NULL;
    MEL_AUTO(mel_classifier) *c = NULL;
    TRY(mel_metric_turn(&turned, metric, err));
    TRY(mel_classifier_best(&c, domain, turned, err));
    const double mistakes[] = { mel_face_negatives(domain->face) - c->statistics[1],
                                mel_face_positives(domain->face) - c->statistics[0] };
    TRY(mel_metric_value(&c->value, metric, mistakes, err));
    *out = c;
    c = NULL;
    return MEL_OK;
}

mel_status mel_classifier_best(mel_classifier **out, const mel_domain *domain, const mel_metric *metric,
                               mel_error *err)
{
    *out = NULL;
    if (is_ball(domain))
        return refuse_ball(err);
    if (domain->face != NULL && mel_metric_trades_two(metric) &&
        mel_metric_layout(metric)->coordinates == MEL_OFFDIAGONAL)
        return best_of_mistakes(out, domain, metric, err);
    if (!mel_layout_equal(mel_metric_layout(metric), mel_domain_layout(domain)))
        return mel_fail(err, MEL_EINVAL, "the metric is about other statistics than the domain");
    MEL_AUTO(mel_classifier) *c = NULL;
    if (mel_classifier_has_best(mel_metric_family(metric))) {
        TRY(begin_classifier(&c, domain, err));
        TRY(find_best(c, domain, metric, err));
        TRY(mel_classifier_note_statistics(c, domain, err));
    } else {
        TRY(search_best(&c, domain, metric, err));
    }
    *out = c;
    c = NULL;
    return MEL_OK;
}

/* --- at a point --------------------------------------------------------------------------------- */

static mel_status refuse_point(const mel_feasibility *found, size_t n, mel_error *err)
{
    mel_buffer text;
    mel_buffer_init(&text, MOST_TEXT);
    for (size_t i = 0; i < n && i < MOST_SHOWN; i++)
        mel_buffer_printf(&text, "%s%.6g", i > 0 ? ", " : "", found->closest[i]);
    const mel_status status =
        text.status != MEL_OK
            ? mel_fail_memory(err, "a sentence")
            : mel_fail(err, MEL_EINVAL,
                       "the point is not achievable; the closest one found, %.6g away, is (%s%s)",
                       found->distance, text.data, n > MOST_SHOWN ? ", ..." : "");
    mel_buffer_free(&text);
    return status;
}

static mel_status achieve(mel_classifier *c, const mel_domain *domain, const double *point, double delta,
                          mel_error *err)
{
    const size_t n = mel_space_size(domain->space);
    MEL_AUTO_CLEAR(mel_feasibility) found = { 0 };
    TRY(mel_space_achieve(&found, domain->space, point, delta, &domain->progress, err));
    if (!found.feasible)
        return refuse_point(&found, n, err);
    memcpy(c->statistics, found.closest, n * sizeof *found.closest);
    c->blend = found.blend;
    found.blend = (mel_blend){ 0 };
    return MEL_OK;
}

mel_status mel_classifier_at_point(mel_classifier **out, const mel_domain *domain, const double *point,
                                   double delta, mel_error *err)
{
    *out = NULL;
    if (is_ball(domain))
        return refuse_ball(err);
    MEL_AUTO(mel_classifier) *c = NULL;
    TRY(begin_classifier(&c, domain, err));
    if (domain->face != NULL) {
        memcpy(c->statistics, point, 2 * sizeof *point);
        TRY(mel_face_achieve(&c->mixture, domain->face, (mel_point){ point[0], point[1] }, err));
    } else {
        TRY(achieve(c, domain, point, delta, err));
    }
    TRY(mel_classifier_note_statistics(c, domain, err));
    *out = c;
    c = NULL;
    return MEL_OK;
}

/* --- whether it can still change ------------------------------------------------------------------ */

static bool near(mel_point a, mel_point b)
{
    return fabs(a.tp - b.tp) <= same_rule && fabs(a.tn - b.tn) <= same_rule;
}

mel_status mel_classifier_settled(double *probability, const mel_belief *now, mel_error *err)
{
    const double *m = mel_metric_numerator(now->metric, NULL);
    const size_t width = mel_metric_coefficients(now->metric);
    mel_point best, here;
    TRY(mel_face_support(&best, now->domain->face, m[0], m[1], err));
    size_t standing = 0;
    for (size_t s = 0; s < now->n_draws; s++) {
        const double *draw = now->draw + s * width;
        TRY(mel_face_support(&here, now->domain->face, draw[0], draw[1], err));
        standing += near(best, here);
    }
    *probability = (double)standing / (double)now->n_draws;
    return MEL_OK;
}

typedef struct {
    const mel_space *space;
    size_t size;
    double sign;                         /* -1: the metric is a cost */
    double *best, *here, *way, *trivial; /* size; trivial: n_classes x size */
} rules;

static mel_status find_trivial(rules *r, mel_error *err)
{
    const mel_layout *layout = mel_space_layout(r->space);
    const size_t k = layout->n_classes, n = k * k * (layout->n_groups > 1 ? layout->n_groups : 1);
    MEL_AUTO_MEMORY double *gain = mel_alloc(n, sizeof *gain);
    if (gain == NULL)
        return mel_fail_memory(err, "the best rule");
    for (size_t j = 0; j < k; j++) {
        for (size_t i = 0; i < n; i++)
            gain[i] = i % k == j ? 1.0 : 0.0;
        TRY(mel_space_rule(r->trivial + j * r->size, r->space, gain, err));
    }
    return MEL_OK;
}

static mel_status best_point_for(double *out, const rules *r, const double *weight, mel_error *err)
{
    for (size_t i = 0; i < r->size; i++)
        r->way[i] = r->sign * weight[i];
    return mel_space_linear(out, r->space, r->way, err);
}

/* Whether the rule at hand loses next to nothing by the metric of these weights. */
static mel_status loses_little(bool *out, const rules *r, const double *weight, mel_error *err)
{
    TRY(best_point_for(r->here, r, weight, err));
    const double most = mel_dot(r->size, r->way, r->here);
    double plain = -INFINITY;
    for (size_t j = 0; j < mel_space_layout(r->space)->n_classes; j++)
        plain = fmax(plain, mel_dot(r->size, r->way, r->trivial + j * r->size));
    *out = most - mel_dot(r->size, r->way, r->best) <= negligible * fmax(most - plain, 0.0) + same_rule;
    return MEL_OK;
}

static mel_status count_standing(size_t *standing, size_t *asked, const rules *r, const mel_belief *now,
                                 mel_error *err)
{
    const size_t width = mel_metric_coefficients(now->metric);
    const size_t n = now->n_draws < MOST_DRAWS ? now->n_draws : MOST_DRAWS;
    TRY(best_point_for(r->best, r, mel_metric_numerator(now->metric, NULL), err));
    *standing = 0;
    *asked = n;
    /* With so many that lose it is far from settled: those that were not looked at count as losing, too. */
    for (size_t s = 0; s < n && s < *standing + MOST_LOSING; s++) {
        bool stands = false;
        TRY(loses_little(&stands, r, now->draw + s * now->n_draws / n * width, err));
        *standing += stands;
    }
    return MEL_OK;
}

mel_status mel_classifier_rule_settled(double *probability, const mel_belief *now, mel_error *err)
{
    const mel_domain *domain = now->domain;
    rules r = { .space = domain->ball != NULL ? domain->frontier : domain->space,
                .sign = mel_metric_orientation(now->metric) == MEL_COST ? -1.0 : 1.0 };
    if (r.space == NULL)
        return mel_fail(err, MEL_EINVAL, "until rule: no classifiers are known here");
    r.size = mel_space_size(r.space);
    MEL_AUTO_MEMORY double *room = mel_alloc(3 + mel_space_layout(r.space)->n_classes, r.size * sizeof *room);
    if (room == NULL)
        return mel_fail_memory(err, "the best rule");
    r.best = room;
    r.here = r.best + r.size;
    r.way = r.here + r.size;
    r.trivial = r.way + r.size;
    size_t standing = 0, asked = 1;
    TRY(find_trivial(&r, err));
    TRY(count_standing(&standing, &asked, &r, now, err));
    *probability = (double)standing / (double)asked;
    return MEL_OK;
}
