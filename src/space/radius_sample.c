/* Radii of many rows: found on some of them, proved on all with few passes.
 *
 * Rules that are measured on all rows have a hull (hull.c) that surely is in the set. Where the hull is
 * thinnest, as descents in it say, one pass finds the rule that is best in that direction on all rows: either
 * the set is as thin there, which bounds the radius, or the hull grows. Descents and rays in the hull read no
 * rows. The search of a few rows says where to begin. */
#include "space/radius.h"

#include "base/la.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_PASSES = 190, /* a few more are spent on checks and shares */
    BATCH = 12         /* of one round */
};
static const double precise = 2e-3; /* share by which the hull may be thinner than the set */

/* --- rules measured on all rows ----------------------------------------------------------------- */

typedef struct {
    mel_group_set set;              /* all rows */
    mel_hull *hull;                 /* of rules that were measured on them, */
    mel_group_set in_hull;          /* and the set of these */
    mel_rule_search *search[BATCH]; /* among the rows of the sample; NULL: steps are exact */
    double *value, *gain;           /* BATCH x k x k: what they look for, and the rules that they find */
    double *tried;                  /* MOST_PASSES x group_size: directions */
    size_t n_tried;
    uint64_t passes;
    double least;    /* width of the thinnest of them, as far as rules were found */
    size_t thinnest; /* that one */
} prover;

static void prover_clear(prover *p)
{
    mel_group_set_clear(&p->in_hull);
    mel_group_set_clear(&p->set);
    mel_hull_free(p->hull);
    for (size_t i = 0; i < BATCH; i++)
        mel_rule_search_free(p->search[i]);
    free(p->value); /* one block with the other numbers */
}

static mel_status prover_init(prover *p, const mel_range *range, const mel_some_rows *some, mel_error *err)
{
    const mel_space *space = range->space;
    const size_t cells = space->n_classes * space->n_classes, group = range->group;
    TRY(mel_group_set_init(&p->set, space, group, NULL, MEL_ALL_COLUMNS, false, false, err));
    TRY(mel_hull_new(&p->hull, space, group, MOST_PASSES, err));
    TRY(mel_group_set_init(&p->in_hull, space, group, p->hull, MEL_ALL_COLUMNS, false, false, err));
    for (size_t i = 0; i < BATCH && !mel_space_exact(space); i++)
        TRY(mel_rule_search_new(&p->search[i], some->space, group, err));
    p->value =
        mel_alloc((size_t)2 * BATCH * cells + (size_t)MOST_PASSES * space->group_size, sizeof *p->value);
    if (p->value == NULL)
        return mel_fail_memory(err, "directions");
    p->gain = p->value + BATCH * cells;
    p->tried = p->gain + BATCH * cells;
    return MEL_OK;
}

static double *direction_of(const prover *p, size_t tried)
{
    return p->tried + tried * p->set.space->group_size;
}

/* One pass: what a rule achieves joins the hull. */
static mel_status measure_rule(prover *p, const double *gain, const mel_range *range, mel_error *err)
{
    const mel_group_set *set = &p->set;
    mel_space_step_rule(set->statistics, set->space, set->group, gain, set->ws);
    mel_hull_add(p->hull, set->ws->confusion);
    p->passes++;
    const double done = (double)p->passes / (double)MOST_PASSES;
    return mel_halt_report(range->halt, range->from + done * (range->to - range->from), err);
}

/* How far the hull goes from the centre in a direction. */
static double hull_width(prover *p, const double *direction)
{
    const size_t q = p->set.space->group_size;
    mel_group_set_step(&p->in_hull, direction);
    return mel_dot(q, direction, p->in_hull.statistics) - mel_dot(q, direction, p->set.centre);
}

static void find_least(prover *p)
{
    p->least = INFINITY;
    for (size_t i = 0; i < p->n_tried; i++) {
        const double width = hull_width(p, direction_of(p, i));
        if (width < p->least) {
            p->least = width;
            p->thinnest = i;
        }
    }
}

