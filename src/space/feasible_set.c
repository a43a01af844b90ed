#include "space/feasible.h"
#include "space/sample.h"
#include "space/softmax.h"

#include "base/la.h"

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

/* The atom of what is in set->statistics. */
static void read_atom(const mel_group_set *set, double *atom)
{
    const size_t q = set->space->group_size;
    for (size_t c = 0; c < q; c++)
        set->statistics[c] -= set->centre[c];
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
    const bool found =
        mel_rule_search_run(set->search, set->gain, set->value, base + centre, level + centre, best);
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

/* --- a ball that is surely inside --------------------------------------------------------------- */

/* moment[i][j] += sum over the rows of a group of (true class i) x P(class j). */
static void add_rows(double *moment, const mel_space *space, size_t group)
{
    const mel_class_rows *rows = space->self;
    const size_t k = space->n_classes;
    for (size_t s = rows->group_slice[group]; s < rows->group_slice[group + 1]; s++) {
        const mel_slice *slice = &rows->slice[s];
        for (size_t at = slice->first; at < slice->first + slice->n; at++) {
            const size_t r = rows->order != NULL ? rows->order[at] : at;
            const double *p = rows->rows.probability + r * k;
            if (space->evidence == MEL_BY_LABELS)
                mel_axpy(k, 1.0, p, moment + rows->rows.label[r] * k);
            for (size_t i = 0; space->evidence == MEL_BY_MODEL && i < k; i++)
                mel_axpy(k, p[i], p, moment + i * k);
        }
    }
    mel_scale(k * k, 1.0 / (double)space->n_rows, moment);
}

/* The same for a population: integrals of P(i|x) P(j|x)/2 by Gauss-Legendre quadrature with five points on
 * panels in which the probabilities hardly change. p: k numbers. */
static void add_population(double *moment, const mel_space *space, double *p)
{
    static const double node[] = { 0.0, -0.5384693101056831, 0.5384693101056831, -0.9061798459386640,
                                   0.9061798459386640 };
    static const double weight[] = { 0.5688888888888889, 0.4786286704993665, 0.4786286704993665,
                                     0.2369268850561891, 0.2369268850561891 };
    const mel_softmax *population = space->self;
    const size_t k = space->n_classes;
    double steepest = 0.0;
    for (size_t i = 0; i < k; i++)
        steepest = fmax(steepest, fabs(mel_softmax_slope(population, i)));
    const size_t panels = 64 + (size_t)(32.0 * steepest);
    const double half = 1.0 / (double)panels;
    for (size_t m = 0; m < panels; m++)
        for (size_t t = 0; t < sizeof node / sizeof *node; t++) {
            const double x = -1.0 + half * (2.0 * (double)m + 1.0 + node[t]);
            double largest = -INFINITY, sum = 0.0;
            for (size_t i = 0; i < k; i++)
                largest = fmax(largest, -mel_softmax_slope(population, i) * x);
            for (size_t i = 0; i < k; i++) {
                p[i] = exp(-mel_softmax_slope(population, i) * x - largest);
                sum += p[i];
            }
            mel_scale(k, 1.0 / sum, p);
            for (size_t i = 0; i < k; i++)
                mel_axpy(k, weight[t] * half / 2.0 * p[i], p, moment + i * k);
        }
}

/* A decision "predict j with probability 1/k + sum_i A_ij P(i|x)" (rows of A sum to 0) is a mixture of
 * plug-in rules as long as sum_j max_i (A_ij - A_il) <= 1 for every l: for every pair of classes draw a
 * threshold for the difference of their two linear functions. It moves the statistics from the centre by M A,
 * where M_ij = E[1(Y=i) P(j|X)] (rates: given Y=i). With A = M^-1 D for a displacement D of length r,
 * Cauchy-Schwarz bounds the sum by r k sqrt(k - 1) times the longest row of M^-1, off the diagonal; on the
 * diagonal (spread what it gains evenly over the other predictions) by r k times that. */
mel_status mel_space_sure_radius(double *radius, const mel_space *space, size_t group, mel_error *err)
{
    const size_t k = space->n_classes;
    double *moment = mel_alloc_zero(k * k, sizeof *moment);
    double *inverse = mel_alloc_zero(k * k, sizeof *inverse);
    mel_status status = MEL_OK;
    *radius = 0.0;
    if (moment != NULL && inverse != NULL) {
        if (space->n_rows > 0)
            add_rows(moment, space, group);
        else
            add_population(moment, space, inverse);
        memset(inverse, 0, k * k * sizeof *inverse);
        for (size_t i = 0; i < k; i++) {
            inverse[i * (k + 1)] = 1.0;
            if (space->layout.kind == MEL_RATES)
                mel_scale(k, 1.0 / space->cell_share[group * k + i], moment + i * k);
        }
        status = mel_solve(k, moment, k, k, inverse, k, NULL, err);
        double longest = 0.0;
        for (size_t i = 0; i < k; i++)
            longest = fmax(longest, mel_norm2(k, inverse + i * k));
        const double spread = space->layout.coordinates == MEL_OFFDIAGONAL ? sqrt((double)(k - 1)) : 1.0;
        if (status == MEL_OK)
            *radius = 1.0 / ((double)k * spread * longest);
    } else {
        status = mel_fail_memory(err, "a ball");
    }
    free(moment);
    free(inverse);
    return status == MEL_ENUMERIC ? MEL_OK : status;
}
