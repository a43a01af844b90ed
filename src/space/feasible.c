/* Whether a point is achievable: the mixture that achieves it, or the direction that separates it; segments
 * through the centre. */
#include "space/feasible.h"

#include "base/la.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double least_delta = 1e-12;

void mel_feasibility_clear(mel_feasibility *feasibility)
{
    free(feasibility->closest);
    mel_blend_clear(&feasibility->blend);
    free(feasibility->direction);
    *feasibility = (mel_feasibility){ 0 };
}

/* --- one group ---------------------------------------------------------------------------------- */

/* What is known about the point of one group. */
typedef struct {
    mel_group_set set;
    mel_corral *corral;
    double *target;    /* relative to the centre */
    double *direction; /* from the closest point to the target, of unit length */
    double *spare;
    double distance, margin;
    bool settled; /* the distance is as small as it gets */
    bool proved;  /* that the margin holds for all classifiers */
} part;

static void part_clear(part *p)
{
    mel_group_set_clear(&p->set);
    mel_corral_free(p->corral);
    free(p->target); /* one block with the other numbers */
    *p = (part){ 0 };
}

static mel_status part_init(part *p, const mel_space *space, size_t group, const double *point,
                            mel_error *err)
{
    const size_t q = space->group_size, cells = space->n_classes * space->n_classes;
    *p = (part){ .distance = INFINITY };
    TRY(mel_group_set_init(&p->set, space, group, NULL, MEL_ALL_COLUMNS, true, true, err));
    TRY(mel_corral_new(&p->corral, q, cells, err));
    p->set.thorough = true;
    p->target = mel_alloc(3 * q + cells, sizeof *p->target);
    if (p->target == NULL)
        return mel_fail_memory(err, "the closest statistics");
    p->direction = p->target + q;
    p->spare = p->direction + q;
    for (size_t c = 0; c < q; c++)
        p->target[c] = point[group * q + c] - p->set.centre[c];
    return MEL_OK;
}

/* No classifier at all, not even one that knows the labels, gets further in the direction than this: every
 * class predicted as is best for it. */
static double bound_of_labels(const part *p)
{
    const mel_space *space = p->set.space;
    const size_t k = space->n_classes;
    double *gain = p->set.value;
    mel_space_step_gains(gain, space, p->set.group, p->direction);
    double sum = 0.0;
    for (size_t i = 0; i < k; i++) {
        double best = -INFINITY;
        for (size_t j = 0; j < k; j++)
            best = fmax(best, gain[i * k + j]);
        sum += best * space->cell_share[p->set.group * k + i];
    }
    return sum - mel_dot(space->group_size, p->direction, p->set.centre);
}

/* After the linear step has found nothing further: whether the direction really separates the target. True
 * when a rule was added that says otherwise. */
static bool attack(part *p, double support)
{
    const size_t q = p->set.set.dim;
    const double level = mel_dot(q, p->direction, p->target);
    const double bound = bound_of_labels(p);
    if (bound < level) {
        p->margin = level - bound;
        p->proved = true;
        return false;
    }
    double best = support;
    const double half_way = support + (level - support) / 2.0;
    const bool found =
        p->set.set.search(p->set.set.self, p->spare, p->spare + q, p->direction, support, half_way, &best);
    if (found && mel_corral_add(p->corral, p->spare, p->spare + q))
        return true;
    p->margin = level - fmax(support, best);
    return false;
}

/* Brings the closest point within `near`, or settles how close it gets. */
static void part_solve(part *p, double near)
{
    /* Labels: a search follows that is worth more than the last per mille of the steps. */
    const double precise = p->set.search != NULL ? 1e-3 : 1e-7;
    const mel_approach how = { near, precise, 2000 + 200 * (uint64_t)p->set.set.dim };
    mel_approached found = { .direction = p->direction };
    do {
        mel_set_approach(&found, &p->set.set, p->corral, p->target, &how, p->spare);
        p->distance = found.distance;
        if (found.close)
            return;
        p->margin = mel_dot(p->set.set.dim, p->direction, p->target) - found.support;
        p->proved = mel_space_exact(p->set.space);
    } while (p->set.search != NULL && !mel_set_halted(&p->set.set) && attack(p, found.support));
    p->settled = true;
}

