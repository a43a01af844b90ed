/* A participant's log in the store, and reading everything in one go. */
#include "store_sql.h"

#include <stdlib.h>
#include <string.h>

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

static void clear_event(void *row)
{
    mel_event_row *event = row;
    free(event->body);
    *event = (mel_event_row){ 0 };
}

const mel_row_kind mel_event_kind = { "event", sizeof(mel_event_row), read_event, clear_event };

void mel_event_row_clear(mel_event_row *row)
{
    clear_event(row);
}

void mel_event_rows_free(mel_event_row *rows, size_t n)
{
    mel_rows_free(&mel_event_kind, rows, n);
}

mel_status mel_sql_add_event(mel_sql *sql, const char *participant, const mel_event_row *row, mel_error *err)
{
    const mel_sql_value p[] = { mel_sql_text(participant), mel_sql_integer(row->seq), mel_sql_text(row->key),
                                mel_sql_text(row->body), mel_sql_integer(row->time) };
    return sql->run(sql, MEL_SQL_ADD_EVENT, p, 5, NULL, NULL, err);
}

/* --- appending ---------------------------------------------------------------------------------- */

typedef struct {
    const char *participant, *state;
    const mel_event_row *event;
    mel_append outcome;
    mel_event_row stored;
} append;

/* Waits for others who append to the same participant. */
static mel_status lock_participant(mel_sql *sql, const mel_sql_value *participant, mel_error *err)
{
    size_t n = 0;
    TRY(sql->run(sql, MEL_SQL_LOCK_PARTICIPANT, participant, 1, mel_sql_count, &n, err));
    return n > 0 ? MEL_OK
                 : mel_fail(err, MEL_EINVAL, "there is no participant %s", (const char *)participant->data);
}

static mel_status add_next(mel_sql *sql, append *a, mel_error *err)
{
    const mel_sql_value seen[] = { mel_sql_integer(a->event->time), mel_sql_text(a->state),
                                   mel_sql_text(a->participant) };
    a->outcome = MEL_APPENDED;
    TRY(mel_sql_add_event(sql, a->participant, a->event, err));
    return sql->run(sql, MEL_SQL_TOUCH_PARTICIPANT, seen, 3, NULL, NULL, err);
}

static mel_status append_event(mel_sql *sql, void *context, mel_error *err)
{
    append *a = context;
    mel_event_row_clear(&a->stored);
    const mel_sql_value p[] = { mel_sql_text(a->participant), mel_sql_text(a->event->key) };
    TRY(lock_participant(sql, p, err));
    TRY(sql->run(sql, MEL_SQL_EVENT_BY_KEY, p, 2, read_event, &a->stored, err));
    if (a->stored.seq != 0) {
        a->outcome = strcmp(a->stored.body, a->event->body) == 0 ? MEL_REPLAYED : MEL_KEY_REUSED;
        return MEL_OK;
    }
    int64_t last = 0;
    TRY(sql->run(sql, MEL_SQL_LAST_SEQ, p, 1, mel_sql_read_number, &last, err));
    a->outcome = MEL_STALE;
    return a->event->seq == last + 1 ? add_next(sql, a, err) : MEL_OK;
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
        TRY(mel_check_participant_state(state, err));
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
    const mel_sql_value p[] = { mel_sql_text(participant), mel_sql_text(key) };
    return mel_store_one(out, store, &mel_event_kind, MEL_SQL_EVENT_BY_KEY, p, 2, NULL, err);
}

mel_status mel_store_events(mel_event_row **out, size_t *n, mel_store *store, const char *participant,
                            mel_error *err)
{
    const mel_sql_value p = mel_sql_text(participant);
    void *rows = NULL;
    const mel_status status = mel_store_list(&rows, n, store, &mel_event_kind, MEL_SQL_EVENTS, &p, 1, err);
    *out = rows;
    return status;
}

/* --- everything --------------------------------------------------------------------------------- */

enum { MOST_IN_PIECE = 1000 };

typedef struct {
    mel_sql *sql;
    const mel_walker *walker;
    size_t n_studies;
    /* Participants are read in pieces, as databases give the rows of a statement all at once. */
    size_t n_piece;
    int64_t created; /* of the last one ... */
    char id[MEL_ID_TEXT];
} walk;

static mel_status walk_events(const walk *w, const mel_participant_row *participant, mel_error *err)
{
    const mel_sql_value p = mel_sql_text(participant->id);
    mel_row_list events = { .kind = &mel_event_kind };
    mel_status status = w->sql->run(w->sql, MEL_SQL_EVENTS, &p, 1, mel_row_list_add, &events, err);
    const mel_event_row *rows = events.rows;
    for (size_t i = 0; i < events.n && status == MEL_OK; i++)
        status = w->walker->participant(w->walker->user, participant, &rows[i], err);
    mel_row_list_clear(&events);
    return status;
}

static mel_status walk_participant(void *context, const mel_sql_value *columns, mel_error *err)
{
    walk *w = context;
    MEL_ROW(mel_participant_row) row = { .label = NULL };
    TRY(mel_participant_kind.read(&row, columns, err));
    w->n_piece++;
    w->created = row.created;
    memcpy(w->id, row.id, sizeof w->id);
    TRY(w->walker->participant(w->walker->user, &row, NULL, err));
    return walk_events(w, &row, err);
}

static mel_status walk_study(void *context, const mel_sql_value *columns, mel_error *err)
{
    walk *w = context;
    w->n_studies++;
    MEL_ROW(mel_study_row) row = { .file = NULL };
    TRY(mel_study_kind.read(&row, columns, err));
    if (w->walker->study != NULL)
        TRY(w->walker->study(w->walker->user, &row, err));
    w->created = INT64_MIN;
    w->id[0] = '\0';
    w->n_piece = w->walker->participant != NULL;
    while (w->n_piece > 0) {
        char last[MEL_ID_TEXT]; /* the walk goes on while the statement has its parameters */
        memcpy(last, w->id, sizeof last);
        const mel_sql_value p[] = { mel_sql_text(row.id), mel_sql_integer(w->created), mel_sql_text(last),
                                    mel_sql_integer(MOST_IN_PIECE) };
        w->n_piece = 0;
        TRY(w->sql->run(w->sql, MEL_SQL_NEXT_PARTICIPANTS, p, 4, walk_participant, context, err));
    }
    return MEL_OK;
}

mel_status mel_sql_walk(mel_sql *sql, const char *study, const mel_walker *walker, mel_error *err)
{
    walk w = { .sql = sql, .walker = walker };
    if (study == NULL)
        return sql->run(sql, MEL_SQL_STUDIES, NULL, 0, walk_study, &w, err);
    const mel_sql_value p = mel_sql_text(study);
    TRY(sql->run(sql, MEL_SQL_STUDY, &p, 1, walk_study, &w, err));
    return w.n_studies > 0 ? MEL_OK : mel_fail(err, MEL_EINVAL, "there is no study %s", study);
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
