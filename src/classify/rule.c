/* The best rule for a measure on rows: evidence, goal, limits, solution, classifier. */
#include "classify/classify.h"
#include "classify/goal.h"
#include "classify/shared.h"
#include "classify/solve.h"
#include "classify/steps.h"
#include "model/shared.h"

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
    mel_compromise_clear(&report->people);
    *report = (mel_rule_report){ 0 };
}

/* --- finding it --------------------------------------------------------------------------------- */

typedef struct {
    mel_rule_evidence evidence;
    mel_steps *steps;
    mel_goal goal;
    mel_people_goal people;
    mel_vertices vertices;
    mel_solution solution;
} work;

static void work_clear(work *w)
{
    mel_solution_clear(&w->solution);
    mel_vertices_clear(&w->vertices);
    mel_goal_clear(&w->goal);
    mel_people_goal_clear(&w->people);
    mel_steps_free(w->steps);
    mel_rule_evidence_clear(&w->evidence);
}

static mel_status make_goal(work *w, const mel_metric *metric, const char *name, const mel_rule_options *opt,
                            mel_error *err)
{
    TRY(opt->n_people > 0
            ? mel_goal_of_people(&w->goal, &w->people, opt->n_people, opt->person, w->steps, err)
        : metric != NULL ? mel_goal_of_metric(&w->goal, metric, w->steps, err)
                         : mel_goal_named(&w->goal, name, w->steps, err));
    if (!isnan(opt->refer_cost))
        TRY(mel_goal_refer(&w->goal, opt->refer_cost, err));
    for (size_t i = 0; i < opt->n_limits; i++)
        TRY(mel_limit_add(&w->goal.program, &opt->limit[i], i, w->steps, err));
    return MEL_OK;
}

static bool is_mixed(const mel_solution *s)
{
    for (size_t v = 0; v < s->n; v++)
        if (s->weight[v] > 1e-12 && s->weight[v] < 1.0 - 1e-12)
            return true;
    return false;
}

mel_status mel_rule_settle(mel_solution *solution, double *optimum, const mel_goal *goal,
                           mel_vertices *vertices, mel_rule_form form, const mel_solve_options *opt,
                           mel_error *err)
{
    /* Thresholds may beat a local optimum, which is only one of several. */
    const bool mixed = is_mixed(solution), local = goal->kind == MEL_SHAPE_LOCAL && vertices->steps->sorted;
    *optimum = solution->value;
    if (form == MEL_RULE_MIXTURE || !(mixed || local))
        return MEL_OK;
    bool found = false;
    TRY(mel_solve_single(&found, solution, goal, vertices, opt, err));
    *optimum = local ? fmax(*optimum, solution->value) : *optimum;
    if (!found && mixed && form == MEL_RULE_THRESHOLD)
        return mel_fail(err, MEL_EINVAL,
                        "no single rule that was tried meets the limits: ask for a mixture, or loosen them");
    return MEL_OK;
}

/* The rule with given thresholds instead of the solution. */
static mel_status impose(work *w, const mel_rule_options *opt, mel_error *err)
{
    const size_t n_blocks = w->steps->n_blocks, size = mel_steps_block_size(w->steps);
    double rule[4] = { 0.0, 0.0, 0.0, 0.0 };
    if (!w->steps->sorted || w->evidence.rows.score == NULL || opt->n_limits > 0 ||
        opt->n_thresholds != n_blocks)
        return mel_fail(err, MEL_EINVAL,
                        "thresholds are given for two classes without limits, one for each group");
    MEL_AUTO_MEMORY double *shares = mel_alloc(size, sizeof *shares);
    if (shares == NULL)
        return mel_fail_memory(err, "a rule");
    for (size_t b = 0; b < n_blocks; b++) {
        const double threshold = fmin(fmax(opt->threshold[b], 0.0), 1.0);
        const size_t yes = mel_sorted_falls(w->steps, b) ? 0 : 1;
        size_t place = 0;
        rule[0] = rule[1] = rule[2] = rule[3] = 0.0;
        rule[1 - yes] = threshold;
        rule[2 + yes] = 1.0 - threshold;
        w->steps->ops->measure(shares, w->steps, b, rule);
        TRY(mel_vertices_add(&place, &w->vertices, b, shares, rule, err));
        memcpy(w->vertices.rule + place * 4, rule, sizeof rule); /* another threshold may achieve the same */
        TRY(mel_solution_fit(&w->solution, &w->vertices, err));
        for (size_t v = 0; v < w->solution.n; v++)
            if (w->vertices.block[v] == b)
                w->solution.weight[v] = v == place ? 1.0 : 0.0;
    }
    mel_vertices_mix(w->solution.x, &w->vertices, w->solution.n, w->solution.weight);
    w->solution.value = mel_goal_at(&w->goal, w->solution.x);
    return MEL_OK;
}

