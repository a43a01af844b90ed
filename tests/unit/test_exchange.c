/* Cost ratios from people: the posterior against an integral, pairs as whole numbers. */
#include "elicit/active/ask/levels.h"
#include "elicit/active/ask/regret.h"
#include "elicit/active/posterior/exchange.h"
#include "elicit/shared.h"
#include "support/binary.h"
#include "support/test.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static mel_face *face; /* logistic:a=3,b=0.7, as in docs/measurements.md */

static int set_up(void **state)
{
    (void)state;
    face = test_logistic_face(3.0, 0.7);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    mel_face_free(face);
    test_cleanup();
    return 0;
}

/* --- the posterior -------------------------------------------------------------------------------- */

/* P(answer) of one component, written down once more. */
static double likely(const mel_component *component, double rho, mel_trade t, mel_trade_answer answer,
                     double width, double outcomes)
{
    const double r = exp(rho), margin = (r * t.tp - t.tn) / sqrt(1.0 + r * r), x = rho - log(t.tn / t.tp);
    const double absolute = outcomes > 2.5 ? fmax(component->absolute, 0.002) : component->absolute;
    const double z = x / sqrt(component->relative * component->relative +
                              absolute * absolute * (x / margin) * (x / margin));
    const double first = 1.0 / (1.0 + exp(width - z)), second = 1.0 / (1.0 + exp(width + z));
    const double looks = answer == MEL_TRADE_FIRST    ? first
                         : answer == MEL_TRADE_SECOND ? second
                                                      : 1.0 - first - second;
    return component->lapse / outcomes + (1.0 - component->lapse) * looks;
}

static void test_posterior(void **state)
{
    (void)state;
    enum { ANSWERS = 9 };
    static const char *const assumed[] = { "person", "logistic:50", "logistic", "flip:0.1" };
    static const double widths[] = { 0.4, 1.2, 3.5 };
    mel_rng rng;
    mel_rng_seed(&rng, 5);
    for (size_t k = 0; k < 2 * COUNT(assumed); k++) {
        const bool ties = k % 2 == 1;
        mel_assumption assume;
        assert_int_equal(mel_assumption_parse(&assume, assumed[k / 2], NULL), MEL_OK);
        mel_exchange x;
        assert_int_equal(mel_exchange_init(&x, &assume, 0.0, 0.0, NULL), MEL_OK);
        mel_trade trade[ANSWERS];
        mel_trade_answer answer[ANSWERS];
        for (size_t i = 0; i < ANSWERS; i++) {
            trade[i] = (mel_trade){ .tp = 0.01 + 0.1 * mel_rng_uniform(&rng),
                                    .tn = 0.01 + 0.2 * mel_rng_uniform(&rng) };
            answer[i] = ties && i % 4 == 2            ? MEL_TRADE_SAME
                        : mel_rng_uniform(&rng) < 0.5 ? MEL_TRADE_FIRST
                                                      : MEL_TRADE_SECOND;
            assert_int_equal(mel_exchange_tell(&x, trade[i], answer[i], NULL), MEL_OK);
        }
        double want[MEL_EXCHANGE_CELLS], sum = 0.0;
        for (size_t c = 0; c < MEL_EXCHANGE_CELLS; c++) {
            const double rho = mel_exchange_cell(c);
            want[c] = 0.0;
            for (size_t w = 0; w < x.n_components; w++)
                for (size_t t = 0; t < (ties ? 3U : 1U); t++) {
                    double product = x.component[w].weight * pow(1.0 + rho * rho / 12.0, -2.0);
                    for (size_t i = 0; i < ANSWERS; i++)
                        product *= likely(&x.component[w], rho, trade[i], answer[i], ties ? widths[t] : 0.0,
                                          ties ? 3.0 : 2.0);
                    want[c] += product;
                }
            sum += want[c];
        }
        for (size_t c = 0; c < MEL_EXCHANGE_CELLS; c++)
            assert_close(x.mass[c], want[c] / sum, 1e-7);
        mel_exchange_free(&x);
    }
}

/* Where the test adds enough for regret to be a share of that. */
static bool adds_enough(double r)
{
    return r > 0.3 && r < 10.0;
}

