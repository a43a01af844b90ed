/* What the server takes on: how often each client may ask, how much heavy work goes on at a time and whose,
 * how many bytes requests, answers and work hold in memory, how much the store may take, and what one request
 * may take. libmicrohttpd limits connections and the memory of each. */
#ifndef MEL_SERVER_ADMISSION_H
#define MEL_SERVER_ADMISSION_H

#include "store.h"

#include <pthread.h>

/* The client behind an address: of IPv6 all addresses of one /64 are one client. Other texts stay. */
enum { MEL_CLIENT_TEXT = 56 };
void mel_client_name(char out[MEL_CLIENT_TEXT], const char *who);
/* The /48 of an IPv6 address, which one customer of a provider may have: all of it may do what so many
 * clients may. "": there is none. */
enum { MEL_NETWORK_CLIENTS = 4 };
void mel_network_name(char out[MEL_CLIENT_TEXT], const char *who);

/* A bucket of tokens, of which so many were taken within a minute. */
typedef struct {
    uint64_t key;   /* a keyed hash of what and who; 0: free */
    int64_t minute; /* that is counted */
    unsigned taken;
} mel_bucket;

/* Whose work takes a place. */
typedef struct {
    char client[MEL_CLIENT_TEXT]; /* "": nobody's in particular */
    const void *study;            /* looked at by its address only; NULL: none */
    bool busy;
} mel_worker;

/* A caller who waits for a place. */
typedef struct mel_waiter mel_waiter;
struct mel_waiter {
    mel_waiter *next;
    const void *study;
};

/* What holds bytes: usual bodies of requests, uploads of strangers and of researchers, answers. */
typedef enum { MEL_BODIES, MEL_STRANGERS, MEL_RESEARCHERS, MEL_ANSWERS, MEL_POOLS } mel_byte_pool;

enum { MEL_BUCKETS = 16384, MEL_MOST_MAKING = 64 /* a quarter of the most workers */ };

typedef struct {
    pthread_mutex_t lock; /* of everything that is not atomic */
    pthread_cond_t changed;
    unsigned char key[16]; /* of hashes, random: nobody can choose names that share a place */
    mel_bucket buckets[MEL_BUCKETS];
    size_t workers;                     /* 0: no limits */
    double patience;                    /* seconds that work waits for a place */
    _Atomic size_t memory;              /* bytes that the process should take; 0: any number */
    size_t n_making, n_stuck;           /* callers who do heavy work; who do it or wait for it */
    size_t n_persons;                   /* callers who wait for a participant */
    size_t n_waiting[2];                /* callers who wait for a place: for a study's work, for other work */
    mel_worker worker[MEL_MOST_MAKING]; /* the first n_making that are busy, as far as there is room */
    mel_waiter *waiters;
    size_t set_aside;       /* bytes that heavy work under way will take */
    size_t held[MEL_POOLS]; /* bytes */
    size_t most[MEL_POOLS];
    bool (*forget)(void *user); /* what nobody needs now; false: there is none */
    void *user;
    mel_store *store;                       /* NULL: not looked at */
    _Atomic int64_t store_most, disk_keep;  /* bytes of the store, and of its disk; 0: no limit */
    _Atomic int64_t store_bytes, disk_free; /* when they were last measured; -1: not known */
    _Atomic int64_t measured;               /* on the monotonic clock, milliseconds */
} mel_admission;
/* NULL without memory. */
mel_admission *mel_admission_new(void);
void mel_admission_free(mel_admission *admission);
/* Sets how many callers there may be at a time, and how many bytes the process should take (0: any number).
 */
void mel_admission_limit(mel_admission *admission, size_t workers, size_t memory);

/* --- how often ------------------------------------------------------------------------------------ */

/* Takes one token for `what` by `who`: an address (the client behind it, and its network), a study, .... 0:
 * it may go on; otherwise seconds after which the bucket is full again. most: within a minute. */
unsigned mel_admission_count(mel_admission *admission, const char *what, const char *who, unsigned most);
/* Takes so many more, which nothing refuses any more. */
void mel_admission_add(mel_admission *admission, const char *what, const char *who, unsigned n);

/* --- heavy work ----------------------------------------------------------------------------------- */

/* Too much heavy work is under way: the same call succeeds in a moment. No other failure of these functions
 * has this status. */
#define MEL_BUSY MEL_ESTOPPED
mel_status mel_busy(mel_error *err); /* with a sentence */

/* A piece of heavy work: making a problem, reading an upload, whatever runs between begin and end. It waits
 * for a place, for two seconds, while other requests go on: clients that are refused at once come again at
 * once, thousands of times a second, and that slows everybody down. Then it is refused with MEL_BUSY, so that
 * answers always find a worker.
 * What is no study's leaves a place for studies, and is refused while the process takes too much memory
 * although all was forgotten that nobody needs. */
