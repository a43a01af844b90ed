/* Studies, participants and their events in the store. */
#include "store_sql.h"

#include <inttypes.h>
#include <stdio.h>

static mel_status there_is_no(const char *what, const char *id, mel_error *err)
{
    return mel_fail(err, MEL_EINVAL, "there is no %s %s", what, id);
}

/* --- studies ------------------------------------------------------------------------------------ */

static mel_status read_study(void *row, const mel_sql_value *columns, mel_error *err)
{
    mel_study_row *out = row;
    out->created = columns[3].integer;
    TRY(mel_sql_fixed(out->id, sizeof out->id, &columns[0], err));
    TRY(mel_sql_copied(&out->file, &columns[1], err));
    return mel_sql_fixed(out->state, sizeof out->state, &columns[2], err);
}

void mel_study_row_clear(void *row)
{
    mel_study_row *study = row;
    free(study->file);
    *study = (mel_study_row){ 0 };
}

static const mel_row_kind study_kind = { "study", sizeof(mel_study_row), read_study, mel_study_row_clear };

void mel_study_rows_free(mel_study_row *rows, size_t n)
{
    mel_rows_free(&study_kind, rows, n);
}

mel_status mel_sql_add_study(mel_sql *sql, const mel_study_row *row, mel_error *err)
{
    size_t added = 0;
    TRY(sql->run(sql, MEL_SQL_ADD_STUDY,
                 MEL_SQL_LIST(mel_sql_text(row->id), mel_sql_text(row->file), mel_sql_text(row->state),
                              mel_sql_integer(row->created)),
                 mel_sql_count, &added, err));
    return added > 0 ? MEL_OK : mel_fail(err, MEL_ECONFLICT, "there is a study %s already", row->id);
}

static mel_status add_study(mel_sql *sql, void *context, mel_error *err)
{
    return mel_sql_add_study(sql, context, err);
}

/* The work gets a shallow copy, because it takes no const pointer; it only reads. */
mel_status mel_store_add_study(mel_store *store, const mel_study_row *study, mel_error *err)
{
    mel_study_row row = *study;
    return store->write(store, add_study, &row, false, err);
}

mel_status mel_store_study(mel_study_row *out, mel_store *store, const char *id, mel_error *err)
{
    return mel_store_one(out, store, &study_kind, MEL_SQL_STUDY, MEL_SQL_LIST(mel_sql_text(id)), id, err);
}

mel_status mel_store_studies(mel_study_row **out, size_t *n, mel_store *store, mel_error *err)
{
    return mel_store_list(out, n, store, &study_kind, MEL_SQL_STUDIES, NULL, 0, err);
}

mel_status mel_store_mark_study_deleted(mel_store *store, const char *study, mel_error *err)
{
    return mel_store_change(store, MEL_SQL_MARK_STUDY_DELETED, MEL_SQL_LIST(mel_sql_text(study)), "study",
                            study, err);
}

mel_status mel_store_deleted_study(char study[MEL_ID_TEXT], mel_store *store, mel_error *err)
{
    const mel_sql_request first = { .statement = MEL_SQL_DELETED_STUDY,
                                    .each = mel_sql_read_id,
                                    .found = study };
    study[0] = '\0';
    TRY(mel_store_read(store, &first, err));
    return study[0] != '\0' ? MEL_OK : mel_fail(err, MEL_EINVAL, "no study is marked as deleted");
}

/* Most rows, and bytes of answers, that one transaction of an erasure deletes: it keeps answers waiting. */
enum { MOST_ROWS = 1000, MOST_BYTES = 2 << 20 };

mel_status mel_store_remove_notes(mel_store *store, const mel_name *note, mel_error *err)
{
    char pattern[sizeof note->text + 1];
    (void)snprintf(pattern, sizeof pattern, "%s%%", note->text);
    return mel_store_repeat(
        store, MEL_SQL_REMOVE_NOTES,
        MEL_SQL_LIST(mel_sql_text(pattern), mel_sql_text(note->text), mel_sql_integer(MOST_ROWS)), MOST_ROWS,
        err);
}

