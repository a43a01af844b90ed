/* Faces of two classes: hulls, best points, rules, chords, populations in closed form, smoothing. */
#include "support/test.h"

#include "base/stat.h"
#include "space/face.h"
#include "space/shared.h"

#include <float.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { N = MEL_ROW_NEGATIVE, P = MEL_ROW_POSITIVE, O = MEL_ROW_OTHER };

static mel_face *sample(size_t n, const double *score, const uint8_t *role, const double *weight)
{
    mel_face *face = NULL;
    mel_error err = { 0 };
    assert_ok(mel_face_from_scores(&face, n, score, role, weight, &err), &err);
    return face;
}

static mel_face *population(double a, double b)
{
    mel_face *face = NULL;
    mel_error err = { 0 };
    assert_ok(mel_face_from_logistic(&face, a, b, &err), &err);
    return face;
}

#define assert_point(point, want_tp, want_tn, tolerance)                                                     \
    do {                                                                                                     \
        const mel_point got_ = (point);                                                                      \
        assert_close(got_.tp, want_tp, tolerance);                                                           \
        assert_close(got_.tn, want_tn, tolerance);                                                           \
    } while (0)

/* Scores 0.9 and 0.7 positive, 0.8 and 0.1 negative: the smallest face with a slanted edge. */
static mel_face *slanted(void)
{
    return sample(4, (const double[]){ 0.1, 0.9, 0.8, 0.7 }, (const uint8_t[]){ N, P, N, P }, NULL);
}

typedef struct {
    const char *name;
    size_t n;
    double score[8];
    uint8_t role[8];
    double weight[8]; /* all 0: without weights */
    size_t n_vertices;
    mel_point vertex[8];
    double area;
} hull_row;

static const hull_row hulls[] = {
    { "slanted",
      4,
      { 0.1, 0.9, 0.8, 0.7 },
      { N, P, N, P },
      { 0 },
      6,
      { { 0, 0.5 }, { 0, 0.25 }, { 0.25, 0 }, { 0.5, 0 }, { 0.5, 0.25 }, { 0.25, 0.5 } },
      0.1875 },
    { "two rows, right",
      2,
      { 1, 2 },
      { N, P },
      { 0 },
      4,
      { { 0, 0.5 }, { 0, 0 }, { 0.5, 0 }, { 0.5, 0.5 } },
      0.25 },
    { "two rows, wrong",
      2,
      { 1, 2 },
      { P, N },
      { 0 },
      4,
      { { 0, 0.5 }, { 0, 0 }, { 0.5, 0 }, { 0.5, 0.5 } },
      0.25 },
    { "two rows, equal", 2, { 1, 1 }, { P, N }, { 0 }, 2, { { 0, 0.5 }, { 0.5, 0 } }, 0 },
    { "constant", 5, { 3, 3, 3, 3, 3 }, { P, N, N, N, P }, { 0 }, 2, { { 0, 0.6 }, { 0.4, 0 } }, 0 },
    { "on a line, not constant",
      8,
      { 1, 1, 2, 2, 3, 3, 4, 4 },
      { P, N, N, P, P, N, N, P },
      { 0 },
      2,
      { { 0, 0.5 }, { 0.5, 0 } },
      0 },
    { "perfect",
      5,
      { 1, 2, 3, -4, -5 },
      { P, P, P, N, N },
      { 0 },
      4,
      { { 0, 0.4 }, { 0, 0 }, { 0.6, 0 }, { 0.6, 0.4 } },
      0.24 },
    { "upside down",
      5,
      { -1, -2, -3, 4, 5 },
      { P, P, P, N, N },
      { 0 },
      4,
      { { 0, 0.4 }, { 0, 0 }, { 0.6, 0 }, { 0.6, 0.4 } },
      0.24 },
    { "negative zero is zero", 2, { 0.0, -0.0 }, { P, N }, { 0 }, 2, { { 0, 0.5 }, { 0.5, 0 } }, 0 },
    { "denormal and largest",
      4,
      { DBL_MAX, -DBL_MAX, 5e-324, -5e-324 },
      { P, N, P, N },
      { 0 },
      4,
      { { 0, 0.5 }, { 0, 0 }, { 0.5, 0 }, { 0.5, 0.5 } },
      0.25 },
    { "other rows",
      6,
      { 0.1, 0.5, 0.9, 0.8, 0.7, 0.95 },
      { N, O, P, N, P, O },
      { 0 },
      6,
      { { 0, 1.0 / 3 },
        { 0, 1.0 / 6 },
        { 1.0 / 6, 0 },
        { 1.0 / 3, 0 },
        { 1.0 / 3, 1.0 / 6 },
        { 1.0 / 6, 1.0 / 3 } },
      1.0 / 12 },
    { "equal weights",
      4,
      { 0.1, 0.9, 0.8, 0.7 },
      { N, P, N, P },
      { 0.1, 0.1, 0.1, 0.1 },
      6,
      { { 0, 0.5 }, { 0, 0.25 }, { 0.25, 0 }, { 0.5, 0 }, { 0.5, 0.25 }, { 0.25, 0.5 } },
      0.1875 },
    { "tiny weights",
      4,
      { 0.1, 0.9, 0.8, 0.7 },
      { N, P, N, P },
      { 5e-324, 5e-324, 5e-324, 5e-324 },
      6,
      { { 0, 0.5 }, { 0, 0.25 }, { 0.25, 0 }, { 0.5, 0 }, { 0.5, 0.25 }, { 0.25, 0.5 } },
      0.1875 },
    { "huge weights",
      4,
      { 0.1, 0.9, 0.8, 0.7 },
      { N, P, N, P },
      { DBL_MAX, DBL_MAX, DBL_MAX, DBL_MAX },
      6,
      { { 0, 0.5 }, { 0, 0.25 }, { 0.25, 0 }, { 0.5, 0 }, { 0.5, 0.25 }, { 0.25, 0.5 } },
      0.1875 },
    { "weight 0 is no row",
      6,
      { 0.1, 0.9, 0.8, 0.7, 5, -5 },
      { N, P, N, P, N, P },
      { 1, 1, 1, 1, 0, 0 },
      6,
      { { 0, 0.5 }, { 0, 0.25 }, { 0.25, 0 }, { 0.5, 0 }, { 0.5, 0.25 }, { 0.25, 0.5 } },
      0.1875 },
    { "a weight far below the others",
      5,
      { 0.1, 0.9, 0.8, 0.7, 5 },
      { N, P, N, P, N },
      { 1, 1, 1, 1, 1e-30 },
      6,
      { { 0, 0.5 }, { 0, 0.25 }, { 0.25, 0 }, { 0.5, 0 }, { 0.5, 0.25 }, { 0.25, 0.5 } },
      0.1875 },
    { "three weights of a tenth on a line",
      6,
      { 1, 1, 2, 2, 3, 3 },
      { P, N, P, N, P, N },
      { 0.1, 0.1, 0.1, 0.1, 0.1, 0.1 },
      2,
      { { 0, 0.5 }, { 0.5, 0 } },
      0 },
    { "weighted",
      4,
      { 0.1, 0.9, 0.8, 0.7 },
      { N, P, N, P },
      { 3, 1, 2, 2 },
      6,
      { { 0, 0.625 }, { 0, 0.25 }, { 0.25, 0 }, { 0.375, 0 }, { 0.375, 0.375 }, { 0.125, 0.625 } },
      0.171875 },
};

