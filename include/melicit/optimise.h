/* melicit/optimise.h: classifiers that are best for a metric of which only values are known, or only which of
 * two classifiers is better.
 *
 * A black box gives the value of a classifier on validation rows. The classifier is found by weighting
 * training rows: W(x) = sum over l of alpha_l phi_l(x), where phi_l are basis functions from 0 to 1, and the
 * prediction is the class j with the largest sum_i W_ij(x) P(Y=i|x). */
#ifndef MELICIT_OPTIMISE_H
#define MELICIT_OPTIMISE_H

#include "melicit/classify.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- the metric --------------------------------------------------------------------------------- */

/* Larger is better. Either `value` (of confusion entries) or `judge` (of decisions) is given. */
typedef struct {
    /* The value of a classifier with these confusion entries: one k x k matrix per group (one without
     * groups), true classes in rows, shares of all validation rows. */
    mel_status (*value)(double *out, void *user, const double *confusion, mel_error *err);
    /* d value / d confusion; NULL: unknown. */
    mel_status (*gradient)(double *out, void *user, const double *confusion, mel_error *err);
    /* The value of a classifier that predicts validation row i as j with probability chance[i][j]
     * (n_rows x k). */
    mel_status (*judge)(double *out, void *user, const double *chance, mel_error *err);
    void *user;
    size_t n_groups;       /* 0: none. Groups are the metric's own: rules never look at them */
    const uint32_t *group; /* of the validation rows; lent */
} mel_black_box;

/* The black box of a measure, which it lends: larger is better, costs are negated. group: of the validation
 * rows, NULL without groups. */
MEL_API mel_black_box mel_measure_box(mel_measure *measure, const uint32_t *group);

/* --- PI-EW and FW-EG ---------------------------------------------------------------------------- */

/* Rows as the learner sees them; lent. */
typedef struct {
    size_t n_rows;
    const double *probability; /* n_rows x k: of the model that was trained on the training rows */
    const uint32_t *label;     /* n_rows; of validation rows NULL when the box is a judge */
    const double *basis;       /* n_rows x n_basis; NULL: one function, 1 everywhere */
} mel_weight_rows;

typedef enum {
    MEL_STEP_SAFE = 0,   /* 2/(t+3) */
    MEL_STEP_THESIS = 1, /* 2/(t+2): the first step is a full one, which can end in constants */
    MEL_STEP_LINE = 2    /* the best of the segment on the validation rows */
} mel_step_rule;
typedef enum {
    MEL_WEIGHT_DIAGONAL = 0, /* W_ii only */
    MEL_WEIGHT_WHOLE = 1     /* every W_ij */
} mel_weight_shape;
typedef enum {
    MEL_PROBE_FIXED = 0,      /* h + eps u (e_i - h): u = phi_l, and phi_l P(Y=i|x) for the whole matrix */
    MEL_PROBE_CONSTRAINED = 1 /* (1 - eps) h + eps g, g from the constraint problem of appendix E.7 */
} mel_probe_kind;
typedef enum {
    MEL_SCALE_BASIS = 0, /* confusion entries of a basis function are divided by its sum over the rows */
    MEL_SCALE_ROWS = 1   /* by the number of rows, as in the thesis */
} mel_weight_scale;

typedef struct {
    size_t struct_size;
    uint32_t iterations;    /* 50; 1 without starting point is PI-EW */
    double epsilon;         /* 0.001; with labels_only 0.3 is better */
    mel_step_rule step;     /* SAFE */
    mel_weight_shape shape; /* DIAGONAL */
    mel_probe_kind probes;  /* FIXED */
    mel_weight_scale scale; /* BASIS */
    bool known;             /* use the gradient of the box */
    bool plug_in;           /* PI-EW: one elicitation, and its rule alone is the result */
    bool best;              /* the iterate with the largest validation value instead of the last */
    bool labels_only;       /* the judge takes hard decisions: chances of 0 and 1 */
    uint32_t draws;         /* labels_only: decisions are drawn so often and values averaged; 5 */
    double rank_tolerance;  /* singular values below this share of the largest count as 0; 1e-6 */
    double shift;           /* 0; other: solves with S - shift I, keeps every rule, as the authors do */
    bool values;            /* the system of Algorithm 7.1 as printed, instead of differences to h */
    const bool *entry;      /* WHOLE: k x k, which entries have weights; NULL: all */
    const double *start;    /* n_basis x k weights of the first classifier; NULL: 1 everywhere */
    uint64_t seed;          /* labels_only */
    int threads;            /* 0: all cores; results do not depend on it */
    mel_progress progress;  /* returning nonzero stops: the result is what was found so far */
    /* Called after each iteration (t = 0: the start); may be NULL. alpha: n_basis x k x k. */
    void (*trace)(void *user, uint32_t t, double value, double gap, const double *alpha);
    void *trace_user;
    /* Training rows elsewhere, lent: those given are of 0 rows, the one basis function is 1 everywhere, and
     * probes are fixed. NULL: they are here. */
    const mel_row_engine *engine;
} mel_optimise_options;
MEL_API void mel_optimise_options_init(mel_optimise_options *opt);

