/* What the files of this room share: an outcome while it is made, with everything that it lends. */
#ifndef MEL_OUTCOME_OUTCOME_H
#define MEL_OUTCOME_OUTCOME_H

#include "base/buffer.h"
#include "base/digits.h"
#include "melicit/outcome.h"

typedef struct {
    mel_outcome out;      /* first: one is the other */
    mel_session *session; /* NULL: a metric alone */
    mel_status status;    /* the first failure; steps after it do nothing */
    mel_error *err;
    mel_outcome_options about;
    size_t n_texts;
    char **text;
    mel_metric *metric;
    size_t n_draws, draw_width; /* of mel_outcome_draws */
    double *draw;
    mel_classifier *best;
    mel_statement *statement;
    mel_coefficient *coefficient;
    mel_weight *weight;
    mel_weight_ratio *ratio;
    mel_equivalent *equivalent;
    mel_estimate *cost;
    mel_recognised *recognised;
    double *treated;
    mel_setting *setting;
    mel_placed *order;
    mel_pooled *pooled;
    mel_respondent_outcome *respondent;
    mel_respondent_pair *pair;
    const char **coordinate; /* names of the statistics of everybody */
} mel_outcome_work;

/* Steps, in this order. Each does nothing after a failure, and leaves its own in status and err. */
void mel_outcome_name(mel_outcome_work *w); /* mistakes, statistics */
void mel_outcome_put_in_words(mel_outcome_work *w, const mel_metric *metric);
void mel_outcome_find_coefficients(mel_outcome_work *w);
void mel_outcome_find_weights(mel_outcome_work *w); /* shares, lambda, cost, threshold */
void mel_outcome_find_ratios(mel_outcome_work *w);
void mel_outcome_sharpen_two(mel_outcome_work *w); /* words, shares, costs: with the interval of the ratio */
void mel_outcome_sharpen_words(mel_outcome_work *w);    /* with the intervals of these ratios */
void mel_outcome_admit_nothing(mel_outcome_work *w);    /* where no answer said anything */
void mel_outcome_find_equivalents(mel_outcome_work *w); /* thresholds, class weights, cost matrices */
void mel_outcome_find_decisions(mel_outcome_work *w);   /* best rules, closest metrics */
void mel_outcome_find_treatments(mel_outcome_work *w);  /* what is done with each class in each group */
void mel_outcome_find_settings(mel_outcome_work *w);    /* two classes: what the test can be set to */
void mel_outcome_find_calls(mel_outcome_work *w);       /* the closest answers */
void mel_outcome_find_order(mel_outcome_work *w);       /* of given classifiers */
void mel_outcome_find_truly_best(mel_outcome_work *w);  /* of these, given the rows behind their numbers */
void mel_outcome_find_agreed(mel_outcome_work *w);      /* with further answers */
void mel_outcome_state(mel_outcome_work *w);            /* statements about all but the answers and limits */
void mel_outcome_state_answers(mel_outcome_work *w);
void mel_outcome_find_pooled(mel_outcome_work *w);     /* several respondents, with what is said of them */
void mel_outcome_state_preferred(mel_outcome_work *w); /* of given classifiers: which one, .. */
void mel_outcome_state_despite(mel_outcome_work *w);   /* .. against which answers, .. */
void mel_outcome_state_truly_best(mel_outcome_work *w);
void mel_outcome_state_order(mel_outcome_work *w); /* .. and what is open */
void mel_outcome_state_limits(mel_outcome_work *w);

/* The session's equally likely metrics, n_draws x draw_width numbers, drawn once for all steps. */
mel_status mel_outcome_draws(mel_outcome_work *w);
/* Notes a failure; true while there was none. */
bool mel_outcome_good(mel_outcome_work *w, mel_status status);
/* Room for n things, zeroed, that the caller stores in the work; NULL with the failure noted. */
void *mel_outcome_room(mel_outcome_work *w, size_t n, size_t size);
/* The buffer's text, kept until the outcome is freed; "" after a failure. The buffer is empty afterwards. */
const char *mel_outcome_keep(mel_outcome_work *w, mel_buffer *text);
MEL_PRINTF(2, 3) const char *mel_outcome_format(mel_outcome_work *w, const char *fmt, ...);
/* One more statement. */
MEL_PRINTF(4, 5)
void mel_outcome_say(mel_outcome_work *w, mel_topic topic, const char *key, const char *fmt, ...);

