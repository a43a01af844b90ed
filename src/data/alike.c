/* Names that look the same: they differ in blanks, in characters without width, in the case of true and
 * false, or in how a letter and its accent are stored. */
#include "base/internal.h"
#include "data/quote.h"
#include "melicit/data.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Combining marks with the letters that have a character of their own with them (Unicode's canonical
 * compositions of Latin letters, U+00C0 to U+017F). */
static const struct {
    uint32_t mark;
    char letter[25];
    uint16_t composed[24];
} accents[] = {
    { 0x300, "AEIOUaeiou", { 0x0C0, 0x0C8, 0x0CC, 0x0D2, 0x0D9, 0x0E0, 0x0E8, 0x0EC, 0x0F2, 0x0F9 } },
    { 0x301, "AEIOUYaeiouyCcLlNnRrSsZz", { 0x0C1, 0x0C9, 0x0CD, 0x0D3, 0x0DA, 0x0DD, 0x0E1, 0x0E9,
                                           0x0ED, 0x0F3, 0x0FA, 0x0FD, 0x106, 0x107, 0x139, 0x13A,
                                           0x143, 0x144, 0x154, 0x155, 0x15A, 0x15B, 0x179, 0x17A } },
    { 0x302, "AEIOUaeiouCcGgHhJjSsWwYy", { 0x0C2, 0x0CA, 0x0CE, 0x0D4, 0x0DB, 0x0E2, 0x0EA, 0x0EE,
                                           0x0F4, 0x0FB, 0x108, 0x109, 0x11C, 0x11D, 0x124, 0x125,
                                           0x134, 0x135, 0x15C, 0x15D, 0x174, 0x175, 0x176, 0x177 } },
    { 0x303, "ANOanoIiUu", { 0x0C3, 0x0D1, 0x0D5, 0x0E3, 0x0F1, 0x0F5, 0x128, 0x129, 0x168, 0x169 } },
    { 0x304, "AaEeIiOoUu", { 0x100, 0x101, 0x112, 0x113, 0x12A, 0x12B, 0x14C, 0x14D, 0x16A, 0x16B } },
    { 0x306,
      "AaEeGgIiOoUu",
      { 0x102, 0x103, 0x114, 0x115, 0x11E, 0x11F, 0x12C, 0x12D, 0x14E, 0x14F, 0x16C, 0x16D } },
    { 0x307, "CcEeGgIZz", { 0x10A, 0x10B, 0x116, 0x117, 0x120, 0x121, 0x130, 0x17B, 0x17C } },
    { 0x308,
      "AEIOUaeiouyY",
      { 0x0C4, 0x0CB, 0x0CF, 0x0D6, 0x0DC, 0x0E4, 0x0EB, 0x0EF, 0x0F6, 0x0FC, 0x0FF, 0x178 } },
    { 0x30A, "AaUu", { 0x0C5, 0x0E5, 0x16E, 0x16F } },
    { 0x30B, "OoUu", { 0x150, 0x151, 0x170, 0x171 } },
    { 0x30C,
      "CcDdEeLlNnRrSsTtZz",
      { 0x10C, 0x10D, 0x10E, 0x10F, 0x11A, 0x11B, 0x13D, 0x13E, 0x147, 0x148, 0x158, 0x159, 0x160, 0x161,
        0x164, 0x165, 0x17D, 0x17E } },
    { 0x327,
      "CcGgKkLlNnRrSsTt",
      { 0x0C7, 0x0E7, 0x122, 0x123, 0x136, 0x137, 0x13B, 0x13C, 0x145, 0x146, 0x156, 0x157, 0x15E, 0x15F,
        0x162, 0x163 } },
    { 0x328, "AaEeIiUu", { 0x104, 0x105, 0x118, 0x119, 0x12E, 0x12F, 0x172, 0x173 } },
};

