/* Text as SVG and HTML need it: escaped, cut to columns, as a word of a shell. */
#include "report/write.h"

#include "metric/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char replacement[] = "\xEF\xBF\xBD";
static const long first_wide = 0x1100; /* characters from here on may be twice as wide */
static const char ellipsis[] = "\xE2\x80\xA6";

static bool allowed_in_xml(long code)
{
    return code == '\t' || code == '\n' || (code >= 0x20 && code != 0x7f && code < 0x80) ||
           (code >= 0xa0 && code != 0xfffe && code != 0xffff);
}

/* One character of text; returns the position behind it. */
static const char *write_one(mel_buffer *out, const char *text)
{
    const char *next = text;
    const long code = mel_text_next(&next);
    switch (code) {
    case '&':
        mel_buffer_puts(out, "&amp;");
        break;
    case '<':
        mel_buffer_puts(out, "&lt;");
        break;
    case '>':
        mel_buffer_puts(out, "&gt;");
        break;
    case '"':
        mel_buffer_puts(out, "&quot;");
        break;
    case '\'':
        mel_buffer_puts(out, "&#39;");
        break;
    default:
        if (allowed_in_xml(code))
            mel_buffer_add(out, text, (size_t)(next - text));
        else
            mel_buffer_puts(out, replacement);
    }
    return next;
}

void mel_write_text(mel_buffer *out, const char *text)
{
    while (*text != '\0')
        text = write_one(out, text);
}

void mel_vwrite(mel_buffer *out, const char *fmt, va_list args)
{
    for (const char *p = fmt; *p != '\0';) {
        const size_t n = strcspn(p, "%");
        mel_buffer_add(out, p, n);
        p += n;
        if (*p == '\0')
            break;
        if (p[1] == 's')
            mel_write_text(out, va_arg(args, const char *));
        else
            mel_buffer_puts(out, "%");
        p += 2;
    }
}

void mel_write(mel_buffer *out, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    mel_vwrite(out, fmt, args);
    va_end(args);
}

void mel_write_cut(mel_buffer *out, const char *text, size_t columns)
{
    if (mel_text_columns(text) <= columns) {
        mel_write_text(out, text);
        return;
    }
    for (size_t used = 0; *text != '\0';) {
        const char *next = text;
        used += mel_text_next(&next) >= first_wide ? 2 : 1;
        if (used >= columns)
            break;
        text = write_one(out, text);
    }
    mel_buffer_puts(out, ellipsis);
}

void mel_write_word(mel_buffer *out, const char *word)
{
    static const char plain_bytes[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%";
    if (*word != '\0' && strspn(word, plain_bytes) == strlen(word)) {
        mel_buffer_puts(out, word);
        return;
    }
    mel_write_text(out, "'");
    while (*word != '\0')
        if (*word == '\'') {
            mel_write_text(out, "'\\''");
            word++;
        } else {
            word = write_one(out, word);
        }
    mel_write_text(out, "'");
}

void mel_write_attribute(mel_buffer *out, const char *name, double px)
{
    mel_buffer_printf(out, " %s=\"%s\"", name, mel_digits_short(px, 2).text);
}

void mel_write_point(mel_buffer *out, char command, double x, double y)
{
    mel_buffer_printf(out, "%c%s %s", command, mel_digits_short(x, 2).text, mel_digits_short(y, 2).text);
}
