/* Words that stand for a missing cell: the one place that lists them. */
#ifndef MEL_DATA_MISSING_H
#define MEL_DATA_MISSING_H

#include <stdbool.h>
#include <stddef.h>

/* A cell without quotes and without the blanks around it. Among numbers every word of the list counts, in any
 * case; among texts only those that no category is called by, spelt exactly so. */
bool mel_missing_number(const char *text, size_t n);
bool mel_missing_text(const char *text, size_t n);
/* In a column that the caller declared to be text: only nothing and "?". */
bool mel_missing_declared(const char *text, size_t n);

#endif
