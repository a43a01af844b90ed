#include "classifier.h"
#include "numbers.h"
#include "output.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double most_gains = 1e9; /* numbers in all matrices of a file */

/* --- writing ------------------------------------------------------------------------------------ */

static json_t *names(size_t n, char *const *name)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        cli_push(array, cli_json_text(name[i]));
    return array;
}

static json_t *begin(const cli_space *space)
{
    json_t *object = json_object();
    cli_put(object, "format", cli_json_text("melicit-classifier"));
    cli_put(object, "version", json_integer(1));
    cli_put(object, "classes", names(space->n_classes, space->class_name));
    cli_put(object, "labels", names(space->n_classes, space->classes.label));
    return object;
}

static json_t *end(json_t *object, const cli_space *space, double value)
{
    if (isfinite(value))
        cli_put(object, "value", cli_json_number(value));
    cli_put(object, "space", json_deep_copy(space->description));
    return object;
}

json_t *cli_planar_classifier(const cli_space *space, const cli_best *best)
{
    const double positives = mel_face_positives(space->face), negatives = mel_face_negatives(space->face);
    json_t *object = begin(space), *statistics = json_object();
    cli_put(object, "positive", cli_json_text(space->class_name[1]));
    cli_put(object, "rules", cli_mixture_json(&best->mixture));
    cli_put(statistics, "tp", cli_json_number(best->point.tp));
    cli_put(statistics, "tn", cli_json_number(best->point.tn));
    cli_put(statistics, "fn", cli_json_number(positives - best->point.tp));
    cli_put(statistics, "fp", cli_json_number(negatives - best->point.tn));
    cli_put(object, "statistics", statistics);
    return end(object, space, best->value);
}

json_t *cli_blend_classifier(const cli_space *space, const mel_blend *blend, const double *statistics,
                             double value)
{
    const mel_layout *layout = mel_space_layout(space->space);
    json_t *object = begin(space), *shape = json_object();
    cli_put(object, "groups", names(layout->n_groups > 1 ? space->n_groups : 0, space->group_name));
    cli_put(shape, "kind", cli_json_text(mel_kind_name(layout->kind)));
    cli_put(shape, "coordinates", cli_json_text(mel_coordinates_name(layout->coordinates)));
    cli_put(object, "layout", shape);
    cli_put(object, "rules", cli_blend_json(blend));
    cli_put(object, "statistics", cli_vector_json(mel_space_size(space->space), statistics));
    return end(object, space, value);
}

/* --- reading ------------------------------------------------------------------------------------ */

void cli_classifier_clear(cli_classifier *classifier)
{
    cli_names_free(classifier->class_name, classifier->n_classes);
    cli_names_free(classifier->group_name, classifier->n_groups);
    cli_classes_clear(&classifier->classes);
    mel_blend_clear(&classifier->blend);
    *classifier = (cli_classifier){ 0 };
}

static mel_status read_names(char ***out, size_t *n, const json_t *array, const char *key, mel_error *err)
{
    const size_t size = json_array_size(array);
    char **name = cli_alloc_zero(size, sizeof *name);
    mel_status status = MEL_OK;
    for (size_t i = 0; i < size; i++) {
        const char *text = json_string_value(json_array_get(array, i));
        if (text == NULL)
            status = cli_fail(err, MEL_EDATA, "%s[%zu]: not a text", key, i);
        name[i] = cli_format("%s", text != NULL ? text : "");
        for (size_t j = 0; j < i && status == MEL_OK; j++)
            if (strcmp(name[i], name[j]) == 0)
                status = cli_fail(err, MEL_EDATA, "%s[%zu]: \"%s\" is there a second time", key, i, name[i]);
    }
    *out = name;
    *n = size;
    return status;
}

static mel_status read_number(double *out, const json_t *value, const char *place, size_t rule,
                              mel_error *err)
{
    *out = json_number_value(value);
    return json_is_number(value) && isfinite(*out)
               ? MEL_OK
               : cli_fail(err, MEL_EDATA, "rules[%zu].%s: not a number", rule, place);
}

/* A matrix of k rows of k numbers. */
static mel_status read_gain(double *out, const json_t *matrix, size_t k, size_t rule, mel_error *err)
{
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < k; j++) {
            const json_t *row = json_array_get(matrix, i);
            if (json_array_size(matrix) != k || json_array_size(row) != k)
                return cli_fail(err, MEL_EDATA, "rules[%zu].gain: not a matrix of %zu x %zu numbers", rule, k,
                                k);
            const mel_status status = read_number(&out[i * k + j], json_array_get(row, j), "gain", rule, err);
            if (status != MEL_OK)
                return status;
        }
    return MEL_OK;
}

