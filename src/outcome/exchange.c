/* Sentences about a cost ratio that was asked for in realistic or imagined pairs: bounds on one side only,
 * what limits the precision, and what the answers look like. */
#include "elicit/shared.h"
#include "outcome/outcome.h"

#include <math.h>

/* Variation from which on answers, not their number, limit what is known; natural logarithm. */
static const double varies_much = 0.15;
enum { FEW_ANSWERS = 5 };

bool mel_outcome_is_exchange(const mel_outcome *o)
{
    return o->summary.ratio > 0.0 && isfinite(o->summary.ratio);
}

static bool no_upper(const mel_outcome *o)
{
    return mel_outcome_is_exchange(o) && isinf(o->summary.ratio_high);
}

static bool no_lower(const mel_outcome *o)
{
    return mel_outcome_is_exchange(o) && o->summary.ratio_low == 0.0;
}

bool mel_outcome_is_open(const mel_outcome *o)
{
    return no_upper(o) || no_lower(o);
}

typedef struct {
    size_t a, b, same, said; /* answers; said: all but "can't say" */
    size_t more, fewer;      /* those that preferred more true positives, or fewer */
} kinds;

static kinds count_answers(const mel_session *session)
{
    kinds k = { 0 };
    for (uint32_t i = 0; i < mel_session_answers(session); i++) {
        const mel_record r = mel_session_record(session, i);
        const bool a = r.answer == MEL_ANSWER_A, b = r.answer == MEL_ANSWER_B;
        k.a += a;
        k.b += b;
        k.same += r.answer == MEL_ANSWER_SAME;
        k.more += (a && r.a[0] > r.b[0]) || (b && r.b[0] > r.a[0]);
        k.fewer += (a && r.a[0] < r.b[0]) || (b && r.b[0] < r.a[0]);
    }
    k.said = k.a + k.b + k.same;
    return k;
}

/* "One missed cancer counts more than 33 false alarms: ..." */
void mel_outcome_open_words(mel_outcome_work *w)
{
    const mel_outcome *o = &w->out;
    if (w->status != MEL_OK || !mel_outcome_is_open(o))
        return;
    const bool upper = no_upper(o);
    const kinds k = count_answers(w->session);
    const bool never = k.same == 0 && (upper ? k.fewer : k.more) == 0;
    mel_bound b;
    if (!mel_outcome_bound(&b, o, o->summary.ratio_low, o->summary.ratio_high))
        w->out.words = mel_outcome_format(w, "The answers set no bound on what one %s counts.", o->missed);
    else if (never)
        w->out.words = mel_outcome_format(
            w, "One %s counts %s than %s %s: you never accepted a %s for what this test can offer.", b.one,
            b.more ? "more" : "less", b.number.text, b.many, upper ? o->missed : o->false_alarm);
    else
        w->out.words = mel_outcome_format(w,
                                          "One %s counts %s than %s %s, as far as the answers tell; pairs "
                                          "of this test cannot ask for the bound.",
                                          b.one, b.more ? "more" : "less", b.number.text, b.many);
}

/* Whether the best setting is settled, and what it would take to know the ratio, too. */
static void state_setting(mel_outcome_work *w)
{
    const mel_summary *s = &w->out.summary;
    const double wanted = w->out.options->tolerance_factor;
    if (!isfinite(s->settled))
        return;
    const mel_digits probability = mel_digits_count((uint64_t)fmin(100.0 * s->settled, 99.0)); /* or more */
    if (s->end != MEL_END_DECIDED) {
        mel_outcome_say(
            w, MEL_ABOUT_OPEN, "setting",
            "The best setting of this test for that ratio loses at most 5%% of what the test can add "
            "with a probability of %s%%; from 90%% on, after two answers in a row, it counts as settled.",
            probability.text);
        return;
    }
    mel_outcome_say(
        w, MEL_ABOUT_KNOWN, "setting",
        "Your setting is settled: it loses at most 5%% of what this test can add to flagging all or "
        "none, with a probability of at least %s%%.",
        probability.text);
    if (!(wanted > 0.0) || mel_outcome_is_open(&w->out))
        return;
    const mel_digits factor = mel_digits_significant(wanted, 2);
    if (isfinite(s->questions_to_ratio))
        mel_outcome_say(w, MEL_ABOUT_OPEN, "ratio",
                        "To know the cost ratio to a factor of %s, go on until ratio: about %s more %s.",
                        factor.text, mel_digits_count((uint64_t)s->questions_to_ratio).text,
                        s->questions_to_ratio > 1.0 ? "questions" : "question");
    else
        mel_outcome_say(w, MEL_ABOUT_OPEN, "ratio",
                        "To know the cost ratio to a factor of %s, go on until ratio: many more questions.",
                        factor.text);
}

