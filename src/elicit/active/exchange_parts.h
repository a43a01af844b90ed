/* What the files of the engine for cost ratios share: exchange.c asks, exchange_result.c says what was found.
 */
#ifndef MEL_ACTIVE_EXCHANGE_PARTS_H
#define MEL_ACTIVE_EXCHANGE_PARTS_H

#include "elicit/active/ask/levels.h"
#include "elicit/active/engine.h"
#include "elicit/active/posterior/exchange.h"

typedef struct {
    mel_active base;
    const mel_face *face;
    mel_exchange exchange;
    mel_levels level[2]; /* of the test at hand; of an imagined one */
    bool imagined;       /* the questions are about that one */
    bool real_first;     /* they were not from the start */
    bool checking;       /* the questions tell luck from care */
    bool turned;         /* right decisions are punished: answers are read the other way round */
    double information;  /* bits that the next question is expected to tell */
    double *work;
    /* The drift that was found after so many answers: results are asked for more often than answers come. */
    int drift;
    size_t drift_after;
} mel_exchange_engine;

/* The pairs that can be asked about, and their lowest and highest rates; false: there are none. */
const mel_levels *mel_exchange_levels(const mel_exchange_engine *e);
bool mel_exchange_askable(const mel_exchange_engine *e, double *low, double *high);
/* How much wider what is known is than asked for; 1: just narrow enough. */
double mel_exchange_known_width(const mel_exchange_engine *e);
/* Whether what is asked about cannot tell more: all of the posterior is below or above it. */
bool mel_exchange_is_beyond(const mel_exchange_engine *e);
/* Whether what would be reported is as narrow as asked for. */
bool mel_exchange_is_precise(const mel_active *base);

/* As in mel_engine_ops. */
mel_status mel_exchange_find_result(mel_engine *base, mel_metric **metric, mel_summary *summary,
                                    mel_error *err);
mel_status mel_exchange_find_posterior(mel_engine *base, size_t n, double *angle, double *density,
                                       mel_error *err);
mel_status mel_exchange_find_draws(mel_engine *base, size_t *n, size_t *n_coefficients, double **values,
                                   mel_error *err);
uint32_t mel_exchange_find_expected(mel_engine *base);

#endif
