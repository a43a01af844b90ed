/* The options that say how a file is read. */
#include "dataset.h"
#include "files.h"
#include "output.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const char *const formats[] = { "auto", "csv", "npy", "libsvm",
                                       NULL }; /* in the order of mel_format */

const cli_option cli_reading_options[] = {
    { .name = "format",
      .kind = CLI_CHOICE,
      .at = offsetof(cli_reading, format),
      .choices = formats,
      .help =
          "what the file is; auto goes by its name (.csv, .csv.gz, .npy, .svm, .libsvm), then by content" },
    { .name = "delimiter",
      .argument = "C",
      .kind = CLI_TEXT,
      .at = offsetof(cli_reading, delimiter),
      .help = "character between the cells of a CSV file; \"tab\" for a tab" },
    { .name = "no-header",
      .kind = CLI_FLAG,
      .at = offsetof(cli_reading, no_header),
      .help = "the first line of a CSV file is data; the columns are called c1, c2, ..." },
    { .name = "column",
      .argument = "NAME:TYPE",
      .kind = CLI_LIST,
      .at = offsetof(cli_reading, columns),
      .help = "read a column as \"number\" or as \"text\" (categories), whatever it looks like" },
    { .name = "max-rows",
      .argument = "N",
      .kind = CLI_WHOLE,
      .at = offsetof(cli_reading, max_rows),
      .low = 1,
      .high = 1e12,
      .help = "refuse a file with more rows (100 million unless given)" },
    { .name = "max-columns",
      .argument = "N",
      .kind = CLI_WHOLE,
      .at = offsetof(cli_reading, max_columns),
      .low = 1,
      .high = 1e9,
      .help = "refuse a file with more columns (100,000 unless given)" },
    { .name = "max-bytes",
      .argument = "N",
      .kind = CLI_WHOLE,
      .at = offsetof(cli_reading, max_bytes),
      .low = 1,
      .high = 1e15,
      .help = "refuse a file with more bytes after unpacking (8 GiB unless given)" },
    { .name = "max-categories",
      .argument = "N",
      .kind = CLI_WHOLE,
      .at = offsetof(cli_reading, max_categories),
      .low = 1,
      .high = 4e9,
      .help = "refuse a column with more different texts (1 million unless given)" },
    { 0 }
};

static mel_status set_delimiter(char *delimiter, const char *text, mel_error *err)
{
    if (text == NULL)
        return MEL_OK;
    const char c = strcmp(text, "tab") == 0 || strcmp(text, "\\t") == 0 ? '\t' : text[0];
    if ((text[1] != '\0' && c != '\t') || strchr("\"\r\n", c) != NULL || (unsigned char)c >= 0x80)
        return cli_fail(err, MEL_EINVAL, "--delimiter %s: one character other than a quote is wanted", text);
    *delimiter = c;
    return MEL_OK;
}

static void add_override(cli_reader *reader, char *name, mel_column_type type)
{
    const size_t n = reader->options.n_overrides++;
    reader->names = cli_regrow(reader->names, n + 1, sizeof *reader->names);
    reader->overrides = cli_regrow(reader->overrides, n + 1, sizeof *reader->overrides);
    reader->names[n] = name;
    reader->overrides[n] = (mel_column_override){ .name = name, .type = type };
    reader->options.overrides = reader->overrides;
}

/* "zip:text" */
static mel_status parse_override(cli_reader *reader, const char *text, mel_error *err)
{
    const char *colon = strrchr(text, ':');
    const char *type = colon != NULL ? colon + 1 : "";
    const bool number = strcmp(type, "number") == 0;
    if (colon == text || (!number && strcmp(type, "text") != 0))
        return cli_fail(err, MEL_EINVAL, "--column %s: NAME:number or NAME:text is wanted", text);
    add_override(reader, cli_format("%.*s", (int)(colon - text), text),
                 number ? MEL_COLUMN_NUMBER : MEL_COLUMN_TEXT);
    return MEL_OK;
}

