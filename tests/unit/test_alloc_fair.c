/* Every allocation of the searches for fair metrics, and of what an active session finds in one, fails once.
 */
#include "support/binary.h"
#include "support/fair.h"
#include "support/multiclass.h"

#include <math.h>

static const double prevalence[] = { 0.4, 0.7, 0.6, 0.3 };
static mel_ball *ball;
static mel_metric *metrics[2];
static mel_oracle *oracles[2];

static int set_up(void **state)
{
    (void)state;
    const mel_noise exact = { .kind = MEL_NOISE_NONE };
    ball = test_fair_ball((test_fair_kind){ 2, 2, false }, prevalence);
    for (int quadratic = 0; quadratic < 2; quadratic++) {
        const test_fair_kind kind = { 2, 2, quadratic != 0 };
        double truth[7];
        mel_rng rng;
        mel_rng_seed(&rng, 1);
        test_fair_draw(truth, kind, 0.5, &rng);
        metrics[quadratic] = test_fair_metric(kind, truth, prevalence);
        oracles[quadratic] = test_oracle(metrics[quadratic], exact, 1);
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        mel_oracle_free(oracles[i]);
        mel_metric_free(metrics[i]);
    }
    mel_ball_free(ball);
    return 0;
}

typedef struct {
    const char *name;
    bool quadratic, equal_pairs, ask, known, costs_only, active;
    bool diagonal_b;
} job;

/* A session of a few questions and its result. */
static mel_status elicit(void *context)
{
    const job *j = context;
    const mel_domain domain = { .ball = ball };
    mel_session_options opt =
        test_search_options(j->quadratic ? MEL_FAMILY_FAIR_QUADRATIC : MEL_FAMILY_FAIR_LINEAR);
    opt.tolerance = 1.0;
    if (j->active) {
        opt.strategy = MEL_STRATEGY_ACTIVE;
    } else {
        opt.cycles = 1;
        opt.per_round = 2;
    }
    opt.equal_pairs = j->equal_pairs;
    opt.ask_trade_off = j->ask;
    opt.known = j->known ? metrics[j->quadratic] : NULL;
    opt.known_costs_only = j->costs_only;
    opt.diagonal_b = j->diagonal_b;
    return test_try_session(&domain, &opt, oracles[j->quadratic]);
}

static void test_engines(void **state)
{
    (void)state;
    static job jobs[] = {
        { .name = "fair linear" },
        { .name = "fair linear, equal pairs, trade-off asked", .equal_pairs = true, .ask = true },
        { .name = "fair linear, only the trade-off", .known = true },
        { .name = "fair linear, costs known", .known = true, .costs_only = true },
        { .name = "fair quadratic", .quadratic = true },
        { .name = "fair quadratic, trade-off asked", .quadratic = true, .ask = true },
        { .name = "fair quadratic, only the trade-off", .quadratic = true, .known = true },
        { .name = "fair quadratic, diagonal B", .quadratic = true, .diagonal_b = true },
        /* ends at once, and all that is found is a finding */
        { .name = "fair linear, active", .active = true },
    };
    for (size_t i = 0; i < COUNT(jobs); i++)
        test_each_allocation(jobs[i].name, elicit, &jobs[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_engines),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
