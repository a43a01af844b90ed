/* Probabilities of a stored model, or decisions by them, for the rows of a table. */
#ifndef CLI_PREDICT_MODEL_H
#define CLI_PREDICT_MODEL_H

#include "command.h"
#include "dataset.h"

typedef struct {
    const char *model, *data, *out;
    bool csv; /* what is written; else NPY */
    bool decisions;
    double threshold; /* NaN: the most probable class */
    const mel_reading *reading;
} cli_model_job;
mel_status cli_predict_model(cli_run *run, const cli_model_job *job, mel_error *err);

#endif
