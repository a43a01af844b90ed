/* Pieces of text of a file: inside a sentence, as UTF-8, as words for a missing cell. */
#ifndef MEL_DATA_QUOTE_H
#define MEL_DATA_QUOTE_H

#include "base/internal.h"

typedef struct {
    char text[64];
} mel_quoted;

/* The bytes in double quotes, cut to a sane length (then with "..." behind), everything that is not
 * printable UTF-8 as \xNN. Used as mel_quote(p, n).text inside one expression. */
mel_quoted mel_quote(const char *bytes, size_t n);
mel_quoted mel_quote_text(const char *text);
/* A file's name, cut from the left when long; "-" is called standard input. */
typedef struct {
    char text[160];
} mel_quoted_file;
mel_quoted_file mel_quote_file(const char *path);

/* Takes the blanks around a text away. */
static inline void mel_trim(const char **text, size_t *n)
{
    for (; *n != 0 && (**text == ' ' || **text == '\t'); --*n)
        ++*text;
    while (*n != 0 && ((*text)[*n - 1] == ' ' || (*text)[*n - 1] == '\t'))
        --*n;
}

/* What classes and groups are called, lent. */
typedef struct {
    const char *const *class_name, *const *group_name; /* NULL: their numbers, from 1 */
} mel_called;
/* Name i in quotes, or its number. */
mel_quoted mel_quote_name(const char *const *names, size_t i);
/* MEL_EDATA: nobody of group g, of n_groups, is of class i. */
mel_status mel_fail_no_rows(mel_error *err, const mel_called *called, size_t n_groups, size_t g, size_t i);

/* --- UTF-8 as Unicode defines it: no overlong forms, no surrogates, nothing above U+10FFFF ----------- */

/* Bytes of the character that starts at p (n readable bytes), 0 when it is none. */
size_t mel_utf8_length(const char *p, size_t n);
/* The first byte of [p, p + n) that is not valid UTF-8, or n. */
size_t mel_utf8_valid(const char *p, size_t n);
/* Writes a code point, which may be 4 bytes; returns how many. */
enum { MEL_UTF8_LONGEST = 4 };
size_t mel_utf8_put(char *to, uint32_t c);

/* --- words that stand for a missing cell ------------------------------------------------------------- */

/* A cell without quotes and without the blanks around it. Among numbers every word of the list counts, in any
 * case; among texts only those that no category is called by, spelt exactly so. */
bool mel_missing_number(const char *text, size_t n);
bool mel_missing_text(const char *text, size_t n);
/* In a column that the caller declared to be text: only nothing and "?". */
bool mel_missing_declared(const char *text, size_t n);

#endif
