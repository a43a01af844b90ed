/* A metric in plain words: phrases that several families share, and a speaker for each. */
#ifndef MEL_METRIC_WORDS_H
#define MEL_METRIC_WORDS_H

#include "metric/families/families.h"
#include "metric/text.h"

enum { MEL_WORDS_NUMBER = 48, MEL_WORDS_BYTES = 1 << 16 };
/* Two digits below 1, one decimal below 10, whole numbers above, three digits from 100; `extra` more
 * decimals for ends that lie close together. x is finite and not negative. */
void mel_words_ratio_text(char text[MEL_WORDS_NUMBER], double x, int extra);
/* Such a text with thousands set apart. */
void mel_words_add_ratio(mel_buffer *out, const char *text);
void mel_words_add_percent(mel_buffer *out, double share);
/* What is said of a metric whose weights are all zero. */
void mel_words_add_nothing(mel_buffer *out);
/* A name without anything that could drive a terminal. */
void mel_words_add_name(mel_buffer *out, const char *name);

/* Weights of a metric: coefficients first .. first + n, one per statistic, or per statistic of one group. */
typedef struct {
    const mel_metric *metric;
    size_t first, n;
    double sign; /* 1 or -1, so that weights of the usual kind are positive */
} mel_words_weights;
mel_words_weights mel_words_weights_of(const mel_metric *metric, size_t first, size_t n);
bool mel_words_all_zero(const mel_words_weights *w);
/* "flu taken for healthy", "flu", "flu in group men". */
void mel_words_add_coordinate(mel_buffer *out, const mel_words_weights *w, size_t index);
/* "cancer 50% (95% between 45% and 55%), flu 30%, ...": shares of the weight, largest first. */
void mel_words_add_list(mel_buffer *out, const mel_words_weights *w);
/* "Weight of each mistake (as a rate within its class): ... . A minus sign marks ..." */
void mel_words_add_weights(mel_buffer *out, const mel_words_weights *w, const char *heading);
/* " Predicting healthy when it is flu costs 3.2 times as much as ...": most against least, when both are
 * of the usual kind. */
void mel_words_add_extremes(mel_buffer *out, const mel_words_weights *w);

/* Of (TP, TN) as shares. */
void mel_words_binary_linear(mel_buffer *out, const mel_metric *metric);
void mel_words_binary_fractional(mel_buffer *out, const mel_metric *metric);
/* Speakers, for mel_family_ops.words. */
mel_status mel_words_linear(mel_buffer *out, const mel_metric *metric, mel_error *err);
mel_status mel_words_ratio(mel_buffer *out, const mel_metric *metric, mel_error *err);
mel_status mel_words_polynomial(mel_buffer *out, const mel_metric *metric, mel_error *err);
mel_status mel_words_fair(mel_buffer *out, const mel_metric *metric, mel_error *err);

#endif
