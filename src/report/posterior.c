/* The picture of what is believed about a linear metric, over its angle or its cost ratio. */
#include "base/internal.h"
#include "report/shared.h"
#include "report/svg.h"
#include "report/write.h"

#include <math.h>
#include <stdlib.h>

static const double usual_width = 480.0, usual_height = 300.0;
static const double shown_from = 0.004; /* of the largest density: what is less is left off the axis */

void mel_posterior_plot_init(mel_posterior_plot *plot)
{
    *plot = (mel_posterior_plot){ .struct_size = sizeof *plot };
}

/* The curve as it is drawn: ascending on the axis, largest value 1, with a foot at both ends. */
typedef struct {
    size_t n;
    double *x, *y;
    double estimate, low, high;
} curve;

static double on_axis(const mel_posterior_plot *plot, double angle)
{
    return plot->cost_ratio ? 1.0 / tan(angle) : angle;
}

static bool has_ratio(double angle)
{
    return angle > 0.0 && angle < acos(0.0);
}

static void check(mel_figure *fig, const mel_posterior_plot *plot)
{
    double largest = 0.0;
    if (plot->n < 2 || plot->angle == NULL || plot->density == NULL) {
        mel_figure_refuse(fig, MEL_EINVAL, "a density of %zu points", plot->n);
        return;
    }
    for (size_t i = 0; i < plot->n; i++) {
        const double a = plot->angle[i], d = plot->density[i];
        if (!isfinite(a) || !isfinite(d) || d < 0.0 || (i > 0 && a < plot->angle[i - 1])) {
            mel_figure_refuse(fig, MEL_EINVAL,
                              "density %g at angle %g, point %zu, is negative, not finite or out of order", d,
                              a, i);
            return;
        }
        largest = fmax(largest, d);
    }
    if (!(largest > 0.0))
        mel_figure_refuse(fig, MEL_EINVAL, "the density is zero everywhere");
    if (!isfinite(plot->estimate) || !(plot->low <= plot->high) || !isfinite(plot->high - plot->low))
        mel_figure_refuse(fig, MEL_EINVAL, "estimate %g with interval %g to %g", plot->estimate, plot->low,
                          plot->high);
    if (plot->cost_ratio && !(has_ratio(plot->low) && has_ratio(plot->high) && has_ratio(plot->estimate)))
        mel_figure_refuse(fig, MEL_EINVAL,
                          "interval %g to %g with estimate %g is not inside (0, pi/2): no cost ratio",
                          plot->low, plot->high, plot->estimate);
}

/* The density of the logarithm of the ratio, or of the angle itself. */
static void fill_curve(curve *out, const mel_posterior_plot *plot)
{
    double largest = 0.0;
    for (size_t k = 0; k < plot->n; k++) {
        const size_t i = plot->cost_ratio ? plot->n - 1 - k : k; /* cot descends */
        const double a = plot->angle[i];
        if (plot->cost_ratio && !has_ratio(a))
            continue;
        out->n++;
        out->x[out->n] = on_axis(plot, a);
        out->y[out->n] = plot->density[i] * (plot->cost_ratio ? sin(a) * cos(a) : 1.0);
        largest = fmax(largest, out->y[out->n]);
    }
    for (size_t i = 1; i <= out->n && largest > 0.0; i++)
        out->y[i] /= largest;
    if (out->n != 0) {
        out->x[0] = out->x[1];
        out->x[out->n + 1] = out->x[out->n];
        out->y[0] = out->y[out->n + 1] = 0.0;
        out->n += 2;
    }
    out->low = on_axis(plot, plot->cost_ratio ? plot->high : plot->low);
    out->high = on_axis(plot, plot->cost_ratio ? plot->low : plot->high);
    out->estimate = on_axis(plot, plot->estimate);
}

static mel_range shown(const curve *c, bool log_scale)
{
    mel_range range = mel_range_empty;
    for (size_t i = 0; i < c->n; i++)
        if (c->y[i] >= shown_from)
            mel_range_add(&range, c->x[i]);
    mel_range_add(&range, c->low);
    mel_range_add(&range, c->high);
    mel_range_add(&range, c->estimate);
    return mel_range_padded(range, 0.06, log_scale);
}

/* Height of the curve at x: straight between its points. */
static double height_at(const curve *c, double x)
{
    for (size_t i = 1; i < c->n; i++)
        if (x >= c->x[i - 1] && x <= c->x[i] && c->x[i] > c->x[i - 1])
            return c->y[i - 1] + (c->y[i] - c->y[i - 1]) * (x - c->x[i - 1]) / (c->x[i] - c->x[i - 1]);
    return 0.0;
}

