/* Classifiers that are to be scored or ranked, from files of predictions or of statistics. */
#include "contenders.h"
#include "metric_file.h"
#include "output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void cli_contenders_clear(cli_contenders *c)
{
    if (c->paired) {
        free(c->counts);
        free(c->rows);
        free(c->statistics);
    }
    cli_predictions_clear(&c->predictions);
    mel_pool_clear(&c->pool);
    mel_names_free(c->own_class, c->own_class != NULL ? c->k : 0);
    mel_names_free(c->own_group, c->own_group != NULL ? c->m : 0);
    mel_metric_free(c->metric);
    *c = (cli_contenders){ 0 };
}

void cli_contender_together(double *matrix, const cli_contenders *c, size_t i)
{
    const size_t cells = c->k * c->k;
    memset(matrix, 0, cells * sizeof *matrix);
    for (size_t x = 0; x < c->m * cells; x++)
        matrix[x % cells] += c->counts[i * c->m * cells + x];
}

bool cli_known(size_t n, const double *values)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(values[i]))
            return false;
    return true;
}

void cli_fill_rest(double *matrix, size_t n, double rows)
{
    double rest = isnan(rows) ? 1.0 : rows;
    size_t first = n;
    for (size_t i = 0; i < n; i++) {
        first = isnan(matrix[i]) && first == n ? i : first;
        rest -= isnan(matrix[i]) ? 0.0 : matrix[i];
        matrix[i] = isnan(matrix[i]) ? 0.0 : matrix[i];
    }
    if (first < n)
        matrix[first] = fmax(rest, 0.0);
}

/* Shares the rest of all rows among the unknown entries: all to one of them, or in unequal parts. */
static void share_rest(double *to, const double *matrix, size_t n, double rest, size_t turn)
{
    double weights = 0.0;
    for (size_t i = 0, u = 0; i < n; i++) {
        if (!isnan(matrix[i]))
            continue;
        to[i] = turn == 0 ? 1.0 / (double)(u + 2) : u + 1 == turn ? 1.0 : 0.0;
        weights += to[i];
        u++;
    }
    for (size_t i = 0; i < n; i++)
        to[i] = isnan(matrix[i]) ? to[i] * rest / weights : matrix[i];
}

bool cli_fill_for(double *matrix, size_t n, double rows, const mel_measure *measure)
{
    double rest = isnan(rows) ? 1.0 : rows, first = 0.0;
    size_t unknown = 0;
    for (size_t i = 0; i < n; i++) {
        unknown += isnan(matrix[i]) ? 1 : 0;
        rest -= isnan(matrix[i]) ? 0.0 : matrix[i];
    }
    rest = fmax(rest, 0.0);
    double *filled = cli_alloc_zero(n, sizeof *filled);
    bool same = true;
    for (size_t turn = 0; turn <= unknown && same && unknown != 0; turn++) {
        double value = 0.0;
        share_rest(filled, matrix, n, rest, turn);
        same = mel_measure_value(&value, measure, filled, NULL) == MEL_OK;
        first = turn == 0 ? value : first;
        same = same && fabs(value - first) <= 1e-12 * fmax(1.0, fabs(first));
    }
    if (same && unknown != 0) {
        share_rest(filled, matrix, n, rest, 1);
        memcpy(matrix, filled, n * sizeof *matrix);
    }
    free(filled);
    return same;
}

/* --- predictions -------------------------------------------------------------------------------- */

/* The statistics of everybody for a metric without groups. */
static mel_status find_statistics(cli_contenders *c, size_t i, mel_error *err)
{
    const size_t cells = c->m * c->k * c->k, size = mel_layout_size(&c->layout);
    double *matrix = cli_alloc_zero(cells, sizeof *matrix);
    if (c->layout.n_groups > 1)
        memcpy(matrix, c->counts + i * cells, cells * sizeof *matrix);
    else
        cli_contender_together(matrix, c, i);
    const mel_status status =
        cli_statistics_of(c->statistics + i * size, &c->layout, matrix, c->class_name, c->group_name, err);
    free(matrix);
    return status;
}

