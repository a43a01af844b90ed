/* Metrics of every family in plain words: the catalogue of their sentences, and who says which. */
#include "metric/words.h"

#include "base/digits.h"
#include "base/la.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER = 48, LISTED = 6, MOST_TEXT = 1 << 18 };

/* --- the catalogue ------------------------------------------------------------------------------- */

typedef enum { COMPARES, CURVES, LISTS, OTHER, PHRASE } kind_of_sentence;

/* name, kind, the sentence, how a headline puts it (NULL: alike) */
#define SENTENCES(X)                                                                                         \
    X(nothing, OTHER, "This metric does not tell classifiers apart: every weight is zero.", NULL)            \
    X(nothing_counts, OTHER,                                                                                 \
      "This metric does not tell classifiers apart: every weight that counts is zero.", NULL)                \
    X(too_large, OTHER, "The weights of this metric are too large to be put into words.", NULL)              \
    X(exchange, COMPARES, "One {one} counts as much as {number} {many}[; {range}].", NULL)                   \
    X(exchange_even, COMPARES, "One {one} counts as much as one {many}[; {range}].", NULL)                   \
    X(worth, COMPARES,                                                                                       \
      "This metric rewards mistakes: one {one} is worth as much as {number} {many}[; {range}].", NULL)       \
    X(worth_even, COMPARES,                                                                                  \
      "This metric rewards mistakes: one {one} is worth as much as one {many}[; {range}].", NULL)            \
    X(only, OTHER, "Only {these} matter; {others} do not.", NULL)                                            \
    X(rewards_only, OTHER, "This metric rewards {these}; {others} do not matter.", NULL)                     \
    X(always, OTHER,                                                                                         \
      "This metric punishes {these} and rewards {others}: predicting the positive class always is best.",    \
      NULL)                                                                                                  \
    X(never, OTHER,                                                                                          \
      "This metric punishes {these} and rewards {others}: predicting the positive class never is best.",     \
      NULL)                                                                                                  \
    X(levels, OTHER, "How much a {one} counts depends on how good the classifier is[: {levels}].", NULL)     \
    X(level_first, PHRASE, "as much as {number} {many} where the metric is {level}", NULL)                   \
    X(level, PHRASE, "{number} where it is {level}", NULL)                                                   \
    X(mistakes, LISTS, "Weight of[ {part} of] each mistake[?rates  (as a rate within its class)]: {list}.",  \
      NULL)                                                                                                  \
    X(classes, LISTS,                                                                                        \
      "Weight of[ {part} of] getting each class right[?rates  (as a rate within its class)]: {list}.", NULL) \
    X(minus_mistakes, LISTS, "A minus sign marks mistakes that make a classifier better.", NULL)             \
    X(minus_classes, LISTS, "A minus sign marks right answers that make a classifier worse.", NULL)          \
    X(even_mistakes, OTHER, "All mistakes cost about the same.", NULL)                                       \
    X(even_classes, OTHER, "All classes count about the same.", NULL)                                        \
    X(dearest, COMPARES,                                                                                     \
      "Predicting {said} when it is {truth} costs {number} times as much as predicting {other_said} when "   \
      "it is {other_truth}[; {range}].",                                                                     \
      NULL)                                                                                                  \
    X(heaviest, COMPARES,                                                                                    \
      "Getting {truth} right counts {number} times as much as getting {other_truth} right[; {range}].",      \
      NULL)                                                                                                  \
    X(ratio_mistakes, LISTS,                                                                                 \
      "A ratio of two weighted sums. Weight of each mistake[?rates  (as a rate within its class)] above "    \
      "the line: {above}; below the line: {below}.",                                                         \
      NULL)                                                                                                  \
    X(ratio_classes, LISTS,                                                                                  \
      "A ratio of two weighted sums. Weight of getting each class right[?rates  (as a rate within its "      \
      "class)] above the line: {above}; below the line: {below}.",                                           \
      NULL)                                                                                                  \
    X(local, OTHER,                                                                                          \
      "These weights describe small changes; how good a classifier is may depend on them in a more curved "  \
      "way.",                                                                                                \
      NULL)                                                                                                  \
    X(degrees, LISTS, "The weight is {list}.", NULL)                                                         \
    X(degree, PHRASE, "{share} in {factor}", NULL)                                                           \
    X(first_nothing, OTHER, "The first little bit of anything counts nothing.", NULL)                        \
    X(curved_more, CURVES, "Most curved: {what}, which counts more the more there is of it.",                \
      "{what} counts more the more there is of it.")                                                         \
    X(curved_less, CURVES, "Most curved: {what}, which counts less the more there is of it.",                \
      "{what} counts less the more there is of it.")                                                         \
    X(pair_more, CURVES, "Strongest pair: {one} and {other}, which together count more than their sum.",     \
      "{one} and {other} together count more than their sum.")                                               \
    X(pair_less, CURVES, "Strongest pair: {one} and {other}, which together count less than their sum.",     \
      "{one} and {other} together count less than their sum.")                                               \
    X(only_mistakes, OTHER, "Only mistakes matter; differences between groups do not.", NULL)                \
    X(only_groups, OTHER, "Only differences between groups matter; mistakes do not.", NULL)                  \
    X(trade_off, LISTS,                                                                                      \
      "On a common scale mistakes count {mistakes} and differences between groups {groups}[ ({range})].",    \
      NULL)                                                                                                  \
    X(gap, OTHER,                                                                                            \
      "The difference between {one} and {other}[ weighs most in {what} ({part})][?squared ; differences "    \
      "are squared, so that small ones hardly count].",                                                      \
      NULL)                                                                                                  \
    X(gap_of_many, OTHER,                                                                                    \
      "Among the differences, the one between {one} and {other} weighs most ({share} of their weight)[, "    \
      "above all in {what} ({part})][?squared ; differences are squared, so that small ones hardly count].", \
      NULL)                                                                                                  \
    X(share, PHRASE, "{what} {share}[ ({range})]", NULL)                                                     \
    X(shares_left, PHRASE, " and {n} more with {share} together", NULL)                                      \
    X(taken_for, PHRASE, "{truth} taken for {said}[ in group {group}]", NULL)                                \
    X(recognised, PHRASE, "{truth}[ in group {group}]", NULL)                                                \
    X(between, PHRASE, "[?sure 95% ]between {low} and {high}", NULL)                                         \
    X(least, PHRASE, "[?sure 95% ]at least {low}", NULL)                                                     \
    X(most, PHRASE, "[?sure 95% ]at most {high}", NULL)

