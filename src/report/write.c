#include "report/write.h"

#include "metric/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char minus[] = "\xE2\x88\x92";
static const char replacement[] = "\xEF\xBF\xBD";
static const long first_wide = 0x1100; /* characters from here on may be twice as wide */
static const char ellipsis[] = "\xE2\x80\xA6";

/* printf's text without what the locale put in: whatever is no digit, sign or exponent is the point. */
static mel_digits plain(const char *text)
{
    mel_digits out;
    size_t n = 0;
    bool in_point = false;
    for (const char *p = text; *p != '\0' && n + 1 < sizeof out.text; p++) {
        const bool kept = (*p >= '0' && *p <= '9') || *p == '-' || *p == '+' || *p == 'e';
        if (kept)
            out.text[n++] = *p;
        else if (!in_point)
            out.text[n++] = '.';
        in_point = !kept;
    }
    out.text[n] = '\0';
    return out;
}

static bool is_zero(const char *text)
{
    return strspn(text, "-0.") == strlen(text);
}

mel_digits mel_digits_fixed(double x, int decimals)
{
    char text[64];
    if (!isfinite(x))
        return (mel_digits){ "?" };
    if (fabs(x) >= 1e15)
        (void)snprintf(text, sizeof text, "%.6e", x);
    else
        (void)snprintf(text, sizeof text, "%.*f", decimals < 0 ? 0 : decimals > 12 ? 12 : decimals, x);
    mel_digits out = plain(text);
    if (out.text[0] == '-' && is_zero(out.text))
        memmove(out.text, out.text + 1, strlen(out.text));
    return out;
}

mel_digits mel_digits_short(double x, int decimals)
{
    mel_digits out = mel_digits_fixed(x, decimals);
    if (strchr(out.text, '.') == NULL || strchr(out.text, 'e') != NULL)
        return out;
    size_t n = strlen(out.text);
    while (out.text[n - 1] == '0')
        n--;
    if (out.text[n - 1] == '.')
        n--;
    out.text[n] = '\0';
    return out;
}

static mel_digits with_minus(mel_digits number)
{
    mel_digits out;
    if (number.text[0] != '-')
        return number;
    (void)snprintf(out.text, sizeof out.text, "%s%.*s", minus, (int)(sizeof out.text - sizeof minus),
                   number.text + 1);
    return out;
}

mel_digits mel_digits_shown(double x, int decimals)
{
    return with_minus(mel_digits_fixed(x, decimals));
}

mel_digits mel_digits_significant(double x, int digits)
{
    if (!isfinite(x) || x == 0.0)
        return mel_digits_fixed(x, 0);
    const double size = fabs(x);
    if (size >= 1e6 || size < 1e-4) {
        char text[64];
        (void)snprintf(text, sizeof text, "%.*e", digits - 1, x);
        mel_digits out = plain(text);
        return with_minus(out);
    }
    int decimals = digits - 1 - (int)floor(log10(size));
    if (decimals < 0)
        decimals = 0;
    return with_minus(mel_digits_short(x, decimals));
}

mel_digits mel_digits_count(uint64_t n)
{
    char digits[24];
    mel_digits out;
    const int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n);
    size_t size = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            out.text[size++] = ',';
        out.text[size++] = digits[i];
    }
    out.text[size] = '\0';
    return out;
}

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

void mel_write(mel_buffer *out, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
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
