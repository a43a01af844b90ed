/* Plots and the page of a session. `test_report --write DIR` writes every sample for other parsers. */
#include "support/document.h"

#include "metric/shared.h"
#include "oracle/counts.h"
#include "report/page.h"
#include "report/shared.h"
#include "space/shared.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char nasty[] = "<b>\"R&D\"</b> 'x' \xE7\x99\x8C \xFF\x01";

/* Where `what` comes next after `at`; NULL stays NULL. */
static const char *next_of(const char *at, const char *what)
{
    return at != NULL && *at != '\0' ? strstr(at + 1, what) : NULL;
}

static double number_after(const char *text, const char *what)
{
    const char *at = strstr(text, what);
    return at != NULL ? strtod(at + strlen(what), NULL) : NAN;
}

/* The number of an attribute in the element that starts at `at`. */
static double attribute(const char *at, const char *name)
{
    char want[40];
    (void)snprintf(want, sizeof want, " %s=\"", name);
    if (at == NULL)
        return NAN;
    const char *found = strstr(at, want), *end = strchr(at, '>');
    return found != NULL && found < end ? strtod(found + strlen(want), NULL) : NAN;
}

/* The first path of a class as vertices; none when there is no such path. */
static size_t path_of(const char *svg, const char *class_name, double *x, double *y, size_t most)
{
    char want[64];
    (void)snprintf(want, sizeof want, "<path class=\"%s\"", class_name);
    const char *at = strstr(svg, want);
    size_t n = 0;
    if (at != NULL)
        at = strstr(at, " d=\"");
    if (at == NULL)
        return 0;
    at += 4;
    for (; n < most && (*at == 'M' || *at == 'L'); n++) {
        char *end;
        x[n] = strtod(at + 1, &end);
        y[n] = strtod(end + 1, &end);
        at = end;
    }
    return n;
}

/* ---- samples ---- */

/* The face of logistic:5,0 as a polygon, by the formula. */
enum { HALF = 60, CORNERS = 2 * HALF };
static mel_point sample_hull[CORNERS];

static double share_below(double x)
{
    return 0.5 * (x + 1.0) - (log1p(exp(5.0 * x)) - log1p(exp(-5.0))) / 10.0;
}

static void make_hull(void)
{
    for (size_t i = 0; i < HALF; i++) {
        const double x = 1.0 - 2.0 * (double)i / HALF; /* from always to never positive */
        const double tp = share_below(x), fp = 0.5 * (x + 1.0) - tp;
        sample_hull[HALF + i] = (mel_point){ tp, 0.5 - fp };
        sample_hull[i] = (mel_point){ 0.5 - tp, fp };
    }
}

static mel_feasible_plot sample_feasible(void)
{
    mel_feasible_plot plot;
    mel_feasible_plot_init(&plot);
    plot.n_hull = CORNERS;
    plot.hull = sample_hull;
    plot.positives = 0.5;
    plot.negatives = 0.5;
    return plot;
}

static mel_status feasible(char **out, mel_error *err)
{
    static const mel_support supports[] = { { 0.98, 0.2, { NAN, NAN }, "elicited" },
                                            { 0.7, 0.7, { 0.42, 0.42 }, nasty } };
    static const mel_point steps[] = { { 0.0, 0.5 }, { 0.2, 0.5 }, { 0.2, 0.45 }, { 0.5, 0.0 } };
    static const mel_asked asked[] = { { { 0.0, 0.5 }, { 0.5, 0.0 }, MEL_ANSWER_A },
                                       { { 0.1, 0.5 }, { 0.4, 0.0 }, MEL_ANSWER_B },
                                       { { 0.2, 0.49 }, { 0.3, 0.01 }, MEL_ANSWER_SAME } };
    mel_feasible_plot plot = sample_feasible();
    plot.n_supports = COUNT(supports);
    plot.supports = supports;
    plot.n_staircase = plot.n_smooth = COUNT(steps);
    plot.staircase = plot.smooth = steps;
    plot.n_questions = COUNT(asked);
    plot.questions = asked;
    plot.x_title = plot.never = plot.always = nasty;
    return mel_plot_feasible(out, &plot, NULL, err);
}

enum { ANGLES = 300 };
static double angles[ANGLES], densities[ANGLES];

static mel_posterior_plot sample_posterior(void)
{
    mel_posterior_plot plot;
    for (size_t i = 0; i < ANGLES; i++) {
        angles[i] = acos(0.0) * (double)i / (ANGLES - 1);
        densities[i] = exp(-0.5 * pow((angles[i] - 0.3) / 0.05, 2.0));
    }
    mel_posterior_plot_init(&plot);
    plot.n = ANGLES;
    plot.angle = angles;
    plot.density = densities;
    plot.estimate = 0.3;
    plot.low = 0.2;
    plot.high = 0.4;
    return plot;
}

static mel_status posterior_angle(char **out, mel_error *err)
{
    mel_posterior_plot plot = sample_posterior();
    plot.x_title = nasty;
    return mel_plot_posterior(out, &plot, NULL, err);
}

static mel_status posterior_ratio(char **out, mel_error *err)
{
    mel_posterior_plot plot = sample_posterior();
    plot.cost_ratio = true;
    return mel_plot_posterior(out, &plot, NULL, err);
}

static mel_status convergence(char **out, mel_error *err)
{
    static const double radius[] = { 0.5, 0.3, 0.31, 0.1, 0.02, 0.005 };
    return mel_plot_convergence(out, COUNT(radius), radius, 0.01, NULL, err);
}

static mel_status people(char **out, mel_error *err)
{
    mel_people_plot plot;
    mel_people_plot_init(&plot);
    plot.positives = 0.3725;
    plot.negatives = 0.6275;
    plot.point = (mel_point){ 0.3601, 0.4333 };
    plot.missed = nasty;
    return mel_plot_people(out, &plot, NULL, err);
}

static mel_status lines(char **out, mel_error *err)
{
    static const double x[] = { 1, 2, 3, 4 }, y[] = { 0.1, 0.2, 0.4, 0.3 }, low[] = { 0.05, 0.1, 0.3, 0.2 },
                        high[] = { 0.2, 0.3, 0.5, 0.4 }, z[] = { 0.4, 0.3, 0.2, 0.1 };
    static const mel_series series[] = { { nasty, 4, x, y, low, high, false, true },
                                         { "second", 4, x, z, NULL, NULL, true, true } };
    mel_line_chart chart;
    mel_line_chart_init(&chart);
    chart.n_series = COUNT(series);
    chart.series = series;
    chart.y_title = nasty;
    chart.x_title = "x";
    chart.reference = 0.25;
    chart.reference_name = "reference";
    return mel_plot_lines(out, &chart, NULL, err);
}

static const double bar_values[] = { 1.0, 2.0, -0.5, 0.5, 1.0, 0.0 };

