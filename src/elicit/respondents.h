/* Answers of one session heard by another. */
#ifndef MEL_ELICIT_RESPONDENTS_H
#define MEL_ELICIT_RESPONDENTS_H

#include "elicit/session.h"

/* One after the other; what was skipped stays so. */
mel_status mel_session_hear(mel_session *joint, const mel_session *session, mel_error *err);

#endif
