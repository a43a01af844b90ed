/* Sentences about what no answers of this kind can tell: what was taken for granted, and how far it holds. */
#include "elicit/shared.h"
#include "oracle/noise/noise.h"
#include "outcome/outcome.h"
#include "problem/shared.h"

#include <math.h>

/* What the family takes for granted. */
static void state_shape(mel_outcome_work *w)
{
    const mel_family_facts *family = mel_family_about(mel_metric_family(w->metric));
    if (family->sum && !family->local) {
        const bool face = mel_metric_layout(w->metric)->coordinates == MEL_BINARY;
        mel_outcome_say(w, MEL_ABOUT_LIMITS, "shape",
                        "Whether the exchange %s the same everywhere. This metric assumes so: the tenth %s "
                        "weighs as much as the first.",
                        face ? "rate is" : "rates are",
                        face ? mel_outcome_format(w, "of the %s", w->out.missed_plural)
                             : "mistake of a kind");
        return;
    }
    mel_outcome_say(w, MEL_ABOUT_LIMITS, "shape",
                    "Whether another kind of metric would describe the answers better: %s was assumed.",
                    family->shape);
}

static void state_noise(mel_outcome_work *w)
{
    const char *text =
        mel_outcome_is_search(&w->out)
            ? "How probable the interval is: the search halves an interval with every round and trusts each "
              "answer, so one wrong answer can spoil it."
        : mel_noise_of(w->out.options->assume.kind)->errs == MEL_ERRS_NEVER
            ? "What wrong answers would change. The intervals take every answer at its word; if some were "
              "slips, they are too narrow."
            : "A change of mind on the way. The intervals allow for wrong answers of the kind that was "
              "assumed, not for that.";
    mel_outcome_say(w, MEL_ABOUT_LIMITS, "noise", "%s", text);
}

/* How far what was measured holds for other rows. */
static void state_sampling(mel_outcome_work *w)
{
    const mel_outcome *o = &w->out;
    const mel_digits rows = mel_digits_count(o->rows);
    if (o->domain->ball != NULL && mel_session_questions(w->session) == MEL_QUESTIONS_FAR)
        mel_outcome_say(w, MEL_ABOUT_LIMITS, "sampling",
                        "Whether the same weights hold for very good classifiers: the questions were about a "
                        "ball of achievable ones around random guessing.");
    else if (o->domain->pool != NULL)
        mel_outcome_say(w, MEL_ABOUT_LIMITS, "sampling", "%s",
                        mel_pool_has_counts(o->domain->pool)
                            ? "How the classifiers do on other data than those they were measured on. The "
                              "intervals allow for chance in the counts, the order takes the numbers as "
                              "measured."
                            : "How well the classifiers were measured: the numbers came without counts, and "
                              "were taken as exact.");
    else if (o->rows == 0 && o->n_decisions > 0)
        mel_outcome_say(w, MEL_ABOUT_LIMITS, "sampling",
                        "What real data do: the numbers out of 1,000 are exact for a population given by a "
                        "formula.");
    else if (o->rows > 0 && o->n_decisions > 0)
        mel_outcome_say(w, MEL_ABOUT_LIMITS, "sampling",
                        "What new data do: the numbers out of 1,000 were measured on %s rows, and the rule "
                        "was chosen on the same rows, which tends to make it look better than it is.",
                        rows.text);
    else if (o->rows > 0)
        mel_outcome_say(w, MEL_ABOUT_LIMITS, "sampling",
                        "How far what was shown holds for new data: it was measured on %s %s.", rows.text,
                        o->rows == 1 ? "row" : "rows");
}

void mel_outcome_state_limits(mel_outcome_work *w)
{
    if (w->status != MEL_OK)
        return;
    state_shape(w);
    state_noise(w);
    mel_outcome_say(w, MEL_ABOUT_LIMITS, "others",
                    "What other people would have answered. This is the metric of whoever was asked.");
    state_sampling(w);
}
