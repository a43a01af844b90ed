/* Tables as text, for comparing them in one line. */
#ifndef MEL_TEST_TABLES_H
#define MEL_TEST_TABLES_H

#include "melicit/data.h"

/* "a:n=1,2,_ b:t=x,y,_" (n: numbers, t: text, _: missing), cells in the order of rows. */
void test_describe(const mel_table *table, char *out, size_t size);

/* A matrix of doubles as an .npy file. */
void test_write_npy(const char *path, size_t rows, size_t columns, const double *values);

#endif
