/* Statements as transactions of their own, and the rows that they give. */
#include "store_requests.h"

#include <stdlib.h>
#include <string.h>

/* --- rows --------------------------------------------------------------------------------------- */

void mel_rows_free(const mel_row_kind *kind, void *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        kind->clear((char *)rows + i * kind->size);
    free(rows);
}

mel_status mel_row_list_add(void *context, const mel_sql_value *row, mel_error *err)
{
    mel_row_list *list = context;
    if (list->n == list->capacity) {
        const size_t capacity = list->capacity < 8 ? 8 : 2 * list->capacity;
        if (!mel_grow(&list->rows, capacity, list->kind->size))
            return mel_fail_memory(err, "rows of the store");
        list->capacity = capacity;
    }
    void *next = (char *)list->rows + list->n++ * list->kind->size;
    memset(next, 0, list->kind->size);
    return list->kind->read(next, row, err);
}

void mel_row_list_clear(void *context)
{
    mel_row_list *list = context;
    mel_rows_free(list->kind, list->rows, list->n);
    *list = (mel_row_list){ .kind = list->kind };
}

/* --- requests ----------------------------------------------------------------------------------- */

typedef struct {
    const mel_sql_request *request;
    size_t n;
} requests;

static void forget(const requests *all)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->request[i].forget != NULL)
            all->request[i].forget(all->request[i].found);
}

static mel_status run_requests(mel_sql *sql, void *context, mel_error *err)
{
    const requests *all = context;
    mel_status status = MEL_OK;
    forget(all);
    for (size_t i = 0; i < all->n && status == MEL_OK; i++) {
        const mel_sql_request *r = &all->request[i];
        status = sql->run(sql, r->statement, r->parameters, r->n, r->each, r->found, err);
    }
    return status;
}

mel_status mel_store_read(mel_store *store, const mel_sql_request *request, mel_error *err)
{
    requests one = { request, 1 };
    const mel_status status = store->read(store, run_requests, &one, err);
    if (status != MEL_OK)
        forget(&one);
    return status;
}

mel_status mel_store_write(mel_store *store, const mel_sql_request *request, size_t n, mel_error *err)
{
    requests all = { request, n };
    const mel_status status = store->write(store, run_requests, &all, false, err);
    if (status != MEL_OK)
        forget(&all);
    return status;
}

mel_status mel_store_list(void **rows, size_t *n, mel_store *store, const mel_row_kind *kind,
                          mel_sql_statement statement, const mel_sql_value *parameters, size_t n_parameters,
                          mel_error *err)
{
    mel_row_list list = { .kind = kind };
    const mel_sql_request request = { statement,        parameters, n_parameters,
                                      mel_row_list_add, &list,      mel_row_list_clear };
    const mel_status status = mel_store_read(store, &request, err);
    *rows = list.rows;
    *n = list.n;
    return status;
}

static mel_status none(const mel_row_kind *kind, const char *id, mel_error *err)
{
    return id != NULL ? mel_fail(err, MEL_EINVAL, "there is no %s %s", kind->name, id)
                      : mel_fail(err, MEL_EINVAL, "there is no such %s", kind->name);
}

mel_status mel_store_one(void *out, mel_store *store, const mel_row_kind *kind, mel_sql_statement statement,
                         const mel_sql_value *parameters, size_t n_parameters, const char *id, mel_error *err)
{
    void *rows = NULL;
    size_t n = 0;
    memset(out, 0, kind->size);
    const mel_status status =
        mel_store_list(&rows, &n, store, kind, statement, parameters, n_parameters, err);
    if (status == MEL_OK && n > 0)
        memcpy(out, rows, kind->size);
    free(rows);
    return status == MEL_OK && n == 0 ? none(kind, id, err) : status;
}

static void forget_count(void *found)
{
    *(size_t *)found = 0;
}

mel_status mel_store_repeat(mel_store *store, mel_sql_statement statement, const mel_sql_value *parameters,
                            size_t n_parameters, size_t most, mel_error *err)
{
    size_t deleted = most;
    const mel_sql_request request = { statement,     parameters, n_parameters,
                                      mel_sql_count, &deleted,   forget_count };
    while (deleted >= most)
        TRY(mel_store_write(store, &request, 1, err));
    return MEL_OK;
}

mel_status mel_store_change(mel_store *store, const mel_row_kind *kind, mel_sql_statement statement,
                            const mel_sql_value *parameters, size_t n_parameters, const char *id,
                            mel_error *err)
{
    size_t changed = 0;
    const mel_sql_request request = { statement,     parameters, n_parameters,
                                      mel_sql_count, &changed,   forget_count };
    const mel_status status = mel_store_write(store, &request, 1, err);
    return status == MEL_OK && changed == 0 ? none(kind, id, err) : status;
}
