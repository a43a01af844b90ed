/* The drawing layer: numbers, text, axes, thinned lines, refusals. */
#include "support/test.h"

#include "report/svg.h"
#include "report/write.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers ---- */

static void test_numbers(void **state)
{
    (void)state;
    static const struct {
        double x;
        int decimals;
        const char *fixed, *trimmed, *shown;
    } rows[] = {
        { 0.0, 2, "0.00", "0", "0.00" },
        { -0.001, 2, "0.00", "0", "0.00" },
        { 1.5, 2, "1.50", "1.5", "1.50" },
        { -12.5, 1, "-12.5", "-12.5",
          "\xE2\x88\x92"
          "12.5" },
        { 100.0, 2, "100.00", "100", "100.00" },
        { 99.999, 2, "100.00", "100", "100.00" },
        { 100.0, 0, "100", "100", "100" },
        { 1e15, 2, "1.000000e+15", "1.000000e+15", "1.000000e+15" },
        { NAN, 2, "?", "?", "?" },
        { INFINITY, 2, "?", "?", "?" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_string_equal(mel_digits_fixed(rows[i].x, rows[i].decimals).text, rows[i].fixed);
        assert_string_equal(mel_digits_short(rows[i].x, rows[i].decimals).text, rows[i].trimmed);
        assert_string_equal(mel_digits_shown(rows[i].x, rows[i].decimals).text, rows[i].shown);
    }
}

static void test_significant(void **state)
{
    (void)state;
    static const struct {
        double x;
        int digits;
        const char *want;
    } rows[] = {
        { 6.14159, 2, "6.1" },
        { 6.14159, 4, "6.142" },
        { 61.7, 2, "62" },
        { 0.12501, 3, "0.125" },
        { 123456.0, 3, "123456" },
        { 7.0, 3, "7" },
        { 0.000021, 2, "2.1e-05" },
        { 2.5e7, 2, "2.5e+07" },
        { 0.0, 3, "0" },
        { -0.5, 2,
          "\xE2\x88\x92"
          "0.5" },
        { NAN, 2, "?" },
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_string_equal(mel_digits_significant(rows[i].x, rows[i].digits).text, rows[i].want);
    assert_string_equal(mel_digits_count(0).text, "0");
    assert_string_equal(mel_digits_count(999).text, "999");
    assert_string_equal(mel_digits_count(1000).text, "1,000");
    assert_string_equal(mel_digits_count(UINT64_MAX).text, "18,446,744,073,709,551,615");
}

/* ---- text ---- */

static void test_escaping(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } rows[] = {
        { "plain", "plain" },
        { "<a href=\"x\">'&'</a>", "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;" },
        { "caf\xC3\xA9 \xE7\x99\x8C \xF0\x9F\x98\x80", "caf\xC3\xA9 \xE7\x99\x8C \xF0\x9F\x98\x80" },
        { "bell\x07 and delete\x7f", "bell\xEF\xBF\xBD and delete\xEF\xBF\xBD" },
        { "line\nbreak\ttab", "line\nbreak\ttab" },
        { "cut \xC3", "cut \xEF\xBF\xBD" },
        { "\xFF\xFE", "\xEF\xBF\xBD\xEF\xBF\xBD" },
        { "overlong \xC0\xAF", "overlong \xEF\xBF\xBD\xEF\xBF\xBD" },
        { "surrogate \xED\xA0\x80", "surrogate \xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD" },
        { "noncharacter \xEF\xBF\xBE", "noncharacter \xEF\xBF\xBD" },
        { "C1 \xC2\x85", "C1 \xEF\xBF\xBD" },
        { "", "" },
    };
    mel_buffer out;
    mel_buffer_init(&out, 1 << 16);
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_buffer_reset(&out);
        mel_buffer_puts(&out, "");
        mel_write_text(&out, rows[i].text);
        assert_string_equal(out.data, rows[i].want);
    }
    mel_buffer_reset(&out);
    mel_write(&out, "<b>%s</b> 95%% %s", "<", "\"");
    assert_string_equal(out.data, "<b>&lt;</b> 95% &quot;");
    mel_buffer_free(&out);
}