typedef struct {
    mel_template sentence; /* first: one is the other */
    kind_of_sentence kind;
    mel_template headline;
} row;
#define ROW(name, kind, english, headline) WORDS_##name,
enum { SENTENCES(ROW) };
#undef ROW
#define ROW(name, kind, english, headline) { { #name, english }, kind, { #name, headline } },
static const row rows[] = { SENTENCES(ROW) };
#undef ROW
#define OF(name) (&rows[WORDS_##name].sentence)

static const row *row_of(const mel_sentence *sentence)
{
    return (const row *)sentence->from;
}

bool mel_words_is_list(const mel_sentence *sentence)
{
    return row_of(sentence)->kind == LISTS || row_of(sentence)->kind == CURVES;
}

const mel_sentence *mel_words_main(const mel_sentences *said)
{
    for (kind_of_sentence kind = COMPARES; kind <= CURVES; kind++)
        for (size_t i = 0; i < said->n; i++)
            if (row_of(&said->sentence[i])->kind == kind)
                return &said->sentence[i];
    return said->n > 0 ? &said->sentence[0] : NULL;
}

const char *mel_words_headline(mel_sentences *said, const mel_sentence *main)
{
    mel_sentence put = *main;
    if (row_of(main)->headline.english != NULL)
        put.from = &row_of(main)->headline;
    return mel_sentence_without(said, &put, "range");
}

/* --- numbers and names ---------------------------------------------------------------------------- */

/* Two digits below 1, one decimal below 10, whole numbers above, three digits from 1,000; `extra` more
 * decimals for ends that lie close together. x is finite and not negative. */
