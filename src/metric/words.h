/* A metric in plain words: a catalogue of sentences, phrases that several families share, and a speaker for
 * each. */
#ifndef MEL_METRIC_WORDS_H
#define MEL_METRIC_WORDS_H

#include "base/sentences.h"
#include "metric/families/families.h"
#include "metric/text.h"

/* How a metric is put into words; all borrowed. */
typedef struct {
    const char *missed, *missed_plural;     /* what the two mistakes of two classes are called; .. */
    const char *false_alarm, *false_alarms; /* .. NULL: by the name of the positive class */
    bool search;            /* intervals are where a search ended: nothing is said of their probability */
    const double *extremes; /* ends of the ratio of the largest weight to the smallest, where more is known
                               than the intervals of each weight tell; NULL: not */
} mel_wording;

struct mel_words {
    mel_sentences *said;
    mel_wording as;
};

/* The metric as sentences; names not given are made up and kept in the list. */
mel_status mel_metric_say(mel_sentences *said, const mel_metric *metric, const mel_wording *wording,
                          mel_error *err);
/* The sentence that says most: one that compares two mistakes, else one about curvature, else the first. */
const mel_sentence *mel_words_main(const mel_sentences *said);
/* That sentence as a headline, without its interval. */
const char *mel_words_headline(mel_sentences *said, const mel_sentence *main);
/* Whether it says what pictures and tables of weights show. */
bool mel_words_is_list(const mel_sentence *sentence);

/* "95% between 5.2 and 7.4", or what is known of it; "" where nothing is. bare: without the probability. */
const char *mel_words_range(mel_words *w, double low, double high, bool bare);
const char *mel_words_percent(mel_words *w, double share);

/* Weights of a metric: coefficients first .. first + n, one per statistic, or per statistic of one group. */
typedef struct {
    const mel_metric *metric;
    size_t first, n;
    double sign; /* 1 or -1, so that weights of the usual kind are positive */
} mel_words_weights;
mel_words_weights mel_words_weights_of(const mel_metric *metric, size_t first, size_t n);
/* "Weight of each mistake (as a rate within its class): ... . A minus sign marks ..."; part: "the square" of
 * each of them, NULL: of all. */
void mel_words_say_weights(mel_words *words, const mel_words_weights *w, const char *part);

/* Speakers, for mel_family_ops.words. */
mel_status mel_words_linear(mel_words *words, const mel_metric *metric, mel_error *err);
mel_status mel_words_ratio(mel_words *words, const mel_metric *metric, mel_error *err);
mel_status mel_words_polynomial(mel_words *words, const mel_metric *metric, mel_error *err);
mel_status mel_words_fair(mel_words *words, const mel_metric *metric, mel_error *err);

#endif
