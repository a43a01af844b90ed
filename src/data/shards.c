/* Files of a pattern of names, in order, and all of them as one table; rows of files that belong together,
 * matched by their names. */
#include "data/table_reader.h"

#include "base/buffer.h"
#include "base/digest.h"
#include "base/team.h"
#include "data/quote.h"

#include <assert.h>
#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* --- files of a pattern, in one order ---------------------------------------------------------------- */

bool mel_is_pattern(const char *path)
{
    struct stat info;
    return strpbrk(path, "*?[") != NULL && stat(path, &info) != 0;
}

void mel_matches_clear(mel_matches *matches)
{
    for (size_t i = 0; i < matches->n; i++) {
        free(matches->file[i].name);
        free(matches->file[i].key);
    }
    free(matches->file);
    *matches = (mel_matches){ 0 };
}

int mel_key_order(const char *a, const char *b)
{
    static const char digits[] = "0123456789";
    const char *x = a, *y = b;
    while (*x != '\0' && *y != '\0') {
        size_t m = strspn(x, digits), n = strspn(y, digits);
        if (m == 0 || n == 0) {
            if (*x != *y)
                break;
            x++;
            y++;
            continue;
        }
        for (; m > 1 && *x == '0'; m--)
            x++;
        for (; n > 1 && *y == '0'; n--)
            y++;
        const int order = m != n ? (m < n ? -1 : 1) : strncmp(x, y, n);
        if (order != 0)
            return order;
        x += m;
        y += n;
    }
    const int order = strcmp(x, y);
    return order != 0 ? order : strcmp(a, b);
}

static int by_key(const void *a, const void *b)
{
    return mel_key_order(((const mel_matched *)a)->key, ((const mel_matched *)b)->key);
}

/* What the only * stands for, for free(). */
static char *key_of(const char *name, const char *pattern)
{
    const char *star = strpbrk(pattern, "*?[");
    const bool only = *star == '*' && strpbrk(star + 1, "*?[") == NULL;
    char *key = mel_strdup(only ? name + (star - pattern) : name);
    if (key != NULL && only)
        key[strlen(key) - strlen(star + 1)] = '\0';
    return key;
}

static mel_status take_matches(mel_matches *out, const glob_t *found, const char *pattern, mel_error *err)
{
    TRY(MEL_NEED(out->file = mel_alloc_zero(found->gl_pathc, sizeof *out->file), "the names of files", err));
    for (out->n = 0; out->n < found->gl_pathc; out->n++) {
        mel_matched *file = &out->file[out->n];
        file->name = mel_strdup(found->gl_pathv[out->n]);
        file->key = key_of(found->gl_pathv[out->n], pattern);
        if (file->name == NULL || file->key == NULL) {
            out->n++;
            return mel_fail_memory(err, "the names of files");
        }
    }
    qsort(out->file, out->n, sizeof *out->file, by_key); /* not by the locale, as glob() sorts */
    return MEL_OK;
}

static mel_status find_files(mel_matches *out, const char *pattern, mel_error *err)
{
    *out = (mel_matches){ 0 };
    glob_t found;
    const int code = glob(pattern, GLOB_NOSORT | GLOB_NOESCAPE | GLOB_ERR, NULL, &found);
    mel_status status;
    if (code == GLOB_NOMATCH)
        status = mel_fail(err, MEL_EDATA, "%s: no file matches", mel_quote_file(pattern).text);
    else if (code == GLOB_NOSPACE)
        status = mel_fail_memory(err, "the names of files");
    else if (code != 0)
        status = mel_fail(err, MEL_EIO, "%s: a folder cannot be read: %s", mel_quote_file(pattern).text,
                          strerror(errno));
    else
        status = take_matches(out, &found, pattern, err);
    if (code == 0)
        globfree(&found);
    if (status != MEL_OK)
        mel_matches_clear(out);
    return status;
}

