/* Classifiers in memory: their names, what they say in words, and what they decide. */
#include "base/buffer.h"
#include "classify/basis.h"
#include "classify/classify.h"
#include "classify/steps.h"
#include "data/quote.h"
#include "metric/text.h"
#include "model/shared.h"
#include "space/shared.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WORDS = 1 << 20 };

static void clear_names(mel_classifier_names *names, const mel_classifier *of)
{
    mel_names_free(names->class_name, of->n_classes);
    mel_names_free(names->label, of->n_classes);
    mel_names_free(names->group_name, of->n_groups);
    json_decref(names->space);
}

void mel_classifier_free(mel_classifier *c)
{
    if (c == NULL)
        return;
    clear_names(&c->names, c);
    mel_blend_clear(&c->blend);
    mel_adjustment_clear(&c->adjustment);
    mel_weight_basis_free(c->basis);
    mel_names_free(c->cost_column, c->n_classes);
    free(c->statistics);
    json_decref(c->layout);
    json_decref(c->achieved);
    json_decref(c->found);
    free(c);
}

mel_status mel_classifier_new(mel_classifier **out, size_t n_classes, size_t n_groups, mel_error *err)
{
    mel_classifier *c = mel_alloc_zero(1, sizeof *c);
    *out = c;
    if (c == NULL)
        return mel_fail_memory(err, "a classifier");
    *c = (mel_classifier){
        .n_classes = n_classes, .n_groups = n_groups, .n_decisions = n_classes, .value = NAN
    };
    return MEL_OK;
}

bool mel_classifier_make_room(mel_classifier *c, size_t n)
{
    const size_t blocks = mel_classifier_blocks(c);
    c->blend = (mel_blend){ .n_rules = n, .n_classes = c->n_classes, .n_groups = blocks > 1 ? blocks : 0 };
    c->blend.gain = mel_alloc_zero(n * mel_classifier_gains(c), sizeof *c->blend.gain);
    c->blend.share = mel_alloc_zero(n, sizeof *c->blend.share);
    if (c->blend.gain == NULL || c->blend.share == NULL)
        return false;
    c->blend.share[0] = 1.0;
    return true;
}

void mel_classifier_take_basis(mel_classifier *c, mel_weight_basis *basis)
{
    const bool plain =
        basis != NULL && mel_weight_basis_size(basis) == 1 && !mel_weight_basis_reads_features(basis);
    c->basis = plain ? NULL : basis;
    if (plain) /* 1 everywhere: gains say it all */
        mel_weight_basis_free(basis);
}

mel_status mel_classifier_of_blend(mel_classifier **out, const mel_blend *mixture, mel_weight_basis *basis,
                                   bool majority, double value, mel_error *err)
{
    *out = NULL;
    const size_t n = mixture->n_groups > 1 ? mixture->n_groups : 1;
    MEL_AUTO(mel_weight_basis) *own = basis;
    MEL_AUTO(mel_classifier) *c = NULL;
    if (basis != NULL && mel_weight_basis_size(basis) != n)
        return mel_fail(err, MEL_EINVAL, "%zu basis functions for rules of %zu", mel_weight_basis_size(basis),
                        n);
    TRY(mel_classifier_new(&c, mixture->n_classes, basis == NULL && n > 1 ? n : 0, err));
    mel_classifier_take_basis(c, own);
    own = NULL;
    c->majority = majority;
    c->value = value;
    if (!mel_classifier_make_room(c, mixture->n_rules))
        return mel_fail_memory(err, "a classifier");
    memcpy(c->blend.gain, mixture->gain, mixture->n_rules * mel_classifier_gains(c) * sizeof *mixture->gain);
    memcpy(c->blend.share, mixture->share, mixture->n_rules * sizeof *mixture->share);
    TRY(mel_classifier_set_source(c, &(mel_classifier_source){ 0 }, err));
    *out = c;
    c = NULL;
    return MEL_OK;
}

/* --- names -------------------------------------------------------------------------------------- */

