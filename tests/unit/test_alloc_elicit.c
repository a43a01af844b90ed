/* Every allocation of sessions, their log and their engines fails once. */
#include "elicit/shared.h"
#include "space/shared.h"
#include "support/binary.h"

#include <stdio.h>
#include <stdlib.h>

static mel_face *face;
static mel_space *space;
static mel_ball *ball, *group_ball;
static mel_oracle *oracle;

/* Any answer will do; what is told must be digested. */
static mel_status prefer_first(mel_reply *reply, void *user, const mel_question *question, mel_error *err)
{
    (void)user;
    (void)err;
    *reply = question->a[0] > question->b[0] ? MEL_REPLY_A : MEL_REPLY_B;
    return MEL_OK;
}

static int set_up(void **state)
{
    (void)state;
    const mel_layout plain = { MEL_RATES, MEL_OFFDIAGONAL, 3, 0 },
                     groups = { MEL_RATES, MEL_OFFDIAGONAL, 2, 2 };
    const double slope[] = { 1.0, 3.0, 5.0 };
    mel_space_options opt;
    mel_space_options_init(&opt);
    opt.coordinates = MEL_DIAGONAL;
    const bool made = mel_face_from_logistic(&face, 5.0, 0.0, NULL) == MEL_OK &&
                      mel_space_from_softmax(&space, 3, slope, &opt, NULL) == MEL_OK &&
                      mel_ball_new(&ball, &plain, 0.1, NULL, NULL, NULL) == MEL_OK &&
                      mel_ball_new(&group_ball, &groups, 0.1, NULL, NULL, NULL) == MEL_OK &&
                      mel_oracle_callback(&oracle, prefer_first, NULL, NULL, NULL) == MEL_OK;
    return made ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    mel_oracle_free(oracle);
    mel_face_free(face);
    mel_space_free(space);
    mel_ball_free(ball);
    mel_ball_free(group_ball);
    test_cleanup();
    return 0;
}

typedef struct {
    mel_domain domain;
    mel_session_options opt;
    const char *path; /* NULL: in memory */
} job;

/* A session from its start to its result, with an undo on the way. */
static mel_status elicit(void *context)
{
    const job *j = context;
    const mel_identity identity = { .space_json = "{\"population\": \"logistic:a=5,b=0\"}" };
    mel_session *session = NULL;
    mel_metric *metric = NULL;
    mel_error err;
    if (j->path != NULL)
        (void)remove(j->path);
    mel_status status = j->path != NULL
                            ? mel_session_open(&session, &j->domain, &j->opt, &identity, j->path, &err)
                            : mel_session_new(&session, &j->domain, &j->opt, &err);
    if (status == MEL_OK)
        status = mel_session_run(session, oracle, &err);
    if (status == MEL_OK)
        status = mel_session_undo(session, &err);
    if (status == MEL_OK)
        status = mel_session_run(session, oracle, &err);
    if (status == MEL_OK)
        status = mel_session_result(&metric, NULL, session, &err);
    mel_metric_free(metric);
    mel_session_free(session);
    return status;
}

static mel_status resume(void *context)
{
    const job *j = context;
    const mel_identity identity = { .space_json = "{\"population\": \"logistic:a=5,b=0\"}" };
    mel_session *session = NULL;
    mel_error err;
    const mel_status status = mel_session_open(&session, &j->domain, &j->opt, &identity, j->path, &err);
    mel_session_free(session);
    return status;
}

/* What the file says, without opening a session. */
static mel_status look(void *context)
{
    const job *j = context;
    mel_session_options *stored = NULL;
    char *header = NULL;
    mel_error err;
    mel_status status = mel_session_header(&header, j->path, &err);
    if (status == MEL_OK)
        status = mel_session_options_read(&stored, j->path, &j->domain, &err);
    assert_true((stored != NULL) == (status == MEL_OK));
    mel_session_options_free(stored);
    free(header);
    return status;
}

