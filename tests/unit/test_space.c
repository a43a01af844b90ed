/* Spaces of k classes: small ones by hand, and everything that is refused. */
#include "support/classes.h"

#include "space/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Four rows, three classes, two groups. */
static const double probability[] = { 0.7, 0.2, 0.1, 0.25, 0.5, 0.25, 0.125, 0.25, 0.625, 0.5, 0.5, 0.0 };
static const uint32_t label[] = { 0, 1, 2, 1 };

static mel_space *small(mel_statistics_kind kind, mel_coordinates coordinates, mel_evidence evidence)
{
    const mel_space_options opt = test_space_options(kind, coordinates, evidence, 1);
    const mel_rows sample = { 4, 3, 0, probability, label, NULL, NULL, NULL };
    mel_space *space = NULL;
    mel_error err;
    assert_ok(mel_space_from_sample(&space, &sample, &opt, &err), &err);
    return space;
}

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(mel_evidence_name(MEL_BY_LABELS), "labels");
    assert_string_equal(mel_evidence_name(MEL_BY_MODEL), "model");
    assert_string_equal(mel_evidence_name((mel_evidence)7), "unknown");
}

static void test_defaults(void **state)
{
    (void)state;
    const mel_rows sample = { 4, 3, 0, probability, label, NULL, NULL, NULL };
    mel_space *space = NULL;
    mel_error err;
    assert_ok(mel_space_from_sample(&space, &sample, NULL, &err), &err);
    const mel_layout *layout = mel_space_layout(space);
    assert_int_equal(layout->kind, MEL_CONFUSION);
    assert_int_equal(layout->coordinates, MEL_OFFDIAGONAL);
    assert_int_equal(layout->n_classes, 3);
    assert_int_equal(layout->n_groups, 0);
    assert_int_equal(mel_space_size(space), 6);
    assert_int_equal(mel_space_rows(space), 4);
    assert_int_equal(mel_space_evidence(space), MEL_BY_LABELS);
    assert_null(mel_space_prevalence(space));
    mel_space_free(space);
    mel_space_free(NULL);
}

/* Every row as the class with the largest probability; the last row ties and goes to the first class. */
static void test_by_hand(void **state)
{
    (void)state;
    static const struct {
        mel_statistics_kind kind;
        mel_coordinates coordinates;
        mel_evidence evidence;
        double want[6], centre[6];
    } rows[] = {
        { MEL_CONFUSION, MEL_DIAGONAL, MEL_BY_LABELS, { 0.25, 0.25, 0.25 }, { 1 / 12., 1 / 6., 1 / 12. } },
        { MEL_RATES, MEL_DIAGONAL, MEL_BY_LABELS, { 1, 0.5, 1 }, { 1 / 3., 1 / 3., 1 / 3. } },
        { MEL_CONFUSION,
          MEL_OFFDIAGONAL,
          MEL_BY_LABELS,
          { 0, 0, 0.25, 0, 0, 0 },
          { 1 / 12., 1 / 12., 1 / 6., 1 / 6., 1 / 12., 1 / 12. } },
        { MEL_CONFUSION,
          MEL_OFFDIAGONAL,
          MEL_BY_MODEL,
          { 0.0625, 0.03125, 0.175, 0.0625, 0.025, 0.0625 },
          { 1.575 / 12, 1.575 / 12, 1.45 / 12, 1.45 / 12, 0.975 / 12, 0.975 / 12 } },
        { MEL_RATES,
          MEL_DIAGONAL,
          MEL_BY_MODEL,
          { 1.2 / 1.575, 0.5 / 1.45, 0.625 / 0.975 },
          { 1 / 3., 1 / 3., 1 / 3. } },
    };
    static const double identity[] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    for (size_t t = 0; t < COUNT(rows); t++) {
        mel_space *space = small(rows[t].kind, rows[t].coordinates, rows[t].evidence);
        double got[6], centre[6];
        mel_error err;
        assert_ok(mel_space_rule(got, space, identity, &err), &err);
        mel_space_centre(centre, space);
        for (size_t c = 0; c < mel_space_size(space); c++) {
            assert_close(got[c], rows[t].want[c], 1e-15);
            assert_close(centre[c], rows[t].centre[c], 1e-15);
        }
        mel_space_free(space);
    }
}