/* n copies; name NULL: numbers from `first` up. `key` is what refusals call the list. */
static mel_status copy_names(char ***out, size_t n, const char *const *name, size_t first, const char *key,
                             mel_error *err)
{
    for (size_t i = 0; i < n && name != NULL; i++) {
        if (name[i] == NULL)
            return mel_fail(err, MEL_EDATA, "%s[%zu]: not a text", key, i);
        if (!mel_text_is_utf8(name[i]))
            return mel_fail(err, MEL_EDATA, "%s[%zu]: %s is not UTF-8", key, i, mel_quote_text(name[i]).text);
        for (size_t j = 0; j < i; j++)
            if (strcmp(name[i], name[j]) == 0)
                return mel_fail(err, MEL_EDATA, "%s[%zu]: %s appears a second time", key, i,
                                mel_quote_text(name[i]).text);
    }
    *out = mel_names_copy(n, name, first);
    return *out != NULL ? MEL_OK : mel_fail_memory(err, "names");
}

mel_status mel_classifier_set_source(mel_classifier *c, const mel_classifier_source *source, mel_error *err)
{
    mel_classifier_names names = { .number_texts = source->number_texts };
    mel_status status = copy_names(&names.class_name, c->n_classes, source->class_name, 0, "classes", err);
    if (status == MEL_OK && source->label != NULL)
        status = copy_names(&names.label, c->n_classes, source->label, 0, "labels", err);
    if (status == MEL_OK)
        status = copy_names(&names.group_name, c->n_groups, source->group_name, 1, "groups", err);
    if (status == MEL_OK && source->space != NULL) {
        status = mel_json_parse(&names.space, source->space, strlen(source->space), err);
        status = status == MEL_OK ? status : mel_fail_in(err, status, "space");
    }
    char **columns = NULL;
    if (status == MEL_OK && source->cost_column != NULL) {
        columns = mel_names_copy(c->n_classes, source->cost_column, 0);
        status = columns != NULL ? MEL_OK : mel_fail_memory(err, "names");
    }
    if (status != MEL_OK) {
        clear_names(&names, c);
        return status;
    }
    clear_names(&c->names, c);
    c->names = names;
    if (columns != NULL) {
        mel_names_free(c->cost_column, c->n_classes);
        c->cost_column = columns;
    }
    return MEL_OK;
}

mel_status mel_classifier_set_found(mel_classifier *c, const char *json, mel_error *err)
{
    json_t *found = NULL;
    const mel_status status = mel_json_parse(&found, json, strlen(json), err);
    if (status != MEL_OK)
        return mel_fail_in(err, status, "found");
    json_decref(c->found);
    c->found = found;
    return MEL_OK;
}

mel_classifier_parts mel_classifier_get(const mel_classifier *c)
{
    return (mel_classifier_parts){
        .n_classes = c->n_classes,
        .n_groups = c->n_groups,
        .class_name = (const char *const *)c->names.class_name,
        .label = (const char *const *)c->names.label,
        .number_texts = c->names.number_texts,
        .group_name = (const char *const *)c->names.group_name,
        .mixture = c->mixture.n > 0 ? &c->mixture : NULL,
        .blend = c->mixture.n > 0 ? NULL : &c->blend,
        .n_decisions = c->n_decisions,
        .adjustment = c->adjustment.n_classes > 0 ? &c->adjustment : NULL,
        .cost_column = (const char *const *)c->cost_column,
        .statistics = c->statistics,
        .value = c->value,
        .basis = c->basis,
        .majority = c->majority,
    };
}

/* Scores are probabilities: a threshold below 0 or above 1 decides about all of them. */
static void add_threshold(mel_buffer *out, mel_rule rule, const char *positive)
{
    if (rule.threshold >= 0.0 && rule.threshold <= 1.0)
        mel_buffer_printf(out, "predict %s when its probability is %s %.6g", positive,
                          rule.inverted ? "below" : "at least", rule.threshold);
    else
        mel_buffer_printf(out, "%s predict %s", (rule.threshold < 0.0) != rule.inverted ? "always" : "never",
                          positive);
}

/* The model's own probability of the second class that an adjusted one comes from. */
static double before_adjustment(const mel_classifier *c, size_t group, double p)
{
    const mel_adjustment *a = &c->adjustment;
    return a->n_classes == 0 ? p : mel_adjustment_undo(a, group, p);
}

/* Whether adjusted probabilities fall as the model's own rise. */
static bool falls(const mel_classifier *c, size_t group)
{
    const mel_adjustment *a = &c->adjustment;
    return a->n_classes == 2 && a->sharpness[a->n_groups > 0 ? 2 * group : 0] < 0.0;
}

