#include "data/csv.h"

#include <stdlib.h>
#include <string.h>

enum {
    SAMPLE_ROWS = 100,
    MOST_FINDINGS = 1 << 18,
    FEWEST_PIECES = 4,
    FEWEST_BYTES = 1 << 12,
    REFILL = 1 << 20
};

static size_t row_number(const mel_csv *csv, size_t row)
{
    return row + (csv->opt.no_header ? 1 : 2);
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
    const uint64_t left = mel_source_left(csv->source);
    size_t room = n < REFILL ? REFILL : n;
    if (left < room - kept)
        room = kept + (size_t)left + 1; /* one more, to see the end */
    if (!reserve(csv, room))
        return mel_fail_memory(err, "a window of a file");
    size_t got = 0;
    const size_t want = room - csv->size;
    const mel_status status = mel_source_read(csv->source, csv->data + csv->size, want, &got, err);
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

/* The length of the first row in the file, without a byte order mark. */
static mel_status find_first_row(mel_csv *csv, size_t *length, mel_error *err)
{
    size_t mark = 0;
    *length = 0;
    for (size_t n = MEL_CSV_PIECE; *length == 0 && !csv->at_end; n *= 2) {
        const mel_status status = n <= MEL_CSV_ROW_CAP ? fill(csv, n, err) : fail_long_row(1, err);
        if (status != MEL_OK)
            return status;
        mark = csv->size >= 3 && memcmp(csv->data, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
        *length = mel_csv_first_row(csv->data + mark, csv->size - mark);
    }
    csv->begin = mark;
    if (*length == 0)
        *length = csv->size - mark; /* an open quote, or nothing */
    if (*length == 0 || (csv->size - mark == 1 && csv->data[mark] == '\n'))
        return mel_fail(err, MEL_EDATA, "the file is empty");
    return MEL_OK;
}

static mel_status refuse_utf16(const mel_csv *csv, mel_error *err)
{
    if (csv->size >= 2 && (memcmp(csv->data, "\xFF\xFE", 2) == 0 || memcmp(csv->data, "\xFE\xFF", 2) == 0))
        return mel_fail(err, MEL_EDATA, "row 1: the file is UTF-16; save it as UTF-8");
    return MEL_OK;
}

static mel_status read_names(mel_csv *csv, mel_error *err)
{
    size_t length;
    mel_status status = find_first_row(csv, &length, err);
    if (status == MEL_OK)
        status = refuse_utf16(csv, err);
    if (status != MEL_OK)
        return status;
    const char *text = csv->data + csv->begin;
    if (csv->opt.no_header) {
        csv->n_columns = mel_csv_count_cells(text, text + length, csv->opt.delimiter);
        if (csv->n_columns > csv->opt.max_columns)
            return mel_fail(err, MEL_ELIMIT, "row 1: %zu columns, more than the limit of %zu", csv->n_columns,
                            csv->opt.max_columns);
        csv->names = mel_column_numbers(csv->n_columns);
        return csv->names != NULL ? MEL_OK : mel_fail_memory(err, "column names");
    }
    mel_csv_chunk header = { .begin = text, .end = text + length, .row_number = 1 };
    mel_buffer_init(&header.scratch, MEL_CSV_ROW_CAP * 2);
    csv->names = mel_dict_new();
    if (csv->names == NULL)
        return mel_fail_memory(err, "column names");
    status = mel_csv_parse_header(csv->names, &header, csv->opt.delimiter, csv->opt.max_columns);
    if (status != MEL_OK && err != NULL)
        *err = header.err;
    mel_buffer_free(&header.scratch);
    csv->n_columns = csv->names->n;
    csv->begin += length;
    return status;
}

static mel_status apply_overrides(mel_csv *csv, mel_error *err)
{
    for (size_t i = 0; i < csv->opt.n_overrides; i++) {
        const mel_column_override *o = &csv->opt.overrides[i];
        const size_t n = strlen(o->name);
        const uint32_t j = mel_dict_find(csv->names, o->name, n, mel_dict_hash(o->name, n));
        if (j == MEL_MISSING)
            return mel_fail(err, MEL_EDATA, "there is no column %s", mel_show_text(o->name).text);
        csv->column[j].declared = o->type;
    }
    csv->opt.overrides = NULL; /* lent for the opening only */
    csv->opt.n_overrides = 0;
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
    chunk->row_number = row_number(csv, csv->rows_done + span->first_row);
    const size_t first = block_row + span->first_row;
    for (size_t j = 0; j < csv->n_columns; j++) {
        mel_csv_finding *f = &chunk->finding[j];
        const mel_csv_kind kind = csv->column[j].kind;
        const bool stored = table != NULL && kind != MEL_CSV_SKIP, text = kind == MEL_CSV_TEXT;
        if (f->fresh != NULL)
            mel_dict_reset(f->fresh);
        f->kind = kind;
        f->has_text = false;
        f->numbers = stored && !text ? table->column[j].numbers + first : NULL;
        f->codes = stored && text ? table->column[j].codes + first : NULL;
        f->known = csv->column[j].dict;
        f->huge_row = 0;
    }
    return true;
}

/* Columns start as numbers; those with a text in the first rows are text for good, so that the main
 * pass reads almost every file once. */
static mel_status guess_types(mel_csv *csv, mel_error *err)
{
    mel_status status = fill(csv, MEL_CSV_PIECE, err);
    if (status != MEL_OK)
        return status;
    const size_t n = csv->size - csv->begin < MEL_CSV_PIECE ? csv->size - csv->begin : MEL_CSV_PIECE;
    mel_csv_cut_rows(&csv->cut, csv->data + csv->begin, n, MEL_CSV_PIECE, SAMPLE_ROWS, 1);
    if (csv->cut.n_spans != 0) {
        if (!prepare_chunk(csv, 0, &csv->cut.span[0], csv->cut.n_rows, NULL, 0))
            return mel_fail_memory(err, "the columns of a table");
        const mel_csv_job job = { .delimiter = csv->opt.delimiter,
                                  .n_columns = csv->n_columns,
                                  .names = csv->names };
        mel_csv_parse(&csv->chunk[0], &job); /* what it refuses is refused again, with everything known */
        if (csv->chunk[0].status == MEL_ENOMEM)
            return mel_fail_memory(err, "the first rows of a table");
    }
    for (size_t j = 0; j < csv->n_columns; j++) {
        mel_csv_column *column = &csv->column[j];
        const bool found_text = csv->cut.n_spans != 0 && csv->chunk[0].finding[j].has_text;
        const bool text =
            column->declared == MEL_COLUMN_TEXT || (column->declared == MEL_COLUMN_AUTO && found_text);
        csv->column[j].kind = text                                    ? MEL_CSV_TEXT
                              : column->declared == MEL_COLUMN_NUMBER ? MEL_CSV_NUMBER_ONLY
                                                                      : MEL_CSV_NUMBER;
        if (text && (column->dict = mel_dict_new()) == NULL)
            return mel_fail_memory(err, "the categories of a column");
    }
    return MEL_OK;
}

mel_status mel_csv_open(mel_csv *csv, mel_source *source, const char *name, const mel_read_options *opt,
                        mel_error *err)
{
    *csv =
        (mel_csv){ .opt = *opt, .name = name, .source = source, .threads = mel_thread_count(opt->threads) };
    mel_status status = read_names(csv, err);
    if (status == MEL_OK)
        status = allocate(csv, err);
    if (status == MEL_OK)
        status = apply_overrides(csv, err);
    return status == MEL_OK ? guess_types(csv, err) : status;
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
    mel_dict_free(csv->names);
    mel_source_free(csv->source);
    *csv = (mel_csv){ 0 };
}

/* Empty lines at the end of what was cut may be the end of the file; they are set aside. In a table of
 * one column they are rows with a missing cell. */
static mel_status set_blank_lines_aside(mel_csv *csv, size_t *skip, mel_error *err)
{
    *skip = 0;
    mel_csv_cut *cut = &csv->cut;
    if (csv->n_columns == 1)
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
                        csv->n_columns);
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
    if (kind == MEL_CSV_SKIP)
        return true;
    const bool text = kind == MEL_CSV_TEXT;
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
    const double left = (double)mel_source_expected(csv->source) - bytes;
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
    const mel_csv_job job = { .delimiter = csv->opt.delimiter,
                              .n_columns = csv->n_columns,
                              .names = csv->names };
#pragma omp parallel for num_threads(csv->threads) schedule(dynamic, 1) if (n > 1 && csv->threads > 1)
    for (size_t i = 0; i < n; i++)
        mel_csv_parse(&csv->chunk[i], &job);
    for (size_t i = 0; i < n; i++)
        if (csv->chunk[i].status != MEL_OK) {
            if (err != NULL)
                *err = csv->chunk[i].err;
            return csv->chunk[i].status;
        }
    return MEL_OK;
}

static mel_status fail_changed(const mel_csv *csv, size_t j, mel_error *err)
{
    return mel_fail(err, MEL_EDATA, "column %s: the file changed while it was read",
                    mel_show_text(mel_dict_text(csv->names, j)).text);
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
                            mel_show_text(mel_dict_text(csv->names, j)).text, csv->opt.max_categories,
                            mel_show_text(mel_dict_text(fresh, k)).text);
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
            if (column->huge_row == 0 && f->huge_row != 0) {
                column->huge_row = f->huge_row;
                column->huge = f->huge;
            }
            const mel_status status = merge_fresh(csv, j, n_known, &csv->chunk[i], err);
            if (status != MEL_OK)
                return status;
        }
        if (column->has_text && csv->column[j].kind == MEL_CSV_NUMBER)
            csv->column[j].kind = MEL_CSV_SKIP;
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
               ? mel_report_progress(&csv->opt.progress, "reading", mel_source_share(csv->source), err)
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
    mel_status status = mel_source_rewind(csv->source, err);
    if (status != MEL_OK)
        return status;
    csv->begin = csv->size = csv->rows_done = csv->blank_row = 0;
    csv->bytes_done = 0;
    csv->at_end = false;
    size_t length;
    status = find_first_row(csv, &length, err);
    if (status == MEL_OK && !csv->opt.no_header)
        csv->begin += length;
    return status;
}

