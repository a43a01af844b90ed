/* Iterates in files: JSON, exact. */
#include "base/file.h"
#include "base/json.h"
#include "data/json_members.h"
#include "data/quote.h"
#include "data/source.h"
#include "optimise/passes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char format_name[] = "melicit-iterate";
static const char *const shapes[] = { "diagonal", "whole" };
enum { VERSION = 1 };

static json_t *rules_json(const mel_passes *p)
{
    const size_t n_weight = mel_passes_weights(p), n_sum = mel_passes_sums(p);
    json_t *all = json_array();
    bool whole = all != NULL;
    for (size_t i = 0; i < p->n && whole; i++)
        whole = mel_json_add(all, json_pack("{s:o, s:o}", "weights",
                                            mel_json_numbers(n_weight, p->weight + i * n_weight), "sums",
                                            mel_json_numbers(n_sum, p->sum + i * n_sum)));
    return mel_json_if(whole, all);
}

static json_t *rows_json(const mel_passes *p)
{
    json_t *all = json_array();
    bool whole = all != NULL;
    for (size_t i = 0; i < p->n_files && whole; i++)
        whole = mel_json_add(all, json_integer((json_int_t)p->n_rows[i]));
    return mel_json_if(whole, all);
}

static json_t *passes_json(const mel_passes *p)
{
    return json_pack("{s:s, s:i, s:o, s:o, s:b, s:s, s:o, s:o, s:o, s:o, s:o}", "format", format_name,
                     "version", VERSION, "classes", mel_json_texts(p->k, (const char *const *)p->class_name),
                     "labels", mel_json_texts(p->k, (const char *const *)p->label), "text_labels",
                     (int)p->number_texts, "shape", shapes[p->whole], "wanted",
                     p->waits ? mel_json_numbers(mel_passes_weights(p), p->wanted) : json_array(), "files",
                     mel_json_texts(p->n_files, (const char *const *)p->file), "rows", rows_json(p), "totals",
                     mel_json_numbers(p->n > 0 ? mel_passes_totals(p) : 0, p->total), "passes",
                     rules_json(p));
}

mel_status mel_passes_save(const mel_passes *p, const char *path, mel_error *err)
{
    char *text = NULL;
    mel_status status = mel_json_file_text(&text, passes_json(p), "an iterate", err);
    if (status == MEL_OK)
        status = mel_file_replace(path, text, strlen(text), err);
    free(text);
    return status;
}

/* --- reading ------------------------------------------------------------------------------------ */

static mel_status read_numbers(double *out, size_t n, const json_t *list, const char *key, mel_error *err)
{
    if (json_array_size(list) != n)
        return mel_fail(err, MEL_EDATA, "%s: expected %zu numbers", key, n);
    for (size_t i = 0; i < n; i++) {
        const json_t *number = json_array_get(list, i);
        if (!json_is_number(number))
            return mel_fail(err, MEL_EDATA, "%s[%zu]: not a number", key, i);
        out[i] = json_number_value(number);
    }
    return MEL_OK;
}

static mel_status read_files(mel_passes *p, const json_t *json, mel_error *err)
{
    size_t n = 0;
    const json_t *rows = json_object_get(json, "rows");
    const char **file = mel_json_names(&n, json_object_get(json, "files"));
    mel_status status = file != NULL && json_array_size(rows) == n && n > 0
                            ? MEL_OK
                            : mel_fail(err, MEL_EDATA, "expected names of files and as many numbers of rows");
    if (status == MEL_OK) {
        p->file = mel_alloc_zero(n, sizeof *p->file);
        p->n_rows = mel_alloc_zero(n, sizeof *p->n_rows);
        if (p->file == NULL || p->n_rows == NULL)
            status = mel_fail_memory(err, "an iterate");
    }
    for (size_t i = 0; i < n && status == MEL_OK; i++) {
        const json_int_t count = json_integer_value(json_array_get(rows, i));
        p->file[i] = mel_strdup(file[i]);
        if (p->file[i] == NULL)
            status = mel_fail_memory(err, "an iterate");
        else if (count <= 0)
            status = mel_fail(err, MEL_EDATA, "rows[%zu]: not a number of rows", i);
        p->n_rows[i] = count > 0 ? (size_t)count : 0;
        p->n_files += p->file[i] != NULL;
    }
    free(file);
    return status;
}

