/* Whether the order of a pool can still change, and the table of all decisions that end sessions. */
#include "base/stat.h"
#include "classify/classify.h"
#include "rank/rank.h"

#include <stdlib.h>

/* Values that differ by less are equal. */
static const double same = 1e-12;

typedef struct {
    const mel_belief *now;
    mel_metric *metric; /* a copy that takes the draws' coefficients */
    double *value;      /* of every classifier, negated utilities: sorting ascends */
    size_t *order;      /* best first, by the metric as it would be returned */
} ranking;

/* False where a denominator vanishes. */
static bool find_values(const ranking *r)
{
    const size_t size = mel_layout_size(mel_metric_layout(r->metric));
    const double sign = mel_metric_orientation(r->metric) == MEL_COST ? 1.0 : -1.0;
    for (size_t i = 0; i < r->now->n_pool; i++) {
        if (mel_metric_value(&r->value[i], r->metric, r->now->pool + i * size, NULL) != MEL_OK)
            return false;
        r->value[i] *= sign;
    }
    return true;
}

static bool stands(const ranking *r)
{
    for (size_t i = 1; i < r->now->n_pool; i++)
        if (r->value[r->order[i]] < r->value[r->order[i - 1]] - same)
            return false;
    return true;
}

static mel_status count_standing(size_t *standing, const ranking *r, mel_error *err)
{
    const size_t width = mel_metric_coefficients(r->metric);
    *standing = 0;
    if (!find_values(r))
        return MEL_OK;
    const mel_status status = mel_argsort(r->now->n_pool, r->value, r->order, err);
    for (size_t s = 0; status == MEL_OK && s < r->now->n_draws; s++) {
        const mel_status set = mel_metric_set_coefficients(r->metric, r->now->draw + s * width, err);
        if (set == MEL_ENOMEM)
            return set;
        /* A draw that is no metric does not support the order. */
        *standing += set == MEL_OK && find_values(r) && stands(r);
    }
    return status;
}

static mel_status rank_settled(double *probability, const mel_belief *now, mel_error *err)
{
    ranking r = { .now = now };
    size_t standing = 0;
    mel_status status = mel_metric_copy(&r.metric, now->metric, err);
    r.value = mel_alloc(now->n_pool, sizeof *r.value);
    r.order = mel_alloc(now->n_pool, sizeof *r.order);
    if (status == MEL_OK)
        status = r.value != NULL && r.order != NULL ? count_standing(&standing, &r, err)
                                                    : mel_fail_memory(err, "the order of a pool");
    *probability = (double)standing / (double)now->n_draws;
    mel_metric_free(r.metric);
    free(r.value);
    free(r.order);
    return status;
}

const mel_decisions *mel_decisions_usual(void)
{
    static const mel_decisions usual = { .rank = rank_settled,
                                         .threshold = mel_classifier_settled,
                                         .rule = mel_classifier_rule_settled };
    return &usual;
}
