/* The searches for quadratic and polynomial metrics as engines: what quadratic_slopes.c and
 * polynomial_slopes.c find around the centre, as a metric of the statistics themselves. */
#include "elicit/search/bounds.h"
#include "elicit/search/slopes.h"

#include "base/la.h"
#include "metric/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    mel_plan plan;
    uint32_t degree;  /* 2 of quadratic metrics */
    mel_terms terms;  /* of polynomial metrics */
    size_t n_entries; /* of all tensors: q + q^2 + .. */
} curve_engine;

static bool is_quadratic(const curve_engine *engine)
{
    return mel_family_about(engine->plan.opt.family)->degree == 2;
}

/* How far the places are from the centre. */
static double reach(const curve_engine *engine)
{
    const double radius = mel_ball_radius(engine->plan.ball);
    return radius - (is_quadratic(engine) ? mel_quadratic_inner(radius)
                                          : mel_polynomial_inner(engine->plan.opt.tolerance, radius));
}

/* --- what the slopes say ------------------------------------------------------------------------ */

/* The tensors of the utility around the centre, up to a positive factor, and what they may change by. */
typedef struct {
    double *value;
    size_t n_changes;
    bool known; /* else a guess */
    mel_finding finding;
    mel_quadratic_found quadratic;
    mel_slope_fit fit;
} solution;

static void solution_clear(solution *s)
{
    free(s->value);
    mel_quadratic_clear(&s->quadratic);
    mel_slope_fit_clear(&s->fit);
}

static void change_at(const curve_engine *engine, const solution *s, size_t i, double *entry)
{
    if (is_quadratic(engine))
        memcpy(entry, s->quadratic.change + i * engine->n_entries, engine->n_entries * sizeof *entry);
    else
        mel_polynomial_spread(&engine->plan, &engine->terms, s->fit.change + i * s->fit.n_unknown, entry);
}

/* Mistakes cost alike, as far as nothing else is known. */
static void guess_slope(const curve_engine *engine, double *slope)
{
    const mel_plan *plan = &engine->plan;
    const mel_layout *layout = mel_ball_layout(plan->ball);
    const double usual = layout->coordinates == MEL_OFFDIAGONAL ? -1.0 : 1.0;
    const double size = usual / sqrt((double)plan->per_group);
    for (size_t i = 0; i < plan->per_group; i++)
        slope[i] = plan->opt.direction == MEL_DECREASING ? -size : size;
}

static bool all_reached(const mel_plan *plan)
{
    for (size_t i = 0; i < plan->n_stations; i++)
        if (!plan->station[i].reached)
            return false;
    return true;
}

static mel_status solve_terms(const curve_engine *engine, solution *s, mel_error *err)
{
    const mel_station *centre = &engine->plan.station[0];
    if (!all_reached(&engine->plan)) {
        if (centre->reached)
            memcpy(s->value, centre->slope, engine->plan.per_group * sizeof *s->value);
        return MEL_OK;
    }
    TRY(mel_polynomial_solve(&s->fit, &engine->plan, &engine->terms, err));
    s->known = s->fit.unique && !s->fit.flat;
    s->n_changes = s->fit.n_changes;
    mel_polynomial_spread(&engine->plan, &engine->terms, s->fit.value, s->value);
    return MEL_OK;
}

static mel_status solve_quadratic(const curve_engine *engine, solution *s, mel_error *err)
{
    TRY(mel_quadratic_solve(&s->quadratic, &engine->plan, 0, err));
    s->known = s->quadratic.known && !s->quadratic.flat;
    s->n_changes = s->quadratic.n_changes;
    memcpy(s->value, s->quadratic.value, engine->n_entries * sizeof *s->value);
    return MEL_OK;
}

/* --- degenerate metrics ------------------------------------------------------------------------- */

/* Half of the last intervals of all angles of a station, as one length. */
static double blur(const mel_plan *plan, const mel_station *s)
{
    return mel_norm2((s->n - 1) * plan->per_group, s->change);
}

/* Whether all slopes are the same one, as far as the intervals tell: errors that are spread evenly over them
 * have a third of their squares as variance, and the sum over many angles is near its mean. Writes the mean
 * slope. */
static bool no_curvature(const mel_plan *plan, double *mean)
{
    const size_t q = plan->per_group;
    double allowed = 0.0, apart = 0.0, angles = 0.0;
    memset(mean, 0, q * sizeof *mean);
    for (size_t i = 0; i < plan->n_stations; i++) {
        const mel_station *s = &plan->station[i];
        if (s->flat)
            return false;
        mel_axpy(q, 1.0 / (double)plan->n_stations, s->slope, mean);
        allowed += blur(plan, s) * blur(plan, s) / 3.0;
        angles += (double)(s->n - 1);
    }
    for (size_t i = 0; i < plan->n_stations; i++)
        for (size_t j = 0; j < q; j++)
            apart += pow(plan->station[i].slope[j] - mean[j], 2.0);
    return apart <= allowed * fmin(3.0, 1.0 + 3.0 * sqrt(0.8 / angles));
}

