/* A CSV file from its source to a table: the window of text, what comes before the rows, the passes over
 * them, and what is settled in the end. */
#include "data/csv.h"

#include "data/table_reader.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    MOST_FINDINGS = 1 << 17, /* columns of all pieces */
    FEWEST_PIECES = 4,
    REFILL = 1 << 20
};

/* Whether the first column names or numbers the rows. */
static bool names_rows(const mel_csv *csv)
{
    return csv->dialect.row_names || csv->dialect.index;
}

/* Cells of a row. */
static size_t cells_due(const mel_csv *csv)
{
    return csv->n_columns + names_rows(csv) + csv->dialect.open_end;
}

/* The number of the first row that is not a line "sep=;". */
static size_t first_number(const mel_csv *csv)
{
    return csv->said ? 2 : 1;
}

/* The number that messages give to a row of data, from 0. */
static size_t row_number(const mel_csv *csv, size_t row)
{
    return row + first_number(csv) + csv->dialect.header;
}

/* ---- the window ---- */

/* Makes the window at least n bytes long, if there are as many. The last line gets its line end. */
static mel_status fill(mel_csv *csv, size_t n, mel_error *err)
{
    if (csv->at_end || csv->size - csv->begin >= n)
        return MEL_OK;
    if (csv->begin != 0) {
        memmove(csv->data, csv->data + csv->begin, csv->size - csv->begin);
        csv->size -= csv->begin;
        csv->begin = 0;
    }
    const uint64_t left = mel_text_left(&csv->text);
    size_t room = n < REFILL ? REFILL : n;
    if (left < room - csv->size)
        room = csv->size + (size_t)left + 1; /* one more, to see the end */
    const size_t need = room + MEL_CSV_PADDING + 1;
    TRY(MEL_NEED(need <= csv->capacity || MEL_GROW(csv->data, need), "a window of a file", err));
    csv->capacity = need > csv->capacity ? need : csv->capacity;
    size_t got = 0;
    TRY(mel_text_read(&csv->text, csv->data + csv->size, room - csv->size, &got, err));
    csv->at_end = got < room - csv->size;
    csv->size += got;
    if (csv->at_end && csv->size != 0 && csv->data[csv->size - 1] != '\n')
        csv->data[csv->size++] = '\n';
    memset(csv->data + csv->size, 0, MEL_CSV_PADDING);
    return MEL_OK;
}

static mel_status fail_long_row(size_t row, mel_error *err)
{
    return mel_fail(err, MEL_ELIMIT, "row %zu: more than %zu bytes in one row; is a quote left open?", row,
                    MEL_CSV_ROW_CAP);
}

/* The length of the row with which the window starts, which grows until it holds it; the rest of the file
 * when a quote is left open. */
static mel_status find_row(mel_csv *csv, size_t *length, mel_error *err)
{
    for (size_t n = MEL_CSV_PIECE;; n *= 2) {
        if (n > MEL_CSV_ROW_CAP)
            return fail_long_row(first_number(csv), err);
        TRY(fill(csv, n, err));
        *length = mel_csv_first_row(csv->data + csv->begin, csv->size - csv->begin);
        if (*length != 0 || csv->at_end)
            break;
    }
    if (*length == 0)
        *length = csv->size - csv->begin;
    return MEL_OK;
}

/* The length of the first row in the file, behind a byte order mark and what separates the cells. */
static mel_status find_first_row(mel_csv *csv, size_t *length, mel_error *err)
{
    TRY(fill(csv, MEL_CSV_PIECE, err));
    csv->marked = csv->size >= 3 && memcmp(csv->data, "\xEF\xBB\xBF", 3) == 0;
    csv->begin = csv->marked ? 3 : 0;
    TRY(find_row(csv, length, err));
    if (csv->said || mel_delimiter_said(&csv->dialect.delimiter, csv->data + csv->begin, *length)) {
        csv->said = true;
        csv->begin += *length;
        TRY(find_row(csv, length, err));
    }
    if (*length == 0 || (csv->size - csv->begin == 1 && csv->data[csv->begin] == '\n'))
        return mel_fail(err, MEL_EDATA, "the file is empty");
    return MEL_OK;
}

/* Back to the first byte, which may be converted differently from now on. */
static mel_status start_again(mel_csv *csv, mel_error *err)
{
    csv->begin = csv->size = csv->rows_done = csv->blank_row = 0;
    csv->bytes_done = 0;
    csv->at_end = false;
    return mel_text_rewind(&csv->text, err);
}

