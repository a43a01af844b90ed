/* Linear-fractional metrics on real data: the six metrics of the thesis' table 3.2 on magic04, actively. */
#include "support/binary.h"

#include "elicit/search/binary.h"

#include <math.h>

static const double half_pi = 1.57079632679489661923;

static const struct {
    double p[2], q[3];
} table[] = {
    { { 1.0, 0.0 }, { 0.5, -0.5, 0.5 } },       { { 1.0, 0.0 }, { 0.8, -0.8, 0.5 } },
    { { 0.8, 0.2 }, { 0.3, 0.1, 0.3 } },        { { 0.60, 0.40 }, { 0.40, 0.20, 0.20 } },
    { { 0.40, 0.60 }, { -0.10, -0.20, 0.65 } }, { { 0.20, 0.80 }, { -0.40, -0.20, 0.80 } },
};

/* Which of n boundary points, ordered by slope, is best. */
static size_t argmax(const mel_face *face, const mel_metric *metric, size_t n)
{
    size_t best = 0;
    double top = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        const mel_point c =
            mel_binary_boundary(face, MEL_BOUNDARY_HULL, half_pi * ((double)i + 0.5) / (double)n);
        const double s[2] = { c.tp, c.tn };
        double value = 0.0;
        mel_error err;
        assert_ok(mel_metric_value(&value, metric, s, &err), &err);
        if (value > top) {
            top = value;
            best = i;
        }
    }
    return best;
}

static double value_at(const mel_face *face, const mel_metric *metric, size_t i, size_t n)
{
    const mel_point c = mel_binary_boundary(face, MEL_BOUNDARY_HULL, half_pi * ((double)i + 0.5) / (double)n);
    const double s[2] = { c.tp, c.tn };
    double value = 0.0;
    mel_error err;
    assert_ok(mel_metric_value(&value, metric, s, &err), &err);
    return value;
}

static void test_table_on_magic(void **state)
{
    (void)state;
    enum { STEPS = 100, PAIRS = 1000 };
    mel_face *face = test_data_face("magic04.csv.gz", 1.0, 1);
    for (size_t i = 0; i < COUNT(table); i++) {
        mel_metric *truth = test_fractional(table[i].p, table[i].q);
        mel_session_options opt;
        mel_session_options_init(&opt);
        opt.family = MEL_FAMILY_LINEAR_FRACTIONAL;
        opt.tolerance = 0.005;
        mel_oracle *oracle = test_oracle(truth, (mel_noise){ .kind = MEL_NOISE_NONE }, 1);
        mel_summary summary;
        mel_metric *found = test_elicit(&summary, face, &opt, oracle);
        const double agreement = test_agreement(face, truth, found, PAIRS, 7);
        const size_t want = argmax(face, truth, STEPS), got = argmax(face, found, STEPS);
        print_message("  metric %zu: %u questions, %.4f of pairs alike, best at step %zu and %zu of %d\n",
                      i + 1, summary.questions, agreement, want, got, STEPS);
        assert_true(agreement >= 0.99);
        /* One boundary step, or the same vertex of the hull, whose value is then the same. */
        assert_true((want + 1 >= got && got + 1 >= want) ||
                    value_at(face, truth, want, STEPS) == value_at(face, truth, got, STEPS));
        mel_metric_free(found);
        mel_metric_free(truth);
        mel_oracle_free(oracle);
    }
    mel_face_free(face);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_table_on_magic) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
