/* How sure melicit apply is of a rule: what it is worth on other rows, where its thresholds may lie. */
#include "apply_rule.h"
#include "output.h"

#include <math.h>
#include <stdlib.h>

mel_status cli_apply_trust(cli_applied_rule *a, const mel_rule_rows *rows, const mel_rule_options *rule,
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

/* --- text --------------------------------------------------------------------------------------- */

static void print_parts(const mel_interval *rows, const mel_interval *metric, bool uncertain)
{
    if (uncertain)
        cli_print("; %.4g to %.4g from the rows, %.4g to %.4g from the metric", rows->low, rows->high,
                  metric->low, metric->high);
    cli_print("\n");
}

static void print_value(const mel_certainty *value, const char *how, const mel_error *why)
{
    if (!isfinite(value->value)) {
        cli_print("  on other rows: not known (%s)\n", why->text);
        return;
    }
    cli_print("  on other rows%s: %.4g, 95%% between %.4g and %.4g", how, cli_settled(value->value),
              cli_settled(value->both.low), cli_settled(value->both.high));
    print_parts(&value->rows, &value->metric, value->metric_deviation > 0.0);
}

static bool has_width(const mel_interval *of)
{
    return of->high > of->low;
}

static void print_threshold(const mel_trust_threshold *at, const char *group)
{
    cli_print("  %s%s", group != NULL ? group : "", group != NULL ? ": " : "");
    if (!has_width(&at->both)) {
        cli_print(at->given ? "the metric alone fixes the threshold: other rows would not move it\n"
                            : "drawing the rows anew does not move the threshold\n");
        return;
    }
    cli_print("the threshold is between %.4g and %.4g, 95%% sure", at->both.low, at->both.high);
    if (has_width(&at->metric) && at->given)
        cli_print("; the metric alone moves it, other rows would not\n");
    else
        print_parts(&at->rows, &at->metric, has_width(&at->metric));
}

void cli_apply_trust_print(const cli_applied_rule *a)
{
    const mel_trust *t = &a->trust;
    char *folds = cli_format(" (%zu folds)", a->folds);
    print_value(isfinite(t->cross.value) ? &t->cross : &t->value, isfinite(t->cross.value) ? folds : "",
                &t->why);
    free(folds);
    if (isfinite(t->regret) && t->regret >= 5e-5)
        cli_print("  its mistakes cost at most %.2g%% more than those of the best rule for %swhat other rows "
                  "may show, 95%% sure\n",
                  100.0 * t->regret, t->value.metric_deviation > 0.0 ? "what you may have meant and " : "");
    for (size_t b = 0; b < t->n_thresholds; b++)
        print_threshold(&t->threshold[b], t->n_thresholds > 1 ? a->problem->group_name[b] : NULL);
}

/* --- JSON --------------------------------------------------------------------------------------- */

static json_t *range(const mel_interval *of)
{
    return cli_json_range(of->low, of->high);
}

static void put_intervals(json_t *to, const mel_interval *rows, const mel_interval *metric,
                          const mel_interval *both)
{
    cli_put(to, "interval", range(both));
    cli_put(to, "rows_interval", range(rows));
    cli_put(to, "metric_interval", range(metric));
}

static json_t *threshold_json(const cli_applied_rule *a, size_t b)
{
    const mel_trust *t = &a->trust;
    json_t *one = json_object();
    if (t->n_thresholds > 1)
        cli_put(one, "group", cli_json_text(a->problem->group_name[b]));
    cli_put(one, "threshold", cli_json_number(t->threshold[b].threshold));
    put_intervals(one, &t->threshold[b].rows, &t->threshold[b].metric, &t->threshold[b].both);
    if (t->threshold[b].given)
        cli_put(one, "rows_interval", json_null());
    if (t->threshold[b].given && !has_width(&t->threshold[b].both))
        cli_put(one, "interval", json_null());
    cli_put(one, "given", json_boolean(t->threshold[b].given));
    cli_put(one, "mean", cli_json_number(t->threshold[b].mean));
    return one;
}

void cli_apply_trust_json(json_t *result, const cli_applied_rule *a)
{
    const mel_trust *t = &a->trust;
    const bool known = isfinite(t->value.value);
    const mel_certainty *value = isfinite(t->cross.value) ? &t->cross : &t->value;
    cli_put(result, "expected", cli_json_number(known ? value->value : (double)NAN));
    cli_put(result, "optimism", cli_json_number(known ? t->optimism : (double)NAN));
    if (known) {
        put_intervals(result, &value->rows, &value->metric, &value->both);
    } else {
        cli_put(result, "interval", json_null());
    }
    cli_put(result, "regret", cli_json_number(t->regret));
    cli_put(result, "folds", a->folds > 0 ? cli_json_count(a->folds) : json_null());
    json_t *list = json_array();
    for (size_t b = 0; b < t->n_thresholds; b++)
        cli_push(list, threshold_json(a, b));
    cli_put(result, "thresholds", list);
}