mel_status mel_store_delete_study(mel_store *store, const char *study, const mel_name *note, size_t n_notes,
                                  mel_error *err)
{
    for (size_t i = 0; i < n_notes; i++)
        TRY(mel_store_remove_notes(store, &note[i], err));
    return mel_store_write(
        store,
        &(mel_sql_request){ MEL_SQL_DELETE_STUDY, MEL_SQL_LIST(mel_sql_text(study)), NULL, NULL, NULL }, err);
}

mel_status mel_store_set_state(mel_store *store, const char *study, const char *state, mel_error *err)
{
    if (strcmp(state, "open") != 0 && strcmp(state, "closed") != 0)
        return mel_fail(err, MEL_EINVAL, "a study is \"open\" or \"closed\", not \"%s\"", state);
    return mel_store_change(store, MEL_SQL_SET_STUDY_STATE,
                            MEL_SQL_LIST(mel_sql_text(state), mel_sql_text(study)), "study", study, err);
}

static mel_status count_state(void *found, const mel_sql_value *row, mel_error *err)
{
    (void)err;
    mel_study_counts *out = found;
    const char *state = row[0].kind == MEL_SQL_TEXT ? row[0].data : "";
    const size_t simulated = (size_t)row[2].integer;
    size_t *people = strcmp(state, "active") == 0     ? &out->active
                     : strcmp(state, "complete") == 0 ? &out->complete
                                                      : &out->left;
    *people = (size_t)row[1].integer - simulated;
    out->simulated += simulated;
    if (people == &out->complete)
        out->completed = row[3].integer;
    return MEL_OK;
}

static void forget_counts(void *found)
{
    *(mel_study_counts *)found = (mel_study_counts){ 0 };
}

mel_status mel_store_counts(mel_study_counts *out, mel_store *store, const char *study, mel_error *err)
{
    const mel_sql_request count = { MEL_SQL_COUNT_STATES, MEL_SQL_LIST(mel_sql_text(study)), count_state, out,
                                    forget_counts };
    return mel_store_read(store, &count, err);
}

/* --- participants ------------------------------------------------------------------------------- */

static mel_sql_value token_value(const unsigned char token[MEL_HASH_BYTES])
{
    static const unsigned char none[MEL_HASH_BYTES];
    return memcmp(token, none, sizeof none) != 0 ? mel_sql_bytes(token, MEL_HASH_BYTES) : mel_sql_text(NULL);
}

static mel_status read_token(mel_participant_row *out, const mel_sql_value *value, mel_error *err)
{
    if (value->kind != MEL_SQL_BYTES)
        return MEL_OK;
    if (value->n != sizeof out->token)
        return mel_fail(err, MEL_EDATA, "participant %s: the token's hash has %zu bytes, not %d", out->id,
                        value->n, MEL_HASH_BYTES);
    memcpy(out->token, value->data, sizeof out->token);
    return MEL_OK;
}

static mel_status read_participant(void *row, const mel_sql_value *columns, mel_error *err)
{
    mel_participant_row *out = row;
    char seed[24] = "";
    out->created = columns[6].integer;
    out->seen = columns[7].integer;
    TRY(mel_sql_fixed(out->id, sizeof out->id, &columns[0], err));
    TRY(mel_sql_fixed(out->study, sizeof out->study, &columns[1], err));
    TRY(read_token(out, &columns[2], err));
    TRY(mel_sql_copied(&out->label, &columns[3], err));
    TRY(mel_sql_copied(&out->about, &columns[4], err));
    TRY(mel_sql_fixed(out->state, sizeof out->state, &columns[5], err));
    TRY(mel_sql_fixed(seed, sizeof seed, &columns[8], err));
    char *end = seed;
    out->seed = strtoull(seed, &end, 10);
    return end != seed && *end == '\0' /* another seed would ask other questions */
               ? MEL_OK
               : mel_fail(err, MEL_EDATA, "participant %s: the seed is not a number", out->id);
}

