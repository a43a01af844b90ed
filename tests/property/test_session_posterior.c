/* What active sessions tell besides the metric: draws and what follows from them, "can't say", ends by
 * decision, priors, consistency, and several respondents together. */
#include "support/test.h"

#include "base/la.h"
#include "base/stat.h"
#include "elicit/shared.h"
#include "metric/shared.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct {
    mel_face *face;
    mel_space *diagonal;
    mel_ball *three, *two, *groups;
} made;

static mel_ball *make_ball(size_t k, size_t m, double radius)
{
    const mel_layout layout = { MEL_RATES, MEL_OFFDIAGONAL, k, m };
    mel_ball *ball = NULL;
    mel_error err;
    assert_ok(mel_ball_new(&ball, &layout, radius, NULL, NULL, &err), &err);
    return ball;
}

static int set_up(void **state)
{
    (void)state;
    const double slope[] = { 1.0, 3.0, 5.0 };
    mel_space_options opt;
    mel_space_options_init(&opt);
    opt.coordinates = MEL_DIAGONAL;
    assert_int_equal(mel_face_from_logistic(&made.face, 5.0, 0.0, NULL), MEL_OK);
    assert_int_equal(mel_space_from_softmax(&made.diagonal, 3, slope, &opt, NULL), MEL_OK);
    made.three = make_ball(3, 0, 0.2);
    made.two = make_ball(2, 0, 0.4);
    made.groups = make_ball(2, 2, 0.3);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    mel_face_free(made.face);
    mel_space_free(made.diagonal);
    mel_ball_free(made.three);
    mel_ball_free(made.two);
    mel_ball_free(made.groups);
    test_cleanup();
    return 0;
}

/* One of every engine and family. */
typedef struct {
    const char *name;
    mel_family family;
    mel_domain domain;
    bool has_ratios;
} problem;
enum { PROBLEMS = 8 };
static void list_problems(problem out[PROBLEMS])
{
    const problem rows[PROBLEMS] = {
        { "planar", MEL_FAMILY_LINEAR, { .face = made.face }, true },
        { "planar fractional", MEL_FAMILY_LINEAR_FRACTIONAL, { .face = made.face }, false },
        { "linear", MEL_FAMILY_LINEAR, { .ball = made.three }, true },
        { "diagonal", MEL_FAMILY_DIAGONAL_LINEAR, { .space = made.diagonal }, true },
        { "fair linear", MEL_FAMILY_FAIR_LINEAR, { .ball = made.groups }, true },
        { "quadratic", MEL_FAMILY_QUADRATIC, { .ball = made.two }, false },
        { "fair quadratic", MEL_FAMILY_FAIR_QUADRATIC, { .ball = made.groups }, true },
        { "cubic", MEL_FAMILY_POLYNOMIAL, { .ball = made.two }, false },
    };
    memcpy(out, rows, sizeof rows);
}

static mel_session_options options(mel_family family)
{
    mel_session_options opt;
    mel_session_options_init(&opt);
    opt.family = family;
    return opt;
}

static mel_session *open_session(const mel_domain *domain, const mel_session_options *opt)
{
    mel_session *session = NULL;
    mel_error err;
    assert_ok(mel_session_new(&session, domain, opt, &err), &err);
    return session;
}

/* Answers up to n questions: by a metric, or A or B by coin toss (NULL). Returns how many there were. */
static uint32_t answer(mel_session *session, const mel_metric *truth, uint32_t n, uint64_t seed)
{
    mel_rng rng;
    mel_error err;
    mel_rng_seed(&rng, seed);
    for (uint32_t i = 0; i < n; i++) {
        const mel_question *q = NULL;
        bool done = false;
        double better = 0.0;
        assert_ok(mel_session_ask(&q, &done, session, &err), &err);
        if (done)
            return i;
        if (truth != NULL)
            assert_ok(mel_metric_compare(&better, truth, q->a, q->b, &err), &err);
        else
            better = mel_rng_uniform(&rng) - 0.5;
        const mel_answer says = better > 0.0 ? MEL_ANSWER_A : MEL_ANSWER_B;
        assert_ok(mel_session_tell(session, q->number, says, NAN, &err), &err);
    }
    return n;
}

static mel_metric *result(mel_summary *summary, mel_session *session)
{
    mel_metric *metric = NULL;
    mel_error err;
    assert_ok(mel_session_result(&metric, summary, session, &err), &err);
    return metric;
}

/* A metric of the problem's family: what a session with arbitrary answers finds. */
static mel_metric *some_metric(const problem *p, uint64_t seed, uint32_t questions)
{
    const mel_session_options opt = options(p->family);
    mel_session *session = open_session(&p->domain, &opt);
    (void)answer(session, NULL, questions, seed);
    mel_metric *metric = result(NULL, session);
    mel_session_free(session);
    return metric;
}

static mel_metric *binary_metric(double m11, double m00)
{
    const mel_layout layout = { MEL_CONFUSION, MEL_BINARY, 2, 0 };
    const double a[] = { m11, m00 };
    mel_metric *metric = NULL;
    mel_error err;
    assert_ok(mel_metric_linear(&metric, MEL_FAMILY_LINEAR, &layout, NULL, MEL_UTILITY, a, &err), &err);
    return metric;
}

/* --- draws -------------------------------------------------------------------------------------- */

/* Draws are metrics of the family whose quantiles are the intervals. */
static void check_draws(mel_session *session, mel_metric *metric)
{
    size_t n = 0, size = 0, inside = 0, all = 0;
    double *draw = NULL;
    mel_error err;
    assert_ok(mel_session_draws(&n, &size, &draw, session, &err), &err);
    assert_true(n >= 400);
    assert_int_equal(size, mel_metric_coefficients(metric));
    for (size_t j = 0; j < size; j++) {
        double low = 0.0, high = 0.0;
        assert_true(mel_metric_interval(metric, j, &low, &high));
        for (size_t i = 0; i < n; i++)
            inside += draw[i * size + j] >= low - 1e-9 && draw[i * size + j] <= high + 1e-9;
        all += n;
    }
    assert_true((double)inside >= 0.94 * (double)all);
    for (size_t i = 0; i < n; i += 50)
        assert_ok(mel_metric_set_coefficients(metric, draw + i * size, &err), &err);
    free(draw);
}