/* A rule of the sample that gets further in a direction than the hull, whose width there is given: false when
 * none was found. */
static bool search_sample_rule(const prover *p, size_t slot, const double *direction, double width)
{
    const double more = 1.05; /* than needed: all rows do not keep quite what the sample promises */
    const size_t cells = p->set.space->n_classes * p->set.space->n_classes;
    double *value = p->value + slot * cells, best = 0.0;
    const double centre = mel_dot(p->set.space->group_size, direction, p->set.centre);
    const double level = isinf(p->least) ? INFINITY : centre + more * p->least;
    mel_space_step_gains(value, p->set.space, p->set.group, direction);
    (void)mel_rule_search_run(p->search[slot], p->gain + slot * cells, value, centre + width, level, &best);
    return best > centre + width;
}

/* By labels steps are not exact: where the directions from `first` on are thinner than the others, the sample
 * may have better rules. */
static mel_status try_harder(prover *p, size_t first, const mel_range *range, mel_error *err)
{
    const size_t n = p->n_tried - first, cells = p->set.space->n_classes * p->set.space->n_classes;
    double width[BATCH];
    bool found[BATCH] = { false };
    for (size_t i = 0; i < n; i++)
        width[i] = hull_width(p, direction_of(p, first + i));
#pragma omp parallel for schedule(dynamic) num_threads(p->set.space->threads)
    for (size_t i = 0; i < n; i++)
        found[i] = width[i] < p->least && search_sample_rule(p, i, direction_of(p, first + i), width[i]);
    for (size_t i = 0; i < n && p->passes < MOST_PASSES; i++)
        if (found[i])
            TRY(measure_rule(p, p->gain + i * cells, range, err));
    return MEL_OK;
}

/* --- rounds ------------------------------------------------------------------------------------- */

static bool was_tried(const prover *p, const double *direction)
{
    const double same = 1.0 - 1e-6;
    const size_t q = p->set.space->group_size;
    for (size_t i = 0; i < p->n_tried; i++)
        if (mel_dot(q, direction_of(p, i), direction) > same)
            return true;
    return false;
}

static int compare_shots(const void *left, const void *right)
{
    const mel_shot *a = left, *b = right;
    if (a->width != b->width)
        return a->width < b->width ? -1 : 1;
    return a->normal < b->normal ? -1 : a->normal > b->normal;
}

/* A pass for the normal of each of the thinnest shots that got less far than `below`; rays: along themselves.
 */
static mel_status try_shots(prover *p, mel_shots *shots, bool rays, double below, const mel_range *range,
                            mel_error *err)
{
    const size_t first = p->n_tried;
    qsort(shots->shot, shots->n, sizeof *shots->shot, compare_shots);
    for (size_t i = 0; i < shots->n && p->n_tried < first + BATCH && p->passes < MOST_PASSES; i++) {
        const mel_shot *shot = &shots->shot[i];
        if (!((rays ? shot->sure : shot->width) < below) || !(shot->width > 0.0) ||
            was_tried(p, shot->normal))
            continue;
        memcpy(direction_of(p, p->n_tried++), shot->normal, p->set.space->group_size * sizeof *shot->normal);
        mel_space_step_gains(p->set.gain, p->set.space, p->set.group, shot->normal);
        TRY(measure_rule(p, p->set.gain, range, err));
    }
    if (p->search[0] != NULL)
        TRY(try_harder(p, first, range, err));
    find_least(p);
    return MEL_OK;
}

/* What the hull says about the radius. */
typedef struct {
    mel_radius search; /* descent, direction */
    double rays;
} findings;

