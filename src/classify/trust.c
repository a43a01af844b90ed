/* How sure a rule is that was found on rows: what its decisions come to, its value, and what of its limits
 * will hold. */
#include "base/stat.h"
#include "classify/certainty.h"
#include "classify/goal.h"
#include "classify/steps.h"

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

mel_status mel_trust_excuse(mel_status status, const mel_error *why, mel_error *err)
{
    return status == MEL_ENOMEM || status == MEL_ESTOPPED ? mel_fail(err, status, "%s", why->text) : MEL_OK;
}

/* --- rules and what they decide ------------------------------------------------------------------- */

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
    MEL_AUTO_CLEAR(mel_adjustment) adjustment = { 0 };
    mel_rule_options opt = w->rule;
    *out = NULL;
    opt.threshold = NULL; /* draws have thresholds of their own */
    if (opt.adjustment != NULL)
        TRY(mel_trust_adjust(&adjustment, w, rows, err));
    opt.adjustment = opt.adjustment != NULL ? &adjustment : NULL;
    return mel_rule_find(out, NULL, rows, metric != NULL ? metric : w->metric, w->name, &opt, err);
}

mel_status mel_trust_chances(double *chance, const mel_classifier *c, const mel_rule_rows *rows,
                             mel_error *err)
{
    const size_t k = rows->n_classes;
    for (size_t r = 0; r < rows->n_rows; r += ROWS_AT_ONCE) {
        const size_t left = rows->n_rows - r;
        const mel_undecided some = { .n = left < ROWS_AT_ONCE ? left : ROWS_AT_ONCE,
                                     .probability = rows->probability + r * k,
                                     .group = rows->group != NULL ? rows->group + r : NULL,
                                     .row_cost = rows->row_cost != NULL ? rows->row_cost + r * k : NULL };
        TRY(mel_classifier_chances(chance + r * c->n_decisions, c, &some, err));
    }
    return MEL_OK;
}

void mel_taken_rows_clear(mel_taken_rows *taken)
{
    free(taken->probability);
    free(taken->codes);
    *taken = (mel_taken_rows){ 0 };
}

mel_status mel_rule_rows_take(mel_taken_rows *out, const mel_rule_rows *all, const size_t *times,
                              mel_error *err)
{
    const size_t k = all->n_classes;
    size_t n = 0, to = 0;
    for (size_t r = 0; r < all->n_rows; r++)
        n += times[r] > 0;
    *out = (mel_taken_rows){ .rows = *all };
    double *cost = NULL, *weight = NULL, *count = NULL;
    const mel_part parts[] = { { n * k, { &out->probability, &cost } }, { n, { &weight, &count } } };
    out->codes = mel_alloc(n, 2 * sizeof *out->codes);
    if (out->codes == NULL || !mel_parts_new(MEL_PARTS(parts)))
        return mel_fail_memory(err, "some of the rows");
    uint32_t *label = out->codes, *group = label + n;
    for (size_t r = 0; r < all->n_rows; r++) {
        if (times[r] == 0)
            continue;
        memcpy(out->probability + to * k, all->probability + r * k, k * sizeof *cost);
        if (all->row_cost != NULL)
            memcpy(cost + to * k, all->row_cost + r * k, k * sizeof *cost);
        label[to] = all->label[r];
        group[to] = all->group != NULL ? all->group[r] : 0;
        count[to] = (double)times[r];
        weight[to] = (all->weight != NULL ? all->weight[r] : 1.0) * count[to] /
                     (all->count != NULL ? all->count[r] : 1.0);
        to++;
    }
    out->rows.n_rows = n;
    out->rows.probability = out->probability;
    out->rows.label = label;
    out->rows.group = all->group != NULL ? group : NULL;
    out->rows.weight = all->weight != NULL || all->count != NULL ? weight : NULL;
    out->rows.count = all->count != NULL ? count : NULL;
    out->rows.row_cost = all->row_cost != NULL ? cost : NULL;
    return MEL_OK;
}

