/* Places are shared by all sessions about the same data, seats are kept for those who answered last. A place
 * or a seat that is being made is marked as such, and only those who want the same one wait. */
#include "live.h"

#include "read.h"

#include "base/internal.h"
#include "base/json.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_IDLE_PLACES = 8,
    MOST_PLACES = 40,
    MOST_SEATS = 1000,
    BUCKETS = 1024,
    SHELVES = 4096,
    SHELF = 16
};

typedef struct place_entry place_entry;
struct place_entry {
    place_entry *next;
    char *key;
    mel_place *place;
    size_t users;
    bool making;
    uint64_t used; /* when last, in takes */
};

typedef struct seat_entry seat_entry;
struct seat_entry {
    mel_seat seat; /* first: a seat is its entry */
    seat_entry *next;
    seat_entry *newer, *older; /* of those that nobody has */
    char id[MEL_ID_TEXT];
    bool taken, known; /* known: seat is filled */
    size_t waiting;
};

typedef struct {
    char subject[MEL_ID_TEXT], mark[MEL_MEMO_TEXT];
    char *text; /* JSON; NULL: free */
} memo;

struct mel_live {
    mel_store *store;
    mel_place_maker maker;
    void *user;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    place_entry *places;
    seat_entry *bucket[BUCKETS];
    seat_entry *newest, *oldest;
    size_t n_idle, n_places;
    size_t workers;           /* 0: nobody else is kept waiting, there are no limits */
    size_t n_making, n_stuck; /* callers who do heavy work; who do or wait for it */
    uint64_t clock;
    memo memos[SHELVES][SHELF]; /* by a hash of the subject; on each shelf the newest first */
};

mel_status mel_live_new(mel_live **out, mel_store *store, mel_place_maker maker, void *user, mel_error *err)
{
    mel_live *live = mel_alloc_zero(1, sizeof *live);
    *out = live;
    if (live == NULL)
        return mel_fail_memory(err, "the server's memory of studies");
    live->store = store;
    live->maker = maker;
    live->user = user;
    pthread_mutex_init(&live->lock, NULL);
    pthread_cond_init(&live->changed, NULL);
    return MEL_OK;
}

/* --- heavy work --------------------------------------------------------------------------------- */

void mel_live_limit(mel_live *live, size_t workers)
{
    live->workers = workers;
}

static mel_status too_busy(mel_error *err)
{
    (void)mel_fail(err, MEL_BUSY, "the server is busy with other people's data; try again in a moment");
    return MEL_BUSY;
}

/* Whether one more may begin, or wait for the end of, what takes long: a quarter of the workers do such
 * things at a time, and a quarter are never kept from answers. The lock is held. */
static bool may_begin(const mel_live *live)
{
    const size_t most = live->workers / 4;
    return live->workers == 0 || live->n_making < (most > 0 ? most : 1);
}

static bool may_wait(const mel_live *live)
{
    return live->workers == 0 || live->n_stuck < live->workers - live->workers / 4;
}

mel_status mel_live_begin(mel_live *live, mel_error *err)
{
    pthread_mutex_lock(&live->lock);
    const bool may = may_begin(live) && may_wait(live);
    live->n_making += may;
    live->n_stuck += may;
    pthread_mutex_unlock(&live->lock);
    return may ? MEL_OK : too_busy(err);
}

void mel_live_end(mel_live *live)
{
    pthread_mutex_lock(&live->lock);
    live->n_making--;
    live->n_stuck--;
    pthread_mutex_unlock(&live->lock);
}

/* --- places ------------------------------------------------------------------------------------- */

static void place_entry_free(place_entry *entry)
{
    if (entry->place != NULL)
        entry->place->free(entry->place);
    free(entry->key);
    free(entry);
}

/* The place that has been idle for longest, when there are too many. */
static void forget_places(mel_live *live)
{
    place_entry **oldest = NULL;
    size_t idle = 0;
    for (place_entry **at = &live->places; *at != NULL; at = &(*at)->next)
        if ((*at)->users == 0 && !(*at)->making) {
            idle++;
            if (oldest == NULL || (*at)->used < (*oldest)->used)
                oldest = at;
        }
    if (idle <= MOST_IDLE_PLACES)
        return;
    place_entry *gone = *oldest;
    *oldest = gone->next;
    live->n_places--;
    place_entry_free(gone);
}

static char *place_key(const mel_study *study)
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

static place_entry *find_place(const mel_live *live, const char *key)
{
    place_entry *entry = live->places;
    while (entry != NULL && strcmp(entry->key, key) != 0)
        entry = entry->next;
    return entry;
}

static void drop_place(mel_live *live, place_entry *gone)
{
    place_entry **at = &live->places;
    while (*at != gone)
        at = &(*at)->next;
    *at = gone->next;
    live->n_places--;
    place_entry_free(gone);
}

