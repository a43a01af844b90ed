/* Questions as the browser gets them: whole numbers of people, and what differs in words. */
#ifndef MEL_SERVER_QUESTION_JSON_H
#define MEL_SERVER_QUESTION_JSON_H

#include "melicit/elicit.h"

/* A QUESTION of docs/http-api.md; swapped: the session's B is shown on the left. people 0: chosen. words may
 * be NULL. NULL with err when it cannot be made. */
json_t *mel_question_to_json(const mel_question *question, const mel_problem *problem, const json_t *words,
                             uint32_t people, bool swapped, mel_error *err);
/* Two VIEWs, out of the same number of people. */
json_t *mel_views_to_json(const mel_question *question, const mel_problem *problem, uint32_t people,
                          mel_error *err);
/* What a mistake of class `truth` predicted as `predicted` is called, in the plural or not; freed by the
 * caller. */
char *mel_mistake_name(const mel_problem *problem, const json_t *words, size_t truth, size_t predicted,
                       bool plural);

#endif
