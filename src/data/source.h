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
/* Everything from the start, followed by `padding` zero bytes; freed by the caller with free(). */
mel_status mel_source_all(char **out, size_t *n, mel_source *source, size_t padding, mel_error *err);
/* Everything, lent until the source is freed: a file on disk is mapped, so that the kernel's page cache holds
 * it; of others (pipes, gzip) the first `most` bytes are read. */
mel_status mel_source_map(const char **out, size_t *n, mel_source *source, uint64_t most, mel_error *err);
/* MEL_EDATA when a file was changed since it was opened. */
mel_status mel_source_unchanged(const mel_source *source, mel_error *err);
/* A whole file at once, by its path. */
mel_status mel_source_whole(char **out, size_t *n, const char *path, uint64_t max_bytes, mel_error *err);

/* 0 to 1: how much of the stored bytes has been read. */
double mel_source_share(const mel_source *source);
/* Bytes to expect in all, or 0 when unknown (packed). */
uint64_t mel_source_expected(const mel_source *source);
/* Stored bytes of what is packed; 0: it is not. */
uint64_t mel_source_packed(const mel_source *source);
/* Bytes still to expect, or UINT64_MAX when unknown. */
uint64_t mel_source_left(const mel_source *source);

#endif
