/* Convex sets that are known only through their linear step: the closest point, by Wolfe's method, and how
 * far a ray goes. */
#include "space/feasible.h"

#include "base/la.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An atom whose distance from the plane of the others, relative to its size, is not above this adds
 * nothing but rounding errors. */
static const double flat = 1e-13;

/* Asks whether to stop. Progress is never reported by two threads at once: whoever finds another one asking
 * goes on. */
static void ask(mel_halt *halt)
{
    const mel_progress *progress = halt->progress;
    if (progress->call == NULL || atomic_exchange(&halt->asking, true))
        return;
    if (!atomic_load(&halt->wanted) && progress->call(progress->user, halt->what, halt->share) != 0)
        atomic_store(&halt->wanted, true);
    atomic_store(&halt->asking, false);
}

mel_status mel_halt_report(mel_halt *halt, double share, mel_error *err)
{
    halt->share = share;
    ask(halt);
    if (!atomic_load(&halt->wanted))
        return MEL_OK;
    return mel_fail(err, MEL_ESTOPPED, "stopped on request while %s", halt->what);
}

bool mel_set_halted(const mel_set *set)
{
    return set->halt != NULL && atomic_load(&set->halt->wanted);
}

void mel_set_step(mel_set *set, double *atom, double *tag, const double *direction)
{
    set->step(set->self, atom, tag, direction);
    set->steps++;
    if (set->halt != NULL && set->steps % set->halt->every == 0)
        ask(set->halt);
}

/* --- corrals ------------------------------------------------------------------------------------ */

enum { WORK = 6 }; /* vectors of dim + 2 numbers */

void mel_corral_free(mel_corral *corral)
{
    free(corral); /* one block */
}

mel_status mel_corral_new(mel_corral **out, size_t dim, size_t n_tag, mel_error *err)
{
    const size_t room = dim + 2, numbers = room * (dim + n_tag + 1 + room + WORK) + dim;
    mel_corral *c = *out = mel_alloc_zero(1, sizeof *c + numbers * sizeof(double));
    if (c == NULL)
        return mel_fail_memory(err, "a corral");
    *c = (mel_corral){ .dim = dim, .n_tag = n_tag, .atom = (double *)(c + 1) };
    c->tag = c->atom + room * dim;
    c->share = c->tag + room * n_tag;
    c->factor = c->share + room;
    c->work = c->factor + room * room;
    c->closest = c->work + WORK * room;
    return MEL_OK;
}

void mel_corral_clear(mel_corral *corral)
{
    corral->n = 0;
}

static double *work_of(const mel_corral *c, size_t index)
{
    return c->work + index * (c->dim + 2);
}

/* x = R^-T x or x = R^-1 x */
static void solve_factor(const mel_corral *c, bool transposed, double *x)
{
    mel_blas_hold();
    cblas_dtrsv(CblasRowMajor, CblasUpper, transposed ? CblasTrans : CblasNoTrans, CblasNonUnit, (int)c->n,
                c->factor, (int)(c->dim + 2), x, 1);
    mel_blas_release();
}

/* Takes from (top, rest) what lies in the span of the lifted atoms: column += coordinates of it in the
 * orthogonal basis that R stands for. */
static void project_out(const mel_corral *c, double *top, double *rest, double *column)
{
    double *r = work_of(c, 1);
    mel_gemv(c->n, c->dim, 1.0, c->atom, c->dim, rest, 0.0, r);
    for (size_t i = 0; i < c->n; i++)
        r[i] += c->scale * *top;
    solve_factor(c, true, r);
    mel_axpy(c->n, 1.0, r, column);
    solve_factor(c, false, r);
    mel_gemv_t(c->n, c->dim, -1.0, c->atom, c->dim, r, 1.0, rest);
    for (size_t i = 0; i < c->n; i++)
        *top -= c->scale * r[i];
}

