/* Numbers 0 to n - 1, each for one thread at a time, in the order in which threads asked. */
#ifndef MEL_SERVER_STORE_CONNECTIONS_H
#define MEL_SERVER_STORE_CONNECTIONS_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

enum { MEL_MOST_CONNECTIONS = 16 };

typedef struct {
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t returned;
    size_t free[MEL_MOST_CONNECTIONS], n_free;
    uint64_t asked;  /* how many threads have asked: a thread waits until its own count ... */
    uint64_t served; /* ... is below this one */
} mel_connections;

/* n <= MEL_MOST_CONNECTIONS */
void mel_connections_init(mel_connections *connections, size_t n);
/* Nobody may have or need a number any more. */
void mel_connections_clear(mel_connections *connections);
/* The number returned last, if there is one: few threads use few numbers. Else it waits. */
size_t mel_connections_take(mel_connections *connections);
void mel_connections_return(mel_connections *connections, size_t number);

#endif
