/* Faces of random samples against what a direct count over the rows says. */
#include "support/test.h"

#include "base/stat.h"
#include "space/face.h"
#include "space/shared.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 64, PROBLEMS = 600 };
static const double rounding = 1e-12;
static const double pi = 3.14159265358979323846;

typedef struct {
    size_t n;
    double score[MOST_ROWS], weight[MOST_ROWS];
    uint8_t role[MOST_ROWS];
    bool weighted;
    double total;
    mel_face *face;
} problem;

/* Ties, weights, rows of weight 0, further classes; scores that are right, useless, wrong or mixed. */
static void make_problem(problem *p, mel_rng *rng)
{
    p->n = 2 + mel_rng_below(rng, MOST_ROWS - 1);
    p->weighted = mel_rng_below(rng, 2) == 1;
    const uint64_t levels = mel_rng_below(rng, 3), quality = mel_rng_below(rng, 4),
                   kind = mel_rng_below(rng, 4);
    const double others = mel_rng_below(rng, 3) == 0 ? 0.3 : 0.0, share = 0.1 + 0.8 * mel_rng_uniform(rng);
    for (size_t i = 0; i < p->n; i++) {
        const bool positive = i == 0 || (i > 1 && mel_rng_uniform(rng) < share);
        p->role[i] = positive ? MEL_ROW_POSITIVE : MEL_ROW_NEGATIVE;
        if (i > 1 && mel_rng_uniform(rng) < others)
            p->role[i] = MEL_ROW_OTHER;
        static const double pull[] = { 1.5, 0.0, -1.5, 0.5 };
        double s = mel_rng_normal(rng) + (positive ? pull[quality] : -pull[quality]);
        if (quality == 3 && s > 0.5)
            s = 3.0 - s; /* right in one place and wrong in another */
        p->score[i] = levels == 0 ? s : levels == 1 ? floor(2.0 * s) : s * exp2(20.0 * s);
        static const double plain[] = { 0.1, 0.2, 0.7, 3.0 };
        p->weight[i] = kind == 0   ? mel_rng_uniform(rng) + 1e-3
                       : kind == 1 ? plain[mel_rng_below(rng, 4)]
                       : kind == 2 ? exp(8.0 * mel_rng_normal(rng))
                                   : (double)mel_rng_below(rng, 3);
        if (i < 2 && p->weight[i] <= 0.0)
            p->weight[i] = 1.0;
    }
    p->total = 0.0;
    for (size_t i = 0; i < p->n; i++)
        p->total += p->weighted ? p->weight[i] : 1.0;
    mel_error err = { 0 };
    assert_ok(mel_face_from_scores(&p->face, p->n, p->score, p->role, p->weighted ? p->weight : NULL, &err),
              &err);
}

/* Rule applied to the rows, one by one. */
static mel_point count(const problem *p, mel_rule rule)
{
    mel_sum tp = { 0 }, tn = { 0 };
    for (size_t i = 0; i < p->n; i++) {
        const bool positive = (p->score[i] >= rule.threshold) != rule.inverted;
        const double weight = p->weighted ? p->weight[i] : 1.0;
        if (p->role[i] == MEL_ROW_POSITIVE && positive)
            mel_sum_add(&tp, weight);
        if (p->role[i] == MEL_ROW_NEGATIVE && !positive)
            mel_sum_add(&tn, weight);
    }
    return (mel_point){ mel_sum_value(&tp) / p->total, mel_sum_value(&tn) / p->total };
}

static mel_point count_mixture(const problem *p, const mel_mixture *mix)
{
    mel_point sum = { 0, 0 };
    for (size_t i = 0; i < mix->n; i++) {
        const mel_point each = count(p, mix->rule[i]);
        sum.tp += mix->share[i] * each.tp;
        sum.tn += mix->share[i] * each.tn;
    }
    return sum;
}

/* Every rule there is: a threshold at each score and beyond both ends, both ways round. */
static size_t n_rules(const problem *p)
{
    return 2 * (p->n + 2);
}

static mel_rule rule_at(const problem *p, size_t i)
{
    const size_t k = i / 2;
    return (mel_rule){ k < p->n ? p->score[k] : k == p->n ? -INFINITY : INFINITY, i % 2 == 1 };
}

static void for_each_problem(void (*check)(const problem *p, mel_rng *rng))
{
    for (uint64_t seed = 0; seed < PROBLEMS; seed++) {
        mel_rng rng;
        mel_rng_seed(&rng, seed);
        problem p = { 0 };
        make_problem(&p, &rng);
        check(&p, &rng);
        mel_face_free(p.face);
    }
}

static double value(double m11, double m00, mel_point p)
{
    return m11 * p.tp + m00 * p.tn;
}

static double apart(mel_point a, mel_point b)
{
    return hypot(a.tp - b.tp, a.tn - b.tn);
}

static double turn(mel_point a, mel_point b, mel_point c)
{
    return (b.tp - a.tp) * (c.tn - a.tn) - (b.tn - a.tn) * (c.tp - a.tp);
}

