/* Chapter 3 of the thesis on a planar face: Algorithms 3.1 and 3.2, and what they add up to. */
#ifndef MEL_ELICIT_SEARCH_BINARY_H
#define MEL_ELICIT_SEARCH_BINARY_H

#include "base/internal.h"
#include "elicit/search/procedure.h"
#include "elicit/shared.h"

typedef struct {
    const mel_face *face;
    const mel_session_options *opt;
    mel_replay *replay;
    bool decreasing; /* known or found to prefer mistakes */
    mel_arc upper;   /* where the maximiser's slope is, as far as known */
    mel_arc lower;   /* linear-fractional: the minimiser's */
} mel_binary_search;

/* Questions from start to end. */
uint32_t mel_binary_total(const mel_session_options *opt);
/* Runs the whole procedure for opt->family over the recorded answers, to its end (true) or to the first
 * question without an answer (false). */
bool mel_binary_search_run(mel_binary_search *search);
/* Whether the search of the best or of the worst point has led to an end of its arc. */
bool mel_binary_upper_at_end(const mel_binary_search *search);
bool mel_binary_lower_at_end(const mel_binary_search *search);
/* The boundary point for slope angle theta. */
mel_point mel_binary_boundary(const mel_face *face, double theta);
/* The supporting line with slope angle theta. */
mel_line mel_binary_line(const mel_face *face, double theta);

/* Parameters of binary linear-fractional metrics from supporting lines; see fractional.c. */

/* Proposition 3.3: q and q0 when p (with p0 = 0) is known, from the supporting line at the maximiser. */
mel_status mel_fractional_from_p(double q[2], double *q0, const double p[2], mel_line upper, double positives,
                                 double negatives, mel_error *err);

#endif