/* Back to the first row of data. */
static mel_status return_to_rows(mel_csv *csv, mel_error *err)
{
    size_t length;
    TRY(start_again(csv, err));
    TRY(find_first_row(csv, &length, err));
    csv->begin += csv->dialect.header ? length : 0;
    return MEL_OK;
}

/* ---- before the rows ---- */

static mel_status find_encoding(mel_csv *csv, mel_error *err)
{
    mel_encoding encoding;
    (void)mel_encoding_named(&encoding, csv->opt.encoding);
    csv->text.encoding = MEL_UTF_8;
    TRY(fill(csv, MEL_CSV_PIECE, err));
    if (csv->size >= 4 && memcmp(csv->data, "\xFF\xFE\0\0", 4) == 0)
        return mel_fail(err, MEL_EDATA, "the file is UTF-32; save it as UTF-8");
    const mel_encoding found = mel_encoding_of_start(csv->data, csv->size);
    if (encoding == MEL_ENCODING_AUTO || (encoding == MEL_UTF_16 && found != MEL_UTF_8))
        encoding = found;
    csv->text.encoding = encoding == MEL_UTF_16 ? MEL_UTF_16LE : encoding;
    return csv->text.encoding == MEL_UTF_8 ? MEL_OK : start_again(csv, err);
}

/* Do carriage returns end lines, and line feeds none? The last line feed is put there by fill. */
static mel_status find_line_ends(mel_csv *csv, mel_error *err)
{
    TRY(fill(csv, MEL_CSV_PIECE, err));
    bool inside = false, returns = false;
    for (const char *p = csv->data, *end = p + csv->size; p < end; p++) {
        inside ^= *p == '"';
        if (!inside && *p == '\n' && !(csv->at_end && p + 1 == end))
            return MEL_OK;
        returns |= !inside && *p == '\r' && p + 1 < end && p[1] != '\n';
    }
    csv->text.returns_end_lines = returns;
    return returns ? start_again(csv, err) : MEL_OK;
}

/* The first rows, at least two where there are as many; the window starts with them. */
static mel_status take_sample(mel_csv *csv, mel_csv_sample *sample, mel_error *err)
{
    size_t length = 0;
    TRY(find_first_row(csv, &length, err));
    sample->most = csv->opt.max_columns;
    for (size_t n = length + MEL_CSV_PIECE;; n *= 2) {
        TRY(fill(csv, n, err));
        const size_t have = csv->size - csv->begin;
        mel_csv_sample_take(sample, csv->data + csv->begin, have < n ? have : n, first_number(csv));
        if (sample->n >= 2 || csv->at_end || n >= MEL_CSV_ROW_CAP)
            return MEL_OK;
    }
}

static mel_status fail_columns(const mel_csv *csv, size_t n, mel_error *err)
{
    return mel_fail(err, MEL_ELIMIT, "row %zu: %zu columns, more than the limit of %zu", first_number(csv), n,
                    csv->opt.max_columns);
}

static mel_status find_dialect(mel_csv *csv, mel_error *err)
{
    enum { NO_COLUMNS = 2 }; /* a row's name and an open end are none */
    mel_csv_sample sample;
    TRY(take_sample(csv, &sample, err));
    TRY(mel_dialect_find_delimiter(&csv->dialect, &sample, &csv->opt, &csv->notes, err));
    csv->delimiter = csv->dialect.delimiter;
    if (csv->delimiter == ' ') {
        csv->delimiter = '\t';
        csv->text.blanks_to_tabs = true;
        TRY(start_again(csv, err));
        TRY(take_sample(csv, &sample, err));
    }
    mel_csv_cell last;
    const size_t n = sample.n > 0 ? mel_sample_count(&sample, 0, csv->delimiter, &last) : 0;
    if (n > NO_COLUMNS && n - NO_COLUMNS > csv->opt.max_columns) /* before anything is kept for each */
        return fail_columns(csv, n, err);
    return mel_dialect_find_header(&csv->dialect, &sample, &csv->opt, &csv->notes, err);
}

