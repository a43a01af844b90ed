/* Each allocation of the chooser of pairs of a pool fails once. */
#include "support/test.h"

#include "elicit/active/ask/candidates.h"

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

static void test_pool(void **state)
{
    (void)state;
    test_each_allocation("pool", run_pool, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_pool) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
