/* The one order of class names and categories: by value when all are numbers, else by byte. */
#ifndef MEL_DATA_LABELS_H
#define MEL_DATA_LABELS_H

#include "data/table.h"

/* order[0..n) becomes the codes present[0..n) of dict in that order. */
mel_status mel_order_texts(const mel_dict *dict, size_t n, const uint32_t *present, uint32_t *order,
                           mel_error *err);
/* The codes that occur in a column of texts: present[] (room for all) lists them ascending, count[] (zeros
 * before) becomes how often each does. How many occur. */
size_t mel_count_codes(const mel_table *table, const mel_column *column, uint32_t *present, size_t *count);

/* Names the first missing cell of a column. */
mel_status mel_refuse_missing(const mel_table *table, size_t column, mel_error *err);

/* mel_same_class_name for a text of n bytes. */
bool mel_same_name(const char *text, size_t n, const char *name);

#endif
