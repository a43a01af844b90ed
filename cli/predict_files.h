/* What melicit predict says about the files of a pattern, one after the other in the memory that one of them
 * takes. Of several ranks each reads one, they exchange what they say of them, and so on: rank r of n has
 * files r, r + n, r + 2 n, ... Rank 0 writes, in the order of the files. */
#ifndef MEL_CLI_PREDICT_FILES_H
#define MEL_CLI_PREDICT_FILES_H

#include "command.h"
#include "melicit/data.h"

/* What there is to know about a file that was read. */
typedef struct {
    size_t rows, unseen, imputed;
    size_t columns; /* 0: files need not have as many of them as the first */
    bool named;     /* whether columns have names, as those of the first then must, too */
} predict_file;

typedef struct {
    const cli_run *run;
    size_t n; /* 0: each rank reads all rows, as file 0, and rank 0 says what they all would */
    const char *(*name)(const void *user, size_t file);
    size_t row_bytes; /* of what is said of a row */
    /* Reads a file, and lets the one before go. Whoever reads has to take the notice. */
    mel_status (*read)(predict_file *out, void *user, size_t file, mel_notice notice, mel_error *err);
    /* Once the first files were read. */
    mel_status (*begin)(void *user, mel_error *err);
    /* Says it of the rows of the file that was read, which so many others come before. */
    mel_status (*say)(void *said, void *user, size_t before, mel_error *err);
    /* Rows in order; rank 0 alone is asked. */
    mel_status (*write)(void *user, const void *said, size_t rows, mel_error *err);
    void *user;
} predict_files;

/* all: what there is to know about all files together. A file that cannot be read is the first such one for
 * all ranks. */
mel_status cli_predict_files(predict_file *all, const predict_files *files, mel_error *err);

#endif