void mel_outcome_state_ratio_precision(mel_outcome_work *w)
{
    const mel_outcome *o = &w->out;
    const mel_summary *s = &o->summary;
    const double wanted = o->options->tolerance_factor;
    if (mel_outcome_is_open(o))
        mel_outcome_say(
            w, MEL_ABOUT_END, "precision",
            "Pairs of this test can ask about %s to %s %s for one %s; what counts %s beyond, and they cannot "
            "tell how far.",
            mel_digits_less_than(s->askable_low).text, mel_digits_more_than(s->askable_high).text,
            o->false_alarms, o->missed, s->end == MEL_END_BEYOND ? "is" : "seems to be");
    else if (s->end == MEL_END_DECIDED)
        mel_outcome_say(w, MEL_ABOUT_END, "precision",
                        "The cost ratio is known to a factor of %s (95%%, from end to end).",
                        mel_digits_significant(s->ratio_high / s->ratio_low, 2).text);
    else if (wanted > 0.0)
        mel_outcome_say(
            w, MEL_ABOUT_END, "precision",
            "The cost ratio is known to a factor of %s (95%%, from end to end); %s was asked for.",
            mel_digits_significant(s->ratio_high / s->ratio_low, 2).text,
            mel_digits_significant(wanted, 2).text);
    state_setting(w);
    if (s->imagined)
        mel_outcome_say(
            w, MEL_ABOUT_END, "imagined",
            "The last questions were about an imagined better test, as pairs of this one could tell no "
            "more.");
    else if (mel_outcome_is_open(o) && o->options->questions == MEL_QUESTIONS_REALISTIC)
        mel_outcome_say(w, MEL_ABOUT_OPEN, "imagined",
                        "To learn the ratio itself, go on with the option imagined-beyond, or start a "
                        "session with it: then "
                        "come questions about an imagined better test.");
}

/* Whether answers, not their number, limit what is known. */
void mel_outcome_state_ratio_open(mel_outcome_work *w)
{
    const mel_outcome *o = &w->out;
    const mel_summary *s = &o->summary;
    if (mel_outcome_is_open(o) || s->questions < FEW_ANSWERS)
        return;
    if (s->variation > varies_much)
        mel_outcome_say(w, MEL_ABOUT_OPEN, "variation",
                        "No exchange rate agrees with all answers: more questions would narrow the interval "
                        "slowly.");
}

/* What the answers look like, before anything is made of them. */
void mel_outcome_state_kinds(mel_outcome_work *w)
{
    const kinds k = count_answers(w->session);
    if (k.said >= FEW_ANSWERS && k.same == k.said)
        mel_outcome_say(
            w, MEL_ABOUT_ANSWERS, "same",
            "All %s pairs were called about the same: differences of this size do not matter, or could not "
            "be told.",
            mel_digits_count(k.said).text);
    if (k.said >= FEW_ANSWERS && (k.a == k.said || k.b == k.said))
        mel_outcome_say(w, MEL_ABOUT_ANSWERS, "sides",
                        "All %s answers were %s, whatever was shown on that side.",
                        mel_digits_count(k.said).text, k.a > 0 ? "A" : "B");
}

void mel_outcome_state_drift(mel_outcome_work *w)
{
    const mel_summary *s = &w->out.summary;
    if (s->drift != 0)
        mel_outcome_say(
            w, MEL_ABOUT_ANSWERS, "drift",
            "On the way one %s seems to have come to count %s; what was found is about its average.",
            w->out.missed, s->drift > 0 ? "more" : "less");
}
