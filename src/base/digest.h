/* SHA-256 of bytes and files. */
#ifndef MEL_BASE_DIGEST_H
#define MEL_BASE_DIGEST_H

#include "melicit/base.h"

/* hex receives 64 lower-case digits and a NUL. */
void mel_digest(const void *bytes, size_t n, char hex[MEL_DIGEST_HEX]);
/* The digest of a file's bytes as stored (a .gz is not unpacked), in fixed memory. */
mel_status mel_digest_file(char hex[MEL_DIGEST_HEX], const char *path, mel_error *err);

#endif