void mel_participant_row_clear(void *row)
{
    mel_participant_row *participant = row;
    free(participant->label);
    free(participant->about);
    *participant = (mel_participant_row){ 0 };
}

static const mel_row_kind participant_kind = { "participant", sizeof(mel_participant_row), read_participant,
                                               mel_participant_row_clear };

void mel_participant_rows_free(mel_participant_row *rows, size_t n)
{
    mel_rows_free(&participant_kind, rows, n);
}

/* Notes which uploads a participant needs: what stands in quotation marks and begins like an upload's name.
 */
static mel_status add_uses(mel_sql *sql, const mel_participant_row *row, mel_error *err)
{
    static const char mark[] = "\"upload:";
    const char *begin = row->about != NULL ? strstr(row->about, mark) : NULL;
    for (; begin != NULL; begin = strstr(begin + 1, mark)) {
        char name[sizeof((mel_name *)0)->text] = "";
        const size_t n = strcspn(begin + 1, "\"");
        if (n >= sizeof name)
            continue;
        memcpy(name, begin + 1, n);
        TRY(sql->run(sql, MEL_SQL_ADD_USE, MEL_SQL_LIST(mel_sql_text(name), mel_sql_text(row->id)), NULL,
                     NULL, err));
    }
    return MEL_OK;
}

mel_status mel_sql_add_participant(mel_sql *sql, const mel_participant_row *row, mel_error *err)
{
    char seed[24];
    (void)snprintf(seed, sizeof seed, "%" PRIu64, row->seed);
    const mel_sql_value p[] = {
        mel_sql_text(row->id),         mel_sql_text(row->study),   token_value(row->token),
        mel_sql_text(row->label),      mel_sql_text(row->about),   mel_sql_text(row->state),
        mel_sql_integer(row->created), mel_sql_integer(row->seen), mel_sql_text(seed)
    };
    size_t added = 0, taken = 0;
    const mel_status status = sql->run(sql, MEL_SQL_ADD_PARTICIPANT, p, 9, mel_sql_count, &added, err);
    if (status == MEL_EINVAL)
        return there_is_no("study", row->study, err);
    TRY(status);
    if (added == 1)
        return add_uses(sql, row, err);
    if (row->label != NULL)
        TRY(sql->run(sql, MEL_SQL_PARTICIPANT_BY_LABEL, MEL_SQL_LIST(p[1], p[3]), mel_sql_count, &taken,
                     err));
    return taken > 0 ? mel_fail(err, MEL_ECONFLICT, "the label \"%s\" is taken", row->label)
                     : mel_fail(err, MEL_ECONFLICT, "participant %s or its token exists already", row->id);
}

static mel_status check_participant_state(const char *state, mel_error *err)
{
    if (strcmp(state, "active") == 0 || strcmp(state, "complete") == 0 || strcmp(state, "left") == 0)
        return MEL_OK;
    return mel_fail(err, MEL_EINVAL, "a participant is \"active\", \"complete\" or \"left\", not \"%s\"",
                    state);
}

typedef struct {
    mel_participant_row row; /* a shallow copy: work takes no const pointer, and only reads it */
    mel_quota quota;
    bool full;
} admission;

/* Counting waits for others who count; without a quota nobody waits. */
static mel_status admit_participant(mel_sql *sql, void *context, mel_error *err)
{
    admission *a = context;
    const bool limited = a->quota.most > 0;
    size_t found = 0;
    int64_t taken = 0;
    const mel_sql_value p[] = { mel_sql_text(a->row.study), mel_sql_integer(a->quota.since) };
    TRY(sql->run(sql, limited ? MEL_SQL_LOCK_STUDY : MEL_SQL_HAS_STUDY, p, 1, mel_sql_count, &found, err));
    if (found == 0)
        return there_is_no("study", a->row.study, err);
    if (limited)
        TRY(sql->run(sql, MEL_SQL_COUNT_QUOTA, p, 2, mel_sql_read_number, &taken, err));
    a->full = limited && taken >= (int64_t)a->quota.most;
    return a->full ? MEL_OK : mel_sql_add_participant(sql, &a->row, err);
}