static job make_job(mel_family family, mel_strategy strategy)
{
    static const char *const names[] = { "healthy", "cancer", "flu" };
    job j = { .domain = { .face = face }, .path = NULL };
    mel_session_options_init(&j.opt);
    j.opt.family = family;
    j.opt.strategy = strategy;
    j.opt.max_questions = 6;
    j.opt.class_names = names;
    return j;
}

static void test_engines(void **state)
{
    (void)state;
    job rows[] = {
        make_job(MEL_FAMILY_LINEAR, MEL_STRATEGY_ACTIVE),
        make_job(MEL_FAMILY_LINEAR, MEL_STRATEGY_SEARCH),
        make_job(MEL_FAMILY_LINEAR_FRACTIONAL, MEL_STRATEGY_SEARCH),
        make_job(MEL_FAMILY_LINEAR_FRACTIONAL, MEL_STRATEGY_ACTIVE),
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        test_each_allocation("session in memory", elicit, &rows[i]);
}

static void test_domains(void **state)
{
    (void)state;
    static const char *const groups[] = { "men", "women" };
    static const signed char signs[] = { -1, -1, 0, -1, -1, -1 };
    job rows[] = {
        make_job(MEL_FAMILY_DIAGONAL_LINEAR, MEL_STRATEGY_SEARCH),
        make_job(MEL_FAMILY_LINEAR, MEL_STRATEGY_SEARCH),
        make_job(MEL_FAMILY_LINEAR, MEL_STRATEGY_ACTIVE),
        make_job(MEL_FAMILY_FAIR_LINEAR, MEL_STRATEGY_ACTIVE),
    };
    rows[0].domain = (mel_domain){ .space = space };
    rows[1].domain = rows[2].domain = (mel_domain){ .ball = ball };
    rows[3].domain = (mel_domain){ .ball = group_ball };
    rows[1].opt.signs = signs;
    rows[3].opt.group_names = groups;
    for (size_t i = 0; i < COUNT(rows); i++)
        test_each_allocation("session off a face", elicit, &rows[i]);
}

static void test_log(void **state)
{
    (void)state;
    job j = make_job(MEL_FAMILY_LINEAR, MEL_STRATEGY_ACTIVE);
    j.path = test_path("alloc.jsonl");
    test_each_allocation("session with a file", elicit, &j);
    test_each_allocation("resumed session", resume, &j);
    static const signed char signs[] = { -1, -1, 0, -1, -1, -1 };
    j = make_job(MEL_FAMILY_LINEAR, MEL_STRATEGY_SEARCH);
    j.path = test_path("alloc_ball.jsonl");
    j.domain = (mel_domain){ .ball = ball };
    j.opt.signs = signs;
    j.opt.max_questions = 2; /* every answer is synced */
    test_each_allocation("session with a file of vectors", elicit, &j);
    test_each_allocation("resumed session of vectors", resume, &j);
    test_each_allocation("options of its file", look, &j);
}

/* A session with a purpose and a prior, and its draws. */
static mel_status posterior(void *context)
{
    const job *j = context;
    mel_session *session = NULL;
    mel_cost_ratio ratio;
    size_t n = 0, size = 0;
    double *draw = NULL;
    mel_error err;
    mel_status status = mel_session_new(&session, &j->domain, &j->opt, &err);
    if (status == MEL_OK)
        status = mel_session_run(session, oracle, &err);
    if (status == MEL_OK)
        status = mel_session_draws(&n, &size, &draw, session, &err);
    if (status == MEL_OK)
        status = mel_session_weight_ratio(&ratio, session, 0, 1, &err);
    free(draw);
    mel_session_free(session);
    return status;
}

/* What two such sessions say together. */
static mel_status together(void *context)
{
    mel_session *const *session = context;
    mel_outcome *pooled = NULL;
    mel_error err;
    const mel_status status = mel_outcome_of_sessions(&pooled, 2, session, NULL, &err);
    assert_true((pooled != NULL) == (status == MEL_OK));
    mel_outcome_free(pooled);
    return status;
}

static mel_status written(void *context)
{
    char *text = NULL;
    mel_error err;
    const mel_status status = mel_outcome_to_json(&text, context, &err);
    assert_true((text != NULL) == (status == MEL_OK));
    free(text);
    return status;
}

/* Two sessions, which began with a prior, as people around a common metric. */
static mel_status community(void *context)
{
    mel_session *const *session = context;
    mel_pooled *found = NULL;
    mel_error err;
    mel_metric *among = NULL;
    mel_status status = mel_respondents_join(&found, 2, session, &err);
    assert_true((found != NULL) == (status == MEL_OK));
    if (status == MEL_OK) {
        status = mel_pooled_person(&among, found, session[0], &err);
        assert_true((among != NULL) == (status == MEL_OK));
    }
    mel_metric_free(among);
    mel_pooled_free(found);
    return status;
}

static void test_pair(const job *j)
{
    mel_session *session[2] = { NULL, NULL };
    mel_error err;
    for (size_t i = 0; i < 2; i++) {
        assert_ok(mel_session_new(&session[i], &j->domain, &j->opt, &err), &err);
        assert_ok(mel_session_run(session[i], oracle, &err), &err);
    }
    test_each_allocation("two posteriors", together, session);
    mel_outcome *pooled = NULL;
    assert_ok(mel_outcome_of_sessions(&pooled, 2, session, NULL, &err), &err);
    test_each_allocation("two posteriors in a file", written, pooled);
    mel_outcome_free(pooled);
    test_each_allocation("people around a common metric", community, session);
    mel_session_free(session[0]);
    mel_session_free(session[1]);
}

static void test_posterior(void **state)
{
    (void)state;
    static const double a[] = { -1, -2, -1, -1, -1, -1 }, plane[] = { 0.3, 0.31, 0.31, 0.3 };
    job rows[] = { make_job(MEL_FAMILY_LINEAR, MEL_STRATEGY_ACTIVE),
                   make_job(MEL_FAMILY_LINEAR, MEL_STRATEGY_ACTIVE) };
    rows[1].domain = (mel_domain){ .ball = ball };
    mel_metric *prior[2] = { NULL, NULL };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const mel_layout binary = { MEL_CONFUSION, MEL_BINARY, 2, 0 };
        const mel_layout *layout = i == 0 ? &binary : mel_ball_layout(ball);
        assert_ok(mel_metric_linear(&prior[i], MEL_FAMILY_LINEAR, layout, NULL,
                                    i == 0 ? MEL_COST : MEL_UTILITY, a, NULL),
                  NULL);
        rows[i].opt.max_questions = 2;
        rows[i].opt.prior = prior[i];
        rows[i].opt.prior_strength = 4.0;
        rows[i].opt.tolerance = 1e-6;
        test_each_allocation("posterior", posterior, &rows[i]);
        test_pair(&rows[i]);
        mel_metric_free(prior[i]);
    }
    /* Named in a header. */
    job j = make_job(MEL_FAMILY_LINEAR, MEL_STRATEGY_ACTIVE);
    mel_metric *named = NULL;
    const mel_layout binary = { MEL_CONFUSION, MEL_BINARY, 2, 0 };
    assert_ok(mel_metric_linear(&named, MEL_FAMILY_LINEAR, &binary, NULL, MEL_COST, a, NULL), NULL);
    j.path = test_path("alloc_purpose.jsonl");
    j.opt.max_questions = 1;
    j.opt.until = MEL_UNTIL_RANK;
    j.opt.decisions = mel_decisions_usual();
    j.opt.n_pool = 2;
    j.opt.pool = plane;
    j.opt.prior = named;
    j.opt.prior_strength = 4.0;
    test_each_allocation("session with a purpose in its file", resume, &j);
    test_each_allocation("options of a file with a purpose", look, &j);
    mel_metric_free(named);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_engines), cmocka_unit_test(test_domains),
                                        cmocka_unit_test(test_log), cmocka_unit_test(test_posterior) };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