static mel_status bars(char **out, mel_error *err)
{
    static const char *const groups[] = { "one", nasty, "three" }, *const series[] = { "a", "b" };
    static const double low[] = { 0.9, 1.8, -0.6, 0.4, 0.8, -0.1 },
                        high[] = { 1.1, 2.2, -0.4, 0.6, 1.2, 0.1 };
    mel_bar_chart chart;
    mel_bar_chart_init(&chart);
    chart.n_groups = 3;
    chart.n_series = 2;
    chart.group_names = groups;
    chart.series_names = series;
    chart.value = bar_values;
    chart.low = low;
    chart.high = high;
    chart.decimals = 2;
    chart.x_title = "value";
    return mel_plot_bars(out, &chart, NULL, err);
}

/* What a session found, made up. */
static mel_outcome sample_outcome(void)
{
    static const mel_coefficient coefficients[] = { { "m11", "one", { 0.95, 0.9, 0.98 } },
                                                    { "m00", "two", { 0.3, NAN, NAN } } };
    static const mel_statement statements[] = {
        { MEL_ABOUT_METRIC, "words", "the words", false },
        { MEL_ABOUT_METRIC, "finding", "A <finding>.", false },
        { MEL_ABOUT_END, "end", "It ended.", false },
        { MEL_ABOUT_END, "precision", "It is precise.", false },
        { MEL_ABOUT_OPEN, "cost", "This is open.", false },
        { MEL_ABOUT_ANSWERS, "repeats", "Repeats & all.", false },
        { MEL_ABOUT_ANSWERS, "consistency", "They are not consistent.", true },
        { MEL_ABOUT_LIMITS, "others", "Others may differ.", false },
    };
    static mel_session_options options;
    static const mel_domain domain = { .face = NULL };
    mel_session_options_init(&options);
    return (mel_outcome){
        .options = &options,
        .domain = &domain,
        .summary = { .end = MEL_END_TOLERANCE,
                     .questions = 3,
                     .radius = 0.012,
                     .angle = 0.3,
                     .angle_low = 0.2,
                     .angle_high = 0.4 },
        .missed = "missed cancer",
        .missed_plural = "missed cancers",
        .false_alarm = "false alarm",
        .false_alarms = "false alarms",
        .people = "women",
        .rows = 285,
        .words = "One missed cancer counts as much as 3.2 false alarms; 95% between 2.4 and 4.9.",
        .headline = { MEL_HEADLINE_NUMBER, "One missed cancer counts as much as 3.2 false alarms.",
                      "With 95% probability between 2.4 and 4.9.", NULL, "" },
        .n_statements = COUNT(statements),
        .statements = statements,
        .n_coefficients = COUNT(coefficients),
        .coefficients = coefficients,
        .cost = { 3.24, 2.37, 4.93 },
        .threshold = { 0.236, 0.169, 0.297 },
        .n_decisions = 2,
        .decisions = { { .words = "predict it from 0.31 up",
                         .rule = { 0.31, false },
                         .point = { 0.45, 0.4 },
                         .missed = { 50.0, NAN, NAN },
                         .false_alarms = { 100.0, NAN, NAN },
                         .weighs = "as much as 262 false alarms" },
                       { .words = "predict it from 0.5 up",
                         .rule = { 0.5, false },
                         .point = { 0.42, 0.42 },
                         .missed = { 80.0, NAN, NAN },
                         .false_alarms = { 80.0, NAN, NAN },
                         .weighs = "as much as 339 false alarms" } },
        .change = "30 fewer missed cancers and 20 more false alarms",
        .n_closest = 2,
        .closest = { { "F2", 1.0, "100" }, { "recall", 0.9996, "99.9" } },
    };
}

/* A page with everything on it. */
static mel_page_data sample_page(const mel_outcome *outcome)
{
    static const double point[][2] = { { 0.1, 0.45 }, { 0.4, 0.2 }, { 0.2, 0.4 }, { 0.45, 0.1 } };
    static const mel_page_question questions[] = {
        { point[0], point[1], MEL_ANSWER_B, 3.25, false, false },
        { point[2], point[3], MEL_ANSWER_A, 2.0, false, true },
        { point[3], point[2], MEL_ANSWER_SAME, NAN, true, false },
    };
    static const double radius[] = { 0.5, 0.3, 0.1, 0.05 };
    const mel_posterior_plot posterior = sample_posterior();
    return (mel_page_data){
        .outcome = outcome,
        .title = nasty,
        .data = nasty,
        .date = "today",
        .answered_by = "a doctor",
        .version = "9.9.9",
        .positive = nasty,
        .found = nasty,
        .cleared = "healthy",
        .called = nasty,
        .session_path = "it's a file.jsonl",
        .metric_path = "m.json",
        .positives = 0.5,
        .negatives = 0.5,
        .n_hull = CORNERS,
        .hull = sample_hull,
        .direction = { 0.95, 0.3 },
        .n_questions = COUNT(questions),
        .questions = questions,
        .n_posterior = ANGLES,
        .posterior_angle = posterior.angle,
        .posterior_density = posterior.density,
        .n_radius = COUNT(radius),
        .radius = radius,
    };
}

static mel_status full_page(char **out, mel_error *err)
{
    const mel_outcome o = sample_outcome();
    const mel_page_data d = sample_page(&o);
    return mel_page_write(out, &d, err);
}

/* Nothing is known but what must be. */
static mel_status bare_page(char **out, mel_error *err)
{
    mel_outcome o = sample_outcome();
    mel_page_data d = sample_page(&o);
    mel_session_options searched = *o.options;
    searched.strategy = MEL_STRATEGY_SEARCH;
    o.options = &searched;
    d.data = d.date = d.answered_by = d.session_path = d.metric_path = d.space_options = NULL;
    o.words = "How much a miss counts depends. Classifiers of equal worth lie on a line.";
    o.headline = (mel_headline){ MEL_HEADLINE_WORDS, "How much a miss counts depends.", NULL, NULL,
                                 "Classifiers of equal worth lie on a line." };
    o.rows = 0;
    o.summary = (mel_summary){ .radius = NAN, .angle = NAN };
    o.cost = o.threshold = (mel_estimate){ NAN, NAN, NAN };
    o.n_coefficients = o.n_statements = o.n_closest = 0;
    d.n_questions = d.n_posterior = d.n_radius = 0;
    d.questions = NULL;
    return mel_page_write(out, &d, err);
}

/* The rule that is best where a miss counts four false alarms: P(positive) above 1/5. */
static mel_decision_plot sample_decision(void)
{
    mel_decision_plot plot;
    mel_decision_plot_init(&plot);
    plot.n_hull = CORNERS;
    plot.hull = sample_hull;
    plot.positives = plot.negatives = 0.5;
    plot.cost = (mel_estimate){ 4.0, 2.5, 7.0 };
    plot.chosen = sample_hull[HALF];
    for (size_t i = 0; i < CORNERS; i++)
        if (4.0 * sample_hull[i].tp + sample_hull[i].tn > 4.0 * plot.chosen.tp + plot.chosen.tn)
            plot.chosen = sample_hull[i];
    plot.never = nasty;
    return plot;
}