static void test_hulls(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(hulls); i++) {
        const hull_row *row = &hulls[i];
        print_message("  %s\n", row->name);
        double sum = 0.0;
        for (size_t k = 0; k < row->n; k++)
            sum += row->weight[k] > 0.0;
        mel_face *face = sample(row->n, row->score, row->role, sum > 0.0 ? row->weight : NULL);
        assert_int_equal(mel_face_vertices(face), row->n_vertices);
        double twice = 0.0;
        for (size_t k = 0; k < row->n_vertices; k++) {
            const mel_point v = mel_face_vertex(face, k),
                            w = mel_face_vertex(face, (k + 1) % row->n_vertices);
            assert_point(v, row->vertex[k].tp, row->vertex[k].tn, 1e-16);
            twice += v.tp * w.tn - v.tn * w.tp;
        }
        assert_close(mel_face_area(face), twice / 2, 1e-15);
        assert_close(mel_face_area(face), row->area, 1e-15);
        const mel_point first = mel_face_vertex(face, 0), half = mel_face_vertex(face, row->n_vertices / 2);
        assert_point(half, mel_face_positives(face), 0.0, 0.0);
        assert_point(first, 0.0, mel_face_negatives(face), 0.0);
        assert_point(mel_face_centre(face), half.tp / 2, first.tn / 2, 0.0);
        mel_face_free(face);
    }
}

static void test_refused_rows(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t n;
        double score[4];
        uint8_t role[4];
        bool weighted;
        double weight[4];
        const char *says;
    } rows[] = {
        { "no rows", 0, { 0 }, { 0 }, false, { 0 }, "no rows" },
        { "NaN score", 3, { 1, NAN, 2 }, { P, N, P }, false, { 0 }, "score[1] is nan" },
        { "infinite score", 3, { 1, 2, -INFINITY }, { P, N, P }, false, { 0 }, "score[2] is -inf" },
        { "infinite score of an other row",
          3,
          { 1, 2, INFINITY },
          { P, N, O },
          false,
          { 0 },
          "score[2] is inf" },
        { "unknown role", 3, { 1, 2, 3 }, { P, 3, N }, false, { 0 }, "role[1] is 3" },
        { "last role", 3, { 1, 2, 3 }, { P, N, 255 }, false, { 0 }, "role[2] is 255" },
        { "negative weight", 3, { 1, 2, 3 }, { P, N, N }, true, { 1, 2, -1e-9 }, "weight[2] is -1e-09" },
        { "NaN weight", 3, { 1, 2, 3 }, { P, N, N }, true, { NAN, 2, 1 }, "weight[0] is nan" },
        { "infinite weight", 3, { 1, 2, 3 }, { P, N, N }, true, { 1, INFINITY, 1 }, "weight[1] is inf" },
        { "the first of several",
          4,
          { 1, 2, NAN, 3 },
          { P, N, 9, 7 },
          true,
          { 1, 1, 1, -1 },
          "score[2] is nan" },
        { "no positives", 3, { 1, 2, 3 }, { N, O, N }, false, { 0 }, "no positive rows" },
        { "no negatives", 3, { 1, 2, 3 }, { P, O, P }, false, { 0 }, "no negative rows" },
        { "only others", 2, { 1, 2 }, { O, O }, false, { 0 }, "rows" },
        { "positives of weight 0",
          3,
          { 1, 2, 3 },
          { P, N, N },
          true,
          { 0, 1, 1 },
          "no positive rows of a weight" },
        { "negatives that weigh nothing",
          3,
          { 1, 2, 3 },
          { P, N, N },
          true,
          { 1, 1e-40, 0 },
          "no negative rows" },
        { "no weight at all", 3, { 1, 2, 3 }, { P, N, N }, true, { 0, 0, 0 }, "all 3 weights are 0" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_face *face = (mel_face *)&rows;
        mel_error err = { 0 };
        const double *weight = rows[i].weighted ? rows[i].weight : NULL;
        print_message("  %s\n", rows[i].name);
        assert_int_equal(mel_face_from_scores(&face, rows[i].n, rows[i].score, rows[i].role, weight, &err),
                         MEL_EDATA);
        assert_null(face);
        if (strstr(err.text, rows[i].says) == NULL)
            fail_msg("\"%s\" does not say \"%s\"", err.text, rows[i].says);
        assert_int_equal(mel_face_from_scores(&face, rows[i].n, rows[i].score, rows[i].role, weight, NULL),
                         MEL_EDATA);
    }
    mel_face_free(NULL);
}

/* The same face as from the second column, and rows that are no probabilities are refused by their number. */
static void test_probabilities(void **state)
{
    (void)state;
    enum { ROWS = 300 };
    static double p[2 * ROWS], score[ROWS];
    static uint8_t role[ROWS];
    mel_rng rng;
    mel_error err = { 0 };
    mel_face *face = NULL;
    mel_rng_seed(&rng, 3);
    for (size_t i = 0; i < ROWS; i++) {
        p[2 * i + 1] = score[i] = mel_rng_uniform(&rng);
        p[2 * i] = 1.0 - score[i];
        role[i] = mel_rng_uniform(&rng) < score[i] ? P : N;
    }
    mel_face *same = sample(ROWS, score, role, NULL);
    assert_ok(mel_face_from_probabilities(&face, ROWS, p, role, NULL, &err), &err);
    assert_int_equal(mel_face_vertices(face), mel_face_vertices(same));
    for (size_t i = 0; i < mel_face_vertices(face); i++)
        assert_point(mel_face_vertex(face, i), mel_face_vertex(same, i).tp, mel_face_vertex(same, i).tn, 0.0);
    mel_face_free(face);
    mel_face_free(same);
    static const double wrong[][2] = {
        { 0.5, 0.502 }, { -0.2, 1.2 }, { 1.2, -0.2 }, { NAN, 0.5 }, { 0.0, INFINITY }
    };
    for (size_t i = 0; i < COUNT(wrong); i++) {
        p[14] = wrong[i][0];
        p[15] = wrong[i][1];
        assert_int_equal(mel_face_from_probabilities(&face, ROWS, p, role, NULL, &err), MEL_EDATA);
        assert_null(face);
        assert_non_null(strstr(err.text, "row 8: "));
    }
}

