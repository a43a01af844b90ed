/* All that is said about a session, in words: made once, at the end, from the facts of its outcome. */
#include "elicit/shared.h"
#include "metric/shared.h"
#include "metric/text.h"
#include "oracle/noise/noise.h"
#include "outcome/outcome.h"
#include "outcome/shared.h"
#include "problem/shared.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TEXT = 1 << 16, MOST_NAMED = 4, MOST_GAINED = 4, USUAL_PEOPLE = 1000, ENOUGH_REPEATS = 5 };
/* Ratios above are as good as unbounded to a reader. */
static const double most_shown = 1e6;
/* From this ratio of its ends on an interval is too wide for a number. */
static const double too_wide = 20.0;
static const double inconsistent_below = 0.05, consistent_from = 0.2;
static const double least_evidence = 1.0; /* natural logarithm of a ratio of probabilities */
/* What a headline rests on: 0.75% of 400 people who toss coins reach it, 95% of careful ones. Or, in sessions
 * too short for it, the least and no contradiction: so do 2.2% of 400 who toss 12 coins, and all who never
 * err. */
static const double headline_evidence = 2.0;
/* Variation from which on answers, not their number, limit what is known; natural logarithm. */
static const double varies_much = 0.15;
/* From this probability on that the next one is not better, the order of the two counts as settled. */
static const double settled = 0.95;

/* --- the catalogue -------------------------------------------------------------------------------- */

typedef struct {
    mel_template sentence;
    mel_topic topic;
    const char *finding;
    bool grave;
} row;
#define ROW(name, topic, finding, grave, english) { { #name, english }, MEL_ABOUT_##topic, finding, grave },
static const row rows[] = { MEL_OUTCOME_CATALOGUE(ROW) };
#undef ROW
#define SAY(w, name, ...) mel_outcome_say(w, MEL_SAY_##name, __VA_ARGS__)

const mel_template *mel_outcome_template(mel_saying saying)
{
    return &rows[saying].sentence;
}

const char *mel_topic_name(mel_topic topic)
{
    static const char *const names[] = { "metric", "end", "known", "open", "answers", "limits" };
    return names[topic];
}

void mel_outcome_say(mel_outcome_work *w, mel_saying saying, ...)
{
    const size_t n = w->out.n_statements;
    va_list fields;
    va_start(fields, saying);
    const mel_sentence *said = mel_say_with(&w->said, &rows[saying].sentence, fields);
    va_end(fields);
    if (said == NULL)
        return;
    if (!mel_grow((void **)&w->statement, n + 1, sizeof *w->statement)) {
        (void)mel_outcome_good(w, mel_fail_memory(w->said.err, "the result"));
        return;
    }
    w->statement[n] =
        (mel_statement){ rows[saying].topic, rows[saying].finding, said->text, rows[saying].grave };
    w->out.statements = w->statement;
    w->out.n_statements++;
}

/* --- numbers and what they count ------------------------------------------------------------------ */

const char *mel_outcome_so_many(mel_digits n, const char *one, const char *many)
{
    return strcmp(n.text, "1") == 0 ? one : many;
}

static const char *missed_words(const mel_outcome_work *w, mel_digits n)
{
    return mel_outcome_so_many(n, w->out.missed, w->out.missed_plural);
}

static const char *alarm_words(const mel_outcome_work *w, mel_digits n)
{
    return mel_outcome_so_many(n, w->out.false_alarm, w->out.false_alarms);
}

static bool has_low(double low)
{
    return low > 0.0;
}

static bool has_high(double high)
{
    return high < most_shown;
}

bool mel_outcome_bound(mel_bound *out, const mel_outcome *o, double low, double high)
{
    if (isnan(low) || isnan(high) || has_low(low) == has_high(high))
        return false;
    const double bound = has_low(low) ? low : high;
    out->missed = bound >= 1.0; /* else the other way round, where the bound is above 1 */
    out->more = has_low(low) == out->missed;
    const double number = out->missed ? bound : 1.0 / bound;
    out->number = out->more ? mel_digits_more_than(number) : mel_digits_less_than(number);
    out->one = out->missed ? o->missed : o->false_alarm;
    out->many = out->missed ? mel_outcome_so_many(out->number, o->false_alarm, o->false_alarms)
                            : mel_outcome_so_many(out->number, o->missed, o->missed_plural);
    return true;
}

const char *mel_outcome_compare(mel_outcome_work *w, double low, double high)
{
    const mel_outcome *o = &w->out;
    mel_bound bound;
    if (mel_outcome_bound(&bound, o, low, high))
        return bound.more ? MEL_PUT(w, compare_more, "one", bound.one, "number", bound.number.text, "many",
                                    bound.many, NULL)
                          : MEL_PUT(w, compare_less, "one", bound.one, "number", bound.number.text, "many",
                                    bound.many, NULL);
    if (!has_low(low) || !has_high(high))
        return MEL_PUT(w, compare_any, NULL);
    const bool turned = low < 1.0 && high <= 1.0;
    const mel_ends ends = turned ? mel_digits_ends(1.0 / high, 1.0 / low) : mel_digits_ends(low, high);
    return MEL_PUT(w, compare_between, "one", turned ? o->false_alarm : o->missed, "low", ends.low.text,
                   "high", ends.high.text, "many", turned ? o->missed_plural : o->false_alarms, NULL);
}

const char *mel_outcome_weigh(mel_outcome_work *w, double missed, double false_alarms)
{
    const double each = w->out.cost.value, low = w->out.cost.low, high = w->out.cost.high;
    if (!isfinite(each))
        return NULL;
    if (missed == 0.0 && false_alarms == 0.0)
        return MEL_PUT(w, weighs_nothing, NULL);
    const bool open = missed > 0.0 && !isnan(low) && (!has_low(low) || !has_high(high));
    if (open && !has_low(low) && !has_high(high))
        return NULL;
    if (open && has_low(low)) {
        const mel_digits number = mel_digits_more_than(missed * low + false_alarms);
        return MEL_PUT(w, weighs_more, "number", number.text, "many", alarm_words(w, number), NULL);
    }
    if (open) {
        const mel_digits number = mel_digits_less_than(missed * high + false_alarms);
        return MEL_PUT(w, weighs_less, "number", number.text, "many", alarm_words(w, number), NULL);
    }
    const mel_digits number = mel_digits_significant(missed * each + false_alarms, 2);
    return MEL_PUT(w, weighs, "number", number.text, "many", alarm_words(w, number), NULL);
}

static void range_text(char text[MEL_RANGE_TEXT], mel_estimate e, double most, const char *unit)
{
    const bool low = e.low > 0.0, high = e.high < most;
    const mel_ends ends = mel_digits_ends(e.low, e.high);
    if (isnan(e.low) || isnan(e.high))
        (void)snprintf(text, MEL_RANGE_TEXT, "%s%s", mel_digits_significant(e.value, 2).text, unit);
    else if (low && high)
        (void)snprintf(text, MEL_RANGE_TEXT, "%s%s (%s%s to %s%s)", mel_digits_significant(e.value, 2).text,
                       unit, ends.low.text, unit, ends.high.text, unit);
    else if (low)
        (void)snprintf(text, MEL_RANGE_TEXT, "more than %s%s", mel_digits_more_than(e.low).text, unit);
    else if (high)
        (void)snprintf(text, MEL_RANGE_TEXT, "less than %s%s", mel_digits_less_than(e.high).text, unit);
    else
        (void)snprintf(text, MEL_RANGE_TEXT, "not known");
}

