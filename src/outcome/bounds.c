/* How two mistakes compare where a ratio of their costs has one bound, two or none: in words, never as less
 * than one of a kind, and rounded to the side on which it holds. */
#include "outcome/outcome.h"

#include <math.h>
#include <stdio.h>

/* Ratios above are as good as unbounded to a reader. */
static const double most_shown = 1e6;

static bool has_low(double low)
{
    return low > 0.0;
}

static bool has_high(double high)
{
    return high < most_shown;
}

bool mel_outcome_bound(mel_bound *out, const mel_outcome *o, double low, double high)
{
    if (isnan(low) || isnan(high) || has_low(low) == has_high(high))
        return false;
    const double bound = has_low(low) ? low : high;
    out->missed = bound >= 1.0; /* else the other way round, where the bound is above 1 */
    out->more = has_low(low) == out->missed;
    const double number = out->missed ? bound : 1.0 / bound;
    out->number = out->more ? mel_digits_more_than(number) : mel_digits_less_than(number);
    out->one = out->missed ? o->missed : o->false_alarm;
    out->many = out->missed ? mel_outcome_so_many(out->number, o->false_alarm, o->false_alarms)
                            : mel_outcome_so_many(out->number, o->missed, o->missed_plural);
    return true;
}

const char *mel_outcome_compare(mel_outcome_work *w, double low, double high)
{
    const mel_outcome *o = &w->out;
    mel_bound bound;
    if (mel_outcome_bound(&bound, o, low, high))
        return mel_outcome_format(w, "one %s counts %s than %s %s", bound.one, bound.more ? "more" : "less",
                                  bound.number.text, bound.many);
    if (!has_low(low) || !has_high(high))
        return mel_outcome_format(w, "whatever the two mistakes count");
    const bool turned = low < 1.0 && high <= 1.0;
    const mel_ends ends = turned ? mel_digits_ends(1.0 / high, 1.0 / low) : mel_digits_ends(low, high);
    return mel_outcome_format(w, "one %s counts as much as %s to %s %s", turned ? o->false_alarm : o->missed,
                              ends.low.text, ends.high.text, turned ? o->missed_plural : o->false_alarms);
}

const char *mel_outcome_weigh(mel_outcome_work *w, double missed, double false_alarms)
{
    const mel_outcome *o = &w->out;
    const double each = o->cost.value, low = o->cost.low, high = o->cost.high;
    mel_digits number = mel_digits_significant(missed * each + false_alarms, 2);
    const char *how = "as much as";
    if (!isfinite(each))
        return NULL;
    if (missed > 0.0 && !isnan(low) && !has_low(low) && !has_high(high))
        return NULL;
    if (missed > 0.0 && has_low(low) && !has_high(high)) {
        number = mel_digits_more_than(missed * low + false_alarms);
        how = "more than";
    } else if (missed > 0.0 && !isnan(low) && !has_low(low)) {
        number = mel_digits_less_than(missed * high + false_alarms);
        how = "less than";
    }
    return missed == 0.0 && false_alarms == 0.0
               ? "nothing"
               : mel_outcome_format(w, "%s %s %s", how, number.text,
                                    mel_outcome_so_many(number, o->false_alarm, o->false_alarms));
}

static void range_text(char text[MEL_RANGE_TEXT], mel_estimate e, double most, const char *unit)
{
    const bool low = e.low > 0.0, high = e.high < most;
    const mel_ends ends = mel_digits_ends(e.low, e.high);
    if (isnan(e.low) || isnan(e.high))
        (void)snprintf(text, MEL_RANGE_TEXT, "%s%s", mel_digits_significant(e.value, 2).text, unit);
    else if (low && high)
        (void)snprintf(text, MEL_RANGE_TEXT, "%s%s (%s%s to %s%s)", mel_digits_significant(e.value, 2).text,
                       unit, ends.low.text, unit, ends.high.text, unit);
    else if (low)
        (void)snprintf(text, MEL_RANGE_TEXT, "more than %s%s", mel_digits_more_than(e.low).text, unit);
    else if (high)
        (void)snprintf(text, MEL_RANGE_TEXT, "less than %s%s", mel_digits_less_than(e.high).text, unit);
    else
        (void)snprintf(text, MEL_RANGE_TEXT, "not known");
}

void mel_ratio_text(char text[MEL_RANGE_TEXT], mel_estimate ratio)
{
    range_text(text, ratio, most_shown, "");
}

void mel_chance_text(char text[MEL_RANGE_TEXT], mel_estimate chance)
{
    const mel_estimate percent = { 100.0 * chance.value, 100.0 * chance.low, 100.0 * chance.high };
    range_text(text, percent, 100.0, "%");
}