static void ratio_text(char text[NUMBER], double x, int extra)
{
    if (x >= 1e9) {
        (void)mel_print(text, NUMBER, "%.2g", x);
        return;
    }
    int decimals = x >= 9.95 ? 0 : 1;
    if (x > 0.0 && x < 0.995)
        decimals = x < 1e-6 ? 6 : (int)ceil(-log10(x)) + 1;
    if (x >= 1000.0 && extra == 0) {
        const double step = pow(10.0, floor(log10(x)) - 2.0);
        x = round(x / step) * step;
    }
    (void)mel_print(text, NUMBER, "%.*f", decimals + extra, x);
    if (strchr(text, '.') == NULL)
        return;
    char *end = text + strlen(text);
    while (end[-1] == '0')
        *--end = '\0';
    if (end[-1] == '.')
        end[-1] = '\0';
}

/* With thousands set apart. */
static const char *grouped(mel_words *w, const char *text)
{
    if (strspn(text, "0123456789") == strlen(text))
        return mel_sentences_format(w->said, "%s", mel_digits_count(strtoull(text, NULL, 10)).text);
    return mel_sentences_format(w->said, "%s", text);
}

static const char *ratio_words(mel_words *w, double x)
{
    char text[NUMBER];
    ratio_text(text, x, 0);
    return grouped(w, text);
}

const char *mel_words_percent(mel_words *w, double share)
{
    char number[NUMBER];
    ratio_text(number, 100.0 * fabs(share), 0);
    return mel_sentences_format(w->said, "%s%s%%", share < 0.0 ? "-" : "", number);
}

const char *mel_words_range(mel_words *w, double low, double high, bool bare)
{
    const char *sure = bare || w->as.search ? NULL : "95%";
    if (isnan(low) || isnan(high) || (low <= 0.0 && isinf(high)))
        return "";
    if (isinf(high))
        return mel_phrase(w->said, OF(least), "sure", sure, "low", mel_digits_more_than(low).text, NULL);
    if (low <= 0.0)
        return mel_phrase(w->said, OF(most), "sure", sure, "high",
                          high > 0.0 ? mel_digits_less_than(high).text : "0", NULL);
    char from[NUMBER], to[NUMBER];
    for (int extra = 0; extra <= 4; extra++) {
        ratio_text(from, low, extra);
        ratio_text(to, high, extra);
        if (strcmp(from, to) != 0)
            break;
    }
    return mel_phrase(w->said, OF(between), "sure", sure, "low", grouped(w, from), "high", grouped(w, to),
                      NULL);
}

static const char *percent_range(mel_words *w, const double ends[2])
{
    return mel_phrase(w->said, OF(between), "sure", w->as.search ? NULL : "95%", "low",
                      mel_words_percent(w, ends[0]), "high", mel_words_percent(w, ends[1]), NULL);
}

/* A name without anything that could drive a terminal. */
static const char *clean(mel_words *w, const char *name)
{
    mel_buffer text;
    mel_buffer_init(&text, MOST_TEXT);
    (void)mel_text_add_clean(&text, name, SIZE_MAX);
    return mel_sentences_keep(w->said, &text);
}

static const char *mistake(const mel_words *w, bool missed, bool plural)
{
    return missed ? (plural ? w->as.missed_plural : w->as.missed)
                  : (plural ? w->as.false_alarms : w->as.false_alarm);
}

/* --- two classes ---------------------------------------------------------------------------------- */

/* "One missed cancer counts as much as 6.1 false alarms; 95% between 5.2 and 7.4.": the dearer one first. */
static void say_exchange(mel_words *w, mel_cost_ratio cost, bool hurts)
{
    char number[NUMBER];
    ratio_text(number, cost.ratio, 0);
    const bool turned = cost.ratio < 1.0 && strcmp(number, "1") != 0;
    if (turned) {
        const double low = cost.low, high = cost.high;
        cost.low = isinf(high) ? 0.0 : 1.0 / high;
        cost.high = low > 0.0 ? 1.0 / low : low <= 0.0 ? (double)INFINITY : (double)NAN;
        ratio_text(number, 1.0 / cost.ratio, 0);
    }
    const bool even = strcmp(number, "1") == 0;
    const mel_template *from =
        hurts ? (even ? OF(exchange_even) : OF(exchange)) : (even ? OF(worth_even) : OF(worth));
    (void)mel_say(w->said, from, "one", mistake(w, !turned, false), "number", grouped(w, number), "many",
                  mistake(w, turned, !even), "range", mel_words_range(w, cost.low, cost.high, false),
                  "between", mel_words_range(w, cost.low, cost.high, true), NULL);
}

