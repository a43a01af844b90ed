/* The inside of a chooser of lines, for line.c (probes, judging) and line_candidates.c (what to judge). */
#ifndef MEL_ACTIVE_LINE_PARTS_H
#define MEL_ACTIVE_LINE_PARTS_H

#include "elicit/active/ask/line.h"

struct mel_lines {
    const mel_region *region;
    const mel_bivector_sampler *sampler;
    size_t n, count;
    const mel_space *space;
    mel_class_faces faces; /* all of them made; none on a ball */
    double *kept;          /* what candidates point to */
    double *probe;         /* n_probes x n */
    size_t n_probes;
    /* Seen from one point */
    double *jacobian, *through; /* n x 2n, 2n x n: covariance times jacobian' */
    double *first, *second;     /* n x n: M1 (then its Cholesky factor), M2 */
    double *slope;              /* n: of the mean */
    mel_shortlist list;
    double *value, *lever, *work;                 /* count */
    double *c, *best, *delta, *other, *a, *b, *x; /* n; other and x: 2n */
    size_t best_i, best_j;
};

/* A point of the face of classes i and j, inside the region. */
void mel_lines_inside(const mel_lines *l, size_t i, size_t j, mel_point point, double *x);
/* Fills the list with the lines that promise most if the posterior were normal. */
void mel_lines_collect(mel_lines *l, bool simple, mel_rng *rng);

#endif
