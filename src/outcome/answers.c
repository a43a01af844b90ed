/* Sentences about the answers: repeated questions, contradictions, and whether a metric explains them. */
#include "elicit/shared.h"
#include "metric/shared.h"
#include "outcome/outcome.h"
#include "outcome/shared.h"

#include <math.h>
#include <stdlib.h>

static const double inconsistent_below = 0.05, consistent_from = 0.2;
enum { enough_repeats = 5 };              /* that all agree by chance once in 32 times */
static const double least_evidence = 1.0; /* natural logarithm of a ratio of probabilities */

const char *mel_consistency_label(const mel_summary *s)
{
    if (!isfinite(s->consistency))
        return NULL;
    if (s->consistency < inconsistent_below)
        return "inconsistent";
    if (isfinite(s->evidence) && fabs(s->evidence) < least_evidence)
        return "undecided";
    return s->consistency >= consistent_from ? "consistent" : "doubtful";
}

static void state_repeats(mel_outcome_work *w)
{
    const mel_summary *s = &w->out.summary;
    if (s->repeats == 0)
        mel_outcome_say(w, MEL_ABOUT_ANSWERS, "repeats", "No question was asked twice.");
    else
        mel_outcome_say(
            w, MEL_ABOUT_ANSWERS, "repeats", "%s asked again with the sides swapped; %s got the same answer.",
            s->repeats == 1 ? "1 question was"
                            : mel_outcome_format(w, "%s questions were", mel_digits_count(s->repeats).text),
            s->repeats_agreed == s->repeats ? (s->repeats == 1 ? "it" : "all")
                                            : mel_digits_count(s->repeats_agreed).text);
}

static void state_contradictions(mel_outcome_work *w)
{
    const mel_summary *s = &w->out.summary;
    if (s->disagreements == 0)
        mel_outcome_say(w, MEL_ABOUT_ANSWERS, "contradictions", "The metric agrees with every answer.");
    else
        mel_outcome_say(w, MEL_ABOUT_ANSWERS, "contradictions",
                        "The metric itself would have answered %s of the %s questions differently.",
                        mel_digits_count(s->disagreements).text,
                        mel_digits_count(s->questions - s->skipped).text);
    if (s->skipped > 0)
        mel_outcome_say(w, MEL_ABOUT_ANSWERS, "skipped", "%s of %s questions were answered \"can't say\".",
                        mel_digits_count(s->skipped).text, mel_digits_count(s->questions).text);
}

/* "cat taken for dog, dog taken for cat": what the answers press against its declared sign; "" where no list
 * is known (search). */
static const char *list_pressed(mel_outcome_work *w)
{
    if (w->session == NULL)
        return "";
    const size_t n = mel_outcome_per_group(w->out.metric);
    bool *pressed = mel_outcome_room(w, n, sizeof *pressed);
    mel_buffer text;
    mel_buffer_init(&text, 1 << 16);
    mel_buffer_printf(&text, "%s", "");
    if (pressed != NULL &&
        mel_outcome_good(w, mel_session_pressed(pressed, w->session, w->out.metric, w->err)))
        for (size_t i = 0; i < n; i++)
            if (pressed[i]) {
                mel_buffer_printf(&text, "%s", text.size > 0 ? ", " : ": ");
                mel_outcome_add_coordinate(&text, w->out.metric, i, false);
            }
    free(pressed);
    return mel_outcome_keep(w, &text);
}

/* A warning and a question, where the answers press against the signs or the direction that were declared. */
static void state_signs(mel_outcome_work *w)
{
    if (w->out.summary.signs != MEL_SIGNS_PRESSED)
        return;
    const char *what = w->out.options->signs != NULL ? "signs" : "direction";
    mel_outcome_say(
        w, MEL_ABOUT_ANSWERS, "signs",
        "Some weights came out as nearly nothing%s. Which way do they count: is more of it better or "
        "worse? If it is the other way than declared, the result is wrong, and no question has "
        "settled that; a session without the %s would.",
        list_pressed(w), what);
}

/* Not consistent, whatever that rests on. */
static void state_inconsistent(mel_outcome_work *w)
{
    const bool flips = isfinite(w->out.summary.evidence);
    const mel_digits p = mel_digits_significant(w->out.summary.consistency, 2);
    mel_outcome_say(
        w, MEL_ABOUT_ANSWERS, "consistency",
        "The answers are not consistent: %s with a probability of %s only. Another kind of metric may suit "
        "better, %sor the questions were not answered with care.",
        flips ? "tossed coins explain them better than a metric of this kind with some wrong answers, by "
                "which they would look so much like chance"
              : "a respondent as assumed would contradict the metric, or their own answers, so often",
        p.text,
        flips && w->out.options->prior != NULL
            ? "the answers may speak against the metric that was thought likely beforehand, "
            : "");
    if (w->status == MEL_OK)
        w->statement[w->out.n_statements - 1].grave = true;
}

/* By what the number in the summary is about: evidence against coin tosses where flips are assumed,
 * contradictions elsewhere. */
