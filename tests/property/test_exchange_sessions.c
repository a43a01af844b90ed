/* Cost ratios from people: sessions of many kinds of respondents. */
#include "base/stat.h"
#include "elicit/shared.h"
#include "support/binary.h"
#include "support/traders.h"

#include <math.h>

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

/* --- sessions ------------------------------------------------------------------------------------- */

static bool holds(const mel_summary *s, double rate)
{
    return exp(rate) >= s->ratio_low && exp(rate) <= s->ratio_high;
}

static bool same_point(const double *a, const double *b)
{
    return a[0] == b[0] && a[1] == b[1];
}

static void check_no_pair_twice(const mel_session *session)
{
    for (uint32_t i = 0; i < mel_session_answers(session); i++)
        for (uint32_t j = 0; j < i; j++) {
            const mel_record a = mel_session_record(session, i), b = mel_session_record(session, j);
            const bool same = (same_point(a.a, b.a) && same_point(a.b, b.b)) ||
                              (same_point(a.a, b.b) && same_point(a.b, b.a));
            assert_true(!same || a.repeated);
        }
}

/* Random ratios that the test can ask about. */
static void test_recovers(void **state)
{
    (void)state;
    enum { PEOPLE = 24 };
    static const struct {
        const char *name;
        test_trader_kind kind;
        double error; /* median */
    } rows[] = { { "exact", TEST_EXACT, 0.06 },
                 { "weber", TEST_WEBER, 0.15 },
                 { "same", TEST_SAYS_SAME, 0.06 } };
    const mel_session_options opt = test_options_for_people();
    mel_rng rng;
    mel_rng_seed(&rng, 3);
    for (size_t k = 0; k < COUNT(rows); k++) {
        double error[PEOPLE];
        size_t held = 0;
        for (size_t i = 0; i < PEOPLE; i++) {
            const test_trader p = { rows[k].kind, log(0.2) + log(75.0) * mel_rng_uniform(&rng), i };
            mel_session *session = test_answer_as(face, &opt, &p);
            const mel_summary s = test_summary_of(session);
            error[i] = fabs(log(s.ratio) - p.rate);
            held += holds(&s, p.rate);
            check_no_pair_twice(session);
            assert_true(s.end != MEL_END_TOLERANCE || s.ratio_high / s.ratio_low <= 1.6);
            mel_session_free(session);
        }
        const double median = mel_quantile_sort(PEOPLE, error, 0.5);
        print_message("  %s: median error %.3f, %zu of %d held\n", rows[k].name, median, held, PEOPLE);
        assert_true(median <= rows[k].error && held >= PEOPLE - 2);
    }
}

/* Careful people show that they are: many of their sessions end by the tolerance. Hardly any ends with what
 * does not hold, also of people who hardly see what they are asked. What is narrower than asked for is not
 * claimed: somebody who errs more might miss it. */
static void test_ends(void **state)
{
    (void)state;
    enum { PEOPLE = 24 };
    static const struct {
        const char *name;
        test_trader_kind kind;
        size_t least;
    } rows[] = { { "exact", TEST_EXACT, 16 },
                 { "weber", TEST_WEBER, 7 },
                 { "hardly sees", TEST_HARDLY_SEES, 0 } };
    const mel_session_options opt = test_options_for_people();
    mel_rng rng;
    mel_rng_seed(&rng, 5);
    for (size_t k = 0; k < COUNT(rows); k++) {
        size_t ended = 0, held = 0, questions = 0, as_asked = 0;
        for (size_t i = 0; i < PEOPLE; i++) {
            const test_trader p = { rows[k].kind, log(0.2) + log(75.0) * mel_rng_uniform(&rng), i };
            mel_session *session = test_answer_as(face, &opt, &p);
            const mel_summary s = test_summary_of(session);
            if (s.end == MEL_END_TOLERANCE) {
                ended++;
                held += holds(&s, p.rate);
                questions += s.questions;
                as_asked += s.ratio_high / s.ratio_low > 1.599;
                assert_true(s.ratio_high / s.ratio_low <= 1.6);
            }
            mel_session_free(session);
        }
        print_message("  %s: %zu of %d end by the tolerance, after %.1f questions, %zu hold\n", rows[k].name,
                      ended, PEOPLE, (double)questions / fmax(1.0, (double)ended), held);
        assert_true(ended >= rows[k].least && ended <= held + 1);
        assert_true(4 * as_asked >= 3 * ended);
    }
}

/* What the best setting for a rate loses, as a share of what the best one adds to flagging all or none. */
static double regret_of(double rate, double truth)
{
    const double r = exp(truth), all = r * mel_face_positives(face), none = mel_face_negatives(face);
    mel_point best, setting;
    assert_ok(mel_face_support(&best, face, r, 1.0, NULL), NULL);
    assert_ok(mel_face_support(&setting, face, exp(rate), 1.0, NULL), NULL);
    const double value = r * best.tp + best.tn;
    return (value - r * setting.tp - setting.tn) / (value - fmax(all, none));
}

