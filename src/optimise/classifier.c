/* Mixtures of weighted rules in memory: their names, and what they decide. */
#include "optimise/classifier.h"
#include "optimise/shared.h"
#include "space/shared.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void free_names(char **name, size_t n)
{
    for (size_t i = 0; name != NULL && i < n; i++)
        free(name[i]);
    free(name);
}

void mel_weighted_free(mel_weighted *w)
{
    if (w == NULL)
        return;
    free_names(w->class_name, w->mixture.n_classes);
    free_names(w->label, w->mixture.n_classes);
    mel_blend_clear(&w->mixture);
    mel_weight_basis_free(w->basis);
    free(w);
}

static mel_status copy_mixture(mel_blend *out, const mel_blend *from, size_t n_basis, mel_error *err)
{
    const size_t n = from->n_rules * n_basis * from->n_classes * from->n_classes;
    *out = (mel_blend){ .n_rules = from->n_rules, .n_classes = from->n_classes, .n_groups = from->n_groups };
    out->gain = mel_alloc(n, sizeof *out->gain);
    out->share = mel_alloc(from->n_rules, sizeof *out->share);
    if (out->gain == NULL || out->share == NULL)
        return mel_fail_memory(err, "a classifier");
    memcpy(out->gain, from->gain, n * sizeof *out->gain);
    memcpy(out->share, from->share, from->n_rules * sizeof *out->share);
    return MEL_OK;
}

static mel_status default_basis(mel_weight_basis **out, mel_error *err)
{
    const mel_status status = mel_weight_basis_new(out, err);
    return status == MEL_OK ? mel_weight_basis_add_default(*out, err) : status;
}

mel_status mel_weighted_new(mel_weighted **out, const mel_blend *mixture, mel_weight_basis *basis,
                            bool majority, mel_error *err)
{
    *out = NULL;
    const size_t n_basis = mixture->n_groups > 1 ? mixture->n_groups : 1;
    mel_weighted *w = mel_alloc_zero(1, sizeof *w);
    mel_status status = MEL_OK;
    if (w == NULL) {
        mel_weight_basis_free(basis);
        return mel_fail_memory(err, "a classifier");
    }
    w->basis = basis;
    w->majority = majority;
    w->value = NAN;
    if (basis == NULL)
        status = default_basis(&w->basis, err);
    if (status == MEL_OK && mel_weight_basis_size(w->basis) != n_basis)
        status = mel_fail(err, MEL_EINVAL, "%zu basis functions for rules of %zu",
                          mel_weight_basis_size(w->basis), n_basis);
    if (status == MEL_OK)
        status = copy_mixture(&w->mixture, mixture, n_basis, err);
    if (status == MEL_OK)
        status = mel_weighted_set_source(w, NULL, NULL, NAN, err);
    if (status == MEL_OK)
        *out = w;
    else
        mel_weighted_free(w);
    return status;
}

/* name NULL: "0", "1", ... */
static bool copy_class_names(char ***out, size_t n, const char *const *name)
{
    *out = mel_alloc_zero(n, sizeof **out);
    bool whole = *out != NULL;
    for (size_t i = 0; i < n && whole; i++) {
        char number[24];
        (void)snprintf(number, sizeof number, "%zu", i);
        (*out)[i] = mel_strdup(name != NULL ? name[i] : number);
        whole = (*out)[i] != NULL;
    }
    return whole;
}

mel_status mel_weighted_set_source(mel_weighted *w, const char *const *class_name, const char *const *label,
                                   double value, mel_error *err)
{
    const size_t n = w->mixture.n_classes;
    char **names = NULL, **labels = NULL;
    if (!copy_class_names(&names, n, class_name) || (label != NULL && !copy_class_names(&labels, n, label))) {
        free_names(names, n);
        free_names(labels, n);
        return mel_fail_memory(err, "names");
    }
    free_names(w->class_name, n);
    free_names(w->label, n);
    w->class_name = names;
    w->label = labels;
    w->value = value;
    return MEL_OK;
}

void mel_weighted_set_number_texts(mel_weighted *w, bool yes)
{
    w->number_texts = yes;
}

mel_weighted_parts mel_weighted_get(const mel_weighted *w)
{
    return (mel_weighted_parts){ .mixture = &w->mixture,
                                 .basis = w->basis,
                                 .majority = w->majority,
                                 .class_name = (const char *const *)w->class_name,
                                 .label = (const char *const *)w->label,
                                 .number_texts = w->number_texts,
                                 .value = w->value };
}

void mel_weighted_majority(double *chance, size_t k)
{
    size_t most = 0;
    for (size_t j = 1; j < k; j++)
        if (chance[j] > chance[most])
            most = j;
    for (size_t j = 0; j < k; j++)
        chance[j] = j == most ? 1.0 : 0.0;
}

mel_status mel_weighted_apply(double *chance, const mel_weighted *w, size_t n, const double *probability,
                              const mel_feature_rows *features, mel_error *err)
{
    const size_t k = w->mixture.n_classes, n_basis = mel_weight_basis_size(w->basis);
    double *basis = mel_alloc(n, n_basis * sizeof *basis);
    mel_status status = basis != NULL ? mel_weight_basis_values(basis, w->basis, features, n, err)
                                      : mel_fail_memory(err, "basis functions");
    if (status == MEL_OK)
        status = mel_weighted_chances(chance, &w->mixture, n, probability, basis, err);
    for (size_t i = 0; i < n && status == MEL_OK && w->majority; i++)
        mel_weighted_majority(chance + i * k, k);
    free(basis);
    return status;
}

mel_status mel_weighted_decide_from(uint32_t *prediction, const mel_weighted *w, size_t before, size_t n,
                                    const double *probability, const mel_feature_rows *features,
                                    uint64_t seed, mel_error *err)
{
    const size_t k = w->mixture.n_classes;
    double *chance = mel_alloc(n, k * sizeof *chance);
    if (chance == NULL)
        return mel_fail_memory(err, "predictions");
    const mel_status status = mel_weighted_apply(chance, w, n, probability, features, err);
    mel_rng rng;
    mel_rng_seed(&rng, seed);
    mel_rng_skip(&rng, before);
    for (size_t i = 0; i < n && status == MEL_OK; i++) {
        double left = mel_rng_uniform(&rng);
        uint32_t j = 0;
        while (j + 1 < k && left >= chance[i * k + j])
            left -= chance[i * k + j++];
        prediction[i] = j;
    }
    free(chance);
    return status;
}

mel_status mel_weighted_decide(uint32_t *prediction, const mel_weighted *w, size_t n,
                               const double *probability, const mel_feature_rows *features, uint64_t seed,
                               mel_error *err)
{
    return mel_weighted_decide_from(prediction, w, 0, n, probability, features, seed, err);
}