/* Where decision b begins to be worth more than decision a as the probability grows. */
static double crossing(const double *gain, size_t d, size_t a, size_t b)
{
    const double first = gain[b] - gain[a], second = gain[d + b] - gain[d + a];
    return first / (first - second);
}

/* "refer from 0.1, cancer from 0.7": every decision from where it is best, lowest first. */
static void add_ranges(mel_buffer *out, const mel_classifier *c, size_t group, const double *gain)
{
    const size_t d = c->n_decisions;
    size_t now = 0;
    double at = 0.0;
    for (size_t j = 1; j < d; j++) /* best at 0 */
        now = gain[j] > gain[now] ? j : now;
    mel_buffer_printf(out, "%s", now < 2 ? c->names.class_name[now] : MEL_REFER);
    for (size_t turn = 0; turn < d; turn++) {
        size_t next = d;
        double from = 2.0;
        for (size_t j = 0; j < d; j++) {
            const double where = j != now && gain[d + j] - gain[j] > gain[d + now] - gain[now]
                                     ? crossing(gain, d, now, j)
                                     : 2.0;
            if (where >= at && where < from) {
                from = where;
                next = j;
            }
        }
        if (next == d || from > 1.0)
            return;
        mel_buffer_printf(out, ", %s %s %.4g", next < 2 ? c->names.class_name[next] : MEL_REFER,
                          falls(c, group) ? "below" : "from", before_adjustment(c, group, from));
        now = next;
        at = from;
    }
}

/* Thresholds of gains: "women: cancer from 0.18; men: cancer from 0.22". */
static void add_thresholds(mel_buffer *out, const mel_classifier *c, size_t rule)
{
    const size_t m = c->n_groups > 1 ? c->n_groups : 1, size = 2 * c->n_decisions;
    for (size_t g = 0; g < m; g++) {
        const double *gain = c->blend.gain + (rule * m + g) * size;
        if (m > 1)
            mel_buffer_printf(out, "%s%s: ", g > 0 ? "; " : "", c->names.group_name[g]);
        if (c->n_decisions > 2) {
            add_ranges(out, c, g, gain);
            continue;
        }
        const mel_rule at = mel_gain_threshold(gain);
        const char *positive = c->names.class_name[1];
        if (isfinite(at.threshold))
            mel_buffer_printf(out, "%s %s %.4g", positive, at.inverted != falls(c, g) ? "below" : "from",
                              before_adjustment(c, g, at.threshold));
        else
            mel_buffer_printf(out, "%s %s", (at.threshold < 0.0) != at.inverted ? "always" : "never",
                              positive);
    }
}

mel_status mel_classifier_words(char **out, const mel_classifier *c, size_t rule, mel_error *err)
{
    *out = NULL;
    if (rule >= mel_classifier_rules(c))
        return mel_fail(err, MEL_EINVAL, "rule %zu of a classifier with %zu rules", rule,
                        mel_classifier_rules(c));
    mel_buffer text;
    mel_buffer_init(&text, MOST_WORDS);
    if (c->mixture.n > 0)
        add_threshold(&text, c->mixture.rule[rule], c->names.class_name[1]);
    else if (c->n_classes == 2 && c->cost_column == NULL && c->basis == NULL)
        add_thresholds(&text, c, rule);
    else
        mel_buffer_puts(&text, "predict the class with the largest expected gain under a matrix of gains");
    if (c->mixture.n > 0 && c->cost_column != NULL)
        mel_buffer_puts(&text, " (probabilities weighed by the costs of the row)");
    return mel_text_take(out, &text, "a rule in words", err);
}

/* --- decisions ---------------------------------------------------------------------------------- */

static mel_status apply_threshold(uint32_t *prediction, mel_rule rule, size_t n, const double *probability,
                                  mel_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const double p = probability[2 * i + 1];
        if (!isfinite(p))
            return mel_fail(err, MEL_EDATA, "row %zu: the probability %g is not finite", i + 1, p);
        prediction[i] = (p >= rule.threshold) != rule.inverted;
    }
    return MEL_OK;
}

