/* The page of a session about several classes. */
#include "support/document.h"

#include "report/page.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char nasty[] = "<b>\"R&D\"</b> 'x' \xE7\x99\x8C \xFF\x01";

/* ---- made-up pages ---- */

enum { SIZE = 6 };
static const double points[4][SIZE] = { { 0.3, 0.3, 0.3, 0.3, 0.3, 0.3 },
                                        { 0.35, 0.2, 0.3, 0.31, 0.32, 0.3 },
                                        { 0.1, 0.3, 0.3, 0.3, 0.3, 0.3 },
                                        { 0.1, 0.3, 0.3, 0.3, 0.3, 0.3 } };

static mel_outcome sample_outcome(const mel_metric *metric)
{
    static const mel_weight weights[SIZE] = {
        { nasty, nasty, { 0.4, 0.35, 0.45 } }, { "b", "b", { 0.2, 0.1, 0.3 } },
        { "c", "c", { -0.1, -0.2, 0.0 } },     { "d", "d", { 0.1, 0.0, 0.2 } },
        { "e", "e", { 0.1, 0.0, 0.2 } },       { "f", "f", { 0.1, 0.0, 0.2 } },
    };
    static const mel_coefficient coefficients[] = { { "a1", nasty, { 0.95, 0.9, 0.98 } },
                                                    { "a2", "two", { 0.3, NAN, NAN } } };
    static mel_session_options options;
    static const mel_domain domain = { .face = NULL };
    mel_session_options_init(&options);
    return (mel_outcome){
        .metric = metric,
        .options = &options,
        .domain = &domain,
        .summary = { .end = MEL_END_TOLERANCE, .questions = 3, .radius = 0.012, .disagreements = 1 },
        .people = "women",
        .words = "Weight of each mistake: one 40% (95% between 35% and 45%), two 20%. Predicting x costs 4 "
                 "times as much as predicting y; 95% between 3 and 5. More.",
        .headline = { MEL_HEADLINE_NUMBER, "Predicting x costs 4 times as much as predicting y.",
                      "With 95% probability between 3 and 5.", NULL, "More." },
        .n_coefficients = COUNT(coefficients),
        .coefficients = coefficients,
        .n_left_out = 1,
        .n_weights = SIZE,
        .weights = weights,
        .lambda = { NAN, NAN, NAN },
    };
}

static mel_page_data sample(mel_page_classes *classes, const mel_outcome *outcome)
{
    static const char *const names[SIZE] = { nasty, "b", "c", "d", "e", "f" };
    static const char *const class_names[] = { nasty, "flu", "cold" };
    static const mel_page_question questions[] = {
        { points[0], points[1], MEL_ANSWER_B, 3.25, false, false },
        { points[2], points[3], MEL_ANSWER_SAME, NAN, true, false },
        { points[1], points[2], MEL_ANSWER_A, 2.0, false, true },
    };
    static const double radius[] = { 0.5, 0.3, 0.1, 0.05 };
    *classes = (mel_page_classes){ .coordinates = names, .class_names = class_names };
    return (mel_page_data){
        .outcome = outcome,
        .classes = classes,
        .title = nasty,
        .version = "9.9.9",
        .session_path = "it's a file.jsonl",
        .n_questions = COUNT(questions),
        .questions = questions,
        .n_radius = COUNT(radius),
        .radius = radius,
    };
}

static mel_metric *sample_metric(void)
{
    const mel_layout layout = { MEL_RATES, MEL_OFFDIAGONAL, 3, 0 };
    mel_metric *metric = NULL;
    mel_error err;
    assert_ok(mel_metric_linear(&metric, MEL_FAMILY_LINEAR, &layout, NULL, MEL_COST, points[0], &err), &err);
    return metric;
}

static char *write(const mel_page_data *d)
{
    char *html = NULL;
    mel_error err;
    assert_ok(mel_page_write(&html, d, &err), &err);
    test_document(html);
    return html;
}

