/* Random metrics as uncertain as a metric's intervals. */
#include "metric/families/families.h"

#include <math.h>

/* The middle 95% of a standard normal variable end here. */
static const double normal_97_5 = 1.959963984540054;

/* Normal with a width of its own on either side, so that both ends are met. */
static double draw_one(const mel_metric *metric, size_t i, mel_rng *rng)
{
    const double middle = metric->coefficient[i], z = mel_rng_normal(rng) / normal_97_5;
    const double side = z < 0.0 ? middle - metric->low[i] : metric->high[i] - middle;
    return middle + z * fmax(side, 0.0); /* a value outside its interval does not move to that side */
}

static void draw_block(double *out, const mel_metric *metric, size_t first, const mel_field *field,
                       mel_rng *rng)
{
    const size_t n = mel_tensor_size(field->side, field->rank);
    for (size_t i = 0; i < n; i++) {
        const size_t twin = mel_tensor_sorted_place(i, field->side, field->rank);
        out[first + i] = twin == i ? draw_one(metric, first + i, rng) : out[first + twin];
    }
}

void mel_metric_draw(double *out, const mel_metric *metric, mel_rng *rng)
{
    mel_field fields[MEL_MAX_FIELDS];
    const size_t n_fields = mel_metric_fields(fields, metric);
    for (size_t i = 0; metric->low == NULL && i < metric->n_coefficients; i++)
        out[i] = metric->coefficient[i];
    for (size_t f = 0; metric->low != NULL && f < n_fields; f++) {
        const size_t blocks = fields[f].groups > 1 ? mel_group_pairs(fields[f].groups) : 1;
        const size_t n = mel_tensor_size(fields[f].side, fields[f].rank);
        for (size_t b = 0; b < blocks; b++)
            draw_block(out, metric, fields[f].first + b * n, &fields[f], rng);
    }
    if (metric->ops->is.groups) {
        double *lambda = &out[metric->n_coefficients - 1];
        *lambda = fmin(fmax(*lambda, 0.0), 1.0);
    }
}

bool mel_metric_draws(double *out, const mel_metric *metric, size_t n, uint64_t seed)
{
    mel_rng rng;
    mel_rng_seed(&rng, seed);
    for (size_t i = 0; i < n && metric->low != NULL; i++)
        mel_metric_draw(out + i * metric->n_coefficients, metric, &rng);
    return metric->low != NULL;
}
