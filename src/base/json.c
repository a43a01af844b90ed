/* JSON read safely when memory runs out, as text, and made of lists of numbers and texts. */
#include "base/json.h"

#include "base/buffer.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* When memory runs out while jansson 2.14 makes room for a word that is longer than those before it, it
 * drops characters and reads on, beyond the end of its buffer if the closing quote is one of them
 * (https://github.com/akheron/jansson/issues/362). So room is made first, where a loss does no harm and
 * shows: the document is parsed as the second entry of an array whose first is a string at least as
 * long as the longest word. */

/* Bytes of the longest string (quotes included), number or literal in the text. */
static size_t longest_word(const char *text, size_t n)
{
    size_t longest = 0, length = 0;
    bool quoted = false;
    for (size_t i = 0; i < n; i++) {
        const char c = text[i];
        const bool ends = !quoted && (c == '\0' || strchr(" \t\r\n,:[]{}", c) != NULL);
        if (ends || (!quoted && c == '"'))
            length = 0;
        if (!ends)
            length++;
        if (c == '"')
            quoted = !quoted;
        if (quoted && c == '\\' && i + 1 < n) {
            length++;
            i++;
        }
        longest = length > longest ? length : longest;
    }
    return longest;
}

/* ["xxx...",\n document \n], for the caller to free. *filler is how many x. */
static char *wrap(const void *bytes, size_t n, size_t *size, size_t *filler)
{
    static const char head[] = "[\"", middle[] = "\",\n", tail[] = "\n]";
    /* jansson's buffer doubles from 16; it must never be the closing quote that needs the room. */
    size_t capacity = 16;
    const size_t longest = longest_word(bytes, n);
    while (capacity / 2 <= longest)
        capacity *= 2;
    const size_t x = capacity / 2 + 8;
    char *text = mel_alloc(n + x + sizeof head + sizeof middle + sizeof tail, 1);
    if (text == NULL)
        return NULL;
    char *at = text;
    memcpy(at, head, sizeof head - 1);
    at += sizeof head - 1;
    memset(at, 'x', x);
    at += x;
    memcpy(at, middle, sizeof middle - 1);
    at += sizeof middle - 1;
    if (n > 0)
        memcpy(at, bytes, n);
    at += n;
    memcpy(at, tail, sizeof tail - 1);
    at += sizeof tail - 1;
    *size = (size_t)(at - text);
    *filler = x;
    return text;
}

/* Why the document is none, in its own lines and columns. */
static mel_status explain(const void *bytes, size_t n, mel_error *err)
{
    const char *text = bytes;
    size_t at = 0;
    while (at < n && isspace((unsigned char)text[at]))
        at++;
    if (at < n && (isalnum((unsigned char)text[at])))
        return mel_fail(err, MEL_EDATA, "expected a JSON object, which begins with '{'");
    json_error_t where;
    json_t *fine = json_loadb(bytes, n, JSON_REJECT_DUPLICATES, &where);
    if (fine != NULL || json_error_code(&where) == json_error_out_of_memory) {
        json_decref(fine); /* nothing is wrong with it: it was memory before */
        return mel_fail_memory(err, "a JSON document");
    }
    /* Without the piece of the text that follows, which may hold any bytes. */
    const char *near = strstr(where.text, " near ");
    const int length = near != NULL ? (int)(near - where.text) : (int)strlen(where.text);
    return mel_fail(err, MEL_EDATA, "line %d, column %d: %.*s", where.line, where.column, length, where.text);
}

mel_status mel_json_parse(json_t **out, const void *bytes, size_t n, mel_error *err)
{
    *out = NULL;
    size_t size = 0, filler = 0;
    MEL_AUTO_MEMORY char *text = wrap(bytes, n, &size, &filler);
    TRY(MEL_NEED(text, "a JSON document", err));
    json_error_t where;
    json_t *pair = json_loadb(text, size, JSON_REJECT_DUPLICATES, &where);
    json_t *document = json_array_get(pair, 1);
    const bool parsed = pair != NULL;
    const bool whole = json_string_length(json_array_get(pair, 0)) == filler;
    const bool one = json_array_size(pair) == 2 && (json_is_object(document) || json_is_array(document));
    if (parsed && whole && one)
        *out = json_incref(document);
    json_decref(pair);
    if (*out != NULL)
        return MEL_OK;
    if (parsed ? !whole : json_error_code(&where) == json_error_out_of_memory)
        return mel_fail_memory(err, "a JSON document");
    return explain(bytes, n, err);
}

mel_status mel_json_check_kind(const json_t *file, const char *format, const char *former, mel_error *err)
{
    static const struct {
        const char *format, *words;
    } kinds[] = { { "melicit-metric", "a metric" },
                  { "melicit-model", "a model" },
                  { "melicit-classifier", "a classifier" },
                  { "melicit-weighted-classifier", "a classifier" },
                  { "melicit-session", "a session of questions" },
                  { "melicit-comparisons", "a session of comparisons" } };
    const char *said = json_string_value(json_object_get(file, "format")), *is = NULL, *wanted = format;
    if (said != NULL && (strcmp(said, format) == 0 || (former != NULL && strcmp(said, former) == 0)))
        return MEL_OK;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (said != NULL && strcmp(kinds[i].format, said) == 0)
            is = kinds[i].words;
        if (strcmp(kinds[i].format, format) == 0)
            wanted = kinds[i].words;
    }
    return is != NULL
               ? mel_fail(err, MEL_EDATA, "this is %s; expected %s", is, wanted)
               : mel_fail(err, MEL_EDATA, "expected %s, a file with \"format\": \"%s\"", wanted, format);
}

