/* PI-EW (Algorithm 7.2) and FW-EG (Algorithm 7.3): elicit weights around the current classifier, take the
 * rule that is best for them, and move towards it. */
#include "base/digest.h"
#include "optimise/optimise.h"
#include "optimise/shared.h"
#include "space/shared.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_POINTS = 16, LINE_ROUNDS = 16 };

/* The current classifier, the last rule, and the weights and steps that led here. */
typedef struct {
    mel_weighting w;
    size_t *cells;
    mel_iterate now, rule;
    size_t n_weight;              /* numbers in one rule's weights */
    double *weight;               /* rules so far, n_weight each: the start, then one per iteration */
    double *step;                 /* towards each; the first is 1 */
    char (*sums)[MEL_DIGEST_HEX]; /* of what each does on all rows: rules with the same are one in mixtures */
    uint32_t n_rules, capacity;
    double *gain;  /* scratch: n_basis x k x k */
    double *block; /* everything above but weight and step */
} run;

void mel_optimise_options_init(mel_optimise_options *opt)
{
    *opt = (mel_optimise_options){ .struct_size = sizeof *opt,
                                   .iterations = 50,
                                   .epsilon = 0.001,
                                   .draws = 5,
                                   .rank_tolerance = 1e-6,
                                   .seed = 1 };
}

void mel_optimise_clear(mel_optimise_result *result)
{
    mel_blend_clear(&result->mixture);
    *result = (mel_optimise_result){ 0 };
}

/* --- a run -------------------------------------------------------------------------------------- */

static void run_clear(run *r)
{
    mel_packed_free(r->w.packed);
    mel_probes_clear(&r->w.probes);
    free(r->cells);
    free(r->block);
    free(r->weight);
    free(r->step);
    free(r->sums);
}

/* The cells that have weights. */
static mel_status choose_cells(run *r, mel_error *err)
{
    const size_t all = mel_weight_cells(&r->w.size);
    r->cells = mel_alloc(all, sizeof *r->cells);
    if (r->cells == NULL)
        return mel_fail_memory(err, "confusion entries");
    for (size_t c = 0; c < all; c++)
        if (!r->w.size.whole || r->w.opt.entry == NULL || r->w.opt.entry[c])
            r->cells[r->w.n_cells++] = c;
    r->w.cell = r->cells;
    return r->w.n_cells > 0 ? MEL_OK : mel_fail(err, MEL_EINVAL, "no confusion entry has a weight");
}

static mel_status make_run_room(run *r, mel_error *err)
{
    mel_weighting *w = &r->w;
    const size_t k = w->size.k, n = w->validation->n_rows, cells = w->size.n_groups * k * k;
    const size_t moments = mel_packed_moments(&w->size), shares = cells * w->size.n_directions;
    const bool judge = w->box->judge != NULL;
    const size_t chances = judge ? n * k : 0, drawn = w->opt.labels_only ? n * w->opt.draws : 0;
    const mel_part parts[] = {
        { moments, { &r->now.train, &r->rule.train } },
        { k * w->size.n_directions * w->size.n_basis, { &w->train_total } },
        { judge ? 1 : shares, { &r->now.validation, &r->rule.validation } },
        { judge ? 1 : w->size.n_groups * k * w->size.n_directions, { &w->validation_total } },
        { chances, { &r->now.chance, &r->rule.chance } },
        { chances > cells ? chances : cells, { &w->trial } },
        { w->size.n_basis, { &w->scale } },
        { cells, { &w->confusion, &w->slope } },
        { w->size.n_basis * k * k, { &r->gain } },
        { drawn, { &w->uniform } },
        { w->opt.labels_only ? n * k : 0, { &w->decided } },
    };
    if (!mel_parts_new(MEL_PARTS(parts)))
        return mel_fail_memory(err, "optimisation");
    r->block = r->now.train;
    if (judge)
        r->now.validation = r->rule.validation = NULL;
    else
        r->now.chance = r->rule.chance = NULL;
    return MEL_OK;
}

