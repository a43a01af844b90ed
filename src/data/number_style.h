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

/* A number as it is written, and its value where decimals follow a given mark. */
typedef struct {
    mel_number_shape shape;
    mel_number_kind kind; /* NONE: it is no number with that mark */
    bool plain;           /* needs no style: 12, 12.5, 1.234 */
    bool percent;         /* a percent sign follows */
    double value;         /* 45% is 0.45 */
} mel_styled_number;

/* text[0..n), without blanks around it and followed by a readable byte that cannot continue a number. */
mel_styled_number mel_number_styled(const char *text, size_t n, char decimal);
/* Is a number of that shape one where decimals follow `decimal` ('.' or ',')? */
bool mel_number_fits(mel_number_shape shape, char decimal);

#endif
