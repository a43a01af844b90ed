/* Rays shot at the boundary of a set, many at a time. */
#include "space/radius.h"

#include "base/la.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Followed normals: until the set gets thinner by no more than this share, but not more often. */
static const double finest = 1e-4;
enum { MOST_TURNS = 16 };

mel_status mel_shots_new(mel_shots *out, size_t n, size_t group_size, mel_error *err)
{
    const size_t header = n * sizeof(mel_shot), numbers = 2 * n * group_size;
    *out = (mel_shots){ .shot = mel_alloc_zero(1, header + numbers * sizeof(double)) };
    if (out->shot == NULL)
        return mel_fail_memory(err, "directions");
    out->n = n;
    double *at = (double *)(out->shot + n);
    for (size_t i = 0; i < n; i++, at += 2 * group_size)
        out->shot[i] = (mel_shot){ .column = MEL_ALL_COLUMNS, .start = at, .normal = at + group_size };
    return MEL_OK;
}

void mel_shots_clear(mel_shots *shots)
{
    free(shots->shot);
    *shots = (mel_shots){ 0 };
}

uint64_t mel_shots_steps(const mel_shots *shots)
{
    uint64_t steps = shots->aiming;
    for (size_t i = 0; i < shots->n; i++)
        steps += shots->shot[i].steps;
    return steps;
}

/* --- one shot ----------------------------------------------------------------------------------- */

static mel_status load(mel_ray_caster *g, const mel_range *range, size_t column)
{
    TRY(mel_ray_caster_init(g, range->space, range->group, range->hull, column, false, NULL));
    g->set.n_known = range->n_known;
    g->set.known = range->known;
    g->set.set.halt = range->halt;
    return MEL_OK;
}

/* Points a little before the end of a ray: unlike the end itself they lie inside of the set, and a few steps
 * find a mixture that is there to the last digit. Raises `sure` to the first that is reached. */
static void step_back(mel_stretch *found, mel_ray_caster *g, const mel_ray *how)
{
    enum { TURNS = 5 };
    const size_t dim = g->set.set.dim;
    double *target = g->spare + dim, back = 8.0 * how->precise; /* share of the ray */
    mel_approached point = { .direction = g->spare + 2 * dim };
    const mel_approach approach = { how->near, 0.0, 20 + dim };
    for (int turn = 0; turn < TURNS && back < 0.5; turn++, back *= 2.0) {
        const double length = found->longest * (1.0 - back);
        if (found->sure >= length || mel_set_halted(&g->set.set))
            return;
        for (size_t i = 0; i < dim; i++)
            target[i] = length * how->ray[i];
        mel_set_approach(&point, &g->set.set, g->corral, target, &approach, g->spare);
        if (how->inside > 0.0)
            found->sure = fmax(found->sure, length * how->inside / (how->inside + point.distance));
        else if (point.close)
            found->sure = length;
        if (point.close)
            return;
    }
}

/* One ray to its end. */
static void fire(mel_ray_caster *g, mel_shot *shot, const mel_range *range)
{
    const double near = range->sure->radius > 0.0 ? 1e-3 * range->sure->radius : 1e-10;
    /* The more coordinates, the longer are random rays than the thinnest direction, and the less do their
     * ends matter. */
    const bool whole = isinf(shot->wanted);
    const double precise = whole ? 4e-5 * (double)g->set.set.dim : 0.0;
    const mel_ray how = { g->ray, range->sure->radius, near, precise, shot->wanted, range->budget };
    mel_stretch found = { .normal = g->normal };
    memcpy(g->ray, shot->start, g->set.set.dim * sizeof *g->ray);
    mel_set_stretch(&found, &g->set.set, g->corral, &how, g->spare);
    if (!(how.inside > 0.0) && found.error > near)
        found.sure = 0.0; /* precise is not near enough to be sure */
    if (whole)
        step_back(&found, g, &how);
    shot->sure = found.sure;
    shot->width = found.width;
    mel_group_set_direction(shot->normal, &g->set, g->normal);
}

/* Rays, each along the normal of the plane that ended the one before: in a convex set the normal's own width
 * is never larger than the ray was long, so the widths fall. The ends are found more precisely as they do. */
static void follow(mel_ray_caster *g, mel_shot *shot, const mel_range *range)
{
    double precise = 1e-2;
    mel_stretch found = { .normal = g->normal };
    memcpy(g->ray, shot->start, g->set.set.dim * sizeof *g->ray);
    shot->width = INFINITY;
    for (int turn = 0; turn < MOST_TURNS && !mel_set_halted(&g->set.set); turn++) {
        const mel_ray how = { g->ray, range->sure->radius, 1e-12, precise, shot->wanted, range->budget };
        mel_set_stretch(&found, &g->set.set, g->corral, &how, g->spare);
        shot->sure = found.sure;
        const double before = shot->width;
        if (found.width < before) {
            shot->width = found.width;
            mel_group_set_direction(shot->normal, &g->set, g->normal);
            memcpy(g->ray, g->normal, g->set.set.dim * sizeof *g->ray);
        }
        if (!(found.width > 0.0) || (precise <= finest && found.width >= before * (1.0 - finest)))
            break;
        if (found.width >= before * (1.0 - precise))
            precise /= 10.0;
    }
}

