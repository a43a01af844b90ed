/* Probing classifiers from the constraint problem of appendix E.7: each does much of one entry (basis
 * function, class) and little of all others. All of them are rules of weights, as the results are.
 *
 * Disjoint clusters: class i on cluster l, and on every other cluster the class with the smallest w_j
 * P(Y=j|x), where w_j/w_k comes from one line search per class that makes the larger of the two entries
 * small. (The thesis prints argmax; with argmax the entries would be large.) Overlapping functions:
 * multipliers on the other entries, raised where they are largest, until the wanted entry stands out most. */
#include "base/stat.h"
#include "optimise/optimise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 60 };

void mel_probes_clear(mel_probes *p)
{
    free(p->weight);
    free(p->decision);
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
    const mel_status status = mel_argsort(pair->n, pair->share, pair->order, err);
    if (status != MEL_OK)
        return status;
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
    pair_rows pair = { .share = mel_alloc(rows->n_rows, sizeof *pair.share),
                       .order = mel_alloc(rows->n_rows, sizeof *pair.order),
                       .row = mel_alloc(rows->n_rows, sizeof *pair.row) };
    mel_status status = pair.share != NULL && pair.order != NULL && pair.row != NULL
                            ? MEL_OK
                            : mel_fail_memory(err, "probes");
    for (size_t l = 0; l < size->n_basis && status == MEL_OK; l++) {
        w[l * k + k - 1] = 1.0;
        for (size_t i = 0; i + 1 < k && status == MEL_OK; i++) {
            double cut = 0.5;
            collect(&pair, rows, k, size->n_basis, l, i);
            status = best_cut(&cut, &pair, rows, i, err);
            w[l * k + i] = (1.0 - cut) / cut;
        }
    }
    free(pair.share);
    free(pair.order);
    free(pair.row);
    return status;
}

static mel_status make_disjoint(mel_probes *p, const mel_weight_size *size, const mel_weight_rows *rows,
                                mel_error *err)
{
    const size_t k = size->k, n_basis = size->n_basis;
    double *w = mel_alloc(n_basis * k, sizeof *w);
    if (w == NULL)
        return mel_fail_memory(err, "probes");
    const mel_status status = shun_clusters(w, size, rows, err);
    for (size_t l = 0; l < n_basis && status == MEL_OK; l++)
        for (size_t i = 0; i < k; i++) {
            double *weight = p->weight + (l * k + i) * n_basis * k;
            for (size_t c = 0; c < n_basis * k; c++)
                weight[c] = -w[c];
            for (size_t j = 0; j < k; j++)
                weight[l * k + j] = j == i ? 1.0 : -1.0;
        }
    free(w);
    return status;
}

/* --- overlapping functions ---------------------------------------------------------------------- */

/* Sums of phi_l over the rows that a rule of weights decides as their own class c: hit[l][c], as shares of
 * scale. */
static mel_status hit_shares(double *hit, double *moment, const mel_weighting *w, const double *weight,
                             double *gain, mel_error *err)
{
    const size_t k = w->size.k, n_basis = w->size.n_basis;
    if (w->size.whole)
        mel_weights_to_gains(gain, k, n_basis, weight);
    const mel_status status = mel_packed_sums(moment, w->packed, w->size.whole ? gain : weight, err);
    for (size_t l = 0; l < n_basis; l++)
        for (size_t c = 0; c < k; c++)
            hit[l * k + c] = moment[(w->size.whole ? c * k + c : c) * n_basis + l] / w->scale[l];
    return status;
}

/* By how much entry `wanted` exceeds the largest of the others. */
static double lead(size_t n, const double *hit, size_t wanted)
{
    double most = -INFINITY;
    for (size_t c = 0; c < n; c++)
        if (c != wanted)
            most = fmax(most, hit[c]);
    return hit[wanted] - most;
}

