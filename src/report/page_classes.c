/* Several classes: what the metric weighs, and what the classifier that is best for it recognises. */
#include "report/page_parts.h"
#include "report/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BARS = 12, MOST_MATRIX = 8 };

static bool counts_mistakes(const mel_outcome *o)
{
    return mel_metric_layout(o->metric)->coordinates == MEL_OFFDIAGONAL;
}

static double percent(double share)
{
    return 100.0 * share;
}

/* ---- key figures ---- */

static void tile_heaviest(mel_page *page)
{
    const mel_outcome *o = page->data->outcome;
    if (o->n_weights == 0)
        return;
    const mel_weight *most = &o->weights[o->heaviest];
    mel_write(&page->out, "<div class=\"tile\"><dt>%s</dt><dd class=\"big\">%s%%</dd><dd>of the weight: %s",
              counts_mistakes(o) ? "Dearest mistake" : "Counts most",
              mel_digits_significant(percent(most->share.value), 2).text, most->name);
    mel_page_between(page, percent(most->share.low), percent(most->share.high), "%");
    mel_buffer_puts(&page->out, "</dd></div>\n");
}

static void tile_lambda(mel_page *page)
{
    const mel_estimate *lambda = &page->data->outcome->lambda;
    if (!isfinite(lambda->value))
        return;
    mel_write(&page->out,
              "<div class=\"tile\"><dt>Fairness</dt><dd class=\"big\">%s%%</dd><dd>is what differences "
              "between groups count against mistakes",
              mel_digits_significant(percent(lambda->value), 2).text);
    mel_page_between(page, percent(lambda->low), percent(lambda->high), "%");
    mel_buffer_puts(&page->out, "</dd></div>\n");
}

static void tile_sureness(mel_page *page)
{
    const mel_outcome *o = page->data->outcome;
    if (!isfinite(o->summary.radius))
        return;
    mel_write(&page->out,
              "<div class=\"tile\"><dt>Known within</dt><dd class=\"big\">\xC2\xB1%s</dd><dd>%s of the least "
              "certain of %s weights</dd></div>\n",
              mel_digits_significant(o->summary.radius, 2).text,
              mel_outcome_is_search(o) ? "half of the last interval" : "half of the 95% interval",
              mel_digits_count(o->n_coefficients + o->n_left_out).text);
}

static void tile_agreement(mel_page *page)
{
    const mel_summary *s = &page->data->outcome->summary;
    const uint32_t answers = s->questions - s->skipped;
    if (answers == 0)
        return;
    mel_write(
        &page->out,
        "<div class=\"tile\"><dt>Agreement</dt><dd class=\"big\">%s <small>of</small> %s</dd><dd>answers "
        "are what the metric would have said</dd></div>\n",
        mel_digits_count(answers - s->disagreements).text, mel_digits_count(answers).text);
}

void mel_page_class_tiles(mel_page *page)
{
    tile_heaviest(page);
    tile_lambda(page);
    tile_sureness(page);
    mel_page_tile_questions(page);
    if (!isfinite(page->data->outcome->lambda.value)) /* four fill the row */
        tile_agreement(page);
}

/* ---- weights ---- */

/* The weights that are drawn: all in their order, or the largest of many, largest first. */
static size_t choose_bars(size_t chosen[MOST_BARS], const mel_outcome *o)
{
    size_t n = 0;
    if (o->n_weights <= MOST_BARS) {
        for (; n < o->n_weights; n++)
            chosen[n] = n;
        return n;
    }
    while (n < MOST_BARS) {
        size_t best = SIZE_MAX;
        for (size_t i = 0; i < o->n_weights; i++) {
            bool taken = false;
            for (size_t j = 0; j < n; j++)
                taken = taken || chosen[j] == i;
            if (!taken &&
                (best == SIZE_MAX || fabs(o->weights[i].share.value) > fabs(o->weights[best].share.value)))
                best = i;
        }
        chosen[n++] = best;
    }
    return n;
}

/* Elicited weights with their intervals, in percent. */
static void write_bars(mel_page *page)
{
    const mel_outcome *o = page->data->outcome;
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
    const mel_plot_options opt = mel_page_embedded("weights", "What the metric weighs");
    mel_buffer_puts(&page->out, "<figure>\n");
    const mel_status status = mel_plot_bars(&svg, &chart, &opt, &page->last);
    mel_page_plot(page, status, svg);
    mel_write(&page->out, "<figcaption>%s as a share of all of them%s%s</figcaption>\n</figure>\n",
              o->n_weights > n ? "The largest weights, each" : "Each weight",
              counts_mistakes(o) ? " (true class \xE2\x86\x92 what is said instead)" : "",
              intervals ? mel_outcome_is_search(o) ? ", with the interval in which the search ended."
                                                   : ", with its 95% interval."
                        : ".");
}

/* Rows are true classes, columns what is said instead. */
static void write_matrix(mel_page *page)
{
    const mel_page_classes *c = page->data->classes;
    const mel_outcome *o = page->data->outcome;
    const size_t k = mel_metric_layout(o->metric)->n_classes;
    const double largest = fabs(o->weights[o->heaviest].share.value);
    mel_buffer_puts(
        &page->out,
        "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"Weight of every "
        "mistake\"><table class=\"matrix\">\n<caption><span>Percent of the weight of every mistake"
        "</span></caption>\n<thead><tr><td></td>");
    for (size_t j = 0; j < k; j++)
        mel_write(&page->out, "<th scope=\"col\" class=\"n\"><small>taken for</small> %s</th>",
                  c->class_names[j]);
    mel_buffer_puts(&page->out, "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < k; i++) {
        mel_write(&page->out, "<tr><th scope=\"row\">%s</th>", c->class_names[i]);
        for (size_t j = 0; j < k; j++) {
            if (i == j) {
                mel_buffer_puts(&page->out, "<td class=\"n note\">right</td>");
                continue;
            }
            const double weight = o->weights[i * (k - 1) + (j < i ? j : j - 1)].share.value;
            mel_write(&page->out, "<td class=\"n\">%s<span class=\"bar\" style=\"width:%s%%\"></span></td>",
                      mel_digits_shown(percent(weight), 1).text,
                      mel_digits_short(largest > 0.0 ? 100.0 * fabs(weight) / largest : 0.0, 1).text);
        }
        mel_buffer_puts(&page->out, "</tr>\n");
    }
    mel_buffer_puts(&page->out, "</tbody>\n</table></div>\n");
}

