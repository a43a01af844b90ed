/* Lines, polygons and bands of a figure, thinned to what can be seen. */
#include "report/svg.h"
#include "report/write.h"

#include <math.h>

/* Thins a line on the way: a point is left out while some straight line from the last written point
 * passes every left-out one within MEL_THINNING, and the line moves away from that point. */
typedef struct {
    mel_buffer *out;
    bool started, pending, coned;
    double ax, ay;          /* last written */
    double lx, ly;          /* last seen */
    double base, low, high; /* allowed directions: base + [low, high] */
    double reach;           /* distance from the last written point to the last seen */
} pen;

static void pen_write(pen *p, double x, double y)
{
    mel_write_point(p->out, p->started ? 'L' : 'M', x, y);
    p->started = true;
    p->ax = x;
    p->ay = y;
    p->pending = false;
    p->coned = false;
    p->reach = 0.0;
}

static bool pen_narrow(pen *p, double x, double y, double distance)
{
    const double half = asin(MEL_THINNING / distance);
    const double direction = atan2(y - p->ay, x - p->ax);
    if (!p->coned) {
        p->coned = true;
        p->base = direction;
        p->low = -half;
        p->high = half;
        return true;
    }
    const double turn = remainder(direction - p->base, 2.0 * acos(-1.0));
    if (turn < p->low || turn > p->high)
        return false;
    p->low = fmax(p->low, turn - half);
    p->high = fmin(p->high, turn + half);
    return true;
}

static void pen_to(pen *p, double x, double y)
{
    if (!p->started) {
        pen_write(p, x, y);
        return;
    }
    double distance = hypot(x - p->ax, y - p->ay);
    const bool skip = distance >= p->reach && (distance <= MEL_THINNING || pen_narrow(p, x, y, distance));
    if (!skip) {
        pen_write(p, p->lx, p->ly);
        distance = hypot(x - p->ax, y - p->ay);
        if (distance > MEL_THINNING)
            (void)pen_narrow(p, x, y, distance);
    }
    p->lx = x;
    p->ly = y;
    p->reach = distance;
    p->pending = true;
}

static bool check_curve(mel_figure *fig, const mel_curve *curve, size_t i)
{
    const double x = curve->x[i * curve->stride], y = curve->y[i * curve->stride];
    if (!isfinite(x) || !isfinite(y))
        mel_figure_refuse(fig, MEL_EINVAL, "%s, point %zu: (%g, %g) is not finite", curve->what, i, x, y);
    else if ((fig->x.log && !(x > 0.0)) || (fig->y.log && !(y > 0.0)))
        mel_figure_refuse(fig, MEL_EINVAL, "%s, point %zu: (%g, %g) has no place on a log axis", curve->what,
                          i, x, y);
    return mel_figure_ok(fig);
}

static void draw_curve(mel_figure *fig, pen *p, const mel_curve *curve, bool backwards)
{
    for (size_t k = 0; k < curve->n; k++) {
        const size_t i = backwards ? curve->n - 1 - k : k;
        if (!check_curve(fig, curve, i))
            return;
        const double x = mel_figure_x(fig, curve->x[i * curve->stride]);
        if (curve->step && i > 0 && !backwards)
            pen_to(p, x, mel_figure_y(fig, curve->y[(i - 1) * curve->stride]));
        pen_to(p, x, mel_figure_y(fig, curve->y[i * curve->stride]));
    }
}

static void open_path(mel_figure *fig, const char *class_name)
{
    mel_buffer_printf(&fig->body, "<path class=\"%s\" clip-path=\"url(#%s-area)\" d=\"", class_name,
                      fig->opt.id);
}

static void close_path(mel_figure *fig, pen *p, bool polygon)
{
    if (p->pending)
        pen_write(p, p->lx, p->ly);
    mel_buffer_puts(&fig->body, polygon ? "Z\"/>\n" : "\"/>\n");
}

static void draw_path(mel_figure *fig, const char *class_name, const mel_curve *curve, bool polygon)
{
    pen p = { .out = &fig->body };
    if (!mel_figure_ok(fig) || curve->n == 0)
        return;
    open_path(fig, class_name);
    draw_curve(fig, &p, curve, false);
    close_path(fig, &p, polygon);
}

void mel_figure_line(mel_figure *fig, const char *class_name, mel_curve curve)
{
    draw_path(fig, class_name, &curve, false);
}

void mel_figure_polygon(mel_figure *fig, const char *class_name, mel_curve curve)
{
    draw_path(fig, class_name, &curve, true);
}

void mel_figure_band(mel_figure *fig, const char *class_name, const char *what, size_t n, const double *x,
                     const double *low, const double *high)
{
    pen p = { .out = &fig->body };
    const mel_curve upper = { what, n, 1, x, high, false }, lower = { what, n, 1, x, low, false };
    if (!mel_figure_ok(fig) || n == 0)
        return;
    open_path(fig, class_name);
    draw_curve(fig, &p, &upper, false);
    draw_curve(fig, &p, &lower, true);
    close_path(fig, &p, true);
}

void mel_figure_segment(mel_figure *fig, const char *class_name, double x0, double y0, double x1, double y1)
{
    const double x[] = { x0, x1 }, y[] = { y0, y1 };
    mel_figure_line(fig, class_name, (mel_curve){ "segment", 2, 1, x, y, false });
}
