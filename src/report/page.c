/* The page: fills report.html with the numbers, words and pictures of a session's outcome. */
#include "report/page.h"

#include "elicit/shared.h"
#include "outcome/sheet.h"
#include "report/template.h"
#include "report/write.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 256 << 20, PEOPLE = 1000, MOST_BARS = 12, MOST_MATRIX = 8, FEW_NUMBERS = 12, SHOWN = 3 };
enum { TWO_COLUMNS = 6 };
/* Below what anybody could see. */
static const double least_difference = 1e-6;

typedef struct {
    const mel_page_data *d;
    const mel_outcome *o;
    mel_sheet s;
    mel_error failure; /* the first one of a picture or an allocation, which counts */
} page;

/* --- fields: HTML, so that texts are escaped here --------------------------------------------------- */

/* "%s" alone in the format, each text escaped. */
MEL_PRINTF(3, 4) static void put(mel_sheet *s, const char *name, const char *fmt, ...)
{
    mel_buffer text;
    va_list args;
    mel_buffer_init(&text, MOST_BYTES);
    va_start(args, fmt);
    mel_vwrite(&text, fmt, args);
    va_end(args);
    mel_buffer_puts(&text, "");
    mel_sheet_put(s, name, text.status == MEL_OK ? json_string(text.data) : NULL);
    mel_buffer_free(&text);
}

/* Where there is one. */
static void put_text(mel_sheet *s, const char *name, const char *text)
{
    if (text != NULL)
        put(s, name, "%s", text);
}

static void put_flag(mel_sheet *s, const char *name, bool flag)
{
    mel_sheet_put(s, name, json_boolean(flag));
}

static void put_object(mel_sheet *s, const char *name, const mel_sheet *object)
{
    mel_sheet_put(s, name, mel_json_if(object->whole, object->object));
}

static void add_text(mel_sheet *s, json_t *list, const char *text)
{
    mel_sheet one = mel_sheet_new();
    put(&one, "text", "%s", text);
    s->whole = mel_json_add(list, json_incref(json_object_get(one.object, "text"))) && one.whole && s->whole;
    json_decref(one.object);
}

static void note(page *p, mel_status status, const mel_error *why)
{
    if (status != MEL_OK && p->failure.code == MEL_OK)
        p->failure = *why;
}

/* Takes the picture over. */
static void put_plot(page *p, mel_sheet *s, const char *name, mel_status status, char *svg,
                     const mel_error *why)
{
    note(p, status, why);
    mel_sheet_put(s, name, json_string(status == MEL_OK ? svg : ""));
    free(svg);
}

/* Names in a picture. */
static void clear_texts(page *p, mel_sentences *texts)
{
    p->s.whole = p->s.whole && texts->status == MEL_OK;
    mel_sentences_clear(texts);
}

static mel_plot_options embedded(const char *id, const char *title)
{
    mel_plot_options opt;
    mel_plot_options_init(&opt);
    opt.id = id;
    opt.title = title;
    opt.embedded = true;
    return opt;
}

/* "; 95% between 3 and 4.1%", or what a search may say of its interval; nothing where an end is unknown. */
static void put_range(const page *p, mel_sheet *s, double low, double high, const char *unit)
{
    const mel_ends e = mel_digits_ends(low, high);
    if (!isfinite(low) || !isfinite(high))
        put(s, "range", "%s", "");
    else
        put(s, "range", "; %s %s%s and %s%s", mel_outcome_is_search(p->o) ? "between" : "95% between",
            e.low.text, unit, e.high.text, unit);
}

static double percent(double share)
{
    return 100.0 * share;
}

/* How wide a bar is next to the largest. */
static void put_width(mel_sheet *s, double size, double largest)
{
    put(s, "width", "%s", mel_digits_short(largest > 0.0 ? percent(fabs(size)) / largest : 0.0, 1).text);
}

/* --- the head --------------------------------------------------------------------------------------- */

/* On a page about several classes the section on weights has all sentences of the metric. */
static void put_head(page *p)
{
    enum { LONG = 100 };
    const mel_page_data *d = p->d;
    const mel_headline *h = &p->o->headline;
    const char *const texts[] = { h->range, h->why, d->classes == NULL ? h->rest : NULL };
    json_t *ledes = json_array(), *remarks = json_array();
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i] != NULL && *texts[i] != '\0')
            add_text(&p->s, ledes, texts[i]);
    for (size_t i = 1; i < p->o->n_statements && p->o->statements[i].topic == MEL_ABOUT_METRIC; i++)
        add_text(&p->s, remarks, p->o->statements[i].text);
    put_text(&p->s, "version", d->version);
    put_text(&p->s, "title", d->title);
    mel_sheet_put(&p->s, "style", json_sprintf("%s%s", mel_page_css, mel_plot_css));
    put(&p->s, "headline", "%s", h->text);
    put_flag(&p->s, "long", strlen(h->text) > LONG);
    mel_sheet_put(&p->s, "ledes", ledes);
    mel_sheet_put(&p->s, "remarks", remarks);
    put_text(&p->s, "data", d->data);
    put_text(&p->s, "rows", p->o->rows != 0 ? mel_digits_count(p->o->rows).text : NULL);
    put_flag(&p->s, "one_row", p->o->rows == 1);
    put_text(&p->s, "answered_by", d->answered_by);
    put_text(&p->s, "date", d->date);
}

/* What several sections ask for. */
static void put_names(page *p)
{
    const mel_outcome *o = p->o;
    put_text(&p->s, "people", o->people);
    put_text(&p->s, "missed_plural", o->missed_plural);
    put_text(&p->s, "false_alarms", o->false_alarms);
    put_text(&p->s, "words", o->words);
    put_flag(&p->s, "search", mel_outcome_is_search(o));
    put_flag(&p->s, "several_classes", p->d->classes != NULL);
    put_flag(&p->s, "unfinished", o->summary.end == MEL_END_NOT_YET);
}

