/* Where the largest or the smallest of several uncertain numbers may lie.
 *
 * Draws of the largest itself are too large where several parts are about equal: they take the luckiest part
 * of each draw. What holds whether parts are equal or not, for the largest t of parts t_p: t is no more than
 * the largest upper end of the parts, as it is one of them; and no less than the largest lower end, if the
 * lower ends of all parts hold together. Parts that cannot be the largest say nothing. Where one part is
 * clearly the largest both ends are its own; where several are equal the interval holds in up to 97.5%. */
#include "base/stat.h"
#include "classify/certainty.h"

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
    const size_t n = of->n_draws;
    MEL_AUTO_MEMORY double *number = mel_alloc((of->n_parts + 2) * n, sizeof *number);
    MEL_AUTO_MEMORY size_t *place = mel_alloc(of->n_parts + n, sizeof *place);
    if (number == NULL || place == NULL)
        return mel_fail_memory(err, "how sure a value is");
    w.sorted = number;
    w.worst = number + of->n_parts * n;
    w.part = place;
    w.order = place + of->n_parts;
    return find(out, &w, w.worst + n, err);
}

/* --- how far groups are apart --------------------------------------------------------------------- */

/* The largest of differences (or of log ratios) is 0 where groups are equal, and what is seen is on average
 * too large. So each truth t is asked whether it would often enough look as different from t as what was seen
 * does. Parts: those that were seen, as much nearer to 0 or farther from it as the largest; each with the
 * noise that draws show. For the lower end those that may be the largest count as large: luck then has most
 * to choose from. */
typedef struct {
    size_t n_parts, n_draws;
    double seen;         /* the largest part, above 0 */
    double *part, *even; /* as seen; those that may be the largest alike */
    double *noise;       /* n_draws x n_parts */
} spread;

static const double may_be_largest = 1.5; /* deviations behind */
static const double unlikely = 0.05;

static bool is_likely(const spread *s, const double *part, double truth)
{
    const double scale = truth / s->seen, off = fabs(s->seen - truth);
    size_t as_far = 0;
    for (size_t b = 0; b < s->n_draws; b++) {
        double largest = -INFINITY;
        for (size_t p = 0; p < s->n_parts; p++)
            largest = fmax(largest, scale * part[p] - s->noise[b * s->n_parts + p]);
        as_far += fabs(largest - truth) >= off;
    }
    return (double)as_far >= unlikely * (double)s->n_draws;
}

/* Where truths stop being likely, from one that is to one that is not. */
static double turning_point(const spread *s, const double *part, double likely, double not )
{
    for (int step = 0; step < 20; step++) {
        const double middle = (likely + not ) / 2.0;
        *(is_likely(s, part, middle) ? &likely : &not ) = middle;
    }
    return likely;
}

static double noise_deviation(const spread *s, size_t part, size_t other)
{
    double mean = 0.0, squares = 0.0;
    for (size_t b = 0; b < s->n_draws; b++) {
        const double *noise = s->noise + b * s->n_parts;
        const double x = noise[part] - (other < s->n_parts ? noise[other] : 0.0);
        mean += x / (double)s->n_draws;
        squares += x * x / (double)s->n_draws;
    }
    return sqrt(fmax(squares - mean * mean, 0.0));
}

/* Logarithms of ratios, turned round; their middle is that of the draws, as a ratio that is seen may be 0.
 * False: there are draws without a logarithm. */
static bool take_parts(spread *s, const mel_extreme *of, double *room)
{
    for (size_t p = 0; p < s->n_parts; p++) {
        for (size_t b = 0; b < s->n_draws; b++) {
            const double drawn = of->drawn[b * s->n_parts + p];
            room[b] = of->largest ? drawn : -log(drawn);
            if (!isfinite(room[b]))
                return false;
            s->noise[b * s->n_parts + p] = room[b];
        }
        if (!of->largest)
            mel_sort(s->n_draws, room);
        s->part[p] = of->largest ? of->seen[p] : mel_quantile_sorted(s->n_draws, room, 0.5);
        for (size_t b = 0; b < s->n_draws; b++)
            s->noise[b * s->n_parts + p] -= s->part[p];
    }
    return true;
}

static void find_ends(mel_interval *out, spread *s)
{
    size_t top = 0;
    double most = 0.0, farthest = 0.0;
    for (size_t p = 1; p < s->n_parts; p++)
        top = s->part[p] > s->part[top] ? p : top;
    s->part[top] = fmax(s->part[top], 1e-9); /* exactly equal groups have a direction too */
    s->seen = s->part[top];
    for (size_t p = 0; p < s->n_parts; p++) {
        const bool may = s->seen - s->part[p] <= may_be_largest * noise_deviation(s, p, top);
        s->even[p] = may ? s->seen : s->part[p];
        most = fmax(most, noise_deviation(s, p, s->n_parts));
        for (size_t b = 0; b < s->n_draws; b++)
            farthest = fmax(farthest, s->part[p] + s->noise[b * s->n_parts + p]);
    }
    out->low = is_likely(s, s->even, 0.0) ? 0.0 : turning_point(s, s->even, s->seen, 0.0);
    out->high = turning_point(s, s->part, s->seen, s->seen + 8.0 * most);
    out->high = fmin(out->high, fmax(farthest, s->seen)); /* no draw goes beyond what is possible */
}

mel_status mel_interval_of_spread(mel_interval *out, bool *found, const mel_extreme *of, mel_error *err)
{
    spread s = { .n_parts = of->n_parts, .n_draws = of->n_draws };
    double *room = NULL;
    const mel_part parts[] = { { of->n_parts * of->n_draws, { &s.noise } },
                               { of->n_parts, { &s.part, &s.even } },
                               { of->n_draws, { &room } } };
    if (!mel_parts_new(MEL_PARTS(parts)))
        return mel_fail_memory(err, "how far groups are apart");
    *found = take_parts(&s, of, room);
    if (*found)
        find_ends(out, &s);
    if (*found && !of->largest)
        *out = (mel_interval){ exp(-out->high), exp(-out->low) };
    free(s.noise);
    return MEL_OK;
}

size_t mel_extreme_draws(size_t n_parts, size_t draws)
{
    enum { MOST_NUMBERS = 2000000, LEAST_DRAWS = 400 };
    const size_t may = MOST_NUMBERS / n_parts, fewer = may < draws ? may : draws;
    return fewer > LEAST_DRAWS || fewer == draws ? fewer : LEAST_DRAWS;
}
