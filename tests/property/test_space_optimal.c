/* The linear step against other classifiers, and two-class faces of samples. */
#include "support/classes.h"

#include "space/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CELLS = 256 };
static const double rounding = 1e-12;

static double inner(size_t n, const double *a, const double *b)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Decisions of several sorts: certain and random, between the plug-in rule and something else. */
static void draw_decisions(double *decision, mel_rng *rng, const test_classes *c, const double *gain,
                           int sort)
{
    const size_t n = c->sample.n_rows, k = c->sample.n_classes;
    double other[MOST_CELLS];
    test_classes_decide(decision, c, gain);
    for (size_t r = 0; r < n; r++) {
        if (sort == 0)
            mel_rng_dirichlet(rng, k, NULL, decision + r * k);
        if (sort != 1 || mel_rng_uniform(rng) > 0.1)
            continue;
        mel_rng_dirichlet(rng, k, NULL, other); /* a tenth of the rows is decided otherwise */
        memcpy(decision + r * k, other, k * sizeof *other);
    }
}

/* By the model no classifier, plug-in or not, is better than the step. */
static void test_step_is_best(void **state)
{
    (void)state;
    enum { CLASSIFIERS = 10000 };
    mel_rng rng;
    mel_rng_seed(&rng, 21);
    static const struct {
        size_t n, k, m;
        mel_statistics_kind kind;
        mel_coordinates coordinates;
    } rows[] = {
        { 60, 3, 0, MEL_CONFUSION, MEL_OFFDIAGONAL },
        { 50, 4, 2, MEL_RATES, MEL_OFFDIAGONAL },
        { 60, 5, 0, MEL_RATES, MEL_DIAGONAL },
        { 40, 2, 3, MEL_CONFUSION, MEL_BINARY },
    };
    for (size_t t = 0; t < COUNT(rows); t++) {
        const mel_space_options opt = test_space_options(rows[t].kind, rows[t].coordinates, MEL_BY_MODEL, 1);
        const size_t groups = rows[t].m > 1 ? rows[t].m : 1, k = rows[t].k, cells = groups * k * k;
        double direction[MOST_CELLS], at[MOST_CELLS], gain[MOST_CELLS], other[MOST_CELLS];
        test_classes c;
        mel_error err;
        test_classes_make(&c, &rng, rows[t].n, k, rows[t].m, 2.0, t % 2 == 0 ? 0 : 3);
        double *decision = calloc(rows[t].n * k, sizeof *decision);
        mel_space *space = test_classes_space(&c, &opt);
        const size_t size = mel_space_size(space);
        mel_rng_sphere(&rng, size, direction);
        mel_space_gains(gain, space, direction);
        assert_ok(mel_space_linear(at, space, direction, &err), &err);
        const double best = inner(size, direction, at);
        for (int i = 0; i < CLASSIFIERS; i++) {
            if (i % 2 == 0) { /* plug-in rules, near and far */
                for (size_t g = 0; g < cells; g++)
                    other[g] = (i % 4 == 0 ? gain[g] : 0.0) + 0.3 * mel_rng_normal(&rng);
                assert_ok(mel_space_rule(at, space, other, &err), &err);
            } else {
                draw_decisions(decision, &rng, &c, gain, i / 2 % 2);
                test_space_decisions(at, space, decision);
            }
            assert_true(inner(size, direction, at) <= best + rounding);
        }
        free(decision);
        mel_space_free(space);
        test_classes_clear(&c);
    }
}

