/* Checks the fields of an object against a list of those that it may have. */
#include "study_fields.h"

#include <string.h>

enum { MOST_TEXT = 20000 };

typedef enum { TEXT, NUMBER, BOOLEAN, OBJECT, LIST, ANY } field_type;
static const struct {
    const char *name, *words;
} types[] = { { "text", "a text of at most 20,000 bytes" },
              { "number", "a number" },
              { "boolean", "true or false" },
              { "object", "an object" },
              { "list", "a list" },
              { "any", "anything" } };

static bool has_type(const json_t *value, field_type type)
{
    switch (type) {
    case NUMBER:
        return json_is_number(value);
    case BOOLEAN:
        return json_is_boolean(value);
    case OBJECT:
        return json_is_object(value);
    case LIST:
        return json_is_array(value);
    case ANY:
        return true;
    case TEXT:
        break;
    }
    return json_is_string(value) && json_string_length(value) <= MOST_TEXT;
}

typedef struct {
    const char *name;
    size_t n; /* bytes of the name */
    field_type type;
    bool required;
} field;

/* Takes the next field off the list; false at its end. */
static bool next_field(field *out, const char **list)
{
    const char *word = *list + strspn(*list, " ");
    const size_t n = strcspn(word, " ");
    if (n == 0)
        return false;
    *list = word + n;
    *out = (field){ .name = word, .n = strcspn(word, ":! "), .required = word[n - 1] == '!' };
    const char *type = word[out->n] == ':' ? word + out->n + 1 : "text";
    while (out->type < ANY && strncmp(type, types[out->type].name, strcspn(type, "! ")) != 0)
        out->type++;
    return true;
}

static bool find_field(field *out, const char *fields, const char *name)
{
    while (next_field(out, &fields))
        if (out->n == strlen(name) && memcmp(out->name, name, out->n) == 0)
            return true;
    return false;
}

mel_status mel_check_fields(const json_t *object, const char *where, const char *fields, mel_error *err)
{
    if (!json_is_object(object))
        return mel_fail(err, MEL_EDATA, "%s: expected an object", where);
    const char *name;
    json_t *value;
    field known;
    json_object_foreach((json_t *)object, name, value)
    {
        if (!find_field(&known, fields, name))
            return mel_fail(err, MEL_EDATA, "%s.%.40s: there is no such field", where, name);
        if (!has_type(value, known.type))
            return mel_fail(err, MEL_EDATA, "%s.%s: expected %s", where, name, types[known.type].words);
    }
    while (next_field(&known, &fields))
        if (known.required && json_object_getn(object, known.name, known.n) == NULL)
            return mel_fail(err, MEL_EDATA, "%s.%.*s: this field is missing", where, (int)known.n,
                            known.name);
    return MEL_OK;
}
