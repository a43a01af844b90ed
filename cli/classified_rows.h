/* The rows that a stored classifier decides about, and what it looks at. */
#ifndef MEL_CLI_CLASSIFIED_ROWS_H
#define MEL_CLI_CLASSIFIED_ROWS_H

#include "classify/shared.h"
#include "features.h"
#include "predict_classifier.h"

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
/* Whether it is known which column is whose: without names they go by the sorted order of the labels. */
mel_status cli_check_columns(const mel_proba *proba, const mel_classes *classes,
                             const mel_classifier_parts *of, const char *classifier, const char *probs,
                             const char *columns, mel_error *err);

#endif