static mel_status fire_one(mel_shot *shot, const mel_range *range)
{
    MEL_AUTO_CLEAR(mel_ray_caster) g = { .ray = NULL };
    TRY(load(&g, range, shot->column));
    if (shot->follow)
        follow(&g, shot, range);
    else
        fire(&g, shot, range);
    shot->steps = g.set.set.steps;
    return MEL_OK;
}

mel_status mel_shots_fire(mel_shot *shots, size_t n, const mel_range *range, mel_error *err)
{
    enum { SALVO = 16 }; /* between two reports of progress */
    for (size_t first = 0; first < n; first += SALVO) {
        const double done = (double)first / (double)n;
        TRY(mel_halt_report(range->halt, range->from + done * (range->to - range->from), err));
        const size_t end = n - first < SALVO ? n : first + SALVO;
        bool enough = true;
#pragma omp parallel for schedule(dynamic) num_threads(range->space->threads) reduction(&& : enough)
        for (size_t i = first; i < end; i++)
            enough = fire_one(&shots[i], range) == MEL_OK && enough;
        if (!enough)
            return mel_fail_memory(err, "a ray");
    }
    return mel_halt_report(range->halt, range->to, err);
}

/* --- second thoughts about labels --------------------------------------------------------------- */

enum {
    DOUBTED = 4, /* shots at a time */
    ROUNDS = 32
};

/* What a climb from the normal of a shot achieves, relative to the centre, when that is further along the
 * normal than the shot's width. */
static mel_status climb_beyond(double *statistics, bool *further, const mel_shot *shot,
                               const mel_range *range)
{
    const double same = 1.005; /* differences in width that are not worth another shot */
    const mel_space *space = range->space;
    const size_t q = space->group_size;
    MEL_AUTO_CLEAR(mel_group_set) set = { 0 };
    *further = false;
    TRY(mel_group_set_init(&set, space, range->group, NULL, MEL_ALL_COLUMNS, false, true, NULL));
    mel_space_step_gains(set.value, space, range->group, shot->normal);
    (void)mel_rule_search_climb(set.search, set.gain, set.value, shot->column);
    mel_space_step_rule(statistics, space, range->group, set.gain, set.ws);
    mel_axpy(q, -1.0, set.centre, statistics);
    *further = mel_dot(q, shot->normal, statistics) > same * shot->width;
    return MEL_OK;
}

/* The thinnest shots in order of width; how many. */
static size_t find_thinnest(size_t *thin, const mel_shot *shots, size_t n)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        size_t at = found < DOUBTED ? found++ : DOUBTED;
        for (; at > 0 && shots[i].width < shots[thin[at - 1]].width; at--)
            if (at < DOUBTED)
                thin[at] = thin[at - 1];
        if (at < DOUBTED)
            thin[at] = i;
    }
    return found;
}

static mel_status fire_again(mel_shot *shot, const mel_range *range)
{
    const uint64_t before = shot->steps;
    if (shot->column == MEL_ALL_COLUMNS)
        memcpy(shot->start, shot->normal, range->space->group_size * sizeof *shot->start);
    const mel_status status = fire_one(shot, range);
    shot->steps += before;
    return status;
}

/* Climbs from the thinnest shots; those that it refutes are fired again. *stands: not the thinnest one. */
static mel_status doubt(mel_shot *shots, size_t n, mel_range *range, double *known, bool *stands,
                        mel_error *err)
{
    const size_t q = range->space->group_size;
    size_t thin[DOUBTED];
    bool further[DOUBTED] = { false };
    const size_t found = find_thinnest(thin, shots, n);
    double *fresh = known + range->n_known * q;
    bool enough = true;
#pragma omp parallel for schedule(dynamic) num_threads(range->space->threads) reduction(&& : enough)
    for (size_t i = 0; i < found; i++)
        enough = climb_beyond(fresh + i * q, &further[i], &shots[thin[i]], range) == MEL_OK && enough;
    for (size_t i = 0, kept = 0; i < found; i++)
        if (further[i]) {
            memmove(fresh + kept++ * q, fresh + i * q, q * sizeof *fresh);
            range->n_known++;
        }
    *stands = !further[0];
#pragma omp parallel for schedule(dynamic) num_threads(range->space->threads) reduction(&& : enough)
    for (size_t i = 0; i < found; i++)
        if (further[i])
            enough = fire_again(&shots[thin[i]], range) == MEL_OK && enough;
    return enough ? MEL_OK : mel_fail_memory(err, "rules to check a radius");
}