/* The ratio of the first two weights, with the interval of the draws. */
static mel_status drawn_ratio(mel_cost_ratio *out, mel_session *session, mel_error *err)
{
    size_t n = 0, size = 0;
    double *draw = NULL;
    mel_metric *metric = result(NULL, session);
    mel_status status = mel_metric_weight_ratio(out, metric, 0, 1, err);
    if (status == MEL_OK)
        status = mel_session_draws(&n, &size, &draw, session, err);
    if (status == MEL_OK)
        status = mel_drawn_ratio_interval(out, n, size, draw, 0, 1, err);
    free(draw);
    mel_metric_free(metric);
    return status;
}

static void test_draws(void **state)
{
    (void)state;
    problem problems[PROBLEMS];
    list_problems(problems);
    for (size_t i = 0; i < PROBLEMS; i++) {
        print_message("  %s\n", problems[i].name);
        const mel_session_options opt = options(problems[i].family);
        mel_session *session = open_session(&problems[i].domain, &opt);
        (void)answer(session, NULL, 4, 7);
        mel_metric *metric = result(NULL, session);
        check_draws(session, metric);
        mel_cost_ratio ratio;
        mel_error err = { .code = MEL_OK };
        const mel_status status = drawn_ratio(&ratio, session, &err);
        assert_int_equal(status, problems[i].has_ratios ? MEL_OK : MEL_EINVAL);
        if (status == MEL_OK)
            assert_true(ratio.low <= ratio.ratio && ratio.ratio <= ratio.high);
        mel_metric_free(metric);
        mel_session_free(session);
    }
}

static void test_no_draws_of_a_search(void **state)
{
    (void)state;
    mel_session_options opt = options(MEL_FAMILY_LINEAR);
    opt.strategy = MEL_STRATEGY_SEARCH;
    const mel_domain domain = { .face = made.face };
    mel_session *session = open_session(&domain, &opt);
    size_t n = 0, size = 0;
    double *draw = NULL;
    mel_error err = { .code = MEL_OK };
    assert_int_equal(mel_session_draws(&n, &size, &draw, session, &err), MEL_ESTATE);
    assert_null(draw);
    assert_non_null(strstr(err.text, "no probabilities"));
    mel_session_free(session);
}

/* The interval of the ratio on a face is that of the angle's cotangent, exactly. */
static void test_ratio_of_a_face(void **state)
{
    (void)state;
    const mel_session_options opt = options(MEL_FAMILY_LINEAR);
    const mel_domain domain = { .face = made.face };
    mel_session *session = open_session(&domain, &opt);
    mel_metric *truth = binary_metric(0.9, 0.3);
    (void)answer(session, truth, 4, 0);
    mel_summary summary;
    mel_metric_free(result(&summary, session));
    mel_cost_ratio ratio;
    mel_error err;
    assert_ok(drawn_ratio(&ratio, session, &err), &err);
    assert_close(ratio.low, 1.0 / tan(summary.angle_high), 1e-2 * ratio.low);
    assert_close(ratio.high, 1.0 / tan(summary.angle_low), 1e-2 * ratio.high);
    mel_metric_free(truth);
    mel_session_free(session);
}

/* --- can't say ---------------------------------------------------------------------------------- */

/* Skips the pending question; whether the next one is another. */
static bool skip_one(mel_session *session)
{
    const size_t size = mel_layout_size(mel_session_layout(session));
    const mel_question *q = NULL;
    bool done = false;
    double before[32];
    mel_error err;
    assert_ok(mel_session_ask(&q, &done, session, &err), &err);
    assert_false(done);
    memcpy(before, q->a, size * sizeof *before);
    memcpy(before + size, q->b, size * sizeof *before);
    assert_ok(mel_session_tell(session, q->number, MEL_ANSWER_SKIP, NAN, &err), &err);
    assert_ok(mel_session_ask(&q, &done, session, &err), &err);
    assert_false(done);
    double straight = 0.0, swapped = 0.0;
    for (size_t i = 0; i < size; i++) {
        straight = fmax(straight, fmax(fabs(before[i] - q->a[i]), fabs(before[size + i] - q->b[i])));
        swapped = fmax(swapped, fmax(fabs(before[i] - q->b[i]), fabs(before[size + i] - q->a[i])));
    }
    return straight > 1e-6 && swapped > 1e-6;
}

static void test_skip(void **state)
{
    (void)state;
    problem problems[PROBLEMS];
    list_problems(problems);
    for (size_t i = 0; i < PROBLEMS; i++) {
        print_message("  %s\n", problems[i].name);
        const mel_session_options opt = options(problems[i].family);
        mel_session *session = open_session(&problems[i].domain, &opt);
        (void)answer(session, NULL, 3, 5);
        mel_metric *before = result(NULL, session);
        for (int k = 0; k < 3; k++)
            assert_true(skip_one(session));
        mel_summary summary;
        mel_metric *after = result(&summary, session);
        assert_int_equal(summary.questions, 6);
        assert_int_equal(summary.skipped, 3);
        assert_int_equal(mel_session_record(session, 3).answer, MEL_ANSWER_SKIP);
        assert_memory_equal(mel_metric_coefficient(before), mel_metric_coefficient(after),
                            mel_metric_coefficients(before) * sizeof(double));
        (void)answer(session, NULL, 2, 6); /* and it goes on */
        mel_metric_free(before);
        mel_metric_free(after);
        mel_session_free(session);
    }
}