/* What a missed positive and a false alarm take away. */
static void say_two_weights(mel_words *w, double m11, double m00, mel_cost_ratio cost)
{
    if (m11 == 0.0 && m00 == 0.0) {
        (void)mel_say(w->said, OF(nothing), NULL);
    } else if (m11 == 0.0 || m00 == 0.0) {
        const bool missed = m11 != 0.0;
        (void)mel_say(w->said, m11 > 0.0 || m00 > 0.0 ? OF(only) : OF(rewards_only), "these",
                      mistake(w, missed, true), "others", mistake(w, !missed, true), NULL);
    } else if ((m11 > 0.0) == (m00 > 0.0)) {
        say_exchange(w, cost, m11 > 0.0);
    } else {
        const bool missed = m11 > 0.0;
        (void)mel_say(w->said, missed ? OF(always) : OF(never), "these", mistake(w, missed, true), "others",
                      mistake(w, !missed, true), NULL);
    }
}

static void say_binary_sum(mel_words *w, const mel_metric *metric)
{
    mel_cost_ratio cost = { 1.0, (double)NAN, (double)NAN };
    mel_weights worth = { 0.0, 0.0 };
    (void)mel_metric_cost_ratio(&cost, metric, NULL); /* both fail only when both weights are zero */
    (void)mel_metric_binary_weights(&worth, metric, "the cost ratio", NULL);
    say_two_weights(w, worth.m11, worth.m00, cost);
}

/* The exchange rate where the metric has a given value: p - value * q, at the values 0.2, 0.5 and 0.8
 * of those metrics of [0, 1] that are usual. */
static const char *levels_of(mel_words *w, const double *p, const double *q)
{
    static const double levels[] = { 0.2, 0.5, 0.8 };
    mel_buffer list;
    mel_buffer_init(&list, MOST_TEXT);
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        const double u11 = p[0] - levels[i] * q[0], u00 = p[1] - levels[i] * q[1];
        const double ratio = u11 / u00;
        if (!(ratio > 1e-6) || !(ratio < 1e6))
            continue;
        const char *number = ratio_words(w, ratio);
        const char *level = mel_sentences_format(w->said, "%g", levels[i]);
        mel_buffer_puts(&list, list.size > 0 ? ", " : "");
        mel_buffer_puts(&list, mel_phrase(w->said, list.size > 0 ? OF(level) : OF(level_first), "number",
                                          number, "many", mistake(w, false, strcmp(number, "1") != 0),
                                          "level", level, NULL));
    }
    return mel_sentences_keep(w->said, &list);
}

static void say_binary_ratio(mel_words *w, const mel_metric *metric)
{
    double p0 = 0.0, q0 = 0.0;
    const double *p = mel_metric_numerator(metric, &p0), *q = mel_metric_denominator(metric, &q0);
    const double det = p[0] * q[1] - p[1] * q[0];
    if (fabs(det) <= 4.0 * DBL_EPSILON * (fabs(p[0] * q[1]) + fabs(p[1] * q[0]))) {
        /* Parallel level lines: it orders as the linear metric q0 p - p0 q does. */
        const double sign = metric->orientation == MEL_COST ? -1.0 : 1.0;
        const double m11 = sign * (q0 * p[0] - p0 * q[0]), m00 = sign * (q0 * p[1] - p0 * q[1]);
        say_two_weights(w, m11, m00,
                        (mel_cost_ratio){ m00 != 0.0 ? m11 / m00 : 1.0, (double)NAN, (double)NAN });
        return;
    }
    (void)mel_say(w->said, OF(levels), "one", mistake(w, true, false), "levels", levels_of(w, p, q), NULL);
}

/* --- weighted sums -------------------------------------------------------------------------------- */

static bool counts_mistakes(const mel_metric *metric)
{
    return metric->layout.coordinates == MEL_OFFDIAGONAL;
}