mel_status mel_store_admit_participant(bool *full, mel_store *store, const mel_participant_row *participant,
                                       const mel_quota *quota, mel_error *err)
{
    *full = false;
    admission a = { .row = *participant, .quota = *quota };
    TRY(check_participant_state(a.row.state, err));
    TRY(store->write(store, admit_participant, &a, false, err));
    *full = a.full;
    return MEL_OK;
}

mel_status mel_store_add_participant(mel_store *store, const mel_participant_row *participant, mel_error *err)
{
    bool full;
    return mel_store_admit_participant(&full, store, participant, &(mel_quota){ 0 }, err);
}

mel_status mel_store_participant(mel_participant_row *out, mel_store *store, const char *id, mel_error *err)
{
    return mel_store_one(out, store, &participant_kind, MEL_SQL_PARTICIPANT, MEL_SQL_LIST(mel_sql_text(id)),
                         NULL, err);
}

/* A token of zeros is NULL, which equals nothing. */
mel_status mel_store_participant_by_token(mel_participant_row *out, mel_store *store,
                                          const unsigned char token[MEL_HASH_BYTES], mel_error *err)
{
    return mel_store_one(out, store, &participant_kind, MEL_SQL_PARTICIPANT_BY_TOKEN,
                         MEL_SQL_LIST(token_value(token)), NULL, err);
}

mel_status mel_store_participant_by_label(mel_participant_row *out, mel_store *store, const char *study,
                                          const char *label, mel_error *err)
{
    return mel_store_one(out, store, &participant_kind, MEL_SQL_PARTICIPANT_BY_LABEL,
                         MEL_SQL_LIST(mel_sql_text(study), mel_sql_text(label)), NULL, err);
}

mel_status mel_store_participants(mel_participant_row **out, size_t *n, mel_store *store, const char *study,
                                  mel_place *place, size_t most, mel_error *err)
{
    TRY(mel_store_list(out, n, store, &participant_kind, MEL_SQL_NEXT_PARTICIPANTS,
                       MEL_SQL_LIST(mel_sql_text(study), mel_sql_integer(place->created),
                                    mel_sql_text(place->id), mel_sql_integer((int64_t)most)),
                       err));
    if (*n > 0) {
        const mel_participant_row *last = &(*out)[*n - 1];
        place->created = last->created;
        memcpy(place->id, last->id, sizeof place->id);
    }
    return MEL_OK;
}

mel_status mel_store_unseen(mel_participant_row **out, size_t *n, mel_store *store, const char *study,
                            int64_t before, size_t most, mel_error *err)
{
    return mel_store_list(
        out, n, store, &participant_kind, MEL_SQL_UNSEEN_PARTICIPANTS,
        MEL_SQL_LIST(mel_sql_text(study), mel_sql_integer(before), mel_sql_integer((int64_t)most)), err);
}

mel_status mel_store_newest(int64_t *out, mel_store *store, mel_error *err)
{
    *out = 0;
    return mel_store_read(
        store, &(mel_sql_request){ .statement = MEL_SQL_NEWEST, .each = mel_sql_read_number, .found = out },
        err);
}

mel_status mel_store_set_token(mel_store *store, const char *participant,
                               const unsigned char token[MEL_HASH_BYTES], mel_error *err)
{
    return mel_store_change(store, MEL_SQL_SET_TOKEN,
                            MEL_SQL_LIST(token_value(token), mel_sql_text(participant)), "participant",
                            participant, err);
}

typedef struct {
    mel_participant_row row;
    size_t changed;
} revocation;

