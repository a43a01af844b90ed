/* What an elicitation found, as the browser shows it. */
#ifndef MEL_SERVER_RESULT_H
#define MEL_SERVER_RESULT_H

#include "flow.h"
#include "melicit/elicit.h"

#include "melicit/outcome.h"

/* A RESULT of docs/http-api.md; a new reference. */
mel_status mel_result_json(json_t **out, mel_flow *flow, mel_error *err);

/* Of several participants together: mel_outcome_of_sessions as JSON. */
mel_status mel_result_of_sessions(json_t **out, size_t n, mel_session *const *sessions,
                                  const mel_study *study, const mel_problem *problem, mel_error *err);

/* The study's names of mistakes and people, lent by it, and the rows that it was measured on. */
mel_outcome_options mel_result_options(const mel_study *study, const mel_problem *problem);

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
