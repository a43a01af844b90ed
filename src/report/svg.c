/* A figure as SVG: its frame, markers, bars, text, legend and the description that is read out. */
#include "report/svg.h"

#include "metric/text.h"
#include "report/shared.h"
#include "report/template.h"
#include "report/write.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Pixels. A column of text (a Latin letter) is estimated a little wide for common system fonts. */
static const double column_width = 7.3, line_height = 20.0, key_width = 34.0;
static const double least_size = 160.0, largest_size = 4096.0;
static const double farthest = 1e5; /* coordinates are cut here: far outside of every picture */
enum { MOST_BYTES = 64 << 20, MOST_ID = 40 };

mel_status mel_plot_style(char **css, mel_error *err)
{
    *css = mel_strdup(mel_plot_css);
    return *css != NULL ? MEL_OK : mel_fail_memory(err, "style of plots");
}

void mel_plot_options_init(mel_plot_options *opt)
{
    *opt = (mel_plot_options){ .struct_size = sizeof *opt, .id = "plot" };
}

void mel_figure_refuse(mel_figure *fig, mel_status code, const char *fmt, ...)
{
    char text[sizeof fig->failure.text];
    va_list args;
    if (fig->failure.code != MEL_OK)
        return;
    va_start(args, fmt);
    (void)mel_vprint(text, sizeof text, fmt, args);
    va_end(args);
    (void)mel_fail(&fig->failure, code, "%s", text);
}

bool mel_figure_ok(const mel_figure *fig)
{
    return fig->failure.code == MEL_OK;
}

static bool is_id(const char *id)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    const size_t n = strlen(id);
    return n >= 1 && n <= MOST_ID && strspn(id, letters) == n && strchr(letters, id[0]) - letters < 52;
}

static double check_size(mel_figure *fig, double size, double usual, const char *what)
{
    if (size == 0.0)
        return usual;
    if (!(size >= least_size && size <= largest_size))
        mel_figure_refuse(fig, MEL_EINVAL, "%s %g of a plot is not from %g to %g", what, size, least_size,
                          largest_size);
    return size;
}

void mel_figure_open(mel_figure *fig, const mel_plot_options *opt, double width, double height,
                     const char *title)
{
    *fig = (mel_figure){ .failure = { .code = MEL_OK } };
    mel_buffer_init(&fig->body, MOST_BYTES);
    mel_buffer_init(&fig->description, MOST_BYTES);
    mel_plot_options_init(&fig->opt);
    (void)mel_options_take(&fig->opt, sizeof fig->opt, opt, "plot options", &fig->failure);
    if (!mel_figure_ok(fig))
        return;
    if (fig->opt.id == NULL || !is_id(fig->opt.id))
        mel_figure_refuse(fig, MEL_EINVAL,
                          "id \"%.60s\" of a plot is not a letter and then letters, digits, '-' and '_'",
                          fig->opt.id != NULL ? fig->opt.id : "");
    fig->width = check_size(fig, fig->opt.width, width, "width");
    fig->height = check_size(fig, fig->opt.height, height, "height");
    fig->title = fig->opt.title != NULL ? fig->opt.title : title;
    fig->left = 12.0;
    fig->right = fig->width - 16.0;
    fig->top = fig->opt.heading != NULL ? 40.0 : 12.0;
    fig->bottom = fig->height - 12.0;
}

void mel_figure_free(mel_figure *fig)
{
    mel_buffer_free(&fig->body);
    mel_buffer_free(&fig->description);
}

void mel_figure_describe(mel_figure *fig, const char *fmt, ...)
{
    va_list args;
    mel_buffer *out = &fig->description;
    va_start(args, fmt);
    if (out->size != 0)
        mel_buffer_puts(out, " ");
    for (const char *p = fmt; *p != '\0';) {
        const size_t n = strcspn(p, "%");
        mel_buffer_add(out, p, n);
        p += n;
        if (*p == '\0')
            break;
        mel_buffer_puts(out, p[1] == 's' ? va_arg(args, const char *) : "%");
        p += 2;
    }
    va_end(args);
}

double mel_text_pixels(const char *text)
{
    return column_width * (double)mel_text_columns(text);
}

double mel_figure_x(const mel_figure *fig, double x)
{
    const double px = fig->left + mel_axis_share(&fig->x, x) * (fig->right - fig->left);
    return fmin(fmax(px, -farthest), farthest);
}

double mel_figure_y(const mel_figure *fig, double y)
{
    const double px = fig->bottom - mel_axis_share(&fig->y, y) * (fig->bottom - fig->top);
    return fmin(fmax(px, -farthest), farthest);
}

