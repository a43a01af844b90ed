/* An outcome as JSON: what `melicit elicit --json` prints and the browser gets. */
#include "base/json.h"
#include "classify/shared.h"
#include "elicit/shared.h"
#include "metric/text.h"
#include "outcome/outcome.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TEXT = 1 << 20 };

/* --- values; NULL without memory ---------------------------------------------------------------- */

/* Names come from anywhere: bytes that are not UTF-8 become '?'. */
static json_t *text(const char *words)
{
    if (mel_text_is_utf8(words))
        return json_string(words);
    mel_buffer clean;
    mel_buffer_init(&clean, MOST_TEXT);
    (void)mel_text_add_clean(&clean, words, SIZE_MAX);
    char *taken = mel_buffer_take(&clean);
    json_t *value = taken != NULL ? json_string(taken) : NULL;
    free(taken);
    return value;
}

/* null where a number is not known. */
static json_t *number(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

static json_t *count(uint64_t n)
{
    return json_integer((json_int_t)n);
}

static json_t *pair(double first, double second)
{
    return json_pack("[o, o]", number(first), number(second));
}

static json_t *estimate(mel_estimate e)
{
    return json_pack("{s:o, s:o, s:o}", "value", number(e.value), "low", number(e.low), "high",
                     number(e.high));
}

/* An object that is written into; whole turns false when a value is missing. */
typedef struct {
    json_t *object;
    bool whole;
} sheet;

static void put(sheet *s, const char *key, json_t *value)
{
    s->whole = mel_json_put(s->object, key, value) && s->whole;
}

static void put_known(sheet *s, const char *key, double x)
{
    if (isfinite(x))
        put(s, key, json_real(x));
}

static void add(sheet *s, json_t *list, sheet *one)
{
    s->whole = mel_json_add(list, mel_json_if(one->whole, one->object)) && s->whole;
}

static sheet fresh(void)
{
    return (sheet){ json_object(), true };
}

/* --- parts -------------------------------------------------------------------------------------- */

static void put_summary(sheet *s, const mel_outcome *o)
{
    static const char *const ends[] = { "not yet",   "tolerance", "budget", "noise",
                                        "exhausted", "decided",   "range",  "beyond" }; /* as mel_end */
    static const char *const signs[] = { NULL, "open", "upheld", "contradicted",
                                         "dropped" }; /* as mel_sign_check */
    const mel_summary *m = &o->summary;
    put(s, "questions", count(m->questions));
    put(s, "radius", number(m->radius));
    put(s, "end", json_string(ends[m->end]));
    if (isfinite(m->angle)) {
        put(s, "angle", json_real(m->angle));
        put(s, "angle_interval", pair(m->angle_low, m->angle_high));
    }
    put_known(s, "error_rate", m->error_rate);
    put(s, "repeats", count(m->repeats));
    put(s, "repeats_agreed", count(m->repeats_agreed));
    put(s, "disagreements", count(m->disagreements));
    put(s, "skipped", count(m->skipped));
    put_known(s, "consistency", m->consistency);
    if (o->consistency != NULL)
        put(s, "consistency_label", json_string(o->consistency));
    if (m->finding != MEL_FINDING_NONE) {
        put(s, "finding", json_string(mel_finding_name(m->finding)));
        put(s, "finding_text", json_string(mel_finding_text(m->finding)));
    }
    if (m->end == MEL_END_RANGE)
        put(s, "at_end", json_true());
    if (m->further > 0)
        put(s, "further_questions", count(m->further));
    if (signs[m->signs] != NULL)
        put(s, "signs", json_string(signs[m->signs]));
}

static void put_statements(sheet *s, const mel_outcome *o)
{
    json_t *list = json_array();
    for (size_t i = 0; i < o->n_statements; i++) {
        const mel_statement *said = &o->statements[i];
        sheet one = fresh();
        put(&one, "about", json_string(mel_topic_name(said->topic)));
        put(&one, "key", json_string(said->key));
        put(&one, "text", text(said->text));
        if (said->grave)
            put(&one, "grave", json_true());
        add(s, list, &one);
    }
    put(s, "statements", list);
}

static void put_weights(sheet *s, const mel_outcome *o)
{
    json_t *list = json_array();
    for (size_t i = 0; i < o->n_coefficients; i++) {
        const mel_coefficient *c = &o->coefficients[i];
        sheet one = { estimate(c->number), true };
        put(&one, "symbol", text(c->symbol));
        if (i < o->n_weights && o->n_left_out == 0)
            put(&one, "share", estimate(o->weights[i].share));
        put(&one, "name", text(c->meaning));
        add(s, list, &one);
    }
    put(s, "weights", list);
    if (o->n_left_out > 0)
        put(s, "weights_left_out", count(o->n_left_out));
    if (isfinite(o->lambda.value))
        put(s, "lambda", estimate(o->lambda));
}

static void put_ratios(sheet *s, const mel_outcome *o)
{
    json_t *list = json_array();
    for (size_t i = 0; i < o->n_ratios; i++) {
        const mel_weight_ratio *r = &o->ratios[i];
        sheet one = fresh();
        put(&one, "weight", count(r->weight));
        put(&one, "of", count(r->of));
        put(&one, "ratio", number(r->ratio.ratio));
        put(&one, "interval", pair(r->ratio.low, r->ratio.high));
        put(&one, "wide", json_boolean(r->wide));
        if (!(r->ratio.low > 0.0) && r->ratio.high > 0.0) /* how often the largest counts at least */
            put(&one, "more_than", json_string(mel_digits_more_than(1.0 / r->ratio.high).text));
        add(s, list, &one);
    }
    put(s, "ratios", list);
}

/* A ratio of costs as it is shown to people. */
static void put_ratio_text(sheet *s, mel_estimate ratio)
{
    char shown[MEL_RANGE_TEXT];
    mel_ratio_text(shown, ratio);
    put(s, "text", json_string(shown));
}

static void put_bound(sheet *s, const mel_outcome *o)
{
    mel_bound bound;
    if (!mel_outcome_bound(&bound, o, o->cost.low, o->cost.high))
        return;
    sheet one = fresh();
    put(&one, "about", json_string(bound.missed ? "missed" : "false_alarm"));
    put(&one, "more", json_boolean(bound.more));
    put(&one, "number", json_string(bound.number.text));
    put(&one, "one", text(bound.one));
    put(&one, "many", text(bound.many));
    put(s, "bound", mel_json_if(one.whole, one.object));
}

/* What a missed positive costs, and from which probability on to say yes. */
static void put_costs(sheet *s, const mel_outcome *o)
{
    if (isfinite(o->cost.value)) {
        sheet cost = { estimate(o->cost), true };
        put(&cost, "missed", text(o->missed));
        put(&cost, "missed_plural", text(o->missed_plural));
        put(&cost, "false_alarm", text(o->false_alarm));
        put(&cost, "false_alarms", text(o->false_alarms));
        put_ratio_text(&cost, o->cost);
        put_bound(&cost, o);
        put(s, "cost_ratio", mel_json_if(cost.whole, cost.object));
    }
    if (isfinite(o->threshold.value)) {
        sheet threshold = { estimate(o->threshold), true };
        char shown[MEL_RANGE_TEXT];
        mel_chance_text(shown, o->threshold);
        put(&threshold, "positive", text(mel_metric_class_name(o->metric, 1)));
        put(&threshold, "text", json_string(shown));
        put(s, "threshold", mel_json_if(threshold.whole, threshold.object));
    }
}

static void put_decisions(sheet *s, const mel_outcome *o)
{
    json_t *list = json_array();
    for (size_t i = 0; i < o->n_decisions; i++) {
        const mel_decision *d = &o->decisions[i];
        sheet one = fresh();
        put(&one, "name", json_string(d->name));
        put(&one, "rule", text(d->words));
        put(&one, "text", text(d->effect));
        put(&one, "point", pair(d->point.tp, d->point.tn));
        put(&one, "missed", estimate(d->missed));
        put(&one, "false_alarms", estimate(d->false_alarms));
        put(&one, "value", number(d->value));
        put(&one, "interval", json_pack("[o, o]", number(d->value_low), number(d->value_high)));
        add(s, list, &one);
    }
    put(s, "effect", list);
    put(s, "people", text(o->people));
}

static json_t *setting_json(sheet *s, const mel_setting *one)
{
    sheet out = fresh();
    const mel_estimate missed = { one->missed, one->missed_low, one->missed_high },
                       alarms = { one->false_alarms, one->false_alarms_low, one->false_alarms_high };
    /* Scores are probabilities: from 0 on is always, and never has no number. Decisions that were counted
     * have no threshold. */
    if (!isnan(one->threshold))
        put(&out, "threshold", number(isinf(one->threshold) && one->threshold < 0.0 ? 0.0 : one->threshold));
    put(&out, "missed", estimate(missed));
    put(&out, "false_alarms", estimate(alarms));
    put_known(&out, "cost", one->cost);
    if (isfinite(one->ratio_low))
        put(&out, "ratios", pair(one->ratio_low, one->ratio_high));
    if (one->fits)
        put(&out, "fits", json_true());
    if (one->where != NULL)
        put(&out, "where", text(one->where));
    if (one->weighs != NULL)
        put(&out, "weighs", text(one->weighs));
    s->whole = s->whole && out.whole;
    return out.object;
}

/* What the test can be set to. */
static void put_settings(sheet *s, const mel_outcome *o)
{
    json_t *list = json_array();
    sheet all = fresh();
    for (size_t i = 0; i < o->n_settings; i++)
        s->whole = mel_json_add(list, setting_json(s, &o->settings[i])) && s->whole;
    put(&all, "list", list);
    put(&all, "best", count(o->best_setting));
    put(&all, "usual", setting_json(s, &o->usual_setting));
    put(&all, "people", count(o->setting_people));
    put(&all, "positives", count(o->setting_positives));
    put(&all, "rows", count(o->rows));
    put(s, "settings", mel_json_if(all.whole, all.object));
}

/* A row of shares; [value, low, high] each, null where nothing is known. */
static json_t *shares_json(size_t k, const mel_estimate *share)
{
    json_t *row = json_array();
    bool good = true;
    for (size_t j = 0; j < k && good; j++)
        good =
            mel_json_add(row, isnan(share[j].value) ? json_null()
                                                    : json_pack("[o, o, o]", number(share[j].value),
                                                                number(share[j].low), number(share[j].high)));
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
            good = mel_json_add(rows, numbers != NULL ? number(numbers[i])
                                      : share != NULL ? shares_json(k, share + i * k)
                                                      : json_null());
        good = mel_json_add(groups, rows) && good;
    }
    return mel_json_if(good, groups);
}

