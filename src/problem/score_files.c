/* Counted scores in files: JSON, exact; and those of many files of rows. */
#include "base/file.h"
#include "base/json.h"
#include "base/team.h"
#include "data/json_members.h"
#include "data/quote.h"
#include "data/shared.h"
#include "data/source.h"
#include "problem/names.h"
#include "problem/problem.h"
#include "problem/score_counts.h"
#include "problem/shared.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char format_name[] = "melicit-moments", kind[] = "scores";
enum { VERSION = 1 };
/* What of a cell is in which list. */
enum { CELL, GROUP, FIRST, SECOND, LISTS };
static const char *const lists[LISTS] = { "cell", "group", "first", "second" };

static double number_of(const mel_count_cell *cell, size_t list)
{
    return list == CELL ? (double)(cell->key % MEL_SCORE_PLACES) - 1.0 /* the first place is before cell 0 */
                        : (double)(list == GROUP ? cell->key / MEL_SCORE_PLACES : cell->rows[list - FIRST]);
}

static json_t *list_json(const mel_score_counts *c, size_t list)
{
    json_t *all = json_array();
    bool whole = all != NULL;
    for (size_t i = 0; i < c->n && whole; i++)
        whole = mel_json_add(all, json_integer((json_int_t)number_of(&c->cell[i], list)));
    return mel_json_if(whole, all);
}

static json_t *counts_json(const mel_score_counts *c)
{
    json_t *json = json_pack("{s:s, s:i, s:s, s:i, s:o, s:o, s:o}", "format", format_name, "version", VERSION,
                             "kind", kind, "cells", MEL_SCORE_CELLS, "classes",
                             mel_json_texts(2, (const char *const *)c->class_name), "groups",
                             mel_json_texts(c->n_groups, (const char *const *)c->group_name), "files",
                             mel_json_texts(c->n_files, (const char *const *)c->file));
    bool whole = json != NULL;
    for (size_t l = 0; l < LISTS && whole; l++)
        whole = mel_json_put(json, lists[l], list_json(c, l));
    return mel_json_if(whole, json);
}

mel_status mel_score_counts_save(const mel_score_counts *c, const char *path, mel_error *err)
{
    char *text = NULL;
    mel_status status = mel_json_file_text(&text, counts_json(c), "counts", err);
    if (status == MEL_OK)
        status = mel_file_replace(path, text, strlen(text), err);
    free(text);
    return status;
}

/* --- reading ------------------------------------------------------------------------------------ */

/* How much a whole number is above `least`, which is below `end`; false: it is none. */
static bool whole_of(uint64_t *out, const json_t *list, size_t i, json_int_t least, double end)
{
    const json_t *value = json_array_get(list, i);
    const bool fits = json_is_integer(value) && json_integer_value(value) >= least;
    *out = fits ? (uint64_t)(json_integer_value(value) - least) : 0;
    return fits && (double)*out < end;
}

static bool read_cell(mel_count_cell *cell, const json_t *json, size_t i, size_t n_groups)
{
    const double most = 9007199254740992.0; /* 2^53: what a double can count to */
    uint64_t value[LISTS];
    const double end[LISTS] = { MEL_SCORE_PLACES, n_groups > 0 ? (double)n_groups : 1.0, most, most };
    for (size_t l = 0; l < LISTS; l++)
        if (!whole_of(&value[l], json_object_get(json, lists[l]), i, l == CELL ? -1 : 0, end[l]))
            return false;
    *cell =
        (mel_count_cell){ value[GROUP] * MEL_SCORE_PLACES + value[CELL], { value[FIRST], value[SECOND] } };
    return value[FIRST] + value[SECOND] > 0;
}

static mel_status read_cells(mel_score_counts *c, const json_t *json, mel_error *err)
{
    const size_t n = json_array_size(json_object_get(json, lists[CELL]));
    for (size_t l = 0; l < LISTS; l++)
        if (json_array_size(json_object_get(json, lists[l])) != n || n == 0)
            return mel_fail(err, MEL_EDATA, "expected as many numbers in each of cell, group, first, second");
    c->cell = mel_alloc(n, sizeof *c->cell);
    if (c->cell == NULL)
        return mel_fail_memory(err, "scores");
    for (size_t i = 0; i < n; i++) {
        if (!read_cell(&c->cell[i], json, i, c->n_groups) || (i > 0 && c->cell[i].key <= c->cell[i - 1].key))
            return mel_fail(err, MEL_EDATA, "number %zu of the lists: no cell that follows the one before",
                            i + 1);
        c->n++;
    }
    return MEL_OK;
}

