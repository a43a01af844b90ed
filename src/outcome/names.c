/* What things are called: the two mistakes, the statistics, and the metric in words with these names. */
#include "metric/shared.h"
#include "metric/text.h"
#include "outcome/outcome.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TEXT = 1 << 16 };

/* --- mistakes ----------------------------------------------------------------------------------- */

/* Given names win. */
static const char *name_mistake(mel_outcome_work *w, const char *one, const char *many, bool missed,
                                bool plural)
{
    mel_buffer text;
    mel_buffer_init(&text, MOST_TEXT);
    if (one == NULL)
        mel_text_add_mistake(&text, mel_metric_class_name(w->metric, 1), missed, plural);
    else if (plural && many == NULL)
        mel_text_add_plural(&text, one);
    else
        mel_buffer_puts(&text, plural ? many : one);
    return mel_outcome_keep(w, &text);
}

static void name_mistakes(mel_outcome_work *w)
{
    const mel_outcome_options *o = &w->about;
    w->out.missed = name_mistake(w, o->missed, o->missed_plural, true, false);
    w->out.missed_plural = name_mistake(w, o->missed, o->missed_plural, true, true);
    w->out.false_alarm = name_mistake(w, o->false_alarm, o->false_alarms, false, false);
    w->out.false_alarms = name_mistake(w, o->false_alarm, o->false_alarms, false, true);
    w->out.people = mel_outcome_format(w, "%s", o->people != NULL ? o->people : "people");
}

/* --- statistics --------------------------------------------------------------------------------- */

bool mel_outcome_is_number(const char *name)
{
    return strspn(name, "0123456789.-") == strlen(name);
}

void mel_outcome_add_name(mel_buffer *out, const char *what, const char *name)
{
    if (mel_outcome_is_number(name))
        mel_buffer_printf(out, "%s ", what);
    mel_buffer_puts(out, name);
}

size_t mel_outcome_per_group(const mel_metric *metric)
{
    mel_layout one = *mel_metric_layout(metric);
    one.n_groups = 0;
    return mel_layout_size(&one);
}

void mel_outcome_find_cell(size_t cell[2], const mel_layout *layout, size_t i)
{
    const size_t row = i / (layout->n_classes - 1), column = i % (layout->n_classes - 1);
    const bool mistake = layout->coordinates == MEL_OFFDIAGONAL;
    cell[0] = mistake ? row : layout->coordinates == MEL_BINARY ? 1 - i : i;
    cell[1] = mistake ? column + (column >= row) : cell[0];
}

static void add_statistic(mel_buffer *out, const mel_metric *metric, size_t i, const char *for_mistakes,
                          const char *for_right_ones)
{
    size_t cell[2];
    mel_outcome_find_cell(cell, mel_metric_layout(metric), i);
    mel_outcome_add_name(out, "class", mel_metric_class_name(metric, cell[0]));
    if (cell[0] == cell[1]) {
        mel_buffer_puts(out, for_right_ones);
        return;
    }
    mel_buffer_puts(out, for_mistakes);
    mel_outcome_add_name(out, "class", mel_metric_class_name(metric, cell[1]));
}

void mel_outcome_add_coordinate(mel_buffer *out, const mel_metric *metric, size_t i, bool groups)
{
    const size_t n = mel_outcome_per_group(metric);
    add_statistic(out, metric, i % n, " taken for ", " recognised");
    if (mel_metric_layout(metric)->coordinates == MEL_BINARY)
        mel_buffer_puts(out, i % n == 0 ? " (TP)" : " (TN)");
    if (!groups)
        return;
    mel_buffer_puts(out, " (");
    mel_outcome_add_name(out, "group", mel_metric_group_name(metric, i / n));
    mel_buffer_puts(out, ")");
}

/* Of two classes the mistakes may have names of their own. */
static const char *name_statistic(mel_outcome_work *w, size_t i)
{
    const mel_layout *layout = mel_metric_layout(w->metric);
    mel_buffer text;
    if (layout->coordinates == MEL_OFFDIAGONAL && layout->n_classes == 2 &&
        (i == 1 ? w->about.missed : w->about.false_alarm) != NULL)
        return i == 1 ? w->out.missed : w->out.false_alarm;
    mel_buffer_init(&text, MOST_TEXT);
    mel_outcome_add_coordinate(&text, w->metric, i, false);
    return mel_outcome_keep(w, &text);
}

static const char *label_statistic(mel_outcome_work *w, size_t i)
{
    mel_buffer text;
    mel_buffer_init(&text, MOST_TEXT);
    add_statistic(&text, w->metric, i, " \xE2\x86\x92 ", "");
    return mel_outcome_keep(w, &text);
}

void mel_outcome_name(mel_outcome_work *w)
{
    const size_t n = mel_outcome_per_group(w->metric);
    w->weight = mel_outcome_room(w, n, sizeof *w->weight);
    w->coordinate = mel_outcome_room(w, n, sizeof *w->coordinate);
    name_mistakes(w);
    for (size_t i = 0; i < n && w->status == MEL_OK; i++) {
        w->coordinate[i] = w->weight[i].name = name_statistic(w, i);
        w->weight[i].label = label_statistic(w, i);
    }
}