/* Sessions until the setting is settled are shorter than those until the ratio is known, and where they say
 * so the setting is as good as they say. */
static void test_settles(void **state)
{
    (void)state;
    enum { PEOPLE = 24 };
    static const struct {
        const char *name;
        test_trader_kind kind;
        size_t least;
    } rows[] = { { "exact", TEST_EXACT, 18 },
                 { "weber", TEST_WEBER, 12 },
                 { "hardly sees", TEST_HARDLY_SEES, 0 } };
    mel_session_options until[2] = { test_options_for_people(), test_options_for_people() };
    until[0].until = MEL_UNTIL_AUTO;
    mel_rng rng;
    mel_rng_seed(&rng, 11);
    for (size_t k = 0; k < COUNT(rows); k++) {
        size_t settled = 0, right = 0, asked[2] = { 0 };
        for (size_t i = 0; i < PEOPLE; i++) {
            const test_trader p = { rows[k].kind, log(0.25) + log(60.0) * mel_rng_uniform(&rng), i };
            for (size_t j = 0; j < 2; j++) {
                mel_session *session = test_answer_as(face, &until[j], &p);
                const mel_summary s = test_summary_of(session);
                asked[j] += s.questions;
                assert_true(isfinite(s.settled) == (j == 0));
                assert_true(s.end != MEL_END_DECIDED || (j == 0 && s.questions >= 5 && s.settled > 0.9));
                settled += s.end == MEL_END_DECIDED;
                right += s.end == MEL_END_DECIDED && regret_of(log(s.ratio), p.rate) <= 0.05;
                mel_session_free(session);
            }
        }
        print_message("  %s: %zu of %d settled, %zu right; %zu questions, %zu until ratio\n", rows[k].name,
                      settled, PEOPLE, right, asked[0], asked[1]);
        assert_true(settled >= rows[k].least && 10 * right >= 8 * settled && asked[0] <= asked[1]);
    }
}

/* A settled session goes on for the ratio, in memory by a larger budget and in its file by the option; no
 * other session changes what it is for. */
static void test_goes_on_for_the_ratio(void **state)
{
    (void)state;
    const test_trader p = { TEST_EXACT, log(2.5), 3 };
    const mel_domain domain = { .face = face };
    const char *path = test_path("settled.jsonl");
    mel_session_options opt = test_options_for_people();
    mel_error err;
    opt.until = MEL_UNTIL_DECISION;
    mel_session *session = test_answer_as(face, &opt, &p), *stored = NULL;
    assert_int_equal(test_summary_of(session).end, MEL_END_DECIDED);
    assert_ok(mel_session_open(&stored, &domain, &opt, NULL, path, &err), &err);
    for (uint32_t i = 0; i < mel_session_answers(session); i++) {
        const mel_record said = mel_session_record(session, i);
        assert_ok(mel_session_replay(stored, &said, &err), &err);
    }
    mel_session_free(stored);
    opt.until = MEL_UNTIL_RATIO;
    assert_ok(mel_session_open(&stored, &domain, &opt, NULL, path, &err), &err);
    assert_int_equal(mel_session_answers(stored), mel_session_answers(session));
    assert_ok(mel_session_set_budget(session, 60, &err), &err);
    const mel_question *q = NULL;
    for (bool done = false; !done;) {
        assert_ok(mel_session_ask(&q, &done, session, &err), &err);
        if (!done)
            assert_ok(mel_session_tell(session, q->number, test_trader_answer(&p, q), NAN, &err), &err);
    }
    const mel_summary known = test_summary_of(session);
    assert_int_equal(known.end, MEL_END_TOLERANCE);
    assert_true(known.ratio_high <= 1.6 * known.ratio_low * (1.0 + 1e-9) && holds(&known, p.rate));
    bool done = true;
    assert_ok(mel_session_ask(&q, &done, stored, &err), &err);
    assert_false(done);
    mel_session_free(stored);
    mel_session_free(session);
    path = test_path("ratio.jsonl");
    assert_ok(mel_session_open(&stored, &domain, &opt, NULL, path, &err), &err);
    mel_session_free(stored);
    opt.until = MEL_UNTIL_DECISION;
    assert_int_equal(mel_session_open(&stored, &domain, &opt, NULL, path, &err), MEL_ECONFLICT);
}

