/* Decimal text to the nearest double, whatever the locale; also with decimal commas, thousands apart and
 * percent signs. */
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
static bool round_decimal(uint64_t w, int64_t exponent, bool more, double *value)
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
    if (!round_decimal(w, exponent + written, more, &size)) {
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

/* --- as people write them ---------------------------------------------------------------------------- */

enum { MOST_GROUPS = 16, GROUP = 3, LONGEST = 500 };

/* Runs of digits and the marks before them: digits[0] mark[1] digits[1] ... exponent. */
typedef struct {
    const char *start; /* the first digit or mark, behind the sign */
    size_t n_runs;
    size_t digits[MOST_GROUPS];
    char mark[MOST_GROUPS]; /* ',', '.', ' ' or '\'' */
    const char *exponent;   /* from the e on, up to `end` */
    const char *end;        /* before a percent sign and the blanks before that */
    bool negative, percent;
} parts;

/* Bytes of the mark at p: 0 for something else. */
static size_t mark_at(const char *p, const char *end, char *mark)
{
    static const struct {
        const char *bytes;
        char mark;
    } marks[] = { { ",", ',' },
                  { ".", '.' },
                  { " ", ' ' },
                  { "'", '\'' },
                  { "\xC2\xA0", ' ' },        /* no-break space */
                  { "\xE2\x80\xAF", ' ' },    /* narrow no-break space */
                  { "\xE2\x80\x99", '\'' } }; /* as typeset in Switzerland */
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const size_t n = strlen(marks[i].bytes);
        *mark = marks[i].mark;
        if ((size_t)(end - p) >= n && memcmp(p, marks[i].bytes, n) == 0)
            return n;
    }
    return 0;
}

static bool is_exponent(const char *p, const char *end)
{
    if (p == end)
        return true;
    if ((*p != 'e' && *p != 'E') || ++p == end)
        return false;
    p += *p == '+' || *p == '-';
    const char *const first = p;
    while (p < end && is_digit(*p))
        p++;
    return p == end && p > first;
}

static bool split_number(parts *out, const char *p, size_t n)
{
    const char *end = p + n;
    *out = (parts){ 0 };
    if (n > 1 && end[-1] == '%') {
        out->percent = true;
        end--;
        while (end > p && end[-1] == ' ')
            end--;
    }
    if (p < end && (*p == '-' || *p == '+'))
        out->negative = *p++ == '-';
    out->start = p;
    out->end = end;
    size_t all = 0;
    while (p < end) {
        size_t *digits = &out->digits[out->n_runs++];
        for (; p < end && is_digit(*p); p++)
            ++*digits;
        all += *digits;
        if (p == end || out->n_runs == MOST_GROUPS)
            break;
        const size_t bytes = mark_at(p, end, &out->mark[out->n_runs]);
        if (bytes == 0)
            break;
        p += bytes;
        if (p == end)
            out->n_runs++; /* "5." */
    }
    out->exponent = p;
    return all != 0 && is_exponent(p, end) && (p == end || !out->percent); /* nobody writes 1e2% */
}

/* Are the first n runs thousands? */
static bool are_thousands(const parts *s, size_t n)
{
    if (s->digits[0] == 0 || s->digits[0] > GROUP || *s->start == '0')
        return false;
    for (size_t i = 1; i < n; i++)
        if (s->digits[i] != GROUP || s->mark[i] != s->mark[1])
            return false;
    return true;
}