/* --- the metric in words ------------------------------------------------------------------------ */

/* Every occurrence of `from` in *text, which is free()d, replaced by `to`. */
static mel_status replace(char **text, const char *from, const char *to, mel_error *err)
{
    mel_buffer out;
    const char *at = *text;
    if (strcmp(from, to) == 0)
        return MEL_OK;
    mel_buffer_init(&out, MOST_TEXT);
    for (const char *hit; (hit = strstr(at, from)) != NULL; at = hit + strlen(from)) {
        mel_buffer_add(&out, at, (size_t)(hit - at));
        mel_buffer_puts(&out, to);
    }
    mel_buffer_puts(&out, at);
    free(*text);
    return mel_text_take(text, &out, "the metric in words", err);
}

/* Puts the outcome's names of the mistakes in place of the usual ones: by marks, as a new name may hold a
 * usual one ("missed positive cases"). */
static mel_status rename_mistakes(char **text, const mel_outcome *outcome, const char *positive,
                                  mel_error *err)
{
    static const char *const mark[] = { "\1", "\2", "\3", "\4" };
    const char *const names[] = { outcome->missed_plural, outcome->missed, outcome->false_alarms,
                                  outcome->false_alarm }; /* plurals first: they contain the singular */
    mel_status status = MEL_OK;
    for (size_t i = 0; i < 4 && status == MEL_OK; i++) {
        mel_buffer usual;
        char *from = NULL;
        mel_buffer_init(&usual, MOST_TEXT);
        mel_text_add_mistake(&usual, positive, i < 2, i % 2 == 0);
        status = mel_text_take(&from, &usual, "the name of a mistake", err);
        if (status == MEL_OK)
            status = replace(text, from, mark[i], err);
        free(from);
    }
    for (size_t i = 0; i < 4 && status == MEL_OK; i++)
        status = replace(text, mark[i], names[i], err);
    return status;
}

mel_status mel_outcome_words(char **out, const mel_outcome *outcome, const mel_metric *metric, mel_error *err)
{
    mel_status status = mel_metric_words(out, metric, err);
    if (status == MEL_OK &&
        (mel_metric_layout(metric)->coordinates == MEL_BINARY || mel_metric_trades_two(metric)))
        status = rename_mistakes(out, outcome, mel_metric_class_name(metric, 1), err);
    if (status != MEL_OK || !mel_outcome_is_search(outcome))
        return status;
    status = replace(out, "; 95% ", "; ", err); /* it knows where it ended, but no probabilities */
    return status == MEL_OK ? replace(out, " (95% ", " (", err) : status;
}

void mel_outcome_put_in_words(mel_outcome_work *w, const mel_metric *metric)
{
    static const char beyond[] = " That is where the range of the search ends, not where the answers do.";
    char *words = NULL;
    if (w->status != MEL_OK)
        return;
    if (mel_outcome_good(w, mel_outcome_words(&words, &w->out, metric, w->err)))
        w->out.words =
            mel_outcome_format(w, "%s%s", words, w->out.summary.end == MEL_END_RANGE ? beyond : "");
    free(words);
}

static mel_status interval_text(char **out, double low, double high, mel_error *err)
{
    mel_buffer text;
    mel_buffer_init(&text, MOST_TEXT);
    mel_words_add_interval(&text, low, high);
    mel_buffer_puts(&text, ".");
    return mel_text_take(out, &text, "an interval", err);
}

/* The words compare the largest weight with the smallest, by the intervals of each alone, as a metric file
 * has them; the session knows how the two move together. Of two weights mel_outcome_sharpen_two says it. */
void mel_outcome_sharpen_words(mel_outcome_work *w)
{
    const mel_weight_ratio *least = NULL;
    for (size_t i = 0; w->status == MEL_OK && w->out.n_ratios > 1 && i < w->out.n_ratios; i++)
        if (least == NULL || w->ratio[i].ratio.ratio < least->ratio.ratio)
            least = &w->ratio[i];
    mel_cost_ratio alone;
    if (least == NULL || !(least->ratio.low > 0.0) || !isfinite(least->ratio.high) ||
        mel_metric_weight_ratio(&alone, w->metric, least->of, least->weight, NULL) != MEL_OK)
        return;
    char *words = NULL, *from = NULL, *to = NULL;
    mel_buffer copy;
    mel_buffer_init(&copy, MOST_TEXT);
    mel_buffer_puts(&copy, w->out.words);
    if (mel_outcome_good(w, mel_text_take(&words, &copy, "the metric in words", w->err)) &&
        mel_outcome_good(w, interval_text(&from, alone.low, alone.high, w->err)) &&
        mel_outcome_good(w, interval_text(&to, 1.0 / least->ratio.high, 1.0 / least->ratio.low, w->err)) &&
        from[1] != '\0' && mel_outcome_good(w, replace(&words, from, to, w->err)))
        w->out.words = mel_outcome_format(w, "%s", words);
    free(words);
    free(from);
    free(to);
}
