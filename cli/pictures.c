/* The drawings of --plot. */
#include "pictures.h"
#include "base/stat.h"
#include "files.h"
#include "output.h"
#include "report/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GAP = 12 };
enum { PANEL = 360 }; /* the width of a picture, px */

/* Starts from {0}; text is for free(). */
typedef struct {
    char *text;
    size_t columns;
    double top, tallest; /* of the row at work, px */
} panel_rows;

/* The height that a plot came out with: its legend comes on top of what was asked for. */
static double height_of(const char *svg)
{
    const char *at = strstr(svg, " height=\"");
    return at != NULL ? mel_to_double(at + strlen(" height=\""), NULL) : (double)PANEL;
}

/* The outermost element gets a position. */
static void put_panel(panel_rows *panels, const char *svg, size_t column)
{
    static const char opening[] = "<svg";
    char *longer = cli_format("%s<svg x=\"%zu\" y=\"%.0f\"%s", panels->text != NULL ? panels->text : "",
                              column * (PANEL + GAP), panels->top, svg + sizeof opening - 1);
    free(panels->text);
    panels->text = longer;
    panels->columns = column >= panels->columns ? column + 1 : panels->columns;
    panels->tallest = height_of(svg) > panels->tallest ? height_of(svg) : panels->tallest;
}

static void end_panel_row(panel_rows *panels)
{
    panels->top += panels->tallest + GAP;
    panels->tallest = 0.0;
}

static mel_status close_panels(char **svg, const panel_rows *panels, const char *title, mel_error *err)
{
    const size_t width = panels->columns * (PANEL + GAP);
    MEL_AUTO_MEMORY char *css = NULL;
    TRY(mel_plot_style(&css, err));
    *svg = cli_format("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"mel-plot\" viewBox=\"0 0 %zu %.0f\" "
                      "width=\"%zu\" height=\"%.0f\">\n<title>%s</title>\n<style>%s</style>\n<rect "
                      "class=\"paper\" width=\"100%%\" height=\"100%%\"/>\n%s</svg>\n",
                      width, panels->top, width, panels->top, title, css,
                      panels->text != NULL ? panels->text : "");
    return MEL_OK;
}

/* --- one face, or the faces of all pairs of classes --- */

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

