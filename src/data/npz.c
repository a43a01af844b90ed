/* NPZ: a zip archive of NPY arrays, stored or deflated, of which one is the table. */
#include "base/buffer.h"
#include "data/quote.h"
#include "data/table_reader.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
    END_BYTES = 22,       /* end of central directory, without its comment */
    ENTRY_BYTES = 46,     /* an entry of the central directory, without its name */
    LOCAL_BYTES = 30,     /* the header of a member, without its name */
    MOST_COMMENT = 65535, /* bytes */
    STORED = 0,
    DEFLATED = 8,
    ZIP64 = 1 /* the extra field with sizes of 8 bytes */
};
static const uint32_t in_zip64 = UINT32_MAX;

typedef struct {
    const unsigned char *bytes;
    size_t n;
    mel_error *err;
} archive;

typedef struct {
    const char *name; /* without .npy; lent by the archive */
    size_t name_length;
    unsigned method;
    uint32_t checksum;
    uint64_t packed, size, offset; /* offset of the local header */
} member;

static uint64_t number_at(const unsigned char *p, size_t width)
{
    uint64_t n = 0;
    for (size_t i = width; i-- > 0;)
        n = n << 8 | p[i];
    return n;
}

static mel_status fail_damaged(const archive *a)
{
    return mel_fail(a->err, MEL_EDATA, "the NPZ archive is cut off or damaged");
}

static const unsigned char *find_end(const archive *a)
{
    const size_t most = END_BYTES + MOST_COMMENT;
    const size_t stop = a->n > most ? a->n - most : 0;
    for (size_t at = a->n < END_BYTES ? 0 : a->n - END_BYTES + 1; at-- > stop;)
        if (memcmp(a->bytes + at, "PK\5\6", 4) == 0)
            return a->bytes + at;
    return NULL;
}

/* Sizes that do not fit in 4 bytes stand in the extra field, in this order. */
static bool read_zip64(member *m, const unsigned char *extra, size_t n)
{
    uint64_t *const wanted[] = { &m->size, &m->packed, &m->offset };
    while (n >= 4) {
        const size_t length = (size_t)number_at(extra + 2, 2);
        if (length > n - 4)
            return false;
        size_t at = 4;
        for (size_t i = 0; number_at(extra, 2) == ZIP64 && i < 3; i++) {
            if (*wanted[i] != in_zip64)
                continue;
            if (at + 8 > length + 4)
                return false;
            *wanted[i] = number_at(extra + at, 8);
            at += 8;
        }
        extra += length + 4;
        n -= length + 4;
    }
    return true;
}

/* The entry at *at of the directory, of which `left` bytes are there; *at moves behind it. */
static bool read_entry(member *m, const unsigned char **at, size_t *left)
{
    const unsigned char *p = *at;
    if (*left < ENTRY_BYTES || memcmp(p, "PK\1\2", 4) != 0)
        return false;
    const size_t name = (size_t)number_at(p + 28, 2), extra = (size_t)number_at(p + 30, 2);
    const size_t whole = ENTRY_BYTES + name + extra + (size_t)number_at(p + 32, 2);
    if (whole > *left)
        return false;
    *m = (member){ .name = (const char *)p + ENTRY_BYTES,
                   .name_length = name,
                   .method = (unsigned)number_at(p + 10, 2),
                   .checksum = (uint32_t)number_at(p + 16, 4),
                   .packed = number_at(p + 20, 4),
                   .size = number_at(p + 24, 4),
                   .offset = number_at(p + 42, 4) };
    *at += whole;
    *left -= whole;
    return read_zip64(m, p + ENTRY_BYTES + name, extra);
}

/* Takes the ending .npy off the name; false for members that are no arrays. */
static bool is_array(member *m)
{
    static const char ending[] = ".npy";
    const size_t n = sizeof ending - 1;
    if (m->name_length <= n || memcmp(m->name + m->name_length - n, ending, n) != 0)
        return false;
    m->name_length -= n;
    return true;
}

static bool is_named(const member *m, const char *name)
{
    return strlen(name) == m->name_length && memcmp(name, m->name, m->name_length) == 0;
}

static mel_status fail_member(const archive *a, const char *wanted, size_t n, const mel_buffer *list)
{
    if (list->status != MEL_OK && list->status != MEL_ELIMIT)
        return mel_fail_memory(a->err, "the members of an archive");
    if (n == 0)
        return mel_fail(a->err, MEL_EDATA, "the archive holds no NPY array");
    if (wanted != NULL)
        return mel_fail(a->err, MEL_EDATA, "no array is called %s; there %s %s", mel_quote_text(wanted).text,
                        n == 1 ? "is" : "are", list->data);
    return mel_fail(a->err, MEL_EDATA, "the archive holds %zu arrays: %s; --member says which one is meant",
                    n, list->data);
}

/* The array of that name, or the only one. */
static mel_status find_member(member *out, const archive *a, const char *wanted)
{
    enum { ROOM = 240 };
    const unsigned char *end = find_end(a);
    const uint64_t start = end != NULL ? number_at(end + 16, 4) : 0;
    if (end == NULL || start > (uint64_t)(end - a->bytes))
        return fail_damaged(a);
    const unsigned char *at = a->bytes + start;
    size_t left = (size_t)(end - at), n = 0, found = 0;
    mel_buffer list;
    mel_buffer_init(&list, ROOM);
    for (size_t i = (size_t)number_at(end + 10, 2); i-- > 0;) {
        member m;
        if (!read_entry(&m, &at, &left)) {
            mel_buffer_free(&list);
            return fail_damaged(a);
        }
        if (!is_array(&m))
            continue;
        mel_buffer_printf(&list, "%s%s", n++ != 0 ? ", " : "", mel_quote(m.name, m.name_length).text);
        if (wanted == NULL || is_named(&m, wanted)) {
            *out = m;
            found++;
        }
    }
    const mel_status status = found == 1 ? MEL_OK : fail_member(a, wanted, n, &list);
    mel_buffer_free(&list);
    return status;
}