static void digest_names(char digest[MEL_DIGEST_HEX], const mel_matches *files)
{
    mel_buffer names;
    mel_buffer_init(&names, SIZE_MAX / 2);
    for (size_t i = 0; i < files->n; i++)
        mel_buffer_add(&names, files->file[i].name, strlen(files->file[i].name) + 1);
    mel_digest(names.data, names.size, digest);
    mel_buffer_free(&names);
}

/* Ranks read the same files: one that a rank does not see would be another one for it. */
static mel_status check_seen_by_all(const mel_matches *files, const char *pattern, mel_error *err)
{
    const mel_team *team = mel_team_get();
    if (team->size == 1)
        return MEL_OK;
    MEL_AUTO_MEMORY char(*all)[MEL_DIGEST_HEX] = mel_alloc_zero(team->size, sizeof *all);
    TRY(MEL_NEED(all, "the names of files", err));
    digest_names(all[team->rank], files);
    mel_team_gather(all, team->size, sizeof *all);
    for (size_t r = 1; r < team->size; r++)
        if (memcmp(all[r], all[0], sizeof *all) != 0)
            return mel_fail(err, MEL_EDATA, "%s: ranks 0 and %zu do not see the same files",
                            mel_quote_file(pattern).text, r);
    return MEL_OK;
}

mel_status mel_pattern_find(mel_matches *out, const char *pattern, mel_error *err)
{
    TRY(find_files(out, pattern, err));
    const mel_status status = check_seen_by_all(out, pattern, err);
    if (status != MEL_OK)
        mel_matches_clear(out);
    return status;
}

static mel_status check_together(const mel_matches *a, const mel_matches *b, mel_error *err)
{
    size_t i = 0;
    while (i < a->n && i < b->n && strcmp(a->file[i].key, b->file[i].key) == 0)
        i++;
    if (i == a->n && i == b->n)
        return MEL_OK;
    const bool first = i == b->n || (i < a->n && mel_key_order(a->file[i].key, b->file[i].key) < 0);
    return mel_fail(err, MEL_EDATA,
                    "files that belong together have the same text in place of the *; %s has no other one",
                    mel_quote_file((first ? a : b)->file[i].name).text);
}

mel_status mel_patterns_find(mel_matches *out, size_t n, const char *const *pattern, mel_error *err)
{
    for (size_t p = 0; p < n; p++)
        if (pattern[p] != NULL)
            TRY(mel_is_pattern(pattern[p])
                    ? mel_pattern_find(&out[p], pattern[p], err)
                    : mel_fail(err, MEL_EINVAL, "%s is one file, %s are several", pattern[p], pattern[0]));
    for (size_t p = 1; p < n; p++) {
        const mel_status status = pattern[p] != NULL ? check_together(&out[0], &out[p], err) : MEL_OK;
        if (status != MEL_OK)
            return mel_fail_in(err, status, "%s and %s", pattern[0], pattern[p]);
    }
    return MEL_OK;
}

bool mel_pattern_is_files(const char *pattern)
{
    MEL_AUTO_CLEAR(mel_matches) files = { 0 };
    bool all = find_files(&files, pattern, NULL) == MEL_OK;
    struct stat info;
    for (size_t i = 0; i < files.n; i++)
        all = all && stat(files.file[i].name, &info) == 0 && S_ISREG(info.st_mode);
    return all;
}

mel_status mel_digest_path(char digest[MEL_DIGEST_HEX], const char *path, mel_error *err)
{
    if (!mel_is_pattern(path))
        return mel_digest_file(digest, path, err);
    MEL_AUTO_CLEAR(mel_matches) files = { 0 };
    TRY(find_files(&files, path, err));
    MEL_AUTO_MEMORY char(*each)[MEL_DIGEST_HEX] = mel_alloc(files.n, sizeof *each);
    TRY(MEL_NEED(each, "the digests of files", err));
    for (size_t i = 0; i < files.n; i++)
        TRY(mel_digest_file(each[i], files.file[i].name, err));
    mel_digest(each, files.n * sizeof *each, digest);
    return MEL_OK;
}

/* --- one table of several files ---------------------------------------------------------------------- */

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

