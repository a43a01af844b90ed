/* A CSV file from its source to a table: what the whole-file reader and the stream share. */
#include "data/csv_parts.h"

#include <stdlib.h>
#include <string.h>

static mel_status start_tallies(mel_csv *csv, mel_error *err)
{
    free(csv->tally);
    csv->tally = mel_alloc_zero(csv->n_columns, sizeof *csv->tally);
    for (size_t j = 0; j < csv->n_columns; j++)
        csv->column[j].kind = MEL_CSV_SURVEY;
    return csv->tally != NULL ? MEL_OK : mel_fail_memory(err, "the columns of a table");
}

/* Goes through the whole file and settles what every column is. */
static mel_status survey(mel_csv *csv, mel_error *err)
{
    size_t n_rows;
    mel_status status = start_tallies(csv, err);
    if (status == MEL_OK)
        status = mel_csv_again(csv, err);
    if (status == MEL_OK)
        status = mel_csv_rows(csv, NULL, SIZE_MAX, &n_rows, err);
    if (status == MEL_OK)
        status = mel_survey_judge(csv, err);
    if (status == MEL_OK)
        status = mel_survey_warn(csv, err);
    csv->surveyed = true;
    free(csv->tally);
    csv->tally = NULL;
    return status;
}

static mel_status read_as(mel_csv_column *column, mel_csv_kind kind, mel_error *err)
{
    column->kind = kind;
    column->has_text = false;
    column->huge_row = 0;
    mel_dict_free(column->dict);
    column->dict = kind == MEL_CSV_TEXT ? mel_dict_new() : NULL;
    return kind != MEL_CSV_TEXT || column->dict != NULL ? MEL_OK
                                                        : mel_fail_memory(err, "the categories of a column");
}

static mel_csv_kind kind_of_verdict(mel_tally_verdict verdict)
{
    return verdict == MEL_TALLY_TEXT     ? MEL_CSV_TEXT
           : verdict == MEL_TALLY_STYLED ? MEL_CSV_STYLED
                                         : MEL_CSV_NUMBER;
}

/* Columns with a text in the first rows are text, the others numbers until a text is met, so that almost
 * every file is read once. All rows are counted first where that is not so clear. */
static mel_status choose_types(mel_csv *csv, mel_error *err)
{
    mel_status status = start_tallies(csv, err);
    if (status == MEL_OK)
        status = mel_csv_tally_sample(csv, err);
    if (status != MEL_OK)
        return status;
    const bool due = mel_survey_is_due(csv);
    if (due)
        status = survey(csv, err);
    if (status == MEL_OK && due)
        status = mel_csv_again(csv, err);
    for (size_t j = 0; j < csv->n_columns && status == MEL_OK; j++) {
        mel_csv_column *column = &csv->column[j];
        if (!due) {
            column->has_number = mel_survey_has_numbers(&csv->tally[j]);
            column->verdict =
                column->declared == MEL_COLUMN_NUMBER ? MEL_TALLY_PLAIN : mel_survey_verdict(csv, j, '.');
        }
        status = read_as(column, kind_of_verdict(column->verdict), err);
    }
    free(csv->tally);
    csv->tally = NULL;
    return status;
}

void mel_csv_close(mel_csv *csv)
{
    for (size_t i = 0; csv->chunk != NULL && i < csv->n_pieces; i++) {
        for (size_t j = 0; csv->chunk[i].finding != NULL && j < csv->n_columns; j++)
            mel_dict_free(csv->chunk[i].finding[j].fresh);
        free(csv->chunk[i].finding);
        mel_buffer_free(&csv->chunk[i].scratch);
    }
    for (size_t j = 0; csv->column != NULL && j < csv->n_columns; j++)
        mel_dict_free(csv->column[j].dict);
    free(csv->chunk);
    free(csv->column);
    free(csv->data);
    free(csv->tally);
    mel_dict_free(csv->names);
    mel_notes_clear(&csv->notes);
    mel_text_close(&csv->text);
    *csv = (mel_csv){ 0 };
}

