/* What the metric weighs: shares of the weight, ratios to the largest weight, the cost ratio and its
 * threshold. */
#include "elicit/shared.h"
#include "metric/shared.h"
#include "outcome/outcome.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_RATIOS = 200 };

double mel_outcome_weight_scale(const mel_metric *metric)
{
    const double *a = mel_metric_tensor(metric, 1);
    const bool mistakes = mel_metric_layout(metric)->coordinates == MEL_OFFDIAGONAL;
    const bool usual = (mel_metric_orientation(metric) == MEL_COST) == mistakes;
    double sum = 0.0;
    for (size_t i = 0; i < mel_outcome_per_group(metric); i++)
        sum += fabs(a[i]);
    return usual ? sum : -sum;
}

static void find_shares(mel_outcome_work *w, const mel_metric *metric)
{
    const size_t n = mel_outcome_per_group(metric);
    const double scale = mel_outcome_weight_scale(metric), *a = mel_metric_tensor(metric, 1);
    if (!isfinite(scale) || scale == 0.0)
        return;
    for (size_t i = 0; i < n; i++) {
        double ends[2] = { NAN, NAN };
        (void)mel_metric_share_interval(ends, metric, 0, n, i, scale < 0.0 ? -1.0 : 1.0);
        w->weight[i].share = (mel_estimate){ a[i] / scale, ends[0], ends[1] };
        if (fabs(a[i]) > fabs(a[w->out.heaviest]))
            w->out.heaviest = i;
    }
    w->out.n_weights = n;
    w->out.weights = w->weight;
}

static const double no_bound = 1e-12;

/* A linear metric of two classes that both mistakes make worse; the threshold 1/(1 + ratio) falls as the
 * ratio grows. */
static void find_costs(mel_outcome *out, const mel_metric *metric)
{
    mel_cost_ratio cost;
    if (mel_metric_cost_ratio(&cost, metric, NULL) != MEL_OK)
        return;
    if (fabs(cost.low) < no_bound) /* the cosine of a right angle, rounded */
        cost.low = 0.0;
    if (cost.high > 1.0 / no_bound)
        cost.high = INFINITY;
    const bool hurts = mel_metric_threshold(&out->threshold.value, metric, NULL) == MEL_OK;
    if (hurts && cost.ratio > 0.0 && isfinite(cost.ratio))
        out->cost = (mel_estimate){ cost.ratio, cost.low, cost.high };
    if (hurts && cost.low >= 0.0 && cost.low <= cost.high) {
        out->threshold.low = 1.0 / (1.0 + cost.high);
        out->threshold.high = 1.0 / (1.0 + cost.low);
    }
}

void mel_outcome_find_weights(mel_outcome_work *w)
{
    if (w->status != MEL_OK)
        return;
    find_shares(w, w->metric);
    find_costs(&w->out, w->metric);
    mel_estimate *lambda = &w->out.lambda;
    lambda->value = mel_metric_lambda(w->metric);
    if (isfinite(lambda->value))
        (void)mel_metric_interval(w->metric, mel_metric_coefficients(w->metric) - 1, &lambda->low,
                                  &lambda->high);
}

/* Of two classes on a face as the cost ratio; elsewhere from the session's draws, which know how two weights
 * move together. */
static mel_status find_ratio(mel_cost_ratio *out, mel_outcome_work *w, size_t i, size_t of)
{
    TRY(mel_metric_weight_ratio(out, w->metric, i, of, w->err));
    if (w->out.domain->face != NULL)
        return MEL_OK;
    TRY(mel_outcome_draws(w));
    return mel_drawn_ratio_interval(out, w->n_draws, w->draw_width, w->draw, i, of, w->err);
}

void mel_outcome_find_ratios(mel_outcome_work *w)
{
    const size_t n = w->status == MEL_OK ? mel_outcome_per_group(w->metric) : 0;
    mel_cost_ratio probe;
    if (n < 2 || n > MOST_RATIOS || mel_outcome_is_search(&w->out) ||
        mel_metric_weight_ratio(&probe, w->metric, 0, 1, NULL) != MEL_OK)
        return;
    const double *a = mel_metric_numerator(w->metric, NULL);
    size_t largest = 0;
    for (size_t i = 1; i < n; i++)
        if (fabs(a[i]) > fabs(a[largest]))
            largest = i;
    w->ratio = mel_outcome_room(w, n, sizeof *w->ratio);
    for (size_t i = 0; i < n && w->status == MEL_OK; i++) {
        if (i == largest)
            continue;
        mel_weight_ratio *one = &w->ratio[w->out.n_ratios++];
        *one = (mel_weight_ratio){ .weight = i, .of = largest };
        if (mel_outcome_good(w, find_ratio(&one->ratio, w, i, largest)))
            one->wide = mel_cost_ratio_is_wide(&one->ratio);
    }
    w->out.ratios = w->ratio;
}

/* A copy whose intervals of two weights say what is known of their ratio: all of it is in one of them. */
static mel_status copy_sharper(mel_metric **out, const mel_metric *metric, const mel_weight_ratio *r,
                               mel_error *err)
{
    const size_t n = mel_metric_coefficients(metric);
    const double of = mel_metric_tensor(metric, 1)[r->of],
                 ends[2] = { of * r->ratio.low, of * r->ratio.high };
    double *low = mel_alloc(2 * n, sizeof *low), *high = low != NULL ? low + n : NULL;
    mel_status status = low != NULL ? mel_metric_copy(out, metric, err) : mel_fail_memory(err, "the result");
    for (size_t i = 0; i < n && status == MEL_OK; i++)
        if (!mel_metric_interval(metric, i, &low[i], &high[i]))
            status = mel_fail(err, MEL_ESTATE, "a ratio without intervals");
    if (status == MEL_OK) {
        low[r->of] = high[r->of] = of;
        low[r->weight] = fmin(ends[0], ends[1]);
        high[r->weight] = fmax(ends[0], ends[1]);
        status = mel_metric_set_intervals(*out, low, high, err);
    }
    free(low);
    return status;
}

/* Words, shares and costs of two weights are about their ratio, which a session knows better than the
 * intervals of each weight alone, as a metric file has them, do. */
void mel_outcome_sharpen_two(mel_outcome_work *w)
{
    const mel_cost_ratio *known = w->out.n_ratios == 1 ? &w->ratio[0].ratio : NULL;
    mel_metric *sharper = NULL;
    if (w->status != MEL_OK || known == NULL || w->out.domain->face != NULL || !isfinite(known->low) ||
        !isfinite(known->high))
        return;
    if (mel_outcome_good(w, copy_sharper(&sharper, w->metric, &w->ratio[0], w->err))) {
        mel_outcome_put_in_words(w, sharper);
        find_shares(w, sharper);
        find_costs(&w->out, sharper);
    }
    mel_metric_free(sharper);
}
