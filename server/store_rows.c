/* Studies and participants in the store. */
#include "store_requests.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- studies ------------------------------------------------------------------------------------ */

static mel_status read_study(void *row, const mel_sql_value *columns, mel_error *err)
{
    mel_study_row *out = row;
    out->created = columns[3].integer;
    mel_status status = mel_sql_fixed(out->id, sizeof out->id, &columns[0], err);
    if (status == MEL_OK)
        status = mel_sql_copied(&out->file, &columns[1], err);
    return status == MEL_OK ? mel_sql_fixed(out->state, sizeof out->state, &columns[2], err) : status;
}

static void clear_study(void *row)
{
    free(((mel_study_row *)row)->file);
    *(mel_study_row *)row = (mel_study_row){ 0 };
}

const mel_row_kind mel_study_kind = { "study", sizeof(mel_study_row), read_study, clear_study };

void mel_study_row_clear(mel_study_row *row)
{
    clear_study(row);
}

void mel_study_rows_free(mel_study_row *rows, size_t n)
{
    mel_rows_free(&mel_study_kind, rows, n);
}

mel_status mel_sql_add_study(mel_sql *sql, const mel_study_row *row, mel_error *err)
{
    const mel_sql_value p[] = { mel_sql_text(row->id), mel_sql_text(row->file), mel_sql_text(row->state),
                                mel_sql_integer(row->created) };
    size_t added = 0;
    const mel_status status = sql->run(sql, MEL_SQL_ADD_STUDY, p, 4, mel_sql_count, &added, err);
    return status == MEL_OK && added == 0
               ? mel_fail(err, MEL_ECONFLICT, "there is a study %s already", row->id)
               : status;
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
    const mel_sql_value p = mel_sql_text(id);
    return mel_store_one(out, store, &mel_study_kind, MEL_SQL_STUDY, &p, 1, id, err);
}

mel_status mel_store_studies(mel_study_row **out, size_t *n, mel_store *store, mel_error *err)
{
    void *rows = NULL;
    const mel_status status = mel_store_list(&rows, n, store, &mel_study_kind, MEL_SQL_STUDIES, NULL, 0, err);
    *out = rows;
    return status;
}

typedef struct {
    const char *study;
    const mel_name *note;
    size_t n_notes;
} deletion;

static mel_status delete_study(mel_sql *sql, void *context, mel_error *err)
{
    const deletion *d = context;
    const mel_sql_value id = mel_sql_text(d->study);
    size_t deleted = 0;
    mel_status status = sql->run(sql, MEL_SQL_DELETE_STUDY, &id, 1, mel_sql_count, &deleted, err);
    if (status == MEL_OK && deleted == 0)
        return mel_fail(err, MEL_EINVAL, "there is no study %s", d->study);
    for (size_t i = 0; i < d->n_notes && status == MEL_OK; i++) {
        const mel_sql_value name = mel_sql_text(d->note[i].text);
        status = sql->run(sql, MEL_SQL_REMOVE_NOTES, &name, 1, NULL, NULL, err);
    }
    return status;
}

mel_status mel_store_delete_study(mel_store *store, const char *study, const mel_name *note, size_t n_notes,
                                  mel_error *err)
{
    deletion d = { study, note, n_notes };
    return store->write(store, delete_study, &d, true, err);
}

mel_status mel_store_set_state(mel_store *store, const char *study, const char *state, mel_error *err)
{
    if (strcmp(state, "open") != 0 && strcmp(state, "closed") != 0)
        return mel_fail(err, MEL_EINVAL, "a study is \"open\" or \"closed\", not \"%s\"", state);
    const mel_sql_value p[] = { mel_sql_text(state), mel_sql_text(study) };
    return mel_store_change(store, &mel_study_kind, MEL_SQL_SET_STUDY_STATE, p, 2, study, err);
}

static mel_status count_state(void *context, const mel_sql_value *row, mel_error *err)
{
    (void)err;
    mel_study_counts *out = context;
    const char *state = row[0].kind == MEL_SQL_TEXT ? row[0].data : "";
    const size_t simulated = (size_t)row[2].integer;
    size_t *people = strcmp(state, "active") == 0     ? &out->active
                     : strcmp(state, "complete") == 0 ? &out->complete
                                                      : &out->left;
    *people = (size_t)row[1].integer - simulated;
    out->simulated += simulated;
    return MEL_OK;
}

static void forget_counts(void *found)
{
    *(mel_study_counts *)found = (mel_study_counts){ 0 };
}