static mel_status fill_totals(run *r, const mel_weight_rows *train, mel_error *err)
{
    mel_weighting *w = &r->w;
    MEL_AUTO_MEMORY double *u = mel_alloc(w->size.n_directions, sizeof *u);
    if (u == NULL)
        return mel_fail_memory(err, "sums");
    TRY(mel_packed_totals(w->train_total, w->packed, err));
    if (r->now.validation != NULL)
        mel_validation_totals(w->validation_total, w, u);
    for (size_t l = 0; l < w->size.n_basis; l++) {
        for (size_t c = 0; c < w->size.k; c++)
            w->scale[l] += w->train_total[c * w->size.n_directions * w->size.n_basis + l];
        if (!(w->scale[l] > 0.0))
            return mel_fail(err, MEL_EDATA, "basis function %zu is 0 for every training row", l + 1);
        if (w->opt.scale == MEL_SCALE_ROWS && w->opt.engine == NULL) /* elsewhere: the same, of function 1 */
            w->scale[l] = (double)train->n_rows;
    }
    return MEL_OK;
}

/* --- iterates ----------------------------------------------------------------------------------- */

/* Room for one more rule; its weights, or NULL. */
static double *add_rule(run *r, double step)
{
    if (r->n_rules == r->capacity) {
        const uint32_t more = r->capacity == 0 ? 16 : 2 * r->capacity;
        if (!mel_grow((void **)&r->weight, more * r->n_weight, sizeof *r->weight) ||
            !mel_grow((void **)&r->step, more, sizeof *r->step) ||
            !mel_grow((void **)&r->sums, more, sizeof *r->sums))
            return NULL;
        r->capacity = more;
    }
    r->step[r->n_rules] = step;
    return r->weight + r->n_rules++ * r->n_weight;
}

/* The start: the plug-in rule of given weights. */
static mel_status add_start(run *r, mel_error *err)
{
    const mel_weight_size *size = &r->w.size;
    const size_t cells = mel_weight_cells(size);
    double *weight = add_rule(r, 1.0);
    if (weight == NULL)
        return mel_fail_memory(err, "weights");
    memset(weight, 0, r->n_weight * sizeof *weight);
    for (size_t l = 0; l < size->n_basis; l++)
        for (size_t j = 0; j < size->k; j++)
            weight[l * cells + (size->whole ? j * size->k + j : j)] =
                r->w.opt.start != NULL ? r->w.opt.start[l * size->k + j] : 1.0;
    return MEL_OK;
}

static mel_status begin_run(run *r, const mel_weight_rows *train, mel_error *err)
{
    mel_weighting *w = &r->w;
    r->n_weight = w->size.n_basis * mel_weight_cells(&w->size);
    TRY(choose_cells(r, err));
    TRY(make_run_room(r, err));
    TRY(add_start(r, err));
    TRY(mel_packed_new(&w->packed, &w->size, train, err));
    TRY(fill_totals(r, train, err));
    mel_rng rng;
    mel_rng_seed(&rng, w->opt.seed);
    for (size_t i = 0; w->opt.labels_only && i < w->validation->n_rows * w->opt.draws; i++)
        w->uniform[i] = mel_rng_uniform(&rng);
    return MEL_OK;
}

/* Gains of rule number i. */
static void put_gains(double *gain, const run *r, size_t i)
{
    const mel_weight_size *size = &r->w.size;
    if (size->whole)
        memcpy(gain, r->weight + i * r->n_weight, r->n_weight * sizeof *gain);
    else
        mel_weights_to_gains(gain, size->k, size->n_basis, r->weight + i * r->n_weight);
}

static void note_sums(run *r, const mel_iterate *rule)
{
    const mel_weight_size *size = &r->w.size;
    char both[2][MEL_DIGEST_HEX] = { { 0 } };
    mel_digest(rule->train, mel_packed_moments(size) * sizeof *rule->train, both[0]);
    if (rule->validation != NULL)
        mel_digest(rule->validation,
                   size->n_groups * size->k * size->k * size->n_directions * sizeof *rule->validation,
                   both[1]);
    else
        mel_digest(rule->chance, r->w.validation->n_rows * size->k * sizeof *rule->chance, both[1]);
    mel_digest(both, sizeof both, r->sums[r->n_rules - 1]);
}

