/* The baseline that tunes one gain per class on the validation rows, each by a line search of its own. */
#include "optimise/optimise.h"
#include "optimise/shared.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Class j or class 0, by zeta. */
static void decide_pair(double *chance, const mel_weight_rows *rows, size_t k, size_t j, double zeta)
{
    memset(chance, 0, rows->n_rows * k * sizeof *chance);
    for (size_t i = 0; i < rows->n_rows; i++) {
        const double *p = rows->probability + i * k;
        chance[i * k + (zeta * p[j] > (1.0 - zeta) * p[0] ? j : 0)] = 1.0;
    }
}

static mel_status value_of(double *value, mel_optimise_result *found, const mel_weight_rows *rows, size_t k,
                           const mel_black_box *box, const double *chance, mel_error *err)
{
    const mel_status status = mel_black_box_of(value, box, rows->n_rows, k, rows->label, chance, err);
    found->queries++;
    return status == MEL_OK && !isfinite(*value) ? mel_fail(err, MEL_EDATA, "the metric is %g", *value)
                                                 : status;
}

/* The best zeta for class j, the smallest of those that tie. */
static mel_status search_class(double *zeta, mel_optimise_result *found, size_t k, size_t j,
                               const mel_weight_rows *rows, const mel_black_box *box, double spacing,
                               const mel_progress *progress, double *chance, mel_error *err)
{
    const size_t n = (size_t)(1.0 / spacing + 0.5);
    double best = -INFINITY;
    mel_status status = MEL_OK;
    for (size_t z = 1; z < n && status == MEL_OK; z++) {
        double value = 0.0;
        decide_pair(chance, rows, k, j, (double)z * spacing);
        status = value_of(&value, found, rows, k, box, chance, err);
        if (status == MEL_OK && value > best) {
            best = value;
            *zeta = (double)z * spacing;
        }
        if (status == MEL_OK && z % 64 == 0)
            status = mel_report_progress(progress, "plug-in", (double)z / (double)n, err);
    }
    return status;
}

static mel_status search_all(mel_optimise_result *found, size_t k, const mel_weight_rows *rows,
                             const mel_black_box *box, double spacing, const mel_progress *progress,
                             double *chance, mel_error *err)
{
    mel_status status = MEL_OK;
    found->mixture.gain[0] = 1.0;
    for (size_t j = 1; j < k && status == MEL_OK; j++) {
        double zeta = 0.5;
        status = search_class(&zeta, found, k, j, rows, box, spacing, progress, chance, err);
        found->mixture.gain[j * k + j] = zeta / (1.0 - zeta);
    }
    if (status == MEL_OK)
        status = mel_weighted_chances(chance, &found->mixture, rows->n_rows, rows->probability, NULL, err);
    if (status == MEL_OK)
        status = value_of(&found->value, found, rows, k, box, chance, err);
    found->best = found->value;
    return status;
}

mel_status mel_optimise_plug_in(mel_optimise_result *found, size_t n_classes,
                                const mel_weight_rows *validation, const mel_black_box *box, double spacing,
                                const mel_progress *progress, mel_error *err)
{
    const size_t k = n_classes;
    *found = (mel_optimise_result){ .condition = NAN, .gap = NAN };
    if (!(spacing > 0.0 && spacing <= 0.5))
        return mel_fail(err, MEL_EINVAL, "spacing %g: expected a number above 0, at most 0.5", spacing);
    if (validation->n_rows == 0 || (box->judge == NULL && validation->label == NULL))
        return mel_fail(err, MEL_EINVAL, "expected validation rows with labels");
    double *chance = mel_alloc(validation->n_rows, k * sizeof *chance);
    found->mixture = (mel_blend){ .n_rules = 1, .n_classes = k };
    found->mixture.gain = mel_alloc_zero(k * k, sizeof *found->mixture.gain);
    found->mixture.share = mel_alloc_zero(1, sizeof *found->mixture.share);
    mel_status status = chance != NULL && found->mixture.gain != NULL && found->mixture.share != NULL
                            ? MEL_OK
                            : mel_fail_memory(err, "the search");
    if (status == MEL_OK) {
        found->mixture.share[0] = 1.0;
        status = search_all(found, k, validation, box, spacing, progress, chance, err);
    }
    free(chance);
    if (status != MEL_OK)
        mel_optimise_clear(found);
    return status;
}
