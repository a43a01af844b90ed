/* The report's page from plain data: what session.c gathers, and what tests make up. */
#ifndef MEL_REPORT_PAGE_H
#define MEL_REPORT_PAGE_H

#include "outcome/outcome.h"
#include "report/shared.h"

typedef struct {
    const double *a, *b; /* numbers as in the layout; (TP, TN) on a face */
    mel_answer answer;
    double seconds; /* NaN: not recorded */
    bool repeated, disagrees;
} mel_page_question;

/* What a page about several classes shows besides the outcome. All pointers are borrowed. */
typedef struct {
    const char *const *coordinates; /* of a point, in words: "flu taken for healthy (men)" */
    const char *const *class_names;
    const double *class_share; /* P(Y = i); NULL: unknown */
} mel_page_classes;

/* All pointers are borrowed; texts may be NULL unless said otherwise. */
typedef struct {
    const mel_outcome *outcome;      /* of a session */
    const mel_page_classes *classes; /* NULL: two classes on a planar face */
    const char *title;               /* not NULL */
    const char *data, *date, *answered_by, *version;
    const char *session_path, *metric_path, *space_options;

    size_t n_questions;
    const mel_page_question *questions;
    size_t n_radius; /* 0: none */
    const double *radius;

    /* From here on two classes only. */
    const char *positive;                 /* name of the class that is looked for, not NULL */
    const char *found, *cleared, *called; /* what is found, cleared, and never or always said; not NULL */
    double positives, negatives;
    size_t n_hull;
    const mel_point *hull;
    double direction[2]; /* in which things get better at the best point */

    size_t n_posterior; /* 0: none */
    const double *posterior_angle, *posterior_density;
} mel_page_data;

mel_status mel_page_write(char **html, const mel_page_data *data, mel_error *err);

#endif