static mel_status refuse_huge(const mel_csv *csv, mel_error *err)
{
    for (size_t j = 0; j < csv->n_columns; j++) {
        const mel_csv_column *column = &csv->column[j];
        if (column->huge_row != 0 && column->dict == NULL)
            return mel_fail(err, MEL_EDATA,
                            "row %zu, column %s: %s is not a finite number; write NA for a missing value, or "
                            "declare the column as text",
                            column->huge_row, mel_quote_text(mel_dict_text(csv->names, j)).text,
                            column->huge.text);
    }
    return MEL_OK;
}

static mel_status fail_rows_changed(size_t before, size_t now, mel_error *err)
{
    return mel_fail(err, MEL_EDATA, "the file changed while it was read: %zu rows, then %zu", before, now);
}

/* Reads again, alone, the columns that turned out to be something else. */
static mel_status read_changed(mel_csv *csv, mel_table *table, mel_error *err)
{
    const size_t n_before = csv->rows_done;
    mel_status status = MEL_OK;
    for (size_t j = 0; j < csv->n_columns && status == MEL_OK; j++) {
        mel_csv_column *column = &csv->column[j];
        const mel_csv_kind kind = kind_of_verdict(column->verdict);
        const bool is_text = column->dict != NULL;
        if (is_text == (kind == MEL_CSV_TEXT) && kind != MEL_CSV_STYLED) {
            column->kind = MEL_CSV_SKIP;
            continue;
        }
        status = read_as(column, kind, err);
        column->quoted_numbers = 0;
        column->widths = (mel_digit_widths){ 0 };
        if (table != NULL) {
            free(table->column[j].numbers);
            free(table->column[j].codes);
            table->column[j].numbers = NULL;
            table->column[j].codes = NULL;
        }
    }
    if (status == MEL_OK)
        status = mel_csv_again(csv, err);
    size_t n_rows = 0;
    if (status == MEL_OK)
        status = mel_csv_rows(csv, table, SIZE_MAX, &n_rows, err);
    return status == MEL_OK && n_rows != n_before ? fail_rows_changed(n_before, n_rows, err) : status;
}

static mel_status note_how(mel_csv *csv, mel_error *err)
{
    const mel_dialect *d = &csv->dialect;
    const bool separated = csv->n_columns > 1 || mel_csv_names_rows(csv) || d->open_end;
    return mel_notes_how(
        &csv->notes, err, "%s%s%s%s%s%s%s%s%s, %s row%s, %s column%s", mel_encoding_name(csv->text.encoding),
        csv->text.returns_end_lines ? ", lines end with CR" : "", separated ? ", separator " : "",
        separated ? mel_delimiter_name(d->delimiter).text : "", csv->has_quotes ? ", quoted cells" : "",
        csv->decimal == ',' ? ", decimal comma" : "", d->header ? ", header in row " : ", no header",
        !d->header  ? ""
        : csv->said ? "2"
                    : "1",
        mel_csv_names_rows(csv) ? ", column 1 names the rows" : "", mel_count_text(csv->rows_done).text,
        csv->rows_done == 1 ? "" : "s", mel_count_text(csv->n_columns).text, csv->n_columns == 1 ? "" : "s");
}

/* After a pass over all rows: columns that are not what they seemed to be are read again. */
static mel_status settle(mel_csv *csv, mel_table *table, mel_error *err)
{
    if (csv->rows_done == 0)
        return mel_fail(err, MEL_EDATA, "no rows%s", csv->dialect.header ? " after the header" : "");
    const size_t n_rows = csv->rows_done;
    const bool overdue = !csv->surveyed && mel_survey_is_overdue(csv);
    mel_status status = overdue ? survey(csv, err) : MEL_OK;
    if (status == MEL_OK && csv->rows_done != n_rows)
        status = fail_rows_changed(n_rows, csv->rows_done, err);
    if (status == MEL_OK && overdue)
        status = read_changed(csv, table, err);
    if (status == MEL_OK)
        status = refuse_huge(csv, err);
    for (size_t j = 0; j < csv->n_columns; j++)
        csv->column[j].kind = kind_of_verdict(csv->column[j].verdict);
    csv->frozen = true;
    if (status == MEL_OK)
        status = note_how(csv, err);
    return status == MEL_OK ? mel_notes_check(&csv->notes, csv->opt.strict, err) : status;
}

