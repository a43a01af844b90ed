/* Active elicitation of a binary linear metric from people: the exchange rate between the two mistakes, on a
 * log scale (posterior/exchange.h), by pairs that somebody might use (ask/levels.h). A question is the pair
 * whose answer tells most about the rate or, of those that tell nearly as much, the most plausible one. The
 * session ends when the rate is known to a factor, or lies beyond what pairs of this test can ask. */
#include "elicit/active/exchange_parts.h"

#include "metric/shared.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TRIED = 40, RECENT = 3 };
/* Of the posterior, the part whose rates are asked about, at least so far around its middle. */
static const double least_share = 0.03, least_reach = 0.2;
/* A pair that tells this share of the best is as good, if it is more plausible (but for checks). */
static const double nearly_best = 0.85;
/* From so wide an interval on, questions tell luck from care: they are chosen for somebody who errs more. */
static const double checked_from = 3.0;

typedef mel_exchange_engine engine;

/* --- answers ------------------------------------------------------------------------------------ */

static uint32_t count_of(const mel_levels *l, double share)
{
    return (uint32_t)llround(share * (double)l->people);
}

/* No pair is asked twice, sides swapped or not. */
static void mark_used(engine *e, const double *a, const double *b)
{
    bool swapped = false;
    (void)mel_trade_of(a, b, &swapped);
    const double *first = swapped ? b : a, *second = swapped ? a : b;
    for (size_t k = 0; k < 2; k++) {
        mel_levels *l = &e->level[k];
        for (size_t i = 0; i < l->n; i++) {
            mel_level *one = &l->level[i];
            if (one->tp[0] == count_of(l, first[0]) && one->tn[0] == count_of(l, first[1]) &&
                one->tp[1] == count_of(l, second[0]) && one->tn[1] == count_of(l, second[1]))
                one->used = true;
        }
    }
}

/* Of a pair without a rate (one is better in both): no row. */
static void row(mel_active *base, const double *a, const double *b, double *out)
{
    (void)base;
    bool swapped = false;
    const mel_trade t = mel_trade_of(a, b, &swapped);
    const double rate = t.tp > 0.0 && t.tn > 0.0 ? log(t.tn / t.tp) : 0.0;
    out[0] = cos(0.5 * rate); /* alike up to about 0.3 of the rate */
    out[1] = sin(0.5 * rate);
}

static mel_status hear(mel_active *base, const mel_pair *pair, mel_answer answer, bool *apart, mel_error *err)
{
    (void)apart;
    engine *e = (engine *)base;
    bool swapped = false;
    const mel_trade trade = mel_trade_of(pair->a, pair->b, &swapped);
    const bool first = ((answer == MEL_ANSWER_A) != swapped) != e->turned;
    const mel_trade_answer said = answer == MEL_ANSWER_SAME ? MEL_TRADE_SAME
                                  : first                   ? MEL_TRADE_FIRST
                                                            : MEL_TRADE_SECOND;
    const mel_status status = mel_exchange_tell(&e->exchange, trade, said, err);
    if (status != MEL_OK)
        return status;
    mark_used(e, pair->a, pair->b);
    if (!e->imagined && e->level[1].n > 0 && mel_exchange_is_beyond(e)) /* where a session without it ends */
        e->imagined = true;
    base->history.evidence = e->exchange.evidence;
    return MEL_OK;
}

static void put_aside(mel_active *base, const mel_pair *pair)
{
    mark_used((engine *)base, pair->a, pair->b);
}

/* --- questions ---------------------------------------------------------------------------------- */

static mel_trade trade_of(const mel_levels *l, const mel_level *one)
{
    return (mel_trade){ .tp = (double)(one->tp[0] - one->tp[1]) / l->people,
                        .tn = (double)(one->tn[1] - one->tn[0]) / l->people };
}

