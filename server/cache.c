/* What is in memory, all of which can be made again from the store: problems that studies share, studies that
 * participants share, participants (replayed, for one caller at a time, forgotten when long idle), and
 * findings about them that took long. */
#include "cache.h"

#include "clock.h"
#include "json_helpers.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_PROBLEMS = 40, PARTICIPANT_BUCKETS = 1024, MEMO_BUCKETS = 4096, BUCKET_MEMOS = 16 };

typedef struct problem_entry problem_entry;
struct problem_entry {
    problem_entry *next;
    char *key;
    mel_problem *problem;
    size_t users;
    bool making;
    uint64_t used; /* on the cache's clock */
};

/* A stored study, read once for all who take part in it: nobody changes it. Its parts are in pages of several
 * threads at a time. */
typedef struct study_entry study_entry;
struct study_entry {
    study_entry *next;
    char *file; /* the text that was read */
    mel_study *study;
    size_t users;
    size_t idle; /* what its participants that nobody has taken cost */
};

typedef struct participant_entry participant_entry;
struct participant_entry {
    mel_participant participant; /* first: a participant is its entry */
    participant_entry *next;
    participant_entry *newer, *older; /* in the list of entries that nobody has taken */
    char id[MEL_ID_TEXT];
    bool taken, known; /* known: participant is filled */
    size_t waiting;
    size_t cost; /* about how many bytes it takes while it is idle */
};

typedef struct {
    char subject[MEL_ID_TEXT], mark[MEL_MEMO_TEXT];
    char *text; /* JSON; NULL: free */
} memo;

struct mel_cache {
    mel_store *store;
    const char *const *folders;
    mel_admission *admission;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    problem_entry *problems;
    study_entry *studies; /* those that somebody uses */
    participant_entry *bucket[PARTICIPANT_BUCKETS];
    participant_entry *newest, *oldest;
    size_t n_idle, n_problems, n_made; /* problems: in memory, ever made */
    size_t idle_own;                   /* what participants in no study cost that nobody has taken */
    uint64_t clock;                    /* ticks when a problem is used */
    /* By a hash of the subject; in each bucket the newest first. */
    memo memos[MEMO_BUCKETS][BUCKET_MEMOS];
};

static size_t hash_text(const char *text)
{
    size_t hash = 5381;
    for (; *text != '\0'; text++)
        hash = hash * 33 + (unsigned char)*text;
    return hash;
}

enum { MOST_IDLE_PROBLEMS = 8 };

/* --- problems ----------------------------------------------------------------------------------- */

static void drop_problem(mel_cache *cache, problem_entry *gone)
{
    problem_entry **at = &cache->problems;
    while (*at != gone)
        at = &(*at)->next;
    *at = gone->next;
    cache->n_problems--;
    mel_problem_free(gone->problem);
    free(gone->key);
    free(gone);
}

static void drop_idle_problems(mel_cache *cache)
{
    for (problem_entry *entry = cache->problems, *next; entry != NULL; entry = next) {
        next = entry->next;
        if (entry->users == 0 && !entry->making)
            drop_problem(cache, entry);
    }
}

