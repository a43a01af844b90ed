/* UTF-8 as Unicode defines it: no overlong forms, no surrogates, nothing above U+10FFFF. */
#ifndef MEL_DATA_UTF8_H
#define MEL_DATA_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the character that starts at p (n readable bytes), 0 when it is none. */
size_t mel_utf8_length(const char *p, size_t n);
/* The first byte of [p, p + n) that is not valid UTF-8, or n. */
size_t mel_utf8_valid(const char *p, size_t n);
/* Writes a code point, which may be 4 bytes; returns how many. */
enum { MEL_UTF8_LONGEST = 4 };
size_t mel_utf8_put(char *to, uint32_t c);

#endif
