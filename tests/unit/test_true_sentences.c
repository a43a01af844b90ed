/* Sessions end with sentences that are true, whoever answers: what is said must be there with its number,
 * what would be wrong must not, and what is said with a probability must hold as often. */
#include "elicit/shared.h"
#include "outcome/shared.h"
#include "space/shared.h"
#include "support/binary.h"
#include "support/fair.h"
#include "support/multiclass.h"
#include "support/traders.h"

#include <math.h>
#include <string.h>

enum { FACES = 2, SEEDS = 3 };
static mel_face *face[FACES]; /* pairs of the second one run out before a high ratio is known */

static int set_up(void **state)
{
    (void)state;
    face[0] = test_logistic_face(3.0, 0.7);
    face[1] = test_logistic_face(5.0, 0.0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (size_t i = 0; i < FACES; i++)
        mel_face_free(face[i]);
    test_cleanup();
    return 0;
}

typedef struct {
    mel_summary summary;
    uint32_t answers;
    bool grave; /* one of the statements is */
    mel_headline_kind headline;
    const char *label; /* of the consistency */
    char text[8192];
} result;

/* Sentences that were wrong too often, and are not said any more. */
static const char *const withdrawn[] = {
    "makes no difference how far", /* half of those who were told so had another best setting */
    "would settle",                /* as many questions more were enough for one person in ten */
    "would not have helped",       /* they would, in every third fair session of people who never err */
    "expect between",              /* on new data: both intervals held in 85% */
    "answers vary by",             /* of one in six who never err */
};

/* All that is said about a session, the words of the metric first. */
static result read_result(mel_session *session)
{
    result r = { .summary = test_summary_of(session), .answers = mel_session_answers(session) };
    mel_outcome_options about;
    mel_outcome_options_init(&about);
    about.missed = "missed cancer";
    about.missed_plural = "missed cancers";
    mel_outcome *found = NULL;
    mel_error err;
    assert_ok(mel_outcome_of_session(&found, session, &about, &err), &err);
    r.headline = found->headline.kind;
    r.label = found->consistency;
    assert_true(strstr(found->words, found->headline.text) == found->words ||
                found->headline.kind == MEL_HEADLINE_NUMBER);
    size_t used = 0;
    for (size_t i = 0; i < found->n_statements && used < sizeof r.text; i++) {
        used += (size_t)snprintf(r.text + used, sizeof r.text - used, "%s ", found->statements[i].text);
        r.grave = r.grave || found->statements[i].grave;
    }
    assert_true(used < sizeof r.text);
    for (size_t i = 0; i < sizeof withdrawn / sizeof *withdrawn; i++)
        if (strstr(r.text, withdrawn[i]) != NULL)
            fail_msg("\"%s\" is in: %s", withdrawn[i], r.text);
    mel_outcome_free(found);
    return r;
}

static result ask(const mel_face *on, const mel_session_options *opt, test_trader_kind kind, double ratio,
                  uint64_t seed)
{
    mel_session_options use = *opt;
    use.seed = seed;
    mel_session *session = test_answer_as(on, &use, &(test_trader){ kind, log(ratio), seed });
    const result r = read_result(session);
    mel_session_free(session);
    return r;
}

static bool says(const result *r, const char *words)
{
    return strstr(r->text, words) != NULL;
}

static void check_says(const result *r, const char *words)
{
    if (!says(r, words))
        fail_msg("\"%s\" is not in: %s", words, r->text);
}

static void check_silent(const result *r, const char *words)
{
    if (says(r, words))
        fail_msg("\"%s\" is in: %s", words, r->text);
}

/* The number after these words. */
static double number_after(const result *r, const char *words)
{
    double number = NAN;
    check_says(r, words);
    assert_int_equal(sscanf(strstr(r->text, words) + strlen(words), "%lf", &number), 1);
    return number;
}

/* A lower bound that holds, that does not contradict what can be asked about, and no reason for the end but
 * the true one. */
static void check_beyond(const result *r, double ratio)
{
    const double bound = number_after(r, "One missed cancer counts more than ");
    double least = NAN, most = NAN;
    check_says(r, "can ask about ");
    assert_int_equal(sscanf(strstr(r->text, "can ask about "), "can ask about %lf to %lf", &least, &most), 2);
    assert_true(bound > 15.0 && bound < ratio && bound <= r->summary.ratio_low + 1e-9);
    assert_true(isinf(r->summary.ratio_high) && r->summary.ratio_low <= r->summary.askable_high);
    assert_true(least < 1.0 && bound <= most && most <= r->summary.askable_high + 1e-9);
    assert_true(r->summary.end == MEL_END_BEYOND || r->summary.end == MEL_END_EXHAUSTED);
    check_says(r, "You never accepted a missed cancer for what this test can offer");
    check_says(r,
               r->summary.end == MEL_END_BEYOND ? "what counts is beyond" : "what counts seems to be beyond");
    check_silent(r, "a matter of chance");
    check_silent(r, "as precise as you asked");
    check_silent(r, "seems to have come to count");
}

static void test_lexicographic(void **state)
{
    (void)state;
    const mel_session_options opt = test_options_for_people();
    for (size_t i = 0; i < FACES; i++)
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            const result r = ask(face[i], &opt, TEST_LEXICOGRAPHIC, 1.0, seed);
            check_beyond(&r, INFINITY);
        }
}

