/* melicit/classify.h: classifiers as rules on class probabilities: the one that is best for a metric, the one
 * that achieves a point, their files, and what they decide about new rows. */
#ifndef MELICIT_CLASSIFY_H
#define MELICIT_CLASSIFY_H

#include "melicit/elicit.h"
#include "melicit/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A rule on class probabilities, or a mixture of rules. A rule has gains for each basis function of a row;
 * thresholds are rules of two classes, groups are functions that say which group a row is of. Only
 * mel_classifier_set_source changes it. */
typedef struct mel_classifier mel_classifier;

/* Rows of numbers with names for the columns: what basis functions are computed from. All pointers are
 * borrowed. */
typedef struct {
    size_t n_rows, n_columns;
    const double *value; /* n_rows x n_columns, finite */
    const char *const *name;
} mel_feature_rows;
/* Functions of a row from 0 to 1 that are stored with a classifier, as `melicit optimise --basis` makes them;
 * programs that compute their own give mel_optimise the values. */
typedef struct mel_weight_basis mel_weight_basis;

/* The classifier that is best for a metric, always one rule. Linear metrics take one linear step of the face
 * or space, fractions Dinkelbach's method on it; smoothed faces: best on the sample. Other families: as
 * mel_rule_find. MEL_EINVAL for a ball, and for a metric of other statistics than the domain's (a face
 * takes weighted sums of the two mistakes too). */
MEL_API mel_status mel_classifier_best(mel_classifier **out, const mel_domain *domain,
                                       const mel_metric *metric, mel_error *err);
/* --- the best rule for any measure, under limits ------------------------------------------------- */

/* Rows of probabilities that rules are found on. All pointers are borrowed. */
typedef struct {
    size_t n_rows, n_classes, n_groups; /* n_groups 0 or 1: no groups */
    const double *probability;          /* n_rows x n_classes: of the model, as new rows will come */
    const uint32_t *label;              /* n_rows */
    const uint32_t *group;              /* n_rows; NULL without groups */
    const double *weight;               /* how much each row counts; NULL: 1 */
    /* n_rows x n_classes: how many times as much decisions about this row count if it is of class i; NULL:
     * once. */
    const double *row_cost;
    const char *const *class_name, *const *group_name; /* in messages; NULL: numbers, from 1 */
    /* How many rows with the same probabilities, label and group each of them stands for, besides what they
     * weigh together; NULL: itself. */
    const double *count;
    /* Rows elsewhere: the arrays above are NULL. By the probabilities as they are or, with more than two
     * classes, by labels; weights, costs, adjustments and other shares of classes need the rows in one place.
     * NULL: rows are here. */
    const mel_row_engine *engine;
} mel_rule_rows;

typedef enum {
    MEL_RULE_BEST = 0,      /* one rule (for each group), unless only a mixture meets the limits */
    MEL_RULE_THRESHOLD = 1, /* one rule, or a refusal */
    MEL_RULE_MIXTURE = 2    /* the optimum, which may draw between rules */
} mel_rule_form;
typedef enum {
    MEL_GROUP_SEEN = 0,  /* every group has a rule of its own */
    MEL_GROUP_UNSEEN = 1 /* one rule for all: the group of a row is not known when it is decided */
} mel_group_use;

/* What a limit is about, of all rows or of one group. */
typedef enum {
    MEL_LIMIT_SHARE,     /* share of rows that are decided as a class */
    MEL_LIMIT_REFERRED,  /* share of rows that are referred */
    MEL_LIMIT_RECALL,    /* share of a class that is found */
    MEL_LIMIT_PRECISION, /* share of those decided as a class that are of it */
    MEL_LIMIT_ACCURACY,
    MEL_LIMIT_ODDS,        /* the largest difference between groups: of every rate, ... */
    MEL_LIMIT_OPPORTUNITY, /* ... of the recall of the last class, ... */
    MEL_LIMIT_PARITY       /* ... of every share of decisions */
} mel_limit_kind;
enum { MEL_LIMIT_TEXT = 200 };
typedef struct {
    mel_limit_kind kind;
    bool at_least;
    double bound;
    size_t class_code;         /* where the kind needs one */
    size_t group;              /* SIZE_MAX: all rows */
    char text[MEL_LIMIT_TEXT]; /* "recall[cancer]", for people */
} mel_limit;
/* Reads a limit: "flagged=10%", "recall[cancer]=0.95", "share[van][sex=female]=0.2", "equalised-odds=0.05";
 * ranges are checked. flagged is the share of the second of two classes; [GROUP] may be written
 * [COLUMN=GROUP]. */
MEL_API mel_status mel_limit_parse(mel_limit *out, const char *text, bool at_least, size_t n_classes,
                                   const char *const *class_name, size_t n_groups,
                                   const char *const *group_name, mel_error *err);
