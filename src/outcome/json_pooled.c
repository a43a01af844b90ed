/* The part of an outcome's JSON that is about several people. */
#include "outcome/sheet.h"

#include <math.h>

static mel_status add_respondent(mel_sheet *s, json_t *list, const mel_respondent_outcome *r, mel_error *err)
{
    const mel_respondent *found = r->found;
    mel_sheet one = mel_sheet_new();
    mel_sheet_put(&one, "session", mel_sheet_text(r->name));
    mel_sheet_put(&one, "words", mel_sheet_text(r->words));
    mel_sheet_put(&one, "questions", mel_sheet_count(found->summary.questions));
    mel_sheet_put(&one, "answers", mel_sheet_count(found->answers));
    mel_sheet_put(&one, "contradicted", mel_sheet_count(found->contradicted));
    mel_sheet_put(&one, "contradicted_by_own", mel_sheet_count(found->summary.disagreements));
    mel_sheet_put(&one, "agreement", mel_sheet_number(found->agreement));
    mel_sheet_put(&one, "differs", json_boolean(found->differs));
    mel_sheet_put_known(&one, "consistency", found->summary.consistency);
    if (r->consistency != NULL)
        mel_sheet_put(&one, "consistency_label", json_string(r->consistency));
    const mel_status status = mel_sheet_put_metric(&one, found->metric, err);
    mel_sheet_add(s, list, &one);
    return status;
}

/* How far the coefficients of people's own metrics lie apart, in the order of the metric file. */
static void put_spread(mel_sheet *s, const mel_outcome *o)
{
    json_t *list = json_array();
    for (size_t i = 0; i < mel_metric_coefficients(o->metric); i++) {
        const mel_spread *spread = &o->pooled->spread[i];
        mel_sheet one = mel_sheet_new();
        mel_sheet_put(&one, "range", mel_sheet_pair(spread->low, spread->high));
        mel_sheet_put(&one, "deviation", mel_sheet_number(spread->deviation));
        mel_sheet_add(s, list, &one);
    }
    mel_sheet_put(s, "spread", list);
}

/* How far people are apart, and what a session with one person more starts from. */
static mel_status put_community(mel_sheet *s, const mel_pooled *p, mel_error *err)
{
    mel_sheet one = mel_sheet_new(), prior = mel_sheet_new();
    const double degree = acos(-1.0) / 180.0;
    const mel_status status = mel_sheet_put_metric(&prior, p->likely, err);
    mel_sheet_put(&prior, "strength", mel_sheet_number(p->strength));
    mel_sheet_put(&prior, "people", mel_sheet_count(p->n));
    mel_sheet_put(&one, "people", mel_sheet_count(p->n));
    const mel_estimate apart =
        p->by_ratio ? (mel_estimate){ exp(p->apart), exp(p->apart_low), exp(p->apart_high) }
                    : (mel_estimate){ p->apart / degree, p->apart_low / degree, p->apart_high / degree };
    mel_sheet_put(&one, p->by_ratio ? "factor" : "degrees", mel_sheet_estimate(apart));
    mel_sheet_put(&one, "prior", mel_json_if(prior.whole, prior.object));
    mel_sheet_put(s, "community", mel_json_if(one.whole, one.object));
    return status;
}

/* Angles are in radians, as everywhere in JSON. */
mel_status mel_sheet_put_pooled(mel_sheet *s, const mel_outcome *o, mel_error *err)
{
    json_t *people = json_array(), *pairs = json_array();
    mel_status status = MEL_OK;
    mel_sheet_put(s, "radius", mel_sheet_number(o->summary.radius));
    mel_sheet_put(s, "differ", json_boolean(o->pooled->n_against > 0));
    mel_sheet_put(s, "against", mel_sheet_count(o->pooled->n_against));
    mel_sheet_put(s, "mean_degrees", mel_sheet_number(o->mean_degrees));
    put_spread(s, o);
    for (size_t i = 0; i < o->n_respondents && status == MEL_OK; i++)
        status = add_respondent(s, people, &o->respondents[i], err);
    for (size_t i = 0; i < o->n_respondent_pairs; i++) {
        const mel_respondent_pair *p = &o->respondent_pairs[i];
        const mel_disagreement *d = &o->pooled->disagreement[p->first * o->n_respondents + p->second];
        mel_sheet one = mel_sheet_new();
        mel_sheet_put(&one, "first", mel_sheet_text(o->respondents[p->first].name));
        mel_sheet_put(&one, "second", mel_sheet_text(o->respondents[p->second].name));
        mel_sheet_put(&one, "angle", mel_sheet_number(d->angle));
        mel_sheet_put(&one, "interval", mel_sheet_pair(d->low, d->high));
        mel_sheet_put(&one, "differ", json_boolean(p->differ));
        mel_sheet_put_known(&one, "order_differently", p->order_differently);
        mel_sheet_add(s, pairs, &one);
    }
    mel_sheet_put(s, "respondents", people);
    mel_sheet_put(s, "disagreement", pairs);
    mel_sheet_put_statements(s, o);
    return status == MEL_OK ? put_community(s, o->pooled, err) : status;
}