static void put_foot(page *p)
{
    const mel_session_options *opt = p->o->options;
    char assume[MEL_ASSUMPTION_TEXT];
    mel_assumption_print(assume, sizeof assume, &opt->assume);
    put(&p->s, "family", "%s", mel_family_name(opt->family));
    put(&p->s, "strategy", "%s", mel_strategy_name(opt->strategy));
    put(&p->s, "tolerance", "%s", mel_digits_significant(opt->tolerance, 2).text);
    put(&p->s, "assume", "%s", assume);
    put(&p->s, "seed", "%s", mel_digits_count(opt->seed).text);
}

/* --- key figures -------------------------------------------------------------------------------------- */

static void put_cost(page *p)
{
    const mel_outcome *o = p->o;
    mel_sheet one = mel_sheet_new();
    mel_bound bound;
    if (mel_outcome_bound(&bound, o, o->cost.low, o->cost.high)) {
        put_flag(&one, "more", bound.more);
        put(&one, "number", "%s", bound.number.text);
        put(&one, "many", "%s", bound.many);
        put(&one, "one", "%s", bound.one);
        put_object(&p->s, "tile_bound", &one);
        return;
    }
    const bool turned = o->cost.value < 1.0;
    const mel_digits ratio = mel_digits_significant(turned ? 1.0 / o->cost.value : o->cost.value, 2);
    put(&one, "number", "%s", ratio.text);
    put(&one, "many", "%s",
        turned ? mel_outcome_so_many(ratio, o->missed, o->missed_plural)
               : mel_outcome_so_many(ratio, o->false_alarm, o->false_alarms));
    put(&one, "one", "%s", turned ? o->false_alarm : o->missed);
    if (o->cost.low > 0.0)
        put_range(p, &one, turned ? 1.0 / o->cost.high : o->cost.low,
                  turned ? 1.0 / o->cost.low : o->cost.high, "");
    else
        put(&one, "range", "%s", "");
    put_object(&p->s, "tile_cost", &one);
}

/* The best threshold on true probabilities, or the one bound on it that is known: it is below (-1), at (0) or
 * above (1). */
static int find_cut(mel_digits *at, const mel_estimate *t)
{
    const bool low = t->low > 0.0, high = t->high < 1.0;
    *at = low == high ? mel_digits_significant(t->value, 3)
          : high      ? mel_digits_less_than(t->high)
                      : mel_digits_more_than(t->low);
    return low == high ? 0 : high ? -1 : 1;
}

static void put_cut(mel_sheet *s, int side)
{
    put_flag(s, "below", side < 0);
    put_flag(s, "above", side > 0);
    put_flag(s, "at", side == 0);
}

/* The setting of the measured test, and what it does to people: the numbers of the browser's page. */
static void put_setting_tile(page *p)
{
    const mel_outcome *o = p->o;
    const mel_setting *s = &o->settings[o->best_setting];
    mel_sheet one = mel_sheet_new();
    put_flag(&one, "never", isinf(s->threshold) && s->threshold > 0.0);
    put_flag(&one, "always", isinf(s->threshold) && s->threshold < 0.0);
    put_flag(&one, "at", isfinite(s->threshold));
    put(&one, "number", "%s", mel_digits_significant(s->threshold, 2).text);
    put(&one, "positive", "%s", p->d->positive);
    put_object(&p->s, "tile_setting", &one);
}

static void put_people_tile(page *p)
{
    const mel_outcome *o = p->o;
    const mel_setting *s = o->n_settings > 0 ? &o->settings[o->best_setting] : NULL;
    const mel_digits missed = mel_digits_people(s != NULL ? s->missed : o->decisions[0].missed.value),
                     alarms =
                         mel_digits_people(s != NULL ? s->false_alarms : o->decisions[0].false_alarms.value);
    mel_sheet one = mel_sheet_new();
    put(&one, "all", "%s", mel_digits_count(s != NULL ? o->setting_people : PEOPLE).text);
    put(&one, "missed_number", "%s", missed.text);
    put(&one, "alarm_number", "%s", alarms.text);
    put(&one, "missed_words", "%s", mel_outcome_so_many(missed, o->missed, o->missed_plural));
    put(&one, "alarm_words", "%s", mel_outcome_so_many(alarms, o->false_alarm, o->false_alarms));
    put_object(&p->s, "tile_people", &one);
}

static void put_face_tiles(page *p)
{
    const mel_outcome *o = p->o;
    const mel_estimate *t = &o->threshold;
    const bool settled = o->headline.kind != MEL_HEADLINE_UNSETTLED;
    if (isfinite(o->cost.value) && settled)
        put_cost(p);
    if (t->value >= 0.0 && t->value <= 1.0 && settled) {
        mel_sheet one = mel_sheet_new();
        mel_digits at;
        const int side = find_cut(&at, t);
        put_cut(&one, side);
        put(&one, "number", "%s", at.text);
        put(&one, "positive", "%s", p->d->positive);
        put_range(p, &one, side == 0 ? t->low : NAN, t->high, "");
        put_object(&p->s, "tile_threshold", &one);
    }
    if (o->n_settings > 0 && settled)
        put_setting_tile(p);
    put_people_tile(p);
}

static void put_share_tile(page *p, const char *name, const mel_estimate *share, const char *what)
{
    mel_sheet one = mel_sheet_new();
    put(&one, "number", "%s", mel_digits_significant(percent(share->value), 2).text);
    put_text(&one, "name", what);
    put_range(p, &one, percent(share->low), percent(share->high), "%");
    put_object(&p->s, name, &one);
}