void mel_ratio_text(char text[MEL_RANGE_TEXT], mel_estimate ratio)
{
    range_text(text, ratio, most_shown, "");
}

void mel_chance_text(char text[MEL_RANGE_TEXT], mel_estimate chance)
{
    const mel_estimate percent = { 100.0 * chance.value, 100.0 * chance.low, 100.0 * chance.high };
    range_text(text, percent, 100.0, "%");
}

/* "a, b, c and 3 more" of n names, of which the caller added the first MOST_NAMED. */
static const char *end_list(mel_outcome_work *w, mel_buffer *list, size_t n)
{
    if (n > MOST_NAMED)
        mel_buffer_puts(list, MEL_PUT(w, and_more, "n", mel_digits_count(n - MOST_NAMED).text, NULL));
    return mel_sentences_keep(&w->said, list);
}

static void add_to_list(mel_buffer *list, size_t number, const char *text)
{
    if (number <= MOST_NAMED) {
        mel_buffer_puts(list, number > 1 ? ", " : "");
        mel_buffer_puts(list, text);
    }
}

/* --- the metric ----------------------------------------------------------------------------------- */

static mel_wording wording_of(const mel_outcome *o)
{
    return (mel_wording){ .missed = o->missed,
                          .missed_plural = o->missed_plural,
                          .false_alarm = o->false_alarm,
                          .false_alarms = o->false_alarms,
                          .search = mel_outcome_is_search(o) };
}

static const char *join_words(mel_outcome_work *w, const mel_sentences *words, const char *more)
{
    mel_buffer text;
    mel_buffer_init(&text, MOST_TEXT);
    for (size_t i = 0; i < words->n; i++) {
        mel_buffer_puts(&text, i > 0 ? " " : "");
        mel_buffer_puts(&text, words->sentence[i].text);
    }
    mel_buffer_puts(&text, more != NULL ? " " : "");
    mel_buffer_puts(&text, more != NULL ? more : "");
    return mel_sentences_keep(&w->said, &text);
}

/* The smallest weight against the largest; NULL: no ratios are known. */
static const mel_cost_ratio *find_least(const mel_outcome *o)
{
    const mel_cost_ratio *least = NULL;
    for (size_t i = 0; i < o->n_ratios; i++)
        if (least == NULL || o->ratios[i].ratio.ratio < least->ratio)
            least = &o->ratios[i].ratio;
    return least;
}

void mel_outcome_word_metric(mel_outcome_work *w)
{
    if (!mel_outcome_ok(w))
        return;
    mel_wording as = wording_of(&w->out);
    const mel_cost_ratio *least = find_least(&w->out);
    double ends[2];
    if (w->out.n_ratios > 1 && least->low > 0.0 && isfinite(least->high)) {
        ends[0] = 1.0 / least->high;
        ends[1] = 1.0 / least->low;
        as.extremes = ends;
    }
    const mel_metric *metric = w->sharper != NULL ? w->sharper : w->metric;
    if (mel_outcome_good(w, mel_metric_say(&w->words, metric, &as, w->said.err)))
        w->out.words = join_words(w, &w->words,
                                  w->out.summary.end == MEL_END_RANGE ? MEL_PUT(w, range_ends, NULL) : NULL);
}

void mel_outcome_word_pooled(mel_outcome_work *w)
{
    const mel_wording as = wording_of(&w->out);
    const mel_pooled *p = w->pooled;
    mel_respondent_outcome *respondent = (mel_respondent_outcome *)w->out.respondents;
    for (size_t i = 0; i < w->out.n_respondents && mel_outcome_ok(w); i++) {
        mel_sentences words = { .err = w->said.err };
        if (mel_outcome_good(w, mel_metric_say(&words, respondent[i].found->metric, &as, w->said.err)))
            respondent[i].words = join_words(w, &words, NULL);
        mel_sentences_clear(&words);
        if (respondent[i].name == NULL)
            respondent[i].name = MEL_PUT(w, respondent, "n", mel_digits_count(i + 1).text, NULL);
    }
    const mel_digits n = mel_digits_count(p->n);
    const double unit = p->by_ratio ? 1.0 : 180.0 / acos(-1.0);
    const double apart[] = { p->apart, p->apart_low, p->apart_high };
    mel_digits shown[3];
    for (size_t i = 0; i < 3; i++)
        shown[i] = mel_digits_significant(p->by_ratio ? exp(apart[i]) : unit * apart[i], 2);
    mel_outcome_say(w, p->by_ratio ? MEL_SAY_population_ratio : MEL_SAY_population_angle, "n", n.text,
                    "apart", shown[0].text, "low", shown[1].text, "high", shown[2].text, NULL);
    if (p->n_against > 0)
        SAY(w, agreement_none, "n", mel_digits_count(p->n_against).text, "all", n.text, NULL);
    else
        SAY(w, agreement, NULL);
}

/* --- rules ---------------------------------------------------------------------------------------- */

/* "5 fewer missed cancer cases": nobody sees less than a twentieth of a person. */
static const char *change_words(mel_outcome_work *w, double change, const char *one, const char *many)
{
    const mel_digits size = mel_digits_people(fabs(change));
    if (fabs(change) < 0.05)
        return MEL_PUT(w, as_many, "name", many, NULL);
    return change < 0.0
               ? MEL_PUT(w, fewer, "number", size.text, "name", mel_outcome_so_many(size, one, many), NULL)
               : MEL_PUT(w, more, "number", size.text, "name", mel_outcome_so_many(size, one, many), NULL);
}

static void word_decisions(mel_outcome_work *w)
{
    mel_outcome *o = &w->out;
    for (size_t i = 0; i < o->n_decisions; i++) {
        mel_decision *d = &o->decisions[i];
        const mel_digits missed = mel_digits_people(d->missed.value),
                         alarms = mel_digits_people(d->false_alarms.value);
        d->weighs = mel_outcome_weigh(w, round(d->missed.value), round(d->false_alarms.value));
        d->effect = MEL_PUT(w, effect, "missed", missed.text, "missed_name", missed_words(w, missed),
                            "alarms", alarms.text, "alarm_name", alarm_words(w, alarms), NULL);
    }
    if (o->n_decisions < 2)
        return;
    const double missed = o->decisions[0].missed.value - o->decisions[1].missed.value,
                 alarms = o->decisions[0].false_alarms.value - o->decisions[1].false_alarms.value;
    if (fabs(missed) >= 0.05 || fabs(alarms) >= 0.05)
        o->change = MEL_PUT(w, both, "one", change_words(w, missed, o->missed, o->missed_plural), "other",
                            change_words(w, alarms, o->false_alarm, o->false_alarms), NULL);
    for (size_t i = 0; i < o->n_closest; i++)
        o->closest[i].percent =
            mel_sentences_format(&w->said, "%s", mel_digits_percent(o->closest[i].agreement).text);
}

