/* From what the cells of a file look like to the types of its columns and its decimal mark. */
#include "data/csv.h"

#include <string.h>

static const char *shown_name(const mel_csv *csv, size_t column, mel_quoted *room)
{
    *room = mel_quote_text(mel_dict_text(csv->names, column));
    return room->text;
}

bool mel_survey_has_numbers(const mel_tally *tally)
{
    for (int shape = MEL_SHAPE_OTHER + 1; shape < MEL_SHAPES; shape++)
        if (tally->count[shape] != 0)
            return true;
    return false;
}

bool mel_survey_is_due(const mel_csv *csv)
{
    /* Semicolons mostly stand in files where the comma marks decimals. */
    if (csv->opt.decimal == ',' || (csv->opt.decimal == 0 && csv->dialect.delimiter == ';'))
        return true;
    for (size_t j = 0; j < csv->n_columns; j++)
        if (csv->column[j].declared != MEL_COLUMN_TEXT && mel_survey_has_numbers(&csv->tally[j]) &&
            mel_tally_judge(&csv->tally[j], '.') != MEL_TALLY_PLAIN)
            return true;
    return false;
}

static bool may_start_number(char c)
{
    return (c >= '0' && c <= '9') || strchr("+-., \t", c) != NULL;
}

static bool has_number(const mel_dict *dict)
{
    for (uint32_t code = 0; code < dict->n; code++) {
        const char *text = mel_dict_text(dict, code);
        size_t n = mel_dict_length(dict, code);
        bool percent;
        for (; n != 0 && (*text == ' ' || *text == '\t'); n--)
            text++;
        if (n != 0 && may_start_number(*text) && mel_number_shape_of(text, n, &percent) != MEL_SHAPE_OTHER)
            return true;
    }
    return false;
}

/* Quoted words for missing are names where no number is among them. */
static bool may_be_words(const mel_csv_column *column)
{
    return column->has_quoted_word && !column->has_number && column->declared == MEL_COLUMN_AUTO;
}

bool mel_survey_is_overdue(const mel_csv *csv)
{
    for (size_t j = 0; j < csv->n_columns; j++) {
        const mel_csv_column *column = &csv->column[j];
        if (column->declared == MEL_COLUMN_TEXT)
            continue;
        if (column->dict != NULL ? has_number(column->dict) : column->has_text || may_be_words(column))
            return true;
    }
    return false;
}

/* ---- the decimal mark ---- */

/* The first column of numbers with a cell of that shape, or SIZE_MAX. */
static size_t find_shape(const mel_csv *csv, mel_number_shape shape)
{
    for (size_t j = 0; j < csv->n_columns; j++)
        if (csv->column[j].declared != MEL_COLUMN_TEXT && csv->tally[j].count[shape] != 0 &&
            mel_tally_is_numeric(&csv->tally[j]))
            return j;
    return SIZE_MAX;
}

static mel_status refuse_both(const mel_csv *csv, size_t comma, size_t point, mel_error *err)
{
    mel_quoted a, b;
    const mel_cell_place *with_comma = &csv->tally[comma].first[MEL_SHAPE_COMMA];
    const mel_cell_place *with_point = &csv->tally[point].first[MEL_SHAPE_POINT];
    return mel_fail(err, MEL_EDATA,
                    "row %zu, column %s: %s has a decimal comma, but row %zu, column %s: %s a decimal point; "
                    "--decimal says which one is meant",
                    with_comma->row, shown_name(csv, comma, &a), with_comma->text.text, with_point->row,
                    shown_name(csv, point, &b), with_point->text.text);
}

static mel_status refuse_either(const mel_csv *csv, size_t column, mel_error *err)
{
    mel_quoted name;
    const mel_cell_place *place = &csv->tally[column].first[MEL_SHAPE_COMMA_OR_THOUSANDS];
    return mel_fail(err, MEL_EDATA,
                    "row %zu, column %s: nothing tells whether the comma of %s marks decimals or thousands; "
                    "give --decimal , or --decimal .",
                    place->row, shown_name(csv, column, &name), place->text.text);
}

/* Points may set thousands apart where semicolons separate cells. */
static mel_status warn_of_points(mel_csv *csv, mel_error *err)
{
    const size_t column = find_shape(csv, MEL_SHAPE_POINT_OR_THOUSANDS);
    if (column == SIZE_MAX || csv->dialect.delimiter != ';')
        return MEL_OK;
    const mel_cell_place *place = &csv->tally[column].first[MEL_SHAPE_POINT_OR_THOUSANDS];
    return mel_notes_warn(
        &csv->notes, err,
        "column %s: the point of %s in row %zu is taken as a decimal point (--decimal , makes "
        "it thousands)",
        mel_dict_text(csv->names, column), place->text.text, place->row);
}

