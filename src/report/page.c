/* The page: its head, its key figures, and the sections in the order in which a reader needs them. */
#include "report/page.h"

#include "elicit/shared.h"
#include "metric/text.h"
#include "report/page_parts.h"
#include "report/style.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 256 << 20, PEOPLE = 1000 };

void mel_page_note(mel_page *page, mel_status status)
{
    if (status != MEL_OK && page->failure.code == MEL_OK)
        page->failure = page->last;
}

void mel_page_plot(mel_page *page, mel_status status, char *svg)
{
    if (status == MEL_OK)
        mel_buffer_puts(&page->out, svg);
    mel_page_note(page, status);
    free(svg);
}

mel_plot_options mel_page_embedded(const char *id, const char *title)
{
    mel_plot_options opt;
    mel_plot_options_init(&opt);
    opt.id = id;
    opt.title = title;
    opt.embedded = true;
    return opt;
}

void mel_page_section(mel_page *page, const char *id, const char *heading)
{
    mel_write(&page->out, "<section id=\"%s\" aria-labelledby=\"%s-h\">\n<h2 id=\"%s-h\">%s</h2>\n", id, id,
              id, heading);
}

char *mel_page_join(mel_page *page, const char *a, const char *b, const char *c, const char *d)
{
    enum { MOST = 1 << 20 };
    mel_buffer out;
    mel_buffer_init(&out, MOST);
    mel_buffer_puts(&out, a);
    mel_buffer_puts(&out, b);
    mel_buffer_puts(&out, c);
    mel_buffer_puts(&out, d);
    char *text = NULL;
    const mel_status status = mel_text_take(&text, &out, "a name in a plot", &page->last);
    mel_page_note(page, status);
    return text;
}

double mel_page_missed(const mel_page_data *data, mel_point at)
{
    return fmax(data->positives - at.tp, 0.0) / (data->positives + data->negatives) * PEOPLE;
}

double mel_page_alarms(const mel_page_data *data, mel_point at)
{
    return fmax(data->negatives - at.tn, 0.0) / (data->positives + data->negatives) * PEOPLE;
}

const char *mel_page_plural(uint64_t n, const char *one, const char *many)
{
    return n == 1 ? one : many;
}

bool mel_page_has(const mel_page_data *data, mel_topic topic)
{
    for (size_t i = 0; i < data->outcome->n_statements; i++)
        if (data->outcome->statements[i].topic == topic)
            return true;
    return false;
}

void mel_page_say(mel_page *page, mel_topic topic)
{
    const mel_outcome *o = page->data->outcome;
    const char *space = "";
    for (size_t i = 0; i < o->n_statements; i++)
        if (o->statements[i].topic == topic) {
            mel_write(&page->out, "%s%s", space, o->statements[i].text);
            space = " ";
        }
}

void mel_page_list(mel_page *page, mel_topic topic)
{
    const mel_outcome *o = page->data->outcome;
    for (size_t i = 0; i < o->n_statements; i++)
        if (o->statements[i].topic == topic)
            mel_write(&page->out, o->statements[i].grave ? "<li><strong>%s</strong></li>\n" : "<li>%s</li>\n",
                      o->statements[i].text);
}

void mel_page_between(mel_page *page, double low, double high, const char *unit)
{
    if (!isfinite(low) || !isfinite(high))
        return;
    const mel_ends e = mel_digits_ends(low, high);
    mel_write(&page->out, "; %s %s%s and %s%s",
              mel_outcome_is_search(page->data->outcome) ? "between" : "95% between", e.low.text, unit,
              e.high.text, unit);
}

/* ---- head ---- */

/* On a page about several classes the section on weights has all sentences of the metric. */
static void write_headline(mel_page *page)
{
    enum { LONG = 100 };
    const mel_outcome *o = page->data->outcome;
    const mel_headline *h = &o->headline;
    mel_write(&page->out, strlen(h->text) > LONG ? "<h1 class=\"long\">%s</h1>\n" : "<h1>%s</h1>\n", h->text);
    const char *const ledes[] = { h->range, h->why, page->data->classes == NULL ? h->rest : NULL };
    for (size_t i = 0; i < sizeof ledes / sizeof *ledes; i++)
        if (ledes[i] != NULL && *ledes[i] != '\0')
            mel_write(&page->out, "<p class=\"lede\">%s</p>\n", ledes[i]);
    for (size_t i = 1; i < o->n_statements && o->statements[i].topic == MEL_ABOUT_METRIC; i++)
        mel_write(&page->out, "<p class=\"lede\"><strong>%s</strong></p>\n", o->statements[i].text);
}

