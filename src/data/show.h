/* Putting pieces of a file into an error sentence. */
#ifndef MEL_DATA_SHOW_H
#define MEL_DATA_SHOW_H

#include <stddef.h>

typedef struct {
    char text[64];
} mel_shown;

/* The bytes in double quotes, cut to a sane length (then with "..." behind), everything that is not
 * printable UTF-8 as \xNN. Used as mel_show(p, n).text inside one expression. */
mel_shown mel_show(const char *bytes, size_t n);
mel_shown mel_show_text(const char *text);
/* A file's name, cut from the left when long; "-" is called standard input. */
typedef struct {
    char text[160];
} mel_shown_file;
mel_shown_file mel_show_file(const char *path);

#endif
