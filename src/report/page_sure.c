/* How sure the metric is, what is not known, and how consistent the answers were. */
#include "oracle/noise/noise.h"
#include "report/page_parts.h"

#include <math.h>
#include <stdlib.h>

enum { FEW_NUMBERS = 12 };

static void write_numbers(mel_page *page)
{
    const mel_page_data *d = page->data;
    mel_write(
        &page->out,
        "<div class=\"scroll\"><table>\n<caption><span>The metric in numbers</span></caption>\n<thead><tr>"
        "<th scope=\"col\">Weight</th><th scope=\"col\" class=\"n\">Value</th>"
        "<th scope=\"col\" class=\"n\">%s</th><th scope=\"col\">What it weighs</th></tr>"
        "</thead>\n<tbody>\n",
        d->settings.strategy == MEL_STRATEGY_SEARCH ? "Last interval" : "95% interval");
    for (size_t i = 0; i < d->n_numbers; i++) {
        const mel_page_number *n = &d->numbers[i];
        mel_write(&page->out, "<tr><th scope=\"row\"><i>%s</i></th><td class=\"n\">%s</td><td class=\"n\">",
                  n->name, mel_digits_shown(n->value, 4).text);
        if (isfinite(n->low) && isfinite(n->high))
            mel_write(&page->out, "%s to %s", mel_digits_shown(n->low, 4).text,
                      mel_digits_shown(n->high, 4).text);
        else
            mel_buffer_puts(&page->out, "not known");
        mel_write(&page->out, "</td><td>%s</td></tr>\n", n->meaning);
    }
    mel_buffer_puts(&page->out, "</tbody>\n</table></div>\n");
    const size_t left_out = d->classes != NULL ? d->classes->n_left_out : 0;
    if (left_out > 0)
        mel_write(&page->out, "<p class=\"note\">%s smaller %s in the metric file.</p>\n",
                  mel_digits_count(left_out).text,
                  mel_page_plural(left_out, "weight is only", "weights are only"));
}

/* Which numbers are known as well as was asked for, which are not, and what that would take. */
static void write_known(mel_page *page)
{
    enum { MOST_NAMED = 6 };
    const mel_page_data *d = page->data;
    const double tolerance = d->settings.tolerance;
    size_t known = 0, open = 0;
    for (size_t i = 0; i < d->n_numbers; i++)
        known += d->numbers[i].high - d->numbers[i].low <= 2.0 * tolerance;
    if (d->settings.strategy == MEL_STRATEGY_SEARCH || d->summary.end == MEL_END_TOLERANCE ||
        d->n_numbers == 0)
        return;
    mel_write(&page->out, "<p>%s of %s weights are known as well as was asked for (\xC2\xB1%s).",
              mel_digits_count(known).text, mel_digits_count(d->n_numbers).text,
              mel_digits_significant(tolerance, 2).text);
    for (size_t i = 0; i < d->n_numbers; i++) {
        const mel_page_number *n = &d->numbers[i];
        if (n->high - n->low <= 2.0 * tolerance)
            continue;
        if (open < MOST_NAMED)
            mel_write(&page->out, "%s <i>%s</i> (%s to %s)", open == 0 ? " Still open:" : ",", n->name,
                      mel_digits_shown(n->low, 2).text, mel_digits_shown(n->high, 2).text);
        open++;
    }
    if (open > MOST_NAMED)
        mel_write(&page->out, " and %s more", mel_digits_count(open - MOST_NAMED).text);
    mel_buffer_puts(&page->out, open > 0 ? "." : "");
    if (d->summary.further > 0 && d->summary.end != MEL_END_NOISE && d->summary.end != MEL_END_EXHAUSTED)
        mel_write(&page->out, " About %s more %s would settle all of them.",
                  mel_digits_count(d->summary.further).text,
                  mel_page_plural(d->summary.further, "question", "questions"));
    mel_buffer_puts(&page->out, "</p>\n");
}