static mel_status read_rules(mel_passes *p, const json_t *list, mel_error *err)
{
    static const char *const keys[] = { "weights", "sums", NULL };
    const size_t n_weight = mel_passes_weights(p), n_sum = mel_passes_sums(p);
    mel_status status = MEL_OK;
    for (size_t i = 0; i < json_array_size(list) && status == MEL_OK; i++) {
        const json_t *rule = json_array_get(list, i);
        status = mel_json_members(rule, keys, err);
        if (status == MEL_OK && !mel_passes_grow(p))
            status = mel_fail_memory(err, "an iterate");
        if (status == MEL_OK)
            status = read_numbers(p->weight + p->n * n_weight, n_weight, json_object_get(rule, "weights"),
                                  "weights", err);
        if (status == MEL_OK)
            status = read_numbers(p->sum + p->n * n_sum, n_sum, json_object_get(rule, "sums"), "sums", err);
        p->n += status == MEL_OK;
    }
    return status;
}

/* Classes and shape. */
static mel_status read_head(mel_passes **out, const json_t *json, mel_error *err)
{
    size_t k = 0, m = 0;
    const char **name = mel_json_names(&k, json_object_get(json, "classes")),
               **label = mel_json_names(&m, json_object_get(json, "labels")),
               *shape = json_string_value(json_object_get(json, "shape"));
    const bool whole = shape != NULL && strcmp(shape, shapes[1]) == 0;
    mel_status status;
    if (name == NULL || label == NULL || k != m || shape == NULL || (!whole && strcmp(shape, shapes[0]) != 0))
        status = mel_fail(err, MEL_EDATA, "expected the names of classes, their labels and a shape");
    else
        status = mel_passes_new(out, k, name, label, whole ? MEL_WEIGHT_WHOLE : MEL_WEIGHT_DIAGONAL, err);
    free(name);
    free(label);
    return status;
}

static mel_status read_passes(mel_passes **out, const json_t *json, mel_error *err)
{
    static const char *const keys[] = { "format", "version", "classes", "labels", "text_labels", "shape",
                                        "wanted", "files",   "rows",    "totals", "passes",      NULL };
    const char *format = json_string_value(json_object_get(json, "format"));
    const json_t *wanted = json_object_get(json, "wanted"), *rules = json_object_get(json, "passes");
    if (format == NULL || strcmp(format, format_name) != 0)
        return mel_fail(err, MEL_EDATA, "this is no iterate; melicit optimise --iterate makes it");
    mel_status status = mel_json_members(json, keys, err);
    if (status == MEL_OK && json_integer_value(json_object_get(json, "version")) != VERSION)
        status = mel_fail(err, MEL_EDATA, "version: expected %d", VERSION);
    if (status == MEL_OK)
        status = read_head(out, json, err);
    if (status != MEL_OK)
        return status;
    mel_passes *p = *out;
    p->number_texts = json_is_true(json_object_get(json, "text_labels"));
    p->waits = json_array_size(wanted) > 0;
    if (p->waits)
        status = read_numbers(p->wanted, mel_passes_weights(p), wanted, "wanted", err);
    if (status == MEL_OK && json_array_size(rules) > 0)
        status = read_files(p, json, err);
    if (status == MEL_OK && json_array_size(rules) > 0)
        status = read_numbers(p->total, mel_passes_totals(p), json_object_get(json, "totals"), "totals", err);
    return status == MEL_OK ? read_rules(p, rules, err) : status;
}

mel_status mel_passes_load(mel_passes **out, const char *path, mel_error *err)
{
    static const uint64_t max_bytes = (uint64_t)1 << 31;
    *out = NULL;
    json_t *json = NULL;
    mel_status status = mel_source_json(&json, path, max_bytes, err);
    if (status == MEL_OK)
        status = read_passes(out, json, err);
    json_decref(json);
    if (status == MEL_OK)
        return MEL_OK;
    mel_passes_free(*out);
    *out = NULL;
    return mel_fail_in(err, status, "%s", mel_quote_file(path).text);
}