static mel_status net_benefit(char **out, mel_error *err)
{
    const mel_decision_plot plot = sample_decision();
    return mel_plot_net_benefit(out, &plot, NULL, err);
}

static mel_status cost_curve(char **out, mel_error *err)
{
    const mel_decision_plot plot = sample_decision();
    return mel_plot_cost_curve(out, &plot, NULL, err);
}

static mel_status roc(char **out, mel_error *err)
{
    static const double x[] = { 0.0, 0.1, 0.4, 1.0 }, y[] = { 0.0, 0.6, 0.9, 1.0 },
                        z[] = { 0.0, 0.4, 0.8, 1.0 };
    const mel_roc curves[] = { { "men", 4, x, y, 0.1, 0.6 },
                               { nasty, 4, x, z, 0.4, 0.8 },
                               { "all", 4, x, x, NAN, NAN } };
    return mel_plot_roc(out, COUNT(curves), curves, NULL, err);
}

static mel_status ranking(char **out, mel_error *err)
{
    static const char *const names[] = { "boosting", nasty,
                                         "a tree with a very long name that does not fit anywhere" };
    static const double value[] = { 0.9, 0.8, 0.75 }, low[] = { 0.85, 0.74, 0.7 },
                        high[] = { 0.94, 0.86, 0.81 }, better[] = { 0.99, 0.8 };
    const mel_ranking_plot plot = { 3, names, value, low, high, better, 0.975, "F1" };
    return mel_plot_ranking(out, &plot, NULL, err);
}

static const struct {
    const char *file;
    mel_status (*make)(char **out, mel_error *err);
} samples[] = {
    { "feasible.svg", feasible },
    { "posterior_angle.svg", posterior_angle },
    { "posterior_ratio.svg", posterior_ratio },
    { "convergence.svg", convergence },
    { "people.svg", people },
    { "lines.svg", lines },
    { "bars.svg", bars },
    { "net_benefit.svg", net_benefit },
    { "cost_curve.svg", cost_curve },
    { "roc.svg", roc },
    { "ranking.svg", ranking },
    { "full.html", full_page },
    { "bare.html", bare_page },
};

static char *make(mel_status (*sample)(char **out, mel_error *err))
{
    char *out = NULL;
    mel_error err;
    assert_ok(sample(&out, &err), &err);
    assert_non_null(out);
    return out;
}

static void test_samples(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(samples); i++) {
        char *out = make(samples[i].make);
        print_message("  %s: %zu bytes\n", samples[i].file, strlen(out));
        test_document(out);
        char *again = make(samples[i].make);
        assert_string_equal(out, again);
        if (strstr(samples[i].file, ".svg") != NULL)
            assert_true(strncmp(out, "<svg xmlns=\"http://www.w3.org/2000/svg\"", 39) == 0);
        free(again);
        free(out);
    }
}

/* ---- plots ---- */

/* The line touches the hull at its best point: every corner is on one side of it. */
static void test_supporting_line(void **state)
{
    (void)state;
    static const double weights[][2] = { { 0.98, 0.2 },  { 0.5, 0.5 },  { 0.0, 1.0 }, { 1.0, 0.0 },
                                         { -0.7, -0.7 }, { 0.8, -0.6 }, { -0.1, 1.0 } };
    for (size_t w = 0; w < COUNT(weights); w++) {
        const mel_support support = { weights[w][0], weights[w][1], { NAN, NAN }, "s" };
        mel_feasible_plot plot = sample_feasible();
        char *svg = NULL;
        mel_error err;
        double lx[2], ly[2], hx[4 * HALF], hy[4 * HALF];
        plot.n_supports = 1;
        plot.supports = &support;
        assert_ok(mel_plot_feasible(&svg, &plot, NULL, &err), &err);
        assert_int_equal(path_of(svg, "line-2 solid", lx, ly, 2), 2);
        const size_t n = path_of(svg, "area", hx, hy, COUNT(hx));
        assert_true(n > 4);
        const double length = hypot(lx[1] - lx[0], ly[1] - ly[0]);
        double least = INFINITY, most = -INFINITY;
        for (size_t i = 0; i < n; i++) {
            const double side =
                ((lx[1] - lx[0]) * (hy[i] - ly[0]) - (ly[1] - ly[0]) * (hx[i] - lx[0])) / length;
            least = fmin(least, side);
            most = fmax(most, side);
        }
        assert_true(length > 20.0);
        assert_true(fmin(fabs(least), fabs(most)) < 0.15); /* touches */
        assert_true(fmax(fabs(least), fabs(most)) > 20.0); /* and leaves the rest on one side */
        free(svg);
    }
}

/* Axes have one scale while the box is not too oblong: 0.4 to the right is as long as 0.4 up. */
static void test_one_scale(void **state)
{
    (void)state;
    static const struct {
        double positives;
        bool one_scale;
    } rows[] = { { 0.5, true }, { 0.45, true }, { 0.55, true }, { 0.1, false }, { 0.95, false } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const double p = rows[i].positives;
        const mel_point hull[] = { { 0.0, 1.0 - p }, { 0.0, 0.0 }, { p, 0.0 }, { p, 1.0 - p } };
        mel_feasible_plot plot = sample_feasible();
        char *svg = NULL;
        mel_error err;
        plot.n_hull = 4;
        plot.hull = hull;
        plot.positives = p;
        plot.negatives = 1.0 - p;
        assert_ok(mel_plot_feasible(&svg, &plot, NULL, &err), &err);
        const char *box = strstr(svg, "<rect class=\"soft dots\"");
        assert_non_null(box);
        const double ratio = attribute(box, "height") / attribute(box, "width") * p / (1.0 - p);
        assert_int_equal(fabs(ratio - 1.0) < 1e-3, rows[i].one_scale);
        free(svg);
    }
}

static void test_questions_drawn(void **state)
{
    (void)state;
    char *svg = make(feasible);
    /* A and B: a filled and an open end each; "about the same": two open ends; one of each in the legend. */
    assert_int_equal(test_occurrences(svg, "<circle class=\"won\""), 2 + 1);
    assert_int_equal(test_occurrences(svg, "<circle class=\"lost\""), 2 + 2 + 1);
    assert_int_equal(test_occurrences(svg, "<path class=\"asked\""), 2);
    assert_int_equal(test_occurrences(svg, "<path class=\"asked dots\""), 1);
    /* The filled end of question 1 is A, on the left; that of question 2 is B, on the right. */
    const char *won = strstr(svg, "<circle class=\"won\""), *lost = strstr(svg, "<circle class=\"lost\"");
    assert_true(attribute(won, "cx") < attribute(lost, "cx") - 100.0);
    won = next_of(won, "<circle class=\"won\"");
    lost = next_of(lost, "<circle class=\"lost\"");
    assert_true(attribute(won, "cx") > attribute(lost, "cx") + 100.0);
    static const char *const labels[] = { ">1</text>", ">2</text>", ">3</text>" };
    for (size_t i = 0; i < COUNT(labels); i++)
        test_has(svg, labels[i]);
    test_has(svg, "&lt;b&gt;&quot;R&amp;D&quot;&lt;/b&gt;");
    free(svg);
}