static void put_class_tiles(page *p)
{
    const mel_outcome *o = p->o;
    const uint32_t answers = o->summary.questions - o->summary.skipped - o->summary.neither;
    if (o->n_weights > 0)
        put_share_tile(p, "tile_heaviest", &o->weights[o->heaviest].share, o->weights[o->heaviest].name);
    if (isfinite(o->lambda.value))
        put_share_tile(p, "tile_lambda", &o->lambda, NULL);
    if (isfinite(o->summary.radius)) {
        mel_sheet one = mel_sheet_new();
        put(&one, "number", "%s", mel_digits_significant(o->summary.radius, 2).text);
        put(&one, "weights", "%s", mel_digits_count(o->n_coefficients + o->n_left_out).text);
        put_object(&p->s, "tile_sureness", &one);
    }
    if (answers > 0 && !isfinite(o->lambda.value)) { /* four fill the row */
        mel_sheet one = mel_sheet_new();
        put(&one, "agreed", "%s", mel_digits_count(answers - o->summary.disagreements).text);
        put(&one, "all", "%s", mel_digits_count(answers).text);
        put_object(&p->s, "tile_agreement", &one);
    }
}

static void put_question_tile(page *p)
{
    double seconds = 0.0;
    for (size_t i = 0; i < p->d->n_questions; i++)
        seconds += p->d->questions[i].seconds; /* NaN when one is unknown */
    put(&p->s, "n_questions", "%s", mel_digits_count(p->d->n_questions).text);
    put_flag(&p->s, "one_question", p->d->n_questions == 1);
    if (seconds >= 119.5)
        put(&p->s, "minutes", "%s", mel_digits_shown(seconds / 60.0, 0).text);
    else if (seconds >= 1.0)
        put(&p->s, "seconds_taken", "%s", mel_digits_shown(seconds, 0).text);
}

/* --- several classes: weights -------------------------------------------------------------------------- */

/* The weights that are drawn: all in their order, or the largest of many, largest first. */
static size_t choose_bars(size_t chosen[MOST_BARS], const mel_outcome *o)
{
    size_t n = 0;
    for (; n < MOST_BARS && n < o->n_weights; n++) {
        chosen[n] = n;
        if (o->n_weights <= MOST_BARS)
            continue;
        size_t best = SIZE_MAX;
        for (size_t i = 0; i < o->n_weights; i++) {
            bool taken = false;
            for (size_t j = 0; j < n; j++)
                taken = taken || chosen[j] == i;
            if (!taken &&
                (best == SIZE_MAX || fabs(o->weights[i].share.value) > fabs(o->weights[best].share.value)))
                best = i;
        }
        chosen[n] = best;
    }
    return n;
}

/* Elicited weights with their intervals, in percent. */
static void put_bars(page *p, mel_sheet *s)
{
    const mel_outcome *o = p->o;
    size_t chosen[MOST_BARS];
    const size_t n = choose_bars(chosen, o);
    double value[MOST_BARS], low[MOST_BARS], high[MOST_BARS];
    const char *names[MOST_BARS];
    bool intervals = true;
    for (size_t j = 0; j < n; j++) {
        const mel_weight *weight = &o->weights[chosen[j]];
        names[j] = weight->label;
        value[j] = percent(weight->share.value);
        low[j] = percent(weight->share.low);
        high[j] = percent(weight->share.high);
        intervals = intervals && isfinite(low[j]) && isfinite(high[j]);
    }
    mel_bar_chart chart;
    mel_bar_chart_init(&chart);
    chart.n_groups = n;
    chart.n_series = 1;
    chart.group_names = names;
    chart.value = value;
    chart.low = intervals ? low : NULL;
    chart.high = intervals ? high : NULL;
    chart.x_title = "percent of the weight";
    chart.decimals = 0;
    char *svg = NULL;
    mel_error why;
    const mel_plot_options opt = embedded("weights", "What the metric weighs");
    mel_sheet one = mel_sheet_new();
    const mel_status status = mel_plot_bars(&svg, &chart, &opt, &why);
    put_plot(p, &one, "plot", status, svg, &why);
    put_flag(&one, "some", o->n_weights > n);
    put_flag(&one, "intervals", intervals);
    put_object(s, "bars", &one);
}

/* Rows are true classes, columns what is said instead. */
static void put_matrix(page *p, mel_sheet *s)
{
    const mel_outcome *o = p->o;
    const size_t k = mel_metric_layout(o->metric)->n_classes;
    const double largest = fabs(o->weights[o->heaviest].share.value);
    json_t *classes = json_array(), *rows = json_array();
    mel_sheet all = mel_sheet_new();
    for (size_t i = 0; i < k; i++) {
        mel_sheet row = mel_sheet_new();
        json_t *cells = json_array();
        for (size_t j = 0; j < k; j++) {
            const double weight = i == j ? 0.0 : o->weights[i * (k - 1) + (j < i ? j : j - 1)].share.value;
            mel_sheet one = mel_sheet_new();
            put_flag(&one, "right", i == j);
            put(&one, "value", "%s", mel_digits_shown(percent(weight), 1).text);
            put_width(&one, weight, largest);
            mel_sheet_add(&row, cells, &one);
        }
        put(&row, "class", "%s", p->d->classes->class_names[i]);
        mel_sheet_put(&row, "cells", cells);
        mel_sheet_add(&all, rows, &row);
        add_text(&all, classes, p->d->classes->class_names[i]);
    }
    mel_sheet_put(&all, "classes", classes);
    mel_sheet_put(&all, "matrix_rows", rows);
    put_object(s, "matrix", &all);
}

static void put_weights(page *p)
{
    const mel_outcome *o = p->o;
    const mel_layout *layout = mel_metric_layout(o->metric);
    mel_sheet one = mel_sheet_new();
    put_flag(&p->s, "mistakes", layout->coordinates == MEL_OFFDIAGONAL);
    put_flag(&p->s, "rates", layout->kind == MEL_RATES);
    if (o->n_weights > 0)
        put_bars(p, &one);
    if (o->n_weights > 0 && layout->coordinates == MEL_OFFDIAGONAL && layout->n_classes > 2 &&
        layout->n_classes <= MOST_MATRIX)
        put_matrix(p, &one);
    put_object(&p->s, "weights_section", &one);
}

/* --- several classes: what is recognised -----------------------------------------------------------------
 */

