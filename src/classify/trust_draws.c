/* Rules found again on rows that are drawn anew: how optimistic a value is, where thresholds may lie. */
#include "base/stat.h"
#include "classify/certainty.h"
#include "classify/steps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Two classes: rows of about the same score stand together, so that a draw takes a moment for any number of
 * rows. Otherwise rows are drawn one by one, and more than MOST_ROWS of them not at all: what the choice of
 * the rule costs is then far below what the rows leave open. */
enum { CELLS = 1500, FEWEST_BINS = 50, MOST_ROWS = 20000, MOST_BLOCKS = 64 };
enum { USUAL_DRAWS = 200, LEAST_DRAWS = 10, DRAWN_STARTS = 2, DRAWN_STEPS = 300 };
/* Rows times classes times steps that all draws may take together. */
static const double most_work = 4e7;
static const double drawn_tolerance = 1e-5;
/* Thresholds that differ by less are the same. */
static const double same_threshold = 1e-9;
/* Draws that must agree on what kind of rule it is. */
static const double most_agree = 0.8;

/* Rows, or cells of rows with about the same score, the same group and label. */
typedef struct {
    mel_rule_rows rows; /* weight is `drawn` */
    double *own;        /* memory of probability and weights */
    uint32_t *codes;    /* of label and group; NULL: lent */
    double *weight;     /* of all rows of a cell */
    double *count;      /* rows in a cell */
    double *drawn;
} cells;

typedef struct {
    mel_trust_work *of;
    cells at;
    size_t draws, n_blocks;
    double *chance, *counts, *seen;
    double *usual;      /* chances of the rule of the rows as they are */
    double *count_room; /* of mel_trust_count */
    double *chosen;     /* by draw: the value on the rows at hand of the rule it leads to */
    double *gain;       /* by draw: how much better it looks on the draw */
    double *more;       /* by draw: the same, beyond what the rule of the rows as they are gains there */
    size_t n_chosen;    /* those that have a value */
    bool inverted[MOST_BLOCKS]; /* the thresholds of the rule are from above */
    double *threshold[3];       /* by block and draw: rows drawn, metrics drawn, both */
    size_t n_thresholds[3];     /* draws with thresholds */
    double own[MOST_BLOCKS];    /* thresholds of the rule */
    double *regret;             /* by draw: what the rule costs more than the best one */
    size_t n_regrets;
    mel_metric *metric; /* with drawn coefficients; NULL: none */
    mel_rng rng;
} drawing;

static void drawing_clear(drawing *d)
{
    mel_metric_free(d->metric);
    free(d->at.own);
    free(d->at.codes);
    free(d->chance);
}

/* --- cells -------------------------------------------------------------------------------------- */

/* One cell of `bin` for each group and label; empty ones are dropped later. */
static void add_to_cell(cells *c, const mel_rule_rows *rows, size_t r, size_t cell, size_t group)
{
    const double weight = rows->weight != NULL ? rows->weight[r] : 1.0,
                 count = rows->count != NULL ? rows->count[r] : 1.0;
    double *p = (double *)c->rows.probability + 2 * cell;
    p[1] += count * rows->probability[2 * r + 1];
    c->weight[cell] += weight;
    c->count[cell] += count;
    ((uint32_t *)c->rows.label)[cell] = rows->label[r];
    ((uint32_t *)c->rows.group)[cell] = (uint32_t)group;
}

static void pack(cells *c, size_t n)
{
    double *p = c->own;
    uint32_t *label = c->codes, *group = c->codes + n;
    size_t to = 0;
    for (size_t cell = 0; cell < n; cell++) {
        if (!(c->count[cell] > 0.0))
            continue;
        p[2 * to + 1] = p[2 * cell + 1] / c->count[cell];
        p[2 * to] = 1.0 - p[2 * to + 1];
        label[to] = label[cell];
        group[to] = group[cell];
        c->weight[to] = c->weight[cell];
        c->count[to++] = c->count[cell];
    }
    c->rows.n_rows = to;
}

/* Rows of two classes by score, group and label: in the order of their scores into bins of about as many rows
 * each; equal scores share one. */
