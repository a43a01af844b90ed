/* What the rule is worth if the exchange rate between the two mistakes is another: net benefit and cost
 * curve. */
#include "report/page_parts.h"
#include "report/shared.h"

#include <math.h>
#include <stdlib.h>

typedef mel_status plot_fn(char **svg, const mel_decision_plot *plot, const mel_plot_options *opt,
                           mel_error *err);

static void draw(mel_page *page, plot_fn *picture, const mel_decision_plot *plot, const char *id,
                 const char *title)
{
    const mel_plot_options opt = mel_page_embedded(id, title);
    char *svg = NULL;
    if (page->failure.code != MEL_OK)
        return;
    const mel_status status = picture(&svg, plot, &opt, &page->last);
    mel_page_plot(page, status, svg);
}

void mel_page_worth(mel_page *page)
{
    const mel_page_data *d = page->data;
    const mel_outcome *o = d->outcome;
    if (!(o->cost.value > 0.0) || !isfinite(o->cost.value) || o->n_decisions == 0)
        return;
    char *never = mel_page_join(page, "never ", d->called, "", ""),
         *always = mel_page_join(page, "always ", d->called, "", ""),
         *title = mel_page_join(page, "net benefit, ", d->found, " found per 1,000", "");
    mel_decision_plot plot;
    mel_decision_plot_init(&plot);
    plot.n_hull = d->n_hull;
    plot.hull = d->hull;
    plot.positives = d->positives;
    plot.negatives = d->negatives;
    plot.cost = o->cost;
    plot.chosen = o->decisions[0].point;
    plot.y_title = title;
    plot.never = never;
    plot.always = always;
    plot.missed = o->missed;
    plot.false_alarms = o->false_alarms;
    mel_page_section(page, "worth", "If the exchange rate were another");
    mel_buffer_puts(&page->out, "<div class=\"pair\">\n<figure>\n");
    draw(page, mel_plot_net_benefit, &plot, "benefit", "Net benefit of rules by threshold probability");
    mel_write(
        &page->out,
        "<figcaption>The decision curve: what is found less the %s, counted at the odds of the threshold "
        "probability. The vertical line is this metric's exchange rate.</figcaption>\n</figure>\n<figure>\n",
        o->false_alarms);
    draw(page, mel_plot_cost_curve, &plot, "costs", "Cost curve of rules");
    mel_write(
        &page->out,
        "<figcaption>The cost curve: the expected cost as a share of the largest possible one, from a world "
        "where "
        "only %s cost anything (left) to one where only %s do (right).</figcaption>\n</figure>\n</div>\n"
        "<p>Where the line of the chosen rule stays close to that of the best rule over all of the shaded "
        "interval, "
        "what is still open about the exchange rate does not matter for the decision.</p>\n</section>\n",
        o->false_alarms, o->missed_plural);
    free(never);
    free(always);
    free(title);
}