static uint32_t compose(uint32_t letter, uint32_t mark)
{
    for (size_t i = 0; i < sizeof accents / sizeof *accents && letter < 0x80; i++) {
        const char *at = accents[i].mark == mark ? strchr(accents[i].letter, (int)letter) : NULL;
        if (at != NULL && *at != '\0')
            return accents[i].composed[at - accents[i].letter];
    }
    return 0;
}

static uint32_t decode_utf8(const char *p, size_t n)
{
    const unsigned char *b = (const unsigned char *)p;
    return n == 1   ? b[0]
           : n == 2 ? (uint32_t)(b[0] & 0x1F) << 6 | (b[1] & 0x3F)
           : n == 3 ? (uint32_t)(b[0] & 0x0F) << 12 | (uint32_t)(b[1] & 0x3F) << 6 | (b[2] & 0x3F)
                    : 0x10000;
}

static bool is_unicode_blank(uint32_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r') || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) ||
           c == 0x202F || c == 0x205F || c == 0x3000;
}

static bool has_no_width(uint32_t c)
{
    return c == 0xAD || (c >= 0x200B && c <= 0x200F) || c == 0x2060 || c == 0xFEFF;
}

/* What remains of a name, which is never longer: for the caller to free(); NULL if out of memory. */
static char *fold_name(const char *name)
{
    const size_t n = strlen(name);
    char *out = mel_alloc(n + MEL_UTF8_LONGEST + 1, 1);
    size_t used = 0, last = 0; /* last: where the character before this one began */
    bool gap = false;
    for (size_t i = 0, length = 0; out != NULL && i < n; i += length) {
        length = mel_utf8_length(name + i, n - i);
        const uint32_t c = length > 0 ? decode_utf8(name + i, length) : 0x10000;
        length = length > 0 ? length : 1;
        if (has_no_width(c))
            continue;
        gap = gap || is_unicode_blank(c);
        if (is_unicode_blank(c))
            continue;
        const uint32_t whole = used > 0 && !gap ? compose((unsigned char)out[last], c) : 0;
        if (whole != 0) {
            used = last + mel_utf8_put(out + last, whole);
            continue;
        }
        if (gap && used > 0)
            out[used++] = ' ';
        gap = false;
        last = used;
        memcpy(out + used, name + i, length);
        used += length;
    }
    if (out == NULL)
        return NULL;
    out[used] = '\0';
    static const char *const words[] = { "true", "false" };
    for (size_t w = 0; w < 2; w++)
        if (strcasecmp(out, words[w]) == 0)
            memcpy(out, words[w], used);
    return out;
}

typedef struct {
    char *folded;
    const char *name;
} folded_name;

static int compare_folded(const void *a, const void *b)
{
    return strcmp(((const folded_name *)a)->folded, ((const folded_name *)b)->folded);
}

mel_status mel_names_differ(size_t n, const char *const *name, const char *what, mel_error *err)
{
    folded_name *all = mel_alloc_zero(n + 1, sizeof *all);
    bool enough = all != NULL;
    for (size_t i = 0; i < n && enough; i++) {
        all[i] = (folded_name){ fold_name(name[i]), name[i] };
        enough = all[i].folded != NULL;
    }
    mel_status status = enough ? MEL_OK : mel_fail_memory(err, "names");
    if (enough)
        qsort(all, n, sizeof *all, compare_folded);
    for (size_t i = 1; i < n && status == MEL_OK; i++)
        if (strcmp(all[i - 1].folded, all[i].folded) == 0)
            status =
                mel_fail(err, MEL_EDATA,
                         "%s: %s and %s look the same: they differ only in blanks, invisible characters, the "
                         "case of true and false or how accents are stored; write them alike",
                         what, mel_quote_text(all[i - 1].name).text, mel_quote_text(all[i].name).text);
    for (size_t i = 0; all != NULL && i < n; i++)
        free(all[i].folded);
    free(all);
    return status;
}
