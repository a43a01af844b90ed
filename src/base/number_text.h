/* Numbers as texts that read back to the same bits, whatever the locale. */
#ifndef MEL_BASE_NUMBER_TEXT_H
#define MEL_BASE_NUMBER_TEXT_H

#include <locale.h>

/* The calling thread's locale becomes "C" until mel_leave_c_locale. (A newlocale that fails gives 0, and
 * uselocale(0) changes nothing; for "C" it needs no memory.) */
typedef struct {
    locale_t c, before;
} mel_locale_pair;
mel_locale_pair mel_enter_c_locale(void);
void mel_leave_c_locale(mel_locale_pair pair);

enum { MEL_NUMBER_TEXT = 32 };
/* The shortest of 15, 16 or 17 significant digits that reads back to the same bits; "0" for -0. */
void mel_number_print(char out[MEL_NUMBER_TEXT], double value);

#endif
