/* Which declared signs are in force. Those that a check (signs.c) contradicted often enough are dropped: all
 * of them where an answer is wrong only by accident, since others may be wrong, too. Where small differences
 * are hardly seen, four answers about weights near zero can be four coin tosses. Then only the signs of these
 * weights are dropped, which changes little if they hold, and the others may be checked later. On a planar
 * face, where metrics either grow or fall in both numbers, the direction is turned round. */
#include "elicit/active/engine.h"
#include "elicit/active/select.h"
#include "elicit/assumption.h"
#include "elicit/families/families.h"
#include "elicit/options.h"
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
    const bool chosen = entry->said.answer == MEL_ANSWER_A || entry->said.answer == MEL_ANSWER_B;
    const bool against = contradicts(session, &pair, entry->said.answer);
    if (!entry->said.repeated)
        *c = (mel_sign_checks){ .first = i };
    c->asked++;
    c->contradicted += against;
    c->agreed += chosen && !against;
    c->dropped = c->dropped || entry->said.signs > 0;
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
    return mel_assumed(&opt->assume)->errs == MEL_ERRS_BY_MARGIN;
}

/* One answer is enough where none is wrong. Of somebody who hardly sees small differences the answers about
 * weights near zero are coin tosses: two alike would drop signs that hold in one session of four. */
size_t mel_signs_answers_needed(const mel_session *session)
{
    enum { BY_MARGIN = 4 };
    return mel_signs_dropped_singly(&session->options.values)
               ? BY_MARGIN
               : mel_answers_needed(&session->options.values.assume);
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
        if (session->entries[i].said.signs > 0) {
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

/* One side is better in every number by the signs in force, and groups differ alike. */
static bool one_side_is_better(const mel_session *session, const mel_pair *pair)
{
    const size_t n = mel_sign_count(&session->layout);
    bool better = false, worse = false;
    (void)find_in_force(session, session->n_entries);
    for (size_t i = 0; i < session->size; i++) {
        const double apart = pair->a[i] - pair->b[i];
        if (fabs(apart - (pair->a[i % n] - pair->b[i % n])) > same)
            return false;
        if (fabs(apart) <= same)
            continue;
        if (session->sign[i % n] == 0)
            return false;
        better = better || session->sign[i % n] * apart > 0.0;
        worse = worse || session->sign[i % n] * apart < 0.0;
    }
    return better != worse;
}

bool mel_session_may_check(const mel_session *session)
{
    const mel_session_options *opt = &session->options.values;
    return opt->strategy != MEL_STRATEGY_SEARCH && session->n_entries > 0 &&
           !mel_asks_exchange(opt,
                              &session->domain) && /* a rate beyond what can be asked is said to be open */
           session->domain.pool == NULL &&         /* no given pair asks about just the signs */
           mel_elicit_of(opt->family)->sloped &&
           mel_signs_any_in_force(session);
}

bool mel_session_checks_again(const mel_sign_checks *so_far, const mel_session *session)
{
    return so_far->contradicted == so_far->asked && so_far->asked < mel_signs_answers_needed(session);
}

bool mel_session_is_check(const mel_session *session, const mel_pair *pair)
{
    if (!mel_session_may_check(session) || !one_side_is_better(session, pair))
        return false;
    const mel_sign_checks so_far = mel_signs_last_checks(session, session->n_entries);
    if (so_far.asked > 0 && !so_far.dropped)
        return pair->repeated && mel_session_checks_again(&so_far, session);
    return !pair->repeated;
}

mel_status mel_session_hear_without_signs(mel_engine **out, mel_session *session, mel_error *err)
{
    mel_entry *entry = &session->entries[session->n_entries];
    *out = NULL;
    if (!entry->check || entry->said.signs < 0)
        return MEL_OK;
    const mel_pair pair = mel_session_pair(session, session->n_entries);
    const mel_sign_checks c = mel_signs_last_checks(session, session->n_entries);
    const size_t before = entry->said.repeated ? c.contradicted : 0;
    entry->said.signs = 0;
    if (before + contradicts(session, &pair, entry->said.answer) != mel_signs_answers_needed(session))
        return MEL_OK;
    entry->said.signs = 1;
    return mel_session_rebuild(out, session, session->n_entries + 1, err);
}

/* Both engines have foretold every answer before they heard it, so that the difference of their evidence is
 * the logarithm of the Bayes factor. */
bool mel_session_gives_up_signs(mel_session *session, const mel_engine *without, int recorded)
{
    const double with_signs = ((const mel_active *)session->engine)->history.evidence;
    const double gained = ((const mel_active *)without)->history.evidence - with_signs;
    const bool gives_up = recorded > 0 || !mel_signs_dropped_singly(&session->options.values) ||
                          session->domain.face != NULL || gained >= convincing;
    session->entries[session->n_entries].said.signs = gives_up ? 1 : -1;
    return gives_up;
}