static mel_status read_gains(cli_classifier *c, const json_t *rules, mel_error *err)
{
    const size_t k = c->n_classes, m = c->n_groups > 1 ? c->n_groups : 1, n = json_array_size(rules);
    c->blend = (mel_blend){ .n_rules = n, .n_classes = k, .n_groups = c->n_groups };
    c->blend.gain = cli_alloc_zero(n * m * k * k, sizeof *c->blend.gain);
    c->blend.share = cli_alloc_zero(n, sizeof *c->blend.share);
    mel_status status = MEL_OK;
    for (size_t r = 0; r < n && status == MEL_OK; r++) {
        const json_t *rule = json_array_get(rules, r), *gain = json_object_get(rule, "gain");
        status = read_number(&c->blend.share[r], json_object_get(rule, "share"), "share", r, err);
        if (status == MEL_OK && m > 1 && json_array_size(gain) != m)
            status = cli_fail(err, MEL_EDATA, "rules[%zu].gain: one matrix for each of %zu groups is wanted",
                              r, m);
        for (size_t g = 0; g < m && status == MEL_OK; g++)
            status = read_gain(c->blend.gain + (r * m + g) * k * k, m > 1 ? json_array_get(gain, g) : gain, k,
                               r, err);
    }
    return status;
}

static mel_status read_thresholds(cli_classifier *c, const json_t *file, mel_error *err)
{
    const json_t *rules = json_object_get(file, "rules");
    const size_t n = json_array_size(rules);
    if (c->n_classes != 2 || n > MEL_MIXTURE_RULES)
        return cli_fail(err, MEL_EDATA, "rules: at most %d thresholds on two classes are understood",
                        MEL_MIXTURE_RULES);
    const char *positive = json_string_value(json_object_get(file, "positive"));
    if (positive != NULL && strcmp(positive, c->class_name[1]) != 0)
        return cli_fail(err, MEL_EDATA, "positive: \"%s\" is not the second class, \"%s\"", positive,
                        c->class_name[1]);
    c->planar = true;
    c->mixture.n = n;
    mel_status status = MEL_OK;
    for (size_t r = 0; r < n && status == MEL_OK; r++) {
        const json_t *rule = json_array_get(rules, r);
        mel_rule *out = &c->mixture.rule[r];
        const json_t *inverted = json_object_get(rule, "inverted");
        if (inverted != NULL && !json_is_boolean(inverted))
            return cli_fail(err, MEL_EDATA, "rules[%zu].inverted: neither true nor false", r);
        out->inverted = json_is_true(inverted);
        status = read_number(&out->threshold, json_object_get(rule, "threshold"), "threshold", r, err);
        if (status == MEL_OK)
            status = read_number(&c->mixture.share[r], json_object_get(rule, "share"), "share", r, err);
    }
    return status;
}

static mel_status check_shares(const cli_classifier *c, mel_error *err)
{
    const size_t n = c->planar ? c->mixture.n : c->blend.n_rules;
    const double *share = c->planar ? c->mixture.share : c->blend.share;
    double sum = 0.0;
    for (size_t r = 0; r < n; r++) {
        if (!(share[r] >= 0.0))
            return cli_fail(err, MEL_EDATA, "rules[%zu].share: %g is negative", r, share[r]);
        sum += share[r];
    }
    return fabs(sum - 1.0) <= 1e-9 ? MEL_OK
                                   : cli_fail(err, MEL_EDATA, "rules: the shares add up to %g, not 1", sum);
}

/* The numbers of a mixture fit into memory, and their count into a size_t. */
static mel_status check_count(const json_t *file, mel_error *err)
{
    const size_t k = json_array_size(json_object_get(file, "classes"));
    const size_t m = json_array_size(json_object_get(file, "groups"));
    const size_t n = json_array_size(json_object_get(file, "rules"));
    const double gains = (double)n * (m > 1 ? (double)m : 1.0) * (double)k * (double)k;
    return gains <= most_gains
               ? MEL_OK
               : cli_fail(err, MEL_EDATA, "rules: %zu for %zu classes and %zu groups are too many", n, k, m);
}

/* What files call the classes; files of old do not say so. */
static mel_status read_labels(cli_classifier *c, const json_t *array, mel_error *err)
{
    const size_t n = c->n_classes;
    char **label = NULL;
    size_t n_labels = 0;
    mel_status status = read_names(&label, &n_labels, array, "labels", err);
    if (status == MEL_OK && array != NULL && n_labels != n)
        status = cli_fail(err, MEL_EDATA, "labels: %zu for %zu classes", n_labels, n);
    if (status == MEL_OK) {
        c->labels_known = array != NULL;
        c->classes = (cli_classes){ .n = n, .name = cli_names_copy(n, (const char *const *)c->class_name) };
        c->classes.label = cli_names_copy(n, (const char *const *)(array != NULL ? label : c->class_name));
        c->classes.place = cli_alloc_zero(n, sizeof *c->classes.place);
        size_t *order = cli_alloc_zero(n, sizeof *order);
        status = mel_sort_class_names(order, n, (const char *const *)c->classes.label, err);
        for (size_t i = 0; i < n && status == MEL_OK; i++)
            c->classes.place[order[i]] = i;
        free(order);
    }
    cli_names_free(label, n_labels);
    return status;
}

