/* Clocks, and waiting for a while. */
#ifndef MEL_SERVER_CLOCK_H
#define MEL_SERVER_CLOCK_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

/* CLOCK_REALTIME: since 1970, UTC. */
static inline int64_t mel_clock_ms(clockid_t clock)
{
    struct timespec t = { 0 };
    (void)clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static inline double mel_clock_seconds(clockid_t clock)
{
    struct timespec t = { 0 };
    (void)clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A condition for mel_wait, which goes by a clock that nobody sets. */
static inline void mel_cond_init(pthread_cond_t *condition)
{
    pthread_condattr_t monotonic;
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(condition, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
}

/* Until the condition is signalled, or so many seconds have passed; the lock is held. */
static inline void mel_wait(pthread_cond_t *condition, pthread_mutex_t *lock, double seconds)
{
    struct timespec end;
    (void)clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += (time_t)seconds;
    end.tv_nsec += (long)(1e9 * (seconds - (double)(time_t)seconds));
    end.tv_sec += end.tv_nsec / 1000000000L;
    end.tv_nsec %= 1000000000L;
    (void)pthread_cond_timedwait(condition, lock, &end);
}

#endif