static mel_point reflected(const mel_face *face, mel_point p)
{
    return (mel_point){ mel_face_positives(face) - p.tp, mel_face_negatives(face) - p.tn };
}

static void rules_are_counts(const problem *p, mel_rng *rng)
{
    for (size_t i = 0; i < n_rules(p); i++) {
        const mel_rule rule = rule_at(p, i);
        const mel_point want = count(p, rule), got = mel_face_rule(p->face, rule);
        assert_close(got.tp, want.tp, rounding);
        assert_close(got.tn, want.tn, rounding);
        assert_true(mel_face_contains(p->face, got, rounding));
        assert_true(mel_face_contains(p->face, reflected(p->face, got), rounding));
        const mel_rule other = { 4.0 * mel_rng_normal(rng), mel_rng_below(rng, 2) == 1 };
        assert_true(apart(mel_face_rule(p->face, other), count(p, other)) <= rounding);
    }
}

/* Together with the rules being inside: the polygon is the hull of the rules, no less and no more. */
static void vertices_are_rules(const problem *p, mel_rng *rng)
{
    (void)rng;
    const size_t n = mel_face_vertices(p->face);
    assert_true(n >= 2 && n % 2 == 0);
    double twice = 0.0;
    for (size_t i = 0; i < n; i++) {
        const mel_point v = mel_face_vertex(p->face, i), next = mel_face_vertex(p->face, (i + 1) % n);
        mel_mixture mix;
        mel_error err = { 0 };
        assert_ok(mel_face_achieve(&mix, p->face, v, &err), &err);
        assert_int_equal(mix.n, 1);
        assert_true(apart(count(p, mix.rule[0]), v) <= rounding);
        assert_true(apart(reflected(p->face, v), mel_face_vertex(p->face, (i + n / 2) % n)) <= rounding);
        assert_true(apart(v, next) > 0.0);
        if (n > 2)
            assert_true(turn(v, next, mel_face_vertex(p->face, (i + 2) % n)) > -1e-17);
        twice += v.tp * next.tn - v.tn * next.tp;
    }
    assert_close(mel_face_area(p->face), twice / 2, rounding);
}

static void supports_are_best(const problem *p, mel_rng *rng)
{
    const size_t n = mel_face_vertices(p->face);
    for (size_t i = 0; i < n + 20; i++) {
        double m11, m00;
        mel_point middle = { NAN, NAN };
        if (i < n) { /* orthogonal to an edge */
            const mel_point v = mel_face_vertex(p->face, i), w = mel_face_vertex(p->face, (i + 1) % n);
            m11 = w.tn - v.tn;
            m00 = v.tp - w.tp;
            middle = (mel_point){ (v.tp + w.tp) / 2, (v.tn + w.tn) / 2 };
        } else {
            const double angle = 2 * pi * mel_rng_uniform(rng);
            m11 = cos(angle);
            m00 = sin(angle);
        }
        double best = -INFINITY;
        for (size_t k = 0; k < n_rules(p); k++)
            best = fmax(best, value(m11, m00, count(p, rule_at(p, k))));
        mel_point got;
        mel_rule rule;
        assert_ok(mel_face_support(&got, p->face, m11, m00, NULL), NULL);
        assert_close(value(m11, m00, got), best, rounding);
        assert_ok(mel_face_support_rule(&rule, p->face, m11, m00, NULL), NULL);
        assert_close(value(m11, m00, count(p, rule)), best, rounding);
        if (i < n && !p->weighted && apart(middle, got) > rounding) {
            /* Coordinates that were rounded may miss the tie, by a hair. */
            double d = -INFINITY;
            for (size_t k = 0; k < n; k++)
                d = fmax(d, -apart(got, mel_face_vertex(p->face, k)));
            assert_true(-d <= rounding);
        }
    }
}

static void mixtures_achieve(const problem *p, mel_rng *rng)
{
    for (int i = 0; i < 30; i++) {
        mel_point point = mel_face_random(p->face, rng);
        assert_true(mel_face_contains(p->face, point, rounding));
        const size_t n = mel_face_vertices(p->face), k = (size_t)mel_rng_below(rng, n);
        const mel_point v = mel_face_vertex(p->face, k), w = mel_face_vertex(p->face, (k + 1) % n);
        const double share = mel_rng_uniform(rng);
        if (i % 3 == 1) /* on an edge */
            point = (mel_point){ v.tp + share * (w.tp - v.tp), v.tn + share * (w.tn - v.tn) };
        if (i % 3 == 2) /* next to a corner */
            point = (mel_point){ v.tp + 1e-7 * (point.tp - v.tp), v.tn + 1e-7 * (point.tn - v.tn) };
        mel_mixture mix;
        mel_error err = { 0 };
        assert_ok(mel_face_achieve(&mix, p->face, point, &err), &err);
        assert_true(mix.n >= 1 && mix.n <= (i % 3 == 1 ? 2 : 3));
        double sum = 0.0;
        for (size_t j = 0; j < mix.n; j++)
            sum += mix.share[j];
        assert_close(sum, 1.0, 1e-14);
        assert_true(apart(count_mixture(p, &mix), point) <= rounding);
        assert_true(apart(mel_face_mixture(p->face, &mix), point) <= rounding);
    }
}

