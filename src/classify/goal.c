/* Goals: measures with their shape. */
#include "classify/goal.h"

#include "base/la.h"
#include "base/layout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Eigenvalues that rounding explains, as a share of the largest entry. */
static const double definite = 1e-10;

void mel_goal_clear(mel_goal *goal)
{
    mel_measure_free(goal->measure);
    free(goal->seen);
    mel_program_clear(&goal->program);
    *goal = (mel_goal){ 0 };
}

size_t mel_goal_masses(const mel_goal *goal)
{
    return goal->pooled ? goal->k : goal->n_groups * goal->k;
}

static size_t seen_size(const mel_goal *goal)
{
    return mel_goal_masses(goal) * goal->d;
}

const double *mel_goal_seen(const mel_goal *goal, const double *x)
{
    const size_t each = goal->k * goal->d;
    if (goal->seen == NULL)
        return x;
    memset(goal->seen, 0, seen_size(goal) * sizeof *goal->seen);
    for (size_t g = 0; g < goal->n_groups; g++)
        mel_axpy(each, 1.0, x + g * each, goal->seen);
    return goal->seen;
}

double mel_goal_mass(const mel_goal *goal, const mel_steps *steps, size_t r)
{
    double sum = 0.0;
    for (; r < goal->n_groups * goal->k; r += mel_goal_masses(goal))
        sum += steps->mass[mel_steps_row(steps, r / goal->k, r % goal->k)];
    return sum;
}

/* --- values ------------------------------------------------------------------------------------- */

mel_status mel_goal_value(double *out, const mel_goal *goal, const double *x, mel_error *err)
{
    if (goal->kind == MEL_SHAPE_LINEAR) {
        *out = mel_dot(goal->size, goal->program.c, x) + goal->program.constant;
        return MEL_OK;
    }
    if (goal->measure == NULL) {
        *out = mel_program_value(&goal->program, x);
        return MEL_OK;
    }
    TRY(mel_measure_value(out, goal->measure, mel_goal_seen(goal, x), err));
    *out *= goal->sign;
    return MEL_OK;
}

/* d value / d x by differences, for measures that do not say: what moving a little of each class's share to
 * decision j gains; exact to second order. x is put back as it was. */
static mel_status slope_by_moves(double *out, const mel_goal *goal, double *x, double part, mel_error *err)
{
    const size_t d = goal->d;
    double now = 0.0, once = 0.0, twice = 0.0;
    TRY(mel_measure_value(&now, goal->measure, x, err));
    for (size_t r = 0; r < seen_size(goal) / d; r++) {
        double *row = x + r * d;
        size_t from = 0;
        for (size_t j = 1; j < d; j++)
            from = row[j] > row[from] ? j : from;
        const double step = part * row[from] / 2.0;
        for (size_t j = 0; j < d; j++) {
            const double there = row[j], here = row[from];
            out[r * d + j] = 0.0;
            if (j == from || step == 0.0)
                continue;
            row[j] = there + step;
            row[from] = here - step;
            TRY(mel_measure_value(&once, goal->measure, x, err));
            row[j] = there + 2.0 * step;
            row[from] = here - 2.0 * step;
            TRY(mel_measure_value(&twice, goal->measure, x, err));
            row[j] = there;
            row[from] = here;
            out[r * d + j] = (4.0 * once - 3.0 * now - twice) / (2.0 * step);
        }
    }
    return MEL_OK;
}

/* By what the measure sees. A linear one may be asked at any distance, which is exact. */
static mel_status seen_slope(double *out, const mel_goal *goal, const double *at, mel_error *err)
{
    if (mel_measure_has_gradient(goal->measure))
        return mel_measure_gradient(out, goal->measure, at, err);
    MEL_AUTO_MEMORY double *copy = mel_alloc(seen_size(goal), sizeof *copy);
    if (copy == NULL)
        return mel_fail_memory(err, "a slope");
    memcpy(copy, at, seen_size(goal) * sizeof *copy);
    return slope_by_moves(out, goal, copy, goal->kind == MEL_SHAPE_LINEAR ? 1.0 : 1e-4, err);
}

