/* Numbers as texts that read back to the same bits, whatever the locale. */
#include "base/number_text.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

mel_locale_pair mel_enter_c_locale(void)
{
    mel_locale_pair pair = { .c = newlocale(LC_ALL_MASK, "C", (locale_t)0) };
    pair.before = uselocale(pair.c);
    return pair;
}

void mel_leave_c_locale(mel_locale_pair pair)
{
    uselocale(pair.before);
    if (pair.c != (locale_t)0)
        freelocale(pair.c);
}

void mel_number_print(char out[MEL_NUMBER_TEXT], double value)
{
    const mel_locale_pair pair = mel_enter_c_locale();
    bool same = false;
    for (int precision = DBL_DIG; precision <= DBL_DECIMAL_DIG && !same; precision++) {
        (void)snprintf(out, MEL_NUMBER_TEXT, "%.*g", precision, value == 0.0 ? fabs(value) : value);
        same = strtod(out, NULL) == value;
    }
    mel_leave_c_locale(pair);
}
