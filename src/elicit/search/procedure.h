/* An engine around a procedure of the thesis: it keeps the answers, runs the procedure over them and hands
 * out the question at which it stops. How many questions there will be is known from the start. */
#ifndef MEL_ELICIT_SEARCH_PROCEDURE_H
#define MEL_ELICIT_SEARCH_PROCEDURE_H

#include "elicit/engine.h"
#include "elicit/search/prefer.h"

enum { MEL_COMPARED = 3 };

typedef struct mel_procedure mel_procedure;
struct mel_procedure {
    mel_engine base;
    /* Runs over the recorded answers from the first one, to its end (pending: false) or to the first question
     * without an answer (true), whose points are then in replay.a and replay.b. */
    mel_status (*run)(mel_procedure *procedure, mel_error *err);
    uint32_t total; /* questions from start to end */
    bool pending;
    /* Of a run to its end. at_end: the best point was sought up to an end of its range, so that the metric
     * may lie beyond it. pressed: the same of the worst point, where linear-fractional metrics such as F1
     * belong, or no slope was found with the signs declared: they may be wrong. */
    bool at_end, pressed;
    mel_replay replay;
    mel_answer *answers;
    size_t capacity;
    bool settled; /* has run over all answers */
    /* The last pairs that were told without having been asked for: those of a log. */
    size_t n_recorded;
    double *recorded; /* MEL_COMPARED x 2 points, by the answer's number */
};

/* Room for points of `dimension` numbers. On failure, too, the procedure is for mel_procedure_clear. */
mel_status mel_procedure_init(mel_procedure *procedure, size_t dimension, mel_error *err);
void mel_procedure_clear(mel_procedure *procedure);
/* Runs unless it has run over these answers already. */
mel_status mel_procedure_settle(mel_procedure *procedure, mel_error *err);

/* The engine's operations that are the same for all procedures. */
mel_status mel_procedure_next(mel_engine *engine, mel_pair *pair, mel_end *end, mel_error *err);
mel_status mel_procedure_tell(mel_engine *engine, const mel_pair *pair, mel_answer answer, mel_error *err);
mel_status mel_procedure_posterior(mel_engine *engine, size_t n, double *angle, double *density,
                                   mel_error *err);
uint32_t mel_procedure_expected(mel_engine *engine);
/* For the summary of a result, after settling. */
mel_sign_check mel_procedure_signs(const mel_procedure *procedure);

#endif
