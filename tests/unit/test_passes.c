/* Optimisation where no process sees all training rows: the bits of a run on all of them, in any order of
 * merging; what is refused. */
#include "base/rng.h"
#include "optimise/shared.h"
#include "support/test.h"

#include <math.h>
#include <string.h>

/* The first file has more rows than fit one slice of a pass. */
enum { CLASSES = 3, FILES = 4, TRAIN_ROWS = 141000, VALIDATION_ROWS = 300, ITERATIONS = 5 };
static const size_t cut[FILES + 1] = { 0, 140000, 140001, 140400, TRAIN_ROWS };
static const char *const file[FILES] = { "a", "b", "c", "d" };
static const char *const class_name[] = { "x", "y", "z" };

typedef struct {
    double probability[TRAIN_ROWS * CLASSES];
    uint32_t label[TRAIN_ROWS];
    mel_measure *measure;
    double validation_probability[VALIDATION_ROWS * CLASSES];
    uint32_t validation_label[VALIDATION_ROWS];
} problem;

/* Probabilities are tenths, so that rules meet ties. */
static void fill(mel_rng *rng, size_t n, double *probability, uint32_t *label)
{
    for (size_t i = 0; i < n; i++) {
        const double a = (double)mel_rng_below(rng, 11), b = (double)mel_rng_below(rng, (uint64_t)(11.0 - a));
        probability[i * CLASSES] = a / 10.0;
        probability[i * CLASSES + 1] = b / 10.0;
        probability[i * CLASSES + 2] = (10.0 - a - b) / 10.0;
        const double u = 10.0 * mel_rng_uniform(rng);
        label[i] = u < a ? 0 : u < a + b ? 1 : 2;
    }
}

static void make(problem *p)
{
    mel_rng rng;
    mel_error err = { 0 };
    mel_rng_seed(&rng, 5);
    fill(&rng, TRAIN_ROWS, p->probability, p->label);
    fill(&rng, VALIDATION_ROWS, p->validation_probability, p->validation_label);
    assert_ok(mel_measure_named(&p->measure, "g-mean", CLASSES, 0, &err), &err);
}

static mel_optimise_result run(const problem *p, mel_weight_shape shape, mel_passes *passes,
                               const char *checkpoint)
{
    mel_optimise_result found;
    mel_optimise_options opt;
    mel_error err = { 0 };
    const mel_weight_rows train = { cut[FILES], p->probability, p->label, NULL },
                          validation = { VALIDATION_ROWS, p->validation_probability, p->validation_label,
                                         NULL };
    const mel_black_box box = mel_measure_box(p->measure, NULL);
    size_t start[FILES + 1];
    memcpy(start, cut, sizeof start);
    const mel_shards shards = { .n = FILES, .start = start };
    mel_optimise_options_init(&opt);
    opt.iterations = ITERATIONS;
    opt.shape = shape;
    opt.passes = passes;
    opt.shards = passes == NULL ? &shards : NULL;
    opt.checkpoint = checkpoint;
    assert_ok(mel_optimise(&found, CLASSES, 1, passes == NULL ? &train : NULL, &validation, &box, &opt, &err),
              &err);
    return found;
}

static mel_moments *take(const problem *p, const mel_passes *passes, size_t i, int threads)
{
    mel_moments *one = NULL;
    mel_error err = { 0 };
    const mel_weight_rows rows = { cut[i + 1] - cut[i], p->probability + cut[i] * CLASSES, p->label + cut[i],
                                   NULL };
    assert_ok(mel_passes_take(&one, passes, file[i], &rows, threads, &err), &err);
    return one;
}

static mel_moments *merge(mel_moments *a, mel_moments *b)
{
    mel_moments *both = NULL;
    mel_error err = { 0 };
    assert_ok(mel_moments_merge(&both, a, b, &err), &err);
    mel_moments_free(a);
    mel_moments_free(b);
    return both;
}

/* All files, in another order and grouping each time. */
static mel_moments *take_all(const problem *p, const mel_passes *passes, size_t turn)
{
    mel_moments *m[FILES];
    for (size_t i = 0; i < FILES; i++)
        m[i] = take(p, passes, (i * 3 + turn) % FILES, 1 + (int)(turn % 2));
    return turn % 2 == 0 ? merge(merge(m[0], m[1]), merge(m[2], m[3]))
                         : merge(m[3], merge(merge(m[1], m[2]), m[0]));
}

/* The same iterate, out of its file. */
static mel_passes *stored(mel_passes *passes)
{
    mel_passes *read = NULL;
    mel_error err = { 0 };
    const char *path = test_path("iterate.json");
    assert_ok(mel_passes_save(passes, path, &err), &err);
    assert_ok(mel_passes_load(&read, path, &err), &err);
    mel_passes_free(passes);
    return read;
}

