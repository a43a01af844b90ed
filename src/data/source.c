/* The bytes of a file, a pipe or memory, in order, unpacked and capped. */
#include "data/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { PACKED_BLOCK = 1 << 16, MOST_PER_READ = 1 << 30 };

struct mel_source {
    int fd; /* -1: memory */
    const unsigned char *bytes;
    unsigned char *own;      /* what a pipe gave */
    uint64_t size, position; /* stored bytes: how many, how many read */
    uint64_t max_bytes, handed_out;
    bool packed, unpacking, member_done; /* member_done: between two gzip members */
    z_stream zip;
    unsigned char *block;     /* packed bytes of a file */
    struct timespec modified; /* of a file */
    void *map;                /* its bytes, or NULL */
    char *whole;              /* of what cannot be mapped */
};

static mel_status fail_errno(mel_error *err, mel_status code, const char *what, int number)
{
    char text[128];
    if (strerror_r(number, text, sizeof text) != 0)
        text[0] = '\0';
    return mel_fail(err, code, "%s: %s", what, text);
}

static mel_status too_large(const mel_source *source, mel_error *err)
{
    return mel_fail(err, MEL_ELIMIT, "more than %llu bytes; raise the limit on bytes if that is intended",
                    (unsigned long long)source->max_bytes);
}

/* Bytes as stored, fewer than n only at the end. */
static mel_status read_stored(mel_source *source, unsigned char *to, size_t n, size_t *got, mel_error *err)
{
    *got = 0;
    if (source->fd < 0) {
        const uint64_t left = source->size - source->position;
        *got = n < left ? n : (size_t)left;
        if (*got != 0)
            memcpy(to, source->bytes + source->position, *got);
        source->position += *got;
        return MEL_OK;
    }
    while (*got < n) {
        const size_t want = n - *got < MOST_PER_READ ? n - *got : MOST_PER_READ;
        const ssize_t r = read(source->fd, to + *got, want);
        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0)
            return fail_errno(err, MEL_EDATA, "cannot be read", errno);
        if (r == 0)
            break;
        *got += (size_t)r;
        source->position += (uint64_t)r;
    }
    return MEL_OK;
}

static void *zip_alloc(void *opaque, unsigned n, unsigned size)
{
    (void)opaque;
    return mel_alloc(n, size);
}

static void zip_free(void *opaque, void *block)
{
    (void)opaque;
    free(block);
}

static mel_status start_unpacking(mel_source *source, mel_error *err)
{
    if (source->block == NULL)
        source->block = mel_alloc(PACKED_BLOCK, 1);
    source->zip = (z_stream){ .zalloc = zip_alloc, .zfree = zip_free };
    const int gzip_only = 16;
    if (source->block == NULL || inflateInit2(&source->zip, gzip_only + MAX_WBITS) != Z_OK)
        return mel_fail_memory(err, "unpacking");
    source->unpacking = true;
    source->member_done = false;
    return MEL_OK;
}

/* True when packed bytes are there to work on. */
static mel_status refill_packed(mel_source *source, bool *any, mel_error *err)
{
    if (source->zip.avail_in == 0) {
        size_t got;
        TRY(read_stored(source, source->block, PACKED_BLOCK, &got, err));
        source->zip.next_in = source->block;
        source->zip.avail_in = (unsigned)got;
    }
    *any = source->zip.avail_in != 0;
    return MEL_OK;
}

static mel_status unpack_some(mel_source *source, mel_error *err)
{
    if (source->member_done) { /* another member follows: gzip files may be concatenated */
        if (inflateReset(&source->zip) != Z_OK)
            return mel_fail_memory(err, "unpacking");
        source->member_done = false;
    }
    const int result = inflate(&source->zip, Z_NO_FLUSH);
    if (result == Z_STREAM_END) {
        source->member_done = true;
        return MEL_OK;
    }
    if (result == Z_MEM_ERROR)
        return mel_fail_memory(err, "unpacking");
    if (result != Z_OK && result != Z_BUF_ERROR)
        return mel_fail(err, MEL_EDATA, "the gzip data are corrupt near packed byte %llu (%s)",
                        (unsigned long long)(source->position - source->zip.avail_in),
                        source->zip.msg != NULL ? source->zip.msg : "unknown reason");
    return MEL_OK;
}