/* The probability from which on the second class is better in a block, on the model's own scale; false: there
 * is none, or groups that share the block have different ones. */
static bool given_threshold(double *out, const work *w, const mel_rule_options *opt, size_t block)
{
    const size_t groups = w->goal.n_groups / w->steps->n_blocks;
    for (size_t i = 0; i < groups; i++) {
        const size_t g = block * groups + i;
        const mel_rule rule = mel_gain_threshold(w->goal.program.c + 4 * g);
        const double at = opt->adjustment != NULL && isfinite(rule.threshold)
                              ? mel_adjustment_undo(opt->adjustment, g, rule.threshold)
                              : rule.threshold;
        if (!isfinite(rule.threshold) || rule.inverted || (i > 0 && at != *out))
            return false;
        *out = at;
    }
    return true;
}

/* A linear measure without limits says where the threshold is, whichever rows there are: any other one
 * between the same two rows does the same with these, but not with others. True: all thresholds are given so.
 */
static bool take_given_thresholds(work *w, const mel_rule_options *opt)
{
    if (!w->steps->sorted || w->goal.kind != MEL_SHAPE_LINEAR || w->goal.program.n_terms > 0 ||
        opt->evidence != MEL_BY_MODEL || opt->threshold != NULL || is_mixed(&w->solution))
        return false;
    bool all = true;
    for (size_t v = 0; v < w->solution.n; v++) {
        double at = 0.0;
        if (!(w->solution.weight[v] > 0.0))
            continue;
        const bool given = given_threshold(&at, w, opt, w->vertices.block[v]);
        all = all && given;
        if (given)
            mel_sorted_set_threshold(w->vertices.rule + 4 * v, w->steps, w->vertices.block[v], at);
    }
    return all;
}

/* --- reporting it ------------------------------------------------------------------------------- */

static bool rewards_mistakes(const mel_goal *goal)
{
    if (goal->kind != MEL_SHAPE_LINEAR)
        return false;
    for (size_t r = 0; r < goal->n_groups * goal->k; r++)
        for (size_t j = 0; j < goal->k; j++)
            if (goal->program.c[r * goal->d + j] > goal->program.c[r * goal->d + r % goal->k] + 1e-12)
                return true;
    return false;
}

/* Shares of rows, whatever they cost, that are decided each way with these chances. */
static void add_rows(double *x, const mel_step_rows *rows, size_t d, const double *chance)
{
    const size_t k = rows->n_classes;
    const double total = mel_step_total(rows);
    for (size_t cell = 0; cell < rows->n_rows * k * d; cell++) {
        const size_t r = cell / (k * d), i = cell / d % k, j = cell % d;
        const double label = rows->label[r] == i ? 1.0 : 0.0;
        const double is = rows->evidence == MEL_BY_LABELS ? label : rows->probability[r * k + i];
        const double weight = rows->weight != NULL ? rows->weight[r] : 1.0;
        x[((rows->n_groups > 1 ? rows->group[r] : 0) * k + i) * d + j] +=
            weight * is * chance[r * d + j] / total;
    }
}