/* An unknown direction is asked about in another way, and a search takes it as "about the same". */
static void test_skip_elsewhere(void **state)
{
    (void)state;
    const mel_family families[] = { MEL_FAMILY_LINEAR, MEL_FAMILY_LINEAR_FRACTIONAL };
    const mel_domain domain = { .face = made.face };
    for (size_t i = 0; i < COUNT(families); i++) {
        mel_session_options opt = options(families[i]);
        opt.direction = MEL_DIRECTION_UNKNOWN;
        mel_session *session = open_session(&domain, &opt);
        assert_true(skip_one(session));
        assert_true(skip_one(session));
        mel_session_free(session);
    }
    mel_session *both[2];
    mel_session_options opt = options(MEL_FAMILY_LINEAR);
    opt.strategy = MEL_STRATEGY_SEARCH;
    for (int k = 0; k < 2; k++) {
        both[k] = open_session(&domain, &opt);
        for (int i = 0; i < 6; i++) {
            const mel_question *q = NULL;
            bool done = false;
            assert_ok(mel_session_ask(&q, &done, both[k], NULL), NULL);
            assert_ok(
                mel_session_tell(both[k], q->number, k == 0 ? MEL_ANSWER_SKIP : MEL_ANSWER_SAME, NAN, NULL),
                NULL);
        }
    }
    const mel_record a = mel_session_record(both[0], 5), b = mel_session_record(both[1], 5);
    assert_memory_equal(a.a, b.a, 2 * sizeof(double));
    assert_memory_equal(a.b, b.b, 2 * sizeof(double));
    mel_session_free(both[0]);
    mel_session_free(both[1]);
}

/* "?" in a log replays to the same questions. */
static void test_skip_in_a_log(void **state)
{
    (void)state;
    const mel_session_options opt = options(MEL_FAMILY_LINEAR);
    const mel_domain domain = { .ball = made.three };
    const char *path = test_path("skip.jsonl");
    mel_session *session = NULL;
    mel_error err;
    assert_ok(mel_session_open(&session, &domain, &opt, NULL, path, &err), &err);
    (void)answer(session, NULL, 2, 5);
    assert_true(skip_one(session));
    (void)answer(session, NULL, 1, 6);
    const mel_question *q = NULL;
    bool done = false;
    double pending[6];
    assert_ok(mel_session_ask(&q, &done, session, &err), &err);
    memcpy(pending, q->a, sizeof pending);
    mel_session_free(session);
    assert_ok(mel_session_open(&session, &domain, &opt, NULL, path, &err), &err);
    assert_int_equal(mel_session_answers(session), 4);
    assert_ok(mel_session_ask(&q, &done, session, &err), &err);
    assert_memory_equal(pending, q->a, sizeof pending);
    mel_session_free(session);
}

/* --- ends by decision --------------------------------------------------------------------------- */

static void test_until_rank(void **state)
{
    (void)state;
    problem problems[PROBLEMS];
    list_problems(problems);
    for (size_t i = 0; i < PROBLEMS; i++) {
        const mel_domain *domain = &problems[i].domain;
        mel_session_options opt = options(problems[i].family);
        opt.max_questions = 60;
        opt.tolerance = 0.001;
        mel_session *plain = open_session(domain, &opt);
        const size_t size = mel_layout_size(mel_session_layout(plain));
        double pool[3 * 16];
        const mel_question *q = NULL;
        bool done = false;
        assert_ok(mel_session_ask(&q, &done, plain, NULL), NULL);
        for (size_t j = 0; j < size; j++) { /* A, B and their middle: one question decides */
            pool[j] = q->a[j];
            pool[size + j] = q->b[j];
            pool[2 * size + j] = 0.25 * q->a[j] + 0.75 * q->b[j];
        }
        mel_session_free(plain);
        const bool straight =
            problems[i].family != MEL_FAMILY_QUADRATIC && problems[i].family != MEL_FAMILY_POLYNOMIAL;
        opt.until = MEL_UNTIL_RANK;
        opt.decisions = mel_decisions_usual();
        opt.pool = pool;
        opt.n_pool = straight ? 3 : 2;
        mel_metric *truth = some_metric(&problems[i], 11, 8);
        mel_session *session = open_session(domain, &opt);
        const uint32_t asked = answer(session, truth, 60, 0);
        mel_summary summary;
        mel_metric *found = result(&summary, session);
        print_message("  %s: %u\n", problems[i].name, asked);
        assert_int_equal(summary.end, MEL_END_DECIDED);
        assert_true(asked >= 1 && asked <= 20);
        double by_truth = 0.0, by_found = 0.0;
        assert_ok(mel_metric_compare(&by_truth, truth, pool, pool + size, NULL), NULL);
        assert_ok(mel_metric_compare(&by_found, found, pool, pool + size, NULL), NULL);
        assert_true((by_truth > 0.0) == (by_found > 0.0));
        mel_metric_free(found);
        mel_metric_free(truth);
        mel_session_free(session);
    }
}

/* Scores on three levels: three thresholds and two trivial rules, so that few questions settle the best. */
static void test_until_threshold(void **state)
{
    (void)state;
    const double score[] = { 0.1, 0.1, 0.1, 0.5, 0.5, 0.9, 0.9, 0.9 };
    const uint8_t label[] = { 0, 0, 1, 0, 1, 1, 1, 0 };
    mel_face *face = NULL;
    mel_error err;
    assert_ok(mel_face_from_scores(&face, COUNT(score), score, label, NULL, &err), &err);
    const mel_domain domain = { .face = face };
    mel_session_options opt = options(MEL_FAMILY_LINEAR);
    opt.tolerance = 0.001;
    mel_metric *truth = binary_metric(0.8, 0.6);
    mel_session *plain = open_session(&domain, &opt);
    const uint32_t all = answer(plain, truth, 100, 0);
    opt.until = MEL_UNTIL_THRESHOLD;
    opt.decisions = mel_decisions_usual();
    mel_session *session = open_session(&domain, &opt);
    const uint32_t few = answer(session, truth, 100, 0);
    mel_summary summary;
    mel_metric *found = result(&summary, session);
    assert_int_equal(summary.end, MEL_END_DECIDED);
    assert_true(few < all);
    mel_point best, want;
    const double *m = mel_metric_numerator(found, NULL);
    assert_ok(mel_face_support(&best, face, m[0], m[1], &err), &err);
    assert_ok(mel_face_support(&want, face, 0.8, 0.6, &err), &err);
    assert_close(best.tp, want.tp, 1e-12);
    assert_close(best.tn, want.tn, 1e-12);
    mel_metric_free(found);
    mel_metric_free(truth);
    mel_session_free(plain);
    mel_session_free(session);
    mel_face_free(face);
}