void mel_figure_text(mel_figure *fig, const char *class_name, mel_anchor anchor, double x, double y,
                     double room, const char *text)
{
    static const char *const anchors[] = { "start", "middle", "end" };
    if (!mel_figure_ok(fig))
        return;
    mel_buffer_printf(&fig->body, "<text class=\"%s\" text-anchor=\"%s\"", class_name, anchors[anchor]);
    mel_write_attribute(&fig->body, "x", x);
    mel_write_attribute(&fig->body, "y", y);
    mel_buffer_puts(&fig->body, ">");
    mel_write_cut(&fig->body, text, room > column_width ? (size_t)(room / column_width) : 1);
    mel_buffer_puts(&fig->body, "</text>\n");
}

void mel_figure_rectangle(mel_figure *fig, const char *class_name, double left, double top, double right,
                          double bottom)
{
    if (!mel_figure_ok(fig))
        return;
    mel_buffer_printf(&fig->body, "<rect class=\"%s\"", class_name);
    mel_write_attribute(&fig->body, "x", left);
    mel_write_attribute(&fig->body, "y", top);
    mel_write_attribute(&fig->body, "width", fmax(right - left, 0.0));
    mel_write_attribute(&fig->body, "height", fmax(bottom - top, 0.0));
    mel_buffer_puts(&fig->body, "/>\n");
}

void mel_figure_bar(mel_figure *fig, size_t series, double left, double top, double right, double bottom)
{
    mel_figure_rectangle(fig, mel_class_fill(series), left, top, right, bottom);
    if (series == 0 || !mel_figure_ok(fig))
        return;
    mel_buffer_printf(&fig->body, "<rect fill=\"url(#%s-hatch-%zu)\"", fig->opt.id, series);
    mel_write_attribute(&fig->body, "x", left);
    mel_write_attribute(&fig->body, "y", top);
    mel_write_attribute(&fig->body, "width", fmax(right - left, 0.0));
    mel_write_attribute(&fig->body, "height", fmax(bottom - top, 0.0));
    mel_buffer_puts(&fig->body, "/>\n");
}

void mel_figure_arrow(mel_figure *fig, const char *class_name, double x0, double y0, double x1, double y1)
{
    const double length = hypot(x1 - x0, y1 - y0), head = 7.0, half = 3.2;
    if (!mel_figure_ok(fig) || !(length > 0.0))
        return;
    const double ux = (x1 - x0) / length, uy = (y1 - y0) / length;
    const double bx = x1 - head * ux, by = y1 - head * uy;
    mel_buffer *out = &fig->body;
    mel_buffer_printf(out, "<path class=\"%s solid\" d=\"", class_name);
    mel_write_point(out, 'M', x0, y0);
    mel_write_point(out, 'L', x1, y1);
    mel_write_point(out, 'M', bx - half * uy, by + half * ux);
    mel_write_point(out, 'L', x1, y1);
    mel_write_point(out, 'L', bx + half * uy, by - half * ux);
    mel_buffer_puts(out, "\"/>\n");
}

static void marker_path(mel_buffer *out, mel_marker marker, double x, double y, double r)
{
    if (marker == MEL_MARKER_TRIANGLE) {
        mel_write_point(out, 'M', x, y - 1.15 * r);
        mel_write_point(out, 'L', x + 1.1 * r, y + 0.8 * r);
        mel_write_point(out, 'L', x - 1.1 * r, y + 0.8 * r);
    } else if (marker == MEL_MARKER_DIAMOND) {
        mel_write_point(out, 'M', x, y - 1.25 * r);
        mel_write_point(out, 'L', x + 1.25 * r, y);
        mel_write_point(out, 'L', x, y + 1.25 * r);
        mel_write_point(out, 'L', x - 1.25 * r, y);
    } else if (marker == MEL_MARKER_SQUARE) {
        mel_write_point(out, 'M', x - 0.9 * r, y - 0.9 * r);
        mel_write_point(out, 'L', x + 0.9 * r, y - 0.9 * r);
        mel_write_point(out, 'L', x + 0.9 * r, y + 0.9 * r);
        mel_write_point(out, 'L', x - 0.9 * r, y + 0.9 * r);
    } else { /* cross: an outline, so that it can be filled like the others */
        const double a = 0.35 * r, b = 1.1 * r;
        const double dx[] = { a, b, b, a, a, -a, -a, -b, -b, -a, -a, a };
        const double dy[] = { -a, -a, a, a, b, b, a, a, -a, -a, -b, -b };
        for (size_t i = 0; i < sizeof dx / sizeof *dx; i++)
            mel_write_point(out, i == 0 ? 'M' : 'L', x + dx[i], y + dy[i]);
    }
    mel_buffer_puts(out, "Z");
}

