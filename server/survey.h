/* What all participants of a study say together. */
#ifndef MEL_SERVER_SURVEY_H
#define MEL_SERVER_SURVEY_H

#include "study.h"

/* Of people as mel_manage_monitor lists them, those who are simulated only when there is nobody else. NULL
 * without memory, JSON null where there is nothing to say.
 * {"answers", "tau": of distance and time, "thirds": [{"low", "high", "median_seconds"}]}: whether close
 * pairs take longer. */
json_t *mel_survey_times(const json_t *people);
/* [{"form", "name", "label", "type", "answers", "of", "counts": {choice: n}?, "low"?, "median"?, "high"?}] */
json_t *mel_survey_forms(const mel_study *study, const json_t *people);

#endif
