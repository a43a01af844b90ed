/* How a procedure of the thesis asks its next question. */
#include "elicit/prefer.h"

mel_preference mel_prefer(mel_replay *replay)
{
    if (replay->used == replay->n_answers)
        return MEL_PENDING;
    return replay->answers[replay->used++] == MEL_ANSWER_A ? MEL_FIRST : MEL_SECOND;
}
