/* One place for all limits of the server: buckets of tokens, places for heavy work, bytes, and the budget of
 * a request. */
#include "admission.h"

#include "clock.h"

#include "base/internal.h"

#include <arpa/inet.h>
#include <malloc.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

mel_admission *mel_admission_new(void)
{
    enum { POOL = 32 << 20, PATIENCE = 2 };
    mel_admission *a = mel_alloc_zero(1, sizeof *a);
    if (a == NULL)
        return NULL;
    pthread_mutex_init(&a->lock, NULL);
    mel_cond_init(&a->changed);
    randombytes_buf(a->key, sizeof a->key);
    a->patience = PATIENCE;
    for (size_t i = 0; i < MEL_POOLS; i++)
        a->most[i] = POOL + 1; /* with the NUL of one upload */
    return a;
}

void mel_admission_free(mel_admission *a)
{
    if (a == NULL)
        return;
    pthread_cond_destroy(&a->changed);
    pthread_mutex_destroy(&a->lock);
    free(a);
}

/* What the process has is compared with the limit, so what was freed must go back to the system: glibc would
 * keep up to 64 MB of each of its arenas for later, and malloc_trim does not reach the end of any but the
 * first. */
static void return_freed_memory(void)
{
    enum { KEPT = 256 << 10 };
    (void)mallopt(M_MMAP_THRESHOLD, KEPT);
    (void)mallopt(M_TRIM_THRESHOLD, KEPT);
}

void mel_admission_limit(mel_admission *a, size_t workers, size_t memory)
{
    if (memory > 0)
        return_freed_memory();
    pthread_mutex_lock(&a->lock);
    a->workers = workers;
    a->memory = memory;
    pthread_mutex_unlock(&a->lock);
}

/* --- clients ------------------------------------------------------------------------------------ */

/* The first `bits` of an IPv6 address as a network. */
static void name_network(char out[MEL_CLIENT_TEXT], struct in6_addr address, unsigned bits)
{
    char text[INET6_ADDRSTRLEN] = "";
    memset(address.s6_addr + bits / 8, 0, sizeof address.s6_addr - bits / 8);
    (void)inet_ntop(AF_INET6, &address, text, sizeof text);
    (void)snprintf(out, MEL_CLIENT_TEXT, "%s/%u", text, bits);
}

/* An IPv6 host may use any address that begins with the same 64 bits; one that stands for an IPv4 address
 * (::ffff:192.0.2.1) is that address. */
void mel_client_name(char out[MEL_CLIENT_TEXT], const char *who)
{
    struct in6_addr address;
    if (inet_pton(AF_INET6, who, &address) != 1)
        (void)snprintf(out, MEL_CLIENT_TEXT, "%s", who);
    else if (IN6_IS_ADDR_V4MAPPED(&address))
        (void)inet_ntop(AF_INET, address.s6_addr + 12, out, MEL_CLIENT_TEXT);
    else
        name_network(out, address, 64);
}

void mel_network_name(char out[MEL_CLIENT_TEXT], const char *who)
{
    struct in6_addr address;
    out[0] = '\0';
    if (inet_pton(AF_INET6, who, &address) == 1 && !IN6_IS_ADDR_V4MAPPED(&address))
        name_network(out, address, 48);
}

/* --- buckets ------------------------------------------------------------------------------------ */

enum { NEIGHBOURS = 8, MINUTE = 60 };
_Static_assert(sizeof((mel_admission *)0)->key == crypto_shorthash_KEYBYTES, "the key of hashes");

static uint64_t hash_of(const mel_admission *a, const char *what, const char *client)
{
    char text[2 * MEL_CLIENT_TEXT];
    unsigned char bytes[crypto_shorthash_BYTES];
    uint64_t hash;
    (void)snprintf(text, sizeof text, "%s %s", what, client);
    crypto_shorthash(bytes, (const unsigned char *)text, strlen(text), a->key);
    memcpy(&hash, bytes, sizeof hash);
    return hash != 0 ? hash : 1;
}

/* The bucket of this key; a new one takes the place of the neighbour of which least was taken, and least
 * recently. */