static mel_status read_unpacked(mel_source *source, unsigned char *to, size_t n, size_t *got, mel_error *err)
{
    *got = 0;
    while (*got < n) {
        bool any = false;
        TRY(refill_packed(source, &any, err));
        if (!any && source->member_done)
            break;
        if (!any)
            return mel_fail(err, MEL_EDATA,
                            "the gzip data end too early, after %llu packed bytes: truncated file",
                            (unsigned long long)source->position);
        const size_t want = n - *got < MOST_PER_READ ? n - *got : MOST_PER_READ;
        source->zip.next_out = to + *got;
        source->zip.avail_out = (unsigned)want;
        TRY(unpack_some(source, err));
        *got += want - source->zip.avail_out;
    }
    return MEL_OK;
}

mel_status mel_source_read(mel_source *source, void *to, size_t n, size_t *got, mel_error *err)
{
    TRY(source->packed ? read_unpacked(source, to, n, got, err) : read_stored(source, to, n, got, err));
    source->handed_out += *got;
    return source->handed_out > source->max_bytes ? too_large(source, err) : MEL_OK;
}

mel_status mel_source_rewind(mel_source *source, mel_error *err)
{
    if (source->fd >= 0 && lseek(source->fd, 0, SEEK_SET) != 0)
        return fail_errno(err, MEL_EDATA, "cannot be read again", errno);
    source->position = source->handed_out = 0;
    if (!source->packed)
        return MEL_OK;
    if (source->unpacking)
        (void)inflateEnd(&source->zip);
    source->unpacking = false;
    return start_unpacking(source, err);
}

/* Looks for the gzip magic and goes back to the start. */
static mel_status detect_packing(mel_source *source, mel_error *err)
{
    unsigned char magic[2];
    size_t got;
    TRY(read_stored(source, magic, sizeof magic, &got, err));
    source->packed = got == 2 && magic[0] == 0x1f && magic[1] == 0x8b;
    return mel_source_rewind(source, err);
}

/* Twice a full block, but no more than it takes to see that the input is too large. */
static size_t next_capacity(const mel_source *source, size_t capacity)
{
    return source->max_bytes < 2 * capacity ? (size_t)source->max_bytes + 1 : 2 * capacity;
}

/* A pipe or terminal can be read once: keep it. */
static mel_status slurp(mel_source *source, mel_error *err)
{
    size_t size = 0, capacity = PACKED_BLOCK;
    void *block = mel_alloc(capacity, 1);
    mel_status status = block != NULL ? MEL_OK : mel_fail_memory(err, "the input");
    while (status == MEL_OK) {
        size_t got;
        source->own = block;
        status = read_stored(source, source->own + size, capacity - size, &got, err);
        size += got;
        if (status != MEL_OK || size < capacity)
            break;
        if (size > source->max_bytes)
            status = too_large(source, err);
        else if (!mel_grow(&block, capacity = next_capacity(source, capacity), 1))
            status = mel_fail_memory(err, "the input");
    }
    source->own = block;
    source->bytes = source->own;
    source->size = size;
    return status;
}

static mel_status open_file(mel_source *source, const char *path, mel_error *err)
{
    const bool standard_input = strcmp(path, "-") == 0;
    source->fd = standard_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (source->fd < 0)
        return fail_errno(err, MEL_EDATA, "cannot be opened", errno);
    struct stat info;
    if (fstat(source->fd, &info) != 0)
        return fail_errno(err, MEL_EDATA, "cannot be examined", errno);
    if (S_ISDIR(info.st_mode))
        return mel_fail(err, MEL_EDATA, "is a folder, not a file");
    if (S_ISREG(info.st_mode) && !standard_input) {
        source->size = (uint64_t)info.st_size;
        source->modified = info.st_mtim;
        return detect_packing(source, err);
    }
    const mel_status status = slurp(source, err);
    if (!standard_input)
        (void)close(source->fd);
    source->fd = -1;
    source->position = 0;
    return status == MEL_OK ? detect_packing(source, err) : status;
}

mel_status mel_source_open(mel_source **out, const char *path, uint64_t max_bytes, mel_error *err)
{
    *out = NULL;
    MEL_AUTO(mel_source) *source = mel_alloc_zero(1, sizeof *source);
    TRY(MEL_NEED(source, "a file", err));
    source->fd = -1;
    source->max_bytes = max_bytes;
    const mel_status status = open_file(source, path, err);
    if (status != MEL_OK && source->fd == STDIN_FILENO && strcmp(path, "-") == 0)
        source->fd = -1;
    TRY(status);
    return MEL_GIVE(out, source);
}