static mel_status measure_slope(double *out, const mel_goal *goal, const double *x, mel_error *err)
{
    const size_t each = goal->k * goal->d;
    TRY(seen_slope(out, goal, mel_goal_seen(goal, x), err));
    for (size_t g = 1; g < goal->n_groups && goal->seen != NULL; g++)
        memcpy(out + g * each, out, each * sizeof *out);
    return MEL_OK;
}

mel_status mel_goal_gradient(double *out, const mel_goal *goal, const double *x, mel_error *err)
{
    if (goal->kind == MEL_SHAPE_LINEAR) {
        memcpy(out, goal->program.c, goal->size * sizeof *out);
        return MEL_OK;
    }
    TRY(measure_slope(out, goal, x, err));
    for (size_t i = 0; i < goal->size; i++)
        out[i] *= goal->sign;
    return MEL_OK;
}

double mel_goal_at(const mel_goal *goal, const double *x)
{
    double value = 0.0;
    return mel_goal_value(&value, goal, x, NULL) == MEL_OK && isfinite(value) ? value : -INFINITY;
}

double mel_goal_violation(const mel_goal *goal, const double *x)
{
    const mel_program *p = &goal->program;
    double sum = 0.0;
    for (size_t t = 0; t < p->n_terms; t++)
        if (p->term[t].kind == MEL_TERM_LIMIT && p->term[t].level == MEL_NO_LEVEL)
            sum += fmax(0.0, mel_program_term(p, &p->term[t], x) - p->term[t].f);
    /* Limits about one level: the level that serves them best is the largest lower end. */
    for (size_t l = 0; l < p->n_levels; l++) {
        double low = 0.0, high = INFINITY;
        for (size_t t = 0; t < p->n_terms; t++) {
            if (p->term[t].kind != MEL_TERM_LIMIT || p->term[t].level != (long)l)
                continue;
            const double end = (p->term[t].f - mel_program_term(p, &p->term[t], x)) / p->term[t].level_factor;
            if (p->term[t].level_factor < 0.0)
                low = fmax(low, end);
            else
                high = fmin(high, end);
        }
        sum += fmax(0.0, low - high);
    }
    return sum;
}

/* --- metrics ------------------------------------------------------------------------------------ */

/* Coordinate c of the layout is which of x. */
static size_t place_of_coordinate(const mel_goal *goal, const mel_layout *layout, size_t c)
{
    const size_t each = mel_layout_size(layout) / goal->n_groups;
    const size_t cell = mel_layout_cell(layout, c % each);
    return (c / each * goal->k + cell / goal->k) * goal->d + cell % goal->k;
}

/* What a share is divided by to be the statistic: 1, or what its class has in its group. */
static double scale_of(const mel_goal *goal, const mel_layout *layout, const mel_steps *steps, size_t place)
{
    return layout->kind == MEL_RATES ? steps->mass[place / goal->d] : 1.0;
}

static mel_status add_gap(mel_goal *goal, const mel_steps *steps, size_t first, size_t second, double weight,
                          mel_error *err)
{
    const mel_layout *layout = mel_metric_layout(goal->metric);
    const mel_term term = { .kind = MEL_TERM_ABSOLUTE, .weight = weight, .level = MEL_NO_LEVEL };
    const size_t u = place_of_coordinate(goal, layout, first), v = place_of_coordinate(goal, layout, second);
    TRY(mel_program_add(&goal->program, term, err));
    TRY(mel_program_entry(&goal->program, u, 1.0 / scale_of(goal, layout, steps, u), err));
    return mel_program_entry(&goal->program, v, -1.0 / scale_of(goal, layout, steps, v), err);
}

/* The linear part of a fair metric, as a utility. */
static void put_mistakes(mel_goal *goal, const mel_steps *steps)
{
    const mel_layout *layout = mel_metric_layout(goal->metric);
    const size_t n = mel_layout_size(layout), each = n / goal->n_groups;
    const double *a = mel_metric_numerator(goal->metric, NULL), *share = mel_metric_prevalence(goal->metric);
    const double lambda = mel_metric_lambda(goal->metric);
    for (size_t c = 0; c < n; c++) {
        const size_t at = place_of_coordinate(goal, layout, c);
        const size_t class_code = at / goal->d % goal->k;
        goal->program.c[at] -= (1.0 - lambda) * a[c % each] * share[c / each * goal->k + class_code] /
                               scale_of(goal, layout, steps, at);
    }
}

