/* Bytes of an input in order, unpacked when they are gzip: from a file, standard input or memory.
 * Can be read again from the start; what cannot (a pipe) is held in memory. */
#ifndef MEL_DATA_SOURCE_H
#define MEL_DATA_SOURCE_H

#include "base/internal.h"

typedef struct mel_source mel_source;

/* max_bytes caps the bytes handed out. Sentences do not name the file: the caller does. */
mel_status mel_source_open(mel_source **out, const char *path, uint64_t max_bytes, mel_error *err);
/* Lends the bytes until freed. */
mel_status mel_source_memory(mel_source **out, const void *bytes, size_t n, uint64_t max_bytes,
                             mel_error *err);
void mel_source_free(mel_source *source);
MEL_CLEANUP(mel_source)

/* Up to n bytes; *got < n only at the end. */
mel_status mel_source_read(mel_source *source, void *to, size_t n, size_t *got, mel_error *err);
mel_status mel_source_rewind(mel_source *source, mel_error *err);
/* Everything, lent until the source is freed: a file on disk is mapped, so that the kernel's page cache holds
 * it; of others (pipes, gzip) the first `most` bytes are read. */
mel_status mel_source_map(const char **out, size_t *n, mel_source *source, uint64_t most, mel_error *err);
/* MEL_EDATA when a file was changed since it was opened. */
mel_status mel_source_unchanged(const mel_source *source, mel_error *err);
/* A whole file at once, by its path. */
mel_status mel_source_whole(char **out, size_t *n, const char *path, uint64_t max_bytes, mel_error *err);

/* 0 to 1: how much of the stored bytes has been read. */
double mel_source_share(const mel_source *source);
/* Stored bytes of what is packed; 0: it is not. */
uint64_t mel_source_packed(const mel_source *source);

/* --- text ----------------------------------------------------------------------------------------------- */

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

/* As mel_source_read and mel_source_rewind; bytes to expect in all (0: unknown), and still to come
 * (UINT64_MAX: unknown). */
mel_status mel_text_read(mel_text *text, char *to, size_t n, size_t *got, mel_error *err);
mel_status mel_text_rewind(mel_text *text, mel_error *err);
uint64_t mel_text_expected(const mel_text *text);
uint64_t mel_text_left(const mel_text *text);
void mel_text_close(mel_text *text);

#endif