/* The window starts with the first row. */
static mel_status read_names(mel_csv *csv, mel_error *err)
{
    const char *text = csv->data + csv->begin;
    const size_t in_rows = mel_csv_first_row(text, csv->size - csv->begin);
    const size_t length = in_rows != 0 ? in_rows : csv->size - csv->begin; /* an open quote */
    if (!csv->dialect.header) {
        csv->n_columns = mel_csv_count_cells(text, text + length, csv->delimiter);
        if (csv->n_columns > csv->opt.max_columns)
            return fail_columns(csv, csv->n_columns, err);
        csv->names = mel_column_numbers(csv->n_columns);
        return csv->names != NULL ? MEL_OK : mel_fail_memory(err, "column names");
    }
    TRY(MEL_NEED(csv->names = mel_dict_new(), "column names", err));
    mel_csv_chunk *header = &csv->chunk[0];
    header->begin = text;
    header->end = text + length;
    header->row_number = first_number(csv);
    header->names_rows = csv->dialect.index;
    const mel_status status = mel_csv_parse_header(csv->names, header);
    if (status != MEL_OK && err != NULL)
        *err = header->err;
    csv->not_utf8 |= header->not_utf8;
    csv->n_columns = csv->names->n;
    csv->begin += length;
    return status;
}

/* What the caller said of the columns. */
static mel_status apply_overrides(mel_csv *csv, mel_error *err)
{
    const mel_read_options *opt = &csv->opt;
    TRY(MEL_NEED(csv->column = mel_alloc_zero(csv->n_columns, sizeof *csv->column), "the columns of a table",
                 err));
    for (uint32_t j = 0; j < csv->n_columns && csv->dialect.header && opt->row_name != NULL; j++)
        if (strcasecmp(mel_dict_text(csv->names, j), opt->row_name) == 0)
            csv->column[j].declared = MEL_COLUMN_TEXT;
    for (size_t i = 0; i < opt->n_overrides; i++) {
        const mel_column_override *o = &opt->overrides[i];
        const size_t n = strlen(o->name);
        const uint32_t j = mel_dict_find(csv->names, o->name, n, mel_dict_hash(o->name, n));
        if (j == MEL_MISSING && opt->overrides_found == NULL)
            return mel_fail_no_column(csv->names, o->name, NULL, err);
        if (j == MEL_MISSING)
            continue;
        csv->column[j].declared = o->type;
        if (opt->overrides_found != NULL)
            opt->overrides_found[i] = true;
    }
    return MEL_OK;
}

static mel_status open_csv(mel_csv *csv, mel_error *err)
{
    for (size_t i = 0; i < MEL_CSV_PIECES; i++) {
        csv->chunk[i].csv = csv;
        mel_buffer_init(&csv->chunk[i].scratch, SIZE_MAX / 4);
    }
    TRY(find_encoding(csv, err));
    TRY(find_line_ends(csv, err));
    TRY(find_dialect(csv, err));
    TRY(read_names(csv, err));
    return apply_overrides(csv, err);
}

/* Forgets what was found in a column, but for what has been decided about it. */
static void clear_column(mel_csv_column *column)
{
    for (int i = 0; i < MEL_SEEN; i++)
        free(column->seen[i].text);
    mel_dict_free(column->dict);
    *column = (mel_csv_column){ .declared = column->declared,
                                .kind = column->kind,
                                .percent = column->percent,
                                .too_many = column->too_many };
}

static void close_csv(mel_csv *csv)
{
    for (size_t i = 0; i < MEL_CSV_PIECES; i++) {
        for (size_t j = 0; csv->chunk[i].finding != NULL && j < csv->n_columns; j++)
            mel_dict_free(csv->chunk[i].finding[j].fresh);
        free(csv->chunk[i].finding);
        mel_buffer_free(&csv->chunk[i].scratch);
    }
    for (size_t j = 0; csv->column != NULL && j < csv->n_columns; j++) {
        free(csv->column[j].too_many.text);
        clear_column(&csv->column[j]);
    }
    free(csv->column);
    free(csv->data);
    mel_dict_free(csv->names);
    mel_notes_clear(&csv->notes);
    mel_text_close(&csv->text);
}

/* ---- a window's worth of rows ---- */

