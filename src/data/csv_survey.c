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

/* How many cells of that shape the column of numbers with most of them has. */
static size_t most_of_shape(const mel_csv *csv, mel_number_shape shape)
{
    size_t most = 0;
    for (size_t j = 0; j < csv->n_columns; j++)
        if (csv->column[j].declared != MEL_COLUMN_TEXT && csv->tally[j].count[shape] > most &&
            mel_tally_is_numeric(&csv->tally[j]))
            most = csv->tally[j].count[shape];
    return most;
}

/* Are the cells that prove a mark too few to say how those that may be read in two ways are meant? Between
 * commas a comma in a number is unusual enough for more to be asked of it. */
static bool are_strays(const mel_csv *csv, mel_number_shape proof, mel_number_shape either)
{
    const size_t few = most_of_shape(csv, proof), many = most_of_shape(csv, either);
    const bool unusual = csv->dialect.delimiter == ',' && proof == MEL_SHAPE_COMMA;
    return many != 0 && (unusual ? few == 1 || 2 * few <= many : 10 * few <= many);
}

static mel_status refuse_either(const mel_csv *csv, size_t column, bool strays, mel_error *err)
{
    mel_quoted name;
    const mel_cell_place *place = &csv->tally[column].first[MEL_SHAPE_COMMA_OR_THOUSANDS];
    return mel_fail(err, MEL_EDATA,
                    "row %zu, column %s: %s tells whether the comma of %s marks decimals or thousands; "
                    "give --decimal , or --decimal .",
                    place->row, shown_name(csv, column, &name), strays ? "too little" : "nothing",
                    place->text.text);
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

/* The columns in which points set thousands apart because another one has decimal commas. */
static mel_status warn_of_thousands(mel_csv *csv, mel_error *err)
{
    mel_status status = MEL_OK;
    for (size_t j = 0; j < csv->n_columns && status == MEL_OK; j++) {
        const mel_tally *tally = &csv->tally[j];
        const size_t n = tally->count[MEL_SHAPE_POINT_OR_THOUSANDS];
        if (n == 0 || tally->count[MEL_SHAPE_COMMA] != 0 || csv->column[j].declared == MEL_COLUMN_TEXT ||
            !mel_tally_is_numeric(tally))
            continue;
        const mel_cell_place *place = &tally->first[MEL_SHAPE_POINT_OR_THOUSANDS];
        status = mel_notes_warn(&csv->notes, err,
                                "column %s: the point of %s cell%s, first %s in row %zu, is taken to set "
                                "thousands apart (--decimal . makes it a decimal point)",
                                mel_dict_text(csv->names, j), mel_count_text(n).text, n == 1 ? "" : "s",
                                place->text.text, place->row);
    }
    return status;
}

static mel_status choose_comma(mel_csv *csv, size_t column, mel_error *err)
{
    csv->decimal = ',';
    if (csv->dialect.delimiter != ',')
        return MEL_OK;
    const mel_cell_place *place = &csv->tally[column].first[MEL_SHAPE_COMMA];
    const bool comma = strchr(place->text.text, ',') != NULL;
    const mel_status status = mel_notes_warn(
        &csv->notes, err, "column %s: the %s of %s in row %zu %s (--decimal . makes it text)",
        mel_dict_text(csv->names, column), comma ? "comma" : "points", place->text.text, place->row,
        comma ? "is taken as a decimal comma" : "are taken to set thousands apart");
    return status == MEL_OK ? warn_of_thousands(csv, err) : status;
}

static mel_status choose_decimal(mel_csv *csv, mel_error *err)
{
    csv->decimal = csv->opt.decimal != 0 ? csv->opt.decimal : '.';
    if (csv->opt.decimal != 0)
        return MEL_OK;
    const size_t comma = find_shape(csv, MEL_SHAPE_COMMA), point = find_shape(csv, MEL_SHAPE_POINT);
    const size_t either = find_shape(csv, MEL_SHAPE_COMMA_OR_THOUSANDS);
    if (comma != SIZE_MAX && point == SIZE_MAX)
        return are_strays(csv, MEL_SHAPE_COMMA, MEL_SHAPE_POINT_OR_THOUSANDS)
                   ? warn_of_points(csv, err) /* mel_survey_warn tells of the strays */
                   : choose_comma(csv, comma, err);
    if (comma != SIZE_MAX) /* in quotes between commas it is a text, of which mel_survey_warn tells */
        return csv->dialect.delimiter == ',' ? MEL_OK : refuse_both(csv, comma, point, err);
    const bool strays = point != SIZE_MAX && are_strays(csv, MEL_SHAPE_POINT, MEL_SHAPE_COMMA_OR_THOUSANDS);
    if (either != SIZE_MAX && (point == SIZE_MAX || strays))
        return refuse_either(csv, either, strays, err);
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
        column->percent =
            column->verdict == MEL_TALLY_STYLED ? mel_tally_percent(&csv->tally[j]) : MEL_PERCENT_NONE;
        if (column->declared == MEL_COLUMN_NUMBER && column->verdict == MEL_TALLY_TEXT)
            status = refuse_text(csv, j, err);
    }
    return status;
}

static mel_status warn_of_percent(mel_csv *csv, size_t j, mel_error *err)
{
    const mel_tally *tally = &csv->tally[j];
    const bool one = tally->percent == 1;
    return mel_notes_warn(
        &csv->notes, err,
        "column %s: %s of %s cells %s a percent sign, first %s in row %zu; %s read as hundredths, the others "
        "as they stand",
        mel_dict_text(csv->names, j), mel_count_text(tally->percent).text,
        mel_count_text(csv->rows_done).text, one ? "has" : "have", tally->first_percent.text.text,
        tally->first_percent.row, one ? "it is" : "they are");
}

mel_status mel_survey_warn(mel_csv *csv, mel_error *err)
{
    mel_status status = MEL_OK;
    for (size_t j = 0; j < csv->n_columns && status == MEL_OK; j++) {
        const mel_tally *tally = &csv->tally[j];
        if (csv->column[j].percent == MEL_PERCENT_SOME)
            status = warn_of_percent(csv, j, err);
        if (csv->column[j].verdict != MEL_TALLY_TEXT || csv->column[j].declared != MEL_COLUMN_AUTO ||
            !mel_tally_is_numeric(tally))
            continue;
        mel_cell_place first;
        const size_t odd = mel_tally_odd(&first, tally, csv->decimal);
        status = mel_notes_warn(
            &csv->notes, err, "column %s: %s of %s cells %s, first %s in row %zu; treated as categories",
            mel_dict_text(csv->names, j), mel_count_text(odd).text, mel_count_text(csv->rows_done).text,
            odd == 1 ? "is not a number" : "are not numbers", first.text.text, first.row);
    }
    return status;
}
