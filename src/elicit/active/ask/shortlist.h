/* The best few candidates for the next question, and what answers to a question are expected to tell. */
#ifndef MEL_ACTIVE_SHORTLIST_H
#define MEL_ACTIVE_SHORTLIST_H

#include "base/internal.h"

typedef struct {
    double information; /* expected, in bits */
    double reduction;   /* expected share of the variance that the answer takes away */
    double margin;      /* mean absolute difference of the pair's utilities over the samples */
} mel_outlook;

/* A pair around c along +-delta; of two classes, where only these differ. Once it is placed these are its
 * ends. */
typedef struct {
    double *c, *delta;
    mel_outlook outlook;
    size_t i, j;
    double score;
} mel_candidate;

enum { MEL_SHORTLIST = 16, MEL_LONG_SHORTLIST = 32 };
typedef struct {
    size_t size, n, most; /* numbers in a point; candidates, at most */
    mel_candidate at[MEL_LONG_SHORTLIST];
} mel_shortlist;

/* An empty one of at most MEL_LONG_SHORTLIST; room: 2 x most x size numbers, lent. */
void mel_shortlist_new(mel_shortlist *list, size_t most, size_t size, double *room);
/* A candidate around c, delta being 0, in place of the worst when the list is full; NULL: not good enough. */
mel_candidate *mel_shortlist_admit(mel_shortlist *list, double score, const double *c);

/* Of an answer that comes with probability p, in bits. */
double mel_entropy(double p);
/* What an answer tells that comes as A with probability likely[i] if sample i is the truth: only
 * `information`. *share: the mean of these. */
mel_outlook mel_outlook_of(size_t n, const double *likely, double *share);

#endif
