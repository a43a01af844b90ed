/* Numbers 0 to n - 1, each for one thread at a time, in the order in which they came to ask. */
#ifndef MEL_SERVER_STORE_POOL_H
#define MEL_SERVER_STORE_POOL_H

#include <pthread.h>
#include <stddef.h>

enum { MEL_POOL_MOST = 16 };

typedef struct mel_pool_waiter mel_pool_waiter;
typedef struct {
    pthread_mutex_t lock; /* of what follows */
    size_t free[MEL_POOL_MOST], n_free;
    mel_pool_waiter *first, **end;
} mel_pool;

/* n <= MEL_POOL_MOST */
void mel_pool_init(mel_pool *pool, size_t n);
/* Nobody may have or want a number any more. */
void mel_pool_clear(mel_pool *pool);
/* The number returned last, if there is one: few threads use few numbers. Else it waits. */
size_t mel_pool_take(mel_pool *pool);
void mel_pool_return(mel_pool *pool, size_t number);

#endif