/* Nearest point of the polygon, edge by edge. */
static mel_point nearest(const mel_face *face, mel_point q)
{
    const size_t n = mel_face_vertices(face);
    bool inside = n > 2;
    mel_point best = { NAN, NAN };
    for (size_t i = 0; i < n; i++) {
        const mel_point v = mel_face_vertex(face, i), w = mel_face_vertex(face, (i + 1) % n);
        const double x = w.tp - v.tp, y = w.tn - v.tn;
        const double share = fmax(0, fmin(1, ((q.tp - v.tp) * x + (q.tn - v.tn) * y) / (x * x + y * y)));
        const mel_point c = { v.tp + share * x, v.tn + share * y };
        if (!(apart(best, q) <= apart(c, q)))
            best = c;
        inside = inside && turn(v, w, q) >= 0.0;
    }
    return inside ? q : best;
}

static void closest_is_nearest(const problem *p, mel_rng *rng)
{
    const mel_point centre = mel_face_centre(p->face);
    for (int i = 0; i < 60; i++) {
        const double far = i % 2 == 0 ? 0.3 : 3.0;
        const mel_point q = { centre.tp + far * mel_rng_normal(rng), centre.tn + far * mel_rng_normal(rng) };
        const mel_point want = nearest(p->face, q), got = mel_face_closest(p->face, q);
        assert_true(apart(want, got) <= rounding);
        assert_true(mel_face_contains(p->face, got, rounding));
        const double distance = apart(q, want);
        assert_true(mel_face_contains(p->face, q, distance + rounding));
        if (distance > 1e-9)
            assert_false(mel_face_contains(p->face, q, distance - rounding));
    }
}

/* The part of the line q + t d inside the polygon: one half-plane after the other. */
static bool clip(const mel_face *face, mel_point q, mel_point d, double *low, double *high)
{
    const size_t n = mel_face_vertices(face);
    *low = -INFINITY;
    *high = INFINITY;
    for (size_t i = 0; i < n; i++) {
        const mel_point v = mel_face_vertex(face, i), w = mel_face_vertex(face, (i + 1) % n);
        const double x = w.tp - v.tp, y = w.tn - v.tn, size = hypot(x, y);
        const double now = (x * (q.tn - v.tn) - y * (q.tp - v.tp)) / size,
                     rate = (x * d.tn - y * d.tp) / size;
        if (rate > 0)
            *low = fmax(*low, -now / rate);
        else if (rate < 0)
            *high = fmin(*high, -now / rate);
        else if (now < 0)
            return false;
    }
    return *low <= *high;
}

static void chords_are_clips(const problem *p, mel_rng *rng)
{
    if (mel_face_vertices(p->face) == 2)
        return;
    const mel_point centre = mel_face_centre(p->face);
    for (int i = 0; i < 30; i++) {
        const double angle = 2 * pi * mel_rng_uniform(rng);
        const mel_point d = { cos(angle), sin(angle) }, q = mel_face_random(p->face, rng);
        mel_point a, b;
        double low, high;
        assert_true(mel_face_chord_at(&a, &b, p->face, q, 2 * d.tp, 2 * d.tn));
        assert_true(clip(p->face, q, d, &low, &high));
        assert_true(apart(a, (mel_point){ q.tp + high * d.tp, q.tn + high * d.tn }) <= 1e-9);
        assert_true(apart(b, (mel_point){ q.tp + low * d.tp, q.tn + low * d.tn }) <= 1e-9);
        assert_true(mel_face_contains(p->face, a, rounding) && mel_face_contains(p->face, b, rounding));
        const double through_q = apart(a, b);
        assert_true(mel_face_chord(&a, &b, p->face, d.tp, d.tn));
        assert_true(apart(a, b) >= through_q - rounding);
        assert_true(apart(a, reflected(p->face, b)) <= rounding);
        assert_true((a.tp - b.tp) * d.tp + (a.tn - b.tn) * d.tn > 0.0);
        assert_true(clip(p->face, centre, d, &low, &high));
        assert_close(apart(a, b), high - low, 1e-9);
    }
}

/* No parallel chord is longer than the one through the centre, for lines all over the face. */
static void longest_chord(const problem *p, mel_rng *rng)
{
    if (mel_face_vertices(p->face) == 2)
        return;
    for (int i = 0; i < 4; i++) {
        const double angle = 2 * pi * mel_rng_uniform(rng);
        const mel_point d = { cos(angle), sin(angle) };
        mel_point a, b;
        assert_true(mel_face_chord(&a, &b, p->face, d.tp, d.tn));
        double longest = 0.0, low, high;
        for (int k = 0; k <= 200; k++) {
            const double side = (k - 100) / 100.0;
            const mel_point centre = mel_face_centre(p->face);
            if (clip(p->face, (mel_point){ centre.tp - side * d.tn, centre.tn + side * d.tp }, d, &low,
                     &high))
                longest = fmax(longest, high - low);
        }
        assert_close(apart(a, b), longest, 1e-9);
    }
}