static mel_number_shape shape_of(const parts *s)
{
    const size_t last = s->n_runs - 1;
    if (last == 0)
        return MEL_SHAPE_WHOLE;
    const char mark = s->mark[last];
    const bool thousands = are_thousands(s, s->n_runs) && s->exponent == s->end;
    if (mark == ' ' || mark == '\'')
        return thousands ? MEL_SHAPE_WHOLE : MEL_SHAPE_OTHER;
    if (last == 1 && mark == '.')
        return thousands ? MEL_SHAPE_POINT_OR_THOUSANDS : MEL_SHAPE_POINT;
    if (last == 1)
        return thousands ? MEL_SHAPE_COMMA_OR_THOUSANDS : MEL_SHAPE_COMMA;
    if (thousands)
        return mark == '.' ? MEL_SHAPE_COMMA : MEL_SHAPE_POINT;
    if (mark == s->mark[1] || !are_thousands(s, last))
        return MEL_SHAPE_OTHER;
    return mark == '.' ? MEL_SHAPE_POINT : MEL_SHAPE_COMMA;
}

bool mel_number_fits(mel_number_shape shape, char decimal)
{
    switch (shape) {
    case MEL_SHAPE_WHOLE:
    case MEL_SHAPE_POINT_OR_THOUSANDS:
    case MEL_SHAPE_COMMA_OR_THOUSANDS:
        return true;
    case MEL_SHAPE_POINT:
        return decimal == '.';
    case MEL_SHAPE_COMMA:
        return decimal == ',';
    default:
        return false;
    }
}

/* The number as the parser of plain numbers reads it. The percent sign goes into the exponent, so that the
 * result is rounded once. */
static size_t write_plain(char *to, size_t room, const parts *s, char decimal)
{
    size_t n = 0;
    if (s->negative)
        to[n++] = '-';
    const char *p = s->start;
    for (size_t run = 0; run < s->n_runs; run++) {
        if (run != 0) {
            char mark;
            p += mark_at(p, s->end, &mark);
            if (mark == decimal)
                to[n++] = '.';
        }
        memcpy(to + n, p, s->digits[run]);
        n += s->digits[run];
        p += s->digits[run];
    }
    return n + (size_t)snprintf(to + n, room - n, "%.*s%s", (int)(s->end - s->exponent), s->exponent,
                                s->percent ? "e-2" : "");
}

/* The shape of what mel_number_parse_bounded takes. */
static mel_number_shape plain_shape(const char *p, size_t n)
{
    p += *p == '-' || *p == '+';
    const char *const first = p;
    const char *const point = memchr(p, '.', n);
    if (point == NULL)
        return MEL_SHAPE_WHOLE;
    for (p = point + 1; is_digit(*p); p++)
        continue;
    const bool thousands = point - first >= 1 && point - first <= GROUP && *first != '0' &&
                           p - point == GROUP + 1 && (*p | 0x20) != 'e';
    return thousands ? MEL_SHAPE_POINT_OR_THOUSANDS : MEL_SHAPE_POINT;
}

static bool may_start_number(char c)
{
    return is_digit(c) || strchr("+-.,iInN", c) != NULL;
}

mel_styled_number mel_number_styled(const char *text, size_t n, char decimal)
{
    mel_styled_number out = { .shape = MEL_SHAPE_OTHER, .kind = MEL_NUMBER_NONE };
    if (n == 0 || !may_start_number(*text))
        return out;
    out.kind = mel_number_parse_bounded(text, n, &out.value);
    const bool plain = out.kind == MEL_NUMBER_FINITE;
    out.shape = plain ? plain_shape(text, n) : MEL_SHAPE_HUGE;
    if (out.kind == MEL_NUMBER_HUGE || (plain && (decimal == '.' || out.shape == MEL_SHAPE_WHOLE)))
        return out;
    parts s;
    out.kind = MEL_NUMBER_NONE;
    out.shape = MEL_SHAPE_OTHER;
    if (n > LONGEST || !split_number(&s, text, n))
        return out;
    out.percent = s.percent;
    out.shape = shape_of(&s);
    if (mel_number_fits(out.shape, decimal)) {
        char rewritten[LONGEST + 8];
        const size_t length = write_plain(rewritten, sizeof rewritten, &s, decimal);
        out.kind = mel_number_parse_bounded(rewritten, length, &out.value);
    }
    return out;
}
