/* Replacing a file as a whole: readers see the old bytes or the new ones, never a part. */
#ifndef MEL_BASE_FILE_H
#define MEL_BASE_FILE_H

#include "base/internal.h"

/* Writes bytes[0..n) to a new file next to path, syncs it and renames it over path; "-" is standard
 * output, and devices and pipes are written to as they are. MEL_EIO with the reason when that fails, and
 * the old file is left as it was. Of several ranks the first writes. */
mel_status mel_file_replace(const char *path, const void *bytes, size_t n, mel_error *err);

/* MEL_EIO: the path, what cannot be done, and why by errno. */
mel_status mel_file_cannot(const char *path, const char *what, int reason, mel_error *err);

/* Makes a name just created or renamed survive a crash, where the file system can do that. */
void mel_file_sync_folder(const char *path);

#endif