/* What cannot be judged is refused when it is asked for, and left alone when it is not. */
static void test_until(void **state)
{
    (void)state;
    const mel_domain domain = { .face = face };
    mel_session *session = NULL;
    mel_error err;
    mel_session_options opt = test_options_for_people();
    opt.questions = MEL_QUESTIONS_FAR;
    opt.tolerance_factor = 0.0;
    for (mel_until until = MEL_UNTIL_DECISION; until <= MEL_UNTIL_RATIO; until++) {
        opt.until = until;
        assert_int_equal(mel_session_new(&session, &domain, &opt, &err), MEL_EINVAL);
        assert_non_null(strstr(err.text, until == MEL_UNTIL_RATIO ? "until ratio" : "until decision"));
    }
    opt.until = MEL_UNTIL_AUTO;
    assert_ok(mel_session_new(&session, &domain, &opt, &err), &err);
    assert_int_equal(mel_session_get_options(session)->until, MEL_UNTIL_TOLERANCE);
    mel_session_free(session);
}

/* Only a band that is stated covers somebody who uses it against us. */
static void test_stated_band(void **state)
{
    (void)state;
    enum { PEOPLE = 12 };
    mel_session_options opt = test_options_for_people();
    opt.assume = (mel_assumption){ .kind = MEL_NOISE_BAND, .size = 0.02 };
    mel_rng rng;
    mel_rng_seed(&rng, 4);
    for (size_t i = 0; i < PEOPLE; i++) {
        const test_trader p = { TEST_ADVERSARY, log(0.2) + log(75.0) * mel_rng_uniform(&rng), i };
        mel_session *session = test_answer_as(face, &opt, &p);
        const mel_summary s = test_summary_of(session);
        assert_true(holds(&s, p.rate));
        mel_session_free(session);
    }
}

/* --- the course of a session ------------------------------------------------------------------------ */

static void test_cannot_say(void **state)
{
    (void)state;
    const mel_session_options opt = test_options_for_people();
    const mel_domain domain = { .face = face };
    static const mel_answer answers[] = { MEL_ANSWER_SKIP, MEL_ANSWER_SAME };
    for (size_t k = 0; k < 2; k++) {
        mel_session *session = NULL;
        mel_error err;
        assert_ok(mel_session_new(&session, &domain, &opt, &err), &err);
        const double before = test_summary_of(session).ratio;
        for (uint32_t n = 1; n <= 20; n++) {
            const mel_question *q = NULL;
            bool done = false;
            assert_ok(mel_session_ask(&q, &done, session, &err), &err);
            if (done)
                break;
            assert_ok(mel_session_tell(session, n, answers[k], NAN, &err), &err);
        }
        check_no_pair_twice(session);
        if (answers[k] == MEL_ANSWER_SKIP)
            assert_close(test_summary_of(session).ratio, before, 0.0);
        mel_session_free(session);
    }
}

/* A ratio beyond what the test can ask is found with an imagined one. */
static void test_goes_on_imagined(void **state)
{
    (void)state;
    mel_session_options opt = test_options_for_people();
    opt.imagined_beyond = true;
    opt.max_questions = 40;
    mel_session *session = test_answer_as(face, &opt, &(test_trader){ TEST_EXACT, log(60.0), 1 });
    const mel_summary s = test_summary_of(session);
    assert_true(s.imagined && isfinite(s.ratio_high) && holds(&s, log(60.0)));
    assert_false(mel_session_record(session, 0).imagined);
    assert_true(mel_session_record(session, mel_session_answers(session) - 1).imagined);
    mel_session_free(session);
}

/* A session is its log: read back, undone and answered again it asks the same. */
static void test_replays(void **state)
{
    (void)state;
    mel_session_options opt = test_options_for_people();
    opt.imagined_beyond = true;
    opt.max_questions = 24;
    const mel_domain domain = { .face = face };
    const char *path = test_path("people.jsonl");
    const test_trader p = { TEST_WEBER, log(40.0), 7 };
    mel_session *whole = test_answer_as(face, &opt, &p), *session = NULL;
    mel_error err;
    for (uint32_t i = 0; i < mel_session_answers(whole); i++) {
        assert_ok(mel_session_open(&session, &domain, &opt, NULL, path, &err), &err);
        for (int round = 0; round < 2; round++) { /* answered, taken back, answered again */
            const mel_question *q = NULL;
            bool done = false;
            assert_ok(mel_session_ask(&q, &done, session, &err), &err);
            const mel_record r = mel_session_record(whole, i);
            assert_false(done);
            assert_memory_equal(q->a, r.a, 2 * sizeof *r.a);
            assert_memory_equal(q->b, r.b, 2 * sizeof *r.b);
            assert_int_equal(q->imagined, r.imagined);
            assert_ok(mel_session_tell(session, q->number, test_trader_answer(&p, q), NAN, &err), &err);
            if (round == 0)
                assert_ok(mel_session_undo(session, &err), &err);
        }
        mel_session_free(session);
    }
    mel_session_free(whole);
}

