/* The next chord to ask about a linear-fractional metric on a face, and how well it is known. */
#include "elicit/active/ask/chord.h"

#include "base/la.h"
#include "elicit/active/select.h"

#include <math.h>
#include <stdlib.h>

enum {
    CORNERS = 96,           /* about so many vertices stand for the face */
    ENOUGH_VERTICES = 2048, /* of each half are looked at for that */
    AROUND = 8, /* points of its boundary whose level lines are to become known, next to two more */
    SPOTS = AROUND + 2,
    PROBES = 33, /* points where the remaining uncertainty is measured */
    FAN = 24,    /* level lines of the mean metric that are tried */
    REFINE = 24, /* lines near the best one that are tried then */
    TRIED = FAN + REFINE + 1,
    SCORED = 320 /* samples that judge a line, at most */
};
/* Lines that take away this share of what the best one does are as good. */
static const double nearly_best = 0.9;
/* How much the numerator's slope counts next to a level line's. */
static const double numerator_weight = 3.0;
/* Refinement: first steps, along the fan and in deviations of the centre's angle, and how they shrink. */
static const double first_turn = 0.3, shrink = 0.85;
/* Lines closer to the best and worst corner are too short to be asked about. */
static const double margin_at = 0.005;

struct mel_chords {
    mel_shares shares;
    size_t n_corners, half;       /* corner 0 is never positive, corner half always positive */
    mel_spot corner[CORNERS + 3]; /* counter-clockwise, of a polygon inside the face */
    mel_spot spot[SPOTS];
    mel_spot probe[PROBES];
    double weight[SPOTS];
    size_t scored, stride;      /* every stride-th sample judges */
    double *angle;              /* SPOTS x scored: angles of the level lines, less their mean */
    double *likely;             /* scored: P(A) */
    double *work;               /* as many as samples */
    double variance;            /* weighted sum over the spots */
    double deviation;           /* of the angle at the centre */
    const mel_samples *samples; /* of the question that is being chosen */
};

/* A line through the point `at` (0 to 1) of the way from the worst to the best corner, turned by `turn` from
 * the mean metric's level line there; and its chord. */
typedef struct {
    double at, turn;
    mel_spot a, b;
    double reduction; /* share of the variance that the answer is expected to take away */
    double length;    /* in the plane of TP and TN */
} line;

void mel_chords_free(mel_chords *chords)
{
    if (chords == NULL)
        return;
    free(chords->angle); /* and all that was made with it */
    free(chords);
}

/* About CORNERS vertices of the face, evenly along its boundary, both trivial classifiers among them. Each
 * half of the boundary is monotone, so that |dx| + |dy| adds up to 4 on it. */
static void pick_corners(mel_chords *chords, const mel_face *face)
{
    const size_t half = mel_face_vertices(face) / 2;
    const size_t stride = half / ENOUGH_VERTICES + 1;
    const double gap = 8.0 / CORNERS;
    chords->n_corners = 0;
    for (size_t side = 0; side < 2; side++) {
        double since = gap; /* the first vertex of a half is a trivial classifier */
        mel_spot last = { 0 };
        for (size_t i = 0; i < half; i += stride) {
            const mel_spot spot = mel_spot_of(chords->shares, mel_face_vertex(face, side * half + i));
            since += i == 0 ? 0.0 : fabs(spot.x - last.x) + fabs(spot.y - last.y);
            last = spot;
            if (since < gap)
                continue;
            chords->corner[chords->n_corners++] = spot;
            since = 0.0;
        }
        if (side == 0)
            chords->half = chords->n_corners;
    }
}

/* share: 0 to below 1. */
static mel_spot along_boundary(const mel_chords *chords, double share)
{
    const size_t n = chords->n_corners;
    const double at = share * (double)n;
    const size_t i = (size_t)at, j = i + 1 < n ? i + 1 : 0;
    const double rest = at - floor(at);
    const mel_spot a = chords->corner[i], b = chords->corner[j];
    return (mel_spot){ a.x + rest * (b.x - a.x), a.y + rest * (b.y - a.y) };
}