static void test_ratio_of_300(void **state)
{
    (void)state;
    const mel_session_options opt = test_options_for_people();
    size_t exhausted = 0;
    for (size_t i = 0; i < FACES; i++)
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            const result r = ask(face[i], &opt, TEST_EXACT, 300.0, seed);
            check_beyond(&r, 300.0);
            exhausted += r.summary.end == MEL_END_EXHAUSTED;
        }
    assert_true(exhausted > 0); /* where noise would be a wrong reason */
}

/* A tolerance of weights is kept by the interval that is reported, also when it has one bound. */
static void test_beyond_by_weights(void **state)
{
    (void)state;
    mel_session_options opt = test_options_for_people();
    opt.tolerance_factor = 0.0;
    opt.tolerance = 0.02;
    for (size_t i = 0; i < FACES; i++)
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            const result r = ask(face[i], &opt, TEST_EXACT, 300.0, seed);
            const mel_summary *s = &r.summary;
            const double half = 0.5 * (atan(1.0 / s->ratio_low) - atan(1.0 / s->ratio_high));
            assert_true(number_after(&r, "One missed cancer counts more than ") < 300.0);
            assert_true(half <= 0.02 + 1e-9 || !says(&r, "as precise as you asked"));
        }
}

static void test_one_answer_only(void **state)
{
    (void)state;
    const mel_session_options opt = test_options_for_people();
    for (size_t i = 0; i < FACES; i++)
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            const result same = ask(face[i], &opt, TEST_ALWAYS_SAME, 1.0, seed);
            assert_true(number_after(&same, "All ") == same.answers);
            check_says(&same, "pairs were called about the same");
            assert_true(same.summary.ratio_high / same.summary.ratio_low >
                        5.0); /* nothing narrow was learned */
            check_silent(&same, "as precise as you asked");
            check_silent(&same, "seems to have come to count");

            const result a = ask(face[i], &opt, TEST_ALWAYS_A, 1.0, seed);
            assert_true(number_after(&a, "All ") == a.answers);
            check_says(&a, "answers were A, whatever was shown on that side");
            check_silent(&a, "as precise as you asked");
        }
}

/* What was assumed before is not told as if it were known. */
static void check_finds_nothing(const result *r)
{
    check_says(r, "Nothing was found about what counts");
    check_silent(r, "counts as much as");
    check_silent(r, "known to a factor");
    check_silent(r, "known only roughly");
}

/* Nothing was found, and that is said gravely. */
static void test_cannot_say(void **state)
{
    (void)state;
    const mel_session_options opt = test_options_for_people();
    for (size_t i = 0; i < FACES; i++) {
        const result r = ask(face[i], &opt, TEST_SKIPS, 1.0, 1);
        assert_int_equal(r.summary.skipped, r.answers);
        check_says(&r, "All questions were answered \"can't say\"");
        check_says(&r, "nothing of it was found");
        assert_true(r.grave);
        check_silent(&r, "consistent");
        check_silent(&r, "The metric agrees with");
        check_finds_nothing(&r);
    }
}