static mel_status refuse_huge(const mel_csv *csv, mel_error *err)
{
    for (size_t j = 0; j < csv->n_columns; j++) {
        const mel_csv_column *column = &csv->column[j];
        if (column->huge_row != 0 && !column->has_text)
            return mel_fail(err, MEL_EDATA,
                            "row %zu, column %s: %s is not a finite number; write NA for a missing value, or "
                            "declare the column as text",
                            column->huge_row, mel_show_text(mel_dict_text(csv->names, j)).text,
                            column->huge.text);
    }
    return MEL_OK;
}

/* Text columns that passed for numbers at first: only they are read again. */
static mel_status read_late_texts(mel_csv *csv, mel_table *table, mel_error *err)
{
    const size_t n_before = csv->rows_done;
    for (size_t j = 0; j < csv->n_columns; j++) {
        const bool late = csv->column[j].has_text && csv->column[j].dict == NULL;
        csv->column[j].kind = late ? MEL_CSV_TEXT : MEL_CSV_SKIP;
        if (!late)
            continue;
        if ((csv->column[j].dict = mel_dict_new()) == NULL)
            return mel_fail_memory(err, "the categories of a column");
        if (table != NULL) {
            free(table->column[j].numbers);
            table->column[j].numbers = NULL;
        }
    }
    mel_status status = mel_csv_again(csv, err);
    size_t n_rows = 0;
    if (status == MEL_OK)
        status = mel_csv_rows(csv, table, SIZE_MAX, &n_rows, err);
    if (status == MEL_OK && n_rows != n_before)
        status = mel_fail(err, MEL_EDATA, "the file changed while it was read: %zu rows, then %zu", n_before,
                          n_rows);
    return status;
}

