/* Files of mixtures of weighted rules: writing them, and reading them with every refusal naming its place. */
#include "base/file.h"
#include "base/json.h"
#include "classify/classify.h"
#include "classify/shared.h"
#include "data/quote.h"
#include "data/source.h"
#include "optimise/classifier.h"
#include "optimise/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 1 << 30 };
static const double most_numbers = 1e9;
static const char format_name[] = "melicit-weighted-classifier";
static const char *const kind_name[] = { "default", "columns", "kmeans", "rbf" };

/* --- writing ------------------------------------------------------------------------------------ */

static json_t *counts_json(size_t n, const size_t *count)
{
    json_t *list = json_array();
    bool whole = list != NULL;
    for (size_t i = 0; i < n && whole; i++)
        whole = mel_json_add(list, json_integer((json_int_t)count[i]));
    return mel_json_if(whole, list);
}

static json_t *part_json(const mel_basis_part *part)
{
    json_t *out = json_pack("{s:s}", "kind", kind_name[part->kind]);
    bool whole = out != NULL;
    if (whole && part->n_columns > 0)
        whole =
            mel_json_put(out, "columns", mel_json_texts(part->n_columns, (const char *const *)part->column));
    if (whole && part->n_centres > 0)
        whole = mel_json_put(out, "centres", mel_json_matrix(part->n_centres, part->n_columns, part->centre));
    if (whole && part->kind == MEL_BASIS_RBF)
        whole = mel_json_put(out, "of_each", counts_json(part->n_functions, part->centres)) &&
                mel_json_put(out, "width", json_real(part->width)) &&
                mel_json_put(out, "squared", json_boolean(part->squared));
    return mel_json_if(whole, out);
}

static json_t *basis_json(const mel_weight_basis *basis)
{
    json_t *list = json_array();
    bool whole = list != NULL;
    for (size_t p = 0; p < basis->n_parts && whole; p++)
        whole = mel_json_add(list, part_json(&basis->part[p]));
    return mel_json_if(whole, list);
}

static json_t *rule_json(const mel_blend *mixture, size_t r, size_t n_basis)
{
    const size_t k = mixture->n_classes;
    json_t *weights = json_array();
    bool whole = weights != NULL;
    for (size_t l = 0; l < n_basis && whole; l++)
        whole = mel_json_add(weights, mel_json_matrix(k, k, mixture->gain + (r * n_basis + l) * k * k));
    return json_pack("{s:o, s:f}", "weights", mel_json_if(whole, weights), "share", mixture->share[r]);
}

static json_t *weighted_json(const mel_weighted *w)
{
    const size_t k = w->mixture.n_classes, n_basis = mel_weight_basis_size(w->basis);
    json_t *out = json_pack("{s:s, s:i, s:o, s:s, s:o}", "format", format_name, "version", 1, "classes",
                            mel_json_texts(k, (const char *const *)w->class_name), "decide",
                            w->majority ? "majority" : "draw", "basis", basis_json(w->basis));
    json_t *rules = json_array();
    bool whole = out != NULL && rules != NULL;
    for (size_t r = 0; r < w->mixture.n_rules && whole; r++)
        whole = mel_json_add(rules, rule_json(&w->mixture, r, n_basis));
    if (whole && w->label != NULL)
        whole = mel_json_put(out, "labels", mel_json_texts(k, (const char *const *)w->label));
    if (whole && w->number_texts)
        whole = mel_json_put(out, "text_labels", json_true());
    if (whole && isfinite(w->value))
        whole = mel_json_put(out, "value", json_real(w->value));
    if (whole)
        return mel_json_if(mel_json_put(out, "rules", rules), out);
    json_decref(rules);
    return mel_json_if(false, out);
}

mel_status mel_plain_classifier_json(char **out, const mel_blend *from, const mel_classifier_source *source,
                                     double value, mel_error *err)
{
    *out = NULL;
    mel_classifier *c = NULL;
    const size_t k = from->n_classes, m = from->n_groups > 1 ? from->n_groups : 1;
    mel_status status = mel_classifier_new(&c, k, m > 1 ? m : 0, err);
    if (status == MEL_OK && !mel_classifier_make_room(c, from->n_rules))
        status = mel_fail_memory(err, "a classifier");
    if (status == MEL_OK) {
        memcpy(c->blend.gain, from->gain, from->n_rules * m * k * k * sizeof *from->gain);
        memcpy(c->blend.share, from->share, from->n_rules * sizeof *from->share);
        c->value = value;
        status = mel_classifier_set_source(c, source, err);
    }
    if (status == MEL_OK)
        status = mel_classifier_to_json(out, c, err);
    mel_classifier_free(c);
    return status;
}

