/* An outcome as JSON: what `melicit elicit --json` prints and the browser gets. */
#include "classify/shared.h"
#include "elicit/shared.h"
#include "metric/text.h"
#include "outcome/sheet.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TEXT = 1 << 20 };

/* --- values: NULL without memory ------------------------------------------------------------------- */

/* Names come from anywhere: bytes that are not UTF-8 become '?'. */
json_t *mel_sheet_text(const char *words)
{
    if (mel_text_is_utf8(words))
        return json_string(words);
    mel_buffer clean;
    mel_buffer_init(&clean, MOST_TEXT);
    (void)mel_text_add_clean(&clean, words, SIZE_MAX);
    MEL_AUTO_MEMORY char *taken = mel_buffer_take(&clean);
    return taken != NULL ? json_string(taken) : NULL;
}

json_t *mel_sheet_number(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

json_t *mel_sheet_count(uint64_t n)
{
    return json_integer((json_int_t)n);
}

json_t *mel_sheet_pair(double first, double second)
{
    return json_pack("[o, o]", mel_sheet_number(first), mel_sheet_number(second));
}

json_t *mel_sheet_estimate(mel_estimate e)
{
    return json_pack("{s:o, s:o, s:o}", "value", mel_sheet_number(e.value), "low", mel_sheet_number(e.low),
                     "high", mel_sheet_number(e.high));
}

/* A file of the library's as the value that it holds; frees the text. */
static json_t *json_of_file(char *file)
{
    json_t *value = NULL;
    if (file != NULL && mel_json_parse(&value, file, strlen(file), NULL) != MEL_OK)
        value = NULL;
    free(file);
    return value;
}

/* --- objects: tables of keys, kinds and places ------------------------------------------------------ */

mel_sheet mel_sheet_new(void)
{
    json_t *object = json_object();
    return (mel_sheet){ object, object != NULL };
}

void mel_sheet_put(mel_sheet *s, const char *key, json_t *value)
{
    s->whole = mel_json_put(s->object, key, value) && s->whole;
}

mel_status mel_sheet_take(char **out, mel_sheet *s, mel_error *err)
{
    char *whole = s->whole ? mel_json_text(s->object, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(s->object);
    *out = whole != NULL ? mel_strdup(whole) : NULL; /* jansson's own function frees what it made */
    mel_json_free_text(whole);
    return *out != NULL ? MEL_OK : mel_fail_memory(err, "the result");
}

static void put_sheet(mel_sheet *s, const char *key, const mel_sheet *one)
{
    mel_sheet_put(s, key, mel_json_if(one->whole, one->object));
}

/* KNOWN: only where finite; TEXT: only where there is one; TRUE: only where true. */
typedef enum { NUMBER, KNOWN, SIZE, COUNT, LONG_COUNT, TEXT, FLAG, TRUE, ESTIMATE, PAIR } kind;
typedef struct {
    const char *key;
    kind kind;
    size_t at;
} field;
#define AT(type, key, kind, member)                                                                          \
    {                                                                                                        \
        key, kind, offsetof(type, member)                                                                    \
    }

static void put_field(mel_sheet *s, const field *f, const char *at)
{
    const double *number = (const double *)(const void *)at;
    const char *text = f->kind == TEXT ? *(const char *const *)(const void *)at : NULL;
    const bool flag = (f->kind == FLAG || f->kind == TRUE) && *(const bool *)(const void *)at;
    if ((f->kind == KNOWN && !isfinite(*number)) || (f->kind == TEXT && text == NULL) ||
        (f->kind == TRUE && !flag))
        return;
    switch (f->kind) {
    case NUMBER:
    case KNOWN:
        mel_sheet_put(s, f->key, mel_sheet_number(*number));
        break;
    case SIZE:
        mel_sheet_put(s, f->key, mel_sheet_count(*(const size_t *)(const void *)at));
        break;
    case COUNT:
        mel_sheet_put(s, f->key, mel_sheet_count(*(const uint32_t *)(const void *)at));
        break;
    case LONG_COUNT:
        mel_sheet_put(s, f->key, mel_sheet_count(*(const uint64_t *)(const void *)at));
        break;
    case TEXT:
        mel_sheet_put(s, f->key, mel_sheet_text(text));
        break;
    case FLAG:
    case TRUE:
        mel_sheet_put(s, f->key, json_boolean(flag));
        break;
    case ESTIMATE:
        mel_sheet_put(s, f->key, mel_sheet_estimate(*(const mel_estimate *)(const void *)at));
        break;
    case PAIR:
        mel_sheet_put(s, f->key, mel_sheet_pair(number[0], number[1]));
        break;
    }
}

static void put_fields(mel_sheet *s, const void *from, size_t n, const field *fields)
{
    for (size_t i = 0; i < n; i++)
        put_field(s, &fields[i], (const char *)from + fields[i].at);
}
#define PUT(s, from, fields) put_fields(s, from, sizeof(fields) / sizeof *(fields), fields)

void mel_sheet_add(mel_sheet *s, json_t *list, const mel_sheet *one)
{
    s->whole = mel_json_add(list, mel_json_if(one->whole, one->object)) && s->whole;
}

static void put_list(mel_sheet *s, const char *key, const void *items, size_t n, size_t size, size_t n_fields,
                     const field *fields)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) {
        mel_sheet one = mel_sheet_new();
        put_fields(&one, (const char *)items + i * size, n_fields, fields);
        mel_sheet_add(s, list, &one);
    }
    mel_sheet_put(s, key, list);
}
#define PUT_LIST(s, key, items, n, fields)                                                                   \
    put_list(s, key, items, n, sizeof *(items), sizeof(fields) / sizeof *(fields), fields)