mel_words_weights mel_words_weights_of(const mel_metric *metric, size_t first, size_t n)
{
    /* Right answers help and mistakes hurt: that is the usual sign. */
    const bool usual = (metric->orientation == MEL_COST) == counts_mistakes(metric);
    return (mel_words_weights){ metric, first, n, usual ? 1.0 : -1.0 };
}

static double weight(const mel_words_weights *w, size_t i)
{
    return w->sign * w->metric->coefficient[w->first + i];
}

static bool all_zero(const mel_words_weights *w)
{
    for (size_t i = 0; i < w->n; i++)
        if (weight(w, i) != 0.0)
            return false;
    return true;
}

/* True class and prediction of a coordinate; the same class twice for right answers. */
typedef struct {
    const char *truth, *said;
} cell;

static cell cell_of(mel_words *words, const mel_metric *metric, size_t coordinate)
{
    char **const names = metric->class_names;
    const size_t k = metric->layout.n_classes;
    size_t truth = coordinate, said = coordinate;
    if (metric->layout.coordinates == MEL_BINARY)
        truth = said = coordinate == 0 ? 1 : 0;
    if (counts_mistakes(metric)) {
        truth = coordinate / (k - 1);
        said = coordinate % (k - 1);
        said += said >= truth;
    }
    return (cell){ clean(words, names[truth]), clean(words, names[said]) };
}

/* "flu taken for healthy", "flu", "flu in group men". */
static const char *coordinate_words(mel_words *words, const mel_words_weights *w, size_t index)
{
    const mel_metric *metric = w->metric;
    const cell at = cell_of(words, metric, index % metric->per_group);
    const char *group = metric->group_names != NULL && w->n > metric->per_group
                            ? clean(words, metric->group_names[index / metric->per_group])
                            : NULL;
    return mel_phrase(words->said, counts_mistakes(metric) ? OF(taken_for) : OF(recognised), "truth",
                      at.truth, "said", at.said, "group", group, NULL);
}

/* Which weight follows `previous` (SIZE_MAX: none yet) by size, largest first, then by index. */
static size_t next_largest(const mel_words_weights *w, size_t previous)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < w->n; i++) {
        if (previous != SIZE_MAX) {
            const double d = fabs(weight(w, i)) - fabs(weight(w, previous));
            if (d > 0.0 || (d == 0.0 && i <= previous))
                continue;
        }
        if (best == SIZE_MAX || fabs(weight(w, i)) > fabs(weight(w, best)))
            best = i;
    }
    return best;
}

/* "cancer 50% (95% between 45% and 55%), flu 30%, ...": shares of the weight, largest first. */
static const char *list_shares(mel_words *words, const mel_words_weights *w)
{
    const mel_metric *metric = w->metric;
    double total = 0.0, rest = 1.0;
    for (size_t i = 0; i < w->n; i++)
        total += fabs(weight(w, i));
    if (total == 0.0)
        return "nothing";
    size_t at = SIZE_MAX;
    mel_buffer list;
    mel_buffer_init(&list, MOST_TEXT);
    for (size_t listed = 0; listed < w->n && listed < LISTED; listed++) {
        double ends[2];
        at = next_largest(w, at);
        rest -= fabs(weight(w, at) / total);
        const bool known = mel_metric_share_interval(ends, metric, w->first, w->n, w->first + at, w->sign);
        mel_buffer_puts(&list, listed > 0 ? ", " : "");
        mel_buffer_puts(&list, mel_phrase(words->said, OF(share), "what", coordinate_words(words, w, at),
                                          "share", mel_words_percent(words, weight(w, at) / total), "range",
                                          known ? percent_range(words, ends) : NULL, NULL));
    }
    if (w->n > LISTED)
        mel_buffer_puts(&list,
                        mel_phrase(words->said, OF(shares_left), "n", mel_digits_count(w->n - LISTED).text,
                                   "share", mel_words_percent(words, fmax(rest, 0.0)), NULL));
    return mel_sentences_keep(words->said, &list);
}

static const char *rates_of(const mel_metric *metric)
{
    return metric->layout.kind == MEL_RATES ? "rates" : NULL;
}

