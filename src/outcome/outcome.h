/* What the files of this room share: an outcome while it is made, with everything that it lends. */
#ifndef MEL_OUTCOME_OUTCOME_H
#define MEL_OUTCOME_OUTCOME_H

#include "base/digits.h"
#include "melicit/outcome.h"
#include "metric/words.h"
#include "outcome/catalogue.h"

typedef struct {
    mel_outcome out;      /* first: one is the other */
    mel_session *session; /* NULL: a metric alone */
    mel_outcome_options about;
    mel_sentences
        said; /* all that is said, all that is kept, and the first failure: later steps do nothing */
    mel_sentences words;          /* the metric alone */
    mel_metric *metric, *sharper; /* sharper: with what the session knows of two weights together; or NULL */
    size_t n_draws, draw_width;   /* of mel_outcome_draws */
    double *draw;
    mel_classifier *best;
    mel_pooled *pooled;
    mel_statement *statement;
    mel_weight_ratio *ratio;
    mel_equivalent *equivalent;
    mel_estimate *cost;
    mel_setting *setting;
    mel_placed *order;
    const char **coordinate; /* names of the statistics of everybody */
} mel_outcome_work;

/* Facts, in this order: numbers and names. */
void mel_outcome_name(mel_outcome_work *w); /* mistakes, statistics */
void mel_outcome_find_coefficients(mel_outcome_work *w);
void mel_outcome_find_weights(mel_outcome_work *w); /* shares, lambda, cost, threshold; ratios of a session */
void mel_outcome_find_decisions(mel_outcome_work *w);  /* best rules, closest metrics */
void mel_outcome_find_treatments(mel_outcome_work *w); /* what is done with each class in each group */
void mel_outcome_find_settings(mel_outcome_work *w);   /* two classes: what the test can be set to */
void mel_outcome_find_order(mel_outcome_work *w);      /* of given classifiers */
void mel_outcome_find_refused(mel_outcome_work *w);    /* of "neither will do" */
void mel_outcome_find_agreed(mel_outcome_work *w);     /* with further answers */
/* Words, made of these at the end. */
void mel_outcome_word_metric(mel_outcome_work *w);
void mel_outcome_word_rules(mel_outcome_work *w); /* decisions, settings, close calls, closest metrics */
void mel_outcome_word_pooled(mel_outcome_work *w);
void mel_outcome_judge(mel_outcome_work *w); /* the headline, and the words where they say too much */
/* Thresholds, class weights, cost matrices, where the headline says something. */
void mel_outcome_find_equivalents(mel_outcome_work *w);
void mel_outcome_state(mel_outcome_work *w); /* every statement */
void mel_outcome_state_answers(mel_outcome_work *w);

/* How the questions were answered. */
typedef struct {
    size_t a, b, same, said; /* said: all but "can't say" */
    size_t more, fewer;      /* two classes: that preferred more true positives, or fewer */
} mel_answer_counts;
mel_answer_counts mel_outcome_count_answers(const mel_session *session);
/* All on one side, from this many on, look like no answers. */
enum { MEL_FEW_ANSWERS = 5 };

/* The session's equally likely metrics, n_draws x draw_width numbers, drawn once for all steps. */
mel_status mel_outcome_draws(mel_outcome_work *w);
/* Notes a failure; true while there was none. */
static inline bool mel_outcome_good(mel_outcome_work *w, mel_status status)
{
    return mel_sentences_good(&w->said, status);
}
static inline bool mel_outcome_ok(const mel_outcome_work *w)
{
    return w->said.status == MEL_OK;
}
/* Zeroed, and kept until the outcome is freed; NULL with the failure noted. */
static inline void *mel_outcome_room(mel_outcome_work *w, size_t n, size_t size)
{
    return mel_sentences_room(&w->said, n, size);
}

/* sentences.c: rows of the catalogue. Fields as for mel_say. */
typedef enum {
#define MEL_ROW(name, topic, finding, grave, english) MEL_SAY_##name,
    MEL_OUTCOME_CATALOGUE(MEL_ROW)
#undef MEL_ROW
} mel_saying;
MEL_SLOTS void mel_outcome_say(mel_outcome_work *w, mel_saying saying, ...);
const mel_template *mel_outcome_template(mel_saying saying);
#define MEL_PUT(w, name, ...) mel_phrase(&(w)->said, mel_outcome_template(MEL_SAY_##name), __VA_ARGS__)

/* A share seen in n rows, out of so many, with its usual 95% interval (Wilson 1927); NaN for a population. */
mel_estimate mel_outcome_out_of(double people, double share, uint64_t n_rows);

/* A bound on what one mistake counts in mistakes of the other kind, above 1 wherever it is known. */
typedef struct {
    bool missed, more; /* about one missed positive, else one false alarm; counts more than, else less than */
    const char *one, *many;
    mel_digits number;
} mel_bound;
/* The only bound of a ratio between low and high; false: it has both bounds, or none. */
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

/* The ratio was asked for in realistic or imagined pairs; .. */
bool mel_outcome_is_exchange(const mel_outcome *outcome);
bool mel_outcome_is_open(const mel_outcome *outcome); /* .. and a bound is known on one side only, or none */

const char *mel_topic_name(mel_topic topic); /* "metric", "end", ... */
/* Statistics of one group. */
size_t mel_outcome_per_group(const mel_metric *metric);
bool mel_outcome_is_search(const mel_outcome *outcome);
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
/* Which way is better at a point of a face. */
mel_status mel_outcome_direction(double m[2], const mel_metric *metric, mel_point at, mel_error *err);
/* The coefficients of a metric, at most `most`, which room is for; *n_left_out are not among them.
 * coordinates: names of the statistics of one group. */
size_t mel_outcome_pick_coefficients(mel_outcome_work *w, mel_coefficient *out, size_t *n_left_out,
                                     const mel_metric *metric, const char *const *coordinates, size_t most);

#endif
