/* An outcome as JSON: what `melicit elicit --json` prints and the browser gets. */
#include "classify/shared.h"
#include "elicit/shared.h"
#include "outcome/sheet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void put_summary(mel_sheet *s, const mel_outcome *o)
{
    static const char *const ends[] = { "not yet",   "tolerance", "budget", "noise",
                                        "exhausted", "decided",   "range",  "beyond" }; /* as mel_end */
    const mel_summary *m = &o->summary;
    mel_sheet_put(s, "questions", mel_sheet_count(m->questions));
    mel_sheet_put(s, "radius", mel_sheet_number(m->radius));
    mel_sheet_put(s, "end", json_string(ends[m->end]));
    if (isfinite(m->angle)) {
        mel_sheet_put(s, "angle", json_real(m->angle));
        mel_sheet_put(s, "angle_interval", mel_sheet_pair(m->angle_low, m->angle_high));
    }
    mel_sheet_put_known(s, "error_rate", m->error_rate);
    mel_sheet_put(s, "repeats", mel_sheet_count(m->repeats));
    mel_sheet_put(s, "repeats_agreed", mel_sheet_count(m->repeats_agreed));
    mel_sheet_put(s, "disagreements", mel_sheet_count(m->disagreements));
    mel_sheet_put(s, "skipped", mel_sheet_count(m->skipped));
    mel_sheet_put_known(s, "consistency", m->consistency);
    if (o->consistency != NULL)
        mel_sheet_put(s, "consistency_label", json_string(o->consistency));
    if (m->finding != MEL_FINDING_NONE) {
        mel_sheet_put(s, "finding", json_string(mel_finding_name(m->finding)));
        mel_sheet_put(s, "finding_text", json_string(mel_finding_text(m->finding)));
    }
    if (m->end == MEL_END_RANGE)
        mel_sheet_put(s, "at_end", json_true());
    if (m->signs == MEL_SIGNS_PRESSED)
        mel_sheet_put(s, "signs", json_string("open"));
}

static void put_weights(mel_sheet *s, const mel_outcome *o)
{
    json_t *list = json_array();
    for (size_t i = 0; i < o->n_coefficients; i++) {
        const mel_coefficient *c = &o->coefficients[i];
        mel_sheet one = { mel_sheet_estimate(c->number), true };
        mel_sheet_put(&one, "symbol", mel_sheet_text(c->symbol));
        if (i < o->n_weights && o->n_left_out == 0)
            mel_sheet_put(&one, "share", mel_sheet_estimate(o->weights[i].share));
        mel_sheet_put(&one, "name", mel_sheet_text(c->meaning));
        mel_sheet_add(s, list, &one);
    }
    mel_sheet_put(s, "weights", list);
    if (o->n_left_out > 0)
        mel_sheet_put(s, "weights_left_out", mel_sheet_count(o->n_left_out));
    if (isfinite(o->lambda.value))
        mel_sheet_put(s, "lambda", mel_sheet_estimate(o->lambda));
}

static void put_ratios(mel_sheet *s, const mel_outcome *o)
{
    json_t *list = json_array();
    for (size_t i = 0; i < o->n_ratios; i++) {
        const mel_weight_ratio *r = &o->ratios[i];
        mel_sheet one = mel_sheet_new();
        mel_sheet_put(&one, "weight", mel_sheet_count(r->weight));
        mel_sheet_put(&one, "of", mel_sheet_count(r->of));
        mel_sheet_put(&one, "ratio", mel_sheet_number(r->ratio.ratio));
        mel_sheet_put(&one, "interval", mel_sheet_pair(r->ratio.low, r->ratio.high));
        mel_sheet_put(&one, "wide", json_boolean(r->wide));
        if (!(r->ratio.low > 0.0) && r->ratio.high > 0.0) /* how often the largest counts at least */
            mel_sheet_put(&one, "more_than", json_string(mel_digits_more_than(1.0 / r->ratio.high).text));
        mel_sheet_add(s, list, &one);
    }
    mel_sheet_put(s, "ratios", list);
}

