/* Answered questions once more: which ones were the closest calls, and asking one of them again. */
#include "elicit/session.h"

#include <math.h>
#include <string.h>

mel_status mel_session_ask_again(mel_session *session, uint32_t number, mel_error *err)
{
    if (session->broken || session->options.values.strategy == MEL_STRATEGY_SEARCH)
        return mel_fail(err, MEL_ESTATE, "question %u cannot be asked again: %s", number,
                        session->broken ? "the session is broken" : "a search asks every question once");
    if (number < 1 || number > session->n_entries)
        return mel_fail(err, MEL_EINVAL, "question %u cannot be asked again: %zu are answered", number,
                        session->n_entries);
    const mel_pair first = mel_session_pair(session, number - 1);
    const size_t bytes = session->size * sizeof *first.a;
    memcpy(session->pending.a, first.b, bytes);
    memcpy(session->pending.b, first.a, bytes);
    session->pending.repeated = true;
    session->pending.people = session->entries[number - 1].people;
    session->pending.imagined = session->entries[number - 1].imagined;
    session->note[0][0] = session->note[1][0] = '\0';
    session->again = number;
    session->end = MEL_END_NOT_YET;
    session->asked = true;
    mel_session_forget(session);
    mel_session_show_pending(session);
    return MEL_OK;
}

/* --- the closest calls -------------------------------------------------------------------------- */

/* An answer, and how close it was. */
typedef struct {
    uint32_t number;
    double distance; /* from the other answer */
    double rate;     /* two classes: true negatives given up for a true positive; NaN: none are */
    bool accepted;   /* more true positives were preferred */
} call;

/* Whether the same pair was asked about later. */
static bool came_again(const mel_session *session, size_t index)
{
    for (size_t j = index + 1; j < session->n_entries; j++)
        if (session->entries[j].repeated && mel_session_repeats(session, j) == index)
            return true;
    return false;
}

/* Whether two questions offered the same: systems that differ by the same amounts. */
static bool same_offer(const mel_session *session, size_t i, size_t j)
{
    const mel_pair x = mel_session_pair(session, i), y = mel_session_pair(session, j);
    double apart = 0.0, turned = 0.0;
    for (size_t s = 0; s < session->size; s++) {
        const double dx = x.a[s] - x.b[s], dy = y.a[s] - y.b[s];
        apart = fmax(apart, fabs(dx - dy));
        turned = fmax(turned, fabs(dx + dy));
    }
    return fmin(apart, turned) < 1e-9;
}

static call look_at(const mel_session *session, size_t index, const mel_metric *metric)
{
    const mel_pair pair = mel_session_pair(session, index);
    const mel_answer answer = session->entries[index].answer;
    call c = { .number = (uint32_t)index + 1, .rate = NAN };
    double better = 0.0, far = 0.0;
    (void)mel_metric_compare(&better, metric, pair.a, pair.b, NULL);
    for (size_t i = 0; i < session->size; i++)
        far += (pair.a[i] - pair.b[i]) * (pair.a[i] - pair.b[i]);
    c.distance = fabs(better) / sqrt(far);
    if (session->layout.coordinates == MEL_BINARY && answer != MEL_ANSWER_SAME) {
        const double tp = pair.a[0] - pair.b[0], tn = pair.b[1] - pair.a[1];
        c.rate = tp * tn > 0.0 ? tn / tp : NAN;
        c.accepted = (answer == MEL_ANSWER_A) == (tp > 0.0);
    }
    return c;
}

/* Which of two comes first. */
static bool precedes(const call *x, const call *y)
{
    if (!isnan(x->rate) && !isnan(y->rate) && x->accepted == y->accepted)
        return x->accepted ? x->rate > y->rate : x->rate < y->rate;
    return x->distance < y->distance;
}

/* The first of those who are left, of those only that were accepted (1) or refused (0); -1: of all. */
static size_t pick(const mel_session *session, const mel_metric *metric, int accepted, const uint32_t *taken,
                   size_t n_taken)
{
    call best = { 0 };
    for (size_t i = 0; i < session->n_entries; i++) {
        const mel_record *e = &session->entries[i];
        bool out = mel_answer_unsaid(e->answer) || came_again(session, i);
        for (size_t j = 0; j < n_taken; j++)
            out = out || same_offer(session, i, taken[j] - 1);
        if (out)
            continue;
        const call c = look_at(session, i, metric);
        if (accepted >= 0 && (isnan(c.rate) || c.accepted != (accepted == 1)))
            continue;
        if (best.number == 0 || (accepted >= 0 ? precedes(&c, &best) : c.distance < best.distance))
            best = c;
    }
    return best.number;
}

size_t mel_session_close_calls(uint32_t *number, size_t most, const mel_session *session,
                               const mel_metric *metric)
{
    size_t n = 0;
    for (int kind = 1; kind >= -1; kind--)
        while (n < most) {
            const size_t found = pick(session, metric, kind, number, n);
            if (found > 0)
                number[n++] = (uint32_t)found;
            if (found == 0 || kind >= 0)
                break;
        }
    return n;
}