/* Chunk i works on whole rows of the window; its findings start afresh. table NULL: nothing is stored. */
static mel_status prepare_chunk(mel_csv *csv, size_t i, const mel_csv_span *span, size_t n_rows,
                                mel_table *table, mel_error *err)
{
    mel_csv_chunk *chunk = &csv->chunk[i];
    if (chunk->finding == NULL)
        chunk->finding = mel_alloc_zero(csv->n_columns, sizeof *chunk->finding);
    TRY(MEL_NEED(chunk->finding, "the columns of a table", err));
    chunk->begin = csv->data + csv->begin + span->begin;
    chunk->end = csv->data + csv->begin + span->end;
    chunk->n_rows = n_rows;
    chunk->names_rows = names_rows(csv);
    chunk->not_utf8 = false;
    const size_t first = csv->rows_done + span->first_row;
    chunk->row_number = row_number(csv, first);
    chunk->row_name = table != NULL && table->row_name != NULL ? table->row_name + first : NULL;
    for (size_t j = 0; j < csv->n_columns; j++) {
        mel_csv_finding *f = &chunk->finding[j];
        const mel_csv_column *column = &csv->column[j];
        const bool text = column->kind == MEL_CSV_TEXT,
                   stored = table != NULL && column->kind != MEL_CSV_SKIP;
        if (f->fresh != NULL)
            mel_dict_reset(f->fresh);
        *f = (mel_csv_finding){ .kind = column->kind,
                                .declared = column->declared == MEL_COLUMN_TEXT,
                                .numbers = stored && !text ? table->column[j].numbers + first : NULL,
                                .codes = stored && text ? table->column[j].codes + first : NULL,
                                .known = column->dict,
                                .fresh = f->fresh };
    }
    return MEL_OK;
}

/* Empty lines at the end of what was cut may be the end of the file; they are set aside. In a table of
 * one column they are rows with a missing cell. */
static mel_status set_blank_lines_aside(mel_csv *csv, size_t *skip, mel_error *err)
{
    mel_csv_cut *cut = &csv->cut;
    if (cells_due(csv) == 1)
        return MEL_OK;
    const char *text = csv->data + csv->begin;
    const size_t cut_before = cut->cut;
    while (cut->n_rows != 0) {
        size_t n = cut->cut - 1;
        n -= n != 0 && text[n - 1] == '\r';
        if (n != 0 && text[n - 1] != '\n')
            break;
        cut->cut = n;
        cut->n_rows--;
    }
    if (csv->blank_row != 0 && cut->n_rows != 0)
        return mel_fail(err, MEL_EDATA, "row %zu: the line is empty; expected %zu cells", csv->blank_row,
                        cells_due(csv));
    *skip = cut_before - cut->cut;
    if (*skip != 0 && csv->blank_row == 0)
        csv->blank_row = row_number(csv, csv->rows_done + cut->n_rows);
    while (cut->n_spans != 0 && cut->span[cut->n_spans - 1].begin >= cut->cut)
        cut->n_spans--;
    if (cut->n_spans != 0)
        cut->span[cut->n_spans - 1].end = cut->cut;
    return MEL_OK;
}

/* Cuts the next rows out of the window, which grows until it holds one. No rows at the end of the file; a
 * quote that is still open there makes the rest one row, to be refused. */
static mel_status cut_rows(mel_csv *csv, size_t *skip, mel_error *err)
{
    *skip = 0;
    for (size_t view = csv->n_pieces * MEL_CSV_PIECE;;
         view = view < MEL_CSV_ROW_CAP / 2 ? 2 * view : MEL_CSV_ROW_CAP) {
        TRY(fill(csv, view, err));
        const size_t left = csv->size - csv->begin, n = left < view ? left : view;
        const size_t even = view / csv->n_pieces + 1, piece = even < MEL_CSV_PIECE ? MEL_CSV_PIECE : even;
        mel_csv_cut_rows(&csv->cut, csv->data + csv->begin, n, piece, csv->threads);
        if (csv->cut.n_rows != 0 || n == 0)
            return set_blank_lines_aside(csv, skip, err);
        if (csv->at_end && n == left) {
            csv->cut = (mel_csv_cut){ .n_spans = 1, .n_rows = 1, .cut = n, .span = { { .end = n } } };
            return MEL_OK;
        }
        if (n == MEL_CSV_ROW_CAP)
            return fail_long_row(row_number(csv, csv->rows_done), err);
    }
}

/* Room for n rows in each column that is read. */
static mel_status grow_csv_columns(const mel_csv *csv, mel_table *table, size_t n, mel_error *err)
{
    for (size_t j = 0; j < csv->n_columns; j++) {
        mel_column *column = &table->column[j];
        const mel_csv_kind kind = csv->column[j].kind;
        if (kind != MEL_CSV_SKIP)
            TRY(MEL_NEED(kind == MEL_CSV_TEXT ? MEL_GROW(column->codes, n) : MEL_GROW(column->numbers, n),
                         "the cells of a table", err));
    }
    const bool named = names_rows(csv) && csv->opt.shards != NULL;
    return MEL_NEED(!named || MEL_GROW(table->row_name, n), "the cells of a table", err);
}

