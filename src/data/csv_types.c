/* From what the cells of a CSV file look like to the types of its columns and its decimal mark. */
#include "data/csv.h"

#include <string.h>

/* ---- counting ---- */

static void note_place(mel_cell_place *place, const char *text, size_t n, size_t row)
{
    if (place->row == 0)
        *place = (mel_cell_place){ .row = row, .text = mel_quote(text, n) };
}

void mel_tally_add(mel_tally *tally, const mel_styled_number *number, const char *text, size_t n, size_t row)
{
    tally->count[number->shape]++;
    note_place(&tally->first[number->shape], text, n, row);
    tally->plain += number->plain;
    tally->percent += number->percent;
    if (number->percent)
        note_place(&tally->first_percent, text, n, row);
}

static void merge_place(mel_cell_place *to, const mel_cell_place *from)
{
    if (to->row == 0)
        *to = *from;
}

void mel_tally_merge(mel_tally *to, const mel_tally *from)
{
    for (int shape = 0; shape < MEL_SHAPES; shape++) {
        to->count[shape] += from->count[shape];
        merge_place(&to->first[shape], &from->first[shape]);
    }
    to->plain += from->plain;
    to->percent += from->percent;
    merge_place(&to->first_percent, &from->first_percent);
}

void mel_csv_found_merge(mel_csv_found *to, const mel_csv_found *from)
{
    to->has_text |= from->has_text;
    to->has_bare_word |= from->has_bare_word;
    to->quoted_words += from->quoted_words;
    to->quoted_numbers += from->quoted_numbers;
    mel_widths_merge(&to->widths, &from->widths);
    merge_place(&to->huge, &from->huge);
}

static size_t count_numbers(const mel_tally *tally)
{
    size_t n = 0;
    for (int shape = MEL_SHAPE_OTHER + 1; shape < MEL_SHAPES; shape++)
        n += tally->count[shape];
    return n;
}

/* Do at least half of the cells that are not missing look like numbers of some style? */
static bool is_numeric(const mel_tally *tally)
{
    const size_t n = count_numbers(tally);
    return n != 0 && n >= tally->count[MEL_SHAPE_OTHER];
}

/* The cells that keep a column from being numbers: how many, and the first. */
static size_t count_odd(mel_cell_place *first, const mel_tally *tally, char decimal)
{
    size_t n = 0;
    *first = (mel_cell_place){ 0 };
    for (int shape = 0; shape < MEL_SHAPES; shape++) {
        if (tally->count[shape] == 0 || shape == MEL_SHAPE_HUGE ||
            mel_number_fits((mel_number_shape)shape, decimal))
            continue;
        n += tally->count[shape];
        if (first->row == 0 || tally->first[shape].row < first->row)
            *first = tally->first[shape];
    }
    return n;
}

/* What a column is where decimals follow `decimal`: plain numbers, numbers with a style, or text. */
static mel_csv_kind judge_column(const mel_csv *csv, size_t column, char decimal)
{
    const mel_tally *tally = &csv->tally[column];
    const mel_column_type declared = csv->column[column].declared;
    const bool words = csv->column[column].found.quoted_words != 0 && count_numbers(tally) == 0;
    mel_cell_place first;
    if (declared == MEL_COLUMN_TEXT || (declared == MEL_COLUMN_AUTO && words) ||
        count_odd(&first, tally, decimal) != 0)
        return MEL_CSV_TEXT;
    const bool plain = tally->plain == count_numbers(tally) - tally->count[MEL_SHAPE_HUGE] &&
                       (decimal == '.' || tally->count[MEL_SHAPE_POINT_OR_THOUSANDS] == 0);
    return plain ? MEL_CSV_NUMBER : MEL_CSV_STYLED;
}

/* ---- the decimal mark ---- */

/* The column of numbers with most cells of that shape (SIZE_MAX: none), and the first one that has any. */
typedef struct {
    size_t first, most;
} shape_columns;

