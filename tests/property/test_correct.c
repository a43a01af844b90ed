/* Rules of training rows whose labels flip, or that are of another population: corrected rows lead to the
 * rule of clean rows, with random hidden transition matrices and shifts. */
#include "base/rng.h"
#include "optimise/shared.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TRAIN = 40000, VALIDATION = 20000, MOST_K = 4 };

typedef struct {
    size_t n, k;
    double *clean, *noisy; /* n x k: probabilities of true classes, and of the labels */
    uint32_t *truth, *label;
} rows;

static void *room(size_t n, size_t size)
{
    void *block = calloc(n, size);
    if (block == NULL)
        abort();
    return block;
}

static void free_rows(rows *r)
{
    free(r->clean);
    free(r->noisy);
    free(r->truth);
    free(r->label);
}

static uint32_t draw_class(const double *p, size_t k, mel_rng *rng)
{
    double u = mel_rng_uniform(rng);
    uint32_t j = 0;
    while (j + 1 < k && u >= p[j])
        u -= p[j++];
    return j;
}

/* shift: of the first score, for rows of another population. */
static rows draw_rows(size_t n, size_t k, const double *transition, double shift, mel_rng *rng)
{
    rows r = { n,
               k,
               room(n * k, sizeof(double)),
               room(n * k, sizeof(double)),
               room(n, sizeof(uint32_t)),
               room(n, sizeof(uint32_t)) };
    for (size_t i = 0; i < n; i++) {
        double *p = r.clean + i * k, sum = 0.0;
        for (size_t j = 0; j < k; j++)
            sum += p[j] = exp(2.0 * mel_rng_normal(rng) + (j == 0 ? shift : 0.0));
        for (size_t j = 0; j < k; j++)
            p[j] /= sum;
        for (size_t t = 0; t < k; t++)
            for (size_t j = 0; j < k; j++)
                r.noisy[i * k + j] += p[t] * transition[t * k + j];
        r.truth[i] = draw_class(p, k, rng);
        r.label[i] = draw_class(transition + r.truth[i] * k, k, rng);
    }
    return r;
}

/* Rows of a random matrix with the most on the diagonal. */
static void draw_transition(double *out, size_t k, mel_rng *rng)
{
    for (size_t i = 0; i < k; i++) {
        double sum = 0.0;
        for (size_t j = 0; j < k; j++)
            sum += out[i * k + j] = mel_rng_uniform(rng) + (i == j ? 1.5 : 0.0);
        for (size_t j = 0; j < k; j++)
            out[i * k + j] /= sum;
    }
}

static mel_weight_rows learned_from(const rows *r)
{
    return (mel_weight_rows){ r->n, r->noisy, r->label, NULL };
}

/* Of rows whose labels are right, by the same model. */
static mel_weight_rows validation_of(const rows *r)
{
    return (mel_weight_rows){ r->n, r->noisy, r->truth, NULL };
}

static mel_measure *measure_of(const char *name, size_t k)
{
    mel_measure *measure = NULL;
    mel_error err;
    assert_ok(mel_measure_named(&measure, name, k, 0, &err), &err);
    return measure;
}

static double corrected(const mel_weight_rows *train, const mel_weight_rows *validation, const char *name,
                        size_t k, mel_correction correction, const double *inverse, double *start)
{
    mel_optimise_result found;
    mel_optimise_options opt;
    mel_error err;
    mel_optimise_options_init(&opt);
    opt.threads = 1;
    mel_measure *measure = measure_of(name, k);
    assert_ok(mel_optimise_corrected(&found, k, train, validation, measure, correction, inverse, &opt, &err),
              &err);
    assert_int_equal(found.end, MEL_OPTIMISE_DONE);
    assert_int_equal(found.mixture.n_classes, k);
    *start = found.start;
    const double value = found.value;
    mel_optimise_clear(&found);
    mel_measure_free(measure);
    return value;
}

/* With the true matrix, with one that clean rows tell, and on clean rows as if nothing had flipped. */
static void test_transitions(void **state)
{
    static const struct {
        size_t k;
        const char *name;
    } cases[] = { { 2, "f1" },     { 2, "g-mean" },   { 2, "accuracy" },
                  { 3, "g-mean" }, { 4, "accuracy" }, { 3, "macro-f1" } };
    (void)state;
    for (size_t c = 0; c < COUNT(cases); c++) {
        const size_t k = cases[c].k;
        double transition[MOST_K * MOST_K], inverse[MOST_K * MOST_K], start = 0.0, none = 0.0;
        double same[MOST_K * MOST_K] = { 0.0 };
        mel_rng rng;
        mel_error err;
        mel_rng_seed(&rng, 40 + c);
        draw_transition(transition, k, &rng);
        for (size_t i = 0; i < k; i++)
            same[i * k + i] = 1.0;
        rows train = draw_rows(TRAIN, k, transition, 1.0, &rng),
             validation = draw_rows(VALIDATION, k, transition, 1.0, &rng);
        const mel_weight_rows noisy = learned_from(&train), judged = validation_of(&validation);
        const mel_weight_rows clean = { train.n, train.clean, train.truth, NULL },
                              best_rows = { validation.n, validation.clean, validation.truth, NULL };
        assert_ok(mel_transition_invert(inverse, k, transition, &err), &err);
        const double known =
            corrected(&noisy, &judged, cases[c].name, k, MEL_CORRECT_LABELS, inverse, &start);
        const double best = corrected(&clean, &best_rows, cases[c].name, k, MEL_CORRECT_LABELS, same, &none);
        double estimated[MOST_K * MOST_K];
        assert_ok(mel_transition_of_clean(estimated, k, &judged, &err), &err);
        for (size_t i = 0; i < k * k; i++)
            assert_close(estimated[i], inverse[i], 0.1 * fmax(1.0, fabs(inverse[i])));
        const double by_clean =
            corrected(&noisy, &judged, cases[c].name, k, MEL_CORRECT_LABELS, estimated, &none);
        print_message("  %-9s of %zu: model %.4f, known %.4f, clean rows %.4f, nothing flipped %.4f\n",
                      cases[c].name, k, start, known, by_clean, best);
        assert_true(known >= best - 0.015 && by_clean >= best - 0.015);
        assert_true(known >= start - 0.002);
        free_rows(&train);
        free_rows(&validation);
    }
}