/* Rows to make room for: from the share of the file that is read, or half as many again. */
static size_t rows_to_expect(const mel_csv *csv, size_t need, size_t capacity)
{
    size_t n = capacity + capacity / 2;
    const size_t most = csv->opt.max_rows;
    const double bytes = (double)csv->bytes_done + (double)csv->cut.cut;
    const double left = (double)mel_text_expected(&csv->text) - bytes;
    const double guess = (double)need + 1.02 * left * (double)need / bytes;
    if (left > 0 && capacity == 0)
        n = guess < (double)most ? (size_t)guess : most;
    n = n < most ? n : most;
    return n < need ? need : n;
}

/* Parses the spans of csv->cut; the failure of the earliest rows counts. */
static mel_status parse_spans(mel_csv *csv, mel_table *table, mel_error *err)
{
    const size_t n = csv->cut.n_spans;
    for (size_t i = 0; i < n; i++) {
        const size_t stop = i + 1 < n ? csv->cut.span[i + 1].first_row : csv->cut.n_rows;
        TRY(prepare_chunk(csv, i, &csv->cut.span[i], stop - csv->cut.span[i].first_row, table, err));
    }
#pragma omp parallel for num_threads(csv->threads) schedule(dynamic, 1) if (n > 1 && csv->threads > 1)
    for (size_t i = 0; i < n; i++)
        mel_csv_parse(&csv->chunk[i]);
    for (size_t i = 0; i < n; i++)
        csv->has_quotes |= csv->chunk[i].has_quotes;
    for (size_t i = 0; i < n; i++)
        if (csv->chunk[i].status != MEL_OK) {
            if (err != NULL)
                *err = csv->chunk[i].err;
            csv->not_utf8 |= csv->chunk[i].not_utf8;
            return csv->chunk[i].status;
        }
    return MEL_OK;
}

static mel_status fail_categories(const mel_csv *csv, size_t j, const char *text, mel_error *err)
{
    return mel_fail(err, MEL_ELIMIT, "column %s: more than %zu different texts (%s is one too many)",
                    mel_quote_text(mel_dict_text(csv->names, j)).text, csv->opt.max_categories, text);
}

/* Adds n cells to those of their look; of the first one the quoted text is kept. Whole numbers on the fast
 * path have been counted without a text. */
static mel_status see(mel_csv_seen *seen, size_t n, size_t row, mel_quoted text, mel_error *err)
{
    if (seen->text == NULL) {
        seen->row = row;
        seen->text = mel_strdup(text.text);
    }
    seen->n += n;
    return seen->text != NULL ? MEL_OK : mel_fail_memory(err, "the columns of a table");
}

/* What a category would be among numbers; false: missing. */
static bool style_category(mel_styled_number *out, mel_quoted *quoted, const mel_dict *dict, uint32_t code)
{
    const char *text = mel_dict_text(dict, code);
    size_t n = mel_dict_length(dict, code);
    mel_trim(&text, &n);
    *out = mel_number_styled(text, n, '.');
    *quoted = mel_quote(text, n);
    return !mel_missing_number(text, n);
}

/* More categories than there may be: refused unless all of them may be numbers with another decimal mark. */
static mel_status doubt_categories(mel_csv *csv, size_t j, size_t row, mel_quoted text, mel_error *err)
{
    mel_csv_column *column = &csv->column[j];
    for (uint32_t code = 0; code < column->dict->n; code++) {
        mel_styled_number number;
        mel_quoted quoted;
        if (style_category(&number, &quoted, column->dict, code) && number.shape == MEL_SHAPE_OTHER)
            return fail_categories(csv, j, text.text, err);
    }
    return see(&column->too_many, 1, row, text, err);
}

/* The texts that are new in a chunk become those of the column, its provisional codes the column's. */
static mel_status merge_fresh(mel_csv *csv, size_t j, uint32_t n_known, const mel_csv_chunk *chunk,
                              mel_error *err)
{
    mel_csv_column *column = &csv->column[j];
    const mel_dict *fresh = chunk->finding[j].fresh;
    uint32_t *codes = chunk->finding[j].codes;
    if (fresh == NULL || fresh->n == 0 || codes == NULL || column->too_many.n != 0)
        return MEL_OK;
    MEL_ARRAY(uint32_t, code, fresh->n, "the categories of a column", err);
    for (uint32_t k = 0; k < fresh->n; k++) {
        const char *text = mel_dict_text(fresh, k);
        const size_t n = mel_dict_length(fresh, k);
        code[k] = mel_dict_add(column->dict, text, n, fresh->hash[k]);
        TRY(MEL_NEED(code[k] != MEL_MISSING, "the categories of a column", err));
        if (column->dict->n > csv->opt.max_categories)
            return doubt_categories(csv, j, chunk->row_number, mel_quote(text, n), err);
    }
    for (size_t i = 0; i < chunk->n_rows; i++)
        if (codes[i] != MEL_MISSING && codes[i] >= n_known)
            codes[i] = code[codes[i] - n_known];
    return MEL_OK;
}

