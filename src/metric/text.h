/* Text for people and for JSON: UTF-8, column widths, short numbers, names of mistakes. */
#ifndef MEL_METRIC_TEXT_H
#define MEL_METRIC_TEXT_H

#include "base/buffer.h"

/* The code point at *at, which moves past it; -1 (and one byte forward) where the bytes are not UTF-8. */
long mel_text_next(const char **at);
bool mel_text_is_utf8(const char *text);
/* Columns on a terminal: 2 for wide East Asian characters and emoji, 0 for combining marks, 1 for
 * anything that mel_text_add_clean would replace. */
size_t mel_text_columns(const char *text);
/* Adds text with control characters, bidirectional overrides and broken bytes replaced by '?', so
 * that a name cannot drive the terminal; stops before more than `columns` columns. Returns the columns used.
 */
size_t mel_text_add_clean(mel_buffer *out, const char *text, size_t columns);

/* As few digits as read back to the same number; x is finite. */
void mel_text_add_number(mel_buffer *out, double x);
/* A JSON string, quotes included; bytes that are not UTF-8 become U+FFFD. */
void mel_text_add_json_string(mel_buffer *out, const char *text);
/* 1234567 as "1,234,567". */
void mel_text_add_count(mel_buffer *out, uint64_t n);

/* A name that somebody gave to a mistake in the plural: "missed default cases", "false alarms". */
void mel_text_add_plural(mel_buffer *out, const char *noun);
/* Names of the missed positives of a binary problem, built from the name of the positive class: "cancer"
 * gives "missed cancer case(s)", and names that say nothing ("1", "yes", "positive") give "missed
 * positive(s)". */
void mel_text_add_missed(mel_buffer *out, const char *positive_class, bool plural);
/* The same, or "false alarm(s)". */
void mel_text_add_mistake(mel_buffer *out, const char *positive_class, bool missed, bool plural);

/* The text for the caller to free(), or NULL with the failure in err; buf is empty afterwards. */
mel_status mel_text_take(char **out, mel_buffer *buf, const char *what, mel_error *err);

#endif