/* For choosing which question comes back: the one that tells most, but none of the latest. */
static double predict(mel_engine *base, const double *a, const double *b)
{
    const engine *e = (const engine *)base;
    const mel_history *h = &e->base.history;
    const size_t bytes = h->size * sizeof *a;
    for (size_t i = h->n > RECENT ? h->n - RECENT : 0; i < h->n; i++) {
        const double *told = h->points + 2 * h->size * i;
        if (memcmp(told, a, bytes) == 0 && memcmp(told + h->size, b, bytes) == 0)
            return 0.5;
    }
    bool swapped = false;
    return 0.5 + 0.25 * mel_exchange_information(&e->exchange, e->work, mel_trade_of(a, b, &swapped));
}

/* Beyond the range of its questions a session ends, or goes on with an imagined test (hear). */
static mel_status prepare(mel_active *base, bool *ended, mel_error *err)
{
    (void)err;
    engine *e = (engine *)base;
    e->checking = mel_exchange_known_width(e) <= checked_from;
    mel_exchange_prepare(&e->exchange, e->checking, e->work);
    if (mel_exchange_is_beyond(e)) {
        base->end = MEL_END_BEYOND;
        *ended = true;
    }
    return MEL_OK;
}

/* Unused pairs with rates from low to high, into list; returns how many. */
static size_t list_pairs(size_t *list, engine *e, double low, double high)
{
    const mel_levels *l = mel_exchange_levels(e);
    size_t n = 0;
    for (size_t i = 0; i < l->n; i++) {
        const mel_level *one = &l->level[i];
        const double angle[2] = { cos(0.5 * one->rate), sin(0.5 * one->rate) };
        if (!one->used && one->rate >= low && one->rate <= high && !mel_avoided_has(&e->base.avoided, angle))
            list[n++] = i;
    }
    return n;
}

/* The pair that is asked about, of at most MOST_TRIED of those in the list. */
static const mel_level *best_of(engine *e, size_t n, const size_t *list)
{
    const mel_levels *l = mel_exchange_levels(e);
    const size_t tried = n < MOST_TRIED ? n : MOST_TRIED;
    double told[MOST_TRIED], most = 0.0;
    for (size_t i = 0; i < tried; i++) {
        told[i] =
            mel_exchange_information(&e->exchange, e->work, trade_of(l, &l->level[list[i * n / tried]]));
        most = fmax(most, told[i]);
    }
    const mel_level *best = NULL;
    for (size_t i = 0; i < tried; i++) {
        const mel_level *one = &l->level[list[i * n / tried]];
        if (told[i] >= (e->checking ? 1.0 : nearly_best) * most &&
            (best == NULL || one->plausible > best->plausible)) {
            best = one;
            e->information = told[i];
        }
    }
    return best;
}

static mel_status choose(mel_active *base, mel_rng *rng, mel_error *err)
{
    engine *e = (engine *)base;
    const mel_levels *l = mel_exchange_levels(e);
    size_t *list = mel_alloc(l->n, sizeof *list);
    if (list == NULL)
        return mel_fail_memory(err, "the questions");
    const double middle = mel_exchange_prepared_quantile(e->work, 0.5);
    const double low = fmin(mel_exchange_prepared_quantile(e->work, least_share), middle - least_reach);
    const double high =
        fmax(mel_exchange_prepared_quantile(e->work, 1.0 - least_share), middle + least_reach);
    size_t n = list_pairs(list, e, low, high);
    if (n == 0)
        n = list_pairs(list, e, -INFINITY, INFINITY);
    const mel_level *best = n > 0 ? best_of(e, n, list) : NULL;
    free(list);
    if (best == NULL || e->information < MEL_LEAST_INFORMATION) {
        double first = -INFINITY, last = INFINITY;
        (void)mel_exchange_askable(e, &first, &last);
        const bool outside = middle < first || middle > last; /* there it is not noise that tells nothing */
        base->end = best == NULL || outside ? MEL_END_EXHAUSTED : MEL_END_NOISE;
        return MEL_OK;
    }
    base->a[0] = (double)best->tp[0] / l->people;
    base->a[1] = (double)best->tn[0] / l->people;
    base->b[0] = (double)best->tp[1] / l->people;
    base->b[1] = (double)best->tn[1] / l->people;
    mel_toss_sides(2, base->a, base->b, rng);
    return MEL_OK;
}

