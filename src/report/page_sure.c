/* How sure the metric is, what is not known, and how consistent the answers were. */
#include "report/page_parts.h"
#include "report/shared.h"

#include <math.h>
#include <stdlib.h>

enum { FEW_NUMBERS = 12 };

static void write_numbers(mel_page *page)
{
    const mel_outcome *o = page->data->outcome;
    mel_write(
        &page->out,
        "<div class=\"scroll\"><table>\n<caption><span>The metric in numbers</span></caption>\n<thead><tr>"
        "<th scope=\"col\">Weight</th><th scope=\"col\" class=\"n\">Value</th>"
        "<th scope=\"col\" class=\"n\">%s</th><th scope=\"col\">What it weighs</th></tr>"
        "</thead>\n<tbody>\n",
        mel_outcome_is_search(o) ? "Last interval" : "95% interval");
    for (size_t i = 0; i < o->n_coefficients; i++) {
        const mel_coefficient *c = &o->coefficients[i];
        mel_write(&page->out, "<tr><th scope=\"row\"><i>%s</i></th><td class=\"n\">%s</td><td class=\"n\">",
                  c->symbol, mel_digits_shown(c->number.value, 4).text);
        if (isfinite(c->number.low) && isfinite(c->number.high))
            mel_write(&page->out, "%s to %s", mel_digits_shown(c->number.low, 4).text,
                      mel_digits_shown(c->number.high, 4).text);
        else
            mel_buffer_puts(&page->out, "not known");
        mel_write(&page->out, "</td><td>%s</td></tr>\n", c->meaning);
    }
    mel_buffer_puts(&page->out, "</tbody>\n</table></div>\n");
    if (o->n_left_out > 0)
        mel_write(&page->out, "<p class=\"note\">%s smaller %s in the metric file.</p>\n",
                  mel_digits_count(o->n_left_out).text,
                  mel_page_plural(o->n_left_out, "weight is only", "weights are only"));
}

static void write_paragraph(mel_page *page, mel_topic topic)
{
    if (!mel_page_has(page->data, topic))
        return;
    mel_buffer_puts(&page->out, "<p>");
    mel_page_say(page, topic);
    mel_buffer_puts(&page->out, "</p>\n");
}

/* Over the cost ratio where there is one, else over the angle. */
static void write_posterior(mel_page *page)
{
    const mel_page_data *d = page->data;
    static const double least = 1e-3; /* radians from an axis: beyond, a log axis of ratios is no help */
    mel_posterior_plot plot;
    char *svg = NULL;
    mel_posterior_plot_init(&plot);
    plot.n = d->n_posterior;
    plot.angle = d->posterior_angle;
    plot.density = d->posterior_density;
    plot.estimate = d->outcome->summary.angle;
    plot.low = d->outcome->summary.angle_low;
    plot.high = d->outcome->summary.angle_high;
    plot.cost_ratio = plot.low > least && plot.high < acos(0.0) - least;
    char *title =
        mel_page_join(page, d->outcome->false_alarms, " that weigh as much as one ", d->outcome->missed, "");
    if (plot.cost_ratio)
        plot.x_title = title;
    const mel_plot_options opt = mel_page_embedded("posterior", "What is believed about the metric");
    mel_buffer_puts(&page->out, "<figure>\n");
    const mel_status status = mel_plot_posterior(&svg, &plot, &opt, &page->last);
    mel_page_plot(page, status, svg);
    free(title);
    mel_buffer_puts(&page->out, "<figcaption>What the answers leave plausible. The shaded part holds 95% of "
                                "it.</figcaption>\n</figure>\n");
}

static void write_convergence(mel_page *page)
{
    const mel_page_data *d = page->data;
    char *svg = NULL;
    const mel_plot_options opt = mel_page_embedded("convergence", "How sure after each question");
    mel_buffer_puts(&page->out, "<figure>\n");
    const mel_status status =
        mel_plot_convergence(&svg, d->n_radius, d->radius, d->outcome->options->tolerance, &opt, &page->last);
    mel_page_plot(page, status, svg);
    mel_buffer_puts(&page->out,
                    "<figcaption>How far off the weights could still be after each answer (with a "
                    "probability of 95%).</figcaption>\n</figure>\n");
}

void mel_page_sureness(mel_page *page)
{
    const mel_page_data *d = page->data;
    /* One picture leaves room for a few numbers. */
    const bool beside = d->classes != NULL && d->n_radius > 1 && d->outcome->n_coefficients <= FEW_NUMBERS;
    mel_page_section(page, "sure", "How sure it is");
    write_paragraph(page, MEL_ABOUT_END);
    write_paragraph(page, MEL_ABOUT_KNOWN);
    write_paragraph(page, MEL_ABOUT_OPEN);
    if (d->n_posterior != 0 || d->n_radius > 1) {
        mel_buffer_puts(&page->out, "<div class=\"pair\">\n");
        if (d->n_posterior != 0)
            write_posterior(page);
        if (d->n_radius > 1)
            write_convergence(page);
        mel_buffer_puts(&page->out, beside ? "<div>\n" : "</div>\n");
    }
    if (!d->outcome->nothing_found)
        write_numbers(page);
    mel_buffer_puts(&page->out, beside ? "</div>\n</div>\n</section>\n" : "</section>\n");
}

void mel_page_unknown(mel_page *page)
{
    mel_page_section(page, "unknown", "What is not known");
    mel_buffer_puts(&page->out, "<ul>\n");
    mel_page_list(page, MEL_ABOUT_LIMITS);
    mel_buffer_puts(&page->out, "</ul>\n</section>\n");
}

void mel_page_consistency(mel_page *page)
{
    if (!mel_page_has(page->data, MEL_ABOUT_ANSWERS))
        return;
    mel_page_section(page, "consistency", "How consistent the answers were");
    mel_buffer_puts(&page->out, "<ul>\n");
    mel_page_list(page, MEL_ABOUT_ANSWERS);
    mel_buffer_puts(&page->out, "</ul>\n</section>\n");
}
