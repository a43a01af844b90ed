/* What a wrong exchange rate costs on a test: how much less a setting is worth than the best one, in every
 * cell of the posterior (posterior/exchange.h). In a cell the loss is linear in the setting, and so is its
 * mean over any belief: the setting with the least expected loss is where the test's boundary supports that
 * mean. */
#ifndef MEL_ACTIVE_REGRET_H
#define MEL_ACTIVE_REGRET_H

#include "elicit/active/posterior/exchange.h"
#include "melicit/face.h"

typedef struct {
    const mel_face *face; /* lent */
    bool turned;          /* right decisions are punished */
    /* For the unit metric of each cell: the best setting's value, and what it adds to flagging all or none
     * (at least some share of the most that it adds in any cell). */
    double best[MEL_EXCHANGE_CELLS], added[MEL_EXCHANGE_CELLS];
    mel_point weight[MEL_EXCHANGE_CELLS];
} mel_regret;

mel_status mel_regret_init(mel_regret *regret, const mel_face *face, bool turned, mel_error *err);
/* The expected loss by the best setting for a belief, one mass for each cell; in proportion to their sum. */
double mel_regret_expected(const mel_regret *regret, const double *mass);
/* The probability that the best setting for rho loses more than 5% of what the best one adds. */
double mel_regret_doubt(const mel_regret *regret, const double *mass, double rho);

#endif