mel_status mel_csv_settle(mel_csv *csv, mel_table *table, mel_error *err)
{
    if (csv->rows_done == 0)
        return mel_fail(err, MEL_EDATA, "no rows%s", csv->opt.no_header ? "" : " after the header");
    mel_status status = refuse_huge(csv, err);
    bool late = false;
    for (size_t j = 0; j < csv->n_columns; j++)
        late |= csv->column[j].has_text && csv->column[j].dict == NULL;
    if (status == MEL_OK && late)
        status = read_late_texts(csv, table, err);
    if (status != MEL_OK)
        return status;
    for (size_t j = 0; j < csv->n_columns; j++)
        csv->column[j].kind = csv->column[j].dict != NULL ? MEL_CSV_TEXT : MEL_CSV_NUMBER_ONLY;
    csv->frozen = true;
    return MEL_OK;
}

mel_table *mel_csv_new_table(const mel_csv *csv)
{
    mel_table *table = mel_table_new(csv->name, csv->names, csv->n_columns);
    if (table != NULL)
        table->first_row = row_number(csv, csv->rows_done);
    return table;
}

void mel_csv_finish_table(const mel_csv *csv, mel_table *table)
{
    for (size_t j = 0; j < csv->n_columns; j++) {
        mel_dict *dict = csv->column[j].dict;
        table->column[j].type = dict != NULL ? MEL_COLUMN_TEXT : MEL_COLUMN_NUMBER;
        table->column[j].dict = dict != NULL ? mel_dict_share(dict) : NULL;
    }
}