static mel_status read_counts(mel_score_counts **out, const json_t *json, mel_error *err)
{
    static const char *const keys[] = { "format", "version", "kind",  "cells", "classes", "groups",
                                        "files",  "cell",    "group", "first", "second",  NULL };
    const char *format = json_string_value(json_object_get(json, "format")),
               *is = json_string_value(json_object_get(json, "kind"));
    if (format == NULL || strcmp(format, format_name) != 0 || is == NULL || strcmp(is, kind) != 0)
        return mel_fail(err, MEL_EDATA, "these are no counts of scores; melicit moments --probs makes them");
    mel_status status = mel_json_members(json, keys, err);
    if (status != MEL_OK)
        return status;
    if (json_integer_value(json_object_get(json, "version")) != VERSION ||
        json_integer_value(json_object_get(json, "cells")) != MEL_SCORE_CELLS)
        return mel_fail(err, MEL_EDATA, "expected version %d with %d cells", VERSION, MEL_SCORE_CELLS);
    size_t k = 0, m = 0, n = 0;
    const char **name = mel_json_names(&k, json_object_get(json, "classes")),
               **group = mel_json_names(&m, json_object_get(json, "groups")),
               **file = mel_json_names(&n, json_object_get(json, "files"));
    if (name == NULL || group == NULL || file == NULL || k != 2 || n == 0)
        status = mel_fail(err, MEL_EDATA, "expected the names of two classes, of groups and of files");
    else if ((*out = mel_score_counts_new(name, m, group)) == NULL)
        status = mel_fail_memory(err, "scores");
    for (size_t i = 0; file != NULL && i < n && status == MEL_OK; i++)
        status = mel_score_counts_add_file(*out, file[i], err);
    free(name);
    free(group);
    free(file);
    return status == MEL_OK ? read_cells(*out, json, err) : status;
}

static mel_status parse_counts(mel_score_counts **out, const char *bytes, size_t n, mel_error *err)
{
    json_t *json = NULL;
    *out = NULL;
    mel_status status = mel_json_parse(&json, bytes, n, err);
    if (status == MEL_OK)
        status = read_counts(out, json, err);
    json_decref(json);
    if (status != MEL_OK) {
        mel_score_counts_free(*out);
        *out = NULL;
    }
    return status;
}

mel_status mel_score_counts_load(mel_score_counts **out, const char *path, mel_error *err)
{
    static const uint64_t max_bytes = (uint64_t)1 << 31;
    *out = NULL;
    mel_source *source = NULL;
    char *bytes = NULL;
    size_t n = 0;
    mel_status status = mel_source_open(&source, path, max_bytes, err);
    if (status == MEL_OK) {
        status = mel_source_all(&bytes, &n, source, 1, err);
        mel_source_free(source);
    }
    if (status == MEL_OK)
        status = parse_counts(out, bytes, n, err);
    free(bytes);
    return status == MEL_OK ? MEL_OK : mel_fail_in(err, status, "%s", mel_quote_file(path).text);
}

bool mel_score_counts_is(const char *path)
{
    char start[200] = "";
    FILE *file = fopen(path, "rbe");
    if (file == NULL)
        return false;
    const size_t n = fread(start, 1, sizeof start - 1, file);
    start[n] = '\0';
    (void)fclose(file);
    return strstr(start, "\"kind\": \"scores\"") != NULL;
}

/* --- of many files of rows ---------------------------------------------------------------------- */

/* Moves `more` into *all, which may be NULL before. */
static mel_status add_counts(mel_score_counts **all, mel_score_counts *more, mel_error *err)
{
    mel_score_counts *both = more;
    const mel_status status = *all != NULL ? mel_score_counts_merge(&both, *all, more, err) : MEL_OK;
    if (*all != NULL)
        mel_score_counts_free(more);
    if (status == MEL_OK) {
        mel_score_counts_free(*all);
        *all = both;
    }
    return status;
}

enum { PROBS, LABELS, GROUPS, FILES };

/* One file of probabilities with its labels and groups. */
static mel_status count_file(mel_score_counts **all, const mel_problem_options *opt, mel_error *err)
{
    const mel_problem_want want = { .rows = true, .grouped = opt->groups != NULL, .whom = "such" };
    mel_problem *p = NULL;
    mel_score_counts *one = NULL;
    mel_problem_options rows_of = *opt;
    rows_of.count_scores = rows_of.smooth = false; /* those of the face */
    mel_status status = mel_problem_make(&p, &rows_of, &want, err);
    if (status == MEL_OK && p->n_classes != 2)
        status = mel_fail(err, MEL_EDATA, "%s has %zu classes: scores are counted of two", opt->probs,
                          p->n_classes);
    if (status == MEL_OK) {
        const mel_counted_rows rows = { .n = p->n_rows,
                                        .probability = p->probability,
                                        .label = p->label,
                                        .class_name = p->class_name,
                                        .n_groups = p->n_groups,
                                        .group = p->group,
                                        .group_name = p->group_name };
        status = mel_score_counts_take(&one, &rows, opt->probs, err);
    }
    mel_problem_free(p);
    return status == MEL_OK ? add_counts(all, one, err) : status;
}

