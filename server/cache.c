/* Places are shared by all sessions about the same data, participants are kept for those who answered last. A
 * problem or a participant that is being made is marked as such, and only those who want the same one wait.
 */
#include "cache.h"

#include "stored_json.h"

#include "base/internal.h"
#include "base/json.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_IDLE_PROBLEMS = 8,
    MOST_PROBLEMS = 40,
    MOST_PARTICIPANTS = 1000,
    BUCKETS = 1024,
    MEMO_BUCKETS = 4096,
    BUCKET_MEMOS = 16
};

typedef struct problem_entry problem_entry;
struct problem_entry {
    problem_entry *next;
    char *key;
    mel_problem *problem;
    size_t users;
    bool making;
    uint64_t used; /* when last, in takes */
};

typedef struct participant_entry participant_entry;
struct participant_entry {
    mel_participant participant; /* first: a participant is its entry */
    participant_entry *next;
    participant_entry *newer, *older; /* of those that nobody has */
    char id[MEL_ID_TEXT];
    bool taken, known; /* known: participant is filled */
    size_t waiting;
};

typedef struct {
    char subject[MEL_ID_TEXT], mark[MEL_MEMO_TEXT];
    char *text; /* JSON; NULL: free */
} memo;

struct mel_cache {
    mel_store *store;
    mel_problem_maker maker;
    void *user;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    problem_entry *problems;
    participant_entry *bucket[BUCKETS];
    participant_entry *newest, *oldest;
    size_t n_idle, n_problems;
    size_t workers;           /* 0: nobody else is kept waiting, there are no limits */
    size_t n_making, n_stuck; /* callers who do heavy work; who do or wait for it */
    uint64_t clock;
    memo memos[MEMO_BUCKETS][BUCKET_MEMOS]; /* by a hash of the subject; on each bucket the newest first */
};

mel_status mel_cache_new(mel_cache **out, mel_store *store, mel_problem_maker maker, void *user,
                         mel_error *err)
{
    mel_cache *cache = mel_alloc_zero(1, sizeof *cache);
    *out = cache;
    if (cache == NULL)
        return mel_fail_memory(err, "the server's memory of studies");
    cache->store = store;
    cache->maker = maker;
    cache->user = user;
    pthread_mutex_init(&cache->lock, NULL);
    pthread_cond_init(&cache->changed, NULL);
    return MEL_OK;
}

/* --- heavy work --------------------------------------------------------------------------------- */

void mel_cache_limit(mel_cache *cache, size_t workers)
{
    cache->workers = workers;
}

static mel_status too_busy(mel_error *err)
{
    (void)mel_fail(err, MEL_BUSY, "the server is busy with other people's data; try again in a moment");
    return MEL_BUSY;
}

/* Whether one more may begin, or wait for the end of, what takes long: a quarter of the workers do such
 * things at a time, and a quarter are never kept from answers. The lock is held. */
static bool may_begin(const mel_cache *cache)
{
    const size_t most = cache->workers / 4;
    return cache->workers == 0 || cache->n_making < (most > 0 ? most : 1);
}

static bool may_wait(const mel_cache *cache)
{
    return cache->workers == 0 || cache->n_stuck < cache->workers - cache->workers / 4;
}

mel_status mel_cache_begin_work(mel_cache *cache, mel_error *err)
{
    pthread_mutex_lock(&cache->lock);
    const bool may = may_begin(cache) && may_wait(cache);
    cache->n_making += may;
    cache->n_stuck += may;
    pthread_mutex_unlock(&cache->lock);
    return may ? MEL_OK : too_busy(err);
}

void mel_cache_end_work(mel_cache *cache)
{
    pthread_mutex_lock(&cache->lock);
    cache->n_making--;
    cache->n_stuck--;
    pthread_mutex_unlock(&cache->lock);
}

/* --- problems ------------------------------------------------------------------------------------- */

static void problem_entry_free(problem_entry *entry)
{
    if (entry->problem != NULL)
        entry->problem->free(entry->problem);
    free(entry->key);
    free(entry);
}