static void test_support(void **state)
{
    (void)state;
    static const struct {
        double m11, m00, tp, tn;
    } rows[] = {
        { 1, 1, 0.375, 0.375 },
        { 1e-300, 1e-300, 0.375, 0.375 },
        { 1e308, 1e308, 0.375, 0.375 },
        { 0.6, 0.4, 0.5, 0.25 },
        { 0.4, 0.6, 0.25, 0.5 },
        { 1, 0, 0.5, 0.125 },
        { 0, 1, 0.125, 0.5 },
        { 1, -1, 0.5, 0 },
        { -1, 1, 0, 0.5 },
        { -1, -1, 0.125, 0.125 },
        { -0.6, -0.4, 0, 0.25 },
        { -1, 0, 0, 0.375 },
        { -1, -0.0, 0, 0.375 },
        { 0, -2, 0.375, 0 },
        { 1, 1e-300, 0.5, 0.25 },
        { 1, -1e-300, 0.5, 0 },
        { 1e-300, -1e300, 0.5, 0 },
        { 0.70710678118654757, 0.70710678118654746, 0.375, 0.375 },
    };
    mel_face *face = slanted();
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_point p = { NAN, NAN };
        mel_rule rule = { NAN, false };
        assert_ok(mel_face_support(&p, face, rows[i].m11, rows[i].m00, NULL), NULL);
        assert_point(p, rows[i].tp, rows[i].tn, 1e-16);
        assert_ok(mel_face_support_rule(&rule, face, rows[i].m11, rows[i].m00, NULL), NULL);
        const mel_point by_rule = mel_face_rule(face, rule);
        const double size = fmax(fabs(rows[i].m11), fabs(rows[i].m00));
        const double x = rows[i].m11 / size, y = rows[i].m00 / size;
        assert_close(x * by_rule.tp + y * by_rule.tn, x * p.tp + y * p.tn, 1e-15);
    }
    static const double wrong[][2] = { { 0, 0 },   { -0.0, 0 },     { NAN, 1 },
                                       { 1, NAN }, { INFINITY, 1 }, { 0, -INFINITY } };
    for (size_t i = 0; i < COUNT(wrong); i++) {
        mel_point p = { 7, 7 };
        mel_rule rule = { 7, false };
        mel_error err = { 0 };
        assert_int_equal(mel_face_support(&p, face, wrong[i][0], wrong[i][1], &err), MEL_EINVAL);
        assert_non_null(strstr(err.text, "is no direction"));
        assert_int_equal(mel_face_support_rule(&rule, face, wrong[i][0], wrong[i][1], NULL), MEL_EINVAL);
        assert_point(p, 7, 7, 0);
        assert_close(rule.threshold, 7, 0);
    }
    mel_face_free(face);
}

static void test_support_of_a_segment(void **state)
{
    (void)state;
    mel_face *face = sample(5, (const double[]){ 3, 3, 3, 3, 3 }, (const uint8_t[]){ P, N, N, N, P }, NULL);
    mel_face *flat = population(0.0, log(1.5)); /* the same segment */
    const struct {
        double m11, m00, tp, tn;
    } rows[] = { { 3, 2, 0.2, 0.3 }, { -3, -2, 0.2, 0.3 }, { 3.01, 2, 0.4, 0 }, { 3, 2.01, 0, 0.6 },
                 { 1, 0, 0.4, 0 },   { 0, 1, 0, 0.6 },     { 1, -1, 0.4, 0 },   { -1, 1, 0, 0.6 },
                 { -1, -1, 0.4, 0 }, { -2, -1, 0, 0.6 } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_point p, q;
        assert_ok(mel_face_support(&p, face, rows[i].m11, rows[i].m00, NULL), NULL);
        assert_ok(mel_face_support(&q, flat, rows[i].m11, rows[i].m00, NULL), NULL);
        assert_point(p, rows[i].tp, rows[i].tn, 1e-15);
        if (i >= 2) /* weights of its rows are rounded: no tie */
            assert_point(q, rows[i].tp, rows[i].tn, 1e-12);
    }
    mel_face_free(face);
    mel_face_free(flat);
}

static void test_rules(void **state)
{
    (void)state;
    static const struct {
        double threshold, tp, tn;
    } rows[] = {
        { -INFINITY, 0.5, 0 }, { -1, 0.5, 0 },       { 0.1, 0.5, 0 },      { 0.10000000000000002, 0.5, 0.25 },
        { 0.7, 0.5, 0.25 },    { 0.75, 0.25, 0.25 }, { 0.8, 0.25, 0.25 },  { 0.85, 0.25, 0.5 },
        { 0.9, 0.25, 0.5 },    { 0.91, 0, 0.5 },     { INFINITY, 0, 0.5 }, { NAN, 0, 0.5 },
    };
    mel_face *face = slanted();
    double threshold[COUNT(rows)], tp[COUNT(rows)], tn[COUNT(rows)];
    for (size_t i = 0; i < COUNT(rows); i++) {
        threshold[i] = rows[i].threshold;
        assert_point(mel_face_rule(face, (mel_rule){ rows[i].threshold, false }), rows[i].tp, rows[i].tn, 0);
        assert_point(mel_face_rule(face, (mel_rule){ rows[i].threshold, true }), 0.5 - rows[i].tp,
                     0.5 - rows[i].tn, 0);
    }
    mel_face_sweep(face, COUNT(rows), threshold, tp, tn);
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_point(((mel_point){ tp[i], tn[i] }), rows[i].tp, rows[i].tn, 0);
    for (size_t i = 0; i < COUNT(rows); i++) /* not the order asked for: slower, not wrong */
        threshold[i] = rows[COUNT(rows) - 1 - i].threshold;
    mel_face_sweep(face, COUNT(rows), threshold, tp, tn);
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_close(tp[i], rows[COUNT(rows) - 1 - i].tp, 0);
    mel_face_sweep(face, 0, NULL, NULL, NULL);
    mel_face_free(face);
}

