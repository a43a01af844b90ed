/* melicit apply on rows: the best rule for any measure, under limits. */
#include "apply.h"
#include "columns.h"
#include "output.h"
#include "progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void cli_applied_rule_clear(cli_applied_rule *a)
{
    mel_classifier_free(a->classifier);
    mel_rule_report_clear(&a->report);
    mel_trust_clear(&a->trust);
    mel_certified_clear(&a->certified);
    mel_rule_labels_clear(&a->labels);
    free(a->limit);
    free(a->class_share);
    free(a->row_cost);
    mel_adjustment_clear(&a->adjustment);
    mel_metric_free(a->metric);
    for (size_t i = 0; i < a->n_people; i++)
        mel_metric_free(a->person_metric[i]);
    free(a->person_file);
    free(a->person_metric);
    free(a->person);
    mel_problem_free(a->problem);
}

bool cli_apply_asks_more(const cli_apply_args *args)
{
    return args->named != NULL || args->space.evidence != MEL_BY_LABELS || args->rule != MEL_RULE_BEST ||
           args->use_group > 0 || args->at_most.n > 0 || args->at_least.n > 0 || args->class_prior != NULL ||
           args->class_prior_from != NULL || !isnan(args->reject) || args->folds > 0 ||
           args->row_costs.n > 0 || args->rule == CLI_RULE_AVERAGE || !isnan(args->confidence) ||
           args->metrics.n > 0;
}

static mel_rule_rows rows_of(const cli_applied_rule *a)
{
    const mel_problem *p = a->problem;
    return (mel_rule_rows){ .n_rows = p->n_rows,
                            .n_classes = p->n_classes,
                            .n_groups = p->n_groups,
                            .probability = p->probability,
                            .label = p->label,
                            .group = p->group,
                            .weight = p->weight,
                            .row_cost = a->row_cost,
                            .class_name = p->class_name,
                            .group_name = p->group_name };
}

/* --- limits ------------------------------------------------------------------------------------- */

/* Whether a limit is about groups. */
static mel_status limits_groups(bool *any, const cli_apply_args *args, mel_error *err)
{
    mel_status status = MEL_OK;
    *any = false;
    for (size_t side = 0; side < 2; side++) {
        const mel_text_list *list = side == 0 ? &args->at_most : &args->at_least;
        for (size_t i = 0; i < list->n && status == MEL_OK; i++) {
            bool one = false;
            status = mel_limit_names_groups(&one, list->item[i], err);
            *any = *any || one;
            if (status != MEL_OK)
                return cli_fail_in(err, status, side == 0 ? "--at-most" : "--at-least");
        }
    }
    return status;
}

/* [sex=female] is about the column of the groups. */
static mel_status check_column(const mel_limit *limit, const mel_problem *p, mel_error *err)
{
    const char *open = strrchr(limit->text, '['), *sign = open != NULL ? strchr(open, '=') : NULL;
    if (limit->group == SIZE_MAX || sign == NULL || p->group_column == NULL)
        return MEL_OK;
    char *name = cli_format("%.*s", (int)(strlen(open) - 2), open + 1);
    char *column = cli_format("%.*s", (int)(sign - open - 1), open + 1);
    const char *const own = p->group_column;
    const bool is = strcmp(name, p->group_name[limit->group]) == 0 || mel_column_place(column, 1, &own) == 0;
    const mel_status status =
        is ? MEL_OK
           : cli_fail(err, MEL_EINVAL, "%s: there are no groups by %s; the column is \"%s\"", limit->text,
                      column, own);
    free(name);
    free(column);
    return status;
}

static mel_status read_limits(cli_applied_rule *a, const cli_apply_args *args, mel_error *err)
{
    const mel_problem *p = a->problem;
    mel_status status = MEL_OK;
    a->limit = cli_alloc_zero(args->at_most.n + args->at_least.n + 1, sizeof *a->limit);
    for (size_t side = 0; side < 2; side++) {
        const mel_text_list *list = side == 0 ? &args->at_most : &args->at_least;
        for (size_t i = 0; i < list->n && status == MEL_OK; i++) {
            status = mel_limit_parse(&a->limit[a->n_limits], list->item[i], side == 1, p->n_classes,
                                     p->class_name, p->n_groups, p->group_name, err);
            if (status == MEL_OK)
                status = check_column(&a->limit[a->n_limits], p, err);
            if (status != MEL_OK)
                return cli_fail_in(err, status, side == 0 ? "--at-most" : "--at-least");
            if (a->limit[a->n_limits].kind == MEL_LIMIT_REFERRED && isnan(args->reject))
                return cli_fail(err, MEL_EINVAL, "%s: nothing is referred without --reject COST",
                                list->item[i]);
            a->n_limits++;
        }
    }
    return status;
}