static mel_status count_predictions(cli_contenders *c, mel_error *err)
{
    const cli_predictions *p = &c->predictions;
    c->paired = true;
    c->n = p->n;
    c->k = p->classes.n;
    c->m = cli_predictions_groups(p);
    c->name = p->name;
    c->class_name = (const char *const *)p->classes.name;
    c->group_name = (const char *const *)p->groups.name;
    if (c->metric == NULL)
        c->layout = (mel_layout){ MEL_CONFUSION, c->k == 2 ? MEL_BINARY : MEL_OFFDIAGONAL, c->k, 0 };
    const size_t cells = c->m * c->k * c->k;
    c->counts = cli_alloc_zero(c->n * cells, sizeof *c->counts);
    c->rows = cli_alloc_zero(c->n, sizeof *c->rows);
    c->statistics = cli_alloc_zero(c->n * mel_layout_size(&c->layout), sizeof *c->statistics);
    for (size_t i = 0; i < c->n; i++) {
        cli_predictions_count(c->counts + i * cells, p, i);
        c->rows[i] = (double)p->truth.n_rows;
        TRY(find_statistics(c, i, err));
    }
    return MEL_OK;
}

/* --- pools -------------------------------------------------------------------------------------- */

static mel_status read_pool(cli_contenders *c, const cli_contender_args *args, const mel_read_options *read,
                            mel_error *err)
{
    size_t groups = 0;
    if (c->metric != NULL) {
        c->k = c->layout.n_classes;
        groups = c->layout.n_groups > 1 ? c->layout.n_groups : 0;
        c->class_name = mel_metric_class_names(c->metric);
        c->group_name = mel_metric_group_names(c->metric);
    } else {
        TRY(mel_pool_survey(&c->own_class, &c->k, &c->own_group, &groups, args->pool, read, err));
        c->class_name = (const char *const *)c->own_class;
        c->group_name = (const char *const *)c->own_group;
        c->layout = (mel_layout){ MEL_CONFUSION, c->k == 2 && groups < 2 ? MEL_BINARY : MEL_OFFDIAGONAL, c->k,
                                  groups };
    }
    c->m = groups > 1 ? groups : 1;
    if (groups == 1)
        return cli_fail(err, MEL_EDATA, "%s: there is only one group, \"%s\"", args->pool, c->group_name[0]);
    const mel_pool_about about = { .layout = c->layout,
                                   .class_name = c->class_name,
                                   .group_name = c->group_name,
                                   .prevalence = args->prevalence };
    TRY(mel_pool_read(&c->pool, args->pool, &about, read, err));
    c->n = c->pool.n;
    c->name = c->pool.name;
    c->counts = c->pool.matrix;
    c->rows = c->pool.rows;
    c->statistics = c->pool.value;
    return MEL_OK;
}

/* --- both --------------------------------------------------------------------------------------- */

static mel_status check_args(const cli_contender_args *args, const cli_run *run, mel_error *err)
{
    const cli_prediction_args *rows = &args->rows;
    const bool predictions = rows->predictions.n > 0, pair = rows->labels != NULL && predictions;
    if (run->n_operands > 0 && !predictions)
        return cli_fail(err, MEL_EINVAL, "%s: files of predictions follow --predictions", run->operand[0]);
    if ((args->pool != NULL) == pair || (!pair && (rows->labels != NULL || predictions)))
        return cli_fail(err, MEL_EINVAL,
                        "give either --%s FILE or both of --labels FILE and --predictions FILE",
                        args->pool_option);
    const mel_naming *naming = &rows->naming;
    const char *stray = pair                       ? NULL
                        : rows->groups != NULL     ? "groups"
                        : naming->positive != NULL ? "positive"
                        : naming->classes != NULL  ? "classes"
                        : naming->rename != NULL   ? "rename"
                                                   : NULL;
    if (stray != NULL)
        return cli_fail(err, MEL_EINVAL, "--%s goes with --labels and --predictions", stray);
    if (args->pool == NULL && isfinite(args->prevalence))
        return cli_fail(err, MEL_EINVAL, "--shares goes with --%s; labels say it themselves",
                        args->pool_option);
    return MEL_OK;
}

mel_status cli_contenders_read(cli_contenders *out, mel_metric *metric, const cli_contender_args *args,
                               const mel_read_options *read, cli_run *run, mel_error *err)
{
    *out = (cli_contenders){ .metric = metric };
    TRY(check_args(args, run, err));
    if (metric != NULL)
        out->layout = *mel_metric_layout(metric);
    if (args->pool != NULL)
        return read_pool(out, args, read, err);
    TRY(cli_predictions_read(&out->predictions, &out->metric, args->metric, &args->rows, read, run, err));
    return count_predictions(out, err);
}

/* --- measures ----------------------------------------------------------------------------------- */

void cli_judges_free(cli_judge *judge, size_t n)
{
    for (size_t i = 0; i < n; i++)
        mel_measure_free(judge[i].measure);
    free(judge);
}

