/* What several respondents want together, how far they differ, and what each one wants. */
#include "outcome/outcome.h"

#include "elicit/shared.h"
#include "outcome/shared.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double half_turn = 3.14159265358979323846, turn_degrees = 180.0;
/* Metrics of people whose mean angle is below this are about the same. */
static const double alike_degrees = 5.0;

static double in_degrees(double angle)
{
    return angle * turn_degrees / half_turn;
}

/* Two linear metrics an angle x apart order the share x/pi of random pairs differently. */
static bool has_shares(const mel_metric *joint)
{
    const mel_family_facts *family = mel_family_about(mel_metric_family(joint));
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
    const bool shares = has_shares(w->pooled->joint);
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

/* What one metric for all hides. */
static void state_agreement(mel_outcome_work *w)
{
    const mel_pooled *pooled = w->pooled;
    if (pooled->n_against > 0)
        mel_outcome_say(w, MEL_ABOUT_ANSWERS, "agreement",
                        "They do not all want the same: %zu of %zu answered against this metric more often "
                        "than their own errors explain. Its intervals say how well one metric for all is "
                        "known; how far people differ is the spread of their own metrics.",
                        pooled->n_against, pooled->n);
    else
        mel_outcome_say(w, MEL_ABOUT_ANSWERS, "agreement", "%s",
                        w->out.mean_degrees < alike_degrees
                            ? "They want about the same."
                            : "Nothing in the answers speaks against one metric for all.");
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
    mel_outcome_state_errors(w);
    state_agreement(w);
}

/* Of weighted sums: around what people's metrics lie, and how far from it. */
void mel_outcome_find_community(mel_outcome_work *w, size_t n, mel_session *const *sessions)
{
    const mel_family_facts *is = mel_family_about(mel_metric_family(w->metric));
    if (w->status != MEL_OK || !is->sum || is->groups ||
        !mel_outcome_good(w, mel_community_of_sessions(&w->community, n, sessions, w->err)))
        return;
    w->out.community = w->community;
    mel_cost_ratio ratio;
    const double degrees = in_degrees(w->community->spread);
    if (mel_metric_cost_ratio(&ratio, w->community->common, NULL) == MEL_OK && isfinite(ratio.ratio))
        mel_outcome_say(w, MEL_ABOUT_ANSWERS, "community",
                        "Each one's metric is about %.2g degrees from a common one, in which a %s weighs as "
                        "much as %.2g %s.",
                        degrees, w->out.missed, ratio.ratio, w->out.false_alarms);
    else
        mel_outcome_say(w, MEL_ABOUT_ANSWERS, "community",
                        "Each one's metric is about %.2g degrees from a common one.", degrees);
}