mel_status mel_shots_confirm(mel_shot *shots, size_t n, const mel_range *range, mel_error *err)
{
    if (mel_space_exact(range->space))
        return MEL_OK;
    MEL_AUTO_MEMORY double *known =
        mel_alloc((size_t)DOUBTED * ROUNDS * range->space->group_size, sizeof *known);
    if (known == NULL)
        return mel_fail_memory(err, "rules to check a radius");
    mel_range with = *range;
    with.known = known;
    bool stands = false;
    for (int round = 0; round < ROUNDS && !stands; round++) {
        TRY(mel_halt_report(range->halt, range->to, err));
        TRY(doubt(shots, n, &with, known, &stands, err));
    }
    return MEL_OK;
}

/* --- where to aim ------------------------------------------------------------------------------- */

typedef struct {
    size_t number;             /* as listed */
    size_t column, one, other; /* other == one: alone */
    double first, second;      /* its numbers at these classes */
    double width;
} aim;

static int compare_aims(const void *left, const void *right)
{
    const aim *a = left, *b = right;
    if (a->width != b->width)
        return a->width < b->width ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

static void point_at(double *start, size_t dim, const aim *a)
{
    const double length = hypot(a->first, a->other == a->one ? 0.0 : a->second);
    memset(start, 0, dim * sizeof *start);
    start[a->one] = a->first / length;
    if (a->other != a->one)
        start[a->other] = a->second / length;
}

/* Directions with one or two numbers: for columns around the class that is predicted, else all pairs. NULL:
 * only counts them. */
static size_t list_aims(aim *aims, size_t k, bool columns)
{
    size_t n = 0;
    for (size_t column = 0; column < (columns ? k : 1); column++)
        for (size_t one = 0; one < k; one++)
            for (size_t other = 0; other < k; other++) {
                const bool pair = columns ? one == column && other != one : one < other;
                if (other != one && !pair)
                    continue;
                for (int signs = 0; signs < (pair ? 4 : 2); signs++, n++)
                    if (aims != NULL)
                        aims[n] = (aim){ n,       columns ? column : MEL_ALL_COLUMNS, one,
                                         other,   signs % 2 == 0 ? 1.0 : -1.0,        signs < 2 ? 0.5 : -0.5,
                                         INFINITY };
            }
    return n;
}

/* Widths of the aims first, first + step, ... */
static mel_status measure_aims(aim *aims, size_t n, size_t first, size_t step, const mel_range *range)
{
    MEL_AUTO_CLEAR(mel_ray_caster) g = { .ray = NULL };
    for (size_t i = first; i < n && !mel_set_halted(&g.set.set); i += step) {
        if (i == first || aims[i].column != g.set.column) {
            mel_ray_caster_clear(&g);
            TRY(load(&g, range, aims[i].column));
        }
        const size_t dim = g.set.set.dim;
        point_at(g.ray, dim, &aims[i]);
        mel_set_step(&g.set.set, g.spare, NULL, g.ray);
        aims[i].width = mel_dot(dim, g.ray, g.spare);
    }
    return MEL_OK;
}

/* The best of every column, then the best of the rest; aims are in order of width. */
static void choose(mel_shot *shots, size_t n, aim *aims, size_t n_aims, size_t k, bool *seen)
{
    size_t chosen = 0;
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < n_aims && chosen < n; i++) {
            const size_t column = aims[i].column == MEL_ALL_COLUMNS ? 0 : aims[i].column;
            const bool taken = isnan(aims[i].width);
            if (taken || (round == 0 && seen[column]))
                continue;
            seen[column] = true;
            aims[i].width = NAN;
            shots[chosen].column = aims[i].column;
            point_at(shots[chosen].start, k, &aims[i]);
            chosen++;
        }
}

mel_status mel_shots_aim(mel_shot *shots, size_t n, const mel_range *range, uint64_t *steps, mel_error *err)
{
    enum { PARTS = 16 };
    const mel_space *space = range->space;
    const size_t k = space->n_classes;
    const bool columns = space->layout.coordinates == MEL_OFFDIAGONAL;
    const size_t n_aims = list_aims(NULL, k, columns);
    MEL_AUTO_MEMORY aim *aims = mel_alloc(n_aims, sizeof *aims);
    MEL_AUTO_MEMORY bool *seen = mel_alloc_zero(k, sizeof *seen);
    bool enough = aims != NULL && seen != NULL;
    TRY(mel_halt_report(range->halt, range->from, err));
    if (!enough)
        return mel_fail_memory(err, "directions to aim at");
    (void)list_aims(aims, k, columns);
#pragma omp parallel for schedule(dynamic) num_threads(space->threads) reduction(&& : enough)
    for (size_t part = 0; part < PARTS; part++)
        enough = measure_aims(aims, n_aims, part, PARTS, range) == MEL_OK && enough;
    qsort(aims, n_aims, sizeof *aims, compare_aims);
    choose(shots, n, aims, n_aims, k, seen);
    *steps += n_aims;
    TRY(mel_halt_report(range->halt, range->from, err));
    return enough ? MEL_OK : mel_fail_memory(err, "directions to aim at");
}
