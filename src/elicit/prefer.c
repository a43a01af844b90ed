#include "elicit/prefer.h"

#include <string.h>

mel_preference mel_prefer(mel_replay *replay, const double *a, const double *b)
{
    const size_t bytes = replay->dimension * sizeof *a;
    if (replay->used < replay->n_answers)
        return replay->answers[replay->used++] == MEL_ANSWER_A ? MEL_FIRST : MEL_SECOND;
    memcpy(replay->a, a, bytes);
    memcpy(replay->b, b, bytes);
    return MEL_PENDING;
}