static void word_settings(mel_outcome_work *w)
{
    mel_setting *usual = &w->out.usual_setting;
    if (w->out.n_settings > 0) /* of the whole people that are shown */
        usual->weighs = mel_outcome_weigh(w, round(usual->missed), round(usual->false_alarms));
    for (size_t i = 0; i < w->out.n_settings; i++) {
        mel_setting *s = &w->setting[i];
        s->weighs = mel_outcome_weigh(w, round(s->missed), round(s->false_alarms));
        if (isfinite(s->ratio_low))
            s->where = mel_outcome_compare(w, s->ratio_low, s->ratio_high);
    }
}

/* "1 fewer missed cancer for 7 more false alarms": from the side with fewer true positives to the other. */
static void word_exchange(mel_outcome_work *w, mel_close_call *call, const mel_record *r)
{
    const double tp = r->a[0] - r->b[0], tn = r->b[1] - r->a[1], people = r->people;
    call->missed = (uint32_t)lround(people * fabs(tp));
    call->false_alarms = (uint32_t)lround(people * fabs(tn));
    if (call->missed == 0 || call->false_alarms == 0 || tp * tn < 0.0)
        return;
    const bool wanted = (r->answer == MEL_ANSWER_A) == (tp > 0.0);
    if (r->answer != MEL_ANSWER_SAME)
        call->answer = wanted ? MEL_ANSWER_A : MEL_ANSWER_B;
    const mel_digits missed = mel_digits_count(call->missed), alarms = mel_digits_count(call->false_alarms);
    call->text = MEL_PUT(w, call_exchange, "missed", missed.text, "missed_name", missed_words(w, missed),
                         "alarms", alarms.text, "alarm_name", alarm_words(w, alarms), NULL);
}

/* A statistic, and by how many people A has more of it than B. */
typedef struct {
    size_t at;
    int64_t more;
} gained;

static int by_size(const void *x, const void *y)
{
    const gained *a = x, *b = y;
    const int64_t first = llabs(a->more), second = llabs(b->more);
    return first != second ? (first > second ? -1 : 1) : a->at < b->at ? -1 : 1;
}

/* "29 more bus recognised" */
static const char *gained_words(mel_outcome_work *w, const gained *g)
{
    const mel_layout *layout = mel_metric_layout(w->metric);
    const size_t n = mel_outcome_per_group(w->metric);
    const mel_digits size = mel_digits_count((uint64_t)llabs(g->more));
    mel_buffer name;
    mel_buffer_init(&name, MOST_TEXT);
    if (layout->coordinates == MEL_OFFDIAGONAL && layout->n_classes == 2) {
        mel_buffer_puts(&name, g->at % n == 1 ? missed_words(w, size) : alarm_words(w, size));
        if (layout->n_groups > 1)
            mel_buffer_printf(&name, " (%s)", mel_metric_group_name(w->metric, g->at / n));
    } else {
        mel_outcome_add_coordinate(&name, w->metric, g->at, layout->n_groups > 1);
    }
    const char *what = mel_sentences_keep(&w->said, &name);
    return g->more < 0 ? MEL_PUT(w, fewer, "number", size.text, "name", what, NULL)
                       : MEL_PUT(w, more, "number", size.text, "name", what, NULL);
}

/* What A has that B does not, the largest differences first: "29 more bus recognised and 61 fewer van
 * recognised". */
static void word_differences(mel_outcome_work *w, mel_close_call *call, const mel_record *r)
{
    const size_t n = mel_layout_size(mel_metric_layout(w->metric));
    const double people = r->people > 0 ? r->people : USUAL_PEOPLE;
    gained *found = mel_outcome_room(w, n, sizeof *found);
    size_t some = 0;
    for (size_t i = 0; found != NULL && i < n; i++) {
        const int64_t more = llround(people * r->a[i]) - llround(people * r->b[i]);
        if (more != 0)
            found[some++] = (gained){ i, more };
    }
    if (some == 0)
        return;
    const size_t shown = some > MOST_GAINED ? MOST_GAINED - 1 : some;
    mel_buffer text;
    mel_buffer_init(&text, MOST_TEXT);
    qsort(found, some, sizeof *found, by_size);
    for (size_t i = 0; i < shown; i++) {
        mel_buffer_puts(&text, i == 0 ? "" : i + 1 < some ? ", " : " and ");
        mel_buffer_puts(&text, gained_words(w, &found[i]));
    }
    if (shown < some)
        mel_buffer_puts(&text, MEL_PUT(w, smaller, "n", mel_digits_count(some - shown).text, NULL));
    call->text = mel_sentences_keep(&w->said, &text);
}

static void word_calls(mel_outcome_work *w)
{
    uint32_t number[MEL_OUTCOME_CALLS];
    if (mel_outcome_is_search(&w->out))
        return;
    w->out.n_calls = mel_session_close_calls(number, MEL_OUTCOME_CALLS, w->session, w->metric);
    for (size_t i = 0; i < w->out.n_calls; i++) {
        const mel_record r = mel_session_record(w->session, number[i] - 1);
        mel_close_call *call = &w->out.calls[i];
        *call = (mel_close_call){ .number = number[i], .text = "", .answer = r.answer };
        if (mel_metric_layout(w->metric)->coordinates == MEL_BINARY && r.people > 0)
            word_exchange(w, call, &r);
        if (call->text[0] == '\0')
            word_differences(w, call, &r);
    }
}

void mel_outcome_word_rules(mel_outcome_work *w)
{
    if (!mel_outcome_ok(w))
        return;
    word_decisions(w);
    word_settings(w);
    word_calls(w);
}

/* --- the headline --------------------------------------------------------------------------------- */

mel_answer_counts mel_outcome_count_answers(const mel_session *session)
{
    mel_answer_counts k = { 0 };
    for (uint32_t i = 0; session != NULL && i < mel_session_answers(session); i++) {
        const mel_record r = mel_session_record(session, i);
        const bool a = r.answer == MEL_ANSWER_A, b = r.answer == MEL_ANSWER_B;
        k.a += a;
        k.b += b;
        k.same += r.answer == MEL_ANSWER_SAME;
        k.more += (a && r.a[0] > r.b[0]) || (b && r.b[0] > r.a[0]);
        k.fewer += (a && r.a[0] < r.b[0]) || (b && r.b[0] < r.a[0]);
    }
    k.said = k.a + k.b + k.same;
    return k;
}

bool mel_outcome_is_search(const mel_outcome *outcome)
{
    return outcome->options != NULL && outcome->options->strategy == MEL_STRATEGY_SEARCH;
}

bool mel_outcome_is_exchange(const mel_outcome *o)
{
    return o->summary.ratio > 0.0 && isfinite(o->summary.ratio);
}

bool mel_outcome_is_open(const mel_outcome *o)
{
    return mel_outcome_is_exchange(o) && (isinf(o->summary.ratio_high) || o->summary.ratio_low == 0.0);
}

/* Whether people answered, who may do so without looking. */
static bool asks_people(const mel_outcome *o)
{
    return mel_outcome_is_exchange(o) || o->options->assume.kind == MEL_NOISE_PERSON;
}

/* Whether chance is ruled out far enough for a headline. Without repetitions it hardly ever is: where
 * differences between groups count, too, metrics agree with as many of 40 coins as of a careful person's
 * answers.
 */
static bool rules_chance_out(const mel_outcome *o)
{
    const mel_summary *s = &o->summary;
    const bool no_contradiction = mel_outcome_is_exchange(o) && isnan(s->variation) && s->repeats >= 2 &&
                                  s->repeats_agreed == s->repeats;
    return s->evidence >= (no_contradiction ? least_evidence : headline_evidence);
}

