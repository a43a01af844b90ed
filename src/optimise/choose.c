/* Choosing basis functions and epsilon by cross-fitting: values on rows that did not take part. */
#include "metric/shared.h"
#include "optimise/optimise.h"
#include "optimise/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- measures of confusion matrices as black boxes that are to be made large --------------------- */

static double sign_of(const mel_measure *m)
{
    return mel_measure_orientation(m) == MEL_COST ? -1.0 : 1.0;
}

static mel_status box_value(double *out, void *user, const double *confusion, mel_error *err)
{
    TRY(mel_measure_value(out, user, confusion, err));
    *out *= sign_of(user);
    return MEL_OK;
}

static mel_status box_gradient(double *out, void *user, const double *confusion, mel_error *err)
{
    TRY(mel_measure_gradient(out, user, confusion, err));
    for (size_t c = 0; c < mel_measure_cells(user); c++)
        out[c] *= sign_of(user);
    return MEL_OK;
}

mel_black_box mel_measure_box(mel_measure *m, const uint32_t *group)
{
    return (mel_black_box){ .value = box_value,
                            .gradient = mel_measure_has_gradient(m) ? box_gradient : NULL,
                            .user = m,
                            .n_groups = group != NULL ? mel_measure_groups(m) : 0,
                            .group = group };
}

/* --- choosing ------------------------------------------------------------------------------------ */

mel_status mel_black_box_of(double *out, const mel_black_box *box, size_t n, size_t n_classes,
                            const uint32_t *label, const double *chance, mel_error *err)
{
    const size_t k = n_classes, m = box->n_groups > 1 ? box->n_groups : 1;
    if (box->judge != NULL) {
        const mel_status judged = box->judge(out, box->user, chance, err);
        return judged == MEL_OK ? mel_metric_finite(*out, err) : judged;
    }
    MEL_AUTO_MEMORY double *confusion = mel_alloc_zero(m * k * k, sizeof *confusion);
    if (confusion == NULL)
        return mel_fail_memory(err, "a confusion matrix");
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < k; j++)
            confusion[(mel_box_group(box, i) * k + label[i]) * k + j] += chance[i * k + j];
    for (size_t c = 0; c < m * k * k; c++)
        confusion[c] /= (double)n;
    TRY(box->value(out, box->user, confusion, err));
    return mel_metric_finite(*out, err);
}

/* Rows in a new order, of which a part can be left out, and the best classifier so far. */
typedef struct {
    size_t n, k;
    const mel_weight_rows *rows;
    const mel_black_box *box;
    mel_optimise_result so_far;  /* its value is that on all rows */
    size_t so_far_of;            /* which candidate */
    double *chance;              /* n x k: decisions about all rows */
    uint32_t *fold;              /* of each row */
    double *probability, *basis; /* of the rows that are in */
    uint32_t *label, *group;
    size_t *from; /* of each of them: its place in rows */
} folded;

static void folded_clear(folded *f)
{
    free(f->fold);
    free(f->probability);
    free(f->basis);
    free(f->label);
    free(f->from);
    free(f->chance);
    mel_optimise_clear(&f->so_far);
}

/* Rows of one class and group go to the folds in turn, in random order. */
static mel_status deal(folded *f, size_t folds, uint64_t seed, mel_error *err)
{
    MEL_AUTO_MEMORY size_t *order = mel_alloc(f->n, sizeof *order);
    if (order == NULL)
        return mel_fail_memory(err, "folds");
    mel_rng rng;
    mel_rng_seed(&rng, seed);
    for (size_t i = 0; i < f->n; i++)
        order[i] = i;
    mel_rng_shuffle(&rng, f->n, order);
    const size_t m = f->box->n_groups > 1 ? f->box->n_groups : 1;
    size_t dealt = 0;
    for (size_t cell = 0; cell < m * f->k; cell++)
        for (size_t i = 0; i < f->n; i++)
            if (mel_box_group(f->box, order[i]) * f->k + f->rows->label[order[i]] == cell)
                f->fold[order[i]] = (uint32_t)(dealt++ % folds);
    return MEL_OK;
}

