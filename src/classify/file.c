/* Classifier files: writing them, and reading them with every refusal naming its place. */
#include "base/file.h"
#include "classify/basis.h"
#include "classify/classify.h"
#include "data/quote.h"
#include "data/shared.h"
#include "data/source.h"
#include "model/shared.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 1 << 30 };
static const double most_gains = 1e9; /* numbers in all matrices of a file */

/* --- writing ------------------------------------------------------------------------------------ */

/* One matrix, or of groups and of basis functions a list of them (n at least 1). */
static json_t *gains_json(size_t k, size_t d, size_t n, const double *gain)
{
    if (n == 0)
        return mel_json_matrix(k, d, gain);
    json_t *array = json_array();
    bool whole = true;
    for (size_t g = 0; g < n && whole; g++)
        whole = mel_json_add(array, mel_json_matrix(k, d, gain + g * k * d));
    return mel_json_if(whole, array);
}

/* listed: gains are lists of matrices, even of one. */
static json_t *plug_ins_json(const mel_blend *blend, size_t d, bool listed)
{
    const size_t k = blend->n_classes, m = blend->n_groups > 1 ? blend->n_groups : 1;
    json_t *rules = json_array();
    bool whole = true;
    for (size_t r = 0; r < blend->n_rules && whole; r++)
        whole = mel_json_add(rules,
                             json_pack("{s:o, s:f}", "gain",
                                       gains_json(k, d, listed || m > 1 ? m : 0, blend->gain + r * m * k * d),
                                       "share", blend->share[r]));
    return mel_json_if(whole, rules);
}

static json_t *thresholds_json(const mel_mixture *mixture)
{
    json_t *rules = json_array();
    bool whole = true;
    for (size_t r = 0; r < mixture->n && whole; r++) {
        const double threshold = mixture->rule[r].threshold;
        /* Scores are probabilities: -1 is below and 2 above all of them. */
        const double finite = isfinite(threshold) ? threshold : threshold < 0.0 ? -1.0 : 2.0;
        whole = mel_json_add(rules, json_pack("{s:f, s:b, s:f}", "threshold", finite, "inverted",
                                              (int)mixture->rule[r].inverted, "share", mixture->share[r]));
    }
    return mel_json_if(whole, rules);
}

mel_status mel_classifier_note_statistics(mel_classifier *c, const mel_domain *domain, mel_error *err)
{
    const double *s = c->statistics;
    if (domain->face != NULL) {
        c->achieved =
            json_pack("{s:f, s:f, s:f, s:f}", "tp", s[0], "tn", s[1], "fn",
                      mel_face_positives(domain->face) - s[0], "fp", mel_face_negatives(domain->face) - s[1]);
        return c->achieved != NULL ? MEL_OK : mel_fail_memory(err, "a classifier");
    }
    const mel_layout *layout = mel_space_layout(domain->space);
    c->layout = json_pack("{s:s, s:s}", "kind", mel_kind_name(layout->kind), "coordinates",
                          mel_coordinates_name(layout->coordinates));
    c->achieved = mel_json_numbers(mel_space_size(domain->space), s);
    return c->layout != NULL && c->achieved != NULL ? MEL_OK : mel_fail_memory(err, "a classifier");
}

/* Puts what is there. */
static bool put_given(json_t *object, const char *key, json_t *value)
{
    return value == NULL || json_object_set(object, key, value) == 0;
}

/* One number where all classes have the same. */
static json_t *sharpness_json(size_t k, const double *sharpness)
{
    for (size_t i = 1; i < k; i++)
        if (sharpness[i] != sharpness[0])
            return mel_json_numbers(k, sharpness);
    return json_real(sharpness[0]);
}

static json_t *curve_json(const mel_adjustment *a, size_t curve)
{
    const size_t k = a->n_classes, first = curve * k;
    return json_pack("{s:o, s:o, s:o}", "sharpness", sharpness_json(k, a->sharpness + first), "offsets",
                     mel_json_numbers(k, a->offset + first), "least", mel_json_numbers(k, a->least + first));
}

