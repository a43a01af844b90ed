/* LIBSVM text: "label index:value index:value ...", indices from 1 (or 0) and ascending, "#" starts a
 * comment. */
#define _GNU_SOURCE /* memrchr */
#include "data/number.h"
#include "data/quote.h"
#include "data/table_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 1 << 20, LONGEST_LINE = 64 << 20 };

typedef struct {
    mel_source *source;
    char *window; /* whole lines, a piece of the file at a time, and the beginning of the next one */
    size_t size, capacity;
    bool at_end;         /* of the file */
    const char *p, *end; /* the lines that are left; *end is a NUL or belongs to the next line */
    size_t line;         /* from 1 */
    mel_table *table;
    size_t n_values, value_capacity, row_capacity;
    const mel_read_options *opt;
    mel_error *err;
} reader;

static void reader_clear(reader *r)
{
    mel_table_free(r->table);
    free(r->window);
}

static bool is_word_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bool ends_line(char c)
{
    return c == '\n' || c == '#' || c == '\0';
}

static bool ends_word(char c)
{
    return is_word_blank(c) || ends_line(c);
}

static mel_quoted show_word(const char *p)
{
    const char *end = p;
    while (!ends_word(*end))
        end++;
    return mel_quote(p, (size_t)(end - p));
}

static bool grow_rows(reader *r)
{
    const size_t n = r->row_capacity == 0 ? 1024 : 2 * r->row_capacity;
    const bool grown =
        MEL_GROW(r->table->column[0].numbers, n) && MEL_GROW(r->table->sparse.row_start, n + 1);
    r->row_capacity = grown ? n : r->row_capacity;
    return grown;
}

static bool grow_values(reader *r)
{
    const size_t n = r->value_capacity == 0 ? 4096 : 2 * r->value_capacity;
    const bool grown = MEL_GROW(r->table->sparse.col, n) && MEL_GROW(r->table->sparse.value, n);
    r->value_capacity = grown ? n : r->value_capacity;
    return grown;
}

/* The number at p, up to a blank or the end of the line. */
static mel_status parse_value(reader *r, const char *what, double *value)
{
    const char *const start = r->p;
    while (!ends_word(*r->p))
        r->p++;
    const size_t n = (size_t)(r->p - start);
    switch (mel_number_parse_bounded(start, n, value)) {
    case MEL_NUMBER_FINITE:
        return MEL_OK;
    case MEL_NUMBER_HUGE:
        return mel_fail(r->err, MEL_EDATA, "line %zu, %s: %s is not a finite number", r->line, what,
                        mel_quote(start, n).text);
    default:
        return mel_fail(r->err, MEL_EDATA, "line %zu, %s: %s is not a number", r->line, what,
                        mel_quote(start, n).text);
    }
}

static mel_status refuse_order(const reader *r, size_t n, bool twice)
{
    return mel_fail(r->err, MEL_EDATA, "line %zu: index %zu %s; indices must ascend", r->line, n,
                    twice ? "is given twice" : "follows a larger one");
}

/* The digits and the colon of an entry; *index counts from 1 even where the file counts from 0. */
static mel_status parse_index(reader *r, size_t last, size_t *index)
{
    const char *const start = r->p;
    const size_t base = r->opt->zero_based ? 0 : 1;
    const size_t most = r->opt->max_columns < MEL_MISSING ? r->opt->max_columns : MEL_MISSING;
    size_t n = 0;
    for (; *r->p >= '0' && *r->p <= '9' && n <= most; r->p++)
        n = n * 10 + (size_t)(*r->p - '0');
    if (n > most)
        return mel_fail(r->err, MEL_ELIMIT, "line %zu: the index of %s is above the limit of %zu columns",
                        r->line, show_word(start).text, most);
    if (r->p - start == 0 || *r->p != ':')
        return mel_fail(r->err, MEL_EDATA, "line %zu: %s is not index:value with an index from %zu up",
                        r->line, show_word(start).text, base);
    if (n < base)
        return mel_fail(r->err, MEL_EDATA,
                        "line %zu: %s has index 0; indices start at 1, or give zero-based if they start at 0 "
                        "here",
                        r->line, show_word(start).text);
    *index = n - base + 1;
    if (*index <= last)
        return refuse_order(r, n, *index == last);
    r->p++;
    return MEL_OK;
}

static mel_status parse_feature(reader *r, size_t *last)
{
    mel_sparse *sparse = &r->table->sparse;
    char what[48];
    if (strncmp(r->p, "qid:", 4) == 0)
        return mel_fail(r->err, MEL_EDATA,
                        "line %zu: %s is a query number of ranking data, which has no place in "
                        "a table; remove it",
                        r->line, show_word(r->p).text);
    TRY(parse_index(r, *last, last));
    if (r->n_values == r->value_capacity && !grow_values(r))
        return mel_fail_memory(r->err, "the values of a table");
    (void)snprintf(what, sizeof what, "index %zu", r->opt->zero_based ? *last - 1 : *last);
    TRY(parse_value(r, what, &sparse->value[r->n_values]));
    sparse->col[r->n_values++] = (uint32_t)(*last - 1);
    if (*last > sparse->n_features)
        sparse->n_features = *last;
    return MEL_OK;
}

