/* Rules from training rows with noisy labels, or of another population than the validation rows: their
 * labels, or how much they count, are corrected first, and then the best rule for a measure is found on them.
 * Rules look at probabilities alone, so rows are matched by these, and in any other features the same. */
#include "base/la.h"
#include "base/stat.h"
#include "classify/classify.h"
#include "metric/measure.h"
#include "optimise/optimise.h"
#include "optimise/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows that are less sure of a class than the one that says how its labels flip. */
static const double sure = 0.97;
static const double least_probability = 1e-6, least_rcond = 1e-6, pi = 3.14159265358979323846;
/* Random waves of the radial kernel, steps, pairs of rows that say how far apart rows are, and the largest
 * weight. */
enum { WAVES = 100, STEPS = 200, PAIRS = 1000, POWER = 30 };
static const double most_weight = 1000.0;

/* --- how labels flip ------------------------------------------------------------------------------ */

static mel_status refuse_singular(mel_error *err)
{
    return mel_fail(err, MEL_EDATA,
                    "labels of different classes flip so much alike that nothing tells which class a row was "
                    "of (the transition matrix is singular)");
}

mel_status mel_transition_invert(double *inverse, size_t k, const double *transition, mel_error *err)
{
    MEL_AUTO_MEMORY double *matrix = mel_alloc(k * k, sizeof *matrix);
    double rcond = 0.0;
    if (matrix == NULL)
        return mel_fail_memory(err, "a transition matrix");
    for (size_t i = 0; i < k; i++) {
        double sum = 0.0;
        for (size_t j = 0; j < k; j++) {
            const double p = transition[i * k + j];
            if (!(p >= 0.0 && p <= 1.0))
                return mel_fail(err, MEL_EDATA, "row %zu of the transition matrix: %g is no probability",
                                i + 1, p);
            sum += p;
        }
        if (!(fabs(sum - 1.0) <= 1e-3))
            return mel_fail(err, MEL_EDATA, "row %zu of the transition matrix adds up to %g, not 1", i + 1,
                            sum);
        for (size_t j = 0; j < k; j++) {
            matrix[i * k + j] = transition[i * k + j] / sum;
            inverse[i * k + j] = i == j ? 1.0 : 0.0;
        }
    }
    const mel_status status = mel_solve(k, matrix, k, k, inverse, k, &rcond, err);
    return status == MEL_ENUMERIC || (status == MEL_OK && rcond < least_rcond) ? refuse_singular(err)
                                                                               : status;
}

mel_status mel_transition_of_sure(double *transition, size_t k, const mel_weight_rows *rows, mel_error *err)
{
    MEL_AUTO_MEMORY double *key = mel_alloc(rows->n_rows, sizeof *key);
    MEL_AUTO_MEMORY size_t *order = mel_alloc(rows->n_rows, sizeof *order);
    if (key == NULL || order == NULL)
        return mel_fail_memory(err, "a transition matrix");
    for (size_t i = 0; i < k; i++) {
        for (size_t r = 0; r < rows->n_rows; r++)
            key[r] = rows->probability[r * k + i];
        TRY(mel_argsort(rows->n_rows, key, order, err));
        memcpy(transition + i * k, rows->probability + order[(size_t)(sure * (double)rows->n_rows)] * k,
               k * sizeof *transition);
    }
    return MEL_OK;
}

/* The model says p = T'q of a row whose true probabilities are q, so that its true class is on average the
 * inverse of T' times p: a regression without a constant. */
mel_status mel_transition_of_clean(double *inverse, size_t k, const mel_weight_rows *clean, mel_error *err)
{
    MEL_AUTO_MEMORY double *gram = mel_alloc_zero(k * k, sizeof *gram);
    double rcond = 0.0;
    if (gram == NULL)
        return mel_fail_memory(err, "a transition matrix");
    memset(inverse, 0, k * k * sizeof *inverse);
    for (size_t r = 0; r < clean->n_rows; r++) {
        const double *p = clean->probability + r * k;
        for (size_t i = 0; i < k; i++) {
            mel_axpy(k, p[i], p, gram + i * k);
            inverse[i * k + clean->label[r]] += p[i];
        }
    }
    const mel_status status = mel_solve(k, gram, k, k, inverse, k, &rcond, err);
    return status == MEL_ENUMERIC || (status == MEL_OK && rcond < least_rcond) ? refuse_singular(err)
                                                                               : status;
}

