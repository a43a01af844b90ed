/* The inside of a session, for the files that make it up: session.c (questions and answers), session_log.c
 * (its file), session_view.c (what can be seen of it). */
#ifndef MEL_ELICIT_SESSION_H
#define MEL_ELICIT_SESSION_H

#include "elicit/engine.h"
#include "elicit/log.h"
#include "elicit/options.h"

/* What the answers so far say, found once between two answers, when somebody looks. */
typedef struct {
    mel_metric *metric; /* the engine's, with its summary; NULL: not found yet */
    mel_summary summary;
    double *draw; /* n_draws x n_coefficients; NULL: not found yet */
    size_t n_draws, n_coefficients;
    mel_metric *reported; /* the same with all that mel_session_result adds; NULL: not found yet */
    mel_summary said;
} mel_found;

struct mel_session {
    mel_domain domain;
    mel_layout layout;
    size_t size; /* numbers in a point */
    mel_kept_options options;
    double face_share[2]; /* class shares of a face */
    mel_engine *engine;
    mel_log *log;
    mel_record *entries; /* the answered questions, without a and b, which are in the points */
    double *points;      /* of the answered questions: A then B of each */
    size_t n_entries, capacity;
    bool broken; /* memory and log differ: nothing can go on */
    mel_found found;
    /* The pending question, when it has been asked; otherwise why there is none, if that is known. */
    bool asked;
    uint32_t again; /* the answered question that it is by wish; 0: none */
    mel_end end;
    double *room; /* of the pending pair: A, then B */
    char note[2][MEL_NOTE_TEXT];
    mel_pair pending;
    mel_question question;
};

/* Neither side was preferred, nor were they about the same. */
static inline bool mel_answer_unsaid(mel_answer answer)
{
    return answer == MEL_ANSWER_SKIP || answer == MEL_ANSWER_NEITHER;
}
/* Question i's points, as the engine wants them. */
mel_pair mel_session_pair(const mel_session *session, size_t index);
/* P(Y = i); NULL: unknown. */
const double *mel_session_class_share(const mel_session *session);
/* Makes a question of the pending pair. */
void mel_session_show_pending(mel_session *session);
/* Question i as a line of the log. */
mel_log_line mel_session_log_line(const mel_session *session, size_t index);
/* Finds the pending question, or the reason why there is none. */
mel_status mel_session_propose(mel_session *session, mel_error *err);
/* Forgets what the answers said: there are others, or the end is another one. */
void mel_session_forget(mel_session *session);
/* Finds the engine's metric and summary; its draws. MEL_ESTATE where there are no draws. */
mel_status mel_session_find_metric(mel_session *session, mel_error *err);
mel_status mel_session_find_draws(mel_session *session, mel_error *err);
/* Takes an answered question in, not yet in the log. */
mel_status mel_session_accept(mel_session *session, const mel_record *said, mel_error *err);
/* The earlier question that question i (0-based) repeats with its sides swapped, both of them answered;
 * SIZE_MAX: none. */
size_t mel_session_repeats(const mel_session *session, size_t index);
/* How likely answers like these are from a respondent as assumed: mel_summary's consistency. */
mel_status mel_session_consistency(double *out, const mel_session *session, const mel_metric *metric,
                                   const mel_summary *summary, mel_error *err);
/* finding.c. Sets the summary's finding where a metric of the active strategy is degenerate, and widens the
 * intervals of what has no meaning then. */
mel_status mel_session_judge(mel_summary *summary, mel_metric *metric, const mel_session *session,
                             mel_error *err);
/* signs.c. Which way the utility counts number i of a group, as declared; 0: unknown. */
int mel_sign_declared(const mel_session *session, size_t i);
/* signs.c. Sets the summary's signs; its finding must be known. */
mel_status mel_session_judge_signs(mel_summary *summary, mel_session *session, const mel_metric *metric,
                                   mel_error *err);
/* An engine that has heard the first n answers, and going on with it. */
mel_status mel_session_rebuild(mel_engine **out, const mel_session *session, size_t n, mel_error *err);
void mel_session_adopt(mel_session *session, mel_engine *fresh, size_t n);

#endif