typedef struct {
    bool own;          /* it is no study's: a session of somebody's own, an upload */
    bool shared;       /* it counts for the client of the request */
    bool holds;        /* a participant whom others wait for: what is no study's is then refused at once */
    const void *study; /* it counts for; NULL: none in particular */
    size_t bytes;      /* that it will take; for what is no study's they must fit beside what others take */
} mel_work;
/* Heavy work that ends with the block: MEL_HELD(work); TRY(mel_work_begin(&work, ...)). */
/* NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration */
#define MEL_HELD(name) __attribute__((cleanup(mel_work_end))) mel_admission *name = NULL
mel_status mel_work_begin(mel_admission **held, mel_admission *admission, const mel_work *work,
                          mel_error *err);
/* Earlier than the block; *held becomes NULL. */
void mel_work_end(mel_admission **held);
/* The work that this thread has begun will take so many bytes more, which become known on the way; MEL_BUSY:
 * they do not fit. */
mel_status mel_work_grow(mel_admission *admission, bool own, size_t bytes, mel_error *err);
bool mel_work_is_under_way(void); /* of this thread */
/* What reading a table of n bytes, and a model of it, takes at most: a cell of two bytes, if all differ,
 * takes the most beside its own size. */
static inline size_t mel_table_work_bytes(size_t n)
{
    return 10 * n;
}
/* The two of which mel_work_begin and mel_work_end are made; the lock is held. */
bool mel_work_enter(mel_admission *admission, const mel_work *work);
void mel_work_leave(mel_admission *admission);

/* A caller is about to wait for what another one has: a participant, for whom at most half of the workers
 * wait, or data, for which requests of studies step aside. False: too many wait already. Otherwise
 * mel_wait_end is due, and mel_budget_step_back once no lock is held. */
typedef enum { MEL_WAITS_FOR_PERSON, MEL_WAITS_FOR_DATA, MEL_WAITS_ASIDE } mel_waiting;
bool mel_wait_begin(mel_waiting *how, mel_admission *admission);
void mel_wait_end(mel_waiting how, mel_admission *admission);

/* --- bytes ---------------------------------------------------------------------------------------- */

/* Forgets what nobody needs now while the process takes too much memory; false: it still does. */
bool mel_admission_make_room(const mel_admission *admission);
/* Bytes of the process that are in memory; 0: unknown. */
size_t mel_resident_bytes(void);
/* Whether so many bytes more fit into the pool; mel_bytes_release is then due. */
bool mel_bytes_hold(mel_admission *admission, mel_byte_pool pool, size_t bytes);
size_t mel_bytes_held(mel_admission *admission, mel_byte_pool pool);
void mel_bytes_release(mel_admission *admission, mel_byte_pool pool, size_t bytes);

/* From now on the store's room is looked at. Returns what it usually may take: 80% of what is free, besides
 * what it takes already; 0: not known. */
int64_t mel_disk_watch(mel_admission *admission, mel_store *store);
/* Measures anew, if the last time was more than a second ago. */
void mel_disk_look(mel_admission *admission);
/* What is stored: something new stops before answers of people who are under way, who may use the last tenth
 * of the store's room and half of what is to stay free. Something new must fit with all its bytes. Deleting
 * always goes on. */
typedef enum { MEL_STORES_NOTHING, MEL_STORES_ANSWERS, MEL_STORES_NEW } mel_storing;
bool mel_disk_has_room(mel_admission *admission, mel_storing what, size_t bytes);

/* --- what one request may take -------------------------------------------------------------------- */

typedef struct {
    double processor;   /* seconds of the thread's own processor time; 0: no limit */
    double seconds;     /* until the server gives up, however little of them was computing; 0: no limit */
    size_t memory;      /* bytes of the process, above which work is given up; 0: no limit */
    const char *client; /* who asks; heavy work is shared out among clients; NULL: nobody in particular */
    /* Whether the answer is still of use; NULL: always. Called several times a second while work goes on. */
    bool (*is_wanted)(void *user);
    /* Makes room for others while this request waits (mel_request_step_aside); NULL: it does not. */
    bool (*step_aside)(void *user);
    void (*step_back)(void *user);
    void *user;
} mel_budget;
/* From now on this thread works within the budget, which is borrowed until mel_budget_end. */
void mel_budget_begin(const mel_budget *budget);
void mel_budget_end(void);
/* For the library: stops work that is over the budget of the thread that calls it. On threads without a
 * budget it never stops anything. */
mel_progress mel_budget_progress(void);
/* MEL_ESTOPPED once the budget is spent or the answer of no use. */
mel_status mel_budget_check(mel_error *err);
/* The same in a loop over rows, which looks now and then. */
static inline mel_status mel_budget_check_row(size_t row, mel_error *err)
{
    enum { ROWS_BETWEEN_LOOKS = 4096 };
    return row % ROWS_BETWEEN_LOOKS == 0 ? mel_budget_check(err) : MEL_OK;
}
/* Turns the failure of work that was stopped into one that says why: MEL_ELIMIT when it takes too long, which
 * would be the same the next time. Other failures stay as they are. */
mel_status mel_budget_explain(mel_status status, mel_error *err);
/* The request goes on after it stepped aside, if it has; may take a while, so no lock is held. */
void mel_budget_step_back(void);
bool mel_budget_is_limited(void); /* whether this thread works within a budget */

#endif