mel_status mel_weighted_to_json(char **out, const mel_weighted *w, mel_error *err)
{
    *out = NULL;
    if (mel_weight_basis_size(w->basis) == 1 && !mel_weight_basis_reads_features(w->basis) && !w->majority)
        return mel_plain_classifier_json(
            out, &w->mixture,
            &(mel_classifier_source){ .class_name = (const char *const *)w->class_name,
                                      .label = (const char *const *)w->label,
                                      .number_texts = w->number_texts },
            w->value, err);
    return mel_json_file_text(out, weighted_json(w), "the text of a classifier", err);
}

mel_status mel_weighted_save(const mel_weighted *w, const char *path, mel_error *err)
{
    char *text = NULL;
    mel_status status = mel_weighted_to_json(&text, w, err);
    if (status == MEL_OK)
        status = mel_file_replace(path, text, strlen(text), err);
    free(text);
    return status;
}

/* --- reading ------------------------------------------------------------------------------------ */

static mel_status read_numbers(double *out, size_t n, const json_t *list, const char *place, mel_error *err)
{
    if (json_array_size(list) != n)
        return mel_fail(err, MEL_EDATA, "%s: expected %zu numbers", place, n);
    for (size_t i = 0; i < n; i++) {
        const json_t *value = json_array_get(list, i);
        out[i] = json_number_value(value);
        if (!json_is_number(value) || !isfinite(out[i]))
            return mel_fail(err, MEL_EDATA, "%s[%zu]: not a number", place, i);
    }
    return MEL_OK;
}

static mel_status read_matrix(double *out, size_t n_rows, size_t n_columns, const json_t *matrix,
                              const char *place, mel_error *err)
{
    if (json_array_size(matrix) != n_rows)
        return mel_fail(err, MEL_EDATA, "%s: expected %zu rows", place, n_rows);
    mel_status status = MEL_OK;
    for (size_t i = 0; i < n_rows && status == MEL_OK; i++)
        status = read_numbers(out + i * n_columns, n_columns, json_array_get(matrix, i), place, err);
    return status;
}

/* n different texts; *out is filled as far as it goes (n entries). */
static mel_status read_texts(char ***out, size_t n, const json_t *list, const char *place, mel_error *err)
{
    if (n == 0 || json_array_size(list) != n)
        return mel_fail(err, MEL_EDATA, "%s: expected %zu texts", place, n);
    const char **text = mel_alloc(n, sizeof *text);
    if (text == NULL)
        return mel_fail_memory(err, "names");
    size_t texts = 0;
    while (texts < n && (text[texts] = json_string_value(json_array_get(list, texts))) != NULL)
        texts++;
    if (texts < n) {
        free(text);
        return mel_fail(err, MEL_EDATA, "%s[%zu]: not a text", place, texts);
    }
    mel_status status = MEL_OK;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i && status == MEL_OK; j++)
            if (strcmp(text[i], text[j]) == 0)
                status = mel_fail(err, MEL_EDATA, "%s[%zu]: %s appears a second time", place, i,
                                  mel_quote_text(text[i]).text);
    if (status == MEL_OK && !mel_basis_copy_names(out, n, text))
        status = mel_fail_memory(err, "names");
    free(text);
    return status;
}

static mel_status read_centres(mel_basis_part *part, const json_t *json, mel_error *err)
{
    const json_t *centres = json_object_get(json, "centres");
    part->n_centres = json_array_size(centres);
    if (part->n_centres == 0 || (double)part->n_centres * (double)part->n_columns > most_numbers)
        return mel_fail(err, MEL_EDATA, "basis.centres: expected at least one, and not %zu", part->n_centres);
    part->centre = mel_alloc(part->n_centres * part->n_columns, sizeof *part->centre);
    if (part->centre == NULL)
        return mel_fail_memory(err, "centres");
    return read_matrix(part->centre, part->n_centres, part->n_columns, centres, "basis.centres", err);
}