static void sweeps_are_rules(const problem *p, mel_rng *rng)
{
    enum { THRESHOLDS = 50 };
    double threshold[THRESHOLDS], tp[THRESHOLDS], tn[THRESHOLDS];
    for (size_t i = 0; i < THRESHOLDS; i++)
        threshold[i] = i % 2 == 0 ? p->score[mel_rng_below(rng, p->n)] : 3.0 * mel_rng_normal(rng);
    mel_sort(THRESHOLDS, threshold);
    mel_face_sweep(p->face, THRESHOLDS, threshold, tp, tn);
    for (size_t i = 0; i < THRESHOLDS; i++) {
        const mel_point one = mel_face_rule(p->face, (mel_rule){ threshold[i], false });
        assert_true(one.tp == tp[i] && one.tn == tn[i]);
        assert_true(i == 0 || (tp[i] <= tp[i - 1] && tn[i] >= tn[i - 1]));
    }
}

#define PROPERTY(name)                                                                                       \
    static void test_##name(void **state)                                                                    \
    {                                                                                                        \
        (void)state;                                                                                         \
        for_each_problem(name);                                                                              \
    }
PROPERTY(rules_are_counts)
PROPERTY(vertices_are_rules)
PROPERTY(supports_are_best)
PROPERTY(mixtures_achieve)
PROPERTY(closest_is_nearest)
PROPERTY(chords_are_clips)
PROPERTY(longest_chord)
PROPERTY(sweeps_are_rules)

/* Area of the polygon left of a vertical line. */
static double area_left(const mel_face *face, double at)
{
    const size_t n = mel_face_vertices(face);
    double area = 0.0;
    for (size_t i = 0; i < n; i++) {
        mel_point v = mel_face_vertex(face, i), w = mel_face_vertex(face, (i + 1) % n);
        /* The integral of x dy over the boundary, with x cut off at the line. */
        const double steps = 64;
        for (int k = 0; k < 64; k++) {
            const double x0 = fmin(at, v.tp + (w.tp - v.tp) * k / steps);
            const double x1 = fmin(at, v.tp + (w.tp - v.tp) * (k + 1) / steps);
            area += (x0 + x1) / 2 * (w.tn - v.tn) / steps;
        }
    }
    return area;
}

static void test_random_points_are_uniform(void **state)
{
    (void)state;
    enum { POINTS = 20000 };
    for (uint64_t seed = 0; seed < 20; seed++) {
        mel_rng rng;
        mel_rng_seed(&rng, seed);
        problem p = { 0 };
        make_problem(&p, &rng);
        const mel_point centre = mel_face_centre(p.face);
        const double width = 2 * centre.tp, height = 2 * centre.tn;
        size_t left[3] = { 0 };
        double tp = 0.0, tn = 0.0;
        for (int i = 0; i < POINTS; i++) {
            const mel_point q = mel_face_random(p.face, &rng);
            tp += q.tp / POINTS;
            tn += q.tn / POINTS;
            for (int k = 0; k < 3; k++)
                left[k] += q.tp < width * (k + 1) / 4;
        }
        /* Five standard deviations at the most: a coordinate has at most half its range. */
        assert_close(tp, centre.tp, 5 * width / 2 / sqrt(POINTS));
        assert_close(tn, centre.tn, 5 * height / 2 / sqrt(POINTS));
        const bool segment = mel_face_vertices(p.face) == 2;
        for (int k = 0; k < 3; k++) {
            const double want =
                segment ? (k + 1) / 4.0 : area_left(p.face, width * (k + 1) / 4) / mel_face_area(p.face);
            assert_close((double)left[k] / POINTS, want, 5 * 0.5 / sqrt(POINTS) + 1e-3);
        }
        mel_face_free(p.face);
    }
}

/* Large samples take another path (buckets, threads): the same counts from a plain sort. */
typedef struct {
    double score;
    uint8_t role;
    double weight;
} row;

static int compare_rows(const void *a, const void *b)
{
    const double x = ((const row *)a)->score, y = ((const row *)b)->score;
    return (x > y) - (x < y);
}

static double draw_score(mel_rng *rng, int kind)
{
    const double u = mel_rng_uniform(rng), z = mel_rng_normal(rng);
    switch (kind) {
    case 0:
        return u; /* even */
    case 1:
        return 1 / (1 + exp(4 - 3 * z)); /* crowded at 0 */
    case 2:
        return z / (mel_rng_uniform(rng) + 1e-9); /* long tails */
    case 3:
        return floor(100 * u) / 100; /* few values */
    case 4:
        return u < 0.6 ? 0 : z; /* one value most of the time */
    case 5:
        return ldexp(z, (int)(600 * (u - 0.5))); /* all magnitudes */
    case 6:
        return 1e300 * z; /* differences overflow */
    default:
        return 5 + 1e-12 * z + (u < 1e-3 ? 1e6 : 0); /* crowded, with outliers */
    }
}

