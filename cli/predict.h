/* melicit predict: of a model or a classifier, the files of a pattern in turns, what is written. */
#ifndef MEL_CLI_PREDICT_H
#define MEL_CLI_PREDICT_H

#include "classify/shared.h"
#include "columns.h"
#include "command.h"
#include "dataset.h"
#include "files.h"

typedef struct {
    const char *model, *data, *out;
    bool csv; /* what is written; else NPY */
    bool decisions;
    double threshold; /* NaN: the most probable class */
    const mel_reading *reading;
} cli_model_job;
mel_status cli_predict_model(cli_run *run, const cli_model_job *job, mel_error *err);

typedef struct {
    const char *classifier, *probs, *columns, *groups, *features, *ids, *out;
    const char *model, *data, *group; /* instead of probs: rows that a model sees, and the column of groups */
    bool csv;                         /* what is written; else NPY */
    bool chances;                     /* the probability of each decision instead of a drawn one */
    const mel_reading *reading;
} cli_classifier_job;
mel_status cli_predict_classifier(cli_run *run, const cli_classifier_job *job, mel_error *err);

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

typedef struct {
    bool csv;       /* else NPY, little-endian */
    bool decisions; /* one class per row, else its probabilities */
    size_t classes;
    const char *column;        /* of decisions in CSV; NULL: "decision" */
    const char *const *names;  /* of the classes, for CSV */
    const char *const *labels; /* what files call them: NPY goes by their sorted order */
    bool number_texts;         /* labels that look like numbers are texts, sorted by byte */
} prediction_shape;            /* read on opening only */

typedef struct {
    cli_out out;
    FILE *waiting; /* NPY to a pipe: rows, which their number comes before; NULL: they go straight to `out` */
    bool csv, decisions;
    size_t classes, rows;
    size_t *order; /* the class of each column */
    double *value; /* what stands for each class as a decision in NPY ... */
    bool whole;    /* ... where all are whole numbers */
    char **names;
} prediction_file;

mel_status prediction_file_open(prediction_file *file, const char *path, const prediction_shape *shape,
                                mel_error *err);
mel_status prediction_file_probabilities(prediction_file *file, const double *probs, mel_error *err);
mel_status prediction_file_decision(prediction_file *file, uint32_t code, mel_error *err);
mel_status prediction_file_commit(prediction_file *file, mel_error *err);
/* Removes what was not committed; fine on a zeroed file and after a commit. */
void prediction_file_abandon(prediction_file *file);

/* The classifier, and the model that gives it probabilities. Cleared in one place. */
typedef struct {
    mel_classifier *classifier;
    mel_classifier_parts of; /* lent by it */
    mel_classes classes;     /* its classes; without "labels" their names stand for them */
    mel_model *model;        /* NULL: probabilities are given */
} cli_decider;
mel_status cli_decider_load(cli_decider *out, const cli_classifier_job *job, mel_error *err);
void cli_decider_clear(cli_decider *decider);

typedef struct {
    mel_proba proba;
    mel_table *table; /* the rows that a model sees; NULL: probabilities are given */
    double *row_cost; /* n_rows x classes; NULL: rows count alike */
    mel_labels groups;
    cli_features features; /* of a classifier with basis functions */
    mel_labels ids;        /* of the rows, by which mixtures are drawn; n_rows 0: none */
    const char **row_name; /* those of each row; NULL: none */
    size_t unseen;         /* cells with a category that the model does not know */
} cli_classified_rows;
/* The rows of the files of a job. */
mel_status cli_classified_read(cli_classified_rows *out, const cli_decider *decider, const cli_run *run,
                               const cli_classifier_job *job, const mel_read_options *read, mel_error *err);
void cli_classified_clear(cli_classified_rows *rows);

#endif
