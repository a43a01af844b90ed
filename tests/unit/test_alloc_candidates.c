/* Each allocation of the chooser of pairs of a pool, of sessions about one and of reading one fails once. */
#include "support/test.h"

#include "elicit/active/ask/candidates.h"
#include "elicit/shared.h"

#include <stdlib.h>

static mel_status run_pool(void *context)
{
    static const double point[8] = { 1, 0, 0, 1, -1, 0, 0.6, 0.8 };
    (void)context;
    mel_candidates *chooser = NULL;
    mel_error err;
    const mel_status status = mel_candidates_new(&chooser, 4, 2, point, 64, &err);
    assert_true((status == MEL_OK) == (chooser != NULL));
    mel_candidates_free(chooser);
    return status;
}

static const char pool_text[] = "name,u:tp,u:fn,u:fp,u:tn,v:tp,v:fn,v:fp,v:tn\n"
                                "a,40,10,20,80,30,20,10,90\n"
                                "b,30,20,10,90,45,5,30,70\n"
                                "c,48,2,60,40,20,30,5,95\n";

static mel_status make_problem(mel_problem **out, const char *path, mel_error *err)
{
    mel_problem_options opt;
    mel_problem_options_init(&opt);
    opt.candidates = path;
    const mel_problem_want want = mel_want_of_family(MEL_FAMILY_FAIR_LINEAR);
    return mel_problem_make(out, &opt, &want, err);
}

static mel_status run_problem(void *context)
{
    mel_problem *problem = NULL;
    mel_error err;
    const mel_status status = make_problem(&problem, context, &err);
    mel_problem_free(problem);
    return status;
}

/* One question about a problem, its answer, and what the log says of it. */
static mel_status run_session(void *context)
{
    const mel_problem *problem = context;
    mel_session_options opt;
    mel_session *session = NULL;
    const mel_question *question = NULL;
    bool done = false;
    char *text = NULL;
    mel_error err;
    mel_session_options_init(&opt);
    opt.family = MEL_FAMILY_FAIR_LINEAR;
    mel_status status = mel_session_new(&session, &problem->domain, &opt, &err);
    if (status == MEL_OK)
        status = mel_session_ask(&question, &done, session, &err);
    if (status == MEL_OK)
        status = mel_session_tell(session, 1, MEL_ANSWER_A, 1.0, &err);
    if (status == MEL_OK)
        status = mel_session_line(&text, session, 0, &err);
    free(text);
    mel_session_free(session);
    return status;
}

static void test_session(void **state)
{
    (void)state;
    const char *path = test_file("pool.csv", pool_text, sizeof pool_text - 1);
    mel_problem *problem = NULL;
    mel_error err;
    test_each_allocation("a problem of candidates", run_problem, (void *)(uintptr_t)path);
    assert_ok(make_problem(&problem, path, &err), &err);
    test_each_allocation("a session about candidates", run_session, problem);
    mel_problem_free(problem);
}

static void test_pool(void **state)
{
    (void)state;
    test_each_allocation("pool", run_pool, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_pool),
                                        cmocka_unit_test_teardown(test_session, test_teardown) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
