/* Counts of what the cells of a column look like, and their meaning. */
#include "data/csv_tally.h"

static void note(mel_cell_place *place, const char *text, size_t n, size_t row)
{
    if (place->row == 0)
        *place = (mel_cell_place){ .row = row, .text = mel_quote(text, n) };
}

void mel_tally_add(mel_tally *tally, const char *text, size_t n, size_t row)
{
    bool percent;
    double value;
    const mel_number_shape shape = mel_number_shape_of(text, n, &percent);
    tally->count[shape]++;
    note(&tally->first[shape], text, n, row);
    if (shape == MEL_SHAPE_OTHER)
        return;
    tally->percent += percent;
    if (percent)
        note(&tally->first_percent, text, n, row);
    tally->plain += mel_number_parse(text, n, &value) == MEL_NUMBER_FINITE;
}

static size_t count_numbers(const mel_tally *tally)
{
    size_t n = 0;
    for (int shape = MEL_SHAPE_OTHER + 1; shape < MEL_SHAPES; shape++)
        n += tally->count[shape];
    return n;
}

bool mel_tally_is_numeric(const mel_tally *tally)
{
    const size_t n = count_numbers(tally);
    return n != 0 && n >= tally->count[MEL_SHAPE_OTHER];
}

static bool is_odd(mel_number_shape shape, char decimal)
{
    return shape != MEL_SHAPE_HUGE && !mel_number_fits(shape, decimal);
}

size_t mel_tally_odd(mel_cell_place *first, const mel_tally *tally, char decimal)
{
    size_t n = 0;
    *first = (mel_cell_place){ 0 };
    for (int shape = 0; shape < MEL_SHAPES; shape++) {
        if (tally->count[shape] == 0 || !is_odd((mel_number_shape)shape, decimal))
            continue;
        n += tally->count[shape];
        if (first->row == 0 || tally->first[shape].row < first->row)
            *first = tally->first[shape];
    }
    return n;
}

mel_percent_signs mel_tally_percent(const mel_tally *tally)
{
    return tally->percent == 0                      ? MEL_PERCENT_NONE
           : tally->percent == count_numbers(tally) ? MEL_PERCENT_ALL
                                                    : MEL_PERCENT_SOME;
}

mel_tally_verdict mel_tally_judge(const mel_tally *tally, char decimal)
{
    mel_cell_place first;
    if (mel_tally_odd(&first, tally, decimal) != 0)
        return MEL_TALLY_TEXT;
    const bool plain = tally->plain == count_numbers(tally) - tally->count[MEL_SHAPE_HUGE] &&
                       (decimal == '.' || tally->count[MEL_SHAPE_POINT_OR_THOUSANDS] == 0);
    return plain ? MEL_TALLY_PLAIN : MEL_TALLY_STYLED;
}
