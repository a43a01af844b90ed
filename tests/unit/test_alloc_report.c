/* Every allocation of every plot and page fails once. */
#include "support/test.h"

#include "report/page.h"
#include "report/shared.h"

#include <math.h>
#include <stdlib.h>

static const mel_point hull[] = { { 0.0, 0.5 }, { 0.0, 0.1 }, { 0.1, 0.0 },
                                  { 0.5, 0.0 }, { 0.5, 0.4 }, { 0.4, 0.5 } };

static mel_status finish(mel_status status, char *text)
{
    /* On failure there is nothing to free. */
    if (status != MEL_OK)
        assert_null(text);
    free(text);
    return status;
}

static mel_status plot_feasible(void *context)
{
    static const mel_support support = { 0.9, 0.3, { NAN, NAN }, "metric" };
    static const mel_asked asked[] = { { { 0.0, 0.5 }, { 0.5, 0.0 }, MEL_ANSWER_A },
                                       { { 0.0, 0.2 }, { 0.5, 0.3 }, MEL_ANSWER_B } };
    mel_feasible_plot plot;
    char *svg = NULL;
    (void)context;
    mel_feasible_plot_init(&plot);
    plot.n_hull = COUNT(hull);
    plot.hull = hull;
    plot.positives = plot.negatives = 0.5;
    plot.n_supports = 1;
    plot.supports = &support;
    plot.n_questions = COUNT(asked);
    plot.questions = asked;
    plot.n_staircase = COUNT(hull);
    plot.staircase = hull;
    const mel_status status = mel_plot_feasible(&svg, &plot, NULL, NULL);
    return finish(status, svg);
}

static mel_status plot_posterior(void *context)
{
    static const double angle[] = { 0.1, 0.2, 0.3 }, density[] = { 1.0, 2.0, 1.0 };
    mel_posterior_plot plot;
    char *svg = NULL;
    (void)context;
    mel_posterior_plot_init(&plot);
    plot.n = 3;
    plot.angle = angle;
    plot.density = density;
    plot.estimate = plot.truth = 0.2;
    plot.low = 0.15;
    plot.high = 0.25;
    const mel_status status = mel_plot_posterior(&svg, &plot, NULL, NULL);
    return finish(status, svg);
}

static mel_status plot_curves(void *context)
{
    static const double x[] = { 0.1, 0.2, 0.3 }, y[] = { 1.0, 2.0, 1.0 };
    char *svg = NULL;
    (void)context;
    mel_status status = mel_plot_along(&svg, 3, x, y, y, NULL, NULL);
    status = finish(status, svg);
    svg = NULL;
    if (status == MEL_OK) {
        status = mel_plot_convergence(&svg, 3, y, 0.1, NULL, NULL);
        status = finish(status, svg);
    }
    return status;
}

static mel_status plot_bars_and_people(void *context)
{
    static const char *const names[] = { "one", "two" };
    static const double value[] = { 1.0, 2.0, 3.0, 4.0 };
    mel_bar_chart chart;
    mel_people_plot people;
    char *svg = NULL;
    (void)context;
    mel_bar_chart_init(&chart);
    chart.n_groups = chart.n_series = 2;
    chart.group_names = chart.series_names = names;
    chart.value = value;
    mel_status status = mel_plot_bars(&svg, &chart, NULL, NULL);
    status = finish(status, svg);
    if (status != MEL_OK)
        return status;
    mel_people_plot_init(&people);
    people.positives = people.negatives = 0.5;
    people.point = (mel_point){ 0.4, 0.3 };
    svg = NULL;
    status = mel_plot_people(&svg, &people, NULL, NULL);
    return finish(status, svg);
}

static mel_status plot_decisions(void *context)
{
    (void)context;
    static const mel_point rules[] = { { 0.0, 0.5 }, { 0.1, 0.1 }, { 0.5, 0.0 }, { 0.4, 0.4 } };
    static const double x[] = { 0.0, 0.2, 1.0 }, y[] = { 0.0, 0.8, 1.0 };
    static const char *const names[] = { "a", "b", "c" };
    mel_decision_plot plot;
    mel_decision_plot_init(&plot);
    plot.n_hull = 4;
    plot.hull = rules;
    plot.positives = plot.negatives = 0.5;
    plot.cost = (mel_estimate){ 4.0, 2.5, 7.0 };
    plot.chosen = rules[3];
    const mel_roc curve = { "all", 3, x, y, 0.2, 0.8 };
    const mel_ranking_plot ranking = { 3, names, y, x, y, x, 0.975, "F1" };
    char *svg = NULL;
    mel_status status = mel_plot_net_benefit(&svg, &plot, NULL, NULL);
    free(svg);
    if (status == MEL_OK) {
        status = mel_plot_cost_curve(&svg, &plot, NULL, NULL);
        free(svg);
    }
    if (status == MEL_OK) {
        status = mel_plot_roc(&svg, 1, &curve, NULL, NULL);
        free(svg);
    }
    if (status == MEL_OK) {
        status = mel_plot_ranking(&svg, &ranking, NULL, NULL);
        free(svg);
    }
    return status;
}

