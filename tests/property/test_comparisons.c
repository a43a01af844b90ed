/* Optimisation by comparisons: questions until the classifier stays within 99% of the best one, by sign steps
 * and by the thesis' slopes, with answers that are always right and with one in twenty wrong. */
#include "base/rng.h"
#include "optimise/shared.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 2000, MOST_CLASSES = 3, MOST_GROUPS = 2, QUESTIONS = 80, MOST_RUNS = 400 };

typedef struct {
    size_t k, m;
    double probability[ROWS * MOST_CLASSES];
    uint32_t label[ROWS], group[ROWS];
} world;

/* Softmax scores in two dimensions: slopes of length 2 that point away from each other, random offsets, so
 * that classes are of different sizes. */
static void make_world(world *w, size_t k, size_t m, mel_rng *rng)
{
    const double turn = 8.0 * atan(1.0);
    double slope[MOST_CLASSES][2], offset[MOST_GROUPS][MOST_CLASSES];
    *w = (world){ .k = k, .m = m };
    for (size_t j = 0; j < k; j++) {
        for (size_t d = 0; d < 2; d++)
            slope[j][d] =
                2.0 * (d == 0 ? cos(turn * (double)j / (double)k) : sin(turn * (double)j / (double)k));
        for (size_t g = 0; g < MOST_GROUPS; g++)
            offset[g][j] = mel_rng_normal(rng);
    }
    for (size_t i = 0; i < ROWS; i++) {
        const double x[2] = { mel_rng_normal(rng), mel_rng_normal(rng) };
        double sum = 0.0, u = mel_rng_uniform(rng);
        w->group[i] = m > 1 ? (uint32_t)mel_rng_below(rng, m) : 0;
        for (size_t j = 0; j < k; j++)
            sum += w->probability[i * k + j] =
                exp(slope[j][0] * x[0] + slope[j][1] * x[1] + offset[w->group[i]][j]);
        size_t label = 0;
        for (size_t j = 0; j < k; j++)
            w->probability[i * k + j] /= sum;
        while (label + 1 < k && u >= w->probability[i * k + label])
            u -= w->probability[i * k + label++];
        w->label[i] = (uint32_t)label;
    }
}

/* Worlds where the smallest class of a group has at least 10% of its rows. */
static void make_fair_world(world *w, size_t k, size_t m, mel_rng *rng)
{
    double least;
    do {
        size_t count[MOST_GROUPS][MOST_CLASSES] = { 0 }, all[MOST_GROUPS] = { 0 };
        make_world(w, k, m, rng);
        for (size_t i = 0; i < ROWS; i++) {
            count[w->group[i]][w->label[i]]++;
            all[w->group[i]]++;
        }
        least = 1.0;
        for (size_t g = 0; g < m; g++)
            for (size_t j = 0; j < k; j++)
                least = fmin(least, (double)count[g][j] / (double)all[g]);
    } while (least < 0.1);
}

static mel_rows sample_of(const world *w)
{
    return (mel_rows){ ROWS, w->k, w->m > 1 ? w->m : 0, w->probability, w->label, w->m > 1 ? w->group : NULL,
                       NULL, NULL };
}

static double value_of(const mel_black_box *box, const double *confusion)
{
    double value = 0.0;
    mel_error err = { 0 };
    assert_ok(box->value(&value, box->user, confusion, &err), &err);
    return value;
}

/* The best that any of many long searches finds: steps down to 0.01, answers always right, from the end of
 * the last. */
static double best_value(const world *w, const mel_black_box *box)
{
    const mel_rows rows = sample_of(w);
    double best = 0.0, confusion[MOST_GROUPS * MOST_CLASSES * MOST_CLASSES];
    static const double first[] = { 0.3, 1.0 };
    for (size_t f = 0; f < COUNT(first); f++) {
        mel_compare_options opt;
        mel_compare_options_init(&opt);
        opt.first_step = first[f];
        opt.least_step = 0.01;
        opt.max_questions = 150;
        mel_comparisons *search = NULL;
        mel_error err = { 0 };
        assert_ok(mel_comparisons_new(&search, &rows, &opt, &err), &err);
        for (const mel_comparison *q; (q = mel_comparisons_ask(search)) != NULL;) {
            const double a = value_of(box, q->confusion_a), b = value_of(box, q->confusion_b);
            best = fmax(best, fmax(a, b));
            assert_ok(mel_comparisons_tell(search, a > b ? MEL_ANSWER_A : MEL_ANSWER_B, &err), &err);
        }
        mel_comparisons_confusion(confusion, search);
        best = fmax(best, value_of(box, confusion));
        mel_comparisons_free(search);
    }
    return best;
}