/* --- rows --------------------------------------------------------------------------------------- */

static mel_status find_want(mel_problem_want *out, const cli_apply_args *args, const mel_metric *metric,
                            mel_error *err)
{
    const bool file = args->space.groups != NULL, given = file || args->space.dataset.group != NULL;
    bool limited = false;
    TRY(limits_groups(&limited, args, err));
    const bool needed =
        (metric != NULL && mel_metric_layout(metric)->n_groups > 1) || limited || args->use_group > 0;
    *out = (mel_problem_want){
        .rows = true, .grouped = needed || (metric == NULL && given), .needs_groups = needed, .whom = "such"
    };
    if (given && !out->grouped)
        return cli_fail(err, MEL_EINVAL,
                        "%s: neither the metric nor a limit is about groups. Limits such as "
                        "recall[CLASS][GROUP]=0.9 are, and --use-group yes has a rule for each group",
                        file ? "--groups" : "--group");
    return MEL_OK;
}

/* The metric's layout on these rows. */
static mel_status match_metric(mel_metric **metric, const mel_problem *problem, const char *file,
                               cli_run *run, mel_error *err)
{
    mel_layout layout = *mel_metric_layout(*metric);
    layout.n_classes = problem->n_classes;
    if (layout.n_groups > 1)
        layout.n_groups = problem->n_groups;
    const cli_about about = cli_space_about(problem, run);
    return cli_match_metric(metric, file, &layout, &about, err);
}

static mel_status match_person(cli_applied_rule *a, size_t i, cli_run *run, mel_error *err)
{
    TRY(match_metric(&a->person_metric[i], a->problem, a->person_file[i], run, err));
    a->person[i].metric = a->person_metric[i];
    return MEL_OK;
}

/* --metrics A.json B.json ..: the words after the first are operands. */
static mel_status load_people(cli_applied_rule *a, const cli_apply_args *args, const cli_run *run,
                              mel_error *err)
{
    const size_t n = args->metrics.n > 0 ? args->metrics.n + run->n_operands : 0;
    a->person_file = cli_alloc_zero(n + 1, sizeof *a->person_file);
    a->person_metric = cli_alloc_zero(n + 1, sizeof(mel_metric *));
    a->person = cli_alloc_zero(n + 1, sizeof *a->person);
    for (size_t i = 0; i < n; i++) {
        a->person_file[i] = i < args->metrics.n ? args->metrics.item[i] : run->operand[i - args->metrics.n];
        TRY(cli_load_metric(&a->person_metric[i], a->person_file[i], err));
        a->n_people++;
    }
    return MEL_OK;
}

/* A class of which no row costs anything could as well not be there. */
static mel_status check_costs(const cli_applied_rule *a, const char *const *column, mel_error *err)
{
    const mel_problem *p = a->problem;
    const mel_rule_rows rows = rows_of(a);
    size_t *cost = cli_alloc_zero(p->n_classes, sizeof *cost), c = 0; /* rows that cost something */
    for (size_t r = 0; r < rows.n_rows; r++)
        cost[rows.label[r]] += rows.row_cost[r * p->n_classes + rows.label[r]] > 0.0;
    while (c < p->n_classes && cost[c] > 0)
        c++;
    free(cost);
    return c == p->n_classes
               ? MEL_OK
               : cli_fail(err, MEL_EDATA, "--row-cost: all rows of class \"%s\" cost 0 by column \"%s\"",
                          p->class_name[c], column[c]);
}

static mel_status read_costs(cli_applied_rule *a, const cli_apply_args *args, const mel_text_list *names,
                             mel_error *err)
{
    const mel_problem *p = a->problem;
    MEL_AUTO_MEMORY const char **column = NULL;
    TRY(cli_cost_of_classes(&column, &args->row_costs, p->n_classes, p->class_name, err));

    cli_row_costs(&a->row_cost, rows_of(a).n_rows, p->n_classes, column, names, p->numbers);
    TRY(check_costs(a, column, err));
    return MEL_OK;
}