/* --- the metric ------------------------------------------------------------------------------------- */

/* A metric as its file has it. */
static mel_status put_metric(mel_sheet *s, const mel_metric *metric, mel_error *err)
{
    char *file = NULL;
    TRY(mel_metric_to_json(&file, metric, err));
    mel_sheet_put(s, "metric", json_of_file(file));
    return MEL_OK;
}

static void put_headline(mel_sheet *s, const mel_headline *h)
{
    static const char *const kinds[] = { "words", "number", "bound", "unsettled" };
    static const field fields[] = { AT(mel_headline, "text", TEXT, text),
                                    AT(mel_headline, "range", TEXT, range),
                                    AT(mel_headline, "why", TEXT, why),
                                    AT(mel_headline, "rest", TEXT, rest) };
    mel_sheet one = mel_sheet_new();
    mel_sheet_put(&one, "kind", json_string(kinds[h->kind]));
    PUT(&one, h, fields);
    put_sheet(s, "headline", &one);
}

static void put_summary(mel_sheet *s, const mel_outcome *o)
{
    static const char *const ends[] = { "not yet",   "tolerance", "budget", "noise",
                                        "exhausted", "decided",   "range",  "beyond" }; /* as mel_end */
    static const field first[] = { AT(mel_summary, "questions", COUNT, questions),
                                   AT(mel_summary, "radius", NUMBER, radius) },
                       then[] = { AT(mel_summary, "error_rate", KNOWN, error_rate),
                                  AT(mel_summary, "repeats", COUNT, repeats),
                                  AT(mel_summary, "repeats_agreed", COUNT, repeats_agreed),
                                  AT(mel_summary, "disagreements", COUNT, disagreements),
                                  AT(mel_summary, "skipped", COUNT, skipped),
                                  AT(mel_summary, "consistency", KNOWN, consistency) };
    const mel_summary *m = &o->summary;
    PUT(s, m, first);
    mel_sheet_put(s, "end", json_string(ends[m->end]));
    if (isfinite(m->angle)) {
        mel_sheet_put(s, "angle", json_real(m->angle));
        mel_sheet_put(s, "angle_interval", mel_sheet_pair(m->angle_low, m->angle_high));
    }
    PUT(s, m, then);
    if (m->neither > 0)
        mel_sheet_put(
            s, "neither",
            json_pack("{s:I, s:o}", "questions", (json_int_t)m->neither, "achievable",
                      isfinite(o->above_refused) ? json_boolean(o->above_refused > 0.0) : json_null()));
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
    static const field fields[] = { AT(mel_weight_ratio, "weight", SIZE, weight),
                                    AT(mel_weight_ratio, "of", SIZE, of),
                                    AT(mel_weight_ratio, "ratio", NUMBER, ratio.ratio) };
    json_t *list = json_array();
    for (size_t i = 0; i < o->n_ratios; i++) {
        const mel_weight_ratio *r = &o->ratios[i];
        mel_sheet one = mel_sheet_new();
        PUT(&one, r, fields);
        mel_sheet_put(&one, "interval", mel_sheet_pair(r->ratio.low, r->ratio.high));
        mel_sheet_put(&one, "wide", json_boolean(r->wide));
        if (!(r->ratio.low > 0.0) && r->ratio.high > 0.0) /* how often the largest counts at least */
            mel_sheet_put(&one, "more_than", json_string(mel_digits_more_than(1.0 / r->ratio.high).text));
        mel_sheet_add(s, list, &one);
    }
    mel_sheet_put(s, "ratios", list);
}

