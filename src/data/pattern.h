/* Patterns of file names, 'part-*.csv.gz': the files that they stand for, in one order. */
#ifndef MEL_DATA_PATTERN_H
#define MEL_DATA_PATTERN_H

#include "data/shared.h"

/* 0, below or above, as strcmp, with runs of digits compared as numbers: p-2 comes before p-10. */
int mel_key_order(const char *a, const char *b);
/* All files of a pattern as one table. */
mel_status mel_read_pattern(mel_table **out, const char *pattern, const mel_read_options *opt,
                            mel_error *err);

#endif