static mel_bucket *find_bucket(mel_admission *a, uint64_t key, int64_t minute)
{
    mel_bucket *least = NULL;
    for (size_t i = 0; i < NEIGHBOURS; i++) {
        mel_bucket *b = &a->buckets[(key + i) % MEL_BUCKETS];
        if (b->key == key) {
            least = b;
            break;
        }
        if (least == NULL || b->minute < least->minute ||
            (b->minute == least->minute && b->taken < least->taken))
            least = b;
    }
    if (least->key != key || least->minute != minute)
        *least = (mel_bucket){ .key = key, .minute = minute };
    return least;
}

/* Takes n tokens of the buckets of a client and its network, unless one has not even one left of `most`. */
static bool take_tokens(mel_admission *a, const char *what, const char *who, int64_t minute, unsigned n,
                        unsigned most)
{
    char client[MEL_CLIENT_TEXT], network[MEL_CLIENT_TEXT];
    mel_client_name(client, who);
    mel_network_name(network, who);
    const size_t buckets = network[0] != '\0' ? 2 : 1;
    const uint64_t key[] = { hash_of(a, what, client), hash_of(a, what, network) };
    const unsigned share[] = { 1, MEL_NETWORK_CLIENTS };
    bool few = true;
    pthread_mutex_lock(&a->lock);
    for (size_t i = 0; i < buckets; i++)
        few = few && find_bucket(a, key[i], minute)->taken / share[i] < most;
    for (size_t i = 0; i < buckets && few; i++)
        find_bucket(a, key[i], minute)->taken += n;
    pthread_mutex_unlock(&a->lock);
    return few;
}

unsigned mel_admission_count(mel_admission *a, const char *what, const char *who, unsigned most)
{
    const int64_t now = mel_clock_ms(CLOCK_MONOTONIC) / 1000;
    return take_tokens(a, what, who, now / MINUTE, 1, most) ? 0 : (unsigned)(MINUTE - now % MINUTE);
}

void mel_admission_add(mel_admission *a, const char *what, const char *who, unsigned n)
{
    (void)take_tokens(a, what, who, mel_clock_ms(CLOCK_MONOTONIC) / 1000 / MINUTE, n, UINT32_MAX);
}

/* --- the budget of a request -------------------------------------------------------------------- */

static const double looks = 0.01; /* seconds between two looks at the client, the clock and the memory */

/* A request is worked on by one thread from its beginning to its end. */
static _Thread_local struct {
    const mel_budget *budget;
    double begun;  /* of the thread's processor time */
    double since;  /* by the clock */
    double looked; /* when is_wanted was asked last */
    bool spent, unwanted, refused, aside;
} now_working;

void mel_budget_begin(const mel_budget *budget)
{
    now_working.budget = budget;
    now_working.begun = mel_clock_seconds(CLOCK_THREAD_CPUTIME_ID);
    now_working.since = mel_clock_seconds(CLOCK_MONOTONIC);
    now_working.looked = 0.0;
    now_working.spent = now_working.unwanted = now_working.refused = now_working.aside = false;
}

void mel_budget_end(void)
{
    now_working.budget = NULL;
}

bool mel_budget_is_limited(void)
{
    return now_working.budget != NULL;
}

size_t mel_resident_bytes(void)
{
    size_t pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL)
        return 0;
    if (fscanf(file, "%*s %zu", &pages) != 1)
        pages = 0;
    (void)fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static bool is_over(void)
{
    const mel_budget *budget = now_working.budget;
    if (budget == NULL)
        return false;
    if (!now_working.spent && budget->processor > 0.0)
        now_working.spent =
            mel_clock_seconds(CLOCK_THREAD_CPUTIME_ID) - now_working.begun > budget->processor;
    const double now = mel_clock_seconds(CLOCK_MONOTONIC);
    if (!now_working.unwanted && !now_working.refused && now - now_working.looked > looks) {
        now_working.looked = now;
        now_working.unwanted = budget->is_wanted != NULL && !budget->is_wanted(budget->user);
        now_working.refused = (budget->seconds > 0.0 && now - now_working.since > budget->seconds) ||
                              (budget->memory > 0 && mel_resident_bytes() > budget->memory);
    }
    return now_working.spent || now_working.unwanted || now_working.refused;
}

