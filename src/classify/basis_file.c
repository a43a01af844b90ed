/* Basis functions in classifier files. */
#include "base/json.h"
#include "classify/basis.h"
#include "data/quote.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double most_numbers = 1e9;
static const char *const kind_name[] = { "default", "columns", "kmeans", "rbf" };

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

json_t *mel_basis_to_json(const mel_weight_basis *basis)
{
    json_t *list = json_array();
    bool whole = list != NULL;
    for (size_t p = 0; p < basis->n_parts && whole; p++)
        whole = mel_json_add(list, part_json(&basis->part[p]));
    return mel_json_if(whole, list);
}

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
    for (size_t i = 0; i < n_rows; i++)
        TRY(read_numbers(out + i * n_columns, n_columns, json_array_get(matrix, i), place, err));
    return MEL_OK;
}

/* n different texts. */
static mel_status read_texts(char ***out, size_t n, const json_t *list, const char *place, mel_error *err)
{
    if (n == 0 || json_array_size(list) != n)
        return mel_fail(err, MEL_EDATA, "%s: expected %zu texts", place, n);
    MEL_AUTO_MEMORY const char **text = mel_alloc(n, sizeof *text);
    if (text == NULL)
        return mel_fail_memory(err, "names");
    for (size_t i = 0; i < n; i++) {
        text[i] = json_string_value(json_array_get(list, i));
        if (text[i] == NULL)
            return mel_fail(err, MEL_EDATA, "%s[%zu]: not a text", place, i);
        for (size_t j = 0; j < i; j++)
            if (strcmp(text[i], text[j]) == 0)
                return mel_fail(err, MEL_EDATA, "%s[%zu]: %s appears a second time", place, i,
                                mel_quote_text(text[i]).text);
    }
    *out = mel_names_copy(n, text, 0);
    return *out != NULL ? MEL_OK : mel_fail_memory(err, "names");
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
    const json_t *columns = json_object_get(json, "columns");
    TRY(read_texts(&part->column, json_array_size(columns), columns, "basis.columns", err));
    part->n_functions = part->n_columns = json_array_size(columns);
    if (part->kind == MEL_BASIS_COLUMNS)
        return MEL_OK;
    TRY(read_centres(part, json, err));
    part->n_functions = part->n_centres;
    return part->kind == MEL_BASIS_RBF ? read_radial(part, json, err) : MEL_OK;
}

mel_status mel_basis_from_json(mel_weight_basis **out, const json_t *list, mel_error *err)
{
    if (json_array_size(list) == 0)
        return mel_fail(err, MEL_EDATA, "basis: expected at least one kind of functions");
    TRY(mel_weight_basis_new(out, err));
    for (size_t i = 0; i < json_array_size(list); i++) {
        MEL_AUTO_CLEAR(mel_basis_part) part = { 0 };
        TRY(read_part(&part, json_array_get(list, i), err));
        TRY(mel_basis_add_part(*out, &part, err));
    }
    return MEL_OK;
}
