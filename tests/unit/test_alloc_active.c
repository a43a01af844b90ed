/* Each allocation of the active engines, and of what ends their sessions, fails once: a status comes back,
 * nothing leaks, and an answer that was not taken in can be told again. */
#include "support/multiclass.h"

#include "elicit/active/posterior/sphere.h"
#include "elicit/engine.h"
#include "space/shared.h"

#include <math.h>
#include <string.h>

enum { MOST = 6, ROUNDS = 3 };

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

/* --- engines ------------------------------------------------------------------------------------ */

typedef struct {
    mel_domain domain;
    mel_session_options opt;
    mel_status (*make)(mel_engine **out, const mel_domain *domain, const mel_session_options *opt,
                       mel_error *err);
    mel_answer last; /* of the answers; the others are A */
} job;

static mel_status make_exchange(mel_engine **out, const mel_domain *domain, const mel_session_options *opt,
                                mel_error *err)
{
    return mel_engine_exchange(out, domain->face, opt, err);
}

static mel_status ask_and_tell(mel_engine *engine, mel_answer last, mel_error *err)
{
    for (int i = 0; i < ROUNDS; i++) {
        const mel_answer answer = i + 1 < ROUNDS ? MEL_ANSWER_A : last;
        double room[2 * MOST] = { 0 }, again[2 * MOST] = { 0 };
        mel_pair pair = { .a = room, .b = room + MOST }, same = { .a = again, .b = again + MOST };
        mel_end end;
        mel_status status = engine->ops->next(engine, &pair, &end, err);
        if (status != MEL_OK)
            return status;
        status = engine->ops->tell(engine, &pair, answer, err);
        if (status == MEL_ENOMEM && engine->ops->next(engine, &same, &end, err) == MEL_OK) {
            assert_memory_equal(again, room, sizeof room); /* nothing has changed: once more */
            (void)engine->ops->tell(engine, &same, answer, err);
        }
        if (status != MEL_OK)
            return status;
    }
    return MEL_OK;
}

static mel_status run_engine(void *context)
{
    const job *j = context;
    mel_engine *engine = NULL;
    mel_error err;
    mel_status status = j->make(&engine, &j->domain, &j->opt, &err);
    if (status != MEL_OK) {
        assert_null(engine);
        return status;
    }
    status = ask_and_tell(engine, j->last, &err);
    mel_metric *metric = NULL;
    mel_summary summary;
    const mel_status result = engine->ops->result(engine, &metric, &summary, &err);
    assert_true((result == MEL_OK) == (metric != NULL));
    mel_metric_free(metric);
    engine->ops->free(engine);
    return status != MEL_OK ? status : result;
}

static job make_job(mel_family family, mel_domain domain)
{
    job j = { .domain = domain, .last = MEL_ANSWER_A };
    j.make = domain.face != NULL ? mel_engine_features : mel_engine_bivector;
    mel_session_options_init(&j.opt);
    j.opt.family = family;
    return j;
}

static void test_face(void **state)
{
    (void)state;
    mel_face *face = NULL;
    mel_error err;
    assert_ok(mel_face_from_logistic(&face, 2.0, 0.5, &err), &err);
    job j = make_job(MEL_FAMILY_LINEAR_FRACTIONAL, (mel_domain){ .face = face });
    j.opt.direction = MEL_DIRECTION_UNKNOWN;
    test_each_allocation("linear-fractional metrics on a face", run_engine, &j);
    j.opt.known_p11 = 1.0;
    test_each_allocation("linear-fractional metrics with a known p11", run_engine, &j);
    mel_face_free(face);
}

/* On a face that has no notes yet. */
static mel_status run_on_a_new_face(void *context)
{
    job j = *(job *)context;
    mel_face *face = NULL;
    mel_status status = mel_face_from_logistic(&face, 3.0, 0.7, NULL);
    j.domain.face = face;
    if (status == MEL_OK)
        status = run_engine(&j);
    mel_face_free(face);
    return status;
}

/* From the first "about the same" on the posterior takes more room; an imagined test is made beforehand. */
static void test_exchange(void **state)
{
    (void)state;
    mel_face *face = NULL;
    mel_error err;
    assert_ok(mel_face_from_logistic(&face, 3.0, 0.7, &err), &err);
    job j = make_job(MEL_FAMILY_LINEAR, (mel_domain){ .face = face });
    j.make = make_exchange;
    j.last = MEL_ANSWER_SAME;
    assert_ok(mel_session_options_suit(&j.opt, NULL, MEL_BY_PERSON, NULL, 1, NULL), NULL);
    j.opt.imagined_beyond = true;
    test_each_allocation("exchange rates", run_engine, &j);
    test_each_allocation("exchange rates on a new face", run_on_a_new_face, &j);
    mel_face_free(face);
}

