/* Which thread has which connection of a store. */
#include "store_connections.h"

#include <stdbool.h>

/* On the stack of the thread that waits. */
struct mel_connection_waiter {
    mel_connection_waiter *next;
    pthread_cond_t called;
    size_t number;
    bool has;
};

void mel_connections_init(mel_connections *connections, size_t n)
{
    *connections = (mel_connections){ .n_free = n };
    (void)pthread_mutex_init(&connections->lock, NULL);
    connections->end = &connections->first;
    for (size_t i = 0; i < n; i++)
        connections->free[i] = n - 1 - i;
}

void mel_connections_clear(mel_connections *connections)
{
    (void)pthread_mutex_destroy(&connections->lock);
}

/* A number that is returned goes straight to the first who waits; otherwise threads that never sleep would
 * take it again and again, and others starve. */
size_t mel_connections_take(mel_connections *connections)
{
    (void)pthread_mutex_lock(&connections->lock);
    if (connections->n_free > 0) {
        const size_t number = connections->free[--connections->n_free];
        (void)pthread_mutex_unlock(&connections->lock);
        return number;
    }
    mel_connection_waiter mine = { 0 };
    (void)pthread_cond_init(&mine.called, NULL);
    *connections->end = &mine;
    connections->end = &mine.next;
    while (!mine.has)
        (void)pthread_cond_wait(&mine.called, &connections->lock);
    (void)pthread_mutex_unlock(&connections->lock);
    (void)pthread_cond_destroy(&mine.called);
    return mine.number;
}

void mel_connections_return(mel_connections *connections, size_t number)
{
    (void)pthread_mutex_lock(&connections->lock);
    mel_connection_waiter *next = connections->first;
    if (next == NULL)
        connections->free[connections->n_free++] = number;
    else {
        connections->first = next->next;
        if (connections->first == NULL)
            connections->end = &connections->first;
        next->number = number;
        next->has = true;
        (void)pthread_cond_signal(&next->called);
    }
    (void)pthread_mutex_unlock(&connections->lock);
}