/* What the best rule and today's do with each class of each group. */
static void put_treatments(sheet *s, const mel_outcome *o)
{
    json_t *list = json_array();
    sheet all = fresh();
    for (size_t i = 0; i < o->n_treatments; i++) {
        sheet one = fresh();
        put(&one, "name", json_string(o->treatments[i].name));
        put(&one, "decided", by_class(o, NULL, o->treatments[i].share));
        add(s, list, &one);
    }
    put(&all, "rules", list);
    put(&all, "share", by_class(o, o->treated, NULL));
    put(&all, "rows", count(o->rows));
    put(&all, "people", text(o->people));
    put(s, "treatments", mel_json_if(all.whole, all.object));
}

static void put_calls(sheet *s, const mel_outcome *o)
{
    json_t *list = json_array();
    for (size_t i = 0; i < o->n_calls; i++) {
        const mel_close_call *call = &o->calls[i];
        sheet one = fresh();
        put(&one, "number", count(call->number));
        put(&one, "answer", json_string(mel_answer_name(call->answer)));
        if (call->text[0] != '\0') {
            put(&one, "text", text(call->text));
        }
        if (call->missed > 0 && call->false_alarms > 0) {
            put(&one, "missed", count(call->missed));
            put(&one, "false_alarms", count(call->false_alarms));
        }
        add(s, list, &one);
    }
    put(s, "close_calls", list);
}