static mel_status make_cells(cells *c, const mel_rule_rows *rows, mel_error *err)
{
    const size_t n = rows->n_rows, m = rows->n_groups > 1 ? rows->n_groups : 1, usual = CELLS / (2 * m);
    const size_t bins = usual > FEWEST_BINS ? usual : FEWEST_BINS, most = 2 * m * bins;
    MEL_AUTO_MEMORY double *score = mel_alloc(n, sizeof *score);
    MEL_AUTO_MEMORY size_t *order = mel_alloc(n, sizeof *order);
    c->codes = mel_alloc_zero(2 * most, sizeof *c->codes);
    const mel_part parts[] = { { 2 * most, { &c->own } }, { most, { &c->weight, &c->count, &c->drawn } } };
    if (score == NULL || order == NULL || c->codes == NULL || !mel_parts_new(MEL_PARTS(parts)))
        return mel_fail_memory(err, "rows by score");
    c->rows.probability = c->own;
    c->rows.label = c->codes;
    c->rows.group = c->codes + most;
    for (size_t r = 0; r < n; r++)
        score[r] = rows->probability[2 * r + 1];
    TRY(mel_argsort(n, score, order, err));
    for (size_t i = 0, bin = 0; i < n; i++) {
        const size_t r = order[i], g = m > 1 ? rows->group[r] : 0;
        if (i > 0 && score[r] > score[order[i - 1]] && i * bins / n > bin)
            bin = i * bins / n;
        add_to_cell(c, rows, r, (bin * m + g) * 2 + rows->label[r], g);
    }
    pack(c, most);
    return MEL_OK;
}

static mel_status take_rows(cells *c, const mel_rule_rows *rows, mel_error *err)
{
    const mel_part parts[] = { { rows->n_rows, { &c->weight, &c->count, &c->drawn } } };
    if (!mel_parts_new(MEL_PARTS(parts)))
        return mel_fail_memory(err, "rows to draw from");
    c->own = c->weight;
    for (size_t r = 0; r < rows->n_rows; r++) {
        c->weight[r] = rows->weight != NULL ? rows->weight[r] : 1.0;
        c->count[r] = rows->count != NULL ? rows->count[r] : 1.0;
    }
    return MEL_OK;
}

static bool by_cells(const mel_rule_rows *rows)
{
    return rows->n_classes == 2 && rows->row_cost == NULL && rows->n_rows > CELLS;
}

static mel_status gather(drawing *d, mel_error *err)
{
    const mel_rule_rows *rows = d->of->rows;
    d->at.rows = *rows;
    TRY((by_cells(rows) ? make_cells : take_rows)(&d->at, rows, err));
    d->at.rows.weight = d->at.drawn;
    d->at.rows.count = rows->count != NULL ? d->at.count : NULL;
    return MEL_OK;
}

/* Weights that these rows make likely. */
static void draw_weights(drawing *d)
{
    cells *c = &d->at;
    for (size_t i = 0; i < c->rows.n_rows; i++)
        c->drawn[i] = c->weight[i] / c->count[i] * mel_rng_gamma(&d->rng, c->count[i]);
}

static void usual_weights(drawing *d)
{
    memcpy(d->at.drawn, d->at.weight, d->at.rows.n_rows * sizeof *d->at.drawn);
}

/* --- one rule ----------------------------------------------------------------------------------- */

/* Thresholds on the model's own probability, one for each block, and which of them are from above; false: the
 * rule is not made of such. */
static bool thresholds_of(double *out, bool *inverted, const mel_classifier *c, size_t n_blocks)
{
    if (c->n_classes != 2 || c->n_decisions != 2 || c->cost_column != NULL || mel_classifier_rules(c) != 1 ||
        c->adjustment.n_classes > 0 || mel_classifier_blocks(c) != n_blocks)
        return false;
    for (size_t b = 0; b < n_blocks; b++) {
        const mel_rule rule =
            c->mixture.n > 0 ? c->mixture.rule[0] : mel_gain_threshold(c->blend.gain + 4 * b);
        inverted[b] = rule.inverted;
        out[b] = fmin(fmax(rule.threshold, 0.0), 1.0);
    }
    return true;
}

