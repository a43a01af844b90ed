/* Rows of the window into the columns of a table: cut, parsed in parallel, joined in the order of the file.
 */
#include "data/csv_parts.h"

#include <stdlib.h>
#include <string.h>

enum { SAMPLE_ROWS = MEL_SAMPLE_ROWS - 1, FEWEST_BYTES = 1 << 12 };

static bool is_number_kind(mel_csv_kind kind)
{
    return kind == MEL_CSV_NUMBER || kind == MEL_CSV_STYLED;
}

static mel_csv_job job_of(const mel_csv *csv)
{
    return (mel_csv_job){ .delimiter = csv->delimiter,
                          .decimal = csv->decimal,
                          .n_columns = csv->n_columns,
                          .names_rows = mel_csv_names_rows(csv),
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
    chunk->row_number = mel_csv_row_number(csv, csv->rows_done + span->first_row);
    const size_t first = block_row + span->first_row;
    chunk->row_name = table != NULL && table->row_name != NULL ? table->row_name + first : NULL;
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
        f->quoted_numbers = 0;
        f->widths = (mel_digit_widths){ 0 };
        f->declared = csv->column[j].declared == MEL_COLUMN_TEXT;
        f->numbers = stored && !text ? table->column[j].numbers + first : NULL;
        f->codes = stored && text ? table->column[j].codes + first : NULL;
        f->known = csv->column[j].dict;
        f->huge_row = 0;
    }
    return true;
}

/* Counts the cells of the first rows. */
mel_status mel_csv_tally_sample(mel_csv *csv, mel_error *err)
{
    mel_status status = mel_csv_fill(csv, MEL_CSV_PIECE, err);
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

/* Empty lines at the end of what was cut may be the end of the file; they are set aside. In a table of
 * one column they are rows with a missing cell. */
static mel_status set_blank_lines_aside(mel_csv *csv, size_t *skip, mel_error *err)
{
    *skip = 0;
    mel_csv_cut *cut = &csv->cut;
    const size_t due = csv->n_columns + mel_csv_names_rows(csv) + csv->dialect.open_end;
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
        return mel_fail(err, MEL_EDATA, "row %zu: the line is empty; expected %zu cells", csv->blank_row,
                        due);
    *skip = cut_before - cut->cut;
    if (*skip != 0 && csv->blank_row == 0)
        csv->blank_row = mel_csv_row_number(csv, csv->rows_done + cut->n_rows);
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
        const mel_status status = mel_csv_fill(csv, view, err);
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
            return mel_csv_fail_long_row(mel_csv_row_number(csv, csv->rows_done), err);
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
    void *names = table->row_name;
    const bool named = mel_csv_names_rows(csv) && csv->opt.shards != NULL;
    if (named && !mel_grow(&names, n, sizeof *table->row_name))
        return mel_fail_memory(err, "the names of rows");
    table->row_name = names;
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
    for (uint32_t k = 0; k < fresh->n && dict != NULL; k++) {
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
            column->quoted_numbers += f->quoted_numbers;
            mel_widths_merge(&column->widths, &f->widths);
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