static void check_large(int kind, bool weighted)
{
    enum { ROWS = 40000 };
    row *rows = test_malloc(ROWS * sizeof *rows);
    double *score = test_malloc(ROWS * sizeof *score), *weight = test_malloc(ROWS * sizeof *weight);
    uint8_t *role = test_malloc(ROWS);
    mel_rng rng;
    mel_rng_seed_stream(&rng, 9, (uint64_t)kind);
    double total = 0, positives = 0;
    for (size_t i = 0; i < ROWS; i++) {
        score[i] = draw_score(&rng, kind);
        const double u = mel_rng_uniform(&rng);
        role[i] = mel_rng_uniform(&rng) < 0.1                         ? MEL_ROW_OTHER
                  : u < (i % 2 == 0 ? 1 / (1 + exp(-score[i])) : 0.3) ? MEL_ROW_POSITIVE
                                                                      : MEL_ROW_NEGATIVE;
        weight[i] = (double)mel_rng_below(&rng, 5);
        rows[i] = (row){ score[i], role[i], weighted ? weight[i] : 1.0 };
        total += rows[i].weight;
        positives += role[i] == MEL_ROW_POSITIVE ? rows[i].weight : 0.0;
    }
    mel_face *face = NULL;
    assert_ok(mel_face_from_scores(&face, ROWS, score, role, weighted ? weight : NULL, NULL), NULL);
    qsort(rows, ROWS, sizeof *rows, compare_rows);
    enum { DIRECTIONS = 24 };
    double best[DIRECTIONS], tp = positives, tn = 0;
    for (int k = 0; k < DIRECTIONS; k++)
        best[k] = -INFINITY;
    for (size_t i = 0; i <= ROWS; i++) {
        if (i == 0 || i == ROWS || rows[i].score > rows[i - 1].score) {
            const mel_point got =
                mel_face_rule(face, (mel_rule){ i < ROWS ? rows[i].score : INFINITY, false });
            const mel_point back = reflected(face, got);
            assert_true(got.tp == tp / total && got.tn == tn / total); /* whole numbers: exact */
            for (int k = 0; k < DIRECTIONS; k++) {
                const double m11 = cos(2 * pi * k / DIRECTIONS), m00 = sin(2 * pi * k / DIRECTIONS);
                best[k] = fmax(best[k], fmax(value(m11, m00, got), value(m11, m00, back)));
            }
        }
        if (i < ROWS && rows[i].role == MEL_ROW_POSITIVE)
            tp -= rows[i].weight;
        if (i < ROWS && rows[i].role == MEL_ROW_NEGATIVE)
            tn += rows[i].weight;
    }
    for (int k = 0; k < DIRECTIONS; k++) {
        mel_point got;
        const double m11 = cos(2 * pi * k / DIRECTIONS), m00 = sin(2 * pi * k / DIRECTIONS);
        assert_ok(mel_face_support(&got, face, m11, m00, NULL), NULL);
        assert_close(value(m11, m00, got), best[k], 1e-14);
    }
    mel_face_free(face);
    test_free(rows);
    test_free(score);
    test_free(weight);
    test_free(role);
}

static void test_large_samples(void **state)
{
    (void)state;
    for (int kind = 0; kind < 8; kind++)
        for (int weighted = 0; weighted < 2; weighted++)
            check_large(kind, weighted == 1);
}

/* Wrong rows of large samples are found wherever they are. */
static void test_wrong_rows_of_large_samples(void **state)
{
    (void)state;
    enum { ROWS = 70000 };
    double *score = test_calloc(ROWS, sizeof *score);
    uint8_t *role = test_calloc(ROWS, 1);
    static const size_t places[] = { 0, 1, 32767, 32768, 50001, ROWS - 1 };
    for (size_t i = 0; i < ROWS; i++) {
        score[i] = (double)(i * 7919 % 10007);
        role[i] = i % 2;
    }
    for (size_t k = 0; k < COUNT(places); k++) {
        static const double wrong[] = { NAN, INFINITY, -INFINITY };
        const double kept = score[places[k]];
        for (size_t j = 0; j < COUNT(wrong); j++) {
            mel_face *face = NULL;
            mel_error err = { 0 };
            char want[64];
            score[places[k]] = wrong[j];
            assert_int_equal(mel_face_from_scores(&face, ROWS, score, role, NULL, &err), MEL_EDATA);
            (void)snprintf(want, sizeof want, "score[%zu] is %g,", places[k], wrong[j]);
            assert_memory_equal(err.text, want, strlen(want));
        }
        score[places[k]] = kept;
    }
    test_free(score);
    test_free(role);
}

