/* Numbers to texts and back with a decimal point, whatever the locale of the program that the library is part
 * of. */
#ifndef MEL_BASE_NUMBER_TEXT_H
#define MEL_BASE_NUMBER_TEXT_H

#include "melicit/base.h"

#include <stdarg.h>
#include <stddef.h>

/* strtod. */
double mel_to_double(const char *text, char **end);
/* snprintf and vsnprintf. */
MEL_PRINTF(3, 4) int mel_print(char *out, size_t size, const char *fmt, ...);
MEL_PRINTF(3, 0) int mel_vprint(char *out, size_t size, const char *fmt, va_list args);

enum { MEL_NUMBER_TEXT = 32 };
/* The shortest of 15, 16 or 17 significant digits that reads back to the same bits; "0" for -0. */
void mel_number_print(char out[MEL_NUMBER_TEXT], double value);

#endif