mel_table *mel_csv_new_table(const mel_csv *csv)
{
    mel_table *table = mel_table_new(csv->name, csv->names, csv->n_columns);
    if (table != NULL) {
        table->has_header = csv->dialect.header;
        table->first_row = mel_csv_row_number(csv, csv->rows_done);
    }
    return table;
}

mel_status mel_csv_finish_table(const mel_csv *csv, mel_table *table, mel_error *err)
{
    for (size_t j = 0; j < csv->n_columns; j++) {
        mel_dict *dict = csv->column[j].dict;
        table->column[j].type = dict != NULL ? MEL_COLUMN_TEXT : MEL_COLUMN_NUMBER;
        table->column[j].dict = dict != NULL ? mel_dict_share(dict) : NULL;
        table->column[j].percent = csv->column[j].percent;
        table->column[j].declared = csv->column[j].declared != MEL_COLUMN_AUTO;
        table->column[j].all_names = table->column[j].declared || !csv->column[j].has_bare_word;
        table->column[j].all_quoted = dict == NULL && csv->column[j].quoted_numbers == csv->rows_done;
        table->column[j].widths = csv->column[j].widths;
    }
    return mel_notes_copy(&table->notes, &csv->notes, err);
}

/* Reads the file once, in the encoding that the options say or that its first bytes do. */
static mel_status load_once(mel_csv *csv, mel_table **table, mel_source *source, const char *name,
                            const mel_read_options *opt, mel_error *err)
{
    mel_status status = mel_csv_start(csv, source, name, opt, err);
    if (status == MEL_OK)
        status = choose_types(csv, err);
    if (status == MEL_OK && table != NULL && (*table = mel_csv_new_table(csv)) == NULL)
        status = mel_fail_memory(err, "a table");
    size_t n_rows;
    if (status == MEL_OK)
        status = mel_csv_rows(csv, table != NULL ? *table : NULL, SIZE_MAX, &n_rows, err);
    if (status == MEL_OK)
        status = settle(csv, table != NULL ? *table : NULL, err);
    if (status == MEL_OK && table != NULL)
        status = mel_csv_finish_table(csv, *table, err);
    if (status != MEL_OK && table != NULL) {
        mel_table_free(*table);
        *table = NULL;
    }
    return status;
}

/* A file that is UTF-8 for the most part is a damaged one, not one in Windows-1252. */
static mel_status refuse_damaged(const mel_csv *csv, mel_table **table, const mel_error *why, mel_error *err)
{
    if (csv->text.utf8_characters <= csv->text.other_bytes)
        return MEL_OK;
    if (table != NULL) {
        mel_table_free(*table);
        *table = NULL;
    }
    return mel_fail(err, MEL_EDATA,
                    "%s, though most of the file is; repair it, or give --encoding windows-1252", why->text);
}

mel_status mel_csv_load(mel_csv *csv, mel_table **table, mel_source *source, const char *name,
                        const mel_read_options *opt, mel_error *err)
{
    mel_error why = { 0 };
    mel_encoding encoding;
    (void)mel_encoding_named(&encoding, opt->encoding);
    mel_status status = load_once(csv, table, source, name, opt, &why);
    if (status == MEL_EDATA && csv->not_utf8 && !csv->marked && encoding == MEL_ENCODING_AUTO) {
        csv->text.source = NULL;
        mel_csv_close(csv);
        mel_read_options other = *opt;
        other.encoding = "windows-1252";
        mel_status again = mel_source_rewind(source, err);
        if (again != MEL_OK) {
            mel_source_free(source);
            return again;
        }
        again = load_once(csv, table, source, name, &other, err);
        return again == MEL_OK ? refuse_damaged(csv, table, &why, err) : again;
    }
    if (status != MEL_OK && err != NULL)
        *err = why;
    return status;
}