/* A new entry, made without the lock, which is held before and after. Takes the key over. */
static mel_status make_place(place_entry **out, mel_live *live, char *key, const mel_study *study,
                             mel_error *err)
{
    place_entry *entry = mel_alloc_zero(1, sizeof *entry);
    if (entry == NULL) {
        free(key);
        return mel_fail_memory(err, "a study");
    }
    *entry = (place_entry){ .next = live->places, .key = key, .making = true };
    live->places = entry;
    live->n_places++;
    live->n_making++;
    live->n_stuck++;
    pthread_mutex_unlock(&live->lock);
    const mel_status status =
        live->maker(&entry->place, live->user, study->space, study->options.family, study->options.seed, err);
    pthread_mutex_lock(&live->lock);
    live->n_making--;
    live->n_stuck--;
    entry->making = false;
    pthread_cond_broadcast(&live->changed);
    if (status == MEL_OK)
        *out = entry;
    else
        drop_place(live, entry);
    return status;
}

/* Takes the key over. The lock is held before and after, not while the place is made. */
static mel_status use_place(place_entry **out, mel_live *live, char *key, const mel_study *study,
                            mel_error *err)
{
    place_entry *entry = find_place(live, key);
    while (entry != NULL && entry->making && may_wait(live)) {
        live->n_stuck++;
        pthread_cond_wait(&live->changed, &live->lock);
        live->n_stuck--;
        entry = find_place(live, key);
    }
    if (entry == NULL && may_begin(live) && may_wait(live)) {
        const mel_status status = make_place(&entry, live, key, study, err);
        if (status != MEL_OK)
            return status;
    } else {
        free(key);
        if (entry == NULL || entry->making)
            return too_busy(err);
    }
    entry->users++;
    entry->used = ++live->clock;
    *out = entry;
    return MEL_OK;
}

/* --- halls -------------------------------------------------------------------------------------- */

/* Data that are gone or a file that is not understood any more are no fault of what was asked now. */
static mel_status unavailable(mel_status status, mel_error *err)
{
    if (status != MEL_EINVAL && status != MEL_EDATA)
        return status;
    if (err != NULL)
        err->code = MEL_ESTATE;
    return MEL_ESTATE;
}

mel_status mel_hall_of(mel_hall **out, mel_live *live, mel_study *study, mel_error *err)
{
    *out = NULL;
    mel_hall *hall = mel_alloc_zero(1, sizeof *hall);
    char *key = place_key(study);
    if (hall == NULL || key == NULL) {
        free(hall);
        free(key);
        mel_study_free(study);
        (void)mel_fail_memory(err, "a study");
        return MEL_ENOMEM;
    }
    place_entry *entry = NULL;
    pthread_mutex_lock(&live->lock);
    const mel_status status = use_place(&entry, live, key, study, err);
    pthread_mutex_unlock(&live->lock);
    if (status != MEL_OK) {
        mel_study_free(study);
        free(hall);
        return status;
    }
    *hall = (mel_hall){ .study = study, .place = entry->place, .own = entry, .state = "open" };
    *out = hall;
    return MEL_OK;
}

mel_status mel_hall_of_study(mel_hall **out, mel_live *live, const char *id, mel_error *err)
{
    *out = NULL;
    mel_study_row row;
    mel_status status = mel_store_study(&row, live->store, id, err);
    if (status != MEL_OK)
        return status;
    mel_study *study = NULL;
    status = mel_study_parse(&study, row.file, strlen(row.file), err);
    if (status == MEL_OK)
        status = mel_hall_of(out, live, study, err);
    status = unavailable(status, err);
    if (status == MEL_OK) /* stored studies may name options that nothing reads */
        mel_session_options_settle(&study->options, &(*out)->place->domain);
    if (status == MEL_OK)
        (void)snprintf((*out)->state, sizeof(*out)->state, "%s", row.state);
    mel_study_row_clear(&row);
    return status;
}

void mel_hall_release(mel_live *live, mel_hall *hall)
{
    if (hall == NULL)
        return;
    place_entry *entry = hall->own;
    pthread_mutex_lock(&live->lock);
    entry->users--;
    forget_places(live);
    pthread_mutex_unlock(&live->lock);
    mel_study_free(hall->study);
    free(hall);
}

/* --- seats -------------------------------------------------------------------------------------- */

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

static void seat_clear(mel_live *live, mel_seat *seat)
{
    mel_flow_free(seat->flow);
    mel_hall_release(live, seat->hall);
    mel_participant_row_clear(&seat->row);
    *seat = (mel_seat){ .seq = 0 };
}

static seat_entry *find_seat(const mel_live *live, const char *id)
{
    seat_entry *entry = live->bucket[bucket_of(id)];
    while (entry != NULL && strcmp(entry->id, id) != 0)
        entry = entry->next;
    return entry;
}