/* --- what decisions come to, and as how many rows of equal weight that is to be taken ------------- */

void mel_trust_count(double *counts, double *squares, const mel_trust_work *w, const mel_rule_rows *rows,
                     const double *chance, double *room)
{
    mel_rule_label_weights(room, rows, w->rule.class_share, room + rows->n_rows);
    for (size_t r = 0; r < rows->n_rows; r++, chance += w->d) {
        const size_t g = w->m > 1 ? rows->group[r] : 0, first = (g * w->k + rows->label[r]) * w->d;
        const double weight = room[r],
                     square = weight * weight / (rows->count != NULL ? rows->count[r] : 1.0);
        for (size_t j = 0; j < w->d; j++) {
            counts[first + j] += weight * chance[j];
            if (squares != NULL)
                squares[first + j] += square * chance[j];
        }
    }
}

/* Which number of the measure a count belongs to: what is referred is decided right, at a price. */
static size_t seen_at(const mel_trust_work *w, size_t c)
{
    const size_t r = c / w->d, j = c % w->d;
    return (r * w->k + (j < w->k ? j : r % w->k)) % mel_measure_cells(w->measure);
}

/* What the measure looks at. */
static void put_seen(double *out, const mel_trust_work *w, const double *counts)
{
    memset(out, 0, mel_measure_cells(w->measure) * sizeof *out);
    for (size_t c = 0; c < w->cells; c++)
        out[seen_at(w, c)] += counts[c];
}

/* The slope of the value in each share that the measure looks at, less their mean: what a row there says. */
static mel_status find_slopes(double *slope, const mel_trust_work *w, const double *counts, double *room,
                              mel_error *err)
{
    const size_t n = mel_measure_cells(w->measure);
    double all = 0.0, mean = 0.0;
    put_seen(room, w, counts);
    for (size_t c = 0; c < n; c++)
        all += room[c];
    for (size_t c = 0; c < n; c++)
        room[c] /= all;
    TRY(mel_measure_slopes(slope, w->measure, room, err));
    for (size_t c = 0; c < n; c++)
        mean += room[c] * slope[c];
    for (size_t c = 0; c < n; c++)
        slope[c] -= mean;
    return MEL_OK;
}

/* Rows of different weights are worth fewer. slope NULL: all of them say as much. False: nothing is known. */
static bool settle_size(double *counts, const double *squares, const mel_trust_work *w, const double *slope)
{
    double sum = 0.0, of_squares = 0.0;
    for (size_t c = 0; c < w->cells; c++) {
        const double says = slope != NULL ? slope[seen_at(w, c)] * slope[seen_at(w, c)] : 1.0;
        sum += counts[c] * says;
        of_squares += squares[c] * says;
    }
    if (!(sum > 0.0 && of_squares > 0.0 && isfinite(sum) && isfinite(of_squares)))
        return false;
    for (size_t c = 0; c < w->cells; c++)
        counts[c] *= sum / of_squares;
    return true;
}

mel_status mel_trust_settle_size(double *counts, const double *squares, const mel_trust_work *w, bool alike,
                                 double *room, mel_error *err)
{
    MEL_AUTO_MEMORY double *slope = mel_alloc(mel_measure_cells(w->measure), sizeof *slope);
    if (slope == NULL)
        return mel_fail_memory(err, "how sure a rule is");
    if (!alike && w->d == w->k) { /* what referred cases cost is not in the measure's slopes */
        const mel_status status = find_slopes(slope, w, counts, room, err);
        if (status == MEL_ENOMEM || (status == MEL_OK && settle_size(counts, squares, w, slope)))
            return status;
    }
    (void)settle_size(counts, squares, w, NULL);
    return MEL_OK;
}

/* --- values --------------------------------------------------------------------------------------- */

