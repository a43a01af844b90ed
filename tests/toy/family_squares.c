/* A toy family: costs that are weighted sums of squared rates, <a, s^2>. */
#include "base/la.h"
#include "metric/words.h"

static mel_status value(double *out, const mel_metric *metric, const double *statistics, mel_error *err)
{
    (void)err;
    *out = 0.0;
    for (size_t i = 0; i < metric->size; i++)
        *out += metric->coefficient[i] * statistics[i] * statistics[i];
    return MEL_OK;
}

static mel_status gradient(double *out, const mel_metric *metric, const double *statistics, mel_error *err)
{
    (void)err;
    for (size_t i = 0; i < metric->size; i++)
        out[i] = 2.0 * metric->coefficient[i] * statistics[i];
    return MEL_OK;
}

static mel_status difference(double *out, const mel_metric *metric, const double *a, const double *b,
                             mel_error *err)
{
    (void)err;
    *out = 0.0;
    for (size_t i = 0; i < metric->size; i++)
        *out += metric->coefficient[i] * (a[i] - b[i]) * (a[i] + b[i]);
    return MEL_OK;
}

static mel_status normalise(mel_metric *metric, mel_error *err)
{
    return mel_metric_divide_all(metric, mel_norm2(metric->size, metric->coefficient), "the norm", err);
}

static mel_status words(mel_words *said, const mel_metric *metric, mel_error *err)
{
    (void)err;
    const mel_words_weights w = mel_words_weights_of(metric, 0, metric->size);
    mel_words_say_weights(said, &w, "the square");
    return MEL_OK;
}

const mel_family_ops mel_family_squares = {
    .is = { .name = "squares",
            .shape = "a weighted sum of squares",
            .degree = 1,
            .curved = true,
            .rates = true },
    .value = value,
    .gradient = gradient,
    .difference = difference,
    .normalise = normalise,
    .coefficients = mel_family_one_each,
    .fields = mel_family_one_field,
    .words = words,
};