static void unlink_idle(mel_live *live, seat_entry *entry)
{
    if (entry->newer != NULL)
        entry->newer->older = entry->older;
    else
        live->newest = entry->older;
    if (entry->older != NULL)
        entry->older->newer = entry->newer;
    else
        live->oldest = entry->newer;
    entry->newer = entry->older = NULL;
    live->n_idle--;
}

static void remove_seat(mel_live *live, seat_entry *entry)
{
    seat_entry **at = &live->bucket[bucket_of(entry->id)];
    while (*at != entry)
        at = &(*at)->next;
    *at = entry->next;
}

/* The hall that a participant is in: the study's or, for a session of one's own, that of `about`. */
static mel_status find_hall(mel_hall **out, mel_live *live, const mel_participant_row *row, mel_error *err)
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
            status = mel_hall_of(out, live, study, err);
    } else {
        status = mel_hall_of_study(out, live, row->study, err);
    }
    json_decref(about);
    return status;
}

static mel_status replay(mel_seat *seat, mel_live *live, mel_error *err)
{
    mel_event_row *event = NULL;
    size_t n = 0;
    mel_status status = mel_store_events(&event, &n, live->store, seat->row.id, err);
    for (size_t i = 0; i < n && status == MEL_OK; i++) {
        json_t *line = NULL;
        status = mel_json_parse(&line, event[i].body, strlen(event[i].body), err);
        if (status == MEL_OK)
            status = mel_flow_replay(seat->flow, line, err);
        const double seconds = json_number_value(json_object_get(line, "seconds"));
        seat->seconds += seconds > 0.0 ? seconds : 0.0;
        json_decref(line);
        seat->seq = event[i].seq;
    }
    for (size_t i = 0; i < n; i++)
        mel_event_row_clear(&event[i]);
    free(event);
    return status;
}

static mel_status fill_seat(mel_seat *seat, mel_live *live, const char *id, mel_error *err)
{
    mel_status status = mel_store_participant(&seat->row, live->store, id, err);
    if (status != MEL_OK)
        return status;
    status = find_hall(&seat->hall, live, &seat->row, err);
    if (status == MEL_OK)
        status = mel_flow_new(&seat->flow, seat->hall->study, seat->hall->place, seat->row.seed, err);
    if (status == MEL_OK)
        status = replay(seat, live, err);
    return unavailable(status, err);
}

/* The entry, taken for this caller; the lock is held. NULL without memory, or when as many as may wait for
 * it already: a person has one browser, and the others need the workers. */
static seat_entry *claim(mel_live *live, const char *id, mel_error *err)
{
    seat_entry *entry = find_seat(live, id);
    if (entry != NULL && entry->taken && live->workers > 0 &&
        (entry->waiting >= live->workers / 2 || !may_wait(live))) {
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
        entry->next = live->bucket[at];
        live->bucket[at] = entry;
        entry->taken = true;
        return entry;
    }
    if (!entry->taken && entry->waiting == 0) /* else it is for the one who waits, and on no list */
        unlink_idle(live, entry);
    entry->waiting++;
    live->n_stuck++;
    while (entry->taken)
        pthread_cond_wait(&live->changed, &live->lock);
    live->n_stuck--;
    entry->waiting--;
    entry->taken = true;
    return entry;
}

/* What is in memory will do when the store saw the participant then between these two times. */
static mel_status take(mel_seat **out, mel_live *live, const char *participant, int64_t least, int64_t most,
                       mel_error *err)
{
    *out = NULL;
    if (strlen(participant) >= MEL_ID_TEXT)
        return mel_fail(err, MEL_EINVAL, "there is no such participant");
    mel_error own = { .code = MEL_OK };
    err = err != NULL ? err : &own; /* it tells what claim() failed of */
    pthread_mutex_lock(&live->lock);
    seat_entry *entry = claim(live, participant, err);
    pthread_mutex_unlock(&live->lock);
    if (entry == NULL)
        return err->code;
    if (entry->known && (entry->seat.row.seen < least || entry->seat.row.seen > most)) {
        seat_clear(live, &entry->seat);
        entry->known = false;
    }
    entry->seat.fresh = !entry->known;
    if (!entry->known) {
        const mel_status status = fill_seat(&entry->seat, live, participant, err);
        if (status != MEL_OK) {
            mel_seat_release(live, &entry->seat, false);
            return status;
        }
        entry->known = true;
    }
    *out = &entry->seat;
    return MEL_OK;
}

mel_status mel_seat_take(mel_seat **out, mel_live *live, const char *participant, int64_t seen,
                         mel_error *err)
{
    return seen == 0 ? take(out, live, participant, INT64_MIN, INT64_MAX, err)
                     : take(out, live, participant, seen, seen, err);
}