/* What answers aim at that no exchange rate describes; NULL: nothing. */
static const char *word_aim(mel_outcome_work *w)
{
    const mel_outcome *o = &w->out;
    const mel_misfit *m = &o->summary.misfit;
    const uint32_t people = o->setting_people > 0 ? o->setting_people : USUAL_PEOPLE;
    const mel_digits all = mel_digits_count(people), value = mel_digits_significant(people * m->value, 2);
    switch (m->kind) {
    case MEL_MISFIT_FOUND:
    case MEL_MISFIT_CLEARED:
        return mel_phrase(
            &w->said,
            mel_outcome_template(m->kind == MEL_MISFIT_FOUND ? MEL_SAY_why_found : MEL_SAY_why_cleared),
            "value", mel_digits_count((uint64_t)lround(100.0 * m->value)).text, "name",
            mel_metric_class_name(w->metric, m->kind == MEL_MISFIT_FOUND), "false_alarm", o->false_alarm,
            "low", mel_digits_count((uint64_t)floor(100.0 * m->low)).text, "high",
            mel_digits_count((uint64_t)ceil(100.0 * m->high)).text, NULL);
    case MEL_MISFIT_MISSED_FIRST:
    case MEL_MISFIT_ALARMS_FIRST:
        return mel_phrase(&w->said,
                          mel_outcome_template(m->kind == MEL_MISFIT_MISSED_FIRST ? MEL_SAY_why_missed_first
                                                                                  : MEL_SAY_why_alarms_first),
                          "value", value.text, "people", all.text, "missed_plural", o->missed_plural,
                          "false_alarms", o->false_alarms, NULL);
    default:
        return NULL;
    }
}

/* Why answers are no ground for a headline, and what to do; NULL: they are one. */
static const char *find_doubt(mel_outcome_work *w)
{
    const mel_outcome *o = &w->out;
    const mel_summary *s = &o->summary;
    const mel_answer_counts k = mel_outcome_count_answers(w->session);
    const mel_digits n = mel_digits_count(k.said);
    if (k.same > 0 && k.same == k.said)
        return MEL_PUT(w, why_same, "n", n.text, NULL);
    if (asks_people(o) && k.said >= MEL_FEW_ANSWERS && (k.a == k.said || k.b == k.said))
        return MEL_PUT(w, why_side, "n", n.text, "side", k.a > 0 ? "A" : "B", NULL);
    if (s->repeats >= 2 && 2 * s->repeats_agreed < s->repeats)
        return MEL_PUT(w, why_repeats, "n", mel_digits_count(s->repeats - s->repeats_agreed).text, "all",
                       mel_digits_count(s->repeats).text, NULL);
    if (s->consistency < inconsistent_below && !mel_outcome_is_search(o))
        return MEL_PUT(w, why_inconsistent, NULL);
    if (s->evidence < -least_evidence)
        return MEL_PUT(w, why_chance, NULL);
    const char *aim = word_aim(w);
    if (aim != NULL)
        return aim;
    if (asks_people(o) && !isnan(s->evidence) && !rules_chance_out(o))
        return s->repeats < 2 ? MEL_PUT(w, why_unrepeated, NULL) : MEL_PUT(w, why_few, NULL);
    return NULL;
}

/* What the answers set a bound on, where a number would say too much: what this cost ratio is more or less
 * than. */
static bool find_bound(mel_bound *bound, const mel_outcome *o)
{
    const double low = o->cost.low, high = o->cost.high;
    if (mel_outcome_bound(bound, o, low, high))
        return true;
    if (low > 1.0)
        return mel_outcome_bound(bound, o, low, INFINITY);
    return high < 1.0 && mel_outcome_bound(bound, o, 0.0, high);
}

static void judge_cost(mel_outcome_work *w, mel_headline *h)
{
    const mel_outcome *o = &w->out;
    mel_bound bound;
    const bool one_sided = mel_outcome_bound(&bound, o, o->cost.low, o->cost.high);
    if (!one_sided && (isnan(o->cost.low) || o->cost.high / o->cost.low <= too_wide))
        return;
    if (find_bound(&bound, o)) {
        const mel_answer_counts k = mel_outcome_count_answers(w->session);
        const bool upper = isinf(o->summary.ratio_high);
        h->kind = MEL_HEADLINE_BOUND;
        h->text = bound.more ? MEL_PUT(w, headline_bound_more, "one", bound.one, "number", bound.number.text,
                                       "many", bound.many, NULL)
                             : MEL_PUT(w, headline_bound_less, "one", bound.one, "number", bound.number.text,
                                       "many", bound.many, NULL);
        h->why = "";
        if (mel_outcome_is_open(o) && k.same == 0 && (upper ? k.fewer : k.more) == 0)
            h->why = MEL_PUT(w, bound_never, "refused", upper ? o->missed : o->false_alarm, NULL);
        else if (mel_outcome_is_open(o))
            h->why = MEL_PUT(w, bound_far, NULL);
        return;
    }
    h->kind = MEL_HEADLINE_UNSETTLED;
    h->text = MEL_PUT(w, headline_unsettled_two, "missed_plural", o->missed_plural, "false_alarms",
                      o->false_alarms, NULL);
    if (!has_low(o->cost.low) || !has_high(o->cost.high)) {
        h->why = MEL_PUT(w, why_open, "missed", o->missed, NULL);
        return;
    }
    const mel_ends ends = mel_digits_ends(o->cost.low, o->cost.high);
    h->why = o->summary.end == MEL_END_DECIDED && isfinite(o->summary.settled)
                 ? MEL_PUT(w, why_wide_settled, "one", o->missed, "low", ends.low.text, "high",
                           ends.high.text, "many", o->false_alarms, NULL)
                 : MEL_PUT(w, why_wide, "one", o->missed, "low", ends.low.text, "high", ends.high.text,
                           "many", o->false_alarms, NULL);
}

/* The sentence of the metric that says most, where its interval leaves it worth saying. */
static const mel_sentence *find_main(const mel_outcome_work *w)
{
    const mel_cost_ratio *least =
        w->session != NULL && !isfinite(w->out.cost.value) ? find_least(&w->out) : NULL;
    const mel_sentence *main = mel_words_main(&w->words);
    const bool vague = least != NULL && !(least->high < 1.0 && least->high <= too_wide * least->low);
    return vague || main == NULL ? &w->words.sentence[0] : main;
}

static void head_with(mel_outcome_work *w, mel_headline *h, const mel_sentence *main)
{
    const char *range = mel_sentence_field(main, "between");
    mel_buffer rest;
    mel_buffer_init(&rest, MOST_TEXT);
    h->kind = range != NULL || isfinite(w->out.cost.value) ? MEL_HEADLINE_NUMBER : MEL_HEADLINE_WORDS;
    h->text = mel_words_headline(&w->said, main);
    if (range != NULL && mel_outcome_is_search(&w->out))
        h->range = MEL_PUT(w, range_searched, "range", range, NULL);
    else if (range != NULL)
        h->range = MEL_PUT(w, range_likely, "range", range, NULL);
    for (size_t i = 0; i < w->words.n; i++)
        if (&w->words.sentence[i] != main && !mel_words_is_list(&w->words.sentence[i])) {
            mel_buffer_puts(&rest, rest.size > 0 ? " " : "");
            mel_buffer_puts(&rest, w->words.sentence[i].text);
        }
    if (w->out.summary.end == MEL_END_RANGE) {
        mel_buffer_puts(&rest, rest.size > 0 ? " " : "");
        mel_buffer_puts(&rest, MEL_PUT(w, range_ends, NULL));
    }
    h->rest = mel_sentences_keep(&w->said, &rest);
}

