/* Numbers for people: the same bytes in every locale, never NaN. */
#ifndef MEL_BASE_DIGITS_H
#define MEL_BASE_DIGITS_H

#include "base/internal.h"

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
/* Counts of people: whole, with a decimal below ten. */
mel_digits mel_digits_people(double count);
/* A share as a percentage with one decimal; "100" only for all of it. */
mel_digits mel_digits_percent(double share);

/* Bounds for people: two significant digits on the side on which the bound still holds, thousands set apart.
 * What is more than x is more than the first, what is less than x is less than the second. */
mel_digits mel_digits_more_than(double x);
mel_digits mel_digits_less_than(double x);

/* Both ends with as many digits as it takes to tell them apart, two at least. */
typedef struct {
    mel_digits low, high;
} mel_ends;
mel_ends mel_digits_ends(double low, double high);

#endif