/* Adds what a chunk found in a column. */
static mel_status merge_finding(mel_csv_column *column, mel_csv_chunk *chunk, size_t j, mel_error *err)
{
    mel_csv_finding *f = &chunk->finding[j];
    for (int i = 0; i < MEL_SEEN; i++)
        if (f->seen[i].n != 0)
            TRY(see(&column->seen[i], f->seen[i].n, chunk->row_number + f->seen[i].row,
                    column->seen[i].text == NULL ? mel_csv_quote(chunk, f->seen[i].cell) : (mel_quoted){ "" },
                    err));
    column->seen[MEL_SHAPE_POINT].n += f->points - f->thousands;
    column->seen[MEL_SHAPE_POINT_OR_THOUSANDS].n += f->thousands;
    column->seen[MEL_SHAPE_WHOLE].n += f->numbers != NULL ? chunk->n_rows - f->slow - f->points : 0;
    column->found.has_bare_word |= f->found.has_bare_word;
    column->found.quoted_words += f->found.quoted_words;
    column->found.quoted_numbers += f->found.quoted_numbers;
    mel_widths_merge(&column->found.widths, &f->found.widths);
    return MEL_OK;
}

/* What the chunks found, in the order of the rows. */
static mel_status merge_findings(mel_csv *csv, mel_error *err)
{
    for (size_t j = 0; j < csv->n_columns; j++) {
        mel_csv_column *column = &csv->column[j];
        const uint32_t n_known = column->dict != NULL ? column->dict->n : 0;
        for (size_t i = 0; i < csv->cut.n_spans && column->kind != MEL_CSV_SKIP; i++) {
            TRY(merge_finding(column, &csv->chunk[i], j, err));
            TRY(merge_fresh(csv, j, n_known, &csv->chunk[i], err));
        }
    }
    return MEL_OK;
}

/* What the cells of a column of texts would be among numbers, by its categories. */
static mel_status count_categories(mel_csv *csv, size_t j, const uint32_t *codes, mel_error *err)
{
    mel_csv_column *column = &csv->column[j];
    const mel_dict *dict = column->dict;
    MEL_ARRAY(size_t, count, dict->n, "the categories of a column", err);
    MEL_ARRAY(size_t, first, dict->n, "the categories of a column", err);
    for (size_t i = 0; i < csv->rows_done; i++)
        if (codes[i] != MEL_MISSING && codes[i] < dict->n && count[codes[i]]++ == 0)
            first[codes[i]] = i;
    for (uint32_t code = 0; code < dict->n; code++) {
        const size_t row = row_number(csv, first[code]);
        mel_styled_number number;
        mel_quoted text;
        if (count[code] == 0 || !style_category(&number, &text, dict, code))
            continue;
        TRY(see(&column->seen[number.shape], count[code], row, text, err));
        if (number.percent)
            TRY(see(&column->seen[MEL_SEEN_PERCENT], count[code], row, text, err));
    }
    return MEL_OK;
}

/* ---- passes ---- */

/* Counts what the cells of the first rows look like. */
static mel_status look_at_sample(mel_csv *csv, mel_error *err)
{
    TRY(fill(csv, MEL_CSV_PIECE, err));
    const char *text = csv->data + csv->begin;
    const size_t have = csv->size - csv->begin, most = have < MEL_CSV_PIECE ? have : MEL_CSV_PIECE;
    mel_csv_span span = { 0 };
    size_t n_rows = 0;
    for (size_t length = 1; length != 0 && n_rows < MEL_SAMPLE_ROWS - 1; n_rows += length != 0) {
        length = mel_csv_first_row(text + span.end, most - span.end);
        span.end += length;
    }
    csv->decimal = '.';
    TRY(prepare_chunk(csv, 0, &span, n_rows, NULL, err));
    mel_csv_chunk *chunk = &csv->chunk[0];
    mel_csv_parse(chunk); /* what it refuses is refused again, with everything known */
    if (chunk->status == MEL_ENOMEM)
        return mel_fail_memory(err, "the first rows of a table");
    for (size_t j = 0; j < csv->n_columns; j++)
        TRY(merge_finding(&csv->column[j], chunk, j, err));
    return MEL_OK;
}

