/* Places and unknowns of the search for a quadratic metric. */
#include "elicit/search/slopes.h"

#include "base/la.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double root_two = 1.41421356237309504880;

/* --- stations ----------------------------------------------------------------------------------- */

double mel_quadratic_inner(double ball_radius)
{
    /* Without noise smaller ones are better (places are farther apart), with noise larger ones. */
    return 0.1 * ball_radius;
}

/* h, how far the places are from the centre. */
static double reach(const mel_plan *plan)
{
    const double radius = mel_ball_radius(plan->ball);
    return radius - mel_quadratic_inner(radius);
}

size_t mel_quadratic_stations(const mel_plan *plan)
{
    return plan->per_group + (plan->opt.diagonal_b ? 1 : 2);
}

/* Puts the groups that move to o + step e_j (+ step e_other). */
static void displace(const mel_plan *plan, mel_station *s, double step, size_t j, size_t other)
{
    const size_t q = plan->per_group;
    for (size_t g = 0; g < plan->groups; g++) {
        double *middle = s->middle + g * q;
        memcpy(middle, mel_ball_centre(plan->ball), q * sizeof *middle);
        if (!s->moves[g])
            continue;
        middle[j] += step;
        if (other < q)
            middle[other] += step;
    }
}

static mel_status add_station(mel_plan *plan, const bool *moves, double step, size_t j, mel_error *err)
{
    const double radius = mel_ball_radius(plan->ball), inner = mel_quadratic_inner(radius);
    const bool plane = plan->opt.diagonal_b && step != 0.0;
    /* Opposite points may be as far apart as the ball allows. */
    const bool wide = step == 0.0;
    mel_station *s = NULL;
    const mel_status status =
        mel_plan_add(&s, plan, wide ? radius : inner, plane ? 2 : plan->per_group, plane, err);
    if (status != MEL_OK)
        return status;
    for (size_t g = 0; g < plan->groups && moves != NULL; g++)
        s->moves[g] = moves[g];
    displace(plan, s, step, j, SIZE_MAX);
    return MEL_OK;
}

mel_status mel_quadratic_add(mel_plan *plan, const bool *moves, mel_error *err)
{
    const double h = reach(plan);
    mel_status status = add_station(plan, moves, 0.0, 0, err);
    for (size_t j = 0; j < plan->per_group && status == MEL_OK; j++)
        status = add_station(plan, moves, h, j, err);
    return status == MEL_OK && !plan->opt.diagonal_b ? add_station(plan, moves, -h, 0, err) : status;
}

/* Whether a station's slope is distinguishable from axis j. */
static bool has_rest(const mel_plan *plan, const mel_station *s, size_t j)
{
    double squares = 0.0;
    for (size_t i = 0; i < plan->per_group; i++)
        squares += i != j ? s->slope[i] * s->slope[i] : 0.0;
    return sqrt(squares) > 2.0 * plan->opt.tolerance;
}

/* Whether the place for axis j is on it: the rest of d shows beside e_j, and showed at the first place off
 * the centre (where it does not, the slope found at the centre may be none). */
static bool on_axis(const mel_plan *plan, size_t first, size_t j)
{
    const mel_station *centre = &plan->station[first];
    const bool shown = j == 0 || !has_rest(plan, centre, 0) || has_rest(plan, centre + 1, 0);
    return shown && has_rest(plan, centre, j);
}

/* The gradient at o + h e_j is d + h B_jj e_j: it lies in the plane of e_j and the rest of d, and one angle
 * tells it. Where d has no rest the place is between two axes instead, and the plane that of these two. */
void mel_quadratic_prepare(mel_plan *plan, size_t first, size_t at)
{
    if (!plan->opt.diagonal_b || at == first)
        return;
    const size_t q = plan->per_group, j = at - first - 1, other = (j + 1) % q;
    const mel_station *centre = &plan->station[first];
    mel_station *s = &plan->station[at];
    double *axis = s->basis, *rest = s->basis + q;
    memset(axis, 0, 2 * q * sizeof *axis);
    axis[j] = 1.0;
    const bool usual = on_axis(plan, first, j);
    if (usual) {
        memcpy(rest, centre->slope, q * sizeof *rest);
        rest[j] = 0.0;
        mel_scale(q, 1.0 / mel_norm2(q, rest), rest);
    } else {
        rest[other] = 1.0;
    }
    displace(plan, s, usual ? reach(plan) : reach(plan) / root_two, j, usual ? SIZE_MAX : other);
}

/* --- least squares ------------------------------------------------------------------------------ */

typedef struct {
    size_t q;
    bool diagonal;
} shape;

static size_t n_unknown(const shape *form)
{
    return form->q + (form->diagonal ? form->q : form->q * (form->q + 1) / 2);
}

/* Unknowns: d, then h B, entries of its upper triangle row by row, those off the diagonal times the root of
 * two, or the diagonal alone. The place is the displacement over h. */