/* Fair linear metrics: kinked, unless a difference between groups is rewarded. */
static mel_status shape_fair_linear(mel_goal *goal, const mel_steps *steps, mel_error *err)
{
    const mel_layout *layout = mel_metric_layout(goal->metric);
    const size_t m = layout->n_groups, each = mel_layout_size(layout) / m;
    const double lambda = mel_metric_lambda(goal->metric);
    goal->kind = MEL_SHAPE_KINKED;
    for (size_t u = 0; u < m; u++)
        for (size_t v = u + 1; v < m; v++)
            for (size_t c = 0; c < each; c++) {
                const double weight = lambda * mel_metric_pair(goal->metric, u, v)[c];
                if (weight < 0.0)
                    goal->kind = MEL_SHAPE_LOCAL;
                else if (weight > 0.0)
                    TRY(add_gap(goal, steps, u * each + c, v * each + c, weight, err));
            }
    if (goal->kind == MEL_SHAPE_KINKED)
        put_mistakes(goal, steps);
    else
        goal->program.n_terms = 0;
    return MEL_OK;
}

/* Whether sign times a symmetric matrix bends downwards everywhere. */
static mel_status bends_down(bool *out, size_t n, const double *matrix, double sign, mel_error *err)
{
    MEL_AUTO_MEMORY double *copy = mel_alloc(n * n, sizeof *copy);
    if (copy == NULL)
        return mel_fail_memory(err, "a matrix");
    const double slack = definite * (mel_norm_inf(n * n, matrix) + definite);
    for (size_t i = 0; i < n * n; i++)
        copy[i] = -sign * matrix[i] + (i % (n + 1) == 0 ? slack : 0.0);
    const mel_status status = mel_cholesky(n, copy, n, NULL);
    *out = status == MEL_OK;
    return status == MEL_ENOMEM ? mel_fail_memory(err, "a matrix") : MEL_OK;
}

static mel_status shape_curved(mel_goal *goal, mel_error *err)
{
    const mel_layout *layout = mel_metric_layout(goal->metric);
    const size_t n = mel_layout_size(layout), m = goal->n_groups;
    const mel_family_facts *is = mel_family_about(mel_metric_family(goal->metric));
    bool down = false;
    goal->kind = MEL_SHAPE_LOCAL;
    if (mel_metric_degree(goal->metric) != 2)
        return MEL_OK;
    if (!is->groups) {
        TRY(bends_down(&down, n, mel_metric_tensor(goal->metric, 2), goal->sign, err));
    } else {
        down = true;
        for (size_t u = 0; u < m && down; u++)
            for (size_t v = u + 1; v < m && down; v++)
                TRY(bends_down(&down, n / m, mel_metric_pair(goal->metric, u, v), -1.0, err));
    }
    goal->kind = down ? MEL_SHAPE_CONCAVE : MEL_SHAPE_LOCAL;
    return MEL_OK;
}

/* --- measures by name: quantities that are compared, and the smallest recall --------------------- */

/* R^g_ij, or with i = k the share of decisions j in group g, as entries of the last term. */
static mel_status add_quantity(mel_goal *goal, const mel_steps *steps, size_t i, size_t j, size_t g,
                               double by, mel_error *err)
{
    const size_t k = goal->k, first = mel_steps_row(steps, g, 0);
    double mass = 0.0;
    for (size_t c = 0; c < k; c++)
        mass += i == k || c == i ? steps->mass[first + c] : 0.0;
    for (size_t c = 0; c < k; c++)
        if (i == k || c == i)
            TRY(mel_program_entry(&goal->program, (first + c) * goal->d + j, by / mass, err));
    return MEL_OK;
}

/* All pairs of groups: the sum of |differences|, or only the largest, of all that is compared. */
static mel_status add_pairs(mel_goal *goal, const mel_steps *steps, size_t i, size_t j, bool largest,
                            double weight, mel_error *err)
{
    const mel_term absolute = { .kind = MEL_TERM_ABSOLUTE, .weight = weight, .level = MEL_NO_LEVEL };
    const mel_term smallest = { .kind = MEL_TERM_SMALLEST, .level = MEL_NO_LEVEL };
    for (size_t u = 0; u < goal->n_groups; u++)
        for (size_t v = u + 1; v < goal->n_groups; v++)
            for (int side = 0; side < (largest ? 2 : 1); side++) {
                const double by = (side == 0 ? 1.0 : -1.0) * (largest ? weight : 1.0);
                TRY(mel_program_add(&goal->program, largest ? smallest : absolute, err));
                TRY(add_quantity(goal, steps, i, j, u, by, err));
                TRY(add_quantity(goal, steps, i, j, v, -by, err));
            }
    return MEL_OK;
}