static mel_status revoke(mel_sql *sql, void *context, mel_error *err)
{
    revocation *r = context;
    r->changed = 0;
    TRY(sql->run(sql, MEL_SQL_REVOKE,
                 MEL_SQL_LIST(token_value(r->row.token), mel_sql_text(r->row.about), mel_sql_text(r->row.id)),
                 mel_sql_count, &r->changed, err));
    return r->changed > 0 ? add_uses(sql, &r->row, err) : there_is_no("participant", r->row.id, err);
}

mel_status mel_store_revoke(mel_store *store, const char *participant,
                            const unsigned char token[MEL_HASH_BYTES], const char *about, mel_error *err)
{
    revocation r = { .row = { .about = (char *)about } }; /* read only */
    memcpy(r.row.token, token, sizeof r.row.token);
    (void)snprintf(r.row.id, sizeof r.row.id, "%s", participant);
    return store->write(store, revoke, &r, false, err);
}

/* --- erasing ------------------------------------------------------------------------------------ */

typedef struct {
    const mel_erasure *who;
    size_t n, done, from; /* people, those who are gone, where this transaction began */
    size_t rows, bytes;   /* that it deletes */
    int64_t first;        /* the first event of the one at hand that fits */
    bool full;            /* no more fits */
} erasing;

/* From the last event on, as many as fit. */
static mel_status count_event(void *found, const mel_sql_value *row, mel_error *err)
{
    (void)err;
    erasing *e = found;
    e->full = e->full || e->rows >= MOST_ROWS || e->bytes >= MOST_BYTES;
    if (e->full)
        return MEL_OK;
    e->first = row[0].integer;
    e->bytes += (size_t)row[1].integer;
    e->rows++;
    return MEL_OK;
}

static mel_status erase_one(erasing *e, mel_sql *sql, mel_error *err)
{
    const mel_erasure *who = &e->who[e->done];
    const mel_sql_value id = mel_sql_text(who->id);
    e->first = INT64_MAX;
    TRY(sql->run(sql, MEL_SQL_LAST_EVENTS, MEL_SQL_LIST(id, mel_sql_integer(MOST_ROWS)), count_event, e,
                 err));
    if (e->first != INT64_MAX)
        TRY(sql->run(sql, MEL_SQL_DELETE_LAST_EVENTS, MEL_SQL_LIST(id, mel_sql_integer(e->first)), NULL, NULL,
                     err));
    e->full = e->full || e->rows >= MOST_ROWS; /* there may be more of them */
    if (e->full)
        return MEL_OK;
    e->rows++;
    TRY(sql->run(sql, MEL_SQL_DELETE_PARTICIPANT, &id, 1, NULL, NULL, err));
    for (size_t i = 0; i < who->n_uploads; i++)
        TRY(sql->run(sql, MEL_SQL_REMOVE_UNUSED, MEL_SQL_LIST(mel_sql_text(who->upload[i])), NULL, NULL,
                     err));
    return MEL_OK;
}

static mel_status erase_some(mel_sql *sql, void *context, mel_error *err)
{
    erasing *e = context;
    e->rows = e->bytes = 0;
    e->full = false;
    for (e->done = e->from; e->done < e->n && !e->full;) {
        TRY(erase_one(e, sql, err));
        e->done += !e->full;
    }
    return MEL_OK;
}

mel_status mel_store_erase(mel_store *store, const mel_erasure *who, size_t n, mel_error *err)
{
    for (erasing e = { .who = who, .n = n }; e.from < n; e.from = e.done)
        TRY(store->write(store, erase_some, &e, false, err));
    return MEL_OK;
}

static mel_status do_nothing(mel_sql *sql, void *context, mel_error *err)
{
    (void)sql;
    (void)context;
    (void)err;
    return MEL_OK;
}

mel_status mel_store_forget_traces(mel_store *store, mel_error *err)
{
    return store->write(store, do_nothing, NULL, true, err);
}

/* --- events ------------------------------------------------------------------------------------- */