mel_status mel_source_memory(mel_source **out, const void *bytes, size_t n, uint64_t max_bytes,
                             mel_error *err)
{
    *out = NULL;
    MEL_AUTO(mel_source) *source = mel_alloc_zero(1, sizeof *source);
    TRY(MEL_NEED(source, "an input", err));
    source->fd = -1;
    source->bytes = bytes;
    source->size = n;
    source->max_bytes = max_bytes;
    TRY(detect_packing(source, err));
    return MEL_GIVE(out, source);
}

void mel_source_free(mel_source *source)
{
    if (source == NULL)
        return;
    if (source->fd >= 0)
        (void)close(source->fd);
    if (source->unpacking)
        (void)inflateEnd(&source->zip);
    if (source->map != NULL)
        (void)munmap(source->map, (size_t)source->size);
    free(source->whole);
    free(source->block);
    free(source->own);
    free(source);
}

/* The first `most` bytes, or fewer where there are no more. */
static mel_status read_first(char **out, size_t *n, mel_source *source, uint64_t most, size_t padding,
                             mel_error *err)
{
    *out = NULL;
    TRY(mel_source_rewind(source, err));
    const uint64_t expected = mel_source_expected(source);
    if (expected > source->max_bytes)
        return too_large(source, err);
    size_t size = 0, capacity = expected != 0 ? (size_t)expected + 1 : PACKED_BLOCK;
    capacity = capacity < most ? capacity : (size_t)most;
    MEL_AUTO_MEMORY void *block = mel_alloc(capacity + padding, 1);
    TRY(MEL_NEED(block, "the contents of a file", err));
    for (;;) {
        size_t got;
        TRY(mel_source_read(source, (char *)block + size, capacity - size, &got, err));
        size += got;
        if (size < capacity || size == most)
            break;
        capacity = next_capacity(source, capacity);
        capacity = capacity < most ? capacity : (size_t)most;
        TRY(MEL_NEED(mel_grow(&block, capacity + padding, 1), "the contents of a file", err));
    }
    memset((char *)block + size, 0, padding);
    *out = block;
    *n = size;
    block = NULL;
    return MEL_OK;
}

mel_status mel_source_all(char **out, size_t *n, mel_source *source, size_t padding, mel_error *err)
{
    return read_first(out, n, source, UINT64_MAX, padding, err);
}

mel_status mel_source_map(const char **out, size_t *n, mel_source *source, uint64_t most, mel_error *err)
{
    if (source->fd >= 0 && !source->packed && source->size > 0) {
        if (source->size > source->max_bytes)
            return too_large(source, err);
        void *map = mmap(NULL, (size_t)source->size, PROT_READ, MAP_PRIVATE, source->fd, 0);
        source->map = map != MAP_FAILED ? map : NULL;
    }
    *out = source->map;
    *n = (size_t)source->size;
    if (source->map != NULL)
        return mel_source_unchanged(source, err); /* what was cut off must not be looked at */
    const mel_status status = read_first(&source->whole, n, source, most, 0, err);
    *out = source->whole;
    return status;
}

mel_status mel_source_unchanged(const mel_source *source, mel_error *err)
{
    struct stat info;
    if (source->fd < 0)
        return MEL_OK;
    if (fstat(source->fd, &info) != 0)
        return fail_errno(err, MEL_EDATA, "cannot be examined", errno);
    return (uint64_t)info.st_size == source->size && info.st_mtim.tv_sec == source->modified.tv_sec &&
                   info.st_mtim.tv_nsec == source->modified.tv_nsec
               ? MEL_OK
               : mel_fail(err, MEL_EDATA, "the file changed while it was read");
}

mel_status mel_source_whole(char **out, size_t *n, const char *path, uint64_t max_bytes, mel_error *err)
{
    *out = NULL;
    MEL_AUTO(mel_source) *source = NULL;
    TRY(mel_source_open(&source, path, max_bytes, err));
    return mel_source_all(out, n, source, 0, err);
}

double mel_source_share(const mel_source *source)
{
    return source->size == 0 || source->position >= source->size
               ? 1.0
               : (double)source->position / (double)source->size;
}

uint64_t mel_source_expected(const mel_source *source)
{
    return source->packed ? 0 : source->size;
}

uint64_t mel_source_packed(const mel_source *source)
{
    return source->packed ? source->size : 0;
}

uint64_t mel_source_left(const mel_source *source)
{
    if (source->packed)
        return UINT64_MAX;
    return source->position < source->size ? source->size - source->position : 0;
}