static void gradient_at(void *context, const double *place, double *matrix)
{
    const shape *form = context;
    const size_t q = form->q, n = n_unknown(form);
    memset(matrix, 0, q * n * sizeof *matrix);
    size_t at = q;
    for (size_t i = 0; i < q; i++) {
        matrix[i * n + i] = 1.0;
        matrix[i * n + at++] = place[i];
        for (size_t j = i + 1; j < q && !form->diagonal; j++, at++) {
            matrix[i * n + at] = place[j] / root_two;
            matrix[j * n + at] = place[i] / root_two;
        }
    }
}

static void unpack(const shape *form, double h, const double *x, double *out)
{
    const size_t q = form->q;
    double *b = out + q;
    memcpy(out, x, q * sizeof *out);
    memset(b, 0, q * q * sizeof *b);
    size_t at = q;
    for (size_t i = 0; i < q; i++) {
        b[i * q + i] = x[at++] / h;
        for (size_t j = i + 1; j < q && !form->diagonal; j++, at++)
            b[i * q + j] = b[j * q + i] = x[at] / (root_two * h);
    }
}

/* A group that moves; those that do not stay at the centre. */
static size_t mover(const mel_plan *plan, const mel_station *s)
{
    size_t g = 0;
    while (g + 1 < plan->groups && !s->moves[g])
        g++;
    return g;
}

static mel_status by_squares(mel_quadratic_found *found, const mel_plan *plan, size_t first, size_t n,
                             double *place, mel_slope_at *at, mel_error *err)
{
    const size_t q = found->q, size = q + q * q;
    const double h = reach(plan), *centre = mel_ball_centre(plan->ball);
    shape form = { .q = q, .diagonal = plan->opt.diagonal_b };
    for (size_t i = 0; i < n; i++) {
        const mel_station *s = &plan->station[first + i];
        for (size_t j = 0; j < q; j++)
            place[i * q + j] = (s->middle[mover(plan, s) * q + j] - centre[j]) / h;
        at[i] = (mel_slope_at){ .place = place + i * q, .station = s };
    }
    const mel_slope_model model = {
        .n_coordinates = q, .n_unknown = n_unknown(&form), .gradient = gradient_at, .context = &form
    };
    mel_slope_fit fit;
    const mel_status status = mel_slope_fit_make(&fit, &model, n, at, err);
    if (status == MEL_OK)
        found->change = mel_alloc(fit.n_changes * size, sizeof *found->change);
    if (found->change == NULL) {
        mel_slope_fit_clear(&fit);
        return status != MEL_OK ? status : mel_fail_memory(err, "a quadratic function");
    }
    found->known = fit.unique;
    found->n_changes = fit.n_changes;
    unpack(&form, h, fit.value, found->value);
    for (size_t i = 0; i < fit.n_changes; i++)
        unpack(&form, h, fit.change + i * fit.n_unknown, found->change + i * size);
    mel_slope_fit_clear(&fit);
    return MEL_OK;
}

/* --- the result ----------------------------------------------------------------------------------- */

void mel_quadratic_clear(mel_quadratic_found *found)
{
    free(found->value);
    free(found->change);
    *found = (mel_quadratic_found){ .q = 0 };
}

static double spread_of(const mel_quadratic_found *found, double h)
{
    const size_t q = found->q;
    double squares = 0.0;
    for (size_t i = 0; i < found->n_changes; i++) {
        const double *d = found->change + i * (q + q * q), *b = d + q;
        squares += mel_dot(q, d, d) + h * h * mel_dot(q * q, b, b);
    }
    return sqrt(3.0 * squares);
}

mel_status mel_quadratic_solve(mel_quadratic_found *found, const mel_plan *plan, size_t first, mel_error *err)
{
    const size_t q = plan->per_group, n = mel_quadratic_stations(plan);
    size_t reached = 0, flat = 0;
    for (size_t i = 0; i < n; i++) {
        const mel_station *s = &plan->station[first + i];
        reached += s->reached ? 1 : 0;
        flat += s->reached && s->flat ? 1 : 0;
    }
    const mel_station *centre = &plan->station[first];
    *found = (mel_quadratic_found){ .q = q };
    found->flat = flat == n;
    found->flat_centre = centre->reached && centre->flat;
    found->value = mel_alloc_zero(q + q * q, sizeof *found->value);
    double *room = mel_alloc(n * q, sizeof *room);
    mel_slope_at *at = mel_alloc(n, sizeof *at);
    mel_status status = MEL_OK;
    if (found->value == NULL || room == NULL || at == NULL)
        status = mel_fail_memory(err, "a quadratic function");
    else if (reached < n && centre->reached)
        memcpy(found->value, centre->slope, q * sizeof *found->value);
    else if (reached == n && flat < n)
        status = by_squares(found, plan, first, n, room, at, err);
    if (status == MEL_OK && found->known) {
        found->spread = spread_of(found, reach(plan));
        found->flat_centre = found->flat_centre ||
                             mel_change_hides(q, found->value, q + q * q, found->n_changes, found->change);
    }
    free(room);
    free(at);
    return status;
}