static bool folded_room(folded *f, size_t most_basis)
{
    f->fold = mel_alloc(f->n, sizeof *f->fold);
    f->probability = mel_alloc(f->n * f->k, sizeof *f->probability);
    f->basis = mel_alloc(f->n * most_basis, sizeof *f->basis);
    f->label = mel_alloc(f->n, 2 * sizeof *f->label);
    f->from = mel_alloc(f->n, sizeof *f->from);
    f->chance = mel_alloc(f->n * f->k, sizeof *f->chance);
    if (f->fold == NULL || f->probability == NULL || f->basis == NULL || f->label == NULL ||
        f->from == NULL || f->chance == NULL)
        return false;
    f->group = f->label + f->n;
    return true;
}

/* The rows of one fold, or all others; how many. */
static size_t take_fold(folded *f, const mel_weight_candidate *c, size_t fold, bool inside)
{
    const size_t k = f->k, l = c->n_basis;
    size_t n = 0;
    for (size_t i = 0; i < f->n; i++) {
        if ((f->fold[i] == fold) != inside)
            continue;
        memcpy(f->probability + n * k, f->rows->probability + i * k, k * sizeof *f->probability);
        memcpy(f->basis + n * l, mel_weight_basis_row(c->validation, l, i), l * sizeof *f->basis);
        f->label[n] = f->rows->label[i];
        f->group[n] = (uint32_t)mel_box_group(f->box, i);
        f->from[n++] = i;
    }
    return n;
}

/* Keeps what was found, which becomes empty, where nothing was better on all rows. */
static mel_status keep_best(folded *f, mel_optimise_result *found, const mel_weight_candidate *c,
                            size_t number, mel_error *err)
{
    double value = NAN;
    mel_status status =
        mel_weighted_chances(f->chance, &found->mixture, f->n, f->rows->probability, c->validation, err);
    if (status == MEL_OK)
        status = mel_black_box_of(&value, f->box, f->n, f->k, f->rows->label, f->chance, err);
    if (status == MEL_ENOMEM)
        return status;
    if (status != MEL_OK || (f->so_far.mixture.n_rules > 0 && value <= f->so_far.value))
        return MEL_OK;
    mel_optimise_clear(&f->so_far);
    f->so_far = *found;
    f->so_far.value = f->so_far.best = value;
    f->so_far_of = number;
    *found = (mel_optimise_result){ 0 };
    return MEL_OK;
}

/* Decisions about the rows of a fold by what was found on the others. */
static mel_status fit_fold(double *chance, folded *f, const mel_weight_candidate *c, size_t number,
                           size_t fold, const mel_weight_rows *train, const mel_optimise_options *opt,
                           mel_error *err)
{
    const size_t k = f->k;
    __attribute__((cleanup(mel_optimise_clear))) mel_optimise_result found = { 0 };
    const mel_weight_rows rows = { take_fold(f, c, fold, false), f->probability, f->label, f->basis };
    mel_weight_rows own = *train;
    mel_black_box box = *f->box;
    own.basis = c->train;
    box.group = box.group != NULL ? f->group : NULL;
    TRY(mel_optimise(&found, k, c->n_basis, &own, &rows, &box, opt, err));
    const mel_optimise_end end = found.end;
    const mel_error failure = found.failure;
    const size_t n = take_fold(f, c, fold, true);
    MEL_AUTO_MEMORY double *part = mel_alloc(n, k * sizeof *part);
    if (part == NULL)
        return mel_fail_memory(err, "decisions");
    TRY(mel_weighted_chances(part, &found.mixture, n, f->probability, f->basis, err));
    for (size_t i = 0; i < n; i++)
        memcpy(chance + f->from[i] * k, part + i * k, k * sizeof *chance);
    TRY(keep_best(f, &found, c, number, err));
    return end >= MEL_OPTIMISE_STOPPED ? mel_fail(err, failure.code, "%s", failure.text) : MEL_OK;
}

