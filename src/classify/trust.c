/* How sure a rule is that was found on rows: its value, and what of its limits will hold. */
#include "base/stat.h"
#include "classify/certainty_parts.h"
#include "classify/evidence.h"
#include "classify/limits.h"
#include "classify/shared.h"
#include "classify/trust_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT_DRAWS = 2000, USUAL_FOLDS = 5, ROWS_AT_ONCE = 1 << 16 };

void mel_trust_options_init(mel_trust_options *opt)
{
    *opt = (mel_trust_options){ .struct_size = sizeof *opt, .seed = 1 };
}

void mel_trust_clear(mel_trust *sure)
{
    free(sure->threshold);
    free(sure->limit);
    *sure = (mel_trust){ 0 };
}

/* --- rules and what they come to ---------------------------------------------------------------- */

mel_status mel_trust_adjust(mel_adjustment *out, const mel_trust_work *w, const mel_rule_rows *rows,
                            mel_error *err)
{
    if (w->opt.calibrated)
        return mel_rule_calibrate(out, rows, w->metric, w->name, &w->rule, err);
    TRY(mel_adjustment_init(out, rows->n_classes, err));
    if (w->rule.class_share == NULL)
        return MEL_OK;
    MEL_AUTO_MEMORY double *from = mel_alloc(w->k, sizeof *from);
    if (from == NULL)
        return mel_fail_memory(err, "shares of classes");
    mel_rule_class_shares(from, rows);
    mel_adjustment_shift(out, w->k, from, w->rule.class_share);
    return MEL_OK;
}

mel_status mel_trust_find(mel_classifier **out, const mel_trust_work *w, const mel_rule_rows *rows,
                          const mel_metric *metric, mel_error *err)
{
    mel_adjustment adjustment = { 0 };
    mel_rule_options opt = w->rule;
    opt.threshold = NULL; /* draws have thresholds of their own */
    mel_rule_report report = { 0 };
    *out = NULL;
    mel_status status = opt.adjustment != NULL ? mel_trust_adjust(&adjustment, w, rows, err) : MEL_OK;
    opt.adjustment = opt.adjustment != NULL ? &adjustment : NULL;
    if (status == MEL_OK)
        status = mel_rule_find(out, &report, rows, metric != NULL ? metric : w->metric, w->name, &opt, err);
    mel_rule_report_clear(&report);
    mel_adjustment_clear(&adjustment);
    return status;
}

mel_status mel_trust_chances(double *chance, const mel_classifier *c, const mel_rule_rows *rows,
                             mel_error *err)
{
    const size_t k = rows->n_classes;
    mel_status status = MEL_OK;
    for (size_t r = 0; r < rows->n_rows && status == MEL_OK; r += ROWS_AT_ONCE) {
        const size_t left = rows->n_rows - r;
        const mel_undecided some = { .n = left < ROWS_AT_ONCE ? left : ROWS_AT_ONCE,
                                     .probability = rows->probability + r * k,
                                     .group = rows->group != NULL ? rows->group + r : NULL,
                                     .row_cost = rows->row_cost != NULL ? rows->row_cost + r * k : NULL };
        status = mel_classifier_chances_of(chance + r * c->n_decisions, c, &some, err);
    }
    return status;
}

static double referred_share(const mel_trust_work *w, const double *counts)
{
    double referred = 0.0, all = 0.0;
    for (size_t c = 0; c < w->m * w->k * w->d; c++) {
        referred += c % w->d == w->k ? counts[c] : 0.0;
        all += counts[c];
    }
    return referred / all;
}

double mel_trust_value(const mel_trust_work *w, const double *counts, double *room)
{
    double value = NAN;
    mel_trust_seen(room, w, counts);
    if (mel_measure_value(&value, w->measure, room, NULL) != MEL_OK)
        return NAN;
    return w->d > w->k ? value + w->refer * referred_share(w, counts) : value;
}

void mel_trust_widen(mel_certainty *value, double by)
{
    const double before = value->rows_deviation, after = hypot(before, by);
    if (!(before > 0.0))
        return;
    mel_interval *both[] = { &value->rows, &value->both };
    const double growth[] = { after / before, hypot(value->deviation, by) / value->deviation };
    for (size_t i = 0; i < 2; i++) {
        both[i]->low = value->value - (value->value - both[i]->low) * growth[i];
        both[i]->high = value->value + (both[i]->high - value->value) * growth[i];
    }
    value->rows_deviation = after;
    value->deviation = hypot(value->deviation, by);
}