static void put_bound(mel_sheet *s, const mel_outcome *o)
{
    mel_bound bound;
    if (!mel_outcome_bound(&bound, o, o->cost.low, o->cost.high))
        return;
    mel_sheet one = mel_sheet_new();
    mel_sheet_put(&one, "about", json_string(bound.missed ? "missed" : "false_alarm"));
    mel_sheet_put(&one, "more", json_boolean(bound.more));
    mel_sheet_put(&one, "number", json_string(bound.number.text));
    mel_sheet_put(&one, "one", mel_sheet_text(bound.one));
    mel_sheet_put(&one, "many", mel_sheet_text(bound.many));
    mel_sheet_put(s, "bound", mel_json_if(one.whole, one.object));
}

/* What a missed positive costs, and from which probability on to say yes. */
static void put_costs(mel_sheet *s, const mel_outcome *o)
{
    if (isfinite(o->cost.value)) {
        mel_sheet cost = { mel_sheet_estimate(o->cost), true };
        mel_sheet_put(&cost, "missed", mel_sheet_text(o->missed));
        mel_sheet_put(&cost, "missed_plural", mel_sheet_text(o->missed_plural));
        mel_sheet_put(&cost, "false_alarm", mel_sheet_text(o->false_alarm));
        mel_sheet_put(&cost, "false_alarms", mel_sheet_text(o->false_alarms));
        mel_sheet_put_ratio(&cost, o->cost);
        put_bound(&cost, o);
        mel_sheet_put(s, "cost_ratio", mel_json_if(cost.whole, cost.object));
    }
    if (isfinite(o->threshold.value)) {
        mel_sheet threshold = { mel_sheet_estimate(o->threshold), true };
        char shown[MEL_RANGE_TEXT];
        mel_chance_text(shown, o->threshold);
        mel_sheet_put(&threshold, "positive", mel_sheet_text(mel_metric_class_name(o->metric, 1)));
        mel_sheet_put(&threshold, "text", json_string(shown));
        mel_sheet_put(s, "threshold", mel_json_if(threshold.whole, threshold.object));
    }
}

static void put_decisions(mel_sheet *s, const mel_outcome *o)
{
    json_t *list = json_array();
    for (size_t i = 0; i < o->n_decisions; i++) {
        const mel_decision *d = &o->decisions[i];
        mel_sheet one = mel_sheet_new();
        mel_sheet_put(&one, "name", json_string(d->name));
        mel_sheet_put(&one, "rule", mel_sheet_text(d->words));
        mel_sheet_put(&one, "text", mel_sheet_text(d->effect));
        mel_sheet_put(&one, "point", mel_sheet_pair(d->point.tp, d->point.tn));
        mel_sheet_put(&one, "missed", mel_sheet_estimate(d->missed));
        mel_sheet_put(&one, "false_alarms", mel_sheet_estimate(d->false_alarms));
        mel_sheet_put(&one, "value", mel_sheet_number(d->value));
        mel_sheet_put(&one, "interval",
                      json_pack("[o, o]", mel_sheet_number(d->value_low), mel_sheet_number(d->value_high)));
        mel_sheet_add(s, list, &one);
    }
    mel_sheet_put(s, "effect", list);
    mel_sheet_put(s, "people", mel_sheet_text(o->people));
}

