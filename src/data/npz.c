/* NPZ: a zip archive of NPY arrays, of which one is the table. */
#include "base/buffer.h"
#include "data/quote.h"
#include "data/table_reader.h"

#include <stdlib.h>
#include <string.h>
#include <zip.h>

typedef struct {
    zip_t *zip;
    zip_file_t *file; /* the member that is read */
} archive;

static void archive_clear(archive *a)
{
    if (a->file != NULL)
        (void)zip_fclose(a->file);
    if (a->zip != NULL)
        zip_discard(a->zip);
}

static mel_status fail_damaged(mel_error *err)
{
    return mel_fail(err, MEL_EDATA, "the NPZ archive is cut off or damaged");
}

static mel_status fail_zip(int code, mel_error *err)
{
    return code == ZIP_ER_MEMORY ? mel_fail_memory(err, "unpacking") : fail_damaged(err);
}

static mel_status open_archive(archive *a, const char *bytes, size_t n, mel_error *err)
{
    zip_error_t why;
    zip_error_init(&why);
    zip_source_t *source = zip_source_buffer_create(bytes, n, 0, &why);
    a->zip = source != NULL ? zip_open_from_source(source, ZIP_RDONLY, &why) : NULL;
    if (a->zip == NULL)
        zip_source_free(source);
    const int code = zip_error_code_zip(&why);
    zip_error_fini(&why);
    return a->zip != NULL ? MEL_OK : fail_zip(code, err);
}

/* Bytes of the name before ".npy"; 0: the member is no array. */
static size_t array_name(const char *name)
{
    static const char ending[] = ".npy";
    const size_t n = strlen(name), length = sizeof ending - 1;
    return n > length && strcmp(name + n - length, ending) == 0 ? n - length : 0;
}

static mel_status fail_member(const char *wanted, size_t n, const mel_buffer *list, mel_error *err)
{
    if (list->status != MEL_OK && list->status != MEL_ELIMIT)
        return mel_fail_memory(err, "the members of an archive");
    if (n == 0)
        return mel_fail(err, MEL_EDATA, "the archive holds no NPY array");
    if (wanted != NULL)
        return mel_fail(err, MEL_EDATA, "no array is called %s; there %s %s", mel_quote_text(wanted).text,
                        n == 1 ? "is" : "are", list->data);
    return mel_fail(err, MEL_EDATA, "the archive holds %zu arrays: %s; member=NAME says which one is meant",
                    n, list->data);
}

/* The array of that name, or the only one. */
static mel_status find_member(zip_stat_t *out, zip_t *zip, const char *wanted, mel_error *err)
{
    enum { ROOM = 240 };
    size_t n = 0, found = 0;
    mel_buffer list;
    mel_buffer_init(&list, ROOM);
    for (zip_int64_t i = 0; i < zip_get_num_entries(zip, 0); i++) {
        zip_stat_t member;
        if (zip_stat_index(zip, (zip_uint64_t)i, ZIP_FL_ENC_RAW, &member) != 0)
            continue;
        const size_t length = array_name(member.name);
        if (length == 0)
            continue;
        mel_buffer_printf(&list, "%s%s", n++ != 0 ? ", " : "", mel_quote(member.name, length).text);
        if (wanted == NULL || (strlen(wanted) == length && memcmp(wanted, member.name, length) == 0)) {
            *out = member;
            found++;
        }
    }
    const mel_status status = found == 1 ? MEL_OK : fail_member(wanted, n, &list, err);
    mel_buffer_free(&list);
    return status;
}

/* The next n bytes of the member. */
static mel_status unpack(archive *a, char *to, size_t n, mel_error *err)
{
    for (size_t got = 0; got < n;) {
        const zip_int64_t more = zip_fread(a->file, to + got, n - got);
        if (more <= 0)
            return fail_zip(more < 0 ? zip_error_code_zip(zip_file_get_error(a->file)) : ZIP_ER_EOF, err);
        got += (size_t)more;
    }
    return MEL_OK;
}

/* The array of a member, for free(). A large one that cannot be read is refused by its header, and one of
 * more bytes than it said is read no further. */
static mel_status unpack_array(char **out, archive *a, const zip_stat_t *member, const mel_read_options *opt,
                               mel_error *err)
{
    const size_t size = (size_t)member->size, start = size < MEL_NPY_START ? size : MEL_NPY_START;
    char more;
    if (member->comp_method != ZIP_CM_STORE && member->comp_method != ZIP_CM_DEFLATE)
        return mel_fail(err, MEL_EDATA,
                        "the array %s is packed by method %u; numpy.savez and "
                        "savez_compressed write what can be read",
                        mel_quote(member->name, array_name(member->name)).text, member->comp_method);
    if (member->size > opt->max_bytes)
        return mel_fail(err, MEL_ELIMIT, "more than %llu bytes; raise the limit on bytes if that is intended",
                        (unsigned long long)opt->max_bytes);
    a->file = zip_fopen_index(a->zip, member->index, 0);
    if (a->file == NULL)
        return fail_zip(zip_error_code_zip(zip_get_error(a->zip)), err);
    void *bytes = *out = mel_alloc(start + 1, 1); /* an empty one has an address, too */
    TRY(MEL_NEED(bytes, "the contents of a file", err));
    TRY(unpack(a, bytes, start, err));
    if (start < size) {
        const mel_status status = mel_npy_check(bytes, start, size, opt, err);
        if (status != MEL_OK)
            return mel_fail_in(err, status, "array %s",
                               mel_quote(member->name, array_name(member->name)).text);
        TRY(MEL_NEED(mel_grow(&bytes, size + 1, 1), "the contents of a file", err));
        *out = bytes;
        TRY(unpack(a, *out + start, size - start, err));
    }
    const zip_int64_t beyond = zip_fread(a->file, &more, 1); /* says whether the checksum is right */
    return beyond == 0 ? MEL_OK : fail_damaged(err);
}

mel_status mel_read_npz(mel_table **out, const char *bytes, size_t n, const char *name,
                        const mel_read_options *opt, mel_error *err)
{
    MEL_AUTO_CLEAR(archive) a = { .zip = NULL };
    MEL_AUTO_MEMORY char *array = NULL;
    zip_stat_t member = { 0 };
    if (!mel_magic_is_zip(bytes, n))
        return mel_fail(err, MEL_EDATA, "not an NPZ file: it starts with %s",
                        mel_quote(bytes, n < 6 ? n : 6).text);
    TRY(open_archive(&a, bytes, n, err));
    TRY(find_member(&member, a.zip, opt->member, err));
    TRY(unpack_array(&array, &a, &member, opt, err));
    const mel_status status = mel_read_npy(out, array, (size_t)member.size, name, opt, err);
    return status == MEL_OK
               ? MEL_OK
               : mel_fail_in(err, status, "array %s", mel_quote(member.name, array_name(member.name)).text);
}