static void test_drift(void **state)
{
    (void)state;
    enum { PEOPLE = 30 };
    size_t moved = 0, stayed = 0;
    mel_session_options opt = test_options_for_people();
    opt.tolerance_factor = 1.001;
    for (uint64_t seed = 1; seed <= PEOPLE; seed++) {
        opt.seed = seed;
        const double rate = log(2.0) + 0.1 * (double)(seed % 10);
        mel_session *a = test_answer_as(face, &opt, &(test_trader){ TEST_MOVES, rate, seed }),
                    *b = test_answer_as(face, &opt, &(test_trader){ TEST_WEBER, rate, seed });
        moved += test_summary_of(a).misfit.kind == MEL_MISFIT_DRIFT;
        stayed += test_summary_of(b).misfit.kind == MEL_MISFIT_NONE;
        mel_session_free(a);
        mel_session_free(b);
    }
    print_message("  %zu of %d moved, %zu stayed\n", moved, PEOPLE, stayed);
    assert_true(10 * moved >= (size_t)7 * PEOPLE && 10 * stayed >= (size_t)9 * PEOPLE);
}

/* People who want so many positives found, or lean to A: what is told of them, and of those with a rate. */
static void test_misfits(void **state)
{
    (void)state;
    enum { PEOPLE = 12 };
    size_t found = 0, held = 0, leans = 0, told = 0;
    const mel_session_options usual = test_options_for_people();
    for (uint64_t seed = 1; seed <= PEOPLE; seed++) {
        mel_session_options opt = usual;
        opt.seed = seed;
        const double target = 0.75 + 0.015 * (double)seed, rate = -1.0 + 0.2 * (double)seed;
        mel_session *a = test_answer_as(
            face, &opt, &(test_trader){ TEST_FINDS, log(target * mel_face_positives(face)), seed });
        mel_session *b = test_answer_as(face, &opt, &(test_trader){ TEST_LEANS, rate, seed });
        mel_session *c = test_answer_as(face, &opt, &(test_trader){ TEST_EXACT, rate, seed });
        const mel_misfit aim = test_summary_of(a).misfit, side = test_summary_of(b).misfit;
        found += aim.kind == MEL_MISFIT_FOUND;
        held += aim.kind == MEL_MISFIT_FOUND && aim.low <= target && target <= aim.high;
        leans += side.kind == MEL_MISFIT_SIDE && side.value > 0.0;
        told += test_summary_of(c).misfit.kind != MEL_MISFIT_NONE;
        mel_session_free(a);
        mel_session_free(b);
        mel_session_free(c);
    }
    print_message(
        "  %zu aim at a share, %zu of them held; %zu lean; of those with a rate %zu are told something\n",
        found, held, leans, told);
    assert_true(2 * found >= PEOPLE && held + 1 >= found && 2 * leans >= PEOPLE && told <= 2);
}

static void test_options(void **state)
{
    (void)state;
    mel_session_options opt;
    mel_error err;
    mel_session_options_init(&opt);
    assert_ok(mel_session_options_set(&opt, "tolerance", "1.6x", &err), &err);
    assert_close(opt.tolerance_factor, 1.6, 0.0);
    assert_ok(mel_session_options_set(&opt, "tolerance", "0.01", &err), &err);
    assert_close(opt.tolerance_factor, 0.0, 0.0);
    static const char *const bad[] = { "1x", "x", "-2x", "1.6 x", "nanx", "1e9x" };
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_int_equal(mel_session_options_set(&opt, "tolerance", bad[i], &err), MEL_EINVAL);
    assert_ok(mel_session_options_from_json(&opt, "{\"tolerance\": \"2x\"}", &err), &err);
    assert_close(opt.tolerance_factor, 2.0, 0.0);
    /* Without realistic pairs: far ones. */
    opt = test_options_for_people();
    opt.direction = MEL_DIRECTION_UNKNOWN;
    mel_session *session = NULL;
    assert_ok(mel_session_new(&session, &(mel_domain){ .face = face }, &opt, &err), &err);
    assert_int_equal(mel_session_questions(session), MEL_QUESTIONS_FAR);
    mel_session_free(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recovers),   cmocka_unit_test(test_ends),
        cmocka_unit_test(test_settles),    cmocka_unit_test(test_goes_on_for_the_ratio),
        cmocka_unit_test(test_until),      cmocka_unit_test(test_stated_band),
        cmocka_unit_test(test_cannot_say), cmocka_unit_test(test_goes_on_imagined),
        cmocka_unit_test(test_replays),    cmocka_unit_test(test_drift),
        cmocka_unit_test(test_misfits),    cmocka_unit_test(test_options),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
