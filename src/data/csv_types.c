/* From what the cells of a CSV file look like to the types of its columns and its decimal mark. */
#include "data/csv.h"

#include <stdlib.h>
#include <string.h>

static const char *column_name(const mel_csv *csv, size_t column)
{
    return mel_dict_text(csv->names, column);
}

static size_t count_numbers(const mel_csv_column *c)
{
    size_t n = 0;
    for (int shape = MEL_SHAPE_OTHER + 1; shape < MEL_SHAPES; shape++)
        n += c->seen[shape].n;
    return n;
}

/* Do at least half of the cells that are not missing look like numbers of some style? */
static bool is_numeric(const mel_csv_column *c)
{
    const size_t n = count_numbers(c);
    return n != 0 && n >= c->seen[MEL_SHAPE_OTHER].n;
}

mel_csv_seen mel_csv_odd_cells(const mel_csv_column *c, char decimal)
{
    mel_csv_seen odd = { 0 };
    for (int shape = 0; shape < MEL_SHAPES; shape++) {
        const mel_csv_seen *s = &c->seen[shape];
        if (s->n == 0 || shape == MEL_SHAPE_HUGE || mel_number_fits((mel_number_shape)shape, decimal))
            continue;
        const bool first = odd.row == 0 || s->row < odd.row;
        odd = (mel_csv_seen){ odd.n + s->n, first ? s->row : odd.row, first ? s->text : odd.text };
    }
    return odd;
}

/* Is a column text where decimals follow `decimal`? */
static bool judge_text(const mel_csv_column *c, char decimal)
{
    const bool words = c->found.quoted_words != 0 && count_numbers(c) == 0;
    return c->declared == MEL_COLUMN_TEXT || (c->declared == MEL_COLUMN_AUTO && words) ||
           mel_csv_odd_cells(c, decimal).n != 0;
}

/* ---- the decimal mark ---- */

/* The first column of numbers that has cells of that shape (SIZE_MAX: none); *most: how many one of them has.
 */
static size_t find_shape(size_t *most, const mel_csv *csv, mel_number_shape shape)
{
    size_t first = SIZE_MAX;
    *most = 0;
    for (size_t j = 0; j < csv->n_columns; j++) {
        const mel_csv_column *c = &csv->column[j];
        if (c->declared == MEL_COLUMN_TEXT || c->seen[shape].n == 0 || !is_numeric(c))
            continue;
        first = first == SIZE_MAX ? j : first;
        *most = c->seen[shape].n > *most ? c->seen[shape].n : *most;
    }
    return first;
}

void mel_csv_guess_types(mel_csv *csv)
{
    size_t commas, points;
    (void)find_shape(&commas, csv, MEL_SHAPE_COMMA);
    (void)find_shape(&points, csv, MEL_SHAPE_POINT);
    csv->decimal = csv->opt.decimal != 0 ? csv->opt.decimal : commas != 0 && points == 0 ? ',' : '.';
    for (size_t j = 0; j < csv->n_columns; j++) {
        mel_csv_column *c = &csv->column[j];
        c->kind =
            c->declared != MEL_COLUMN_NUMBER && judge_text(c, csv->decimal) ? MEL_CSV_TEXT : MEL_CSV_NUMBER;
    }
}

/* Points may set thousands apart where semicolons separate cells. */
static mel_status warn_of_points(mel_csv *csv, mel_error *err)
{
    size_t most;
    const size_t column = find_shape(&most, csv, MEL_SHAPE_POINT_OR_THOUSANDS);
    if (column == SIZE_MAX || csv->dialect.delimiter != ';')
        return MEL_OK;
    const mel_csv_seen *seen = &csv->column[column].seen[MEL_SHAPE_POINT_OR_THOUSANDS];
    return mel_notes_warn(
        &csv->notes, err,
        "column %s: the point of %s in row %zu is taken as a decimal point (decimal=, makes "
        "it thousands)",
        column_name(csv, column), seen->text, seen->row);
}

/* Decimals follow a comma. Between commas that is unusual enough for a word, also on the columns in which
 * points set thousands apart for that. */
static mel_status choose_comma(mel_csv *csv, size_t column, mel_error *err)
{
    csv->decimal = ',';
    if (csv->dialect.delimiter != ',')
        return MEL_OK;
    const mel_csv_seen *seen = &csv->column[column].seen[MEL_SHAPE_COMMA];
    const bool comma = strchr(seen->text, ',') != NULL;
    TRY(mel_notes_warn(&csv->notes, err, "column %s: the %s of %s in row %zu %s (decimal=. makes it text)",
                       column_name(csv, column), comma ? "comma" : "points", seen->text, seen->row,
                       comma ? "is taken as a decimal comma" : "are taken to set thousands apart"));
    for (size_t j = 0; j < csv->n_columns; j++) {
        const mel_csv_column *c = &csv->column[j];
        const mel_csv_seen *points = &c->seen[MEL_SHAPE_POINT_OR_THOUSANDS];
        if (points->n == 0 || c->seen[MEL_SHAPE_COMMA].n != 0 || c->declared == MEL_COLUMN_TEXT ||
            !is_numeric(c))
            continue;
        TRY(mel_notes_warn(&csv->notes, err,
                           "column %s: the point of %s cell%s, first %s in row %zu, is taken to set "
                           "thousands apart (decimal=. makes it a decimal point)",
                           column_name(csv, j), mel_count_text(points->n).text, points->n == 1 ? "" : "s",
                           points->text, points->row));
    }
    return MEL_OK;
}

