/* Two classes: what the test can be set to, what each setting does, and for which cost ratios it is best; and
 * the answers that were closest to the other one. */
#include "outcome/outcome.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>

enum { USUAL_PEOPLE = 1000, GRID = 121, MOST_GAINED = 4, MOST_TEXT = 1 << 16 };
static const double widest_ratio = 1000.0; /* and its inverse: settings for ratios beyond are the ends */

static mel_point of_setting(const mel_outcome_work *w, const mel_setting *s)
{
    return mel_face_rule(w->out.domain->face, (mel_rule){ s->threshold, false });
}

/* Out of how many people the questions were. */
static uint32_t people_of(const mel_session *session)
{
    uint32_t people = 0;
    for (uint32_t i = mel_session_answers(session); i-- > 0 && people == 0;)
        people = mel_session_record(session, i).people;
    return people > 0 ? people : USUAL_PEOPLE;
}

static mel_setting setting_of(const mel_outcome_work *w, double threshold, mel_estimate missed,
                              mel_estimate alarms)
{
    return (mel_setting){ .threshold = threshold,
                          .missed = missed.value,
                          .missed_low = missed.low,
                          .missed_high = missed.high,
                          .false_alarms = alarms.value,
                          .false_alarms_low = alarms.low,
                          .false_alarms_high = alarms.high,
                          .cost = missed.value * w->out.cost.value + alarms.value,
                          .ratio_low = NAN,
                          .ratio_high = NAN };
}

static mel_setting make_setting(const mel_outcome_work *w, double threshold)
{
    const mel_face *face = w->out.domain->face;
    const double p = mel_face_positives(face), n = mel_face_negatives(face), people = w->out.setting_people;
    const mel_point point = of_setting(w, &(mel_setting){ .threshold = threshold });
    return setting_of(w, threshold, mel_outcome_out_of(people, (p - point.tp) / (p + n), w->out.rows),
                      mel_outcome_out_of(people, (n - point.tn) / (p + n), w->out.rows));
}

/* Decisions that were counted, on rows in which the classes may have other shares: what they do to each class
 * is what counts. */
static mel_setting make_counted(const mel_outcome_work *w, const double count[4])
{
    const mel_face *face = w->out.domain->face;
    const double p = mel_face_positives(face), n = mel_face_negatives(face), people = w->out.setting_people;
    const double negatives = count[0] + count[1], positives = count[2] + count[3];
    return setting_of(w, NAN,
                      mel_outcome_out_of(people * p / (p + n), count[2] / positives, (uint64_t)positives),
                      mel_outcome_out_of(people * n / (p + n), count[1] / negatives, (uint64_t)negatives));
}

static mel_setting make_today(const mel_outcome_work *w)
{
    if (w->about.today_counts != NULL)
        return make_counted(w, w->about.today_counts);
    return make_setting(w, isnan(w->about.today_threshold) ? 0.5 : w->about.today_threshold);
}

static int by_threshold(const void *x, const void *y)
{
    const double a = ((const mel_setting *)x)->threshold, b = ((const mel_setting *)y)->threshold;
    return a > b ? -1 : a < b;
}

/* The settings that are best on a grid of cost ratios, and the metric's own: highest threshold first, each
 * once. */
static void list_settings(mel_outcome_work *w)
{
    const mel_face *face = w->out.domain->face;
    size_t n = 0;
    w->setting = mel_outcome_room(w, GRID + 1, sizeof *w->setting);
    for (size_t i = 0; i < GRID && w->status == MEL_OK; i++) {
        const double step = 2.0 * (double)i / (GRID - 1) - 1.0;
        mel_rule rule = { 0 };
        if (mel_outcome_good(w, mel_face_support_rule(&rule, face, pow(widest_ratio, step), 1.0, w->err)) &&
            !rule.inverted)
            w->setting[n++] = make_setting(w, rule.threshold);
    }
    if (w->status != MEL_OK)
        return;
    const double own = w->out.decisions[0].rule.threshold;
    w->setting[n++] = make_setting(w, own);
    qsort(w->setting, n, sizeof *w->setting, by_threshold);
    for (size_t i = 0; i < n; i++)
        if (w->out.n_settings == 0 ||
            w->setting[i].threshold != w->setting[w->out.n_settings - 1].threshold) {
            if (w->setting[i].threshold == own)
                w->out.best_setting = w->out.n_settings;
            w->setting[w->out.n_settings++] = w->setting[i];
        }
    w->out.settings = w->setting;
}

/* For which cost ratios no other setting is better: r TP + TN decides. */
static void find_ratios(mel_outcome_work *w, size_t index)
{
    mel_setting *s = &w->setting[index];
    const mel_point here = of_setting(w, s);
    double low = 0.0, high = INFINITY;
    for (size_t j = 0; j < w->out.n_settings; j++) {
        const mel_point other = of_setting(w, &w->setting[j]);
        const double tp = here.tp - other.tp, tn = other.tn - here.tn;
        if (tp > 0.0)
            low = fmax(low, tn / tp);
        else if (tp < 0.0)
            high = fmin(high, tn / tp);
        else if (tn > 0.0)
            high = -1.0;
    }
    if (!(low <= high))
        return;
    s->ratio_low = low;
    s->ratio_high = high;
    s->where = mel_outcome_compare(w, low, high);
    s->fits = isfinite(w->out.cost.value) && low <= w->out.cost.high && high >= w->out.cost.low;
}

