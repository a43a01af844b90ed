/* The picture of melicit apply --plot for rules on rows: the ROC curve of every group and where its rule
 * operates. */
#include "apply_plot.h"
#include "base/stat.h"
#include "files.h"
#include "output.h"
#include "panels.h"
#include "report/shared.h"

#include <stdlib.h>

enum { POINTS = 200, WIDTH = 560 };

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

static mel_status draw(char **svg, const cli_applied_rule *a, const double *chance, mel_error *err)
{
    const size_t m = a->problem->n_groups > 1 ? a->problem->n_groups : 1;
    MEL_AUTO_MEMORY mel_roc *curve = cli_alloc_zero(m, sizeof *curve);
    MEL_AUTO_MEMORY double *room = cli_alloc_zero(2 * m * (POINTS + 1), sizeof *room);
    mel_plot_options opt;
    mel_plot_options_init(&opt);
    opt.width = WIDTH;
    opt.height = WIDTH;
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
    TRY(mel_classifier_chances_of(chance, a->classifier, &rows, err));
    TRY(draw(&svg, a, chance, err));
    return cli_store_text(path, svg, err);
}