/* n more items behind those that there are. */
#define APPEND(to, had, from, n)                                                                             \
    (MEL_GROW(to, (had) + (n)) && (memcpy((to) + (had), from, (n) * sizeof *(to)), true))

/* Codes of the file's own texts become those of all texts. */
static mel_status append_codes(mel_column *to, const mel_column *from, size_t had, size_t n, size_t most,
                               mel_error *err)
{
    MEL_ARRAY(uint32_t, code, from->dict->n, "the rows of several files", err);
    TRY(MEL_NEED(APPEND(to->codes, had, from->codes, n), "the rows of several files", err));
    for (size_t c = 0; c < from->dict->n; c++) {
        code[c] = mel_dict_add(to->dict, mel_dict_text(from->dict, c), mel_dict_length(from->dict, c),
                               from->dict->hash[c]);
        TRY(MEL_NEED(code[c] != MEL_MISSING, "the texts of several files", err));
        if (to->dict->n > most)
            return mel_fail(err, MEL_ELIMIT,
                            "more than %zu different texts in one column (%s is one too many)", most,
                            mel_quote_text(mel_dict_text(from->dict, c)).text);
    }
    for (size_t i = had; i < had + n; i++)
        to->codes[i] = to->codes[i] == MEL_MISSING ? MEL_MISSING : code[to->codes[i]];
    return MEL_OK;
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
    return MEL_NEED(APPEND(to->numbers, had, from->numbers, n), "the rows of several files", err);
}

static bool append_sparse(mel_sparse *to, const mel_sparse *from, size_t had, size_t n)
{
    const size_t before = to->row_start[had], more = from->row_start[n];
    const bool enough = APPEND(to->row_start, had + 1, from->row_start + 1, n) &&
                        APPEND(to->col, before, from->col, more) &&
                        APPEND(to->value, before, from->value, more);
    for (size_t i = had + 1; i <= had + n && enough; i++)
        to->row_start[i] += before;
    to->n_features = to->n_features > from->n_features ? to->n_features : from->n_features;
    return enough;
}

/* n: rows so far. */
static mel_status check_joined_limits(const mel_table *all, size_t n, const mel_read_options *opt,
                                      mel_error *err)
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
static mel_status append_table(mel_table *all, const mel_table *more, const mel_read_options *opt,
                               mel_error *err)
{
    for (size_t c = 0; c < all->n_columns; c++) {
        const size_t at = mel_table_find(more, mel_table_column_name(all, c));
        TRY(append_column(&all->column[c], &more->column[at], all->n_rows, more->n_rows, opt->max_categories,
                          err));
    }
    if (all->is_sparse && !append_sparse(&all->sparse, &more->sparse, all->n_rows, more->n_rows))
        return mel_fail_memory(err, "the rows of several files");
    if (all->row_name != NULL && more->row_name != NULL)
        TRY(MEL_NEED(APPEND(all->row_name, all->n_rows, more->row_name, more->n_rows), "the names of rows",
                     err));
    if (more->row_name == NULL && more->n_rows > 0) {
        free(all->row_name);
        all->row_name = NULL;
    }
    all->n_rows += more->n_rows;
    return MEL_OK;
}

/* --- what does not fit together ----------------------------------------------------------------- */

static mel_status check_alike(const joining *j, const mel_table *more, mel_error *err)
{
    const mel_table *all = j->all;
    const char *first = j->files->file[0].name;
    if (more->format != all->format || more->is_sparse != all->is_sparse || more->matrix != all->matrix)
        return mel_fail(err, MEL_EDATA, "another kind of file than %s", mel_quote_file(first).text);
    if (more->has_header != all->has_header)
        return mel_fail(err, MEL_EDATA, "%s a header, and %s %s; header=yes or no says it for all files",
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
        TRY(MEL_NEED(own, "types of columns", err));
        /* there is room for every column of the first file */
        j->override[j->opt->n_overrides + j->n_mixed++] = (mel_column_override){ own, MEL_COLUMN_TEXT };
    }
    return MEL_OK;
}

/* --- all files ---------------------------------------------------------------------------------- */