/* One for all, or a list of those of the groups. */
static json_t *adjustment_json(const mel_adjustment *a)
{
    json_t *list = a->n_groups > 0 ? json_array() : NULL;
    for (size_t g = 0; g < a->n_groups && list != NULL; g++)
        if (json_array_append_new(list, curve_json(a, g)) != 0) {
            json_decref(list);
            return NULL;
        }
    return a->n_groups > 0 ? list : curve_json(a, 0);
}

/* What is done with probabilities before the gains are applied, and what decisions there are besides classes.
 */
static bool put_use(json_t *out, const mel_classifier *c)
{
    bool whole = true;
    if (c->adjustment.n_classes > 0)
        whole = mel_json_put(out, "adjust", adjustment_json(&c->adjustment));
    if (whole && c->majority)
        whole = mel_json_put(out, "decide", json_string("majority"));
    if (whole && c->basis != NULL)
        whole = mel_json_put(out, "basis", mel_basis_to_json(c->basis));
    if (whole && c->cost_column != NULL)
        whole =
            mel_json_put(out, "row_cost", mel_json_texts(c->n_classes, (const char *const *)c->cost_column));
    return whole && (c->n_decisions == c->n_classes || mel_json_put(out, "refer", json_true()));
}

/* NULL without memory. */
static json_t *classifier_json(const mel_classifier *c)
{
    const mel_classifier_names *names = &c->names;
    const bool planar = c->mixture.n > 0;
    const int version = c->basis != NULL || c->majority ? 2 : 1; /* which older programs would misread */
    json_t *out = json_pack("{s:s, s:i, s:o}", "format", "melicit-classifier", "version", version, "classes",
                            mel_json_texts(c->n_classes, (const char *const *)names->class_name));
    bool whole = out != NULL;
    if (whole && names->label != NULL)
        whole = mel_json_put(out, "labels", mel_json_texts(c->n_classes, (const char *const *)names->label));
    if (whole && names->number_texts)
        whole = mel_json_put(out, "text_labels", json_true());
    if (whole && planar)
        whole = mel_json_put(out, "positive", json_string(names->class_name[1]));
    else if (whole)
        whole =
            mel_json_put(out, "groups", mel_json_texts(c->n_groups, (const char *const *)names->group_name));
    whole = whole && put_use(out, c) && put_given(out, "layout", c->layout) &&
            mel_json_put(out, "rules",
                         planar ? thresholds_json(&c->mixture)
                                : plug_ins_json(&c->blend, c->n_decisions, c->basis != NULL)) &&
            put_given(out, "statistics", c->achieved) &&
            (!isfinite(c->value) || mel_json_put(out, "value", json_real(c->value))) &&
            put_given(out, "found", c->found) && put_given(out, "space", names->space);
    return mel_json_if(whole, out);
}

mel_status mel_classifier_to_json(char **out, const mel_classifier *c, mel_error *err)
{
    return mel_json_file_text(out, classifier_json(c), "the text of a classifier", err);
}

mel_status mel_blend_to_json(char **out, const mel_blend *blend, mel_error *err)
{
    return mel_json_file_text(out, plug_ins_json(blend, blend->n_classes, false), "the text of a classifier",
                              err);
}

mel_status mel_classifier_save(const mel_classifier *c, const char *path, mel_error *err)
{
    char *text = NULL;
    mel_status status = mel_classifier_to_json(&text, c, err);
    if (status == MEL_OK)
        status = mel_file_replace(path, text, strlen(text), err);
    free(text);
    return status;
}

/* --- reading ------------------------------------------------------------------------------------ */

static mel_status read_number(double *out, const json_t *value, const char *place, size_t rule,
                              mel_error *err)
{
    *out = json_number_value(value);
    return json_is_number(value) && isfinite(*out)
               ? MEL_OK
               : mel_fail(err, MEL_EDATA, "rules[%zu].%s: not a number", rule, place);
}