void mel_outcome_judge(mel_outcome_work *w)
{
    mel_outcome *o = &w->out;
    mel_headline *h = &o->headline;
    if (!mel_outcome_ok(w) || w->words.n == 0)
        return;
    head_with(w, h, find_main(w));
    h->why = NULL;
    if (o->nothing_found && o->options != NULL) {
        *h = (mel_headline){ .kind = MEL_HEADLINE_UNSETTLED, .rest = "" };
        h->text =
            o->summary.questions == 0 ? MEL_PUT(w, nothing_asked, NULL) : MEL_PUT(w, nothing_said, NULL);
        o->words = h->text;
        return;
    }
    const char *doubt = o->options != NULL ? find_doubt(w) : NULL;
    if (doubt != NULL) {
        h->kind = MEL_HEADLINE_UNSETTLED;
        h->why = doubt;
        h->text = isfinite(o->cost.value) ? MEL_PUT(w, headline_unsettled_two, "missed_plural",
                                                    o->missed_plural, "false_alarms", o->false_alarms, NULL)
                                          : MEL_PUT(w, headline_unsettled, NULL);
    } else if (isfinite(o->cost.value) && o->options != NULL) {
        judge_cost(w, h);
    }
    if (h->why == NULL)
        return;
    h->range = NULL;
    h->rest = "";
    o->words = *h->why != '\0' ? mel_sentences_format(&w->said, "%s %s", h->text, h->why) : h->text;
}

/* --- given classifiers ------------------------------------------------------------------------------ */

static bool has_preference(const mel_outcome_work *w)
{
    const mel_answer_counts k = mel_outcome_count_answers(w->session);
    return k.a + k.b > 0;
}

/* Whether the first one is at least as good in every number, by a metric that weighs each. */
static bool first_is_better_in_all(const mel_outcome_work *w, size_t place)
{
    const mel_pool *pool = w->out.domain->pool;
    const double *weight = mel_metric_tensor(w->metric, 1);
    const double sign = mel_metric_orientation(w->metric) == MEL_COST ? -1.0 : 1.0;
    const double *first = pool->value + w->order[0].place * pool->size;
    const double *other = pool->value + w->order[place].place * pool->size;
    if (!mel_family_about(mel_metric_family(w->metric))->sum || weight == NULL)
        return false;
    for (size_t i = 0; i < pool->size; i++)
        if (sign * weight[i] * (first[i] - other[i]) < 0.0)
            return false;
    return true;
}

/* Nor is one the best by its numbers alone, whoever is asked. */
static bool none_is_preferred(const mel_outcome_work *w)
{
    bool best = true;
    for (size_t i = 1; i < w->out.n_order && best; i++)
        best = first_is_better_in_all(w, i);
    return !best && !has_preference(w);
}

static void state_preferred(mel_outcome_work *w)
{
    const mel_placed *o = w->out.order;
    const mel_digits n = mel_digits_count(w->out.n_order), sure = mel_digits_percent(o[0].first);
    if (none_is_preferred(w)) {
        SAY(w, none_preferred, "n", n.text, "first", o[0].name, "sure", sure.text, NULL);
        return;
    }
    if (w->out.chosen != NULL && strcmp(w->out.chosen, o[0].name) != 0) {
        SAY(w, preferred_not_chosen, "chosen", w->out.chosen, "others",
            mel_digits_count(w->out.n_order - 1).text, "first", o[0].name, "sure", sure.text, NULL);
    } else {
        mel_buffer list;
        mel_buffer_init(&list, MOST_TEXT);
        for (size_t i = 1; i < w->out.n_order; i++)
            add_to_list(&list, i, o[i].name);
        SAY(w, preferred, "n", n.text, "first", o[0].name, "sure", sure.text, "others",
            end_list(w, &list, w->out.n_order - 1), NULL);
    }
    size_t likeliest = 0;
    for (size_t i = 1; i < w->out.n_order; i++)
        likeliest = o[i].first > o[likeliest].first ? i : likeliest;
    if (likeliest > 0)
        SAY(w, likeliest, "first", o[0].name, "likeliest", o[likeliest].name, "sure",
            mel_digits_percent(o[likeliest].first).text, NULL);
}

/* How much more often the classifier at this place of the order was preferred to the first one than the first
 * one to it. */
static long preferred_to_first(const mel_outcome_work *w, size_t place)
{
    const mel_pool *pool = w->out.domain->pool;
    const double *first = pool->value + w->order[0].place * pool->size;
    const double *other = pool->value + w->order[place].place * pool->size;
    const size_t one = mel_pool_place(pool, first), two = mel_pool_place(pool, other);
    long times = 0;
    for (uint32_t i = 0; i < mel_session_answers(w->session) && one != two; i++) {
        const mel_record r = mel_session_record(w->session, i);
        const size_t a = mel_pool_place(pool, r.a), b = mel_pool_place(pool, r.b);
        const bool asked = (a == one && b == two) || (a == two && b == one);
        if (asked && (r.answer == MEL_ANSWER_A || r.answer == MEL_ANSWER_B))
            times += (r.answer == MEL_ANSWER_A ? a : b) == two ? 1 : -1;
    }
    return times;
}

/* Nobody is told of a classifier that they refused without a reason. */
static void state_despite(mel_outcome_work *w, bool better_in_all)
{
    size_t n = 0;
    mel_buffer list;
    mel_buffer_init(&list, MOST_TEXT);
    for (size_t i = 1; i < w->out.n_order; i++)
        if (preferred_to_first(w, i) > 0 && first_is_better_in_all(w, i) == better_in_all)
            add_to_list(&list, ++n, w->order[i].name);
    const char *others = end_list(w, &list, n);
    if (n > 0)
        mel_outcome_say(w, better_in_all ? MEL_SAY_despite_better : MEL_SAY_despite, "others", others,
                        "first", w->order[0].name, "sure", mel_digits_percent(w->order[0].first).text, NULL);
}

/* What chance in the measured rows leaves of it. */
static void state_truly_best(mel_outcome_work *w)
{
    const mel_placed *o = w->out.order;
    if (none_is_preferred(w))
        return;
    if (!isfinite(o[0].truly_first)) {
        SAY(w, rows_unknown, NULL);
        return;
    }
    size_t rival = 1;
    for (size_t i = 2; i < w->out.n_order; i++)
        rival = o[i].truly_first > o[rival].truly_first ? i : rival;
    mel_outcome_say(w, o[0].truly_first >= settled ? MEL_SAY_rows_settled : MEL_SAY_rows_open, "first",
                    o[0].name, "sure", mel_digits_percent(o[0].truly_first).text, "rival", o[rival].name,
                    "rival_sure", mel_digits_percent(o[rival].truly_first).text, NULL);
}

