/* Which declared signs are in force. Those that a check (signs.c) contradicted often enough are dropped: all
 * of them where an answer is wrong only by accident, since others may be wrong, too. Where small differences
 * are hardly seen, four answers about weights near zero can be four coin tosses. Then only the signs of these
 * weights are dropped, which changes little if they hold, and the others may be checked later. On a planar
 * face, where metrics either grow or fall in both numbers, the direction is turned round. */
#include "elicit/active/engine.h"
#include "elicit/active/select.h"
#include "elicit/assumption.h"
#include "elicit/families/families.h"
#include "elicit/shared.h"
#include "elicit/signs.h"

#include <math.h>
#include <string.h>

/* Numbers that differ by less are the same but for rounding. */
static const double same = 1e-9;
/* Evidence for doing without signs, natural logarithm, from which on they are given up: of a hundred people
 * who declare them one is taken to be wrong, so that from here on that is the likelier story. */
static const double convincing = 4.6;

int mel_sign_declared(const mel_session *session, size_t i)
{
    const mel_session_options *opt = &session->options.values;
    if (opt->signs != NULL)
        return opt->signs[i];
    if (opt->direction == MEL_DIRECTION_UNKNOWN || !mel_elicit_of(opt->family)->sloped)
        return 0;
    const int better = session->layout.coordinates == MEL_OFFDIAGONAL ? -1 : 1;
    return opt->direction == MEL_INCREASING ? better : -better;
}

/* Whether the answer to a check prefers what is worse by declaration. */
static bool contradicts(const mel_session *session, const mel_pair *pair, mel_answer answer)
{
    const size_t n = mel_sign_count(&session->layout);
    double gain = 0.0;
    for (size_t i = 0; i < session->size; i++)
        gain += mel_sign_declared(session, i % n) * (pair->a[i] - pair->b[i]);
    return (answer == MEL_ANSWER_A && gain < 0.0) || (answer == MEL_ANSWER_B && gain > 0.0);
}

static void count_check(mel_sign_checks *c, const mel_session *session, size_t i)
{
    const mel_entry *entry = &session->entries[i];
    const mel_pair pair = mel_session_pair(session, i);
    const bool chosen = entry->answer == MEL_ANSWER_A || entry->answer == MEL_ANSWER_B;
    const bool against = contradicts(session, &pair, entry->answer);
    if (!entry->repeated)
        *c = (mel_sign_checks){ .first = i };
    c->asked++;
    c->contradicted += against;
    c->agreed += chosen && !against;
    c->dropped = c->dropped || entry->drops;
}

mel_sign_checks mel_signs_last_checks(const mel_session *session, size_t n)
{
    mel_sign_checks c = { .asked = 0 };
    for (size_t i = 0; i < n; i++)
        if (session->entries[i].check)
            count_check(&c, session, i);
    return c;
}

bool mel_signs_dropped_singly(const mel_session_options *opt)
{
    return mel_assumed(&opt->active.assume)->errs == MEL_ERRS_BY_MARGIN;
}

/* One answer is enough where none is wrong. Of somebody who hardly sees small differences the answers about
 * weights near zero are coin tosses: two alike would drop signs that hold in one session of four. */
size_t mel_signs_answers_needed(const mel_session *session)
{
    enum { BY_MARGIN = 4 };
    return mel_signs_dropped_singly(&session->options.values)
               ? BY_MARGIN
               : mel_answers_needed(&session->options.values.active.assume);
}

/* Strikes what a contradicted check was about. */
static void strike(signed char *sign, const mel_session *session, size_t check)
{
    const size_t n = mel_sign_count(&session->layout);
    const mel_pair pair = mel_session_pair(session, check);
    for (size_t i = 0; i < session->size; i++)
        if (!mel_signs_dropped_singly(&session->options.values) || fabs(pair.a[i] - pair.b[i]) > same)
            sign[i % n] = 0;
}

/* The signs in force with the first n answers, into the session's room for them; whether some were dropped.
 */
static bool find_in_force(const mel_session *session, size_t n)
{
    mel_sign_checks c = { .asked = 0 };
    bool dropped = false;
    for (size_t i = 0; i < mel_sign_count(&session->layout); i++)
        session->sign[i] = (signed char)mel_sign_declared(session, i);
    for (size_t i = 0; i < n; i++) {
        if (!session->entries[i].check)
            continue;
        count_check(&c, session, i);
        if (session->entries[i].drops) {
            strike(session->sign, session, c.first);
            dropped = true;
        }
    }
    return dropped;
}

int mel_sign_in_force(const mel_session *session, size_t i)
{
    (void)find_in_force(session, session->n_entries);
    return session->sign[i];
}

bool mel_signs_dropped(const mel_session *session, size_t n)
{
    return find_in_force(session, n);
}

/* On a face, what was turned round is not asked about again. */
bool mel_signs_any_in_force(const mel_session *session)
{
    if (find_in_force(session, session->n_entries) && session->domain.face != NULL)
        return false;
    for (size_t i = 0; i < mel_sign_count(&session->layout); i++)
        if (session->sign[i] != 0)
            return true;
    return false;
}

mel_session_options mel_session_in_force(const mel_session *session, size_t n)
{
    mel_session_options opt = session->options.values;
    if (!find_in_force(session, n))
        return opt;
    if (session->domain.face != NULL) {
        opt.direction = opt.direction == MEL_INCREASING ? MEL_DECREASING : MEL_INCREASING;
    } else {
        opt.direction = MEL_DIRECTION_UNKNOWN;
        opt.signs = mel_signs_dropped_singly(&session->options.values) ? session->sign : NULL;
    }
    return opt;
}

mel_status mel_session_hear_without_signs(mel_engine **out, mel_session *session, mel_answer answer,
                                          mel_error *err)
{
    *out = NULL;
    if (!session->checking)
        return MEL_OK;
    const mel_sign_checks c = mel_signs_last_checks(session, session->n_entries);
    const size_t before = session->pending.repeated ? c.contradicted : 0;
    if (before + contradicts(session, &session->pending, answer) != mel_signs_answers_needed(session))
        return MEL_OK;
    session->entries[session->n_entries].drops = true;
    return mel_session_rebuild(out, session, session->n_entries + 1, err);
}

/* Both engines have foretold every answer before they heard it, so that the difference of their evidence is
 * the logarithm of the Bayes factor. */
bool mel_session_gives_up_signs(mel_session *session, const mel_engine *without)
{
    const double with_signs = ((const mel_active *)session->engine)->history.evidence;
    const double gained = ((const mel_active *)without)->history.evidence - with_signs;
    mel_entry *entry = &session->entries[session->n_entries];
    entry->drops = !mel_signs_dropped_singly(&session->options.values) || session->domain.face != NULL ||
                   gained >= convincing;
    return entry->drops;
}
