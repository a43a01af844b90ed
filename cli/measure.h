/* How well probabilities do on held-out rows, by counting. */
#ifndef MEL_CLI_MEASURE_H
#define MEL_CLI_MEASURE_H

#include <stddef.h>
#include <stdint.h>

/* Class of highest probability; the first of several. */
uint32_t cli_most_probable(size_t k, const double *probs);

/* confusion[true * k + predicted] += 1 for every row; probs is n x k. */
void cli_count_confusion(size_t *confusion, size_t n, size_t k, const double *probs, const uint32_t *y);

/* Two classes. What calling a row positive from a threshold of P(second class) on leads to. */
typedef struct {
    double ratio;     /* cost of a missed positive, a false alarm being 1 */
    double threshold; /* 1 / (1 + ratio): where both kinds of error are equally dear on average */
    size_t found, missed, false_alarms, cleared;
} cli_point;
void cli_count_point(cli_point *point, double ratio, size_t n, const double *probs, const uint32_t *y);

/* Some labels and how much each counts. */
typedef struct {
    size_t n;
    const uint32_t *y;
    const double *weight; /* NULL: ones */
} cli_labelled;
/* Mean log-loss of probabilities that are the same for every row: the class shares of the training rows. */
double cli_share_log_loss(size_t k, const cli_labelled *train, const cli_labelled *test);

#endif
