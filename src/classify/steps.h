/* The linear step as solvers see it: the rule that is best for gains, and what it achieves.
 *
 * What a classifier achieves are shares x[g][i][j] of all rows: group g, true class i, decision j; n_groups x
 * n_classes x n_decisions numbers. Decisions are taken block by block: each group is a block where rules may
 * look at groups, else one block holds them all. The numbers of a block lie side by side, so that a solver
 * need not know which it is. */
#ifndef MEL_CLASSIFY_STEPS_H
#define MEL_CLASSIFY_STEPS_H

#include "data/quote.h"
#include "melicit/classify.h"
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
/* Whichever is quickest. */
mel_status mel_steps_of_rows(mel_steps **out, const mel_step_rows *rows, mel_error *err);
/* A space: a population, or a sample whose rows count alike. Lent. */
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

/* --- what steps have found: rules, block by block, and mixtures of them ------------------------------ */

typedef struct {
    mel_steps *steps; /* lent */
    size_t n, room;
    size_t *block;   /* n */
    double *shares;  /* n x block size */
    double *rule;    /* n x rule size */
    size_t *newest;  /* n_blocks: the vertices of the last step */
    double *scratch; /* one block's shares, one rule */
} mel_vertices;

/* Begins with the constant decisions, decision j of block b at b * n_decisions + j, which take no step. */
mel_status mel_vertices_init(mel_vertices *out, mel_steps *steps, mel_error *err);
void mel_vertices_clear(mel_vertices *vertices);

/* A step in every block; `newest` says where its vertices are. *value: what they gain together; *fresh (may
 * be NULL): how many of them are new. */
mel_status mel_vertices_step(double *value, size_t *fresh, mel_vertices *vertices, const double *gain,
                             mel_error *err);
/* One more vertex of a block, unless it is there already; *place says where. */
mel_status mel_vertices_add(size_t *place, mel_vertices *vertices, size_t block, const double *shares,
                            const double *rule, mel_error *err);

static inline const double *mel_vertices_shares(const mel_vertices *vertices, size_t v)
{
    return vertices->shares + v * mel_steps_block_size(vertices->steps);
}
static inline const double *mel_vertices_rule(const mel_vertices *vertices, size_t v)
{
    return vertices->rule + v * mel_steps_rule_size(vertices->steps);
}
/* x = sum of weight[v] times vertex v, for n <= vertices->n weights. */
void mel_vertices_mix(double *x, const mel_vertices *vertices, size_t n, const double *weight);

/* --- rows made ready for steps (evidence.c) ---------------------------------------------------------- */

/* Rows as the steps see them, with the memory behind, which is that of probability; where neither an
 * adjustment nor costs change those of the rows, they are lent. */
typedef struct {
    mel_step_rows rows;
    double *probability, *weight, *score, *growth;
} mel_rule_evidence;
mel_status mel_rule_evidence_make(mel_rule_evidence *out, const mel_rule_rows *rows,
                                  const mel_rule_options *opt, mel_error *err);
void mel_rule_evidence_clear(mel_rule_evidence *evidence);

/* MEL_EINVAL where an engine has them. */
mel_status mel_rule_rows_here(const mel_rule_rows *rows, mel_error *err);
/* Here, and within their ranges. */
mel_status mel_rule_rows_check(const mel_rule_rows *rows, mel_error *err);
/* Two classes: thresholds are on the model's own probability, as adjusting keeps the order of the rows. */
bool mel_rule_keeps_scores(const mel_rule_rows *rows, const mel_rule_options *opt);
/* Shares of the classes by the labels. */
void mel_rule_class_shares(double *share, const mel_rule_rows *rows);
/* What each row counts when its label is believed: its weight, its cost, and what gives the classes other
 * shares (NULL: they keep their own). growth: room for a number of each class. */
void mel_rule_label_weights(double *weight, const mel_rule_rows *rows, const double *class_share,
                            double *growth);
/* Probabilities of k classes times what each of them costs, adding up to 1 again; returns what they added up
 * to. */
double mel_weigh_costs(double *probability, const double *cost, size_t k);

#endif
