/* The set of one group as the search for a closest point sees it, rays from its centre, and what is surely in
 * it. */
#include "space/feasible.h"

#include "base/la.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One column of gains as coordinates: the entries of the other classes, and in place of the class itself what
 * its own row has in common (gains of a row may be shifted without changing the rule). */
static void from_column(double *direction, size_t k, size_t column, const double *z)
{
    const double part = 1.0 / sqrt((double)(k - 1));
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < k; j++)
            if (i != j)
                direction[i * (k - 1) + j - (j > i)] = i == column ? z[i] * part : j == column ? z[i] : 0.0;
}

static void to_column(double *z, size_t k, size_t column, const double *x)
{
    for (size_t i = 0; i < k; i++)
        if (i != column)
            z[i] = x[i * (k - 1) + column - (column > i)];
    double sum = 0.0;
    for (size_t c = 0; c + 1 < k; c++)
        sum += x[column * (k - 1) + c];
    z[column] = sum / sqrt((double)(k - 1));
}

void mel_group_set_direction(double *out, const mel_group_set *set, const double *direction)
{
    if (set->column == MEL_ALL_COLUMNS)
        memcpy(out, direction, set->set.dim * sizeof *out);
    else
        from_column(out, set->space->n_classes, set->column, direction);
}

/* The known statistics that are better in the direction take the place of those found. */
static void prefer_known(const mel_group_set *set)
{
    const size_t q = set->space->group_size;
    double best = mel_dot(q, set->direction, set->statistics);
    for (size_t i = 0; i < set->n_known; i++) {
        const double there = mel_dot(q, set->direction, set->known + i * q);
        if (there > best) {
            best = there;
            memcpy(set->statistics, set->known + i * q, q * sizeof *set->statistics);
        }
    }
}

/* The atom of what is in set->statistics. */
static void read_atom(const mel_group_set *set, double *atom)
{
    const size_t q = set->space->group_size;
    for (size_t c = 0; c < q; c++)
        set->statistics[c] -= set->centre[c];
    prefer_known(set);
    if (set->column == MEL_ALL_COLUMNS)
        memcpy(atom, set->statistics, q * sizeof *atom);
    else
        to_column(atom, set->space->n_classes, set->column, set->statistics);
}

void mel_group_set_step(mel_group_set *set, const double *direction)
{
    mel_space_step_gains(set->gain, set->space, set->group, direction);
    if (set->hull == NULL) {
        mel_space_step_rule(set->statistics, set->space, set->group, set->gain, set->ws);
        return;
    }
    mel_hull_best(set->ws->confusion, set->hull, set->gain, set->hull_spare);
    mel_space_read(set->statistics, set->space, set->group, 1, set->ws->confusion);
}

static void take_step(void *self, double *atom, double *tag, const double *direction)
{
    mel_group_set *set = self;
    mel_group_set_direction(set->direction, set, direction);
    mel_group_set_step(set, set->direction);
    if (set->set.n_tag > 0)
        memcpy(tag, set->gain, set->set.n_tag * sizeof *tag);
    read_atom(set, atom);
}

static bool search_set_rule(void *self, double *atom, double *tag, const double *direction, double base,
                            double level, double *best)
{
    mel_group_set *set = self;
    mel_group_set_direction(set->direction, set, direction);
    mel_space_step_gains(set->value, set->space, set->group, set->direction);
    const double centre = mel_dot(set->space->group_size, set->direction, set->centre);
    bool found = false;
    if (set->thorough) {
        found = mel_rule_search_run(set->search, set->gain, set->value, base + centre, level + centre, best);
    } else {
        *best = mel_rule_search_climb(set->search, set->gain, set->value, SIZE_MAX);
        found = *best > level + centre;
    }
    *best -= centre;
    if (!found)
        return false;
    mel_space_step_rule(set->statistics, set->space, set->group, set->gain, set->ws);
    if (set->set.n_tag > 0)
        memcpy(tag, set->gain, set->set.n_tag * sizeof *tag);
    read_atom(set, atom);
    *best = mel_dot(set->set.dim, direction, atom);
    return *best > level; /* rows that tie could be predicted otherwise than along the line */
}

void mel_group_set_clear(mel_group_set *set)
{
    mel_workspace_free(set->ws);
    mel_rule_search_free(set->search);
    free(set->hull_spare);
    free(set->centre); /* one block with the other numbers */
    *set = (mel_group_set){ 0 };
}