static void test_feasible_refusals(void **state)
{
    (void)state;
    static const mel_point nan_point[] = { { 0.0, 0.5 }, { NAN, 0.0 } };
    static const mel_support zero = { 0.0, 0.0, { NAN, NAN }, NULL },
                             half = { 1.0, 0.0, { 0.1, INFINITY }, NULL };
    static const mel_asked lost = { { 0.1, NAN }, { 0.2, 0.2 }, MEL_ANSWER_A };
    mel_feasible_plot rows[9];
    static const char *const sentences[] = {
        "a hull of 1 points",
        "hull, point 1: (nan, 0) is not finite",
        "shares 0 of positives",
        "shares 0.5 of positives and 0.7 of negatives",
        "axes per -1",
        "5 supporting lines, at most 4",
        "supporting line 0: (0, 0)",
        "supporting line 0: (1, 0) at (0.1, inf)",
        "question 1: (0.1, nan)",
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        rows[i] = sample_feasible();
    rows[0].n_hull = 1;
    rows[1].n_hull = 2;
    rows[1].hull = nan_point;
    rows[2].positives = 0.0;
    rows[3].negatives = 0.7;
    rows[4].people = -1.0;
    rows[5].n_supports = 5;
    rows[5].supports = &half;
    rows[6].n_supports = rows[7].n_supports = 1;
    rows[6].supports = &zero;
    rows[7].supports = &half;
    rows[8].n_questions = 1;
    rows[8].questions = &lost;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *svg = NULL;
        mel_error err;
        assert_int_equal(mel_plot_feasible(&svg, &rows[i], NULL, &err), MEL_EINVAL);
        assert_null(svg);
        test_has(err.text, sentences[i]);
    }
}

/* The shaded part ends at low and high, the line is at the estimate; ratios ascend as angles fall. */
static void test_posterior_marks(void **state)
{
    (void)state;
    double bx[2 * ANGLES], by[2 * ANGLES], ex[2] = { 0 }, ey[2] = { 0 }, cx[2 * ANGLES], cy[2 * ANGLES];
    for (int ratio = 0; ratio < 2; ratio++) {
        char *svg = make(ratio ? posterior_ratio : posterior_angle);
        const size_t n = path_of(svg, "band-1", bx, by, COUNT(bx));
        const size_t m = path_of(svg, "line-1", cx, cy, COUNT(cx));
        assert_int_equal(path_of(svg, "line-2 solid", ex, ey, 2), 2);
        double left = INFINITY, right = -INFINITY, top = INFINITY, peak = NAN;
        for (size_t i = 0; i < n; i++) {
            left = fmin(left, bx[i]);
            right = fmax(right, bx[i]);
        }
        for (size_t i = 0; i < m; i++)
            if (cy[i] < top) {
                top = cy[i];
                peak = cx[i];
            }
        assert_close(ex[0], ex[1], 1e-9);
        assert_true(left < ex[0] && ex[0] < right);
        /* The mode: at the estimate over the angle, above it (sin cos ascends there) over the log ratio. */
        if (ratio)
            assert_true(peak < ex[0] && peak > left);
        else
            assert_close(peak, ex[0], 2.0);
        if (!ratio) /* 0.2 and 0.4 are as far from 0.3 */
            assert_close(ex[0] - left, right - ex[0], 0.1);
        else /* log cot: 1/(sin cos) is larger on the left of the estimate's angle */
            assert_true(right - ex[0] > ex[0] - left);
        free(svg);
    }
}

static void test_posterior_refusals(void **state)
{
    (void)state;
    double angle[] = { 0.1, 0.2, 0.3 }, density[] = { 1.0, 2.0, 1.0 };
    mel_posterior_plot rows[7];
    static const char *const sentences[] = {
        "a density of 1 points",
        "point 1, is negative, not finite or out of order",
        "is zero everywhere",
        "estimate nan with interval 0.1 to 0.3",
        "interval 0.3 to 0.1",
        "is not inside (0, pi/2): no cost ratio",
        "is not inside (0, pi/2): no cost ratio",
    };
    static const double falling[] = { 0.3, 0.2, 0.1 }, nothing[] = { 0.0, 0.0, 0.0 };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_posterior_plot_init(&rows[i]);
        rows[i].n = 3;
        rows[i].angle = angle;
        rows[i].density = density;
        rows[i].estimate = 0.2;
        rows[i].low = 0.1;
        rows[i].high = 0.3;
    }
    rows[0].n = 1;
    rows[1].angle = falling;
    rows[2].density = nothing;
    rows[3].estimate = NAN;
    rows[4].low = 0.3;
    rows[4].high = 0.1;
    rows[5].cost_ratio = rows[6].cost_ratio = true;
    rows[5].low = 0.0;
    rows[6].high = 1.6;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *svg = NULL;
        mel_error err;
        assert_int_equal(mel_plot_posterior(&svg, &rows[i], NULL, &err), MEL_EINVAL);
        assert_null(svg);
        test_has(err.text, sentences[i]);
    }
}

static void test_convergence_points(void **state)
{
    (void)state;
    char *svg = make(convergence);
    assert_int_equal(test_occurrences(svg, "<circle class=\"fill-1\""), 6);
    test_has(svg, "tolerance asked for");
    free(svg);
    static const double zero[] = { 0.5, 0.0 };
    mel_error err;
    assert_int_equal(mel_plot_convergence(&svg, 2, zero, 0.0, NULL, &err), MEL_EINVAL);
    assert_int_equal(mel_plot_convergence(&svg, 0, zero, 0.0, NULL, &err), MEL_EINVAL);
}

/* Marks in each path are as many as the legend says, 1,000 in all, whatever the rounding. */
static void test_people_add_up(void **state)
{
    (void)state;
    static const char *const classes[] = { "people-found", "people-missed", "people-alarm",
                                           "people-cleared" };
    static const char *const words[] = { "found", "missed", "false alarms", "cleared" };
    mel_rng rng;
    mel_rng_seed(&rng, 3);
    for (int round = 0; round < 200; round++) {
        mel_people_plot plot;
        char *svg = NULL;
        mel_error err;
        mel_people_plot_init(&plot);
        plot.positives = 0.001 + 0.998 * mel_rng_uniform(&rng);
        plot.negatives = 1.0 - plot.positives;
        plot.point.tp = plot.positives * (round % 5 == 0 ? 1.0 : mel_rng_uniform(&rng));
        plot.point.tn = plot.negatives * (round % 7 == 0 ? 0.0 : mel_rng_uniform(&rng));
        const double share[] = { plot.point.tp, plot.positives - plot.point.tp,
                                 plot.negatives - plot.point.tn, plot.point.tn };
        assert_ok(mel_plot_people(&svg, &plot, NULL, &err), &err);
        size_t total = 0;
        for (size_t k = 0; k < COUNT(classes); k++) {
            char want[64], legend[64];
            (void)snprintf(want, sizeof want, "<path class=\"%s\" d=\"", classes[k]);
            const char *at = strstr(svg, want);
            size_t n = 0;
            for (at = at != NULL ? at + strlen(want) : "\""; *at != '"'; at++)
                n += *at == 'M';
            (void)snprintf(legend, sizeof legend, ">%zu %s</text>", n, words[k]);
            test_has(svg, legend);
            /* The mistakes are rounded, the others take what is left. */
            const bool mistake = k == 1 || k == 2;
            assert_true(fabs((double)n - 1000.0 * share[k]) <= (mistake ? 0.5 : 1.0) + 1e-9);
            total += n;
        }
        assert_int_equal(total, 1000);
        free(svg);
    }
}

