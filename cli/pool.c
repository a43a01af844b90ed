/* Pools of classifiers for the program: with the statistics of a metric. */
#include "pool.h"

mel_status cli_metric_pool(mel_pool *out, const char *path, const mel_metric *metric, double prevalence,
                           const mel_read_options *read, mel_error *err)
{
    const mel_pool_about about = { .layout = *mel_metric_layout(metric),
                                   .class_name = mel_metric_class_names(metric),
                                   .group_name = mel_metric_group_names(metric),
                                   .prevalence = prevalence };
    return mel_pool_read(out, path, &about, read, err);
}