static mel_status name_judge(cli_judge *out, const char *name, const cli_contenders *c, mel_error *err)
{
    out->name = name;
    TRY(mel_measure_together(&out->measure, name, c->k, c->m, err));
    out->sees_groups = mel_measure_groups(out->measure) > 1;
    mel_measure_call(out->measure, c->class_name, c->group_name);
    return cli_check_positive(out->measure, name, &c->predictions.classes, err);
}

mel_status cli_judges_make(cli_judge **out, size_t *n, const cli_contenders *c, const mel_text_list *named,
                           mel_error *err)
{
    *n = 0;
    *out = cli_alloc_zero(named->n + 1, sizeof **out);
    if (c->metric != NULL) {
        cli_judge *first = &(*out)[(*n)++];
        *first = (cli_judge){ .name = "value", .sees_groups = c->layout.n_groups > 1 };
        TRY(mel_measure_metric(&first->measure, c->metric, c->k, c->layout.n_groups, err));
    }
    for (size_t i = 0; i < named->n; i++)
        TRY(name_judge(&(*out)[(*n)++], named->item[i], c, err));
    return MEL_OK;
}

bool cli_judge_sees_shares(const cli_judge *judge, size_t k, size_t m)
{
    const size_t cells = (judge->sees_groups ? m : 1) * k * k;
    double *matrix = cli_alloc_zero(cells, sizeof *matrix), value[2] = { 0.0, 0.0 };
    bool known = true;
    for (size_t turn = 0; turn < 2; turn++) {
        for (size_t i = 0; i < cells;
             i++) /* the first class is half as common again; numbers without symmetry */
            matrix[i] = (1.0 + sqrt((double)(i * i + i + 2))) * (turn == 1 && i / k % k == 0 ? 1.5 : 1.0);
        known = known && cli_or_exit(mel_measure_value(&value[turn], judge->measure, matrix, NULL)) == MEL_OK;
    }
    free(matrix);
    return !known || fabs(value[0] - value[1]) > 1e-9 * fmax(fabs(value[0]), fabs(value[1]));
}

mel_status cli_judge_counts(mel_certainty *out, const cli_judge *judge, const double *counts,
                            const cli_run *run, mel_error *err)
{
    mel_certainty_options opt;
    mel_certainty_options_init(&opt);
    opt.seed = run->seed;
    return mel_certainty_of(out, judge->measure, counts, &opt, err);
}

/* --- statistics ------------------------------------------------------------------------------------------
 */

/* The coordinates of group g from its k x k counts: divided by all rows, or by those of the true class. */
static mel_status read_group(double *out, const mel_layout *layout, size_t g, const double *count,
                             double total, const char *const *class_name, const char *const *group_name,
                             mel_error *err)
{
    const size_t k = layout->n_classes;
    const bool grouped = layout->n_groups > 1;
    for (size_t i = 0, at = 0; i < k; i++) {
        double row = 0.0;
        for (size_t j = 0; j < k; j++)
            row += count[i * k + j];
        if (layout->kind == MEL_RATES && row == 0.0)
            return cli_fail(err, MEL_EDATA, "%s%s%s no rows of class \"%s\": its rates are 0/0",
                            grouped ? "group \"" : "there are", grouped ? group_name[g] : "",
                            grouped ? "\" has" : "", class_name[i]);
        for (size_t j = 0; j < k; j++) {
            const double value = count[i * k + j] / (layout->kind == MEL_RATES ? row : total);
            if (layout->coordinates == MEL_OFFDIAGONAL ? i != j
                                                       : i == j && layout->coordinates == MEL_DIAGONAL)
                out[at++] = value;
            else if (i == j && layout->coordinates == MEL_BINARY)
                out[1 - i] = value;
        }
    }
    return MEL_OK;
}

mel_status cli_statistics_of(double *out, const mel_layout *layout, const double *counts,
                             const char *const *class_name, const char *const *group_name, mel_error *err)
{
    const size_t k = layout->n_classes, m = layout->n_groups > 1 ? layout->n_groups : 1;
    const size_t one = mel_layout_size(layout) / m;
    double total = 0.0;
    for (size_t c = 0; c < m * k * k; c++)
        total += counts[c];
    TRY(total > 0.0 ? MEL_OK : cli_fail(err, MEL_EDATA, "there are no rows to count"));
    for (size_t g = 0; g < m; g++)
        TRY(read_group(out + g * one, layout, g, counts + g * k * k, total, class_name, group_name, err));
    return MEL_OK;
}