static void write_signs(mel_page *page)
{
    static const char *const says[] = {
        NULL, /* as mel_sign_check */
        "<li>Some weights came out as nearly nothing. If they count the other way than was declared, the "
        "result is "
        "wrong; no question has settled that.</li>\n",
        "<li>Some weights came out as nearly nothing; a question about just these upheld the direction that "
        "was "
        "declared.</li>\n",
        "<li>The answers contradict the direction that was declared: the result does without it.</li>\n",
        "<li>Some weights came out as nearly nothing; a question about just these was answered against the "
        "direction that was declared, so the result does without it. Which way they count is not "
        "known.</li>\n",
    };
    if (says[page->data->summary.signs] != NULL)
        mel_buffer_puts(&page->out, says[page->data->summary.signs]);
}

static void write_end(mel_page *page)
{
    const mel_page_data *d = page->data;
    const mel_digits questions = mel_digits_count(d->n_questions);
    const char *word = mel_page_plural(d->n_questions, "question", "questions");
    mel_buffer_puts(&page->out, "<p>");
    if (d->summary.end == MEL_END_TOLERANCE)
        mel_write(&page->out, "The session ended after %s %s, when it was sure enough.", questions.text,
                  word);
    else if (d->summary.end == MEL_END_BUDGET)
        mel_write(&page->out, "The session ended when all %s %s that were allowed had been asked.",
                  questions.text, word);
    else if (d->summary.end == MEL_END_DECIDED)
        mel_write(
            &page->out,
            "The session ended after %s %s, when the decision that it was for could no longer change: %s.",
            questions.text, word,
            d->settings.until == MEL_UNTIL_RANK ? "the order of the classifiers is settled"
                                                : "the best threshold is settled");
    else if (d->summary.end == MEL_END_NOISE)
        mel_write(
            &page->out,
            "The session ended after %s %s, when more would not have helped: the answers contradict each "
            "other too much.",
            questions.text, word);
    else if (d->summary.end == MEL_END_EXHAUSTED)
        mel_write(&page->out, "The session ended after %s %s, when no further pair could tell more.",
                  questions.text, word);
    else if (d->summary.end == MEL_END_RANGE)
        mel_write(&page->out, "The search ended after %s %s at an end of its range: its error is unknown.",
                  questions.text, word);
    else
        mel_write(&page->out, "The session is not finished: %s %s answered so far.", questions.text, word);
    const mel_digits radius = mel_digits_significant(d->summary.radius, 2);
    const mel_digits wanted = mel_digits_significant(d->settings.tolerance, 2);
    if (isfinite(d->summary.radius) && d->settings.strategy == MEL_STRATEGY_SEARCH)
        mel_write(&page->out, " Its last interval was \xC2\xB1%s; a width of %s%s was asked for.",
                  radius.text, wanted.text, d->classes == NULL ? " radians" : "");
    else if (isfinite(d->summary.radius))
        mel_write(&page->out, " The weights are known within \xC2\xB1%s; \xC2\xB1%s was asked for.",
                  radius.text, wanted.text);
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
    plot.estimate = d->summary.angle;
    plot.low = d->summary.angle_low;
    plot.high = d->summary.angle_high;
    plot.truth = d->truth_words != NULL ? d->truth_angle : NAN;
    plot.cost_ratio = plot.low > least && plot.high < acos(0.0) - least;
    char *title = mel_page_join(page, d->alarms, " that weigh as much as one ", d->missed, "");
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
        mel_plot_convergence(&svg, d->n_radius, d->radius, d->settings.tolerance, &opt, &page->last);
    mel_page_plot(page, status, svg);
    mel_buffer_puts(&page->out,
                    "<figcaption>How far off the weights could still be after each answer (with a "
                    "probability of 95%).</figcaption>\n</figure>\n");
}

void mel_page_sureness(mel_page *page)
{
    const mel_page_data *d = page->data;
    /* One picture leaves room for a few numbers. */
    const bool beside = d->classes != NULL && d->n_radius > 1 && d->n_numbers <= FEW_NUMBERS;
    mel_page_section(page, "sure", "How sure it is");
    write_end(page);
    write_known(page);
    if (d->n_posterior != 0 || d->n_radius > 1) {
        mel_buffer_puts(&page->out, "<div class=\"pair\">\n");
        if (d->n_posterior != 0)
            write_posterior(page);
        if (d->n_radius > 1)
            write_convergence(page);
        mel_buffer_puts(&page->out, beside ? "<div>\n" : "</div>\n");
    }
    write_numbers(page);
    mel_buffer_puts(&page->out, beside ? "</div>\n</div>\n</section>\n" : "</section>\n");
}