bool mel_corral_add(mel_corral *c, const double *atom, const double *tag)
{
    const size_t room = c->dim + 2, n = c->n;
    double *rest = work_of(c, 0), *column = work_of(c, 2);
    if (n == 0) {
        c->scale = mel_norm2(c->dim, atom);
        if (!(c->scale > 0.0))
            c->scale = 1.0;
    }
    if (n > c->dim)
        return false;
    double top = c->scale;
    const double size = hypot(top, mel_norm2(c->dim, atom));
    memcpy(rest, atom, c->dim * sizeof *rest);
    memset(column, 0, room * sizeof *column);
    double pivot = size;
    if (n > 0) {
        /* What is left of a vector after one projection has the rounding errors of the whole: once more
         * unless most of it is left. */
        project_out(c, &top, rest, column);
        pivot = hypot(top, mel_norm2(c->dim, rest));
        if (pivot < 0.5 * size) {
            project_out(c, &top, rest, column);
            pivot = hypot(top, mel_norm2(c->dim, rest));
        }
    }
    if (!(pivot > flat * size))
        return false;
    for (size_t i = 0; i < n; i++)
        c->factor[i * room + n] = column[i];
    c->factor[n * room + n] = pivot;
    memcpy(c->atom + n * c->dim, atom, c->dim * sizeof *atom);
    if (c->n_tag > 0)
        memcpy(c->tag + n * c->n_tag, tag, c->n_tag * sizeof *tag);
    c->share[n] = n == 0 ? 1.0 : 0.0;
    c->n++;
    return true;
}

/* Column `at` of R goes; rotations of neighbouring rows make it triangular again. */
static void drop_column(mel_corral *c, size_t at)
{
    const size_t room = c->dim + 2, n = c->n;
    for (size_t i = 0; i < n; i++) {
        const size_t from = i > at ? i : at + 1;
        if (from < n)
            memmove(c->factor + i * room + from - 1, c->factor + i * room + from,
                    (n - from) * sizeof *c->factor);
    }
    for (size_t i = at; i + 1 < n; i++) {
        double *upper = c->factor + i * room, *lower = upper + room;
        const double length = hypot(upper[i], lower[i]);
        const double cosine = upper[i] / length, sine = lower[i] / length;
        upper[i] = length;
        lower[i] = 0.0;
        for (size_t j = i + 1; j + 1 < n; j++) {
            const double u = upper[j], l = lower[j];
            upper[j] = cosine * u + sine * l;
            lower[j] = cosine * l - sine * u;
        }
    }
}

static void drop_atom(mel_corral *c, size_t at)
{
    drop_column(c, at);
    const size_t after = c->n - at - 1;
    memmove(c->atom + at * c->dim, c->atom + (at + 1) * c->dim, after * c->dim * sizeof *c->atom);
    if (c->n_tag > 0)
        memmove(c->tag + at * c->n_tag, c->tag + (at + 1) * c->n_tag, after * c->n_tag * sizeof *c->tag);
    memmove(c->share + at, c->share + at + 1, after * sizeof *c->share);
    c->n--;
}

/* What to add to the shares to get to the point of the atoms' plane that is closest to the target. */
static void toward_plane_point(const mel_corral *c, const double *target, double *move)
{
    double *gap = work_of(c, 0), *one = work_of(c, 1);
    memcpy(gap, target, c->dim * sizeof *gap);
    mel_gemv_t(c->n, c->dim, -1.0, c->atom, c->dim, c->share, 1.0, gap);
    mel_gemv(c->n, c->dim, 1.0, c->atom, c->dim, gap, 0.0, move);
    for (size_t i = 0; i < c->n; i++)
        one[i] = c->scale;
    solve_factor(c, true, move);
    solve_factor(c, true, one);
    mel_axpy(c->n, -mel_dot(c->n, one, move) / mel_dot(c->n, one, one), one, move);
    solve_factor(c, false, move);
}

static void normalise_shares(mel_corral *c)
{
    double sum = 0.0;
    for (size_t i = 0; i < c->n; i++)
        sum += c->share[i];
    mel_scale(c->n, 1.0 / sum, c->share);
}

/* Moves the shares until one of them would fall below 0, and drops that atom. False when the whole move
 * was possible. */
