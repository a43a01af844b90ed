/* melicit predict --classifier: a stored classifier applied to class probabilities. */
#ifndef MEL_CLI_PREDICT_CLASSIFIER_H
#define MEL_CLI_PREDICT_CLASSIFIER_H

#include "dataset.h"

typedef struct {
    const char *classifier, *probs, *columns, *groups, *features, *ids, *out;
    const char *model, *data, *group; /* instead of probs: rows that a model sees, and the column of groups */
    bool csv;                         /* what is written; else NPY */
    bool chances;                     /* the probability of each decision instead of a drawn one */
    const mel_reading *reading;
} cli_classifier_job;
mel_status cli_predict_classifier(cli_run *run, const cli_classifier_job *job, mel_error *err);

#endif