/* The usual 95% interval of a share seen in n rows (Wilson 1927), in people out of 1,000. */
static mel_ends wilson(double per_thousand, double n)
{
    const double z = 1.959964, s = per_thousand / 1000.0, z2 = z * z;
    const double middle = (s + z2 / (2.0 * n)) / (1.0 + z2 / n);
    const double half = z / (1.0 + z2 / n) * sqrt(s * (1.0 - s) / n + z2 / (4.0 * n * n));
    return (mel_ends){ mel_page_people(fmax(1000.0 * (middle - half), 0.0)),
                       mel_page_people(1000.0 * (middle + half)) };
}

static void write_sampling(mel_page *page)
{
    const mel_page_data *d = page->data;
    if (d->rows == 0) {
        mel_buffer_puts(
            &page->out,
            "<li>The numbers out of 1,000 are exact for a population given by a formula. Real data "
            "will differ.</li>\n");
        return;
    }
    const mel_ends missed = wilson(mel_page_missed(d, d->chosen.point), (double)d->rows);
    const mel_ends alarms = wilson(mel_page_alarms(d, d->chosen.point), (double)d->rows);
    mel_write(
        &page->out,
        "<li>The numbers out of 1,000 were measured on %s rows, and the rule was chosen on the same rows. "
        "On new data like these expect between %s and %s %s and between %s and %s %s (95%%), and rather "
        "the worse end.</li>\n",
        mel_digits_count(d->rows).text, missed.low.text, missed.high.text, d->missed_plural, alarms.low.text,
        alarms.high.text, d->alarms);
}

static void write_class_sampling(mel_page *page)
{
    const mel_page_data *d = page->data;
    if (d->classes->on_ball)
        mel_buffer_puts(
            &page->out,
            "<li>Whether the same weights hold for very good classifiers: the questions were about "
            "a ball of achievable ones around random guessing.</li>\n");
    else if (d->rows != 0)
        mel_write(&page->out,
                  "<li>How far what was shown holds for new data: it was measured on %s %s.</li>\n",
                  mel_digits_count(d->rows).text, mel_page_plural(d->rows, "row", "rows"));
}

/* What the family takes for granted. */
static void write_assumed_shape(mel_page *page)
{
    const mel_page_data *d = page->data;
    const mel_family_facts *family = mel_family_about(d->settings.family);
    const bool same_everywhere = family->sum && !family->local;
    if (same_everywhere && d->classes == NULL)
        mel_write(&page->out,
                  "<li>Whether the exchange rate is the same everywhere. This metric assumes that it is: the "
                  "tenth of the %s weighs as much as the first.</li>\n",
                  d->missed_plural);
    else if (same_everywhere)
        mel_buffer_puts(
            &page->out,
            "<li>Whether the exchange rates are the same everywhere. This metric assumes that they "
            "are: the tenth mistake of a kind weighs as much as the first.</li>\n");
    else
        mel_write(&page->out,
                  "<li>Whether another kind of metric would describe the answers better: %s was "
                  "assumed.</li>\n",
                  family->shape);
}

void mel_page_unknown(mel_page *page)
{
    const mel_page_data *d = page->data;
    mel_page_section(page, "unknown", "What is not known");
    mel_buffer_puts(&page->out, "<ul>\n");
    write_assumed_shape(page);
    if (d->settings.strategy == MEL_STRATEGY_SEARCH)
        mel_buffer_puts(&page->out,
                        "<li>How probable the interval is: the search halves an interval with every "
                        "round and trusts each answer, so one wrong answer can spoil it.</li>\n");
    else if (mel_noise_of(d->settings.assume.kind)->errs == MEL_ERRS_NEVER)
        mel_buffer_puts(
            &page->out,
            "<li>What wrong answers would change. The intervals take every answer at its word; if "
            "some were slips, they are too narrow.</li>\n");
    else
        mel_buffer_puts(&page->out,
                        "<li>The intervals allow for wrong answers of the kind that was assumed, not "
                        "for a change of mind on the way.</li>\n");
    mel_buffer_puts(&page->out,
                    "<li>What other people would have answered. This is the metric of whoever was "
                    "asked.</li>\n");
    if (d->classes != NULL)
        write_class_sampling(page);
    else
        write_sampling(page);
    mel_buffer_puts(&page->out, "</ul>\n</section>\n");
}