/* Whoever stops before the first answer. */
static void test_no_answers(void **state)
{
    (void)state;
    const mel_session_options opt = test_options_for_people();
    for (size_t i = 0; i < FACES; i++) {
        mel_session *session = NULL;
        mel_error err;
        assert_ok(mel_session_new(&session, &(mel_domain){ .face = face[i] }, &opt, &err), &err);
        const result r = read_result(session);
        mel_session_free(session);
        check_says(&r, "no question was answered");
        check_finds_nothing(&r);
    }
}

/* Somebody who tosses coins is told nothing that sounds precise, and mostly what it looks like; hardly
 * ever that their rate moved. */
static void test_coins(void **state)
{
    (void)state;
    enum { PEOPLE = 40 };
    size_t narrow = 0, called = 0, moved = 0;
    const mel_session_options opt = test_options_for_people();
    for (uint64_t seed = 0; seed < PEOPLE; seed++) {
        const result r = ask(face[0], &opt, TEST_RANDOM, 1.0, seed);
        const char *label = mel_consistency_label(&r.summary);
        narrow += r.summary.ratio_high / r.summary.ratio_low < 2.0;
        called += label != NULL && strcmp(label, "consistent") != 0;
        moved += says(&r, "seems to have come to count");
    }
    print_message("  coins: %zu of %d narrow, %zu not called consistent, %zu moved\n", narrow, PEOPLE, called,
                  moved);
    assert_true(narrow <= 4 && called >= PEOPLE / 2 && moved <= 1);
}

/* 1.64 standard errors above this share of n. */
static size_t hardly_more(double share, size_t n)
{
    return (size_t)((double)n * share + 1.64 * sqrt((double)n * share * (1.0 - share)));
}

/* Of people who are as the prior says, 5% are told that they are not. Student's t with 3 degrees of freedom
 * and scale 2 is what their rates are taken to be. */
static void test_prior_people(void **state)
{
    (void)state;
    const size_t people = test_repeats(2000, 200, 20);
    const mel_session_options opt = test_options_for_people();
    size_t called = 0, doubted = 0;
    for (uint64_t seed = 0; seed < people; seed++) {
        mel_rng rng;
        mel_rng_seed_stream(&rng, seed, 77);
        double normal[4];
        for (size_t i = 0; i < 4; i++)
            normal[i] = sqrt(-2.0 * log(1.0 - mel_rng_uniform(&rng))) *
                        cos(6.283185307179586 * mel_rng_uniform(&rng));
        const double squares = normal[1] * normal[1] + normal[2] * normal[2] + normal[3] * normal[3];
        const double rate = 2.0 * normal[0] / sqrt(squares / 3.0);
        const result r = ask(face[seed % FACES], &opt, TEST_PRIOR, exp(rate), seed);
        called += says(&r, "are not consistent");
        doubted += r.summary.consistency < 0.2;
    }
    print_message("  of %zu people as assumed %zu are called inconsistent, %zu at most doubtful\n", people,
                  called, doubted);
    assert_true(called <= hardly_more(0.05, people) && doubted <= hardly_more(0.2, people));
}

/* Those who become more careful have not changed their mind. */
static void test_learners(void **state)
{
    (void)state;
    const size_t people = test_repeats(1000, 100, 10);
    const mel_session_options opt = test_options_for_people();
    size_t moved = 0, changed = 0;
    for (uint64_t seed = 0; seed < people; seed++) {
        const double ratio = exp(log(20.0) * (2.0 * (double)seed / (double)people - 1.0));
        const result learns = ask(face[seed % FACES], &opt, TEST_LEARNS, ratio, seed);
        moved += says(&learns, "seems to have come to count");
        if (seed % 5 == 0) {
            const result moves = ask(face[seed % FACES], &opt, TEST_MOVES, ratio, seed);
            changed += says(&moves, "seems to have come to count more");
        }
    }
    print_message("  %zu of %zu who become careful seem to move, %zu of %zu who do\n", moved, people, changed,
                  (people + 4) / 5);
    assert_true(moved <= hardly_more(0.05, people) && 2 * changed >= (people + 4) / 5);
}