/* Neighbours in the order of which it is open which one is better. */
static void state_order(mel_outcome_work *w)
{
    const mel_placed *o = w->out.order;
    size_t open = 0;
    mel_buffer list;
    mel_buffer_init(&list, MOST_TEXT);
    for (size_t i = 0; i + 1 < w->out.n_order; i++)
        if (o[i].stands_next < settled)
            add_to_list(&list, ++open,
                        MEL_PUT(w, order_item, "first", o[i].name, "next", o[i + 1].name, "sure",
                                mel_digits_percent(o[i].beats_next).text, NULL));
    const char *pairs = end_list(w, &list, open);
    if (open > 0)
        SAY(w, order_open, "list", pairs, NULL);
    else if (w->out.summary.end != MEL_END_DECIDED && !mel_session_order_was_asked(w->session))
        SAY(w, order_unasked, NULL);
    else
        SAY(w, order_settled, NULL);
    if (w->out.summary.end == MEL_END_EXHAUSTED)
        SAY(w, pool_exhausted, NULL);
}

/* --- the end, and how precise the metric is ---------------------------------------------------------- */

static mel_saying end_saying(const mel_outcome *o)
{
    switch (o->summary.end) {
    case MEL_END_NOT_YET:
        return MEL_SAY_end_not_yet;
    case MEL_END_RANGE:
        return MEL_SAY_end_range;
    case MEL_END_TOLERANCE:
        return mel_outcome_is_search(o) && !(2.0 * o->summary.radius <= o->options->tolerance + 1e-12)
                   ? MEL_SAY_end_slopes
                   : MEL_SAY_end_tolerance;
    case MEL_END_BUDGET:
        return MEL_SAY_end_budget;
    case MEL_END_NOISE:
        return MEL_SAY_end_noise;
    case MEL_END_EXHAUSTED:
        return o->domain->pool != NULL ? MEL_SAY_end_exhausted_pool : MEL_SAY_end_exhausted;
    case MEL_END_DECIDED:
        return o->options->until == MEL_UNTIL_DECISION ? MEL_SAY_end_decided_setting
               : o->options->until == MEL_UNTIL_RULE   ? MEL_SAY_end_decided_rule
               : o->options->until == MEL_UNTIL_RANK   ? MEL_SAY_end_decided_order
                                                       : MEL_SAY_end_decided_threshold;
    default:
        return MEL_SAY_end_beyond;
    }
}

/* Whether the best setting is settled, and what it would take to know the ratio, too. */
static void state_setting(mel_outcome_work *w)
{
    const mel_summary *s = &w->out.summary;
    const double wanted = w->out.options->tolerance_factor;
    if (!isfinite(s->settled))
        return;
    const mel_digits sure = mel_digits_count((uint64_t)fmin(100.0 * s->settled, 99.0)); /* or more */
    if (s->end != MEL_END_DECIDED) {
        SAY(w, setting_open, "sure", sure.text, NULL);
        return;
    }
    SAY(w, setting_settled, "sure", sure.text, NULL);
    if (!(wanted > 0.0) || mel_outcome_is_open(&w->out))
        return;
    const mel_digits factor = mel_digits_significant(wanted, 2);
    if (isfinite(s->questions_to_ratio))
        SAY(w, ratio_go_on, "factor", factor.text, "n",
            mel_digits_count((uint64_t)s->questions_to_ratio).text, NULL);
    else
        SAY(w, ratio_go_on_long, "factor", factor.text, NULL);
}

static void state_ratio_precision(mel_outcome_work *w)
{
    const mel_outcome *o = &w->out;
    const mel_summary *s = &o->summary;
    const double wanted = o->options->tolerance_factor;
    if (mel_outcome_is_open(o))
        mel_outcome_say(
            w, s->end == MEL_END_BEYOND ? MEL_SAY_precision_beyond : MEL_SAY_precision_seems_beyond, "low",
            mel_digits_less_than(s->askable_low).text, "high", mel_digits_more_than(s->askable_high).text,
            "many", o->false_alarms, "one", o->missed, NULL);
    else if (s->end == MEL_END_DECIDED)
        SAY(w, precision_ratio_alone, "known", mel_digits_significant(s->ratio_high / s->ratio_low, 2).text,
            NULL);
    else if (wanted > 0.0)
        SAY(w, precision_ratio, "known", mel_digits_significant(s->ratio_high / s->ratio_low, 2).text,
            "wanted", mel_digits_significant(wanted, 2).text, NULL);
    state_setting(w);
    if (s->imagined)
        SAY(w, imagined, NULL);
}

static void state_precision(mel_outcome_work *w)
{
    const mel_outcome *o = &w->out;
    const mel_digits known = mel_digits_significant(o->summary.radius, 2),
                     wanted = mel_digits_significant(o->options->tolerance, 2);
    const double factor = o->options->tolerance_factor;
    if (!isfinite(o->summary.radius))
        return;
    if (mel_outcome_is_exchange(o))
        state_ratio_precision(w);
    else if (mel_outcome_is_search(o))
        SAY(w, precision_search, "known", known.text, "wanted", wanted.text, "radians",
            o->domain->face != NULL ? "radians" : NULL, NULL);
    else if (factor > 0.0 && o->cost.low > 0.0 && isfinite(o->cost.high))
        SAY(w, precision_ratio, "known", mel_digits_significant(o->cost.high / o->cost.low, 2).text, "wanted",
            mel_digits_significant(factor, 2).text, NULL);
    else
        mel_outcome_say(w,
                        mel_metric_denominator(o->metric, NULL) != NULL ? MEL_SAY_precision_angle
                        : isfinite(o->lambda.value)                     ? MEL_SAY_precision_fair
                                                                        : MEL_SAY_precision_weights,
                        "known", known.text, "wanted", wanted.text, NULL);
}

/* Which weights a search that ended at an end of its range left nothing of. */
static void state_range(mel_outcome_work *w)
{
    const double *a = mel_metric_numerator(w->metric, NULL);
    mel_buffer list;
    if (w->out.summary.end != MEL_END_RANGE || a == NULL)
        return;
    mel_buffer_init(&list, MOST_TEXT);
    for (size_t i = 0; i < mel_outcome_per_group(w->metric); i++)
        if (fabs(a[i]) <= w->out.options->tolerance) {
            mel_buffer_puts(&list, list.size > 0 ? ", " : "");
            mel_buffer_puts(&list, w->coordinate[i]);
        }
    const char *names = mel_sentences_keep(&w->said, &list);
    if (*names != '\0')
        SAY(w, at_end, "list", names, NULL);
}

/* Both weights of a metric of TP and TN have one sign: a respondent for whom one has the other sign, which
 * rewards a mistake, answers like one for whom it is nothing. */
static void state_edge(mel_outcome_work *w)
{
    if (mel_outcome_is_search(&w->out) || mel_metric_layout(w->metric)->coordinates != MEL_BINARY ||
        w->out.summary.end != MEL_END_TOLERANCE)
        return;
    for (size_t i = 0; i < 2; i++) {
        double low = 0.0, high = 0.0;
        if (mel_metric_interval(w->metric, i, &low, &high) &&
            fmax(fabs(low), fabs(high)) <= fmin(2.0 * w->out.options->tolerance, 0.05))
            SAY(w, at_edge, "what", w->coordinate[i], NULL);
    }
}