static bool move_to_face(mel_corral *c, const double *move)
{
    const double none = 1e-14; /* shares */
    double step = 1.0;
    size_t first = c->n;
    for (size_t i = 0; i < c->n; i++) {
        if (!(c->share[i] + move[i] <= none) || !(move[i] < 0.0))
            continue;
        const double room = c->share[i] / -move[i];
        if (first == c->n || room < step) {
            step = room < 1.0 ? room : 1.0;
            first = i;
        }
    }
    mel_axpy(c->n, step, move, c->share);
    for (size_t i = 0; i < c->n; i++)
        if (c->share[i] < 0.0)
            c->share[i] = 0.0;
    if (first == c->n || c->n == 1)
        return false;
    drop_atom(c, first);
    return true;
}

double mel_corral_approach(mel_corral *c, const double *target)
{
    double *move = work_of(c, 2);
    bool dropped = true;
    while (dropped && c->n > 1) {
        toward_plane_point(c, target, move);
        if (!mel_all_finite(c->n, move))
            break;
        dropped = move_to_face(c, move);
        normalise_shares(c);
    }
    if (c->n == 1)
        c->share[0] = 1.0;
    mel_gemv_t(c->n, c->dim, 1.0, c->atom, c->dim, c->share, 0.0, c->closest);
    double *gap = work_of(c, 0);
    memcpy(gap, target, c->dim * sizeof *gap);
    mel_axpy(c->dim, -1.0, c->closest, gap);
    return mel_norm2(c->dim, gap);
}

/* --- sets --------------------------------------------------------------------------------------- */

/* direction = (target - closest)/distance */
static void point_at_target(const mel_corral *c, const double *target, double distance, double *direction)
{
    for (size_t i = 0; i < c->dim; i++)
        direction[i] = (target[i] - c->closest[i]) / distance;
}

/* The first atom: what is best toward a target, or in any direction when the target is the origin. */
static void start_corral(mel_corral *c, mel_set *set, const double *target, double *spare)
{
    double *toward = work_of(c, 3);
    memcpy(toward, target, c->dim * sizeof *toward);
    if (mel_norm_inf(c->dim, toward) == 0.0)
        toward[0] = 1.0;
    mel_set_step(set, spare, spare + c->dim, toward);
    (void)mel_corral_add(c, spare, spare + c->dim);
}

/* Rounds without progress, after which rounding errors are all that is left. */
enum { ENOUGH = 8 };

void mel_set_approach(mel_approached *found, mel_set *set, mel_corral *corral, const double *target,
                      const mel_approach *how, double *spare)
{
    const uint64_t last = set->steps + how->budget;
    double *direction = found->direction, shortest = INFINITY;
    int idle = 0;
    if (corral->n == 0)
        start_corral(corral, set, target, spare);
    for (;;) {
        found->distance = mel_corral_approach(corral, target);
        found->close = found->distance <= how->near;
        if (found->close)
            return;
        idle = found->distance < shortest * (1.0 - 4.0 * DBL_EPSILON) ? 0 : idle + 1;
        shortest = fmin(shortest, found->distance);
        point_at_target(corral, target, found->distance, direction);
        mel_set_step(set, spare, spare + corral->dim, direction);
        const double here = mel_dot(corral->dim, direction, corral->closest);
        const double there = mel_dot(corral->dim, direction, spare);
        found->support = fmax(here, there);
        if (there - here <= how->precise * found->distance || idle >= ENOUGH || set->steps >= last ||
            mel_set_halted(set))
            return;
        if (!mel_corral_add(corral, spare, spare + corral->dim))
            return;
    }
}

/* --- along a ray -------------------------------------------------------------------------------- */

enum { PATIENCE = 12 }; /* rounds without progress */

/* If o + t u + e and the ball around o are in a convex set, so is o + t u ball/(ball + |e|). */
static double sure_part(const mel_ray *how, double length, double error)
{
    if (how->inside > 0.0)
        return length * how->inside / (how->inside + error);
    return error <= fmax(how->near, how->precise * length) ? length : 0.0;
}

