/* Pairs of settings of one test as whole numbers: level chords of its boundary. */
#include "elicit/active/ask/levels.h"

#include "base/stat.h"
#include "oracle/counts.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double farthest = 5.3, step = 0.04;
static const double depth[] = { 0.05, 0.1, 0.2, 0.35, 0.45, 0.75, 0.98 };
enum { DEPTHS = 7, USUAL_DEPTHS = 5, RATES = 266, LEAST_DIFFERENCE = 3 };
enum { USUAL_PEOPLE = 1000, MANY_PEOPLE = 10000, LEAST_RARE = 20 };
static const double imagined_distance = 3.0; /* d' of the imagined test */
enum { IMAGINED_POINTS = 801 };

/* An upper boundary as points with falling TP, from (positives, 0) to (0, negatives), concave. */
typedef struct {
    size_t n;
    mel_point *point;
    double positives, negatives;
} boundary;
typedef mel_status boundary_maker(boundary *out, const mel_face *face, mel_error *err);

uint32_t mel_levels_people(double positives, double negatives)
{
    const double rarer = fmin(positives, negatives) / (positives + negatives);
    return rarer * USUAL_PEOPLE < LEAST_RARE ? MANY_PEOPLE : USUAL_PEOPLE;
}

void mel_levels_free(mel_levels *levels)
{
    free(levels->level);
    *levels = (mel_levels){ 0 };
}

/* --- chords ------------------------------------------------------------------------------------- */

static double worth(mel_point p, double rate)
{
    return rate * p.tp + p.tn;
}

static double trivial(const boundary *b, double rate)
{
    return fmax(rate * b->positives, b->negatives);
}

