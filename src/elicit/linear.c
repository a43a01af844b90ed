/* What linear engines share: the metric and its intervals from an angle and its interval. */
#include "elicit/engine.h"
#include "metric/shared.h"

#include <math.h>

const mel_layout mel_binary_layout = {
    .kind = MEL_CONFUSION,
    .coordinates = MEL_BINARY,
    .n_classes = 2,
    .n_groups = 0,
};

mel_status mel_linear_result(mel_metric **metric, mel_summary *summary, const mel_session_options *opt,
                             double angle, double low, double high, mel_error *err)
{
    const double a[2] = { cos(angle), sin(angle) };
    /* Cosine and sine are monotone within a quadrant, so the ends of the angle give the ends. */
    const double first[2] = { cos(low), sin(low) }, last[2] = { cos(high), sin(high) };
    double least[2], most[2];
    summary->radius = 0.0;
    for (size_t i = 0; i < 2; i++) {
        least[i] = fmin(first[i], last[i]);
        most[i] = fmax(first[i], last[i]);
        summary->radius = fmax(summary->radius, 0.5 * (most[i] - least[i]));
    }
    summary->angle = angle;
    summary->angle_low = low;
    summary->angle_high = high;
    mel_status status =
        mel_metric_linear(metric, opt->family, &mel_binary_layout, opt->class_names, MEL_UTILITY, a, err);
    if (status != MEL_OK)
        return status;
    status = mel_metric_set_intervals(*metric, least, most, err);
    if (status != MEL_OK) {
        mel_metric_free(*metric);
        *metric = NULL;
    }
    return status;
}
