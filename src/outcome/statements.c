/* Sentences about the metric, why the questions ended, what is known and what is open. */
#include "elicit/shared.h"
#include "metric/shared.h"
#include "outcome/outcome.h"

#include <math.h>

static const double rounding = 1e-12;
enum { MOST_TEXT = 1 << 16, MOST_NAMED = 4 };

static const char *plural(uint64_t n, const char *one, const char *many)
{
    return n == 1 ? one : many;
}

/* --- the end ------------------------------------------------------------------------------------ */

static const char *say_why(const mel_outcome *o)
{
    switch (o->summary.end) {
    case MEL_END_TOLERANCE:
        return mel_outcome_is_search(o) && !(2.0 * o->summary.radius <= o->options->tolerance + rounding)
                   ? "when every slope was known to the width asked for, which leaves more open of the metric"
                   : "when it was as precise as asked for";
    case MEL_END_BUDGET:
        return "the most allowed";
    case MEL_END_NOISE:
        return "when no pair was left whose answer would tell much, wrong answers being as likely as assumed";
    case MEL_END_EXHAUSTED:
        return o->domain->pool != NULL ? "when no further pair of these classifiers could tell more"
                                       : "when no further pair could tell more";
    case MEL_END_DECIDED:
        if (o->options->until == MEL_UNTIL_DECISION)
            return "as the decision it was for can hardly change: the best setting is settled";
        if (o->options->until == MEL_UNTIL_RULE)
            return "as the decision it was for can no longer change: the best rule is settled";
        return o->options->until == MEL_UNTIL_RANK
                   ? "as the decision it was for can no longer change: the order of the classifiers is "
                     "settled"
                   : "as the decision it was for can no longer change: the best threshold is settled";
    case MEL_END_BEYOND:
        return "when it was clear that the cost ratio lies beyond what pairs of this test can ask about";
    default:
        return "";
    }
}

static void state_end(mel_outcome_work *w)
{
    const mel_summary *s = &w->out.summary;
    const mel_digits n = mel_digits_count(s->questions);
    const char *questions = plural(s->questions, "question", "questions");
    if (s->end == MEL_END_NOT_YET)
        mel_outcome_say(w, MEL_ABOUT_END, "end", "The session is not finished: %s %s answered so far.",
                        n.text, questions);
    else if (s->end == MEL_END_RANGE)
        mel_outcome_say(w, MEL_ABOUT_END, "end",
                        "After %s %s the search ended at an end of its range: its error is unknown.", n.text,
                        questions);
    else
        mel_outcome_say(w, MEL_ABOUT_END, "end", "The session ended after %s %s, %s.", n.text, questions,
                        say_why(&w->out));
}

/* What the radius is about. */
static const char *what_is_known(const mel_outcome *o)
{
    if (mel_metric_denominator(o->metric, NULL) != NULL)
        return "The angle of every level line, in radians,";
    return isfinite(o->lambda.value) ? "Every coefficient of (1 \xE2\x88\x92 lambda) a and lambda b"
                                     : "Every weight";
}

/* Whether a session about far pairs was to end by a factor of the cost ratio. */
static bool goes_by_factor(const mel_outcome *o)
{
    return o->options->tolerance_factor > 0.0 && o->cost.low > 0.0 && isfinite(o->cost.high);
}

static void state_precision(mel_outcome_work *w)
{
    const double radius = w->out.summary.radius;
    const mel_digits known = mel_digits_significant(radius, 2);
    const mel_digits wanted = mel_digits_significant(w->out.options->tolerance, 2);
    if (!isfinite(radius))
        return;
    if (mel_outcome_is_exchange(&w->out)) {
        mel_outcome_state_ratio_precision(w);
        return;
    }
    if (mel_outcome_is_search(&w->out))
        mel_outcome_say(w, MEL_ABOUT_END, "precision",
                        "Its last interval was \xC2\xB1%s; a width of %s%s was asked for.", known.text,
                        wanted.text, w->out.domain->face != NULL ? " radians" : "");
    else if (goes_by_factor(&w->out))
        mel_outcome_say(
            w, MEL_ABOUT_END, "precision",
            "The cost ratio is known to a factor of %s (95%%, from end to end); %s was asked for.",
            mel_digits_significant(w->out.cost.high / w->out.cost.low, 2).text,
            mel_digits_significant(w->out.options->tolerance_factor, 2).text);
    else
        mel_outcome_say(w, MEL_ABOUT_END, "precision",
                        "%s is known within \xC2\xB1%s; \xC2\xB1%s was asked for.", what_is_known(&w->out),
                        known.text, wanted.text);
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
        if (fabs(a[i]) <= w->out.options->tolerance)
            mel_buffer_printf(&list, "%s%s", list.size > 0 ? ", " : "", w->coordinate[i]);
    const bool some = list.size > 0;
    mel_buffer_puts(&list, "");
    const char *names = mel_outcome_keep(w, &list);
    if (some)
        mel_outcome_say(w, MEL_ABOUT_END, "at-end", "At that end these count nothing: %s.", names);
}

/* Both weights of a metric of TP and TN have one sign: a respondent for whom one has the other sign, which
 * rewards a mistake, answers like one for whom it is nothing. */
