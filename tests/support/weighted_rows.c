/* Random rows for black-box optimisation. */
#include "support/weighted_rows.h"

#include "base/rng.h"
#include "support/test.h"

#include <math.h>

static void fill(mel_rng *rng, size_t n, double *probability, double *basis, uint32_t *label)
{
    for (size_t i = 0; i < n; i++) {
        double sum = 0.0;
        for (size_t j = 0; j < K; j++)
            sum += probability[i * K + j] = exp(2.0 * mel_rng_normal(rng));
        for (size_t j = 0; j < K; j++)
            probability[i * K + j] /= sum;
        for (size_t l = 0; l < L; l++)
            basis[i * L + l] = mel_rng_uniform(rng);
        const double u = mel_rng_uniform(rng);
        label[i] = u < probability[i * K] ? 0 : u < probability[i * K] + probability[i * K + 1] ? 1 : 2;
        if (i < 2 * K)
            label[i] = (uint32_t)(i % K);
    }
}

problem make_problem(uint64_t seed)
{
    problem p;
    mel_rng rng;
    mel_rng_seed(&rng, seed);
    fill(&rng, TRAIN, p.train_probability, p.train_basis, p.train_label);
    fill(&rng, VALIDATION, p.validation_probability, p.validation_basis, p.validation_label);
    for (size_t i = 0; i < VALIDATION; i++)
        p.group[i] = i < 2 * K ? (uint32_t)(i / K) : (uint32_t)mel_rng_below(&rng, 2);
    return p;
}

mel_weight_rows train_of(const problem *p)
{
    return (mel_weight_rows){ TRAIN, p->train_probability, p->train_label, p->train_basis };
}

mel_weight_rows validation_of(const problem *p)
{
    return (mel_weight_rows){ VALIDATION, p->validation_probability, p->validation_label,
                              p->validation_basis };
}

mel_measure *measure_named(const char *name, size_t k, size_t n_groups)
{
    mel_measure *m = NULL;
    mel_error err = { 0 };
    assert_ok(mel_measure_named(&m, name, k, n_groups, &err), &err);
    return m;
}
