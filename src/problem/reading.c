/* How files are read: the spelled options become those of the readers. */
#include "problem/names.h"
#include "problem/shared.h"

#include <stdlib.h>
#include <string.h>

/* In the order of mel_header; "auto" comes first. */
const char *const mel_headers[] = { "auto", "yes", "no", NULL };
const char *const mel_decimals[] = { "auto", ".", ",", NULL };
const char *const mel_encodings[] = { "auto", "utf-8", "utf-16", "latin-1", "windows-1252", NULL };

static mel_status set_delimiter(char *delimiter, const char *text, mel_error *err)
{
    static const struct {
        const char *word;
        char delimiter;
    } words[] = { { "auto", 0 }, { "tab", '\t' }, { "\\t", '\t' }, { "space", ' ' } };
    if (text == NULL)
        return MEL_OK;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].word, text) == 0) {
            *delimiter = words[i].delimiter;
            return MEL_OK;
        }
    if (text[0] == '\0' || text[1] != '\0' || strchr("\"\r\n", text[0]) != NULL ||
        (unsigned char)text[0] >= 0x80)
        return mel_fail(err, MEL_EINVAL,
                        "--delimiter %s: expected one character other than a quote, \"tab\", \"space\" or "
                        "\"auto\"",
                        text);
    *delimiter = text[0];
    return MEL_OK;
}

/* The name is the first `length` bytes of a text. */
static mel_status add_override(mel_reader *reader, const char *text, size_t length, mel_column_type type,
                               mel_error *err)
{
    const size_t n = reader->options.n_overrides;
    void *overrides = reader->overrides;
    char *name = mel_grow(&overrides, n + 1, sizeof *reader->overrides) ? mel_strdup(text) : NULL;
    reader->options.overrides = reader->overrides = overrides;
    if (name == NULL)
        return mel_fail_memory(err, "types of columns");
    name[length] = '\0';
    reader->overrides[n] = (mel_column_override){ .name = name, .type = type };
    reader->options.n_overrides++;
    return MEL_OK;
}

mel_status mel_reader_expect(mel_reader *reader, const char *column, mel_column_type type, mel_error *err)
{
    return add_override(reader, column, strlen(column), type, err);
}

/* "zip:text" */
static mel_status parse_override(mel_reader *reader, const char *text, mel_error *err)
{
    const char *colon = strrchr(text, ':');
    const char *type = colon != NULL ? colon + 1 : "";
    const bool number = strcmp(type, "number") == 0;
    if (colon == text || (!number && strcmp(type, "text") != 0))
        return mel_fail(err, MEL_EINVAL, "--column %s: expected NAME:number or NAME:text", text);
    return add_override(reader, text, (size_t)(colon - text), number ? MEL_COLUMN_NUMBER : MEL_COLUMN_TEXT,
                        err);
}

static void set_limits(mel_read_options *options, const mel_reading *reading)
{
    options->max_rows = reading->max_rows != 0 ? reading->max_rows : options->max_rows;
    options->max_columns = reading->max_columns != 0 ? reading->max_columns : options->max_columns;
    options->max_bytes = reading->max_bytes != 0 ? reading->max_bytes : options->max_bytes;
    options->max_categories =
        reading->max_categories != 0 ? reading->max_categories : options->max_categories;
}

mel_status mel_reader_init(mel_reader *out, const mel_reading *reading, const mel_resources *resources,
                           mel_error *err)
{
    *out = (mel_reader){ 0 };
    mel_read_options_init(&out->options);
    out->options.format = (mel_format)reading->format;
    out->options.decimal = reading->decimal == 0 ? 0 : mel_decimals[reading->decimal][0];
    out->options.header = (mel_header)reading->header;
    out->options.encoding = mel_encodings[reading->encoding];
    out->options.member = reading->member;
    out->options.strict = reading->strict;
    out->options.zero_based = reading->zero_based;
    out->options.threads = resources->threads;
    out->options.progress = resources->progress;
    out->options.max_cells = resources->max_cells;
    out->options.notice = resources->notice;
    set_limits(&out->options, reading);
    mel_status status = set_delimiter(&out->options.delimiter, reading->delimiter, err);
    for (size_t i = 0; status == MEL_OK && i < reading->columns.n; i++)
        status = parse_override(out, reading->columns.item[i], err);
    if (status != MEL_OK)
        mel_reader_clear(out);
    return status;
}

mel_status mel_reader_share(mel_reader *reader, mel_error *err)
{
    reader->found = mel_alloc_zero(reader->options.n_overrides + 1, sizeof *reader->found);
    reader->options.overrides_found = reader->found;
    reader->options.shards = &reader->shards;
    return reader->found != NULL ? MEL_OK : mel_fail_memory(err, "types of columns");
}

/* Every option that not all formats read, and the format that does. */
static mel_status check_formats(const mel_reading *reading, unsigned were_read, mel_error *err)
{
    const struct {
        const char *option;
        bool given;
        mel_format format;
    } table[] = { { "delimiter", reading->delimiter != NULL, MEL_FORMAT_CSV },
                  { "decimal", reading->decimal != 0, MEL_FORMAT_CSV },
                  { "header", reading->header != 0, MEL_FORMAT_CSV },
                  { "encoding", reading->encoding != 0, MEL_FORMAT_CSV },
                  { "column", reading->columns.n > 0, MEL_FORMAT_CSV },
                  { "zero-based", reading->zero_based, MEL_FORMAT_LIBSVM },
                  { "member", reading->member != NULL, MEL_FORMAT_NPZ } };
    static const char *const called[] = {
        [MEL_FORMAT_CSV] = "CSV", [MEL_FORMAT_LIBSVM] = "LIBSVM", [MEL_FORMAT_NPZ] = "NPZ"
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].given && (were_read & 1U << table[i].format) == 0)
            return mel_fail(err, MEL_EINVAL, "--%s is for %s files, and none was read", table[i].option,
                            called[table[i].format]);
    return MEL_OK;
}

mel_status mel_reader_check(const mel_reader *reader, const mel_reading *reading,
                            const mel_resources *resources, mel_error *err)
{
    if (resources->formats == NULL || reading->more_files)
        return MEL_OK;
    const unsigned formats = *resources->formats;
    for (size_t i = 0; i < reading->columns.n && reader->found != NULL; i++)
        if (!reader->found[i] && (formats & 1U << MEL_FORMAT_CSV) != 0)
            return mel_fail(err, MEL_EINVAL, "--column %s: none of the CSV files has such a column",
                            reading->columns.item[i]);
    return check_formats(reading, formats, err);
}

void mel_reader_clear(mel_reader *reader)
{
    for (size_t i = 0; i < reader->options.n_overrides; i++)
        free((char *)(uintptr_t)reader->overrides[i].name);
    free(reader->overrides);
    free(reader->found);
    mel_shards_clear(&reader->shards);
    *reader = (mel_reader){ 0 };
}