static void set_limits(mel_read_options *options, const cli_reading *reading)
{
    options->max_rows = reading->max_rows != 0 ? reading->max_rows : options->max_rows;
    options->max_columns = reading->max_columns != 0 ? reading->max_columns : options->max_columns;
    options->max_bytes = reading->max_bytes != 0 ? reading->max_bytes : options->max_bytes;
    options->max_categories =
        reading->max_categories != 0 ? reading->max_categories : options->max_categories;
}

mel_status cli_reader_init(cli_reader *out, const cli_reading *reading, const cli_run *run, mel_error *err)
{
    *out = (cli_reader){ 0 };
    mel_read_options_init(&out->options);
    out->options.format = (mel_format)reading->format;
    out->options.no_header = reading->no_header;
    out->options.threads = run->threads;
    out->options.progress = run->progress;
    set_limits(&out->options, reading);
    mel_status status = set_delimiter(&out->options.delimiter, reading->delimiter, err);
    for (size_t i = 0; status == MEL_OK && i < reading->columns.n; i++)
        status = parse_override(out, reading->columns.item[i], err);
    if (status != MEL_OK)
        cli_reader_clear(out);
    return status;
}

/* Has the file columns of numbers only, by its name or by --format? */
static bool is_numbers_only(const char *path, mel_format format)
{
    static const char *const endings[] = { ".npy", ".npy.gz", ".svm", ".svm.gz", ".libsvm", ".libsvm.gz" };
    for (size_t i = 0; format == MEL_FORMAT_AUTO && i < sizeof endings / sizeof *endings; i++)
        if (cli_ends_with(path, endings[i]))
            return true;
    return format == MEL_FORMAT_NPY || format == MEL_FORMAT_LIBSVM;
}

void cli_reader_expect(cli_reader *reader, const mel_encoder *encoder, const char *path)
{
    if (is_numbers_only(path, reader->options.format))
        return;
    for (size_t i = 0; i < mel_encoder_columns(encoder); i++)
        if (mel_encoder_column_type(encoder, i) == MEL_COLUMN_TEXT)
            add_override(reader, cli_format("%s", mel_encoder_column_name(encoder, i)), MEL_COLUMN_TEXT);
}

void cli_reader_clear(cli_reader *reader)
{
    for (size_t i = 0; i < reader->options.n_overrides; i++)
        free(reader->names[i]);
    free(reader->names);
    free(reader->overrides);
    *reader = (cli_reader){ 0 };
}

bool cli_is_csv_file(const char *path, int format)
{
    const bool by_name = cli_ends_with(path, ".csv") || cli_ends_with(path, ".csv.gz");
    return strcmp(path, "-") != 0 && (format == MEL_FORMAT_AUTO ? by_name : format == MEL_FORMAT_CSV);
}

static const char *column_name(const void *user, size_t i)
{
    const mel_table *table = user;
    return i < mel_table_columns(table) ? mel_table_column_name(table, i) : NULL;
}

mel_status cli_find_column(size_t *column, const mel_table *table, const char *name, const char *option,
                           mel_error *err)
{
    *column = mel_table_find(table, name);
    if (*column != SIZE_MAX)
        return MEL_OK;
    const char *near = cli_nearest(name, column_name, table);
    if (near != NULL)
        return cli_fail(err, MEL_EDATA, "%s: no column \"%s\" (%s); did you mean \"%s\"?",
                        mel_table_name(table), name, option, near);
    char list[200] = "";
    size_t i = 0;
    for (; i < mel_table_columns(table); i++) {
        const size_t used = strlen(list);
        const char *next = mel_table_column_name(table, i);
        if (used + strlen(next) + 8 > sizeof list)
            break;
        (void)snprintf(list + used, sizeof list - used, "%s%s", i != 0 ? ", " : "", next);
    }
    return cli_fail(err, MEL_EDATA, "%s: no column \"%s\" (%s); there are %s%s", mel_table_name(table), name,
                    option, list, i < mel_table_columns(table) ? ", ..." : "");
}
