/* Each allocation of the active engines fails once: a status comes back, nothing leaks, and an answer that
 * was not taken in can be told again. */
#include "support/test.h"

#include "elicit/active/chords.h"
#include "elicit/engine.h"

#include <math.h>

static const double octant[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
static const double inside[3] = { 1, 1, 1 };

static mel_status run_sampler(void *context)
{
    const mel_sampler_options opt = {
        .dimension = 3,
        .samples = 40,
        .n_cone = 3,
        .cone = octant,
        .start = inside,
        .assume = *(const mel_assumption *)context,
    };
    mel_sampler *sampler = NULL;
    mel_error err;
    mel_status status = mel_sampler_new(&sampler, &opt, &err);
    if (status != MEL_OK) {
        assert_null(sampler);
        return status;
    }
    for (int i = 0; i < 70 && status == MEL_OK; i++) { /* beyond the first growth of every buffer */
        const double x[3] = { cos(i), sin(i), 0.3 - 0.02 * i };
        status = mel_sampler_tell(sampler, x, 1.0, MEL_ANSWER_SAME, &err);
    }
    mel_sampler_free(sampler);
    return status;
}

static void test_sampler(void **state)
{
    (void)state;
    mel_assumption flip = { MEL_NOISE_FLIP, 0.0 };
    test_each_allocation("sampler", run_sampler, &flip);
}

static mel_status ask_and_tell(mel_engine *engine, mel_error *err)
{
    for (int i = 0; i < 3; i++) {
        double room[4], again[4];
        mel_pair pair = { .a = room, .b = room + 2 };
        mel_end end;
        mel_status status = engine->ops->next(engine, &pair, &end, err);
        if (status == MEL_OK)
            status = engine->ops->tell(engine, &pair, MEL_ANSWER_A, err);
        if (status == MEL_ENOMEM) { /* nothing has changed: once more */
            mel_pair same = { .a = again, .b = again + 2 };
            if (engine->ops->next(engine, &same, &end, err) != MEL_OK)
                return MEL_ENOMEM;
            assert_memory_equal(again, room, sizeof room);
            if (engine->ops->tell(engine, &same, MEL_ANSWER_A, err) != MEL_OK)
                return MEL_ENOMEM;
            return MEL_ENOMEM;
        }
        if (status != MEL_OK)
            return status;
    }
    return MEL_OK;
}

static mel_status run_engine(void *context)
{
    mel_session_options opt;
    mel_session_options_init(&opt);
    opt.family = MEL_FAMILY_LINEAR_FRACTIONAL;
    opt.direction = MEL_DIRECTION_UNKNOWN;
    mel_engine *engine = NULL;
    mel_error err;
    mel_status status = mel_engine_fractional(&engine, context, &opt, &err);
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

static void test_engine(void **state)
{
    (void)state;
    mel_face *face = NULL;
    mel_error err;
    assert_ok(mel_face_from_logistic(&face, 2.0, 0.5, &err), &err);
    test_each_allocation("linear-fractional engine", run_engine, face);
    mel_face_free(face);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sampler),
        cmocka_unit_test(test_engine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
