/* The searches for quadratic and polynomial metrics as an engine: what slopes.c finds around the centre, as a
 * metric of the statistics themselves. */
#include "elicit/search/slopes.h"

#include "base/la.h"
#include "metric/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    mel_plan plan;
    mel_curve curve;
} curve_engine;

static bool is_quadratic(const curve_engine *engine)
{
    return mel_family_about(engine->plan.opt.family)->degree == 2;
}

/* What the slopes say. */
typedef struct {
    mel_curve_found found;
    bool known; /* else a guess */
    mel_finding finding;
} solution;

static void solution_clear(solution *s)
{
    mel_curve_found_clear(&s->found);
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
    for (size_t i = 0; i < plan->n_stations; i++) {
        if (!plan->station[i].reached)
            return MEL_FINDING_NONE;
        flat += plan->station[i].flat ? 1 : 0;
    }
    if (flat == plan->n_stations)
        return MEL_FINDING_INDIFFERENT;
    if (no_curvature(plan, mean))
        return MEL_FINDING_NO_CURVATURE;
    return plan->station[0].flat ? MEL_FINDING_FLAT_CENTRE : MEL_FINDING_NONE;
}

static mel_status solve(const curve_engine *engine, solution *s, mel_error *err)
{
    const size_t q = engine->plan.per_group, n = engine->curve.terms.n_entries;
    MEL_AUTO_MEMORY double *mean = mel_alloc(q, sizeof *mean);
    if (mean == NULL)
        return mel_fail_memory(err, "what was found");
    TRY(mel_curve_solve(&s->found, &engine->plan, &engine->curve, 0, err));
    s->finding = find_degenerate(&engine->plan, mean);
    s->known = s->found.known;
    if (s->finding == MEL_FINDING_NO_CURVATURE) {
        s->known = false;
        memset(s->found.value, 0, n * sizeof *s->found.value);
        memcpy(s->found.value, mean, q * sizeof *mean);
    } else if (s->finding == MEL_FINDING_NONE && s->known && s->found.flat_centre) {
        s->finding = MEL_FINDING_FLAT_CENTRE;
    }
    if (mel_norm_inf(n, s->found.value) == 0.0)
        guess_slope(engine, s->found.value);
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
    memset(out, 0, engine->curve.terms.n_entries * sizeof *out);
    size_t at = 0, size = 1;
    for (uint32_t order = 1; order <= engine->curve.terms.degree; order++) {
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
    const size_t n = engine->curve.terms.n_entries;
    double *around = room, *change = room + n, *work = room + 2 * n, *squares = half + n;
    memset(half, 0, 2 * n * sizeof *half);
    for (size_t i = 0; i < s->found.n_changes; i++) {
        mel_curve_spread(&engine->curve, s->found.change + i * engine->curve.terms.n_terms, around);
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
    const double hidden = 2.0 * most / engine->curve.reach;
    for (size_t j = 0; j < engine->curve.terms.n_entries; j++)
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
    for (uint32_t order = 0; order < engine->curve.terms.degree; order++, size *= q) {
        tensor[order] = entry;
        entry += size;
    }
    return mel_metric_polynomial(out, engine->curve.terms.degree, layout, names, MEL_COST, tensor, err);
}

static mel_status metric_of(mel_metric **out, const curve_engine *engine, const solution *s, double *room,
                            mel_summary *summary, mel_error *err)
{
    const size_t n = engine->curve.terms.n_entries;
    double *entry = room, *low = room + n, *high = room + 2 * n, *rest = room + 3 * n;
    express(engine, s->found.value, rest, entry);
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

static mel_status curve_result(mel_procedure *procedure, mel_metric **metric, mel_summary *summary,
                               mel_error *err)
{
    curve_engine *engine = (curve_engine *)procedure;
    MEL_AUTO_CLEAR(solution) s = { .known = false };
    MEL_AUTO_MEMORY double *room = mel_alloc(6 * engine->curve.terms.n_entries, sizeof *room);
    if (room == NULL)
        return mel_fail_memory(err, "the metric that was found");
    mel_plan_settle(&engine->plan);
    TRY(solve(engine, &s, err));
    return metric_of(metric, engine, &s, room, summary, err);
}

static void curve_clear(mel_procedure *procedure)
{
    curve_engine *engine = (curve_engine *)procedure;
    mel_curve_clear(&engine->curve);
    mel_plan_clear(&engine->plan);
}

static mel_status prepare(mel_plan *plan, size_t station, mel_error *err)
{
    (void)err;
    mel_curve_prepare(plan, &((const curve_engine *)plan)->curve, 0, station);
    return MEL_OK;
}

static mel_status fill(curve_engine *engine, const mel_ball *ball, const mel_session_options *opt,
                       mel_error *err)
{
    mel_plan *plan = &engine->plan;
    plan->procedure.result = curve_result;
    plan->procedure.clear = curve_clear;
    plan->prepare = prepare;
    TRY(mel_plan_init(plan, ball, opt, err));
    TRY(mel_curve_init(&engine->curve, plan, err));
    TRY(mel_curve_add(plan, &engine->curve, NULL, err));
    return mel_plan_begin(plan, err);
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