/* The first decision with the largest gain, where there are more decisions than classes. */
static mel_status apply_gains(uint32_t *prediction, const mel_classifier *c, const double *gain, size_t n,
                              const double *probability, const uint32_t *group, mel_error *err)
{
    const size_t k = c->n_classes, d = c->n_decisions;
    for (size_t i = 0; i < n; i++) {
        const double *own = gain + (mel_classifier_blocks(c) > 1 ? group[i] : 0) * k * d;
        double most = -INFINITY;
        for (size_t j = 0; j < d; j++) {
            double score = 0.0;
            for (size_t t = 0; t < k; t++)
                score += probability[i * k + t] * own[t * d + j];
            if (!isfinite(score))
                return mel_fail(err, MEL_EDATA, "row %zu: a probability is not finite", i + 1);
            prediction[i] = score > most ? (uint32_t)j : prediction[i];
            most = fmax(most, score);
        }
    }
    return MEL_OK;
}

/* By gains for each basis function; phi: their values. */
static mel_status apply_weights(uint32_t *prediction, const mel_classifier *c, const double *gain, size_t n,
                                const double *probability, const double *phi, mel_error *err)
{
    const size_t k = c->n_classes, l = mel_classifier_blocks(c);
    const bool diagonal = mel_weighted_diagonal(k, l, gain);
    MEL_AUTO_MEMORY double *score = mel_alloc(k, sizeof *score);
    if (score == NULL)
        return mel_fail_memory(err, "scores");
    for (size_t i = 0; i < n * k; i++)
        if (!isfinite(probability[i]))
            return mel_fail(err, MEL_EDATA, "row %zu: the probability %g is not finite", i / k + 1,
                            probability[i]);
    for (size_t i = 0; i < n; i++)
        prediction[i] = mel_weighted_class(k, l, gain, diagonal, probability + i * k, phi + i * l, score);
    return MEL_OK;
}

/* What rules look at: probabilities and values of basis functions, computed where `own` and `phi` are not
 * NULL. */
typedef struct {
    size_t n;
    const double *probability;
    const uint32_t *group;
    double *own, *phi;
} seen_rows;

static mel_status apply_rule(uint32_t *prediction, const mel_classifier *c, size_t r, const seen_rows *rows,
                             mel_error *err)
{
    const double *p = rows->probability,
                 *gain = c->mixture.n > 0 ? NULL : c->blend.gain + r * mel_classifier_gains(c);
    if (gain == NULL)
        return apply_threshold(prediction, c->mixture.rule[r], rows->n, p, err);
    if (c->basis != NULL)
        return apply_weights(prediction, c, gain, rows->n, p, rows->phi, err);
    return c->n_decisions != c->n_classes
               ? apply_gains(prediction, c, gain, rows->n, p, rows->group, err)
               : mel_rule_predict(prediction, rows->n, c->n_classes, c->n_groups, p, rows->group, gain, err);
}

static void clear_seen(seen_rows *seen)
{
    free(seen->own);
    free(seen->phi);
}

static mel_status adjust_rows(seen_rows *out, const mel_classifier *c, const mel_undecided *rows,
                              mel_error *err)
{
    const size_t k = c->n_classes;
    if (c->adjustment.n_classes == 0 && rows->row_cost == NULL)
        return MEL_OK;
    out->own = mel_alloc(rows->n * k, sizeof *out->own);
    if (out->own == NULL)
        return mel_fail_memory(err, "predictions");
    if (c->adjustment.n_classes > 0)
        mel_adjust(out->own, &c->adjustment, rows->n, rows->probability, rows->group);
    else
        memcpy(out->own, rows->probability, rows->n * k * sizeof *out->own);
    for (size_t i = 0; i < rows->n && rows->row_cost != NULL; i++)
        (void)mel_weigh_costs(out->own + i * k, rows->row_cost + i * k, k);
    out->probability = out->own;
    return MEL_OK;
}

static mel_status see_rows(seen_rows *out, const mel_classifier *c, const mel_undecided *rows, mel_error *err)
{
    if ((c->cost_column != NULL) != (rows->row_cost != NULL))
        return mel_fail(err, MEL_EINVAL,
                        rows->row_cost != NULL ? "the classifier does not know costs of rows"
                                               : "the classifier needs the costs of the rows");
    TRY(adjust_rows(out, c, rows, err));
    if (c->basis == NULL)
        return MEL_OK;
    out->phi = mel_alloc(rows->n, mel_classifier_blocks(c) * sizeof *out->phi);
    return out->phi != NULL ? mel_weight_basis_values(out->phi, c->basis, rows->features, rows->n, err)
                            : mel_fail_memory(err, "basis functions");
}

