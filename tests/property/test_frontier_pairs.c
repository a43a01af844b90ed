/* Pairs near the frontier for more than two classes and for groups: whole numbers of people, classifiers that
 * somebody might use, few numbers that differ; sessions that end when the rule is settled; where there are no
 * such pairs. */
#include "support/classes.h"
#include "support/multiclass.h"

#include "base/la.h"
#include "elicit/shared.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- until rule ----------------------------------------------------------------------------------- */

enum { CLASSES = 3, NUMBERS = 6, PEOPLE = 1000, IN_GROUPS = 100 };

typedef struct {
    mel_space *space;
    mel_ball *ball;
    mel_domain domain;
    mel_session_options opt;
    double trivial[CLASSES][NUMBERS];
} world;

static void make_world(world *w)
{
    double gain[CLASSES * CLASSES];
    mel_error err;
    w->space = test_softmax_space(CLASSES, MEL_CONFUSION, MEL_OFFDIAGONAL);
    assert_ok(
        mel_ball_new(&w->ball, mel_space_layout(w->space), 0.01, mel_space_class_share(w->space), NULL, &err),
        &err);
    w->domain = (mel_domain){ .ball = w->ball, .frontier = w->space };
    w->opt = test_person_options(MEL_FAMILY_LINEAR, 60);
    w->opt.until = MEL_UNTIL_RULE;
    w->opt.decisions = mel_decisions_usual();
    for (size_t j = 0; j < CLASSES; j++) {
        for (size_t i = 0; i < sizeof gain / sizeof *gain; i++)
            gain[i] = i % CLASSES == j ? 1.0 : 0.0;
        assert_ok(mel_space_rule(w->trivial[j], w->space, gain, &err), &err);
    }
}

static void free_world(world *w)
{
    mel_ball_free(w->ball);
    mel_space_free(w->space);
}

/* What the best classifier for `by` is worth by the truth, and the best trivial one. */
static double best_value(const world *w, const double *truth, const double *by)
{
    double point[NUMBERS];
    mel_error err;
    assert_ok(mel_space_linear(point, w->space, by, &err), &err);
    return mel_dot(NUMBERS, truth, point);
}

static double best_trivial(const world *w, const double *truth)
{
    double best = -INFINITY;
    for (size_t j = 0; j < CLASSES; j++)
        best = fmax(best, mel_dot(NUMBERS, truth, w->trivial[j]));
    return best;
}

static bool is_whole(const double *x)
{
    for (size_t i = 0; i < NUMBERS; i++)
        if (fabs(x[i] * PEOPLE - round(x[i] * PEOPLE)) > 1e-9)
            return false;
    return true;
}

/* What is shown are the numbers themselves, and each class adds up. */
static void check_shown(const mel_question *q)
{
    mel_counted shown;
    mel_error err;
    assert_ok(mel_counted_make(&shown, q, 0, &err), &err);
    for (size_t side = 0; side < 2; side++) {
        const int64_t *m = side == 0 ? shown.a : shown.b;
        const double *x = side == 0 ? q->a : q->b;
        for (size_t i = 0, at = 0; i < CLASSES; i++) {
            int64_t sum = 0;
            for (size_t j = 0; j < CLASSES; j++) {
                sum += m[i * CLASSES + j];
                if (j != i)
                    assert_int_equal(m[i * CLASSES + j], llround(x[at++] * PEOPLE));
            }
            assert_int_equal(sum, shown.size[i]);
        }
    }
    mel_counted_clear(&shown);
}

typedef struct {
    size_t asked, plausible;
    double regret; /* as a share of what the best adds to the best trivial one */
    mel_end end;
} told;

/* Asks somebody who never errs; every pair is in whole numbers and asked once. */
static told converse(const world *w, const mel_session_options *opt, const mel_metric *truth)
{
    const double *weight = mel_metric_coefficient(truth);
    const double best = best_value(w, weight, weight), plain = best_trivial(w, weight);
    told out = { 0 };
    mel_session *session = NULL;
    mel_metric *found = NULL;
    mel_summary summary;
    mel_error err;
    assert_ok(mel_session_new(&session, &w->domain, opt, &err), &err);
    for (;;) {
        const mel_question *q = NULL;
        bool done = false;
        double better = 0.0;
        assert_ok(mel_session_ask(&q, &done, session, &err), &err);
        if (done)
            break;
        assert_true(q->people == PEOPLE && is_whole(q->a) && is_whole(q->b)); /* checks of signs, too */
        check_shown(q);
        for (uint32_t i = 0; i < mel_session_answers(session); i++) {
            const mel_record before = mel_session_record(session, i);
            assert_false(test_max_error(NUMBERS, before.a, q->a) < 1e-9 &&
                         test_max_error(NUMBERS, before.b, q->b) < 1e-9);
        }
        const double half = plain + 0.5 * (best - plain);
        out.asked++;
        out.plausible += mel_dot(NUMBERS, weight, q->a) >= half && mel_dot(NUMBERS, weight, q->b) >= half;
        assert_ok(mel_metric_compare(&better, truth, q->a, q->b, &err), &err);
        assert_ok(mel_session_tell(session, q->number, better > 0.0 ? MEL_ANSWER_A : MEL_ANSWER_B, NAN, &err),
                  &err);
    }
    assert_ok(mel_session_result(&found, &summary, session, &err), &err);
    out.end = summary.end;
    out.regret = (best - best_value(w, weight, mel_metric_coefficient(found))) / (best - plain);
    mel_metric_free(found);
    mel_session_free(session);
    return out;
}