/* All rows into the columns whose kind is not MEL_CSV_SKIP. */
static mel_status read_rows(mel_csv *csv, mel_table *table, mel_error *err)
{
    for (size_t j = 0; j < csv->n_columns; j++) {
        mel_csv_column *column = &csv->column[j];
        if (column->kind == MEL_CSV_SKIP)
            continue;
        clear_column(column);
        column->dict = column->kind == MEL_CSV_TEXT ? mel_dict_new() : NULL;
        if (column->kind == MEL_CSV_TEXT && column->dict == NULL)
            return mel_fail_memory(err, "the categories of a column");
        free(table->column[j].numbers);
        free(table->column[j].codes);
        table->column[j].numbers = NULL;
        table->column[j].codes = NULL;
    }
    size_t capacity = 0, skip;
    do {
        TRY(cut_rows(csv, &skip, err));
        const size_t n_rows = csv->rows_done + csv->cut.n_rows;
        if (csv->opt.max_cells != 0 && n_rows > csv->opt.max_cells / csv->n_columns)
            return mel_fail(err, MEL_ELIMIT, "more than %zu rows of %zu columns each; the limit is %zu cells",
                            csv->opt.max_cells / csv->n_columns, csv->n_columns, csv->opt.max_cells);
        if (n_rows > csv->opt.max_rows)
            return mel_fail(err, MEL_ELIMIT,
                            "more than %zu rows; raise the limit on rows if that is intended",
                            csv->opt.max_rows);
        if (n_rows > capacity) {
            capacity = rows_to_expect(csv, n_rows, capacity);
            TRY(grow_csv_columns(csv, table, capacity, err));
        }
        TRY(parse_spans(csv, table, err));
        TRY(merge_findings(csv, err));
        csv->begin += csv->cut.cut + skip;
        csv->bytes_done += csv->cut.cut;
        csv->rows_done = n_rows;
        TRY(mel_report_progress(&csv->opt.progress, "reading", mel_source_share(csv->text.source), err));
    } while (!csv->at_end || csv->begin != csv->size);
    table->n_rows = csv->rows_done;
    if (csv->rows_done < capacity)
        TRY(grow_csv_columns(csv, table, csv->rows_done, err));
    for (size_t j = 0; j < csv->n_columns; j++)
        if (csv->column[j].kind == MEL_CSV_TEXT)
            TRY(count_categories(csv, j, table->column[j].codes, err));
    return MEL_OK;
}

/* Columns are read by what their first rows look like, and cells are counted by their looks on the way. What
 * turns out to be something else, or is written with another decimal mark, is read once more. */
static mel_status read_csv_columns(mel_csv *csv, mel_table *table, mel_error *err)
{
    const size_t most = MOST_FINDINGS / csv->n_columns;
    bool again = false;
    csv->n_pieces = most > MEL_CSV_PIECES ? MEL_CSV_PIECES : most < FEWEST_PIECES ? FEWEST_PIECES : most;
    TRY(look_at_sample(csv, err));
    mel_csv_guess_types(csv);
    TRY(read_rows(csv, table, err));
    if (csv->rows_done == 0)
        return mel_fail(err, MEL_EDATA, "no rows%s", csv->dialect.header ? " after the header" : "");
    TRY(mel_csv_decide_types(csv, &again, err));
    if (!again)
        return MEL_OK;
    const size_t before = csv->rows_done;
    TRY(return_to_rows(csv, err));
    TRY(read_rows(csv, table, err));
    TRY(mel_source_unchanged(csv->text.source, err));
    return csv->rows_done == before
               ? MEL_OK
               : mel_fail(err, MEL_EDATA, "the file changed while it was read: %zu rows, then %zu", before,
                          csv->rows_done);
}

/* ---- what is settled in the end ---- */

/* Refuses what the types of the columns do not allow; gives the table types and categories. */
static mel_status settle_columns(mel_csv *csv, mel_table *table, mel_error *err)
{
    for (size_t j = 0; j < csv->n_columns; j++) {
        const mel_csv_column *from = &csv->column[j];
        mel_column *to = &table->column[j];
        if (from->too_many.n != 0 && (from->dict != NULL || mel_csv_odd_cells(from, csv->decimal).n != 0))
            return fail_categories(csv, j, from->too_many.text, err);
        const mel_csv_seen *huge = &from->seen[MEL_SHAPE_HUGE];
        if (from->dict == NULL && huge->n != 0)
            return mel_fail(err, MEL_EDATA,
                            "row %zu, column %s: %s is not a finite number; write NA for a missing value, or "
                            "declare the column as text",
                            huge->row, mel_quote_text(mel_dict_text(csv->names, j)).text, huge->text);
        to->type = from->dict != NULL ? MEL_COLUMN_TEXT : MEL_COLUMN_NUMBER;
        to->dict = from->dict != NULL ? mel_dict_share(from->dict) : NULL;
        to->percent = from->percent;
        to->declared = from->declared != MEL_COLUMN_AUTO;
        to->all_names = to->declared || !from->found.has_bare_word;
        to->all_quoted = from->dict == NULL && from->found.quoted_numbers == csv->rows_done;
        to->widths = from->found.widths;
    }
    return MEL_OK;
}