static mel_status read_classifier(cli_classifier *c, const json_t *file, mel_error *err)
{
    const char *format = json_string_value(json_object_get(file, "format"));
    const json_t *version = json_object_get(file, "version"), *rules = json_object_get(file, "rules");
    if (format == NULL || strcmp(format, "melicit-classifier") != 0)
        return cli_fail(err, MEL_EDATA, "not a classifier (no \"format\": \"melicit-classifier\")");
    if (!json_is_integer(version) || json_integer_value(version) != 1)
        return cli_fail(err, MEL_EDATA, "version 1 of classifiers is understood, not this one");
    mel_status status = check_count(file, err);
    if (status == MEL_OK)
        status = read_names(&c->class_name, &c->n_classes, json_object_get(file, "classes"), "classes", err);
    if (status == MEL_OK)
        status = read_names(&c->group_name, &c->n_groups, json_object_get(file, "groups"), "groups", err);
    if (status == MEL_OK)
        status = read_labels(c, json_object_get(file, "labels"), err);
    if (status == MEL_OK && c->n_classes < 2)
        status = cli_fail(err, MEL_EDATA, "classes: at least two are wanted");
    if (status == MEL_OK && json_array_size(rules) == 0)
        status = cli_fail(err, MEL_EDATA, "rules: at least one is wanted");
    if (status != MEL_OK)
        return status;
    status = json_object_get(json_array_get(rules, 0), "gain") != NULL ? read_gains(c, rules, err)
                                                                       : read_thresholds(c, file, err);
    return status == MEL_OK ? check_shares(c, err) : status;
}

mel_status cli_classifier_load(cli_classifier *out, const char *path, mel_error *err)
{
    *out = (cli_classifier){ 0 };
    FILE *stream = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    if (stream == NULL)
        return cli_fail(err, MEL_EDATA, "%s: %s", path, strerror(errno));
    json_error_t bad;
    json_t *file = json_loadf(stream, JSON_REJECT_DUPLICATES, &bad);
    if (stream != stdin)
        (void)fclose(stream);
    if (file == NULL)
        return cli_fail(err, MEL_EDATA, "%s, line %d: %s", path, bad.line, bad.text);
    mel_status status = read_classifier(out, file, err);
    json_decref(file);
    if (status != MEL_OK) {
        status = cli_fail_in(err, status, path);
        cli_classifier_clear(out);
    }
    return status;
}

/* --- at work ------------------------------------------------------------------------------------ */

static size_t rules_of(const cli_classifier *c)
{
    return c->planar ? c->mixture.n : c->blend.n_rules;
}

static double share_of(const cli_classifier *c, size_t rule)
{
    return c->planar ? c->mixture.share[rule] : c->blend.share[rule];
}

/* What one rule predicts. */
static mel_status one_rule(uint32_t *prediction, const cli_classifier *c, size_t r, size_t n,
                           const double *probability, const uint32_t *group, mel_error *err)
{
    const size_t k = c->n_classes, m = c->n_groups > 1 ? c->n_groups : 1;
    if (!c->planar)
        return mel_rule_predict(prediction, n, k, c->n_groups, probability, group,
                                c->blend.gain + r * m * k * k, err);
    const mel_rule rule = c->mixture.rule[r];
    for (size_t i = 0; i < n; i++)
        prediction[i] = (probability[2 * i + 1] >= rule.threshold) != rule.inverted;
    return MEL_OK;
}

mel_status cli_classifier_chances(double *chance, const cli_classifier *c, size_t n,
                                  const double *probability, const uint32_t *group, mel_error *err)
{
    uint32_t *prediction = cli_alloc_zero(n, sizeof *prediction);
    mel_status status = MEL_OK;
    for (size_t i = 0; i < n * c->n_classes; i++)
        chance[i] = 0.0;
    for (size_t r = 0; r < rules_of(c) && status == MEL_OK; r++) {
        status = one_rule(prediction, c, r, n, probability, group, err);
        for (size_t i = 0; i < n && status == MEL_OK; i++)
            chance[i * c->n_classes + prediction[i]] += share_of(c, r);
    }
    free(prediction);
    return status;
}

mel_status cli_classifier_draw(uint32_t *prediction, const cli_classifier *c, size_t n,
                               const double *probability, const uint32_t *group, mel_rng *rng, mel_error *err)
{
    const size_t rules = rules_of(c);
    uint32_t *rule = cli_alloc_zero(n, sizeof *rule), *said = cli_alloc_zero(n, sizeof *said);
    for (size_t i = 0; i < n; i++) {
        double left = mel_rng_uniform(rng);
        size_t r = 0;
        while (r + 1 < rules && left >= share_of(c, r))
            left -= share_of(c, r++);
        rule[i] = (uint32_t)r;
    }
    mel_status status = MEL_OK;
    for (size_t r = 0; r < rules && status == MEL_OK; r++) {
        status = one_rule(said, c, r, n, probability, group, err);
        for (size_t i = 0; i < n && status == MEL_OK; i++)
            if (rule[i] == r)
                prediction[i] = said[i];
    }
    free(said);
    free(rule);
    return status;
}