/* Questions are about classifiers that somebody might use, and when the session ends because the rule is
 * settled it is nearly the best. */
static void test_until_rule(void **state)
{
    (void)state;
    world w;
    make_world(&w);
    const size_t sessions = test_repeats(60, 8, 2);
    size_t asked = 0, plausible = 0, decided = 0, good = 0;
    for (size_t i = 0; i < sessions; i++) {
        mel_rng rng;
        mel_session_options opt = w.opt;
        opt.seed = i + 1;
        mel_rng_seed_stream(&rng, opt.seed, 79);
        mel_metric *truth = test_draw_metric(&rng, &w.domain, &opt);
        const told one = converse(&w, &opt, truth), again = converse(&w, &opt, truth);
        assert_true(one.asked == again.asked && one.regret == again.regret);
        asked += one.asked;
        plausible += one.plausible;
        decided += one.end == MEL_END_DECIDED;
        good += one.end == MEL_END_DECIDED && one.regret <= 0.03;
        mel_metric_free(truth);
    }
    print_message("  %zu questions in %zu sessions, %zu plausible; %zu decided, %zu with a good rule\n",
                  asked, sessions, plausible, decided, good);
    assert_true((double)plausible >= 0.6 * (double)asked);
    assert_true(2 * decided >= sessions && good + 1 >= decided - decided / 10);
    free_world(&w);
}

/* --- realistic questions for the weights ---------------------------------------------------------- */

/* Rows of some classes and groups with a small ball, as problems have it. */
typedef struct {
    test_classes rows;
    mel_space *space;
    mel_ball *ball;
    mel_domain domain;
} table;

static void make_table(table *t, size_t n, size_t k, size_t groups)
{
    mel_rng rng;
    mel_error err;
    mel_rng_seed(&rng, 5);
    test_classes_make(&t->rows, &rng, n, k, groups, 2.0, 0);
    const mel_space_options opt =
        test_space_options(groups > 0 ? MEL_RATES : MEL_CONFUSION, MEL_OFFDIAGONAL, MEL_BY_LABELS, 1);
    t->space = test_classes_space(&t->rows, &opt);
    assert_ok(mel_ball_new(&t->ball, mel_space_layout(t->space), 0.01, mel_space_class_share(t->space),
                           mel_space_prevalence(t->space), &err),
              &err);
    t->domain = (mel_domain){ .ball = t->ball, .frontier = t->space };
}

static void free_table(table *t)
{
    mel_ball_free(t->ball);
    mel_space_free(t->space);
    test_classes_clear(&t->rows);
}

/* Whether everybody who is counted is right or makes one of the mistakes. */
static void check_numbers(const mel_question *q, const mel_space *space)
{
    const mel_layout *layout = mel_space_layout(space);
    const size_t k = layout->n_classes, size = mel_layout_size(layout);
    const double people = layout->n_groups > 1 ? IN_GROUPS : PEOPLE; /* of each class in each group */
    bool above = false, below = false;
    assert_int_equal(q->people, people);
    for (size_t i = 0, class = 0; i < size; i += k - 1, class ++) {
        const double *class_share = layout->n_groups > 1 ? NULL : mel_space_class_share(space);
        double sum[2] = { 0.0, 0.0 };
        for (size_t j = i; j < i + k - 1; j++) {
            assert_close(q->a[j] * people, round(q->a[j] * people), 1e-9);
            assert_close(q->b[j] * people, round(q->b[j] * people), 1e-9);
            above = above || q->a[j] > q->b[j];
            below = below || q->a[j] < q->b[j];
            sum[0] += q->a[j];
            sum[1] += q->b[j];
        }
        const double most = (class_share != NULL ? class_share[class] : 1.0) + 2.0 / people;
        assert_true(sum[0] <= most && sum[1] <= most);
    }
    assert_true(above && below); /* none is worse in everything */
}

static double value_of(const mel_metric *truth, const double *point)
{
    double value = 0.0;
    mel_error err;
    assert_ok(mel_metric_value(&value, truth, point, &err), &err);
    return mel_metric_orientation(truth) == MEL_COST ? -value : value;
}