/* Questions after which every later classifier is within 99% of the best; QUESTIONS when none is. */
static double questions_needed(const world *w, const mel_black_box *box, double best,
                               mel_compare_method method, uint32_t bits, double wrong, mel_rng *rng)
{
    const mel_rows rows = sample_of(w);
    double confusion[MOST_GROUPS * MOST_CLASSES * MOST_CLASSES];
    mel_compare_options opt;
    mel_compare_options_init(&opt);
    opt.method = method;
    opt.bits = bits;
    opt.max_questions = QUESTIONS;
    mel_comparisons *search = NULL;
    mel_error err = { 0 };
    uint32_t needed = 0, answered = 0;
    assert_ok(mel_comparisons_new(&search, &rows, &opt, &err), &err);
    for (;; answered++) {
        mel_comparisons_confusion(confusion, search);
        if (value_of(box, confusion) < 0.99 * best)
            needed = answered + 1;
        const mel_comparison *q = mel_comparisons_ask(search);
        if (q == NULL)
            break;
        const bool a = value_of(box, q->confusion_a) > value_of(box, q->confusion_b);
        const bool flip = mel_rng_uniform(rng) < wrong;
        assert_ok(mel_comparisons_tell(search, a != flip ? MEL_ANSWER_A : MEL_ANSWER_B, &err), &err);
    }
    mel_comparisons_free(search);
    return needed < QUESTIONS ? needed : QUESTIONS;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

typedef struct {
    const char *name, *measure;
    size_t k, m;
    double median[2], most[2]; /* right answers, 5% wrong: what must be kept */
} task;

static const task tasks[] = {
    { "G-mean k=2", "g-mean", 2, 1, { 5, 5 }, { 7, 8 } },
    { "F1 k=2", "f1", 2, 1, { 1, 1 }, { 2, 7 } },
    { "G-mean k=3", "g-mean", 3, 1, { 9, 12 }, { 12, 18 } },
    { "macro-F k=3", "macro-f1", 3, 1, { 8, 12 }, { 14, 19 } },
    { "4 rates, 2 groups", "g-mean", 2, 2, { 10, 10 }, { 13, 16 } },
};

/* Sorted numbers of questions over many worlds: [noise][method]. */
static void simulate(double got[2][2][MOST_RUNS], const task *t, size_t runs)
{
    mel_rng rng;
    world *w = malloc(sizeof *w);
    assert_non_null(w);
    mel_rng_seed(&rng, 1);
    for (size_t run = 0; run < runs; run++) {
        mel_measure *measure = NULL;
        mel_error err = { 0 };
        make_fair_world(w, t->k, t->m, &rng);
        assert_ok(mel_measure_named(&measure, t->measure, t->k, t->m > 1 ? t->m : 0, &err), &err);
        const mel_black_box box = mel_measure_box(measure, t->m > 1 ? w->group : NULL);
        const double best = best_value(w, &box);
        for (int noise = 0; noise < 2; noise++) {
            got[noise][0][run] =
                questions_needed(w, &box, best, MEL_COMPARE_SIGNS, 6, noise == 0 ? 0.0 : 0.05, &rng);
            got[noise][1][run] =
                questions_needed(w, &box, best, MEL_COMPARE_SLOPES, 6, noise == 0 ? 0.0 : 0.05, &rng);
        }
        mel_measure_free(measure);
    }
    for (int noise = 0; noise < 2; noise++)
        for (int method = 0; method < 2; method++)
            qsort(got[noise][method], runs, sizeof(double), by_size);
    free(w);
}

static void test_questions(void **state)
{
    (void)state;
    static double got[2][2][MOST_RUNS];
    const size_t runs = test_repeats(MOST_RUNS, 40, 2);
    size_t failed = 0;
    for (size_t i = 0; i < COUNT(tasks); i++) {
        const task *t = &tasks[i];
        simulate(got, t, runs);
        for (int noise = 0; noise < 2; noise++) {
            const double *signs = got[noise][0], *slopes = got[noise][1];
            const double median = signs[runs / 2], most = signs[runs * 9 / 10];
            print_message("  %-18s %s: sign steps %2.0f (%2.0f), slopes %2.0f (%2.0f)\n", t->name,
                          noise == 0 ? "right   " : "5% wrong", median, most, slopes[runs / 2],
                          slopes[runs * 9 / 10]);
            /* 90th percentiles of few worlds say little: make soak looks at 400. */
            failed += runs >= 30 && median > t->median[noise];
            failed += runs >= 30 && most > slopes[runs * 9 / 10];
            failed += runs >= 300 && most > t->most[noise];
        }
    }
    assert_int_equal(failed, 0);
}

/* "Neither will do" says nothing about which is better: it is refused, and the question stays open. */
static void test_neither(void **state)
{
    (void)state;
    static const mel_compare_method methods[] = { MEL_COMPARE_SIGNS, MEL_COMPARE_SLOPES };
    mel_rng rng;
    world *w = malloc(sizeof *w);
    assert_non_null(w);
    mel_rng_seed(&rng, 2);
    make_fair_world(w, 2, 1, &rng);
    const mel_rows rows = sample_of(w);
    for (size_t i = 0; i < COUNT(methods); i++) {
        mel_compare_options opt;
        mel_compare_options_init(&opt);
        opt.method = methods[i];
        mel_comparisons *search = NULL;
        mel_error err = { 0 };
        assert_ok(mel_comparisons_new(&search, &rows, &opt, &err), &err);
        const uint32_t number = mel_comparisons_ask(search)->number;
        assert_int_equal(mel_comparisons_tell(search, MEL_ANSWER_NEITHER, &err), MEL_EINVAL);
        assert_non_null(strstr(err.text, "not neither"));
        assert_int_equal(mel_comparisons_ask(search)->number, number);
        assert_ok(mel_comparisons_tell(search, MEL_ANSWER_SKIP, &err), &err);
        mel_comparisons_free(search);
    }
    free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_questions), cmocka_unit_test(test_neither) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