static void put_closest(sheet *s, const mel_outcome *o)
{
    json_t *list = json_array();
    for (size_t i = 0; i < o->n_closest; i++) {
        sheet one = fresh();
        put(&one, "name", json_string(o->closest[i].name));
        put(&one, "agreement", json_real(o->closest[i].agreement));
        put(&one, "percent", json_string(o->closest[i].percent));
        add(s, list, &one);
    }
    put(s, "closest", list);
}

/* On how many further answers metrics agree; how many of the questions that came again got the same answer:
 * nothing can be expected to agree with a person more often. */
static void put_agreed(sheet *s, const mel_outcome *o)
{
    const mel_agreed *a = &o->agreed;
    sheet one = fresh();
    put(&one, "of", count(a->n));
    put(&one, "elicited", count(a->elicited));
    if (a->planar) {
        put(&one, "accuracy", count(a->accuracy));
        put(&one, "f1", count(a->f1));
    }
    if (a->guessed)
        put(&one, "guess", count(a->guess));
    if (o->summary.repeats > 0) {
        put(&one, "self", count(o->summary.repeats_agreed));
        put(&one, "self_of", count(o->summary.repeats));
    }
    put(s, "agreement", mel_json_if(one.whole, one.object));
}

/* A file of the library's as the value that it holds; frees the text. */
static json_t *parsed(char *file)
{
    json_t *value = NULL;
    if (file != NULL && mel_json_parse(&value, file, strlen(file), NULL) != MEL_OK)
        value = NULL;
    free(file);
    return value;
}

