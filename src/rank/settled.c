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
    ranking r = { .now = now };
    size_t standing = 0;
    mel_status status = mel_metric_copy(&r.metric, now->metric, err);
    r.value = mel_alloc(now->n_pool, sizeof *r.value);
    r.order = mel_alloc(now->n_pool, sizeof *r.order);
    r.scratch = mel_alloc(now->n_pool, sizeof *r.scratch);
    if (status == MEL_OK)
        status = r.value != NULL && r.order != NULL && r.scratch != NULL
                     ? count_standing(&standing, &r, err)
                     : mel_fail_memory(err, "the order of a pool");
    *probability = (double)standing / (double)now->n_draws;
    mel_metric_free(r.metric);
    free(r.value);
    free(r.order);
    free(r.scratch);
    return status;
}

const mel_decisions *mel_decisions_usual(void)
{
    static const mel_decisions usual = { .rank = rank_settled,
                                         .threshold = mel_classifier_settled,
                                         .rule = mel_classifier_rule_settled };
    return &usual;
}
