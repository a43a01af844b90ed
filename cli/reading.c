/* The options that say how a file is read. */
#include "dataset.h"
#include "files.h"
#include "output.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* In the order of mel_format and mel_header. */
static const char *const formats[] = { "auto", "csv", "npy", "libsvm", "npz", NULL };
static const char *const headers[] = { "auto", "yes", "no", NULL };
static const char *const decimals[] = { "auto", ".", ",", NULL };
static const char *const encodings[] = { "auto", "utf-8", "utf-16", "latin-1", "windows-1252", NULL };

const cli_option cli_reading_options[] = {
    { .name = "format",
      .kind = CLI_CHOICE,
      .at = offsetof(cli_reading, format),
      .choices = formats,
      .help = "what the file is; auto goes by its name (.csv, .csv.gz, .npy, .npz, .svm, .libsvm), then by "
              "content" },
    { .name = "delimiter",
      .argument = "C",
      .kind = CLI_TEXT,
      .at = offsetof(cli_reading, delimiter),
      .help = "what separates the cells of a CSV file: a character, \"tab\", \"space\" for any number of "
              "blanks, or \"auto\", which is also what happens unless it is given" },
    { .name = "decimal",
      .kind = CLI_CHOICE,
      .at = offsetof(cli_reading, decimal),
      .choices = decimals,
      .help = "what comes before the decimals of a number in a CSV file" },
    { .name = "header",
      .kind = CLI_CHOICE,
      .at = offsetof(cli_reading, header),
      .choices = headers,
      .help =
          "whether the first row of a CSV file holds the names of the columns; auto: no, if it has a number "
          "where the column below has numbers. Without a header the columns are called c1, c2, ..." },
    { .name = "encoding",
      .kind = CLI_CHOICE,
      .at = offsetof(cli_reading, encoding),
      .choices = encodings,
      .help =
          "how the text of a CSV file is stored; auto: UTF-16 by its first bytes, UTF-8 where it is valid, "
          "else Windows-1252" },
    { .name = "zero-based",
      .kind = CLI_FLAG,
      .at = offsetof(cli_reading, zero_based),
      .help = "the indices of a LIBSVM file start at 0" },
    { .name = "member",
      .argument = "NAME",
      .kind = CLI_TEXT,
      .at = offsetof(cli_reading, member),
      .help = "the array to take from an NPZ file that holds several" },
    { .name = "strict",
      .kind = CLI_FLAG,
      .at = offsetof(cli_reading, strict),
      .help = "refuse a file about which there would be a warning" },
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
        return cli_fail(err, MEL_EINVAL,
                        "--delimiter %s: expected one character other than a quote, \"tab\", \"space\" or "
                        "\"auto\"",
                        text);
    *delimiter = text[0];
    return MEL_OK;
}

/* How files were read is said with --verbose; what may not be meant is a warning. */
static void say_notice(void *user, const char *file, mel_format format, const char *sentence, bool is_warning)
{
    const cli_run *run = user;
    const char *name = strcmp(file, "-") == 0 ? "standard input" : file;
    if (run->formats != NULL)
        *run->formats |= 1U << format;
    if (is_warning)
        cli_warn(run, "%s: %s", name, sentence);
    else if (run->verbose)
        cli_tell_read(run, name, sentence);
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
        return cli_fail(err, MEL_EINVAL, "--column %s: expected NAME:number or NAME:text", text);
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
    out->options.decimal = reading->decimal == 0 ? 0 : decimals[reading->decimal][0];
    out->options.header = (mel_header)reading->header;
    out->options.encoding = encodings[reading->encoding];
    out->options.member = reading->member;
    out->options.strict = reading->strict;
    out->options.zero_based = reading->zero_based;
    out->options.threads = run->threads;
    out->options.progress = run->progress;
    out->options.notice = (mel_notice){ .call = say_notice, .user = (void *)(uintptr_t)run };
    set_limits(&out->options, reading);
    mel_status status = set_delimiter(&out->options.delimiter, reading->delimiter, err);
    for (size_t i = 0; status == MEL_OK && i < reading->columns.n; i++)
        status = parse_override(out, reading->columns.item[i], err);
    if (status != MEL_OK)
        cli_reader_clear(out);
    return status;
}

void cli_reader_share(cli_reader *reader)
{
    reader->found = cli_alloc_zero(reader->options.n_overrides + 1, sizeof *reader->found);
    reader->options.overrides_found = reader->found;
}