static void test_gains(void **state)
{
    (void)state;
    static const double off[] = { 1, 2, 3, 4, 5, 6 };
    static const struct {
        mel_statistics_kind kind;
        mel_coordinates coordinates;
        double want[9];
    } rows[] = {
        { MEL_CONFUSION, MEL_OFFDIAGONAL, { 0, 1, 2, 3, 0, 4, 5, 6, 0 } },
        { MEL_RATES, MEL_OFFDIAGONAL, { 0, 4, 8, 6, 0, 8, 20, 24, 0 } },
        { MEL_CONFUSION, MEL_DIAGONAL, { 1, 0, 0, 0, 2, 0, 0, 0, 3 } },
        { MEL_RATES, MEL_DIAGONAL, { 4, 0, 0, 0, 4, 0, 0, 0, 12 } },
    };
    double gain[9];
    for (size_t t = 0; t < COUNT(rows); t++) {
        mel_space *space = small(rows[t].kind, rows[t].coordinates, MEL_BY_LABELS);
        mel_space_gains(gain, space, off);
        assert_memory_equal(gain, rows[t].want, sizeof gain);
        mel_space_free(space);
    }
    /* TP is of the second class. */
    static const double two[] = { 0.25, 0.75, 0.5, 0.5 }, toward[] = { 3, 7 };
    static const uint32_t binary[] = { 1, 0 };
    const mel_space_options opt = test_space_options(MEL_CONFUSION, MEL_BINARY, MEL_BY_LABELS, 1);
    const mel_rows sample = { 2, 2, 0, two, binary, NULL, NULL, NULL };
    mel_space *space = NULL;
    assert_ok(mel_space_from_sample(&space, &sample, &opt, NULL), NULL);
    mel_space_gains(gain, space, toward);
    assert_true(gain[0] == 7 && gain[1] == 0 && gain[2] == 0 && gain[3] == 3);
    mel_space_free(space);
}

/* Directions of any size give the step of their unit vector. */
static void test_sizes_of_directions(void **state)
{
    (void)state;
    static const double scales[] = { 1.0, 1e-300, 5e-324, 1e300, 1.7e308 };
    mel_space *space = small(MEL_RATES, MEL_OFFDIAGONAL, MEL_BY_MODEL);
    double want[6] = { 0 }, got[6];
    mel_error err;
    for (size_t t = 0; t < COUNT(scales); t++) {
        double direction[6] = { 0, -1, 0, 0, -1, 1 };
        for (size_t c = 0; c < 6; c++)
            direction[c] *= scales[t];
        assert_ok(mel_space_linear(got, space, direction, &err), &err);
        if (t == 0)
            memcpy(want, got, sizeof want);
        assert_memory_equal(got, want, sizeof want);
    }
    mel_space_free(space);
}