static void test_populations(void **state)
{
    (void)state;
    static const double ab[][2] = { { 5, 0 },    { -3, 1 },     { 0.2, -2 }, { 30, 10 },
                                    { 100, 0 },  { 1e5, -1e4 }, { 4, 14 },   { 1e-6, 1 },
                                    { 60, -58 }, { 2, -9 },     { 1e-13, 0 } };
    for (size_t i = 0; i < COUNT(ab); i++) {
        mel_face *face = NULL;
        mel_rng rng;
        mel_rng_seed(&rng, i);
        assert_ok(mel_face_from_logistic(&face, ab[i][0], ab[i][1], NULL), NULL);
        const size_t n = mel_face_vertices(face);
        print_message("  %g, %g: %zu vertices, area %.12f\n", ab[i][0], ab[i][1], n, mel_face_area(face));
        assert_true(n >= 2 && n <= 200000);
        for (size_t k = 0; k < n; k += 1 + n / 500) {
            const mel_point v = mel_face_vertex(face, k);
            assert_true(mel_face_contains(face, v, 1e-15));
            assert_true(turn(v, mel_face_vertex(face, (k + 1) % n), mel_face_vertex(face, (k + 2) % n)) >
                        -1e-16);
        }
        for (int k = 0; k < 300; k++) {
            const double even =
                2 * pi * mel_rng_uniform(&rng); /* angles of all sizes, next to the axes too */
            const double angle = k % 2 == 0 ? even : atan(exp(30 * (2 * mel_rng_uniform(&rng) - 1)));
            const double m11 = cos(angle), m00 = sin(angle);
            mel_point p, q = mel_face_random(face, &rng), a, b;
            mel_mixture mix;
            mel_error err = { 0 };
            assert_ok(mel_face_support(&p, face, m11, m00, NULL), NULL);
            double polygon = -INFINITY;
            for (size_t j = 0; k < 30 && j < n; j++)
                polygon = fmax(polygon, value(m11, m00, mel_face_vertex(face, j)));
            if (k < 30)
                assert_close(value(m11, m00, p), polygon, 1e-15);
            assert_true(mel_face_contains(face, p, 1e-14));
            assert_false(
                mel_face_contains(face, (mel_point){ p.tp + 1e-11 * m11, p.tn + 1e-11 * m00 }, 0.9e-11));
            assert_true(apart(mel_face_closest(face, (mel_point){ p.tp + 0.1 * m11, p.tn + 0.1 * m00 }), p) <
                        1e-7);
            assert_ok(mel_face_achieve(&mix, face, p, &err), &err);
            assert_true(apart(mel_face_mixture(face, &mix), p) <= 1e-11);
            /* A little inside. */
            const mel_point under = { p.tp - 1e-10 * m11, p.tn - 1e-10 * m00 };
            if (mel_face_contains(face, under, 0.0)) {
                assert_ok(mel_face_achieve(&mix, face, under, &err), &err);
                assert_true(apart(mel_face_mixture(face, &mix), under) <= 1e-11);
            }
            assert_true(mel_face_contains(face, q, 1e-15));
            assert_ok(mel_face_achieve(&mix, face, q, &err), &err);
            assert_true(apart(mel_face_mixture(face, &mix), q) <= rounding);
            if (mel_face_chord(&a, &b, face, m11, m00))
                assert_true(mel_face_contains(face, a, 1e-14) && mel_face_contains(face, b, 1e-14));
        }
        mel_face_free(face);
    }
}

/* A boundary rule is one rule, wherever thresholds can tell scores apart. */
static void test_population_boundary_is_one_rule(void **state)
{
    (void)state;
    mel_face *face = NULL;
    mel_rng rng;
    mel_rng_seed(&rng, 4);
    assert_ok(mel_face_from_logistic(&face, 5, -1, NULL), NULL);
    for (int k = 0; k < 500; k++) {
        const double angle = 2 * pi * mel_rng_uniform(&rng);
        mel_point p;
        mel_mixture mix;
        assert_ok(mel_face_support(&p, face, cos(angle), sin(angle), NULL), NULL);
        assert_ok(mel_face_achieve(&mix, face, p, NULL), NULL);
        assert_int_equal(mix.n, 1);
    }
    mel_face_free(face);
}

