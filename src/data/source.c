/* The bytes of a file, a pipe or memory, in order, unpacked and capped; and as UTF-8 text, with other
 * encodings converted, tabs for the blanks between cells and line feeds for carriage returns that end lines.
 */
#include "data/source.h"
#include "data/quote.h"

#include <errno.h>
#include <fcntl.h>
#include <iconv.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* --- bytes ---------------------------------------------------------------------------------------------- */

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

/* Bytes to expect in all, or 0 when unknown (packed). */
static uint64_t bytes_expected(const mel_source *source)
{
    return source->packed ? 0 : source->size;
}

/* The first `most` bytes, or fewer where there are no more. */
static mel_status read_first(char **out, size_t *n, mel_source *source, uint64_t most, size_t padding,
                             mel_error *err)
{
    *out = NULL;
    TRY(mel_source_rewind(source, err));
    const uint64_t expected = bytes_expected(source);
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

/* Everything from the start, followed by `padding` zero bytes; freed by the caller with free(). */
static mel_status read_all_bytes(char **out, size_t *n, mel_source *source, size_t padding, mel_error *err)
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
    return read_all_bytes(out, n, source, 0, err);
}

double mel_source_share(const mel_source *source)
{
    return source->size == 0 || source->position >= source->size
               ? 1.0
               : (double)source->position / (double)source->size;
}

uint64_t mel_source_packed(const mel_source *source)
{
    return source->packed ? source->size : 0;
}

/* Bytes still to expect, or UINT64_MAX when unknown. */
static uint64_t bytes_left(const mel_source *source)
{
    if (source->packed)
        return UINT64_MAX;
    return source->position < source->size ? source->size - source->position : 0;
}

/* --- text ----------------------------------------------------------------------------------------------- */

enum {
    BLOCK = 1 << 16,  /* stored bytes converted at a time */
    LONGEST = 3,      /* bytes of UTF-8 per stored byte, at most */
    LOOK_AHEAD = 4,   /* bytes that decide about one character */
    LOOK_AT = 1 << 12 /* bytes that decide about the encoding */
};

static const struct {
    const char *name;
    mel_encoding encoding;
} known[] = { { "auto", MEL_ENCODING_AUTO },  { "utf-8", MEL_UTF_8 },
              { "utf8", MEL_UTF_8 },          { "utf-16", MEL_UTF_16 },
              { "utf16", MEL_UTF_16 },        { "utf-16le", MEL_UTF_16LE },
              { "utf-16be", MEL_UTF_16BE },   { "latin-1", MEL_LATIN_1 },
              { "latin1", MEL_LATIN_1 },      { "iso-8859-1", MEL_LATIN_1 },
              { "cp1252", MEL_WINDOWS_1252 }, { "windows-1252", MEL_WINDOWS_1252 } };

bool mel_encoding_named(mel_encoding *out, const char *name)
{
    *out = MEL_ENCODING_AUTO;
    for (size_t i = 0; name != NULL && i < sizeof known / sizeof *known; i++)
        if (strcasecmp(known[i].name, name) == 0) {
            *out = known[i].encoding;
            return true;
        }
    return name == NULL;
}

const char *mel_encoding_name(mel_encoding encoding)
{
    static const char *const names[] = {
        [MEL_ENCODING_AUTO] = "unknown",    [MEL_UTF_8] = "UTF-8",     [MEL_UTF_16] = "UTF-16",
        [MEL_UTF_16LE] = "UTF-16",          [MEL_UTF_16BE] = "UTF-16", [MEL_LATIN_1] = "Latin-1",
        [MEL_WINDOWS_1252] = "Windows-1252"
    };
    return names[encoding];
}

/* Latin text in UTF-16 has a NUL byte in most pairs, always at the same side. */
static mel_encoding encoding_of_nuls(const char *bytes, size_t n)
{
    const size_t pairs = (n < LOOK_AT ? n : LOOK_AT) / 2;
    size_t first = 0, second = 0;
    for (size_t i = 0; i < pairs; i++) {
        first += bytes[2 * i] == '\0';
        second += bytes[2 * i + 1] == '\0';
    }
    if (first == 0 && 2 * second > pairs)
        return MEL_UTF_16LE;
    return second == 0 && 2 * first > pairs ? MEL_UTF_16BE : MEL_UTF_8;
}