/* The problem that has been idle for longest, when there are too many. */
static void forget_problems(mel_cache *cache)
{
    problem_entry **oldest = NULL;
    size_t idle = 0;
    for (problem_entry **at = &cache->problems; *at != NULL; at = &(*at)->next)
        if ((*at)->users == 0 && !(*at)->making) {
            idle++;
            if (oldest == NULL || (*at)->used < (*oldest)->used)
                oldest = at;
        }
    if (idle <= MOST_IDLE_PROBLEMS)
        return;
    problem_entry *gone = *oldest;
    *oldest = gone->next;
    cache->n_problems--;
    problem_entry_free(gone);
}

static char *problem_key(const mel_study *study)
{
    char *space = mel_json_text(study->space, JSON_COMPACT | JSON_SORT_KEYS);
    if (space == NULL)
        return NULL;
    const size_t n = strlen(space) + 64;
    char *key = mel_alloc(n, 1);
    if (key != NULL)
        (void)snprintf(key, n, "%d %llu %s", (int)study->options.family,
                       (unsigned long long)study->options.seed, space);
    mel_json_free_text(space);
    return key;
}

static problem_entry *find_problem(const mel_cache *cache, const char *key)
{
    problem_entry *entry = cache->problems;
    while (entry != NULL && strcmp(entry->key, key) != 0)
        entry = entry->next;
    return entry;
}

static void drop_problem(mel_cache *cache, problem_entry *gone)
{
    problem_entry **at = &cache->problems;
    while (*at != gone)
        at = &(*at)->next;
    *at = gone->next;
    cache->n_problems--;
    problem_entry_free(gone);
}

/* A new entry, made without the lock, which is held before and after. Takes the key over. */
static mel_status make_problem(problem_entry **out, mel_cache *cache, char *key, const mel_study *study,
                               mel_error *err)
{
    problem_entry *entry = mel_alloc_zero(1, sizeof *entry);
    if (entry == NULL) {
        free(key);
        return mel_fail_memory(err, "a study");
    }
    *entry = (problem_entry){ .next = cache->problems, .key = key, .making = true };
    cache->problems = entry;
    cache->n_problems++;
    cache->n_making++;
    cache->n_stuck++;
    pthread_mutex_unlock(&cache->lock);
    const mel_status status = cache->maker(&entry->problem, cache->user, study->space, study->options.family,
                                           study->options.seed, err);
    pthread_mutex_lock(&cache->lock);
    cache->n_making--;
    cache->n_stuck--;
    entry->making = false;
    pthread_cond_broadcast(&cache->changed);
    if (status == MEL_OK)
        *out = entry;
    else
        drop_problem(cache, entry);
    return status;
}

/* Takes the key over. The lock is held before and after, not while the problem is made. */
static mel_status use_problem(problem_entry **out, mel_cache *cache, char *key, const mel_study *study,
                              mel_error *err)
{
    problem_entry *entry = find_problem(cache, key);
    while (entry != NULL && entry->making && may_wait(cache)) {
        cache->n_stuck++;
        pthread_cond_wait(&cache->changed, &cache->lock);
        cache->n_stuck--;
        entry = find_problem(cache, key);
    }
    if (entry == NULL && may_begin(cache) && may_wait(cache)) {
        const mel_status status = make_problem(&entry, cache, key, study, err);
        if (status != MEL_OK)
            return status;
    } else {
        free(key);
        if (entry == NULL || entry->making)
            return too_busy(err);
    }
    entry->users++;
    entry->used = ++cache->clock;
    *out = entry;
    return MEL_OK;
}

/* --- open_studies -------------------------------------------------------------------------------------- */

/* Data that are gone or a file that is not understood any more are no fault of what was asked now. */
static mel_status unavailable(mel_status status, mel_error *err)
{
    if (status != MEL_EINVAL && status != MEL_EDATA)
        return status;
    if (err != NULL)
        err->code = MEL_ESTATE;
    return MEL_ESTATE;
}

