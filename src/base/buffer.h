/* A growable run of bytes with a cap: the only way the library accumulates text of unknown length. */
#ifndef MEL_BASE_BUFFER_H
#define MEL_BASE_BUFFER_H

#include "base/internal.h"

typedef struct {
    char *data; /* NUL after the last byte once anything was added */
    size_t size, capacity;
    size_t cap;        /* most bytes it may hold */
    mel_status status; /* first failure (ENOMEM, ELIMIT); later additions are ignored */
} mel_buffer;

void mel_buffer_init(mel_buffer *buf, size_t cap);
void mel_buffer_free(mel_buffer *buf);
/* The text, for the caller to free(), or NULL after a failure. The buffer is empty afterwards. */
char *mel_buffer_take(mel_buffer *buf);
/* Forgets the contents, keeps the memory and clears a failure. */
void mel_buffer_reset(mel_buffer *buf);
void mel_buffer_add(mel_buffer *buf, const void *bytes, size_t n);
void mel_buffer_puts(mel_buffer *buf, const char *text);
MEL_PRINTF(2, 3) void mel_buffer_printf(mel_buffer *buf, const char *fmt, ...);
MEL_PRINTF(2, 0) void mel_buffer_vprintf(mel_buffer *buf, const char *fmt, va_list args);

#endif
