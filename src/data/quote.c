/* Pieces of a file as they may stand inside a sentence. */
#include "data/quote.h"

#include "data/utf8.h"

#include <stdio.h>
#include <string.h>

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
