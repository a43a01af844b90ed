/* What the cells of a column look like, counted, and what that says about the column and the file. */
#ifndef MEL_DATA_CSV_TALLY_H
#define MEL_DATA_CSV_TALLY_H

#include "data/number_style.h"
#include "data/quote.h"
#include "data/table.h"

/* A cell to be named in a sentence; row 0: there is none. */
typedef struct {
    size_t row;
    mel_quoted text;
} mel_cell_place;

typedef struct {
    size_t quoted_words; /* missing cells with a word in quotes, which is a name in a column of texts */
    size_t plain;        /* numbers that need no style: 12, 12.5, 1.234 */
    size_t percent;
    size_t count[MEL_SHAPES];
    mel_cell_place first[MEL_SHAPES], first_percent;
} mel_tally;

/* A cell that is not missing, without blanks around it. */
void mel_tally_add(mel_tally *tally, const char *text, size_t n, size_t row);

/* Do at least half of the cells that are not missing look like numbers of some style? */
bool mel_tally_is_numeric(const mel_tally *tally);

typedef enum { MEL_TALLY_PLAIN, MEL_TALLY_STYLED, MEL_TALLY_TEXT } mel_tally_verdict;
/* What the column is in a file where decimals follow `decimal`: plain numbers, numbers with a style, or text.
 */
mel_tally_verdict mel_tally_judge(const mel_tally *tally, char decimal);
/* The cells that keep it from being numbers: how many, and the first. */
size_t mel_tally_odd(mel_cell_place *first, const mel_tally *tally, char decimal);
/* Which of its numbers have a percent sign. */
mel_percent_signs mel_tally_percent(const mel_tally *tally);

#endif
