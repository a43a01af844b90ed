/* The engine around a procedure of the thesis: its answers, replayed. */
#include "elicit/search/procedure.h"

#include <stdlib.h>
#include <string.h>

mel_status mel_procedure_init(mel_procedure *procedure, size_t dimension, mel_error *err)
{
    procedure->replay.dimension = dimension;
    procedure->replay.a = mel_alloc_zero(dimension, sizeof *procedure->replay.a);
    procedure->replay.b = mel_alloc_zero(dimension, sizeof *procedure->replay.b);
    const bool room = procedure->replay.a != NULL && procedure->replay.b != NULL;
    return room ? MEL_OK : mel_fail_memory(err, "a question of the search");
}

void mel_procedure_clear(mel_procedure *procedure)
{
    free(procedure->replay.a);
    free(procedure->replay.b);
    free(procedure->answers);
}

mel_status mel_procedure_settle(mel_procedure *procedure, mel_error *err)
{
    if (procedure->settled)
        return MEL_OK;
    procedure->replay.answers = procedure->answers;
    procedure->replay.used = 0;
    const mel_status status = procedure->run(procedure, err);
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
    (void)pair;
    mel_procedure *procedure = (mel_procedure *)engine;
    mel_replay *replay = &procedure->replay;
    if (replay->n_answers == procedure->capacity) {
        const size_t capacity = procedure->capacity == 0 ? 64 : 2 * procedure->capacity;
        void *block = procedure->answers;
        if (!mel_grow(&block, capacity, sizeof *procedure->answers))
            return mel_fail_memory(err, "the answers");
        procedure->answers = block;
        procedure->capacity = capacity;
    }
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
