/* What other rooms and the program use of this room beyond melicit/elicit.h; not exported. */
#ifndef MEL_ELICIT_SHARED_H
#define MEL_ELICIT_SHARED_H

#include "elicit/log.h" /* the session file, for sessions of comparisons too */
#include "melicit/elicit.h"

/* "none", "flip", "flip:0.1", "logistic", "logistic:50", "band:0.001", "person". */
mel_status mel_assumption_parse(mel_assumption *out, const char *text, mel_error *err);
/* The text that mel_assumption_parse reads. */
#define MEL_ASSUMPTION_TEXT 64 /* bytes suffice */
void mel_assumption_print(char *text, size_t n, const mel_assumption *assumption);

/* number: of MEL_OPTION_NUMBER; whole: of the other types up to MEL_OPTION_WORD. */
typedef struct {
    double number;
    uint64_t whole;
} mel_option_value;
/* Reads a value of these types; of the row only type, range and words matter. MEL_EINVAL says what is
 * expected ("expected a whole number from 2 to 4"). */
mel_status mel_option_parse(mel_option_value *out, const mel_option *row, const char *text, mel_error *err);
/* "-,-,+,?": one sign for each coefficient of a group, for the caller to free(). */
mel_status mel_signs_parse(signed char **out, const mel_layout *layout, const char *text, mel_error *err);
/* "METRIC.json:25": the file's name, for the caller to free(), and the strength of the prior. */
mel_status mel_prior_parse(char **path, double *strength, const char *text, mel_error *err);
/* Which numbers of a group the answers press against their declared signs, by the draws of this result; an
 * array as long as a list of signs. Search: none. */
mel_status mel_session_pressed(bool *pressed, mel_session *session, const mel_metric *metric, mel_error *err);
/* What its questions are: those of the options, or far where there are no others. */
mel_questions mel_session_questions(const mel_session *session);
/* The first line of a session file, a JSON object, for the caller to free(): it says what the session is
 * about.
 */
mel_status mel_session_header(char **out, const char *path, mel_error *err);
/* The options that a session file was started with, and a budget for all answers in it, for mel_session_open;
 * names of classes and groups are not in it. For the caller to free with mel_session_options_free, which
 * takes nothing else. */
mel_status mel_session_options_read(mel_session_options **out, const char *path, const mel_domain *domain,
                                    mel_error *err);
void mel_session_options_free(mel_session_options *opt);
/* Answered question i (0-based) as its line in a session file, without times, for the caller to free(). */
mel_status mel_session_line(char **out, const mel_session *session, uint32_t index, mel_error *err);
/* The options that it has, and what it is about. */
const mel_session_options *mel_session_get_options(const mel_session *session);
const mel_domain *mel_session_domain(const mel_session *session);
/* Whether opening the log dropped a last line that a crash had cut off. */
bool mel_session_repaired(const mel_session *session);
/* Whether the metric prefers the other one; of "about the same" and "can't say" it never does, nor where it
 * is not defined. */
bool mel_answer_contradicts(const mel_metric *metric, const double *a, const double *b, mel_answer answer);
/* "none", "indifferent", "no-differences", "no-mistakes", "no-curvature", "flat-centre", "at-end". */
const char *mel_finding_name(mel_finding finding);
/* A sentence for people: what was found, and what to do about it; "" for MEL_FINDING_NONE. */
const char *mel_finding_text(mel_finding finding);
/* Posterior density of the angle of a linear metric on a face on n ascending angles that cover its support
 * (active only; MEL_ESTATE otherwise): for plots. */
mel_status mel_session_posterior(size_t n, double *angle, double *density, mel_session *session,
                                 mel_error *err);
/* The radius before the first answer of an active session and after each one, n numbers for the caller to
 * free(). *n is 0 where one of them is not above 0 and finite, and for searches. */
mel_status mel_session_radii(double **out, size_t *n, const mel_session *session, mel_error *err);
/* Sets the ends of mel_metric_weight_ratio's interval to those of the ratios of n draws, rows of `stride`
 * numbers, which know how the two weights move together. */
mel_status mel_drawn_ratio_interval(mel_cost_ratio *out, size_t n, size_t stride, const double *draw,
                                    size_t i, size_t j, mel_error *err);
/* Sessions about given classifiers: whether enough answers prefer one to another for an order to be called
 * settled. */
bool mel_session_order_was_asked(const mel_session *session);

/* Two or more active sessions about the same statistics, family and degree; MEL_EINVAL with the one that
 * differs, and where two are the same session. Prior metrics with which sessions began do not count for what
 * is common. Angles are between the vectors in which the utility is linear (linear-fractional: the pivots).
 */
mel_status mel_respondents_join(mel_pooled **out, size_t n, mel_session *const *sessions, mel_error *err);
void mel_pooled_free(mel_pooled *pooled);

/* What one of them wants given everybody's answers: the session's answers heard again, beginning with the
 * population's density instead of a prior of its own. */
mel_status mel_pooled_person(mel_metric **out, const mel_pooled *pooled, const mel_session *session,
                             mel_error *err);

/* The supporting line <m, (tp, tn)> = c of the face at the optimum, as the searches of chapter 3 return it.
 */
typedef struct {
    double m11, m00, c;
} mel_line;
/* The linear-fractional metric (p0 = 0, p11 + p00 = 1) from its supporting lines at the
 * maximiser and the minimiser; exact when they are. positives = P(Y = 1). */
mel_status mel_fractional_closed(double p[2], double q[2], double *q0, mel_line upper, mel_line lower,
                                 double positives, double negatives, mel_error *err);
/* Proposition 3.3: q and q0 when p (with p0 = 0) is known, from the supporting line at the maximiser. */
mel_status mel_fractional_from_p(double q[2], double *q0, const double p[2], mel_line upper, double positives,
                                 double negatives, mel_error *err);

/* The same for a ball in any dimension n: outward slopes s of unit length and constants
 * c = <s, c*> of the supporting hyperplanes at the best and at the worst point c*. The value is
 * <a, c>/(<b, c> + b0), with a denominator that is positive on the ball; a has l1 norm 1, b0 is 1, or -1
 * when both constants are negative, and b is 0 when the slopes are opposite (linear metrics) unless the ball
 * is a thousand times smaller than the constants. */
mel_status mel_fractional_ball(size_t n, double *a, double *b, double *b0, const double *upper,
                               double c_upper, const double *lower, double c_lower, mel_error *err);

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

#endif
