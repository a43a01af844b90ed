/* The report's page from plain data: what session.c gathers, and what tests make up. */
#ifndef MEL_REPORT_PAGE_H
#define MEL_REPORT_PAGE_H

#include "melicit/report.h"

typedef struct {
    const double *a, *b; /* numbers as in the layout; (TP, TN) on a face */
    mel_answer answer;
    double seconds; /* NaN: not recorded */
    bool repeated, disagrees;
} mel_page_question;

/* A coefficient; NaN where an end of its interval is unknown. */
typedef struct {
    const char *name, *meaning;
    double value, low, high;
} mel_page_number;

/* A way to decide: what it achieves, and the rule when one threshold does it. */
typedef struct {
    mel_point point;
    mel_rule rule;
    bool has_rule;
} mel_page_choice;

enum { MEL_PAGE_NEIGHBOURS = 5 };

/* What a page about several classes shows. Everything is lent. */
typedef struct {
    mel_layout layout;
    const char *const *coordinates; /* of a point, in words: "flu taken for healthy (men)" */
    const char *const *class_names;
    const double *class_share; /* P(Y = i); NULL: unknown */
    bool on_ball;              /* the questions stayed within a ball around random guessing */

    /* Weights of the statistics of everybody, as shares of all weight, of the sign that they usually have
     * (right answers help, mistakes hurt). NaN where an end is unknown; truth may be NULL. */
    size_t n_weights;
    const char *const *weight_names;
    const char *const *weight_labels; /* the same, short: with an arrow for "taken for" */
    const double *weight, *weight_low, *weight_high, *weight_truth;
    double lambda, lambda_low, lambda_high; /* what differences between groups count; NaN: has none */
    size_t n_left_out;                      /* coefficients that are not among the page's numbers */

    /* The share of each class that the classifier recognises that is best for the metric, and the one that
     * is best for accuracy; NULL: not known. */
    const double *chosen, *plain;
} mel_page_classes;

/* Everything is lent; texts may be NULL unless said otherwise. */
typedef struct {
    const mel_page_classes *classes; /* NULL: two classes on a planar face */
    const char *title, *words;       /* not NULL; words is the headline */
    const char *data, *date, *answered_by, *version;
    const char *unit; /* what is decided about: "people"; not NULL */
    const char *session_path, *metric_path, *space_options;
    uint64_t rows; /* 0: a population */

    mel_session_options settings; /* as the session had them */
    mel_summary summary;
    size_t n_numbers;
    const mel_page_number *numbers;

    const char *truth_words; /* NULL: nobody knows the true metric */
    double truth_agreement;  /* share of n_pairs ordered alike */
    size_t n_pairs;
    size_t n_questions;
    const mel_page_question *questions;
    size_t n_radius; /* 0: none */
    const double *radius;

    /* From here on two classes only. */
    const char *positive;                 /* name of the class that is looked for, not NULL */
    const char *found, *cleared, *called; /* what is found, cleared, and never or always said; not NULL */
    const char *missed, *missed_plural, *alarm, *alarms; /* not NULL */
    mel_cost_ratio cost;                                 /* ratio NaN: the metric has none */
    double threshold, threshold_low, threshold_high;     /* on probabilities; NaN: none, unknown */

    double positives, negatives;
    size_t n_hull;
    const mel_point *hull;
    mel_page_choice chosen, plain; /* best for the metric; best for accuracy */
    double m11, m00;               /* direction in which things get better at chosen.point */

    size_t n_posterior; /* 0: none */
    const double *posterior_angle, *posterior_density;
    size_t n_neighbours;
    mel_neighbour neighbours[MEL_PAGE_NEIGHBOURS];

    double truth_m11, truth_m00, truth_angle; /* direction at its best point; angle NaN: not linear */
    mel_point truth_best;
    size_t n_along;
    const double *along_angle, *along_truth, *along_elicited;
} mel_page_data;

mel_status mel_page_write(char **html, const mel_page_data *data, mel_error *err);

#endif