mel_status mel_open_study_of(mel_open_study **out, mel_cache *cache, mel_study *study, mel_error *err)
{
    *out = NULL;
    mel_open_study *open_study = mel_alloc_zero(1, sizeof *open_study);
    char *key = problem_key(study);
    if (open_study == NULL || key == NULL) {
        free(open_study);
        free(key);
        mel_study_free(study);
        (void)mel_fail_memory(err, "a study");
        return MEL_ENOMEM;
    }
    problem_entry *entry = NULL;
    pthread_mutex_lock(&cache->lock);
    const mel_status status = use_problem(&entry, cache, key, study, err);
    pthread_mutex_unlock(&cache->lock);
    if (status != MEL_OK) {
        mel_study_free(study);
        free(open_study);
        return status;
    }
    *open_study =
        (mel_open_study){ .study = study, .problem = entry->problem, .own = entry, .state = "open" };
    *out = open_study;
    return MEL_OK;
}

mel_status mel_open_study_by_id(mel_open_study **out, mel_cache *cache, const char *id, mel_error *err)
{
    *out = NULL;
    mel_study_row row;
    mel_status status = mel_store_study(&row, cache->store, id, err);
    if (status != MEL_OK)
        return status;
    mel_study *study = NULL;
    status = mel_study_parse(&study, row.file, strlen(row.file), err);
    if (status == MEL_OK)
        status = mel_open_study_of(out, cache, study, err);
    status = unavailable(status, err);
    if (status == MEL_OK) /* stored studies may name options that nothing reads */
        mel_session_options_settle(&study->options, &(*out)->problem->domain);
    if (status == MEL_OK)
        (void)snprintf((*out)->state, sizeof(*out)->state, "%s", row.state);
    mel_study_row_clear(&row);
    return status;
}

void mel_open_study_release(mel_cache *cache, mel_open_study *open_study)
{
    if (open_study == NULL)
        return;
    problem_entry *entry = open_study->own;
    pthread_mutex_lock(&cache->lock);
    entry->users--;
    forget_problems(cache);
    pthread_mutex_unlock(&cache->lock);
    mel_study_free(open_study->study);
    free(open_study);
}

/* --- participants -------------------------------------------------------------------------------------- */

static size_t hash_of(const char *id)
{
    size_t hash = 5381;
    for (; *id != '\0'; id++)
        hash = hash * 33 + (unsigned char)*id;
    return hash;
}

static size_t bucket_of(const char *id)
{
    return hash_of(id) % BUCKETS;
}

static void participant_clear(mel_cache *cache, mel_participant *participant)
{
    mel_flow_free(participant->flow);
    mel_open_study_release(cache, participant->open_study);
    mel_participant_row_clear(&participant->row);
    *participant = (mel_participant){ .seq = 0 };
}

static participant_entry *find_participant(const mel_cache *cache, const char *id)
{
    participant_entry *entry = cache->bucket[bucket_of(id)];
    while (entry != NULL && strcmp(entry->id, id) != 0)
        entry = entry->next;
    return entry;
}

static void unlink_idle(mel_cache *cache, participant_entry *entry)
{
    if (entry->newer != NULL)
        entry->newer->older = entry->older;
    else
        cache->newest = entry->older;
    if (entry->older != NULL)
        entry->older->newer = entry->newer;
    else
        cache->oldest = entry->newer;
    entry->newer = entry->older = NULL;
    cache->n_idle--;
}

static void remove_participant(mel_cache *cache, participant_entry *entry)
{
    participant_entry **at = &cache->bucket[bucket_of(entry->id)];
    while (*at != entry)
        at = &(*at)->next;
    *at = entry->next;
}

/* The open study that a participant is in: the study's or, for a session of one's own, that of `about`. */
static mel_status find_open_study(mel_open_study **out, mel_cache *cache, const mel_participant_row *row,
                                  mel_error *err)
{
    json_t *about = NULL;
    mel_status status = mel_json_parse(&about, row->about, strlen(row->about), err);
    if (status != MEL_OK)
        return status;
    const json_t *start = json_object_get(about, "start");
    if (start != NULL) {
        mel_study *study = NULL;
        status = mel_study_alone(&study, start, err);
        if (status == MEL_OK)
            status = mel_open_study_of(out, cache, study, err);
    } else {
        status = mel_open_study_by_id(out, cache, row->study, err);
    }
    json_decref(about);
    return status;
}

