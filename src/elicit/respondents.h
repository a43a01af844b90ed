/* Answers of a session heard by another one. */
#ifndef MEL_ELICIT_RESPONDENTS_H
#define MEL_ELICIT_RESPONDENTS_H

#include "elicit/session.h"

/* A session that gets the same answers, by the same model of answers, and begins with this prior metric
 * (NULL: none). For the caller to free, also after a failure. */
mel_status mel_session_hear_again(mel_session **out, const mel_session *session, const mel_metric *prior,
                                  double strength, mel_error *err);

#endif