/* Cuts the ray at the plane that the linear step finds in a direction; keeps the shortest cut. */
static bool cut(mel_stretch *found, const mel_corral *corral, const mel_ray *how, const double *direction,
                double width)
{
    const double slope = mel_dot(corral->dim, direction, how->ray);
    if (!(slope > 0.0) || !(width < found->longest * slope * (1.0 - 4.0 * DBL_EPSILON)))
        return false;
    found->longest = fmax(width, 0.0) / slope;
    found->width = width;
    memcpy(found->normal, direction, corral->dim * sizeof *direction);
    return true;
}

/* The end stands unless trying harder finds something beyond the plane that makes it; then the plane is moved
 * there. */
static bool move_end(mel_stretch *found, mel_set *set, mel_corral *corral, const mel_ray *how, double *spare)
{
    const double further = 1e-3; /* less is not worth it */
    const size_t dim = set->dim;
    double *target = spare, *atom = spare + 2 * dim, *tag = spare + 3 * dim, best = found->width;
    if (set->search == NULL || !(found->width > 0.0) ||
        !set->search(set->self, atom, tag, found->normal, found->width, found->width * (1.0 + further),
                     &best))
        return false;
    const double longer = best / mel_dot(dim, found->normal, how->ray);
    for (size_t i = 0; i < dim; i++)
        target[i] = longer * how->ray[i];
    (void)mel_corral_approach(corral, target); /* makes room when the old end was inside a full simplex */
    if (!mel_corral_add(corral, atom, tag))
        return false;
    found->longest = longer;
    found->width = best;
    return true;
}

/* One round toward the end of the ray as it is now: false when the set says no more about it. */
static bool approach_end(mel_stretch *found, mel_set *set, mel_corral *corral, const mel_ray *how,
                         double *spare)
{
    const size_t dim = set->dim;
    double *target = spare, *direction = spare + dim, *atom = spare + 2 * dim, *tag = spare + 3 * dim;
    for (size_t i = 0; i < dim; i++)
        target[i] = found->longest * how->ray[i];
    found->error = mel_corral_approach(corral, target);
    found->sure = fmax(found->sure, sure_part(how, found->longest, found->error));
    if (found->error <= fmax(how->near, how->precise * found->longest) || found->sure >= how->wanted)
        return false;
    for (size_t i = 0; i < dim; i++)
        direction[i] = (target[i] - corral->closest[i]) / found->error;
    mel_set_step(set, atom, tag, direction);
    const double here = mel_dot(dim, direction, corral->closest), there = mel_dot(dim, direction, atom);
    const bool shorter = cut(found, corral, how, direction, fmax(here, there));
    const bool wider = there > here && mel_corral_add(corral, atom, tag);
    return shorter || wider;
}

void mel_set_stretch(mel_stretch *found, mel_set *set, mel_corral *corral, const mel_ray *how, double *spare)
{
    enum { MOST_MOVES = 32 };
    const size_t dim = set->dim;
    const uint64_t last = set->steps + how->budget;
    double *atom = spare + 2 * dim, *tag = spare + 3 * dim;
    found->longest = INFINITY;
    found->sure = 0.0;
    mel_set_step(set, atom, tag, how->ray);
    (void)cut(found, corral, how, how->ray, mel_dot(dim, how->ray, atom));
    (void)mel_corral_add(corral, atom, tag);
    for (int move = 0; move <= MOST_MOVES; move++) {
        double shortest = INFINITY;
        for (int idle = 0; idle < PATIENCE && set->steps < last && !mel_set_halted(set);) {
            if (!approach_end(found, set, corral, how, spare))
                break;
            idle = found->error < shortest * (1.0 - 1e-9) ? 0 : idle + 1;
            shortest = fmin(shortest, found->error);
        }
        if (found->sure >= how->wanted || move == MOST_MOVES || mel_set_halted(set) ||
            !move_end(found, set, corral, how, spare))
            return;
    }
}
