/* Studies and participants. */
#include "store_sql.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void mel_study_row_clear(mel_study_row *row)
{
    free(row->file);
    *row = (mel_study_row){ 0 };
}

void mel_study_rows_free(mel_study_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        mel_study_row_clear(&rows[i]);
    free(rows);
}

void mel_participant_row_clear(mel_participant_row *row)
{
    free(row->label);
    free(row->about);
    *row = (mel_participant_row){ 0 };
}

void mel_participant_rows_free(mel_participant_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        mel_participant_row_clear(&rows[i]);
    free(rows);
}

static mel_status read_study(mel_study_row *out, const mel_sql_value *row, mel_error *err)
{
    mel_status status = mel_sql_fixed(out->id, sizeof out->id, &row[0], err);
    if (status == MEL_OK)
        status = mel_sql_fixed(out->state, sizeof out->state, &row[2], err);
    if (status == MEL_OK)
        status = mel_sql_copied(&out->file, &row[1], err);
    out->created = row[3].integer;
    return status;
}

mel_status mel_study_list_add(void *context, const mel_sql_value *row, mel_error *err)
{
    mel_row_list *list = context;
    mel_study_row *next = mel_row_list_next(list, sizeof *next);
    if (next == NULL)
        return mel_fail_memory(err, "studies");
    const mel_status status = read_study(next, row, err);
    list->n++;
    return status;
}

/* The columns of PARTICIPANT. */
static mel_status read_participant(mel_participant_row *out, const mel_sql_value *row, mel_error *err)
{
    char seed[24];
    mel_status status = mel_sql_fixed(out->id, sizeof out->id, &row[0], err);
    if (status == MEL_OK)
        status = mel_sql_fixed(out->study, sizeof out->study, &row[1], err);
    if (status == MEL_OK && row[2].kind == MEL_SQL_BYTES && row[2].n != sizeof out->token)
        status = mel_fail(err, MEL_EDATA, "participant %s: the token's hash has %zu bytes, not %d", out->id,
                          row[2].n, MEL_HASH_BYTES);
    if (status == MEL_OK && row[2].kind == MEL_SQL_BYTES)
        memcpy(out->token, row[2].data, sizeof out->token);
    if (status == MEL_OK)
        status = mel_sql_copied(&out->label, &row[3], err);
    if (status == MEL_OK)
        status = mel_sql_copied(&out->about, &row[4], err);
    if (status == MEL_OK)
        status = mel_sql_fixed(out->state, sizeof out->state, &row[5], err);
    if (status == MEL_OK)
        status = mel_sql_fixed(seed, sizeof seed, &row[8], err);
    if (status == MEL_OK)
        out->seed = strtoull(seed, NULL, 10);
    out->created = row[6].integer;
    out->seen = row[7].integer;
    return status;
}

mel_status mel_participant_list_add(void *context, const mel_sql_value *row, mel_error *err)
{
    mel_row_list *list = context;
    mel_participant_row *next = mel_row_list_next(list, sizeof *next);
    if (next == NULL)
        return mel_fail_memory(err, "participants");
    const mel_status status = read_participant(next, row, err);
    list->n++;
    return status;
}

mel_status mel_sql_add_study(mel_sql *sql, const mel_study_row *row, mel_error *err)
{
    const mel_sql_value p[] = { mel_sql_text(row->id), mel_sql_text(row->file), mel_sql_text(row->state),
                                mel_sql_integer(row->created) };
    size_t added = 0;
    const mel_status status = sql->run(sql, MEL_SQL_ADD_STUDY, p, 4, mel_sql_count, &added, err);
    if (status == MEL_OK && added == 0)
        return mel_fail(err, MEL_ECONFLICT, "there is a study %s already", row->id);
    return status;
}

static mel_sql_value token_value(const unsigned char token[MEL_HASH_BYTES])
{
    static const unsigned char none[MEL_HASH_BYTES];
    return memcmp(token, none, sizeof none) != 0 ? mel_sql_bytes(token, MEL_HASH_BYTES) : mel_sql_text(NULL);
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
                     : mel_fail(err, MEL_ECONFLICT, "participant %s or its token is there already", row->id);
}

/* One statement with its parameters, and what its rows add to. */
typedef struct {
    mel_sql_statement statement;
    const mel_sql_value *parameters;
    size_t n;
    mel_sql_each each;
    void *found;
    void (*forget)(void *found); /* everything found */
} request;

static void forget_studies(void *found)
{
    mel_row_list *list = found;
    mel_study_rows_free(list->rows, list->n);
    *list = (mel_row_list){ 0 };
}

static void forget_participants(void *found)
{
    mel_row_list *list = found;
    mel_participant_rows_free(list->rows, list->n);
    *list = (mel_row_list){ 0 };
}

static void forget_count(void *found)
{
    *(size_t *)found = 0;
}

static void forget_counts(void *found)
{
    *(mel_study_counts *)found = (mel_study_counts){ 0 };
}

static mel_status run_request(mel_sql *sql, void *context, mel_error *err)
{
    const request *r = context;
    r->forget(r->found);
    return sql->run(sql, r->statement, r->parameters, r->n, r->each, r->found, err);
}

static mel_status get(request *r, mel_store *store, mel_error *err)
{
    const mel_status status = store->read(store, run_request, r, err);
    if (status != MEL_OK)
        r->forget(r->found);
    return status;
}

/* A statement that gives a row for each that it changed, of which there must be one. */
static mel_status change(mel_store *store, mel_sql_statement statement, const mel_sql_value *parameters,
                         size_t n, const char *what, const char *name, mel_error *err)
{
    size_t changed = 0;
    request r = { statement, parameters, n, mel_sql_count, &changed, forget_count };
    const bool erases = statement == MEL_SQL_DELETE_PARTICIPANT;
    const mel_status status = store->write(store, run_request, &r, erases, err);
    if (status == MEL_OK && changed == 0)
        return mel_fail(err, MEL_EINVAL, "there is no %s %s", what, name);
    return status;
}

