/* The best rule for a measure on rows: evidence, goal, limits, solution, classifier. */
#include "classify/build.h"
#include "classify/classify.h"
#include "classify/limits.h"
#include "classify/solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void mel_rule_options_init(mel_rule_options *opt)
{
    *opt = (mel_rule_options){ .struct_size = sizeof *opt,
                               .evidence = MEL_BY_MODEL,
                               .refer_cost = NAN,
                               .tolerance = 1e-7,
                               .most_steps = 2000,
                               .starts = 12,
                               .seed = 1 };
}

void mel_rule_report_clear(mel_rule_report *report)
{
    free(report->achieved);
    free(report->price);
    free(report->shares);
    *report = (mel_rule_report){ 0 };
}

/* --- evidence ----------------------------------------------------------------------------------- */

/* What rules are found on: rows as the steps see them, with the memory behind. */
typedef struct {
    mel_step_rows rows;
    double *probability, *weight, *score;
} evidence;

static void evidence_clear(evidence *e)
{
    free(e->probability);
    free(e->weight);
    free(e->score);
}

/* Costs of rows: the probabilities weighed by them, and what a row then counts. */
static void put_costs(evidence *e, const mel_rule_rows *rows, const mel_rule_options *opt)
{
    const size_t k = rows->n_classes;
    for (size_t r = 0; r < rows->n_rows; r++) {
        double *p = e->probability + r * k, sum = 0.0;
        for (size_t i = 0; i < k; i++)
            sum += p[i] *= rows->row_cost[r * k + i];
        for (size_t i = 0; i < k && sum > 0.0; i++)
            p[i] /= sum;
        e->weight[r] *= opt->evidence == MEL_BY_LABELS ? rows->row_cost[r * k + rows->label[r]] : sum;
    }
}

/* By labels, classes that are to have other shares: their rows count more or less. */
static void put_shares(evidence *e, const mel_rule_rows *rows, const double *share)
{
    const size_t k = rows->n_classes;
    for (size_t i = 0; i < k; i++) {
        double count = 0.0, total = 0.0;
        for (size_t r = 0; r < rows->n_rows; r++) {
            const double weight = rows->weight != NULL ? rows->weight[r] : 1.0;
            total += weight;
            count += rows->label[r] == i ? weight : 0.0;
        }
        for (size_t r = 0; r < rows->n_rows && count > 0.0; r++)
            e->weight[r] *= rows->label[r] == i ? share[i] * total / count : 1.0;
    }
}

/* Two classes: thresholds are on the model's own probability, as adjusting keeps the order of the rows. */
static bool keeps_scores(const mel_rule_rows *rows, const mel_rule_options *opt)
{
    return rows->n_classes == 2 && rows->row_cost == NULL && isnan(opt->refer_cost);
}

static mel_status make_evidence(evidence *e, const mel_rule_rows *rows, const mel_rule_options *opt,
                                mel_error *err)
{
    const size_t n = rows->n_rows, k = rows->n_classes;
    const bool reweigh =
        rows->row_cost != NULL || (opt->class_share != NULL && opt->evidence == MEL_BY_LABELS);
    e->probability = mel_alloc(n * k, sizeof *e->probability);
    e->weight = mel_alloc(n, sizeof *e->weight);
    e->score = mel_alloc(n, sizeof *e->score);
    if (e->probability == NULL || e->weight == NULL || e->score == NULL)
        return mel_fail_memory(err, "the rows of a rule");
    memcpy(e->probability, rows->probability, n * k * sizeof *e->probability);
    if (opt->adjustment != NULL)
        mel_adjust(e->probability, opt->adjustment, n, rows->probability);
    for (size_t r = 0; r < n; r++) {
        e->weight[r] = rows->weight != NULL ? rows->weight[r] : 1.0;
        e->score[r] = rows->probability[r * k + k - 1];
    }
    if (opt->class_share != NULL && opt->evidence == MEL_BY_LABELS)
        put_shares(e, rows, opt->class_share);
    if (rows->row_cost != NULL)
        put_costs(e, rows, opt);
    e->rows = (mel_step_rows){ .n_rows = n,
                               .n_classes = k,
                               .n_groups = rows->n_groups,
                               .probability = e->probability,
                               .label = rows->label,
                               .group = rows->group,
                               .weight = rows->weight != NULL || reweigh ? e->weight : NULL,
                               .score = keeps_scores(rows, opt) ? e->score : NULL,
                               .evidence = opt->evidence,
                               .one_block = opt->group_use == MEL_GROUP_UNSEEN && rows->n_groups > 1,
                               .refer = !isnan(opt->refer_cost),
                               .threads = opt->threads };
    return MEL_OK;
}

