/* Participants in memory: replayed from the store, for one caller at a time, forgotten when long idle. Then
 * findings about them that took long. */
#include "cache_internal.h"
#include "clock.h"
#include "json_helpers.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_PARTICIPANTS = 1000 };

static size_t bucket_of(const char *id)
{
    return mel_text_hash(id) % MEL_PARTICIPANT_BUCKETS;
}

static void participant_clear(mel_participant *participant)
{
    mel_flow_free(participant->flow);
    mel_open_study_free(participant->open_study);
    mel_participant_row_clear(&participant->row);
    *participant = (mel_participant){ .seq = 0 };
}

static mel_participant_entry *find_participant(const mel_cache *cache, const char *id)
{
    mel_participant_entry *entry = cache->bucket[bucket_of(id)];
    while (entry != NULL && strcmp(entry->id, id) != 0)
        entry = entry->next;
    return entry;
}

/* What the idle participants of the entry's study cost, or those who are in none. */
static size_t *idle_cost(mel_cache *cache, const mel_participant_entry *entry)
{
    mel_study_entry *study = entry->participant.open_study->read;
    return study != NULL ? &study->idle : &cache->idle_own;
}

static void link_idle(mel_cache *cache, mel_participant_entry *entry)
{
    entry->older = cache->newest;
    if (cache->newest != NULL)
        cache->newest->newer = entry;
    else
        cache->oldest = entry;
    cache->newest = entry;
    cache->n_idle++;
    *idle_cost(cache, entry) += entry->cost;
}