/* What the best classifier achieves and its rules, as in a classifier file. */
static mel_status put_best(sheet *s, const mel_outcome *o, mel_error *err)
{
    char *file = NULL;
    if (o->best == NULL)
        return MEL_OK;
    const mel_status status = mel_classifier_to_json(&file, o->best, err);
    if (status != MEL_OK)
        return status;
    json_t *whole = parsed(file), *statistics = json_object_get(whole, "statistics");
    sheet best = fresh();
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach(statistics, key, value) put(&best, key, json_incref(value));
    if (o->n_decisions == 0)
        put(&best, "statistics", json_incref(statistics));
    put(&best, "value", json_incref(json_object_get(whole, "value")));
    put(&best, "rules", json_incref(json_object_get(whole, "rules")));
    put(s, "best", mel_json_if(best.whole, best.object));
    json_decref(whole);
    return MEL_OK;
}

/* The cost ratio once more, null where no bound is known. */
static void put_ratio(sheet *s, const mel_outcome *o)
{
    const bool low = o->cost.low > 0.0, high = isfinite(o->cost.high);
    put(s, "ratio", number(o->cost.value));
    put(s, "ratio_interval", pair(low ? o->cost.low : NAN, high ? o->cost.high : NAN));
    if (!low || !high)
        put(s, "open_ended", json_true());
    if (!mel_outcome_is_exchange(o))
        return;
    put(s, "askable_ratios", pair(o->summary.askable_low, o->summary.askable_high));
    put_known(s, "variation", o->summary.variation);
    if (o->summary.drift != 0)
        put(s, "drift", json_string(o->summary.drift > 0 ? "up" : "down"));
    if (o->summary.imagined)
        put(s, "imagined", json_true());
}

/* Given classifiers, best first, as `melicit rank --json` puts them. */
static void put_order(sheet *s, const mel_outcome *o)
{
    json_t *list = json_array();
    for (size_t i = 0; i < o->n_order; i++) {
        const mel_placed *p = &o->order[i];
        sheet one = fresh();
        put(&one, "name", text(p->name));
        put(&one, "row", count(p->place + 1));
        put(&one, "value", number(p->value));
        put(&one, "best_probability", number(p->first));
        put_known(&one, "best_in_truth", p->truly_first);
        if (i + 1 < o->n_order)
            put(&one, "beats_next", number(p->beats_next));
        add(s, list, &one);
    }
    put(s, "order", list);
    if (o->chosen != NULL)
        put(s, "chosen", text(o->chosen));
    put(s, "order_probability", number(o->order_probability));
}

/* A metric as its file has it. */
static mel_status put_metric(sheet *s, const mel_metric *metric, mel_error *err)
{
    char *file = NULL;
    const mel_status status = mel_metric_to_json(&file, metric, err);
    if (status == MEL_OK)
        put(s, "metric", parsed(file));
    return status;
}

static mel_status add_respondent(sheet *s, json_t *list, const mel_respondent_outcome *r, mel_error *err)
{
    const mel_respondent *found = r->found;
    sheet one = fresh();
    put(&one, "session", text(r->name));
    put(&one, "words", text(r->words));
    put(&one, "questions", count(found->summary.questions));
    put(&one, "answers", count(found->answers));
    put(&one, "contradicted", count(found->contradicted));
    put(&one, "contradicted_by_own", count(found->summary.disagreements));
    put(&one, "agreement", number(found->agreement));
    put(&one, "differs", json_boolean(found->differs));
    put_known(&one, "consistency", found->summary.consistency);
    if (r->consistency != NULL)
        put(&one, "consistency_label", json_string(r->consistency));
    const mel_status status = put_metric(&one, found->metric, err);
    add(s, list, &one);
    return status;
}

