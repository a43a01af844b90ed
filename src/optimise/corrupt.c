/* Training rows as the noise models of section 7.2 make them, and the weights that undo them. */
#include "optimise/optimise.h"
#include "optimise/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double sum_tolerance = 1e-9;

static mel_status check_transition(size_t k, const double *transition, size_t cluster, mel_error *err)
{
    for (size_t i = 0; i < k; i++) {
        double sum = 0.0;
        for (size_t j = 0; j < k; j++) {
            const double p = transition[i * k + j];
            if (!(p >= 0.0 && p <= 1.0))
                return mel_fail(err, MEL_EDATA, "transition %zu, row %zu: %g is not a probability",
                                cluster + 1, i + 1, p);
            sum += p;
        }
        if (!(fabs(sum - 1.0) <= sum_tolerance))
            return mel_fail(err, MEL_EDATA, "transition %zu, row %zu: the probabilities add up to %g, not 1",
                            cluster + 1, i + 1, sum);
    }
    return MEL_OK;
}

static mel_status check_row(size_t i, size_t k, const uint32_t *label, size_t n_clusters,
                            const uint32_t *cluster, const double *strength, mel_error *err)
{
    if (label[i] >= k)
        return mel_fail(err, MEL_EDATA, "row %zu: class %lu of %zu", i + 1, (unsigned long)label[i], k);
    if (cluster != NULL && cluster[i] >= n_clusters)
        return mel_fail(err, MEL_EDATA, "row %zu: cluster %lu of %zu", i + 1, (unsigned long)cluster[i],
                        n_clusters);
    if (strength != NULL && !(strength[i] >= 0.0 && strength[i] <= 1.0))
        return mel_fail(err, MEL_EDATA, "row %zu: strength %g, expected a number from 0 to 1", i + 1,
                        strength[i]);
    return MEL_OK;
}

/* One label: kept with probability 1 - strength, else drawn from its row of the matrix. */
static uint32_t draw_label(size_t k, uint32_t label, const double *transition, double strength, mel_rng *rng)
{
    if (mel_rng_uniform(rng) >= strength)
        return label;
    double left = mel_rng_uniform(rng);
    uint32_t j = 0;
    while (j + 1 < k && left >= transition[label * k + j])
        left -= transition[label * k + j++];
    while (j > 0 && transition[label * k + j] == 0.0) /* rounding of the sum */
        j--;
    return j;
}

mel_status mel_corrupt_labels(uint32_t *noisy, size_t n, size_t n_classes, const uint32_t *label,
                              size_t n_clusters, const uint32_t *cluster, const double *transition,
                              const double *strength, uint64_t seed, mel_error *err)
{
    mel_status status = MEL_OK;
    for (size_t c = 0; c < n_clusters && status == MEL_OK; c++)
        status = check_transition(n_classes, transition + c * n_classes * n_classes, c, err);
    for (size_t i = 0; i < n && status == MEL_OK; i++)
        status = check_row(i, n_classes, label, n_clusters, cluster, strength, err);
    for (size_t i = 0; i < n && status == MEL_OK; i++) {
        mel_rng rng;
        mel_rng_seed_stream(&rng, seed, i);
        noisy[i] = draw_label(n_classes, label[i],
                              transition + (cluster != NULL ? cluster[i] : 0) * n_classes * n_classes,
                              strength != NULL ? strength[i] : 1.0, &rng);
    }
    return status;
}

mel_status mel_corrupt_domain(size_t *row, size_t n_drawn, size_t n, const double *weight, uint64_t seed,
                              mel_error *err)
{
    double *sum = mel_alloc(n, sizeof *sum), total = 0.0;
    if (sum == NULL)
        return mel_fail_memory(err, "weights");
    mel_status status = MEL_OK;
    for (size_t i = 0; i < n && status == MEL_OK; i++) {
        if (!(weight[i] >= 0.0 && isfinite(weight[i])))
            status = mel_fail(err, MEL_EDATA, "row %zu: weight %g, expected a finite number, 0 or more",
                              i + 1, weight[i]);
        sum[i] = total += weight[i];
    }
    if (status == MEL_OK && !(total > 0.0 && isfinite(total)))
        status = mel_fail(err, MEL_EDATA, "the weights add up to %g", total);
    mel_rng rng;
    mel_rng_seed(&rng, seed);
    for (size_t d = 0; d < n_drawn && status == MEL_OK; d++) {
        const double at = mel_rng_uniform(&rng) * total;
        size_t low = 0, high = n - 1; /* the first row with sum > at */
        while (low < high) {
            const size_t mid = low + (high - low) / 2;
            if (sum[mid] > at)
                high = mid;
            else
                low = mid + 1;
        }
        row[d] = low;
    }
    free(sum);
    return status;
}
