/* Which thread has which connection of a store. */
#include "store_connections.h"

void mel_connections_init(mel_connections *c, size_t n)
{
    *c = (mel_connections){ .n_free = n, .served = n };
    (void)pthread_mutex_init(&c->lock, NULL);
    (void)pthread_cond_init(&c->returned, NULL);
    for (size_t i = 0; i < n; i++)
        c->free[i] = n - 1 - i;
}

void mel_connections_clear(mel_connections *c)
{
    (void)pthread_cond_destroy(&c->returned);
    (void)pthread_mutex_destroy(&c->lock);
}

/* What is returned is for the thread that has waited longest; otherwise threads that never sleep would take
 * it again and again, and others starve. */
size_t mel_connections_take(mel_connections *c)
{
    (void)pthread_mutex_lock(&c->lock);
    const uint64_t mine = c->asked++;
    while (mine >= c->served)
        (void)pthread_cond_wait(&c->returned, &c->lock);
    const size_t number = c->free[--c->n_free];
    (void)pthread_mutex_unlock(&c->lock);
    return number;
}

void mel_connections_return(mel_connections *c, size_t number)
{
    (void)pthread_mutex_lock(&c->lock);
    c->free[c->n_free++] = number;
    c->served++;
    (void)pthread_cond_broadcast(&c->returned);
    (void)pthread_mutex_unlock(&c->lock);
}
