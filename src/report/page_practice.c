/* What the metric does: the rule, 1,000 people, and where that is in what can be achieved. */
#include "report/page_parts.h"
#include "report/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void write_row(mel_page *page, const char *name, const mel_decision *decision)
{
    const mel_outcome *o = page->data->outcome;
    mel_write(&page->out,
              "<tr><th scope=\"row\">%s</th><td>%s</td><td class=\"n\">%s</td><td class=\"n\">%s</td>", name,
              decision->words, mel_digits_people(decision->missed.value).text,
              mel_digits_people(decision->false_alarms.value).text);
    if (isfinite(o->cost.value))
        mel_write(&page->out, "<td>%s</td>", decision->weighs != NULL ? decision->weighs : "not known");
    mel_buffer_puts(&page->out, "</tr>\n");
}

static void write_comparison(mel_page *page)
{
    const mel_outcome *o = page->data->outcome;
    mel_write(&page->out,
              "<div class=\"scroll\"><table>\n<caption><span>Two ways to decide, per 1,000 "
              "%s</span></caption>\n<thead><tr><th scope=\"col\">Best for</th><th scope=\"col\">Rule</th>"
              "<th scope=\"col\" class=\"n\">%s</th><th scope=\"col\" class=\"n\">%s</th>",
              o->people, o->missed_plural, o->false_alarms);
    if (isfinite(o->cost.value))
        mel_buffer_puts(&page->out, "<th scope=\"col\">both weigh</th>");
    mel_buffer_puts(&page->out, "</tr></thead>\n<tbody>\n");
    write_row(page, "this metric", &o->decisions[0]);
    write_row(page, "accuracy", &o->decisions[1]);
    mel_buffer_puts(&page->out, "</tbody>\n</table></div>\n");
}

static void write_sentence(mel_page *page)
{
    const mel_outcome *o = page->data->outcome;
    mel_write(&page->out, "<p>This is what the decision rule that is best for the metric does to 1,000 %s",
              o->people);
    if (o->change == NULL) {
        mel_buffer_puts(&page->out, ". The rule that is best for accuracy, which counts both mistakes alike, "
                                    "does the same here.</p>\n");
        return;
    }
    mel_write(&page->out,
              ". Compared with the rule that is best for accuracy, which counts both mistakes alike, it "
              "makes %s.</p>\n",
              o->change);
}

/* Where the best cut on these scores is, and where it would be on true probabilities. */
static void write_calibration(mel_page *page)
{
    const mel_rule rule = page->data->outcome->decisions[0].rule;
    const mel_estimate *on_true = &page->data->outcome->threshold;
    if (rule.inverted || !isfinite(rule.threshold) || !(on_true->value >= 0.0) || !(on_true->value <= 1.0))
        return;
    const mel_digits here = mel_digits_significant(rule.threshold, 3);
    const mel_page_cut ideal = mel_page_ideal_cut(on_true);
    if (ideal.side == 0 && strcmp(here.text, ideal.at.text) == 0)
        mel_write(
            &page->out,
            "<p>On these scores the best cut is at %s, where it would be on true probabilities, whatever "
            "the data.</p>\n",
            here.text);
    else
        mel_write(
            &page->out,
            "<p>On these scores the best cut is at %s. If the scores were true probabilities it would be "
            "%s %s, whatever the data.</p>\n",
            here.text,
            ideal.side == 0  ? "at"
            : ideal.side < 0 ? "below"
                             : "above",
            ideal.at.text);
}

/* What the best rule is worth, and how sure that is. */
static void write_value(mel_page *page)
{
    const mel_decision *best = &page->data->outcome->decisions[0];
    if (!isfinite(best->value) || !isfinite(best->value_low) || !isfinite(best->value_high))
        return;
    mel_write(
        &page->out,
        "<p>The value of the metric for its best rule is %s on these rows. Other rows like these, and what "
        "is still open about the metric, put it between %s and %s (95%%).</p>\n",
        mel_digits_significant(best->value, 3).text, mel_digits_significant(best->value_low, 3).text,
        mel_digits_significant(best->value_high, 3).text);
}