static void test_purpose_refusals(void **state)
{
    (void)state;
    const double pool[] = { 0.1, 0.2, 0.2, 0.1 }, broken[] = { 0.1, NAN, 0.2, 0.1 };
    mel_metric *linear = binary_metric(0.8, 0.6);
    const problem fractional = { .family = MEL_FAMILY_LINEAR_FRACTIONAL, .domain = { .face = made.face } };
    mel_metric *fraction = some_metric(&fractional, 1, 2);
    const struct {
        mel_family family;
        mel_strategy strategy;
        bool on_ball;
        mel_until until;
        size_t n_pool;
        const double *pool;
        const mel_metric *prior;
        double strength;
        mel_direction direction;
        const char *sentence;
    } rows[] = {
        { .until = MEL_UNTIL_RANK, .n_pool = 1, .pool = pool, .sentence = "no order" },
        { .until = MEL_UNTIL_RANK, .n_pool = 2, .sentence = "no order" },
        { .until = MEL_UNTIL_RANK, .n_pool = 20000, .pool = pool, .sentence = "too large; 10000" },
        { .until = MEL_UNTIL_RANK, .n_pool = 2, .pool = broken, .sentence = "statistic 2 of classifier 1" },
        { .until = MEL_UNTIL_RANK, .n_pool = 2, .pool = pool, .sentence = "name no decisions" },
        { .until = MEL_UNTIL_THRESHOLD, .sentence = "name no decisions" },
        { .until = (mel_until)9, .sentence = "until 9: expected one of tolerance, rank, threshold" },
        { .until = MEL_UNTIL_RANK,
          .n_pool = 2,
          .pool = pool,
          .strategy = MEL_STRATEGY_SEARCH,
          .sentence = "active strategy" },
        { .until = MEL_UNTIL_THRESHOLD, .on_ball = true, .sentence = "two classes" },
        { .until = MEL_UNTIL_THRESHOLD,
          .family = MEL_FAMILY_LINEAR_FRACTIONAL,
          .sentence = "linear metrics of two classes" },
        { .strength = 3.0, .sentence = "without a metric" },
        { .prior = linear, .sentence = "strength 0" },
        { .prior = linear, .strength = 1e7, .sentence = "from 0 to 1000000" },
        { .prior = linear,
          .strength = 9,
          .strategy = MEL_STRATEGY_SEARCH,
          .sentence = "prior is for the active strategy" },
        { .prior = fraction, .strength = 9, .sentence = "is a linear-fractional metric" },
        { .prior = linear, .strength = 9, .on_ball = true, .sentence = "other statistics" },
        { .prior = fraction,
          .strength = 9,
          .family = MEL_FAMILY_LINEAR_FRACTIONAL,
          .direction = MEL_DIRECTION_UNKNOWN,
          .sentence = "cannot be unknown" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_session_options opt = options(rows[i].family);
        opt.strategy = rows[i].strategy;
        opt.until = rows[i].until;
        opt.n_pool = rows[i].n_pool;
        opt.pool = rows[i].pool;
        opt.prior = rows[i].prior;
        opt.prior_strength = rows[i].strength;
        opt.direction = rows[i].direction;
        const mel_domain domain = { .face = rows[i].on_ball ? NULL : made.face,
                                    .ball = rows[i].on_ball ? made.three : NULL };
        mel_session *session = NULL;
        mel_error err = { .code = MEL_OK };
        assert_int_equal(mel_session_new(&session, &domain, &opt, &err), MEL_EINVAL);
        assert_null(session);
        if (strstr(err.text, rows[i].sentence) == NULL)
            fail_msg("row %zu: \"%s\" is not in: %s", i, rows[i].sentence, err.text);
    }
    mel_metric_free(linear);
    mel_metric_free(fraction);
}

/* A decision of the caller's own: which of the two mistakes is worse. */
static mel_status which_is_worse(double *probability, const mel_belief *now, mel_error *err)
{
    if (now->domain->face != made.face || now->n_draws == 0)
        return mel_fail(err, MEL_EINVAL, "another domain, or no draws");
    const double *m = mel_metric_numerator(now->metric, NULL);
    size_t alike = 0;
    for (size_t s = 0; s < now->n_draws; s++)
        alike += (now->draw[2 * s] > now->draw[2 * s + 1]) == (m[0] > m[1]);
    *probability = (double)alike / (double)now->n_draws;
    return MEL_OK;
}

static mel_status cannot_tell(double *probability, const mel_belief *now, mel_error *err)
{
    (void)probability;
    (void)now;
    return mel_fail(err, MEL_ENUMERIC, "cannot tell");
}

static void test_own_decision(void **state)
{
    (void)state;
    const mel_decisions own = { .threshold = which_is_worse }, broken = { .threshold = cannot_tell };
    const mel_domain domain = { .face = made.face };
    mel_session_options opt = options(MEL_FAMILY_LINEAR);
    opt.tolerance = 0.001;
    mel_metric *truth = binary_metric(0.8, 0.6);
    mel_session *plain = open_session(&domain, &opt);
    const uint32_t all = answer(plain, truth, 100, 0);
    opt.until = MEL_UNTIL_THRESHOLD;
    opt.decisions = &own;
    mel_session *session = open_session(&domain, &opt);
    const uint32_t few = answer(session, truth, 100, 0);
    mel_summary summary;
    mel_metric *found = result(&summary, session);
    const double *m = mel_metric_numerator(found, NULL);
    print_message("  %u questions, not %u\n", few, all);
    assert_int_equal(summary.end, MEL_END_DECIDED);
    assert_true(few >= 1 && few < all / 2);
    assert_true(m[0] > m[1]);
    opt.decisions = &broken;
    mel_session *asking = open_session(&domain, &opt);
    const mel_question *question = NULL;
    bool done = false;
    mel_error err;
    assert_int_equal(mel_session_ask(&question, &done, asking, &err), MEL_ENUMERIC);
    assert_string_equal(err.text, "cannot tell");
    mel_session_free(asking);
    mel_metric_free(found);
    mel_metric_free(truth);
    mel_session_free(plain);
    mel_session_free(session);
}

/* What a session is for is part of its header. */
static void test_purpose_in_a_log(void **state)
{
    (void)state;
    double pool[] = { 0.1, 0.2, 0.2, 0.1 };
    mel_metric *prior = binary_metric(0.8, 0.6);
    const mel_domain domain = { .face = made.face };
    mel_session_options opt = options(MEL_FAMILY_LINEAR);
    opt.until = MEL_UNTIL_RANK;
    opt.decisions = mel_decisions_usual();
    opt.n_pool = 2;
    opt.pool = pool;
    opt.prior = prior;
    opt.prior_strength = 4.0;
    const char *path = test_path("purpose.jsonl");
    mel_session *session = NULL;
    mel_error err;
    for (int twice = 0; twice < 2; twice++) {
        assert_ok(mel_session_open(&session, &domain, &opt, NULL, path, &err), &err);
        const mel_session_options *kept = mel_session_get_options(session);
        assert_ptr_not_equal(kept->pool, pool);
        assert_memory_equal(kept->pool, pool, sizeof pool);
        assert_ptr_not_equal(kept->prior, prior);
        mel_session_free(session);
    }
    opt.prior_strength = 5.0;
    assert_int_equal(mel_session_open(&session, &domain, &opt, NULL, path, &err), MEL_ECONFLICT);
    assert_non_null(strstr(err.text, "options.prior"));
    opt.prior_strength = 4.0;
    pool[3] = 0.3;
    assert_int_equal(mel_session_open(&session, &domain, &opt, NULL, path, &err), MEL_ECONFLICT);
    assert_non_null(strstr(err.text, "options.pool"));
    opt.until = MEL_UNTIL_TOLERANCE;
    assert_int_equal(mel_session_open(&session, &domain, &opt, NULL, path, &err), MEL_ECONFLICT);
    assert_non_null(strstr(err.text, "options.until"));
    mel_metric_free(prior);
}

/* --- priors ------------------------------------------------------------------------------------- */

/* A strong prior is found again without a question, whatever the family. */
static void test_prior_of_every_family(void **state)
{
    (void)state;
    problem problems[PROBLEMS];
    list_problems(problems);
    for (size_t i = 0; i < PROBLEMS; i++) {
        mel_metric *prior = some_metric(&problems[i], 3, 12);
        mel_session_options opt = options(problems[i].family);
        opt.prior = prior;
        opt.prior_strength = 1e5;
        mel_session *session = open_session(&problems[i].domain, &opt);
        mel_metric *found = result(NULL, session);
        const size_t n = mel_metric_coefficients(prior);
        double worst = 0.0;
        for (size_t j = 0; j < n; j++)
            worst = fmax(worst, fabs(mel_metric_coefficient(prior)[j] - mel_metric_coefficient(found)[j]));
        print_message("  %s: %.4f\n", problems[i].name, worst);
        assert_true(worst < 0.02);
        mel_metric_free(found);
        mel_metric_free(prior);
        mel_session_free(session);
    }
}

/* So strong a prior of the other direction leaves nothing of it in any cell; the evidence is a number all the
 * same, and answers that agree with each other are consistent. */
static void test_prior_of_the_other_direction(void **state)
{
    (void)state;
    const mel_domain domain = { .face = made.face };
    mel_session_options opt = options(MEL_FAMILY_LINEAR);
    mel_metric *prior = binary_metric(-0.6, -0.8);
    opt.prior = prior;
    opt.prior_strength = 5000.0;
    opt.tolerance = 1e-9;
    opt.assume.kind = MEL_NOISE_FLIP;
    mel_session *session = open_session(&domain, &opt);
    (void)answer(session, NULL, 5, 7);
    mel_summary summary;
    mel_metric_free(result(&summary, session));
    assert_true(isfinite(summary.evidence) && isfinite(summary.consistency));
    mel_session_free(session);
    mel_metric_free(prior);
}

/* Strength s: about normal with variance 1/s along each of the D - 1 directions. */
static void test_prior_width(void **state)
{
    (void)state;
    const double strengths[] = { 100.0, 2500.0 };
    const double a[6] = { -1, -2, -3, -2, -1, -1 };
    mel_metric *prior[2] = { binary_metric(0.8, 0.6), NULL };
    const mel_domain domain[2] = { { .face = made.face }, { .ball = made.three } };
    mel_error err;
    assert_ok(mel_metric_linear(&prior[1], MEL_FAMILY_LINEAR, mel_ball_layout(made.three), NULL, MEL_UTILITY,
                                a, &err),
              &err);
    assert_ok(mel_metric_normalise(prior[1], &err), &err);
    for (size_t i = 0; i < 4; i++) {
        mel_session_options opt = options(MEL_FAMILY_LINEAR);
        opt.direction = i % 2 == 0 ? MEL_INCREASING : MEL_DIRECTION_UNKNOWN;
        opt.prior = prior[i % 2];
        opt.prior_strength = strengths[i / 2];
        mel_session *session = open_session(&domain[i % 2], &opt);
        size_t n = 0, size = 0;
        double *draw = NULL, sum = 0.0;
        assert_ok(mel_session_draws(&n, &size, &draw, session, &err), &err);
        for (size_t k = 0; k < n; k++) {
            const double cosine = mel_dot(size, draw + k * size, mel_metric_coefficient(prior[i % 2]));
            sum += 2.0 * (1.0 - cosine) / (double)n; /* squared chord */
        }
        const double want = ((double)size - 1.0) / opt.prior_strength;
        print_message("  %zu dimensions, strength %g: %.3g, expected %.3g\n", size, opt.prior_strength, sum,
                      want);
        assert_close(sum, want, 0.2 * want);
        free(draw);
        mel_session_free(session);
    }
    mel_metric_free(prior[0]);
    mel_metric_free(prior[1]);
}

/* Answers overrule a prior that is wrong, and a right one saves questions. */
static void test_prior_against_answers(void **state)
{
    (void)state;
    const mel_domain domain = { .ball = made.three };
    const double a[6] = { -1, -2, -3, -2, -1, -1 }, b[6] = { -3, -1, -1, -1, -2, -3 };
    mel_metric *truth = NULL, *wrong = NULL;
    assert_ok(
        mel_metric_linear(&truth, MEL_FAMILY_LINEAR, mel_ball_layout(made.three), NULL, MEL_UTILITY, a, NULL),
        NULL);
    assert_ok(
        mel_metric_linear(&wrong, MEL_FAMILY_LINEAR, mel_ball_layout(made.three), NULL, MEL_UTILITY, b, NULL),
        NULL);
    assert_ok(mel_metric_normalise(truth, NULL), NULL);
    uint32_t asked[3];
    for (int i = 0; i < 3; i++) {
        mel_session_options opt = options(MEL_FAMILY_LINEAR);
        opt.prior = i == 0 ? NULL : i == 1 ? truth : wrong;
        opt.prior_strength = i == 0 ? 0.0 : 25.0;
        mel_session *session = open_session(&domain, &opt);
        asked[i] = answer(session, truth, 100, 0);
        mel_metric *found = result(NULL, session);
        for (size_t j = 0; j < 6; j++)
            assert_close(mel_metric_coefficient(found)[j], mel_metric_coefficient(truth)[j], 0.03);
        mel_metric_free(found);
        mel_session_free(session);
    }
    print_message("  questions: %u, right prior %u, wrong prior %u\n", asked[0], asked[1], asked[2]);
    assert_true(asked[1] < asked[0]);
    mel_metric_free(truth);
    mel_metric_free(wrong);
}

/* --- ends --------------------------------------------------------------------------------------- */

/* What is said at the end agrees with what is printed: a session that is as precise as asked for has no 95%
 * interval that leaves the tolerance, though one answer in ten was wrong and a small part of the posterior
 * blames others. */
static void test_precise_means_all(void **state)
{
    (void)state;
    enum { SESSIONS = 20 };
    const mel_layout two = { MEL_RATES, MEL_OFFDIAGONAL, 2, 0 };
    const double a[2] = { -0.6, -0.8 };
    mel_ball *ball = NULL;
    mel_metric *truth = NULL;
    mel_error err;
    assert_ok(mel_ball_new(&ball, &two, 0.2, NULL, NULL, &err), &err);
    assert_ok(mel_metric_linear(&truth, MEL_FAMILY_LINEAR, &two, NULL, MEL_UTILITY, a, &err), &err);
    const mel_domain domain = { .ball = ball };
    uint32_t precise = 0;
    for (uint64_t seed = 1; seed <= SESSIONS; seed++) {
        mel_session_options opt = options(MEL_FAMILY_LINEAR);
        opt.assume.kind = MEL_NOISE_FLIP;
        opt.tolerance = 0.02;
        opt.max_questions = 80;
        opt.seed = seed;
        mel_session *session = open_session(&domain, &opt);
        mel_simulated_options how;
        mel_simulated_options_init(&how);
        how.seed = seed;
        how.noise = (mel_noise){ .kind = MEL_NOISE_FLIP, .size = 0.1 };
        mel_oracle *oracle = NULL;
        assert_ok(mel_oracle_simulated(&oracle, truth, &how, &err), &err);
        assert_ok(mel_session_run(session, oracle, &err), &err);
        mel_summary summary;
        mel_metric *found = result(&summary, session);
        precise += summary.end == MEL_END_TOLERANCE;
        assert_int_equal(summary.end == MEL_END_TOLERANCE, summary.radius <= opt.tolerance);
        for (size_t i = 0; i < 2; i++) {
            double low = NAN, high = NAN;
            const double x = mel_metric_coefficient(found)[i];
            assert_true(mel_metric_interval(found, i, &low, &high));
            assert_true(low >= x - summary.radius - 1e-12 && high <= x + summary.radius + 1e-12);
        }
        mel_metric_free(found);
        mel_session_free(session);
        mel_oracle_free(oracle);
    }
    assert_true(precise >= SESSIONS / 2);
    mel_metric_free(truth);
    mel_ball_free(ball);
}

/* Once the band decides most answers, it is said that the noise is what limits the accuracy: of fractions,
 * too. */
static void test_fraction_ends_by_noise(void **state)
{
    (void)state;
    const mel_layout two = { MEL_RATES, MEL_OFFDIAGONAL, 2, 0 };
    const double a[2] = { -0.6, -0.4 }, b[2] = { 0.3, -0.2 };
    mel_ball *ball = NULL;
    mel_metric *truth = NULL;
    mel_oracle *oracle = NULL;
    mel_error err;
    assert_ok(mel_ball_new(&ball, &two, 0.2, NULL, NULL, &err), &err);
    assert_ok(mel_metric_fractional(&truth, MEL_FAMILY_LINEAR_FRACTIONAL, &two, NULL, MEL_UTILITY, a, 0.0, b,
                                    1.0, &err),
              &err);
    const mel_domain domain = { .ball = ball };
    for (uint64_t seed = 1; seed <= 4; seed++) {
        mel_session_options opt = options(MEL_FAMILY_LINEAR_FRACTIONAL);
        opt.assume = (mel_assumption){ .kind = MEL_NOISE_BAND, .size = 0.005 };
        opt.tolerance = 1e-4;
        opt.max_questions = 120;
        opt.seed = seed;
        mel_simulated_options how;
        mel_simulated_options_init(&how);
        how.seed = seed;
        how.noise = (mel_noise){ .kind = MEL_NOISE_BAND, .size = 0.005 };
        mel_session *session = open_session(&domain, &opt);
        assert_ok(mel_oracle_simulated(&oracle, truth, &how, &err), &err);
        assert_ok(mel_session_run(session, oracle, &err), &err);
        mel_summary summary;
        mel_metric_free(result(&summary, session));
        print_message("  %u questions, end %d\n", summary.questions, (int)summary.end);
        assert_int_equal(summary.end, MEL_END_NOISE);
        mel_oracle_free(oracle);
        mel_session_free(session);
    }
    mel_metric_free(truth);
    mel_ball_free(ball);
}

/* --- consistency -------------------------------------------------------------------------------- */

/* Sessions of n questions, answered by a metric with this share of wrong answers (0.5: coin tosses), whose
 * answers are said not to be consistent. */
static uint32_t count_inconsistent(uint32_t sessions, uint32_t n, double rate, uint64_t first_seed)
{
    const mel_domain domain = { .face = made.face };
    mel_metric *truth = binary_metric(0.9, 0.3);
    uint32_t caught = 0;
    for (uint64_t seed = first_seed; seed < first_seed + sessions; seed++) {
        mel_session_options opt = options(MEL_FAMILY_LINEAR);
        opt.assume.kind = MEL_NOISE_FLIP;
        opt.repeat_every = 3;
        opt.tolerance = 1e-12;
        opt.max_questions = n;
        opt.seed = seed;
        mel_simulated_options how;
        mel_simulated_options_init(&how);
        how.seed = seed;
        how.noise = (mel_noise){ .kind = MEL_NOISE_FLIP, .size = rate };
        mel_oracle *oracle = NULL;
        mel_error err;
        assert_ok(mel_oracle_simulated(&oracle, truth, &how, &err), &err);
        mel_session *session = open_session(&domain, &opt);
        assert_ok(mel_session_run(session, oracle, &err), &err);
        mel_summary summary;
        mel_metric_free(result(&summary, session));
        assert_true(summary.questions <= n && (rate == 0.0 || summary.questions == n));
        assert_true(summary.consistency >= 0.0 && summary.consistency <= 1.0);
        caught += summary.consistency < 0.05;
        mel_session_free(session);
        mel_oracle_free(oracle);
    }
    mel_metric_free(truth);
    return caught;
}

static void test_consistency(void **state)
{
    (void)state;
    const mel_domain domain = { .face = made.face };
    const mel_session_options opt = options(MEL_FAMILY_LINEAR);
    mel_session *fresh = open_session(&domain, &opt);
    mel_summary summary;
    mel_metric_free(result(&summary, fresh));
    assert_true(isnan(summary.consistency));
    mel_session_free(fresh);
    const uint32_t never = count_inconsistent(40, 30, 0.0, 101), usual = count_inconsistent(40, 30, 0.1, 101),
                   coin = count_inconsistent(40, 30, 0.5, 101), longer = count_inconsistent(40, 60, 0.5, 101);
    print_message(
        "  inconsistent, of 40: %u who never err, %u who err one time in ten, %u who toss coins, %u "
        "who toss 60\n",
        never, usual, coin, longer);
    assert_int_equal(never, 0);
    assert_true(usual <= 6); /* 2 expected */
    assert_true(longer >= 32);
    assert_true(coin > usual);
}

/* Whether a question was asked before with these points as A and B. */
static bool was_asked(const mel_session *session, const double *a, const double *b)
{
    const size_t bytes = mel_layout_size(mel_session_layout(session)) * sizeof(double);
    for (uint32_t i = 0; i < mel_session_answers(session); i++) {
        const mel_record r = mel_session_record(session, i);
        if (memcmp(r.a, a, bytes) == 0 && memcmp(r.b, b, bytes) == 0)
            return true;
    }
    return false;
}

/* Coins are asked again every second time as long as they look like coins, in all domains; what comes back is
 * a question that has not come back yet, also when it was put aside then. Evidence and consistency go
 * together. Returns how many came back. */
static uint32_t toss_coins(mel_session *session, uint32_t questions, bool put_aside)
{
    mel_rng rng;
    mel_rng_seed(&rng, 5);
    bool last = false;
    uint32_t repeats = 0;
    for (uint32_t n = 0; n < questions; n++) {
        mel_summary summary;
        mel_metric_free(result(&summary, session));
        assert_true(n > 0 || (summary.evidence == 0.0 && isnan(summary.consistency)));
        assert_true(n == 0 || (summary.consistency < 0.05) == (summary.evidence < -1.8));
        const mel_question *q = NULL;
        bool done = false;
        mel_error err;
        assert_ok(mel_session_ask(&q, &done, session, &err), &err);
        assert_false(done);
        const bool comes_back = was_asked(session, q->b, q->a);
        assert_false(comes_back && was_asked(session, q->a, q->b));
        const mel_answer coin = mel_rng_next(&rng) >> 63 != 0 ? MEL_ANSWER_A : MEL_ANSWER_B;
        const mel_answer answer = put_aside && comes_back ? MEL_ANSWER_SKIP : coin;
        assert_ok(mel_session_tell(session, q->number, answer, NAN, &err), &err);
        const bool due = (n + 1) % 6 == 0 || (n >= 5 && !last && summary.evidence < 0.0);
        assert_true(!comes_back || due); /* checks of signs may come first */
        last = comes_back;
        repeats += comes_back;
    }
    return repeats;
}

static void test_doubts(void **state)
{
    (void)state;
    enum { ASKED = 24 };
    problem problems[PROBLEMS];
    list_problems(problems);
    uint32_t total = 0;
    for (size_t i = 0; i < PROBLEMS; i++)
        for (int put_aside = 0; put_aside < 2; put_aside++) {
            mel_session_options opt = options(problems[i].family);
            opt.assume.kind = MEL_NOISE_FLIP;
            opt.repeat_every = 6;
            opt.tolerance = 1e-9;
            opt.max_questions = ASKED;
            mel_session *session = open_session(&problems[i].domain, &opt);
            const uint32_t repeats = toss_coins(session, ASKED, put_aside != 0);
            print_message("  %s%s: %u of %d came back\n", problems[i].name, put_aside ? ", put aside" : "",
                          repeats, ASKED);
            assert_true(repeats >= (put_aside ? 1 : ASKED / 6));
            total += put_aside ? 0 : repeats;
            mel_session_free(session);
        }
    assert_true(total > PROBLEMS * ASKED / 4); /* a sixth without doubts; some coins have luck */
}

/* --- several respondents ------------------------------------------------------------------------ */

static void test_pool(void **state)
{
    (void)state;
    problem problems[PROBLEMS];
    list_problems(problems);
    for (size_t i = 0; i < PROBLEMS; i++) {
        mel_metric *truth[2] = { some_metric(&problems[i], 21, 10), some_metric(&problems[i], 6, 10) };
        mel_session *session[3];
        mel_error err;
        for (uint64_t k = 0; k < 3; k++) { /* the first two think alike */
            mel_session_options opt = options(problems[i].family);
            opt.seed = k + 1;
            opt.tolerance = 0.05;
            session[k] = open_session(&problems[i].domain, &opt);
            (void)answer(session[k], truth[k / 2], 40, 0);
        }
        mel_pooled *pooled = NULL;
        assert_ok(mel_respondents_join(&pooled, 3, session, &err), &err);
        const mel_disagreement alike = pooled->disagreement[1], apart = pooled->disagreement[2];
        print_message("  %s: %.3f [%.3f, %.3f] and %.3f [%.3f, %.3f]; against the common metric %u %u %u\n",
                      problems[i].name, alike.angle, alike.low, alike.high, apart.angle, apart.low,
                      apart.high, pooled->respondent[0].contradicted, pooled->respondent[1].contradicted,
                      pooled->respondent[2].contradicted);
        assert_true(alike.low <= alike.high && apart.low <= apart.high);
        assert_true(alike.angle < apart.angle);
        assert_close(pooled->disagreement[3].angle, alike.angle, 0.0);
        assert_close(pooled->disagreement[4].angle, 0.0, 0.0);
        assert_int_equal(pooled->summary.questions, mel_session_answers(session[0]) +
                                                        mel_session_answers(session[1]) +
                                                        mel_session_answers(session[2]));
        assert_int_equal(mel_metric_family(pooled->common), problems[i].family);
        mel_pooled_free(pooled);
        for (int k = 0; k < 3; k++)
            mel_session_free(session[k]);
        mel_metric_free(truth[0]);
        mel_metric_free(truth[1]);
    }
}

static void test_pool_refusals(void **state)
{
    (void)state;
    problem problems[PROBLEMS];
    list_problems(problems);
    mel_session_options search = options(MEL_FAMILY_LINEAR);
    search.strategy = MEL_STRATEGY_SEARCH;
    mel_session *planar[2], *other[4];
    for (int k = 0; k < 2; k++) {
        const mel_session_options opt = options(MEL_FAMILY_LINEAR);
        planar[k] = open_session(&problems[0].domain, &opt);
    }
    (void)answer(planar[0], NULL, 2, 1);
    other[0] = planar[1];
    for (int k = 1; k < 3; k++) {
        const mel_session_options opt = options(problems[k].family);
        other[k] = open_session(&problems[k].domain, &opt);
    }
    other[3] = open_session(&problems[0].domain, &search);
    static const char *const sentences[] = { "session 2 has no answers",
                                             "looks for a linear-fractional metric", "other statistics",
                                             "is a search" };
    mel_pooled *pooled = NULL;
    mel_error err;
    assert_int_equal(mel_respondents_join(&pooled, 1, planar, &err), MEL_EINVAL);
    for (size_t k = 0; k < COUNT(sentences); k++) {
        mel_session *const two[] = { planar[0], other[k] };
        assert_int_equal(mel_respondents_join(&pooled, 2, two, &err), MEL_EINVAL);
        assert_null(pooled);
        if (strstr(err.text, sentences[k]) == NULL)
            fail_msg("\"%s\" is not in: %s", sentences[k], err.text);
    }
    mel_session_free(planar[0]);
    for (int k = 0; k < 4; k++)
        mel_session_free(other[k]);
}

/* Somebody who answered little is known better among people who want the same. */
static void test_person_among_others(void **state)
{
    (void)state;
    enum { PEOPLE = 6, TRUTHS = 4 };
    problem problems[PROBLEMS];
    list_problems(problems);
    double own = 0.0, among = 0.0;
    for (uint32_t t = 0; t < TRUTHS; t++) {
        mel_metric *truth = some_metric(&problems[0], 5 * t + 3, 20), *found[2] = { NULL, NULL };
        mel_session *session[PEOPLE];
        mel_pooled *pooled = NULL;
        mel_error err;
        for (uint64_t k = 0; k < PEOPLE; k++) {
            mel_session_options opt = options(MEL_FAMILY_LINEAR);
            opt.seed = k + 1;
            session[k] = open_session(&problems[0].domain, &opt);
            (void)answer(session[k], truth, k > 0 ? 12 : 2, 0);
        }
        assert_ok(mel_respondents_join(&pooled, PEOPLE, session, &err), &err);
        assert_ok(mel_session_result(&found[0], NULL, session[0], &err), &err);
        assert_ok(mel_pooled_person(&found[1], pooled, session[0], &err), &err);
        const double *w = mel_metric_coefficient(truth);
        for (size_t i = 0; i < 2; i++) {
            const double *x = mel_metric_coefficient(found[i]);
            *(i == 0 ? &own : &among) += fabs(atan2(x[0], x[1]) - atan2(w[0], w[1])) / TRUTHS;
            mel_metric_free(found[i]);
        }
        for (size_t k = 0; k < PEOPLE; k++)
            mel_session_free(session[k]);
        mel_pooled_free(pooled);
        mel_metric_free(truth);
    }
    print_message("  mean angle %.3f alone, %.3f among others\n", own, among);
    assert_true(among < 0.5 * own);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_draws),
        cmocka_unit_test(test_no_draws_of_a_search),
        cmocka_unit_test(test_ratio_of_a_face),
        cmocka_unit_test(test_skip),
        cmocka_unit_test(test_skip_elsewhere),
        cmocka_unit_test(test_skip_in_a_log),
        cmocka_unit_test(test_until_rank),
        cmocka_unit_test(test_until_threshold),
        cmocka_unit_test(test_own_decision),
        cmocka_unit_test(test_purpose_refusals),
        cmocka_unit_test(test_purpose_in_a_log),
        cmocka_unit_test(test_prior_of_every_family),
        cmocka_unit_test(test_prior_of_the_other_direction),
        cmocka_unit_test(test_prior_width),
        cmocka_unit_test(test_prior_against_answers),
        cmocka_unit_test(test_precise_means_all),
        cmocka_unit_test(test_fraction_ends_by_noise),
        cmocka_unit_test(test_consistency),
        cmocka_unit_test(test_doubts),
        cmocka_unit_test(test_pool),
        cmocka_unit_test(test_pool_refusals),
        cmocka_unit_test(test_person_among_others),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