/* The best point: value rises up to it and falls after it. */
static size_t best_at(const boundary *b, double rate)
{
    size_t low = 0, high = b->n - 1;
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        if (worth(b->point[mid + 1], rate) > worth(b->point[mid], rate))
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Where the boundary between the point `inside` (worth more than value) and an end (not more) has this value:
 * the last point worth more, on the way to the end, and the next one. */
static mel_point crossing(const boundary *b, double rate, double value, size_t inside, bool forward)
{
    size_t low = 0, high = forward ? b->n - 1 - inside : inside; /* steps from inside: worth more, not more */
    while (high - low > 1) {
        const size_t mid = low + (high - low) / 2;
        if (worth(b->point[forward ? inside + mid : inside - mid], rate) > value)
            low = mid;
        else
            high = mid;
    }
    const mel_point p = b->point[forward ? inside + low : inside - low];
    if (high == 0)
        return p;
    const mel_point q = b->point[forward ? inside + high : inside - high];
    const double drop = worth(p, rate) - worth(q, rate);
    const double share = drop > 0.0 ? fmin(1.0, fmax(0.0, (worth(p, rate) - value) / drop)) : 0.0;
    return (mel_point){ p.tp + share * (q.tp - p.tp), p.tn + share * (q.tn - p.tn) };
}

static uint32_t whole(double share, const mel_levels *l, uint32_t most)
{
    const double n = round(share * (double)l->people);
    return n <= 0.0 ? 0 : n >= (double)most ? most : (uint32_t)n;
}

/* The pair as whole numbers; false: too close to each other, or worth no more than nothing. */
static bool round_pair(mel_level *out, const mel_levels *l, const boundary *b, const mel_point end[2])
{
    const uint32_t negatives = l->people - l->positives;
    for (int i = 0; i < 2; i++) {
        out->tp[i] = whole(end[i].tp, l, l->positives);
        out->tn[i] = whole(end[i].tn, l, negatives);
    }
    if (out->tp[0] < out->tp[1] + LEAST_DIFFERENCE || out->tn[1] < out->tn[0] + LEAST_DIFFERENCE)
        return false;
    const double rate = (double)(out->tn[1] - out->tn[0]) / (double)(out->tp[0] - out->tp[1]);
    const double best = worth(b->point[best_at(b, rate)], rate), least = trivial(b, rate);
    const double value = (rate * out->tp[0] + out->tn[0]) / (double)l->people;
    out->rate = log(rate);
    out->plausible = best > least ? fmin(1.0, (value - least) / (best - least)) : 0.0; /* rounded up */
    return out->plausible > 0.0;
}

/* Pairs of one rate, in order of depth; deeper ones only where none of the usual ones shows. */
static void add_rate(mel_levels *l, const boundary *b, double rate)
{
    const size_t at = best_at(b, rate), before = l->n;
    const double best = worth(b->point[at], rate), least = trivial(b, rate);
    for (size_t i = 0; i < DEPTHS && best > least && (i < USUAL_DEPTHS || l->n == before); i++) {
        const double value = best - depth[i] * (best - least);
        const mel_point end[2] = { crossing(b, rate, value, at, false), crossing(b, rate, value, at, true) };
        mel_level one = { .used = false };
        if (round_pair(&one, l, b, end))
            l->level[l->n++] = one;
    }
}

static int by_rate(const void *left, const void *right)
{
    const mel_level *a = left, *b = right;
    if (a->rate != b->rate)
        return a->rate < b->rate ? -1 : 1;
    if (a->plausible != b->plausible)
        return a->plausible > b->plausible ? -1 : 1;
    return (a->tp[0] > b->tp[0]) - (a->tp[0] < b->tp[0]);
}

static bool same_pair(const mel_level *a, const mel_level *b)
{
    return a->tp[0] == b->tp[0] && a->tp[1] == b->tp[1] && a->tn[0] == b->tn[0] && a->tn[1] == b->tn[1];
}

static mel_status find_levels(mel_levels *out, const boundary *b, uint32_t people, mel_error *err)
{
    const double share[2] = { b->negatives, b->positives };
    int64_t total[2];
    mel_round_to_total(total, share, 2, (int64_t)people);
    *out = (mel_levels){ .people = people, .positives = (uint32_t)total[1] };
    out->level = mel_alloc_zero((size_t)RATES * DEPTHS, sizeof *out->level);
    if (out->level == NULL)
        return mel_fail_memory(err, "the questions");
    for (size_t i = 0; i < RATES; i++)
        add_rate(out, b, exp(-farthest + step * (double)i));
    qsort(out->level, out->n, sizeof *out->level, by_rate);
    size_t kept = 0;
    for (size_t i = 0; i < out->n; i++)
        if (kept == 0 || !same_pair(&out->level[kept - 1], &out->level[i]))
            out->level[kept++] = out->level[i];
    out->n = kept;
    return MEL_OK;
}

/* --- boundaries --------------------------------------------------------------------------------- */

/* Shares of the positives and negatives together: further classes are not shown. */
static mel_status of_face(boundary *out, const mel_face *face, mel_error *err)
{
    const size_t half = mel_face_vertices(face) / 2;
    const double all = mel_face_positives(face) + mel_face_negatives(face);
    *out = (boundary){ .n = half + 1,
                       .positives = mel_face_positives(face) / all,
                       .negatives = mel_face_negatives(face) / all };
    out->point = mel_alloc(out->n, sizeof *out->point);
    if (out->point == NULL)
        return mel_fail_memory(err, "the boundary");
    for (size_t i = 0; i <= half; i++) {
        const mel_point p = mel_face_vertex(face, (half + i) % (2 * half));
        out->point[i] = (mel_point){ p.tp / all, p.tn / all };
    }
    return MEL_OK;
}

static mel_status of_imagined(boundary *out, const mel_face *face, mel_error *err)
{
    const double all = mel_face_positives(face) + mel_face_negatives(face), beyond = 5.0;
    *out = (boundary){ .n = IMAGINED_POINTS,
                       .positives = mel_face_positives(face) / all,
                       .negatives = mel_face_negatives(face) / all };
    out->point = mel_alloc(out->n, sizeof *out->point);
    if (out->point == NULL)
        return mel_fail_memory(err, "the boundary");
    for (size_t i = 0; i < out->n; i++) {
        const double t =
            -beyond + (imagined_distance + 2.0 * beyond) * (double)i / (double)(IMAGINED_POINTS - 1);
        out->point[i] = (mel_point){ out->positives * mel_normal_cdf(imagined_distance - t),
                                     out->negatives * mel_normal_cdf(t) };
    }
    out->point[0] = (mel_point){ out->positives, 0.0 };
    out->point[out->n - 1] = (mel_point){ 0.0, out->negatives };
    return MEL_OK;
}

/* --- kept with the face --------------------------------------------------------------------------- */

/* All in one block. */
typedef struct {
    mel_levels levels; /* its level is NULL: they follow */
    mel_level level[];
} kept_levels;

static mel_status make_kept(void **out, boundary_maker *make, const mel_face *face, uint32_t people,
                            mel_error *err)
{
    boundary b = { 0 };
    mel_levels found = { 0 };
    mel_status status = make(&b, face, err);
    if (status == MEL_OK)
        status = find_levels(&found, &b, people, err);
    free(b.point);
    kept_levels *kept = status == MEL_OK ? mel_alloc(sizeof *kept + found.n * sizeof *kept->level, 1) : NULL;
    if (status == MEL_OK && kept == NULL)
        status = mel_fail_memory(err, "the questions");
    if (kept != NULL) {
        kept->levels = found;
        kept->levels.level = NULL;
        if (found.n > 0)
            memcpy(kept->level, found.level, found.n * sizeof *kept->level);
    }
    mel_levels_free(&found);
    *out = kept;
    return status;
}

static mel_status make_real(void **out, const mel_face *face, uint32_t people, mel_error *err)
{
    return make_kept(out, of_face, face, people, err);
}

static mel_status make_imagined(void **out, const mel_face *face, uint32_t people, mel_error *err)
{
    return make_kept(out, of_imagined, face, people, err);
}

static mel_status copy_levels(mel_levels *out, const kept_levels *kept, mel_error *err)
{
    *out = kept->levels;
    out->level = mel_alloc(out->n + 1, sizeof *out->level);
    if (out->level == NULL) {
        *out = (mel_levels){ 0 };
        return mel_fail_memory(err, "the questions");
    }
    if (out->n > 0)
        memcpy(out->level, kept->level, out->n * sizeof *out->level);
    return MEL_OK;
}

/* A face keeps those of as many people as were asked for first: that is all of them in one study. */
static mel_status levels_of(mel_levels *out, mel_face_note which, mel_face_note_maker *make,
                            const mel_face *face, uint32_t people, mel_error *err)
{
    const void *noted = NULL;
    void *mine = NULL;
    mel_status status = mel_face_noted(&noted, face, which, make, people, err);
    if (status == MEL_OK && ((const kept_levels *)noted)->levels.people != people) {
        status = make(&mine, face, people, err);
        noted = mine;
    }
    if (status == MEL_OK)
        status = copy_levels(out, noted, err);
    free(mine);
    return status;
}

mel_status mel_levels_real(mel_levels *out, const mel_face *face, uint32_t people, mel_error *err)
{
    return levels_of(out, MEL_FACE_LEVELS, make_real, face, people, err);
}

mel_status mel_levels_imagined(mel_levels *out, const mel_face *face, uint32_t people, mel_error *err)
{
    return levels_of(out, MEL_FACE_IMAGINED_LEVELS, make_imagined, face, people, err);
}
