/* prefer(): how a thesis procedure asks. It is an ordinary function that calls mel_prefer as if the
 * oracle answered at once; past the end of the recorded answers it writes its question down and returns all
 * the way out. Replaying is calling it again; the points of questions that have answers are not needed. */
#ifndef MEL_ELICIT_SEARCH_PREFER_H
#define MEL_ELICIT_SEARCH_PREFER_H

#include "base/internal.h"
#include "melicit/oracle.h"

typedef enum { MEL_PENDING = -1, MEL_SECOND = 0, MEL_FIRST = 1 } mel_preference;

typedef struct {
    size_t dimension; /* numbers in a statistics vector */
    const mel_answer *answers;
    size_t n_answers, used;
    double *a, *b; /* the pending question, dimension numbers each; owned by the caller */
} mel_replay;

/* Whether the first point of the procedure's next question is preferred to the second: 1[phi(a) > phi(b)].
 * "About the same" counts as not preferred, as in the thesis' oracle. MEL_PENDING: there is no answer yet,
 * and the caller writes the points into replay->a and replay->b. */
mel_preference mel_prefer(mel_replay *replay);

#endif