/* A matrix of k rows of d numbers. */
static mel_status read_gain(double *out, const json_t *matrix, size_t k, size_t d, size_t rule,
                            mel_error *err)
{
    for (size_t i = 0; i < k; i++) {
        const json_t *row = json_array_get(matrix, i);
        if (json_array_size(matrix) != k || json_array_size(row) != d)
            return mel_fail(err, MEL_EDATA, "rules[%zu].gain: not a matrix of %zu x %zu numbers", rule, k, d);
        for (size_t j = 0; j < d; j++)
            TRY(read_number(&out[i * d + j], json_array_get(row, j), "gain", rule, err));
    }
    return MEL_OK;
}

/* "gain" of each rule; in files of version 1 with basis functions "weights". */
static mel_status read_gains(mel_classifier *c, const json_t *rules, mel_error *err)
{
    const size_t k = c->n_classes, m = mel_classifier_blocks(c), n = json_array_size(rules),
                 d = c->n_decisions;
    const bool listed = m > 1 || c->basis != NULL;
    if (!mel_classifier_make_room(c, n))
        return mel_fail_memory(err, "the gains of a classifier");
    for (size_t r = 0; r < n; r++) {
        const json_t *rule = json_array_get(rules, r), *gain = json_object_get(rule, "gain"),
                     *weights = json_object_get(rule, "weights");
        gain = gain != NULL ? gain : weights;
        if (weights != NULL && !listed) /* of one function, 1 everywhere */
            gain = json_array_get(weights, 0);
        TRY(read_number(&c->blend.share[r], json_object_get(rule, "share"), "share", r, err));
        if (listed && json_array_size(gain) != m)
            return mel_fail(err, MEL_EDATA, "rules[%zu].gain: expected one matrix for each of %zu %s", r, m,
                            c->basis != NULL ? "basis functions" : "groups");
        for (size_t g = 0; g < m; g++)
            TRY(read_gain(c->blend.gain + (r * m + g) * k * d, listed ? json_array_get(gain, g) : gain, k, d,
                          r, err));
    }
    return MEL_OK;
}

static mel_status read_threshold(mel_rule *out, double *share, const json_t *rule, size_t r, mel_error *err)
{
    const json_t *inverted = json_object_get(rule, "inverted");
    if (inverted != NULL && !json_is_boolean(inverted))
        return mel_fail(err, MEL_EDATA, "rules[%zu].inverted: neither true nor false", r);
    out->inverted = json_is_true(inverted);
    TRY(read_number(&out->threshold, json_object_get(rule, "threshold"), "threshold", r, err));
    return read_number(share, json_object_get(rule, "share"), "share", r, err);
}

static mel_status read_thresholds(mel_classifier *c, const json_t *file, mel_error *err)
{
    const json_t *rules = json_object_get(file, "rules");
    const char *positive = json_string_value(json_object_get(file, "positive"));
    const size_t n = json_array_size(rules);
    if (c->n_classes != 2 || n > MEL_MIXTURE_RULES)
        return mel_fail(err, MEL_EDATA, "rules: expected gains, or at most %d thresholds on two classes",
                        MEL_MIXTURE_RULES);
    if (positive != NULL && !mel_same_class_name(positive, c->names.class_name[1]))
        return mel_fail(err, MEL_EDATA, "positive: %s is not the second class, %s",
                        mel_quote_text(positive).text, mel_quote_text(c->names.class_name[1]).text);
    c->mixture.n = n;
    for (size_t r = 0; r < n; r++)
        TRY(read_threshold(&c->mixture.rule[r], &c->mixture.share[r], json_array_get(rules, r), r, err));
    return MEL_OK;
}