static void state_edge(mel_outcome_work *w)
{
    const mel_layout *layout = mel_metric_layout(w->metric);
    if (mel_outcome_is_search(&w->out) || layout->coordinates != MEL_BINARY ||
        w->out.summary.end != MEL_END_TOLERANCE)
        return;
    for (size_t i = 0; i < 2; i++) {
        double low = 0.0, high = 0.0;
        if (mel_metric_interval(w->metric, i, &low, &high) &&
            fmax(fabs(low), fabs(high)) <= fmin(2.0 * w->out.options->tolerance, 0.05))
            mel_outcome_say(
                w, MEL_ABOUT_END, "at-edge",
                "The answers are also those of somebody for whom %s should be rarer: weights of two signs "
                "are not looked for.",
                w->coordinate[i]);
    }
}

/* --- what is known and what is not -------------------------------------------------------------- */

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
        mel_buffer_printf(&list, "%s%s (%s to %s)", *n > 1 ? ", " : "", w->coordinate[r->weight],
                          ends.low.text, ends.high.text);
    }
    if (*n > MOST_NAMED)
        mel_buffer_printf(&list, " and %zu more", *n - MOST_NAMED);
    mel_buffer_puts(&list, "");
    return mel_outcome_keep(w, &list);
}

static void state_ratios(mel_outcome_work *w)
{
    const char *largest = w->coordinate[w->ratio[0].of];
    size_t known = 0, wide = 0;
    const char *list = list_ratios(w, &known, false);
    if (known == 0)
        mel_outcome_say(w, MEL_ABOUT_KNOWN, "ratios", "No weight is known to a factor of 2.");
    else
        mel_outcome_say(w, MEL_ABOUT_KNOWN, "ratios",
                        "%zu of %zu weights are known to a factor of 2, as shares of the largest (%s): %s.",
                        known, w->out.n_ratios, largest, list);
    list = list_ratios(w, &wide, true);
    if (wide > 0 && w->out.n_ratios == 1)
        mel_outcome_say(w, MEL_ABOUT_OPEN, "ratios",
                        "The other weight is still wide, as a share of the larger (%s): %s.", largest, list);
    else if (wide > 0)
        mel_outcome_say(w, MEL_ABOUT_OPEN, "ratios",
                        "%zu of %zu weights %s still wide, as shares of the largest (%s): %s.", wide,
                        w->out.n_ratios, wide == 1 ? "is" : "are", largest, list);
}

/* Two classes: the one ratio that there is, in the words of the metric. */
static void state_cost(mel_outcome_work *w)
{
    const mel_outcome *o = &w->out;
    const mel_cost_ratio cost = { o->cost.value, o->cost.low, o->cost.high };
    if (!mel_cost_ratio_is_wide(&cost)) {
        if (o->summary.end != MEL_END_TOLERANCE)
            mel_outcome_say(w, MEL_ABOUT_KNOWN, "cost",
                            "How the two mistakes compare is known to a factor of 2.");
        return;
    }
    if (!(cost.low > 0.0) && !isfinite(cost.high))
        mel_outcome_say(w, MEL_ABOUT_OPEN, "cost", "How the two mistakes compare is not known.");
    else
        mel_outcome_say(w, MEL_ABOUT_OPEN, "cost", "How the two mistakes compare is known only roughly: %s.",
                        mel_outcome_compare(w, cost.low, cost.high));
}

/* Of the weights that are listed, those of which at least the sign is known. */
static void state_signs_known(mel_outcome_work *w)
{
    const mel_outcome *o = &w->out;
    size_t known = 0;
    for (size_t i = 0; i < o->n_coefficients; i++)
        known += o->coefficients[i].number.low > 0.0 || o->coefficients[i].number.high < 0.0;
    mel_outcome_say(w, MEL_ABOUT_KNOWN, "signs", "The sign of %zu of %s%zu %sweights is known.", known,
                    o->n_left_out > 0 ? "the " : "", o->n_coefficients, o->n_left_out > 0 ? "largest " : "");
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
    const bool enough = o->summary.end == MEL_END_TOLERANCE;
    if (isfinite(o->cost.value))
        state_cost(w);
    else if (o->n_ratios > 0 && !enough)
        state_ratios(w);
    else if (!enough)
        state_signs_known(w);
    if (!enough && mel_outcome_is_exchange(o))
        mel_outcome_state_ratio_open(w);
}

void mel_outcome_state(mel_outcome_work *w)
{
    const mel_outcome *o = &w->out;
    if (w->status != MEL_OK)
        return;
    mel_outcome_say(w, MEL_ABOUT_METRIC, "words", "%s", o->words);
    if (o->summary.finding != MEL_FINDING_NONE)
        mel_outcome_say(w, MEL_ABOUT_METRIC, "finding", "%s", mel_finding_text(o->summary.finding));
    mel_outcome_state_preferred(w);
    mel_outcome_state_despite(w);
    state_end(w);
    if (!o->nothing_found)
        state_found(w);
    if (mel_outcome_is_search(o))
        return;
    mel_outcome_state_truly_best(w);
    mel_outcome_state_order(w);
}