static const size_t most_text = SIZE_MAX / 4; /* of a document that is written */

static int add_piece(const char *bytes, size_t n, void *user)
{
    mel_buffer *text = user;
    mel_buffer_add(text, bytes, n);
    return text->status == MEL_OK ? 0 : -1;
}

char *mel_json_text(const json_t *value, size_t flags)
{
    mel_buffer text;
    mel_buffer_init(&text, most_text);
    /* What add_piece returns is not always heeded, either: the buffer knows. */
    if (json_dump_callback(value, add_piece, &text, flags) == 0 && text.status == MEL_OK)
        return text.data;
    mel_buffer_free(&text);
    return NULL;
}

mel_status mel_json_file_text(char **out, json_t *value, const char *what, mel_error *err)
{
    mel_buffer text;
    mel_buffer_init(&text, most_text);
    const bool whole = value != NULL && json_dump_callback(value, add_piece, &text,
                                                           JSON_INDENT(2) | JSON_REAL_PRECISION(17)) == 0;
    json_decref(value);
    mel_buffer_puts(&text, "\n");
    *out = mel_buffer_take(&text);
    if (whole && *out != NULL)
        return MEL_OK;
    free(*out);
    *out = NULL;
    return mel_fail_memory(err, what);
}

void mel_json_free_text(char *text)
{
    void (*release)(void *) = NULL;
    json_get_alloc_funcs(NULL, &release);
    release(text);
}

json_t *mel_json_numbers(size_t n, const double *value)
{
    json_t *list = json_array();
    bool whole = true;
    for (size_t i = 0; i < n && whole; i++)
        whole = mel_json_add(list, json_real(value[i]));
    return mel_json_if(whole, list);
}

json_t *mel_json_matrix(size_t n_rows, size_t n_columns, const double *value)
{
    json_t *rows = json_array();
    bool whole = true;
    for (size_t i = 0; i < n_rows && whole; i++)
        whole = mel_json_add(rows, mel_json_numbers(n_columns, value + i * n_columns));
    return mel_json_if(whole, rows);
}

json_t *mel_json_texts(size_t n, const char *const *text)
{
    json_t *list = json_array();
    bool whole = true;
    for (size_t i = 0; i < n && whole; i++)
        whole = mel_json_add(list, json_string(text[i]));
    return mel_json_if(whole, list);
}

mel_status mel_json_members(const json_t *object, const char *const *keys, mel_error *err)
{
    if (!json_is_object(object))
        return mel_fail(err, MEL_EDATA, "not an object");
    size_t n = 0;
    for (; keys[n] != NULL; n++)
        if (json_object_get(object, keys[n]) == NULL)
            return mel_fail(err, MEL_EDATA, "\"%s\" is missing", keys[n]);
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        size_t i = 0;
        while (i < n && strcmp(keys[i], key) != 0)
            i++;
        if (i == n)
            return mel_fail(err, MEL_EDATA, "unknown key \"%.60s\"", key);
    }
    return MEL_OK;
}
