/* Every allocation of sessions, their log and their engines fails once. */
#include "support/binary.h"

#include <stdio.h>

static mel_face *face;
static mel_oracle *oracle;

static int set_up(void **state)
{
    (void)state;
    if (mel_face_from_logistic(&face, 5.0, 0.0, NULL) != MEL_OK)
        return -1;
    oracle = test_linear_oracle(0.7, (mel_noise){ .kind = MEL_NOISE_NONE }, 1);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    mel_oracle_free(oracle);
    mel_face_free(face);
    test_cleanup();
    return 0;
}

typedef struct {
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
    mel_status status = j->path != NULL ? mel_session_open(&session, face, &j->opt, &identity, j->path, &err)
                                        : mel_session_new(&session, face, &j->opt, &err);
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
    const mel_status status = mel_session_open(&session, face, &j->opt, &identity, j->path, &err);
    mel_session_free(session);
    return status;
}

static job make_job(mel_family family, mel_strategy strategy)
{
    static const char *const names[] = { "healthy", "cancer" };
    job j = { .path = NULL };
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
        make_job(MEL_FAMILY_LINEAR_FRACTIONAL, MEL_STRATEGY_SEARCH),
        make_job(MEL_FAMILY_LINEAR_FRACTIONAL, MEL_STRATEGY_ACTIVE),
    };
    rows[3].opt.lfpm = MEL_LFPM_GRID;
    for (size_t i = 0; i < COUNT(rows); i++)
        test_each_allocation("session in memory", elicit, &rows[i]);
}

static void test_log(void **state)
{
    (void)state;
    job j = make_job(MEL_FAMILY_LINEAR, MEL_STRATEGY_ACTIVE);
    j.path = test_path("alloc.jsonl");
    test_each_allocation("session with a file", elicit, &j);
    test_each_allocation("resumed session", resume, &j);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_engines), cmocka_unit_test(test_log) };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
