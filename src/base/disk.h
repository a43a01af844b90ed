/* Rows that are kept in a file instead of memory, written once from front to back and read in pieces. What
 * the kernel has of it in memory is used from there. The rest is read past the page cache where the file
 * system allows it: pages are not faulted in, looked for and unmapped again, and do not drive others out. */
#ifndef MEL_BASE_DISK_H
#define MEL_BASE_DISK_H

#include "base/internal.h"

/* The folder of such files, lent, and how many bytes are worth one; NULL, as when the program starts: rows
 * stay in memory. Set before there are threads. */
void mel_disk_set(const char *folder, size_t least_bytes);
bool mel_disk_wanted(size_t bytes);
/* A new file that has no name, so that nothing is left of it when the process ends, however it ends; -1 with
 * errno. */
int mel_disk_file(void);

/* Where rows are wanted on disk: several arrays that are gone through side by side are read as far as they
 * are needed next. The kernel by itself reads megabytes ahead in each of them, and drives out those of the
 * others before they are used. `mel_disk_side_by_side` with false when they are done with. */
void mel_disk_side_by_side(const void *array, size_t bytes, bool now);
void mel_disk_need(const void *bytes, size_t n);

typedef struct mel_disk mel_disk;
/* Empty, in such a file. */
mel_status mel_disk_new(mel_disk **out, mel_error *err);
void mel_disk_free(mel_disk *disk);
/* n bytes behind those that are there. */
mel_status mel_disk_add(mel_disk *disk, const void *bytes, size_t n, mel_error *err);
/* Nothing more is added; before anything is read. */
mel_status mel_disk_finish(mel_disk *disk, mel_error *err);

/* What one thread reads into; it grows as it must. Begins with 0. */
typedef struct {
    char *bytes;
    size_t size;
} mel_disk_buffer;
void mel_disk_buffer_clear(mel_disk_buffer *buffer);
/* At least n bytes, of no value; false: no memory. */
bool mel_disk_buffer_hold(mel_disk_buffer *buffer, size_t n);
/* Bytes at .. at + n of the file, as aligned as `at` is; in the buffer, if need be, until it is used again.
 */
mel_status mel_disk_read(const void **out, const mel_disk *disk, size_t at, size_t n, mel_disk_buffer *buffer,
                         mel_error *err);

#endif