static json_t *setting_json(mel_sheet *s, const mel_setting *one)
{
    mel_sheet out = mel_sheet_new();
    const mel_estimate missed = { one->missed, one->missed_low, one->missed_high },
                       alarms = { one->false_alarms, one->false_alarms_low, one->false_alarms_high };
    /* Scores are probabilities: from 0 on is always, and never has no number. Decisions that were counted
     * have no threshold. */
    if (!isnan(one->threshold))
        mel_sheet_put(&out, "threshold",
                      mel_sheet_number(isinf(one->threshold) && one->threshold < 0.0 ? 0.0 : one->threshold));
    mel_sheet_put(&out, "missed", mel_sheet_estimate(missed));
    mel_sheet_put(&out, "false_alarms", mel_sheet_estimate(alarms));
    mel_sheet_put_known(&out, "cost", one->cost);
    if (isfinite(one->ratio_low))
        mel_sheet_put(&out, "ratios", mel_sheet_pair(one->ratio_low, one->ratio_high));
    if (one->fits)
        mel_sheet_put(&out, "fits", json_true());
    if (one->where != NULL)
        mel_sheet_put(&out, "where", mel_sheet_text(one->where));
    if (one->weighs != NULL)
        mel_sheet_put(&out, "weighs", mel_sheet_text(one->weighs));
    s->whole = s->whole && out.whole;
    return out.object;
}

/* What the test can be set to. */
static void put_settings(mel_sheet *s, const mel_outcome *o)
{
    json_t *list = json_array();
    mel_sheet all = mel_sheet_new();
    for (size_t i = 0; i < o->n_settings; i++)
        s->whole = mel_json_add(list, setting_json(s, &o->settings[i])) && s->whole;
    mel_sheet_put(&all, "list", list);
    mel_sheet_put(&all, "best", mel_sheet_count(o->best_setting));
    mel_sheet_put(&all, "usual", setting_json(s, &o->usual_setting));
    mel_sheet_put(&all, "people", mel_sheet_count(o->setting_people));
    mel_sheet_put(&all, "positives", mel_sheet_count(o->setting_positives));
    mel_sheet_put(&all, "rows", mel_sheet_count(o->rows));
    mel_sheet_put(s, "settings", mel_json_if(all.whole, all.object));
}

/* A row of shares; [value, low, high] each, null where nothing is known. */
static json_t *shares_json(size_t k, const mel_estimate *share)
{
    json_t *row = json_array();
    bool good = true;
    for (size_t j = 0; j < k && good; j++)
        good =
            mel_json_add(row, isnan(share[j].value) ? json_null()
                                                    : json_pack("[o, o, o]", mel_sheet_number(share[j].value),
                                                                mel_sheet_number(share[j].low),
                                                                mel_sheet_number(share[j].high)));
    return mel_json_if(good, row);
}

/* Groups x true classes: `numbers`, or rows of shares; null where there is neither. */
static json_t *by_class(const mel_outcome *o, const double *numbers, const mel_estimate *share)
{
    const mel_layout *layout = mel_metric_layout(o->metric);
    const size_t k = layout->n_classes, m = layout->n_groups > 1 ? layout->n_groups : 1;
    json_t *groups = json_array();
    bool good = true;
    for (size_t g = 0; g < m && good; g++) {
        json_t *rows = json_array();
        for (size_t i = g * k; i < (g + 1) * k && good; i++)
            good = mel_json_add(rows, numbers != NULL ? mel_sheet_number(numbers[i])
                                      : share != NULL ? shares_json(k, share + i * k)
                                                      : json_null());
        good = mel_json_add(groups, rows) && good;
    }
    return mel_json_if(good, groups);
}

/* What the best rule and today's do with each class of each group. */
static void put_treatments(mel_sheet *s, const mel_outcome *o)
{
    json_t *list = json_array();
    mel_sheet all = mel_sheet_new();
    for (size_t i = 0; i < o->n_treatments; i++) {
        mel_sheet one = mel_sheet_new();
        mel_sheet_put(&one, "name", json_string(o->treatments[i].name));
        mel_sheet_put(&one, "decided", by_class(o, NULL, o->treatments[i].share));
        mel_sheet_add(s, list, &one);
    }
    mel_sheet_put(&all, "rules", list);
    mel_sheet_put(&all, "share", by_class(o, o->treated, NULL));
    mel_sheet_put(&all, "rows", mel_sheet_count(o->rows));
    mel_sheet_put(&all, "people", mel_sheet_text(o->people));
    mel_sheet_put(s, "treatments", mel_json_if(all.whole, all.object));
}