/* Whether one exchange rate agrees with all answers. */
static bool agrees_with_a_rate(const mel_session *session)
{
    double accepted = 0.0, refused = INFINITY;
    for (uint32_t i = 0; i < mel_session_answers(session); i++) {
        const mel_record r = mel_session_record(session, i);
        const double rate = fabs(r.a[1] - r.b[1]) / fabs(r.a[0] - r.b[0]);
        if ((r.answer == MEL_ANSWER_A) == (r.a[0] > r.b[0]))
            accepted = fmax(accepted, rate);
        else
            refused = fmin(refused, rate);
    }
    return accepted < refused;
}

/* Answers are said to vary where they do. */
static void test_variation(void **state)
{
    (void)state;
    enum { PEOPLE = 20 };
    static const test_trader_kind kind[] = { TEST_EXACT, TEST_WEBER, TEST_HARDLY_SEES };
    size_t told[3] = { 0 };
    mel_session_options opt = test_options_for_people();
    for (size_t k = 0; k < 3; k++)
        for (uint64_t seed = 0; seed < PEOPLE; seed++) {
            opt.seed = seed;
            mel_session *session =
                test_answer_as(face[0], &opt, &(test_trader){ kind[k], 0.1 * (double)seed, seed });
            const result r = read_result(session);
            const bool said = says(&r, "No exchange rate agrees with all answers");
            told[k] += said;
            assert_true(!said || !agrees_with_a_rate(session));
            assert_int_equal(isfinite(r.summary.variation), !agrees_with_a_rate(session));
            mel_session_free(session);
        }
    print_message("  told: %zu who never err, %zu and %zu who do, of %d each\n", told[0], told[1], told[2],
                  PEOPLE);
    assert_true(told[0] == 0 && told[2] > PEOPLE / 2);
}

/* What is said to be beyond the questions is, and one-sided bounds hold, as often as 95%, for people who
 * never err, who err by a share of what is exchanged, and who err as assumed. */
static void test_beyond_as_often(void **state)
{
    (void)state;
    static const test_trader_kind kind[] = { TEST_EXACT, TEST_WEBER, TEST_PRIOR };
    const size_t people = test_repeats(600, 60, 9);
    const mel_session_options opt = test_options_for_people();
    size_t bounds = 0, bounds_hold = 0, beyond = 0, beyond_holds = 0;
    for (uint64_t seed = 0; seed < people; seed++) {
        const double ratio = exp(log(5.0) + log(100.0) * ((double)seed + 0.5) / (double)people);
        const result r = ask(face[seed % FACES], &opt, kind[seed % 3], ratio, seed);
        if (!isinf(r.summary.ratio_high) && r.summary.ratio_low > 0.0)
            continue;
        check_says(&r, "and they cannot tell how far");
        bounds++;
        bounds_hold += ratio >= r.summary.ratio_low && ratio <= r.summary.ratio_high;
        if (says(&r, "what counts is beyond")) {
            beyond++;
            beyond_holds += ratio < r.summary.askable_low || ratio > r.summary.askable_high;
        }
    }
    print_message("  one-sided: %zu of %zu hold; beyond: %zu of %zu are\n", bounds_hold, bounds, beyond_holds,
                  beyond);
    assert_true(bounds > people / 5 && bounds - bounds_hold <= hardly_more(0.05, bounds));
    assert_true(beyond > 0 && beyond - beyond_holds <= hardly_more(0.05, beyond));
}

/* What the best setting for a rate loses, as a share of what the best one adds to flagging all or none. */
static double regret_of(const mel_face *on, double rate, double truth)
{
    const double r = exp(truth), all = r * mel_face_positives(on), none = mel_face_negatives(on);
    mel_point best, setting;
    assert_ok(mel_face_support(&best, on, r, 1.0, NULL), NULL);
    assert_ok(mel_face_support(&setting, on, exp(rate), 1.0, NULL), NULL);
    const double value = r * best.tp + best.tn;
    return (value - r * setting.tp - setting.tn) / (value - fmax(all, none));
}

