/* The order of given classifiers: which one is preferred by the numbers shown, how sure that is, what is not
 * settled, and what is said about answers that point elsewhere. */
#include "outcome/outcome.h"

#include "elicit/shared.h"
#include "metric/shared.h"
#include "rank/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TEXT = 1 << 16, MOST_NAMED = 4, MOST_MET = 64 };
/* From this probability on that the next one is not better, the order of the two counts as settled. */
static const double settled = 0.95;

/* What the draws say about the order that the metric gives. */
static mel_status weigh(mel_outcome_work *w, size_t n_draws, const double *draw, double *value,
                        mel_placed_surely *sure, const size_t *order)
{
    const mel_pool *pool = w->out.domain->pool;
    mel_status status =
        mel_rank_sampled_values(value, w->metric, n_draws, draw, pool->n, pool->value, w->err);
    const mel_rank_samples samples = { n_draws, pool->n, value, NULL, mel_metric_orientation(w->metric) };
    if (status == MEL_OK)
        status = mel_rank_weigh(sure, &w->out.order_probability, &samples, order, w->err);
    for (size_t i = 0; i < pool->n && status == MEL_OK; i++) {
        w->order[i].first = sure[i].first;
        w->order[i].beats_next = sure[i].beats_next;
        w->order[i].stands_next = sure[i].stands_next;
    }
    return status;
}

static mel_status weigh_draws(mel_outcome_work *w, const size_t *order)
{
    const size_t n = w->out.domain->pool->n;
    TRY(mel_outcome_draws(w));
    MEL_AUTO_MEMORY double *value = mel_alloc(w->n_draws, n * sizeof *value);
    MEL_AUTO_MEMORY mel_placed_surely *sure = mel_alloc(n, sizeof *sure);
    if (value == NULL || sure == NULL)
        return mel_fail_memory(w->err, "the order of the classifiers");
    return weigh(w, w->n_draws, w->draw, value, sure, order);
}

static mel_status put_in_order(mel_outcome_work *w, double *value, size_t *order)
{
    const mel_pool *pool = w->out.domain->pool;
    mel_status status = mel_rank_values(value, w->metric, pool->n, pool->value, w->err);
    if (status == MEL_OK)
        status = mel_rank_order(order, NULL, pool->n, value, mel_metric_orientation(w->metric), w->err);
    for (size_t i = 0; i < pool->n && status == MEL_OK; i++)
        w->order[i] = (mel_placed){
            .name = pool->name[order[i]], .place = order[i], .value = value[order[i]], .truly_first = NAN
        };
    return status == MEL_OK ? weigh_draws(w, order) : status;
}

/* Who was chosen over every other one, each of them at least once more often than not. */
static mel_status find_chosen(mel_outcome_work *w)
{
    const mel_pool *pool = w->out.domain->pool;
    const size_t n = pool->n;
    if (n > MOST_MET)
        return MEL_OK;
    int *ahead = mel_alloc_zero(n * n, sizeof *ahead);
    if (ahead == NULL)
        return mel_fail_memory(w->err, "the order of the classifiers");
    for (uint32_t q = 0; q < mel_session_answers(w->session); q++) {
        const mel_record r = mel_session_record(w->session, q);
        const size_t a = mel_pool_place(pool, r.a), b = mel_pool_place(pool, r.b);
        const int more = (r.answer == MEL_ANSWER_A) - (r.answer == MEL_ANSWER_B);
        if (a < n && b < n) {
            ahead[a * n + b] += more;
            ahead[b * n + a] -= more;
        }
    }
    for (size_t i = 0; i < n; i++) {
        size_t over = 0;
        for (size_t j = 0; j < n; j++)
            over += ahead[i * n + j] > 0;
        if (over + 1 == n)
            w->out.chosen = pool->name[i];
    }
    free(ahead);
    return MEL_OK;
}

void mel_outcome_find_order(mel_outcome_work *w)
{
    const mel_pool *pool = w->out.domain->pool;
    if (w->status != MEL_OK || pool == NULL)
        return;
    w->order = mel_outcome_room(w, pool->n, sizeof *w->order);
    double *value = mel_outcome_room(w, pool->n, sizeof *value);
    size_t *order = mel_outcome_room(w, pool->n, sizeof *order);
    if (w->status == MEL_OK && mel_outcome_good(w, put_in_order(w, value, order))) {
        w->out.order = w->order;
        w->out.n_order = pool->n;
        (void)mel_outcome_good(w, find_chosen(w));
    }
    free(value);
    free(order);
    mel_outcome_find_truly_best(w);
}

