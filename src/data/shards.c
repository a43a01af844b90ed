/* The files of a pattern as one table: columns by name, rows in the order of the files. */
#include "data/pattern.h"
#include "data/quote.h"
#include "data/table_reader.h"

#include <stdlib.h>
#include <string.h>

void mel_shards_clear(mel_shards *shards)
{
    for (size_t i = 0; i < shards->n && shards->key != NULL; i++)
        free(shards->key[i]);
    free(shards->key);
    free(shards->start);
    free(shards->first);
    free(shards->named_by);
    free(shards->row_name);
    *shards = (mel_shards){ 0 };
}

/* What joining needs: the table so far, and the columns that are texts in some of the files only. */
typedef struct {
    const mel_matches *files;
    const char *pattern;
    const mel_read_options *opt;
    mel_table *all;
    size_t *start;                 /* as in mel_shards */
    mel_column_override *override; /* the caller's, then those columns */
    size_t n_mixed;
    bool *found; /* of `override` */
} joining;

/* --- one more file ------------------------------------------------------------------------------ */

static bool append_bytes(void **to, size_t had, const void *from, size_t n, size_t size)
{
    if (!mel_grow(to, had + n, size))
        return false;
    memcpy((char *)*to + had * size, from, n * size);
    return true;
}

/* Codes of the file's own texts become those of all texts. */
static mel_status append_codes(mel_column *to, const mel_column *from, size_t had, size_t n, size_t most,
                               mel_error *err)
{
    uint32_t *code = mel_alloc(from->dict->n, sizeof *code);
    void *codes = to->codes;
    mel_status status = code != NULL && append_bytes(&codes, had, from->codes, n, sizeof *to->codes)
                            ? MEL_OK
                            : mel_fail_memory(err, "the rows of several files");
    to->codes = codes;
    for (size_t c = 0; c < from->dict->n && status == MEL_OK; c++) {
        code[c] = mel_dict_add(to->dict, mel_dict_text(from->dict, c), mel_dict_length(from->dict, c),
                               from->dict->hash[c]);
        if (code[c] == MEL_MISSING)
            status = mel_fail_memory(err, "the texts of several files");
        else if (to->dict->n > most)
            status =
                mel_fail(err, MEL_ELIMIT, "more than %zu different texts in one column (%s is one too many)",
                         most, mel_quote_text(mel_dict_text(from->dict, c)).text);
    }
    for (size_t i = had; i < had + n && status == MEL_OK; i++)
        to->codes[i] = to->codes[i] == MEL_MISSING ? MEL_MISSING : code[to->codes[i]];
    free(code);
    return status;
}

static mel_status append_column(mel_column *to, const mel_column *from, size_t had, size_t n, size_t most,
                                mel_error *err)
{
    to->percent = to->percent == from->percent ? to->percent : MEL_PERCENT_SOME;
    to->all_names = to->all_names && from->all_names;
    to->all_quoted = to->all_quoted && from->all_quoted;
    mel_widths_merge(&to->widths, &from->widths);
    if (to->type == MEL_COLUMN_TEXT)
        return append_codes(to, from, had, n, most, err);
    void *numbers = to->numbers;
    const bool enough = append_bytes(&numbers, had, from->numbers, n, sizeof *to->numbers);
    to->numbers = numbers;
    return enough ? MEL_OK : mel_fail_memory(err, "the rows of several files");
}

static bool append_sparse(mel_sparse *to, const mel_sparse *from, size_t had, size_t n)
{
    const size_t before = to->row_start[had], more = from->row_start[n];
    void *start = to->row_start, *col = to->col, *value = to->value;
    const bool enough = append_bytes(&start, had + 1, from->row_start + 1, n, sizeof *to->row_start) &&
                        append_bytes(&col, before, from->col, more, sizeof *to->col) &&
                        append_bytes(&value, before, from->value, more, sizeof *to->value);
    to->row_start = start;
    to->col = col;
    to->value = value;
    for (size_t i = had + 1; i <= had + n && enough; i++)
        to->row_start[i] += before;
    to->n_features = to->n_features > from->n_features ? to->n_features : from->n_features;
    return enough;
}