void mel_words_say_weights(mel_words *words, const mel_words_weights *w, const char *part)
{
    const bool mistakes = counts_mistakes(w->metric);
    (void)mel_say(words->said, mistakes ? OF(mistakes) : OF(classes), "part", part, "rates",
                  rates_of(w->metric), "list", list_shares(words, w), NULL);
    for (size_t i = 0; i < w->n; i++)
        if (weight(w, i) < 0.0) {
            (void)mel_say(words->said, mistakes ? OF(minus_mistakes) : OF(minus_classes), NULL);
            return;
        }
}

/* "Predicting healthy when it is flu costs 3.2 times as much as ...": most against least, when both are of
 * the usual kind. */
static void say_extremes(mel_words *words, const mel_words_weights *w)
{
    const bool mistakes = counts_mistakes(w->metric);
    size_t most = 0, least = 0;
    for (size_t i = 1; i < w->n; i++) {
        if (weight(w, i) > weight(w, most))
            most = i;
        if (weight(w, i) < weight(w, least))
            least = i;
    }
    /* Groups' own statistics have no common scale; a weight of zero or of the other sign has no ratio. */
    if (w->n > w->metric->per_group || w->n < 2 || !(weight(w, least) > 0.0))
        return;
    mel_cost_ratio cost = { 1.0, (double)NAN, (double)NAN };
    if (mel_metric_weight_ratio(&cost, w->metric, w->first + most, w->first + least, NULL) != MEL_OK ||
        !isfinite(cost.ratio))
        return;
    if (words->as.extremes != NULL) {
        cost.low = words->as.extremes[0];
        cost.high = words->as.extremes[1];
    }
    const char *number = ratio_words(words, cost.ratio);
    if (strcmp(number, "1") == 0) {
        if (isnan(cost.low) || !mel_cost_ratio_is_wide(&cost)) /* else nothing is known yet */
            (void)mel_say(words->said, mistakes ? OF(even_mistakes) : OF(even_classes), NULL);
        return;
    }
    const cell heavy = cell_of(words, w->metric, most), light = cell_of(words, w->metric, least);
    (void)mel_say(words->said, mistakes ? OF(dearest) : OF(heaviest), "truth", heavy.truth, "said",
                  heavy.said, "number", number, "other_truth", light.truth, "other_said", light.said, "range",
                  mel_words_range(words, cost.low, cost.high, false), "between",
                  mel_words_range(words, cost.low, cost.high, true), NULL);
}

mel_status mel_words_ratio(mel_words *words, const mel_metric *metric, mel_error *err)
{
    (void)err;
    const mel_words_weights above = { metric, 0, metric->size, 1.0 };
    const mel_words_weights below = { metric, metric->size + 1, metric->size, 1.0 };
    if (metric->layout.coordinates == MEL_BINARY && metric->layout.kind == MEL_CONFUSION && metric->size == 2)
        say_binary_ratio(words, metric);
    else if (all_zero(&above) && all_zero(&below))
        (void)mel_say(words->said, OF(nothing), NULL);
    else
        (void)mel_say(words->said, counts_mistakes(metric) ? OF(ratio_mistakes) : OF(ratio_classes), "rates",
                      rates_of(metric), "above", list_shares(words, &above), "below",
                      list_shares(words, &below), NULL);
    return MEL_OK;
}

mel_status mel_words_linear(mel_words *words, const mel_metric *metric, mel_error *err)
{
    (void)err;
    const mel_words_weights w = mel_words_weights_of(metric, 0, metric->size);
    if (mel_metric_trades_two(metric)) {
        say_binary_sum(words, metric);
    } else if (all_zero(&w)) {
        (void)mel_say(words->said, OF(nothing), NULL);
    } else {
        mel_words_say_weights(words, &w, NULL);
        say_extremes(words, &w);
        if (metric->ops->is.local)
            (void)mel_say(words->said, OF(local), NULL);
    }
    return MEL_OK;
}

/* --- polynomials ---------------------------------------------------------------------------------- */

