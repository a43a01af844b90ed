/* melicit/outcome.h: what a session found, worked out once, in numbers and in sentences.
 *
 * Terminal, browser and report render a mel_outcome and work out nothing themselves, so that one session says
 * the same everywhere. A new finding is a field or a statement here; who renders statements shows it. */
#ifndef MELICIT_OUTCOME_H
#define MELICIT_OUTCOME_H

#include "melicit/classify.h"
#include "melicit/rank.h"
#include "melicit/trust.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A number with its interval: 95% credible, or where a search ended. NaN where something is not known; ends
 * may be infinite. */
typedef struct {
    double value, low, high;
} mel_estimate;

/* What a sentence is about. */
typedef enum {
    MEL_ABOUT_METRIC = 0,  /* the metric in words; what is special about it */
    MEL_ABOUT_END = 1,     /* why the questions ended, and how precise the metric is then */
    MEL_ABOUT_KNOWN = 2,   /* what is known of a metric that is not as precise as asked for */
    MEL_ABOUT_OPEN = 3,    /* what the answers leave open, and what it would take to settle it */
    MEL_ABOUT_ANSWERS = 4, /* how consistent the answers were */
    MEL_ABOUT_LIMITS = 5   /* what no answers of this kind can tell */
} mel_topic;

/* A sentence, or a few, for people. */
typedef struct {
    mel_topic topic;
    const char *key; /* which finding it is, a word for programs: "repeats" */
    const char *text;
    bool grave; /* the result is not to be trusted */
} mel_statement;

/* What comes first, by what the answers support. */
typedef enum {
    MEL_HEADLINE_WORDS = 0,    /* the metric in words: no single number says it */
    MEL_HEADLINE_NUMBER = 1,   /* how much one mistake counts */
    MEL_HEADLINE_BOUND = 2,    /* more, or less, than so much */
    MEL_HEADLINE_UNSETTLED = 3 /* the answers do not settle it */
} mel_headline_kind;
typedef struct {
    mel_headline_kind kind;
    const char *text;
    const char *range; /* a sentence about its interval; NULL: none is known, or said */
    const char *why;   /* unsettled: why, and what to do; a bound: why not more; may be NULL or "" */
    const char *rest;  /* what else is said of the metric, less what tables and pictures of weights show */
} mel_headline;

/* A coefficient of the metric. */
typedef struct {
    const char *symbol;  /* "m11", "B1,2" */
    const char *meaning; /* what it weighs: "flu taken for cold, squared" */
    mel_estimate number;
} mel_coefficient;

/* What a statistic of everybody weighs: its share of all weight, of the sign that it usually has (right
 * answers help, mistakes hurt). */
typedef struct {
    const char *name;  /* "flu taken for cold", "cancer recognised" */
    const char *label; /* the same, short: with an arrow */
    mel_estimate share;
} mel_weight;

/* What a statistic counts against the one that counts most. */
typedef struct {
    size_t weight, of; /* positions in the metric's coefficients */
    mel_cost_ratio ratio;
    bool wide; /* known only roughly */
} mel_weight_ratio;

/* A rule for two classes, and what it does. */
typedef struct {
    const char *name;   /* "best for this metric", "best for accuracy" */
    const char *words;  /* "predict cancer when its probability is at least 0.26" */
    const char *effect; /* "3.1 missed cancer cases and 10 false alarms" */
    mel_rule rule;
    mel_point point;
    mel_estimate missed, false_alarms; /* out of 1,000; 95% intervals for new data like those measured on */
    /* What both weigh by the ratio that was found: "as much as 73 false alarms", "more than 370 false alarms"
     * where it has one bound; NULL: not known. */
    const char *weighs;
    double value;                 /* of the metric; NaN where it is not defined */
    double value_low, value_high; /* 95%, for other rows and what is open about the metric; NaN: unknown */
} mel_decision;

