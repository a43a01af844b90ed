/* Text and bytes that grow as they are written. */
#include "base/buffer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void mel_buffer_init(mel_buffer *buf, size_t cap)
{
    *buf = (mel_buffer){ .cap = cap < SIZE_MAX ? cap : SIZE_MAX - 1 }; /* room for the NUL */
}

void mel_buffer_free(mel_buffer *buf)
{
    free(buf->data);
    mel_buffer_init(buf, buf->cap);
}

char *mel_buffer_take(mel_buffer *buf)
{
    char *text = buf->status == MEL_OK ? buf->data : NULL;
    if (text != NULL)
        buf->data = NULL;
    mel_buffer_free(buf);
    return text;
}

void mel_buffer_reset(mel_buffer *buf)
{
    buf->size = 0;
    buf->status = MEL_OK;
    if (buf->data != NULL)
        buf->data[0] = '\0';
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
    if (capacity > buf->cap)
        capacity = buf->cap + 1;
    if (!MEL_GROW(buf->data, capacity)) {
        buf->status = MEL_ENOMEM;
        return false;
    }
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

void mel_buffer_vprintf(mel_buffer *buf, const char *fmt, va_list args)
{
    if (buf->status != MEL_OK)
        return;
    va_list again;
    va_copy(again, args);
    const size_t room = buf->capacity - buf->size;
    const int n = mel_vprint(room != 0 ? buf->data + buf->size : NULL, room, fmt, args);
    const bool fits = n >= 0 && (size_t)n < room;
    if (n < 0)
        buf->status = MEL_ELIMIT; /* longer than an int can say */
    else if (!fits && reserve(buf, (size_t)n))
        (void)mel_vprint(buf->data + buf->size, (size_t)n + 1, fmt, again);
    va_end(again);
    if (buf->status == MEL_OK)
        buf->size += (size_t)n;
    if (buf->data != NULL)
        buf->data[buf->size] = '\0'; /* what did not fit is gone */
}

void mel_buffer_printf(mel_buffer *buf, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    mel_buffer_vprintf(buf, fmt, args);
    va_end(args);
}
