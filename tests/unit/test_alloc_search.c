/* Every allocation of the searches on faces and on a ball fails once. */
#include "support/multiclass.h"

#include "support/binary.h"

static mel_space *space;
static mel_ball *ball;
static mel_oracle *diagonal_oracle, *ball_oracle;

static int set_up(void **state)
{
    (void)state;
    static const double a[3] = { 0.2, 0.5, 0.3 }, b[6] = { -0.1, -0.3, -0.5, -0.7, -0.2, -0.3 };
    const mel_noise exact = { .kind = MEL_NOISE_NONE };
    space = test_softmax_space(3, MEL_CONFUSION, MEL_DIAGONAL);
    ball = test_rates_ball(3, 0.1);
    mel_metric *diagonal = test_linear_metric(MEL_FAMILY_DIAGONAL_LINEAR, mel_space_layout(space), a);
    mel_metric *linear = test_linear_metric(MEL_FAMILY_LINEAR, mel_ball_layout(ball), b);
    diagonal_oracle = test_oracle(diagonal, exact, 1);
    ball_oracle = test_oracle(linear, exact, 1);
    mel_metric_free(diagonal);
    mel_metric_free(linear);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    mel_oracle_free(diagonal_oracle);
    mel_oracle_free(ball_oracle);
    mel_space_free(space);
    mel_ball_free(ball);
    return 0;
}

typedef struct {
    mel_session_options opt;
    bool on_ball;
} job;

/* A session of a few questions and its result. */
static mel_status elicit(void *context)
{
    const job *j = context;
    const mel_domain domain = { .space = j->on_ball ? NULL : space, .ball = j->on_ball ? ball : NULL };
    return test_try_session(&domain, &j->opt, j->on_ball ? ball_oracle : diagonal_oracle);
}

static void test_engines(void **state)
{
    (void)state;
    static const struct {
        mel_family family;
        bool on_ball, tournament;
        uint32_t budget;
    } rows[] = {
        { MEL_FAMILY_DIAGONAL_LINEAR, false, true, 5 },
        { MEL_FAMILY_MONOTONE, false, false, 3 },
        { MEL_FAMILY_DIAGONAL_LINEAR_FRACTIONAL, false, true, 4 },
        { MEL_FAMILY_LINEAR, true, false, 9 },
        { MEL_FAMILY_LINEAR_FRACTIONAL, true, false, 3 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        job j = { .on_ball = rows[i].on_ball };
        j.opt = test_search_options(rows[i].family);
        j.opt.tournament = rows[i].tournament;
        j.opt.max_questions = rows[i].budget;
        test_each_allocation(mel_family_name(rows[i].family), elicit, &j);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_engines) };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