static void move(mel_certainty *value, double by)
{
    mel_interval *all[] = { &value->rows, &value->metric, &value->both };
    value->value += by;
    for (size_t i = 0; i < 3; i++) {
        all[i]->low += by;
        all[i]->high += by;
    }
}

/* Measures by name: none that costs is below 0, no other above 1. Corrections and deviations do not know. */
static void keep_in_range(mel_certainty *value, const mel_measure *measure)
{
    const bool cost = mel_measure_orientation(measure) == MEL_COST;
    const double low = cost ? 0.0 : -INFINITY, high = cost ? INFINITY : 1.0;
    mel_interval *all[] = { &value->rows, &value->metric, &value->both };
    if (!isfinite(value->value))
        return;
    value->value = fmin(fmax(value->value, low), high);
    for (size_t i = 0; i < 3; i++)
        *all[i] = (mel_interval){ fmin(fmax(all[i]->low, low), high), fmin(fmax(all[i]->high, low), high) };
}

/* Draws of few rows, which have a prior, may miss what is seen: at the edge they never reach it. */
static mel_interval interval_with(mel_interval range, double seen)
{
    return (mel_interval){ fmin(range.low, seen), fmax(range.high, seen) };
}

/* --- cases that are referred -------------------------------------------------------------------- */

mel_status mel_trust_price_of_referring(double *out, const mel_trust_work *w, const double *counts,
                                        double *room, mel_error *err)
{
    const size_t n = mel_measure_cells(w->measure), k = w->k;
    const double sign = mel_measure_orientation(w->measure) == MEL_COST ? -1.0 : 1.0;
    double least = INFINITY, *slope = mel_alloc(n, sizeof *slope);
    if (slope == NULL)
        return mel_fail_memory(err, "the price of a referred case");
    const mel_status status = mel_trust_slopes(slope, w, counts, room, err);
    for (size_t c = 0; c < n && status == MEL_OK; c++) {
        const double lost = sign * (slope[c - c % k + c / k % k] - slope[c]);
        least = lost > 1e-9 ? fmin(least, lost) : least;
    }
    free(slope);
    *out = isfinite(least) ? -sign * w->rule.refer_cost * least : 0.0;
    return status;
}

/* The value with another metric, and one draw of it for each of `each`. */
static mel_status draw_referred(double *value, double *drawn, size_t each, mel_trust_work *w,
                                const double *counts, double *room, mel_rng *rng, mel_error *err)
{
    const size_t cells = w->m * w->k * w->d;
    double *draw = mel_alloc(cells, sizeof *draw);
    mel_status status = draw != NULL ? mel_trust_price_of_referring(&w->refer, w, counts, room, err)
                                     : mel_fail_memory(err, "how sure a value is");
    *value = status == MEL_OK ? mel_trust_value(w, counts, room) : (double)NAN;
    for (size_t b = 0; b < each && status == MEL_OK && draw != NULL; b++) {
        mel_draw_shares(draw, cells, counts, mel_cell_prior(cells), rng);
        drawn[b] = mel_trust_value(w, draw, room);
    }
    free(draw);
    return status;
}

/* As mel_certainty_of, by draws of the rows and of the metric. */
static mel_status of_referred(mel_certainty *out, mel_trust_work *w, const double *counts, double *room,
                              mel_error *err)
{
    const size_t n_metrics = w->opt.n_metrics, each = n_metrics > 0 ? LIMIT_DRAWS / n_metrics + 2 : 0;
    mel_status status = MEL_OK;
    mel_rng rng;
    double *drawn = NULL, *value = NULL, *both = NULL;
    const mel_part parts[] = { { LIMIT_DRAWS, { &drawn } },
                               { n_metrics + 1, { &value } },
                               { n_metrics * each + 1, { &both } } };
    *out = (mel_certainty){ .value = NAN };
    if (!mel_parts_new(MEL_PARTS(parts)))
        return mel_fail_memory(err, "how sure a value is");
    mel_rng_seed_stream(&rng, w->opt.seed, 3);
    double *kept = mel_coefficients_kept(w->measure, &status, err);
    if (status == MEL_OK)
        status = draw_referred(&out->value, drawn, LIMIT_DRAWS, w, counts, room, &rng, err);
    const double refer = w->refer;
    if (status == MEL_OK) {
        out->rows_deviation = out->deviation = sqrt(mel_variance(LIMIT_DRAWS, drawn));
        out->rows = out->both = interval_with(mel_interval_of(LIMIT_DRAWS, drawn), out->value);
        out->metric = (mel_interval){ out->value, out->value };
    }
    for (size_t s = 0; s < n_metrics && status == MEL_OK; s++) {
        status = mel_measure_set_coefficients(w->measure,
                                              w->opt.metrics + s * mel_metric_coefficients(w->metric), err);
        if (status == MEL_OK)
            status = draw_referred(&value[s], both + s * each, each, w, counts, room, &rng, err);
    }
    if (status == MEL_OK && n_metrics > 1) {
        out->metric_deviation = sqrt(mel_variance(n_metrics, value));
        out->deviation = hypot(out->rows_deviation, out->metric_deviation);
        out->metric = interval_with(mel_interval_of(n_metrics, value), out->value);
        out->both = interval_with(mel_interval_of(n_metrics * each, both), out->value);
    }
    w->refer = refer;
    free(drawn);
    return mel_coefficients_back(w->measure, kept, status, err);
}

