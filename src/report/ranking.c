/* Classifiers in their order, each with its value and interval, and lines between those that can be told
 * apart. */
#include "report/shared.h"
#include "report/svg.h"
#include "report/write.h"

#include <math.h>

static const double usual_width = 520.0, row_height = 26.0, frame = 64.0;

static void check(mel_figure *fig, const mel_ranking_plot *plot)
{
    if (plot->n == 0 || plot->n > MEL_MOST_TICKS || plot->names == NULL || plot->value == NULL ||
        (plot->low == NULL) != (plot->high == NULL)) {
        mel_figure_refuse(fig, MEL_EINVAL, "a ranking of %zu, not of 1 to %d", plot->n, (int)MEL_MOST_TICKS);
        return;
    }
    for (size_t i = 0; i < plot->n; i++)
        if (!isfinite(plot->value[i]) ||
            (plot->low != NULL && !(isfinite(plot->low[i]) && isfinite(plot->high[i])))) {
            mel_figure_refuse(fig, MEL_EINVAL, "place %zu: %g or its interval is not finite", i + 1,
                              plot->value[i]);
            return;
        }
}

static mel_range value_range(const mel_ranking_plot *plot)
{
    mel_range range = mel_range_empty;
    for (size_t i = 0; i < plot->n; i++) {
        mel_range_add(&range, plot->value[i]);
        if (plot->low != NULL) {
            mel_range_add(&range, plot->low[i]);
            mel_range_add(&range, plot->high[i]);
        }
    }
    return mel_range_padded(range, 0.06, false);
}

/* From the top down; the axis counts upwards. */
static double row_of(const mel_ranking_plot *plot, size_t i)
{
    return (double)plot->n - (double)i - 0.5;
}

static void draw_row(mel_figure *fig, const mel_ranking_plot *plot, size_t i)
{
    const double y = mel_figure_y(fig, row_of(plot, i));
    if (plot->low != NULL) {
        const double a = mel_figure_x(fig, plot->low[i]), b = mel_figure_x(fig, plot->high[i]);
        mel_figure_rectangle(fig, "band-1", a, y - 5.0, b, y + 5.0);
        mel_figure_segment(fig, "line-1 thin", plot->low[i], row_of(plot, i), plot->high[i], row_of(plot, i));
    }
    mel_figure_marker(fig, MEL_MARKER_DISC, "fill-1", plot->value[i], row_of(plot, i), 4.6);
    if (plot->better == NULL || i + 1 == plot->n)
        return;
    const double below = mel_figure_y(fig, row_of(plot, i) - 0.5);
    const bool tells = plot->better[i] >= plot->can_tell;
    if (tells)
        mel_figure_rectangle(fig, "axis", fig->left, below - 0.5, fig->right, below + 0.5);
}

static void describe(mel_figure *fig, const mel_ranking_plot *plot, size_t i)
{
    if (plot->low != NULL)
        mel_figure_describe(
            fig, "%s: %s, between %s and %s.", plot->names[i], mel_digits_significant(plot->value[i], 4).text,
            mel_digits_significant(plot->low[i], 4).text, mel_digits_significant(plot->high[i], 4).text);
    else
        mel_figure_describe(fig, "%s: %s.", plot->names[i], mel_digits_significant(plot->value[i], 4).text);
}

mel_status mel_plot_ranking(char **svg, const mel_ranking_plot *plot, const mel_plot_options *opt,
                            mel_error *err)
{
    mel_figure fig;
    const double rows = (double)(plot->n > 0 && plot->n <= MEL_MOST_TICKS ? plot->n : 1);
    *svg = NULL;
    mel_figure_open(&fig, opt, usual_width, fmax(frame + rows * row_height, 130.0),
                    "Classifiers in their order");
    check(&fig, plot);
    if (mel_figure_ok(&fig)) {
        const mel_range range = value_range(plot);
        const mel_axis x = {
            .low = range.low, .high = range.high, .grid = true, .wanted = 5, .title = plot->x_title
        };
        const mel_axis y = { .low = 0.0, .high = (double)plot->n, .n_named = plot->n, .names = plot->names };
        mel_figure_axes(&fig, &x, &y, 0.0);
        for (size_t i = 0; i < plot->n; i++) {
            draw_row(&fig, plot, i);
            describe(&fig, plot, i);
        }
        if (plot->low != NULL)
            mel_figure_key(&fig, MEL_KEY_BAND, MEL_MARKER_DISC, "band-1", "95% interval");
        if (plot->better != NULL && plot->n > 1)
            mel_figure_key(&fig, MEL_KEY_LINE, MEL_MARKER_DISC, "soft",
                           "a line between two that can be told apart");
    }
    return mel_figure_close(svg, &fig, err);
}
