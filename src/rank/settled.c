/* Whether the order of a pool can still change, and the table of all decisions that end sessions. */
#include "classify/classify.h"
#include "rank/rank.h"

#include <stdlib.h>

typedef struct {
    const mel_belief *now;
    mel_metric *metric; /* a copy that takes the draws' coefficients */
    double *value;      /* of every classifier */
    size_t *order;      /* best first, by the metric as it would be returned */
    double *scratch;
} ranking;

/* False where a denominator vanishes. */
static bool find_values(const ranking *r)
{
    return mel_rank_values(r->value, r->metric, r->now->n_pool, r->now->pool, NULL) == MEL_OK;
}

static mel_status count_standing(size_t *standing, const ranking *r, mel_error *err)
{
    const size_t width = mel_metric_coefficients(r->metric), n = r->now->n_pool;
    const mel_orientation orientation = mel_metric_orientation(r->metric);
    *standing = 0;
    if (!find_values(r))
        return MEL_OK;
    TRY(mel_rank_best_first(r->order, n, r->value, orientation, r->scratch, err));
    for (size_t s = 0; s < r->now->n_draws; s++) {
        const mel_status set = mel_metric_set_coefficients(r->metric, r->now->draw + s * width, err);
        if (set == MEL_ENOMEM)
            return set;
        /* A draw that is no metric does not support the order. */
        *standing += set == MEL_OK && find_values(r) && mel_rank_stands(n, r->value, orientation, r->order);
    }
    return MEL_OK;
}

static mel_status rank_settled(double *probability, const mel_belief *now, mel_error *err)
{
    const size_t n = now->n_pool;
    size_t standing = 0;
    MEL_AUTO(mel_metric) *metric = NULL;
    MEL_AUTO_MEMORY double *value = mel_alloc(n, 2 * sizeof *value);
    MEL_AUTO_MEMORY size_t *order = mel_alloc(n, sizeof *order);
    TRY(mel_metric_copy(&metric, now->metric, err));
    if (value == NULL || order == NULL)
        return mel_fail_memory(err, "the order of a pool");
    const ranking r = { now, metric, value, order, value + n };
    TRY(count_standing(&standing, &r, err));
    *probability = (double)standing / (double)now->n_draws;
    return MEL_OK;
}

const mel_decisions *mel_decisions_usual(void)
{
    static const mel_decisions usual = { .rank = rank_settled,
                                         .threshold = mel_classifier_settled,
                                         .rule = mel_classifier_rule_settled };
    return &usual;
}