static void pick_spots(mel_chords *chords)
{
    for (size_t i = 0; i < AROUND; i++) {
        chords->spot[i] = along_boundary(chords, (double)i / AROUND);
        chords->weight[i] = 1.0;
    }
    chords->spot[AROUND] = (mel_spot){ 0.0, 0.0 };
    chords->weight[AROUND] = 1.0;
    /* The level line through TP = TN = 0 has the slope of the numerator p: p is to be known too. */
    chords->spot[AROUND + 1] = (mel_spot){ -1.0, -1.0 };
    chords->weight[AROUND + 1] = numerator_weight;
    for (size_t i = 0; i + 1 < PROBES; i++)
        chords->probe[i] = along_boundary(chords, (double)i / (PROBES - 1));
    chords->probe[PROBES - 1] = (mel_spot){ 0.0, 0.0 };
}

mel_status mel_chords_new(mel_chords **out, const mel_face *face, size_t samples, mel_error *err)
{
    *out = NULL;
    mel_chords *chords = mel_alloc_zero(1, sizeof *chords);
    if (chords == NULL)
        return mel_fail_memory(err, "the questions");
    chords->shares = (mel_shares){ mel_face_positives(face), mel_face_negatives(face) };
    chords->stride = (samples + SCORED - 1) / SCORED;
    chords->scored = samples / chords->stride;
    const mel_part parts[] = { { chords->scored * SPOTS, { &chords->angle } },
                               { chords->scored, { &chords->likely } },
                               { samples, { &chords->work } } };
    if (!mel_parts_new(MEL_PARTS(parts))) {
        mel_chords_free(chords);
        return mel_fail_memory(err, "the questions");
    }
    pick_corners(chords, face);
    pick_spots(chords);
    *out = chords;
    return MEL_OK;
}

static double length_of(const mel_chords *chords, mel_spot a, mel_spot b)
{
    return 0.5 * hypot(chords->shares.positives * (a.x - b.x), chords->shares.negatives * (a.y - b.y));
}

/* The chord of the polygon along a line through a point inside; false when it has no length. */
static bool cut(const mel_chords *chords, mel_spot through, mel_spot along, line *out)
{
    double low = -INFINITY, high = INFINITY;
    mel_spot from = chords->corner[chords->n_corners - 1];
    for (size_t i = 0; i < chords->n_corners; i++) {
        const mel_spot to = chords->corner[i];
        const mel_spot edge = { to.x - from.x, to.y - from.y };
        const double inside = edge.x * (through.y - from.y) - edge.y * (through.x - from.x);
        const double change = edge.x * along.y - edge.y * along.x;
        const double crossing = -inside / change;
        if (change > 0.0 && crossing > low)
            low = crossing;
        else if (change < 0.0 && crossing < high)
            high = crossing;
        from = to;
    }
    if (!(high > low) || !isfinite(high - low))
        return false;
    out->a = (mel_spot){ through.x + high * along.x, through.y + high * along.y };
    out->b = (mel_spot){ through.x + low * along.x, through.y + low * along.y };
    out->length = length_of(chords, out->a, out->b);
    return true;
}