static mel_status check_shares(const mel_classifier *c, mel_error *err)
{
    const double *share = mel_classifier_shares(c);
    double sum = 0.0;
    for (size_t r = 0; r < mel_classifier_rules(c); r++) {
        if (!(share[r] >= 0.0))
            return mel_fail(err, MEL_EDATA, "rules[%zu].share: %g is negative", r, share[r]);
        sum += share[r];
    }
    return fabs(sum - 1.0) <= 1e-9 ? MEL_OK
                                   : mel_fail(err, MEL_EDATA, "rules: the shares add up to %g, not 1", sum);
}

/* Lent texts of an array, NULL where an entry is none; freed by the caller. */
static const char **lend_texts(const json_t *array)
{
    const char **text = mel_alloc(json_array_size(array), sizeof *text);
    for (size_t i = 0; text != NULL && i < json_array_size(array); i++)
        text[i] = json_string_value(json_array_get(array, i));
    return text;
}

static mel_status read_names(mel_classifier *c, const json_t *file, mel_error *err)
{
    const json_t *labels = json_object_get(file, "labels");
    if (labels != NULL && json_array_size(labels) != c->n_classes)
        return mel_fail(err, MEL_EDATA, "labels: %zu for %zu classes", json_array_size(labels), c->n_classes);
    MEL_AUTO_MEMORY const char **name = lend_texts(json_object_get(file, "classes")),
                               **label = lend_texts(labels),
                               **group = lend_texts(json_object_get(file, "groups"));
    const mel_classifier_source source = { .class_name = name,
                                           .label = labels != NULL ? label : NULL,
                                           .group_name = group,
                                           .number_texts =
                                               json_is_true(json_object_get(file, "text_labels")) };
    return name != NULL && label != NULL && group != NULL ? mel_classifier_set_source(c, &source, err)
                                                          : mel_fail_memory(err, "names");
}

/* A number for each of k probabilities into `to`; one number stands for all. */
static mel_status read_each(double *to, size_t k, const json_t *from, const char *key, mel_error *err)
{
    if (json_is_array(from) && json_array_size(from) != k)
        return mel_fail(err, MEL_EDATA, "adjust.%s: expected a number for each of %zu probabilities", key, k);
    for (size_t i = 0; i < k; i++) {
        const json_t *own = json_is_array(from) ? json_array_get(from, i) : from;
        if (!json_is_number(own))
            return mel_fail(err, MEL_EDATA, "adjust.%s: expected a number for each of %zu probabilities", key,
                            k);
        to[i] = json_number_value(own);
    }
    return MEL_OK;
}

/* Signs differ where probabilities of two classes run either way. */
static bool is_monotone(size_t k, const double *sharpness)
{
    for (size_t i = 0; i < k; i++)
        if (!(k == 2 ? sharpness[i] * sharpness[0] > 0.0 : sharpness[i] > 0.0))
            return false;
    return true;
}

static mel_status read_curve(mel_adjustment *a, size_t curve, const json_t *from, mel_error *err)
{
    const size_t k = a->n_classes, first = curve * k;
    const json_t *least = json_object_get(from, "least"); /* older files have none */
    TRY(read_each(a->sharpness + first, k, json_object_get(from, "sharpness"), "sharpness", err));
    if (!is_monotone(k, a->sharpness + first))
        return mel_fail(err, MEL_EDATA,
                        "adjust.sharpness: expected numbers above 0 (of two classes both may be below)");
    if (!json_is_array(json_object_get(from, "offsets")))
        return mel_fail(err, MEL_EDATA, "adjust.offsets: expected a number for each of %zu probabilities", k);
    TRY(read_each(a->offset + first, k, json_object_get(from, "offsets"), "offsets", err));
    if (least != NULL)
        TRY(read_each(a->least + first, k, least, "least", err));
    for (size_t i = 0; i < k; i++)
        if (!(a->least[first + i] >= 0.0 && a->least[first + i] < 1.0) ||
            (a->sharpness[first + i] < 0.0 && a->least[first + i] == 0.0))
            return mel_fail(err, MEL_EDATA, "adjust.least: expected numbers between 0 and 1");
    return MEL_OK;
}