static void test_full_page(void **state)
{
    (void)state;
    static const char *const order[] = {
        "<h1>Predicting x costs 4 times as much as predicting y.</h1>",
        "With 95% probability between 3 and 5.</p>",
        "Dearest mistake",
        "40%",
        "95% between 35% and 45%",
        "\302\2610.012",
        "the least certain of 3 weights",
        "2 <small>of</small> 3",
        ">What it weighs</h2>",
        "id=\"weights-title\"",
    };
    mel_page_classes classes;
    mel_metric *metric = sample_metric();
    mel_outcome o = sample_outcome(metric);
    mel_ball *ball = NULL;
    mel_error err;
    assert_ok(mel_ball_new(&ball, mel_metric_layout(metric), 0.1, NULL, NULL, &err), &err);
    const mel_domain domain = { .ball = ball };
    o.domain = &domain;
    const mel_page_data d = sample(&classes, &o);
    char *html = write(&d);
    test_order(html, order, COUNT(order));
    static const char *const parts[] = {
        "taken for</small> flu",
        ">right</td>",
        "\xE2\x88\x92\x31\x30.0<",
        "Each weight as a share of all of them",
        "1 smaller weight is only in the metric file.",
        "In what A and B differed most, in percent of the true class",
        "and 1 smaller difference</small>",
        "no visible difference",
        "asked before",
        "the metric disagrees",
        "--session &#39;it&#39;\\&#39;&#39;s a file.jsonl&#39;",
    };
    for (size_t i = 0; i < COUNT(parts); i++)
        test_has(html, parts[i]);
    assert_int_equal(test_occurrences(html, "<h1"), 1);
    assert_int_equal(test_occurrences(html, "<svg"), 2);
    assert_int_equal(test_occurrences(html, "<td class=\"answer\""), 3);
    assert_null(strstr(html, "melicit apply")); /* a ball has no classifier */
    assert_null(strstr(html, ">What it does</h2>"));
    /* Question 1: the largest difference first; B is preferred. */
    static const char *const first[] = { "<td>b</td><td class=\"n\">30.0<", "picked\">20.0<",
                                         "<td class=\"n\">30.0<", "picked\">35.0<" };
    test_order(html, first, COUNT(first));
    free(html);
    mel_ball_free(ball);
    mel_metric_free(metric);
}

static void test_two_columns_of_questions(void **state)
{
    (void)state;
    mel_page_classes classes;
    mel_metric *metric = sample_metric();
    const mel_outcome o = sample_outcome(metric);
    mel_page_data d = sample(&classes, &o);
    mel_page_question many[7];
    for (size_t i = 0; i < COUNT(many); i++)
        many[i] = d.questions[i % 3];
    d.n_questions = COUNT(many);
    d.questions = many;
    char *html = write(&d);
    static const char *const order[] = { "aria-label=\"Questions 1 to 4\"",
                                         "aria-label=\"Questions 5 to 7\"" };
    test_order(html, order, COUNT(order));
    assert_int_equal(test_occurrences(html, "<td class=\"answer\""), COUNT(many));
    free(html);
    mel_metric_free(metric);
}

/* Nothing is known but what must be. */
static void test_bare_page(void **state)
{
    (void)state;
    mel_page_classes classes;
    mel_metric *metric = sample_metric();
    mel_outcome o = sample_outcome(metric);
    mel_page_data d = sample(&classes, &o);
    o.n_weights = o.n_left_out = o.n_coefficients = 0;
    o.words = "This metric does not tell classifiers apart: every weight is zero.";
    o.headline = (mel_headline){ .text = o.words, .rest = "" };
    o.summary = (mel_summary){ .radius = NAN };
    d.session_path = NULL;
    d.n_questions = d.n_radius = 0;
    char *html = write(&d);
    static const char *const order[] = {
        "<h1>This metric does not tell classifiers apart: every weight is zero.",
        "the session is not finished", ">What it weighs</h2>", "No question has been answered yet.",
        "melicit apply"
    };
    test_order(html, order, COUNT(order));
    static const char *const absent[] = { "Dearest", "Known within", "Agreement", "<svg", "How consistent" };
    test_absent(html, absent, COUNT(absent));
    free(html);
    mel_metric_free(metric);
}