static mel_status replay(mel_participant *participant, mel_cache *cache, mel_error *err)
{
    mel_event_row *event = NULL;
    size_t n = 0;
    mel_status status = mel_store_events(&event, &n, cache->store, participant->row.id, err);
    for (size_t i = 0; i < n && status == MEL_OK; i++) {
        json_t *line = NULL;
        status = mel_json_parse(&line, event[i].body, strlen(event[i].body), err);
        if (status == MEL_OK)
            status = mel_flow_replay(participant->flow, line, err);
        const double seconds = json_number_value(json_object_get(line, "seconds"));
        participant->seconds += seconds > 0.0 ? seconds : 0.0;
        json_decref(line);
        participant->seq = event[i].seq;
    }
    for (size_t i = 0; i < n; i++)
        mel_event_row_clear(&event[i]);
    free(event);
    return status;
}

static mel_status fill_participant(mel_participant *participant, mel_cache *cache, const char *id,
                                   mel_error *err)
{
    mel_status status = mel_store_participant(&participant->row, cache->store, id, err);
    if (status != MEL_OK)
        return status;
    status = find_open_study(&participant->open_study, cache, &participant->row, err);
    if (status == MEL_OK)
        status = mel_flow_new(&participant->flow, participant->open_study->study,
                              participant->open_study->problem, participant->row.seed, err);
    if (status == MEL_OK)
        status = replay(participant, cache, err);
    return unavailable(status, err);
}

/* The entry, taken for this caller; the lock is held. NULL without memory, or when as many as may wait for
 * it already: a person has one browser, and the others need the workers. */
static participant_entry *claim(mel_cache *cache, const char *id, mel_error *err)
{
    participant_entry *entry = find_participant(cache, id);
    if (entry != NULL && entry->taken && cache->workers > 0 &&
        (entry->waiting >= cache->workers / 2 || !may_wait(cache))) {
        (void)too_busy(err);
        return NULL;
    }
    if (entry == NULL) {
        entry = mel_alloc_zero(1, sizeof *entry);
        if (entry == NULL) {
            (void)mel_fail_memory(err, "a participant");
            return NULL;
        }
        (void)snprintf(entry->id, sizeof entry->id, "%s", id);
        const size_t at = bucket_of(entry->id);
        entry->next = cache->bucket[at];
        cache->bucket[at] = entry;
        entry->taken = true;
        return entry;
    }
    if (!entry->taken && entry->waiting == 0) /* else it is for the one who waits, and on no list */
        unlink_idle(cache, entry);
    entry->waiting++;
    cache->n_stuck++;
    while (entry->taken)
        pthread_cond_wait(&cache->changed, &cache->lock);
    cache->n_stuck--;
    entry->waiting--;
    entry->taken = true;
    return entry;
}

/* What is in memory will do when the store saw the participant then between these two times. */
static mel_status take(mel_participant **out, mel_cache *cache, const char *id, int64_t least, int64_t most,
                       mel_error *err)
{
    *out = NULL;
    if (strlen(id) >= MEL_ID_TEXT)
        return mel_fail(err, MEL_EINVAL, "there is no such participant");
    mel_error own = { .code = MEL_OK };
    err = err != NULL ? err : &own; /* it tells what claim() failed of */
    pthread_mutex_lock(&cache->lock);
    participant_entry *entry = claim(cache, id, err);
    pthread_mutex_unlock(&cache->lock);
    if (entry == NULL)
        return err->code;
    if (entry->known && (entry->participant.row.seen < least || entry->participant.row.seen > most)) {
        participant_clear(cache, &entry->participant);
        entry->known = false;
    }
    entry->participant.fresh = !entry->known;
    if (!entry->known) {
        const mel_status status = fill_participant(&entry->participant, cache, id, err);
        if (status != MEL_OK) {
            mel_participant_release(cache, &entry->participant, false);
            return status;
        }
        entry->known = true;
    }
    *out = &entry->participant;
    return MEL_OK;
}

mel_status mel_participant_take(mel_participant **out, mel_cache *cache, const char *id, int64_t seen,
                                mel_error *err)
{
    return seen == 0 ? take(out, cache, id, INT64_MIN, INT64_MAX, err)
                     : take(out, cache, id, seen, seen, err);
}