/* --- in words ------------------------------------------------------------------------------------ */

static void state_first(mel_outcome_work *w)
{
    const mel_placed *o = w->out.order;
    mel_buffer list;
    mel_buffer_init(&list, MOST_TEXT);
    for (size_t i = 1; i < w->out.n_order && i <= MOST_NAMED; i++)
        mel_buffer_printf(&list, "%s%s", i > 1 ? ", " : "", o[i].name);
    if (w->out.n_order > MOST_NAMED + 1)
        mel_buffer_printf(&list, " and %zu more", w->out.n_order - MOST_NAMED - 1);
    const char *others = mel_outcome_keep(w, &list);
    mel_outcome_say(
        w, MEL_ABOUT_METRIC, "preferred",
        "Of these %zu classifiers, %s is preferred by the numbers shown (%s%% sure); after it come %s.",
        w->out.n_order, o[0].name, mel_digits_percent(o[0].first).text, others);
}

/* Whether the first one is at least as good in every number, by a metric that weighs each. */
static bool first_is_better_in_all(const mel_outcome_work *w, size_t place)
{
    const mel_pool *pool = w->out.domain->pool;
    const double *weight = mel_metric_tensor(w->metric, 1);
    const double sign = mel_metric_orientation(w->metric) == MEL_COST ? -1.0 : 1.0;
    const double *first = pool->value + w->order[0].place * pool->size;
    const double *other = pool->value + w->order[place].place * pool->size;
    if (!mel_family_about(mel_metric_family(w->metric))->sum || weight == NULL)
        return false;
    for (size_t i = 0; i < pool->size; i++)
        if (sign * weight[i] * (first[i] - other[i]) < 0.0)
            return false;
    return true;
}

static bool has_preference(const mel_session *session)
{
    for (uint32_t i = 0; i < mel_session_answers(session); i++)
        if (mel_session_record(session, i).answer == MEL_ANSWER_A ||
            mel_session_record(session, i).answer == MEL_ANSWER_B)
            return true;
    return false;
}

/* Nor is one the best by its numbers alone, whoever is asked. */
static bool none_is_preferred(const mel_outcome_work *w)
{
    bool best = true;
    for (size_t i = 1; i < w->out.n_order && best; i++)
        best = first_is_better_in_all(w, i);
    return !best && !has_preference(w->session);
}

static void state_none_preferred(mel_outcome_work *w)
{
    const mel_placed *first = &w->out.order[0];
    mel_outcome_say(
        w, MEL_ABOUT_METRIC, "none-preferred",
        "The answers prefer none of these %zu classifiers to another. An order of them rests on what "
        "weights are usual: by these, %s comes first with a probability of %s%%.",
        w->out.n_order, first->name, mel_digits_percent(first->first).text);
}

void mel_outcome_state_preferred(mel_outcome_work *w)
{
    const mel_placed *o = w->out.order;
    size_t likeliest = 0;
    if (w->status != MEL_OK || w->out.n_order < 2)
        return;
    if (none_is_preferred(w)) {
        state_none_preferred(w);
        return;
    }
    if (w->out.chosen != NULL && strcmp(w->out.chosen, o[0].name) != 0)
        mel_outcome_say(
            w, MEL_ABOUT_METRIC, "preferred",
            "%s was chosen over each of the other %zu. With the errors that people make and usual "
            "weights allowed for, %s comes first by the numbers shown (%s%% sure).",
            w->out.chosen, w->out.n_order - 1, o[0].name, mel_digits_percent(o[0].first).text);
    else
        state_first(w);
    for (size_t i = 1; i < w->out.n_order; i++)
        likeliest = o[i].first > o[likeliest].first ? i : likeliest;
    if (likeliest > 0)
        mel_outcome_say(w, MEL_ABOUT_METRIC, "likeliest",
                        "%s is the best on average over all that the answers leave open; the one that is "
                        "best by most of it is %s (%s%%).",
                        o[0].name, o[likeliest].name, mel_digits_percent(o[likeliest].first).text);
}

/* How much more often the classifier at this place of the order was preferred to the first one than the first
 * one to it. */
