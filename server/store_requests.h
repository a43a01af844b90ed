/* Statements as transactions of their own, and the rows that they give. */
#ifndef MEL_SERVER_STORE_REQUESTS_H
#define MEL_SERVER_STORE_REQUESTS_H

#include "store_sql.h"

typedef struct {
    const char *name; /* "study" */
    size_t size;      /* bytes of a row */
    /* Into a zeroed row, which is cleared on failure too. */
    mel_status (*read)(void *row, const mel_sql_value *columns, mel_error *err);
    void (*clear)(void *row);
} mel_row_kind;
extern const mel_row_kind mel_study_kind, mel_participant_kind, mel_event_kind;
void mel_rows_free(const mel_row_kind *kind, void *rows, size_t n);

typedef struct {
    const mel_row_kind *kind;
    void *rows;
    size_t n, capacity;
} mel_row_list;
/* A mel_sql_each whose context is a list. */
mel_status mel_row_list_add(void *list, const mel_sql_value *row, mel_error *err);
void mel_row_list_clear(void *list);

/* One statement with its parameters, and what its rows add to. */
typedef struct {
    mel_sql_statement statement;
    const mel_sql_value *parameters;
    size_t n;
    mel_sql_each each;           /* or NULL */
    void *found;                 /* its context */
    void (*forget)(void *found); /* all that was found: a transaction may have to begin again; or NULL */
} mel_sql_request;
/* In one transaction; on failure everything found is forgotten. */
mel_status mel_store_read(mel_store *store, const mel_sql_request *request, mel_error *err);
mel_status mel_store_write(mel_store *store, const mel_sql_request *request, size_t n, mel_error *err);
/* A statement that gives a row for each of at most `most` that it deleted, in transactions of their own until
 * fewer are left: answers get their turn in between. */
mel_status mel_store_repeat(mel_store *store, mel_sql_statement statement, const mel_sql_value *parameters,
                            size_t n_parameters, size_t most, mel_error *err);
/* Rows of this kind, for mel_rows_free. */
mel_status mel_store_list(void **rows, size_t *n, mel_store *store, const mel_row_kind *kind,
                          mel_sql_statement statement, const mel_sql_value *parameters, size_t n_parameters,
                          mel_error *err);
/* The one row, for its clear function; MEL_EINVAL when there is none (id: its name, or NULL). */
mel_status mel_store_one(void *out, mel_store *store, const mel_row_kind *kind, mel_sql_statement statement,
                         const mel_sql_value *parameters, size_t n_parameters, const char *id,
                         mel_error *err);
/* A statement that gives a row for each that it changed; MEL_EINVAL when there is none. */
mel_status mel_store_change(mel_store *store, const mel_row_kind *kind, mel_sql_statement statement,
                            const mel_sql_value *parameters, size_t n_parameters, const char *id,
                            mel_error *err);

#endif