mel_status mel_classifier_chances(double *chance, const mel_classifier *c, const mel_undecided *rows,
                                  mel_error *err)
{
    const size_t d = c->n_decisions;
    const double *share = mel_classifier_shares(c);
    __attribute__((cleanup(clear_seen)))
    seen_rows seen = { rows->n, rows->probability, rows->group, NULL, NULL };
    MEL_AUTO_MEMORY uint32_t *prediction = mel_alloc(rows->n, sizeof *prediction);
    if (prediction == NULL)
        return mel_fail_memory(err, "predictions");
    TRY(see_rows(&seen, c, rows, err));
    for (size_t i = 0; i < rows->n * d; i++)
        chance[i] = 0.0;
    for (size_t r = 0; r < mel_classifier_rules(c); r++) {
        TRY(apply_rule(prediction, c, r, &seen, err));
        for (size_t i = 0; i < rows->n; i++)
            chance[i * d + prediction[i]] += share[r];
    }
    for (size_t i = 0; i < rows->n && c->majority; i++)
        mel_weighted_majority(chance + i * d, d);
    return MEL_OK;
}

/* The rule that a uniform number falls on. */
static uint32_t rule_at(const mel_classifier *c, double uniform)
{
    const double *share = mel_classifier_shares(c);
    const size_t last = mel_classifier_rules(c) - 1;
    double left = uniform;
    size_t r = 0;
    while (r < last && left >= share[r])
        left -= share[r++];
    return (uint32_t)r;
}

/* A uniform number from the name of a row and the seed. */
static double uniform_of(const char *name, uint64_t seed)
{
    uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */
    for (const char *at = name; *at != '\0'; at++)
        hash = (hash ^ (unsigned char)*at) * UINT64_C(1099511628211);
    mel_rng rng;
    mel_rng_seed_stream(&rng, seed, hash);
    return mel_rng_uniform(&rng);
}

static void draw_uniform(double *uniform, const mel_undecided *rows)
{
    mel_rng rng;
    mel_rng_seed(&rng, rows->seed);
    mel_rng_skip(&rng, rows->before);
    for (size_t i = 0; i < rows->n; i++)
        uniform[i] =
            rows->row_name != NULL ? uniform_of(rows->row_name[i], rows->seed) : mel_rng_uniform(&rng);
}

/* A decision by its chance. */
static mel_status draw_decisions(uint32_t *prediction, const mel_classifier *c, const mel_undecided *rows,
                                 const double *uniform, mel_error *err)
{
    const size_t d = c->n_decisions;
    MEL_AUTO_MEMORY double *chance = mel_alloc(rows->n, d * sizeof *chance);
    if (chance == NULL)
        return mel_fail_memory(err, "predictions");
    TRY(mel_classifier_chances(chance, c, rows, err));
    for (size_t i = 0; i < rows->n; i++) {
        double left = uniform[i];
        uint32_t j = 0;
        while (j + 1 < d && left >= chance[i * d + j])
            left -= chance[i * d + j++];
        prediction[i] = j;
    }
    return MEL_OK;
}

/* What the rule decides that each row's number falls on; with basis functions, what the rules decide
 * together.
 */
mel_status mel_classifier_decide(uint32_t *prediction, const mel_classifier *c, const mel_undecided *rows,
                                 mel_error *err)
{
    __attribute__((cleanup(clear_seen)))
    seen_rows seen = { rows->n, rows->probability, rows->group, NULL, NULL };
    MEL_AUTO_MEMORY double *uniform = mel_alloc(rows->n, sizeof *uniform);
    MEL_AUTO_MEMORY uint32_t *said = mel_alloc(rows->n, 2 * sizeof *said);
    if (uniform == NULL || said == NULL)
        return mel_fail_memory(err, "predictions");
    draw_uniform(uniform, rows);
    if (c->basis != NULL || c->majority)
        return draw_decisions(prediction, c, rows, uniform, err);
    TRY(see_rows(&seen, c, rows, err));
    uint32_t *rule = said + rows->n;
    for (size_t i = 0; i < rows->n; i++)
        rule[i] = rule_at(c, uniform[i]);
    for (size_t r = 0; r < mel_classifier_rules(c); r++) {
        TRY(apply_rule(said, c, r, &seen, err));
        for (size_t i = 0; i < rows->n; i++)
            if (rule[i] == r)
                prediction[i] = said[i];
    }
    return MEL_OK;
}
