/* Calibration of probabilities: a known adjustment is found. */
#include "support/test.h"

#include "base/rng.h"
#include "model/shared.h"

#include <math.h>
#include <stdlib.h>

/* Two classes whose probabilities err differently at either end: drawn from a known adjustment, the fit finds
 * it, and undoing it gives the model's own probability back. */
static void test_adjustments_of_two_classes(void **state)
{
    (void)state;
    enum { ROWS = 40000 };
    mel_rng rng;
    mel_rng_seed(&rng, 8);
    double *p = calloc((size_t)2 * ROWS, sizeof *p);
    uint32_t *label = calloc(ROWS, sizeof *label);
    assert_non_null(p);
    assert_non_null(label);
    for (size_t turn = 0; turn < test_repeats(20, 3, 1); turn++) {
        double sharpness[2] = { 0.4 + mel_rng_uniform(&rng), 0.4 + mel_rng_uniform(&rng) };
        double offset[2] = { 0.0, mel_rng_normal(&rng) };
        const mel_adjustment truth = { .n_classes = 2, .sharpness = sharpness, .offset = offset };
        mel_adjustment found = { 0 };
        const mel_rows rows = { .n_rows = ROWS, .n_classes = 2, .probability = p, .label = label };
        mel_error err = { 0 };
        for (size_t r = 0; r < ROWS; r++) {
            double q[2];
            p[2 * r + 1] = 1.0 / (1.0 + exp(2.0 * mel_rng_normal(&rng)));
            p[2 * r] = 1.0 - p[2 * r + 1];
            mel_adjust(q, &truth, 1, p + 2 * r, NULL);
            assert_close(mel_adjustment_undo(&truth, 0, q[1]), p[2 * r + 1], 1e-9);
            label[r] = mel_rng_uniform(&rng) < q[1];
        }
        assert_ok(mel_adjustment_fit(&found, &rows, ROWS, NULL, NULL, &err), &err);
        assert_close(found.offset[1] - found.offset[0], offset[1], 0.25);
        for (size_t i = 0; i < 2; i++)
            assert_close(found.sharpness[i], sharpness[i], 0.15);
        mel_adjustment_clear(&found);
    }
    free(p);
    free(label);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_adjustments_of_two_classes) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