static void keep_thresholds(drawing *d, const mel_classifier *c, size_t kind)
{
    double here[MOST_BLOCKS] = { 0 };
    bool inverted[MOST_BLOCKS] = { 0 };
    if (d->n_blocks == 0 || !thresholds_of(here, inverted, c, d->n_blocks) ||
        memcmp(inverted, d->inverted, sizeof inverted) != 0)
        return;
    for (size_t b = 0; b < d->n_blocks; b++)
        d->threshold[kind][b * d->draws + d->n_thresholds[kind]] = here[b];
    d->n_thresholds[kind]++;
}

/* The value of a rule by the labels of the cells with these weights. */
static double value_with(drawing *d, const double *chance, const double *weight)
{
    const mel_trust_work *w = d->of;
    mel_rule_rows rows = d->at.rows;
    rows.weight = weight;
    memset(d->counts, 0, w->cells * sizeof *d->counts);
    mel_trust_count(d->counts, NULL, w, &rows, chance, d->count_room);
    return mel_trust_value(w, d->counts, d->seen);
}

static mel_status keep_value(drawing *d, const mel_classifier *c, mel_error *err)
{
    double of[2][2]; /* the rule of the draw, then the usual one: on the rows at hand, then on the draw */
    TRY(mel_trust_chances(d->chance, c, &d->at.rows, err));
    for (size_t i = 0; i < 4; i++)
        of[i / 2][i % 2] =
            value_with(d, i < 2 ? d->chance : d->usual, i % 2 == 0 ? d->at.weight : d->at.drawn);
    const double gain = of[0][1] - of[0][0], any = of[1][1] - of[1][0];
    if (isfinite(gain)) {
        d->chosen[d->n_chosen] = of[0][0];
        d->more[d->n_chosen] = isfinite(any) ? gain - any : gain;
        d->gain[d->n_chosen++] = gain;
    }
    return MEL_OK;
}

/* Regrets are known of rules that are thresholds, by the probabilities, without limits, for a weighted sum.
 */
static bool has_regret(const drawing *d)
{
    const mel_trust_work *w = d->of;
    return w->metric != NULL && mel_family_about(mel_metric_family(w->metric))->sum && d->n_blocks > 0 &&
           w->rule.evidence == MEL_BY_MODEL && w->rule.n_limits == 0 && w->rule.class_share == NULL &&
           isnan(w->rule.refer_cost) && d->at.rows.row_cost == NULL;
}

/* What deciding everything rightly is worth where a rule achieves these shares. */
static double perfect_value(drawing *d, const double *shares)
{
    const mel_trust_work *w = d->of;
    memset(d->counts, 0, w->cells * sizeof *d->counts);
    for (size_t c = 0; c < w->cells; c++)
        d->counts[c / w->d * w->d + c / w->d % w->k] += shares[c];
    return mel_trust_value(w, d->counts, d->seen);
}

/* What the mistakes of the rule cost more than those of the best one if the rows of the draw are right about
 * the probabilities, and this is the metric; NaN: nothing is known. */
static mel_status find_regret(double *out, drawing *d, const mel_metric *metric, mel_error *err)
{
    mel_trust_work *w = d->of;
    mel_rule_options opt = w->rule;
    MEL_AUTO_CLEAR(mel_adjustment) adjustment = { 0 };
    MEL_AUTO_CLEAR(mel_rule_report) report = { 0 };
    MEL_AUTO_CLEAR(mel_lent_metric) lent = { 0 };
    MEL_AUTO(mel_classifier) *c = NULL;
    if (opt.adjustment != NULL)
        TRY(mel_trust_adjust(&adjustment, w, &d->at.rows, err));
    opt.adjustment = opt.adjustment != NULL ? &adjustment : NULL;
    opt.threshold = d->own;
    opt.n_thresholds = d->n_blocks;
    TRY(mel_rule_find(&c, &report, &d->at.rows, metric, NULL, &opt, err));
    TRY(mel_metric_lend(&lent, w->measure, err));
    TRY(mel_measure_set_coefficients(w->measure, mel_metric_coefficient(metric), err));
    *out = fabs(report.optimum - report.value) / fabs(perfect_value(d, report.shares) - report.optimum);
    return MEL_OK;
}