mel_status mel_group_set_init(mel_group_set *out, const mel_space *space, size_t group, const mel_hull *hull,
                              size_t column, bool tags, bool search, mel_error *err)
{
    const size_t k = space->n_classes, q = space->group_size;
    search = search && !mel_space_exact(space);
    *out = (mel_group_set){ .space = space, .group = group, .column = column, .hull = hull };
    out->set = (mel_set){ .dim = column == MEL_ALL_COLUMNS ? q : k,
                          .n_tag = tags ? k * k : 0,
                          .self = out,
                          .step = take_step,
                          .search = search ? search_set_rule : NULL };
    out->centre = mel_alloc(space->size + 2 * q + 2 * k * k, sizeof *out->centre);
    out->hull_spare = hull != NULL ? mel_alloc(1, mel_hull_spare(hull)) : NULL;
    if (out->centre == NULL || (hull != NULL && out->hull_spare == NULL))
        return mel_fail_memory(err, "the statistics of a group");
    mel_space_centre(out->centre, space);
    memmove(out->centre, out->centre + group * q, q * sizeof *out->centre);
    out->direction = out->centre + space->size;
    out->statistics = out->direction + q;
    out->gain = out->statistics + q;
    out->value = out->gain + k * k;
    TRY(mel_workspace_new(&out->ws, space, err));
    return search ? mel_rule_search_new(&out->search, space, group, err) : MEL_OK;
}

uint64_t mel_steps_unasked(const mel_space *space)
{
    const double some = 5e5, k = (double)space->n_classes; /* multiplications */
    return 1 + (uint64_t)(some / ((double)space->n_rows * k * (k + 4.0)));
}

/* --- rays -------------------------------------------------------------------------------------- */

void mel_ray_caster_clear(mel_ray_caster *caster)
{
    mel_group_set_clear(&caster->set);
    mel_corral_free(caster->corral);
    free(caster->ray); /* one block with the other numbers */
    *caster = (mel_ray_caster){ 0 };
}

mel_status mel_ray_caster_init(mel_ray_caster *out, const mel_space *space, size_t group,
                               const mel_hull *hull, size_t column, bool search, mel_error *err)
{
    *out = (mel_ray_caster){ 0 };
    TRY(mel_group_set_init(&out->set, space, group, hull, column, false, search, err));
    const size_t dim = out->set.set.dim;
    TRY(mel_corral_new(&out->corral, dim, 0, err));
    out->ray = mel_alloc(5 * dim, sizeof *out->ray);
    if (out->ray == NULL)
        return mel_fail_memory(err, "a ray");
    out->normal = out->ray + dim;
    out->spare = out->normal + dim;
    return MEL_OK;
}

/* --- what is surely achievable ------------------------------------------------------------------ */

/* What is surely achievable, without any search.
 *
 * A decision "predict j with probability 1/k + sum_i A_ij P(i|x)" (rows of A sum to 0) is a mixture of
 * plug-in rules as long as sum_j max_i (A_ij - A_il) <= 1 for every l: for every pair of classes draw a
 * threshold for the difference of their two linear functions. It moves the statistics from the centre by D =
 * M A, where M_ij = E[1(Y=i) P(j|X)] (rates: given Y=i). So a displacement D is achievable when A = M^-1 D
 * meets the condition. */

void mel_sure_clear(mel_sure *sure)
{
    free(sure->inverse);
    *sure = (mel_sure){ 0 };
}

/* sum[i][j]: over the rows of a slice, of (true class i) x P(class j). */
static void add_products(double *sum, const mel_slice *slice, size_t thread, void *user)
{
    (void)thread;
    const mel_space *space = user;
    const mel_class_rows *rows = &space->rows;
    const size_t k = space->n_classes;
    memset(sum, 0, k * k * sizeof *sum);
    for (size_t at = slice->first; at < slice->first + slice->n; at++) {
        const size_t r = rows->order != NULL ? rows->order[at] : at;
        const double *p = rows->rows.probability + r * k;
        if (space->evidence == MEL_BY_LABELS)
            mel_axpy(k, 1.0, p, sum + rows->rows.label[r] * k);
        for (size_t i = 0; space->evidence == MEL_BY_MODEL && i < k; i++)
            mel_axpy(k, p[i], p, sum + i * k);
    }
}