static void test_plug_in(void **state)
{
    (void)state;
    static const struct {
        double m11, m00, threshold;
        bool inverted;
    } rows[] = {
        { 1, 1, 0.5, false },       { 3, 1, 0.25, false }, { 1, 0, 0, false },
        { 0, 1, 1, false },         { -1, -1, 0.5, true }, { -3, -1, 0.25, true },
        { -1, 0, 0, true },         { 0, -1, 1, true },    { 1, -1, -INFINITY, false },
        { -1, 2, INFINITY, false }, { 0, 0, 0.5, false },  { 1e308, 1e308, 0.5, false },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const mel_rule rule = mel_plug_in_rule(rows[i].m11, rows[i].m00);
        assert_close(rule.threshold, rows[i].threshold, 0);
        assert_int_equal(rule.inverted, rows[i].inverted);
    }
}

static void test_closest(void **state)
{
    (void)state;
    static const struct {
        mel_point p, closest;
    } rows[] = {
        { { 0.25, 0.25 }, { 0.25, 0.25 } }, { { 0.5, 0.5 }, { 0.375, 0.375 } },
        { { 0, 0 }, { 0.125, 0.125 } },     { { 9, 0.1 }, { 0.5, 0.1 } },
        { { 9, -9 }, { 0.5, 0 } },          { { -9, 9 }, { 0, 0.5 } },
        { { 0.1, 9 }, { 0.1, 0.5 } },       { { 0.6, 0.3 }, { 0.5, 0.25 } },
        { { 0.3, 0.6 }, { 0.25, 0.5 } },    { { -0.1, 0.2 }, { 0, 0.25 } },
        { { 0.2, -0.1 }, { 0.25, 0 } },     { { -3, 0.4 }, { 0, 0.4 } },
        { { 0.5, 0.25 }, { 0.5, 0.25 } },   { { 1e9, 1e9 + 1 }, { 0.25, 0.5 } },
    };
    mel_face *face = slanted();
    for (size_t i = 0; i < COUNT(rows); i++) {
        const mel_point c = mel_face_closest(face, rows[i].p);
        assert_point(c, rows[i].closest.tp, rows[i].closest.tn, 1e-15);
        const double distance = hypot(rows[i].p.tp - c.tp, rows[i].p.tn - c.tn);
        assert_true(mel_face_contains(face, rows[i].p, distance));
        assert_true(mel_face_contains(face, c, 1e-15));
        assert_int_equal(mel_face_contains(face, rows[i].p, 0.0), distance == 0.0);
        if (distance > 0.0)
            assert_false(mel_face_contains(face, rows[i].p, distance * (1 - 1e-9)));
    }
    static const mel_point none[] = { { NAN, 0 }, { 0.2, NAN }, { INFINITY, 0 }, { 0, -INFINITY } };
    for (size_t i = 0; i < COUNT(none); i++)
        assert_false(mel_face_contains(face, none[i], 1e300));
    mel_face_free(face);
}

static void test_achieve(void **state)
{
    (void)state;
    static const struct {
        mel_point p;
        size_t n;
    } rows[] = {
        { { 0, 0.5 }, 1 },    { { 0.5, 0 }, 1 },   { { 0.5, 0.25 }, 1 }, { { 0.25, 0.5 }, 1 },
        { { 0.25, 0 }, 1 },   { { 0, 0.25 }, 1 },  { { 0.5, 0.1 }, 2 },  { { 0.375, 0.375 }, 2 },
        { { 0.1, 0.5 }, 2 },  { { 0, 0.3 }, 2 },   { { 0.05, 0.2 }, 2 }, { { 0.3, 0 }, 2 },
        { { 0.26, 0.3 }, 3 }, { { 0.1, 0.2 }, 3 },
    };
    mel_face *face = slanted();
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_mixture mix = { 0 };
        mel_error err = { 0 };
        assert_ok(mel_face_achieve(&mix, face, rows[i].p, &err), &err);
        assert_int_equal(mix.n, rows[i].n);
        assert_point(mel_face_mixture(face, &mix), rows[i].p.tp, rows[i].p.tn, 1e-15);
        double sum = 0.0;
        for (size_t k = 0; k < mix.n; k++) {
            assert_true(mix.share[k] > 0.0 && (k == 0 || mix.share[k] <= mix.share[k - 1]));
            sum += mix.share[k];
        }
        assert_close(sum, 1.0, 1e-15);
    }
    mel_mixture mix = { .n = 9 };
    mel_error err = { 0 };
    assert_ok(mel_face_achieve(&mix, face, (mel_point){ 0.5 + 1e-10, 0.25 }, &err), &err);
    assert_int_equal(mix.n, 1);
    assert_int_equal(mel_face_achieve(&mix, face, (mel_point){ 0.5, 0.5 }, &err), MEL_EINVAL);
    assert_non_null(strstr(err.text, "TP 0.5, TN 0.5; the closest is TP 0.375, TN 0.375"));
    assert_int_equal(mel_face_achieve(&mix, face, (mel_point){ 0.5 + 1e-8, 0.25 }, &err), MEL_EINVAL);
    assert_int_equal(mel_face_achieve(&mix, face, (mel_point){ NAN, 0.25 }, &err), MEL_EINVAL);
    assert_non_null(strstr(err.text, "no point"));
    assert_int_equal(mel_face_achieve(&mix, face, (mel_point){ 0.2, INFINITY }, NULL), MEL_EINVAL);
    assert_int_equal(mix.n, 1);
    mel_face_free(face);
}

static void test_trivial_rules(void **state)
{
    (void)state;
    enum { N_FACES = 3 };
    mel_face *faces[N_FACES] = { slanted(), population(5, 1), population(0, 0) };
    for (size_t i = 0; i < N_FACES; i++) {
        mel_mixture mix = { 0 };
        assert_ok(mel_face_achieve(&mix, faces[i], mel_face_vertex(faces[i], 0), NULL), NULL);
        assert_int_equal(mix.n, 1);
        assert_close(mix.rule[0].threshold, INFINITY, 0);
        assert_false(mix.rule[0].inverted);
        assert_ok(mel_face_achieve(&mix, faces[i], mel_face_vertex(faces[i], mel_face_vertices(faces[i]) / 2),
                                   NULL),
                  NULL);
        assert_int_equal(mix.n, 1);
        assert_close(mix.rule[0].threshold, -INFINITY, 0);
        assert_false(mix.rule[0].inverted);
        mel_face_free(faces[i]);
    }
}