/* Shares of the sum of squares, which is 1 for a scaled metric. */
static void say_degrees(mel_words *words, const mel_metric *metric)
{
    static const char *const factors[MEL_MAX_DEGREE + 1] = { "",
                                                             "plain sums of statistics",
                                                             "products of two",
                                                             "products of three",
                                                             "products of four",
                                                             "products of five",
                                                             "products of six",
                                                             "products of seven",
                                                             "products of eight",
                                                             "products of nine" };
    double norm[MEL_MAX_DEGREE + 1] = { 0.0 }, largest = 0.0, total = 0.0;
    for (uint32_t d = 1; d <= metric->degree; d++) {
        norm[d] = mel_norm2(mel_tensor_size(metric->size, d), mel_metric_tensor(metric, d));
        largest = fmax(largest, norm[d]);
    }
    for (uint32_t d = 1; d <= metric->degree; d++) {
        norm[d] = isfinite(largest) ? norm[d] / largest * (norm[d] / largest) : 1.0;
        total += norm[d];
    }
    mel_buffer list;
    mel_buffer_init(&list, MOST_TEXT);
    for (uint32_t d = 1; d <= metric->degree; d++) {
        mel_buffer_puts(&list, d == 1 ? "" : d == metric->degree ? " and " : ", ");
        mel_buffer_puts(&list,
                        mel_phrase(words->said, OF(degree), "share",
                                   mel_words_percent(words, norm[d] / total), "factor", factors[d], NULL));
    }
    (void)mel_say(words->said, OF(degrees), "list", mel_sentences_keep(words->said, &list), NULL);
}

/* About the largest entry of the quadratic part on or above its diagonal. */
static void say_largest_product(mel_words *words, const mel_words_weights *w)
{
    const double *matrix = mel_metric_tensor(w->metric, 2);
    size_t first = 0, second = 0;
    double largest = 0.0;
    for (size_t i = 0; i < w->n; i++)
        for (size_t j = i; j < w->n; j++)
            if (fabs(matrix[i * w->n + j]) > largest) {
                largest = fabs(matrix[i * w->n + j]);
                first = i;
                second = j;
            }
    if (largest == 0.0)
        return;
    const bool more = (matrix[first * w->n + second] > 0.0) == (w->sign > 0.0);
    const char *one = coordinate_words(words, w, first);
    if (first == second)
        (void)mel_say(words->said, more ? OF(curved_more) : OF(curved_less), "what", one, NULL);
    else
        (void)mel_say(words->said, more ? OF(pair_more) : OF(pair_less), "one", one, "other",
                      coordinate_words(words, w, second), NULL);
}

mel_status mel_words_polynomial(mel_words *words, const mel_metric *metric, mel_error *err)
{
    (void)err;
    const mel_words_weights w = mel_words_weights_of(metric, 0, metric->size);
    const mel_words_weights all = { metric, 0, metric->n_coefficients, 1.0 };
    if (all_zero(&all)) {
        (void)mel_say(words->said, OF(nothing), NULL);
        return MEL_OK;
    }
    say_degrees(words, metric);
    if (all_zero(&w))
        (void)mel_say(words->said, OF(first_nothing), NULL);
    else
        mel_words_say_weights(words, &w, "the first little bit");
    say_largest_product(words, &w);
    return MEL_OK;
}

/* --- groups --------------------------------------------------------------------------------------- */

/* How much a pair of groups weighs; coordinate SIZE_MAX: all of it, else a statistic's part. */
static double gap_weight(const mel_metric *metric, size_t u, size_t v, size_t coordinate)
{
    const size_t q = metric->per_group;
    const double *block = mel_metric_pair(metric, u, v);
    const bool square = metric->degree == 2;
    if (coordinate == SIZE_MAX)
        return mel_norm2(square ? q * q : q, block);
    return fabs(square ? block[coordinate * q + coordinate] : block[coordinate]);
}