/* n: rows so far. */
static mel_status check_limits(const mel_table *all, size_t n, const mel_read_options *opt, mel_error *err)
{
    if (n > opt->max_rows)
        return mel_fail(err, MEL_ELIMIT,
                        "more than %zu rows in all files; raise the limit on rows if that is "
                        "intended",
                        opt->max_rows);
    if (opt->max_cells != 0 && n > opt->max_cells / all->n_columns)
        return mel_fail(err, MEL_ELIMIT, "more than %zu cells in all files", opt->max_cells);
    return MEL_OK;
}

/* The rows of `more` come behind those that are there; columns are of equal names and types. */
static mel_status append(mel_table *all, const mel_table *more, const mel_read_options *opt, mel_error *err)
{
    mel_status status = MEL_OK;
    for (size_t c = 0; c < all->n_columns && status == MEL_OK; c++) {
        const size_t at = mel_table_find(more, mel_table_column_name(all, c));
        status = append_column(&all->column[c], &more->column[at], all->n_rows, more->n_rows,
                               opt->max_categories, err);
    }
    if (status == MEL_OK && all->is_sparse &&
        !append_sparse(&all->sparse, &more->sparse, all->n_rows, more->n_rows))
        status = mel_fail_memory(err, "the rows of several files");
    void *names = all->row_name;
    if (status == MEL_OK && names != NULL && more->row_name != NULL &&
        !append_bytes(&names, all->n_rows, more->row_name, more->n_rows, sizeof *all->row_name))
        status = mel_fail_memory(err, "the names of rows");
    all->row_name = names;
    if (more->row_name == NULL && more->n_rows > 0) {
        free(all->row_name);
        all->row_name = NULL;
    }
    if (status == MEL_OK)
        all->n_rows += more->n_rows;
    return status;
}

/* --- what does not fit together ----------------------------------------------------------------- */

static mel_status check_alike(const joining *j, const mel_table *more, mel_error *err)
{
    const mel_table *all = j->all;
    const char *first = j->files->file[0].name;
    if (more->format != all->format || more->is_sparse != all->is_sparse || more->matrix != all->matrix)
        return mel_fail(err, MEL_EDATA, "another kind of file than %s", mel_quote_file(first).text);
    if (more->has_header != all->has_header)
        return mel_fail(err, MEL_EDATA, "%s a header, and %s %s; --header says it for all files",
                        more->has_header ? "has" : "has not", mel_quote_file(first).text,
                        more->has_header ? "has not" : "has");
    for (size_t c = 0; c < all->n_columns; c++)
        if (mel_table_find(more, mel_table_column_name(all, c)) == SIZE_MAX)
            return mel_fail(err, MEL_EDATA, "no column %s, which %s has",
                            mel_quote_text(mel_table_column_name(all, c)).text, mel_quote_file(first).text);
    for (size_t c = 0; c < more->n_columns; c++)
        if (mel_table_find(all, mel_table_column_name(more, c)) == SIZE_MAX)
            return mel_fail(err, MEL_EDATA, "column %s, which %s has not",
                            mel_quote_text(mel_table_column_name(more, c)).text, mel_quote_file(first).text);
    return MEL_OK;
}

static bool is_mixed(const joining *j, const char *name)
{
    for (size_t i = 0; i < j->n_mixed; i++)
        if (strcmp(j->override[j->opt->n_overrides + i].name, name) == 0)
            return true;
    return false;
}

/* Notes the columns that are numbers in one file and texts in another. */
static mel_status note_mixed(joining *j, const mel_table *more, mel_error *err)
{
    for (size_t c = 0; c < j->all->n_columns; c++) {
        const char *name = mel_table_column_name(j->all, c);
        if (more->column[mel_table_find(more, name)].type == j->all->column[c].type || is_mixed(j, name))
            continue;
        if (j->all->format != MEL_FORMAT_CSV)
            return mel_fail(err, MEL_EDATA, "column %s: numbers in some files, texts in others",
                            mel_quote_text(name).text);
        char *own = mel_strdup(name);
        if (own == NULL)
            return mel_fail_memory(err, "types of columns");
        /* there is room for every column of the first file */
        j->override[j->opt->n_overrides + j->n_mixed++] = (mel_column_override){ own, MEL_COLUMN_TEXT };
    }
    return MEL_OK;
}

