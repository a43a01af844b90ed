/* Text for people and for JSON: UTF-8, column widths, short numbers, names of mistakes. */
#include "metric/text.h"

#include "data/number.h"
#include "data/quote.h"
#include "melicit/metric.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

long mel_text_next(const char **at)
{
    const unsigned char *s = (const unsigned char *)*at;
    const size_t n = mel_utf8_length(*at, strnlen(*at, 4));
    if (n == 0) {
        *at += 1;
        return -1;
    }
    static const unsigned char lead[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 }; /* payload of the first byte */
    long code = s[0] & lead[n];
    for (size_t i = 1; i < n; i++)
        code = code << 6 | (s[i] & 0x3f);
    *at += n;
    return code;
}

bool mel_text_is_utf8(const char *text)
{
    const size_t n = strlen(text);
    return mel_utf8_valid(text, n) == n;
}

typedef struct {
    long first, last;
} range;

static bool in_ranges(long code, const range *ranges, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (code >= ranges[i].first && code <= ranges[i].last)
            return true;
    return false;
}

/* What would move the cursor, ring a bell or reorder the line. */
static bool is_unsafe(long code)
{
    static const range unsafe[] = { { -1, 0x1f },         { 0x7f, 0x9f },     { 0x200e, 0x200f },
                                    { 0x2028, 0x202e },   { 0x2066, 0x2069 }, { 0xfff9, 0xfffb },
                                    { 0xe0000, 0xe007f }, { 0xfdd0, 0xfdef } };
    return in_ranges(code, unsafe, sizeof unsafe / sizeof *unsafe);
}

static size_t columns_of(long code)
{
    static const range none[] = { { 0x300, 0x36f },   { 0x483, 0x489 },   { 0x591, 0x5bd },
                                  { 0x610, 0x61a },   { 0x64b, 0x65f },   { 0x93c, 0x93c },
                                  { 0x94d, 0x94d },   { 0xe31, 0xe31 },   { 0xe34, 0xe3a },
                                  { 0xe47, 0xe4e },   { 0x1ab0, 0x1aff }, { 0x1dc0, 0x1dff },
                                  { 0x200b, 0x200d }, { 0x20d0, 0x20ff }, { 0xfe00, 0xfe0f },
                                  { 0xfe20, 0xfe2f } };
    static const range wide[] = { { 0x1100, 0x115f },   { 0x2e80, 0x303e },   { 0x3041, 0x33ff },
                                  { 0x3400, 0x4dbf },   { 0x4e00, 0x9fff },   { 0xa000, 0xa4cf },
                                  { 0xac00, 0xd7a3 },   { 0xf900, 0xfaff },   { 0xfe30, 0xfe6f },
                                  { 0xff00, 0xff60 },   { 0xffe0, 0xffe6 },   { 0x1f300, 0x1f64f },
                                  { 0x1f680, 0x1f6ff }, { 0x1f900, 0x1f9ff }, { 0x20000, 0x3fffd } };
    if (code < 0x300 || is_unsafe(code))
        return 1;
    if (in_ranges(code, none, sizeof none / sizeof *none))
        return 0;
    return in_ranges(code, wide, sizeof wide / sizeof *wide) ? 2 : 1;
}

size_t mel_text_columns(const char *text)
{
    size_t columns = 0;
    while (*text != '\0')
        columns += columns_of(mel_text_next(&text));
    return columns;
}

size_t mel_text_add_clean(mel_buffer *out, const char *text, size_t columns)
{
    size_t used = 0;
    while (*text != '\0') {
        const char *start = text;
        const long code = mel_text_next(&text);
        const size_t more = columns_of(code);
        if (used + more > columns)
            break;
        used += more;
        if (is_unsafe(code))
            mel_buffer_puts(out, "?");
        else
            mel_buffer_add(out, start, (size_t)(text - start));
    }
    return used;
}

void mel_text_add_number(mel_buffer *out, double x)
{
    char digits[MEL_NUMBER_TEXT];
    mel_number_print(digits, x);
    mel_buffer_puts(out, digits);
}

