/* Classifiers in memory: their names, what they say in words, and what they decide. */
#include "base/buffer.h"
#include "classify/classify.h"
#include "classify/shared.h"
#include "data/quote.h"
#include "metric/text.h"
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
    free(c->statistics);
    json_decref(c->layout);
    json_decref(c->achieved);
    free(c);
}

mel_status mel_classifier_new(mel_classifier **out, size_t n_classes, size_t n_groups, mel_error *err)
{
    mel_classifier *c = mel_alloc_zero(1, sizeof *c);
    *out = c;
    if (c == NULL)
        return mel_fail_memory(err, "a classifier");
    *c = (mel_classifier){ .n_classes = n_classes, .n_groups = n_groups, .value = NAN };
    return MEL_OK;
}

bool mel_classifier_make_room(mel_classifier *c, size_t n)
{
    const size_t k = c->n_classes, m = c->n_groups > 1 ? c->n_groups : 1;
    c->blend = (mel_blend){ .n_rules = n, .n_classes = k, .n_groups = c->n_groups };
    c->blend.gain = mel_alloc_zero(n * m * k * k, sizeof *c->blend.gain);
    c->blend.share = mel_alloc_zero(n, sizeof *c->blend.share);
    if (c->blend.gain == NULL || c->blend.share == NULL)
        return false;
    c->blend.share[0] = 1.0;
    return true;
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
                return mel_fail(err, MEL_EDATA, "%s[%zu]: %s is there a second time", key, i,
                                mel_quote_text(name[i]).text);
    }
    *out = mel_names_copy(n, name, first);
    return *out != NULL ? MEL_OK : mel_fail_memory(err, "names");
}

mel_status mel_classifier_set_source(mel_classifier *c, const mel_classifier_source *source, mel_error *err)
{
    mel_classifier_names names = { 0 };
    mel_status status = copy_names(&names.class_name, c->n_classes, source->class_name, 0, "classes", err);
    if (status == MEL_OK && source->label != NULL)
        status = copy_names(&names.label, c->n_classes, source->label, 0, "labels", err);
    if (status == MEL_OK)
        status = copy_names(&names.group_name, c->n_groups, source->group_name, 1, "groups", err);
    if (status == MEL_OK && source->space != NULL) {
        status = mel_json_parse(&names.space, source->space, strlen(source->space), err);
        status = status == MEL_OK ? status : mel_fail_in(err, status, "space");
    }
    if (status != MEL_OK) {
        clear_names(&names, c);
        return status;
    }
    clear_names(&c->names, c);
    c->names = names;
    return MEL_OK;
}

mel_classifier_parts mel_classifier_get(const mel_classifier *c)
{
    return (mel_classifier_parts){
        .n_classes = c->n_classes,
        .n_groups = c->n_groups,
        .class_name = (const char *const *)c->names.class_name,
        .label = (const char *const *)c->names.label,
        .group_name = (const char *const *)c->names.group_name,
        .mixture = c->mixture.n > 0 ? &c->mixture : NULL,
        .blend = c->mixture.n > 0 ? NULL : &c->blend,
        .statistics = c->statistics,
        .value = c->value,
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
    else
        mel_buffer_puts(&text, "predict the class with the largest expected gain under a matrix of gains");
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

static mel_status apply_rule(uint32_t *prediction, const mel_classifier *c, size_t r, size_t n,
                             const double *probability, const uint32_t *group, mel_error *err)
{
    const size_t k = c->n_classes, m = c->n_groups > 1 ? c->n_groups : 1;
    return c->mixture.n > 0 ? apply_threshold(prediction, c->mixture.rule[r], n, probability, err)
                            : mel_rule_predict(prediction, n, k, c->n_groups, probability, group,
                                               c->blend.gain + r * m * k * k, err);
}

mel_status mel_classifier_chances(double *chance, const mel_classifier *c, size_t n,
                                  const double *probability, const uint32_t *group, mel_error *err)
{
    const double *share = mel_classifier_shares(c);
    uint32_t *prediction = mel_alloc(n, sizeof *prediction);
    if (prediction == NULL)
        return mel_fail_memory(err, "predictions");
    mel_status status = MEL_OK;
    for (size_t i = 0; i < n * c->n_classes; i++)
        chance[i] = 0.0;
    for (size_t r = 0; r < mel_classifier_rules(c) && status == MEL_OK; r++) {
        status = apply_rule(prediction, c, r, n, probability, group, err);
        for (size_t i = 0; i < n && status == MEL_OK; i++)
            chance[i * c->n_classes + prediction[i]] += share[r];
    }
    free(prediction);
    return status;
}

static void draw_rules(uint32_t *rule, const mel_classifier *c, size_t n, uint64_t seed)
{
    const double *share = mel_classifier_shares(c);
    const size_t last = mel_classifier_rules(c) - 1;
    mel_rng rng;
    mel_rng_seed(&rng, seed);
    for (size_t i = 0; i < n; i++) {
        double left = mel_rng_uniform(&rng);
        size_t r = 0;
        while (r < last && left >= share[r])
            left -= share[r++];
        rule[i] = (uint32_t)r;
    }
}

mel_status mel_classifier_decide(uint32_t *prediction, const mel_classifier *c, size_t n,
                                 const double *probability, const uint32_t *group, uint64_t seed,
                                 mel_error *err)
{
    uint32_t *rule = mel_alloc(n, 2 * sizeof *rule);
    if (rule == NULL)
        return mel_fail_memory(err, "predictions");
    uint32_t *said = rule + n;
    draw_rules(rule, c, n, seed);
    mel_status status = MEL_OK;
    for (size_t r = 0; r < mel_classifier_rules(c) && status == MEL_OK; r++) {
        status = apply_rule(said, c, r, n, probability, group, err);
        for (size_t i = 0; i < n && status == MEL_OK; i++)
            if (rule[i] == r)
                prediction[i] = said[i];
    }
    free(rule);
    return status;
}
