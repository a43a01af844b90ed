/* Rules whose gains depend on basis functions: what they decide. */
#include "classify/basis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double one_function[] = { 1.0 };

const double *mel_weight_basis_row(const double *basis, size_t n_basis, size_t row)
{
    return basis != NULL ? basis + row * n_basis : one_function;
}

void mel_weights_to_gains(double *gain, size_t k, size_t n_basis, const double *weight)
{
    memset(gain, 0, n_basis * k * k * sizeof *gain);
    for (size_t l = 0; l < n_basis; l++)
        for (size_t j = 0; j < k; j++)
            gain[(l * k + j) * k + j] = weight[l * k + j];
}

bool mel_weighted_diagonal(size_t k, size_t n_basis, const double *gain)
{
    for (size_t i = 0; i < n_basis * k * k; i++)
        if (gain[i] != 0.0 && i / k % k != i % k)
            return false;
    return true;
}

static size_t largest(size_t k, const double *value)
{
    size_t best = 0;
    for (size_t j = 1; j < k; j++)
        if (value[j] > value[best])
            best = j;
    return best;
}

/* score_j = sum over l, i of gain[l][i][j] phi_l P(Y=i|x). */
static void score_row(double *score, size_t k, size_t n_basis, const double *gain, const double *probability,
                      const double *phi)
{
    for (size_t j = 0; j < k; j++)
        score[j] = 0.0;
    for (size_t l = 0; l < n_basis; l++)
        for (size_t i = 0; i < k; i++)
            for (size_t j = 0; j < k; j++)
                score[j] += gain[(l * k + i) * k + j] * phi[l] * probability[i];
}

/* The same numbers, to the last bit, as of packed training rows. */
static void score_row_diagonal(double *score, size_t k, size_t n_basis, const double *gain,
                               const double *probability, const double *phi)
{
    for (size_t j = 0; j < k; j++) {
        score[j] = gain[j * k + j] * phi[0];
        for (size_t l = 1; l < n_basis; l++)
            score[j] += gain[(l * k + j) * k + j] * phi[l];
        score[j] *= probability[j];
    }
}

uint32_t mel_weighted_class(size_t k, size_t n_basis, const double *gain, bool diagonal,
                            const double *probability, const double *phi, double *score)
{
    bool reached = false;
    for (size_t l = 0; l < n_basis; l++)
        reached = reached || phi[l] != 0.0;
    if (!reached)
        return (uint32_t)largest(k, probability);
    if (diagonal)
        score_row_diagonal(score, k, n_basis, gain, probability, phi);
    else
        score_row(score, k, n_basis, gain, probability, phi);
    return (uint32_t)largest(k, score);
}

mel_status mel_weighted_chances(double *chance, const mel_blend *mixture, size_t n, const double *probability,
                                const double *basis, mel_error *err)
{
    const size_t k = mixture->n_classes, n_basis = mixture->n_groups > 1 ? mixture->n_groups : 1;
    MEL_AUTO_MEMORY double *score = mel_alloc(k, sizeof *score);
    if (score == NULL)
        return mel_fail_memory(err, "scores");
    memset(chance, 0, n * k * sizeof *chance);
    for (size_t i = 0; i < n * k; i++)
        if (!isfinite(probability[i]))
            return mel_fail(err, MEL_EDATA, "row %zu: the probability %g is not finite", i / k + 1,
                            probability[i]);
    for (size_t r = 0; r < mixture->n_rules; r++) {
        const double *gain = mixture->gain + r * n_basis * k * k;
        const bool diagonal = mel_weighted_diagonal(k, n_basis, gain);
        for (size_t i = 0; i < n; i++)
            chance[i * k + mel_weighted_class(k, n_basis, gain, diagonal, probability + i * k,
                                              mel_weight_basis_row(basis, n_basis, i), score)] +=
                mixture->share[r];
    }
    return MEL_OK;
}

void mel_weighted_majority(double *chance, size_t k)
{
    const size_t most = largest(k, chance);
    for (size_t j = 0; j < k; j++)
        chance[j] = j == most ? 1.0 : 0.0;
}