/* Every option that not all formats read, and the format that does. */
static mel_status check_formats(const cli_reading *reading, unsigned were_read, mel_error *err)
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
            return cli_fail(err, MEL_EINVAL, "--%s is for %s files, and none was read", table[i].option,
                            called[table[i].format]);
    return MEL_OK;
}

mel_status cli_reader_check(const cli_reader *reader, const cli_reading *reading, const cli_run *run,
                            mel_error *err)
{
    if (run->formats == NULL || reading->more_files)
        return MEL_OK;
    for (size_t i = 0; i < reading->columns.n && reader->found != NULL; i++)
        if (!reader->found[i] && (*run->formats & 1U << MEL_FORMAT_CSV) != 0)
            return cli_fail(err, MEL_EINVAL, "--column %s: none of the CSV files has such a column",
                            reading->columns.item[i]);
    return check_formats(reading, *run->formats, err);
}

/* Has the file columns of numbers only, by its name or by --format? */
static bool is_numbers_only(const char *path, mel_format format)
{
    static const char *const endings[] = { ".npy",    ".npy.gz", ".npz",       ".npz.gz",   ".svm",
                                           ".svm.gz", ".libsvm", ".libsvm.gz", ".svmlight", ".svmlight.gz" };
    for (size_t i = 0; format == MEL_FORMAT_AUTO && i < sizeof endings / sizeof *endings; i++)
        if (cli_ends_with(path, endings[i]))
            return true;
    return format != MEL_FORMAT_AUTO && format != MEL_FORMAT_CSV;
}

void cli_reader_expect(cli_reader *reader, const mel_encoder *encoder, const char *path)
{
    if (is_numbers_only(path, reader->options.format))
        return;
    for (size_t i = 0; i < mel_encoder_columns(encoder); i++)
        if (mel_encoder_column_type(encoder, i) == MEL_COLUMN_TEXT)
            add_override(reader, cli_format("%s", mel_encoder_column_name(encoder, i)), MEL_COLUMN_TEXT);
}

static const struct {
    const char *key;
    const char *const *choices;
    size_t at;
} described[] = { { "decimal", decimals, offsetof(cli_reading, decimal) },
                  { "header", headers, offsetof(cli_reading, header) },
                  { "encoding", encodings, offsetof(cli_reading, encoding) } };

static int *choice_at(const cli_reading *reading, size_t i)
{
    return (int *)(void *)((char *)(uintptr_t)reading + described[i].at);
}

void cli_reading_describe(json_t *object, const cli_reading *reading)
{
    if (reading->delimiter != NULL)
        cli_put(object, "delimiter", cli_json_text(reading->delimiter));
    for (size_t i = 0; i < sizeof described / sizeof *described; i++)
        if (*choice_at(reading, i) != 0)
            cli_put(object, described[i].key, cli_json_text(described[i].choices[*choice_at(reading, i)]));
    if (reading->member != NULL)
        cli_put(object, "member", cli_json_text(reading->member));
    if (reading->zero_based)
        cli_put(object, "zero_based", json_true());
}

mel_status cli_reading_restore(cli_reading *reading, const json_t *object, mel_error *err)
{
    if (json_object_get(object, "no_header") != NULL)
        return cli_fail(err, MEL_EDATA,
                        "the session was started with --no-header, which became --header no; start it anew, "
                        "or put \"header\": \"no\" in its first line in place of \"no_header\"");
    reading->delimiter = json_string_value(json_object_get(object, "delimiter"));
    reading->member = json_string_value(json_object_get(object, "member"));
    reading->zero_based = json_is_true(json_object_get(object, "zero_based"));
    for (size_t i = 0; i < sizeof described / sizeof *described; i++) {
        const char *text = json_string_value(json_object_get(object, described[i].key));
        int choice = 0;
        while (text != NULL && described[i].choices[choice] != NULL &&
               strcmp(described[i].choices[choice], text) != 0)
            choice++;
        if (described[i].choices[choice] == NULL)
            return cli_fail(err, MEL_EDATA, "%s \"%s\" is not known", described[i].key, text);
        *choice_at(reading, i) = choice;
    }
    return MEL_OK;
}

void cli_reader_clear(cli_reader *reader)
{
    for (size_t i = 0; i < reader->options.n_overrides; i++)
        free(reader->names[i]);
    free(reader->names);
    free(reader->overrides);
    free(reader->found);
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