/* Multiplicative weights on the other entries: those that are large count more in the next round. */
static mel_status make_overlapping(double *best, mel_weighting *w, size_t wanted, double *scratch,
                                   mel_error *err)
{
    const size_t n = w->size.n_basis * w->size.k;
    double *weight = scratch, *sum = weight + n, *hit = sum + n, *gain = hit + n,
           *moment = gain + n * w->size.k;
    double most = -INFINITY;
    mel_status status = MEL_OK;
    memset(sum, 0, n * sizeof *sum);
    for (int round = 0; round < ROUNDS && status == MEL_OK; round++) {
        const double rate = sqrt(8.0 * log((double)n) / (round + 1.0));
        double total = 0.0;
        for (size_t c = 0; c < n; c++)
            total += weight[c] = c == wanted ? 0.0 : exp(rate * sum[c]);
        for (size_t c = 0; c < n; c++)
            weight[c] = c == wanted ? 1.0 : -weight[c] / total;
        status = hit_shares(hit, moment, w, weight, gain, err);
        double average = 0.0;
        for (size_t c = 0; c < n && status == MEL_OK; c++)
            average += hit[c] / (double)n;
        for (size_t c = 0; c < n && status == MEL_OK; c++)
            sum[c] += hit[c] - average;
        if (status == MEL_OK && lead(n, hit, wanted) > most) {
            most = lead(n, hit, wanted);
            memcpy(best, weight, n * sizeof *best);
        }
    }
    return status;
}

/* --- what they do ------------------------------------------------------------------------------- */

static mel_status measure(mel_weighting *w, size_t number, double *scratch, mel_error *err)
{
    mel_probes *p = &w->probes;
    const size_t k = w->size.k, n_basis = w->size.n_basis, n = w->validation->n_rows,
                 cells = w->size.n_groups * k * k;
    double *gain = scratch, *score = gain + n_basis * k * k;
    const double *weight = p->weight + number * n_basis * k;
    mel_weights_to_gains(gain, k, n_basis, weight);
    const mel_status status = mel_packed_sums(p->train + number * mel_weight_cells(&w->size) * n_basis,
                                              w->packed, w->size.whole ? gain : weight, err);
    for (size_t i = 0; i < n && status == MEL_OK; i++) {
        const uint32_t j = mel_weighted_class(k, n_basis, gain, true, w->validation->probability + i * k,
                                              mel_weight_basis_row(w->validation->basis, n_basis, i), score);
        const size_t g = w->box->group != NULL ? w->box->group[i] : 0;
        p->decision[number * n + i] = j;
        if (p->validation != NULL)
            p->validation[number * cells + (g * k + w->validation->label[i]) * k + j] += 1.0 / (double)n;
    }
    return status;
}

mel_status mel_probes_make(mel_weighting *w, const mel_weight_rows *train, mel_error *err)
{
    mel_probes *p = &w->probes;
    const size_t k = w->size.k, n_basis = w->size.n_basis, n = n_basis * k;
    const bool labelled = w->validation->label != NULL;
    double *scratch = NULL;
    const mel_part parts[] = { { n * n, { &p->weight } },
                               { n * mel_weight_cells(&w->size) * n_basis, { &p->train } },
                               { labelled ? n * w->size.n_groups * k * k : 1, { &p->validation } } };
    const bool made = mel_parts_new(MEL_PARTS(parts));
    p->n = n;
    p->decision = mel_alloc(n, w->validation->n_rows * sizeof *p->decision);
    scratch = mel_alloc(3 * n + n * k + mel_packed_moments(&w->size) + k, sizeof *scratch);
    mel_status status =
        made && p->decision != NULL && scratch != NULL ? MEL_OK : mel_fail_memory(err, "probes");
    if (status == MEL_OK && !labelled)
        p->validation = NULL;
    const bool disjoint = status == MEL_OK && are_disjoint(train, n_basis);
    if (status == MEL_OK && disjoint)
        status = make_disjoint(p, &w->size, train, err);
    for (size_t i = 0; i < n && status == MEL_OK; i++) {
        if (!disjoint)
            status = make_overlapping(p->weight + i * n, w, i, scratch, err);
        if (status == MEL_OK)
            status = measure(w, i, scratch, err);
    }
    free(scratch);
    return status;
}