typedef enum {
    MEL_OPTIMISE_DONE = 0,
    MEL_OPTIMISE_FLAT = 1,    /* no probe changes the value: there is nothing to follow */
    MEL_OPTIMISE_STOPPED = 2, /* as progress wished */
    MEL_OPTIMISE_FAILED = 3   /* the metric failed: `failure` says how */
} mel_optimise_end;

typedef struct {
    mel_blend mixture; /* n_groups stands for basis functions: gain has n_basis k x k matrices per rule */
    double value;      /* of the mixture on the validation rows */
    double best;       /* the largest value of any iterate */
    double start;      /* the value of the first classifier */
    /* The last iterate was worse than the first classifier by more than 2 |start| / sqrt(validation rows):
     * the best one is the result. */
    bool fell_back;
    double gap; /* by the weights of the last iteration: how much the best rule promises to gain */
    uint32_t iterations, best_iteration;
    size_t rank, unknowns; /* of the system of the last iteration */
    double condition;      /* largest singular value over the smallest that counts */
    size_t queries;        /* evaluations of the black box */
    mel_optimise_end end;
    mel_error failure;
} mel_optimise_result;

/* The classifier with the largest value. MEL_OK whenever there is one, also when the metric fails or the
 * progress wishes to stop: see `end`. A failure of the first evaluation leaves nothing and is returned. */
MEL_API mel_status mel_optimise(mel_optimise_result *out, size_t n_classes, size_t n_basis,
                                const mel_weight_rows *train, const mel_weight_rows *validation,
                                const mel_black_box *box, const mel_optimise_options *opt, mel_error *err);
MEL_API void mel_optimise_clear(mel_optimise_result *result);

/* --- comparisons only --------------------------------------------------------------------------- */

/* Finds a classifier by asking which of two is better. Rules predict the class with the largest gain_j
 * P(Y=j|x), with groups by gains of each group. Ask and tell: the state is the answers so far. */
typedef struct mel_comparisons mel_comparisons;

typedef enum {
    MEL_COMPARE_SIGNS = 0, /* one question per step: which side of the current gains is better */
    /* The thesis' way (section 7.7.6): around the current mixture, the slope of the metric by binary
     * searches, then a Frank-Wolfe step to the rule that is best for it. */
    MEL_COMPARE_SLOPES = 1
} mel_compare_method;
typedef struct {
    size_t struct_size;
    mel_compare_method method; /* SIGNS */
    uint32_t max_questions;    /* 40 */
    double first_step;         /* SIGNS: of the logarithm of a gain; 0: 0.3 with two classes, else 0.5 */
    double least_step;         /* SIGNS: at which a gain counts as found; 0.05 */
    /* SIGNS, groups: also move the gains of groups together and against each other, and ask whether the
     * new classifier is better: for metrics with kinks. */
    bool kinks;
    uint32_t bits; /* SLOPES: questions per ratio of two slopes; 6 */
    double radius; /* SLOPES: share of a probe in the current mixture; 0.1 */
} mel_compare_options;
MEL_API void mel_compare_options_init(mel_compare_options *opt);
/* Begins a search; classifiers are measured on these rows, which are borrowed. MEL_EDATA as
 * mel_space_from_sample. */
MEL_API mel_status mel_comparisons_new(mel_comparisons **out, const mel_rows *rows,
                                       const mel_compare_options *opt, mel_error *err);
MEL_API void mel_comparisons_free(mel_comparisons *search);
/* The open question, which stays the same until it is answered: statistics of both sides, lent until the next
 * call; NULL when the search has ended. */
typedef struct {
    uint32_t number; /* from 1 */
    const double *a, *b;
    const double *confusion_a, *confusion_b; /* one k x k matrix of shares of all rows per group */
} mel_comparison;
/* The open comparison, the same until it is told; NULL: there is no further one. */
MEL_API const mel_comparison *mel_comparisons_ask(mel_comparisons *search);
/* What statistics of questions are: (TP, TN) of two classes without groups, else off-diagonal; confusion
 * entries, with groups rates. */
MEL_API const mel_layout *mel_comparisons_layout(const mel_comparisons *search);
/* Answers the open comparison. SAME shortens the step; SKIP goes on as if the question had not been asked.
 * MEL_EINVAL for NEITHER; MEL_ESTATE after the end. */
MEL_API mel_status mel_comparisons_tell(mel_comparisons *search, mel_answer answer, mel_error *err);
/* Whether it ended because every gain is found, rather than because the questions are used up. */
MEL_API bool mel_comparisons_settled(const mel_comparisons *search);
/* The current classifier, at any time: its confusion matrices as in mel_comparison, and its classifier file
 * for the caller to free(). */
MEL_API void mel_comparisons_confusion(double *confusion, const mel_comparisons *search);
MEL_API mel_status mel_comparisons_to_json(char **out, const mel_comparisons *search,
                                           const mel_classifier_source *source, mel_error *err);

#ifdef __cplusplus
}
#endif
#endif