static mel_status check_row(const mel_rule_rows *rows, size_t r, mel_error *err)
{
    const size_t k = rows->n_classes;
    double sum = 0.0;
    for (size_t i = 0; i < k; i++) {
        const double p = rows->probability[r * k + i];
        if (!(p >= -1e-6 && p <= 1.0 + 1e-6))
            return mel_fail(err, MEL_EDATA, "row %zu: the probability of class %zu is %g", r + 1, i + 1, p);
        if (rows->row_cost != NULL &&
            !(rows->row_cost[r * k + i] >= 0.0 && isfinite(rows->row_cost[r * k + i])))
            return mel_fail(err, MEL_EDATA, "row %zu: a cost of %g", r + 1, rows->row_cost[r * k + i]);
        sum += p;
    }
    if (!(fabs(sum - 1.0) <= 1e-6))
        return mel_fail(err, MEL_EDATA, "row %zu: the probabilities add up to %g, not 1", r + 1, sum);
    if (rows->label[r] >= k || (rows->n_groups > 1 && rows->group[r] >= rows->n_groups))
        return mel_fail(err, MEL_EDATA, "row %zu: its class or group is out of range", r + 1);
    if (rows->weight != NULL && !(rows->weight[r] >= 0.0 && isfinite(rows->weight[r])))
        return mel_fail(err, MEL_EDATA, "row %zu: a weight of %g", r + 1, rows->weight[r]);
    return MEL_OK;
}

static mel_status check_rows(const mel_rule_rows *rows, mel_error *err)
{
    if (rows->n_rows == 0 || rows->n_classes < 2)
        return mel_fail(err, MEL_EDATA, "a rule needs rows of two or more classes");
    if (rows->n_groups > 1 && rows->group == NULL)
        return mel_fail(err, MEL_EINVAL, "%zu groups, but no groups of the rows", rows->n_groups);
    mel_status status = MEL_OK;
    for (size_t r = 0; r < rows->n_rows && status == MEL_OK; r++)
        status = check_row(rows, r, err);
    return status;
}

/* Rates of what has no rows are 0/0. */
static mel_status check_mass(const mel_steps *steps, mel_error *err)
{
    for (size_t c = 0; c < steps->n_groups * steps->n_classes; c++)
        if (!(steps->mass[c] > 0.0))
            return steps->n_groups > 1 ? mel_fail(err, MEL_EDATA, "no row of group %zu is of class %zu",
                                                  c / steps->n_classes + 1, c % steps->n_classes + 1)
                                       : mel_fail(err, MEL_EDATA, "no row is of class %zu", c + 1);
    return MEL_OK;
}

/* --- finding it --------------------------------------------------------------------------------- */

typedef struct {
    evidence evidence;
    mel_steps *steps;
    mel_goal goal;
    mel_vertices pool;
    mel_solution solution;
} work;

static void work_clear(work *w)
{
    mel_solution_clear(&w->solution);
    mel_vertices_clear(&w->pool);
    mel_goal_clear(&w->goal);
    mel_steps_free(w->steps);
    evidence_clear(&w->evidence);
}