static mel_status choose_decimal(mel_csv *csv, mel_error *err)
{
    csv->decimal = csv->opt.decimal != 0 ? csv->opt.decimal : '.';
    if (csv->opt.decimal != 0)
        return MEL_OK;
    size_t commas, points, point_or, comma_or;
    const bool between_commas = csv->dialect.delimiter == ',';
    const size_t comma = find_shape(&commas, csv, MEL_SHAPE_COMMA),
                 point = find_shape(&points, csv, MEL_SHAPE_POINT);
    const size_t either = find_shape(&comma_or, csv, MEL_SHAPE_COMMA_OR_THOUSANDS);
    (void)find_shape(&point_or, csv, MEL_SHAPE_POINT_OR_THOUSANDS);
    /* Cells that prove a mark may be too few to say how those that may be read in two ways are meant; between
     * commas more is asked of commas. warn_of_column tells of such strays. */
    const bool stray_commas =
        point_or != 0 && (between_commas ? commas == 1 || 2 * commas <= point_or : 10 * commas <= point_or);
    const bool stray_points = comma_or != 0 && 10 * points <= comma_or;
    if (comma != SIZE_MAX && point == SIZE_MAX)
        return stray_commas ? warn_of_points(csv, err) : choose_comma(csv, comma, err);
    if (comma != SIZE_MAX && between_commas) /* a text in quotes, of which warn_of_column tells */
        return MEL_OK;
    if (comma != SIZE_MAX) {
        const mel_csv_seen *a = &csv->column[comma].seen[MEL_SHAPE_COMMA],
                           *b = &csv->column[point].seen[MEL_SHAPE_POINT];
        return mel_fail(
            err, MEL_EDATA,
            "row %zu, column %s: %s has a decimal comma, but row %zu, column %s: %s a decimal point; "
            "decimal=, or decimal=. says which one is meant",
            a->row, mel_quote_text(column_name(csv, comma)).text, a->text, b->row,
            mel_quote_text(column_name(csv, point)).text, b->text);
    }
    if (either != SIZE_MAX && (point == SIZE_MAX || stray_points)) {
        const mel_csv_seen *seen = &csv->column[either].seen[MEL_SHAPE_COMMA_OR_THOUSANDS];
        return mel_fail(err, MEL_EDATA,
                        "row %zu, column %s: %s tells whether the comma of %s marks decimals or thousands; "
                        "give decimal=, or decimal=.",
                        seen->row, mel_quote_text(column_name(csv, either)).text,
                        point != SIZE_MAX ? "too little" : "nothing", seen->text);
    }
    return point == SIZE_MAX ? warn_of_points(csv, err) : MEL_OK;
}

/* ---- after a pass ---- */

/* Warns of a column that is numbers but for some cells, or percentages but for some. */
static mel_status warn_of_column(mel_csv *csv, size_t j, bool is_text, mel_error *err)
{
    const mel_csv_column *c = &csv->column[j];
    const mel_csv_seen *percent = &c->seen[MEL_SEEN_PERCENT];
    const mel_count_words rows = mel_count_text(csv->rows_done);
    if (c->percent == MEL_PERCENT_SOME)
        TRY(mel_notes_warn(&csv->notes, err,
                           "column %s: %s of %s cells %s a percent sign, first %s in row %zu; %s read as "
                           "hundredths, the others as they stand",
                           column_name(csv, j), mel_count_text(percent->n).text, rows.text,
                           percent->n == 1 ? "has" : "have", percent->text, percent->row,
                           percent->n == 1 ? "it is" : "they are"));
    if (!is_text || c->declared != MEL_COLUMN_AUTO || !is_numeric(c))
        return MEL_OK;
    const mel_csv_seen odd = mel_csv_odd_cells(c, csv->decimal);
    return mel_notes_warn(&csv->notes, err,
                          "column %s: %s of %s cells %s, first %s in row %zu; treated as categories",
                          column_name(csv, j), mel_count_text(odd.n).text, rows.text,
                          odd.n == 1 ? "is not a number" : "are not numbers", odd.text, odd.row);
}

/* Has numbers whose value depends on the decimal mark. */
static bool depends_on_mark(const mel_csv_column *c)
{
    return c->seen[MEL_SHAPE_POINT].n + c->seen[MEL_SHAPE_POINT_OR_THOUSANDS].n + c->seen[MEL_SHAPE_COMMA].n +
               c->seen[MEL_SHAPE_COMMA_OR_THOUSANDS].n !=
           0;
}

mel_status mel_csv_decide_types(mel_csv *csv, bool *again, mel_error *err)
{
    const char read_with = csv->decimal;
    *again = false;
    TRY(choose_decimal(csv, err));
    for (size_t j = 0; j < csv->n_columns; j++) {
        mel_csv_column *c = &csv->column[j];
        const bool is_text = judge_text(c, csv->decimal), was_text = c->dict != NULL;
        if (c->declared == MEL_COLUMN_NUMBER && is_text) {
            const mel_csv_seen odd = mel_csv_odd_cells(c, csv->decimal);
            return mel_fail(err, MEL_EDATA, "row %zu, column %s: %s is not a number", odd.row,
                            mel_quote_text(column_name(csv, j)).text, odd.text);
        }
        const size_t signs = c->seen[MEL_SEEN_PERCENT].n;
        c->percent = is_text || signs == 0       ? MEL_PERCENT_NONE
                     : signs == count_numbers(c) ? MEL_PERCENT_ALL
                                                 : MEL_PERCENT_SOME;
        const bool right =
            is_text == was_text && (is_text || read_with == csv->decimal || !depends_on_mark(c));
        c->kind = right ? MEL_CSV_SKIP : is_text ? MEL_CSV_TEXT : MEL_CSV_NUMBER;
        *again |= !right;
        TRY(warn_of_column(csv, j, is_text, err));
    }
    return MEL_OK;
}