static void test_samples_approach_their_population(void **state)
{
    (void)state;
    enum { ROWS = 200000, THRESHOLDS = 1001 };
    static const double ab[][2] = { { 5, 0 }, { 2, 1 }, { 12, -4 } };
    double *score = test_malloc(ROWS * sizeof *score), threshold[THRESHOLDS];
    double tp[2][THRESHOLDS], tn[2][THRESHOLDS];
    uint8_t *role = test_malloc(ROWS);
    for (size_t i = 0; i < THRESHOLDS; i++)
        threshold[i] = (double)i / (THRESHOLDS - 1);
    for (size_t k = 0; k < COUNT(ab); k++) {
        mel_rng rng;
        mel_rng_seed(&rng, k);
        for (size_t i = 0; i < ROWS; i++) {
            score[i] = 1 / (1 + exp(ab[k][0] * (2 * mel_rng_uniform(&rng) - 1) + ab[k][1]));
            role[i] = mel_rng_uniform(&rng) < score[i];
        }
        mel_face *sample = NULL, *population = NULL, *smooth = NULL;
        double a = 0, b = 0;
        assert_ok(mel_face_from_scores(&sample, ROWS, score, role, NULL, NULL), NULL);
        assert_ok(mel_face_from_logistic(&population, ab[k][0], ab[k][1], NULL), NULL);
        assert_ok(mel_face_smooth(&smooth, &a, &b, sample, NULL), NULL);
        mel_face_sweep(sample, THRESHOLDS, threshold, tp[0], tn[0]);
        mel_face_sweep(population, THRESHOLDS, threshold, tp[1], tn[1]);
        for (size_t i = 0; i < THRESHOLDS; i++) { /* exceeded with probability 2 exp(-2 n d^2) = 1e-4 */
            assert_close(tp[0][i], tp[1][i], 0.005);
            assert_close(tn[0][i], tn[1][i], 0.005);
        }
        for (int step = 0; step < 628; step++) {
            const double angle = step / 100.0;
            mel_point p, q, r;
            assert_ok(mel_face_support(&p, sample, cos(angle), sin(angle), NULL), NULL);
            assert_ok(mel_face_support(&q, population, cos(angle), sin(angle), NULL), NULL);
            assert_ok(mel_face_support(&r, smooth, cos(angle), sin(angle), NULL), NULL);
            assert_close(value(cos(angle), sin(angle), p), value(cos(angle), sin(angle), q), 0.005);
            assert_true(value(cos(angle), sin(angle), r) <= value(cos(angle), sin(angle), p) + rounding);
        }
        print_message("  %g, %g: smoothed %.4f, %.4f, %zu of %zu vertices\n", ab[k][0], ab[k][1], a, b,
                      mel_face_vertices(smooth), mel_face_vertices(sample));
        assert_close(a, ab[k][0], 0.02 * ab[k][0]);
        assert_close(b, ab[k][1], 0.02 * ab[k][0]);
        mel_face_free(sample);
        mel_face_free(population);
        mel_face_free(smooth);
    }
    test_free(score);
    test_free(role);
}

/* Smoothed faces stay achievable on the rows, however wrong the scores are. */
static void test_smoothed_points_are_achievable(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        mel_rng rng;
        mel_rng_seed(&rng, seed);
        problem p = { 0 };
        make_problem(&p, &rng);
        mel_face_free(p.face);
        for (size_t i = 0; i < p.n; i++)
            p.score[i] = 1 / (1 + exp(-p.score[i]));
        assert_ok(mel_face_from_scores(&p.face, p.n, p.score, p.role, p.weighted ? p.weight : NULL, NULL),
                  NULL);
        mel_face *smooth = NULL;
        mel_error err = { 0 };
        assert_ok(mel_face_smooth(&smooth, NULL, NULL, p.face, &err), &err);
        assert_true(mel_face_area(smooth) <= mel_face_area(p.face) + rounding);
        const size_t n = mel_face_vertices(smooth);
        for (int k = 0; k < 100; k++) {
            const mel_point q = k % 2 == 0 ? mel_face_vertex(smooth, (size_t)mel_rng_below(&rng, n))
                                           : mel_face_random(smooth, &rng);
            mel_mixture mix;
            assert_true(mel_face_contains(p.face, q, rounding));
            assert_true(mel_face_contains(smooth, q, rounding));
            assert_ok(mel_face_achieve(&mix, smooth, q, &err), &err);
            assert_true(apart(count_mixture(&p, &mix), q) <= rounding);
        }
        mel_face_free(smooth);
        mel_face_free(p.face);
    }
}

/* What two faces with the same shares have in common, against membership in both. */
static void test_intersections(void **state)
{
    (void)state;
    enum { ROWS = 40, POSITIVES = 15 };
    for (uint64_t seed = 0; seed < 300; seed++) {
        mel_rng rng;
        mel_rng_seed(&rng, seed);
        mel_face *face[2];
        for (int k = 0; k < 2; k++) {
            double score[ROWS];
            uint8_t role[ROWS];
            const double pull = mel_rng_normal(&rng), spread = exp(mel_rng_normal(&rng));
            for (size_t i = 0; i < ROWS; i++) {
                role[i] = i < POSITIVES;
                score[i] = role[i] == 1 ? pull + spread * mel_rng_normal(&rng) : mel_rng_normal(&rng);
            }
            assert_ok(mel_face_from_scores(&face[k], ROWS, score, role, NULL, NULL), NULL);
        }
        mel_upper_boundary cut;
        assert_ok(mel_boundary_cut(&cut, face[0]->boundary, face[1]->boundary, NULL), NULL);
        for (size_t i = 0; i <= cut.n_edges; i++)
            assert_true(mel_face_contains(face[0], cut.vertex[i], rounding) &&
                        mel_face_contains(face[1], cut.vertex[i], rounding));
        for (int i = 0; i < 200; i++) {
            const mel_point q = mel_face_random(face[i % 2], &rng),
                            near = mel_face_closest(face[1 - i % 2], q);
            const bool both = apart(q, near) == 0.0;
            assert_int_equal(apart(q, mel_boundary_closest(&cut, q)) <= rounding,
                             both || apart(q, near) <= rounding);
            /* Corners of the intersection that are corners of neither are crossings. */
            const double angle = 2 * pi * mel_rng_uniform(&rng);
            mel_point d = { cos(angle), sin(angle) }, a, b;
            double low, high, from = -INFINITY, to = INFINITY;
            const mel_point centre = mel_face_centre(face[0]);
            for (int k = 0; k < 2; k++) {
                assert_true(mel_face_vertices(face[k]) == 2 || clip(face[k], centre, d, &low, &high));
                from = fmax(from, low);
                to = fmin(to, high);
            }
            if (mel_face_vertices(face[0]) > 2 && mel_face_vertices(face[1]) > 2 &&
                mel_boundary_chord(&a, &b, &cut, centre, d))
                assert_close(apart(a, b), to - from, 1e-9);
        }
        mel_boundary_free(&cut);
        mel_face_free(face[0]);
        mel_face_free(face[1]);
    }
}

