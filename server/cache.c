/* The cache: making and freeing it, who may do heavy work, and findings to remember. Problems are shared by
 * all sessions about the same data; the participants who answered last are kept. An entry that is being made
 * is marked as such, and only callers who need the same one wait. */
#include "cache_internal.h"

#include "budget.h"
#include "clock.h"
#include "json_helpers.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

mel_status mel_cache_new(mel_cache **out, mel_store *store, const char *const *folders, mel_error *err)
{
    mel_cache *cache = mel_alloc_zero(1, sizeof *cache);
    *out = cache;
    if (cache == NULL)
        return mel_fail_memory(err, "the server's memory of studies");
    cache->store = store;
    cache->folders = folders;
    pthread_mutex_init(&cache->lock, NULL);
    mel_cond_init(&cache->changed);
    return MEL_OK;
}

size_t mel_text_hash(const char *text)
{
    size_t hash = 5381;
    for (; *text != '\0'; text++)
        hash = hash * 33 + (unsigned char)*text;
    return hash;
}

/* --- heavy work --------------------------------------------------------------------------------- */

/* What the process has is compared with the limit, so what was freed must go back to the system: glibc would
 * keep up to 64 MB of each of its arenas for later, and malloc_trim does not reach the end of any but the
 * first. */
static void return_freed_memory(void)
{
    enum { KEPT = 256 << 10 };
    (void)mallopt(M_MMAP_THRESHOLD, KEPT);
    (void)mallopt(M_TRIM_THRESHOLD, KEPT);
}

void mel_cache_limit(mel_cache *cache, size_t workers, size_t memory)
{
    if (memory > 0)
        return_freed_memory();
    pthread_mutex_lock(&cache->lock);
    cache->workers = workers;
    cache->memory = memory;
    pthread_mutex_unlock(&cache->lock);
}

void mel_cache_too_busy(mel_error *err)
{
    (void)mel_fail(err, MEL_BUSY, "the server is busy with other people's data; try again in a moment");
}

static size_t most_making(const mel_cache *cache)
{
    const size_t quarter = cache->workers / 4;
    return cache->workers == 0 || quarter > MEL_MOST_MAKING ? MEL_MOST_MAKING : quarter > 0 ? quarter : 1;
}

/* Of this thread: heavy pieces of work that it has begun, one inside the other; the place of each among all
 * who do such work; and the bytes that were set aside for them. */
enum { MOST_WORKS = 8 };
static _Thread_local size_t works, place[MOST_WORKS], takes;

/* A study's answers and joins are no client's in particular: many people may be behind one address. */
static void name_worker(mel_worker *out, const mel_work *work)
{
    mel_client_name(out->client, work->shared ? mel_budget_client() : "");
    out->study = work->study;
    out->busy = true;
}

static size_t places_of_study(const mel_cache *cache, const mel_study *study)
{
    size_t n = 0;
    for (size_t i = 0; i < MEL_MOST_MAKING; i++)
        n += cache->worker[i].busy && cache->worker[i].study == study;
    return n;
}

static size_t places_of_client(const mel_cache *cache, const char *client)
{
    size_t n = 0;
    for (size_t i = 0; i < MEL_MOST_MAKING; i++)
        n += cache->worker[i].busy && strcmp(cache->worker[i].client, client) == 0;
    return n;
}

/* One client has half of the places, one study all but one; a study lets others go first that wait and have
 * fewer places. */
static bool has_share(const mel_cache *cache, const mel_worker *mine, size_t all)
{
    if (mine->client[0] != '\0' && places_of_client(cache, mine->client) >= (all + 1) / 2)
        return true;
    const size_t same = mine->study != NULL ? places_of_study(cache, mine->study) : 0;
    if (same == 0)
        return false;
    for (const mel_waiter *other = cache->waiters; other != NULL; other = other->next)
        if (other->study != mine->study && places_of_study(cache, other->study) < same)
            return true;
    return same + 1 >= all && all > 1;
}

/* At most a quarter of the workers do heavy work at a time, one less than all of them for what is no study's,
 * and a quarter always stay free for answers. */