/* What the file says of classes, groups, and columns of costs. */
static mel_status name_classifier(cli_applied_rule *a, const cli_apply_args *args, mel_error *err)
{
    MEL_AUTO_MEMORY const char **column = NULL;
    if (a->row_cost != NULL)
        TRY(cli_cost_of_classes(&column, &args->row_costs, a->problem->n_classes, a->problem->class_name,
                                err));
    return cli_classifier_name(&a->classifier, a->problem, column, err);
}

static mel_status check_by_name(const char *name, const char *shown, const mel_problem *p, mel_error *err)
{
    MEL_AUTO(mel_measure) *measure = NULL;
    TRY(mel_measure_together(&measure, name, p->n_classes, p->n_groups, err));
    return cli_check_positive(measure, shown, &p->classes, err);
}

/* Refuses a measure or a limit that needs a positive class where nobody has said which one it is. */
static mel_status check_positive(const cli_applied_rule *a, const cli_apply_args *args, mel_error *err)
{
    const mel_text_list *const limits[] = { &args->at_most, &args->at_least };
    TRY(args->named != NULL ? check_by_name(args->named, args->named, a->problem, err) : MEL_OK);
    for (size_t l = 0; l < 2; l++)
        for (size_t i = 0; i < limits[l]->n; i++)
            if (a->problem->classes.positive_unsaid && mel_limit_needs_positive(limits[l]->item[i]))
                TRY(check_by_name("recall", limits[l]->item[i], a->problem, err));
    return MEL_OK;
}

static mel_status make_problem(cli_applied_rule *a, const cli_apply_args *args, cli_run *run, mel_error *err)
{
    mel_problem_options space = args->space;
    mel_problem_want want;
    mel_status status = find_want(&want, args, a->metric, err);
    if (status != MEL_OK)
        return status;
    if (space.smooth)
        return cli_fail(err, MEL_EINVAL,
                        "--thesis smooth goes with --evidence labels and metrics of (TP, TN)");
    if (a->metric != NULL || a->n_people > 0)
        cli_follow_metric(&space.dataset.naming, a->n_people > 0 ? a->person_metric[0] : a->metric);
    space.numbers = cli_cost_columns(&args->row_costs);
    status = cli_space_make(&a->problem, &space, &want, run, err);
    if (status == MEL_OK && a->metric != NULL)
        status = match_metric(&a->metric, a->problem, args->metric, run, err);
    for (size_t i = 0; i < a->n_people && status == MEL_OK; i++)
        status = match_person(a, i, run, err);
    if (status == MEL_OK)
        status = check_positive(a, args, err);
    if (status == MEL_OK && args->row_costs.n > 0)
        status = read_costs(a, args, &space.numbers, err);
    free(space.numbers.item);
    return status;
}

/* What calibration and the search for the rule both go by. */
static mel_rule_options options_of(const cli_applied_rule *a, const cli_apply_args *args)
{
    mel_rule_options opt;
    mel_rule_options_init(&opt);
    opt.progress = cli_stop_only();
    opt.class_share = a->class_share;
    opt.limit = a->limit;
    opt.n_limits = a->n_limits;
    opt.refer_cost = args->reject;
    opt.group_use = args->use_group == CLI_GROUP_NO ? MEL_GROUP_UNSEEN : MEL_GROUP_SEEN;
    return opt;
}

/* For people there is none. */
static const char *name_of(const cli_applied_rule *a, const cli_apply_args *args)
{
    return a->metric != NULL || a->n_people > 0 ? NULL : args->named;
}

mel_status cli_apply_calibrate(mel_adjustment *out, const cli_applied_rule *a, bool by_group,
                               const cli_apply_args *args, mel_error *err)
{
    mel_rule_rows rows = rows_of(a);
    const mel_rule_options opt = options_of(a, args);
    if (!by_group)
        rows.n_groups = 0;
    if (args->space.evidence == MEL_EVIDENCE_CALIBRATED)
        return mel_rule_calibrate(out, &rows, a->n_people > 0 ? a->person[0].metric : a->metric,
                                  name_of(a, args), &opt, err);
    return mel_adjustment_init(out, rows.n_classes, err);
}

