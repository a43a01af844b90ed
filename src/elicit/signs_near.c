/* Checks of declared signs in sessions about classifiers that somebody might use: these are asked about such
 * classifiers, too. */
#include "elicit/session.h"

#include <math.h>

/* Share of a check in its mixture with a classifier that somebody might use, and people by which numbers that
 * are shown must differ. */
static const double usual_share = 0.1, least_shown = 3.0;

void mel_session_bring_near(mel_session *session)
{
    const mel_entry *last = &session->entries[session->n_entries - 1];
    const mel_pair before = mel_session_pair(session, session->n_entries - 1);
    const double *best = last->said.answer == MEL_ANSWER_B ? before.b : before.a, people = last->said.people;
    mel_pair *pair = &session->pending;
    double widest = 0.0;
    for (size_t i = 0; i < session->size; i++)
        widest = fmax(widest, people * fabs(pair->a[i] - pair->b[i]));
    const double share = fmin(1.0, fmax(usual_share, least_shown / widest));
    for (size_t i = 0; i < session->size; i++) {
        const double apart = round(share * people * (pair->a[i] - pair->b[i]));
        const double mixed = (1.0 - share) * best[i] + share * fmin(pair->a[i], pair->b[i]);
        const double low = round(people * mixed);
        pair->a[i] = (low + fmax(0.0, apart)) / people;
        pair->b[i] = (low + fmax(0.0, -apart)) / people;
    }
    pair->people = last->said.people;
}