static void test_people_refusals(void **state)
{
    (void)state;
    static const struct {
        double positives, negatives, tp, tn;
    } rows[] = { { 0.0, 1.0, 0.0, 0.5 },
                 { 0.5, 0.5, 0.6, 0.1 },
                 { 0.5, 0.5, 0.1, -0.1 },
                 { 0.5, 0.5, NAN, 0.1 },
                 { 0.5, INFINITY, 0.1, 0.1 } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_people_plot plot;
        char *svg = NULL;
        mel_people_plot_init(&plot);
        plot.positives = rows[i].positives;
        plot.negatives = rows[i].negatives;
        plot.point = (mel_point){ rows[i].tp, rows[i].tn };
        assert_int_equal(mel_plot_people(&svg, &plot, NULL, NULL), MEL_EINVAL);
        assert_null(svg);
    }
}

/* Widths are proportional to values; only the second series is hatched, with a pattern that is there. */
static void test_bar_widths(void **state)
{
    (void)state;
    char *svg = make(bars);
    const char *at = svg;
    double unit = NAN;
    for (size_t i = 0; i < 3; i++) {
        for (size_t series = 0; series < 2; series++) {
            at = next_of(at, series == 0 ? "<rect class=\"fill-1\"" : "<rect class=\"fill-2\"");
            const double width = attribute(at, "width"), value = fabs(bar_values[3 * series + i]);
            if (i == 0 && series == 0)
                unit = width / value;
            assert_close(width, unit * value, 0.02);
        }
    }
    assert_int_equal(test_occurrences(svg, "url(#plot-hatch-1)"), 3 + 1);
    assert_int_equal(test_occurrences(svg, "<pattern id=\"plot-hatch-1\""), 1);
    assert_int_equal(test_occurrences(svg, "<pattern"), 1);
    free(svg);
}

static void test_chart_refusals(void **state)
{
    (void)state;
    static const double x[] = { 1.0, 0.5 }, y[] = { 1.0, 2.0 }, bad[] = { 1.0, NAN }, low[] = { -1.0, 2.0 };
    static const struct {
        mel_series series;
        bool log_y;
        const char *sentence;
    } rows[] = {
        { { "s", 0, x, y, NULL, NULL, false, false }, false, "s has no points" },
        { { "s", 2, x, y, y, NULL, false, false }, false, "half a band" },
        { { "s", 2, x, bad, NULL, NULL, false, false }, false, "s, point 1: (0.5, nan)" },
        { { "s", 2, y, y, y, bad, false, false }, false, "s, point 1" },
        { { "s", 2, x, y, NULL, NULL, true, false }, false, "s, point 1: (0.5, 2) goes back" },
        { { "s", 2, y, low, NULL, NULL, false, false }, true, "has no logarithm" },
    };
    mel_error err;
    char *svg = NULL;
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_line_chart chart;
        mel_line_chart_init(&chart);
        chart.n_series = 1;
        chart.series = &rows[i].series;
        chart.log_y = rows[i].log_y;
        assert_int_equal(mel_plot_lines(&svg, &chart, NULL, &err), MEL_EINVAL);
        assert_null(svg);
        test_has(err.text, rows[i].sentence);
    }
    assert_int_equal(mel_plot_lines(&svg, NULL, NULL, &err), MEL_EINVAL);
    test_has(err.text, "a chart of 0 series");
    assert_int_equal(mel_plot_bars(&svg, NULL, NULL, &err), MEL_EINVAL);
    mel_bar_chart chart;
    mel_bar_chart_init(&chart);
    chart.n_groups = chart.n_series = 1;
    chart.group_names = (const char *const[]){ "g" };
    chart.value = &bad[1];
    assert_int_equal(mel_plot_bars(&svg, &chart, NULL, &err), MEL_EINVAL);
    test_has(err.text, "series 0, group 0: nan");
}

/* The marker of the chosen rule lies on the curve of the best rule, where the metric's exchange rate is. */
static void check_decision_curve(const char *svg)
{
    double x[500], y[500], nearest = 1e9;
    const size_t n = path_of(svg, "line-1 thick", x, y, COUNT(x));
    const char *marker = strstr(svg, "class=\"fill-2\"");
    assert_non_null(marker);
    const double cx = attribute(marker, "cx"), cy = attribute(marker, "cy");
    assert_true(n > 4);
    for (size_t j = 0; j + 1 < n; j++) {
        const double t = fmin(fmax((cx - x[j]) / (x[j + 1] - x[j]), 0.0), 1.0);
        nearest = fmin(nearest, hypot(cx - x[j] - t * (x[j + 1] - x[j]), cy - y[j] - t * (y[j + 1] - y[j])));
    }
    assert_true(nearest < 0.5);
    test_has(svg, "95% interval of the exchange rate");
    test_has(svg, "= 4 false alarms");
}

static void test_decision_curves(void **state)
{
    (void)state;
    char *benefit = make(net_benefit), *cost = make(cost_curve);
    check_decision_curve(benefit);
    check_decision_curve(cost);
    free(benefit);
    free(cost);
}

static void test_decision_refusals(void **state)
{
    (void)state;
    mel_decision_plot plot = sample_decision();
    char *svg = NULL;
    mel_error err;
    plot.cost.value = -1.0;
    assert_int_equal(mel_plot_net_benefit(&svg, &plot, NULL, &err), MEL_EINVAL);
    plot = sample_decision();
    plot.n_hull = 0;
    assert_int_equal(mel_plot_cost_curve(&svg, &plot, NULL, &err), MEL_EINVAL);
    plot = sample_decision();
    plot.positives = NAN;
    assert_int_equal(mel_plot_cost_curve(&svg, &plot, NULL, &err), MEL_EINVAL);
    assert_int_equal(mel_plot_roc(&svg, 0, NULL, NULL, &err), MEL_EINVAL);
    const double values[] = { 1.0, NAN };
    const char *const names[] = { "a", "b" };
    const mel_ranking_plot bad = { .n = 2, .names = names, .value = values }, none = { 0 };
    assert_int_equal(mel_plot_ranking(&svg, &bad, NULL, &err), MEL_EINVAL);
    assert_int_equal(mel_plot_ranking(&svg, &none, NULL, &err), MEL_EINVAL);
    assert_null(svg);
}