static mel_status cross_fit(double *value, folded *f, const mel_weight_candidate *c, size_t number,
                            size_t folds, const mel_weight_rows *train, const mel_optimise_options *opt,
                            mel_error *err)
{
    mel_optimise_options own = *opt;
    MEL_AUTO_MEMORY double *chance = mel_alloc(f->n, f->k * sizeof *chance);
    if (chance == NULL)
        return mel_fail_memory(err, "decisions");
    own.epsilon = c->epsilon;
    for (size_t fold = 0; fold < folds; fold++)
        TRY(fit_fold(chance, f, c, number, fold, train, &own, err));
    return mel_black_box_of(value, f->box, f->n, f->k, f->rows->label, chance, err);
}

/* What a run that was cut short has found so far; an error where that is nothing. */
static mel_status take_so_far(mel_weight_choice *out, folded *f, mel_status status, const mel_error *why)
{
    if (status == MEL_ENOMEM || f->so_far.mixture.n_rules == 0)
        return status;
    out->best = f->so_far_of;
    out->cut = f->so_far;
    out->cut.end = status == MEL_ESTOPPED ? MEL_OPTIMISE_STOPPED : MEL_OPTIMISE_FAILED;
    out->cut.failure = *why;
    f->so_far = (mel_optimise_result){ 0 };
    return MEL_OK;
}

static mel_status check_choice(size_t n_candidates, size_t folds, const mel_weight_rows *validation,
                               const mel_black_box *box, mel_error *err)
{
    if (box->value == NULL || validation->label == NULL)
        return mel_fail(err, MEL_EINVAL,
                        "a metric that judges all validation rows at once cannot choose by cross-fitting");
    if (folds < 2 || folds > validation->n_rows || n_candidates == 0)
        return mel_fail(err, MEL_EINVAL, "%zu folds of %zu rows for %zu candidates", folds,
                        validation->n_rows, n_candidates);
    return MEL_OK;
}

static mel_status try_all(mel_weight_choice *out, folded *f, size_t n_candidates,
                          const mel_weight_candidate *candidate, size_t folds, const mel_weight_rows *train,
                          const mel_optimise_options *opt, mel_error *err)
{
    TRY(deal(f, folds, opt->seed, err));
    for (size_t c = 0; c < n_candidates; c++) {
        double value = NAN;
        const mel_status status = cross_fit(&value, f, &candidate[c], c, folds, train, opt, err);
        if (status != MEL_OK)
            return mel_metric_fails(status)
                       ? mel_fail_in(err, status, "candidate %zu of %zu", c + 1, n_candidates)
                       : status;
        out->value[c] = value;
        if (value > out->value[out->best])
            out->best = c;
    }
    return MEL_OK;
}

mel_status mel_optimise_choose(mel_weight_choice *out, size_t n_candidates,
                               const mel_weight_candidate *candidate, size_t folds, size_t n_classes,
                               const mel_weight_rows *train, const mel_weight_rows *validation,
                               const mel_black_box *box, const mel_optimise_options *opt, mel_error *err)
{
    mel_optimise_options use;
    mel_error own = { 0 }, *why = err != NULL ? err : &own;
    mel_optimise_options_init(&use);
    out->best = 0;
    out->cut = (mel_optimise_result){ 0 };
    TRY(mel_options_take(&use, sizeof use, opt, "optimise options", err));
    TRY(check_choice(n_candidates, folds, validation, box, err));
    size_t most = 1;
    for (size_t c = 0; c < n_candidates; c++) {
        most = candidate[c].n_basis > most ? candidate[c].n_basis : most;
        out->value[c] = NAN;
    }
    MEL_AUTO_CLEAR(folded) f = { .n = validation->n_rows, .k = n_classes, .rows = validation, .box = box };
    const mel_status status = folded_room(&f, most)
                                  ? try_all(out, &f, n_candidates, candidate, folds, train, &use, why)
                                  : mel_fail_memory(err, "folds");
    return status == MEL_OK ? MEL_OK : take_so_far(out, &f, status, why);
}
