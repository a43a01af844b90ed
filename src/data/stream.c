/* Tables that do not fit in memory, block by block. */
#include "data/csv.h"
#include "data/shared.h"
#include "data/table_reader.h"

#include <stdlib.h>
#include <string.h>

struct mel_stream {
    char *path;
    mel_csv csv;
    size_t n_rows;
};

static mel_status name_file(const mel_stream *stream, mel_status status, mel_error *err)
{
    return status == MEL_OK ? MEL_OK : mel_fail_in(err, status, "%s", mel_quote_file(stream->path).text);
}

/* Everything that can be wrong with the file is found here, so that blocks come without surprises. */
static mel_status first_pass(mel_stream *stream, const mel_read_options *opt, mel_error *err)
{
    mel_source *source;
    mel_format format;
    mel_status status = mel_source_open(&source, stream->path, opt->max_bytes, err);
    if (status != MEL_OK)
        return status;
    status = mel_find_format(&format, source, stream->path, opt, err);
    if (status == MEL_OK && format != MEL_FORMAT_CSV)
        status = mel_fail(err, MEL_EINVAL, "only CSV files can be streamed");
    if (status != MEL_OK)
        mel_source_free(source);
    if (status == MEL_OK)
        status = mel_csv_load(&stream->csv, NULL, source, stream->path, opt, err);
    stream->n_rows = stream->csv.rows_done;
    return status == MEL_OK ? mel_csv_again(&stream->csv, err) : status;
}

mel_status mel_stream_open(mel_stream **out, const char *path, const mel_read_options *opt, mel_error *err)
{
    *out = NULL;
    mel_read_options options;
    mel_status status = mel_read_options_take(&options, opt, err);
    if (status != MEL_OK)
        return status;
    if (strcmp(path, "-") == 0)
        return mel_fail(err, MEL_EINVAL, "standard input cannot be read twice, as a stream is");
    const mel_format format = options.format != MEL_FORMAT_AUTO ? options.format : mel_format_of_name(path);
    if (format != MEL_FORMAT_AUTO && format != MEL_FORMAT_CSV)
        return mel_fail(err, MEL_EINVAL, "%s: only CSV files can be streamed", mel_quote_file(path).text);
    mel_stream *stream = mel_alloc_zero(1, sizeof *stream);
    if (stream == NULL || (stream->path = mel_strdup(path)) == NULL) {
        mel_stream_free(stream);
        return mel_fail_memory(err, "a stream");
    }
    status = name_file(stream, first_pass(stream, &options, err), err);
    if (status != MEL_OK) {
        mel_stream_free(stream);
        return status;
    }
    mel_notes_say(&stream->csv.notes, path, MEL_FORMAT_CSV, &options.notice);
    *out = stream;
    return MEL_OK;
}

void mel_stream_free(mel_stream *stream)
{
    if (stream == NULL)
        return;
    mel_csv_close(&stream->csv);
    free(stream->path);
    free(stream);
}

size_t mel_stream_rows(const mel_stream *stream)
{
    return stream->n_rows;
}

static mel_status next_block(mel_table *block, mel_stream *stream, size_t max_rows, mel_error *err)
{
    mel_csv *csv = &stream->csv;
    const size_t left = stream->n_rows - csv->rows_done;
    size_t n_rows;
    const mel_status status = mel_csv_rows(csv, block, max_rows < left ? max_rows : left, &n_rows, err);
    if (status == MEL_OK && n_rows < max_rows && n_rows < left)
        return mel_fail(err, MEL_EDATA, "the file changed while it was read: %zu rows, then %zu",
                        stream->n_rows, csv->rows_done);
    return status;
}

mel_status mel_stream_next(mel_table **out, mel_stream *stream, size_t max_rows, mel_error *err)
{
    *out = NULL;
    if (max_rows == 0)
        return mel_fail(err, MEL_EINVAL, "blocks of no rows");
    if (stream->csv.rows_done == stream->n_rows)
        return MEL_OK;
    mel_table *block = mel_csv_new_table(&stream->csv);
    if (block == NULL)
        return mel_fail_memory(err, "a block of rows");
    mel_status status = next_block(block, stream, max_rows, err);
    if (status == MEL_OK)
        status = mel_csv_finish_table(&stream->csv, block, err);
    if (status != MEL_OK) {
        status = name_file(stream, status, err);
        mel_table_free(block);
        return status;
    }
    *out = block;
    return MEL_OK;
}

mel_status mel_stream_rewind(mel_stream *stream, mel_error *err)
{
    return name_file(stream, mel_csv_again(&stream->csv, err), err);
}
