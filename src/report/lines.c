/* The line chart with bands and steps, and the one of how sure a session was after each question. */
#include "base/internal.h"
#include "report/shared.h"
#include "report/svg.h"
#include "report/write.h"

#include <math.h>
#include <stdlib.h>

static const double usual_width = 480.0, usual_height = 300.0;

void mel_line_chart_init(mel_line_chart *chart)
{
    *chart = (mel_line_chart){ .struct_size = sizeof *chart, .y_low = NAN, .y_high = NAN, .reference = NAN };
}

static const char *series_name(const mel_series *series)
{
    return series->name != NULL ? series->name : "series";
}

static void check_series(mel_figure *fig, const mel_series *s)
{
    if (s->n == 0 || s->x == NULL || s->y == NULL || (s->low == NULL) != (s->high == NULL)) {
        mel_figure_refuse(fig, MEL_EINVAL, "%.60s has no points or half a band", series_name(s));
        return;
    }
    for (size_t i = 0; i < s->n; i++) {
        const bool finite = isfinite(s->x[i]) && isfinite(s->y[i]) &&
                            (s->low == NULL || (isfinite(s->low[i]) && isfinite(s->high[i])));
        const bool back = i > 0 && (s->step || s->low != NULL) && s->x[i] < s->x[i - 1];
        if (!finite || back) {
            mel_figure_refuse(fig, MEL_EINVAL, "%.60s, point %zu: (%g, %g) %s", series_name(s), i, s->x[i],
                              s->y[i], finite ? "goes back" : "or its band is not finite");
            return;
        }
    }
}

static void add_series(mel_range *x, mel_range *y, const mel_series *s)
{
    for (size_t i = 0; i < s->n; i++) {
        mel_range_add(x, s->x[i]);
        mel_range_add(y, s->y[i]);
        if (s->low != NULL) {
            mel_range_add(y, s->low[i]);
            mel_range_add(y, s->high[i]);
        }
    }
}

/* The axis starts at zero when the data are near it anyway. */
static mel_range y_range(const mel_line_chart *chart, mel_range data)
{
    mel_range out = mel_range_padded(data, 0.06, chart->log_y);
    if (!chart->log_y && data.low >= 0.0 && data.low <= 0.3 * data.high)
        out.low = 0.0;
    if (isfinite(chart->y_low))
        out.low = chart->y_low;
    if (isfinite(chart->y_high))
        out.high = chart->y_high;
    return out;
}

static void draw_series(mel_figure *fig, const mel_series *s, size_t k)
{
    const mel_curve curve = { series_name(s), s->n, 1, s->x, s->y, s->step };
    if (s->low != NULL)
        mel_figure_band(fig, mel_class_band(k), series_name(s), s->n, s->x, s->low, s->high);
    mel_figure_line(fig, mel_class_line(k), curve);
    for (size_t i = 0; i < s->n && s->points; i++)
        mel_figure_marker(fig, mel_series_marker(k), mel_class_fill(k), s->x[i], s->y[i], 3.6);
    if (s->name != NULL)
        mel_figure_key(fig, s->points ? MEL_KEY_MARKED_LINE : MEL_KEY_LINE, mel_series_marker(k),
                       mel_class_line(k), s->name);
}

static void describe_series(mel_figure *fig, const mel_series *s)
{
    mel_figure_describe(
        fig, "%s: %s points, from %s at %s to %s at %s.", series_name(s), mel_digits_count(s->n).text,
        mel_digits_significant(s->y[0], 3).text, mel_digits_significant(s->x[0], 3).text,
        mel_digits_significant(s->y[s->n - 1], 3).text, mel_digits_significant(s->x[s->n - 1], 3).text);
}

static void draw_reference(mel_figure *fig, const mel_line_chart *chart)
{
    mel_figure_segment(fig, "soft", fig->x.low, chart->reference, fig->x.high, chart->reference);
    if (chart->reference_name != NULL)
        mel_figure_key(fig, MEL_KEY_LINE, MEL_MARKER_DISC, "soft", chart->reference_name);
}

static void draw_chart(mel_figure *fig, const mel_line_chart *chart)
{
    mel_range x = mel_range_empty, y = mel_range_empty;
    if (chart->n_series == 0 || chart->n_series > MEL_MOST_SERIES || chart->series == NULL) {
        mel_figure_refuse(fig, MEL_EINVAL, "a chart of %zu series, not of 1 to %d", chart->n_series,
                          MEL_MOST_SERIES);
        return;
    }
    for (size_t k = 0; mel_figure_ok(fig) && k < chart->n_series; k++) {
        check_series(fig, &chart->series[k]);
        if (mel_figure_ok(fig))
            add_series(&x, &y, &chart->series[k]);
    }
    if (!mel_figure_ok(fig))
        return;
    const bool referred = isfinite(chart->reference);
    if (referred)
        mel_range_add(&y, chart->reference);
    x = mel_range_padded(x, 0.02, chart->log_x);
    y = y_range(chart, y);
    const mel_axis ax = { .low = x.low,
                          .high = x.high,
                          .log = chart->log_x,
                          .whole = chart->whole_x,
                          .wanted = 6,
                          .title = chart->x_title };
    const mel_axis ay = {
        .low = y.low, .high = y.high, .log = chart->log_y, .grid = true, .wanted = 5, .title = chart->y_title
    };
    mel_figure_axes(fig, &ax, &ay, 0.0);
    if (referred)
        draw_reference(fig, chart);
    for (size_t k = 0; k < chart->n_series; k++) {
        draw_series(fig, &chart->series[k], k);
        describe_series(fig, &chart->series[k]);
    }
}

mel_status mel_plot_lines(char **svg, const mel_line_chart *chart, const mel_plot_options *opt,
                          mel_error *err)
{
    mel_figure fig;
    mel_line_chart own;
    *svg = NULL;
    mel_line_chart_init(&own);
    const mel_status status = mel_options_take(&own, sizeof own, chart, "chart's fields", err);
    if (status != MEL_OK)
        return status;
    mel_figure_open(&fig, opt, usual_width, usual_height, "Line chart");
    draw_chart(&fig, &own);
    return mel_figure_close(svg, &fig, err);
}

mel_status mel_plot_convergence(char **svg, size_t n, const double *radius, double tolerance,
                                const mel_plot_options *opt, mel_error *err)
{
    mel_line_chart chart;
    mel_plot_options own;
    *svg = NULL;
    mel_plot_options_init(&own);
    const mel_status status = mel_options_take(&own, sizeof own, opt, "plot options", err);
    if (status != MEL_OK)
        return status;
    if (own.title == NULL)
        own.title = "How sure the metric was after each question";
    double *number = mel_alloc(n, sizeof *number);
    if (number == NULL)
        return mel_fail_memory(err, "convergence plot");
    for (size_t i = 0; i < n; i++)
        number[i] = (double)i;
    const mel_series series = { .n = n, .x = number, .y = radius, .step = true, .points = n <= 60 };
    mel_line_chart_init(&chart);
    chart.n_series = 1;
    chart.series = &series;
    chart.x_title = "questions answered";
    chart.y_title = "radius of the 95% interval";
    chart.log_y = true;
    chart.whole_x = true;
    if (tolerance > 0.0) {
        chart.reference = tolerance;
        chart.reference_name = "tolerance asked for";
    }
    const mel_status drawn = mel_plot_lines(svg, &chart, &own, err);
    free(number);
    return drawn;
}