/* Asks somebody who hardly errs; counts questions in which both are better than every trivial classifier. */
static void ask_table(const table *t, const mel_session_options *opt, const mel_metric *truth, size_t *asked,
                      size_t *useful, size_t *differing)
{
    const mel_layout *layout = mel_space_layout(t->space);
    const size_t k = layout->n_classes, groups = layout->n_groups > 1 ? layout->n_groups : 1;
    double gain[64], point[64], plain = -INFINITY;
    mel_session *session = NULL;
    mel_error err;
    for (size_t j = 0; j < k; j++) {
        for (size_t i = 0; i < groups * k * k; i++)
            gain[i] = i % k == j ? 1.0 : 0.0;
        assert_ok(mel_space_rule(point, t->space, gain, &err), &err);
        plain = fmax(plain, value_of(truth, point));
    }
    assert_ok(mel_session_new(&session, &t->domain, opt, &err), &err);
    assert_int_equal(mel_session_questions(session), MEL_QUESTIONS_REALISTIC);
    for (;;) {
        const mel_question *q = NULL;
        bool done = false;
        assert_ok(mel_session_ask(&q, &done, session, &err), &err);
        if (done)
            break;
        const double a = value_of(truth, q->a), b = value_of(truth, q->b);
        if (q->people > 0) { /* signs are still checked on the ball */
            check_numbers(q, t->space);
            *asked += 1;
            *useful += a > plain && b > plain;
            for (size_t i = 0; i < mel_layout_size(layout); i++)
                *differing += q->a[i] != q->b[i];
        }
        assert_ok(mel_session_tell(session, q->number, a > b ? MEL_ANSWER_A : MEL_ANSWER_B, NAN, &err), &err);
    }
    mel_session_free(session);
}

static void check_table(const char *name, size_t n, size_t k, size_t groups, double least_useful,
                        double most_differing)
{
    table t;
    make_table(&t, n, k, groups);
    const size_t sessions = test_repeats(40, 4, 2);
    size_t asked = 0, useful = 0, differing = 0;
    for (size_t i = 0; i < sessions; i++) {
        mel_session_options opt =
            test_person_options(groups > 0 ? MEL_FAMILY_FAIR_LINEAR : MEL_FAMILY_LINEAR, 16);
        mel_rng rng;
        opt.questions = MEL_QUESTIONS_REALISTIC;
        opt.seed = i + 1;
        mel_rng_seed_stream(&rng, opt.seed, 80);
        mel_metric *truth = test_draw_metric(&rng, &t.domain, &opt);
        ask_table(&t, &opt, truth, &asked, &useful, &differing);
        mel_metric_free(truth);
    }
    print_message("  %s: %zu questions, %zu about useful classifiers, %.2f numbers differ\n", name, asked,
                  useful, (double)differing / (double)asked);
    assert_true((double)useful >= least_useful * (double)asked);
    assert_true((double)differing <= most_differing * (double)asked);
    free_table(&t);
}

/* Also of more rows than are looked at. */
static void test_realistic(void **state)
{
    (void)state;
    check_table("3 classes", 600, 3, 0, 0.8, 5.0);
    check_table("3 classes, many rows", 9000, 3, 0, 0.8, 5.0);
    /* Where differences between groups count most, hardly anything beats trivial classifiers. In one group
     * one mistake is traded for the other. */
    check_table("two rules per group", 800, 2, 2, 0.35, 2.0);
}

/* Curved metrics, and balls of which nothing else is known: far. */
static void test_far(void **state)
{
    (void)state;
    table t;
    make_table(&t, 300, 3, 0);
    const mel_domain unknown = { .ball = t.ball };
    const struct {
        const mel_domain *domain;
        mel_family family;
        mel_questions want;
    } rows[] = { { &t.domain, MEL_FAMILY_LINEAR, MEL_QUESTIONS_REALISTIC },
                 { &unknown, MEL_FAMILY_LINEAR, MEL_QUESTIONS_FAR },
                 { &t.domain, MEL_FAMILY_QUADRATIC, MEL_QUESTIONS_FAR } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_session_options opt = test_person_options(rows[i].family, 5);
        mel_session *session = NULL;
        mel_error err;
        opt.questions = MEL_QUESTIONS_REALISTIC;
        assert_ok(mel_session_new(&session, rows[i].domain, &opt, &err), &err);
        assert_int_equal(mel_session_questions(session), rows[i].want);
        mel_session_free(session);
    }
    free_table(&t);
}

static void test_refusals(void **state)
{
    (void)state;
    world w;
    mel_session *session = NULL;
    mel_error err;
    make_world(&w);
    const mel_domain unknown = { .ball = w.ball };
    assert_int_equal(mel_session_new(&session, &unknown, &w.opt, &err), MEL_EINVAL);
    assert_non_null(strstr(err.text, "until rule is for linear metrics"));
    mel_session_options opt = w.opt;
    opt.decisions = NULL;
    assert_int_equal(mel_session_new(&session, &w.domain, &opt, &err), MEL_EINVAL);
    assert_non_null(strstr(err.text, "until rule: the options name no decisions"));
    opt = w.opt;
    opt.family = MEL_FAMILY_QUADRATIC;
    assert_int_equal(mel_session_new(&session, &w.domain, &opt, &err), MEL_EINVAL);
    free_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_until_rule),
        cmocka_unit_test(test_realistic),
        cmocka_unit_test(test_far),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