static int on_progress(void *user, const char *what, double share)
{
    (void)user;
    (void)what;
    (void)share;
    return is_over();
}

mel_progress mel_budget_progress(void)
{
    return (mel_progress){ .call = on_progress };
}

mel_status mel_budget_check(mel_error *err)
{
    return is_over() ? mel_budget_explain(MEL_ESTOPPED, err) : MEL_OK;
}

mel_status mel_budget_explain(mel_status status, mel_error *err)
{
    if (status != MEL_ESTOPPED || now_working.budget == NULL)
        return status;
    if (now_working.spent)
        return mel_fail(
            err, MEL_ELIMIT,
            "this takes the server more than %g seconds of computing; ask about less data, or run "
            "melicit on a computer of your own",
            now_working.budget->processor);
    if (now_working.refused)
        return mel_fail(err, MEL_ESTOPPED,
                        "the server has neither memory nor time for this now; try again in a moment");
    return now_working.unwanted ? mel_fail(err, MEL_ESTOPPED, "nobody waits for this answer any more")
                                : status;
}

/* The request waits for others, and lets them go first; again is the same as once. False: it cannot. */
static bool step_aside(void)
{
    const mel_budget *budget = now_working.budget;
    if (!now_working.aside && budget != NULL && budget->step_aside != NULL)
        now_working.aside = budget->step_aside(budget->user);
    return now_working.aside;
}

void mel_budget_step_back(void)
{
    if (now_working.aside)
        now_working.budget->step_back(now_working.budget->user);
    now_working.aside = false;
}

/* --- places for heavy work ---------------------------------------------------------------------- */

mel_status mel_busy(mel_error *err)
{
    return mel_fail(err, MEL_BUSY, "the server is busy with other people's data; try again in a moment");
}

/* The heavy work that this thread has begun, one piece inside the other: how many pieces, the place of each
 * among all such work, and the bytes reserved for them. */
enum { MOST_WORKS = 8 };
static _Thread_local size_t works, place[MOST_WORKS], takes;

bool mel_work_is_under_way(void)
{
    return works > 0;
}

static size_t places_of_study(const mel_admission *a, const void *study)
{
    size_t n = 0;
    for (size_t i = 0; i < MEL_MOST_MAKING; i++)
        n += a->worker[i].busy && a->worker[i].study == study;
    return n;
}

static size_t places_of_client(const mel_admission *a, const char *client)
{
    size_t n = 0;
    for (size_t i = 0; i < MEL_MOST_MAKING; i++)
        n += a->worker[i].busy && strcmp(a->worker[i].client, client) == 0;
    return n;
}

/* One client has half of the places, one study all but one; a study lets others go first that wait and have
 * fewer places. */
static bool has_share(const mel_admission *a, const mel_worker *mine, size_t all)
{
    if (mine->client[0] != '\0' && places_of_client(a, mine->client) >= (all + 1) / 2)
        return true;
    const size_t same = mine->study != NULL ? places_of_study(a, mine->study) : 0;
    if (same == 0)
        return false;
    for (const mel_waiter *other = a->waiters; other != NULL; other = other->next)
        if (other->study != mine->study && places_of_study(a, other->study) < same)
            return true;
    return same + 1 >= all && all > 1;
}

/* A quarter of the workers always stay free for answers. */
static bool may_be_stuck(const mel_admission *a)
{
    return a->workers == 0 || a->n_stuck < a->workers - a->workers / 4;
}

/* At most a quarter of the workers do heavy work at a time, one less than all of them for what is no study's.
 * A study's answers and joins are no client's in particular: many people may be behind one address. */
bool mel_work_enter(mel_admission *a, const mel_work *work)
{
    const size_t quarter = a->workers / 4;
    const size_t all = a->workers == 0 || quarter > MEL_MOST_MAKING ? MEL_MOST_MAKING
                       : quarter > 0                                ? quarter
                                                                    : 1;
    const mel_budget *budget = now_working.budget;
    const bool named = work->shared && budget != NULL && budget->client != NULL;
    mel_worker mine = { .study = work->study, .busy = true };
    mel_client_name(mine.client, named ? budget->client : "");
    if (works == MOST_WORKS || (a->workers > 0 && (a->n_making >= (work->own && all > 1 ? all - 1 : all) ||
                                                   has_share(a, &mine, all) || !may_be_stuck(a))))
        return false;
    size_t at = 0;
    while (at < MEL_MOST_MAKING && a->worker[at].busy)
        at++;
    if (at < MEL_MOST_MAKING)
        a->worker[at] = mine;
    place[works++] = at;
    a->n_making++;
    a->n_stuck++;
    return true;
}