static void put_recognised_bars(page *p, mel_sheet *s, size_t k)
{
    static const char *const series[] = { "best for this metric", "best for accuracy" };
    const mel_recognised *recognised = p->o->recognised;
    double value[2 * MOST_BARS];
    for (size_t i = 0; i < k; i++) {
        value[i] = percent(recognised[i].best);
        value[k + i] = percent(recognised[i].accurate);
    }
    mel_bar_chart chart;
    mel_bar_chart_init(&chart);
    chart.n_groups = k;
    chart.n_series = 2;
    chart.group_names = p->d->classes->class_names;
    chart.series_names = series;
    chart.value = value;
    chart.x_title = "percent of the class recognised";
    chart.decimals = 0;
    char *svg = NULL;
    mel_error why;
    const mel_plot_options opt = embedded("recognised", "What is recognised of each class");
    const mel_status status = mel_plot_bars(&svg, &chart, &opt, &why);
    put_plot(p, s, "plot", status, svg, &why);
}

static void put_recognised(page *p)
{
    const mel_page_classes *c = p->d->classes;
    const size_t k = mel_metric_layout(p->o->metric)->n_classes;
    if (p->o->recognised == NULL)
        return;
    mel_sheet all = mel_sheet_new();
    json_t *table = json_array();
    put_flag(&all, "drawn", k <= MOST_BARS);
    if (k <= MOST_BARS)
        put_recognised_bars(p, &all, k);
    put_flag(&all, "shares", c->class_share != NULL);
    for (size_t i = 0; i < k; i++) {
        const mel_recognised *of = &p->o->recognised[i];
        const double change = percent(of->change);
        mel_sheet row = mel_sheet_new();
        put(&row, "class", "%s", c->class_names[i]);
        if (c->class_share != NULL)
            put(&row, "share", "%s", mel_digits_people(PEOPLE * c->class_share[i]).text);
        put(&row, "best", "%s", mel_digits_shown(percent(of->best), 1).text);
        put(&row, "accurate", "%s", mel_digits_shown(percent(of->accurate), 1).text);
        put(&row, "change", "%s%s", change > 0.05 ? "+" : "",
            mel_digits_shown(fabs(change) <= 0.05 ? 0.0 : change, 1).text);
        mel_sheet_add(&all, table, &row);
    }
    mel_sheet_put(&all, "table", table);
    put_object(&p->s, "recognised", &all);
}

/* "83% (79 to 87%)"; without rows to measure on there is no range. */
static void add_share(mel_sheet *s, json_t *list, const mel_estimate *share)
{
    mel_sheet one = mel_sheet_new();
    if (isfinite(share->value))
        put(&one, "value", "%s", mel_digits_shown(percent(share->value), 1).text);
    if (isfinite(share->low) && isfinite(share->high)) {
        put(&one, "low", "%s", mel_digits_shown(percent(share->low), 1).text);
        put(&one, "high", "%s", mel_digits_shown(percent(share->high), 1).text);
    }
    mel_sheet_add(s, list, &one);
}

static void add_treated(page *p, mel_sheet *s, json_t *table, size_t group, size_t truth)
{
    const mel_outcome *o = p->o;
    const mel_layout *layout = mel_metric_layout(o->metric);
    const size_t k = layout->n_classes, at = (group * k + truth) * k;
    const char *name = mel_metric_group_name(o->metric, group);
    const mel_estimate *decided = o->treatments[0].share + at;
    mel_sheet row = mel_sheet_new();
    json_t *cells = json_array();
    put(&row, "class", "%s", p->d->classes->class_names[truth]);
    if (layout->n_groups > 1 && name != NULL)
        put(&row, "group", "%s", name);
    else if (layout->n_groups > 1)
        put(&row, "group", "group %s", mel_digits_count(group + 1).text);
    put(&row, "share", "%s", mel_digits_people(PEOPLE * o->treated[group * k + truth]).text);
    for (size_t i = 0; i < o->n_treatments; i++)
        add_share(&row, cells, &o->treatments[i].share[at + truth]);
    mel_sheet_put(&row, "cells", cells);
    /* The most frequent mistake of the best rule about the class, where its mistakes are known one by one. */
    size_t most = SIZE_MAX;
    for (size_t j = 0; j < k; j++)
        if (j != truth && isfinite(decided[j].value) && decided[j].value > 0.0 &&
            (most == SIZE_MAX || decided[j].value > decided[most].value))
            most = j;
    if (most != SIZE_MAX) {
        put(&row, "taken", "%s", p->d->classes->class_names[most]);
        put(&row, "taken_share", "%s", mel_digits_shown(percent(decided[most].value), 1).text);
    }
    mel_sheet_add(s, table, &row);
}

static void put_treatments(page *p)
{
    const mel_outcome *o = p->o;
    const mel_layout *layout = mel_metric_layout(o->metric);
    const size_t groups = layout->n_groups > 1 ? layout->n_groups : 1;
    if (o->n_treatments == 0)
        return;
    mel_sheet all = mel_sheet_new();
    json_t *rules = json_array(), *table = json_array();
    for (size_t i = 0; i < o->n_treatments; i++)
        add_text(&all, rules, o->treatments[i].name);
    for (size_t truth = 0; truth < layout->n_classes; truth++)
        for (size_t group = 0; group < groups; group++)
            add_treated(p, &all, table, group, truth);
    put_flag(&all, "groups", groups > 1);
    put_flag(&all, "several", layout->n_classes > 2);
    mel_sheet_put(&all, "rules", rules);
    mel_sheet_put(&all, "table", table);
    put_object(&p->s, "treatments", &all);
}

/* --- two classes: what the rule does ----------------------------------------------------------------------
 */

static void put_people(page *p, mel_sheet *s)
{
    mel_people_plot people;
    mel_people_plot_init(&people);
    people.point = p->o->decisions[0].point;
    people.positives = p->d->positives;
    people.negatives = p->d->negatives;
    people.missed = p->o->missed_plural;
    people.false_alarms = p->o->false_alarms;
    people.cleared = "rightly cleared";
    char *svg = NULL;
    mel_error why;
    const mel_plot_options opt = embedded("people", "What happens to 1,000 of them");
    const mel_status status = mel_plot_people(&svg, &people, &opt, &why);
    put_plot(p, s, "plot", status, svg, &why);
}

