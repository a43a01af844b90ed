/* Rows in a file without a name: what the kernel keeps of it in memory is used from there, the rest is read
 * past its cache where that is possible. */
#include "base/disk.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    PAGE = 4096,      /* what places, sizes and memory are multiples of */
    STAGE = 1 << 19,  /* bytes written at a time */
    MOST_NAME = 4096, /* of a file */
};

static const char *folder; /* NULL: rows stay in memory */
static size_t least;       /* bytes that are worth a file */

struct mel_disk {
    int file;
    int direct;     /* the same file past the page cache; -1: the file system does not do that */
    char *map;      /* the file in memory as far as the kernel keeps it there; NULL: unknown */
    char *stage;    /* STAGE bytes that come next */
    size_t staged;  /* of them */
    size_t written; /* bytes of the file, a multiple of PAGE */
    size_t size;    /* bytes that were added */
};

void mel_disk_set(const char *of, size_t least_bytes)
{
    folder = of;
    least = least_bytes;
}

bool mel_disk_wanted(size_t bytes)
{
    return folder != NULL && bytes >= least;
}

static size_t round_up(size_t n)
{
    return (n + PAGE - 1) / PAGE * PAGE;
}

static mel_status refuse(int reason, mel_error *err)
{
    return mel_file_cannot(folder, "keep rows there (TMPDIR names another folder)", reason, err);
}

int mel_disk_file(void)
{
    char name[MOST_NAME];
    if (snprintf(name, sizeof name, "%s/melicit-XXXXXX", folder) >= MOST_NAME) {
        errno = ENAMETOOLONG;
        return -1;
    }
    const int file = mkostemp(name, O_CLOEXEC);
    if (file >= 0)
        (void)unlink(name);
    return file;
}

/* Advice is of whole pages, and as good as none where memory is no file's. */
static void advise(const void *first, size_t n, int advice)
{
    const uintptr_t from = (uintptr_t)first / PAGE * PAGE;
    (void)madvise((void *)from, (uintptr_t)first + n - from, advice);
}

void mel_disk_side_by_side(const void *array, size_t bytes, bool now)
{
    if (mel_disk_wanted(bytes))
        advise(array, bytes, now ? MADV_RANDOM : MADV_NORMAL);
}

void mel_disk_need(const void *bytes, size_t n)
{
    if (folder != NULL)
        advise(bytes, n, MADV_WILLNEED);
}

static int open_direct(int file)
{
    char name[64];
    (void)snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    return open(name, O_RDONLY | O_DIRECT | O_CLOEXEC);
}

mel_status mel_disk_new(mel_disk **out, mel_error *err)
{
    *out = NULL;
    mel_disk *disk = mel_alloc_zero(1, sizeof *disk);
    if (disk != NULL && (disk->stage = mel_alloc(STAGE, 1)) == NULL) {
        free(disk);
        disk = NULL;
    }
    if (disk == NULL)
        return mel_fail_memory(err, "rows on disk");
    disk->direct = -1;
    disk->file = mel_disk_file();
    if (disk->file < 0) {
        const mel_status status = refuse(errno, err);
        mel_disk_free(disk);
        return status;
    }
    *out = disk;
    return MEL_OK;
}

void mel_disk_free(mel_disk *disk)
{
    if (disk == NULL)
        return;
    if (disk->map != NULL)
        (void)munmap(disk->map, disk->written);
    if (disk->direct >= 0)
        (void)close(disk->direct);
    if (disk->file >= 0)
        (void)close(disk->file);
    free(disk->stage);
    free(disk);
}

