/* Sessions about given classifiers, in every family that is linear in known features: the order of the pool
 * and its best classifier are those of a hidden metric, in fewer questions than random pairs take. Answers
 * are about the numbers shown. Intervals hold the hidden metric as often as they claim; where the pool has
 * counts, so does the probability that a classifier is the best in truth. Of classifiers that differ little
 * the one that was preferred throughout comes first, or it is said why not. */
#include "support/test.h"

#include "base/la.h"
#include "elicit/active/family.h"
#include "elicit/active/posterior/sphere.h"
#include "elicit/engine.h"
#include "melicit/outcome.h"
#include "melicit/rank.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_POOL = 40, MOST_SIZE = 16 };

typedef struct {
    const char *name;
    mel_family family;
    mel_layout layout;
} kind;
static const kind kinds[] = {
    { "linear, two classes", MEL_FAMILY_LINEAR, { MEL_CONFUSION, MEL_BINARY, 2, 0 } },
    { "linear, 3 classes", MEL_FAMILY_LINEAR, { MEL_CONFUSION, MEL_OFFDIAGONAL, 3, 0 } },
    { "diagonal, 3 classes", MEL_FAMILY_DIAGONAL_LINEAR, { MEL_CONFUSION, MEL_DIAGONAL, 3, 0 } },
    { "quadratic, two classes", MEL_FAMILY_QUADRATIC, { MEL_RATES, MEL_OFFDIAGONAL, 2, 0 } },
    { "polynomial:3, two classes", MEL_FAMILY_POLYNOMIAL, { MEL_RATES, MEL_OFFDIAGONAL, 2, 0 } },
    { "fair linear, (2,2)", MEL_FAMILY_FAIR_LINEAR, { MEL_RATES, MEL_OFFDIAGONAL, 2, 2 } },
    { "fair quadratic, (2,2)", MEL_FAMILY_FAIR_QUADRATIC, { MEL_RATES, MEL_OFFDIAGONAL, 2, 2 } },
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* A pool, what its classifiers truly do, and a hidden metric. */
typedef struct {
    mel_pool pool;
    double actual[MOST_POOL * MOST_SIZE]; /* statistics */
    double measured[MOST_POOL * MOST_SIZE];
    double rows[MOST_POOL * 8];
    double share[4], prevalence[8];
    char name[MOST_POOL][24], *names[MOST_POOL];
    mel_domain domain;
    mel_session_options opt;
    mel_basis *basis;
    double w[64], coefficient[128];
    mel_rng rng;
} world;

/* Rates of one class: right more often than not. */
static void draw_rates(double *rate, size_t k, size_t right, mel_rng *rng)
{
    double left = 0.0;
    for (size_t j = 0; j < k; j++)
        left += rate[j] = j == right ? 0.0 : 0.02 + mel_rng_uniform(rng);
    const double wrong = 0.02 + 0.5 * mel_rng_uniform(rng);
    for (size_t j = 0; j < k; j++)
        rate[j] = j == right ? 1.0 - wrong : rate[j] / left * wrong;
}

/* How often each of k outcomes came in n draws, as shares. */
static void draw_counts(double *seen, const double *rate, size_t k, size_t n, mel_rng *rng)
{
    memset(seen, 0, k * sizeof *seen);
    for (size_t i = 0; i < n; i++) {
        double u = mel_rng_uniform(rng);
        size_t j = 0;
        while (j + 1 < k && u >= rate[j])
            u -= rate[j++];
        seen[j] += 1.0 / (double)n;
    }
}

static void put(double *out, const mel_layout *layout, size_t truth, const double *rate, double share)
{
    const size_t k = layout->n_classes;
    if (layout->coordinates == MEL_BINARY)
        out[1 - truth] = share * rate[truth];
    else if (layout->coordinates == MEL_DIAGONAL)
        out[truth] = share * rate[truth];
    for (size_t j = 0, at = truth * (k - 1); layout->coordinates == MEL_OFFDIAGONAL && j < k; j++)
        if (j != truth)
            out[at++] = share * rate[j];
}

/* n_rows 0: measured exactly. */
static void draw_pool(world *w, const mel_layout *layout, size_t n, size_t n_rows)
{
    const size_t k = layout->n_classes, m = layout->n_groups > 1 ? layout->n_groups : 1;
    const size_t size = mel_layout_size(layout), cells = m * k;
    for (size_t i = 0; i < k; i++)
        w->share[i] = 1.0 / (double)k;
    for (size_t i = 0; i < m * k; i++)
        w->prevalence[i] = 1.0 / (double)m;
    for (size_t c = 0; c < n; c++) {
        for (size_t g = 0; g < m; g++)
            for (size_t i = 0; i < k; i++) {
                double rate[4] = { 0 }, seen[4] = { 0 };
                const double share = layout->kind == MEL_RATES ? 1.0 : w->share[i];
                const size_t at = c * size + g * size / m, rows = cells > 0 ? n_rows / cells : 0;
                draw_rates(rate, k, i, &w->rng);
                put(w->actual + at, layout, i, rate, share);
                if (n_rows > 0)
                    draw_counts(seen, rate, k, rows, &w->rng);
                put(w->measured + at, layout, i, n_rows > 0 ? seen : rate, share);
                w->rows[(c * m + g) * k + i] = n_rows > 0 ? (double)rows : (double)NAN;
            }
        (void)snprintf(w->name[c], sizeof w->name[c], "c%zu", c + 1);
        w->names[c] = w->name[c];
    }
    w->pool = (mel_pool){
        .layout = *layout, .n = n, .size = size, .name = w->names, .value = w->measured, .class_rows = w->rows
    };
}

static void world_new(world *w, const kind *of, size_t n, size_t n_rows, uint64_t seed)
{
    mel_error err = { 0 };
    *w = (world){ .basis = NULL };
    mel_rng_seed(&w->rng, seed);
    draw_pool(w, &of->layout, n, n_rows);
    w->domain = (mel_domain){ .pool = &w->pool,
                              .class_share = w->share,
                              .prevalence = of->layout.n_groups > 1 ? w->prevalence : NULL };
    mel_session_options_init(&w->opt);
    w->opt.family = of->family;
    w->opt.seed = seed;
    w->opt.decisions = mel_decisions_usual();
    assert_ok(mel_basis_new(&w->basis, &w->domain, &w->opt, &err), &err);
    const mel_sampler_options prior = { .dimension = w->basis->dimension,
                                        .n_cone = w->basis->n_cone,
                                        .cone = w->basis->cone,
                                        .start = w->basis->start,
                                        .seed = seed };
    mel_sampler *sampler = NULL;
    assert_ok(mel_sampler_new(&sampler, &prior, &err), &err);
    const mel_samples *s = mel_sampler_samples(sampler);
    memcpy(w->w, s->w + (s->count / 2) * s->dimension, s->dimension * sizeof *w->w);
    mel_sampler_free(sampler);
    w->basis->ops->coefficients(w->basis, w->w, w->coefficient);
}

static void world_free(world *w)
{
    mel_basis_free(w->basis);
}

/* How much better a is than b, by statistics that are measured or true. */
static double better(const world *w, const double *statistics, size_t a, size_t b)
{
    double row[64];
    const size_t size = w->pool.size;
    w->basis->ops->row(w->basis, statistics + a * size, statistics + b * size, row);
    return mel_dot(w->basis->dimension, row, w->w);
}

static mel_answer answer(const world *w, const double *a, const double *b)
{
    const size_t one = mel_pool_place(&w->pool, a), other = mel_pool_place(&w->pool, b);
    assert_true(one < w->pool.n && other < w->pool.n && one != other);
    return better(w, w->measured, one, other) > 0.0 ? MEL_ANSWER_A : MEL_ANSWER_B;
}

/* Answers until the end or the most; how many. */
static size_t run(mel_session *session, const world *w, size_t most)
{
    mel_error err = { 0 };
    for (size_t n = 0;; n++) {
        const mel_question *question = NULL;
        bool done = false;
        if (n == most)
            return n;
        assert_ok(mel_session_ask(&question, &done, session, &err), &err);
        if (done)
            return n;
        assert_non_null(question->classifier_a);
        assert_string_not_equal(question->classifier_a, question->classifier_b);
        assert_ok(mel_session_tell(session, question->number, answer(w, question->a, question->b), NAN, &err),
                  &err);
    }
}

/* Share of all pairs that a metric orders as the hidden one does, and whether the best classifier is its. */
static double agreement(bool *best, const world *w, const mel_metric *metric)
{
    const size_t n = w->pool.n, size = w->pool.size;
    size_t alike = 0, first = 0, found = 0;
    for (size_t i = 0; i < n; i++) {
        double d = 0.0;
        first = better(w, w->measured, i, first) > 0.0 ? i : first;
        assert_int_equal(
            mel_metric_compare(&d, metric, w->measured + i * size, w->measured + found * size, NULL), MEL_OK);
        found = d > 0.0 ? i : found;
        for (size_t j = 0; j < i; j++) {
            assert_int_equal(
                mel_metric_compare(&d, metric, w->measured + i * size, w->measured + j * size, NULL), MEL_OK);
            alike += (d > 0.0) == (better(w, w->measured, i, j) > 0.0);
        }
    }
    *best = first == found;
    return 2.0 * (double)alike / (double)(n * (n - 1));
}

static void test_order_found(void **state)
{
    (void)state;
    const size_t worlds = test_repeats(60, 1, 1);
    for (size_t k = 0; k < KINDS; k++) {
        double sum = 0.0, questions = 0.0;
        size_t best_found = 0;
        for (size_t i = 0; i < worlds; i++) {
            world w;
            mel_error err = { 0 };
            mel_session *session = NULL;
            mel_metric *metric = NULL;
            mel_summary summary;
            bool best = false;
            world_new(&w, &kinds[k], 20, 0, 100 * k + i + 1);
            w.opt.until = MEL_UNTIL_RANK;
            w.opt.max_questions = 190;
            assert_ok(mel_session_new(&session, &w.domain, &w.opt, &err), &err);
            questions += (double)run(session, &w, 190);
            assert_ok(mel_session_result(&metric, &summary, session, &err), &err);
            assert_true(summary.end == MEL_END_TOLERANCE || summary.end == MEL_END_EXHAUSTED ||
                        summary.end == MEL_END_DECIDED);
            assert_int_equal(summary.disagreements, 0);
            sum += agreement(&best, &w, metric);
            best_found += best;
            mel_metric_free(metric);
            mel_session_free(session);
            world_free(&w);
        }
        print_message("%s: %.1f questions, %.2f%% of pairs ordered alike, best one in %zu of %zu\n",
                      kinds[k].name, questions / (double)worlds, 100.0 * sum / (double)worlds, best_found,
                      worlds);
        assert_true(sum / (double)worlds > 0.985);
        assert_true(best_found + worlds / 20 + 1 >= worlds);
    }
}

/* Told `most` random pairs instead. */
static double random_agreement(const world *w, size_t most, mel_rng *rng)
{
    mel_error err = { 0 };
    mel_engine *engine = NULL;
    mel_metric *metric = NULL;
    mel_summary summary;
    bool best = false;
    const size_t n = w->pool.n, size = w->pool.size;
    assert_ok(mel_engine_candidates(&engine, &w->domain, &w->opt, &err), &err);
    for (size_t i = 0; i < most; i++) {
        const size_t a = mel_rng_below(rng, n), b = (a + 1 + mel_rng_below(rng, n - 1)) % n;
        double pair[2 * MOST_SIZE];
        memcpy(pair, w->measured + a * size, size * sizeof *pair);
        memcpy(pair + MOST_SIZE, w->measured + b * size, size * sizeof *pair);
        const mel_pair told = { .a = pair, .b = pair + MOST_SIZE };
        assert_ok(engine->ops->tell(engine, &told, answer(w, told.a, told.b), &err), &err);
    }
    assert_ok(engine->ops->result(engine, &metric, &summary, &err), &err);
    const double share = agreement(&best, w, metric);
    mel_metric_free(metric);
    engine->ops->free(engine);
    return share;
}

/* After as many questions, fewer pairs are ordered wrongly than after random ones. */
static void test_better_than_random(void **state)
{
    (void)state;
    enum { QUESTIONS = 12 };
    static const size_t tried[] = { 1, 5 };
    const size_t worlds = test_repeats(100, 6, 1);
    for (size_t t = 0; t < COUNT(tried); t++) {
        double chosen = 0.0, random = 0.0;
        for (size_t i = 0; i < worlds; i++) {
            world w;
            mel_error err = { 0 };
            mel_session *session = NULL;
            mel_metric *metric = NULL;
            bool best = false;
            world_new(&w, &kinds[tried[t]], 30, 0, 900 + i);
            assert_ok(mel_session_new(&session, &w.domain, &w.opt, &err), &err);
            (void)run(session, &w, QUESTIONS);
            assert_ok(mel_session_result(&metric, NULL, session, &err), &err);
            chosen += 1.0 - agreement(&best, &w, metric);
            random += 1.0 - random_agreement(&w, QUESTIONS, &w.rng);
            mel_metric_free(metric);
            mel_session_free(session);
            world_free(&w);
        }
        print_message(
            "%s, 30 classifiers, %d questions: %.2f%% of pairs ordered wrongly, %.2f%% after random "
            "pairs\n",
            kinds[tried[t]].name, QUESTIONS, 100.0 * chosen / (double)worlds,
            100.0 * random / (double)worlds);
        assert_true(worlds < 5 || chosen < 0.7 * random);
    }
}

typedef struct {
    double covered, width; /* share of coefficients within their intervals; their mean width */
    size_t all;
} coverage;

static coverage measure(const kind *of, size_t most, size_t worlds)
{
    coverage out = { 0 };
    for (size_t i = 0; i < worlds; i++) {
        world w;
        mel_error err = { 0 };
        mel_session *session = NULL;
        mel_metric *metric = NULL;
        world_new(&w, of, 10, 200, 5000 + i);
        w.opt.tolerance = 1e-3;
        assert_ok(mel_session_new(&session, &w.domain, &w.opt, &err), &err);
        (void)run(session, &w, most);
        assert_ok(mel_session_result(&metric, NULL, session, &err), &err);
        for (size_t j = 0; j < w.basis->n_reported; j++, out.all++) {
            double low = 0.0, high = 0.0;
            assert_true(mel_metric_interval(metric, j, &low, &high));
            out.covered += low <= w.coefficient[j] && w.coefficient[j] <= high;
            out.width += high - low;
        }
        mel_metric_free(metric);
        mel_session_free(session);
        world_free(&w);
    }
    out.covered /= (double)out.all;
    out.width /= (double)out.all;
    return out;
}

/* In make soak every family; 95% less three standard errors of as many worlds. */
static void test_intervals(void **state)
{
    (void)state;
    const size_t worlds = test_repeats(200, 8, 1), step = worlds < 100 ? 5 : 1, most = worlds < 100 ? 15 : 30;
    for (size_t k = 0; k < KINDS; k += step) {
        const coverage got = measure(&kinds[k], most, worlds);
        print_message("%s, 10 classifiers, at most %zu questions: %.1f%% of %zu covered, width %.3f\n",
                      kinds[k].name, most, 100.0 * got.covered, got.all, got.width);
        assert_true(got.covered > 0.95 - 3.0 * sqrt(0.95 * 0.05 / (double)worlds));
    }
}

/* How often the classifier that comes first is the best by its true rates, next to what is said. */
static void test_best_in_truth(void **state)
{
    (void)state;
    static const size_t tried[] = { 0, 1, 5 };
    const size_t worlds = test_repeats(400, 40, 2);
    for (size_t t = 0; t < COUNT(tried); t++) {
        double said = 0.0, spread = 0.0;
        size_t best = 0;
        for (size_t i = 0; i < worlds; i++) {
            world w;
            mel_error err = { 0 };
            mel_session *session = NULL;
            mel_outcome *outcome = NULL;
            double sum = 0.0;
            world_new(&w, &kinds[tried[t]], 6, 400, 8000 + i);
            assert_ok(mel_session_new(&session, &w.domain, &w.opt, &err), &err);
            (void)run(session, &w, 15);
            assert_ok(mel_outcome_of_session(&outcome, session, NULL, &err), &err);
            for (size_t j = 0; j < outcome->n_order; j++)
                sum += outcome->order[j].truly_first;
            assert_close(sum, 1.0, 1e-9);
            const double p = outcome->order[0].truly_first;
            size_t truly = 0;
            for (size_t j = 1; j < w.pool.n; j++)
                truly = better(&w, w.actual, j, truly) > 0.0 ? j : truly;
            best += truly == outcome->order[0].place;
            said += p;
            spread += p * (1.0 - p);
            mel_outcome_free(outcome);
            mel_session_free(session);
            world_free(&w);
        }
        print_message(
            "%s, 6 classifiers, 400 rows: the first one is the best in truth in %zu of %zu, %.1f said\n",
            kinds[tried[t]].name, best, worlds, said);
        assert_true(fabs((double)best - said) < 3.0 * sqrt(spread) + 0.02 * (double)worlds);
    }
}

/* Every classifier of a small pool with counts is asked about, the last one included. */
static void test_none_left_out(void **state)
{
    (void)state;
    for (size_t n = 3; n <= 5; n++) {
        world w;
        mel_error err = { 0 };
        mel_session *session = NULL;
        bool asked[MOST_POOL] = { false };
        world_new(&w, &kinds[1], n, 200, 70 + n);
        w.opt.tolerance = 1e-3;
        assert_ok(mel_session_new(&session, &w.domain, &w.opt, &err), &err);
        (void)run(session, &w, n * n);
        for (uint32_t i = 0; i < mel_session_answers(session); i++) {
            const mel_record record = mel_session_record(session, i);
            asked[mel_pool_place(&w.pool, record.a)] = asked[mel_pool_place(&w.pool, record.b)] = true;
        }
        for (size_t c = 0; c < n; c++)
            assert_true(asked[c]);
        mel_session_free(session);
        world_free(&w);
    }
}

/* Same options and answers, same questions; taking back and going on leads to the same metric. */
static void test_undo(void **state)
{
    (void)state;
    world w;
    mel_error err = { 0 };
    mel_metric *metric[2] = { NULL, NULL };
    world_new(&w, &kinds[1], 12, 300, 77);
    w.opt.tolerance = 1e-3;
    for (size_t i = 0; i < 2; i++) {
        mel_session *session = NULL;
        assert_ok(mel_session_new(&session, &w.domain, &w.opt, &err), &err);
        (void)run(session, &w, i == 0 ? 10 : 6);
        for (size_t back = 0; back < 3 && i == 1; back++)
            assert_ok(mel_session_undo(session, &err), &err);
        (void)run(session, &w, i == 0 ? 0 : 7);
        assert_int_equal(mel_session_answers(session), 10);
        assert_ok(mel_session_result(&metric[i], NULL, session, &err), &err);
        mel_session_free(session);
    }
    for (size_t j = 0; j < w.basis->n_reported; j++)
        assert_true(mel_metric_coefficient(metric[0])[j] == mel_metric_coefficient(metric[1])[j]);
    mel_metric_free(metric[0]);
    mel_metric_free(metric[1]);
    world_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_found),   cmocka_unit_test(test_better_than_random),
        cmocka_unit_test(test_intervals),     cmocka_unit_test(test_none_left_out),
        cmocka_unit_test(test_best_in_truth), cmocka_unit_test(test_undo),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