/* Which groups, and which of their statistics, must not differ. */
static void say_gaps(mel_words *words, const mel_metric *metric)
{
    const size_t q = metric->per_group, groups = metric->layout.n_groups;
    const mel_words_weights w = mel_words_weights_of(metric, 0, q);
    size_t one = 0, other = 1, most = 0;
    double heaviest = 0.0, all = 0.0, total = 0.0;
    for (size_t u = 0; u < groups; u++)
        for (size_t v = u + 1; v < groups; v++) {
            const double of = gap_weight(metric, u, v, SIZE_MAX);
            all += of;
            if (of > heaviest) {
                heaviest = of;
                one = u;
                other = v;
            }
        }
    for (size_t i = 0; i < q; i++) {
        const double of = gap_weight(metric, one, other, i);
        total += of;
        if (of > gap_weight(metric, one, other, most))
            most = i;
    }
    const double part = gap_weight(metric, one, other, most) / total;
    (void)mel_say(words->said, groups > 2 ? OF(gap_of_many) : OF(gap), "one",
                  clean(words, metric->group_names[one]), "other", clean(words, metric->group_names[other]),
                  "share", mel_words_percent(words, all > 0.0 ? heaviest / all : 0.0), "what",
                  total > 0.0 ? coordinate_words(words, &w, most) : NULL, "part",
                  total > 0.0 ? mel_words_percent(words, part) : NULL, "squared",
                  metric->degree == 2 ? "squared" : NULL, NULL);
}

static void say_fair(mel_words *words, const mel_metric *scaled)
{
    const double lambda = mel_metric_lambda(scaled);
    const mel_words_weights w = mel_words_weights_of(scaled, 0, scaled->per_group);
    double ends[2] = { 0.0, 0.0 };
    const bool known = mel_metric_interval(scaled, mel_metric_coefficients(scaled) - 1, &ends[0], &ends[1]);
    if (lambda == 0.0)
        (void)mel_say(words->said, OF(only_mistakes), NULL);
    else if (lambda == 1.0)
        (void)mel_say(words->said, OF(only_groups), NULL);
    else
        (void)mel_say(words->said, OF(trade_off), "mistakes", mel_words_percent(words, 1.0 - lambda),
                      "groups", mel_words_percent(words, lambda), "range",
                      known ? percent_range(words, ends) : NULL, NULL);
    if (lambda < 1.0) {
        mel_words_say_weights(words, &w, NULL);
        say_extremes(words, &w);
    }
    if (lambda > 0.0)
        say_gaps(words, scaled);
}

mel_status mel_words_fair(mel_words *words, const mel_metric *metric, mel_error *err)
{
    mel_metric *scaled = NULL;
    TRY(mel_metric_copy(&scaled, metric, err));
    /* Lambda means something only when both parts are on one scale. */
    if (mel_metric_normalise(scaled, NULL) == MEL_OK)
        say_fair(words, scaled);
    else if (!isfinite(mel_norm2(metric->n_coefficients, metric->coefficient)))
        (void)mel_say(words->said, OF(too_large), NULL);
    else
        (void)mel_say(words->said, OF(nothing_counts), NULL);
    mel_metric_free(scaled);
    return MEL_OK;
}

/* --- any metric ----------------------------------------------------------------------------------- */

static const char *usual_name(mel_sentences *said, const mel_metric *metric, bool missed, bool plural)
{
    mel_buffer text;
    mel_buffer_init(&text, MOST_TEXT);
    mel_text_add_mistake(&text, metric->class_names[1], missed, plural);
    return mel_sentences_keep(said, &text);
}

mel_status mel_metric_say(mel_sentences *said, const mel_metric *metric, const mel_wording *wording,
                          mel_error *err)
{
    mel_words words = { said, wording != NULL ? *wording : (mel_wording){ .missed = NULL } };
    if (words.as.missed == NULL) {
        words.as.missed = usual_name(said, metric, true, false);
        words.as.missed_plural = usual_name(said, metric, true, true);
        words.as.false_alarm = usual_name(said, metric, false, false);
        words.as.false_alarms = usual_name(said, metric, false, true);
    }
    TRY(metric->ops->words(&words, metric, err));
    return said->status;
}

mel_status mel_metric_words(char **out, const mel_metric *metric, mel_error *err)
{
    mel_sentences said = { .err = err };
    mel_buffer text;
    *out = NULL;
    mel_buffer_init(&text, MOST_TEXT);
    mel_status status = mel_metric_say(&said, metric, NULL, err);
    for (size_t i = 0; i < said.n && status == MEL_OK; i++) {
        mel_buffer_puts(&text, i > 0 ? " " : "");
        mel_buffer_puts(&text, said.sentence[i].text);
    }
    if (status == MEL_OK)
        status = mel_text_take(out, &text, "the words for a metric", err);
    mel_buffer_free(&text);
    mel_sentences_clear(&said);
    return status;
}