/* Descents (or axes) in the hull, then passes where it is thinner than the set may be. */
static mel_status search_hull(prover *p, findings *found, const mel_range *in_hull, const mel_range *range,
                              const mel_radius_options *opt, uint64_t *steps, mel_error *err)
{
    const bool thesis = opt->method == MEL_RADIUS_THESIS;
    MEL_AUTO_CLEAR(mel_shots) shots = { 0 };
    found->search.descent = INFINITY;
    TRY(mel_radius_search(&shots, in_hull, opt, err));
    *steps += mel_shots_steps(&shots);
    mel_radius_take(&found->search, &shots, in_hull, opt);
    return try_shots(p, &shots, false, thesis ? INFINITY : (1.0 - precise) * p->least, range, err);
}

/* The same with rays. */
static mel_status check_hull(prover *p, findings *found, const mel_range *in_hull, const mel_range *range,
                             const mel_radius_options *opt, uint64_t *steps, mel_error *err)
{
    const double wanted = opt->method == MEL_RADIUS_THESIS ? found->search.descent : p->least;
    MEL_AUTO_CLEAR(mel_shots) rays = { 0 };
    found->rays = INFINITY;
    if (opt->rays == 0)
        return MEL_OK;
    TRY(mel_radius_rays(&rays, in_hull, opt, wanted, err));
    *steps += mel_shots_steps(&rays);
    for (size_t i = 0; i < rays.n; i++)
        found->rays = fmin(found->rays, rays.shot[i].sure);
    return try_shots(p, &rays, true, (1.0 - precise) * wanted, range, err);
}

/* Rounds until descents and then rays find the hull as thick as the set, or passes run out. */
static mel_status thicken_hull(prover *p, findings *found, const mel_range *range,
                               const mel_radius_options *opt, uint64_t *steps, mel_error *err)
{
    mel_range in_hull = *range;
    in_hull.hull = p->hull;
    for (uint64_t before = UINT64_MAX; p->passes != before;) {
        before = p->passes;
        in_hull.from = in_hull.to = range->halt->share;
        TRY(search_hull(p, found, &in_hull, range, opt, steps, err));
        if (p->passes == before)
            TRY(check_hull(p, found, &in_hull, range, opt, steps, err));
    }
    return MEL_OK;
}

static mel_status prove(prover *p, mel_radius *how, const mel_range *range, const mel_radius_options *opt,
                        mel_error *err)
{
    const size_t q = range->space->group_size;
    const bool thesis = opt->method == MEL_RADIUS_THESIS;
    MEL_AUTO_MEMORY double *direction = mel_alloc(q, sizeof *direction);
    findings found = { .search.direction = direction };
    if (direction == NULL)
        return mel_fail_memory(err, "a direction");
    TRY(thicken_hull(p, &found, range, opt, &how->steps, err));
    const double width = thesis ? found.search.descent : p->least;
    if (width < how->descent) {
        how->descent = width;
        how->group = range->group;
        memcpy(how->direction, thesis ? direction : direction_of(p, p->thinnest), q * sizeof *direction);
    }
    how->rays = fmin(how->rays, found.rays);
    how->inner = fmin(how->inner, found.search.descent);
    return MEL_OK;
}

mel_status mel_radius_by_sample(mel_radius *how, const mel_range *range, const mel_some_rows *some,
                                const mel_radius_options *opt, mel_error *err)
{
    mel_range first = *range, second = *range;
    MEL_AUTO_CLEAR(prover) p = { .least = INFINITY };
    MEL_AUTO_CLEAR(mel_shots) shots = { 0 };
    MEL_AUTO_CLEAR(mel_sure) sure = { 0 };
    first.space = some->space;
    first.to = second.from = range->from + 0.3 * (range->to - range->from);
    first.sure = &sure;
    TRY(prover_init(&p, range, some, err));
    TRY(mel_sure_init(&sure, some->space, range->group, err));
    TRY(mel_radius_search(&shots, &first, opt, err));
    TRY(try_shots(&p, &shots, false, INFINITY, &second, err));
    TRY(prove(&p, how, &second, opt, err));
    how->steps += mel_shots_steps(&shots) + p.passes;
    how->passes = p.passes > how->passes ? p.passes : how->passes;
    return MEL_OK;
}