/* What the last rule does on all rows. */
static mel_status measure_rule(mel_iterate *into, run *r, mel_error *err)
{
    put_gains(r->gain, r, r->n_rules - 1);
    const double *weight = r->weight + (r->n_rules - 1) * r->n_weight;
    TRY(mel_packed_sums(into->train, r->w.packed, weight, err));
    TRY(mel_validation_sums(into, &r->w, r->gain, err));
    note_sums(r, into);
    return MEL_OK;
}

static void blend(size_t n, double *now, const double *rule, double step)
{
    for (size_t i = 0; now != NULL && i < n; i++)
        now[i] = (1.0 - step) * now[i] + step * rule[i];
}

static void move_towards_rule(run *r, double step)
{
    const mel_weight_size *size = &r->w.size;
    blend(mel_packed_moments(size), r->now.train, r->rule.train, step);
    blend(size->n_groups * size->k * size->k * size->n_directions, r->now.validation, r->rule.validation,
          step);
    blend(r->w.validation->n_rows * size->k, r->now.chance, r->rule.chance, step);
}

/* The value `step` of the way from the current classifier to the rule. */
static mel_status value_at(double *out, run *r, double step, mel_error *err)
{
    mel_weighting *w = &r->w;
    const size_t k = w->size.k, cells = w->size.n_groups * k * k;
    if (r->now.chance != NULL) {
        for (size_t i = 0; i < w->validation->n_rows * k; i++)
            w->trial[i] = (1.0 - step) * r->now.chance[i] + step * r->rule.chance[i];
        return mel_weighting_value(out, w, NULL, w->trial, err);
    }
    mel_weighting_confusion(w->confusion, w, r->now.validation);
    mel_weighting_confusion(w->trial, w, r->rule.validation);
    for (size_t c = 0; c < cells; c++)
        w->trial[c] = (1.0 - step) * w->confusion[c] + step * w->trial[c];
    return mel_weighting_value(out, w, w->trial, NULL, err);
}

/* The best step of a grid, then of ever smaller steps around it. */
static mel_status search_step(double *step, run *r, mel_error *err)
{
    double best = r->now.value, width = 1.0 / LINE_POINTS;
    *step = 0.0;
    for (int i = 1; i <= LINE_POINTS; i++) {
        double value = 0.0;
        TRY(value_at(&value, r, i * width, err));
        if (value > best) {
            best = value;
            *step = i * width;
        }
    }
    for (int i = 0; i < 2 * LINE_ROUNDS; i++) {
        const double at = i % 2 == 0 ? *step - width / 2.0 : *step + width / 2.0;
        double value = best;
        if (at > 0.0 && at <= 1.0)
            TRY(value_at(&value, r, at, err));
        if (value > best) {
            best = value;
            *step = at;
        }
        width = i % 2 == 1 ? width / 2.0 : width;
    }
    return MEL_OK;
}

static mel_status choose_step(double *step, run *r, uint32_t t, mel_error *err)
{
    if (r->w.opt.plug_in)
        *step = 1.0;
    else if (r->w.opt.step == MEL_STEP_LINE)
        return search_step(step, r, err);
    else
        *step = 2.0 / (t + (r->w.opt.step == MEL_STEP_THESIS ? 2.0 : 3.0));
    return MEL_OK;
}

/* How much the weights promise for a full step to the rule. */
static double promised_gain(const run *r)
{
    const mel_weighting *w = &r->w;
    const size_t n_basis = w->size.n_basis, cells = mel_weight_cells(&w->size),
                 block = w->size.n_directions * n_basis;
    const double *weight = r->weight + (r->n_rules - 1) * r->n_weight;
    double gain = 0.0;
    for (size_t c = 0; c < cells; c++)
        for (size_t l = 0; l < n_basis; l++)
            gain += weight[l * cells + c] * (r->rule.train[c * block + l] - r->now.train[c * block + l]) /
                    w->scale[l];
    return gain;
}

static mel_status revalue(run *r, mel_error *err)
{
    if (r->now.validation != NULL)
        mel_weighting_confusion(r->w.confusion, &r->w, r->now.validation);
    return mel_weighting_value(&r->now.value, &r->w, r->w.confusion, r->now.chance, err);
}

