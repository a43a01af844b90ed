/* Checks and steps through UTF-8. */
#include "data/utf8.h"

#include "base/internal.h"
#include "data/shared.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static bool continues(unsigned char c)
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
        return n >= 2 && continues(u[1]) ? 2 : 0;
    if (n < 3 || !continues(u[1]) || !continues(u[2]))
        return 0;
    if (u[0] < 0xF0) {
        const bool overlong = u[0] == 0xE0 && u[1] < 0xA0, surrogate = u[0] == 0xED && u[1] >= 0xA0;
        return overlong || surrogate ? 0 : 3;
    }
    if (n < 4 || !continues(u[3]))
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