static double softplus(double x)
{
    return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

/* The sum of squares that smoothing minimises, at every so many thresholds. */
static double misfit(const double *tp, const double *tn, double a, double b, size_t step)
{
    double sum = 0.0;
    for (size_t i = 0; i <= 10000; i += step) {
        const double t = (double)i / 10000, logit = log1p(-t) - log(t); /* a cut + b, on [-a, a] + b */
        const double u = fmax(b - a, fmin(b + a, logit));
        sum += pow((softplus(a - b) - softplus(-u)) / (2 * a) - tp[i], 2) +
               pow((softplus(a + b) - softplus(u)) / (2 * a) - tn[i], 2);
    }
    return sum;
}

static void test_smoothing_is_least_squares(void **state)
{
    (void)state;
    enum { ROWS = 300 };
    static double threshold[10001], tp[10001], tn[10001];
    for (size_t i = 0; i <= 10000; i++)
        threshold[i] = (double)i / 10000;
    for (uint64_t seed = 0; seed < 6; seed++) {
        double score[ROWS];
        uint8_t role[ROWS];
        mel_rng rng;
        mel_rng_seed(&rng, seed);
        const double slope = 1 + 2 * (double)seed, offset = mel_rng_normal(&rng);
        for (size_t i = 0; i < ROWS; i++) {
            const double z = slope * mel_rng_normal(&rng) + offset;
            score[i] = 1 / (1 + exp(-z * (seed % 2 == 0 ? 1 : 2))); /* half of the models are overconfident */
            role[i] = mel_rng_uniform(&rng) < 1 / (1 + exp(-z));
        }
        mel_face *sample = NULL, *smooth = NULL;
        double a = 0, b = 0;
        assert_ok(mel_face_from_scores(&sample, ROWS, score, role, NULL, NULL), NULL);
        assert_ok(mel_face_smooth(&smooth, &a, &b, sample, NULL), NULL);
        mel_face_sweep(sample, 10001, threshold, tp, tn);
        const double coarse = misfit(tp, tn, a, b, 50), fine = misfit(tp, tn, a, b, 1);
        print_message("  a %.6f, b %.6f, misfit %.6f\n", a, b, fine);
        for (int la = -5; la <= 15; la++) /* nothing better anywhere, */
            for (int c = -14; c <= 14; c++)
                assert_true(misfit(tp, tn, exp(0.4 * la), 0.1 * c * exp(0.4 * la), 50) >= 0.999 * coarse);
        for (int k = 0; k < 40; k++) { /* nor nearby, at any distance */
            const double angle = 2 * pi * k / 8, size = pow(10, (double)(-2 - (k >> 3)));
            assert_true(misfit(tp, tn, a * (1 + size * cos(angle)), b + a * size * sin(angle), 1) >=
                        (1 - 1e-9) * fine);
        }
        mel_face_free(sample);
        mel_face_free(smooth);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules_are_counts),
        cmocka_unit_test(test_vertices_are_rules),
        cmocka_unit_test(test_supports_are_best),
        cmocka_unit_test(test_mixtures_achieve),
        cmocka_unit_test(test_closest_is_nearest),
        cmocka_unit_test(test_chords_are_clips),
        cmocka_unit_test(test_longest_chord),
        cmocka_unit_test(test_sweeps_are_rules),
        cmocka_unit_test(test_random_points_are_uniform),
        cmocka_unit_test(test_large_samples),
        cmocka_unit_test(test_wrong_rows_of_large_samples),
        cmocka_unit_test(test_populations),
        cmocka_unit_test(test_population_boundary_is_one_rule),
        cmocka_unit_test(test_samples_approach_their_population),
        cmocka_unit_test(test_smoothed_points_are_achievable),
        cmocka_unit_test(test_intersections),
        cmocka_unit_test(test_smoothing_is_least_squares),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
