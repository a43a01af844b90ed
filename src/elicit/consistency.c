/* Whether answers hang together: how often they contradict the metric that was made of them, and each other,
 * against how often that is to be expected. */
#include "elicit/active/answers.h"
#include "elicit/session.h"

#include <math.h>

/* Learned flips: the share of wrong answers that nobody need wonder about, the mean of its prior. */
static const double usual_rate = MEL_FLIP_WRONG / (MEL_FLIP_WRONG + MEL_FLIP_RIGHT);
enum { MOST_COUNTED = 512 }; /* contradictions that are told apart */

/* P(at least `seen` of independent events), added one event at a time. p[k]: P(k so far), the last one: that
 * many or more. */
typedef struct {
    double p[MOST_COUNTED + 1];
} tally;

static void add_event(tally *t, double probability)
{
    t->p[MOST_COUNTED] += t->p[MOST_COUNTED - 1] * probability;
    for (size_t k = MOST_COUNTED - 1; k > 0; k--)
        t->p[k] = t->p[k] * (1.0 - probability) + t->p[k - 1] * probability;
    t->p[0] *= 1.0 - probability;
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

double mel_session_consistency(const mel_session *session, const mel_metric *metric,
                               const mel_summary *summary)
{
    const mel_assumption *assume = &session->options.values.assume;
    tally wrong = { .p = { 1.0 } }, torn = { .p = { 1.0 } };
    uint32_t answers = 0;
    for (size_t i = 0; i < session->n_entries; i++) {
        const mel_answer answer = session->entries[i].answer;
        const mel_pair pair = mel_session_pair(session, i);
        double difference = 0.0;
        if (answer == MEL_ANSWER_SKIP ||
            mel_metric_compare(&difference, metric, pair.a, pair.b, NULL) != MEL_OK)
            continue;
        const double p = wrong_probability(assume, difference);
        answers++;
        if (answer != MEL_ANSWER_SAME)
            add_event(&wrong, p);
        if (session->entries[i].repeated)
            add_event(&torn, 2.0 * p * (1.0 - p));
    }
    if (answers == 0)
        return NAN;
    const double by_metric = at_least(&wrong, summary->disagreements);
    if (summary->repeats == 0)
        return by_metric;
    const double by_repeats = at_least(&torn, summary->repeats - summary->repeats_agreed);
    return fmin(1.0, 2.0 * fmin(by_metric, by_repeats));
}
