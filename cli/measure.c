/* Counts how well probabilities do on held-out rows. */
#include "measure.h"
#include "output.h"

#include <math.h>
#include <stdlib.h>

uint32_t cli_most_probable(size_t k, const double *probs)
{
    size_t best = 0;
    for (size_t c = 1; c < k; c++)
        if (probs[c] > probs[best])
            best = c;
    return (uint32_t)best;
}

void cli_count_confusion(size_t *confusion, size_t n, size_t k, const double *probs, const uint32_t *y)
{
    for (size_t i = 0; i < n; i++)
        confusion[y[i] * k + cli_most_probable(k, probs + i * k)]++;
}

void cli_count_point(cli_point *point, double ratio, size_t n, const double *probs, const uint32_t *y)
{
    *point = (cli_point){ .ratio = ratio, .threshold = 1 / (1 + ratio) };
    for (size_t i = 0; i < n; i++) {
        const bool called = probs[2 * i + 1] >= point->threshold;
        if (y[i] == 1)
            *(called ? &point->found : &point->missed) += 1;
        else
            *(called ? &point->false_alarms : &point->cleared) += 1;
    }
}

static double weight_of(const cli_labelled *rows, size_t i)
{
    return rows->weight != NULL ? rows->weight[i] : 1;
}

double cli_share_log_loss(size_t k, const cli_labelled *train, const cli_labelled *test)
{
    double *share = cli_alloc_zero(k, sizeof *share);
    double loss = 0, train_total = 0, test_total = 0;
    for (size_t i = 0; i < train->n; i++) {
        share[train->y[i]] += weight_of(train, i);
        train_total += weight_of(train, i);
    }
    for (size_t i = 0; i < test->n; i++) {
        loss -= weight_of(test, i) * log(share[test->y[i]] / train_total);
        test_total += weight_of(test, i);
    }
    free(share);
    return loss / test_total;
}
