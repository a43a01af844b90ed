/* The next question about a linear-fractional metric (bivector.h), and how well it is known.
 *
 * A pair tells on which side of a cut theta is, and the cut depends on the line through A and B only.
 * Candidates are lines whose cut passes through the mean along a direction in which the posterior is long;
 * each is turned until it halves the samples and judged by the variance that its answer is expected to take
 * away. On a ball any line will do, on a space those in its two-class faces; the whole chord is asked about.
 */
#ifndef MEL_ACTIVE_LINE_H
#define MEL_ACTIVE_LINE_H

#include "elicit/active/ask/pair.h"
#include "elicit/active/posterior/bivector.h"
#include "elicit/class_faces.h"

typedef struct mel_lines mel_lines;

/* Region, sampler and space (NULL: the region is a ball) are borrowed. */
mel_status mel_lines_new(mel_lines **out, const mel_region *region, const mel_bivector_sampler *sampler,
                         const mel_space *space, mel_error *err);
void mel_lines_free(mel_lines *lines);

/* The question, in statistics; simple: A and B differ in two coordinates. *outlook is zero, and the points
 * untouched, when no pair tells anything. gain: as mel_bivector_gain at the mean, of a pair at the origin. */
void mel_lines_choose(double *a, double *b, mel_outlook *outlook, mel_lines *lines, double gain, bool simple,
                      const mel_avoided *avoided, mel_rng *rng);
/* The 2n numbers whose product with theta - mean is about the margin of a pair inside the region. */
void mel_lines_row(mel_lines *lines, const double *a, const double *b, double *row);
/* 95% of the posterior's metrics (with flips: 97.5%) have their level hyperplanes' slopes
 * within this angle (radians, in statistics) of the mean metric's, at every probe: centre, edge and extreme
 * points of the ball; centres and boundaries of the faces. */
double mel_lines_radius(mel_lines *lines);
/* The faces of a space; NULL on a ball. */
const mel_class_faces *mel_lines_faces(const mel_lines *lines);

#endif