static void test_bad_samples(void **state)
{
    (void)state;
    enum { N = 6, K = 3 };
    static const double good[N * K] = { 0.7, 0.2, 0.1, 0.25, 0.5, 0.25, 0.125, 0.25, 0.625,
                                        0.5, 0.5, 0.0, 1,    0,   0,    0.1,   0.1,  0.8 };
    static const uint32_t labels[N] = { 0, 1, 2, 0, 1, 2 }, groups[N] = { 0, 0, 0, 1, 1, 1 };
    static const struct {
        const char *name;
        size_t cell; /* of a probability, and what it becomes */
        double value;
        size_t row; /* of a label and a group */
        uint32_t label, group;
        size_t n_groups;
        const char *sentence;
    } rows[] = {
        { "NaN", 7, NAN, 0, 0, 0, 0, "row 3: the probability of class 2 is nan" },
        { "infinite", 0, INFINITY, 0, 0, 0, 0, "row 1: the probability of class 1 is inf" },
        { "negative", 11, -1e-5, 0, 0, 0, 0, "row 4: the probability of class 3 is -1e-05" },
        { "does not add up", 9, 0.500002, 0, 0, 0, 0, "row 4: 3 probabilities sum to 1.000002, not 1" },
        { "label", 0, 0.7, 4, 3, 0, 0, "row 5: class code 3, but there are 3 classes" },
        { "group", 0, 0.7, 3, 0, 2, 2, "row 4: group code 2, expected 0 to 1" },
        { "group of a sample without groups", 0, 0.7, 3, 0, 1, 1, "row 4: group code 1, expected 0 to 0" },
        { "class of a group", 0, 0.7, 4, 0, 1, 2, "group 2 of 2 has no rows of class 2: its rates are 0/0" },
    };
    for (size_t t = 0; t < COUNT(rows); t++)
        for (int evidence = 0; evidence < 2; evidence++) {
            double p[N * K];
            uint32_t y[N], g[N];
            memcpy(p, good, sizeof p);
            memcpy(y, labels, sizeof y);
            memcpy(g, groups, sizeof g);
            p[rows[t].cell] = rows[t].value;
            y[rows[t].row] = rows[t].label;
            if (rows[t].n_groups == 1)
                memset(g, 0, sizeof g);
            if (rows[t].n_groups > 0)
                g[rows[t].row] = rows[t].group;
            const mel_rows sample = { N,    K,   rows[t].n_groups, p, y, rows[t].n_groups > 0 ? g : NULL,
                                      NULL, NULL };
            const mel_space_options opt =
                test_space_options(MEL_RATES, MEL_DIAGONAL, (mel_evidence)evidence, 2);
            mel_space *space = (mel_space *)&opt;
            mel_error err = { 0 };
            print_message("  %s\n", rows[t].name);
            assert_int_equal(mel_space_from_sample(&space, &sample, &opt, &err), MEL_EDATA);
            assert_null(space);
            assert_string_equal(err.text, rows[t].sentence);
        }
    /* Within the slack. */
    double p[N * K];
    memcpy(p, good, sizeof p);
    p[11] = -9e-7;
    const mel_rows sample = { N, K, 2, p, labels, groups, NULL, NULL };
    mel_space *space = NULL;
    mel_error err;
    assert_ok(mel_space_from_sample(&space, &sample, NULL, &err), &err);
    mel_space_free(space);
}

