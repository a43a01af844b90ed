/* Linear-fractional metrics on real data: the six metrics of the thesis' table 3.2 on magic04, actively. */
#include "support/binary.h"

static void test_table_on_magic(void **state)
{
    (void)state;
    enum { STEPS = 100, PAIRS = 1000 };
    mel_face *face = test_data_face("magic04.csv.gz", 1.0, 1);
    for (size_t i = 0; i < TEST_FRACTIONAL_ROWS; i++) {
        mel_metric *truth = test_fractional(test_fractional_table[i].p, test_fractional_table[i].q);
        mel_session_options opt;
        mel_session_options_init(&opt);
        opt.family = MEL_FAMILY_LINEAR_FRACTIONAL;
        opt.tolerance = 0.005;
        mel_oracle *oracle = test_oracle(truth, (mel_noise){ .kind = MEL_NOISE_NONE }, 1);
        mel_summary summary;
        mel_metric *found = test_elicit(&summary, face, &opt, oracle);
        const double agreement = test_agreement(face, truth, found, PAIRS, 7);
        const size_t want = test_argmax_on_boundary(face, truth, STEPS),
                     got = test_argmax_on_boundary(face, found, STEPS);
        print_message("  metric %zu: %u questions, %.4f of pairs alike, best at step %zu and %zu of %d\n",
                      i + 1, summary.questions, agreement, want, got, STEPS);
        assert_true(agreement >= 0.99);
        /* One boundary step, or the same vertex of the hull, whose value is then the same. */
        assert_true((want + 1 >= got && got + 1 >= want) ||
                    test_value_on_boundary(face, truth, want, STEPS) ==
                        test_value_on_boundary(face, truth, got, STEPS));
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
