/* Whether the answers are consistent. With flips: what they say against coin tosses. Otherwise: how often
 * they contradict the metric that was made of them, and each other, against how often that is to be expected.
 */
#include "elicit/assumption.h"
#include "elicit/session.h"

#include <math.h>
#include <stdlib.h>

/* Flips: how rare it is that answers speak so little against coin tosses, or so much for them, when they come
 * from a respondent as assumed, whose metric and, when it is learned, error rate are as likely as the prior
 * says. The evidence is that of a bet, so that its exponential bounds the probability whatever was asked; the
 * line through this point with this slope, fitted to simulated sessions, is closer: 4.6% of 2,000 sessions of
 * 20 questions on a face and 6% of 200 of 40 for six coefficients are below 0.05 (docs/measurements.md). */
static const double alarm = 0.05, evidence_of_alarm = -1.8, slope_of_alarm = 1.2;
/* The same for exchange rates, whatever is assumed: of sessions whose people are as the prior says, at most
 * 5% are below 0.05 (12, 20 and 40 questions), at most 20% below 0.2. */
static const double evidence_of_exchange = -1.6, slope_of_exchange = 1.2;
enum { MOST_COUNTED = 512 }; /* contradictions that are told apart */

/* Probabilities of a sum of independent parts, added one at a time. p[k]: P(k so far), the last one: that
 * many or more. */
typedef struct {
    double p[MOST_COUNTED + 1];
} tally;

/* A part that is `worth` (1 or 2) with this probability, and else nothing. */
static void add_part(tally *t, double probability, size_t worth)
{
    for (size_t k = MOST_COUNTED - worth; k < MOST_COUNTED; k++)
        t->p[MOST_COUNTED] += t->p[k] * probability;
    for (size_t k = MOST_COUNTED - 1; k >= worth; k--)
        t->p[k] = t->p[k] * (1.0 - probability) + t->p[k - worth] * probability;
    for (size_t k = 0; k < worth; k++)
        t->p[k] *= 1.0 - probability;
}

static double at_least(const tally *t, size_t seen)
{
    double sum = 0.0;
    for (size_t k = seen < MOST_COUNTED ? seen : MOST_COUNTED; k <= MOST_COUNTED; k++)
        sum += t->p[k];
    return fmin(1.0, sum);
}

/* Probability that an answer is wrong where the metric sees this difference; flips are not assumed. */
static double wrong_probability(const mel_assumption *assume, double difference)
{
    const mel_noise_ops *model = mel_assumed(assume);
    mel_component usual[MEL_MOST_COMPONENTS];
    if (model->errs == MEL_ERRS_NEVER)
        return 0.0;
    (void)mel_noise_components(usual, model, assume->size > 0.0 ? assume->size : model->usual_size);
    const double z = fabs(difference) * mel_component_sharpness(usual, 0.5 * fabs(difference));
    return 1.0 - mel_component_choice(usual, z, 0.0);
}

/* Two answers to one question: one of them wrong counts against the metric and against the other answer, both
 * wrong count twice against the metric. Either way that is worth 2. */
static void add_question(tally *t, double p, bool twice)
{
    add_part(t, twice ? p * (2.0 - p) : p, twice ? 2 : 1);
}

/* How likely contradictions to the metric, and between two answers to one question, are to be as many. */
static mel_status count_contradictions(double *out, const mel_session *session, const mel_metric *metric,
                                       const mel_summary *summary, mel_error *err)
{
    const mel_assumption *assume = &session->options.values.assume;
    bool *twice = mel_alloc_zero(session->n_entries, sizeof *twice);
    if (twice == NULL)
        return mel_fail_memory(err, "the answers");
    for (size_t i = 0; i < session->n_entries; i++) {
        const size_t first = session->entries[i].repeated ? mel_session_repeats(session, i) : SIZE_MAX;
        if (first != SIZE_MAX)
            twice[first] = true;
    }
    tally parts = { .p = { 1.0 } };
    bool any = false;
    for (size_t i = 0; i < session->n_entries; i++) {
        const mel_pair pair = mel_session_pair(session, i);
        double difference = 0.0;
        const bool counted = session->entries[i].repeated && mel_session_repeats(session, i) != SIZE_MAX;
        if (mel_answer_unsaid(session->entries[i].answer) || (counted && !twice[i]) ||
            mel_metric_compare(&difference, metric, pair.a, pair.b, NULL) != MEL_OK)
            continue;
        any = true;
        add_question(&parts, wrong_probability(assume, difference), twice[i]);
    }
    free(twice);
    if (any)
        *out = at_least(&parts, summary->disagreements + summary->repeats - summary->repeats_agreed);
    return MEL_OK;
}

mel_status mel_session_consistency(double *out, const mel_session *session, const mel_metric *metric,
                                   const mel_summary *summary, mel_error *err)
{
    *out = NAN;
    if (summary->skipped + summary->neither == summary->questions)
        return MEL_OK;
    if (isfinite(summary->ratio)) {
        *out = fmin(1.0, alarm * exp(slope_of_exchange * (summary->evidence - evidence_of_exchange)));
        return MEL_OK;
    }
    if (!mel_assumed(&session->options.values.assume)->slips)
        return count_contradictions(out, session, metric, summary, err);
    *out = fmin(1.0, alarm * exp(slope_of_alarm * (summary->evidence - evidence_of_alarm)));
    return MEL_OK;
}