/* ---- sessions ---- */

typedef struct {
    const char *name;
    mel_family family;
    mel_strategy strategy;
    mel_layout layout;
    bool space;
    const char *says;
} kind;

static mel_metric *truth_of(const kind *k)
{
    static const double a[] = { 0.2, 0.5, 0.3, 0.1, 0.2, 0.4 }, even[] = { 0.5, 0.5, 0.5, 0.5 };
    static const char *const classes[] = { "healthy", "flu", "cold" }, *const groups[] = { "men", "women" };
    double square[36] = { 0 };
    for (size_t i = 0; i < 6; i++)
        square[7 * i] = 1.0;
    mel_metric *metric = NULL;
    mel_error err;
    mel_status status = MEL_OK;
    if (k->family == MEL_FAMILY_QUADRATIC)
        status = mel_metric_quadratic(&metric, &k->layout, classes, MEL_COST, a, square, &err);
    else if (k->family == MEL_FAMILY_FAIR_LINEAR)
        status = mel_metric_fair_linear(&metric, &k->layout, classes, groups, a, a, 0.3, even, &err);
    else if (k->family == MEL_FAMILY_LINEAR)
        status = mel_metric_linear(&metric, k->family, &k->layout, classes, MEL_COST, a, &err);
    else
        status =
            mel_metric_linear(&metric, MEL_FAMILY_DIAGONAL_LINEAR, &k->layout, classes, MEL_UTILITY, a, &err);
    assert_ok(status, &err);
    return metric;
}

static void elicit(mel_session **session, const mel_domain *domain, const kind *k, const mel_metric *truth)
{
    mel_session_options opt;
    mel_session_options_init(&opt);
    opt.family = k->family;
    opt.strategy = k->strategy;
    opt.tolerance = 0.1;
    opt.max_questions = 25;
    mel_simulated_options sim;
    mel_simulated_options_init(&sim);
    mel_oracle *oracle = NULL;
    mel_error err;
    assert_ok(mel_session_new(session, domain, &opt, &err), &err);
    assert_ok(mel_oracle_simulated(&oracle, truth, &sim, &err), &err);
    assert_ok(mel_session_run(*session, oracle, &err), &err);
    mel_oracle_free(oracle);
}

/* The best rule's part of the page has what the outcome says about each class. */
static void check_treatments(const char *html, mel_session *session, bool expected)
{
    mel_outcome_options opt;
    mel_outcome_options_init(&opt);
    opt.treatments = true;
    mel_outcome *o = NULL;
    mel_error err;
    assert_ok(mel_outcome_of_session(&o, session, &opt, &err), &err);
    const char *part = strstr(html, ">What the best rule does</h2>");
    assert_int_equal(part != NULL, expected);
    assert_int_equal(o->n_treatments, expected ? 2 : 0);
    for (size_t i = 0; expected && i < 3; i++) {
        char row[300];
        (void)snprintf(row, sizeof row, "<td class=\"n\">%s%%</td><td class=\"n\">%s%%</td>",
                       mel_digits_shown(100.0 * o->treatments[0].share[4 * i].value, 1).text,
                       mel_digits_shown(100.0 * o->treatments[1].share[4 * i].value, 1).text);
        part = strstr(part, row);
        assert_non_null(part);
    }
    mel_outcome_free(o);
}