/* What the true probabilities of rows are. */
static void correct_probabilities(double *out, size_t k, const mel_weight_rows *rows, const double *inverse)
{
    mel_gemm(false, false, rows->n_rows, k, k, 1.0, rows->probability, k, inverse, k, 0.0, out, k);
    for (size_t r = 0; r < rows->n_rows; r++) {
        double sum = 0.0;
        for (size_t i = 0; i < k; i++)
            sum += out[r * k + i] = fmin(fmax(out[r * k + i], 0.0), 1.0);
        for (size_t i = 0; i < k; i++)
            out[r * k + i] /= sum;
    }
}

/* --- how much rows count -------------------------------------------------------------------------- */

/* Logarithms of the ratios to the probability of the first class, `stride` numbers a row. */
static void put_logits(double *out, size_t stride, size_t k, const mel_weight_rows *rows)
{
    for (size_t r = 0; r < rows->n_rows; r++)
        for (size_t j = 1; j < k; j++)
            out[r * stride + j - 1] = log(fmax(rows->probability[r * k + j], least_probability) /
                                          fmax(rows->probability[r * k], least_probability));
}

/* Each row counts as many times as rows like it, of the same label, are among the validation rows: f/(1 - f),
 * with f what a logistic regression says, which tells validation rows from training rows. */
static mel_status importance(double *weight, size_t k, const mel_weight_rows *train,
                             const mel_weight_rows *validation, const mel_optimise_options *opt,
                             mel_error *err)
{
    const size_t n = train->n_rows, m = validation->n_rows, width = 2 * (k - 1);
    MEL_AUTO(mel_model) *model = NULL;
    MEL_AUTO_MEMORY double *x = mel_alloc_zero((n + m) * width + 2 * n, sizeof *x);
    MEL_AUTO_MEMORY uint32_t *from = mel_alloc_zero(n + m, sizeof *from);
    if (x == NULL || from == NULL)
        return mel_fail_memory(err, "weights of rows");
    put_logits(x, width, k, train);
    put_logits(x + n * width, width, k, validation);
    for (size_t r = 0; r < n + m; r++) {
        const uint32_t label = r < n ? train->label[r] : validation->label[r - n];
        from[r] = r >= n;
        if (label > 0)
            x[r * width + k - 2 + label] = 1.0;
    }
    mel_fit_options fit;
    mel_fit_options_init(&fit);
    fit.threads = opt->threads;
    fit.progress = opt->progress;
    mel_features all = { .n_rows = n + m, .n_cols = width, .dense = x, .stride = width };
    TRY(mel_model_fit(&model, NULL, &all, from, 2, NULL, &fit, err));
    all.n_rows = n;
    double *told = x + (n + m) * width;
    TRY(mel_model_predict(told, model, &all, opt->threads, err));
    for (size_t r = 0; r < n; r++)
        weight[r] = fmin(told[2 * r + 1] / fmax(told[2 * r], 1e-12), most_weight);
    return MEL_OK;
}

/* The median distance of random rows, by which the kernel is as wide. */
static double kernel_width(const double *x, size_t n, size_t d, mel_rng *rng)
{
    double apart[PAIRS];
    for (size_t i = 0; i < PAIRS; i++) {
        const double *a = x + mel_rng_below(rng, n) * d, *b = x + mel_rng_below(rng, n) * d;
        double square = 0.0;
        for (size_t c = 0; c < d; c++)
            square += (a[c] - b[c]) * (a[c] - b[c]);
        apart[i] = sqrt(square);
    }
    const double median = mel_quantile_sort(PAIRS, apart, 0.5);
    return median > 0.0 ? median : 1.0;
}

/* Weights from 0 to the largest, of mean 1: moved by the same number each. */
static void make_mean_one(double *weight, size_t n)
{
    double low = -most_weight - 1.0, high = most_weight + 1.0;
    for (size_t r = 0; r < n; r++) {
        low = fmin(low, -weight[r]);
        high = fmax(high, most_weight - weight[r]);
    }
    for (int turn = 0; turn < 100 && high - low > 1e-12; turn++) {
        const double middle = 0.5 * (low + high);
        double sum = 0.0;
        for (size_t r = 0; r < n; r++)
            sum += fmin(fmax(weight[r] + middle, 0.0), most_weight);
        if (sum < (double)n)
            low = middle;
        else
            high = middle;
    }
    for (size_t r = 0; r < n; r++)
        weight[r] = fmin(fmax(weight[r] + high, 0.0), most_weight);
}

