/* What an elicitation found, as the browser shows it. */
#ifndef MEL_SERVER_RESULT_H
#define MEL_SERVER_RESULT_H

#include "flow.h"

#include "melicit/outcome.h"

/* A RESULT of docs/http-api.md; a new reference. */
mel_status mel_result_json(json_t **out, mel_flow *flow, mel_error *err);

/* Of several participants together: mel_outcome_of_sessions as JSON. */
mel_status mel_result_of_sessions(json_t **out, size_t n, mel_session *const *sessions,
                                  const mel_study *study, const mel_problem *problem, mel_error *err);

/* The study's names of mistakes and people, lent by it, and the rows that it was measured on. */
mel_outcome_options mel_result_options(const mel_study *study, const mel_problem *problem);

#endif
