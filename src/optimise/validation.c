/* Sums over the validation rows, of which elicitation and the metric's confusion entries are made. */
#include "base/team.h"
#include "optimise/optimise.h"

#include <stdlib.h>
#include <string.h>

enum { SLICE_ROWS = 1 << 17, MOST_SLICES = 64 };

/* [group][class][d] over all rows. */
void mel_validation_totals(double *total, const mel_weighting *w, double *u)
{
    const size_t k = w->size.k, n_directions = w->size.n_directions;
    for (size_t i = 0; i < w->validation->n_rows; i++) {
        mel_directions(u, &w->size, w->validation->probability + i * k,
                       mel_weight_basis_row(w->validation->basis, w->size.n_basis, i));
        double *to = total + (mel_box_group(w->box, i) * k + w->validation->label[i]) * n_directions;
        for (size_t d = 0; d < n_directions; d++)
            to[d] += u[d];
    }
}

/* One rule on the validation rows. */
typedef struct {
    mel_iterate *rule;
    const mel_weighting *w;
    const double *gain;
    size_t n_slices, n_sums;
    bool diagonal;
} pass;

/* Rows of one slice; scratch is behind the sums. */
static void sum_validation_slice(double *sums, size_t slice, size_t thread, void *user)
{
    (void)thread;
    const pass *p = user;
    const mel_weighting *w = p->w;
    const size_t k = w->size.k, n_basis = w->size.n_basis, n_directions = w->size.n_directions,
                 n = w->validation->n_rows;
    double *score = sums + p->n_sums, *u = score + k;
    memset(sums, 0, p->n_sums * sizeof *sums);
    for (size_t i = slice * n / p->n_slices; i < (slice + 1) * n / p->n_slices; i++) {
        const double *probability = w->validation->probability + i * k,
                     *phi = mel_weight_basis_row(w->validation->basis, n_basis, i);
        const size_t j = mel_weighted_class(k, n_basis, p->gain, p->diagonal, probability, phi, score);
        if (p->rule->chance != NULL)
            p->rule->chance[i * k + j] = 1.0;
        if (p->rule->validation == NULL)
            continue;
        mel_directions(u, &w->size, probability, phi);
        double *to = sums + ((mel_box_group(w->box, i) * k + w->validation->label[i]) * k + j) * n_directions;
        for (size_t d = 0; d < n_directions; d++)
            to[d] += u[d];
    }
}

mel_status mel_validation_sums(mel_iterate *rule, const mel_weighting *w, const double *gain, mel_error *err)
{
    const size_t k = w->size.k, n_directions = w->size.n_directions, n = w->validation->n_rows;
    const size_t wanted = (n + SLICE_ROWS - 1) / SLICE_ROWS;
    pass p = { .rule = rule, .w = w, .gain = gain };
    p.n_sums = rule->validation != NULL ? w->size.n_groups * k * k * n_directions : 0;
    p.diagonal = mel_weighted_diagonal(k, w->size.n_basis, gain);
    /* Decisions about each row are for one process to note. */
    p.n_slices = rule->chance != NULL || wanted < 2 ? 1 : wanted < MOST_SLICES ? wanted : MOST_SLICES;
    const size_t stride = p.n_sums + k + n_directions;
    MEL_AUTO_MEMORY double *part = mel_alloc(p.n_slices, stride * sizeof *part);
    if (part == NULL)
        return mel_fail_memory(err, "sums over validation rows");
    if (rule->chance != NULL)
        memset(rule->chance, 0, n * k * sizeof *rule->chance);
    const mel_slices slices = { .n_slices = p.n_slices,
                                .rows = n,
                                .size = p.n_sums,
                                .stride = stride,
                                .sum = part,
                                .threads = p.n_slices > 1 ? mel_thread_count(w->size.threads) : 1,
                                .fill = sum_validation_slice,
                                .user = &p };
    mel_slices_fill(&slices);
    mel_slices_join(&slices);
    if (rule->validation != NULL)
        memcpy(rule->validation, part, p.n_sums * sizeof *part);
    return MEL_OK;
}