/* The smallest of weighted recalls less their weights counts, or of the recalls themselves. */
static mel_status add_smallest_recall(mel_goal *goal, const mel_steps *steps, bool errors, mel_error *err)
{
    for (size_t r = 0; r < mel_goal_masses(goal); r++) {
        const double weight = errors ? mel_compared_weight(goal->measure, r % goal->k, r % goal->k) : 1.0;
        const mel_term term = { .kind = MEL_TERM_SMALLEST,
                                .f = errors ? -weight : 0.0,
                                .level = MEL_NO_LEVEL };
        const double by = weight / mel_goal_mass(goal, steps, r);
        TRY(mel_program_add(&goal->program, term, err));
        for (size_t s = r; s < goal->n_groups * goal->k; s += mel_goal_masses(goal))
            TRY(mel_program_entry(&goal->program,
                                  mel_steps_row(steps, s / goal->k, s % goal->k) * goal->d + s % goal->k, by,
                                  err));
    }
    return MEL_OK;
}

/* The terms of a measure that is linear but for absolute values or a smallest term. */
static mel_status add_kinks(mel_goal *goal, const mel_steps *steps, mel_error *err)
{
    mel_compared what = MEL_COMPARED_RECALLS;
    mel_gap gap = MEL_GAP_LARGEST;
    const bool rates = mel_measure_compared(&what, &gap, goal->measure);
    const size_t k = goal->k;
    goal->program.smallest_weight = 1.0;
    if (!rates || what == MEL_COMPARED_RECALLS)
        return add_smallest_recall(goal, steps, rates, err);
    for (size_t q = 0; q < (k + 1) * k; q++) {
        const double weight = mel_compared_weight(goal->measure, q / k, q % k);
        const bool largest = gap == MEL_GAP_LARGEST && what != MEL_COMPARED_ERRORS;
        if (weight > 0.0)
            TRY(add_pairs(goal, steps, q / k, q % k, largest, weight, err));
    }
    return MEL_OK;
}

void mel_goal_uniform(double *x, const mel_goal *goal, const mel_steps *steps)
{
    for (size_t i = 0; i < goal->size; i++)
        x[i] = steps->mass[i / goal->d] / (double)goal->d;
}

/* c of a measure whose slope is the same everywhere. */
static mel_status put_constant_slope(mel_goal *goal, const mel_steps *steps, mel_error *err)
{
    double value = 0.0;
    MEL_AUTO_MEMORY double *centre = mel_alloc(goal->size, sizeof *centre);
    if (centre == NULL)
        return mel_fail_memory(err, "a goal");
    mel_goal_uniform(centre, goal, steps);
    TRY(mel_measure_value(&value, goal->measure, mel_goal_seen(goal, centre), err));
    TRY(measure_slope(goal->program.c, goal, centre, err));
    mel_scale(goal->size, goal->sign, goal->program.c);
    goal->program.constant = goal->sign * value - mel_dot(goal->size, goal->program.c, centre);
    return MEL_OK;
}

static mel_status begin_goal(mel_goal *out, const mel_steps *steps, mel_error *err)
{
    *out = (mel_goal){
        .k = steps->n_classes, .d = steps->n_classes, .n_groups = steps->n_groups, .refer_cost = NAN
    };
    out->size = out->n_groups * out->k * out->d;
    return mel_program_init(&out->program, out->size, err);
}