static mel_status start(run *r, mel_error *err)
{
    mel_status status = measure_rule(&r->now, r, err);
    if (status == MEL_OK)
        status = revalue(r, err);
    return mel_metric_fails(status) ? mel_fail_in(err, status, "iteration 0") : status;
}

static void note_best(mel_optimise_result *out, const run *r, uint32_t t)
{
    if (t == 0)
        out->start = r->now.value;
    if (t == 0 || r->now.value > out->best) {
        out->best = r->now.value;
        out->best_iteration = t;
    }
    out->value = r->now.value;
    out->iterations = t;
}

static void tell_trace(const run *r, uint32_t t, double gap)
{
    const mel_optimise_options *opt = &r->w.opt;
    if (opt->trace == NULL)
        return;
    put_gains(r->gain, r, r->n_rules - 1);
    opt->trace(opt->trace_user, t, r->now.value, gap, r->gain);
}

/* One iteration; *flat: there was nothing to follow. */
static mel_status iterate(bool *flat, mel_optimise_result *out, run *r, uint32_t t, mel_error *err)
{
    double step = 1.0;
    double *weight = add_rule(r, 0.0);
    if (weight == NULL)
        return mel_fail_memory(err, "weights");
    TRY(mel_elicit_weights(weight, flat, &out->rank, &out->condition, &r->w, &r->now, err));
    if (*flat)
        return MEL_OK;
    TRY(measure_rule(&r->rule, r, err));
    TRY(choose_step(&step, r, t, err));
    out->gap = promised_gain(r);
    r->step[r->n_rules - 1] = step;
    move_towards_rule(r, step);
    return revalue(r, err);
}

/* --- the result --------------------------------------------------------------------------------- */

/* Shares of the rules in iterate number t. Of rules that no sum over the rows tells apart the last one has
 * the share of all; with a shift every rule stays, as in the authors' program. */
static void put_shares(double *share, const run *r, uint32_t t)
{
    const bool merge = r->w.opt.shift == 0.0;
    double left = 1.0;
    for (uint32_t i = t + 1; i-- > 0;) {
        share[i] = left * r->step[i];
        left *= 1.0 - r->step[i];
        for (uint32_t j = t; j > i && share[i] > 0.0 && merge; j--)
            if (share[j] > 0.0 && strcmp(r->sums[i], r->sums[j]) == 0) {
                share[j] += share[i];
                share[i] = 0.0;
            }
    }
}

/* The rules of iterate number t that have a share, largest first. */
static mel_status take_mixture(mel_blend *out, const run *r, uint32_t t, mel_error *err)
{
    const size_t k = r->w.size.k, n_basis = r->w.size.n_basis, n_gain = n_basis * k * k;
    MEL_AUTO_MEMORY double *share = mel_alloc(t + 1, sizeof *share);
    *out = (mel_blend){ .n_classes = k, .n_groups = n_basis > 1 ? n_basis : 0 };
    out->gain = mel_alloc((t + 1) * n_gain, sizeof *out->gain);
    out->share = mel_alloc(t + 1, sizeof *out->share);
    if (share == NULL || out->gain == NULL || out->share == NULL) {
        mel_blend_clear(out);
        return mel_fail_memory(err, "a mixture of rules");
    }
    put_shares(share, r, t);
    for (;;) {
        uint32_t best = 0;
        for (uint32_t i = 1; i <= t; i++)
            if (share[i] > share[best])
                best = i;
        if (!(share[best] > 0.0))
            break;
        put_gains(out->gain + out->n_rules * n_gain, r, best);
        out->share[out->n_rules++] = share[best];
        share[best] = 0.0;
    }
    return MEL_OK;
}

/* Whether the last iterate is worse than the first classifier by more than chance explains: the weights do
 * not tell how the metric changes. A share of n rows has a relative standard error of about 1/sqrt(n). */
static bool has_fallen(const mel_optimise_result *out, const run *r)
{
    return out->start - out->value > 2.0 * fabs(out->start) / sqrt((double)r->w.validation->n_rows);
}

