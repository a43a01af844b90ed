/* What a wrong exchange rate costs on a test. */
#include "elicit/active/ask/regret.h"

#include <math.h>

enum { CELLS = MEL_EXCHANGE_CELLS };
/* A setting that loses more than this share of what the best one adds is not yet settled. */
static const double settled_loss = 0.05;
/* Where the best setting adds less than this share of the most that it adds at any rate, a trivial one is
 * about as good, and losses are compared with this. */
static const double least_added = 0.01;

static mel_point unit_weight(double rho, bool turned)
{
    const double r = exp(rho), norm = (turned ? -1.0 : 1.0) / sqrt(1.0 + r * r);
    return (mel_point){ norm * r, norm };
}

static double worth(mel_point weight, mel_point setting)
{
    return weight.tp * setting.tp + weight.tn * setting.tn;
}

mel_status mel_regret_init(mel_regret *regret, const mel_face *face, bool turned, mel_error *err)
{
    const mel_point all = { mel_face_positives(face), 0.0 }, none = { 0.0, mel_face_negatives(face) };
    double most = 0.0;
    regret->face = face;
    regret->turned = turned;
    for (size_t c = 0; c < CELLS; c++) {
        const mel_point weight = unit_weight(mel_exchange_cell(c), turned);
        mel_point best;
        TRY(mel_face_support(&best, face, weight.tp, weight.tn, err));
        regret->weight[c] = weight;
        regret->best[c] = worth(weight, best);
        regret->added[c] = regret->best[c] - fmax(worth(weight, all), worth(weight, none));
        most = fmax(most, regret->added[c]);
    }
    for (size_t c = 0; c < CELLS; c++)
        regret->added[c] = fmax(regret->added[c], least_added * most);
    return MEL_OK;
}

double mel_regret_expected(const mel_regret *regret, const double *mass)
{
    double best = 0.0;
    mel_point mean = { 0.0, 0.0 }, setting = { 0.0, 0.0 };
    for (size_t c = 0; c < CELLS; c++) {
        best += mass[c] * regret->best[c];
        mean.tp += mass[c] * regret->weight[c].tp;
        mean.tn += mass[c] * regret->weight[c].tn;
    }
    if (mel_face_support(&setting, regret->face, mean.tp, mean.tn, NULL) != MEL_OK)
        return 0.0; /* no mass at all */
    return fmax(0.0, best - worth(mean, setting));
}

double mel_regret_doubt(const mel_regret *regret, const double *mass, double rho)
{
    const mel_point weight = unit_weight(rho, regret->turned);
    mel_point setting = { 0.0, 0.0 };
    double doubt = 0.0;
    if (mel_face_support(&setting, regret->face, weight.tp, weight.tn, NULL) != MEL_OK)
        return 1.0;
    for (size_t c = 0; c < CELLS; c++)
        if (regret->best[c] - worth(regret->weight[c], setting) > settled_loss * regret->added[c])
            doubt += mass[c];
    return doubt;
}
