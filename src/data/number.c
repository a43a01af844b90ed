/* Decimal text to the nearest double, whatever the locale. */
#include "data/number.h"

#include "data/powers_of_five.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The exact path multiplies and divides doubles and relies on one rounding per operation. */
_Static_assert(FLT_EVAL_METHOD == 0, "double arithmetic must round to double");
_Static_assert(DBL_MANT_DIG == 53, "double must be IEEE 754 binary64");

__extension__ typedef unsigned __int128 uint128;

enum {
    MOST_DIGITS = 19,      /* decimal digits that always fit in 64 bits */
    MOST_EXACT_POWER = 22, /* 10^22 is the largest power of ten that is a double */
};

/* A written exponent is cut here: no text is long enough for its digits to make up for more. */
static const int64_t most_exponent = 1000000000000;

static bool is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

/* Adds the digits at p to *w (which wraps when there are too many) and returns the byte behind them. */
static const char *digits(const char *p, uint64_t *w)
{
    while (is_digit(*p))
        *w = *w * 10 + (uint64_t)(*p++ - '0');
    return p;
}

/* w * 10^exponent rounded to a double, or false when the 128 bits of the power do not decide it: the
 * true product lies less than 2 units of the second word above the computed one (4 after the shift),
 * so only when the half-way point is in that gap can the rounding differ. */
bool mel_number_round(uint64_t w, int64_t exponent, double *value)
{
    if (w == 0 || exponent < -MEL_MOST_POWER || exponent > MEL_MOST_POWER)
        return false;
    const uint64_t *power = mel_power_of_five[exponent + MEL_MOST_POWER];
    const int zeros = __builtin_clzll(w);
    w <<= zeros;
    const uint128 high = (uint128)w * power[0];
    const uint128 low = (uint128)w * power[1];
    uint128 product = high + (low >> 64);
    int exponent2 = 191 + (((int)exponent * 152170) >> 16) - 127 - zeros + (int)exponent;
    if ((product >> 127) == 0) {
        product <<= 1;
        exponent2--;
    }
    const uint128 half = (uint128)1 << 74, rest = product & (2 * half - 1);
    if (rest <= half && half - rest <= 4)
        return false;
    uint64_t mantissa = (uint64_t)(product >> 75) + (rest > half);
    if (mantissa >> 53) { /* rounded up to the next power of two */
        mantissa >>= 1;
        exponent2++;
    }
    const uint64_t bits = (mantissa & 0xFFFFFFFFFFFFFU) | ((uint64_t)(exponent2 + 1023) << 52);
    memcpy(value, &bits, sizeof bits);
    return true;
}

/* More digits than fit: the first 19 that count, and how far the rest moves the exponent. True when
 * any were left out. */
static bool leading_digits(const char *p, uint64_t *w, int64_t *exponent)
{
    int n = 0;
    bool fraction = false, more = false;
    for (*w = 0;; p++) {
        if (*p == '.') {
            fraction = true;
        } else if (!is_digit(*p)) {
            return more;
        } else if (n < MOST_DIGITS) {
            *w = *w * 10 + (uint64_t)(*p - '0');
            n += *w != 0;
            *exponent -= fraction;
        } else {
            more = true;
            *exponent += !fraction;
        }
    }
}

static double power_of_ten(int64_t n)
{
    static const double exact[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
    return exact[n];
}

/* The size of w * 10^exponent; `more`: digits were cut off, so anything from w up to w + 1. False
 * when these tools cannot tell. */
static bool convert(uint64_t w, int64_t exponent, bool more, double *value)
{
    if (!more && w <= (uint64_t)1 << DBL_MANT_DIG && exponent >= -MOST_EXACT_POWER &&
        exponent <= MOST_EXACT_POWER) {
        *value = exponent < 0 ? (double)w / power_of_ten(-exponent) : (double)w * power_of_ten(exponent);
        return true;
    }
    if (w == 0 && !more) {
        *value = 0.0;
        return true;
    }
    double upper;
    if (!mel_number_round(w, exponent, value))
        return false;
    return !more || (mel_number_round(w + 1, exponent, &upper) && upper == *value);
}

/* The digits behind the e at p; NULL when there are none. */
static const char *written_exponent(const char *p, int64_t *exponent)
{
    const bool negative = *p == '-';
    p += *p == '-' || *p == '+';
    if (!is_digit(*p))
        return NULL;
    int64_t e = 0;
    for (; is_digit(*p); p++)
        e = e < most_exponent ? e * 10 + (*p - '0') : e;
    *exponent += negative ? -e : e;
    return p;
}

const char *mel_number_scan(const char *p, double *value)
{
    const char *const start = p;
    const bool negative = *p == '-';
    p += *p == '-' || *p == '+';
    const char *const first = p;
    uint64_t w = 0;
    p = digits(p, &w);
    ptrdiff_t n = p - first;
    int64_t exponent = 0;
    if (*p == '.') {
        const char *const fraction = ++p;
        p = digits(p, &w);
        exponent = fraction - p;
        n += p - fraction;
    }
    if (n == 0)
        return NULL;
    int64_t written = 0;
    if ((*p == 'e' || *p == 'E') && (p = written_exponent(p + 1, &written)) == NULL)
        return NULL;
    bool more = false;
    if (n > MOST_DIGITS) {
        exponent = 0;
        more = leading_digits(first, &w, &exponent);
    }
    double size;
    if (!convert(w, exponent + written, more, &size)) {
        *value = mel_to_double(start, NULL);
        return p;
    }
    *value = negative ? -size : size;
    return p;
}

static bool names_huge(const char *text, size_t n)
{
    static const char *const words[] = { "nan", "inf", "infinity" };
    if (n != 0 && (*text == '-' || *text == '+')) {
        text++;
        n--;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (n == strlen(words[i]) && strncasecmp(text, words[i], n) == 0)
            return true;
    return false;
}

mel_number_kind mel_number_parse_bounded(const char *text, size_t n, double *value)
{
    if (mel_number_scan(text, value) == text + n)
        return isfinite(*value) ? MEL_NUMBER_FINITE : MEL_NUMBER_HUGE;
    return names_huge(text, n) ? MEL_NUMBER_HUGE : MEL_NUMBER_NONE;
}

mel_number_kind mel_number_parse(const char *text, size_t n, double *value)
{
    char copy[512]; /* a longer number is written by nobody, and longer text is none */
    if (n >= sizeof copy)
        return MEL_NUMBER_NONE;
    memcpy(copy, text, n);
    copy[n] = '\0';
    return mel_number_parse_bounded(copy, n, value);
}