void mel_work_leave(mel_admission *a)
{
    const size_t at = place[--works];
    if (at < MEL_MOST_MAKING)
        a->worker[at] = (mel_worker){ .busy = false };
    a->n_making--;
    a->n_stuck--;
    if (works == 0) {
        a->set_aside -= takes;
        takes = 0;
    }
    pthread_cond_broadcast(&a->changed);
}

/* Work under way may take as much again as the process should, studies' all of it, other work half of it;
 * what needs more is done alone. The lock is held. */
static bool bytes_fit(const mel_admission *a, size_t bytes, bool own)
{
    const size_t most = own ? a->memory / 2 : a->memory;
    return a->memory == 0 || a->set_aside <= takes || a->set_aside + bytes <= most;
}

static void set_aside(mel_admission *a, size_t bytes)
{
    a->set_aside += bytes;
    takes += bytes;
}

/* Wakes nobody where it fails: waiters would wake each other for ever. The lock is held. */
static bool try_to_begin(mel_admission *a, const mel_work *work)
{
    if (!bytes_fit(a, work->bytes, work->own) || !mel_work_enter(a, work))
        return false;
    set_aside(a, work->bytes);
    return true;
}

/* Waits until there may be a place; false: that is no use any more. What is no study's waits only where it
 * can step aside, and as many at a time as there are workers. The lock is held, but not while the budget is
 * looked at, which takes a moment. */
static bool wait_for_place(mel_admission *a, const mel_work *work, double until)
{
    if (mel_clock_seconds(CLOCK_MONOTONIC) >= until ||
        (work->own && (work->holds || a->n_waiting[1] >= a->workers)))
        return false;
    const bool aside = step_aside();
    if (!aside && (work->own || !may_be_stuck(a)))
        return false;
    mel_waiter mine = { .study = work->study, .next = a->waiters };
    if (work->study != NULL)
        a->waiters = &mine;
    a->n_stuck += !aside;
    a->n_waiting[work->own]++;
    mel_wait(&a->changed, &a->lock, 1);
    a->n_waiting[work->own]--;
    a->n_stuck -= !aside;
    for (mel_waiter **at = &a->waiters; work->study != NULL && *at != NULL; at = &(*at)->next)
        if (*at == &mine) {
            *at = mine.next;
            break;
        }
    pthread_mutex_unlock(&a->lock);
    const bool useful = mel_budget_check(NULL) == MEL_OK;
    pthread_mutex_lock(&a->lock);
    return useful;
}

mel_status mel_work_begin(mel_admission **held, mel_admission *a, const mel_work *work, mel_error *err)
{
    const double until = mel_clock_seconds(CLOCK_MONOTONIC) + a->patience;
    *held = NULL;
    if (!mel_admission_make_room(a) && work->own)
        return mel_busy(err);
    pthread_mutex_lock(&a->lock);
    bool may = try_to_begin(a, work);
    while (!may && wait_for_place(a, work, until))
        may = try_to_begin(a, work);
    pthread_mutex_unlock(&a->lock);
    mel_budget_step_back();
    if (!may)
        return mel_busy(err);
    *held = a;
    return MEL_OK;
}

mel_status mel_work_grow(mel_admission *a, bool own, size_t bytes, mel_error *err)
{
    pthread_mutex_lock(&a->lock);
    const bool fits = bytes_fit(a, bytes, own);
    if (fits)
        set_aside(a, bytes);
    pthread_mutex_unlock(&a->lock);
    return fits ? MEL_OK : mel_busy(err);
}

void mel_work_end(mel_admission **held)
{
    if (*held == NULL)
        return;
    pthread_mutex_lock(&(*held)->lock);
    mel_work_leave(*held);
    pthread_mutex_unlock(&(*held)->lock);
    *held = NULL;
}

