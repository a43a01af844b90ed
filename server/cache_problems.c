/* Problems in memory, shared by all sessions about the same data, and the studies that are about them. */
#include "cache_internal.h"

#include "clock.h"

#include "base/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_IDLE_PROBLEMS = 8 };

/* --- problems ----------------------------------------------------------------------------------- */

static void drop_problem(mel_cache *cache, mel_problem_entry *gone)
{
    mel_problem_entry **at = &cache->problems;
    while (*at != gone)
        at = &(*at)->next;
    *at = gone->next;
    cache->n_problems--;
    mel_problem_free(gone->problem);
    free(gone->key);
    free(gone);
}

void mel_cache_drop_idle_problems(mel_cache *cache)
{
    for (mel_problem_entry *entry = cache->problems, *next; entry != NULL; entry = next) {
        next = entry->next;
        if (entry->users == 0 && !entry->making)
            drop_problem(cache, entry);
    }
}

/* Drops the problem that has been idle for longest, when there are too many. */
static void forget_problems(mel_cache *cache)
{
    mel_problem_entry *oldest = NULL;
    size_t idle = 0;
    for (mel_problem_entry *entry = cache->problems; entry != NULL; entry = entry->next)
        if (entry->users == 0 && !entry->making) {
            idle++;
            if (oldest == NULL || entry->used < oldest->used)
                oldest = entry;
        }
    if (idle > MOST_IDLE_PROBLEMS)
        drop_problem(cache, oldest);
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

static mel_problem_entry *find_problem(const mel_cache *cache, const char *key)
{
    mel_problem_entry *entry = cache->problems;
    while (entry != NULL && strcmp(entry->key, key) != 0)
        entry = entry->next;
    return entry;
}

/* What a problem over the network may take. */
enum { MOST_CLASSES = 32, MOST_CELLS = 4000000, MOST_WEIGHTS = 200000 };

typedef struct {
    mel_cache *cache;
    bool own;
} fetcher;

static mel_status fetch_upload(void **bytes, size_t *n, void *user, const char *name, mel_error *err)
{
    const fetcher *f = user;
    TRY(mel_store_get(bytes, n, f->cache->store, name, err));
    const mel_status status = mel_work_grow(f->cache->admission, f->own, mel_table_work_bytes(*n), err);
    if (status != MEL_OK) {
        free(*bytes);
        *bytes = NULL;
    }
    return status;
}

typedef enum { NO_ROWS, MEASURED_ROWS, ALL_ROWS } wanted_rows;

/* From the data that the study names, or their rows alone; needs no lock. */
static mel_status read_problem(mel_problem **out, mel_cache *cache, const mel_study *study, wanted_rows rows,
                               mel_notice notice, mel_error *err)
{
    mel_problem_options opt;
    char *space = mel_json_text(study->space, JSON_COMPACT | JSON_REAL_PRECISION(17));
    const mel_status described =
        space != NULL ? mel_problem_from_json(&opt, space, err) : mel_fail_memory(err, "the data of a study");
    mel_json_free_text(space);
    TRY(described);
    mel_problem_want want = mel_want_of_family(study->options.family);
    want.rows = rows != NO_ROWS;
    want.training_rows = rows == ALL_ROWS;
    opt.smooth = opt.smooth && !want.rows;
    fetcher from = { .cache = cache, .own = study->own };
    opt.seed = study->options.seed;
    opt.resources = (mel_resources){
        .threads = 1,
        .progress = mel_budget_progress(),
        .notice = notice,
        .folders = cache->folders,
        .fetch = fetch_upload,
        .fetch_user = &from,
        .max_classes = MOST_CLASSES,
        .max_cells = MOST_CELLS,
        .max_weights = MOST_WEIGHTS,
    };
    const mel_status status = mel_problem_make(out, &opt, &want, err);
    mel_problem_options_clear(&opt);
    return mel_budget_explain(status, err);
}

mel_status mel_cache_read_rows(mel_problem **out, mel_cache *cache, const mel_study *study, bool training,
                               mel_notice notice, mel_error *err)
{
    *out = NULL;
    return read_problem(out, cache, study, training ? ALL_ROWS : MEASURED_ROWS, notice, err);
}

/* Makes a new entry as heavy work that has begun; the lock is held before and after, not meanwhile. Takes the
 * key over. */
static mel_status make_problem(mel_problem_entry **out, mel_cache *cache, char *key, const mel_study *study,
                               mel_error *err)
{
    mel_problem_entry *entry = mel_alloc_zero(1, sizeof *entry);
    if (entry == NULL) {
        free(key);
        return mel_fail_memory(err, "a study");
    }
    *entry = (mel_problem_entry){ .next = cache->problems, .key = key, .making = true };
    cache->problems = entry;
    cache->n_problems++;
    pthread_mutex_unlock(&cache->lock);
    const mel_status status = read_problem(&entry->problem, cache, study, NO_ROWS, (mel_notice){ 0 }, err);
    pthread_mutex_lock(&cache->lock);
    entry->making = false;
    pthread_cond_broadcast(&cache->changed);
    cache->n_made += status == MEL_OK;
    if (status == MEL_OK)
        *out = entry;
    else
        drop_problem(cache, entry);
    return status;
}

/* Waits while somebody makes the problem of this key; false: too many wait, or that is no use any more. The
 * lock is held. */
static bool wait_for_problem(mel_cache *cache, const char *key, bool own)
{
    mel_waiting how = own ? MEL_WAITS_FOR_DATA : MEL_WAITS_ASIDE;
    if (!mel_wait_begin(&how, cache->admission))
        return false;
    bool useful = true;
    for (const mel_problem_entry *entry = find_problem(cache, key); useful && entry != NULL && entry->making;
         entry = find_problem(cache, key)) {
        mel_wait(&cache->changed, &cache->lock, 1);
        useful = mel_budget_check(NULL) == MEL_OK;
    }
    mel_wait_end(how, cache->admission);
    return useful;
}

/* Finds or makes an entry, one more user of which the caller is; takes the key over. shared: making it counts
 * for the client. */
static mel_status use_problem(mel_problem_entry **out, mel_cache *cache, char *key, const mel_study *study,
                              bool shared, mel_error *err)
{
    const mel_work work = { .own = study->own, .shared = shared, .study = study->own ? NULL : study };
    MEL_HELD(held);
    mel_status status = MEL_OK;
    pthread_mutex_lock(&cache->lock);
    mel_problem_entry *entry = find_problem(cache, key);
    while (status == MEL_OK && (entry == NULL ? held == NULL : entry->making)) {
        if (entry == NULL) {
            pthread_mutex_unlock(&cache->lock);
            status = mel_work_begin(&held, cache->admission, &work, err);
            pthread_mutex_lock(&cache->lock);
        } else {
            mel_work_end(&held); /* who waits for a problem needs no place */
            status = wait_for_problem(cache, key, study->own) ? MEL_OK : mel_busy(err);
        }
        entry = find_problem(cache, key); /* which others may have made or given up meanwhile */
    }
    if (status == MEL_OK && entry == NULL)
        status = make_problem(&entry, cache, key, study, err);
    else
        free(key);
    if (status == MEL_OK) {
        entry->users++;
        entry->used = ++cache->clock;
        *out = entry;
    }
    pthread_mutex_unlock(&cache->lock);
    mel_work_end(&held);
    mel_budget_step_back();
    return status;
}

/* --- studies ------------------------------------------------------------------------------------ */

/* One more user of the study that was read from this text; NULL: there is none. The lock is held. */
static mel_study_entry *share_study(mel_cache *cache, const char *file)
{
    mel_study_entry *entry = cache->studies;
    while (entry != NULL && strcmp(entry->file, file) != 0)
        entry = entry->next;
    if (entry != NULL)
        entry->users++;
    return entry;
}

/* Says how many references there are to the value and all in it. jansson counts none where there are
 * SIZE_MAX, as of its own true and false, so that threads can share what is never freed before they are
 * through. */
static void set_references(json_t *value, size_t n)
{
    const char *key;
    json_t *part;
    size_t i;
    if (json_is_boolean(value) || json_is_null(value))
        return;
    value->refcount = n;
    json_object_foreach(value, key, part) set_references(part, n);
    json_array_foreach(value, i, part) set_references(part, n);
}

static void free_study(mel_study_entry *entry)
{
    set_references(entry->study->file, 1);
    mel_study_free(entry->study);
    free(entry->file);
    free(entry);
}

/* Another one may have been read meanwhile, and is used instead. */
static mel_study_entry *add_study(mel_cache *cache, mel_study_entry *mine)
{
    pthread_mutex_lock(&cache->lock);
    mel_study_entry *entry = share_study(cache, mine->file);
    if (entry == NULL) {
        mine->users = 1;
        mine->next = cache->studies;
        cache->studies = mine;
    }
    pthread_mutex_unlock(&cache->lock);
    if (entry == NULL)
        return mine;
    free_study(mine);
    return entry;
}

static mel_status read_study(mel_study_entry **out, mel_cache *cache, const char *file, mel_error *err)
{
    pthread_mutex_lock(&cache->lock);
    *out = share_study(cache, file);
    pthread_mutex_unlock(&cache->lock);
    if (*out != NULL)
        return MEL_OK;
    MEL_AUTO_MEMORY mel_study_entry *mine = mel_alloc_zero(1, sizeof *mine);
    MEL_AUTO_MEMORY char *text = mel_strdup(file);
    if (mine == NULL || text == NULL)
        return mel_fail_memory(err, "a study");
    TRY(mel_study_parse(&mine->study, file, strlen(file), err));
    mine->file = text;
    set_references(mine->study->file, SIZE_MAX);
    *out = add_study(cache, mine);
    mine = NULL;
    text = NULL;
    return MEL_OK;
}

static void release_study(mel_cache *cache, mel_study_entry *entry)
{
    pthread_mutex_lock(&cache->lock);
    const bool last = --entry->users == 0;
    mel_study_entry **at = &cache->studies;
    while (last && *at != entry)
        at = &(*at)->next;
    if (last)
        *at = entry->next;
    pthread_mutex_unlock(&cache->lock);
    if (last)
        free_study(entry);
}

/* --- open studies ------------------------------------------------------------------------------- */

mel_status mel_cache_unavailable(mel_status status, mel_error *err)
{
    if (status != MEL_EINVAL && status != MEL_EDATA)
        return status;
    if (err != NULL)
        err->code = MEL_ESTATE;
    return MEL_ESTATE;
}

static mel_status open_study_of(mel_open_study **out, mel_cache *cache, const mel_study *study, bool shared,
                                mel_error *err)
{
    *out = NULL;
    MEL_AUTO_MEMORY mel_open_study *open_study = mel_alloc_zero(1, sizeof *open_study);
    char *key = problem_key(study);
    if (open_study == NULL || key == NULL) {
        free(key);
        return mel_fail_memory(err, "a study");
    }
    mel_problem_entry *entry = NULL;
    (void)mel_admission_make_room(cache->admission);
    TRY(use_problem(&entry, cache, key, study, shared, err));
    *open_study = (mel_open_study){
        .study = study, .problem = entry->problem, .own = entry, .cache = cache, .state = "open"
    };
    *out = open_study;
    open_study = NULL;
    return MEL_OK;
}

mel_status mel_open_study_of(mel_open_study **out, mel_cache *cache, mel_study *study, mel_error *err)
{
    const mel_status status = open_study_of(out, cache, study, true, err);
    if (status != MEL_OK)
        mel_study_free(study);
    return status;
}

mel_status mel_open_study_by_id(mel_open_study **out, mel_cache *cache, const char *id, mel_error *err)
{
    *out = NULL;
    MEL_ROW(mel_study_row) row = { .file = NULL };
    mel_study_entry *read = NULL;
    TRY(mel_store_study(&row, cache->store, id, err));
    mel_status status = read_study(&read, cache, row.file, err);
    if (status == MEL_OK)
        status = open_study_of(out, cache, read->study, false, err);
    if (*out == NULL) {
        if (read != NULL)
            release_study(cache, read);
        return mel_cache_unavailable(status == MEL_ELIMIT ? MEL_EDATA : status, err);
    }
    (*out)->read = read;
    (void)snprintf((*out)->state, sizeof(*out)->state, "%s", row.state);
    return MEL_OK;
}

void mel_open_study_free(mel_open_study *open_study)
{
    if (open_study == NULL)
        return;
    mel_cache *cache = open_study->cache;
    mel_problem_entry *entry = open_study->own;
    pthread_mutex_lock(&cache->lock);
    entry->users--;
    forget_problems(cache);
    pthread_mutex_unlock(&cache->lock);
    if (open_study->read != NULL)
        release_study(cache, open_study->read);
    else
        mel_study_free((mel_study *)open_study->study); /* it was taken over */
    free(open_study);
}

void mel_cache_free_problems(mel_cache *cache)
{
    while (cache->problems != NULL)
        drop_problem(cache, cache->problems);
}