/* The picture of what is achievable, with the best point or, when there are any, with questions. */
static void put_feasible(page *p, mel_sheet *s, const char *name, const char *id, const char *title,
                         size_t n_asked, const mel_asked *asked)
{
    const mel_page_data *d = p->d;
    mel_sentences texts = { .err = NULL };
    const mel_support best = { d->direction[0], d->direction[1], p->o->decisions[0].point,
                               "best for this metric" };
    mel_feasible_plot plot;
    mel_feasible_plot_init(&plot);
    plot.n_hull = d->n_hull;
    plot.hull = d->hull;
    plot.positives = d->positives;
    plot.negatives = d->negatives;
    plot.people = PEOPLE;
    plot.x_title = mel_sentences_format(&texts, "%s found, per 1,000", d->found);
    plot.y_title = mel_sentences_format(&texts, "%s cleared, per 1,000", d->cleared);
    plot.never = mel_sentences_format(&texts, "never %s", d->called);
    plot.always = mel_sentences_format(&texts, "always %s", d->called);
    plot.n_supports = 1;
    plot.supports = &best;
    plot.n_questions = n_asked;
    plot.questions = asked;
    char *svg = NULL;
    mel_error why;
    const mel_plot_options opt = embedded(id, title);
    const mel_status status = mel_plot_feasible(&svg, &plot, &opt, &why);
    put_plot(p, s, name, status, svg, &why);
    clear_texts(p, &texts);
}

/* Where the best cut on these scores is, and where it would be on true probabilities. */
static void put_calibration(page *p, mel_sheet *s)
{
    const mel_rule rule = p->o->decisions[0].rule;
    const mel_estimate *on_true = &p->o->threshold;
    if (rule.inverted || !isfinite(rule.threshold) || !(on_true->value >= 0.0) || !(on_true->value <= 1.0))
        return;
    const mel_digits here = mel_digits_significant(rule.threshold, 3);
    mel_digits ideal;
    const int side = find_cut(&ideal, on_true);
    mel_sheet one = mel_sheet_new();
    put_cut(&one, side);
    put(&one, "here", "%s", here.text);
    put(&one, "ideal", "%s", ideal.text);
    put_flag(&one, "alike", side == 0 && strcmp(here.text, ideal.text) == 0);
    put_object(s, "cut", &one);
}

/* What rules are worth if the exchange rate between the two mistakes is another. */
static void put_worth(page *p, mel_sheet *s)
{
    const mel_page_data *d = p->d;
    const mel_outcome *o = p->o;
    if (!(o->cost.value > 0.0) || !isfinite(o->cost.value) || o->n_decisions == 0)
        return;
    mel_sentences texts = { .err = NULL };
    mel_decision_plot plot;
    mel_decision_plot_init(&plot);
    plot.n_hull = d->n_hull;
    plot.hull = d->hull;
    plot.positives = d->positives;
    plot.negatives = d->negatives;
    plot.cost = o->cost;
    plot.chosen = o->decisions[0].point;
    plot.y_title = mel_sentences_format(&texts, "net benefit, %s found per 1,000", d->found);
    plot.never = mel_sentences_format(&texts, "never %s", d->called);
    plot.always = mel_sentences_format(&texts, "always %s", d->called);
    plot.missed = o->missed;
    plot.false_alarms = o->false_alarms;
    const mel_plot_options benefit = embedded("benefit", "Net benefit of rules by threshold probability"),
                           costs = embedded("costs", "Cost curve of rules");
    mel_sheet one = mel_sheet_new();
    char *svg = NULL;
    mel_error why;
    mel_status status = mel_plot_net_benefit(&svg, &plot, &benefit, &why);
    put_plot(p, &one, "benefit", status, svg, &why);
    status = mel_plot_cost_curve(&svg, &plot, &costs, &why);
    put_plot(p, &one, "costs", status, svg, &why);
    put_object(s, "worth", &one);
    clear_texts(p, &texts);
}

static void put_practice(page *p)
{
    const mel_outcome *o = p->o;
    const mel_decision *best = &o->decisions[0];
    mel_sheet all = mel_sheet_new();
    json_t *decisions = json_array();
    put_text(&all, "change", o->change);
    put_people(p, &all);
    put_flag(&all, "weighed", isfinite(o->cost.value));
    for (size_t i = 0; i < MEL_OUTCOME_DECISIONS; i++) {
        const mel_decision *d = &o->decisions[i];
        mel_sheet one = mel_sheet_new();
        put_flag(&one, "first", i == 0);
        put(&one, "rule", "%s", d->words);
        put(&one, "missed", "%s", mel_digits_people(d->missed.value).text);
        put(&one, "alarms", "%s", mel_digits_people(d->false_alarms.value).text);
        put_text(&one, "weighs", d->weighs);
        mel_sheet_add(&all, decisions, &one);
    }
    mel_sheet_put(&all, "decisions", decisions);
    put_calibration(p, &all);
    if (isfinite(best->value) && isfinite(best->value_low) && isfinite(best->value_high)) {
        put(&all, "value", "%s", mel_digits_significant(best->value, 3).text);
        put(&all, "low", "%s", mel_digits_significant(best->value_low, 3).text);
        put(&all, "high", "%s", mel_digits_significant(best->value_high, 3).text);
    }
    put_feasible(p, &all, "achievable", "feasible",
                 "What can be achieved, and the point that the metric chooses", 0, NULL);
    put(&all, "found", "%s", p->d->found);
    put(&all, "cleared", "%s", p->d->cleared);
    put_worth(p, &all);
    put_object(&p->s, "practice", &all);
}

/* --- how sure it is
 * ------------------------------------------------------------------------------------------ */

