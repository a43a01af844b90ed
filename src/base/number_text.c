/* Numbers to texts and back, whatever the locale. */
#include "base/number_text.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* The calling thread's locale is "C" between the two. (A newlocale that fails gives 0, and uselocale(0)
 * changes nothing; for "C" it needs no memory.) */
typedef struct {
    locale_t c, before;
} locale_pair;

static locale_pair enter_c_locale(void)
{
    locale_pair pair = { .c = newlocale(LC_ALL_MASK, "C", (locale_t)0) };
    pair.before = uselocale(pair.c);
    return pair;
}

static void leave_c_locale(locale_pair pair)
{
    uselocale(pair.before);
    if (pair.c != (locale_t)0)
        freelocale(pair.c);
}

double mel_to_double(const char *text, char **end)
{
    const locale_pair pair = enter_c_locale();
    const double value = strtod(text, end);
    leave_c_locale(pair);
    return value;
}

int mel_vprint(char *out, size_t size, const char *fmt, va_list args)
{
    const locale_pair pair = enter_c_locale();
    const int n = vsnprintf(out, size, fmt, args);
    leave_c_locale(pair);
    return n;
}

int mel_print(char *out, size_t size, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    const int n = mel_vprint(out, size, fmt, args);
    va_end(args);
    return n;
}

void mel_number_print(char out[MEL_NUMBER_TEXT], double value)
{
    bool same = false;
    for (int precision = DBL_DIG; precision <= DBL_DECIMAL_DIG && !same; precision++) {
        (void)mel_print(out, MEL_NUMBER_TEXT, "%.*g", precision, value == 0.0 ? fabs(value) : value);
        same = mel_to_double(out, NULL) == value;
    }
}