/* The face of two classes is the face of their scores. */
static void test_face_by_labels(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 23);
    for (size_t k = 2; k <= 6; k++)
        for (size_t first = 0; first < k; first++) {
            enum { N = 400 };
            const size_t second = (first + 1 + mel_rng_below(&rng, k - 1)) % k;
            double score[N];
            uint8_t role[N];
            test_classes c;
            mel_error err;
            test_classes_make(&c, &rng, N, k, 0, 1.0, first % 2 == 0 ? 0 : 4);
            if (k > 2) { /* both impossible */
                memset(c.probability + 7 * k, 0, k * sizeof(double));
                c.probability[7 * k + (first != 0 && second != 0   ? 0
                                       : first != 1 && second != 1 ? 1
                                                                   : 2)] = 1.0;
            }
            for (size_t r = 0; r < N; r++) {
                const double p = c.probability[r * k + first], q = c.probability[r * k + second];
                score[r] = p + q > 0.0 ? p / (p + q) : 0.5;
                role[r] = c.label[r] == first    ? MEL_ROW_POSITIVE
                          : c.label[r] == second ? MEL_ROW_NEGATIVE
                                                 : MEL_ROW_OTHER;
            }
            mel_face *want = NULL, *got = NULL;
            mel_space *space = test_classes_space(&c, NULL);
            assert_ok(mel_face_from_scores(&want, N, score, role, NULL, &err), &err);
            assert_ok(mel_space_face(&got, space, first, second, &err), &err);
            mel_space_free(space);
            test_classes_clear(&c); /* the face is on its own */
            assert_int_equal(mel_face_vertices(got), mel_face_vertices(want));
            for (size_t v = 0; v < mel_face_vertices(got); v++) {
                const mel_point a = mel_face_vertex(got, v), b = mel_face_vertex(want, v);
                assert_true(a.tp == b.tp && a.tn == b.tn);
            }
            assert_close(mel_face_rule(got, (mel_rule){ 0.3, false }).tp,
                         mel_face_rule(want, (mel_rule){ 0.3, false }).tp, 0.0);
            mel_face_free(want);
            mel_face_free(got);
        }
}

/* Of two classes, plug-in rules are among the classifiers of the face: as good by the model, where the face
 * is theirs, and no better by labels. */
static void test_two_classes(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 25);
    for (int t = 0; t < 200; t++) {
        const mel_evidence evidence = t % 2 == 0 ? MEL_BY_LABELS : MEL_BY_MODEL;
        const mel_space_options opt = test_space_options(MEL_CONFUSION, MEL_BINARY, evidence, 1);
        test_classes c;
        double direction[2], at[2];
        mel_point support;
        mel_error err;
        test_classes_make(&c, &rng, 150, 2, 0, 1.0, t % 3 == 0 ? 4 : 0);
        mel_space *space = test_classes_space(&c, &opt);
        mel_face *face = NULL;
        assert_ok(mel_space_face(&face, space, 1, 0, &err), &err);
        mel_rng_sphere(&rng, 2, direction);
        assert_ok(mel_space_linear(at, space, direction, &err), &err);
        assert_ok(mel_face_support(&support, face, direction[0], direction[1], &err), &err);
        const double reached = inner(2, direction, at),
                     best = direction[0] * support.tp + direction[1] * support.tn;
        assert_true(reached <= best + rounding);
        if (evidence == MEL_BY_MODEL)
            assert_close(reached, best, rounding);
        assert_true(mel_face_contains(face, (mel_point){ at[0], at[1] }, rounding));
        mel_face_free(face);
        mel_space_free(space);
        test_classes_clear(&c);
    }
}

/* By the model a face's support is that of rules that may only predict the two classes. */
static void test_face_by_model(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 27);
    for (size_t k = 3; k <= 6; k++) {
        const mel_space_options opt = test_space_options(MEL_CONFUSION, MEL_DIAGONAL, MEL_BY_MODEL, 1);
        test_classes c;
        mel_error err;
        test_classes_make(&c, &rng, 300, k, 0, 1.5, 0);
        mel_space *space = test_classes_space(&c, &opt);
        for (size_t second = 1; second < k; second++) {
            mel_face *face = NULL;
            assert_ok(mel_space_face(&face, space, 0, second, &err), &err);
            assert_close(mel_face_positives(face), mel_space_class_share(space)[0], rounding);
            assert_close(mel_face_negatives(face), mel_space_class_share(space)[second], rounding);
            for (int d = 0; d < 20; d++) {
                double m[2], gain[36], at[6];
                mel_point support;
                mel_rng_sphere(&rng, 2, m);
                for (size_t i = 0; i < k * k; i++)
                    gain[i] = i % k == 0 || i % k == second ? 0.0 : -1e3;
                gain[0] = m[0];
                gain[second * (k + 1)] = m[1];
                assert_ok(mel_space_rule(at, space, gain, &err), &err);
                assert_ok(mel_face_support(&support, face, m[0], m[1], &err), &err);
                assert_close(m[0] * at[0] + m[1] * at[second], m[0] * support.tp + m[1] * support.tn,
                             rounding);
            }
            mel_face_free(face);
        }
        mel_space_free(space);
        test_classes_clear(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_step_is_best),
        cmocka_unit_test(test_face_by_labels),
        cmocka_unit_test(test_two_classes),
        cmocka_unit_test(test_face_by_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