/* Whether the text of a limit ("flagged", with or without its bound) is about the second of two classes
 * without naming it; false where it is no limit. */
MEL_API bool mel_limit_needs_positive(const char *text);

/* One of several people, with a metric that is a weighted sum. */
typedef struct {
    const mel_metric *metric;
    /* Equally likely coefficients of it, in file order; n_draws 0: some that its intervals make as likely, or
     * its own, which are known. Lent. */
    size_t n_draws;
    const double *draws;
} mel_person;
/* What people lose with a compromise: 0 is the best rule for them, 1 the best decision that is the same about
 * everybody; means over the metrics that they may mean. */
typedef struct {
    size_t n;
    double *regret;       /* with the rule that was found */
    double *pooled;       /* with the best rule for the mean of all metrics */
    double *cross;        /* n x n: [i][j] of person i with the best rule for person j */
    double *weight;       /* how much each of them decides about the rule; they add up to 1 */
    double *floored;      /* in which share of the metrics the rule hardly matters to them */
    size_t first, second; /* who lose most by each other's rules */
} mel_compromise;

typedef struct {
    size_t struct_size;
    mel_rule_form form;
    mel_group_use group_use;
    mel_evidence evidence;            /* MEL_BY_MODEL: the probabilities, adjusted, are trusted */
    const mel_adjustment *adjustment; /* lent; NULL: probabilities are used as they are */
    const double *class_share; /* by labels: the shares that the classes are to have; NULL: as counted */
    size_t n_limits;
    const mel_limit *limit;
    double refer_cost; /* of referring a case, in cheapest mistakes; NaN: nothing is referred */
    double tolerance;  /* 1e-7: gaps below are as good as none */
    uint64_t most_steps;
    unsigned starts; /* 12: of methods that find local optima */
    uint64_t seed;
    int threads;
    /* Two classes: instead of the best rule the one with these thresholds on the model's own probability, one
     * for each group that decisions look at; what it loses against the best is reported. NULL: the best. */
    size_t n_thresholds;
    const double *threshold;
    mel_progress progress;
    /* Instead of a metric or a name: the rule with the least worst regret of these people, a mixture unless
     * the form is MEL_RULE_THRESHOLD. Lent. */
    size_t n_people;
    const mel_person *person;
} mel_rule_options;
MEL_API void mel_rule_options_init(mel_rule_options *opt);

typedef struct {
    double value;   /* of the measure for the rule, by the evidence; mel_classifier_get has it too */
    double optimum; /* of the best mixture that was found */
    double bound;   /* certified: no classifier does better */
    bool certified;
    unsigned starts;  /* not certified: a local optimum, the best of so many starts; 0: by labels */
    uint64_t steps;   /* linear steps */
    bool mixed;       /* it draws between rules */
    double violation; /* above 0: the limits contradict each other, and this rule breaks them least */
    size_t n_limits;
    double *achieved; /* of each limit: what the rule achieves, by the evidence, ... */
    double *price;    /* ... and what loosening the limit by 1 would gain */
    double *shares;   /* n_groups x n_classes x decisions: what the rule achieves */
    size_t n_decisions;
    bool rewards_mistakes; /* a linear measure gains more by some mistake than by being right */
    double utility;        /* the value, or minus the value of a cost */
    double refer_cost;     /* of a referred case, in the metric's own numbers; NaN: nothing is referred */
    mel_compromise people; /* n 0: a rule for one metric */
} mel_rule_report;
MEL_API void mel_rule_report_clear(mel_rule_report *report);

/* What makes the probabilities of labelled rows right that the model has not seen, by penalised likelihood;
 * With opt->class_share rows count as often as they will be met, and, where two classes have fixed costs of
 * mistakes, as much as their mistakes cost: the curve has to fit where decisions are made. opt->adjustment is
 * where the search begins; NULL: anywhere. */
MEL_API mel_status mel_rule_calibrate(mel_adjustment *out, const mel_rule_rows *rows,
                                      const mel_metric *metric, const char *name, const mel_rule_options *opt,
                                      mel_error *err);
/* The shares of the classes among n rows without labels, by their probabilities, two ways: `likely` by
 * expectation maximisation, `matched` by the mean of the probabilities; n_classes numbers each. *apart: half
 * the sum of their differences; above MEL_FAR_APART percent the probabilities may not mean the same there.
 * rows: labelled ones; adjustment: what makes the probabilities right, without groups. */
enum { MEL_FAR_APART = 10 };
MEL_API mel_status mel_rule_prior(double *likely, double *matched, double *apart, const mel_rule_rows *rows,
                                  size_t n, const double *probability, const mel_adjustment *adjustment,
                                  mel_error *err);
/* The rule that is best for a metric, or for a measure by its name, on the rows. Names are those of
 * mel_measure_named, but of all rows together unless they are about groups ("g-mean:every-group"). */
