/* Numbers as people write them: decimal commas, thousands apart, percent signs. */
#ifndef MEL_DATA_NUMBER_STYLE_H
#define MEL_DATA_NUMBER_STYLE_H

#include "data/number.h"

/* What the marks in a number say about the whole file. Thousands are strictly groups of three behind one to
 * three digits that do not start with 0, all apart by the same mark: comma, point or blank (also U+00A0 and
 * U+202F). */
typedef enum {
    MEL_SHAPE_OTHER,              /* no number */
    MEL_SHAPE_HUGE,               /* inf, 1e999 */
    MEL_SHAPE_WHOLE,              /* 12, 1e5, 1 234: says nothing */
    MEL_SHAPE_POINT,              /* 12.5, 1,234.5, 1,234,567: decimals follow a point */
    MEL_SHAPE_POINT_OR_THOUSANDS, /* 1.234 */
    MEL_SHAPE_COMMA,              /* 12,5, 1.234,5, 1.234.567: decimals follow a comma */
    MEL_SHAPE_COMMA_OR_THOUSANDS, /* 1,234 */
    MEL_SHAPES
} mel_number_shape;

/* The shape of text[0..n), without blanks around it; *percent: a percent sign follows. */
mel_number_shape mel_number_shape_of(const char *text, size_t n, bool *percent);
/* Is a number of that shape one where decimals follow `decimal` ('.' or ',')? */
bool mel_number_fits(mel_number_shape shape, char decimal);
/* Its value there: 45% is 0.45. MEL_NUMBER_NONE when it is none. */
mel_number_kind mel_number_parse_styled(const char *text, size_t n, char decimal, double *value);

#endif