static mel_finding find_degenerate(const mel_plan *plan, double *mean)
{
    size_t flat = 0;
    for (size_t i = 0; i < plan->n_stations; i++)
        flat += plan->station[i].flat ? 1 : 0;
    if (!all_reached(plan))
        return MEL_FINDING_NONE;
    if (flat == plan->n_stations)
        return MEL_FINDING_INDIFFERENT;
    if (no_curvature(plan, mean))
        return MEL_FINDING_NO_CURVATURE;
    return plan->station[0].flat ? MEL_FINDING_FLAT_CENTRE : MEL_FINDING_NONE;
}

/* Whether the gradient at the centre may be nil. */
static bool flat_centre(const curve_engine *engine, const solution *s)
{
    if (is_quadratic(engine))
        return s->known && s->quadratic.flat_centre;
    return s->known && mel_change_hides(engine->plan.per_group, s->fit.value, s->fit.n_unknown,
                                        s->fit.n_changes, s->fit.change);
}

static mel_status solve(const curve_engine *engine, solution *s, mel_error *err)
{
    const size_t q = engine->plan.per_group;
    *s = (solution){ .known = false };
    s->value = mel_alloc_zero(engine->n_entries, sizeof *s->value);
    double *mean = mel_alloc(q, sizeof *mean);
    if (s->value == NULL || mean == NULL) {
        free(mean);
        return mel_fail_memory(err, "what was found");
    }
    mel_status status = MEL_OK;
    s->finding = find_degenerate(&engine->plan, mean);
    if (s->finding == MEL_FINDING_NO_CURVATURE)
        memcpy(s->value, mean, q * sizeof *s->value);
    else
        status = is_quadratic(engine) ? solve_quadratic(engine, s, err) : solve_terms(engine, s, err);
    free(mean);
    if (status != MEL_OK)
        return status;
    if (s->finding == MEL_FINDING_NONE && flat_centre(engine, s))
        s->finding = MEL_FINDING_FLAT_CENTRE;
    if (mel_norm_inf(engine->n_entries, s->value) == 0.0)
        guess_slope(engine, s->value);
    return MEL_OK;
}

/* --- from the centre to the statistics ---------------------------------------------------------- */

/* The tensors, as costs, of the same polynomial written in the statistics s = o + z, from those of the
 * utility in z: the tensor of order m adds T[.., -o, .., -o]/r! to that of order m - r. work: q^degree
 * numbers. */
static void express(const curve_engine *engine, const double *around, double *work, double *out)
{
    const size_t q = engine->plan.per_group;
    const double *centre = mel_ball_centre(engine->plan.ball);
    memset(out, 0, engine->n_entries * sizeof *out);
    size_t at = 0, size = 1;
    for (uint32_t order = 1; order <= engine->degree; order++) {
        size *= q;
        memcpy(work, around + at, size * sizeof *work);
        size_t n = size, target = at;
        mel_axpy(n, -1.0, work, out + target);
        for (uint32_t r = 1; r < order; r++) {
            n /= q;
            target -= n;
            for (size_t i = 0; i < n; i++)
                work[i] = -mel_dot(q, work + i * q, centre) / (double)r;
            mel_axpy(n, -1.0, work, out + target);
        }
        at += size;
    }
}

/* What the metric's entries may be off by, from the changes: the part along the metric itself is only its
 * length. First order is too little where the metric as a whole may turn far. room: 2 n_entries + q^degree
 * numbers. */
static void widths_of(const curve_engine *engine, const solution *s, const double *entry, double length,
                      double *half, double *room)
{
    const size_t n = engine->n_entries;
    double *around = room, *change = room + n, *work = room + 2 * n, *squares = half + n;
    memset(half, 0, 2 * n * sizeof *half);
    for (size_t i = 0; i < s->n_changes; i++) {
        change_at(engine, s, i, around);
        express(engine, around, work, change);
        mel_axpy(n, -mel_dot(n, entry, change), entry, change);
        for (size_t j = 0; j < n; j++) {
            half[j] += fabs(change[j]) / length;
            squares[j] += change[j] * change[j] / (length * length);
        }
    }
    double turn = 0.0;
    for (size_t j = 0; j < n; j++) {
        half[j] = fmin(half[j], sqrt(3.0 * squares[j]));
        turn += 3.0 * squares[j];
    }
    const double stretch = 1.0 / fmax(1.0 - sqrt(turn), 0.1);
    mel_scale(n, stretch, half);
}

