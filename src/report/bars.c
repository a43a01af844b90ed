/* The bar chart: horizontal bars from zero, with intervals and values. */
#include "report/shared.h"
#include "report/svg.h"
#include "report/write.h"

#include <math.h>

static const double usual_width = 480.0, bar_height = 14.0, group_gap = 12.0, frame = 56.0;

void mel_bar_chart_init(mel_bar_chart *chart)
{
    *chart = (mel_bar_chart){ .struct_size = sizeof *chart, .decimals = -1 };
}

static void check(mel_figure *fig, const mel_bar_chart *chart)
{
    if (chart->n_groups == 0 || chart->n_groups > MEL_MOST_TICKS || chart->n_series == 0 ||
        chart->n_series > MEL_MOST_SERIES || chart->value == NULL || chart->group_names == NULL) {
        mel_figure_refuse(fig, MEL_EINVAL, "bars for %zu groups and %zu series, not 1 to %d and 1 to %d",
                          chart->n_groups, chart->n_series, (int)MEL_MOST_TICKS, MEL_MOST_SERIES);
        return;
    }
    if ((chart->low == NULL) != (chart->high == NULL) ||
        (chart->n_series > 1 && chart->series_names == NULL)) {
        mel_figure_refuse(fig, MEL_EINVAL, "bars with half of their error bars or without names of series");
        return;
    }
    for (size_t i = 0; i < chart->n_series * chart->n_groups; i++)
        if (!isfinite(chart->value[i]) ||
            (chart->low != NULL && !(isfinite(chart->low[i]) && isfinite(chart->high[i])))) {
            mel_figure_refuse(fig, MEL_EINVAL, "series %zu, group %zu: %g or its error bar is not finite",
                              i / chart->n_groups, i % chart->n_groups, chart->value[i]);
            return;
        }
}

static mel_range value_range(const mel_bar_chart *chart)
{
    mel_range range = { 0.0, 0.0 };
    for (size_t i = 0; i < chart->n_series * chart->n_groups; i++) {
        mel_range_add(&range, chart->value[i]);
        if (chart->low != NULL) {
            mel_range_add(&range, chart->low[i]);
            mel_range_add(&range, chart->high[i]);
        }
    }
    const mel_range padded = mel_range_padded(range, chart->decimals >= 0 ? 0.12 : 0.04, false);
    return (mel_range){ range.low < 0.0 ? padded.low : 0.0, padded.high > 0.0 ? padded.high : 0.0 };
}

static void draw_error(mel_figure *fig, double low, double high, double y)
{
    const double a = mel_figure_x(fig, low), b = mel_figure_x(fig, high);
    mel_figure_rectangle(fig, "axis", a, y - 0.75, b, y + 0.75);
    mel_figure_rectangle(fig, "axis", a - 0.75, y - 4.0, a + 0.75, y + 4.0);
    mel_figure_rectangle(fig, "axis", b - 0.75, y - 4.0, b + 0.75, y + 4.0);
}

static void draw_bar(mel_figure *fig, const mel_bar_chart *chart, size_t series, size_t group)
{
    const size_t i = series * chart->n_groups + group;
    const double slot = (fig->bottom - fig->top) / (double)chart->n_groups;
    const double thick = 0.78 * slot / (double)chart->n_series;
    const double top = fig->top + slot * ((double)group + 0.11) + thick * (double)series;
    const double zero = mel_figure_x(fig, 0.0), end = mel_figure_x(fig, chart->value[i]);
    mel_figure_bar(fig, series, fmin(zero, end), top + 0.5, fmax(zero, end), top + thick - 0.5);
    double label = end;
    if (chart->low != NULL) {
        draw_error(fig, chart->low[i], chart->high[i], top + 0.5 * thick);
        label = fmax(end, mel_figure_x(fig, chart->high[i]));
    }
    if (chart->decimals >= 0)
        mel_figure_text(fig, "tick", MEL_START, label + 5.0, top + 0.5 * thick + 4.0, fig->width,
                        mel_digits_shown(chart->value[i], chart->decimals).text);
    mel_figure_describe(fig, "%s%s%s: %s.", chart->group_names[group],
                        chart->series_names != NULL ? ", " : "",
                        chart->series_names != NULL ? chart->series_names[series] : "",
                        mel_digits_significant(chart->value[i], 4).text);
}

static void draw_bars(mel_figure *fig, const mel_bar_chart *chart)
{
    const mel_range range = value_range(chart);
    const mel_axis x = {
        .low = range.low, .high = range.high, .grid = true, .wanted = 5, .title = chart->x_title
    };
    const mel_axis y = {
        .low = 0.0, .high = (double)chart->n_groups, .n_named = chart->n_groups, .names = chart->group_names
    };
    mel_figure_axes(fig, &x, &y, 0.0);
    for (size_t group = 0; group < chart->n_groups; group++)
        for (size_t series = 0; series < chart->n_series; series++)
            draw_bar(fig, chart, series, group);
    mel_figure_segment(fig, "soft", 0.0, 0.0, 0.0, (double)chart->n_groups);
    for (size_t series = 0; chart->series_names != NULL && series < chart->n_series; series++)
        mel_figure_bar_key(fig, series, chart->series_names[series]);
}

mel_status mel_plot_bars(char **svg, const mel_bar_chart *chart, const mel_plot_options *opt, mel_error *err)
{
    mel_figure fig;
    mel_bar_chart own;
    *svg = NULL;
    mel_bar_chart_init(&own);
    const mel_status status = mel_options_take(&own, sizeof own, chart, "chart's fields", err);
    if (status != MEL_OK)
        return status;
    const double rows = (double)(own.n_groups <= MEL_MOST_TICKS ? own.n_groups : 1);
    const double bars = (double)(own.n_series <= MEL_MOST_SERIES ? own.n_series : 1);
    mel_figure_open(&fig, opt, usual_width, fmax(frame + rows * (bars * bar_height + group_gap), 120.0),
                    "Bar chart");
    check(&fig, &own);
    if (mel_figure_ok(&fig))
        draw_bars(&fig, &own);
    return mel_figure_close(svg, &fig, err);
}
