#include "elicit/prefer.h"

#include <string.h>

mel_preference mel_recall(mel_replay *replay)
{
    if (replay->used == replay->n_answers)
        return MEL_PENDING;
    return replay->answers[replay->used++] == MEL_ANSWER_A ? MEL_FIRST : MEL_SECOND;
}

mel_preference mel_prefer(mel_replay *replay, const double *a, const double *b)
{
    const mel_preference preference = mel_recall(replay);
    if (preference == MEL_PENDING) {
        memcpy(replay->a, a, replay->dimension * sizeof *a);
        memcpy(replay->b, b, replay->dimension * sizeof *b);
    }
    return preference;
}
