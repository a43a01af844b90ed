/* Numbers with decimal commas, thousands apart and percent signs. */
#include "data/number_style.h"

#include <stdio.h>

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

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
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

static bool split(parts *out, const char *p, size_t n)
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
    if (n == 0 || n > LONGEST || !may_start_number(*text))
        return out;
    out.kind = mel_number_parse_bounded(text, n, &out.value);
    out.plain = out.kind == MEL_NUMBER_FINITE;
    out.shape = out.plain ? plain_shape(text, n) : MEL_SHAPE_HUGE;
    if (out.kind == MEL_NUMBER_HUGE || (out.plain && (decimal == '.' || out.shape == MEL_SHAPE_WHOLE)))
        return out;
    parts s;
    out.kind = MEL_NUMBER_NONE;
    out.shape = MEL_SHAPE_OTHER;
    if (!split(&s, text, n))
        return out;
    out.percent = s.percent;
    out.shape = shape_of(&s);
    if (mel_number_fits(out.shape, decimal)) {
        char plain[LONGEST + 8];
        const size_t length = write_plain(plain, sizeof plain, &s, decimal);
        out.kind = mel_number_parse_bounded(plain, length, &out.value);
    }
    return out;
}