/* --- value and limits --------------------------------------------------------------------------- */

mel_status mel_trust_of_counts(mel_certainty *out, mel_trust_work *w, const double *counts, double *room,
                               mel_error *err)
{
    if (w->d > w->k)
        return of_referred(out, w, counts, room, err);
    mel_trust_seen(room, w, counts);
    mel_certainty_options opt;
    mel_certainty_options_init(&opt);
    opt.seed = w->opt.seed;
    opt.n_metrics = w->opt.n_metrics;
    opt.metrics = w->opt.metrics;
    opt.known = w->opt.n_metrics == 0;
    const mel_status status = mel_certainty_of(out, w->measure, room, &opt, err);
    if (status == MEL_EDATA || status == MEL_ENUMERIC) { /* not defined by the labels */
        *out = (mel_certainty){ .value = NAN };
        return MEL_OK;
    }
    return status;
}

/* Cells of decisions that the rule never makes, whatever the rows are: it decides the same where each class
 * is certain, and so everywhere between. */
static mel_status find_never(bool *never, const mel_trust_work *w, mel_error *err)
{
    const size_t k = w->k, d = w->d;
    double *certain = NULL, *chance = NULL;
    const mel_part parts[] = { { k * k, { &certain } }, { k * d, { &chance } } };
    uint32_t *group = mel_alloc_zero(k, sizeof *group);
    if (group == NULL || !mel_parts_new(MEL_PARTS(parts))) {
        free(group);
        return mel_fail_memory(err, "how sure limits are");
    }
    mel_status status = MEL_OK;
    for (size_t i = 0; i < k; i++)
        certain[i * k + i] = 1.0;
    for (size_t g = 0; g < w->m && status == MEL_OK; g++) {
        const mel_undecided all = { .n = k, .probability = certain, .group = group };
        for (size_t i = 0; i < k; i++)
            group[i] = (uint32_t)g;
        status = mel_classifier_chances_of(chance, w->found, &all, err);
        for (size_t j = 0; j < d && status == MEL_OK; j++) {
            bool always = true;
            for (size_t i = 0; i < k; i++)
                always = always && chance[i * d + j] >= 1.0;
            for (size_t c = 0; c < k * d && always; c++)
                never[g * k * d + c] = c % d != j;
        }
    }
    free(group);
    free(certain);
    return status;
}

/* Shares that the counts make likely, nothing where the rule never decides so. */
static void draw_possible(double *draw, size_t cells, const double *counts, const bool *never, mel_rng *rng)
{
    double sum = 0.0;
    mel_draw_shares(draw, cells, counts, mel_cell_prior(cells), rng);
    for (size_t c = 0; c < cells; c++) {
        draw[c] = never[c] ? 0.0 : draw[c];
        sum += draw[c];
    }
    for (size_t c = 0; c < cells; c++)
        draw[c] /= sum;
}

/* Rows drawn anew, for limits. */
typedef struct {
    const mel_trust_work *of;
    const double *counts;
    size_t cells;
    double *draw, *value;
    bool *never;
    mel_rng rng;
} limit_draws;

static mel_shares draw_shares(limit_draws *d)
{
    const mel_trust_work *w = d->of;
    draw_possible(d->draw, d->cells, d->counts, d->never, &d->rng);
    return (mel_shares){ w->m, w->k, w->d, d->draw };
}

static mel_interval sure_number(limit_draws *d, const mel_limit *limit)
{
    for (size_t b = 0; b < LIMIT_DRAWS; b++) {
        const mel_shares now = draw_shares(d);
        d->value[b] = mel_limit_achieved(limit, &now);
    }
    const mel_shares seen = { d->of->m, d->of->k, d->of->d, d->counts };
    return interval_with(mel_interval_of(LIMIT_DRAWS, d->value), mel_limit_achieved(limit, &seen));
}

