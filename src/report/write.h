/* Numbers and text as SVG and HTML need them: the same bytes in every locale, never NaN, always escaped. */
#ifndef MEL_REPORT_WRITE_H
#define MEL_REPORT_WRITE_H

#include "base/buffer.h"

/* Used as mel_digits_fixed(x, 2).text inside one expression. */
typedef struct {
    char text[40];
} mel_digits;

/* Fixed point with exactly that many decimals; from 1e15 up in scientific form. */
mel_digits mel_digits_fixed(double x, int decimals);
/* The same without trailing zeros: coordinates. */
mel_digits mel_digits_short(double x, int decimals);
/* For people: about `digits` significant digits, whole numbers in full below 1e6, U+2212 for minus. */
mel_digits mel_digits_significant(double x, int digits);
/* For people with exactly that many decimals, U+2212 for minus. */
mel_digits mel_digits_shown(double x, int decimals);
mel_digits mel_digits_count(uint64_t n); /* 32,561 */

/* Text with &, <, >, ", ' as entities; bytes that are not UTF-8 and characters that XML does not allow
 * become U+FFFD. */
void mel_write_text(mel_buffer *out, const char *text);
/* Like mel_buffer_printf, but %s (escaped) and %% are the only directives. */
MEL_PRINTF(2, 3) void mel_write(mel_buffer *out, const char *fmt, ...);
/* Escaped and cut with an ellipsis to so many columns. */
void mel_write_cut(mel_buffer *out, const char *text, size_t columns);

/* Escaped, as one word of a shell command: in single quotes when it needs them. */
void mel_write_word(mel_buffer *out, const char *word);

/* Pieces of SVG, pixels to two decimals: ` name="12.5"`, and `L12.5 8` with the letter given. */
void mel_write_attribute(mel_buffer *out, const char *name, double px);
void mel_write_point(mel_buffer *out, char command, double x, double y);

#endif