static mel_status keep_regret(drawing *d, const mel_metric *metric, mel_error *err)
{
    double extra = NAN;
    mel_error why = { 0 };
    const mel_status status = find_regret(&extra, d, metric, &why);
    if (status == MEL_OK && isfinite(extra))
        d->regret[d->n_regrets++] = extra;
    return mel_trust_excuse(status, &why, err);
}

/* A draw for which there is no rule (limits that cannot be met, a metric that is none) counts for nothing. */
static mel_status keep_rule(drawing *d, size_t kind, const mel_metric *metric, mel_error *err)
{
    MEL_AUTO(mel_classifier) *c = NULL;
    mel_error why = { 0 };
    const mel_status status = mel_trust_find(&c, d->of, &d->at.rows, metric, &why);
    if (status != MEL_OK)
        return mel_trust_excuse(status, &why, err);
    keep_thresholds(d, c, kind);
    return kind == 0 ? keep_value(d, c, err) : MEL_OK;
}

/* --- all draws ---------------------------------------------------------------------------------- */

/* false in *there: no metric, or none that its intervals allow. */
static mel_status next_metric(bool *there, drawing *d, size_t draw, mel_error *err)
{
    const mel_trust_options *opt = &d->of->opt;
    *there = false;
    if (d->metric == NULL)
        return MEL_OK;
    const size_t which = draw * opt->n_metrics / d->draws;
    const mel_status status = mel_metric_set_coefficients(
        d->metric, opt->metrics + which * mel_metric_coefficients(d->metric), NULL);
    *there = status == MEL_OK;
    return status == MEL_ENOMEM ? mel_fail_memory(err, "a metric") : MEL_OK;
}

/* What the rule of the rows as they are decides, then the rules of all draws. */
static mel_status draw_all(drawing *d, mel_error *err)
{
    MEL_AUTO(mel_classifier) *c = NULL;
    usual_weights(d);
    TRY(mel_trust_find(&c, d->of, &d->at.rows, NULL, err));
    TRY(mel_trust_chances(d->usual, c, &d->at.rows, err));
    for (size_t draw = 0; draw < d->draws; draw++) {
        bool metric = false;
        TRY(next_metric(&metric, d, draw, err));
        if (metric) {
            usual_weights(d);
            TRY(keep_rule(d, 1, d->metric, err));
        }
        draw_weights(d);
        TRY(keep_rule(d, 0, NULL, err));
        if (metric)
            TRY(keep_rule(d, 2, d->metric, err));
        if (has_regret(d))
            TRY(keep_regret(d, metric ? d->metric : d->of->metric, err));
    }
    return MEL_OK;
}

/* The middle 95%. Of n draws the r-th smallest has r of n + 1 below it on average; few draws would otherwise
 * promise too much. */
static mel_interval interval_in(drawing *d, size_t kind, size_t block, double *mean)
{
    const size_t n = d->n_thresholds[kind];
    const double end = fmax(0.025 * (double)(n + 1) - 1.0, 0.0) / fmax((double)n - 1.0, 1.0);
    double *of = d->threshold[kind] + block * d->draws;
    *mean = mel_mean(n, of);
    mel_sort(n, of);
    return (mel_interval){ mel_quantile_sorted(n, of, end), mel_quantile_sorted(n, of, 1.0 - end) };
}

static void put_thresholds(mel_trust *out, drawing *d)
{
    const double *own = d->own;
    const double enough = most_agree * (double)d->draws;
    double mean = 0.0;
    if (d->n_blocks == 0 || (double)d->n_thresholds[0] < enough)
        return;
    const bool metric = (double)d->n_thresholds[1] >= enough && (double)d->n_thresholds[2] >= enough;
    for (size_t b = 0; b < d->n_blocks; b++) {
        mel_trust_threshold *t = &out->threshold[b];
        t->threshold = own[b];
        t->rows = interval_in(d, 0, b, &t->mean);
        t->metric = (mel_interval){ own[b], own[b] };
        if (!(t->rows.high - t->rows.low > same_threshold)) {
            t->rows = t->metric;
            t->mean = own[b];
            t->given = d->of->found->given;
        }
        t->both = t->rows;
        if (metric) {
            t->metric = interval_in(d, 1, b, &mean);
            t->both = interval_in(d, 2, b, &t->mean);
        }
    }
    out->n_thresholds = d->n_blocks;
}

