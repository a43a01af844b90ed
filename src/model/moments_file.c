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

static const char format_name[] = "melicit-moments", kind[] = "training";
enum { VERSION = 1 };

static json_t *part_json(const mel_moments_part *part, size_t size)
{
    return json_pack("{s:s, s:I, s:f, s:o}", "file", part->file, "rows", (json_int_t)part->n_rows, "weight",
                     part->weight, "sums", mel_json_numbers(size, part->sum));
}

static json_t *moments_json(const mel_moments *m)
{
    const size_t size = mel_moments_size(m->n_classes, m->n_features);
    json_t *files = json_array();
    bool whole = files != NULL;
    for (size_t i = 0; i < m->n && whole; i++)
        whole = mel_json_add(files, part_json(&m->part[i], size));
    files = mel_json_if(whole, files);
    return files == NULL ? NULL
                         : json_pack("{s:s, s:i, s:s, s:I, s:I, s:s, s:o}", "format", format_name, "version",
                                     VERSION, "kind", kind, "classes", (json_int_t)m->n_classes, "features",
                                     (json_int_t)m->n_features, "at", m->at, "files", files);
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

static mel_status read_part(mel_moments *m, const json_t *json, mel_error *err)
{
    static const char *const keys[] = { "file", "rows", "weight", "sums", NULL };
    const size_t size = mel_moments_size(m->n_classes, m->n_features);
    mel_status status = mel_json_members(json, keys, err);
    if (status != MEL_OK)
        return status;
    const json_t *sums = json_object_get(json, "sums"), *rows = json_object_get(json, "rows");
    const char *file = json_string_value(json_object_get(json, "file"));
    const double weight = json_number_value(json_object_get(json, "weight"));
    if (file == NULL || json_integer_value(rows) <= 0 || !(weight > 0.0 && isfinite(weight)) ||
        json_array_size(sums) != size)
        return mel_fail(err, MEL_EDATA, "files: expected \"file\", \"rows\", \"weight\" and %zu \"sums\"",
                        size);
    mel_moments_part part = { mel_strdup(file), (size_t)json_integer_value(rows), weight,
                              mel_alloc(size, sizeof *part.sum) };
    if (part.file == NULL || part.sum == NULL)
        status = mel_fail_memory(err, "moments");
    for (size_t i = 0; i < size && status == MEL_OK; i++) {
        const json_t *number = json_array_get(sums, i);
        if (!json_is_number(number))
            status = mel_fail(err, MEL_EDATA, "sums[%zu]: not a number", i);
        else
            part.sum[i] = json_number_value(number);
    }
    if (status == MEL_OK)
        return mel_moments_add(m, &part, err);
    mel_moments_part_clear(&part);
    return status;
}

static mel_status read_moments(mel_moments **out, const json_t *json, mel_error *err)
{
    static const char *const keys[] = { "kind",     "format", "version", "classes",
                                        "features", "at",     "files",   NULL };
    const char *format = json_string_value(json_object_get(json, "format")),
               *is = json_string_value(json_object_get(json, "kind"));
    if (format == NULL || strcmp(format, format_name) != 0)
        return mel_fail(err, MEL_EDATA, "these are no moments; melicit moments makes them");
    if (is != NULL && strcmp(is, kind) != 0)
        return mel_fail(err, MEL_EDATA, "these are moments of another kind, %s, not sums for training",
                        mel_quote_text(is).text);
    /* Older files do not say what kind they are. */
    mel_status status = mel_json_members(json, is != NULL ? keys : keys + 1, err);
    if (status != MEL_OK)
        return status;
    const json_int_t k = json_integer_value(json_object_get(json, "classes")),
                     d = json_integer_value(json_object_get(json, "features"));
    const char *at = json_string_value(json_object_get(json, "at"));
    const json_t *files = json_object_get(json, "files");
    if (json_integer_value(json_object_get(json, "version")) != VERSION)
        return mel_fail(err, MEL_EDATA, "version: expected %d", VERSION);
    if (k < 2 || d < 0 || mel_moments_size((size_t)k, (size_t)d) == 0 || at == NULL ||
        strlen(at) != MEL_DIGEST_HEX - 1 || json_array_size(files) == 0)
        return mel_fail(err, MEL_EDATA, "expected classes, features, the digest of a model and files");
    *out = mel_moments_new((size_t)k, (size_t)d);
    if (*out == NULL)
        return mel_fail_memory(err, "moments");
    memcpy((*out)->at, at, MEL_DIGEST_HEX);
    for (size_t i = 0; i < json_array_size(files) && status == MEL_OK; i++)
        status = read_part(*out, json_array_get(files, i), err);
    return status;
}

mel_status mel_moments_load(mel_moments **out, const char *path, mel_error *err)
{
    static const uint64_t max_bytes = (uint64_t)1 << 31;
    *out = NULL;
    mel_source *source = NULL;
    char *bytes = NULL;
    size_t n = 0;
    json_t *json = NULL;
    mel_status status = mel_source_open(&source, path, max_bytes, err);
    if (status == MEL_OK) {
        status = mel_source_all(&bytes, &n, source, 1, err);
        mel_source_free(source);
    }
    if (status == MEL_OK)
        status = mel_json_parse(&json, bytes, n, err);
    free(bytes);
    if (status == MEL_OK)
        status = read_moments(out, json, err);
    json_decref(json);
    if (status == MEL_OK)
        return MEL_OK;
    mel_moments_free(*out);
    *out = NULL;
    return mel_fail_in(err, status, "%s", mel_quote_file(path).text);
}