static void unlink_idle(mel_cache *cache, mel_participant_entry *entry)
{
    *idle_cost(cache, entry) -= entry->cost;
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

static void remove_participant(mel_cache *cache, mel_participant_entry *entry)
{
    mel_participant_entry **at = &cache->bucket[bucket_of(entry->id)];
    while (*at != entry)
        at = &(*at)->next;
    *at = entry->next;
}

/* The study that a participant is in: a stored one or, for a session of their own, the one in `about`. */
static mel_status find_open_study(mel_open_study **out, mel_cache *cache, const mel_participant_row *row,
                                  mel_error *err)
{
    json_auto_t *about = NULL;
    mel_study *study = NULL;
    TRY(mel_json_parse(&about, row->about, strlen(row->about), err));
    const json_t *start = json_object_get(about, "start");
    if (start == NULL)
        return mel_open_study_by_id(out, cache, row->study, err);
    TRY(mel_study_for_session(&study, start, err));
    return mel_open_study_of(out, cache, study, err);
}

static mel_status replay_line(mel_participant *participant, const mel_event_row *event, mel_error *err)
{
    json_auto_t *line = NULL;
    TRY(mel_json_parse(&line, event->body, strlen(event->body), err));
    TRY(mel_flow_replay(participant->flow, line, err));
    const double seconds = json_number_value(json_object_get(line, "seconds"));
    participant->seconds += seconds > 0.0 ? seconds : 0.0;
    participant->bytes += strlen(event->body);
    participant->seq = event->seq;
    return MEL_OK;
}

/* From where it was left up to event `last`. A request that has replayed as much as it may leaves the rest to
 * the next one. */
static mel_status replay(mel_participant *participant, mel_cache *cache, uint32_t last, mel_error *err)
{
    mel_event_row *event = NULL;
    size_t n = 0;
    mel_status status = mel_store_events(&event, &n, cache->store, participant->row.id, err);
    const size_t end = n < last ? n : last;
    participant->behind = true;
    for (size_t i = participant->seq; i < end && status == MEL_OK; i++) {
        status = replay_line(participant, &event[i], err);
        if (status == MEL_OK && i + 1 < end && mel_budget_check(NULL) != MEL_OK)
            status = mel_busy(err);
    }
    mel_event_rows_free(event, n);
    if (status == MEL_OK)
        participant->behind = false;
    return status;
}

/* Row, study and flow, with nothing replayed yet. */
static mel_status begin_participant(mel_participant *participant, mel_cache *cache, const char *id,
                                    mel_error *err)
{
    TRY(mel_store_participant(&participant->row, cache->store, id, err));
    return mel_cache_unavailable(find_open_study(&participant->open_study, cache, &participant->row, err),
                                 err);
}

/* A flow that takes long to compute is heavy work. */
static mel_status fill_participant(mel_participant *participant, mel_cache *cache, const char *id,
                                   uint32_t last, mel_error *err)
{
    if (participant->open_study == NULL)
        TRY(begin_participant(participant, cache, id, err));
    const mel_open_study *open_study = participant->open_study;
    MEL_HELD(held);
    mel_status status = mel_cache_begin_flow(&held, cache, open_study, MEL_WORK_ANSWER, err);
    if (status == MEL_OK && participant->flow == NULL) {
        json_auto_t *about = mel_stored_json(participant->row.about);
        status = mel_flow_new(&participant->flow, open_study->study, open_study->problem,
                              participant->row.seed, json_object_get(about, "prior"), err);
    }
    if (status == MEL_OK)
        status = replay(participant, cache, last, err);
    return mel_cache_unavailable(status, err);
}

/* Waits until nobody has the entry; false: too many wait, or that is no use any more. The lock is held. */
static bool wait_for(mel_cache *cache, mel_participant_entry *entry)
{
    mel_waiting how = MEL_WAITS_FOR_PERSON;
    if (!mel_wait_begin(&how, cache->admission))
        return false;
    bool may = true;
    entry->waiting++;
    while (entry->taken && may) {
        mel_wait(&cache->changed, &cache->lock, 1);
        may = mel_budget_check(NULL) == MEL_OK;
    }
    entry->waiting--;
    mel_wait_end(how, cache->admission);
    return !entry->taken;
}

/* The entry, taken for this caller; the lock is held. NULL without memory, or when too many wait for
 * participants already: requests of a few people must not keep all workers busy. */
static mel_participant_entry *claim(mel_cache *cache, const char *id, mel_error *err)
{
    mel_participant_entry *entry = find_participant(cache, id);
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
    if (!entry->taken && entry->waiting == 0) /* otherwise a waiting caller gets it, and it is on no list */
        unlink_idle(cache, entry);
    if (entry->taken && !wait_for(cache, entry)) {
        (void)mel_busy(err);
        return NULL;
    }
    entry->taken = true;
    return entry;
}

/* Memory is good enough when it says that the participant was last seen between these two times. */
static mel_status take(mel_participant **out, mel_cache *cache, const char *id, int64_t least, int64_t most,
                       mel_error *err)
{
    *out = NULL;
    if (strlen(id) >= MEL_ID_TEXT)
        return mel_fail(err, MEL_EINVAL, "there is no such participant");
    mel_error own = { .code = MEL_OK };
    err = err != NULL ? err : &own; /* claim() reports its failure here */
    pthread_mutex_lock(&cache->lock);
    mel_participant_entry *entry = claim(cache, id, err);
    pthread_mutex_unlock(&cache->lock);
    if (entry == NULL)
        return err->code;
    if (entry->known && (entry->participant.row.seen < least || entry->participant.row.seen > most)) {
        participant_clear(&entry->participant);
        entry->known = false;
    }
    entry->participant.fresh = !entry->known;
    if (!entry->known || entry->participant.behind) {
        const mel_status status = fill_participant(&entry->participant, cache, id, UINT32_MAX, err);
        entry->known = status == MEL_OK || (status == MEL_BUSY && entry->participant.behind);
        if (status != MEL_OK) {
            mel_participant_release(cache, &entry->participant, entry->known);
            return status;
        }
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

mel_status mel_participant_past(mel_participant **out, mel_cache *cache, const char *id, uint32_t seq,
                                mel_error *err)
{
    *out = NULL;
    MEL_AUTO(mel_past) *past = mel_alloc_zero(1, sizeof *past);
    if (past == NULL)
        return mel_fail_memory(err, "a participant");
    MEL_HELD(held);
    TRY(mel_work_begin(&held, cache->admission, &(mel_work){ .own = true, .shared = true }, err));
    TRY(fill_participant(past, cache, id, seq, err));
    *out = past;
    past = NULL;
    return MEL_OK;
}

void mel_past_free(mel_participant *past)
{
    if (past == NULL)
        return;
    participant_clear(past);
    free(past);
}

/* Takes the participant that has been idle longest, of the study whose idle participants cost most, off the
 * list; the caller discards it. So a study with many people or large sessions forgets its own. Returns NULL
 * if nobody is idle. The lock is held. */
static mel_participant_entry *take_oldest(mel_cache *cache)
{
    const size_t *most = &cache->idle_own;
    for (const mel_study_entry *study = cache->studies; study != NULL; study = study->next)
        most = study->idle > *most ? &study->idle : most;
    mel_participant_entry *oldest = cache->oldest;
    while (oldest != NULL && idle_cost(cache, oldest) != most)
        oldest = oldest->newer;
    if (oldest != NULL) {
        unlink_idle(cache, oldest);
        remove_participant(cache, oldest);
    }
    return oldest;
}

static size_t cost_of(const mel_participant *participant)
{
    enum { LIGHT = 256 << 10 };
    const mel_open_study *open_study = participant->open_study;
    size_t bytes = 0;
    return mel_flow_is_heavy(&bytes, open_study->study, open_study->problem, MEL_WORK_ANSWER) ? bytes : LIGHT;
}

static void discard(mel_participant_entry *entry)
{
    if (entry == NULL)
        return;
    participant_clear(&entry->participant);
    free(entry);
}

bool mel_cache_forget_idle(mel_cache *cache)
{
    enum { SOME = 32 };
    bool forgot = false;
    for (size_t i = 0; i < SOME; i++) {
        pthread_mutex_lock(&cache->lock);
        mel_participant_entry *gone = take_oldest(cache);
        pthread_mutex_unlock(&cache->lock);
        forgot = forgot || gone != NULL;
        discard(gone);
    }
    pthread_mutex_lock(&cache->lock);
    const size_t problems = cache->n_problems;
    mel_cache_drop_idle_problems(cache);
    forgot = forgot || cache->n_problems < problems;
    pthread_mutex_unlock(&cache->lock);
    return forgot;
}

void mel_participant_release(mel_cache *cache, mel_participant *participant, bool keep)
{
    if (participant == NULL)
        return;
    mel_participant_entry *entry = (mel_participant_entry *)participant, *gone = NULL;
    if (!keep) {
        participant_clear(participant);
        entry->known = false;
    }
    pthread_mutex_lock(&cache->lock);
    entry->taken = false;
    if (!entry->known && entry->waiting == 0) {
        remove_participant(cache, entry);
        gone = entry;
    } else if (entry->waiting == 0) {
        entry->cost = cost_of(&entry->participant);
        link_idle(cache, entry);
        if (cache->n_idle > MOST_PARTICIPANTS || cache->n_problems > MEL_MOST_PROBLEMS)
            gone = take_oldest(cache);
    }
    pthread_cond_broadcast(&cache->changed);
    pthread_mutex_unlock(&cache->lock);
    discard(gone);
}

static void free_participants(mel_cache *cache)
{
    for (size_t i = 0; i < MEL_PARTICIPANT_BUCKETS; i++)
        while (cache->bucket[i] != NULL) {
            mel_participant_entry *entry = cache->bucket[i];
            cache->bucket[i] = entry->next;
            discard(entry);
        }
}

/* --- the whole, and findings ------------------------------------------------------------------------ */

static bool forget_idle(void *cache)
{
    return mel_cache_forget_idle(cache);
}

mel_status mel_cache_new(mel_cache **out, mel_store *store, const char *const *folders,
                         mel_admission *admission, mel_error *err)
{
    mel_cache *cache = mel_alloc_zero(1, sizeof *cache);
    *out = cache;
    if (cache == NULL)
        return mel_fail_memory(err, "the server's memory of studies");
    cache->store = store;
    cache->folders = folders;
    cache->admission = admission;
    admission->forget = forget_idle;
    admission->user = cache;
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

mel_admission *mel_cache_admission(const mel_cache *cache)
{
    return cache->admission;
}

mel_status mel_cache_begin_flow(mel_admission **held, mel_cache *cache, const mel_open_study *open_study,
                                mel_flow_work what, mel_error *err)
{
    const bool own = open_study->study->own;
    mel_work work = { .own = own,
                      .shared = own || what != MEL_WORK_ANSWER,
                      .holds = what != MEL_WORK_ANSWER,
                      .study = own ? NULL : open_study->study };
    *held = NULL;
    if (mel_work_is_under_way() ||
        !mel_flow_is_heavy(&work.bytes, open_study->study, open_study->problem, what))
        return MEL_OK;
    return mel_work_begin(held, cache->admission, &work, err);
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
    free_participants(cache);
    mel_cache_free_problems(cache);
    pthread_cond_destroy(&cache->changed);
    pthread_mutex_destroy(&cache->lock);
    free(cache);
}