static long preferred_to_first(const mel_outcome_work *w, size_t place)
{
    const mel_pool *pool = w->out.domain->pool;
    const double *first = pool->value + w->order[0].place * pool->size;
    const double *other = pool->value + w->order[place].place * pool->size;
    const size_t one = mel_pool_place(pool, first), two = mel_pool_place(pool, other);
    long times = 0;
    for (uint32_t i = 0; i < mel_session_answers(w->session) && one != two; i++) {
        const mel_record r = mel_session_record(w->session, i);
        const size_t a = mel_pool_place(pool, r.a), b = mel_pool_place(pool, r.b);
        const bool asked = (a == one && b == two) || (a == two && b == one);
        if (asked && (r.answer == MEL_ANSWER_A || r.answer == MEL_ANSWER_B))
            times += (r.answer == MEL_ANSWER_A ? a : b) == two ? 1 : -1;
    }
    return times;
}

/* Nobody is told of a classifier that they refused without a reason. */
static void explain(mel_outcome_work *w, bool better_in_all, const char *key, const char *reason)
{
    size_t n = 0;
    mel_buffer list;
    mel_buffer_init(&list, MOST_TEXT);
    for (size_t i = 1; i < w->out.n_order; i++)
        if (preferred_to_first(w, i) > 0 && first_is_better_in_all(w, i) == better_in_all &&
            ++n <= MOST_NAMED)
            mel_buffer_printf(&list, "%s%s", n > 1 ? ", " : "", w->order[i].name);
    if (n > MOST_NAMED)
        mel_buffer_printf(&list, " and %zu more", n - MOST_NAMED);
    mel_buffer_puts(&list, "");
    const char *refused_for = mel_outcome_keep(w, &list);
    if (n > 0)
        mel_outcome_say(w, MEL_ABOUT_ANSWERS, key,
                        "You preferred %s to %s when asked, yet %s comes first: %s.", refused_for,
                        w->order[0].name, w->order[0].name, reason);
}

void mel_outcome_state_despite(mel_outcome_work *w)
{
    if (w->status != MEL_OK || w->out.n_order < 2)
        return;
    explain(w, true, "despite-better", "it is at least as good in every number");
    explain(w, false, "despite",
            mel_outcome_format(w,
                               "all answers together, with slips allowed for, and what weights are usual "
                               "speak for it with %s%%; more answers about such pairs would help",
                               mel_digits_percent(w->order[0].first).text));
}

/* What chance in the measured rows leaves of it. */
void mel_outcome_state_truly_best(mel_outcome_work *w)
{
    const mel_placed *o = w->out.order;
    if (w->status != MEL_OK || w->out.n_order < 2 || none_is_preferred(w))
        return;
    if (!isfinite(o[0].truly_first)) {
        mel_outcome_say(w, MEL_ABOUT_KNOWN, "rows",
                        "On how many rows these classifiers were measured is not known, so their numbers "
                        "are taken as exact.");
        return;
    }
    size_t rival = 1;
    for (size_t i = 2; i < w->out.n_order; i++)
        rival = o[i].truly_first > o[rival].truly_first ? i : rival;
    mel_outcome_say(
        w, o[0].truly_first >= settled ? MEL_ABOUT_KNOWN : MEL_ABOUT_OPEN, "rows",
        "These classifiers were measured on finitely many rows: the probability that %s is also the best in "
        "truth is %s%%, that of %s %s%%.",
        o[0].name, mel_digits_percent(o[0].truly_first).text, o[rival].name,
        mel_digits_percent(o[rival].truly_first).text);
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
        if (o[i].stands_next < settled && ++open <= MOST_NAMED)
            mel_buffer_printf(&list, "%s%s before %s (%s%%)", open > 1 ? ", " : "", o[i].name, o[i + 1].name,
                              mel_digits_percent(o[i].beats_next).text);
    if (open > MOST_NAMED)
        mel_buffer_printf(&list, " and %zu more", open - MOST_NAMED);
    const char *pairs = mel_outcome_keep(w, &list);
    if (open == 0 && w->out.summary.end != MEL_END_DECIDED && !mel_session_order_was_asked(w->session))
        mel_outcome_say(
            w, MEL_ABOUT_OPEN, "order",
            "Too few answers prefer one classifier to another to call their order settled: it rests "
            "on their numbers and on what weights are usual.");
    else if (open == 0)
        mel_outcome_say(w, MEL_ABOUT_KNOWN, "order", "The order of the classifiers is settled.");
    else
        mel_outcome_say(w, MEL_ABOUT_OPEN, "order", "In the order of the classifiers it is open whether %s.",
                        pairs);
    if (w->out.summary.end == MEL_END_EXHAUSTED)
        mel_outcome_say(w, MEL_ABOUT_OPEN, "pool",
                        "Questions about these classifiers cannot narrow the intervals further; that would "
                        "take other classifiers.");
}