/* What a missed positive costs, and from which probability on to say yes. */
static void put_costs(mel_sheet *s, const mel_outcome *o)
{
    static const field names[] = { AT(mel_outcome, "missed", TEXT, missed),
                                   AT(mel_outcome, "missed_plural", TEXT, missed_plural),
                                   AT(mel_outcome, "false_alarm", TEXT, false_alarm),
                                   AT(mel_outcome, "false_alarms", TEXT, false_alarms) };
    char shown[MEL_RANGE_TEXT];
    mel_bound bound;
    if (isfinite(o->cost.value)) {
        mel_sheet cost = { mel_sheet_estimate(o->cost), true };
        PUT(&cost, o, names);
        mel_ratio_text(shown, o->cost);
        mel_sheet_put(&cost, "text", json_string(shown));
        if (mel_outcome_bound(&bound, o, o->cost.low, o->cost.high)) {
            mel_sheet one = mel_sheet_new();
            mel_sheet_put(&one, "about", json_string(bound.missed ? "missed" : "false_alarm"));
            mel_sheet_put(&one, "more", json_boolean(bound.more));
            mel_sheet_put(&one, "number", json_string(bound.number.text));
            mel_sheet_put(&one, "one", mel_sheet_text(bound.one));
            mel_sheet_put(&one, "many", mel_sheet_text(bound.many));
            put_sheet(&cost, "bound", &one);
        }
        put_sheet(s, "cost_ratio", &cost);
    }
    if (isfinite(o->threshold.value)) {
        mel_sheet threshold = { mel_sheet_estimate(o->threshold), true };
        mel_chance_text(shown, o->threshold);
        mel_sheet_put(&threshold, "positive", mel_sheet_text(mel_metric_class_name(o->metric, 1)));
        mel_sheet_put(&threshold, "text", json_string(shown));
        put_sheet(s, "threshold", &threshold);
    }
}

/* What explains the answers better than an exchange rate. */
static void put_misfit(mel_sheet *s, const mel_misfit *misfit)
{
    static const char *const kinds[] = { "",      "found", "cleared", "missed-first", "alarms-first",
                                         "level", "side",  "drift" };
    static const field known[] = { AT(mel_misfit, "value", KNOWN, value), AT(mel_misfit, "low", KNOWN, low),
                                   AT(mel_misfit, "high", KNOWN, high) };
    if (misfit->kind == MEL_MISFIT_NONE)
        return;
    mel_sheet one = mel_sheet_new();
    mel_sheet_put(&one, "kind", json_string(kinds[misfit->kind]));
    PUT(&one, misfit, known);
    put_sheet(s, "misfit", &one);
    if (misfit->kind == MEL_MISFIT_DRIFT)
        mel_sheet_put(s, "drift", json_string(misfit->value > 0.0 ? "up" : "down"));
}

/* The cost ratio once more, null where no bound is known. */
static void put_ratio(mel_sheet *s, const mel_outcome *o)
{
    static const field known[] = { AT(mel_summary, "variation", KNOWN, variation),
                                   AT(mel_summary, "settled", KNOWN, settled),
                                   AT(mel_summary, "questions_to_ratio", KNOWN, questions_to_ratio) };
    const bool low = o->cost.low > 0.0, high = isfinite(o->cost.high);
    mel_sheet_put(s, "ratio", mel_sheet_number(o->cost.value));
    mel_sheet_put(s, "ratio_interval", mel_sheet_pair(low ? o->cost.low : NAN, high ? o->cost.high : NAN));
    if (!low || !high)
        mel_sheet_put(s, "open_ended", json_true());
    if (!mel_outcome_is_exchange(o))
        return;
    mel_sheet_put(s, "askable_ratios", mel_sheet_pair(o->summary.askable_low, o->summary.askable_high));
    PUT(s, &o->summary, known);
    put_misfit(s, &o->summary.misfit);
    if (o->summary.imagined)
        mel_sheet_put(s, "imagined", json_true());
}

