/* CSV window by window: what the whole-file reader and the stream share. */
#include "data/csv.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    SAMPLE_ROWS = MEL_SAMPLE_ROWS - 1,
    MOST_FINDINGS = 1 << 18,
    FEWEST_PIECES = 4,
    FEWEST_BYTES = 1 << 12,
    REFILL = 1 << 20
};

/* The number of the first row that is not a line "sep=;". */
static size_t first_number(const mel_csv *csv)
{
    return csv->said ? 2 : 1;
}

static size_t row_number(const mel_csv *csv, size_t row)
{
    return row + first_number(csv) + csv->dialect.header;
}

/* Room for n bytes from begin on, with what may be read behind them. */
static bool reserve(mel_csv *csv, size_t n)
{
    if (csv->begin != 0) {
        memmove(csv->data, csv->data + csv->begin, csv->size - csv->begin);
        csv->size -= csv->begin;
        csv->begin = 0;
    }
    const size_t need = n + MEL_CSV_PADDING + 1;
    if (need <= csv->capacity)
        return true;
    void *data = csv->data;
    if (!mel_grow(&data, need, 1))
        return false;
    csv->data = data;
    csv->capacity = need;
    return true;
}

/* Makes the window at least n bytes long, if there are as many. The last line gets its line end. */
static mel_status fill(mel_csv *csv, size_t n, mel_error *err)
{
    if (csv->at_end || csv->size - csv->begin >= n)
        return MEL_OK;
    const size_t kept = csv->size - csv->begin;
    const uint64_t left = mel_text_left(&csv->text);
    size_t room = n < REFILL ? REFILL : n;
    if (left < room - kept)
        room = kept + (size_t)left + 1; /* one more, to see the end */
    if (!reserve(csv, room))
        return mel_fail_memory(err, "a window of a file");
    size_t got = 0;
    const size_t want = room - csv->size;
    const mel_status status = mel_text_read(&csv->text, csv->data + csv->size, want, &got, err);
    if (status != MEL_OK)
        return status;
    csv->size += got;
    csv->at_end = got < want;
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
        const mel_status status =
            n <= MEL_CSV_ROW_CAP ? fill(csv, n, err) : fail_long_row(first_number(csv), err);
        if (status != MEL_OK)
            return status;
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
    mel_status status = fill(csv, MEL_CSV_PIECE, err);
    if (status != MEL_OK)
        return status;
    csv->marked = csv->size >= 3 && memcmp(csv->data, "\xEF\xBB\xBF", 3) == 0;
    csv->begin = csv->marked ? 3 : 0;
    status = find_row(csv, length, err);
    if (status == MEL_OK &&
        (csv->said || mel_delimiter_said(&csv->dialect.delimiter, csv->data + csv->begin, *length))) {
        csv->said = true;
        csv->begin += *length;
        status = find_row(csv, length, err);
    }
    if (status != MEL_OK)
        return status;
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

/* Do carriage returns end lines, and line feeds none? The last line feed is put there by fill. */
static bool returns_end_lines(const mel_csv *csv)
{
    bool inside = false, returns = false;
    for (const char *p = csv->data, *end = p + csv->size; p < end; p++) {
        inside ^= *p == '"';
        if (!inside && *p == '\n' && !(csv->at_end && p + 1 == end))
            return false;
        returns |= !inside && *p == '\r' && p + 1 < end && p[1] != '\n';
    }
    return returns;
}

static mel_status find_line_ends(mel_csv *csv, mel_error *err)
{
    const mel_status status = fill(csv, MEL_CSV_PIECE, err);
    if (status != MEL_OK || !returns_end_lines(csv))
        return status;
    csv->text.returns_end_lines = true;
    return start_again(csv, err);
}

static mel_status find_encoding(mel_csv *csv, mel_error *err)
{
    mel_encoding encoding;
    (void)mel_encoding_named(&encoding, csv->opt.encoding);
    csv->text.encoding = MEL_UTF_8;
    const mel_status status = fill(csv, MEL_CSV_PIECE, err);
    if (status != MEL_OK)
        return status;
    if (csv->size >= 4 && memcmp(csv->data, "\xFF\xFE\0\0", 4) == 0)
        return mel_fail(err, MEL_EDATA, "the file is UTF-32; save it as UTF-8");
    const mel_encoding found = mel_encoding_of_start(csv->data, csv->size);
    if (encoding == MEL_ENCODING_AUTO || (encoding == MEL_UTF_16 && found != MEL_UTF_8))
        encoding = found;
    csv->text.encoding = encoding == MEL_UTF_16 ? MEL_UTF_16LE : encoding;
    return csv->text.encoding == MEL_UTF_8 ? MEL_OK : start_again(csv, err);
}

/* The first rows, at least two where there are as many; the window starts with them. */
static mel_status take_sample(mel_csv *csv, mel_csv_sample *sample, mel_error *err)
{
    size_t length;
    mel_status status = find_first_row(csv, &length, err);
    for (size_t n = length + MEL_CSV_PIECE; status == MEL_OK; n *= 2) {
        status = fill(csv, n, err);
        const size_t have = csv->size - csv->begin;
        mel_csv_sample_take(sample, csv->data + csv->begin, have < n ? have : n, first_number(csv));
        if (sample->n >= 2 || csv->at_end || n >= MEL_CSV_ROW_CAP)
            break;
    }
    return status;
}

static mel_status find_dialect(mel_csv *csv, mel_error *err)
{
    mel_csv_sample sample;
    mel_status status = take_sample(csv, &sample, err);
    if (status == MEL_OK)
        status = mel_dialect_find_delimiter(&csv->dialect, &sample, &csv->opt, &csv->notes, err);
    csv->delimiter = csv->dialect.delimiter;
    if (status == MEL_OK && csv->delimiter == ' ') {
        csv->delimiter = '\t';
        csv->text.blanks_to_tabs = true;
        status = start_again(csv, err);
        if (status == MEL_OK)
            status = take_sample(csv, &sample, err);
    }
    return status == MEL_OK ? mel_dialect_find_header(&csv->dialect, &sample, &csv->opt, &csv->notes, err)
                            : status;
}

static mel_status number_columns(mel_csv *csv, const char *text, size_t length, mel_error *err)
{
    csv->n_columns = mel_csv_count_cells(text, text + length, csv->delimiter);
    if (csv->n_columns > csv->opt.max_columns)
        return mel_fail(err, MEL_ELIMIT, "row %zu: %zu columns, more than the limit of %zu",
                        first_number(csv), csv->n_columns, csv->opt.max_columns);
    csv->names = mel_column_numbers(csv->n_columns);
    return csv->names != NULL ? MEL_OK : mel_fail_memory(err, "column names");
}

/* The window starts with the first row. */
static mel_status read_names(mel_csv *csv, mel_error *err)
{
    const char *text = csv->data + csv->begin;
    const size_t in_rows = mel_csv_first_row(text, csv->size - csv->begin);
    const size_t length = in_rows != 0 ? in_rows : csv->size - csv->begin; /* an open quote */
    if (!csv->dialect.header)
        return number_columns(csv, text, length, err);
    mel_csv_chunk header = { .begin = text, .end = text + length, .row_number = first_number(csv) };
    mel_buffer_init(&header.scratch, MEL_CSV_ROW_CAP * 2);
    csv->names = mel_dict_new();
    if (csv->names == NULL)
        return mel_fail_memory(err, "column names");
    const mel_csv_job job = { .delimiter = csv->delimiter,
                              .names_rows = csv->dialect.index,
                              .first_name = csv->dialect.first_is_row_name ? csv->opt.row_name : NULL,
                              .open_end = csv->dialect.open_end };
    const mel_status status = mel_csv_parse_header(csv->names, &header, &job, csv->opt.max_columns);
    if (status != MEL_OK && err != NULL)
        *err = header.err;
    csv->not_utf8 |= header.not_utf8;
    mel_buffer_free(&header.scratch);
    csv->n_columns = csv->names->n;
    csv->begin += length;
    return status;
}

/* What the caller said of the columns; all of it is lent for the opening only. */
static mel_status apply_overrides(mel_csv *csv, mel_error *err)
{
    for (uint32_t j = 0; j < csv->n_columns && csv->dialect.header && csv->opt.row_name != NULL; j++)
        if (strcasecmp(mel_dict_text(csv->names, j), csv->opt.row_name) == 0)
            csv->column[j].declared = MEL_COLUMN_TEXT;
    for (size_t i = 0; i < csv->opt.n_overrides; i++) {
        const mel_column_override *o = &csv->opt.overrides[i];
        const size_t n = strlen(o->name);
        const uint32_t j = mel_dict_find(csv->names, o->name, n, mel_dict_hash(o->name, n));
        if (j == MEL_MISSING && csv->opt.overrides_found == NULL)
            return mel_fail_no_column(csv->names, o->name, NULL, err);
        if (j == MEL_MISSING)
            continue;
        csv->column[j].declared = o->type;
        if (csv->opt.overrides_found != NULL)
            csv->opt.overrides_found[i] = true;
    }
    csv->opt.overrides = NULL;
    csv->opt.n_overrides = 0;
    csv->opt.expected_names = NULL;
    csv->opt.n_expected_names = 0;
    csv->opt.row_name = NULL;
    return MEL_OK;
}

static mel_status allocate(mel_csv *csv, mel_error *err)
{
    csv->n_pieces = MOST_FINDINGS / csv->n_columns;
    csv->n_pieces = csv->n_pieces < FEWEST_PIECES ? FEWEST_PIECES : csv->n_pieces;
    csv->n_pieces = csv->n_pieces > MEL_CSV_PIECES ? MEL_CSV_PIECES : csv->n_pieces;
    csv->column = mel_alloc_zero(csv->n_columns, sizeof *csv->column);
    csv->chunk = mel_alloc_zero(csv->n_pieces, sizeof *csv->chunk);
    if (csv->column == NULL || csv->chunk == NULL)
        return mel_fail_memory(err, "the columns of a table");
    for (size_t i = 0; i < csv->n_pieces; i++)
        mel_buffer_init(&csv->chunk[i].scratch, SIZE_MAX / 4);
    return MEL_OK;
}

static bool is_number_kind(mel_csv_kind kind)
{
    return kind == MEL_CSV_NUMBER || kind == MEL_CSV_STYLED;
}

static bool names_rows(const mel_csv *csv)
{
    return csv->dialect.row_names || csv->dialect.index;
}

static mel_csv_job job_of(const mel_csv *csv)
{
    return (mel_csv_job){ .delimiter = csv->delimiter,
                          .decimal = csv->decimal,
                          .n_columns = csv->n_columns,
                          .names_rows = names_rows(csv),
                          .open_end = csv->dialect.open_end,
                          .frozen = csv->frozen,
                          .names = csv->names };
}

/* Chunk i works on whole rows of the window, which are rows block_row and on of the table; its findings
 * start afresh. */
static bool prepare_chunk(mel_csv *csv, size_t i, const mel_csv_span *span, size_t n_rows, mel_table *table,
                          size_t block_row)
{
    mel_csv_chunk *chunk = &csv->chunk[i];
    if (chunk->finding == NULL)
        chunk->finding = mel_alloc_zero(csv->n_columns, sizeof *chunk->finding);
    if (chunk->finding == NULL)
        return false;
    chunk->begin = csv->data + csv->begin + span->begin;
    chunk->end = csv->data + csv->begin + span->end;
    chunk->n_rows = n_rows;
    chunk->tally = csv->tally;
    chunk->not_utf8 = false;
    chunk->row_number = row_number(csv, csv->rows_done + span->first_row);
    const size_t first = block_row + span->first_row;
    for (size_t j = 0; j < csv->n_columns; j++) {
        mel_csv_finding *f = &chunk->finding[j];
        const mel_csv_kind kind = csv->column[j].kind;
        const bool text = kind == MEL_CSV_TEXT, stored = table != NULL && (text || is_number_kind(kind));
        if (f->fresh != NULL)
            mel_dict_reset(f->fresh);
        f->kind = kind;
        f->has_text = false;
        f->has_quoted_word = false;
        f->has_bare_word = false;
        f->declared = csv->column[j].declared == MEL_COLUMN_TEXT;
        f->numbers = stored && !text ? table->column[j].numbers + first : NULL;
        f->codes = stored && text ? table->column[j].codes + first : NULL;
        f->known = csv->column[j].dict;
        f->huge_row = 0;
    }
    return true;
}

/* Counts the cells of the first rows. */
static mel_status tally_sample(mel_csv *csv, mel_error *err)
{
    mel_status status = fill(csv, MEL_CSV_PIECE, err);
    if (status != MEL_OK)
        return status;
    const size_t n = csv->size - csv->begin < MEL_CSV_PIECE ? csv->size - csv->begin : MEL_CSV_PIECE;
    mel_csv_cut_rows(&csv->cut, csv->data + csv->begin, n, MEL_CSV_PIECE, SAMPLE_ROWS, 1);
    if (csv->cut.n_spans == 0)
        return MEL_OK;
    if (!prepare_chunk(csv, 0, &csv->cut.span[0], csv->cut.n_rows, NULL, 0))
        return mel_fail_memory(err, "the columns of a table");
    const mel_csv_job job = job_of(csv);
    mel_csv_parse(&csv->chunk[0], &job); /* what it refuses is refused again, with everything known */
    return csv->chunk[0].status == MEL_ENOMEM ? mel_fail_memory(err, "the first rows of a table") : MEL_OK;
}

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
        status = tally_sample(csv, err);
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

/* Everything before the first row of data. Takes over the source, also on failure. */
static mel_status open_csv(mel_csv *csv, mel_source *source, const char *name, const mel_read_options *opt,
                           mel_error *err)
{
    *csv = (mel_csv){ .opt = *opt,
                      .name = name,
                      .text = { .source = source, .line = 1 },
                      .decimal = '.',
                      .threads = mel_thread_count(opt->threads) };
    mel_status status = find_encoding(csv, err);
    if (status == MEL_OK)
        status = find_line_ends(csv, err);
    if (status == MEL_OK)
        status = find_dialect(csv, err);
    if (status == MEL_OK)
        status = read_names(csv, err);
    if (status == MEL_OK)
        status = allocate(csv, err);
    if (status == MEL_OK)
        status = apply_overrides(csv, err);
    return status == MEL_OK ? choose_types(csv, err) : status;
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

/* Empty lines at the end of what was cut may be the end of the file; they are set aside. In a table of
 * one column they are rows with a missing cell. */
static mel_status set_blank_lines_aside(mel_csv *csv, size_t *skip, mel_error *err)
{
    *skip = 0;
    mel_csv_cut *cut = &csv->cut;
    const size_t due = csv->n_columns + names_rows(csv) + csv->dialect.open_end;
    if (due == 1)
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
        return mel_fail(err, MEL_EDATA, "row %zu: the line is empty where %zu cells are due", csv->blank_row,
                        due);
    *skip = cut_before - cut->cut;
    if (*skip != 0 && csv->blank_row == 0)
        csv->blank_row = row_number(csv, csv->rows_done + cut->n_rows);
    while (cut->n_spans != 0 && cut->span[cut->n_spans - 1].begin >= cut->cut)
        cut->n_spans--;
    if (cut->n_spans != 0)
        cut->span[cut->n_spans - 1].end = cut->cut;
    return MEL_OK;
}

/* How much of the window to look at for the next `want` rows: all of it, or a little more than they
 * should take. */
static size_t bytes_to_view(const mel_csv *csv, size_t want)
{
    const size_t most = csv->n_pieces * MEL_CSV_PIECE;
    if (csv->rows_done == 0)
        return most;
    const double bytes = 1.1 * (double)want * (double)csv->bytes_done / (double)csv->rows_done + FEWEST_BYTES;
    return bytes < (double)most ? (size_t)bytes : most;
}

/* Cuts the next rows, at most `want`, out of the window, which grows until it holds one. No rows at the
 * end of the file; a quote that is still open there makes the rest one row, to be refused. */
static mel_status cut_rows(mel_csv *csv, size_t want, size_t *skip, mel_error *err)
{
    *skip = 0;
    for (size_t view = bytes_to_view(csv, want);;
         view = view < MEL_CSV_ROW_CAP / 2 ? 2 * view : MEL_CSV_ROW_CAP) {
        const mel_status status = fill(csv, view, err);
        if (status != MEL_OK)
            return status;
        const size_t left = csv->size - csv->begin, n = left < view ? left : view;
        const size_t even = view / csv->n_pieces + 1, piece = even < MEL_CSV_PIECE ? MEL_CSV_PIECE : even;
        mel_csv_cut_rows(&csv->cut, csv->data + csv->begin, n, piece, want, csv->threads);
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

static bool grow_column(mel_column *column, mel_csv_kind kind, size_t n)
{
    const bool text = kind == MEL_CSV_TEXT;
    if (!text && !is_number_kind(kind))
        return true;
    void *block = text ? (void *)column->codes : (void *)column->numbers;
    const bool grown = mel_grow(&block, n, text ? sizeof *column->codes : sizeof *column->numbers);
    if (text)
        column->codes = block;
    else
        column->numbers = block;
    return grown;
}

static mel_status grow_columns(const mel_csv *csv, mel_table *table, size_t n, mel_error *err)
{
    for (size_t j = 0; j < csv->n_columns; j++)
        if (!grow_column(&table->column[j], csv->column[j].kind, n))
            return mel_fail_memory(err, "the cells of a table");
    return MEL_OK;
}

/* Rows to make room for: from the share of the file that is read, or half as many again. */
static size_t rows_to_expect(const mel_csv *csv, size_t need, size_t capacity, size_t most)
{
    size_t n = capacity + capacity / 2;
    const double bytes = (double)csv->bytes_done + (double)csv->cut.cut;
    const double rows = (double)csv->rows_done + (double)csv->cut.n_rows;
    const double left = (double)mel_text_expected(&csv->text) - bytes;
    const double guess = (double)need + 1.02 * left * rows / bytes;
    if (left > 0 && capacity == 0)
        n = guess < (double)most ? (size_t)guess : most;
    n = n < most ? n : most;
    return n < need ? need : n;
}

/* Parses the spans of csv->cut; the failure of the earliest rows counts. */
static mel_status parse_spans(mel_csv *csv, mel_table *table, size_t block_row, mel_error *err)
{
    const size_t n = csv->cut.n_spans;
    for (size_t i = 0; i < n; i++) {
        const size_t stop = i + 1 < n ? csv->cut.span[i + 1].first_row : csv->cut.n_rows;
        if (!prepare_chunk(csv, i, &csv->cut.span[i], stop - csv->cut.span[i].first_row, table, block_row))
            return mel_fail_memory(err, "the columns of a table");
    }
    const mel_csv_job job = job_of(csv);
    const bool alone = csv->tally != NULL; /* one set of tallies, in the order of the rows */
#pragma omp parallel for num_threads(csv->threads)                                                           \
    schedule(dynamic, 1) if (n > 1 && csv->threads > 1 && !alone)
    for (size_t i = 0; i < n; i++)
        mel_csv_parse(&csv->chunk[i], &job);
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

static mel_status fail_changed(const mel_csv *csv, size_t j, mel_error *err)
{
    return mel_fail(err, MEL_EDATA, "column %s: the file changed while it was read",
                    mel_quote_text(mel_dict_text(csv->names, j)).text);
}

/* Provisional codes of a chunk become those of the column. */
static void recode(uint32_t *codes, size_t n, uint32_t n_known, const uint32_t *code)
{
    for (size_t i = 0; i < n; i++)
        if (codes[i] != MEL_MISSING && codes[i] >= n_known)
            codes[i] = code[codes[i] - n_known];
}

/* Adds the texts of `fresh` to the column; code[k] becomes the code of text k. */
static mel_status add_fresh(mel_csv *csv, size_t j, const mel_dict *fresh, uint32_t *code, mel_error *err)
{
    mel_dict *dict = csv->column[j].dict;
    for (uint32_t k = 0; k < fresh->n; k++) {
        code[k] = mel_dict_add(dict, mel_dict_text(fresh, k), mel_dict_length(fresh, k), fresh->hash[k]);
        if (code[k] == MEL_MISSING)
            return mel_fail_memory(err, "the categories of a column");
        if (dict->n > csv->opt.max_categories)
            return mel_fail(err, MEL_ELIMIT, "column %s: more than %zu different texts (%s is one too many)",
                            mel_quote_text(mel_dict_text(csv->names, j)).text, csv->opt.max_categories,
                            mel_quote_text(mel_dict_text(fresh, k)).text);
    }
    return MEL_OK;
}

static mel_status merge_fresh(mel_csv *csv, size_t j, uint32_t n_known, const mel_csv_chunk *chunk,
                              mel_error *err)
{
    const mel_dict *fresh = chunk->finding[j].fresh;
    if (fresh == NULL || fresh->n == 0)
        return MEL_OK;
    if (csv->frozen)
        return fail_changed(csv, j, err);
    uint32_t *code = mel_alloc(fresh->n, sizeof *code);
    if (code == NULL)
        return mel_fail_memory(err, "the categories of a column");
    const mel_status status = add_fresh(csv, j, fresh, code, err);
    if (status == MEL_OK && chunk->finding[j].codes != NULL)
        recode(chunk->finding[j].codes, chunk->n_rows, n_known, code);
    free(code);
    return status;
}

/* What the chunks found, in the order of the rows. */
static mel_status merge_findings(mel_csv *csv, mel_error *err)
{
    for (size_t j = 0; j < csv->n_columns; j++) {
        mel_csv_column *column = &csv->column[j];
        const uint32_t n_known = column->dict != NULL ? column->dict->n : 0;
        for (size_t i = 0; i < csv->cut.n_spans; i++) {
            const mel_csv_finding *f = &csv->chunk[i].finding[j];
            column->has_text |= f->has_text;
            column->has_quoted_word |= f->has_quoted_word;
            column->has_bare_word |= f->has_bare_word;
            if (column->huge_row == 0 && f->huge_row != 0) {
                column->huge_row = f->huge_row;
                column->huge = f->huge;
            }
            const mel_status status = merge_fresh(csv, j, n_known, &csv->chunk[i], err);
            if (status != MEL_OK)
                return status;
        }
        if (column->has_text && is_number_kind(column->kind))
            column->kind = MEL_CSV_SKIP;
    }
    return MEL_OK;
}

/* One window's worth of rows; none at the end. */
static mel_status read_some(mel_csv *csv, mel_table *table, size_t block_row, size_t *capacity, size_t want,
                            mel_error *err)
{
    size_t skip;
    mel_status status = cut_rows(csv, want, &skip, err);
    const size_t n_rows = csv->cut.n_rows;
    if (status != MEL_OK)
        return status;
    if (csv->opt.max_cells != 0 && (csv->rows_done + n_rows) > csv->opt.max_cells / csv->n_columns)
        return mel_fail(err, MEL_ELIMIT, "more than %zu rows of %zu columns each; the limit is %zu cells",
                        csv->opt.max_cells / csv->n_columns, csv->n_columns, csv->opt.max_cells);
    if (n_rows > csv->opt.max_rows - csv->rows_done)
        return mel_fail(err, MEL_ELIMIT, "more than %zu rows; raise the limit on rows if that is intended",
                        csv->opt.max_rows);
    if (table != NULL && block_row + n_rows > *capacity) {
        const size_t block_limit =
            want < csv->opt.max_rows - block_row ? block_row + want : csv->opt.max_rows;
        const size_t n = rows_to_expect(csv, block_row + n_rows, *capacity, block_limit);
        status = grow_columns(csv, table, n, err);
        *capacity = n;
    }
    if (status == MEL_OK)
        status = parse_spans(csv, table, block_row, err);
    if (status == MEL_OK)
        status = merge_findings(csv, err);
    csv->begin += csv->cut.cut + skip;
    csv->bytes_done += csv->cut.cut;
    csv->rows_done += n_rows;
    return status == MEL_OK
               ? mel_report_progress(&csv->opt.progress, "reading", mel_source_share(csv->text.source), err)
               : status;
}

mel_status mel_csv_rows(mel_csv *csv, mel_table *table, size_t max_rows, size_t *n_rows, mel_error *err)
{
    size_t capacity = 0;
    *n_rows = 0;
    while (*n_rows < max_rows) {
        const size_t before = csv->rows_done;
        const mel_status status = read_some(csv, table, *n_rows, &capacity, max_rows - *n_rows, err);
        if (status != MEL_OK)
            return status;
        *n_rows += csv->rows_done - before;
        if (csv->at_end && csv->begin == csv->size)
            break;
    }
    if (table == NULL)
        return MEL_OK;
    table->n_rows = *n_rows;
    return *n_rows < capacity ? grow_columns(csv, table, *n_rows, err) : MEL_OK;
}

mel_status mel_csv_again(mel_csv *csv, mel_error *err)
{
    size_t length;
    mel_status status = start_again(csv, err);
    if (status == MEL_OK)
        status = find_first_row(csv, &length, err);
    if (status == MEL_OK && csv->dialect.header)
        csv->begin += length;
    return status;
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
    const bool separated = csv->n_columns > 1 || names_rows(csv) || d->open_end;
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
        table->first_row = row_number(csv, csv->rows_done);
    }
    return table;
}

mel_status mel_csv_finish_table(const mel_csv *csv, mel_table *table, mel_error *err)
{
    for (size_t j = 0; j < csv->n_columns; j++) {
        mel_dict *dict = csv->column[j].dict;
        table->column[j].type = dict != NULL ? MEL_COLUMN_TEXT : MEL_COLUMN_NUMBER;
        table->column[j].dict = dict != NULL ? mel_dict_share(dict) : NULL;
        table->column[j].declared = csv->column[j].declared != MEL_COLUMN_AUTO;
        table->column[j].all_names = table->column[j].declared || !csv->column[j].has_bare_word;
    }
    return mel_notes_copy(&table->notes, &csv->notes, err);
}

/* Reads the file once, in the encoding that the options say or that its first bytes do. */
static mel_status load_once(mel_csv *csv, mel_table **table, mel_source *source, const char *name,
                            const mel_read_options *opt, mel_error *err)
{
    mel_status status = open_csv(csv, source, name, opt, err);
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
