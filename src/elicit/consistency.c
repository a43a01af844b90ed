/* Whether answers hang together: how often they contradict the metric that was made of them, and each other,
 * against how often that is to be expected. */
#include "elicit/active/answers.h"
#include "elicit/session.h"

#include <math.h>
#include <stdlib.h>

/* Learned flips: the share of wrong answers that nobody need wonder about, the mean of its prior. */
static const double usual_rate = MEL_FLIP_WRONG / (MEL_FLIP_WRONG + MEL_FLIP_RIGHT);
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

/* Probability that an answer is wrong where the metric sees this difference. */
static double wrong_probability(const mel_assumption *assume, double difference)
{
    const double scale = assume->size > 0.0 ? assume->size : MEL_SCALE_MEDIAN;
    switch (assume->kind) {
    case MEL_NOISE_NONE:
        return 0.0;
    case MEL_NOISE_FLIP:
        return assume->size > 0.0 ? assume->size : usual_rate;
    case MEL_NOISE_BAND:
    case MEL_NOISE_LOGISTIC:
        break;
    }
    return 1.0 - mel_choice_probability(assume, scale, fabs(difference));
}

/* Two answers to one question: one of them wrong counts against the metric and against the other answer, both
 * wrong count twice against the metric. Either way that is worth 2. */
static void add_question(tally *t, double p, bool twice)
{
    add_part(t, twice ? p * (2.0 - p) : p, twice ? 2 : 1);
}

/* Answers that the metric contradicts. Where the flip rate is learned, at most as many as samples of the
 * posterior do on average, which is in the mean rate: the metric is in the middle of the posterior and, when
 * that has parts which blame different answers, may contradict more than any of them (quadratic metrics,
 * flip:0.1: 13% of 30 sessions were flagged without this, 3% are with it). */
static size_t contradictions(const mel_session *session, const mel_summary *summary)
{
    const mel_assumption *assume = &session->options.values.assume;
    if (assume->kind != MEL_NOISE_FLIP || assume->size > 0.0 || !isfinite(summary->error_rate))
        return summary->disagreements;
    size_t n = 0;
    for (size_t i = 0; i < session->n_entries; i++)
        n += session->entries[i].answer == MEL_ANSWER_A || session->entries[i].answer == MEL_ANSWER_B;
    const double known = MEL_FLIP_WRONG + MEL_FLIP_RIGHT + (double)n;
    const double wrong = fmax(0.0, round(summary->error_rate * known - MEL_FLIP_WRONG));
    return (size_t)fmin((double)summary->disagreements, wrong);
}

mel_status mel_session_consistency(double *out, const mel_session *session, const mel_metric *metric,
                                   const mel_summary *summary, mel_error *err)
{
    *out = NAN;
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
        if (session->entries[i].answer == MEL_ANSWER_SKIP || (counted && !twice[i]) ||
            mel_metric_compare(&difference, metric, pair.a, pair.b, NULL) != MEL_OK)
            continue;
        any = true;
        add_question(&parts, wrong_probability(assume, difference), twice[i]);
    }
    free(twice);
    if (any)
        *out =
            at_least(&parts, contradictions(session, summary) + summary->repeats - summary->repeats_agreed);
    return MEL_OK;
}