static mel_status make_goal(work *w, const mel_metric *metric, const char *name, const mel_rule_options *opt,
                            mel_error *err)
{
    mel_status status = metric != NULL ? mel_goal_of_metric(&w->goal, metric, w->steps, err)
                                       : mel_goal_named(&w->goal, name, w->steps, err);
    if (status == MEL_OK && !isnan(opt->refer_cost))
        status = mel_goal_refer(&w->goal, opt->refer_cost, err);
    for (size_t i = 0; i < opt->n_limits && status == MEL_OK; i++)
        status = mel_limit_add(&w->goal.program, &opt->limit[i], i, w->steps, err);
    return status;
}

static bool is_mixed(const mel_solution *s)
{
    for (size_t v = 0; v < s->n; v++)
        if (s->weight[v] > 1e-12 && s->weight[v] < 1.0 - 1e-12)
            return true;
    return false;
}

mel_status mel_rule_settle(mel_solution *solution, double *optimum, const mel_goal *goal, mel_vertices *pool,
                           mel_rule_form form, const mel_solve_options *opt, mel_error *err)
{
    *optimum = solution->value;
    if (form == MEL_RULE_MIXTURE || !is_mixed(solution))
        return MEL_OK;
    bool found = false;
    const mel_status status = mel_solve_single(&found, solution, goal, pool, opt, err);
    if (status == MEL_OK && !found && form == MEL_RULE_THRESHOLD)
        return mel_fail(err, MEL_EINVAL,
                        "no single rule that was tried meets the limits: ask for a mixture, or loosen them");
    return status;
}

/* --- reporting it ------------------------------------------------------------------------------- */

/* What the solution achieves on other steps of the same rows. */
static void measure_again(double *x, const work *w, mel_steps *steps)
{
    const size_t size = mel_steps_block_size(steps);
    memset(x, 0, w->goal.size * sizeof *x);
    for (size_t v = 0; v < w->solution.n; v++) {
        const double weight = w->solution.weight[v];
        if (!(weight > 0.0))
            continue;
        steps->ops->measure(w->pool.scratch, steps, w->pool.block[v], mel_vertices_rule(&w->pool, v));
        for (size_t c = 0; c < size; c++)
            x[w->pool.block[v] * size + c] += weight * w->pool.scratch[c];
    }
}

/* The measure of the same rule against the labels; NaN where it is not defined there, or cases are referred.
 */
static mel_status labels_value(double *value, const work *w, const mel_rule_rows *rows,
                               const mel_rule_options *opt, mel_error *err)
{
    mel_steps *steps = NULL;
    mel_step_rows own = w->evidence.rows;
    own.evidence = MEL_BY_LABELS;
    if (rows->row_cost != NULL || opt->evidence == MEL_BY_LABELS)
        own.weight = rows->weight;
    *value = NAN;
    if (w->goal.d != w->goal.k)
        return MEL_OK;
    double *x = mel_alloc(w->goal.size, sizeof *x);
    mel_status status = x != NULL ? mel_steps_of_rows(&steps, &own, err) : mel_fail_memory(err, "a measure");
    if (status == MEL_OK && steps != NULL && x != NULL && check_mass(steps, NULL) == MEL_OK) {
        measure_again(x, w, steps);
        if (mel_measure_value(value, w->goal.measure, mel_goal_seen(&w->goal, x), NULL) != MEL_OK)
            *value = NAN;
    }
    mel_steps_free(steps);
    free(x);
    return status;
}

static bool rewards_mistakes(const mel_goal *goal)
{
    if (goal->kind != MEL_GOAL_LINEAR)
        return false;
    for (size_t r = 0; r < goal->n_groups * goal->k; r++)
        for (size_t j = 0; j < goal->k; j++)
            if (goal->program.c[r * goal->d + j] > goal->program.c[r * goal->d + r % goal->k] + 1e-12)
                return true;
    return false;
}

