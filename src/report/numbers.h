/* The coefficients of a metric of any family, with what they weigh in words. */
#ifndef MEL_REPORT_NUMBERS_H
#define MEL_REPORT_NUMBERS_H

#include "base/internal.h"
#include "report/page.h"

/* All first-order coefficients and constants, and the largest of the others, at most `most` in all. */
typedef struct {
    size_t n, n_left_out;
    mel_page_number *number;
    char **texts; /* that the numbers lend: a name and a meaning each */
} mel_numbers;
/* coordinates: names of the statistics of one group. On failure, too, out is for mel_numbers_clear. */
mel_status mel_numbers_of(mel_numbers *out, const mel_metric *metric, const char *const *coordinates,
                          size_t most, mel_error *err);
void mel_numbers_clear(mel_numbers *numbers);

#endif
