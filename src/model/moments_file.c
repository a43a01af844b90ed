/* Moments in files: JSON, exact. */
#include "base/buffer.h"
#include "base/file.h"
#include "base/json.h"
#include "data/json_members.h"
#include "data/quote.h"
#include "data/source.h"
#include "model/moments.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char format_name[] = "melicit-moments";
enum { VERSION = 1 };

static json_t *part_json(const mel_moments *m, const mel_moments_part *part)
{
    json_t *json = json_pack("{s:s, s:I, s:f}", "file", part->file, "rows", (json_int_t)part->n_rows,
                             "weight", part->weight);
    bool whole = json != NULL;
    if (whole && m->kind == MEL_MOMENTS_DECISIONS)
        whole = mel_json_put(json, "groups",
                             mel_json_texts(part->n_groups, (const char *const *)part->group_name));
    whole = whole && mel_json_put(json, "sums", mel_json_numbers(mel_moments_numbers(m, part), part->sum));
    return mel_json_if(whole, json);
}

static json_t *moments_json(const mel_moments *m)
{
    const mel_moments_words *words = &mel_moments_kinds[m->kind];
    json_t *files = json_array(),
           *classes = m->class_name != NULL ? mel_json_texts(m->n_classes, (const char *const *)m->class_name)
                                            : json_integer((json_int_t)m->n_classes);
    bool whole = files != NULL;
    for (size_t i = 0; i < m->n && whole; i++)
        whole = mel_json_add(files, part_json(m, &m->part[i]));
    return json_pack("{s:s, s:i, s:s, s:o, s:I, s:s, s:o}", "format", format_name, "version", VERSION, "kind",
                     words->name, "classes", classes, words->columns, (json_int_t)m->n_columns, "at", m->at,
                     "files", mel_json_if(whole, files));
}

mel_status mel_moments_save(const mel_moments *m, const char *path, mel_error *err)
{
    char *text = NULL;
    mel_status status = mel_json_file_text(&text, moments_json(m), "moments", err);
    if (status == MEL_OK)
        status = mel_file_replace(path, text, strlen(text), err);
    free(text);
    return status;
}

/* --- reading ------------------------------------------------------------------------------------ */

static mel_status read_sums(double *sum, size_t n, const json_t *sums, mel_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const json_t *number = json_array_get(sums, i);
        if (!json_is_number(number))
            return mel_fail(err, MEL_EDATA, "sums[%zu]: not a number", i);
        sum[i] = json_number_value(number);
    }
    return MEL_OK;
}

/* How many rows there are, as the sums tell; NaN where a number of rows is below 0. */
static double counted_rows(const mel_moments *m, const mel_moments_part *part)
{
    const bool decisions = m->kind == MEL_MOMENTS_DECISIONS;
    const size_t n = mel_moments_numbers(m, part), k = m->n_classes, d = m->n_columns;
    double rows = 0.0;
    for (size_t i = 0; i < (decisions ? n : k * d); i++) {
        const bool counts = decisions ? i / (k * d) % 2 == 0 : i % d == 0; /* by labels; of each class */
        if (part->sum[i] < 0.0)
            return NAN;
        rows += counts ? part->sum[i] : 0.0;
    }
    return rows;
}

/* The numbers of a file: rows and their weight, and as many sums as there must be. */
static mel_status fill_part(mel_moments *m, mel_moments_part *part, const json_t *json, mel_error *err)
{
    const json_t *sums = json_object_get(json, "sums");
    const size_t n = mel_moments_numbers(m, part);
    part->weight = json_number_value(json_object_get(json, "weight"));
    if (part->n_rows == 0 || !(part->weight > 0.0 && isfinite(part->weight)) || json_array_size(sums) != n)
        return mel_fail(err, MEL_EDATA, "files: expected \"rows\", \"weight\" and %zu \"sums\"", n);
    const mel_status status = read_sums(part->sum, n, sums, err);
    if (status != MEL_OK || m->kind == MEL_MOMENTS_TRAINING)
        return status;
    static const double rounding = 1e-6; /* shares of mixtures */
    const double rows = (double)part->n_rows;
    return part->weight == rows && fabs(counted_rows(m, part) - rows) <= rounding * rows
               ? MEL_OK
               : mel_fail(err, MEL_EDATA, "%s: the sums are not those of %zu rows",
                          mel_quote_file(part->file).text, part->n_rows);
}

