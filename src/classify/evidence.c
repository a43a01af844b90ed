/* What rules are found on: rows of probabilities made ready for steps, and how much each row counts. */
#include "classify/steps.h"

#include "classify/shared.h"
#include "model/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void mel_rule_evidence_clear(mel_rule_evidence *e)
{
    free(e->probability);
    *e = (mel_rule_evidence){ 0 };
}

/* Costs of rows: the probabilities weighed by them, and what a row then counts. */
static void put_costs(mel_rule_evidence *e, const mel_rule_rows *rows, bool by_model)
{
    const size_t k = rows->n_classes;
    for (size_t r = 0; r < rows->n_rows; r++) {
        const double sum = mel_weigh_costs(e->probability + r * k, rows->row_cost + r * k, k);
        if (by_model)
            e->weight[r] *= sum;
    }
}

double mel_weigh_costs(double *probability, const double *cost, size_t k)
{
    double sum = 0.0;
    for (size_t i = 0; i < k; i++)
        sum += probability[i] *= cost[i];
    for (size_t i = 0; i < k && sum > 0.0; i++)
        probability[i] /= sum;
    return sum;
}

void mel_rule_class_shares(double *share, const mel_rule_rows *rows)
{
    double total = 0.0;
    memset(share, 0, rows->n_classes * sizeof *share);
    for (size_t r = 0; r < rows->n_rows; r++) {
        const double weight = rows->weight != NULL ? rows->weight[r] : 1.0;
        share[rows->label[r]] += weight;
        total += weight;
    }
    for (size_t i = 0; i < rows->n_classes; i++)
        share[i] /= total;
}

/* By how much the share of each class is to grow. */
static void share_growth(double *growth, const mel_rule_rows *rows, const double *share)
{
    mel_rule_class_shares(growth, rows);
    for (size_t i = 0; i < rows->n_classes; i++)
        growth[i] = growth[i] > 0.0 ? share[i] / growth[i] : 1.0;
}

/* Classes that are to have other shares. What is likely of a class is then met that many times as often: a
 * row with adjusted probabilities q counts 1 / sum of q_i / growth_i. */
static void weigh_by_shares(mel_rule_evidence *e, const mel_rule_rows *rows, const double *growth)
{
    const size_t k = rows->n_classes;
    for (size_t r = 0; r < rows->n_rows; r++) {
        double sum = 0.0;
        for (size_t c = 0; c < k; c++)
            sum += e->probability[r * k + c] / growth[c];
        e->weight[r] /= sum;
    }
}

void mel_rule_label_weights(double *weight, const mel_rule_rows *rows, const double *class_share,
                            double *growth)
{
    const size_t k = rows->n_classes;
    if (class_share != NULL)
        share_growth(growth, rows, class_share);
    for (size_t r = 0; r < rows->n_rows; r++) {
        weight[r] = rows->weight != NULL ? rows->weight[r] : 1.0;
        weight[r] *= class_share != NULL ? growth[rows->label[r]] : 1.0;
        weight[r] *= rows->row_cost != NULL ? rows->row_cost[r * k + rows->label[r]] : 1.0;
    }
}

bool mel_rule_keeps_scores(const mel_rule_rows *rows, const mel_rule_options *opt)
{
    return rows->n_classes == 2 && rows->row_cost == NULL && isnan(opt->refer_cost);
}

/* By the model: what each row counts. */
static void weigh_by_model(mel_rule_evidence *e, const mel_rule_rows *rows, const mel_rule_options *opt)
{
    for (size_t r = 0; r < rows->n_rows; r++)
        e->weight[r] = rows->weight != NULL ? rows->weight[r] : 1.0;
    if (opt->class_share == NULL)
        return;
    share_growth(e->growth, rows, opt->class_share);
    if (opt->adjustment != NULL)
        weigh_by_shares(e, rows, e->growth);
}