static mel_status draw_rows(panel_rows *panels, const mel_problem *space, mel_error *err)
{
    const size_t k = space->n_classes;
    for (size_t row = 0; row + 1 < k; row++) {
        for (size_t column = row + 1; column < k; column++) {
            MEL_AUTO_MEMORY char *svg = NULL;
            TRY(draw_panel(&svg, space, row, column, err));
            put_panel(panels, svg, column - 1);
        }
        end_panel_row(panels);
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
    panel_rows panels = { 0 };
    mel_status status = draw_rows(&panels, space, err);
    if (status == MEL_OK)
        status = close_panels(svg, &panels, "What classifiers can achieve, pair by pair of classes", err);
    free(panels.text);
    return status;
}

mel_status cli_space_plot(const mel_problem *space, const char *path, mel_error *err)
{
    MEL_AUTO_MEMORY char *svg = NULL;
    TRY(space->face != NULL ? draw_face(&svg, space, err) : draw_grid(&svg, space, err));
    return cli_store_text(path, svg, err);
}

/* --- the pictures of melicit apply --plot --- */

typedef struct {
    const mel_face *face;
    const mel_metric *metric; /* or NULL */
    mel_point chosen;
    double positives, negatives;
    size_t n_hull;
    mel_point *hull;
    char *never, *always;
    panel_rows panels;
} pictures;

static mel_plot_options plot_options(const char *id, const char *heading)
{
    mel_plot_options opt;
    mel_plot_options_init(&opt);
    opt.width = PANEL;
    opt.height = PANEL;
    opt.id = id;
    opt.heading = heading;
    opt.embedded = true;
    return opt;
}

static void put_picture(pictures *p, mel_status status, char *svg, size_t column)
{
    if (status == MEL_OK)
        put_panel(&p->panels, svg, column);
    free(svg);
}

/* Which way is better at the chosen point. */
static mel_status draw_achievable(pictures *p, mel_error *err)
{
    const mel_plot_options opt = plot_options("achievable", "What can be achieved");
    const double at[] = { p->chosen.tp, p->chosen.tn };
    double slope[2] = { 1.0, 1.0 };
    mel_feasible_plot plot;
    mel_feasible_plot_init(&plot);
    plot.face = p->face;
    plot.people = 1000.0;
    plot.x_title = "true positives per 1,000";
    plot.y_title = "true negatives per 1,000";
    plot.never = p->never;
    plot.always = p->always;
    mel_status status = p->metric != NULL ? mel_metric_gradient(slope, p->metric, at, err) : MEL_OK;
    const double sign = p->metric != NULL && mel_metric_orientation(p->metric) == MEL_COST ? -1.0 : 1.0;
    const mel_support best = { sign * slope[0], sign * slope[1], p->chosen, "the rule" };
    plot.supports = &best;
    plot.n_supports = p->metric != NULL ? 1 : 0;
    char *svg = NULL;
    if (status == MEL_OK)
        status = mel_plot_feasible(&svg, &plot, &opt, err);
    put_picture(p, status, svg, 0);
    return status;
}

static mel_status draw_roc(pictures *p, mel_error *err)
{
    const mel_plot_options opt = plot_options("roc", "Where the rule operates");
    const size_t n = p->n_hull;
    double *fpr = cli_alloc_zero(n, sizeof *fpr), *tpr = cli_alloc_zero(n, sizeof *tpr);
    size_t upper = 0;
    for (size_t i = 0; i < n; i++) { /* the upper boundary, from never to always */
        const size_t v = n - 1 - i;
        const double above = p->hull[v].tp / p->positives + p->hull[v].tn / p->negatives;
        if (above < 1.0 - 1e-12)
            continue;
        fpr[upper] = 1.0 - p->hull[v].tn / p->negatives;
        tpr[upper++] = p->hull[v].tp / p->positives;
    }
    for (size_t i = 1; i < upper; i++) /* ascending */
        for (size_t j = i; j > 0 && fpr[j] < fpr[j - 1]; j--) {
            const double x = fpr[j], y = tpr[j];
            fpr[j] = fpr[j - 1];
            tpr[j] = tpr[j - 1];
            fpr[j - 1] = x;
            tpr[j - 1] = y;
        }
    const mel_roc curve = {
        "all", upper, fpr, tpr, 1.0 - p->chosen.tn / p->negatives, p->chosen.tp / p->positives
    };
    char *svg = NULL;
    const mel_status status = mel_plot_roc(&svg, 1, &curve, &opt, err);
    put_picture(p, status, svg, 1);
    free(fpr);
    free(tpr);
    return status;
}

/* Where both mistakes cost something. */
static mel_status draw_worth(pictures *p, mel_error *err)
{
    mel_cost_ratio ratio = { NAN, NAN, NAN };
    if (p->metric == NULL || mel_metric_cost_ratio(&ratio, p->metric, NULL) != MEL_OK ||
        !(ratio.ratio > 0.0 && isfinite(ratio.ratio)))
        return MEL_OK;
    mel_decision_plot plot;
    mel_decision_plot_init(&plot);
    plot.n_hull = p->n_hull;
    plot.hull = p->hull;
    plot.positives = p->positives;
    plot.negatives = p->negatives;
    plot.cost = (mel_estimate){ ratio.ratio, ratio.low, ratio.high };
    plot.chosen = p->chosen;
    plot.missed = "missed"; /* the panel is narrow */
    plot.never = p->never;
    plot.always = p->always;
    const mel_plot_options first = plot_options("benefit", "Net benefit"),
                           second = plot_options("costs", "Cost curve");
    char *svg = NULL;
    mel_status status = mel_plot_net_benefit(&svg, &plot, &first, err);
    put_picture(p, status, svg, 0);
    if (status != MEL_OK)
        return status;
    svg = NULL;
    status = mel_plot_cost_curve(&svg, &plot, &second, err);
    put_picture(p, status, svg, 1);
    end_panel_row(&p->panels);
    return status;
}

static mel_status draw_all(char **svg, pictures *p, mel_error *err)
{
    TRY(draw_achievable(p, err));
    TRY(draw_roc(p, err));
    end_panel_row(&p->panels);
    TRY(draw_worth(p, err));
    return close_panels(svg, &p->panels, "The rule, what it achieves and what that is worth", err);
}

static mel_status draw_on(const char *path, const mel_face *face, const char *positive,
                          const mel_metric *metric, mel_point chosen, mel_error *err)
{
    mel_metric *turned = NULL;
    if (metric != NULL && mel_metric_layout(metric)->coordinates == MEL_OFFDIAGONAL) {
        const mel_status failed = mel_metric_turn(&turned, metric, err);
        if (failed != MEL_OK)
            return failed;
    }
    pictures p = { .face = face,
                   .metric = turned != NULL ? turned : metric,
                   .chosen = chosen,
                   .positives = mel_face_positives(face),
                   .negatives = mel_face_negatives(face),
                   .n_hull = mel_face_vertices(face),
                   .never = cli_format("never %s", positive),
                   .always = cli_format("always %s", positive) };
    p.hull = cli_alloc_zero(p.n_hull, sizeof *p.hull);
    for (size_t i = 0; i < p.n_hull; i++)
        p.hull[i] = mel_face_vertex(face, i);
    char *svg = NULL;
    mel_status status = draw_all(&svg, &p, err);
    if (status == MEL_OK)
        status = cli_store_text(path, svg, err);
    mel_metric_free(turned);
    free(svg);
    free(p.hull);
    free(p.never);
    free(p.always);
    free(p.panels.text);
    return status;
}

mel_status cli_apply_plot(const char *path, const mel_problem *space, const mel_metric *metric,
                          const mel_classifier *classifier, mel_error *err)
{
    if (space->face == NULL)
        return cli_fail(err, MEL_EINVAL, "--plot draws rules between two classes");
    const mel_classifier_parts got = mel_classifier_get(classifier);
    return draw_on(path, space->face, space->class_name[1], metric,
                   (mel_point){ got.statistics[0], got.statistics[1] }, err);
}

/* What the rule achieves by the labels. */
static mel_status rule_at(mel_point *out, const cli_applied_rule *a, mel_error *err)
{
    const mel_problem *p = a->problem;
    const mel_undecided rows = { .n = p->n_rows, .probability = p->probability };
    double *chance = cli_alloc_zero(2 * p->n_rows, sizeof *chance), right[2] = { 0.0, 0.0 }, all = 0.0;
    const mel_status status = mel_classifier_chances(chance, a->classifier, &rows, err);
    for (size_t r = 0; r < p->n_rows && status == MEL_OK; r++) {
        const double weight = p->weight != NULL ? p->weight[r] : 1.0;
        right[p->label[r]] += weight * chance[2 * r + p->label[r]];
        all += weight;
    }
    *out = (mel_point){ right[1] / all, right[0] / all };
    free(chance);
    return status;
}

mel_status cli_apply_plot_rule(const char *path, const cli_applied_rule *a, mel_error *err)
{
    const mel_problem *p = a->problem;
    MEL_AUTO_MEMORY uint8_t *role = cli_alloc_zero(p->n_rows, sizeof *role);
    MEL_AUTO(mel_face) *face = NULL;
    mel_point chosen = { 0 };
    for (size_t r = 0; r < p->n_rows; r++)
        role[r] = p->label[r] == 1 ? MEL_ROW_POSITIVE : MEL_ROW_NEGATIVE;
    TRY(mel_face_from_probabilities(&face, p->n_rows, p->probability, role, p->weight, err));
    TRY(rule_at(&chosen, a, err));
    return draw_on(path, face, p->class_name[1], a->metric, chosen, err);
}

/* --- the ROC curve of every group and where its rule operates --- */

enum { POINTS = 200, ROC_WIDTH = 560 };

/* The curve of the rows of a group (SIZE_MAX: of all), by the labels, thinned. */
static mel_status trace(mel_roc *out, double *fpr, double *tpr, const cli_applied_rule *a, size_t group,
                        const double *chance, mel_error *err)
{
    const mel_problem *p = a->problem;
    double *score = cli_alloc_zero(p->n_rows, sizeof *score), of[2] = { 0.0, 0.0 }, said[2] = { 0.0, 0.0 },
           above[2] = { 0.0, 0.0 };
    size_t *row = cli_alloc_zero(p->n_rows, sizeof *row), *order = cli_alloc_zero(p->n_rows, sizeof *order),
           n = 0;
    for (size_t r = 0; r < p->n_rows; r++) {
        const double weight = p->weight != NULL ? p->weight[r] : 1.0;
        if (group != SIZE_MAX && p->group[r] != group)
            continue;
        score[n] = -p->probability[2 * r + 1];
        row[n++] = r;
        of[p->label[r]] += weight;
        said[p->label[r]] += weight * chance[2 * r + 1];
    }
    mel_status status = n > 0 ? mel_argsort(n, score, order, err) : MEL_OK;
    if (status == MEL_OK && !(of[0] > 0.0 && of[1] > 0.0))
        status = cli_fail(err, MEL_EDATA, "--plot: %s has rows of one class only",
                          group != SIZE_MAX ? p->group_name[group] : "the data");
    size_t points = 1; /* from (0, 0) */
    for (size_t i = 0; i < n && status == MEL_OK; i++) {
        const size_t r = row[order[i]];
        above[p->label[r]] += p->weight != NULL ? p->weight[r] : 1.0;
        const bool last = i + 1 == n, tied = !last && score[order[i]] == score[order[i + 1]];
        if (tied || (!last && i * (POINTS - 2) / n + 1 < points))
            continue;
        fpr[points] = above[0] / of[0];
        tpr[points++] = above[1] / of[1];
    }
    *out = (mel_roc){
        group != SIZE_MAX ? p->group_name[group] : "all", points, fpr, tpr, said[0] / of[0], said[1] / of[1]
    };
    free(score);
    free(row);
    free(order);
    return status;
}

static mel_status draw_curves(char **svg, const cli_applied_rule *a, const double *chance, mel_error *err)
{
    const size_t m = a->problem->n_groups > 1 ? a->problem->n_groups : 1;
    MEL_AUTO_MEMORY mel_roc *curve = cli_alloc_zero(m, sizeof *curve);
    MEL_AUTO_MEMORY double *room = cli_alloc_zero(2 * m * (POINTS + 1), sizeof *room);
    mel_plot_options opt;
    mel_plot_options_init(&opt);
    opt.width = ROC_WIDTH;
    opt.height = ROC_WIDTH;
    opt.id = "roc";
    opt.heading = "Where the rule operates";
    for (size_t g = 0; g < m; g++)
        TRY(trace(&curve[g], room + 2 * g * (POINTS + 1), room + (2 * g + 1) * (POINTS + 1), a,
                  m > 1 ? g : SIZE_MAX, chance, err));
    return mel_plot_roc(svg, m, curve, &opt, err);
}

mel_status cli_apply_roc(const char *path, const cli_applied_rule *a, mel_error *err)
{
    const mel_problem *p = a->problem;
    const mel_undecided rows = {
        .n = p->n_rows, .probability = p->probability, .group = p->group, .row_cost = a->row_cost
    };
    if (p->n_classes != 2 || a->report.n_decisions != 2)
        return cli_fail(err, MEL_EINVAL, "--plot draws rules between two classes");
    if (p->n_groups > MEL_MOST_SERIES)
        return cli_fail(err, MEL_EINVAL, "--plot draws at most %d groups", MEL_MOST_SERIES);
    MEL_AUTO_MEMORY double *chance = cli_alloc_zero(2 * p->n_rows, sizeof *chance);
    MEL_AUTO_MEMORY char *svg = NULL;
    TRY(mel_classifier_chances(chance, a->classifier, &rows, err));
    TRY(draw_curves(&svg, a, chance, err));
    return cli_store_text(path, svg, err);
}

/* --- the order of classifiers --- */

mel_status cli_rank_plot(const char *path, const mel_ranking_info *info, const char *const *name,
                         const char *what, mel_error *err)
{
    enum { MOST = 40 };
    const size_t n = info->n < MOST ? info->n : MOST;
    MEL_AUTO_MEMORY const char **names = cli_alloc_zero(n, sizeof *names);
    MEL_AUTO_MEMORY double *numbers = cli_alloc_zero(3 * n, sizeof *numbers);
    for (size_t i = 0; i < n; i++) {
        const size_t at = info->order[i];
        names[i] = name[at];
        numbers[i] = info->value[at];
        numbers[n + i] = info->certainty != NULL ? info->certainty[at].both.low : 0.0;
        numbers[2 * n + i] = info->certainty != NULL ? info->certainty[at].both.high : 0.0;
    }
    const mel_ranking_plot plot = { .n = n,
                                    .names = names,
                                    .value = numbers,
                                    .low = info->certainty != NULL ? numbers + n : NULL,
                                    .high = info->certainty != NULL ? numbers + 2 * n : NULL,
                                    .better = info->beats_next,
                                    .can_tell = MEL_CAN_TELL,
                                    .x_title = what };
    MEL_AUTO_MEMORY char *svg = NULL;
    TRY(mel_plot_ranking(&svg, &plot, NULL, err));
    return cli_store_text(path, svg, err);
}
