/* The pictures of melicit apply --plot. */
#include "apply_plot.h"
#include "files.h"
#include "metric/shared.h"
#include "output.h"
#include "panels.h"
#include "report/shared.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>

typedef struct {
    const mel_face *face;
    const mel_metric *metric; /* or NULL */
    mel_point chosen;
    double positives, negatives;
    size_t n_hull;
    mel_point *hull;
    char *never, *always;
    cli_panels panels;
} pictures;

static mel_plot_options options(const char *id, const char *heading)
{
    mel_plot_options opt;
    mel_plot_options_init(&opt);
    opt.width = CLI_PANEL;
    opt.height = CLI_PANEL;
    opt.id = id;
    opt.heading = heading;
    opt.embedded = true;
    return opt;
}

static void put(pictures *p, mel_status status, char *svg, size_t column)
{
    if (status == MEL_OK)
        cli_panels_put(&p->panels, svg, column);
    free(svg);
}

/* Which way is better at the chosen point. */
static mel_status draw_achievable(pictures *p, mel_error *err)
{
    const mel_plot_options opt = options("achievable", "What can be achieved");
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
    put(p, status, svg, 0);
    return status;
}

static mel_status draw_roc(pictures *p, mel_error *err)
{
    const mel_plot_options opt = options("roc", "Where the rule operates");
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
    put(p, status, svg, 1);
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
    const mel_plot_options first = options("benefit", "Net benefit"), second = options("costs", "Cost curve");
    char *svg = NULL;
    mel_status status = mel_plot_net_benefit(&svg, &plot, &first, err);
    put(p, status, svg, 0);
    if (status != MEL_OK)
        return status;
    svg = NULL;
    status = mel_plot_cost_curve(&svg, &plot, &second, err);
    put(p, status, svg, 1);
    cli_panels_end_row(&p->panels);
    return status;
}

static mel_status draw_all(char **svg, pictures *p, mel_error *err)
{
    TRY(draw_achievable(p, err));
    TRY(draw_roc(p, err));
    cli_panels_end_row(&p->panels);
    TRY(draw_worth(p, err));
    return cli_panels_close(svg, &p->panels, "The rule, what it achieves and what that is worth", err);
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
    const mel_status status = mel_classifier_chances_of(chance, a->classifier, &rows, err);
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
