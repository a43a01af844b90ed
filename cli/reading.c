/* The options that say how a file is read. */
#include "data/shared.h"
#include "dataset.h"
#include "files.h"
#include "output.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* In the order of mel_format. */
static const char *const formats[] = { "auto", "csv", "npy", "libsvm", "npz", NULL };

const cli_option cli_reading_options[] = {
    { .name = "format",
      .under = "read",
      .kind = CLI_CHOICE,
      .at = offsetof(mel_reading, format),
      .choices = formats,
      .help = "what the file is; auto goes by its name (.csv, .csv.gz, .npy, .npz, .svm, .libsvm), then by "
              "content" },
    { .name = "delimiter",
      .under = "read",
      .argument = "C",
      .kind = CLI_TEXT,
      .at = offsetof(mel_reading, delimiter),
      .help = "what separates the cells of a CSV file: a character, \"tab\", \"space\" for any number of "
              "blanks, or \"auto\", which is the default" },
    { .name = "decimal",
      .under = "read",
      .kind = CLI_CHOICE,
      .at = offsetof(mel_reading, decimal),
      .choices = mel_decimals,
      .help = "what comes before the decimals of a number in a CSV file" },
    { .name = "header",
      .under = "read",
      .kind = CLI_CHOICE,
      .at = offsetof(mel_reading, header),
      .choices = mel_headers,
      .help =
          "whether the first row of a CSV file holds the names of the columns; auto: no, if it has a number "
          "where the column below has numbers. Without a header the columns are called c1, c2, ..." },
    { .name = "encoding",
      .under = "read",
      .kind = CLI_CHOICE,
      .at = offsetof(mel_reading, encoding),
      .choices = mel_encodings,
      .help =
          "how the text of a CSV file is stored; auto: UTF-16 by its first bytes, UTF-8 where it is valid, "
          "else Windows-1252" },
    { .name = "zero-based",
      .under = "read",
      .kind = CLI_FLAG,
      .at = offsetof(mel_reading, zero_based),
      .help = "the indices of a LIBSVM file start at 0" },
    { .name = "member",
      .under = "read",
      .argument = "NAME",
      .kind = CLI_TEXT,
      .at = offsetof(mel_reading, member),
      .help = "the array to take from an NPZ file that holds several" },
    { .name = "strict",
      .under = "read",
      .kind = CLI_FLAG,
      .at = offsetof(mel_reading, strict),
      .help = "refuse a file instead of warning about it" },
    { .name = "column",
      .under = "read",
      .argument = "NAME:TYPE",
      .kind = CLI_LIST,
      .at = offsetof(mel_reading, columns),
      .help = "read a column as \"number\" or as \"text\" (categories), whatever it looks like" },
    { .name = "max-rows",
      .under = "read",
      .argument = "N",
      .kind = CLI_WHOLE,
      .at = offsetof(mel_reading, max_rows),
      .low = 1,
      .high = 1e12,
      .help = "refuse a file with more rows (by default 100 million)" },
    { .name = "max-columns",
      .under = "read",
      .argument = "N",
      .kind = CLI_WHOLE,
      .at = offsetof(mel_reading, max_columns),
      .low = 1,
      .high = 1e9,
      .help = "refuse a file with more columns (by default 100,000)" },
    { .name = "max-bytes",
      .under = "read",
      .argument = "N",
      .kind = CLI_WHOLE,
      .at = offsetof(mel_reading, max_bytes),
      .low = 1,
      .high = 1e15,
      .help = "refuse a file with more bytes after unpacking (by default 8 GiB)" },
    { .name = "max-categories",
      .under = "read",
      .argument = "N",
      .kind = CLI_WHOLE,
      .at = offsetof(mel_reading, max_categories),
      .low = 1,
      .high = 4e9,
      .help = "refuse a column with more different texts (by default 1 million)" },
    { 0 }
};

/* How files were read is said with --verbose; what may be a mistake is a warning. */
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

mel_resources cli_resources(const cli_run *run)
{
    return (mel_resources){ .threads = run->threads,
                            .progress = run->progress,
                            .notice = { .call = say_notice, .user = (void *)(uintptr_t)run },
                            .formats = run->formats,
                            .folders = cli_data_folders() };
}

mel_status cli_reader_init(mel_reader *out, const mel_reading *reading, const cli_run *run, mel_error *err)
{
    const mel_resources resources = cli_resources(run);
    return mel_reader_init(out, reading, &resources, err);
}

mel_status cli_reader_check(const mel_reader *reader, const mel_reading *reading, const cli_run *run,
                            mel_error *err)
{
    const mel_resources resources = cli_resources(run);
    return mel_reader_check(reader, reading, &resources, err);
}

/* Has the file columns of numbers only, by its name or as was said? */
static bool is_numbers_only(const char *path, mel_format format)
{
    static const char *const endings[] = { ".npy",    ".npy.gz", ".npz",       ".npz.gz",   ".svm",
                                           ".svm.gz", ".libsvm", ".libsvm.gz", ".svmlight", ".svmlight.gz" };
    for (size_t i = 0; format == MEL_FORMAT_AUTO && i < sizeof endings / sizeof *endings; i++)
        if (cli_ends_with(path, endings[i]))
            return true;
    return format != MEL_FORMAT_AUTO && format != MEL_FORMAT_CSV;
}

mel_status cli_reader_expect(mel_reader *reader, const mel_encoder *encoder, const char *path, mel_error *err)
{
    mel_status status = MEL_OK;
    if (reader->options.zero_based && mel_encoder_columns(encoder) == 0 && !mel_encoder_zero_based(encoder))
        return cli_fail(err, MEL_EINVAL,
                        "zero-based: the model was trained on rows with indices from 1, so these must "
                        "start at 1, too; leave the option out");
    reader->options.zero_based = reader->options.zero_based || mel_encoder_zero_based(encoder);
    for (size_t i = 0; !is_numbers_only(path, reader->options.format) && i < mel_encoder_columns(encoder) &&
                       status == MEL_OK;
         i++)
        if (mel_encoder_column_type(encoder, i) == MEL_COLUMN_TEXT)
            status = mel_reader_expect(reader, mel_encoder_column_name(encoder, i), MEL_COLUMN_TEXT, err);
    return status;
}

mel_status cli_read_column(mel_table **table, const char **column, const char *path, const char *name,
                           const char *option, const mel_read_options *read, mel_error *err)
{
    const mel_status status = mel_table_read(table, path, read, err);
    return status == MEL_OK ? mel_only_column(column, *table, name, option, err) : status;
}