/* Without curvature: how much of it would not have shown, and what that does to the linear part. */
static void widths_of_linear(const curve_engine *engine, double *half)
{
    const mel_plan *plan = &engine->plan;
    const size_t q = plan->per_group;
    double most = 0.0, centre = 0.0;
    for (size_t i = 0; i < plan->n_stations; i++)
        most = fmax(most, blur(plan, &plan->station[i]));
    for (size_t j = 0; j < q; j++)
        centre += fabs(mel_ball_centre(plan->ball)[j]);
    const double hidden = 2.0 * most / reach(engine);
    for (size_t j = 0; j < engine->n_entries; j++)
        half[j] = j < q ? most + centre * hidden : hidden;
}

static mel_status make_metric(mel_metric **out, const curve_engine *engine, const double *entry,
                              mel_error *err)
{
    const mel_layout *layout = mel_ball_layout(engine->plan.ball);
    const char *const *names = engine->plan.opt.class_names;
    const size_t q = engine->plan.per_group;
    if (is_quadratic(engine))
        return mel_metric_quadratic(out, layout, names, MEL_COST, entry, entry + q, err);
    const double *tensor[MEL_MAX_DEGREE] = { NULL };
    size_t size = q;
    for (uint32_t order = 0; order < engine->degree; order++, size *= q) {
        tensor[order] = entry;
        entry += size;
    }
    return mel_metric_polynomial(out, engine->degree, layout, names, MEL_COST, tensor, err);
}

static mel_status metric_of(mel_metric **out, const curve_engine *engine, const solution *s, double *room,
                            mel_summary *summary, mel_error *err)
{
    const size_t n = engine->n_entries;
    double *entry = room, *low = room + n, *high = room + 2 * n, *rest = room + 3 * n;
    express(engine, s->value, rest, entry);
    const double length = mel_norm2(n, entry);
    mel_scale(n, 1.0 / length, entry);
    if (s->finding == MEL_FINDING_NO_CURVATURE)
        widths_of_linear(engine, low);
    else if (s->known)
        widths_of(engine, s, entry, length, low, rest);
    for (size_t j = 0; j < n; j++) {
        const bool meaning = s->known || s->finding == MEL_FINDING_NO_CURVATURE;
        const double half = meaning ? low[j] : 2.0;
        low[j] = fmax(entry[j] - half, -1.0);
        high[j] = fmin(entry[j] + half, 1.0);
    }
    summary->radius = mel_bounds_radius(n, low, high);
    summary->finding = s->finding;
    TRY(make_metric(out, engine, entry, err));
    return mel_metric_set_intervals(*out, low, high, err);
}

/* --- the engine --------------------------------------------------------------------------------- */

static mel_status curve_found(mel_procedure *procedure, mel_metric **metric, mel_summary *summary,
                              mel_error *err)
{
    curve_engine *engine = (curve_engine *)procedure;
    mel_plan_settle(&engine->plan);
    solution s;
    mel_status status = solve(engine, &s, err);
    double *room = status == MEL_OK ? mel_alloc(6 * engine->n_entries, sizeof *room) : NULL;
    if (room != NULL)
        status = metric_of(metric, engine, &s, room, summary, err);
    else if (status == MEL_OK)
        status = mel_fail_memory(err, "the metric that was found");
    free(room);
    solution_clear(&s);
    return status;
}

static void curve_clear(mel_procedure *procedure)
{
    curve_engine *engine = (curve_engine *)procedure;
    mel_terms_clear(&engine->terms);
    mel_plan_clear(&engine->plan);
}

static mel_status prepare(mel_plan *plan, size_t station, mel_error *err)
{
    (void)err;
    mel_quadratic_prepare(plan, 0, station);
    return MEL_OK;
}

static mel_status fill(curve_engine *engine, const mel_ball *ball, const mel_session_options *opt,
                       mel_error *err)
{
    mel_plan *plan = &engine->plan;
    plan->procedure.result = curve_found;
    plan->procedure.clear = curve_clear;
    mel_status status = mel_plan_init(plan, ball, opt, err);
    if (status != MEL_OK)
        return status;
    const size_t q = plan->per_group;
    if (is_quadratic(engine)) {
        engine->degree = 2;
        engine->n_entries = q + q * q;
        plan->prepare = prepare;
        status = mel_quadratic_add(plan, NULL, err);
    } else {
        engine->degree = opt->degree;
        status = mel_terms_make(&engine->terms, q, opt->degree, err);
        engine->n_entries = engine->terms.n_entries;
        if (status == MEL_OK)
            status = mel_polynomial_add(plan, &engine->terms, err);
    }
    return status == MEL_OK ? mel_plan_begin(plan, err) : status;
}

mel_status mel_engine_search_curve(mel_engine **out, const mel_domain *domain, const mel_session_options *opt,
                                   mel_error *err)
{
    *out = NULL;
    curve_engine *engine = mel_alloc_zero(1, sizeof *engine);
    if (engine == NULL)
        return mel_fail_memory(err, "the search");
    return mel_procedure_ready(out, &engine->plan.procedure, fill(engine, domain->ball, opt, err));
}
