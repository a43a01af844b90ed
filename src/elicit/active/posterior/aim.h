/* Somebody who looks at one number of a pair and whether it reaches a limit: a share that must be found, a
 * difference that counts first. The posterior of that limit, noise averaged out. */
#ifndef MEL_ACTIVE_AIM_H
#define MEL_ACTIVE_AIM_H

#include "base/internal.h"
#include "melicit/elicit.h"
#include "oracle/noise/noise.h"

/* A pair, turned so that the first of the two has more true positives; shares. tn <= 0: the first is better
 * in both, whatever is aimed at. */
typedef struct {
    double tp, tn;
    double least_tp, least_tn; /* true positives of the second, true negatives of the first */
    bool swapped;              /* the first is B */
} mel_trade;
/* Which of the two was preferred. */
typedef enum { MEL_TRADE_FIRST, MEL_TRADE_SECOND, MEL_TRADE_SAME } mel_trade_answer;

enum { MEL_AIM_LIMITS = 80, MEL_AIM_SPREADS = 3, MEL_AIM_LAPSES = 3 };
typedef struct {
    mel_misfit_kind kind;        /* NONE: an exchange rate, for comparison; else up to ALARMS_FIRST */
    double positives, negatives; /* their shares among the people whom pairs are about */
    size_t n_ties;               /* 1: nobody answered "about the same" yet */
    double joint[MEL_TIES][MEL_AIM_SPREADS][MEL_AIM_LAPSES][MEL_AIM_LIMITS]; /* sums to 1 */
    double mass[MEL_AIM_LIMITS];                                             /* of the limits; sums to 1 */
    double evidence; /* log of how much likelier the answers are than coin tosses */
} mel_aim;

void mel_aim_start(mel_aim *l, mel_misfit_kind kind, double positives, double negatives, size_t n_ties);
void mel_aim_hear(mel_aim *l, mel_trade trade, mel_trade_answer answer);
double mel_aim_at(const mel_aim *l, double place); /* the limit so many places up the list */
double mel_aim_quantile(const mel_aim *l, double q);
/* Joint probabilities of each limit and the answers "first" and "second". */
void mel_aim_outcomes(double *first, double *second, const mel_aim *l, mel_trade trade);

#endif