static void assert_same(const mel_optimise_result *a, const mel_optimise_result *b)
{
    assert_int_equal(a->mixture.n_rules, b->mixture.n_rules);
    assert_memory_equal(a->mixture.share, b->mixture.share, a->mixture.n_rules * sizeof *a->mixture.share);
    assert_memory_equal(a->mixture.gain, b->mixture.gain,
                        a->mixture.n_rules * CLASSES * CLASSES * sizeof *a->mixture.gain);
    assert_true(a->value == b->value && a->gap == b->gap && a->queries == b->queries && a->end == b->end);
}

static void test_same_bits(void **state)
{
    (void)state;
    static problem p;
    make(&p);
    for (int way = 0; way < 3; way++) {
        const mel_weight_shape shape = way == 1 ? MEL_WEIGHT_WHOLE : MEL_WEIGHT_DIAGONAL;
        const char *checkpoint = way == 2 ? test_path("checkpoint") : NULL;
        mel_passes *passes = NULL;
        mel_error err = { 0 };
        mel_optimise_result whole = run(&p, shape, NULL, NULL), found;
        assert_ok(mel_passes_new(&passes, CLASSES, class_name, NULL, shape, &err), &err);
        size_t rounds = 0;
        for (found = run(&p, shape, passes, checkpoint); found.end == MEL_OPTIMISE_WAITS; rounds++) {
            assert_int_equal(found.mixture.n_rules, 0);
            passes = stored(passes);
            mel_moments *all = take_all(&p, passes, rounds);
            assert_int_equal(mel_moments_rows(all), cut[FILES]);
            assert_ok(mel_passes_add(passes, all, &err), &err);
            mel_moments_free(all);
            mel_optimise_clear(&found);
            found = run(&p, shape, passes, checkpoint);
        }
        assert_int_equal(rounds, ITERATIONS + 1);
        assert_same(&found, &whole);
        mel_optimise_clear(&found);
        mel_optimise_clear(&whole);
        mel_passes_free(passes);
    }
    mel_measure_free(p.measure);
}

static void test_refuses(void **state)
{
    (void)state;
    static problem p;
    make(&p);
    mel_passes *passes = NULL;
    mel_moments *none = NULL;
    mel_error err = { 0 };
    const mel_weight_rows few = { 5, p.probability, p.label, NULL };
    assert_ok(mel_passes_new(&passes, CLASSES, class_name, NULL, MEL_WEIGHT_DIAGONAL, &err), &err);
    assert_int_equal(mel_passes_take(&none, passes, "a", &few, 1, &err), MEL_ESTATE);
    mel_optimise_result found = run(&p, MEL_WEIGHT_DIAGONAL, passes, NULL);
    mel_optimise_clear(&found);

    mel_moments *small = take(&p, passes, 1, 1),
                *rest = merge(take(&p, passes, 2, 1), take(&p, passes, 3, 1));
    assert_int_equal(mel_passes_add(passes, small, &err), MEL_EDATA);
    assert_non_null(strstr(err.text, "no training row is of class"));
    assert_int_equal(mel_moments_merge(&none, small, small, &err), MEL_EDATA);
    assert_non_null(strstr(err.text, "are there twice"));
    assert_ok(mel_passes_add(passes, rest, &err), &err);
    assert_ok(mel_passes_add(passes, rest, &err), &err); /* a run that fails is begun again with the same */
    assert_int_equal(mel_passes_add(passes, small, &err), MEL_EDATA);
    found = run(&p, MEL_WEIGHT_DIAGONAL, passes, NULL);
    mel_optimise_clear(&found);
    assert_int_equal(mel_passes_add(passes, rest, &err), MEL_EDATA);
    assert_non_null(strstr(err.text, "another iterate"));

    static const char *const words[] = { "c are in the sums before, but not in these",
                                         "a are not in the sums before, but in these",
                                         "had 399 rows, and now has 398", "not those of the sums before" };
    for (size_t i = 0; i < COUNT(words); i++) {
        const size_t from = i == 0 ? 3 : i == 1 ? 0 : 2;
        mel_moments *now = NULL;
        const mel_weight_rows rows = { cut[3] - cut[2] - (i == 2), p.probability + cut[2] * CLASSES,
                                       p.label + cut[i == 3 ? 0 : 2], NULL };
        if (i < 2)
            now = take(&p, passes, from, 1);
        else
            assert_ok(mel_passes_take(&now, passes, "c", &rows, 1, &err), &err);
        if (i > 1)
            now = merge(now, take(&p, passes, 3, 1));
        assert_int_equal(mel_passes_add(passes, now, &err), MEL_EDATA);
        if (strstr(err.text, words[i]) == NULL)
            fail_msg("%s", err.text);
        mel_moments_free(now);
    }
    assert_int_equal(mel_moments_merge(&none, small, rest, &err), MEL_OK);
    mel_moments_free(none);
    mel_moments_free(small);
    mel_moments_free(rest);
    mel_passes_free(passes);
    mel_measure_free(p.measure);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_same_bits), cmocka_unit_test(test_refuses) };
    return cmocka_run_group_tests(tests, NULL, test_teardown);
}