/* Groups may be equal, however different they look. */
static mel_status sure_difference(mel_interval *out, limit_draws *d, const mel_limit *limit, mel_error *err)
{
    const mel_shares seen = { d->of->m, d->of->k, d->of->d, d->counts };
    mel_extreme of = { .n_parts = mel_limit_parts(limit, &seen), .largest = true };
    of.n_draws = mel_extreme_draws(of.n_parts, LIMIT_DRAWS);
    double *is = NULL, *drawn = NULL;
    const mel_part parts[] = { { of.n_parts, { &is } }, { of.n_parts * of.n_draws, { &drawn } } };
    if (!mel_parts_new(MEL_PARTS(parts)))
        return mel_fail_memory(err, "what of the limits will hold");
    mel_limit_part_values(is, limit, &seen);
    for (size_t b = 0; b < of.n_draws; b++) {
        const mel_shares now = draw_shares(d);
        mel_limit_part_values(drawn + b * of.n_parts, limit, &now);
    }
    of.seen = is;
    of.drawn = drawn;
    const mel_status status = mel_interval_of_extreme(out, &of, err);
    out->low = fmax(out->low, 0.0);
    free(is);
    return status;
}

static mel_status sure_limits(mel_trust *out, const mel_trust_work *w, const double *counts, mel_error *err)
{
    const size_t n = w->rule.n_limits;
    limit_draws d = { .of = w, .counts = counts, .cells = w->m * w->k * w->d };
    d.draw = mel_alloc(d.cells, sizeof *d.draw);
    d.value = mel_alloc(LIMIT_DRAWS, sizeof *d.value);
    d.never = mel_alloc_zero(d.cells, sizeof *d.never);
    out->limit = mel_alloc(n + 1, sizeof *out->limit);
    const bool ready = d.draw != NULL && d.value != NULL && d.never != NULL && out->limit != NULL;
    mel_status status = ready ? MEL_OK : mel_fail_memory(err, "what of the limits will hold");
    if (ready && n > 0 && w->rows->row_cost == NULL)
        status = find_never(d.never, w, err);
    for (size_t l = 0; ready && l < n && status == MEL_OK; l++) {
        mel_rng_seed_stream(&d.rng, w->opt.seed, l);
        if (w->rule.limit[l].kind >= MEL_LIMIT_ODDS)
            status = sure_difference(&out->limit[l], &d, &w->rule.limit[l], err);
        else
            out->limit[l] = sure_number(&d, &w->rule.limit[l]);
    }
    free(d.draw);
    free(d.value);
    free(d.never);
    out->n_limits = status == MEL_OK ? n : 0;
    return status;
}

/* What the rule does on the rows that it was found on. */
static mel_status judge_found(mel_trust *out, mel_trust_work *w, mel_error *err)
{
    const size_t n = w->rows->n_rows, cells = w->m * w->k * w->d;
    double *chance = NULL, *counts = NULL, *squares = NULL, *seen = NULL, *weight = NULL, *growth = NULL,
           *of_rows = NULL, *row_squares = NULL;
    const mel_part parts[] = { { n * w->d, { &chance } },
                               { cells, { &counts, &squares, &seen, &of_rows, &row_squares } },
                               { n, { &weight } },
                               { w->k, { &growth } } };
    mel_rule_rows plain = *w->rows; /* limits are about rows, whatever they cost */
    plain.row_cost = NULL;
    if (!mel_parts_new(MEL_PARTS(parts)))
        return mel_fail_memory(err, "how sure a rule is");
    mel_status status = mel_trust_chances(chance, w->found, w->rows, err);
    mel_trust_decided of = { &plain, chance, weight, growth };
    if (status == MEL_OK)
        mel_trust_count(of_rows, row_squares, w, &of);
    mel_trust_count_alike(of_rows, row_squares, w);
    of.rows = w->rows;
    if (status == MEL_OK)
        mel_trust_count(counts, squares, w, &of);
    if (status == MEL_OK)
        status = mel_trust_settle_size(counts, squares, w, seen, err);
    if (status == MEL_OK)
        status = sure_limits(out, w, of_rows, err);
    if (status == MEL_OK)
        status = mel_trust_of_counts(&out->value, w, counts, seen, &out->why);
    if (status != MEL_OK && out->why.text[0] != '\0')
        status = mel_fail(err, status, "%s", out->why.text);
    out->seen = out->value.value;
    free(chance);
    return status;
}

