/* Sums over the validation rows, of which elicitation and the metric's confusion entries are made. */
#include "optimise/optimise.h"

#include <string.h>

static size_t group_of(const mel_weighting *w, size_t row)
{
    return w->box->group != NULL ? w->box->group[row] : 0;
}

/* [group][class][d] over all rows. */
void mel_validation_totals(double *total, const mel_weighting *w, double *u)
{
    const size_t k = w->size.k, n_directions = w->size.n_directions;
    for (size_t i = 0; i < w->validation->n_rows; i++) {
        mel_directions(u, &w->size, w->validation->probability + i * k,
                       mel_weight_basis_row(w->validation->basis, w->size.n_basis, i));
        double *to = total + (group_of(w, i) * k + w->validation->label[i]) * n_directions;
        for (size_t d = 0; d < n_directions; d++)
            to[d] += u[d];
    }
}

/* What a rule does on the validation rows. scratch: k + n_directions. */
void mel_validation_sums(mel_iterate *rule, const mel_weighting *w, const double *gain, double *scratch)
{
    const size_t k = w->size.k, n_basis = w->size.n_basis, n_directions = w->size.n_directions;
    const bool diagonal = mel_weighted_diagonal(k, n_basis, gain);
    double *u = scratch + k;
    if (rule->validation != NULL)
        memset(rule->validation, 0, w->size.n_groups * k * k * n_directions * sizeof *rule->validation);
    if (rule->chance != NULL)
        memset(rule->chance, 0, w->validation->n_rows * k * sizeof *rule->chance);
    for (size_t i = 0; i < w->validation->n_rows; i++) {
        const double *probability = w->validation->probability + i * k,
                     *phi = mel_weight_basis_row(w->validation->basis, n_basis, i);
        const size_t j = mel_weighted_class(k, n_basis, gain, diagonal, probability, phi, scratch);
        if (rule->chance != NULL)
            rule->chance[i * k + j] = 1.0;
        if (rule->validation == NULL)
            continue;
        mel_directions(u, &w->size, probability, phi);
        double *to =
            rule->validation + ((group_of(w, i) * k + w->validation->label[i]) * k + j) * n_directions;
        for (size_t d = 0; d < n_directions; d++)
            to[d] += u[d];
    }
}
