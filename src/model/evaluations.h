/* What an objective was where a fit evaluated it, kept in a file, so that after a kill the same fit goes on.
 */
#ifndef MEL_MODEL_EVALUATIONS_H
#define MEL_MODEL_EVALUATIONS_H

#include "base/internal.h"

typedef struct mel_evaluations mel_evaluations;

/* Of several ranks the first reads and writes. MEL_EDATA: another kind of file. */
mel_status mel_evaluations_open(mel_evaluations **out, const char *path, mel_error *err);
void mel_evaluations_close(mel_evaluations *log);
/* The n sums at theta, where the file has them; false: they are to be taken, and told to mel_evaluations_add.
 * That is the case for the first ones, too, by which rows are known again. */
bool mel_evaluations_next(mel_evaluations *log, double *sum, size_t n, const double *theta, size_t n_theta);
void mel_evaluations_add(mel_evaluations *log, const double *sum, size_t n, const double *theta,
                         size_t n_theta);
/* MEL_ECONFLICT: the file is of another fit; MEL_EIO: it cannot be written. */
mel_status mel_evaluations_check(const mel_evaluations *log, mel_error *err);

#endif
