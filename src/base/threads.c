/* How many threads the library uses. */
#include "base/internal.h"

#include <cblas.h>
#include <omp.h>
#include <pthread.h>

int mel_thread_count(int threads)
{
    /* Debian's OpenBLAS has working memory for 64 callers at once. */
    enum { MOST = 64 };
    const int wanted = threads > 0 ? threads : omp_get_num_procs();
    return wanted < MOST ? wanted : MOST;
}

/* OpenBLAS has one process-wide thread count. The only mutable state of the library is this count
 * of holders and the value to restore; it changes speed, never results. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned holders;
static int caller_threads;

void mel_blas_hold(void)
{
    pthread_mutex_lock(&lock);
    if (holders++ == 0) {
        caller_threads = openblas_get_num_threads();
        if (caller_threads != 1)
            openblas_set_num_threads(1);
    }
    pthread_mutex_unlock(&lock);
}

void mel_blas_release(void)
{
    pthread_mutex_lock(&lock);
    if (--holders == 0 && caller_threads != 1)
        openblas_set_num_threads(caller_threads);
    pthread_mutex_unlock(&lock);
}