static void test_style(void **state)
{
    (void)state;
    char *css = NULL;
    assert_int_equal(mel_plot_style(&css, NULL), MEL_OK);
    test_has(css, "prefers-color-scheme:dark");
    test_has(css, "@media print");
    assert_int_equal(test_occurrences(css, "{"), test_occurrences(css, "}"));
    assert_null(strstr(css, "<"));
    free(css);
}

/* ---- pages ---- */

/* One of a kind is not said in the plural. */
static void test_one_mistake(void **state)
{
    (void)state;
    mel_outcome o = sample_outcome();
    const mel_page_data d = sample_page(&o);
    mel_error err;
    char *page = NULL;
    o.decisions[0].missed.value = 19.0;
    o.decisions[0].false_alarms.value = 1.0;
    o.cost = (mel_estimate){ 1.0, 0.9, 1.1 };
    assert_ok(mel_page_write(&page, &d, &err), &err);
    test_has(page, "19 <small>and</small> 1</dd><dd>missed cancers and false alarm, with");
    test_has(page, ">1</dd><dd>false alarm to one missed cancer;");
    test_document(page);
    free(page);
}

static void test_full_page(void **state)
{
    (void)state;
    static const char *const order[] = {
        "<!DOCTYPE html>",
        "lang=\"en\"",
        "<h1>One missed cancer counts as much as 3.2 false alarms.</h1>",
        "With 95% probability between 2.4 and 4.9.",
        "<strong>A &lt;finding&gt;.</strong>",
        "measured on 285 rows",
        ">3.2</dd>",
        "95% between 2.4 and 4.9",
        ">0.236</dd>",
        "95% between 0.17 and 0.3",
        "Of 1,000 women",
        "50 <small>and</small> 100",
        ">What it does</h2>",
        "30 fewer missed cancers and 20 more false alarms",
        "predict it from 0.31 up",
        "<td>as much as 262 false alarms</td>", /* 3.24 x 50 + 100 */
        ">What can be achieved</h2>",
        ">How sure it is</h2>",
        "<p>It ended. It is precise.</p>",
        "<p>This is open.</p>",
        "0.9000 to 0.9800",
        "not known",
        ">What is not known</h2>",
        "<li>Others may differ.</li>",
        ">The questions</h2>",
        "the metric disagrees",
        "asked before",
        ">How consistent the answers were</h2>",
        "<li>Repeats &amp; all.</li>",
        "<li><strong>They are not consistent.</strong></li>",
        ">Well-known metrics that come closest</h2>",
        "F2",
        "100%",
        "99.9%",
        ">Use it</h2>",
        "score --metric m.json",
        "--session &#39;it&#39;\\&#39;&#39;s a file.jsonl&#39;",
        ">The method in three sentences</h2>",
        "<footer>",
        "melicit 9.9.9",
    };
    char *html = make(full_page);
    test_order(html, order, COUNT(order));
    assert_int_equal(test_occurrences(html, "<h1"), 1);
    assert_int_equal(test_occurrences(html, "<h3"), 0);
    assert_int_equal(test_occurrences(html, "<svg"), 7);
    assert_int_equal(test_occurrences(html, "role=\"img\""), 7);
    assert_int_equal(test_occurrences(html, "<style>"), 1);
    assert_int_equal(test_occurrences(html, "<td class=\"answer\""), 3);
    /* Question 1 was answered B, question 2 A, question 3 neither. */
    static const char *const picked[] = { "miss gap picked", "<td class=\"answer\" rowspan=\"1\">B<",
                                          "miss picked", "<td class=\"answer\" rowspan=\"1\">A<",
                                          "<td class=\"answer\" rowspan=\"1\">same<" };
    test_order(html, picked, COUNT(picked));
    assert_int_equal(test_occurrences(html, "picked\">"), 4);
    assert_null(strstr(html, "<b>"));
    free(html);
}

static void test_bare_page(void **state)
{
    (void)state;
    static const char *const order[] = {
        "<h1>How much a miss counts depends.</h1>",
        "Classifiers of equal worth lie on a line.",
        "the session is not finished",
        "No question has been answered yet.",
        "metric.json",
        "--data DATA.csv --label COLUMN",
    };
    static const char *const absent[] = { "Cost ratio",     "Any calibrated model", "95% probability",
                                          "known within",   "answered by",          "How consistent",
                                          "posterior-title" };
    char *html = make(bare_page);
    test_order(html, order, COUNT(order));
    test_absent(html, absent, COUNT(absent));
    free(html);
}

/* Whole numbers suffice for questions whose sides differ much; close ones get decimals. */
static void test_decimals(void **state)
{
    (void)state;
    static const struct {
        double shift;
        const char *cell;
    } rows[] = { { 0.01, ">400<" }, { 0.0002, ">400.0<" }, { 0.00002, ">400.00<" }, { 0.0, ">400<" } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const double a[] = { 0.1, 0.4 }, b[] = { 0.1 + rows[i].shift, 0.4 };
        const mel_page_question question = { a, b, MEL_ANSWER_B, 1.0, false, false };
        const mel_outcome o = sample_outcome();
        mel_page_data d = sample_page(&o);
        char *html = NULL;
        mel_error err;
        d.n_questions = 1;
        d.questions = &question;
        assert_ok(mel_page_write(&html, &d, &err), &err);
        test_has(html, rows[i].cell);
        free(html);
    }
}

/* A plot that is refused refuses the page. */
static void test_page_refusal(void **state)
{
    (void)state;
    mel_outcome o = sample_outcome();
    mel_page_data d = sample_page(&o);
    char *html = NULL;
    mel_error err;
    o.decisions[0].point.tp = NAN;
    assert_int_equal(mel_page_write(&html, &d, &err), MEL_EINVAL);
    assert_null(html);
    o = sample_outcome();
    d.n_hull = 1;
    assert_int_equal(mel_page_write(&html, &d, &err), MEL_EINVAL);
    assert_string_equal(err.text, "a hull of 1 points");
    /* Of several failures the first is told. */
    d.posterior_density = d.posterior_angle; /* fine */
    o.summary.angle = NAN;                   /* not fine, but later on the page */
    assert_int_equal(mel_page_write(&html, &d, &err), MEL_EINVAL);
    assert_int_equal(err.code, MEL_EINVAL);
    assert_string_equal(err.text, "a hull of 1 points");
}

/* ---- sessions ---- */

typedef struct {
    mel_face *face;
    mel_metric *truth;
    mel_session *session;
} fixture;

static const char *const class_names[] = { "benign", "malignant" };

static void open_fixture(fixture *f, const mel_session_options *opt, double m11, double m00)
{
    static const mel_layout layout = { MEL_CONFUSION, MEL_BINARY, 2, 0 };
    const double a[] = { m11, m00 };
    mel_error err;
    if (f->face == NULL)
        assert_ok(mel_face_from_logistic(&f->face, 5.0, 0.5, &err), &err);
    assert_ok(mel_metric_linear(&f->truth, MEL_FAMILY_LINEAR, &layout, class_names, MEL_UTILITY, a, &err),
              &err);
    assert_ok(mel_session_new(&f->session, &(mel_domain){ .face = f->face }, opt, &err), &err);
}

