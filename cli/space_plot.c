/* The plot of melicit space: one face, or the faces of all pairs of classes. */
#include "files.h"
#include "output.h"
#include "panels.h"
#include "report/shared.h"
#include "space/shared.h"
#include "space_classes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 2001, SMOOTH = 201, MOST_CLASSES = 8 };

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

/* The smoothed boundary, from best for negatives to best for positives. */
static mel_status smoothed(mel_point *out, const mel_face *face, mel_error *err)
{
    for (size_t i = 0; i < SMOOTH; i++) {
        const double angle = 1.5707963267948966 * (double)i / (SMOOTH - 1);
        TRY(mel_face_support(&out[i], face, sin(angle), cos(angle), err));
    }
    return MEL_OK;
}

/* What was measured, and what questions are about where that is smoothed. */
static mel_status draw_face(char **svg, const mel_problem *space, mel_error *err)
{
    mel_feasible_plot plot;
    mel_feasible_plot_init(&plot);
    plot.face = space->sample != NULL ? space->sample : space->face;
    MEL_AUTO_MEMORY mel_point *steps = cli_alloc_zero(STEPS + SMOOTH, sizeof *steps);
    plot.staircase = steps;
    plot.n_staircase = staircase(steps, space);
    if (space->sample != NULL) {
        plot.smooth = steps + STEPS;
        plot.n_smooth = SMOOTH;
        TRY(smoothed(steps + STEPS, space->face, err));
    }
    return mel_plot_feasible(svg, &plot, NULL, err);
}

/* --- all pairs of classes ----------------------------------------------------------------------- */

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
    opt.width = opt.height = CLI_PANEL;
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

static mel_status draw_rows(cli_panels *panels, const mel_problem *space, mel_error *err)
{
    const size_t k = space->n_classes;
    for (size_t row = 0; row + 1 < k; row++) {
        for (size_t column = row + 1; column < k; column++) {
            MEL_AUTO_MEMORY char *svg = NULL;
            TRY(draw_panel(&svg, space, row, column, err));
            cli_panels_put(panels, svg, column - 1);
        }
        cli_panels_end_row(panels);
    }
    return MEL_OK;
}

static mel_status draw_grid(char **svg, const mel_problem *space, mel_error *err)
{
    const size_t k = space->n_classes;
    if (space->space == NULL || mel_space_layout(space->space)->n_groups > 1)
        return cli_fail(err, MEL_EINVAL, "--plot draws planar and two-class faces, without groups");
    if (k > MOST_CLASSES)
        return cli_fail(err, MEL_EINVAL,
                        "--plot draws a picture for each pair of at most %d classes; there are %zu: leave "
                        "classes out or read the numbers (--json)",
                        MOST_CLASSES, k);
    cli_panels panels = { 0 };
    mel_status status = draw_rows(&panels, space, err);
    if (status == MEL_OK)
        status = cli_panels_close(svg, &panels, "What classifiers can achieve, pair by pair of classes", err);
    free(panels.text);
    return status;
}

mel_status cli_space_plot(const mel_problem *space, const char *path, mel_error *err)
{
    MEL_AUTO_MEMORY char *svg = NULL;
    TRY(space->face != NULL ? draw_face(&svg, space, err) : draw_grid(&svg, space, err));
    return cli_store_text(path, svg, err);
}
