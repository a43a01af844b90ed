/* prefer(): how a thesis procedure asks. It is an ordinary function that calls mel_prefer as if the
 * oracle answered at once; past the end of the recorded answers mel_prefer notes the question and
 * returns MEL_PENDING, and the procedure returns all the way out. Replaying is calling it again. */
#ifndef MEL_ELICIT_PREFER_H
#define MEL_ELICIT_PREFER_H

#include "base/internal.h"
#include "melicit/oracle.h"

typedef enum { MEL_PENDING = -1, MEL_SECOND = 0, MEL_FIRST = 1 } mel_preference;

typedef struct {
    size_t dimension; /* numbers in a statistics vector */
    const mel_answer *answers;
    size_t n_answers, used;
    double *a, *b; /* the pending question, dimension numbers each; owned by the caller */
} mel_replay;

/* Whether a is preferred to b: 1[phi(a) > phi(b)]. "About the same" counts as not preferred, as in
 * the thesis' oracle. */
mel_preference mel_prefer(mel_replay *replay, const double *a, const double *b);
/* The same without the points, for procedures whose points take work: the next recorded answer, or
 * MEL_PENDING and the caller fills in replay->a and replay->b. */
mel_preference mel_recall(mel_replay *replay);

#endif