mel_status mel_seat_look(mel_seat **out, mel_live *live, const char *participant, int64_t seen,
                         mel_error *err)
{
    return take(out, live, participant, seen, INT64_MAX, err);
}

/* The seat that has been idle for longest, when there are too many seats or places; the caller clears and
 * frees it. */
static seat_entry *oldest_beyond(mel_live *live)
{
    seat_entry *gone = live->n_idle > MOST_SEATS || live->n_places > MOST_PLACES ? live->oldest : NULL;
    if (gone != NULL) {
        unlink_idle(live, gone);
        remove_seat(live, gone);
    }
    return gone;
}

static void discard(mel_live *live, seat_entry *entry)
{
    if (entry == NULL)
        return;
    seat_clear(live, &entry->seat);
    free(entry);
}

void mel_seat_release(mel_live *live, mel_seat *seat, bool keep)
{
    if (seat == NULL)
        return;
    seat_entry *entry = (seat_entry *)seat, *gone = NULL;
    if (!keep) {
        seat_clear(live, seat);
        entry->known = false;
    }
    pthread_mutex_lock(&live->lock);
    entry->taken = false;
    if (!entry->known && entry->waiting == 0) {
        remove_seat(live, entry);
        gone = entry;
    } else if (entry->waiting == 0) {
        entry->older = live->newest;
        if (live->newest != NULL)
            live->newest->newer = entry;
        else
            live->oldest = entry;
        live->newest = entry;
        live->n_idle++;
        gone = oldest_beyond(live);
    }
    pthread_cond_broadcast(&live->changed);
    pthread_mutex_unlock(&live->lock);
    discard(live, gone);
}

/* --- memos -------------------------------------------------------------------------------------- */

static memo *shelf_of(mel_live *live, const char *subject)
{
    return live->memos[hash_of(subject) % SHELVES];
}

static size_t place_on(const memo *shelf, const char *subject)
{
    size_t at = 0;
    while (at < SHELF && (shelf[at].text == NULL || strcmp(shelf[at].subject, subject) != 0))
        at++;
    return at;
}

json_t *mel_live_recall(mel_live *live, const char *subject, const char *mark)
{
    json_t *found = NULL;
    pthread_mutex_lock(&live->lock);
    const memo *shelf = shelf_of(live, subject);
    const size_t at = place_on(shelf, subject);
    char *text =
        at < SHELF && (mark == NULL || strcmp(shelf[at].mark, mark) == 0) ? mel_strdup(shelf[at].text) : NULL;
    pthread_mutex_unlock(&live->lock);
    if (text != NULL)
        found = mel_read_json(text);
    free(text);
    return found;
}

/* Takes the text over; NULL: the subject is forgotten. The lock is held. */
static void put_memo(memo *shelf, const char *subject, const char *mark, char *text)
{
    size_t at = place_on(shelf, subject);
    if (at == SHELF && text == NULL)
        return;
    at = at < SHELF ? at : SHELF - 1;
    mel_json_free_text(shelf[at].text);
    memmove(shelf + 1, shelf, at * sizeof *shelf);
    shelf[0] = (memo){ .text = text };
    (void)snprintf(shelf[0].subject, sizeof shelf[0].subject, "%s", subject);
    (void)snprintf(shelf[0].mark, sizeof shelf[0].mark, "%s", mark);
}

void mel_live_remember(mel_live *live, const char *subject, const char *mark, json_t *value)
{
    char *text = mel_json_text(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));
    if (text == NULL)
        return;
    pthread_mutex_lock(&live->lock);
    put_memo(shelf_of(live, subject), subject, mark, text);
    pthread_mutex_unlock(&live->lock);
}

void mel_live_forget(mel_live *live, const char *participant)
{
    mel_seat *seat = NULL;
    if (mel_seat_take(&seat, live, participant, 0, NULL) == MEL_OK)
        mel_seat_release(live, seat, false);
    pthread_mutex_lock(&live->lock);
    put_memo(shelf_of(live, participant), participant, "", NULL);
    pthread_mutex_unlock(&live->lock);
}

void mel_live_free(mel_live *live)
{
    if (live == NULL)
        return;
    for (size_t i = 0; i < SHELVES; i++)
        for (size_t at = 0; at < SHELF; at++)
            mel_json_free_text(live->memos[i][at].text);
    for (size_t i = 0; i < BUCKETS; i++)
        while (live->bucket[i] != NULL) {
            seat_entry *entry = live->bucket[i];
            live->bucket[i] = entry->next;
            discard(live, entry);
        }
    while (live->places != NULL) {
        place_entry *entry = live->places;
        live->places = entry->next;
        place_entry_free(entry);
    }
    pthread_cond_destroy(&live->changed);
    pthread_mutex_destroy(&live->lock);
    free(live);
}