/* Raw deflate data of a known size, or as many of its first bytes as are wanted. */
static mel_status inflate_member(unsigned char *to, size_t wanted, const member *m, const unsigned char *from,
                                 const archive *a)
{
    enum { STEP = 1 << 30 };
    z_stream zip = { .zalloc = mel_zip_alloc, .zfree = mel_zip_free };
    if (inflateInit2(&zip, -MAX_WBITS) != Z_OK)
        return mel_fail_memory(a->err, "unpacking");
    uint64_t in = m->packed, out = wanted;
    int result = Z_OK;
    zip.next_in = (unsigned char *)(uintptr_t)from;
    zip.next_out = to;
    while (result == Z_OK && (out > 0 || wanted == m->size)) {
        const unsigned give = (unsigned)(in < STEP ? in : STEP), room = (unsigned)(out < STEP ? out : STEP);
        zip.avail_in = give;
        zip.avail_out = room;
        result = inflate(&zip, Z_NO_FLUSH);
        in -= give - zip.avail_in;
        out -= room - zip.avail_out;
        if (result == Z_OK && give == zip.avail_in && room == zip.avail_out)
            result = Z_BUF_ERROR;
    }
    (void)inflateEnd(&zip);
    if (result == Z_MEM_ERROR)
        return mel_fail_memory(a->err, "unpacking");
    return (result == Z_STREAM_END || wanted < m->size) && out == 0 ? MEL_OK : fail_damaged(a);
}

static uint32_t checksum_of(const unsigned char *p, size_t n)
{
    enum { STEP = 1 << 30 };
    uLong sum = crc32(0, NULL, 0);
    for (size_t part; n != 0; n -= part, p += part) {
        part = n < STEP ? n : STEP;
        sum = crc32(sum, p, (uInt)part);
    }
    return (uint32_t)sum;
}

static mel_status fail_in_array(const archive *a, mel_status status, const member *m)
{
    return mel_fail_in(a->err, status, "array %s", mel_quote(m->name, m->name_length).text);
}

/* Refuses a large array that cannot be read before all of it is unpacked. */
static mel_status check_large_array(const member *m, const unsigned char *from, const archive *a,
                                    const mel_read_options *opt)
{
    if (m->method != DEFLATED || m->size <= MEL_NPY_START)
        return MEL_OK;
    MEL_AUTO_MEMORY unsigned char *start = mel_alloc(MEL_NPY_START, 1);
    if (start == NULL)
        return mel_fail_memory(a->err, "the header of an array");
    TRY(inflate_member(start, MEL_NPY_START, m, from, a));
    const mel_status status = mel_npy_check((const char *)start, MEL_NPY_START, (size_t)m->size, opt, a->err);
    return status == MEL_OK ? MEL_OK : fail_in_array(a, status, m);
}

/* The array of the member as bytes of an .npy file; freed by the caller. */
static mel_status unpack(unsigned char **out, const member *m, const archive *a, const mel_read_options *opt)
{
    if (m->offset > a->n || a->n - m->offset < LOCAL_BYTES)
        return fail_damaged(a);
    const unsigned char *local = a->bytes + m->offset;
    const size_t start = LOCAL_BYTES + (size_t)number_at(local + 26, 2) + (size_t)number_at(local + 28, 2);
    const uint64_t room = a->n - m->offset;
    if (memcmp(local, "PK\3\4", 4) != 0 || start > room || m->packed > room - start)
        return fail_damaged(a);
    if (m->method != STORED && m->method != DEFLATED)
        return mel_fail(a->err, MEL_EDATA,
                        "the array %s is packed by method %u; numpy.savez and "
                        "savez_compressed write what can be read",
                        mel_quote(m->name, m->name_length).text, m->method);
    if (m->size > opt->max_bytes)
        return mel_fail(a->err, MEL_ELIMIT,
                        "more than %llu bytes; raise the limit on bytes if that is intended",
                        (unsigned long long)opt->max_bytes);
    if (m->method == STORED && m->size != m->packed)
        return fail_damaged(a);
    TRY(check_large_array(m, local + start, a, opt));
    mel_status status = MEL_OK;
    *out = mel_alloc((size_t)m->size + 1, 1); /* an empty one has an address, too */
    if (*out == NULL)
        return mel_fail_memory(a->err, "the contents of a file");
    if (m->method == STORED)
        memcpy(*out, local + start, (size_t)m->size);
    else
        status = inflate_member(*out, (size_t)m->size, m, local + start, a);
    return status == MEL_OK && checksum_of(*out, (size_t)m->size) != m->checksum ? fail_damaged(a) : status;
}

mel_status mel_read_npz(mel_table **out, const char *bytes, size_t n, const char *name,
                        const mel_read_options *opt, mel_error *err)
{
    const archive a = { .bytes = (const unsigned char *)bytes, .n = n, .err = err };
    member m = { 0 };
    MEL_AUTO_MEMORY unsigned char *array = NULL;
    if (!mel_magic_is_zip(bytes, n))
        return mel_fail(err, MEL_EDATA, "not an NPZ file: it starts with %s",
                        mel_quote(bytes, n < 6 ? n : 6).text);
    TRY(find_member(&m, &a, opt->member));
    TRY(unpack(&array, &m, &a, opt));
    const mel_status status = mel_read_npy(out, (const char *)array, (size_t)m.size, name, opt, err);
    return status == MEL_OK ? MEL_OK : fail_in_array(&a, status, &m);
}
