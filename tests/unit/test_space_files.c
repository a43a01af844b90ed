/* Spaces of rows in several files: the sums of one file to 1e-12, and the same bits where files are divided
 * among ranks, of which here there is one. */
#include "support/classes.h"

#include "space/feasible.h"
#include "space/sample.h"
#include "space/shared.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 5000, MOST_FILES = 3000 };
static const double rounding = 1e-12;

/* Everything that is measured on rows, as one list of numbers. */
typedef struct {
    size_t n;
    double number[MOST];
} measured;

static void note(measured *m, size_t n, const double *number)
{
    assert_true(m->n + n <= MOST);
    memcpy(m->number + m->n, number, n * sizeof *number);
    m->n += n;
}

static void measure_face(measured *m, const mel_space *space)
{
    mel_face *face = NULL;
    mel_error err;
    assert_ok(mel_space_face(&face, space, 0, 2, &err), &err);
    const double about[] = { mel_face_positives(face), mel_face_area(face) };
    note(m, 2, about);
    mel_face_free(face);
}

static void measure_ball(measured *m, const mel_space *space, size_t sample_rows)
{
    mel_radius_options opt;
    mel_radius_options_init(&opt);
    opt.restarts = 1;
    opt.rays = 1;
    opt.sample_rows = sample_rows;
    mel_ball *ball = NULL;
    mel_radius how;
    mel_error err;
    assert_ok(mel_ball_of_space(&ball, &how, space, &opt, &err), &err);
    const double about[] = { how.radius, how.certified };
    note(m, 2, about);
    mel_radius_clear(&how);
    mel_ball_free(ball);
}

static void measure_some(measured *m, const mel_space *space)
{
    mel_some_rows some;
    mel_error err;
    assert_ok(mel_some_rows_take(&some, space, 50, 7, &err), &err);
    note(m, mel_space_rows(some.space), some.probability);
    mel_some_rows_clear(&some);
}

static void measure_point(measured *m, const mel_space *space)
{
    double point[64];
    mel_feasibility found;
    mel_error err;
    mel_space_centre(point, space);
    point[0] += 0.2;
    assert_ok(mel_space_achieve(&found, space, point, 1e-6, NULL, &err), &err);
    note(m, 1, &found.distance);
    mel_feasibility_clear(&found);
}

/* searches: those that may end elsewhere when the last digits differ are left out where there are none. */
static void measure(measured *m, const mel_space *space, const double *decision, bool searches)
{
    const size_t k = space->n_classes, cells = space->n_groups * k * k;
    double gain[256], at[256];
    mel_error err;
    mel_rng rng;
    *m = (measured){ 0 };
    mel_rng_seed(&rng, 3);
    for (size_t c = 0; c < cells; c++)
        gain[c] = mel_rng_normal(&rng);
    note(m, space->n_groups * k, space->cell_share);
    assert_ok(mel_space_rule(at, space, gain, &err), &err);
    note(m, space->size, at);
    assert_ok(mel_space_swap(at, space, gain, space->n_groups - 1, 0, 2, 1.3, &err), &err);
    note(m, space->size, at);
    if (decision != NULL) {
        assert_ok(mel_space_decisions(at, space, decision, &err), &err);
        note(m, space->size, at);
    }
    for (size_t g = 0; g < space->n_groups; g++) {
        mel_sure sure;
        assert_ok(mel_sure_init(&sure, space, g, &err), &err);
        note(m, 1, &sure.radius);
        mel_sure_clear(&sure);
    }
    measure_some(m, space);
    if (space->n_groups == 1)
        measure_face(m, space);
    if (searches) {
        measure_ball(m, space, 100);
        if (space->n_groups == 1)
            measure_point(m, space);
    }
}