/* How many more questions it took to know the ratio as well as was asked; infinity: more than `most`. */
static double questions_until_ratio(mel_session *session, const test_trader *who, uint32_t most)
{
    const uint32_t before = mel_session_answers(session);
    mel_error err;
    assert_ok(mel_session_set_budget(session, before + most, &err), &err);
    for (;;) {
        const mel_question *q = NULL;
        bool done = false;
        assert_ok(mel_session_ask(&q, &done, session, &err), &err);
        if (done)
            break;
        assert_ok(mel_session_tell(session, q->number, test_trader_answer(who, q), NAN, &err), &err);
    }
    return test_summary_of(session).end == MEL_END_TOLERANCE ? (double)(mel_session_answers(session) - before)
                                                             : (double)INFINITY;
}

/* A setting that is called settled with some probability is as good as that so often, and the questions that
 * are said to be left for the ratio are so many, to half of them, more often than not. */
static void test_settled_as_often(void **state)
{
    (void)state;
    enum { MOST_MORE = 60 };
    static const struct {
        const char *name;
        test_trader_kind kind;
    } rows[] = { { "exact", TEST_EXACT }, { "Weber", TEST_WEBER }, { "as assumed", TEST_PRIOR } };
    const size_t people = test_repeats(400, 60, 6);
    mel_session_options opt = test_options_for_people();
    opt.until = MEL_UNTIL_DECISION;
    mel_rng rng;
    mel_rng_seed(&rng, 31);
    size_t of_all = 0;
    for (size_t k = 0; k < COUNT(rows); k++) {
        size_t settled = 0, right = 0, told = 0, near = 0;
        double sure = 0.0;
        for (uint64_t seed = 0; seed < people; seed++) {
            const test_trader who = { rows[k].kind, log(0.25) + log(60.0) * mel_rng_uniform(&rng), seed };
            opt.seed = seed;
            mel_session *session = test_answer_as(face[0], &opt, &who);
            const result r = read_result(session);
            if (says(&r, "Your setting is settled")) {
                settled++;
                sure += number_after(&r, "a probability of at least ") / 100.0;
                right += regret_of(face[0], log(r.summary.ratio), who.rate) <= 0.05;
            }
            if (says(&r, "go on until ratio: about ")) {
                const double said = number_after(&r, "go on until ratio: about ");
                const double took = questions_until_ratio(session, &who, MOST_MORE);
                told++;
                near += took >= said / 1.5 - 1.0 && took <= 1.5 * said + 1.0;
            }
            mel_session_free(session);
        }
        const double n = (double)settled, share = sure / n;
        print_message(
            "  %s: %zu settled, %.3f sure on average, %.3f right; %zu told how many more, %zu near\n",
            rows[k].name, settled, share, (double)right / n, told, near);
        of_all += settled;
        assert_true((double)right >= sure - 3.0 * sqrt(n * share * (1.0 - share)) - 0.02 * n);
        assert_true(2.0 * (double)near + 3.0 * sqrt((double)told) >= (double)told);
    }
    assert_true(2 * of_all > people * COUNT(rows)); /* most of them */
}

static void test_imagined(void **state)
{
    (void)state;
    mel_session_options opt = test_options_for_people();
    opt.imagined_beyond = true;
    opt.max_questions = 40;
    const result r = ask(face[0], &opt, TEST_EXACT, 60.0, 1);
    check_says(&r, "The last questions were about an imagined better test");
}

/* --- several classes ---------------------------------------------------------------------------- */

/* A session of somebody who never errs. */
static mel_session *answer_by(const mel_metric *truth, const mel_domain *domain,
                              const mel_session_options *opt)
{
    mel_session *session = NULL;
    mel_error err;
    assert_ok(mel_session_new(&session, domain, opt, &err), &err);
    for (;;) {
        const mel_question *q = NULL;
        bool done = false;
        double better = 0.0;
        assert_ok(mel_session_ask(&q, &done, session, &err), &err);
        if (done)
            return session;
        assert_ok(mel_metric_compare(&better, truth, q->a, q->b, &err), &err);
        assert_ok(mel_session_tell(session, q->number, better > 0.0 ? MEL_ANSWER_A : MEL_ANSWER_B, NAN, &err),
                  &err);
    }
}

static mel_session *answer_about_classes(const mel_domain *domain, const mel_session_options *opt)
{
    mel_rng rng;
    mel_rng_seed_stream(&rng, opt->seed, 11);
    mel_metric *truth = test_draw_metric(&rng, domain, opt);
    mel_session *session = answer_by(truth, domain, opt);
    mel_metric_free(truth);
    return session;
}

