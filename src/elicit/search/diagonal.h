/* Chapter 4 of the thesis on the two-class faces of a space: Algorithms 4.1 and 4.3, with the reference class
 * chosen by a tournament when that is asked for. */
#ifndef MEL_ELICIT_SEARCH_DIAGONAL_H
#define MEL_ELICIT_SEARCH_DIAGONAL_H

#include "base/internal.h"
#include "elicit/search/procedure.h"
#include "elicit/shared.h"

/* A diagonal linear-fractional metric of k classes from the level lines of its two-class faces. */

/* upper[i] and lower[i], i != reference: two different level lines <(m11, m00), (d_reference, d_i)> = c of
 * the metric on the face of the classes reference and i, such as the supporting lines at its best and worst
 * point; m11, m00 >= 0 in upper, <= 0 in lower. corner: the perfect classifier's statistics. Gives psi(d) =
 * <a, d> /
 * (<b, d> + b0) with a >= 0, |a|_1 = 1, psi(corner) = 1 and a positive denominator between 0 and the corner;
 * it orders all points as the metric does, exactly when the lines are exact. MEL_ENUMERIC for lines that do
 * not fix a metric that rewards the reference class. */
mel_status mel_fractional_faces(size_t n, double *a, double *b, double *b0, size_t reference,
                                const mel_line *upper, const mel_line *lower, const double *corner,
                                mel_error *err);

/* The boundary of a face that a search runs on: the best points of increasing metrics, or their worst. */
typedef enum { MEL_UPPER, MEL_LOWER } mel_side;

typedef struct {
    const mel_space *space;
    const mel_session_options *opt;
    mel_direction direction;
    mel_replay *replay;
    size_t n_classes;
    double *scale;    /* the layout's numbers per share on a face: 1 each, or 1/P(Y = i) for rates */
    double *corner;   /* the perfect classifier */
    mel_face **faces; /* of the classes i < j at i * n_classes + j; made when first needed, owned */
    bool decreasing;  /* known or found to prefer mistakes */
    size_t reference;
    mel_arc *upper, *lower; /* per class: where the share of the reference's weight in both is */
    size_t asked[2];        /* the classes of the last question that was posed */
    mel_status status;      /* of posing it */
    mel_error *err;         /* where its sentence goes */
} mel_diagonal_search;

/* MEL_EINVAL for signs that are not all alike. On failure, too, the search is for mel_diagonal_clear. */
mel_status mel_diagonal_init(mel_diagonal_search *search, const mel_space *space,
                             const mel_session_options *opt, mel_replay *replay, mel_error *err);
void mel_diagonal_clear(mel_diagonal_search *search);
/* Questions from start to end. */
uint32_t mel_diagonal_total(const mel_diagonal_search *search);
/* Runs over the recorded answers to the end (*pending: false) or to the first question without one. */
mel_status mel_diagonal_run(mel_diagonal_search *search, bool *pending, mel_error *err);
/* After a run to its end: whether a search on this side has led to an end of its range. */
bool mel_diagonal_at_end(mel_diagonal_search *search, mel_side side);

/* A face whose axes may be the other way round than those of the classes that were asked for. */
typedef struct {
    const mel_face *face;
    bool swapped;
} mel_turned_face;
mel_status mel_diagonal_face(mel_turned_face *out, mel_diagonal_search *search, size_t first, size_t second,
                             mel_error *err);
/* nu(m; reference, other): the best point of the face (worst, on the lower side) when the reference's weight
 * is m and the other's 1 - m, in the layout's numbers: tp is the reference's coordinate, tn the other's. */
mel_point mel_diagonal_point(const mel_diagonal_search *search, mel_turned_face face, size_t other,
                             mel_side side, double m);
/* The level line that a search has found on the face of the reference and another class. */
mel_status mel_diagonal_line(mel_line *out, mel_diagonal_search *search, size_t other, mel_side side,
                             mel_error *err);

#endif
