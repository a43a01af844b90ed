#include "space/radius.h"

#include "base/la.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Followed normals: each time the set gets thinner by more than this share, but not more often. */
static const double thinner = 1e-6;
enum { MOST_TURNS = 12 };

mel_shot *mel_shots_new(size_t n, size_t group_size)
{
    const size_t header = n * sizeof(mel_shot), numbers = 2 * n * group_size;
    mel_shot *shots = mel_alloc_zero(1, header + numbers * sizeof(double));
    if (shots == NULL)
        return NULL;
    double *at = (double *)(shots + n);
    for (size_t i = 0; i < n; i++, at += 2 * group_size)
        shots[i] = (mel_shot){ .column = MEL_ALL_COLUMNS, .start = at, .normal = at + group_size };
    return shots;
}

/* --- one shot ----------------------------------------------------------------------------------- */

typedef struct {
    mel_group_set set;
    mel_corral *corral;
    double *ray, *normal, *spare;
} gun;

static void gun_clear(gun *g)
{
    mel_group_set_clear(&g->set);
    mel_corral_free(g->corral);
    free(g->ray);
    free(g->normal);
    free(g->spare);
    *g = (gun){ 0 };
}

static mel_status gun_init(gun *g, const mel_range *range, size_t column, mel_error *err)
{
    *g = (gun){ 0 };
    mel_status status = mel_group_set_init(&g->set, range->space, range->group, column, false, false, err);
    if (status == MEL_OK)
        status = mel_corral_new(&g->corral, g->set.set.dim, 0, err);
    if (status != MEL_OK)
        return status;
    const size_t dim = g->set.set.dim;
    g->ray = mel_alloc(dim, sizeof *g->ray);
    g->normal = mel_alloc(dim, sizeof *g->normal);
    g->spare = mel_alloc(3 * dim, sizeof *g->spare);
    if (g->ray == NULL || g->normal == NULL || g->spare == NULL)
        return mel_fail_memory(err, "a ray");
    return MEL_OK;
}

/* Rays, each along the normal of the plane that ended the one before: in a convex set the normal's own width
 * is never larger than the ray was long, so the widths fall. */
static void fire(gun *g, mel_shot *shot, const mel_range *range)
{
    const double exact = range->inside > 0.0 ? 1e-4 * range->inside : 1e-10;
    const mel_ray how = { g->ray, range->inside, exact, shot->wanted, range->budget };
    mel_stretch found = { .normal = g->normal };
    memcpy(g->ray, shot->start, g->set.set.dim * sizeof *g->ray);
    shot->width = INFINITY;
    for (int turn = 0; turn < (shot->follow ? MOST_TURNS : 1); turn++) {
        mel_set_stretch(&found, &g->set.set, g->corral, &how, g->spare);
        shot->sure = found.sure;
        const bool better = found.width < shot->width * (1.0 - thinner);
        if (found.width < shot->width) {
            shot->width = found.width;
            mel_group_set_direction(shot->normal, &g->set, g->normal);
        }
        if (!better || !(found.width > 0.0))
            break;
        memcpy(g->ray, g->normal, g->set.set.dim * sizeof *g->ray);
    }
    shot->steps = g->set.set.steps;
}

static mel_status fire_one(mel_shot *shot, const mel_range *range)
{
    gun g;
    const mel_status status = gun_init(&g, range, shot->column, NULL);
    if (status == MEL_OK)
        fire(&g, shot, range);
    gun_clear(&g);
    return status;
}

mel_status mel_shots_fire(mel_shot *shots, size_t n, const mel_range *range, mel_error *err)
{
    enum { SALVO = 16 }; /* between two reports of progress */
    for (size_t first = 0; first < n; first += SALVO) {
        const double done = (double)first / (double)n;
        const mel_status go_on = mel_report_progress(range->progress, "radius",
                                                     range->from + done * (range->to - range->from), err);
        if (go_on != MEL_OK)
            return go_on;
        const size_t end = n - first < SALVO ? n : first + SALVO;
        bool enough = true;
#pragma omp parallel for schedule(dynamic) num_threads(range->space->threads) reduction(&& : enough)
        for (size_t i = first; i < end; i++)
            enough = fire_one(&shots[i], range) == MEL_OK && enough;
        if (!enough)
            return mel_fail_memory(err, "a ray");
    }
    return MEL_OK;
}

/* --- where to aim ------------------------------------------------------------------------------- */

typedef struct {
    size_t column, one, other; /* other == one: alone */
    double first, second;      /* its numbers at these classes */
    double width;
} aim;

static int by_width(const void *left, const void *right)
{
    const aim *a = left, *b = right;
    if (a->width != b->width)
        return a->width < b->width ? -1 : 1;
    if (a->column != b->column)
        return a->column < b->column ? -1 : 1;
    if (a->one != b->one)
        return a->one < b->one ? -1 : 1;
    if (a->other != b->other)
        return a->other < b->other ? -1 : 1;
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    return a->second < b->second ? -1 : a->second > b->second;
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
                        aims[n] = (aim){ columns ? column : MEL_ALL_COLUMNS,
                                         one,
                                         other,
                                         signs % 2 == 0 ? 1.0 : -1.0,
                                         signs < 2 ? 0.5 : -0.5,
                                         INFINITY };
            }
    return n;
}

/* Widths of the aims first, first + step, ... */
static mel_status measure_aims(aim *aims, size_t n, size_t first, size_t step, const mel_range *range)
{
    mel_status status = MEL_OK;
    gun g = { 0 };
    for (size_t i = first; i < n && status == MEL_OK; i += step) {
        if (i == first || aims[i].column != g.set.column) {
            gun_clear(&g);
            status = gun_init(&g, range, aims[i].column, NULL);
        }
        if (status != MEL_OK)
            break;
        const size_t dim = g.set.set.dim;
        point_at(g.ray, dim, &aims[i]);
        mel_set_step(&g.set.set, g.spare, NULL, g.ray);
        aims[i].width = mel_dot(dim, g.ray, g.spare);
    }
    gun_clear(&g);
    return status;
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
    aim *aims = mel_alloc(n_aims, sizeof *aims);
    bool *seen = mel_alloc_zero(k, sizeof *seen);
    bool enough = aims != NULL && seen != NULL;
    mel_status status = mel_report_progress(range->progress, "radius", range->from, err);
    if (enough && status == MEL_OK) {
        (void)list_aims(aims, k, columns);
#pragma omp parallel for schedule(dynamic) num_threads(space->threads) reduction(&& : enough)
        for (size_t part = 0; part < PARTS; part++)
            enough = measure_aims(aims, n_aims, part, PARTS, range) == MEL_OK && enough;
        qsort(aims, n_aims, sizeof *aims, by_width);
        choose(shots, n, aims, n_aims, k, seen);
        *steps += n_aims;
    }
    free(aims);
    free(seen);
    return status != MEL_OK || enough ? status : mel_fail_memory(err, "directions to aim at");
}