/* --- all groups --------------------------------------------------------------------------------- */

/* Squared distance of the groups that are settled, or of those that are not. */
static double square_of(const part *parts, size_t n, bool settled, size_t *count)
{
    double sum = 0.0;
    *count = 0;
    for (size_t g = 0; g < n; g++)
        if (parts[g].settled == settled) {
            sum += parts[g].distance * parts[g].distance;
            ++*count;
        }
    return sum;
}

/* A group need only be as close as the others leave room for. */
static void solve_all(part *parts, size_t n, double delta)
{
    for (;;) {
        size_t n_settled = 0, n_open = 0;
        const double settled = square_of(parts, n, true, &n_settled);
        const double open = square_of(parts, n, false, &n_open);
        if (n_open == 0 || settled > delta * delta || settled + open <= delta * delta ||
            mel_set_halted(&parts[0].set.set))
            return;
        const double near = sqrt((delta * delta - settled) / (double)n_open) * (1.0 - 1e-9);
        for (size_t g = 0; g < n; g++)
            if (!parts[g].settled)
                part_solve(&parts[g], near);
    }
}

/* --- the result --------------------------------------------------------------------------------- */

typedef struct {
    double share;
    size_t place;
} ranked;

static int by_share(const void *left, const void *right)
{
    const ranked *a = left, *b = right;
    if (a->share != b->share)
        return a->share < b->share ? 1 : -1;
    return a->place < b->place ? -1 : a->place > b->place;
}

/* Cuts [0, 1] wherever some group changes its rule: at[g] is the rule of group g from `from` to the returned
 * end. */
static double next_cut(const part *parts, size_t n, const size_t *at, const double *end)
{
    double nearest = 1.0;
    for (size_t g = 0; g < n; g++)
        if (at[g] + 1 < parts[g].corral->n)
            nearest = fmin(nearest, end[g]);
    return nearest;
}

static void copy_rule(mel_blend *blend, size_t rule, const part *parts, size_t n, const size_t *at)
{
    const size_t cells = blend->n_classes * blend->n_classes;
    for (size_t g = 0; g < n; g++)
        memcpy(blend->gain + (rule * n + g) * cells, parts[g].corral->tag + at[g] * cells,
               cells * sizeof *blend->gain);
}

/* One mixture of rules for all groups out of a mixture of each. at, end: n numbers. */
static void join(mel_blend *blend, const part *parts, size_t n, size_t *at, double *end)
{
    double from = 0.0;
    for (size_t g = 0; g < n; g++) {
        at[g] = 0;
        end[g] = parts[g].corral->share[0];
    }
    blend->n_rules = 0;
    while (from < 1.0) {
        const double to = next_cut(parts, n, at, end);
        if (to > from) {
            copy_rule(blend, blend->n_rules, parts, n, at);
            blend->share[blend->n_rules++] = to - from;
        }
        for (size_t g = 0; g < n; g++)
            if (at[g] + 1 < parts[g].corral->n && end[g] <= to)
                end[g] += parts[g].corral->share[++at[g]];
        from = to;
    }
}

/* Largest share first. order: n_rules; spare: as large as the gains. */
static void sort_blend(mel_blend *blend, size_t cells, ranked *order, double *spare)
{
    double sum = 0.0;
    for (size_t r = 0; r < blend->n_rules; r++) {
        order[r] = (ranked){ blend->share[r], r };
        sum += blend->share[r];
    }
    qsort(order, blend->n_rules, sizeof *order, by_share);
    memcpy(spare, blend->gain, blend->n_rules * cells * sizeof *spare);
    for (size_t r = 0; r < blend->n_rules; r++) {
        blend->share[r] = order[r].share / sum;
        memcpy(blend->gain + r * cells, spare + order[r].place * cells, cells * sizeof *spare);
    }
}