static mel_status note_csv(mel_csv *csv, mel_error *err)
{
    const mel_dialect *d = &csv->dialect;
    const bool separated = cells_due(csv) > 1;
    return mel_notes_how(
        &csv->notes, err, "%s%s%s%s%s%s%s%s%s, %s row%s, %s column%s", mel_encoding_name(csv->text.encoding),
        csv->text.returns_end_lines ? ", lines end with CR" : "", separated ? ", separator " : "",
        separated ? mel_delimiter_name(d->delimiter).text : "", csv->has_quotes ? ", quoted cells" : "",
        csv->decimal == ',' ? ", decimal comma" : "", d->header ? ", header in row " : ", no header",
        !d->header  ? ""
        : csv->said ? "2"
                    : "1",
        names_rows(csv) ? ", column 1 names the rows" : "", mel_count_text(csv->rows_done).text,
        csv->rows_done == 1 ? "" : "s", mel_count_text(csv->n_columns).text, csv->n_columns == 1 ? "" : "s");
}

static mel_status read_table(mel_table **out, mel_csv *csv, mel_error *err)
{
    TRY(open_csv(csv, err));
    MEL_AUTO(mel_table) *table = mel_table_new(csv->name, csv->names, csv->n_columns);
    TRY(MEL_NEED(table, "a table", err));
    table->has_header = csv->dialect.header;
    table->first_row = row_number(csv, 0);
    TRY(read_csv_columns(csv, table, err));
    TRY(settle_columns(csv, table, err));
    TRY(note_csv(csv, err));
    TRY(mel_notes_check(&csv->notes, csv->opt.strict, err));
    table->notes = csv->notes;
    csv->notes = (mel_notes){ 0 };
    return MEL_GIVE(out, table);
}

/* What reading a file in one encoding came to. */
typedef struct {
    bool may_be_windows; /* it is not UTF-8, and nothing says that it is */
    bool mostly_utf8;
} encoding_verdict;

static mel_status read_in_encoding(mel_table **out, encoding_verdict *verdict, mel_source *source,
                                   const char *name, const mel_read_options *opt, mel_error *err)
{
    mel_csv *csv = mel_alloc_zero(1, sizeof *csv);
    TRY(MEL_NEED(csv, "a table", err));
    csv->opt = *opt;
    csv->name = name;
    csv->text = (mel_text){ .source = source, .line = 1 };
    csv->threads = mel_thread_count(opt->threads);
    const mel_status status = read_table(out, csv, err);
    mel_encoding encoding;
    (void)mel_encoding_named(&encoding, opt->encoding);
    verdict->may_be_windows =
        status == MEL_EDATA && csv->not_utf8 && !csv->marked && encoding == MEL_ENCODING_AUTO;
    verdict->mostly_utf8 = csv->text.utf8_characters > csv->text.other_bytes;
    close_csv(csv);
    free(csv);
    return status;
}

mel_status mel_read_csv(mel_table **out, mel_source *source, const char *name, const mel_read_options *opt,
                        mel_error *err)
{
    mel_error why = { 0 };
    encoding_verdict verdict = { 0 };
    const mel_status status = read_in_encoding(out, &verdict, source, name, opt, &why);
    if (!verdict.may_be_windows) {
        if (status != MEL_OK && err != NULL)
            *err = why;
        return status;
    }
    mel_read_options other = *opt;
    other.encoding = "windows-1252";
    TRY(mel_source_rewind(source, err));
    TRY(read_in_encoding(out, &verdict, source, name, &other, err));
    if (!verdict.mostly_utf8)
        return MEL_OK;
    mel_table_free(*out); /* a damaged file, not one in Windows-1252 */
    *out = NULL;
    return mel_fail(err, MEL_EDATA,
                    "%s, though most of the file is; repair it, or give encoding=windows-1252", why.text);
}