/* The first file becomes the table that the others are added to. */
static mel_status begin(joining *j, mel_table *table, mel_error *err)
{
    const size_t given = j->opt->n_overrides;
    if (j->override == NULL) {
        TRY(MEL_NEED(MEL_GROW(j->override, given + table->n_columns + 1), "the rows of several files", err));
        if (given > 0)
            memcpy(j->override, j->opt->overrides, given * sizeof *j->override);
    }
    free(table->name);
    TRY(MEL_NEED(table->name = mel_strdup(j->pattern), "the rows of several files", err));
    table->first_row = 1;
    return MEL_OK;
}

/* With it there are n rows. */
static mel_status join_table(joining *j, const mel_table *more, size_t n, const mel_read_options *opt,
                             mel_error *err)
{
    TRY(check_alike(j, more, err));
    TRY(note_mixed(j, more, err));
    TRY(check_joined_limits(j->all, n, opt, err));
    return j->n_mixed == opt->n_overrides - j->opt->n_overrides ? append_table(j->all, more, opt, err)
                                                                : MEL_OK;
}

/* The first file becomes the table that the others are added to. What was said about a file is said about the
 * table, with the file's name. */
static mel_status add_file(joining *j, mel_notes *notes, size_t i, const mel_read_options *opt,
                           mel_error *err)
{
    const char *file = j->files->file[i].name;
    MEL_AUTO(mel_table) *table = NULL;
    TRY(mel_read_file(&table, file, opt, err));
    j->start[i + 1] = j->start[i] + table->n_rows;
    for (size_t w = 0; w < table->notes.n_warnings; w++)
        TRY(mel_notes_warn(notes, err, "%s: %s", mel_quote_file(file).text, table->notes.warning[w]));
    if (i == 0) {
        TRY(begin(j, table, err));
        j->all = table;
        table = NULL;
        return MEL_OK;
    }
    const mel_status status = join_table(j, table, j->start[i + 1], opt, err);
    return status == MEL_OK ? MEL_OK : mel_fail_in(err, status, "%s", mel_quote_file(file).text);
}

static mel_status describe_files(const joining *j, mel_notes *notes, mel_error *err)
{
    const size_t n = j->files->n;
    for (size_t i = 0; i < j->n_mixed; i++)
        TRY(mel_notes_warn(notes, err,
                           "column %s: numbers in some files, texts in others; treated as "
                           "categories in all of them",
                           mel_quote_text(j->override[j->opt->n_overrides + i].name).text));
    TRY(mel_notes_check(notes, j->opt->strict, err));
    return mel_notes_how(notes, err, "%s file%s, %s rows, %s columns", mel_count_text(n).text,
                         n == 1 ? "" : "s", mel_count_text(j->start[n]).text,
                         mel_count_text(j->all->n_columns).text);
}

/* Reads all files once; `opt` has the types that are known by now. */
static mel_status read_once(joining *j, const mel_read_options *opt, mel_error *err)
{
    MEL_AUTO_CLEAR(mel_notes) notes = { 0 };
    const size_t known = opt->n_overrides - j->opt->n_overrides;
    for (size_t i = 0; i < j->files->n; i++) /* a pattern that no file has is refused before */
        TRY(add_file(j, &notes, i, opt, err));
    assert(j->all != NULL);
    if (j->n_mixed > known)
        return MEL_OK;
    TRY(describe_files(j, &notes, err));
    const mel_notes old = j->all->notes;
    j->all->notes = notes;
    notes = old;
    return MEL_OK;
}

static mel_status read_all(joining *j, mel_error *err)
{
    mel_read_options opt = *j->opt;
    opt.notice.call = NULL;
    TRY(read_once(j, &opt, err));
    if (j->n_mixed == 0)
        return MEL_OK;
    mel_table_free(j->all);
    j->all = NULL;
    opt.overrides = j->override;
    opt.n_overrides = j->opt->n_overrides + j->n_mixed;
    if (opt.overrides_found != NULL) {
        TRY(MEL_NEED(j->found = mel_alloc_zero(opt.n_overrides, sizeof *j->found), "types of columns", err));
        opt.overrides_found = j->found;
    }
    return read_once(j, &opt, err);
}

