/* From a metric back to the vector in which its utility is linear: the w whose rows give the metric's own
 * differences at enough pairs of points. The same for every family, so that none has to invert what it
 * reports. */
#include "elicit/active/family.h"

#include "base/la.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Largest part of the differences that a metric of the family leaves unexplained, by rounding. */
static const double most_unexplained = 1e-6;

/* Least squares round differently on different processors, and questions must not depend on that. */
static const double grain = 1073741824.0;

typedef struct {
    size_t pairs;
    double *row, *difference; /* pairs x D, pairs; both overwritten by the solver */
    double *whole;            /* pairs: differences as they were */
    double *point;            /* two of them */
    double *w;                /* D */
} fit;

static mel_status make_fit(fit *t, const mel_basis *f, mel_error *err)
{
    const size_t pairs = t->pairs = 2 * f->dimension + 8;
    t->w = mel_alloc_zero(f->dimension, sizeof *t->w);
    t->row = mel_alloc_zero(pairs * (f->dimension + 2) + 2 * f->size, sizeof *t->row);
    if (t->w == NULL || t->row == NULL) {
        (void)mel_fail_memory(err, "the prior");
        return MEL_ENOMEM;
    }
    t->difference = t->row + pairs * f->dimension;
    t->whole = t->difference + pairs;
    t->point = t->whole + pairs;
    return MEL_OK;
}

/* Points are anywhere between 0 and 1: what the metric is in the formula, not what can be achieved. */
static mel_status take_pair(fit *t, size_t i, const mel_basis *f, const mel_metric *metric, mel_rng *rng,
                            mel_error *err)
{
    for (size_t j = 0; j < 2 * f->size; j++)
        t->point[j] = mel_rng_uniform(rng);
    f->ops->row(f, t->point, t->point + f->size, t->row + i * f->dimension);
    return mel_metric_compare(&t->whole[i], metric, t->point, t->point + f->size, err);
}

static double unexplained(const fit *t, const mel_basis *f, mel_rng *rng)
{
    double left = 0.0, all = 0.0;
    double *row = t->row; /* free again */
    for (size_t i = 0; i < t->pairs; i++) {
        for (size_t j = 0; j < 2 * f->size; j++)
            t->point[j] = mel_rng_uniform(rng);
        f->ops->row(f, t->point, t->point + f->size, row);
        const double miss = t->whole[i] - mel_dot(f->dimension, row, t->w);
        left += miss * miss;
        all += t->whole[i] * t->whole[i];
    }
    return all > 0.0 ? sqrt(left / all) : INFINITY;
}

static mel_status solve(fit *t, const mel_basis *f, const mel_metric *metric, mel_error *err)
{
    const size_t d = f->dimension;
    mel_rng rng, again;
    mel_rng_seed(&rng, 1);
    again = rng;
    mel_status status = MEL_OK;
    for (size_t i = 0; i < t->pairs && status == MEL_OK; i++)
        status = take_pair(t, i, f, metric, &rng, err);
    if (status != MEL_OK)
        return status;
    memcpy(t->difference, t->whole, t->pairs * sizeof *t->whole);
    size_t rank = 0;
    status = mel_least_squares(t->pairs, d, t->row, d, t->difference, 0.0, t->w, &rank, err);
    if (status != MEL_OK)
        return status;
    if (!(unexplained(t, f, &again) <= most_unexplained))
        return mel_fail(err, MEL_EINVAL,
                        "the prior metric finds all classifiers equally good, weighs groups by other shares "
                        "than here, or does not have "
                        "the structure that is known");
    status = mel_normalise(d, t->w, err);
    for (size_t i = 0; i < d; i++)
        t->w[i] = nearbyint(t->w[i] * grain) / grain;
    return status;
}

mel_status mel_basis_vector(double **out, const mel_basis *f, const mel_session_options *opt,
                            const mel_metric *metric, mel_error *err)
{
    *out = NULL;
    fit t = { 0 };
    mel_status status = make_fit(&t, f, err);
    if (status == MEL_OK)
        status =
            f->ops->vector != NULL ? f->ops->vector(t.w, f, opt, metric, err) : solve(&t, f, metric, err);
    free(t.row); /* and all that was made with it */
    if (status == MEL_OK)
        *out = t.w;
    else
        free(t.w);
    return status;
}
