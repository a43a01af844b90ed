/* The result of melicit predict, written row by row: NPY or CSV. */
#ifndef MEL_CLI_PREDICTION_FILE_H
#define MEL_CLI_PREDICTION_FILE_H

#include "files.h"

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

#endif