mel_status mel_store_counts(mel_study_counts *out, mel_store *store, const char *study, mel_error *err)
{
    const mel_sql_value p = mel_sql_text(study);
    const mel_sql_request request = { MEL_SQL_COUNT_STATES, &p, 1, count_state, out, forget_counts };
    return mel_store_read(store, &request, err);
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
    mel_status status = mel_sql_fixed(out->id, sizeof out->id, &columns[0], err);
    if (status == MEL_OK)
        status = mel_sql_fixed(out->study, sizeof out->study, &columns[1], err);
    if (status == MEL_OK)
        status = read_token(out, &columns[2], err);
    if (status == MEL_OK)
        status = mel_sql_copied(&out->label, &columns[3], err);
    if (status == MEL_OK)
        status = mel_sql_copied(&out->about, &columns[4], err);
    if (status == MEL_OK)
        status = mel_sql_fixed(out->state, sizeof out->state, &columns[5], err);
    if (status == MEL_OK)
        status = mel_sql_fixed(seed, sizeof seed, &columns[8], err);
    char *end = seed;
    out->seed = strtoull(seed, &end, 10);
    if (status == MEL_OK && (end == seed || *end != '\0')) /* another seed would ask other questions */
        status = mel_fail(err, MEL_EDATA, "participant %s: the seed is not a number", out->id);
    return status;
}

static void clear_participant(void *row)
{
    mel_participant_row *participant = row;
    free(participant->label);
    free(participant->about);
    *participant = (mel_participant_row){ 0 };
}

const mel_row_kind mel_participant_kind = { "participant", sizeof(mel_participant_row), read_participant,
                                            clear_participant };

void mel_participant_row_clear(mel_participant_row *row)
{
    clear_participant(row);
}

void mel_participant_rows_free(mel_participant_row *rows, size_t n)
{
    mel_rows_free(&mel_participant_kind, rows, n);
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
    mel_status status = sql->run(sql, MEL_SQL_ADD_PARTICIPANT, p, 9, mel_sql_count, &added, err);
    if (status == MEL_EINVAL)
        return mel_fail(err, MEL_EINVAL, "there is no study %s", row->study);
    if (status != MEL_OK || added == 1)
        return status;
    const mel_sql_value label[] = { p[1], p[3] };
    if (row->label != NULL)
        status = sql->run(sql, MEL_SQL_PARTICIPANT_BY_LABEL, label, 2, mel_sql_count, &taken, err);
    if (status != MEL_OK)
        return status;
    return taken > 0 ? mel_fail(err, MEL_ECONFLICT, "the label \"%s\" is taken", row->label)
                     : mel_fail(err, MEL_ECONFLICT, "participant %s or its token exists already", row->id);
}

mel_status mel_check_participant_state(const char *state, mel_error *err)
{
    if (strcmp(state, "active") == 0 || strcmp(state, "complete") == 0 || strcmp(state, "left") == 0)
        return MEL_OK;
    return mel_fail(err, MEL_EINVAL, "a participant is \"active\", \"complete\" or \"left\", not \"%s\"",
                    state);
}

static mel_status add_participant(mel_sql *sql, void *context, mel_error *err)
{
    return mel_sql_add_participant(sql, context, err);
}

mel_status mel_store_add_participant(mel_store *store, const mel_participant_row *participant, mel_error *err)
{
    mel_participant_row row = *participant;
    const mel_status status = mel_check_participant_state(row.state, err);
    return status != MEL_OK ? status : store->write(store, add_participant, &row, false, err);
}

typedef struct {
    mel_participant_row row;
    mel_quota quota;
    bool full;
} admission;

static mel_status admit_participant(mel_sql *sql, void *context, mel_error *err)
{
    admission *s = context;
    size_t locked = 0;
    int64_t taken = 0;
    const mel_sql_value p[] = { mel_sql_text(s->row.study), mel_sql_integer(s->quota.since) };
    mel_status status = sql->run(sql, MEL_SQL_LOCK_STUDY, p, 1, mel_sql_count, &locked, err);
    if (status == MEL_OK)
        status = sql->run(sql, MEL_SQL_COUNT_QUOTA, p, 2, mel_sql_read_number, &taken, err);
    s->full = taken >= (int64_t)s->quota.most;
    return status == MEL_OK && !s->full ? add_participant(sql, &s->row, err) : status;
}