static mel_status read_radial(mel_basis_part *part, const json_t *json, mel_error *err)
{
    const json_t *each = json_object_get(json, "of_each"), *squared = json_object_get(json, "squared");
    size_t sum = 0;
    part->n_functions = json_array_size(each);
    part->width = json_number_value(json_object_get(json, "width"));
    part->squared = json_is_true(squared);
    if (!json_is_boolean(squared) || !(part->width > 0.0))
        return mel_fail(err, MEL_EDATA, "basis: expected a width above 0, and squared true or false");
    part->centres = mel_alloc_zero(part->n_functions, sizeof *part->centres);
    if (part->centres == NULL)
        return mel_fail_memory(err, "centres");
    for (size_t i = 0; i < part->n_functions; i++) {
        const json_int_t count = json_integer_value(json_array_get(each, i));
        if (count < 1 || count > (json_int_t)part->n_centres)
            return mel_fail(err, MEL_EDATA, "basis.of_each[%zu]: expected a number of centres", i);
        part->centres[i] = (size_t)count;
        sum += part->centres[i];
    }
    return part->n_functions > 0 && sum == part->n_centres
               ? MEL_OK
               : mel_fail(err, MEL_EDATA, "basis.of_each: %zu of %zu centres", sum, part->n_centres);
}

static mel_status read_part(mel_basis_part *part, const json_t *json, mel_error *err)
{
    const char *kind = json_string_value(json_object_get(json, "kind"));
    size_t which = 0;
    while (which < sizeof kind_name / sizeof *kind_name &&
           (kind == NULL || strcmp(kind, kind_name[which]) != 0))
        which++;
    if (which == sizeof kind_name / sizeof *kind_name)
        return mel_fail(err, MEL_EDATA, "basis.kind: expected default, columns, kmeans or rbf");
    *part = (mel_basis_part){ .kind = (mel_basis_kind)which, .n_functions = 1 };
    if (part->kind == MEL_BASIS_DEFAULT)
        return MEL_OK;
    part->n_columns = json_array_size(json_object_get(json, "columns"));
    mel_status status =
        read_texts(&part->column, part->n_columns, json_object_get(json, "columns"), "basis.columns", err);
    if (status != MEL_OK && part->column == NULL)
        part->n_columns = 0;
    part->n_functions = part->n_columns;
    if (status == MEL_OK && part->kind != MEL_BASIS_COLUMNS) {
        status = read_centres(part, json, err);
        part->n_functions = part->n_centres;
    }
    return status == MEL_OK && part->kind == MEL_BASIS_RBF ? read_radial(part, json, err) : status;
}

static mel_status read_basis(mel_weight_basis **out, const json_t *list, mel_error *err)
{
    if (json_array_size(list) == 0)
        return mel_fail(err, MEL_EDATA, "basis: expected at least one kind of functions");
    mel_status status = mel_weight_basis_new(out, err);
    for (size_t i = 0; i < json_array_size(list) && status == MEL_OK; i++) {
        mel_basis_part part = { 0 };
        status = read_part(&part, json_array_get(list, i), err);
        if (status == MEL_OK)
            status = mel_basis_add_part(*out, &part, err);
        else
            mel_basis_part_clear(&part);
    }
    return status;
}

static mel_status read_rule(mel_blend *mixture, size_t r, size_t n_basis, const json_t *rule, mel_error *err)
{
    const size_t k = mixture->n_classes;
    const json_t *weights = json_object_get(rule, "weights"), *share = json_object_get(rule, "share");
    mixture->share[r] = json_number_value(share);
    if (!json_is_number(share) || !(mixture->share[r] >= 0.0))
        return mel_fail(err, MEL_EDATA, "rules[%zu].share: expected a number, 0 or more", r);
    if (json_array_size(weights) != n_basis)
        return mel_fail(err, MEL_EDATA, "rules[%zu].weights: expected %zu matrices, one per basis function",
                        r, n_basis);
    mel_status status = MEL_OK;
    for (size_t l = 0; l < n_basis && status == MEL_OK; l++)
        status = read_matrix(mixture->gain + (r * n_basis + l) * k * k, k, k, json_array_get(weights, l),
                             "rules.weights", err);
    return status;
}