void mel_text_add_json_string(mel_buffer *out, const char *text)
{
    mel_buffer_puts(out, "\"");
    while (*text != '\0') {
        const char *start = text;
        const long code = mel_text_next(&text);
        if (code < 0)
            mel_buffer_puts(out, "\\ufffd");
        else if (code == '"' || code == '\\')
            mel_buffer_printf(out, "\\%c", (char)code);
        else if (code < 0x20 || code == 0x7f)
            mel_buffer_printf(out, "\\u%04lx", (unsigned long)code);
        else
            mel_buffer_add(out, start, (size_t)(text - start));
    }
    mel_buffer_puts(out, "\"");
}

void mel_text_add_count(mel_buffer *out, uint64_t n)
{
    char digits[24];
    const int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n);
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            mel_buffer_puts(out, ",");
        mel_buffer_add(out, digits + i, 1);
    }
}

static bool is_one_of(const char *word, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcasecmp(word, words[i]) == 0)
            return true;
    return false;
}

static bool has_end(const char *word, const char *const *ends, size_t n)
{
    const size_t length = strlen(word);
    for (size_t i = 0; i < n; i++) {
        const size_t m = strlen(ends[i]);
        if (length > m && strcmp(word + length - m, ends[i]) == 0)
            return true;
    }
    return false;
}

/* Letters, blanks and hyphens, at least three, capitals at most first: something English grammar may
 * be tried on. */
static bool is_plain(const char *name)
{
    size_t n = 0;
    for (; name[n] != '\0'; n++) {
        const char c = name[n];
        const bool letter = (c >= 'a' && c <= 'z') || (n == 0 && c >= 'A' && c <= 'Z');
        if (!letter && (n == 0 || (c != ' ' && c != '-')))
            return false;
    }
    return n >= 3;
}

/* Says no more than "the positive class". */
static bool says_nothing(const char *name)
{
    static const char *const empty[] = { "yes", "y", "true", "t", "positive", "pos", "+" };
    if (is_one_of(name, empty, sizeof empty / sizeof *empty))
        return true;
    double number = 0.0;
    return mel_number_parse(name, strlen(name), &number) != MEL_NUMBER_NONE;
}

/* English plurals are not to be guessed from names that people gave ("missed defaulteds"): of what is no noun
 * of ours there are cases. */
void mel_text_add_plural(mel_buffer *out, const char *noun)
{
    static const char *const ours[] = { "case", "alarm", "positive", "negative", "mistake", "error" };
    (void)mel_text_add_clean(out, noun, SIZE_MAX);
    mel_buffer_puts(out, has_end(noun, ours, sizeof ours / sizeof *ours) ? "s" : " cases");
}

char *mel_plural_of(const char *noun)
{
    mel_buffer text;
    mel_buffer_init(&text, SIZE_MAX);
    mel_text_add_plural(&text, noun);
    return mel_buffer_take(&text);
}

void mel_text_add_missed(mel_buffer *out, const char *positive_class, bool plural)
{
    const size_t n = strlen(positive_class);
    const char *cases = plural ? "cases" : "case";
    if (says_nothing(positive_class)) {
        mel_buffer_puts(out, plural ? "missed positives" : "missed positive");
    } else if (!is_plain(positive_class) || positive_class[n - 1] == ' ') {
        mel_buffer_printf(out, "missed %s of \"", cases);
        (void)mel_text_add_clean(out, positive_class, SIZE_MAX);
        mel_buffer_puts(out, "\"");
    } else {
        mel_buffer_printf(out, "missed %s %s", positive_class, cases);
    }
}

void mel_text_add_mistake(mel_buffer *out, const char *positive_class, bool missed, bool plural)
{
    if (missed)
        mel_text_add_missed(out, positive_class, plural);
    else
        mel_buffer_puts(out, plural ? "false alarms" : "false alarm");
}

mel_status mel_text_take(char **out, mel_buffer *buf, const char *what, mel_error *err)
{
    *out = NULL;
    const mel_status status = buf->status;
    if (status == MEL_OK && buf->data != NULL) {
        *out = buf->data;
        *buf = (mel_buffer){ .cap = buf->cap };
        return MEL_OK;
    }
    const size_t cap = buf->cap;
    mel_buffer_free(buf);
    if (status == MEL_ELIMIT)
        return mel_fail(err, MEL_ELIMIT, "%s is longer than %zu bytes", what, cap);
    return mel_fail_memory(err, what);
}