static mel_status make_blend(mel_blend *blend, const mel_space *space, const part *parts, mel_error *err)
{
    const size_t n = space->n_groups, cells = n * space->n_classes * space->n_classes;
    size_t most = 1;
    for (size_t g = 0; g < n; g++)
        most += parts[g].corral->n - 1;
    blend->n_classes = space->n_classes;
    blend->n_groups = space->layout.n_groups;
    blend->gain = mel_alloc(most * cells, sizeof *blend->gain);
    blend->share = mel_alloc(most, sizeof *blend->share);
    MEL_AUTO_MEMORY size_t *at = mel_alloc(n, sizeof *at);
    MEL_AUTO_MEMORY double *end = mel_alloc(n, sizeof *end);
    MEL_AUTO_MEMORY ranked *order = mel_alloc(most, sizeof *order);
    MEL_AUTO_MEMORY double *spare = mel_alloc(most * cells, sizeof *spare);
    if (blend->gain == NULL || blend->share == NULL || at == NULL || end == NULL || order == NULL ||
        spare == NULL)
        return mel_fail_memory(err, "a mixture of rules");
    join(blend, parts, n, at, end);
    sort_blend(blend, cells, order, spare);
    return MEL_OK;
}

/* The direction of the groups that are settled and too far: that of the others would be worth nothing. */
static void make_certificate(mel_feasibility *out, const part *parts, size_t n, size_t group_size)
{
    size_t count = 0;
    const double length = sqrt(square_of(parts, n, true, &count));
    out->margin = 0.0;
    out->proved = true;
    for (size_t g = 0; g < n; g++) {
        const double part_of = parts[g].settled ? parts[g].distance / length : 0.0;
        for (size_t c = 0; c < group_size; c++)
            out->direction[g * group_size + c] = part_of * parts[g].direction[c];
        if (!parts[g].settled)
            continue;
        out->margin += part_of * parts[g].margin;
        out->proved = out->proved && parts[g].proved;
    }
}

static mel_status fill_result(mel_feasibility *out, const mel_space *space, const part *parts,
                              const double *point, double delta, mel_error *err)
{
    const size_t n = space->n_groups, q = space->group_size;
    out->closest = mel_alloc(space->size, sizeof *out->closest);
    out->direction = mel_alloc_zero(space->size, sizeof *out->direction);
    if (out->closest == NULL || out->direction == NULL)
        return mel_fail_memory(err, "the closest statistics");
    uint64_t steps = 0, tried = 0;
    double square = 0.0;
    for (size_t g = 0; g < n; g++) {
        for (size_t c = 0; c < q; c++) {
            const size_t at = g * q + c;
            out->closest[at] = parts[g].set.centre[c] + parts[g].corral->closest[c];
            square += (point[at] - out->closest[at]) * (point[at] - out->closest[at]);
        }
        steps += parts[g].set.set.steps;
        tried += parts[g].set.search != NULL ? mel_rule_search_tried(parts[g].set.search) : 0;
    }
    out->distance = sqrt(square);
    out->feasible = out->distance <= delta;
    out->steps = steps < UINT32_MAX ? (uint32_t)steps : UINT32_MAX;
    out->tried = tried < UINT32_MAX ? (uint32_t)tried : UINT32_MAX;
    if (out->feasible) {
        free(out->direction);
        out->direction = NULL;
    } else {
        make_certificate(out, parts, n, q);
        if (!(out->margin > 0.0))
            return mel_fail(err, MEL_ENUMERIC,
                            "whether the point is achievable within %g could not be decided: the closest "
                            "statistics found are %g away",
                            delta, out->distance);
    }
    return make_blend(&out->blend, space, parts, err);
}

/* The parts keep `halt`, which lives as long as they do. */
static mel_status achieve(mel_feasibility *out, const mel_space *space, part *parts, const double *point,
                          double delta, mel_halt *halt, mel_error *err)
{
    for (size_t g = 0; g < space->n_groups; g++) {
        TRY(part_init(&parts[g], space, g, point, err));
        parts[g].set.set.halt = halt;
    }
    mel_blas_hold();
    solve_all(parts, space->n_groups, delta);
    mel_blas_release();
    TRY(mel_halt_report(halt, 1.0, err));
    return fill_result(out, space, parts, point, delta, err);
}