static void write_meta(mel_page *page)
{
    const mel_page_data *d = page->data;
    mel_buffer_puts(&page->out, "<ul class=\"meta\">\n");
    if (d->data != NULL)
        mel_write(&page->out, "<li>%s</li>\n", d->data);
    if (d->outcome->rows != 0)
        mel_write(&page->out, "<li>measured on %s %s</li>\n", mel_digits_count(d->outcome->rows).text,
                  mel_page_plural(d->outcome->rows, "row", "rows"));
    if (d->answered_by != NULL)
        mel_write(&page->out, "<li>answered by %s</li>\n", d->answered_by);
    if (d->date != NULL)
        mel_write(&page->out, "<li>%s</li>\n", d->date);
    mel_buffer_puts(&page->out, "</ul>\n");
}

static void write_head(mel_page *page)
{
    const mel_page_data *d = page->data;
    mel_write(&page->out,
              "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n"
              "<meta charset=\"utf-8\" />\n"
              "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\" />\n"
              "<meta name=\"color-scheme\" content=\"light dark\" />\n"
              "<meta name=\"generator\" content=\"melicit %s\" />\n<title>%s</title>\n<style>\n",
              d->version, d->title);
    mel_write_page_style(&page->out);
    mel_write_plot_style(&page->out);
    mel_write(&page->out,
              "</style>\n</head>\n<body>\n<div class=\"page\">\n<header>\n<p class=\"kicker\">%s</p>\n",
              d->title);
    write_headline(page);
    write_meta(page);
    mel_buffer_puts(&page->out, "</header>\n<main>\n");
}

/* ---- key figures ---- */

static void tile_cost(mel_page *page)
{
    const mel_outcome *o = page->data->outcome;
    if (!isfinite(o->cost.value) || o->headline.kind == MEL_HEADLINE_UNSETTLED)
        return;
    mel_bound bound;
    if (mel_outcome_bound(&bound, o, o->cost.low, o->cost.high)) {
        mel_write(&page->out,
                  "<div class=\"tile\"><dt>Cost ratio</dt><dd class=\"big\"><small>%s than</small> %s</dd>"
                  "<dd>%s to one %s</dd></div>\n",
                  bound.more ? "more" : "less", bound.number.text, bound.many, bound.one);
        return;
    }
    const bool turned = o->cost.value < 1.0;
    const mel_digits ratio = mel_digits_significant(turned ? 1.0 / o->cost.value : o->cost.value, 2);
    mel_write(&page->out, "<div class=\"tile\"><dt>Cost ratio</dt><dd class=\"big\">%s</dd><dd>%s to one %s",
              ratio.text,
              turned ? mel_outcome_so_many(ratio, o->missed, o->missed_plural)
                     : mel_outcome_so_many(ratio, o->false_alarm, o->false_alarms),
              turned ? o->false_alarm : o->missed);
    if (o->cost.low > 0.0)
        mel_page_between(page, turned ? 1.0 / o->cost.high : o->cost.low,
                         turned ? 1.0 / o->cost.low : o->cost.high, "");
    mel_buffer_puts(&page->out, "</dd></div>\n");
}

mel_page_cut mel_page_ideal_cut(const mel_estimate *t)
{
    const bool low = t->low > 0.0, high = t->high < 1.0;
    if (low == high)
        return (mel_page_cut){ 0, mel_digits_significant(t->value, 3) };
    return high ? (mel_page_cut){ -1, mel_digits_less_than(t->high) }
                : (mel_page_cut){ 1, mel_digits_more_than(t->low) };
}

static void tile_threshold(mel_page *page)
{
    const mel_estimate *t = &page->data->outcome->threshold;
    if (!(t->value >= 0.0 && t->value <= 1.0) || page->data->outcome->headline.kind == MEL_HEADLINE_UNSETTLED)
        return;
    const mel_page_cut ideal = mel_page_ideal_cut(t);
    const char *than = ideal.side == 0  ? ""
                       : ideal.side < 0 ? "<small>less than</small> "
                                        : "<small>more than</small> ";
    mel_buffer_printf(&page->out, "<div class=\"tile\"><dt>Best threshold</dt><dd class=\"big\">%s", than);
    mel_write(&page->out, "%s</dd><dd>say \xE2\x80\x9C%s\xE2\x80\x9D from this true probability up",
              ideal.at.text, page->data->positive);
    if (ideal.side == 0)
        mel_page_between(page, t->low, t->high, "");
    mel_buffer_puts(&page->out, "</dd></div>\n");
}