static void test_cutting(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t columns;
        const char *want;
    } rows[] = {
        { "short", 5, "short" },
        { "longer", 5, "long\xE2\x80\xA6" },
        { "a<b<c<d", 4, "a&lt;b\xE2\x80\xA6" },
        { "\xE7\x99\x8C\xE7\x99\x8C\xE7\x99\x8C", 5, "\xE7\x99\x8C\xE7\x99\x8C\xE2\x80\xA6" },
    };
    mel_buffer out;
    mel_buffer_init(&out, 1 << 16);
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_buffer_reset(&out);
        mel_write_cut(&out, rows[i].text, rows[i].columns);
        assert_string_equal(out.data, rows[i].want);
    }
    mel_buffer_free(&out);
}

static void test_shell_words(void **state)
{
    (void)state;
    static const struct {
        const char *word, *want;
    } rows[] = {
        { "metric.json", "metric.json" },
        { "my file", "&#39;my file&#39;" },
        { "", "&#39;&#39;" },
        { "it's", "&#39;it&#39;\\&#39;&#39;s&#39;" },
        { "$(rm <x>)", "&#39;$(rm &lt;x&gt;)&#39;" },
    };
    mel_buffer out;
    mel_buffer_init(&out, 1 << 16);
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_buffer_reset(&out);
        mel_write_word(&out, rows[i].word);
        assert_string_equal(out.data, rows[i].want);
    }
    mel_buffer_free(&out);
}

/* ---- axes ---- */

static void test_linear_ticks(void **state)
{
    (void)state;
    static const struct {
        double low, high;
        size_t wanted;
        bool whole;
        int decimals;
        size_t n;
        double first, step;
    } rows[] = {
        { 0.0, 1.0, 5, false, 1, 6, 0.0, 0.2 },       { 0.0, 100.0, 5, false, 0, 6, 0.0, 20.0 },
        { -0.05, 0.55, 5, false, 1, 6, 0.0, 0.1 },    { 5.9, 8.1, 4, false, 1, 5, 6.0, 0.5 },
        { 0.0, 3.0, 6, true, 0, 4, 0.0, 1.0 },        { -3.0, 3.0, 6, false, 0, 7, -3.0, 1.0 },
        { 1e6, 1.0001e6, 5, false, 0, 6, 1e6, 20.0 }, { 0.0, 1e-7, 5, false, 8, 6, 0.0, 2e-8 },
        { 0.0, 8e300, 5, false, 0, 5, 0.0, 2e300 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const mel_axis axis = {
            .low = rows[i].low, .high = rows[i].high, .wanted = rows[i].wanted, .whole = rows[i].whole
        };
        mel_ticks ticks;
        assert_int_equal(mel_axis_check(&axis, "test", NULL), MEL_OK);
        mel_axis_ticks(&ticks, &axis);
        assert_int_equal(ticks.n, rows[i].n);
        assert_int_equal(ticks.decimals, rows[i].decimals);
        for (size_t k = 0; k < ticks.n; k++)
            assert_close(ticks.at[k] / rows[i].step, rows[i].first / rows[i].step + (double)k, 1e-6);
    }
}

static void test_log_ticks(void **state)
{
    (void)state;
    static const struct {
        double low, high;
        size_t n;
        double at[8];
    } rows[] = {
        { 1.0, 100.0, 7, { 1, 2, 5, 10, 20, 50, 100 } },
        { 0.3, 12.0, 5, { 0.5, 1, 2, 5, 10 } },
        { 1e-3, 1e3, 7, { 1e-3, 1e-2, 1e-1, 1, 10, 100, 1000 } },
        { 5.9, 8.1, 5, { 6.0, 6.5, 7.0, 7.5, 8.0 } }, /* less than a decade: ordinary steps */
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const mel_axis axis = { .low = rows[i].low, .high = rows[i].high, .log = true, .wanted = 6 };
        mel_ticks ticks;
        mel_axis_ticks(&ticks, &axis);
        assert_int_equal(ticks.n, rows[i].n);
        for (size_t k = 0; k < ticks.n; k++)
            assert_close(ticks.at[k] / rows[i].at[k], 1.0, 1e-12);
    }
}

/* Any axis: a few ticks, inside, evenly spaced by 1, 2 or 5 times a power of ten, told apart by their labels.
 */
static void test_random_ticks(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 7);
    for (int round = 0; round < 2000; round++) {
        const double size = pow(10.0, 12.0 * mel_rng_uniform(&rng) - 6.0);
        const double low = size * (4.0 * mel_rng_uniform(&rng) - 2.0);
        const mel_axis axis = { .low = low,
                                .high = low + size * (0.01 + mel_rng_uniform(&rng)),
                                .wanted = 3 + mel_rng_below(&rng, 6) };
        mel_ticks ticks;
        mel_axis_ticks(&ticks, &axis);
        assert_in_range(ticks.n, 2, 16);
        const double step = ticks.at[1] - ticks.at[0], head = step / pow(10.0, floor(log10(step * 1.000001)));
        assert_true(fabs(head - 1.0) < 1e-4 || fabs(head - 2.0) < 1e-4 || fabs(head - 5.0) < 1e-4);
        for (size_t k = 0; k < ticks.n; k++) {
            const double slack = 1e-6 * step;
            assert_true(ticks.at[k] >= axis.low - slack && ticks.at[k] <= axis.high + slack);
            if (k > 0) {
                assert_close((ticks.at[k] - ticks.at[k - 1]) / step, 1.0, 1e-6);
                assert_string_not_equal(mel_digits_fixed(ticks.at[k], ticks.decimals).text,
                                        mel_digits_fixed(ticks.at[k - 1], ticks.decimals).text);
            }
        }
    }
}