/* A rule that was chosen by the labels: draws of the rows do not see all of its optimism, folds do. Where a
 * class has too few rows for them the draws must do. */
static mel_status settle_by_folds(mel_trust *out, mel_trust_work *w, mel_error *err)
{
    mel_error why = { 0 };
    w->opt.folds = USUAL_FOLDS;
    const mel_status status = mel_trust_fold(out, w, &why);
    w->opt.folds = 0;
    if (status == MEL_OK && isfinite(out->cross.value)) {
        out->value = out->cross;
        out->optimism = out->seen - out->value.value;
    }
    out->cross = (mel_certainty){ .value = NAN };
    return status == MEL_ENOMEM || status == MEL_ESTOPPED ? mel_fail(err, status, "%s", why.text) : MEL_OK;
}

static mel_status judge(mel_trust *out, mel_trust_work *w, mel_error *err)
{
    mel_status status = judge_found(out, w, err);
    if (status == MEL_OK)
        status = mel_trust_draw(out, w, err);
    if (status == MEL_OK && isfinite(out->value.value)) {
        move(&out->value, -out->optimism);
        mel_trust_widen(&out->value, w->spread);
        if (w->rule.evidence == MEL_BY_LABELS && w->opt.folds == 0)
            status = settle_by_folds(out, w, err);
    }
    if (status == MEL_OK && w->opt.folds > 0)
        status = mel_trust_fold(out, w, err);
    if (status == MEL_OK && w->metric == NULL && w->d == w->k) {
        keep_in_range(&out->value, w->measure);
        keep_in_range(&out->cross, w->measure);
    }
    return status;
}

mel_status mel_trust_begin(mel_trust_work *out, const mel_classifier *found, const mel_rule_rows *rows,
                           const mel_metric *metric, const char *name, const mel_rule_options *rule,
                           mel_error *err)
{
    TRY(mel_rule_rows_here(rows, err));
    *out = (mel_trust_work){ .rows = rows,
                             .metric = metric,
                             .name = name,
                             .rule = *rule,
                             .found = found,
                             .k = rows->n_classes,
                             .d = found != NULL             ? mel_classifier_get(found).n_decisions
                                  : isnan(rule->refer_cost) ? rows->n_classes
                                                            : rows->n_classes + 1,
                             .m = rows->n_groups > 1 ? rows->n_groups : 1 };
    mel_trust_options_init(&out->opt);
    const size_t groups =
        metric == NULL || mel_metric_layout(metric)->n_groups > 1 || out->m == 1 ? rows->n_groups : 0;
    const mel_status status = metric != NULL ? mel_measure_metric(&out->measure, metric, out->k, groups, err)
                                             : mel_measure_together(&out->measure, name, out->k, out->m, err);
    if (status == MEL_OK)
        mel_measure_call(out->measure, rows->class_name, rows->group_name);
    return status;
}

/* The metrics that are possible, as for every other value. */
static mel_status settle_metrics(mel_trust_work *w, double **drawn, mel_error *err)
{
    mel_certainty_options opt;
    mel_certainty_options_init(&opt);
    opt.seed = w->opt.seed;
    opt.n_metrics = w->opt.n_metrics;
    opt.metrics = w->opt.metrics;
    TRY(mel_certainty_settle(&opt, drawn, w->measure, &opt, err));
    w->opt.n_metrics = opt.n_metrics;
    w->opt.metrics = opt.metrics;
    return MEL_OK;
}

mel_status mel_rule_trust(mel_trust *out, const mel_classifier *found, const mel_rule_rows *rows,
                          const mel_metric *metric, const char *name, const mel_rule_options *rule,
                          const mel_trust_options *opt, mel_error *err)
{
    *out = (mel_trust){ .value.value = NAN, .seen = NAN, .cross.value = NAN, .regret = NAN };
    mel_trust_work w = { 0 };
    MEL_AUTO_MEMORY double *drawn = NULL;
    mel_status status = mel_trust_begin(&w, found, rows, metric, name, rule, err);
    if (status == MEL_OK)
        status = mel_options_take(&w.opt, sizeof w.opt, opt, "options on how sure a rule is", err);
    if (status == MEL_OK)
        status = settle_metrics(&w, &drawn, err);
    if (status == MEL_OK)
        status = judge(out, &w, err);
    mel_measure_free(w.measure);
    if (status != MEL_OK)
        mel_trust_clear(out);
    return status;
}