/* Against every vertex of the face, for random beliefs. */
static void test_regret(void **state)
{
    (void)state;
    enum { BELIEFS = 6, CELLS = MEL_EXCHANGE_CELLS };
    const double all = mel_face_positives(face), none = mel_face_negatives(face);
    mel_regret *regret = calloc(1, sizeof *regret);
    double r[CELLS], best[CELLS];
    mel_rng rng;
    mel_rng_seed(&rng, 8);
    assert_non_null(regret);
    assert_ok(mel_regret_init(regret, face, false, NULL), NULL);
    for (size_t c = 0; c < CELLS; c++) {
        mel_point p;
        r[c] = exp(mel_exchange_cell(c));
        assert_ok(mel_face_support(&p, face, r[c], 1.0, NULL), NULL);
        best[c] = r[c] * p.tp + p.tn;
    }
    for (int k = 0; k < BELIEFS; k++) {
        const double middle = -1.0 + 3.0 * mel_rng_uniform(&rng), spread = 0.1 + mel_rng_uniform(&rng);
        double mass[CELLS], sum = 0.0, least = INFINITY, doubt = 0.0;
        mel_point chosen;
        for (size_t c = 0; c < CELLS; c++)
            sum += mass[c] = exp(-0.5 * pow((mel_exchange_cell(c) - middle) / spread, 2.0));
        assert_ok(mel_face_support(&chosen, face, exp(middle), 1.0, NULL), NULL);
        for (size_t c = 0; c < CELLS; c++) {
            mass[c] /= sum;
            const double lost = best[c] - r[c] * chosen.tp - chosen.tn;
            if (adds_enough(r[c]) && lost > 0.05 * (best[c] - fmax(r[c] * all, none)))
                doubt += mass[c];
        }
        for (size_t v = 0; v < mel_face_vertices(face); v++) {
            const mel_point p = mel_face_vertex(face, v);
            double lost = 0.0;
            for (size_t c = 0; c < CELLS; c++)
                lost += mass[c] * (best[c] - r[c] * p.tp - p.tn) / sqrt(1.0 + r[c] * r[c]);
            least = fmin(least, lost);
        }
        assert_close(mel_regret_expected(regret, mass), least, 1e-9);
        for (size_t c = 0; c < CELLS; c++)
            mass[c] = adds_enough(r[c]) ? mass[c] : 0.0;
        assert_close(mel_regret_doubt(regret, mass, middle), doubt, 1e-9);
    }
    free(regret);
}

/* A question tells what it is expected to tell: the mean fall of the entropy over its answers. */
static void test_information(void **state)
{
    (void)state;
    const mel_assumption assume = { .kind = MEL_NOISE_PERSON };
    const mel_trade told = { .tp = 0.02, .tn = 0.05 }, asked = { .tp = 0.03, .tn = 0.1 };
    for (int ties = 0; ties < 2; ties++) {
        double entropy[4] = { 0.0 }, p[3] = { 0.0 };
        for (int k = 0; k < 4; k++) { /* 0 to 2: after an answer; 3: before it */
            mel_exchange x;
            assert_int_equal(mel_exchange_init(&x, &assume, 0.0, 0.0, NULL), MEL_OK);
            assert_int_equal(mel_exchange_tell(&x, told, ties ? MEL_TRADE_SAME : MEL_TRADE_FIRST, NULL),
                             MEL_OK);
            if (k < 3)
                p[k] = mel_exchange_foresee(&x, asked, (mel_trade_answer)k);
            if (k < 3 && (k < 2 || ties))
                assert_int_equal(mel_exchange_tell(&x, asked, (mel_trade_answer)k, NULL), MEL_OK);
            for (size_t c = 0; c < MEL_EXCHANGE_CELLS; c++)
                entropy[k] -= x.mass[c] > 0.0 ? x.mass[c] * log2(x.mass[c]) : 0.0;
            if (k == 3) {
                double *work = calloc(mel_exchange_work_size(), sizeof *work);
                assert_non_null(work);
                mel_exchange_prepare(&x, false, work);
                const double fall =
                    entropy[3] - p[0] * entropy[0] - p[1] * entropy[1] - (ties ? p[2] * entropy[2] : 0.0);
                assert_close(mel_exchange_information(&x, work, asked), fall, 1e-6);
                free(work);
            }
            mel_exchange_free(&x);
        }
        assert_close(p[0] + p[1] + (ties ? p[2] : 0.0), 1.0, 1e-9);
    }
}

/* For somebody who errs more a question is judged by what the cautious interval is made of. */
static void test_cautious_questions(void **state)
{
    (void)state;
    const mel_assumption assume = { .kind = MEL_NOISE_PERSON };
    const mel_trade near = { .tp = 0.03, .tn = 0.06 }, beyond = { .tp = 0.03, .tn = 0.12 };
    mel_exchange x;
    assert_int_equal(mel_exchange_init(&x, &assume, 0.0, 0.0, NULL), MEL_OK);
    for (size_t i = 0; i < 12; i++) { /* a ratio of 2, without a mistake */
        const double by = 1.0 + 0.5 / (double)(i + 1);
        const mel_trade t = { .tp = 0.03, .tn = 0.06 * (i % 2 == 0 ? by : 1.0 / by) };
        assert_int_equal(mel_exchange_tell(&x, t, i % 2 == 0 ? MEL_TRADE_SECOND : MEL_TRADE_FIRST, NULL),
                         MEL_OK);
    }
    double *work = calloc(2 * mel_exchange_work_size(), sizeof *work), low = 0.0, high = 0.0;
    assert_non_null(work);
    double *cautious = work + mel_exchange_work_size();
    mel_exchange_prepare(&x, false, work);
    mel_exchange_prepare(&x, true, cautious);
    for (size_t i = 1; i < 20; i++)
        assert_close(mel_exchange_prepared_quantile(work, 0.05 * (double)i),
                     mel_exchange_quantile(&x, 0.05 * (double)i), 1e-9);
    mel_exchange_cautious(&x, 0.01, &low, &high);
    assert_close(mel_exchange_prepared_quantile(cautious, 0.01), low, 1e-9);
    assert_close(mel_exchange_prepared_quantile(cautious, 0.99), high, 1e-9);
    const double now = mel_exchange_information(&x, work, beyond) / mel_exchange_information(&x, work, near);
    const double then =
        mel_exchange_information(&x, cautious, beyond) / mel_exchange_information(&x, cautious, near);
    print_message("  farther off the balance: %.2f of what is told there, for somebody who errs more %.2f\n",
                  now, then);
    assert_true(then > now);
    free(work);
    mel_exchange_free(&x);
}

