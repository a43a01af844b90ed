#include "base/buffer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void mel_buffer_init(mel_buffer *buf, size_t cap)
{
    *buf = (mel_buffer){ .cap = cap };
}

void mel_buffer_free(mel_buffer *buf)
{
    free(buf->data);
    mel_buffer_init(buf, buf->cap);
}

void mel_buffer_reset(mel_buffer *buf)
{
    buf->size = 0;
    buf->status = MEL_OK;
}

/* Room for n more bytes and a NUL; false and a status when there is none. */
static bool reserve(mel_buffer *buf, size_t n)
{
    if (buf->status != MEL_OK)
        return false;
    if (n > buf->cap - buf->size) {
        buf->status = MEL_ELIMIT;
        return false;
    }
    const size_t need = buf->size + n + 1;
    if (need <= buf->capacity)
        return true;
    size_t capacity = buf->capacity < 64 ? 64 : buf->capacity;
    while (capacity < need)
        capacity = capacity > SIZE_MAX / 2 ? need : capacity * 2;
    void *block = buf->data;
    if (!mel_grow(&block, capacity, 1)) {
        buf->status = MEL_ENOMEM;
        return false;
    }
    buf->data = block;
    buf->capacity = capacity;
    return true;
}

void mel_buffer_add(mel_buffer *buf, const void *bytes, size_t n)
{
    if (!reserve(buf, n))
        return;
    if (n != 0)
        memcpy(buf->data + buf->size, bytes, n);
    buf->size += n;
    buf->data[buf->size] = '\0';
}

void mel_buffer_puts(mel_buffer *buf, const char *text)
{
    mel_buffer_add(buf, text, strlen(text));
}

void mel_buffer_printf(mel_buffer *buf, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    va_list again;
    va_copy(again, args);
    const int n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (n >= 0 && reserve(buf, (size_t)n)) {
        (void)vsnprintf(buf->data + buf->size, (size_t)n + 1, fmt, again);
        buf->size += (size_t)n;
    }
    va_end(again);
}