static void test_bad_shapes(void **state)
{
    (void)state;
    static const double ones[] = { 1, 1, 1, 1 }, never[] = { 1, 0, 0, 1, 0, 0, 1, 0, 0 };
    static const uint32_t y[] = { 0, 0, 1, 1 }, each[] = { 0, 1, 2 };
    mel_space_options opt = test_space_options(MEL_CONFUSION, MEL_DIAGONAL, MEL_BY_LABELS, 1);
    static const struct {
        const char *name;
        mel_rows sample;
        mel_coordinates coordinates;
        mel_evidence evidence;
        mel_status code;
        const char *sentence;
    } rows[] = {
        { "one class",
          { 4, 1, 0, ones, y, NULL, NULL, NULL },
          MEL_DIAGONAL,
          MEL_BY_LABELS,
          MEL_EDATA,
          "one class only" },
        { "weights",
          { 4, 2, 0, ones, y, NULL, ones, NULL },
          MEL_DIAGONAL,
          MEL_BY_LABELS,
          MEL_EINVAL,
          "rows of a space count alike" },
        { "no rows",
          { 0, 3, 0, ones, y, NULL, NULL, NULL },
          MEL_DIAGONAL,
          MEL_BY_LABELS,
          MEL_EDATA,
          "no rows" },
        { "no classes",
          { 4, 0, 0, ones, y, NULL, NULL, NULL },
          MEL_DIAGONAL,
          MEL_BY_LABELS,
          MEL_EINVAL,
          "0 classes" },
        { "class without rows",
          { 3, 3, 0, never, y, NULL, NULL, NULL },
          MEL_DIAGONAL,
          MEL_BY_LABELS,
          MEL_EDATA,
          "class 3 of 3 has no rows" },
        { "the same by the model",
          { 3, 3, 0, never, y, NULL, NULL, NULL },
          MEL_DIAGONAL,
          MEL_BY_MODEL,
          MEL_EDATA,
          "class 3 of 3 has no rows" },
        { "class that the model rules out",
          { 3, 3, 0, never, each, NULL, NULL, NULL },
          MEL_DIAGONAL,
          MEL_BY_MODEL,
          MEL_EDATA,
          "the probability of class 2 is 0 in every row" },
        { "binary",
          { 3, 3, 0, never, each, NULL, NULL, NULL },
          MEL_BINARY,
          MEL_BY_LABELS,
          MEL_EINVAL,
          "binary coordinates with 3 classes" },
        { "groups that are not given",
          { 3, 3, 2, never, each, NULL, NULL, NULL },
          MEL_DIAGONAL,
          MEL_BY_LABELS,
          MEL_EINVAL,
          "2 groups, but no groups of the rows" },
        { "evidence",
          { 3, 3, 0, never, each, NULL, NULL, NULL },
          MEL_DIAGONAL,
          (mel_evidence)5,
          MEL_EINVAL,
          "5 is not a kind of evidence" },
    };
    for (size_t t = 0; t < COUNT(rows); t++) {
        mel_space *space = (mel_space *)&opt;
        mel_error err = { 0 };
        print_message("  %s\n", rows[t].name);
        opt.coordinates = rows[t].coordinates;
        opt.evidence = rows[t].evidence;
        assert_int_equal(mel_space_from_sample(&space, &rows[t].sample, &opt, &err), rows[t].code);
        assert_null(space);
        assert_non_null(strstr(err.text, rows[t].sentence));
    }
    opt.struct_size = 0;
    mel_space *space = NULL;
    assert_int_equal(mel_space_from_sample(&space, &rows[8].sample, &opt, NULL), MEL_EINVAL);
}

static void test_bad_populations(void **state)
{
    (void)state;
    static double many[101] = { 1.0 };
    static const struct {
        const char *name;
        size_t n;
        double slope[3];
        const char *sentence;
    } rows[] = {
        { "one class", 1, { 1 }, "1 classes, expected 2 to 100" },
        { "none", 0, { 1 }, "0 classes" },
        { "NaN", 2, { 1, NAN }, "slope 2 is nan, expected -700 to 700" },
        { "infinite", 2, { -INFINITY, 1 }, "slope 1 is -inf" },
        { "steep", 3, { 1, 2, 700.5 }, "slope 3 is 700.5" },
        { "all the same", 3, { 2, 2, 2 }, "all slopes are 2" },
    };
    mel_space *space = NULL;
    mel_error err;
    for (size_t t = 0; t < COUNT(rows); t++) {
        print_message("  %s\n", rows[t].name);
        assert_int_equal(mel_space_from_softmax(&space, rows[t].n, rows[t].slope, NULL, &err), MEL_EINVAL);
        assert_null(space);
        assert_non_null(strstr(err.text, rows[t].sentence));
    }
    assert_int_equal(mel_space_from_softmax(&space, COUNT(many), many, NULL, &err), MEL_EINVAL);
    const mel_space_options opt = test_space_options(MEL_RATES, MEL_BINARY, MEL_BY_LABELS, 1);
    assert_int_equal(mel_space_from_softmax(&space, 3, (const double[]){ 1, 2, 3 }, &opt, &err), MEL_EINVAL);
    assert_null(space);
}

