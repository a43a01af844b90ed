/* Tables for the verbs: the options that say how to read one, the columns that play a part in it, and
 * the stratified split into rows that train, rows that calibrate and rows that measure. */
#ifndef MEL_CLI_DATASET_H
#define MEL_CLI_DATASET_H

#include "classes.h"
#include "command.h"
#include "melicit/data.h"

/* How files are read; the options of every verb that reads a table. */
typedef struct {
    int format;
    const char *delimiter;
    int decimal, header, encoding; /* choices; 0: to be found */
    const char *member;
    bool strict, zero_based;
    cli_list columns;
    uint64_t max_rows, max_columns, max_bytes, max_categories; /* 0: the library's own limits */
    bool more_files; /* that are read later: options that the files at hand do not read may be about them */
} cli_reading;
extern const cli_option cli_reading_options[];

/* The options that say what a file means, to and from the description of a space. */
void cli_reading_describe(json_t *object, const cli_reading *reading);
mel_status cli_reading_restore(cli_reading *reading, const json_t *object, mel_error *err);

/* The library's options together with the memory they point to. */
typedef struct {
    mel_read_options options;
    mel_column_override *overrides;
    char **names;
    bool *found; /* of overrides that any of several files may have */
} cli_reader;
/* What reading a file has to say is printed: warnings, and with --verbose how it was read. The run is lent.
 */
mel_status cli_reader_init(cli_reader *out, const cli_reading *reading, const cli_run *run, mel_error *err);
/* For rows like those that the encoder learned on: its text columns are text, whatever they look like. No
 * types are set for NPY and LIBSVM files, where the encoder says what it misses. */
void cli_reader_expect(cli_reader *reader, const mel_encoder *encoder, const char *path);
/* Several files are read: a --column need not be in each. Called after cli_reader_init. */
void cli_reader_share(cli_reader *reader);
/* Once the files have been read: MEL_EINVAL for an option that none of them, nor a file read before, reads.
 */
mel_status cli_reader_check(const cli_reader *reader, const cli_reading *reading, const cli_run *run,
                            mel_error *err);
void cli_reader_clear(cli_reader *reader);

/* Is the file CSV by its name or by --format? Standard input is no file. */
bool cli_is_csv_file(const char *path, int format);

/* The number of a column; a missing one is refused with the nearest name and the columns there are. */
mel_status cli_find_column(size_t *column, const mel_table *table, const char *name, const char *option,
                           mel_error *err);

/* A labelled table. */
typedef struct {
    const char *data, *label, *group, *weights;
    cli_naming naming;
    cli_list skip;
    bool missing_category;
    uint64_t label_quantiles; /* 0: the labels are classes already */
    double test_share;
    cli_reading reading;
} cli_dataset_args;
extern const cli_option cli_dataset_options[];

typedef struct {
    char *path;
    mel_table *table; /* NULL once it has been split */
    size_t n_rows;
    mel_labels labels;
    cli_classes classes; /* what the labels are called, in the same order */
    mel_labels groups;   /* n_classes 0: no groups */
    double *weight;      /* NULL: every row counts 1 */
} cli_dataset;
mel_status cli_dataset_read(cli_dataset *out, const cli_dataset_args *args, const cli_run *run,
                            mel_error *err);
void cli_dataset_clear(cli_dataset *dataset);

/* Some of its rows. */
typedef struct {
    size_t n;
    mel_table *table; /* NULL after cli_part_encode */
    mel_encoded x;
    uint32_t *y;
    uint32_t *group; /* NULL: no groups */
    double *weight;  /* NULL: every row counts 1 */
} cli_part;
enum { CLI_TRAIN = 0, CLI_CALIBRATE = 1, CLI_TEST = 2, CLI_PARTS = 3 };

/* Moves the rows into parts, stratified by class and group: test_share of them are held out and measure;
 * with `calibrate`, half of the held-out rows calibrate instead. A class without training rows is refused. */
mel_status cli_dataset_split(cli_part parts[CLI_PARTS], cli_dataset *dataset, double test_share,
                             bool calibrate, uint64_t seed, mel_error *err);
/* The encoding learned on a part: without the label, group, weight and skipped columns. */
mel_status cli_part_learn(mel_encoder **out, const cli_part *part, const cli_dataset_args *args,
                          mel_error *err);
/* Fills x and lets the table go. */
mel_status cli_part_encode(cli_part *part, const mel_encoder *encoder, mel_error *err);
void cli_part_clear(cli_part *part);

#endif
