/* Text in UTF-8 from sources in other encodings, with tabs for the blanks between cells and line feeds for
 * carriage returns that end lines. */
#include "data/text.h"

#include "data/quote.h"

#include <errno.h>
#include <iconv.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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
    return is_plain(text) ? mel_source_expected(text->source) : 0;
}

uint64_t mel_text_left(const mel_text *text)
{
    return is_plain(text) ? mel_source_left(text->source) : UINT64_MAX;
}

void mel_text_close(mel_text *text)
{
    free(text->stored);
    free(text->ready);
    close_converter(text);
    *text = (mel_text){ 0 };
}