/* "bus taken for van (0.1 to 0.7), ..." of the ratios that are wide, or are not. */
static const char *list_ratios(mel_outcome_work *w, size_t *n, bool wide)
{
    mel_buffer list;
    mel_buffer_init(&list, MOST_TEXT);
    *n = 0;
    for (size_t i = 0; i < w->out.n_ratios; i++) {
        const mel_weight_ratio *r = &w->ratio[i];
        if (r->wide != wide || ++*n > MOST_NAMED)
            continue;
        const mel_ends ends = mel_digits_ends(r->ratio.low, r->ratio.high);
        add_to_list(&list, *n,
                    MEL_PUT(w, ratio_item, "name", w->coordinate[r->weight], "low", ends.low.text, "high",
                            ends.high.text, NULL));
    }
    return end_list(w, &list, *n);
}

static void state_ratios(mel_outcome_work *w)
{
    const char *largest = w->coordinate[w->ratio[0].of];
    const mel_digits all = mel_digits_count(w->out.n_ratios);
    size_t known = 0, wide = 0;
    const char *list = list_ratios(w, &known, false);
    if (known == 0)
        SAY(w, ratios_none, NULL);
    else
        SAY(w, ratios_known, "n", mel_digits_count(known).text, "all", all.text, "largest", largest, "list",
            list, NULL);
    list = list_ratios(w, &wide, true);
    if (wide > 0)
        mel_outcome_say(w, w->out.n_ratios == 1 ? MEL_SAY_ratios_wide_one : MEL_SAY_ratios_wide, "n",
                        mel_digits_count(wide).text, "all", all.text, "largest", largest, "list", list, NULL);
}

/* Two classes: the one ratio that there is, in the words of the metric. */
static void state_cost(mel_outcome_work *w)
{
    const mel_outcome *o = &w->out;
    const mel_cost_ratio cost = { o->cost.value, o->cost.low, o->cost.high };
    if (!mel_cost_ratio_is_wide(&cost)) {
        if (o->summary.end != MEL_END_TOLERANCE)
            SAY(w, cost_known, NULL);
    } else if (!(cost.low > 0.0) && !isfinite(cost.high)) {
        SAY(w, cost_open, NULL);
    } else {
        SAY(w, cost_rough, "comparison", mel_outcome_compare(w, cost.low, cost.high), NULL);
    }
}

/* States how many of the listed weights have at least a known sign. */
static void state_signs_known(mel_outcome_work *w)
{
    const mel_outcome *o = &w->out;
    size_t known = 0;
    for (size_t i = 0; i < o->n_coefficients; i++)
        known += o->coefficients[i].number.low > 0.0 || o->coefficients[i].number.high < 0.0;
    mel_outcome_say(w, o->n_left_out > 0 ? MEL_SAY_signs_known_of_largest : MEL_SAY_signs_known, "n",
                    mel_digits_count(known).text, "all", mel_digits_count(o->n_coefficients).text, NULL);
}

/* How precise the metric is, and what the answers leave open of it. */
static void state_found(mel_outcome_work *w)
{
    const mel_outcome *o = &w->out;
    state_precision(w);
    state_range(w);
    state_edge(w);
    if (mel_outcome_is_search(o))
        return;
    const bool enough = o->summary.end == MEL_END_TOLERANCE, exchange = mel_outcome_is_exchange(o);
    if (isfinite(o->cost.value))
        state_cost(w);
    else if (o->n_ratios > 0 && !enough)
        state_ratios(w);
    else if (!enough)
        state_signs_known(w);
    if (!enough && exchange && !mel_outcome_is_open(o) && o->summary.questions >= MEL_FEW_ANSWERS &&
        o->summary.variation > varies_much)
        SAY(w, variation, NULL);
    if (exchange && isfinite(o->summary.radius) && !o->summary.imagined && mel_outcome_is_open(o) &&
        o->options->questions == MEL_QUESTIONS_REALISTIC)
        SAY(w, imagine_more, NULL);
}

/* --- the answers ------------------------------------------------------------------------------------ */

const char *mel_consistency_label(const mel_summary *s)
{
    if (!isfinite(s->consistency))
        return NULL;
    if (s->consistency < inconsistent_below)
        return "inconsistent";
    if (isfinite(s->evidence) && fabs(s->evidence) < least_evidence)
        return "undecided";
    return s->consistency >= consistent_from && s->misfit.kind == MEL_MISFIT_NONE ? "consistent" : "doubtful";
}

/* "cat taken for dog, dog taken for cat": what the answers press against its declared sign; "" where no list
 * is known (search). */
static const char *list_pressed(mel_outcome_work *w)
{
    if (w->session == NULL)
        return "";
    const size_t n = mel_outcome_per_group(w->out.metric);
    bool *pressed = mel_outcome_room(w, n, sizeof *pressed);
    mel_buffer list;
    mel_buffer_init(&list, MOST_TEXT);
    if (pressed != NULL &&
        mel_outcome_good(w, mel_session_pressed(pressed, w->session, w->out.metric, w->said.err)))
        for (size_t i = 0; i < n; i++)
            if (pressed[i]) {
                mel_buffer_puts(&list, list.size > 0 ? ", " : "");
                mel_outcome_add_coordinate(&list, w->out.metric, i, false);
            }
    return mel_sentences_keep(&w->said, &list);
}

/* By what the number in the summary is about: evidence against coin tosses where flips are assumed,
 * contradictions elsewhere. */
static mel_saying consistency_saying(const mel_summary *s)
{
    const bool flips = isfinite(s->evidence);
    if (s->consistency < inconsistent_below)
        return flips ? MEL_SAY_inconsistent_coins : MEL_SAY_inconsistent;
    if (!flips)
        return s->consistency > 0.5 ? MEL_SAY_consistent_as_expected : MEL_SAY_consistent_less;
    if (fabs(s->evidence) >= least_evidence)
        return s->evidence > 0.0 ? MEL_SAY_consistent : MEL_SAY_doubtful;
    if (s->repeats_agreed < s->repeats)
        return MEL_SAY_undecided;
    return s->repeats >= ENOUGH_REPEATS ? MEL_SAY_repeats_beat_chance : MEL_SAY_undecided_few;
}

static void state_repeats(mel_outcome_work *w)
{
    const mel_summary *s = &w->out.summary;
    const mel_digits n = mel_digits_count(s->repeats);
    if (s->repeats == 0)
        SAY(w, repeats_none, NULL);
    else if (s->repeats_agreed == s->repeats)
        SAY(w, repeats_alike, "n", n.text, NULL);
    else
        SAY(w, repeats, "n", n.text, "agreed", mel_digits_count(s->repeats_agreed).text, NULL);
}

/* What the answers look like, before anything is made of them. */
static void state_kinds(mel_outcome_work *w, const mel_answer_counts *k)
{
    const mel_digits n = mel_digits_count(k->said);
    if (k->said < MEL_FEW_ANSWERS)
        return;
    if (k->same == k->said)
        SAY(w, same, "n", n.text, NULL);
    if (k->a == k->said || k->b == k->said)
        SAY(w, sides, "n", n.text, "side", k->a > 0 ? "A" : "B", NULL);
}