static void tile_people(mel_page *page)
{
    const mel_outcome *o = page->data->outcome;
    const mel_digits missed = mel_digits_people(o->decisions[0].missed.value);
    const mel_digits alarms = mel_digits_people(o->decisions[0].false_alarms.value);
    mel_write(&page->out,
              "<div class=\"tile\"><dt>Of 1,000 %s</dt><dd class=\"big\">%s <small>and</small> %s</dd>"
              "<dd>%s and %s, with the best rule</dd></div>\n",
              o->people, missed.text, alarms.text, mel_outcome_so_many(missed, o->missed, o->missed_plural),
              mel_outcome_so_many(alarms, o->false_alarm, o->false_alarms));
}

void mel_page_tile_questions(mel_page *page)
{
    const mel_page_data *d = page->data;
    double seconds = 0.0;
    for (size_t i = 0; i < d->n_questions; i++)
        seconds += d->questions[i].seconds; /* NaN when one is unknown */
    mel_write(&page->out, "<div class=\"tile\"><dt>%s</dt><dd class=\"big\">%s</dd><dd>",
              mel_page_plural(d->n_questions, "Question", "Questions"),
              mel_digits_count(d->n_questions).text);
    const bool minutes = seconds >= 119.5;
    if (seconds >= 1.0)
        mel_write(&page->out, "answered in %s %s; ",
                  mel_digits_shown(minutes ? seconds / 60.0 : seconds, 0).text,
                  minutes ? "minutes" : "seconds");
    mel_write(&page->out, "%s</dd></div>\n",
              d->outcome->summary.end == MEL_END_NOT_YET ? "the session is not finished"
                                                         : "the session is complete");
}

static void write_tiles(mel_page *page)
{
    mel_buffer_puts(&page->out, "<dl class=\"tiles\">\n");
    if (page->data->classes != NULL) {
        mel_page_class_tiles(page);
        mel_buffer_puts(&page->out, "</dl>\n");
        return;
    }
    tile_cost(page);
    tile_threshold(page);
    tile_people(page);
    mel_page_tile_questions(page);
    mel_buffer_puts(&page->out, "</dl>\n");
}

/* ---- the whole ---- */

static void write_foot(mel_page *page)
{
    const mel_session_options *opt = page->data->outcome->options;
    char assume[MEL_ASSUMPTION_TEXT];
    mel_assumption_print(assume, sizeof assume, &opt->assume);
    mel_write(
        &page->out,
        "</main>\n<footer>\n<p>melicit %s \xC2\xB7 family %s \xC2\xB7 strategy %s \xC2\xB7 tolerance %s "
        "\xC2\xB7 assumed noise %s \xC2\xB7 seed %s. This file needs nothing else: no network, no "
        "script.</p>\n</footer>\n</div>\n</body>\n</html>\n",
        page->data->version, mel_family_name(opt->family), mel_strategy_name(opt->strategy),
        mel_digits_significant(opt->tolerance, 2).text, assume, mel_digits_count(opt->seed).text);
}

static void write_face_sections(mel_page *page)
{
    mel_page_practice(page);
    mel_page_achievable(page);
    mel_page_worth(page);
    mel_page_sureness(page);
    mel_page_unknown(page);
    mel_page_questions(page);
    mel_buffer_puts(&page->out, "<div class=\"duo\">\n");
    mel_page_consistency(page);
    mel_page_neighbours(page);
    mel_buffer_puts(&page->out, "</div>\n");
    mel_page_equivalents(page);
    mel_page_use(page);
    mel_page_method(page);
}

static void write_class_sections(mel_page *page)
{
    mel_page_weights(page);
    mel_page_recognised(page);
    mel_page_treatments(page);
    mel_page_sureness(page);
    mel_page_pairs(page);
    mel_buffer_puts(&page->out, "<div class=\"duo\">\n");
    mel_page_unknown(page);
    mel_page_consistency(page);
    mel_buffer_puts(&page->out, "</div>\n");
    mel_page_equivalents(page);
    mel_page_use(page);
    mel_page_method(page);
}

mel_status mel_page_write(char **html, const mel_page_data *data, mel_error *err)
{
    mel_page page = { .data = data };
    *html = NULL;
    mel_buffer_init(&page.out, MOST_BYTES);
    write_head(&page);
    write_tiles(&page);
    if (data->classes != NULL)
        write_class_sections(&page);
    else
        write_face_sections(&page);
    write_foot(&page);
    if (page.failure.code != MEL_OK) {
        mel_buffer_free(&page.out);
        return mel_fail(err, page.failure.code, "%s", page.failure.text);
    }
    return mel_text_take(html, &page.out, "report", err);
}