static mel_status put_report(mel_rule_report *report, work *w, double optimum, const mel_rule_rows *rows,
                             const mel_rule_options *opt, mel_error *err)
{
    const mel_solution *s = &w->solution;
    *report = (mel_rule_report){ .value = w->goal.sign * s->value,
                                 .optimum = w->goal.sign * optimum,
                                 .bound = w->goal.sign * s->bound,
                                 .certified = s->certified,
                                 .starts = s->starts,
                                 .steps = w->steps->taken,
                                 .mixed = is_mixed(s),
                                 .violation = s->violation,
                                 .n_limits = opt->n_limits,
                                 .n_decisions = w->goal.d,
                                 .rewards_mistakes = rewards_mistakes(&w->goal) };
    report->achieved = mel_alloc_zero(opt->n_limits + 1, sizeof *report->achieved);
    report->price = mel_alloc_zero(opt->n_limits + 1, sizeof *report->price);
    report->shares = mel_alloc(w->goal.size, sizeof *report->shares);
    if (report->achieved == NULL || report->price == NULL || report->shares == NULL)
        return mel_fail_memory(err, "the report on a rule");
    const mel_status status = labels_value(&report->by_labels, w, rows, opt, err);
    memcpy(report->shares, s->x, w->goal.size * sizeof *s->x);
    for (size_t i = 0; i < opt->n_limits; i++) {
        report->achieved[i] = mel_limit_achieved(&opt->limit[i], i, &w->goal.program, w->steps, s->x);
        report->price[i] = mel_limit_price(i, &w->goal.program, s->price);
    }
    return status;
}

static mel_status find(mel_classifier **out, mel_rule_report *report, work *w, const mel_rule_rows *rows,
                       const mel_metric *metric, const char *name, const mel_rule_options *opt,
                       mel_error *err)
{
    const mel_solve_options solve = { opt->tolerance, opt->most_steps, opt->starts, opt->seed };
    double optimum = 0.0;
    mel_status status = make_evidence(&w->evidence, rows, opt, err);
    if (status == MEL_OK)
        status = mel_steps_of_rows(&w->steps, &w->evidence.rows, err);
    if (status != MEL_OK || w->steps == NULL)
        return status;
    status = check_mass(w->steps, err);
    if (status == MEL_OK)
        status = make_goal(w, metric, name, opt, err);
    if (status == MEL_OK)
        status = mel_vertices_init(&w->pool, w->steps, err);
    if (status == MEL_OK)
        status = mel_solve_goal(&w->solution, &w->goal, &w->pool, &solve, err);
    if (status == MEL_OK)
        status = mel_rule_settle(&w->solution, &optimum, &w->goal, &w->pool, opt->form, &solve, err);
    if (status == MEL_OK)
        status = put_report(report, w, optimum, rows, opt, err);
    if (status == MEL_OK)
        status = mel_build_classifier(out, &w->solution, &w->goal, &w->pool, err);
    if (status == MEL_OK && opt->adjustment != NULL && !keeps_scores(rows, opt))
        status = mel_adjustment_copy(&(*out)->adjustment, opt->adjustment, err);
    return status;
}

mel_status mel_rule_find(mel_classifier **out, mel_rule_report *report, const mel_rule_rows *rows,
                         const mel_metric *metric, const char *name, const mel_rule_options *opt,
                         mel_error *err)
{
    *out = NULL;
    mel_rule_options own;
    mel_rule_report all = { 0 };
    mel_rule_options_init(&own);
    mel_status status = mel_options_take(&own, sizeof own, opt, "rule options", err);
    if (status == MEL_OK && (metric == NULL) == (name == NULL))
        status = mel_fail(err, MEL_EINVAL, "a rule is best for a metric or for a measure by name");
    if (status == MEL_OK)
        status = check_rows(rows, err);
    if (status != MEL_OK)
        return status;
    work w = { 0 };
    status = find(out, &all, &w, rows, metric, name, &own, err);
    work_clear(&w);
    if (status != MEL_OK) {
        mel_classifier_free(*out);
        *out = NULL;
    }
    if (status != MEL_OK || report == NULL)
        mel_rule_report_clear(&all);
    if (report != NULL)
        *report = all;
    return status;
}