static void test_axis_refusals(void **state)
{
    (void)state;
    static const struct {
        mel_axis axis;
        const char *sentence;
    } rows[] = {
        { { .low = 0.0, .high = NAN }, "x axis from 0 to nan is not finite" },
        { { .low = -1e308, .high = 1e308 }, "x axis from -1e+308 to 1e+308 is not finite" },
        { { .low = 1.0, .high = 1.0 }, "x axis from 1 to 1 has no extent" },
        { { .low = 2.0, .high = 1.0 }, "x axis from 2 to 1 has no extent" },
        { { .low = 1.0, .high = 1.0 + 1e-13 }, "has no extent" },
        { { .low = 0.0, .high = 1.0, .log = true }, "x axis starts at 0, which has no logarithm" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_error err;
        assert_int_equal(mel_axis_check(&rows[i].axis, "x", &err), MEL_EINVAL);
        assert_non_null(strstr(err.text, rows[i].sentence));
    }
}

static void test_ranges(void **state)
{
    (void)state;
    mel_range range = mel_range_empty;
    mel_range_add(&range, 3.0);
    const mel_range single = mel_range_padded(range, 0.1, false);
    assert_true(single.low < 3.0 && single.high > 3.0);
    const mel_range single_log = mel_range_padded(range, 0.1, true);
    assert_true(single_log.low > 0.0 && single_log.low < 3.0 && single_log.high > 3.0);
    mel_range_add(&range, -1.0);
    const mel_range wide = mel_range_padded(range, 0.25, false);
    assert_close(wide.low, -2.0, 1e-12);
    assert_close(wide.high, 4.0, 1e-12);
    range = mel_range_empty;
    mel_range_add(&range, 0.0);
    const mel_range zero = mel_range_padded(range, 0.1, false);
    assert_true(zero.low < 0.0 && zero.high > 0.0);
}

/* ---- lines ---- */

static mel_figure open_figure(void)
{
    static const mel_axis x = { .low = 0.0, .high = 1.0, .wanted = 5 },
                          y = { .low = 0.0, .high = 1.0, .wanted = 5 };
    mel_figure fig;
    mel_figure_open(&fig, NULL, 400.0, 300.0, "test");
    mel_figure_axes(&fig, &x, &y, 0.0);
    assert_true(mel_figure_ok(&fig));
    return fig;
}

/* Vertices of the path whose element holds class="name". */
static size_t read_path(const char *svg, const char *name, size_t most, double *x, double *y)
{
    char want[64];
    (void)snprintf(want, sizeof want, "<path class=\"%s\"", name);
    const char *at = strstr(svg, want);
    assert_non_null(at);
    at = strstr(at, " d=\"");
    assert_non_null(at);
    size_t n = 0;
    for (at += 4; *at == 'M' || *at == 'L'; n++) {
        char *end;
        assert_true(n < most);
        x[n] = strtod(at + 1, &end);
        assert_int_equal(*end, ' ');
        y[n] = strtod(end + 1, &end);
        at = end;
    }
    assert_true(*at == '"' || *at == 'Z');
    return n;
}

static double distance_to_segment(double x, double y, double x0, double y0, double x1, double y1)
{
    const double dx = x1 - x0, dy = y1 - y0, length = dx * dx + dy * dy;
    double t = length > 0.0 ? ((x - x0) * dx + (y - y0) * dy) / length : 0.0;
    t = fmin(fmax(t, 0.0), 1.0);
    return hypot(x - x0 - t * dx, y - y0 - t * dy);
}

static const size_t many = 20000;
typedef double (*curve_fn)(double t);
static double spiral_x(double t)
{
    return 0.5 + 0.5 * t * cos(40.0 * t);
}
static double spiral_y(double t)
{
    return 0.5 + 0.5 * t * sin(40.0 * t);
}
static double circle_x(double t)
{
    return 0.5 + 0.45 * cos(6.283185307179586 * t);
}
static double circle_y(double t)
{
    return 0.5 + 0.45 * sin(6.283185307179586 * t);
}
static double back_and_forth(double t)
{
    return 0.5 + 0.4 * sin(100.0 * t);
}
static double rough(double t)
{
    return 0.5 + 0.2 * sin(3.0 * t) + 0.1 * sin(977.0 * t);
}
static double straight(double t)
{
    return t;
}

/* Thinning moves no point further than it says (and two decimals of rounding), and does thin. */
static void test_thinning(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        curve_fn x, y;
        size_t most;
    } rows[] = {
        { "straight", straight, straight, 2 },  { "circle", circle_x, circle_y, 200 },
        { "spiral", spiral_x, spiral_y, 2000 }, { "back and forth", back_and_forth, back_and_forth, 400 },
        { "rough", straight, rough, 20000 },
    };
    double *x = malloc(4 * many * sizeof *x), *y = x + many, *px = y + many, *py = px + many;
    assert_non_null(x);
    for (size_t r = 0; r < COUNT(rows); r++) {
        mel_figure fig = open_figure();
        char *svg = NULL;
        mel_error err;
        for (size_t i = 0; i < many; i++) {
            x[i] = rows[r].x((double)i / (double)(many - 1));
            y[i] = rows[r].y((double)i / (double)(many - 1));
        }
        const mel_figure frame = fig; /* the mapping to pixels */
        mel_figure_line(&fig, "line-1", (mel_curve){ rows[r].name, many, 1, x, y, false });
        assert_ok(mel_figure_close(&svg, &fig, &err), &err);
        const size_t n = read_path(svg, "line-1", many, px, py);
        print_message("  %s: %zu of %zu points\n", rows[r].name, n, many);
        assert_true(n >= 2 && n <= rows[r].most);
        size_t at = 0; /* points appear in order: the segment only moves on */
        for (size_t i = 0; i < many; i++) {
            const double qx = mel_figure_x(&frame, x[i]), qy = mel_figure_y(&frame, y[i]);
            const double limit = MEL_THINNING + 0.01;
            while (at + 2 < n && distance_to_segment(qx, qy, px[at], py[at], px[at + 1], py[at + 1]) > limit)
                at++;
            assert_true(distance_to_segment(qx, qy, px[at], py[at], px[at + 1], py[at + 1]) <= limit);
        }
        assert_close(px[n - 1], mel_figure_x(&frame, x[many - 1]), 0.006);
        assert_close(py[n - 1], mel_figure_y(&frame, y[many - 1]), 0.006);
        free(svg);
    }
    free(x);
}