/* What the questions were about is said as it was: only far pairs are of the ball around random guessing, and
 * only they differ in just two numbers where people are asked. */
static void test_where_pairs_are(void **state)
{
    (void)state;
    enum { NUMBERS = 6, QUESTIONS = 6 };
    mel_space *space = test_softmax_space(3, MEL_CONFUSION, MEL_OFFDIAGONAL);
    mel_ball *ball = NULL;
    mel_error err;
    assert_ok(mel_ball_new(&ball, mel_space_layout(space), 0.01, mel_space_class_share(space), NULL, &err),
              &err);
    const mel_domain domain = { .ball = ball, .frontier = space };
    const size_t sessions = test_repeats(100, 6, 2);
    for (size_t i = 0; i < 2 * sessions; i++) {
        mel_session_options opt = test_person_options(MEL_FAMILY_LINEAR, QUESTIONS);
        opt.seed = i;
        opt.questions = i % 2 == 0 ? MEL_QUESTIONS_REALISTIC : MEL_QUESTIONS_FAR;
        opt.simple_questions = true; /* as people are asked */
        mel_session *session = answer_about_classes(&domain, &opt);
        size_t outside = 0, more_than_two = 0;
        for (uint32_t j = 0; j < mel_session_answers(session); j++) {
            const mel_record pair = mel_session_record(session, j);
            double off = 0.0;
            size_t differing = 0;
            for (size_t n = 0; n < NUMBERS; n++) {
                off += pow(pair.a[n] - mel_ball_centre(ball)[n], 2.0);
                differing += fabs(pair.a[n] - pair.b[n]) > 1e-12;
            }
            outside += sqrt(off) > mel_ball_radius(ball) + 1e-9;
            more_than_two += differing > 2;
        }
        const result r = read_result(session);
        assert_true(says(&r, "ball of achievable ones around random guessing") == (outside == 0));
        assert_true(opt.questions != MEL_QUESTIONS_FAR || more_than_two == 0);
        mel_session_free(session);
    }
    mel_ball_free(ball);
    mel_space_free(space);
}

/* A search that is done is called precise where its intervals are. */
static void test_precise_searches(void **state)
{
    (void)state;
    enum { SEARCHES = 6 };
    const test_fair_kind kind = { 2, 2, true };
    const double weights[] = { 0.8, 0.6 };
    size_t precise = 0;
    for (size_t i = 0; i < SEARCHES; i++) {
        const bool fair = i % 2 == 1;
        mel_session_options opt = test_search_options(fair ? MEL_FAMILY_FAIR_QUADRATIC : MEL_FAMILY_LINEAR);
        double prevalence[4], coefficients[16];
        mel_rng rng;
        mel_rng_seed_stream(&rng, i, 12);
        opt.max_questions = 10000;
        test_fair_prevalence(prevalence, kind, &rng);
        test_fair_draw(coefficients, kind, 0.1 * (double)i, &rng);
        mel_ball *ball = fair ? test_fair_ball(kind, prevalence) : NULL;
        const mel_domain domain = { .ball = ball, .face = fair ? NULL : face[0] };
        mel_metric *truth = fair ? test_fair_metric(kind, coefficients, prevalence)
                                 : test_linear_metric(MEL_FAMILY_LINEAR, &mel_binary_layout, weights);
        mel_session *session = answer_by(truth, &domain, &opt);
        const result r = read_result(session);
        const bool said = says(&r, "as precise as you asked");
        assert_int_equal(said, 2.0 * r.summary.radius <= opt.tolerance + 1e-12);
        precise += said;
        mel_session_free(session);
        mel_metric_free(truth);
        mel_ball_free(ball);
    }
    assert_true(precise > 0 && precise < SEARCHES);
}

/* --- headlines ---------------------------------------------------------------------------------- */

/* Answers that no metric makes do not come to a number, but for a few coins that fall well; those of people
 * who have one do. */
