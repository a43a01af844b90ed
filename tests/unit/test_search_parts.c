/* What the searches are made of: halving an interval, bounds of coefficients. */
#include "support/test.h"

#include "elicit/search/procedure.h"

#include <math.h>

/* --- halving -------------------------------------------------------------------------------------- */

static void test_rounds(void **state)
{
    (void)state;
    static const struct {
        double low, high, tolerance;
        uint32_t want;
    } rows[] = {
        { 0.0, 1.0, 0.01, 7 },  { 0.0, 1.5707963267948966, 0.01, 8 },
        { 0.0, 1.0, 0.125, 3 }, { 0.0, 1.0, 1.0, 0 },
        { 0.0, 1.0, 2.0, 0 },   { 0.0, 1.0, 0.124, 4 },
        { 0.25, 0.5, 0.1, 2 },  { 1.5707963267948966, 3.141592653589793, 0.02, 7 },
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_int_equal(mel_arc_rounds((mel_arc){ rows[i].low, rows[i].high }, rows[i].tolerance),
                         rows[i].want);
}

typedef struct {
    mel_replay *replay;
    double from, to;
} posed;

static void note_question(void *context, double from, double to)
{
    posed *question = context;
    question->from = from;
    question->to = to;
    question->replay->a[0] = to;
    question->replay->b[0] = from;
}

/* One round on [0, 1]: what each set of answers ("better" to c > a, d > c, e > d, b > e) leaves. */
static void test_one_round(void **state)
{
    (void)state;
    static const struct {
        const char *answers; /* A, B or = */
        uint32_t per_round;
        bool minimise;
        double low, high;
    } rows[] = {
        { "BBBB", 4, false, 0.0, 0.5 },
        { "ABBB", 4, false, 0.0, 0.5 },
        { "AABB", 4, false, 0.25, 0.75 },
        { "AAAB", 4, false, 0.5, 1.0 },
        { "AAAA", 4, false, 0.5, 1.0 },
        /* out of order: a dip is read as rising */
        { "BABB", 4, false, 0.25, 0.75 },
        { "ABAB", 4, false, 0.5, 1.0 },
        { "AABA", 4, false, 0.5, 1.0 },
        { "BBBA", 4, false, 0.0, 0.5 },
        /* about the same is not better */
        { "A===", 4, false, 0.0, 0.5 },
        { "AA==", 4, false, 0.25, 0.75 },
        /* inverted */
        { "BBAA", 4, true, 0.25, 0.75 },
        { "AAAA", 4, true, 0.0, 0.5 },
        /* without the last, and without the first and the last */
        { "AAB", 3, false, 0.25, 0.75 },
        { "AAA", 3, false, 0.5, 1.0 },
        { "BB", 2, false, 0.0, 0.5 },
        { "AB", 2, false, 0.25, 0.75 },
        { "AA", 2, false, 0.5, 1.0 },
        { "BA", 2, false, 0.5, 1.0 },
        { "BA", 2, true, 0.25, 0.75 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        double a[1] = { 0.0 }, b[1] = { 0.0 };
        mel_answer answers[4] = { MEL_ANSWER_SAME };
        for (size_t j = 0; j < rows[i].per_round; j++) {
            const char letter[2] = { rows[i].answers[j], '\0' };
            assert_int_equal(mel_answer_parse(&answers[j], letter, NULL), MEL_OK);
        }
        mel_replay replay = {
            .dimension = 1, .answers = answers, .n_answers = rows[i].per_round, .a = a, .b = b
        };
        posed question = { .replay = &replay, .from = NAN };
        const mel_arc_search search = {
            .replay = &replay,
            .tolerance = 0.5,
            .per_round = rows[i].per_round,
            .minimise = rows[i].minimise,
            .pose = note_question,
            .context = &question,
        };
        mel_arc arc = { 0.0, 1.0 };
        assert_true(mel_arc_narrow(&arc, &search));
        assert_close(arc.low, rows[i].low, 0.0);
        assert_close(arc.high, rows[i].high, 0.0);
        assert_true(isnan(question.from));
        assert_int_equal(replay.used, rows[i].per_round);
    }
}

/* Past the recorded answers the question is written down and the interval is as the last full round left it.
 */
static void test_pending(void **state)
{
    (void)state;
    static const mel_answer answers[] = { MEL_ANSWER_A, MEL_ANSWER_A, MEL_ANSWER_A, MEL_ANSWER_A,
                                          MEL_ANSWER_B };
    static const struct {
        size_t n;
        uint32_t per_round;
        double low, high, from, to;
    } rows[] = {
        { 0, 4, 0.0, 1.0, 0.0, 0.25 },   { 3, 4, 0.0, 1.0, 0.75, 1.0 },      { 4, 4, 0.5, 1.0, 0.5, 0.625 },
        { 5, 4, 0.5, 1.0, 0.625, 0.75 }, { 0, 2, 0.0, 1.0, 0.25, 0.5 },      { 1, 2, 0.0, 1.0, 0.5, 0.75 },
        { 2, 2, 0.5, 1.0, 0.625, 0.75 }, { 5, 2, 0.75, 1.0, 0.875, 0.9375 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        double a[1] = { -1.0 }, b[1] = { -1.0 };
        mel_replay replay = { .dimension = 1, .answers = answers, .n_answers = rows[i].n, .a = a, .b = b };
        posed question = { .replay = &replay };
        const mel_arc_search search = { .replay = &replay,
                                        .tolerance = 0.01,
                                        .per_round = rows[i].per_round,
                                        .pose = note_question,
                                        .context = &question };
        mel_arc arc = { 0.0, 1.0 };
        assert_false(mel_arc_narrow(&arc, &search));
        assert_close(arc.low, rows[i].low, 0.0);
        assert_close(arc.high, rows[i].high, 0.0);
        assert_close(a[0], rows[i].to, 0.0);
        assert_close(b[0], rows[i].from, 0.0);
    }
}

/* --- bounds --------------------------------------------------------------------------------------- */

static void test_normalised_bounds(void **state)
{
    (void)state;
    static const struct {
        size_t n;
        double low[3], high[3], want_low[3], want_high[3];
    } rows[] = {
        { 2, { 1.0, 1.0 }, { 1.0, 3.0 }, { 0.25, 0.5 }, { 0.5, 0.75 } },
        { 3, { 1.0, 0.5, 0.0 }, { 1.0, 1.0, 2.0 }, { 0.25, 1.0 / 7.0, 0.0 }, { 2.0 / 3.0, 0.5, 4.0 / 7.0 } },
        /* nothing known about one, or about two of them */
        { 3, { 1.0, 0.0, 1.0 }, { 1.0, INFINITY, 1.0 }, { 0.0, 0.0, 0.0 }, { 0.5, 1.0, 0.5 } },
        { 3, { 1.0, 0.0, 0.0 }, { 1.0, INFINITY, INFINITY }, { 0.0, 0.0, 0.0 }, { 1.0, 1.0, 1.0 } },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        double low[3], high[3], widest = 0.0;
        for (size_t j = 0; j < rows[i].n; j++) {
            low[j] = rows[i].low[j];
            high[j] = rows[i].high[j];
            widest = fmax(widest, rows[i].want_high[j] - rows[i].want_low[j]);
        }
        mel_bounds_normalise(rows[i].n, low, high);
        for (size_t j = 0; j < rows[i].n; j++) {
            assert_close(low[j], rows[i].want_low[j], 1e-15);
            assert_close(high[j], rows[i].want_high[j], 1e-15);
        }
        assert_close(mel_bounds_radius(rows[i].n, low, high), 0.5 * widest, 1e-15);
    }
}

/* Shares of random numbers within their bounds are within the normalised ones. */
static void test_normalised_bounds_hold(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 61);
    for (size_t t = 0; t < 1000; t++) {
        double x[4], low[4], high[4], sum = 0.0;
        for (size_t j = 0; j < 4; j++) {
            x[j] = mel_rng_gamma(&rng, 0.5);
            low[j] = x[j] * mel_rng_uniform(&rng);
            high[j] = mel_rng_uniform(&rng) < 0.2 ? (double)INFINITY : x[j] * (1.0 + mel_rng_uniform(&rng));
            sum += x[j];
        }
        mel_bounds_normalise(4, low, high);
        for (size_t j = 0; j < 4; j++)
            assert_true(low[j] <= x[j] / sum + 1e-12 && x[j] / sum <= high[j] + 1e-12);
    }
}

static void test_negated_bounds(void **state)
{
    (void)state;
    double a[2] = { 0.5, -0.2 }, low[2] = { 0.4, -0.3 }, high[2] = { 0.7, 0.1 };
    mel_bounds_negate(2, a, low, high);
    assert_close(a[0], -0.5, 0.0);
    assert_close(low[0], -0.7, 0.0);
    assert_close(high[0], -0.4, 0.0);
    assert_close(low[1], -0.1, 0.0);
    assert_close(high[1], 0.3, 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rounds),
        cmocka_unit_test(test_one_round),
        cmocka_unit_test(test_pending),
        cmocka_unit_test(test_normalised_bounds),
        cmocka_unit_test(test_normalised_bounds_hold),
        cmocka_unit_test(test_negated_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