static void test_bad_steps(void **state)
{
    (void)state;
    mel_space *space = small(MEL_RATES, MEL_DIAGONAL, MEL_BY_LABELS), *population = NULL;
    static const double slope[] = { 1, 2, 3 };
    double at[3] = { 7, 7, 7 }, gain[9] = { 0 };
    mel_error err;
    assert_ok(mel_space_from_softmax(&population, 3, slope, NULL, &err), &err);
    assert_int_equal(mel_space_linear(at, space, (const double[]){ 0, 0, 0 }, &err), MEL_EINVAL);
    assert_string_equal(err.text, "a direction of zeros: every classifier is best");
    assert_int_equal(mel_space_linear(at, space, (const double[]){ 1, NAN, 0 }, &err), MEL_EINVAL);
    assert_string_equal(err.text, "direction[1] is nan, expected a finite number");
    gain[4] = INFINITY;
    assert_int_equal(mel_space_rule(at, space, gain, &err), MEL_EINVAL);
    assert_string_equal(err.text, "gain[4] is inf, expected a finite number");
    assert_true(at[0] == 7 && at[1] == 7 && at[2] == 7);
    mel_space_free(space);
    mel_space_free(population);
}

static void test_bad_predictions(void **state)
{
    (void)state;
    static const uint32_t groups[] = { 0, 1, 2, 0 };
    double gain[18] = { 0 }, p[12];
    uint32_t prediction[4];
    mel_error err;
    memcpy(p, probability, sizeof p);
    assert_int_equal(mel_rule_predict(prediction, 4, 3, 2, p, groups, gain, &err), MEL_EDATA);
    assert_string_equal(err.text, "row 3: group code 2, expected 0 to 1");
    assert_int_equal(mel_rule_predict(prediction, 4, 3, 2, p, NULL, gain, &err), MEL_EINVAL);
    assert_int_equal(mel_rule_predict(prediction, 4, 1, 0, p, NULL, gain, &err), MEL_EINVAL);
    p[5] = NAN;
    assert_int_equal(mel_rule_predict(prediction, 4, 3, 0, p, NULL, gain, &err), MEL_EDATA);
    assert_string_equal(err.text, "row 2: the probability of class 3 is nan");
    gain[3] = NAN;
    assert_int_equal(mel_rule_predict(prediction, 4, 3, 0, p, NULL, gain, &err), MEL_EINVAL);
    gain[3] = 0;
    assert_ok(mel_rule_predict(prediction, 0, 3, 0, p, NULL, gain, &err), &err);
}

static void test_bad_faces(void **state)
{
    (void)state;
    mel_space *space = small(MEL_RATES, MEL_DIAGONAL, MEL_BY_LABELS), *grouped = NULL;
    test_classes c;
    mel_rng rng;
    mel_rng_seed(&rng, 1);
    test_classes_make(&c, &rng, 20, 3, 2, 1.0, 0);
    mel_error err;
    assert_ok(mel_space_from_sample(&grouped, &c.sample, NULL, &err), &err);
    mel_face *face = (mel_face *)&err;
    assert_int_equal(mel_space_face(&face, space, 0, 3, &err), MEL_EINVAL);
    assert_null(face);
    assert_string_equal(err.text, "the face of classes 1 and 4 of 3");
    assert_int_equal(mel_space_face(&face, space, 3, 0, &err), MEL_EINVAL);
    assert_int_equal(mel_space_face(&face, space, 1, 1, &err), MEL_EINVAL);
    assert_int_equal(mel_space_face(&face, grouped, 0, 1, &err), MEL_EINVAL);
    assert_null(face);
    mel_space_free(space);
    mel_space_free(grouped);
    test_classes_clear(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_gains),
        cmocka_unit_test(test_sizes_of_directions),
        cmocka_unit_test(test_bad_samples),
        cmocka_unit_test(test_bad_shapes),
        cmocka_unit_test(test_bad_populations),
        cmocka_unit_test(test_bad_steps),
        cmocka_unit_test(test_bad_predictions),
        cmocka_unit_test(test_bad_faces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
