/* The options of a labelled table. */
#include "dataset.h"
#include "files.h"
#include "output.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

const cli_option cli_dataset_options[] = {
    CLI_COMMON(mel_dataset_options, "data", INPUT, data, .argument = "FILE", .required = true,
               .help = "the table: a CSV, CSV.gz, NPY or LIBSVM file or all files of 'part-*.csv', \"-\" for "
                       "CSV on standard input, or the name of a bundled data set"),
    CLI_COMMON(mel_dataset_options, "label", TEXT, label, .argument = "COL",
               .help = "the column with the classes"),
    CLI_COMMON(mel_dataset_options, "positive", TEXT, naming.positive, .argument = "VALUE",
               .help = "two classes: the one to be found; by default the second in sorted order"),
    CLI_ROW(mel_dataset_options, "label-quantiles", WHOLE, label_quantiles, .under = "fit", .argument = "K",
            .low = 2, .high = 1000, .help = "the label is a number: make K classes of equal size out of it"),
    CLI_COMMON(mel_dataset_options, "group", TEXT, group, .argument = "COL",
               .help = "a column of groups (not used as a feature): the split keeps their shares, results "
                       "are also given per group"),
    CLI_COMMON(
        mel_dataset_options, "weights", TEXT, weights, .argument = "COL",
        .help =
            "a column that says how much each row counts in the fit and in log-losses; tables count rows"),
    CLI_COMMON(mel_dataset_options, "skip", LIST, skip, .argument = "COL",
               .help = "a column that is not a feature; columns named meta_... never are"),
    CLI_ROW(mel_dataset_options, "missing-category", FLAG, missing_category, .under = "fit",
            .help = "missing texts are a category of their own, not the most frequent one"),
    CLI_COMMON(mel_dataset_options, "test-share", NUMBER, test_share, .argument = "X", .high = 1,
               .below_high = true,
               .help = "share of the rows, of each class alike, held out to measure; 0 trains on all rows "
                       "and measures nothing"),
    { 0 }
};

/* --- reading ---------------------------------------------------------------------------------------------
 */

#define ROW(said, key, option, type, field, placeholder, words, only, least, most, text)                     \
    { .name = (option),                                                                                      \
      .under = "read",                                                                                       \
      .kind = CLI_##type,                                                                                    \
      .at = offsetof(mel_reading, field),                                                                    \
      .argument = (placeholder),                                                                             \
      .choices = (words),                                                                                    \
      .low = (least),                                                                                        \
      .high = (most),                                                                                        \
      .help = (text) },
const cli_option cli_reading_options[] = { MEL_READING_ROWS(ROW){ 0 } };
#undef ROW

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
    if (reader->options.zero_based && mel_encoder_columns(encoder) == 0 && !mel_encoder_zero_based(encoder))
        return cli_fail(err, MEL_EINVAL,
                        "zero-based: the model was trained on rows with indices from 1, so these must start "
                        "at 1, too; leave the option out");
    reader->options.zero_based = reader->options.zero_based || mel_encoder_zero_based(encoder);
    for (size_t i = 0; !is_numbers_only(path, reader->options.format) && i < mel_encoder_columns(encoder);
         i++)
        if (mel_encoder_column_type(encoder, i) == MEL_COLUMN_TEXT)
            TRY(mel_reader_expect(reader, mel_encoder_column_name(encoder, i), MEL_COLUMN_TEXT, err));
    return MEL_OK;
}

mel_status cli_read_column(mel_table **table, const char **column, const char *path, const char *name,
                           const char *option, const mel_read_options *read, mel_error *err)
{
    TRY(mel_table_read(table, path, read, err));
    return mel_only_column(column, *table, name, option, err);
}
