/* The dictionary at the start of an .npy file. */
#include "data/npy_header.h"

#include "data/quote.h"

#include <string.h>

enum {
    MAGIC_BYTES = 6,
    V1_BYTES = 10,
    V2_BYTES = 12,
    MOST_DIMENSIONS = 32,
    MOST_HEADER = 1 << 20,
    MOST_CLASSES = 1 << 15
};

/* A cursor over the dictionary's text. */
typedef struct {
    const char *p, *end;
    bool matrices; /* three dimensions will do */
    mel_error *err;
} cursor;

typedef struct {
    const char *text;
    size_t n;
} slice;

static bool equals(slice s, const char *text)
{
    return s.n == strlen(text) && memcmp(s.text, text, s.n) == 0;
}

static void skip_blanks(cursor *c)
{
    while (c->p < c->end && (*c->p == ' ' || *c->p == '\n' || *c->p == '\t' || *c->p == '\r'))
        c->p++;
}

static mel_status fail_header(const cursor *c, const char *what)
{
    return mel_fail(c->err, MEL_EDATA, "NPY header: %s expected at %s", what,
                    mel_quote(c->p, (size_t)(c->end - c->p)).text);
}

static bool accept(cursor *c, char wanted)
{
    skip_blanks(c);
    if (c->p >= c->end || *c->p != wanted)
        return false;
    c->p++;
    return true;
}

static mel_status parse_string(cursor *c, slice *out)
{
    skip_blanks(c);
    if (c->p >= c->end || (*c->p != '\'' && *c->p != '"'))
        return fail_header(c, "a string");
    const char *from = c->p + 1, *quote = memchr(from, *c->p, (size_t)(c->end - from));
    if (quote == NULL)
        return fail_header(c, "a closed string");
    *out = (slice){ from, (size_t)(quote - from) };
    c->p = quote + 1;
    return MEL_OK;
}

static mel_status parse_bool(cursor *c, bool *out)
{
    skip_blanks(c);
    const size_t left = (size_t)(c->end - c->p);
    *out = left >= 4 && memcmp(c->p, "True", 4) == 0;
    if (!*out && !(left >= 5 && memcmp(c->p, "False", 5) == 0))
        return fail_header(c, "True or False");
    c->p += *out ? 4 : 5;
    return MEL_OK;
}

static mel_status parse_size(cursor *c, size_t *out)
{
    skip_blanks(c);
    const char *const first = c->p;
    size_t n = 0;
    for (; c->p < c->end && *c->p >= '0' && *c->p <= '9'; c->p++) {
        const size_t digit = (size_t)(*c->p - '0');
        if (n > (SIZE_MAX - digit) / 10) {
            c->p = first;
            return fail_header(c, "a size that fits in memory");
        }
        n = n * 10 + digit;
    }
    if (c->p == first)
        return fail_header(c, "a size");
    *out = n;
    return MEL_OK;
}

static mel_status parse_shape(cursor *c, mel_npy_header *out)
{
    size_t size[3] = { 1, 1, 1 };
    int n = 0;
    if (!accept(c, '('))
        return fail_header(c, "a shape in parentheses");
    while (!accept(c, ')')) {
        size_t more = 0;
        const mel_status status = parse_size(c, &more);
        if (status != MEL_OK)
            return status;
        if (n < 3)
            size[n] = more;
        if (++n > MOST_DIMENSIONS)
            return fail_header(c, "fewer dimensions");
        if (!accept(c, ',')) {
            if (!accept(c, ')'))
                return fail_header(c, "a comma or a closing parenthesis");
            break;
        }
    }
    if (n < 1 || n > 3 || (n == 3 && !c->matrices))
        return mel_fail(c->err, MEL_EDATA, "an array of %d dimensions; a table needs 1 or 2", n);
    if (n == 3 && (size[1] != size[2] || size[1] > MOST_CLASSES))
        return mel_fail(c->err, MEL_EDATA,
                        "an array of %zu x %zu x %zu; expected n x k x k, a matrix for each of n classifiers",
                        size[0], size[1], size[2]);
    out->dimensions = n;
    out->rows = size[0];
    out->columns = size[1] * size[2];
    out->matrix = n == 3 ? size[1] : 0;
    return MEL_OK;
}

/* What cannot be read, and what to do about it. */
static mel_status refuse_type(const cursor *c, slice type)
{
    static const struct {
        char kind;
        const char *cure;
    } cures[] = { { 'O', " (Python objects); save the array with a plain type, as array.astype(float) or "
                         "astype(str) gives" },
                  { 'M', " (dates); save them as numbers or texts" },
                  { 'm', " (durations); save them as numbers" },
                  { 'c', " (complex numbers); save their parts as columns" },
                  { 'f', "; save the array as float64" },
                  { 'V', " (raw bytes); save the array as float64" } };
    const char kind = type.n > 1 ? type.text[1] : '\0';
    const char *cure = "";
    for (size_t i = 0; i < sizeof cures / sizeof *cures; i++)
        if (cures[i].kind == kind)
            cure = cures[i].cure;
    return mel_fail(c->err, MEL_EDATA, "items of type %s%s; a table needs floats, integers, bools or texts",
                    mel_quote(type.text, type.n).text, cure);
}

