/* What the files of the optimise room share. */
#ifndef MEL_OPTIMISE_OPTIMISE_H
#define MEL_OPTIMISE_OPTIMISE_H

#include "melicit/optimise.h"

#include "base/internal.h"
#include "classify/basis.h"

/* The sizes of a problem. Directions are functions u of a row along which probes leave the current
 * classifier; direction 0 is 1 everywhere and only measures. */
typedef struct {
    size_t k, n_basis, n_directions;
    size_t n_groups; /* of the validation rows, at least 1 */
    bool whole;      /* every W_ij, else the diagonal */
    int threads;
    const mel_row_engine *engine; /* where training rows are; NULL: here */
} mel_weight_size;

/* The group of a validation row. */
static inline size_t mel_box_group(const mel_black_box *box, size_t row)
{
    return box->group != NULL ? box->group[row] : 0;
}

/* Confusion cells that have moments: the diagonal, or all. */
static inline size_t mel_weight_cells(const mel_weight_size *size)
{
    return size->whole ? size->k * size->k : size->k;
}

/* --- packed.c: training rows, and sums over them ------------------------------------------------ */

/* Training rows by class in blocks that vector units like. */
typedef struct mel_packed mel_packed;
mel_status mel_packed_new(mel_packed **out, const mel_weight_size *size, const mel_weight_rows *rows,
                          mel_error *err);
void mel_packed_free(mel_packed *packed);
/* Numbers in a block of moments: cells x directions x basis functions. */
size_t mel_packed_moments(const mel_weight_size *size);
/* moment[cell][d][l]: sum of u_d phi_l over the rows of the cell's class that the rule decides as the cell's
 * prediction. weight: n_basis x k (the diagonal) or n_basis x k x k. */
mel_status mel_packed_sums(double *moment, const mel_packed *packed, const double *weight, mel_error *err);
/* The same over all rows of a class: total[class][d][l]. */
mel_status mel_packed_totals(double *total, const mel_packed *packed, mel_error *err);
/* What a pass of MEL_PASS_MOMENTS asks for, about one basis function that is 1 everywhere; false: no such
 * pass. */
bool mel_packed_shape(mel_weight_size *out, const mel_pass *pass);
/* Its sums over rows that are here, packed for that shape. */
mel_status mel_packed_answer(double *out, const mel_packed *packed, const mel_pass *pass, mel_error *err);
/* u[0..n_directions) of one row. */
void mel_directions(double *u, const mel_weight_size *size, const double *probability, const double *phi);

/* --- elicit_weights.c: Algorithm 7.1 ------------------------------------------------------------ */

/* What the classifiers do that probes move towards, one per weight. */
typedef struct {
    size_t n;           /* n_basis x cells that have weights */
    double *train;      /* n x cells x n_basis: sums of phi_l over the rows of a cell; owns what follows */
    double *validation; /* n x n_groups x k x k: confusion as shares; NULL: a judge */
    double *chance;     /* n x validation rows x k; NULL unless a judge needs it */
} mel_probes;

/* The current classifier h as far as elicitation looks at it. Everything is linear in h. */
typedef struct {
    double *train;      /* moments of mel_packed_sums */
    double *validation; /* [group][class][prediction][d]: sum of u_d h_j; NULL: a judge */
    double *chance;     /* validation rows x k; NULL unless a judge needs it */
    double value;
} mel_iterate;

typedef struct {
    mel_weight_size size;
    const mel_weight_rows *validation;
    const mel_black_box *box;
    mel_optimise_options opt;
    mel_packed *packed;
    double *train_total, *validation_total; /* as above, without predictions */
    double *scale;                          /* n_basis: what sums over training rows are divided by */
    const size_t *cell;                     /* the cells that have weights */
    size_t n_cells;
    mel_probes probes;
    double *confusion, *slope, *trial; /* scratch: groups x k x k twice, validation rows x k */
    double *uniform;                   /* labels_only: draws x validation rows */
    double *decided;                   /* labels_only: validation rows x k */
    size_t queries;
} mel_weighting;

/* The black box at a classifier: by its confusion (value) or its chances (judge). MEL_EDATA for a value that
 * is not finite. */
mel_status mel_weighting_value(double *out, mel_weighting *w, const double *confusion, const double *chance,
                               mel_error *err);
/* confusion = shares of the validation rows by an iterate. */
void mel_weighting_confusion(double *confusion, const mel_weighting *w, const double *validation);
/* weight: n_basis x k, or n_basis x k x k; what no probe tells stays 0. flat: no probe changes the value. */
mel_status mel_elicit_weights(double *weight, bool *flat, size_t *rank, double *condition, mel_weighting *w,
                              const mel_iterate *h, mel_error *err);

/* --- check.c ------------------------------------------------------------------------------------ */

mel_status mel_optimise_check_rows(const char *what, const mel_weight_rows *rows, size_t k, size_t n_basis,
                                   mel_error *err);
mel_status mel_optimise_check(size_t k, size_t n_basis, const mel_weight_rows *train,
                              const mel_weight_rows *validation, const mel_black_box *box,
                              const mel_optimise_options *opt, mel_error *err);

/* --- validation.c ------------------------------------------------------------------------------- */

/* total[group][class][d]: sum of u_d over all validation rows; u is scratch for n_directions. */
void mel_validation_totals(double *total, const mel_weighting *w, double *u);
/* What a rule does on the validation rows: rule->validation or rule->chance. */
mel_status mel_validation_sums(mel_iterate *rule, const mel_weighting *w, const double *gain, mel_error *err);

/* --- probes.c: the constraint problem of appendix E.7 ------------------------------------------- */

/* Fills w->probes; w->packed has direction 0 only. */
mel_status mel_probes_make(mel_weighting *w, const mel_weight_rows *train, mel_error *err);
void mel_probes_clear(mel_probes *probes);
/* Adds `share` of the decisions of a rule (n_basis x k x k) about the validation rows to a probe. */
mel_status mel_probes_decide(mel_weighting *w, size_t number, const double *gain, double share,
                             mel_error *err);
/* constrained.c: for any functions and cells; adds to w->probes, which are 0. */
mel_status mel_probes_constrained(mel_weighting *w, const mel_weight_rows *train, mel_error *err);

#endif