static mel_status find_trust(cli_applied_rule *a, const mel_rule_rows *rows, const mel_rule_options *rule,
                             const cli_apply_args *args, const cli_run *run, mel_error *err)
{
    mel_trust_options opt;
    mel_trust_options_init(&opt);
    opt.calibrated = args->space.evidence == MEL_EVIDENCE_CALIBRATED;
    opt.folds = (size_t)args->folds;
    opt.seed = run->seed;
    return mel_rule_trust(&a->trust, a->classifier, rows, a->metric, a->metric != NULL ? NULL : args->named,
                          rule, &opt, err);
}

/* --- finding it --------------------------------------------------------------------------------- */

/* The limits that the rule misses, and what it achieves, as text: "" where it meets all. */
static char *missed_limits(const cli_applied_rule *a, const char *is)
{
    char *text = cli_format("%s", "");
    for (size_t i = 0; i < a->n_limits; i++) {
        const mel_limit *l = &a->limit[i];
        const double by = l->at_least ? l->bound - a->report.achieved[i] : a->report.achieved[i] - l->bound;
        if (!(by > 1e-9))
            continue;
        char *longer =
            cli_format("%s%s%s %s %.4g", text, *text != '\0' ? ", " : "", l->text, is, a->report.achieved[i]);
        free(text);
        text = longer;
    }
    return text;
}

static mel_status refuse_limits(const cli_applied_rule *a, mel_error *err)
{
    char *text = missed_limits(a, "would be");
    (void)cli_fail(err, MEL_EDATA,
                   "no classifier on these probabilities meets all limits; where they are missed least, by "
                   "%.4g together, %s",
                   a->report.violation, text);
    free(text);
    return MEL_EDATA;
}

/* Labels that the probabilities do not explain. */
static void warn_of_labels(const cli_applied_rule *a, const cli_run *run)
{
    const mel_rule_labels *said = &a->labels;
    if (said->wrong_way)
        cli_warn(run, CLI_WRONG_WAY, said->auc, a->problem->class_name[0]);
    if (said->value.surprising)
        cli_warn(run,
                 "the labels contradict the probabilities: the value is %.4g by the labels, %.4g by the "
                 "probabilities, more apart than chance allows; --evidence labels goes by the labels",
                 cli_settled(said->value.value), cli_settled(a->report.value));
    for (size_t i = 0; i < said->n_limits; i++)
        if (said->limit[i].surprising)
            cli_warn(run,
                     "the labels contradict the probabilities: %s is %.4g by the labels, %.4g by the "
                     "probabilities, more apart than chance allows",
                     a->limit[i].text, said->limit[i].value, a->report.achieved[i]);
}

/* The thresholds become means over what rows and metric make likely. */
static mel_status average(cli_applied_rule *a, const mel_rule_rows *rows, mel_rule_options *opt,
                          const cli_apply_args *args, const cli_run *run, mel_error *err)
{
    const size_t n = a->trust.n_thresholds;
    if (n == 0)
        return cli_fail(err, MEL_EINVAL,
                        "--rule average: the best rule is not a threshold (for each group) that draws of the "
                        "rows agree on");
    MEL_AUTO_MEMORY double *mean = cli_alloc_zero(n, sizeof *mean);
    for (size_t b = 0; b < n; b++)
        mean[b] = a->trust.threshold[b].mean;
    opt->threshold = mean;
    opt->n_thresholds = n;
    mel_classifier_free(a->classifier);
    a->classifier = NULL;
    mel_rule_report_clear(&a->report);
    mel_trust_clear(&a->trust);
    TRY(mel_rule_find(&a->classifier, &a->report, rows, a->metric, name_of(a, args), opt, err));
    return find_trust(a, rows, opt, args, run, err);
}

