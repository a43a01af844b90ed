/* Text as SVG and HTML need it, always escaped. */
#ifndef MEL_REPORT_WRITE_H
#define MEL_REPORT_WRITE_H

#include "base/buffer.h"
#include "base/digits.h"

/* Text with &, <, >, ", ' as entities; bytes that are not UTF-8 and characters that XML does not allow
 * become U+FFFD. */
void mel_write_text(mel_buffer *out, const char *text);
/* Like mel_buffer_printf, but %s (escaped) and %% are the only directives. */
MEL_PRINTF(2, 3) void mel_write(mel_buffer *out, const char *fmt, ...);
MEL_PRINTF(2, 0) void mel_vwrite(mel_buffer *out, const char *fmt, va_list args);
/* Escaped and cut with an ellipsis to so many columns. */
void mel_write_cut(mel_buffer *out, const char *text, size_t columns);

/* Escaped, as one word of a shell command: in single quotes when it needs them. */
void mel_write_word(mel_buffer *out, const char *word);

/* Pieces of SVG, pixels to two decimals: ` name="12.5"`, and `L12.5 8` with the letter given. */
void mel_write_attribute(mel_buffer *out, const char *name, double px);
void mel_write_point(mel_buffer *out, char command, double x, double y);

#endif