static shape_columns find_shape(const mel_csv *csv, mel_number_shape shape)
{
    shape_columns out = { .first = SIZE_MAX };
    for (size_t j = 0; j < csv->n_columns; j++) {
        const size_t n = csv->tally[j].count[shape];
        if (csv->column[j].declared == MEL_COLUMN_TEXT || n == 0 || !is_numeric(&csv->tally[j]))
            continue;
        out.first = out.first == SIZE_MAX ? j : out.first;
        out.most = n > out.most ? n : out.most;
    }
    return out;
}

static const char *column_name(const mel_csv *csv, size_t column)
{
    return mel_dict_text(csv->names, column);
}

static mel_status refuse_both(const mel_csv *csv, size_t comma, size_t point, mel_error *err)
{
    const mel_cell_place *with_comma = &csv->tally[comma].first[MEL_SHAPE_COMMA];
    const mel_cell_place *with_point = &csv->tally[point].first[MEL_SHAPE_POINT];
    return mel_fail(err, MEL_EDATA,
                    "row %zu, column %s: %s has a decimal comma, but row %zu, column %s: %s a decimal point; "
                    "decimal=, or decimal=. says which one is meant",
                    with_comma->row, mel_quote_text(column_name(csv, comma)).text, with_comma->text.text,
                    with_point->row, mel_quote_text(column_name(csv, point)).text, with_point->text.text);
}

/* Are the cells that prove a mark too few to say how those that may be read in two ways are meant? Between
 * commas a comma in a number is unusual enough for more to be asked of it. */
static bool are_strays(const mel_csv *csv, mel_number_shape proof, mel_number_shape either)
{
    const size_t few = find_shape(csv, proof).most, many = find_shape(csv, either).most;
    const bool unusual = csv->dialect.delimiter == ',' && proof == MEL_SHAPE_COMMA;
    return many != 0 && (unusual ? few == 1 || 2 * few <= many : 10 * few <= many);
}

static mel_status refuse_either(const mel_csv *csv, size_t column, bool strays, mel_error *err)
{
    const mel_cell_place *place = &csv->tally[column].first[MEL_SHAPE_COMMA_OR_THOUSANDS];
    return mel_fail(err, MEL_EDATA,
                    "row %zu, column %s: %s tells whether the comma of %s marks decimals or thousands; "
                    "give decimal=, or decimal=.",
                    place->row, mel_quote_text(column_name(csv, column)).text,
                    strays ? "too little" : "nothing", place->text.text);
}

/* Points may set thousands apart where semicolons separate cells. */
static mel_status warn_of_points(mel_csv *csv, mel_error *err)
{
    const size_t column = find_shape(csv, MEL_SHAPE_POINT_OR_THOUSANDS).first;
    if (column == SIZE_MAX || csv->dialect.delimiter != ';')
        return MEL_OK;
    const mel_cell_place *place = &csv->tally[column].first[MEL_SHAPE_POINT_OR_THOUSANDS];
    return mel_notes_warn(
        &csv->notes, err,
        "column %s: the point of %s in row %zu is taken as a decimal point (decimal=, makes "
        "it thousands)",
        column_name(csv, column), place->text.text, place->row);
}

/* The columns in which points set thousands apart because another one has decimal commas. */
static mel_status warn_of_thousands(mel_csv *csv, mel_error *err)
{
    for (size_t j = 0; j < csv->n_columns; j++) {
        const mel_tally *tally = &csv->tally[j];
        const size_t n = tally->count[MEL_SHAPE_POINT_OR_THOUSANDS];
        if (n == 0 || tally->count[MEL_SHAPE_COMMA] != 0 || csv->column[j].declared == MEL_COLUMN_TEXT ||
            !is_numeric(tally))
            continue;
        const mel_cell_place *place = &tally->first[MEL_SHAPE_POINT_OR_THOUSANDS];
        TRY(mel_notes_warn(&csv->notes, err,
                           "column %s: the point of %s cell%s, first %s in row %zu, is taken to set "
                           "thousands apart (decimal=. makes it a decimal point)",
                           column_name(csv, j), mel_count_text(n).text, n == 1 ? "" : "s", place->text.text,
                           place->row));
    }
    return MEL_OK;
}

