/* Where the largest or the smallest of several uncertain numbers may lie.
 *
 * Draws of the largest itself are too large where several parts are about equal: they take the luckiest part
 * of each draw. What holds whether parts are equal or not, for the largest t of parts t_p: t is no more than
 * the largest upper end of the parts, as it is one of them; and no less than the largest lower end, if the
 * lower ends of all parts hold together. Parts that cannot be the largest say nothing. Where one part is
 * clearly the largest both ends are its own; where several are equal the interval holds in up to 97.5%. */
#include "base/stat.h"
#include "classify/certainty_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Deviations by which a part must be behind so that it does not count. */
static const double far_behind = 3.0;
static const double end = 0.025;

typedef struct {
    const mel_extreme *of;
    double sign;    /* -1: the smallest counts, so parts are turned round */
    size_t n;       /* parts that may be the largest */
    size_t *part;   /* which ones */
    double *sorted; /* n x draws: of each part, ascending */
    double *worst;  /* by draw: the lowest place of a part among its own draws */
    size_t *order;
} work;

static double drawn_at(const work *w, size_t draw, size_t part)
{
    return w->sign * w->of->drawn[draw * w->of->n_parts + part];
}

static size_t largest_seen(const work *w)
{
    size_t best = 0;
    for (size_t p = 1; p < w->of->n_parts; p++)
        best = w->sign * w->of->seen[p] > w->sign * w->of->seen[best] ? p : best;
    return best;
}

/* The deviation of how far a part is behind another. */
static double deviation_behind(const work *w, size_t part, size_t best)
{
    const size_t n = w->of->n_draws;
    double mean = 0.0, squares = 0.0;
    for (size_t b = 0; b < n; b++)
        mean += (drawn_at(w, b, best) - drawn_at(w, b, part)) / (double)n;
    for (size_t b = 0; b < n; b++) {
        const double off = drawn_at(w, b, best) - drawn_at(w, b, part) - mean;
        squares += off * off / (double)n;
    }
    return sqrt(squares);
}

static void choose_parts(work *w)
{
    const size_t best = largest_seen(w);
    for (size_t p = 0; p < w->of->n_parts; p++) {
        const double behind = w->sign * (w->of->seen[best] - w->of->seen[p]);
        if (p == best || behind <= far_behind * deviation_behind(w, p, best))
            w->part[w->n++] = p;
    }
}

static mel_status sort_part(work *w, size_t i, double *key, mel_error *err)
{
    const size_t n = w->of->n_draws;
    for (size_t b = 0; b < n; b++)
        key[b] = drawn_at(w, b, w->part[i]);
    TRY(mel_argsort(n, key, w->order, err));
    for (size_t at = 0; at < n; at++) {
        w->sorted[i * n + at] = key[w->order[at]];
        w->worst[w->order[at]] = fmin(w->worst[w->order[at]], (double)at / (double)(n - 1));
    }
    return MEL_OK;
}

static mel_status find(mel_interval *out, work *w, double *key, mel_error *err)
{
    const size_t n = w->of->n_draws;
    for (size_t b = 0; b < n; b++)
        w->worst[b] = 1.0;
    choose_parts(w);
    for (size_t i = 0; i < w->n; i++)
        TRY(sort_part(w, i, key, err));
    mel_sort(n, w->worst);
    const double together = mel_quantile_sorted(n, w->worst, end); /* lower ends there hold at once */
    double low = -INFINITY, high = -INFINITY;
    for (size_t i = 0; i < w->n; i++) {
        low = fmax(low, mel_quantile_sorted(n, w->sorted + i * n, together));
        high = fmax(high, mel_quantile_sorted(n, w->sorted + i * n, 1.0 - end));
    }
    *out = w->sign > 0.0 ? (mel_interval){ low, high } : (mel_interval){ -high, -low };
    return MEL_OK;
}

mel_status mel_interval_of_extreme(mel_interval *out, const mel_extreme *of, mel_error *err)
{
    work w = { .of = of, .sign = of->largest ? 1.0 : -1.0 };
    double *key = NULL;
    const mel_part parts[] = { { of->n_parts * of->n_draws, { &w.sorted } },
                               { of->n_draws, { &w.worst, &key } } };
    w.part = mel_alloc(of->n_parts, sizeof *w.part);
    w.order = mel_alloc(of->n_draws, sizeof *w.order);
    const mel_status status = w.part != NULL && w.order != NULL && mel_parts_new(MEL_PARTS(parts))
                                  ? find(out, &w, key, err)
                                  : mel_fail_memory(err, "how sure a value is");
    free(w.part);
    free(w.order);
    free(w.sorted);
    return status;
}

size_t mel_extreme_draws(size_t n_parts, size_t draws)
{
    enum { MOST_NUMBERS = 2000000, LEAST_DRAWS = 400 };
    const size_t may = MOST_NUMBERS / n_parts, fewer = may < draws ? may : draws;
    return fewer > LEAST_DRAWS || fewer == draws ? fewer : LEAST_DRAWS;
}