mel_status mel_space_achieve(mel_feasibility *out, const mel_space *space, const double *point, double delta,
                             const mel_progress *progress, mel_error *err)
{
    *out = (mel_feasibility){ 0 };
    for (size_t c = 0; c < space->size; c++)
        if (!isfinite(point[c]))
            return mel_fail(err, MEL_EINVAL, "point[%zu] is %g, expected a finite number", c, point[c]);
    if (!(delta >= least_delta) || !isfinite(delta))
        return mel_fail(err, MEL_EINVAL, "delta %g, expected %g or more", delta, least_delta);
    MEL_AUTO_MEMORY part *parts = mel_alloc_zero(space->n_groups, sizeof *parts);
    if (parts == NULL)
        return mel_fail_memory(err, "the closest statistics");
    static const mel_progress silent = { 0 };
    mel_halt halt = { .progress = progress != NULL ? progress : &silent,
                      .what = "looking for the classifier at a point",
                      .every = mel_steps_unasked(space) };
    const mel_status status = achieve(out, space, parts, point, delta, &halt, err);
    for (size_t g = 0; g < space->n_groups; g++)
        part_clear(&parts[g]);
    if (status != MEL_OK)
        mel_feasibility_clear(out);
    return status;
}

/* --- segments through the centre ------------------------------------------------------------- */

/* How many times `ray` (not zero) can be gone from the centre of a group, for both of its signs. */
static mel_status reach(double *ahead, double *back, const mel_space *space, size_t group, const double *ray,
                        double near, mel_error *err)
{
    const size_t q = space->group_size;
    const double length = mel_norm2(q, ray);
    MEL_AUTO_CLEAR(mel_sure) sure = { 0 };
    MEL_AUTO_CLEAR(mel_ray_caster) g = { 0 };
    TRY(mel_ray_caster_init(&g, space, group, NULL, MEL_ALL_COLUMNS, true, err));
    TRY(mel_sure_init(&sure, space, group, err));
    for (int sign = 1; sign >= -1; sign -= 2) {
        const mel_ray how = { g.ray, sure.radius, near, 0.0, INFINITY, 2000 + 200 * (uint64_t)q };
        mel_stretch found = { .normal = g.normal };
        for (size_t c = 0; c < q; c++)
            g.ray[c] = sign * ray[c] / length;
        mel_corral_clear(g.corral);
        mel_set_stretch(&found, &g.set.set, g.corral, &how, g.spare);
        *(sign > 0 ? ahead : back) = (found.error <= near ? found.longest : found.sure) / length;
    }
    return MEL_OK;
}

static mel_status check_segment(const mel_space *space, const double *direction, double delta, mel_error *err)
{
    for (size_t c = 0; c < space->size; c++)
        if (!isfinite(direction[c]))
            return mel_fail(err, MEL_EINVAL, "direction[%zu] is %g, expected a finite number", c,
                            direction[c]);
    if (mel_norm_inf(space->size, direction) == 0.0)
        return mel_fail(err, MEL_EINVAL, "a direction of zeros has no segment");
    if (!(delta >= least_delta) || !isfinite(delta))
        return mel_fail(err, MEL_EINVAL, "delta %g, expected %g or more", delta, least_delta);
    return MEL_OK;
}

mel_status mel_space_segment(double *a, double *b, const mel_space *space, const double *direction,
                             double delta, mel_error *err)
{
    TRY(check_segment(space, direction, delta, err));
    const size_t q = space->group_size;
    const double largest = mel_norm_inf(space->size, direction);
    double ahead = INFINITY, back = INFINITY;
    MEL_AUTO_MEMORY double *unit = mel_alloc(space->size, sizeof *unit);
    if (unit == NULL)
        return mel_fail_memory(err, "a segment");
    for (size_t c = 0; c < space->size; c++)
        unit[c] = direction[c] / largest;
    mel_status status = MEL_OK;
    mel_blas_hold();
    for (size_t g = 0; g < space->n_groups && status == MEL_OK; g++) {
        double one = INFINITY, other = INFINITY;
        if (mel_norm_inf(q, unit + g * q) == 0.0)
            continue;
        status = reach(&one, &other, space, g, unit + g * q, delta / sqrt((double)space->n_groups), err);
        ahead = fmin(ahead, one);
        back = fmin(back, other);
    }
    mel_blas_release();
    TRY(status);
    mel_space_centre(a, space);
    memcpy(b, a, space->size * sizeof *b);
    mel_axpy(space->size, ahead, unit, a);
    mel_axpy(space->size, -back, unit, b);
    return MEL_OK;
}
