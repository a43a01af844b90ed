/* The cache: making and freeing it, and findings to remember. Problems are shared by
 * all sessions about the same data; the participants who answered last are kept. An entry that is being made
 * is marked as such, and only callers who need the same one wait. */
#include "cache_internal.h"

#include "clock.h"
#include "json_helpers.h"

#include <stdio.h>
#include <stdlib.h>

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
                      .waits = !own,
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
    mel_cache_free_participants(cache);
    mel_cache_free_problems(cache);
    pthread_cond_destroy(&cache->changed);
    pthread_mutex_destroy(&cache->lock);
    free(cache);
}
