/* A table as bytes and back: one description of its parts for counting, writing and reading them. */
#include "data/table_bytes.h"

#include "data/shared.h"

#include <stdlib.h>
#include <string.h>

/* at NULL: bytes are counted only. */
typedef struct {
    char *at;
    const char *from; /* reading */
    size_t n;         /* so far */
    bool reading, failed;
} carrier;

static void carry(carrier *c, void *field, size_t n)
{
    if (c->reading && !c->failed)
        memcpy(field, c->from + c->n, n);
    else if (c->at != NULL)
        memcpy(c->at + c->n, field, n);
    c->n += n;
}

/* n items that may not be there; on reading in memory of their own. */
static void *carry_block(carrier *c, void *block, size_t n, size_t size)
{
    unsigned char there = block != NULL;
    carry(c, &there, 1);
    if (there == 0 || c->failed)
        return NULL;
    if (c->reading)
        block = mel_alloc(n, size);
    c->failed = c->failed || block == NULL;
    if (!c->failed)
        carry(c, block, n * size);
    return block;
}

static char *carry_text(carrier *c, char *text)
{
    size_t n = c->reading || text == NULL ? 0 : strlen(text) + 1;
    carry(c, &n, sizeof n);
    return carry_block(c, text, n, 1);
}

/* Hashes are a process's own: texts are added anew. */
static mel_dict *carry_dict(carrier *c, mel_dict *dict)
{
    size_t n = !c->reading && dict != NULL ? dict->n : SIZE_MAX;
    carry(c, &n, sizeof n);
    if (n == SIZE_MAX || c->failed)
        return NULL;
    if (c->reading)
        dict = mel_dict_new();
    c->failed = c->failed || dict == NULL;
    for (size_t i = 0; i < n && !c->failed; i++) {
        size_t length = c->reading ? 0 : mel_dict_length(dict, i);
        carry(c, &length, sizeof length);
        if (c->reading) {
            const char *text = c->from + c->n;
            c->failed = mel_dict_add(dict, text, length, mel_dict_hash(text, length)) == MEL_MISSING;
            c->n += length;
        } else
            carry(c, (char *)(uintptr_t)mel_dict_text(dict, i), length);
    }
    return dict;
}

static void carry_column(carrier *c, mel_column *column, size_t n_rows)
{
    mel_column kept = *column;
    carry(c, &kept, sizeof kept);
    if (c->reading) {
        kept.numbers = NULL;
        kept.codes = NULL;
        kept.dict = NULL;
    }
    kept.numbers = carry_block(c, kept.numbers, n_rows, sizeof *kept.numbers);
    kept.codes = carry_block(c, kept.codes, n_rows, sizeof *kept.codes);
    kept.dict = carry_dict(c, kept.dict);
    *column = kept;
}

static void carry_sparse(carrier *c, mel_sparse *sparse, size_t n_rows)
{
    carry(c, &sparse->zero_based, sizeof sparse->zero_based);
    carry(c, &sparse->n_features, sizeof sparse->n_features);
    sparse->row_start = carry_block(c, sparse->row_start, n_rows + 1, sizeof *sparse->row_start);
    const size_t entries = sparse->row_start != NULL ? sparse->row_start[n_rows] : 0;
    sparse->col = carry_block(c, sparse->col, entries, sizeof *sparse->col);
    sparse->value = carry_block(c, sparse->value, entries, sizeof *sparse->value);
}

static void carry_notes(carrier *c, mel_notes *notes)
{
    size_t n = notes->n_warnings;
    carry(c, &n, sizeof n);
    notes->how = carry_text(c, notes->how);
    if (c->reading)
        notes->warning = mel_alloc_zero(n, sizeof *notes->warning);
    c->failed = c->failed || (c->reading && notes->warning == NULL);
    for (size_t i = 0; i < n && !c->failed; i++) {
        notes->warning[i] = carry_text(c, notes->warning[i]);
        notes->n_warnings = i + 1;
    }
}

/* Everything behind the names of the columns. */
static void carry_rest(carrier *c, mel_table *t)
{
    carry(c, &t->n_rows, sizeof t->n_rows);
    carry(c, &t->format, sizeof t->format);
    carry(c, &t->has_header, sizeof t->has_header);
    carry(c, &t->first_row, sizeof t->first_row);
    carry(c, &t->matrix, sizeof t->matrix);
    carry(c, &t->is_sparse, sizeof t->is_sparse);
    t->row_name = carry_block(c, t->row_name, t->n_rows, sizeof *t->row_name);
    for (size_t i = 0; i < t->n_columns && !c->failed; i++)
        carry_column(c, &t->column[i], t->n_rows);
    if (t->is_sparse && !c->failed)
        carry_sparse(c, &t->sparse, t->n_rows);
    if (!c->failed)
        carry_notes(c, &t->notes);
}

/* A table to be written is only read. */
static void put(carrier *c, const mel_table *table, bool with_rows)
{
    mel_table t = *table;
    t.n_rows = with_rows ? t.n_rows : 0;
    (void)carry_text(c, t.name);
    carry(c, &t.n_columns, sizeof t.n_columns);
    (void)carry_dict(c, t.names);
    carry_rest(c, &t);
}

mel_status mel_table_to_bytes(char **bytes, size_t *n, const mel_table *table, bool with_rows, mel_error *err)
{
    carrier count = { 0 };
    put(&count, table, with_rows);
    carrier write = { .at = mel_alloc(count.n, 1) };
    if (write.at == NULL)
        return mel_fail_memory(err, "a table");
    put(&write, table, with_rows);
    *bytes = write.at;
    *n = write.n;
    return MEL_OK;
}

mel_status mel_table_of_bytes(mel_table **out, const char *bytes, mel_error *err)
{
    carrier c = { .from = bytes, .reading = true };
    char *name = carry_text(&c, NULL);
    size_t n_columns = 0;
    carry(&c, &n_columns, sizeof n_columns);
    mel_dict *names = carry_dict(&c, NULL);
    *out = c.failed ? NULL : mel_table_new(name, names, n_columns);
    free(name);
    mel_dict_free(names);
    if (*out != NULL)
        carry_rest(&c, *out);
    if (*out != NULL && !c.failed)
        return MEL_OK;
    mel_table_free(*out);
    *out = NULL;
    return mel_fail_memory(err, "a table");
}
