/* Files that belong together row by row: rows with the same names in another order are put into one order. */
#include "data/row_names.h"

#include "base/internal.h"
#include "data/quote.h"
#include "data/shared.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t mel_row_name(const char *text, size_t n)
{
    static const unsigned char key[crypto_shorthash_KEYBYTES] = { 0 };
    unsigned char bytes[crypto_shorthash_BYTES];
    uint64_t hash;
    crypto_shorthash(bytes, (const unsigned char *)text, n, key);
    memcpy(&hash, bytes, sizeof hash);
    return hash;
}

/* Names of all rows, for free(); *out stays NULL where some rows have none. */
static mel_status names_of_all(uint64_t **out, const mel_table *table, mel_error *err)
{
    const size_t n = table->n_rows;
    *out = NULL;
    if (table->row_name == NULL || n == 0)
        return MEL_OK;
    *out = mel_alloc(n, sizeof **out);
    if (*out == NULL)
        return mel_fail_memory(err, "the names of rows");
    memcpy(*out, table->row_name, n * sizeof **out);
    return MEL_OK;
}

/* Do the names count the rows, from 0 (pandas) or 1 (R)? Then they are no more than the order of the file. */
static bool names_count(const uint64_t *name, size_t n)
{
    char text[24];
    for (size_t base = 0; base < 2; base++) {
        size_t i = 0;
        while (i < n && name[i] == mel_row_name(text, (size_t)snprintf(text, sizeof text, "%zu", base + i)))
            i++;
        if (i == n)
            return true;
    }
    return false;
}

typedef struct {
    uint64_t name;
    size_t row;
} named_row;

static int by_name(const void *a, const void *b)
{
    const named_row *x = a, *y = b;
    return x->name != y->name ? (x->name < y->name ? -1 : 1) : (x->row > y->row) - (x->row < y->row);
}

static void sort_names(named_row *out, const uint64_t *name, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (named_row){ name[i], i };
    qsort(out, n, sizeof *out, by_name);
}

static const char advice[] = "write both files with the same names, or without them if their rows are in the "
                             "same order (pandas: index=False, R: row.names=FALSE)";

/* rows[i]: the row of the table that is called as row i of the file with the first names. */
static mel_status find_rows(size_t *rows, const named_row *here, const named_row *there, size_t n,
                            const mel_table *table, const char *named_by, mel_error *err)
{
    for (size_t i = 0; i + 1 < n; i++)
        if (here[i].name == here[i + 1].name)
            return mel_fail(err, MEL_EDATA,
                            "rows %zu and %zu have the same name, and the names come in another order than "
                            "in %s; %s",
                            mel_table_row_number(table, here[i].row),
                            mel_table_row_number(table, here[i + 1].row), mel_quote_file(named_by).text,
                            advice);
    size_t stranger = SIZE_MAX;
    for (size_t i = 0, j = 0; i < n; i++) {
        while (j < n && there[j].name < here[i].name)
            j++;
        if (j < n && there[j].name == here[i].name)
            rows[there[j].row] = here[i].row;
        else if (here[i].row < stranger)
            stranger = here[i].row;
    }
    if (stranger != SIZE_MAX)
        return mel_fail(err, MEL_EDATA, "row %zu has a name that no row of %s has; %s",
                        mel_table_row_number(table, stranger), mel_quote_file(named_by).text, advice);
    return MEL_OK;
}

/* The rows in the order of `rows`; all else stays. */
static mel_status reorder_rows(mel_table **table, const size_t *rows, const char *named_by, mel_error *err)
{
    mel_table *old = *table, *taken = NULL;
    mel_status status = mel_table_take(&taken, old, rows, old->n_rows, err);
    if (status != MEL_OK)
        return status;
    taken->format = old->format;
    taken->first_row = old->first_row;
    taken->notes = old->notes;
    old->notes = (mel_notes){ 0 };
    mel_table_free(old);
    *table = taken;
    return mel_notes_warn(&taken->notes, err,
                          "the rows are in another order than those of %s: matched by their names",
                          mel_quote_file(named_by).text);
}

static mel_status match_names(mel_table **table, const uint64_t *name, const mel_shards *shards,
                              mel_error *err)
{
    const size_t n = shards->n_named;
    if ((*table)->n_rows != n || memcmp(name, shards->row_name, n * sizeof *name) == 0 ||
        (names_count(name, n) && names_count(shards->row_name, n)))
        return MEL_OK; /* numbers of rows that differ are refused where all files are known */
    named_row *here = mel_alloc(2 * n, sizeof *here);
    size_t *rows = mel_alloc(n, sizeof *rows);
    mel_status status = here != NULL && rows != NULL ? MEL_OK : mel_fail_memory(err, "the names of rows");
    if (status == MEL_OK) {
        sort_names(here, name, n);
        sort_names(here + n, shards->row_name, n);
        status = find_rows(rows, here, here + n, n, *table, shards->named_by, err);
    }
    if (status == MEL_OK)
        status = reorder_rows(table, rows, shards->named_by, err);
    free(here);
    free(rows);
    return status;
}

/* One file beside several says nothing about where the rows of one of them end. */
static mel_status check_one_beside_many(const mel_shards *shards, size_t n_files, mel_error *err)
{
    const bool one = n_files <= 1;
    return one == (shards->first_files <= 1)
               ? MEL_OK
               : mel_fail(err, MEL_EDATA,
                          "%s beside %s, and nothing says which rows belong together: give as many files of "
                          "each, with the same text in place of the *, or files that name their rows",
                          one ? "this is one file" : "these are several files",
                          mel_quote_file(shards->first).text);
}

mel_status mel_match_rows(mel_table **table, mel_shards *shards, size_t n_files, const char *path,
                          mel_error *err)
{
    if (shards == NULL)
        return MEL_OK;
    uint64_t *name = NULL;
    mel_status status = names_of_all(&name, *table, err);
    if (status == MEL_OK && shards->first == NULL) {
        shards->first = mel_strdup(path);
        shards->first_files = n_files;
        status = shards->first != NULL ? MEL_OK : mel_fail_memory(err, "the name of a file");
    } else if (status == MEL_OK && (name == NULL || shards->row_name == NULL)) {
        status = check_one_beside_many(shards, n_files, err);
    }
    if (status == MEL_OK && name != NULL && shards->row_name != NULL)
        status = match_names(table, name, shards, err);
    if (status == MEL_OK && name != NULL && shards->row_name == NULL) {
        shards->named_by = mel_strdup(path);
        shards->n_named = (*table)->n_rows;
        shards->row_name = name;
        name = NULL;
        status = shards->named_by != NULL ? MEL_OK : mel_fail_memory(err, "the name of a file");
    }
    free(name);
    free((*table)->row_name);
    (*table)->row_name = NULL;
    return status == MEL_OK ? MEL_OK : mel_fail_in(err, status, "%s", mel_quote_file(path).text);
}