static void test_steps(void **state)
{
    (void)state;
    static const double x[] = { 0.0, 0.5, 1.0 }, y[] = { 1.0, 0.5, 0.25 };
    mel_figure fig = open_figure();
    const mel_figure frame = fig;
    char *svg = NULL;
    mel_error err;
    double px[8], py[8];
    mel_figure_line(&fig, "line-1", (mel_curve){ "steps", 3, 1, x, y, true });
    assert_ok(mel_figure_close(&svg, &fig, &err), &err);
    assert_int_equal(read_path(svg, "line-1", 8, px, py), 5);
    assert_close(px[1], mel_figure_x(&frame, 0.5), 0.006);
    assert_close(py[1], mel_figure_y(&frame, 1.0), 0.006);
    assert_close(py[2], mel_figure_y(&frame, 0.5), 0.006);
    free(svg);
}

/* A band is the upper line forwards and the lower one backwards. */
static void test_band(void **state)
{
    (void)state;
    static const double x[] = { 0.0, 1.0 }, low[] = { 0.2, 0.3 }, high[] = { 0.6, 0.9 };
    mel_figure fig = open_figure();
    const mel_figure frame = fig;
    char *svg = NULL;
    mel_error err;
    double px[8], py[8];
    mel_figure_band(&fig, "band-1", "band", 2, x, low, high);
    assert_ok(mel_figure_close(&svg, &fig, &err), &err);
    assert_int_equal(read_path(svg, "band-1", 8, px, py), 4);
    const double want[] = { 0.6, 0.9, 0.3, 0.2 };
    for (size_t i = 0; i < 4; i++)
        assert_close(py[i], mel_figure_y(&frame, want[i]), 0.006);
    assert_close(px[2], mel_figure_x(&frame, 1.0), 0.006);
    free(svg);
}