bool mel_wait_begin(mel_waiting *how, mel_admission *a)
{
    if (*how == MEL_WAITS_ASIDE && !step_aside())
        *how = MEL_WAITS_FOR_DATA;
    pthread_mutex_lock(&a->lock);
    const bool person = *how == MEL_WAITS_FOR_PERSON, aside = *how == MEL_WAITS_ASIDE;
    const bool may =
        aside || (may_be_stuck(a) && (!person || a->workers == 0 || a->n_persons < a->workers / 2));
    a->n_persons += may && person;
    a->n_stuck += may && !aside;
    pthread_mutex_unlock(&a->lock);
    return may;
}

void mel_wait_end(mel_waiting how, mel_admission *a)
{
    pthread_mutex_lock(&a->lock);
    a->n_persons -= how == MEL_WAITS_FOR_PERSON;
    a->n_stuck -= how != MEL_WAITS_ASIDE;
    pthread_mutex_unlock(&a->lock);
}

/* --- bytes -------------------------------------------------------------------------------------- */

bool mel_admission_make_room(const mel_admission *a)
{
    const size_t most = a->memory; /* which a reload may change meanwhile */
    bool more = true;
    while (most > 0 && mel_resident_bytes() > most) {
        if (!more)
            return false;
        more = a->forget != NULL && a->forget(a->user);
        (void)malloc_trim(0); /* what was freed counts until the system has it back */
    }
    return true;
}

bool mel_bytes_hold(mel_admission *a, mel_byte_pool pool, size_t bytes)
{
    pthread_mutex_lock(&a->lock);
    const bool fits = bytes <= a->most[pool] && a->held[pool] <= a->most[pool] - bytes;
    a->held[pool] += fits ? bytes : 0;
    pthread_mutex_unlock(&a->lock);
    return fits;
}

size_t mel_bytes_held(mel_admission *a, mel_byte_pool pool)
{
    pthread_mutex_lock(&a->lock);
    const size_t held = a->held[pool];
    pthread_mutex_unlock(&a->lock);
    return held;
}

void mel_bytes_release(mel_admission *a, mel_byte_pool pool, size_t bytes)
{
    pthread_mutex_lock(&a->lock);
    a->held[pool] -= bytes;
    pthread_mutex_unlock(&a->lock);
}

/* --- the store's disk --------------------------------------------------------------------------- */

static void measure_store(mel_admission *a)
{
    mel_disk disk;
    if (mel_store_measure(&disk, a->store, NULL) != MEL_OK)
        return; /* it is as it was; writing will fail with a sentence of its own */
    a->store_bytes = disk.used;
    a->disk_free = disk.free;
}

int64_t mel_disk_watch(mel_admission *a, mel_store *store)
{
    a->store = store;
    a->store_bytes = a->disk_free = -1;
    a->measured = mel_clock_ms(CLOCK_MONOTONIC);
    measure_store(a);
    return a->store_bytes >= 0 && a->disk_free >= 0 ? a->store_bytes + a->disk_free / 5 * 4 : 0;
}

/* One thread measures; the others go by what was found before. */
void mel_disk_look(mel_admission *a)
{
    enum { LOOK_EVERY = 1000 }; /* milliseconds */
    int64_t last = a->measured;
    const int64_t now = mel_clock_ms(CLOCK_MONOTONIC);
    if (a->store != NULL && now - last >= LOOK_EVERY &&
        atomic_compare_exchange_strong(&a->measured, &last, now))
        measure_store(a);
}

bool mel_disk_has_room(mel_admission *a, mel_storing what, size_t bytes)
{
    const int64_t most = a->store_most, keep = a->disk_keep;
    if (what == MEL_STORES_NOTHING)
        return true;
    mel_disk_look(a);
    const bool new = what == MEL_STORES_NEW;
    const int64_t more = new ? (int64_t)bytes : 0, used = a->store_bytes + more, left = a->disk_free - more;
    return (most == 0 || used < (new ? most / 10 * 9 : most)) &&
           (keep == 0 || a->disk_free < 0 || left >= (new ? keep : keep / 2));
}