/* The counts of a rank, which are these n bytes of its, are added to those of the ranks before it. */
static mel_status add_rank(mel_score_counts **all, size_t *sizes, const char *bytes, size_t n, mel_error *err)
{
    char *of_rank = mel_team_collect(sizes, bytes, n);
    mel_score_counts *counts = NULL;
    if (of_rank == NULL)
        return mel_fail_memory(err, "the scores of other ranks");
    size_t total = 0;
    for (size_t r = 0; r < mel_team_get()->size; r++)
        total += sizes[r];
    mel_status status = total > 0 ? mel_score_counts_unpack(&counts, of_rank, err) : MEL_OK;
    free(of_rank);
    return counts != NULL ? add_counts(all, counts, err) : status;
}

/* Everybody gets the counts of all ranks, those of one after the other. */
static mel_status exchange(mel_score_counts **all, mel_error *err)
{
    const mel_team *team = mel_team_get();
    if (team->size == 1)
        return MEL_OK;
    char *own = NULL;
    size_t n = 0, *sizes = mel_alloc_zero(team->size, sizeof *sizes);
    mel_status status = sizes != NULL ? MEL_OK : mel_fail_memory(err, "the scores of other ranks");
    if (status == MEL_OK && *all != NULL)
        status = mel_score_counts_pack(&own, &n, *all, err);
    mel_score_counts_free(*all);
    *all = NULL;
    for (size_t r = 0; r < team->size && status == MEL_OK; r++)
        status = add_rank(all, sizes, own, r == team->rank ? n : 0, err);
    free(sizes);
    free(own);
    return status;
}

/* Of a rank's own files. Before what reading each of them has to say is how many bytes that is; *last: the
 * file that it ended with. */
static mel_status count_own(mel_score_counts **out, size_t *last, mel_kept_notices *kept,
                            const mel_problem_options *opt, const mel_matches *files, mel_error *err)
{
    const mel_team *team = mel_team_get();
    mel_problem_options one = *opt;
    mel_status status = MEL_OK;
    one.resources.notice = mel_notice_to_keep(kept);
    one.resources.formats = opt->resources.formats != NULL ? &kept->formats : NULL;
    for (size_t i = team->rank; i < files[PROBS].n && status == MEL_OK; i += team->size) {
        const size_t begin = kept->n, none = 0;
        one.probs = files[PROBS].file[i].name;
        one.labels = files[LABELS].file[i].name;
        one.groups = opt->groups != NULL ? files[GROUPS].file[i].name : NULL;
        *last = i;
        mel_kept_notices_add(kept, &none, sizeof none);
        status = count_file(out, &one, err);
        if (kept->lost)
            return mel_fail_memory(err, "warnings");
        const size_t told = kept->n - begin - sizeof told;
        memcpy(kept->bytes + begin, &told, sizeof told);
    }
    return status;
}

/* What reading files up to the last has to say, whoever read them, in their order. */
static mel_status say_in_order(size_t last, const mel_kept_notices *kept, const mel_notice *notice,
                               mel_error *err)
{
    const size_t ranks = mel_team_get()->size;
    size_t *sizes = mel_alloc_zero(2 * ranks, sizeof *sizes), *at = sizes + ranks;
    char *told = sizes != NULL ? mel_team_collect(sizes, kept->bytes, kept->n) : NULL;
    if (told == NULL) {
        free(sizes);
        return mel_fail_memory(err, "warnings");
    }
    for (size_t r = 1; r < ranks; r++)
        at[r] = at[r - 1] + sizes[r - 1];
    for (size_t i = 0; i <= last; i++) {
        size_t n, *next = &at[i % ranks];
        memcpy(&n, told + *next, sizeof n);
        mel_kept_notices_say(told + *next + sizeof n, n, notice);
        *next += sizeof n + n;
    }
    free(told);
    free(sizes);
    return MEL_OK;
}

static mel_status count_files(mel_score_counts **out, const mel_problem_options *opt,
                              const mel_matches *files, mel_error *err)
{
    mel_kept_notices kept = { 0 };
    size_t last = SIZE_MAX;
    mel_status status = count_own(out, &last, &kept, opt, files, err);
    status = mel_team_agree(&last, status, err);
    if (status == MEL_OK)
        status = say_in_order(files[PROBS].n - 1, &kept, &opt->resources.notice, err);
    else if (status != MEL_ENOMEM) /* for which some of it may be lost */
        (void)say_in_order(last, &kept, &opt->resources.notice, NULL);
    mel_kept_notices_clear(&kept);
    return status;
}

mel_status mel_score_counts_of_files(mel_score_counts **out, const mel_problem_options *opt, mel_error *err)
{
    *out = NULL;
    mel_matches files[FILES] = { { 0 } };
    const char *const given[FILES] = { opt->probs, opt->labels, opt->groups };
    if (!mel_is_pattern(opt->probs))
        return count_file(out, opt, err);
    mel_status status = mel_patterns_find(files, FILES, given, err);
    if (status == MEL_OK)
        status = count_files(out, opt, files, err);
    if (status == MEL_OK)
        status = exchange(out, err);
    for (size_t f = 0; f < FILES; f++)
        mel_matches_clear(&files[f]);
    if (status != MEL_OK) {
        mel_score_counts_free(*out);
        *out = NULL;
    }
    return status;
}