static void marker_at(mel_figure *fig, mel_marker marker, const char *class_name, double x, double y,
                      double r)
{
    mel_buffer *out = &fig->body;
    if (marker == MEL_MARKER_DISC || marker == MEL_MARKER_RING) {
        mel_buffer_printf(out, "<circle class=\"%s\"", class_name);
        mel_write_attribute(out, "cx", x);
        mel_write_attribute(out, "cy", y);
        mel_write_attribute(out, "r", r);
        mel_buffer_puts(out, "/>\n");
        return;
    }
    mel_buffer_printf(out, "<path class=\"%s\" d=\"", class_name);
    marker_path(out, marker, x, y, r);
    mel_buffer_puts(out, "\"/>\n");
}

void mel_figure_marker(mel_figure *fig, mel_marker marker, const char *class_name, double x, double y,
                       double size)
{
    if (!isfinite(x) || !isfinite(y))
        mel_figure_refuse(fig, MEL_EINVAL, "marker at (%g, %g) is not finite", x, y);
    if (!mel_figure_ok(fig))
        return;
    const double px = mel_figure_x(fig, x), py = mel_figure_y(fig, y);
    const bool inside =
        px >= fig->left - 1.0 && px <= fig->right + 1.0 && py >= fig->top - 1.0 && py <= fig->bottom + 1.0;
    if (inside)
        marker_at(fig, marker, class_name, px, py, size);
}

static const char *series_class(const char *const *names, size_t series)
{
    return names[series < MEL_MOST_SERIES ? series : MEL_MOST_SERIES - 1];
}

const char *mel_class_line(size_t series)
{
    static const char *const names[] = { "line-1", "line-2", "line-3", "line-4", "line-5", "line-6" };
    return series_class(names, series);
}

const char *mel_class_fill(size_t series)
{
    static const char *const names[] = { "fill-1", "fill-2", "fill-3", "fill-4", "fill-5", "fill-6" };
    return series_class(names, series);
}

const char *mel_class_band(size_t series)
{
    static const char *const names[] = { "band-1", "band-2", "band-3", "band-4", "band-5", "band-6" };
    return series_class(names, series);
}

mel_marker mel_series_marker(size_t series)
{
    return (mel_marker)(series % (MEL_MARKER_RING + 1));
}

void mel_figure_key(mel_figure *fig, mel_key kind, mel_marker marker, const char *class_name,
                    const char *text)
{
    if (fig->n_keys == MEL_MOST_KEYS)
        mel_figure_refuse(fig, MEL_ELIMIT, "more than %d entries in a legend", (int)MEL_MOST_KEYS);
    if (!mel_figure_ok(fig))
        return;
    const size_t i = fig->n_keys++;
    fig->keys[i].kind = kind;
    fig->keys[i].marker = marker;
    fig->keys[i].class_name = class_name;
    fig->keys[i].text = text;
}

void mel_figure_bar_key(mel_figure *fig, size_t series, const char *text)
{
    mel_figure_key(fig, MEL_KEY_BAR, MEL_MARKER_DISC, mel_class_fill(series), text);
    if (mel_figure_ok(fig))
        fig->keys[fig->n_keys - 1].series = series;
}

static void key_sample(mel_figure *fig, size_t i, double x, double y)
{
    const char *class_name = fig->keys[i].class_name;
    const double end = x + 24.0;
    const mel_key kind = fig->keys[i].kind;
    if (kind == MEL_KEY_BAR)
        mel_figure_bar(fig, fig->keys[i].series, x + 4.0, y - 6.0, end - 4.0, y + 6.0);
    if (kind == MEL_KEY_BAND)
        mel_figure_rectangle(fig, class_name, x, y - 6.0, end, y + 6.0);
    if (kind == MEL_KEY_MARKER)
        marker_at(fig, fig->keys[i].marker, class_name, x + 12.0, y, 4.5);
    if (kind == MEL_KEY_LINE || kind == MEL_KEY_MARKED_LINE) {
        mel_buffer_printf(&fig->body, "<path class=\"%s\" d=\"", class_name);
        mel_write_point(&fig->body, 'M', x, y);
        mel_write_point(&fig->body, 'L', end, y);
        mel_buffer_puts(&fig->body, "\"/>\n");
    }
    if (kind == MEL_KEY_MARKED_LINE) { /* "line-3" -> "fill-3" */
        const size_t series = (size_t)(class_name[strlen(class_name) - 1] - '1');
        marker_at(fig, fig->keys[i].marker, mel_class_fill(series), x + 12.0, y, 4.0);
    }
}

