/* Layouts beyond melicit/layout.h: checks, and the words that files and messages have for them. */
#ifndef MEL_BASE_LAYOUT_H
#define MEL_BASE_LAYOUT_H

#include "melicit/layout.h"

/* Where coordinate c of a group is in its k x k matrix of true classes and predictions: row * k + column. */
size_t mel_layout_cell(const mel_layout *layout, size_t c);
/* MEL_EINVAL with the field: 2 to 10,000 classes (binary: 2), at most 10,000 groups. */
mel_status mel_layout_check(const mel_layout *layout, mel_error *err);
bool mel_layout_equal(const mel_layout *a, const mel_layout *b);
/* "confusion", "binary"; parse refuses other words, and names outside the enumerations are "unknown". */
const char *mel_kind_name(mel_statistics_kind kind);
const char *mel_coordinates_name(mel_coordinates coordinates);
mel_status mel_kind_parse(mel_statistics_kind *out, const char *name, mel_error *err);
mel_status mel_coordinates_parse(mel_coordinates *out, const char *name, mel_error *err);

#endif