static void test_headlines(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        test_trader_kind kind;
        double most_numbers, most_bounds, least; /* shares of people; least: of numbers and bounds */
    } rows[] = {
        { "always the same", TEST_ALWAYS_SAME, 0.0, 0.0, 0.0 },
        { "always A", TEST_ALWAYS_A, 0.0, 0.0, 0.0 },
        { "always B", TEST_ALWAYS_B, 0.0, 0.0, 0.0 },
        { "always can't say", TEST_SKIPS, 0.0, 0.0, 0.0 },
        { "coins", TEST_RANDOM, 0.02, 0.02, 0.0 },
        { "repeats contradicted", TEST_CHANGES, 0.0, 0.0, 0.0 },
        { "misses first", TEST_LEXICOGRAPHIC, 0.0, 1.0, 0.9 },
        { "exact", TEST_EXACT, 1.0, 1.0, 0.95 },
        { "Weber", TEST_WEBER, 1.0, 1.0, 0.7 },
        { "becomes careful", TEST_LEARNS, 1.0, 1.0, 0.25 },
    };
    const size_t people = test_repeats(400, 40, 8);
    for (size_t i = 0; i < COUNT(rows); i++) {
        size_t kinds[4] = { 0 };
        for (uint64_t seed = 0; seed < people; seed++) {
            mel_session_options opt = test_options_for_people();
            const double ratio = exp(log(8.0) * (2.0 * ((double)seed + 0.5) / (double)people - 1.0));
            const result r = ask(face[seed % FACES], &opt, rows[i].kind, ratio, seed);
            kinds[r.headline]++;
            assert_true(r.headline != MEL_HEADLINE_NUMBER ||
                        r.summary.ratio_high <= 20.0 * r.summary.ratio_low);
            if (rows[i].kind == TEST_ALWAYS_SAME)
                assert_true(r.label == NULL && !says(&r, "consistent"));
        }
        print_message("  %s: %zu numbers, %zu bounds, %zu unsettled, of %zu\n", rows[i].name,
                      kinds[MEL_HEADLINE_NUMBER], kinds[MEL_HEADLINE_BOUND], kinds[MEL_HEADLINE_UNSETTLED],
                      people);
        assert_true((double)kinds[MEL_HEADLINE_NUMBER] <= rows[i].most_numbers * (double)people);
        assert_true((double)kinds[MEL_HEADLINE_BOUND] <= rows[i].most_bounds * (double)people);
        assert_true((double)(kinds[MEL_HEADLINE_NUMBER] + kinds[MEL_HEADLINE_BOUND]) >=
                    rows[i].least * (double)people);
    }
}

/* Few answers that agree with each other come to a number or a bound, too. */
static void test_short_sessions(void **state)
{
    (void)state;
    const size_t people = test_repeats(400, 40, 8);
    size_t careful = 0, coins = 0;
    for (uint64_t seed = 0; seed < people; seed++) {
        mel_session_options opt = test_options_for_people();
        opt.max_questions = 12;
        const double ratio = exp(log(8.0) * (2.0 * ((double)seed + 0.5) / (double)people - 1.0));
        careful += ask(face[seed % FACES], &opt, TEST_EXACT, ratio, seed).headline != MEL_HEADLINE_UNSETTLED;
        coins += ask(face[seed % FACES], &opt, TEST_RANDOM, ratio, seed).headline != MEL_HEADLINE_UNSETTLED;
    }
    print_message("  12 answers: headlines of %zu who never err, of %zu who toss coins, of %zu\n", careful,
                  coins, people);
    assert_true((double)careful >= 0.95 * (double)people && coins <= hardly_more(0.05, people));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lexicographic),     cmocka_unit_test(test_ratio_of_300),
        cmocka_unit_test(test_beyond_by_weights), cmocka_unit_test(test_one_answer_only),
        cmocka_unit_test(test_cannot_say),        cmocka_unit_test(test_coins),
        cmocka_unit_test(test_no_answers),        cmocka_unit_test(test_settled_as_often),
        cmocka_unit_test(test_imagined),          cmocka_unit_test(test_where_pairs_are),
        cmocka_unit_test(test_prior_people),      cmocka_unit_test(test_learners),
        cmocka_unit_test(test_variation),         cmocka_unit_test(test_precise_searches),
        cmocka_unit_test(test_beyond_as_often),   cmocka_unit_test(test_headlines),
        cmocka_unit_test(test_short_sessions),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