/* Drops the problem that has been idle for longest, when there are too many. */
static void forget_problems(mel_cache *cache)
{
    problem_entry *oldest = NULL;
    size_t idle = 0;
    for (problem_entry *entry = cache->problems; entry != NULL; entry = entry->next)
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

static problem_entry *find_problem(const mel_cache *cache, const char *key)
{
    problem_entry *entry = cache->problems;
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
    for (const problem_entry *entry = find_problem(cache, key); useful && entry != NULL && entry->making;
         entry = find_problem(cache, key)) {
        mel_wait(&cache->changed, &cache->lock, 1);
        useful = mel_budget_check(NULL) == MEL_OK;
    }
    mel_wait_end(how, cache->admission);
    return useful;
}

/* Finds or makes an entry, one more user of which the caller is; takes the key over. shared: making it counts
 * for the client. */
static mel_status use_problem(problem_entry **out, mel_cache *cache, char *key, const mel_study *study,
                              bool shared, mel_error *err)
{
    const mel_work work = { .own = study->own, .shared = shared, .study = study->own ? NULL : study };
    MEL_HELD(held);
    mel_status status = MEL_OK;
    pthread_mutex_lock(&cache->lock);
    problem_entry *entry = find_problem(cache, key);
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
static study_entry *share_study(mel_cache *cache, const char *file)
{
    study_entry *entry = cache->studies;
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

static void free_study(study_entry *entry)
{
    set_references(entry->study->file, 1);
    mel_study_free(entry->study);
    free(entry->file);
    free(entry);
}

/* Another one may have been read meanwhile, and is used instead. */
static study_entry *add_study(mel_cache *cache, study_entry *mine)
{
    pthread_mutex_lock(&cache->lock);
    study_entry *entry = share_study(cache, mine->file);
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

static mel_status read_study(study_entry **out, mel_cache *cache, const char *file, mel_error *err)
{
    pthread_mutex_lock(&cache->lock);
    *out = share_study(cache, file);
    pthread_mutex_unlock(&cache->lock);
    if (*out != NULL)
        return MEL_OK;
    MEL_AUTO_MEMORY study_entry *mine = mel_alloc_zero(1, sizeof *mine);
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

static void release_study(mel_cache *cache, study_entry *entry)
{
    pthread_mutex_lock(&cache->lock);
    const bool last = --entry->users == 0;
    study_entry **at = &cache->studies;
    while (last && *at != entry)
        at = &(*at)->next;
    if (last)
        *at = entry->next;
    pthread_mutex_unlock(&cache->lock);
    if (last)
        free_study(entry);
}

/* --- open studies ------------------------------------------------------------------------------- */

/* Turns failures that are no fault of the request (data are gone, a file is not understood any more) into
 * MEL_ESTATE. */
static mel_status make_unavailable(mel_status status, mel_error *err)
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
    problem_entry *entry = NULL;
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
    study_entry *read = NULL;
    TRY(mel_store_study(&row, cache->store, id, err));
    mel_status status = read_study(&read, cache, row.file, err);
    if (status == MEL_OK)
        status = open_study_of(out, cache, read->study, false, err);
    if (*out == NULL) {
        if (read != NULL)
            release_study(cache, read);
        return make_unavailable(status == MEL_ELIMIT ? MEL_EDATA : status, err);
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
    problem_entry *entry = open_study->own;
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

/* --- participants --------------------------------------------------------------------------------- */

enum { MOST_PARTICIPANTS = 1000 };

static size_t bucket_of(const char *id)
{
    return hash_text(id) % PARTICIPANT_BUCKETS;
}

static void participant_clear(mel_participant *participant)
{
    mel_flow_free(participant->flow);
    mel_open_study_free(participant->open_study);
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

/* What the idle participants of the entry's study cost, or those who are in none. */
static size_t *idle_cost(mel_cache *cache, const participant_entry *entry)
{
    study_entry *study = entry->participant.open_study->read;
    return study != NULL ? &study->idle : &cache->idle_own;
}

static void link_idle(mel_cache *cache, participant_entry *entry)
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

static void unlink_idle(mel_cache *cache, participant_entry *entry)
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

static void remove_participant(mel_cache *cache, participant_entry *entry)
{
    participant_entry **at = &cache->bucket[bucket_of(entry->id)];
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
    return make_unavailable(find_open_study(&participant->open_study, cache, &participant->row, err), err);
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
    return make_unavailable(status, err);
}

/* Waits until nobody has the entry; false: too many wait, or that is no use any more. The lock is held. */
static bool wait_for(mel_cache *cache, participant_entry *entry)
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
static participant_entry *claim(mel_cache *cache, const char *id, mel_error *err)
{
    participant_entry *entry = find_participant(cache, id);
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
    participant_entry *entry = claim(cache, id, err);
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
static participant_entry *take_oldest(mel_cache *cache)
{
    const size_t *most = &cache->idle_own;
    for (const study_entry *study = cache->studies; study != NULL; study = study->next)
        most = study->idle > *most ? &study->idle : most;
    participant_entry *oldest = cache->oldest;
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

static void discard(participant_entry *entry)
{
    if (entry == NULL)
        return;
    participant_clear(&entry->participant);
    free(entry);
}

bool mel_cache_forget_idle(void *user)
{
    enum { SOME = 32 };
    mel_cache *cache = user;
    bool forgot = false;
    for (size_t i = 0; i < SOME; i++) {
        pthread_mutex_lock(&cache->lock);
        participant_entry *gone = take_oldest(cache);
        pthread_mutex_unlock(&cache->lock);
        forgot = forgot || gone != NULL;
        discard(gone);
    }
    pthread_mutex_lock(&cache->lock);
    const size_t problems = cache->n_problems;
    drop_idle_problems(cache);
    forgot = forgot || cache->n_problems < problems;
    pthread_mutex_unlock(&cache->lock);
    return forgot;
}

void mel_participant_release(mel_cache *cache, mel_participant *participant, bool keep)
{
    if (participant == NULL)
        return;
    participant_entry *entry = (participant_entry *)participant, *gone = NULL;
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
        if (cache->n_idle > MOST_PARTICIPANTS || cache->n_problems > MOST_PROBLEMS)
            gone = take_oldest(cache);
    }
    pthread_cond_broadcast(&cache->changed);
    pthread_mutex_unlock(&cache->lock);
    discard(gone);
}

static void free_participants(mel_cache *cache)
{
    for (size_t i = 0; i < PARTICIPANT_BUCKETS; i++)
        while (cache->bucket[i] != NULL) {
            participant_entry *entry = cache->bucket[i];
            cache->bucket[i] = entry->next;
            discard(entry);
        }
}

/* --- the whole, and findings ------------------------------------------------------------------------ */

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
    admission->forget = mel_cache_forget_idle;
    admission->user = cache;
    pthread_mutex_init(&cache->lock, NULL);
    mel_cond_init(&cache->changed);
    return MEL_OK;
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

static memo *bucket_of_subject(mel_cache *cache, const char *subject)
{
    return cache->memos[hash_text(subject) % MEMO_BUCKETS];
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
    pthread_mutex_lock(&cache->lock);
    const memo *bucket = bucket_of_subject(cache, subject);
    const size_t at = index_in(bucket, subject);
    char *text = at < BUCKET_MEMOS && (mark == NULL || strcmp(bucket[at].mark, mark) == 0)
                     ? mel_strdup(bucket[at].text)
                     : NULL;
    pthread_mutex_unlock(&cache->lock);
    json_t *found = mel_stored_json(text);
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

mel_cache_counts mel_cache_count(mel_cache *cache)
{
    pthread_mutex_lock(&cache->lock);
    const mel_cache_counts counts = { cache->n_idle, cache->n_made };
    pthread_mutex_unlock(&cache->lock);
    return counts;
}

void mel_cache_free(mel_cache *cache)
{
    if (cache == NULL)
        return;
    for (size_t i = 0; i < MEMO_BUCKETS; i++)
        for (size_t at = 0; at < BUCKET_MEMOS; at++)
            mel_json_free_text(cache->memos[i][at].text);
    free_participants(cache);
    while (cache->problems != NULL)
        drop_problem(cache, cache->problems);
    pthread_cond_destroy(&cache->changed);
    pthread_mutex_destroy(&cache->lock);
    free(cache);
}