/* Basis functions, and how rules decide together. */
static mel_status read_together(mel_classifier *c, const json_t *file, mel_error *err)
{
    const json_t *decide = json_object_get(file, "decide"), *basis = json_object_get(file, "basis");
    const char *word = json_string_value(decide);
    if (decide != NULL && (word == NULL || (strcmp(word, "majority") != 0 && strcmp(word, "draw") != 0)))
        return mel_fail(err, MEL_EDATA, "decide: expected \"majority\" or \"draw\"");
    c->majority = word != NULL && strcmp(word, "majority") == 0;
    if (basis == NULL)
        return MEL_OK;
    if (c->n_groups > 0 || json_object_get(file, "refer") != NULL)
        return mel_fail(err, MEL_EDATA, "basis: not together with groups and cases that are referred");
    MEL_AUTO(mel_weight_basis) *own = NULL;
    TRY(mel_basis_from_json(&own, basis, err));
    if ((double)json_array_size(json_object_get(file, "rules")) * (double)mel_weight_basis_size(own) *
            (double)c->n_classes * (double)c->n_classes >
        most_gains)
        return mel_fail(err, MEL_EDATA, "rules: too many for %zu basis functions",
                        mel_weight_basis_size(own));
    mel_classifier_take_basis(c, own);
    own = NULL;
    return MEL_OK;
}

static mel_status read_adjustment(mel_classifier *c, const json_t *adjust, mel_error *err)
{
    if (adjust == NULL)
        return MEL_OK;
    const bool grouped = json_is_array(adjust);
    if (grouped && (c->n_groups < 2 || json_array_size(adjust) != c->n_groups))
        return mel_fail(err, MEL_EDATA, "adjust: expected an object, or one for each group");
    TRY(mel_adjustment_init_groups(&c->adjustment, c->n_classes, grouped ? c->n_groups : 0, err));
    for (size_t g = 0; g < mel_adjustment_curves(&c->adjustment); g++)
        TRY(read_curve(&c->adjustment, g, grouped ? json_array_get(adjust, g) : adjust, err));
    return MEL_OK;
}

/* What put_use has written. */
static mel_status read_use(mel_classifier *c, const json_t *file, mel_error *err)
{
    static const char *const old[] = { "salts", "joint", "costs_and_rows" };
    const json_t *refer = json_object_get(file, "refer"), *columns = json_object_get(file, "row_cost");
    for (size_t i = 0; i < sizeof old / sizeof *old; i++)
        if (json_object_get(file, old[i]) != NULL)
            return mel_fail(
                err, MEL_EDATA,
                "%s: rules by a hash of probabilities, that guess groups, or of limits and costs of "
                "rows together are not read any more: find a rule anew",
                old[i]);
    if (refer != NULL && !json_is_boolean(refer))
        return mel_fail(err, MEL_EDATA, "refer: neither true nor false");
    c->n_decisions = c->n_classes + (json_is_true(refer) ? 1 : 0);
    mel_status status = read_adjustment(c, json_object_get(file, "adjust"), err);
    if (status != MEL_OK || columns == NULL)
        return status;
    const char **name = lend_texts(columns);
    bool texts = name != NULL && json_array_size(columns) == c->n_classes;
    for (size_t i = 0; texts && i < c->n_classes; i++)
        texts = name[i] != NULL;
    if (name != NULL && !texts)
        status = mel_fail(err, MEL_EDATA, "row_cost: expected a column, or \"\", for each class");
    if (texts)
        c->cost_column = mel_names_copy(c->n_classes, name, 0);
    if (name == NULL || (texts && c->cost_column == NULL))
        status = mel_fail_memory(err, "names");
    free(name);
    return status;
}

