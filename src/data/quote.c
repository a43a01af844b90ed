/* Pieces of text of a file: inside a sentence, as UTF-8, as words for a missing cell. */
#include "data/quote.h"

#include "data/shared.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { ESCAPED = 4, DOTS = 3, MOST = (int)sizeof(mel_quoted) - DOTS - 2 };

/* Room for the cut mark, the closing quote and the NUL is kept free throughout. */
mel_quoted mel_quote(const char *bytes, size_t n)
{
    static const char hex[] = "0123456789abcdef";
    mel_quoted out;
    size_t size = 0, i = 0;
    out.text[size++] = '"';
    while (i < n) {
        const unsigned char c = (unsigned char)bytes[i];
        const size_t length = c < 0x20 || c == 0x7f ? 0 : mel_utf8_length(bytes + i, n - i);
        if (size + (length != 0 ? length : ESCAPED) > MOST)
            break;
        if (length == 0) {
            out.text[size++] = '\\';
            out.text[size++] = 'x';
            out.text[size++] = hex[c >> 4];
            out.text[size++] = hex[c & 15];
            i++;
            continue;
        }
        memcpy(out.text + size, bytes + i, length);
        size += length;
        i += length;
    }
    (void)snprintf(out.text + size, sizeof out.text - size, "%s", i < n ? "...\"" : "\"");
    return out;
}

mel_quoted mel_quote_text(const char *text)
{
    return mel_quote(text, strlen(text));
}

mel_quoted_file mel_quote_file(const char *path)
{
    mel_quoted_file out;
    const size_t n = strlen(path);
    if (strcmp(path, "-") == 0)
        (void)snprintf(out.text, sizeof out.text, "standard input");
    else if (n < sizeof out.text)
        (void)snprintf(out.text, sizeof out.text, "%s", path);
    else
        (void)snprintf(out.text, sizeof out.text, "...%s", path + n - (sizeof out.text - DOTS - 1));
    for (char *p = out.text; *p != '\0'; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            *p = '?';
    return out;
}

mel_quoted mel_quote_name(const char *const *names, size_t i)
{
    mel_quoted out;
    if (names != NULL)
        return mel_quote_text(names[i]);
    (void)snprintf(out.text, sizeof out.text, "%zu", i + 1);
    return out;
}

mel_status mel_fail_no_rows(mel_error *err, const mel_called *called, size_t n_groups, size_t g, size_t i)
{
    if (n_groups < 2)
        return mel_fail(err, MEL_EDATA, "there are no rows of class %s",
                        mel_quote_name(called->class_name, i).text);
    return mel_fail(err, MEL_EDATA, "group %s has no rows of class %s",
                    mel_quote_name(called->group_name, g).text, mel_quote_name(called->class_name, i).text);
}

static bool continues_utf8(unsigned char c)
{
    return (c & 0xC0) == 0x80;
}

size_t mel_utf8_length(const char *p, size_t n)
{
    const unsigned char *u = (const unsigned char *)p;
    if (n == 0)
        return 0;
    if (u[0] < 0x80)
        return 1;
    if (u[0] < 0xC2 || u[0] > 0xF4)
        return 0;
    if (u[0] < 0xE0)
        return n >= 2 && continues_utf8(u[1]) ? 2 : 0;
    if (n < 3 || !continues_utf8(u[1]) || !continues_utf8(u[2]))
        return 0;
    if (u[0] < 0xF0) {
        const bool overlong = u[0] == 0xE0 && u[1] < 0xA0, surrogate = u[0] == 0xED && u[1] >= 0xA0;
        return overlong || surrogate ? 0 : 3;
    }
    if (n < 4 || !continues_utf8(u[3]))
        return 0;
    const bool overlong = u[0] == 0xF0 && u[1] < 0x90, beyond = u[0] == 0xF4 && u[1] >= 0x90;
    return overlong || beyond ? 0 : 4;
}

size_t mel_utf8_valid(const char *p, size_t n)
{
    static const uint64_t high = 0x8080808080808080U;
    size_t i = 0;
    while (i < n) {
        uint64_t word;
        if (n - i >= sizeof word) {
            memcpy(&word, p + i, sizeof word);
            if ((word & high) == 0) {
                i += sizeof word;
                continue;
            }
        }
        const size_t length = mel_utf8_length(p + i, n - i);
        if (length == 0)
            return i;
        i += length;
    }
    return n;
}

size_t mel_utf8_put(char *to, uint32_t c)
{
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        to[0] = (char)(0xC0 | c >> 6);
        to[1] = (char)(0x80 | (c & 63));
        return 2;
    }
    if (c < 0x10000) {
        to[0] = (char)(0xE0 | c >> 12);
        to[1] = (char)(0x80 | (c >> 6 & 63));
        to[2] = (char)(0x80 | (c & 63));
        return 3;
    }
    to[0] = (char)(0xF0 | c >> 18);
    to[1] = (char)(0x80 | (c >> 12 & 63));
    to[2] = (char)(0x80 | (c >> 6 & 63));
    to[3] = (char)(0x80 | (c & 63));
    return 4;
}

