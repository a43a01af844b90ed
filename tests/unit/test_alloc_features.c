/* Each allocation of the engine of feature families fails once: a status comes back, nothing leaks, and an
 * answer that was not taken in can be told again. */
#include "support/test.h"

#include "elicit/engine.h"

#include <string.h>

typedef struct {
    const char *name;
    mel_family family;
    mel_coordinates coordinates;
    size_t classes, groups;
    uint32_t degree;
    mel_domain domain;
    mel_session_options is;
    bool near_best; /* questions about classifiers near the best one, of which one is enough */
} problem;

enum { MOST = 16 };

static mel_status ask_and_tell(mel_engine *engine, size_t size, int rounds, mel_error *err)
{
    double room[4][MOST];
    mel_pair pair = { .a = room[0], .b = room[1] }, same = { .a = room[2], .b = room[3] };
    mel_end end;
    for (int i = 0; i < rounds; i++) {
        mel_status status = engine->ops->next(engine, &pair, &end, err);
        if (status == MEL_OK)
            status = engine->ops->tell(engine, &pair, MEL_ANSWER_A, err);
        else
            return status;
        if (status == MEL_OK)
            continue;
        /* nothing has changed: once more */
        if (engine->ops->next(engine, &same, &end, err) != MEL_OK)
            return MEL_ENOMEM;
        assert_memory_equal(same.a, pair.a, size * sizeof(double));
        assert_int_equal(engine->ops->tell(engine, &same, MEL_ANSWER_A, err), MEL_OK);
        return status;
    }
    return MEL_OK;
}

static mel_status run_engine(void *context)
{
    const problem *p = context;
    mel_session_options opt;
    mel_session_options_init(&opt);
    opt.family = p->family;
    opt.degree = p->degree;
    opt.equal_pairs = p->is.equal_pairs;
    opt.diagonal_b = p->is.diagonal_b;
    opt.questions = p->near_best ? MEL_QUESTIONS_REALISTIC : MEL_QUESTIONS_FAR;
    const mel_layout *layout =
        p->domain.ball != NULL ? mel_ball_layout(p->domain.ball) : mel_space_layout(p->domain.space);
    mel_engine *engine = NULL;
    mel_error err;
    mel_status status = mel_engine_features(&engine, &p->domain, &opt, &err);
    if (status != MEL_OK) {
        assert_null(engine);
        return status;
    }
    status = ask_and_tell(engine, mel_layout_size(layout), p->near_best ? 1 : 3, &err);
    mel_metric *metric = NULL;
    mel_summary summary = { 0 };
    const mel_status result = engine->ops->result(engine, &metric, &summary, &err);
    assert_true((result == MEL_OK) == (metric != NULL));
    mel_metric_free(metric);
    engine->ops->free(engine);
    return status != MEL_OK ? status : result;
}

static void test_balls(void **state)
{
    (void)state;
    static const problem problems[] = {
        { "linear", MEL_FAMILY_LINEAR, MEL_OFFDIAGONAL, 2, 0, 0, { 0 }, { 0 }, false },
        { "fair linear", MEL_FAMILY_FAIR_LINEAR, MEL_OFFDIAGONAL, 2, 2, 0, { 0 }, { 0 }, false },
        { "quadratic", MEL_FAMILY_QUADRATIC, MEL_OFFDIAGONAL, 2, 0, 0, { 0 }, { 0 }, false },
        { "quadratic, 3 classes", MEL_FAMILY_QUADRATIC, MEL_OFFDIAGONAL, 3, 0, 0, { 0 }, { 0 }, false },
        { "fair quadratic", MEL_FAMILY_FAIR_QUADRATIC, MEL_OFFDIAGONAL, 2, 2, 0, { 0 }, { 0 }, false },
        { "fair quadratic, alike and diagonal",
          MEL_FAMILY_FAIR_QUADRATIC,
          MEL_OFFDIAGONAL,
          2,
          3,
          0,
          { 0 },
          { .equal_pairs = true, .diagonal_b = true },
          false },
        { "cubic", MEL_FAMILY_POLYNOMIAL, MEL_OFFDIAGONAL, 2, 0, 3, { 0 }, { 0 }, false },
    };
    for (size_t i = 0; i < COUNT(problems); i++) {
        problem p = problems[i];
        const mel_layout layout = { MEL_RATES, p.coordinates, p.classes, p.groups };
        mel_ball *ball = NULL;
        mel_error err;
        assert_ok(mel_ball_new(&ball, &layout, 0.2, NULL, NULL, &err), &err);
        p.domain.ball = ball;
        test_each_allocation(p.name, run_engine, &p);
        mel_ball_free(ball);
    }
}

static void test_faces(void **state)
{
    (void)state;
    static const double probability[6 * 3] = { 0.7, 0.2, 0.1, 0.2, 0.6, 0.2, 0.1, 0.3, 0.6,
                                               0.4, 0.5, 0.1, 0.3, 0.3, 0.4, 0.6, 0.1, 0.3 };
    static const uint32_t label[6] = { 0, 1, 2, 0, 1, 2 };
    const mel_sample sample = { .n_rows = 6, .n_classes = 3, .probability = probability, .label = label };
    mel_space_options opt;
    mel_space_options_init(&opt);
    opt.coordinates = MEL_DIAGONAL;
    opt.threads = 1;
    mel_space *space = NULL;
    mel_error err;
    assert_ok(mel_space_from_sample(&space, &sample, &opt, &err), &err);
    problem p = { "diagonal", MEL_FAMILY_DIAGONAL_LINEAR, MEL_DIAGONAL, 3,    0,
                  0,          { .space = space },         { 0 },        false };
    test_each_allocation(p.name, run_engine, &p);
    p.near_best = true;
    test_each_allocation("diagonal, near the best", run_engine, &p);
    mel_space_free(space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_balls),
        cmocka_unit_test(test_faces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
