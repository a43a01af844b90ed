/* The set of one group as the search for a closest point sees it. */
#include "space/feasible.h"

#include "base/la.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- the set of a group ------------------------------------------------------------------------- */

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

static void take_step(void *self, double *atom, double *tag, const double *direction)
{
    mel_group_set *set = self;
    mel_group_set_direction(set->direction, set, direction);
    mel_space_step(set->statistics, set->gain, set->space, set->group, set->direction, set->ws);
    if (set->set.n_tag > 0)
        memcpy(tag, set->gain, set->set.n_tag * sizeof *tag);
    read_atom(set, atom);
}

static bool search_rule(void *self, double *atom, double *tag, const double *direction, double base,
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
    free(set->centre);
    free(set->direction);
    free(set->statistics);
    free(set->gain);
    free(set->value);
    *set = (mel_group_set){ 0 };
}

static mel_status read_centre(double *centre, const mel_space *space, size_t group, mel_error *err)
{
    double *all = mel_alloc(space->size, sizeof *all);
    if (all == NULL)
        return mel_fail_memory(err, "a centre");
    mel_space_centre(all, space);
    memcpy(centre, all + group * space->group_size, space->group_size * sizeof *centre);
    free(all);
    return MEL_OK;
}

mel_status mel_group_set_init(mel_group_set *out, const mel_space *space, size_t group, size_t column,
                              bool tags, bool search, mel_error *err)
{
    const size_t k = space->n_classes, q = space->group_size;
    *out = (mel_group_set){ .space = space, .group = group, .column = column };
    out->centre = mel_alloc(q, sizeof *out->centre);
    out->direction = mel_alloc(q, sizeof *out->direction);
    out->statistics = mel_alloc(q, sizeof *out->statistics);
    out->gain = mel_alloc(k * k, sizeof *out->gain);
    out->value = mel_alloc(k * k, sizeof *out->value);
    if (out->centre == NULL || out->direction == NULL || out->statistics == NULL || out->gain == NULL ||
        out->value == NULL)
        return mel_fail_memory(err, "the statistics of a group");
    mel_status status = mel_workspace_new(&out->ws, space, err);
    if (status == MEL_OK)
        status = read_centre(out->centre, space, group, err);
    search = search && !mel_space_exact(space);
    if (status == MEL_OK && search)
        status = mel_rule_search_new(&out->search, space, group, err);
    out->set = (mel_set){ .dim = column == MEL_ALL_COLUMNS ? q : k,
                          .n_tag = tags ? k * k : 0,
                          .self = out,
                          .step = take_step,
                          .search = search ? search_rule : NULL };
    return status;
}

uint64_t mel_steps_unasked(const mel_space *space)
{
    const double some = 5e5, k = (double)space->n_classes; /* multiplications */
    return 1 + (uint64_t)(some / ((double)space->n_rows * k * (k + 4.0)));
}
