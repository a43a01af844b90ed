/* Every allocation of the searches for quadratic and polynomial metrics fails once. */
#include "support/multiclass.h"

#include "support/binary.h"

#include <math.h>

typedef struct {
    mel_session_options opt;
    mel_ball *ball;
    mel_oracle *oracle;
} job;

/* A session to its end, or to its budget, with its result. */
static mel_status elicit(void *context)
{
    const job *j = context;
    const mel_domain domain = { .ball = j->ball };
    return test_try_session(&domain, &j->opt, j->oracle);
}

static void test_engines(void **state)
{
    (void)state;
    static const struct {
        mel_family family;
        bool diagonal, linear;
        uint32_t budget;
    } rows[] = {
        { MEL_FAMILY_QUADRATIC, false, false, 10 },  { MEL_FAMILY_QUADRATIC, false, false, 1000 },
        { MEL_FAMILY_QUADRATIC, false, true, 1000 }, { MEL_FAMILY_QUADRATIC, true, false, 1000 },
        { MEL_FAMILY_POLYNOMIAL, false, false, 10 }, { MEL_FAMILY_POLYNOMIAL, false, false, 1000 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const double curve = rows[i].linear ? 0.0 : 0.5;
        const double entry[6] = { 0.6, 0.8, curve, 0.0, 0.0, -curve };
        const mel_noise exact = { .kind = MEL_NOISE_NONE };
        job j = { .opt = test_search_options(rows[i].family), .ball = test_rates_ball(2, 0.2) };
        mel_metric *truth = NULL;
        mel_error err;
        assert_ok(
            mel_metric_quadratic(&truth, mel_ball_layout(j.ball), NULL, MEL_COST, entry, entry + 2, &err),
            &err);
        j.oracle = test_oracle(truth, exact, 1);
        j.opt.tolerance = 0.5;
        j.opt.per_round = 2;
        j.opt.cycles = 1;
        j.opt.diagonal_b = rows[i].diagonal;
        j.opt.max_questions = rows[i].budget;
        test_each_allocation(mel_family_name(rows[i].family), elicit, &j);
        mel_oracle_free(j.oracle);
        mel_metric_free(truth);
        mel_ball_free(j.ball);
    }
}

/* Options that lend a metric, and the header that keeps it. */
static mel_status open_with_known(void *context)
{
    const job *j = context;
    const mel_domain domain = { .ball = j->ball };
    mel_session *session = NULL;
    const char *path = test_path("known.jsonl");
    (void)remove(path);
    const mel_status status = mel_session_open(&session, &domain, &j->opt, NULL, path, NULL);
    mel_session_free(session);
    return status;
}

static void test_known(void **state)
{
    (void)state;
    static const double a[2] = { 0.6, 0.8 };
    const mel_layout layout = {
        .kind = MEL_RATES, .coordinates = MEL_OFFDIAGONAL, .n_classes = 2, .n_groups = 2
    };
    static const double prevalence[4] = { 0.3, 0.6, 0.7, 0.4 };
    job j = { .opt = test_search_options(MEL_FAMILY_FAIR_LINEAR) };
    mel_metric *known = NULL;
    mel_error err;
    assert_ok(mel_ball_new(&j.ball, &layout, 0.2, NULL, prevalence, &err), &err);
    assert_ok(mel_metric_fair_linear(&known, &layout, NULL, NULL, a, a, 0.3, prevalence, &err), &err);
    j.opt.known = known;
    (void)test_path("known.jsonl"); /* its folder is there before allocations are counted */
    test_each_allocation("known metric", open_with_known, &j);
    mel_metric_free(known);
    mel_ball_free(j.ball);
    test_cleanup();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_engines),
        cmocka_unit_test(test_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
