#include "support/traders.h"

#include "base/rng.h"
#include "oracle/noise/noise.h"

#include <math.h>

static double normal(mel_rng *rng)
{
    const double u = 1.0 - mel_rng_uniform(rng);
    return sqrt(-2.0 * log(u)) * cos(6.283185307179586 * mel_rng_uniform(rng));
}

static bool errs_as_assumed(const test_trader *p, double x, double margin, mel_rng *rng)
{
    mel_component component[MEL_MOST_COMPONENTS];
    const size_t n = mel_noise_person.learned(component);
    mel_rng own;
    mel_rng_seed_stream(&own, p->seed, UINT64_C(1) << 40);
    double left = mel_rng_uniform(&own);
    size_t i = 0;
    while (i + 1 < n && left >= component[i].weight)
        left -= component[i++].weight;
    const double u = 1e-12 + mel_rng_uniform(rng),
                 noise = hypot(component[i].relative * margin / x, component[i].absolute);
    if (mel_rng_uniform(rng) < component[i].lapse)
        return mel_rng_uniform(rng) < 0.5;
    return margin + log(u / (1.0 + 1e-12 - u)) * noise > 0.0;
}

mel_answer test_trader_answer(const test_trader *p, const mel_question *q)
{
    mel_rng rng;
    mel_rng_seed_stream(&rng, p->seed, q->number);
    const double tp = fabs(q->a[0] - q->b[0]), tn = fabs(q->a[1] - q->b[1]), x = p->rate - log(tn / tp);
    const double margin = (exp(p->rate) * tp - tn) / hypot(1.0, exp(p->rate));
    bool more = x > 0.0;
    switch (p->kind) {
    case TEST_WEBER:
        more = x + 0.15 * normal(&rng) > 0.0;
        break;
    case TEST_HARDLY_SEES:
        more = margin + 0.05 * normal(&rng) > 0.0;
        break;
    case TEST_SAYS_SAME:
        if (fabs(x) < 0.15)
            return MEL_ANSWER_SAME;
        break;
    case TEST_LEXICOGRAPHIC:
        more = true;
        break;
    case TEST_SKIPS:
        return MEL_ANSWER_SKIP;
    case TEST_ALWAYS_SAME:
        return MEL_ANSWER_SAME;
    case TEST_ALWAYS_A:
        return MEL_ANSWER_A;
    case TEST_ALWAYS_B:
        return MEL_ANSWER_B;
    case TEST_CHANGES: /* a pair that comes again has its sides swapped: one side of it is always preferred */
        return (llround(1e6 * (q->a[0] + q->a[1])) + llround(1e6 * (q->b[0] + q->b[1]))) % 2 == 0
                   ? MEL_ANSWER_A
                   : MEL_ANSWER_B;
    case TEST_RANDOM:
        more = mel_rng_uniform(&rng) < 0.5;
        break;
    case TEST_ADVERSARY:
        more = fabs(margin) < 0.02 ? x < 0.0 : x > 0.0;
        break;
    case TEST_MOVES:
        more = x + 0.15 * ((double)q->number - 10.5) + 0.4 * normal(&rng) > 0.0;
        break;
    case TEST_LEARNS:
        more = x + (0.05 + 0.95 * pow(1.0 - ((double)q->number - 1.0) / 19.0, 2.0)) * normal(&rng) > 0.0;
        break;
    case TEST_FINDS:
        more = fmin(q->a[0], q->b[0]) < exp(p->rate);
        break;
    case TEST_LEANS:
        more = x + 0.15 * normal(&rng) + (q->a[0] > q->b[0] ? 1.0 : -1.0) > 0.0;
        break;
    case TEST_PRIOR:
        more = errs_as_assumed(p, x, margin, &rng);
        break;
    default:
        break;
    }
    return more == (q->a[0] > q->b[0]) ? MEL_ANSWER_A : MEL_ANSWER_B;
}

mel_session_options test_options_for_people(void)
{
    mel_session_options opt;
    mel_session_options_init(&opt);
    assert_ok(mel_session_options_suit(&opt, NULL, MEL_BY_PERSON, NULL, 1, NULL), NULL);
    opt.until = MEL_UNTIL_TOLERANCE;
    return opt;
}

static void check_question(const mel_question *q)
{
    assert_int_equal(q->people, 1000);
    for (size_t i = 0; i < 2; i++) {
        assert_true(q->a[i] * 1000.0 == round(q->a[i] * 1000.0) ||
                    fabs(q->a[i] * 1000.0 - round(q->a[i] * 1000.0)) < 1e-9);
        assert_true(fabs(q->b[i] * 1000.0 - round(q->b[i] * 1000.0)) < 1e-9);
    }
}

mel_session *test_answer_as(const mel_face *face, const mel_session_options *opt, const test_trader *p)
{
    const mel_domain domain = { .face = face };
    mel_session *session = NULL;
    mel_error err;
    assert_ok(mel_session_new(&session, &domain, opt, &err), &err);
    for (;;) {
        const mel_question *q = NULL;
        bool done = false;
        assert_ok(mel_session_ask(&q, &done, session, &err), &err);
        if (done)
            return session;
        check_question(q);
        assert_ok(mel_session_tell(session, q->number, test_trader_answer(p, q), NAN, &err), &err);
    }
}

mel_summary test_summary_of(mel_session *session)
{
    mel_metric *metric = NULL;
    mel_summary summary;
    mel_error err;
    assert_ok(mel_session_result(&metric, &summary, session, &err), &err);
    mel_metric_free(metric);
    return summary;
}