/* --- all files ---------------------------------------------------------------------------------- */

/* What was said about a file is said about the table, with the file's name. */
static mel_status keep_notes(mel_notes *notes, const mel_notes *of, const char *file, mel_error *err)
{
    mel_status status = MEL_OK;
    for (size_t i = 0; i < of->n_warnings && status == MEL_OK; i++)
        status = mel_notes_warn(notes, err, "%s: %s", mel_quote_file(file).text, of->warning[i]);
    return status;
}

/* The first file becomes the table that the others are added to. */
static mel_status begin(joining *j, mel_table *table, mel_error *err)
{
    char *name = mel_strdup(j->pattern);
    void *override = j->override;
    const size_t room = j->opt->n_overrides + table->n_columns + 1;
    const bool enough =
        name != NULL && (j->override != NULL || mel_grow(&override, room, sizeof *j->override));
    if (!enough) {
        free(name);
        return mel_fail_memory(err, "the rows of several files");
    }
    if (j->override == NULL && j->opt->n_overrides > 0)
        memcpy(override, j->opt->overrides, j->opt->n_overrides * sizeof *j->override);
    j->override = override;
    free(table->name);
    table->name = name;
    table->first_row = 1;
    return MEL_OK;
}

static mel_status add_file(joining *j, mel_notes *notes, size_t i, const mel_read_options *opt,
                           mel_error *err)
{
    const char *file = j->files->file[i].name;
    mel_table *table = NULL;
    mel_status status = mel_read_file(&table, file, opt, err);
    if (status != MEL_OK)
        return status;
    j->start[i + 1] = j->start[i] + table->n_rows;
    status = keep_notes(notes, &table->notes, file, err);
    if (i == 0 && status == MEL_OK) {
        status = begin(j, table, err);
        j->all = table;
    } else {
        if (status == MEL_OK)
            status = check_alike(j, table, err);
        if (status == MEL_OK)
            status = note_mixed(j, table, err);
        if (status == MEL_OK)
            status = check_limits(j->all, j->start[i + 1], opt, err);
        if (status == MEL_OK && j->n_mixed == (opt->n_overrides - j->opt->n_overrides))
            status = append(j->all, table, opt, err);
        if (status != MEL_OK)
            status = mel_fail_in(err, status, "%s", mel_quote_file(file).text);
        mel_table_free(table);
    }
    return status;
}

/* How many files, rows and columns were read. */
static mel_status describe_files(mel_notes *notes, size_t files, size_t rows, size_t columns, mel_error *err)
{
    return mel_notes_how(notes, err, "%s file%s, %s rows, %s columns", mel_count_text(files).text,
                         files == 1 ? "" : "s", mel_count_text(rows).text, mel_count_text(columns).text);
}

static mel_status describe(joining *j, mel_notes *notes, mel_error *err)
{
    mel_status status = MEL_OK;
    for (size_t i = 0; i < j->n_mixed && status == MEL_OK; i++)
        status = mel_notes_warn(notes, err,
                                "column %s: numbers in some files, texts in others; treated as "
                                "categories in all of them",
                                mel_quote_text(j->override[j->opt->n_overrides + i].name).text);
    if (status == MEL_OK)
        status = mel_notes_check(notes, j->opt->strict, err);
    if (status == MEL_OK)
        status = describe_files(notes, j->files->n, j->start[j->files->n], j->all->n_columns, err);
    return status;
}

/* Reads all files once; `opt` has the types that are known by now. */
static mel_status read_once(joining *j, const mel_read_options *opt, mel_error *err)
{
    mel_notes notes = { 0 };
    const size_t known = opt->n_overrides - j->opt->n_overrides;
    mel_status status = MEL_OK;
    size_t i = 0; /* a pattern that no file has is refused before */
    do
        status = add_file(j, &notes, i++, opt, err);
    while (i < j->files->n && status == MEL_OK);
    if (status == MEL_OK && j->n_mixed == known)
        status = describe(j, &notes, err);
    if (status == MEL_OK && j->n_mixed == known) {
        const mel_notes old = j->all->notes;
        j->all->notes = notes;
        notes = old;
    }
    mel_notes_clear(&notes);
    return status;
}