static mel_status choose_comma(mel_csv *csv, size_t column, mel_error *err)
{
    csv->decimal = ',';
    if (csv->dialect.delimiter != ',')
        return MEL_OK;
    const mel_cell_place *place = &csv->tally[column].first[MEL_SHAPE_COMMA];
    return mel_notes_warn(
        &csv->notes, err,
        "column %s: the comma of %s in row %zu is taken as a decimal comma (--decimal . makes "
        "it text)",
        mel_dict_text(csv->names, column), place->text.text, place->row);
}

static mel_status choose_decimal(mel_csv *csv, mel_error *err)
{
    csv->decimal = csv->opt.decimal != 0 ? csv->opt.decimal : '.';
    if (csv->opt.decimal != 0)
        return MEL_OK;
    const size_t comma = find_shape(csv, MEL_SHAPE_COMMA), point = find_shape(csv, MEL_SHAPE_POINT);
    const size_t either = find_shape(csv, MEL_SHAPE_COMMA_OR_THOUSANDS);
    if (comma != SIZE_MAX && point == SIZE_MAX)
        return choose_comma(csv, comma, err);
    if (comma != SIZE_MAX) /* in quotes between commas it is a text, of which mel_survey_warn tells */
        return csv->dialect.delimiter == ',' ? MEL_OK : refuse_both(csv, comma, point, err);
    if (either != SIZE_MAX && point == SIZE_MAX)
        return refuse_either(csv, either, err);
    return point == SIZE_MAX ? warn_of_points(csv, err) : MEL_OK;
}

/* ---- columns ---- */

static mel_status refuse_text(const mel_csv *csv, size_t column, mel_error *err)
{
    mel_quoted name;
    mel_cell_place odd;
    (void)mel_tally_odd(&odd, &csv->tally[column], csv->decimal);
    return mel_fail(err, MEL_EDATA, "row %zu, column %s: %s is not a number", odd.row,
                    shown_name(csv, column, &name), odd.text.text);
}

mel_tally_verdict mel_survey_verdict(const mel_csv *csv, size_t column, char decimal)
{
    const mel_tally *tally = &csv->tally[column];
    const mel_column_type declared = csv->column[column].declared;
    const bool words = tally->quoted_words != 0 && !mel_survey_has_numbers(tally);
    if (declared == MEL_COLUMN_TEXT || (declared == MEL_COLUMN_AUTO && words))
        return MEL_TALLY_TEXT;
    return mel_tally_judge(tally, decimal);
}

mel_status mel_survey_judge(mel_csv *csv, mel_error *err)
{
    mel_status status = choose_decimal(csv, err);
    for (size_t j = 0; j < csv->n_columns && status == MEL_OK; j++) {
        mel_csv_column *column = &csv->column[j];
        column->verdict = mel_survey_verdict(csv, j, csv->decimal);
        if (column->declared == MEL_COLUMN_NUMBER && column->verdict == MEL_TALLY_TEXT)
            status = refuse_text(csv, j, err);
    }
    return status;
}

mel_status mel_survey_warn(mel_csv *csv, mel_error *err)
{
    mel_status status = MEL_OK;
    for (size_t j = 0; j < csv->n_columns && status == MEL_OK; j++) {
        const mel_tally *tally = &csv->tally[j];
        if (csv->column[j].verdict != MEL_TALLY_TEXT || csv->column[j].declared != MEL_COLUMN_AUTO ||
            !mel_tally_is_numeric(tally))
            continue;
        mel_cell_place first;
        const size_t odd = mel_tally_odd(&first, tally, csv->decimal);
        const bool percents = tally->percent != 0 && tally->count[MEL_SHAPE_OTHER] == 0, one = odd == 1;
        status = mel_notes_warn(
            &csv->notes, err, "column %s: %s of %s cells %s, first %s in row %zu; treated as categories",
            mel_dict_text(csv->names, j), mel_count_text(odd).text, mel_count_text(csv->rows_done).text,
            percents ? (one ? "differs in the percent sign" : "differ in the percent sign")
                     : (one ? "is not a number" : "are not numbers"),
            first.text.text, first.row);
    }
    return status;
}
