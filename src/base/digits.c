/* Numbers for people: the same bytes in every locale, never NaN, as many digits as a reader needs. */
#include "base/digits.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char minus[] = "\xE2\x88\x92";

/* printf's text without what the locale put in: whatever is no digit, sign or exponent is the point. */
static mel_digits plain(const char *text)
{
    mel_digits out;
    size_t n = 0;
    bool in_point = false;
    for (const char *p = text; *p != '\0' && n + 1 < sizeof out.text; p++) {
        const bool kept = (*p >= '0' && *p <= '9') || *p == '-' || *p == '+' || *p == 'e';
        if (kept)
            out.text[n++] = *p;
        else if (!in_point)
            out.text[n++] = '.';
        in_point = !kept;
    }
    out.text[n] = '\0';
    return out;
}

static bool is_zero(const char *text)
{
    return strspn(text, "-0.") == strlen(text);
}

mel_digits mel_digits_fixed(double x, int decimals)
{
    char text[64];
    if (!isfinite(x))
        return (mel_digits){ "?" };
    if (fabs(x) >= 1e15)
        (void)mel_print(text, sizeof text, "%.6e", x);
    else
        (void)mel_print(text, sizeof text, "%.*f", decimals < 0 ? 0 : decimals > 12 ? 12 : decimals, x);
    mel_digits out = plain(text);
    if (out.text[0] == '-' && is_zero(out.text))
        memmove(out.text, out.text + 1, strlen(out.text));
    return out;
}

mel_digits mel_digits_short(double x, int decimals)
{
    mel_digits out = mel_digits_fixed(x, decimals);
    if (strchr(out.text, '.') == NULL || strchr(out.text, 'e') != NULL)
        return out;
    size_t n = strlen(out.text);
    while (out.text[n - 1] == '0')
        n--;
    if (out.text[n - 1] == '.')
        n--;
    out.text[n] = '\0';
    return out;
}

static mel_digits with_minus(mel_digits number)
{
    mel_digits out;
    if (number.text[0] != '-')
        return number;
    (void)snprintf(out.text, sizeof out.text, "%s%.*s", minus, (int)(sizeof out.text - sizeof minus),
                   number.text + 1);
    return out;
}

mel_digits mel_digits_shown(double x, int decimals)
{
    return with_minus(mel_digits_fixed(x, decimals));
}

mel_digits mel_digits_significant(double x, int digits)
{
    if (!isfinite(x) || x == 0.0)
        return mel_digits_fixed(x, 0);
    const double size = fabs(x);
    if (size >= 1e6 || size < 1e-4) {
        char text[64];
        (void)mel_print(text, sizeof text, "%.*e", digits - 1, x);
        mel_digits out = plain(text);
        return with_minus(out);
    }
    int decimals = digits - 1 - (int)floor(log10(size));
    if (decimals < 0)
        decimals = 0;
    return with_minus(mel_digits_short(x, decimals));
}

mel_digits mel_digits_count(uint64_t n)
{
    char digits[24];
    mel_digits out;
    const int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n);
    size_t size = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            out.text[size++] = ',';
        out.text[size++] = digits[i];
    }
    out.text[size] = '\0';
    return out;
}

mel_digits mel_digits_people(double count)
{
    return count < 9.95 ? mel_digits_short(count, 1) : mel_digits_shown(count, 0);
}

mel_digits mel_digits_percent(double share)
{
    /* "100%" only for all of them. */
    const double shown = share < 1.0 ? fmin(100.0 * share, 99.9) : 100.0;
    return mel_digits_shown(shown, share < 1.0 ? 1 : 0);
}

/* x > 0 with two significant digits, cut off or rounded up; what is a rounding error away from such a number
 * is that number. */
static mel_digits bound(double x, bool up)
{
    static const double rounding = 1e-12, most_counted = 1e9;
    if (!(x > 0.0) || !isfinite(x))
        return mel_digits_significant(x, 2);
    const double unit = pow(10.0, floor(log10(x)) - 1.0), steps = x / unit;
    const double cut = up ? ceil(steps * (1.0 - rounding)) : floor(steps * (1.0 + rounding));
    const double kept = unit >= 1.0 ? cut * unit : cut / pow(10.0, 1.0 - floor(log10(x)));
    return kept >= 1000.0 && kept < most_counted ? mel_digits_count((uint64_t)llround(kept))
                                                 : mel_digits_significant(kept, 2);
}

mel_digits mel_digits_more_than(double x)
{
    return bound(x, false);
}

mel_digits mel_digits_less_than(double x)
{
    return bound(x, true);
}

mel_ends mel_digits_ends(double low, double high)
{
    mel_ends out = { .low = { "" } };
    for (int digits = 2; digits <= 6; digits++) {
        out.low = mel_digits_significant(low, digits);
        out.high = mel_digits_significant(high, digits);
        if (strcmp(out.low.text, out.high.text) != 0)
            break;
    }
    return out;
}
