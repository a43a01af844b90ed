/* Feasibility, segments and balls when memory runs out: each allocation fails once, nothing leaks, outputs
 * are empty or untouched. */
#include "space/shared.h"
#include "support/classes.h"

enum { ROWS = 40, CLASSES = 3, MOST = 12 };

typedef struct {
    mel_space *space;
    double point[MOST];
    double delta;
    mel_radius_method method;
    size_t sample_rows;
} context;

typedef struct {
    const test_classes *classes;
    mel_space_options opt;
} fetching;

static mel_status achieve(void *user)
{
    const context *c = user;
    mel_feasibility found;
    mel_error err;
    const mel_status status = mel_space_achieve(&found, c->space, c->point, c->delta, NULL, &err);
    assert_int_equal(status == MEL_OK, found.closest != NULL);
    assert_int_equal(status == MEL_OK, found.blend.gain != NULL);
    if (status != MEL_OK)
        assert_int_equal(err.code, MEL_ENOMEM);
    mel_feasibility_clear(&found);
    return status;
}

/* Rows of several ranks are fetched by the first search. */
static mel_status fetch(void *user)
{
    const fetching *f = user;
    context c = { .delta = 1e-3, .point = { 0.9 } };
    mel_status status = mel_space_from_sample(&c.space, &f->classes->sample, &f->opt, NULL);
    if (status == MEL_OK)
        status = achieve(&c);
    mel_space_free(c.space);
    return status;
}

static mel_status segment(void *user)
{
    const context *c = user;
    double a[MOST] = { 7 }, b[MOST] = { 7 };
    const mel_status status = mel_space_segment(a, b, c->space, c->point, c->delta, NULL);
    assert_int_equal(status == MEL_OK, a[0] != 7);
    assert_int_equal(status == MEL_OK, b[0] != 7);
    return status;
}

static mel_status ball(void *user)
{
    const context *c = user;
    mel_radius_options opt;
    mel_radius_options_init(&opt);
    opt.method = c->method;
    opt.restarts = 2;
    opt.rays = 2;
    opt.sample_rows = c->sample_rows;
    mel_ball *made = NULL;
    mel_radius how;
    const mel_status status = mel_ball_of_space(&made, &how, c->space, &opt, NULL);
    assert_int_equal(status == MEL_OK, made != NULL);
    assert_int_equal(status == MEL_OK, how.direction != NULL);
    mel_ball_free(made);
    mel_radius_clear(&how);
    return status;
}

static mel_status abstract_ball(void *user)
{
    (void)user;
    const mel_layout layout = { MEL_RATES, MEL_OFFDIAGONAL, CLASSES, 2 };
    static const double share[CLASSES] = { 0.5, 0.25, 0.25 };
    mel_ball *made = NULL;
    const mel_status status = mel_ball_new(&made, &layout, 0.1, share, NULL, NULL);
    assert_int_equal(status == MEL_OK, made != NULL);
    mel_ball_free(made);
    return status;
}

/* Without groups in two files that are divided among ranks, of which here there is one. */
static void test_spaces(void **state)
{
    (void)state;
    size_t start[] = { 0, 15, ROWS };
    const mel_shards divided = { .n = 2, .start = start, .here = start };
    for (int evidence = 0; evidence < 2; evidence++)
        for (size_t m = 0; m <= 2; m += 2) {
            test_classes classes;
            mel_rng rng;
            mel_rng_seed(&rng, 2);
            test_classes_make(&classes, &rng, ROWS, CLASSES, m, 2, 0);
            classes.sample.shards = m == 0 ? &divided : NULL;
            const mel_space_options opt =
                test_space_options(MEL_RATES, MEL_OFFDIAGONAL, (mel_evidence)evidence, 1);
            context c = { .space = test_classes_space(&classes, &opt), .delta = 1e-3 };
            mel_space_centre(c.point, c.space);
            assert_ok(achieve(&c), NULL); /* rows that are fetched once stay */
            test_each_allocation("mel_space_achieve, feasible", achieve, &c);
            if (m == 0)
                test_each_allocation("mel_space_achieve, first", fetch, &(fetching){ &classes, opt });
            c.point[0] = 0.9;
            test_each_allocation("mel_space_achieve, not feasible", achieve, &c);
            test_each_allocation("mel_space_segment", segment, &c);
            test_each_allocation("mel_ball_of_space, inscribed", ball, &c);
            c.method = MEL_RADIUS_THESIS;
            test_each_allocation("mel_ball_of_space, thesis", ball, &c);
            mel_space_free(c.space);
            test_classes_clear(&classes);
        }
}

/* By labels, where everything is needed that a sample may need. */
static void test_sampled(void **state)
{
    (void)state;
    test_classes classes;
    mel_rng rng;
    mel_rng_seed(&rng, 2);
    test_classes_make(&classes, &rng, ROWS, 2, 0, 2, 0);
    const mel_space_options opt = test_space_options(MEL_RATES, MEL_OFFDIAGONAL, MEL_BY_LABELS, 1);
    context c = { .space = test_classes_space(&classes, &opt), .sample_rows = ROWS / 5 };
    test_each_allocation("mel_ball_of_space, a sample of the rows", ball, &c);
    mel_space_free(c.space);
    test_classes_clear(&classes);
}

static void test_populations(void **state)
{
    (void)state;
    static const double slope[CLASSES] = { 1, 3, 5 };
    const mel_space_options opt = test_space_options(MEL_CONFUSION, MEL_DIAGONAL, MEL_BY_LABELS, 1);
    context c = { .delta = 1e-3, .point = { 0.3, 0.3, 0.3 } };
    assert_ok(mel_space_from_softmax(&c.space, CLASSES, slope, &opt, NULL), NULL);
    test_each_allocation("mel_space_achieve, population", achieve, &c);
    test_each_allocation("mel_space_segment, population", segment, &c);
    test_each_allocation("mel_ball_of_space, population", ball, &c);
    mel_space_free(c.space);
}

static void test_abstract(void **state)
{
    (void)state;
    test_each_allocation("mel_ball_new", abstract_ball, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spaces),
        cmocka_unit_test(test_sampled),
        cmocka_unit_test(test_populations),
        cmocka_unit_test(test_abstract),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