static mel_status read_rules(mel_blend *mixture, const json_t *rules, size_t k, size_t n_basis,
                             mel_error *err)
{
    const size_t n = json_array_size(rules);
    double sum = 0.0;
    if (n == 0 || (double)n * (double)n_basis * (double)k * (double)k > most_numbers)
        return mel_fail(err, MEL_EDATA, "rules: expected at least one, and not %zu", n);
    *mixture = (mel_blend){ .n_rules = n, .n_classes = k, .n_groups = n_basis > 1 ? n_basis : 0 };
    mixture->gain = mel_alloc(n * n_basis * k * k, sizeof *mixture->gain);
    mixture->share = mel_alloc(n, sizeof *mixture->share);
    if (mixture->gain == NULL || mixture->share == NULL)
        return mel_fail_memory(err, "rules");
    mel_status status = MEL_OK;
    for (size_t r = 0; r < n && status == MEL_OK; r++) {
        status = read_rule(mixture, r, n_basis, json_array_get(rules, r), err);
        sum += mixture->share[r];
    }
    if (status == MEL_OK && !(fabs(sum - 1.0) <= 1e-9))
        status = mel_fail(err, MEL_EDATA, "rules: the shares add up to %g, not 1", sum);
    return status;
}

static mel_status check_head(const json_t *file, mel_error *err)
{
    const char *format = json_string_value(json_object_get(file, "format")),
               *decide = json_string_value(json_object_get(file, "decide"));
    if (format == NULL || strcmp(format, format_name) != 0)
        return mel_fail(err, MEL_EDATA, "not a weighted classifier (no \"format\": \"%s\")", format_name);
    if (json_integer_value(json_object_get(file, "version")) != 1)
        return mel_fail(err, MEL_EDATA, "version: expected 1, the only version so far");
    if (decide == NULL || (strcmp(decide, "majority") != 0 && strcmp(decide, "draw") != 0))
        return mel_fail(err, MEL_EDATA, "decide: expected \"majority\" or \"draw\"");
    return json_array_size(json_object_get(file, "classes")) >= 2
               ? MEL_OK
               : mel_fail(err, MEL_EDATA, "classes: expected at least two");
}

static mel_status read_file(mel_weighted *w, const json_t *file, mel_error *err)
{
    const json_t *labels = json_object_get(file, "labels"), *value = json_object_get(file, "value");
    mel_status status = check_head(file, err);
    if (status != MEL_OK)
        return status;
    const size_t k = json_array_size(json_object_get(file, "classes"));
    w->mixture.n_classes = k;
    w->majority = strcmp(json_string_value(json_object_get(file, "decide")), "majority") == 0;
    w->value = json_is_number(value) ? json_number_value(value) : NAN;
    w->number_texts = json_is_true(json_object_get(file, "text_labels"));
    status = read_texts(&w->class_name, k, json_object_get(file, "classes"), "classes", err);
    if (status == MEL_OK && labels != NULL)
        status = read_texts(&w->label, k, labels, "labels", err);
    if (status == MEL_OK)
        status = read_basis(&w->basis, json_object_get(file, "basis"), err);
    return status == MEL_OK ? read_rules(&w->mixture, json_object_get(file, "rules"), k,
                                         mel_weight_basis_size(w->basis), err)
                            : status;
}

/* Takes the document over. */
static mel_status weighted_of(mel_weighted **out, json_t *file, mel_error *err)
{
    mel_weighted *w = mel_alloc_zero(1, sizeof *w);
    const mel_status status = w == NULL ? mel_fail_memory(err, "a classifier") : read_file(w, file, err);
    json_decref(file);
    if (status == MEL_OK)
        *out = w;
    else
        mel_weighted_free(w);
    return status;
}

mel_status mel_weighted_from_json(mel_weighted **out, const char *text, size_t size, mel_error *err)
{
    *out = NULL;
    json_t *file = NULL;
    const mel_status status = mel_json_parse(&file, text, size, err);
    return status == MEL_OK ? weighted_of(out, file, err) : status;
}

mel_status mel_weighted_load(mel_weighted **out, const char *path, mel_error *err)
{
    *out = NULL;
    json_t *file = NULL;
    mel_status status = mel_source_json(&file, path, MAX_BYTES, err);
    if (status == MEL_OK)
        status = weighted_of(out, file, err);
    return status == MEL_OK ? MEL_OK : mel_fail_in(err, status, "%s", mel_quote_file(path).text);
}

bool mel_weighted_recognise(const char *path)
{
    json_t *file = NULL;
    if (strcmp(path, "-") == 0 || mel_source_json(&file, path, MAX_BYTES, NULL) != MEL_OK)
        return false;
    const char *format = json_string_value(json_object_get(file, "format"));
    const bool same = format != NULL && strcmp(format, format_name) == 0;
    json_decref(file);
    return same;
}
