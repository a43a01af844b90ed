/* Numbers and names as one says them. */
#include "base/digits.h"
#include "metric/words/words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void mel_words_ratio_text(char text[MEL_WORDS_NUMBER], double x, int extra)
{
    if (x >= 1e9) {
        (void)mel_print(text, MEL_WORDS_NUMBER, "%.2g", x);
        return;
    }
    int decimals = x >= 9.95 ? 0 : 1;
    if (x > 0.0 && x < 0.995)
        decimals = x < 1e-6 ? 6 : (int)ceil(-log10(x)) + 1;
    if (x >= 1000.0 && extra == 0) {
        const double step = pow(10.0, floor(log10(x)) - 2.0);
        x = round(x / step) * step;
    }
    (void)mel_print(text, MEL_WORDS_NUMBER, "%.*f", decimals + extra, x);
    char *point = strpbrk(text, ".,");
    if (point == NULL)
        return;
    *point = '.'; /* whatever the locale says */
    char *end = text + strlen(text);
    while (end[-1] == '0')
        *--end = '\0';
    if (end[-1] == '.')
        end[-1] = '\0';
}

void mel_words_add_ratio(mel_buffer *out, const char *text)
{
    if (strspn(text, "0123456789") == strlen(text))
        mel_text_add_count(out, (uint64_t)strtoull(text, NULL, 10));
    else
        mel_buffer_puts(out, text);
}

void mel_words_add_interval(mel_buffer *out, double low, double high)
{
    if (isnan(low) || isnan(high) || (low <= 0.0 && isinf(high)))
        return;
    if (isinf(high)) {
        mel_buffer_printf(out, "; 95%% at least %s", mel_digits_more_than(low).text);
        return;
    }
    if (low <= 0.0) {
        mel_buffer_printf(out, "; 95%% at most %s", high > 0.0 ? mel_digits_less_than(high).text : "0");
        return;
    }
    char from[MEL_WORDS_NUMBER], to[MEL_WORDS_NUMBER];
    for (int extra = 0; extra <= 4; extra++) {
        mel_words_ratio_text(from, low, extra);
        mel_words_ratio_text(to, high, extra);
        if (strcmp(from, to) != 0)
            break;
    }
    mel_buffer_puts(out, "; 95% between ");
    mel_words_add_ratio(out, from);
    mel_buffer_puts(out, " and ");
    mel_words_add_ratio(out, to);
}

void mel_words_add_percent(mel_buffer *out, double share)
{
    char number[MEL_WORDS_NUMBER];
    mel_words_ratio_text(number, 100.0 * fabs(share), 0);
    mel_buffer_printf(out, "%s%s%%", share < 0.0 ? "-" : "", number);
}

void mel_words_add_nothing(mel_buffer *out)
{
    mel_buffer_puts(out, "This metric does not tell classifiers apart: every weight is zero.");
}

void mel_words_add_name(mel_buffer *out, const char *name)
{
    (void)mel_text_add_clean(out, name, SIZE_MAX);
}
