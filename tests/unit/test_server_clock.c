/* Waiting goes by a clock that nobody sets: here the calendar's clock is an hour slow. */
#define _DEFAULT_SOURCE /* syscall */
#include "server/clock.h"

#include "support/test.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_wait) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