/* The measure is there: its sign, and whether it sees groups. Rates of what has no rows are 0/0. */
static mel_status take_measure(mel_goal *goal, const mel_steps *steps, mel_error *err)
{
    const size_t m = mel_measure_groups(goal->measure);
    goal->sign = mel_measure_orientation(goal->measure) == MEL_COST ? -1.0 : 1.0;
    mel_measure_call(goal->measure, steps->called.class_name, steps->called.group_name);
    goal->pooled = m != goal->n_groups;
    if (goal->pooled) {
        goal->seen = mel_alloc_zero(seen_size(goal), sizeof *goal->seen);
        if (goal->seen == NULL)
            return mel_fail_memory(err, "a goal");
    }
    for (size_t r = 0; r < m * goal->k && !mel_measure_by_shares(goal->measure); r++)
        if (!(mel_goal_mass(goal, steps, r) > 0.0))
            return mel_fail_no_rows(err, &steps->called, m, r / goal->k, r % goal->k);
    return MEL_OK;
}

mel_status mel_goal_of_metric(mel_goal *out, const mel_metric *metric, const mel_steps *steps, mel_error *err)
{
    const mel_family_facts *is = mel_family_about(mel_metric_family(metric));
    const bool apart = mel_metric_layout(metric)->n_groups > 1 || steps->n_groups == 1;
    TRY(begin_goal(out, steps, err));
    TRY(mel_measure_metric(&out->measure, metric, steps->n_classes, apart ? steps->n_groups : 0, err));
    TRY(take_measure(out, steps, err));
    out->metric = metric;
    out->kind = is->ratio ? MEL_SHAPE_RATIO : MEL_SHAPE_LINEAR;
    if (is->groups && mel_metric_degree(metric) == 1)
        return shape_fair_linear(out, steps, err);
    if (mel_metric_degree(metric) > 1)
        return shape_curved(out, err);
    return out->kind == MEL_SHAPE_LINEAR ? put_constant_slope(out, steps, err) : MEL_OK;
}

mel_status mel_goal_of_terms(mel_goal *out, const mel_steps *steps, mel_error *err)
{
    TRY(begin_goal(out, steps, err));
    out->kind = MEL_SHAPE_KINKED;
    out->sign = -1.0;
    return MEL_OK;
}

mel_status mel_goal_named(mel_goal *out, const char *name, const mel_steps *steps, mel_error *err)
{
    TRY(begin_goal(out, steps, err));
    TRY(mel_measure_together(&out->measure, name, steps->n_classes, steps->n_groups, err));
    TRY(take_measure(out, steps, err));
    out->kind = mel_measure_shape(out->measure);
    if (out->kind == MEL_SHAPE_KINKED)
        return add_kinks(out, steps, err);
    return out->kind == MEL_SHAPE_LINEAR ? put_constant_slope(out, steps, err) : MEL_OK;
}

/* --- a third decision --------------------------------------------------------------------------- */

/* The smallest gain that a mistake gives away; 0: there are no mistakes. */
static double cheapest_mistake(const mel_goal *goal)
{
    const size_t k = goal->k;
    double least = INFINITY;
    for (size_t r = 0; r < goal->n_groups * goal->k; r++) {
        const double *c = goal->program.c + r * k;
        for (size_t j = 0; j < k; j++)
            if (c[r % k] - c[j] > 0.0)
                least = fmin(least, c[r % k] - c[j]);
    }
    return isfinite(least) ? least : 0.0;
}

mel_status mel_goal_refer(mel_goal *goal, double cost, mel_error *err)
{
    const size_t k = goal->k, d = k + 1, rows = goal->n_groups * goal->k;
    if (goal->kind != MEL_SHAPE_LINEAR)
        return mel_fail(
            err, MEL_EINVAL,
            "referring cases is for metrics that are a weighted sum: elsewhere its cost has no unit");
    const double unit = cheapest_mistake(goal);
    if (!(unit > 0.0))
        return mel_fail(err, MEL_EINVAL, "the metric rewards mistakes: there is nothing to refer a case for");
    double *wider = mel_alloc_zero(rows * d, sizeof *wider);
    if (wider == NULL)
        return mel_fail_memory(err, "a goal");
    for (size_t r = 0; r < rows; r++) {
        const double *c = goal->program.c + r * k;
        memcpy(wider + r * d, c, k * sizeof *c);
        wider[r * d + k] = c[r % k] - cost * unit;
    }
    free(goal->program.c);
    goal->program.c = wider;
    goal->program.size = goal->size = rows * d;
    goal->d = d;
    goal->refer_cost = cost * unit;
    return MEL_OK;
}
