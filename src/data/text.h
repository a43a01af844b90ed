/* A source as UTF-8 text: what is stored in another encoding is converted on the way, blanks between cells
 * can be made into single tabs, and carriage returns that end lines into line feeds. Costs nothing where none
 * of it is needed. */
#ifndef MEL_DATA_TEXT_H
#define MEL_DATA_TEXT_H

#include "data/source.h"

typedef enum {
    MEL_ENCODING_AUTO,
    MEL_UTF_8,
    MEL_UTF_16, /* the byte order is found */
    MEL_UTF_16LE,
    MEL_UTF_16BE,
    MEL_LATIN_1, /* ISO 8859-1: every byte is a character */
    MEL_WINDOWS_1252
} mel_encoding;

/* The encoding of that name (NULL, "auto": to be found); false when the name is not known. */
bool mel_encoding_named(mel_encoding *out, const char *name);
const char *mel_encoding_name(mel_encoding encoding);
/* What the first bytes of a file say: a byte order mark or the NUL bytes of UTF-16, else UTF-8. */
mel_encoding mel_encoding_of_start(const char *bytes, size_t n);

typedef struct {
    mel_source *source;     /* lent */
    mel_encoding encoding;  /* set before the first byte is read; MEL_UTF_8: nothing is converted */
    bool blanks_to_tabs;    /* runs of blanks outside quotes become one tab; those around a row go away */
    bool returns_end_lines; /* carriage returns outside quotes become line feeds, which must not be there */

    void *converter;       /* iconv's, while text is converted */
    unsigned char *stored; /* bytes of the source: stored[stored_begin..stored_size) are to be converted */
    size_t stored_begin, stored_size;
    char *ready; /* text: ready[ready_begin..ready_size) is to be handed out */
    size_t ready_begin, ready_size;
    bool source_ended;
    bool inside_quotes, in_row, blank_before; /* where rewriting is */
    size_t line;                              /* of the byte to be converted, from 1 */
    /* How much of it would be UTF-8: characters of several bytes, and bytes that are part of none. */
    size_t utf8_characters, other_bytes;
} mel_text;

/* As mel_source_read, mel_source_rewind, mel_source_expected and mel_source_left. */
mel_status mel_text_read(mel_text *text, char *to, size_t n, size_t *got, mel_error *err);
mel_status mel_text_rewind(mel_text *text, mel_error *err);
uint64_t mel_text_expected(const mel_text *text);
uint64_t mel_text_left(const mel_text *text);
void mel_text_close(mel_text *text);

#endif
