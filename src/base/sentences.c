/* Filling templates of sentences, and keeping what came of it. */
#include "base/sentences.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_TEXT = 1 << 18, MOST_FIELDS = 16 };

/* --- templates ---------------------------------------------------------------------------------- */

typedef struct {
    size_t n;
    const mel_slot *fields;
    const mel_language *language;
} given;

/* A field that is a number ("1,234.5", "<0.1%") as the language writes it. */
static void put_field(mel_buffer *out, const char *text, const mel_language *language)
{
    const bool number = language != NULL && strspn(text, "0123456789.,%<>") == strlen(text);
    if (!number) {
        mel_buffer_puts(out, text);
        return;
    }
    for (; *text != '\0'; text++)
        mel_buffer_add(out, *text == '.' ? &language->point : *text == ',' ? &language->group : text, 1);
}

static const char *text_of(const given *g, const char *name, size_t length)
{
    for (size_t i = 0; i < g->n; i++)
        if (strlen(g->fields[i].name) == length && strncmp(g->fields[i].name, name, length) == 0)
            return g->fields[i].text != NULL ? g->fields[i].text : "";
    return "";
}

/* "{n}" or "{n:one|many}"; returns the position behind it. */
static const char *fill_field(mel_buffer *out, const char *at, const given *g)
{
    const char *end = strchr(at, '}'), *colon = memchr(at, ':', (size_t)(end - at));
    const char *text = text_of(g, at + 1, (size_t)((colon != NULL ? colon : end) - at - 1));
    if (colon == NULL) {
        put_field(out, text, g->language);
    } else {
        const char *bar = memchr(colon, '|', (size_t)(end - colon));
        if (strcmp(text, "1") == 0)
            mel_buffer_add(out, colon + 1, (size_t)(bar - colon - 1));
        else
            mel_buffer_add(out, bar + 1, (size_t)(end - bar - 1));
    }
    return end + 1;
}

/* Whether all fields between have a text. */
static bool has_texts(const char *at, const char *end, const given *g)
{
    for (; (at = memchr(at, '{', (size_t)(end - at))) != NULL; at++)
        if (*text_of(g, at + 1, strcspn(at + 1, ":}")) == '\0')
            return false;
    return true;
}

static void fill(mel_buffer *out, const char *at, const char *end, const given *g)
{
    while (at < end) {
        const size_t plain = strcspn(at, "{[");
        const size_t n = plain < (size_t)(end - at) ? plain : (size_t)(end - at);
        mel_buffer_add(out, at, n);
        at += n;
        if (at == end)
            return;
        if (*at == '{') {
            at = fill_field(out, at, g);
            continue;
        }
        const char *close = strchr(at, ']');
        const size_t name = at[1] == '?' ? strcspn(at + 2, " ") : 0;
        const char *inside = at[1] == '?' ? at + 3 + name : at + 1;
        if (at[1] == '?' ? *text_of(g, at + 2, name) != '\0' : has_texts(inside, close, g))
            fill(out, inside, close, g);
        at = close + 1;
    }
}

/* --- texts that are kept ------------------------------------------------------------------------- */

void mel_sentences_clear(mel_sentences *s)
{
    for (size_t i = 0; i < s->n_kept; i++)
        free(s->kept[i]);
    free(s->kept);
    free(s->sentence);
    *s = (mel_sentences){ .status = s->status, .language = s->language };
}

bool mel_sentences_good(mel_sentences *s, mel_status status)
{
    if (s->status == MEL_OK)
        s->status = status;
    return s->status == MEL_OK;
}

static void *keep(mel_sentences *s, void *memory)
{
    if (memory != NULL && mel_grow((void **)&s->kept, s->n_kept + 1, sizeof *s->kept)) {
        s->kept[s->n_kept++] = memory;
        return memory;
    }
    free(memory);
    if (s->status == MEL_OK)
        s->status = mel_fail_memory(s->err, "the result");
    return NULL;
}

