/* Cross-validation of a rule: the rows of each fold are decided about by the rule of the others. */
#include "base/rng.h"
#include "classify/certainty.h"
#include "data/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FOLDS = 1000 };

/* The rows and their folds; of a row that stands for several, the fold where the first of them goes. */
typedef struct {
    mel_trust_work *of;
    uint32_t *fold;
    size_t *row; /* room for a number of each */
} folding;

static size_t count_of(const mel_rule_rows *rows, size_t r)
{
    return rows->count != NULL ? (size_t)rows->count[r] : 1;
}

/* How many of the rows that row r stands for are in a fold: they go round, one to each. */
static size_t count_in(const folding *f, size_t r, uint32_t fold)
{
    const size_t folds = f->of->opt.folds, n = count_of(f->of->rows, r);
    return n / folds + ((fold + folds - f->fold[r]) % folds < n % folds);
}

/* Puts the rows of a class in a group into folds, beginning with fold `first`; how many they are. */
static size_t deal(folding *f, size_t group, size_t class_code, size_t first, mel_rng *rng)
{
    const mel_rule_rows *rows = f->of->rows;
    size_t found = 0, dealt = 0;
    for (size_t r = 0; r < rows->n_rows; r++)
        if (rows->label[r] == class_code && (f->of->m == 1 || rows->group[r] == group))
            f->row[found++] = r;
    mel_rng_shuffle(rng, found, f->row);
    for (size_t i = 0; i < found; i++) {
        f->fold[f->row[i]] = (uint32_t)((first + dealt) % f->of->opt.folds);
        dealt += count_of(rows, f->row[i]);
    }
    return dealt;
}

static mel_status check_found(const mel_trust_work *w, size_t found, size_t class_code, const char *group,
                              mel_error *err)
{
    if (found >= w->opt.folds)
        return MEL_OK;
    return mel_fail(err, MEL_EDATA,
                    "%zu folds, but only %zu row%s of class %s%s%s: expected one of each class in every fold",
                    w->opt.folds, found, found == 1 ? "" : "s",
                    mel_quote_name(w->rows->class_name, class_code).text, group != NULL ? " in group " : "",
                    group != NULL ? group : "");
}

/* Each class of each group on its own, so that folds have the same shares. Where groups do not count, one may
 * have fewer rows of a class than there are folds. */
static mel_status deal_all(folding *f, mel_error *err)
{
    const mel_trust_work *w = f->of;
    const bool apart = w->m > 1 && (mel_measure_groups(w->measure) > 1 || w->rule.n_limits > 0);
    mel_rng rng;
    mel_rng_seed_stream(&rng, w->opt.seed, 1);
    for (size_t i = 0; i < w->k; i++) {
        size_t found = 0;
        for (size_t g = 0; g < w->m; g++) {
            found = deal(f, g, i, apart ? 0 : found, &rng) + (apart ? 0 : found);
            if (apart)
                TRY(check_found(w, found, i, mel_quote_name(w->rows->group_name, g).text, err));
        }
        if (!apart)
            TRY(check_found(w, found, i, NULL, err));
    }
    return MEL_OK;
}

/* The rows of a fold, or all others. */
static mel_status take_fold(mel_taken_rows *out, const folding *f, uint32_t fold, bool inside, mel_error *err)
{
    for (size_t r = 0; r < f->of->rows->n_rows; r++) {
        const size_t in = count_in(f, r, fold);
        f->row[r] = inside ? in : count_of(f->of->rows, r) - in;
    }
    return mel_rule_rows_take(out, f->of->rows, f->row, err);
}

/* Adds what the rule of the other folds does with one. */
static mel_status count_fold(double *counts, double *squares, const folding *f, uint32_t fold, mel_error *err)
{
    const mel_trust_work *w = f->of;
    MEL_AUTO(mel_classifier) *c = NULL;
    MEL_AUTO_CLEAR(mel_taken_rows) others = { 0 };
    MEL_AUTO_CLEAR(mel_taken_rows) inside = { 0 };
    TRY(take_fold(&others, f, fold, false, err));
    TRY(mel_trust_find(&c, w, &others.rows, NULL, err));
    TRY(take_fold(&inside, f, fold, true, err));
    const size_t chances = inside.rows.n_rows * w->d;
    MEL_AUTO_MEMORY double *chance = mel_alloc(chances + mel_trust_count_room(&inside.rows), sizeof *chance);
    if (chance == NULL)
        return mel_fail_memory(err, "folds");
    TRY(mel_trust_chances(chance, c, &inside.rows, err));
    mel_trust_count(counts, squares, w, &inside.rows, chance, chance + chances);
    return MEL_OK;
}

mel_status mel_trust_fold(mel_trust *out, mel_trust_work *w, mel_error *err)
{
    const size_t n = w->rows->n_rows;
    if (w->opt.folds < 2 || w->opt.folds > MOST_FOLDS)
        return mel_fail(err, MEL_EINVAL, "%zu folds; expected 2 to %d", w->opt.folds, MOST_FOLDS);
    MEL_AUTO_MEMORY uint32_t *fold_of = mel_alloc(n, sizeof *fold_of);
    MEL_AUTO_MEMORY size_t *row = mel_alloc(n, sizeof *row);
    MEL_AUTO_MEMORY double *counts = mel_alloc_zero(3 * w->cells, sizeof *counts);
    if (fold_of == NULL || row == NULL || counts == NULL)
        return mel_fail_memory(err, "folds");
    double *squares = counts + w->cells, *seen = squares + w->cells;
    folding f = { w, fold_of, row };
    TRY(deal_all(&f, err));
    for (uint32_t fold = 0; fold < w->opt.folds; fold++) {
        const mel_status status = count_fold(counts, squares, &f, fold, err);
        if (status != MEL_OK)
            return mel_fail_in(err, status, "fold %u", (unsigned)fold + 1);
    }
    TRY(mel_trust_settle_size(counts, squares, w, false, seen, err));
    TRY(mel_trust_of_counts(&out->cross, w, counts, seen, err));
    /* The folds' rules vary, and so does the one that is used. */
    mel_trust_widen(&out->cross, sqrt(2.0) * w->spread);
    return MEL_OK;
}