/* Statements about a topic as one text; none: no field. */
static void put_topic(page *p, const char *name, mel_topic topic)
{
    mel_buffer text;
    mel_buffer_init(&text, MOST_BYTES);
    for (size_t i = 0; i < p->o->n_statements; i++)
        if (p->o->statements[i].topic == topic)
            mel_write(&text, "%s%s", text.size > 0 ? " " : "", p->o->statements[i].text);
    if (text.size > 0 || text.status != MEL_OK)
        mel_sheet_put(&p->s, name, text.status == MEL_OK ? json_string(text.data) : NULL);
    mel_buffer_free(&text);
}

static void put_list(page *p, const char *name, mel_topic topic)
{
    json_t *list = json_array();
    for (size_t i = 0; i < p->o->n_statements; i++)
        if (p->o->statements[i].topic == topic) {
            mel_sheet one = mel_sheet_new();
            put(&one, "text", "%s", p->o->statements[i].text);
            put_flag(&one, "grave", p->o->statements[i].grave);
            mel_sheet_add(&p->s, list, &one);
        }
    mel_sheet_put(&p->s, name, list);
}

static void put_numbers(page *p)
{
    const mel_outcome *o = p->o;
    mel_sheet all = mel_sheet_new();
    json_t *table = json_array();
    for (size_t i = 0; i < o->n_coefficients; i++) {
        const mel_coefficient *c = &o->coefficients[i];
        mel_sheet one = mel_sheet_new();
        put(&one, "symbol", "%s", c->symbol);
        put(&one, "value", "%s", mel_digits_shown(c->number.value, 4).text);
        if (isfinite(c->number.low) && isfinite(c->number.high)) {
            put(&one, "low", "%s", mel_digits_shown(c->number.low, 4).text);
            put(&one, "high", "%s", mel_digits_shown(c->number.high, 4).text);
        }
        put(&one, "meaning", "%s", c->meaning);
        mel_sheet_add(&all, table, &one);
    }
    mel_sheet_put(&all, "table", table);
    if (o->n_left_out > 0)
        put(&all, "left_out", "%s", mel_digits_count(o->n_left_out).text);
    put_flag(&all, "one_left_out", o->n_left_out == 1);
    put_object(&p->s, "numbers", &all);
}

/* Over the cost ratio where there is one, else over the angle. */
static void put_posterior(page *p)
{
    static const double least = 1e-3; /* radians from an axis: beyond, a log axis of ratios is no help */
    const mel_page_data *d = p->d;
    mel_sentences texts = { .err = NULL };
    mel_posterior_plot plot;
    mel_posterior_plot_init(&plot);
    plot.n = d->n_posterior;
    plot.angle = d->posterior_angle;
    plot.density = d->posterior_density;
    plot.estimate = p->o->summary.angle;
    plot.low = p->o->summary.angle_low;
    plot.high = p->o->summary.angle_high;
    plot.cost_ratio = plot.low > least && plot.high < acos(0.0) - least;
    if (plot.cost_ratio)
        plot.x_title =
            mel_sentences_format(&texts, "%s that weigh as much as one %s", p->o->false_alarms, p->o->missed);
    char *svg = NULL;
    mel_error why;
    const mel_plot_options opt = embedded("posterior", "What is believed about the metric");
    const mel_status status = mel_plot_posterior(&svg, &plot, &opt, &why);
    put_plot(p, &p->s, "posterior", status, svg, &why);
    clear_texts(p, &texts);
}

static void put_sureness(page *p)
{
    const mel_page_data *d = p->d;
    put_topic(p, "end", MEL_ABOUT_END);
    put_topic(p, "known", MEL_ABOUT_KNOWN);
    put_topic(p, "open", MEL_ABOUT_OPEN);
    put_flag(&p->s, "pictures", d->n_posterior != 0 || d->n_radius > 1);
    /* One picture leaves room for a few numbers. */
    put_flag(&p->s, "beside", d->classes != NULL && d->n_radius > 1 && p->o->n_coefficients <= FEW_NUMBERS);
    if (d->n_posterior != 0)
        put_posterior(p);
    if (d->n_radius > 1) {
        char *svg = NULL;
        mel_error why;
        const mel_plot_options opt = embedded("convergence", "How sure after each question");
        const mel_status status =
            mel_plot_convergence(&svg, d->n_radius, d->radius, p->o->options->tolerance, &opt, &why);
        put_plot(p, &p->s, "convergence", status, svg, &why);
    }
    if (!p->o->nothing_found)
        put_numbers(p);
    put_list(p, "limits", MEL_ABOUT_LIMITS);
    put_list(p, "answers", MEL_ABOUT_ANSWERS);
    put_flag(&p->s, "consistency", json_array_size(json_object_get(p->s.object, "answers")) > 0);
}

/* --- the questions
 * -------------------------------------------------------------------------------------------- */

static mel_point point_of(const double *statistics)
{
    return (mel_point){ .tp = statistics[0], .tn = statistics[1] };
}

/* Out of 1,000. */
static double missed_at(const mel_page_data *d, const double *at)
{
    return fmax(d->positives - at[0], 0.0) / (d->positives + d->negatives) * PEOPLE;
}

static double alarms_at(const mel_page_data *d, const double *at)
{
    return fmax(d->negatives - at[1], 0.0) / (d->positives + d->negatives) * PEOPLE;
}

/* What stands beside a question: the answer, seconds and a note. */
static void put_answer(mel_sheet *s, const mel_page_question *q, size_t number, size_t span)
{
    static const char *const says[] = { [MEL_ANSWER_A] = "A",
                                        [MEL_ANSWER_B] = "B",
                                        [MEL_ANSWER_SAME] = "same",
                                        [MEL_ANSWER_SKIP] = "can't say",
                                        [MEL_ANSWER_NEITHER] = "neither" };
    put(s, "number", "%s", mel_digits_count(number + 1).text);
    put(s, "span", "%s", mel_digits_count(span).text);
    put(s, "answer", "%s", says[q->answer]);
    put(s, "taken", "%s", isfinite(q->seconds) ? mel_digits_shown(q->seconds, 1).text : "\xE2\x80\x93");
    put(s, "note", "%s%s%s", q->repeated ? "asked before" : "", q->repeated && q->disagrees ? "; " : "",
        q->disagrees ? "the metric disagrees" : "");
}