bool mel_cache_enter(mel_cache *cache, const mel_work *work)
{
    mel_worker mine;
    name_worker(&mine, work);
    const size_t all = most_making(cache), most = work->own && all > 1 ? all - 1 : all;
    if (works == MOST_WORKS ||
        (cache->workers > 0 &&
         (cache->n_making >= most || has_share(cache, &mine, all) || !mel_cache_may_wait(cache))))
        return false;
    size_t at = 0;
    while (at < MEL_MOST_MAKING && cache->worker[at].busy)
        at++;
    if (at < MEL_MOST_MAKING)
        cache->worker[at] = mine;
    place[works++] = at;
    cache->n_making++;
    cache->n_stuck++;
    return true;
}

void mel_cache_leave(mel_cache *cache)
{
    const size_t at = place[--works];
    if (at < MEL_MOST_MAKING)
        cache->worker[at] = (mel_worker){ .busy = false };
    cache->n_making--;
    cache->n_stuck--;
    if (works == 0) {
        cache->aside -= takes;
        takes = 0;
    }
    pthread_cond_broadcast(&cache->changed);
}

/* Work under way may take as much again as the process should, studies' all of it, other work half of it;
 * what needs more is done alone. */
bool mel_cache_set_aside(mel_cache *cache, size_t bytes, bool own)
{
    const size_t most = own ? cache->memory / 2 : cache->memory;
    if (cache->memory > 0 && cache->aside > takes && cache->aside + bytes > most)
        return false;
    cache->aside += bytes;
    takes += bytes;
    return true;
}

bool mel_cache_may_wait(const mel_cache *cache)
{
    return cache->workers == 0 || cache->n_stuck < cache->workers - cache->workers / 4;
}

double mel_cache_patience(bool own)
{
    return own ? 0.0 : mel_clock_seconds(CLOCK_MONOTONIC) + 2.0;
}

static bool wait_turn(mel_cache *cache, const mel_work *work, double until)
{
    if (mel_clock_seconds(CLOCK_MONOTONIC) >= until || mel_budget_check(NULL) != MEL_OK)
        return false;
    const bool aside = !work->own && mel_budget_step_aside();
    if (!aside && !mel_cache_may_wait(cache))
        return false;
    cache->n_stuck += !aside;
    mel_wait(&cache->changed, &cache->lock, 1);
    cache->n_stuck -= !aside;
    return true;
}

bool mel_cache_wait_turn(mel_cache *cache, const mel_work *work, double until)
{
    mel_waiter mine = { .study = work->study, .next = cache->waiters };
    if (work->study == NULL)
        return wait_turn(cache, work, until);
    cache->waiters = &mine;
    const bool may = wait_turn(cache, work, until);
    mel_waiter **at = &cache->waiters;
    while (*at != &mine)
        at = &(*at)->next;
    *at = mine.next;
    return may;
}

/* The lock is held. */
static bool try_to_begin(mel_cache *cache, const mel_work *work)
{
    if (!mel_cache_enter(cache, work))
        return false;
    if (mel_cache_set_aside(cache, work->bytes, work->own))
        return true;
    mel_cache_leave(cache);
    return false;
}

static mel_status begin(mel_cache *cache, const mel_work *work, double until, mel_error *err)
{
    const bool room = mel_cache_make_room(cache) || !work->own;
    pthread_mutex_lock(&cache->lock);
    bool may = room && try_to_begin(cache, work);
    while (room && !may && mel_cache_wait_turn(cache, work, until))
        may = try_to_begin(cache, work);
    pthread_mutex_unlock(&cache->lock);
    mel_budget_step_back();
    if (!may)
        mel_cache_too_busy(err);
    return may ? MEL_OK : MEL_BUSY;
}

mel_status mel_cache_begin_work(mel_cache *cache, mel_error *err)
{
    return begin(cache, &(mel_work){ .shared = true }, 0.0, err);
}

mel_status mel_cache_await_work(mel_cache *cache, size_t bytes, mel_error *err)
{
    return begin(cache, &(mel_work){ .shared = true, .bytes = bytes }, mel_cache_patience(false), err);
}

mel_status mel_cache_begin_own_work(mel_cache *cache, size_t bytes, mel_error *err)
{
    return begin(cache, &(mel_work){ .own = true, .shared = true, .bytes = bytes }, 0.0, err);
}

mel_status mel_cache_more_work(mel_cache *cache, bool own, size_t bytes, mel_error *err)
{
    pthread_mutex_lock(&cache->lock);
    const bool fits = mel_cache_set_aside(cache, bytes, own);
    pthread_mutex_unlock(&cache->lock);
    if (!fits)
        mel_cache_too_busy(err);
    return fits ? MEL_OK : MEL_BUSY;
}

