/* Better middles of questions, by steps uphill. */
#include "elicit/active/ask/climb.h"

#include "base/la.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    POWER_STEPS =
        12,       /* towards the leading eigenvector: what is left out is made up for by other candidates */
    SHORTENED = 4 /* how often a step that leads down is shortened */
};
/* First step as a share of the radius; how steps grow and shrink; where climbing ends. */
static const double first_step = 0.5, longer = 1.3, shorter = 0.4, least_step = 1e-3;

void mel_climb_free(mel_climb *climb)
{
    free(climb->delta);
    *climb = (mel_climb){ 0 };
}

mel_status mel_climb_new(mel_climb *climb, mel_pair_gain *pairs, const double *weight, mel_error *err)
{
    const size_t d = pairs->f->dimension, s = pairs->f->size;
    *climb = (mel_climb){ .pairs = pairs, .weight = weight };
    const mel_part parts[] = {
        { s, { &climb->delta, &climb->power, &climb->next, &climb->a, &climb->b, &climb->uphill } },
        { d, { &climb->row, &climb->seen, &climb->weighted, &climb->gradient } },
        { s * s, { &climb->matrix } },
        { d * s, { &climb->share } }
    };
    if (!mel_parts_new(MEL_PARTS(parts)))
        return mel_fail_memory(err, "the questions");
    return MEL_OK;
}

/* What every coefficient's variance gives, weighted, into share; their sum of squares into matrix. Starts the
 * power steps at the largest. */
static void gather(mel_climb *climb)
{
    const mel_pair_gain *pairs = climb->pairs;
    const size_t d = pairs->f->dimension, s = pairs->f->size;
    double most = -1.0;
    memset(climb->matrix, 0, s * s * sizeof(double));
    memcpy(climb->share, pairs->through, d * s * sizeof(double));
    for (size_t j = 0; j < d; j++) {
        double *share = climb->share + j * s;
        mel_pair_gain_halfway(pairs, share);
        mel_scale(s, sqrt(climb->weight[j]), share);
        for (size_t i = 0; i < s; i++)
            mel_axpy(s, share[i], share, climb->matrix + i * s);
        const double square = mel_dot(s, share, share);
        if (square > most) {
            most = square;
            memcpy(climb->power, share, s * sizeof(double));
        }
    }
}

double mel_climb_look(mel_climb *climb, const double *c)
{
    const size_t s = climb->pairs->f->size;
    mel_pair_gain_from(climb->pairs, c);
    mel_pair_gain_centre(climb->pairs);
    gather(climb);
    double value = 0.0;
    for (int step = 0; step < POWER_STEPS; step++) {
        const double length = mel_norm2(s, climb->power);
        if (!(length > 0.0))
            return 0.0;
        mel_scale(s, 1.0 / length, climb->power);
        for (size_t i = 0; i < s; i++)
            climb->next[i] = mel_dot(s, climb->matrix + i * s, climb->power);
        value = mel_dot(s, climb->next, climb->power);
        memcpy(climb->power, climb->next, s * sizeof(double));
    }
    memcpy(climb->delta, climb->power, s * sizeof(double));
    mel_pair_gain_back(climb->pairs, climb->delta);
    return value;
}

/* Into uphill: how the score of the delta just found changes with the middle, up to a factor. With x the row
 * of the pair, W the weights and P the penalty, the score is x'CWCx / (x'Cx + P <x, mean>^2); g its gradient
 * in x, what changes with the middle is <x, g> = 2 <delta, slope of g>, whose gradient is that of the slope,
 * affine and symmetric, along delta. */
static void find_uphill(mel_climb *climb, const double *c)
{
    const mel_pair_gain *pairs = climb->pairs;
    const mel_basis *f = pairs->f;
    const size_t d = f->dimension, s = f->size;
    mel_basis_place(f, c, 0.5, climb->delta, climb->a, climb->b);
    f->ops->row(f, climb->a, climb->b, climb->row);
    for (size_t i = 0; i < d; i++) {
        climb->seen[i] = mel_dot(d, pairs->covariance + i * d, climb->row);
        climb->weighted[i] = climb->weight[i] * climb->seen[i];
    }
    const double off = mel_dot(d, climb->row, pairs->mean);
    const double below = mel_dot(d, climb->row, climb->seen) + pairs->penalty * off * off;
    const double score = mel_dot(d, climb->seen, climb->weighted) / below;
    for (size_t i = 0; i < d; i++)
        climb->gradient[i] = mel_dot(d, pairs->covariance + i * d, climb->weighted) -
                             score * (climb->seen[i] + pairs->penalty * off * pairs->mean[i]);
    memset(climb->a, 0, s * sizeof(double));
    f->ops->slope(f, climb->delta, climb->gradient, climb->uphill);
    f->ops->slope(f, climb->a, climb->gradient, climb->b);
    mel_axpy(s, -1.0, climb->b, climb->uphill);
}

double mel_climb_improve(mel_climb *climb, double *c, double score, double *trial, int steps)
{
    const mel_basis *f = climb->pairs->f;
    const size_t s = f->size;
    double step = first_step;
    for (int i = 0; i < steps && step >= least_step; i++) {
        (void)mel_climb_look(climb, c);
        find_uphill(climb, c);
        const double length = mel_norm2(s, climb->uphill);
        if (!(length > 0.0) || !isfinite(length))
            break;
        for (int tries = 0; tries < SHORTENED; tries++) {
            memcpy(trial, c, s * sizeof(double));
            mel_axpy(s, step * f->radius / length, climb->uphill, trial);
            mel_basis_keep_in_shell(f, trial);
            const double there = mel_climb_look(climb, trial);
            if (there > score) {
                score = there;
                memcpy(c, trial, s * sizeof(double));
                step *= longer;
                break;
            }
            step *= shorter;
        }
    }
    return score;
}