/* Where some rows are sure, they say how labels flip. */
static void test_sure_rows(void **state)
{
    static const double transition[] = { 0.8, 0.2, 0.3, 0.7 };
    (void)state;
    double told[4];
    mel_rng rng;
    mel_error err;
    mel_rng_seed(&rng, 3);
    rows train = draw_rows(TRAIN, 2, transition, 0.0, &rng);
    const mel_weight_rows noisy = learned_from(&train);
    assert_ok(mel_transition_of_sure(told, 2, &noisy, &err), &err);
    for (size_t i = 0; i < 4; i++)
        assert_close(told[i], transition[i], 0.02);
    free_rows(&train);
}

/* Training rows of another population: the best threshold for them is not that of the validation rows. Labels
 * depend on the score as before (covariate shift), or the shares of the classes differ as well. */
static void test_populations(void **state)
{
    static const double none[] = { 1.0, 0.0, 0.0, 1.0 };
    (void)state;
    double start = 0.0, ignored = 0.0;
    mel_rng rng;
    mel_rng_seed(&rng, 11);
    rows train = draw_rows(TRAIN, 2, none, 2.5, &rng),
         validation = draw_rows(VALIDATION, 2, none, -1.0, &rng);
    const mel_weight_rows from = learned_from(&train), to = validation_of(&validation);
    const double plain = corrected(&from, &to, "g-mean", 2, MEL_CORRECT_LABELS, none, &start),
                 best = corrected(&to, &to, "g-mean", 2, MEL_CORRECT_LABELS, none, &ignored),
                 weighted = corrected(&from, &to, "g-mean", 2, MEL_CORRECT_IMPORTANCE, NULL, &ignored),
                 matched = corrected(&from, &to, "g-mean", 2, MEL_CORRECT_MATCHING, NULL, &ignored);
    print_message("  g-mean: as trained %.4f, importance %.4f, matching %.4f, best %.4f\n", plain, weighted,
                  matched, best);
    assert_true(plain < best - 0.05);
    assert_true(weighted > best - 0.01 && matched > best - 0.02);
    free_rows(&train);
    free_rows(&validation);
}

static void test_refusals(void **state)
{
    static const struct {
        double transition[4];
        const char *why;
    } cases[] = { { { 0.5, 0.5, 0.5, 0.5 }, "flip so much alike" },
                  { { 0.9, 0.2, 0.1, 0.9 }, "row 1 of the transition matrix adds up to 1.1" },
                  { { 1.2, -0.2, 0.1, 0.9 }, "1.2 is no probability" },
                  { { NAN, 1.0, 0.1, 0.9 }, "no probability" } };
    (void)state;
    for (size_t c = 0; c < COUNT(cases); c++) {
        double inverse[4];
        mel_error err;
        assert_int_equal(mel_transition_invert(inverse, 2, cases[c].transition, &err), MEL_EDATA);
        assert_non_null(strstr(err.text, cases[c].why));
    }
    static const double probability[] = { 0.4, 0.6, 0.4, 0.6, 0.4, 0.6 };
    static const uint32_t label[] = { 0, 1, 1 };
    const mel_weight_rows alike = { 3, probability, label, NULL };
    double inverse[4];
    mel_error err;
    assert_int_equal(mel_transition_of_clean(inverse, 2, &alike, &err), MEL_EDATA);
    mel_measure *groups = NULL;
    assert_ok(mel_measure_named(&groups, "accuracy:difference", 2, 2, &err), &err);
    mel_optimise_result found;
    assert_int_equal(
        mel_optimise_corrected(&found, 2, &alike, &alike, groups, MEL_CORRECT_IMPORTANCE, NULL, NULL, &err),
        MEL_EINVAL);
    assert_non_null(strstr(err.text, "groups of the training rows"));
    mel_measure_free(groups);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_transitions),
        cmocka_unit_test(test_sure_rows),
        cmocka_unit_test(test_populations),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
