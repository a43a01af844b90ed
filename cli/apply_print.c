/* What melicit apply says about the best rule on rows. */
#include "apply.h"
#include "output.h"

#include <math.h>
#include <stdlib.h>

/* --- how sure it is --- */

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

static void print_trust(const cli_applied_rule *a)
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

static json_t *interval_json(const mel_interval *of)
{
    return cli_json_range(of->low, of->high);
}

static void put_intervals(json_t *to, const mel_interval *rows, const mel_interval *metric,
                          const mel_interval *both)
{
    cli_put(to, "interval", interval_json(both));
    cli_put(to, "rows_interval", interval_json(rows));
    cli_put(to, "metric_interval", interval_json(metric));
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

static void put_trust(json_t *result, const cli_applied_rule *a)
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

/* --- text --- */

/* Share of class i of group g (SIZE_MAX: of all rows) that is decided as j; i = k: of all classes. */
static double share_at(const cli_applied_rule *a, size_t group, size_t i, size_t j)
{
    const size_t k = a->problem->n_classes, d = a->report.n_decisions;
    const size_t m = a->problem->n_groups > 1 ? a->problem->n_groups : 1;
    double sum = 0.0;
    for (size_t r = 0; r < m * k; r++)
        for (size_t c = 0; c < d; c++)
            if ((group == SIZE_MAX || r / k == group) && (i == k || r % k == i) && (j == d || c == j))
                sum += a->report.shares[r * d + c];
    return sum;
}

/* By the labels; NaN: they were not asked. */
static mel_label_check counted(const cli_applied_rule *a, size_t limit)
{
    return limit < a->labels.n_limits ? a->labels.limit[limit]
                                      : (mel_label_check){ .value = NAN, .chance = NAN };
}

static double ratio(double a, double b)
{
    return b > 0.0 ? a / b : (double)NAN;
}

static double recall_of(const cli_applied_rule *a, size_t group, size_t i)
{
    return ratio(share_at(a, group, i, i), share_at(a, group, i, a->report.n_decisions));
}

/* Values below are 0 but for rounding: nothing is a share of them. */
static const double least_value = 1e-9;

/* What a mixture would gain, as a share of its value; where that is 0, the gain itself. Where no mixture is
 * proved to be the best, one rule may be better: then nothing. */
static double loss(const mel_rule_report *r)
{
    const double sign = signbit(r->value) == signbit(r->utility) ? 1.0 : -1.0; /* -1: of a cost */
    const double apart = fmax(sign * (r->optimum - r->value), 0.0);
    return fabs(r->optimum) > least_value ? apart / fabs(r->optimum) : apart;
}

static double gap(const mel_rule_report *r)
{
    return r->certified ? fabs(r->bound - r->optimum) : (double)NAN;
}

static size_t count_rules(const mel_classifier *c)
{
    const mel_classifier_parts got = mel_classifier_get(c);
    return got.mixture != NULL ? got.mixture->n : got.blend->n_rules;
}

static void print_rules(const mel_classifier *c)
{
    const mel_classifier_parts got = mel_classifier_get(c);
    const size_t n = count_rules(c);
    const double *share = got.mixture != NULL ? got.mixture->share : got.blend->share;
    for (size_t r = 0; r < n && (r < 6 || n == 1); r++) {
        char *words = cli_classifier_words(c, r);
        if (n > 1)
            cli_print("  with probability %.4g: %s\n", share[r], words);
        else
            cli_print("  %s\n", words);
        free(words);
    }
    if (n > 6)
        cli_print("  and %zu more rules\n", n - 6);
}

static void print_loss(const mel_rule_report *r)
{
    const double percent = 100.0 * loss(r);
    if (loss(r) < 1e-5)
        cli_print("  loses less than 0.001%% against a mixture of rules (--rule mixture)\n");
    else if (fabs(r->optimum) > least_value)
        cli_print("  loses %.*f%% against a mixture of rules, whose value is %.6g (--rule mixture)\n",
                  percent >= 10.0 ? 0 : (int)ceil(1.0 - log10(percent)), percent, r->optimum);
    else
        cli_print("  loses %.4g against a mixture of rules, whose value is 0 (--rule mixture)\n", loss(r));
}

static void print_proof(const mel_rule_report *r, bool averaged)
{
    char count[CLI_COUNT_SIZE];
    const char *steps = cli_count(count, r->steps), *s = r->steps == 1 ? "" : "s";
    if (r->certified)
        cli_print("  no classifier on these probabilities has an expected value beyond %.6g (gap %.1e, %s "
                  "step%s)\n",
                  cli_settled(r->bound), gap(r), steps, s);
    else if (r->starts > 0)
        cli_print("  a local optimum, the best of %u starts (%s step%s)\n", r->starts, steps, s);
    else
        cli_print("  the best rule that was found, not proved to be the best of all (%s step%s)\n", steps, s);
    if (averaged && loss(r) > 1e-9)
        cli_print("  a mean of thresholds: the best one for these rows has a value of %.6g\n", r->optimum);
    else if (!r->mixed && loss(r) > 1e-9)
        print_loss(r);
}

/* What can be promised, with the price: the best rule without the promise. */
static void print_certified(const cli_applied_rule *a)
{
    const mel_certified *c = &a->certified;
    for (size_t l = 0; l < c->n_limits; l++)
        cli_print("  on new rows from the same source %s is at %s %.4g, %s%.4g%% sure (%.4g on the rows that "
                  "certify it)\n",
                  a->limit[l].text, a->limit[l].at_least ? "least" : "most", a->limit[l].bound,
                  c->n_limits > 1 ? "together " : "", 100.0 * c->confidence, c->limit[l].achieved);
    if (c->n_limits > 0)
        cli_print("  %zu rows%s certify it: %zu of %zu rules pass%s\n", c->rows,
                  c->all_rows ? "" : ", which chose nothing,", c->n_certified, c->n_rules,
                  c->weighted ? "; rows of different weights count as the equal rows that they are worth"
                              : "");
}

static void print_limits(const cli_applied_rule *a)
{
    for (size_t i = 0; i < a->n_limits; i++) {
        const mel_limit *l = &a->limit[i];
        const double price = a->report.price[i];
        const char *side = l->at_least ? "least" : "most";
        if (a->by_model)
            cli_print("  %s: %.4g expected, %.4g by the labels (at %s %.4g)", l->text, a->report.achieved[i],
                      counted(a, i).value, side, l->bound);
        else
            cli_print("  %s: %.4g by the labels (at %s %.4g)", l->text, a->report.achieved[i], side,
                      l->bound);
        if (i < a->trust.n_limits)
            cli_print(", on other rows between %.4g and %.4g", a->trust.limit[i].low, a->trust.limit[i].high);
        if (fabs(price) > 1e-9)
            cli_print("; loosening it by one percentage point would gain %.4g\n", price / 100.0);
        else
            cli_print("; it costs nothing\n");
    }
}

static void print_classes(const cli_applied_rule *a)
{
    const size_t k = a->problem->n_classes, d = a->report.n_decisions;
    const size_t m = a->problem->n_groups > 1 ? a->problem->n_groups : 0;
    for (size_t g = 0; g < (m > 0 ? m : 1); g++) {
        const size_t group = m > 0 ? g : SIZE_MAX;
        if (m > 0)
            cli_print("  %s: ", a->problem->group_name[g]);
        else
            cli_print("  ");
        for (size_t i = 0; i < k && i < 12; i++) {
            const double found = recall_of(a, group, i);
            if (isnan(found))
                cli_print("%sno rows of %s", i > 0 ? ", " : "", a->problem->class_name[i]);
            else
                cli_print("%s%.1f%% of %s found", i > 0 ? ", " : "", 100.0 * found,
                          a->problem->class_name[i]);
        }
        if (d > k)
            cli_print(", %.1f%% referred", 100.0 * ratio(share_at(a, group, k, k), share_at(a, group, k, d)));
        cli_print("%s\n", k > 12 ? ", ..." : "");
    }
}

static void print_people(const cli_applied_rule *a)
{
    const mel_compromise *p = &a->report.people;
    const char *const headers[] = { "", "with this rule", "with the\naverage\nperson's",
                                    "with the\nother ones',\nat worst", "weight" };
    cli_print("  who loses how much: 0 is the own best rule, 1 deciding the same about everybody\n\n");
    cli_table *table = cli_table_new("lrrrr", headers);
    for (size_t i = 0; i < p->n; i++) {
        double worst = 0.0;
        for (size_t j = 0; j < p->n; j++)
            worst = fmax(worst, p->cross[i * p->n + j]);
        cli_table_cell(table, "%s", a->person_file[i]);
        cli_table_cell(table, "%.3f", p->regret[i]);
        cli_table_cell(table, "%.3f", p->pooled[i]);
        cli_table_cell(table, "%.3f", worst);
        cli_table_cell(table, "%.2f", p->weight[i]);
    }
    cli_table_print(table);
    cli_print("\n  nobody loses more than %.4g; with no rule on these probabilities the one who loses most "
              "loses less than %.4g\n",
              cli_settled(a->report.value), cli_settled(a->report.bound));
    cli_print("  farthest apart: %s and %s, who would lose %.3f and %.3f by each other's rules\n",
              a->person_file[p->first], a->person_file[p->second], p->cross[p->first * p->n + p->second],
              p->cross[p->second * p->n + p->first]);
    for (size_t i = 0; i < p->n; i++)
        if (p->floored[i] > 0.5)
            cli_print("  the rule hardly matters to %s\n", a->person_file[i]);
    if (!a->report.mixed)
        return;
    cli_print("  it draws between rules; --rule threshold finds one that does not\n");
}

void cli_apply_rule_print(const cli_applied_rule *a, const char *path)
{
    cli_heading("The classifier");
    print_rules(a->classifier);
    print_classes(a);
    if (a->n_people > 0) {
        print_people(a);
        print_limits(a);
        if (path != NULL)
            cli_print("  classifier file: %s\n", path);
        return;
    }
    cli_print("  value of the metric: %.6g%s", cli_settled(a->report.value), a->by_model ? " expected" : "");
    if (isfinite(a->labels.value.value))
        cli_print(a->by_model ? ", %.6g by the labels" : " (measured on the labels: %.6g)",
                  cli_settled(a->labels.value.value));
    cli_print("\n");
    print_trust(a);
    print_limits(a);
    print_certified(a);
    print_proof(&a->report, a->averaged);
    if (path != NULL)
        cli_print("  classifier file: %s\n", path);
}

/* --- JSON --------------------------------------------------------------------------------------- */

static json_t *class_json(const cli_applied_rule *a, size_t group, size_t i)
{
    const size_t k = a->problem->n_classes, d = a->report.n_decisions;
    const double all = share_at(a, group, k, d);
    json_t *out = json_object();
    cli_put(out, "class", cli_json_text(a->problem->class_name[i]));
    cli_put(out, "share", cli_json_number(ratio(share_at(a, group, i, d), all)));
    cli_put(out, "decided", cli_json_number(ratio(share_at(a, group, k, i), all)));
    cli_put(out, "recall", cli_json_number(recall_of(a, group, i)));
    cli_put(out, "precision", cli_json_number(ratio(share_at(a, group, i, i), share_at(a, group, k, i))));
    return out;
}

static json_t *classes_json(const cli_applied_rule *a, size_t group)
{
    json_t *list = json_array();
    for (size_t i = 0; i < a->problem->n_classes; i++)
        cli_push(list, class_json(a, group, i));
    return list;
}

static json_t *groups_json(const cli_applied_rule *a)
{
    const size_t d = a->report.n_decisions, k = a->problem->n_classes;
    json_t *list = json_array();
    for (size_t g = 0; a->problem->n_groups > 1 && g < a->problem->n_groups; g++) {
        json_t *one = json_object();
        cli_put(one, "group", cli_json_text(a->problem->group_name[g]));
        cli_put(one, "share", cli_json_number(share_at(a, g, k, d)));
        cli_put(one, "per_class", classes_json(a, g));
        cli_push(list, one);
    }
    return list;
}

static json_t *limits_json(const cli_applied_rule *a)
{
    json_t *list = json_array();
    for (size_t i = 0; i < a->n_limits; i++) {
        json_t *one = json_object();
        cli_put(one, "limit", cli_json_text(a->limit[i].text));
        cli_put(one, a->limit[i].at_least ? "at_least" : "at_most", cli_json_number(a->limit[i].bound));
        cli_put(one, "achieved", cli_json_number(a->report.achieved[i]));
        cli_put(one, "by_labels", cli_json_number(counted(a, i).value));
        cli_put(one, "chance", cli_json_number(counted(a, i).chance));
        if (i < a->trust.n_limits)
            cli_put(one, "interval", cli_json_range(a->trust.limit[i].low, a->trust.limit[i].high));
        cli_put(one, "price", cli_json_number(a->report.price[i]));
        cli_push(list, one);
    }
    return list;
}

static json_t *certified_json(const cli_applied_rule *a)
{
    const mel_certified *c = &a->certified;
    json_t *out = json_object(), *list = json_array();
    cli_put(out, "confidence", cli_json_number(c->confidence));
    cli_put(out, "rows", cli_json_count(c->rows));
    cli_put(out, "weighted", json_boolean(c->weighted));
    cli_put(out, "rules", cli_json_count(c->n_rules));
    cli_put(out, "rules_certified", cli_json_count(c->n_certified));
    for (size_t l = 0; l < c->n_limits; l++) {
        json_t *one = json_object();
        cli_put(one, "limit", cli_json_text(a->limit[l].text));
        cli_put(one, a->limit[l].at_least ? "at_least" : "at_most", cli_json_number(a->limit[l].bound));
        cli_put(one, "achieved", cli_json_number(c->limit[l].achieved));
        cli_put(one, "bound", cli_json_number(c->limit[l].bound));
        cli_push(list, one);
    }
    cli_put(out, "limits", list);
    return out;
}

static void put_people(json_t *result, const cli_applied_rule *a)
{
    const mel_compromise *p = &a->report.people;
    json_t *list = json_array(), *apart = json_array();
    for (size_t i = 0; i < p->n; i++) {
        json_t *one = json_object(), *others = json_array();
        for (size_t j = 0; j < p->n; j++)
            cli_push(others, cli_json_number(p->cross[i * p->n + j]));
        cli_put(one, "metric", cli_json_text(a->person_file[i]));
        cli_put(one, "regret", cli_json_number(p->regret[i]));
        cli_put(one, "with_average", cli_json_number(p->pooled[i]));
        cli_put(one, "with_each_others", others);
        cli_put(one, "weight", cli_json_number(p->weight[i]));
        cli_put(one, "hardly_matters", cli_json_number(p->floored[i]));
        cli_push(list, one);
    }
    cli_put(result, "people", list);
    cli_put(result, "worst", cli_json_number(a->report.value));
    cli_push(apart, cli_json_text(a->person_file[p->first]));
    cli_push(apart, cli_json_text(a->person_file[p->second]));
    cli_put(result, "farthest_apart", apart);
}

void cli_apply_rule_json(json_t *result, const cli_applied_rule *a)
{
    const mel_rule_report *r = &a->report;
    cli_put(result, "value", cli_json_number(r->value));
    cli_put(result, "by_labels", cli_json_number(a->labels.value.value));
    cli_put(result, "chance", cli_json_number(a->labels.value.chance));
    cli_put(result, "doubtful", json_boolean(a->labels.doubtful));
    cli_put(result, "auc", cli_json_number(a->labels.auc));
    cli_put(result, "optimum", cli_json_number(r->optimum));
    cli_put(result, "loss", cli_json_number(loss(r)));
    cli_put(result, "gap", cli_json_number(gap(r)));
    cli_put(result, "certified", a->certified.n_limits > 0 ? certified_json(a) : json_boolean(r->certified));
    cli_put(result, "starts", cli_json_count(r->starts));
    cli_put(result, "steps", cli_json_count(r->steps));
    cli_put(result, "mixed", json_boolean(r->mixed));
    cli_put_positive(result, a->problem->n_classes, a->problem->class_name);
    if (a->n_people > 0)
        put_people(result, a);
    cli_put(result, "per_class", classes_json(a, SIZE_MAX));
    cli_put(result, "per_group", groups_json(a));
    cli_put(result, "limits", limits_json(a));
    put_trust(result, a);
}