mel_encoding mel_encoding_of_start(const char *bytes, size_t n)
{
    if (n >= 2 && memcmp(bytes, "\xFF\xFE", 2) == 0)
        return MEL_UTF_16LE;
    if (n >= 2 && memcmp(bytes, "\xFE\xFF", 2) == 0)
        return MEL_UTF_16BE;
    return encoding_of_nuls(bytes, n);
}

/* ---- a block ---- */

/* Counts what the bytes from p to end would be as UTF-8: see mel_text. Returns how many it looked at: a
 * character that the block cuts is left for the next. */
static size_t count_utf8(mel_text *text, const unsigned char *p, const unsigned char *end)
{
    const unsigned char *const from = p;
    while (p < end && (text->source_ended || end - p >= LOOK_AHEAD)) {
        const size_t length = mel_utf8_length((const char *)p, (size_t)(end - p));
        text->utf8_characters += length > 1;
        text->other_bytes += length == 0;
        p += length != 0 ? length : 1;
    }
    return (size_t)(p - from);
}

static bool is_wide(const mel_text *text)
{
    return text->encoding == MEL_UTF_16LE || text->encoding == MEL_UTF_16BE;
}

/* The `left` bytes from p on are no character. */
static mel_status fail_character(const mel_text *text, const char *p, size_t left, mel_error *err)
{
    if (is_wide(text))
        (void)mel_fail(err, MEL_EDATA,
                       left < 2 ? "the file ends inside a character of UTF-16"
                                : "half of a UTF-16 pair stands alone; the file is damaged");
    else
        (void)mel_fail(err, MEL_EDATA,
                       "byte \\x%02x is neither UTF-8 nor Windows-1252; convert the file to UTF-8, or give "
                       "encoding=latin-1",
                       (unsigned char)*p);
    return mel_fail_in(err, MEL_EDATA, "line %zu", text->line);
}

static mel_status convert_block(mel_text *text, mel_error *err)
{
    char *from = (char *)text->stored + text->stored_begin, *to = text->ready + text->ready_size;
    const char *const before = to;
    size_t left = text->stored_size - text->stored_begin, room = LONGEST * BLOCK + 1 - text->ready_size;
    if (!is_wide(text))
        left = count_utf8(text, (const unsigned char *)from, (const unsigned char *)from + left);
    const bool failed = iconv(text->converter, &from, &left, &to, &room) == (size_t)-1;
    const bool cut = failed && errno == EINVAL && !text->source_ended; /* the next block goes on */
    for (const char *p = before; p < to; p++)
        text->line += *p == (text->returns_end_lines ? '\r' : '\n');
    if (failed && !cut)
        return fail_character(text, from, left, err);
    text->ready_size = (size_t)(to - text->ready);
    text->stored_begin = (size_t)((unsigned char *)from - text->stored);
    return MEL_OK;
}

static void copy_block(mel_text *text)
{
    const size_t n = text->stored_size - text->stored_begin;
    memcpy(text->ready + text->ready_size, text->stored + text->stored_begin, n);
    text->ready_size += n;
    text->stored_begin = text->stored_size;
}

static mel_status fail_line_ends(mel_error *err)
{
    return mel_fail(
        err, MEL_EDATA,
        "some lines end with a carriage return without a line feed, others with a line feed; save "
        "the file with one kind of line ends");
}

/* Blanks and line ends of ready[from..) become what they are to be, written from its start. A tab can be due
 * that belongs to blanks of the block before, so the text stands one byte further on. */
static mel_status rewrite(mel_text *text, size_t from, mel_error *err)
{
    char *to = text->ready;
    for (const char *p = text->ready + from, *end = text->ready + text->ready_size; p < end; p++) {
        const bool outside = !text->inside_quotes;
        const bool ends_row = outside && (*p == '\n' || *p == '\r');
        if (outside && text->blanks_to_tabs && (*p == ' ' || *p == '\t')) {
            text->blank_before = text->in_row;
            continue;
        }
        if (ends_row && *p == '\n' && text->returns_end_lines)
            return fail_line_ends(err);
        if (text->blank_before && !ends_row)
            *to++ = '\t';
        text->blank_before = false;
        text->in_row = !ends_row;
        text->inside_quotes ^= *p == '"';
        *to++ = ends_row && text->returns_end_lines ? '\n' : *p;
    }
    text->ready_size = (size_t)(to - text->ready);
    return MEL_OK;
}