static void put_statements(mel_sheet *s, const mel_outcome *o)
{
    static const field fields[] = { AT(mel_statement, "key", TEXT, key),
                                    AT(mel_statement, "text", TEXT, text),
                                    AT(mel_statement, "grave", TRUE, grave) };
    json_t *list = json_array();
    for (size_t i = 0; i < o->n_statements; i++) {
        mel_sheet one = mel_sheet_new();
        mel_sheet_put(&one, "about", json_string(mel_topic_name(o->statements[i].topic)));
        PUT(&one, &o->statements[i], fields);
        mel_sheet_add(s, list, &one);
    }
    mel_sheet_put(s, "statements", list);
}

/* --- rules ------------------------------------------------------------------------------------------- */

static void put_decisions(mel_sheet *s, const mel_outcome *o)
{
    static const field fields[] = { AT(mel_decision, "name", TEXT, name),
                                    AT(mel_decision, "rule", TEXT, words),
                                    AT(mel_decision, "text", TEXT, effect),
                                    AT(mel_decision, "point", PAIR, point),
                                    AT(mel_decision, "missed", ESTIMATE, missed),
                                    AT(mel_decision, "false_alarms", ESTIMATE, false_alarms),
                                    AT(mel_decision, "value", NUMBER, value),
                                    AT(mel_decision, "interval", PAIR, value_low) };
    static const field closest[] = { AT(mel_closest, "name", TEXT, name),
                                     AT(mel_closest, "agreement", NUMBER, agreement),
                                     AT(mel_closest, "percent", TEXT, percent) };
    PUT_LIST(s, "effect", o->decisions, o->n_decisions, fields);
    mel_sheet_put(s, "people", mel_sheet_text(o->people));
    PUT_LIST(s, "closest", o->closest, o->n_closest, closest);
}

static json_t *setting_json(mel_sheet *s, const mel_setting *one)
{
    static const field fields[] = { AT(mel_setting, "cost", KNOWN, cost) },
                       words[] = { AT(mel_setting, "fits", TRUE, fits), AT(mel_setting, "where", TEXT, where),
                                   AT(mel_setting, "weighs", TEXT, weighs) };
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
    PUT(&out, one, fields);
    if (isfinite(one->ratio_low))
        mel_sheet_put(&out, "ratios", mel_sheet_pair(one->ratio_low, one->ratio_high));
    PUT(&out, one, words);
    s->whole = s->whole && out.whole;
    return out.object;
}

/* What the test can be set to. */
static void put_settings(mel_sheet *s, const mel_outcome *o)
{
    static const field fields[] = { AT(mel_outcome, "people", COUNT, setting_people),
                                    AT(mel_outcome, "positives", COUNT, setting_positives),
                                    AT(mel_outcome, "rows", LONG_COUNT, rows) };
    json_t *list = json_array();
    mel_sheet all = mel_sheet_new();
    for (size_t i = 0; i < o->n_settings; i++)
        s->whole = mel_json_add(list, setting_json(s, &o->settings[i])) && s->whole;
    mel_sheet_put(&all, "list", list);
    mel_sheet_put(&all, "best", mel_sheet_count(o->best_setting));
    mel_sheet_put(&all, "usual", setting_json(s, &o->usual_setting));
    PUT(&all, o, fields);
    put_sheet(s, "settings", &all);
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
    put_sheet(s, "treatments", &all);
}

static void put_calls(mel_sheet *s, const mel_outcome *o)
{
    json_t *list = json_array();
    for (size_t i = 0; i < o->n_calls; i++) {
        const mel_close_call *call = &o->calls[i];
        mel_sheet one = mel_sheet_new();
        mel_sheet_put(&one, "number", mel_sheet_count(call->number));
        mel_sheet_put(&one, "answer", json_string(mel_answer_name(call->answer)));
        if (call->text[0] != '\0')
            mel_sheet_put(&one, "text", mel_sheet_text(call->text));
        if (call->missed > 0 && call->false_alarms > 0) {
            mel_sheet_put(&one, "missed", mel_sheet_count(call->missed));
            mel_sheet_put(&one, "false_alarms", mel_sheet_count(call->false_alarms));
        }
        mel_sheet_add(s, list, &one);
    }
    mel_sheet_put(s, "close_calls", list);
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
    put_sheet(s, "agreement", &one);
}