/* What a rule does with people: of those of a true class in a group, the shares that are decided as each
 * class, with 95% intervals for new data like those measured on; NaN where nothing is known. */
typedef struct {
    const char *name;          /* "best for this metric", "the most probable class" */
    const mel_estimate *share; /* groups x true classes x decisions */
} mel_treatment;

/* A setting of the test that a session of two classes was about: a threshold on its scores, and what comes of
 * it. Shares of people have 95% intervals for new data like those measured on; NaN: a population. */
typedef struct {
    double threshold; /* positive from this score on; -INFINITY: always, INFINITY: never */
    double missed, missed_low, missed_high;
    double false_alarms, false_alarms_low, false_alarms_high; /* all of them out of setting_people */
    double cost;                  /* of both in false alarms, by the ratio that was found; NaN: none was */
    double ratio_low, ratio_high; /* it is the best of the settings for these cost ratios; NaN: for none */
    bool fits;                    /* these ratios overlap with the interval of the one that was found */
    /* These ratios in words: "one missed cancer counts as much as 12 to 14 false alarms"; what its mistakes
     * weigh by the ratio that was found: "as much as 73 false alarms". NULL: not known. */
    const char *where, *weighs;
} mel_setting;

/* An answer that was close to the other one. */
typedef struct {
    uint32_t number; /* of the question, 1-based */
    /* What was to be had: "1 fewer missed cancer for 7 more false alarms", "29 more bus recognised and 61
     * fewer van recognised"; "": the numbers do not differ. */
    const char *text;
    mel_answer answer;             /* A: the text was wanted, B: it was not */
    uint32_t missed, false_alarms; /* fewer, more: two classes; else 0 */
} mel_close_call;

/* A well-known metric that orders what is achievable on a face much alike. */
typedef struct {
    const char *name;
    double agreement;    /* share of 2,000 random pairs, always the same ones, that both order alike */
    const char *percent; /* the same as it is shown: "97.4"; "100" only for all */
} mel_closest;

/* How much of a class two classifiers recognise. */
typedef struct {
    double best, accurate; /* the one that is best for the metric; the most accurate one */
    double change;         /* from the latter to the former */
} mel_recognised;

/* A given classifier in the order of the metric. */
typedef struct {
    const char *name;
    size_t place; /* in the pool, 0-based */
    double value; /* of the metric */
    double first; /* probability that it is the best one by the numbers shown; equals share it */
    double
        beats_next; /* and that it is better than the next in the order, ties counting half; NaN: the last */
    double stands_next; /* and that the next is not better; NaN: the last */
    /* Probability that it is the best one in truth, given that the numbers were measured on so many rows;
     * NaN: it is not known on how many. */
    double truly_first;
} mel_placed;

/* One of several respondents. */
typedef struct {
    const char *name;            /* as the options call it, else "respondent 1" */
    const char *words;           /* the own metric */
    const char *consistency;     /* mel_outcome's, of the own answers */
    const mel_respondent *found; /* numbers */
} mel_respondent_outcome;

/* Two of them. */
typedef struct {
    size_t first, second; /* positions among the respondents */
    mel_estimate degrees; /* between their metrics */
    bool differ;          /* the answers show that they want different things */
    /* The share of random pairs that they order differently; NaN: not known for the family. */
    double order_differently;
} mel_respondent_pair;

/* A line of code that runs, for Python (scikit-learn, NumPy, xgboost, LightGBM) or R. model: a fitted
 * classifier, X: rows, y: true labels, d: decisions, p: probabilities of the positive class, P: of all
 * classes. */
typedef struct {
    const char *tool, *line; /* NULL: none */
} mel_code_line;

/* The preference as others know it. */
typedef struct {
    const char *key, *name; /* "threshold", "threshold on calibrated probabilities" */
    mel_estimate number;    /* a side without a bound is infinite; NaN: it is no single number */
    const char *text;       /* the same for people: "0.13 (0.099 to 0.15)" */
    mel_code_line code[2];
} mel_equivalent;