static bool is_rewritten(const mel_text *text)
{
    return text->blanks_to_tabs || text->returns_end_lines;
}

static mel_status refill_text(mel_text *text, mel_error *err)
{
    const size_t kept = text->stored_size - text->stored_begin;
    memmove(text->stored, text->stored + text->stored_begin, kept);
    size_t got = 0;
    TRY(mel_source_read(text->source, text->stored + kept, BLOCK - kept, &got, err));
    text->source_ended = got < BLOCK - kept;
    text->stored_begin = 0;
    text->stored_size = kept + got;
    const size_t room_for_a_tab = is_rewritten(text) ? 1 : 0;
    text->ready_begin = 0;
    text->ready_size = room_for_a_tab;
    if (text->encoding == MEL_UTF_8)
        copy_block(text);
    else
        TRY(convert_block(text, err));
    return is_rewritten(text) ? rewrite(text, room_for_a_tab, err) : MEL_OK;
}

static bool is_plain(const mel_text *text)
{
    return text->encoding == MEL_UTF_8 && !is_rewritten(text);
}

static mel_status allocate(mel_text *text, mel_error *err)
{
    if (text->stored == NULL)
        text->stored = mel_alloc(BLOCK, 1);
    if (text->ready == NULL)
        text->ready = mel_alloc(LONGEST * BLOCK + 1, 1);
    TRY(MEL_NEED(text->stored != NULL && text->ready != NULL, "converting a file", err));
    if (text->encoding == MEL_UTF_8 || text->converter != NULL)
        return MEL_OK;
    static const char *const names[] = { [MEL_UTF_16LE] = "UTF-16LE",
                                         [MEL_UTF_16BE] = "UTF-16BE",
                                         [MEL_LATIN_1] = "ISO-8859-1",
                                         [MEL_WINDOWS_1252] = "CP1252" };
    const iconv_t converter = iconv_open("UTF-8", names[text->encoding]);
    if (converter == (iconv_t)-1) /* NOLINT(performance-no-int-to-ptr): as iconv_open says it */
        return mel_fail(err, errno == ENOMEM ? MEL_ENOMEM : MEL_EDATA,
                        "the C library cannot convert %s; save the file as UTF-8",
                        mel_encoding_name(text->encoding));
    text->converter = converter;
    return MEL_OK;
}

mel_status mel_text_read(mel_text *text, char *to, size_t n, size_t *got, mel_error *err)
{
    if (is_plain(text))
        return mel_source_read(text->source, to, n, got, err);
    *got = 0;
    TRY(allocate(text, err));
    while (*got < n) {
        const size_t left = text->ready_size - text->ready_begin, want = n - *got;
        const size_t part = left < want ? left : want;
        memcpy(to + *got, text->ready + text->ready_begin, part);
        text->ready_begin += part;
        *got += part;
        if (left > want || (text->source_ended && text->stored_begin == text->stored_size))
            break;
        if (part == left)
            TRY(refill_text(text, err));
    }
    return MEL_OK;
}

static void close_converter(mel_text *text)
{
    if (text->converter != NULL)
        (void)iconv_close(text->converter);
    text->converter = NULL;
}

mel_status mel_text_rewind(mel_text *text, mel_error *err)
{
    text->stored_begin = text->stored_size = text->ready_begin = text->ready_size = 0;
    text->source_ended = text->inside_quotes = text->in_row = text->blank_before = false;
    text->line = 1;
    text->utf8_characters = text->other_bytes = 0;
    close_converter(text);
    return mel_source_rewind(text->source, err);
}

uint64_t mel_text_expected(const mel_text *text)
{
    return is_plain(text) ? bytes_expected(text->source) : 0;
}

uint64_t mel_text_left(const mel_text *text)
{
    return is_plain(text) ? bytes_left(text->source) : UINT64_MAX;
}

void mel_text_close(mel_text *text)
{
    free(text->stored);
    free(text->ready);
    close_converter(text);
    *text = (mel_text){ 0 };
}