/* Of the whole people that are shown. */
static void weigh(mel_outcome_work *w, mel_setting *s)
{
    s->weighs = mel_outcome_weigh(w, round(s->missed), round(s->false_alarms));
}

void mel_outcome_find_settings(mel_outcome_work *w)
{
    if (w->status != MEL_OK || w->out.n_decisions == 0 || w->out.decisions[0].rule.inverted)
        return;
    const mel_face *face = w->out.domain->face;
    const double p = mel_face_positives(face), n = mel_face_negatives(face);
    w->out.setting_people = people_of(w->session);
    w->out.setting_positives = (uint32_t)lround(w->out.setting_people * p / (p + n));
    w->out.usual_setting = make_today(w);
    list_settings(w);
    weigh(w, &w->out.usual_setting);
    for (size_t i = 0; i < w->out.n_settings; i++) {
        find_ratios(w, i);
        weigh(w, &w->setting[i]);
    }
}

/* --- close calls -------------------------------------------------------------------------------- */

/* "1 fewer missed cancer for 7 more false alarms": from the side with fewer true positives to the other. */
static void put_exchange(mel_outcome_work *w, mel_close_call *call, const mel_record *r)
{
    const double tp = r->a[0] - r->b[0], tn = r->b[1] - r->a[1], people = r->people;
    call->missed = (uint32_t)lround(people * fabs(tp));
    call->false_alarms = (uint32_t)lround(people * fabs(tn));
    if (call->missed == 0 || call->false_alarms == 0 || tp * tn < 0.0)
        return;
    const bool wanted = (r->answer == MEL_ANSWER_A) == (tp > 0.0);
    if (r->answer != MEL_ANSWER_SAME)
        call->answer = wanted ? MEL_ANSWER_A : MEL_ANSWER_B;
    call->text = mel_outcome_format(w, "%s fewer %s for %s more %s", mel_digits_count(call->missed).text,
                                    call->missed == 1 ? w->out.missed : w->out.missed_plural,
                                    mel_digits_count(call->false_alarms).text,
                                    call->false_alarms == 1 ? w->out.false_alarm : w->out.false_alarms);
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
static void add_gained(mel_buffer *out, const mel_outcome_work *w, const gained *g)
{
    const mel_layout *layout = mel_metric_layout(w->metric);
    const size_t n = mel_outcome_per_group(w->metric);
    const bool named = layout->coordinates == MEL_OFFDIAGONAL && layout->n_classes == 2;
    const int64_t size = llabs(g->more);
    mel_buffer_printf(out, "%s %s ", mel_digits_count((uint64_t)size).text, g->more < 0 ? "fewer" : "more");
    if (!named) {
        mel_outcome_add_coordinate(out, w->metric, g->at, layout->n_groups > 1);
        return;
    }
    mel_buffer_puts(out, g->at % n == 1 ? (size == 1 ? w->out.missed : w->out.missed_plural)
                                        : (size == 1 ? w->out.false_alarm : w->out.false_alarms));
    if (layout->n_groups > 1)
        mel_buffer_printf(out, " (%s)", mel_metric_group_name(w->metric, g->at / n));
}

/* What A has that B does not, the largest differences first: "29 more bus recognised and 61 fewer van
 * recognised". */
static void put_differences(mel_outcome_work *w, mel_close_call *call, const mel_record *r)
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
    if (some > 0) {
        const size_t shown = some > MOST_GAINED ? MOST_GAINED - 1 : some;
        mel_buffer text;
        mel_buffer_init(&text, MOST_TEXT);
        qsort(found, some, sizeof *found, by_size);
        for (size_t i = 0; i < shown; i++) {
            mel_buffer_puts(&text, i == 0 ? "" : i + 1 < some ? ", " : " and ");
            add_gained(&text, w, &found[i]);
        }
        if (shown < some)
            mel_buffer_printf(&text, " and %zu smaller differences", some - shown);
        call->text = mel_outcome_keep(w, &text);
    }
    free(found);
}

void mel_outcome_find_calls(mel_outcome_work *w)
{
    uint32_t number[MEL_OUTCOME_CALLS];
    if (w->status != MEL_OK || mel_outcome_is_search(&w->out))
        return;
    w->out.n_calls = mel_session_close_calls(number, MEL_OUTCOME_CALLS, w->session, w->metric);
    for (size_t i = 0; i < w->out.n_calls; i++) {
        const mel_record r = mel_session_record(w->session, number[i] - 1);
        mel_close_call *call = &w->out.calls[i];
        *call = (mel_close_call){ .number = number[i], .text = "", .answer = r.answer };
        if (mel_metric_layout(w->metric)->coordinates == MEL_BINARY && r.people > 0)
            put_exchange(w, call, &r);
        if (w->status == MEL_OK && call->text[0] == '\0')
            put_differences(w, call, &r);
    }
}
