/* Cross-validation of a rule: the rows of each fold are decided about by the rule of the others. */
#include "base/rng.h"
#include "classify/evidence.h"
#include "classify/trust_parts.h"
#include "data/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FOLDS = 1000 };

typedef struct {
    mel_trust_work *of;
    uint32_t *fold; /* of each row; of one that stands for several, where the first of them goes */
    uint32_t *codes;
    double *probability, *weight, *count, *cost; /* of a part of the rows */
    double *chance, *counts, *squares, *here, *seen, *growth;
} folding;

static void folding_clear(folding *f)
{
    free(f->fold);
    free(f->codes);
    free(f->probability);
}

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

/* The rows that folds are drawn over. */
typedef struct {
    size_t n_rows, folds;
    const uint32_t *label, *group; /* group NULL: one */
    const double *count;           /* NULL: each stands for itself */
    uint32_t *fold;
    size_t *row; /* room for a number of each */
} dealing;

/* Puts the rows of a class in a group into folds, beginning with fold `first`; how many they are. */
static size_t deal(dealing *d, size_t group, size_t class_code, size_t first, mel_rng *rng)
{
    size_t found = 0;
    for (size_t r = 0; r < d->n_rows; r++)
        if (d->label[r] == class_code && (d->group == NULL || d->group[r] == group))
            d->row[found++] = r;
    mel_rng_shuffle(rng, found, d->row);
    size_t dealt = 0;
    for (size_t i = 0; i < found; i++) {
        d->fold[d->row[i]] = (uint32_t)((first + dealt) % d->folds);
        dealt += d->count != NULL ? (size_t)d->count[d->row[i]] : 1;
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
static mel_status deal_all(dealing *d, const mel_trust_work *w, mel_error *err)
{
    const bool apart = w->m > 1 && (mel_measure_groups(w->measure) > 1 || w->rule.n_limits > 0);
    mel_status status = MEL_OK;
    mel_rng rng;
    mel_rng_seed_stream(&rng, w->opt.seed, 1);
    for (size_t i = 0; i < w->k && status == MEL_OK; i++) {
        size_t found = 0;
        for (size_t g = 0; g < w->m && status == MEL_OK; g++) {
            found = deal(d, g, i, apart ? 0 : found, &rng) + (apart ? 0 : found);
            if (apart)
                status = check_found(w, found, i, mel_quote_name(w->rows->group_name, g).text, err);
        }
        if (!apart)
            status = check_found(w, found, i, NULL, err);
    }
    return status;
}

static mel_status make_folds(folding *f, mel_error *err)
{
    const mel_trust_work *w = f->of;
    const mel_rule_rows *rows = w->rows;
    dealing d = { .n_rows = rows->n_rows,
                  .folds = w->opt.folds,
                  .label = rows->label,
                  .group = w->m > 1 ? rows->group : NULL,
                  .count = rows->count,
                  .fold = f->fold,
                  .row = mel_alloc(rows->n_rows, sizeof *d.row) };
    const mel_status status = d.row != NULL ? deal_all(&d, w, err) : mel_fail_memory(err, "folds");
    free(d.row);
    return status;
}

/* The rows of a fold, or all others. */
static mel_rule_rows part_of(folding *f, uint32_t fold, bool inside)
{
    const mel_rule_rows *all = f->of->rows;
    const size_t k = f->of->k;
    mel_rule_rows part = *all;
    uint32_t *label = f->codes, *group = f->codes + all->n_rows;
    size_t n = 0;
    for (size_t r = 0; r < all->n_rows; r++) {
        const size_t in = count_in(f, r, fold), of = count_of(all, r), taken = inside ? in : of - in;
        if (taken == 0)
            continue;
        memcpy(f->probability + n * k, all->probability + r * k, k * sizeof *f->probability);
        if (all->row_cost != NULL)
            memcpy(f->cost + n * k, all->row_cost + r * k, k * sizeof *f->cost);
        label[n] = all->label[r];
        group[n] = f->of->m > 1 ? all->group[r] : 0;
        f->count[n] = (double)taken;
        f->weight[n++] = (all->weight != NULL ? all->weight[r] : 1.0) * (double)taken / (double)of;
    }
    part.n_rows = n;
    part.probability = f->probability;
    part.label = label;
    part.group = f->of->m > 1 ? group : NULL;
    part.weight = f->weight;
    part.count = all->count != NULL ? f->count : NULL;
    part.row_cost = all->row_cost != NULL ? f->cost : NULL;
    return part;
}

/* Fills in what the rule of the other folds does with one. */
static mel_status one_fold(folding *f, uint32_t fold, mel_error *err)
{
    const mel_trust_work *w = f->of;
    mel_classifier *c = NULL;
    const mel_rule_rows others = part_of(f, fold, false);
    mel_status status = mel_trust_find(&c, w, &others, NULL, err);
    const mel_rule_rows rows = part_of(f, fold, true);
    if (status == MEL_OK)
        status = mel_trust_chances(f->chance, c, &rows, err);
    mel_classifier_free(c);
    const mel_trust_decided of = { &rows, f->chance, f->here, f->growth };
    if (status == MEL_OK)
        mel_trust_count(f->counts, f->squares, w, &of);
    return status == MEL_OK ? MEL_OK : mel_fail_in(err, status, "fold %u", (unsigned)fold + 1);
}

static mel_status make_room(folding *f, mel_error *err)
{
    const mel_trust_work *w = f->of;
    const size_t n = w->rows->n_rows, cells = w->m * w->k * w->d;
    f->fold = mel_alloc(n, sizeof *f->fold);
    f->codes = mel_alloc(2 * n, sizeof *f->codes);
    const mel_part parts[] = { { n * w->rows->n_classes, { &f->probability } },
                               { n * w->k, { &f->cost } },
                               { n * w->d, { &f->chance } },
                               { n, { &f->weight, &f->count, &f->here } },
                               { cells, { &f->counts, &f->squares, &f->seen } },
                               { w->k, { &f->growth } } };
    return f->fold != NULL && f->codes != NULL && mel_parts_new(MEL_PARTS(parts))
               ? MEL_OK
               : mel_fail_memory(err, "folds");
}

static mel_status fold_all(mel_trust *out, folding *f, mel_error *err)
{
    mel_trust_work *w = f->of;
    if (w->opt.folds < 2 || w->opt.folds > MOST_FOLDS)
        return mel_fail(err, MEL_EINVAL, "%zu folds; expected 2 to %d", w->opt.folds, MOST_FOLDS);
    mel_status status = make_room(f, err);
    if (status != MEL_OK || f->probability == NULL || f->cost == NULL)
        return status;
    status = make_folds(f, err);
    for (uint32_t fold = 0; fold < w->opt.folds && status == MEL_OK; fold++)
        status = one_fold(f, fold, err);
    if (status == MEL_OK)
        status = mel_trust_settle_size(f->counts, f->squares, w, f->seen, err);
    if (status == MEL_OK)
        status = mel_trust_of_counts(&out->cross, w, f->counts, f->seen, err);
    if (status == MEL_OK) /* the folds' rules vary, and so does the one that is used */
        mel_trust_widen(&out->cross, sqrt(2.0) * w->spread);
    return status;
}

mel_status mel_trust_fold(mel_trust *out, mel_trust_work *w, mel_error *err)
{
    folding f = { .of = w };
    const mel_status status = fold_all(out, &f, err);
    folding_clear(&f);
    return status;
}
