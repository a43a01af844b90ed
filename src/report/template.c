/* Filling a template of HTML with fields. */
#include "report/template.h"

#include <string.h>

typedef struct frame {
    const json_t *value;
    const struct frame *outer;
} frame;

/* A tag: {{#name}}, {{^name}}, {{/name}} or, with kind '\0', {{name}}. */
typedef struct {
    char kind;
    const char *name, *after;
    size_t length;
} tag;

static tag read_tag(const char *at)
{
    tag t = { .name = at + 2 };
    if (strchr("#^/", *t.name) != NULL)
        t.kind = *t.name++;
    t.length = strcspn(t.name, "}");
    t.after = t.name + t.length + 2;
    return t;
}

static const json_t *find(const frame *in, const tag *t)
{
    if (t->length == 1 && *t->name == '.')
        return in->value;
    for (; in != NULL; in = in->outer) {
        const json_t *value = json_object_getn(in->value, t->name, t->length);
        if (value != NULL)
            return value;
    }
    return NULL;
}

static bool holds(const json_t *value)
{
    return json_is_true(value) || json_is_object(value) || json_array_size(value) > 0 ||
           (json_is_string(value) && json_string_length(value) > 0);
}

/* The tag that ends a section, which starts at `at`. */
static const char *find_end(const char *at, const tag *open)
{
    for (size_t depth = 1; (at = strstr(at, "{{")) != NULL;) {
        const tag t = read_tag(at);
        const bool same = t.length == open->length && strncmp(t.name, open->name, t.length) == 0;
        if (same && t.kind == '/' && --depth == 0)
            return at;
        depth += same && (t.kind == '#' || t.kind == '^');
        at = t.after;
    }
    return NULL;
}

static mel_status render(mel_buffer *out, const char *at, const char *end, const frame *in, mel_error *err);

static mel_status render_section(mel_buffer *out, const tag *open, const char *end, const frame *in,
                                 mel_error *err)
{
    const json_t *value = find(in, open);
    if (open->kind == '^')
        return holds(value) ? MEL_OK : render(out, open->after, end, in, err);
    if (!json_is_array(value))
        return holds(value) ? render(out, open->after, end, &(frame){ value, in }, err) : MEL_OK;
    for (size_t i = 0; i < json_array_size(value); i++)
        TRY(render(out, open->after, end, &(frame){ json_array_get(value, i), in }, err));
    return MEL_OK;
}

static mel_status render(mel_buffer *out, const char *at, const char *end, const frame *in, mel_error *err)
{
    while (at < end) {
        const char *next = strstr(at, "{{");
        if (next == NULL || next > end)
            next = end;
        mel_buffer_add(out, at, (size_t)(next - at));
        if (next == end)
            return MEL_OK;
        const tag t = read_tag(next);
        if (t.kind == '\0') {
            const json_t *value = find(in, &t);
            if (!json_is_string(value))
                return mel_fail(err, MEL_ESTATE, "the report has no field %.*s", (int)t.length, t.name);
            mel_buffer_add(out, json_string_value(value), json_string_length(value));
            at = t.after;
            continue;
        }
        const char *close = find_end(t.after, &t);
        if (t.kind == '/' || close == NULL)
            return mel_fail(err, MEL_ESTATE, "the report's section %.*s has no end", (int)t.length, t.name);
        TRY(render_section(out, &t, close, in, err));
        at = read_tag(close).after;
    }
    return MEL_OK;
}

mel_status mel_template_render(mel_buffer *out, const char *html, const json_t *fields, mel_error *err)
{
    return render(out, html, html + strlen(html), &(frame){ fields, NULL }, err);
}