/* One line from its first word on. */
static mel_status parse_sparse_row(reader *r)
{
    mel_table *table = r->table;
    if (table->n_rows == r->opt->max_rows)
        return mel_fail(r->err, MEL_ELIMIT, "line %zu: more than %zu rows", r->line, r->opt->max_rows);
    if (table->n_rows == r->row_capacity && !grow_rows(r))
        return mel_fail_memory(r->err, "the rows of a table");
    table->sparse.row_start[table->n_rows] = r->n_values;
    TRY(parse_value(r, "label", &table->column[0].numbers[table->n_rows]));
    for (size_t last = 0;;) {
        while (is_word_blank(*r->p))
            r->p++;
        if (ends_line(*r->p))
            break;
        TRY(parse_feature(r, &last));
    }
    table->sparse.row_start[++table->n_rows] = r->n_values;
    return MEL_OK;
}

static mel_status refuse_nul(const reader *r)
{
    const char *nul = memchr(r->p, '\0', (size_t)(r->end - r->p));
    size_t line = r->line;
    if (nul == NULL)
        return MEL_OK;
    for (const char *p = r->p; p < nul; p++)
        line += *p == '\n';
    return mel_fail(r->err, MEL_EDATA, "line %zu: a NUL byte; this is not text", line);
}

/* The next lines, or none at the end of the file. */
static mel_status next_lines(reader *r)
{
    const size_t kept = r->end != NULL ? r->size - (size_t)(r->end - r->window) : 0;
    if (kept > 0)
        memmove(r->window, r->end, kept);
    r->size = kept;
    r->p = r->end = r->window;
    for (const char *last = NULL; last == NULL && !r->at_end;) {
        const size_t twice = r->size < WINDOW / 2 ? WINDOW : 2 * r->size;
        const size_t room = twice <= LONGEST_LINE ? twice : LONGEST_LINE + 1;
        size_t got = 0;
        if (r->size > LONGEST_LINE)
            return mel_fail(r->err, MEL_ELIMIT, "line %zu: more than %d bytes in one line", r->line,
                            LONGEST_LINE);
        TRY(MEL_NEED(room <= r->capacity || MEL_GROW(r->window, room + 1), "a window of a file", r->err));
        r->capacity = room > r->capacity ? room : r->capacity;
        TRY(mel_source_read(r->source, r->window + r->size, r->capacity - r->size, &got, r->err));
        r->at_end = got < r->capacity - r->size;
        r->size += got;
        r->window[r->size] = '\0';
        last = memrchr(r->window, '\n', r->size);
        r->p = r->window;
        r->end = r->at_end || last == NULL ? r->window + r->size : last + 1;
        TRY(refuse_nul(r));
    }
    return MEL_OK;
}

static mel_status parse_lines(reader *r)
{
    TRY(next_lines(r));
    while (r->p < r->end) {
        while (is_word_blank(*r->p))
            r->p++;
        if (!ends_line(*r->p))
            TRY(parse_sparse_row(r));
        const char *line_end = memchr(r->p, '\n', (size_t)(r->end - r->p));
        r->p = line_end != NULL ? line_end + 1 : r->end;
        r->line++;
        if (r->p == r->end)
            TRY(next_lines(r));
    }
    if (r->table->n_rows == 0)
        return mel_fail(r->err, MEL_EDATA, "the file has no rows");
    if (r->n_values == 0)
        return mel_fail(r->err, MEL_EDATA, "none of the %zu rows has an index:value", r->table->n_rows);
    return MEL_OK;
}

/* The arrays at their final size. */
static bool shrink(reader *r)
{
    mel_sparse *sparse = &r->table->sparse;
    return MEL_GROW(sparse->col, r->n_values) && MEL_GROW(sparse->value, r->n_values) &&
           MEL_GROW(sparse->row_start, r->table->n_rows + 1) &&
           MEL_GROW(r->table->column[0].numbers, r->table->n_rows);
}

static mel_table *new_sparse_table(const char *name, bool zero_based)
{
    mel_dict *names = mel_dict_new();
    mel_table *table = NULL;
    if (names != NULL && mel_dict_add(names, "label", 5, mel_dict_hash("label", 5)) == 0)
        table = mel_table_new(name, names, 1);
    mel_dict_free(names);
    if (table == NULL)
        return NULL;
    table->column[0].type = MEL_COLUMN_NUMBER;
    table->is_sparse = true;
    table->sparse.zero_based = zero_based;
    table->first_row = 1;
    return table;
}

mel_status mel_read_libsvm(mel_table **out, mel_source *source, const char *name, const mel_read_options *opt,
                           mel_error *err)
{
    MEL_AUTO_CLEAR(reader)
    r = {
        .source = source, .line = 1, .table = new_sparse_table(name, opt->zero_based), .opt = opt, .err = err
    };
    TRY(MEL_NEED(r.table, "a table", err));
    TRY(mel_refuse_overrides(r.table, opt, err));
    TRY(parse_lines(&r));
    TRY(MEL_NEED(shrink(&r), "a table", err));
    TRY(mel_notes_how(&r.table->notes, err, "LIBSVM, indices from %d, %s rows, %s features",
                      opt->zero_based ? 0 : 1, mel_count_text(r.table->n_rows).text,
                      mel_count_text(r.table->sparse.n_features).text));
    *out = r.table;
    r.table = NULL;
    return MEL_OK;
}
