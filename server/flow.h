/* One participant's way through a study: a function of the study, the seed and the log. */
#ifndef MEL_SERVER_FLOW_H
#define MEL_SERVER_FLOW_H

#include "melicit/elicit.h"
#include "melicit/outcome.h"
#include "study.h"

#include "base/internal.h"

typedef struct mel_flow mel_flow;

/* study and problem must outlive the flow. prior: of mel_prior_json, with which the session starts; NULL:
 * none. */
mel_status mel_flow_new(mel_flow **out, const mel_study *study, const mel_problem *problem, uint64_t seed,
                        const json_t *prior, mel_error *err);
void mel_flow_free(mel_flow *flow);
MEL_CLEANUP(mel_flow)
/* Making a flow or answering a question of it, its result, a report of it. */
typedef enum { MEL_WORK_ANSWER, MEL_WORK_RESULT, MEL_WORK_REPORT } mel_flow_work;
/* Whether that takes more than a moment; then about how many bytes. */
bool mel_flow_is_heavy(size_t *bytes, const mel_study *study, const mel_problem *problem, mel_flow_work what);

/* The page to show now, without seq and csrf; a new reference. */
mel_status mel_flow_page(json_t **page, mel_flow *flow, mel_error *err);
/* Takes what was sent for the page: a value, or {"undo": true}. MEL_EINVAL when it is no answer to the page;
 * nothing has changed then. */
mel_status mel_flow_tell(mel_flow *flow, const json_t *value, double seconds, mel_error *err);
/* The line of the log for a value that will be told next: the value and what it answers; a new reference,
 * NULL without memory. */
json_t *mel_flow_event(mel_flow *flow, const json_t *value, double seconds);
/* The same as the text that the log keeps; freed by the caller. */
char *mel_flow_event_text(mel_flow *flow, const json_t *value, double seconds);
/* Takes a line of the log again, with the pair that it answers; MEL_ESTATE when it cannot be of this study.
 */
mel_status mel_flow_replay(mel_flow *flow, const json_t *event, mel_error *err);

/* What a simulated participant sends for the current page: agrees, fills forms with what is allowed, answers
 * training rightly and questions as the oracle does, and guesses `guess`. NULL with err. */
json_t *mel_flow_simulated(mel_flow *flow, mel_oracle *oracle, double guess, mel_error *err);

const char *mel_flow_state(const mel_flow *flow); /* "active", "complete", "left" */
const char *mel_flow_where(const mel_flow *flow); /* the kind of the current phase, or "left" */
size_t mel_flow_phase(const mel_flow *flow);      /* its position in the study, also of somebody who left */
/* "question 7 of elicitation". */
void mel_flow_describe(char *text, size_t n, const mel_flow *flow);
/* Whether its result may be seen now: on a page that shows it, and at the end of a study that has such a
 * page. */
bool mel_flow_shows_result(const mel_flow *flow);
/* On a page with the result: whether further questions may be asked, and would tell more. */
bool mel_flow_can_ask_more(mel_flow *flow);
/* On a page with the result: which answers were the closest calls, which can be given again; how many. */
size_t mel_flow_close_calls(uint32_t *number, size_t most, mel_flow *flow);
/* What the flow was made with. */
const mel_study *mel_flow_study(const mel_flow *flow);
/* From now on sentences are in this language (NULL: English), which must outlive the flow. */
void mel_flow_speak(mel_flow *flow, const mel_language *language);
const mel_language *mel_flow_language(const mel_flow *flow);
const mel_problem *mel_flow_problem(const mel_flow *flow);
/* The elicitation's session, borrowed. */
mel_session *mel_flow_session(mel_flow *flow);
/* Forms that were sent, borrowed: choices and numbers as they are, true for texts. */
const json_t *mel_flow_forms(const mel_flow *flow);
const json_t *mel_flow_form(const json_t *forms, size_t phase); /* one of them; NULL: not sent */
/* Puts what is done today into the options, where somebody said it; lent. */
void mel_flow_put_today(mel_outcome_options *opt, const mel_flow *flow);
/* The evaluation's questions and answers, borrowed: without answers where it has not begun. */
mel_evaluation mel_flow_evaluation(const mel_flow *flow);

/* What a new participant's session starts from, of the "community" of those who are through
 * (docs/http-api.md): {"metric", "strength", "people"}, a new reference; NULL: nothing yet. */
json_t *mel_prior_json(const json_t *community);

/* --- result.c ------------------------------------------------------------------------------------- */

/* A RESULT of docs/http-api.md; a new reference. */
mel_status mel_result_json(json_t **out, mel_flow *flow, mel_error *err);

/* The common result of several participants: mel_outcome_of_sessions as JSON. */
mel_status mel_result_of_sessions(json_t **out, size_t n, mel_session *const *sessions,
                                  const mel_study *study, const mel_problem *problem, mel_error *err);

/* The study's names of mistakes and people, lent by it, and the rows that it was measured on. */
mel_outcome_options mel_result_options(const mel_study *study, const mel_problem *problem);

/* A QUESTION of docs/http-api.md; swapped: the session's B is shown on the left. people 0: chosen. words may
 * be NULL. NULL with err when it cannot be made. */
/* language: of the sentence; NULL: English. */
json_t *mel_question_to_json(const mel_question *question, const mel_problem *problem,
                             const mel_language *language, const json_t *words, uint32_t people, bool swapped,
                             mel_error *err);
/* Two VIEWs, out of the same number of people. */
json_t *mel_views_to_json(const mel_question *question, const mel_problem *problem, uint32_t people,
                          mel_error *err);
/* What a mistake of class `truth` predicted as `predicted` is called, in the plural or not; freed by the
 * caller. */
char *mel_mistake_name(const mel_problem *problem, const json_t *words, size_t truth, size_t predicted,
                       bool plural);

#endif