static void put_calls(mel_sheet *s, const mel_outcome *o)
{
    json_t *list = json_array();
    for (size_t i = 0; i < o->n_calls; i++) {
        const mel_close_call *call = &o->calls[i];
        mel_sheet one = mel_sheet_new();
        mel_sheet_put(&one, "number", mel_sheet_count(call->number));
        mel_sheet_put(&one, "answer", json_string(mel_answer_name(call->answer)));
        if (call->text[0] != '\0') {
            mel_sheet_put(&one, "text", mel_sheet_text(call->text));
        }
        if (call->missed > 0 && call->false_alarms > 0) {
            mel_sheet_put(&one, "missed", mel_sheet_count(call->missed));
            mel_sheet_put(&one, "false_alarms", mel_sheet_count(call->false_alarms));
        }
        mel_sheet_add(s, list, &one);
    }
    mel_sheet_put(s, "close_calls", list);
}

static void put_closest(mel_sheet *s, const mel_outcome *o)
{
    json_t *list = json_array();
    for (size_t i = 0; i < o->n_closest; i++) {
        mel_sheet one = mel_sheet_new();
        mel_sheet_put(&one, "name", json_string(o->closest[i].name));
        mel_sheet_put(&one, "agreement", json_real(o->closest[i].agreement));
        mel_sheet_put(&one, "percent", json_string(o->closest[i].percent));
        mel_sheet_add(s, list, &one);
    }
    mel_sheet_put(s, "closest", list);
}

/* On how many further answers metrics agree; how many of the questions that came again got the same answer:
 * nothing can be expected to agree with a person more often. */
static void put_agreed(mel_sheet *s, const mel_outcome *o)
{
    const mel_agreed *a = &o->agreed;
    mel_sheet one = mel_sheet_new();
    mel_sheet_put(&one, "of", mel_sheet_count(a->n));
    mel_sheet_put(&one, "elicited", mel_sheet_count(a->elicited));
    if (a->planar) {
        mel_sheet_put(&one, "accuracy", mel_sheet_count(a->accuracy));
        mel_sheet_put(&one, "f1", mel_sheet_count(a->f1));
    }
    if (a->guessed)
        mel_sheet_put(&one, "guess", mel_sheet_count(a->guess));
    if (o->summary.repeats > 0) {
        mel_sheet_put(&one, "self", mel_sheet_count(o->summary.repeats_agreed));
        mel_sheet_put(&one, "self_of", mel_sheet_count(o->summary.repeats));
    }
    mel_sheet_put(s, "agreement", mel_json_if(one.whole, one.object));
}

/* What the best classifier achieves and its rules, as in a classifier file. */
static mel_status put_best(mel_sheet *s, const mel_outcome *o, mel_error *err)
{
    char *file = NULL;
    if (o->best == NULL)
        return MEL_OK;
    const mel_status status = mel_classifier_to_json(&file, o->best, err);
    if (status != MEL_OK)
        return status;
    json_t *whole = mel_sheet_parse(file), *statistics = json_object_get(whole, "statistics");
    mel_sheet best = mel_sheet_new();
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach(statistics, key, value) mel_sheet_put(&best, key, json_incref(value));
    if (o->n_decisions == 0)
        mel_sheet_put(&best, "statistics", json_incref(statistics));
    mel_sheet_put(&best, "value", json_incref(json_object_get(whole, "value")));
    mel_sheet_put(&best, "rules", json_incref(json_object_get(whole, "rules")));
    mel_sheet_put(s, "best", mel_json_if(best.whole, best.object));
    json_decref(whole);
    return MEL_OK;
}