static mel_status read_part(mel_moments *m, const json_t *json, mel_error *err)
{
    static const char *const keys[] = { "groups", "file", "rows", "weight", "sums", NULL };
    const bool grouped = m->kind == MEL_MOMENTS_DECISIONS;
    mel_status status = mel_json_members(json, grouped ? keys : keys + 1, err);
    if (status != MEL_OK)
        return status;
    const json_int_t rows = json_integer_value(json_object_get(json, "rows"));
    const char *file = json_string_value(json_object_get(json, "file"));
    size_t n_groups = 0;
    const char **group = mel_json_names(&n_groups, json_object_get(json, "groups"));
    mel_moments_part part = { 0 };
    if (file == NULL || group == NULL)
        status = mel_fail(err, MEL_EDATA, "files: expected the name of a \"file\" and of its \"groups\"");
    else if (!mel_moments_part_new(&part, m, file, rows > 0 ? (size_t)rows : 0, n_groups, group))
        status = mel_fail_memory(err, "moments");
    free(group);
    if (status == MEL_OK)
        status = fill_part(m, &part, json, err);
    if (status == MEL_OK)
        return mel_moments_add(m, &part, err);
    mel_moments_part_clear(&part);
    return status;
}

/* Which kind a file is of; older files do not say: training. */
static mel_status find_kind(mel_moments_kind *kind, const json_t *json, mel_error *err)
{
    const char *format = json_string_value(json_object_get(json, "format")),
               *is = json_string_value(json_object_get(json, "kind"));
    if (format == NULL || strcmp(format, format_name) != 0)
        return mel_fail(err, MEL_EDATA, "these are no moments; melicit moments makes them");
    *kind = MEL_MOMENTS_TRAINING;
    while (is != NULL && *kind < MEL_MOMENTS_KINDS && strcmp(is, mel_moments_kinds[*kind].name) != 0)
        ++*kind;
    return *kind < MEL_MOMENTS_KINDS
               ? MEL_OK
               : mel_fail(err, MEL_EDATA, "these are moments of another kind, %s", mel_quote_text(is).text);
}

/* Without files. */
static mel_status read_head(mel_moments **out, mel_moments_kind kind, const json_t *json, mel_error *err)
{
    const json_t *classes = json_object_get(json, "classes");
    const json_int_t columns = json_integer_value(json_object_get(json, mel_moments_kinds[kind].columns));
    const char *at = json_string_value(json_object_get(json, "at"));
    size_t k = 0;
    const bool named = kind != MEL_MOMENTS_TRAINING;
    const char **name = named ? mel_json_names(&k, classes) : NULL;
    if (!named && json_integer_value(classes) > 0)
        k = (size_t)json_integer_value(classes);
    mel_status status = MEL_OK;
    if ((named && name == NULL) || columns < 0 || mel_moments_size(kind, k, (size_t)columns) == 0 ||
        at == NULL || strlen(at) != MEL_DIGEST_HEX - 1)
        status = mel_fail(err, MEL_EDATA, "expected classes, %s and the digest of what the sums are taken at",
                          mel_moments_kinds[kind].columns);
    else if ((*out = mel_moments_new(kind, k, (size_t)columns, name)) == NULL)
        status = mel_fail_memory(err, "moments");
    else
        memcpy((*out)->at, at, MEL_DIGEST_HEX);
    free(name);
    return status;
}

static mel_status read_moments(mel_moments **out, const json_t *json, mel_error *err)
{
    mel_moments_kind kind;
    mel_status status = find_kind(&kind, json, err);
    if (status != MEL_OK)
        return status;
    const char *const keys[] = { "kind", "format", "version", "classes", mel_moments_kinds[kind].columns,
                                 "at",   "files",  NULL };
    const json_t *files = json_object_get(json, "files");
    status = mel_json_members(json, json_object_get(json, "kind") != NULL ? keys : keys + 1, err);
    if (status == MEL_OK && json_integer_value(json_object_get(json, "version")) != VERSION)
        status = mel_fail(err, MEL_EDATA, "version: expected %d", VERSION);
    if (status == MEL_OK && json_array_size(files) == 0)
        status = mel_fail(err, MEL_EDATA, "files: expected some");
    if (status == MEL_OK)
        status = read_head(out, kind, json, err);
    for (size_t i = 0; i < json_array_size(files) && status == MEL_OK; i++)
        status = read_part(*out, json_array_get(files, i), err);
    return status;
}

mel_status mel_moments_load(mel_moments **out, const char *path, mel_error *err)
{
    static const uint64_t max_bytes = (uint64_t)1 << 31;
    json_t *json = NULL;
    mel_moments *moments = NULL;
    mel_status status = mel_source_json(&json, path, max_bytes, err);
    if (status == MEL_OK)
        status = read_moments(&moments, json, err);
    json_decref(json);
    status = mel_moments_finish(out, moments, status);
    return status == MEL_OK ? MEL_OK : mel_fail_in(err, status, "%s", mel_quote_file(path).text);
}
