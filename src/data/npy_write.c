/* Writes NPY files. */
#include "data/shared.h"

#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Magic, version 1.0, length, dictionary, blanks and a line end up to a multiple of 64 bytes. */
size_t mel_npy_start(char out[MEL_NPY_START_BYTES], const char *item, size_t rows, const size_t *columns)
{
    enum { PREFIX_BYTES = 10, ALIGNMENT = 64 };
    char text[MEL_NPY_START_BYTES], second[24] = "";
    if (columns != NULL)
        (void)snprintf(second, sizeof second, " %zu", *columns);
    const int n =
        snprintf(text, sizeof text, "{'descr': '%.3s', 'fortran_order': False, 'shape': (%zu,%s), }", item,
                 rows, second);
    const size_t used = PREFIX_BYTES + (size_t)n + 1;
    const size_t total = (used + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    memset(out, ' ', total);
    memcpy(out, (const char[]){ '\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0 }, 8);
    out[8] = (char)((total - PREFIX_BYTES) & 0xFF);
    out[9] = (char)((total - PREFIX_BYTES) >> 8);
    memcpy(out + PREFIX_BYTES, text, (size_t)n);
    out[total - 1] = '\n';
    return total;
}

mel_status mel_npy_write(const char *path, size_t rows, size_t columns, const double *values, mel_error *err)
{
    char header[MEL_NPY_START_BYTES];
    const bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    const size_t offset = mel_npy_start(header, little ? "<f8" : ">f8", rows, &columns);
    if (columns != 0 && rows > (SIZE_MAX - offset) / sizeof *values / columns)
        return mel_fail(err, MEL_EINVAL, "an array of %zu x %zu numbers", rows, columns);
    const size_t n = rows * columns * sizeof *values;
    char *bytes = mel_alloc(offset + n, 1);
    if (bytes == NULL)
        return mel_fail_memory(err, "an NPY file");
    memcpy(bytes, header, offset);
    if (n != 0)
        memcpy(bytes + offset, values, n);
    const mel_status status = mel_file_replace(path, bytes, offset + n, err);
    free(bytes);
    return status;
}
