/* Putting pieces of a file into an error sentence. */
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

/* What classes and groups are called, lent. */
typedef struct {
    const char *const *class_name, *const *group_name; /* NULL: their numbers, from 1 */
} mel_called;
/* Name i in quotes, or its number. */
mel_quoted mel_quote_name(const char *const *names, size_t i);
/* MEL_EDATA: nobody of group g, of n_groups, is of class i. */
mel_status mel_fail_no_rows(mel_error *err, const mel_called *called, size_t n_groups, size_t g, size_t i);

#endif
