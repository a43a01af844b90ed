/* How likely answers are by other descriptions than an exchange rate: a limit that pairs must keep, or a rate
 * that moves with the level, the side or the time. */
#include "elicit/active/posterior/misfit.h"

#include <math.h>
#include <stdlib.h>

/* --- limits --------------------------------------------------------------------------------------- */

/* A limit is compared with an exchange rate that is believed in the same way, too: its noise has the same
 * steps. */
static mel_status weigh_limit(mel_description *out, const mel_exchange *x, mel_misfit_kind kind,
                              double positives, double negatives, mel_error *err)
{
    mel_aim *l = mel_alloc(2, sizeof *l);
    if (l == NULL)
        return mel_fail_memory(err, "what answers may aim at");
    mel_aim_start(&l[0], kind, positives, negatives, x->n_ties);
    mel_aim_start(&l[1], MEL_MISFIT_NONE, positives, negatives, x->n_ties);
    for (size_t i = 0; i < x->n; i++)
        for (size_t k = 0; k < 2; k++)
            mel_aim_hear(&l[k], x->trade[i], x->answer[i]);
    *out = (mel_description){ .evidence = l[0].evidence - fmax(l[1].evidence, x->evidence),
                              .value = mel_aim_quantile(&l[0], 0.5),
                              .low = mel_aim_quantile(&l[0], 0.025),
                              .high = mel_aim_quantile(&l[0], 0.975) };
    if (kind == MEL_MISFIT_MISSED_FIRST || kind == MEL_MISFIT_ALARMS_FIRST) { /* a logarithm */
        out->value = exp(out->value);
        out->low = exp(out->low);
        out->high = exp(out->high);
    }
    free(l);
    return MEL_OK;
}

/* --- rates that move -------------------------------------------------------------------------------- */

/* How far the rate is moved when answer i is given, in units of the whole movement. */
static double movement(mel_misfit_kind kind, const mel_exchange *x, size_t i, double positives)
{
    const mel_trade t = x->trade[i];
    if (kind == MEL_MISFIT_DRIFT)
        return ((double)i + 0.5) / (double)x->n - 0.5;
    if (kind == MEL_MISFIT_SIDE)
        return t.swapped ? -0.5 : 0.5;
    double mean = 0.0;
    for (size_t k = 0; k < x->n; k++)
        mean += (x->trade[k].least_tp + 0.5 * x->trade[k].tp) / (double)x->n;
    return (t.least_tp + 0.5 * t.tp - mean) / positives;
}

static mel_status weigh_movement(mel_description *out, const mel_exchange *x, mel_misfit_kind kind,
                                 double positives, mel_error *err)
{
    /* Natural logarithm: from none to all found, from B to A, from the first answer to the last. */
    static const double by[3][4] = { { -6.0, 6.0, -15.0, 15.0 },
                                     { -1.0, 1.0, -3.0, 3.0 },
                                     { -1.2, 1.2, -2.4, 2.4 } };
    const double *tried = by[kind - MEL_MISFIT_LEVEL];
    double *moved = mel_alloc(x->n + 1, sizeof *moved), most = -INFINITY, sum = 0.0;
    if (moved == NULL)
        return mel_fail_memory(err, "the answers");
    mel_status status = MEL_OK;
    for (size_t k = 0; k < 4 && status == MEL_OK; k++) {
        double evidence = 0.0;
        for (size_t i = 0; i < x->n; i++)
            moved[i] = tried[k] * movement(kind, x, i, positives);
        status = mel_exchange_moved(&evidence, x, moved, err);
        if (evidence > most) {
            most = evidence;
            out->value = tried[k];
        }
        sum += 0.25 * exp(evidence);
    }
    free(moved);
    out->evidence = kind == MEL_MISFIT_DRIFT ? most : log(sum);
    out->low = out->high = NAN;
    return status;
}

mel_status mel_misfit_weigh(mel_description *out, const mel_exchange *x, mel_misfit_kind kind,
                            double positives, double negatives, mel_error *err)
{
    return kind >= MEL_MISFIT_LEVEL ? weigh_movement(out, x, kind, positives, err)
                                    : weigh_limit(out, x, kind, positives, negatives, err);
}