/* How far the coefficients of people's own metrics lie apart, in the order of the metric file. */
static void put_spread(sheet *s, const mel_outcome *o)
{
    json_t *list = json_array();
    for (size_t i = 0; i < mel_metric_coefficients(o->metric); i++) {
        const mel_spread *spread = &o->pooled->spread[i];
        sheet one = fresh();
        put(&one, "range", pair(spread->low, spread->high));
        put(&one, "deviation", number(spread->deviation));
        add(s, list, &one);
    }
    put(s, "spread", list);
}

/* With what a session with one person more starts from. */
static mel_status put_community(sheet *s, const mel_community *c, mel_error *err)
{
    sheet one = fresh(), prior = fresh();
    mel_cost_ratio ratio;
    mel_status status = put_metric(&one, c->common, err);
    if (status == MEL_OK)
        status = put_metric(&prior, c->likely, err);
    put(&prior, "strength", number(c->strength));
    put(&prior, "people", count(c->n));
    put(&one, "prior", mel_json_if(prior.whole, prior.object));
    put(&one, "people", count(c->n));
    put(&one, "degrees", number(c->spread * 180.0 / acos(-1.0)));
    if (mel_metric_cost_ratio(&ratio, c->common, NULL) == MEL_OK && isfinite(ratio.ratio)) {
        const mel_estimate common = { ratio.ratio, ratio.low, ratio.high };
        sheet cost = { estimate(common), true };
        put_ratio_text(&cost, common);
        put(&one, "cost_ratio", mel_json_if(cost.whole, cost.object));
    }
    put(s, "community", mel_json_if(one.whole, one.object));
    return status;
}

/* Angles are in radians, as everywhere in JSON. */
static mel_status put_pooled(sheet *s, const mel_outcome *o, mel_error *err)
{
    json_t *people = json_array(), *pairs = json_array();
    mel_status status = MEL_OK;
    put(s, "radius", number(o->summary.radius));
    put_known(s, "error_rate", o->summary.error_rate);
    put(s, "differ", json_boolean(o->pooled->n_against > 0));
    put(s, "against", count(o->pooled->n_against));
    put(s, "mean_degrees", number(o->mean_degrees));
    put_spread(s, o);
    for (size_t i = 0; i < o->n_respondents && status == MEL_OK; i++)
        status = add_respondent(s, people, &o->respondents[i], err);
    for (size_t i = 0; i < o->n_respondent_pairs; i++) {
        const mel_respondent_pair *p = &o->respondent_pairs[i];
        const mel_disagreement *d = &o->pooled->disagreement[p->first * o->n_respondents + p->second];
        sheet one = fresh();
        put(&one, "first", text(o->respondents[p->first].name));
        put(&one, "second", text(o->respondents[p->second].name));
        put(&one, "angle", number(d->angle));
        put(&one, "interval", pair(d->low, d->high));
        put(&one, "differ", json_boolean(p->differ));
        put_known(&one, "order_differently", p->order_differently);
        add(s, pairs, &one);
    }
    put(s, "respondents", people);
    put(s, "disagreement", pairs);
    put_statements(s, o);
    if (status == MEL_OK && o->community != NULL)
        status = put_community(s, o->community, err);
    return status;
}

static mel_status fill(sheet *s, const mel_outcome *o, mel_error *err)
{
    const mel_status status = put_metric(s, o->metric, err);
    if (status != MEL_OK)
        return status;
    put(s, "words", text(o->words));
    put_weights(s, o);
    put_costs(s, o);
    if (o->pooled != NULL)
        return put_pooled(s, o, err);
    if (o->options == NULL)
        return MEL_OK;
    put_summary(s, o);
    if (isfinite(o->cost.value))
        put_ratio(s, o);
    put_statements(s, o);
    if (o->n_ratios > 0)
        put_ratios(s, o);
    if (o->domain->ball != NULL)
        put(s, "ball_radius", number(mel_ball_radius(o->domain->ball)));
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
    sheet s = fresh();
    *out = NULL;
    mel_status status = fill(&s, outcome, err);
    char *whole =
        status == MEL_OK && s.whole ? mel_json_text(s.object, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(s.object);
    if (status == MEL_OK && whole != NULL)
        *out = mel_strdup(whole); /* what jansson made is freed with jansson's own function */
    mel_json_free_text(whole);
    return status == MEL_OK && *out == NULL ? mel_fail_memory(err, "the result") : status;
}