MEL_API mel_status mel_rule_find(mel_classifier **out, mel_rule_report *report, const mel_rule_rows *rows,
                                 const mel_metric *metric, const char *name, const mel_rule_options *opt,
                                 mel_error *err);

/* --- points ------------------------------------------------------------------------------------- */

/* The classifier that achieves a point (numbers in the domain's layout) within delta, which faces do not
 * read: they achieve their points exactly. MEL_EINVAL, with the closest point, when none does. */
MEL_API mel_status mel_classifier_at_point(mel_classifier **out, const mel_domain *domain,
                                           const double *point, double delta, mel_error *err);
/* The classifier of a mixture of rules, which is copied: its gains are of each basis function, or with basis
 * NULL of each group. The basis is taken over, on failure too. majority: every row gets the class that the
 * mixture predicts most often, instead of a drawn one. value: of a metric; NaN: not known. */
MEL_API mel_status mel_classifier_of_blend(mel_classifier **out, const mel_blend *mixture,
                                           mel_weight_basis *basis, bool majority, double value,
                                           mel_error *err);
MEL_API void mel_classifier_free(mel_classifier *classifier);

/* Names, and where the classifier was found. Everything is copied. */
typedef struct {
    const char *const *class_name; /* NULL: "0", "1", ... */
    const char *const *label;      /* what data files call the classes; NULL: not known */
    const char *const *group_name; /* NULL: "1", "2", ... */
    const char *space;             /* a JSON object that describes the data or population; NULL: none */
    bool number_texts;             /* labels that look like numbers are texts, sorted by byte */
    /* Of a classifier that was found with costs of rows: which column says how much a row counts if it is of
     * each class, "" for none; NULL: as before. */
    const char *const *cost_column;
} mel_classifier_source;
/* MEL_EDATA for names that are missing, repeated or not UTF-8; the classifier is then as it was. */
MEL_API mel_status mel_classifier_set_source(mel_classifier *classifier, const mel_classifier_source *source,
                                             mel_error *err);

/* What a classifier is made of; lent until it changes. */
typedef struct {
    size_t n_classes, n_groups; /* n_groups 0: it does not look at groups */
    const char *const *class_name;
    const char *const *label;         /* NULL: not known */
    bool number_texts;                /* labels that look like numbers are texts, sorted by byte */
    const char *const *group_name;    /* n_groups texts */
    const mel_mixture *mixture;       /* thresholds on the probability of the second class, or NULL: ... */
    const mel_blend *blend;           /* ... plug-in rules, or NULL; gains have n_decisions columns */
    size_t n_decisions;               /* n_classes, or one more: the case is referred */
    const mel_adjustment *adjustment; /* of probabilities before the gains are applied; NULL: none */
    const char *const
        *cost_column; /* of each class: the column that says how much a row counts; NULL: none */
    /* What it achieves where it was found, in the layout of the domain; NULL: it was read from a file. */
    const double *statistics;
    double value; /* of the metric that it is best for; NaN: none */
    /* Functions that gains are of, blend->n_groups of them (0: one), instead of groups; NULL: none. */
    const mel_weight_basis *basis;
    bool majority;
} mel_classifier_parts;
/* What it is made of; lent. */
MEL_API mel_classifier_parts mel_classifier_get(const mel_classifier *classifier);

/* Rows to decide about. All pointers are borrowed. */
typedef struct {
    size_t n;
    const double *probability;        /* n x n_classes */
    const uint32_t *group;            /* NULL: the classifier does not look at groups */
    const double *row_cost;           /* n x n_classes, for classifiers with cost columns; else NULL */
    const mel_feature_rows *features; /* of classifiers whose basis functions read them; else NULL */
    const char *const *row_name;      /* by which mixtures are drawn; NULL: by the row's place */
    uint64_t seed;
    size_t before; /* rows that come before these: their coins are tossed first */
} mel_undecided;
/* What the classifier does with rows: chance[i][j] is the probability that row i is decided as j, n x
 * n_decisions. MEL_EDATA for numbers that are not finite. */
MEL_API mel_status mel_classifier_chances(double *chance, const mel_classifier *classifier,
                                          const mel_undecided *rows, mel_error *err);
/* One prediction per row, drawn: one uniform number per row decides which rule it gets. */
MEL_API mel_status mel_classifier_decide(uint32_t *prediction, const mel_classifier *classifier,
                                         const mel_undecided *rows, mel_error *err);

/* Classifier files (docs/formats.md). Refusals (MEL_EDATA) say the place,
 * and load says the file. "-" is standard input or output. */
MEL_API mel_status mel_classifier_load(mel_classifier **out, const char *path, mel_error *err);
MEL_API mel_status mel_classifier_save(const mel_classifier *classifier, const char *path, mel_error *err);

#ifdef __cplusplus
}
#endif
#endif
