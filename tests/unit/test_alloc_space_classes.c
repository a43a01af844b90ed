/* Spaces of k classes when memory runs out: each allocation fails once, nothing leaks, nothing half-built is
 * returned. */
#include "support/classes.h"

#include "space/shared.h"
#include "space/space.h"

enum { ROWS = 400, CLASSES = 3 };

typedef struct {
    test_classes classes;
    mel_space *space; /* for steps */
    mel_evidence evidence;
} context;

static const double slope[CLASSES] = { 1, 3, 5 };

static mel_status from_sample(void *user)
{
    const context *c = user;
    const mel_space_options opt = test_space_options(MEL_RATES, MEL_DIAGONAL, c->evidence, 1);
    mel_space *space = NULL;
    mel_error err;
    const mel_status status = mel_space_from_sample(&space, &c->classes.sample, &opt, &err);
    assert_int_equal(status == MEL_OK, space != NULL);
    if (status != MEL_OK)
        assert_int_equal(err.code, MEL_ENOMEM);
    mel_space_free(space);
    return status;
}

static mel_status from_softmax(void *user)
{
    (void)user;
    mel_space *space = NULL;
    const mel_status status = mel_space_from_softmax(&space, CLASSES, slope, NULL, NULL);
    assert_int_equal(status == MEL_OK, space != NULL);
    mel_space_free(space);
    return status;
}

/* Outputs stay untouched when a call fails. */
static mel_status all_steps(void *user)
{
    const context *c = user;
    enum { MOST = 64 };
    double at[MOST] = { 7 }, direction[MOST] = { 1 }, gain[2 * MOST] = { 1 }, share[2] = { 0.5, 0.5 };
    const mel_blend blend = { 2, CLASSES, mel_space_layout(c->space)->n_groups, gain, share };
    mel_workspace *ws = NULL;
    mel_status status = mel_space_linear(at, c->space, direction, NULL);
    if (status == MEL_OK)
        at[0] = 7;
    if (status == MEL_OK && (status = mel_space_rule(at, c->space, gain, NULL)) == MEL_OK)
        at[0] = 7;
    if (status == MEL_OK && (status = mel_space_blend(at, c->space, &blend, NULL)) == MEL_OK)
        at[0] = 7;
    if (status == MEL_OK && mel_space_rows(c->space) > 0 &&
        (status = mel_space_swap(at, c->space, gain, 0, 0, 1, 1.1, NULL)) == MEL_OK)
        at[0] = 7;
    if (status == MEL_OK && mel_space_rows(c->space) > 0 &&
        (status = mel_space_decisions(at, c->space, c->classes.probability, NULL)) == MEL_OK)
        at[0] = 7;
    assert_true(at[0] == 7);
    if (status == MEL_OK)
        status = mel_workspace_new(&ws, c->space, NULL);
    assert_int_equal(status == MEL_OK, ws != NULL);
    mel_workspace_free(ws);
    return status;
}

static mel_status predict(void *user)
{
    const context *c = user;
    uint32_t prediction[ROWS];
    static const double gain[2 * CLASSES * CLASSES] = { 1 };
    const mel_sample *s = &c->classes.sample;
    return mel_rule_predict(prediction, ROWS, CLASSES, s->n_groups, s->probability, s->group, gain, NULL);
}

static mel_status face(void *user)
{
    const context *c = user;
    mel_face *out = NULL;
    const mel_status status = mel_space_face(&out, c->space, 0, 2, NULL);
    assert_int_equal(status == MEL_OK, out != NULL);
    mel_face_free(out);
    return status;
}

static mel_status some_rows(void *user)
{
    const context *c = user;
    mel_some_rows some;
    const mel_status status = mel_some_rows_take(&some, c->space, 50, 1, NULL);
    assert_int_equal(status == MEL_OK, some.space != NULL);
    mel_some_rows_clear(&some);
    return status;
}

/* Rows of one file, and of two that are divided among ranks, of which here there is one. */
static void test_samples(void **state)
{
    (void)state;
    size_t start[] = { 0, 150, ROWS };
    const mel_shards divided = { .n = 2, .start = start, .here = start };
    for (size_t m = 0; m <= 2; m += 2)
        for (int kind = 0; kind < 4; kind++) {
            context c = { .evidence = (mel_evidence)(kind % 2) };
            const mel_space_options opt = test_space_options(MEL_RATES, MEL_OFFDIAGONAL, c.evidence, 1);
            mel_rng rng;
            mel_rng_seed(&rng, 2);
            test_classes_make(&c.classes, &rng, ROWS, CLASSES, m, 1.0, 0);
            c.classes.sample.shards = kind / 2 == 1 ? &divided : NULL;
            test_each_allocation("mel_space_from_sample", from_sample, &c);
            c.space = test_classes_space(&c.classes, &opt);
            test_each_allocation("steps of a sample", all_steps, &c);
            test_each_allocation("mel_some_rows_take", some_rows, &c);
            test_each_allocation("mel_rule_predict", predict, &c);
            if (m == 0)
                test_each_allocation("mel_space_face of a sample", face, &c);
            mel_space_free(c.space);
            test_classes_clear(&c.classes);
        }
}

static void test_populations(void **state)
{
    (void)state;
    context c = { 0 };
    test_each_allocation("mel_space_from_softmax", from_softmax, NULL);
    assert_ok(mel_space_from_softmax(&c.space, CLASSES, slope, NULL, NULL), NULL);
    test_each_allocation("steps of a population", all_steps, &c);
    test_each_allocation("mel_space_face of a population", face, &c);
    mel_space_free(c.space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_populations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