static double find_angles_at(mel_chords *chords, const mel_samples *samples, size_t k)
{
    const size_t n = chords->scored;
    double *angle = chords->angle + k * n, mean = 0.0;
    for (size_t i = 0; i < n; i++) {
        double slope[2];
        mel_pivot_slope(slope, chords->shares, samples->w + 3 * i * chords->stride, chords->spot[k]);
        angle[i] = atan2(slope[1], slope[0]);
        mean += angle[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++)
        angle[i] -= mean;
    return mel_dot(n, angle, angle) / (double)n;
}

static void find_angles(mel_chords *chords, const mel_samples *samples)
{
    chords->variance = 0.0;
    for (size_t k = 0; k < SPOTS; k++) {
        const double variance = find_angles_at(chords, samples, k);
        chords->variance += chords->weight[k] * variance;
        if (k == AROUND)
            chords->deviation = sqrt(variance);
    }
}

/* P(A) of each scored sample; returns the mean. */
static double predict(mel_chords *chords, const mel_sampler *sampler, mel_spot a, mel_spot b)
{
    const mel_samples *samples = chords->samples;
    double row[3], sum = 0.0;
    mel_pivot_row(row, a, b);
    const double gain = mel_pivot_gain(samples->mean, a, b);
    for (size_t i = 0; i < chords->scored; i++) {
        const double *w = samples->w + 3 * i * chords->stride;
        chords->likely[i] = gain * (row[0] * w[0] + row[1] * w[1] + row[2] * w[2]);
    }
    mel_sampler_predict(sampler, chords->scored, chords->stride, gain * mel_norm2(3, row), chords->likely);
    for (size_t i = 0; i < chords->scored; i++)
        sum += chords->likely[i];
    return sum / (double)chords->scored;
}

/* An answer that splits the samples as l = P(A) takes Cov(l, angle)^2 / (mean l (1 - mean l)) away from the
 * variance of an angle, in expectation. */
static double reduction(mel_chords *chords, const mel_sampler *sampler, const line *l)
{
    const size_t n = chords->scored;
    const double share = predict(chords, sampler, l->a, l->b);
    if (!(share > 0.0 && share < 1.0) || !(chords->variance > 0.0))
        return 0.0;
    double sum = 0.0;
    for (size_t k = 0; k < SPOTS; k++) {
        const double together = mel_dot(n, chords->likely, chords->angle + k * n) / (double)n;
        sum += chords->weight[k] * together * together;
    }
    return sum / (share * (1.0 - share) * chords->variance);
}

/* Mutual information of the answer and w, in bits. */
static double information_of(mel_chords *chords, const mel_sampler *sampler, const line *l)
{
    const double share = predict(chords, sampler, l->a, l->b);
    double known = 0.0;
    for (size_t i = 0; i < chords->scored; i++)
        known += mel_entropy(chords->likely[i]);
    return fmax(0.0, mel_entropy(share) - known / (double)chords->scored);
}

/* The metric reported for w, up to an increasing linear function. */
static double value(const double w[3], mel_spot c)
{
    return (w[0] * c.y - w[1] * c.x) / (w[0] - w[1] - w[2] * (c.x - c.y));
}

typedef struct {
    const double *w;    /* the mean metric */
    mel_spot low, high; /* the corners that it likes least and best */
} way;

static way find_way(const mel_chords *chords, const double w[3])
{
    way out = { w, chords->corner[0], chords->corner[0] };
    for (size_t i = 1; i < chords->n_corners; i++) {
        const double worth = value(w, chords->corner[i]);
        if (worth > value(w, out.high))
            out.high = chords->corner[i];
        if (worth < value(w, out.low))
            out.low = chords->corner[i];
    }
    return out;
}

/* The chord of the line given by at and turn. */
static bool find_chord(line *l, const mel_chords *chords, const way *range)
{
    const mel_spot through = { range->low.x + l->at * (range->high.x - range->low.x),
                               range->low.y + l->at * (range->high.y - range->low.y) };
    const double *w = range->w, cosine = cos(l->turn), sine = sin(l->turn);
    const mel_spot level = { w[0] - through.x * w[2], w[1] - through.y * w[2] };
    const mel_spot along = { level.x * cosine - level.y * sine, level.x * sine + level.y * cosine };
    return cut(chords, through, along, l);
}

typedef struct {
    size_t n, best;
    line line[TRIED];
    const mel_avoided *avoided;
} trial;

static void add_line(trial *t, mel_chords *chords, const mel_sampler *sampler, line l)
{
    double row[3];
    mel_pivot_row(row, l.a, l.b);
    if (mel_avoided_has(t->avoided, row))
        return;
    l.reduction = reduction(chords, sampler, &l);
    t->line[t->n] = l;
    if (l.reduction > t->line[t->best].reduction)
        t->best = t->n;
    t->n++;
}

static void try_lines(trial *t, mel_chords *chords, const mel_sampler *sampler, mel_rng *rng)
{
    const way range = find_way(chords, chords->samples->mean);
    /* Never against always positive: all there is on a face without area. */
    const mel_spot never = chords->corner[0], always = chords->corner[chords->half];
    add_line(t, chords, sampler,
             (line){ .at = 0.5, .a = never, .b = always, .length = length_of(chords, never, always) });
    for (size_t k = 0; k < FAN; k++) {
        line l = { .at = ((double)k + 0.5) / FAN };
        if (find_chord(&l, chords, &range))
            add_line(t, chords, sampler, l);
    }
    double step = 1.0;
    for (size_t k = 0; k < REFINE; k++, step *= shrink) {
        const line *best = &t->line[t->best];
        line l = { .at = best->at + step / FAN * mel_rng_normal(rng),
                   .turn = best->turn + step * first_turn * chords->deviation * mel_rng_normal(rng) };
        l.at = fmin(fmax(l.at, margin_at), 1.0 - margin_at);
        if (find_chord(&l, chords, &range))
            add_line(t, chords, sampler, l);
    }
}

void mel_chords_choose(mel_spot *a, mel_spot *b, double *information, mel_chords *chords,
                       const mel_sampler *sampler, const mel_samples *samples, const mel_avoided *avoided,
                       mel_rng *rng)
{
    trial t = { .avoided = avoided };
    chords->samples = samples;
    find_angles(chords, samples);
    try_lines(&t, chords, sampler, rng);
    const line *picked = &t.line[t.best];
    const double enough = nearly_best * picked->reduction;
    *information = 0.0;
    if (!(enough > 0.0))
        return;
    for (size_t i = 0; i < t.n; i++)
        if (t.line[i].reduction >= enough && t.line[i].length > picked->length)
            picked = &t.line[i];
    *a = picked->a;
    *b = picked->b;
    *information = information_of(chords, sampler, picked);
}

/* Squared sine of the largest angle between the level lines of the metric of w and the mean metric, whose
 * unit slopes at the probes are given. */
static double largest_angle(const mel_chords *chords, double slope[PROBES][2], const double w[3])
{
    double largest = 0.0;
    for (size_t k = 0; k < PROBES; k++) {
        const double x = (chords->probe[k].y * w[2] - w[1]) * chords->shares.negatives;
        const double y = (w[0] - chords->probe[k].x * w[2]) * chords->shares.positives;
        const double cross = slope[k][0] * y - slope[k][1] * x, norm = x * x + y * y;
        const double squared = norm > 0.0 ? cross * cross / norm : 1.0;
        largest = squared > largest ? squared : largest;
    }
    return largest;
}

double mel_chords_radius(mel_chords *chords, const mel_samples *samples)
{
    double slope[PROBES][2];
    for (size_t k = 0; k < PROBES; k++) {
        mel_pivot_slope(slope[k], chords->shares, samples->mean, chords->probe[k]);
        mel_scale(2, 1.0 / fmax(mel_norm2(2, slope[k]), 1e-300), slope[k]);
    }
    for (size_t i = 0; i < samples->count; i++)
        chords->work[i] = largest_angle(chords, slope, samples->w + 3 * i);
    /* All slopes point into one quadrant, so that the sine tells the angle. */
    const double level = mel_samples_radius_level(samples);
    return asin(fmin(1.0, sqrt(mel_quantile_select(samples->count, chords->work, level))));
}
