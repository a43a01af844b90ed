/* The order of given classifiers: which one is preferred, how sure that is, what is not settled. */
#include "outcome/outcome.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_TEXT = 1 << 16, MOST_NAMED = 4 };
/* From this probability on one classifier counts as better than the next. */
static const double settled = 0.95;

/* What the draws say: how often each classifier is first, and better than the next in the order. */
static void count_draws(mel_outcome_work *w, size_t n_draws, const double *value)
{
    const size_t n = w->out.n_order;
    const double sign = mel_metric_orientation(w->metric) == MEL_COST ? -1.0 : 1.0;
    size_t whole = 0;
    for (size_t s = 0; s < n_draws; s++, value += n) {
        size_t best = 0, better = 0;
        for (size_t i = 0; i < n; i++) {
            const double here = sign * value[w->order[i].place];
            best = here > sign * value[w->order[best].place] ? i : best;
            const bool before = i + 1 < n && here > sign * value[w->order[i + 1].place];
            w->order[i].beats_next += before;
            better += before;
        }
        w->order[best].first += 1.0;
        whole += better + 1 == n;
    }
    for (size_t i = 0; i < n; i++) {
        w->order[i].first /= (double)n_draws;
        w->order[i].beats_next = i + 1 < n ? w->order[i].beats_next / (double)n_draws : NAN;
    }
    w->out.order_probability = (double)whole / (double)n_draws;
}

static mel_status weigh_draws(mel_outcome_work *w, const mel_pool *pool)
{
    size_t n_draws = 0, width = 0;
    double *draw = NULL, *value = NULL;
    mel_status status = mel_session_draws(&n_draws, &width, &draw, w->session, w->err);
    if (status == MEL_OK) {
        value = mel_alloc(n_draws, pool->n * sizeof *value);
        status = value != NULL
                     ? mel_rank_sampled_values(value, w->metric, n_draws, draw, pool->n, pool->value, w->err)
                     : mel_fail_memory(w->err, "the order of the classifiers");
    }
    if (status == MEL_OK)
        count_draws(w, n_draws, value);
    free(draw);
    free(value);
    return status;
}

static mel_status put_in_order(mel_outcome_work *w, const mel_pool *pool)
{
    double *value = mel_alloc(pool->n, sizeof *value);
    size_t *order = mel_alloc(pool->n, sizeof *order);
    mel_status status = value != NULL && order != NULL
                            ? mel_rank_values(value, w->metric, pool->n, pool->value, w->err)
                            : mel_fail_memory(w->err, "the order of the classifiers");
    if (status == MEL_OK)
        status = mel_rank_order(order, NULL, pool->n, value, mel_metric_orientation(w->metric), w->err);
    for (size_t i = 0; i < pool->n && status == MEL_OK && order != NULL && value != NULL; i++)
        w->order[i] =
            (mel_placed){ .name = pool->name[order[i]], .place = order[i], .value = value[order[i]] };
    free(value);
    free(order);
    return status;
}

void mel_outcome_find_order(mel_outcome_work *w)
{
    const mel_pool *pool = w->out.domain->pool;
    if (w->status != MEL_OK || pool == NULL)
        return;
    w->order = mel_outcome_room(w, pool->n, sizeof *w->order);
    if (w->status != MEL_OK || !mel_outcome_good(w, put_in_order(w, pool)))
        return;
    w->out.order = w->order;
    w->out.n_order = pool->n;
    (void)mel_outcome_good(w, weigh_draws(w, pool));
}

/* --- in words ------------------------------------------------------------------------------------ */

void mel_outcome_state_preferred(mel_outcome_work *w)
{
    const mel_placed *o = w->out.order;
    if (w->status != MEL_OK || w->out.n_order < 2)
        return;
    mel_buffer list;
    mel_buffer_init(&list, MOST_TEXT);
    for (size_t i = 1; i < w->out.n_order && i <= MOST_NAMED; i++)
        mel_buffer_printf(&list, "%s%s", i > 1 ? ", " : "", o[i].name);
    if (w->out.n_order > MOST_NAMED + 1)
        mel_buffer_printf(&list, " and %zu more", w->out.n_order - MOST_NAMED - 1);
    const char *others = mel_outcome_keep(w, &list);
    mel_outcome_say(w, MEL_ABOUT_METRIC, "preferred",
                    "Of these %zu classifiers, %s is preferred (%s%% sure); after it come %s.",
                    w->out.n_order, o[0].name, mel_digits_percent(o[0].first).text, others);
}

/* Neighbours in the order of which it is open which one is better. */
void mel_outcome_state_order(mel_outcome_work *w)
{
    const mel_placed *o = w->out.order;
    size_t open = 0;
    if (w->status != MEL_OK || w->out.n_order < 2)
        return;
    mel_buffer list;
    mel_buffer_init(&list, MOST_TEXT);
    mel_buffer_puts(&list, "");
    for (size_t i = 0; i + 1 < w->out.n_order; i++)
        if (o[i].beats_next < settled && ++open <= MOST_NAMED)
            mel_buffer_printf(&list, "%s%s before %s (%s%%)", open > 1 ? ", " : "", o[i].name, o[i + 1].name,
                              mel_digits_percent(o[i].beats_next).text);
    if (open > MOST_NAMED)
        mel_buffer_printf(&list, " and %zu more", open - MOST_NAMED);
    const char *pairs = mel_outcome_keep(w, &list);
    if (open == 0)
        mel_outcome_say(w, MEL_ABOUT_KNOWN, "order", "The order of the classifiers is settled.");
    else
        mel_outcome_say(w, MEL_ABOUT_OPEN, "order", "In the order of the classifiers it is open whether %s.",
                        pairs);
    if (w->out.summary.end == MEL_END_EXHAUSTED)
        mel_outcome_say(w, MEL_ABOUT_OPEN, "pool",
                        "Questions about these classifiers cannot narrow the intervals further; that would "
                        "take other classifiers.");
}