static void show(const mel_active *base, mel_pair *pair)
{
    const engine *e = (const engine *)base;
    pair->people = mel_exchange_levels(e)->people;
    pair->imagined = e->imagined;
}

/* The rule of the nearest point of the test, for those who want to know. */
static void note(const mel_active *base, mel_pair *pair)
{
    const engine *e = (const engine *)base;
    if (e->imagined)
        return;
    mel_note_point(pair->note_a, e->face, mel_face_closest(e->face, (mel_point){ pair->a[0], pair->a[1] }),
                   NULL, NULL);
    mel_note_point(pair->note_b, e->face, mel_face_closest(e->face, (mel_point){ pair->b[0], pair->b[1] }),
                   NULL, NULL);
}

/* --- making ------------------------------------------------------------------------------------- */

static void clear(mel_active *base)
{
    engine *e = (engine *)base;
    mel_exchange_free(&e->exchange);
    mel_levels_free(&e->level[0]);
    mel_levels_free(&e->level[1]);
    free(e->work);
}

static const mel_active_ops exchange_ops = {
    .prepare = prepare,
    .precise = mel_exchange_is_precise,
    .choose = choose,
    .predict = predict,
    .row = row,
    .hear = hear,
    .put_aside = put_aside,
    .show = show,
    .note = note,
    .clear = clear,
    .finds_evidence = true,
};
static const mel_engine_ops exchange_engine = {
    .next = mel_active_next,
    .tell = mel_active_tell,
    .result = mel_exchange_find_result,
    .posterior = mel_exchange_find_posterior,
    .draws = mel_exchange_find_draws,
    .expected = mel_exchange_find_expected,
    .show = mel_active_show,
    .free = mel_active_free,
};

static mel_status find_levels(engine *e, const mel_face *face, mel_error *err)
{
    const mel_session_options *opt = &e->base.opt;
    const uint32_t people = opt->people != 0
                                ? opt->people
                                : mel_levels_people(mel_face_positives(face), mel_face_negatives(face));
    e->real_first = opt->questions == MEL_QUESTIONS_REALISTIC;
    e->imagined = !e->real_first;
    mel_status status = e->real_first ? mel_levels_real(&e->level[0], face, people, err) : MEL_OK;
    if (status == MEL_OK && (e->imagined || opt->imagined_beyond))
        status = mel_levels_imagined(&e->level[1], face, people, err);
    if (status == MEL_OK && mel_exchange_levels(e)->n == 0)
        return mel_fail(err, MEL_EINVAL,
                        "out of %u people no two settings of this test differ by enough to be asked about; "
                        "questions far or imagined, or more people, would do",
                        people);
    return status;
}

static mel_status set_up(engine *e, const mel_face *face, mel_error *err)
{
    const mel_session_options *opt = &e->base.opt;
    double angle = 0.0;
    e->face = face;
    e->turned = opt->direction == MEL_DECREASING;
    if (opt->prior != NULL) {
        const double *weight = mel_metric_numerator(opt->prior, NULL);
        const double sign = (mel_metric_orientation(opt->prior) == MEL_COST) != e->turned ? -1.0 : 1.0;
        angle = atan2(sign * weight[1], sign * weight[0]);
    }
    e->work = mel_alloc_zero(mel_exchange_work_size(), sizeof *e->work);
    if (e->work == NULL)
        return mel_fail_memory(err, "the posterior");
    mel_status status = mel_exchange_init(&e->exchange, &opt->assume, angle, opt->prior_strength, err);
    if (status == MEL_OK)
        status = find_levels(e, face, err);
    if (status == MEL_OK)
        status = mel_active_room(&e->base, 2, 2, err);
    if (status == MEL_OK)
        mel_exchange_prepare(&e->exchange, false, e->work);
    return status;
}

mel_status mel_engine_exchange(mel_engine **out, const mel_face *face, const mel_session_options *opt,
                               mel_error *err)
{
    mel_active *e = NULL;
    const mel_status status = mel_active_new(&e, sizeof(engine), &exchange_engine, &exchange_ops, opt, err);
    return mel_active_ready(out, e, status == MEL_OK ? set_up((engine *)e, face, err) : status);
}