static void test_files(void **state)
{
    (void)state;
    /* A file without rows, one of a single row, one of two slices. */
    size_t start[] = { 0, 40, 40, 41, 2200, 2400 };
    const mel_shards files = { .n = 5, .start = start }, divided = { .n = 5, .start = start, .here = start };
    for (size_t m = 0; m <= 2; m += 2)
        for (size_t evidence = 0; evidence < test_repeats(2, 2, 1); evidence++) {
            const mel_space_options opt =
                test_space_options(MEL_RATES, MEL_OFFDIAGONAL, (mel_evidence)evidence, 2);
            static measured one, parts, here, led;
            test_classes c;
            mel_rng rng;
            mel_rng_seed(&rng, 5);
            test_classes_make(&c, &rng, 2400, 3, m, 1.0, 0);
            for (size_t r = 0; m > 0 && r < 40; r++) /* the first file has one group only */
                c.group[r] = 0;
            mel_space *space = test_classes_space(&c, &opt);
            measure(&one, space, c.probability, false);
            mel_space_free(space);
            c.sample.shards = &files;
            space = test_classes_space(&c, &opt);
            measure(&parts, space, c.probability, false);
            assert_int_equal(parts.n, one.n);
            for (size_t i = 0; i < one.n; i++)
                assert_close(parts.number[i], one.number[i], rounding);
            measure(&parts, space, NULL, true);
            mel_space_free(space);
            c.sample.shards = &divided;
            space = test_classes_space(&c, &opt);
            assert_true(mel_space_divided(space));
            measure(&here, space, NULL, true);
            mel_space_lead(space);
            mel_error err;
            assert_int_equal(mel_space_decisions(led.number, space, c.probability, &err), MEL_ESTATE);
            measure(&led, space, NULL, true);
            assert_memory_equal(&here, &parts, sizeof here);
            assert_memory_equal(&led, &parts, sizeof led);
            mel_space_free(space);
            test_classes_clear(&c);
        }
}

/* Rows of one file each, more of them than sums are kept of at a time. */
static void test_many_files(void **state)
{
    (void)state;
    enum { CLASSES = 25 };
    static size_t start[MOST_FILES + 1];
    static double one[CLASSES * CLASSES], many[CLASSES * CLASSES], direction[CLASSES * CLASSES];
    for (size_t f = 0; f <= MOST_FILES; f++)
        start[f] = f;
    const mel_shards files = { .n = MOST_FILES, .start = start };
    const mel_space_options opt = test_space_options(MEL_CONFUSION, MEL_OFFDIAGONAL, MEL_BY_MODEL, 2);
    test_classes c;
    mel_rng rng;
    mel_error err;
    mel_rng_seed(&rng, 6);
    test_classes_make(&c, &rng, MOST_FILES, CLASSES, 0, 1.0, 0);
    for (size_t i = 0; i < sizeof direction / sizeof *direction; i++)
        direction[i] = mel_rng_normal(&rng);
    mel_space *space = test_classes_space(&c, &opt);
    assert_ok(mel_space_linear(one, space, direction, &err), &err);
    mel_space_free(space);
    c.sample.shards = &files;
    space = test_classes_space(&c, &opt);
    const mel_class_rows *rows = space->self;
    mel_sum_room room;
    const size_t bytes = mel_sum_room_bytes(rows, MOST_FILES, (size_t)CLASSES * CLASSES);
    double *memory = malloc(bytes);
    mel_sum_room_place(&room, memory, MOST_FILES, (size_t)CLASSES * CLASSES);
    assert_true(room.room < MOST_FILES && bytes < 9 << 20); /* files do not make it grow */
    free(memory);
    assert_ok(mel_space_linear(many, space, direction, &err), &err);
    for (size_t i = 0; i < mel_space_size(space); i++)
        assert_close(many[i], one[i], rounding);
    mel_space_free(space);
    test_classes_clear(&c);
}

/* The number of a row that is wrong is that of all rows. */
static void test_wrong_row(void **state)
{
    (void)state;
    size_t start[] = { 0, 40, 100 };
    const mel_shards divided = { .n = 2, .start = start, .here = start };
    const mel_space_options opt = test_space_options(MEL_RATES, MEL_OFFDIAGONAL, MEL_BY_LABELS, 1);
    test_classes c;
    mel_rng rng;
    mel_rng_seed(&rng, 5);
    test_classes_make(&c, &rng, 100, 3, 0, 1.0, 0);
    c.probability[168] = c.probability[231] = 2.0;
    c.sample.shards = &divided;
    mel_space *space = NULL;
    mel_error err;
    assert_int_equal(mel_space_from_sample(&space, &c.sample, &opt, &err), MEL_EDATA);
    assert_non_null(strstr(err.text, "row 57:"));
    test_classes_clear(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_many_files),
        cmocka_unit_test(test_wrong_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
