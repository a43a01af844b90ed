/* What other rooms and the program use of this room beyond melicit/report.h; not exported. */
#ifndef MEL_REPORT_SHARED_H
#define MEL_REPORT_SHARED_H

#include "melicit/report.h"

/* The CSS that embedded plots need once per page, for the caller to free(). */
mel_status mel_plot_style(char **css, mel_error *err);

/* A metric's best point on the boundary: drawn with its supporting line and the direction in which things
 * get better. best.tp NaN: found on the hull. */
typedef struct {
    double m11, m00;
    mel_point best;
    const char *name; /* in the legend: "elicited", "true" */
} mel_support;

typedef struct {
    mel_point a, b;
    mel_answer answer;
} mel_asked;

/* What classifiers can achieve (figures 3.1(a) and A.1 of the thesis, and the boundary of its chapter 8). */
typedef struct {
    size_t struct_size;
    const mel_face *face; /* gives hull, positives and negatives; or NULL and these three: */
    size_t n_hull;
    const mel_point *hull; /* counter-clockwise from (0, negatives), as mel_face_vertex gives them */
    double positives, negatives;
    double people; /* unit of the axes: 1 (default): shares of all; 1000: per 1,000 */
    const char *x_title, *y_title;
    const char *never, *always; /* labels of (0, negatives) and (positives, 0); "never positive", ... */
    size_t n_supports;
    const mel_support *supports; /* at most MEL_MOST_SUPPORTS */
    size_t n_questions;
    const mel_asked *questions; /* numbered from 1; preferred ends are filled */
    size_t n_staircase;
    const mel_point *staircase; /* what single thresholds achieve */
    size_t n_smooth;
    const mel_point *smooth; /* a smoothed boundary */
} mel_feasible_plot;
#define MEL_MOST_SUPPORTS 4
void mel_feasible_plot_init(mel_feasible_plot *plot);
mel_status mel_plot_feasible(char **svg, const mel_feasible_plot *plot, const mel_plot_options *opt,
                             mel_error *err);

/* What is believed about a linear metric: the density of the angle of (m11, m00), shown over the angle or
 * over the cost ratio cot(angle) on a logarithmic axis (angles strictly between 0 and pi/2 only). */
typedef struct {
    size_t struct_size;
    size_t n;
    const double *angle, *density; /* ascending radians; not negative, not all zero; any scale */
    double estimate, low, high;    /* radians; low and high shade the 95% interval */
    bool cost_ratio;
    const char *x_title; /* NULL: by the axis */
} mel_posterior_plot;
void mel_posterior_plot_init(mel_posterior_plot *plot);
mel_status mel_plot_posterior(char **svg, const mel_posterior_plot *plot, const mel_plot_options *opt,
                              mel_error *err);

/* Radius before the first question and after each of the others (n values above zero, log axis), and the
 * tolerance that was asked for (0: none). */
mel_status mel_plot_convergence(char **svg, size_t n, const double *radius, double tolerance,
                                const mel_plot_options *opt, mel_error *err);

/* Of 1,000 people (columns x rows of marks): found, missed, false alarms, cleared, in whole people. */
typedef struct {
    size_t struct_size;
    mel_point point;
    double positives, negatives;
    const char *found, *missed, *false_alarms, *cleared; /* legend; NULL: these words */
} mel_people_plot;
void mel_people_plot_init(mel_people_plot *plot);
mel_status mel_plot_people(char **svg, const mel_people_plot *plot, const mel_plot_options *opt,
                           mel_error *err);

/* What rules are worth as the exchange rate between the two mistakes changes. Everything is in shares of all.
 */
typedef struct {
    size_t struct_size;
    size_t n_hull;
    const mel_point *hull; /* rules to choose from */
    double positives, negatives;
    mel_estimate cost;   /* of a missed positive in false alarms: the metric's; ends may be NaN or infinite */
    mel_point chosen;    /* the rule for the metric; tp NaN: none */
    double people;       /* net benefit is per so many: 1,000 */
    const char *y_title; /* "net benefit per 1,000"; NULL: that */
    const char *never, *always;        /* "never positive", "always positive" */
    const char *missed, *false_alarms; /* one and many: "missed positive", "false alarms" */
} mel_decision_plot;
void mel_decision_plot_init(mel_decision_plot *plot);
/* The decision curve of Vickers and Elkin (2006): found positives less false alarms, counted at the odds of
 * the threshold probability; of the best rule for each, of the chosen rule, and of the two that do not look.
 */
mel_status mel_plot_net_benefit(char **svg, const mel_decision_plot *plot, const mel_plot_options *opt,
                                mel_error *err);
/* The cost curve of Drummond and Holte (2006): the expected cost as a share of the largest possible one. */
mel_status mel_plot_cost_curve(char **svg, const mel_decision_plot *plot, const mel_plot_options *opt,
                               mel_error *err);

/* A group's curve, from (0, 0) to (1, 1), and where a rule is on it. */
typedef struct {
    const char *name;
    size_t n;
    const double *fpr, *tpr;
    double at_fpr, at_tpr; /* NaN: nowhere */
} mel_roc;
/* At most MEL_MOST_SERIES groups. */
mel_status mel_plot_roc(char **svg, size_t n, const mel_roc *curve, const mel_plot_options *opt,
                        mel_error *err);

/* Classifiers, best first. */
typedef struct {
    size_t n; /* at most 40 */
    const char *const *names;
    const double *value, *low, *high; /* low and high: both or neither */
    const double *better;             /* n - 1: probability of being better than the next; NULL: unknown */
    double can_tell;                  /* from where on that is enough to say so */
    const char *x_title;
} mel_ranking_plot;
mel_status mel_plot_ranking(char **svg, const mel_ranking_plot *plot, const mel_plot_options *opt,
                            mel_error *err);

#endif
