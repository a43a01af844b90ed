/* The axes of a figure: lines, ticks, numbers and titles. */
#include "report/svg.h"
#include "report/write.h"

#include <math.h>

static const char *tick_label(mel_digits *space, const mel_axis *axis, const mel_ticks *ticks, size_t i)
{
    if (axis->n_named != 0)
        return axis->names[i];
    *space = ticks->decimals < 0 ? mel_digits_significant(ticks->at[i], 3)
                                 : mel_digits_shown(ticks->at[i], ticks->decimals);
    return space->text;
}

static double widest_label(const mel_axis *axis, const mel_ticks *ticks)
{
    double widest = 0.0;
    mel_digits space;
    for (size_t i = 0; i < ticks->n; i++) {
        widest = fmax(widest, mel_text_pixels(tick_label(&space, axis, ticks, i)));
    }
    return widest;
}

static void draw_x_axis(mel_figure *fig, const mel_ticks *ticks)
{
    mel_digits space;
    for (size_t i = 0; i < ticks->n; i++) {
        const double x = mel_figure_x(fig, ticks->at[i]);
        if (fig->x.grid)
            mel_figure_rectangle(fig, "grid", x - 0.5, fig->top, x + 0.5, fig->bottom);
        mel_figure_rectangle(fig, "axis", x - 0.5, fig->bottom, x + 0.5, fig->bottom + 4.0);
        mel_figure_text(fig, "tick", MEL_MIDDLE, x, fig->bottom + 18.0, fig->width,
                        tick_label(&space, &fig->x, ticks, i));
    }
    mel_figure_rectangle(fig, "axis", fig->left, fig->bottom - 0.5, fig->right, fig->bottom + 0.5);
    if (fig->x.title != NULL)
        mel_figure_text(fig, "title", MEL_MIDDLE, 0.5 * (fig->left + fig->right),
                        fig->bottom + (ticks->n != 0 ? 38.0 : 20.0), fig->width, fig->x.title);
}

static void draw_y_axis(mel_figure *fig, const mel_ticks *ticks)
{
    mel_digits space;
    for (size_t i = 0; i < ticks->n; i++) {
        const double y = mel_figure_y(fig, ticks->at[i]);
        if (fig->y.grid)
            mel_figure_rectangle(fig, "grid", fig->left, y - 0.5, fig->right, y + 0.5);
        mel_figure_text(fig, fig->y.n_named != 0 ? "title" : "tick", MEL_END, fig->left - 8.0, y + 4.0,
                        fig->left - 8.0, tick_label(&space, &fig->y, ticks, i));
    }
    if (fig->y.title != NULL)
        mel_figure_text(fig, "title", MEL_START, 8.0, fig->top - 12.0, fig->width - 8.0, fig->y.title);
}

/* Shrinks the area to the wanted ratio of height to width. */
static void reshape(mel_figure *fig, double shape)
{
    const double width = fig->right - fig->left, height = fig->bottom - fig->top;
    if (height > width * shape) {
        fig->height -= height - width * shape;
        fig->bottom = fig->top + width * shape;
    } else {
        fig->right = fig->left + height / shape;
    }
}

void mel_figure_axes(mel_figure *fig, const mel_axis *x, const mel_axis *y, double shape)
{
    mel_ticks tx = { .n = 0 }, ty = { .n = 0 };
    fig->x = *x;
    fig->y = *y;
    if (!mel_figure_ok(fig) || mel_axis_check(x, "horizontal", &fig->failure) != MEL_OK ||
        mel_axis_check(y, "vertical", &fig->failure) != MEL_OK)
        return;
    if (!x->bare)
        mel_axis_ticks(&tx, x);
    if (!y->bare)
        mel_axis_ticks(&ty, y);
    if (ty.n != 0)
        fig->left = fmin(18.0 + widest_label(y, &ty), 0.42 * fig->width);
    if (y->title != NULL)
        fig->top += 20.0;
    fig->bottom -= (tx.n != 0 ? 14.0 : 0.0) + (x->title != NULL ? 20.0 : 0.0);
    if (shape > 0.0)
        reshape(fig, shape);
    draw_x_axis(fig, &tx);
    draw_y_axis(fig, &ty);
}