mel_status mel_rule_evidence_make(mel_rule_evidence *e, const mel_rule_rows *rows,
                                  const mel_rule_options *opt, mel_error *err)
{
    const size_t n = rows->n_rows, k = rows->n_classes;
    if (rows->engine != NULL) {
        e->rows = (mel_step_rows){ .engine = rows->engine,
                                   .n_classes = k,
                                   .n_groups = rows->n_groups,
                                   .evidence = opt->evidence,
                                   .one_block = opt->group_use == MEL_GROUP_UNSEEN && rows->n_groups > 1,
                                   .refer = !isnan(opt->refer_cost),
                                   .threads = 1 };
        return MEL_OK;
    }
    const bool by_model = opt->evidence == MEL_BY_MODEL, by_score = mel_rule_keeps_scores(rows, opt),
               own = opt->adjustment != NULL || rows->row_cost != NULL;
    const mel_part parts[] = { { own ? n * k : 0, { &e->probability } },
                               { n, { &e->weight } },
                               { by_score ? n : 0, { &e->score } },
                               { k, { &e->growth } } };
    if (!mel_parts_new(MEL_PARTS(parts)))
        return mel_fail_memory(err, "the rows of a rule");
    if (opt->adjustment != NULL)
        mel_adjust(e->probability, opt->adjustment, n, rows->probability, rows->group);
    else if (own)
        memcpy(e->probability, rows->probability, n * k * sizeof *e->probability);
    for (size_t r = 0; r < n && by_score; r++) /* what thresholds are on */
        e->score[r] = rows->probability[2 * r + 1];
    if (by_model)
        weigh_by_model(e, rows, opt);
    else
        mel_rule_label_weights(e->weight, rows, opt->class_share, e->growth);
    if (rows->row_cost != NULL)
        put_costs(e, rows, by_model);
    const bool plain = rows->weight == NULL && rows->row_cost == NULL && opt->class_share == NULL;
    e->rows = (mel_step_rows){ .n_rows = n,
                               .n_classes = k,
                               .n_groups = rows->n_groups,
                               .probability = own ? e->probability : rows->probability,
                               .label = rows->label,
                               .group = rows->group,
                               .weight = plain ? NULL : e->weight,
                               .score = by_score ? e->score : NULL,
                               .evidence = opt->evidence,
                               .one_block = opt->group_use == MEL_GROUP_UNSEEN && rows->n_groups > 1,
                               .refer = !isnan(opt->refer_cost),
                               .threads = opt->threads };
    return MEL_OK;
}

static mel_status check_row(const mel_rule_rows *rows, size_t r, mel_error *err)
{
    const size_t k = rows->n_classes;
    double sum = 0.0;
    for (size_t c = 0; c < k; c++) {
        const double p = rows->probability[r * k + c];
        if (!(p >= -1e-6 && p <= 1.0 + 1e-6))
            return mel_fail(err, MEL_EDATA, "the probability of class %s is %g",
                            mel_quote_name(rows->class_name, c).text, p);
        sum += p;
    }
    for (size_t i = 0; i < k && rows->row_cost != NULL; i++)
        if (!(rows->row_cost[r * k + i] >= 0.0 && isfinite(rows->row_cost[r * k + i])))
            return mel_fail(err, MEL_EDATA, "a cost of %g", rows->row_cost[r * k + i]);
    if (!(fabs(sum - 1.0) <= 1e-6))
        return mel_fail(err, MEL_EDATA, "the probabilities add up to %g, not 1", sum);
    if (rows->label[r] >= k ||
        (rows->n_groups > 0 && rows->group != NULL && rows->group[r] >= rows->n_groups))
        return mel_fail(err, MEL_EDATA, "its class or group is out of range");
    if (rows->weight != NULL && !(rows->weight[r] >= 0.0 && isfinite(rows->weight[r])))
        return mel_fail(err, MEL_EDATA, "a weight of %g", rows->weight[r]);
    return MEL_OK;
}

mel_status mel_rule_rows_here(const mel_rule_rows *rows, mel_error *err)
{
    return rows->engine == NULL
               ? MEL_OK
               : mel_fail(err, MEL_EINVAL, "this needs all rows in one place: an engine only adds up");
}

mel_status mel_rule_rows_check(const mel_rule_rows *rows, mel_error *err)
{
    TRY(mel_rule_rows_here(rows, err));
    if (rows->n_rows == 0 || rows->n_classes < 2)
        return mel_fail(err, MEL_EDATA, "a rule needs rows of two or more classes");
    if (rows->n_groups > 1 && rows->group == NULL)
        return mel_fail(err, MEL_EINVAL, "%zu groups, but no groups of the rows", rows->n_groups);
    mel_status status = MEL_OK;
    for (size_t r = 0; r < rows->n_rows && status == MEL_OK; r++) {
        status = check_row(rows, r, err);
        if (status != MEL_OK)
            status = mel_fail_in(err, status, "row %zu", r + 1);
    }
    return status;
}
