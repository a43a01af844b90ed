/* What melicit train counts on held-out rows, and says. */
#ifndef MEL_CLI_TRAIN_REPORT_H
#define MEL_CLI_TRAIN_REPORT_H

#include "dataset.h"
#include <stddef.h>
#include <stdint.h>

/* Class of highest probability; the first of several. */
uint32_t cli_most_probable(size_t k, const double *probs);

typedef struct {
    const mel_dataset *dataset;
    const mel_dataset_options *args;
    const mel_dataset_part *parts; /* MEL_DATASET_PARTS of them */
    const mel_model *model;
    const mel_fit_report *fit;
    const double *probs; /* of the test part; NULL when nothing was held out */
    const char *out;     /* NULL: the model was not stored */
} train_report;

void train_report_fill(json_t *result, const train_report *report);
/* The same for people, from a result that is filled. */
void train_report_say(const json_t *result, const train_report *report);

#endif