/* Entries flow in rows from below the picture; returns the height that they take. */
static double draw_legend(mel_figure *fig)
{
    const double left = fig->left <= 64.0 ? fig->left : 12.0;
    double x = left, y = fig->height + 8.0;
    for (size_t i = 0; i < fig->n_keys && mel_figure_ok(fig); i++) {
        const double width = fmin(key_width + mel_text_pixels(fig->keys[i].text), fig->width - left);
        if (i > 0 && x + width > fig->width) {
            x = left;
            y += line_height;
        }
        key_sample(fig, i, x, y);
        mel_figure_text(fig, "key", MEL_START, x + key_width - 4.0, y + 4.5, fig->width - left - key_width,
                        fig->keys[i].text);
        x += width + 14.0;
    }
    return fig->n_keys == 0 ? 0.0 : y + 14.0 - fig->height;
}

static void write_definitions(mel_buffer *out, const mel_figure *fig)
{
    static const char *const hatches[MEL_MOST_SERIES - 1] = { "M-1 7L7 -1M-1 1L1 -1M5 7L7 5",
                                                              "M1.5 1.5h.01M4.5 4.5h.01", "M0 3h6",
                                                              "M0 0L6 6M0 6L6 0", "M3 0v6" };
    mel_buffer_printf(out, "<defs><clipPath id=\"%s-area\"><rect", fig->opt.id);
    mel_write_attribute(out, "x", fig->left - 2.0);
    mel_write_attribute(out, "y", fig->top - 2.0);
    mel_write_attribute(out, "width", fig->right - fig->left + 4.0);
    mel_write_attribute(out, "height", fig->bottom - fig->top + 4.0);
    mel_buffer_puts(out, "/></clipPath>");
    for (size_t i = 0; i < fig->n_keys; i++)
        if (fig->keys[i].kind == MEL_KEY_BAR && fig->keys[i].series > 0)
            mel_buffer_printf(out,
                              "<pattern id=\"%s-hatch-%zu\" width=\"6\" height=\"6\" "
                              "patternUnits=\"userSpaceOnUse\"><path class=\"hatch\" d=\"%s\"/></pattern>",
                              fig->opt.id, fig->keys[i].series, hatches[fig->keys[i].series - 1]);
    mel_buffer_puts(out, "</defs>\n");
}

static void write_svg(mel_buffer *out, mel_figure *fig, double height)
{
    const char *id = fig->opt.id;
    const char *text = fig->opt.description != NULL    ? fig->opt.description
                       : fig->description.data != NULL ? fig->description.data
                                                       : "";
    mel_write(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"mel-plot\" viewBox=\"0 0 %s %s\"",
              mel_digits_short(fig->width, 2).text, mel_digits_short(height, 2).text);
    mel_write_attribute(out, "width", fig->width);
    mel_write_attribute(out, "height", height);
    mel_buffer_printf(out, " role=\"img\" aria-labelledby=\"%s-title %s-desc\">\n<title id=\"%s-title\">", id,
                      id, id);
    mel_write(out, "%s</title>\n<desc id=\"%s-desc\">%s</desc>\n", fig->title, id, text);
    if (!fig->opt.embedded) {
        mel_buffer_puts(out, "<style>");
        mel_buffer_puts(out, mel_plot_css);
        mel_buffer_puts(out, "</style>\n");
    }
    write_definitions(out, fig);
    if (!fig->opt.embedded) {
        mel_buffer_puts(out, "<rect class=\"paper\" x=\"0\" y=\"0\"");
        mel_write_attribute(out, "width", fig->width);
        mel_write_attribute(out, "height", height);
        mel_buffer_puts(out, "/>\n");
    }
    mel_buffer_add(out, fig->body.data, fig->body.size);
    mel_buffer_puts(out, "</svg>\n");
}

mel_status mel_figure_close(char **svg, mel_figure *fig, mel_error *err)
{
    mel_buffer out;
    *svg = NULL;
    mel_buffer_init(&out, MOST_BYTES);
    if (mel_figure_ok(fig) && fig->opt.heading != NULL)
        mel_figure_text(fig, "head", MEL_START, 8.0, 22.0, fig->width - 16.0, fig->opt.heading);
    const double height = fig->height + (mel_figure_ok(fig) ? draw_legend(fig) : 0.0);
    if (fig->body.status != MEL_OK || fig->description.status != MEL_OK)
        mel_figure_refuse(fig, fig->body.status != MEL_OK ? fig->body.status : fig->description.status,
                          "%s does not fit in memory", fig->title);
    mel_status status = fig->failure.code;
    if (status != MEL_OK && err != NULL)
        *err = fig->failure;
    if (status == MEL_OK) {
        write_svg(&out, fig, height);
        status = mel_text_take(svg, &out, "plot", err);
    }
    mel_buffer_free(&out);
    mel_figure_free(fig);
    return status;
}
