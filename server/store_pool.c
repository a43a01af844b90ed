#include "store_pool.h"

#include <stdbool.h>

/* On the stack of the thread that waits. */
struct mel_pool_waiter {
    mel_pool_waiter *next;
    pthread_cond_t called;
    size_t number;
    bool has;
};

void mel_pool_init(mel_pool *pool, size_t n)
{
    *pool = (mel_pool){ .n_free = n };
    (void)pthread_mutex_init(&pool->lock, NULL);
    pool->end = &pool->first;
    for (size_t i = 0; i < n; i++)
        pool->free[i] = n - 1 - i;
}

void mel_pool_clear(mel_pool *pool)
{
    (void)pthread_mutex_destroy(&pool->lock);
}

/* A number that is returned goes straight to the first who waits; otherwise threads that never sleep would
 * take it again and again, and others starve. */
size_t mel_pool_take(mel_pool *pool)
{
    (void)pthread_mutex_lock(&pool->lock);
    if (pool->n_free > 0) {
        const size_t number = pool->free[--pool->n_free];
        (void)pthread_mutex_unlock(&pool->lock);
        return number;
    }
    mel_pool_waiter mine = { 0 };
    (void)pthread_cond_init(&mine.called, NULL);
    *pool->end = &mine;
    pool->end = &mine.next;
    while (!mine.has)
        (void)pthread_cond_wait(&mine.called, &pool->lock);
    (void)pthread_mutex_unlock(&pool->lock);
    (void)pthread_cond_destroy(&mine.called);
    return mine.number;
}

void mel_pool_return(mel_pool *pool, size_t number)
{
    (void)pthread_mutex_lock(&pool->lock);
    mel_pool_waiter *next = pool->first;
    if (next == NULL)
        pool->free[pool->n_free++] = number;
    else {
        pool->first = next->next;
        if (pool->first == NULL)
            pool->end = &pool->first;
        next->number = number;
        next->has = true;
        (void)pthread_cond_signal(&next->called);
    }
    (void)pthread_mutex_unlock(&pool->lock);
}