/* The best rule whose limits can be promised on new rows: with --folds N one part of N certifies them. */
static mel_status find_certified(cli_applied_rule *a, const mel_rule_rows *rows, const mel_rule_options *rule,
                                 const cli_apply_args *args, mel_error *err)
{
    mel_certify_options opt;
    mel_certify_options_init(&opt);
    opt.confidence = args->confidence;
    opt.calibrated = args->space.evidence == MEL_EVIDENCE_CALIBRATED;
    opt.seed = rule->seed;
    if (args->folds > 0)
        opt.share = 1.0 / (double)args->folds;
    TRY(mel_rule_certify(&a->classifier, &a->report, &a->certified, rows, a->metric, name_of(a, args), rule,
                         &opt, err));
    a->trust.value = a->certified.value;
    a->trust.regret = NAN;
    a->trust.cross.value = NAN;
    return MEL_OK;
}

static mel_status find(cli_applied_rule *a, const cli_apply_args *args, const cli_run *run, mel_error *err)
{
    const mel_rule_rows rows = rows_of(a);
    mel_rule_options opt = options_of(a, args);
    opt.form = a->averaged ? MEL_RULE_BEST : (mel_rule_form)args->rule;
    opt.evidence = args->space.evidence == MEL_BY_LABELS ? MEL_BY_LABELS : MEL_BY_MODEL;
    if (args->space.evidence == MEL_EVIDENCE_CALIBRATED || a->class_share != NULL)
        opt.adjustment = &a->adjustment;
    opt.seed = run->seed;
    opt.threads = run->threads;
    opt.n_people = a->n_people;
    opt.person = a->person;
    const char *name = name_of(a, args);
    const bool certify = !isnan(args->confidence);
    TRY(certify ? find_certified(a, &rows, &opt, args, err)
                : mel_rule_find(&a->classifier, &a->report, &rows, a->metric, name, &opt, err));
    if (a->report.violation > 0.0)
        TRY(refuse_limits(a, err));
    if (a->report.rewards_mistakes)
        cli_warn(run, "the metric rewards a mistake more than the right decision: the rule follows it");
    if (a->n_people > 0) {
        a->trust.value.value = a->trust.cross.value = a->labels.value.value = a->labels.value.chance = NAN;
        a->labels.auc = a->trust.regret = NAN;
        return MEL_OK;
    }
    if (!certify)
        TRY(find_trust(a, &rows, &opt, args, run, err));
    if (a->averaged)
        TRY(average(a, &rows, &opt, args, run, err));
    TRY(mel_rule_ask_labels(&a->labels, a->classifier, &a->report, &rows, a->metric, name, &opt, err));
    warn_of_labels(a, run);
    return MEL_OK;
}

/* What the classifier file says of how it was found. */
static mel_status put_found(cli_applied_rule *a, const cli_apply_args *args, mel_error *err)
{
    json_t *found = json_object();
    cli_apply_rule_json(found, a);
    json_object_del(found, "per_class");
    json_object_del(found, "per_group");
    json_object_del(found, "thresholds");
    cli_put(found, "evidence", cli_json_text(mel_problem_evidences[args->space.evidence]));
    if (args->named != NULL)
        cli_put(found, "named", cli_json_text(args->named));
    char *text = cli_json_written(found);
    json_decref(found);
    const mel_status status = mel_classifier_set_found(a->classifier, text, err);
    free(text);
    return status;
}

mel_status cli_apply_rule(cli_applied_rule *out, const cli_apply_args *args, mel_metric **metric,
                          cli_run *run, mel_error *err)
{
    out->metric = *metric;
    out->folds = (size_t)args->folds;
    out->averaged = args->rule == CLI_RULE_AVERAGE;
    out->by_model = args->space.evidence != MEL_BY_LABELS;
    *metric = NULL;
    TRY(load_people(out, args, run, err));
    TRY(make_problem(out, args, run, err));
    if (out->averaged && args->at_most.n + args->at_least.n > 0)
        return cli_fail(err, MEL_EINVAL,
                        "--rule average and limits exclude each other: means need not keep limits");
    if (out->averaged && !isnan(args->reject))
        return cli_fail(
            err, MEL_EINVAL,
            "--rule average and --reject exclude each other: a rule that refers cases is no threshold");
    if (!isnan(args->confidence) && args->at_most.n + args->at_least.n == 0)
        return cli_fail(err, MEL_EINVAL,
                        "--confidence: there is no limit to be promised (--at-least, --at-most)");
    TRY(read_limits(out, args, err));
    TRY(cli_apply_prior(out, args, run, err));
    TRY(find(out, args, run, err));
    TRY(name_classifier(out, args, err));
    return put_found(out, args, err);
}
