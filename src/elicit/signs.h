/* Declared signs, and which of them are in force: what signs.c and signs_force.c share. */
#ifndef MEL_SIGNS_H
#define MEL_SIGNS_H

#include "elicit/session.h"

/* Of the utility's derivative by number i of a group: as declared, and as far as answers did not make the
 * session give it up. 0: unknown. */
int mel_sign_declared(const mel_session *session, size_t i);
int mel_sign_in_force(const mel_session *session, size_t i);
bool mel_signs_any_in_force(const mel_session *session);

/* The last check of signs among the first n answers, which may have come several times. */
typedef struct {
    size_t first; /* entry of the question */
    size_t asked, contradicted, agreed;
    bool dropped; /* signs were given up with it */
} mel_sign_checks;
mel_sign_checks mel_signs_last_checks(const mel_session *session, size_t n);
/* Whether checks are asked in such a session, once somebody has answered. */
bool mel_session_may_check(const mel_session *session);
/* Whether the last check, with which no signs were given up, is asked once more. */
bool mel_session_checks_again(const mel_sign_checks *so_far, const mel_session *session);
/* Contradictions to one check that make the session give up signs. */
size_t mel_signs_answers_needed(const mel_session *session);
/* Whether some were given up. */
bool mel_signs_dropped(const mel_session *session, size_t n);

#endif