/* --- files that belong together ----------------------------------------------------------------- */

static mel_status remember_files(mel_shards *shards, mel_matches *files, size_t *start, mel_error *err)
{
    TRY(MEL_NEED(shards->key = mel_alloc_zero(files->n, sizeof *shards->key), "the names of files", err));
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

static mel_status match_files(mel_shards *shards, mel_matches *files, size_t **start, mel_error *err)
{
    if (shards == NULL)
        return MEL_OK;
    if (shards->n > 0)
        return check_match(shards, files, *start, err);
    TRY(remember_files(shards, files, *start, err));
    *start = NULL;
    return MEL_OK;
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
    MEL_AUTO_CLEAR(mel_matches) files = { 0 };
    TRY(mel_pattern_find(&files, pattern, err));
    MEL_AUTO_CLEAR(joining) j = { .files = &files, .pattern = pattern, .opt = opt };
    TRY(MEL_NEED(j.start = mel_alloc_zero(files.n + 1, sizeof *j.start), "the rows of several files", err));
    TRY(read_all(&j, err));
    for (size_t i = 0; j.found != NULL && i < opt->n_overrides; i++)
        opt->overrides_found[i] = opt->overrides_found[i] || j.found[i];
    const mel_status status = match_files(opt->shards, &files, &j.start, err);
    if (status != MEL_OK)
        return mel_fail_in(err, status, "%s", mel_quote_file(pattern).text);
    *out = j.all;
    j.all = NULL;
    return MEL_OK;
}

/* --- rows of files that belong together, by their names ---------------------------------------------- */

uint64_t mel_row_name(const char *text, size_t n)
{
    static const unsigned char key[crypto_shorthash_KEYBYTES] = { 0 };
    unsigned char bytes[crypto_shorthash_BYTES];
    uint64_t hash;
    crypto_shorthash(bytes, (const unsigned char *)text, n, key);
    memcpy(&hash, bytes, sizeof hash);
    return hash;
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
static mel_status find_named_rows(size_t *rows, const named_row *here, const named_row *there, size_t n,
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
    TRY(mel_table_take(&taken, old, rows, old->n_rows, err));
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
    MEL_ARRAY(named_row, here, 2 * n, "the names of rows", err);
    MEL_ARRAY(size_t, rows, n, "the names of rows", err);
    sort_names(here, name, n);
    sort_names(here + n, shards->row_name, n);
    TRY(find_named_rows(rows, here, here + n, n, *table, shards->named_by, err));
    return reorder_rows(table, rows, shards->named_by, err);
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

/* name: of all rows, or NULL; becomes the first names, or stays the caller's. */
static mel_status match_rows(mel_table **table, uint64_t **name, mel_shards *shards, size_t n_files,
                             const char *path, mel_error *err)
{
    const bool first = shards->first == NULL, named = *name != NULL;
    if (first) {
        shards->first = mel_strdup(path);
        shards->first_files = n_files;
        TRY(MEL_NEED(shards->first, "the name of a file", err));
    } else if (!named || shards->row_name == NULL)
        TRY(check_one_beside_many(shards, n_files, err));
    if (!named || shards->row_name != NULL)
        return named ? match_names(table, *name, shards, err) : MEL_OK;
    shards->named_by = mel_strdup(path);
    shards->n_named = (*table)->n_rows;
    shards->row_name = *name;
    *name = NULL;
    return shards->named_by != NULL ? MEL_OK : mel_fail_memory(err, "the name of a file");
}

mel_status mel_match_rows(mel_table **table, mel_shards *shards, size_t n_files, const char *path,
                          mel_error *err)
{
    if (shards == NULL)
        return MEL_OK;
    MEL_AUTO_MEMORY uint64_t *name = (*table)->row_name;
    (*table)->row_name = NULL;
    const mel_status status = match_rows(table, &name, shards, n_files, path, err);
    return status == MEL_OK ? MEL_OK : mel_fail_in(err, status, "%s", mel_quote_file(path).text);
}