/* Waves of rows: inner products of them are those of the kernel, on average. */
static void put_waves(double *out, const double *x, size_t n, size_t d, const double *wave)
{
    for (size_t r = 0; r < n; r++)
        for (size_t w = 0; w < WAVES; w++)
            out[r * WAVES + w] =
                sqrt(2.0 / WAVES) * cos(mel_dot(d, x + r * d, wave + w * (d + 1)) + wave[w * (d + 1) + d]);
}

/* Kernel mean matching: weights with which the mean of the training rows is nearest to that of the validation
 * rows in the space of a radial kernel. Accelerated projected descent. */
static mel_status matching(double *weight, size_t k, const mel_weight_rows *train,
                           const mel_weight_rows *validation, const mel_optimise_options *opt, mel_error *err)
{
    const size_t n = train->n_rows, m = validation->n_rows, d = k - 1, most = n > m ? n : m;
    MEL_AUTO_MEMORY double *x = NULL;
    double *waves = NULL, *wave = NULL, *aim = NULL, *off = NULL, *gram = NULL, *ahead = NULL, *old = NULL;
    const mel_part parts[] = {
        { most * d, { &x } },      { most * WAVES, { &waves } },         { WAVES * (d + 1), { &wave } },
        { WAVES, { &aim, &off } }, { (size_t)WAVES * WAVES, { &gram } }, { n, { &ahead, &old } }
    };
    if (!mel_parts_new(MEL_PARTS(parts)))
        return mel_fail_memory(err, "weights of rows");
    mel_rng rng;
    mel_rng_seed(&rng, opt->seed);
    put_logits(x, d, k, train);
    const double width = kernel_width(x, n, d, &rng);
    put_logits(x, d, k, validation);
    for (size_t w = 0; w < WAVES; w++) {
        for (size_t c = 0; c < d; c++)
            wave[w * (d + 1) + c] = mel_rng_normal(&rng) / width;
        wave[w * (d + 1) + d] = 2.0 * pi * mel_rng_uniform(&rng);
    }
    put_waves(waves, x, m, d, wave);
    for (size_t r = 0; r < m; r++)
        mel_axpy(WAVES, 1.0 / (double)m, waves + r * WAVES, aim);
    put_logits(x, d, k, train);
    put_waves(waves, x, n, d, wave);
    mel_gemm(true, false, WAVES, WAVES, n, 1.0 / (double)n, waves, WAVES, waves, WAVES, 0.0, gram, WAVES);
    double steepest = 0.0;
    for (size_t w = 0; w < WAVES; w++)
        off[w] = 1.0;
    for (int turn = 0; turn < POWER; turn++) {
        mel_gemv(WAVES, WAVES, 1.0, gram, WAVES, off, 0.0, wave);
        steepest = mel_norm2(WAVES, wave);
        for (size_t w = 0; w < WAVES; w++)
            off[w] = wave[w] / steepest;
    }
    for (size_t r = 0; r < n; r++)
        weight[r] = old[r] = 1.0;
    for (int step = 0; step < STEPS; step++) {
        for (size_t r = 0; r < n; r++)
            ahead[r] = weight[r] + (double)step / (step + 3.0) * (weight[r] - old[r]);
        memcpy(old, weight, n * sizeof *old);
        memcpy(off, aim, WAVES * sizeof *off);
        mel_gemv_t(n, WAVES, 1.0 / (double)n, waves, WAVES, ahead, -1.0, off);
        memcpy(weight, ahead, n * sizeof *weight);
        mel_gemv(n, WAVES, -1.0 / (1.05 * steepest), waves, WAVES, off, 1.0, weight);
        make_mean_one(weight, n);
        TRY(mel_report_progress(&opt->progress, "matching rows", (double)step / STEPS, err));
    }
    return MEL_OK;
}

/* --- the rule ------------------------------------------------------------------------------------- */

/* Gains of true classes as gains of the labels that the model knows. */
static mel_status take_rules(mel_blend *out, const mel_classifier *c, const double *inverse, mel_error *err)
{
    const size_t k = c->n_classes, n = mel_classifier_rules(c);
    *out = (mel_blend){ .n_rules = n, .n_classes = k };
    out->gain = mel_alloc_zero(n * k, k * sizeof *out->gain);
    out->share = mel_alloc(n, sizeof *out->share);
    if (out->gain == NULL || out->share == NULL)
        return mel_fail_memory(err, "a mixture of rules");
    memcpy(out->share, mel_classifier_shares(c), n * sizeof *out->share);
    for (size_t r = 0; r < n; r++) {
        double own[4], *to = out->gain + r * k * k;
        if (c->mixture.n > 0) {
            const mel_rule rule = c->mixture.rule[r];
            const double at = fmin(fmax(rule.threshold, -1.0), 2.0);
            const size_t yes = rule.inverted ? 0 : 1;
            own[1 - yes] = at;
            own[yes] = own[3 - yes] = 0.0;
            own[2 + yes] = 1.0 - at;
        }
        const double *gain = c->mixture.n > 0 ? own : c->blend.gain + r * k * k;
        if (inverse != NULL)
            mel_gemm(false, false, k, k, k, 1.0, inverse, k, gain, k, 0.0, to, k);
        else
            memcpy(to, gain, k * k * sizeof *to);
    }
    return MEL_OK;
}