/* "U12", "S3": texts; the digits say how many characters. */
static bool parse_text_type(slice type, mel_npy_header *out)
{
    enum { LONGEST = 1 << 20, BYTES_OF_U = 4 };
    size_t n = 0;
    if (type.n < 3 || (type.text[1] != 'U' && type.text[1] != 'S'))
        return false;
    for (size_t i = 2; i < type.n; i++) {
        if (type.text[i] < '0' || type.text[i] > '9' || n > LONGEST)
            return false;
        n = n * 10 + (size_t)(type.text[i] - '0');
    }
    out->kind = type.text[1];
    out->width = n * (out->kind == 'U' ? BYTES_OF_U : 1);
    return n != 0;
}

static bool parse_number_type(slice type, mel_npy_header *out)
{
    static const char *const known[] = { "f2", "f4", "f8", "i1", "i2", "i4",
                                         "i8", "u1", "u2", "u4", "u8", "b1" };
    for (size_t i = 0; type.n == 3 && i < sizeof known / sizeof *known; i++)
        if (memcmp(type.text + 1, known[i], 2) == 0) {
            out->kind = known[i][0];
            out->width = (size_t)(known[i][1] - '0');
            return type.text[0] != '|' || out->width == 1;
        }
    return false;
}

static mel_status parse_type(cursor *c, mel_npy_header *out)
{
    static const char orders[] = { '<', '>', '|', '=' };
    const bool big_host = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    skip_blanks(c);
    if (c->p < c->end && *c->p == '[')
        return mel_fail(c->err, MEL_EDATA, "the array has named fields; a table needs plain numbers");
    slice type = { "", 0 };
    const mel_status status = parse_string(c, &type);
    if (status != MEL_OK)
        return status;
    const bool ordered = type.n != 0 && memchr(orders, type.text[0], sizeof orders) != NULL;
    if (!ordered || (!parse_number_type(type, out) && !parse_text_type(type, out)))
        return refuse_type(c, type);
    out->swap = out->width > 1 && out->kind != 'S' &&
                ((type.text[0] == '>' && !big_host) || (type.text[0] == '<' && big_host));
    return MEL_OK;
}

static mel_status parse_entry(cursor *c, mel_npy_header *out, unsigned *seen)
{
    enum { TYPE = 1, ORDER = 2, SHAPE = 4 };
    slice key = { "", 0 };
    const mel_status status = parse_string(c, &key);
    if (status != MEL_OK)
        return status;
    const unsigned which = equals(key, "descr") ? TYPE : equals(key, "fortran_order") ? ORDER : SHAPE;
    if ((which == SHAPE && !equals(key, "shape")) || (*seen & which) != 0)
        return mel_fail(c->err, MEL_EDATA, "NPY header: unknown or repeated entry %s",
                        mel_quote(key.text, key.n).text);
    *seen |= which;
    if (!accept(c, ':'))
        return fail_header(c, "a colon");
    if (which == TYPE)
        return parse_type(c, out);
    return which == ORDER ? parse_bool(c, &out->fortran) : parse_shape(c, out);
}

static mel_status parse_dictionary(cursor *c, mel_npy_header *out)
{
    const unsigned all = 7;
    unsigned seen = 0;
    if (!accept(c, '{'))
        return fail_header(c, "a dictionary");
    while (!accept(c, '}')) {
        const mel_status status = parse_entry(c, out, &seen);
        if (status != MEL_OK)
            return status;
        if (!accept(c, ',')) {
            if (!accept(c, '}'))
                return fail_header(c, "a comma or a closing brace");
            break;
        }
    }
    skip_blanks(c);
    if (c->p != c->end)
        return fail_header(c, "nothing more");
    return seen == all ? MEL_OK
                       : mel_fail(c->err, MEL_EDATA, "NPY header: descr, fortran_order or shape is missing");
}

mel_status mel_npy_header_parse(mel_npy_header *out, const char *bytes, size_t n, bool matrices,
                                mel_error *err)
{
    *out = (mel_npy_header){ 0 };
    const unsigned char *u = (const unsigned char *)bytes;
    if (n < V1_BYTES || memcmp(bytes, "\x93NUMPY", MAGIC_BYTES) != 0)
        return mel_fail(err, MEL_EDATA, "not an NPY file: it starts with %s",
                        mel_quote(bytes, n < MAGIC_BYTES ? n : MAGIC_BYTES).text);
    if (u[6] < 1 || u[6] > 3 || u[7] != 0)
        return mel_fail(err, MEL_EDATA, "NPY version %d.%d; 1.0, 2.0 and 3.0 are known", u[6], u[7]);
    const size_t start = u[6] == 1 ? V1_BYTES : V2_BYTES;
    if (n < start)
        return mel_fail(err, MEL_EDATA, "the file ends inside the NPY header");
    size_t length = (size_t)u[8] | (size_t)u[9] << 8;
    if (u[6] > 1)
        length |= (size_t)u[10] << 16 | (size_t)u[11] << 24;
    if (length > MOST_HEADER || length > n - start)
        return mel_fail(err, MEL_EDATA, "the NPY header claims %zu bytes, the file has %zu after it", length,
                        n - start);
    out->offset = start + length;
    cursor c = { .p = bytes + start, .end = bytes + out->offset, .matrices = matrices, .err = err };
    return parse_dictionary(&c, out);
}
