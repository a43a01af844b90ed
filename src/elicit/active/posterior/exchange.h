/* The posterior of the exchange rate of a binary linear metric r TP + TN, on a grid of rho = ln r: how many
 * false alarms (true negatives) one missed positive (true positive) is worth.
 *
 * A pair in which A has tp more true positives and B has tn more true negatives trades at the rate tn/tp:
 * whoever prefers A has a larger r. How answers err is averaged over the components of the noise model, and
 * over widths of "about the same" from the first such answer on. The prior of rho is Student's t with 3
 * degrees of freedom, centre 0 and scale 2: half of all ratios between 1/4.6 and 4.6, 2% beyond 1,000 or
 * below 1/1,000.
 */
#ifndef MEL_ACTIVE_EXCHANGE_H
#define MEL_ACTIVE_EXCHANGE_H

#include "elicit/active/posterior/aim.h"
#include "elicit/assumption.h"
#include "melicit/face.h"

enum { MEL_EXCHANGE_CELLS = 277, MEL_EXCHANGE_SHAPES = 16, MEL_EXCHANGE_AIMS = 2 };

mel_trade mel_trade_of(const double *a, const double *b, bool *swapped); /* swapped: the first is B */

typedef struct {
    mel_component component[MEL_MOST_COMPONENTS];
    size_t shape_of[MEL_MOST_COMPONENTS]; /* those that differ in their lapses only have the same shape */
    size_t n_components, n_shapes;
    const mel_component *shape[MEL_EXCHANGE_SHAPES];
    bool band;
    size_t n_ties;                    /* 1: nobody answered "about the same" yet */
    double prior[MEL_EXCHANGE_CELLS]; /* sums to 1 */
    double *joint;                    /* n_ties x n_components x cells; sums to 1 */
    double mass[MEL_EXCHANGE_CELLS];  /* of the cells, of those who aim at a share too; sums to 1 */
    /* People who aim at a share of a class, and the cell of the rate at which the setting that just keeps
     * each limit is best; the probabilities of these aims, and of a rate. */
    size_t n_aims;
    mel_aim *aim;
    size_t cell_of[MEL_EXCHANGE_AIMS][MEL_AIM_LIMITS];
    double aim_weight[MEL_EXCHANGE_AIMS], sure;
    double ratio[MEL_EXCHANGE_CELLS], norm[MEL_EXCHANGE_CELLS]; /* r and 1/sqrt(1 + r^2) */
    mel_trade *trade;                                           /* told so far */
    mel_trade_answer *answer;
    size_t n, capacity;
    double evidence; /* log of how much likelier the answers are than coin tosses */
} mel_exchange;

/* prior: of the metric's angle (tangent 1/r), with a strength of 0 for none. */
mel_status mel_exchange_init(mel_exchange *x, const mel_assumption *assume, double prior_angle,
                             double prior_strength, mel_error *err);
/* Allows for people who aim at a share of the positives, or of the negatives, of this test: the rate is then
 * the one at which the setting that just keeps it is best. Before the first answer. */
mel_status mel_exchange_allow_aims(mel_exchange *x, const mel_face *face, mel_error *err);
void mel_exchange_free(mel_exchange *x); /* of a zeroed one too */
mel_status mel_exchange_tell(mel_exchange *x, mel_trade trade, mel_trade_answer answer, mel_error *err);

double mel_exchange_log_prior(double rho); /* without a prior metric, up to a constant */
double mel_exchange_cell(size_t i);        /* rho in the middle of a cell */
double mel_exchange_width(void);           /* of a cell */
double mel_exchange_quantile(const mel_exchange *x, double q);
/* The interval of rho that is reported: 95%, or what a stated band leaves. */
void mel_exchange_interval(const mel_exchange *x, double *low, double *high);
/* The same for somebody whose answers may vary more than they happened to: components count in proportion to
 * how much they do. outside: share of the posterior beyond either end, at most that of the interval. */
void mel_exchange_cautious(const mel_exchange *x, double outside, double *low, double *high);
/* The mass of all cells of those who have a rate, which sums to 1, as it is believed or for such a somebody.
 */
void mel_exchange_belief(const mel_exchange *x, bool cautious, double *mass);
/* Probability of an answer, by all that is believed. Tests hold mel_exchange_information to it, which works
 * the same out for all answers at once. */
double mel_exchange_foresee(const mel_exchange *x, mel_trade trade, mel_trade_answer answer);
/* Noise near the balance of a trade: the standard deviation of the exchange rate at which it is accepted,
 * natural logarithm, by its posterior geometric mean. */
double mel_exchange_variation(const mel_exchange *x, mel_trade trade);
/* Log of how much likelier the answers are if rho is moved by so much when each is given, than if it stays.
 */
mel_status mel_exchange_moved(double *out, const mel_exchange *x, const double *moved, mel_error *err);

/* What a question tells, before it is asked: mutual information of its answer and rho, in bits. The work is
 * prepared once for all questions, for what is believed or, cautious, for somebody whose answers may vary
 * more than they happened to; room: mel_exchange_work_size() numbers. */
size_t mel_exchange_work_size(void);
void mel_exchange_prepare(const mel_exchange *x, bool cautious, double *work);
double mel_exchange_prepared_quantile(const double *work, double q); /* of that one's rho */
double mel_exchange_information(const mel_exchange *x, const double *work, mel_trade trade);
/* Joint probabilities of the prepared cells and of the answers "first" and "second"; what is left of a cell
 * is that of "about the same". The first cells of the work are the prepared mass. */
void mel_exchange_outcomes(double *first, double *second, const mel_exchange *x, const double *work,
                           mel_trade trade);
/* What the answer tells about whether somebody aims at a share, in natural units. */
double mel_exchange_aims_told(const mel_exchange *x, const double *work, mel_trade trade);

#endif
