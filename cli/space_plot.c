#include "space_plot.h"
#include "files.h"
#include "output.h"
#include "report/shared.h"
#include "space/shared.h"

#include <stdlib.h>
#include <string.h>

enum { STEPS = 2001, PANEL = 360, GAP = 12, MOST_CLASSES = 8 };

static mel_status write_svg(const char *path, const char *svg, mel_error *err)
{
    cli_out out = { 0 };
    mel_status status = cli_out_open(&out, path, err);
    if (status == MEL_OK && fputs(svg, out.stream) == EOF)
        status = cli_out_failed(&out, err);
    if (status == MEL_OK)
        status = cli_out_commit(&out, err);
    cli_out_abandon(&out);
    return status;
}

/* --- one face ----------------------------------------------------------------------------------- */

static size_t staircase(mel_point *out, const mel_problem *space)
{
    const mel_face *raw = space->sample != NULL ? space->sample : space->face;
    if (space->n_rows == 0)
        return 0;
    double threshold[STEPS], tp[STEPS], tn[STEPS];
    for (size_t i = 0; i < STEPS; i++)
        threshold[i] = (double)i / (STEPS - 1);
    mel_face_sweep(raw, STEPS, threshold, tp, tn);
    for (size_t i = 0; i < STEPS; i++)
        out[i] = (mel_point){ tp[i], tn[i] };
    return STEPS;
}

static mel_status draw_face(char **svg, const mel_problem *space, mel_error *err)
{
    mel_feasible_plot plot;
    mel_feasible_plot_init(&plot);
    plot.face = space->face;
    mel_point *steps = cli_alloc_zero(STEPS, sizeof *steps);
    plot.staircase = steps;
    plot.n_staircase = staircase(steps, space);
    const mel_status status = mel_plot_feasible(svg, &plot, NULL, err);
    free(steps);
    return status;
}

/* --- all pairs of classes ----------------------------------------------------------------------- */

/* A growing text. */
static char *joined(char *text, const char *more)
{
    const size_t n = strlen(text), m = strlen(more);
    char *longer = cli_regrow(text, n + m + 1, 1);
    memcpy(longer + n, more, m + 1);
    return longer;
}

/* The height that a plot came out with: its legend comes on top of what was asked for. */
static double height_of(const char *svg)
{
    const char *at = strstr(svg, " height=\"");
    return at != NULL ? strtod(at + strlen(" height=\""), NULL) : (double)PANEL;
}

/* The face of two classes as a drawing of its own, with a title that names them. */
static mel_status draw_panel(char **svg, const mel_problem *space, size_t first, size_t second,
                             mel_error *err)
{
    char *id = cli_format("face-%zu-%zu", first + 1, second + 1);
    char *heading = cli_format("%s or %s", space->class_name[first], space->class_name[second]);
    char *x = cli_format("%s found, share of all", space->class_name[first]);
    char *y = cli_format("%s found, share of all", space->class_name[second]);
    char *never = cli_format("always %s", space->class_name[second]);
    char *always = cli_format("always %s", space->class_name[first]);
    mel_feasible_plot plot;
    mel_plot_options opt;
    mel_feasible_plot_init(&plot);
    mel_plot_options_init(&opt);
    opt.width = opt.height = PANEL;
    opt.id = id;
    opt.heading = heading;
    opt.embedded = true;
    plot.x_title = x;
    plot.y_title = y;
    plot.never = never;
    plot.always = always;
    mel_face *face = NULL;
    mel_status status = mel_space_face(&face, space->space, first, second, err);
    plot.face = face;
    if (status == MEL_OK)
        status = mel_plot_feasible(svg, &plot, &opt, err);
    mel_face_free(face);
    char *const texts[] = { id, heading, x, y, never, always };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free(texts[i]);
    return status;
}

/* Puts a drawing at its place in the grid: the outermost element gets a position. */
static char *placed(char *grid, const char *svg, size_t column, double top)
{
    static const char opening[] = "<svg";
    char *start = cli_format("<svg x=\"%zu\" y=\"%.0f\"", column * (PANEL + GAP), top);
    grid = joined(grid, start);
    free(start);
    return joined(grid, svg + sizeof opening - 1);
}

static mel_status draw_rows(char **panels, double *height, const mel_problem *space, mel_error *err)
{
    const size_t k = space->n_classes;
    mel_status status = MEL_OK;
    for (size_t row = 0; row + 1 < k && status == MEL_OK; row++) {
        double tallest = 0.0;
        for (size_t column = row + 1; column < k && status == MEL_OK; column++) {
            char *svg = NULL;
            status = draw_panel(&svg, space, row, column, err);
            if (status == MEL_OK) {
                *panels = placed(*panels, svg, column - 1, *height);
                tallest = height_of(svg) > tallest ? height_of(svg) : tallest;
            }
            free(svg);
        }
        *height += tallest + GAP;
    }
    return status;
}

static mel_status draw_grid(char **svg, const mel_problem *space, mel_error *err)
{
    const size_t k = space->n_classes, width = (k - 1) * (PANEL + GAP);
    if (space->space == NULL || mel_space_layout(space->space)->n_groups > 1)
        return cli_fail(err, MEL_EINVAL, "--plot draws planar and two-class faces, without groups");
    if (k > MOST_CLASSES)
        return cli_fail(err, MEL_EINVAL,
                        "--plot draws a picture for each pair of at most %d classes; there are %zu: leave "
                        "classes out or read the numbers (--json)",
                        MOST_CLASSES, k);
    char *css = NULL, *panels = cli_format("%s", "");
    double height = 0.0;
    mel_status status = mel_plot_style(&css, err);
    if (status == MEL_OK)
        status = draw_rows(&panels, &height, space, err);
    if (status == MEL_OK)
        *svg = cli_format("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"mel-plot\" viewBox=\"0 0 %zu "
                          "%.0f\" width=\"%zu\" height=\"%.0f\">\n<title>What classifiers can achieve, pair "
                          "by pair of classes</title>\n<style>%s</style>\n%s</svg>\n",
                          width, height, width, height, css, panels);
    free(css);
    free(panels);
    return status;
}

mel_status cli_space_plot(const mel_problem *space, const char *path, mel_error *err)
{
    char *svg = NULL;
    mel_status status = space->face != NULL ? draw_face(&svg, space, err) : draw_grid(&svg, space, err);
    if (status == MEL_OK)
        status = write_svg(path, svg, err);
    free(svg);
    return status;
}