static void test_achieve_on_a_segment(void **state)
{
    (void)state;
    enum { N_FACES = 2 };
    mel_face *faces[N_FACES] = { sample(2, (const double[]){ 1, 1 }, (const uint8_t[]){ P, N }, NULL),
                                 population(0, 0) };
    for (size_t i = 0; i < N_FACES; i++) {
        static const double shares[] = { 0, 0.25, 0.5, 1 };
        for (size_t k = 0; k < COUNT(shares); k++) {
            mel_mixture mix = { 0 };
            const mel_point p = { 0.5 * shares[k], 0.5 * (1 - shares[k]) };
            assert_ok(mel_face_achieve(&mix, faces[i], p, NULL), NULL);
            assert_int_equal(mix.n, shares[k] > 0 && shares[k] < 1 ? 2 : 1);
            assert_point(mel_face_mixture(faces[i], &mix), p.tp, p.tn, 1e-16);
        }
        mel_mixture mix;
        assert_int_equal(mel_face_achieve(&mix, faces[i], (mel_point){ 0.25, 0.25 + 1e-8 }, NULL),
                         MEL_EINVAL);
        mel_face_free(faces[i]);
    }
}

static void test_chords(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        mel_point through;
        double dx, dy;
        bool want;
        mel_point a, b;
    } rows[] = {
        { "right", { 0.25, 0.25 }, 1, 0, true, { 0.5, 0.25 }, { 0, 0.25 } },
        { "left", { 0.25, 0.25 }, -2, 0, true, { 0, 0.25 }, { 0.5, 0.25 } },
        { "tiny", { 0.25, 0.25 }, 1e-300, 0, true, { 0.5, 0.25 }, { 0, 0.25 } },
        { "huge", { 0.25, 0.25 }, 1e308, 1e308, true, { 0.375, 0.375 }, { 0.125, 0.125 } },
        { "up", { 0.1, 0.3 }, 0, 3, true, { 0.1, 0.5 }, { 0.1, 0.15 } },
        { "along the slanted edge", { 0.375, 0.375 }, 1, -1, true, { 0.5, 0.25 }, { 0.25, 0.5 } },
        { "along the lower edge", { 0.125, 0.125 }, 1, -1, true, { 0.25, 0 }, { 0, 0.25 } },
        { "along the right side", { 0.5, 0.1 }, 0, 1, true, { 0.5, 0.25 }, { 0.5, 0 } },
        { "along the top", { 0.1, 0.5 }, 1, 0, true, { 0.25, 0.5 }, { 0, 0.5 } },
        { "touching a corner", { 0.5, 0.25 }, 1, -2, false, { 0.5, 0.25 }, { 0.5, 0.25 } },
        { "touching never", { 0, 0.5 }, 1, 1, false, { 0, 0.5 }, { 0, 0.5 } },
        { "from a corner", { 0.5, 0.25 }, 1, 1, true, { 0.5, 0.25 }, { 0.25, 0 } },
        { "through the closest", { 0.5, 0.5 }, 1, 1, true, { 0.375, 0.375 }, { 0.125, 0.125 } },
        { "no direction", { 0.25, 0.25 }, 0, 0, false, { 0.25, 0.25 }, { 0.25, 0.25 } },
        { "NaN", { 0.25, 0.25 }, NAN, 0, false, { 0.25, 0.25 }, { 0.25, 0.25 } },
        { "infinite", { 0.25, 0.25 }, INFINITY, 0, false, { 0.25, 0.25 }, { 0.25, 0.25 } },
    };
    mel_face *face = slanted();
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_point a, b;
        print_message("  %s\n", rows[i].name);
        assert_int_equal(mel_face_chord_at(&a, &b, face, rows[i].through, rows[i].dx, rows[i].dy),
                         rows[i].want);
        assert_point(a, rows[i].a.tp, rows[i].a.tn, 1e-15);
        assert_point(b, rows[i].b.tp, rows[i].b.tn, 1e-15);
    }
    mel_face_free(face);
}

static void test_chords_of_a_segment(void **state)
{
    (void)state;
    mel_face *face = sample(5, (const double[]){ 3, 3, 3, 3, 3 }, (const uint8_t[]){ P, N, N, N, P }, NULL);
    mel_point a, b;
    assert_true(mel_face_chord(&a, &b, face, 2, -3));
    assert_point(a, 0.4, 0, 1e-15);
    assert_point(b, 0, 0.6, 1e-15);
    assert_true(mel_face_chord(&a, &b, face, -0.4, 0.6));
    assert_point(a, 0, 0.6, 1e-15);
    assert_false(mel_face_chord(&a, &b, face, 1, 1));
    assert_point(a, 0.2, 0.3, 0);
    assert_point(b, 0.2, 0.3, 0);
    assert_false(mel_face_chord_at(&a, &b, face, (mel_point){ 9, 9 }, 1, 0));
    mel_face_free(face);
}

static void test_random_takes_three_numbers(void **state)
{
    (void)state;
    enum { N_FACES = 3 };
    mel_face *faces[N_FACES] = { slanted(), population(5, 1), population(0, 0) };
    for (size_t i = 0; i < N_FACES; i++) {
        mel_rng a, b;
        mel_rng_seed(&a, 5);
        b = a;
        (void)mel_face_random(faces[i], &a);
        for (int k = 0; k < 3; k++)
            (void)mel_rng_uniform(&b);
        assert_memory_equal(&a, &b, sizeof a);
        mel_face_free(faces[i]);
    }
}

/* Integral of f(x)/2 over [from, to] by composite Gauss-Legendre quadrature with 5 points. */
static double integral(double a, double b, bool positive, double from, double to)
{
    static const double node[] = { 0, 0.5384693101056831, 0.9061798459386640 };
    static const double share[] = { 0.5688888888888889, 0.4786286704993665, 0.2369268850561891 };
    enum { PIECES = 4000 };
    mel_sum sum = { 0 };
    for (int i = 0; i < PIECES; i++) {
        const double half = (to - from) / PIECES / 2, mid = from + (2 * i + 1) * half;
        for (int k = -2; k <= 2; k++) {
            const double x = mid + (k < 0 ? -1 : 1) * half * node[abs(k)], u = a * x + b;
            const double score = positive ? u : -u;
            mel_sum_add(&sum, share[abs(k)] * half / (1 + exp(score)) / 2);
        }
    }
    return mel_sum_value(&sum);
}

