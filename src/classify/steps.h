/* The linear step as solvers see it: the rule that is best for gains, and what it achieves.
 *
 * What a classifier achieves are shares x[g][i][j] of all rows: group g, true class i, decision j; n_groups x
 * n_classes x n_decisions numbers. Decisions are taken block by block: each group is a block where rules may
 * look at groups, else one block holds them all. The numbers of a block lie side by side, so that a solver
 * need not know which it is. */
#ifndef MEL_CLASSIFY_STEPS_H
#define MEL_CLASSIFY_STEPS_H

#include "data/quote.h"
#include "melicit/data.h"
#include "space/shared.h"

typedef struct mel_steps mel_steps;

typedef struct {
    void (*free)(void *self);
    /* The best rule of a block for the gains (rows of the block x decisions): what it achieves, and the gains
     * (n_evidence x decisions) by which predictions repeat it. */
    void (*step)(double *shares, double *rule, mel_steps *steps, size_t block, const double *gain);
    /* What the rule with these gains achieves in a block. */
    void (*measure)(double *shares, mel_steps *steps, size_t block, const double *rule);
} mel_steps_ops;

struct mel_steps {
    const mel_steps_ops *ops;
    void *self;
    size_t n_groups, n_classes, n_decisions; /* n_groups at least 1 */
    size_t n_blocks;                         /* n_groups, or 1 */
    size_t n_evidence;                       /* numbers that a rule sees of a row */
    double *mass;                            /* of x without its decisions: shares of the rows */
    bool exact;                              /* no classifier does better than the step says */
    bool sorted;                             /* by thresholds (steps_sorted.c) */
    uint64_t taken;                          /* steps in all blocks */
    mel_called called;                       /* classes and groups, in messages */
    mel_progress progress;                   /* asked now and then */
    double asked;                            /* when it was */
    mel_error failure;                       /* of rows elsewhere: what they achieve is 0 from then on */
};

/* Rows, lent. Rules see `probability`; what they achieve is weighed by `weight`. */
typedef struct {
    const mel_row_engine *engine;       /* where the rows are; NULL: here */
    size_t n_rows, n_classes, n_groups; /* n_groups 0 or 1: none */
    const double *probability;          /* n_rows x n_classes */
    const uint32_t *label, *group;
    const double *weight;  /* NULL: every row counts 1 */
    const double *score;   /* two classes: thresholds are on this instead of P(second class); NULL: no */
    mel_evidence evidence; /* measured by labels or by the probabilities */
    bool one_block;        /* decisions do not look at groups */
    bool refer;            /* one more decision */
    int threads;
} mel_step_rows;

/* What shares are of: all weights. */
double mel_step_total(const mel_step_rows *rows);
/* Two classes and two decisions: rows are sorted once, a step is a search among thresholds. */
mel_status mel_steps_sorted(mel_steps **out, const mel_step_rows *rows, mel_error *err);
/* Any rows, by a pass over them. */
mel_status mel_steps_rows(mel_steps **out, const mel_step_rows *rows, mel_error *err);
/* A pass of MEL_PASS_DECISIONS: in[] says the shape, then come the gains of a block's rule. Its sums are
 * those of the block: of each group in it, decision by decision, what is of each class. */
enum {
    MEL_DECIDE_CLASSES,
    MEL_DECIDE_DECISIONS,
    MEL_DECIDE_GROUPS,
    MEL_DECIDE_EVIDENCE,
    MEL_DECIDE_ONE_BLOCK,
    MEL_DECIDE_BLOCK,
    MEL_DECIDE_HEAD
};
/* The same for rows that are here: those of these steps, made by mel_steps_rows. */
void mel_steps_pass(double *out, const mel_steps *steps, size_t block, const double *rule);
/* A space: a population, or a sample whose rows count alike. Lent. */
/* Whichever is quickest. */
mel_status mel_steps_of_rows(mel_steps **out, const mel_step_rows *rows, mel_error *err);
mel_status mel_steps_of_space(mel_steps **out, const mel_space *space, mel_error *err);
void mel_steps_free(mel_steps *steps);
MEL_CLEANUP(mel_steps)
/* MEL_ESTOPPED where the caller asked to stop; why rows elsewhere failed. */
mel_status mel_steps_report(mel_steps *steps, mel_error *err);

/* For those that make them: room for the masses; self is owned from here on. */
mel_status mel_steps_new(mel_steps **out, const mel_steps_ops *ops, void *self, const mel_steps *shape,
                         mel_error *err);

/* The row of x (numbers without decisions) of a class of a group. */
static inline size_t mel_steps_row(const mel_steps *s, size_t group, size_t class_code)
{
    return group * s->n_classes + class_code;
}
/* Numbers of all, and of a block. */
static inline size_t mel_steps_size(const mel_steps *s)
{
    return s->n_groups * s->n_classes * s->n_decisions;
}
static inline size_t mel_steps_block_size(const mel_steps *s)
{
    return mel_steps_size(s) / s->n_blocks;
}
/* Gains of a block's rule. */
static inline size_t mel_steps_rule_size(const mel_steps *s)
{
    return s->n_evidence * s->n_decisions;
}
/* What "always decision j" achieves in a block, and its rule. */
void mel_steps_constant(double *shares, double *rule, const mel_steps *steps, size_t block, size_t j);

/* --- sorted steps: for searches over thresholds ------------------------------------------------- */

/* Thresholds of a block: 0 (never the second class) to mel_sorted_count (always), and what they achieve. */
size_t mel_sorted_count(const mel_steps *steps, size_t block);
void mel_sorted_at(double *shares, double *rule, const mel_steps *steps, size_t block, size_t threshold,
                   bool inverted);
/* Whether scores rank the classes of a block the wrong way round: thresholds then say from where on down. */
bool mel_sorted_falls(const mel_steps *steps, size_t block);
/* Moves the threshold of a rule to where it is asked for, as far as it decides about these rows as before. */
void mel_sorted_set_threshold(double *rule, const mel_steps *steps, size_t block, double threshold);

#endif