static void answer_all(fixture *f, size_t most)
{
    mel_simulated_options sim;
    mel_oracle *oracle = NULL;
    mel_error err;
    mel_simulated_options_init(&sim);
    assert_ok(mel_oracle_simulated(&oracle, f->truth, &sim, &err), &err);
    for (size_t i = 0; i < most; i++) {
        const mel_question *question = NULL;
        bool done = false;
        mel_reply reply;
        assert_ok(mel_session_ask(&question, &done, f->session, &err), &err);
        if (done)
            break;
        assert_ok(mel_oracle_ask(&reply, oracle, question, &err), &err);
        assert_ok(mel_session_tell(f->session, question->number, (mel_answer)reply, 1.5, &err), &err);
    }
    mel_oracle_free(oracle);
}

static void close_fixture(fixture *f)
{
    mel_session_free(f->session);
    mel_metric_free(f->truth);
    mel_face_free(f->face);
}

static mel_session_options session_options(void)
{
    mel_session_options opt;
    mel_session_options_init(&opt);
    opt.class_names = class_names;
    return opt;
}

static void report(char **html, fixture *f, const mel_report_options *opt)
{
    mel_error err;
    assert_ok(mel_report_session(html, f->session, opt, &err), &err);
    test_document(*html);
}

static void test_session_report(void **state)
{
    (void)state;
    fixture f = { NULL, NULL, NULL };
    const mel_session_options opt = session_options();
    mel_report_options about;
    open_fixture(&f, &opt, 7.0, 1.0);
    answer_all(&f, 1000);
    mel_report_options_init(&about);
    mel_outcome_options names;
    mel_outcome_options_init(&names);
    names.missed = "missed cancer";
    names.people = "patients";
    names.rows = 1000;
    about.about = &names;
    char *html = NULL;
    report(&html, &f, &about);
    test_has(html, "<h1>One missed cancer counts as much as");
    test_has(html, "Of 1,000 patients");
    test_has(html, "missed cancer cases");
    test_has(html, "The metric agrees with every answer.");
    test_has(html, "id=\"posterior-title\"");
    test_has(html, "id=\"convergence-title\"");
    assert_null(strstr(html, "malignant case")); /* the caller's name replaced it everywhere */
    assert_int_equal(test_occurrences(html, "<td class=\"answer\""), mel_session_answers(f.session));
    char *again = NULL;
    report(&again, &f, &about);
    assert_string_equal(html, again);
    free(again);
    free(html);
    close_fixture(&f);
}

/* What the page says is what session, metric and face say. */
static void test_session_numbers(void **state)
{
    (void)state;
    fixture f = { NULL, NULL, NULL };
    const mel_session_options opt = session_options();
    mel_report_options about;
    mel_metric *metric = NULL;
    mel_summary summary;
    mel_cost_ratio cost;
    mel_point best;
    mel_error err;
    char want[160];
    open_fixture(&f, &opt, 7.0, 1.0);
    answer_all(&f, 1000);
    mel_report_options_init(&about);
    char *html = NULL;
    report(&html, &f, &about);
    assert_ok(mel_session_result(&metric, &summary, f.session, &err), &err);
    assert_ok(mel_metric_cost_ratio(&cost, metric, &err), &err);
    const mel_ends e = mel_digits_ends(1.0 / (1.0 + cost.high), 1.0 / (1.0 + cost.low));
    (void)snprintf(want, sizeof want, "probability up; 95%% between %s and %s<", e.low.text, e.high.text);
    test_has(html, want);
    const double *m = mel_metric_numerator(metric, NULL);
    assert_ok(mel_face_support(&best, f.face, m[0], m[1], &err), &err);
    int64_t people[2]; /* of each class, in whole numbers as questions have them */
    mel_round_to_total(people, (const double[]){ mel_face_negatives(f.face), mel_face_positives(f.face) }, 2,
                       1000);
    (void)snprintf(want, sizeof want, ">%lld <small>and</small> %lld<",
                   (long long)people[1] - llround(1000.0 * best.tp),
                   (long long)people[0] - llround(1000.0 * best.tn));
    test_has(html, want);
    mel_metric_free(metric);
    free(html);
    close_fixture(&f);
}

/* Names of the mistakes: plurals that are no singular with an s. */
static void test_session_names(void **state)
{
    (void)state;
    fixture f = { NULL, NULL, NULL };
    const mel_session_options opt = session_options();
    mel_report_options about;
    open_fixture(&f, &opt, 1.0, 3.0);
    answer_all(&f, 1000);
    mel_report_options_init(&about);
    mel_outcome_options names;
    mel_outcome_options_init(&names);
    names.missed = "missed <ox>";
    names.missed_plural = "missed <oxen>";
    names.false_alarm = "cry of wolf";
    names.false_alarms = "cries of wolf";
    about.about = &names;
    char *html = NULL;
    report(&html, &f, &about);
    /* About 3, as far as the tolerance goes. */
    const double ratio = number_after(html, "<h1>One cry of wolf counts as much as ");
    assert_true(ratio > 2.7 && ratio < 3.3);
    test_has(html, " missed &lt;oxen&gt;.</h1>");
    test_has(html, "missed &lt;oxen&gt; to one cry of wolf");
    assert_null(strstr(html, "false alarm"));
    assert_null(strstr(html, "malignant case"));
    free(html);
    close_fixture(&f);
}

static void test_other_sessions(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        mel_strategy strategy;
        mel_direction direction;
        mel_noise_kind assume;
        uint32_t repeat_every;
        size_t answers;
        double m11, m00;
        const char *has, *lacks;
    } rows[] = {
        { "no answers", MEL_STRATEGY_ACTIVE, MEL_INCREASING, MEL_NOISE_NONE, 0, 0, 1.0, 1.0,
          "No question has been answered yet", "convergence-title" },
        { "three answers", MEL_STRATEGY_ACTIVE, MEL_INCREASING, MEL_NOISE_NONE, 0, 3, 1.0, 1.0,
          "The session is not finished: 3 questions answered so far", "metric disagrees" },
        { "flips, repeats", MEL_STRATEGY_ACTIVE, MEL_INCREASING, MEL_NOISE_FLIP, 4, 100, 1.0, 3.0,
          "asked before", "No question was asked twice" },
        { "decreasing", MEL_STRATEGY_ACTIVE, MEL_DECREASING, MEL_NOISE_NONE, 0, 100, -1.0, -2.0,
          "rewards mistakes", "Cost ratio" },
        { "unknown direction", MEL_STRATEGY_ACTIVE, MEL_DIRECTION_UNKNOWN, MEL_NOISE_NONE, 0, 1, 1.0, 2.0,
          "The questions", "rewards mistakes" },
        { "search", MEL_STRATEGY_SEARCH, MEL_INCREASING, MEL_NOISE_NONE, 0, 100, 1.0, 2.0,
          "The search ended with it between", "95% probability" },
        { "half a search", MEL_STRATEGY_SEARCH, MEL_INCREASING, MEL_NOISE_NONE, 0, 2, 1.0, 2.0,
          "The session is not finished", "posterior-title" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        fixture f = { NULL, NULL, NULL };
        mel_session_options opt = session_options();
        print_message("  %s\n", rows[i].name);
        opt.strategy = rows[i].strategy;
        opt.direction = rows[i].direction;
        opt.assume.kind = rows[i].assume;
        opt.repeat_every = rows[i].repeat_every;
        open_fixture(&f, &opt, rows[i].m11, rows[i].m00);
        answer_all(&f, rows[i].answers);
        char *html = NULL;
        report(&html, &f, NULL);
        test_has(html, rows[i].has);
        if (strstr(html, rows[i].lacks) != NULL)
            fail_msg("%s: unexpected: %s", rows[i].name, rows[i].lacks);
        free(html);
        close_fixture(&f);
    }
}