/* Questions that are no part of the session, and how they were answered. */
typedef struct {
    size_t n;
    const double *pairs; /* A, then B: n x 2 points */
    const mel_answer *answers;
    double guess; /* the cost ratio that somebody thought to have; NaN: none */
} mel_evaluation;

/* Of those that were answered A or B: how many, and on how many of them metrics agree. */
typedef struct {
    uint32_t n, elicited;
    bool planar; /* two classes on a face: accuracy and F1 are known */
    uint32_t accuracy, f1;
    bool guessed; /* and the guess */
    uint32_t guess;
} mel_agreed;

enum {
    MEL_OUTCOME_CLOSEST = 3,
    MEL_OUTCOME_DECISIONS = 2,
    MEL_OUTCOME_COEFFICIENTS = 40,
    MEL_OUTCOME_PAIRS = 2000, /* random ones that agreements between metrics are shares of */
    MEL_OUTCOME_CALLS = 3
};

/* Pointers are valid until mel_outcome_free; options and domain belong to the session. */
typedef struct mel_outcome {
    const mel_metric *metric;
    mel_summary summary;                /* of a metric alone: nothing is known */
    const mel_session_options *options; /* of the session; NULL: a metric alone */
    const mel_domain *domain;
    const char *missed, *missed_plural, *false_alarm, *false_alarms; /* the two mistakes of two classes */
    const char *people;                                              /* what is decided about */
    uint64_t rows;                                                   /* measured on; 0: a population */

    /* No question was answered, or all with "can't say": the metric is what was assumed before. */
    bool nothing_found;
    const char *words; /* the metric in words, with these names; that the answers do not settle it */
    mel_headline headline;
    size_t n_statements;
    const mel_statement *statements; /* by topic */

    /* First-order coefficients and constants, and the largest of the others. */
    size_t n_coefficients, n_left_out;
    const mel_coefficient *coefficients;
    size_t n_weights; /* 0: all weights are zero */
    const mel_weight *weights;
    size_t heaviest;     /* which of them has the largest share */
    mel_estimate lambda; /* what differences between groups count against mistakes */
    size_t n_ratios;     /* active sessions, metrics whose weights have fixed ratios */
    const mel_weight_ratio *ratios;

    /* Two classes on a face. */
    mel_estimate cost;      /* of a missed positive, in false alarms; NaN unless both cost something */
    mel_estimate threshold; /* on true probabilities */
    size_t n_decisions;     /* the best one, the most accurate one */
    mel_decision decisions[MEL_OUTCOME_DECISIONS];
    /* What the best one makes, compared with the most accurate one: "5 fewer missed cancer cases and 1 more
     * false alarm"; NULL: the same mistakes. */
    const char *change;
    size_t n_closest; /* well-known metrics, closest first */
    mel_closest closest[MEL_OUTCOME_CLOSEST];
    /* What the test can be set to, from never to always positive: those that are best for some cost ratio,
     * and the best one for the metric, which is settings[best_setting]. */
    size_t n_settings, best_setting;
    const mel_setting *settings;
    mel_setting usual_setting; /* today's: from one half on unless the options say otherwise */
    uint32_t setting_people, setting_positives; /* out of so many, of which so many are positive */
    size_t n_calls;                             /* the answers that were closest to the other one */
    mel_close_call calls[MEL_OUTCOME_CALLS];

    /* Several classes or groups, when asked for: the best rule, and today's. */
    size_t n_treatments;
    mel_treatment treatments[MEL_OUTCOME_DECISIONS];
    const double *treated; /* groups x classes: the share of everybody that this is */

    /* Of a cost ratio, or of costs of the mistakes between several classes: the numbers that others use. */
    size_t n_equivalents;
    const mel_equivalent *equivalents;
    const char *equivalents_note; /* how to use them */
    mel_interval same_beta;       /* the betas of F-beta whose best rule on these rows is this metric's */
    const mel_estimate *costs;    /* classes x classes, in cheapest mistakes, true classes in rows; or NULL */

    const mel_classifier *best;       /* NULL: not known for the family or domain */
    const mel_recognised *recognised; /* one per class; NULL: only for diagonal statistics without groups */
    const char *consistency;          /* how consistent the answers are; NULL: not known */

    /* Sessions about given classifiers: best first. */
    size_t n_order;
    const mel_placed *order;
    double order_probability; /* of all of it */
    /* Who was chosen over every other one in the answers themselves; NULL: nobody. Where that is not the
     * first in the order, the answers are too few to rule out that some were errors. */
    const char *chosen;

    /* By how much the metric puts the best that is achievable above all sides that were refused with "neither
     * will do"; NaN: nothing was refused, or the best is not known. */
    double above_refused;

    mel_agreed agreed; /* with the answers of the options' evaluation */

    /* Several respondents: the metric is the common one. */
    const mel_pooled *pooled; /* NULL: one session, or a metric alone */
    size_t n_respondents;
    const mel_respondent_outcome *respondents;
    size_t n_respondent_pairs;
    const mel_respondent_pair *respondent_pairs;
    double mean_degrees; /* between two of them */
} mel_outcome;

