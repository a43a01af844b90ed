/* A true and an elicited metric drawn along the upper boundary of a face. */
#include "report/along.h"

#include "base/internal.h"
#include "report/shared.h"
#include "report/svg.h"
#include "report/write.h"

#include <math.h>
#include <stdlib.h>

static const double usual_width = 480.0, usual_height = 300.0;

/* The largest value; the middle of them when it is a plateau, as on the corners of a sample's hull. */
static size_t largest(size_t n, const double *value)
{
    size_t first = 0, last;
    for (size_t i = 1; i < n; i++)
        if (value[i] > value[first])
            first = i;
    for (last = first; last + 1 < n && value[last + 1] >= value[first];)
        last++;
    return first + (last - first) / 2;
}

/* To 0..1; a constant becomes 1. */
static void scale(size_t n, double *out, const double *value)
{
    mel_range range = mel_range_empty;
    for (size_t i = 0; i < n; i++)
        mel_range_add(&range, value[i]);
    for (size_t i = 0; i < n; i++)
        out[i] = range.high > range.low ? (value[i] - range.low) / (range.high - range.low) : 1.0;
}

static void check(mel_figure *fig, size_t n, const double *angle, const double *truth, const double *elicited)
{
    if (n < 2 || (truth == NULL && elicited == NULL))
        mel_figure_refuse(fig, MEL_EINVAL, "%zu points of %s along the boundary", n,
                          truth == NULL && elicited == NULL ? "no metric" : "a metric");
    for (size_t i = 0; mel_figure_ok(fig) && i < n; i++) {
        const double t = truth != NULL ? truth[i] : 0.0, e = elicited != NULL ? elicited[i] : 0.0;
        if (!isfinite(angle[i]) || !isfinite(t) || !isfinite(e))
            mel_figure_refuse(fig, MEL_EINVAL, "angle %zu: (%g, true %g, elicited %g) is not finite", i,
                              angle[i], t, e);
        else if (i > 0 && angle[i] < angle[i - 1])
            mel_figure_refuse(fig, MEL_EINVAL, "angle %zu: %g comes after %g", i, angle[i], angle[i - 1]);
    }
}

static void draw_metric(mel_figure *fig, size_t k, const char *name, size_t n, const double *angle,
                        const double *value, double *space)
{
    const size_t best = largest(n, value);
    scale(n, space, value);
    mel_figure_segment(fig, mel_class_line(k), angle[best], fig->y.low, angle[best], fig->y.high);
    mel_figure_line(fig, mel_class_line(k), (mel_curve){ name, n, 1, angle, space, false });
    mel_figure_marker(fig, mel_series_marker(k), mel_class_fill(k), angle[best], space[best], 4.0);
    mel_figure_key(fig, MEL_KEY_MARKED_LINE, mel_series_marker(k), mel_class_line(k), name);
    mel_figure_describe(fig, "The %s is largest at %s radians.", name, mel_digits_shown(angle[best], 3).text);
}

mel_status mel_plot_along(char **svg, size_t n, const double *angle, const double *truth,
                          const double *elicited, const mel_plot_options *opt, mel_error *err)
{
    mel_figure fig;
    *svg = NULL;
    mel_figure_open(&fig, opt, usual_width, usual_height, "Metrics along the upper boundary");
    check(&fig, n, angle, truth, elicited);
    double *space = mel_alloc(n, sizeof *space);
    if (space == NULL)
        mel_figure_refuse(&fig, MEL_ENOMEM, "out of memory: metrics along the boundary");
    if (space != NULL && mel_figure_ok(&fig)) {
        const mel_axis x = { .low = angle[0],
                             .high = angle[n - 1],
                             .wanted = 6,
                             .title = "angle of the boundary point\xE2\x80\x99s normal (radians)" };
        const mel_axis y = { .low = 0.0,
                             .high = 1.06,
                             .grid = true,
                             .wanted = 5,
                             .title = "metric, scaled to 0\xE2\x80\x93"
                                      "1" };
        mel_figure_axes(&fig, &x, &y, 0.0);
        if (truth != NULL)
            draw_metric(&fig, 0, "true metric", n, angle, truth, space);
        if (elicited != NULL)
            draw_metric(&fig, 1, "elicited metric", n, angle, elicited, space);
    }
    free(space);
    return mel_figure_close(svg, &fig, err);
}

void mel_along_angles(size_t n, double *angle)
{
    for (size_t i = 0; i < n; i++)
        angle[i] = acos(0.0) * (double)i / (double)(n - 1);
}

mel_status mel_along_values(double *value, const mel_face *face, size_t n, const double *angle,
                            const mel_metric *metric, mel_error *err)
{
    const mel_layout *layout = mel_metric_layout(metric);
    if (layout->coordinates != MEL_BINARY || mel_layout_size(layout) != 2)
        return mel_fail(err, MEL_EINVAL, "a metric of %s statistics has no values along a planar boundary",
                        mel_coordinates_name(layout->coordinates));
    const double sign = mel_metric_orientation(metric) == MEL_COST ? -1.0 : 1.0;
    for (size_t i = 0; i < n; i++) {
        mel_point at;
        mel_status status = mel_face_support(&at, face, cos(angle[i]), sin(angle[i]), err);
        if (status == MEL_OK)
            status = mel_metric_value(&value[i], metric, (const double[]){ at.tp, at.tn }, err);
        if (status != MEL_OK)
            return status;
        value[i] *= sign;
    }
    return MEL_OK;
}