void mel_page_practice(mel_page *page)
{
    const mel_page_data *d = page->data;
    mel_people_plot people;
    char *svg = NULL;
    mel_page_section(page, "practice", "What it does");
    write_sentence(page);
    mel_people_plot_init(&people);
    people.point = d->outcome->decisions[0].point;
    people.positives = d->positives;
    people.negatives = d->negatives;
    people.missed = d->outcome->missed_plural;
    people.false_alarms = d->outcome->false_alarms;
    people.found = "found";
    people.cleared = "rightly cleared";
    const mel_plot_options opt = mel_page_embedded("people", "What happens to 1,000 of them");
    mel_buffer_puts(&page->out, "<div class=\"pair\">\n<figure>\n");
    const mel_status status = mel_plot_people(&svg, &people, &opt, &page->last);
    mel_page_plot(page, status, svg);
    mel_write(&page->out,
              "<figcaption>One mark each for 1,000 %s, with the best rule.</figcaption>\n</figure>\n<div>\n",
              d->outcome->people);
    write_comparison(page);
    write_calibration(page);
    write_value(page);
    mel_buffer_puts(&page->out, "</div>\n</div>\n</section>\n");
}

void mel_page_feasible(mel_page *page, const char *id, const char *title, size_t n_asked,
                       const mel_asked *asked)
{
    const mel_page_data *d = page->data;
    mel_feasible_plot plot;
    char *svg = NULL;
    char *x = mel_page_join(page, "", d->found, " found, per 1,000", "");
    char *y = mel_page_join(page, "", d->cleared, " cleared, per 1,000", "");
    char *never = mel_page_join(page, "never ", d->called, "", "");
    char *always = mel_page_join(page, "always ", d->called, "", "");
    const mel_support best = { d->direction[0], d->direction[1], d->outcome->decisions[0].point,
                               "best for this metric" };
    mel_feasible_plot_init(&plot);
    plot.n_hull = d->n_hull;
    plot.hull = d->hull;
    plot.positives = d->positives;
    plot.negatives = d->negatives;
    plot.people = 1000.0;
    plot.x_title = x;
    plot.y_title = y;
    plot.never = never;
    plot.always = always;
    plot.n_supports = 1;
    plot.supports = &best;
    plot.n_questions = n_asked;
    plot.questions = asked;
    const mel_plot_options opt = mel_page_embedded(id, title);
    if (page->failure.code == MEL_OK) {
        const mel_status status = mel_plot_feasible(&svg, &plot, &opt, &page->last);
        mel_page_plot(page, status, svg);
    }
    free(x);
    free(y);
    free(never);
    free(always);
}

void mel_page_achievable(mel_page *page)
{
    const mel_page_data *d = page->data;
    mel_page_section(page, "achievable", "What can be achieved");
    mel_buffer_puts(&page->out, "<div class=\"beside\">\n<figure>\n");
    mel_page_feasible(page, "feasible", "What can be achieved, and the point that the metric chooses", 0,
                      NULL);
    mel_write(&page->out,
              "<figcaption>Every way of deciding is a point: to the right more %s found, upwards more %s "
              "cleared.</figcaption>\n</figure>\n<div>\n",
              d->found, d->cleared);
    mel_buffer_puts(
        &page->out,
        "<p>No threshold on these scores, and no mixture of thresholds, gets outside the shaded area. The "
        "top "
        "right corner would be perfect; the two squares are the rules that ignore the scores.</p>\n"
        "<p>The metric weighs the two directions against each other. Points on a common straight line, like "
        "the one drawn, are equally good; the arrow points to better ones. The best achievable point is "
        "where "
        "such a line just touches the area.</p>\n");
    mel_buffer_puts(&page->out, "</div>\n</div>\n</section>\n");
}
