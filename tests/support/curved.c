/* Families whose slopes are affine in the middle, on balls. */
#include "support/curved.h"

const test_curved_family test_curved[TEST_CURVED] = {
    { "quadratic, 2 rates", MEL_FAMILY_QUADRATIC, 2, 0 },
    { "quadratic, 6 rates", MEL_FAMILY_QUADRATIC, 3, 0 },
    { "fair quadratic (2, 2)", MEL_FAMILY_FAIR_QUADRATIC, 2, 2 },
    { "fair quadratic (2, 3)", MEL_FAMILY_FAIR_QUADRATIC, 2, 3 },
};

void test_curved_basis(mel_ball **ball, mel_basis **f, mel_family family, size_t classes, size_t groups,
                       double radius)
{
    mel_error err;
    const mel_layout layout = {
        .kind = MEL_RATES, .coordinates = MEL_OFFDIAGONAL, .n_classes = classes, .n_groups = groups
    };
    mel_session_options opt;
    mel_session_options_init(&opt);
    opt.family = family;
    assert_ok(mel_ball_new(ball, &layout, radius, NULL, NULL, &err), &err);
    assert_ok(mel_basis_new(f, &(mel_domain){ .ball = *ball }, &opt, &err), &err);
}