double mel_trust_value(const mel_trust_work *w, const double *counts, double *room)
{
    double value = NAN, referred = 0.0, all = 0.0;
    put_seen(room, w, counts);
    if (mel_measure_value(&value, w->measure, room, NULL) != MEL_OK)
        return NAN;
    if (w->d == w->k)
        return value;
    for (size_t c = 0; c < w->cells; c++) {
        referred += c % w->d == w->k ? counts[c] : 0.0;
        all += counts[c];
    }
    return value + w->refer * referred / all;
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

/* Moves a value and its intervals, within a range. */
static void move_value(mel_certainty *value, double by, double low, double high)
{
    mel_interval *all[] = { &value->rows, &value->metric, &value->both };
    if (!isfinite(value->value))
        return;
    value->value = fmin(fmax(value->value + by, low), high);
    for (size_t i = 0; i < 3; i++)
        *all[i] = (mel_interval){ fmin(fmax(all[i]->low + by, low), high),
                                  fmin(fmax(all[i]->high + by, low), high) };
}

/* Draws of few rows, which have a prior, may miss what is seen: at the edge they never reach it. */
static mel_interval interval_with(mel_interval range, double seen)
{
    return (mel_interval){ fmin(range.low, seen), fmax(range.high, seen) };
}

mel_status mel_trust_price_of_referring(double *out, const mel_trust_work *w, const double *counts,
                                        double *room, mel_error *err)
{
    const size_t n = mel_measure_cells(w->measure), k = w->k;
    const double sign = mel_measure_orientation(w->measure) == MEL_COST ? -1.0 : 1.0;
    double least = INFINITY;
    MEL_AUTO_MEMORY double *slope = mel_alloc(n, sizeof *slope);
    if (slope == NULL)
        return mel_fail_memory(err, "the price of a referred case");
    TRY(find_slopes(slope, w, counts, room, err));
    for (size_t c = 0; c < n; c++) {
        const double lost = sign * (slope[c - c % k + c / k % k] - slope[c]);
        least = lost > 1e-9 ? fmin(least, lost) : least;
    }
    *out = isfinite(least) ? -sign * w->rule.refer_cost * least : 0.0;
    return MEL_OK;
}

/* The value by the measure as it is now, and n draws of it. draw: as many numbers as there are counts. */
static mel_status draw_referred(double *value, double *drawn, size_t n, mel_trust_work *w,
                                const double *counts, double *draw, double *room, mel_rng *rng,
                                mel_error *err)
{
    TRY(mel_trust_price_of_referring(&w->refer, w, counts, room, err));
    *value = mel_trust_value(w, counts, room);
    for (size_t b = 0; b < n; b++) {
        mel_draw_shares(draw, w->cells, counts, rng);
        drawn[b] = mel_trust_value(w, draw, room);
    }
    return MEL_OK;
}

/* As mel_certainty_of, by draws of the rows and of the metric. */
static mel_status value_with_referred(mel_certainty *out, mel_trust_work *w, const double *counts,
                                      double *room, mel_error *err)
{
    const size_t n_metrics = w->opt.n_metrics, each = n_metrics > 0 ? LIMIT_DRAWS / n_metrics + 2 : 0;
    MEL_AUTO_CLEAR(mel_lent_metric) lent = { 0 };
    mel_rng rng;
    mel_rng_seed_stream(&rng, w->opt.seed, 3);
    *out = (mel_certainty){ .value = NAN };
    MEL_AUTO_MEMORY double *drawn = mel_alloc(LIMIT_DRAWS + n_metrics * (each + 1) + w->cells, sizeof *drawn);
    if (drawn == NULL)
        return mel_fail_memory(err, "how sure a value is");
    double *both = drawn + LIMIT_DRAWS, *value = both + n_metrics * each, *draw = value + n_metrics;
    TRY(mel_metric_lend(&lent, w->measure, err));
    TRY(draw_referred(&out->value, drawn, LIMIT_DRAWS, w, counts, draw, room, &rng, err));
    const double refer = w->refer;
    out->rows_deviation = out->deviation = sqrt(mel_variance(LIMIT_DRAWS, drawn));
    out->rows = out->both = interval_with(mel_interval_of(LIMIT_DRAWS, drawn), out->value);
    out->metric = (mel_interval){ out->value, out->value };
    for (size_t s = 0; s < n_metrics; s++) {
        TRY(mel_measure_set_coefficients(w->measure, w->opt.metrics + s * mel_metric_coefficients(w->metric),
                                         err));
        TRY(draw_referred(&value[s], both + s * each, each, w, counts, draw, room, &rng, err));
    }
    w->refer = refer;
    if (n_metrics < 2)
        return MEL_OK;
    out->metric_deviation = sqrt(mel_variance(n_metrics, value));
    out->deviation = hypot(out->rows_deviation, out->metric_deviation);
    out->metric = interval_with(mel_interval_of(n_metrics, value), out->value);
    out->both = interval_with(mel_interval_of(n_metrics * each, both), out->value);
    return MEL_OK;
}

mel_status mel_trust_of_counts(mel_certainty *out, mel_trust_work *w, const double *counts, double *room,
                               mel_error *err)
{
    if (w->d > w->k)
        return value_with_referred(out, w, counts, room, err);
    put_seen(room, w, counts);
    mel_certainty_options opt;
    mel_certainty_options_init(&opt);
    opt.seed = w->opt.seed;
    opt.n_metrics = w->opt.n_metrics;
    opt.metrics = w->opt.metrics;
    opt.known = w->opt.n_metrics == 0;
    const mel_status status = mel_certainty_of(out, w->measure, room, &opt, err);
    if (status != MEL_EDATA && status != MEL_ENUMERIC)
        return status;
    *out = (mel_certainty){ .value = NAN }; /* not defined by the labels */
    return MEL_OK;
}

/* --- limits --------------------------------------------------------------------------------------- */

/* Cells of decisions that the rule never makes, whatever the rows are: it decides the same where each class
 * is certain, and so everywhere between. */
static mel_status find_never(bool *never, const mel_trust_work *w, mel_error *err)
{
    const size_t k = w->k, d = w->d;
    MEL_AUTO_MEMORY double *certain = mel_alloc_zero(k * (k + d), sizeof *certain);
    MEL_AUTO_MEMORY uint32_t *group = mel_alloc_zero(k, sizeof *group);
    if (group == NULL || certain == NULL)
        return mel_fail_memory(err, "how sure limits are");
    double *chance = certain + k * k;
    for (size_t i = 0; i < k; i++)
        certain[i * k + i] = 1.0;
    for (size_t g = 0; g < w->m; g++) {
        const mel_undecided all = { .n = k, .probability = certain, .group = group };
        for (size_t i = 0; i < k; i++)
            group[i] = (uint32_t)g;
        TRY(mel_classifier_chances(chance, w->found, &all, err));
        for (size_t j = 0; j < d; j++) {
            bool always = true;
            for (size_t i = 0; i < k; i++)
                always = always && chance[i * d + j] >= 1.0;
            for (size_t c = 0; c < k * d && always; c++)
                never[g * k * d + c] = c % d != j;
        }
    }
    return MEL_OK;
}

/* Rows drawn anew, for limits. */
typedef struct {
    const mel_trust_work *of;
    mel_shares seen;
    double *draw, *value;
    bool *never;
    mel_rng rng;
} limit_draws;

/* Shares that the counts make likely, nothing where the rule never decides so. */
static mel_shares draw_possible(limit_draws *d)
{
    const size_t cells = d->of->cells;
    double sum = 0.0;
    mel_draw_shares(d->draw, cells, d->seen.x, &d->rng);
    for (size_t c = 0; c < cells; c++) {
        d->draw[c] = d->never[c] ? 0.0 : d->draw[c];
        sum += d->draw[c];
    }
    for (size_t c = 0; c < cells; c++)
        d->draw[c] /= sum;
    mel_shares drawn = d->seen;
    drawn.x = d->draw;
    return drawn;
}

static mel_interval sure_number(limit_draws *d, const mel_limit *limit)
{
    for (size_t b = 0; b < LIMIT_DRAWS; b++) {
        const mel_shares now = draw_possible(d);
        d->value[b] = mel_limit_achieved(limit, &now);
    }
    return interval_with(mel_interval_of(LIMIT_DRAWS, d->value), mel_limit_achieved(limit, &d->seen));
}

/* Groups may be equal, however different they look. */
static mel_status sure_difference(mel_interval *out, limit_draws *d, const mel_limit *limit, mel_error *err)
{
    mel_extreme of = { .n_parts = mel_limit_parts(limit, &d->seen), .largest = true };
    of.n_draws = mel_extreme_draws(of.n_parts, LIMIT_DRAWS);
    MEL_AUTO_MEMORY double *seen = mel_alloc(of.n_parts, (of.n_draws + 1) * sizeof *seen);
    if (seen == NULL)
        return mel_fail_memory(err, "what of the limits will hold");
    mel_limit_part_values(seen, limit, &d->seen);
    for (size_t b = 1; b <= of.n_draws; b++) {
        const mel_shares now = draw_possible(d);
        mel_limit_part_values(seen + b * of.n_parts, limit, &now);
    }
    of.seen = seen;
    of.drawn = seen + of.n_parts;
    TRY(mel_interval_of_extreme(out, &of, err));
    out->low = fmax(out->low, 0.0);
    return MEL_OK;
}

static mel_status sure_limits(mel_trust *out, const mel_trust_work *w, const double *counts, mel_error *err)
{
    const size_t n = w->rule.n_limits;
    limit_draws d = { .of = w, .seen = { w->m, w->k, w->d, counts } };
    MEL_AUTO_MEMORY double *number = mel_alloc(w->cells + LIMIT_DRAWS, sizeof *number);
    MEL_AUTO_MEMORY bool *never = mel_alloc_zero(w->cells, sizeof *never);
    out->limit = mel_alloc(n + 1, sizeof *out->limit);
    if (number == NULL || never == NULL || out->limit == NULL)
        return mel_fail_memory(err, "what of the limits will hold");
    d.draw = number;
    d.value = number + w->cells;
    d.never = never;
    if (n > 0 && w->rows->row_cost == NULL)
        TRY(find_never(never, w, err));
    for (size_t l = 0; l < n; l++) {
        mel_rng_seed_stream(&d.rng, w->opt.seed, l);
        if (w->rule.limit[l].kind >= MEL_LIMIT_ODDS)
            TRY(sure_difference(&out->limit[l], &d, &w->rule.limit[l], err));
        else
            out->limit[l] = sure_number(&d, &w->rule.limit[l]);
    }
    out->n_limits = n;
    return MEL_OK;
}

/* --- the whole ------------------------------------------------------------------------------------ */

/* What the rule does on the rows that it was found on. */
static mel_status judge_found(mel_trust *out, mel_trust_work *w, mel_error *err)
{
    const mel_rule_rows *rows = w->rows;
    mel_rule_rows plain = *rows; /* limits are about rows, whatever they cost */
    double *counts = NULL, *squares = NULL, *seen = NULL, *of_rows = NULL, *row_squares = NULL, *room = NULL;
    MEL_AUTO_MEMORY double *chance = NULL;
    const mel_part parts[] = { { rows->n_rows * w->d, { &chance } },
                               { w->cells, { &counts, &squares, &seen, &of_rows, &row_squares } },
                               { mel_trust_count_room(rows), { &room } } };
    plain.row_cost = NULL;
    if (!mel_parts_new(MEL_PARTS(parts)))
        return mel_fail_memory(err, "how sure a rule is");
    TRY(mel_trust_chances(chance, w->found, rows, err));
    mel_trust_count(of_rows, row_squares, w, &plain, chance, room);
    TRY(mel_trust_settle_size(of_rows, row_squares, w, true, seen, err));
    mel_trust_count(counts, squares, w, rows, chance, room);
    TRY(mel_trust_settle_size(counts, squares, w, false, seen, err));
    TRY(sure_limits(out, w, of_rows, err));
    const mel_status status = mel_trust_of_counts(&out->value, w, counts, seen, &out->why);
    out->seen = out->value.value;
    return status == MEL_OK ? MEL_OK : mel_fail(err, status, "%s", out->why.text);
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
    return mel_trust_excuse(status, &why, err);
}

static mel_status judge(mel_trust *out, mel_trust_work *w, mel_error *err)
{
    TRY(judge_found(out, w, err));
    TRY(mel_trust_draw(out, w, err));
    if (isfinite(out->value.value)) {
        move_value(&out->value, -out->optimism, -INFINITY, INFINITY);
        mel_trust_widen(&out->value, w->spread);
        if (w->rule.evidence == MEL_BY_LABELS && w->opt.folds == 0)
            TRY(settle_by_folds(out, w, err));
    }
    if (w->opt.folds > 0)
        TRY(mel_trust_fold(out, w, err));
    if (w->metric != NULL || w->d != w->k)
        return MEL_OK;
    /* Measures by name: none that costs is below 0, no other above 1. Corrections and deviations do not
     * know. */
    const bool cost = mel_measure_orientation(w->measure) == MEL_COST;
    const double low = cost ? 0.0 : -INFINITY, high = cost ? INFINITY : 1.0;
    move_value(&out->value, 0.0, low, high);
    move_value(&out->cross, 0.0, low, high);
    return MEL_OK;
}

void mel_trust_work_clear(mel_trust_work *w)
{
    mel_measure_free(w->measure);
    *w = (mel_trust_work){ 0 };
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
                             .d = found != NULL             ? found->n_decisions
                                  : isnan(rule->refer_cost) ? rows->n_classes
                                                            : rows->n_classes + 1,
                             .m = rows->n_groups > 1 ? rows->n_groups : 1 };
    out->cells = out->m * out->k * out->d;
    mel_trust_options_init(&out->opt);
    const size_t groups =
        metric == NULL || mel_metric_layout(metric)->n_groups > 1 || out->m == 1 ? rows->n_groups : 0;
    TRY(metric != NULL ? mel_measure_metric(&out->measure, metric, out->k, groups, err)
                       : mel_measure_together(&out->measure, name, out->k, out->m, err));
    mel_measure_call(out->measure, rows->class_name, rows->group_name);
    return MEL_OK;
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

static mel_status trust_rule(mel_trust *out, mel_trust_work *w, const mel_trust_options *opt, mel_error *err)
{
    MEL_AUTO_MEMORY double *drawn = NULL;
    TRY(mel_options_take(&w->opt, sizeof w->opt, opt, "options on how sure a rule is", err));
    TRY(settle_metrics(w, &drawn, err));
    return judge(out, w, err);
}

mel_status mel_rule_trust(mel_trust *out, const mel_classifier *found, const mel_rule_rows *rows,
                          const mel_metric *metric, const char *name, const mel_rule_options *rule,
                          const mel_trust_options *opt, mel_error *err)
{
    MEL_AUTO_CLEAR(mel_trust_work) w = { 0 };
    *out = (mel_trust){ .value.value = NAN, .seen = NAN, .cross.value = NAN, .regret = NAN };
    TRY(mel_trust_begin(&w, found, rows, metric, name, rule, err));
    const mel_status status = trust_rule(out, &w, opt, err);
    if (status != MEL_OK)
        mel_trust_clear(out);
    return status;
}