static mel_status value_of(double *out, mel_optimise_result *found, const mel_blend *rules,
                           const mel_weight_rows *rows, const mel_black_box *box, mel_error *err)
{
    const size_t k = rules->n_classes;
    MEL_AUTO_MEMORY double *chance = mel_alloc(rows->n_rows, k * sizeof *chance);
    if (chance == NULL)
        return mel_fail_memory(err, "decisions");
    TRY(mel_weighted_chances(chance, rules, rows->n_rows, rows->probability, NULL, err));
    found->queries++;
    return mel_black_box_of(out, box, rows->n_rows, k, rows->label, chance, err);
}

static mel_status find_corrected(mel_optimise_result *found, size_t k, const mel_weight_rows *train,
                                 const mel_weight_rows *validation, mel_measure *measure,
                                 mel_correction correction, const double *inverse,
                                 const mel_optimise_options *opt, mel_error *err)
{
    const size_t n = train->n_rows;
    const bool labels = correction == MEL_CORRECT_LABELS;
    const mel_black_box box = mel_measure_box(measure, NULL);
    MEL_AUTO(mel_classifier) *c = NULL;
    MEL_AUTO_MEMORY double *number = mel_alloc(n, (labels ? k : 1) * sizeof *number),
                           *plain = mel_alloc_zero(k, k * sizeof *plain);
    if (number == NULL || plain == NULL)
        return mel_fail_memory(err, "corrected rows");
    if (labels)
        correct_probabilities(number, k, train, inverse);
    else
        TRY((correction == MEL_CORRECT_IMPORTANCE ? importance : matching)(number, k, train, validation, opt,
                                                                           err));
    const mel_rule_rows rows = { .n_rows = n,
                                 .n_classes = k,
                                 .probability = labels ? number : train->probability,
                                 .label = train->label,
                                 .weight = labels ? NULL : number };
    mel_rule_options rule;
    mel_rule_options_init(&rule);
    rule.evidence = labels ? MEL_BY_MODEL : MEL_BY_LABELS;
    rule.seed = opt->seed;
    rule.threads = opt->threads;
    rule.progress = opt->progress;
    TRY(mel_rule_find(&c, NULL, &rows, measure->metric, measure->metric != NULL ? NULL : measure->name, &rule,
                      err));
    for (size_t i = 0; i < k; i++)
        plain[i * k + i] = 1.0;
    double whole = 1.0;
    const mel_blend start = { .n_rules = 1, .n_classes = k, .gain = plain, .share = &whole };
    TRY(value_of(&found->start, found, &start, validation, &box, err));
    TRY(take_rules(&found->mixture, c, inverse, err));
    TRY(value_of(&found->value, found, &found->mixture, validation, &box, err));
    found->best = found->value;
    found->iterations = found->best_iteration = 1;
    return MEL_OK;
}

mel_status mel_optimise_corrected(mel_optimise_result *found, size_t n_classes, const mel_weight_rows *train,
                                  const mel_weight_rows *validation, mel_measure *measure,
                                  mel_correction correction, const double *inverse,
                                  const mel_optimise_options *opt, mel_error *err)
{
    mel_optimise_options use;
    *found = (mel_optimise_result){ .condition = NAN, .gap = NAN };
    mel_optimise_options_init(&use);
    TRY(mel_options_take(&use, sizeof use, opt, "optimise options", err));
    if (mel_measure_groups(measure) > 1)
        return mel_fail(err, MEL_EINVAL,
                        "the groups of the training rows are not known: corrections are for "
                        "metrics without groups");
    if (train->label == NULL || validation->label == NULL)
        return mel_fail(err, MEL_EINVAL, "expected labels of the rows");
    TRY(mel_optimise_check_rows("training", train, n_classes, 1, err));
    TRY(mel_optimise_check_rows("validation", validation, n_classes, 1, err));
    const mel_status status =
        find_corrected(found, n_classes, train, validation, measure, correction, inverse, &use, err);
    if (status != MEL_OK)
        mel_optimise_clear(found);
    return status;
}