static void report_kind(const kind *k)
{
    static const double slope[] = { 1.0, 3.0, 5.0 };
    mel_domain domain = { .face = NULL };
    mel_space *space = NULL;
    mel_ball *ball = NULL;
    mel_error err;
    mel_space_options so;
    mel_space_options_init(&so);
    so.kind = k->layout.kind;
    so.coordinates = k->layout.coordinates;
    if (k->space)
        assert_ok(mel_space_from_softmax(&space, 3, slope, &so, &err), &err);
    else
        assert_ok(mel_ball_new(&ball, &k->layout, 0.1, NULL, NULL, &err), &err);
    domain.space = space;
    domain.ball = ball;
    mel_metric *truth = truth_of(k);
    mel_session *session = NULL;
    elicit(&session, &domain, k, truth);
    mel_report_options about;
    mel_report_options_init(&about);
    mel_outcome_options names;
    mel_outcome_options_init(&names);
    names.treatments = true;
    about.about = &names;
    char *html = NULL, *again = NULL;
    assert_ok(mel_report_session(&html, session, &about, &err), &err);
    test_document(html);
    test_has(html, k->says);
    assert_int_equal(test_occurrences(html, "<td class=\"answer\""), mel_session_answers(session));
    assert_int_equal(strstr(html, ">What it does</h2>") != NULL, k->space);
    check_treatments(html, session, k->space);
    assert_int_equal(strstr(html, "95%") != NULL, k->strategy == MEL_STRATEGY_ACTIVE);
    assert_ok(mel_report_session(&again, session, &about, &err), &err);
    assert_string_equal(html, again);
    free(again);
    free(html);
    mel_session_free(session);
    mel_metric_free(truth);
    mel_space_free(space);
    mel_ball_free(ball);
}

static void test_sessions(void **state)
{
    (void)state;
    static const kind kinds[] = {
        { "diagonal, active",
          MEL_FAMILY_DIAGONAL_LINEAR,
          MEL_STRATEGY_ACTIVE,
          { MEL_CONFUSION, MEL_DIAGONAL, 3, 0 },
          true,
          "out of 1,000 people" },
        { "diagonal rates, active",
          MEL_FAMILY_DIAGONAL_LINEAR,
          MEL_STRATEGY_ACTIVE,
          { MEL_RATES, MEL_DIAGONAL, 3, 0 },
          true,
          "in percent of the true class" },
        { "diagonal, search",
          MEL_FAMILY_DIAGONAL_LINEAR,
          MEL_STRATEGY_SEARCH,
          { MEL_CONFUSION, MEL_DIAGONAL, 3, 0 },
          true,
          "class 1 recognised" },
        { "monotone, search",
          MEL_FAMILY_MONOTONE,
          MEL_STRATEGY_SEARCH,
          { MEL_CONFUSION, MEL_DIAGONAL, 3, 0 },
          true,
          "one that grows with every right answer was assumed" },
        { "linear, active",
          MEL_FAMILY_LINEAR,
          MEL_STRATEGY_ACTIVE,
          { MEL_RATES, MEL_OFFDIAGONAL, 3, 0 },
          false,
          "class 0 taken for class 2" },
        { "linear, search",
          MEL_FAMILY_LINEAR,
          MEL_STRATEGY_SEARCH,
          { MEL_RATES, MEL_OFFDIAGONAL, 3, 0 },
          false,
          "trusts each answer" },
        { "fair linear",
          MEL_FAMILY_FAIR_LINEAR,
          MEL_STRATEGY_ACTIVE,
          { MEL_RATES, MEL_OFFDIAGONAL, 2, 2 },
          false,
          "class 0 taken for class 1 (group 2)" },
        { "quadratic",
          MEL_FAMILY_QUADRATIC,
          MEL_STRATEGY_ACTIVE,
          { MEL_RATES, MEL_OFFDIAGONAL, 3, 0 },
          false,
          "class 0 taken for class 1, squared" },
    };
    for (size_t i = 0; i < COUNT(kinds); i++) {
        print_message("  %s\n", kinds[i].name);
        report_kind(&kinds[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_full_page),
        cmocka_unit_test(test_two_columns_of_questions),
        cmocka_unit_test(test_bare_page),
        cmocka_unit_test(test_sessions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
