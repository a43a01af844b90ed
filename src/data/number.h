/* Decimal numbers in text, read and written without regard to the locale. Reading is correctly
 * rounded (to nearest, ties to even): the same bits as Python's float(). */
#ifndef MEL_DATA_NUMBER_H
#define MEL_DATA_NUMBER_H

#include "base/number_text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The number [+-]digits[.digits][e[+-]digits] that starts at p (digits on one side of the point are
 * enough). Returns the first byte behind it, NULL when there is no number. *value may be infinite
 * (1e999). The text must be followed by a readable byte that cannot continue a number. */
const char *mel_number_scan(const char *p, double *value);

typedef enum {
    MEL_NUMBER_NONE,   /* something else */
    MEL_NUMBER_FINITE, /* *value is set */
    MEL_NUMBER_HUGE    /* nan, inf, infinity in any case, or beyond the range of double */
} mel_number_kind;
/* All of text[0..n), which need not be followed by anything, as a number without blanks. */
mel_number_kind mel_number_parse(const char *text, size_t n, double *value);
/* The same for text that is followed by a readable byte that cannot continue a number. */
mel_number_kind mel_number_parse_bounded(const char *text, size_t n, double *value);

/* The size of w * 10^exponent, or false when it takes more than 128 bits to round it. */
bool mel_number_round(uint64_t w, int64_t exponent, double *value);

/* --- as people write them: decimal commas, thousands apart, percent signs ---------------------------- */

/* What the marks in a number say about the whole file. Thousands are strictly groups of three behind one to
 * three digits that do not start with 0, all apart by the same mark: comma, point or blank (also U+00A0 and
 * U+202F). */
typedef enum {
    MEL_SHAPE_OTHER,              /* no number */
    MEL_SHAPE_HUGE,               /* inf, 1e999 */
    MEL_SHAPE_WHOLE,              /* 12, 1e5, 1 234: says nothing */
    MEL_SHAPE_POINT,              /* 12.5, 1,234.5, 1,234,567: decimals follow a point */
    MEL_SHAPE_POINT_OR_THOUSANDS, /* 1.234 */
    MEL_SHAPE_COMMA,              /* 12,5, 1.234,5, 1.234.567: decimals follow a comma */
    MEL_SHAPE_COMMA_OR_THOUSANDS, /* 1,234 */
    MEL_SHAPES
} mel_number_shape;

/* A number as it is written, and its value where decimals follow a given mark. */
typedef struct {
    mel_number_shape shape;
    mel_number_kind kind; /* NONE: it is no number with that mark */
    bool percent;         /* a percent sign follows */
    double value;         /* 45% is 0.45 */
} mel_styled_number;

/* text[0..n), without blanks around it and followed by a readable byte that cannot continue a number. */
mel_styled_number mel_number_styled(const char *text, size_t n, char decimal);
/* Is a number of that shape one where decimals follow `decimal` ('.' or ',')? */
bool mel_number_fits(mel_number_shape shape, char decimal);

/* --- the plain forms, fast --------------------------------------------------------------------------- */

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
/* The value of eight digits in the bytes of d (0 to 9, the first in the lowest byte): neighbours are
 * combined to pairs, pairs to fours, fours to eights. */
static inline uint64_t mel_eight_digits(uint64_t d)
{
    const uint64_t pairs = (d * 10 + (d >> 8)) & 0x00FF00FF00FF00FFU;
    const uint64_t fours = (pairs * 100 + (pairs >> 16)) & 0x0000FFFF0000FFFFU;
    return (fours * 10000 + (fours >> 32)) & 0xFFFFFFFFU;
}

/* High bits where d, digits of text with '0' taken off, has another byte; exact up to the first. */
static inline uint64_t mel_other_bytes(uint64_t d)
{
    return ((d + 0x7676767676767676U) | d) & 0x8080808080808080U;
}

/* Appends the digits at p to *w, without a branch on how many there are below eight. */
static inline const char *mel_digit_run(const char *p, uint64_t *w)
{
    static const uint64_t power[] = { 1, 10, 100, 1000, 10000, 100000, 1000000, 10000000 };
    for (;; p += 8) {
        uint64_t d;
        memcpy(&d, p, sizeof d);
        d ^= 0x3030303030303030U;
        const uint64_t other = mel_other_bytes(d);
        if (other != 0) {
            const unsigned n = (unsigned)__builtin_ctzll(other) >> 3;
            *w = *w * power[n] + mel_eight_digits(d << 8 << (56 - 8 * n));
            return p + n;
        }
        *w = *w * 100000000U + mel_eight_digits(d);
    }
}

/* The sign and the digits before the point. */
static inline const char *mel_first_run(const char *p, bool *negative, uint64_t *w)
{
    uint64_t d;
    memcpy(&d, p, sizeof d);
    *negative = (d & 0xFF) == '-';
    const unsigned sign = *negative;
    d = d >> (8 * sign) ^ 0x3030303030303030U;
    const uint64_t other = mel_other_bytes(d);
    const unsigned n = other != 0 ? (unsigned)__builtin_ctzll(other) >> 3 : 8;
    if (n + sign >= 8) { /* there may be more */
        *w = 0;
        return mel_digit_run(p + sign, w);
    }
    *w = mel_eight_digits(d << 8 << (56 - 8 * n));
    return p + sign + n;
}

/* mel_number_scan for the plain forms, 12 and -3.25, or NULL. Reads up to 8 bytes further than the
 * number; *value is finite; *decimals is the byte behind the point, NULL without one. */
static inline const char *mel_number_fast(const char *p, double *value, const char **decimals)
{
    static const double power[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,
                                    1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19 };
    static const double sign[] = { 1.0, -1.0 };
    const char *const start = p;
    bool negative;
    uint64_t w;
    p = mel_first_run(p, &negative, &w);
    ptrdiff_t digits = p - start - negative, fraction = 0;
    *decimals = NULL;
    if (*p == '.') {
        *decimals = p + 1;
        digits = w != 0 ? digits : 0;
        p = mel_digit_run(p + 1, &w);
        fraction = p - *decimals;
        digits += fraction;
    }
    if (digits == 0 || digits > 19 || (*p | 0x20) == 'e')
        return NULL;
    double size = (double)(int64_t)w;
    if (w > (uint64_t)1 << 53) {
        double rounded;
        if (!mel_number_round(w, -fraction, &rounded))
            return NULL;
        size = rounded;
    } else if (fraction != 0) {
        size /= power[fraction]; /* both exact: one rounding, hence the right one */
    }
    *value = size * sign[negative]; /* no branch: signs are the least predictable thing in a table */
    return p;
}
#else
static inline const char *mel_number_fast(const char *p, double *value, const char **decimals)
{
    (void)p;
    (void)value;
    (void)decimals;
    return NULL;
}
#endif

#endif
