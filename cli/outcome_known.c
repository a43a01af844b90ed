/* What a session knows and what it does not: each weight against the largest one, from the session's draws.
 */
#include "outcome.h"
#include "output.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_NAMED = 4, MOST_RATIOS = 200 };

typedef struct {
    size_t n, reference;   /* weights; the largest one */
    mel_cost_ratio *ratio; /* n, against the reference */
} ratios;

/* Weights of the mistakes or right decisions of everybody; n = 0 where there are none or too many. */
static mel_status find_ratios(ratios *r, const cli_outcome *o, mel_error *err)
{
    mel_layout one = *mel_metric_layout(o->metric);
    one.n_groups = 0;
    const size_t n = mel_layout_size(&one);
    const double *a = mel_metric_numerator(o->metric, NULL);
    *r = (ratios){ .n = 0 };
    mel_cost_ratio probe;
    mel_error ignored = { 0 };
    if (o->session == NULL || o->options->strategy == MEL_STRATEGY_SEARCH || a == NULL || n < 2 ||
        n > MOST_RATIOS || mel_metric_weight_ratio(&probe, o->metric, 0, 1, &ignored) != MEL_OK)
        return MEL_OK;
    for (size_t i = 1; i < n; i++)
        if (fabs(a[i]) > fabs(a[r->reference]))
            r->reference = i;
    r->ratio = cli_alloc_zero(n, sizeof *r->ratio);
    mel_status status = MEL_OK;
    for (size_t i = 0; i < n && status == MEL_OK; i++)
        if (i != r->reference)
            status = mel_session_weight_ratio(&r->ratio[i], o->session, i, r->reference, err);
    r->n = n;
    return status;
}

/* Coefficients of which at least the sign is known. */
static size_t signs_known(const mel_metric *metric)
{
    size_t known = 0;
    for (size_t i = 0; i < mel_metric_coefficients(metric); i++) {
        double low = 0.0, high = 0.0;
        known += mel_metric_interval(metric, i, &low, &high) && (low > 0.0 || high < 0.0);
    }
    return known;
}

mel_status cli_ratios_json(json_t *result, const cli_outcome *o, mel_error *err)
{
    ratios r;
    const mel_status status = find_ratios(&r, o, err);
    json_t *list = json_array();
    for (size_t i = 0; status == MEL_OK && i < r.n; i++) {
        if (i == r.reference)
            continue;
        json_t *one = json_object(), *interval = json_array();
        cli_put(one, "weight", cli_json_count(i));
        cli_put(one, "of", cli_json_count(r.reference));
        cli_put(one, "ratio", cli_json_number(r.ratio[i].ratio));
        cli_push(interval, cli_json_number(r.ratio[i].low));
        cli_push(interval, cli_json_number(r.ratio[i].high));
        cli_put(one, "interval", interval);
        cli_put(one, "wide", json_boolean(mel_cost_ratio_is_wide(&r.ratio[i])));
        cli_push(list, one);
    }
    if (status == MEL_OK && r.n > 0)
        cli_put(result, "ratios", list);
    else
        json_decref(list);
    free(r.ratio);
    return status;
}

/* "bus taken for van (0.1 to 0.7 of it)", added to a list; freed by the caller. */
static char *with_ratio(char *list, const cli_outcome *o, const ratios *r, size_t i)
{
    char *name = cli_coordinate_name(mel_metric_layout(o->metric), o->space->class_name, i);
    char *longer = cli_format("%s%s%s (%.2g to %.2g)", list, list[0] == '\0' ? "" : ", ", name,
                              r->ratio[i].low, r->ratio[i].high);
    free(name);
    free(list);
    return longer;
}

static void print_part(const cli_outcome *o, const ratios *r, bool wide, const char *heading)
{
    size_t n = 0, named = 0;
    char *list = cli_format("%s", "");
    for (size_t i = 0; i < r->n; i++) {
        if (i == r->reference || mel_cost_ratio_is_wide(&r->ratio[i]) != wide)
            continue;
        n++;
        if (named < MOST_NAMED) {
            list = with_ratio(list, o, r, i);
            named++;
        }
    }
    char *reference = cli_coordinate_name(mel_metric_layout(o->metric), o->space->class_name, r->reference);
    char *more = n > named ? cli_format(" and %zu more", n - named) : cli_format("%s", "");
    char *text = n == 0 ? cli_format("%s", wide ? "nothing: every weight is known to a factor of 2"
                                                : "no weight to a factor of 2")
                        : cli_format("%zu of %zu weights as shares of the largest (%s)%s: %s%s", n, r->n - 1,
                                     reference, wide ? ", still wide" : ", to a factor of 2", list, more);
    cli_outcome_row(heading, text);
    free(text);
    free(more);
    free(reference);
    free(list);
}

/* What it would take to know everything as well as was asked for. */
static void print_further(const cli_outcome *o)
{
    const mel_summary *s = o->summary;
    if (s->further == 0 || s->end == MEL_END_NOISE || s->end == MEL_END_EXHAUSTED)
        return;
    char *text = cli_format(
        "about %u more %s: every %s to +-%.3g", s->further, s->further == 1 ? "question" : "questions",
        mel_metric_denominator(o->metric, NULL) != NULL ? "level line" : "weight", o->options->tolerance);
    cli_outcome_row("to settle", text);
    free(text);
}

/* Only where the session ended for another reason than being sure enough. */
mel_status cli_ratios_text(const cli_outcome *o, mel_error *err)
{
    const mel_end end = o->summary->end;
    if (o->options->strategy == MEL_STRATEGY_SEARCH || end == MEL_END_TOLERANCE)
        return MEL_OK;
    ratios r;
    const mel_status status = find_ratios(&r, o, err);
    if (status == MEL_OK && r.n > 0) {
        print_part(o, &r, false, "is known");
        print_part(o, &r, true, "is not");
    } else if (status == MEL_OK) {
        char *text = cli_format("the sign of %zu of %zu coefficients", signs_known(o->metric),
                                mel_metric_coefficients(o->metric));
        cli_outcome_row("is known", text);
        free(text);
    }
    if (status == MEL_OK)
        print_further(o);
    free(r.ratio);
    return status;
}