mel_status mel_participant_look(mel_participant **out, mel_cache *cache, const char *id, int64_t seen,
                                mel_error *err)
{
    return take(out, cache, id, seen, INT64_MAX, err);
}

/* The participant that has been idle for longest, when there are too many participants or problems; the
 * caller clears and frees it. */
static participant_entry *oldest_beyond(mel_cache *cache)
{
    participant_entry *gone =
        cache->n_idle > MOST_PARTICIPANTS || cache->n_problems > MOST_PROBLEMS ? cache->oldest : NULL;
    if (gone != NULL) {
        unlink_idle(cache, gone);
        remove_participant(cache, gone);
    }
    return gone;
}

static void discard(mel_cache *cache, participant_entry *entry)
{
    if (entry == NULL)
        return;
    participant_clear(cache, &entry->participant);
    free(entry);
}

void mel_participant_release(mel_cache *cache, mel_participant *participant, bool keep)
{
    if (participant == NULL)
        return;
    participant_entry *entry = (participant_entry *)participant, *gone = NULL;
    if (!keep) {
        participant_clear(cache, participant);
        entry->known = false;
    }
    pthread_mutex_lock(&cache->lock);
    entry->taken = false;
    if (!entry->known && entry->waiting == 0) {
        remove_participant(cache, entry);
        gone = entry;
    } else if (entry->waiting == 0) {
        entry->older = cache->newest;
        if (cache->newest != NULL)
            cache->newest->newer = entry;
        else
            cache->oldest = entry;
        cache->newest = entry;
        cache->n_idle++;
        gone = oldest_beyond(cache);
    }
    pthread_cond_broadcast(&cache->changed);
    pthread_mutex_unlock(&cache->lock);
    discard(cache, gone);
}

/* --- memos -------------------------------------------------------------------------------------- */

static memo *bucket_of_subject(mel_cache *cache, const char *subject)
{
    return cache->memos[hash_of(subject) % MEMO_BUCKETS];
}

static size_t index_in(const memo *bucket, const char *subject)
{
    size_t at = 0;
    while (at < BUCKET_MEMOS && (bucket[at].text == NULL || strcmp(bucket[at].subject, subject) != 0))
        at++;
    return at;
}

json_t *mel_cache_recall(mel_cache *cache, const char *subject, const char *mark)
{
    json_t *found = NULL;
    pthread_mutex_lock(&cache->lock);
    const memo *bucket = bucket_of_subject(cache, subject);
    const size_t at = index_in(bucket, subject);
    char *text = at < BUCKET_MEMOS && (mark == NULL || strcmp(bucket[at].mark, mark) == 0)
                     ? mel_strdup(bucket[at].text)
                     : NULL;
    pthread_mutex_unlock(&cache->lock);
    if (text != NULL)
        found = mel_stored_json(text);
    free(text);
    return found;
}

/* Takes the text over; NULL: the subject is forgotten. The lock is held. */
static void put_memo(memo *bucket, const char *subject, const char *mark, char *text)
{
    size_t at = index_in(bucket, subject);
    if (at == BUCKET_MEMOS && text == NULL)
        return;
    at = at < BUCKET_MEMOS ? at : BUCKET_MEMOS - 1;
    mel_json_free_text(bucket[at].text);
    memmove(bucket + 1, bucket, at * sizeof *bucket);
    bucket[0] = (memo){ .text = text };
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
    for (size_t i = 0; i < MEMO_BUCKETS; i++)
        for (size_t at = 0; at < BUCKET_MEMOS; at++)
            mel_json_free_text(cache->memos[i][at].text);
    for (size_t i = 0; i < BUCKETS; i++)
        while (cache->bucket[i] != NULL) {
            participant_entry *entry = cache->bucket[i];
            cache->bucket[i] = entry->next;
            discard(cache, entry);
        }
    while (cache->problems != NULL) {
        problem_entry *entry = cache->problems;
        cache->problems = entry->next;
        problem_entry_free(entry);
    }
    pthread_cond_destroy(&cache->changed);
    pthread_mutex_destroy(&cache->lock);
    free(cache);
}