/* The setting with the fewest mistakes of the other kind that keeps a target; NULL: none does. */
static const mel_setting *find_keeping(const mel_outcome *o)
{
    const mel_misfit *m = &o->summary.misfit;
    const double positives = o->setting_positives, negatives = o->setting_people - positives;
    const mel_setting *found = NULL;
    for (size_t i = 0; i < o->n_settings; i++) { /* from never to always */
        const mel_setting *s = &o->settings[i];
        if (m->kind == MEL_MISFIT_CLEARED && s->false_alarms <= (1.0 - m->value) * negatives)
            found = s;
        if (m->kind == MEL_MISFIT_FOUND && s->missed <= (1.0 - m->value) * positives)
            return s;
    }
    return found;
}

static void state_misfit(mel_outcome_work *w)
{
    const mel_outcome *o = &w->out;
    const mel_misfit *m = &o->summary.misfit;
    const bool up = m->value > 0.0;
    const char *aim = word_aim(w);
    const mel_setting *keeps = aim != NULL ? find_keeping(o) : NULL;
    if (keeps != NULL && isfinite(keeps->threshold)) {
        const mel_digits missed = mel_digits_people(keeps->missed),
                         alarms = mel_digits_people(keeps->false_alarms);
        SAY(w, misfit_target, "why", aim, "threshold", mel_digits_significant(keeps->threshold, 3).text,
            "missed", missed.text, "missed_name", missed_words(w, missed), "alarms", alarms.text,
            "alarm_name", alarm_words(w, alarms), "people", mel_digits_count(o->setting_people).text, NULL);
    } else if (aim != NULL) {
        SAY(w, misfit_first, "why", aim, NULL);
    } else if (m->kind == MEL_MISFIT_LEVEL) {
        mel_outcome_say(w, up ? MEL_SAY_misfit_rises : MEL_SAY_misfit_falls, "one", o->missed, NULL);
    } else if (m->kind == MEL_MISFIT_SIDE) {
        SAY(w, misfit_side, "side", up ? "A" : "B", NULL);
    } else if (m->kind == MEL_MISFIT_DRIFT) {
        mel_outcome_say(w, up ? MEL_SAY_drift_up : MEL_SAY_drift_down, "one", o->missed, NULL);
    }
}

/* What is acceptable to somebody who refused both sides: what is better, by the metric, than the best
 * refused. */
static void state_refused(mel_outcome_work *w)
{
    const mel_outcome *o = &w->out;
    const mel_digits n = mel_digits_count(o->summary.neither);
    if (o->summary.neither == 0)
        return;
    if (!isfinite(o->above_refused))
        SAY(w, neither, "n", n.text, NULL);
    else
        mel_outcome_say(w, o->above_refused > 0.0 ? MEL_SAY_neither_left : MEL_SAY_neither_none, "n", n.text,
                        NULL);
}

void mel_outcome_state_answers(mel_outcome_work *w)
{
    const mel_outcome *o = &w->out;
    const mel_summary *s = &o->summary;
    if (!mel_outcome_ok(w) || s->questions == 0)
        return;
    if (o->nothing_found) {
        mel_outcome_say(w, s->neither > 0 ? MEL_SAY_unanswered_neither : MEL_SAY_unanswered, NULL);
        return;
    }
    const mel_answer_counts k = mel_outcome_count_answers(w->session);
    state_repeats(w);
    if (s->disagreements == 0)
        SAY(w, contradictions_none, NULL);
    else
        SAY(w, contradictions, "n", mel_digits_count(s->disagreements).text, "all",
            mel_digits_count(s->questions - s->skipped - s->neither).text, NULL);
    if (s->skipped > 0)
        SAY(w, skipped, "n", mel_digits_count(s->skipped).text, "all", mel_digits_count(s->questions).text,
            NULL);
    state_refused(w);
    if (s->signs == MEL_SIGNS_PRESSED)
        mel_outcome_say(w, o->options->signs != NULL ? MEL_SAY_signs_pressed : MEL_SAY_direction_pressed,
                        "list", list_pressed(w), NULL);
    if (asks_people(o))
        state_kinds(w, &k);
    state_misfit(w);
    /* Who only said "same" can contradict nothing. */
    const bool told = s->misfit.kind != MEL_MISFIT_NONE && s->consistency >= inconsistent_below;
    if (!mel_outcome_is_search(o) && isfinite(s->consistency) && !told && (k.same == 0 || k.same < k.said))
        mel_outcome_say(w, consistency_saying(s), "p", mel_digits_significant(s->consistency, 2).text,
                        "prior", o->options->prior != NULL ? "prior" : NULL, NULL);
    if (isfinite(s->error_rate))
        SAY(w, errors, "share", mel_digits_significant(100.0 * s->error_rate, 2).text, NULL);
}

/* --- what no answers can tell ------------------------------------------------------------------------ */

static void state_shape(mel_outcome_work *w)
{
    const mel_family_facts *family = mel_family_about(mel_metric_family(w->metric));
    if (!family->sum || family->local)
        SAY(w, shape, "shape", family->shape, NULL);
    else if (mel_metric_layout(w->metric)->coordinates == MEL_BINARY)
        SAY(w, shape_rate, "missed_plural", w->out.missed_plural, NULL);
    else
        SAY(w, shape_rates, NULL);
}

/* How far what was measured holds for other rows. */
static void state_sampling(mel_outcome_work *w)
{
    const mel_outcome *o = &w->out;
    const mel_digits rows_measured = mel_digits_count(o->rows);
    if (o->domain->ball != NULL && mel_session_questions(w->session) == MEL_QUESTIONS_FAR)
        SAY(w, sampling_ball, NULL);
    else if (o->domain->pool != NULL)
        mel_outcome_say(
            w, mel_pool_has_counts(o->domain->pool) ? MEL_SAY_sampling_counts : MEL_SAY_sampling_exact, NULL);
    else if (o->rows == 0 && o->n_decisions > 0)
        SAY(w, sampling_formula, NULL);
    else if (o->rows > 0)
        mel_outcome_say(w, o->n_decisions > 0 ? MEL_SAY_sampling_rule : MEL_SAY_sampling_rows, "n",
                        rows_measured.text, NULL);
}

static void state_limits(mel_outcome_work *w)
{
    state_shape(w);
    if (mel_outcome_is_search(&w->out))
        SAY(w, noise_search, NULL);
    else if (mel_noise_of(w->out.options->assume.kind)->errs == MEL_ERRS_NEVER)
        SAY(w, noise_none, NULL);
    else
        SAY(w, noise, NULL);
    SAY(w, others, NULL);
    state_sampling(w);
}

void mel_outcome_state(mel_outcome_work *w)
{
    mel_outcome *o = &w->out;
    if (!mel_outcome_ok(w))
        return;
    const mel_answer_counts k = mel_outcome_count_answers(w->session);
    o->consistency = k.same > 0 && k.same == k.said ? NULL : mel_consistency_label(&o->summary);
    const bool ordered = o->n_order > 1;
    SAY(w, words, "words", o->words, NULL);
    if (o->summary.finding != MEL_FINDING_NONE)
        SAY(w, finding, "words", mel_finding_text(o->summary.finding), NULL);
    if (ordered)
        state_preferred(w);
    mel_outcome_say(w, end_saying(o), "n", mel_digits_count(o->summary.questions).text, NULL);
    if (!o->nothing_found)
        state_found(w);
    if (ordered && !mel_outcome_is_search(o)) {
        state_truly_best(w);
        state_order(w);
    }
    if (ordered) {
        state_despite(w, true);
        state_despite(w, false);
    }
    mel_outcome_state_answers(w);
    state_limits(w);
}