/* What the best classifier achieves and its rules, as in a classifier file. */
static mel_status put_best(mel_sheet *s, const mel_outcome *o, mel_error *err)
{
    char *file = NULL;
    if (o->best == NULL)
        return MEL_OK;
    TRY(mel_classifier_to_json(&file, o->best, err));
    json_t *whole = json_of_file(file), *statistics = json_object_get(whole, "statistics");
    mel_sheet best = mel_sheet_new();
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach(statistics, key, value) mel_sheet_put(&best, key, json_incref(value));
    if (o->n_decisions == 0)
        mel_sheet_put(&best, "statistics", json_incref(statistics));
    mel_sheet_put(&best, "value", json_incref(json_object_get(whole, "value")));
    mel_sheet_put(&best, "rules", json_incref(json_object_get(whole, "rules")));
    put_sheet(s, "best", &best);
    json_decref(whole);
    return MEL_OK;
}

/* Given classifiers, best first, as `melicit rank --json` puts them. */
static void put_order(mel_sheet *s, const mel_outcome *o)
{
    static const field fields[] = { AT(mel_placed, "value", NUMBER, value),
                                    AT(mel_placed, "best_probability", NUMBER, first),
                                    AT(mel_placed, "best_in_truth", KNOWN, truly_first) };
    json_t *list = json_array();
    for (size_t i = 0; i < o->n_order; i++) {
        const mel_placed *p = &o->order[i];
        mel_sheet one = mel_sheet_new();
        mel_sheet_put(&one, "name", mel_sheet_text(p->name));
        mel_sheet_put(&one, "row", mel_sheet_count(p->place + 1));
        PUT(&one, p, fields);
        if (i + 1 < o->n_order)
            mel_sheet_put(&one, "beats_next", mel_sheet_number(p->beats_next));
        mel_sheet_add(s, list, &one);
    }
    mel_sheet_put(s, "order", list);
    if (o->chosen != NULL)
        mel_sheet_put(s, "chosen", mel_sheet_text(o->chosen));
    mel_sheet_put(s, "order_probability", mel_sheet_number(o->order_probability));
}

/* --- several people ------------------------------------------------------------------------------------ */

static mel_status add_respondent(mel_sheet *s, json_t *list, const mel_respondent_outcome *r, mel_error *err)
{
    static const field words[] = { AT(mel_respondent_outcome, "session", TEXT, name),
                                   AT(mel_respondent_outcome, "words", TEXT, words) };
    static const field fields[] = { AT(mel_respondent, "questions", COUNT, summary.questions),
                                    AT(mel_respondent, "answers", COUNT, answers),
                                    AT(mel_respondent, "contradicted", COUNT, contradicted),
                                    AT(mel_respondent, "contradicted_by_own", COUNT, summary.disagreements),
                                    AT(mel_respondent, "agreement", NUMBER, agreement),
                                    AT(mel_respondent, "differs", FLAG, differs),
                                    AT(mel_respondent, "consistency", KNOWN, summary.consistency) };
    mel_sheet one = mel_sheet_new();
    PUT(&one, r, words);
    PUT(&one, r->found, fields);
    mel_sheet_put(
        &one, "contradicted_share",
        json_real(r->found->answers > 0 ? (double)r->found->contradicted / r->found->answers : 0.0));
    if (r->consistency != NULL)
        mel_sheet_put(&one, "consistency_label", json_string(r->consistency));
    const mel_status status = put_metric(&one, r->found->metric, err);
    mel_sheet_add(s, list, &one);
    return status;
}

/* How far the coefficients of people's own metrics lie apart, in the order of the metric file. */
static void put_spread(mel_sheet *s, const mel_outcome *o)
{
    static const field fields[] = { AT(mel_spread, "deviation", NUMBER, deviation) };
    json_t *list = json_array();
    for (size_t i = 0; i < mel_metric_coefficients(o->metric); i++) {
        const mel_spread *spread = &o->pooled->spread[i];
        mel_sheet one = mel_sheet_new();
        mel_sheet_put(&one, "range", mel_sheet_pair(spread->low, spread->high));
        PUT(&one, spread, fields);
        mel_sheet_add(s, list, &one);
    }
    mel_sheet_put(s, "spread", list);
}

