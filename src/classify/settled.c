/* Whether the best rule can still change. */
#include "classify/classify.h"
#include "metric/shared.h"

#include <math.h>

/* Points that differ by less are those of the same rule. */
static const double same = 1e-12;

static bool near(mel_point a, mel_point b)
{
    return fabs(a.tp - b.tp) <= same && fabs(a.tn - b.tn) <= same;
}

mel_status mel_classifier_settled(double *probability, const mel_belief *now, mel_error *err)
{
    const double *m = mel_metric_numerator(now->metric, NULL);
    const size_t width = mel_metric_coefficients(now->metric);
    mel_point best, here;
    mel_status status = mel_face_support(&best, now->domain->face, m[0], m[1], err);
    size_t standing = 0;
    for (size_t s = 0; status == MEL_OK && s < now->n_draws; s++) {
        const double *draw = now->draw + s * width;
        status = mel_face_support(&here, now->domain->face, draw[0], draw[1], err);
        standing += status == MEL_OK && near(best, here);
    }
    *probability = (double)standing / (double)now->n_draws;
    return status;
}