static const double accuracy = 2e-5; /* of points of a population: a grid of 1e5 cells */

static void test_logistic_against_quadrature(void **state)
{
    (void)state;
    static const double ab[][2] = { { 5, 0 },      { -5, 0 },  { 5, 2 },     { 0.3, -1 },
                                    { 1e-8, 0.5 }, { -20, 3 }, { 3, 12 },    { 10, -8 },
                                    { 0.01, -5 },  { 10, 11 }, { 1.5, 0.25 } };
    for (size_t i = 0; i < COUNT(ab); i++) {
        const double a = fabs(ab[i][0]), b = ab[i][1];
        mel_face *face = population(ab[i][0], b);
        for (int step = -8; step <= 8; step++) {
            const double cut = step * 0.125;
            const double tp = integral(a, b, true, -1, cut), tn = integral(a, b, false, cut, 1);
            const mel_rule rule = { 1 / (1 + exp(a * cut + b)), false };
            assert_point(mel_face_rule(face, rule), tp, tn, a < 1e-6 ? 1.0 : accuracy);
        }
        /* Relative: rare classes keep their digits. */
        const double positives = integral(a, b, true, -1, 1), negatives = integral(a, b, false, -1, 1);
        assert_close(mel_face_positives(face), positives, 1e-8 * positives);
        assert_close(mel_face_negatives(face), negatives, 1e-8 * negatives);
        mel_face_free(face);
    }
}

/* Where the arguments are too extreme for quadrature: the limits. */
static void test_logistic_limits(void **state)
{
    (void)state;
    mel_face *sharp = population(1e12, 0), *shifted = population(1e9, 5e8), *vast = population(1e299, 0);
    assert_point(mel_face_centre(sharp), 0.25, 0.25, 1e-12);
    assert_close(mel_face_area(sharp), 0.25, 1e-11);
    assert_close(mel_face_area(vast), 0.25, 1e-15);
    assert_close(mel_face_positives(shifted), 0.25, 1e-9);
    assert_point(mel_face_rule(shifted, (mel_rule){ 0.5, false }), 0.25, 0.75, 1e-8);
    mel_face_free(sharp);
    mel_face_free(shifted);
    mel_face_free(vast);
}

/* A rare class has a face of the same shape relative to its size. */
static void test_rare_classes_keep_their_shape(void **state)
{
    (void)state;
    static const double b[] = { 12, 18, -12, -18 };
    for (size_t i = 0; i < COUNT(b); i++) {
        mel_face *face = population(3, b[i]);
        assert_close(mel_face_area(face) / mel_face_positives(face) / mel_face_negatives(face), 0.67163649,
                     1e-4);
        mel_face_free(face);
    }
}