/* What was said of where it was found is kept as it is. */
static void keep_record(mel_classifier *c, const json_t *file)
{
    const json_t *value = json_object_get(file, "value");
    c->names.space = json_incref(json_object_get(file, "space"));
    c->layout = json_incref(json_object_get(file, "layout"));
    c->achieved = json_incref(json_object_get(file, "statistics"));
    c->found = json_incref(json_object_get(file, "found"));
    c->value = json_is_number(value) ? json_number_value(value) : NAN;
}

/* Files with basis functions had a format of their own. */
static mel_status check_head(const json_t *file, mel_error *err)
{
    const char *format = json_string_value(json_object_get(file, "format"));
    const bool weighted = format != NULL && strcmp(format, "melicit-weighted-classifier") == 0;
    const json_t *version = json_object_get(file, "version");
    const size_t k = json_array_size(json_object_get(file, "classes")),
                 m = json_array_size(json_object_get(file, "groups")),
                 n = json_array_size(json_object_get(file, "rules"));
    TRY(mel_json_check_kind(file, "melicit-classifier", "melicit-weighted-classifier", err));
    if (!json_is_integer(version) || json_integer_value(version) < 1 ||
        json_integer_value(version) > (weighted ? 1 : 2))
        return mel_fail(err, MEL_EDATA, "version: expected 1 or 2, the only versions of classifiers so far");
    if (weighted && (json_object_get(file, "basis") == NULL || json_object_get(file, "decide") == NULL))
        return mel_fail(err, MEL_EDATA, "expected basis, and decide: \"majority\" or \"draw\"");
    if (k < 2)
        return mel_fail(err, MEL_EDATA, "classes: expected at least two");
    if (n == 0)
        return mel_fail(err, MEL_EDATA, "rules: expected at least one");
    /* So many numbers fit into memory, and their count into a size_t. */
    return (double)n * (m > 1 ? (double)m : 1.0) * 2.0 * (double)k * (double)(k + 1) <= most_gains
               ? MEL_OK
               : mel_fail(err, MEL_EDATA, "rules: %zu for %zu classes and %zu groups are too many", n, k, m);
}

static mel_status read_classifier(mel_classifier **out, const json_t *file, mel_error *err)
{
    const json_t *rules = json_object_get(file, "rules"), *first = json_array_get(rules, 0);
    TRY(check_head(file, err));
    TRY(mel_classifier_new(out, json_array_size(json_object_get(file, "classes")),
                           json_array_size(json_object_get(file, "groups")), err));
    TRY(read_names(*out, file, err));
    TRY(read_use(*out, file, err));
    TRY(read_together(*out, file, err));
    keep_record(*out, file);
    const bool gains = json_object_get(first, "gain") != NULL || json_object_get(first, "weights") != NULL ||
                       (*out)->basis != NULL;
    TRY(gains ? read_gains(*out, rules, err) : read_thresholds(*out, file, err));
    return check_shares(*out, err);
}

mel_status mel_classifier_from_json(mel_classifier **out, const char *text, size_t size, mel_error *err)
{
    *out = NULL;
    json_t *file = NULL;
    MEL_AUTO(mel_classifier) *c = NULL;
    mel_status status = mel_json_parse(&file, text, size, err);
    if (status == MEL_OK)
        status = read_classifier(&c, file, err);
    json_decref(file);
    if (status == MEL_OK) {
        *out = c;
        c = NULL;
    }
    return status;
}

mel_status mel_classifier_load(mel_classifier **out, const char *path, mel_error *err)
{
    *out = NULL;
    char *bytes = NULL;
    size_t n = 0;
    mel_status status = mel_source_whole(&bytes, &n, path, MAX_BYTES, err);
    if (status == MEL_OK)
        status = mel_classifier_from_json(out, bytes, n, err);
    free(bytes);
    return status == MEL_OK ? MEL_OK : mel_fail_in(err, status, "%s", mel_quote_file(path).text);
}
