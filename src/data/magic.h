/* Files that other programs write and this one does not read. */
#ifndef MEL_DATA_MAGIC_H
#define MEL_DATA_MAGIC_H

#include "base/internal.h"

/* Does a zip archive start so? NPZ and Excel files are such archives. */
bool mel_magic_is_zip(const char *bytes, size_t n);
/* A sentence on what the file is and how to get a table out of it; MEL_OK when its first n bytes (128 are
 * enough) are nothing known. */
mel_status mel_magic_refuse(const char *bytes, size_t n, mel_error *err);

#endif