void *mel_sentences_room(mel_sentences *s, size_t n, size_t size)
{
    return s->status == MEL_OK ? keep(s, mel_alloc_zero(n, size)) : NULL;
}

const char *mel_sentences_keep(mel_sentences *s, mel_buffer *text)
{
    mel_buffer_puts(text, "");
    const mel_status status = text->status;
    char *taken = mel_buffer_take(text);
    if (s->status == MEL_OK && status != MEL_OK && status != MEL_ENOMEM)
        s->status = mel_fail(s->err, status, "the result is longer than %d bytes", (int)MOST_TEXT);
    if (s->status != MEL_OK) {
        free(taken);
        return "";
    }
    const char *kept = keep(s, taken);
    return kept != NULL ? kept : "";
}

const char *mel_sentences_format(mel_sentences *s, const char *fmt, ...)
{
    mel_buffer text;
    va_list args;
    mel_buffer_init(&text, MOST_TEXT);
    va_start(args, fmt);
    mel_buffer_vprintf(&text, fmt, args);
    va_end(args);
    return mel_sentences_keep(s, &text);
}

/* --- sentences ----------------------------------------------------------------------------------- */

static given take_fields(mel_slot room[MOST_FIELDS], va_list args)
{
    size_t n = 0;
    for (const char *name; n < MOST_FIELDS && (name = va_arg(args, const char *)) != NULL; n++)
        room[n] = (mel_slot){ name, va_arg(args, const char *) };
    return (given){ n, room, NULL };
}

static const char *fill_kept(mel_sentences *s, const mel_template *from, const given *g)
{
    mel_buffer text;
    mel_buffer_init(&text, MOST_TEXT);
    const given in = { g->n, g->fields, s->language };
    const char *said =
        s->language != NULL ? s->language->sentence(s->language->catalogue, from->english) : NULL;
    said = said != NULL ? said : from->english;
    fill(&text, said, said + strlen(said), &in);
    return mel_sentences_keep(s, &text);
}

const char *mel_phrase(mel_sentences *s, const mel_template *from, ...)
{
    mel_slot room[MOST_FIELDS];
    va_list args;
    va_start(args, from);
    const given g = take_fields(room, args);
    va_end(args);
    return fill_kept(s, from, &g);
}

mel_sentence *mel_say_with(mel_sentences *s, const mel_template *from, va_list args)
{
    mel_slot room[MOST_FIELDS];
    const given g = take_fields(room, args);
    mel_sentence said = { .from = from, .n_fields = g.n, .text = fill_kept(s, from, &g) };
    said.fields = mel_sentences_room(s, g.n + 1, sizeof *said.fields);
    for (size_t i = 0; i < g.n && s->status == MEL_OK; i++)
        said.fields[i] =
            (mel_slot){ room[i].name,
                        mel_sentences_format(s, "%s", room[i].text != NULL ? room[i].text : "") };
    if (s->status == MEL_OK && !mel_grow((void **)&s->sentence, s->n + 1, sizeof *s->sentence))
        s->status = mel_fail_memory(s->err, "the result");
    if (s->status != MEL_OK)
        return NULL;
    s->sentence[s->n] = said;
    return &s->sentence[s->n++];
}

mel_sentence *mel_say(mel_sentences *s, const mel_template *from, ...)
{
    va_list args;
    va_start(args, from);
    mel_sentence *said = mel_say_with(s, from, args);
    va_end(args);
    return said;
}

const char *mel_sentence_without(mel_sentences *s, const mel_sentence *sentence, const char *name)
{
    mel_slot room[MOST_FIELDS];
    size_t n = 0;
    for (size_t i = 0; i < sentence->n_fields; i++)
        if (strcmp(sentence->fields[i].name, name) != 0)
            room[n++] = sentence->fields[i];
    return fill_kept(s, sentence->from, &(given){ n, room, NULL });
}

const char *mel_sentence_field(const mel_sentence *sentence, const char *name)
{
    const char *text = text_of(&(given){ sentence->n_fields, sentence->fields, NULL }, name, strlen(name));
    return *text != '\0' ? text : NULL;
}
