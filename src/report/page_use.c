/* What to do with the metric: its neighbours, commands, the method. */
#include "report/page_parts.h"
#include "report/shared.h"

#include <string.h>

void mel_page_neighbours(mel_page *page)
{
    const mel_page_data *d = page->data;
    const mel_outcome *o = d->outcome;
    if (o->n_closest == 0)
        return;
    mel_page_section(page, "neighbours", "Well-known metrics that come closest");
    mel_write(&page->out,
              "<p>How often they prefer the same one of two classifiers, over %s random pairs of achievable "
              "ones.</p>\n<div class=\"scroll\"><table>\n<caption><span>Agreement with this "
              "metric</span></caption>\n"
              "<thead><tr><th scope=\"col\">Metric</th><th scope=\"col\" colspan=\"2\">Same preference</th>"
              "</tr></thead>\n<tbody>\n",
              mel_digits_count(MEL_OUTCOME_PAIRS).text);
    for (size_t i = 0; i < o->n_closest; i++) {
        const char *share = o->closest[i].percent;
        mel_write(&page->out,
                  "<tr><th scope=\"row\">%s</th><td class=\"n\">%s%%</td><td class=\"track\">"
                  "<span class=\"bar\" style=\"width:%s%%\"></span></td></tr>\n",
                  o->closest[i].name, share, share);
    }
    mel_buffer_puts(&page->out, "</tbody>\n</table></div>\n</section>\n");
}

void mel_page_equivalents(mel_page *page)
{
    const mel_outcome *o = page->data->outcome;
    mel_buffer *out = &page->out;
    if (o->n_equivalents == 0)
        return;
    mel_page_section(page, "equivalents", "In other programs");
    mel_write(out,
              "<p>%s</p>\n<div class=\"scroll\"><table>\n<caption><span>The same preference in numbers that "
              "others use, with %s</span></caption>\n<thead><tr><th scope=\"col\">Number</th>"
              "<th scope=\"col\">Value</th><th scope=\"col\">Line of code</th></tr></thead>\n<tbody>\n",
              o->equivalents_note, mel_outcome_is_search(o) ? "intervals" : "95% intervals");
    for (size_t i = 0; i < o->n_equivalents; i++) {
        const mel_equivalent *e = &o->equivalents[i];
        mel_write(out, "<tr><th scope=\"row\">%s</th><td>%s</td><td>", e->name, e->text);
        for (size_t c = 0; c < 2 && e->code[c].tool != NULL; c++)
            mel_write(out, "%s%s: <code>%s</code>", c > 0 ? "<br />" : "", e->code[c].tool, e->code[c].line);
        mel_buffer_puts(out, "</td></tr>\n");
    }
    mel_buffer_puts(out, "</tbody>\n</table></div>\n</section>\n");
}

/* A shell command goes on in the next line. */
static const char next_line[] = " \\\n    ";

static void write_session_command(mel_page *page, const char *space, const char *metric)
{
    const mel_page_data *d = page->data;
    mel_buffer *out = &page->out;
    mel_buffer_puts(out, d->outcome->summary.end == MEL_END_NOT_YET
                             ? "<p>Go on with the questions:</p>\n"
                             : "<p>Every answer is in the session file; this makes the metric and this page "
                               "again:</p>\n");
    mel_write(out, "<pre><code>melicit elicit %s%s--session ", space, next_line);
    mel_write_word(out, d->session_path);
    mel_write(out, "%s--out ", next_line);
    mel_write_word(out, metric);
    mel_buffer_puts(out, " --report report.html</code></pre>\n");
}

void mel_page_use(mel_page *page)
{
    const mel_page_data *d = page->data;
    const char *metric = d->metric_path != NULL ? d->metric_path : "metric.json";
    const char *space = d->space_options != NULL ? d->space_options : "--data DATA.csv --label COLUMN";
    mel_buffer *out = &page->out;
    mel_page_section(page, "use", "Use it");
    mel_buffer_puts(out,
                    "<p>The metric is a small JSON file. Score predictions with it:</p>\n<pre><code>melicit "
                    "score --metric ");
    mel_write_word(out, metric);
    mel_write(out, "%s--labels LABELS.csv --predictions PREDICTIONS.csv</code></pre>\n", next_line);
    if (d->outcome->domain->pool != NULL) {
        mel_buffer_puts(out, "<p>Put classifiers in its order, these or others:</p>\n<pre><code>melicit rank "
                             "--metric ");
        mel_write_word(out, metric);
        mel_write(out, "%s--pool POOL.csv</code></pre>\n", next_line);
    } else if (d->outcome->domain->ball == NULL) {
        mel_write(out,
                  "<p>Make the classifier that is best for it%s:</p>\n<pre><code>melicit apply --metric ",
                  d->classes == NULL ? ", with its threshold" : "");
        mel_write_word(out, metric);
        mel_write(out, "%s%s%s--out classifier.json</code></pre>\n", next_line, space, next_line);
    }
    if (d->session_path != NULL)
        write_session_command(page, space, metric);
    mel_buffer_puts(out, "</section>\n");
}

void mel_page_method(mel_page *page)
{
    mel_page_section(page, "method", "The method in three sentences");
    const mel_outcome *o = page->data->outcome;
    const bool imagined = o->summary.imagined || o->options->questions == MEL_QUESTIONS_IMAGINED;
    if (!mel_outcome_is_search(o))
        mel_write(
            &page->out,
            "<p>Every question showed two %s, and asked which is better. Each answer rules out, or makes "
            "less plausible, the weights that would have preferred the other one; the next question was "
            "one whose answer promised to tell much about what is still plausible. The weights given here "
            "are the centre of what is left, and the intervals hold 95%% of it.</p>\n",
            o->domain->pool != NULL ? "of the given classifiers"
            : imagined              ? "ways of deciding"
                                    : "ways of deciding that can really be achieved on these data");
    else
        mel_buffer_puts(&page->out, "<p>Along the boundary of what can be achieved, a metric of this kind "
                                    "rises to its best point and "
                                    "falls after it. In each round a few points of the boundary were "
                                    "compared in pairs, and the answers "
                                    "tell in which part of the interval of slopes the best point lies. The "
                                    "slope of the boundary where "
                                    "the search ends gives the weights.</p>\n");
    mel_buffer_puts(&page->out, "</section>\n");
}