/* M of a group; its rows are scaled where statistics are rates. */
static mel_status fill_moment(double *moment, const mel_space *space, size_t group, mel_error *err)
{
    const mel_class_rows *rows = &space->rows;
    const size_t k = space->n_classes, cells = k * k, first = rows->group_slice[group];
    const mel_slice_sums sums = { .slice = rows->slice + first,
                                  .n = rows->group_slice[group + 1] - first,
                                  .size = cells,
                                  .threads = space->threads,
                                  .fill = add_products,
                                  .user = (void *)(uintptr_t)space };
    MEL_AUTO_MEMORY double *room = mel_alloc(mel_slices_at_a_time(sums.n, cells), cells * sizeof *room);
    if (room == NULL)
        return mel_fail_memory(err, "sums over rows");
    mel_slices_sum(moment, group, rows, &sums, room);
    mel_scale(cells, 1.0 / (double)space->n_rows, moment);
    for (size_t i = 0; space->layout.kind == MEL_RATES && i < k; i++)
        mel_scale(k, 1.0 / space->cell_share[group * k + i], moment + i * k);
    return MEL_OK;
}

/* Cauchy-Schwarz bounds the sum of the condition for a displacement of length r by r k sqrt(k - 1) times the
 * longest row of M^-1, off the diagonal; on the diagonal by r k times that. */
static double sure_radius(const mel_space *space, const double *inverse)
{
    const size_t k = space->n_classes;
    double longest = 0.0;
    for (size_t i = 0; i < k; i++)
        longest = fmax(longest, mel_norm2(k, inverse + i * k));
    const double spread = space->layout.coordinates == MEL_OFFDIAGONAL ? sqrt((double)(k - 1)) : 1.0;
    return 1.0 / ((double)k * spread * longest);
}

mel_status mel_sure_init(mel_sure *out, const mel_space *space, size_t group, mel_error *err)
{
    const size_t k = space->n_classes;
    MEL_AUTO_MEMORY double *moment = mel_alloc_zero(k * k, sizeof *moment);
    *out = (mel_sure){ .space = space, .inverse = mel_alloc_zero(k * k, sizeof *out->inverse) };
    if (moment == NULL || out->inverse == NULL)
        return mel_fail_memory(err, "a ball");
    TRY(fill_moment(moment, space, group, err));
    for (size_t i = 0; i < k; i++)
        out->inverse[i * (k + 1)] = 1.0;
    const mel_status status = mel_solve(k, moment, k, k, out->inverse, k, NULL, err);
    if (status == MEL_OK)
        out->radius = sure_radius(space, out->inverse);
    else
        mel_sure_clear(out);
    return status == MEL_ENUMERIC ? MEL_OK : status; /* M is singular: nothing is known */
}

/* The displacement of the full k x k statistics; what the diagonal leaves open is spread evenly. */
static void displacement(double *d, const mel_space *space, const double *direction)
{
    const size_t k = space->n_classes;
    for (size_t i = 0; i < k; i++) {
        double *row = d + i * k;
        if (space->layout.coordinates == MEL_OFFDIAGONAL) {
            row[i] = 0.0;
            for (size_t j = 0; j < k; j++)
                if (j != i) {
                    row[j] = direction[i * (k - 1) + j - (j > i)];
                    row[i] -= row[j];
                }
            continue;
        }
        const double own = direction[space->layout.coordinates == MEL_BINARY ? 1 - i : i];
        for (size_t j = 0; j < k; j++)
            row[j] = j == i ? own : -own / (double)(k - 1);
    }
}

double mel_sure_stretch(const mel_sure *sure, const double *direction, double *spare)
{
    if (sure->inverse == NULL)
        return 0.0;
    const size_t k = sure->space->n_classes;
    double *d = spare, *a = spare + k * k, largest = 0.0;
    displacement(d, sure->space, direction);
    mel_gemm(false, false, k, k, k, 1.0, sure->inverse, k, d, k, 0.0, a, k);
    for (size_t l = 0; l < k; l++) {
        double sum = 0.0;
        for (size_t j = 0; j < k; j++) {
            double most = -INFINITY;
            for (size_t i = 0; i < k; i++)
                most = fmax(most, a[i * k + j] - a[i * k + l]);
            sum += most; /* 0 for j = l */
        }
        largest = fmax(largest, sum);
    }
    return 1.0 / largest;
}