static void test_space(void **state)
{
    (void)state;
    const double a[] = { 0.2, 0.3, 0.5 }, b[] = { 0.1, 0.0, -0.1 };
    mel_space *space = test_softmax_space(3, MEL_CONFUSION, MEL_DIAGONAL);
    job j = make_job(MEL_FAMILY_DIAGONAL_LINEAR_FRACTIONAL, (mel_domain){ .space = space });
    mel_metric *prior = test_fractional_metric(j.opt.family, mel_space_layout(space), a, b, 1.0);
    j.opt.assume.kind = MEL_NOISE_FLIP;
    j.opt.prior = prior;
    j.opt.prior_strength = 10.0;
    test_each_allocation("linear-fractional metrics on faces", run_engine, &j);
    mel_metric_free(prior);
    mel_space_free(space);
}

static mel_ball *binary_ball(void)
{
    const mel_layout layout = { .kind = MEL_RATES, .coordinates = MEL_BINARY, .n_classes = 2 };
    mel_ball *ball = NULL;
    mel_error err;
    assert_ok(mel_ball_new(&ball, &layout, 0.4, NULL, NULL, &err), &err);
    return ball;
}

static void test_ball(void **state)
{
    (void)state;
    mel_ball *ball = binary_ball();
    job j = make_job(MEL_FAMILY_LINEAR_FRACTIONAL, (mel_domain){ .ball = ball });
    j.opt.assume.kind = MEL_NOISE_FLIP;
    test_each_allocation("linear-fractional metrics on a ball", run_engine, &j);
    mel_ball_free(ball);
}

/* --- ends of sessions --------------------------------------------------------------------------- */

/* Somebody to whom less is better in every number. */
static mel_status prefer_less(mel_reply *reply, void *user, const mel_question *question, mel_error *err)
{
    (void)user;
    (void)err;
    const double better = 0.9 * (question->b[0] - question->a[0]) + 0.4 * (question->b[1] - question->a[1]);
    *reply = better > 0.0 ? MEL_REPLY_A : MEL_REPLY_B;
    return MEL_OK;
}

static mel_status run_session(void *context)
{
    const job *j = context;
    mel_session *session = NULL;
    mel_oracle *oracle = NULL;
    mel_metric *metric = NULL;
    mel_summary summary = { .signs = MEL_SIGNS_FREE };
    mel_error err;
    mel_status status = mel_oracle_callback(&oracle, prefer_less, NULL, NULL, &err);
    if (status == MEL_OK)
        status = mel_session_new(&session, &j->domain, &j->opt, &err);
    if (status == MEL_OK)
        status = mel_session_run(session, oracle, &err);
    if (status == MEL_OK)
        status = mel_session_result(&metric, &summary, session, &err);
    assert_true((status == MEL_OK) == (metric != NULL));
    if (status == MEL_OK && j->opt.until == MEL_UNTIL_TOLERANCE)
        assert_int_equal(summary.signs, MEL_SIGNS_PRESSED);
    mel_metric_free(metric);
    mel_session_free(session);
    mel_oracle_free(oracle);
    return status;
}

/* The direction is declared wrongly, which is noticed in the end. */
static void test_signs(void **state)
{
    (void)state;
    mel_ball *ball = binary_ball();
    mel_face *face = NULL;
    mel_space *space = test_softmax_space(2, MEL_CONFUSION, MEL_DIAGONAL);
    mel_error err;
    assert_ok(mel_face_from_logistic(&face, 2.0, 0.5, &err), &err);
    job rows[] = { make_job(MEL_FAMILY_LINEAR, (mel_domain){ .ball = ball }),
                   make_job(MEL_FAMILY_LINEAR, (mel_domain){ .face = face }),
                   make_job(MEL_FAMILY_DIAGONAL_LINEAR, (mel_domain){ .space = space }) };
    for (size_t i = 0; i < COUNT(rows); i++) {
        rows[i].opt.tolerance = 0.1;
        test_each_allocation("wrong direction", run_session, &rows[i]);
    }
    mel_ball_free(ball);
    mel_face_free(face);
    mel_space_free(space);
}

/* Every question looks at the order of the pool; one is enough here. */
static void test_rank(void **state)
{
    (void)state;
    const double pool[] = { 0.3, 0.35, 0.35, 0.3 };
    mel_ball *ball = binary_ball();
    job j = make_job(MEL_FAMILY_LINEAR, (mel_domain){ .ball = ball });
    j.opt.max_questions = 1;
    j.opt.until = MEL_UNTIL_RANK;
    j.opt.decisions = mel_decisions_usual();
    j.opt.n_pool = 2;
    j.opt.pool = pool;
    test_each_allocation("order of a pool", run_session, &j);
    mel_ball_free(ball);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sampler), cmocka_unit_test(test_exchange), cmocka_unit_test(test_face),
        cmocka_unit_test(test_space),   cmocka_unit_test(test_ball),     cmocka_unit_test(test_signs),
        cmocka_unit_test(test_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
