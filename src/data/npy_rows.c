/* The rows of a pattern of NPY files, block by block. */
#include "data/npy_rows.h"

#include "base/team.h"
#include "data/npy_header.h"
#include "data/quote.h"
#include "data/shard_files.h"
#include "data/table_reader.h"

#include <stdlib.h>
#include <string.h>

/* Whether a file can be read in blocks, and has the rows and columns that are wanted. */
static bool is_plain(const char *file, size_t rows, size_t columns, const mel_read_options *opt)
{
    mel_source *source = NULL;
    mel_npy_header h;
    mel_error unused;
    if (mel_source_open(&source, file, opt->max_bytes, &unused) != MEL_OK)
        return false;
    mel_format format = MEL_FORMAT_AUTO;
    const bool plain = mel_find_format(&format, source, file, opt, &unused) == MEL_OK &&
                       format == MEL_FORMAT_NPY && mel_npy_plain(&h, source, opt) && h.matrix == 0 &&
                       h.rows == rows && h.columns == columns;
    mel_source_free(source);
    return plain;
}

static bool all_plain(const mel_matches *files, size_t columns, const mel_read_options *opt)
{
    const mel_shards *s = opt->shards;
    bool plain = s != NULL && s->n == files->n && opt->n_overrides == 0 && s->start[s->n] <= opt->max_rows &&
                 (opt->max_cells == 0 || s->start[s->n] <= opt->max_cells / columns);
    for (size_t i = 0; i < files->n && plain; i++)
        plain = strcmp(files->file[i].key, s->key[i]) == 0 &&
                is_plain(files->file[i].name, s->start[i + 1] - s->start[i], columns, opt);
    return plain;
}

/* Rows from `first` on, `rows` of them at most; bytes: room for these. */
static mel_status take_block(const mel_row_taker *taker, mel_source *source, const mel_npy_header *h,
                             const char *pattern, size_t first, size_t rows, size_t before, char *bytes,
                             const mel_read_options *opt, mel_error *err)
{
    const size_t n = rows * h->columns * h->width;
    size_t got = 0;
    mel_table *block = NULL;
    mel_npy_header part = *h;
    part.rows = rows;
    mel_status status = mel_source_read(source, bytes, n, &got, err);
    if (status == MEL_OK && got < n)
        status = mel_fail(err, MEL_EDATA, "the file changed while it was read: it ends in row %zu",
                          first + got / (h->columns * h->width) + 1);
    if (status == MEL_OK)
        status = mel_npy_block(&block, &part, bytes, pattern, first, opt, err);
    if (status != MEL_OK)
        return status;
    block->first_row = before + first + 1;
    block->format = MEL_FORMAT_NPY;
    status = taker->take(taker->user, block, err);
    mel_table_free(block);
    return status;
}

/* before: rows of the files before. */
static mel_status take_file(const mel_row_taker *taker, const char *pattern, const char *file, size_t before,
                            const mel_read_options *opt, mel_error *err)
{
    mel_source *source = NULL;
    mel_npy_header h = { 0 };
    size_t got = 0;
    char skipped[MEL_NPY_HEADER_BYTES], *bytes = NULL;
    mel_status status = mel_source_open(&source, file, opt->max_bytes, err);
    if (status == MEL_OK && !mel_npy_plain(&h, source, opt))
        status = mel_fail(err, MEL_EDATA, "the file changed while it was read");
    if (status == MEL_OK)
        status = mel_source_rewind(source, err);
    if (status == MEL_OK)
        status = mel_source_read(source, skipped, h.offset, &got, err);
    const size_t row = h.columns * (h.width > sizeof(double) ? h.width : sizeof(double)),
                 most = row > 0 && taker->block_bytes > row ? taker->block_bytes / row : 1;
    if (status == MEL_OK && (bytes = mel_alloc(most, h.columns * h.width)) == NULL)
        status = mel_fail_memory(err, "a block of rows");
    for (size_t first = 0; first < h.rows && status == MEL_OK; first += most)
        status = take_block(taker, source, &h, pattern, first, h.rows - first < most ? h.rows - first : most,
                            before, bytes, opt, err);
    free(bytes);
    mel_source_free(source);
    return status;
}

static mel_status take_files(const mel_row_taker *taker, const char *pattern, const mel_matches *files,
                             const mel_read_options *opt, mel_error *err)
{
    const mel_team *team = mel_team_get();
    const mel_shards *s = opt->shards;
    mel_status status = MEL_OK;
    for (size_t i = 0; i < files->n && status == MEL_OK; i++)
        if (s->here == NULL || i % team->size == team->rank) {
            status = take_file(taker, pattern, files->file[i].name, s->start[i], opt, err);
            if (status == MEL_EDATA && strstr(err->text, pattern) == NULL)
                status = mel_fail_in(err, status, "%s", mel_quote_file(files->file[i].name).text);
        }
    mel_notes notes = { 0 };
    if (status == MEL_OK)
        status = mel_describe_files(&notes, files->n, s->start[s->n], taker->n_columns, err);
    if (status == MEL_OK)
        mel_notes_say(&notes, pattern, MEL_FORMAT_NPY, &opt->notice);
    mel_notes_clear(&notes);
    return status;
}

mel_status mel_read_pattern_rows(bool *taken, const char *pattern, const mel_read_options *opt,
                                 const mel_row_taker *taker, mel_error *err)
{
    mel_matches files;
    mel_status status = mel_pattern_find(&files, pattern, err);
    if (status != MEL_OK)
        return status;
    *taken = all_plain(&files, taker->n_columns, opt);
    if (*taken)
        status = take_files(taker, pattern, &files, opt, err);
    mel_matches_clear(&files);
    return status;
}
