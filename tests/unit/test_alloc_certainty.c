/* Every allocation behind intervals, comparisons and tuned thresholds fails once. */
#include "support/test.h"

#include "base/rng.h"
#include "classify/shared.h"

static const mel_layout layout = { MEL_CONFUSION, MEL_BINARY, 2, 0 };
static const double coefficients[] = { 0.9, 0.4 }, drawn[] = { 0.8, 0.5, 0.95, 0.3, 0.9, 0.45 };
static const double counts[] = { 60, 10, 12, 40 };
static const double pair[] = { 50, 5, 6, 9, 10, 8, 4, 30 };

static mel_certainty_options options(void)
{
    mel_certainty_options opt;
    mel_certainty_options_init(&opt);
    opt.draws = 40; /* sorting takes memory for more numbers if it can, and does without it */
    opt.n_metrics = 3;
    opt.metrics = drawn;
    return opt;
}

static mel_status intervals(void *context)
{
    (void)context;
    const mel_certainty_options opt = options();
    mel_metric *metric = NULL;
    mel_measure *measure = NULL;
    mel_certainty got;
    mel_contest contest;
    double slope[4];
    mel_error err = { 0 };
    mel_status status =
        mel_metric_linear(&metric, MEL_FAMILY_LINEAR, &layout, NULL, MEL_UTILITY, coefficients, &err);
    if (status == MEL_OK)
        status = mel_measure_metric(&measure, metric, 2, 0, &err);
    if (status == MEL_OK)
        status = mel_certainty_of(&got, measure, counts, &opt, &err);
    if (status == MEL_OK)
        status = mel_certainty_slopes(slope, measure, counts, &err);
    if (status == MEL_OK)
        status = mel_certainty_compare(&contest, measure, pair, &opt, &err);
    if (status == MEL_OK)
        status = mel_certainty_compare_apart(&contest, measure, counts, counts, &opt, &err);
    mel_measure_free(measure);
    mel_metric_free(metric);
    return status;
}

static mel_status between_groups(void *context)
{
    (void)context;
    static const double two[] = { 60, 10, 12, 40, 50, 9, 8, 30 };
    mel_certainty_options opt = options();
    mel_measure *measure = NULL;
    mel_certainty got;
    mel_error err = { 0 };
    opt.n_metrics = 0;
    mel_status status = mel_measure_named(&measure, "accuracy:difference", 2, 2, &err);
    if (status == MEL_OK)
        status = mel_certainty_of(&got, measure, two, &opt, &err);
    mel_measure_free(measure);
    return status;
}

static void test_allocations(void **state)
{
    (void)state;
    test_each_allocation("intervals", intervals, NULL);
    test_each_allocation("differences between groups", between_groups, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_allocations) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