static mel_status add_study(mel_sql *sql, void *context, mel_error *err)
{
    return mel_sql_add_study(sql, context, err);
}

/* A shallow copy is what the work on the row gets: it only reads. */
mel_status mel_store_add_study(mel_store *store, const mel_study_row *study, mel_error *err)
{
    mel_study_row row = *study;
    return store->write(store, add_study, &row, false, err);
}

mel_status mel_store_study(mel_study_row *out, mel_store *store, const char *id, mel_error *err)
{
    *out = (mel_study_row){ 0 };
    const mel_sql_value p = mel_sql_text(id);
    mel_row_list list = { 0 };
    request r = { MEL_SQL_STUDY, &p, 1, mel_study_list_add, &list, forget_studies };
    const mel_status status = get(&r, store, err);
    if (status != MEL_OK)
        return status;
    if (list.n == 0)
        return mel_fail(err, MEL_EINVAL, "there is no study %s", id);
    *out = *(mel_study_row *)list.rows;
    free(list.rows);
    return MEL_OK;
}

mel_status mel_store_studies(mel_study_row **out, size_t *n, mel_store *store, mel_error *err)
{
    mel_row_list list = { 0 };
    request r = { MEL_SQL_STUDIES, NULL, 0, mel_study_list_add, &list, forget_studies };
    const mel_status status = get(&r, store, err);
    *out = list.rows;
    *n = list.n;
    return status;
}

mel_status mel_store_set_state(mel_store *store, const char *study, const char *state, mel_error *err)
{
    if (strcmp(state, "open") != 0 && strcmp(state, "closed") != 0)
        return mel_fail(err, MEL_EINVAL, "a study is \"open\" or \"closed\", not \"%s\"", state);
    const mel_sql_value p[] = { mel_sql_text(state), mel_sql_text(study) };
    return change(store, MEL_SQL_SET_STUDY_STATE, p, 2, "study", study, err);
}

static mel_status count_state(void *context, const mel_sql_value *row, mel_error *err)
{
    (void)err;
    mel_study_counts *out = context;
    const char *state = row[0].kind == MEL_SQL_TEXT ? row[0].data : "";
    const size_t n = (size_t)row[1].integer;
    if (strcmp(state, "active") == 0)
        out->active = n;
    else if (strcmp(state, "complete") == 0)
        out->complete = n;
    else
        out->left = n;
    if (strcmp(state, "complete") == 0)
        out->simulated = (size_t)row[2].integer;
    return MEL_OK;
}

mel_status mel_store_counts(mel_study_counts *out, mel_store *store, const char *study, mel_error *err)
{
    const mel_sql_value p = mel_sql_text(study);
    request r = { MEL_SQL_COUNT_STATES, &p, 1, count_state, out, forget_counts };
    return get(&r, store, err);
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

static mel_status one_participant(mel_participant_row *out, mel_store *store, mel_sql_statement statement,
                                  const mel_sql_value *parameters, size_t n, mel_error *err)
{
    *out = (mel_participant_row){ 0 };
    mel_row_list list = { 0 };
    request r = { statement, parameters, n, mel_participant_list_add, &list, forget_participants };
    const mel_status status = get(&r, store, err);
    if (status != MEL_OK)
        return status;
    if (list.n == 0)
        return mel_fail(err, MEL_EINVAL, "there is no such participant");
    *out = *(mel_participant_row *)list.rows;
    free(list.rows);
    return MEL_OK;
}

mel_status mel_store_participant(mel_participant_row *out, mel_store *store, const char *id, mel_error *err)
{
    const mel_sql_value p = mel_sql_text(id);
    return one_participant(out, store, MEL_SQL_PARTICIPANT, &p, 1, err);
}

mel_status mel_store_participant_by_token(mel_participant_row *out, mel_store *store,
                                          const unsigned char token[MEL_HASH_BYTES], mel_error *err)
{
    const mel_sql_value p = token_value(token); /* NULL, which equals nothing, for a token of zeros */
    return one_participant(out, store, MEL_SQL_PARTICIPANT_BY_TOKEN, &p, 1, err);
}

mel_status mel_store_participant_by_label(mel_participant_row *out, mel_store *store, const char *study,
                                          const char *label, mel_error *err)
{
    const mel_sql_value p[] = { mel_sql_text(study), mel_sql_text(label) };
    return one_participant(out, store, MEL_SQL_PARTICIPANT_BY_LABEL, p, 2, err);
}

mel_status mel_store_participants(mel_participant_row **out, size_t *n, mel_store *store, const char *study,
                                  mel_error *err)
{
    const mel_sql_value p = mel_sql_text(study);
    mel_row_list list = { 0 };
    request r = { MEL_SQL_PARTICIPANTS, &p, 1, mel_participant_list_add, &list, forget_participants };
    const mel_status status = get(&r, store, err);
    *out = list.rows;
    *n = list.n;
    return status;
}

mel_status mel_store_set_token(mel_store *store, const char *participant,
                               const unsigned char token[MEL_HASH_BYTES], mel_error *err)
{
    const mel_sql_value p[] = { token_value(token), mel_sql_text(participant) };
    return change(store, MEL_SQL_SET_TOKEN, p, 2, "participant", participant, err);
}

mel_status mel_store_delete_participant(mel_store *store, const char *participant, mel_error *err)
{
    const mel_sql_value p = mel_sql_text(participant);
    return change(store, MEL_SQL_DELETE_PARTICIPANT, &p, 1, "participant", participant, err);
}