/* The cost ratio once more, null where no bound is known. */
static void put_ratio(mel_sheet *s, const mel_outcome *o)
{
    const bool low = o->cost.low > 0.0, high = isfinite(o->cost.high);
    mel_sheet_put(s, "ratio", mel_sheet_number(o->cost.value));
    mel_sheet_put(s, "ratio_interval", mel_sheet_pair(low ? o->cost.low : NAN, high ? o->cost.high : NAN));
    if (!low || !high)
        mel_sheet_put(s, "open_ended", json_true());
    if (!mel_outcome_is_exchange(o))
        return;
    mel_sheet_put(s, "askable_ratios", mel_sheet_pair(o->summary.askable_low, o->summary.askable_high));
    mel_sheet_put_known(s, "variation", o->summary.variation);
    mel_sheet_put_known(s, "settled", o->summary.settled);
    mel_sheet_put_known(s, "questions_to_ratio", o->summary.questions_to_ratio);
    if (o->summary.drift != 0)
        mel_sheet_put(s, "drift", json_string(o->summary.drift > 0 ? "up" : "down"));
    if (o->summary.imagined)
        mel_sheet_put(s, "imagined", json_true());
}

/* Given classifiers, best first, as `melicit rank --json` puts them. */
static void put_order(mel_sheet *s, const mel_outcome *o)
{
    json_t *list = json_array();
    for (size_t i = 0; i < o->n_order; i++) {
        const mel_placed *p = &o->order[i];
        mel_sheet one = mel_sheet_new();
        mel_sheet_put(&one, "name", mel_sheet_text(p->name));
        mel_sheet_put(&one, "row", mel_sheet_count(p->place + 1));
        mel_sheet_put(&one, "value", mel_sheet_number(p->value));
        mel_sheet_put(&one, "best_probability", mel_sheet_number(p->first));
        mel_sheet_put_known(&one, "best_in_truth", p->truly_first);
        if (i + 1 < o->n_order)
            mel_sheet_put(&one, "beats_next", mel_sheet_number(p->beats_next));
        mel_sheet_add(s, list, &one);
    }
    mel_sheet_put(s, "order", list);
    if (o->chosen != NULL)
        mel_sheet_put(s, "chosen", mel_sheet_text(o->chosen));
    mel_sheet_put(s, "order_probability", mel_sheet_number(o->order_probability));
}

static mel_status fill(mel_sheet *s, const mel_outcome *o, mel_error *err)
{
    const mel_status status = mel_sheet_put_metric(s, o->metric, err);
    if (status != MEL_OK)
        return status;
    const char *const *class_name = mel_metric_class_names(o->metric);
    if (mel_metric_layout(o->metric)->n_classes == 2 && class_name != NULL)
        mel_sheet_put(s, "positive", mel_sheet_text(class_name[1]));
    mel_sheet_put(s, "words", mel_sheet_text(o->words));
    put_weights(s, o);
    put_costs(s, o);
    mel_sheet_put_equivalents(s, o);
    if (o->pooled != NULL)
        return mel_sheet_put_pooled(s, o, err);
    if (o->options == NULL)
        return MEL_OK;
    put_summary(s, o);
    if (isfinite(o->cost.value))
        put_ratio(s, o);
    mel_sheet_put_statements(s, o);
    if (o->n_ratios > 0)
        put_ratios(s, o);
    if (o->domain->ball != NULL)
        mel_sheet_put(s, "ball_radius", mel_sheet_number(mel_ball_radius(o->domain->ball)));
    if (o->n_order > 0)
        put_order(s, o);
    if (o->n_decisions > 0) {
        put_decisions(s, o);
        put_closest(s, o);
    }
    if (o->n_settings > 0)
        put_settings(s, o);
    if (o->n_treatments > 0)
        put_treatments(s, o);
    if (o->n_calls > 0)
        put_calls(s, o);
    if (o->agreed.n > 0)
        put_agreed(s, o);
    return put_best(s, o, err);
}

mel_status mel_outcome_to_json(char **out, const mel_outcome *outcome, mel_error *err)
{
    mel_sheet s = mel_sheet_new();
    *out = NULL;
    const mel_status status = fill(&s, outcome, err);
    if (status == MEL_OK)
        return mel_sheet_take(out, &s, err);
    json_decref(s.object);
    return status;
}
