/* The engine around a procedure of the thesis: its answers, replayed. */
#include "elicit/search/procedure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

mel_status mel_procedure_init(mel_procedure *procedure, size_t dimension, mel_error *err)
{
    procedure->replay.dimension = dimension;
    procedure->replay.a = mel_alloc_zero(dimension, sizeof *procedure->replay.a);
    procedure->replay.b = mel_alloc_zero(dimension, sizeof *procedure->replay.b);
    procedure->recorded = mel_alloc_zero((size_t)MEL_COMPARED * 2 * dimension, sizeof *procedure->recorded);
    const bool room =
        procedure->replay.a != NULL && procedure->replay.b != NULL && procedure->recorded != NULL;
    return room ? MEL_OK : mel_fail_memory(err, "a question of the search");
}

void mel_procedure_clear(mel_procedure *procedure)
{
    free(procedure->replay.a);
    free(procedure->replay.b);
    free(procedure->answers);
    free(procedure->recorded);
}

static mel_status run_over(mel_procedure *procedure, size_t n_answers, mel_error *err)
{
    procedure->replay.answers = procedure->answers;
    procedure->replay.n_answers = n_answers;
    procedure->replay.used = 0;
    return procedure->run(procedure, err);
}

/* The pair of answer i, where it was recorded. */
static double *recorded_pair(const mel_procedure *procedure, size_t i)
{
    return procedure->recorded + i % MEL_COMPARED * 2 * procedure->replay.dimension;
}

/* Far more than rounding, also of a model that another machine trained. */
static bool is_about(const mel_procedure *procedure, const double *pair)
{
    const double far = 1e-3;
    const size_t n = procedure->replay.dimension;
    for (size_t i = 0; i < n; i++)
        if (fabs(pair[i] - procedure->replay.a[i]) > far || fabs(pair[n + i] - procedure->replay.b[i]) > far)
            return false;
    return true;
}

/* Recorded answers count by their place, whatever the last digits of the pairs. That they are this
 * procedure's shows in the last of the pairs: one may be another where two points are best alike, not all. */
static mel_status check_recorded(mel_procedure *procedure, mel_error *err)
{
    const size_t n = procedure->replay.n_answers;
    const size_t compared = procedure->n_recorded < MEL_COMPARED ? procedure->n_recorded : MEL_COMPARED;
    bool found = compared == 0;
    for (size_t i = n - compared; i < n && !found; i++) {
        const mel_status status = run_over(procedure, i, err);
        procedure->replay.n_answers = n;
        if (status != MEL_OK)
            return status;
        found = procedure->pending && is_about(procedure, recorded_pair(procedure, i));
    }
    if (!found)
        return mel_fail(
            err, MEL_EDATA,
            "question %zu was about another pair than this search asks about there: the log is of "
            "another procedure, or of another version of this one",
            n);
    procedure->n_recorded = 0;
    return MEL_OK;
}

mel_status mel_procedure_settle(mel_procedure *procedure, mel_error *err)
{
    if (procedure->settled)
        return MEL_OK;
    TRY(check_recorded(procedure, err));
    const mel_status status = run_over(procedure, procedure->replay.n_answers, err);
    procedure->settled = status == MEL_OK;
    return status;
}

mel_status mel_procedure_next(mel_engine *engine, mel_pair *pair, mel_end *end, mel_error *err)
{
    mel_procedure *procedure = (mel_procedure *)engine;
    const mel_status status = mel_procedure_settle(procedure, err);
    if (status != MEL_OK)
        return status;
    *end = procedure->pending ? MEL_END_NOT_YET : procedure->at_end ? MEL_END_RANGE : MEL_END_TOLERANCE;
    const size_t bytes = procedure->replay.dimension * sizeof *pair->a;
    memcpy(pair->a, procedure->replay.a, bytes);
    memcpy(pair->b, procedure->replay.b, bytes);
    pair->repeated = false;
    return MEL_OK;
}

mel_status mel_procedure_tell(mel_engine *engine, const mel_pair *pair, mel_answer answer, mel_error *err)
{
    mel_procedure *procedure = (mel_procedure *)engine;
    mel_replay *replay = &procedure->replay;
    const size_t bytes = replay->dimension * sizeof *pair->a;
    if (replay->n_answers == procedure->capacity) {
        const size_t capacity = procedure->capacity == 0 ? 64 : 2 * procedure->capacity;
        void *block = procedure->answers;
        if (!mel_grow(&block, capacity, sizeof *procedure->answers))
            return mel_fail_memory(err, "the answers");
        procedure->answers = block;
        procedure->capacity = capacity;
    }
    double *kept = recorded_pair(procedure, replay->n_answers);
    memcpy(kept, pair->a, bytes);
    memcpy(kept + replay->dimension, pair->b, bytes);
    procedure->n_recorded = procedure->settled ? 0 : procedure->n_recorded + 1;
    procedure->answers[replay->n_answers++] = answer;
    procedure->settled = false;
    return MEL_OK;
}

mel_status mel_procedure_posterior(mel_engine *engine, size_t n, double *angle, double *density,
                                   mel_error *err)
{
    (void)engine;
    (void)n;
    (void)angle;
    (void)density;
    return mel_fail(err, MEL_ESTATE, "the search strategy keeps an interval, not a posterior");
}

uint32_t mel_procedure_expected(mel_engine *engine)
{
    const mel_procedure *procedure = (mel_procedure *)engine;
    const size_t told = procedure->replay.n_answers;
    return told < procedure->total ? procedure->total - (uint32_t)told : 0;
}

mel_sign_check mel_procedure_signs(const mel_procedure *procedure)
{
    return !procedure->pending && procedure->pressed ? MEL_SIGNS_PRESSED : MEL_SIGNS_FREE;
}