/* Which columns are there. */
static void put_columns(mel_sheet *s, const mel_page_data *d)
{
    bool seconds = false, notes = false;
    for (size_t i = 0; i < d->n_questions; i++) {
        const mel_page_question *q = &d->questions[i];
        seconds = seconds || q->seconds >= 0.05; /* a program answers at once */
        notes = notes || q->repeated || q->disagrees;
    }
    put_flag(s, "seconds", seconds);
    put_flag(s, "notes", notes);
}

/* Decimals that tell A from B in every question where they differ, at most two. */
static int decimals_needed(const mel_page_data *d)
{
    for (int decimals = 0; decimals < 2; decimals++) {
        bool enough = true;
        for (size_t i = 0; i < d->n_questions && enough; i++) {
            const mel_page_question *q = &d->questions[i];
            const mel_digits ma = mel_digits_fixed(missed_at(d, q->a), decimals),
                             mb = mel_digits_fixed(missed_at(d, q->b), decimals),
                             fa = mel_digits_fixed(alarms_at(d, q->a), decimals),
                             fb = mel_digits_fixed(alarms_at(d, q->b), decimals);
            enough = strcmp(ma.text, mb.text) != 0 || strcmp(fa.text, fb.text) != 0 ||
                     (q->a[0] == q->b[0] && q->a[1] == q->b[1]);
        }
        if (enough)
            return decimals;
    }
    return 2;
}

static void put_face_table(page *p, mel_sheet *s)
{
    static const char *const kinds[] = { "miss", "alarm", "miss gap", "alarm" };
    const mel_page_data *d = p->d;
    const int decimals = decimals_needed(d);
    double largest[2] = { 0.0, 0.0 };
    json_t *table = json_array();
    for (size_t i = 0; i < d->n_questions; i++) {
        const mel_page_question *q = &d->questions[i];
        largest[0] = fmax(largest[0], fmax(missed_at(d, q->a), missed_at(d, q->b)));
        largest[1] = fmax(largest[1], fmax(alarms_at(d, q->a), alarms_at(d, q->b)));
    }
    for (size_t i = 0; i < d->n_questions; i++) {
        const mel_page_question *q = &d->questions[i];
        const double counts[] = { missed_at(d, q->a), alarms_at(d, q->a), missed_at(d, q->b),
                                  alarms_at(d, q->b) };
        mel_sheet row = mel_sheet_new();
        json_t *cells = json_array();
        for (size_t j = 0; j < 4; j++) {
            mel_sheet one = mel_sheet_new();
            put(&one, "kind", "%s", kinds[j]);
            put_flag(&one, "picked", q->answer == (j < 2 ? MEL_ANSWER_A : MEL_ANSWER_B));
            put(&one, "value", "%s", mel_digits_shown(counts[j], decimals).text);
            put_width(&one, counts[j], largest[j % 2]);
            mel_sheet_add(&row, cells, &one);
        }
        mel_sheet_put(&row, "cells", cells);
        put_answer(&row, q, i, 1);
        mel_sheet_add(s, table, &row);
    }
    mel_sheet_put(s, "table", table);
}

static void put_face_questions(page *p)
{
    const mel_page_data *d = p->d;
    mel_asked *asked = mel_alloc(d->n_questions, sizeof *asked);
    mel_sheet all = mel_sheet_new();
    for (size_t i = 0; asked != NULL && i < d->n_questions; i++)
        asked[i] =
            (mel_asked){ point_of(d->questions[i].a), point_of(d->questions[i].b), d->questions[i].answer };
    if (asked != NULL)
        put_feasible(p, &all, "plot", "asked", "The questions asked", d->n_questions, asked);
    all.whole = all.whole && asked != NULL;
    put_face_table(p, &all);
    put_columns(&all, d);
    put_object(&p->s, "questions", &all);
    free(asked);
}

/* The coordinates in which A and B differ most, largest first; *n_all is in how many they differ. */
static size_t find_differences(size_t shown[SHOWN], size_t *n_all, size_t size, const mel_page_question *q)
{
    size_t n = 0;
    *n_all = 0;
    for (size_t i = 0; i < size; i++) {
        const double gap = fabs(q->a[i] - q->b[i]);
        if (!(gap > least_difference))
            continue;
        *n_all += 1;
        size_t at = n < SHOWN ? n++ : SHOWN;
        for (; at > 0 && gap > fabs(q->a[shown[at - 1]] - q->b[shown[at - 1]]); at--)
            if (at < SHOWN)
                shown[at] = shown[at - 1];
        if (at < SHOWN)
            shown[at] = i;
    }
    return n;
}

static void put_difference(page *p, mel_sheet *row, const mel_page_question *q, size_t i, double unit)
{
    const double value[2] = { unit * q->a[i], unit * q->b[i] };
    json_t *sides = json_array();
    put(row, "what", "%s", p->d->classes->coordinates[i]);
    for (int side = 0; side < 2; side++) {
        mel_sheet one = mel_sheet_new();
        put_flag(&one, "picked", q->answer == (side == 0 ? MEL_ANSWER_A : MEL_ANSWER_B));
        put(&one, "value", "%s", mel_digits_shown(value[side], 1).text);
        put_width(&one, value[side], fmax(fabs(value[0]), fabs(value[1])));
        mel_sheet_add(row, sides, &one);
    }
    mel_sheet_put(row, "sides", sides);
}