void mel_cache_end_work(mel_cache *cache)
{
    pthread_mutex_lock(&cache->lock);
    mel_cache_leave(cache);
    pthread_mutex_unlock(&cache->lock);
}

mel_status mel_cache_begin_flow(bool *begun, mel_cache *cache, const mel_open_study *open_study,
                                mel_flow_work what, mel_error *err)
{
    const bool own = open_study->study->own;
    mel_work work = { .own = own,
                      .shared = own || what != MEL_WORK_ANSWER,
                      .study = own ? NULL : open_study->study };
    *begun = false;
    if (works > 0 || !mel_flow_is_heavy(&work.bytes, open_study->study, open_study->problem, what))
        return MEL_OK;
    const mel_status status = begin(cache, &work, mel_cache_patience(own), err);
    *begun = status == MEL_OK;
    return status;
}

/* --- memory ------------------------------------------------------------------------------------- */

bool mel_cache_make_room(mel_cache *cache)
{
    const size_t most = cache->memory; /* which a reload may change meanwhile */
    bool more = true;
    while (most > 0 && mel_resident_bytes() > most) {
        if (!more)
            return false;
        more = mel_cache_forget_idle(cache);
        (void)malloc_trim(0); /* what was freed counts until the system has it back */
    }
    return true;
}

/* --- memos -------------------------------------------------------------------------------------- */

static mel_memo *bucket_of_subject(mel_cache *cache, const char *subject)
{
    return cache->memos[mel_text_hash(subject) % MEL_MEMO_BUCKETS];
}

static size_t index_in(const mel_memo *bucket, const char *subject)
{
    size_t at = 0;
    while (at < MEL_BUCKET_MEMOS && (bucket[at].text == NULL || strcmp(bucket[at].subject, subject) != 0))
        at++;
    return at;
}

json_t *mel_cache_recall(mel_cache *cache, const char *subject, const char *mark)
{
    pthread_mutex_lock(&cache->lock);
    const mel_memo *bucket = bucket_of_subject(cache, subject);
    const size_t at = index_in(bucket, subject);
    char *text = at < MEL_BUCKET_MEMOS && (mark == NULL || strcmp(bucket[at].mark, mark) == 0)
                     ? mel_strdup(bucket[at].text)
                     : NULL;
    pthread_mutex_unlock(&cache->lock);
    json_t *found = mel_stored_json(text);
    free(text);
    return found;
}

/* Takes the text over; NULL: the subject is forgotten. The lock is held. */
static void put_memo(mel_memo *bucket, const char *subject, const char *mark, char *text)
{
    size_t at = index_in(bucket, subject);
    if (at == MEL_BUCKET_MEMOS && text == NULL)
        return;
    at = at < MEL_BUCKET_MEMOS ? at : MEL_BUCKET_MEMOS - 1;
    mel_json_free_text(bucket[at].text);
    memmove(bucket + 1, bucket, at * sizeof *bucket);
    bucket[0] = (mel_memo){ .text = text };
    (void)snprintf(bucket[0].subject, sizeof bucket[0].subject, "%s", subject);
    (void)snprintf(bucket[0].mark, sizeof bucket[0].mark, "%s", mark);
}

void mel_cache_remember(mel_cache *cache, const char *subject, const char *mark, json_t *value)
{
    char *text = mel_json_text(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));
    if (text == NULL)
        return;
    pthread_mutex_lock(&cache->lock);
    put_memo(bucket_of_subject(cache, subject), subject, mark, text);
    pthread_mutex_unlock(&cache->lock);
}

void mel_cache_forget(mel_cache *cache, const char *id)
{
    mel_participant *participant = NULL;
    if (mel_participant_take(&participant, cache, id, 0, NULL) == MEL_OK)
        mel_participant_release(cache, participant, false);
    pthread_mutex_lock(&cache->lock);
    put_memo(bucket_of_subject(cache, id), id, "", NULL);
    pthread_mutex_unlock(&cache->lock);
}

void mel_cache_free(mel_cache *cache)
{
    if (cache == NULL)
        return;
    for (size_t i = 0; i < MEL_MEMO_BUCKETS; i++)
        for (size_t at = 0; at < MEL_BUCKET_MEMOS; at++)
            mel_json_free_text(cache->memos[i][at].text);
    mel_cache_free_participants(cache);
    mel_cache_free_problems(cache);
    pthread_cond_destroy(&cache->changed);
    pthread_mutex_destroy(&cache->lock);
    free(cache);
}
