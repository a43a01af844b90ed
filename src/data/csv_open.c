/* Everything before the first row of data: encoding, line ends, dialect, names; and the window of text. */
#include "data/csv_parts.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MOST_FINDINGS = 1 << 18, FEWEST_PIECES = 4, REFILL = 1 << 20 };

/* The number of the first row that is not a line "sep=;". */
static size_t first_number(const mel_csv *csv)
{
    return csv->said ? 2 : 1;
}

size_t mel_csv_row_number(const mel_csv *csv, size_t row)
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
mel_status mel_csv_fill(mel_csv *csv, size_t n, mel_error *err)
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

mel_status mel_csv_fail_long_row(size_t row, mel_error *err)
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
            n <= MEL_CSV_ROW_CAP ? mel_csv_fill(csv, n, err) : mel_csv_fail_long_row(first_number(csv), err);
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
    mel_status status = mel_csv_fill(csv, MEL_CSV_PIECE, err);
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
bool mel_csv_returns_end_lines(const mel_csv *csv)
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
    const mel_status status = mel_csv_fill(csv, MEL_CSV_PIECE, err);
    if (status != MEL_OK || !mel_csv_returns_end_lines(csv))
        return status;
    csv->text.returns_end_lines = true;
    return start_again(csv, err);
}

static mel_status find_encoding(mel_csv *csv, mel_error *err)
{
    mel_encoding encoding;
    (void)mel_encoding_named(&encoding, csv->opt.encoding);
    csv->text.encoding = MEL_UTF_8;
    const mel_status status = mel_csv_fill(csv, MEL_CSV_PIECE, err);
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
    size_t length = 0;
    mel_status status = find_first_row(csv, &length, err);
    sample->most = csv->opt.max_columns;
    for (size_t n = length + MEL_CSV_PIECE; status == MEL_OK; n *= 2) {
        status = mel_csv_fill(csv, n, err);
        const size_t have = csv->size - csv->begin;
        mel_csv_sample_take(sample, csv->data + csv->begin, have < n ? have : n, first_number(csv));
        if (sample->n >= 2 || csv->at_end || n >= MEL_CSV_ROW_CAP)
            break;
    }
    return status;
}

static mel_status fail_columns(const mel_csv *csv, size_t n, mel_error *err)
{
    return mel_fail(err, MEL_ELIMIT, "row %zu: %zu columns, more than the limit of %zu", first_number(csv), n,
                    csv->opt.max_columns);
}

/* Before anything is kept for each column. A row's name and an open end are no columns. */
static mel_status refuse_many_columns(const mel_csv *csv, const mel_csv_sample *sample, mel_error *err)
{
    enum { NO_COLUMNS = 2 };
    mel_sample_cell last;
    const size_t n = sample->n > 0 ? mel_sample_count(sample, 0, csv->delimiter, &last) : 0;
    return n > NO_COLUMNS && n - NO_COLUMNS > csv->opt.max_columns ? fail_columns(csv, n, err) : MEL_OK;
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
    if (status == MEL_OK)
        status = refuse_many_columns(csv, &sample, err);
    return status == MEL_OK ? mel_dialect_find_header(&csv->dialect, &sample, &csv->opt, &csv->notes, err)
                            : status;
}

static mel_status number_columns(mel_csv *csv, const char *text, size_t length, mel_error *err)
{
    csv->n_columns = mel_csv_count_cells(text, text + length, csv->delimiter);
    if (csv->n_columns > csv->opt.max_columns)
        return fail_columns(csv, csv->n_columns, err);
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

mel_status mel_csv_start(mel_csv *csv, mel_source *source, const char *name, const mel_read_options *opt,
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
    return status == MEL_OK ? apply_overrides(csv, err) : status;
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