static void write_sums(mel_page *page)
{
    const mel_outcome *o = page->data->outcome;
    const bool rates = mel_metric_layout(o->metric)->kind == MEL_RATES;
    mel_write(
        &page->out, "<p>%s</p>\n<p class=\"note\">%s</p>\n", o->words,
        rates ? "A weight is for all of its class: of two classes with the same weight, a case of the rarer "
                "one counts more."
              : "A weight is for one case, however frequent its class is.");
}

void mel_page_weights(mel_page *page)
{
    const mel_outcome *o = page->data->outcome;
    const size_t k = mel_metric_layout(o->metric)->n_classes;
    const bool matrix = counts_mistakes(o) && k > 2 && k <= MOST_MATRIX;
    mel_page_section(page, "weights", "What it weighs");
    if (o->n_weights == 0) {
        write_sums(page);
        mel_buffer_puts(&page->out, "</section>\n");
        return;
    }
    mel_buffer_puts(&page->out, "<div class=\"beside\">\n");
    write_bars(page);
    mel_buffer_puts(&page->out, "<div>\n");
    write_sums(page);
    if (matrix)
        write_matrix(page);
    mel_buffer_puts(&page->out, "</div>\n</div>\n</section>\n");
}

/* ---- what is recognised ---- */

static void write_recognised_row(mel_page *page, size_t i)
{
    const mel_page_classes *c = page->data->classes;
    const mel_recognised *of = &page->data->outcome->recognised[i];
    const double change = percent(of->change);
    mel_write(&page->out, "<tr><th scope=\"row\">%s</th>", c->class_names[i]);
    if (c->class_share != NULL)
        mel_write(&page->out, "<td class=\"n\">%s</td>", mel_digits_people(1000.0 * c->class_share[i]).text);
    mel_write(&page->out,
              "<td class=\"n\">%s%%</td><td class=\"n\">%s%%</td><td class=\"n\">%s%s</td></tr>\n",
              mel_digits_shown(percent(of->best), 1).text, mel_digits_shown(percent(of->accurate), 1).text,
              change > 0.05 ? "+" : "", mel_digits_shown(fabs(change) <= 0.05 ? 0.0 : change, 1).text);
}

static void write_recognised_bars(mel_page *page)
{
    static const char *const series[] = { "best for this metric", "best for accuracy" };
    const mel_page_classes *c = page->data->classes;
    const mel_recognised *recognised = page->data->outcome->recognised;
    const size_t k = mel_metric_layout(page->data->outcome->metric)->n_classes;
    double value[2 * MOST_BARS];
    for (size_t i = 0; i < k; i++) {
        value[i] = percent(recognised[i].best);
        value[k + i] = percent(recognised[i].accurate);
    }
    mel_bar_chart chart;
    mel_bar_chart_init(&chart);
    chart.n_groups = k;
    chart.n_series = 2;
    chart.group_names = c->class_names;
    chart.series_names = series;
    chart.value = value;
    chart.x_title = "percent of the class recognised";
    chart.decimals = 0;
    char *svg = NULL;
    const mel_plot_options opt = mel_page_embedded("recognised", "What is recognised of each class");
    mel_buffer_puts(&page->out, "<figure>\n");
    const mel_status status = mel_plot_bars(&svg, &chart, &opt, &page->last);
    mel_page_plot(page, status, svg);
    mel_buffer_puts(&page->out,
                    "<figcaption>How much of each class two classifiers recognise: the one that is "
                    "best for this metric, and the most accurate one.</figcaption>\n</figure>\n");
}

void mel_page_recognised(mel_page *page)
{
    const mel_page_data *d = page->data;
    const mel_page_classes *c = d->classes;
    if (d->outcome->recognised == NULL)
        return;
    const size_t k = mel_metric_layout(d->outcome->metric)->n_classes;
    const bool drawn = k <= MOST_BARS;
    mel_page_section(page, "recognised", "What it does");
    mel_buffer_puts(&page->out, drawn ? "<div class=\"beside\">\n" : "");
    if (drawn)
        write_recognised_bars(page);
    mel_buffer_puts(&page->out,
                    "<div class=\"scroll\"><table>\n<caption><span>Percent of each class that is recognised"
                    "</span></caption>\n<thead><tr><th scope=\"col\">Class</th>");
    if (c->class_share != NULL)
        mel_write(&page->out, "<th scope=\"col\" class=\"n\">of 1,000 %s</th>", d->outcome->people);
    mel_buffer_puts(&page->out, "<th scope=\"col\" class=\"n\">best for this metric</th><th scope=\"col\" "
                                "class=\"n\">best for accuracy</th><th scope=\"col\" class=\"n\">change</th>"
                                "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < k; i++)
        write_recognised_row(page, i);
    mel_buffer_puts(&page->out, "</tbody>\n</table></div>\n");
    mel_buffer_puts(&page->out, drawn ? "</div>\n</section>\n" : "</section>\n");
}
