/* Drawing: a figure with an area between two axes, things in data coordinates inside it, a legend below.
 *
 * The first failure sticks: later calls do nothing and mel_figure_close returns it. Every class named
 * here is styled by mel_plot_style(): line-1..6 (with dashes), fill-1..6, open-1..6, band-1..6, one per
 * series; ink, soft, grid, paper; for text tick, title, note, strong, head. */
#ifndef MEL_REPORT_SVG_H
#define MEL_REPORT_SVG_H

#include "base/buffer.h"
#include "report/axis.h"
#include "report/shared.h"

typedef enum {
    MEL_MARKER_DISC,
    MEL_MARKER_SQUARE,
    MEL_MARKER_TRIANGLE,
    MEL_MARKER_DIAMOND,
    MEL_MARKER_CROSS,
    MEL_MARKER_RING
} mel_marker;

typedef enum { MEL_KEY_LINE, MEL_KEY_MARKED_LINE, MEL_KEY_BAND, MEL_KEY_BAR, MEL_KEY_MARKER } mel_key;

enum { MEL_MOST_KEYS = 12 };

typedef struct {
    mel_buffer body;   /* elements so far */
    mel_error failure; /* code MEL_OK while all is well */
    mel_plot_options opt;
    double width, height;            /* px; the legend comes on top */
    double left, top, right, bottom; /* the area, px */
    mel_axis x, y;
    const char *title;
    mel_buffer description;
    size_t n_keys;
    struct {
        mel_key kind;
        mel_marker marker;
        size_t series; /* bars */
        const char *class_name;
        const char *text;
    } keys[MEL_MOST_KEYS];
} mel_figure;

typedef enum { MEL_START, MEL_MIDDLE, MEL_END } mel_anchor;

/* Coordinates x[0], x[stride], ...: what says in a refusal whose they are. */
typedef struct {
    const char *what;
    size_t n, stride;
    const double *x, *y;
    bool step; /* y holds until the next x */
} mel_curve;

/* Checks and copies the options; width and height serve where these leave them open. */
void mel_figure_open(mel_figure *fig, const mel_plot_options *opt, double width, double height,
                     const char *title);
void mel_figure_free(mel_figure *fig);
/* Writes the SVG for the caller to free() and frees the figure. */
mel_status mel_figure_close(char **svg, mel_figure *fig, mel_error *err);
MEL_PRINTF(3, 4) void mel_figure_refuse(mel_figure *fig, mel_status code, const char *fmt, ...);
bool mel_figure_ok(const mel_figure *fig);
/* Adds a sentence to the text that is read out. %s only. */
MEL_PRINTF(2, 3) void mel_figure_describe(mel_figure *fig, const char *fmt, ...);

/* Makes the area as large as the labels of these axes leave it, or, with shape > 0, of that height to
 * width; then draws them. Widths of text are estimated. */
void mel_figure_axes(mel_figure *fig, const mel_axis *x, const mel_axis *y, double shape);
double mel_figure_x(const mel_figure *fig, double x); /* px */
double mel_figure_y(const mel_figure *fig, double y);

/* In data coordinates, clipped to the area. Lines of many points are thinned invisibly (by less than
 * MEL_THINNING px). */
#define MEL_THINNING 0.1
void mel_figure_line(mel_figure *fig, const char *class_name, mel_curve curve);
void mel_figure_polygon(mel_figure *fig, const char *class_name, mel_curve curve);
void mel_figure_band(mel_figure *fig, const char *class_name, const char *what, size_t n, const double *x,
                     const double *low, const double *high);
void mel_figure_segment(mel_figure *fig, const char *class_name, double x0, double y0, double x1, double y1);
void mel_figure_marker(mel_figure *fig, mel_marker marker, const char *class_name, double x, double y,
                       double size);

/* In pixels. */
void mel_figure_rectangle(mel_figure *fig, const char *class_name, double left, double top, double right,
                          double bottom);
/* Filled as the series, hatched from the second series on. */
void mel_figure_bar(mel_figure *fig, size_t series, double left, double top, double right, double bottom);
void mel_figure_arrow(mel_figure *fig, const char *class_name, double x0, double y0, double x1, double y1);
/* Cut with an ellipsis when it would need more room. */
void mel_figure_text(mel_figure *fig, const char *class_name, mel_anchor anchor, double x, double y,
                     double room, const char *text);
/* Estimated width of a text in the ordinary size, px. */
double mel_text_pixels(const char *text);

/* An entry of the legend, in the order of the calls; text is lent until the figure is closed. */
void mel_figure_key(mel_figure *fig, mel_key kind, mel_marker marker, const char *class_name,
                    const char *text);
void mel_figure_bar_key(mel_figure *fig, size_t series, const char *text);

/* "line-3" and so on for series 0, 1, ...; dashes and markers go with it. */
const char *mel_class_line(size_t series);
const char *mel_class_fill(size_t series);
const char *mel_class_band(size_t series);
mel_marker mel_series_marker(size_t series);

#endif
