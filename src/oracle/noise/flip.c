/* Flips: every answer is wrong with the same probability, given or learned (Beta prior, integrated out). */
#include "base/stat.h"
#include "oracle/noise/noise.h"

#include <math.h>

static bool wrong(const mel_noise *noise, double difference, double chance)
{
    (void)difference;
    return chance < noise->size;
}

static double log_weight(double size, size_t wrong_answers, size_t count)
{
    const double k = (double)wrong_answers, n = (double)count;
    if (size > 0.0)
        return k * log(size) + (n - k) * log1p(-size);
    return mel_log_gamma(MEL_FLIP_WRONG + k) + mel_log_gamma(MEL_FLIP_RIGHT + n - k) -
           mel_log_gamma(MEL_FLIP_WRONG + MEL_FLIP_RIGHT + n);
}

static double rate(double size, size_t wrong_answers, size_t count)
{
    if (size > 0.0)
        return size;
    return (MEL_FLIP_WRONG + (double)wrong_answers) / (MEL_FLIP_WRONG + MEL_FLIP_RIGHT + (double)count);
}

/* Learned: rates in the middle of equally likely parts of the prior, whose distribution function is
 * 1 - (1 - p)^9. */
static size_t ways(mel_noise_way *out, double size)
{
    enum { RATES = 16 };
    const size_t n = size > 0.0 ? 1 : RATES;
    for (size_t i = 0; i < n; i++) {
        const double above = 1.0 - ((double)i + 0.5) / RATES;
        const double wrong_share = size > 0.0 ? size : 1.0 - pow(above, 1.0 / MEL_FLIP_RIGHT);
        out[i] =
            (mel_noise_way){ .absolute = MEL_SHARP, .lapse = 2.0 * wrong_share, .weight = 1.0 / (double)n };
    }
    return n;
}

const mel_noise_ops mel_noise_flip = {
    .name = "flip",
    .forms = "flip:P",
    .assumed = "flip (rate learned), flip:0.1",
    .bad_size = "not a probability",
    .errs = MEL_ERRS_ALIKE,
    .most = 1.0,
    .say_nothing = 0.5,
    .learns = true,
    .outside = 1.0,
    .wrong = wrong,
    .log_weight = log_weight,
    .rate = rate,
    .ways = ways,
};