/* The last iterate, or the best one: where that is wished, where the run was cut short, and after a fall. */
static mel_status end(mel_optimise_result *out, const run *r, mel_error *err)
{
    const bool cut = out->end == MEL_OPTIMISE_FAILED || out->end == MEL_OPTIMISE_STOPPED;
    out->fell_back = !cut && has_fallen(out, r);
    const bool best = cut || r->w.opt.best || out->fell_back;
    const uint32_t t = best ? out->best_iteration : out->iterations;
    if (t == out->best_iteration)
        out->value = out->best;
    out->unknowns = r->w.size.n_basis * r->w.n_cells;
    out->queries = r->w.queries;
    return take_mixture(&out->mixture, r, t, err);
}

mel_status mel_optimise_ended(mel_optimise_result *out, bool flat, mel_status status, const mel_error *err)
{
    out->end = status == MEL_ESTOPPED ? MEL_OPTIMISE_STOPPED
               : status != MEL_OK     ? MEL_OPTIMISE_FAILED
               : flat                 ? MEL_OPTIMISE_FLAT
                                      : MEL_OPTIMISE_DONE;
    if (status != MEL_OK)
        out->failure = *err;
    return status == MEL_ENOMEM ? status : MEL_OK;
}

/* Iterations until the end, whatever it is; out->end and out->failure say which. */
static mel_status follow(mel_optimise_result *out, run *r, const mel_weight_rows *train, mel_error *err)
{
    const uint32_t last = r->w.opt.plug_in ? 1 : r->w.opt.iterations;
    mel_status status =
        r->w.opt.probes == MEL_PROBE_CONSTRAINED ? mel_probes_make(&r->w, train, err) : MEL_OK;
    bool flat = false;
    for (uint32_t t = out->iterations; t < last && status == MEL_OK && !flat; t++) {
        char what[96], gap[32] = ""; /* there is none before the first iteration */
        if (isfinite(out->gap))
            (void)mel_print(gap, sizeof gap, ", gap %.2g", out->gap);
        (void)mel_print(what, sizeof what, "iteration %lu of %lu, value %.6g%s", (unsigned long)t + 1,
                        (unsigned long)last, r->now.value, gap);
        status = mel_report_progress(&r->w.opt.progress, what, (double)t / last, err);
        if (status == MEL_OK)
            status = iterate(&flat, out, r, t, err);
        if (status == MEL_OK && !flat) {
            note_best(out, r, t + 1);
            tell_trace(r, t + 1, out->gap);
        } else if (mel_metric_fails(status)) {
            status = mel_fail_in(err, status, "iteration %lu", (unsigned long)t + 1);
        }
    }
    return mel_optimise_ended(out, flat, status, err);
}

static mel_status run_all(mel_optimise_result *out, run *r, const mel_weight_rows *train, mel_error *err)
{
    mel_error own = { 0 };
    TRY(begin_run(r, train, err));
    TRY(start(r, err));
    note_best(out, r, 0);
    tell_trace(r, 0, NAN);
    TRY(follow(out, r, train, err != NULL ? err : &own));
    return end(out, r, err);
}

mel_status mel_optimise(mel_optimise_result *out, size_t n_classes, size_t n_basis,
                        const mel_weight_rows *train, const mel_weight_rows *validation,
                        const mel_black_box *box, const mel_optimise_options *opt, mel_error *err)
{
    *out = (mel_optimise_result){ .condition = NAN, .gap = NAN };
    MEL_AUTO_CLEAR(run) r = { .w = { .validation = validation, .box = box } };
    mel_optimise_options *use = &r.w.opt;
    mel_optimise_options_init(use);
    TRY(mel_options_take(use, sizeof *use, opt, "optimise options", err));
    TRY(mel_optimise_check(n_classes, n_basis, train, validation, box, use, err));
    const bool whole = use->shape == MEL_WEIGHT_WHOLE;
    const size_t moving = use->probes == MEL_PROBE_CONSTRAINED ? 0 : whole ? n_basis * n_classes : n_basis;
    r.w.size = (mel_weight_size){ .k = n_classes,
                                  .n_basis = n_basis,
                                  .n_directions = 1 + moving,
                                  .n_groups = box->n_groups > 1 ? box->n_groups : 1,
                                  .whole = whole,
                                  .threads = use->threads,
                                  .engine = use->engine };
    const mel_status status = run_all(out, &r, train, err);
    if (status != MEL_OK)
        mel_optimise_clear(out);
    return status;
}