/* In percent of a class, or out of 1,000 people. */
static void add_pair(page *p, mel_sheet *s, json_t *table, size_t number)
{
    const mel_page_question *q = &p->d->questions[number];
    const mel_layout *layout = mel_metric_layout(p->o->metric);
    size_t shown[SHOWN] = { 0 }, n_all = 0;
    const size_t n = find_differences(shown, &n_all, mel_layout_size(layout), q), n_rows = n == 0 ? 1 : n;
    for (size_t i = 0; i < n_rows; i++) {
        mel_sheet row = mel_sheet_new();
        const size_t more = i + 1 == n ? n_all - n : 0;
        put_flag(&row, "last_row", i + 1 == n_rows);
        if (n > 0)
            put_difference(p, &row, q, shown[i], layout->kind == MEL_RATES ? 100.0 : PEOPLE);
        if (more > 0)
            put(&row, "more", "%s", mel_digits_count(more).text);
        put_flag(&row, "one_more", more == 1);
        if (i == 0)
            put_answer(&row, q, number, n_rows);
        mel_sheet_add(s, table, &row);
    }
}

/* Many of them stand in two columns, where there is room. */
static void put_class_questions(page *p)
{
    const size_t n = p->d->n_questions, half = n >= TWO_COLUMNS ? (n + 1) / 2 : n;
    mel_sheet all = mel_sheet_new();
    json_t *tables = json_array();
    for (size_t first = 0; first < n; first += half) {
        const size_t end = first + half < n ? first + half : n;
        mel_sheet one = mel_sheet_new();
        json_t *table = json_array();
        for (size_t i = first; i < end; i++)
            add_pair(p, &one, table, i);
        mel_sheet_put(&one, "table", table);
        put(&one, "first", "%s", mel_digits_count(first + 1).text);
        put(&one, "last", "%s", mel_digits_count(end).text);
        mel_sheet_add(&all, tables, &one);
    }
    mel_sheet_put(&all, "tables", tables);
    put_flag(&all, "columns", half < n);
    put_columns(&all, p->d);
    put_object(&p->s, "questions", &all);
}

/* --- what to do with it
 * ------------------------------------------------------------------------------------------ */

static void put_neighbours(page *p)
{
    mel_sheet all = mel_sheet_new();
    json_t *table = json_array();
    for (size_t i = 0; i < p->o->n_closest; i++) {
        mel_sheet one = mel_sheet_new();
        put(&one, "name", "%s", p->o->closest[i].name);
        put(&one, "percent", "%s", p->o->closest[i].percent);
        mel_sheet_add(&all, table, &one);
    }
    put(&all, "pairs", "%s", mel_digits_count(MEL_OUTCOME_PAIRS).text);
    mel_sheet_put(&all, "table", table);
    put_object(&p->s, "neighbours", &all);
}

static void put_equivalents(page *p)
{
    mel_sheet all = mel_sheet_new();
    json_t *table = json_array();
    for (size_t i = 0; i < p->o->n_equivalents; i++) {
        const mel_equivalent *e = &p->o->equivalents[i];
        mel_sheet row = mel_sheet_new();
        json_t *code = json_array();
        put(&row, "name", "%s", e->name);
        put(&row, "value", "%s", e->text);
        for (size_t c = 0; c < 2 && e->code[c].tool != NULL; c++) {
            mel_sheet one = mel_sheet_new();
            put_flag(&one, "second", c > 0);
            put(&one, "tool", "%s", e->code[c].tool);
            put(&one, "line", "%s", e->code[c].line);
            mel_sheet_add(&row, code, &one);
        }
        mel_sheet_put(&row, "code", code);
        mel_sheet_add(&all, table, &row);
    }
    put_text(&all, "note", p->o->equivalents_note);
    mel_sheet_put(&all, "table", table);
    put_object(&p->s, "equivalents", &all);
}

/* A word of a shell command. */
static void put_word(mel_sheet *s, const char *name, const char *word)
{
    mel_buffer text;
    mel_buffer_init(&text, MOST_BYTES);
    mel_write_word(&text, word);
    mel_sheet_put(s, name, text.status == MEL_OK ? json_string(text.data) : NULL);
    mel_buffer_free(&text);
}

static void put_use(page *p)
{
    const mel_page_data *d = p->d;
    const mel_outcome *o = p->o;
    put_word(&p->s, "metric_word", d->metric_path != NULL ? d->metric_path : "metric.json");
    put_text(&p->s, "space", d->space_options != NULL ? d->space_options : "--data DATA.csv --label COLUMN");
    if (d->session_path != NULL)
        put_word(&p->s, "session_word", d->session_path);
    put_flag(&p->s, "pool", o->domain->pool != NULL);
    put_flag(&p->s, "apply", o->domain->pool == NULL && o->domain->ball == NULL);
    put_flag(&p->s, "imagined", o->summary.imagined || o->options->questions == MEL_QUESTIONS_IMAGINED);
    if (o->n_closest > 0)
        put_neighbours(p);
    if (o->n_equivalents > 0)
        put_equivalents(p);
}

/* --- the whole
 * ---------------------------------------------------------------------------------------------------- */

mel_status mel_page_write(char **html, const mel_page_data *data, mel_error *err)
{
    page p = { .d = data, .o = data->outcome, .s = mel_sheet_new() };
    mel_buffer out;
    *html = NULL;
    put_head(&p);
    put_names(&p);
    put_question_tile(&p);
    if (data->classes != NULL) {
        put_class_tiles(&p);
        put_weights(&p);
        put_recognised(&p);
        put_treatments(&p);
    } else {
        put_face_tiles(&p);
        put_practice(&p);
    }
    put_sureness(&p);
    if (data->n_questions > 0 && data->classes != NULL)
        put_class_questions(&p);
    else if (data->n_questions > 0)
        put_face_questions(&p);
    put_use(&p);
    put_foot(&p);
    mel_status status = p.failure.code != MEL_OK ? mel_fail(err, p.failure.code, "%s", p.failure.text)
                        : !p.s.whole             ? mel_fail_memory(err, "report")
                                                 : MEL_OK;
    mel_buffer_init(&out, MOST_BYTES);
    if (status == MEL_OK)
        status = mel_template_render(&out, mel_report_html, p.s.object, err);
    json_decref(p.s.object);
    if (status == MEL_OK)
        status = mel_text_take(html, &out, "report", err);
    mel_buffer_free(&out);
    return status;
}