/* What the classifier does with rows that cost different amounts. */
static mel_status shares_of_rows(double *x, const mel_classifier *c, const mel_rule_rows *rows,
                                 const mel_rule_options *opt, mel_error *err)
{
    mel_rule_rows plain = *rows;
    MEL_AUTO_CLEAR(mel_rule_evidence) e = { 0 };
    const mel_undecided all = {
        .n = rows->n_rows, .probability = rows->probability, .group = rows->group, .row_cost = rows->row_cost
    };
    MEL_AUTO_MEMORY double *chance = mel_alloc(rows->n_rows * c->n_decisions, sizeof *chance);
    if (chance == NULL)
        return mel_fail_memory(err, "the report on a rule");
    plain.row_cost = NULL;
    TRY(mel_classifier_chances(chance, c, &all, err));
    TRY(mel_rule_evidence_make(&e, &plain, opt, err));
    add_rows(x, &e.rows, c->n_decisions, chance);
    return MEL_OK;
}

static mel_status put_report(mel_rule_report *report, work *w, double optimum, const mel_classifier *c,
                             const mel_rule_rows *rows, const mel_rule_options *opt, mel_error *err)
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
                                 .rewards_mistakes = rewards_mistakes(&w->goal),
                                 .utility = s->value,
                                 .refer_cost = w->goal.d > w->goal.k ? w->goal.refer_cost : (double)NAN };
    report->achieved = mel_alloc_zero(opt->n_limits + 1, sizeof *report->achieved);
    report->price = mel_alloc_zero(opt->n_limits + 1, sizeof *report->price);
    report->shares = mel_alloc_zero(w->goal.size, sizeof *report->shares);
    if (report->achieved == NULL || report->price == NULL || report->shares == NULL)
        return mel_fail_memory(err, "the report on a rule");
    if (rows->row_cost != NULL)
        TRY(shares_of_rows(report->shares, c, rows, opt, err));
    else
        memcpy(report->shares, s->x, w->goal.size * sizeof *s->x);
    const mel_shares achieved = { w->goal.n_groups, w->goal.k, w->goal.d, report->shares };
    for (size_t i = 0; i < opt->n_limits; i++) {
        report->achieved[i] = mel_limit_achieved(&opt->limit[i], &achieved);
        report->price[i] = mel_limit_price(i, &w->goal.program, s->price);
    }
    return opt->n_people > 0 ? mel_compromise_judge(&report->people, &w->people, s->x, s->price, err)
                             : MEL_OK;
}

/* --- the classifier ----------------------------------------------------------------------------- */

static mel_status make_classifier(mel_classifier **out, const work *w, const mel_rule_rows *rows,
                                  const mel_rule_options *opt, mel_error *err)
{
    TRY(mel_build_classifier(out, &w->solution, &w->goal, &w->vertices, err));
    if (opt->adjustment != NULL && !mel_rule_keeps_scores(rows, opt))
        TRY(mel_adjustment_copy(&(*out)->adjustment, opt->adjustment, err));
    if (rows->row_cost != NULL) {
        (*out)->cost_column = mel_names_copy(rows->n_classes, NULL, 0);
        TRY((*out)->cost_column != NULL ? MEL_OK : mel_fail_memory(err, "names"));
    }
    return MEL_OK;
}

static mel_status find_rule_on_rows(mel_classifier **out, mel_rule_report *report, const mel_rule_rows *rows,
                                    const mel_metric *metric, const char *name, const mel_rule_options *opt,
                                    mel_error *err)
{
    MEL_AUTO_CLEAR(work) w = { 0 };
    const mel_solve_options solve = { opt->tolerance, opt->most_steps, opt->starts, opt->seed };
    double optimum = 0.0;
    TRY(mel_rule_evidence_make(&w.evidence, rows, opt, err));
    TRY(mel_steps_of_rows(&w.steps, &w.evidence.rows, err));
    w.steps->progress = opt->progress;
    w.steps->called = (mel_called){ rows->class_name, rows->group_name };
    TRY(make_goal(&w, metric, name, opt, err));
    TRY(mel_vertices_init(&w.vertices, w.steps, err));
    TRY(mel_solve_goal(&w.solution, &w.goal, &w.vertices, &solve, err));
    TRY(mel_rule_settle(&w.solution, &optimum, &w.goal, &w.vertices, opt->form, &solve, err));
    if (rows->engine != NULL)
        TRY(mel_steps_report(w.steps, err));
    if (opt->threshold != NULL)
        TRY(impose(&w, opt, err));
    const bool given = take_given_thresholds(&w, opt);
    TRY(make_classifier(out, &w, rows, opt, err));
    (*out)->given = given;
    return put_report(report, &w, optimum, *out, rows, opt, err);
}