static mel_status read_all(joining *j, mel_error *err)
{
    mel_read_options opt = *j->opt;
    opt.notice.call = NULL;
    mel_status status = read_once(j, &opt, err);
    if (status != MEL_OK || j->n_mixed == 0)
        return status;
    mel_table_free(j->all);
    j->all = NULL;
    opt.overrides = j->override;
    opt.n_overrides = j->opt->n_overrides + j->n_mixed;
    if (opt.overrides_found != NULL) {
        j->found = mel_alloc_zero(opt.n_overrides, sizeof *j->found);
        if (j->found == NULL)
            return mel_fail_memory(err, "types of columns");
        opt.overrides_found = j->found;
    }
    return read_once(j, &opt, err);
}

/* --- files that belong together ----------------------------------------------------------------- */

static mel_status remember(mel_shards *shards, mel_matches *files, size_t *start, mel_error *err)
{
    shards->key = mel_alloc_zero(files->n, sizeof *shards->key);
    if (shards->key == NULL)
        return mel_fail_memory(err, "the names of files");
    for (size_t i = 0; i < files->n; i++) {
        shards->key[i] = files->file[i].key;
        files->file[i].key = NULL;
    }
    shards->n = files->n;
    shards->start = start;
    return MEL_OK;
}

/* Row by row the files are about the same as those that were read before. */
static mel_status check_match(const mel_shards *shards, const mel_matches *files, const size_t *start,
                              mel_error *err)
{
    size_t i = 0;
    while (i < files->n && i < shards->n && strcmp(files->file[i].key, shards->key[i]) == 0)
        i++;
    if (i < files->n || i < shards->n) {
        const bool own =
            i == shards->n || (i < files->n && mel_key_order(files->file[i].key, shards->key[i]) < 0);
        return mel_fail(err, MEL_EDATA,
                        "files that belong together have the same text in place of the *; %s is %s only",
                        mel_quote_text(own ? files->file[i].key : shards->key[i]).text,
                        own ? "here" : "among the others");
    }
    for (i = 0; i < files->n; i++)
        if (start[i + 1] != shards->start[i + 1])
            return mel_fail(err, MEL_EDATA, "%s has %zu rows, the file that belongs to it has %zu",
                            mel_quote_file(files->file[i].name).text, start[i + 1] - start[i],
                            shards->start[i + 1] - shards->start[i]);
    return MEL_OK;
}

static mel_status match(mel_shards *shards, mel_matches *files, size_t **start, mel_error *err)
{
    if (shards == NULL)
        return MEL_OK;
    if (shards->n > 0)
        return check_match(shards, files, *start, err);
    const mel_status status = remember(shards, files, *start, err);
    if (status == MEL_OK)
        *start = NULL;
    return status;
}

static void joining_clear(joining *j)
{
    for (size_t i = 0; i < j->n_mixed; i++)
        free((char *)(uintptr_t)j->override[j->opt->n_overrides + i].name);
    free(j->override);
    free(j->found);
    free(j->start);
    mel_table_free(j->all);
}

mel_status mel_read_pattern(mel_table **out, const char *pattern, const mel_read_options *opt, mel_error *err)
{
    mel_matches files;
    mel_status status = mel_pattern_find(&files, pattern, err);
    if (status != MEL_OK)
        return status;
    joining j = { .files = &files, .pattern = pattern, .opt = opt };
    j.start = mel_alloc_zero(files.n + 1, sizeof *j.start);
    status = j.start != NULL ? read_all(&j, err) : mel_fail_memory(err, "the rows of several files");
    for (size_t i = 0; status == MEL_OK && j.found != NULL && i < opt->n_overrides; i++)
        opt->overrides_found[i] = opt->overrides_found[i] || j.found[i];
    if (status == MEL_OK) {
        status = match(opt->shards, &files, &j.start, err);
        if (status != MEL_OK)
            status = mel_fail_in(err, status, "%s", mel_quote_file(pattern).text);
    }
    if (status == MEL_OK) {
        *out = j.all;
        j.all = NULL;
    }
    joining_clear(&j);
    mel_matches_clear(&files);
    return status;
}