static mel_status write_stage(mel_disk *disk, mel_error *err)
{
    const size_t n = round_up(disk->staged);
    memset(disk->stage + disk->staged, 0, n - disk->staged);
    for (size_t done = 0; done < n;) {
        const ssize_t wrote = pwrite(disk->file, disk->stage + done, n - done, (off_t)(disk->written + done));
        if (wrote < 0 && errno != EINTR)
            return refuse(errno, err);
        if (wrote == 0)
            return refuse(ENOSPC, err);
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    /* Pages that are on their way to the disk can go when others need the memory. */
    (void)sync_file_range(disk->file, (off_t)disk->written, (off_t)n, SYNC_FILE_RANGE_WRITE);
    disk->written += n;
    disk->staged = 0;
    return MEL_OK;
}

mel_status mel_disk_add(mel_disk *disk, const void *bytes, size_t n, mel_error *err)
{
    mel_status status = MEL_OK;
    for (size_t done = 0, part; done < n && status == MEL_OK; done += part) {
        part = n - done < STAGE - disk->staged ? n - done : STAGE - disk->staged;
        memcpy(disk->stage + disk->staged, (const char *)bytes + done, part);
        disk->staged += part;
        disk->size += part;
        if (disk->staged == STAGE)
            status = write_stage(disk, err);
    }
    return status;
}

mel_status mel_disk_finish(mel_disk *disk, mel_error *err)
{
    const mel_status status = disk->staged > 0 ? write_stage(disk, err) : MEL_OK;
    free(disk->stage);
    disk->stage = NULL;
    disk->direct = open_direct(disk->file);
    void *map =
        disk->written > 0 ? mmap(NULL, disk->written, PROT_READ, MAP_SHARED, disk->file, 0) : MAP_FAILED;
    disk->map = map != MAP_FAILED ? map : NULL;
    return status;
}

/* --- reading ------------------------------------------------------------------------------------ */

void mel_disk_buffer_clear(mel_disk_buffer *buffer)
{
    free(buffer->bytes);
    *buffer = (mel_disk_buffer){ 0 };
}

bool mel_disk_buffer_hold(mel_disk_buffer *buffer, size_t n)
{
    if (buffer->size >= n)
        return true;
    mel_disk_buffer_clear(buffer);
    buffer->bytes = aligned_alloc(PAGE, round_up(n));
    if (buffer->bytes == NULL) /* the program's --memory has room for more than this process may take */
        buffer->bytes = mel_alloc(n, 1);
    buffer->size = buffer->bytes != NULL ? n : 0;
    return buffer->bytes != NULL;
}

/* Whether the kernel has these pages in memory: those that it keeps are kept as long as nothing else is read
 * through its cache. */
static bool is_kept(const mel_disk *disk, size_t first, size_t end)
{
    unsigned char kept[256];
    for (size_t at = first; at < end; at += sizeof kept * PAGE) {
        const size_t n = end - at < sizeof kept * PAGE ? end - at : sizeof kept * PAGE;
        if (disk->map == NULL || mincore(disk->map + at, n, kept) != 0)
            return false;
        for (size_t i = 0; i < n / PAGE; i++)
            if ((kept[i] & 1U) == 0)
                return false;
    }
    return true;
}

mel_status mel_disk_read(const void **out, const mel_disk *disk, size_t at, size_t n, mel_disk_buffer *buffer,
                         mel_error *err)
{
    const size_t first = at / PAGE * PAGE, end = round_up(at + n);
    if (at > disk->size || n > disk->size - at)
        return mel_fail(err, MEL_EINVAL, "rows on disk: %zu bytes at %zu of %zu", n, at, disk->size);
    if (is_kept(disk, first, end)) {
        *out = disk->map + at;
        return MEL_OK;
    }
    if (!mel_disk_buffer_hold(buffer, end - first))
        return mel_fail_memory(err, "rows on disk");
    const bool aligned = (uintptr_t)buffer->bytes % PAGE == 0;
    int file = disk->direct >= 0 && aligned ? disk->direct : disk->file;
    for (size_t done = 0; done < end - first;) {
        const ssize_t got = pread(file, buffer->bytes + done, end - first - done, (off_t)(first + done));
        if (got < 0 && errno == EINVAL && file == disk->direct) /* larger pages, or not there after all */
            file = disk->file;
        else if (got < 0 && errno != EINTR)
            return refuse(errno, err);
        if (got == 0)
            return refuse(EIO, err);
        done += got > 0 ? (size_t)got : 0;
    }
    if (file == disk->file)
        (void)posix_fadvise(file, (off_t)first, (off_t)(end - first), POSIX_FADV_DONTNEED);
    *out = buffer->bytes + (at - first);
    return MEL_OK;
}