static void state_consistency(mel_outcome_work *w)
{
    const mel_summary *s = &w->out.summary;
    const mel_digits p = mel_digits_significant(s->consistency, 2);
    if (!isfinite(s->consistency))
        return;
    if (s->consistency < inconsistent_below)
        state_inconsistent(w);
    else if (!isfinite(s->evidence) && s->consistency > 0.5)
        mel_outcome_say(w, MEL_ABOUT_ANSWERS, "consistency",
                        "There are no more contradictions than a respondent as assumed makes.");
    else if (!isfinite(s->evidence))
        mel_outcome_say(w, MEL_ABOUT_ANSWERS, "consistency",
                        "So many contradictions, or more, are to be expected of a respondent as assumed "
                        "with a probability of %s.",
                        p.text);
    else if (fabs(s->evidence) < least_evidence && s->repeats_agreed == s->repeats &&
             s->repeats >= enough_repeats)
        mel_outcome_say(w, MEL_ABOUT_ANSWERS, "consistency",
                        "Chance would hardly answer all repeated questions alike.");
    else if (fabs(s->evidence) < least_evidence)
        mel_outcome_say(w, MEL_ABOUT_ANSWERS, "consistency", "%s",
                        s->repeats_agreed < s->repeats
                            ? "There is not enough to tell whether the answers are consistent: a metric of "
                              "this kind and tossed coins explain them about equally well."
                            : "Too few questions came back to rule out chance.");
    else if (s->evidence > 0.0)
        mel_outcome_say(w, MEL_ABOUT_ANSWERS, "consistency",
                        "The answers are consistent: a metric of this kind explains them better than tossed "
                        "coins would.");
    else
        mel_outcome_say(w, MEL_ABOUT_ANSWERS, "consistency",
                        "It is doubtful that the answers are consistent: tossed coins explain them better "
                        "than a metric of this kind. Answers by such a metric look so much like chance with "
                        "a probability of about %s.",
                        p.text);
}

static void state_errors(mel_outcome_work *w)
{
    const double rate = w->out.summary.error_rate;
    if (isfinite(rate))
        mel_outcome_say(w, MEL_ABOUT_ANSWERS, "errors", "The share of wrong answers is estimated at %s%%.",
                        mel_digits_significant(100.0 * rate, 2).text);
}

void mel_outcome_admit_nothing(mel_outcome_work *w)
{
    const mel_summary *s = &w->out.summary;
    w->out.nothing_found = s->skipped == s->questions;
    if (w->status == MEL_OK && w->out.nothing_found)
        w->out.words = mel_outcome_format(w, "Nothing was found about what counts: %s.",
                                          s->questions == 0 ? "no question was answered"
                                                            : "no answer said anything about it");
}

void mel_outcome_state_answers(mel_outcome_work *w)
{
    const mel_summary *s = &w->out.summary;
    if (w->status != MEL_OK || s->questions == 0)
        return;
    if (w->out.nothing_found) {
        mel_outcome_say(w, MEL_ABOUT_ANSWERS, "unanswered",
                        "All questions were answered \"can't say\": what is said here is what was assumed "
                        "before, and nothing of it was found.");
        if (w->status == MEL_OK)
            w->statement[w->out.n_statements - 1].grave = true;
        return;
    }
    state_repeats(w);
    state_contradictions(w);
    state_signs(w);
    if (mel_outcome_is_exchange(&w->out) || w->out.options->assume.kind == MEL_NOISE_PERSON)
        mel_outcome_state_kinds(w);
    mel_outcome_state_drift(w);
    if (!mel_outcome_is_search(&w->out))
        state_consistency(w);
    state_errors(w);
}

/* ---- answers that are no part of the session ---- */

/* On how many of the questions that were answered A or B a metric prefers the same. */
static void count_agreed(uint32_t *agreed, mel_outcome_work *w, const mel_metric *metric)
{
    const mel_evaluation *e = w->about.evaluation;
    const size_t size = mel_layout_size(mel_metric_layout(metric));
    *agreed = 0;
    for (size_t i = 0; i < e->n && w->status == MEL_OK; i++) {
        const double *a = e->pairs + 2 * i * size;
        double better = 0.0;
        if ((e->answers[i] == MEL_ANSWER_A || e->answers[i] == MEL_ANSWER_B) &&
            mel_outcome_good(w, mel_metric_compare(&better, metric, a, a + size, w->err)))
            *agreed += e->answers[i] == MEL_ANSWER_A ? better > 0.0 : better < 0.0;
    }
}

static void count_named(uint32_t *agreed, mel_outcome_work *w, const char *name)
{
    mel_metric *metric = NULL;
    if (mel_outcome_good(
            w, mel_metric_named(&metric, name, mel_face_positives(w->out.domain->face), NULL, w->err)))
        count_agreed(agreed, w, metric);
    mel_metric_free(metric);
}

void mel_outcome_find_agreed(mel_outcome_work *w)
{
    const mel_evaluation *e = w->about.evaluation;
    mel_agreed *out = &w->out.agreed;
    if (w->status != MEL_OK || e == NULL)
        return;
    for (size_t i = 0; i < e->n; i++)
        out->n += e->answers[i] == MEL_ANSWER_A || e->answers[i] == MEL_ANSWER_B;
    count_agreed(&out->elicited, w, w->metric);
    out->planar = w->out.domain->face != NULL;
    if (!out->planar)
        return;
    count_named(&out->accuracy, w, "accuracy");
    count_named(&out->f1, w, "f1");
    out->guessed = isfinite(e->guess);
    if (out->guessed) {
        char name[MEL_MEASURE_NAME];
        (void)mel_print(name, sizeof name, "weighted-accuracy:%.17g", e->guess);
        count_named(&out->guess, w, name);
    }
}
