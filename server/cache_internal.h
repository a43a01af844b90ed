/* What the files of the cache share. */
#ifndef MEL_SERVER_CACHE_INTERNAL_H
#define MEL_SERVER_CACHE_INTERNAL_H

#include "cache.h"

#include "base/internal.h"

#include <pthread.h>

enum {
    MEL_MOST_PROBLEMS = 40,
    MEL_PARTICIPANT_BUCKETS = 1024,
    MEL_MEMO_BUCKETS = 4096,
    MEL_BUCKET_MEMOS = 16
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

typedef struct {
    char subject[MEL_ID_TEXT], mark[MEL_MEMO_TEXT];
    char *text; /* JSON; NULL: free */
} mel_memo;

struct mel_cache {
    mel_store *store;
    const char *const *folders;
    mel_admission *admission;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    mel_problem_entry *problems;
    mel_study_entry *studies; /* those that somebody uses */
    mel_participant_entry *bucket[MEL_PARTICIPANT_BUCKETS];
    mel_participant_entry *newest, *oldest;
    size_t n_idle, n_problems, n_made; /* problems: in memory, ever made */
    size_t idle_own;                   /* what participants in no study cost that nobody has taken */
    uint64_t clock;                    /* ticks when a problem is used */
    /* By a hash of the subject; in each bucket the newest first. */
    mel_memo memos[MEL_MEMO_BUCKETS][MEL_BUCKET_MEMOS];
};

/* Turns failures that are no fault of the request (data are gone, a file is not understood any more) into
 * MEL_ESTATE. */
mel_status mel_cache_unavailable(mel_status status, mel_error *err);
/* Forgets some of the participants, and all problems, that nobody needs now; false: there is none. The lock
 * is not held. */
bool mel_cache_forget_idle(mel_cache *cache);
void mel_cache_drop_idle_problems(mel_cache *cache); /* the lock is held */
void mel_cache_free_problems(mel_cache *cache);

#endif