/* How far people are apart, and what a session with one person more starts from. */
static mel_status put_community(mel_sheet *s, const mel_pooled *p, mel_error *err)
{
    mel_sheet one = mel_sheet_new(), prior = mel_sheet_new();
    const double degree = acos(-1.0) / 180.0;
    const mel_status status = put_metric(&prior, p->likely, err);
    mel_sheet_put(&prior, "strength", mel_sheet_number(p->strength));
    mel_sheet_put(&prior, "people", mel_sheet_count(p->n));
    mel_sheet_put(&one, "people", mel_sheet_count(p->n));
    const mel_estimate apart =
        p->by_ratio ? (mel_estimate){ exp(p->apart), exp(p->apart_low), exp(p->apart_high) }
                    : (mel_estimate){ p->apart / degree, p->apart_low / degree, p->apart_high / degree };
    mel_sheet_put(&one, p->by_ratio ? "factor" : "degrees", mel_sheet_estimate(apart));
    put_sheet(&one, "prior", &prior);
    put_sheet(s, "community", &one);
    return status;
}

/* Angles are in radians, as everywhere in JSON. */
static mel_status put_pooled(mel_sheet *s, const mel_outcome *o, mel_error *err)
{
    json_t *people = json_array(), *pairs = json_array();
    mel_status status = MEL_OK;
    mel_sheet_put(s, "radius", mel_sheet_number(o->summary.radius));
    mel_sheet_put(s, "differ", json_boolean(o->pooled->n_against > 0));
    mel_sheet_put(s, "against", mel_sheet_count(o->pooled->n_against));
    mel_sheet_put(s, "mean_degrees", mel_sheet_number(o->mean_degrees));
    put_spread(s, o);
    for (size_t i = 0; i < o->n_respondents && status == MEL_OK; i++)
        status = add_respondent(s, people, &o->respondents[i], err);
    for (size_t i = 0; i < o->n_respondent_pairs; i++) {
        const mel_respondent_pair *p = &o->respondent_pairs[i];
        const mel_disagreement *d = &o->pooled->disagreement[p->first * o->n_respondents + p->second];
        mel_sheet one = mel_sheet_new();
        mel_sheet_put(&one, "first", mel_sheet_text(o->respondents[p->first].name));
        mel_sheet_put(&one, "second", mel_sheet_text(o->respondents[p->second].name));
        mel_sheet_put(&one, "angle", mel_sheet_number(d->angle));
        mel_sheet_put(&one, "interval", mel_sheet_pair(d->low, d->high));
        mel_sheet_put(&one, "degrees", mel_sheet_estimate(p->degrees));
        mel_sheet_put(&one, "differ", json_boolean(p->differ));
        if (isfinite(p->order_differently))
            mel_sheet_put(&one, "order_differently", json_real(p->order_differently));
        mel_sheet_add(s, pairs, &one);
    }
    mel_sheet_put(s, "respondents", people);
    mel_sheet_put(s, "disagreement", pairs);
    put_statements(s, o);
    return status == MEL_OK ? put_community(s, o->pooled, err) : status;
}

/* --- the whole --------------------------------------------------------------------------------------------
 */

static mel_status fill(mel_sheet *s, const mel_outcome *o, mel_error *err)
{
    TRY(put_metric(s, o->metric, err));
    const char *const *class_name = mel_metric_class_names(o->metric);
    if (mel_metric_layout(o->metric)->n_classes == 2 && class_name != NULL)
        mel_sheet_put(s, "positive", mel_sheet_text(class_name[1]));
    put_headline(s, &o->headline);
    mel_sheet_put(s, "words", mel_sheet_text(o->words));
    put_weights(s, o);
    put_costs(s, o);
    mel_sheet_put_equivalents(s, o);
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
        mel_sheet_put(s, "ball_radius", mel_sheet_number(mel_ball_radius(o->domain->ball)));
    if (o->n_order > 0)
        put_order(s, o);
    if (o->n_decisions > 0)
        put_decisions(s, o);
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
