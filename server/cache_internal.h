/* What the files of the cache share. */
#ifndef MEL_SERVER_CACHE_INTERNAL_H
#define MEL_SERVER_CACHE_INTERNAL_H

#include "cache.h"
#include "rate.h"

#include "base/internal.h"

#include <pthread.h>

enum {
    MEL_MOST_PROBLEMS = 40,
    MEL_PARTICIPANT_BUCKETS = 1024,
    MEL_MEMO_BUCKETS = 4096,
    MEL_BUCKET_MEMOS = 16,
    MEL_MOST_MAKING = 64 /* a quarter of the most workers */
};

typedef struct mel_problem_entry mel_problem_entry;
struct mel_problem_entry {
    mel_problem_entry *next;
    char *key;
    mel_problem *problem;
    size_t users;
    bool making;
    uint64_t used; /* on the cache's clock */
};

/* A stored study, read once for all who take part in it: nobody changes it. Its parts are in pages of several
 * threads at a time. */
typedef struct mel_study_entry mel_study_entry;
struct mel_study_entry {
    mel_study_entry *next;
    char *file; /* the text that was read */
    mel_study *study;
    size_t users;
    size_t idle; /* what its participants that nobody has taken cost */
};

typedef struct mel_participant_entry mel_participant_entry;
struct mel_participant_entry {
    mel_participant participant; /* first: a participant is its entry */
    mel_participant_entry *next;
    mel_participant_entry *newer, *older; /* in the list of entries that nobody has taken */
    char id[MEL_ID_TEXT];
    bool taken, known; /* known: participant is filled */
    size_t waiting;
    size_t cost; /* about how many bytes it takes while it is idle */
};

/* A piece of heavy work. */
typedef struct {
    bool own, shared;       /* it is no study's; it counts for the thread's client */
    const mel_study *study; /* it counts for; NULL: none in particular */
    size_t bytes;           /* that it will take */
} mel_work;

/* Whose work takes a place. */
typedef struct {
    char client[MEL_CLIENT_TEXT]; /* "": nobody's in particular */
    const mel_study *study;
    bool busy;
} mel_worker;

/* A caller who waits for a place. */
typedef struct mel_waiter mel_waiter;
struct mel_waiter {
    mel_waiter *next;
    const mel_study *study;
};

typedef struct {
    char subject[MEL_ID_TEXT], mark[MEL_MEMO_TEXT];
    char *text; /* JSON; NULL: free */
} mel_memo;

struct mel_cache {
    mel_store *store;
    const char *const *folders;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    mel_problem_entry *problems;
    mel_study_entry *studies; /* those that somebody uses */
    mel_participant_entry *bucket[MEL_PARTICIPANT_BUCKETS];
    mel_participant_entry *newest, *oldest;
    size_t n_idle, n_problems, n_made;  /* problems: in memory, ever made */
    size_t workers;                     /* 0: no limits */
    _Atomic size_t memory;              /* bytes that the process should take; 0: any number */
    size_t n_making, n_stuck;           /* callers who do heavy work; who do it or wait for it */
    size_t n_waiting;                   /* callers who wait for a participant */
    size_t aside;                       /* bytes that heavy work under way will take */
    mel_worker worker[MEL_MOST_MAKING]; /* the first n_making that are busy, as far as there is room */
    mel_waiter *waiters;
    size_t idle_own; /* what participants in no study cost that nobody has taken */
    uint64_t clock;  /* ticks when a problem is used */
    /* By a hash of the subject; in each bucket the newest first. */
    mel_memo memos[MEL_MEMO_BUCKETS][MEL_BUCKET_MEMOS];
};

/* --- cache.c: the lock is held in all of these ----------------------------------------------------- */

/* Begins heavy work, if one more may. False: it may not. */
bool mel_cache_enter(mel_cache *cache, const mel_work *work);
/* Until when work that may not begin at once waits for its turn: that of studies for two seconds. */
double mel_cache_patience(bool own);
/* Waits until there may be a place; false: that is no use any more. What is a study's steps aside, so that
 * mel_budget_step_back is due once the lock is not held any more. */
bool mel_cache_wait_turn(mel_cache *cache, const mel_work *work, double until);
/* The work that this thread has begun will take so many bytes; false: not beside what others will take. */
bool mel_cache_set_aside(mel_cache *cache, size_t bytes, bool own);
void mel_cache_leave(mel_cache *cache);
/* Whether one more caller may wait for heavy work. */
bool mel_cache_may_wait(const mel_cache *cache);
void mel_cache_too_busy(mel_error *err); /* says why MEL_BUSY is returned */

/* --- the other files -------------------------------------------------------------------------------- */

/* Turns failures that are no fault of the request (data are gone, a file is not understood any more) into
 * MEL_ESTATE. */
mel_status mel_cache_unavailable(mel_status status, mel_error *err);
/* Forgets what nobody needs now while the process takes too much memory; false: it still does. The lock is
 * not held. */
bool mel_cache_make_room(mel_cache *cache);
/* Forgets some of the participants, and all problems, that nobody needs now; false: there is none. The lock
 * is not held. */
bool mel_cache_forget_idle(mel_cache *cache);
void mel_cache_drop_idle_problems(mel_cache *cache); /* the lock is held */
void mel_cache_free_problems(mel_cache *cache);
void mel_cache_free_participants(mel_cache *cache);

#endif