static void test_refused_populations(void **state)
{
    (void)state;
    static const struct {
        double a, b;
        const char *says;
    } rows[] = {
        { NAN, 0, "a=nan" },          { 0, NAN, "b=nan" },         { INFINITY, 0, "a=inf" },
        { 1, -INFINITY, "b=-inf" },   { 1e301, 0, "up to 1e300" }, { 1, 1000, "no positives" },
        { 1, -1000, "no negatives" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_face *face = (mel_face *)&rows;
        mel_error err = { 0 };
        assert_int_equal(mel_face_from_logistic(&face, rows[i].a, rows[i].b, &err), MEL_EINVAL);
        assert_null(face);
        assert_non_null(strstr(err.text, rows[i].says));
    }
}

/* On a population the plug-in rule is the best one (proposition 3.1). */
static void test_population_support(void **state)
{
    (void)state;
    static const double ab[][2] = { { 5, 0 }, { -3, 1 }, { 0.2, -2 }, { 30, 10 } };
    for (size_t i = 0; i < COUNT(ab); i++) {
        mel_face *face = population(ab[i][0], ab[i][1]);
        for (int k = 0; k < 64; k++) {
            const double angle = 2 * 3.14159265358979323846 * k / 64, m11 = cos(angle), m00 = sin(angle);
            mel_point p;
            mel_rule rule;
            assert_ok(mel_face_support(&p, face, m11, m00, NULL), NULL);
            const mel_point plug_in = mel_face_rule(face, mel_plug_in_rule(m11, m00));
            assert_close(m11 * p.tp + m00 * p.tn, m11 * plug_in.tp + m00 * plug_in.tn, 1e-9);
            if (k % 16 != 0) /* along an axis the rarest rows, whose weights are rounded to 0, make ties */
                assert_point(p, plug_in.tp, plug_in.tn, accuracy);
            assert_ok(mel_face_support_rule(&rule, face, m11, m00, NULL), NULL);
            const mel_point best = mel_face_rule(face, rule);
            assert_close(m11 * p.tp + m00 * p.tn, m11 * best.tp + m00 * best.tn, 1e-9);
        }
        mel_face_free(face);
    }
}

static void test_population_rules(void **state)
{
    (void)state;
    mel_face *face = population(5, 0);
    /* From the thesis: symmetric classes, accuracy at threshold 1/2. */
    assert_close(mel_face_positives(face), 0.5, 1e-12);
    const mel_point half = mel_face_rule(face, (mel_rule){ 0.5, false });
    assert_close(half.tp, (log1p(exp(5)) - log(2)) / 10, 1e-9);
    assert_close(half.tn, half.tp, 1e-12);
    static const double ends[] = { -INFINITY, -1, 0, 1, 2, INFINITY, NAN };
    for (size_t i = 0; i < COUNT(ends); i++) {
        const bool always = ends[i] <= 0;
        assert_point(mel_face_rule(face, (mel_rule){ ends[i], false }), always ? 0.5 : 0, always ? 0 : 0.5,
                     1e-12);
        assert_point(mel_face_rule(face, (mel_rule){ ends[i], true }), always ? 0 : 0.5, always ? 0.5 : 0,
                     1e-12);
    }
    mel_face *flat = population(0, 0);
    assert_point(mel_face_rule(flat, (mel_rule){ 0.5, false }), 0.5, 0, 1e-12);
    assert_point(mel_face_rule(flat, (mel_rule){ 0.5000001, false }), 0, 0.5, 1e-12);
    double tp[3], tn[3];
    mel_face_sweep(face, 3, (const double[]){ 0, 0.5, 1 }, tp, tn);
    assert_close(tp[1], half.tp, 0);
    assert_close(tn[2], 0.5, 1e-12);
    mel_face_free(face);
    mel_face_free(flat);
}

static void test_keys(void **state)
{
    (void)state;
    static const double ascending[] = { -INFINITY, -DBL_MAX, -1, -DBL_MIN, -5e-324, 0,
                                        5e-324,    1e-9,     1,  DBL_MAX,  INFINITY };
    for (size_t i = 0; i < COUNT(ascending); i++) {
        assert_true(mel_score_of_bits(mel_score_bits(ascending[i])) == ascending[i]);
        assert_true(i == 0 || mel_score_bits(ascending[i - 1]) < mel_score_bits(ascending[i]));
    }
    assert_true(mel_score_bits(-0.0) == mel_score_bits(0.0));
    assert_true(mel_threshold_bits(NAN) == MEL_SCORE_BITS_END &&
                mel_threshold_bits(-NAN) == MEL_SCORE_BITS_END);
    assert_true(mel_score_bits(INFINITY) < MEL_SCORE_BITS_END);
    const uint64_t keys[] = { 3, 3, 5, 9, 9, 9, 12 };
    for (uint64_t bound = 0; bound < 15; bound++) {
        size_t below = 0;
        while (below < COUNT(keys) && keys[below] < bound)
            below++;
        assert_int_equal(mel_score_bits_below(COUNT(keys), keys, bound), below);
        for (size_t from = 0; from <= below; from++)
            assert_int_equal(mel_score_bits_below_from(COUNT(keys), keys, bound, from), below);
    }
    assert_int_equal(mel_score_bits_below(0, keys, 4), 0);
    assert_int_equal(mel_score_bits_below_from(0, keys, 4, 0), 0);
}

static int compare_keys(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void test_key_sort(void **state)
{
    (void)state;
    enum { MOST = 20000 };
    static const size_t sizes[] = { 0, 1, 2, 3, 23, 24, 25, 26, 100, 1000, MOST };
    uint64_t *key = test_malloc(MOST * sizeof *key), *want = test_malloc(MOST * sizeof *want);
    uint64_t *mass = test_malloc(MOST * sizeof *mass), *spare = test_malloc(2 * (size_t)MOST * sizeof *spare);
    mel_rng rng;
    mel_rng_seed(&rng, 3);
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (int kind = 0; kind < 6; kind++) {
            const size_t n = sizes[s];
            for (size_t i = 0; i < n; i++) {
                const uint64_t r = mel_rng_next(&rng);
                const uint64_t kinds[] = { r, r % 7, UINT64_MAX - r % 3, r >> (r % 64), i, 5 };
                key[i] = want[i] = kinds[kind];
                mass[i] = key[i] * 3 + 1;
            }
            qsort(want, n, sizeof *want, compare_keys);
            mel_score_bits_sort(n, key, mass, spare, spare + MOST);
            for (size_t i = 0; i < n; i++)
                assert_true(key[i] == want[i] && mass[i] == key[i] * 3 + 1);
            for (size_t i = 0; i < n; i++)
                key[i] = want[n - 1 - i];
            mel_score_bits_sort(n, key, NULL, spare, NULL);
            assert_memory_equal(key, want, n * sizeof *key + (n == 0));
        }
    test_free(key);
    test_free(want);
    test_free(mass);
    test_free(spare);
}

/* Perfect scores with the step between any two of their values: the corner is then once at the very start
 * of every bucket. */
static void test_many_perfect_rows(void **state)
{
    (void)state;
    enum { VALUES = 64, EACH = 1024, ROWS = VALUES * EACH };
    double *score = test_malloc(ROWS * sizeof *score);
    uint8_t *role = test_malloc(ROWS);
    for (size_t round = 2; round < 2 * (size_t)VALUES; round++) {
        const size_t split = round / 2;
        for (size_t i = 0; i < ROWS; i++) {
            score[i] = (double)(i % VALUES);
            role[i] = (i % VALUES >= split) != (round % 2 == 0); /* the right and the wrong way round */
        }
        mel_face *face = sample(ROWS, score, role, NULL);
        assert_int_equal(mel_face_vertices(face), 4);
        assert_close(mel_face_area(face), (double)(split * (VALUES - split)) / VALUES / VALUES, 1e-15);
        mel_face_free(face);
    }
    test_free(score);
    test_free(role);
}

static void test_threads_make_no_difference(void **state)
{
    (void)state;
    enum { ROWS = 150000 };
    double *score = test_malloc(ROWS * sizeof *score), *weight = test_malloc(ROWS * sizeof *weight);
    uint8_t *role = test_malloc(ROWS);
    mel_rng rng;
    mel_rng_seed(&rng, 8);
    for (size_t i = 0; i < ROWS; i++) {
        score[i] = mel_rng_normal(&rng);
        role[i] = mel_rng_uniform(&rng) < 1 / (1 + exp(-score[i])) ? P : mel_rng_uniform(&rng) < 0.2 ? O : N;
        weight[i] = mel_rng_gamma(&rng, 0.5);
    }
    const int before = omp_get_max_threads();
    for (int weighted = 0; weighted < 2; weighted++) {
        mel_face *face[3];
        for (int i = 0; i < 3; i++) {
            omp_set_num_threads(1 + 2 * i);
            face[i] = sample(ROWS, score, role, weighted != 0 ? weight : NULL);
        }
        for (int i = 1; i < 3; i++) {
            assert_int_equal(mel_face_vertices(face[i]), mel_face_vertices(face[0]));
            for (size_t k = 0; k < mel_face_vertices(face[0]); k++) {
                const mel_point v = mel_face_vertex(face[0], k), w = mel_face_vertex(face[i], k);
                assert_memory_equal(&v, &w, sizeof v);
            }
            for (int k = -40; k < 40; k++) {
                const mel_point v = mel_face_rule(face[0], (mel_rule){ k / 10.0, false });
                const mel_point w = mel_face_rule(face[i], (mel_rule){ k / 10.0, false });
                assert_memory_equal(&v, &w, sizeof v);
            }
        }
        for (int i = 0; i < 3; i++)
            mel_face_free(face[i]);
    }
    omp_set_num_threads(before);
    test_free(score);
    test_free(weight);
    test_free(role);
}

/* Scores at the quantiles of logistic:a,b with labels split in exact proportion. */
static mel_face *exact_sample(double a, double b)
{
    enum { ROWS = 4000 };
    double *score = test_malloc(2 * (size_t)ROWS * sizeof *score),
           *weight = test_malloc(2 * (size_t)ROWS * sizeof *weight);
    uint8_t *role = test_malloc(2 * (size_t)ROWS);
    for (size_t i = 0; i < ROWS; i++) {
        const double x = -1 + (2 * (double)i + 1) / ROWS;
        score[2 * i] = score[2 * i + 1] = 1 / (1 + exp(a * x + b));
        role[2 * i] = P;
        role[2 * i + 1] = N;
        weight[2 * i] = score[2 * i];
        weight[2 * i + 1] = 1 - score[2 * i];
    }
    mel_face *face = sample(2 * (size_t)ROWS, score, role, weight);
    test_free(score);
    test_free(weight);
    test_free(role);
    return face;
}

static void test_smooth_recovers(void **state)
{
    (void)state;
    static const double ab[][2] = { { 5, 0 }, { 2, 1 }, { 12, -4 }, { 0.5, -2 }, { 25, 15 }, { 1, 3 } };
    for (size_t i = 0; i < COUNT(ab); i++) {
        mel_face *face = exact_sample(ab[i][0], ab[i][1]), *smooth = NULL;
        double a = 0, b = 0;
        mel_error err = { 0 };
        assert_ok(mel_face_smooth(&smooth, &a, &b, face, &err), &err);
        print_message("  %g, %g: %.6f, %.6f, area %.9f of %.9f\n", ab[i][0], ab[i][1], a, b,
                      mel_face_area(smooth), mel_face_area(face));
        assert_close(a, ab[i][0], 2e-3 * ab[i][0]);
        assert_close(b, ab[i][1], 2e-3 * ab[i][0]);
        assert_close(mel_face_positives(smooth), mel_face_positives(face), 0);
        assert_close(mel_face_negatives(smooth), mel_face_negatives(face), 0);
        assert_close(mel_face_area(smooth), mel_face_area(face), 1e-5 * mel_face_area(face));
        mel_face_free(face); /* the smoothed face lives on */
        const mel_rule rule = { 0.5, false };
        mel_mixture mix = { 0 };
        assert_ok(mel_face_achieve(&mix, smooth, mel_face_centre(smooth), NULL), NULL);
        assert_point(mel_face_mixture(smooth, &mix), mel_face_positives(smooth) / 2,
                     mel_face_negatives(smooth) / 2, 1e-12);
        assert_true(mel_face_rule(smooth, rule).tp <= mel_face_positives(smooth));
        mel_face_free(smooth);
    }
}

static void test_smooth_extremes(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double score[6];
        uint8_t role[6];
        size_t least;
    } rows[] = {
        { "constant", { 0.4, 0.4, 0.4, 0.4, 0.4, 0.4 }, { P, P, N, N, N, N }, 2 },
        { "perfect, certain", { 1, 1, 0, 0, 0, 0 }, { P, P, N, N, N, N }, 4 },
        { "perfect, uncertain", { 0.51, 0.52, 0.49, 0.48, 0.47, 0.46 }, { P, P, N, N, N, N }, 4 },
        { "upside down", { 0, 0.1, 0.7, 0.8, 0.9, 1 }, { P, P, N, N, N, N }, 4 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_face *face = sample(6, rows[i].score, rows[i].role, NULL), *smooth = NULL, *again = NULL;
        mel_error err = { 0 };
        print_message("  %s\n", rows[i].name);
        assert_ok(mel_face_smooth(&smooth, NULL, NULL, face, &err), &err);
        assert_true(mel_face_vertices(smooth) >= rows[i].least);
        for (size_t k = 0; k < mel_face_vertices(smooth); k++) {
            mel_mixture mix;
            const mel_point v = mel_face_vertex(smooth, k);
            assert_true(mel_face_contains(face, v, 1e-15));
            assert_ok(mel_face_achieve(&mix, smooth, v, &err), &err);
            assert_point(mel_face_mixture(face, &mix), v.tp, v.tn, 1e-12);
        }
        assert_ok(mel_face_smooth(&again, NULL, NULL, smooth, &err), &err);
        assert_close(mel_face_area(again), mel_face_area(smooth), 0);
        mel_face_free(face);
        mel_face_free(smooth);
        mel_face_free(again);
    }
}

static void test_smooth_refusals(void **state)
{
    (void)state;
    enum { N_FACES = 3 };
    mel_face *faces[N_FACES] = {
        population(5, 0), sample(2, (const double[]){ -0.1, 0.5 }, (const uint8_t[]){ P, N }, NULL),
        sample(3, (const double[]){ 0.5, 0.6, 1.5 }, (const uint8_t[]){ P, N, P }, NULL)
    };
    static const char *const says[] = { "population", "reach from -0.1 to 0.5", "reach from 0.5 to 1.5" };
    for (size_t i = 0; i < N_FACES; i++) {
        mel_face *smooth = faces[0];
        double a = 7, b = 7;
        mel_error err = { 0 };
        assert_int_equal(mel_face_smooth(&smooth, &a, &b, faces[i], &err), MEL_EINVAL);
        assert_null(smooth);
        assert_non_null(strstr(err.text, says[i]));
        assert_close(a, 7, 0);
        assert_close(b, 7, 0);
    }
    for (size_t i = 0; i < N_FACES; i++)
        mel_face_free(faces[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hulls),
        cmocka_unit_test(test_refused_rows),
        cmocka_unit_test(test_probabilities),
        cmocka_unit_test(test_support),
        cmocka_unit_test(test_support_of_a_segment),
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_plug_in),
        cmocka_unit_test(test_closest),
        cmocka_unit_test(test_achieve),
        cmocka_unit_test(test_trivial_rules),
        cmocka_unit_test(test_achieve_on_a_segment),
        cmocka_unit_test(test_chords),
        cmocka_unit_test(test_chords_of_a_segment),
        cmocka_unit_test(test_random_takes_three_numbers),
        cmocka_unit_test(test_logistic_against_quadrature),
        cmocka_unit_test(test_logistic_limits),
        cmocka_unit_test(test_rare_classes_keep_their_shape),
        cmocka_unit_test(test_refused_populations),
        cmocka_unit_test(test_population_support),
        cmocka_unit_test(test_population_rules),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_key_sort),
        cmocka_unit_test(test_many_perfect_rows),
        cmocka_unit_test(test_threads_make_no_difference),
        cmocka_unit_test(test_smooth_recovers),
        cmocka_unit_test(test_smooth_extremes),
        cmocka_unit_test(test_smooth_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