static mel_status style(void *context)
{
    char *css = NULL;
    (void)context;
    const mel_status status = mel_plot_style(&css, NULL);
    return finish(status, css);
}

static mel_status write_page(void *context)
{
    static const double a[] = { 0.1, 0.45 }, b[] = { 0.4, 0.2 };
    static const mel_page_question question = { a, b, MEL_ANSWER_B, 3.0, false, false };
    static const double radius[] = { 0.5, 0.1 };
    static const mel_statement statement = { MEL_ABOUT_END, "end", "It ended.", false };
    static const mel_domain domain = { .face = NULL };
    mel_session_options options;
    mel_session_options_init(&options);
    const mel_outcome outcome = {
        .options = &options,
        .domain = &domain,
        .words = "One missed cancer counts as much as 3.2 false alarms; 95% between 2.4 and 4.9.",
        .n_statements = 1,
        .statements = &statement,
        .missed = "missed cancer",
        .missed_plural = "missed cancers",
        .false_alarm = "false alarm",
        .false_alarms = "false alarms",
        .people = "people",
        .cost = { 3.2, 2.4, 4.9 },
        .threshold = { 0.24, 0.2, 0.3 },
        .n_decisions = 2,
        .decisions = { { .words = "one", .point = { 0.5, 0.4 } }, { .words = "two", .point = { 0.4, 0.5 } } },
    };
    const mel_page_data d = {
        .outcome = &outcome,
        .title = "title",
        .version = "1",
        .positive = "cancer",
        .found = "cancer",
        .cleared = "healthy",
        .called = "cancer",
        .positives = 0.5,
        .negatives = 0.5,
        .n_hull = COUNT(hull),
        .hull = hull,
        .direction = { 0.95, 0.3 },
        .n_questions = 1,
        .questions = &question,
        .n_radius = 2,
        .radius = radius,
    };
    char *html = NULL;
    (void)context;
    const mel_status status = mel_page_write(&html, &d, NULL);
    return finish(status, html);
}

static mel_status report_session(void *context)
{
    mel_session *session = context;
    const mel_outcome_options names = { .struct_size = sizeof names, .missed = "missed cancer", .rows = 10 };
    mel_report_options about = { .struct_size = sizeof about, .about = &names };
    char *html = NULL;
    mel_metric *truth = NULL;
    mel_status status = mel_session_result(&truth, NULL, session, NULL);
    about.truth = truth;
    if (status == MEL_OK)
        status = mel_report_session(&html, session, &about, NULL);
    mel_metric_free(truth);
    return finish(status, html);
}

static void test_plots(void **state)
{
    (void)state;
    test_each_allocation("feasible set", plot_feasible, NULL);
    test_each_allocation("posterior", plot_posterior, NULL);
    test_each_allocation("curves", plot_curves, NULL);
    test_each_allocation("bars and people", plot_bars_and_people, NULL);
    test_each_allocation("decision curves, ROC and ranking", plot_decisions, NULL);
    test_each_allocation("style", style, NULL);
    test_each_allocation("page", write_page, NULL);
}

static void answer_two(mel_session *session)
{
    for (int i = 0; i < 2; i++) {
        const mel_question *question = NULL;
        bool done = false;
        mel_error err;
        assert_ok(mel_session_ask(&question, &done, session, &err), &err);
        assert_false(done);
        assert_ok(mel_session_tell(session, question->number, MEL_ANSWER_A, 1.0, &err), &err);
    }
}

static void test_session(void **state)
{
    (void)state;
    static const double score[] = { 0.1, 0.3, 0.2, 0.6, 0.4, 0.9 };
    static const uint8_t role[] = { 0, 0, 1, 0, 1, 1 };
    mel_face *face = NULL;
    mel_session *session = NULL;
    mel_session_options opt;
    mel_error err;
    mel_session_options_init(&opt);
    assert_ok(mel_face_from_scores(&face, COUNT(score), score, role, NULL, &err), &err);
    assert_ok(mel_session_new(&session, &(mel_domain){ .face = face }, &opt, &err), &err);
    answer_two(session);
    test_each_allocation("session", report_session, session);
    mel_session_free(session);
    mel_face_free(face);
}

static void test_class_session(void **state)
{
    (void)state;
    static const char *const names[] = { "healthy", "flu", "cold" };
    const mel_layout layout = { MEL_RATES, MEL_OFFDIAGONAL, 3, 0 };
    mel_ball *ball = NULL;
    mel_session *session = NULL;
    mel_session_options opt;
    mel_error err;
    mel_session_options_init(&opt);
    opt.strategy = MEL_STRATEGY_SEARCH;
    opt.class_names = names;
    assert_ok(mel_ball_new(&ball, &layout, 0.1, NULL, NULL, &err), &err);
    assert_ok(mel_session_new(&session, &(mel_domain){ .ball = ball }, &opt, &err), &err);
    answer_two(session);
    test_each_allocation("session about several classes", report_session, session);
    mel_session_free(session);
    mel_ball_free(ball);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_plots), cmocka_unit_test(test_session),
                                        cmocka_unit_test(test_class_session) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