/* The part of the area under the curve between low and high. */
static void shade(mel_figure *fig, const curve *c)
{
    double *x = mel_alloc(3 * (c->n + 2), sizeof *x);
    if (x == NULL) {
        mel_figure_refuse(fig, MEL_ENOMEM, "out of memory: posterior plot");
        return;
    }
    double *y = x + c->n + 2, *zero = y + c->n + 2;
    size_t n = 0;
    x[n] = c->low;
    y[n++] = height_at(c, c->low);
    for (size_t i = 0; i < c->n; i++)
        if (c->x[i] > c->low && c->x[i] < c->high) {
            x[n] = c->x[i];
            y[n++] = c->y[i];
        }
    x[n] = c->high;
    y[n++] = height_at(c, c->high);
    for (size_t i = 0; i < n; i++)
        zero[i] = 0.0;
    mel_figure_band(fig, mel_class_band(0), "95% interval", n, x, zero, y);
    free(x);
}

typedef struct {
    mel_buffer estimate, interval; /* texts of the legend, alive until the figure is closed */
} captions;

static void write_captions(captions *text, const curve *c, bool ratio)
{
    const int digits = ratio ? 3 : 4;
    mel_buffer_printf(&text->estimate, "estimate %s", mel_digits_significant(c->estimate, digits).text);
    mel_buffer_printf(&text->interval, "95%% between %s and %s", mel_digits_significant(c->low, digits).text,
                      mel_digits_significant(c->high, digits).text);
}

static void draw(mel_figure *fig, const mel_posterior_plot *plot, const curve *c, captions *text)
{
    if (c->n < 4) { /* two points and their feet */
        mel_figure_refuse(fig, MEL_EINVAL, "fewer than two angles inside (0, pi/2)");
        return;
    }
    const mel_range range = shown(c, plot->cost_ratio);
    const char *title = plot->cost_ratio ? "false alarms that one missed positive is worth"
                                         : "angle of (m11, m00) in radians";
    const mel_axis x = { .low = range.low,
                         .high = range.high,
                         .log = plot->cost_ratio,
                         .grid = true,
                         .wanted = 6,
                         .title = plot->x_title != NULL ? plot->x_title : title };
    const mel_axis y = { .low = 0.0, .high = 1.08, .bare = true, .title = "plausibility" };
    mel_figure_axes(fig, &x, &y, 0.0);
    shade(fig, c);
    mel_figure_line(fig, mel_class_line(0), (mel_curve){ "density", c->n, 1, c->x, c->y, false });
    mel_figure_segment(fig, "line-2 solid", c->estimate, 0.0, c->estimate, 1.08);
    write_captions(text, c, plot->cost_ratio);
    if (text->estimate.status != MEL_OK || text->interval.status != MEL_OK) {
        mel_figure_refuse(fig, MEL_ENOMEM, "out of memory: posterior plot");
        return;
    }
    mel_figure_key(fig, MEL_KEY_LINE, MEL_MARKER_DISC, "line-2 solid", text->estimate.data);
    mel_figure_key(fig, MEL_KEY_BAND, MEL_MARKER_DISC, mel_class_band(0), text->interval.data);
    mel_figure_describe(fig, "%s, %s.", text->estimate.data, text->interval.data);
}

mel_status mel_plot_posterior(char **svg, const mel_posterior_plot *plot, const mel_plot_options *opt,
                              mel_error *err)
{
    enum { CAPTION = 200 };
    mel_figure fig;
    mel_posterior_plot own;
    curve c = { .n = 0 };
    captions text;
    *svg = NULL;
    mel_posterior_plot_init(&own);
    mel_status status = mel_options_take(&own, sizeof own, plot, "posterior's fields", err);
    if (status != MEL_OK)
        return status;
    mel_buffer_init(&text.estimate, CAPTION);
    mel_buffer_init(&text.interval, CAPTION);
    mel_figure_open(&fig, opt, usual_width, usual_height,
                    own.cost_ratio ? "What is believed about the cost ratio"
                                   : "What is believed about the angle");
    check(&fig, &own);
    if (mel_figure_ok(&fig)) {
        c.x = mel_alloc(2 * (own.n + 2), sizeof *c.x);
        if (c.x == NULL)
            mel_figure_refuse(&fig, MEL_ENOMEM, "out of memory: posterior plot");
    }
    if (c.x != NULL) {
        c.y = c.x + own.n + 2;
        fill_curve(&c, &own);
        draw(&fig, &own, &c, &text);
    }
    status = mel_figure_close(svg, &fig, err);
    free(c.x);
    mel_buffer_free(&text.estimate);
    mel_buffer_free(&text.interval);
    return status;
}