static mel_status choose_comma(mel_csv *csv, size_t column, mel_error *err)
{
    csv->decimal = ',';
    if (csv->dialect.delimiter != ',')
        return MEL_OK;
    const mel_cell_place *place = &csv->tally[column].first[MEL_SHAPE_COMMA];
    const bool comma = strchr(place->text.text, ',') != NULL;
    TRY(mel_notes_warn(&csv->notes, err, "column %s: the %s of %s in row %zu %s (decimal=. makes it text)",
                       column_name(csv, column), comma ? "comma" : "points", place->text.text, place->row,
                       comma ? "is taken as a decimal comma" : "are taken to set thousands apart"));
    return warn_of_thousands(csv, err);
}

static mel_status choose_decimal(mel_csv *csv, mel_error *err)
{
    csv->decimal = csv->opt.decimal != 0 ? csv->opt.decimal : '.';
    if (csv->opt.decimal != 0)
        return MEL_OK;
    const size_t comma = find_shape(csv, MEL_SHAPE_COMMA).first;
    const size_t point = find_shape(csv, MEL_SHAPE_POINT).first;
    const size_t either = find_shape(csv, MEL_SHAPE_COMMA_OR_THOUSANDS).first;
    if (comma != SIZE_MAX && point == SIZE_MAX)
        return are_strays(csv, MEL_SHAPE_COMMA, MEL_SHAPE_POINT_OR_THOUSANDS)
                   ? warn_of_points(csv, err) /* warn_of_column tells of the strays */
                   : choose_comma(csv, comma, err);
    if (comma != SIZE_MAX) /* in quotes between commas it is a text, of which warn_of_column tells */
        return csv->dialect.delimiter == ',' ? MEL_OK : refuse_both(csv, comma, point, err);
    const bool strays = point != SIZE_MAX && are_strays(csv, MEL_SHAPE_POINT, MEL_SHAPE_COMMA_OR_THOUSANDS);
    if (either != SIZE_MAX && (point == SIZE_MAX || strays))
        return refuse_either(csv, either, strays, err);
    return point == SIZE_MAX ? warn_of_points(csv, err) : MEL_OK;
}

/* ---- before, between and after passes ---- */

bool mel_csv_guess_types(mel_csv *csv)
{
    /* Semicolons mostly stand in files where the comma marks decimals. */
    bool count = csv->opt.decimal == ',' || (csv->opt.decimal == 0 && csv->dialect.delimiter == ';');
    for (size_t j = 0; j < csv->n_columns; j++) {
        csv->column[j].has_number = count_numbers(&csv->tally[j]) != 0;
        count |= csv->column[j].declared != MEL_COLUMN_TEXT && csv->column[j].has_number &&
                 judge_column(csv, j, '.') != MEL_CSV_NUMBER;
    }
    const bool comma =
        find_shape(csv, MEL_SHAPE_COMMA).most != 0 && find_shape(csv, MEL_SHAPE_POINT).most == 0;
    csv->decimal = csv->opt.decimal != 0 ? csv->opt.decimal : count && comma ? ',' : '.';
    for (size_t j = 0; j < csv->n_columns; j++) {
        const bool text = csv->column[j].declared != MEL_COLUMN_NUMBER &&
                          judge_column(csv, j, csv->decimal) == MEL_CSV_TEXT;
        csv->column[j].kind = text ? MEL_CSV_TEXT : count ? MEL_CSV_STYLED : MEL_CSV_NUMBER;
    }
    return count;
}

static bool has_number(const mel_dict *dict)
{
    for (uint32_t code = 0; code < dict->n; code++) {
        const char *text = mel_dict_text(dict, code);
        size_t n = mel_dict_length(dict, code);
        mel_trim(&text, &n);
        if (mel_number_styled(text, n, '.').shape != MEL_SHAPE_OTHER)
            return true;
    }
    return false;
}

