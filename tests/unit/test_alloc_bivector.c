/* Each allocation of the engine for linear-fractional metrics off a planar face fails once: a status comes
 * back, nothing leaks, and an answer that was not taken in can be told again. */
#include "support/multiclass.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 6, ROUNDS = 2 };

static mel_status ask_and_tell(mel_engine *engine, mel_error *err)
{
    for (int i = 0; i < ROUNDS; i++) {
        double room[2 * MOST], again[2 * MOST];
        mel_pair pair = { .a = room, .b = room + MOST }, same = { .a = again, .b = again + MOST };
        mel_end end;
        mel_status status = engine->ops->next(engine, &pair, &end, err);
        if (status == MEL_OK)
            status = engine->ops->tell(engine, &pair, MEL_ANSWER_A, err);
        if (status == MEL_ENOMEM && engine->ops->next(engine, &same, &end, err) == MEL_OK)
            assert_true(pair.a[0] == same.a[0] && pair.b[1] == same.b[1]); /* nothing has changed */
        if (status != MEL_OK)
            return status;
    }
    return MEL_OK;
}

static mel_status run_engine(void *context)
{
    const mel_domain *domain = context;
    mel_session_options opt;
    mel_session_options_init(&opt);
    opt.family = domain->ball != NULL ? MEL_FAMILY_LINEAR_FRACTIONAL : MEL_FAMILY_DIAGONAL_LINEAR_FRACTIONAL;
    opt.assume.kind = MEL_NOISE_FLIP;
    mel_engine *engine = NULL;
    mel_error err;
    mel_status status = mel_engine_bivector(&engine, domain, &opt, &err);
    if (status != MEL_OK) {
        assert_null(engine);
        return status;
    }
    status = ask_and_tell(engine, &err);
    mel_metric *metric = NULL;
    mel_summary summary;
    const mel_status result = engine->ops->result(engine, &metric, &summary, &err);
    assert_true((result == MEL_OK) == (metric != NULL));
    mel_metric_free(metric);
    engine->ops->free(engine);
    return status != MEL_OK ? status : result;
}

static void test_space(void **state)
{
    (void)state;
    mel_space *space = test_softmax_space(3, MEL_CONFUSION, MEL_DIAGONAL);
    mel_domain domain = { .space = space };
    test_each_allocation("linear-fractional metrics on faces", run_engine, &domain);
    mel_space_free(space);
}

static void test_ball(void **state)
{
    (void)state;
    const mel_layout layout = { .kind = MEL_RATES, .coordinates = MEL_BINARY, .n_classes = 2 };
    mel_ball *ball = NULL;
    mel_error err;
    assert_ok(mel_ball_new(&ball, &layout, 0.4, NULL, NULL, &err), &err);
    mel_domain domain = { .ball = ball };
    test_each_allocation("linear-fractional metrics on a ball", run_engine, &domain);
    mel_ball_free(ball);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_space),
        cmocka_unit_test(test_ball),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