char *mel_utf8_repaired(const char *text)
{
    static const char replacement[] = "\xEF\xBF\xBD";
    size_t n = strlen(text), used = 0;
    char *out = mel_alloc(n + 1, sizeof replacement - 1);
    while (out != NULL && n > 0) {
        const size_t length = mel_utf8_length(text, n), taken = length > 0 ? length : 1;
        const size_t put = length > 0 ? length : sizeof replacement - 1;
        memcpy(out + used, length > 0 ? text : replacement, put);
        used += put;
        text += taken;
        n -= taken;
    }
    if (out != NULL)
        out[used] = '\0';
    return out;
}

typedef enum { ANYWHERE, AMONG_NUMBERS } place;

/* ANYWHERE: nothing, "?" and what pandas takes as missing. */
static const struct {
    const char *word;
    place where;
} words[] = { { "NA", ANYWHERE },           { "N/A", ANYWHERE },        { "n/a", ANYWHERE },
              { "#N/A", ANYWHERE },         { "#NA", ANYWHERE },        { "#N/A N/A", ANYWHERE },
              { "<NA>", ANYWHERE },         { "NULL", ANYWHERE },       { "null", ANYWHERE },
              { "NaN", ANYWHERE },          { "nan", ANYWHERE },        { "-NaN", ANYWHERE },
              { "-nan", ANYWHERE },         { "1.#QNAN", ANYWHERE },    { "-1.#QNAN", ANYWHERE },
              { "1.#IND", ANYWHERE },       { "-1.#IND", ANYWHERE },    { "None", AMONG_NUMBERS },
              { "NaT", AMONG_NUMBERS },     { "-", AMONG_NUMBERS },     { "--", AMONG_NUMBERS },
              { ".", AMONG_NUMBERS },       { "..", AMONG_NUMBERS },    { "#DIV/0!", AMONG_NUMBERS },
              { "#VALUE!", AMONG_NUMBERS }, { "#REF!", AMONG_NUMBERS }, { "#NAME?", AMONG_NUMBERS },
              { "#NUM!", AMONG_NUMBERS },   { "#NULL!", AMONG_NUMBERS } };

enum { LONGEST = 8 };

bool mel_missing_declared(const char *text, size_t n)
{
    return n == 0 || (n == 1 && text[0] == '?');
}

bool mel_missing_number(const char *text, size_t n)
{
    for (size_t i = 0; n <= LONGEST && i < sizeof words / sizeof *words; i++)
        if (n == strlen(words[i].word) && strncasecmp(words[i].word, text, n) == 0)
            return true;
    return mel_missing_declared(text, n);
}

bool mel_is_missing_word(const char *text)
{
    return mel_missing_number(text, strlen(text));
}

bool mel_missing_text(const char *text, size_t n)
{
    for (size_t i = 0; n <= LONGEST && i < sizeof words / sizeof *words; i++)
        if (words[i].where == ANYWHERE && n == strlen(words[i].word) && memcmp(words[i].word, text, n) == 0)
            return true;
    return mel_missing_declared(text, n);
}
