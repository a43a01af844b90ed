/* What several respondents want together, how far they differ, and what each one wants. */
#include "outcome/outcome.h"

#include "elicit/shared.h"
#include "outcome/shared.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double half_turn = 3.14159265358979323846, turn_degrees = 180.0;

static double in_degrees(double angle)
{
    return angle * turn_degrees / half_turn;
}

/* Two linear metrics an angle x apart order the share x/pi of random pairs differently. */
static bool has_shares(const mel_metric *metric)
{
    const mel_family_facts *family = mel_family_about(mel_metric_family(metric));
    return family->sum && !family->local;
}

static void find_respondents(mel_outcome_work *w)
{
    const size_t n = w->pooled->n;
    w->respondent = mel_outcome_room(w, n, sizeof *w->respondent);
    for (size_t i = 0; i < n && w->status == MEL_OK; i++) {
        const mel_respondent *r = &w->pooled->respondent[i];
        const char *given = w->about.respondents != NULL ? w->about.respondents[i] : NULL;
        char *words = NULL;
        if (mel_outcome_good(w, mel_outcome_words(&words, &w->out, r->metric, w->err)))
            w->respondent[i] = (mel_respondent_outcome){
                .name = given != NULL ? given : mel_outcome_format(w, "respondent %zu", i + 1),
                .words = mel_outcome_format(w, "%s", words),
                .consistency = mel_consistency_label(&r->summary),
                .found = r,
            };
        free(words);
    }
    w->out.respondents = w->respondent;
    w->out.n_respondents = n;
}

static void find_pairs(mel_outcome_work *w)
{
    const size_t n = w->pooled->n;
    const bool shares = has_shares(w->pooled->common);
    double sum = 0.0;
    size_t at = 0;
    w->pair = mel_outcome_room(w, n * (n - 1) / 2, sizeof *w->pair);
    for (size_t i = 0; i < n && w->status == MEL_OK; i++)
        for (size_t j = i + 1; j < n; j++, at++) {
            const mel_disagreement *d = &w->pooled->disagreement[i * n + j];
            w->pair[at] = (mel_respondent_pair){
                .first = i,
                .second = j,
                .degrees = { in_degrees(d->angle), in_degrees(d->low), in_degrees(d->high) },
                .differ = d->low > 0.0,
                .order_differently = shares ? d->angle / half_turn : NAN,
            };
            sum += w->pair[at].degrees.value;
        }
    w->out.respondent_pairs = w->pair;
    w->out.n_respondent_pairs = at;
    w->out.mean_degrees = at > 0 ? sum / (double)at : NAN;
}

/* Which quantity the headline is, and how far one person may be from it. */
static void state_population(mel_outcome_work *w)
{
    const mel_pooled *p = w->pooled;
    if (p->by_ratio)
        mel_outcome_say(
            w, MEL_ABOUT_ANSWERS, "population",
            "That is the middle of the people whom these %zu stand for: half of them are expected "
            "to have a larger ratio, half a smaller one. Two in three are within a factor of %s "
            "of it (95%% between %s and %s).",
            p->n, mel_digits_significant(exp(p->apart), 2).text,
            mel_digits_significant(exp(p->apart_low), 2).text,
            mel_digits_significant(exp(p->apart_high), 2).text);
    else
        mel_outcome_say(w, MEL_ABOUT_ANSWERS, "population",
                        "That is the mean of the people whom these %zu stand for. What one of them wants is "
                        "typically %s degrees from it (95%% between %s and %s).",
                        p->n, mel_digits_significant(in_degrees(p->apart), 2).text,
                        mel_digits_significant(in_degrees(p->apart_low), 2).text,
                        mel_digits_significant(in_degrees(p->apart_high), 2).text);
}

static void state_agreement(mel_outcome_work *w)
{
    const mel_pooled *pooled = w->pooled;
    if (pooled->n_against > 0)
        mel_outcome_say(
            w, MEL_ABOUT_ANSWERS, "agreement",
            "They do not all want the same: %zu of %zu gave answers that speak against this metric "
            "more than their errors explain. Its intervals say how well the mean is known, not how "
            "far people differ.",
            pooled->n_against, pooled->n);
    else
        mel_outcome_say(w, MEL_ABOUT_ANSWERS, "agreement",
                        "Nobody's answers show that they want something else.");
}

void mel_outcome_find_pooled(mel_outcome_work *w)
{
    if (w->status != MEL_OK)
        return;
    w->out.pooled = w->pooled;
    find_respondents(w);
    if (w->status == MEL_OK)
        find_pairs(w);
    if (w->status != MEL_OK)
        return;
    state_population(w);
    state_agreement(w);
}