static void draw_nan(mel_figure *fig)
{
    static const double x[] = { 0.0, 0.5, 1.0 }, y[] = { 0.0, NAN, 1.0 };
    mel_figure_line(fig, "line-1", (mel_curve){ "the curve", 3, 1, x, y, false });
}

static void draw_infinite_band(mel_figure *fig)
{
    static const double x[] = { 0.0, 1.0 }, low[] = { 0.0, 0.0 }, high[] = { 1.0, INFINITY };
    mel_figure_band(fig, "band-1", "the band", 2, x, low, high);
}

static void draw_nan_marker(mel_figure *fig)
{
    mel_figure_marker(fig, MEL_MARKER_DISC, "fill-1", NAN, 0.0, 3.0);
}

static void draw_log_of_zero(mel_figure *fig)
{
    static const mel_axis x = { .low = 0.0, .high = 1.0, .wanted = 5 },
                          y = { .low = 0.1, .high = 1.0, .log = true, .wanted = 5 };
    mel_figure_axes(fig, &x, &y, 0.0);
    mel_figure_segment(fig, "soft", 0.0, 0.5, 1.0, 0.0);
}

static void draw_bad_axis(mel_figure *fig)
{
    static const mel_axis x = { .low = 0.0, .high = 1.0, .wanted = 5 }, y = { .low = 1.0, .high = 0.0 };
    mel_figure_axes(fig, &x, &y, 0.0);
}

static void draw_large_legend(mel_figure *fig)
{
    for (int i = 0; i <= MEL_MOST_KEYS; i++)
        mel_figure_key(fig, MEL_KEY_LINE, MEL_MARKER_DISC, "line-1", "x");
}

/* The first refusal sticks and is what closing returns. */
static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        void (*draw)(mel_figure *fig);
        mel_status code;
        const char *sentence;
    } rows[] = {
        { draw_nan, MEL_EINVAL, "the curve, point 1: (0.5, nan) is not finite" },
        { draw_infinite_band, MEL_EINVAL, "the band, point 1: (1, inf) is not finite" },
        { draw_nan_marker, MEL_EINVAL, "marker at (nan, 0) is not finite" },
        { draw_log_of_zero, MEL_EINVAL, "segment, point 1: (1, 0) has no place on a log axis" },
        { draw_bad_axis, MEL_EINVAL, "vertical axis from 1 to 0 has no extent" },
        { draw_large_legend, MEL_ELIMIT, "more than 12 entries in a legend" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_figure fig = open_figure();
        mel_error err = { .code = MEL_OK };
        char *svg = (char *)"untouched";
        rows[i].draw(&fig);
        mel_figure_refuse(&fig, MEL_EDATA, "a later failure");
        assert_int_equal(mel_figure_close(&svg, &fig, &err), rows[i].code);
        assert_null(svg);
        assert_string_equal(err.text, rows[i].sentence);
    }
}