static mel_status read_event(void *row, const mel_sql_value *columns, mel_error *err)
{
    mel_event_row *out = row;
    if (columns[0].integer < 1 || columns[0].integer > UINT32_MAX)
        return mel_fail(err, MEL_EDATA, "the store holds an event with number %lld",
                        (long long)columns[0].integer);
    out->seq = (uint32_t)columns[0].integer;
    out->time = columns[3].integer;
    TRY(mel_sql_fixed(out->key, sizeof out->key, &columns[1], err));
    return mel_sql_copied(&out->body, &columns[2], err);
}

void mel_event_row_clear(void *row)
{
    mel_event_row *event = row;
    free(event->body);
    *event = (mel_event_row){ 0 };
}

static const mel_row_kind event_kind = { "event", sizeof(mel_event_row), read_event, mel_event_row_clear };

void mel_event_rows_free(mel_event_row *rows, size_t n)
{
    mel_rows_free(&event_kind, rows, n);
}

mel_status mel_sql_add_event(mel_sql *sql, const char *participant, const mel_event_row *row, mel_error *err)
{
    return sql->run(sql, MEL_SQL_ADD_EVENT,
                    MEL_SQL_LIST(mel_sql_text(participant), mel_sql_integer(row->seq), mel_sql_text(row->key),
                                 mel_sql_text(row->body), mel_sql_integer(row->time)),
                    NULL, NULL, err);
}

typedef struct {
    const char *participant, *state;
    const mel_event_row *event;
    mel_append outcome;
    mel_event_row stored;
} append;

static mel_status append_event(mel_sql *sql, void *context, mel_error *err)
{
    append *a = context;
    size_t there = 0;
    int64_t last = 0;
    mel_event_row_clear(&a->stored);
    const mel_sql_value p[] = { mel_sql_text(a->participant), mel_sql_text(a->event->key) };
    /* Waits for others who append to the same participant. */
    TRY(sql->run(sql, MEL_SQL_LOCK_PARTICIPANT, p, 1, mel_sql_count, &there, err));
    if (there == 0)
        return there_is_no("participant", a->participant, err);
    TRY(sql->run(sql, MEL_SQL_EVENT_BY_KEY, p, 2, read_event, &a->stored, err));
    if (a->stored.seq != 0) {
        a->outcome = strcmp(a->stored.body, a->event->body) == 0 ? MEL_REPLAYED : MEL_KEY_REUSED;
        return MEL_OK;
    }
    TRY(sql->run(sql, MEL_SQL_LAST_SEQ, p, 1, mel_sql_read_number, &last, err));
    a->outcome = a->event->seq == last + 1 ? MEL_APPENDED : MEL_STALE;
    if (a->outcome == MEL_STALE)
        return MEL_OK;
    TRY(mel_sql_add_event(sql, a->participant, a->event, err));
    return sql->run(sql, MEL_SQL_TOUCH_PARTICIPANT,
                    MEL_SQL_LIST(mel_sql_integer(a->event->time), mel_sql_text(a->state), p[0]), NULL, NULL,
                    err);
}

mel_status mel_store_append(mel_append *outcome, mel_event_row *stored, mel_store *store,
                            const char *participant, const mel_event_row *event, const char *state,
                            mel_error *err)
{
    if (stored != NULL)
        *stored = (mel_event_row){ 0 };
    if (event->body == NULL || event->key[0] == '\0')
        return mel_fail(err, MEL_EINVAL, "an event needs a body and a key");
    if (state != NULL)
        TRY(check_participant_state(state, err));
    append a = { .participant = participant, .state = state, .event = event };
    const mel_status status = store->write(store, append_event, &a, false, err);
    if (status == MEL_OK)
        *outcome = a.outcome;
    if (status == MEL_OK && a.outcome == MEL_REPLAYED && stored != NULL)
        *stored = a.stored;
    else
        mel_event_row_clear(&a.stored);
    return status;
}