/* Whether the answers are consistent, by what the number in the summary is about: evidence against coin
 * tosses where flips are assumed, contradictions elsewhere. */
static void write_together(mel_page *page)
{
    const mel_summary *s = &page->data->summary;
    const mel_digits p = mel_digits_significant(s->consistency, 2);
    const bool flips = isfinite(s->evidence);
    if (s->consistency < 0.05) {
        mel_write(&page->out,
                  flips ? "<li><strong>The answers are not consistent</strong>: tossed coins explain them "
                          "better than a metric of this kind with some wrong answers. Answers by such a "
                          "metric look so much like coin tosses with a probability of about %s only."
                        : "<li><strong>The answers are not consistent</strong>: a respondent as assumed "
                          "would contradict the metric, or his own answers, so often with a probability of "
                          "%s only.",
                  p.text);
        mel_write(&page->out,
                  " Another kind of metric may suit better, %sor the questions were not answered with "
                  "care.</li>\n",
                  flips && page->data->settings.prior != NULL
                      ? "or the answers speak against the metric that was thought likely beforehand, "
                      : "");
    } else if (!flips) {
        mel_write(&page->out,
                  "<li>So many contradictions, or more, are to be expected of a respondent as assumed "
                  "(probability %s).</li>\n",
                  p.text);
    } else if (fabs(s->evidence) < 1.0) {
        mel_buffer_puts(
            &page->out,
            s->repeats_agreed < s->repeats
                ? "<li>There is not enough to tell whether the answers are consistent: a metric of this "
                  "kind and tossed coins explain them about equally well.</li>\n"
                : "<li>Too few questions came back to rule out chance.</li>\n");
    } else if (s->evidence > 0.0) {
        mel_buffer_puts(&page->out, "<li>The answers are consistent: a metric of this kind explains them "
                                    "better than tossed coins would.</li>\n");
    } else {
        mel_write(
            &page->out,
            "<li>It is doubtful that the answers are consistent: tossed coins explain them better than a "
            "metric of this kind. Answers by such a metric look so much like coin tosses with a "
            "probability of about %s.</li>\n",
            p.text);
    }
}

void mel_page_consistency(mel_page *page)
{
    const mel_page_data *d = page->data;
    const mel_summary *s = &d->summary;
    if (d->n_questions == 0)
        return;
    mel_page_section(page, "consistency", "How consistent the answers were");
    mel_buffer_puts(&page->out, "<ul>\n");
    if (s->finding != MEL_FINDING_NONE)
        mel_write(&page->out, "<li><strong>%s</strong></li>\n", mel_finding_text(s->finding));
    if (s->repeats == 0)
        mel_buffer_puts(&page->out, "<li>No question was asked twice.</li>\n");
    else
        mel_write(&page->out, "<li>%s %s asked again with the sides swapped; %s got the same answer.</li>\n",
                  mel_digits_count(s->repeats).text,
                  mel_page_plural(s->repeats, "question was", "questions were"),
                  s->repeats_agreed == s->repeats ? (s->repeats == 1 ? "it" : "all")
                                                  : mel_digits_count(s->repeats_agreed).text);
    if (s->disagreements == 0)
        mel_buffer_puts(&page->out, "<li>The metric agrees with every answer.</li>\n");
    else
        mel_write(&page->out,
                  "<li>The metric itself would have answered %s of the %s questions differently.</li>\n",
                  mel_digits_count(s->disagreements).text, mel_digits_count(d->n_questions).text);
    write_signs(page);
    if (s->skipped > 0)
        mel_write(&page->out, "<li>%s %s answered \"can't say\".</li>\n", mel_digits_count(s->skipped).text,
                  mel_page_plural(s->skipped, "question was", "questions were"));
    if (d->settings.strategy != MEL_STRATEGY_SEARCH && isfinite(s->consistency))
        write_together(page);
    if (isfinite(s->error_rate))
        mel_write(&page->out, "<li>The share of wrong answers is estimated at %s%%.</li>\n",
                  mel_digits_significant(100.0 * s->error_rate, 2).text);
    mel_buffer_puts(&page->out, "</ul>\n</section>\n");
}
