/* What the files of the flow share. */
#ifndef MEL_SERVER_FLOW_INTERNAL_H
#define MEL_SERVER_FLOW_INTERNAL_H

#include "flow.h"

#include "base/internal.h"
#include "melicit/outcome.h"

enum { MEL_MORE_QUESTIONS = 10 }; /* when somebody asks for more */
/* Streams of the participant's seed. */
enum { MEL_STREAM_SIDES = 1, MEL_STREAM_EVALUATION = 2, MEL_STREAM_CODE = 3, MEL_STREAM_TRAINING = 4 };

struct mel_flow {
    const mel_study *study;
    const mel_problem *problem;
    const mel_language *language; /* of what is said now; NULL: English */
    uint64_t seed;
    size_t phase, item; /* the item of a training, the question of an evaluation */
    uint32_t wrong;     /* answers to this training item */
    bool left, complete;
    bool replaying; /* what the log has was allowed then */
    double guess;
    json_t *forms;     /* by number of the phase; see mel_flow_forms */
    mel_metric *prior; /* with which the session starts; NULL: none */
    double prior_strength;
    mel_session *session;
    uint32_t budget;                   /* of the elicitation */
    uint32_t again[MEL_OUTCOME_CALLS]; /* questions that come again by wish, and which one it is now */
    size_t n_again, at_again;
    size_t size; /* numbers in a point */
    uint32_t n_evaluation;
    uint32_t evaluation_people; /* its pairs are whole numbers out of so many; 0: they are not */
    double today_threshold;     /* what somebody said is done today: NaN; or counted decisions, or NULL */
    double *today_counts;
    double *pair;       /* n_evaluation x 2 x size */
    mel_answer *answer; /* n_evaluation; about the pair's A and B */
};

/* --- flow.c --------------------------------------------------------------------------------------- */

const mel_phase *mel_flow_current(const mel_flow *flow);
bool mel_flow_asks(const mel_flow *flow); /* elicitation or evaluation */
/* The current question of the elicitation or evaluation. *done: there is none. */
mel_status mel_flow_question(mel_question *out, bool *done, mel_flow *flow, mel_error *err);
/* Which side A is shown on: true on the right. */
bool mel_flow_is_swapped(const mel_flow *flow, uint32_t number);
mel_answer mel_answer_swapped(mel_answer answer);
mel_status mel_flow_next_phase(mel_flow *flow, mel_error *err);
/* Ends an elicitation that has nothing more to ask. */
mel_status mel_flow_skip_finished(mel_flow *flow, mel_error *err);
uint32_t mel_flow_shown_people(const mel_flow *flow); /* 0: as many as are needed */
bool mel_flow_can_undo(const mel_flow *flow);

/* --- flow_tell.c ---------------------------------------------------------------------------------- */

/* After an answer to a question of the elicitation or evaluation: what comes next. */
mel_status mel_flow_answered(mel_flow *flow, mel_error *err);
/* Answered questions that come again, from the page with the result. */
mel_status mel_flow_ask_again(mel_flow *flow, size_t n, const uint32_t *number, mel_error *err);

/* --- flow_page.c ---------------------------------------------------------------------------------- */

const char *mel_flow_page_name(const mel_flow *flow); /* "question", or the kind of the phase */

/* --- flow_evaluation.c ---------------------------------------------------------------------------- */

mel_status mel_flow_draw_evaluation(mel_flow *flow, const json_t *phase, mel_error *err);

/* --- flow_training.c ------------------------------------------------------------------------------ */

const json_t *mel_training_item(const mel_flow *flow);
/* Whether one of the two systems is better in every respect, and the item asks which. */
bool mel_training_is_definite(const json_t *item);
/* Pictures of two systems; definite: one of them is better in every respect. */
mel_status mel_training_views(json_t **out, const mel_flow *flow, bool definite, mel_error *err);
/* MEL_EDATA when the pictures do not show what the item asks for. */
mel_status mel_training_check(const json_t *item, const json_t *views, const mel_flow *flow, mel_error *err);
bool mel_training_is_right(const mel_flow *flow, const json_t *item, const json_t *views,
                           const json_t *answer);
/* The number that the item asks for, in people or percent. */
double mel_training_number(const json_t *item, const json_t *views);

#endif
