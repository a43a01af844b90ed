/* The picture of 1,000 people, one mark each: found, missed, false alarms, cleared. */
#include "report/shared.h"
#include "report/svg.h"
#include "report/write.h"

#include <math.h>

static const double usual_width = 480.0, usual_height = 208.0;
enum { KINDS = 4, ROWS = 20, COLUMNS = 50, PEOPLE = ROWS * COLUMNS, CAPTION = 4096 };

void mel_people_plot_init(mel_people_plot *plot)
{
    *plot = (mel_people_plot){ .struct_size = sizeof *plot,
                               .found = "found",
                               .missed = "missed",
                               .false_alarms = "false alarms",
                               .cleared = "cleared" };
}

/* Whole people that sum to PEOPLE: the two mistakes rounded as they are everywhere else, the rest filled up.
 */
static void whole_people(unsigned out[KINDS], const double share[KINDS])
{
    const unsigned positives = (unsigned)lround(PEOPLE * (share[0] + share[1])),
                   negatives = PEOPLE - positives;
    const unsigned missed = (unsigned)lround(PEOPLE * fmax(share[1], 0.0));
    const unsigned alarms = (unsigned)lround(PEOPLE * fmax(share[2], 0.0));
    out[1] = missed < positives ? missed : positives;
    out[2] = alarms < negatives ? alarms : negatives;
    out[0] = positives - out[1];
    out[3] = negatives - out[2];
}

/* Marks first..last of the grid as one path; what one mark is like is up to its kind. */
static void draw_marks(mel_figure *fig, size_t kind, unsigned first, unsigned last)
{
    static const char *const classes[KINDS] = { "people-found", "people-missed", "people-alarm",
                                                "people-cleared" };
    static const char *const shapes[KINDS] = { "h.01", "m-2.7 0h5.4m-2.7 -2.7v5.4",
                                               "m-2.2 -2.2h4.4v4.4h-4.4z", "h.01" };
    const double across = (fig->right - fig->left) / COLUMNS, down = (fig->bottom - fig->top) / ROWS;
    if (first == last)
        return;
    mel_buffer_printf(&fig->body, "<path class=\"%s\" d=\"", classes[kind]);
    for (unsigned i = first; i < last; i++) {
        const unsigned column = i % COLUMNS, row = i / COLUMNS;
        mel_write_point(&fig->body, 'M', fig->left + across * ((double)column + 0.5),
                        fig->top + down * ((double)row + 0.5));
        mel_buffer_puts(&fig->body, shapes[kind]);
    }
    mel_buffer_puts(&fig->body, "\"/>\n");
}

static void draw(mel_figure *fig, const mel_people_plot *plot, mel_buffer text[KINDS])
{
    static const mel_marker markers[KINDS] = { MEL_MARKER_DISC, MEL_MARKER_CROSS, MEL_MARKER_SQUARE,
                                               MEL_MARKER_DISC };
    static const char *const classes[KINDS] = { "fill-1", "fill-2", "open-4", "people-cleared-key" };
    const double tp = plot->point.tp, tn = plot->point.tn, p = plot->positives, n = plot->negatives;
    const double total = p + n, share[KINDS] = { tp / total, (p - tp) / total, (n - tn) / total, tn / total };
    const char *names[KINDS] = { plot->found, plot->missed, plot->false_alarms, plot->cleared };
    unsigned count[KINDS], at = 0;
    whole_people(count, share);
    for (size_t i = 0; i < KINDS; i++) {
        draw_marks(fig, i, at, at + count[i]);
        at += count[i];
        mel_buffer_printf(&text[i], "%u %s", count[i], names[i]);
        if (text[i].status != MEL_OK) {
            mel_figure_refuse(fig, text[i].status, "the names of the four outcomes: %s",
                              mel_status_text(text[i].status));
            return;
        }
        mel_figure_key(fig, MEL_KEY_MARKER, markers[i], classes[i], text[i].data);
        mel_figure_describe(fig, "%s%s", text[i].data, i + 1 < KINDS ? "," : ".");
    }
}

static bool inside(double x, double high)
{
    return x >= -1e-9 && x <= high + 1e-9;
}

mel_status mel_plot_people(char **svg, const mel_people_plot *plot, const mel_plot_options *opt,
                           mel_error *err)
{
    mel_figure fig;
    mel_people_plot own;
    mel_buffer text[KINDS];
    *svg = NULL;
    mel_people_plot_init(&own);
    mel_status status = mel_options_take(&own, sizeof own, plot, "plot's fields", err);
    if (status != MEL_OK)
        return status;
    for (size_t i = 0; i < KINDS; i++)
        mel_buffer_init(&text[i], CAPTION);
    mel_figure_open(&fig, opt, usual_width, usual_height, "What happens to 1,000 people");
    if (!(own.positives > 0.0 && own.negatives > 0.0 && isfinite(own.positives + own.negatives) &&
          inside(own.point.tp, own.positives) && inside(own.point.tn, own.negatives)))
        mel_figure_refuse(&fig, MEL_EINVAL, "point (%g, %g) with shares %g and %g of positives and negatives",
                          own.point.tp, own.point.tn, own.positives, own.negatives);
    if (mel_figure_ok(&fig))
        draw(&fig, &own, text);
    status = mel_figure_close(svg, &fig, err);
    for (size_t i = 0; i < KINDS; i++)
        mel_buffer_free(&text[i]);
    return status;
}
