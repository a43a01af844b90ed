/* Moments as the files of this room see them. */
#ifndef MEL_MODEL_MOMENTS_H
#define MEL_MODEL_MOMENTS_H

#include "model/model.h"

/* Sums over the rows of one file: the log-loss, the gradient (features, then the intercept, for each output),
 * and for a >= b and each pair of classes what mel_objective_curvature says. */
typedef struct {
    char *file;
    size_t n_rows;
    double weight; /* of all rows */
    double *sum;
} mel_moments_part;

struct mel_moments {
    size_t n_classes, n_features;
    char at[MEL_DIGEST_HEX]; /* of the model's coefficients */
    size_t n;
    mel_moments_part *part; /* by name of the file */
};

/* Without files; NULL when memory runs out. */
mel_moments *mel_moments_new(size_t n_classes, size_t n_features);
/* Numbers of a part; 0: too many. */
size_t mel_moments_size(size_t n_classes, size_t n_features);
/* One more, at its place. The part is taken over, or cleared. MEL_EDATA for a file that is there already. */
mel_status mel_moments_add(mel_moments *moments, mel_moments_part *part, mel_error *err);
void mel_moments_part_clear(mel_moments_part *part);

#endif