/* A share seen in n rows, out of so many, with its usual 95% interval (Wilson 1927); NaN for a population. */
mel_estimate mel_outcome_out_of(double people, double share, uint64_t n_rows);

/* bounds.c: a bound on what one mistake counts in mistakes of the other kind, above 1 wherever it is known.
 */
typedef struct {
    bool missed, more; /* about one missed positive, else one false alarm; counts more than, else less than */
    const char *one, *many;
    mel_digits number;
} mel_bound;
/* Of a ratio between low and high; false: it has both bounds, or none. */
bool mel_outcome_bound(mel_bound *out, const mel_outcome *outcome, double low, double high);
/* "one missed cancer counts as much as 5.8 to 9.2 false alarms", "one false alarm counts more than 12 missed
 * cancers": what a ratio between low and high means. */
const char *mel_outcome_compare(mel_outcome_work *w, double low, double high);
/* "as much as 73 false alarms", "more than 200 false alarms": what so many mistakes weigh by the cost ratio
 * that was found; NULL: not known. */
const char *mel_outcome_weigh(mel_outcome_work *w, double missed, double false_alarms);
/* "7.3 (5.8 to 9.2)", "more than 200": a ratio; "9.6% (8.1% to 12%)", "less than 13%": a probability. */
enum { MEL_RANGE_TEXT = 160 };
void mel_ratio_text(char text[MEL_RANGE_TEXT], mel_estimate ratio);
void mel_chance_text(char text[MEL_RANGE_TEXT], mel_estimate chance);

/* exchange.c: cost ratios from realistic or imagined pairs. */
bool mel_outcome_is_exchange(const mel_outcome *outcome);
bool mel_outcome_is_open(const mel_outcome *outcome); /* a bound is known on one side only, or on none */
void mel_outcome_open_words(mel_outcome_work *w);     /* the metric's words then */
void mel_outcome_state_ratio_precision(mel_outcome_work *w);
void mel_outcome_state_ratio_open(mel_outcome_work *w);
void mel_outcome_state_drift(mel_outcome_work *w);
void mel_outcome_state_kinds(mel_outcome_work *w); /* people of any family who always answer alike */

const char *mel_topic_name(mel_topic topic); /* "metric", "end", ... */
/* Statistics of one group. */
size_t mel_outcome_per_group(const mel_metric *metric);
bool mel_outcome_is_search(const mel_outcome *outcome);
/* What shares of weight are taken of, with the sign that makes the usual weights positive; 0: no weight. */
double mel_outcome_weight_scale(const mel_metric *metric);
/* "0" and "1" say nothing to a reader: "class 1". */
bool mel_outcome_is_number(const char *name);
void mel_outcome_add_name(mel_buffer *out, const char *what, const char *name);
/* The word for so many as they are shown: "1" has the singular. */
const char *mel_outcome_so_many(mel_digits n, const char *one, const char *many);
/* True class and prediction of statistic i of a group; the same class twice for right answers. */
void mel_outcome_find_cell(size_t cell[2], const mel_layout *layout, size_t i);
/* Gives the classifier the metric's names of classes and groups. */
mel_status mel_outcome_name_classifier(mel_outcome_work *w, mel_classifier *classifier);
/* What number i of a point counts: "flu taken for cold", with groups also in which. */
void mel_outcome_add_coordinate(mel_buffer *out, const mel_metric *metric, size_t i, bool groups);
/* A metric in words, for the caller to free(): with the outcome's names, and no probabilities after a
 * search. */
mel_status mel_outcome_words(char **out, const mel_outcome *outcome, const mel_metric *metric,
                             mel_error *err);

/* Which way is better at a point of a face. */
mel_status mel_outcome_direction(double m[2], const mel_metric *metric, mel_point at, mel_error *err);

/* The coefficients of a metric, at most `most`, which room is for; *n_left_out are not among them.
 * coordinates: names of the statistics of one group. */
size_t mel_outcome_pick_coefficients(mel_outcome_work *w, mel_coefficient *out, size_t *n_left_out,
                                     const mel_metric *metric, const char *const *coordinates, size_t most);

#endif