/* How the result is put. All optional and lent. */
typedef struct {
    size_t struct_size;
    const char *missed, *missed_plural;     /* the mistakes ("missed cancer"); from the class names */
    const char *false_alarm, *false_alarms; /* "false alarm"; without plurals: "missed cancer cases" */
    const char *people;                     /* what is decided about: "people" */
    uint64_t rows;                          /* how many rows the domain was measured on; 0: a population */
    const char *const *respondents;         /* mel_outcome_of_sessions: what they are called, all or none */
    const mel_evaluation *evaluation;       /* mel_outcome_of_session: further answers to agree with */
    /* mel_outcome_of_session: work out treatments, which may take the search for a best rule. */
    bool treatments;
    /* What is done today, where that is known: two classes, from this score on (NaN: one half; more classes:
     * the most probable one); or decisions that were counted, groups x true classes x decisions, each class
     * of each group with some (NULL: none were). */
    double today_threshold;
    const double *today_counts;
    const mel_domain *domain;     /* mel_outcome_of_metric: what the metric is applied to */
    const mel_language *language; /* of its sentences; NULL: English */
} mel_outcome_options;
MEL_API void mel_outcome_options_init(mel_outcome_options *opt);

/* What is known now, also before the end. The session must outlive the outcome. opt may be NULL. */
MEL_API mel_status mel_outcome_of_session(mel_outcome **out, mel_session *session,
                                          const mel_outcome_options *opt, mel_error *err);
/* What can be said of a metric alone: its words, coefficients, weights, cost ratio and threshold. */
MEL_API mel_status mel_outcome_of_metric(mel_outcome **out, const mel_metric *metric,
                                         const mel_outcome_options *opt, mel_error *err);
/* The metric's equivalents as a JSON object (docs/formats.md), {} where it has none; for the caller to
 * free(). */
MEL_API mel_status mel_outcome_equivalents_json(char **out, const mel_outcome *outcome, mel_error *err);
/* What several respondents want, each with a session: two or more active ones about the same statistics,
 * family and degree (MEL_EINVAL with the one that differs), none of them a copy of another. The metric is the
 * mean of the people whom they stand for, each one's answers read by the session's own model of answers. The
 * sessions need not outlive it. */
MEL_API mel_status mel_outcome_of_sessions(mel_outcome **out, size_t n, mel_session *const *sessions,
                                           const mel_outcome_options *opt, mel_error *err);
MEL_API void mel_outcome_free(mel_outcome *outcome);

/* The outcome as a JSON object (docs/cli.md, elicit --json), for the caller to free(). */
MEL_API mel_status mel_outcome_to_json(char **out, const mel_outcome *outcome, mel_error *err);

#ifdef __cplusplus
}
#endif
#endif