static void test_option_refusals(void **state)
{
    (void)state;
    static const struct {
        mel_plot_options opt;
        const char *sentence;
    } rows[] = {
        { { .struct_size = 0, .id = "a" }, "plot options were not initialised" },
        { { .struct_size = sizeof(mel_plot_options) + 8, .id = "a" }, "plot options were not initialised" },
        { { .struct_size = sizeof(mel_plot_options) }, "id \"\" of a plot" },
        { { .struct_size = sizeof(mel_plot_options), .id = "1a" }, "id \"1a\" of a plot" },
        { { .struct_size = sizeof(mel_plot_options), .id = "a\" onload=\"x" }, "of a plot is not a letter" },
        { { .struct_size = sizeof(mel_plot_options), .id = "a", .width = 10.0 }, "width 10 of a plot" },
        { { .struct_size = sizeof(mel_plot_options), .id = "a", .width = NAN }, "width nan of a plot" },
        { { .struct_size = sizeof(mel_plot_options), .id = "a", .height = 1e9 }, "height 1e+09 of a plot" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_figure fig;
        mel_error err;
        char *svg = NULL;
        mel_figure_open(&fig, &rows[i].opt, 400.0, 300.0, "test");
        assert_int_equal(mel_figure_close(&svg, &fig, &err), MEL_EINVAL);
        assert_null(svg);
        assert_non_null(strstr(err.text, rows[i].sentence));
    }
}

/* Markers outside the area are left out; far coordinates stay printable. */
static void test_outside(void **state)
{
    (void)state;
    static const double x[] = { -1e200, 0.5, 1e200 }, y[] = { 0.5, 0.5, 0.5 };
    mel_figure fig = open_figure();
    char *svg = NULL;
    mel_error err;
    mel_figure_marker(&fig, MEL_MARKER_DISC, "fill-1", 2.0, 0.5, 3.0);
    mel_figure_marker(&fig, MEL_MARKER_DISC, "fill-2", 1.0, 0.5, 3.0);
    mel_figure_line(&fig, "line-1", (mel_curve){ "far", 3, 1, x, y, false });
    assert_ok(mel_figure_close(&svg, &fig, &err), &err);
    assert_null(strstr(svg, "<circle class=\"fill-1\""));
    assert_non_null(strstr(svg, "<circle class=\"fill-2\""));
    double px[8], py[8];
    const size_t n = read_path(svg, "line-1", 8, px, py);
    for (size_t i = 0; i < n; i++)
        assert_true(fabs(px[i]) <= 1e5);
    free(svg);
}

/* Names, title and description are escaped; an embedded plot brings no style. */
static void test_frame(void **state)
{
    (void)state;
    mel_plot_options opt;
    mel_error err;
    mel_plot_options_init(&opt);
    opt.id = "fig-7";
    opt.title = "<title> & \"more\"";
    opt.description = "</desc><script>";
    opt.heading = "A < B";
    for (int embedded = 0; embedded < 2; embedded++) {
        mel_figure fig;
        char *svg = NULL;
        opt.embedded = embedded == 1;
        mel_figure_open(&fig, &opt, 400.0, 300.0, "unused");
        mel_figure_key(&fig, MEL_KEY_LINE, MEL_MARKER_DISC, "line-1", "x < y");
        assert_ok(mel_figure_close(&svg, &fig, &err), &err);
        assert_non_null(
            strstr(svg, "<title id=\"fig-7-title\">&lt;title&gt; &amp; &quot;more&quot;</title>"));
        assert_non_null(strstr(svg, "&lt;/desc&gt;&lt;script&gt;"));
        assert_non_null(strstr(svg, ">A &lt; B</text>"));
        assert_non_null(strstr(svg, ">x &lt; y</text>"));
        assert_non_null(strstr(svg, "role=\"img\" aria-labelledby=\"fig-7-title fig-7-desc\""));
        assert_int_equal(strstr(svg, "<style>") == NULL, embedded);
        assert_null(strstr(svg, "<script"));
        free(svg);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_significant),
        cmocka_unit_test(test_escaping),
        cmocka_unit_test(test_cutting),
        cmocka_unit_test(test_shell_words),
        cmocka_unit_test(test_linear_ticks),
        cmocka_unit_test(test_log_ticks),
        cmocka_unit_test(test_random_ticks),
        cmocka_unit_test(test_axis_refusals),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_thinning),
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_band),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_option_refusals),
        cmocka_unit_test(test_outside),
        cmocka_unit_test(test_frame),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