/* What an engine, which only adds up, can be asked for. */
static mel_status check_elsewhere(const mel_rule_rows *rows, const mel_rule_options *opt, mel_error *err)
{
    if (rows->n_classes < 2)
        return mel_fail(err, MEL_EDATA, "a rule needs rows of two or more classes");
    if (rows->weight != NULL || rows->row_cost != NULL || rows->count != NULL)
        return mel_fail(err, MEL_EINVAL, "weights and costs of rows need all rows in one place");
    if (opt->adjustment != NULL || opt->class_share != NULL || opt->threshold != NULL)
        return mel_fail(err, MEL_EINVAL,
                        "calibration, other shares of classes and given thresholds need all rows in one "
                        "place: an engine only adds up");
    if (rows->n_classes == 2 && opt->evidence == MEL_BY_LABELS)
        return mel_fail(err, MEL_EINVAL,
                        "the best threshold by the labels needs all rows in one place, sorted; an engine "
                        "finds rules of two classes by the model's probabilities");
    return MEL_OK;
}

static mel_status check_options(const mel_rule_options *opt, const mel_rule_rows *rows,
                                const mel_metric *metric, const char *name, mel_error *err)
{
    if (rows->row_cost != NULL && opt->n_limits > 0)
        return mel_fail(err, MEL_EINVAL,
                        "limits are about rows, and here rows count by their costs: find a rule without "
                        "limits, or without costs of rows");
    if ((metric != NULL) + (name != NULL) + (opt->n_people > 0) != 1)
        return mel_fail(err, MEL_EINVAL, "a rule is best for a metric, for a measure by name, or for people");
    if (opt->n_people > 0 && !isnan(opt->refer_cost))
        return mel_fail(err, MEL_EINVAL, "a compromise refers no cases");
    TRY(rows->engine != NULL ? check_elsewhere(rows, opt, err) : mel_rule_rows_check(rows, err));
    const mel_adjustment *a = opt->adjustment;
    if (a != NULL && a->n_classes != rows->n_classes)
        return mel_fail(err, MEL_EINVAL, "an adjustment of %zu probabilities for rows of %zu", a->n_classes,
                        rows->n_classes);
    if (a != NULL && a->n_groups > 0 &&
        (a->n_groups != rows->n_groups ||
         (opt->group_use == MEL_GROUP_UNSEEN && !mel_rule_keeps_scores(rows, opt))))
        return mel_fail(err, MEL_EINVAL, "an adjustment of %zu groups for a rule that does not see them",
                        a->n_groups);
    return MEL_OK;
}

mel_status mel_rule_find(mel_classifier **out, mel_rule_report *report, const mel_rule_rows *rows,
                         const mel_metric *metric, const char *name, const mel_rule_options *opt,
                         mel_error *err)
{
    mel_rule_options own;
    MEL_AUTO(mel_classifier) *found = NULL;
    MEL_AUTO_CLEAR(mel_rule_report) all = { 0 };
    *out = NULL;
    mel_rule_options_init(&own);
    TRY(mel_options_take(&own, sizeof own, opt, "rule options", err));
    if (own.n_people > 0 && own.form == MEL_RULE_BEST)
        own.form = MEL_RULE_MIXTURE;
    TRY(check_options(&own, rows, metric, name, err));
    TRY(find_rule_on_rows(&found, &all, rows, metric, name, &own, err));
    *out = found;
    found = NULL;
    if (report != NULL) {
        *report = all;
        all = (mel_rule_report){ 0 };
    }
    return MEL_OK;
}