/* --- pairs ---------------------------------------------------------------------------------------- */

static void test_levels(void **state)
{
    (void)state;
    const double slopes[] = { 0.8, 3.0, 12.0 }, offsets[] = { -3.0, 0.0, 0.7 };
    for (size_t k = 0; k < 18; k++) {
        mel_face *one = test_logistic_face(slopes[k % 3], offsets[k / 3 % 3]);
        const double p = mel_face_positives(one), n = mel_face_negatives(one);
        mel_levels l;
        const bool imagined = k >= 9;
        assert_int_equal((imagined ? mel_levels_imagined : mel_levels_real)(&l, one, 1000, NULL), MEL_OK);
        assert_true(l.n > 10);
        assert_close(l.positives, 1000.0 * p, 1.0);
        for (size_t i = 0; i < l.n; i++) {
            const mel_level *v = &l.level[i];
            assert_true(v->tp[0] >= v->tp[1] + 3 && v->tn[1] >= v->tn[0] + 3);
            assert_true(v->tp[0] <= l.positives && v->tn[1] <= 1000 - l.positives);
            assert_close(v->rate, log((double)(v->tn[1] - v->tn[0]) / (v->tp[0] - v->tp[1])), 1e-12);
            assert_true(v->plausible > 0.0 && v->plausible <= 1.0);
            assert_true(i == 0 || v->rate >= v[-1].rate);
            for (int side = 0; side < 2; side++) { /* next to the boundary, and better than chance */
                const mel_point at = { v->tp[side] / 1000.0, v->tn[side] / 1000.0 };
                assert_true(imagined || mel_face_contains(one, at, 0.0008));
                assert_true(at.tp / p + at.tn / n > 1.0 - 0.001 / fmin(p, n));
            }
        }
        mel_levels_free(&l);
        mel_face_free(one);
    }
    assert_int_equal(mel_levels_people(0.4, 0.6), 1000);
    assert_int_equal(mel_levels_people(0.99, 0.01), 10000);
}

static void *ask_for_levels(void *context)
{
    mel_levels *out = context;
    mel_face *one = (mel_face *)out->level; /* lent in this way */
    (void)mel_levels_real(out, one, 1000, NULL);
    return NULL;
}

/* A face keeps its pairs: whoever asks gets the same ones, however many people were asked about before, by
 * whom at the same moment, and whatever became of them. */
static void test_levels_are_kept(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    mel_face *one = test_logistic_face(3.0, 0.7), *same = test_logistic_face(3.0, 0.7);
    mel_levels few, expected, found[THREADS];
    pthread_t thread[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        found[i] = (mel_levels){ .level = (mel_level *)one };
        assert_int_equal(pthread_create(&thread[i], NULL, ask_for_levels, &found[i]), 0);
    }
    assert_int_equal(mel_levels_real(&few, same, 200, NULL), MEL_OK);
    assert_int_equal(mel_levels_real(&expected, same, 1000, NULL), MEL_OK);
    assert_true(few.people == 200 && expected.people == 1000 && few.n != expected.n);
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(thread[i], NULL), 0);
        assert_int_equal(found[i].n, expected.n);
        for (size_t j = 0; j < expected.n; j++) {
            assert_true(found[i].level[j].rate == expected.level[j].rate && !found[i].level[j].used);
            assert_memory_equal(found[i].level[j].tp, expected.level[j].tp, sizeof expected.level[j].tp);
        }
        found[i].level[0].used = true;
        mel_levels_free(&found[i]);
    }
    assert_int_equal(mel_levels_real(&found[0], one, 1000, NULL), MEL_OK);
    assert_false(found[0].level[0].used);
    mel_levels_free(&found[0]);
    mel_levels_free(&few);
    mel_levels_free(&expected);
    mel_face_free(one);
    mel_face_free(same);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_posterior),   cmocka_unit_test(test_regret),
        cmocka_unit_test(test_information), cmocka_unit_test(test_cautious_questions),
        cmocka_unit_test(test_levels),      cmocka_unit_test(test_levels_are_kept),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