mel_status mel_store_admit_participant(bool *full, mel_store *store, const mel_participant_row *participant,
                                       const mel_quota *quota, mel_error *err)
{
    *full = false;
    if (quota->most == 0)
        return mel_store_add_participant(store, participant, err);
    admission s = { .row = *participant, .quota = *quota };
    mel_status status = mel_check_participant_state(s.row.state, err);
    if (status == MEL_OK)
        status = store->write(store, admit_participant, &s, false, err);
    *full = status == MEL_OK && s.full;
    return status;
}

mel_status mel_store_participant(mel_participant_row *out, mel_store *store, const char *id, mel_error *err)
{
    const mel_sql_value p = mel_sql_text(id);
    return mel_store_one(out, store, &mel_participant_kind, MEL_SQL_PARTICIPANT, &p, 1, NULL, err);
}

mel_status mel_store_participant_by_token(mel_participant_row *out, mel_store *store,
                                          const unsigned char token[MEL_HASH_BYTES], mel_error *err)
{
    const mel_sql_value p = token_value(token); /* NULL, which equals nothing, for a token of zeros */
    return mel_store_one(out, store, &mel_participant_kind, MEL_SQL_PARTICIPANT_BY_TOKEN, &p, 1, NULL, err);
}

mel_status mel_store_participant_by_label(mel_participant_row *out, mel_store *store, const char *study,
                                          const char *label, mel_error *err)
{
    const mel_sql_value p[] = { mel_sql_text(study), mel_sql_text(label) };
    return mel_store_one(out, store, &mel_participant_kind, MEL_SQL_PARTICIPANT_BY_LABEL, p, 2, NULL, err);
}

mel_status mel_store_participants(mel_participant_row **out, size_t *n, mel_store *store, const char *study,
                                  mel_error *err)
{
    const mel_sql_value p = mel_sql_text(study);
    void *rows = NULL;
    const mel_status status =
        mel_store_list(&rows, n, store, &mel_participant_kind, MEL_SQL_PARTICIPANTS, &p, 1, err);
    *out = rows;
    return status;
}

mel_status mel_store_set_token(mel_store *store, const char *participant,
                               const unsigned char token[MEL_HASH_BYTES], mel_error *err)
{
    const mel_sql_value p[] = { token_value(token), mel_sql_text(participant) };
    return mel_store_change(store, &mel_participant_kind, MEL_SQL_SET_TOKEN, p, 2, participant, err);
}

mel_status mel_store_revoke(mel_store *store, const char *participant,
                            const unsigned char token[MEL_HASH_BYTES], const char *about, mel_error *err)
{
    const mel_sql_value p[] = { token_value(token), mel_sql_text(about), mel_sql_text(participant) };
    return mel_store_change(store, &mel_participant_kind, MEL_SQL_REVOKE, p, 3, participant, err);
}

mel_status mel_store_delete_participant(mel_store *store, const char *participant, mel_error *err)
{
    const mel_sql_value p = mel_sql_text(participant);
    return mel_store_change(store, &mel_participant_kind, MEL_SQL_DELETE_PARTICIPANT, &p, 1, participant,
                            err);
}

mel_status mel_store_erase(mel_store *store, const char *participant, const char *const *name, size_t n,
                           mel_error *err)
{
    char pattern[MEL_MOST_ERASED][80];
    mel_sql_value p[MEL_MOST_ERASED][2];
    const mel_sql_value who = mel_sql_text(participant);
    mel_sql_request requests[1 + MEL_MOST_ERASED] = { { MEL_SQL_DELETE_PARTICIPANT, &who, 1, NULL, NULL,
                                                        NULL } };
    if (n == 0)
        return mel_store_delete_participant(store, participant, err);
    if (n > MEL_MOST_ERASED)
        return mel_fail(err, MEL_EINVAL, "at most %d blobs are erased at once", MEL_MOST_ERASED);
    for (size_t i = 0; i < n; i++) {
        if (strlen(name[i]) + 5 > sizeof pattern[i])
            return mel_fail(err, MEL_EINVAL, "a name is at most %zu bytes", sizeof pattern[i] - 5);
        (void)snprintf(pattern[i], sizeof pattern[i], "%%\"%s\"%%", name[i]);
        p[i][0] = mel_sql_text(name[i]);
        p[i][1] = mel_sql_text(pattern[i]);
        requests[1 + i] = (mel_sql_request){ MEL_SQL_REMOVE_UNUSED, p[i], 2, NULL, NULL, NULL };
    }
    return mel_store_write(store, requests, 1 + n, err);
}