/* Faces at the edge of what there is: perfect scores, constant scores, one row of each. */
static void test_odd_faces(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double score[4];
        uint8_t role[4];
    } rows[] = {
        { "perfect", { 0.1, 0.2, 0.8, 0.9 }, { 0, 0, 1, 1 } },
        { "constant", { 0.5, 0.5, 0.5, 0.5 }, { 0, 1, 0, 1 } },
        { "upside down", { 0.9, 0.8, 0.2, 0.1 }, { 0, 0, 1, 1 } },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        fixture f = { NULL, NULL, NULL };
        mel_error err;
        mel_session_options opt = session_options();
        print_message("  %s\n", rows[i].name);
        opt.max_questions = 5;
        assert_ok(mel_face_from_scores(&f.face, 4, rows[i].score, rows[i].role, NULL, &err), &err);
        open_fixture(&f, &opt, 2.0, 1.0);
        answer_all(&f, 5);
        mel_report_options about;
        mel_report_options_init(&about);
        mel_outcome_options names;
        mel_outcome_options_init(&names);
        names.rows = 4;
        about.about = &names;
        char *html = NULL;
        report(&html, &f, &about);
        free(html);
        close_fixture(&f);
    }
}

static void test_fractional_session(void **state)
{
    (void)state;
    static const mel_strategy strategies[] = { MEL_STRATEGY_ACTIVE, MEL_STRATEGY_SEARCH };
    for (size_t i = 0; i < COUNT(strategies); i++) {
        fixture f = { NULL, NULL, NULL };
        mel_error err;
        mel_report_options about;
        mel_session_options opt = session_options();
        char *html = NULL;
        opt.family = MEL_FAMILY_LINEAR_FRACTIONAL;
        opt.strategy = strategies[i];
        open_fixture(&f, &opt, 1.0, 1.0);
        mel_metric_free(f.truth);
        f.truth = NULL;
        assert_ok(mel_metric_named(&f.truth, "f1", mel_face_positives(f.face), class_names, &err), &err);
        answer_all(&f, 1000);
        mel_report_options_init(&about);
        report(&html, &f, &about);
        test_has(html, "<i>p11</i>");
        test_has(html, "<i>q0</i>");
        test_has(html, " depends on how good the classifier is");
        assert_int_equal(strstr(html, "id=\"convergence-title\"") != NULL,
                         strategies[i] == MEL_STRATEGY_ACTIVE);
        assert_null(strstr(html, "Cost ratio"));
        free(html);
        close_fixture(&f);
    }
}

static void test_session_refusals(void **state)
{
    (void)state;
    fixture f = { NULL, NULL, NULL };
    const mel_session_options opt = session_options();
    mel_report_options about;
    mel_error err;
    char *html = NULL;
    open_fixture(&f, &opt, 1.0, 1.0);
    mel_report_options_init(&about);
    about.struct_size = 0;
    assert_int_equal(mel_report_session(&html, f.session, &about, &err), MEL_EINVAL);
    assert_string_equal(err.text, "the report options were not initialised");
    assert_null(html);
    close_fixture(&f);
}

/* The boundary of a population is drawn with a few corners. */
static void test_feasible_face(void **state)
{
    (void)state;
    fixture f = { NULL, NULL, NULL };
    const mel_session_options opt = session_options();
    mel_error err;
    char *svg = NULL;
    open_fixture(&f, &opt, cos(0.6), sin(0.6));
    mel_feasible_plot plot;
    mel_feasible_plot_init(&plot);
    plot.face = f.face;
    assert_ok(mel_plot_feasible(&svg, &plot, NULL, &err), &err);
    test_document(svg);
    assert_true(strlen(svg) < 20000); /* tens of thousands of corners, thinned */
    free(svg);
    close_fixture(&f);
}

static int write_samples(const char *folder)
{
    make_hull();
    for (size_t i = 0; i < COUNT(samples); i++) {
        char path[4096], *out = NULL;
        (void)snprintf(path, sizeof path, "%s/%s", folder, samples[i].file);
        FILE *file = samples[i].make(&out, NULL) == MEL_OK ? fopen(path, "w") : NULL;
        const bool written = file != NULL && fputs(out, file) >= 0;
        free(out);
        if (file == NULL || fclose(file) != 0 || !written)
            return 1;
    }
    return 0;
}

static int set_up(void **state)
{
    (void)state;
    make_hull();
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_one_mistake),
        cmocka_unit_test(test_supporting_line),
        cmocka_unit_test(test_one_scale),
        cmocka_unit_test(test_questions_drawn),
        cmocka_unit_test(test_feasible_refusals),
        cmocka_unit_test(test_posterior_marks),
        cmocka_unit_test(test_posterior_refusals),
        cmocka_unit_test(test_convergence_points),
        cmocka_unit_test(test_people_add_up),
        cmocka_unit_test(test_people_refusals),
        cmocka_unit_test(test_bar_widths),
        cmocka_unit_test(test_chart_refusals),
        cmocka_unit_test(test_decision_curves),
        cmocka_unit_test(test_decision_refusals),
        cmocka_unit_test(test_style),
        cmocka_unit_test(test_full_page),
        cmocka_unit_test(test_bare_page),
        cmocka_unit_test(test_decimals),
        cmocka_unit_test(test_page_refusal),
        cmocka_unit_test(test_session_report),
        cmocka_unit_test(test_session_numbers),
        cmocka_unit_test(test_session_names),
        cmocka_unit_test(test_other_sessions),
        cmocka_unit_test(test_odd_faces),
        cmocka_unit_test(test_fractional_session),
        cmocka_unit_test(test_session_refusals),
        cmocka_unit_test(test_feasible_face),
    };
    if (argc == 3 && strcmp(argv[1], "--write") == 0)
        return write_samples(argv[2]);
    return cmocka_run_group_tests(tests, set_up, NULL);
}