/* Rows that would be drawn one by one. */
static bool too_many(const mel_trust_work *w)
{
    const mel_rule_rows *rows = w->rows;
    return w->opt.draws == 0 && !by_cells(rows) && rows->n_rows > MOST_ROWS;
}

/* As many as take a moment. */
static size_t draws_of(const drawing *d)
{
    const mel_trust_work *w = d->of;
    if (w->opt.draws > 0)
        return w->opt.draws;
    if (d->at.rows.n_rows > MOST_ROWS)
        return 0;
    const double each = (double)d->at.rows.n_rows * (double)(w->k * w->m * 20), may = most_work / each;
    const double draws = fmin(may, (double)USUAL_DRAWS);
    return draws > (double)LEAST_DRAWS ? (size_t)draws : LEAST_DRAWS;
}

static mel_status make_room(drawing *d, mel_error *err)
{
    const mel_trust_work *w = d->of;
    const size_t n = d->at.rows.n_rows, blocks = d->n_blocks * d->draws;
    const mel_part parts[] = { { n * w->d, { &d->chance, &d->usual } },
                               { w->cells, { &d->counts, &d->seen } },
                               { mel_trust_count_room(&d->at.rows), { &d->count_room } },
                               { d->draws, { &d->gain, &d->more, &d->chosen, &d->regret } },
                               { blocks + 1, { &d->threshold[0], &d->threshold[1], &d->threshold[2] } } };
    if (!mel_parts_new(MEL_PARTS(parts)))
        return mel_fail_memory(err, "how sure a rule is");
    return w->opt.n_metrics > 1 && w->metric != NULL ? mel_metric_copy(&d->metric, w->metric, err) : MEL_OK;
}

/* Rough rules will do. */
static mel_status draw_roughly(drawing *d, mel_error *err)
{
    mel_trust_work *w = d->of;
    const mel_rule_options kept = w->rule;
    w->rule.tolerance = fmax(kept.tolerance, drawn_tolerance);
    w->rule.starts = DRAWN_STARTS;
    w->rule.most_steps = DRAWN_STEPS;
    w->rule.threads = 1;
    const mel_status status = draw_all(d, err);
    w->rule = kept;
    return status;
}

mel_status mel_trust_draw(mel_trust *out, mel_trust_work *w, mel_error *err)
{
    MEL_AUTO_CLEAR(drawing) d = { .of = w };
    const size_t blocks = mel_classifier_blocks(w->found);
    mel_rng_seed_stream(&d.rng, w->opt.seed, 2);
    d.n_blocks = blocks <= MOST_BLOCKS && thresholds_of(d.own, d.inverted, w->found, blocks) ? blocks : 0;
    if (too_many(w))
        return MEL_OK;
    TRY(gather(&d, err));
    d.draws = draws_of(&d);
    if (d.draws == 0)
        return MEL_OK;
    out->threshold = mel_alloc_zero(d.n_blocks + 1, sizeof *out->threshold);
    if (out->threshold == NULL)
        return mel_fail_memory(err, "thresholds");
    TRY(make_room(&d, err));
    TRY(draw_roughly(&d, err));
    const double enough = most_agree * (double)d.draws;
    if ((double)d.n_chosen >= enough) {
        out->optimism = mel_mean(d.n_chosen, d.gain);
        /* At a limit other rules are worth another value in the first place, which is not an error of this
         * one: what they gain beyond it counts. */
        w->spread = sqrt(fmin(mel_variance(d.n_chosen, d.chosen), mel_variance(d.n_chosen, d.more)));
    }
    put_thresholds(out, &d);
    if ((double)d.n_regrets >= enough) {
        const double n = (double)d.n_regrets,
                     end = 1.0 - fmax(0.05 * (n + 1.0) - 1.0, 0.0) / fmax(n - 1.0, 1.0);
        out->regret = mel_quantile_sort(d.n_regrets, d.regret, end);
    }
    return MEL_OK;
}