bool mel_csv_doubts_types(mel_csv *csv)
{
    bool doubts = false;
    for (size_t j = 0; j < csv->n_columns; j++) {
        const mel_csv_column *c = &csv->column[j];
        /* Quoted words for missing are names where no number is among them. */
        const bool words = c->found.quoted_words != 0 && !c->has_number && c->declared == MEL_COLUMN_AUTO;
        doubts |= c->declared != MEL_COLUMN_TEXT &&
                  (c->dict != NULL ? has_number(c->dict) : c->found.has_text || words);
    }
    for (size_t j = 0; j < csv->n_columns && doubts; j++)
        csv->column[j].kind =
            csv->column[j].dict != NULL || csv->column[j].found.has_text ? MEL_CSV_TEXT : MEL_CSV_STYLED;
    return doubts;
}

static mel_percent_signs percent_signs(const mel_tally *tally)
{
    return tally->percent == 0                      ? MEL_PERCENT_NONE
           : tally->percent == count_numbers(tally) ? MEL_PERCENT_ALL
                                                    : MEL_PERCENT_SOME;
}

/* Warns of a column that is numbers but for some cells, or percentages but for some. */
static mel_status warn_of_column(mel_csv *csv, size_t j, bool is_text, mel_error *err)
{
    const mel_tally *tally = &csv->tally[j];
    const mel_count_words rows = mel_count_text(csv->rows_done);
    if (csv->column[j].percent == MEL_PERCENT_SOME) {
        const bool one = tally->percent == 1;
        TRY(mel_notes_warn(&csv->notes, err,
                           "column %s: %s of %s cells %s a percent sign, first %s in row %zu; %s read as "
                           "hundredths, the others as they stand",
                           column_name(csv, j), mel_count_text(tally->percent).text, rows.text,
                           one ? "has" : "have", tally->first_percent.text.text, tally->first_percent.row,
                           one ? "it is" : "they are"));
    }
    if (!is_text || csv->column[j].declared != MEL_COLUMN_AUTO || !is_numeric(tally))
        return MEL_OK;
    mel_cell_place first;
    const size_t odd = count_odd(&first, tally, csv->decimal);
    return mel_notes_warn(&csv->notes, err,
                          "column %s: %s of %s cells %s, first %s in row %zu; treated as categories",
                          column_name(csv, j), mel_count_text(odd).text, rows.text,
                          odd == 1 ? "is not a number" : "are not numbers", first.text.text, first.row);
}

mel_status mel_csv_decide_types(mel_csv *csv, bool *again, mel_error *err)
{
    const char read_with = csv->decimal;
    *again = false;
    TRY(choose_decimal(csv, err));
    for (size_t j = 0; j < csv->n_columns; j++) {
        mel_csv_column *column = &csv->column[j];
        const mel_csv_kind kind = judge_column(csv, j, csv->decimal);
        if (column->declared == MEL_COLUMN_NUMBER && kind == MEL_CSV_TEXT) {
            mel_cell_place odd;
            (void)count_odd(&odd, &csv->tally[j], csv->decimal);
            return mel_fail(err, MEL_EDATA, "row %zu, column %s: %s is not a number", odd.row,
                            mel_quote_text(column_name(csv, j)).text, odd.text.text);
        }
        column->percent = kind == MEL_CSV_STYLED ? percent_signs(&csv->tally[j]) : MEL_PERCENT_NONE;
        const bool was_text = column->dict != NULL;
        const bool right = kind == MEL_CSV_TEXT ? was_text : !was_text && read_with == csv->decimal;
        column->kind = right ? MEL_CSV_SKIP : kind;
        *again |= !right;
    }
    for (size_t j = 0; j < csv->n_columns; j++)
        TRY(warn_of_column(csv, j,
                           csv->column[j].kind == MEL_CSV_TEXT ||
                               (csv->column[j].kind == MEL_CSV_SKIP && csv->column[j].dict != NULL),
                           err));
    return MEL_OK;
}
