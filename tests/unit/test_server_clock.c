/* Waiting and the limits on a request's time go by clocks that nobody sets: here the calendar's clock is an
 * hour slow. */
#define _DEFAULT_SOURCE /* syscall */
#include "server/admission.h"
#include "server/clock.h"

#include "support/test.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* In the place of the C library's. */
int clock_gettime(clockid_t clock, struct timespec *out)
{
    const long failed = syscall(SYS_clock_gettime, clock, out);
    if (clock == CLOCK_REALTIME)
        out->tv_sec -= 3600;
    return (int)failed;
}

static void test_wait(void **state)
{
    (void)state;
    pthread_mutex_t lock;
    pthread_cond_t nothing;
    pthread_mutex_init(&lock, NULL);
    mel_cond_init(&nothing);
    const double begun = mel_clock_seconds(CLOCK_MONOTONIC);
    pthread_mutex_lock(&lock);
    mel_wait(&nothing, &lock, 0.9);
    mel_wait(&nothing, &lock, 0.2);
    pthread_mutex_unlock(&lock);
    const double waited = mel_clock_seconds(CLOCK_MONOTONIC) - begun;
    assert_true(waited > 1.09 && waited < 60.0);
    pthread_cond_destroy(&nothing);
    pthread_mutex_destroy(&lock);
}

/* Computes until the budget ends it. */
static mel_status end_of(const mel_budget *budget, mel_error *err)
{
    mel_status status = MEL_OK;
    mel_budget_begin(budget);
    while (status == MEL_OK)
        status = mel_budget_check(err);
    mel_budget_end();
    return status;
}

/* Too much computing is too much the next time, too; too little time by the clock need not be. */
static void test_computing_has_an_end(void **state)
{
    (void)state;
    mel_error err;
    const double begun = mel_clock_seconds(CLOCK_THREAD_CPUTIME_ID);
    assert_int_equal(end_of(&(mel_budget){ .processor = 0.05, .seconds = 3600.0 }, &err), MEL_ELIMIT);
    assert_non_null(strstr(err.text, "more than 0.05 seconds of computing"));
    assert_true(mel_clock_seconds(CLOCK_THREAD_CPUTIME_ID) - begun > 0.05);
    const double since = mel_clock_seconds(CLOCK_MONOTONIC);
    assert_int_equal(end_of(&(mel_budget){ .processor = 3600.0, .seconds = 0.05 }, &err), MEL_ESTOPPED);
    assert_non_null(strstr(err.text, "neither memory nor time"));
    assert_true(mel_clock_seconds(CLOCK_MONOTONIC) - since > 0.05);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_wait),
                                        cmocka_unit_test(test_computing_has_an_end) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