mel_status mel_store_event(mel_event_row *out, mel_store *store, const char *participant, const char *key,
                           mel_error *err)
{
    return mel_store_one(out, store, &event_kind, MEL_SQL_EVENT_BY_KEY,
                         MEL_SQL_LIST(mel_sql_text(participant), mel_sql_text(key)), NULL, err);
}

mel_status mel_store_events(mel_event_row **out, size_t *n, mel_store *store, const char *participant,
                            mel_error *err)
{
    return mel_store_list(out, n, store, &event_kind, MEL_SQL_EVENTS, MEL_SQL_LIST(mel_sql_text(participant)),
                          err);
}

/* --- everything --------------------------------------------------------------------------------- */

enum { MOST_IN_PIECE = 1000 };

typedef struct {
    mel_sql *sql;
    const mel_walker *walker;
    size_t n_studies;
    /* Participants are read in pieces, as databases give the rows of a statement all at once. */
    size_t n_piece;
    mel_place last;
} walk;

static mel_status walk_participant(void *found, const mel_sql_value *columns, mel_error *err)
{
    walk *w = found;
    MEL_ROW(mel_participant_row) row = { .label = NULL };
    TRY(read_participant(&row, columns, err));
    w->n_piece++;
    w->last.created = row.created;
    memcpy(w->last.id, row.id, sizeof w->last.id);
    TRY(w->walker->participant(w->walker->user, &row, NULL, err));
    __attribute__((cleanup(mel_row_list_clear))) mel_row_list events = { .kind = &event_kind };
    TRY(w->sql->run(w->sql, MEL_SQL_EVENTS, MEL_SQL_LIST(mel_sql_text(row.id)), mel_row_list_add, &events,
                    err));
    for (size_t i = 0; i < events.n; i++)
        TRY(w->walker->participant(w->walker->user, &row, &((mel_event_row *)events.rows)[i], err));
    return MEL_OK;
}

static mel_status walk_study(void *found, const mel_sql_value *columns, mel_error *err)
{
    walk *w = found;
    MEL_ROW(mel_study_row) row = { .file = NULL };
    w->n_studies++;
    TRY(read_study(&row, columns, err));
    if (w->walker->study != NULL)
        TRY(w->walker->study(w->walker->user, &row, err));
    w->last = MEL_FIRST_PLACE;
    w->n_piece = w->walker->participant != NULL;
    while (w->n_piece > 0) {
        const mel_place last = w->last; /* the walk goes on while the statement has its parameters */
        w->n_piece = 0;
        TRY(w->sql->run(w->sql, MEL_SQL_NEXT_PARTICIPANTS,
                        MEL_SQL_LIST(mel_sql_text(row.id), mel_sql_integer(last.created),
                                     mel_sql_text(last.id), mel_sql_integer(MOST_IN_PIECE)),
                        walk_participant, w, err));
    }
    return MEL_OK;
}

mel_status mel_sql_walk(mel_sql *sql, const char *study, const mel_walker *walker, mel_error *err)
{
    walk w = { .sql = sql, .walker = walker };
    if (study == NULL)
        return sql->run(sql, MEL_SQL_STUDIES, NULL, 0, walk_study, &w, err);
    TRY(sql->run(sql, MEL_SQL_STUDY, MEL_SQL_LIST(mel_sql_text(study)), walk_study, &w, err));
    return w.n_studies > 0 ? MEL_OK : there_is_no("study", study, err);
}

typedef struct {
    const char *study;
    mel_walker walker;
    bool begun;
} visit_of;

static mel_status visit_rows(mel_sql *sql, void *context, mel_error *err)
{
    visit_of *v = context;
    if (v->begun) /* rows that were handed out cannot be taken back */
        return mel_fail(err, MEL_EIO, "the connection to the store was lost in the middle of reading");
    v->begun = true;
    return mel_sql_walk(sql, v->study, &v->walker, err);
}

mel_status mel_store_visit(mel_store *store, const char *study, mel_visit visit, void *user, mel_error *err)
{
    visit_of v = { study, { NULL, visit, user }, false };
    return store->read(store, visit_rows, &v, err);
}
