/* Probing classifiers from the constraint problem of appendix E.7: each does much of one entry (basis
 * function, class) and little of all others.
 *
 * Disjoint clusters: class i on cluster l, and on every other cluster the class with the smallest w_j
 * P(Y=j|x), where w_j/w_k comes from one line search per class that makes the larger of the two entries
 * small. (The thesis prints argmax; with argmax the entries would be large.) Overlapping functions and the
 * whole matrix: constrained.c. */
#include "base/stat.h"
#include "optimise/optimise.h"

#include <math.h>
#include <stdlib.h>

void mel_probes_clear(mel_probes *p)
{
    free(p->train);
    *p = (mel_probes){ 0 };
}

static bool are_disjoint(const mel_weight_rows *rows, size_t n_basis)
{
    for (size_t i = 0; i < rows->n_rows; i++) {
        const double *phi = mel_weight_basis_row(rows->basis, n_basis, i);
        size_t reached = 0;
        for (size_t l = 0; l < n_basis; l++)
            reached += phi[l] != 0.0;
        if (reached > 1)
            return false;
    }
    return true;
}

/* --- disjoint clusters -------------------------------------------------------------------------- */

/* Rows of one cluster that are of class i or of the last one, by P(i)/(P(i) + P(last)). */
typedef struct {
    size_t n;
    double *share;
    size_t *order, *row;
} pair_rows;

static void collect(pair_rows *out, const mel_weight_rows *rows, size_t k, size_t n_basis, size_t l, size_t i)
{
    out->n = 0;
    for (size_t r = 0; r < rows->n_rows; r++) {
        const double *p = rows->probability + r * k;
        if (mel_weight_basis_row(rows->basis, n_basis, r)[l] == 0.0 ||
            (rows->label[r] != i && rows->label[r] != k - 1))
            continue;
        const double both = p[i] + p[k - 1];
        out->row[out->n] = r;
        out->share[out->n++] = both > 0.0 ? p[i] / both : 0.5;
    }
}

/* Class i where the share is below a cut, the last class elsewhere: the cut that makes the larger of the two
 * hit counts smallest. */
static mel_status best_cut(double *cut, const pair_rows *pair, const mel_weight_rows *rows, size_t i,
                           mel_error *err)
{
    TRY(mel_argsort(pair->n, pair->share, pair->order, err));
    double last_hits = 0.0, hits = 0.0, best = INFINITY;
    for (size_t q = 0; q < pair->n; q++)
        last_hits += rows->label[pair->row[q]] != i;
    *cut = 0.5;
    for (size_t q = 0; q <= pair->n; q++) {
        const double low = q > 0 ? pair->share[pair->order[q - 1]] : 0.0,
                     high = q < pair->n ? pair->share[pair->order[q]] : 1.0;
        const double larger = hits > last_hits ? hits : last_hits;
        if (high > low && larger < best) {
            best = larger;
            *cut = 0.5 * (low + high);
        }
        if (q < pair->n && rows->label[pair->row[pair->order[q]]] == i)
            hits++;
        else if (q < pair->n)
            last_hits--;
    }
    return MEL_OK;
}

/* w[l][j], with w 1 for the last class. */
static mel_status shun_clusters(double *w, const mel_weight_size *size, const mel_weight_rows *rows,
                                mel_error *err)
{
    const size_t k = size->k;
    MEL_AUTO_MEMORY double *share = mel_alloc(rows->n_rows, sizeof *share);
    MEL_AUTO_MEMORY size_t *place = mel_alloc(rows->n_rows, 2 * sizeof *place);
    if (share == NULL || place == NULL)
        return mel_fail_memory(err, "probes");
    pair_rows pair = { .share = share, .order = place, .row = place + rows->n_rows };
    for (size_t l = 0; l < size->n_basis; l++) {
        w[l * k + k - 1] = 1.0;
        for (size_t i = 0; i + 1 < k; i++) {
            double cut = 0.5;
            collect(&pair, rows, k, size->n_basis, l, i);
            TRY(best_cut(&cut, &pair, rows, i, err));
            w[l * k + i] = (1.0 - cut) / cut;
        }
    }
    return MEL_OK;
}

/* The weights (n_basis x k) of the probe for class i on cluster l. */
static void put_probe(double *weight, const double *shunned, const mel_weight_size *size, size_t l, size_t i)
{
    for (size_t c = 0; c < size->n_basis * size->k; c++)
        weight[c] = -shunned[c];
    for (size_t j = 0; j < size->k; j++)
        weight[l * size->k + j] = j == i ? 1.0 : -1.0;
}

static mel_status make_disjoint(mel_weighting *w, const mel_weight_rows *rows, mel_error *err)
{
    const size_t k = w->size.k, n_basis = w->size.n_basis, n = n_basis * k;
    MEL_AUTO_MEMORY double *shunned = mel_alloc(2 * n + n * k, sizeof *shunned);
    if (shunned == NULL)
        return mel_fail_memory(err, "probes");
    double *weight = shunned + n, *gain = weight + n;
    TRY(shun_clusters(shunned, &w->size, rows, err));
    for (size_t l = 0; l < n_basis; l++)
        for (size_t i = 0; i < k; i++) {
            const size_t q = l * k + i;
            put_probe(weight, shunned, &w->size, l, i);
            mel_weights_to_gains(gain, k, n_basis, weight);
            TRY(mel_packed_sums(w->probes.train + q * k * n_basis, w->packed, weight, err));
            TRY(mel_probes_decide(w, q, gain, 1.0, err));
        }
    return MEL_OK;
}

/* --- all of them -------------------------------------------------------------------------------- */

mel_status mel_probes_decide(mel_weighting *w, size_t number, const double *gain, double share,
                             mel_error *err)
{
    mel_probes *p = &w->probes;
    const size_t k = w->size.k, n_basis = w->size.n_basis, n = w->validation->n_rows;
    const bool diagonal = mel_weighted_diagonal(k, n_basis, gain);
    MEL_AUTO_MEMORY double *score = mel_alloc(k, sizeof *score);
    if (score == NULL)
        return mel_fail_memory(err, "scores");
    for (size_t i = 0; i < n; i++) {
        const uint32_t j = mel_weighted_class(k, n_basis, gain, diagonal, w->validation->probability + i * k,
                                              mel_weight_basis_row(w->validation->basis, n_basis, i), score);
        const size_t g = mel_box_group(w->box, i);
        if (p->chance != NULL)
            p->chance[(number * n + i) * k + j] += share;
        else
            p->validation[((number * w->size.n_groups + g) * k + w->validation->label[i]) * k + j] +=
                share / (double)n;
    }
    return MEL_OK;
}

mel_status mel_probes_make(mel_weighting *w, const mel_weight_rows *train, mel_error *err)
{
    mel_probes *p = &w->probes;
    const size_t k = w->size.k, n = w->size.n_basis * w->n_cells;
    const bool judge = w->box->judge != NULL;
    const mel_part parts[] = { { n * mel_weight_cells(&w->size) * w->size.n_basis, { &p->train } },
                               { judge ? 0 : n * w->size.n_groups * k * k, { &p->validation } },
                               { judge ? n * w->validation->n_rows * k : 0, { &p->chance } } };
    p->n = n;
    if (!mel_parts_new(MEL_PARTS(parts)))
        return mel_fail_memory(err, "probes");
    if (judge)
        p->validation = NULL;
    else
        p->chance = NULL;
    return !w->size.whole && are_disjoint(train, w->size.n_basis) ? make_disjoint(w, train, err)
                                                                  : mel_probes_constrained(w, train, err);
}
